//! A closed mechanism at a configuration.

use super::ClosedMechanism;
use super::moving::ClosedMoving;
use super::multipliers::{Level, Memory};
use super::switching::{ConstraintTarget, Transition};
use crate::Result;
use crate::model::check_length;
use crate::spatial::Reference;
use crate::workspace::{Posed, Workspace};

/// All memory that a closed mechanism's algorithms need.
///
/// ```
/// use linkwork::closed::{ClosedMechanism, Constraint};
/// use linkwork::model::FrameId;
/// let arm = linkwork::model::examples::arm7();
/// let q = [0.0, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0];
/// // The hand is held where it is.
/// let place = arm.workspace().at(&q)?.pose(arm.frame("flange")?)?;
/// let arm = arm.to_builder().frame("handle", "world", place).build()?;
/// let held = ClosedMechanism::new(arm, vec![Constraint::point("grip", "flange", "handle")])?;
/// let mut workspace = held.workspace();
/// let mut posed = workspace.at(&q)?;
/// assert!(posed.closure() < 1e-9);
/// let mut qdd = [0.0; 7];
/// let force = posed.moving(&[0.0; 7])?.forward_dynamics(&[0.0; 7], &mut qdd)?.on_b("grip")?;
/// assert!(force.force.norm() > 0.0, "the handle carries a part of the arm");
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClosedWorkspace {
    pub(super) closed: ClosedMechanism,
    tree: Workspace,
    memory: Memory,
    /// A configuration on the way to a closed one.
    pub(super) next: Vec<f64>,
}

impl ClosedMechanism {
    /// Memory for calls.
    pub fn workspace(&self) -> ClosedWorkspace {
        ClosedWorkspace {
            closed: self.clone(),
            tree: self.mechanism.workspace(),
            next: vec![0.0; self.mechanism.nq()],
            memory: Memory::new(self),
        }
    }
}

impl ClosedWorkspace {
    /// The closed mechanism, with its constraints as they are switched and prescribed here.
    pub fn closed(&self) -> &ClosedMechanism {
        &self.closed
    }

    /// Switches a constraint on or off: see [`ClosedMechanism::switch`].
    pub fn switch(&mut self, constraint: &str, on: bool) -> Result<()> {
        self.closed.switch(constraint, on)
    }

    /// Sets where a constraint holds: see [`ClosedMechanism::prescribe`].
    pub fn prescribe(&mut self, constraint: &str, target: Option<ConstraintTarget>) -> Result<()> {
        self.closed.prescribe(constraint, target)
    }

    /// Switches a constraint on where its frames are at q, and takes from v what it does not allow: a plastic impact, whose
    /// impulse is the result. An arm that grasps an object, moves it, releases it by [`ClosedWorkspace::switch`] and grasps it
    /// elsewhere does so by one constraint.
    pub fn grasp(&mut self, constraint: &str, q: &[f64], v: &mut [f64]) -> Result<Transition> {
        let i = self.closed.tie(constraint)?;
        self.closed.check_graspable(i)?;
        let [a, b] = self.closed.ties[i].frames;
        let mut tree = self.tree.at(q)?;
        let target = tree.pose_of(a).inverse() * tree.pose_of(b);
        self.closed.set_target(i, Some(ConstraintTarget::at(target)))?;
        self.closed.switch(constraint, true)?;
        let mut posed = self.at(q)?;
        let before = posed.tree.moving(v)?.kinetic_energy();
        posed.project_velocity(v)?;
        let energy_lost = before - posed.tree.moving(v)?.kinetic_energy();
        let [on_a, on_b] = posed.memory.forces_of(&posed.closed.ties[i]);
        Ok(Transition {
            on_a,
            on_b,
            energy_lost,
        })
    }

    /// Sets the configuration; it need not close the loops.
    pub fn at(&mut self, q: &[f64]) -> Result<ClosedPosed<'_>> {
        let mut tree = self.tree.at(q)?;
        let (closed, memory) = (&self.closed, &mut self.memory);
        for (i, tie) in closed.ties.iter().enumerate() {
            let [a, b] = tie.frames.map(|frame| tree.pose_of(frame));
            memory.poses[i] = [a, b];
            let rows = &mut memory.rows[tie.rows.clone()];
            tie.place(&closed.settings[i], &a, &b, rows);
            let gaps = &mut memory.gaps[tie.rows.clone()];
            memory.open[i] = tie.gaps(&closed.settings[i], &a, &b, gaps);
        }
        memory.forget();
        Ok(ClosedPosed { closed, tree, memory })
    }
}

/// A closed mechanism at a configuration.
#[derive(Debug)]
pub struct ClosedPosed<'w> {
    pub(super) closed: &'w ClosedMechanism,
    pub(super) tree: Posed<'w>,
    pub(super) memory: &'w mut Memory,
}

impl<'w> ClosedPosed<'w> {
    /// The tree alone, as if its loops were open: poses, Jacobians, external forces.
    pub fn tree(&mut self) -> &mut Posed<'w> {
        &mut self.tree
    }

    /// How far the loops are from closed: the largest gap, in metres and radians alike.
    pub fn closure(&self) -> f64 {
        self.memory.open.iter().copied().fold(0.0, f64::max)
    }

    /// g of every row.
    pub fn gaps(&self) -> &[f64] {
        &self.memory.gaps
    }

    /// Sets the velocity.
    pub fn moving(&mut self, qd: &[f64]) -> Result<ClosedMoving<'_>> {
        let mut tree = self.tree.moving(qd)?;
        let (closed, memory) = (self.closed, &mut *self.memory);
        for (i, tie) in closed.ties.iter().enumerate() {
            let [va, vb] = tie.frames.map(|frame| tree.velocity_of(frame, Reference::Aligned));
            memory.velocities[i] = [va, vb];
            let [a, b] = &memory.poses[i];
            let rows = &mut memory.rows[tie.rows.clone()];
            tie.set_in_motion(&closed.settings[i], (a, va), (b, vb), rows);
        }
        Ok(ClosedMoving { closed, tree, memory })
    }

    /// J, rows × nv: ġ = J q̇, and what targets that move add; zero for constraints that are off.
    pub fn jacobian(&mut self, out: &mut [f64]) -> Result<()> {
        let (rows, nv) = (self.closed.plan.rows, self.closed.mechanism.nv());
        check_length("out", rows * nv, out.len())?;
        self.memory.fill_jacobian(self.closed, &mut self.tree);
        out.copy_from_slice(&self.memory.jacobian[..rows * nv]);
        Ok(())
    }

    /// Makes a velocity consistent with the constraints, in the metric of 𝓜: what a plastic impact leaves of it. The
    /// impulses of the constraints are the result.
    ///
    /// One-sided constraints that touch push only: what parts, parts.
    pub fn project_velocity(&mut self, qd: &mut [f64]) -> Result<&[f64]> {
        self.closed.mechanism.check_vector("qd", qd)?;
        let closed = self.closed;
        let mut tree = self.tree.moving(qd)?;
        for (i, tie) in closed.ties.iter().enumerate() {
            let [a, b] = tie.frames.map(|frame| tree.velocity_of(frame, Reference::Aligned));
            self.memory.velocities[i] = [a, b];
            for row in tie.rows.clone() {
                self.memory.lambda[row] = -self.memory.rows[row].rate(a, b);
            }
        }
        self.memory.resolve(closed, &mut self.tree, Level::Velocity)?;
        for (qd, change) in qd.iter_mut().zip(&self.memory.change) {
            *qd += change;
        }
        Ok(&self.memory.lambda)
    }
}
