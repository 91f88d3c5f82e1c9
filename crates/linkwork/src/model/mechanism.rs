//! The immutable mechanism.

use super::check::did_you_mean;
use super::compiled::{Compiled, Placed};
use super::coupling::Lead;
use super::passive::Passive;
use super::{Builder, Frame, Joint, Link, WORLD};
use crate::spatial::Vec3;
use crate::{Error, Result};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

/// A link of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkId(pub(crate) usize);

/// A joint of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JointId(pub(crate) usize);

/// A frame of a mechanism: the world's, a link's own, or a named one. In another mechanism, also one edited from it, a frame
/// may have another id: find it anew by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub(crate) usize);

impl LinkId {
    /// Its place in [`Mechanism::links`].
    pub fn index(self) -> usize {
        self.0
    }
}

impl JointId {
    /// Its place in [`Mechanism::joints`].
    pub fn index(self) -> usize {
        self.0
    }
}

impl FrameId {
    /// The world's frame.
    pub const WORLD: Self = Self(0);
}

impl From<LinkId> for FrameId {
    fn from(link: LinkId) -> Self {
        Self(link.0 + 1)
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
///     controller.workspace.at(&q)?.gravity_torques(&mut tau)?;
///     Ok::<_, linkwork::Error>(tau)
/// });
/// assert!(holding.join().unwrap()?[1].abs() < 1e-12); // the arm stands upright
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mechanism(Arc<Parts>);

/// What clones of a mechanism share.
#[doc(hidden)]
#[derive(Debug)]
pub struct Parts {
    pub(crate) given: Builder,
    pub(crate) names: Names,
    pub(crate) q_start: Vec<usize>,
    pub(crate) v_start: Vec<usize>,
    /// Where quaternions start in q, and whose they are.
    pub(crate) quaternions: Vec<(usize, JointId)>,
    /// Per joint, whom it follows.
    pub(crate) leads: Vec<Option<Lead>>,
    pub(crate) compiled: Compiled,
    pub(crate) passive: Passive,
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
    pub fn q_range(&self, joint: JointId) -> core::ops::Range<usize> {
        let start = self.q_start[joint.0];
        match self.leads[joint.0] {
            Some(_) => start..start,
            None => start..start + self.given.joints[joint.0].kind.nq(),
        }
    }

    /// Where a joint's coordinates are in v, and its torques in τ; nowhere for one that follows another.
    pub fn v_range(&self, joint: JointId) -> core::ops::Range<usize> {
        let start = self.v_start[joint.0];
        match self.leads[joint.0] {
            Some(_) => start..start,
            None => start..start + self.given.joints[joint.0].kind.nv(),
        }
    }

    /// The joints that have coordinates of their own, with where these are in q and in v.
    pub(crate) fn independent(
        &self,
    ) -> impl Iterator<Item = (&Joint, core::ops::Range<usize>, core::ops::Range<usize>)> {
        let ids = (0..self.given.joints.len()).map(JointId);
        ids.filter(|j| self.leads[j.0].is_none())
            .map(|j| (&self.given.joints[j.0], self.q_range(j), self.v_range(j)))
    }

    /// Finds a link.
    pub fn link(&self, name: &str) -> Result<LinkId> {
        match self.names.frames.get(name) {
            Some(&i) if (1..=self.given.links.len()).contains(&i) => Ok(LinkId(i - 1)),
            _ => Err(self.unknown("link", name)),
        }
    }

    /// Finds a joint.
    pub fn joint(&self, name: &str) -> Result<JointId> {
        let found = self.names.joints.get(name).copied();
        found.map(JointId).ok_or_else(|| self.unknown("joint", name))
    }

    /// Finds a frame: a named one, a link's own, or the world's.
    pub fn frame(&self, name: &str) -> Result<FrameId> {
        let found = self.names.frames.get(name).copied();
        found.map(FrameId).ok_or_else(|| self.unknown("frame", name))
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
        (JointId(j), dof - self.v_start[j])
    }

    /// The same for a degree of freedom among those of all joints, followers included.
    pub(crate) fn joint_of_any_dof(&self, dof: usize) -> (JointId, usize) {
        let Some(reduction) = &self.compiled.reduction else {
            return self.joint_of_dof(dof);
        };
        let j = reduction.v_start.partition_point(|&start| start <= dof) - 1;
        (JointId(j), dof - reduction.v_start[j])
    }

    /// The joint that a position coordinate belongs to.
    pub(crate) fn joint_of_coordinate(&self, index: usize) -> JointId {
        JointId(self.q_start.partition_point(|&start| start <= index) - 1)
    }
}
