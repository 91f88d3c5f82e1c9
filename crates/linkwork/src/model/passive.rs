//! What joints do by themselves.

use super::Mechanism;
use super::coupling::Follower;
use crate::Result;

/// What resists the joints by itself, per degree of freedom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passive {
    pub(crate) damping: Vec<f64>,
    pub(crate) friction: Vec<f64>,
    pub(crate) stiffness: Vec<f64>,
    /// The configuration at which all springs rest.
    pub(crate) rest: Vec<f64>,
    /// What resists joints that follow others by more than a ratio.
    pub(crate) followers: Vec<Resisted>,
}

/// A follower that is resisted by itself.
#[derive(Clone, Debug)]
pub(crate) struct Resisted {
    pub(crate) follower: Follower,
    /// Places of its leader in q and in v.
    pub(crate) leader: [usize; 2],
    pub(crate) damping: f64,
    pub(crate) friction: f64,
    pub(crate) stiffness: f64,
    pub(crate) rest: f64,
}

impl Resisted {
    /// −stiffness (g − rest) − damping g′ẏ − friction slip, and its derivatives by g and by its rate; with g′ and g″.
    pub(crate) fn at(&self, y: f64, yd: f64, slow: f64) -> ([f64; 3], [f64; 2]) {
        let [q, slope, bend, _] = self.follower.at(y);
        let qd = slope * yd;
        let speed = qd.hypot(slow);
        let torque = -(self.stiffness * (q - self.rest) + self.damping * qd + self.friction * qd / speed);
        let damping = -(self.damping + self.friction * slow * slow / (speed * speed * speed));
        ([torque, -self.stiffness, damping], [slope, bend])
    }
}

impl Passive {
    /// Whether there is anything.
    pub(crate) fn is_any(&self) -> bool {
        let lists = [&self.damping, &self.friction, &self.stiffness];
        let own = |f: &Resisted| f.damping != 0.0 || f.friction != 0.0 || f.stiffness != 0.0;
        lists.iter().any(|list| list.iter().any(|x| *x != 0.0)) || self.followers.iter().any(own)
    }
}

/// Below this speed dry friction fades smoothly, in rad/s or m/s.
pub(crate) const SLOW: f64 = 1e-3;

impl Mechanism {
    /// −stiffness (q ⊖ rest) − damping q̇ − friction q̇ / √(q̇² + v₀²), with v₀ of each degree of freedom from `slow`, and of
    /// joints that follow by more than a ratio from `follower_slow`.
    pub(crate) fn passive_at(
        &self,
        q: &[f64],
        qd: &[f64],
        slow: impl Fn(usize) -> f64,
        follower_slow: impl Fn(usize) -> f64,
        out: &mut [f64],
    ) -> Result<()> {
        let passive = &self.passive;
        self.difference(&passive.rest, q, out)?;
        for (i, out) in out.iter_mut().enumerate() {
            let qd = qd[i];
            let slip = qd / qd.hypot(slow(i));
            *out = -(passive.stiffness[i] * *out + passive.damping[i] * qd + passive.friction[i] * slip);
        }
        for (k, resisted) in passive.followers.iter().enumerate() {
            let [at, to] = resisted.leader;
            let ([torque, ..], [slope, _]) = resisted.at(q[at], qd[to], follower_slow(k));
            out[to] += slope * torque;
        }
        Ok(())
    }
}
