//! States in lanes: how they get there, who stands in for those that cannot be computed, and how that is told.

use super::threads::{Blocks, Failures};
use crate::Error;
use crate::model::{Mechanism, surely_usable};
use crate::scalar::Scalar;
use crate::simd::{Lanes, Task};
use core::ops::Range;

/// The most lanes that any register has.
pub(crate) const MOST_LANES: usize = 16;

/// What belongs to some states.
pub(crate) fn part<T>(x: &[T], each: usize, first: usize, states: usize) -> &[T] {
    &x[first * each..(first + states) * each]
}

/// Runs as many states at a time as there are lanes, or fewer at the end: `run` is told the first state of a group, and gets
/// the group's part of every array of results.
pub(crate) fn in_groups<T, const N: usize>(
    lanes: usize,
    first: usize,
    states: usize,
    sizes: [usize; N],
    outs: [&mut [T]; N],
    mut run: impl FnMut(usize, [&mut [T]; N], &mut Failures),
) -> Failures {
    let mut failures = Failures::default();
    let groups = Blocks {
        outs,
        sizes,
        block: lanes,
    };
    for (i, outs) in groups.take(states.div_ceil(lanes)).enumerate() {
        run(first + i * lanes, outs, &mut failures);
    }
    failures
}

/// The states of a group that cannot be computed: in which step they failed, and why. Nothing is kept while there are none.
pub(crate) struct Lost {
    states: usize,
    problems: Option<Box<Problems>>,
}

/// Per lane.
type Problems = [Option<(usize, Error)>; MOST_LANES];

impl Lost {
    /// Every state can be computed so far.
    #[inline(always)]
    pub(crate) fn none(states: usize) -> Self {
        Self { states, problems: None }
    }

    /// What is wrong with each of some states before the first step.
    pub(crate) fn new(states: usize, problem: impl Fn(usize) -> crate::Result<()>) -> Self {
        let mut lost = Self::none(states);
        lost.find(0, problem);
        lost
    }

    /// Notes what is wrong with states that were sound so far.
    pub(crate) fn find(&mut self, step: usize, problem: impl Fn(usize) -> crate::Result<()>) {
        for lane in 0..self.states {
            let is_lost = self.problems.as_ref().is_some_and(|lost| lost[lane].is_some());
            if !is_lost && let Err(problem) = problem(lane) {
                let lost = self
                    .problems
                    .get_or_insert_with(|| Box::new([const { None }; MOST_LANES]));
                lost[lane] = Some((step, problem));
            }
        }
    }

    /// A sound configuration in the place of every lost one; `others` clears that lane of all else. In the lanes left over
    /// stands the last state.
    #[inline(always)]
    pub(crate) fn stand_in<S: Lanes>(&self, mechanism: &Mechanism, q: &mut [S], mut others: impl FnMut(usize)) {
        let Some(lost) = &self.problems else { return };
        for lane in 0..S::LANES {
            if lost[lane.min(self.states - 1)].is_some() {
                replace(q, lane, &mechanism.neutral());
                others(lane);
            }
        }
    }

    /// NaN from the step on in which a state failed, in arrays with so many numbers for each of some steps.
    #[inline(always)]
    pub(crate) fn tell<T: Scalar, const N: usize>(
        self,
        first: usize,
        steps: usize,
        each: [usize; N],
        outs: [&mut [T]; N],
        failures: &mut Failures,
    ) {
        let Some(problems) = self.problems else { return };
        for (lane, lost) in problems.into_iter().enumerate() {
            let Some((step, problem)) = lost else { continue };
            for i in 0..N {
                outs[i][(lane * steps + step) * each[i]..(lane + 1) * steps * each[i]].fill(T::lift(f64::NAN));
            }
            failures.add(first + lane, problem);
        }
    }
}

/// Takes states into lanes, and finds out whether all of them can surely be computed with.
pub(super) struct Intake<'a, S: Lanes> {
    /// Which.
    pub(super) states: Range<usize>,
    /// q and other vectors, state after state; what is not given is zero already, or not read.
    pub(super) given: (&'a [S::Element], &'a [&'a [S::Element]]),
    pub(super) lanes: (&'a mut [S], &'a mut [Vec<S>]),
    pub(super) mechanism: &'a Mechanism,
    pub(super) sound: &'a mut bool,
}

impl<S: Lanes> Task for Intake<'_, S> {
    #[inline(always)]
    fn run(self) {
        let (first, states) = (self.states.start, self.states.len());
        let (q, lanes) = (self.given.0, self.lanes.0);
        load(Some(part(q, lanes.len(), first, states)), lanes);
        let mut sound = self.mechanism.surely_sound(lanes);
        // Functions that couple joints may have no value: such mechanisms are taken one state at a time.
        let coupled = S::LANES > 1 || self.mechanism.check_couplings(lanes).is_ok();
        for (x, lanes) in self.given.1.iter().zip(self.lanes.1) {
            load(Some(part(x, lanes.len(), first, states)), lanes);
            sound = sound * surely_usable(lanes);
        }
        *self.sound = coupled && sound == S::ONE;
    }
}

/// States after states into lanes.
#[inline(always)]
pub(crate) fn load<S: Lanes>(x: Option<&[S::Element]>, lanes: &mut [S]) {
    if let Some(x) = x
        && !lanes.is_empty()
    {
        S::load(x, lanes.len(), lanes);
    }
}

/// Sets one lane to zeros.
pub(crate) fn clear<S: Lanes>(lanes: &mut [S], lane: usize) {
    replace(lanes, lane, &[]);
}

/// Sets one lane; to zeros beyond the numbers given.
fn replace<S: Lanes>(lanes: &mut [S], lane: usize, with: &[f64]) {
    for (i, x) in lanes.iter_mut().enumerate() {
        let new = S::Element::lift(with.get(i).copied().unwrap_or(0.0));
        let old = *x;
        *x = S::from_lanes(|l| if l == lane { new } else { old.element(l) });
    }
}

/// Wider numbers, for what is computed in these.
pub(crate) fn widen(wide: &mut Vec<f64>, narrow: &[f32]) {
    wide.clear();
    wide.extend(narrow.iter().map(|x| f64::from(*x)));
}

/// Rounds them.
pub(crate) fn narrow(narrow: &mut [f32], wide: &[f64]) {
    for (narrow, wide) in narrow.iter_mut().zip(wide) {
        *narrow = *wide as f32;
    }
}
