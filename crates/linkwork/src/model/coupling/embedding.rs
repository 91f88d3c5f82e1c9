//! Which coordinates of couplings cross which links, for dynamics with couplings embedded in the recursion.
//!
//! A joint and those that follow it are a group with one coordinate. An inward sweep that meets the first joint of a group
//! cannot eliminate the coordinate yet: it carries a column for it, and eliminates it at the group's *closing*, the outermost
//! link that all joints of the group lie outboard of, or at the world. Two joints behind one link, as of a motor and what it
//! turns, close at that link; a gear between the ends of a chain carries one column along the chain.

use crate::model::Compiled;
use std::collections::HashMap;

/// Columns and closings, link by link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Embedding {
    /// Per link, and for the world at the end.
    pub(crate) stations: Vec<Station>,
    pub(crate) columns: Vec<Column>,
    /// Per station: where the product of each two of its columns is kept, by rows of a lower triangle.
    pub(crate) pairs: Vec<usize>,
    /// How many products there are.
    pub(crate) products: usize,
    /// How many numbers are kept of columns that pass joints.
    pub(crate) passed: usize,
    /// Per group: the degree of freedom that leads.
    pub(crate) leaders: Vec<usize>,
    /// The degrees of freedom that belong to no group.
    pub(crate) independent: Vec<usize>,
}

/// What happens at a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Station {
    /// Its columns: those that close at the link come first, the others pass its joint.
    pub(crate) start: usize,
    pub(crate) open: usize,
    pub(crate) end: usize,
    /// The column of its own joint's group; none if the joint moves by itself.
    pub(crate) own: Option<usize>,
    /// Where its pairs start, and what is kept of columns that pass its joint.
    pairs: usize,
    pub(crate) passed: usize,
}

/// A group's column at a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) group: usize,
    /// The parent's column that it is added to; nothing where it closes.
    pub(crate) to: usize,
}

impl Embedding {
    /// `v_from` leads from all degrees of freedom to independent ones, `independent` back.
    pub(crate) fn new(m: &Compiled, v_from: &[usize], independent: &[usize]) -> Self {
        let world = m.bodies.len();
        let mut all = Self::default();
        // The links of every group, and the group of every link.
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); independent.len()];
        for (k, body) in m.bodies.iter().enumerate() {
            for v in body.v..body.v + body.dofs {
                members[v_from[v]].push(k);
            }
        }
        let mut own = vec![None; world];
        let mut fronts: Vec<Front> = vec![Front::default(); world + 1];
        for (leader, links) in members.iter().enumerate() {
            if links.len() == 1 {
                all.independent.push(independent[leader]);
                continue;
            }
            let group = all.leaders.len();
            all.leaders.push(independent[leader]);
            let inward = |&k: &usize| m.bodies[k].parent;
            let closing = links
                .iter()
                .map(inward)
                .reduce(|a, b| m.fork(a, b))
                .flatten()
                .unwrap_or(world);
            fronts[closing].closing.push(group);
            for &link in links {
                own[link] = Some(group);
                let mut k = link;
                while k != closing && fronts[k].open.last() != Some(&group) {
                    fronts[k].open.push(group);
                    k = m.bodies[k].parent.unwrap_or(world);
                }
            }
        }
        let mut starts = vec![0];
        for front in &fronts {
            starts.push(starts[starts.len() - 1] + front.closing.len() + front.open.len());
        }
        let mut places: HashMap<[usize; 2], usize> = HashMap::new();
        for (k, front) in fronts.iter().enumerate() {
            let (start, open) = (starts[k], starts[k] + front.closing.len());
            let groups: Vec<usize> = front.closing.iter().chain(&front.open).copied().collect();
            let own = own.get(k).copied().flatten();
            all.stations.push(Station {
                start,
                open,
                end: starts[k + 1],
                own: own.and_then(|own| groups.iter().position(|&g| g == own).map(|at| start + at)),
                pairs: all.pairs.len(),
                passed: all.passed,
            });
            let body = m.bodies.get(k);
            if own.is_none() {
                all.passed += body.map_or(0, |body| body.dofs) * front.open.len();
            }
            let parent = body.and_then(|body| body.parent).unwrap_or(world);
            for (i, &group) in groups.iter().enumerate() {
                let to = fronts[parent].place(group).map_or(usize::MAX, |at| starts[parent] + at);
                all.columns.push(Column { group, to });
                for &other in &groups[..=i] {
                    let next = places.len();
                    let key = [group.min(other), group.max(other)];
                    all.pairs.push(*places.entry(key).or_insert(next));
                }
            }
        }
        all.products = places.len();
        all
    }

    /// Where the product of two columns of a station is kept.
    #[inline(always)]
    pub(crate) fn pair(&self, station: &Station, a: usize, b: usize) -> usize {
        let (a, b) = (a - station.start, b - station.start);
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        self.pairs[station.pairs + high * (high + 1) / 2 + low]
    }

    /// The same of an open column with the open ones up to itself.
    #[inline(always)]
    pub(crate) fn row(&self, station: &Station, column: usize) -> &[usize] {
        let (row, first) = (column - station.start, station.open - station.start);
        let start = station.pairs + row * (row + 1) / 2;
        &self.pairs[start + first..=start + row]
    }
}

/// The groups at a link.
#[derive(Clone, Debug, Default)]
struct Front {
    closing: Vec<usize>,
    open: Vec<usize>,
}

impl Front {
    /// Where a group stands; both lists are sorted.
    fn place(&self, group: usize) -> Option<usize> {
        let open = || self.open.binary_search(&group).ok().map(|at| at + self.closing.len());
        self.closing.binary_search(&group).ok().or_else(open)
    }
}
