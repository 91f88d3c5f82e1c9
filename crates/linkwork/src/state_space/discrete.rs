//! x⁺ = Ax + Bu over one step.

use super::{OperatingPoint, StateSpace, StepDerivatives};
use crate::dense::matrix::{identity, inverse, product};
use crate::model::Mechanism;
use crate::simulate::{Method, PassiveForces, check_step};
use crate::{Error, Result};
use rayon::prelude::*;

impl StateSpace {
    /// x⁺ = Ax + Bu of one step of an integrator from a point, the motors' torques being held: exact derivatives of the
    /// step, between the tangent spaces at its start and its end. [`StepDerivatives`] is the same without allocation.
    ///
    /// The point's forces act throughout the step, each the same in its own axes. Joints resist as
    /// [`Moving::passive_torque`](crate::workspace::Moving::passive_torque) says. Explicit steps bear little dry friction near
    /// rest: see [`StateSpace::of_step_against`].
    pub fn of_step(mechanism: &Mechanism, point: &OperatingPoint, method: Method, h: f64) -> Result<Self> {
        Self::of_step_against(mechanism, point, &PassiveForces::passive(mechanism), method, h)
    }

    /// The same against another resistance, such as one that is softened for steps of that length. Stops are left out: within
    /// the limits they do nothing.
    ///
    /// ```
    /// use linkwork::model::examples;
    /// use linkwork::simulate::PassiveForces;
    /// use linkwork::state_space::{Method, OperatingPoint, StateSpace};
    /// let (puma, h) = (examples::puma560(), 0.01);
    /// let rest = OperatingPoint::at_rest(&puma, &puma.neutral())?;
    /// let soft = PassiveForces::of(&puma)?.for_steps(h);
    /// let model = StateSpace::of_step_against(&puma, &rest, &soft, Method::RungeKutta4, h)?;
    /// assert!(model.poles()?.iter().all(|pole| pole.size() < 1.01));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn of_step_against(
        mechanism: &Mechanism,
        point: &OperatingPoint,
        resistance: &PassiveForces,
        method: Method,
        h: f64,
    ) -> Result<Self> {
        Self::stepped(
            &mut StepDerivatives::new(mechanism, method, h)?.against(resistance)?,
            point,
            h,
        )
    }

    fn stepped(step: &mut StepDerivatives, point: &OperatingPoint, h: f64) -> Result<Self> {
        step.at(&point.q, &point.qd, &point.tau, &point.forces)?;
        let (a, b) = (step.by_state().to_vec(), step.by_torque().to_vec());
        Self::named(step.mechanism(), a, b, Some(h))
    }

    /// The models of one step from each of many points, such as the knots of a trajectory, on all threads. Where some
    /// have none, the error names the first of them.
    ///
    /// ```
    /// use linkwork::model::examples;
    /// use linkwork::state_space::{Method, OperatingPoint, StateSpace};
    /// let arm = examples::arm7();
    /// let knots: Vec<OperatingPoint> = (0..20)
    ///     .map(|k| OperatingPoint::at_rest(&arm, &[0.02 * k as f64; 7]))
    ///     .collect::<Result<_, _>>()?;
    /// let models = StateSpace::of_steps(&arm, &knots, Method::RungeKutta4, 0.01)?;
    /// assert_eq!((models.len(), models[0].states.len()), (20, 14));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn of_steps(mechanism: &Mechanism, points: &[OperatingPoint], method: Method, h: f64) -> Result<Vec<Self>> {
        check_step(h)?;
        let memory = || StepDerivatives::new(mechanism, method, h);
        let model = |memory: &mut Result<StepDerivatives>, point| match memory {
            Ok(step) => Self::stepped(step, point, h),
            Err(e) => Err(e.clone()),
        };
        let models: Vec<Result<Self>> = points.par_iter().map_init(memory, model).collect();
        let named = |(index, model): (usize, Result<Self>)| {
            model.map_err(|problem| Error::Point {
                index,
                problem: Box::new(problem),
            })
        };
        models.into_iter().enumerate().map(named).collect()
    }

    /// The continuous model sampled every `h` seconds, with inputs held in between: exact for the linear model.
    ///
    /// A discrete model is refused.
    pub fn sampled(&self, h: f64) -> Result<Self> {
        check_step(h)?;
        if self.step.is_some() {
            return Err(Error::Unsolved {
                what: "a sampled model",
                problem: "this one is discrete already; sample a continuous one".into(),
            });
        }
        self.check_finite("a sampled model")?;
        // exp [[A, B], [0, 0]]h = [[A⁺, B⁺], [0, I]].
        let (n, m) = (self.states.len(), self.inputs.len());
        let w = n + m;
        let mut whole = vec![0.0; w * w];
        for i in 0..n {
            for j in 0..n {
                whole[i * w + j] = h * self.a[i * n + j];
            }
            for j in 0..m {
                whole[i * w + n + j] = h * self.b[i * m + j];
            }
        }
        let e = exponential(w, &whole).ok_or(Error::Unsolved {
            what: "a sampled model",
            problem: "the step is so long that motions grow beyond all numbers; take a shorter one".into(),
        })?;
        let mut sampled = self.clone();
        for i in 0..n {
            sampled.a[i * n..(i + 1) * n].copy_from_slice(&e[i * w..i * w + n]);
            sampled.b[i * m..(i + 1) * m].copy_from_slice(&e[i * w + n..(i + 1) * w]);
        }
        sampled.step = Some(h);
        Ok(sampled)
    }
}

/// exp A by a diagonal Padé approximant of order six, halving and squaring; none if it overflows.
fn exponential(n: usize, a: &[f64]) -> Option<Vec<f64>> {
    let size = (0..n).map(|i| a[i * n..(i + 1) * n].iter().map(|x| x.abs()).sum::<f64>());
    let size = size.fold(0.0, f64::max);
    let halvings = (size.max(f64::MIN_POSITIVE).log2().ceil() + 2.0).clamp(0.0, 1000.0);
    let a: Vec<f64> = a.iter().map(|x| x / halvings.exp2()).collect();
    const ORDER: usize = 6;
    let (mut above, mut below) = (vec![0.0; n * n], vec![0.0; n * n]);
    let (mut power, mut weight) = (identity(n), 1.0);
    for k in 0..=ORDER {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        for (i, x) in power.iter().enumerate() {
            above[i] += weight * x;
            below[i] += sign * weight * x;
        }
        power = product(n, n, n, &power, &a);
        weight *= (ORDER - k) as f64 / ((k + 1) * (2 * ORDER - k)) as f64;
    }
    let mut e = product(n, n, n, &inverse(n, &below)?, &above);
    for _ in 0..halvings as usize {
        e = product(n, n, n, &e, &e);
    }
    e.iter().all(|x| x.is_finite()).then_some(e)
}
