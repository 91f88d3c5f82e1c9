//! What joints do by themselves.

use super::Mechanism;
use crate::Result;

/// What resists the joints by itself, per degree of freedom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passive {
    pub(crate) damping: Vec<f64>,
    pub(crate) friction: Vec<f64>,
    pub(crate) stiffness: Vec<f64>,
    /// The configuration at which all springs rest.
    pub(crate) rest: Vec<f64>,
}

/// Below this speed dry friction fades smoothly, in rad/s or m/s.
pub(crate) const SLOW: f64 = 1e-3;

impl Mechanism {
    /// −stiffness (q ⊖ rest) − damping q̇ − friction q̇ / √(q̇² + v₀²), with v₀ of each degree of freedom from `slow`.
    pub(crate) fn passive_at(&self, q: &[f64], qd: &[f64], slow: impl Fn(usize) -> f64, out: &mut [f64]) -> Result<()> {
        let passive = &self.passive;
        self.difference(&passive.rest, q, out)?;
        for (i, out) in out.iter_mut().enumerate() {
            let qd = qd[i];
            let slip = qd / qd.hypot(slow(i));
            *out = -(passive.stiffness[i] * *out + passive.damping[i] * qd + passive.friction[i] * slip);
        }
        Ok(())
    }
}
