//! 𝓜⁻¹ from 𝓜 = (I + HφK)D(I + HφK)*, tile by tile: what is zero between branches is left out.
//!
//! Inward, block by block of degrees of freedom from the tips on, −HG of each block replaces its rows of 𝓜, and what is
//! inward of it loses what it carries. Outward, rows of 𝓜⁻¹ follow from those inward.

use crate::plan::Tiles;
use crate::scalar::{Pack, Scalar, unrolled};
use crate::stage::linear::{LANES, bits, blocks};

/// Four rows, or columns, or numbers.
type Four<T> = [T; LANES];
type Tile<S> = Four<Four<S>>;

/// In which order columns stand.
#[derive(Clone, Copy)]
pub(super) struct Order<'a> {
    /// Per column: the degree of freedom in the users' order.
    pub(super) dof: &'a [usize],
    pub(super) in_users_order: bool,
    /// Per column: how many from it on follow each other there.
    pub(super) runs: &'a [usize],
}

impl Order<'_> {
    /// A matrix from the order of the columns to the users'.
    #[inline(always)]
    pub(super) fn restore<S: Scalar, P: Pack<S>>(self, from: &[S], out: &mut [S]) {
        let n = self.dof.len();
        for (row, &u) in from.chunks_exact(n).zip(self.dof) {
            let out = &mut out[u * n..][..n];
            if const { P::COLUMNS == 1 } {
                for (x, &v) in row.iter().zip(self.dof) {
                    out[v] = *x;
                }
                continue;
            }
            let mut c = 0;
            while c < n {
                let (run, to) = (self.runs[c], self.dof[c]);
                let (row, out) = (&row[c..c + run], &mut out[to..to + run]);
                let mut i = 0;
                while i + P::COLUMNS <= run {
                    P::read(&row[i..]).write(&mut out[i..]);
                    i += P::COLUMNS;
                }
                while i < run {
                    out[i] = row[i];
                    i += 1;
                }
                c += run;
            }
        }
    }
}

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
    /// are not zero, along their paths.
    #[inline(always)]
    pub(super) fn take<P: Pack<S>>(&mut self, order: Order<'_>, tiles: &Tiles, mass: &[S]) {
        for j in 0..self.wide {
            for &b in tiles.inner(j) {
                self.take_tile::<P>(order, j, b as usize, mass);
            }
            self.take_tile::<P>(order, j, j, mass);
        }
        if const { S::LANES > 1 } {
            for (x, &[row, column]) in mass.iter().zip(tiles.elements()) {
                let (row, column) = (row as usize, column as usize);
                self.tiles[column / LANES * self.wide + row / LANES][column % LANES][row % LANES] = *x;
            }
        }
    }

    #[inline(always)]
    fn take_tile<P: Pack<S>>(&mut self, order: Order<'_>, j: usize, b: usize, mass: &[S]) {
        let Order {
            dof,
            in_users_order,
            runs,
        } = order;
        let (n, row, column, to) = (dof.len(), j * LANES, b * LANES, &mut self.tiles[j * self.wide + b]);
        if const { P::COLUMNS == LANES } && in_users_order && row + LANES <= n {
            let rows = P::read_rows(&mass[row * n + column..], n);
            for r in 0..LANES {
                rows[r].write(&mut to[r]);
            }
            return;
        }
        *to = [[S::ZERO; LANES]; LANES];
        if const { S::LANES > 1 } {
            return;
        }
        if const { P::COLUMNS == LANES } && in_users_order && column + LANES <= n {
            for r in 0..n - row {
                P::read(&mass[(row + r) * n + column..]).write(&mut to[r]);
            }
            return;
        }
        if const { P::COLUMNS == LANES } && runs[column] >= LANES {
            for r in 0..LANES.min(n - row) {
                P::read(&mass[dof[row + r] * n + dof[column]..]).write(&mut to[r]);
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
            let own = &mut self.tiles[j * self.wide + j];
            let count = LANES.min(d_inv.len() - j * LANES);
            for r in count..LANES {
                own[r][r] = S::ONE;
            }
            let (within, pivots) = eliminate_within(own);
            *own = within;
            for r in 0..count {
                d_inv[j * LANES + r] = pivots[r];
            }
            let inner = tiles.inner(j);
            // What a block carries waits across the diagonal, where nothing stands.
            for &b in inner {
                let b = b as usize;
                for l in (0..LANES).step_by(P::COLUMNS) {
                    let mut x = self.read::<P>(j, b, l);
                    unrolled!(R in 3 2 1 => for i in 0..R {
                        x[i] = P::spread(within[R][i]).mul_add(x[R], x[i]);
                    });
                    self.write(b, j, l, x);
                    for r in 0..LANES {
                        x[r] = P::spread(-pivots[r]) * x[r];
                    }
                    self.write(j, b, l, x);
                }
            }
            // The nearest first, as the next block may be that.
            for (i, &b) in inner.iter().enumerate().rev() {
                let b = b as usize;
                let carried = self.tiles[b * self.wide + j];
                for &k in inner[..i + 1].iter().rev() {
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
    /// What a block's columns say of each other is taken into the other tiles first.
    #[inline(always)]
    pub(super) fn invert<P: Pack<S>>(&mut self, tiles: &Tiles, d_inv: &[S], out: &mut [S]) {
        let n = d_inv.len();
        for j in 0..self.wide {
            let (inner, own) = (tiles.inner(j), &mut self.tiles[j * self.wide..][..self.wide]);
            let (mut within, end) = ([[S::ZERO; LANES]; LANES], j * LANES);
            for l in (0..LANES).step_by(P::COLUMNS) {
                let x = resolve_within::<S, P>(&own[j], l);
                for r in 0..LANES {
                    x[r].write(&mut within[r][l..]);
                }
            }
            for &b in inner {
                apply::<S, P>(&within, &mut own[b as usize]);
            }
            let mut column = 0;
            while column + 2 * P::COLUMNS <= end {
                let [x, y] = combine::<S, P, 2>(tiles, j, own, n, column, out);
                keep_both(x, n, end, column, out);
                keep_both(y, n, end, column + P::COLUMNS, out);
                column += 2 * P::COLUMNS;
            }
            if column < end {
                let [x] = combine::<S, P, 1>(tiles, j, own, n, column, out);
                keep_both(x, n, end, column, out);
            }
            let count = LANES.min(n - end);
            for l in (0..count).step_by(P::COLUMNS) {
                let [mut x] = combine::<S, P, 1>(tiles, j, own, n, end + l, out);
                let mut turned = [P::ZERO; LANES];
                for i in 0..LANES {
                    turned[i] = P::read(if const { P::COLUMNS == 1 } {
                        &within[l][i..]
                    } else {
                        &within[i]
                    });
                }
                let turned = P::transpose(turned);
                add_own(&mut x, &within, turned, &d_inv[end..end + count]);
                keep_corner(x, n, end, l, out);
            }
        }
    }
}

/// Sums of rows of 𝓜⁻¹ from some column on: all those of the blocks inward, weighted as tiles tell.
#[inline(always)]
fn combine<S: Scalar, P: Pack<S>, const WIDE: usize>(
    tiles: &Tiles,
    j: usize,
    weights: &[Tile<S>],
    n: usize,
    column: usize,
    out: &[S],
) -> [Four<P>; WIDE] {
    let mut sum = [[P::ZERO; LANES]; WIDE];
    for &b in tiles.inner(j) {
        let (weight, first) = (&weights[b as usize], b as usize * LANES * n + column);
        let reached = tiles.tile(j, b as usize).reached;
        let mut rows = [[P::ZERO; LANES]; WIDE];
        for w in 0..WIDE {
            rows[w] = P::read_rows(&out[first + w * P::COLUMNS..], n);
        }
        unrolled!(I in 0 1 2 3 => if reached & (1 << I) != 0 {
            for w in 0..WIDE {
                for r in 0..LANES {
                    sum[w][r] = P::spread(weight[r][I]).mul_add(rows[w][I], sum[w][r]);
                }
            }
        });
    }
    sum
}

/// A tile left of the diagonal, or part of it, and its mirror image.
#[inline(always)]
fn keep_both<S: Scalar, P: Pack<S>>(x: Four<P>, n: usize, row: usize, column: usize, out: &mut [S]) {
    let (here, across, count) = (row * n + column, column * n + row, LANES.min(n - row));
    if const { P::COLUMNS == 1 } {
        for r in 0..count {
            x[r].write(&mut out[here + r * n..]);
            x[r].write(&mut out[across + r..]);
        }
        return;
    }
    if count == LANES {
        P::write_rows(x, &mut out[here..], n);
    } else {
        for r in 0..count {
            x[r].write(&mut out[here + r * n..]);
        }
    }
    let mirrored = P::transpose(x);
    if count == LANES {
        return P::write_rows(mirrored, &mut out[across..], n);
    }
    for i in 0..LANES {
        mirrored[i].write_first(&PLACES[..count], &mut out[across + i * n..]);
    }
}

/// A tile on the diagonal, or a column of it: what is left of it counts.
#[inline(always)]
fn keep_corner<S: Scalar, P: Pack<S>>(x: Four<P>, n: usize, first: usize, l: usize, out: &mut [S]) {
    let count = LANES.min(n - first);
    if const { P::COLUMNS == 1 } {
        for r in l..count {
            x[r].write(&mut out[(first + r) * n + first + l..]);
            x[r].write(&mut out[(first + l) * n + first + r..]);
        }
        return;
    }
    let (mirrored, mut both, to) = (P::transpose(x), x, &mut out[first * n + first..]);
    for r in 0..LANES {
        both[r] = x[r].keep(bits(0, 0, r + 1)) + mirrored[r].keep(bits(0, r + 1, LANES));
    }
    if count == LANES {
        return P::write_rows(both, to, n);
    }
    for r in 0..count {
        both[r].write_first(&PLACES[..count], &mut to[r * n..]);
    }
}

/// The first places.
const PLACES: [usize; LANES] = [0, 1, 2, 3];

/// Elimination within a block: −HG between its columns, and their D⁻¹.
#[inline(always)]
fn eliminate_within<S: Scalar>(tile: &Tile<S>) -> (Tile<S>, Four<S>) {
    let (mut x, mut less, mut d_inv) = (*tile, [[S::ZERO; LANES]; LANES], [S::ZERO; LANES]);
    unrolled!(R in 3 2 1 => {
        d_inv[R] = x[R][R].recip();
        for i in 0..R {
            less[R][i] = -(d_inv[R] * x[R][i]);
        }
        unrolled!(I in 0 1 2 => if I < R {
            for k in 0..I + 1 {
                x[I][k] = less[R][I].mul_add(x[R][k], x[I][k]);
            }
        });
    });
    d_inv[0] = x[0][0].recip();
    (less, d_inv)
}

/// (I − W)⁻¹ of the −HG between the columns of a block, from column l on.
#[inline(always)]
fn resolve_within<S: Scalar, P: Pack<S>>(w: &Tile<S>, l: usize) -> Four<P> {
    let mut x = [P::ZERO; LANES];
    for r in 0..LANES {
        if let Some(one) = P::one_at(r, l) {
            x[r] = one;
        }
    }
    unrolled!(R in 1 2 3 => for i in 0..R {
        x[R] = P::spread(w[R][i]).mul_add(x[i], x[R]);
    });
    x
}

/// A tile times another, whose diagonal is one.
#[inline(always)]
fn apply<S: Scalar, P: Pack<S>>(within: &Tile<S>, tile: &mut Tile<S>) {
    for l in (0..LANES).step_by(P::COLUMNS) {
        let mut x = [P::ZERO; LANES];
        for r in 0..LANES {
            x[r] = P::read(&tile[r][l..]);
        }
        unrolled!(R in 3 2 1 => for i in 0..R {
            x[R] = P::spread(within[R][i]).mul_add(x[i], x[R]);
        });
        for r in 1..LANES {
            x[r].write(&mut tile[r][l..]);
        }
    }
}

/// Adds what the columns of a block are by themselves: D⁻¹ between (I − W)⁻¹ and its transpose.
#[inline(always)]
fn add_own<S: Scalar, P: Pack<S>>(x: &mut Four<P>, within: &Tile<S>, turned: Four<P>, d_inv: &[S]) {
    unrolled!(I in 0 1 2 3 => if I < d_inv.len() {
        let column = P::spread(d_inv[I]) * turned[I];
        for r in I..LANES {
            x[r] = P::spread(within[r][I]).mul_add(column, x[r]);
        }
    });
}
