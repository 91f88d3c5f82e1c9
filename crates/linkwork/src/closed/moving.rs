//! A closed mechanism in motion.

use super::multipliers::{Level, Memory, TOUCHES};
use super::{ClosedMechanism, Side, Stabilisation};
use crate::dense::{Orthogonal, dot};
use crate::model::check_length;
use crate::spatial::{Force, Reference};
use crate::workspace::Moving;
use crate::{Error, Result};

/// A closed mechanism in motion.
#[derive(Debug)]
pub struct ClosedMoving<'w> {
    pub(super) closed: &'w ClosedMechanism,
    pub(super) tree: Moving<'w>,
    pub(super) memory: &'w mut Memory,
}

/// The forces of the constraints.
#[derive(Debug)]
pub struct Multipliers<'a> {
    closed: &'a ClosedMechanism,
    memory: &'a Memory,
}

impl Multipliers<'_> {
    /// λ of all rows.
    pub fn all(&self) -> &[f64] {
        &self.memory.lambda
    }

    /// The force [N; F] of a constraint on its frame b, about that frame's origin in the world's axes.
    pub fn on_b(&self, constraint: &str) -> Result<Force> {
        let tie = &self.closed.ties[self.closed.tie(constraint)?];
        Ok(self.memory.forces_of(tie)[1])
    }

    /// The force [N; F] of a constraint on its frame a, about that frame's origin in the world's axes.
    pub fn on_a(&self, constraint: &str) -> Result<Force> {
        let tie = &self.closed.ties[self.closed.tie(constraint)?];
        Ok(self.memory.forces_of(tie)[0])
    }
}

/// Accelerations that break a constraint by more than this part of their size are refused.
const CONSISTENT: f64 = 1e-7;

impl<'w> ClosedMoving<'w> {
    /// The tree alone, as if its loops were open.
    pub fn tree(&mut self) -> &mut Moving<'w> {
        &mut self.tree
    }

    /// How fast the loops open: the largest ġ.
    pub fn closure_rate(&self) -> f64 {
        let rates = (0..self.closed.plan.rows).map(|row| self.rate(row).abs());
        rates.fold(0.0, f64::max)
    }

    /// ġ of every row, in the order of the constraints.
    pub fn gap_rates(&self, out: &mut [f64]) -> Result<()> {
        check_length("out", self.closed.plan.rows, out.len())?;
        for (row, out) in out.iter_mut().enumerate() {
            *out = self.rate(row);
        }
        Ok(())
    }

    /// ġ of a row.
    fn rate(&self, row: usize) -> f64 {
        let tie = self.closed.ties.partition_point(|tie| tie.rows.end <= row);
        let [a, b] = self.memory.velocities[tie];
        self.memory.rows[row].rate(a, b)
    }

    /// q̈ and the constraints' forces for given torques, in O(N) and a small dense system.
    pub fn forward_dynamics(&mut self, tau: &[f64], qdd: &mut [f64]) -> Result<Multipliers<'_>> {
        let closed = self.closed;
        closed.mechanism.check_vector("tau", tau)?;
        check_length("qdd", closed.mechanism.nv(), qdd.len())?;
        self.tree.run_free(tau, qdd)?;
        for (i, tie) in closed.ties.iter().enumerate() {
            let [a, b] = tie.frames.map(|frame| self.tree.free_acceleration(frame));
            let [va, vb] = self.memory.velocities[i];
            for r in tie.rows.clone() {
                let row = &self.memory.rows[r];
                let mut wanted = -(row.of(a, b) + row.bias);
                if let Stabilisation::Baumgarte { frequency, damping } = closed.stabilisation {
                    wanted -= frequency * (2.0 * damping * row.rate(va, vb) + frequency * self.memory.gaps[r]);
                }
                self.memory.lambda[r] = wanted;
            }
        }
        self.memory.resolve(closed, &mut self.tree, Level::Acceleration)?;
        for (qdd, change) in qdd.iter_mut().zip(&self.memory.change) {
            *qdd += change;
        }
        Ok(Multipliers {
            closed,
            memory: self.memory,
        })
    }

    /// The torques of least norm on the actuated degrees of freedom (places in v) that give accelerations which the
    /// constraints allow; the other torques are zero. [`Mechanism::driven_dofs`](crate::Mechanism::driven_dofs) are all that
    /// motors drive; others are refused.
    ///
    /// Refused are accelerations that a constraint does not allow, and ones that the actuated joints cannot give, as those
    /// that a one-sided constraint would have to pull for.
    pub fn inverse_dynamics(&mut self, qdd: &[f64], actuated: &[usize], tau: &mut [f64]) -> Result<()> {
        let (closed, nv) = (self.closed, self.closed.mechanism.nv());
        closed.mechanism.check_vector("qdd", qdd)?;
        check_length("tau", nv, tau.len())?;
        if let Some(&dof) = actuated.iter().find(|&&dof| dof >= nv) {
            return Err(Error::Drive {
                problem: format!("degree of freedom {dof} does not exist; there are {nv}, from zero"),
            });
        }
        self.closed
            .mechanism
            .need_driven(|dof| actuated.contains(&dof), "inverse dynamics")?;
        self.memory.choose(closed, Level::Acceleration);
        self.check_consistent(qdd)?;
        self.tree.inverse_dynamics(qdd, tau)?;
        let basis = self.memory.free_directions(closed, &mut self.tree);
        let k = basis.len() / nv;
        // N S*τ = N T for the rows of N that the constraints allow.
        let needed: Vec<f64> = basis.chunks_exact(nv).map(|n| dot(n, tau)).collect();
        let columns = basis.chunks_exact(nv).flat_map(|n| actuated.iter().map(|&dof| n[dof]));
        let matrix: Vec<f64> = columns.collect();
        let mut solver = Orthogonal::default();
        solver.factor(k, actuated.len(), &matrix, 1e-10);
        let mut torques = vec![0.0; actuated.len()];
        let missed = solver.solve(&needed, &mut torques);
        let size = dot(&needed, &needed).sqrt();
        if missed > 1e-9 * size.max(1e-9) {
            return Err(Error::Drive {
                problem: format!(
                    "{k} degrees of freedom are left by the constraints, and the {} actuated ones cannot drive them as asked ({missed:.3e} of {size:.3e} is missing); actuate more joints",
                    actuated.len()
                ),
            });
        }
        tau.fill(0.0);
        for (&dof, x) in actuated.iter().zip(&torques) {
            tau[dof] += x;
        }
        self.check_sides(qdd, tau)
    }

    /// An error where one-sided constraints make something else of the torques.
    fn check_sides(&mut self, qdd: &[f64], tau: &[f64]) -> Result<()> {
        let closed = self.closed;
        let Some(one) = closed.ties.iter().position(|tie| tie.side != Side::Both) else {
            return Ok(());
        };
        let mut gives = vec![0.0; qdd.len()];
        self.forward_dynamics(tau, &mut gives)?;
        let size = qdd.iter().chain(&gives).fold(1e-6, |m: f64, x| m.max(x.abs()));
        if qdd.iter().zip(&gives).all(|(a, b)| (a - b).abs() <= 1e-6 * size) {
            return Ok(());
        }
        let pulls = closed.ties.iter().position(|tie| {
            let one_sided = tie.side != Side::Both;
            one_sided && self.memory.gaps[tie.rows.start].abs() < TOUCHES && !self.memory.held[tie.rows.start]
        });
        Err(Error::Constraint {
            constraint: closed.constraints[pulls.unwrap_or(one)].name.clone(),
            problem: "it acts one way only, and would have to act the other way for the given accelerations".into(),
        })
    }

    /// An error that names the constraint which accelerations break most.
    fn check_consistent(&mut self, qdd: &[f64]) -> Result<()> {
        let (closed, nv) = (self.closed, self.closed.mechanism.nv());
        self.memory.fill_jacobian(closed, &mut self.tree);
        // What the constraints hold back is the measure where they leave little or nothing.
        let mut free = vec![0.0; nv];
        self.tree.run_free(&vec![0.0; nv], &mut free)?;
        let mut worst = (0.0, 0);
        for (i, tie) in closed.ties.iter().enumerate() {
            let still = tie.frames.map(|frame| self.tree.velocity_product(frame));
            for r in tie.rows.clone() {
                let row = &self.memory.rows[r];
                let numbers = &self.memory.jacobian[r * nv..(r + 1) * nv];
                let known = row.of(still[0], still[1]) + row.bias;
                let given = dot(numbers, qdd);
                let along = |s: f64, (j, (x, free)): (&f64, (&f64, &f64))| s + (j * x).abs() + (j * free).abs();
                let size = numbers.iter().zip(qdd.iter().zip(&free)).fold(1e-6, along) + known.abs();
                let parts = tie.side.sign() * (given + known) / size;
                if !self.memory.held[r] || parts > CONSISTENT {
                    // A one-sided constraint that lets go.
                    self.memory.held[r] = false;
                    continue;
                }
                let broken = (given + known).abs() / size;
                if broken > worst.0 {
                    worst = (broken, i);
                }
            }
        }
        if worst.0 <= CONSISTENT {
            return Ok(());
        }
        Err(Error::Constraint {
            constraint: closed.constraints[worst.1].name.clone(),
            problem: format!(
                "the given accelerations break it (by {:.1e} of their size); take them from forward dynamics, or project them",
                worst.0
            ),
        })
    }

    /// The velocity of a frame.
    pub fn velocity(
        &mut self,
        frame: impl Into<crate::model::FrameId>,
        reference: Reference,
    ) -> Result<crate::spatial::Motion> {
        self.tree.velocity(frame, reference)
    }

    /// Kinetic and potential energy.
    pub fn energy(&mut self) -> f64 {
        self.tree.kinetic_energy() + self.tree.potential_energy()
    }
}
