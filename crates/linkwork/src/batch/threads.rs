//! How many states are shared out: threads take block after block of them, and there is one error for those that fail.

use crate::{Error, Result};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Memory for every thread, made when it is first needed.
#[derive(Debug)]
pub(crate) struct Team<E> {
    threads: usize,
    members: Vec<E>,
}

impl<E: Send> Team<E> {
    /// Of so many threads; at least one.
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads: threads.max(1),
            members: Vec::new(),
        }
    }

    /// The same with another number of threads.
    pub(crate) fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self.members.truncate(self.threads);
        self
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Forgets what was made.
    pub(crate) fn dismiss(&mut self) {
        self.members.clear();
    }

    /// Runs states, whose results have places in some arrays, each with its numbers per state: `run` is told the first state of
    /// a block, and gets the block's part of every array. `make` makes what a thread needs, where there is one after that one.
    /// The error names the first state that failed.
    pub(crate) fn run<T: Send, const N: usize>(
        &mut self,
        states: usize,
        sizes: [usize; N],
        outs: [&mut [T]; N],
        make: impl Fn(Option<&E>) -> Result<E>,
        run: impl Fn(&mut E, usize, [&mut [T]; N]) -> Failures + Sync,
    ) -> Result<()> {
        let used = self.threads.min(states.div_ceil(BLOCK)).max(1);
        while self.members.len() < used {
            let member = make(self.members.first())?;
            self.members.push(member);
        }
        let failures = match &mut self.members[..used] {
            [member] => run(member, 0, outs),
            members => {
                let block = states.div_ceil(members.len() * BLOCKS_EACH).next_multiple_of(BLOCK);
                let blocks = Blocks { outs, sizes, block };
                let left = Mutex::new(blocks.take(states.div_ceil(block)).enumerate());
                let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
                let work = |member: &mut E| {
                    let mut failures = Failures::default();
                    while let Some((i, outs)) = next() {
                        failures = failures.and(run(member, i * block, outs));
                    }
                    failures
                };
                members
                    .par_iter_mut()
                    .map(work)
                    .reduce(Failures::default, Failures::and)
            }
        };
        failures.into_result(states)
    }
}

/// Blocks are whole groups of lanes.
const BLOCK: usize = 16;

/// So many blocks for each thread: one that starts late, or is on a slower core, takes fewer.
const BLOCKS_EACH: usize = 8;

/// So many states after so many of some arrays, each with its numbers per state; without end.
pub(super) struct Blocks<'a, T, const N: usize> {
    pub(super) outs: [&'a mut [T]; N],
    pub(super) sizes: [usize; N],
    pub(super) block: usize,
}

impl<'a, T, const N: usize> Iterator for Blocks<'a, T, N> {
    type Item = [&'a mut [T]; N];

    fn next(&mut self) -> Option<Self::Item> {
        let outs = &mut self.outs;
        Some(core::array::from_fn(|i| {
            let rest = core::mem::take(&mut outs[i]);
            let (next, rest) = rest.split_at_mut(rest.len().min(self.block * self.sizes[i]));
            outs[i] = rest;
            next
        }))
    }
}

/// The states that could not be computed.
#[derive(Debug, Default)]
pub struct Failures {
    pub(crate) first: Option<(usize, Error)>,
    count: usize,
}

impl Failures {
    pub(crate) fn add(&mut self, index: usize, problem: Error) {
        self.count += 1;
        self.first.get_or_insert((index, problem));
    }

    /// An error if any state of so many failed.
    fn into_result(self, states: usize) -> Result<()> {
        match self.first {
            None => Ok(()),
            Some((index, problem)) => Err(Error::State {
                index,
                failed: self.count,
                states,
                problem: Box::new(problem),
            }),
        }
    }

    /// Those of two shares.
    fn and(self, other: Self) -> Self {
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

/// How many states there are: as many as q tells, or the results where a state has no coordinates.
pub(crate) fn count_states([q, nq]: [usize; 2], [out, size]: [usize; 2]) -> usize {
    match (nq, size) {
        (0, 0) => 0,
        (0, _) => out / size,
        _ => q / nq,
    }
}

/// An error unless an argument has so many numbers for each state.
pub(crate) fn check_states(argument: &'static str, given: usize, each: usize, states: usize) -> Result<()> {
    let needed = each.saturating_mul(states);
    if given == needed {
        Ok(())
    } else {
        Err(Error::Length {
            argument,
            needed,
            given,
        })
    }
}
