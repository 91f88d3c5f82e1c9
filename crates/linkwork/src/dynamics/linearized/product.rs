//! −N*D⁻¹N ∂T and N*D⁻¹N, tile by tile.
//!
//! Row c of N reaches over the subtree of c; rows of ∂T, and of ε = −N ∂T, over the subtree and the ancestors. N stands row by
//! row; the others do so in blocks of four columns, and within a block kind after kind.

use crate::model::{Compiled, Tiles};
use crate::scalar::{Pack, Scalar};
use crate::stage::linear::{HomeGain, KINDS, LANES, blocks};

/// Four columns of two or three kinds.
pub(super) type Two<S> = [[S; LANES]; 2];
pub(super) type Three<S> = [[S; LANES]; KINDS];

/// ε = −N ∂T: the first two kinds of three, of which N is the last.
#[inline(always)]
pub(super) fn inward<S: Scalar, P: Pack<S>>(n: usize, tiles: &Tiles, rows: &[S], dt: &[Two<S>], eps: &mut [Three<S>]) {
    let (wide, width) = (blocks(n), blocks(n) * LANES);
    for c in 0..wide {
        let mut four = [&rows[..0]; LANES];
        for r in 0..LANES {
            four[r] = &rows[(c * LANES + r) * width..][..width];
        }
        for b in 0..wide {
            let Some(below) = tiles.below(c, b) else {
                continue;
            };
            for j in (b * LANES..n.min((b + 1) * LANES)).step_by(P::COLUMNS) {
                let (mut sum, l) = ([[P::ZERO; LANES]; 2], place::<S, P>(j));
                for &k in below {
                    let dt = &dt[k as usize * wide + b];
                    let x = [P::read(&dt[0][l..]), P::read(&dt[1][l..])];
                    for r in 0..LANES {
                        let weight = P::spread(four[r][k as usize]);
                        sum[0][r] = weight.mul_add(x[0], sum[0][r]);
                        sum[1][r] = weight.mul_add(x[1], sum[1][r]);
                    }
                }
                for r in 0..LANES {
                    let eps = &mut eps[(c * LANES + r) * wide + b];
                    (-sum[0][r]).write(&mut eps[0][l..]);
                    (-sum[1][r]).write(&mut eps[1][l..]);
                }
            }
        }
    }
}

/// N*D⁻¹ε and N*D⁻¹N. Tiles go from right to left: what the last one of a row writes too far is overwritten by the next
/// row.
#[inline(always)]
pub(super) fn outward<S: Scalar, P: Pack<S>>(
    m: &Compiled,
    tiles: &Tiles,
    gains: &[HomeGain<S>],
    eps: &[Three<S>],
    weights: &mut [[S; LANES]],
    out: &mut [S],
) {
    let (n, wide) = (m.nv, blocks(m.nv));
    for i in 0..wide {
        let path = tiles.path(i);
        let weights = &mut weights[..path.len()];
        for p in 0..path.len() {
            let (weight, c) = (&mut weights[p], path[p]);
            let (row, d_inv) = (&eps[c as usize * wide + i][2], gains[c as usize].d_inv);
            for r in 0..LANES {
                weight[r] = d_inv * row[r];
            }
        }
        for b in (0..wide).rev() {
            let shared = tiles.shared(i, b);
            let (path, weights) = (&path[..shared], &weights[..shared]);
            for j in (b * LANES..n.min((b + 1) * LANES)).step_by(P::COLUMNS) {
                let (mut sum, l) = ([[P::ZERO; LANES]; KINDS], place::<S, P>(j));
                for p in 0..shared {
                    let (weight, eps) = (&weights[p], &eps[path[p] as usize * wide + b]);
                    let x = [P::read(&eps[0][l..]), P::read(&eps[1][l..]), P::read(&eps[2][l..])];
                    for r in 0..LANES {
                        let weight = P::spread(weight[r]);
                        sum[0][r] = weight.mul_add(x[0], sum[0][r]);
                        sum[1][r] = weight.mul_add(x[1], sum[1][r]);
                        sum[2][r] = weight.mul_add(x[2], sum[2][r]);
                    }
                }
                let (first, past) = (i * LANES * n + j, 3 * n + P::COLUMNS);
                if m.columns.in_users_order && first + past <= n * n {
                    for kind in 0..KINDS {
                        let out = &mut out[kind * n * n + first..][..past];
                        sum[kind][0].write(out);
                        sum[kind][1].write(&mut out[n..]);
                        sum[kind][2].write(&mut out[2 * n..]);
                        sum[kind][3].write(&mut out[3 * n..]);
                    }
                } else {
                    let tile = sum;
                    write_one_by_one(m, i * LANES, j, &tile, out);
                }
            }
        }
    }
}

/// A tile, to where its degrees of freedom are.
#[inline(never)]
fn write_one_by_one<S: Scalar, P: Pack<S>>(
    m: &Compiled,
    i: usize,
    j: usize,
    tile: &[[P; LANES]; KINDS],
    out: &mut [S],
) {
    let (n, dof) = (m.nv, &m.columns.single.dof);
    for (kind, tile) in tile.iter().enumerate() {
        let out = &mut out[kind * n * n..][..n * n];
        let rows = &dof[i..];
        for r in 0..rows.len().min(LANES) {
            let (x, u) = (tile[r], rows[r]);
            if m.columns.in_users_order && u * n + j + P::COLUMNS <= n * n {
                x.write(&mut out[u * n + j..]);
            } else {
                x.write_first(&dof[j..], &mut out[u * n..][..n]);
            }
        }
    }
}

/// Where a column stands in its block, if a register does not take all of it.
#[inline(always)]
pub(super) fn place<S: Scalar, P: Pack<S>>(j: usize) -> usize {
    if P::COLUMNS == LANES { 0 } else { j % LANES }
}
