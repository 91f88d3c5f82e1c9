//! The derivatives of one step of an integrator, by the chain rule through those of q̈.
//!
//! A stage at q ⊕ u and v has q̈ = f(q ⊕ u, v, T), and answers a change (δq, δv, δT) of the step's start by
//!
//! ```text
//! δu, δv   the method's sums of what the stages before answered
//! ∂q       = e^(−ad u) δq + J(u) δu          where the joint is then: J = (1 − e^(−ad u)) / ad u
//! δv̇       = F_q ∂q + F_v δv + 𝓜⁻¹ δT
//! δu̇       = J(u)⁻¹ δv + ∂(J⁻¹v)/∂u δu
//! ```
//!
//! J and e^(−ad u) are the identity for every joint but spherical, free and planar ones.

mod midpoint;
mod point;
#[cfg(test)]
mod tests;

use super::matrix_product::{AddProduct, padded};
use super::{ExternalForce, Method};
use crate::dense::Lu;
use crate::model::{JointKind, Mechanism};
use crate::scalar::Dual;
use crate::simd::Instructions;
use crate::simulate::{A3, A4, A5, A6, A7, Dynamics, ImplicitMidpoint, PassiveForces, State, check_step};
use crate::{Error, Result};
use core::ops::Range;
use midpoint::Held;
use point::Point;

/// One step of an integrator as a linear map: how its end answers changes of its start, exactly.
///
/// All memory is allocated by [`StepDerivatives::new`].
///
/// ```
/// use linkwork::model::examples;
/// use linkwork::state_space::{Method, StepDerivatives};
/// let arm = examples::arm7();
/// let mut step = StepDerivatives::new(&arm, Method::RungeKutta4, 0.01)?;
/// step.at(&[0.3; 7], &[0.1; 7], &[0.0; 7], &[])?;
/// assert_eq!(step.by_state().len(), 14 * 14);     // ∂(q⁺, q̇⁺)/∂(q, q̇), in the tangent spaces at both ends
/// assert_eq!(step.by_torque().len(), 14 * 7);
/// assert_eq!(step.q().len(), 7);                  // and where the step leads
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Debug)]
pub struct StepDerivatives {
    method: Method,
    h: f64,
    /// Numbers of a row of sensitivities: by q, by q̇, by T, and padding.
    width: usize,
    point: Point,
    curved: Vec<Curved>,
    instructions: Instructions,
    /// How u̇ and v̇ of every stage answer, and their values.
    answers: Vec<Stage>,
    /// How u, v and q of the present stage answer.
    du: Vec<f64>,
    dv: Vec<f64>,
    dq: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
    q: Vec<f64>,
    start: Vec<f64>,
    few: Vec<f64>,
    matrix: Lu,
    simulated: Option<(Dynamics<Held>, ImplicitMidpoint, State)>,
    by_state: Vec<f64>,
    by_torque: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Stage {
    ud: Vec<f64>,
    vd: Vec<f64>,
    by_ud: Vec<f64>,
    by_vd: Vec<f64>,
}

/// A joint whose steps do not commute.
#[derive(Clone, Debug)]
struct Curved {
    name: String,
    kind: JointKind,
    v: Range<usize>,
}

/// The weights of the stages before each stage, and those of the result.
type Tableau = (&'static [&'static [f64]], &'static [f64]);
pub(super) const CLASSICAL: Tableau = (
    &[&[], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
    &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
);
pub(super) const DORMAND_PRINCE: Tableau = (&[&[], &[0.2], &A3, &A4, &A5, &A6], &A7);

impl StepDerivatives {
    /// Memory for steps of a method, with the springs, dampers and friction of the joints.
    pub fn new(mechanism: &Mechanism, method: Method, h: f64) -> Result<Self> {
        check_step(h)?;
        let (nq, nv) = (mechanism.nq(), mechanism.nv());
        let width = padded(3 * nv);
        let stages = match method {
            Method::SemiImplicitEuler | Method::ImplicitMidpoint => 1,
            Method::RungeKutta4 => CLASSICAL.0.len(),
            Method::DormandPrince => DORMAND_PRINCE.0.len(),
        };
        let stage = Stage {
            ud: vec![0.0; nv],
            vd: vec![0.0; nv],
            by_ud: vec![0.0; nv * width],
            by_vd: vec![0.0; nv * width],
        };
        let curved = |(joint, _, v): (&crate::model::Joint, _, _)| {
            let (name, kind) = (joint.name.clone(), joint.kind);
            kind.is_curved().then_some(Curved { name, kind, v })
        };
        Ok(Self {
            method,
            h,
            width,
            point: Point::new(mechanism, PassiveForces::passive(mechanism)),
            curved: mechanism.independent().filter_map(curved).collect(),
            instructions: Instructions::detect(),
            answers: vec![stage; stages],
            du: vec![0.0; nv * width],
            dv: vec![0.0; nv * width],
            dq: vec![0.0; nv * width],
            u: vec![0.0; nv],
            v: vec![0.0; nv],
            q: vec![0.0; nq],
            start: vec![0.0; nq],
            few: vec![0.0; 6 * width],
            matrix: Lu::new(if method == Method::ImplicitMidpoint { nv } else { 0 }),
            simulated: None,
            by_state: vec![0.0; 4 * nv * nv],
            by_torque: vec![0.0; 2 * nv * nv],
        })
    }

    /// Against another resistance, such as one that is softened for steps of that length. Stops are left out.
    pub fn against(mut self, resistance: &PassiveForces) -> Result<Self> {
        resistance.check(&self.point.mechanism)?;
        self.point.resistance = resistance.clone().without_stops();
        self.simulated = None;
        Ok(self)
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        &self.point.mechanism
    }

    /// ∂(q⁺, q̇⁺)/∂(q, q̇) of the last step, 2nv × 2nv.
    pub fn by_state(&self) -> &[f64] {
        &self.by_state
    }

    /// ∂(q⁺, q̇⁺)/∂T, 2nv × nv.
    pub fn by_torque(&self) -> &[f64] {
        &self.by_torque
    }

    /// q⁺.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// q̇⁺.
    pub fn qd(&self) -> &[f64] {
        &self.v
    }

    /// Takes a step from a state under torques and forces that are held, with its derivatives.
    pub fn at(&mut self, q: &[f64], qd: &[f64], tau: &[f64], forces: &[ExternalForce]) -> Result<()> {
        let m = &self.point.mechanism;
        m.check_configuration("q", q)?;
        m.check_vector("qd", qd)?;
        m.check_vector("tau", tau)?;
        self.start.copy_from_slice(q);
        if qd.is_empty() {
            return Ok(());
        }
        match self.method {
            Method::SemiImplicitEuler => self.semi_implicit(qd, tau, forces)?,
            Method::RungeKutta4 => self.runge_kutta(CLASSICAL, qd, tau, forces)?,
            Method::DormandPrince => self.runge_kutta(DORMAND_PRINCE, qd, tau, forces)?,
            Method::ImplicitMidpoint => self.implicit_midpoint(qd, tau, forces)?,
        }
        self.hand_out();
        Ok(())
    }

    /// v⁺ = v + h v̇, q⁺ = q ⊕ h v⁺.
    fn semi_implicit(&mut self, qd: &[f64], tau: &[f64], forces: &[ExternalForce]) -> Result<()> {
        let (n, h) = (qd.len(), self.h);
        self.point
            .linearize(&self.start, qd, tau, forces, &mut self.answers[0].vd)?;
        self.first_answer();
        for i in 0..n {
            self.v[i] = qd[i] + h * self.answers[0].vd[i];
            self.u[i] = h * self.v[i];
        }
        self.dv
            .iter_mut()
            .zip(&self.answers[0].by_vd)
            .for_each(|(dv, x)| *dv = h * x);
        self.add_identity(n);
        self.du.iter_mut().zip(&self.dv).for_each(|(du, dv)| *du = h * dv);
        self.arrive();
        Ok(())
    }

    fn runge_kutta(
        &mut self,
        (before, last): Tableau,
        qd: &[f64],
        tau: &[f64],
        forces: &[ExternalForce],
    ) -> Result<()> {
        for (i, weights) in before.iter().enumerate() {
            self.mix(qd, weights);
            if i == 0 {
                self.point
                    .linearize(&self.start, qd, tau, forces, &mut self.answers[0].vd)?;
                self.answers[0].ud.copy_from_slice(qd);
                self.first_answer();
                continue;
            }
            self.arrive();
            self.point
                .linearize(&self.q, &self.v, tau, forces, &mut self.answers[i].vd)?;
            self.answer(i);
            self.chart_rates(i)?;
        }
        self.mix(qd, last);
        self.arrive();
        Ok(())
    }

    /// u = h Σ w u̇ and v = v₀ + h Σ w v̇, and how they answer.
    fn mix(&mut self, qd: &[f64], weights: &[f64]) {
        self.u.fill(0.0);
        self.v.copy_from_slice(qd);
        self.du.fill(0.0);
        self.dv.fill(0.0);
        for (stage, weight) in self.answers.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
            let w = self.h * weight;
            for (sum, x) in [
                (&mut self.u, &stage.ud),
                (&mut self.v, &stage.vd),
                (&mut self.du, &stage.by_ud),
                (&mut self.dv, &stage.by_vd),
            ] {
                sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += w * x);
            }
        }
        self.add_identity(qd.len());
    }

    /// dv += ∂v/∂v.
    fn add_identity(&mut self, n: usize) {
        (0..n).for_each(|i| self.dv[i * self.width + n + i] += 1.0);
    }

    /// The first stage is at the start: δu̇ = δv, δv̇ = F_q δq + F_v δv + 𝓜⁻¹δT.
    fn first_answer(&mut self) {
        let (n, width, stage) = (self.v.len(), self.width, &mut self.answers[0]);
        stage.by_ud.fill(0.0);
        let inverse = self.point.derivatives.by_input();
        for i in 0..n {
            stage.by_ud[i * width + n + i] = 1.0;
            let row = &mut stage.by_vd[i * width..][..3 * n];
            let own = i * n..(i + 1) * n;
            row[..n].copy_from_slice(&self.point.by_q[own.clone()]);
            row[n..2 * n].copy_from_slice(&self.point.by_v[own.clone()]);
            row[2 * n..].copy_from_slice(&inverse[own]);
        }
    }

    /// q ⊕ u, and how it answers: e^(−ad u) δq + J δu.
    fn arrive(&mut self) {
        let (n, width) = (self.v.len(), self.width);
        self.point
            .mechanism
            .integrate_unchecked(&self.start, &self.u, &mut self.q);
        self.dq.copy_from_slice(&self.du);
        (0..n).for_each(|i| self.dq[i * width + i] += 1.0);
        for joint in &self.curved {
            let (u, at) = (&self.u[joint.v.clone()], joint.v.start);
            let mean = block(u.len(), |x| joint.kind.chart_velocity(u, x));
            let carried = block(u.len(), |x| joint.kind.carried(u, x));
            self.few.fill(0.0);
            add_block(&mean, u.len(), &self.du[at * width..], &mut self.few, width);
            self.dq[at * width..][..u.len() * width].copy_from_slice(&self.few[..u.len() * width]);
            for i in 0..u.len() {
                for k in 0..u.len() {
                    self.dq[(at + i) * width + at + k] += carried[k][i];
                }
            }
        }
    }

    /// δv̇ = F_q ∂q + F_v δv + 𝓜⁻¹δT.
    fn answer(&mut self, stage: usize) {
        let (n, width) = (self.v.len(), self.width);
        let out = &mut self.answers[stage].by_vd[..];
        let inverse = self.point.derivatives.by_input();
        for i in 0..n {
            let row = &mut out[i * width..(i + 1) * width];
            row.fill(0.0);
            row[2 * n..3 * n].copy_from_slice(&inverse[i * n..(i + 1) * n]);
        }
        for (a, b) in [(&self.point.by_q, &self.dq), (&self.point.by_v, &self.dv)] {
            let (inner, out) = (n, &mut *out);
            self.instructions.perform::<f64, _>(AddProduct {
                inner,
                a,
                b,
                width,
                out,
            });
        }
    }

    /// u̇ of a stage, and how it answers.
    fn chart_rates(&mut self, stage: usize) -> Result<()> {
        let (width, stage) = (self.width, &mut self.answers[stage]);
        stage.ud.copy_from_slice(&self.v);
        stage.by_ud.copy_from_slice(&self.dv);
        for joint in &self.curved {
            let (n, at) = (joint.v.len(), joint.v.start);
            let u = &self.u[joint.v.clone()];
            if !joint.kind.chart_rate(u, &mut stage.ud[joint.v.clone()]) {
                return Err(Error::Joint {
                    joint: joint.name.clone(),
                    problem: "turns almost a whole circle in one step; take a shorter step".into(),
                });
            }
            let inverse = block(n, |x| {
                joint.kind.chart_rate(u, x);
            });
            let mut bent = [[0.0; 6]; 6];
            for (k, column) in bent.iter_mut().enumerate().take(n) {
                let (mut at, mut v) = ([Dual::constant(0.0); 6], [Dual::constant(0.0); 6]);
                for i in 0..n {
                    at[i] = Dual::new(u[i], f64::from(u8::from(i == k)));
                    v[i] = Dual::constant(self.v[joint.v.start + i]);
                }
                joint.kind.chart_rate(&at[..n], &mut v[..n]);
                column.iter_mut().zip(v).for_each(|(x, v)| *x = v.derivative);
            }
            self.few.fill(0.0);
            add_block(&inverse, n, &self.dv[at * width..], &mut self.few, width);
            add_block(&bent, n, &self.du[at * width..], &mut self.few, width);
            stage.by_ud[at * width..][..n * width].copy_from_slice(&self.few[..n * width]);
        }
        Ok(())
    }

    /// From rows of sensitivities to the two matrices.
    fn hand_out(&mut self) {
        let (n, width) = (self.v.len(), self.width);
        for (half, rows) in [&self.dq, &self.dv].into_iter().enumerate() {
            for i in 0..n {
                let row = &rows[i * width..][..3 * n];
                let at = half * n + i;
                self.by_state[at * 2 * n..][..2 * n].copy_from_slice(&row[..2 * n]);
                self.by_torque[at * n..][..n].copy_from_slice(&row[2 * n..]);
            }
        }
    }
}

/// The columns of a linear map of n numbers.
fn block(n: usize, map: impl Fn(&mut [f64])) -> [[f64; 6]; 6] {
    let mut columns = [[0.0; 6]; 6];
    for (k, column) in columns.iter_mut().enumerate().take(n) {
        column[k] = 1.0;
        map(&mut column[..n]);
    }
    columns
}

/// `out` += the map times n rows.
fn add_block(columns: &[[f64; 6]; 6], n: usize, rows: &[f64], out: &mut [f64], width: usize) {
    for (out, i) in out.chunks_exact_mut(width).zip(0..n) {
        for (row, column) in rows.chunks_exact(width).zip(&columns[..n]) {
            out.iter_mut().zip(row).for_each(|(y, x)| *y += column[i] * x);
        }
    }
}
