//! What sensors look at: frames, and everything that a link carries.

use crate::actuators::Target;
use crate::drivetrain::Drivetrain;
use crate::robot::{Robot, Shape};
use crate::source::shortened;
use linkwork::Mechanism;
use linkwork::contact::LinkForce;
use linkwork::model::{FrameId, WORLD};
use linkwork::spatial::{Inertia, Motion, Pose, Reference, Vec3};
use linkwork::workspace::{Accelerating, Moving};
use std::collections::HashMap;

/// A frame, or something fixed to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    pub(super) frame: FrameId,
    on: Pose,
    /// Whether its axes are known: not so of the principal axes of a body.
    pub(super) turned: bool,
}

/// Where an object is and how it moves, along the world's axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) pose: Pose,
    pub(super) velocity: Motion,
}

impl Object {
    pub(super) fn of(robot: &Robot, target: &Target) -> Result<Self, String> {
        let m = &robot.mechanism;
        let missing = |_| format!("there is no {} `{}`", shortened(&target.kind), shortened(&target.name));
        let whole = |name: &str, on, turned| {
            Ok(Self {
                frame: m.frame(name).map_err(missing)?,
                on,
                turned,
            })
        };
        match &*target.kind {
            "site" | "xbody" => whole(&target.name, Pose::IDENTITY, true),
            "body" => {
                let link = m.links().iter().find(|l| l.name == target.name);
                let com = link.map_or(Vec3::ZERO, |l| l.inertia.com);
                whole(&target.name, Pose::from_translation(com), target.name == WORLD)
            }
            "geom" => {
                let shape = robot.geometry.iter().find(|g| g.name == target.name);
                match shape {
                    Some(g) if !matches!(g.shape, Shape::Mesh { .. }) => whole(&g.link, g.pose, true),
                    _ => Err(format!("`{}` is not a plain geom", shortened(&target.name))),
                }
            }
            other => Err(format!("measuring a {} is not modelled", shortened(other))),
        }
    }

    pub(super) fn seen(&self, moving: &mut Moving<'_>) -> linkwork::Result<Seen> {
        let base = moving.pose(self.frame)?;
        let mut velocity = moving.velocity(self.frame, Reference::Aligned)?;
        velocity.linear += velocity.angular.cross(base.rotation * self.on.translation);
        Ok(Seen {
            pose: base * self.on,
            velocity,
        })
    }

    /// Its acceleration, for the base and velocity that it was seen with.
    pub(super) fn acceleration(&self, seen: &Seen, accelerating: &Accelerating<'_>) -> linkwork::Result<Motion> {
        let mut a = accelerating.acceleration(self.frame, Reference::Aligned)?;
        // The arm from the frame's origin, along the world's axes.
        let arm = (seen.pose.rotation * self.on.rotation.inverse()) * self.on.translation;
        let omega = seen.velocity.angular;
        a.linear += a.angular.cross(arm) + omega.cross(omega.cross(arm));
        Ok(a)
    }
}

/// A link and everything it carries.
#[derive(Clone, Debug)]
pub(super) struct Subtree {
    links: Vec<(Object, Inertia)>,
    seen: Vec<Seen>,
    /// By the places of links in the mechanism.
    inside: Vec<bool>,
    pub(super) mass: f64,
}

impl Subtree {
    /// Of a link, or of all links for the world.
    pub(super) fn of(m: &Mechanism, link: &str) -> Result<Self, String> {
        if link != WORLD {
            m.link(link)
                .map_err(|_| format!("there is no body `{}`", shortened(link)))?;
        }
        let mut carried: HashMap<&str, Vec<&str>> = HashMap::new();
        for joint in m.joints() {
            carried.entry(&joint.parent).or_default().push(&joint.child);
        }
        let inertias: HashMap<&str, Inertia> = m.links().iter().map(|l| (&*l.name, l.inertia)).collect();
        let mut inside = vec![false; m.links().len()];
        let (mut links, mut waiting) = (Vec::new(), vec![link]);
        while let Some(name) = waiting.pop() {
            waiting.extend(carried.get(name).into_iter().flatten());
            if let Ok(link) = m.link(name) {
                inside[link.index()] = true;
            }
            if let Some(inertia) = inertias.get(name).filter(|i| i.mass > 0.0) {
                let object = Object {
                    frame: m.frame(name).map_err(|e| e.to_string())?,
                    on: Pose::from_translation(inertia.com),
                    turned: true,
                };
                links.push((object, *inertia));
            }
        }
        Ok(Self {
            mass: links.iter().map(|(_, i)| i.mass).sum(),
            seen: Vec::with_capacity(links.len()),
            inside,
            links,
        })
    }

    /// Looks at all of it.
    pub(super) fn look(&mut self, moving: &mut Moving<'_>) -> linkwork::Result<()> {
        self.seen.clear();
        for (object, _) in &self.links {
            self.seen.push(object.seen(moving)?);
        }
        Ok(())
    }

    fn each(&self) -> impl Iterator<Item = (&Inertia, &Seen)> {
        self.links.iter().map(|(_, i)| i).zip(&self.seen)
    }

    /// The mean of something, by mass; zero without mass.
    fn mean(&self, of: impl Fn(&Seen) -> Vec3) -> Vec3 {
        let sum = self.each().fold(Vec3::ZERO, |sum, (i, seen)| sum + of(seen) * i.mass);
        if self.mass > 0.0 { sum * self.mass.recip() } else { sum }
    }

    pub(super) fn com(&self) -> Vec3 {
        self.mean(|seen| seen.pose.translation)
    }

    pub(super) fn velocity(&self) -> Vec3 {
        self.mean(|seen| seen.velocity.linear)
    }

    /// The angular momentum about its centre of mass.
    pub(super) fn angular_momentum(&self) -> Vec3 {
        let (com, velocity) = (self.com(), self.velocity());
        self.each().fold(Vec3::ZERO, |sum, (i, seen)| {
            let orbit = (seen.pose.translation - com).cross(seen.velocity.linear - velocity) * i.mass;
            sum + orbit + spin(i, seen, seen.velocity.angular)
        })
    }

    /// The potential energy in a gravity.
    pub(super) fn potential(&self, gravity: Vec3) -> f64 {
        let each = self.each().map(|(i, seen)| i.mass * gravity.dot(seen.pose.translation));
        -each.sum::<f64>()
    }

    /// Moment about a point, and force, that it takes to move all of it so, against gravity, tendons that pull at it, and what
    /// contacts and loops push.
    pub(super) fn force(
        &self,
        about: Vec3,
        m: &Mechanism,
        (drives, pushes): (&Drivetrain, &[LinkForce]),
        accelerating: &Accelerating<'_>,
    ) -> linkwork::Result<[Vec3; 2]> {
        let (mut sum, gravity) = ([Vec3::ZERO; 2], m.gravity());
        let inside = |frame: FrameId| m.link_of(frame).is_ok_and(|link| self.inside[link.index()]);
        for (piece, pull) in drives.pulled() {
            for (frame, end, sign) in [(piece.from, piece.ends[0], 1.0), (piece.to, piece.ends[1], -1.0)] {
                if inside(frame) {
                    let force = piece.along * (sign * pull);
                    sum[0] += (end - about).cross(force);
                    sum[1] += force;
                }
            }
        }
        for push in pushes.iter().filter(|push| inside(push.frame)) {
            sum[0] -= push.moment + (push.point - about).cross(push.force);
            sum[1] -= push.force;
        }
        for ((object, i), seen) in self.links.iter().zip(&self.seen) {
            let (a, omega) = (object.acceleration(seen, accelerating)?, seen.velocity.angular);
            let force = (a.linear - gravity) * i.mass;
            sum[0] += spin(i, seen, a.angular) + omega.cross(spin(i, seen, omega));
            sum[0] += (seen.pose.translation - about).cross(force);
            sum[1] += force;
        }
        Ok(sum)
    }
}

/// A body's inertia about its centre of mass times a vector of the world.
fn spin(inertia: &Inertia, seen: &Seen, w: Vec3) -> Vec3 {
    let [xx, xy, xz, yy, yz, zz] = inertia.moments;
    let w = seen.pose.rotation.inverse_mul(w);
    let turned = Vec3::new(
        xx * w.x + xy * w.y + xz * w.z,
        xy * w.x + yy * w.y + yz * w.z,
        xz * w.x + yz * w.y + zz * w.z,
    );
    seen.pose.rotation * turned
}
