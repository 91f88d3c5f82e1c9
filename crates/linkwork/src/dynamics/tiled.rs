//! N and N*D⁻¹N, tile by tile: what is nought between branches is left out.

use crate::model::{Compiled, Tiles};
use crate::scalar::{Builds, MOST_COLUMNS, Pack, Scalar};
use crate::stage::linear::{LANES, bits, blocks};

/// The tiles of a mechanism, where matrices are made of them. Where operations count, and where numbers are slow, sweeps are
/// as good.
#[inline(always)]
pub(crate) fn tiled<S: Scalar>(m: &Compiled) -> Option<&Tiles> {
    if const { S::SPECIAL && !matches!(S::BUILDS, Builds::Once) } {
        m.columns.tiles.as_ref()
    } else {
        None
    }
}

/// Of every column of a block: its −HG on the rows of the block.
#[inline(always)]
pub(super) fn within<S: Scalar>(n: usize, tiles: &Tiles, inward: &[[S; LANES]], block: usize) -> [[S; LANES]; LANES] {
    let mut within = [[S::ZERO; LANES]; LANES];
    for r in 0..LANES.min(n - block * LANES) {
        within[r] = inward[tiles.places(block * LANES + r).end - 1];
    }
    within
}

/// N, the inverse of I + HφK: N(c, k) = 1(c, k) − Σ HG(c, j) N(j, k) over all j outward of c. Right of the diagonal, row by
/// row in blocks of four columns.
#[inline(always)]
pub(super) fn innovations<S: Scalar, P: Pack<S>>(
    n: usize,
    tiles: &Tiles,
    inward: &[[S; LANES]],
    rows: &mut [[S; LANES]],
) {
    let wide = blocks(n);
    for c in (0..wide).rev() {
        let within = within(n, tiles, inward, c);
        for b in c..wide {
            let tile = tiles.tile(c, b);
            if !tile.is_used {
                continue;
            }
            let (within_reach, _) = tiles.outward(tile);
            for l in (0..LANES.min(n - b * LANES)).step_by(P::COLUMNS) {
                let mut sum = [P::ZERO; LANES];
                for &(j, place) in within_reach {
                    let (x, less) = (P::read(&rows[j as usize * wide + b][l..]), &inward[place as usize]);
                    for r in 0..LANES {
                        sum[r] = P::spread(less[r]).mul_add(x, sum[r]);
                    }
                }
                for r in (0..LANES).rev() {
                    if let Some(one) = P::one_at(c * LANES + r, b * LANES + l) {
                        sum[r] += one;
                    }
                    sum[r].write(&mut rows[(c * LANES + r) * wide + b][l..]);
                    for i in 0..r {
                        sum[i] = P::spread(within[r][i]).mul_add(sum[r], sum[i]);
                    }
                }
            }
        }
    }
}

/// N*D⁻¹N: an element is a sum over the common ancestors of its row and its column.
#[inline(always)]
pub(super) fn multiply<S: Scalar, P: Pack<S>>(
    m: &Compiled,
    tiles: &Tiles,
    d_inv: &[S],
    rows: &[[S; LANES]],
    weights: &mut [[S; LANES]],
    out: &mut [S],
) {
    let (n, wide) = (m.nv, blocks(m.nv));
    for i in 0..wide {
        let path = tiles.path(i);
        let weights = &mut weights[..path.len()];
        for (weight, &c) in weights.iter_mut().zip(path) {
            let (row, d_inv) = (&rows[c as usize * wide + i], d_inv[c as usize]);
            for r in 0..LANES {
                weight[r] = d_inv * row[r];
            }
        }
        for b in i..wide {
            let shared = tiles.shared(i, b);
            let (path, weights) = (&path[..shared], &weights[..shared]);
            for l in (0..LANES.min(n - b * LANES)).step_by(P::COLUMNS) {
                let mut sum = [P::ZERO; LANES];
                for (&c, weight) in path.iter().zip(weights) {
                    let x = P::read(&rows[c as usize * wide + b][l..]);
                    for r in 0..LANES {
                        sum[r] = P::spread(weight[r]).mul_add(x, sum[r]);
                    }
                }
                write_both::<S, P>(m, i * LANES, b * LANES + l, sum, out);
            }
        }
    }
}

/// A tile and its mirror image, to where their degrees of freedom are; on the diagonal what is right of it counts.
#[inline(always)]
pub(super) fn write_both<S: Scalar, P: Pack<S>>(
    m: &Compiled,
    i: usize,
    j: usize,
    tile: [P; MOST_COLUMNS],
    out: &mut [S],
) {
    let (n, dof) = (m.nv, &m.columns.single.dof[..]);
    if P::COLUMNS == 1 {
        for r in 0..LANES.min((j + 1).saturating_sub(i)) {
            let (u, v) = (dof[i + r], dof[j]);
            tile[r].write_first(&[v], &mut out[u * n..]);
            tile[r].write_first(&[u], &mut out[v * n..]);
        }
        return;
    }
    let mirrored = P::transpose(tile);
    if i == j {
        let mut whole = tile;
        for r in 0..LANES {
            whole[r] = tile[r].keep(bits(0, r, LANES)) + mirrored[r].keep(bits(0, 0, r));
        }
        write_rows(m, i, j, &whole, out);
        return;
    }
    write_rows(m, i, j, &tile, out);
    write_rows(m, j, i, &mirrored, out);
}

#[inline(always)]
fn write_rows<S: Scalar, P: Pack<S>>(m: &Compiled, i: usize, j: usize, tile: &[P; MOST_COLUMNS], out: &mut [S]) {
    let n = m.nv;
    if m.columns.in_users_order && i + LANES <= n && j + LANES <= n {
        let out = &mut out[i * n + j..][..3 * n + LANES];
        tile[0].write(out);
        tile[1].write(&mut out[n..]);
        tile[2].write(&mut out[2 * n..]);
        tile[3].write(&mut out[3 * n..]);
    } else {
        let tile = *tile;
        write_one_by_one(m, i, j, &tile, out);
    }
}

/// A tile, to where its degrees of freedom are.
#[inline(never)]
fn write_one_by_one<S: Scalar, P: Pack<S>>(m: &Compiled, i: usize, j: usize, tile: &[P; MOST_COLUMNS], out: &mut [S]) {
    let (n, dof) = (m.nv, &m.columns.single.dof);
    for (x, u) in tile.iter().zip(&dof[i..]) {
        x.write_first(&dof[j..], &mut out[u * n..][..n]);
    }
}
