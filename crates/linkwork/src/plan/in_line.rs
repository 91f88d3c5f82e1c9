//! Degrees of freedom of an arm, four to a register, and where the elements of 𝓜 that they give stand.

use super::zero_ranges;
use crate::body::{Body, Layout, PACK};
use crate::scalar::Copies;
use core::ops::Range;

/// Links with one degree of freedom each, in the users' order. Registers are counted from the last, which holds the last four
/// columns: those cross the most joints.
#[derive(Clone, Debug)]
pub(crate) struct InLine {
    /// How many registers the columns fill, six numbers each; elements come behind them.
    pub(crate) columns: usize,
    /// In all.
    pub(crate) registers: usize,
    /// What happens at each link.
    pub(crate) steps: Vec<Step>,
    /// Elements to their places.
    pub(crate) copies: Copies,
}

/// Which registers cross a joint: the one that takes its column in, those that do in all lanes, and one that does in some.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The column's own lane, and those that cross the joint in the register where only some do: their bits.
    pub(crate) lane: u8,
    pub(crate) lanes: u8,
    pub(crate) parts_open: bool,
    pub(crate) full: Range<usize>,
    pub(crate) part: Option<usize>,
    /// The register that is full then.
    pub(crate) fills: Option<usize>,
}

impl Step {
    fn new(n: usize, k: usize, end: usize) -> Self {
        let ((at, lane), (last, to)) = (in_register(n, k), in_register(n, end - 1));
        let is_part = to != PACK - 1;
        Self {
            lane: 1 << lane,
            lanes: (2 << to) - 1,
            parts_open: is_part && at == last,
            full: if is_part { at.min(last + 1)..at } else { last..at },
            part: (is_part && last < at).then_some(last),
            fills: (lane == 0).then_some(at),
        }
    }
}

/// The register of a column, counted from the last, and its lane.
fn in_register(n: usize, column: usize) -> (usize, usize) {
    let back = n - 1 - column;
    (back / PACK, PACK - 1 - back % PACK)
}

impl InLine {
    /// That of some links, if they are such.
    pub(crate) fn new(bodies: &[Body], layout: &Layout) -> Option<Self> {
        let n = layout.dof.len();
        if n < PACK || !bodies.iter().enumerate().all(|(k, b)| b.dofs == 1 && b.v == k) {
            return None;
        }
        let columns = 6 * n.div_ceil(PACK);
        let mut steps = Vec::new();
        let (mut copies, mut next) = (Copies::default(), columns);
        // Per register of columns: the rows that go on in all of its lanes, and the registers of their elements.
        let mut whole = vec![Vec::new(); n.div_ceil(PACK)];
        for k in (0..n).rev() {
            let own = in_register(n, k).0;
            let step = Step::new(n, k, layout.end[k]);
            for at in [own].into_iter().chain(step.full.clone()).chain(step.part) {
                let past = n - PACK * at;
                if k + PACK < past && past <= layout.end[k] {
                    copies.add_row(next, k * n + past - PACK);
                    whole[at].push((k, next));
                } else {
                    let first = k.max(past.saturating_sub(PACK));
                    for column in first..past.min(layout.end[k]) {
                        let lane = in_register(n, column).1;
                        copies.add_single(next, lane, k * n + column);
                        if column != k {
                            copies.add_single(next, lane, column * n + k);
                        }
                    }
                }
                next += 1;
            }
            steps.push(step);
        }
        steps.reverse();
        for (at, rows) in whole.iter_mut().enumerate() {
            rows.reverse();
            add_across(&mut copies, n, n - PACK * at, rows);
        }
        zero_ranges(layout)
            .into_iter()
            .for_each(|range| copies.add_zeros(range));
        Some(Self {
            columns,
            registers: next,
            steps,
            copies,
        })
    }
}

/// Elements across the diagonal from rows that have them in all lanes of a register, which ends at a column.
fn add_across(copies: &mut Copies, n: usize, past: usize, rows: &[(usize, usize)]) {
    for side_by_side in rows.chunk_by(|a, b| a.0 + 1 == b.0) {
        if side_by_side.len() < PACK {
            for &(k, register) in side_by_side {
                (0..PACK).for_each(|lane| copies.add_single(register, lane, (past - PACK + lane) * n + k));
            }
            continue;
        }
        // The last tile may overlap the one before it.
        let end = side_by_side.len() - PACK;
        for at in (0..end).step_by(PACK).chain([end]) {
            let from = core::array::from_fn(|i| side_by_side[at + i].1);
            let to = core::array::from_fn(|lane| (past - PACK + lane) * n + side_by_side[at].0);
            copies.add_tile(from, to);
        }
    }
}
