//! Diagonalized dynamics: total rates, working moments, and the equations between them.

use super::{Configured, Moving, Posed, Scaling, View, check_length};
use crate::Result;
use crate::dynamics::diagonal::evaluate::{Settle, TotalAccelerations};
use crate::dynamics::diagonal::terms::{CoriolisTerms, TERMS};
use crate::operator::diagonal::{JointRates, JointTorques, TotalRates, WorkingMoments};
use crate::scalar::Scalar;

/// # Diagonalized variables
///
/// With 𝓜 = mm\* and ℓ = m⁻¹, each product below is one sweep, for any vector:
///
/// | | normalized | un-normalized |
/// |---|---|---|
/// | [`Configured::total_rates`] | ν = m\*q̇ | ξ = (I + HφK)\*q̇ |
/// | [`Configured::joint_rates`] | q̇ = ℓ\*ν | q̇ = (I − HψK)\*ξ |
/// | [`Configured::working_moments`] | ε = ℓT | κ = (I − HψK)T |
/// | [`Configured::joint_torques`] | T = mε | T = (I + HφK)κ |
///
/// So m\* whitens velocities, ℓ\* gives independent standard normal numbers the covariance 𝓜⁻¹, and ℓ preconditions.
///
/// ```
/// use linkwork::workspace::Scaling::Normalized;
/// let arm = linkwork::model::examples::puma560();
/// let (qd, mut nu) = ([0.3, -0.2, 0.5, 1.0, 0.0, -0.4], [0.0; 6]);
/// let mut workspace = arm.workspace();
/// let mut posed = workspace.at(&[0.1; 6])?;
/// posed.total_rates(Normalized, &qd, &mut nu)?;
/// // Kinetic energy is ½ν*ν: each joint has its own share.
/// let energy = 0.5 * nu.iter().map(|x| x * x).sum::<f64>();
/// assert!((energy - posed.moving(&qd)?.kinetic_energy()).abs() < 1e-12);
/// # Ok::<(), linkwork::Error>(())
/// ```
impl<S: Scalar> Configured<'_, '_, S> {
    /// The total joint rates of given joint rates: ν = m\*q̇, or ξ.
    pub fn total_rates(&mut self, scaling: Scaling, qd: &[S], out: &mut [S]) -> Result<()> {
        self.check_factor(scaling, "qd", qd, out)?;
        self.view.sweep::<TotalRates>(qd, out);
        self.view.check_pivots()
    }

    /// The joint rates of given total rates: q̇ = ℓ\*ν, or from ξ.
    pub fn joint_rates(&mut self, scaling: Scaling, total: &[S], out: &mut [S]) -> Result<()> {
        self.check_factor(scaling, "total", total, out)?;
        self.view.sweep::<JointRates>(total, out);
        self.view.check_pivots()
    }

    /// The working moments of given torques: ε = ℓT, or κ.
    pub fn working_moments(&mut self, scaling: Scaling, tau: &[S], out: &mut [S]) -> Result<()> {
        self.check_factor(scaling, "tau", tau, out)?;
        self.view.sweep::<WorkingMoments>(tau, out);
        self.view.check_pivots()
    }

    /// The torques of given working moments: T = mε, or from κ.
    pub fn joint_torques(&mut self, scaling: Scaling, working: &[S], out: &mut [S]) -> Result<()> {
        self.check_factor(scaling, "working", working, out)?;
        self.view.sweep::<JointTorques>(working, out);
        self.view.check_pivots()
    }

    fn check_factor(&mut self, scaling: Scaling, name: &'static str, x: &[S], out: &[S]) -> Result<()> {
        self.view.mechanism.check_vector(name, x)?;
        check_length("out", out.len(), self.view.nv())?;
        self.view.stages.diagonal.scaling = scaling;
        Ok(())
    }
}

/// # Diagonalized equations of motion
impl<'m, S: Scalar> Posed<'_, 'm, S> {
    /// Sets the velocity by total rates, ν or ξ: the state of the diagonalized equations is (q, ν) or (q, ξ).
    ///
    /// With [`Moving::total_accelerations`] this is one evaluation of their right-hand side, for any integrator:
    ///
    /// ```
    /// use linkwork::workspace::Scaling::Unnormalized;
    /// let arm = linkwork::model::examples::puma560();
    /// let mut workspace = arm.workspace();
    /// let mut posed = workspace.at(&[0.1; 6])?;
    /// let mut moving = posed.moving_at_total_rates(Unnormalized, &[0.2; 6])?;
    /// let mut xi_rate = [0.0; 6];
    /// moving.total_accelerations(Unnormalized, &[0.0; 6], &mut xi_rate)?;
    /// println!("q̇ = {:?}, ξ̇ = {xi_rate:?}", moving.qd());
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn moving_at_total_rates(&mut self, scaling: Scaling, total: &[S]) -> Result<Moving<'_, 'm, S>> {
        let view = &mut self.0.view;
        view.mechanism.check_vector("total", total)?;
        view.stages.diagonal.scaling = scaling;
        view.sweep::<Settle>(total, &mut []);
        view.check_pivots()?;
        let view = View {
            stages: &mut *view.stages,
            ..*view
        };
        Ok(Moving {
            configured: Configured { view },
        })
    }
}

/// # Diagonalized equations of motion
impl<S: Scalar> Moving<'_, '_, S> {
    /// q̇.
    pub fn qd(&self) -> &[S] {
        &self.view.stages.qd
    }

    /// The time derivative of the total rates under given torques: ν̇ = ε − 𝒞(q, ν), or ξ̇ = D⁻¹(κ − 𝒞(q, ξ)).
    pub fn total_accelerations(&mut self, scaling: Scaling, tau: &[S], out: &mut [S]) -> Result<()> {
        self.view.mechanism.check_vector("tau", tau)?;
        check_length("out", out.len(), self.view.nv())?;
        self.view.stages.diagonal.scaling = scaling;
        self.view.sweep::<TotalAccelerations>(tau, out);
        self.view.check_pivots()
    }

    /// The terms of 𝒞(q, ν) or 𝒞(q, ξ), 5 × nv; their sum is 𝒞. External forces have no part in it.
    ///
    /// | row | term |
    /// |---|---|
    /// | 0 | outboard articulation: what the links outboard hand in |
    /// | 1 | base-body motion: −HṖτ̄\*V⁺, the changing articulated inertia carried along by the links inboard |
    /// | 2 | the present link: its own H crf(V)MV |
    /// | 3 | the joint's changing inertia: −L̇\*ξ; nought for 𝒞(q, ξ) |
    /// | 4 | gravity: −DG\*g, or −L\*G\*g |
    pub fn diagonal_coriolis_terms(&mut self, scaling: Scaling, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), TERMS * self.view.nv())?;
        self.view.stages.diagonal.scaling = scaling;
        self.view.sweep::<CoriolisTerms>(&[], out);
        self.view.check_pivots()
    }
}
