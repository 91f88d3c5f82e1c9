//! Rollouts: many states forward in time, each as the simulator would take it.

mod support;

use linkwork::batch::{Method, Rollout};
use linkwork::model::{Coupling, examples};
use linkwork::simulate::{Integrator, Resistance, RungeKutta4, SemiImplicitEuler, Standard, State};
use linkwork::{Error, Mechanism};
use support::random::{Random, random_tree};

const STEPS: usize = 7;
const METHODS: [Method; 2] = [Method::SemiImplicitEuler, Method::RungeKutta4];

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
            let drive =
                |_: linkwork::simulate::Now<'_>, _: &mut linkwork::workspace::Moving<'_, '_>, out: &mut [f64]| {
                    out.iter_mut().zip(tau).for_each(|(out, x)| *out = *x);
                    Ok(())
                };
            let mut equations = Standard::with(mechanism, drive, Resistance::none(mechanism));
            match rollout.method {
                Method::SemiImplicitEuler => {
                    SemiImplicitEuler::new(mechanism).step(&mut equations, &mut state, rollout.dt)
                }
                Method::RungeKutta4 => RungeKutta4::new(mechanism).step(&mut equations, &mut state, rollout.dt),
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
            method: Method::RungeKutta4,
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
        method: Method::RungeKutta4,
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
fn arguments_of_the_wrong_length_are_named() {
    let arm = examples::arm7();
    let rollout = Rollout {
        method: Method::SemiImplicitEuler,
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
