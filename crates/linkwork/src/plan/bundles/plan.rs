//! Which links stand side by side.

use super::{Body, PACK, Passage};
use core::cmp::Reverse;
use std::collections::BTreeSet;

/// A way to take a tree apart.
pub(super) struct Plan {
    pub(super) in_trunk: Vec<bool>,
    /// The others, parents first.
    pub(super) rows: Vec<Row>,
    cost: f64,
}

/// Links that do not depend on each other.
pub(super) struct Row {
    pub(super) links: [Option<usize>; PACK],
    /// Whether each hangs on the one before it in its lane.
    pub(super) goes_on: bool,
}

/// The links, what hangs on each, and how long its longest branch is.
struct Tree<'a> {
    bodies: &'a [Body],
    children: Vec<Vec<usize>>,
    heights: Vec<usize>,
}

/// Beyond so many links no other trunk than the least is tried, which takes their cube, and columns of 𝓜 are left alone: a
/// humanoid with hands has a hundred.
pub(super) const MOST_LINKS: usize = 200;
/// What a row costs, and a run beside its rows, in links swept one by one.
const ROW: f64 = 1.2;
const RUN: f64 = 0.75;
/// Taking a tree apart must save so much of it.
const WORTH: f64 = 0.9;

impl<'a> Tree<'a> {
    fn of(bodies: &'a [Body]) -> Self {
        let mut heights = vec![1; bodies.len()];
        for k in (0..bodies.len()).rev() {
            if let Some(p) = bodies[k].parent {
                heights[p] = heights[p].max(heights[k] + 1);
            }
        }
        Self {
            bodies,
            children: (0..bodies.len()).map(|k| children(bodies, k)).collect(),
            heights,
        }
    }
}

impl Plan {
    /// The cheapest way; none if a tree is best left whole.
    pub(super) fn cheapest(bodies: &[Body]) -> Option<Self> {
        let n = bodies.len();
        // Start with the joints that lanes cannot take, and whatever lies between them and the base.
        let (tree, mut in_trunk) = (Tree::of(bodies), vec![false; n]);
        for k in (0..n).rev() {
            in_trunk[k] = !goes_abreast(&bodies[k]) || tree.children[k].iter().any(|&c| in_trunk[c]);
        }
        let mut best = Self::with_trunk(&tree, &in_trunk);
        if n > MOST_LINKS {
            return best.if_worth_it(n);
        }
        // The largest branch may hide several in its outer links.
        while let Some(&root) = roots(bodies, &in_trunk)
            .iter()
            .max_by_key(|&&k| (bodies[k].end - k, n - k))
        {
            in_trunk[root] = true;
            let plan = Self::with_trunk(&tree, &in_trunk);
            if plan.cost < best.cost {
                best = plan;
            }
        }
        // Short ones may be left over.
        for root in roots(bodies, &best.in_trunk) {
            let mut in_trunk = best.in_trunk.clone();
            in_trunk[root..bodies[root].end].fill(true);
            let plan = Self::with_trunk(&tree, &in_trunk);
            if plan.cost < best.cost {
                best = plan;
            }
        }
        best.if_worth_it(n)
    }

    fn if_worth_it(self, links: usize) -> Option<Self> {
        (self.cost < WORTH * links as f64).then_some(self)
    }

    fn with_trunk(tree: &Tree<'_>, in_trunk: &[bool]) -> Self {
        let trunk = in_trunk.iter().filter(|&&own| own).count() as f64;
        let cost = |rows: &Vec<Row>| {
            let runs = rows.iter().filter(|row| !row.goes_on).count();
            trunk + ROW * rows.len() as f64 + RUN * runs as f64
        };
        let plans = (1..=PACK).map(|least| rows(tree, in_trunk, least));
        let rows = plans.min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or_default();
        Self {
            in_trunk: in_trunk.to_vec(),
            cost: cost(&rows),
            rows,
        }
    }
}

/// Rows for all links beyond the trunk. A run goes on while so many lanes do, or no more could be filled.
fn rows(tree: &Tree<'_>, in_trunk: &[bool], least: usize) -> Vec<Row> {
    let bodies = tree.bodies;
    let mut rows: Vec<Row> = Vec::new();
    // Links that may come next; twins, which are alike children of links in one row, beside each other.
    let mut open: BTreeSet<Open> = BTreeSet::new();
    let add = |open: &mut BTreeSet<Open>, link: usize, twins: (usize, usize)| {
        open.insert((Reverse(tree.heights[link]), twins, link));
    };
    for link in roots(bodies, in_trunk) {
        add(&mut open, link, (usize::MAX, 0));
    }
    loop {
        let mut next = [None; PACK];
        for lane in 0..PACK {
            if let Some(k) = rows.last().and_then(|row| row.links[lane]) {
                for (i, &child) in tree.children[k].iter().enumerate() {
                    match i {
                        0 => next[lane] = Some(child),
                        _ => add(&mut open, child, (rows.len(), i)),
                    }
                }
            }
        }
        let going = next.iter().flatten().count();
        if going > 0 && going >= least.min(going + open.len()) && alike(bodies, &next) {
            rows.push(Row {
                links: next,
                goes_on: true,
            });
            continue;
        }
        for child in next.into_iter().flatten() {
            add(&mut open, child, (rows.len(), 0));
        }
        // The longest branches first.
        let Some(&(_, _, first)) = open.first() else {
            return rows;
        };
        let mut links = [None; PACK];
        let fitting = |(.., k): &&Open| bodies[*k].turns == bodies[first].turns;
        let taken: Vec<Open> = open.iter().filter(fitting).take(PACK).copied().collect();
        for (link, taken) in links.iter_mut().zip(taken) {
            *link = Some(taken.2);
            open.remove(&taken);
        }
        rows.push(Row { links, goes_on: false });
    }
}

/// How long the branch is that a link starts, which row its parent is in and which of its children it is, and the link.
type Open = (Reverse<usize>, (usize, usize), usize);

/// The first links outside the trunk.
fn roots(bodies: &[Body], in_trunk: &[bool]) -> Vec<usize> {
    let hangs_on_trunk = |k: &usize| !in_trunk[*k] && bodies[*k].parent.is_some_and(|p| in_trunk[p]);
    (0..bodies.len()).filter(hangs_on_trunk).collect()
}

/// Whether a link may stand beside others.
fn goes_abreast(body: &Body) -> bool {
    body.revolute && !matches!(body.passage, Passage::Root | Passage::General)
}

/// Whether links may stand side by side: all of them have rotors, or none.
fn alike(bodies: &[Body], links: &[Option<usize>; PACK]) -> bool {
    let mut turns = links.iter().flatten().map(|&k| bodies[k].turns);
    let first = turns.next();
    turns.all(|turns| Some(turns) == first)
}

/// The links that hang on one.
pub(super) fn children(bodies: &[Body], k: usize) -> Vec<usize> {
    let mut children = Vec::new();
    let mut next = k + 1;
    while next < bodies[k].end {
        children.push(next);
        next = bodies[next].end;
    }
    children
}
