//! What of the constraints' system can be known from the mechanism alone: which rows meet, and where.
//!
//! W = J𝓜⁻¹J* is a sum over degrees of freedom. The rows of a constraint reach from its two links to the roots of their
//! trees: a *strand*. Two strands meet along the degrees of freedom that they share. Trees that many constraints hold,
//! such as an object in many hands, are *hubs*: their degrees of freedom border the system instead of filling it, so
//! that what remains falls into *groups* that do not meet.

use super::constraint::{ConstraintKind, Side};
use super::equation::Equation;
use crate::model::{Compiled, FrameId, Mechanism};
use core::ops::Range;

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
    /// The lengths of the ways to a and to b, and of what is common to both.
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
}

/// Two constraints, or one and itself, and the stretches of their strands that are the same degrees of freedom.
#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    pub(crate) ties: [usize; 2],
    /// Where each starts in the two strands, and how long it is.
    pub(crate) stretches: Vec<(usize, usize, usize)>,
}

/// Constraints whose rows meet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// The rows, as numbered over all constraints.
    pub(crate) rows: Vec<usize>,
    pub(crate) meetings: Vec<Meeting>,
    /// Its constraints, where there are hubs.
    pub(crate) ties: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) rows: usize,
    pub(crate) numbers: usize,
    pub(crate) strands: Vec<Strand>,
    /// The longest way times the rows of its constraint.
    pub(crate) widest: usize,
    pub(crate) groups: Vec<Group>,
    /// All rows as one group, for where the groups alone are singular.
    pub(crate) whole: Group,
    /// Per row: its place in its group.
    pub(crate) place: Vec<usize>,
    /// Per degree of freedom: its place among the hubs'.
    pub(crate) hub: Vec<Option<usize>>,
    pub(crate) hub_size: usize,
}

impl Plan {
    pub(crate) fn new(mechanism: &Mechanism, ties: &[Tie]) -> Self {
        let mut strands: Vec<Strand> = Vec::with_capacity(ties.len());
        let (mut numbers, mut widest) = (0, 0);
        for tie in ties {
            let links = tie.frames.map(|frame| mechanism.placed[frame.index()].body);
            let [mut dofs, b] = links.map(|link| mechanism.compiled.independent_way(link));
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
        let hub = find_hubs(&mechanism.compiled, ties, &strands);
        let rows = ties.last().map_or(0, |tie| tie.rows.end);
        let whole = Group {
            rows: (0..rows).collect(),
            meetings: meetings(&strands, &vec![None; mechanism.nv()]),
            ties: Vec::new(),
        };
        let (groups, place) = divide(ties, meetings(&strands, &hub));
        Self {
            rows,
            numbers,
            groups,
            whole,
            place,
            widest,
            hub_size: hub.iter().flatten().count(),
            hub,
            strands,
        }
    }
}

/// Trees held by rows enough that bordering the system costs less than filling it.
fn find_hubs(m: &Compiled, ties: &[Tie], strands: &[Strand]) -> Vec<Option<usize>> {
    let tree = m.independent_trees();
    let trees = tree.iter().max().map_or(0, |most| most + 1);
    let (mut freedom, mut held) = (vec![0; trees], vec![0; trees]);
    for &root in &tree {
        freedom[root] += 1;
    }
    for (tie, strand) in ties.iter().zip(strands) {
        let mut roots: Vec<usize> = strand.dofs.iter().map(|&dof| tree[dof]).collect();
        roots.dedup();
        for root in roots {
            held[root] += tie.rows.len();
        }
    }
    let mut size = 0;
    let number = |dof: usize| {
        (held[tree[dof]] > 2 * freedom[tree[dof]]).then(|| {
            size += 1;
            size - 1
        })
    };
    (0..tree.len()).map(number).collect()
}

/// All pairs of strands that have degrees of freedom in common which are not a hub's.
fn meetings(strands: &[Strand], hub: &[Option<usize>]) -> Vec<Meeting> {
    let mut found = Vec::new();
    let mut place = vec![usize::MAX; hub.len()];
    for (j, b) in strands.iter().enumerate() {
        for (i, &dof) in b.dofs.iter().enumerate() {
            place[dof] = if hub[dof].is_none() { i } else { usize::MAX };
        }
        for (i, a) in strands.iter().enumerate().take(j + 1) {
            let mut stretches: Vec<(usize, usize, usize)> = Vec::new();
            for (at, &dof) in a.dofs.iter().enumerate() {
                match (place[dof], stretches.last_mut()) {
                    (usize::MAX, _) => {}
                    (to, Some((p, q, length))) if *p + *length == at && *q + *length == to => *length += 1,
                    (to, _) => stretches.push((at, to, 1)),
                }
            }
            if !stretches.is_empty() {
                let ties = [i, j];
                found.push(Meeting { ties, stretches });
            }
        }
        for &dof in &b.dofs {
            place[dof] = usize::MAX;
        }
    }
    found
}

/// Groups of constraints that meet, and every row's place in its group.
fn divide(ties: &[Tie], meetings: Vec<Meeting>) -> (Vec<Group>, Vec<usize>) {
    // Each constraint points to one of its group, the first to itself.
    let mut first: Vec<usize> = (0..ties.len()).collect();
    fn find(first: &[usize], mut tie: usize) -> usize {
        while first[tie] != tie {
            tie = first[tie];
        }
        tie
    }
    for meeting in &meetings {
        let [a, b] = meeting.ties.map(|tie| find(&first, tie));
        first[a.max(b)] = a.min(b);
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut number = vec![0; ties.len()];
    let mut place = Vec::new();
    for (i, tie) in ties.iter().enumerate() {
        let root = find(&first, i);
        number[i] = if root == i { groups.len() } else { number[root] };
        if root == i {
            groups.push(Group::default());
        }
        let group = &mut groups[number[i]];
        group.ties.push(i);
        for row in tie.rows.clone() {
            place.push(group.rows.len());
            group.rows.push(row);
        }
    }
    for meeting in meetings {
        groups[number[meeting.ties[0]]].meetings.push(meeting);
    }
    (groups, place)
}
