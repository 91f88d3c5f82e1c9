//! The force across a fixed joint, whose links are one body.

use super::Accelerating;
use crate::dynamics::kinematics;
use crate::model::{JointKind, LinkId, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Pose, Reference, RigidBody, Vec3};
use crate::{Error, Result};

impl Mechanism {
    /// The places of a joint's child link and of all links that hang on it by fixed joints.
    fn welded_to(&self, joint: usize) -> Result<Vec<usize>> {
        let mut part = vec![self.link(&self.joints()[joint].child)?.index()];
        let mut at = 0;
        while let Some(&link) = part.get(at) {
            let name = &self.links()[link].name;
            for other in self
                .joints()
                .iter()
                .filter(|j| j.kind == JointKind::Fixed && j.parent == *name)
            {
                part.push(self.link(&other.child)?.index());
            }
            at += 1;
        }
        Ok(part)
    }
}

impl<S: Scalar> Accelerating<'_, S> {
    /// The force across a fixed joint: Σ over the links welded to its child of M a + ω × Mω, less the pushes on them, and what
    /// they carry across joints that move. `pushes` are on links by their places, about and in the axes of their frames.
    pub(crate) fn across_weld(&self, joint: usize, pushes: &dyn Fn(usize) -> Force<S>) -> Result<Force<S>> {
        let m = self.mechanism();
        let part = m.welded_to(joint)?;
        let place = |link: usize| &m.placed[link + 1];
        let child = self.stages().world.frame(place(part[0]));
        let mut sum = Force::ZERO;
        for &link in &part {
            let placed = place(link);
            let at = self.stages().world.frame(placed);
            let from_child: Pose<S> = child.inverse() * at;
            // The acceleration as gravity makes it: upwards at rest.
            let own = kinematics::acceleration(self.stages(), placed, Vec3::ZERO, Reference::Aligned);
            let w = kinematics::velocity(self.stages(), placed, Reference::Local).angular;
            let a = Motion::new(
                at.rotation.inverse_mul(own.angular),
                at.rotation.inverse_mul(own.linear),
            );
            let a = match placed.body {
                Some(_) => a,
                None => Motion::new(a.angular, at.rotation.inverse_mul(-m.compiled.gravity.lift())),
            };
            let inertia = RigidBody::from(&m.links()[link].inertia).lift::<S>();
            let turning = inertia.times(Motion::new(w, Vec3::ZERO));
            let inertial = inertia.times(a) + Force::new(w.cross(turning.moment), w.cross(turning.force));
            sum += from_child.force_in(inertial - pushes(link));
        }
        for (j, other) in m.joints().iter().enumerate().filter(|(_, j)| j.kind.nv() > 0) {
            if other.parent == crate::model::WORLD || !part.contains(&m.link(&other.parent)?.index()) {
                continue;
            }
            let at = self.stages().world.frame(place(m.link(&other.child)?.index()));
            sum += (child.inverse() * at).force_in(self.across_moving(j)?);
        }
        Ok(sum)
    }

    /// An error if something pushes the body that a fixed joint is part of: on which of its links is not known.
    pub(super) fn check_unpushed(&self, joint: usize) -> Result<()> {
        let m = self.mechanism();
        let given = &m.joints()[joint];
        let link: LinkId = m.link(&given.child)?;
        let stages = self.stages();
        // Forces on what stands on the world are not kept.
        let pushed = match m.placed[link.index() + 1].body {
            Some(k) => stages.loads[k].to_array() != Force::<S>::ZERO.to_array(),
            None => stages.loaded,
        };
        match pushed {
            true => Err(Error::Joint {
                joint: given.name.clone(),
                problem: "a fixed joint makes its links one body, and forces act on that body: on which of its links, and so what the joint carries, is not known; apply none, or give it a kind that moves".into(),
            }),
            false => Ok(()),
        }
    }
}
