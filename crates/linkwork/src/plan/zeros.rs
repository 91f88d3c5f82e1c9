//! Where 𝓜 is not zero: between a degree of freedom and those that it carries.

use crate::body::{Body, Layout};
use crate::scalar::{Scalar, put};
use core::ops::Range;

/// Places in 𝓜, row by row, where it is zero whatever the state: four at once, which may overlap, and single ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zeros {
    pub(crate) fours: Vec<u32>,
    pub(crate) ones: Vec<u32>,
}

impl Zeros {
    pub(crate) fn of(layout: &Layout) -> Self {
        let mut zeros = Self::default();
        for range in zero_ranges(layout) {
            if range.len() < 4 {
                zeros.ones.extend(range.map(|at| at as u32));
            } else {
                let last = range.end - 4;
                let fours = (range.start..last).step_by(4).chain([last]);
                zeros.fours.extend(fours.map(|at| at as u32));
            }
        }
        zeros
    }
    /// Writes them.
    #[inline(always)]
    pub(crate) fn write<S: Scalar>(&self, out: &mut [S]) {
        for &at in &self.fours {
            put([S::ZERO; 4], &mut out[at as usize..]);
        }
        for &at in &self.ones {
            out[at as usize] = S::ZERO;
        }
    }
}

/// Where those are.
pub(crate) fn zero_ranges(layout: &Layout) -> Vec<Range<usize>> {
    let n = layout.dof.len();
    let mut related = vec![false; n * n];
    for (c, &row) in layout.dof.iter().enumerate() {
        for &column in &layout.dof[c..layout.end_at[c]] {
            related[row * n + column] = true;
            related[column * n + row] = true;
        }
    }
    let (mut ranges, mut at) = (Vec::new(), 0);
    while at < related.len() {
        let end = related[at..]
            .iter()
            .position(|&is| is)
            .map_or(related.len(), |i| at + i);
        if end > at {
            ranges.push(at..end);
        }
        at = end + 1;
    }
    ranges
}

/// How many columns go to the base together, at most.
pub(crate) const GROUP: usize = 3;

/// Whether the column of the link before k, and its only one, joins those that have come from k to some link: it hangs on
/// that link, or is that link, which they pass first.
#[inline(always)]
pub(crate) fn joins(bodies: &[Body], k: usize, at: Option<usize>) -> bool {
    let Some(at) = at else { return false };
    let next = &bodies[k - 1];
    bodies[k].dofs == 1 && next.dofs == 1 && (at == k - 1 || next.parent == Some(at))
}

/// Whether a link's column waits for that of the link visited next: its parent, or another child of the same. Both have one.
#[inline(always)]
pub(crate) fn waits_for_next(bodies: &[Body], k: usize) -> bool {
    joins(bodies, k, bodies[k].parent)
}

/// The rows and columns of the elements of 𝓜 that are not zero, in the order in which lanes compute them: those of
/// single joints, and then what columns give on their way to the base, a few of them together where they [join](joins).
pub(crate) fn path_order(bodies: &[Body], layout: &Layout) -> Vec<[usize; 2]> {
    let own = |k: usize| layout.start[k]..layout.start[k] + bodies[k].dofs;
    let mut pairs = Vec::new();
    for k in (0..bodies.len()).rev() {
        for column in own(k) {
            pairs.extend((own(k).start..=column).map(|row| [row, column]));
        }
    }
    let mut go = |columns: &[usize], mut from: Option<usize>, until: Option<usize>| {
        while from != until
            && let Some(j) = from
        {
            for &column in columns {
                pairs.extend(own(j).map(|row| [row, column]));
            }
            from = bodies[j].parent;
        }
    };
    let mut k = bodies.len();
    while k > 0 {
        k -= 1;
        for column in own(k).skip(1) {
            go(&[column], bodies[k].parent, None);
        }
        let (mut columns, mut at) = (vec![own(k).start], bodies[k].parent);
        while columns.len() < GROUP && joins(bodies, k, at) {
            k -= 1;
            go(&columns, at, bodies[k].parent);
            columns.push(own(k).start);
            at = bodies[k].parent;
        }
        go(&columns, at, None);
    }
    pairs
}
