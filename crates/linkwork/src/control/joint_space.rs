//! The usual controllers in joint space.

use super::{Controller, positive};
use crate::model::check_length;
use crate::simulate::Now;
use crate::workspace::Moving;
use crate::{Mechanism, Result};

/// T = k_p (q_d ⊖ q) − k_d q̇: a spring and a damper at each joint that a motor drives.
///
/// ```
/// use linkwork::control::{Controlled, JointPd};
/// use linkwork::simulate::{Dynamics, Integrator, RungeKutta4, State};
/// let arm = linkwork::model::examples::arm7();
/// let law = JointPd::new(&arm, &[0.3; 7], &[50.0; 7], &[10.0; 7])?;
/// let mut equations = Dynamics::new(&arm, Controlled::new(&arm, law))?; // adds gravity compensation
/// let mut state = State::at_rest(&arm, &[0.0; 7]);
/// RungeKutta4::new(&arm).step(&mut equations, &mut state, 1e-3)?;
/// assert!(state.v.iter().any(|v| *v > 0.0)); // on its way
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "pd control")]
pub struct JointPd {
    mechanism: Mechanism,
    target: Vec<f64>,
    kp: Vec<f64>,
    kd: Vec<f64>,
    error: Vec<f64>,
}

/// T = 𝓜(k_p (q_d ⊖ q) − k_d q̇) + the velocity terms: the robot's own dynamics undone, q̈ = k_p (q_d ⊖ q) − k_d q̇.
///
/// ```
/// use linkwork::control::{ComputedTorque, Controlled};
/// use linkwork::simulate::{Dynamics, Integrator, RungeKutta4, State};
/// let arm = linkwork::model::examples::arm7();
/// let law = ComputedTorque::new(&arm, &[0.3; 7], &[100.0; 7], &[20.0; 7])?;
/// let mut equations = Dynamics::new(&arm, Controlled::new(&arm, law))?;
/// let mut state = State::at_rest(&arm, &[0.2; 7]);
/// RungeKutta4::new(&arm).step(&mut equations, &mut state, 1e-3)?;
/// assert!(state.v[0] > 0.0);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "inverse dynamics control")]
pub struct ComputedTorque(JointPd);

impl JointPd {
    /// Towards a configuration, with gains per degree of freedom: positive where a motor drives it, zero elsewhere.
    pub fn new(mechanism: &Mechanism, target: &[f64], kp: &[f64], kd: &[f64]) -> Result<Self> {
        let nv = mechanism.nv();
        for (argument, gains) in [("kp", kp), ("kd", kd)] {
            check_length(argument, nv, gains.len())?;
            mechanism.need_driven(|i| gains[i] != 0.0, "its gain")?;
            let driven: Vec<f64> = mechanism.driven_dofs().into_iter().map(|i| gains[i]).collect();
            positive(argument, &driven, driven.len())?;
        }
        let mut error = vec![0.0; nv];
        mechanism.difference(target, target, &mut error)?;
        Ok(Self {
            mechanism: mechanism.clone(),
            target: target.to_vec(),
            kp: kp.to_vec(),
            kd: kd.to_vec(),
            error,
        })
    }

    fn pull(&mut self, now: Now<'_>, moving: &Moving<'_>, out: &mut [f64]) -> Result<()> {
        moving.mechanism().check_same(&self.mechanism, "controller")?;
        self.mechanism.difference(now.q, &self.target, &mut self.error)?;
        for i in 0..out.len() {
            out[i] = self.kp[i] * self.error[i] - self.kd[i] * now.v[i];
        }
        Ok(())
    }
}

impl Controller for JointPd {
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        self.pull(now, moving, tau)
    }
}

impl ComputedTorque {
    /// Towards a configuration, with positive gains per degree of freedom. Motors must drive all of them.
    pub fn new(mechanism: &Mechanism, target: &[f64], kp: &[f64], kd: &[f64]) -> Result<Self> {
        mechanism.need_driven(|_| true, "computed torque")?;
        JointPd::new(mechanism, target, kp, kd).map(Self)
    }
}

impl Controller for ComputedTorque {
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        self.0.pull(now, moving, tau)?;
        moving.mass_times(tau, &mut self.0.error)?;
        moving.coriolis(tau)?;
        tau.iter_mut().zip(&self.0.error).for_each(|(tau, x)| *tau += x);
        Ok(())
    }
}
