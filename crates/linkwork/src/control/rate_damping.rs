//! ε = −cν.

use super::{Controller, positive};
use crate::simulate::Now;
use crate::workspace::{Moving, Scaling};
use crate::{Mechanism, Result};

/// ε = −cν: each total rate is damped by itself, and kinetic energy ½ν\*ν falls at the rate ν\*cν. With one c for all it falls
/// as e^(−2ct), whatever the robot does.
///
/// ```
/// use linkwork::control::{Controller, RateDamping};
/// use linkwork::simulate::Now;
/// let arm = linkwork::model::examples::arm7();
/// let mut damping = RateDamping::new(&arm, 4.0)?;
/// let (q, v, mut tau) = ([0.3; 7], [0.1, -0.2, 0.3, 0.0, 0.1, 0.0, -0.4], [0.0; 7]);
/// let mut workspace = arm.workspace();
/// let mut posed = workspace.at(&q)?;
/// let mut moving = posed.moving(&v)?;
/// damping.torques(Now { t: 0.0, q: &q, v: &v }, &mut moving, &mut tau)?;
/// let power: f64 = tau.iter().zip(v).map(|(tau, v)| tau * v).sum();
/// assert!((power + 2.0 * 4.0 * moving.kinetic_energy()).abs() < 1e-12); // −c ν*ν
/// # Ok::<(), linkwork::Error>(())
/// ```
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
