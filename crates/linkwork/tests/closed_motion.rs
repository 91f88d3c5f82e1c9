//! Closed mechanisms in time: known answers, singular configurations, redundant loops.

mod support;

use linkwork::closed::{ClosedMechanism, ClosedMotion, Constraint, Stabilisation};
use linkwork::model::{Joint, Link, Mechanism};
use linkwork::simulate::{DormandPrince, Integrator, RungeKutta4, State, Tolerance};
use linkwork::spatial::{Inertia, Pose, Vec3};

const X: Vec3 = Vec3 { x: 1.0, y: 0.0, z: 0.0 };
const Z: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 1.0 };

/// A uniform thin rod of 1 kg and 1 m from its frame's origin along x.
fn rod(name: &str) -> Link {
    let centre = Vec3::new(0.5, 0.0, 0.0);
    let i = 1.0 / 12.0;
    Link::new(name, Inertia::new(1.0, centre, [0.0, 0.0, 0.0, i, 0.0, i]))
}

/// Steps to a time; the largest gap and error of energy on the way.
fn run(closed: &ClosedMechanism, state: &mut State, until: f64, steps: usize) -> (f64, f64) {
    let mut motion = ClosedMotion::new(closed, ()).unwrap();
    let mut integrator = RungeKutta4::new(closed.mechanism());
    let (start, _) = motion.check(&state.q, &state.v).unwrap();
    let h = (until - state.t) / steps as f64;
    let (mut gap, mut drift) = (0.0_f64, 0.0_f64);
    for _ in 0..steps {
        integrator.step(&mut motion, state, h).unwrap();
        let (energy, closure) = motion.check(&state.q, &state.v).unwrap();
        gap = gap.max(closure);
        drift = drift.max((energy - start).abs());
    }
    assert!(motion.worst_closure() <= gap.max(1e-14));
    (gap, drift)
}

#[test]
fn a_point_on_a_string_is_a_pendulum() {
    let point = Mechanism::builder("pendulum")
        .gravity([0.0, -9.81, 0.0])
        .link(Link::new("bob", Inertia::point(1.0, [0.0; 3])))
        .joint(Joint::translation("slides").between("world", "bob"))
        .build()
        .unwrap();
    let closed = ClosedMechanism::new(point, vec![Constraint::distance("string", "world", "bob", 1.0)]).unwrap();
    let mut state = State::at_rest(closed.mechanism(), &[-1.0, 0.0, 0.0]);
    let (gap, drift) = run(&closed, &mut state, 10.0, 10_000);
    assert!(gap < 1e-10 && drift < 1e-6, "{gap:e} {drift:e}");
    assert!((state.q[0] + 0.275087462576).abs() < 1e-6, "{:?}", state.q);
    assert!((state.q[1] + 0.961419205099).abs() < 1e-6, "{:?}", state.q);
}

/// Three upright rods from the ground and two couplers: a chain rod, coupler, rod and a second coupler with its rod.
fn double_parallelogram() -> ClosedMechanism {
    let turn = |name: &str| Joint::revolute(name, Z);
    let mut builder = Mechanism::builder("double parallelogram").gravity([0.0, -9.81, 0.0]);
    for k in 0..3 {
        builder = builder
            .link(rod(&format!("rod{k}")))
            .joint(
                turn(&format!("rod{k}"))
                    .between("world", format!("rod{k}"))
                    .at([k as f64, 0.0, 0.0]),
            )
            .frame(format!("top{k}"), format!("rod{k}"), Pose::from_translation(X));
    }
    for k in 0..2 {
        builder = builder
            .link(rod(&format!("coupler{k}")))
            .joint(
                turn(&format!("coupler{k}"))
                    .between(format!("rod{k}"), format!("coupler{k}"))
                    .at(X),
            )
            .frame(format!("end{k}"), format!("coupler{k}"), Pose::from_translation(X));
    }
    let tie = |k: usize| Constraint::point(format!("loop{k}"), format!("end{k}"), format!("top{}", k + 1));
    ClosedMechanism::new(builder.build().unwrap(), vec![tie(0), tie(1)]).unwrap()
}

#[test]
fn a_double_parallelogram_passes_its_singular_configuration() {
    let closed = double_parallelogram();
    let quarter = std::f64::consts::FRAC_PI_2;
    let mut state = State::at_rest(closed.mechanism(), &[quarter, quarter, quarter, -quarter, -quarter]);
    // B₀ at (0, 1) moves at (1, 0): every rod turns at −1, the couplers do not.
    state.v = vec![-1.0, -1.0, -1.0, 1.0, 1.0];
    let b0 = |state: &State| {
        let mut workspace = closed.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        posed
            .tree()
            .pose(closed.mechanism().frame("top0").unwrap())
            .unwrap()
            .translation
    };
    let (gap, _) = run(&closed, &mut state, 1.0, 1000);
    let p = b0(&state);
    assert!((p.x + 0.195020301949).hypot(p.y + 0.980799205662) < 1e-6, "{p:?}");
    let (later, drift) = run(&closed, &mut state, 10.0, 9000);
    let p = b0(&state);
    assert!((p.x - 0.328458111541).hypot(p.y - 0.944518538179) < 1e-6, "{p:?}");
    assert!(gap.max(later) < 1e-10 && drift < 1e-6, "{gap:e} {later:e} {drift:e}");
}

/// Bricard's loop of six unit links along edges of a cube; every axis is at right angles to its two edges.
fn bricard() -> ClosedMechanism {
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 0.0, 1.0],
        [1.0, 1.0, 1.0],
        [0.0, 1.0, 1.0],
        [0.0, 1.0, 0.0],
    ]
    .map(Vec3::from);
    let axis = |k: usize| {
        let (inner, outer) = (points[k] - points[(k + 5) % 6], points[(k + 1) % 6] - points[k]);
        inner.cross(outer)
    };
    let mut builder = Mechanism::builder("Bricard").gravity([0.0, 0.0, -9.81]);
    for k in 0..5 {
        // Link frames are parallel to the world's at the start.
        let along = points[k + 1] - points[k];
        let i = 1.0 / 12.0;
        let moment = |x: f64| i * (1.0 - x.abs());
        let inertia = Inertia::new(
            1.0,
            along * 0.5,
            [moment(along.x), 0.0, 0.0, moment(along.y), 0.0, moment(along.z)],
        );
        let (inner, place) = if k == 0 {
            ("world".to_owned(), points[0])
        } else {
            (format!("rod{}", k - 1), points[k] - points[k - 1])
        };
        builder = builder.link(Link::new(format!("rod{k}"), inertia)).joint(
            Joint::revolute(format!("joint{k}"), axis(k))
                .between(inner, format!("rod{k}"))
                .at(place),
        );
    }
    let end = Pose::from_translation(points[5] - points[4]);
    let ground = Pose::from_translation(points[5]);
    let tree = builder
        .frame("end", "rod4", end)
        .frame("ground", "world", ground)
        .build()
        .unwrap();
    ClosedMechanism::new(tree, vec![Constraint::hinge("last", "end", "ground", axis(5))]).unwrap()
}

#[test]
fn a_redundant_loop_moves_and_keeps_its_energy() {
    let closed = bricard();
    let mut state = State::at_rest(closed.mechanism(), &[0.0; 5]);
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&state.q).unwrap();
    let report = posed.report().unwrap();
    assert_eq!((report.rows, report.rank, report.freedom), (5, 4, 1), "{report}");
    assert_eq!(report.redundant.len(), 1);
    assert_eq!(report.redundant[0].constraint, "last");
    let (gap, drift) = run(&closed, &mut state, 10.0, 8000);
    assert!(gap < 1e-10 && drift < 1e-6, "{gap:e} {drift:e}");
    // It went somewhere.
    assert!(state.q.iter().any(|q| q.abs() > 0.1), "{:?}", state.q);
}

#[test]
fn an_adaptive_integrator_closes_loops_too() {
    let closed = double_parallelogram();
    let quarter = std::f64::consts::FRAC_PI_2;
    let mut state = State::at_rest(closed.mechanism(), &[quarter, quarter, quarter, -quarter, -quarter]);
    state.v = vec![-1.0, -1.0, -1.0, 1.0, 1.0];
    let mut motion = ClosedMotion::new(&closed, ()).unwrap();
    let mut integrator = DormandPrince::new(closed.mechanism()).tolerance(Tolerance {
        relative: 1e-10,
        absolute: 1e-12,
    });
    while state.t < 1.0 {
        integrator.step(&mut motion, &mut state, 1.0).unwrap();
    }
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&state.q).unwrap();
    let p = posed
        .tree()
        .pose(closed.mechanism().frame("top0").unwrap())
        .unwrap()
        .translation;
    assert!((p.x + 0.195020301949).hypot(p.y + 0.980799205662) < 1e-6, "{p:?}");
    assert!(motion.worst_closure() < 1e-10);
}

#[test]
fn baumgarte_closes_open_loops_and_projection_does_so_at_once() {
    let closure = |stabilisation, steps| {
        let closed = double_parallelogram().stabilised(stabilisation).unwrap();
        // A gap of a millimetre and more.
        let mut state = State::at_rest(closed.mechanism(), &[1.0, 1.0, 1.001, -1.0, -1.002]);
        let mut motion = ClosedMotion::new(&closed, ()).unwrap();
        let mut integrator = RungeKutta4::new(closed.mechanism());
        for _ in 0..steps {
            integrator.step(&mut motion, &mut state, 1e-3).unwrap();
        }
        motion.check(&state.q, &state.v).unwrap().1
    };
    let critical = Stabilisation::critical(40.0);
    assert!(closure(critical, 1) > 1e-3);
    let held = closure(critical, 500);
    assert!(held < 1e-6, "{held:e}");
    assert!(closure(Stabilisation::Projection, 1) < 1e-13);
    let text = double_parallelogram()
        .stabilised(Stabilisation::critical(-1.0))
        .unwrap_err();
    assert!(text.to_string().contains("frequency"));
}
