//! Configurations within the joints' limits.

use crate::Result;
use crate::model::{Mechanism, per_dof};
use crate::spatial::Vec3;

/// Angle and axis of a rotation given by a quaternion, the angle from 0 to π; x where it does not turn.
pub(crate) fn turn_of(q: &[f64]) -> (f64, Vec3) {
    let (vector, scalar) = (Vec3::new(q[0], q[1], q[2]), q[3]);
    let sine = vector.norm();
    match sine > 0.0 {
        true => (
            2.0 * sine.atan2(scalar.abs()),
            vector * (1.0_f64.copysign(scalar) / sine),
        ),
        false => (0.0, Vec3::new(1.0, 0.0, 0.0)),
    }
}

impl Mechanism {
    /// The nearest configuration within the joints' position limits, coordinate by coordinate: those of joints that follow by
    /// a ratio included; ball joints turned too far turn back. Where limits contradict each other the joint's own hold. Other limits
    /// of planar, spherical and free joints, and those of joints that follow by more than a ratio, are left out of account.
    ///
    /// ```
    /// use linkwork::model::examples;
    /// let robot = examples::cart_pole();
    /// assert_eq!(robot.nearest_within_limits(&[3.0, 0.1])?, [2.4, 0.1]);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn nearest_within_limits(&self, q: &[f64]) -> Result<Vec<f64>> {
        self.check_configuration("q", q)?;
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let mut ranges = vec![free; q.len()];
        let of = |j: usize| per_dof(&self.joints()[j].position_limits, self.joints()[j].kind.nv(), free);
        for (j, joint) in self.joints().iter().enumerate().filter(|(_, x)| !x.kind.is_curved()) {
            let own = self.q_of(j);
            if joint.kind.nq() == own.len() {
                ranges[own].iter_mut().zip(of(j)).for_each(|(range, own)| *range = own);
            }
        }
        for (j, lead) in self.leads.iter().enumerate() {
            let Some(lead) = lead.as_ref().filter(|lead| !lead.is_curved()) else {
                continue;
            };
            let [offset, ratio, ..] = lead.at(0.0);
            let (lower, upper) = of(j)[0];
            let ends = [(lower - offset) / ratio, (upper - offset) / ratio];
            let range = &mut ranges[self.q_of(lead.joint).start];
            let both = (range.0.max(ends[0].min(ends[1])), range.1.min(ends[0].max(ends[1])));
            if ratio != 0.0 && both.0 <= both.1 {
                *range = both;
            }
        }
        let mut q: Vec<f64> = q
            .iter()
            .zip(&ranges)
            .map(|(q, (lower, upper))| q.max(*lower).min(*upper))
            .collect();
        self.turn_back(&mut q);
        Ok(q)
    }

    /// Turns ball joints back to the limits of their angles; whether any was beyond.
    pub(crate) fn turn_back(&self, q: &mut [f64]) -> bool {
        let mut changed = false;
        for (joint, at, _) in self.layout() {
            let Some(limit) = joint.turn_limit() else { continue };
            let (angle, axis) = turn_of(&q[at.clone()]);
            if angle > limit {
                let (sine, cosine) = (0.5 * limit).sin_cos();
                let [x, y, z] = (axis * sine).to_array();
                q[at].copy_from_slice(&[x, y, z, cosine]);
                changed = true;
            }
        }
        changed
    }
}
