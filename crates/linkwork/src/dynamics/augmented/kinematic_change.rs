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

/// How the links of a tree move, in their frames: velocities, and accelerations without gravity.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow<S> {
    pub(crate) v: Vec<S>,
    pub(crate) velocities: Vec<Motion<S>>,
    pub(crate) accelerations: Vec<Motion<S>>,
}

/// V = φ*V(p) + H*v and A = φ*A(p) + V × H*v + H*x, v being the flow's and x the accelerations of joints.
pub(super) struct Follow<'a, S> {
    pub(super) x: &'a [S],
    pub(super) flow: &'a mut Flow<S>,
}

impl<S: Scalar> Pass<S> for Follow<'_, S> {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, _: &mut Augmented<S>) {
        let Flow {
            v,
            velocities,
            accelerations,
        } = self.flow;
        for (k, body) in m.bodies.iter().enumerate() {
            let (mut velocity, mut acceleration) = (Motion::ZERO, Motion::ZERO);
            if let Some(p) = body.parent {
                let joint = AnyJoint::new(m, joints, k);
                velocity = joint.motion_out(velocities[p]);
                acceleration = joint.motion_out(accelerations[p]);
            }
            let rate = body.hinge.add_motion(Motion::ZERO, &v[body.v..]);
            velocities[k] = velocity + rate;
            accelerations[k] = body
                .hinge
                .add_motion(acceleration + velocities[k].cross(rate), &self.x[body.v..]);
        }
    }
}

/// How both change with q, v and x, given one after another: δV = φ*δV(p) + φ*V(p) × H*δq + H*δv and
/// δA = φ*δA(p) + φ*A(p) × H*δq + δV × H*v + V × H*δv + H*δx.
pub(super) struct FollowChange<'a, S> {
    pub(super) flow: &'a Flow<S>,
    pub(super) by: [&'a [S]; 3],
    pub(super) out: &'a mut [[Motion<S>; 2]],
}

impl<S: Scalar> Pass<S> for FollowChange<'_, S> {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, _: &mut Augmented<S>) {
        let (flow, [dq, dv, dx]) = (self.flow, self.by);
        for (k, body) in m.bodies.iter().enumerate() {
            let along = |x: &[S]| body.hinge.add_motion(Motion::ZERO, &x[body.v..]);
            let (mut velocity, mut acceleration) = (Motion::ZERO, Motion::ZERO);
            if let Some(p) = body.parent {
                let (joint, turned) = (AnyJoint::new(m, joints, k), along(dq));
                velocity = joint.motion_out(self.out[p][0]) + joint.motion_out(flow.velocities[p]).cross(turned);
                acceleration = joint.motion_out(self.out[p][1]) + joint.motion_out(flow.accelerations[p]).cross(turned);
            }
            let more = along(dv);
            velocity += more;
            acceleration = acceleration + velocity.cross(along(&flow.v)) + flow.velocities[k].cross(more) + along(dx);
            self.out[k] = [velocity, acceleration];
        }
    }
}

/// The transpose: from what pushes against δV and δA of links, which become totals, to numbers by q, v and x, which are added.
pub(super) struct FollowAdjoint<'a, S> {
    pub(super) flow: &'a Flow<S>,
    pub(super) forces: &'a mut [[Force<S>; 2]],
    pub(super) by: [&'a mut [S]; 3],
}

impl<S: Scalar> Pass<S> for FollowAdjoint<'_, S> {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, _: &mut Augmented<S>) {
        let (flow, [by_q, by_v, by_x]) = (self.flow, self.by);
        for (k, body) in m.bodies.iter().enumerate().rev() {
            let add = |f: Force<S>, out: &mut [S]| {
                let mut along = [S::ZERO; 6];
                body.hinge.project(f, &mut along);
                for i in 0..body.dofs {
                    out[body.v + i] += along[i];
                }
            };
            let rate = body.hinge.add_motion(Motion::ZERO, &flow.v[body.v..]);
            let [mut velocity, acceleration] = self.forces[k];
            velocity += rate.cross_force(acceleration);
            add(velocity - flow.velocities[k].cross_force(acceleration), by_v);
            add(acceleration, by_x);
            if let Some(p) = body.parent {
                let joint = AnyJoint::new(m, joints, k);
                let outer = [flow.velocities[p], flow.accelerations[p]].map(|x| joint.motion_out(x));
                add(
                    -(outer[0].cross_force(velocity) + outer[1].cross_force(acceleration)),
                    by_q,
                );
                let inward = [joint.force_in(velocity), joint.force_in(acceleration)];
                self.forces[p][0] += inward[0];
                self.forces[p][1] += inward[1];
            }
        }
    }
}
