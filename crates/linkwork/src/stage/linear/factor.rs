//! The innovations factor of the mass matrix at home, 𝓜 = (I + HφK)D(I + HφK)*, and forward dynamics by it.
//!
//! At home P = R − Σ GDG* over all that is outward, so that PH* of every degree of freedom follows from RH* by eliminating
//! one after the other, from the tips inward, without P:
//!
//! ```text
//! D = HPH*     −HG = −H(c) PH* D⁻¹ for each c inward     PH*(c) ← PH*(c) − HG(c) PH*     ε(c) ← ε(c) − HG(c) ε
//! ```
//!
//! and likewise 2P̂*H* and D. All that is inward goes together, a block of columns to a register.

use super::block::{Block, LANES, blocks, dot, lanes, read};
use super::spans::resistance;
use super::terms::TERMS;
use super::{ALPHA, ALPHA_P, ARMATURE, BY_QDD, COLUMN, EPS, GYRO, H, Linear, PAIR, PIVOT, QDD, WHOLE};
use crate::model::{Compiled, Tiles};
use crate::scalar::{Pack, Scalar};
use crate::spatial::Motion;
use crate::stage::outflow::of_parent;

impl<S: Scalar> Linear<S> {
    /// Inward: PH*, 2P̂*H*, D and −HG of every degree of freedom, and ε of the torques that stand in the columns.
    #[inline(always)]
    pub(crate) fn eliminate<P: Pack<S>>(&mut self, m: &Compiled, tiles: &Tiles) {
        for b in (0..blocks(m.nv)).rev() {
            begin(
                &self.columns[b],
                &self.subtrees[b],
                &mut self.pairs[b],
                lanes::<S>(b, m.nv),
            );
        }
        self.inward::<P>(m, tiles);
        self.eliminated = true;
    }

    #[inline(always)]
    fn inward<P: Pack<S>>(&mut self, m: &Compiled, tiles: &Tiles) {
        for j in (0..m.nv).rev() {
            let (own, lane) = (&self.pairs[j / LANES].0, j % LANES);
            let (mut u, mut hat) = ([S::ZERO; 6], [S::ZERO; 3]);
            for i in 0..6 {
                u[i] = own[BY_QDD + i][lane];
            }
            for i in 0..3 {
                hat[i] = own[GYRO + i][lane];
            }
            let (d_inv, eps) = (own[PIVOT][lane].recip(), own[EPS][lane]);
            self.d_inv[j] = d_inv;
            for place in tiles.places(j) {
                let inward = tiles.inward(place);
                let b = inward.block as usize;
                let (columns, pairs, kept) = (&self.columns[b].0, &mut self.pairs[b].0, &mut self.inward[place]);
                for l in (0..LANES).step_by(P::COLUMNS) {
                    let bits = inward.bits >> l;
                    if bits & ((1 << P::COLUMNS) - 1) == 0 {
                        continue;
                    }
                    let s = dot::<S, P>(u, read(columns, H, l));
                    let less = (P::spread(-d_inv) * s).keep(bits);
                    less.write(&mut kept[l..]);
                    for i in 0..6 {
                        add(u[i], less, &mut pairs[BY_QDD + i][l..]);
                    }
                    let row = &mut pairs[PIVOT][l..];
                    s.mul_add(less, P::read(row)).write(row);
                    for i in 0..3 {
                        add(hat[i], less, &mut pairs[GYRO + i][l..]);
                    }
                    add(eps, less, &mut pairs[EPS][l..]);
                }
            }
        }
        self.judge(m);
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

    /// Outward: q̈ = D⁻¹(ε − PH*·λ), λ = λ(p) + H*q̈; α grows by λ.
    #[inline(always)]
    pub(super) fn resolve(&mut self, m: &Compiled, qdd: &mut [S]) {
        let n = m.bodies.len();
        let (bodies, starts) = (&m.bodies[..n], &m.columns.single.start[..n]);
        let (lambdas, alphas) = (&mut self.lambda[..n], &mut self.alpha[..n]);
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
                let alpha_p = block.motion(ALPHA_P, lane) + lambda_p;
                block.put(ALPHA_P, lane, alpha_p.to_array());
            }
            (lambdas[k], last) = (lambda, lambda);
            alphas[k] += lambda;
            self.links[k / LANES].put(ALPHA, k % LANES, lambda.to_array());
        }
    }
}

/// A pivot that is so small against what it is a difference of, in units of rounding, may as well be nought.
const LEAST: f64 = 0.1;

/// Adds a multiple to some columns of a row.
#[inline(always)]
fn add<S: Scalar, P: Pack<S>>(weight: S, x: P, row: &mut [S]) {
    P::spread(weight).mul_add(x, P::read(row)).write(row);
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
        out.put(EPS, l, [columns.0[QDD][l] - h.dot(t.force)]);
    }
}
