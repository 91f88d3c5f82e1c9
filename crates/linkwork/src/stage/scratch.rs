//! Memory that a sweep uses on its way and nobody reads afterwards: allocated with the workspace, so that no sweep allocates.

use super::LARGE;
use super::branches::Abreast;
use super::cache_lines::{self, LINE};
use super::inflow::Waiting;
use super::linear;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, RigidBody};

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<S> {
    /// The links from one to its root.
    pub(crate) path: Vec<usize>,
    /// λ(k), the accelerations that 𝓜⁻¹ alone gives.
    pub(crate) lambda: Vec<Motion<S>>,
    /// The links' motions along a third vector of joint rates, where one is asked for.
    pub(crate) along: Vec<Motion<S>>,
    /// Composite bodies and their rates of change.
    pub(crate) composite: Vec<RigidBody<S>>,
    pub(crate) composite_rate: Vec<RigidBody<S>>,
    /// ε, and other numbers per degree of freedom.
    pub(crate) eps: Vec<S>,
    pub(crate) dofs: Vec<S>,
    /// T − T(q̈) and the change of q̈, where forward dynamics is refined.
    pub(crate) refinement: [Vec<S>; 2],
    /// Per degree of freedom, a motion or a force in the world's axes.
    pub(crate) motions: Vec<Motion<S>>,
    pub(crate) forces: Vec<Force<S>>,
    /// Rows of one number per column, for dense results.
    pub(crate) columns: Vec<S>,
    /// Υ of every link, where all are needed; allocated at its first use.
    pub(crate) upsilon: Vec<[[S; 6]; 6]>,
    /// Random numbers per degree of freedom, likewise.
    pub(crate) normal: Vec<S>,
    /// Columns in registers, and the rows that they make.
    pub(crate) tiles: Vec<S>,
    /// What children other than the next link hand in.
    pub(crate) waiting: Waiting<S>,
    pub(crate) waiting_too: Waiting<S>,
    /// For rigid bodies, beside both.
    pub(crate) waiting_rigid: Waiting<S>,
    /// Branches side by side.
    pub(crate) abreast: Abreast<S>,
}

impl<S: Scalar> Scratch<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        let (n, nv) = (m.bodies.len(), m.nv);
        Self {
            path: Vec::with_capacity(n),
            lambda: vec![Motion::ZERO; n],
            along: vec![Motion::ZERO; n],
            composite: vec![RigidBody::ZERO; n],
            composite_rate: vec![RigidBody::ZERO; n],
            eps: vec![S::ZERO; nv],
            dofs: vec![S::ZERO; nv],
            refinement: [(); 2].map(|()| vec![S::ZERO; if m.refines { nv } else { 0 }]),
            upsilon: Vec::new(),
            normal: Vec::new(),
            motions: vec![Motion::ZERO; nv],
            forces: vec![Force::ZERO; nv],
            columns: Vec::with_capacity(if nv <= LARGE {
                (6 * m.columns.levels + 2) * nv
            } else {
                0
            }),
            tiles: Vec::with_capacity(Self::tiles(m)),
            waiting: Waiting::new(m.branches),
            waiting_too: Waiting::new(m.branches),
            waiting_rigid: Waiting::new(if m.reduction.is_some() { m.branches } else { 0 }),
            abreast: Abreast::new(m),
        }
    }

    /// How much room dense results need for columns and rows.
    fn tiles(m: &Compiled) -> usize {
        match m.columns.tiles {
            Some(_) => linear::inverse_room(m) + LINE,
            None if m.nv <= LARGE => (m.nv * m.nv).max(6 * m.nv) + LINE,
            None => 0,
        }
    }

    /// Makes room for so many numbers in `tiles`; where the first of them stands, so that registers do not straddle lines
    /// of the cache.
    #[inline(always)]
    pub(crate) fn make_room(&mut self, numbers: usize) -> usize {
        if self.tiles.len() < numbers + LINE {
            self.tiles.resize(numbers + LINE, S::ZERO);
        }
        cache_lines::first_of_line(&self.tiles)
    }
}
