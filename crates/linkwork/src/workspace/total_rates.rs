//! What total rates and working moments mean at each joint.

use super::{Moving, Scaling};
use crate::Result;
use crate::model::JointId;

/// The diagonalized variables of one degree of freedom, beside the usual ones.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TotalRate {
    /// The joint.
    pub joint: JointId,
    /// Which of its degrees of freedom, from zero.
    pub index: usize,
    /// q̇: how fast the joint itself moves.
    pub qd: f64,
    /// G\*V⁺: how fast the links outboard would turn it, were it free, as its inner link is carried along.
    pub correction: f64,
    /// ξ = q̇ + G\*V⁺.
    pub xi: f64,
    /// ν = D^½ξ, whose square is twice the kinetic energy that the joint answers for.
    pub nu: f64,
    /// T: the torque.
    pub tau: f64,
    /// κ = T − Hz: what is left of it when the torques outboard have had their effect.
    pub kappa: f64,
    /// ε = D^-½κ, whose product with ν is the power that goes into ½ν².
    pub eps: f64,
    /// D: the inertia that the joint moves when all joints outboard of it are free.
    pub inertia_free: f64,
    /// HrH\*, the diagonal of 𝓜: the same when they are locked. Never less.
    pub inertia_locked: f64,
}

impl Moving<'_> {
    /// The diagonalized variables at this state under torques `tau`, one entry per degree of freedom in the order of v.
    ///
    /// ```
    /// let arm = linkwork::model::examples::puma560();
    /// let mut workspace = arm.workspace();
    /// let mut posed = workspace.at(&[0.2; 6])?;
    /// let table = posed.moving(&[0.5; 6])?.total_rate_table(&[0.0; 6])?;
    /// // Nothing carries the first joint along; the last one has nothing outboard.
    /// assert_eq!(table[0].xi, table[0].qd);
    /// assert!((table[5].inertia_free - table[5].inertia_locked).abs() < 1e-12);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn total_rate_table(&mut self, tau: &[f64]) -> Result<Vec<TotalRate>> {
        let (mechanism, n) = (self.view.mechanism, self.view.nv());
        let qd = self.qd().to_vec();
        let mut x = vec![0.0; 4 * n];
        let (rates, moments) = x.split_at_mut(2 * n);
        let ((xi, nu), (kappa, eps)) = (rates.split_at_mut(n), moments.split_at_mut(n));
        self.total_rates(Scaling::Unnormalized, &qd, xi)?;
        self.total_rates(Scaling::Normalized, &qd, nu)?;
        self.working_moments(Scaling::Unnormalized, tau, kappa)?;
        self.working_moments(Scaling::Normalized, tau, eps)?;
        let mut mass = vec![0.0; n * n];
        self.mass_matrix(&mut mass)?;
        let mut table = Vec::with_capacity(n);
        for i in 0..n {
            let (joint, index) = mechanism.joint_of_dof(i);
            let d = mechanism.v_of(joint.index()).len();
            let mut inertia = [0.0; 36];
            self.joint_inertia(joint, &mut inertia[..d * d])?;
            table.push(TotalRate {
                joint,
                index,
                qd: qd[i],
                correction: xi[i] - qd[i],
                xi: xi[i],
                nu: nu[i],
                tau: tau[i],
                kappa: kappa[i],
                eps: eps[i],
                inertia_free: inertia[index * (d + 1)],
                inertia_locked: mass[i * (n + 1)],
            });
        }
        Ok(table)
    }
}
