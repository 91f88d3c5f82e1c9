//! A closed mechanism at a configuration.

use super::ClosedMechanism;
use super::constraint::{self, Row};
use super::moving::ClosedMoving;
use super::system::System;
use crate::Result;
use crate::dense::{Orthogonal, add_scaled};
use crate::model::check_length;
use crate::spatial::{Motion, Pose, Reference};
use crate::workspace::{Configured, Posed, Workspace};

/// Rows of J below this, in metres and radians, move nothing.
const TINY: f64 = 1e-11;

/// All memory that a closed mechanism's algorithms need.
#[derive(Clone, Debug)]
pub struct ClosedWorkspace {
    pub(super) closed: ClosedMechanism,
    tree: Workspace,
    memory: Memory,
    /// A configuration on the way to a closed one.
    pub(super) next: Vec<f64>,
}

/// What is known about the constraints at the present state.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) system: System,
    pub(super) is_factored: bool,
    /// Poses and velocities of both frames of every constraint, in the world's axes.
    pub(super) poses: Vec<[Pose; 2]>,
    pub(super) velocities: Vec<[Motion; 2]>,
    pub(super) rows: Vec<Row>,
    pub(super) gaps: Vec<f64>,
    /// Per constraint, how far it is from closed.
    pub(super) open: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    pub(super) innovations: Vec<f64>,
    pub(super) change: Vec<f64>,
    /// The forces of up to six rows on a frame, and what they give along its way.
    forces: [f64; 36],
    way: Vec<f64>,
    /// J, where it is asked for, and its decomposition.
    pub(super) jacobian: Vec<f64>,
    pub(super) decomposed: Orthogonal,
}

impl ClosedMechanism {
    /// Memory for calls.
    pub fn workspace(&self) -> ClosedWorkspace {
        let (n, rows, nv) = (self.ties.len(), self.plan.rows, self.mechanism.nv());
        ClosedWorkspace {
            closed: self.clone(),
            tree: self.mechanism.workspace(),
            next: vec![0.0; self.mechanism.nq()],
            memory: Memory {
                system: System::new(&self.plan),
                is_factored: false,
                poses: vec![[Pose::IDENTITY; 2]; n],
                velocities: vec![[Motion::ZERO; 2]; n],
                rows: vec![Row::default(); rows],
                gaps: vec![0.0; rows],
                open: vec![0.0; n],
                lambda: vec![0.0; rows],
                innovations: vec![0.0; nv],
                change: vec![0.0; nv],
                forces: [0.0; 36],
                way: vec![0.0; self.plan.widest],
                jacobian: Vec::new(),
                decomposed: Orthogonal::default(),
            },
        }
    }
}

impl ClosedWorkspace {
    /// Sets the configuration; it need not close the loops.
    pub fn at(&mut self, q: &[f64]) -> Result<ClosedPosed<'_>> {
        let mut tree = self.tree.at(q)?;
        let (closed, memory) = (&self.closed, &mut self.memory);
        for (i, tie) in closed.ties.iter().enumerate() {
            let [a, b] = tie.frames.map(|frame| tree.pose_of(frame));
            memory.poses[i] = [a, b];
            let rows = &mut memory.rows[tie.rows.clone()];
            constraint::place(&tie.kind, &tie.basis, &a, &b, rows);
            let gaps = &mut memory.gaps[tie.rows.clone()];
            memory.open[i] = constraint::gaps(&tie.kind, &tie.basis, &a, &b, gaps);
        }
        memory.is_factored = false;
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

/// How constraints share the freedom of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintReport {
    /// How many equations the constraints stand for.
    pub rows: usize,
    /// How many of them are independent.
    pub rank: usize,
    /// The degrees of freedom that are left.
    pub freedom: usize,
    /// Rows that depend on the others here, by constraint: the forces along them are shared in the sense of least norm.
    pub redundant: Vec<Redundant>,
}

/// A row that depends on others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redundant {
    /// The constraint.
    pub constraint: String,
    /// Which of its rows, from zero.
    pub row: usize,
    /// What the row keeps from happening, in the world's axes.
    pub what: &'static str,
}

impl core::fmt::Display for ConstraintReport {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            rows, rank, freedom, ..
        } = self;
        write!(
            f,
            "{rows} equations of rank {rank}; {freedom} degrees of freedom are left"
        )?;
        for r in &self.redundant {
            write!(f, "\nredundant: `{}`, {}", r.constraint, r.what)?;
        }
        Ok(())
    }
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
            constraint::set_in_motion(&tie.kind, &tie.basis, (a, va), (b, vb), rows);
        }
        Ok(ClosedMoving { closed, tree, memory })
    }

    /// Rank, freedom and redundant rows here.
    pub fn report(&mut self) -> Result<ConstraintReport> {
        self.memory.factor(self.closed, &mut self.tree)?;
        let (closed, system) = (self.closed, &self.memory.system);
        let rank = system.rank();
        let redundant = system.dependent(&closed.plan).into_iter().map(|row| {
            let i = closed.ties.partition_point(|tie| tie.rows.end <= row);
            let (tie, constraint) = (&closed.ties[i], &closed.constraints[i]);
            let row = row - tie.rows.start;
            Redundant {
                constraint: constraint.name.clone(),
                row,
                what: tie.kind.row_name(row),
            }
        });
        Ok(ConstraintReport {
            rows: closed.plan.rows,
            rank,
            freedom: closed.mechanism.nv().saturating_sub(rank),
            redundant: redundant.collect(),
        })
    }

    /// J, rows × nv: ġ = J q̇.
    pub fn jacobian(&mut self, out: &mut [f64]) -> Result<()> {
        let (rows, nv) = (self.closed.plan.rows, self.closed.mechanism.nv());
        check_length("out", rows * nv, out.len())?;
        self.memory.fill_jacobian(self.closed, &mut self.tree);
        out.copy_from_slice(&self.memory.jacobian[..rows * nv]);
        Ok(())
    }

    /// Makes a velocity consistent with the constraints, in the metric of 𝓜: what a plastic impact leaves of it. The
    /// impulses of the constraints are the result.
    pub fn project_velocity(&mut self, qd: &mut [f64]) -> Result<&[f64]> {
        self.closed.mechanism.check_vector("qd", qd)?;
        let closed = self.closed;
        let mut tree = self.tree.moving(qd)?;
        for tie in closed.ties.iter() {
            let [a, b] = tie.frames.map(|frame| tree.velocity_of(frame, Reference::Aligned));
            for row in tie.rows.clone() {
                self.memory.lambda[row] = -self.memory.rows[row].of(a, b);
            }
        }
        self.memory.resolve(closed, &mut self.tree)?;
        for (qd, change) in qd.iter_mut().zip(&self.memory.change) {
            *qd += change;
        }
        Ok(&self.memory.lambda)
    }
}

impl Memory {
    /// Rows of D^-½HψB, W and its factors.
    pub(super) fn factor(&mut self, closed: &ClosedMechanism, tree: &mut Configured<'_>) -> Result<()> {
        if self.is_factored {
            return Ok(());
        }
        tree.need_home_gains()?;
        self.system.clear();
        for (tie, strand) in closed.ties.iter().zip(&closed.plan.strands) {
            for side in (0..2).filter(|&side| strand.ways[side] > 0) {
                let rows = &self.rows[tie.rows.clone()];
                for (row, numbers) in rows.iter().zip(self.forces.chunks_exact_mut(6)) {
                    numbers.copy_from_slice(&row.on(side).to_array());
                }
                let way = &mut self.way[..rows.len() * strand.ways[side]];
                tree.innovations_of_forces(tie.frames[side], &self.forces[..6 * rows.len()], way);
                self.system.take_in(strand, side, way);
            }
        }
        tree.check_resistance()?;
        let floor = TINY * TINY * tree.softest();
        self.system.factor(&closed.plan, &closed.ties, floor);
        self.is_factored = true;
        Ok(())
    }

    /// λ ← W⁺λ, and `change` = 𝓜⁻¹J*λ.
    pub(super) fn resolve(&mut self, closed: &ClosedMechanism, tree: &mut Configured<'_>) -> Result<()> {
        self.factor(closed, tree)?;
        self.system.solve(&closed.plan, &mut self.lambda);
        self.innovations.fill(0.0);
        self.system
            .pull(&closed.plan, &closed.ties, &self.lambda, &mut self.innovations);
        tree.resolve_innovations(&self.innovations, &mut self.change)
    }

    /// J from the Jacobians of the frames.
    pub(super) fn fill_jacobian(&mut self, closed: &ClosedMechanism, tree: &mut Configured<'_>) {
        let (rows, nv) = (closed.plan.rows, closed.mechanism.nv());
        self.jacobian.clear();
        self.jacobian.resize((rows + 6) * nv, 0.0);
        let (out, six) = self.jacobian.split_at_mut(rows * nv);
        for tie in closed.ties.iter() {
            for (side, &frame) in tie.frames.iter().enumerate() {
                tree.jacobian_into(frame, six);
                for row in tie.rows.clone() {
                    let force = self.rows[row].on(side).to_array();
                    for (f, numbers) in force.into_iter().zip(six.chunks_exact(nv)) {
                        add_scaled(&mut out[row * nv..(row + 1) * nv], f, numbers);
                    }
                }
            }
        }
    }
}
