//! What q̇ determines: angular velocities, and the velocity terms a and b.

use super::crossing::{Crossing, at_joint};
use super::joints::Joints;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Vec3};

/// The rates of one link. Accelerations are those of the link's origin, as in the papers: then no sweep of the
/// dynamics needs a linear velocity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate<S> {
    pub(crate) omega: Vec3<S>,
    /// a(k) = [ω_p × Hω q̇; (ω_p + ω) × Hv q̇ + ω_p × (ω_p × l)].
    pub(crate) a: Motion<S>,
    /// b(k) = [ω × Jω; ω × (ω × m p)].
    pub(crate) b: Force<S>,
}

/// Outward: ω = φ*ω_p + Hω q̇, and with it a and b. About 90 operations per link.
#[inline(always)]
pub(crate) fn fill<S: Scalar>(m: &Compiled, joints: &Joints<S>, qd: &[S], rates: &mut [Rate<S>]) {
    let n = m.bodies.len();
    let (bodies, rates) = (&m.bodies[..n], &mut rates[..n]);
    for k in 0..n {
        let body = &bodies[k];
        let qd = &qd[body.v..];
        let (omega, a) = match body.parent {
            Some(p) => {
                let w_p = rates[p].omega;
                at_joint!(bodies, joints, k, joint => joint.hinge().step(Some(joint.spin_out(w_p)), qd))
            }
            None => body.hinge.step(None, qd),
        };
        let b = body.inertia.lift().gyroscopic(omega);
        rates[k] = Rate { omega, a, b };
    }
}
