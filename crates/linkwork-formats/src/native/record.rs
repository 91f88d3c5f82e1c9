//! The parts of a native file.

use crate::robot::Loop;
use linkwork::closed::{ConstraintKind, Side};
use linkwork::model::{Frame, Joint, JointKind, Link, Motor};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use serde::{Deserialize, Serialize};

pub(super) type Numbers = [f64; 3];

fn none<T>(list: &[T]) -> bool {
    list.is_empty()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkRecord {
    name: String,
    #[serde(default)]
    mass: f64,
    #[serde(default)]
    com: Numbers,
    /// xx, xy, xz, yy, yz, zz about the centre of mass.
    #[serde(default)]
    moments: [f64; 6],
}

impl From<&Link> for LinkRecord {
    fn from(link: &Link) -> Self {
        Self {
            name: link.name.clone(),
            mass: link.inertia.mass,
            com: link.inertia.com.to_array(),
            moments: link.inertia.moments,
        }
    }
}

impl LinkRecord {
    pub(super) fn link(self) -> Link {
        Link::new(self.name, Inertia::new(self.mass, self.com, self.moments))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PoseRecord {
    #[serde(default)]
    translation: Numbers,
    /// Rows; the identity if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rotation: Option<[Numbers; 3]>,
}

impl From<Pose> for PoseRecord {
    fn from(pose: Pose) -> Self {
        Self {
            translation: pose.translation.to_array(),
            rotation: (pose.rotation != Rotation::IDENTITY).then(|| pose.rotation.to_rows()),
        }
    }
}

impl PoseRecord {
    pub(super) fn pose(self) -> Pose {
        Pose::new(
            self.rotation.map_or(Rotation::IDENTITY, Rotation::from_rows),
            self.translation,
        )
    }
}

impl Default for PoseRecord {
    fn default() -> Self {
        Pose::IDENTITY.into()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointRecord {
    name: String,
    kind: String,
    parent: String,
    child: String,
    #[serde(default)]
    origin: PoseRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    axis: Option<Numbers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    axes: Option<[Numbers; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pitch: Option<f64>,
    #[serde(default, skip_serializing_if = "none")]
    armature: Vec<f64>,
    #[serde(default, skip_serializing_if = "none")]
    damping: Vec<f64>,
    #[serde(default, skip_serializing_if = "none")]
    friction: Vec<f64>,
    #[serde(default, skip_serializing_if = "none")]
    stiffness: Vec<f64>,
    #[serde(default, skip_serializing_if = "none")]
    rest: Vec<f64>,
    #[serde(default, skip_serializing_if = "none")]
    position_limits: Vec<[Option<f64>; 2]>,
    #[serde(default, skip_serializing_if = "none")]
    velocity_limit: Vec<Option<f64>>,
    #[serde(default, skip_serializing_if = "none")]
    effort_limit: Vec<Option<f64>>,
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

impl From<&Joint> for JointRecord {
    fn from(joint: &Joint) -> Self {
        let (mut axis, mut axes, mut pitch) = (None, None, None);
        match joint.kind {
            JointKind::Revolute { axis: a }
            | JointKind::Continuous { axis: a }
            | JointKind::Prismatic { axis: a }
            | JointKind::Cylindrical { axis: a } => axis = Some(a.to_array()),
            JointKind::Helical { axis: a, pitch: p } => (axis, pitch) = (Some(a.to_array()), Some(p)),
            JointKind::Universal { axes: both } => axes = Some(both.map(|a| a.to_array())),
            JointKind::Fixed | JointKind::Planar | JointKind::Translation | JointKind::Spherical | JointKind::Free => {}
        }
        let limits = joint.position_limits.iter();
        Self {
            name: joint.name.clone(),
            kind: joint.kind.name().to_owned(),
            parent: joint.parent.clone(),
            child: joint.child.clone(),
            origin: joint.origin.into(),
            axis,
            axes,
            pitch,
            armature: joint.armature.clone(),
            damping: joint.damping.clone(),
            friction: joint.friction.clone(),
            stiffness: joint.stiffness.clone(),
            rest: joint.rest.clone(),
            position_limits: limits.map(|&(lower, upper)| [finite(lower), finite(upper)]).collect(),
            velocity_limit: joint.velocity_limit.iter().copied().map(finite).collect(),
            effort_limit: joint.effort_limit.iter().copied().map(finite).collect(),
        }
    }
}

impl JointRecord {
    pub(super) fn joint(self) -> Result<Joint, String> {
        let name = crate::source::shortened(&self.name);
        let missing = |what: &str| {
            format!(
                "joint `{name}` is {} and needs {what}",
                crate::source::shortened(&self.kind)
            )
        };
        let axis = || self.axis.map(Vec3::from).ok_or_else(|| missing("an axis"));
        let kind = match &*self.kind {
            "fixed" => JointKind::Fixed,
            "revolute" => JointKind::Revolute { axis: axis()? },
            "continuous" => JointKind::Continuous { axis: axis()? },
            "prismatic" => JointKind::Prismatic { axis: axis()? },
            "helical" => JointKind::Helical {
                axis: axis()?,
                pitch: self.pitch.ok_or_else(|| missing("a pitch"))?,
            },
            "cylindrical" => JointKind::Cylindrical { axis: axis()? },
            "universal" => JointKind::Universal {
                axes: self.axes.ok_or_else(|| missing("two axes"))?.map(Vec3::from),
            },
            "planar" => JointKind::Planar,
            "translation" => JointKind::Translation,
            "spherical" => JointKind::Spherical,
            "free" => JointKind::Free,
            _ => return Err(missing("a kind that is known")),
        };
        let without = f64::INFINITY;
        let limits = self.position_limits.iter();
        Ok(Joint {
            kind,
            origin: self.origin.pose(),
            position_limits: limits
                .map(|[l, u]| (l.unwrap_or(-without), u.unwrap_or(without)))
                .collect(),
            velocity_limit: self.velocity_limit.iter().map(|x| x.unwrap_or(without)).collect(),
            effort_limit: self.effort_limit.iter().map(|x| x.unwrap_or(without)).collect(),
            name: self.name,
            parent: self.parent,
            child: self.child,
            armature: self.armature,
            damping: self.damping,
            friction: self.friction,
            stiffness: self.stiffness,
            rest: self.rest,
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrameRecord {
    name: String,
    link: String,
    #[serde(default)]
    pose: PoseRecord,
}

impl From<&Frame> for FrameRecord {
    fn from(frame: &Frame) -> Self {
        Self {
            name: frame.name.clone(),
            link: frame.link.clone(),
            pose: frame.pose.into(),
        }
    }
}

impl FrameRecord {
    pub(super) fn frame(self) -> Frame {
        Frame::new(self.name, self.link, self.pose.pose())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    link: String,
    #[serde(default)]
    pose: PoseRecord,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoopRecord {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    axis: Option<Numbers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<f64>,
    /// Letters of the axes about which turns are held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turns: Option<String>,
    /// Letters of the axes along which shifts are held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shifts: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    radius: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    normal: Option<Numbers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    side: Option<String>,
    first: End,
    second: End,
}

/// The letters of the axes that are held.
fn letters(held: [bool; 3]) -> String {
    "xyz"
        .chars()
        .zip(held)
        .filter(|(_, held)| *held)
        .map(|(c, _)| c)
        .collect()
}

/// The axes whose letters are given; none if there are others.
fn axes(letters: &str) -> Option<[bool; 3]> {
    let known = letters.chars().all(|c| "xyz".contains(c));
    known.then(|| ['x', 'y', 'z'].map(|c| letters.contains(c)))
}

impl From<&Loop> for LoopRecord {
    fn from(l: &Loop) -> Self {
        let end = |(link, pose): &(String, Pose)| End {
            link: link.clone(),
            pose: (*pose).into(),
        };
        let mut record = Self {
            name: l.name.clone(),
            kind: l.word().to_owned(),
            axis: None,
            length: None,
            turns: None,
            shifts: None,
            radius: None,
            normal: None,
            side: match l.side {
                Side::Both => None,
                Side::AtLeast => Some("at_least".to_owned()),
                Side::AtMost => Some("at_most".to_owned()),
            },
            first: end(&l.first),
            second: end(&l.second),
        };
        match l.kind {
            ConstraintKind::Hinge { axis } | ConstraintKind::Slider { axis } => record.axis = Some(axis.to_array()),
            ConstraintKind::Distance { length } => record.length = Some(length),
            ConstraintKind::Directions { turns, shifts } | ConstraintKind::Rates { turns, shifts } => {
                record.turns = Some(letters(turns));
                record.shifts = Some(letters(shifts));
            }
            ConstraintKind::Rolling { radius, axis, normal } => {
                record.radius = Some(radius);
                record.axis = axis.map(Vec3::to_array);
                record.normal = Some(normal.to_array());
            }
            // Welds and points have no numbers.
            _ => {}
        }
        record
    }
}

impl LoopRecord {
    pub(super) fn closed(self) -> Result<Loop, String> {
        let missing = |what: &str| format!("a loop of kind `{}` needs {what}", crate::source::shortened(&self.kind));
        let axis = || self.axis.map(Vec3::from).ok_or_else(|| missing("an axis"));
        let kind = match &*self.kind {
            "weld" => ConstraintKind::Weld,
            "point" => ConstraintKind::Point,
            "hinge" => ConstraintKind::Hinge { axis: axis()? },
            "slider" => ConstraintKind::Slider { axis: axis()? },
            "distance" => ConstraintKind::Distance {
                length: self.length.ok_or_else(|| missing("a length"))?,
            },
            "directions" | "rates" => {
                let held = |given: &Option<String>| axes(given.as_deref().unwrap_or(""));
                let both = held(&self.turns).zip(held(&self.shifts));
                let (turns, shifts) = both.ok_or_else(|| missing("turns and shifts of the letters x, y and z"))?;
                match &*self.kind {
                    "rates" => ConstraintKind::Rates { turns, shifts },
                    _ => ConstraintKind::Directions { turns, shifts },
                }
            }
            "rolling" => ConstraintKind::Rolling {
                radius: self.radius.ok_or_else(|| missing("a radius"))?,
                axis: self.axis.map(Vec3::from),
                normal: self.normal.map(Vec3::from).ok_or_else(|| missing("a normal"))?,
            },
            _ => {
                let kinds = "a kind that is known: weld, point, hinge, slider, distance, directions, rates or rolling";
                return Err(missing(kinds));
            }
        };
        let side = match self.side.as_deref() {
            None => Side::Both,
            Some("at_least") => Side::AtLeast,
            Some("at_most") => Side::AtMost,
            Some(_) => return Err(missing("a side of at_least or at_most, or none")),
        };
        Ok(Loop {
            kind,
            side,
            name: self.name,
            first: (self.first.link, self.first.pose.pose()),
            second: (self.second.link, self.second.pose.pose()),
        })
    }
}

/// The part of a link's weight that is carried.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FloatRecord {
    pub(super) link: String,
    pub(super) share: f64,
}

impl From<(&String, &f64)> for FloatRecord {
    fn from((link, share): (&String, &f64)) -> Self {
        Self {
            link: link.clone(),
            share: *share,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MotorRecord {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    joint: String,
    #[serde(default, skip_serializing_if = "is_first")]
    dof: usize,
    #[serde(default = "directly")]
    gear: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effort_limit: Option<f64>,
}

fn is_first(dof: &usize) -> bool {
    *dof == 0
}

fn directly() -> f64 {
    1.0
}

impl From<&Motor> for MotorRecord {
    fn from(motor: &Motor) -> Self {
        Self {
            name: motor.name.clone(),
            joint: motor.joint.clone(),
            dof: motor.dof,
            gear: motor.gear,
            effort_limit: finite(motor.effort_limit),
        }
    }
}

impl MotorRecord {
    pub(super) fn motor(self) -> Motor {
        Motor {
            name: self.name,
            joint: self.joint,
            dof: self.dof,
            gear: self.gear,
            effort_limit: self.effort_limit.unwrap_or(f64::INFINITY),
        }
    }
}
