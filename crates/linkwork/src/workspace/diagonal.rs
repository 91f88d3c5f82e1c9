//! Diagonalized dynamics: total rates, working moments, and the equations between them.

use super::{Configured, Moving, Posed, Scaling, View, Workspace, check_length};
use crate::coupled::workspace::Product;
use crate::dynamics::diagonal::evaluate::{Onward, Settle, TotalAccelerations};
use crate::dynamics::diagonal::factors::{JointRates, JointTorques, TotalRates, WorkingMoments};
use crate::dynamics::diagonal::published_recursions::PapersRecursions;
use crate::dynamics::diagonal::rates::{FactorRate, ForwardDiagonalized};
use crate::dynamics::diagonal::skew::SkewMatrix;
use crate::dynamics::diagonal::terms::{ArticulatedRates, CoriolisTerms, TERMS};
use crate::dynamics::kinematics::Velocities;
use crate::model::FrameId;
use crate::scalar::Scalar;
use crate::{Error, Result};

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
impl<S: Scalar> Configured<'_, S> {
    /// The total joint rates of given joint rates: ν = m\*q̇, or ξ.
    pub fn total_rates(&mut self, scaling: Scaling, qd: &[S], out: &mut [S]) -> Result<()> {
        self.check_factor(scaling, "qd", qd, out)?;
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_product(Product::TotalRates, scaling, qd, out);
        }
        self.view.sweep::<TotalRates>(qd, out);
        self.view.check_pivots()
    }

    /// The joint rates of given total rates: q̇ = ℓ\*ν, or from ξ.
    pub fn joint_rates(&mut self, scaling: Scaling, total: &[S], out: &mut [S]) -> Result<()> {
        self.check_factor(scaling, "total", total, out)?;
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_product(Product::JointRates, scaling, total, out);
        }
        self.view.sweep::<JointRates>(total, out);
        self.view.check_pivots()
    }

    /// The working moments of given torques: ε = ℓT, or κ.
    pub fn working_moments(&mut self, scaling: Scaling, tau: &[S], out: &mut [S]) -> Result<()> {
        self.check_factor(scaling, "tau", tau, out)?;
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_product(Product::WorkingMoments, scaling, tau, out);
        }
        self.view.sweep::<WorkingMoments>(tau, out);
        self.view.check_pivots()
    }

    /// The torques of given working moments: T = mε, or from κ.
    pub fn joint_torques(&mut self, scaling: Scaling, working: &[S], out: &mut [S]) -> Result<()> {
        self.check_factor(scaling, "working", working, out)?;
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_product(Product::JointTorques, scaling, working, out);
        }
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
impl<S: Scalar> Posed<'_, S> {
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
    pub fn moving_at_total_rates(&mut self, scaling: Scaling, total: &[S]) -> Result<Moving<'_, S>> {
        let view = &mut self.0.view;
        view.mechanism.check_vector("total", total)?;
        view.stages.diagonal.scaling = scaling;
        if view.mechanism.is_coupled() {
            let mut qd = core::mem::take(&mut view.stages.scratch.dofs);
            let nv = view.nv();
            let done = view.coupled_product(Product::JointRates, scaling, total, &mut qd[..nv]);
            view.set_moving(&qd[..nv]);
            view.stages.scratch.dofs = qd;
            done?;
        } else {
            view.sweep::<Settle>(total, &mut []);
            view.check_pivots()?;
        }
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
impl<S: Scalar> Moving<'_, S> {
    /// q̇.
    pub fn qd(&self) -> &[S] {
        self.view.given().1
    }

    /// The time derivative of the total rates under given torques: ν̇ = ε − 𝒞(q, ν), or ξ̇ = D⁻¹(κ − 𝒞(q, ξ)).
    pub fn total_accelerations(&mut self, scaling: Scaling, tau: &[S], out: &mut [S]) -> Result<()> {
        self.view.mechanism.check_vector("tau", tau)?;
        check_length("out", out.len(), self.view.nv())?;
        self.view.stages.diagonal.scaling = scaling;
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_total_accelerations(scaling, tau, out);
        }
        self.settle();
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
    /// | 3 | the joint's changing inertia: −L̇\*ξ; zero for 𝒞(q, ξ) |
    /// | 4 | gravity: −DG\*g, or −L\*G\*g |
    pub fn diagonal_coriolis_terms(&mut self, scaling: Scaling, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), TERMS * self.view.nv())?;
        self.view.refuse_coupled(
            "𝒞 in five terms, which are those of a tree's recursions (`diagonal_coriolis` gives their sum)",
        )?;
        self.view.stages.diagonal.scaling = scaling;
        self.need_rates_of_operators();
        self.view.sweep_tree::<CoriolisTerms>(FrameId::WORLD, &[], out)?;
        self.view.check_pivots()
    }

    /// 𝒞(q, ν) or 𝒞(q, ξ), gravity included, external forces not.
    pub fn diagonal_coriolis(&mut self, scaling: Scaling, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv())?;
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_diagonal_coriolis(scaling, out);
        }
        let mut terms = core::mem::take(&mut self.view.stages.diagonal.terms);
        let done = self.diagonal_coriolis_terms(scaling, &mut terms);
        for (i, sum) in out.iter_mut().enumerate() {
            *sum = S::ZERO;
            for row in terms.chunks(self.view.nv()) {
                *sum += row[i];
            }
        }
        self.view.stages.diagonal.terms = terms;
        done
    }

    /// The skew matrix c, nv × nv, with 𝒞(q, ν) = cν + gravity: why the Coriolis force does no work.
    pub fn diagonal_coriolis_matrix(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv() * self.view.nv())?;
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_skew_matrix(out);
        }
        self.need_rates_of_operators();
        self.view.sweep::<SkewMatrix>(&[], out);
        self.view.check_pivots()
    }

    /// 𝒞 by the recursions of Jain and Rodriguez, for chains of joints of one degree of freedom without rotors, 4 × nv: the
    /// outboard articulation, base-body motion and present link's part of 𝒞(q, ν), which add up to it; then 𝒞(q, ξ). Without
    /// gravity.
    pub fn diagonal_coriolis_of_chain(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), 4 * self.view.nv())?;
        let m = &self.view.mechanism.compiled;
        let single = m.bodies.iter().all(|body| body.dofs == 1);
        if !(m.is_chain && single) || m.has_armature || m.reduction.is_some() {
            return Err(Error::Unsupported {
                mechanism: self.view.mechanism.name().to_owned(),
                what: "Coriolis terms by the papers' recursions",
                needs: "a chain of joints of one degree of freedom without rotors and couplings; `diagonal_coriolis` works for every mechanism",
            });
        }
        self.need_rates_of_operators();
        self.view.sweep_tree::<PapersRecursions>(FrameId::WORLD, &[], out)?;
        self.view.check_pivots()
    }

    /// q̈ for given torques through the diagonalized equations: ν̇ or ξ̇, then the derivative of q̇ = ℓ\*ν.
    pub fn forward_dynamics_diagonalized(&mut self, scaling: Scaling, tau: &[S], qdd: &mut [S]) -> Result<()> {
        self.view.mechanism.check_vector("tau", tau)?;
        check_length("qdd", qdd.len(), self.view.nv())?;
        self.view.stages.diagonal.scaling = scaling;
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_forward_diagonalized(scaling, tau, qdd);
        }
        self.settle();
        self.view.sweep::<TotalAccelerations>(tau, qdd);
        self.need_rates_of_operators();
        self.view.sweep::<ForwardDiagonalized>(&[], qdd);
        self.view.check_pivots()
    }

    /// P⁺, η and V, where q̇ did not come from total rates.
    fn settle(&mut self) {
        if !self.view.stages.filled.is_settled() {
            self.view.need::<Settle>();
        }
    }

    fn need_rates_of_operators(&mut self) {
        self.view.need::<Velocities>();
        self.view.need::<ArticulatedRates>();
    }

    /// ṁx, or the rate of I + HφK times x, in O(N).
    pub fn factor_rate_times(&mut self, scaling: Scaling, x: &[S], out: &mut [S]) -> Result<()> {
        self.check_factor(scaling, "x", x, out)?;
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_factor_rate(scaling, x, out);
        }
        self.need_rates_of_operators();
        self.view.sweep::<FactorRate>(x, out);
        self.view.check_pivots()
    }
}

impl<S: Scalar> Workspace<S> {
    /// Total accelerations of the state that the workspace is in, set by total rates, under given torques; then the workspace
    /// is at another configuration, with P⁺, D and G there: see [`Onward`]. `input` holds T and that configuration.
    pub(crate) fn onward(&mut self, scaling: Scaling, input: &[S], out: &mut [S]) -> Result<()> {
        self.mechanism
            .refuse_coupled("a step in two sweeps, which are those of a tree")?;
        let (tau, q) = input.split_at(self.mechanism.nv());
        self.mechanism.check_vector("tau", tau)?;
        self.mechanism.check_configuration("q", q)?;
        debug_assert!(self.stages.filled.is_settled());
        self.stages.diagonal.scaling = scaling;
        let view = &mut self.resume().0.view;
        view.sweep_tree::<Onward>(FrameId::WORLD, input, out)?;
        view.check_pivots()
    }

    /// The configuration that the workspace is at.
    pub(crate) fn resume(&mut self) -> Posed<'_, S> {
        let view = View {
            mechanism: &self.mechanism,
            sweeps: self.sweeps,
            instructions: self.instructions,
            stages: &mut self.stages,
        };
        Posed(Configured { view })
    }

    /// Whether the workspace is at a configuration, with P⁺, D and G there and nothing that pushes.
    pub(crate) fn is_ready_at(&self, q: &[S]) -> bool {
        let s = &self.stages;
        s.filled.has_rests() && !s.loaded && !self.mechanism.is_coupled() && *s.q == *q
    }
}
