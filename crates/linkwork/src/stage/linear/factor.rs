//! The innovations factor of the mass matrix at home, 𝓜 = (I + HφK)D(I + HφK)*, and forward dynamics by it.
//!
//! At home P = R − Σ GDG* over all that is outward, so that PH* of every degree of freedom follows from RH* by eliminating
//! one after the other, from the tips inward, without P:
//!
//! ```text
//! D = HPH*     −HG = −H(c) PH* D⁻¹ for each c inward     PH*(c) ← PH*(c) − HG(c) PH*     ε(c) ← ε(c) − HG(c) ε
//! ```
//!
//! and likewise 2P̂*H* and D. Columns inward of others go together, a block of them in registers.

use super::block::{Block, LANES, blocks, dot, lanes, places, read};
use super::spans::resistance;
use super::terms::TERMS;
use super::{ARMATURE, BY_QDD, COLUMN, EPS, GYRO, H, LAMBDA, LAMBDA_P, Linear, PAIR, PIVOT, TAU, WHOLE};
use crate::model::Compiled;
use crate::plan::Tiles;
use crate::scalar::{Pack, Scalar};
use crate::spatial::Motion;
use crate::stage::outflow::of_parent;

impl<S: Scalar> Linear<S> {
    /// Inward: PH*, 2P̂*H*, D and −HG of every degree of freedom, and ε of the torques that stand in the columns. Block by
    /// block: all that is outward of it is taken off its columns together, then they are taken off each other.
    #[inline(always)]
    pub(crate) fn eliminate<P: Pack<S>>(&mut self, m: &Compiled, tiles: &Tiles) {
        for b in (0..blocks(m.nv)).rev() {
            let (columns, lanes) = (&self.columns[b], lanes::<S>(b, m.nv));
            begin(columns, &self.subtrees[b], &mut self.pairs[b], lanes);
            let (_, outward) = tiles.outward(tiles.tile(b, b));
            for l in places::<S, P>(LANES) {
                let (h, mut left) = (read(&columns.0, H, l), read(&self.pairs[b].0, BY_QDD, l));
                for &(j, place) in outward.iter().rev() {
                    let (j, place) = (j as usize, place as usize);
                    let bits = tiles.inward(place).bits >> l;
                    let less: P = take_off(&self.pairs[j / LANES], j % LANES, self.d_inv[j], h, bits, &mut left);
                    less.write(&mut self.inward[place][l..]);
                }
                put(left, &mut self.pairs[b], l);
            }
            for j in (b * LANES..m.nv.min((b + 1) * LANES)).rev() {
                let (d_inv, place) = (self.pairs[b].0[PIVOT][j % LANES].recip(), tiles.places(j).end - 1);
                self.d_inv[j] = d_inv;
                for l in places::<S, P>(LANES) {
                    let bits = tiles.inward(place).bits >> l;
                    if bits & ((1 << P::COLUMNS) - 1) == 0 {
                        continue;
                    }
                    let (h, mut left) = (read(&columns.0, H, l), read(&self.pairs[b].0, BY_QDD, l));
                    let less: P = take_off(&self.pairs[b], j % LANES, d_inv, h, bits, &mut left);
                    less.write(&mut self.inward[place][l..]);
                    put(left, &mut self.pairs[b], l);
                }
            }
        }
        self.judge(m);
        self.eliminated = true;
    }

    /// How large that may be of which D of a column, found elsewhere, is a difference.
    #[inline(always)]
    pub(crate) fn set_whole(&mut self, column: usize, x: S) {
        self.pairs[column / LANES].0[WHOLE][column % LANES] = x;
    }

    /// Whether every pivot is sound: positive, and more than the rounding of what it is a difference of.
    #[inline(always)]
    pub(crate) fn judge(&mut self, m: &Compiled) {
        let mut unsound = S::ZERO;
        for j in 0..m.nv {
            let ratio = self.pairs[j / LANES].0[WHOLE][j % LANES] * self.d_inv[j];
            let positive = (-ratio).where_below(0.0, S::ZERO, S::ONE);
            unsound += ratio.where_below(LEAST / S::EPSILON, positive, S::ONE);
        }
        self.unsound = unsound;
    }

    /// The first degree of freedom that nothing resists in a lane, as a column, and its D.
    pub(crate) fn unsound_pivot(&self, lane: usize) -> Option<(usize, f64)> {
        (0..self.d_inv.len()).rev().find_map(|j| {
            let d_inv = self.d_inv[j].lane(lane);
            let ratio = self.pairs[j / LANES].0[WHOLE][j % LANES].lane(lane) * d_inv;
            let sound = ratio > 0.0 && ratio < LEAST / S::EPSILON;
            (!sound).then(|| (j, d_inv.recip()))
        })
    }

    /// Outward: q̈ = D⁻¹(ε − PH*·λ), λ = λ(p) + H*q̈, by which α grows.
    #[inline(always)]
    pub(super) fn resolve(&mut self, m: &Compiled, qdd: &mut [S]) {
        let n = m.bodies.len();
        let (bodies, starts) = (&m.bodies[..n], &m.columns.single.start[..n]);
        let lambdas = &mut self.scratch.lambda[..n];
        let mut last = Motion::ZERO;
        for k in 0..n {
            let body = &bodies[k];
            let lambda_p = of_parent(body, k, last, lambdas, Motion::ZERO);
            let mut lambda = lambda_p;
            for i in 0..body.dofs {
                let c = starts[k] + i;
                let (block, pairs, lane) = (&mut self.columns[c / LANES], &self.pairs[c / LANES], c % LANES);
                let left = pairs.0[EPS][lane] - lambda.dot(pairs.force(BY_QDD, lane));
                let x = self.d_inv[c] * left;
                lambda = block.motion(H, lane).mul_add(x, lambda);
                qdd[body.v + i] = x;
                block.put(LAMBDA_P, lane, lambda_p.to_array());
            }
            last = lambda;
            if body.branch.is_some() {
                lambdas[k] = lambda;
            }
            self.links[k / LANES].put(LAMBDA, k % LANES, lambda.to_array());
        }
    }
}

/// A pivot that is so small against what it is a difference of, in units of rounding, may as well be zero.
const LEAST: f64 = 0.1;

/// PH*, 2P̂*H*, D and ε: rows that follow each other.
const LEFT: usize = WHOLE - BY_QDD;

/// Takes what one column carries off those inward of it that the bits tell: −HG on them.
#[inline(always)]
fn take_off<S: Scalar, P: Pack<S>>(
    from: &Block<S, PAIR>,
    lane: usize,
    d_inv: S,
    h: [P; 6],
    bits: u8,
    left: &mut [P; LEFT],
) -> P {
    let u = from.six(BY_QDD, lane);
    let s = dot(u, h);
    let less = (P::spread(-d_inv) * s).keep(bits);
    for i in 0..6 {
        left[i] = P::spread(u[i]).mul_add(less, left[i]);
    }
    let hat = from.three(GYRO, lane).to_array();
    for i in 0..3 {
        left[GYRO - BY_QDD + i] = P::spread(hat[i]).mul_add(less, left[GYRO - BY_QDD + i]);
    }
    left[PIVOT - BY_QDD] = s.mul_add(less, left[PIVOT - BY_QDD]);
    left[EPS - BY_QDD] = P::spread(from.0[EPS][lane]).mul_add(less, left[EPS - BY_QDD]);
    less
}

#[inline(always)]
fn put<S: Scalar, P: Pack<S>>(left: [P; LEFT], to: &mut Block<S, PAIR>, l: usize) {
    for i in 0..LEFT {
        left[i].write(&mut to.0[BY_QDD + i][l..]);
    }
}

/// RH*, 2R̂*H*, HRH* and T − C of the columns of a block.
#[inline(always)]
fn begin<S: Scalar>(columns: &Block<S, COLUMN>, subtrees: &Block<S, TERMS>, out: &mut Block<S, PAIR>, lanes: usize) {
    for l in 0..lanes {
        let h = columns.motion(H, l);
        let (r, pivot, whole) = resistance(&subtrees.inertia(l), h, columns.0[ARMATURE][l]);
        out.put(BY_QDD, l, r.to_array());
        out.put(PIVOT, l, [pivot]);
        out.put(WHOLE, l, [whole]);
        let t = subtrees.terms(l);
        out.put(GYRO, l, t.gyro_adjoint(h).to_array());
        out.put(EPS, l, [columns.0[TAU][l] - h.dot(t.force)]);
    }
}
