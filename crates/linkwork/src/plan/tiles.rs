//! Which tiles of four rows and four columns are not zero, and what they are sums of.
//!
//! Degrees of freedom are eliminated from the tips inward, within a joint the last one first: a column is *inward* of
//! another if it is eliminated later and on the same way to the base.

use super::path_order;
use crate::body::{Body, Layout};

/// Rows and columns of a tile.
pub(crate) const TILE: usize = 4;

/// How much larger the inertia of what a joint moves may seem from home than what resists the joint at least, so that D,
/// which is a difference of such inertias, keeps its digits.
pub(crate) const MOST_SEEN: f64 = 1e7;

/// What the links may show at most of the inertia that they carry, turning and shifting, to whoever looks from home.
pub(crate) struct Seen {
    turning: Vec<f64>,
    shifting: Vec<f64>,
}

impl Seen {
    pub(crate) fn new(bodies: &[Body]) -> Self {
        let mut reach = vec![0.0; bodies.len()];
        for (k, body) in bodies.iter().enumerate() {
            if let Some(p) = body.parent {
                let before = body.before.map_or(0.0, |z| z.shift.abs());
                let screws = body.along.abs() + body.across.abs() + body.shift.abs() + before;
                reach[k] = reach[p] + screws.max(body.placement.translation.norm());
            }
        }
        let [mut turning, mut shifting] = [(); 2].map(|()| vec![0.0; bodies.len()]);
        for (k, body) in bodies.iter().enumerate().rev() {
            let m = &body.inertia;
            let turned = m.mass * reach[k] + 2.0 * m.first.norm();
            turning[k] += m.second[0] + m.second[3] + m.second[5] + turned * reach[k];
            shifting[k] += m.mass;
            if let Some(p) = body.parent {
                turning[p] += turning[k];
                shifting[p] += shifting[k];
            }
        }
        Self { turning, shifting }
    }

    /// Whether elimination at home keeps its digits, however the mechanism stands. Links without inertia of their own have
    /// that of others to resist them, and are ignored.
    fn keeps_digits(&self, bodies: &[Body], armature: &[f64]) -> bool {
        bodies.iter().zip(&self.turning).all(|(body, &seen)| {
            let m = &body.inertia;
            let [xx, yy, zz] = [m.second[0], m.second[3], m.second[5]];
            let resists = |i: usize, axis: usize| [xx, yy, zz, m.mass, m.mass, m.mass][axis] + armature[body.v + i];
            let resisting = body.hinge.axes().iter().enumerate().map(|(i, &axis)| resists(i, axis));
            let least = resisting.filter(|&d| d > 0.0).fold(f64::INFINITY, f64::min);
            seen <= MOST_SEEN * least
        })
    }

    /// What resists a link's degrees of freedom at least, and what each may show at most.
    pub(crate) fn bounds(&self, bodies: &[Body], armature: &[f64]) -> Vec<[f64; 2]> {
        let mut bounds = Vec::with_capacity(armature.len());
        let most = self.by_columns(bodies, armature);
        for body in bodies {
            let m = &body.inertia;
            let [xx, yy, zz] = [m.second[0], m.second[3], m.second[5]];
            for (i, &axis) in body.hinge.axes().iter().enumerate() {
                let least = [xx, yy, zz, m.mass, m.mass, m.mass][axis] + armature[body.v + i];
                bounds.push([least, most[bounds.len()]]);
            }
        }
        bounds
    }

    /// What resists each column at most.
    fn by_columns(&self, bodies: &[Body], armature: &[f64]) -> Vec<f64> {
        let mut most = Vec::with_capacity(armature.len());
        for (k, body) in bodies.iter().enumerate() {
            for (i, &axis) in body.hinge.axes().iter().enumerate() {
                let shifts = axis > 2 || body.hinge.pitch().is_some();
                let seen = if axis < 3 { self.turning[k] } else { 0.0 } + if shifts { self.shifting[k] } else { 0.0 };
                most.push(seen + armature[body.v + i]);
            }
        }
        most
    }
}

/// For products of matrices that are zero between branches, over single columns.
#[derive(Clone, Debug)]
pub(crate) struct Tiles {
    wide: usize,
    /// Per column: what resists it at most, but for the travel of joints that slide.
    most: Vec<f64>,
    /// Of the elements of 𝓜 that are not zero, in [their order](path_order): row and column.
    elements: Vec<[u32; 2]>,
    /// Per column: the blocks inward of it, from the base on, of which its own is the last.
    inward: Vec<Inward>,
    inward_starts: Vec<u32>,
    /// Per block of rows: its own columns and all inward of them, the innermost first.
    path: Vec<u32>,
    path_starts: Vec<u32>,
    /// Per block of rows: the other blocks of these columns.
    inner: Vec<u32>,
    inner_starts: Vec<u32>,
    /// Per block of rows and of columns: how many of `path` the columns may be related to.
    shared: Vec<u32>,
    /// Per block of rows and of columns.
    tiles: Vec<Tile>,
    outward: Vec<Place>,
}

/// A column, and where the rows' block is among those inward of it.
type Place = (u32, u32);

/// Which columns of a block are inward of some column, bit by bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inward {
    pub(crate) block: u32,
    pub(crate) bits: u8,
}

/// Four rows and four columns of a matrix that is zero between branches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tile {
    /// Bit by bit and row by row, which columns belong to the row's own joint or to its ancestors; and which to its
    /// descendants.
    pub(crate) inner: [u8; TILE],
    pub(crate) outer: [u8; TILE],
    /// Whether there are any, and whether any row is inward of a column or the same.
    pub(crate) has_inner: bool,
    pub(crate) has_outer: bool,
    pub(crate) descends: bool,
    /// Whether it is not zero, or part of a sum.
    pub(crate) is_used: bool,
    /// Bit by bit, which columns any row reaches.
    pub(crate) reached: u8,
    /// Whether every row is related to every column, as far as there are rows and columns.
    pub(crate) is_whole: bool,
    /// Where the columns outward of the rows start, those beyond the tile's own, and where they end.
    outward: [u32; 3],
}

/// How columns are related.
struct Kin<'a> {
    layout: &'a Layout,
    /// Per column: the first one of its joint.
    first: Vec<usize>,
}

impl Kin<'_> {
    /// Whether a column is inward of another, or the same.
    fn leads_to(&self, c: usize, k: usize) -> bool {
        c <= k && k < self.layout.end_at[c]
    }

    fn same_joint(&self, c: usize, k: usize) -> bool {
        self.first[c] == self.first[k]
    }

    fn related(&self, c: usize, k: usize) -> bool {
        self.leads_to(c, k) || self.leads_to(k, c) || self.same_joint(c, k)
    }

    /// The columns of a block.
    fn own(&self, b: usize) -> core::ops::Range<usize> {
        b * TILE..self.layout.dof.len().min((b + 1) * TILE)
    }
}

impl Tiles {
    /// The tiles of a mechanism, if elimination by them keeps its digits.
    pub(crate) fn new(bodies: &[Body], armature: &[f64], layout: &Layout) -> Option<Self> {
        let seen = Seen::new(bodies);
        if !seen.keeps_digits(bodies, armature) {
            return None;
        }
        let mut first = vec![0; layout.dof.len()];
        for (k, body) in bodies.iter().enumerate() {
            first[layout.start[k]..layout.start[k] + body.dofs].fill(layout.start[k]);
        }
        let elements = path_order(bodies, layout)
            .into_iter()
            .map(|pair| pair.map(|c| c as u32))
            .collect();
        let most = seen.by_columns(bodies, armature);
        Some(Self::of(layout, first, most, elements))
    }

    /// The tiles of columns that are related as their subtrees tell, with the first column of each one's joint, what resists
    /// each at most, and which elements of 𝓜 lanes give.
    pub(crate) fn of(layout: &Layout, first: Vec<usize>, most: Vec<f64>, elements: Vec<[u32; 2]>) -> Self {
        let (n, wide) = (layout.dof.len(), layout.dof.len().div_ceil(TILE));
        let kin = Kin { layout, first };
        let mut tiles = Self {
            wide,
            most,
            elements,
            inward: Vec::new(),
            inward_starts: vec![0],
            path: Vec::new(),
            path_starts: vec![0],
            inner: Vec::new(),
            inner_starts: vec![0],
            shared: Vec::new(),
            tiles: Vec::with_capacity(wide * wide),
            outward: Vec::new(),
        };
        for k in 0..n {
            for block in 0..=k / TILE {
                let bits = kin.own(block).filter(|&c| c != k && kin.leads_to(c, k));
                let bits = bits.fold(0, |bits, c| bits | 1 << (c % TILE));
                if bits != 0 || block == k / TILE {
                    let block = block as u32;
                    tiles.inward.push(Inward { block, bits });
                }
            }
            tiles.inward_starts.push(tiles.inward.len() as u32);
        }
        for rows in 0..wide {
            let reaches = |c: &usize| kin.own(rows).any(|k| kin.leads_to(*c, k));
            tiles
                .path
                .extend((0..kin.own(rows).end).filter(reaches).map(|c| c as u32));
            let path = &tiles.path[tiles.path_starts[rows] as usize..];
            tiles.path_starts.push(tiles.path.len() as u32);
            let start = tiles.inner.len();
            for block in path
                .iter()
                .map(|c| c / TILE as u32)
                .filter(|&block| (block as usize) < rows)
            {
                if !tiles.inner[start..].ends_with(&[block]) {
                    tiles.inner.push(block);
                }
            }
            tiles.inner_starts.push(tiles.inner.len() as u32);
            for columns in 0..wide {
                let tile = tiles.tile_of(&kin, rows, columns);
                tiles.tiles.push(tile);
            }
        }
        tiles.find_shared();
        tiles
    }

    fn tile_of(&mut self, kin: &Kin<'_>, rows: usize, columns: usize) -> Tile {
        let mut tile = Tile::default();
        for c in kin.own(rows) {
            for k in kin.own(columns) {
                let bit = 1 << (k % TILE);
                if kin.same_joint(c, k) || kin.leads_to(k, c) {
                    tile.inner[c % TILE] |= bit;
                    tile.has_inner = true;
                } else if kin.leads_to(c, k) {
                    tile.outer[c % TILE] |= bit;
                    tile.has_outer = true;
                }
                tile.descends |= kin.leads_to(c, k);
            }
        }
        tile.is_used = tile.has_inner || tile.has_outer;
        tile.reached = tile.inner.iter().fold(0, |all, bits| all | bits);
        tile.is_whole = kin.own(rows).all(|c| kin.own(columns).all(|k| kin.related(c, k)));
        let start = self.outward.len();
        if tile.descends {
            let end = kin.own(rows).map(|c| kin.layout.end_at[c]).max().unwrap_or(0);
            for j in kin.own(rows).end..end {
                let place = self.places(j).find(|&place| self.inward[place].block as usize == rows);
                if let Some(place) = place.filter(|_| kin.own(columns).any(|k| kin.related(j, k))) {
                    self.outward.push((j as u32, place as u32));
                }
            }
        }
        let beyond = self.outward[start..].partition_point(|(j, _)| (*j as usize) < kin.own(columns).end);
        tile.outward = [start, start + beyond, self.outward.len()].map(|x| x as u32);
        tile
    }

    /// How far paths are shared, and which tiles that are zero take part in sums over them.
    fn find_shared(&mut self) {
        let nonzero: Vec<bool> = self.tiles.iter().map(|tile| tile.is_used).collect();
        for rows in 0..self.wide {
            for columns in 0..self.wide {
                let row_of = |c: u32| c as usize / TILE * self.wide + columns;
                let path = self.path(rows);
                let shared = path.len() - path.iter().rev().take_while(|&&c| !nonzero[row_of(c)]).count();
                for i in 0..shared {
                    let at = row_of(self.path(rows)[i]);
                    self.tiles[at].is_used = true;
                }
                self.shared.push(shared as u32);
            }
        }
    }

    /// The rows and columns of the elements of 𝓜 that are not zero, in [their order](path_order).
    #[inline(always)]
    pub(crate) fn elements(&self) -> &[[u32; 2]] {
        &self.elements
    }

    /// What resists a column at most.
    #[inline(always)]
    pub(crate) fn most(&self, column: usize) -> f64 {
        self.most[column]
    }

    /// How many blocks are inward of columns, all in all.
    pub(crate) fn inward_blocks(&self) -> usize {
        self.inward.len()
    }

    /// Where the blocks inward of a column stand among all.
    #[inline(always)]
    pub(crate) fn places(&self, column: usize) -> core::ops::Range<usize> {
        self.inward_starts[column] as usize..self.inward_starts[column + 1] as usize
    }

    /// One of them.
    #[inline(always)]
    pub(crate) fn inward(&self, place: usize) -> Inward {
        self.inward[place]
    }

    /// The rows of a block that reach any of some columns, and all toward the base.
    #[inline(always)]
    pub(crate) fn path(&self, rows: usize) -> &[u32] {
        &self.path[self.path_starts[rows] as usize..self.path_starts[rows + 1] as usize]
    }

    /// The blocks that the rows of a block reach, but for their own, from the base on.
    #[inline(always)]
    pub(crate) fn inner(&self, rows: usize) -> &[u32] {
        &self.inner[self.inner_starts[rows] as usize..self.inner_starts[rows + 1] as usize]
    }

    /// How many of them the columns of a block may be related to.
    #[inline(always)]
    pub(crate) fn shared(&self, rows: usize, columns: usize) -> usize {
        self.shared[rows * self.wide + columns] as usize
    }

    #[inline(always)]
    pub(crate) fn tile(&self, rows: usize, columns: usize) -> &Tile {
        &self.tiles[rows * self.wide + columns]
    }

    /// The columns outward of a tile's rows, beyond their block, that its columns are related to; and where the rows' block
    /// is among those inward of them. First those up to its columns, then those farther out.
    #[inline(always)]
    pub(crate) fn outward(&self, tile: &Tile) -> (&[Place], &[Place]) {
        let [start, beyond, end] = tile.outward;
        let (start, beyond, end) = (start as usize, beyond as usize, end as usize);
        (&self.outward[start..beyond], &self.outward[beyond..end])
    }
}

#[cfg(test)]
mod tests {
    use crate::Mechanism;
    use crate::model::{Joint, Link, examples};
    use crate::spatial::{Inertia, Pose};

    /// A long arm, and a finger at its end.
    fn with_finger(finger: Inertia) -> Mechanism {
        Mechanism::builder("finger")
            .link(Link::new("arm", Inertia::sphere(1.0, 0.1)))
            .link(Link::new("finger", finger))
            .joint(Joint::revolute("shoulder", [0.0, 0.0, 1.0]).between("world", "arm"))
            .joint(
                Joint::revolute("knuckle", [1.0, 0.0, 0.0])
                    .between("arm", "finger")
                    .placed(Pose::from_translation([10.0, 0.0, 0.0])),
            )
            .build()
            .unwrap()
    }

    #[test]
    fn light_links_far_out_are_not_seen_from_home() {
        let has_tiles = |m: &Mechanism| m.compiled.columns.tiles.is_some();
        assert!(has_tiles(&with_finger(Inertia::sphere(0.01, 0.01))));
        assert!(!has_tiles(&with_finger(Inertia::sphere(0.01, 0.001))));
        assert!(has_tiles(&examples::humanoid()) && has_tiles(&examples::arm7()));
    }
}
