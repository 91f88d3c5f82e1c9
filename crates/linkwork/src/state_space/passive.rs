//! Derivatives of what joints do by themselves.

use crate::model::{JointId, Mechanism};
use crate::simulate::Resistance;
use crate::{Error, Result};

/// ∂/∂q, nv × nv, and the diagonal of ∂/∂q̇ of −stiffness (q ⊖ rest) − damping q̇ − friction q̇/√(q̇² + v₀²).
pub(super) fn derivatives(
    mechanism: &Mechanism,
    resistance: &Resistance,
    q: &[f64],
    qd: &[f64],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let n = mechanism.nv();
    let Some((slip, follower_slip)) = resistance.slips() else {
        return Ok((vec![0.0; n * n], vec![0.0; n]));
    };
    let passive = &mechanism.passive;
    let mut step = vec![0.0; n];
    mechanism.difference(&passive.rest, q, &mut step)?;
    let mut by_q = vec![0.0; n * n];
    for (j, joint) in mechanism.joints().iter().enumerate() {
        let v = mechanism.v_range(JointId(j));
        for k in 0..v.len() {
            // How q ⊖ rest answers a step along one direction.
            let mut rate = vec![0.0; v.len()];
            rate[k] = 1.0;
            if passive.stiffness[v.clone()].iter().any(|x| *x != 0.0)
                && !joint.kind.chart_rate(&step[v.clone()], &mut rate)
            {
                return Err(Error::Joint {
                    joint: joint.name.clone(),
                    problem: "is turned so far from where its spring rests that the spring's torque has no derivative; linearize at another configuration".into(),
                });
            }
            for (i, rate) in rate.iter().enumerate() {
                by_q[(v.start + i) * n + v.start + k] = -passive.stiffness[v.start + i] * rate;
            }
        }
    }
    let slope = |i: usize| {
        let speed = qd[i].hypot(slip[i]);
        -(passive.damping[i] + passive.friction[i] * slip[i] * slip[i] / (speed * speed * speed))
    };
    let mut by_qd: Vec<f64> = (0..n).map(slope).collect();
    for (resisted, slip) in passive.followers.iter().zip(follower_slip) {
        // g′T(g, g′ẏ) by y and by ẏ.
        let [at, to] = resisted.leader;
        let ([torque, stiff, damp], [slope, bend]) = resisted.at(q[at], qd[to], *slip);
        by_q[to * n + to] += bend * torque + slope * (stiff * slope + damp * bend * qd[to]);
        by_qd[to] += slope * slope * damp;
    }
    Ok((by_q, by_qd))
}
