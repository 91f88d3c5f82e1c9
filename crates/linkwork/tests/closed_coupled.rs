//! Closed mechanisms in which joints follow others, and loops that are closed by a function.
#![allow(non_snake_case)]

mod support;

use linkwork::closed::{ClosedMechanism, ClosedMotion, Constraint};
use linkwork::model::{Coupling, Joint, Link};
use linkwork::scalar::{Dual, Scalar};
use linkwork::simulate::{Dynamics, Integrator, RungeKutta4, State};
use linkwork::spatial::{Inertia, Pose};
use linkwork::{Mechanism, Reference};
use support::coupled::{Case, cases};
use support::dense::{self, Dense, plus};
use support::library::{matrix, vector};
use support::matrix::Matrix;
use support::random::Random;
use support::{assert_close_of, fully_driven};

/// The last link's origin tied to where it is now on another link, or in the world.
#[test]
fn constraints_on_coupled_trees_obey_the_dense_equations() {
    let (mut tested, mut across) = (0, 0);
    for case in cases() {
        let Case {
            coupled,
            tree,
            y,
            yd,
            q,
            R,
            R_rate,
            ..
        } = &case;
        let links = coupled.links();
        let (a, b) = (&links[links.len() - 1].name, &links[links.len() / 2].name);
        let mut workspace = coupled.workspace();
        let mut posed = workspace.at(y).unwrap();
        let [at_a, at_b] = [a, b].map(|link| posed.pose(coupled.frame(link).unwrap()).unwrap());
        for on_world in [false, true] {
            let (other, place) = if on_world {
                ("world", at_a)
            } else {
                (b.as_str(), at_b.inverse() * at_a)
            };
            let add = |m: &Mechanism| m.to_builder().frame("there", other, place).build().unwrap();
            let (with, all) = (fully_driven(&add(coupled)), add(tree));
            let dense = Dense::new(&all, q, &R.apply(yd));
            let nv = coupled.nv();
            let part = |x: &Matrix| x.block(3, 0, 3, tree.nv());
            let aligned = dense::Reference::Aligned;
            let J = (part(&dense.jacobian("there", aligned)) - part(&dense.jacobian(a, aligned))) * R;
            let rate = part(&dense.jacobian_rate("there", aligned)) - part(&dense.jacobian_rate(a, aligned));
            let from = part(&dense.jacobian("there", aligned)) - part(&dense.jacobian(a, aligned));
            let J_rate = rate * R + from * R_rate;
            let mass = R.t() * dense.mass_matrix() * R;
            let W = &J * mass.inverse() * J.t();
            let pivots = W.cholesky().map_or(vec![0.0], |L| (0..3).map(|i| L.at(i, i)).collect());
            let least = pivots.iter().fold(f64::MAX, |m: f64, x| m.min(*x));
            if least < 1e-3 * W.max_abs().sqrt() || W.max_abs() < 1e-9 || mass.condition() > 1e5 {
                continue;
            }
            let closed = match ClosedMechanism::new(with, vec![Constraint::point("tie", a, "there")]) {
                Ok(closed) => closed,
                Err(problem) => {
                    assert!(problem.to_string().contains("same rigid body"), "{problem}");
                    continue;
                }
            };
            let tau = Random::new(case.seed).numbers(nv, 5.0);
            let bias = R.t().apply(&dense.inverse_dynamics(&R_rate.apply(yd), None));
            let rest: Vec<f64> = tau.iter().zip(&bias).map(|(t, b)| t - b).collect();
            let free = mass.inverse().apply(&rest);
            let wanted = plus(&J.apply(&free), &J_rate.apply(yd));
            let lambda = W.inverse().apply(&wanted.iter().map(|x| -x).collect::<Vec<_>>());
            let expect = plus(&free, &mass.inverse().apply(&J.t().apply(&lambda)));
            let size = expect.iter().chain(&free).fold(1.0, |m: f64, x| m.max(x.abs()));
            let scale = size * W.condition() * mass.condition();

            let mut workspace = closed.workspace();
            let mut posed = workspace.at(y).unwrap();
            assert!(posed.closure() < 1e-12);
            let got = matrix(3, nv, |out| posed.jacobian(out));
            let sign = if (&got - &J).max_abs() < (&got + &J).max_abs() {
                1.0
            } else {
                -1.0
            };
            assert_close_of(coupled.name(), &got.scale(sign).data, &J.data, J.max_abs(), 1e-12);
            let mut moving = posed.moving(yd).unwrap();
            let mut qdd = vec![0.0; nv];
            moving.forward_dynamics(&tau, &mut qdd).unwrap();
            assert_close_of(coupled.name(), &qdd, &expect, scale, 1e-12);
            // And back: the torques of all joints that give these accelerations.
            let actuated: Vec<usize> = (0..nv).collect();
            if nv > 3 {
                let back = vector(nv, |out| moving.inverse_dynamics(&qdd, &actuated, out));
                let mut again = vec![0.0; nv];
                moving.forward_dynamics(&back, &mut again).unwrap();
                assert_close_of(coupled.name(), &again, &qdd, scale, 1e-10);
            }
            // Projected velocities keep the point together; linearized, q̈ answers torques as the equations do.
            let mut v = yd.clone();
            posed.project_velocity(&mut v).unwrap();
            assert_close_of("ġ", &J.apply(&v), &[0.0; 3], J.max_abs() * W.condition(), 1e-12);
            let linear = closed.linearize(y, yd, &tau).unwrap();
            let inverse = mass.inverse();
            let by_tau = &inverse - &inverse * J.t() * W.inverse() * &J * &inverse;
            assert_close_of(
                "∂q̈/∂T",
                &linear.by_tau,
                &by_tau.data,
                inverse.max_abs() * W.condition(),
                1e-11,
            );
            let h = 1e-6;
            let moved = |h: f64| {
                let v: Vec<f64> = yd.iter().map(|v| v + h).collect();
                let mut posed = workspace.at(y).unwrap();
                let mut moving = posed.moving(&v).unwrap();
                let mut qdd = vec![0.0; nv];
                moving.forward_dynamics(&tau, &mut qdd).unwrap();
                qdd
            };
            let mut moved = moved;
            let (up, down) = (moved(h), moved(-h));
            let by_difference: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            let got = Matrix::from_slice(nv, nv, &linear.by_qd).apply(&vec![1.0; nv]);
            assert_close_of("∂q̈/∂q̇", &got, &by_difference, scale, 1e-7);
            tested += 1;
            across += usize::from(!on_world);
        }
    }
    assert!(tested > 50 && across > 15, "{tested} {across}");
}

/// A four-bar: crank, coupler and rocker of these lengths, and the ground between the pivots.
const BAR: [f64; 4] = [0.5, 1.2, 1.0, 1.1];

/// How coupler and rocker (angles in the world) turn as the crank does: the loop's velocity closes.
fn rates<S: Scalar>([crank, coupler, rocker]: [S; 3]) -> [S; 2] {
    let [a, b, c, _] = BAR.map(S::lift);
    let ((s2, c2), (s3, c3), (s4, c4)) = (crank.sin_cos(), coupler.sin_cos(), rocker.sin_cos());
    // a e(2) + b e(3) x − c e(4) y = 0.
    let det = b * c * (s4 * c3 - s3 * c4);
    [
        a * c * (s2 * c4 - c2 * s4) * det.recip(),
        a * b * (c3 * s2 - s3 * c2) * det.recip(),
    ]
}

/// Both angles and their first four derivatives by the crank's.
fn angles(y: f64) -> [[f64; 5]; 2] {
    let [a, b, c, d] = BAR;
    let (x, z) = (a * y.cos() - d, a * y.sin());
    let far = x.hypot(z);
    // The rocker stands at this angle to the diagonal.
    let inner = ((c * c + far * far - b * b) / (2.0 * c * far)).acos();
    let rocker = z.atan2(x) - inner;
    let coupler = (c * rocker.sin() - z).atan2(c * rocker.cos() - x);
    type D1 = Dual<f64>;
    type D2 = Dual<D1>;
    type D3 = Dual<D2>;
    let [t1, r1] = rates([y, coupler, rocker]);
    let at: [D1; 3] = [Dual::variable(y), Dual::new(coupler, t1), Dual::new(rocker, r1)];
    let [t2, r2] = rates(at).map(|x| x.derivative);
    let raise = |x: D1, second: f64| D2::new(x, Dual::new(x.derivative, second));
    let at: [D2; 3] = [raise(at[0], 0.0), raise(at[1], t2), raise(at[2], r2)];
    let [t3, r3] = rates(at).map(|x| x.derivative.derivative);
    let raise = |x: D2, third: f64| {
        let second = x.derivative.derivative;
        D3::new(x, Dual::new(x.derivative, Dual::new(second, third)))
    };
    let at: [D3; 3] = [raise(at[0], 0.0), raise(at[1], t3), raise(at[2], r3)];
    let [t4, r4] = rates(at).map(|x| x.derivative.derivative.derivative);
    [[coupler, t1, t2, t3, t4], [rocker, r1, r2, r3, r4]]
}

/// The three bars; the coupler's joint turns against the crank.
fn bars() -> linkwork::model::Builder {
    let bar = |name: &str, length: f64| Link::new(name, Inertia::rod(1.0, [length, 0.0, 0.0]));
    let pin = |name: &str| Joint::revolute(name, [0.0, 0.0, 1.0]);
    Mechanism::builder("four-bar")
        .gravity([0.0, -9.81, 0.0])
        .link(bar("crank", BAR[0]))
        .link(bar("coupler", BAR[1]))
        .link(bar("rocker", BAR[2]))
        .joint(pin("a").between("world", "crank").damping(0.05))
        .joint(
            pin("b")
                .between("crank", "coupler")
                .at([BAR[0], 0.0, 0.0])
                .damping(0.02),
        )
        .joint(pin("d").between("world", "rocker").at([BAR[3], 0.0, 0.0]))
        .frame("coupler end", "coupler", Pose::from_translation([BAR[1], 0.0, 0.0]))
        .frame("rocker end", "rocker", Pose::from_translation([BAR[2], 0.0, 0.0]))
}

#[test]
fn a_four_bar_embedded_by_a_function_moves_as_its_closed_loop() {
    let coupler = |y: f64| {
        let [t, _] = angles(y);
        [t[0] - y, t[1] - 1.0, t[2], t[3], t[4]]
    };
    let embedded = bars()
        .couple(Coupling::function("b", "a", coupler))
        .couple(Coupling::function("d", "a", |y: f64| angles(y)[1]))
        .build()
        .unwrap();
    assert_eq!(embedded.nv(), 1);
    let start = 0.6;
    let q = embedded.all_coordinates(&[start]).unwrap();
    let closed = ClosedMechanism::new(
        bars().build().unwrap(),
        vec![Constraint::point("loop", "coupler end", "rocker end")],
    )
    .unwrap();
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    assert!(posed.closure() < 1e-14, "{}", posed.closure());

    // Accelerations at speed, under a torque on the crank.
    let [t, r] = angles(start);
    let speed = 2.5;
    let qd = [speed, (t[1] - 1.0) * speed, r[1] * speed];
    let (mut qdd, tau) = ([0.0; 3], [0.7, 0.0, 0.0]);
    let mut moving = posed.moving(&qd).unwrap();
    assert!(moving.closure_rate() < 1e-13);
    moving.forward_dynamics(&tau, &mut qdd).unwrap();
    let ydd = embedded.forward_dynamics(&[start], &[speed], &[0.7]).unwrap()[0];
    assert!((ydd - qdd[0]).abs() < 1e-10 * ydd.abs(), "{ydd} {}", qdd[0]);
    // Linearized: along the direction in which the loop moves.
    let linear = closed.linearize(&q, &qd, &tau).unwrap();
    let mut d = embedded.derivatives();
    let mut workspace = embedded.workspace();
    let mut posed = workspace.at(&[start]).unwrap();
    let mut moving = posed.moving(&[speed]).unwrap();
    let mut out = [0.0];
    moving
        .linearized_under(&[0.7], &mut out)
        .unwrap()
        .forward_derivatives(&mut d)
        .unwrap();
    let along = [1.0, t[1] - 1.0, r[1]];
    let turns = [0.0, t[2] * speed, r[2] * speed];
    let row = |m: &[f64], x: &[f64; 3]| (0..3).map(|j| m[j] * x[j]).sum::<f64>();
    let expect = row(&linear.by_q, &along) + row(&linear.by_qd, &turns);
    assert!(
        (d.by_q()[0] - expect).abs() < 1e-9 * expect.abs(),
        "{} {expect}",
        d.by_q()[0]
    );
    let expect = row(&linear.by_qd, &along);
    assert!(
        (d.by_qd()[0] - expect).abs() < 1e-9 * (1.0 + expect.abs()),
        "{} {expect}",
        d.by_qd()[0]
    );

    // Two seconds of motion, dampers at both joints included.
    let mut one = Dynamics::new(&embedded, ()).unwrap();
    let mut state = State {
        t: 0.0,
        q: vec![start],
        v: vec![speed],
    };
    let mut other = ClosedMotion::new(&closed, ()).unwrap();
    let mut whole = State {
        t: 0.0,
        q,
        v: qd.to_vec(),
    };
    let (mut rk, mut rk_whole) = (RungeKutta4::new(&embedded), RungeKutta4::new(closed.mechanism()));
    for _ in 0..2000 {
        rk.step(&mut one, &mut state, 1e-3).unwrap();
        rk_whole.step(&mut other, &mut whole, 1e-3).unwrap();
    }
    let q = embedded.all_coordinates(&state.q).unwrap();
    let turned = |x: f64| x.sin_cos();
    for (got, expect) in q.iter().zip(&whole.q) {
        let ((s, c), (s1, c1)) = (turned(*got), turned(*expect));
        assert!((s - s1).hypot(c - c1) < 1e-7, "{q:?} {:?}", whole.q);
    }
    assert!(other.worst_closure() < 1e-12);
}

/// A gripper whose fingers mirror each other holds a ball by two points: couplings and loops together.
#[test]
fn a_gripper_with_mimic_fingers_in_a_loop_keeps_its_energy() {
    let finger = Inertia::rod(0.4, [0.0, 0.0, 0.3]);
    let slide = |name: &str, x: f64| Joint::prismatic(name, [x, 0.0, 0.0]);
    let gripper = Mechanism::builder("gripper")
        .link(Link::new("palm", Inertia::sphere(2.0, 0.2)))
        .link(Link::new("left", finger))
        .link(Link::new("right", finger))
        .link(Link::new("ball", Inertia::sphere(0.5, 0.1)))
        .joint(
            Joint::revolute("wrist", [0.0, 1.0, 0.0])
                .between("world", "palm")
                .at([0.0, 0.0, 1.0]),
        )
        .joint(slide("open", 1.0).between("palm", "left").at([0.1, 0.0, 0.1]))
        .joint(slide("mirror", -1.0).between("palm", "right").at([-0.1, 0.0, 0.1]))
        .joint(Joint::free("float").between("world", "ball"))
        .couple(Coupling::gear("mirror", "open", 1.0, 0.0))
        .frame("tip", "left", Pose::from_translation([0.0, 0.0, 0.3]))
        .build()
        .unwrap();
    let hold = ClosedMechanism::new(gripper, vec![Constraint::weld("grasp", "tip", "ball")]).unwrap();
    let mut start = hold.mechanism().neutral();
    start[0] = 0.4;
    start[1] = 0.02;
    let q = hold.assemble(&start).unwrap();
    let mut workspace = hold.workspace();
    let mut posed = workspace.at(&q).unwrap();
    assert_eq!(posed.report().unwrap().freedom, 2);
    let mut v = vec![0.0; hold.mechanism().nv()];
    (v[0], v[1]) = (1.0, 0.2);
    posed.project_velocity(&mut v).unwrap();
    let tip = hold.mechanism().frame("tip").unwrap();
    let ball = hold.mechanism().frame("ball").unwrap();
    let mut motion = ClosedMotion::new(&hold, ()).unwrap();
    let (energy, _) = motion.check(&q, &v).unwrap();
    let mut state = State { t: 0.0, q, v };
    let mut rk = RungeKutta4::new(hold.mechanism());
    for _ in 0..400 {
        rk.step(&mut motion, &mut state, 5e-4).unwrap();
    }
    let (after, closure) = motion.check(&state.q, &state.v).unwrap();
    assert!(
        (after - energy).abs() < 1e-8 * energy.abs().max(1.0),
        "{energy} {after}"
    );
    assert!(closure < 1e-12);
    let mut workspace = hold.workspace();
    let mut posed = workspace.at(&state.q).unwrap();
    let mut moving = posed.moving(&state.v).unwrap();
    let [a, b] = [tip, ball].map(|frame| moving.velocity(frame, Reference::Aligned).unwrap());
    assert!((a - b).to_array().iter().all(|x| x.abs() < 1e-10));
}
