//! The spatial velocities of the links.

use super::crossing::{Crossing, at_joint};
use super::joints::Joints;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::Motion;

/// Outward: V(k) = φ*(p,k) V(p) + H*q̇.
#[inline(always)]
pub(crate) fn fill<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    joints: &Joints<S>,
    qd: &[S],
    velocities: &mut [Motion<S>],
) {
    for k in 0..m.bodies.len() {
        let body = &m.bodies[k];
        let qd = &qd[body.v..];
        velocities[k] = match body.parent {
            Some(p) => {
                let v_p = velocities[p];
                at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => joint.hinge().add_motion(joint.motion_out(v_p), qd))
            }
            None => body.hinge.motion(qd),
        };
    }
}
