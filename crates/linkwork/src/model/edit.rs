//! New mechanisms from old ones.
//!
//! A mechanism never changes: every edit gives a new one, checked and compiled again. Names, frames, limits and passive
//! parameters stay as they were wherever what they belong to stays.

use super::check::wrong_length;
use super::configuration::QUATERNION_TOLERANCE;
use super::{Builder, Coupling, Frame, Joint, JointKind, Link, Mechanism, Motor, WORLD};
use crate::spatial::{Inertia, Pose, Vec3};
use crate::{Error, Result};

/// How the root of an extracted mechanism stands on the world.
///
/// ```
/// use linkwork::model::{Base, examples};
/// let robot = examples::humanoid();
/// let names: Vec<_> = robot.links().iter().map(|link| link.name.clone()).collect();
/// let limb = robot.extract(names.last().expect("it has links"), Base::Fixed)?;
/// assert!(limb.nv() < robot.nv());
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Welded: the root link's frame is the world's.
    Fixed,
    /// Free to move.
    Free,
    /// On the joint that held it, with the joint's frame at the world's.
    Kept,
}

/// # Editing
///
/// ```
/// use linkwork::model::examples;
/// use linkwork::spatial::Inertia;
/// let arm = examples::arm7();
/// let stiff = arm.lock(&[("joint3", &[0.5])])?;
/// assert_eq!(stiff.nv(), 6);
/// let loaded = stiff.add_payload("flange", "tool", Inertia::sphere(0.5, 0.05))?;
/// assert!(loaded.link("tool").is_ok());
/// # Ok::<(), linkwork::Error>(())
/// ```
impl Mechanism {
    /// What it was built from, to be changed and built again.
    pub fn to_builder(&self) -> Builder {
        self.given.clone()
    }

    /// The same mechanism with every joint on its own: couplings are dropped.
    pub fn uncoupled(&self) -> Result<Self> {
        let mut given = self.to_builder();
        given.couplings.clear();
        given.build()
    }

    /// The same mechanism in another gravity.
    pub fn with_gravity(&self, gravity: impl Into<Vec3>) -> Result<Self> {
        self.to_builder().gravity(gravity).build()
    }

    /// Joints made fixed, each at a configuration of its own; their links keep names and frames.
    ///
    /// A fixed joint has no coordinates: its passive parameters and limits go.
    pub fn lock(&self, joints: &[(&str, &[f64])]) -> Result<Self> {
        let mut given = self.to_builder();
        let mut all: Vec<(String, Vec<f64>)> = Vec::new();
        for &(name, q) in joints {
            let id = self.joint(name)?;
            if let Some(leader) = self.leader_of(id.index()) {
                let problem = format!("it follows joint `{}`; lock that one", self.joints()[leader].name);
                return Err(Error::Joint {
                    joint: name.to_owned(),
                    problem,
                });
            }
            all.push((name.to_owned(), q.to_vec()));
            // What follows is locked with it.
            for (j, follower) in self.joints().iter().enumerate() {
                if let (true, &[y]) = (self.leader_of(j) == Some(id.index()), q) {
                    let [at, ..] = self.coupling_of(j, y);
                    all.push((follower.name.clone(), vec![at]));
                }
            }
        }
        given
            .couplings
            .retain(|c| !all.iter().any(|(name, _)| *name == c.follower));
        let stays = |motor: &Motor| !all.iter().any(|(name, _)| *name == motor.joint);
        given.motors.iter_mut().for_each(|motors| motors.retain(stays));
        for (name, q) in &all {
            let joint = &mut given.joints[self.joint(name)?.index()];
            let pose = pose_at(joint, q)?;
            *joint = Joint::fixed(name.clone())
                .between(joint.parent.clone(), joint.child.clone())
                .placed(joint.origin * pose);
        }
        given.build()
    }

    /// The sub-mechanism outward of a link: that link, everything it carries, and their frames.
    ///
    /// The link's own joint keeps its name and becomes what `base` says. Gravity stays as the world sees it; joints
    /// stay in order. A joint cannot stay without the one that it follows. The name is the mechanism's and the link's with a
    /// dot between.
    ///
    /// ```
    /// use linkwork::model::{Base, examples};
    /// let leg = examples::quadruped().extract("front_left_hip", Base::Kept)?;
    /// assert_eq!((leg.nv(), leg.links().len()), (3, 3));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn extract(&self, link: &str, base: Base) -> Result<Self> {
        let root = self.link(link)?.index();
        let kept = self.outward_of(root)?;
        let keeps = |name: &str| self.link(name).is_ok_and(|l| kept[l.index()]);
        let mut given = self.to_builder();
        given.name = format!("{}.{link}", self.name());
        given.links.retain(|l| keeps(&l.name));
        given.frames.retain(|f| keeps(&f.link));
        given.joints.retain(|j| keeps(&j.child));
        let mut replaced = None;
        for joint in given.joints.iter_mut().filter(|j| j.child == link) {
            let kind = match base {
                Base::Fixed => JointKind::Fixed,
                Base::Free => JointKind::Free,
                Base::Kept => joint.kind,
            };
            if kind != joint.kind {
                replaced = Some(joint.name.clone());
                *joint = Joint::new(joint.name.clone(), kind).between(WORLD, link);
            }
            joint.parent = WORLD.to_owned();
            joint.origin = Pose::IDENTITY;
        }
        let is_kept = |name: &str| self.joint(name).is_ok_and(|j| keeps(&self.joints()[j.index()].child));
        let stays = |name: &str| replaced.as_deref() != Some(name) && is_kept(name);
        given.couplings.retain(|c| stays(&c.follower));
        given
            .motors
            .iter_mut()
            .for_each(|motors| motors.retain(|m| stays(&m.joint)));
        if let Some(cut) = given.couplings.iter().find(|c| !stays(&c.leader)) {
            let problem = format!(
                "it follows joint `{}`, which does not stay as it is; lock that one first, extract a link that carries \
                 both, or take the mechanism `uncoupled`",
                cut.leader
            );
            return Err(Error::Joint {
                joint: cut.follower.clone(),
                problem,
            });
        }
        given.build()
    }

    /// Per link, whether it is a link or is carried by it.
    fn outward_of(&self, root: usize) -> Result<Vec<bool>> {
        let n = self.links().len();
        let mut parent = vec![None; n];
        for joint in self.joints().iter().filter(|j| j.parent != WORLD) {
            parent[self.link(&joint.child)?.index()] = Some(self.link(&joint.parent)?.index());
        }
        // Each link walks inward until it meets one that is settled, and settles all it met on the way.
        let mut kept = vec![None; n];
        kept[root] = Some(true);
        let mut met = Vec::new();
        for l in 0..n {
            let mut at = Some(l);
            let answer = loop {
                match at {
                    None => break false,
                    Some(l) => match kept[l] {
                        Some(answer) => break answer,
                        None => met.push(l),
                    },
                }
                at = at.and_then(|l| parent[l]);
            };
            met.drain(..).for_each(|l| kept[l] = Some(answer));
        }
        Ok(kept.into_iter().map(|k| k == Some(true)).collect())
    }

    /// Another mechanism grafted on: its world becomes one of this mechanism's frames.
    ///
    /// Every name of the other gets `prefix` in front. Its coordinates follow this mechanism's; its gravity is dropped.
    ///
    /// ```
    /// use linkwork::model::examples;
    /// let arm = examples::arm7();
    /// let cart = examples::cart_pole().attach("cart", &arm, "arm_")?;
    /// assert_eq!(cart.nv(), 9);
    /// cart.joint("arm_joint7")?;
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn attach(&self, frame: &str, other: &Mechanism, prefix: &str) -> Result<Self> {
        let (carrier, seat) = self.seat(frame)?;
        let mut given = self.to_builder();
        given.trust = given.trust.max(other.given.trust);
        // What stood on the other's world stands on the carrier, further out by the seat.
        let place = |link: &str, pose: Pose| match link {
            WORLD => (carrier.clone(), seat * pose),
            _ => (format!("{prefix}{link}"), pose),
        };
        for link in other.links() {
            given
                .links
                .push(Link::new(format!("{prefix}{}", link.name), link.inertia));
        }
        for joint in other.joints() {
            let (parent, origin) = place(&joint.parent, joint.origin);
            given.joints.push(Joint {
                name: format!("{prefix}{}", joint.name),
                parent,
                child: format!("{prefix}{}", joint.child),
                origin,
                ..joint.clone()
            });
        }
        for coupling in other.couplings() {
            given.couplings.push(Coupling {
                follower: format!("{prefix}{}", coupling.follower),
                leader: format!("{prefix}{}", coupling.leader),
                law: coupling.law.clone(),
            });
        }
        if self.motors().is_some() || other.motors().is_some() {
            let theirs = other.all_motors().into_iter().map(|motor| Motor {
                name: format!("{prefix}{}", motor.name),
                joint: format!("{prefix}{}", motor.joint),
                ..motor
            });
            given.motors = Some(self.all_motors().into_iter().chain(theirs).collect());
        }
        for frame in other.frames() {
            let (link, pose) = place(&frame.link, frame.pose);
            given
                .frames
                .push(Frame::new(format!("{prefix}{}", frame.name), link, pose));
        }
        given.build()
    }

    /// A body welded to a frame: a link of that name, held by a fixed joint of the same name.
    pub fn add_payload(&self, frame: &str, name: &str, inertia: Inertia) -> Result<Self> {
        let (carrier, seat) = self.seat(frame)?;
        let joint = Joint::fixed(name).between(carrier, name).placed(seat);
        self.to_builder().link(Link::new(name, inertia)).joint(joint).build()
    }

    /// The same mechanism with its base free: every link welded to the world gets a free joint instead.
    ///
    /// The joint keeps its name and origin, so that the neutral configuration looks as before.
    pub fn with_floating_base(&self) -> Result<Self> {
        let mut given = self.to_builder();
        let welds = given
            .joints
            .iter_mut()
            .filter(|j| j.parent == WORLD && j.kind == JointKind::Fixed);
        let mut freed = 0;
        for joint in welds {
            joint.kind = JointKind::Free;
            freed += 1;
        }
        if freed == 0 {
            return Err(Error::NoBase {
                mechanism: self.name().to_owned(),
            });
        }
        given.build()
    }

    /// The link (or the world) that a frame is on, and where.
    fn seat(&self, frame: &str) -> Result<(String, Pose)> {
        let links = self.links().len();
        let i = self.frame(frame)?.index();
        if i > links {
            let found = &self.frames()[i - links - 1];
            return Ok((found.link.clone(), found.pose));
        }
        Ok((frame.to_owned(), Pose::IDENTITY))
    }
}

/// The pose of a joint at a configuration of its own, checked.
fn pose_at(joint: &Joint, q: &[f64]) -> Result<Pose> {
    let nq = joint.kind.nq();
    if q.len() != nq {
        return Err(wrong_length(joint, "q", q.len(), nq.to_string()));
    }
    if let Some(x) = q.iter().find(|x| !x.is_finite()) {
        return Err(Error::Joint {
            joint: joint.name.clone(),
            problem: format!("it cannot be locked at {x}; every number must be finite"),
        });
    }
    let mut q = q.to_vec();
    if joint.kind.has_quaternion() {
        let norm = q[..4].iter().map(|x| x * x).sum::<f64>().sqrt();
        if (norm - 1.0).abs() > QUATERNION_TOLERANCE {
            return Err(Error::Quaternion {
                joint: joint.name.clone(),
                index: 0,
                norm,
                tolerance: QUATERNION_TOLERANCE,
            });
        }
        q[..4].iter_mut().for_each(|x| *x /= norm);
    }
    Ok(joint.kind.pose(&q))
}
