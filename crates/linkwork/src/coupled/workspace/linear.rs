//! Linearized dynamics where joints follow others: the chain rule through q = g(y).
//!
//! With R = g′, Ṙ = g″ẏ and R̈ = g‴ẏ² + g″ÿ, each one number per row, changes go between users' coordinates and all by
//!
//! ```text
//! δq = Rδy      δq̇ = Ṙδy + Rδẏ      δq̈ = R̈δy + 2Ṙδẏ + Rδÿ      δ(R*T) = R*δT + Eδy,   E = Σ g″T
//! ```
//!
//! so that products and their transposes stay O(n), and matrices O(n²) for each follower.

use super::{ConstrainInverse, Expand, Gather, Merged};
use crate::Result;
use crate::coupled::model::{InLanes, Reduction};
use crate::coupled::stage::Coupled;
use crate::dynamics::coupled_inverse_mass::{ReducedInverse, ReducedProduct};
use crate::dynamics::innovations::InverseMassTimes;
use crate::dynamics::inverse::Inverse;
use crate::dynamics::linearized::Linearize;
use crate::dynamics::linearized::forward::ForwardDerivatives;
use crate::dynamics::linearized::inverse::InverseDerivatives;
use crate::dynamics::linearized::inverse_in_lanes::{self, TorqueDerivatives};
use crate::dynamics::linearized::products::{TorqueAdjoint, TorqueChange};
use crate::dynamics::linearized::regressor::Regressor;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::simd::Task;
use crate::workspace::View;

impl<S: Scalar> View<'_, S> {
    /// Linearizes about independent accelerations.
    pub(crate) fn linearize_coupled(&mut self, ydd: &[S]) -> Result<()> {
        self.mechanism.check_derivatives(3 + S::ORDER, "a linearization")?;
        let Some((r, mut c)) = self.take_coupled() else {
            return Ok(());
        };
        let (mut qdd, mut tau) = (core::mem::take(&mut c.input), core::mem::take(&mut c.output));
        c.expand(r, ydd, &mut qdd);
        if r.is_curved {
            c.add_bend(r, &mut qdd);
            self.raw::<Inverse>(self.nowhere(), &qdd, &mut tau);
            c.set_accelerating(r, ydd);
            c.set_load(r, &tau);
        }
        self.raw::<Linearize>(self.nowhere(), &qdd, &mut []);
        (c.input, c.output) = (qdd, tau);
        self.stages.coupled = c;
        Ok(())
    }

    /// δT of changes δy, δẏ and δÿ.
    pub(crate) fn coupled_torque_change(&mut self, change: &[S], out: &mut [S]) {
        let Some((r, mut c)) = self.take_coupled() else { return };
        let n = r.v_from.len();
        let (mut wide, mut tau) = (core::mem::take(&mut c.change), core::mem::take(&mut c.output));
        let (dy, rest) = change.split_at(r.nv);
        let (dyd, dydd) = rest.split_at(r.nv);
        for (i, &from) in r.v_from.iter().enumerate() {
            let [ratio, rate, bend] = [c.ratio[i], c.ratio_rate[i], c.ratio_bend[i]];
            let (y, yd) = (dy[from], dyd[from]);
            wide[i] = ratio * y;
            wide[n + i] = ratio * yd + rate * y;
            wide[2 * n + i] = ratio * dydd[from] + (rate + rate) * yd + bend * y;
        }
        self.raw::<TorqueChange>(self.nowhere(), &wide, &mut tau);
        c.contract(r, &tau, out);
        for (out, (load, dy)) in out.iter_mut().zip(c.load.iter().zip(dy)) {
            *out += *load * *dy;
        }
        (c.change, c.output) = (wide, tau);
        self.stages.coupled = c;
    }

    /// The transpose of [`View::coupled_torque_change`].
    pub(crate) fn coupled_torque_adjoint(&mut self, x: &[S], out: &mut [S]) {
        let Some((r, mut c)) = self.take_coupled() else { return };
        let n = r.v_from.len();
        let (mut wide, mut all) = (core::mem::take(&mut c.change), core::mem::take(&mut c.input));
        c.expand(r, x, &mut all);
        self.raw::<TorqueAdjoint>(self.nowhere(), &all, &mut wide);
        let (dy, rest) = out.split_at_mut(r.nv);
        let (dyd, dydd) = rest.split_at_mut(r.nv);
        dyd.fill(S::ZERO);
        dydd.fill(S::ZERO);
        for (dy, (load, x)) in dy.iter_mut().zip(c.load.iter().zip(x)) {
            *dy = *load * *x;
        }
        for (i, &to) in r.v_from.iter().enumerate() {
            let [ratio, rate, bend] = [c.ratio[i], c.ratio_rate[i], c.ratio_bend[i]];
            let [a, b, m] = [wide[i], wide[n + i], wide[2 * n + i]];
            dy[to] += ratio * a + rate * b + bend * m;
            dyd[to] += ratio * b + (rate + rate) * m;
            dydd[to] += ratio * m;
        }
        (c.change, c.input) = (wide, all);
        self.stages.coupled = c;
    }

    /// δÿ = 𝓜⁻¹(δT − ∂T/∂y δy − ∂T/∂ẏ δẏ).
    pub(crate) fn coupled_acceleration_change(&mut self, change: &[S], out: &mut [S]) {
        let nv = self.nv();
        let c = &mut self.stages.coupled;
        let (mut tau, mut held) = (core::mem::take(&mut c.moved_change), core::mem::take(&mut c.held));
        held[..2 * nv].copy_from_slice(&change[..2 * nv]);
        held[2 * nv..].fill(S::ZERO);
        self.coupled_torque_change(&held, &mut tau);
        for (x, given) in tau.iter_mut().zip(&change[2 * nv..]) {
            *x = *given - *x;
        }
        self.sweep::<InverseMassTimes>(&tau, out);
        (self.stages.coupled.moved_change, self.stages.coupled.held) = (tau, held);
    }

    /// The transpose of [`View::coupled_acceleration_change`].
    pub(crate) fn coupled_acceleration_adjoint(&mut self, x: &[S], out: &mut [S]) {
        let nv = self.nv();
        let mut moved = core::mem::take(&mut self.stages.coupled.moved_change);
        self.sweep::<InverseMassTimes>(x, &mut moved);
        self.coupled_torque_adjoint(&moved, out);
        out[..2 * nv].iter_mut().for_each(|x| *x = -*x);
        out[2 * nv..].copy_from_slice(&moved);
        self.stages.coupled.moved_change = moved;
    }

    /// ∂T/∂y, ∂T/∂ẏ and 𝓜; `room` is as large as those of all joints.
    pub(crate) fn coupled_inverse_derivatives(&mut self, out: &mut [S], room: &mut [S]) {
        let Some((r, c)) = self.take_coupled() else { return };
        let (n, nv) = (r.v_from.len(), r.nv);
        self.raw::<InverseDerivatives>(self.nowhere(), &[], &mut room[..3 * n * n]);
        let merge = r.merge_derivatives(&self.mechanism.compiled);
        let (room, out) = (&room[..3 * n * n], &mut out[..3 * nv * nv]);
        self.instructions.perform::<S, _>(Merged(&c, r, merge, room, out));
        if r.is_curved {
            for (l, load) in c.load.iter().enumerate() {
                out[l * nv + l] += *load;
            }
        }
        self.stages.coupled = c;
    }

    /// ∂ÿ/∂y, ∂ÿ/∂ẏ and 𝓜⁻¹, from those of the tree at the same point, kept in step.
    pub(crate) fn coupled_forward_derivatives(&mut self, out: &mut [S], room: &mut [S]) {
        if self.is_reduced() {
            return self.reduced_forward_derivatives(out, room);
        }
        let Some((r, mut c)) = self.take_coupled() else { return };
        let (n, nv) = (r.v_from.len(), r.nv);
        self.raw::<ForwardDerivatives>(self.nowhere(), &[], room);
        let (by_q, rest) = room.split_at_mut(n * n);
        let (by_qd, rest) = rest.split_at_mut(n * n);
        let inverse = &rest[..n * n];
        let (out_q, rest) = out.split_at_mut(nv * nv);
        let (out_qd, out_inverse) = rest.split_at_mut(nv * nv);
        let instructions = self.instructions;
        instructions.perform::<S, _>(ConstrainInverse(&mut c, r, inverse, out_inverse));
        instructions.perform::<S, _>(ConstrainChanges(&mut c, r, [by_q, by_qd], [out_q, out_qd]));
        if r.is_curved {
            for (out, inverse) in out_q.chunks_exact_mut(nv).zip(out_inverse.chunks_exact(nv)) {
                for ((out, inverse), load) in out.iter_mut().zip(inverse).zip(&c.load) {
                    *out -= *inverse * *load;
                }
            }
        }
        self.stages.coupled = c;
    }

    /// The same from ∂T and 𝓜 of what is independent.
    fn reduced_forward_derivatives(&mut self, out: &mut [S], room: &mut [S]) {
        let nv = self.nv();
        self.coupled_inverse_derivatives(out, room);
        let mut changes = core::mem::take(&mut self.stages.coupled.changes);
        let mut mass = core::mem::take(&mut self.stages.coupled.elements);
        changes[..2 * nv * nv].copy_from_slice(&out[..2 * nv * nv]);
        mass.copy_from_slice(&out[2 * nv * nv..3 * nv * nv]);
        self.divide_by_mass(&changes, &mass, out);
        (self.stages.coupled.changes, self.stages.coupled.elements) = (changes, mass);
    }

    /// ∂T/∂q and ∂T/∂q̇, 𝓜 → −𝓜⁻¹∂T/∂q, −𝓜⁻¹∂T/∂q̇ and 𝓜⁻¹.
    fn divide_by_mass(&mut self, changes: &[S], mass: &[S], out: &mut [S]) {
        let nv = self.nv();
        self.raw::<ReducedInverse>(self.nowhere(), mass, &mut out[2 * nv * nv..3 * nv * nv]);
        self.raw::<ReducedProduct>(self.nowhere(), changes, &mut out[..3 * nv * nv]);
    }

    /// How lanes compute ∂T/∂q, ∂T/∂q̇ and 𝓜 where joints follow others.
    fn derivatives_plan<'r>(&self, r: &'r Reduction) -> &'r InLanes {
        in_lanes(&self.mechanism.compiled, r)
    }

    /// The same about accelerations, over lanes: what is computed, in the order of its plan.
    pub(crate) fn coupled_derivatives_list(&mut self, ydd: &[S], list: &mut [S]) {
        let Some((r, mut c)) = self.take_coupled() else { return };
        let mut qdd = core::mem::take(&mut c.input);
        self.instructions.perform::<S, _>(Expand(&c, r, ydd, &mut qdd));
        let plan = self.derivatives_plan(r);
        self.sweep_lanes::<TorqueDerivatives>(&qdd, &mut list[..plan.tree]);
        c.input = qdd;
        self.stages.coupled = c;
        self.merge_list(plan, list);
    }

    /// ∂ÿ/∂y, ∂ÿ/∂ẏ and 𝓜⁻¹ about accelerations, over lanes and dense.
    pub(crate) fn coupled_forward_in_lanes(&mut self, ydd: &[S], out: &mut [S]) {
        let Some(r) = &self.mechanism.compiled.reduction else {
            return;
        };
        let plan = self.derivatives_plan(r);
        let mut list = core::mem::take(&mut self.stages.coupled.matrix);
        list.resize(list.len().max(plan.length() + 1), S::ZERO);
        self.coupled_derivatives_list(ydd, &mut list);
        list[plan.length()] = S::ZERO;
        let mut changes = core::mem::take(&mut self.stages.coupled.changes);
        let mut mass = core::mem::take(&mut self.stages.coupled.elements);
        let by_q_and_qd = &plan.sources[..2 * r.nv * r.nv];
        self.instructions
            .perform::<S, _>(Gather(&list, by_q_and_qd, &mut changes));
        self.instructions
            .perform::<S, _>(Gather(&list, &plan.pattern, &mut mass));
        self.divide_by_mass(&changes, &mass, out);
        let c = &mut self.stages.coupled;
        (c.changes, c.elements, c.matrix) = (changes, mass, list);
    }

    /// ∂(R*T)/∂π.
    pub(crate) fn coupled_regressor(&mut self, columns: usize, out: &mut [S]) {
        let Some((r, mut c)) = self.take_coupled() else { return };
        let n = r.v_from.len();
        let mut wide = core::mem::take(&mut c.matrix);
        wide.resize(wide.len().max(n * columns), S::ZERO);
        self.raw::<Regressor>(self.nowhere(), &[], &mut wide[..n * columns]);
        out.fill(S::ZERO);
        for ((row, &to), ratio) in wide.chunks_exact(columns).zip(&r.v_from).zip(&c.ratio) {
            for (out, x) in out[to * columns..(to + 1) * columns].iter_mut().zip(row) {
                *out += *ratio * *x;
            }
        }
        c.matrix = wide;
        self.stages.coupled = c;
    }
}

/// How lanes compute three matrices where joints follow others.
pub(crate) fn in_lanes<'r>(m: &Compiled, r: &'r Reduction) -> &'r InLanes {
    r.derivatives_in_lanes(m, inverse_in_lanes::length(m), || inverse_in_lanes::sources(m))
}

/// ∂ÿ/∂y and ∂ÿ/∂ẏ but for loads, from those of the tree, once its 𝓜⁻¹ is taken in. These are overwritten by −Z =
/// −𝓜⁻¹(∂T/∂q R + ∂T/∂q̇ Ṙ | ∂T/∂q̇ R) − (R̈ | 2Ṙ), row by row.
struct ConstrainChanges<'a, S>(&'a mut Coupled<S>, &'a Reduction, [&'a mut [S]; 2], [&'a mut [S]; 2]);

impl<S: Scalar> Task for ConstrainChanges<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Self(c, r, [by_q, by_qd], [out_q, out_qd]) = self;
        let (n, nv) = (r.v_from.len(), r.nv);
        let (mut z_q, mut z_qd) = (core::mem::take(&mut c.input), core::mem::take(&mut c.output));
        for i in 0..n {
            let (row_q, row_qd) = (&mut by_q[i * n..][..n], &mut by_qd[i * n..][..n]);
            let (z_q, z_qd) = (&mut z_q[..nv], &mut z_qd[..nv]);
            c.contract(r, row_q, z_q);
            c.contract(r, row_qd, z_qd);
            if r.is_curved {
                Coupled::contract_followers(r, &c.ratio_rate, row_qd, z_q);
                z_q[r.v_from[i]] -= c.ratio_bend[i];
                z_qd[r.v_from[i]] -= c.ratio_rate[i] + c.ratio_rate[i];
            }
            row_q[..nv].copy_from_slice(z_q);
            row_qd[..nv].copy_from_slice(z_qd);
        }
        (c.input, c.output) = (z_q, z_qd);
        c.constrain_columns(r, by_q, out_q);
        c.constrain_columns(r, by_qd, out_qd);
    }
}
