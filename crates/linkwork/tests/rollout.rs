//! Rollouts: many states forward in time, each as the simulator would take it.

mod support;

use linkwork::batch::{Rollout, RolloutMethod};
use linkwork::model::{Coupling, Joint, Link, examples};
use linkwork::simulate::{Dynamics, Integrator, PassiveForces, RungeKutta4, SemiImplicitEuler, State};
use linkwork::spatial::Inertia;
use linkwork::{Error, Mechanism};
use support::random::{Random, random_tree};

const STEPS: usize = 7;
const METHODS: [RolloutMethod; 2] = [RolloutMethod::SemiImplicitEuler, RolloutMethod::RungeKutta4];

struct Start {
    q: Vec<f64>,
    qd: Vec<f64>,
    tau: Vec<f64>,
}

fn start(mechanism: &Mechanism, states: usize) -> Start {
    let (mut q, mut qd, mut tau) = (vec![], vec![], vec![]);
    for seed in 0..states as u64 {
        let mut random = Random::new(seed);
        q.extend(mechanism.random(seed));
        qd.extend(random.numbers(mechanism.nv(), 1.0));
        tau.extend(random.numbers(mechanism.nv() * STEPS, 5.0));
    }
    Start { q, qd, tau }
}

fn rolled(mechanism: &Mechanism, rollout: Rollout, s: &Start, threads: usize) -> (Vec<f64>, Vec<f64>) {
    let states = s.qd.len() / mechanism.nv();
    let mut q = vec![0.0; states * rollout.steps * mechanism.nq()];
    let mut qd = vec![0.0; states * rollout.steps * mechanism.nv()];
    let tau = (!s.tau.is_empty()).then_some(&s.tau[..]);
    let mut batch = mechanism.batch().with_threads(threads);
    batch.rollout(rollout, &s.q, &s.qd, tau, &mut q, &mut qd).unwrap();
    (q, qd)
}

/// The same by the simulator, state by state.
fn simulated(mechanism: &Mechanism, rollout: Rollout, s: &Start) -> (Vec<f64>, Vec<f64>) {
    let (nq, nv) = (mechanism.nq(), mechanism.nv());
    let (mut q, mut qd) = (vec![], vec![]);
    for i in 0..s.qd.len() / nv {
        let mut state = State::at_rest(mechanism, &s.q[i * nq..][..nq]);
        state.v.copy_from_slice(&s.qd[i * nv..][..nv]);
        for step in 0..rollout.steps {
            let tau = s.tau.get((i * rollout.steps + step) * nv..).unwrap_or(&[]);
            let drive = |_: linkwork::simulate::Now<'_>, _: &mut linkwork::workspace::Moving<'_>, out: &mut [f64]| {
                out.iter_mut().zip(tau).for_each(|(out, x)| *out = *x);
                Ok(())
            };
            let mut equations = Dynamics::with(mechanism, drive, PassiveForces::none(mechanism));
            match rollout.method {
                RolloutMethod::SemiImplicitEuler => {
                    SemiImplicitEuler::new(mechanism).step(&mut equations, &mut state, rollout.dt)
                }
                RolloutMethod::RungeKutta4 => RungeKutta4::new(mechanism).step(&mut equations, &mut state, rollout.dt),
                other => panic!("step {other:?} here too"),
            }
            .unwrap();
            q.extend(&state.q);
            qd.extend(&state.v);
        }
    }
    (q, qd)
}

fn geared() -> Mechanism {
    let arm = examples::arm7();
    let [leader, follower] = [1, 3].map(|i| arm.joints()[i].name.clone());
    let gear = Coupling::gear(follower, leader, -1.5, 0.2);
    arm.to_builder().couple(gear).build().unwrap()
}

#[test]
fn every_state_goes_as_the_simulator_takes_it_to_the_last_bit() {
    let mut mechanisms = vec![examples::arm7(), examples::quadruped(), geared()];
    mechanisms.extend((0..10).map(|seed| random_tree(seed, 12)));
    for mechanism in mechanisms.iter().filter(|m| m.nv() > 0) {
        let mut given = start(mechanism, 19);
        for method in METHODS {
            let rollout = Rollout {
                method,
                dt: 1e-3,
                steps: STEPS,
            };
            let expected = simulated(mechanism, rollout, &given);
            for threads in [1, 2, 4] {
                assert_eq!(
                    rolled(mechanism, rollout, &given, threads),
                    expected,
                    "{}",
                    mechanism.name()
                );
            }
        }
        given.tau.clear();
        let rollout = Rollout {
            method: RolloutMethod::RungeKutta4,
            dt: 1e-3,
            steps: 3,
        };
        assert_eq!(
            rolled(mechanism, rollout, &given, 1),
            simulated(mechanism, rollout, &given)
        );
    }
}

#[test]
fn single_precision_follows_double() {
    let robot = examples::quadruped();
    let given = start(&robot, 21);
    let narrow = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<_>>();
    for method in METHODS {
        let rollout = Rollout {
            method,
            dt: 1e-3,
            steps: STEPS,
        };
        let (q, _) = rolled(&robot, rollout, &given, 1);
        let (mut q32, mut qd32) = (vec![0.0_f32; q.len()], vec![0.0_f32; given.tau.len()]);
        robot
            .batch_of::<f32>()
            .rollout(
                rollout,
                &narrow(&given.q),
                &narrow(&given.qd),
                Some(&narrow(&given.tau)),
                &mut q32,
                &mut qd32,
            )
            .unwrap();
        for (a, b) in q.iter().zip(&q32) {
            assert!((a - f64::from(*b)).abs() < 2e-4 * (1.0 + a.abs()), "{a} {b}");
        }
    }
}

#[test]
fn a_lost_state_does_not_spoil_its_neighbours() {
    let arm = examples::arm7();
    let mut given = start(&arm, 20);
    given.tau.clear();
    let rollout = Rollout {
        method: RolloutMethod::RungeKutta4,
        dt: 1e-2,
        steps: STEPS,
    };
    let (q_sound, qd_sound) = rolled(&arm, rollout, &given, 1);
    given.q[3 * 7] = f64::NAN;
    given.qd[11 * 7 + 2] = 1e40;
    let (mut q, mut qd) = (vec![0.0; q_sound.len()], vec![0.0; qd_sound.len()]);
    let mut batch = arm.batch().with_threads(2);
    let error = batch.rollout(rollout, &given.q, &given.qd, None, &mut q, &mut qd);
    let Err(Error::State { index, failed, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!((index, failed), (3, 2));
    let each = STEPS * 7;
    for state in 0..20 {
        let range = state * each..(state + 1) * each;
        if state == 3 || state == 11 {
            assert!(q[range.clone()].iter().all(|x| x.is_nan()));
            assert!(qd[range].iter().all(|x| x.is_nan()));
        } else {
            assert_eq!(q[range.clone()], q_sound[range.clone()]);
            assert_eq!(qd[range.clone()], qd_sound[range]);
        }
    }
}

#[test]
fn torques_that_are_no_numbers_are_named_and_cost_their_state_alone() {
    let arm = examples::arm7();
    let mut given = start(&arm, 20);
    for method in METHODS {
        let rollout = Rollout {
            method,
            dt: 1e-3,
            steps: STEPS,
        };
        given.tau = start(&arm, 20).tau;
        let (q_sound, qd_sound) = rolled(&arm, rollout, &given, 1);
        let each = STEPS * 7;
        given.tau[5 * each + 3 * 7 + 2] = f64::NAN;
        given.tau[12 * each + 6] = 1e70;
        given.tau[19 * each + 6 * 7] = f64::INFINITY;
        let (mut q, mut qd) = (vec![0.0; 20 * each], vec![0.0; 20 * each]);
        let error =
            arm.batch()
                .with_threads(1)
                .rollout(rollout, &given.q, &given.qd, Some(&given.tau), &mut q, &mut qd);
        let Err(Error::State {
            index: 5,
            failed: 3,
            problem,
            ..
        }) = error
        else {
            panic!("{error:?}")
        };
        assert!(problem.to_string().starts_with("tau[23] (joint"), "{problem}");
        for state in 0..20 {
            // From this step on it is lost.
            let step = match state {
                5 => 3,
                12 => 0,
                19 => 6,
                _ => STEPS,
            };
            let (start, lost, end) = (state * each, state * each + step * 7, (state + 1) * each);
            assert_eq!(q[start..lost], q_sound[start..lost]);
            assert_eq!(qd[start..lost], qd_sound[start..lost]);
            assert!(q[lost..end].iter().chain(&qd[lost..end]).all(|x| x.is_nan()));
        }
    }
}

/// The problem of the only state of a rollout.
fn problem_of(mechanism: &Mechanism, rollout: Rollout, q: &[f64], qd: &[f64]) -> String {
    let (mut q_out, mut qd_out) = (vec![0.0; rollout.steps * q.len()], vec![0.0; rollout.steps * qd.len()]);
    let mut batch = mechanism.batch();
    let error = batch.rollout(rollout, q, qd, None, &mut q_out, &mut qd_out);
    let Err(Error::State { problem, .. }) = error else {
        panic!("{error:?}")
    };
    assert!(q_out[q_out.len() - q.len()..].iter().all(|x| x.is_nan()));
    problem.to_string()
}

#[test]
fn steps_that_are_far_too_long_are_to_be_shortened() {
    for mechanism in [examples::arm7(), examples::quadruped(), geared()] {
        for (method, dt) in METHODS.into_iter().flat_map(|m| [(m, 1e300), (m, 1e30)]) {
            let (q, qd) = (mechanism.random(1), vec![0.3; mechanism.nv()]);
            let rollout = Rollout { method, dt, steps: 4 };
            let problem = problem_of(&mechanism, rollout, &q, &qd);
            assert!(problem.contains("take shorter steps"), "{method:?} {dt:e}: {problem}");
        }
    }
}

#[test]
fn a_coupling_that_is_left_says_so() {
    // Both end at y = 1, the second only in its curvature.
    let ends = |x: f64, y: f64| if y < 1.0 { x } else { f64::NAN };
    for coupling in [
        Coupling::function("b", "a", move |y| [ends(y, y), 1.0, 0.0]),
        Coupling::function("b", "a", move |y| [y, 1.0, ends(0.0, y)]),
    ] {
        let ball = |name: &str| Link::new(name, Inertia::sphere(1.0, 0.1));
        let mechanism = Mechanism::builder("linkage")
            .link(ball("first"))
            .link(ball("second"))
            .joint(Joint::prismatic("a", [1.0, 0.0, 0.0]).between("world", "first"))
            .joint(Joint::prismatic("b", [0.0, 1.0, 0.0]).between("world", "second"))
            .couple(coupling)
            .build()
            .unwrap();
        for method in METHODS {
            let rollout = Rollout {
                method,
                dt: 0.05,
                steps: 20,
            };
            let problem = problem_of(&mechanism, rollout, &[0.5], &[3.0]);
            assert!(
                problem.contains("its coupling has no value at"),
                "{method:?}: {problem}"
            );
        }
    }
}

#[test]
fn single_precision_has_bounds_of_its_own() {
    for mechanism in [examples::arm7(), geared()] {
        let (q, nv) = (mechanism.neutral(), mechanism.nv());
        let narrow: Vec<f32> = q.iter().map(|x| *x as f32).collect();
        for (qd, dt, word) in [(1e19, 1e-3, "qd[0]"), (1e11, 1e3, "take shorter steps")] {
            let rollout = Rollout {
                method: RolloutMethod::SemiImplicitEuler,
                dt,
                steps: 2,
            };
            let (mut q_out, mut qd_out) = (vec![0.0; 2 * q.len()], vec![0.0; 2 * nv]);
            let mut batch = mechanism.batch_of::<f32>();
            let error = batch.rollout(rollout, &narrow, &vec![qd; nv], None, &mut q_out, &mut qd_out);
            let text = error.unwrap_err().to_string();
            assert!(text.contains(word), "{text}");
            assert!(q_out.iter().chain(&qd_out).all(|x| x.is_nan()));
        }
    }
}

#[test]
fn arguments_of_the_wrong_length_are_named() {
    let arm = examples::arm7();
    let rollout = Rollout {
        method: RolloutMethod::SemiImplicitEuler,
        dt: 1e-3,
        steps: 2,
    };
    let mut batch = arm.batch();
    let (q, mut out) = ([0.0; 14], [0.0; 28]);
    let mut short = [0.0; 27];
    let error = batch.rollout(rollout, &q, &q, None, &mut short, &mut out).unwrap_err();
    assert!(error.to_string().contains("q_out"), "{error}");
    let error = batch
        .rollout(rollout, &q, &q, Some(&[0.0; 7]), &mut out.clone(), &mut out)
        .unwrap_err();
    assert!(error.to_string().contains("tau"), "{error}");
    let endless = Rollout {
        dt: f64::INFINITY,
        ..rollout
    };
    let error = batch
        .rollout(endless, &q, &q, None, &mut out.clone(), &mut out)
        .unwrap_err();
    assert!(error.to_string().contains("dt"), "{error}");
}

#[test]
fn steps_that_no_memory_holds_and_times_that_do_not_pass_are_refused() {
    let robot = examples::double_pendulum();
    let usual = Rollout {
        method: RolloutMethod::SemiImplicitEuler,
        dt: 1e-3,
        steps: 1,
    };
    for steps in [1 << 63, 1 << 62, usize::MAX, usize::MAX / 2 + 1] {
        let endless = Rollout { steps, ..usual };
        for tau in [None, Some(&[][..])] {
            let error = robot
                .batch()
                .rollout(endless, &[0.0; 2], &[0.0; 2], tau, &mut [], &mut []);
            assert!(matches!(error, Err(Error::Length { given: 0, .. })), "{error:?}");
        }
        robot
            .batch()
            .rollout(endless, &[], &[], None, &mut [], &mut [])
            .unwrap();
    }
    for dt in [0.0, -1e-3, f64::NAN, f64::NEG_INFINITY] {
        let still = Rollout { dt, ..usual };
        let (mut q, mut qd) = ([0.0; 2], [0.0; 2]);
        let error = robot
            .batch()
            .rollout(still, &[0.0; 2], &[0.0; 2], None, &mut q, &mut qd);
        assert!(
            matches!(error, Err(Error::Duration { argument: "dt", .. })),
            "{error:?}"
        );
    }
}
