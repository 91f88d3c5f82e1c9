//! Loops of closed mechanisms in steps with contact.

use linkwork::Result;
use linkwork::closed::{ClosedMechanism, ClosedMotion, Constraint, ConstraintTarget};
use linkwork::contact::{Contact, Settings, StepReport, Stepper, Surface};
use linkwork::model::{FrameId, Joint, Link, Mechanism};
use linkwork::simulate::{Integrator, RungeKutta4, State};
use linkwork::spatial::{Inertia, Motion, Pose, Reference, Vec3};

const G: f64 = 9.81;

/// A four-bar in the x-z plane: crank, coupler and rocker, whose end is held to the world.
fn four_bar() -> ClosedMechanism {
    let rod = |name: &str, length: f64| Link::new(name, Inertia::rod(1.0, [length, 0.0, 0.0]));
    let hinge = |name: &str| Joint::revolute(name, [0.0, -1.0, 0.0]);
    let chain = Mechanism::builder("four-bar")
        .link(rod("crank", 0.4))
        .link(rod("coupler", 1.0))
        .link(rod("rocker", 0.8))
        .joint(hinge("a").between("world", "crank"))
        .joint(hinge("b").between("crank", "coupler").at([0.4, 0.0, 0.0]))
        .joint(hinge("c").between("coupler", "rocker").at([1.0, 0.0, 0.0]))
        .frame("end", "rocker", Pose::from_translation([0.8, 0.0, 0.0]))
        .frame("knee", "rocker", Pose::IDENTITY)
        .frame("ground", "world", Pose::from_translation([1.0, 0.0, 0.0]))
        .build()
        .unwrap();
    ClosedMechanism::new(chain, vec![Constraint::point("loop", "end", "ground")]).unwrap()
}

fn start(closed: &ClosedMechanism) -> Vec<f64> {
    closed.assemble_holding(&[1.2, -0.4, -1.8], &["a"]).unwrap()
}

/// Steps until a time; looks at every report.
fn run(
    stepper: &mut Stepper,
    q: &mut [f64],
    v: &mut [f64],
    until: f64,
    mut look: impl FnMut(&StepReport),
) -> Result<()> {
    let steps = (until / stepper.settings().step).round() as usize;
    let none = vec![0.0; v.len()];
    for _ in 0..steps {
        look(stepper.step(q, v, &none, &[])?);
    }
    Ok(())
}

/// Where a Runge–Kutta integration of the closed dynamics ends.
fn exact(closed: &ClosedMechanism, q: &[f64], v: &[f64], until: f64) -> State {
    let mut motion = ClosedMotion::new(closed, ()).unwrap();
    let m = closed.mechanism();
    let mut state = State::at_rest(m, q);
    state.v.copy_from_slice(v);
    let mut rk = RungeKutta4::new(m);
    let steps = (until / 2e-4).round() as usize;
    for _ in 0..steps {
        rk.step(&mut motion, &mut state, until / steps as f64).unwrap();
    }
    state
}

fn apart(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}

#[test]
fn a_four_bar_follows_its_closed_dynamics_to_first_order_without_drift() {
    let closed = four_bar();
    let q0 = start(&closed);
    let expected = exact(&closed, &q0, &[0.0; 3], 1.0);
    let mut errors = Vec::new();
    for dt in [4e-3, 2e-3, 1e-3] {
        let mut stepper = Stepper::closed(&closed, Settings::new(dt)).unwrap();
        let (mut q, mut v) = (q0.clone(), vec![0.0; 3]);
        let mut open: f64 = 0.0;
        run(&mut stepper, &mut q, &mut v, 1.0, |report| {
            assert!(report.settled);
            open = open.max(report.residuals.closure);
        })
        .unwrap();
        // Third order: some hundred m/s³ at these speeds, whatever the step.
        assert!(open < 500.0 * dt.powi(3), "{open:e} at {dt}");
        errors.push(apart(&q, &expected.q));
        assert!(apart(&v, &expected.v) < 60.0 * dt, "{:e}", apart(&v, &expected.v));
    }
    assert!(errors[2] < 0.02, "{errors:?}");
    for pair in errors.windows(2) {
        assert!(pair[0] / pair[1] > 1.7, "{errors:?}");
    }
}

#[test]
fn a_minute_of_a_four_bar_stays_closed_and_gains_no_energy() {
    let closed = four_bar();
    let (mut q, mut v) = (start(&closed), vec![0.0; 3]);
    let mut stepper = Stepper::closed(&closed, Settings::new(2e-3)).unwrap();
    let mut workspace = closed.workspace();
    let mut energy = |q: &[f64], v: &[f64]| workspace.at(q).unwrap().moving(v).unwrap().energy();
    let first = energy(&q, &v);
    let (mut open, mut most): (f64, f64) = (0.0, f64::NEG_INFINITY);
    for _ in 0..60 {
        run(&mut stepper, &mut q, &mut v, 1.0, |report| {
            open = open.max(report.residuals.closure);
        })
        .unwrap();
        most = most.max(energy(&q, &v));
    }
    assert!(open < 4e-6, "{open:e}");
    // Against what falls: some joules.
    assert!(most < first + 0.2, "{first} {most}");
}

#[test]
fn multipliers_are_those_of_closed_dynamics() {
    let closed = four_bar();
    let q = start(&closed);
    let mut v = vec![1.0, 0.0, 0.0];
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    posed.project_velocity(&mut v).unwrap();
    let mut moving = posed.moving(&v).unwrap();
    let mut qdd = [0.0; 3];
    let expected = moving.forward_dynamics(&[0.0; 3], &mut qdd).unwrap().all().to_vec();
    let size = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    for dt in [1e-3, 1e-4] {
        let mut stepper = Stepper::closed(&closed, Settings::new(dt)).unwrap();
        // The velocity of the middle of the step before: the impulse of half a step has already acted.
        let back: Vec<f64> = v.iter().zip(&qdd).map(|(v, a)| v - 0.5 * dt * a).collect();
        let report = stepper.solve(&q, &back, &[0.0; 3], &[]).unwrap();
        let found = &report.loops[0];
        assert_eq!(found.constraint, 0);
        for (i, expected) in expected.iter().enumerate() {
            let told = found.impulses[i] / dt;
            // Rows across the plane hold nothing.
            assert!(
                (told - expected).abs() < 20.0 * dt * size,
                "{dt} {i}: {told} {expected}"
            );
        }
    }
}

#[test]
fn a_four_bar_comes_to_rest_on_the_ground_in_balance() {
    let closed = four_bar();
    let m = closed.mechanism();
    let dt = 2e-3;
    let (mut q, mut v) = (start(&closed), vec![0.0; 3]);
    let knee = m.frame("knee").unwrap();
    let mut stepper = Stepper::closed(&closed, Settings::new(dt)).unwrap();
    let height = 0.7;
    let mut workspace = m.workspace();
    let (mut told, mut open, mut deepest) = (None, 0.0_f64, 0.0_f64);
    for _ in 0..3000 {
        let place = workspace.at(&q).unwrap().pose(knee).unwrap().translation;
        let contact = Contact {
            id: 0,
            a: knee,
            b: FrameId::WORLD,
            point: place,
            normal: Vec3::new(0.0, 0.0, 1.0),
            gap: place.z - height,
            surface: Surface::with_friction(0.4),
        };
        let report = stepper.step(&mut q, &mut v, &[0.0; 3], &[contact]).unwrap();
        assert!(report.settled, "{:?}", report.residuals);
        open = open.max(report.residuals.closure);
        deepest = deepest.max(report.residuals.penetration);
        told = Some((report.contacts[0], report.loops[0]));
    }
    let (contact, tie) = told.unwrap();
    assert!(v.iter().all(|v| v.abs() < 1e-6), "{v:?}");
    assert!(
        contact.along > 0.0 && open < 1e-4 && deepest < 1e-3,
        "{open:e} {deepest:e}"
    );
    // Gravity, the contact and the loop balance at every joint: C = J*f.
    let mut posed = workspace.at(&q).unwrap();
    let mut balance = vec![0.0; 3];
    posed.moving(&[0.0; 3]).unwrap().bias(&mut balance).unwrap();
    let weight = balance.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let force = contact.force(dt);
    let mut add = |frame: FrameId, f: Vec3| {
        let mut j = vec![0.0; 18];
        posed.jacobian(frame, Reference::Aligned, &mut j).unwrap();
        for (c, balance) in balance.iter_mut().enumerate() {
            for (r, f) in f.to_array().into_iter().enumerate() {
                *balance -= j[3 * (3 + r) + c] * f;
            }
        }
    };
    add(knee, force);
    // Rows are those of the ground against the end: a multiplier pulls on b and pushes a.
    let pull = Vec3::new(tie.impulses[0], tie.impulses[1], tie.impulses[2]) * dt.recip();
    add(m.frame("end").unwrap(), -pull);
    assert!(
        balance.iter().all(|x| x.abs() < 1e-5 * weight),
        "{balance:?} of {weight}"
    );
}

#[test]
fn two_free_bodies_held_by_a_point_follow_their_closed_dynamics() {
    let half = Vec3::new(0.2, 0.1, 0.1);
    let brick = |name: &str| Link::new(name, Inertia::cuboid(2.0, half * 2.0));
    let corner = Pose::from_translation([0.2, 0.1, 0.1]);
    let free = Mechanism::builder("free")
        .link(brick("one"))
        .link(brick("two"))
        .joint(Joint::free("one free").between("world", "one"))
        .joint(Joint::free("two free").between("world", "two"))
        .frame("right", "one", corner)
        .frame("left", "two", Pose::from_translation([-0.2, -0.1, -0.1]))
        .build()
        .unwrap();
    let closed = ClosedMechanism::new(free.clone(), vec![Constraint::point("held", "right", "left")]).unwrap();
    let mut q0 = free.neutral();
    (q0[11], q0[12], q0[13]) = (0.4, 0.2, 0.2);
    let mut v0 = vec![1.0, -2.0, 3.0, 0.0, 0.0, 0.0, -1.0, 0.5, 2.0, 0.0, 0.0, 0.0];
    closed.workspace().at(&q0).unwrap().project_velocity(&mut v0).unwrap();
    let until = 0.4;
    let expected = exact(&closed, &q0, &v0, until);
    let mut errors = Vec::new();
    for dt in [2e-3, 1e-3, 5e-4] {
        let mut stepper = Stepper::closed(&closed, Settings::new(dt)).unwrap();
        let (mut q, mut v) = (q0.clone(), v0.clone());
        run(&mut stepper, &mut q, &mut v, until, |report| {
            assert!(
                report.settled && report.residuals.closure < 50.0 * dt.powi(3),
                "{:?}",
                report.residuals
            );
        })
        .unwrap();
        errors.push(apart(&q, &expected.q));
        // Together they fall: momentum does not depend on what holds them.
        let centre = 0.5 * (q[6] + q[13]) - 0.5 * (q0[6] + q0[13]);
        let speed = {
            let mut w = free.workspace();
            let mut posed = w.at(&q0).unwrap();
            let mut moving = posed.moving(&v0).unwrap();
            let one = moving.velocity(free.frame("one").unwrap(), Reference::Aligned).unwrap();
            let two = moving.velocity(free.frame("two").unwrap(), Reference::Aligned).unwrap();
            0.5 * (one.linear.z + two.linear.z)
        };
        let fell = speed * until - 0.5 * G * until * (until + dt);
        assert!((centre - fell).abs() < 1e-9, "{centre} {fell}");
    }
    assert!(errors[2] < 5e-3, "{errors:?}");
    for pair in errors.windows(2) {
        assert!(pair[0] / pair[1] > 1.7, "{errors:?}");
    }
}

#[test]
fn a_constraint_said_twice_shares_its_force_and_one_that_is_off_holds_nothing() {
    let free = Mechanism::builder("ball")
        .link(Link::new("ball", Inertia::sphere(2.0, 0.1)))
        .joint(Joint::free("free").between("world", "ball"))
        .build()
        .unwrap();
    let twice = vec![
        Constraint::point("one", "world", "ball"),
        Constraint::point("two", "world", "ball"),
    ];
    let closed = ClosedMechanism::new(free.clone(), twice).unwrap();
    let dt = 5e-3;
    let mut stepper = Stepper::closed(&closed, Settings::new(dt)).unwrap();
    let (mut q, mut v) = (free.neutral(), vec![0.0; 6]);
    let report = stepper.step(&mut q, &mut v, &[0.0; 6], &[]).unwrap();
    for tie in &report.loops {
        assert!((tie.impulses[2] / dt - G).abs() < 1e-4, "{:?}", tie.impulses);
    }
    assert!(q[6].abs() < 1e-9);
    stepper.switch("one", false).unwrap();
    let report = stepper.step(&mut q, &mut v, &[0.0; 6], &[]).unwrap();
    assert_eq!(report.loops.len(), 1);
    assert!((report.loops[0].impulses[2] / dt - 2.0 * G).abs() < 1e-4);
    stepper.switch("two", false).unwrap();
    let report = stepper.step(&mut q, &mut v, &[0.0; 6], &[]).unwrap();
    assert!(report.loops.is_empty() && (v[5] + G * dt).abs() < 1e-7, "{v:?}");
    assert!(stepper.switch("three", true).is_err());
    let mut open = Stepper::new(&free, Settings::new(dt)).unwrap();
    assert!(open.switch("one", true).unwrap_err().to_string().contains("closed"));
}

#[test]
fn a_rope_is_slack_then_taut_and_a_shaken_support_carries_its_load() {
    let ball = Mechanism::builder("ball")
        .link(Link::new("ball", Inertia::sphere(1.0, 0.05)))
        .joint(Joint::free("free").between("world", "ball"))
        .build()
        .unwrap();
    let rope = Constraint::distance("rope", "world", "ball", 1.0).at_most();
    let closed = ClosedMechanism::new(ball.clone(), vec![rope]).unwrap();
    let dt = 2e-3;
    let mut stepper = Stepper::closed(&closed, Settings::new(dt)).unwrap();
    let (mut q, mut v) = (ball.neutral(), vec![0.0; 6]);
    q[6] = -0.5;
    let mut pulled = 0.0;
    run(&mut stepper, &mut q, &mut v, 0.3, |report| {
        pulled += report.loops[0].impulses[0].abs()
    })
    .unwrap();
    assert!(pulled == 0.0 && (v[5] + 0.3 * G).abs() < 1e-9, "{pulled}");
    run(&mut stepper, &mut q, &mut v, 1.0, |report| {
        pulled = report.loops[0].impulses[0] / dt
    })
    .unwrap();
    assert!((q[6] + 1.0).abs() < 1e-6 && v[5].abs() < 1e-6, "{q:?}");
    assert!((pulled + G).abs() < 1e-3, "{pulled}");

    // A point that goes up and down by itself: the multiplier is m(g + z̈).
    let closed = ClosedMechanism::new(ball.clone(), vec![Constraint::point("held", "world", "ball")]).unwrap();
    let mut stepper = Stepper::closed(&closed, Settings::new(dt)).unwrap();
    let (mut q, mut v) = (ball.neutral(), vec![0.0; 6]);
    v[5] = 0.6;
    for i in 0..1000 {
        let t = f64::from(i) * dt;
        let (s, c) = (6.0 * t).sin_cos();
        let target = ConstraintTarget {
            pose: Pose::from_translation([0.0, 0.0, 0.1 * s]),
            velocity: Motion::new([0.0; 3], [0.0, 0.0, 0.6 * c]),
            acceleration: Motion::new([0.0; 3], [0.0, 0.0, -3.6 * s]),
        };
        stepper.prescribe("held", Some(target)).unwrap();
        let report = stepper.step(&mut q, &mut v, &[0.0; 6], &[]).unwrap();
        let found = report.loops[0].impulses[2] / dt;
        assert!(i < 2 || (found - (G - 3.6 * s)).abs() < 0.1, "{t}: {found}");
        assert!((q[6] - 0.1 * (6.0 * (t + dt)).sin()).abs() < 1e-6, "{t}: {}", q[6]);
    }
}

#[test]
fn a_knife_edge_on_a_slope_goes_along_cycloids() {
    let (slope, turn) = (0.4_f64, 2.0);
    let pull = G * slope.sin();
    let sled = Mechanism::builder("sled")
        .gravity([pull, 0.0, -G * slope.cos()])
        .link(Link::new("body", Inertia::cuboid(2.0, [0.4, 0.1, 0.1])))
        .joint(Joint::planar("slides").between("world", "body"))
        .build()
        .unwrap();
    let closed = ClosedMechanism::new(sled.clone(), vec![Constraint::skate("edge", "world", "body")]).unwrap();
    let mut errors = Vec::new();
    for dt in [2e-3, 1e-3] {
        let mut stepper = Stepper::closed(&closed, Settings::new(dt)).unwrap();
        let (mut q, mut v) = (sled.neutral(), vec![turn, 0.0, 0.0]);
        let t = 2.0;
        run(&mut stepper, &mut q, &mut v, t, |_| ()).unwrap();
        let scale = pull / (2.0 * turn * turn);
        let (x, y) = (
            scale * (turn * t).sin().powi(2),
            scale * (turn * t - 0.5 * (2.0 * turn * t).sin()),
        );
        errors.push((q[1] - x).hypot(q[2] - y));
    }
    assert!(errors[1] < 5e-3 && errors[0] / errors[1] > 1.7, "{errors:?}");
}
