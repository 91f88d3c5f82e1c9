//! Where 𝓜 is not zero: between a degree of freedom and those that it carries.

use super::{Body, Layout, Mechanism, Reduction};
use crate::scalar::{Scalar, put};
use core::ops::Range;

impl Mechanism {
    /// The rows and columns of the elements of 𝓜 that are not zero, one of each symmetric pair, in the order of
    /// [`crate::batch::Batch::mass_matrix_entries`]: what never changes with the configuration, for sparse matrices.
    ///
    /// Two degrees of freedom meet in 𝓜 if one carries the other: a floating robot with long legs and arms has far fewer
    /// such pairs than elements. Pairs stand row by row, in the order in which an outward sweep meets the joints; each row
    /// begins with its diagonal element and goes on with all that its joint carries. Where users' joints are in that order
    /// too, as in most robot files, these are the rows of the upper triangle.
    ///
    /// ```
    /// let arm = linkwork::model::examples::arm7();
    /// let pattern = arm.mass_pattern();
    /// let mut entries = vec![0.0; pattern.len()];
    /// arm.batch().mass_matrix_entries(&arm.neutral(), &mut entries)?;
    /// let mut mass = [[0.0; 7]; 7];
    /// for (&(row, column), &x) in pattern.iter().zip(&entries) {
    ///     mass[row][column] = x;
    ///     mass[column][row] = x;
    /// }
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn mass_pattern(&self) -> Vec<(usize, usize)> {
        match &self.compiled.reduction {
            None => self.tree_pattern().collect(),
            Some(r) => self.coupled_pattern(r).to_vec(),
        }
    }

    /// How many elements that is.
    pub(crate) fn mass_pattern_length(&self) -> usize {
        match &self.compiled.reduction {
            None => self.compiled.columns.rows[self.compiled.nv],
            Some(r) => self.coupled_pattern(r).len(),
        }
    }

    /// Pairs of degrees of freedom of all joints.
    fn tree_pattern(&self) -> impl Iterator<Item = (usize, usize)> {
        let layout = &self.compiled.columns.single;
        let row = move |c: usize| (c..layout.end_at[c]).map(move |other| (layout.dof[c], layout.dof[other]));
        (0..layout.dof.len()).flat_map(row)
    }

    /// Where joints follow others: row by row of the upper triangle.
    pub(crate) fn coupled_pattern<'r>(&self, r: &'r Reduction) -> &'r [(usize, usize)] {
        r.mass_pattern.get_or_init(|| {
            let led = |(a, b): (usize, usize)| (r.v_from[a], r.v_from[b]);
            let mut pairs: Vec<_> = self
                .tree_pattern()
                .map(led)
                .map(|(a, b)| (a.min(b), a.max(b)))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        })
    }
}

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
