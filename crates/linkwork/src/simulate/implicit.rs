//! The implicit midpoint rule.

use super::chart::Chart;
use super::{Equations, Integrator, State, at_time, check_step, settled, too_far};
use crate::dense::Lu;
use crate::{Error, Mechanism, Result};

/// The implicit midpoint rule on the manifold: order two, symmetric in time, and stable however stiff the equations are.
///
/// ```text
/// u = ½h q̇(q ⊕ u, w)    w = v + ½h v̇(q ⊕ u, w)    q ← q ⊕ 2u    v ← 2w − v
/// ```
///
/// Run backwards it retraces its steps, so that energy does not drift over long runs. What is quadratic in v and kept by
/// the equations is kept by every step: the energy and the momentum's length of a free body, and ½ν*ν of the diagonalized
/// equations. The equations are solved to rounding by Newton's method, with a matrix that is kept for many steps.
#[derive(Clone, Debug)]
pub struct ImplicitMidpoint {
    chart: Chart,
    /// I − ½h ∂(q̇, v̇)/∂(u, w), from an earlier step, and the h it is for.
    matrix: Lu,
    h: f64,
    /// u and w.
    x: Vec<f64>,
    step: Vec<f64>,
    kept: Vec<f64>,
    rates: Vec<f64>,
    varied: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    /// v̇ of the last step, to start from.
    vd: Vec<f64>,
}

/// Below this change Newton's method is at rounding.
const CONVERGED: f64 = 4e-15;
/// A change this small may stay, if it no longer shrinks.
const ALMOST: f64 = 1e-10;
const ITERATIONS: usize = 30;

impl ImplicitMidpoint {
    /// Memory for one mechanism: some (2 nv)² numbers.
    pub fn new(mechanism: &Mechanism) -> Self {
        let nv = mechanism.nv();
        Self {
            chart: Chart::new(mechanism),
            matrix: Lu::new(2 * nv),
            h: 0.0,
            x: vec![0.0; 2 * nv],
            step: vec![0.0; 2 * nv],
            kept: vec![0.0; 2 * nv],
            rates: vec![0.0; 2 * nv],
            varied: vec![0.0; 2 * nv],
            q: vec![0.0; mechanism.nq()],
            v: vec![0.0; nv],
            vd: vec![0.0; nv],
        }
    }

    /// q̇ and v̇ at the middle of the step to `rates`.
    fn middle(&mut self, equations: &mut impl Equations, state: &State, h: f64) -> Result<()> {
        let nv = state.v.len();
        let (u, w) = self.x.split_at(nv);
        self.chart.moved(&state.q, u, &mut self.q);
        let (qd, vd) = self.rates.split_at_mut(nv);
        let rates = equations.rates(state.t + 0.5 * h, &self.q, w, qd, vd);
        rates.map_err(|e| at_time(state.t, e))
    }

    /// The matrix of Newton's method at x, by differences; `rates` holds those at x.
    fn linearize(&mut self, equations: &mut impl Equations, state: &State, h: f64) -> Result<()> {
        let n = self.x.len();
        self.varied.copy_from_slice(&self.rates);
        for j in 0..n {
            let x = self.x[j];
            let change = f64::EPSILON.sqrt() * x.abs().max(1e-2);
            self.x[j] = x + change;
            let change = self.x[j] - x;
            self.middle(equations, state, h)?;
            self.x[j] = x;
            let matrix = self.matrix.matrix();
            for i in 0..n {
                let slope = (self.rates[i] - self.varied[i]) / change;
                matrix[i * n + j] = f64::from(u8::from(i == j)) - 0.5 * h * slope;
            }
        }
        self.rates.copy_from_slice(&self.varied);
        if !self.matrix.factor() {
            self.h = 0.0;
            return Err(no_solution(state.t));
        }
        self.h = h;
        Ok(())
    }

    /// Newton's method from x, with the matrix at hand. False if it does not converge.
    fn solve(&mut self, equations: &mut impl Equations, state: &State, h: f64) -> Result<bool> {
        let mut before = f64::INFINITY;
        for _ in 0..ITERATIONS {
            self.middle(equations, state, h)?;
            self.residual(state, h);
            self.matrix.solve(&mut self.step);
            let mut size = 0.0_f64;
            for (x, step) in self.x.iter_mut().zip(&self.step) {
                *x += step;
                size = size.max(step.abs() / x.abs().max(1.0));
            }
            if size <= CONVERGED || (size <= ALMOST && size >= 0.5 * before) {
                return Ok(true);
            }
            if size.is_nan() || size >= 0.7 * before {
                return Ok(false);
            }
            before = size;
        }
        Ok(false)
    }

    /// What the equations leave of x, written to `step`; its size.
    fn residual(&mut self, state: &State, h: f64) -> f64 {
        let nv = state.v.len();
        let mut size = 0.0_f64;
        for i in 0..2 * nv {
            let start = if i < nv { 0.0 } else { state.v[i - nv] };
            self.step[i] = start + 0.5 * h * self.rates[i] - self.x[i];
            let share = self.step[i].abs() / self.x[i].abs().max(1.0);
            size = if share.is_nan() { f64::INFINITY } else { size.max(share) };
        }
        size
    }

    /// Newton's method from x with a new matrix for every step, and steps shortened until what is left shrinks: for bends
    /// such as dry friction has. False if it does not converge.
    fn descend(&mut self, equations: &mut impl Equations, state: &State, h: f64) -> Result<bool> {
        self.middle(equations, state, h)?;
        let mut size = self.residual(state, h);
        for _ in 0..ITERATIONS {
            if size <= CONVERGED && self.h == h {
                return Ok(true);
            }
            self.linearize(equations, state, h)?;
            self.residual(state, h);
            self.matrix.solve(&mut self.step);
            self.kept.copy_from_slice(&self.x);
            self.varied.copy_from_slice(&self.step);
            // Where the equations are so stiff that rounding of the rates alone is more than `ALMOST`, x is still as good as
            // the step that is left.
            let ahead = self
                .x
                .iter()
                .zip(&self.step)
                .map(|(x, step)| step.abs() / x.abs().max(1.0));
            let close = ahead.fold(0.0, |m: f64, x| if x.is_nan() { f64::INFINITY } else { m.max(x) }) <= ALMOST;
            let mut share = 1.0;
            loop {
                for ((x, kept), step) in self.x.iter_mut().zip(&self.kept).zip(&self.varied) {
                    *x = kept + share * step;
                }
                // A state out of bounds is a step too long.
                let left = match self.middle(equations, state, h) {
                    Ok(()) => self.residual(state, h),
                    Err(Error::Step { .. }) => f64::INFINITY,
                    Err(other) => return Err(other),
                };
                if left <= (1.0 - 0.1 * share) * size {
                    size = left;
                    break;
                }
                share *= 0.5;
                if share < 1e-6 {
                    // No better than before: at rounding, or without hope.
                    self.x.copy_from_slice(&self.kept);
                    self.middle(equations, state, h)?;
                    return Ok(close || size <= ALMOST);
                }
            }
        }
        Ok(size <= ALMOST)
    }

    /// A first guess of u and w: as the step before.
    fn guess(&mut self, equations: &mut impl Equations, state: &State, h: f64) -> Result<()> {
        let (u, w) = self.x.split_at_mut(state.v.len());
        for ((w, v), vd) in w.iter_mut().zip(&state.v).zip(&self.vd) {
            *w = v + 0.5 * h * vd;
        }
        equations.velocities(&state.q, w, u).map_err(|e| at_time(state.t, e))?;
        u.iter_mut().for_each(|u| *u *= 0.5 * h);
        Ok(())
    }
}

impl Integrator for ImplicitMidpoint {
    fn step(&mut self, equations: &mut impl Equations, state: &mut State, h: f64) -> Result<()> {
        // Back as well as forward.
        check_step(h.abs())?;
        self.chart.check(equations, state)?;
        let nv = state.v.len();
        self.guess(equations, state, h)?;
        let solved = self.h == h && self.solve(equations, state, h).unwrap_or(false);
        if !solved {
            self.vd.fill(0.0);
            self.guess(equations, state, h)?;
            if !self.descend(equations, state, h)? {
                self.h = 0.0;
                return Err(no_solution(state.t));
            }
        }
        let (u, w) = self.x.split_at_mut(nv);
        for i in 0..nv {
            u[i] *= 2.0;
            self.vd[i] = self.rates[nv + i];
            self.v[i] = 2.0 * w[i] - state.v[i];
        }
        // A step of more than a circle is no step.
        self.step[..nv].copy_from_slice(u);
        if !self.chart.rate(u, &mut self.step[..nv]) {
            return Err(too_far(state.t));
        }
        self.chart.moved(&state.q, u, &mut self.q);
        settled(equations, [state.t, state.t + h], &mut self.q, &mut self.v)?;
        state.q.copy_from_slice(&self.q);
        state.v.copy_from_slice(&self.v);
        state.t += h;
        Ok(())
    }
}

fn no_solution(t: f64) -> Error {
    Error::Step {
        t,
        problem: "the implicit equations of this step have no solution nearby; take shorter steps".into(),
    }
}
