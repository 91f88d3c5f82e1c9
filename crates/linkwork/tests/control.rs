//! Decoupled control: Lyapunov functions that fall, limits that are kept, gains that are refused.

mod support;

use linkwork::control::{ComputedTorque, Controlled, Controller, JointPd, PoseControl, RateDamping, Trial};
use linkwork::model::examples;
use linkwork::simulate::{Drive, Dynamics, Integrator, Now, PassiveForces, RungeKutta4, State};
use linkwork::workspace::Moving;
use linkwork::{Mechanism, Result};

const H: f64 = 1e-3;

fn arms() -> [Mechanism; 2] {
    [examples::puma560(), examples::arm7()]
}

fn start(arm: &Mechanism) -> State {
    let n = arm.nv();
    State {
        t: 0.0,
        q: (0..n).map(|i| 0.3 + 0.2 * i as f64).collect(),
        v: (0..n).map(|i| 0.8 - 0.3 * i as f64).collect(),
    }
}

/// A tip and where it would be at another configuration.
fn task(arm: &Mechanism) -> (linkwork::model::FrameId, linkwork::spatial::Pose) {
    let tip = arm.link(&arm.links().last().unwrap().name).unwrap();
    let q: Vec<f64> = start(arm)
        .q
        .iter()
        .enumerate()
        .map(|(i, q)| q + if i % 2 == 0 { 0.5 } else { -0.4 })
        .collect();
    let pose = arm.workspace().at(&q).unwrap().pose(tip).unwrap();
    (tip.into(), pose)
}

/// Asks a value of the robot at every step of a closed loop; gives all of them.
fn watch<C: Controller>(
    arm: &Mechanism,
    control: Controlled<C>,
    steps: usize,
    mut value: impl FnMut(&mut Moving<'_>, &[f64]) -> f64,
) -> Vec<f64> {
    let mut equations = Dynamics::with(arm, control, PassiveForces::none(arm));
    let mut integrator = RungeKutta4::new(arm);
    let mut state = start(arm);
    let mut workspace = arm.workspace();
    let mut values = Vec::new();
    for _ in 0..steps {
        integrator.step(&mut equations, &mut state, H).unwrap();
        let mut posed = workspace.at(&state.q).unwrap();
        values.push(value(
            &mut posed.moving(&state.v).unwrap(),
            equations_torques(&equations),
        ));
    }
    values
}

fn equations_torques<D: Drive>(equations: &Dynamics<D>) -> &[f64] {
    equations.torques()
}

#[test]
fn rate_damping_takes_energy_away_at_its_rate() {
    for arm in arms() {
        let c = 1.5;
        let mut damping = RateDamping::new(&arm, c).unwrap();
        let control = Controlled::new(&arm, damping.clone())
            .limits(&vec![f64::INFINITY; arm.nv()])
            .unwrap();
        let energies = watch(&arm, control, 2000, |moving, _| damping.lyapunov(moving));
        assert!(energies.windows(2).all(|w| w[1] < w[0]), "{}", arm.name());
        // With one c for all, ½ν*ν = E₀ e^(−2ct).
        for (at, energy) in energies.iter().enumerate().step_by(400) {
            let expect = energies[0] * (-2.0 * c * H * at as f64).exp();
            assert!(
                (energy / expect - 1.0).abs() < 1e-6,
                "{} {at}: {energy} {expect}",
                arm.name()
            );
        }
    }
}

#[test]
fn pose_control_reaches_the_pose_and_its_lyapunov_function_falls() {
    for arm in arms() {
        let (tip, target) = task(&arm);
        let c1: Vec<f64> = (0..arm.nv()).map(|i| 6.0 + i as f64).collect();
        let mut pose = PoseControl::new(&arm, tip, target, &c1, 60.0).unwrap();
        let control = Controlled::new(&arm, pose.clone())
            .limits(&vec![f64::INFINITY; arm.nv()])
            .unwrap();
        let mut last = [0.0; 12];
        let values = watch(&arm, control, 12_000, |moving, _| {
            last = pose.error(moving).unwrap();
            pose.lyapunov(moving).unwrap()
        });
        let floor = 1e-12 * values[0];
        assert!(values.windows(2).all(|w| w[1] < w[0] || w[1] < floor), "{}", arm.name());
        let error = last.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
        assert!(error < 0.02, "{}: {last:?}", arm.name());
    }
}

#[test]
fn tuned_gains_settle_in_the_time_they_promise_while_the_lyapunov_function_falls() {
    for arm in arms() {
        let n = arm.nv();
        let goal: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 0.5 } else { -0.5 }).collect();
        let tip = arm.link(&arm.links().last().unwrap().name).unwrap();
        let trial = Trial::new(&arm, &vec![0.0; n], &goal, tip, 6.0).unwrap();
        let outcome = trial.run(trial.decoupled(4.0).unwrap()).unwrap();
        // A slowest pole at −1: 2 % after about four seconds.
        assert!(
            outcome.settled.is_some_and(|t| t < 5.0),
            "{}: {:?}, {} m left",
            arm.name(),
            outcome.settled,
            outcome.final_distance
        );
        for other in [
            trial.run(trial.computed_torque(4.0).unwrap()).unwrap(),
            trial.run(trial.joint_pd(4.0).unwrap()).unwrap(),
        ] {
            assert!(other.settled.is_some_and(|t| t < 3.5), "{}", arm.name());
        }
        let mut pose = trial.decoupled(4.0).unwrap();
        let control = Controlled::new(&arm, pose.clone())
            .limits(&vec![f64::INFINITY; n])
            .unwrap();
        let values = watch(&arm, control, 4000, |moving, _| pose.lyapunov(moving).unwrap());
        let floor = 1e-12 * values[0];
        assert!(values.windows(2).all(|w| w[1] < w[0] || w[1] < floor), "{}", arm.name());
    }
}

#[test]
fn torques_stay_within_limits_and_keep_their_direction() {
    for arm in arms() {
        let n = arm.nv();
        let mut held = vec![0.0; n];
        let q = start(&arm).q;
        arm.workspace().at(&q).unwrap().gravity_torque(&mut held).unwrap();
        let limits: Vec<f64> = held.iter().map(|g| g.abs() + 3.0).collect();
        let kp = vec![500.0; n];
        let target = vec![2.0; n];
        let pd = JointPd::new(&arm, &target, &kp, &vec![20.0; n]).unwrap();
        let mut control = Controlled::new(&arm, pd.clone()).limits(&limits).unwrap();
        let mut workspace = arm.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let qd = vec![0.0; n];
        let mut moving = posed.moving(&qd).unwrap();
        let now = Now { t: 0.0, q: &q, v: &qd };
        let (mut tau, mut asked) = (vec![0.0; n], vec![0.0; n]);
        control.drive(now, &mut moving, &mut tau).unwrap();
        let mut pd = pd;
        pd.torques(now, &mut moving, &mut asked).unwrap();
        assert!(control.scale() < 1.0);
        for i in 0..n {
            assert!(tau[i].abs() <= limits[i] * (1.0 + 1e-12));
            assert!((tau[i] - held[i] - control.scale() * asked[i]).abs() < 1e-9);
        }
        assert!(
            (0..n).any(|i| (tau[i].abs() - limits[i]).abs() < 1e-9),
            "one joint is at its limit"
        );
        // Damping that is limited still only damps.
        let mut damping = RateDamping::new(&arm, 50.0).unwrap();
        let control = Controlled::new(&arm, damping.clone()).limits(&vec![200.0; n]).unwrap();
        let energies = watch(&arm, control, 500, |moving, _| damping.lyapunov(moving));
        assert!(energies.windows(2).all(|w| w[1] < w[0]), "{}", arm.name());
    }
}

#[test]
fn gravity_is_held() {
    for arm in arms() {
        let q = start(&arm).q;
        let control = Controlled::new(&arm, RateDamping::new(&arm, 1.0).unwrap());
        let mut equations = Dynamics::with(&arm, control, PassiveForces::none(&arm));
        let mut state = State::at_rest(&arm, &q);
        for _ in 0..200 {
            RungeKutta4::new(&arm).step(&mut equations, &mut state, H).unwrap();
        }
        assert!(
            state.q.iter().zip(&q).all(|(a, b)| (a - b).abs() < 1e-9),
            "{}",
            arm.name()
        );
    }
}

#[test]
fn computed_torque_makes_every_joint_a_damped_oscillator() {
    for arm in arms() {
        let n = arm.nv();
        let target = vec![0.2; n];
        let control = ComputedTorque::new(&arm, &target, &vec![25.0; n], &vec![10.0; n]).unwrap();
        let control = Controlled::new(&arm, control).limits(&vec![f64::INFINITY; n]).unwrap();
        let mut equations = Dynamics::with(&arm, control, PassiveForces::none(&arm));
        let mut state = start(&arm);
        let (e0, v0): (Vec<f64>, Vec<f64>) = (state.q.iter().map(|q| q - 0.2).collect(), state.v.clone());
        let mut integrator = RungeKutta4::new(&arm);
        for _ in 0..500 {
            integrator.step(&mut equations, &mut state, H).unwrap();
        }
        for i in 0..n {
            let expect = 0.2 + (e0[i] + (v0[i] + 5.0 * e0[i]) * 0.5) * (-2.5_f64).exp();
            assert!(
                (state.q[i] - expect).abs() < 1e-6,
                "{} {i}: {} {expect}",
                arm.name(),
                state.q[i]
            );
        }
    }
}

#[test]
fn gains_and_limits_that_make_no_sense_are_refused() {
    let arm = examples::puma560();
    let n = arm.nv();
    let refused = |result: Result<()>, words: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(RateDamping::new(&arm, 0.0).map(drop), "c has a 0; it must be positive");
    refused(RateDamping::with(&arm, &[1.0]).map(drop), "c has 1 numbers but needs 6");
    let (tip, target) = task(&arm);
    refused(
        PoseControl::new(&arm, tip, target, &vec![1.0; n], f64::NAN).map(drop),
        "c2",
    );
    refused(
        JointPd::new(&arm, &[0.0; 2], &vec![1.0; n], &vec![1.0; n]).map(drop),
        "2",
    );
    let damping = RateDamping::new(&arm, 1.0).unwrap();
    refused(
        Controlled::new(&arm, damping).limits(&vec![-1.0; n]).map(drop),
        "limits",
    );
}
