//! ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ of several states at once.
//!
//! What [`super::product`] does tile by tile, with the same sums in the same order. Here −ε starts as what pairs of columns
//! give, found link by link as in [`super::related`], with PH* and 2P̂*H* for RH* and 2R̂*H*; then rows are added to rows.

use super::super::tiled::{tiled, within};
use super::product::{self, Three};
use super::related::{Inner, Pair, Pairs};
use crate::model::{Compiled, Tiles};
use crate::scalar::Scalar;
use crate::simd::{At, Sweep};
use crate::spatial::Force;
use crate::stage::Stages;
use crate::stage::linear::{KINDS, LANES, bit, blocks};

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
        s.filled.eliminated = true;
        linear.rows.resize(m.nv * wide, [[S::ZERO; LANES]; KINDS]);
        let mut carried = Force::ZERO;
        for k in (0..m.bodies.len()).rev() {
            let terms = linear.take_in_driven(m, k, &mut carried);
            let (spans, mut rows) = (
                &linear.spans,
                Rows {
                    eps: &mut linear.rows,
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
        add_rows(m, tiles, &linear.inward, &mut linear.rows);
        s.columns.resize(LANES * m.nv, S::ZERO);
        let (weights, _) = s.columns.as_chunks_mut();
        let out = &mut out[..KINDS * m.nv * m.nv];
        product::outward::<S, S>(m, tiles, &linear.d_inv, &linear.rows, weights, out);
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

/// Inward: Σ HG(c, j) ε(j, k) for descendants k, over all j outward of c; and −N right of the diagonal.
#[inline(always)]
fn add_rows<S: Scalar>(m: &Compiled, tiles: &Tiles, inward: &[[S; LANES]], eps: &mut [Three<S>]) {
    let wide = blocks(m.nv);
    for c in (0..wide).rev() {
        let (rows, within) = (LANES.min(m.nv - c * LANES), within(m.nv, tiles, inward, c));
        for b in c..wide {
            let tile = tiles.tile(c, b);
            if !tile.descends {
                continue;
            }
            let (within_reach, farther) = tiles.outward(tile);
            for l in 0..LANES.min(m.nv - b * LANES) {
                let mut sum = [[S::ZERO; LANES]; KINDS];
                for r in 0..rows {
                    if bit(tile.outer[r], l) {
                        let own = &eps[(c * LANES + r) * wide + b];
                        (sum[0][r], sum[1][r]) = (own[0][l], own[1][l]);
                    }
                }
                for &(j, place) in within_reach {
                    let (x, less) = (&eps[j as usize * wide + b], &inward[place as usize]);
                    let x = [x[0][l], x[1][l], x[2][l]];
                    for r in 0..LANES {
                        product::add(&mut sum, r, less[r], x);
                    }
                }
                // Farther out N is nought.
                for &(j, place) in farther {
                    let (x, less) = (&eps[j as usize * wide + b], &inward[place as usize]);
                    let x = [x[0][l], x[1][l]];
                    for r in 0..LANES {
                        product::add(&mut sum, r, less[r], x);
                    }
                }
                for r in (0..LANES).rev() {
                    if r >= rows {
                        continue;
                    }
                    let own = &mut eps[(c * LANES + r) * wide + b];
                    if bit(tile.outer[r], l) {
                        (own[0][l], own[1][l]) = (sum[0][r], sum[1][r]);
                    }
                    if c * LANES + r == b * LANES + l {
                        sum[2][r] -= S::ONE;
                    }
                    own[2][l] = sum[2][r];
                    let x = [own[0][l], own[1][l], sum[2][r]];
                    for i in 0..r {
                        product::add(&mut sum, i, within[r][i], x);
                    }
                }
            }
        }
    }
}
