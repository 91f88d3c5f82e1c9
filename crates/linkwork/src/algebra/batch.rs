//! Compiled expressions for many states at once, in lanes and on threads.

use super::algorithm::Algorithm;
use super::dense_inverses::Inverter;
use super::evaluator::{Evaluator, finite, missing};
use super::expression::Expression;
use crate::batch::Real;
use crate::batch::engine::{Asks, Engine, InLanes, Job, Kernel, States, Through64};
use crate::batch::lanes::Lost;
use crate::batch::threads::{Team, check_states, count_states};
use crate::model::{FrameId, Mechanism};
use crate::scalar::Scalar;
use crate::simd::Lanes;
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
use crate::simd::{F32x8, F64x4, Instructions};
use crate::spatial::Reference;
use crate::{Error, Result};

/// A compiled expression on a mechanism, for many states in one call: several in the lanes of a register, blocks of them on
/// several threads. Every state gets the bits that [`Evaluator`] would give it alone.
///
/// Arguments and results are state after state. q̇ is bound by name like every other vector. A state that cannot be computed
/// does not spoil the others: its results are NaN, and the error names it.
///
/// ```
/// use linkwork::algebra::{BatchEvaluator, Expression};
/// let arm = linkwork::model::examples::puma560();
/// let expression: Expression = "inv(Mass) (T - C)".parse()?;
/// let mut forward = BatchEvaluator::<f64>::new(&expression, &arm, &[], &[])?;
/// let states = 1000;
/// let q: Vec<f64> = (0..states).flat_map(|i| arm.random(i)).collect();
/// let (qd, tau, mut qdd) = (vec![0.1; 6000], vec![1.0; 6000], vec![0.0; 6000]);
/// forward.evaluate(&q, &[("qd", &qd), ("T", &tau)], &mut qdd)?;
/// # Ok::<(), linkwork::Error>(())
/// ```
pub struct BatchEvaluator<T: Evaluates = f64> {
    /// For what is asked of no state.
    one: Evaluator,
    team: Team<Box<dyn Engine<T, Expressions>>>,
}

impl<T: Evaluates> BatchEvaluator<T> {
    /// Compiles an expression for a mechanism, as [`Evaluator::new`] does, with as many threads as the processor runs at once.
    pub fn new(
        expression: &Expression,
        mechanism: &Mechanism,
        frames: &[(FrameId, Reference)],
        given: &[&str],
    ) -> Result<Self> {
        let one = Evaluator::new(expression, mechanism, frames, given)?;
        let team = Team::new(rayon::current_num_threads());
        Ok(Self { one, team })
    }

    /// The same with another number of threads; at least one.
    pub fn with_threads(mut self, threads: usize) -> Result<Self> {
        self.team = self.team.with_threads(threads);
        Ok(self)
    }

    /// What it runs.
    pub fn algorithm(&self) -> &Algorithm {
        self.one.algorithm()
    }

    /// How many numbers the result has, per state.
    pub fn len(&self) -> usize {
        self.one.len()
    }

    /// Whether the result has no numbers, as in joint space of a mechanism that cannot move.
    pub fn is_empty(&self) -> bool {
        self.one.is_empty()
    }

    /// Runs it for every state. `given` binds the vectors by name, q̇ as `qd`; an operator acts on `x`.
    pub fn evaluate(&mut self, q: &[T], given: &[(&str, &[T])], out: &mut [T]) -> Result<()> {
        let (one, nq, size) = (&self.one, self.one.mechanism.nq(), self.one.len());
        one.check_names(given.iter().map(|(name, _)| *name))?;
        let states = count_states([q.len(), nq], [out.len(), size]);
        check_states("q", q.len(), nq, states)?;
        check_states("out", out.len(), size, states)?;
        let mut vectors = Vec::new();
        for (vector, _) in &one.algorithm().program.inputs {
            let x = given.iter().find(|(name, _)| **name == *vector.name);
            let (_, x) = x.ok_or_else(|| missing(vector))?;
            let each = one.size(vector.space);
            if x.len() != each * states {
                return Err(Error::Binding {
                    name: vector.name.to_string(),
                    problem: format!(
                        "{} needs {each} numbers for each of {states} states, not {} in all",
                        vector.space,
                        x.len()
                    ),
                });
            }
            vectors.push(*x);
        }
        let job = Job {
            asked: (),
            states,
            size,
            q,
            vectors: &vectors,
        };
        self.team.run_job(&job, out, |_| T::evaluates(one))
    }
}

impl<T: Evaluates> core::fmt::Debug for BatchEvaluator<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BatchEvaluator")
            .field("mechanism", &self.one.mechanism.name())
            .field("expression", &self.algorithm().expression().to_string())
            .field("threads", &self.team.threads())
            .finish_non_exhaustive()
    }
}

/// Nothing is left to ask: an engine has its expression.
#[derive(Debug)]
pub struct Expressions;

impl Asks for Expressions {
    type Asked<'a> = ();
}

/// A plain number that expressions run on in batches: `f64` or `f32`.
pub trait Evaluates: Real {
    /// Memory for one thread, with the lanes that the processor has.
    #[doc(hidden)]
    fn evaluates(one: &Evaluator) -> Result<Box<dyn Engine<Self, Expressions>>>;
}

impl Evaluates for f64 {
    fn evaluates(one: &Evaluator) -> Result<Box<dyn Engine<Self, Expressions>>> {
        #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
        if has_lanes(one) {
            return Ok(Box::new(in_lanes::<F64x4>(one)?));
        }
        Ok(Box::new(in_lanes::<Self>(one)?))
    }
}

impl Evaluates for f32 {
    fn evaluates(one: &Evaluator) -> Result<Box<dyn Engine<Self, Expressions>>> {
        #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
        if has_lanes(one) {
            return Ok(Box::new(in_lanes::<F32x8>(one)?));
        }
        Ok(Box::new(Through64::new(in_lanes(one)?)))
    }
}

/// Whether several states go at once. An interpreter of every step for every width of register takes long to compile: there is one
/// for the width that most processors have.
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
fn has_lanes(one: &Evaluator) -> bool {
    !one.mechanism.is_coupled() && !one.runs_alone() && Instructions::detect().avx2()
}

/// As many states as a register has lanes, with the vectors in the order of the program.
fn in_lanes<S: Lanes<Element: Real>>(one: &Evaluator) -> Result<InLanes<S, Running<S>>> {
    let (mechanism, algorithm) = (&one.mechanism, one.algorithm());
    let evaluator = Evaluator::of(algorithm.clone(), mechanism, &one.frames, one.closed.as_ref())?;
    let inputs = algorithm.program.inputs.iter();
    let sizes: Vec<_> = inputs.map(|(v, _)| evaluator.size(v.space)).collect();
    let kernel = Running {
        evaluator,
        lane: Vec::new(),
        inverter: Inverter::default(),
    };
    Ok(InLanes::new(mechanism, sizes, kernel))
}

/// An expression over lanes.
struct Running<S: Lanes + 'static> {
    evaluator: Evaluator<S>,
    /// A matrix of one lane, and what its inverse needs.
    lane: Vec<S::Element>,
    inverter: Inverter<S::Element>,
}

impl<S: Lanes<Element: Real>> Kernel<S> for Running<S> {
    type Asks = Expressions;

    fn prepare(&mut self, job: &Job<'_, '_, S::Element, Expressions>, states: &mut States<S>) {
        states.out.resize(job.size, S::ZERO);
    }

    fn check<T: Real>(&self, _: &Mechanism, (): (), vector: usize, x: &[T]) -> Result<()> {
        finite(&self.evaluator.algorithm().program.inputs[vector].0.name, x)
    }

    fn compute(&mut self, (): (), _: usize, states: &mut States<S>, lost: &mut Lost) {
        if const { S::LANES == 1 } && (states.workspace.mechanism().is_coupled() || self.evaluator.is_solving()) {
            // Such states come one by one.
            let done = self.run_alone(states);
            lost.find(0, |_| done.clone());
        } else {
            self.run_lanes(states, lost);
        }
    }
}

impl<S: Lanes> Running<S> {
    /// Runs on what is loaded.
    fn run_lanes(&mut self, states: &mut States<S>, lost: &mut Lost) {
        for (i, x) in states.vectors.iter().enumerate() {
            let (space, slot) = {
                let (vector, slot) = &self.evaluator.algorithm().program.inputs[i];
                (vector.space, *slot)
            };
            self.evaluator.write(space, slot, x);
        }
        match states.workspace.at(&states.q) {
            Ok(mut posed) => {
                let (one, memory) = (&mut self.lane, &mut self.inverter);
                // Dense inverses lane by lane, each with pivots of its own.
                let solved = self.evaluator.solve_by(&mut posed, &mut |x, of, _| {
                    for lane in 0..S::LANES {
                        one.clear();
                        one.extend(x.iter().map(|x| x.element(lane)));
                        if let Err(problem) = of.invert(one, memory) {
                            lost.find(0, |l| if l == lane { Err(problem.clone()) } else { Ok(()) });
                            one.fill(S::Element::ZERO);
                        }
                        for (x, y) in x.iter_mut().zip(&*one) {
                            *x = S::from_lanes(|l| if l == lane { *y } else { x.element(l) });
                        }
                    }
                    Ok(())
                });
                if let Err(problem) = solved {
                    lost.find(0, |_| Err(problem.clone()));
                }
                self.evaluator.execute(&mut posed);
                if self.evaluator.algorithm().program.keeps.gains && !posed.is_sound() {
                    lost.find(0, |lane| posed.check_lane(lane));
                }
            }
            // Every lane is sound by now.
            Err(problem) => lost.find(0, |_| Err(problem.clone())),
        }
        self.evaluator.read(&mut states.out);
    }

    /// The same for one state, as [`Evaluator`] does it.
    fn run_alone(&mut self, states: &mut States<S>) -> Result<()> {
        let names = self.evaluator.algorithm().inputs();
        let given: Vec<(&str, &[S])> = names
            .iter()
            .zip(&states.vectors)
            .map(|((n, _), x)| (&n[..], &x[..]))
            .collect();
        let mut posed = states.workspace.at(&states.q)?;
        self.evaluator.run(&mut posed, false, &given, &mut states.out)
    }
}
