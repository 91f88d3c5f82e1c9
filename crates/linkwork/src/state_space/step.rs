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

use super::product::{AddProduct, padded};
use super::{Method, Push, push};
use crate::dense::Lu;
use crate::model::{JointKind, Mechanism};
use crate::scalar::Dual;
use crate::simd::Instructions;
use crate::simulate::{
    A3, A4, A5, A6, A7, Drive, Dynamics, ImplicitMidpoint, Integrator, Now, PassiveForces, State, check_step,
};
use crate::workspace::{Derivatives, Moving};
use crate::{Error, Result, Workspace};
use core::ops::Range;

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

/// q̈ and its derivatives at a state.
#[derive(Debug)]
struct Point {
    mechanism: Mechanism,
    resistance: PassiveForces,
    workspace: Workspace,
    derivatives: Derivatives,
    by_q: Vec<f64>,
    by_v: Vec<f64>,
    stiff: Vec<f64>,
    damp: Vec<f64>,
    torque: Vec<f64>,
    jacobian: Vec<f64>,
}

/// Torques and pushes that stay as they are.
#[derive(Debug, Default)]
struct Held {
    tau: Vec<f64>,
    pushes: Vec<Push>,
}

impl Drive for Held {
    fn drive(&mut self, _: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        tau.copy_from_slice(&self.tau);
        push::act(&self.pushes, moving)
    }
}

/// The weights of the stages before each stage, and those of the result.
type Tableau = (&'static [&'static [f64]], &'static [f64]);
pub(super) const CLASSICAL: Tableau = (
    &[&[], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
    &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
);
pub(super) const DORMAND_PRINCE: Tableau = (&[&[], &[0.2], &A3, &A4, &A5, &A6], &A7);

const ITERATIONS: usize = 20;

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

    /// Takes a step from a state under torques and pushes that are held, with its derivatives.
    pub fn at(&mut self, q: &[f64], qd: &[f64], tau: &[f64], pushes: &[Push]) -> Result<()> {
        let m = &self.point.mechanism;
        m.check_configuration("q", q)?;
        m.check_vector("qd", qd)?;
        m.check_vector("tau", tau)?;
        self.start.copy_from_slice(q);
        if qd.is_empty() {
            return Ok(());
        }
        match self.method {
            Method::SemiImplicitEuler => self.semi_implicit(qd, tau, pushes)?,
            Method::RungeKutta4 => self.runge_kutta(CLASSICAL, qd, tau, pushes)?,
            Method::DormandPrince => self.runge_kutta(DORMAND_PRINCE, qd, tau, pushes)?,
            Method::ImplicitMidpoint => self.implicit_midpoint(qd, tau, pushes)?,
        }
        self.hand_out();
        Ok(())
    }

    /// v⁺ = v + h v̇, q⁺ = q ⊕ h v⁺.
    fn semi_implicit(&mut self, qd: &[f64], tau: &[f64], pushes: &[Push]) -> Result<()> {
        let (n, h) = (qd.len(), self.h);
        self.point
            .linearize(&self.start, qd, tau, pushes, &mut self.answers[0].vd)?;
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

    fn runge_kutta(&mut self, (before, last): Tableau, qd: &[f64], tau: &[f64], pushes: &[Push]) -> Result<()> {
        for (i, weights) in before.iter().enumerate() {
            self.mix(qd, weights);
            if i == 0 {
                self.point
                    .linearize(&self.start, qd, tau, pushes, &mut self.answers[0].vd)?;
                self.answers[0].ud.copy_from_slice(qd);
                self.first_answer();
                continue;
            }
            self.arrive();
            self.point
                .linearize(&self.q, &self.v, tau, pushes, &mut self.answers[i].vd)?;
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

    /// w = v + ½h v̇(q ⊕ ½h w, w), then q⁺ = q ⊕ h w and v⁺ = 2w − v.
    fn implicit_midpoint(&mut self, qd: &[f64], tau: &[f64], pushes: &[Push]) -> Result<()> {
        let (n, h, width) = (qd.len(), self.h, self.width);
        self.v.copy_from_slice(qd);
        if !self.newton(qd, tau, pushes).unwrap_or(false) {
            self.simulate_middle(qd, tau, pushes)?;
            if !self.middle(tau, pushes)? {
                return Err(no_solution());
            }
        }
        // (I − ½hF_v − ¼h²F_qJ) δw = ½hF_q e^(−ad u) δq + δv + ½h𝓜⁻¹δT.
        self.du.fill(0.0);
        self.arrive();
        self.dv.fill(0.0);
        let (b, out) = (&self.dq[..], &mut self.dv[..]);
        let (inner, a) = (n, &self.point.by_q[..]);
        self.instructions.perform::<f64, _>(AddProduct {
            inner,
            a,
            b,
            width,
            out,
        });
        let inverse = self.point.derivatives.by_input();
        for i in 0..n {
            self.dv[i * width + 2 * n..][..n].copy_from_slice(&inverse[i * n..(i + 1) * n]);
        }
        self.dv.iter_mut().for_each(|x| *x *= 0.5 * h);
        self.add_identity(n);
        self.matrix.solve_rows(&mut self.dv, width);
        for (u, w) in self.u.iter_mut().zip(&self.v) {
            *u = h * w;
        }
        for (joint, u) in self.curved.iter().map(|j| (j, &self.u[j.v.clone()])) {
            if !joint.kind.chart_rate(u, &mut [0.0; 6][..u.len()]) {
                return Err(no_solution());
            }
        }
        self.du.iter_mut().zip(&self.dv).for_each(|(du, dw)| *du = h * dw);
        self.arrive();
        for (v, before) in self.v.iter_mut().zip(qd) {
            *v = 2.0 * *v - before;
        }
        self.dv.iter_mut().for_each(|x| *x *= 2.0);
        (0..n).for_each(|i| self.dv[i * width + n + i] -= 1.0);
        Ok(())
    }

    /// Newton's method for w, with the exact matrix, which it leaves behind. False if it does not converge.
    fn newton(&mut self, qd: &[f64], tau: &[f64], pushes: &[Push]) -> Result<bool> {
        let (h, mut before) = (self.h, f64::INFINITY);
        for _ in 0..ITERATIONS {
            if !self.middle(tau, pushes)? {
                return Ok(false);
            }
            let rates = &mut self.answers[0].vd;
            for ((x, v), w) in rates.iter_mut().zip(qd).zip(&self.v) {
                *x = v + 0.5 * h * *x - w;
            }
            self.matrix.solve(rates);
            let mut size = 0.0_f64;
            for (w, step) in self.v.iter_mut().zip(&*rates) {
                size = size.max(step.abs() / w.abs().max(1.0));
                *w += step;
            }
            // Once more at the solution, for its matrix.
            if size <= 1e-9 && (size <= 4e-15 || size >= 0.1 * before) {
                return self.middle(tau, pushes);
            }
            if size.is_nan() || size >= before.max(1e3) {
                return Ok(false);
            }
            before = size;
        }
        Ok(false)
    }

    /// v̇ at the middle with velocity w, and the factors of I − ½hF_v − ¼h²F_qJ. False if there are none.
    fn middle(&mut self, tau: &[f64], pushes: &[Push]) -> Result<bool> {
        let (n, h) = (self.v.len(), self.h);
        for (u, w) in self.u.iter_mut().zip(&self.v) {
            *u = 0.5 * h * w;
        }
        self.point
            .mechanism
            .integrate_unchecked(&self.start, &self.u, &mut self.q);
        self.point
            .linearize(&self.q, &self.v, tau, pushes, &mut self.answers[0].vd)?;
        let (matrix, quarter) = (self.matrix.matrix(), 0.25 * h * h);
        for (i, (x, (by_q, by_v))) in matrix
            .iter_mut()
            .zip(self.point.by_q.iter().zip(&self.point.by_v))
            .enumerate()
        {
            *x = f64::from(u8::from(i % (n + 1) == 0)) - 0.5 * h * by_v - quarter * by_q;
        }
        for joint in &self.curved {
            let u = &self.u[joint.v.clone()];
            let mean = block(u.len(), |x| joint.kind.chart_velocity(u, x));
            for i in 0..n {
                let row = i * n + joint.v.start;
                for (k, column) in mean.iter().enumerate().take(u.len()) {
                    let by_q = &self.point.by_q[row..row + u.len()];
                    let turned: f64 = by_q.iter().zip(column).map(|(a, b)| a * b).sum();
                    matrix[row + k] += quarter * (by_q[k] - turned);
                }
            }
        }
        Ok(self.matrix.factor())
    }

    /// w by the simulator's own step, which is slower and gives up later.
    fn simulate_middle(&mut self, qd: &[f64], tau: &[f64], pushes: &[Push]) -> Result<()> {
        let m = &self.point.mechanism;
        let (equations, integrator, state) = self.simulated.get_or_insert_with(|| {
            (
                Dynamics::with(m, Held::default(), self.point.resistance.clone()),
                ImplicitMidpoint::new(m),
                State::at_rest(m, &m.neutral()),
            )
        });
        equations.drive().tau.clear();
        equations.drive().tau.extend_from_slice(tau);
        equations.drive().pushes.clear();
        equations.drive().pushes.extend_from_slice(pushes);
        state.t = 0.0;
        state.q.copy_from_slice(&self.start);
        state.v.copy_from_slice(qd);
        integrator.step(equations, state, self.h)?;
        for (w, (before, after)) in self.v.iter_mut().zip(qd.iter().zip(&state.v)) {
            *w = 0.5 * (before + after);
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

impl Point {
    fn new(mechanism: &Mechanism, resistance: PassiveForces) -> Self {
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

    /// q̈ under torques, what the joints do by themselves, and pushes; and its derivatives by q, q̇ and T.
    fn linearize(&mut self, q: &[f64], v: &[f64], tau: &[f64], pushes: &[Push], vd: &mut [f64]) -> Result<()> {
        let n = v.len();
        self.torque.copy_from_slice(tau);
        let resists = self.resistance.is_any();
        if resists {
            self.resistance.add(q, v, &mut self.torque)?;
        }
        let mut posed = self.workspace.at(q)?;
        push::act(pushes, &mut posed)?;
        if resists || !pushes.is_empty() {
            self.resistance.derivatives(q, v, &mut self.stiff, &mut self.damp)?;
            push::add_derivatives(pushes, &mut posed, &mut self.jacobian, &mut self.stiff)?;
        }
        let mut moving = posed.moving(v)?;
        let mut linearized = moving.linearized_under(&self.torque, vd)?;
        linearized.forward_derivatives(&mut self.derivatives)?;
        self.by_q.copy_from_slice(self.derivatives.by_q());
        self.by_v.copy_from_slice(self.derivatives.by_qd());
        if !resists && pushes.is_empty() {
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

fn no_solution() -> Error {
    Error::Step {
        t: 0.0,
        problem: "the implicit equations of this step have no solution nearby; take shorter steps".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::OperatingPoint;
    use super::super::dual_step::Stepper;
    use super::*;
    use crate::Reference;
    use crate::model::{Coupling, Joint, Link, examples};
    use crate::spatial::{Force, Inertia};

    /// Every kind of joint with springs, dampers and friction, and joints that follow others.
    fn every_kind() -> Mechanism {
        let mut robot = Mechanism::builder("every kind");
        for name in ["a", "b", "c", "d", "e", "f", "g"] {
            robot = robot.link(Link::new(name, Inertia::cuboid(1.0, [0.2, 0.3, 0.4])));
        }
        robot
            .joint(Joint::free("float").between("world", "a"))
            .joint(
                Joint::spherical("ball")
                    .between("a", "b")
                    .at([0.1, 0.3, -0.2])
                    .damping(0.2),
            )
            .joint(Joint::planar("slide").between("b", "c").at([0.3, 0.1, 0.2]))
            .joint(
                Joint::revolute("lead", [0.0, 1.0, 0.0])
                    .between("c", "d")
                    .at([0.0, 0.1, 0.4])
                    .spring(3.0, &[0.2]),
            )
            .joint(
                Joint::revolute("follow", [1.0, 0.0, 0.0])
                    .between("d", "e")
                    .at([0.2, 0.1, 0.4]),
            )
            .joint(
                Joint::prismatic("rail", [0.0, 0.6, 0.8])
                    .between("a", "f")
                    .friction(0.3),
            )
            .joint(
                Joint::universal("cross", [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
                    .between("f", "g")
                    .at([0.2, 0.0, 0.3]),
            )
            .couple(Coupling::polynomial("follow", "lead", vec![0.1, -0.5, 0.3]))
            .build()
            .unwrap()
    }

    fn compare(m: &Mechanism, point: &OperatingPoint, method: Method, h: f64) {
        let n = m.nv();
        let mut step = StepDerivatives::new(m, method, h).unwrap();
        step.at(&point.q, &point.qd, &point.tau, &point.pushes).unwrap();
        let mut oracle = Stepper::new(m, point, &PassiveForces::passive(m), method, h).unwrap();
        oracle.prepare().unwrap();
        for j in 0..3 * n {
            let mut change = vec![0.0; 3 * n];
            change[j] = 1.0;
            let column = oracle.step(&change).unwrap();
            let size = column.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            for (i, x) in column.iter().enumerate() {
                let own = if j < 2 * n {
                    step.by_state()[i * 2 * n + j]
                } else {
                    step.by_torque()[i * n + j - 2 * n]
                };
                assert!(
                    (own - x).abs() < 1e-10 * size,
                    "{} {method:?} [{i}, {j}]: {own} {x}",
                    m.name()
                );
            }
        }
    }

    #[test]
    fn the_chain_rule_agrees_with_dual_numbers() {
        let robots = [
            examples::double_pendulum(),
            examples::arm7(),
            examples::puma560(),
            examples::humanoid(),
            every_kind(),
        ];
        for m in robots {
            let wave = |size: f64, k: f64| {
                (0..m.nv())
                    .map(|i| size * (k * (i as f64 + 1.0)).sin())
                    .collect::<Vec<f64>>()
            };
            let (q, qd, tau) = (m.random(3), wave(1.0, 1.7), wave(2.0, 0.9));
            let link = m.link(&m.links().last().unwrap().name).unwrap();
            let push = |reference| Push {
                frame: link.into(),
                reference,
                force: Force::new([0.3, -0.2, 0.5], [1.0, 2.0, -1.5]),
            };
            let pushes = [Reference::Local, Reference::Aligned, Reference::World]
                .map(push)
                .to_vec();
            for method in Method::ALL {
                let free = OperatingPoint {
                    q: q.clone(),
                    qd: qd.clone(),
                    tau: tau.clone(),
                    pushes: vec![],
                };
                compare(&m, &free, method, 2e-3);
                if m.nv() < 20 {
                    let pushed = OperatingPoint {
                        pushes: pushes.clone(),
                        ..free
                    };
                    compare(&m, &pushed, method, 1e-2);
                }
            }
        }
    }

    /// The step that the derivatives are of is the simulator's.
    #[test]
    fn the_end_is_where_the_simulator_goes() {
        use crate::simulate::{RungeKutta4, SemiImplicitEuler};
        let m = every_kind();
        let (q, qd, tau) = (m.random(5), vec![0.4; m.nv()], vec![0.3; m.nv()]);
        for method in [Method::SemiImplicitEuler, Method::RungeKutta4, Method::ImplicitMidpoint] {
            let held = Held {
                tau: tau.clone(),
                pushes: vec![],
            };
            let mut equations = Dynamics::with(&m, held, PassiveForces::passive(&m));
            let mut state = State {
                t: 0.0,
                q: q.clone(),
                v: qd.clone(),
            };
            match method {
                Method::SemiImplicitEuler => SemiImplicitEuler::new(&m)
                    .step(&mut equations, &mut state, 5e-3)
                    .unwrap(),
                Method::RungeKutta4 => RungeKutta4::new(&m).step(&mut equations, &mut state, 5e-3).unwrap(),
                _ => ImplicitMidpoint::new(&m)
                    .step(&mut equations, &mut state, 5e-3)
                    .unwrap(),
            }
            let mut step = StepDerivatives::new(&m, method, 5e-3).unwrap();
            step.at(&q, &qd, &tau, &[]).unwrap();
            assert!(m.distance(step.q(), &state.q).unwrap() < 1e-12, "{method:?}");
            for (a, b) in step.qd().iter().zip(&state.v) {
                assert!((a - b).abs() < 1e-11, "{method:?}: {a} {b}");
            }
        }
    }
}
