//! Plain functions that allocate and return their result.

use crate::Result;
use crate::model::Mechanism;

/// # Plain dynamics
///
/// Each call allocates a workspace; in a loop, keep one: see [`Mechanism::workspace`].
///
/// ```
/// let arm = linkwork::model::examples::puma560();
/// let q = arm.neutral();
/// let tau = arm.inverse_dynamics(&q, &[0.1; 6], &[0.0; 6])?;
/// let qdd = arm.forward_dynamics(&q, &[0.1; 6], &tau)?;
/// assert!(qdd.iter().all(|x| x.abs() < 1e-12));
/// # Ok::<(), linkwork::Error>(())
/// ```
impl Mechanism {
    /// T for given accelerations.
    pub fn inverse_dynamics(&self, q: &[f64], qd: &[f64], qdd: &[f64]) -> Result<Vec<f64>> {
        let mut tau = vec![0.0; self.nv()];
        self.workspace().at(q)?.moving(qd)?.inverse_dynamics(qdd, &mut tau)?;
        Ok(tau)
    }

    /// q̈ for given torques.
    pub fn forward_dynamics(&self, q: &[f64], qd: &[f64], tau: &[f64]) -> Result<Vec<f64>> {
        let mut qdd = vec![0.0; self.nv()];
        self.workspace().at(q)?.moving(qd)?.forward_dynamics(tau, &mut qdd)?;
        Ok(qdd)
    }

    /// Gravity, velocity terms: inverse dynamics without acceleration.
    pub fn bias(&self, q: &[f64], qd: &[f64]) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.nv()];
        self.workspace().at(q)?.moving(qd)?.bias(&mut out)?;
        Ok(out)
    }

    /// The torques that hold the mechanism still.
    pub fn gravity_torque(&self, q: &[f64]) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.nv()];
        self.workspace().at(q)?.gravity_torque(&mut out)?;
        Ok(out)
    }

    /// 𝓜, nv × nv row by row.
    pub fn mass_matrix(&self, q: &[f64]) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.nv() * self.nv()];
        self.workspace().at(q)?.mass_matrix(&mut out)?;
        Ok(out)
    }

    /// 𝓜⁻¹, nv × nv row by row.
    pub fn mass_matrix_inverse(&self, q: &[f64]) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.nv() * self.nv()];
        self.workspace().at(q)?.mass_matrix_inverse(&mut out)?;
        Ok(out)
    }
}
