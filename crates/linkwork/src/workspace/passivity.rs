//! What passivity-based control asks of a mechanism in motion: C(q, q̇)x for any x, and Y(q, q̇, q̇_r, q̈_r).

use super::sweeps::Listed;
use super::{Moving, View, check_length};
use crate::Result;
use crate::coupled::stage::Coupled;
use crate::dynamics::linearized::regressor::PARAMETERS;
use crate::dynamics::passivity::{CoriolisTimes, CoriolisTransposed, ReferenceAdjoint, ReferenceTorque};
use crate::scalar::Scalar;
use crate::spatial::Reference;
use crate::sweep::{At, Sweep};

impl<S: Scalar> Moving<'_, S> {
    /// C(q, q̇)x for any x, in O(n): with q̇ for x it is [`Moving::coriolis`], and 𝓜̇ − 2C is skew.
    ///
    /// ```
    /// let arm = linkwork::model::examples::arm7();
    /// let (qd, x) = ([0.3, -0.2, 0.5, 0.1, 0.4, -0.6, 0.2], [1.0; 7]);
    /// let mut workspace = arm.workspace();
    /// let mut posed = workspace.at(&[0.4; 7])?;
    /// let mut moving = posed.moving(&qd)?;
    /// let (mut product, mut matrix) = ([0.0; 7], [0.0; 49]);
    /// moving.coriolis_times(&x, &mut product)?;
    /// moving.coriolis_matrix(&mut matrix)?;
    /// assert!((product[2] - matrix[14..21].iter().sum::<f64>()).abs() < 1e-12);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    #[doc(alias = "bilinear Coriolis")]
    pub fn coriolis_times(&mut self, x: &[S], out: &mut [S]) -> Result<()> {
        self.view.mechanism.check_vector("x", x)?;
        check_length("out", out.len(), self.view.nv())?;
        self.view.with_reference(x, None, &[], |view, input, tau| {
            view.raw_anywhere::<CoriolisTimes>(input, tau);
        });
        self.view.take_torques(out);
        Ok(())
    }

    /// C\*(q, q̇)x, in O(n): with q̇ for x, what a momentum observer needs.
    pub fn coriolis_transposed_times(&mut self, x: &[S], out: &mut [S]) -> Result<()> {
        self.view.mechanism.check_vector("x", x)?;
        check_length("out", out.len(), self.view.nv())?;
        let view = &mut self.configured.view;
        let mechanism = view.mechanism;
        let m = &mechanism.compiled;
        let mut room = core::mem::take(&mut view.stages.scratch.columns);
        room.clear();
        room.resize(3 * m.nv, S::ZERO);
        let (wide, both) = room.split_at_mut(m.nv);
        match &m.reduction {
            None => {
                view.raw_anywhere::<CoriolisTransposed>(x, both);
                out.copy_from_slice(&both[..m.nv]);
            }
            Some(r) => {
                view.stages.coupled.expand(r, x, wide);
                view.raw_anywhere::<CoriolisTransposed>(wide, both);
                let (torque, momentum) = both.split_at_mut(m.nv);
                for ((p, rotor), x) in momentum.iter_mut().zip(&m.armature).zip(&*wide) {
                    *p += S::lift(*rotor) * *x;
                }
                view.stages.coupled.contract(r, torque, out);
                if r.is_curved {
                    Coupled::contract_followers(r, &view.stages.coupled.ratio_rate, momentum, out);
                }
            }
        }
        view.stages.scratch.columns = room;
        Ok(())
    }

    /// Y(q, q̇, q̇_r, q̈_r)π = 𝓜q̈_r + C q̇_r + g for any inertial parameters π, ten per link as
    /// [`Mechanism::inertial_parameters`] has them, in O(n): inverse dynamics with the velocities of a reference in the
    /// Coriolis product. Rotors are the mechanism's.
    ///
    /// [`Mechanism::inertial_parameters`]: crate::Mechanism::inertial_parameters
    #[doc(alias = "Slotine-Li")]
    pub fn reference_torque(&mut self, parameters: &[S], qd_r: &[S], qdd_r: &[S], tau: &mut [S]) -> Result<()> {
        self.check_reference(qd_r, qdd_r)?;
        check_length("parameters", parameters.len(), self.parameter_count())?;
        check_length("tau", tau.len(), self.view.nv())?;
        self.view
            .with_reference(qd_r, Some(qdd_r), parameters, |view, input, tau| {
                view.raw_anywhere::<ReferenceTorque>(input, tau);
            });
        self.view.take_torques(tau);
        Ok(())
    }

    /// Y\*s of the same regressor, ten numbers per link, by one outward sweep: what adaptation integrates.
    pub fn reference_adjoint(&mut self, qd_r: &[S], qdd_r: &[S], s: &[S], out: &mut [S]) -> Result<()> {
        self.check_reference(qd_r, qdd_r)?;
        self.view.mechanism.check_vector("s", s)?;
        check_length("out", out.len(), self.parameter_count())?;
        let view = &mut self.configured.view;
        let mechanism = view.mechanism;
        let m = &mechanism.compiled;
        let mut along = core::mem::take(&mut view.stages.scratch.tiles);
        along.clear();
        along.resize(m.nv, S::ZERO);
        match &m.reduction {
            None => along.copy_from_slice(s),
            Some(r) => view.stages.coupled.expand(r, s, &mut along),
        }
        view.with_reference(qd_r, Some(qdd_r), &along, |view, input, _| {
            view.raw_anywhere::<ReferenceAdjoint>(input, out);
        });
        view.stages.scratch.tiles = along;
        Ok(())
    }

    fn parameter_count(&self) -> usize {
        PARAMETERS * self.view.mechanism.links().len()
    }

    fn check_reference(&self, qd_r: &[S], qdd_r: &[S]) -> Result<()> {
        self.view.mechanism.check_vector("qd_r", qd_r)?;
        self.view.mechanism.check_vector("qdd_r", qdd_r)
    }
}

impl<S: Scalar> View<'_, S> {
    fn raw_anywhere<W: Listed + Sweep<S>>(&mut self, input: &[S], out: &mut [S]) {
        let mechanism = self.mechanism;
        let at = At {
            frame: &mechanism.placed[0],
            reference: Reference::World,
        };
        self.raw::<W>(at, input, out);
    }

    /// Runs something on [x; a; more] for all joints, where followers have the velocities and accelerations that they are led
    /// to; the torques of all joints stay in `dofs`.
    fn with_reference(&mut self, x: &[S], a: Option<&[S]>, more: &[S], run: impl FnOnce(&mut Self, &[S], &mut [S])) {
        let mechanism = self.mechanism;
        let m = &mechanism.compiled;
        let mut input = core::mem::take(&mut self.stages.scratch.columns);
        input.clear();
        input.resize(2 * m.nv, S::ZERO);
        let (wide, bent) = input.split_at_mut(m.nv);
        match &m.reduction {
            None => {
                wide.copy_from_slice(x);
                if let Some(a) = a {
                    bent.copy_from_slice(a);
                }
            }
            Some(r) => {
                let c = &self.stages.coupled;
                c.expand(r, x, wide);
                if let Some(a) = a {
                    c.expand(r, a, bent);
                }
                // q̈ = Wÿ + Ẇẏ, with x for ẏ.
                for ((bent, &from), rate) in bent.iter_mut().zip(&r.v_from).zip(&c.ratio_rate) {
                    *bent = rate.mul_add(x[from], *bent);
                }
            }
        }
        input.extend_from_slice(more);
        let mut tau = core::mem::take(&mut self.stages.scratch.dofs);
        run(self, &input, &mut tau);
        (self.stages.scratch.columns, self.stages.scratch.dofs) = (input, tau);
    }

    /// What those torques are for users.
    fn take_torques(&mut self, out: &mut [S]) {
        match &self.mechanism.compiled.reduction {
            None => out.copy_from_slice(&self.stages.scratch.dofs[..out.len()]),
            Some(r) => self.stages.coupled.contract(r, &self.stages.scratch.dofs, out),
        }
    }
}
