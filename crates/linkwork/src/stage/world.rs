//! Where everything is in the world.

use super::crossing::{Crossing, at_joint};
use super::joints::Joints;
use crate::body::{Body, Passage};
use crate::model::{Compiled, Part, Placed};
use crate::scalar::{Pack, Scalar};
use crate::spatial::{Motion, Pose, Rows, Vec3};

/// Poses of the links' compiled frames, and the joints' motions in the world's axes.
///
/// Places and motions are taken at the link's *home*, the origin of the root of its tree: then nothing depends on how far
/// from the world's origin a robot stands, and the rigid steps φ are identities.
#[derive(Clone, Debug)]
pub(crate) struct World<S> {
    /// Poses of the compiled frames, seen from home in the world's axes.
    pub(crate) poses: Vec<Pose<S>>,
    /// Per link: its home, in the world.
    pub(crate) homes: Vec<Vec3<S>>,
    /// Poses of the users' link frames.
    pub(crate) links: Vec<Pose<S>>,
    /// Per degree of freedom: a column of φ*H* in the world's axes, at home.
    pub(crate) columns: Vec<Motion<S>>,
}

impl<S: Scalar> World<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        Self {
            poses: vec![Pose::IDENTITY; m.bodies.len()],
            homes: vec![Vec3::ZERO; m.bodies.len()],
            // Those that are welded to the world stay there.
            links: m.link_frames.iter().map(|link| link.pose.lift()).collect(),
            columns: vec![Motion::ZERO; m.nv],
        }
    }

    /// Outward: each link's pose from its parent's, which stays in registers along a chain; and the users' frames, if asked
    /// for.
    #[inline(always)]
    pub(crate) fn place<P: Pack<S>, const PARTS: bool, const SPECIAL: bool>(
        &mut self,
        m: &Compiled,
        joints: &Joints<S>,
    ) {
        let mut part = 0;
        let n = m.bodies.len();
        let (poses, homes) = (&mut self.poses[..n], &mut self.homes[..n]);
        let mut last = Rows::<P>::of(&Pose::IDENTITY);
        for k in 0..n {
            let body = &m.bodies[k];
            let Some(p) = body.parent else {
                let mut pose = match body.passage {
                    Passage::General => joints.general[body.general],
                    _ => joints.screws[k].after_pose(&body.placement.lift()),
                };
                homes[k] = core::mem::replace(&mut pose.translation, Vec3::ZERO);
                (poses[k], last) = (pose, Rows::of(&pose));
                if PARTS {
                    place_parts(&m.parts, &mut part, k, &last, homes[k], &mut self.links);
                }
                continue;
            };
            if p + 1 != k {
                last = Rows::of(&poses[p]);
            }
            at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                for i in 0..Rows::<P>::places::<S>() {
                    last.0[i] = joint.place(last.0[i]);
                }
            });
            poses[k] = last.pose();
            homes[k] = homes[p];
            if PARTS {
                place_parts(&m.parts, &mut part, k, &last, homes[k], &mut self.links);
            }
        }
    }

    /// Where a frame fixed to a link is in the world.
    #[inline(always)]
    pub(crate) fn frame(&self, frame: &Placed) -> Pose<S> {
        let own = frame.pose.lift();
        let Some(k) = frame.body else { return own };
        let from_home = self.poses[k] * own;
        Pose::new(from_home.rotation, from_home.translation + self.homes[k])
    }

    /// Link by link: the users' frames.
    #[inline(always)]
    pub(crate) fn place_links<P: Pack<S>>(&mut self, m: &Compiled) {
        let mut part = 0;
        for k in 0..m.bodies.len() {
            let rows = Rows::<P>::of(&self.poses[k]);
            place_parts(&m.parts, &mut part, k, &rows, self.homes[k], &mut self.links);
        }
    }

    /// Link by link: the motions that the joints allow.
    #[inline(always)]
    pub(crate) fn span(&mut self, m: &Compiled) {
        for k in 0..m.bodies.len() {
            let (body, pose) = (&m.bodies[k], &self.poses[k]);
            for i in 0..body.dofs {
                self.columns[body.v + i] = span(body, pose, i);
            }
        }
    }
}

/// The i-th motion that a joint allows, at home: v there is (p − home) × ω.
#[inline(always)]
pub(crate) fn span<S: Scalar>(body: &Body, pose: &Pose<S>, i: usize) -> Motion<S> {
    let (arm, r) = (pose.translation, &pose.rotation);
    if body.revolute {
        return Motion::new(r.z, arm.cross(r.z));
    }
    let axis = body.hinge.axes()[i];
    let along = [r.x, r.y, r.z][axis % 3];
    if axis >= 3 {
        return Motion::new(Vec3::ZERO, along);
    }
    match body.hinge.pitch() {
        Some(pitch) => Motion::new(along, arm.cross(along) + along * S::lift(pitch)),
        None => Motion::new(along, arm.cross(along)),
    }
}

/// The users' frames of one body, seen from the world; `next` is the first of them, and then that of the next body.
#[inline(always)]
fn place_parts<S: Scalar, P: Pack<S>>(
    parts: &[Part],
    next: &mut usize,
    body: usize,
    rows: &Rows<P>,
    home: Vec3<S>,
    links: &mut [Pose<S>],
) {
    while let Some(part) = parts.get(*next)
        && part.body == body
    {
        let (own, mut rows) = (part.pose.lift(), *rows);
        for i in 0..Rows::<P>::places::<S>() {
            rows.0[i] = rows.0[i].times(&own);
        }
        links[part.link] = rows.from(home).pose();
        *next += 1;
    }
}
