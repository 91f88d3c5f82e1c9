//! Operational-space control where some joints have no motor: frames get what they want from the motors that are there, in the
//! air and on feet that stand.
#![allow(non_snake_case)]

mod support;

use linkwork::Reference;
use linkwork::control::{Controlled, Controller, FrameTarget, FrameTask, OperationalSpace};
use linkwork::model::{Mechanism, examples};
use linkwork::simulate::{Drive, Now};
use linkwork::spatial::{Motion, Vec3};
use linkwork::workspace::Part;
use support::matrix::Matrix;

const ALIGNED: Reference = Reference::Aligned;

fn state(m: &Mechanism) -> (Vec<f64>, Vec<f64>) {
    let v: Vec<f64> = (0..m.nv()).map(|i| 0.2 * (1.3 * i as f64).sin()).collect();
    (m.random(3), v)
}

fn torques<C: Controller>(m: &Mechanism, law: C, q: &[f64], v: &[f64]) -> Vec<f64> {
    let mut law = Controlled::new(m, law).limits(&vec![f64::INFINITY; m.nv()]).unwrap();
    let (mut workspace, mut tau) = (m.workspace(), vec![0.0; m.nv()]);
    let mut posed = workspace.at(q).unwrap();
    let mut moving = posed.moving(v).unwrap();
    law.drive(Now { t: 0.0, q, v }, &mut moving, &mut tau).unwrap();
    tau
}

fn jacobian(m: &Mechanism, q: &[f64], frame: &str) -> Matrix {
    let mut all = vec![0.0; 6 * m.nv()];
    let frame = m.frame(frame).unwrap();
    m.workspace().at(q).unwrap().jacobian(frame, ALIGNED, &mut all).unwrap();
    Matrix::from_fn(6, m.nv(), |i, j| all[i * m.nv() + j])
}

/// J̇q̇.
fn drift(m: &Mechanism, q: &[f64], v: &[f64], frame: &str) -> [f64; 6] {
    let (mut workspace, mut tau) = (m.workspace(), vec![0.0; m.nv()]);
    let mut posed = workspace.at(q).unwrap();
    let mut moving = posed.moving(v).unwrap();
    let so = moving.with_accelerations(&vec![0.0; m.nv()], &mut tau).unwrap();
    so.acceleration(m.frame(frame).unwrap(), ALIGNED).unwrap().to_array()
}

/// q̈ under torques with links held where they are, from the dense equations of both.
fn accelerations(m: &Mechanism, q: &[f64], v: &[f64], tau: &[f64], held: &[&str]) -> Vec<f64> {
    let (n, rows) = (m.nv(), 6 * held.len());
    let (mut mass, mut bias) = (vec![0.0; n * n], vec![0.0; n]);
    let mut workspace = m.workspace();
    let mut posed = workspace.at(q).unwrap();
    posed.mass_matrix(&mut mass).unwrap();
    posed.moving(v).unwrap().bias(&mut bias).unwrap();
    let J: Vec<Matrix> = held.iter().map(|f| jacobian(m, q, f)).collect();
    let A = Matrix::from_fn(n + rows, n + rows, |i, j| match (i < n, j < n) {
        (true, true) => mass[i * n + j],
        (false, true) => J[(i - n) / 6].at((i - n) % 6, j),
        (true, false) => J[(j - n) / 6].at((j - n) % 6, i),
        (false, false) => 0.0,
    });
    let mut b: Vec<f64> = tau.iter().zip(&bias).map(|(t, h)| t - h).collect();
    for frame in held {
        b.extend(drift(m, q, v, frame).map(|x| -x));
    }
    let mut x = A.inverse().apply(&b);
    x.truncate(n);
    x
}

fn of_frame(m: &Mechanism, q: &[f64], v: &[f64], qdd: &[f64], frame: &str) -> Vec<f64> {
    let moved = jacobian(m, q, frame).apply(qdd);
    moved.iter().zip(drift(m, q, v, frame)).map(|(a, b)| a + b).collect()
}

/// A task that wants this acceleration and no other.
fn wants(m: &Mechanism, q: &[f64], v: &[f64], frame: &str, part: Part, wanted: Motion) -> FrameTask {
    let id = m.frame(frame).unwrap();
    let mut workspace = m.workspace();
    let mut posed = workspace.at(q).unwrap();
    let pose = posed.pose(id).unwrap();
    let target = FrameTarget {
        pose,
        velocity: posed.moving(v).unwrap().velocity(id, ALIGNED).unwrap(),
        acceleration: wanted,
    };
    FrameTask {
        part,
        target,
        ..FrameTask::pose(id, pose)
    }
}

#[test]
fn motors_alone_move_frames_of_a_floating_robot() {
    let m = examples::humanoid();
    let ((q, v), n) = (state(&m), m.nv());
    assert!(m.driven_dofs().len() < n);
    let first = Motion::new(Vec3::new(0.3, 0.1, -0.2), Vec3::new(0.4, -0.5, 0.6));
    let second = Motion::new(Vec3::ZERO, Vec3::new(-0.2, 0.3, 0.1));
    for held in [&[][..], &["left_foot"], &["left_foot", "right_foot"]] {
        let tasks = vec![
            wants(&m, &q, &v, "right_hand", Part::All, first),
            wants(&m, &q, &v, "head", Part::Linear, second),
        ];
        let frames: Vec<_> = held.iter().map(|f| m.frame(f).unwrap()).collect();
        let law = OperationalSpace::new(&m, tasks, &m.neutral()).unwrap();
        let law = law.singular_below(1e-9).unwrap().standing_on(&frames).unwrap();
        let tau = torques(&m, law, &q, &v);
        assert!((0..n).all(|i| m.is_driven(i) || tau[i] == 0.0));
        let qdd = accelerations(&m, &q, &v, &tau, held);
        let hand = of_frame(&m, &q, &v, &qdd, "right_hand");
        support::assert_close("hand", &hand, &first.to_array(), 1e-6);
        let head = of_frame(&m, &q, &v, &qdd, "head");
        support::assert_close("head", &head[3..], &second.linear.to_array(), 1e-6);
        for foot in held {
            let still = of_frame(&m, &q, &v, &qdd, foot);
            assert!(still.iter().all(|x| x.abs() < 1e-8), "{foot}: {still:?}");
        }
    }
}

#[test]
fn where_all_joints_are_driven_both_ways_agree() {
    // Standing on nothing that could move: the law of partly driven robots is that of others.
    let m = examples::arm7();
    let (q, v) = state(&m);
    let wanted = Motion::new(Vec3::new(0.3, 0.1, -0.2), Vec3::new(0.4, -0.5, 0.6));
    let law = || {
        let task = wants(&m, &q, &v, "flange", Part::Linear, wanted);
        OperationalSpace::new(&m, vec![task], &m.neutral()).unwrap()
    };
    let base = m.frame("world").unwrap();
    let one = torques(&m, law(), &q, &v);
    let other = torques(&m, law().standing_on(&[base]).unwrap(), &q, &v);
    support::assert_close("torques", &other, &one, 1e-9);
}

#[test]
fn joints_without_a_motor_are_left_alone() {
    let m = examples::arm7()
        .driven_by(&["joint1", "joint2", "joint3", "joint4", "joint6"])
        .unwrap();
    let (q, v) = state(&m);
    let wanted = Motion::new(Vec3::ZERO, Vec3::new(0.4, -0.5, 0.6));
    let task = wants(&m, &q, &v, "flange", Part::Linear, wanted);
    let law = OperationalSpace::new(&m, vec![task], &m.neutral()).unwrap();
    let tau = torques(&m, law.singular_below(1e-9).unwrap(), &q, &v);
    assert_eq!([tau[4], tau[6]], [0.0, 0.0]);
    let qdd = accelerations(&m, &q, &v, &tau, &[]);
    let hand = of_frame(&m, &q, &v, &qdd, "flange");
    support::assert_close("hand", &hand[3..], &wanted.linear.to_array(), 1e-8);
}
