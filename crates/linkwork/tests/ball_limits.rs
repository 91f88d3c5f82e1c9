//! Limits on the whole angle of ball joints: in steps with contact, in stops, in configurations.

use linkwork::Mechanism;
use linkwork::contact::{Change, JointRow, Settings, Start, Stepper};
use linkwork::model::{Coupling, Joint, Link};
use linkwork::simulate::{PassiveForces, State};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};

const LIMIT: f64 = 0.7;

/// A turntable that carries an arm on a ball joint, with a hinge further out.
fn arm(coupled: bool) -> Mechanism {
    let lump = |m: f64| Inertia::new(m, [0.05, 0.02, -0.2], [0.05, 0.002, 0.001, 0.06, -0.003, 0.02]);
    let tilt = Pose::new(Rotation::about(Vec3::new(0.6, 0.0, 0.8), 0.9), [0.1, 0.0, 0.4]);
    let builder = Mechanism::builder("arm")
        .link(Link::new("table", lump(2.0)))
        .link(Link::new("upper", lump(1.0)))
        .link(Link::new("lower", lump(0.4)))
        .link(Link::new("wheel", lump(0.3)))
        .joint(Joint::revolute("turn", [0.0, 0.3, 1.0]).between("world", "table"))
        .joint(
            Joint::spherical("ball")
                .between("table", "upper")
                .placed(tilt)
                .position_limits(0.0, LIMIT),
        )
        .joint(
            Joint::revolute("elbow", [1.0, 0.2, 0.0])
                .between("upper", "lower")
                .at([0.0, 0.0, -0.4]),
        )
        .joint(
            Joint::revolute("idle", [0.0, 1.0, 0.0])
                .between("lower", "wheel")
                .at([0.0, 0.0, -0.3]),
        );
    match coupled {
        true => builder
            .couple(Coupling::gear("idle", "elbow", 0.5, 0.0))
            .build()
            .unwrap(),
        false => builder.build().unwrap(),
    }
}

/// A quaternion of a turn about an axis.
fn turned(axis: [f64; 3], angle: f64) -> [f64; 4] {
    Rotation::about(Vec3::from(axis), angle).to_quaternion()
}

fn unit(axis: [f64; 3]) -> [f64; 3] {
    let norm = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    axis.map(|x| x / norm)
}

fn angle(q: &[f64]) -> f64 {
    let sine = q[..3].iter().map(|x| x * x).sum::<f64>().sqrt();
    2.0 * sine.atan2(q[3].abs())
}

const AXIS: [f64; 3] = [0.3, -0.8, 0.5];

/// A state near or beyond the limit, on its way further out.
fn state(m: &Mechanism, at: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut q = m.neutral();
    q[0] = 0.4;
    q[1..5].copy_from_slice(&turned(AXIS, at));
    q[5] = -0.6;
    let mut v: Vec<f64> = (0..m.nv()).map(|i| 0.3 * (1.3 * i as f64).sin()).collect();
    for (v, a) in v[1..4].iter_mut().zip(unit(AXIS)) {
        *v += 2.0 * a;
    }
    let torque = (0..m.nv()).map(|i| (0.7 * i as f64).cos()).collect();
    (q, v, torque)
}

fn settings() -> Settings {
    let mut settings = Settings::new(0.01);
    (settings.gyroscopic, settings.start, settings.tolerance) = (false, Start::Free, 1e-14);
    settings
}

#[test]
fn a_step_is_that_of_one_row_beside_the_mass_matrix() {
    for coupled in [false, true] {
        let m = arm(coupled);
        let nv = m.nv();
        for (at, other_side) in [(0.69, false), (0.75, false), (0.69, true), (0.5, false)] {
            let (mut q, v, torque) = state(&m, at);
            if other_side {
                // The same rotation.
                q[1..5].iter_mut().for_each(|x| *x = -*x);
            }
            let settings = settings();
            let mut stepper = Stepper::new(&m, settings).unwrap();
            let report = stepper.solve(&q, &v, &torque, &[]).unwrap();
            let (free, found) = (report.free_velocity.clone(), report.velocity.clone());
            let a = unit(AXIS);
            let mut row = vec![0.0; nv];
            row[1..4].iter_mut().zip(a).for_each(|(row, a)| *row = -a);
            let inverse = m.mass_matrix_inverse(&q).unwrap();
            let pushed: Vec<f64> = inverse
                .chunks(nv)
                .map(|r| r.iter().zip(&row).map(|(m, x)| m * x).sum())
                .collect();
            let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
            let (w, gap) = (dot(&row, &pushed), LIMIT - at);
            let time = if gap < 0.0 { 0.01 + 0.02 } else { 0.01 };
            let gamma = ((-gap / time - dot(&row, &free)) / (w * (1.0 + settings.rho))).max(0.0);
            assert_eq!(gamma > 0.0, at > 0.6, "{at}");
            for i in 0..nv {
                let expect = free[i] + pushed[i] * gamma;
                assert!(
                    (found[i] - expect).abs() < 1e-10,
                    "{coupled} {at}: {} and {expect}",
                    found[i]
                );
            }
            let told: Vec<f64> = report
                .joints
                .iter()
                .filter(|joint| joint.row == JointRow::Limit)
                .map(|joint| joint.impulse)
                .collect();
            if gamma > 0.0 {
                assert_eq!(told.len(), 3);
                assert!((0..3).all(|i| (told[i] + a[i] * gamma).abs() < 1e-10), "{told:?}");
            }
        }
    }
}

#[test]
fn derivatives_of_a_step_at_the_limit_are_those_of_differences() {
    let m = arm(false);
    let nv = m.nv();
    for at in [0.695, 0.74] {
        let (q, v, torque) = state(&m, at);
        let mut settings = settings();
        // R follows the configuration, and derivatives hold it.
        (settings.rho, settings.sigma) = (1e-9, 1e-9);
        let plus = |q: &[f64], v: &[f64]| {
            let mut stepper = Stepper::new(&m, settings).unwrap();
            stepper.solve(q, v, &torque, &[]).unwrap().velocity.clone()
        };
        let mut stepper = Stepper::new(&m, settings).unwrap();
        let mut step = stepper.derivatives(&q, &v, &torque, &[], &[]).unwrap();
        let mut matrices = [(); 3].map(|()| vec![0.0; nv * nv]);
        let [by_q, by_v, by_torque] = &mut matrices;
        step.matrices(by_q, by_v, by_torque).unwrap();
        let y: Vec<f64> = (0..nv).map(|i| (2.1 * i as f64).sin()).collect();
        let gradient = step.adjoint(&y).unwrap();
        for j in 0..nv {
            let h = 1e-6;
            let moved = |h: f64| {
                let (mut step, mut out) = (vec![0.0; nv], q.clone());
                step[j] = h;
                m.integrate(&q, &step, &mut out).unwrap();
                out
            };
            let faster = |h: f64| {
                let mut v = v.clone();
                v[j] += h;
                v
            };
            let differ = |ahead: Vec<f64>, behind: Vec<f64>| -> Vec<f64> {
                ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * h)).collect()
            };
            let of_q = differ(plus(&moved(h), &v), plus(&moved(-h), &v));
            let of_v = differ(plus(&q, &faster(h)), plus(&q, &faster(-h)));
            let (mut unit, mut out) = (vec![0.0; nv], vec![0.0; nv]);
            unit[j] = 1.0;
            let change = Change {
                q: Some(&unit),
                ..Change::default()
            };
            step.change(&change, &mut out).unwrap();
            for i in 0..nv {
                let near = |x: f64, y: f64| (x - y).abs() < 1e-5 * (1.0 + y.abs());
                assert!(near(out[i], of_q[i]), "{at}: q {j} {i}: {} and {}", out[i], of_q[i]);
                assert!(near(matrices[0][i * nv + j], of_q[i]), "{at}: matrix, q {j} {i}");
                assert!(near(matrices[1][i * nv + j], of_v[i]), "{at}: matrix, v {j} {i}");
            }
            for (found, matrix) in [&gradient.q, &gradient.v].into_iter().zip(&matrices) {
                let expect: f64 = (0..nv).map(|i| matrix[i * nv + j] * y[i]).sum();
                assert!((found[j] - expect).abs() < 1e-6 * (1.0 + expect.abs()), "{at}: {j}");
            }
        }
    }
}

#[test]
fn a_ball_joint_under_its_weight_comes_to_rest_at_its_limit() {
    // It stands upright and falls over: the limit holds it at its angle.
    let m = Mechanism::builder("mast")
        .link(Link::new(
            "mast",
            Inertia::new(2.0, [0.0, 0.0, 0.5], [0.2, 0.0, 0.0, 0.2, 0.0, 0.05]),
        ))
        .joint(
            Joint::spherical("ball")
                .between("world", "mast")
                .damping(0.3)
                .position_limits(0.0, LIMIT),
        )
        .build()
        .unwrap();
    let (mut q, mut v) = (turned([0.2, 1.0, 0.0], 0.05).to_vec(), vec![0.0; 3]);
    let mut stepper = Stepper::new(&m, Settings::new(0.002)).unwrap();
    let mut most: f64 = 0.0;
    for _ in 0..5000 {
        stepper.step(&mut q, &mut v, &[0.0; 3], &[]).unwrap();
        most = most.max(angle(&q));
    }
    assert!(most < LIMIT + 1e-3, "{most}");
    // It leans on the limit, and may go on turning about the vertical: the moment is that of its weight.
    let limit: Vec<f64> = stepper.report().joints.iter().map(|j| j.impulse / 0.002).collect();
    let moment = limit.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!((angle(&q) - LIMIT).abs() < 1e-3, "{}", angle(&q));
    assert!(
        (moment - 2.0 * 9.81 * 0.5 * LIMIT.sin()).abs() < 1e-2 * moment,
        "{moment}"
    );

    // The same by stops, in explicit steps.
    let mut stops = PassiveForces::of(&m).unwrap().for_steps(1e-3);
    assert!(stops.unstopped().is_empty() && stops.is_any());
    let mut state = State::at_rest(&m, &turned([0.2, 1.0, 0.0], 0.05));
    let (mut workspace, mut qdd, mut most) = (m.workspace(), [0.0; 3], 0.0_f64);
    for _ in 0..10_000 {
        let mut tau = [0.0; 3];
        stops.add(&state.q, &state.v, &mut tau).unwrap();
        let (q, v) = (state.q.clone(), state.v.clone());
        workspace
            .at(&q)
            .unwrap()
            .moving(&v)
            .unwrap()
            .forward_dynamics(&tau, &mut qdd)
            .unwrap();
        state.v.iter_mut().zip(&qdd).for_each(|(v, a)| *v += 1e-3 * a);
        let step: Vec<f64> = state.v.iter().map(|v| 1e-3 * v).collect();
        m.integrate(&q, &step, &mut state.q).unwrap();
        most = most.max(angle(&state.q));
    }
    assert!(most < LIMIT + 0.05, "{most}");
    assert!((angle(&state.q) - LIMIT).abs() < 0.01, "{}", angle(&state.q));
}

#[test]
fn configurations_are_within_the_limit() {
    let m = arm(false);
    let mut largest: f64 = 0.0;
    for seed in 0..300 {
        largest = largest.max(angle(&m.random(seed)[1..5]));
    }
    assert!(largest <= LIMIT + 1e-12 && largest > 0.9 * LIMIT, "{largest}");
    let (mut q, ..) = state(&m, 2.5);
    let near = m.nearest_within_limits(&q).unwrap();
    assert!((angle(&near[1..5]) - LIMIT).abs() < 1e-12);
    let back = turned(AXIS, LIMIT);
    assert!((0..4).all(|i| (near[1 + i] - back[i]).abs() < 1e-12));
    assert!(m.clamp(&mut q).unwrap());
    assert_eq!(q, near);
    assert!(!m.clamp(&mut q).unwrap() || (angle(&q[1..5]) - LIMIT).abs() < 1e-12);
    // Half a turn and more are no limit.
    let free = m.with_joint("ball", |joint| joint.position_limits(0.0, 3.2)).unwrap();
    assert!(PassiveForces::of(&free).unwrap().unstopped().is_empty());
}
