//! One link as sweeps see it: what its joint frees, what lies between it and its parent, its inertia, and where its
//! degrees of freedom stand among the columns.

mod hinge;
mod pivots;

pub(crate) use hinge::{Gain, release_base, resolve_base, sizes};

use crate::spatial::{Lean, Pose, RigidBody, Screw};

/// How a link may move against its parent, in its own compiled frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hinge {
    Revolute,
    Prismatic,
    Helical { pitch: f64 },
    Cylindrical,
    Planar,
    Translation,
    Spherical,
    Free,
}

impl Hinge {
    /// Whether its motion is a screw about z.
    pub(crate) fn is_screw(self) -> bool {
        matches!(
            self,
            Self::Revolute | Self::Prismatic | Self::Helical { .. } | Self::Cylindrical
        )
    }

    /// The coordinates of [ω; v] that it frees, in the order of its degrees of freedom. A helical joint frees one
    /// combination of ω_z and v_z: see [`Hinge::pitch`].
    #[inline(always)]
    pub(crate) fn axes(self) -> &'static [usize] {
        match self {
            Self::Revolute | Self::Helical { .. } => &[2],
            Self::Prismatic => &[5],
            Self::Cylindrical => &[2, 5],
            Self::Planar => &[2, 3, 4],
            Self::Translation => &[3, 4, 5],
            Self::Spherical => &[0, 1, 2],
            Self::Free => &[0, 1, 2, 3, 4, 5],
        }
    }

    /// v_z per ω_z of a helical joint.
    #[inline(always)]
    pub(crate) fn pitch(self) -> Option<f64> {
        match self {
            Self::Helical { pitch } => Some(pitch),
            _ => None,
        }
    }
}

/// The way from a link to its parent: what lies between their frames. The commonest have names of their own, so that a
/// sweep can be compiled for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// A revolute joint without armature, behind a tilt of zero, a quarter turn, or any angle.
    TurnFlat,
    TurnQuarter,
    TurnLean,
    /// A prismatic joint behind a quarter turn.
    SlideQuarter,
    /// Any other joint that is a screw about z, behind a tilt; `Skew` also shifts along y.
    ScrewFlat,
    ScrewQuarter,
    ScrewLean,
    ScrewSkew,
    /// The parent is the world: a constant placement, then the joint's screw.
    Root,
    /// Any motion: the whole placement varies, and is kept in the joints' stage.
    General,
}

/// One compiled link.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Body {
    /// The parent, smaller than the link's own index; none for the world.
    pub(crate) parent: Option<usize>,
    pub(crate) hinge: Hinge,
    /// Degrees of freedom, and whether it is a single revolute one.
    pub(crate) dofs: usize,
    pub(crate) revolute: bool,
    /// Whether it is one without armature behind a moving parent: P⁺ then costs nothing to turn about z.
    pub(crate) turns: bool,
    /// Where its coordinates start in q and v, in the user's order.
    pub(crate) q: usize,
    pub(crate) v: usize,
    pub(crate) passage: Passage,
    /// A constant screw about the parent's z, which the parent has not absorbed.
    pub(crate) before: Option<Screw<f64>>,
    /// The tilt about x, and the shifts along x (the common normal of the two axes) and y (zero unless the axes are
    /// almost, but not quite, parallel).
    pub(crate) lean: Lean,
    pub(crate) along: f64,
    pub(crate) across: f64,
    /// Where the link's origin is for the parent's, but for the joint's own screw and `along`: y and z in axes behind the
    /// tilt; none for most.
    pub(crate) aside: Option<[f64; 2]>,
    /// What the joint's own screw starts from.
    pub(crate) theta: f64,
    pub(crate) shift: f64,
    /// M(k).
    pub(crate) inertia: RigidBody<f64>,
    /// The same for torques alone: with what children that turn or slide along an axis leave to it, without what it leaves
    /// to its own parent.
    pub(crate) laden: RigidBody<f64>,
    /// Whether the next link is its child.
    pub(crate) has_child: bool,
    /// Where children other than the next link leave what they hand in.
    pub(crate) branch: Option<usize>,
    /// The parent's `branch`, for a link that does not directly follow its parent.
    pub(crate) hands_to: Option<usize>,
    /// One past the last link of its subtree.
    pub(crate) end: usize,
    /// The root of its tree.
    pub(crate) root: usize,
    /// The constant part of the placement in the parent, for roots and general passages.
    pub(crate) placement: Pose,
    /// Whether it is a free base without rotors.
    pub(crate) floats: bool,
    /// Whether that is the identity, as for most free bases.
    pub(crate) at_origin: bool,
    /// Where a general passage keeps its placement.
    pub(crate) general: usize,
}

/// How many columns a register takes.
pub(crate) const PACK: usize = 4;
/// No column, or no degree of freedom.
pub(crate) const GAP: usize = usize::MAX;

/// Where columns stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Per link: its first column, and one past the last of its subtree.
    pub(crate) start: Vec<usize>,
    pub(crate) end: Vec<usize>,
    /// Per column: the degree of freedom in the users' order, and the column of the next one toward the base, if any.
    pub(crate) dof: Vec<usize>,
    pub(crate) up: Vec<usize>,
    /// Per column: where its subtree ends.
    pub(crate) end_at: Vec<usize>,
}

/// Per column, given its degree of freedom in the users' order: how many columns from it on follow each other there too.
pub(crate) fn runs(dof: &[usize]) -> Vec<usize> {
    let mut runs = vec![1; dof.len()];
    for c in (1..dof.len()).rev() {
        if dof[c] == dof[c - 1] + 1 {
            runs[c - 1] = runs[c] + 1;
        }
    }
    runs
}
