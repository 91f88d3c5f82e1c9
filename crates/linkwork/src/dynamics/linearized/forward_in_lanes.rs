//! ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ of several states at once.
//!
//! What [`super::forward_by_tiles`] does tile by tile, with the same sums in the same order. Here −ε starts as what pairs of columns
//! give, found link by link as in [`super::inverse_in_lanes`], with PH* and 2P̂*H* for RH* and 2R̂*H*; then rows are added to rows.

use super::super::tiled::{tiled, within};
use super::forward_by_tiles::Three;
use super::inverse_in_lanes::{Inner, Pair, Pairs};
use crate::model::Compiled;
use crate::plan::{Tile, Tiles};
use crate::scalar::{Builds, Scalar};
use crate::spatial::Force;
use crate::stage::Stages;
use crate::stage::linear::{KINDS, LANES, bit, blocks};
use crate::sweep::{At, Sweep};

/// T → the three matrices of [`super::forward::ForwardDerivatives`], where [`tiled`] tells.
pub(crate) struct AccelerationDerivatives;

impl<S: Scalar> Sweep<S> for AccelerationDerivatives {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, tau: &[S], out: &mut [S]) {
        let Some(tiles) = tiled::<S>(m) else { return };
        s.need_world(m);
        let loads = if s.loaded { Some(&s.loads[..]) } else { None };
        let (linear, wide) = (&mut s.linear, blocks(m.nv));
        linear.drive(m, tiles, (&s.world, loads), &s.qd, tau);
        s.filled.tell_eliminated();
        linear.scratch.rows.resize(m.nv * wide, [[S::ZERO; LANES]; KINDS]);
        let mut carried = Force::ZERO;
        for k in (0..m.bodies.len()).rev() {
            let terms = linear.take_in_driven(m, k, &mut carried);
            let (spans, mut rows) = (
                &linear.spans,
                Rows {
                    eps: &mut linear.scratch.rows,
                    wide,
                },
            );
            let start = m.columns.single.start[k];
            for c in start..start + m.bodies[k].dofs {
                let released = &spans.released[c];
                let inner = Inner {
                    r: released.u,
                    gyro: released.gyro,
                };
                inner.pair_up(m, k, c, &spans.columns, &terms, &mut rows);
            }
        }
        s.scratch.columns.resize(LANES * m.nv, S::ZERO);
        let (weights, _) = s.scratch.columns.as_chunks_mut();
        let (inward, d_inv, eps) = (&linear.inward[..], &linear.d_inv[..], &mut linear.scratch.rows[..]);
        if const { matches!(S::BUILDS, Builds::Avx512) } {
            add_rows::<S, true>(m, tiles, inward, eps);
            multiply::<S, true>(m, tiles, d_inv, eps, weights, out);
        } else {
            add_rows::<S, false>(m, tiles, inward, eps);
            multiply::<S, false>(m, tiles, d_inv, eps, weights, out);
        }
    }
}

/// Rows in blocks of columns.
struct Rows<'a, S> {
    eps: &'a mut [Three<S>],
    wide: usize,
}

impl<S: Scalar> Pairs<S> for Rows<'_, S> {
    #[inline(always)]
    fn put(&mut self, inward: usize, column: usize, pair: Pair<S>) {
        let upper = &mut self.eps[inward * self.wide + column / LANES];
        (upper[0][column % LANES], upper[1][column % LANES]) = (pair.upper[0], pair.upper[1]);
        let lower = &mut self.eps[column * self.wide + inward / LANES];
        (lower[0][inward % LANES], lower[1][inward % LANES]) = (pair.lower[0], pair.lower[1]);
    }

    #[inline(always)]
    fn put_own(&mut self, row: usize, column: usize, elements: [S; KINDS]) {
        let own = &mut self.eps[row * self.wide + column / LANES];
        (own[0][column % LANES], own[1][column % LANES]) = (elements[0], elements[1]);
    }
}

/// Four rows of each kind: of a column of ε, or of N*D⁻¹ε and N*D⁻¹N.
type Sum<S> = [[S; LANES]; KINDS];

/// Adds multiples of the first kinds of column `l` of a block to four rows.
#[inline(always)]
fn add<S: Scalar, const USED: usize>(sum: &mut Sum<S>, weights: &[S; LANES], block: &Three<S>, l: usize) {
    let mut x = [S::ZERO; USED];
    for kind in 0..USED {
        x[kind] = block[kind][l];
    }
    for r in 0..LANES {
        for kind in 0..USED {
            sum[kind][r] = weights[r].mul_add(x[kind], sum[kind][r]);
        }
    }
}

/// Inward: Σ HG(c, j) ε(j, k) for descendants k, over all j outward of c; and −N right of the diagonal. Columns go one by one,
/// or `TWO` together where there are registers for them.
#[inline(always)]
fn add_rows<S: Scalar, const TWO: bool>(m: &Compiled, tiles: &Tiles, inward: &[[S; LANES]], eps: &mut [Three<S>]) {
    let wide = blocks(m.nv);
    for c in (0..wide).rev() {
        let within = within(m.nv, tiles, inward, c);
        for b in c..wide {
            let tile = tiles.tile(c, b);
            if !tile.descends {
                continue;
            }
            let (within_reach, farther) = tiles.outward(tile);
            for l in (0..LANES.min(m.nv - b * LANES)).step_by(if TWO { 2 } else { 1 }) {
                let mut sum = direct(tile, eps, wide, [c, b], l);
                let mut next = if TWO {
                    direct(tile, eps, wide, [c, b], l + 1)
                } else {
                    sum
                };
                for &(j, place) in within_reach {
                    let (less, x) = (&inward[place as usize], &eps[j as usize * wide + b]);
                    add::<S, KINDS>(&mut sum, less, x, l);
                    if TWO {
                        add::<S, KINDS>(&mut next, less, x, l + 1);
                    }
                }
                // Farther out N is zero.
                for &(j, place) in farther {
                    let (less, x) = (&inward[place as usize], &eps[j as usize * wide + b]);
                    add::<S, 2>(&mut sum, less, x, l);
                    if TWO {
                        add::<S, 2>(&mut next, less, x, l + 1);
                    }
                }
                finish(tile, sum, &within, (eps, wide), [c, b], l);
                if TWO {
                    finish(tile, next, &within, (eps, wide), [c, b], l + 1);
                }
            }
        }
    }
}

// Rows by their names from here on, so that sums stay in registers.

/// What the sums of a column start from.
#[inline(always)]
fn direct<S: Scalar>(tile: &Tile, eps: &[Three<S>], wide: usize, [c, b]: [usize; 2], l: usize) -> Sum<S> {
    let mut sum = [[S::ZERO; LANES]; KINDS];
    (sum[0][0], sum[1][0]) = direct_row::<S, 0>(tile, eps, wide, [c, b], l);
    (sum[0][1], sum[1][1]) = direct_row::<S, 1>(tile, eps, wide, [c, b], l);
    (sum[0][2], sum[1][2]) = direct_row::<S, 2>(tile, eps, wide, [c, b], l);
    (sum[0][3], sum[1][3]) = direct_row::<S, 3>(tile, eps, wide, [c, b], l);
    sum
}

#[inline(always)]
fn direct_row<S: Scalar, const R: usize>(
    tile: &Tile,
    eps: &[Three<S>],
    wide: usize,
    [c, b]: [usize; 2],
    l: usize,
) -> (S, S) {
    if !bit(tile.outer[R], l) {
        return (S::ZERO, S::ZERO);
    }
    let own = &eps[(c * LANES + R) * wide + b];
    (own[0][l], own[1][l])
}

/// Adds the rows of a tile to those inward of them, and writes them.
#[inline(always)]
fn finish<S: Scalar>(
    tile: &Tile,
    mut sum: Sum<S>,
    within: &[[S; LANES]; LANES],
    (eps, wide): (&mut [Three<S>], usize),
    [c, b]: [usize; 2],
    l: usize,
) {
    let rows = eps.len() / wide - c * LANES;
    if rows > 3 {
        finish_row::<S, 3>(tile, &mut sum, within, (eps, wide), [c, b], l);
    }
    if rows > 2 {
        finish_row::<S, 2>(tile, &mut sum, within, (eps, wide), [c, b], l);
    }
    if rows > 1 {
        finish_row::<S, 1>(tile, &mut sum, within, (eps, wide), [c, b], l);
    }
    finish_row::<S, 0>(tile, &mut sum, within, (eps, wide), [c, b], l);
}

#[inline(always)]
fn finish_row<S: Scalar, const R: usize>(
    tile: &Tile,
    sum: &mut Sum<S>,
    within: &[[S; LANES]; LANES],
    (eps, wide): (&mut [Three<S>], usize),
    [c, b]: [usize; 2],
    l: usize,
) {
    let own = &mut eps[(c * LANES + R) * wide + b];
    if bit(tile.outer[R], l) {
        (own[0][l], own[1][l]) = (sum[0][R], sum[1][R]);
    }
    let mut x = [own[0][l], own[1][l], sum[2][R]];
    if c * LANES + R == b * LANES + l {
        x[2] -= S::ONE;
    }
    own[2][l] = x[2];
    for i in 0..R {
        for kind in 0..KINDS {
            sum[kind][i] = within[R][i].mul_add(x[kind], sum[kind][i]);
        }
    }
}

/// Outward: N*D⁻¹ε and N*D⁻¹N, of which half is the mirror image of the other.
#[inline(always)]
fn multiply<S: Scalar, const TWO: bool>(
    m: &Compiled,
    tiles: &Tiles,
    d_inv: &[S],
    eps: &[Three<S>],
    weights: &mut [[S; LANES]],
    out: &mut [S],
) {
    let (n, wide) = (m.nv, blocks(m.nv));
    for i in 0..wide {
        let path = tiles.path(i);
        let weights = &mut weights[..path.len()];
        for at in 0..path.len() {
            let c = path[at] as usize;
            for r in 0..LANES {
                weights[at][r] = d_inv[c] * eps[c * wide + i][2][r];
            }
        }
        for b in 0..wide {
            let shared = tiles.shared(i, b);
            for j in (b * LANES..n.min((b + 1) * LANES)).step_by(if TWO { 2 } else { 1 }) {
                let (mut sum, mut next, l) = ([[S::ZERO; LANES]; KINDS], [[S::ZERO; LANES]; KINDS], j % LANES);
                if b < i {
                    for at in 0..shared {
                        let x = &eps[path[at] as usize * wide + b];
                        add::<S, 2>(&mut sum, &weights[at], x, l);
                        if TWO {
                            add::<S, 2>(&mut next, &weights[at], x, l + 1);
                        }
                    }
                } else {
                    for at in 0..shared {
                        let x = &eps[path[at] as usize * wide + b];
                        add::<S, KINDS>(&mut sum, &weights[at], x, l);
                        if TWO {
                            add::<S, KINDS>(&mut next, &weights[at], x, l + 1);
                        }
                    }
                }
                write(m, i * LANES, j, &sum, out);
                if TWO && j + 1 < n {
                    write(m, i * LANES, j + 1, &next, out);
                }
            }
        }
    }
}

/// Four rows of a column, to where their degrees of freedom are.
#[inline(always)]
fn write<S: Scalar>(m: &Compiled, i: usize, j: usize, sum: &Sum<S>, out: &mut [S]) {
    let rows = m.nv - i;
    write_row(m, i, j, [sum[0][0], sum[1][0], sum[2][0]], out);
    if rows > 1 {
        write_row(m, i + 1, j, [sum[0][1], sum[1][1], sum[2][1]], out);
    }
    if rows > 2 {
        write_row(m, i + 2, j, [sum[0][2], sum[1][2], sum[2][2]], out);
    }
    if rows > 3 {
        write_row(m, i + 3, j, [sum[0][3], sum[1][3], sum[2][3]], out);
    }
}

/// One of them; 𝓜⁻¹ from the diagonal on, and mirrored.
#[inline(always)]
fn write_row<S: Scalar>(m: &Compiled, i: usize, j: usize, [by_q, by_qd, by_tau]: [S; KINDS], out: &mut [S]) {
    let n = m.nv;
    let (u, v) = (m.columns.single.dof[i], m.columns.single.dof[j]);
    (out[u * n + v], out[(n + u) * n + v]) = (by_q, by_qd);
    if i <= j {
        (out[(2 * n + u) * n + v], out[(2 * n + v) * n + u]) = (by_tau, by_tau);
    }
}
