//! The implicit midpoint rule.

use super::super::{ExternalForce, external_force};
use super::{StepDerivatives, block};
use crate::simulate::{Drive, Dynamics, ImplicitMidpoint, Integrator, Now, State};
use crate::state_space::matrix_product::AddProduct;
use crate::workspace::Moving;
use crate::{Error, Result};

const ITERATIONS: usize = 20;

/// Torques and forces that stay as they are.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) tau: Vec<f64>,
    pub(super) forces: Vec<ExternalForce>,
}

impl Drive for Held {
    fn drive(&mut self, _: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        tau.copy_from_slice(&self.tau);
        external_force::act(&self.forces, moving)
    }
}

impl StepDerivatives {
    /// w = v + ½h v̇(q ⊕ ½h w, w), then q⁺ = q ⊕ h w and v⁺ = 2w − v.
    pub(super) fn implicit_midpoint(&mut self, qd: &[f64], tau: &[f64], forces: &[ExternalForce]) -> Result<()> {
        let (n, h, width) = (qd.len(), self.h, self.width);
        self.v.copy_from_slice(qd);
        if !self.newton(qd, tau, forces).unwrap_or(false) {
            self.simulate_middle(qd, tau, forces)?;
            if !self.middle(tau, forces)? {
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
    fn newton(&mut self, qd: &[f64], tau: &[f64], forces: &[ExternalForce]) -> Result<bool> {
        let (h, mut before) = (self.h, f64::INFINITY);
        for _ in 0..ITERATIONS {
            if !self.middle(tau, forces)? {
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
                return self.middle(tau, forces);
            }
            if size.is_nan() || size >= before.max(1e3) {
                return Ok(false);
            }
            before = size;
        }
        Ok(false)
    }

    /// v̇ at the middle with velocity w, and the factors of I − ½hF_v − ¼h²F_qJ. False if there are none.
    fn middle(&mut self, tau: &[f64], forces: &[ExternalForce]) -> Result<bool> {
        let (n, h) = (self.v.len(), self.h);
        for (u, w) in self.u.iter_mut().zip(&self.v) {
            *u = 0.5 * h * w;
        }
        self.point
            .mechanism
            .integrate_unchecked(&self.start, &self.u, &mut self.q);
        self.point
            .linearize(&self.q, &self.v, tau, forces, &mut self.answers[0].vd)?;
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
    fn simulate_middle(&mut self, qd: &[f64], tau: &[f64], forces: &[ExternalForce]) -> Result<()> {
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
        equations.drive().forces.clear();
        equations.drive().forces.extend_from_slice(forces);
        state.t = 0.0;
        state.q.copy_from_slice(&self.start);
        state.v.copy_from_slice(qd);
        integrator.step(equations, state, self.h)?;
        for (w, (before, after)) in self.v.iter_mut().zip(qd.iter().zip(&state.v)) {
            *w = 0.5 * (before + after);
        }
        Ok(())
    }
}

fn no_solution() -> Error {
    Error::Step {
        t: 0.0,
        problem: "the implicit equations of this step have no solution nearby; take shorter steps".into(),
    }
}
