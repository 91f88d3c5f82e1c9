//! Which coordinates of couplings cross which links, for dynamics with couplings embedded in the recursion.
//!
//! A joint and those that follow it are a group with one coordinate. An inward sweep that meets the first joint of a group
//! cannot eliminate the coordinate yet: it carries a column for it, and eliminates it at the group's *closing*, the outermost
//! link that all joints of the group lie outboard of, or at the world. Two joints behind one link, as of a motor and what it
//! turns, close at that link; a gear between the ends of a chain carries one column along the chain.
//!
//! Columns have to do with each other only if some link carries both, or if both had to do with one that was eliminated: pairs
//! of joints on one hub are eliminated one after the other, each by itself.
//!
//! Groups are numbered in the order in which they close, so that what has to do with a group and closes later are some of those
//! after it: its row of the symbolic factor (Liu), found from the links' sets of columns in time and memory that grow with the
//! number of columns of all links and of products, and not with the products of each link.

use crate::model::Compiled;

/// Columns and closings, link by link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Embedding {
    /// Per link, and for the world at the end.
    pub(crate) stations: Vec<Station>,
    pub(crate) columns: Vec<Column>,
    /// Per group: the later ones that it has to do with, in order, and where they start. Their products are kept in the same
    /// order, after those of each group with itself.
    neighbours: Vec<Neighbour>,
    starts: Vec<usize>,
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
    /// Its columns, in order of their groups: those that close at the link come first, the others pass its joint.
    pub(crate) start: usize,
    pub(crate) open: usize,
    pub(crate) end: usize,
    /// The column of its own joint's group; none if the joint moves by itself.
    pub(crate) own: Option<usize>,
    /// Whether it and all outboard of it are on joints of groups that close further inward: locked, they are one rigid body.
    pub(crate) is_rigid: bool,
    /// Where what is kept of columns that pass its joint starts.
    pub(crate) passed: usize,
}

/// A group that another one has to do with, and its column where that one closes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub(crate) column: u32,
    pub(crate) group: u32,
}

/// A group's column at a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    group: u32,
    /// The parent's column that it is added to; nothing where it closes.
    to: u32,
}

impl Column {
    #[inline(always)]
    pub(crate) fn group(&self) -> usize {
        self.group as usize
    }

    #[inline(always)]
    pub(crate) fn to(&self) -> usize {
        self.to as usize
    }
}

impl Embedding {
    /// `v_from` leads from all degrees of freedom to independent ones, `independent` back.
    pub(crate) fn new(m: &Compiled, v_from: &[usize], independent: &[usize]) -> Self {
        let world = m.bodies.len();
        let mut all = Self::default();
        // The links of every group, where it closes, and the group of every link.
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); independent.len()];
        for (k, body) in m.bodies.iter().enumerate() {
            for v in body.v..body.v + body.dofs {
                members[v_from[v]].push(k);
            }
        }
        let mut groups: Vec<(usize, usize)> = Vec::new();
        for (leader, links) in members.iter().enumerate() {
            if links.len() == 1 {
                all.independent.push(independent[leader]);
                continue;
            }
            let inward = links.iter().map(|&k| m.bodies[k].parent);
            let closing = inward.reduce(|a, b| m.fork(a, b)).flatten();
            groups.push((closing.unwrap_or(world), leader));
        }
        // As an inward sweep meets them, the world last.
        groups.sort_by_key(|&(closing, _)| if closing == world { world } else { world - 1 - closing });
        let mut own = vec![None; world];
        let mut fronts: Vec<Front> = vec![Front::default(); world + 1];
        for (group, &(closing, leader)) in groups.iter().enumerate() {
            all.leaders.push(independent[leader]);
            fronts[closing].groups.push(group as u32);
            fronts[closing].closing += 1;
            for &link in &members[leader] {
                own[link] = Some(group);
                let mut k = link;
                while k != closing && fronts[k].groups.last() != Some(&(group as u32)) {
                    fronts[k].groups.push(group as u32);
                    k = m.bodies[k].parent.unwrap_or(world);
                }
            }
        }
        let mut starts = vec![0];
        for front in &fronts {
            starts.push(starts[starts.len() - 1] + front.groups.len());
        }
        all.columns.reserve(starts[world + 1]);
        let mut rigid = vec![true; world + 1];
        for (k, body) in m.bodies.iter().enumerate().rev() {
            rigid[k] &= own[k].is_some() && fronts[k].closing == 0;
            rigid[body.parent.unwrap_or(world)] &= rigid[k];
        }
        for (k, front) in fronts.iter().enumerate() {
            let (start, end) = (starts[k], starts[k + 1]);
            let own = own.get(k).copied().flatten();
            all.stations.push(Station {
                start,
                open: start + front.closing,
                end,
                own: own.map(|own| start + front.place(own)),
                is_rigid: own.is_some() && rigid[k],
                passed: all.passed,
            });
            let body = m.bodies.get(k);
            if own.is_none() {
                all.passed += body.map_or(0, |body| body.dofs) * (front.groups.len() - front.closing);
            }
            let parent = body.and_then(|body| body.parent).unwrap_or(world);
            for (i, &group) in front.groups.iter().enumerate() {
                let to = match i < front.closing {
                    true => u32::MAX,
                    false => (starts[parent] + fronts[parent].place(group as usize)) as u32,
                };
                all.columns.push(Column { group, to });
            }
        }
        all.meet(&fronts, &groups, &starts);
        all
    }

    /// Which later groups each one has to do with: those that some link carries beside it, and those that a group which closed
    /// before it had to do with.
    fn meet(&mut self, fronts: &[Front], groups: &[(usize, usize)], starts: &[usize]) {
        let count = groups.len();
        // The links' sets by the first group in them, and the groups that come first after one.
        let (mut sets, mut before) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (k, front) in fronts.iter().enumerate() {
            if let Some(&first) = front.groups.get(front.closing) {
                sets[first as usize].push(k);
            }
        }
        let mut seen = vec![usize::MAX; count];
        self.starts.push(0);
        for (group, &(closing, _)) in groups.iter().enumerate() {
            let begin = self.neighbours.len();
            seen[group] = group;
            let mut met = Vec::new();
            let mut meet = |other: u32| {
                if seen[other as usize] != group {
                    seen[other as usize] = group;
                    met.push(other);
                }
            };
            for &k in &sets[group] {
                fronts[k].groups[fronts[k].closing..]
                    .iter()
                    .for_each(|&other| meet(other));
            }
            for &earlier in &before[group] {
                let near: &[Neighbour] = &self.neighbours[self.starts[earlier]..self.starts[earlier + 1]];
                near.iter().for_each(|neighbour| meet(neighbour.group));
            }
            met.sort_unstable();
            if let Some(&first) = met.first() {
                before[first as usize].push(group);
            }
            // All of them are where it closes: each is carried from a link outboard of that one, and closes no earlier.
            let front = &fronts[closing];
            let near = met.into_iter().map(|group| Neighbour {
                column: (starts[closing] + front.place(group as usize)) as u32,
                group,
            });
            self.neighbours.extend(near);
            self.starts.push(self.neighbours.len());
            debug_assert!(
                self.neighbours[begin..]
                    .iter()
                    .all(|other| other.group as usize > group)
            );
        }
        self.products = count + self.neighbours.len();
    }

    /// The later groups that one has to do with, and where the first of their products is kept; the others follow.
    #[inline(always)]
    pub(crate) fn neighbours(&self, group: usize) -> (&[Neighbour], usize) {
        let (start, end) = (self.starts[group], self.starts[group + 1]);
        (&self.neighbours[start..end], self.leaders.len() + start)
    }

    /// Where the product of two groups that have to do with each other is kept.
    #[inline(always)]
    pub(crate) fn product(&self, a: usize, b: usize) -> usize {
        let (first, last) = if a < b { (a, b) } else { (b, a) };
        if first == last {
            return first;
        }
        let (near, start) = self.neighbours(first);
        start + near.partition_point(|other| (other.group as usize) < last)
    }

    /// The same for one group and several later ones, in order.
    #[inline(always)]
    pub(crate) fn products_of(&self, group: usize) -> Products<'_> {
        let (near, next) = self.neighbours(group);
        Products { near, next }
    }
}

/// Places of products, one after another.
pub(crate) struct Products<'a> {
    near: &'a [Neighbour],
    next: usize,
}

impl Products<'_> {
    /// Where the product with a group is kept, which comes after all those asked for before.
    #[inline(always)]
    pub(crate) fn with(&mut self, group: u32) -> usize {
        while let [first, rest @ ..] = self.near {
            let place = self.next;
            (self.near, self.next) = (rest, place + 1);
            if first.group == group {
                return place;
            }
        }
        unreachable!("groups that one link carries have to do with each other")
    }
}

/// The groups at a link, sorted: first those that close there.
#[derive(Clone, Debug, Default)]
struct Front {
    groups: Vec<u32>,
    closing: usize,
}

impl Front {
    /// Where a group that is there stands.
    fn place(&self, group: usize) -> usize {
        self.groups.partition_point(|&other| (other as usize) < group)
    }
}
