//! Operational-space control, grasps and adaptive control: wanted accelerations and forces come out exactly, and the functions
//! of the proofs fall.

mod support;

use linkwork::closed::{ClosedMechanism, Constraint};
use linkwork::control::{
    Adaptation, Adaptive, Controlled, Controller, FrameTarget, FrameTask, Grasp, OperationalSpace,
};
use linkwork::model::{Joint, Link, Mechanism, examples};
use linkwork::simulate::{Drive, Dynamics, Integrator, Now, PassiveForces, RungeKutta4, State};
use linkwork::spatial::{Force, Inertia, Motion, Pose, Vec3};
use linkwork::workspace::Part;
use linkwork::{Reference, Result};
use support::assert_close;

const ALIGNED: Reference = Reference::Aligned;

/// Torques of a drive at a state, gravity included.
fn drive(m: &Mechanism, law: &mut impl Drive, q: &[f64], v: &[f64]) -> Vec<f64> {
    let mut workspace = m.workspace();
    let mut posed = workspace.at(q).unwrap();
    let mut moving = posed.moving(v).unwrap();
    let mut tau = vec![0.0; m.nv()];
    law.drive(Now { t: 0.0, q, v }, &mut moving, &mut tau).unwrap();
    tau
}

fn boundless<C: Controller>(m: &Mechanism, controller: C) -> Controlled<C> {
    Controlled::new(m, controller)
        .limits(&vec![f64::INFINITY; m.nv()])
        .unwrap()
}

/// The accelerations of frames under torques.
fn accelerations(m: &Mechanism, q: &[f64], v: &[f64], tau: &[f64], frames: &[&str]) -> Vec<Motion> {
    let mut workspace = m.workspace();
    let mut posed = workspace.at(q).unwrap();
    let mut moving = posed.moving(v).unwrap();
    let mut qdd = vec![0.0; m.nv()];
    let accelerating = moving.with_torques(tau, &mut qdd).unwrap();
    let of = |f: &&str| accelerating.acceleration(m.frame(f).unwrap(), ALIGNED).unwrap();
    frames.iter().map(of).collect()
}

#[test]
fn frames_get_what_they_want_in_order_of_priority() {
    let m = examples::arm7();
    let (q, v) = (
        [0.2, 0.6, -0.3, -1.2, 0.4, 0.9, 0.1],
        [0.3, -0.2, 0.5, 0.1, -0.4, 0.2, 0.6],
    );
    let wanted = Motion::new(Vec3::new(0.4, -0.3, 0.2), Vec3::new(1.0, 0.5, -0.7));
    let hand = m.frame("flange").unwrap();
    let here = m.workspace().at(&q).unwrap().pose(hand).unwrap();
    let velocity = m
        .workspace()
        .at(&q)
        .unwrap()
        .moving(&v)
        .unwrap()
        .velocity(hand, ALIGNED)
        .unwrap();
    let target = FrameTarget {
        pose: here,
        velocity,
        acceleration: wanted,
    };
    let first = FrameTask {
        target,
        ..FrameTask::pose(hand, here)
    };
    // The elbow would go elsewhere: one direction is left for it.
    let elbow = FrameTask::position(m.frame("link4").unwrap(), [0.5, 0.5, 0.5]);
    for tasks in [vec![first], vec![first, elbow]] {
        let control = OperationalSpace::new(&m, tasks, &[0.0; 7])
            .unwrap()
            .singular_below(1e-6)
            .unwrap();
        let mut law = boundless(&m, control);
        let tau = drive(&m, &mut law, &q, &v);
        let got = accelerations(&m, &q, &v, &tau, &["flange"])[0];
        assert_close("hand", &got.to_array(), &wanted.to_array(), 1e-10);
    }
    // Alone, the elbow has its way.
    let push = Motion::new(Vec3::ZERO, Vec3::new(0.3, 0.2, -0.4));
    let elbow = FrameTask {
        part: Part::Linear,
        target: FrameTarget {
            pose: m.workspace().at(&q).unwrap().pose(m.frame("link4").unwrap()).unwrap(),
            velocity: m
                .workspace()
                .at(&q)
                .unwrap()
                .moving(&v)
                .unwrap()
                .velocity(m.frame("link4").unwrap(), ALIGNED)
                .unwrap(),
            acceleration: push,
        },
        ..elbow
    };
    let position = FrameTask {
        part: Part::Linear,
        ..first
    };
    let control = OperationalSpace::new(&m, vec![position, elbow], &[0.0; 7])
        .unwrap()
        .singular_below(1e-6)
        .unwrap();
    let mut law = boundless(&m, control);
    let tau = drive(&m, &mut law, &q, &v);
    let got = accelerations(&m, &q, &v, &tau, &["flange", "link4"]);
    assert_close("hand", &got[0].linear.to_array(), &wanted.linear.to_array(), 1e-10);
    let reach = law.controller().reach()[1];
    if reach > 1e-3 {
        assert_close("elbow", &got[1].linear.to_array(), &push.linear.to_array(), 1e-10);
    }
}

#[test]
fn torques_stay_bounded_through_a_singular_configuration() {
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    // Stretched out, and told to go further.
    let q = [0.0; 7];
    let mut far = m.workspace().at(&q).unwrap().pose(hand).unwrap();
    far.translation.z += 0.5;
    let mut state = State::at_rest(&m, &[0.0, 0.05, 0.0, -0.1, 0.0, 0.05, 0.0]);
    let control = OperationalSpace::new(&m, vec![FrameTask::pose(hand, far)], &state.q.clone()).unwrap();
    let mut equations = Dynamics::with(&m, Controlled::new(&m, control), PassiveForces::none(&m));
    let mut integrator = RungeKutta4::new(&m);
    for _ in 0..1500 {
        integrator.step(&mut equations, &mut state, 1e-3).unwrap();
        let limits = m.motor_limits();
        for (torque, limit) in equations.torques().iter().zip(limits) {
            assert!(torque.abs() <= limit * (1.0 + 1e-9), "{torque} beyond {limit}");
        }
    }
    assert!(state.v.iter().all(|v| v.is_finite()), "{:?}", state.v);
}

#[test]
fn a_robot_leaves_a_singular_configuration_for_its_target() {
    // Stretched straight up, where the hand cannot move along an axis of the world.
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    let there = [0.0, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0];
    let goal = m.workspace().at(&there).unwrap().pose(hand).unwrap();
    let control = OperationalSpace::new(&m, vec![FrameTask::pose(hand, goal)], &there).unwrap();
    let mut law = Controlled::new(&m, control);
    // Torques change little with what changes little: no noise of rounding is in them.
    let tau = drive(&m, &mut law, &[0.0; 7], &[0.0; 7]);
    let nearby = drive(&m, &mut law, &[1e-9; 7], &[0.0; 7]);
    let most = tau.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let change = tau.iter().zip(&nearby).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    assert!(change < 1e-3 * most, "{change} of {most}");
    let mut equations = Dynamics::with(&m, law, PassiveForces::none(&m));
    let mut state = State::at_rest(&m, &[0.0; 7]);
    let mut integrator = RungeKutta4::new(&m);
    for _ in 0..4000 {
        integrator.step(&mut equations, &mut state, 1e-3).unwrap();
    }
    let here = m.workspace().at(&state.q).unwrap().pose(hand).unwrap();
    let left = (here.translation - goal.translation).norm();
    assert!(left < 1e-3, "{left}");
}

#[test]
fn robots_without_motors_and_bad_targets_are_refused() {
    let m = examples::humanoid().driven_by(&[] as &[&str]).unwrap();
    let hand = m.frame(&m.links().last().unwrap().name).unwrap();
    let task = FrameTask::pose(hand, Pose::IDENTITY);
    let refused = OperationalSpace::new(&m, vec![task], &m.neutral())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("no joint is driven"), "{refused}");
    let arm = examples::arm7();
    assert!(OperationalSpace::new(&arm, vec![], &arm.neutral()).is_err());
    let nowhere = FrameTask::position(arm.frame("flange").unwrap(), [f64::NAN, 0.0, 0.0]);
    assert!(OperationalSpace::new(&arm, vec![nowhere], &arm.neutral()).is_err());
}

/// Two six-jointed arms and a free box between their hands.
fn two_arms_and_a_box() -> Mechanism {
    let rod = |name: &str| Link::new(name, Inertia::cuboid(2.0, [0.1, 0.1, 0.3]));
    let mut builder = Mechanism::builder("carry");
    for (side, y) in [("l", 0.4), ("r", -0.4)] {
        let mut parent = "world".to_owned();
        let axes = [
            [0.0, 0.0, 1.0],
            [0.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
        ];
        for (i, axis) in axes.into_iter().enumerate() {
            let name = format!("{side}{i}");
            let at = if i == 0 { [0.0, y, 0.0] } else { [0.0, 0.0, 0.3] };
            builder = builder.link(rod(&name)).joint(
                Joint::revolute(format!("{side}j{i}"), axis)
                    .between(&parent, &name)
                    .at(at),
            );
            parent = name;
        }
        builder = builder.frame(format!("{side}hand"), &parent, Pose::from_translation([0.0, 0.0, 0.1]));
    }
    builder = builder
        .link(Link::new("box", Inertia::cuboid(5.0, [0.2, 0.4, 0.2])))
        .joint(Joint::free("float").between("world", "box"));
    for (side, y) in [("l", 0.2), ("r", -0.2)] {
        builder = builder.frame(format!("{side}hold"), "box", Pose::from_translation([0.0, y, 0.0]));
    }
    builder.build().unwrap()
}

#[test]
fn a_grasp_moves_its_object_and_holds_the_forces_inside_it() {
    let m = two_arms_and_a_box();
    let welds = vec![
        Constraint::weld("left", "lhand", "lhold"),
        Constraint::weld("right", "rhand", "rhold"),
    ];
    let closed = ClosedMechanism::new(m.clone(), welds).unwrap();
    let mut guess = m.neutral();
    for (joint, q, _) in m.layout() {
        let bend = match joint.name.chars().last() {
            Some('1') => 0.7,
            Some('2') => 0.9,
            Some('4') => -0.5,
            Some('0') if joint.name.starts_with('l') => -0.15,
            Some('0') => 0.15,
            _ => 0.05,
        };
        if q.len() == 1 {
            guess[q.start] = bend;
        }
    }
    // The box between the hands, turned as they are.
    let between = |a: Vec3, b: Vec3| (a + b) * 0.5;
    let [left, right] =
        ["lhand", "rhand"].map(|f| m.workspace().at(&guess).unwrap().pose(m.frame(f).unwrap()).unwrap());
    let middle = between(left.translation, right.translation);
    let mut step = vec![0.0; m.nv()];
    let float = m.v_range(m.joint("float").unwrap()).unwrap();
    step[float.clone()].copy_from_slice(&[0.0, 0.0, 0.0, middle.x, middle.y, middle.z]);
    let mut placed = guess.clone();
    m.integrate(&guess, &step, &mut placed).unwrap();
    step.fill(0.0);
    step[float.start..float.start + 3].copy_from_slice(&left.rotation.log().to_array());
    m.integrate(&placed, &step, &mut guess).unwrap();
    let q = closed.assemble(&guess).unwrap();
    let mut workspace = closed.workspace();
    let mut v: Vec<f64> = (0..m.nv()).map(|i| 0.1 * (i as f64).sin()).collect();
    workspace.at(&q).unwrap().project_velocity(&mut v).unwrap();
    let mut grasp = Grasp::new(&m, "box", &[("lhand", "lhold"), ("rhand", "rhold")], &q)
        .unwrap()
        .shares(&[2.0, 1.0])
        .unwrap()
        .squeeze(30.0)
        .unwrap();
    let (pose, velocity) = {
        let mut tree = m.workspace();
        let mut posed = tree.at(&q).unwrap();
        let mut moving = posed.moving(&v).unwrap();
        let body = m.frame("box").unwrap();
        (moving.pose(body).unwrap(), moving.velocity(body, ALIGNED).unwrap())
    };
    let acceleration = Motion::new(Vec3::new(0.3, -0.2, 0.4), Vec3::new(0.2, 0.3, 0.5));
    grasp
        .set_target(FrameTarget {
            pose,
            velocity,
            acceleration,
        })
        .unwrap();
    let mut law = boundless(&m, grasp);
    let tau = drive(&m, &mut law, &q, &v);
    let float = m.v_range(m.joint("float").unwrap()).unwrap();
    assert!(tau[float.clone()].iter().all(|t| *t == 0.0), "motors alone");
    let mut posed = workspace.at(&q).unwrap();
    let mut moving = posed.moving(&v).unwrap();
    let mut qdd = vec![0.0; m.nv()];
    let multipliers = moving.forward_dynamics(&tau, &mut qdd).unwrap();
    let carried = [multipliers.on_b("left").unwrap(), multipliers.on_b("right").unwrap()];
    // The object accelerates as told.
    let mut tree = m.workspace();
    let mut posed = tree.at(&q).unwrap();
    let mut moving = posed.moving(&v).unwrap();
    let mut same = vec![0.0; m.nv()];
    let accelerating = moving.with_accelerations(&qdd, &mut same).unwrap();
    let got = accelerating.acceleration(m.frame("box").unwrap(), ALIGNED).unwrap();
    assert_close("object", &got.to_array(), &acceleration.to_array(), 1e-7);
    // The welds carry what was shared and squeezed.
    let forces: Vec<Force> = law.controller().forces().to_vec();
    for (carried, wanted) in carried.iter().zip(&forces) {
        assert_close("force", &carried.to_array(), &wanted.to_array(), 1e-6);
    }
    // Pressing is towards each other, with some thirty newtons beyond the load.
    let line = pose.rotation * Vec3::new(0.0, 1.0, 0.0);
    let press = (forces[1].force - forces[0].force).dot(line) * 0.5;
    assert!((press - 30.0).abs() < 15.0, "{press}");
}

#[test]
fn bad_grasps_are_named() {
    let m = two_arms_and_a_box();
    let q = m.neutral();
    let refused = |object: &str, hands: &[(&str, &str)]| Grasp::new(&m, object, hands, &q).unwrap_err().to_string();
    assert!(refused("l0", &[("rhand", "rhold")]).contains("not on a free joint"));
    assert!(refused("box", &[]).contains("no hand"));
    assert!(refused("box", &[("lhand", "rhand")]).contains("is not on `box`"));
    assert!(refused("box", &[("lhand", "nose")]).contains("nose"));
}

fn course(t: f64, q: &mut [f64], v: &mut [f64], a: &mut [f64]) {
    for i in 0..q.len() {
        let w = 1.0 + 0.3 * i as f64;
        let phase = 0.5 * i as f64;
        let size = 0.4 - 0.03 * i as f64;
        q[i] = size * (w * t + phase).sin();
        v[i] = size * w * (w * t + phase).cos();
        a[i] = -size * w * w * (w * t + phase).sin();
    }
}

/// The state of a robot and of what it has learnt.
#[derive(Clone)]
struct Whole {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    p: Vec<f64>,
}

/// Rates of all, under the controller alone.
fn rates(m: &Mechanism, law: &mut Adaptive, s: &Whole) -> Result<[Vec<f64>; 3]> {
    let mut workspace = m.workspace();
    let mut posed = workspace.at(&s.q)?;
    let mut moving = posed.moving(&s.v)?;
    law.set_parameters(&s.p)?;
    let now = Now {
        t: s.t,
        q: &s.q,
        v: &s.v,
    };
    let (mut tau, mut qdd, mut p) = (vec![0.0; m.nv()], vec![0.0; m.nv()], vec![0.0; s.p.len()]);
    law.torques_now(now, &mut moving, &mut tau)?;
    law.rates(now, &mut moving, &mut p)?;
    moving.forward_dynamics(&tau, &mut qdd)?;
    Ok([s.v.clone(), qdd, p])
}

fn step(m: &Mechanism, law: &mut Adaptive, s: &Whole, h: f64) -> Result<Whole> {
    let moved = |k: &[Vec<f64>; 3], h: f64| {
        let add = |x: &[f64], r: &[f64]| x.iter().zip(r).map(|(x, r)| x + h * r).collect::<Vec<f64>>();
        Whole {
            t: s.t + h,
            q: add(&s.q, &k[0]),
            v: add(&s.v, &k[1]),
            p: add(&s.p, &k[2]),
        }
    };
    let a = rates(m, law, s)?;
    let b = rates(m, law, &moved(&a, 0.5 * h))?;
    let c = rates(m, law, &moved(&b, 0.5 * h))?;
    let d = rates(m, law, &moved(&c, h))?;
    let mean: [Vec<f64>; 3] = [0, 1, 2].map(|i| {
        (0..a[i].len())
            .map(|k| (a[i][k] + 2.0 * b[i][k] + 2.0 * c[i][k] + d[i][k]) / 6.0)
            .collect()
    });
    Ok(moved(&mean, h))
}

/// V at every step, and the error of the joints at the start and in the end.
fn learn(m: &Mechanism, mut law: Adaptive, known: f64, h: f64) -> (Vec<f64>, [f64; 2]) {
    let n = m.nv();
    let (mut q, mut v, mut a) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    course(0.0, &mut q, &mut v, &mut a);
    q.iter_mut().for_each(|q| *q += 0.1);
    let p = m.inertial_parameters().iter().map(|x| known * x).collect();
    let mut state = Whole { t: 0.0, q, v, p };
    let mut values = Vec::new();
    let off = |s: &Whole| {
        let (mut q, mut v, mut a) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        course(s.t, &mut q, &mut v, &mut a);
        q.iter().zip(&s.q).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
    };
    let first = off(&state);
    for _ in 0..800 {
        law.set_parameters(&state.p).unwrap();
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        let mut moving = posed.moving(&state.v).unwrap();
        let now = Now {
            t: state.t,
            q: &state.q,
            v: &state.v,
        };
        values.push(law.lyapunov(now, &mut moving).unwrap());
        state = step(m, &mut law, &state, h).unwrap();
    }
    (values, [first, off(&state)])
}

/// Gains per joint in proportion to what it carries.
fn gains(m: &Mechanism, by: f64) -> Vec<f64> {
    let n = m.nv();
    let mut mass = vec![0.0; n * n];
    m.workspace().at(&vec![0.3; n]).unwrap().mass_matrix(&mut mass).unwrap();
    (0..n).map(|i| by * mass[i * (n + 1)]).collect()
}

#[test]
fn what_slotine_and_li_prove_falls() {
    let m = examples::arm7();
    // Natural adaptation moves parameters in proportion to what they are, and these are slow to learn.
    for (adaptation, left) in [(Adaptation::Plain(0.5), 0.1), (Adaptation::Natural(0.5), 0.7)] {
        let law = Adaptive::slotine_li(&m, Box::new(course), 5.0, &gains(&m, 30.0), adaptation).unwrap();
        let (values, [first, last]) = learn(&m, law, 0.6, 2e-3);
        for (i, w) in values.windows(2).enumerate() {
            assert!(
                w[1] < w[0] * (1.0 + 1e-9),
                "{adaptation:?} at {i}: {} to {}",
                w[0],
                w[1]
            );
        }
        assert!(last < left * first, "{adaptation:?}: {first} to {last}");
    }
}

#[test]
fn natural_adaptation_keeps_bodies_and_limits_hold() {
    let m = examples::arm7();
    let mut law = Adaptive::slotine_li(&m, Box::new(course), 5.0, &gains(&m, 10.0), Adaptation::Natural(0.1)).unwrap();
    let known: Vec<f64> = m.inertial_parameters().iter().map(|x| 0.5 * x).collect();
    law.set_parameters(&known).unwrap();
    let limit = 60.0;
    let drive = Controlled::new(&m, law).without_gravity().limits(&[limit; 7]).unwrap();
    let mut equations = Dynamics::with(&m, drive, PassiveForces::none(&m));
    let mut state = State::at_rest(&m, &[0.1; 7]);
    let mut integrator = RungeKutta4::new(&m);
    for _ in 0..2000 {
        integrator.step(&mut equations, &mut state, 1e-3).unwrap();
        assert!(equations.torques().iter().all(|t| t.abs() <= limit + 1e-9));
    }
    assert!(state.q.iter().all(|q| q.is_finite()));
    let none = Adaptive::slotine_li(
        &examples::puma560(),
        Box::new(course),
        5.0,
        &[10.0; 6],
        Adaptation::Natural(1.0),
    );
    let text = none.unwrap_err().to_string();
    assert!(text.contains("no body"), "{text}");
}
#[test]
fn what_wen_and_bayard_prove_falls_for_large_gains() {
    let m = examples::arm7();
    let law = Adaptive::wen_bayard(
        &m,
        Box::new(course),
        0.5,
        &gains(&m, 400.0),
        &gains(&m, 40.0),
        Adaptation::Plain(0.05),
    )
    .unwrap();
    let (values, [first, last]) = learn(&m, law, 0.6, 5e-4);
    for (i, w) in values.windows(2).enumerate() {
        assert!(w[1] < w[0] * (1.0 + 1e-9), "at {i}: {} to {}", w[0], w[1]);
    }
    assert!(last < first, "{first} to {last}");
}
