//! The regulator of least cost over a finite time, backward along steps.

use super::StateSpace;
use crate::dense::matrix::{inverse, product, symmetric, transpose};
use crate::{Error, Result};

impl StateSpace {
    /// The gains Kₖ of u = −Kₖx that make Σ x\*Qx + u\*Ru + x_N\*Q_N x_N least along models of one step after another, as
    /// [`StateSpace::of_steps`] gives them; Q, R and Q_N by their diagonals. Each gain is inputs × states.
    ///
    /// ```text
    /// Kₖ = (R + B*PB)⁻¹ B*PA      P ← Q + A*P(A − BKₖ)
    /// ```
    ///
    /// ```
    /// use linkwork::model::examples;
    /// use linkwork::state_space::{Method, OperatingPoint, StateSpace};
    /// let robot = examples::cart_pole();
    /// let upright = OperatingPoint::at_rest(&robot, &robot.neutral())?;
    /// let model = StateSpace::of_step(&robot, &upright, Method::RungeKutta4, 0.01)?.driven_by(&["rail"])?;
    /// let (gain, r) = (model.lqr(&[1.0; 4], &[0.1])?, [0.1]);
    /// let gains = StateSpace::lqr_along(&vec![model; 2000], &[1.0; 4], &r, &[1.0; 4])?;
    /// assert!(gains[0].iter().zip(&gain).all(|(a, b)| (a - b).abs() < 1e-6 * b.abs()), "far from the end, the steady one");
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    #[doc(alias = "time-varying lqr")]
    pub fn lqr_along(models: &[Self], q: &[f64], r: &[f64], last: &[f64]) -> Result<Vec<Vec<f64>>> {
        let Some(first) = models.first() else {
            return Ok(Vec::new());
        };
        let (n, m) = (first.states.len(), first.inputs.len());
        for (argument, weights, needed) in [("q", q, n), ("r", r, m), ("last", last, n)] {
            crate::model::check_length(argument, needed, weights.len())?;
            if let Some(&value) = weights.iter().find(|x| !(x.is_finite() && **x >= 0.0)) {
                return Err(Error::Negative { argument, value });
            }
        }
        let mut p = vec![0.0; n * n];
        (0..n).for_each(|i| p[i * n + i] = last[i]);
        let mut gains = vec![Vec::new(); models.len()];
        for (k, model) in models.iter().enumerate().rev() {
            model.check_finite("a regulator along steps")?;
            if (model.states.len(), model.inputs.len()) != (n, m) || model.step.is_none() {
                return Err(unsolved(format!(
                    "model {k} (from zero) is not one of a step with {n} states and {m} inputs; give models of one kind"
                )));
            }
            let pb = product(n, n, m, &p, &model.b);
            let b_adjoint = transpose(n, m, &model.b);
            let mut cost = product(m, n, m, &b_adjoint, &pb);
            (0..m).for_each(|i| cost[i * m + i] += r[i]);
            let Some(cost) = inverse(m, &cost) else {
                return Err(unsolved(format!(
                    "at step {k} (from zero) an input costs nothing and does nothing; give every input a positive weight"
                )));
            };
            let gain = product(m, m, n, &cost, &product(m, n, n, &transpose(n, m, &pb), &model.a));
            // A − BK.
            let mut closed = model.a.clone();
            let taken = product(n, m, n, &model.b, &gain);
            closed.iter_mut().zip(taken).for_each(|(a, x)| *a -= x);
            p = product(n, n, n, &transpose(n, n, &model.a), &product(n, n, n, &p, &closed));
            (0..n).for_each(|i| p[i * n + i] += q[i]);
            p = symmetric(n, &p);
            if p.iter().any(|x| !x.is_finite()) {
                return Err(unsolved(format!(
                    "the cost grows without bound at step {k} (from zero); take shorter steps"
                )));
            }
            gains[k] = gain;
        }
        Ok(gains)
    }
}

fn unsolved(problem: String) -> Error {
    Error::Unsolved {
        what: "a regulator along steps",
        problem,
    }
}
