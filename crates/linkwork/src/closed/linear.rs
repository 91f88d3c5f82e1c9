//! Linearized dynamics of a closed mechanism.
//!
//! Differentiate 𝓜q̈ + C = T + J*λ and Jq̈ + J̇q̇ = 0 at the q̈ and λ that solve them: with the residuals
//! δT = ∂(inverse dynamics under J*λ) and δg̈ = ∂(Jq̈ + J̇q̇), both from dual numbers at fixed q̈ and λ,
//! δq̈ solves the same system as q̈: free accelerations −𝓜⁻¹δT, then the multipliers that make up for δg̈.

use super::equation::{Equation, Row};
use super::{ClosedMechanism, Stabilisation};
use crate::Result;
use crate::dense::dot;
use crate::model::check_length;
use crate::scalar::Dual;
use crate::spatial::{Force, Reference};

/// The derivatives of q̈, each nv × nv row by row; those by q are in the tangent space.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedLinearization {
    /// q̈ itself.
    pub qdd: Vec<f64>,
    /// ∂q̈/∂q.
    pub by_q: Vec<f64>,
    /// ∂q̈/∂q̇.
    pub by_qd: Vec<f64>,
    /// ∂q̈/∂T: what the constraints leave of 𝓜⁻¹.
    pub by_tau: Vec<f64>,
}

impl ClosedMechanism {
    /// Forward dynamics and its derivatives, in O(n²). One-sided constraints count as equalities where they push, and not
    /// at all where they do not.
    pub fn linearize(&self, q: &[f64], qd: &[f64], tau: &[f64]) -> Result<ClosedLinearization> {
        let m = &self.mechanism;
        let nv = m.nv();
        check_length("qd", nv, qd.len())?;
        let mut workspace = self.workspace();
        let mut posed = workspace.at(q)?;
        let mut qdd = vec![0.0; nv];
        let lambda = posed.moving(qd)?.forward_dynamics(tau, &mut qdd)?.all().to_vec();
        let mut out = ClosedLinearization {
            by_q: vec![0.0; nv * nv],
            by_qd: vec![0.0; nv * nv],
            by_tau: vec![0.0; nv * nv],
            qdd,
        };
        posed.memory.fill_jacobian(self, &mut posed.tree);
        let jacobian = posed.memory.jacobian[..self.plan.rows * nv].to_vec();
        let is_rate: Vec<bool> = self.equations().map(Equation::is_rate).collect();
        let mut vary = Vary::new(self, [q, qd], &out.qdd, &lambda);
        let (mut torque, mut free) = (vec![0.0; nv], vec![0.0; nv]);
        for i in 0..nv {
            for (by, which) in [
                (&mut out.by_q, Variable::Configuration),
                (&mut out.by_qd, Variable::Velocity),
            ] {
                vary.residuals(which, i, &mut torque)?;
                torque.iter_mut().for_each(|x| *x = -*x);
                posed.tree.inverse_mass_times(&torque, &mut free)?;
                for (r, row) in jacobian.chunks_exact(nv).enumerate() {
                    let mut wanted = -(dot(row, &free) + vary.acceleration[r]);
                    if let Stabilisation::Baumgarte { frequency, damping } = self.stabilisation {
                        let has_gap = which == Variable::Configuration && !is_rate[r];
                        let gap = if has_gap { row[i] } else { 0.0 };
                        wanted -= frequency * (2.0 * damping * vary.rate[r] + frequency * gap);
                    }
                    posed.memory.lambda[r] = wanted;
                }
                posed.memory.resolve_held(self, &mut posed.tree)?;
                for (k, (free, change)) in free.iter().zip(&posed.memory.change).enumerate() {
                    by[k * nv + i] = free + change;
                }
            }
            torque.fill(0.0);
            torque[i] = 1.0;
            posed.tree.inverse_mass_times(&torque, &mut free)?;
            posed.memory.keep_held(self, &mut posed.tree, &mut free)?;
            for (k, x) in free.iter().enumerate() {
                out.by_tau[k * nv + i] = *x;
            }
        }
        Ok(out)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Variable {
    Configuration,
    Velocity,
}

type Number = Dual<f64>;

/// The residuals of the equations of motion as one coordinate varies.
struct Vary<'a> {
    closed: &'a ClosedMechanism,
    workspace: crate::Workspace<Number>,
    q: Vec<Number>,
    qd: Vec<Number>,
    qdd: Vec<Number>,
    lambda: &'a [f64],
    rows: Vec<Row<Number>>,
    step: Vec<Number>,
    moved: Vec<Number>,
    tau: Vec<Number>,
    /// The derivatives of every row's g̈ and ġ.
    acceleration: Vec<f64>,
    rate: Vec<f64>,
}

impl<'a> Vary<'a> {
    fn new(closed: &'a ClosedMechanism, [q, qd]: [&[f64]; 2], qdd: &[f64], lambda: &'a [f64]) -> Self {
        let constant = |x: &[f64]| x.iter().map(|&x| Number::constant(x)).collect::<Vec<_>>();
        let (nv, rows) = (closed.mechanism.nv(), closed.plan.rows);
        Self {
            closed,
            workspace: closed.mechanism.workspace_of(),
            q: constant(q),
            qd: constant(qd),
            qdd: constant(qdd),
            lambda,
            rows: vec![Row::default(); rows],
            step: constant(&vec![0.0; nv]),
            moved: constant(q),
            tau: constant(&vec![0.0; nv]),
            acceleration: vec![0.0; rows],
            rate: vec![0.0; rows],
        }
    }

    fn residuals(&mut self, which: Variable, i: usize, torque: &mut [f64]) -> Result<()> {
        let closed = self.closed;
        let by_velocity = f64::from(u8::from(which == Variable::Velocity));
        self.step[i].derivative = 1.0 - by_velocity;
        self.qd[i].derivative = by_velocity;
        closed.mechanism.integrate(&self.q, &self.step, &mut self.moved)?;
        let mut posed = self.workspace.at(&self.moved)?;
        for (tie, setting) in closed.ties.iter().zip(closed.settings.iter()) {
            let [a, b] = tie.frames.map(|frame| posed.pose_of(frame));
            let rows = &mut self.rows[tie.rows.clone()];
            tie.place(setting, &a, &b, rows);
            for (side, &frame) in tie.frames.iter().enumerate() {
                let each = rows.iter().zip(&self.lambda[tie.rows.clone()]);
                let force = each.fold(Force::ZERO, |sum, (row, lambda)| {
                    row.on(side).mul_add(Number::constant(*lambda), sum)
                });
                posed.apply_force(frame, Reference::Aligned, force)?;
            }
        }
        let mut moving = posed.moving(&self.qd)?;
        for (tie, setting) in closed.ties.iter().zip(closed.settings.iter()) {
            let [a, b] = tie.frames.map(|frame| moving.pose_of(frame));
            let [va, vb] = tie.frames.map(|frame| moving.velocity_of(frame, Reference::Aligned));
            let rows = &mut self.rows[tie.rows.clone()];
            tie.set_in_motion(setting, (&a, va), (&b, vb), rows);
            for (row, rate) in rows.iter().zip(&mut self.rate[tie.rows.clone()]) {
                *rate = row.rate(va, vb).derivative;
            }
        }
        let accelerating = moving.with_accelerations(&self.qdd, &mut self.tau)?;
        for tie in closed.ties.iter() {
            let [a, b] = tie
                .frames
                .map(|frame| accelerating.acceleration_of(frame, Reference::Aligned));
            for r in tie.rows.clone() {
                self.acceleration[r] = (self.rows[r].of(a, b) + self.rows[r].bias).derivative;
            }
        }
        for (out, tau) in torque.iter_mut().zip(&self.tau) {
            *out = tau.derivative;
        }
        self.step[i].derivative = 0.0;
        self.qd[i].derivative = 0.0;
        Ok(())
    }
}
