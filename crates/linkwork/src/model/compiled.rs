//! The form of a mechanism that sweeps run on.
//!
//! Links are in depth-first order with fixed joints merged. The axis of every one-axis joint is its link's z, and the
//! placement of a link in its parent is a tilt about x between two screws about z: the outer screw is the joint's own
//! motion, the inner one is absorbed into the parent's frame for the first child and kept for the others. Users never
//! see these frames; [`Placed`] leads back to theirs.

use crate::body::{Body, Layout, PACK};
use crate::coupled::model::Reduction;
use crate::plan::{Bundles, Tiles, Zeros};
use crate::scalar::Scalar;
use crate::spatial::{Pose, Vec3};

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
    /// Whether they stand in the users' order; and, per column, how many from it on follow each other there.
    pub(crate) in_users_order: bool,
    pub(crate) runs: Vec<usize>,
    /// Where 𝓜 is zero, unless that is too much to be kept.
    pub(crate) zeros: Option<Zeros>,
    /// The tiles of products with N, where these cost less than outward sweeps and keep their digits.
    pub(crate) tiles: Option<Tiles>,
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

    /// An independent degree of freedom on the way of a link; none if nothing moves it.
    pub(crate) fn first_independent(&self, link: Option<usize>) -> Option<usize> {
        match &self.reduction {
            None => link.map(|k| self.bodies[k].v),
            Some(r) => r.elimination.path_of(link).next().map(|rank| r.elimination.order[rank]),
        }
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
