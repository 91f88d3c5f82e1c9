//! Where everything is in the world.

use super::crossing::{Crossing, at_joint};
use super::joints::Joints;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Motion, Pose, Vec3};

/// Poses of the links' compiled frames, and the joints' motions in the world's axes.
///
/// Motions are taken at the link's *home*, the origin of the root of its tree: then nothing depends on how far from
/// the world's origin a robot stands, and the rigid steps φ are identities.
#[derive(Clone, Debug)]
pub(crate) struct World<S> {
    pub(crate) poses: Vec<Pose<S>>,
    /// Per degree of freedom: a column of φ*H* in the world's axes, at home.
    pub(crate) columns: Vec<Motion<S>>,
}

impl<S: Scalar> World<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        Self {
            poses: vec![Pose::IDENTITY; m.bodies.len()],
            columns: vec![Motion::ZERO; m.nv],
        }
    }

    /// Outward: each link's pose from its parent's.
    #[inline(always)]
    pub(crate) fn place(&mut self, m: &Compiled, joints: &Joints<S>) {
        let n = m.bodies.len();
        let poses = &mut self.poses[..n];
        for k in 0..n {
            let parent = m.bodies[k].parent.map(|p| poses[p]);
            at_joint!(m.bodies, joints, k, joint => poses[k] = joint.place(parent));
        }
    }

    /// Link by link: the motions that the joints allow.
    #[inline(always)]
    pub(crate) fn span(&mut self, m: &Compiled) {
        for (body, pose) in m.bodies.iter().zip(&self.poses) {
            let arm = pose.translation - self.poses[body.root].translation;
            let r = &pose.rotation;
            for (i, &axis) in body.hinge.axes().iter().enumerate() {
                let along = [r.x, r.y, r.z][axis % 3];
                self.columns[body.v + i] = if axis < 3 {
                    // v at home = (p − home) × ω.
                    let slide = body.hinge.pitch().map_or(Vec3::ZERO, |pitch| along * S::lift(pitch));
                    Motion::new(along, arm.cross(along) + slide)
                } else {
                    Motion::new(Vec3::ZERO, along)
                };
            }
        }
    }

    /// The home of a link.
    #[inline(always)]
    pub(crate) fn home(&self, m: &Compiled, k: usize) -> Vec3<S> {
        self.poses[m.bodies[k].root].translation
    }
}
