//! Following trajectories: computed torque, the time-varying regulator, errors of the model.

use linkwork::Mechanism;
use linkwork::control::{Controlled, Controller};
use linkwork::model::{Joint, Link, examples};
use linkwork::motion::{Feedback, Sensitivity, TrackingRegulator, TrackingTorque, Trajectory};
use linkwork::simulate::{Dynamics, Integrator, PassiveForces, RungeKutta4, State};
use linkwork::spatial::Inertia;

/// How far a robot is from its trajectory at worst, from some state on.
fn worst(plant: &Mechanism, course: &Trajectory, law: impl Controller, start: State) -> f64 {
    let drive = Controlled::new(plant, law).without_gravity();
    let drive = drive.limits(&vec![f64::INFINITY; plant.nv()]).unwrap();
    let mut equations = Dynamics::with(plant, drive, PassiveForces::of(plant).unwrap().without_stops());
    let (mut integrator, mut state, mut worst) = (RungeKutta4::new(plant), start, 0.0_f64);
    let (mut q, mut v, mut a) = (plant.neutral(), vec![0.0; plant.nv()], vec![0.0; plant.nv()]);
    while state.t < course.end_time() {
        integrator.step(&mut equations, &mut state, 1e-3).unwrap();
        course.at(state.t, &mut q, &mut v, &mut a).unwrap();
        worst = worst.max(plant.distance(&q, &state.q).unwrap());
    }
    worst
}

/// All masses and inertias larger by a share.
fn heavier(m: &Mechanism, share: f64) -> Mechanism {
    let mut out = m.clone();
    for link in m.links() {
        let mut inertia = link.inertia;
        inertia.mass *= 1.0 + share;
        inertia.moments.iter_mut().for_each(|x| *x *= 1.0 + share);
        out = out.with_inertia(&link.name, inertia).unwrap();
    }
    out
}

#[test]
fn a_right_model_follows_to_rounding_and_a_wrong_one_closely() {
    let arm = examples::arm7();
    let waypoints = [
        [0.0; 7],
        [0.5, -0.4, 0.3, 0.2, -0.5, 0.4, 0.1],
        [0.9, 0.1, -0.2, 0.6, 0.3, -0.3, 0.2],
    ];
    let course = Trajectory::quintic_spline(&arm, &[0.0, 0.7, 1.3], &waypoints).unwrap();
    let law = || TrackingTorque::new(&course, &[400.0; 7], &[40.0; 7]).unwrap();
    let start = State::at_rest(&arm, &[0.0; 7]);
    assert!(worst(&arm, &course, law(), start.clone()) < 1e-6);
    let plant = heavier(&arm, 0.1);
    let regulator = TrackingRegulator::new(&course, &[[1e4; 7], [1e2; 7]].concat(), &[1e-3; 7], 0.01).unwrap();
    assert!(worst(&plant, &course, law().for_plant(&plant).unwrap(), start.clone()) < 0.03);
    assert!(worst(&plant, &course, regulator.for_plant(&plant).unwrap(), start) < 0.05);
}

/// A free-floating body with thrusters all around, which turns and moves: quaternions and their axes.
#[test]
fn floating_bodies_are_followed_too() {
    let body = Mechanism::builder("drone")
        .link(Link::new("body", Inertia::cuboid(2.0, [0.3, 0.2, 0.1])))
        .joint(Joint::free("float").between("world", "body"))
        .build()
        .unwrap()
        .driven_by(&["float"])
        .unwrap();
    let times = [0.0, 0.8, 1.5];
    let waypoints: Vec<Vec<f64>> = (1..4)
        .map(|seed| {
            let mut q = body.neutral();
            body.interpolate(&body.neutral(), &body.random(seed), 0.4, &mut q)
                .unwrap();
            q
        })
        .collect();
    let course = Trajectory::quintic_spline(&body, &times, &waypoints).unwrap();
    let law = TrackingTorque::new(&course, &[400.0; 6], &[40.0; 6]).unwrap();
    let start = State::at_rest(&body, &waypoints[0]);
    assert!(worst(&body, &course, law, start.clone()) < 1e-6);
    let regulator = TrackingRegulator::new(&course, &[1e3; 12], &[1e-2; 6], 0.01).unwrap();
    assert!(worst(&body, &course, regulator, start) < 1e-4);
    let weights = [[1e4; 6], [1e1; 6]].concat();
    let regulator = TrackingRegulator::new(&course, &weights, &[1e-2; 6], 0.01).unwrap();
    let mut off = waypoints[0].clone();
    body.integrate(&waypoints[0], &[0.05; 6], &mut off).unwrap();
    let drive = Controlled::new(&body, regulator).without_gravity();
    let mut equations = Dynamics::new(&body, drive).unwrap();
    let (mut integrator, mut state) = (RungeKutta4::new(&body), State::at_rest(&body, &off));
    (0..1500).for_each(|_| integrator.step(&mut equations, &mut state, 1e-3).unwrap());
    assert!(body.distance(&state.q, course.end()).unwrap() < 1e-2);
}

#[test]
fn motors_that_are_missing_are_named() {
    let pole = examples::cart_pole().driven_by(&["rail"]).unwrap();
    let course = Trajectory::minimum_jerk(&pole, &[0.0, 0.0], &[0.5, 0.3], 1.0).unwrap();
    let said = TrackingTorque::new(&course, &[1.0; 2], &[1.0; 2])
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("pole") || said.contains("hinge") || said.contains("no motor"),
        "{said}"
    );
    let said = TrackingRegulator::new(&course, &[1.0; 4], &[1.0], 0.01)
        .unwrap_err()
        .to_string();
    assert!(said.contains("no motor") && said.contains("trajectory"), "{said}");
}

/// Errors of three masses and of a length.
fn model(arm: &Mechanism, theta: &[f64]) -> linkwork::Result<Mechanism> {
    let mut robot = arm.clone();
    for (link, theta) in ["link2", "link3", "link4"].iter().zip(theta) {
        let mut inertia = arm.links()[arm.link(link)?.index()].inertia;
        inertia.mass *= 1.0 + theta;
        inertia.moments.iter_mut().for_each(|x| *x *= 1.0 + theta);
        robot = robot.with_inertia(link, inertia)?;
    }
    let joint = arm.joints()[2].name.clone();
    robot.with_joint(&joint, |mut joint| {
        joint.origin.translation.x += theta[3];
        joint
    })
}

/// S is the derivative of the whole motion, and bands of linear propagation are those of 200 drawn robots.
#[test]
fn sensitivities_agree_with_differences_and_with_drawn_robots() {
    let arm = examples::arm7();
    let (from, to) = (
        [0.0, 0.5, 0.0, -1.2, 0.0, 0.9, 0.0],
        [0.5, 0.1, 0.3, -0.8, 0.2, 0.5, 0.3],
    );
    let course = Trajectory::minimum_jerk(&arm, &from, &to, 0.5).unwrap();
    let feedback = Feedback {
        kp: vec![50.0, 50.0, 30.0, 30.0, 2.0, 2.0, 0.5],
        kd: vec![3.0, 3.0, 1.0, 1.0, 0.05, 0.05, 0.01],
    };
    let (deviations, h) = ([0.03, 0.03, 0.03, 0.005], 5e-3);
    let bands = Sensitivity::new(&course, &feedback, &deviations, |theta| model(&arm, theta), h).unwrap();
    assert!(bands.is_trusted());
    let last = bands.times().len() - 1;
    let run = |theta: &[f64]| {
        Sensitivity::follow(&course, &feedback, &model(&arm, theta).unwrap(), h)
            .unwrap()
            .remove(last)
    };
    for (j, deviation) in deviations.iter().enumerate() {
        let side = |sign: f64| {
            let mut theta = [0.0; 4];
            theta[j] = sign * 1e-3 * deviation;
            run(&theta)
        };
        let (plus, minus) = (side(1.0), side(-1.0));
        for i in 0..7 {
            let slope = (plus.q[i] - minus.q[i]) / (2e-3 * deviation);
            let own = bands.by_parameter()[last][i * 4 + j];
            assert!(
                (slope - own).abs() < 1e-5 * (1.0 + own.abs()),
                "[{i}, {j}]: {slope} {own}"
            );
        }
    }
    // Sums of twelve uniform numbers are nearly normal.
    let mut seed = 7_u64;
    let mut uniform = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    let nominal = run(&[0.0; 4]);
    let mut squares = [0.0; 7];
    for _ in 0..200 {
        let theta: Vec<f64> = deviations
            .iter()
            .map(|d| d * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0))
            .collect();
        let state = run(&theta);
        (0..7).for_each(|i| squares[i] += (state.q[i] - nominal.q[i]).powi(2) / 200.0);
    }
    for (i, square) in squares
        .iter()
        .enumerate()
        .filter(|(i, _)| bands.deviations()[last][*i] > 1e-6)
    {
        // The sampling error of 200 is 0.05: four of those.
        let ratio = square.sqrt() / bands.deviations()[last][i];
        assert!((0.8..1.2).contains(&ratio), "joint {i}: {ratio}");
    }
}
