//! ε = −cν.

use super::{Controller, positive};
use crate::simulate::Now;
use crate::workspace::{Moving, Scaling};
use crate::{Mechanism, Result};

/// ε = −cν: each total rate is damped by itself, and kinetic energy ½ν\*ν falls at the rate ν\*cν. With one c for all it falls
/// as e^(−2ct), whatever the robot does.
#[derive(Clone, Debug)]
pub struct RateDamping {
    mechanism: Mechanism,
    c: Vec<f64>,
    nu: Vec<f64>,
}

impl RateDamping {
    /// The same c > 0, in 1/s, for every degree of freedom.
    pub fn new(mechanism: &Mechanism, c: f64) -> Result<Self> {
        Self::with(mechanism, &vec![c; mechanism.nv()])
    }

    /// One c > 0 per degree of freedom. Motors must drive all of them: total rates mix those of the joints.
    pub fn with(mechanism: &Mechanism, c: &[f64]) -> Result<Self> {
        positive("c", c, mechanism.nv())?;
        mechanism.need_driven(|_| true, "damping of total rates")?;
        Ok(Self {
            mechanism: mechanism.clone(),
            c: c.to_vec(),
            nu: vec![0.0; c.len()],
        })
    }

    /// ½ν\*ν, which falls: the kinetic energy.
    pub fn lyapunov(&mut self, moving: &mut Moving<'_>) -> f64 {
        moving.kinetic_energy()
    }

    /// −m c ν.
    pub(super) fn damp(&mut self, qd: &[f64], moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        moving.mechanism().check_same(&self.mechanism, "controller")?;
        moving.total_rates(Scaling::Normalized, qd, &mut self.nu)?;
        self.nu.iter_mut().zip(&self.c).for_each(|(nu, c)| *nu *= -c);
        moving.joint_torques(Scaling::Normalized, &self.nu, tau)
    }
}

impl Controller for RateDamping {
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        self.damp(now.v, moving, tau)
    }
}
