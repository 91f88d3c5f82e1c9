//! Benchmark problems with known answers, as `docs/benchmarks.md` lists them.

use linkwork::closed::{ClosedMechanism, ClosedMotion, Constraint};
use linkwork::model::{Joint, Link, Mechanism};
use linkwork::simulate::{DormandPrince, Dynamics, Integrator, Now, RungeKutta4, State, Tolerance};
use linkwork::spatial::{Inertia, Pose};
use linkwork::state_space::{OperatingPoint, StateSpace};
use linkwork::workspace::Moving;

const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// Andrews' squeezer: the points A, B and C of the frame, and what the spring and the motor are.
const A: [f64; 2] = [-0.06934, -0.00227];
const B: [f64; 2] = [-0.03635, 0.03273];
const C: [f64; 2] = [0.014, 0.072];
const MOTOR: f64 = 0.033;
const STIFFNESS: f64 = 4530.0;
const LENGTH: f64 = 0.07785;
/// Where the spring is fastened to the third body.
const SPRING_AT: [f64; 2] = [0.02, -0.018];

/// Seven bodies in a plane, pinned to the frame at O, A and B and to each other at one point P: coordinates β, Θ, γ, δ, φ, ε, Ω.
fn squeezer() -> ClosedMechanism {
    let body = |name: &str, mass: f64, moment: f64, x: f64, y: f64| {
        let moments = [moment, 0.0, 0.0, moment, 0.0, moment];
        Link::new(name, Inertia::new(mass, [x, y, 0.0], moments))
    };
    let pin = |name: &str, inner: &str, outer: &str, [x, y]: [f64; 2]| {
        Joint::revolute(name, Z).between(inner, outer).at([x, y, 0.0])
    };
    let point = |x: f64, y: f64| Pose::from_translation([x, y, 0.0]);
    let tree = Mechanism::builder("squeezer")
        .gravity([0.0; 3])
        .link(body("k1", 0.04325, 2.194e-6, 0.00092, 0.0))
        .link(body("k2", 0.00365, 4.410e-7, -0.0115, 0.0))
        .link(body("k3", 0.02373, 5.255e-6, 0.01043, -0.01874))
        .link(body("k5", 0.07050, 1.169e-5, 0.02308, 0.00916))
        .link(body("k4", 0.00706, 5.667e-7, 0.0, -(0.02 - 0.01421)))
        .link(body("k7", 0.05498, 1.912e-5, 0.00449, -0.01228))
        .link(body("k6", 0.00706, 5.667e-7, 0.02 - 0.01421, 0.0))
        .joint(pin("beta", "world", "k1", [0.0; 2]))
        .joint(pin("theta", "k1", "k2", [0.007, 0.0]))
        .joint(pin("gamma", "world", "k3", B))
        .joint(pin("delta", "world", "k5", A))
        .joint(pin("phi", "k5", "k4", [0.04, 0.0]))
        .joint(pin("epsilon", "world", "k7", A))
        .joint(pin("omega", "k7", "k6", [0.0, -0.04]))
        .frame("p2", "k2", point(-0.028, 0.0))
        .frame("p3", "k3", point(0.0, -0.035))
        .frame("p4", "k4", point(0.0, -0.02))
        .frame("p6", "k6", point(0.02, 0.0))
        .build()
        .unwrap();
    let ties = ["p3", "p4", "p6"].map(|end| Constraint::point(end, "p2", end));
    ClosedMechanism::new(tree, ties.to_vec()).unwrap()
}

/// The motor at β, and the spring from C to the third body as a torque at γ.
fn torques(q: &[f64]) -> [f64; 7] {
    let (s, c) = q[2].sin_cos();
    let [x, y] = SPRING_AT;
    let arm = [c * x - s * y, s * x + c * y];
    let away = [B[0] + arm[0] - C[0], B[1] + arm[1] - C[1]];
    let length = away[0].hypot(away[1]);
    let force = away.map(|x| -STIFFNESS * (length - LENGTH) / length * x);
    let spring = arm[0] * force[1] - arm[1] * force[0];
    [MOTOR, 0.0, spring, 0.0, 0.0, 0.0, 0.0]
}

fn squeeze(now: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]) -> linkwork::Result<()> {
    tau.copy_from_slice(&torques(now.q));
    Ok(())
}

/// The published start, with β and Θ such that all loops are closed.
const SQUEEZER_START: [f64; 7] = [
    -0.061_713_890_014_276_45,
    0.0,
    0.455_279_819_163_070_4,
    0.487_364_979_543_842_55,
    0.222_668_390_165_885_88,
    1.230_547_444_549_821_2,
    -0.222_668_390_165_885_88,
];

#[test]
fn the_squeezer_begins_with_the_published_accelerations() {
    let closed = squeezer();
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&SQUEEZER_START).unwrap();
    assert!(posed.closure() < 1e-15, "{:e}", posed.closure());
    let tau = torques(&SQUEEZER_START);
    let mut qdd = [0.0; 7];
    posed
        .moving(&[0.0; 7])
        .unwrap()
        .forward_dynamics(&tau, &mut qdd)
        .unwrap();
    let expect = [14_222.443_919_954_114, -10_666.832_939_965_585, 0.0, 0.0, 0.0, 0.0, 0.0];
    for (found, expect) in qdd.iter().zip(expect) {
        assert!((found - expect).abs() < 1e-6, "{qdd:?}");
    }
}

#[test]
fn the_squeezer_ends_where_the_test_set_for_solvers_has_it() {
    let closed = squeezer();
    let mut state = State::at_rest(closed.mechanism(), &SQUEEZER_START);
    let mut motion = ClosedMotion::new(&closed, squeeze).unwrap();
    let mut integrator = DormandPrince::new(closed.mechanism()).tolerance(Tolerance {
        relative: 1e-11,
        absolute: 1e-11,
    });
    while state.t < 0.03 {
        integrator.step(&mut motion, &mut state, 0.03).unwrap();
    }
    // PSIDE at 1e-14, in our order: β, Θ, γ, δ, φ, ε, Ω.
    let q = [
        15.810_771_196_299_04,
        -15.756_371_059_842_98,
        0.040_822_240_130_731_01,
        0.524_409_965_880_530_4,
        -0.534_730_116_322_694_8,
        1.048_080_741_042_263,
        0.534_730_116_322_694_8,
    ];
    let v = [
        1_139.920_302_151_208,
        -1_424.379_294_994_111,
        11.032_912_219_371_34,
        0.573_569_928_479_080_8,
        19.293_374_644_213_85,
        0.323_179_165_802_695_5,
        -19.293_374_644_213_85,
    ];
    let error = |x: &[f64], y: &[f64]| {
        let size = |y: &f64| y.abs().max(1.0);
        x.iter()
            .zip(y)
            .fold(0.0, |m: f64, (x, y)| m.max((x - y).abs() / size(y)))
    };
    let (at, speed) = (error(&state.q, &q), error(&state.v, &v));
    println!("squeezer: {at:e} of angles, {speed:e} of speeds");
    assert!(at < 1e-6 && speed < 1e-6, "{:?} {:?}", state.q, state.v);
}

#[test]
fn a_double_pendulum_swings_at_its_two_frequencies() {
    // Two unit points on unit strings: ω² = (2 ± √2) g.
    let bob = || Inertia::point(1.0, [0.0, 0.0, -1.0]);
    let swing = |name: &str| Joint::revolute(name, [0.0, 1.0, 0.0]);
    let pendulum = Mechanism::builder("double pendulum")
        .gravity([0.0, 0.0, -9.81])
        .link(Link::new("upper", bob()))
        .link(Link::new("lower", bob()))
        .joint(swing("first").between("world", "upper"))
        .joint(swing("second").between("upper", "lower").at([0.0, 0.0, -1.0]))
        .build()
        .unwrap();
    let point = OperatingPoint::at_rest(&pendulum, &[0.0, 0.0]).unwrap();
    let poles = StateSpace::continuous(&pendulum, &point).unwrap().poles().unwrap();
    let mut found: Vec<f64> = poles.iter().map(|pole| pole.im).filter(|im| *im > 0.0).collect();
    found.sort_by(f64::total_cmp);
    let root = 2f64.sqrt();
    let expect = [(9.81 * (2.0 - root)).sqrt(), (9.81 * (2.0 + root)).sqrt()];
    assert_eq!(found.len(), 2);
    for (found, expect) in found.iter().zip(expect) {
        assert!((found - expect).abs() < 1e-12, "{found} {expect}");
    }
    assert!(poles.iter().all(|pole| pole.re.abs() < 1e-10));
}

#[test]
fn a_slider_crank_turns_as_its_one_equation_says() {
    // x = r cos θ + √(l² − r² sin² θ), I = J + m x′², θ̈ = −m x′x″ θ̇²/I: a flywheel, and a mass at the piston.
    let (r, l, flywheel, mass) = (0.3, 1.0, 0.05, 2.0);
    let wheel = Inertia::new(1.0, [0.0; 3], [flywheel, 0.0, 0.0, flywheel, 0.0, flywheel]);
    let tree = Mechanism::builder("slider crank")
        .gravity([0.0; 3])
        .link(Link::new("crank", wheel))
        .link(Link::new("rod", Inertia::point(0.5, [l, 0.0, 0.0])))
        .link(Link::new("piston", Inertia::point(mass - 0.5, [0.0; 3])))
        .joint(Joint::revolute("turn", Z).between("world", "crank"))
        .joint(Joint::revolute("pin", Z).between("crank", "rod").at([r, 0.0, 0.0]))
        .joint(Joint::prismatic("stroke", [1.0, 0.0, 0.0]).between("world", "piston"))
        .frame("end", "rod", Pose::from_translation([l, 0.0, 0.0]))
        .build()
        .unwrap();
    let closed = ClosedMechanism::new(tree, vec![Constraint::point("wrist", "end", "piston")]).unwrap();
    let mut workspace = closed.workspace();
    for k in 0..24 {
        let theta = 0.1 + 0.26 * f64::from(k);
        let (s, c) = theta.sin_cos();
        let root = (l * l - r * r * s * s).sqrt();
        let slope = -r * s - r * r * s * c / root;
        let bend = -r * c - r * r * ((c * c - s * s) / root + (r * s * c).powi(2) / root.powi(3));
        let (lean, rate) = ((-r * s / l).asin() - theta, 3.0);
        let lean_rate = -r * c / root * rate - rate;
        let q = [theta, lean, r * c + root];
        let mut posed = workspace.at(&q).unwrap();
        assert!(posed.closure() < 1e-14);
        let mut moving = posed.moving(&[rate, lean_rate, slope * rate]).unwrap();
        let mut qdd = [0.0; 3];
        moving.forward_dynamics(&[0.0; 3], &mut qdd).unwrap();
        let expect = -mass * slope * bend * rate * rate / (flywheel + mass * slope * slope);
        assert!(
            (qdd[0] - expect).abs() < 1e-10 * (1.0 + expect.abs()),
            "{theta}: {} {expect}",
            qdd[0]
        );
    }
}

#[test]
fn a_parallelogram_swings_as_the_pendulum_that_it_is() {
    // Two rods hang from the ground and carry a third: I = m l²(2/3 + 1), and 2 m g l (1 − cos θ) is the work of lifting.
    let rod = |name: &str| Link::new(name, Inertia::rod(1.0, [0.0, -1.0, 0.0]));
    let tree = Mechanism::builder("parallelogram")
        .gravity([0.0, -9.81, 0.0])
        .link(rod("left"))
        .link(Link::new("coupler", Inertia::rod(1.0, [1.0, 0.0, 0.0])))
        .link(rod("right"))
        .joint(Joint::revolute("a", Z).between("world", "left"))
        .joint(Joint::revolute("b", Z).between("left", "coupler").at([0.0, -1.0, 0.0]))
        .joint(Joint::revolute("c", Z).between("world", "right").at([1.0, 0.0, 0.0]))
        .frame("end", "coupler", Pose::from_translation([1.0, 0.0, 0.0]))
        .frame("tip", "right", Pose::from_translation([0.0, -1.0, 0.0]))
        .build()
        .unwrap();
    let closed = ClosedMechanism::new(tree, vec![Constraint::point("d", "end", "tip")]).unwrap();
    let start = 1.0_f64;
    // T = 4 √(I/2mgl) K(sin θ₀/2), by the arithmetic and geometric mean.
    let (mut a, mut g) = (1.0, (start / 2.0).cos());
    for _ in 0..10 {
        (a, g) = ((a + g) / 2.0, f64::sqrt(a * g));
    }
    let period = 2.0 * std::f64::consts::PI * (5.0_f64 / 3.0 / (2.0 * 9.81)).sqrt() / a;
    let mut state = State::at_rest(closed.mechanism(), &[start, -start, start]);
    let mut motion = ClosedMotion::new(&closed, ()).unwrap();
    let mut integrator = RungeKutta4::new(closed.mechanism());
    let steps = 2000;
    for _ in 0..steps {
        integrator
            .step(&mut motion, &mut state, period / f64::from(steps))
            .unwrap();
    }
    assert!(
        (state.q[0] - start).abs() < 1e-9 && state.v[0].abs() < 1e-8,
        "{:?} {:?}",
        state.q,
        state.v
    );
}

#[test]
fn a_conical_pendulum_stays_on_its_cone() {
    // Watt's governor without its links: ω² = g / (l cos θ).
    let tilt = 0.6_f64;
    let pendulum = Mechanism::builder("conical pendulum")
        .gravity([0.0, 0.0, -9.81])
        .link(Link::new("spindle", Inertia::point(0.0, [0.0; 3])))
        .link(Link::new("ball", Inertia::point(1.0, [0.0, 0.0, -1.0])))
        .joint(Joint::revolute("spin", Z).armature(1e-9).between("world", "spindle"))
        .joint(Joint::revolute("fly", [0.0, 1.0, 0.0]).between("spindle", "ball"))
        .build()
        .unwrap();
    let rate = (9.81 / tilt.cos()).sqrt();
    let mut state = State::at_rest(&pendulum, &[0.0, tilt]);
    state.v[0] = rate;
    let mut equations = Dynamics::new(&pendulum, ()).unwrap();
    let mut integrator = RungeKutta4::new(&pendulum);
    for _ in 0..2000 {
        integrator.step(&mut equations, &mut state, 1e-3).unwrap();
        assert!((state.q[1] - tilt).abs() < 1e-11, "{:?}", state.q);
    }
    assert!((state.q[0] - 2.0 * rate).abs() < 1e-10);
}
