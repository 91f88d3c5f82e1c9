//! Which coordinates of couplings cross which links, for dynamics with couplings embedded in the recursion.
//!
//! A joint and those that follow it are a group with one coordinate. An inward sweep that meets the first joint of a group
//! cannot eliminate the coordinate yet: it carries a column for it, and eliminates it at the group's *closing*, the outermost
//! link that all joints of the group lie outboard of, or at the world. Two joints behind one link, as of a motor and what it
//! turns, close at that link; a gear between the ends of a chain carries one column along the chain.
//!
//! Columns have to do with each other only if some link carries both, or if both had to do with one that was eliminated: pairs
//! of joints on one hub are eliminated one after the other, each by itself.

use crate::model::Compiled;
use std::collections::BTreeMap;

/// Columns and closings, link by link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Embedding {
    /// Per link, and for the world at the end.
    pub(crate) stations: Vec<Station>,
    pub(crate) columns: Vec<Column>,
    /// Per station: where the product of each two of its open columns is kept, by rows of a lower triangle.
    pairs: Vec<u32>,
    /// Per column that closes: the station's other columns that its elimination changes, and where their products are kept,
    /// as above.
    neighbours: Vec<Neighbour>,
    fills: Vec<u32>,
    /// How many products there are; those of a group with itself come first.
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

/// A column that another one has to do with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub(crate) column: usize,
    pub(crate) group: usize,
    /// Where their product is kept.
    pub(crate) product: usize,
}

/// A group's column at a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) group: usize,
    /// The parent's column that it is added to; nothing where it closes.
    pub(crate) to: usize,
    /// Where its neighbours start and end, and their products; none unless it closes.
    neighbours: [usize; 2],
    fills: usize,
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
        for (k, front) in fronts.iter().enumerate() {
            let (start, open) = (starts[k], starts[k] + front.closing.len());
            let own = own.get(k).copied().flatten();
            all.stations.push(Station {
                start,
                open,
                end: starts[k + 1],
                own: own.and_then(|own| front.place(own).map(|at| start + at)),
                pairs: 0,
                passed: all.passed,
            });
            let body = m.bodies.get(k);
            if own.is_none() {
                all.passed += body.map_or(0, |body| body.dofs) * front.open.len();
            }
            let parent = body.and_then(|body| body.parent).unwrap_or(world);
            for &group in front.closing.iter().chain(&front.open) {
                let to = fronts[parent].place(group).map_or(usize::MAX, |at| starts[parent] + at);
                all.columns.push(Column {
                    group,
                    to,
                    neighbours: [0; 2],
                    fills: 0,
                });
            }
        }
        // In the order of an inward sweep.
        let mut kin = Kin::new(all.leaders.len());
        for k in (0..world).rev().chain([world]) {
            all.close(k, &fronts[k], &mut kin);
            all.stations[k].pairs = all.pairs.len();
            for (i, &group) in fronts[k].open.iter().enumerate() {
                let row = fronts[k].open[..=i]
                    .iter()
                    .map(|&other| kin.product(group, other) as u32);
                all.pairs.extend(row);
            }
        }
        all.products = kin.products;
        all
    }

    /// What the groups that close at a link change.
    fn close(&mut self, k: usize, front: &Front, kin: &mut Kin) {
        let start = self.stations[k].start;
        for (at, &group) in front.closing.iter().enumerate() {
            let first = self.neighbours.len();
            for (&group, &product) in &kin.near[group] {
                let Some(at) = front.place(group) else {
                    unreachable!("what has to do with a group that closes, and has not closed, is at the same link")
                };
                let column = start + at;
                self.neighbours.push(Neighbour { column, group, product });
            }
            // In the order of the station's columns.
            self.neighbours[first..].sort_by_key(|neighbour| neighbour.column);
            let column = &mut self.columns[start + at];
            (column.neighbours, column.fills) = ([first, self.neighbours.len()], self.fills.len());
            for i in first..self.neighbours.len() {
                for j in first..=i {
                    let fill = kin.product(self.neighbours[i].group, self.neighbours[j].group);
                    self.fills.push(fill as u32);
                }
            }
            kin.leave(group);
        }
    }

    /// Where the product of two open columns of a station is kept.
    #[inline(always)]
    pub(crate) fn pair(&self, station: &Station, a: usize, b: usize) -> usize {
        let (a, b) = (a - station.open, b - station.open);
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        self.pairs[station.pairs + high * (high + 1) / 2 + low] as usize
    }

    /// The same of an open column with the open ones up to itself.
    #[inline(always)]
    pub(crate) fn row(&self, station: &Station, column: usize) -> &[u32] {
        let row = column - station.open;
        &self.pairs[station.pairs + row * (row + 1) / 2..][..=row]
    }

    /// What the elimination of a column that closes changes: the columns after it that it has to do with, and where their
    /// products are kept, by rows of a lower triangle.
    #[inline(always)]
    pub(crate) fn neighbours(&self, column: &Column) -> (&[Neighbour], &[u32]) {
        let [first, end] = column.neighbours;
        let count = end - first;
        (
            &self.neighbours[first..end],
            &self.fills[column.fills..][..count * (count + 1) / 2],
        )
    }
}

/// Which groups that have not closed have to do with each other, and where their products are kept.
struct Kin {
    near: Vec<BTreeMap<usize, usize>>,
    products: usize,
}

impl Kin {
    fn new(groups: usize) -> Self {
        Self {
            near: vec![BTreeMap::new(); groups],
            products: groups,
        }
    }

    /// Where the product of two groups is kept.
    fn product(&mut self, a: usize, b: usize) -> usize {
        if a == b {
            return a;
        }
        let next = self.products;
        let product = *self.near[a].entry(b).or_insert(next);
        if product == next {
            self.near[b].insert(a, product);
            self.products += 1;
        }
        product
    }

    /// A group that has closed has to do with none.
    fn leave(&mut self, group: usize) {
        for other in core::mem::take(&mut self.near[group]).into_keys() {
            self.near[other].remove(&group);
        }
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
