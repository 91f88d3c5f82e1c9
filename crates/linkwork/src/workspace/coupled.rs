//! Users' coordinates and all coordinates: the one door that couplings are dealt with at.
//!
//! Sweeps run on the coordinates q of all joints; users of a mechanism with couplings see y, with q̇ = Rẏ. What goes in
//! and what comes out is one of a few shapes, and every sweep says which in the table of [`super::sweeps`]:
//! torques contract to R*T, columns to JR, forms to R*𝓜R. Forward dynamics runs on the tree, and the followers' torques
//! that keep q̈ = Rÿ + Ṙẏ come from a small system, as in a closed mechanism: W = (D^-½(I − HψK)C*)*(…), C q̇ = 0; or it
//! goes by the factor of R*𝓜R, where that is asked for.

mod diagonal;
mod linear;

pub(super) use diagonal::Product;

use super::View;
use super::sweeps::Listed;
use crate::Result;
use crate::dynamics::composite::MassMatrix;
use crate::dynamics::inverse::Inverse;
use crate::dynamics::operational::{FromInnovations, HomeGains, InnovationsOfTorques};
use crate::model::{Placed, Reduction};
use crate::scalar::Scalar;
use crate::simd::{At, Ready, Sweep};
use crate::spatial::{Pose, Reference};
use crate::stage::coupled::Coupled;

/// What a sweep takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing per degree of freedom, or what its caller takes care of.
    Plain,
    /// What couplings leave undefined: not run, and refused by [`View::check_pivots`].
    Tree,
    /// Motions, if anything, to torques.
    Torques,
    /// Accelerations, if anything, to torques, velocity terms included; if nothing, its partner is 𝓜x.
    Dynamics,
    /// Rows of one number per degree of freedom: velocities per q̇.
    Columns,
    /// The rates of such rows; its partner gives the rows.
    ColumnsRate,
    /// A matrix that takes motions to torques.
    Form,
    /// The matrix whose product with q̇ is the velocity terms; its partner gives 𝓜.
    CoriolisForm,
    /// Torques to accelerations, by 𝓜⁻¹ alone or with velocity terms.
    Motions,
    Forward,
    /// 𝓜⁻¹.
    Inverse,
}

impl<'m, S: Scalar> View<'_, 'm, S> {
    /// Where sweeps are run that ask for no frame.
    fn nowhere(&self) -> At<'m> {
        At {
            frame: &self.mechanism.placed[0],
            reference: Reference::World,
        }
    }

    /// The couplings, and their memory taken out of the stages.
    fn take_coupled(&mut self) -> Option<(&'m Reduction, Coupled<S>)> {
        let r = self.mechanism.compiled.reduction.as_ref()?;
        Some((r, core::mem::take(&mut self.stages.coupled)))
    }
}

impl<S: Scalar> View<'_, '_, S> {
    /// A sweep on the coordinates of all joints.
    #[inline(always)]
    pub(super) fn raw<W: Listed + Sweep<S>>(&mut self, at: At<'_>, input: &[S], out: &mut [S]) {
        let m = &self.mechanism.compiled;
        self.sweeps
            .of::<W>()
            .run(self.instructions, m, self.stages, at, input, out);
    }

    /// A sweep for users' coordinates.
    #[inline(never)]
    pub(super) fn coupled(
        &mut self,
        [ready, partner]: [&Ready<S>; 2],
        shape: Shape,
        at: At<'_>,
        input: &[S],
        out: &mut [S],
    ) {
        let m = &self.mechanism.compiled;
        let Some(r) = &m.reduction else { return };
        if r.by_factor && matches!(shape, Shape::Motions | Shape::Forward) {
            return self.coupled_by_factor(shape, input, out);
        }
        let mut c = core::mem::take(&mut self.stages.coupled);
        let n = m.nv;
        let run = |view: &mut Self, input: &[S], out: &mut [S]| {
            ready.run(view.instructions, m, view.stages, at, input, out);
        };
        let run_partner = |view: &mut Self, input: &[S], out: &mut [S]| {
            partner.run(view.instructions, m, view.stages, at, input, out);
        };
        let curved = r.is_curved;
        c.is_refused = shape == Shape::Tree;
        match shape {
            Shape::Plain => run(self, input, out),
            Shape::Tree => out.fill(S::lift(f64::NAN)),
            Shape::Torques | Shape::Dynamics => {
                let (mut x, mut tau) = (core::mem::take(&mut c.input), core::mem::take(&mut c.output));
                let moves = shape == Shape::Dynamics && curved;
                if !input.is_empty() {
                    c.expand(r, input, &mut x);
                    if moves {
                        c.add_bend(r, &mut x);
                    }
                }
                run(self, if input.is_empty() { &[] } else { &x }, &mut tau);
                out.fill(S::ZERO);
                Coupled::contract(r, &c.ratio, &tau, out);
                if moves && input.is_empty() {
                    x.fill(S::ZERO);
                    c.add_bend(r, &mut x);
                    run_partner(self, &x, &mut tau);
                    Coupled::contract(r, &c.ratio, &tau, out);
                }
                (c.input, c.output) = (x, tau);
            }
            Shape::Columns | Shape::ColumnsRate => {
                let rows = out.len() / r.nv.max(1);
                c.matrix.resize(c.matrix.len().max(rows * n), S::ZERO);
                let mut wide = core::mem::take(&mut c.matrix);
                run(self, &[], &mut wide[..rows * n]);
                out.fill(S::ZERO);
                for (wide, out) in wide.chunks_exact(n).zip(out.chunks_exact_mut(r.nv)) {
                    Coupled::contract(r, &c.ratio, wide, out);
                }
                if shape == Shape::ColumnsRate && curved {
                    run_partner(self, &[], &mut wide[..rows * n]);
                    for (wide, out) in wide.chunks_exact(n).zip(out.chunks_exact_mut(r.nv)) {
                        Coupled::contract(r, &c.ratio_rate, wide, out);
                    }
                }
                c.matrix = wide;
            }
            Shape::Form | Shape::CoriolisForm => {
                let mut wide = core::mem::take(&mut c.matrix);
                wide.resize(wide.len().max(n * n), S::ZERO);
                run(self, &[], &mut wide[..n * n]);
                out.fill(S::ZERO);
                c.congruence(r, &c.ratio, &wide[..n * n], out);
                if shape == Shape::CoriolisForm && curved {
                    run_partner(self, &[], &mut wide[..n * n]);
                    c.congruence(r, &c.ratio_rate, &wide[..n * n], out);
                }
                c.matrix = wide;
            }
            Shape::Motions | Shape::Forward => {
                self.factor_couplings(r, &mut c);
                let (mut tau, mut qdd) = (core::mem::take(&mut c.input), core::mem::take(&mut c.output));
                tau.fill(S::ZERO);
                for (x, &v) in input.iter().zip(&r.independent) {
                    tau[v] = *x;
                }
                run(self, &tau, &mut qdd);
                for (i, follower) in r.followers.iter().enumerate() {
                    let mut apart = c.ratio[follower.v] * qdd[follower.leader] - qdd[follower.v];
                    if shape == Shape::Forward && curved {
                        apart += c.ratio_rate[follower.v] * c.yd[r.v_from[follower.v]];
                    }
                    c.lambda[i] = apart;
                }
                c.solve();
                // Only the independent ones are asked for.
                tau.fill(S::ZERO);
                for (row, lambda) in c.rows.chunks_exact(n).zip(&c.lambda) {
                    for (tau, x) in tau.iter_mut().zip(row) {
                        *tau = lambda.mul_add(*x, *tau);
                    }
                }
                let mut change = core::mem::take(&mut c.matrix);
                change.resize(change.len().max(n), S::ZERO);
                self.raw::<FromInnovations>(at, &tau, &mut change[..n]);
                for (out, &v) in out.iter_mut().zip(&r.independent) {
                    *out = qdd[v] + change[v];
                }
                (c.input, c.output, c.matrix) = (tau, qdd, change);
            }
            Shape::Inverse => {
                self.factor_couplings(r, &mut c);
                let mut wide = core::mem::take(&mut c.matrix);
                wide.resize(wide.len().max(n * n), S::ZERO);
                run(self, &[], &mut wide[..n * n]);
                c.constrain_inverse(r, n, &wide, out);
                c.matrix = wide;
            }
        }
        self.stages.coupled = c;
    }

    /// The rows of the couplings, and the factor of their products.
    fn factor_couplings(&mut self, r: &Reduction, c: &mut Coupled<S>) {
        if c.is_factored {
            return;
        }
        let n = self.mechanism.compiled.nv;
        let compiled = &self.mechanism.compiled;
        self.raw::<HomeGains>(self.nowhere(), &[], &mut []);
        c.rows.fill(S::ZERO);
        let mut way = core::mem::take(&mut c.input);
        for (i, follower) in r.followers.iter().enumerate() {
            for (link, torque) in follower.links.into_iter().zip([S::ONE, -c.ratio[follower.v]]) {
                let frame = Placed {
                    body: Some(link),
                    pose: Pose::IDENTITY,
                };
                let at = At {
                    frame: &frame,
                    reference: Reference::World,
                };
                let length = compiled.way_length(Some(link));
                self.raw::<InnovationsOfTorques>(at, &[torque], &mut way[..length]);
                compiled.scatter(Some(link), &way[..length], &mut c.rows[i * n..(i + 1) * n]);
            }
        }
        c.input = way;
        c.factor(n);
    }

    /// Fills the accelerations of links and the forces across joints for given independent accelerations.
    pub(super) fn fill_accelerations(&mut self, qdd: &[S]) {
        let mut tau = core::mem::take(&mut self.stages.dofs);
        self.sweep::<Inverse>(qdd, &mut tau[..qdd.len()]);
        self.stages.dofs = tau;
    }

    /// ∂(R*𝓜R)/∂y along one independent degree of freedom: all that moves with it, and R where it bends.
    pub(super) fn coupled_mass_derivative(&mut self, dof: usize, out: &mut [S]) {
        let Some((r, mut c)) = self.take_coupled() else { return };
        let n = r.v_from.len();
        let mut wide = core::mem::take(&mut c.matrix);
        wide.resize(wide.len().max(n * n), S::ZERO);
        out.fill(S::ZERO);
        for v in (0..n).filter(|&v| r.v_from[v] == dof) {
            self.stages.coupled = Coupled::default();
            self.tree_mass_derivative(v, &mut wide[..n * n]);
            let along = c.ratio[v];
            wide[..n * n].iter_mut().for_each(|x| *x = along * *x);
            c.congruence(r, &c.ratio, &wide[..n * n], out);
        }
        if r.is_curved {
            self.raw::<MassMatrix>(self.nowhere(), &[], &mut wide[..n * n]);
            for (follower, bend) in r.followers.iter().zip(&c.bend) {
                if r.v_from[follower.v] != dof {
                    continue;
                }
                for (x, (&to, ratio)) in wide[follower.v * n..].iter().zip(r.v_from.iter().zip(&c.ratio)) {
                    let change = *bend * *ratio * *x;
                    out[dof * r.nv + to] += change;
                    out[to * r.nv + dof] += change;
                }
            }
        }
        c.matrix = wide;
        self.stages.coupled = c;
    }

    /// log det of W, for log det 𝓜 of what is independent.
    pub(super) fn log_det_couplings(&mut self) -> f64 {
        let Some(r) = &self.mechanism.compiled.reduction else {
            return 0.0;
        };
        let mut c = core::mem::take(&mut self.stages.coupled);
        self.factor_couplings(r, &mut c);
        let count = r.followers.len();
        let sum = (0..count).map(|i| -2.0 * c.factor[i * count + i].lane(0).ln()).sum();
        self.stages.coupled = c;
        sum
    }

    /// An error where something is not defined for joints that follow others.
    pub(super) fn refuse_coupled(&self, what: &'static str) -> Result<()> {
        self.mechanism.refuse_coupled(what)
    }
}
