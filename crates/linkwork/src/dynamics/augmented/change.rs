//! How the links' velocities, and the torques of forces on links, change with the configuration.
//!
//! Everything is in the links' frames, where H is constant: a joint that is displaced by δθ = H*δq turns φ*V by −δθ × φ*V, and φf by
//! φ(δθ ×* f). Velocities are those at fixed joint rates; forces keep their components in the links' frames.

use super::{Augmented, Pass, Tree};
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion};
use crate::stage::crossing::{AnyJoint, Crossing};

/// δV of links at fixed rates: δV = φ*δV(p) + φ*V(p) × H*δq, into λ, V being given.
pub(super) struct Bend<'a, S> {
    pub(super) velocities: &'a [Motion<S>],
    pub(super) dq: &'a [S],
}

impl<S: Scalar> Pass<S> for Bend<'_, S> {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        for (k, body) in m.bodies.iter().enumerate() {
            a.lambda[k] = match body.parent {
                None => Motion::ZERO,
                Some(p) => {
                    let joint = AnyJoint::new(m, joints, k);
                    let turned = body.hinge.add_motion(Motion::ZERO, &self.dq[body.v..]);
                    joint.motion_out(a.lambda[p]) + joint.motion_out(self.velocities[p]).cross(turned)
                }
            };
        }
    }
}

/// Forces across the joints, from forces on links: f ← f + Σ φf.
pub(super) struct Totals;

impl<S: Scalar> Pass<S> for Totals {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        for (k, body) in m.bodies.iter().enumerate().rev() {
            if let Some(p) = body.parent {
                let inward = AnyJoint::new(m, joints, k).force_in(a.forces[k]);
                a.forces[p] += inward;
            }
        }
    }
}

/// δT of forces on links whose totals are F and whose components change by what is given: δf ← δf + Σ φ(δf + H*δq ×* F), T = Hδf.
pub(super) struct Turned<'a, S> {
    pub(super) totals: &'a [Force<S>],
    pub(super) dq: &'a [S],
    pub(super) tau: &'a mut [S],
}

impl<S: Scalar> Pass<S> for Turned<'_, S> {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        for (k, body) in m.bodies.iter().enumerate().rev() {
            body.hinge.project(a.forces[k], &mut self.tau[body.v..]);
            if let Some(p) = body.parent {
                let turned = body.hinge.add_motion(Motion::ZERO, &self.dq[body.v..]);
                let change = a.forces[k] + turned.cross_force(self.totals[k]);
                let inward = AnyJoint::new(m, joints, k).force_in(change);
                a.forces[p] += inward;
            }
        }
    }
}

/// The transpose of a change by q: T = −H(φ*V(p) ×* F), added, V being motions of links and F totals of forces.
pub(super) struct Across<'a, S> {
    pub(super) motions: &'a [Motion<S>],
    pub(super) totals: &'a [Force<S>],
    pub(super) tau: &'a mut [S],
}

impl<S: Scalar> Pass<S> for Across<'_, S> {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, _: &mut Augmented<S>) {
        for (k, body) in m.bodies.iter().enumerate() {
            let Some(p) = body.parent else { continue };
            let outer = AnyJoint::new(m, joints, k).motion_out(self.motions[p]);
            let mut along = [S::ZERO; 6];
            body.hinge.project(-outer.cross_force(self.totals[k]), &mut along);
            for i in 0..body.dofs {
                self.tau[body.v + i] += along[i];
            }
        }
    }
}
