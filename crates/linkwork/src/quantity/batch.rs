//! Quantities of many states.

use super::{Evaluation, Given, Input, Quantity, lanes};
use crate::Result;
use crate::batch::lanes::{Lost, in_groups};
use crate::batch::threads::{Team, check_states, count_states};
use crate::batch::{Batch, Real};
use crate::closed::ClosedMechanism;
use crate::model::Mechanism;
use core::ops::Range;

/// All memory for evaluating any quantity of many states: several to a register where the library has a sweep for that, one
/// by one elsewhere, and on all threads.
///
/// ```
/// use linkwork::quantity::{BatchEvaluation, Given, Quantity};
/// let arm = linkwork::model::examples::arm7();
/// let mut batch = BatchEvaluation::<f64>::new(&arm);
/// let q = vec![0.3; 7 * 1000];
/// let given = Given { q: &q, ..Given::default() };
/// let mut out = vec![0.0; 1000];
/// batch.evaluate(Quantity::find("log_det_mass")?, &given, &mut out)?;
/// assert!(out.iter().all(|x| *x == out[0]));
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct BatchEvaluation<T: Real = f64> {
    batch: Batch<T>,
    /// For what has no lanes: what each thread begins with.
    one: Alone,
    team: Team<Alone>,
}

#[derive(Clone, Debug)]
struct Alone {
    evaluation: Evaluation,
    numbers: [Vec<f64>; 6],
    out: Vec<f64>,
}

/// The inputs that are made of numbers.
const NUMBERS: [Input; 6] = [Input::Q, Input::Qd, Input::Qdd, Input::Tau, Input::X, Input::Change];

impl<T: Real> BatchEvaluation<T> {
    /// For a mechanism; its quantities of closed loops are refused.
    pub fn new(mechanism: &Mechanism) -> Self {
        Self::with(mechanism, Evaluation::new(mechanism))
    }

    /// For a mechanism whose loops are closed; quantities of the tree are there too.
    pub fn of_closed(closed: &ClosedMechanism) -> Self {
        Self::with(closed.mechanism(), Evaluation::of_closed(closed))
    }

    fn with(mechanism: &Mechanism, evaluation: Evaluation) -> Self {
        let alone = Alone {
            evaluation,
            numbers: Default::default(),
            out: Vec::new(),
        };
        Self {
            batch: mechanism.batch_of(),
            one: alone,
            team: Team::new(rayon::current_num_threads()),
        }
    }

    /// The same with another number of threads; at least one.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.batch = self.batch.with_threads(threads);
        self.team = self.team.with_threads(threads);
        self
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        self.batch.mechanism()
    }

    /// The dimensions of a quantity for one state.
    pub fn dimensions(&self, quantity: &Quantity, given: &Given<'_, T>) -> Result<Vec<usize>> {
        self.one.evaluation.dimensions(quantity, given)
    }

    /// Writes a quantity of every state to `out`, state after state. States that fail are NaN there, and the error names the
    /// first of them.
    pub fn evaluate(&mut self, quantity: &Quantity, given: &Given<'_, T>, out: &mut [T]) -> Result<()> {
        let size: usize = self.dimensions(quantity, given)?.iter().product();
        let states = self.check(quantity, given, size, out.len())?;
        if let Some(done) = self.in_lanes(quantity, given, out) {
            return done;
        }
        let one = &self.one;
        let make = |_: Option<&Alone>| Ok(one.clone());
        self.team.run(states, [size], [out], make, |alone, first, [out]| {
            let states = out.len().checked_div(size).unwrap_or(0);
            in_groups(1, first, states, [size], [out], |state, [out], failures| {
                let done = alone.evaluate(quantity, given, state, out);
                Lost::new(1, |_| done.clone()).tell(state, 1, [size], [out], failures);
            })
        })
    }

    /// How many states are given; an error unless all inputs agree on that.
    fn check(&self, quantity: &Quantity, given: &Given<'_, T>, size: usize, out: usize) -> Result<usize> {
        let mechanism = self.mechanism();
        let states = count_states([given.q.len(), mechanism.nq()], [out, size]);
        for input in quantity.inputs {
            if let Some(each) = input.len(mechanism) {
                check_states(input.name(), given.numbers(*input).len(), each, states)?;
            }
        }
        check_states("out", out, size, states)?;
        Ok(states)
    }

    /// By a sweep over several states at once, if there is one.
    fn in_lanes(&mut self, quantity: &Quantity, given: &Given<'_, T>, out: &mut [T]) -> Option<Result<()>> {
        let run = lanes::in_lanes(quantity.name)?;
        Some(run(&mut self.batch, given, out))
    }
}

impl Alone {
    /// One state of many.
    fn evaluate<T: Real>(
        &mut self,
        quantity: &Quantity,
        given: &Given<'_, T>,
        state: usize,
        out: &mut [T],
    ) -> Result<()> {
        let mechanism = self.evaluation.mechanism();
        for (input, numbers) in NUMBERS.into_iter().zip(&mut self.numbers) {
            numbers.clear();
            if quantity.takes(input) {
                let n = input.len(mechanism).unwrap_or(0);
                numbers.extend(
                    given.numbers(input)[n * state..n * (state + 1)]
                        .iter()
                        .map(|x| x.lane(0)),
                );
            }
        }
        let [q, qd, qdd, tau, x, change] = &self.numbers;
        let one = Given {
            q,
            qd,
            qdd,
            tau,
            x,
            change,
            frame: given.frame,
            reference: given.reference,
            joint: given.joint,
        };
        self.out.resize(out.len(), 0.0);
        self.evaluation.evaluate(quantity, &one, &mut self.out)?;
        out.iter_mut().zip(&self.out).for_each(|(out, x)| *out = T::lift(*x));
        Ok(())
    }
}

impl<'a, T> Given<'a, T> {
    /// Some of many states.
    pub(super) fn of_states(&self, states: Range<usize>, nq: usize, nv: usize) -> Self {
        let part = |all: &'a [T], n: usize| all.get(states.start * n..states.end * n).unwrap_or(&[]);
        Self {
            q: part(self.q, nq),
            qd: part(self.qd, nv),
            qdd: part(self.qdd, nv),
            tau: part(self.tau, nv),
            x: part(self.x, nv),
            change: part(self.change, 3 * nv),
            ..*self
        }
    }
}
