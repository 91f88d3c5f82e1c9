//! Operational space where motors drive some of the joints: floating bases, and links that stand on something.
//!
//! With links held still at Jc, the accelerations that torques τ at the driven joints make are
//!
//! ```text
//! q̈ = q̈₀ + P S*τ      P = 𝓜⁻¹ − 𝓜⁻¹Jc*(Jc𝓜⁻¹Jc*)⁺Jc𝓜⁻¹      S picks the driven joints
//! ```
//!
//! B = S P S* is what the driven joints move each other by, and A = J P S* what they move frames by. Torques B⁺A*F are those
//! of forces F at the frames that leave undriven joints alone, Ω = A B⁺A* is what frames make of them, and the posture is
//! B⁺ of its accelerations: the law of a robot that is driven everywhere, in which P = 𝓜⁻¹ and B⁺A* = J*. B is dense, of as
//! many rows as there are motors.

use super::operational::{FrameTask, Posture};
use super::priority::Priorities;
use crate::dense::{Semidefinite, add_scaled, dot};
use crate::model::{FrameId, Mechanism};
use crate::simulate::Now;
use crate::spatial::Reference;
use crate::workspace::Moving;
use crate::{Error, Result};

#[derive(Clone, Debug)]
pub(super) struct Partly {
    pub(super) driven: Vec<usize>,
    pub(super) supports: Vec<FrameId>,
    /// P, nv × nv.
    yields: Vec<f64>,
    /// Jc, 𝓜⁻¹Jc* as rows, and Jc𝓜⁻¹Jc*.
    held: Vec<f64>,
    moved: Vec<f64>,
    across: Vec<f64>,
    across_factor: Semidefinite,
    own: Vec<f64>,
    own_factor: Semidefinite,
    /// J of all tasks; A and AB⁺, 6ℓ × driven.
    jacobians: Vec<f64>,
    by_motors: Vec<f64>,
    solved: Vec<f64>,
    qdd: Vec<f64>,
    bias: Vec<f64>,
    rest: Vec<f64>,
    torques: Vec<f64>,
}

impl Partly {
    /// None where every joint is driven and nothing is held.
    pub(super) fn new(m: &Mechanism, tasks: usize, supports: Vec<FrameId>) -> Result<Option<Self>> {
        let driven = m.driven_dofs();
        if driven.len() == m.nv() && supports.is_empty() {
            return Ok(None);
        }
        if driven.is_empty() {
            return Err(Error::Unsolved {
                what: "operational-space control",
                problem: "no joint is driven; give the mechanism motors, as by `Mechanism::driven_by`".to_owned(),
            });
        }
        let (nv, motors, rows) = (m.nv(), driven.len(), 6 * supports.len());
        Ok(Some(Self {
            yields: vec![0.0; nv * nv],
            held: vec![0.0; rows * nv],
            moved: vec![0.0; rows * nv],
            across: vec![0.0; rows * rows],
            across_factor: Semidefinite::new(rows),
            own: vec![0.0; motors * motors],
            own_factor: Semidefinite::new(motors),
            jacobians: vec![0.0; 6 * tasks * nv],
            by_motors: vec![0.0; 6 * tasks * motors],
            solved: vec![0.0; 6 * tasks * motors],
            qdd: vec![0.0; nv],
            bias: vec![0.0; nv],
            rest: vec![0.0; rows],
            torques: vec![0.0; motors],
            driven,
            supports,
        }))
    }

    /// P and B, and q̈₀ of no torques.
    fn look(&mut self, moving: &mut Moving<'_>) -> Result<()> {
        let (nv, rows) = (self.qdd.len(), 6 * self.supports.len());
        moving.mass_matrix_inverse(&mut self.yields)?;
        self.bias.fill(0.0);
        // What the held links would do, to be undone.
        {
            let free = moving.with_torques(&self.bias, &mut self.qdd)?;
            for (i, frame) in self.supports.iter().enumerate() {
                let own = free.acceleration_of(*frame, Reference::Aligned).to_array();
                self.rest[6 * i..][..6].copy_from_slice(&own);
            }
        }
        if rows > 0 {
            for (i, frame) in self.supports.iter().enumerate() {
                moving.jacobian(*frame, Reference::Aligned, &mut self.held[6 * i * nv..][..6 * nv])?;
            }
            for (row, out) in self.held.chunks_exact(nv).zip(self.moved.chunks_exact_mut(nv)) {
                for (out, inverse) in out.iter_mut().zip(self.yields.chunks_exact(nv)) {
                    *out = dot(inverse, row);
                }
            }
            for i in 0..rows {
                for j in 0..rows {
                    self.across[i * rows + j] = dot(&self.held[i * nv..][..nv], &self.moved[j * nv..][..nv]);
                }
            }
            self.across_factor.factor(&self.across, 0.0);
            self.across_factor.solve(&mut self.rest[..rows]);
            for i in 0..rows {
                add_scaled(&mut self.qdd, -self.rest[i], &self.moved[i * nv..][..nv]);
            }
            for k in 0..nv {
                for i in 0..rows {
                    self.rest[i] = self.moved[i * nv + k];
                }
                self.across_factor.solve(&mut self.rest[..rows]);
                let column = &mut self.yields[k * nv..][..nv];
                for i in 0..rows {
                    add_scaled(column, -self.rest[i], &self.moved[i * nv..][..nv]);
                }
            }
        }
        let motors = self.driven.len();
        for (i, &a) in self.driven.iter().enumerate() {
            for (j, &b) in self.driven.iter().enumerate() {
                self.own[i * motors + j] = self.yields[a * nv + b];
            }
        }
        let largest = (0..motors).fold(0.0_f64, |most, i| most.max(self.own[i * motors + i]));
        self.own_factor.factor(&self.own, 1e-12 * largest);
        Ok(())
    }

    /// The torques of tasks and a posture.
    pub(super) fn torques(
        &mut self,
        tasks: &[FrameTask],
        posture: &mut Posture,
        priorities: &mut Priorities,
        singular: f64,
        (now, moving): (Now<'_>, &mut Moving<'_>),
        tau: &mut [f64],
    ) -> Result<()> {
        self.look(moving)?;
        let (nv, motors, rows) = (self.qdd.len(), self.driven.len(), 6 * tasks.len());
        posture.accelerations(moving.mechanism(), now)?;
        for (torque, &dof) in self.torques.iter_mut().zip(&self.driven) {
            *torque = posture.qdd[dof] - self.qdd[dof];
        }
        self.own_factor.solve(&mut self.torques);
        // q̈ of the posture's torques.
        for (torque, &dof) in self.torques.iter().zip(&self.driven) {
            add_scaled(&mut self.qdd, *torque, &self.yields[dof * nv..][..nv]);
        }
        for (task, out) in tasks.iter().zip(priorities.wanted.chunks_exact_mut(6)) {
            let (pose, velocity) = (
                moving.pose_of(task.frame),
                moving.velocity_of(task.frame, Reference::Aligned),
            );
            let w = task.quickness;
            let pull = task.target.pull(&pose, velocity, w * w, 2.0 * w);
            out.copy_from_slice(&pull.to_array());
        }
        let so = moving.with_accelerations(&self.qdd, &mut self.bias)?;
        for (task, out) in tasks.iter().zip(priorities.wanted.chunks_exact_mut(6)) {
            let own = so.acceleration_of(task.frame, Reference::Aligned).to_array();
            out.iter_mut().zip(own).for_each(|(out, own)| *out -= own);
        }
        for (i, task) in tasks.iter().enumerate() {
            moving.jacobian(
                task.frame,
                Reference::Aligned,
                &mut self.jacobians[6 * i * nv..][..6 * nv],
            )?;
        }
        for r in 0..rows {
            let row = &self.jacobians[r * nv..][..nv];
            let out = r * motors..(r + 1) * motors;
            for (x, &dof) in self.by_motors[out.clone()].iter_mut().zip(&self.driven) {
                *x = dot(row, &self.yields[dof * nv..][..nv]);
            }
            self.solved[out.clone()].copy_from_slice(&self.by_motors[out.clone()]);
            self.own_factor.solve(&mut self.solved[out]);
        }
        for r in 0..rows {
            for c in 0..rows {
                let (a, b) = (&self.by_motors[r * motors..], &self.solved[c * motors..]);
                priorities.compliance[r * rows + c] = dot(&a[..motors], &b[..motors]);
            }
        }
        priorities.solve(singular);
        for (force, row) in priorities.wanted.iter().zip(self.solved.chunks_exact(motors)) {
            add_scaled(&mut self.torques, *force, row);
        }
        tau.fill(0.0);
        for (torque, &dof) in self.torques.iter().zip(&self.driven) {
            tau[dof] = *torque;
        }
        Ok(())
    }
}
