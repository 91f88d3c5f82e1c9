//! Whole runs: the steps, samples and ends of `simulate::Run`.

use linkwork::model::examples;
use linkwork::simulate::{Dynamics, Ended, Integrator, Listener, Method, Run, RungeKutta4, State, Tolerance};

/// Keeps everything, and stops after so many steps.
#[derive(Default)]
struct Keeper {
    samples: Vec<State>,
    stretches: Vec<[f64; 2]>,
    last: Option<u64>,
}

impl Listener for Keeper {
    fn sample(&mut self, state: &State) {
        self.samples.push(state.clone());
    }

    fn goes_on(&mut self, _: &State, steps: u64) -> bool {
        self.last.is_none_or(|last| steps < last)
    }

    fn stretch(&mut self, from: f64, until: f64) {
        self.stretches.push([from, until]);
    }
}

fn go(run: &Run, t: f64) -> (Keeper, linkwork::simulate::RunOutcome) {
    let robot = examples::double_pendulum();
    let mut keeper = Keeper::default();
    let mut start = State::at_rest(&robot, &[0.7, -0.3]);
    start.t = t;
    let outcome = run.go(&mut Dynamics::new(&robot, ()).unwrap(), start, &mut keeper);
    (keeper, outcome)
}

#[test]
fn equal_steps_are_those_of_the_integrator_to_the_bit() {
    let (keeper, outcome) = go(&Run::new(Method::RungeKutta4, 0.5).step(1e-2).samples(20.0), 0.0);
    assert!(matches!(outcome.ended, Ended::Finished));
    assert_eq!((outcome.steps, keeper.samples.len()), (50, 11));
    let robot = examples::double_pendulum();
    let (mut equations, mut integrator) = (Dynamics::new(&robot, ()).unwrap(), RungeKutta4::new(&robot));
    let mut state = State::at_rest(&robot, &[0.7, -0.3]);
    for _ in 0..50 {
        integrator.step(&mut equations, &mut state, 1e-2).unwrap();
    }
    assert_eq!((&outcome.state.q, &outcome.state.v), (&state.q, &state.v));
    for (i, sample) in keeper.samples.iter().enumerate() {
        assert_eq!(sample.t, 5.0 * i as f64 / 100.0);
    }
}

#[test]
fn steps_end_where_something_changes() {
    for method in Method::ALL {
        let run = Run::new(method, 0.1).step(1e-2).changes(vec![0.0425, 0.025]);
        let (keeper, outcome) = go(&run, 0.0);
        assert!(
            matches!(outcome.ended, Ended::Finished) && outcome.state.t == 0.1,
            "{}",
            method.words()
        );
        for change in [0.025, 0.0425] {
            let inside = |[from, until]: &[f64; 2]| *from < change && change < *until;
            assert!(!keeper.stretches.iter().any(inside), "{}", method.words());
        }
    }
}

#[test]
fn methods_agree_and_samples_are_at_the_rate_asked_for_from_any_beginning() {
    let exact = Tolerance {
        relative: 1e-12,
        absolute: 1e-13,
    };
    let (kept, whole) = go(
        &Run::new(Method::DormandPrince, 1.0).tolerance(exact).samples(10.0),
        0.0,
    );
    assert_eq!(kept.samples.len(), 11);
    for method in [Method::RungeKutta4, Method::ImplicitMidpoint] {
        let (_, other) = go(&Run::new(method, 1.0).step(1e-4), 0.0);
        // The midpoint rule is of order two.
        let apart = (other.state.q[0] - whole.state.q[0]).abs();
        assert!(apart < 1e-6, "{}: {apart:e}", method.words());
    }
    for method in [Method::RungeKutta4, Method::DormandPrince] {
        let (late, outcome) = go(&Run::new(method, 4.0).samples(10.0), 3.0);
        assert_eq!((late.samples.len(), outcome.state.t), (11, 4.0), "{}", method.words());
        assert!((outcome.state.q[0] - whole.state.q[0]).abs() < 1e-6);
        assert!((late.samples[5].t - 3.5).abs() < 1e-12);
    }
}

#[test]
fn a_run_ends_early_with_what_it_has() {
    let robot = examples::double_pendulum();
    let start = State::at_rest(&robot, &[0.7, -0.3]);
    let mut keeper = Keeper {
        last: Some(7),
        ..Keeper::default()
    };
    let run = Run::new(Method::SemiImplicitEuler, 1.0);
    let outcome = run.go(&mut Dynamics::new(&robot, ()).unwrap(), start, &mut keeper);
    assert!(matches!(outcome.ended, Ended::Stopped) && outcome.steps == 7);
    for (run, name) in [
        (run.clone().step(f64::NAN), "dt"),
        (run.clone().samples(0.0), "rate"),
        (
            Run {
                end: f64::INFINITY,
                ..run
            },
            "end",
        ),
    ] {
        let (keeper, outcome) = go(&run, 0.0);
        assert!(keeper.samples.is_empty());
        match outcome.ended {
            Ended::Failed(error) => assert!(error.to_string().starts_with(name), "{error}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}
