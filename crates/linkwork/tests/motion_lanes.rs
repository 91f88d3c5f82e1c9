//! Batches of inverse kinematics in lanes: every answer is, to the last bit, the one that is found alone.

use linkwork::model::{Mechanism, examples};
use linkwork::motion::{InverseKinematics, SolverOptions, Task};
use linkwork::spatial::{Pose, Vec3};

fn pose(m: &Mechanism, q: &[f64], frame: &str) -> Pose {
    m.workspace().at(q).unwrap().pose(m.frame(frame).unwrap()).unwrap()
}

fn same_as_alone(m: &Mechanism, targets: &[Vec<Task>], restarts: usize) -> usize {
    let options = SolverOptions {
        restarts,
        ..SolverOptions::default()
    };
    let mut start = m.neutral();
    m.clamp(&mut start).unwrap();
    let mut ik = InverseKinematics::new(m, targets[0].clone())
        .unwrap()
        .options(options)
        .unwrap();
    let all = ik.solve_many(targets, &start).unwrap();
    assert_eq!(all.len(), targets.len());
    for (i, (found, target)) in all.iter().zip(targets).enumerate() {
        for (k, task) in target.iter().enumerate() {
            ik.set(k, task.clone()).unwrap();
        }
        let alone = ik.solve_from(&start).unwrap();
        assert_eq!(found, &alone, "{}, target {i}", m.name());
    }
    all.iter().filter(|found| found.reached).count()
}

#[test]
fn poses_of_arms_some_of_them_out_of_reach() {
    for (m, frame) in [(examples::arm7(), "flange"), (examples::puma560(), "link6_dh")] {
        let hand = m.frame(frame).unwrap();
        let targets: Vec<Vec<Task>> = (0..70)
            .map(|seed| {
                let mut target = pose(&m, &m.random(seed), frame);
                // Every seventh is far away.
                if seed % 7 == 3 {
                    target.translation = target.translation * 9.0 + Vec3::new(3.0, 0.0, 0.0);
                }
                vec![Task::pose(hand, target)]
            })
            .collect();
        let reached = same_as_alone(&m, &targets, 8);
        assert!((54..=60).contains(&reached), "{}: {reached}", m.name());
    }
}

#[test]
fn several_tasks_of_a_floating_robot() {
    let m = examples::humanoid();
    let frame = |name: &str| m.frame(name).unwrap();
    let targets: Vec<Vec<Task>> = (0..30)
        .map(|seed| {
            let q = m.random(100 + seed);
            vec![
                Task::position(frame("left_foot"), pose(&m, &q, "left_foot").translation),
                Task::pose(frame("right_hand"), pose(&m, &q, "right_hand")).weight(2.0),
                Task::direction(frame("head"), [0.0, 0.0, 1.0], pose(&m, &q, "head").rotation.z),
                Task::orientation(frame("pelvis"), pose(&m, &q, "pelvis").rotation),
            ]
        })
        .collect();
    assert!(same_as_alone(&m, &targets, 5) > 25);
}

#[test]
fn what_lanes_do_not_take_is_answered_all_the_same() {
    let m = examples::dual_arm();
    let (left, right) = (m.frame("left_link7").unwrap(), m.frame("right_link7").unwrap());
    let targets: Vec<Vec<Task>> = (0..10)
        .map(|i| {
            vec![
                Task::position(left, [0.3, 0.1 + 0.01 * f64::from(i), 0.5]),
                Task::position(right, [0.2, 0.0, 0.0]).relative_to(left),
            ]
        })
        .collect();
    assert_eq!(same_as_alone(&m, &targets, 20), 10);
}

#[test]
fn bad_targets_and_starts_are_named() {
    let m = examples::arm7();
    let hand = m.frame("flange").unwrap();
    let targets = vec![vec![Task::position(hand, [0.4, 0.0, 0.4])]; 3];
    let ik = InverseKinematics::new(&m, targets[0].clone()).unwrap();
    let mut starts = m.neutral().repeat(3);
    starts[7 + 3] = 40.0;
    let said = ik.solve_many(&targets, &starts).unwrap_err().to_string();
    assert!(said.contains("outside its limits"), "{said}");
    let mut bad = targets.clone();
    bad[1] = vec![Task::position(hand, [f64::NAN, 0.0, 0.0])];
    assert!(ik.solve_many(&bad, &m.neutral()).is_err());
    bad[1] = vec![];
    let said = ik.solve_many(&bad, &m.neutral()).unwrap_err().to_string();
    assert!(said.contains("target number 1"), "{said}");
}
