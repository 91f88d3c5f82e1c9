//! One thread's share of a batch: groups of states in lanes.

use super::lanes::{Intake, Lost, clear, in_groups, narrow, part, widen};
use super::models::{Abreast, Alike};
use super::quantity::{Quantity, TABLES};
use super::rollout::{Course, Rolling};
use super::share::{Failures, Team, check_states, count_states};
use crate::Result;
use crate::model::Mechanism;
use crate::scalar::Scalar;
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
use crate::simd::{F32x8, F32x16, F64x4, F64x8, Instructions};
use crate::simd::{Lanes, Places};
use crate::workspace::Workspace;

/// A plain number that batches run on: `f64` or `f32`.
pub trait Real: Scalar + Sealed {}

impl Real for f64 {}
impl Real for f32 {}

/// What is asked, and of which states.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a, T> {
    pub(super) quantity: Quantity<'a>,
    pub(super) states: usize,
    /// Numbers of the result, per state.
    pub(super) size: usize,
    pub(super) q: &'a [T],
    pub(super) qd: Option<&'a [T]>,
    pub(super) input: Option<&'a [T]>,
    /// What an adjoint is applied to.
    x: Option<&'a [T]>,
}

impl<'a, T: Real> Job<'a, T> {
    /// Checks the arguments: q, then q̇ and one or two other vectors where they are needed.
    pub(super) fn new(
        mechanism: &Mechanism,
        quantity: Quantity<'a>,
        inputs: &[(&'static str, &'a [T])],
        out: usize,
    ) -> Result<Self> {
        let (nq, nv, size) = (mechanism.nq(), mechanism.nv(), quantity.size(mechanism));
        let q = inputs[0].1;
        let states = count_states([q.len(), nq], [out, size]);
        check_states("q", q.len(), nq, states)?;
        for &(argument, x) in &inputs[1..] {
            check_states(argument, x.len(), nv, states)?;
        }
        check_states("out", out, size, states)?;
        Ok(Self {
            quantity,
            states,
            size,
            q,
            qd: inputs.get(1).map(|x| x.1),
            input: inputs.get(2).map(|x| x.1),
            x: inputs.get(3).map(|x| x.1),
        })
    }
}

impl<T: Real> Job<'_, T> {
    /// What is wrong with the arguments of one state.
    pub(super) fn problem(&self, mechanism: &Mechanism, state: usize) -> Result<()> {
        let nv = mechanism.nv();
        mechanism.check_configuration("q", part(self.q, mechanism.nq(), state, 1))?;
        if let Some(qd) = self.qd {
            mechanism.check_vector("qd", part(qd, nv, state, 1))?;
        }
        if let Some(input) = self.input {
            mechanism.check_vector(self.quantity.input(), part(input, nv, state, 1))?;
        }
        if let Some(x) = self.x {
            mechanism.check_vector("x", part(x, nv, state, 1))?;
        }
        Ok(())
    }

    /// Whether results are written past the caches.
    fn is_large(&self) -> bool {
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
pub trait Engine<T>: Send {
    /// Computes the states from `first` on that have room in `out`.
    fn run(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T]) -> Failures;
    /// Rolls the states from `first` on that have room in the outputs, q and q̇.
    fn roll(&mut self, course: &Course<'_, T>, first: usize, outs: [&mut [T]; 2]) -> Failures;
    /// The same for another thread.
    fn another(&self) -> Box<dyn Engine<T>>;
}

impl<T: Real> Team<Box<dyn Engine<T>>> {
    /// Computes all states of a job; `make` makes the first engine.
    pub(super) fn run_job(
        &mut self,
        job: &Job<'_, T>,
        out: &mut [T],
        make: impl Fn() -> Box<dyn Engine<T>>,
    ) -> Result<()> {
        let make = |first: Option<&Box<dyn Engine<T>>>| Ok(first.map_or_else(&make, |first| first.another()));
        self.run(job.states, [job.size], [out], make, |engine, first, [out]| {
            engine.run(job, first, out)
        })
    }

    /// Rolls all states of a course.
    pub(super) fn roll(
        &mut self,
        course: &Course<'_, T>,
        outs: [&mut [T]; 2],
        make: impl Fn() -> Box<dyn Engine<T>>,
    ) -> Result<()> {
        let make = |first: Option<&Box<dyn Engine<T>>>| Ok(first.map_or_else(&make, |first| first.another()));
        let roll =
            |engine: &mut Box<dyn Engine<T>>, first: usize, outs: [&mut [T]; 2]| engine.roll(course, first, outs);
        match course.states * course.rollout.steps {
            0 => Ok(()),
            _ => self.run(course.states, course.sizes, outs, make, roll),
        }
    }
}

/// Chooses lanes by what the processor has.
pub trait Sealed: Sized {
    /// Memory for one thread.
    fn engine(mechanism: &Mechanism) -> Box<dyn Engine<Self>>;
    /// The same for many models.
    fn of_models(models: &Alike) -> Box<dyn Engine<Self>>;
}

macro_rules! engines {
    ($float:ty, $avx512:ty, $avx2:ty, alone $alone:ty) => {
        impl Sealed for $float {
            fn engine(mechanism: &Mechanism) -> Box<dyn Engine<Self>> {
                let alone = || Box::new(<$alone>::new(mechanism));
                #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
                if !mechanism.compiled.reduction.as_ref().is_some_and(|r| r.is_curved) {
                    let instructions = Instructions::detect();
                    let lanes: Box<dyn Engine<Self>> = if instructions.avx512() {
                        Box::new(InLanes::<$avx512>::new(mechanism))
                    } else if instructions.avx2() {
                        Box::new(InLanes::<$avx2>::new(mechanism))
                    } else {
                        return alone();
                    };
                    if !mechanism.compiled.refines && !mechanism.is_coupled() {
                        return lanes;
                    }
                    return Box::new(Either {
                        lanes,
                        alone: alone(),
                        mechanism: mechanism.clone(),
                    });
                }
                alone()
            }

            fn of_models(models: &Alike) -> Box<dyn Engine<Self>> {
                #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
                {
                    let instructions = Instructions::detect();
                    if instructions.avx512() {
                        return Box::new(Abreast::<$avx512>::new(models));
                    } else if instructions.avx2() {
                        return Box::new(Abreast::<$avx2>::new(models));
                    }
                }
                Box::new(Abreast::<$float>::new(models))
            }
        }
    };
}

engines!(f64, F64x8, F64x4, alone InLanes::<f64>);
engines!(f32, F32x16, F32x8, alone Through64);

/// Lanes, but for what these do not compute.
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
struct Either<T> {
    lanes: Box<dyn Engine<T>>,
    alone: Box<dyn Engine<T>>,
    mechanism: Mechanism,
}

#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
impl<T: 'static> Engine<T> for Either<T> {
    fn run(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T]) -> Failures {
        if job.quantity.is_alone(&self.mechanism) {
            self.alone.run(job, first, out)
        } else {
            self.lanes.run(job, first, out)
        }
    }

    fn roll(&mut self, course: &Course<'_, T>, first: usize, outs: [&mut [T]; 2]) -> Failures {
        if self.mechanism.compiled.refines {
            self.alone.roll(course, first, outs)
        } else {
            self.lanes.roll(course, first, outs)
        }
    }

    fn another(&self) -> Box<dyn Engine<T>> {
        Box::new(Self {
            lanes: self.lanes.another(),
            alone: self.alone.another(),
            mechanism: self.mechanism.clone(),
        })
    }
}

/// One state at a time in `f64`, rounded: for mechanisms and processors that lanes do not serve.
pub(super) struct Through64 {
    pub(super) inner: InLanes<f64>,
    /// q, q̇ and two other vectors of one state.
    arguments: [Vec<f64>; 4],
    out: Vec<f64>,
}

impl Through64 {
    fn new(mechanism: &Mechanism) -> Self {
        Self {
            inner: InLanes::new(mechanism),
            arguments: Default::default(),
            out: Vec::new(),
        }
    }
}

impl Engine<f32> for Through64 {
    fn run(&mut self, job: &Job<'_, f32>, first: usize, out: &mut [f32]) -> Failures {
        let mut failures = Failures::default();
        self.out.resize(job.size, 0.0);
        for (state, out) in (first..).zip(out.chunks_mut(job.size.max(1))) {
            if let Err(problem) = job.problem(self.inner.workspace.mechanism(), state) {
                out.fill(f32::NAN);
                failures.add(state, problem);
                continue;
            }
            let (nq, nv) = (self.inner.q.len(), self.inner.qd.len());
            let given = [(Some(job.q), nq), (job.qd, nv), (job.input, nv), (job.x, nv)];
            for (wide, (given, each)) in self.arguments.iter_mut().zip(given) {
                widen(wide, given.map_or(&[][..], |x| part(x, each, state, 1)));
            }
            let [q, qd, input, x] = &self.arguments;
            let one = Job {
                quantity: job.quantity,
                states: 1,
                size: job.size,
                q: &q[..],
                qd: job.qd.map(|_| &qd[..]),
                input: job.input.map(|_| &input[..]),
                x: job.x.map(|_| &x[..]),
            };
            if let Some((_, problem)) = self.inner.run(&one, 0, &mut self.out).first {
                failures.add(state, problem);
            }
            narrow(out, &self.out);
        }
        failures
    }

    fn roll(&mut self, course: &Course<'_, f32>, first: usize, outs: [&mut [f32]; 2]) -> Failures {
        self.roll_one_by_one(course, first, outs)
    }

    fn another(&self) -> Box<dyn Engine<f32>> {
        Box::new(Self::new(self.inner.workspace.mechanism()))
    }
}

/// Memory for as many states as a register has lanes.
pub(super) struct InLanes<S: 'static> {
    pub(super) workspace: Workspace<S>,
    pub(super) q: Vec<S>,
    pub(super) qd: Vec<S>,
    pub(super) input: Vec<S>,
    x: Vec<S>,
    out: Vec<S>,
    /// How many of these are computed.
    room: usize,
    /// Where the numbers of some quantities come from in `out`, once they are asked for.
    sources: [Places; TABLES],
    pub(super) rolling: Option<Rolling<S>>,
}

impl<S: Lanes> InLanes<S> {
    fn new(mechanism: &Mechanism) -> Self {
        Self {
            workspace: mechanism.workspace_of(),
            q: vec![S::ZERO; mechanism.nq()],
            qd: vec![S::ZERO; mechanism.nv()],
            input: vec![S::ZERO; mechanism.nv()],
            x: vec![S::ZERO; mechanism.nv()],
            out: Vec::new(),
            room: 0,
            sources: Default::default(),
            rolling: None,
        }
    }
}

impl<T: Real, S: Lanes<Element = T>> Engine<T> for InLanes<S> {
    fn run(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T]) -> Failures {
        if job.size == 0 {
            return Failures::default();
        }
        let mechanism = self.workspace.mechanism();
        let room = job.quantity.room::<S>(mechanism);
        if self.out.len() <= room {
            self.out.resize(room + 1, S::ZERO);
        }
        self.out[room] = S::ZERO;
        self.room = room;
        if let Some(table) = job.quantity.table::<S>()
            && self.sources[table].is_empty()
        {
            self.sources[table] = job.quantity.sources(mechanism).into();
        }
        // What is not given is zero.
        for (given, lanes) in [(job.qd, &mut self.qd), (job.input, &mut self.input)] {
            if given.is_none() {
                lanes.fill(S::ZERO);
            }
        }
        if S::LANES > 1 && job.qd.is_none() {
            self.workspace.set_velocity(&self.qd);
        }
        let states = out.len() / job.size;
        in_groups(S::LANES, first, states, [job.size], [out], |first, [out], failures| {
            self.group(job, first, out, failures);
        })
    }

    fn roll(&mut self, course: &Course<'_, T>, first: usize, outs: [&mut [T]; 2]) -> Failures {
        self.roll_all(course, first, outs)
    }

    fn another(&self) -> Box<dyn Engine<T>> {
        Box::new(Self::new(self.workspace.mechanism()))
    }
}

impl<T: Real, S: Lanes<Element = T>> InLanes<S> {
    /// As many states as there are lanes, or fewer at the end: the last one then stands in the lanes left over.
    fn group(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T], failures: &mut Failures) {
        let states = out.len() / job.size;
        let mechanism = self.workspace.mechanism();
        let (nq, nv) = (mechanism.nq(), mechanism.nv());
        let mut sound = false;
        self.workspace.instructions().perform::<S, _>(Intake {
            given: [
                Some(part(job.q, nq, first, states)),
                job.qd.map(|x| part(x, nv, first, states)),
                job.input.map(|x| part(x, nv, first, states)),
                job.x.map(|x| part(x, nv, first, states)),
            ],
            lanes: [&mut self.q, &mut self.qd, &mut self.input, &mut self.x],
            mechanism,
            sound: &mut sound,
        });
        if sound {
            // Where states come one by one, velocities go with each.
            let mut view = match job.qd {
                None if S::LANES > 1 => self.workspace.view_with(&self.q),
                _ => self.workspace.view_at(&self.q, &self.qd),
            };
            let room = &mut self.out[..self.room];
            let done = job.quantity.compute(&mut view, &self.input, &self.x, room);
            if done.is_ok() && (!job.quantity.needs_pivots() || view.pivots_are_sound()) {
                return self.give(job, out);
            }
        }
        self.mixed_group(job, first, out, failures);
    }

    /// Lanes into states.
    fn give(&self, job: &Job<'_, T>, out: &mut [T]) {
        let from = job.quantity.table::<S>().map(|table| &self.sources[table]);
        let lanes = &self.out[..=self.room];
        match from {
            _ if job.is_large() => S::stream(lanes, from, job.size, out, job.size),
            None => S::store(&lanes[..job.size], out, job.size),
            Some(from) => S::spread(lanes, from, out, job.size),
        }
    }

    /// The same where a state cannot be computed: some sound one takes its lane.
    #[cold]
    fn mixed_group(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T], failures: &mut Failures) {
        let states = out.len() / job.size;
        let mechanism = self.workspace.mechanism();
        let mut lost = Lost::new(states, |lane| job.problem(mechanism, first + lane));
        lost.stand_in(mechanism, &mut self.q, |lane| {
            for x in [&mut self.qd, &mut self.input, &mut self.x] {
                clear(x, lane);
            }
        });
        let mut view = self.workspace.view_at(&self.q, &self.qd);
        let room = &mut self.out[..self.room];
        if let Err(problem) = job.quantity.compute(&mut view, &self.input, &self.x, room) {
            // Of the mechanism, not of a state: where it occurs, states are taken one by one.
            lost.find(0, |_| Err(problem.clone()));
        }
        if job.quantity.needs_pivots() {
            lost.find(0, |lane| view.check_pivots_of(lane));
        }
        self.give(job, out);
        lost.tell(first, 1, [job.size], [out], failures);
    }
}
