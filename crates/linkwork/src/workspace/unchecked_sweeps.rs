//! What rooms further on need of the views: single sweeps, without checks.

use super::{Configured, Moving, Scaling};
use crate::Result;
use crate::coupled::workspace::Product;
use crate::dynamics::forward::Forward;
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
use crate::dynamics::inverse::{Bias, Inverse};
use crate::dynamics::kinematics::{self, JacobianOf, JacobianRateOf, Velocities};
use crate::dynamics::operational::{FromInnovations, HomeGains, InnovationsOfForces};
use crate::model::FrameId;
use crate::scalar::Scalar;
use crate::spatial::{Motion, Reference};

impl<S: Scalar> Configured<'_, S> {
    /// What the innovations read.
    pub(crate) fn need_home_gains(&mut self) -> Result<()> {
        if self.view.mechanism.is_coupled() {
            return self.view.need_coupled_factor();
        }
        self.view.need::<HomeGains>();
        Ok(())
    }

    /// Forces on a frame about its origin in the world's axes, six numbers each → D^-½HψB f along the frame's way.
    pub(crate) fn innovations_of_forces(&mut self, frame: FrameId, forces: &[S], out: &mut [S]) {
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_innovations(frame, forces, out);
        }
        self.view
            .sweep_at::<InnovationsOfForces>(frame, Reference::Aligned, forces, out);
    }

    /// e → (I − HψK)* D^-½ e.
    pub(crate) fn resolve_innovations(&mut self, e: &[S], out: &mut [S]) -> Result<()> {
        if self.view.mechanism.is_coupled() {
            return self
                .view
                .coupled_product(Product::JointRates, Scaling::Normalized, e, out);
        }
        self.view.sweep::<FromInnovations>(e, out);
        Ok(())
    }

    /// The Jacobian of a frame at its origin in the world's axes, into 6 × nv numbers.
    pub(crate) fn jacobian_into(&mut self, frame: FrameId, out: &mut [S]) {
        self.view.sweep_at::<JacobianOf>(frame, Reference::Aligned, &[], out);
    }

    /// An error where nothing resists a joint.
    pub(crate) fn check_resistance(&mut self) -> Result<()> {
        if self.view.mechanism.is_coupled() {
            // Their factor was checked when it was made.
            return Ok(());
        }
        self.view.check_pivots()
    }
}

impl Configured<'_> {
    /// The largest 1/D: how much the softest degree of freedom yields.
    pub(crate) fn softest(&self) -> f64 {
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_softest();
        }
        let gains = &self.view.stages.riccati.gains;
        gains.iter().fold(0.0, |most, gain| most.max(gain.d_inv))
    }
}

impl<S: Scalar> Moving<'_, S> {
    /// C.
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    pub(crate) fn bias_unchecked(&mut self, tau: &mut [S]) {
        self.view.sweep::<Bias>(&[], tau);
    }

    /// 𝓜q̈ + C of numbers that nobody checked.
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    pub(crate) fn inverse_dynamics_unchecked(&mut self, qdd: &[S], tau: &mut [S]) {
        self.view.sweep::<Inverse>(qdd, tau);
    }

    /// Forward dynamics that leaves accelerations of frames to be asked for.
    pub(crate) fn run_free(&mut self, tau: &[S], qdd: &mut [S]) -> Result<()> {
        self.view.sweep::<Forward>(tau, qdd);
        self.view.refine(tau, qdd);
        self.view.check_pivots()?;
        self.view.need::<Velocities>();
        if !self.view.leaves_accelerations() {
            self.view.fill_accelerations(qdd);
        }
        Ok(())
    }

    /// J̇q̇ of a frame.
    pub(crate) fn velocity_product(&mut self, frame: FrameId) -> Motion<S> {
        let nv = self.view.nv();
        let mut rate = core::mem::take(&mut self.view.stages.scratch.columns);
        rate.clear();
        rate.resize(6 * nv, S::ZERO);
        self.view
            .sweep_at::<JacobianRateOf>(frame, Reference::Aligned, &[], &mut rate);
        let mut out = [S::ZERO; 6];
        for (out, row) in out.iter_mut().zip(rate.chunks_exact(nv.max(1))) {
            for (x, qd) in row.iter().zip(self.view.given().1) {
                *out = x.mul_add(*qd, *out);
            }
        }
        self.view.stages.scratch.columns = rate;
        Motion::from_array(out)
    }

    /// The acceleration of a frame, after [`Moving::run_free`].
    pub(crate) fn free_acceleration(&self, frame: FrameId) -> Motion<S> {
        let mechanism = self.view.mechanism;
        let base = -mechanism.compiled.gravity.lift();
        kinematics::acceleration(
            self.view.stages,
            &mechanism.placed[frame.index()],
            base,
            Reference::Aligned,
        )
    }
}
