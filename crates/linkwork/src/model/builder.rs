//! The one checked way to a mechanism.

use super::actuation::{Actuation, Motor};
use super::check::{Tree, check, unresisted};
use super::compile::{Resolved, compile};
use super::compiled::Placed;
use super::configuration::LARGEST_COORDINATE;
use super::mechanism::{Names, Origin, Parts};
use super::passive::Passive;
use super::{Coupling, Frame, Joint, Link, Mechanism, WORLD};
use crate::coupled::model::Reduction;
use crate::spatial::{Pose, Vec3};
use crate::{Error, Result};

/// Which rotational inertias are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trust {
    /// Those that a body can have.
    Bodies,
    /// Positive ones.
    Positive,
    /// All finite ones.
    Any,
}

/// Collects links, joints and frames, in any order, and checks and compiles them once.
///
/// ```
/// use linkwork::model::{Joint, Link, Mechanism};
/// use linkwork::spatial::Inertia;
/// let pendulum = Mechanism::builder("pendulum")
///     .link(Link::new("bob", Inertia::point(1.0, [0.0, 0.0, -1.0])))
///     .joint(Joint::revolute("pivot", [0.0, 1.0, 0.0]).between("world", "bob"))
///     .build()?;
/// assert_eq!((pendulum.nq(), pendulum.nv()), (1, 1));
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    pub(crate) name: String,
    pub(crate) gravity: Vec3,
    pub(crate) links: Vec<Link>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) couplings: Vec<Coupling>,
    /// None where nothing was said of them.
    pub(crate) motors: Option<Vec<Motor>>,
    pub(crate) trust: Trust,
    /// What is wrong with the table that it was made from.
    pub(crate) fault: Option<Error>,
}

impl Builder {
    /// Nothing yet, in a gravity of 9.81 m/s² along −z.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            gravity: Vec3::new(0.0, 0.0, -9.81),
            links: Vec::new(),
            joints: Vec::new(),
            frames: Vec::new(),
            couplings: Vec::new(),
            motors: None,
            trust: Trust::Bodies,
            fault: None,
        }
    }

    /// The acceleration of free fall in the world's axes.
    pub fn gravity(mut self, gravity: impl Into<Vec3>) -> Self {
        self.gravity = gravity.into();
        self
    }

    /// Adds a link.
    pub fn link(mut self, link: Link) -> Self {
        self.links.push(link);
        self
    }

    /// Adds a joint. The order of joints is the order of coordinates.
    pub fn joint(mut self, joint: Joint) -> Self {
        self.joints.push(joint);
        self
    }

    /// Adds a named frame.
    pub fn frame(mut self, name: impl Into<String>, link: impl Into<String>, pose: Pose) -> Self {
        self.frames.push(Frame::new(name, link, pose));
        self
    }

    /// Lets a joint follow another. Both must have one coordinate; the follower's is not among the mechanism's.
    ///
    /// ```
    /// use linkwork::model::{Coupling, Joint, Link, Mechanism};
    /// use linkwork::spatial::Inertia;
    /// let finger = |name: &str| Link::new(name, Inertia::point(0.1, [0.0, 0.0, 0.05]));
    /// let gripper = Mechanism::builder("gripper")
    ///     .link(finger("left")).link(finger("right"))
    ///     .joint(Joint::prismatic("open", [0.0, 1.0, 0.0]).between("world", "left"))
    ///     .joint(Joint::prismatic("mirror", [0.0, 1.0, 0.0]).between("world", "right"))
    ///     .couple(Coupling::gear("mirror", "open", -1.0, 0.0))
    ///     .build()?;
    /// assert_eq!(gripper.nv(), 1);
    /// assert_eq!(gripper.mass_matrix(&[0.02])?, [0.2]);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn couple(mut self, coupling: Coupling) -> Self {
        self.couplings.push(coupling);
        self
    }

    /// Adds a motor. Once one is named, joints without any are passive; until then every joint has one for each degree of
    /// freedom, but free and planar ones and those that follow others.
    pub fn motor(mut self, motor: Motor) -> Self {
        self.motors.get_or_insert_default().push(motor);
        self
    }

    /// No motors but those that are added after this.
    pub fn without_motors(mut self) -> Self {
        self.motors = Some(Vec::new());
        self
    }

    /// Accepts rotational inertias that no body has, as long as they are positive.
    ///
    /// Identification from measured torques often gives principal moments of which one exceeds the sum of the others:
    /// only some combinations of parameters show in the torques, and those are right. Published models are full of
    /// them.
    pub fn any_positive_inertia(mut self) -> Self {
        self.trust = self.trust.max(Trust::Positive);
        self
    }

    /// Accepts every finite rotational inertia, negative ones too, as files hold them.
    ///
    /// The mass matrix may then fail to be positive at some configurations; forward dynamics says so there.
    pub fn any_inertia(mut self) -> Self {
        self.trust = Trust::Any;
        self
    }

    /// The joints that nothing gives inertia to, each by its place among the joints and that of a degree of freedom in
    /// it; or what else is wrong. [`Builder::build`] refuses such joints; an armature helps.
    pub fn unresisted(&self) -> Result<Vec<(usize, usize)>> {
        unresisted(&mut self.clone())
    }

    /// Checks everything and compiles the mechanism.
    ///
    /// Refused are: NaN, infinity and negative masses; rotational inertia that no body has; axes of no length and
    /// parallel universal axes; poses that are no rigid displacement (rotations within 10⁻⁶ are made exact); names that
    /// are missing, taken or unknown; links held by no joint, by two, or by each other in a ring; lists of the wrong
    /// length (a list is empty, or holds one number for all degrees of freedom, or one each; `rest` holds nq); limits
    /// in the wrong order; and joints that nothing gives inertia to. Links and frames share their names with `"world"`;
    /// joints have their own.
    pub fn build(mut self) -> Result<Mechanism> {
        let Tree {
            inboard,
            parent,
            frames,
            leads,
            ..
        } = check(&mut self)?;
        let (mut q_start, mut v_start, mut armature) = (Vec::new(), Vec::new(), Vec::new());
        let (mut nq, mut nv) = (0, 0);
        let mut quaternions = Vec::new();
        let mut passive = Passive::default();
        for (j, joint) in self.joints.iter().enumerate() {
            q_start.push(nq);
            v_start.push(nv);
            if joint.kind.has_quaternion() {
                quaternions.push((nq, j));
            }
            nq += joint.kind.nq();
            nv += joint.kind.nv();
            armature.extend(per_dof(&joint.armature, joint.kind.nv(), 0.0));
            passive.damping.extend(per_dof(&joint.damping, joint.kind.nv(), 0.0));
            passive.friction.extend(per_dof(&joint.friction, joint.kind.nv(), 0.0));
            passive
                .stiffness
                .extend(per_dof(&joint.stiffness, joint.kind.nv(), 0.0));
            if joint.rest.is_empty() {
                passive.rest.extend(joint.kind.neutral());
            } else {
                passive.rest.extend(&joint.rest);
            }
        }
        let mut compiled = compile(Resolved {
            links: &self.links,
            joints: &self.joints,
            inboard: &inboard,
            parent: &parent,
            q_start: &q_start,
            v_start: &v_start,
            armature,
            gravity: self.gravity,
        });
        if !self.couplings.is_empty() {
            let reduction = Reduction::new(&leads, &self.joints, [&q_start, &v_start], &compiled);
            passive = reduction.passive(&passive);
            for (start, _) in &mut quaternions {
                *start = reduction.q_from[*start];
            }
            [q_start, v_start] = reduction.starts(&leads, &self.joints);
            check_rest(&passive.rest, &q_start, &self.joints)?;
            compiled.reduction = Some(reduction);
        }
        let independent = compiled.reduction.as_ref().map_or(nv, |r| r.nv);
        let actuation = Actuation::new(self.motors.as_deref(), &self.joints, &leads, &v_start, independent)?;
        let world = Placed {
            body: None,
            pose: Pose::IDENTITY,
        };
        let mut placed = vec![world];
        placed.extend(&compiled.link_frames);
        for (frame, link) in self.frames.iter().zip(frames) {
            let on = link.map_or(world, |l| placed[l + 1]);
            placed.push(Placed {
                body: on.body,
                pose: on.pose * frame.pose,
            });
        }
        let named = [WORLD].into_iter();
        let named = named.chain(self.links.iter().map(|l| l.name.as_str()));
        let named = named.chain(self.frames.iter().map(|f| f.name.as_str()));
        let names = Names {
            joints: self
                .joints
                .iter()
                .enumerate()
                .map(|(i, j)| (j.name.clone(), i))
                .collect(),
            frames: named.enumerate().map(|(i, name)| (name.to_owned(), i)).collect(),
        };
        Ok(Mechanism::new(Parts {
            origin: Origin::new(),
            given: self,
            names,
            q_start,
            v_start,
            quaternions,
            leads,
            compiled,
            passive,
            actuation,
            placed,
        }))
    }
}

/// An error where springs of leaders and followers balance at no configuration.
fn check_rest(rest: &[f64], q_start: &[usize], joints: &[Joint]) -> Result<()> {
    let Some(i) = rest.iter().position(|x| x.is_nan() || x.abs() > LARGEST_COORDINATE) else {
        return Ok(());
    };
    let leader = &joints[q_start.partition_point(|&start| start <= i) - 1];
    Err(Error::Joint {
        joint: leader.name.clone(),
        problem: format!(
            "its spring and those of the joints that follow it rest at {}; every number must be finite, and at most \
             {LARGEST_COORDINATE:e} in size: repair their rest positions, or the ratios of their couplings",
            rest[i]
        ),
    })
}

/// One number per degree of freedom from none, one for all, or one each.
pub(crate) fn per_dof<T: Copy>(given: &[T], n: usize, none: T) -> Vec<T> {
    match given {
        [] => vec![none; n],
        [one] => vec![*one; n],
        each => each.to_vec(),
    }
}
