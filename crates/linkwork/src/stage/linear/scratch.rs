//! Memory that is used on the way to the linearization point, or from there to derivatives, and that nobody reads afterwards.

use super::gains::Hat;
use super::motions::Motions;
use super::terms::Terms;
use super::{Block, FLOW, KINDS, LANES, QUADS, blocks};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion, Vec3};

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<S> {
    /// V and α of the links on the way outward; α of the base is −g.
    pub(super) v: Vec<Motion<S>>,
    pub(super) alpha: Vec<Motion<S>>,
    /// The same and H*, coordinates side by side.
    pub(super) motions: Motions<S>,
    /// What q̈ adds to α, where torques are given.
    pub(super) lambda: Vec<Motion<S>>,
    /// [`Linear::subtrees`](super::Linear::subtrees) link by link.
    pub(super) sums: Vec<Block<S, QUADS>>,
    /// ε of changes of q and q̇, and N, row by row in blocks of columns; likewise, and zero between branches.
    pub(crate) rows: Vec<[[S; LANES]; KINDS]>,
    /// What goes with the columns along the links.
    pub(crate) flow: Vec<Block<S, FLOW>>,
    /// Bit by bit, which columns of each block belong to the links on the way to one.
    pub(crate) inner: Vec<u8>,
    /// Per link, for products with vectors: ϑ and γ, or sums of 2M̂*η and η; and forces.
    pub(crate) changes: Vec<(Vec3<S>, Motion<S>)>,
    pub(crate) forces: Vec<Force<S>>,
    /// What waits at branching links; zero between sweeps.
    pub(super) waiting: Vec<Terms<S>>,
    pub(super) waiting_sums: Vec<Block<S, QUADS>>,
    pub(super) waiting_forces: Vec<Force<S>>,
    pub(super) waiting_articulated: Vec<(Articulated<S>, Hat<S>)>,
}

impl<S: Scalar> Scratch<S> {
    pub(super) fn new(m: &Compiled) -> Self {
        let (n, nv, levels) = (m.bodies.len(), m.nv, m.columns.levels);
        Self {
            v: vec![Motion::ZERO; n],
            alpha: vec![Motion::ZERO; n],
            motions: Motions::new(m),
            lambda: vec![Motion::ZERO; n],
            sums: vec![Block::ZERO; blocks(n) * LANES],
            rows: Vec::new(),
            flow: vec![Block::ZERO; blocks(nv) * levels],
            inner: vec![0; blocks(nv) * levels],
            changes: vec![(Vec3::ZERO, Motion::ZERO); n],
            forces: vec![Force::ZERO; n],
            waiting: vec![Terms::ZERO; m.branches],
            waiting_sums: vec![Block::ZERO; m.branches],
            waiting_forces: vec![Force::ZERO; m.branches],
            waiting_articulated: vec![(Articulated::ZERO, Hat::ZERO); m.branches],
        }
    }
}
