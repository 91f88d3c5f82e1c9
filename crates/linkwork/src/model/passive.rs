//! What joints do by themselves.

use super::Mechanism;
use crate::coupled::model::Follower;
use crate::{Error, Result};

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

    /// The derivatives of [`Mechanism::passive_at`]: ∂/∂q, nv × nv, and the diagonal of ∂/∂q̇, which is all of it.
    pub(crate) fn passive_derivatives_at(
        &self,
        q: &[f64],
        qd: &[f64],
        slow: impl Fn(usize) -> f64,
        follower_slow: impl Fn(usize) -> f64,
        by_q: &mut [f64],
        by_qd: &mut [f64],
    ) -> Result<()> {
        let (n, passive) = (self.nv(), &self.passive);
        // Until ∂/∂q̇ is known its place holds q ⊖ rest.
        self.difference(&passive.rest, q, by_qd)?;
        by_q.fill(0.0);
        for (j, joint) in self.joints().iter().enumerate() {
            let v = self.v_of(j);
            let stiffness = &passive.stiffness[v.clone()];
            if stiffness.iter().all(|x| *x == 0.0) {
                continue;
            }
            for k in 0..v.len() {
                // How q ⊖ rest answers a step along one direction.
                let mut rate = [0.0; 6];
                rate[k] = 1.0;
                if !joint.kind.chart_rate(&by_qd[v.clone()], &mut rate[..v.len()]) {
                    return Err(Error::Joint {
                        joint: joint.name.clone(),
                        problem: "is turned so far from where its spring rests that the spring's torque has no derivative; linearize at another configuration".into(),
                    });
                }
                for (i, stiffness) in stiffness.iter().enumerate() {
                    by_q[(v.start + i) * n + v.start + k] = -stiffness * rate[i];
                }
            }
        }
        for (i, by_qd) in by_qd.iter_mut().enumerate() {
            let (slow, speed) = (slow(i), qd[i].hypot(slow(i)));
            *by_qd = -(passive.damping[i] + passive.friction[i] * slow * slow / (speed * speed * speed));
        }
        for (k, resisted) in passive.followers.iter().enumerate() {
            // g′T(g, g′ẏ) by y and by ẏ.
            let [at, to] = resisted.leader;
            let ([torque, stiff, damp], [slope, bend]) = resisted.at(q[at], qd[to], follower_slow(k));
            by_q[to * n + to] += bend * torque + slope * (stiff * slope + damp * bend * qd[to]);
            by_qd[to] += slope * slope * damp;
        }
        Ok(())
    }
}
