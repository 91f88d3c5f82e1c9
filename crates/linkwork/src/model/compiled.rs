//! The form of a mechanism that sweeps run on.
//!
//! Links are in depth-first order with fixed joints merged. The axis of every one-axis joint is its link's z, and the
//! placement of a link in its parent is a tilt about x between two screws about z: the outer screw is the joint's own
//! motion, the inner one is absorbed into the parent's frame for the first child and kept for the others. Users never
//! see these frames; [`Placed`] leads back to theirs.

use crate::spatial::{Flat, Lean, Pose, Quarter, RigidBody, Screw, Skew, Tilt, Vec3};

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

/// The way from a link to its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Route {
    /// The parent is the world: a constant placement, then the joint's screw.
    Root,
    /// A constant screw about the parent's z (if any), a tilt about x, then the joint's screw.
    Screws { before: Option<Screw<f64>>, tilt: Tilted },
    /// Any motion: the whole placement varies, and is kept in the pose stage at this index.
    General { index: usize },
}

/// A tilt whose angle is known by name where it is cheap.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tilted {
    Flat(Tilt<Flat>),
    Quarter(Tilt<Quarter>),
    Lean(Tilt<Lean>),
    Skew(Tilt<Skew>),
}

/// One compiled link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    /// The parent, smaller than the link's own index; none for the world.
    pub(crate) parent: Option<usize>,
    pub(crate) hinge: Hinge,
    /// Revolute, and without armature.
    pub(crate) plain_revolute: bool,
    /// Where its coordinates start in q and v, in the user's order.
    pub(crate) q: usize,
    pub(crate) v: usize,
    pub(crate) route: Route,
    /// The constant part of the placement in the parent, for roots and general routes.
    pub(crate) placement: Pose,
    /// What the joint's own screw starts from.
    pub(crate) theta: f64,
    pub(crate) shift: f64,
    /// M(k).
    pub(crate) inertia: RigidBody<f64>,
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
}

/// A frame fixed to a compiled link, or to the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) body: Option<usize>,
    pub(crate) pose: Pose,
}

/// The mechanism seen as a tree of single degrees of freedom. Those of one joint follow each other, the first outermost:
/// the order in which a hinge is released.
#[derive(Clone, Debug)]
pub(crate) struct Dofs {
    /// The next degree of freedom inward.
    pub(crate) parent: Vec<Option<usize>>,
    /// Parents before children.
    pub(crate) outward: Vec<usize>,
    /// Per place in `outward`, the place where its tree starts.
    pub(crate) tree_start: Vec<usize>,
}

/// The whole of it.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) bodies: Vec<Body>,
    pub(crate) nq: usize,
    pub(crate) nv: usize,
    /// How many links have [`Route::General`].
    pub(crate) generals: usize,
    /// How many links have more than one child.
    pub(crate) branches: usize,
    /// Rotor inertia per degree of freedom.
    pub(crate) armature: Vec<f64>,
    pub(crate) has_armature: bool,
    pub(crate) dofs: Dofs,
    pub(crate) gravity: Vec3,
}
