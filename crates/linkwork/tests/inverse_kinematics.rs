//! Inverse kinematics: reachable poses are found within limits, steps agree with dense least squares, and what cannot be
//! reached is said.
#![allow(non_snake_case)]

mod support;

use linkwork::model::{Coupling, Joint, Mechanism, examples};
use linkwork::motion::{InverseKinematics, SolverOptions, Task};
use linkwork::spatial::{Pose, Rotation, Vec3};
use linkwork::{Error, Reference};
use support::library::matrix;
use support::matrix::Matrix;

fn pose(m: &Mechanism, q: &[f64], frame: &str) -> Pose {
    m.workspace().at(q).unwrap().pose(m.frame(frame).unwrap()).unwrap()
}

fn within(m: &Mechanism, q: &[f64]) {
    let bounds = m.position_bounds();
    for (i, x) in q.iter().enumerate() {
        assert!(*x >= bounds.lower[i] && *x <= bounds.upper[i], "q[{i}] = {x}");
    }
}

fn off(a: &Pose, b: &Pose) -> f64 {
    let turn = (a.rotation.inverse() * b.rotation).log().norm();
    turn.max((a.translation - b.translation).norm())
}

/// A middle configuration within limits.
fn home(m: &Mechanism) -> Vec<f64> {
    let mut q = m.neutral();
    m.clamp(&mut q).unwrap();
    q
}

fn random_poses(m: &Mechanism, frame: &str) {
    const POSES: u64 = 1000;
    let id = m.frame(frame).unwrap();
    let mut ik = InverseKinematics::new(m, vec![Task::pose(id, Pose::IDENTITY)]).unwrap();
    let (mut solved, mut iterations, mut restarts) = (0, 0, 0);
    let clock = std::time::Instant::now();
    for seed in 0..POSES {
        let target = pose(m, &m.random(seed), frame);
        ik.set(0, Task::pose(id, target)).unwrap();
        let mut q = home(m);
        let outcome = ik.solve(&mut q).unwrap();
        within(m, &q);
        let off = off(&pose(m, &q, frame), &target);
        assert!(!outcome.reached || off < 1e-8, "{seed}: said to be reached, yet {off}");
        solved += usize::from(off < 1e-6);
        iterations += outcome.iterations;
        restarts += outcome.restarts;
    }
    println!(
        "{}: {solved} of {POSES}, {:.1} steps and {:.2} restarts in the mean, {:.1} µs",
        m.name(),
        iterations as f64 / POSES as f64,
        restarts as f64 / POSES as f64,
        clock.elapsed().as_secs_f64() * 1e6 / POSES as f64
    );
    assert!(solved as f64 >= 0.995 * POSES as f64, "{}: {solved}", m.name());
}

#[test]
fn reachable_poses_of_a_puma_are_found() {
    random_poses(&examples::puma560(), "link6_dh");
}

#[test]
fn reachable_poses_of_a_redundant_arm_are_found_within_limits() {
    random_poses(&examples::arm7(), "flange");
}

#[test]
fn one_step_is_dense_damped_least_squares() {
    let m = examples::humanoid();
    let names: Vec<String> = m.links().iter().map(|l| l.name.clone()).collect();
    // Without limits, so that none holds.
    let mut m = m;
    let limited: Vec<String> = m.joints().iter().map(|j| j.name.clone()).collect();
    for name in limited {
        m = m
            .with_joint(&name, |mut joint| {
                joint.position_limits.clear();
                joint
            })
            .unwrap();
    }
    let (a, b) = (m.frame(&names[names.len() - 1]).unwrap(), m.frame(&names[5]).unwrap());
    let (q, nv, lambda) = (m.random(3), m.nv(), 1e-3);
    let (target, centre) = (
        Pose::new(Rotation::from_rpy(0.3, 0.2, 0.1), [0.4, 0.1, 0.8]),
        Vec3::new(0.1, 0.2, 0.9),
    );
    let relative = Vec3::new(0.1, -0.2, 0.3);
    let tasks = vec![
        Task::pose(a, target).weight(2.0).turning_weight(0.5),
        Task::centre_of_mass(centre).axis_weights([3.0, 1.0, 0.0]),
        Task::position(b, relative).relative_to(a).weight(0.7),
    ];
    let mut ik = InverseKinematics::new(&m, tasks).unwrap();
    let mut dq = vec![0.0; nv];
    ik.differential(&q, lambda, &mut dq).unwrap();
    // By definition, with dense Jacobians.
    let mut workspace = m.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let Ja = matrix(6, nv, |out| posed.jacobian(a, Reference::Aligned, out));
    let Jb = matrix(6, nv, |out| posed.jacobian(b, Reference::Aligned, out));
    let Jc = matrix(3, nv, |out| posed.com_jacobian(out));
    let (pa, pb, c) = (posed.pose(a).unwrap(), posed.pose(b).unwrap(), posed.com());
    let turn = pa.rotation * (pa.rotation.inverse() * target.rotation).log();
    let ea = [turn.to_array(), (target.translation - pa.translation).to_array()].concat();
    let ec = (centre - c).to_array();
    let eb = (pa.rotation * relative + pa.translation - pb.translation).to_array();
    // The velocity of b less that of a's link at b.
    let r = (pb.translation - pa.translation).to_array();
    let Jr = Matrix::from_fn(3, nv, |i, j| {
        let (k, l) = ((i + 1) % 3, (i + 2) % 3);
        Jb.at(3 + i, j) - Ja.at(3 + i, j) - (Ja.at(k, j) * r[l] - Ja.at(l, j) * r[k])
    });
    let (mut A, mut rhs) = (
        Matrix::from_fn(nv, nv, |i, j| if i == j { lambda } else { 0.0 }),
        vec![0.0; nv],
    );
    let mut add = |J: &Matrix, row: usize, w: f64, e: f64| {
        for i in 0..nv {
            rhs[i] += J.at(row, i) * w * e;
            for j in 0..nv {
                A.set(i, j, A.at(i, j) + J.at(row, i) * w * J.at(row, j));
            }
        }
    };
    for i in 0..6 {
        add(&Ja, i, if i < 3 { 1.0 } else { 2.0 }, ea[i]);
    }
    for i in 0..3 {
        add(&Jc, i, [3.0, 1.0, 0.0][i], ec[i]);
        add(&Jr, i, 0.7, eb[i]);
    }
    support::assert_close("dq", &dq, &A.inverse().apply(&rhs), 1e-9);
}

#[test]
fn a_quadruped_stands_with_four_feet_and_a_trunk_where_they_should_be() {
    let m = examples::quadruped();
    let feet = [
        "front_left_foot",
        "front_right_foot",
        "hind_left_foot",
        "hind_right_foot",
    ];
    let mut bent = m.neutral();
    for (joint, q, _) in m.layout() {
        if joint.name.ends_with("swing") {
            bent[q.start] = 0.7;
        } else if joint.name.ends_with("knee") {
            bent[q.start] = -1.4;
        }
    }
    let mut tasks: Vec<Task> = feet
        .iter()
        .map(|f| Task::position(m.frame(f).unwrap(), pose(&m, &bent, f).translation))
        .collect();
    let lower = pose(&m, &bent, "trunk").translation + Vec3::new(0.02, 0.01, -0.04);
    tasks.push(Task::pose(
        m.frame("trunk").unwrap(),
        Pose::new(Rotation::from_rpy(0.05, 0.1, 0.1), lower),
    ));
    let found = InverseKinematics::new(&m, tasks).unwrap().solve_from(&bent).unwrap();
    assert!(found.reached && found.restarts == 0, "{found}");
    within(&m, &found.q);
}

#[test]
fn preferences_give_way_to_goals_and_use_the_room_they_leave() {
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    let there = m.random(11);
    let goal = Task::pose(hand, pose(&m, &there, "flange"));
    let rest = home(&m);
    let mut plain = InverseKinematics::new(&m, vec![goal.clone()]).unwrap();
    let posture = Task::posture(rest.clone()).weight(0.01).preferred();
    let mut prefers = InverseKinematics::new(&m, vec![goal, posture]).unwrap();
    let (a, b) = (plain.solve_from(&there).unwrap(), prefers.solve_from(&there).unwrap());
    assert!(a.reached && b.reached);
    assert!(m.distance(&b.q, &rest).unwrap() < m.distance(&a.q, &rest).unwrap());
}

#[test]
fn a_direction_leaves_the_turn_about_itself_free() {
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    let down = Vec3::new(0.0, 0.0, -1.0);
    for axis in [
        Vec3::new(0.0, 0.0, 1.0),
        Vec3::new(0.0, 0.0, -2.0),
        Vec3::new(1.0, 1.0, 0.0),
    ] {
        let found = InverseKinematics::new(&m, vec![Task::direction(hand, axis, down)])
            .unwrap()
            .solve_from(&home(&m))
            .unwrap();
        assert!(found.reached, "{found}");
        let axis = pose(&m, &found.q, "flange").rotation * axis * axis.norm().recip();
        assert!((axis - down).norm() < 1e-8);
    }
}

#[test]
fn what_is_out_of_reach_is_said_and_the_nearest_is_given() {
    // Two bars of one metre: the nearest to a far point is stretched towards it.
    let m = examples::double_pendulum();
    let last = &m.links().last().unwrap().name;
    let id = m.frame(last).unwrap();
    let hinge = pose(&m, &[0.3, 0.4], last).translation - pose(&m, &[0.3, 0.4], &m.links()[0].name).translation;
    let far = Vec3::new(0.0, 0.0, -50.0);
    let mut ik = InverseKinematics::new(&m, vec![Task::position(id, far)]).unwrap();
    let found = ik.solve_from(&[0.3, 0.4]).unwrap();
    assert!(!found.reached);
    let text = found.to_string();
    assert!(
        text.starts_with("not reachable: nearest is the position of") && text.contains(last),
        "{text}"
    );
    // Nothing nearer among many.
    let distance = |q: &[f64]| (pose(&m, q, last).translation - far).norm();
    let best = distance(&found.q);
    assert!((best - found.residuals[0].distance).abs() < 1e-12 && hinge.norm() > 0.0);
    for seed in 0..500 {
        assert!(distance(&m.random(seed)) >= best - 1e-9);
    }
}

#[test]
fn contradictory_tasks_settle_between_by_their_weights() {
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    let here = pose(&m, &m.random(5), "flange").translation;
    let apart = Vec3::new(0.02, 0.0, 0.0);
    let tasks = vec![
        Task::position(hand, here + apart),
        Task::position(hand, here - apart).weight(3.0),
    ];
    let mut ik = InverseKinematics::new(&m, tasks)
        .unwrap()
        .options(SolverOptions {
            restarts: 3,
            ..SolverOptions::default()
        })
        .unwrap();
    let found = ik.solve_from(&m.random(5)).unwrap();
    assert!(
        !found.reached && found.to_string().matches("off by").count() == 2,
        "{found}"
    );
    let at = pose(&m, &found.q, "flange").translation;
    assert!((at - (here - apart * 0.5)).norm() < 1e-6, "{at:?}");
}

#[test]
fn followers_and_their_limits_are_native() {
    let arm = examples::arm7();
    let names: Vec<String> = arm.joints().iter().map(|j| j.name.clone()).collect();
    let at = arm.q_range(arm.joint(&names[4]).unwrap()).unwrap().start;
    for curved in [false, true] {
        let coefficients = if curved { vec![0.1, 0.5, 0.2] } else { vec![0.1, -0.8] };
        let m = arm
            .to_builder()
            .couple(Coupling::polynomial(&names[4], &names[2], coefficients))
            .build()
            .unwrap();
        let follower = m.joint(&names[4]).unwrap();
        let limits = m.joints()[follower.index()].position_limits[0];
        let hand = m.frame("flange").unwrap();
        let mut solved = 0;
        for seed in 0..100 {
            let target = pose(&m, &m.random(seed), "flange");
            let found = InverseKinematics::new(&m, vec![Task::pose(hand, target)])
                .unwrap()
                .solve_from(&home(&m))
                .unwrap();
            within(&m, &found.q);
            let all = m.all_coordinates(&found.q).unwrap()[at];
            assert!(all >= limits.0 - 1e-9 && all <= limits.1 + 1e-9, "{}", all);
            solved += usize::from(off(&pose(&m, &found.q, "flange"), &target) < 1e-6);
        }
        assert!(solved >= 99, "{curved}: {solved}");
    }
}

#[test]
fn bad_input_is_named() {
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    let goal = || Task::position(hand, [0.3, 0.0, 0.5]);
    let refused = |tasks: Vec<Task>| InverseKinematics::new(&m, tasks).unwrap_err().to_string();
    assert!(refused(vec![goal().weight(-1.0)]).contains("weight is -1"));
    assert!(refused(vec![goal().preferred()]).contains("no task is a goal"));
    assert!(refused(vec![Task::position(hand, [f64::NAN, 0.0, 0.0])]).contains("target"));
    assert!(refused(vec![Task::direction(hand, [0.0; 3], [0.0, 0.0, 1.0])]).contains("axis of a direction"));
    assert!(refused(vec![Task::posture(vec![0.0; 3])]).contains("3 numbers"));
    let other = examples::puma560();
    let foreign = InverseKinematics::new(&other, vec![goal()]).unwrap_err();
    assert!(matches!(foreign, Error::Foreign { .. }), "{foreign}");
    let mut ik = InverseKinematics::new(&m, vec![goal()]).unwrap();
    let mut outside = home(&m);
    outside[1] = 10.0;
    let text = ik.solve(&mut outside).unwrap_err().to_string();
    assert!(text.contains("outside its limits") && text.contains("joint2"), "{text}");
    assert!(ik.set(3, goal()).unwrap_err().to_string().contains("no task number 3"));
    let ball = Mechanism::builder("ball")
        .link(m.links()[1].clone())
        .joint(
            Joint::spherical("ball")
                .between("world", &m.links()[1].name)
                .position_limits(-1.0, 1.0),
        )
        .build()
        .unwrap();
    let text = InverseKinematics::new(&ball, vec![Task::posture(ball.neutral())])
        .unwrap_err()
        .to_string();
    assert!(text.contains("`ball`") && text.contains("cannot be held"), "{text}");
}
