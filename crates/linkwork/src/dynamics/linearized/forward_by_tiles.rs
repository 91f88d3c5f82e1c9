//! −ε = N ∂T and −N, then N*D⁻¹ε and N*D⁻¹N, tile by tile.
//!
//! N is the inverse of I + HφK, so that ε follows row by row, from the tips inward. With PH* and 2P̂*H* for RH* and 2R̂*H* the
//! columns of ancestors, and of a row's own joint, need no sum at all:
//!
//! ```text
//! −ε(c, k) = [PH*](c)·Ψ̇(k) + [2P̂*H*](c)·Ψ(k)                 | likewise with Ψ + Ḣ and H*
//! −ε(c, k) = H(c)[RΨ̇ + 2R̂Ψ + crf(H*)f](k) + Σ HG(c, j) ε(j, k)   for descendants k, over all j outward of c
//! ```
//!
//! Rows stand in blocks of four columns, and within a block kind after kind.

use super::super::tiled::{within, write_both, write_first_rows, write_row_by_row};
use crate::model::Compiled;
use crate::plan::{Tile, Tiles};
use crate::scalar::{Pack, Scalar, unrolled};
use crate::stage::linear::{
    BY_Q, BY_QD, BY_QDD, Block, COLUMN, GYRO, H, KINDS, LANES, Linear, PAIR, PSI, PSI_RATE, TERMS, TWICE, blocks, dot,
    lanes, places, read, turn,
};

/// Four columns of three kinds.
pub(super) type Three<S> = [[S; LANES]; KINDS];

/// −ε of changes of q and q̇, and −N right of the diagonal.
#[inline(always)]
pub(super) fn inward<S: Scalar, P: Pack<S>>(m: &Compiled, tiles: &Tiles, linear: &mut Linear<S>, eps: &mut [Three<S>]) {
    let wide = blocks(m.nv);
    for b in (0..wide).rev() {
        brackets(
            &linear.columns[b],
            &linear.subtrees[b],
            &mut linear.pairs[b],
            lanes::<S>(b, m.nv),
        );
    }
    for c in (0..wide).rev() {
        let count = LANES.min(m.nv - c * LANES);
        let within = within(m.nv, tiles, &linear.inward, c);
        let rows = (&linear.columns[c], &linear.pairs[c]);
        for b in 0..wide {
            let tile = tiles.tile(c, b);
            if !tile.is_used {
                continue;
            }
            let (columns, pairs) = (&linear.columns[b].0, &linear.pairs[b].0);
            let (within_reach, farther) = tiles.outward(tile);
            for l in places::<S, P>(m.nv - b * LANES) {
                let mut own = [[P::ZERO; LANES]; 2];
                // Columns of ancestors: nothing to add up.
                if !tile.descends {
                    if tile.has_inner {
                        along::<S, P>(rows.1, tile, columns, l, &mut own);
                    }
                    unrolled!(R in 0 1 2 3 => if R < count {
                        let (mut x, inner) = ([own[0][R], own[1][R], P::ZERO], tile.inner[R] >> l);
                        if !tile.is_whole {
                            (x[0], x[1]) = (x[0].keep(inner), x[1].keep(inner));
                        }
                        put(&mut eps[(c * LANES + R) * wide + b], l, x);
                    });
                    continue;
                }
                let mut sum = [[P::ZERO; LANES]; KINDS];
                if tile.has_outer {
                    against::<S, P>(rows.0, tile, pairs, l, &mut sum);
                }
                for &(j, place) in within_reach {
                    let (x, less) = (&eps[j as usize * wide + b], &linear.inward[place as usize]);
                    let x = [P::read(&x[0][l..]), P::read(&x[1][l..]), P::read(&x[2][l..])];
                    for r in 0..LANES {
                        add(&mut sum, r, less[r], x);
                    }
                }
                // Farther out N is zero.
                for &(j, place) in farther {
                    let (x, less) = (&eps[j as usize * wide + b], &linear.inward[place as usize]);
                    let x = [P::read(&x[0][l..]), P::read(&x[1][l..])];
                    for r in 0..LANES {
                        add(&mut sum, r, less[r], x);
                    }
                }
                if tile.has_inner {
                    along::<S, P>(rows.1, tile, columns, l, &mut own);
                }
                // Each row by its name, so that the sums stay in registers.
                unrolled!(R in 3 2 1 0 => if R < count {
                    let mut x = [sum[0][R], sum[1][R], sum[2][R]];
                    let (inner, outer) = (tile.inner[R] >> l, tile.outer[R] >> l);
                    if tile.has_inner || !tile.is_whole {
                        (x[0], x[1]) = (x[0].keep(outer), x[1].keep(outer));
                    }
                    if tile.has_inner {
                        x[0] += own[0][R].keep(inner);
                        x[1] += own[1][R].keep(inner);
                    }
                    if let Some(one) = P::one_at(c * LANES + R, b * LANES + l) {
                        x[2] -= one;
                    }
                    put(&mut eps[(c * LANES + R) * wide + b], l, x);
                    let before = R;
                    for i in 0..before {
                        add(&mut sum, i, within[R][i], x);
                    }
                });
            }
        }
    }
}

/// Some columns of all kinds, from column `l` of a block on.
#[inline(always)]
fn put<S: Scalar, P: Pack<S>>(to: &mut Three<S>, l: usize, x: [P; KINDS]) {
    for kind in 0..KINDS {
        x[kind].write(&mut to[kind][l..]);
    }
}

/// Adds a multiple of some kinds to a row.
#[inline(always)]
fn add<S: Scalar, P: Pack<S>, const N: usize>(sum: &mut [[P; LANES]; KINDS], row: usize, weight: S, x: [P; N]) {
    let weight = P::spread(weight);
    for kind in 0..N {
        sum[kind][row] = weight.mul_add(x[kind], sum[kind][row]);
    }
}

/// Whether columns are worth the work: packed they all go together.
#[inline(always)]
fn wanted<S: Scalar, P: Pack<S>>(bits: u8, place: usize) -> bool {
    P::COLUMNS > 1 || (bits >> place) & 1 != 0
}

/// H(c)[RΨ̇ + 2R̂Ψ + crf(H*)f](k), and the same of q̇.
#[inline(always)]
fn against<S: Scalar, P: Pack<S>>(
    rows: &Block<S, COLUMN>,
    tile: &Tile,
    pairs: &[[S; LANES]; PAIR],
    l: usize,
    sum: &mut [[P; LANES]; KINDS],
) {
    let (by_q, by_qd): ([P; 6], [P; 6]) = (read(pairs, BY_Q, l), read(pairs, BY_QD, l));
    unrolled!(R in 0 1 2 3 => if wanted::<S, P>(tile.outer[R], l) {
        let h = rows.six(H, R);
        sum[0][R] = dot(h, by_q);
        sum[1][R] = dot(h, by_qd);
    });
}

/// [PH*](c)·Ψ̇(k) + [2P̂*H*](c)·Ψ(k), and the same of q̇.
#[inline(always)]
fn along<S: Scalar, P: Pack<S>>(
    rows: &Block<S, PAIR>,
    tile: &Tile,
    columns: &[[S; LANES]; COLUMN],
    l: usize,
    sum: &mut [[P; LANES]; 2],
) {
    let (psi_rate, psi): ([P; 6], [P; 3]) = (read(columns, PSI_RATE, l), read(columns, PSI, l));
    let (twice, w): ([P; 6], [P; 3]) = (read(columns, TWICE, l), read(columns, H, l));
    unrolled!(R in 0 1 2 3 => if wanted::<S, P>(tile.inner[R], l) {
        let (u, hat) = (rows.six(BY_QDD, R), rows.three(GYRO, R).to_array());
        sum[0][R] = dot(u, psi_rate) + turn(hat, psi);
        sum[1][R] = dot(u, twice) + turn(hat, w);
    });
}

/// RΨ̇ + 2R̂Ψ + crf(H*)f and R(Ψ + Ḣ) + 2R̂H* of every column of a block.
#[inline(always)]
fn brackets<S: Scalar>(columns: &Block<S, COLUMN>, subtrees: &Block<S, TERMS>, out: &mut Block<S, PAIR>, lanes: usize) {
    for l in 0..lanes {
        let (h, t) = (columns.motion(H, l), subtrees.terms(l));
        let by_q = t.by_q(h, columns.three(PSI, l), columns.motion(PSI_RATE, l));
        let by_qd = t.by_qd(h, columns.motion(TWICE, l));
        out.put(BY_Q, l, by_q.to_array());
        out.put(BY_QD, l, by_qd.to_array());
    }
}

/// N*D⁻¹ε and N*D⁻¹N, of which half is the mirror image of the other. Tiles go from right to left: what the last one of a row
/// writes too far is overwritten by the next row.
#[inline(always)]
pub(super) fn outward<S: Scalar, P: Pack<S>>(
    m: &Compiled,
    tiles: &Tiles,
    d_inv: &[S],
    eps: &[Three<S>],
    weights: &mut [[S; LANES]],
    out: &mut [S],
) {
    // Each in code of its own, which for users' order is the shorter.
    if m.columns.in_users_order {
        rows::<S, P, true>(m, tiles, d_inv, eps, weights, out);
    } else {
        rows::<S, P, false>(m, tiles, d_inv, eps, weights, out);
    }
}

#[inline(always)]
fn rows<S: Scalar, P: Pack<S>, const ORDERED: bool>(
    m: &Compiled,
    tiles: &Tiles,
    d_inv: &[S],
    eps: &[Three<S>],
    weights: &mut [[S; LANES]],
    out: &mut [S],
) {
    let (n, wide) = (m.nv, blocks(m.nv));
    let (out, inverse) = out.split_at_mut(2 * n * n);
    for i in 0..wide {
        let path = tiles.path(i);
        let weights = &mut weights[..path.len()];
        for at in 0..path.len() {
            let c = path[at] as usize;
            let (row, d_inv) = (&eps[c * wide + i][2], d_inv[c]);
            for l in places::<S, P>(LANES) {
                (P::spread(d_inv) * P::read(&row[l..])).write(&mut weights[at][l..]);
            }
        }
        for b in (0..wide).rev() {
            let shared = tiles.shared(i, b);
            let (path, weights) = (&path[..shared], &weights[..shared]);
            for l in places::<S, P>(n - b * LANES) {
                let (mut sum, j) = ([[P::ZERO; LANES]; KINDS], b * LANES + l);
                if b < i {
                    for at in 0..shared {
                        let eps = &eps[path[at] as usize * wide + b];
                        let x = [P::read(&eps[0][l..]), P::read(&eps[1][l..])];
                        for r in 0..LANES {
                            add(&mut sum, r, weights[at][r], x);
                        }
                    }
                } else {
                    for at in 0..shared {
                        let eps = &eps[path[at] as usize * wide + b];
                        let x = [P::read(&eps[0][l..]), P::read(&eps[1][l..]), P::read(&eps[2][l..])];
                        for r in 0..LANES {
                            add(&mut sum, r, weights[at][r], x);
                        }
                    }
                    write_both::<S, P>(m, i * LANES, j, sum[2], inverse);
                }
                write_tile::<S, P, 2, ORDERED>(m, i * LANES, j, &[sum[0], sum[1]], out);
            }
        }
    }
}

/// A tile of each of some matrices. Where columns are `ORDERED` as users have them, too much of the last one of a row is written,
/// which the next row has to overwrite.
#[inline(always)]
pub(super) fn write_tile<S: Scalar, P: Pack<S>, const MATRICES: usize, const ORDERED: bool>(
    m: &Compiled,
    i: usize,
    j: usize,
    tiles: &[[P; LANES]; MATRICES],
    out: &mut [S],
) {
    let n = m.nv;
    let (first, rows) = (i * n + j, LANES.min(n - i));
    if ORDERED && first + (rows - 1) * n + P::COLUMNS <= n * n {
        for kind in 0..MATRICES {
            write_first_rows(&tiles[kind], rows, n, &mut out[kind * n * n + first..]);
        }
    } else if !ORDERED && m.columns.runs[j] >= P::COLUMNS {
        for kind in 0..MATRICES {
            write_row_by_row(m, i, j, &tiles[kind], &mut out[kind * n * n..]);
        }
    } else {
        let tiles = *tiles;
        write_one_by_one(m, i, j, &tiles, out);
    }
}

/// A tile, to where its degrees of freedom are.
#[inline(never)]
fn write_one_by_one<S: Scalar, P: Pack<S>>(m: &Compiled, i: usize, j: usize, tiles: &[[P; LANES]], out: &mut [S]) {
    let (n, dof) = (m.nv, &m.columns.single.dof);
    for (kind, tile) in tiles.iter().enumerate() {
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
