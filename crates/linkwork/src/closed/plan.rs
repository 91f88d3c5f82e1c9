//! What of the constraints' system can be known from the mechanism alone: which rows meet, and where.
//!
//! W = J𝓜⁻¹J* is a sum over degrees of freedom. The rows of a constraint reach from its two links to the roots of their
//! trees: a *strand*. Two strands meet along the degrees of freedom that they share. Trees that many constraints hold,
//! such as an object in many hands, are *hubs*: their degrees of freedom border the system instead of filling it, so
//! that what remains falls into *groups* that do not meet.

use super::constraint::{ConstraintKind, Side};
use super::equation::Equation;
use crate::model::{FrameId, Mechanism};
use core::ops::Range;
use std::sync::OnceLock;

/// How many rows may meet: their matrix takes 128 MB, its factor as much, and some ten seconds.
pub(crate) const MOST_ROWS: usize = 4096;

/// A constraint with its names resolved.
#[derive(Clone, Debug)]
pub(crate) struct Tie {
    pub(crate) kind: ConstraintKind,
    pub(crate) equations: Vec<Equation>,
    pub(crate) side: Side,
    pub(crate) frames: [FrameId; 2],
    pub(crate) rows: Range<usize>,
}

/// The degrees of freedom that a constraint's rows reach.
#[derive(Clone, Debug)]
pub(crate) struct Strand {
    /// Those on the way to link a, then those on the way to link b that are not among them.
    pub(crate) dofs: Vec<usize>,
    /// The lengths of the ways to a and to b, and of what is common to both. A way leads from the root of a tree outward, so
    /// that two ways have a first part in common and nothing else.
    pub(crate) ways: [usize; 2],
    pub(crate) common: usize,
    /// Where its numbers start: rows × degrees of freedom.
    pub(crate) start: usize,
}

impl Strand {
    /// Where in the strand the n-th degree of freedom of a way is.
    #[inline(always)]
    pub(crate) fn place(&self, side: usize, n: usize) -> usize {
        if side == 0 || n < self.common {
            n
        } else {
            n - self.common + self.ways[0]
        }
    }

    /// How many degrees of freedom a way has in common with a way of another strand.
    fn shared(&self, side: usize, other: &Self, other_side: usize) -> usize {
        let same = |n: usize| self.dofs[self.place(side, n)] == other.dofs[other.place(other_side, n)];
        let (mut least, mut most) = (0, self.ways[side].min(other.ways[other_side]));
        if most == 0 || !same(0) {
            return 0;
        }
        while least < most {
            let middle = (least + most) / 2;
            match same(middle) {
                true => least = middle + 1,
                false => most = middle,
            }
        }
        least
    }
}

/// Where the same degrees of freedom start in two strands, and how many they are.
pub(crate) type Stretch = [u32; 3];

/// Two constraints, or one and itself, and which of their group's stretches are theirs.
#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    pub(crate) ties: [usize; 2],
    pub(crate) stretches: Range<usize>,
}

/// Constraints whose rows meet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// The rows, as numbered over all constraints.
    pub(crate) rows: Vec<usize>,
    pub(crate) ties: Vec<usize>,
    pub(crate) meetings: Vec<Meeting>,
    pub(crate) stretches: Vec<Stretch>,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) rows: usize,
    pub(crate) numbers: usize,
    pub(crate) strands: Vec<Strand>,
    /// The longest way times the rows of its constraint.
    pub(crate) widest: usize,
    pub(crate) groups: Vec<Group>,
    /// All rows as one group, for where the groups alone are singular; once somebody asks.
    whole: OnceLock<Group>,
    /// Per row: its place in its group.
    pub(crate) place: Vec<usize>,
    /// Per degree of freedom: its place among the hubs'.
    pub(crate) hub: Vec<Option<usize>>,
    pub(crate) hub_size: usize,
}

impl Plan {
    /// Refused are more rows that meet than can be solved together: an error is a group's first constraint, and its rows.
    pub(crate) fn new(mechanism: &Mechanism, ties: &[Tie]) -> Result<Self, (usize, usize)> {
        let m = &mechanism.compiled;
        let links = |tie: &Tie| tie.frames.map(|frame| mechanism.placed[frame.index()].body);
        let tree = m.independent_trees();
        let trees: Vec<[Option<usize>; 2]> = ties
            .iter()
            .map(|tie| links(tie).map(|link| m.first_independent(link).map(|dof| tree[dof])))
            .collect();
        let mut is_hub = find_hubs(&tree, ties, &trees);
        // What holds hubs alone would leave the rest of the system singular.
        for held in &trees {
            let held = held.iter().flatten();
            if held.clone().all(|&tree| is_hub[tree]) {
                held.for_each(|&tree| is_hub[tree] = false);
            }
        }
        let (mut groups, place) = divide(ties, &trees, &is_hub);
        if let Some(group) = groups.iter().find(|group| group.rows.len() > MOST_ROWS) {
            return Err((group.ties[0], group.rows.len()));
        }
        let mut strands: Vec<Strand> = Vec::with_capacity(ties.len());
        let (mut numbers, mut widest) = (0, 0);
        for tie in ties {
            let [mut dofs, b] = links(tie).map(|link| m.independent_way(link));
            let ways = [dofs.len(), b.len()];
            let common = dofs.iter().zip(&b).take_while(|(a, b)| a == b).count();
            dofs.extend(&b[common..]);
            let start = numbers;
            numbers += tie.rows.len() * dofs.len();
            widest = widest.max(tie.rows.len() * ways[0].max(ways[1]));
            strands.push(Strand {
                dofs,
                ways,
                common,
                start,
            });
        }
        for group in &mut groups {
            group.meet(&strands, |tie, side| trees[tie][side].is_some_and(|tree| is_hub[tree]));
        }
        let mut hub_size = 0;
        let number = |&tree: &usize| {
            is_hub[tree].then(|| {
                hub_size += 1;
                hub_size - 1
            })
        };
        let hub = tree.iter().map(number).collect();
        Ok(Self {
            rows: ties.last().map_or(0, |tie| tie.rows.end),
            numbers,
            groups,
            whole: OnceLock::new(),
            place,
            widest,
            hub_size,
            hub,
            strands,
        })
    }

    /// All rows as one group.
    pub(crate) fn whole(&self) -> &Group {
        self.whole.get_or_init(|| {
            let mut whole = Group {
                rows: (0..self.rows).collect(),
                ties: (0..self.strands.len()).collect(),
                ..Group::default()
            };
            whole.meet(&self.strands, |_, _| false);
            whole
        })
    }
}

/// Per tree: whether rows enough hold it that bordering the system costs less than filling it.
fn find_hubs(tree: &[usize], ties: &[Tie], trees: &[[Option<usize>; 2]]) -> Vec<bool> {
    let count = tree.iter().max().map_or(0, |most| most + 1);
    let (mut freedom, mut held) = (vec![0; count], vec![0; count]);
    for &root in tree {
        freedom[root] += 1;
    }
    for (tie, &[a, b]) in ties.iter().zip(trees) {
        for root in a.into_iter().chain(b.filter(|_| a != b)) {
            held[root] += tie.rows.len();
        }
    }
    held.iter().zip(&freedom).map(|(held, free)| *held > 2 * free).collect()
}

impl Group {
    /// Finds which of its strands have degrees of freedom in common that are not a hub's. Strands of one tree have at least
    /// its root's.
    fn meet(&mut self, strands: &[Strand], is_hub: impl Fn(usize, usize) -> bool) {
        for (count, &j) in self.ties.iter().enumerate() {
            for &i in &self.ties[..=count] {
                let (a, b) = (&strands[i], &strands[j]);
                let start = self.stretches.len();
                for side in (0..2).filter(|&side| !is_hub(i, side)) {
                    let on = [0, 1].map(|other| a.shared(side, b, other));
                    let mut from = if side == 0 { 0 } else { a.common };
                    for (other, &to) in on.iter().enumerate().filter(|(_, to)| **to > 0) {
                        if from < to {
                            let [p, q] = [a.place(side, from), b.place(other, from)].map(|at| at as u32);
                            add_stretch(&mut self.stretches, start, [p, q, (to - from) as u32]);
                            from = to;
                        }
                    }
                }
                if self.stretches.len() > start {
                    let stretches = start..self.stretches.len();
                    self.meetings.push(Meeting {
                        ties: [i, j],
                        stretches,
                    });
                }
            }
        }
    }
}

/// One stretch more; of those since `start` the last grows where it ends at both of the new one's beginnings.
fn add_stretch(stretches: &mut Vec<Stretch>, start: usize, [p, q, length]: Stretch) {
    match stretches[start..].last_mut() {
        Some(last) if last[0] + last[2] == p && last[1] + last[2] == q => last[2] += length,
        _ => stretches.push([p, q, length]),
    }
}

/// Groups of constraints that hold the same trees, hubs apart, and every row's place in its group.
fn divide(ties: &[Tie], trees: &[[Option<usize>; 2]], is_hub: &[bool]) -> (Vec<Group>, Vec<usize>) {
    // Each tree points to one of its group, one of them to itself.
    let mut first: Vec<usize> = (0..is_hub.len()).collect();
    fn find(first: &mut [usize], mut tree: usize) -> usize {
        while first[tree] != tree {
            first[tree] = first[first[tree]];
            tree = first[tree];
        }
        tree
    }
    let held = |tie: usize| trees[tie].map(|tree| tree.filter(|&tree| !is_hub[tree]));
    for tie in 0..ties.len() {
        if let [Some(a), Some(b)] = held(tie) {
            let [a, b] = [find(&mut first, a), find(&mut first, b)];
            first[a.max(b)] = a.min(b);
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut number = vec![usize::MAX; is_hub.len()];
    let mut place = Vec::new();
    for (i, tie) in ties.iter().enumerate() {
        let root = held(i).into_iter().flatten().next().map(|tree| find(&mut first, tree));
        let at = match root {
            Some(root) if number[root] < groups.len() => number[root],
            _ => groups.len(),
        };
        if let Some(root) = root {
            number[root] = at;
        }
        if at == groups.len() {
            groups.push(Group::default());
        }
        let group = &mut groups[at];
        group.ties.push(i);
        for row in tie.rows.clone() {
            place.push(group.rows.len());
            group.rows.push(row);
        }
    }
    (groups, place)
}
