//! The immutable mechanism.

use super::actuation::Actuation;
use super::check::did_you_mean;
use super::compiled::{Compiled, Placed};
use super::passive::Passive;
use super::{Builder, Frame, Joint, Link, WORLD};
use crate::coupled::model::Lead;
use crate::spatial::Vec3;
use crate::{Error, Result};
use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which mechanism an id belongs to: clones share it, and every other mechanism has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Origin(u32);

impl Origin {
    /// That of the world's frame, which all mechanisms stand in.
    const ANY: Self = Self(0);

    /// One that no mechanism has had.
    pub(super) fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        loop {
            let next = Self(LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1));
            if next != Self::ANY {
                return next;
            }
        }
    }
}

/// A link of a mechanism, and of no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkId {
    index: u32,
    origin: Origin,
}

/// A joint of a mechanism, and of no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JointId {
    index: u32,
    origin: Origin,
}

/// A frame of a mechanism: the world's, a link's own, or a named one. Another mechanism, also one edited from it, refuses it,
/// as it does links and joints: find the frame there by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId {
    index: u32,
    origin: Origin,
}

impl LinkId {
    /// Its place in [`Mechanism::links`].
    pub fn index(self) -> usize {
        self.index as usize
    }
}

impl JointId {
    /// Its place in [`Mechanism::joints`].
    pub fn index(self) -> usize {
        self.index as usize
    }
}

impl FrameId {
    /// The world's frame, the same in all mechanisms.
    pub const WORLD: Self = Self {
        index: 0,
        origin: Origin::ANY,
    };

    /// Its place among the world's, the links' and the named frames.
    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self.index as usize
    }
}

impl From<LinkId> for FrameId {
    fn from(LinkId { index, origin }: LinkId) -> Self {
        let index = index + 1;
        Self { index, origin }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) joints: HashMap<String, usize>,
    /// World, links and frames, as indices into `placed`.
    pub(crate) frames: HashMap<String, usize>,
}

/// An articulated mechanism: checked, compiled and never changed. Clones share it, so that a clone costs no more than
/// counting it: workspaces, batches, simulators and controllers each keep one.
///
/// ```
/// use linkwork::{Mechanism, Workspace, model::examples};
/// struct Controller {
///     model: Mechanism,
///     workspace: Workspace,
/// }
/// let model = examples::arm7();
/// let mut controller = Controller { workspace: model.workspace(), model };
/// let holding = std::thread::spawn(move || {
///     let q = controller.model.neutral();
///     let mut tau = [0.0; 7];
///     controller.workspace.at(&q)?.gravity_torque(&mut tau)?;
///     Ok::<_, linkwork::Error>(tau)
/// });
/// assert_eq!(holding.join().unwrap()?.len(), 7);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "MultibodyPlant")]
#[doc(alias = "mjModel")]
#[doc(alias = "robot model")]
pub struct Mechanism(Arc<Parts>);

/// What clones of a mechanism share.
#[doc(hidden)]
#[derive(Debug)]
pub struct Parts {
    pub(super) origin: Origin,
    pub(crate) given: Builder,
    pub(crate) names: Names,
    pub(crate) q_start: Vec<usize>,
    pub(crate) v_start: Vec<usize>,
    /// Where quaternions start in q, and whose they are.
    pub(crate) quaternions: Vec<(usize, usize)>,
    /// Per joint, whom it follows.
    pub(crate) leads: Vec<Option<Lead>>,
    pub(crate) compiled: Compiled,
    pub(crate) passive: Passive,
    pub(crate) actuation: Actuation,
    /// World, links and frames in the compiled mechanism.
    pub(crate) placed: Vec<Placed>,
}

impl Deref for Mechanism {
    type Target = Parts;

    #[inline(always)]
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Mechanism {
    pub(super) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Starts a new mechanism.
    pub fn builder(name: impl Into<String>) -> Builder {
        Builder::new(name)
    }

    /// Whether the other is a clone of this one.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.given.name
    }

    /// The number of position coordinates; joints that follow others have none.
    #[inline]
    pub fn nq(&self) -> usize {
        self.compiled.reduction.as_ref().map_or(self.compiled.nq, |r| r.nq)
    }

    /// The number of degrees of freedom; joints that follow others have none.
    #[inline]
    pub fn nv(&self) -> usize {
        self.compiled.reduction.as_ref().map_or(self.compiled.nv, |r| r.nv)
    }

    /// The acceleration of free fall in the world's axes.
    pub fn gravity(&self) -> Vec3 {
        self.given.gravity
    }

    /// The links as given.
    pub fn links(&self) -> &[Link] {
        &self.given.links
    }

    /// The joints as given, in the order of coordinates.
    pub fn joints(&self) -> &[Joint] {
        &self.given.joints
    }

    /// The named frames as given.
    pub fn frames(&self) -> &[Frame] {
        &self.given.frames
    }

    /// Where a joint's coordinates are in q; nowhere for one that follows another.
    pub fn q_range(&self, joint: JointId) -> Result<Range<usize>> {
        Ok(self.q_of(self.own_joint(joint)?))
    }

    /// Where a joint's coordinates are in v, and its torques in τ; nowhere for one that follows another.
    pub fn v_range(&self, joint: JointId) -> Result<Range<usize>> {
        Ok(self.v_of(self.own_joint(joint)?))
    }

    /// [`Mechanism::q_range`] of the joint with this number.
    pub(crate) fn q_of(&self, joint: usize) -> Range<usize> {
        let start = self.q_start[joint];
        match self.leads[joint] {
            Some(_) => start..start,
            None => start..start + self.given.joints[joint].kind.nq(),
        }
    }

    /// [`Mechanism::v_range`] of the joint with this number.
    pub(crate) fn v_of(&self, joint: usize) -> Range<usize> {
        let start = self.v_start[joint];
        match self.leads[joint] {
            Some(_) => start..start,
            None => start..start + self.given.joints[joint].kind.nv(),
        }
    }

    /// The joints with where their coordinates are in q and in v; nowhere for one that follows another.
    ///
    /// ```
    /// let robot = linkwork::model::examples::quadruped();
    /// for (joint, q, v) in robot.layout() {
    ///     println!("{:<16} q[{q:?}]  v[{v:?}]", joint.name);
    /// }
    /// ```
    pub fn layout(&self) -> impl ExactSizeIterator<Item = (&Joint, Range<usize>, Range<usize>)> {
        let joints = self.given.joints.iter().enumerate();
        joints.map(|(j, joint)| (joint, self.q_of(j), self.v_of(j)))
    }

    /// Those of them that have coordinates of their own.
    pub(crate) fn independent(&self) -> impl Iterator<Item = (&Joint, Range<usize>, Range<usize>)> {
        let all = self.layout().zip(&self.leads);
        all.filter(|(_, lead)| lead.is_none()).map(|(joint, _)| joint)
    }

    /// The frame here that has the place of another mechanism's, which has the same links and frames.
    pub(crate) fn frame_like(&self, FrameId { index, origin }: FrameId) -> FrameId {
        let origin = if index == 0 { origin } else { self.origin };
        FrameId { index, origin }
    }

    /// The joint here that has the place of another mechanism's, which has the same joints.
    pub(crate) fn joint_like(&self, JointId { index, .. }: JointId) -> JointId {
        let origin = self.origin;
        JointId { index, origin }
    }

    /// The joints, in the order of [`Mechanism::joints`].
    pub fn joint_ids(&self) -> impl DoubleEndedIterator<Item = JointId> + ExactSizeIterator + use<> {
        let origin = self.origin;
        (0..self.given.joints.len() as u32).map(move |index| JointId { index, origin })
    }

    /// The links, in the order of [`Mechanism::links`].
    pub fn link_ids(&self) -> impl DoubleEndedIterator<Item = LinkId> + ExactSizeIterator + use<> {
        let origin = self.origin;
        (0..self.given.links.len() as u32).map(move |index| LinkId { index, origin })
    }

    /// The joint with this number.
    pub(crate) fn joint_at(&self, index: usize) -> JointId {
        let (index, origin) = (index as u32, self.origin);
        JointId { index, origin }
    }

    /// The frame with this number among the world's, the links' and the named ones.
    pub(crate) fn frame_at(&self, index: usize) -> FrameId {
        let origin = if index == 0 { Origin::ANY } else { self.origin };
        let index = index as u32;
        FrameId { index, origin }
    }

    pub(crate) fn link_at(&self, index: usize) -> LinkId {
        let (index, origin) = (index as u32, self.origin);
        LinkId { index, origin }
    }

    /// The number of a joint; an error if it is another mechanism's.
    pub(crate) fn own_joint(&self, joint: JointId) -> Result<usize> {
        self.own("joint", joint.origin)?;
        Ok(joint.index())
    }

    /// The frame itself; an error if it is another mechanism's.
    #[inline(always)]
    pub(crate) fn own_frame(&self, frame: impl Into<FrameId>) -> Result<FrameId> {
        let frame = frame.into();
        if frame.origin != Origin::ANY {
            self.own("frame", frame.origin)?;
        }
        Ok(frame)
    }

    #[inline(always)]
    fn own(&self, what: &'static str, origin: Origin) -> Result<()> {
        if origin == self.origin {
            Ok(())
        } else {
            Err(self.foreign(what))
        }
    }

    /// The link that a frame belongs to; an error for the world's.
    pub fn link_of(&self, frame: impl Into<FrameId>) -> Result<LinkId> {
        let links = self.given.links.len();
        match self.own_frame(frame)?.index() {
            0 => Err(self.unknown("link", WORLD)),
            i if i <= links => Ok(self.link_at(i - 1)),
            i => self.link(&self.given.frames[i - 1 - links].link),
        }
    }

    /// An error unless what was made for another mechanism was made for this one.
    #[inline]
    pub(crate) fn check_same(&self, other: &Self, what: &'static str) -> Result<()> {
        self.own(what, other.origin)
    }

    /// What belongs to another mechanism is refused.
    #[cold]
    #[inline(never)]
    pub(crate) fn foreign(&self, what: &'static str) -> Error {
        Error::Foreign {
            what,
            mechanism: self.given.name.clone(),
        }
    }

    /// Finds a link.
    pub fn link(&self, name: &str) -> Result<LinkId> {
        match self.names.frames.get(name) {
            Some(&i) if (1..=self.given.links.len()).contains(&i) => Ok(self.link_at(i - 1)),
            _ => Err(self.unknown("link", name)),
        }
    }

    /// Finds a joint.
    pub fn joint(&self, name: &str) -> Result<JointId> {
        let found = self.names.joints.get(name).copied();
        found
            .map(|j| self.joint_at(j))
            .ok_or_else(|| self.unknown("joint", name))
    }

    /// Finds a frame: a named one, a link's own, or the world's.
    pub fn frame(&self, name: &str) -> Result<FrameId> {
        let found = self.names.frames.get(name).copied();
        found
            .map(|i| self.frame_at(i))
            .ok_or_else(|| self.unknown("frame", name))
    }

    fn unknown(&self, what: &'static str, name: &str) -> Error {
        let links = self.links().iter().map(|l| l.name.as_str());
        let frames = self.frames().iter().map(|f| f.name.as_str());
        let hint = match what {
            "link" if self.names.frames.contains_key(name) => "; that is a frame".to_owned(),
            "link" => did_you_mean(name, links),
            "joint" => did_you_mean(name, self.joints().iter().map(|j| j.name.as_str())),
            _ => did_you_mean(name, frames.chain(links).chain([WORLD])),
        };
        Error::Unknown {
            what,
            name: name.to_owned(),
            mechanism: self.given.name.clone(),
            hint,
        }
    }

    /// A name that is close to one that was not found, as a sentence.
    pub(crate) fn suggest<'a>(&self, name: &str, names: impl Iterator<Item = &'a str>) -> String {
        did_you_mean(name, names)
    }

    /// The joint that a degree of freedom belongs to, and its place in it.
    pub(crate) fn joint_of_dof(&self, dof: usize) -> (JointId, usize) {
        let j = self.v_start.partition_point(|&start| start <= dof) - 1;
        (self.joint_at(j), dof - self.v_start[j])
    }

    /// The same for a degree of freedom among those of all joints, followers included.
    pub(crate) fn joint_of_any_dof(&self, dof: usize) -> (JointId, usize) {
        let Some(reduction) = &self.compiled.reduction else {
            return self.joint_of_dof(dof);
        };
        let j = reduction.v_start.partition_point(|&start| start <= dof) - 1;
        (self.joint_at(j), dof - reduction.v_start[j])
    }

    /// The joint that a position coordinate belongs to.
    pub(crate) fn joint_of_coordinate(&self, index: usize) -> JointId {
        self.joint_at(self.q_start.partition_point(|&start| start <= index) - 1)
    }
}
