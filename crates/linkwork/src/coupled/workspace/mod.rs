//! Users' coordinates and all coordinates: the one door that couplings are dealt with at.
//!
//! Sweeps run on the coordinates q of all joints; users of a mechanism with couplings see y, with q̇ = Rẏ. What goes in
//! and what comes out is one of a few shapes, and every sweep says which where it is declared:
//! torques contract to R*T, columns to JR, forms to R*𝓜R. Forward dynamics has sweeps of its own, with the couplings embedded
//! in the recursion. Of the tree's dense 𝓜⁻¹ what keeps followers in step is taken away: 𝓜⁻¹C*W⁻¹C𝓜⁻¹ with W = C𝓜⁻¹C*,
//! Cq̇ = 0.

mod diagonal;
mod linear;

pub(crate) use diagonal::Product;
pub(crate) use linear::in_lanes as derivatives_in_lanes;

use crate::workspace::View;

use crate::Result;
use crate::body::Layout;
use crate::coupled::dynamics::{Embed, ForwardEmbedded, InverseMassEmbedded};
use crate::coupled::model::{InLanes, Merge, Reduction};
use crate::coupled::stage::{Coupled, Lent};
use crate::dynamics::composite::MassMatrix;
use crate::dynamics::coupled_inverse_mass::ReducedInverse;
use crate::dynamics::inverse::{Bias, InverseAgain};
use crate::dynamics::inverse_mass::{MassMatrixInverse, is_from_mass};
use crate::dynamics::mass_elements::MassElements;
use crate::scalar::{Builds, Scalar};
use crate::simd::Task;
use crate::spatial::Reference;
use crate::sweep::{At, Ready, Shape, Sweep};
use crate::workspace::sweeps::Listed;

impl<'w, S: Scalar> View<'w, S> {
    /// Where sweeps are run that ask for no frame.
    fn nowhere(&self) -> At<'w> {
        At {
            frame: &self.mechanism.placed[0],
            reference: Reference::World,
        }
    }

    /// The couplings, and their memory taken out of the stages.
    fn take_coupled(&mut self) -> Option<(&'w Reduction, Lent<Coupled<S>>)> {
        let r = self.mechanism.compiled.reduction.as_ref()?;
        Some((r, core::mem::take(&mut self.stages.coupled)))
    }
}

impl<S: Scalar> View<'_, S> {
    /// A sweep on the coordinates of all joints.
    #[inline(always)]
    pub(crate) fn raw<W: Listed + Sweep<S>>(&mut self, at: At<'_>, input: &[S], out: &mut [S]) {
        let m = &self.mechanism.compiled;
        self.sweeps
            .of::<W>()
            .run(self.instructions, m, self.stages, at, input, out);
    }

    /// A sweep for users' coordinates. What a sweep has no use for is not made: its shape is a constant.
    pub(crate) fn coupled<W: Listed<Partner: Listed + Sweep<S>> + Sweep<S>>(
        &mut self,
        at: At<'_>,
        input: &[S],
        out: &mut [S],
    ) {
        let Some(r) = &self.mechanism.compiled.reduction else {
            return;
        };
        if const { matches!(W::SHAPE, Shape::Plain) } {
            self.raw::<W>(at, input, out);
        } else if const { matches!(W::SHAPE, Shape::Motions) } {
            self.embedded_inverse(r, input, out);
        } else if const { matches!(W::SHAPE, Shape::Inverse) } {
            self.coupled_inverse(r, out);
        } else if const { matches!(W::SHAPE, Shape::Forward) } {
            self.embedded::<ForwardEmbedded>(r, input, out);
        } else if const { matches!(W::SHAPE, Shape::BiasFree) } {
            self.embedded_bias_free(r, input, out);
        } else {
            let sweeps = [self.sweeps.of::<W>(), self.sweeps.of::<W::Partner>()];
            self.contracted(r, sweeps, W::SHAPE, at, input, out);
        }
    }

    /// A sweep of the tree, for users' coordinates.
    #[inline(never)]
    fn contracted(
        &mut self,
        r: &Reduction,
        [ready, partner]: [&Ready<S>; 2],
        shape: Shape,
        at: At<'_>,
        input: &[S],
        out: &mut [S],
    ) {
        let m = &self.mechanism.compiled;
        let mut c = core::mem::take(&mut self.stages.coupled);
        let n = m.nv;
        let run = |view: &mut Self, input: &[S], out: &mut [S]| {
            ready.run(view.instructions, m, view.stages, at, input, out);
        };
        let run_partner = |view: &mut Self, input: &[S], out: &mut [S]| {
            partner.run(view.instructions, m, view.stages, at, input, out);
        };
        let curved = r.is_curved;
        match shape {
            Shape::Torques | Shape::Dynamics => {
                let (mut x, mut tau) = (core::mem::take(&mut c.input), core::mem::take(&mut c.output));
                let moves = shape == Shape::Dynamics && curved;
                if !input.is_empty() {
                    self.instructions.perform::<S, _>(Expand(&c, r, input, &mut x));
                    if moves {
                        c.add_bend(r, &mut x);
                    }
                }
                run(self, if input.is_empty() { &[] } else { &x }, &mut tau);
                self.instructions.perform::<S, _>(Contract(&c, r, &tau, &mut *out));
                if moves && input.is_empty() {
                    x.fill(S::ZERO);
                    c.add_bend(r, &mut x);
                    run_partner(self, &x, &mut tau);
                    c.contract_more(r, &tau, out);
                }
                (c.input, c.output) = (x, tau);
            }
            Shape::Columns | Shape::ColumnsRate => {
                let rows = out.len() / r.nv.max(1);
                let mut wide = core::mem::take(&mut c.matrix);
                wide.resize(wide.len().max(rows * n), S::ZERO);
                run(self, &[], &mut wide[..rows * n]);
                for (wide, out) in wide.chunks_exact(n).zip(out.chunks_exact_mut(r.nv)) {
                    self.instructions.perform::<S, _>(Contract(&c, r, wide, out));
                }
                if shape == Shape::ColumnsRate && curved {
                    run_partner(self, &[], &mut wide[..rows * n]);
                    for (wide, out) in wide.chunks_exact(n).zip(out.chunks_exact_mut(r.nv)) {
                        Coupled::contract_followers(r, &c.ratio_rate, wide, out);
                    }
                }
                c.matrix = wide;
            }
            Shape::Form | Shape::CoriolisForm => {
                let mut wide = core::mem::take(&mut c.matrix);
                wide.resize(wide.len().max(n * n), S::ZERO);
                run(self, &[], &mut wide[..n * n]);
                if shape == Shape::Form {
                    let merge = r.merge_mass(m);
                    self.instructions
                        .perform::<S, _>(Merged(&c, r, merge, &wide[..n * n], &mut *out));
                } else {
                    c.congruence(r, &wide[..n * n], out);
                }
                if shape == Shape::CoriolisForm && curved {
                    run_partner(self, &[], &mut wide[..n * n]);
                    c.congruence_followers(r, |v| c.ratio_rate[v], &wide[..n * n], out);
                }
                c.matrix = wide;
            }
            Shape::Plain | Shape::Tree | Shape::Motions | Shape::Inverse | Shape::Forward | Shape::BiasFree => {}
        }
        self.stages.coupled = c;
    }

    /// The Riccati recursion with couplings in it.
    fn need_embedded(&mut self) {
        if !self.stages.filled.is_embedded() {
            self.raw::<Embed>(self.nowhere(), &[], &mut []);
        }
    }

    /// Torques to accelerations, by a sweep that knows couplings.
    fn embedded<W: Listed + Sweep<S>>(&mut self, r: &Reduction, input: &[S], out: &mut [S]) {
        let c = &mut self.stages.coupled;
        let (mut tau, mut qdd) = (core::mem::take(&mut c.input), core::mem::take(&mut c.output));
        tau.fill(S::ZERO);
        for (x, &v) in input.iter().zip(&r.independent) {
            tau[v] = *x;
        }
        self.raw::<W>(self.nowhere(), &tau, &mut qdd);
        for (out, &v) in out.iter_mut().zip(&r.independent) {
            *out = qdd[v];
        }
        (self.stages.coupled.input, self.stages.coupled.output) = (tau, qdd);
    }

    fn embedded_inverse(&mut self, r: &Reduction, tau: &[S], out: &mut [S]) {
        self.need_embedded();
        self.embedded::<InverseMassEmbedded>(r, tau, out);
    }

    /// 𝓜⁻¹ from 𝓜 where that keeps its digits, else column by column.
    fn coupled_inverse(&mut self, r: &Reduction, out: &mut [S]) {
        if !self.is_reduced() {
            return self.embedded_columns(r, out);
        }
        let mut mass = core::mem::take(&mut self.stages.coupled.elements);
        if const { S::LANES > 1 } {
            let plan = r.mass_in_lanes(&self.mechanism.compiled);
            self.mass_list(plan, |view, list| {
                view.instructions
                    .perform::<S, _>(Gather(list, &plan.pattern, &mut mass));
            });
        } else {
            self.sweep::<MassMatrix>(&[], &mut mass);
        }
        self.raw::<ReducedInverse>(self.nowhere(), &mass, out);
        self.stages.coupled.elements = mass;
    }

    /// Whether 𝓜⁻¹ is made from 𝓜 where joints follow others, and ∂q̈ with it.
    pub(crate) fn is_reduced(&self) -> bool {
        let r = self.mechanism.compiled.reduction.as_ref();
        r.is_some_and(|r| r.reduced.is_some()) && const { S::SPECIAL || matches!(S::BUILDS, Builds::Once) }
    }

    /// The elements of 𝓜 that lanes compute, and the sums behind them, for somebody to take.
    fn mass_list(&mut self, plan: &InLanes, take: impl FnOnce(&Self, &[S])) {
        let mut list = core::mem::take(&mut self.stages.coupled.matrix);
        list.resize(list.len().max(plan.length() + 1), S::ZERO);
        self.sweep_lanes::<MassElements>(&[], &mut list[..plan.tree]);
        self.merge_list(plan, &mut list);
        take(self, &list);
        self.stages.coupled.matrix = list;
    }

    /// Sums of a list that lanes have computed, and a zero behind.
    fn merge_list(&self, plan: &InLanes, list: &mut [S]) {
        let c = &self.stages.coupled;
        let task = MergedList(c, &plan.merge, plan.tree, &mut list[..plan.length()]);
        self.instructions.perform::<S, _>(task);
    }

    /// 𝓜 over lanes, where joints follow others: what is computed, in the order of its [plan](InLanes).
    pub(crate) fn coupled_mass_list(&mut self, out: &mut [S]) {
        let Some(r) = &self.mechanism.compiled.reduction else {
            return;
        };
        let plan = r.mass_in_lanes(&self.mechanism.compiled);
        self.sweep_lanes::<MassElements>(&[], &mut out[..plan.tree]);
        self.merge_list(plan, out);
    }

    /// 𝓜⁻¹ column by column. What keeps followers in step is part of the recursion, so that large ratios cost no digits: the
    /// tree's inverse would lose as many as they have.
    fn embedded_columns(&mut self, r: &Reduction, out: &mut [S]) {
        self.need_embedded();
        let mut unit = core::mem::take(&mut self.stages.coupled.load_change);
        for (i, column) in out.chunks_exact_mut(r.nv.max(1)).enumerate() {
            unit.fill(S::ZERO);
            unit[i] = S::ONE;
            self.embedded::<InverseMassEmbedded>(r, &unit, column);
        }
        // What rounding makes of the two elements of a pair.
        for i in 0..r.nv {
            for j in 0..i {
                let both = (out[i * r.nv + j] + out[j * r.nv + i]) * S::lift(0.5);
                (out[i * r.nv + j], out[j * r.nv + i]) = (both, both);
            }
        }
        self.stages.coupled.load_change = unit;
    }

    fn embedded_bias_free(&mut self, r: &Reduction, tau: &[S], out: &mut [S]) {
        let mut rest = core::mem::take(&mut self.stages.coupled.load_change);
        self.sweep::<Bias>(&[], &mut rest);
        for (rest, tau) in rest.iter_mut().zip(tau) {
            *rest = *tau - *rest;
        }
        self.embedded_inverse(r, &rest, out);
        self.stages.coupled.load_change = rest;
    }

    /// The degree of freedom of all joints, in one lane, that nothing resists, and its D.
    pub(crate) fn unsound_embedded(&self, r: &Reduction, lane: usize) -> Option<(usize, f64)> {
        if !self.stages.filled.is_embedded() {
            return None;
        }
        let (x, e) = (&self.stages.embedded, r.embedding(&self.mechanism.compiled));
        let d = |d_inv: S| d_inv.lane(lane).recip();
        let alone = e.independent.iter().find(|&&v| !x.gains[v].is_sound(lane));
        if let Some(&v) = alone {
            return Some((v, d(x.gains[v].d_inv)));
        }
        let group = (0..e.leaders.len()).find(|&group| !x.is_sound(group, lane))?;
        Some((e.leaders[group], d(x.closed[group].d_inv)))
    }

    /// log det 𝓜 of what is independent.
    pub(crate) fn log_det_coupled(&mut self, r: &Reduction) -> Result<S> {
        self.need_embedded();
        self.check_pivots()?;
        let (x, e) = (&self.stages.embedded, r.embedding(&self.mechanism.compiled));
        let alone = e.independent.iter().map(|&v| x.gains[v].d_inv);
        let pivots = alone.chain(x.closed.iter().map(|gain| gain.d_inv));
        Ok(pivots.fold(S::ZERO, |sum, d_inv| sum - d_inv.ln()))
    }

    /// Fills the accelerations of links and the forces across joints for given independent accelerations.
    pub(crate) fn fill_accelerations(&mut self, qdd: &[S]) {
        let mut tau = core::mem::take(&mut self.stages.scratch.dofs);
        self.sweep::<InverseAgain>(qdd, &mut tau[..qdd.len()]);
        self.stages.scratch.dofs = tau;
    }

    /// ∂(R*𝓜R)/∂y along one independent degree of freedom: all that moves with it, and R where it bends.
    pub(crate) fn coupled_mass_derivative(&mut self, dof: usize, out: &mut [S]) {
        let Some((r, mut c)) = self.take_coupled() else { return };
        let n = r.v_from.len();
        let mut wide = core::mem::take(&mut c.matrix);
        wide.resize(wide.len().max(2 * n * n), S::ZERO);
        let (sum, one) = wide.split_at_mut(n * n);
        sum.fill(S::ZERO);
        for v in (0..n).filter(|&v| r.v_from[v] == dof) {
            self.tree_mass_derivative(v, &mut one[..n * n]);
            for (sum, x) in sum.iter_mut().zip(&*one) {
                *sum += c.ratio[v] * *x;
            }
        }
        c.congruence(r, sum, out);
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

    /// The elements of 𝓜 that are not zero, picked from all of it.
    pub(crate) fn mass_entries(&mut self, out: &mut [S]) {
        let (m, n) = (self.mechanism, self.nv());
        let mut all = core::mem::take(&mut self.stages.scratch.tiles);
        all.resize(all.len().max(n * n), S::ZERO);
        self.sweep::<MassMatrix>(&[], &mut all[..n * n]);
        match &m.compiled.reduction {
            None => pick_related(&m.compiled.columns.single, &all, out),
            Some(r) => {
                for (x, (row, column)) in out.iter_mut().zip(r.pattern(&m.compiled)) {
                    *x = all[row * n + column];
                }
            }
        }
        self.stages.scratch.tiles = all;
    }

    /// 𝓜⁻¹, dense; of lanes its elements take less to be made from.
    pub(crate) fn mass_inverse(&mut self, out: &mut [S]) {
        let m = &self.mechanism.compiled;
        if m.reduction.is_none() && is_from_mass::<S>(m) {
            if const { S::LANES > 1 } {
                self.sweep_lanes::<MassElements>(&[], out);
            } else {
                self.sweep::<MassMatrix>(&[], out);
            }
        }
        self.sweep::<MassMatrixInverse>(&[], out);
    }

    /// An error where something is not defined for joints that follow others.
    pub(crate) fn refuse_coupled(&self, what: &'static str) -> Result<()> {
        self.mechanism.refuse_coupled(what)
    }
}

/// Takes in a configuration.
pub(crate) struct Follow<'a, S>(
    pub(crate) &'a mut Coupled<S>,
    pub(crate) &'a Reduction,
    pub(crate) &'a [S],
);

impl<S: Scalar> Task for Follow<'_, S> {
    #[inline(always)]
    fn run(self) {
        self.0.configure(self.1, self.2);
    }
}

/// Takes in a velocity, and gives that of all joints.
pub(crate) struct Move<'a, S>(
    pub(crate) &'a mut Coupled<S>,
    pub(crate) &'a Reduction,
    pub(crate) &'a [S],
    pub(crate) &'a mut [S],
);

impl<S: Scalar> Task for Move<'_, S> {
    #[inline(always)]
    fn run(self) {
        self.0.set_moving(self.1, self.2, self.3);
    }
}

/// out = Rx.
struct Expand<'a, S>(&'a Coupled<S>, &'a Reduction, &'a [S], &'a mut [S]);

impl<S: Scalar> Task for Expand<'_, S> {
    #[inline(always)]
    fn run(self) {
        self.0.expand(self.1, self.2, self.3);
    }
}

/// out = R*x.
struct Contract<'a, S>(&'a Coupled<S>, &'a Reduction, &'a [S], &'a mut [S]);

impl<S: Scalar> Task for Contract<'_, S> {
    #[inline(always)]
    fn run(self) {
        self.0.contract(self.1, self.2, self.3);
    }
}

/// Dense matrices of what is independent, from those of all joints.
struct Merged<'a, S>(&'a Coupled<S>, &'a Reduction, &'a Merge, &'a [S], &'a mut [S]);

impl<S: Scalar> Task for Merged<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Self(c, r, merge, x, out) = self;
        c.merge(r, merge, x, out);
    }
}

/// The same of lists, of so many elements of the tree.
struct MergedList<'a, S>(&'a Coupled<S>, &'a Merge, usize, &'a mut [S]);

impl<S: Scalar> Task for MergedList<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Self(c, merge, tree, list) = self;
        c.merge_list(merge, tree, list);
    }
}

/// Numbers from their places in a list.
struct Gather<'a, S>(&'a [S], &'a [u32], &'a mut [S]);

impl<S: Scalar> Task for Gather<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Self(list, places, out) = self;
        let out = &mut out[..places.len()];
        for i in 0..places.len() {
            out[i] = list[places[i] as usize];
        }
    }
}

/// What is independent of the tree's 𝓜⁻¹, kept in step.
pub(crate) struct ConstrainInverse<'a, S>(
    pub(crate) &'a mut Coupled<S>,
    pub(crate) &'a Reduction,
    pub(crate) &'a [S],
    pub(crate) &'a mut [S],
);

impl<S: Scalar> Task for ConstrainInverse<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Self(c, r, inverse, out) = self;
        c.take_inverse(r, inverse);
        c.constrain_inverse(r, inverse, out);
    }
}

/// The elements of a matrix in the columns of each degree of freedom's subtree.
fn pick_related<S: Scalar>(layout: &Layout, all: &[S], out: &mut [S]) {
    let (dof, mut next) = (&layout.dof[..], 0);
    for c in 0..dof.len() {
        let row = &all[dof[c] * dof.len()..][..dof.len()];
        for other in c..layout.end_at[c] {
            out[next] = row[dof[other]];
            next += 1;
        }
    }
}
