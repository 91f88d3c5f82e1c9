//! What the diagonalized equations add to the stages.

use super::inflow::Waiting;
use super::joints::Joints;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Vec3};

/// Which of the two diagonalized forms of the equations of motion is meant.
///
/// 𝓜 = (I + HφK) D (I + HφK)\*, and D = LL\* joint by joint. Normalized variables absorb L, so that energy is ½ν\*ν;
/// un-normalized ones leave D in the equations, which then need no square roots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaling {
    /// ν = L\*ξ and ε = L⁻¹κ:  ν̇ + 𝒞(q, ν) = ε.
    #[default]
    Normalized,
    /// ξ = (I + HφK)\*q̇ and κ = (I − HψK)T:  Dξ̇ + 𝒞(q, ξ) = κ.
    Unnormalized,
}

/// Numbers of the diagonalized equations.
#[derive(Clone, Debug)]
pub(crate) struct Diagonal<S> {
    /// The form that sweeps are asked for.
    pub(crate) scaling: Scaling,
    /// Per degree of freedom: η, the total rates before the pivots of D are scaled or undone.
    pub(crate) eta: Vec<S>,
    /// Per link: gravity in its axes.
    pub(crate) gravity: Vec<Vec3<S>>,
    /// Room for Ṗ at branching links.
    pub(crate) waiting: Waiting<S>,
    /// Per link: Ṗ as the link sees it.
    pub(crate) p_rate: Vec<Articulated<S>>,
    /// The joints at the configuration that comes next.
    pub(crate) next: Joints<S>,
    /// Room for the terms of 𝒞.
    pub(crate) terms: Vec<S>,
    /// Per link: a skew 6×6, column by column.
    pub(crate) twists: Vec<[[S; 6]; 6]>,
}

impl<S: Scalar> Diagonal<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        let n = m.bodies.len();
        Self {
            scaling: Scaling::default(),
            eta: vec![S::ZERO; m.nv],
            waiting: Waiting::new(m.branches),
            gravity: vec![Vec3::ZERO; n],
            p_rate: vec![Articulated::ZERO; n],
            next: Joints::new(m),
            terms: vec![S::ZERO; 5 * m.nv],
            twists: vec![[[S::ZERO; 6]; 6]; n],
        }
    }
}
