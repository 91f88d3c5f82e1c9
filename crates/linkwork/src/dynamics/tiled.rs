//! Matrices tile by tile: what is zero between branches is left out.

use crate::model::Compiled;
use crate::plan::Tiles;
use crate::scalar::{Builds, MOST_COLUMNS, Pack, Scalar, unrolled};
use crate::stage::linear::{LANES, bits};

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

/// A tile, or the part of it from column `j` on, to where its degrees of freedom are.
#[inline(always)]
fn write_rows<S: Scalar, P: Pack<S>>(m: &Compiled, i: usize, j: usize, tile: &[P; MOST_COLUMNS], out: &mut [S]) {
    let n = m.nv;
    if m.columns.runs[j] < P::COLUMNS {
        let tile = *tile;
        return write_one_by_one(m, i, j, &tile, out);
    }
    if m.columns.in_users_order {
        return write_first_rows(tile, n - i, n, &mut out[i * n + j..]);
    }
    write_row_by_row(m, i, j, tile, out);
}

/// The same of columns that follow each other in the users' order, as rows may not.
#[inline(always)]
pub(super) fn write_row_by_row<S: Scalar, P: Pack<S>>(
    m: &Compiled,
    i: usize,
    j: usize,
    tile: &[P; MOST_COLUMNS],
    out: &mut [S],
) {
    let (n, rows, column) = (m.nv, &m.columns.single.dof[i..], m.columns.single.dof[j]);
    // Each row by its name, so that the tile stays in registers.
    unrolled!(R in 0 1 2 3 => if R < rows.len() {
        tile[R].write(&mut out[rows[R] * n + column..]);
    });
}

/// As many rows of a tile as there are, into rows of n numbers.
#[inline(always)]
pub(super) fn write_first_rows<S: Scalar, P: Pack<S>>(tile: &[P; MOST_COLUMNS], rows: usize, n: usize, out: &mut [S]) {
    if rows >= LANES {
        return P::write_rows(*tile, out, n);
    }
    // Each row by its name, so that the tile stays in registers.
    tile[0].write(out);
    if rows > 1 {
        tile[1].write(&mut out[n..]);
    }
    if rows > 2 {
        tile[2].write(&mut out[2 * n..]);
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
