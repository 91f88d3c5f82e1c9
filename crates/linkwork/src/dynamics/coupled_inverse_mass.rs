//! 𝓜⁻¹ where joints follow others, from 𝓜 of what is independent, and products with it.
//!
//! The elimination forest of what is independent is a tree like any other: 𝓜⁻¹ comes from 𝓜 as in
//! [`super::inverse_mass_by_tiles`], and ∂q̈ = −𝓜⁻¹∂T is a product that leaves out what is zero between branches.

use super::inverse_mass_by_tiles::{Order, Square};
use crate::coupled::model::Reduced;
use crate::model::Compiled;
use crate::plan::TILE;
use crate::scalar::{Pack, Scalar};
use crate::stage::Stages;
use crate::stage::linear::square_room;
use crate::sweep::{At, PackedSweep, Sweep, algorithm};

/// 𝓜 → 𝓜⁻¹, both dense; of lanes the elements of 𝓜 that are not zero, in the order of its pattern.
pub(crate) struct ReducedInverse;
/// ∂T/∂q and ∂T/∂q̇ → −𝓜⁻¹∂T/∂q and −𝓜⁻¹∂T/∂q̇, dense, where 𝓜⁻¹ stands behind.
pub(crate) struct ReducedProduct;

algorithm! {
    ReducedInverse: Plain, Packed;
    ReducedProduct: Plain, Packed;
}

impl<S: Scalar> Sweep<S> for ReducedInverse {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, mass: &[S], out: &mut [S]) {
        invert::<S, S>(m, s, mass, out);
    }
}

impl PackedSweep for ReducedInverse {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, _: At<'_>, mass: &[f64], out: &mut [f64]) {
        invert::<f64, P>(m, s, mass, out);
    }
}

impl<S: Scalar> Sweep<S> for ReducedProduct {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, _: &mut Stages<S>, _: At<'_>, changes: &[S], out: &mut [S]) {
        multiply::<S, S>(m, changes, out);
    }
}

impl PackedSweep for ReducedProduct {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, _: &mut Stages<f64>, _: At<'_>, changes: &[f64], out: &mut [f64]) {
        multiply::<f64, P>(m, changes, out);
    }
}

/// The degrees of freedom as a forest, and how many there are.
#[inline(always)]
fn forest(m: &Compiled) -> Option<(&Reduced, usize)> {
    let r = m.reduction.as_ref()?;
    r.reduced.as_ref().map(|reduced| (reduced, r.nv))
}

/// By elimination, tile by tile.
#[inline(always)]
fn invert<S: Scalar, P: Pack<S>>(m: &Compiled, s: &mut Stages<S>, mass: &[S], out: &mut [S]) {
    let Some((reduced, n)) = forest(m) else { return };
    let (tiles, dof) = (&reduced.tiles, &reduced.dof[..]);
    let first = s.scratch.make_room(square_room(n) + n * n);
    let (square, beside) = s.scratch.tiles[first..].split_at_mut(square_room(n));
    let mut square = Square::new(n, square);
    let order = Order {
        dof,
        in_users_order: reduced.in_users_order,
        runs: &reduced.runs,
    };
    square.take::<P>(order, tiles, mass);
    let coupled = &mut *s.coupled;
    let d_inv = &mut coupled.d_inv[..n];
    square.eliminate::<P>(tiles, d_inv);
    let mut unsound = S::ZERO;
    for c in 0..n {
        let ratio = S::lift(tiles.most(c)) * d_inv[c];
        let positive = (-ratio).where_below(0.0, S::ZERO, S::ONE);
        unsound += ratio.where_below(LEAST / S::EPSILON, positive, S::ONE);
    }
    coupled.unsound = unsound;
    s.filled.tell_reduced();
    if reduced.in_users_order {
        return square.invert::<P>(tiles, d_inv, out);
    }
    let inverse = &mut beside[..n * n];
    square.invert::<P>(tiles, d_inv, inverse);
    order.restore::<S, P>(inverse, out);
}

/// A pivot that is so small against what it is a difference of, in units of rounding, may as well be zero.
const LEAST: f64 = 0.1;

/// The degree of freedom, of all joints, whose D is not sound in a lane.
pub(crate) fn unsound_pivot<S: Scalar>(m: &Compiled, s: &Stages<S>, lane: usize) -> Option<(usize, f64)> {
    let (reduced, n) = forest(m)?;
    let independent = &m.reduction.as_ref()?.independent;
    (0..n).rev().find_map(|c| {
        let d_inv = s.coupled.d_inv[c].lane(lane);
        let ratio = reduced.tiles.most(c) * d_inv;
        let sound = ratio > 0.0 && ratio < LEAST / S::EPSILON;
        (!sound).then(|| (independent[reduced.dof[c]], d_inv.recip()))
    })
}

/// Four rows, and as many columns as a register has, of both products at a time.
#[inline(always)]
fn multiply<S: Scalar, P: Pack<S>>(m: &Compiled, changes: &[S], out: &mut [S]) {
    let Some((reduced, n)) = forest(m) else { return };
    let (out, inverse) = out.split_at_mut(2 * n * n);
    for block in 0..n.div_ceil(TILE) {
        let blocks = reduced.rows(block);
        let columns = TILE.min(n - block * TILE);
        for column in (block * TILE..block * TILE + columns).step_by(P::COLUMNS) {
            let mut row = 0;
            while row + TILE <= n {
                let x = rows::<S, P, TILE>(blocks, n, row, column, inverse, changes);
                keep(x, n, row, column, columns, out);
                row += TILE;
            }
            while row < n {
                let x = rows::<S, P, 1>(blocks, n, row, column, inverse, changes);
                keep(x, n, row, column, columns, out);
                row += 1;
            }
        }
    }
}

/// Σ 𝓜⁻¹(row, k) ∂T(k, column), as far as ∂T is not zero.
#[inline(always)]
fn rows<S: Scalar, P: Pack<S>, const ROWS: usize>(
    blocks: &[u32],
    n: usize,
    row: usize,
    column: usize,
    inverse: &[S],
    changes: &[S],
) -> [[P; ROWS]; 2] {
    let mut sum = [[P::ZERO; ROWS]; 2];
    for &block in blocks {
        let first = block as usize * TILE;
        for k in first..n.min(first + TILE) {
            let weights = &inverse[k * n + row..][..ROWS];
            let by_q = P::read(&changes[k * n + column..]);
            let by_qd = P::read(&changes[(n + k) * n + column..]);
            for r in 0..ROWS {
                let weight = P::spread(weights[r]);
                sum[0][r] = weight.mul_add(by_q, sum[0][r]);
                sum[1][r] = weight.mul_add(by_qd, sum[1][r]);
            }
        }
    }
    sum
}

#[inline(always)]
fn keep<S: Scalar, P: Pack<S>, const ROWS: usize>(
    x: [[P; ROWS]; 2],
    n: usize,
    row: usize,
    column: usize,
    columns: usize,
    out: &mut [S],
) {
    for kind in 0..2 {
        for r in 0..ROWS {
            let out = &mut out[(kind * n + row + r) * n + column..];
            if P::COLUMNS == 1 || columns == TILE {
                (-x[kind][r]).write(out);
            } else {
                (-x[kind][r]).write_first(&PLACES[..columns], out);
            }
        }
    }
}

/// The first places.
const PLACES: [usize; TILE] = [0, 1, 2, 3];
