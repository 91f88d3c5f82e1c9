//! One thread's share of a batch: groups of states in lanes.

use super::check_states;
use super::quantity::Quantity;
use crate::model::Mechanism;
use crate::scalar::Scalar;
use crate::simd::Lanes;
#[cfg(target_arch = "x86_64")]
use crate::simd::{F32x8, F32x16, F64x4, F64x8, Instructions};
use crate::workspace::Workspace;
use crate::{Error, Result};

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
    q: &'a [T],
    qd: Option<&'a [T]>,
    input: Option<&'a [T]>,
}

impl<'a, T: Real> Job<'a, T> {
    /// Checks the arguments: q, then q̇ and another vector where they are needed.
    pub(super) fn new(
        mechanism: &Mechanism,
        quantity: Quantity<'a>,
        inputs: &[(&'static str, &'a [T])],
        out: usize,
    ) -> Result<Self> {
        let (nq, nv, size) = (mechanism.nq(), mechanism.nv(), quantity.size(mechanism));
        let q = inputs[0].1;
        // Where a state has no coordinates, the other arguments tell how many there are.
        let states = match (nq, size) {
            (0, 0) => 0,
            (0, _) => out / size,
            _ => q.len() / nq,
        };
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
        })
    }
}

/// The states that could not be computed.
#[derive(Debug, Default)]
pub struct Failures {
    pub(crate) first: Option<(usize, Error)>,
    pub(super) count: usize,
}

impl Failures {
    pub(crate) fn add(&mut self, index: usize, problem: Error) {
        self.count += 1;
        self.first.get_or_insert((index, problem));
    }

    /// Those of two shares.
    pub(super) fn and(self, other: Self) -> Self {
        let first = match (self.first, other.first) {
            (Some(a), Some(b)) => Some(if a.0 <= b.0 { a } else { b }),
            (a, b) => a.or(b),
        };
        Self {
            first,
            count: self.count + other.count,
        }
    }
}

/// One thread's memory.
pub trait Engine<T>: Send {
    /// Computes the states from `first` on that have room in `out`.
    fn run(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T]) -> Failures;
}

/// Chooses lanes by what the processor has.
pub trait Sealed: Sized {
    /// Memory for one thread.
    fn engine<'m>(mechanism: &'m Mechanism) -> Box<dyn Engine<Self> + 'm>;
}

macro_rules! engines {
    ($float:ty, $avx512:ty, $avx2:ty, alone $alone:ty) => {
        impl Sealed for $float {
            fn engine<'m>(mechanism: &'m Mechanism) -> Box<dyn Engine<Self> + 'm> {
                #[cfg(target_arch = "x86_64")]
                if !mechanism.is_coupled() {
                    let instructions = Instructions::detect();
                    if instructions.avx512() {
                        return Box::new(InLanes::<$avx512>::new(mechanism));
                    }
                    if instructions.avx2() {
                        return Box::new(InLanes::<$avx2>::new(mechanism));
                    }
                }
                Box::new(<$alone>::new(mechanism))
            }
        }
    };
}

engines!(f64, F64x8, F64x4, alone InLanes::<f64>);
engines!(f32, F32x16, F32x8, alone Through64);

/// One state at a time in `f64`, rounded: for mechanisms and processors that lanes do not serve.
struct Through64<'m> {
    inner: InLanes<'m, f64>,
    /// q, q̇ and another vector of one state.
    arguments: [Vec<f64>; 3],
    out: Vec<f64>,
}

impl<'m> Through64<'m> {
    fn new(mechanism: &'m Mechanism) -> Self {
        Self {
            inner: InLanes::new(mechanism),
            arguments: [mechanism.nq(), mechanism.nv(), mechanism.nv()].map(|n| vec![0.0; n]),
            out: Vec::new(),
        }
    }
}

impl Engine<f32> for Through64<'_> {
    fn run(&mut self, job: &Job<'_, f32>, first: usize, out: &mut [f32]) -> Failures {
        let mut failures = Failures::default();
        self.out.resize(job.size, 0.0);
        for (i, out) in out.chunks_mut(job.size.max(1)).enumerate() {
            let given = [Some(job.q), job.qd, job.input];
            for (wide, narrow) in self.arguments.iter_mut().zip(given) {
                let narrow = narrow.map_or(&[][..], |x| part(x, wide.len(), first + i, 1));
                wide.iter_mut()
                    .zip(narrow)
                    .for_each(|(wide, narrow)| *wide = f64::from(*narrow));
            }
            let [q, qd, input] = &self.arguments;
            let one = Job {
                quantity: job.quantity,
                states: 1,
                size: job.size,
                q: &q[..],
                qd: job.qd.map(|_| &qd[..]),
                input: job.input.map(|_| &input[..]),
            };
            if let Some((_, problem)) = self.inner.run(&one, 0, &mut self.out).first {
                failures.add(first + i, problem);
            }
            out.iter_mut()
                .zip(&self.out)
                .for_each(|(narrow, wide)| *narrow = *wide as f32);
        }
        failures
    }
}

/// Memory for as many states as a register has lanes.
struct InLanes<'m, S: 'static> {
    workspace: Workspace<'m, S>,
    q: Vec<S>,
    qd: Vec<S>,
    input: Vec<S>,
    out: Vec<S>,
}

impl<'m, S: Lanes> InLanes<'m, S> {
    fn new(mechanism: &'m Mechanism) -> Self {
        Self {
            workspace: mechanism.workspace_of(),
            q: vec![S::ZERO; mechanism.nq()],
            qd: vec![S::ZERO; mechanism.nv()],
            input: vec![S::ZERO; mechanism.nv()],
            out: Vec::new(),
        }
    }
}

impl<T: Real, S: Lanes<Element = T>> Engine<T> for InLanes<'_, S> {
    fn run(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T]) -> Failures {
        let mut failures = Failures::default();
        if job.size == 0 {
            return failures;
        }
        let room = job.quantity.room(self.workspace.mechanism());
        if self.out.len() < room {
            self.out.resize(room, S::ZERO);
        }
        for (i, out) in out.chunks_mut(S::LANES * job.size).enumerate() {
            self.group(job, first + i * S::LANES, out, &mut failures);
        }
        failures
    }
}

impl<T: Real, S: Lanes<Element = T>> InLanes<'_, S> {
    /// As many states as there are lanes, or fewer at the end: the last one then stands in the lanes left over.
    fn group(&mut self, job: &Job<'_, T>, first: usize, out: &mut [T], failures: &mut Failures) {
        let states = out.len() / job.size;
        let mechanism = self.workspace.mechanism();
        let (nq, nv) = (mechanism.nq(), mechanism.nv());
        let q = part(job.q, nq, first, states);
        let qd = job.qd.map(|x| part(x, nv, first, states));
        let input = job.input.map(|x| part(x, nv, first, states));
        let mut bad = [None; MOST_LANES].map(|_: Option<()>| None);
        if !(mechanism.sound_configurations(q) && sound(qd) && sound(input)) {
            for (state, bad) in bad.iter_mut().enumerate().take(states) {
                *bad = self.problem(job, first + state).err();
            }
        }
        load(Some(q), &mut self.q);
        load(qd, &mut self.qd);
        load(input, &mut self.input);
        for lane in (0..states).filter(|&lane| bad[lane].is_some()) {
            // Any sound state will do.
            replace(&mut self.q, lane, &mechanism.neutral());
            replace(&mut self.qd, lane, &[]);
            replace(&mut self.input, lane, &[]);
        }
        let mut view = self.workspace.view_at(&self.q, &self.qd);
        let room = &mut self.out[..job.quantity.room(mechanism)];
        if let Err(problem) = job.quantity.compute(&mut view, &self.input, room) {
            // Of the mechanism, not of a state: where it occurs, states are taken one by one.
            bad[0].get_or_insert(problem);
        }
        let results = &room[..job.size];
        if job.quantity.needs_pivots() && !view.pivots_are_sound() {
            for (lane, bad) in bad.iter_mut().enumerate().take(states) {
                if bad.is_none() {
                    *bad = view.check_pivots_of(lane).err();
                }
            }
        }
        S::store(results, out);
        for (lane, bad) in bad.into_iter().enumerate().take(states) {
            if let Some(problem) = bad {
                out[lane * job.size..(lane + 1) * job.size].fill(T::lift(f64::NAN));
                failures.add(first + lane, problem);
            }
        }
    }

    /// What is wrong with the arguments of one state.
    fn problem(&self, job: &Job<'_, T>, state: usize) -> Result<()> {
        let mechanism = self.workspace.mechanism();
        let nv = mechanism.nv();
        mechanism.check_configuration("q", part(job.q, mechanism.nq(), state, 1))?;
        if let Some(qd) = job.qd {
            mechanism.check_vector("qd", part(qd, nv, state, 1))?;
        }
        if let Some(input) = job.input {
            mechanism.check_vector(job.quantity.input(), part(input, nv, state, 1))?;
        }
        Ok(())
    }
}

/// The most lanes that any register has.
pub(crate) const MOST_LANES: usize = 16;

/// What belongs to some states.
pub(crate) fn part<T>(x: &[T], each: usize, first: usize, states: usize) -> &[T] {
    &x[first * each..(first + states) * each]
}

/// Whether all numbers can be computed with.
fn sound<T: Real>(x: Option<&[T]>) -> bool {
    x.is_none_or(crate::model::all_usable)
}

/// States after states into lanes; nothing becomes noughts.
pub(crate) fn load<S: Lanes>(x: Option<&[S::Element]>, lanes: &mut [S]) {
    match x {
        Some(x) if !lanes.is_empty() => S::load(x, lanes),
        _ => lanes.fill(S::ZERO),
    }
}

/// Sets one lane; to noughts beyond the numbers given.
pub(crate) fn replace<S: Lanes>(lanes: &mut [S], lane: usize, with: &[f64]) {
    for (i, x) in lanes.iter_mut().enumerate() {
        let new = S::Element::lift(with.get(i).copied().unwrap_or(0.0));
        let old = *x;
        *x = S::from_lanes(|l| if l == lane { new } else { old.element(l) });
    }
}
