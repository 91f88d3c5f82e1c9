//! Joints as users describe them.

use crate::spatial::{Pose, Vec3};

/// How a joint lets its link move, in the joint's frame. Axes need not be unit vectors; zero is refused.
///
/// ```
/// use linkwork::model::{Joint, JointKind};
/// let free = Joint::free("base").kind;
/// assert_eq!((free.nq(), free.nv()), (7, 6)); // a quaternion x y z w, then a place
/// assert!(matches!(Joint::revolute("elbow", [0.0, 0.0, 1.0]).kind, JointKind::Revolute { .. }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// Not at all: the link becomes part of its parent and keeps its frame and name.
    Fixed,
    /// Turns about an axis. q: angle.
    Revolute {
        /// The axis.
        axis: Vec3,
    },
    /// Turns about an axis without end: one coordinate, as a revolute joint without position limits.
    Continuous {
        /// The axis.
        axis: Vec3,
    },
    /// Slides along an axis. q: distance.
    Prismatic {
        /// The axis.
        axis: Vec3,
    },
    /// Turns about an axis and advances with it. q: angle.
    Helical {
        /// The axis.
        axis: Vec3,
        /// Advance in metres per radian.
        pitch: f64,
    },
    /// Turns about and slides along an axis. q: angle, distance.
    Cylindrical {
        /// The axis.
        axis: Vec3,
    },
    /// Turns about a first axis, then about a second that the first carries. q: two angles.
    Universal {
        /// The two axes, both in the joint's frame at q = 0.
        axes: [Vec3; 2],
    },
    /// Turns and slides in its x–y plane. q: angle, x, y; v: rate and velocity in the link's own axes.
    Planar,
    /// Slides along x, y and z. q: x, y, z.
    Translation,
    /// Turns about a point. q: unit quaternion x, y, z, w; v: angular velocity in the link's own axes.
    Spherical,
    /// Unconnected. q: unit quaternion, position; v: [ω; v] in the link's own axes.
    Free,
}

impl JointKind {
    /// The number of position coordinates.
    pub fn nq(&self) -> usize {
        match self {
            Self::Spherical => 4,
            Self::Free => 7,
            _ => self.nv(),
        }
    }

    /// The number of degrees of freedom.
    pub fn nv(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute { .. } | Self::Continuous { .. } | Self::Prismatic { .. } | Self::Helical { .. } => 1,
            Self::Cylindrical { .. } | Self::Universal { .. } => 2,
            Self::Planar | Self::Translation | Self::Spherical => 3,
            Self::Free => 6,
        }
    }

    /// Its name, as in files and messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Revolute { .. } => "revolute",
            Self::Continuous { .. } => "continuous",
            Self::Prismatic { .. } => "prismatic",
            Self::Helical { .. } => "helical",
            Self::Cylindrical { .. } => "cylindrical",
            Self::Universal { .. } => "universal",
            Self::Planar => "planar",
            Self::Translation => "translation",
            Self::Spherical => "spherical",
            Self::Free => "free",
        }
    }

    /// The coordinates of [ω; v] that each degree of freedom moves, for the kinds whose degrees of freedom are
    /// coordinates of the compiled frame.
    pub(crate) fn axes(&self) -> &'static [usize] {
        match self {
            Self::Fixed => &[],
            Self::Revolute { .. } | Self::Continuous { .. } | Self::Helical { .. } => &[2],
            Self::Prismatic { .. } => &[5],
            Self::Cylindrical { .. } => &[2, 5],
            Self::Universal { .. } => &[2, 2],
            Self::Planar => &[2, 3, 4],
            Self::Translation => &[3, 4, 5],
            Self::Spherical => &[0, 1, 2],
            Self::Free => &[0, 1, 2, 3, 4, 5],
        }
    }

    /// Whether q starts with a unit quaternion.
    pub(crate) fn has_quaternion(&self) -> bool {
        matches!(self, Self::Spherical | Self::Free)
    }
}

/// A joint: what it connects, how it moves and what resists it.
///
/// The per-degree-of-freedom lists may be empty (the default), hold one number for all degrees of freedom, or one each.
///
/// ```
/// use linkwork::model::Joint;
/// let elbow = Joint::revolute("elbow", [0.0, 1.0, 0.0])
///     .between("upper_arm", "forearm")
///     .at([0.0, 0.0, 0.3])
///     .armature(0.01)
///     .position_limits(-2.0, 2.0);
/// assert_eq!(elbow.kind.nv(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Joint {
    /// Unique among joints.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// The name of the inner link, or `"world"`.
    pub parent: String,
    /// The name of the outer link.
    pub child: String,
    /// The joint's frame at q = 0, seen from the parent link's frame; the child link's frame coincides with it there.
    pub origin: Pose,
    /// Rotor inertia reflected through the gear, kg m² or kg; adds to the diagonal of the mass matrix.
    pub armature: Vec<f64>,
    /// Viscous resistance, N m s or N s/m.
    pub damping: Vec<f64>,
    /// Dry friction, N m or N.
    pub friction: Vec<f64>,
    /// Spring constant, N m/rad or N/m.
    pub stiffness: Vec<f64>,
    /// The configuration (nq numbers) at which the spring is at rest; empty for the neutral one.
    pub rest: Vec<f64>,
    /// Lower and upper position limits, per coordinate that has any: (−∞, ∞) where empty. One pair of a spherical joint limits the
    /// angle of its whole rotation, which is never negative: the upper number counts.
    pub position_limits: Vec<(f64, f64)>,
    /// Largest speed.
    pub velocity_limit: Vec<f64>,
    /// Largest effort.
    pub effort_limit: Vec<f64>,
}

impl Joint {
    /// A joint of any kind; connect it with [`Joint::between`].
    pub fn new(name: impl Into<String>, kind: JointKind) -> Self {
        Self {
            name: name.into(),
            kind,
            parent: super::WORLD.into(),
            child: String::new(),
            origin: Pose::IDENTITY,
            armature: Vec::new(),
            damping: Vec::new(),
            friction: Vec::new(),
            stiffness: Vec::new(),
            rest: Vec::new(),
            position_limits: Vec::new(),
            velocity_limit: Vec::new(),
            effort_limit: Vec::new(),
        }
    }

    /// A weld.
    pub fn fixed(name: impl Into<String>) -> Self {
        Self::new(name, JointKind::Fixed)
    }

    /// A hinge.
    pub fn revolute(name: impl Into<String>, axis: impl Into<Vec3>) -> Self {
        Self::new(name, JointKind::Revolute { axis: axis.into() })
    }

    /// A hinge without end.
    pub fn continuous(name: impl Into<String>, axis: impl Into<Vec3>) -> Self {
        Self::new(name, JointKind::Continuous { axis: axis.into() })
    }

    /// A slider.
    pub fn prismatic(name: impl Into<String>, axis: impl Into<Vec3>) -> Self {
        Self::new(name, JointKind::Prismatic { axis: axis.into() })
    }

    /// A screw, advancing `pitch` metres per radian.
    pub fn helical(name: impl Into<String>, axis: impl Into<Vec3>, pitch: f64) -> Self {
        let axis = axis.into();
        Self::new(name, JointKind::Helical { axis, pitch })
    }

    /// A cylinder in a bore.
    pub fn cylindrical(name: impl Into<String>, axis: impl Into<Vec3>) -> Self {
        Self::new(name, JointKind::Cylindrical { axis: axis.into() })
    }

    /// A Cardan joint.
    pub fn universal(name: impl Into<String>, first: impl Into<Vec3>, second: impl Into<Vec3>) -> Self {
        let axes = [first.into(), second.into()];
        Self::new(name, JointKind::Universal { axes })
    }

    /// Motion in the joint frame's x–y plane.
    pub fn planar(name: impl Into<String>) -> Self {
        Self::new(name, JointKind::Planar)
    }

    /// Three slides.
    pub fn translation(name: impl Into<String>) -> Self {
        Self::new(name, JointKind::Translation)
    }

    /// A ball joint.
    pub fn spherical(name: impl Into<String>) -> Self {
        Self::new(name, JointKind::Spherical)
    }

    /// Six degrees of freedom.
    pub fn free(name: impl Into<String>) -> Self {
        Self::new(name, JointKind::Free)
    }

    /// The links it connects, inner first; the inner one may be `"world"`.
    pub fn between(mut self, parent: impl Into<String>, child: impl Into<String>) -> Self {
        self.parent = parent.into();
        self.child = child.into();
        self
    }

    /// Shifts the joint's frame in the parent link's.
    pub fn at(mut self, translation: impl Into<Vec3>) -> Self {
        self.origin.translation = translation.into();
        self
    }

    /// Places the joint's frame in the parent link's.
    pub fn placed(mut self, origin: Pose) -> Self {
        self.origin = origin;
        self
    }

    /// Sets the rotor inertia of every degree of freedom.
    pub fn armature(mut self, x: f64) -> Self {
        self.armature = vec![x];
        self
    }

    /// Sets the viscous resistance of every degree of freedom.
    pub fn damping(mut self, x: f64) -> Self {
        self.damping = vec![x];
        self
    }

    /// Sets the dry friction of every degree of freedom.
    pub fn friction(mut self, x: f64) -> Self {
        self.friction = vec![x];
        self
    }

    /// Sets the spring constant of every degree of freedom, and where it is at rest (empty: the neutral configuration).
    pub fn spring(mut self, stiffness: f64, rest: &[f64]) -> Self {
        self.stiffness = vec![stiffness];
        self.rest = rest.to_vec();
        self
    }

    /// Sets the position limits of every coordinate; of a spherical joint, those of the angle of its whole rotation.
    pub fn position_limits(mut self, lower: f64, upper: f64) -> Self {
        self.position_limits = vec![(lower, upper)];
        self
    }

    /// The largest angle of a spherical joint's whole rotation, if one pair of limits keeps it from some.
    pub(crate) fn turn_limit(&self) -> Option<f64> {
        let upper = self.position_limits.first().map(|limits| limits.1.max(0.0));
        upper.filter(|upper| self.limits_turn() && *upper < core::f64::consts::PI)
    }

    /// Whether its limits are those of the angle of its whole rotation.
    pub(crate) fn limits_turn(&self) -> bool {
        self.kind == JointKind::Spherical && self.position_limits.len() == 1
    }

    /// Sets the largest speed of every degree of freedom.
    pub fn velocity_limit(mut self, x: f64) -> Self {
        self.velocity_limit = vec![x];
        self
    }

    /// Sets the largest effort of every degree of freedom.
    pub fn effort_limit(mut self, x: f64) -> Self {
        self.effort_limit = vec![x];
        self
    }
}
