//! Which tiles of four rows and four columns are not nought, and what they are sums of.

use super::{Body, Layout};

/// Rows and columns of a tile.
pub(crate) const TILE: usize = 4;

const UNUSED: u32 = u32::MAX;

/// For products of matrices that are nought between branches, over single columns.
#[derive(Clone, Debug)]
pub(crate) struct Tiles {
    wide: usize,
    /// Per block of columns: the columns of its ancestors, its own and its descendants'; one after another.
    related: Vec<u32>,
    /// Per block of rows: its own columns and those of its ancestors, the innermost first.
    path: Vec<u32>,
    path_starts: Vec<u32>,
    /// Per block of columns and of rows: the part of `related` that lies in the rows' subtrees. Where the tile is nought
    /// it is empty, and starts at [`UNUSED`] if nobody asks.
    below: Vec<(u32, u32)>,
    /// Per block of rows and of columns: how many of `path` the columns may be related to.
    shared: Vec<u32>,
}

impl Tiles {
    pub(super) fn new(bodies: &[Body], layout: &Layout) -> Self {
        let (n, wide) = (layout.width, layout.width.div_ceil(TILE));
        // Per column: the first one of its joint.
        let mut first = vec![0; n];
        for (k, body) in bodies.iter().enumerate() {
            first[layout.start[k]..layout.start[k] + body.dofs].fill(layout.start[k]);
        }
        let own = |b: usize| b * TILE..n.min((b + 1) * TILE);
        let subtree = |b: usize| first[b * TILE]..own(b).map(|c| layout.end_at[c]).max().unwrap_or(0);
        // Whether a column is an ancestor of a block's, or of the same joint.
        let inward = |c: usize, b: usize| first[c] < own(b).end && layout.end_at[c] > own(b).start;
        let mut tiles = Self {
            wide,
            related: Vec::new(),
            path: Vec::new(),
            path_starts: vec![0],
            below: Vec::new(),
            shared: Vec::new(),
        };
        for b in 0..wide {
            let path: Vec<usize> = (0..n).filter(|&c| inward(c, b)).collect();
            let (begin, end) = (tiles.related.len(), subtree(b).end);
            let related = |c: &usize| inward(*c, b) || own(b).end <= *c && *c < end;
            tiles.related.extend((0..n).filter(related).map(|c| c as u32));
            for rows in 0..wide {
                let related = &tiles.related[begin..];
                let at = |c: usize| begin + related.partition_point(|&k| (k as usize) < c);
                let slice = if at(own(rows).start) < at(own(rows).end) {
                    at(subtree(rows).start)..at(subtree(rows).end)
                } else {
                    0..0
                };
                tiles.below.push((slice.start as u32, slice.end as u32));
            }
            tiles.path.extend(path.iter().map(|&c| c as u32));
            tiles.path_starts.push(tiles.path.len() as u32);
        }
        for rows in 0..wide {
            for columns in 0..wide {
                let path = tiles.path(rows);
                let nought = |&c: &u32| {
                    let (start, end) = tiles.below[columns * wide + c as usize / TILE];
                    start == end
                };
                let shared = path.len() - path.iter().rev().take_while(|c| nought(c)).count();
                tiles.shared.push(shared as u32);
            }
        }
        tiles.forget_unused();
        tiles
    }

    /// Marks the tiles that are nought and not in any sum over a path.
    fn forget_unused(&mut self) {
        let mut used = vec![false; self.below.len()];
        for rows in 0..self.wide {
            for columns in 0..self.wide {
                for c in &self.path(rows)[..self.shared(rows, columns)] {
                    used[columns * self.wide + *c as usize / TILE] = true;
                }
            }
        }
        for (below, used) in self.below.iter_mut().zip(used) {
            if !used && below.0 == below.1 {
                *below = (UNUSED, UNUSED);
            }
        }
    }

    /// The rows of a block that reach any of some columns, and all toward the base.
    #[inline(always)]
    pub(crate) fn path(&self, rows: usize) -> &[u32] {
        &self.path[self.path_starts[rows] as usize..self.path_starts[rows + 1] as usize]
    }

    /// How many of them the columns of a block may be related to.
    #[inline(always)]
    pub(crate) fn shared(&self, rows: usize, columns: usize) -> usize {
        self.shared[rows * self.wide + columns] as usize
    }

    /// The columns that a block's are related to, as far as they lie in the subtrees of some rows; nothing for a tile that
    /// nobody asks for.
    #[inline(always)]
    pub(crate) fn below(&self, rows: usize, columns: usize) -> Option<&[u32]> {
        let (start, end) = self.below[columns * self.wide + rows];
        if start == UNUSED {
            return None;
        }
        Some(&self.related[start as usize..end as usize])
    }
}
