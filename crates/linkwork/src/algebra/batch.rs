//! Compiled expressions for many states at once, in lanes and on threads.

use super::algorithm::Algorithm;
use super::dense_inverses::Inverter;
use super::evaluator::{Evaluator, finite, missing};
use super::expression::Expression;
use crate::batch::Real;
use crate::batch::lanes::{Lost, clear, in_groups, load, narrow, part, widen};
use crate::batch::share::{Failures, Team, check_states, count_states};
use crate::model::{FrameId, Mechanism};
use crate::simd::Lanes;
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
use crate::simd::{F32x8, F64x4, Instructions};
use crate::spatial::Reference;
use crate::workspace::Workspace;
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
    team: Team<Box<dyn Engine<T>>>,
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
        let mut inputs = Vec::new();
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
            inputs.push((each, *x));
        }
        let job = Job {
            q,
            inputs: &inputs,
            size,
        };
        let make = |_: Option<&_>| T::evaluates(one);
        self.team.run(states, [size], [out], make, |engine, first, [out]| {
            engine.run(&job, first, out)
        })
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

/// What is asked of which states: q, and the vectors in the order of the program, each with its numbers per state.
#[derive(Debug)]
pub struct Job<'a, T> {
    q: &'a [T],
    inputs: &'a [(usize, &'a [T])],
    size: usize,
}

/// One thread's memory.
pub trait Engine<T>: Send {
    /// Computes the states from `first` on that have room in `out`.
    fn run(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T]) -> Failures;
}

/// A plain number that expressions run on in batches: `f64` or `f32`.
pub trait Evaluates: Real {
    /// Memory for one thread, with the lanes that the processor has.
    #[doc(hidden)]
    fn evaluates(one: &Evaluator) -> Result<Box<dyn Engine<Self>>>;
}

/// An interpreter of every step for every width of register takes long to compile: the width that most processors have.
macro_rules! engines {
    ($float:ty, $avx2:ty, alone $alone:ident) => {
        impl Evaluates for $float {
            fn evaluates(one: &Evaluator) -> Result<Box<dyn Engine<Self>>> {
                #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
                if !one.mechanism.is_coupled() && !one.runs_alone() && Instructions::detect().avx2() {
                    return Ok(Box::new(InLanes::<$avx2>::new(one)?));
                }
                Ok(Box::new($alone::new(one)?))
            }
        }
    };
}

/// One state at a time.
type Alone = InLanes<f64>;

engines!(f64, F64x4, alone Alone);
engines!(f32, F32x8, alone Through64);

/// As many states as a register has lanes.
struct InLanes<S: Lanes + 'static> {
    workspace: Workspace<S>,
    evaluator: Evaluator<S>,
    q: Vec<S>,
    /// The vectors, in the order of the program.
    inputs: Vec<Vec<S>>,
    out: Vec<S>,
    /// A matrix of one lane, and what its inverse needs.
    lane: Vec<S::Element>,
    inverter: Inverter<S::Element>,
}

impl<S: Lanes> InLanes<S> {
    fn new(one: &Evaluator) -> Result<Self> {
        let (mechanism, algorithm) = (&one.mechanism, one.algorithm());
        let evaluator = Evaluator::of(algorithm.clone(), mechanism, &one.frames, one.closed.as_ref())?;
        let inputs = algorithm.program.inputs.iter();
        Ok(Self {
            workspace: mechanism.workspace_of(),
            q: vec![S::ZERO; mechanism.nq()],
            inputs: inputs.map(|(v, _)| vec![S::ZERO; evaluator.size(v.space)]).collect(),
            out: vec![S::ZERO; evaluator.len()],
            lane: Vec::new(),
            inverter: Inverter::default(),
            evaluator,
        })
    }
}

impl<T: Real, S: Lanes<Element = T>> Engine<T> for InLanes<S> {
    fn run(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T]) -> Failures {
        let states = out.len().checked_div(job.size).unwrap_or(0);
        in_groups(S::LANES, first, states, [job.size], [out], |first, [out], failures| {
            self.group(job, first, out, failures);
        })
    }
}

impl<T: Real, S: Lanes<Element = T>> InLanes<S> {
    /// As many states as there are lanes, or fewer at the end: the last one then stands in the lanes left over.
    fn group(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T], failures: &mut Failures) {
        let states = out.len() / job.size;
        let mechanism = self.workspace.mechanism();
        let q = part(job.q, mechanism.nq(), first, states);
        let inputs = job.inputs.iter().map(|(each, x)| part(x, *each, first, states));
        let mut lost = Lost::new(states, |lane| self.problem(job, first + lane));
        load(Some(q), &mut self.q);
        for (lanes, x) in self.inputs.iter_mut().zip(inputs) {
            load(Some(x), lanes);
        }
        lost.stand_in(mechanism, &mut self.q, |lane| {
            self.inputs.iter_mut().for_each(|x| clear(x, lane));
        });
        if const { S::LANES == 1 } && (mechanism.is_coupled() || self.evaluator.is_solving()) {
            // Such states come one by one.
            let done = self.run_alone();
            lost.find(0, |_| done.clone());
        } else {
            self.run_lanes(&mut lost);
        }
        S::store(&self.out, out, job.size);
        lost.tell(first, 1, [job.size], [out], failures);
    }

    /// Runs on what is loaded.
    fn run_lanes(&mut self, lost: &mut Lost) {
        for (i, x) in self.inputs.iter().enumerate() {
            let (space, slot) = {
                let (vector, slot) = &self.evaluator.algorithm().program.inputs[i];
                (vector.space, *slot)
            };
            self.evaluator.write(space, slot, x);
        }
        match self.workspace.at(&self.q) {
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
        self.evaluator.read(&mut self.out);
    }

    /// The same for one state, as [`Evaluator`] does it.
    fn run_alone(&mut self) -> Result<()> {
        let names = self.evaluator.algorithm().inputs();
        let given: Vec<(&str, &[S])> = names
            .iter()
            .zip(&self.inputs)
            .map(|((n, _), x)| (&n[..], &x[..]))
            .collect();
        let mut posed = self.workspace.at(&self.q)?;
        self.evaluator.run(&mut posed, false, &given, &mut self.out)
    }

    /// What is wrong with the arguments of one state.
    fn problem(&self, job: &Job<'_, T>, state: usize) -> Result<()> {
        let mechanism = self.workspace.mechanism();
        mechanism.check_configuration("q", part(job.q, mechanism.nq(), state, 1))?;
        for ((vector, _), (each, x)) in self.evaluator.algorithm().program.inputs.iter().zip(job.inputs) {
            finite(&vector.name, part(x, *each, state, 1))?;
        }
        Ok(())
    }
}

/// One state at a time in `f64`, rounded: for mechanisms and processors that lanes do not serve.
struct Through64 {
    inner: Alone,
    q: Vec<f64>,
    inputs: Vec<Vec<f64>>,
    out: Vec<f64>,
}

impl Through64 {
    fn new(one: &Evaluator) -> Result<Self> {
        let inner = Alone::new(one)?;
        Ok(Self {
            q: inner.q.clone(),
            inputs: inner.inputs.clone(),
            out: inner.out.clone(),
            inner,
        })
    }
}

impl Engine<f32> for Through64 {
    fn run(&mut self, job: &Job<'_, f32>, first: usize, out: &mut [f32]) -> Failures {
        let mut failures = Failures::default();
        for (i, out) in out.chunks_mut(job.size.max(1)).enumerate() {
            let nq = self.inner.q.len();
            widen(&mut self.q, part(job.q, nq, first + i, 1));
            for (wide, (each, x)) in self.inputs.iter_mut().zip(job.inputs) {
                widen(wide, part(x, *each, first + i, 1));
            }
            let inputs: Vec<(usize, &[f64])> = self.inputs.iter().map(|x| (x.len(), &x[..])).collect();
            let one = Job {
                q: &self.q[..],
                inputs: &inputs,
                size: job.size,
            };
            if let Some((_, problem)) = self.inner.run(&one, 0, &mut self.out).first {
                failures.add(first + i, problem);
            }
            narrow(out, &self.out);
        }
        failures
    }
}
