//! 𝓜⁻¹ from 𝓜 = (I + HφK)D(I + HφK)*, tile by tile: what is nought between branches is left out.
//!
//! Inward, block by block of degrees of freedom from the tips on, −HG of each block replaces its rows of 𝓜, and what is
//! inward of it loses what it carries. Outward, rows of 𝓜⁻¹ follow from those inward.

use crate::model::{Compiled, Tiles};
use crate::scalar::{Pack, Scalar};
use crate::stage::linear::{LANES, blocks};

/// Four rows, or columns, or numbers.
type Four<T> = [T; LANES];
type Tile<S> = Four<Four<S>>;

/// A square matrix over columns, tile by tile.
pub(super) struct Square<'a, S> {
    tiles: &'a mut [Tile<S>],
    wide: usize,
}

impl<'a, S: Scalar> Square<'a, S> {
    /// In some room.
    #[inline(always)]
    pub(super) fn new(n: usize, room: &'a mut [S]) -> Self {
        let (tiles, wide) = (room.as_chunks_mut().0.as_chunks_mut().0, blocks(n));
        Self { tiles, wide }
    }

    /// The tile in the rows and columns of two blocks, from column `l` of it on.
    #[inline(always)]
    fn read<P: Pack<S>>(&self, rows: usize, block: usize, l: usize) -> Four<P> {
        let (mut x, tile) = ([P::ZERO; LANES], &self.tiles[rows * self.wide + block]);
        for r in 0..LANES {
            x[r] = P::read(&tile[r][l..]);
        }
        x
    }

    #[inline(always)]
    fn write<P: Pack<S>>(&mut self, rows: usize, block: usize, l: usize, x: Four<P>) {
        let tile = &mut self.tiles[rows * self.wide + block];
        for r in 0..LANES {
            x[r].write(&mut tile[r][l..]);
        }
    }

    /// Takes 𝓜 in, as far as it is inward of each column: row by row and in the users' order, or of lanes the elements that
    /// are not nought, along their paths.
    #[inline(always)]
    pub(super) fn take<P: Pack<S>>(&mut self, m: &Compiled, tiles: &Tiles, mass: &[S]) {
        for j in 0..self.wide {
            for &b in tiles.inner(j) {
                self.take_tile::<P>(m, j, b as usize, mass);
            }
            self.take_tile::<P>(m, j, j, mass);
        }
        if const { S::LANES > 1 } {
            for (x, &[row, column]) in mass.iter().zip(tiles.elements()) {
                let (row, column) = (row as usize, column as usize);
                self.tiles[column / LANES * self.wide + row / LANES][column % LANES][row % LANES] = *x;
            }
        }
    }

    #[inline(always)]
    fn take_tile<P: Pack<S>>(&mut self, m: &Compiled, j: usize, b: usize, mass: &[S]) {
        let dof = &m.columns.single.dof[..];
        let (n, row, column, to) = (m.nv, j * LANES, b * LANES, &mut self.tiles[j * self.wide + b]);
        if const { P::COLUMNS == LANES } && m.columns.in_users_order && row + LANES <= n {
            let mass = &mass[row * n + column..][..3 * n + LANES];
            for r in 0..LANES {
                P::read(&mass[r * n..]).write(&mut to[r]);
            }
            return;
        }
        *to = [[S::ZERO; LANES]; LANES];
        if const { S::LANES > 1 } {
            return;
        }
        if const { P::COLUMNS == LANES } && m.columns.in_users_order && column + LANES <= n {
            for r in 0..n - row {
                P::read(&mass[(row + r) * n + column..]).write(&mut to[r]);
            }
            return;
        }
        for r in 0..LANES.min(n - row) {
            for c in 0..LANES.min(row + r + 1 - column) {
                to[r][c] = mass[dof[row + r] * n + dof[column + c]];
            }
        }
    }

    /// Inward: D⁻¹ of every column, and −HG in the place of 𝓜.
    #[inline(always)]
    pub(super) fn eliminate<P: Pack<S>>(&mut self, tiles: &Tiles, d_inv: &mut [S]) {
        for j in (0..self.wide).rev() {
            let count = LANES.min(d_inv.len() - j * LANES);
            let own = &mut self.tiles[j * self.wide + j];
            let d_inv = eliminate_within(own, &mut d_inv[j * LANES..][..count]);
            let (within, inner) = (*own, tiles.inner(j));
            for (i, &b) in inner.iter().enumerate() {
                let (b, mut carried) = (b as usize, [[S::ZERO; LANES]; LANES]);
                for l in (0..LANES).step_by(P::COLUMNS) {
                    let mut x = self.read::<P>(j, b, l);
                    for r in (1..LANES).rev() {
                        for i in 0..r {
                            x[i] = P::spread(within[r][i]).mul_add(x[r], x[i]);
                        }
                    }
                    for r in 0..LANES {
                        x[r].write(&mut carried[r][l..]);
                        x[r] = P::spread(-d_inv[r]) * x[r];
                    }
                    self.write(j, b, l, x);
                }
                for &k in &inner[..i + 1] {
                    for l in (0..LANES).step_by(P::COLUMNS) {
                        let (mut x, less) = (self.read::<P>(b, k as usize, l), self.read::<P>(j, k as usize, l));
                        for r in (0..LANES).rev() {
                            for i in 0..LANES {
                                x[i] = P::spread(carried[r][i]).mul_add(less[r], x[i]);
                            }
                        }
                        self.write(b, k as usize, l, x);
                    }
                }
            }
        }
    }

    /// Outward: 𝓜⁻¹(j,k) = 1(j,k) D⁻¹ − Σ HG(c,j) 𝓜⁻¹(c,k) over all c inward of j, for k up to j, and so for all by symmetry.
    #[inline(always)]
    pub(super) fn invert<P: Pack<S>>(&self, tiles: &Tiles, d_inv: &[S], out: &mut [S]) {
        let n = d_inv.len();
        for j in 0..self.wide {
            let (inner, own) = (tiles.inner(j), &self.tiles[j * self.wide..][..self.wide]);
            let (within, count) = (&own[j], LANES.min(n - j * LANES));
            for b in 0..j {
                for l in (0..LANES).step_by(P::COLUMNS) {
                    let column = b * LANES + l;
                    let mut x = combine::<S, P>(inner, own, n, column, out);
                    for r in 1..LANES {
                        for i in 0..r {
                            x[r] = P::spread(within[r][i]).mul_add(x[i], x[r]);
                        }
                    }
                    keep_both(x, n, j * LANES, column, out);
                }
            }
            let mut corner = [[S::ZERO; LANES]; LANES];
            for l in (0..count).step_by(P::COLUMNS) {
                let sum = combine::<S, P>(inner, own, n, j * LANES + l, out);
                for r in 0..LANES {
                    sum[r].write(&mut corner[r][l..]);
                }
            }
            close_corner(&mut corner, within, &d_inv[j * LANES..]);
            for r in 0..count {
                for k in 0..count {
                    out[(j * LANES + r) * n + j * LANES + k] = corner[r][k];
                }
            }
        }
    }
}

/// Four sums of rows of 𝓜⁻¹ from some column on: all those of the blocks inward, weighted as tiles tell.
#[inline(always)]
fn combine<S: Scalar, P: Pack<S>>(inner: &[u32], tiles: &[Tile<S>], n: usize, column: usize, out: &[S]) -> Four<P> {
    let mut sum = [P::ZERO; LANES];
    for &b in inner {
        let (weight, rows) = (
            &tiles[b as usize],
            &out[b as usize * LANES * n + column..][..3 * n + P::COLUMNS],
        );
        for i in 0..LANES {
            let x = P::read(&rows[i * n..]);
            for r in 0..LANES {
                sum[r] = P::spread(weight[r][i]).mul_add(x, sum[r]);
            }
        }
    }
    sum
}

/// A tile left of the diagonal, or part of it, and its mirror image.
#[inline(always)]
fn keep_both<S: Scalar, P: Pack<S>>(x: Four<P>, n: usize, row: usize, column: usize, out: &mut [S]) {
    let count = LANES.min(n - row);
    for r in 0..count {
        x[r].write(&mut out[(row + r) * n + column..]);
    }
    if const { P::COLUMNS == 1 } {
        for r in 0..count {
            x[r].write(&mut out[column * n + row + r..]);
        }
        return;
    }
    let mirrored = P::transpose(x);
    for i in 0..LANES {
        let to = &mut out[(column + i) * n + row..];
        if count == LANES {
            mirrored[i].write(to);
        } else {
            mirrored[i].write_first(&PLACES[..count], to);
        }
    }
}

/// The first places.
const PLACES: [usize; LANES] = [0, 1, 2, 3];

/// Elimination within a block: D⁻¹ of its columns, which are also returned, and −HG between them.
#[inline(always)]
fn eliminate_within<S: Scalar>(tile: &mut Tile<S>, d_inv: &mut [S]) -> Four<S> {
    let (mut x, mut less, mut all) = (*tile, [[S::ZERO; LANES]; LANES], [S::ZERO; LANES]);
    for r in (0..d_inv.len()).rev() {
        all[r] = x[r][r].recip();
        d_inv[r] = all[r];
        for i in 0..r {
            less[r][i] = -(all[r] * x[r][i]);
        }
        for i in 0..r {
            for k in 0..=i {
                x[i][k] = less[r][i].mul_add(x[r][k], x[i][k]);
            }
        }
    }
    *tile = less;
    all
}

/// The tile on the diagonal, from the sums over what is inward of its block.
#[inline(always)]
fn close_corner<S: Scalar>(x: &mut Tile<S>, within: &Tile<S>, d_inv: &[S]) {
    for r in 0..LANES.min(d_inv.len()) {
        x[r][r] += d_inv[r];
        for k in 0..=r {
            let mut sum = x[r][k];
            for i in 0..r {
                sum = within[r][i].mul_add(x[i][k], sum);
            }
            (x[r][k], x[k][r]) = (sum, sum);
        }
    }
}
