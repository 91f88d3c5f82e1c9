//! What configuration and velocity determine.

use super::sweeps::Listed;
use super::{Accelerating, Configured, check_length};
use crate::Result;
use crate::dynamics::centroidal;
use crate::dynamics::coriolis::CoriolisMatrix;
use crate::dynamics::forward::{Forward, ForwardBiasFree, ForwardBiased, ForwardKeeping};
use crate::dynamics::inverse::{Bias, Coriolis, Inverse, InverseAgain};
use crate::dynamics::kinematics::{JacobianRateOf, Velocities, VelocityOf};
use crate::model::{FrameId, SLOW};
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Reference};
use crate::sweep::Sweep;
use core::ops::{Deref, DerefMut};

/// A mechanism in motion: everything of [`Configured`], and what q̇ adds.
///
/// Torques are all that acts along the joints: 𝓜q̈ + C + … = T. What springs, dampers and friction of the joints
/// contribute to T is [`Moving::passive_torque`].
///
/// ```
/// let arm = linkwork::model::examples::arm7();
/// let mut workspace = arm.workspace();
/// let mut posed = workspace.at(&[0.1; 7])?;
/// let mut moving = posed.moving(&[0.5; 7])?;
/// let mut qdd = [0.0; 7];
/// moving.forward_dynamics(&[0.0; 7], &mut qdd)?;
/// let mut tau = [0.0; 7];
/// moving.inverse_dynamics(&qdd, &mut tau)?;
/// assert!(tau.iter().all(|t| t.abs() < 1e-9)); // the torques we started with
/// # Ok::<(), linkwork::Error>(())
/// ```
pub struct Moving<'w, S: 'static = f64> {
    pub(super) configured: Configured<'w, S>,
}

impl<'w, S> Deref for Moving<'w, S> {
    type Target = Configured<'w, S>;
    fn deref(&self) -> &Self::Target {
        &self.configured
    }
}

impl<S> DerefMut for Moving<'_, S> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.configured
    }
}

impl<S: Scalar> Moving<'_, S> {
    // Kinematics.

    /// The velocity of a frame.
    #[doc(alias = "twist")]
    #[doc(alias = "spatial velocity")]
    pub fn velocity(&mut self, frame: impl Into<FrameId>, reference: Reference) -> Result<Motion<S>> {
        Ok(self.velocity_of(self.view.mechanism.own_frame(frame)?, reference))
    }

    /// That of a frame known to be the mechanism's.
    pub(crate) fn velocity_of(&mut self, frame: FrameId, reference: Reference) -> Motion<S> {
        Motion::from_array(self.view.numbers::<VelocityOf, 6>(frame, reference))
    }

    /// The time derivative of [`Configured::jacobian`], 6 × nv.
    pub fn jacobian_rate(&mut self, frame: impl Into<FrameId>, reference: Reference, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), 6 * self.view.nv())?;
        let frame = self.view.mechanism.own_frame(frame)?;
        self.view.sweep_at::<JacobianRateOf>(frame, reference, &[], out);
        Ok(())
    }

    /// The kinetic energy ½ q̇*𝓜q̇, rotors included.
    pub fn kinetic_energy(&mut self) -> S {
        let [energy] = self
            .view
            .numbers::<centroidal::KineticEnergy, 1>(FrameId::WORLD, Reference::World);
        energy
    }

    /// The momentum [angular; linear] of all moving links about their centre of mass, in the world's axes, without the
    /// rotors' own spin.
    pub fn centroidal_momentum(&mut self) -> Force<S> {
        Force::from_array(
            self.view
                .numbers::<centroidal::Momentum, 6>(FrameId::WORLD, Reference::Aligned),
        )
    }

    /// The momentum [angular; linear] of all moving links about the world's origin, without the rotors' own spin.
    pub fn momentum(&mut self) -> Force<S> {
        Force::from_array(
            self.view
                .numbers::<centroidal::Momentum, 6>(FrameId::WORLD, Reference::World),
        )
    }

    /// The time derivative of [`Configured::centroidal_matrix`], 6 × nv.
    pub fn centroidal_matrix_rate(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), 6 * self.view.nv())?;
        self.view.sweep::<centroidal::MomentumMatrixRate>(&[], out);
        Ok(())
    }

    // Dynamics.

    /// T for given accelerations: 𝓜q̈ + C − J*f.
    #[doc(alias = "rnea")]
    #[doc(alias = "recursive Newton-Euler")]
    pub fn inverse_dynamics(&mut self, qdd: &[S], tau: &mut [S]) -> Result<()> {
        self.view.mechanism.check_vector("qdd", qdd)?;
        check_length("tau", tau.len(), self.view.nv())?;
        self.view.sweep::<Inverse>(qdd, tau);
        Ok(())
    }

    /// C: inverse dynamics without acceleration, with gravity, velocity terms and external forces.
    #[doc(alias = "nle")]
    #[doc(alias = "nonlinear effects")]
    pub fn bias(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv())?;
        self.view.sweep::<Bias>(&[], out);
        Ok(())
    }

    /// The velocity terms alone: Coriolis and centrifugal torques.
    pub fn coriolis(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv())?;
        self.view.sweep::<Coriolis>(&[], out);
        Ok(())
    }

    /// The Coriolis matrix, nv × nv: times q̇ it is [`Moving::coriolis`], and 𝓜̇ − 2C is skew.
    pub fn coriolis_matrix(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv() * self.view.nv())?;
        self.view.sweep::<CoriolisMatrix>(&[], out);
        Ok(())
    }

    /// q̈ for given torques, by the articulated body algorithm: the fastest of four.
    #[doc(alias = "aba")]
    #[doc(alias = "articulated body algorithm")]
    pub fn forward_dynamics(&mut self, tau: &[S], qdd: &mut [S]) -> Result<()> {
        self.check_drive(tau, qdd)?;
        if self.view.stages.filled.has_riccati() {
            self.view.sweep::<ForwardKeeping>(tau, qdd);
        } else {
            self.view.sweep::<Forward>(tau, qdd);
        }
        self.view.refine(tau, qdd);
        self.view.check_pivots()
    }

    /// The same q̈ through T' = T − C and 𝓜⁻¹T': three more sweeps, kept as a second opinion.
    pub fn forward_dynamics_bias_free(&mut self, tau: &[S], qdd: &mut [S]) -> Result<()> {
        self.check_drive(tau, qdd)?;
        self.view.sweep::<ForwardBiasFree>(tau, qdd);
        self.view.check_pivots()
    }

    /// The same q̈ with D'Alembert forces ζ = Mφ*a + b in the innovations, kept as a third opinion.
    pub fn forward_dynamics_biased(&mut self, tau: &[S], qdd: &mut [S]) -> Result<()> {
        self.check_drive(tau, qdd)?;
        self.view.sweep::<ForwardBiased>(tau, qdd);
        self.view.check_pivots()
    }

    /// The accelerations of everything under given torques, and the forces across the joints, from the sweeps of
    /// forward dynamics; q̈ is written to `qdd`.
    pub fn with_torques(&mut self, tau: &[S], qdd: &mut [S]) -> Result<Accelerating<'_, S>> {
        self.check_drive(tau, qdd)?;
        self.view.sweep::<ForwardKeeping>(tau, qdd);
        self.view.refine(tau, qdd);
        self.view.check_pivots()?;
        self.view.need::<Velocities>();
        if self.view.mechanism.is_coupled() || self.view.mechanism.compiled.refines {
            // The sweep knew the tree alone, and followers are moved by what they follow; or q̈ has changed since.
            self.view.fill_accelerations(qdd);
            return Ok(Accelerating::new(&mut self.configured.view));
        }
        self.view.need::<crate::dynamics::forward::Reactions>();
        Ok(Accelerating::new(&mut self.configured.view))
    }

    /// The same as [`Moving::with_torques`], bias-free: λ of 𝓜⁻¹T' and α of q̈ = 0 add up to the links' accelerations.
    pub fn with_torques_bias_free(&mut self, tau: &[S], qdd: &mut [S]) -> Result<Accelerating<'_, S>> {
        self.check_drive(tau, qdd)?;
        self.view.sweep::<ForwardBiasFree>(tau, qdd);
        self.view.check_pivots()?;
        self.view.need::<Velocities>();
        if self.view.mechanism.is_coupled() {
            // The sweep knew the tree alone: followers are moved by what they follow.
            self.view.fill_accelerations(qdd);
            return Ok(Accelerating::new(&mut self.configured.view));
        }
        self.view.need::<crate::dynamics::forward::ForcesFromAccelerations>();
        Ok(Accelerating::new(&mut self.configured.view))
    }

    /// The accelerations of everything at given q̈, and the forces across the joints; the torques are written to
    /// `tau`.
    pub fn with_accelerations(&mut self, qdd: &[S], tau: &mut [S]) -> Result<Accelerating<'_, S>> {
        self.view.mechanism.check_vector("qdd", qdd)?;
        check_length("tau", tau.len(), self.view.nv())?;
        // Every link's share, which branches side by side do not keep.
        self.view.sweep::<InverseAgain>(qdd, tau);
        self.view.need::<Velocities>();
        Ok(Accelerating::new(&mut self.configured.view))
    }

    /// A sweep that users know by a name; `out` has room for its result.
    pub(crate) fn sweep_known<W: Listed<Partner: Listed + Sweep<S>> + Sweep<S>>(
        &mut self,
        frame: FrameId,
        reference: Reference,
        input: &[S],
        out: &mut [S],
    ) -> Result<()> {
        let frame = self.view.mechanism.own_frame(frame)?;
        self.view.sweep_known::<W>((frame, reference), input, out)
    }

    pub(super) fn check_drive(&self, tau: &[S], qdd: &[S]) -> Result<()> {
        self.view.mechanism.check_vector("tau", tau)?;
        check_length("qdd", qdd.len(), self.view.nv())
    }
}

impl Moving<'_, f64> {
    /// What springs, dampers and dry friction of the joints contribute to T:
    /// −stiffness (q ⊖ rest) − damping q̇ − friction q̇ / √(q̇² + v₀²), with v₀ = 10⁻³ rad/s or m/s.
    ///
    /// Add it to the motors' torques before [`Moving::forward_dynamics`].
    pub fn passive_torque(&mut self, out: &mut [f64]) -> Result<()> {
        check_length("out", out.len(), self.view.nv())?;
        let (q, qd) = self.view.given();
        self.view.mechanism.passive_at(q, qd, |_| SLOW, |_| SLOW, out)
    }

    /// The derivatives of [`Moving::passive_torque`]: ∂/∂q, nv × nv, in the tangent space, and the diagonal of ∂/∂q̇, nv
    /// numbers. Nothing else is in either: ∂/∂q has a block for every joint, as wide as the joint has degrees of freedom.
    ///
    /// [`Linearized`](super::Linearized) shows what to do with them.
    pub fn passive_derivatives(&mut self, by_q: &mut [f64], by_qd: &mut [f64]) -> Result<()> {
        let nv = self.view.nv();
        check_length("by_q", by_q.len(), nv * nv)?;
        check_length("by_qd", by_qd.len(), nv)?;
        let (q, qd) = self.view.given();
        let mechanism = self.view.mechanism;
        mechanism.passive_derivatives_at(q, qd, |_| SLOW, |_| SLOW, by_q, by_qd)
    }
}
