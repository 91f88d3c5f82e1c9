//! Dormand and Prince's pair of orders five and four, with steps of its own choice.

use super::explicit::Stages;
use super::{Equations, State, at_time, settled};
use crate::{Error, Mechanism, Result};

/// How exact the steps of an adaptive method are: per step, the error of every velocity stays below
/// `absolute + relative |v|`, that of every coordinate below `absolute + relative max(1, |q|)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative error.
    pub relative: f64,
    /// Absolute error.
    pub absolute: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self {
            relative: 1e-12,
            absolute: 1e-13,
        }
    }
}

/// The method of Dormand and Prince (1980): order five, an error estimate of order four, and Shampine's dense output of
/// order four between the ends of a step.
///
/// ```
/// use linkwork::simulate::{DormandPrince, Dynamics, State, Tolerance};
/// let arm = linkwork::model::examples::double_pendulum();
/// let mut equations = Dynamics::new(&arm, ())?;
/// let mut state = State::at_rest(&arm, &[1.0, 0.0]);
/// let mut integrator = DormandPrince::new(&arm).tolerance(Tolerance { relative: 1e-9, absolute: 1e-10 });
/// while state.t < 0.5 {
///     integrator.step(&mut equations, &mut state, 0.5)?; // as long a step as the tolerance allows
/// }
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct DormandPrince {
    tolerance: Tolerance,
    longest: f64,
    stages: Stages<7>,
    /// q̇ at the end of the last step, whose u̇ is in the last stage.
    qd: Vec<f64>,
    sizes: Vec<f64>,
    /// The state that the last step began and ended in.
    start: State,
    end: State,
    /// Whether the last stage holds the rates at `end`.
    ready: bool,
    /// The next step to try; zero if there was none before.
    h: f64,
    /// The error of the step before.
    error: f64,
    rejected: u64,
}

pub(crate) const A3: [f64; 2] = [3.0 / 40.0, 9.0 / 40.0];
pub(crate) const A4: [f64; 3] = [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0];
pub(crate) const A5: [f64; 4] = [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0];
pub(crate) const A6: [f64; 5] = [
    9017.0 / 3168.0,
    -355.0 / 33.0,
    46732.0 / 5247.0,
    49.0 / 176.0,
    -5103.0 / 18656.0,
];
pub(crate) const A7: [f64; 6] = [
    35.0 / 384.0,
    0.0,
    500.0 / 1113.0,
    125.0 / 192.0,
    -2187.0 / 6784.0,
    11.0 / 84.0,
];
/// The fifth-order result less the fourth-order one.
const ERROR: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
const DENSE: [f64; 7] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

/// Finer tolerances than this are below rounding, and steps would shrink without end.
const FINEST: f64 = 1e-15;

impl DormandPrince {
    /// Memory for one mechanism, and the usual tolerance.
    pub fn new(mechanism: &Mechanism) -> Self {
        let state = State::at_rest(mechanism, &mechanism.neutral());
        Self {
            tolerance: Tolerance::default(),
            longest: f64::INFINITY,
            stages: Stages::new(mechanism),
            qd: vec![0.0; mechanism.nv()],
            sizes: vec![0.0; mechanism.nv()],
            start: state.clone(),
            end: state,
            ready: false,
            h: 0.0,
            error: 1e-4,
            rejected: 0,
        }
    }

    /// Sets how exact steps are.
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets the longest step, in seconds.
    pub fn longest_step(mut self, h: f64) -> Self {
        self.longest = h;
        self
    }

    /// How many steps were tried and found too long.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Forgets the rates at the end of the last step: call it where the equations themselves have changed, such as
    /// where a push begins.
    pub fn restart(&mut self) {
        self.ready = false;
    }

    /// Takes one step, as long as the tolerance allows but not beyond the time `end`, which it then meets exactly. After
    /// an error the state is as it was.
    pub fn step(&mut self, equations: &mut impl Equations, state: &mut State, end: f64) -> Result<()> {
        let rest = end - state.t;
        if !rest.is_finite() {
            return Err(Error::Parameter {
                argument: "end",
                value: end,
            });
        }
        self.stages.chart.check(equations, state)?;
        let Tolerance { relative, absolute } = self.tolerance;
        if !(relative >= 0.0 && absolute >= 0.0 && relative + absolute > 0.0) || rest <= 0.0 {
            return Err(Error::Step {
                t: state.t,
                problem: "tolerances must be positive, and the end of the step after its start".into(),
            });
        }
        if relative.max(absolute) < FINEST {
            return Err(Error::Step {
                t: state.t,
                problem: format!(
                    "a tolerance of {:e} is below rounding; loosen it to {FINEST:e} or more",
                    relative.max(absolute)
                ),
            });
        }
        self.begin(equations, state)?;
        let mut h = if self.h > 0.0 { self.h } else { self.guess(state) };
        loop {
            h = h.min(self.longest);
            // A last step just short of the end would leave a tiny one.
            let last = rest <= 1.000_001 * h;
            h = if last { rest } else { h };
            if h <= 8.0 * f64::EPSILON * state.t.abs().max(rest) {
                return Err(Error::Step {
                    t: state.t,
                    problem: "no step is short enough for the tolerance; loosen it, or take an implicit integrator"
                        .into(),
                });
            }
            let tried = self.attempt(equations, state, h);
            // A state out of bounds is a step too long.
            let error = match &tried {
                Err(Error::Step { .. }) => f64::INFINITY,
                Err(_) => return tried,
                Ok(()) => self.estimate(state, h),
            };
            if error <= 1.0 {
                let t = if last { end } else { state.t + h };
                return self.accept(equations, state, t, h, error, last);
            }
            self.rejected += 1;
            h *= if error.is_finite() {
                (0.9 * error.powf(-0.2)).max(0.2)
            } else {
                0.1
            };
            self.error = self.error.max(1e-4);
        }
    }

    /// The rates at the start, taken over from the step before if this is where it ended.
    fn begin(&mut self, equations: &mut impl Equations, state: &State) -> Result<()> {
        if self.ready && *state == self.end {
            self.stages.ud[0].copy_from_slice(&self.qd);
            let [first, .., last] = &mut self.stages.vd;
            first.copy_from_slice(last);
        } else {
            self.stages.first(equations, state)?;
        }
        copy(state, &mut self.start);
        self.ready = false;
        Ok(())
    }

    fn attempt(&mut self, equations: &mut impl Equations, state: &State, h: f64) -> Result<()> {
        let stages = &mut self.stages;
        stages.second(state, h, 0.2);
        stages.stage(equations, state, h, 0.2, A3)?;
        stages.stage(equations, state, h, 0.3, A4)?;
        stages.stage(equations, state, h, 0.8, A5)?;
        stages.stage(equations, state, h, 8.0 / 9.0, A6)?;
        stages.stage(equations, state, h, 1.0, A7)?;
        // The last stage is the result, and its velocity is wanted both plain and in this chart.
        let (ud, vd) = (&mut stages.ud[6], &mut stages.vd[6]);
        let rates = equations.rates(state.t + h, &stages.q, &stages.v, ud, vd);
        rates.map_err(|e| at_time(state.t, e))?;
        self.qd.copy_from_slice(ud);
        if stages.chart.rate(&stages.u, ud) {
            Ok(())
        } else {
            Err(super::too_far(state.t))
        }
    }

    /// The error of the attempt, as a share of the tolerance.
    fn estimate(&mut self, state: &State, h: f64) -> f64 {
        let stages = &self.stages;
        stages.chart.sizes(&state.q, &mut self.sizes);
        let Tolerance { relative, absolute } = self.tolerance;
        let n = self.sizes.len();
        let mut sum = 0.0;
        for i in 0..n {
            let (mut u, mut v) = (0.0, 0.0);
            for (k, e) in ERROR.into_iter().enumerate() {
                u += e * stages.ud[k][i];
                v += e * stages.vd[k][i];
            }
            u *= h / (absolute + relative * self.sizes[i]);
            v *= h / (absolute + relative * state.v[i].abs().max(stages.v[i].abs()));
            sum += u * u + v * v;
        }
        let error = (sum / (2 * n.max(1)) as f64).sqrt();
        if error.is_nan() { f64::INFINITY } else { error }
    }

    fn accept(
        &mut self,
        equations: &mut impl Equations,
        state: &mut State,
        t: f64,
        h: f64,
        error: f64,
        last: bool,
    ) -> Result<()> {
        self.end.t = t;
        self.end.q.copy_from_slice(&self.stages.q);
        self.end.v.copy_from_slice(&self.stages.v);
        let changed = settled(equations, [state.t, t], &mut self.end.q, &mut self.end.v)?;
        copy(&self.end, state);
        self.ready = !changed;
        // A proportional and integral controller, as Hairer's.
        let error = error.max(1e-10);
        let factor = (0.9 * error.powf(-0.17) * self.error.powf(0.04)).clamp(0.2, 10.0);
        self.error = error.max(1e-4);
        let next = h * factor;
        // A step cut short by the end says little about the next one.
        self.h = if last && next < self.h { self.h } else { next };
        Ok(())
    }

    /// A first step: a hundredth of the time in which the state changes by its tolerance's scale.
    fn guess(&mut self, state: &State) -> f64 {
        let stages = &self.stages;
        let (mut size, mut rate) = (0.0_f64, 0.0_f64);
        for i in 0..state.v.len() {
            size = size.max(state.v[i].abs());
            rate = rate.max(stages.ud[0][i].abs()).max(stages.vd[0][i].abs());
        }
        let scale = self.tolerance.relative.max(self.tolerance.absolute).powf(0.2);
        if rate > 0.0 {
            scale * (1.0 + size) / (1.0 + rate)
        } else {
            scale
        }
    }

    /// The state within the last step at a time between its ends, accurate to order four.
    pub fn interpolate(&self, t: f64, state: &mut State) -> Result<()> {
        let h = self.end.t - self.start.t;
        let theta = (t - self.start.t) / h;
        if !(0.0..=1.0).contains(&theta) {
            return Err(Error::Step {
                t,
                problem: format!(
                    "the last step is from {} to {} s; ask between them",
                    self.start.t, self.end.t
                ),
            });
        }
        if theta == 1.0 {
            copy(&self.end, state);
            return Ok(());
        }
        let rest = 1.0 - theta;
        let dense = |rates: &[Vec<f64>; 7], i: usize, change: f64| {
            let bend = h * rates[0][i] - change;
            let twist = change - h * rates[6][i] - bend;
            let mut more = 0.0;
            for (k, d) in DENSE.into_iter().enumerate() {
                more += d * rates[k][i];
            }
            theta * (change + rest * (bend + theta * (twist + rest * h * more)))
        };
        let stages = &self.stages;
        state.t = t;
        // Room for u: the velocities are written last.
        for i in 0..self.start.v.len() {
            state.v[i] = dense(&stages.ud, i, stages.u[i]);
        }
        stages.chart.moved(&self.start.q, &state.v, &mut state.q);
        for i in 0..self.start.v.len() {
            state.v[i] = self.start.v[i] + dense(&stages.vd, i, stages.v[i] - self.start.v[i]);
        }
        Ok(())
    }
}

fn copy(from: &State, to: &mut State) {
    to.t = from.t;
    to.q.copy_from_slice(&from.q);
    to.v.copy_from_slice(&from.v);
}
