//! Inverse kinematics with strict levels, loops, velocity limits and batches, against dense algebra and known answers.
#![allow(non_snake_case)]

mod support;

use linkwork::Reference;
use linkwork::closed::{ClosedMechanism, Constraint};
use linkwork::model::{Coupling, Joint, Link, Mechanism, examples};
use linkwork::motion::{InverseKinematics, Rates, SolverOptions, Task};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use support::library::matrix;
use support::matrix::Matrix;

fn pose(m: &Mechanism, q: &[f64], frame: &str) -> Pose {
    m.workspace().at(q).unwrap().pose(m.frame(frame).unwrap()).unwrap()
}

fn linear_jacobian(m: &Mechanism, q: &[f64], frame: &str) -> Matrix {
    let (mut workspace, nv) = (m.workspace(), m.nv());
    let mut posed = workspace.at(q).unwrap();
    let J = matrix(6, nv, |out| {
        posed.jacobian(m.frame(frame).unwrap(), Reference::Aligned, out)
    });
    Matrix::from_fn(3, nv, |i, j| J.at(3 + i, j))
}

/// [λI + ΣJ*J, C*; C, 0] and [ΣJ*e; d]: least squares with constraints.
fn constrained(lambda: f64, soft: &[(&Matrix, [f64; 3])], hard: Option<(&Matrix, Vec<f64>)>, nv: usize) -> Vec<f64> {
    let rows = if hard.is_some() { 3 } else { 0 };
    let mut A = Matrix::from_fn(nv + rows, nv + rows, |i, j| if i == j && i < nv { lambda } else { 0.0 });
    let mut b = vec![0.0; nv + rows];
    for (J, e) in soft {
        for i in 0..nv {
            for r in 0..3 {
                b[i] += J.at(r, i) * e[r];
                for j in 0..nv {
                    A.set(i, j, A.at(i, j) + J.at(r, i) * J.at(r, j));
                }
            }
        }
    }
    if let Some((C, d)) = hard {
        for r in 0..3 {
            b[nv + r] = d[r];
            for i in 0..nv {
                A.set(nv + r, i, C.at(r, i));
                A.set(i, nv + r, C.at(r, i));
            }
        }
    }
    let mut x = A.inverse().apply(&b);
    x.truncate(nv);
    x
}

#[test]
fn levels_of_one_step_are_dense_constrained_least_squares() {
    let m = examples::arm7();
    let (hand, elbow) = (m.frame("flange").unwrap(), m.frame("link4").unwrap());
    let q = [0.3, 0.5, 0.2, -1.0, 0.1, 0.4, 0.2];
    let (a, b) = (pose(&m, &q, "flange").translation, pose(&m, &q, "link4").translation);
    let (ea, eb) = ([0.003, -0.002, 0.001], [-0.004, 0.005, 0.002]);
    let lambda = 1e-4;
    let mut ik = InverseKinematics::new(
        &m,
        vec![
            Task::position(elbow, b + Vec3::from(eb)).level(7),
            Task::position(hand, a + Vec3::from(ea)).level(2),
        ],
    )
    .unwrap();
    let mut dq = [0.0; 7];
    ik.differential(&q, lambda, &mut dq).unwrap();
    let (Ja, Jb) = (linear_jacobian(&m, &q, "flange"), linear_jacobian(&m, &q, "link4"));
    let first = constrained(lambda, &[(&Ja, ea)], None, 7);
    let expected = constrained(lambda, &[(&Jb, eb)], Some((&Ja, Ja.apply(&first))), 7);
    support::assert_close("dq", &dq, &expected, 1e-6);
    // What the hand gets does not depend on the elbow.
    support::assert_close("hand", &Ja.apply(&dq), &Ja.apply(&first), 1e-9);
}

#[test]
fn a_later_level_never_costs_an_earlier_one() {
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    let start = m.random(4);
    let here = pose(&m, &start, "flange").translation;
    let aside = here + Vec3::new(0.05, 0.0, 0.02);
    let tasks = vec![Task::position(hand, here), Task::position(hand, aside).level(1)];
    let options = SolverOptions {
        restarts: 2,
        ..SolverOptions::default()
    };
    let mut ik = InverseKinematics::new(&m, tasks).unwrap().options(options).unwrap();
    let found = ik.solve_from(&start).unwrap();
    assert!(found.residuals[0].distance <= 1e-9, "{found}");
    assert!((found.residuals[1].distance - (aside - here).norm()).abs() < 1e-8);
    let text = found.to_string();
    assert!(
        !found.reached && text.contains("tasks 0 and 1 (from zero) contradict"),
        "{text}"
    );
}

#[test]
fn a_posture_of_a_later_level_is_stationary_in_the_room_that_is_left() {
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    let target = pose(&m, &[0.3, 0.5, 0.2, -1.0, 0.1, 0.4, 0.2], "flange");
    let rest = vec![0.1, 0.3, -0.2, -0.8, 0.3, 0.5, 0.0];
    let tasks = vec![
        Task::position(hand, target.translation),
        Task::posture(rest.clone()).level(1).preferred(),
    ];
    let mut ik = InverseKinematics::new(&m, tasks).unwrap();
    let found = ik.solve_from(&rest).unwrap();
    assert!(found.reached && found.bindings.is_empty(), "{found}");
    // q − rest has no part in the null space of J: it is J*y for some y.
    let J = linear_jacobian(&m, &found.q, "flange");
    let e: Vec<f64> = found.q.iter().zip(&rest).map(|(q, r)| q - r).collect();
    let JJ = Matrix::from_fn(3, 3, |i, j| (0..7).map(|k| J.at(i, k) * J.at(j, k)).sum());
    let y = JJ.inverse().apply(&J.apply(&e));
    for (k, e) in e.iter().enumerate() {
        let part: f64 = (0..3).map(|i| J.at(i, k) * y[i]).sum();
        assert!((e - part).abs() < 1e-6, "{k}: {e} {part}");
    }
}

#[test]
fn distances_are_kept_exactly_or_on_one_side() {
    let m = examples::dual_arm();
    let (left, right) = (m.frame("left_link7").unwrap(), m.frame("right_link7").unwrap());
    let apart = |q: &[f64]| (pose(&m, q, "left_link7").translation - pose(&m, q, "right_link7").translation).norm();
    // The middle of some, and a few on either side.
    let mut some: Vec<Vec<f64>> = (0..41).map(|seed| m.random(seed)).collect();
    some.sort_by(|a, b| apart(a).total_cmp(&apart(b)));
    let start = some[20].clone();
    let [near, now, far] = [8, 20, 32].map(|i| apart(&some[i]));
    assert!(near < now - 0.01 && far > now + 0.01, "{near} {now} {far}");
    let solve = |task: Task| {
        let found = InverseKinematics::new(&m, vec![task])
            .unwrap()
            .solve_from(&start)
            .unwrap();
        assert!(found.reached, "{found}");
        (apart(&found.q), found.q)
    };
    let (d, _) = solve(Task::distance(left, right, near));
    assert!((d - near).abs() < 1e-8);
    let (d, _) = solve(Task::distance(left, right, far));
    assert!((d - far).abs() < 1e-8);
    let (d, q) = solve(Task::distance_at_least(left, right, near));
    assert!(d == now && q == start, "what is met stays");
    let (d, _) = solve(Task::distance_at_most(left, right, near));
    assert!(d < near + 1e-8);
    let (d, _) = solve(Task::distance_at_least(left, right, far));
    assert!(d > far - 1e-8);
    let none = InverseKinematics::new(&m, vec![Task::distance(left, right, 0.0)]).unwrap_err();
    assert!(none.to_string().contains("is to be zero"), "{none}");
}

/// Two planar arms of three rods with their bases apart.
fn planar_pair(turns: [f64; 3]) -> Mechanism {
    let rod = |name: &str| Link::new(name, Inertia::point(1.0, [0.25, 0.0, 0.0]));
    let hinge = |name: &str| Joint::revolute(name, [0.0, 0.0, 1.0]);
    let mut builder = Mechanism::builder("pair");
    for (side, x) in [("l", -0.3), ("r", 0.3)] {
        let name = |i: usize| format!("{side}{i}");
        builder = builder
            .link(rod(&name(1)))
            .link(rod(&name(2)))
            .link(rod(&name(3)))
            .joint(hinge(&format!("{side}a")).between("world", name(1)).at([x, 0.0, 0.0]))
            .joint(hinge(&format!("{side}b")).between(name(1), name(2)).at([0.5, 0.0, 0.0]))
            .joint(hinge(&format!("{side}c")).between(name(2), name(3)).at([0.5, 0.0, 0.0]))
            .frame(format!("{side}tip"), name(3), Pose::from_translation([0.5, 0.0, 0.0]));
    }
    let [r, p, y] = turns;
    builder
        .frame("seat", "l3", Pose::new(Rotation::from_rpy(r, p, y), [0.5, 0.0, 0.0]))
        .build()
        .unwrap()
}

#[test]
fn loops_of_every_kind_are_closed_in_answers() {
    let m = planar_pair([0.0, 0.0, std::f64::consts::PI]);
    let axis = Vec3::new(0.0, 0.0, 1.0);
    for (constraint, freedom) in [
        (Constraint::point("loop", "seat", "rtip"), 4),
        (Constraint::weld("loop", "seat", "rtip"), 3),
        (Constraint::hinge("loop", "seat", "rtip", axis), 4),
        (Constraint::slider("loop", "seat", "rtip", [1.0, 0.3, 0.0]), 4),
        (Constraint::distance("loop", "seat", "rtip", 0.2), 5),
    ] {
        let kind = constraint.kind;
        let closed = ClosedMechanism::new(m.clone(), vec![constraint]).unwrap();
        let home = closed.assemble(&[2.0, -0.8, -0.5, 1.0, 0.7, 0.6]).unwrap();
        let mut workspace = closed.workspace();
        assert_eq!(
            workspace.at(&home).unwrap().report().unwrap().freedom,
            freedom,
            "{kind:?}"
        );
        let tip = m.frame("ltip").unwrap();
        let target = pose(&m, &home, "ltip").translation + Vec3::new(0.06, -0.05, 0.0);
        let mut ik = InverseKinematics::closed(&closed, vec![Task::position(tip, target)]).unwrap();
        let found = ik.solve_from(&home).unwrap();
        assert!(found.reached, "{kind:?}: {found}");
        assert!((pose(&m, &found.q, "ltip").translation - target).norm() < 1e-8);
        assert!(workspace.at(&found.q).unwrap().closure() < 1e-9, "{kind:?}");
        // Out of reach: the loop is closed all the same.
        let far = Task::position(tip, [0.0, 9.0, 0.0]);
        let mut ik = InverseKinematics::closed(&closed, vec![far]).unwrap();
        let options = SolverOptions {
            restarts: 3,
            ..SolverOptions::default()
        };
        ik = ik.options(options).unwrap();
        let found = ik.solve_from(&home).unwrap();
        assert!(!found.reached && found.to_string().contains("not reachable"), "{found}");
        let open = workspace.at(&found.q).unwrap().closure();
        assert!(open < 1e-6, "{kind:?}: {open}");
        // The differential form keeps it closed: J_loop dq = 0.
        let along = Task::position(tip, [0.0; 3]).moving([0.0; 3], [0.05, 0.02, 0.0]);
        let mut ik = InverseKinematics::closed(&closed, vec![along]).unwrap();
        let (mut v, rates) = (
            vec![0.0; 6],
            Rates {
                gain: 0.0,
                damping: 1e-8,
                ..Rates::default()
            },
        );
        ik.velocity(&home, &rates, &mut v).unwrap();
        let largest = v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let h = 1e-4 / largest;
        let mut next = home.clone();
        m.integrate(&home, &v.iter().map(|x| h * x).collect::<Vec<_>>(), &mut next)
            .unwrap();
        let open = workspace.at(&next).unwrap().closure();
        assert!(largest > 1e-3 && open < 1e-7, "{kind:?}: {open}");
    }
}

#[test]
fn velocities_keep_to_limits_and_are_best_within_them() {
    let slow = [0.3, 0.2, 0.5, 0.25, 0.4, 0.6, 0.5];
    let mut m = examples::arm7();
    let names: Vec<String> = m.joints().iter().map(|j| j.name.clone()).collect();
    let moving: Vec<&String> = names
        .iter()
        .filter(|n| !m.v_range(m.joint(n).unwrap()).unwrap().is_empty())
        .collect();
    for (name, limit) in moving.iter().zip(slow) {
        m = m.with_joint(name, |joint| joint.velocity_limit(limit)).unwrap();
    }
    let q = [0.3, 0.5, 0.2, -1.0, 0.1, 0.4, 0.2];
    let hand = m.frame("flange").unwrap();
    let (J, lambda) = (linear_jacobian(&m, &q, "flange"), 1e-6);
    let mut some = 0;
    for (speed, wanted) in [
        (0.01, [1.0, -0.5, 0.2]),
        (0.3, [0.2, 1.0, 0.5]),
        (2.0, [1.0, 0.3, -1.0]),
    ] {
        let wanted = wanted.map(|x| speed * x);
        let task = Task::position(hand, [0.0; 3]).moving([0.0; 3], wanted);
        let rates = Rates {
            gain: 0.0,
            damping: lambda,
            ..Rates::default()
        };
        let mut ik = InverseKinematics::new(&m, vec![task]).unwrap();
        let mut v = [0.0; 7];
        ik.velocity(&q, &rates, &mut v).unwrap();
        let got = J.apply(&v);
        for i in 0..7 {
            assert!(v[i].abs() <= slow[i] * (1.0 + 1e-12), "{i}: {}", v[i]);
            // Downhill: nothing left for what is free, outward for what is held.
            let pull: f64 = (0..3).map(|r| J.at(r, i) * (wanted[r] - got[r])).sum::<f64>() - lambda * v[i];
            match ik.held()[i] {
                false => assert!(pull.abs() < 1e-7, "{i}: {pull}"),
                true => {
                    some += 1;
                    assert!((v[i].abs() - slow[i]).abs() < 1e-9);
                }
            }
        }
    }
    assert!(some > 3);
}

#[test]
fn positions_are_held_for_the_period_and_followers_have_velocity_limits() {
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    let bounds = m.position_bounds();
    let mut q = [0.3, 0.5, 0.2, -1.0, 0.1, 0.4, 0.2];
    q[3] = bounds.lower[3] + 1e-3;
    let rates = Rates {
        gain: 0.0,
        period: 0.1,
        ..Rates::default()
    };
    for sign in [1.0, -1.0] {
        let task = Task::position(hand, [0.0; 3]).moving([0.0; 3], [sign, 0.0, sign]);
        let mut ik = InverseKinematics::new(&m, vec![task]).unwrap();
        let mut v = [0.0; 7];
        ik.velocity(&q, &rates, &mut v).unwrap();
        for i in 0..7 {
            let next = q[i] + 0.1 * v[i];
            assert!(next >= bounds.lower[i] - 1e-12 && next <= bounds.upper[i] + 1e-12);
        }
    }
    let names: Vec<String> = m.joints().iter().map(|j| j.name.clone()).collect();
    let m = m
        .with_joint(&names[4], |joint| joint.velocity_limit(0.1))
        .unwrap()
        .to_builder()
        .couple(Coupling::polynomial(&names[4], &names[2], vec![0.1, 0.5, 0.2]))
        .build()
        .unwrap();
    let task = Task::orientation(m.frame("flange").unwrap(), Rotation::IDENTITY).moving([3.0, 2.0, 5.0], [0.0; 3]);
    let mut ik = InverseKinematics::new(&m, vec![task]).unwrap();
    let (q, mut v) = ([0.1, 0.2, 0.4, -0.5, 0.3, 0.2], [0.0; 6]);
    ik.velocity(&q, &rates, &mut v).unwrap();
    let at = m.v_range(m.joint(&names[2]).unwrap()).unwrap().start;
    let follower = (0.5 + 0.4 * q[at]) * v[at];
    assert!(follower.abs() <= 0.1 + 1e-12 && ik.held()[at], "{follower}");
}

#[test]
fn answers_do_not_depend_on_the_batch() {
    let m = examples::puma560();
    let hand = m.frame("link6_dh").unwrap();
    let targets: Vec<Vec<Task>> = (0..40)
        .map(|seed| vec![Task::pose(hand, pose(&m, &m.random(seed), "link6_dh"))])
        .collect();
    let ik = InverseKinematics::new(&m, targets[0].clone()).unwrap();
    let start = m.neutral();
    let all = ik.solve_many(&targets, &start).unwrap();
    let reversed: Vec<Vec<Task>> = targets.iter().rev().cloned().collect();
    let backwards = ik.solve_many(&reversed, &start.repeat(40)).unwrap();
    for (i, found) in all.iter().enumerate() {
        assert_eq!(found, &backwards[39 - i]);
        let alone = ik.solve_many(&targets[i..=i], &start).unwrap();
        assert_eq!(found, &alone[0]);
    }
    let solved = all.iter().filter(|f| f.reached).count();
    assert!(solved >= 39, "{solved}");
    let short = ik.solve_many(&targets, &[0.0; 3]).unwrap_err().to_string();
    assert!(short.contains("the starts have 3 numbers"), "{short}");
}

#[test]
fn what_is_said_to_be_reached_is_of_goals_alone() {
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    let tasks = vec![
        Task::position(hand, [0.4, 0.2, 0.5]),
        Task::posture(vec![1.0; 7]).level(1).preferred(),
    ];
    let found = InverseKinematics::new(&m, tasks)
        .unwrap()
        .solve_from(&m.neutral())
        .unwrap();
    assert!(found.reached && found.residuals[1].angle > 0.1, "{found}");
    let said: f64 = found.to_string()["reached to ".len()..]
        .split([' ', ';'])
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(said <= 1e-9, "{found}");
}
