//! The form of a mechanism that sweeps run on.
//!
//! Links are in depth-first order with fixed joints merged. The axis of every one-axis joint is its link's z, and the
//! placement of a link in its parent is a tilt about x between two screws about z: the outer screw is the joint's own
//! motion, the inner one is absorbed into the parent's frame for the first child and kept for the others. Users never
//! see these frames; [`Placed`] leads back to theirs.

use super::{Bundles, InLine, Reduction, Tiles, Zeros};
use crate::scalar::Scalar;
use crate::spatial::{Lean, Pose, RigidBody, Screw, Vec3};

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

/// What turns the screws of links that follow each other: a coordinate each, or none, from an angle on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spins {
    pub(crate) link: usize,
    pub(crate) by: [usize; PACK],
    pub(crate) theta: [f64; PACK],
    /// The first coordinate, if they too follow each other.
    pub(crate) row: Option<usize>,
    /// How many of the first ones others have turned already.
    pub(crate) turned: usize,
}

/// What slides a link's screw: a coordinate, times a pitch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slide {
    pub(crate) link: usize,
    pub(crate) by: usize,
    pub(crate) pitch: f64,
    pub(crate) shift: f64,
}

/// A frame fixed to a compiled link, or to the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) body: Option<usize>,
    pub(crate) pose: Pose,
}

/// Degrees of freedom as columns, subtree by subtree: those of a link, then those of its descendants.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) single: Layout,
    /// Per column: where the elements of 𝓜 in its row start, its own first and then those of its subtree; and how
    /// many there are in all.
    pub(crate) rows: Vec<usize>,
    /// Per link: which of a few copies of a row it may use in an outward sweep. The last child goes on with its
    /// parent's copy; the others take one more.
    pub(crate) level: Vec<usize>,
    pub(crate) levels: usize,
    /// Whether they stand in the users' order.
    pub(crate) in_users_order: bool,
    /// The same four to a register, where every link has one and 𝓜 is small.
    pub(crate) in_line: Option<InLine>,
    /// Where 𝓜 is zero, unless that is too much to be kept.
    pub(crate) zeros: Option<Zeros>,
    /// The tiles of products with N, where these cost less than outward sweeps and keep their digits.
    pub(crate) tiles: Option<Tiles>,
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

/// A user's link, the body that it is part of, and its frame seen from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) body: usize,
    pub(crate) link: usize,
    pub(crate) pose: Pose,
}

/// The whole of it.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) bodies: Vec<Body>,
    pub(crate) nq: usize,
    pub(crate) nv: usize,
    /// The links whose screw turns, register by register of links that follow each other: a register starts with one that
    /// turns, and may go on with some that do not, or with none.
    pub(crate) turning: Vec<Spins>,
    /// The links whose screw slides.
    pub(crate) sliding: Vec<Slide>,
    /// The links that have [`Passage::General`].
    pub(crate) general_links: Vec<usize>,
    /// How many links have more than one child.
    pub(crate) branches: usize,
    /// Whether every link is an ancestor of the next.
    pub(crate) is_chain: bool,
    /// Rotor inertia per degree of freedom.
    pub(crate) armature: Vec<f64>,
    pub(crate) has_armature: bool,
    /// Whether some link carries one so much heavier that forward dynamics is refined: P of the light one is a small
    /// difference of large numbers.
    pub(crate) refines: bool,
    pub(crate) columns: Columns,
    /// Branches to be swept side by side, where that saves time.
    pub(crate) bundles: Option<Bundles>,
    /// The users' link frames, in the users' order.
    pub(crate) link_frames: Vec<Placed>,
    /// Those of them that move, body by body.
    pub(crate) parts: Vec<Part>,
    /// The links that move by themselves, in the users' order: body, and the users' frame seen from it.
    pub(crate) link_space: Vec<(usize, Pose)>,
    pub(crate) gravity: Vec3,
    /// What users' coordinates are, where joints follow others; everything above counts all of them.
    pub(crate) reduction: Option<Reduction>,
}

impl Compiled {
    /// The degrees of freedom from the root to a link, in the order in which an outward sweep resolves them: two links'
    /// lists start alike as far as their ways are one.
    pub(crate) fn way(&self, link: Option<usize>) -> Vec<usize> {
        let mut way = Vec::new();
        let mut next = link;
        while let Some(k) = next {
            let body = &self.bodies[k];
            way.extend(body.v..body.v + body.dofs);
            next = body.parent;
        }
        way.reverse();
        way
    }

    /// The same over the independent degrees of freedom: where joints follow others, all that eliminating those of the way
    /// touches.
    pub(crate) fn independent_way(&self, link: Option<usize>) -> Vec<usize> {
        let Some(r) = &self.reduction else {
            return self.way(link);
        };
        let e = &r.elimination;
        let mut way: Vec<usize> = e.path_of(link).map(|rank| e.order[rank]).collect();
        way.reverse();
        way
    }

    /// Per independent degree of freedom: the number of the tree that it belongs to, trees that couplings join being one.
    pub(crate) fn independent_trees(&self) -> Vec<usize> {
        let mut tree = vec![0; self.nv];
        let Some(r) = &self.reduction else {
            for body in &self.bodies {
                tree[body.v..body.v + body.dofs].fill(body.root);
            }
            return tree;
        };
        let e = &r.elimination;
        for rank in 0..r.nv {
            tree[e.order[rank]] = e.parent[rank].map_or(rank, |p| tree[e.order[p]]);
        }
        tree.truncate(r.nv);
        tree
    }

    /// How many degrees of freedom lie between the root and a link.
    pub(crate) fn way_length(&self, link: Option<usize>) -> usize {
        let mut length = 0;
        let mut next = link;
        while let Some(k) = next {
            length += self.bodies[k].dofs;
            next = self.bodies[k].parent;
        }
        length
    }

    /// The outermost link that is an ancestor of both, or one of them.
    pub(crate) fn fork(&self, mut a: Option<usize>, mut b: Option<usize>) -> Option<usize> {
        while let (Some(i), Some(j)) = (a, b) {
            if i == j {
                return a;
            }
            // A parent has the smaller number.
            if i > j {
                a = self.bodies[i].parent;
            } else {
                b = self.bodies[j].parent;
            }
        }
        None
    }

    /// Adds numbers along a link's way, from the root outward, to their degrees of freedom.
    pub(crate) fn scatter<S: Scalar>(&self, link: Option<usize>, along: &[S], out: &mut [S]) {
        let mut at = along.len();
        let mut next = link;
        while let Some(k) = next {
            let body = &self.bodies[k];
            for v in body.v..body.v + body.dofs {
                at -= 1;
                out[v] += along[at];
            }
            next = body.parent;
        }
    }
}
