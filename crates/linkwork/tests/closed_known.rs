//! Skates, wheels, moving supports, ropes, and grasps in continuous time: known answers.

mod support;

use linkwork::closed::{ClosedMechanism, ClosedMotion, Constraint, ConstraintTarget};
use linkwork::model::{Joint, Link, Mechanism, examples};
use linkwork::simulate::{DormandPrince, Integrator, RungeKutta4, State, Tolerance};
use linkwork::spatial::{Inertia, Motion, Pose, Rotation, Vec3};

const G: f64 = 9.81;

fn body(inertia: Inertia, gravity: [f64; 3], joint: Joint) -> Mechanism {
    Mechanism::builder("body")
        .gravity(gravity)
        .link(Link::new("body", inertia))
        .joint(joint.between("world", "body"))
        .build()
        .unwrap()
}

fn step_to(motion: &mut ClosedMotion<()>, m: &Mechanism, state: &mut State, until: f64, h: f64) {
    let mut rk = RungeKutta4::new(m);
    let steps = ((until - state.t) / h).round() as usize;
    let h = (until - state.t) / steps as f64;
    for _ in 0..steps {
        rk.step(motion, state, h).unwrap();
    }
}

#[test]
fn a_knife_edge_on_a_slope_goes_along_cycloids() {
    // x down the slope = a/(2ω²) sin²ωt, y = a/(2ω²)(ωt − ½ sin 2ωt): it does not slide down.
    let (slope, turn) = (0.4_f64, 2.0);
    let pull = G * slope.sin();
    let sled = body(
        Inertia::cuboid(2.0, [0.4, 0.1, 0.1]),
        [pull, 0.0, -G * slope.cos()],
        Joint::planar("slides"),
    );
    let closed = ClosedMechanism::new(sled.clone(), vec![Constraint::skate("edge", "world", "body")]).unwrap();
    let mut state = State::at_rest(&sled, &sled.neutral());
    let mut motion = ClosedMotion::new(&closed, ()).unwrap();
    state.v[0] = turn;
    let (start, _) = motion.check(&state.q, &state.v).unwrap();
    let mut integrator = DormandPrince::new(&sled).tolerance(Tolerance {
        relative: 1e-12,
        absolute: 1e-13,
    });
    for k in 1..=20 {
        let t = 0.25 * f64::from(k);
        while state.t < t {
            integrator.step(&mut motion, &mut state, t).unwrap();
        }
        let mut workspace = sled.workspace();
        let place = workspace
            .at(&state.q)
            .unwrap()
            .pose(sled.frame("body").unwrap())
            .unwrap();
        let scale = pull / (2.0 * turn * turn);
        let (x, y) = (
            scale * (turn * t).sin().powi(2),
            scale * (turn * t - 0.5 * (2.0 * turn * t).sin()),
        );
        let off = (place.translation - Vec3::new(x, y, 0.0)).norm();
        assert!(off < 1e-9, "{t}: {off:e} {:?}", place.translation);
        let (energy, _) = motion.check(&state.q, &state.v).unwrap();
        assert!((energy - start).abs() < 1e-9, "{:e}", energy - start);
    }
}

/// A thin disc about its x, rolling on the ground, which gravity may make a slope of.
fn disc(gravity: [f64; 3], radius: f64) -> ClosedMechanism {
    let (m, r) = (1.5, radius);
    let [axial, across] = [0.5 * m * r * r, 0.25 * m * r * r];
    let inertia = Inertia::new(m, [0.0; 3], [axial, 0.0, 0.0, across, 0.0, across]);
    let free = body(inertia, gravity, Joint::free("floats"));
    ClosedMechanism::new(
        free,
        vec![Constraint::wheel("rolls", "world", "body", [1.0, 0.0, 0.0], r)],
    )
    .unwrap()
}

/// A configuration of a free joint.
fn placed(pose: Pose) -> Vec<f64> {
    let [x, y, z, w] = pose.rotation.to_quaternion();
    let p = pose.translation;
    vec![x, y, z, w, p.x, p.y, p.z]
}

/// Its velocity, from the world's.
fn moved(m: &Mechanism, q: &[f64], velocity: Motion) -> Vec<f64> {
    let mut workspace = m.workspace();
    let mut posed = workspace.at(q).unwrap();
    let mut jacobian = vec![0.0; 36];
    posed
        .jacobian(m.frame("body").unwrap(), linkwork::Reference::Aligned, &mut jacobian)
        .unwrap();
    let j = support::matrix::Matrix::from_slice(6, 6, &jacobian);
    j.solve(&support::matrix::Matrix::column(&velocity.to_array())).data
}

#[test]
fn a_tumbling_disc_keeps_its_energy() {
    let closed = disc([0.0, 0.0, -G], 0.3);
    let m = closed.mechanism();
    let lean = Rotation::about(Vec3::new(0.0, 1.0, 0.0), 0.5);
    let q = closed.assemble(&placed(Pose::new(lean, [0.0, 0.0, 0.29]))).unwrap();
    let mut state = State::at_rest(m, &q);
    state.v = moved(m, &q, Motion::new([9.0, 1.0, 2.5], [0.0, 2.0, 0.0]));
    closed
        .workspace()
        .at(&q)
        .unwrap()
        .project_velocity(&mut state.v)
        .unwrap();
    let mut motion = ClosedMotion::new(&closed, ()).unwrap();
    let (start, _) = motion.check(&state.q, &state.v).unwrap();
    let mut integrator = DormandPrince::new(m).tolerance(Tolerance {
        relative: 1e-12,
        absolute: 1e-13,
    });
    let mut travelled: f64 = 0.0;
    for k in 1..=10 {
        while state.t < 0.3 * f64::from(k) {
            integrator.step(&mut motion, &mut state, 0.3 * f64::from(k)).unwrap();
        }
        let (energy, gap) = motion.check(&state.q, &state.v).unwrap();
        assert!((energy - start).abs() < 1e-9 * start, "{:e}", energy - start);
        assert!(gap < 1e-12);
        let mut workspace = closed.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        assert!(posed.moving(&state.v).unwrap().closure_rate() < 1e-12);
        travelled = travelled.max(state.q[4].hypot(state.q[5]));
    }
    assert!(travelled > 0.3, "{travelled}");
}

#[test]
fn a_disc_spins_on_its_rim_with_its_centre_at_rest() {
    // Ω² r sin α = 4 g: the contact runs around while the centre stays.
    let (radius, tilt) = (0.2_f64, 0.3_f64);
    let closed = disc([0.0, 0.0, -G], radius);
    let m = closed.mechanism();
    // Its axis x leans from z by the tilt, towards −y: the diameter through the contact is in the plane of y and z.
    let turn = Rotation::about(Vec3::new(1.0, 0.0, 0.0), tilt)
        * Rotation::about(Vec3::new(0.0, 1.0, 0.0), -core::f64::consts::FRAC_PI_2);
    let q = placed(Pose::new(turn, [0.0, 0.0, radius * tilt.sin()]));
    assert!(closed.workspace().at(&q).unwrap().closure() < 1e-12);
    let omega = (4.0 * G / (radius * tilt.sin())).sqrt();
    let diameter = Vec3::new(0.0, tilt.cos(), tilt.sin());
    let spin = diameter * (omega * tilt.sin());
    let mut state = State::at_rest(m, &q);
    state.v = moved(m, &q, Motion::new(spin, Vec3::ZERO));
    let mut workspace = closed.workspace();
    assert!(workspace.at(&q).unwrap().moving(&state.v).unwrap().closure_rate() < 1e-12);
    let mut motion = ClosedMotion::new(&closed, ()).unwrap();
    let period = core::f64::consts::TAU / omega;
    step_to(&mut motion, m, &mut state, 1.25 * period, period / 4000.0);
    let mut tree = m.workspace();
    let at = tree.at(&state.q).unwrap().pose(m.frame("body").unwrap()).unwrap();
    let off = (at.translation - Vec3::new(0.0, 0.0, radius * tilt.sin())).norm();
    assert!(off < 1e-8, "{off:e}");
    let axis = at.rotation * Vec3::new(1.0, 0.0, 0.0);
    // Tilted as before, a quarter turn further.
    assert!((axis.z.abs() - tilt.cos()).abs() < 1e-8, "{axis:?}");
    assert!(
        axis.y.abs() < 1e-7 && (axis.x.abs() - tilt.sin()).abs() < 1e-7,
        "{axis:?}"
    );
}

#[test]
fn balls_and_wheels_roll_down_slopes_as_known() {
    let slope = 0.35_f64;
    let gravity = [0.0, G * slope.sin(), -G * slope.cos()];
    let wheel = disc(gravity, 0.3);
    let ball = {
        let free = body(Inertia::sphere(2.0, 0.1), gravity, Joint::free("floats"));
        ClosedMechanism::new(free, vec![Constraint::ball("rolls", "world", "body", 0.1)]).unwrap()
    };
    for (closed, height, part) in [(wheel, 0.3, 2.0 / 3.0), (ball, 0.1, 5.0 / 7.0)] {
        let m = closed.mechanism();
        let q = placed(Pose::from_translation([0.0, 0.0, height]));
        let mut state = State::at_rest(m, &q);
        let mut motion = ClosedMotion::new(&closed, ()).unwrap();
        step_to(&mut motion, m, &mut state, 1.0, 5e-4);
        let expect = 0.5 * part * G * slope.sin();
        assert!((state.q[5] - expect).abs() < 1e-9, "{} {expect}", state.q[5]);
        assert!(state.q[4].abs() < 1e-9);
    }
}

#[test]
fn a_pendulum_on_a_shaken_support_obeys_its_equation() {
    let (length, amplitude, rate) = (0.8, 0.05, 40.0_f64);
    let free = body(
        Inertia::point(1.0, [0.0; 3]),
        [0.0, 0.0, -G],
        Joint::translation("flies"),
    );
    let closed = ClosedMechanism::new(free, vec![Constraint::distance("rod", "world", "body", length)]).unwrap();
    let m = closed.mechanism();
    let angle = 0.7_f64;
    let q = [length * angle.sin(), 0.0, -length * angle.cos()];
    let mut state = State::at_rest(m, &q);
    // The support starts at rest: z = A(1 − cos), moves along x too.
    let support = move |t: f64| {
        let (s, c) = (rate * t).sin_cos();
        let along = Vec3::new(0.3, 0.0, 1.0) * amplitude;
        ConstraintTarget {
            pose: Pose::from_translation(along * (1.0 - c)),
            velocity: Motion::new([0.0; 3], along * (rate * s)),
            acceleration: Motion::new([0.0; 3], along * (rate * rate * c)),
        }
    };
    let mut motion = ClosedMotion::new(&closed, ()).unwrap();
    motion.prescribe("rod", support).unwrap();
    step_to(&mut motion, m, &mut state, 1.0, 1e-4);
    // l θ̈ = −(g + z̈) sin θ − ẍ cos θ.
    let (mut theta, mut speed) = (angle, 0.0);
    let h = 1e-4;
    let pull = |t: f64, theta: f64| {
        let a = support(t).acceleration.linear;
        (-(G + a.z) * theta.sin() - a.x * theta.cos()) / length
    };
    for k in 0..10_000 {
        let t = h * f64::from(k);
        let k1 = (speed, pull(t, theta));
        let k2 = (speed + 0.5 * h * k1.1, pull(t + 0.5 * h, theta + 0.5 * h * k1.0));
        let k3 = (speed + 0.5 * h * k2.1, pull(t + 0.5 * h, theta + 0.5 * h * k2.0));
        let k4 = (speed + h * k3.1, pull(t + h, theta + h * k3.0));
        theta += h / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
        speed += h / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
    }
    let at = support(1.0).pose.translation;
    let expect = [at.x + length * theta.sin(), 0.0, at.z - length * theta.cos()];
    for (got, expect) in state.q.iter().zip(expect) {
        assert!((got - expect).abs() < 1e-8, "{:?} {expect}", state.q);
    }
}

#[test]
fn a_rope_is_slack_and_then_taut() {
    let free = body(
        Inertia::point(2.0, [0.0; 3]),
        [0.0, 0.0, -G],
        Joint::translation("flies"),
    );
    let rope = Constraint::distance("rope", "world", "body", 1.0).at_most();
    let closed = ClosedMechanism::new(free, vec![rope]).unwrap();
    let m = closed.mechanism();
    let mut state = State::at_rest(m, &[0.6, 0.0, 0.0]);
    let mut motion = ClosedMotion::new(&closed, ()).unwrap();
    // Falls freely to z = −0.8.
    let taut = (2.0 * 0.8 / G).sqrt();
    step_to(&mut motion, m, &mut state, 0.9 * taut, 1e-4);
    let fallen = 0.5 * G * (0.9 * taut).powi(2);
    assert!((state.q[2] + fallen).abs() < 1e-12, "{:?}", state.q);
    step_to(&mut motion, m, &mut state, 1.2, 1e-4);
    // Only the speed along the circle is left: ½(v·0.6)², v² = 2 g 0.8; the swing's highest point follows.
    let (energy, _) = motion.check(&state.q, &state.v).unwrap();
    let expect = 2.0 * (G * 0.8 * 0.36 - G * 0.8);
    assert!((energy - expect).abs() < 2e-3 * expect.abs(), "{energy} {expect}");
    assert!((state.q[0].hypot(state.q[2]) - 1.0).abs() < 1e-9, "{:?}", state.q);
    // At the lowest point the rope bears weight and swing; thrown upwards it bears nothing.
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&[0.0, 0.0, -1.0]).unwrap();
    let mut qdd = [0.0; 3];
    let mut moving = posed.moving(&[1.5, 0.0, 0.0]).unwrap();
    let force = moving
        .forward_dynamics(&[0.0; 3], &mut qdd)
        .unwrap()
        .on_b("rope")
        .unwrap();
    assert!((force.force.z - 2.0 * (G + 2.25)).abs() < 1e-10, "{force:?}");
    let mut posed = workspace.at(&[0.0, 0.0, -1.0]).unwrap();
    let mut moving = posed.moving(&[0.0, 0.0, 0.5]).unwrap();
    let force = moving
        .forward_dynamics(&[0.0; 3], &mut qdd)
        .unwrap()
        .on_b("rope")
        .unwrap();
    assert!(force.force.norm() == 0.0 && (qdd[2] + G).abs() < 1e-12);
    // Torques that the rope would have to push for are refused.
    let mut posed = workspace.at(&[0.0, 0.0, 1.0]).unwrap();
    let mut moving = posed.moving(&[0.0; 3]).unwrap();
    moving.forward_dynamics(&[0.0; 3], &mut qdd).unwrap();
    assert!((qdd[2] + G).abs() < 1e-12, "a rope does not hold what stands on it");
}

#[test]
fn a_body_on_stops_lets_go_and_comes_down() {
    // Three stops under one plate: the LCP has several rows, one of them redundant with none.
    let plate = Mechanism::builder("plate")
        .link(Link::new("body", Inertia::cuboid(3.0, [1.0, 1.0, 0.1])))
        .joint(Joint::free("floats").between("world", "body"))
        .frame("a", "body", Pose::from_translation([0.5, 0.0, 0.0]))
        .frame("b", "body", Pose::from_translation([-0.5, 0.4, 0.0]))
        .frame("c", "body", Pose::from_translation([-0.5, -0.4, 0.0]))
        .build()
        .unwrap();
    let stop = |name: &str| {
        Constraint::directions(format!("stop {name}"), "world", name, [false; 3], [false, false, true]).at_least()
    };
    let closed = ClosedMechanism::new(plate, vec![stop("a"), stop("b"), stop("c")]).unwrap();
    let m = closed.mechanism();
    let q = m.neutral();
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let mut moving = posed.moving(&[0.0; 6]).unwrap();
    let mut qdd = vec![0.0; 6];
    let forces = moving.forward_dynamics(&[0.0; 6], &mut qdd).unwrap().all().to_vec();
    // By moments: half on a, a quarter on each other.
    for (got, part) in forces.iter().zip([0.5, 0.25, 0.25]) {
        assert!((got - part * 3.0 * G).abs() < 1e-10, "{forces:?}");
    }
    assert!(qdd.iter().all(|x| x.abs() < 1e-12));
    // A moment that tips it over a: b and c let go, and nothing pulls.
    let mut tau = vec![0.0; 6];
    let jac = {
        let mut posed = workspace.at(&q).unwrap();
        let mut j = vec![0.0; 36];
        posed
            .tree()
            .jacobian(m.frame("body").unwrap(), linkwork::Reference::Aligned, &mut j)
            .unwrap();
        support::matrix::Matrix::from_slice(6, 6, &j)
    };
    // More than the weight's half arm, about y.
    for (i, t) in tau.iter_mut().enumerate() {
        *t = jac.at(1, i) * 3.0 * G * 0.7;
    }
    let mut posed = workspace.at(&q).unwrap();
    let mut moving = posed.moving(&[0.0; 6]).unwrap();
    let forces = moving.forward_dynamics(&tau, &mut qdd).unwrap().all().to_vec();
    assert!(forces[0] > 0.0 && forces[1] == 0.0 && forces[2] == 0.0, "{forces:?}");
    let up = jac.apply(&qdd);
    // Accelerations of a, b, c along z: α about y lifts b and c.
    assert!(
        (up[5] - up[1] * 0.5).abs() < 1e-10 && up[5] + up[1] * 0.5 > 0.1,
        "{up:?}"
    );
    // Dropped from 0.2 m, it stays on the stops.
    let mut state = State::at_rest(m, &placed(Pose::from_translation([0.0, 0.0, 0.2])));
    let mut motion = ClosedMotion::new(&closed, ()).unwrap();
    step_to(&mut motion, m, &mut state, 1.0, 1e-3);
    assert!(
        state.q[2].abs() < 1e-9 && state.v.iter().all(|v| v.abs() < 1e-9),
        "{state:?}"
    );
}

#[test]
fn an_arm_grasps_throws_and_grasps_again() {
    let arm = examples::arm7();
    let start = vec![0.3, 0.6, 0.2, -1.0, 0.3, 0.5, 0.1];
    let tool = arm
        .workspace()
        .at(&start)
        .unwrap()
        .pose(arm.frame("flange").unwrap())
        .unwrap();
    let n = arm.nv();
    let scene = arm
        .to_builder()
        .link(Link::new("ball", Inertia::sphere(0.7, 0.05)))
        .joint(Joint::free("floats").between("world", "ball"))
        .build()
        .unwrap();
    let mut closed = ClosedMechanism::new(scene, vec![Constraint::weld("grasp", "flange", "ball")]).unwrap();
    closed.switch("grasp", false).unwrap();
    let m = closed.mechanism().clone();
    let [flange, ball] = ["flange", "ball"].map(|f| m.frame(f).unwrap());
    let mut q = start.clone();
    let away = tool.translation + tool.rotation * Vec3::new(0.02, 0.0, 0.06);
    q.extend([0.0, 0.0, 0.0, 1.0, away.x, away.y, away.z]);
    let mut state = State::at_rest(&m, &q);
    state.v[..n].copy_from_slice(&[0.4, -0.3, 0.2, 0.5, 0.1, -0.6, 0.3]);
    let before = state.clone();
    let mut motion = ClosedMotion::new(&closed, ()).unwrap();
    // Grasp at speed: the ball's momentum is the impulse, and energy is lost.
    let transition = motion.grasp("grasp", &mut state).unwrap();
    let velocity = |state: &State, frame| {
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        posed
            .moving(&state.v)
            .unwrap()
            .velocity(frame, linkwork::Reference::Aligned)
            .unwrap()
    };
    let carried = velocity(&state, ball);
    let given = transition.on_b.force - carried.linear * 0.7;
    assert!(given.norm() < 1e-12 && carried.linear.norm() > 0.05, "{given:?}");
    let pair = transition.on_a.force + transition.on_b.force;
    assert!(pair.norm() < 1e-12 && transition.energy_lost > 1e-3);
    // By the theorem of Carnot: the energy lost is that of the lost velocity.
    let kinetic = |v: &[f64]| {
        let mut workspace = m.workspace();
        workspace.at(&state.q).unwrap().moving(v).unwrap().kinetic_energy()
    };
    let lost: Vec<f64> = before.v.iter().zip(&state.v).map(|(a, b)| a - b).collect();
    assert!((kinetic(&lost) - transition.energy_lost).abs() < 1e-10);
    // Held: the relative pose stays while both move.
    let relative = |state: &State| {
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        posed.pose(flange).unwrap().inverse() * posed.pose(ball).unwrap()
    };
    let held = relative(&state);
    step_to(&mut motion, &m, &mut state, 0.3, 1e-3);
    assert!((relative(&state).translation - held.translation).norm() < 1e-12);
    assert!(motion.worst_closure() < 1e-12);
    // Released: nothing jumps, and the ball flies along a parabola.
    motion.switch("grasp", false).unwrap();
    let (from, fast) = (state.clone(), velocity(&state, ball).linear);
    step_to(&mut motion, &m, &mut state, 0.5, 1e-3);
    let expect = Vec3::new(from.q[11], from.q[12], from.q[13]) + fast * 0.2 + Vec3::new(0.0, 0.0, -0.5 * G * 0.04);
    let at = Vec3::new(state.q[11], state.q[12], state.q[13]);
    assert!((at - expect).norm() < 1e-9, "{at:?} {expect:?}");
    // Grasped again, elsewhere on the ball's way.
    let other = relative(&state);
    assert!((other.translation - held.translation).norm() > 1e-3);
    motion.grasp("grasp", &mut state).unwrap();
    step_to(&mut motion, &m, &mut state, 0.7, 1e-3);
    assert!((relative(&state).translation - other.translation).norm() < 1e-12);
}

#[test]
fn a_stop_that_a_slider_leaves_asks_for_nothing() {
    let lift = body(
        Inertia::point(2.0, [0.0; 3]),
        [0.0, 0.0, -G],
        Joint::prismatic("lift", [0.0, 0.0, 1.0]),
    );
    let stop = Constraint::directions("stop", "world", "body", [false; 3], [false, false, true]).at_least();
    let closed = ClosedMechanism::new(lift, vec![stop]).unwrap();
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&[0.0]).unwrap();
    let mut tau = [0.0];
    // On its way up it may fall back; at rest on the stop it may not.
    let mut moving = posed.moving(&[1.0]).unwrap();
    moving.inverse_dynamics(&[-5.0], &[0], &mut tau).unwrap();
    assert!((tau[0] - 2.0 * (G - 5.0)).abs() < 1e-12, "{tau:?}");
    let mut qdd = [0.0];
    moving.forward_dynamics(&tau, &mut qdd).unwrap();
    assert!((qdd[0] + 5.0).abs() < 1e-12, "{qdd:?}");
    let mut resting = posed.moving(&[0.0]).unwrap();
    assert!(resting.inverse_dynamics(&[-5.0], &[0], &mut tau).is_err());
}
