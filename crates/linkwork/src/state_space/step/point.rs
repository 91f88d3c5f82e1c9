//! q̈ and its derivatives at a state, with what the joints do by themselves and forces from outside.

use super::super::{ExternalForce, external_force};
use crate::model::Mechanism;
use crate::simulate::PassiveForces;
use crate::workspace::Derivatives;
use crate::{Result, Workspace};

/// q̈ and its derivatives at a state.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) mechanism: Mechanism,
    pub(super) resistance: PassiveForces,
    workspace: Workspace,
    pub(super) derivatives: Derivatives,
    pub(super) by_q: Vec<f64>,
    pub(super) by_v: Vec<f64>,
    stiff: Vec<f64>,
    damp: Vec<f64>,
    torque: Vec<f64>,
    jacobian: Vec<f64>,
}

impl Point {
    pub(super) fn new(mechanism: &Mechanism, resistance: PassiveForces) -> Self {
        let n = mechanism.nv();
        Self {
            mechanism: mechanism.clone(),
            resistance,
            workspace: mechanism.workspace(),
            derivatives: mechanism.derivatives(),
            by_q: vec![0.0; n * n],
            by_v: vec![0.0; n * n],
            stiff: vec![0.0; n * n],
            damp: vec![0.0; n],
            torque: vec![0.0; n],
            jacobian: vec![0.0; 6 * n],
        }
    }

    /// q̈ under torques, what the joints do by themselves, and forces; and its derivatives by q, q̇ and T.
    pub(super) fn linearize(
        &mut self,
        q: &[f64],
        v: &[f64],
        tau: &[f64],
        forces: &[ExternalForce],
        vd: &mut [f64],
    ) -> Result<()> {
        let n = v.len();
        self.torque.copy_from_slice(tau);
        let resists = self.resistance.is_any();
        if resists {
            self.resistance.add(q, v, &mut self.torque)?;
        }
        let mut posed = self.workspace.at(q)?;
        external_force::act(forces, &mut posed)?;
        if resists || !forces.is_empty() {
            self.resistance.derivatives(q, v, &mut self.stiff, &mut self.damp)?;
            external_force::add_derivatives(forces, &mut posed, &mut self.jacobian, &mut self.stiff)?;
        }
        let mut moving = posed.moving(v)?;
        let mut linearized = moving.linearized_under(&self.torque, vd)?;
        linearized.forward_derivatives(&mut self.derivatives)?;
        self.by_q.copy_from_slice(self.derivatives.by_q());
        self.by_v.copy_from_slice(self.derivatives.by_qd());
        if !resists && forces.is_empty() {
            return Ok(());
        }
        // 𝓜⁻¹ ∂T/∂q and 𝓜⁻¹ ∂T/∂q̇, whose rows are mostly short.
        let inverse = self.derivatives.by_input();
        for (k, row) in self.stiff.chunks_exact(n).enumerate() {
            let Some(first) = row.iter().position(|x| *x != 0.0) else {
                continue;
            };
            let last = n - row.iter().rev().position(|x| *x != 0.0).unwrap_or(0);
            for i in 0..n {
                let weight = inverse[i * n + k];
                let out = &mut self.by_q[i * n + first..i * n + last];
                out.iter_mut()
                    .zip(&row[first..last])
                    .for_each(|(y, x)| *y += weight * x);
            }
        }
        for (by_v, inverse) in self.by_v.chunks_exact_mut(n).zip(inverse.chunks_exact(n)) {
            for ((by_v, weight), damp) in by_v.iter_mut().zip(inverse).zip(&self.damp) {
                *by_v += weight * damp;
            }
        }
        Ok(())
    }
}
