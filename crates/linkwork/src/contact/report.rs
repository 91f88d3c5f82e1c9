//! What a step did.

use super::cone::Region;
use crate::model::{FrameId, JointId};
use crate::spatial::{Force, Vec3};

/// A contact after a step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Impulse {
    /// The contact's id.
    pub id: u64,
    /// The frames as given.
    pub a: FrameId,
    /// The other frame, or the world.
    pub b: FrameId,
    /// Where it acts, in the world.
    pub point: Vec3,
    /// From b to a.
    pub normal: Vec3,
    /// The gap before the step.
    pub gap: f64,
    /// γ_n in N s: the force on a along the normal is this over Δt.
    pub along: f64,
    /// γ_t in N s, in the world.
    pub across: Vec3,
    /// The moment of torsion and rolling, N m s, in the world.
    pub moment: Vec3,
    /// The relative velocity of the two bodies there after the step, in the world.
    pub velocity: Vec3,
    /// What it is doing.
    pub region: Region,
    /// μ of sliding.
    pub friction: f64,
    /// R_n and R_t.
    pub compliance: [f64; 2],
    /// What the directions yield: w_n and w_t.
    pub yields: [f64; 2],
}

impl Impulse {
    /// The force on a, in the world.
    pub fn force(&self, step: f64) -> Vec3 {
        (self.normal * self.along + self.across) * step.recip()
    }
}

/// Which row of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JointRow {
    /// A position limit.
    Limit,
    /// Dry friction.
    Friction,
}

/// A joint's limit or dry friction after a step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JointImpulse {
    /// The joint.
    pub joint: JointId,
    /// Which of its rows.
    pub row: JointRow,
    /// The degree of freedom that it acts on.
    pub dof: usize,
    /// γ in N m s or N s, along the degree of freedom.
    pub impulse: f64,
}

/// What a constraint does to one of its frames.
#[derive(Clone, Copy, Debug)]
pub struct LoopEnd {
    /// The frame.
    pub frame: FrameId,
    /// Its origin in the world.
    pub point: Vec3,
    /// The impulse on it, about its origin in the world's axes: [N m s; N s].
    pub impulse: Force,
}

/// A constraint of a closed mechanism after a step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LoopImpulse {
    /// Its place among [`ClosedMechanism::constraints`](crate::closed::ClosedMechanism::constraints).
    pub constraint: usize,
    /// How far it was from closed before the step, in metres or radians.
    pub gap: f64,
    /// γ of its rows in their order, N s or N m s; over Δt they are the multipliers that
    /// [`forward_dynamics`](crate::closed::ClosedMoving::forward_dynamics) tells. Zero for rows that cannot move.
    pub impulses: [f64; 6],
    /// What it does to its two frames.
    pub ends: [LoopEnd; 2],
}

/// How far a step is from its laws.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Residuals {
    /// The deepest penetration before the step, in metres.
    pub penetration: f64,
    /// The worst of the normal law, m/s: v_n + R_nγ_n − v̂_n where there is an impulse, what closes elsewhere.
    pub normal: f64,
    /// The most that an impulse exceeds its cone by, and falls short of it while sliding, N s.
    pub excess: f64,
    /// See `excess`.
    pub deficit: f64,
    /// The worst of γ_t·v_t + μγ_n‖v_t‖, J: zero where friction takes as much as it can.
    pub dissipation: f64,
    /// The most that a loop was open before the step, in metres or radians.
    pub closure: f64,
    /// The gradient that is left, relative.
    pub gradient: f64,
    /// The change of the bounds in the last pass of Coulomb's law, relative.
    pub coulomb: f64,
}

/// What a step did: all of it, not only success.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StepReport {
    /// Whether everything settled.
    pub settled: bool,
    /// Newton's iterations in all.
    pub iterations: usize,
    /// Passes of Coulomb's law, both kinds.
    pub passes: usize,
    /// Evaluations of all impulses, those of line searches included.
    pub evaluations: usize,
    /// How often restitution was lowered to keep energy from rising.
    pub guarded: usize,
    /// How far it is from its laws.
    pub residuals: Residuals,
    /// The contacts, in the order given.
    pub contacts: Vec<Impulse>,
    /// Limits that are near, and dry friction.
    pub joints: Vec<JointImpulse>,
    /// Constraints of a closed mechanism that are on and can move anything.
    pub loops: Vec<LoopImpulse>,
    /// The velocity without contacts, v*; empty where the step did not need it: it does with [`Start::Free`](super::Start::Free), with
    /// restitution, in fast motion, and where nothing touches.
    pub free_velocity: Vec<f64>,
    /// v⁺ in the axes of the start of the step.
    pub velocity: Vec<f64>,
    /// The minimum that was found, where v* is known.
    pub objective: Option<f64>,
}
