//! One thread's share of a batch: groups of states in lanes. What is computed for them is a [`Kernel`]: a quantity by its sweeps, or
//! a compiled expression.

use super::lanes::{Intake, Lost, clear, in_groups, narrow, part, widen};
use super::sweep_engine::Real;
use super::threads::{Failures, Team};
use crate::Result;
use crate::model::Mechanism;
use crate::simd::Lanes;
use crate::workspace::Workspace;

/// A family of what can be asked of states.
pub trait Asks: 'static {
    /// One of them.
    type Asked<'a>: Copy + Sync + core::fmt::Debug;
}

/// What is asked, and of which states.
#[derive(Debug)]
pub struct Job<'q, 'a, T, A: Asks> {
    pub(crate) asked: A::Asked<'q>,
    pub(crate) states: usize,
    /// Numbers of the result, per state.
    pub(crate) size: usize,
    pub(crate) q: &'a [T],
    /// The first of the vectors that the kernel takes; the others are zero.
    pub(crate) vectors: &'a [&'a [T]],
}

impl<T, A: Asks> Job<'_, '_, T, A> {
    /// Whether results are written past the caches.
    pub(super) fn is_large(&self) -> bool {
        let state = self.size * size_of::<T>();
        state >= LARGE_STATE && self.states * state >= LARGE
    }
}

/// From how many bytes on the results of a call would not stay in the caches: writing them past these is then up to twice as
/// fast, and for half as many it is slower.
const LARGE: usize = 24 << 20;

/// How many of them a state must have: only lines of the cache that belong to one state can be written so.
const LARGE_STATE: usize = 1 << 10;

/// One thread's memory.
pub trait Engine<T, A: Asks>: Send {
    /// Computes the states from `first` on that have room in `out`.
    fn run(&mut self, job: &Job<'_, '_, T, A>, first: usize, out: &mut [T]) -> Failures;
}

impl<E: Send + ?Sized> Team<Box<E>> {
    /// Computes all states of a job; `make` makes what a thread needs, where there is one after that one.
    pub(crate) fn run_job<T: Real, A: Asks>(
        &mut self,
        job: &Job<'_, '_, T, A>,
        out: &mut [T],
        make: impl Fn(Option<&Box<E>>) -> Result<Box<E>>,
    ) -> Result<()>
    where
        E: Engine<T, A>,
    {
        self.run(job.states, [job.size], [out], make, |engine, first, [out]| {
            engine.run(job, first, out)
        })
    }
}

/// What is computed for states in lanes.
pub(crate) trait Kernel<S: Lanes>: Send {
    /// What can be asked of it.
    type Asks: Asks;

    /// Gets ready for the states of a job: makes room in `states.out`, and sets vectors that are not given to zero.
    fn prepare(&mut self, job: &Job<'_, '_, S::Element, Self::Asks>, states: &mut States<S>);

    /// What is wrong with a vector of one state.
    fn check<T: Real>(
        &self,
        mechanism: &Mechanism,
        asked: <Self::Asks as Asks>::Asked<'_>,
        vector: usize,
        x: &[T],
    ) -> Result<()>;

    /// Computes what is asked, with so many vectors given, for the states that stand in the lanes; notes which of them cannot be
    /// computed.
    fn compute(
        &mut self,
        asked: <Self::Asks as Asks>::Asked<'_>,
        given: usize,
        states: &mut States<S>,
        lost: &mut Lost,
    );

    /// Lanes into states.
    #[inline(always)]
    fn give(&self, job: &Job<'_, '_, S::Element, Self::Asks>, states: &States<S>, out: &mut [S::Element]) {
        S::store(&states.out[..job.size], out, job.size);
    }
}

/// As many states as a register has lanes, and what is computed for them.
pub(crate) struct States<S: 'static> {
    pub(crate) workspace: Workspace<S>,
    pub(crate) q: Vec<S>,
    /// The vectors that the kernel takes.
    pub(crate) vectors: Vec<Vec<S>>,
    pub(crate) out: Vec<S>,
}

impl<S: Lanes> States<S> {
    /// What is wrong with the arguments of one state.
    fn problem<T: Real, K: Kernel<S>>(&self, kernel: &K, job: &Job<'_, '_, T, K::Asks>, state: usize) -> Result<()> {
        let mechanism = self.workspace.mechanism();
        mechanism.check_configuration("q", part(job.q, self.q.len(), state, 1))?;
        for (i, (x, lanes)) in job.vectors.iter().zip(&self.vectors).enumerate() {
            kernel.check(mechanism, job.asked, i, part(x, lanes.len(), state, 1))?;
        }
        Ok(())
    }
}

/// Memory for as many states as a register has lanes.
pub(crate) struct InLanes<S: 'static, K> {
    pub(crate) states: States<S>,
    pub(crate) kernel: K,
}

impl<S: Lanes, K: Kernel<S>> InLanes<S, K> {
    /// For a kernel that takes vectors of these sizes.
    pub(crate) fn new(mechanism: &Mechanism, sizes: impl IntoIterator<Item = usize>, kernel: K) -> Self {
        Self {
            states: States {
                workspace: mechanism.workspace_of(),
                q: vec![S::ZERO; mechanism.nq()],
                vectors: sizes.into_iter().map(|n| vec![S::ZERO; n]).collect(),
                out: Vec::new(),
            },
            kernel,
        }
    }
}

impl<T: Real, S: Lanes<Element = T>, K: Kernel<S>> Engine<T, K::Asks> for InLanes<S, K> {
    fn run(&mut self, job: &Job<'_, '_, T, K::Asks>, first: usize, out: &mut [T]) -> Failures {
        if job.size == 0 {
            return Failures::default();
        }
        self.kernel.prepare(job, &mut self.states);
        let states = out.len() / job.size;
        in_groups(S::LANES, first, states, [job.size], [out], |first, [out], failures| {
            self.group(job, first, out, failures);
        })
    }
}

impl<T: Real, S: Lanes<Element = T>, K: Kernel<S>> InLanes<S, K> {
    /// As many states as there are lanes, or fewer at the end: the last one then stands in the lanes left over. A sound one
    /// takes the lane of one that cannot be computed.
    fn group(&mut self, job: &Job<'_, '_, T, K::Asks>, first: usize, out: &mut [T], failures: &mut Failures) {
        let Self { states, kernel } = self;
        let count = out.len() / job.size;
        let mut sound = false;
        states.workspace.instructions().perform::<S, _>(Intake {
            states: first..first + count,
            given: (job.q, job.vectors),
            lanes: (&mut states.q, &mut states.vectors),
            mechanism: states.workspace.mechanism(),
            sound: &mut sound,
        });
        let mut lost = Lost::none(count);
        if !sound {
            lost.find(0, |lane| states.problem(kernel, job, first + lane));
            lost.stand_in(states.workspace.mechanism(), &mut states.q, |lane| {
                states.vectors.iter_mut().for_each(|x| clear(x, lane));
            });
        }
        kernel.compute(job.asked, job.vectors.len(), states, &mut lost);
        kernel.give(job, states, out);
        lost.tell(first, 1, [job.size], [out], failures);
    }
}

/// One state at a time in `f64`, rounded: for mechanisms and processors that lanes do not serve.
pub(crate) struct Through64<K> {
    pub(crate) inner: InLanes<f64, K>,
    /// q, the vectors and the result of one state.
    q: Vec<f64>,
    vectors: Vec<Vec<f64>>,
    out: Vec<f64>,
}

impl<K: Kernel<f64>> Through64<K> {
    pub(crate) fn new(inner: InLanes<f64, K>) -> Self {
        Self {
            q: inner.states.q.clone(),
            vectors: inner.states.vectors.clone(),
            out: Vec::new(),
            inner,
        }
    }
}

impl<K: Kernel<f64>> Engine<f32, K::Asks> for Through64<K> {
    fn run(&mut self, job: &Job<'_, '_, f32, K::Asks>, first: usize, out: &mut [f32]) -> Failures {
        let mut failures = Failures::default();
        self.out.resize(job.size, 0.0);
        for (state, out) in (first..).zip(out.chunks_mut(job.size.max(1))) {
            let InLanes { states, kernel } = &self.inner;
            if let Err(problem) = states.problem(kernel, job, state) {
                out.fill(f32::NAN);
                failures.add(state, problem);
                continue;
            }
            widen(&mut self.q, part(job.q, states.q.len(), state, 1));
            for ((wide, lanes), x) in self.vectors.iter_mut().zip(&states.vectors).zip(job.vectors) {
                widen(wide, part(x, lanes.len(), state, 1));
            }
            let vectors: Vec<&[f64]> = self.vectors[..job.vectors.len()].iter().map(|x| &x[..]).collect();
            let one = Job {
                asked: job.asked,
                states: 1,
                size: job.size,
                q: &self.q,
                vectors: &vectors,
            };
            if let Some((_, problem)) = self.inner.run(&one, 0, &mut self.out).first {
                failures.add(state, problem);
            }
            narrow(out, &self.out);
        }
        failures
    }
}
