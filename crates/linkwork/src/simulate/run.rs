//! From the first state to the last.

use super::{Advance, Course, DormandPrince, Equations, Integrated, State, Tolerance};
use crate::{Error, Result};

/// An integrator by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// [`SemiImplicitEuler`](super::SemiImplicitEuler).
    SemiImplicitEuler,
    /// [`RungeKutta4`](super::RungeKutta4).
    RungeKutta4,
    /// [`DormandPrince`].
    DormandPrince,
    /// [`ImplicitMidpoint`](super::ImplicitMidpoint).
    ImplicitMidpoint,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::SemiImplicitEuler,
        Self::RungeKutta4,
        Self::DormandPrince,
        Self::ImplicitMidpoint,
    ];

    /// Its name in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::SemiImplicitEuler => "semi-implicit Euler",
            Self::RungeKutta4 => "Runge–Kutta 4",
            Self::DormandPrince => "Dormand–Prince 5(4)",
            Self::ImplicitMidpoint => "implicit midpoint",
        }
    }
}

/// A run to a given time: how it steps, which states it samples, and when something changes abruptly.
///
/// ```
/// use linkwork::model::examples;
/// use linkwork::simulate::{Dynamics, Ended, Listener, Method, Run, State};
///
/// /// Keeps the first coordinate, and ends the run when it passes zero.
/// struct Trace(Vec<f64>);
///
/// impl Listener for Trace {
///     fn sample(&mut self, state: &State) {
///         self.0.push(state.q[0]);
///     }
///     fn goes_on(&mut self, state: &State, _: u64) -> bool {
///         state.q[0] > 0.0
///     }
/// }
///
/// let robot = examples::double_pendulum();
/// let run = Run::new(Method::RungeKutta4, 2.0).step(1e-3).samples(50.0);
/// let mut trace = Trace(Vec::new());
/// let outcome = run.go(&mut Dynamics::new(&robot, ())?, State::at_rest(&robot, &[0.4, 0.0]), &mut trace);
/// assert!(matches!(outcome.ended, Ended::Stopped));
/// assert!(outcome.state.t < 1.0 && trace.0.len() as f64 > 50.0 * outcome.state.t);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Run {
    /// How to step.
    pub method: Method,
    /// The time at which it ends, in seconds.
    pub end: f64,
    /// The length of a step of all methods but [`Method::DormandPrince`], in seconds.
    pub dt: f64,
    /// How exact the steps of [`Method::DormandPrince`] are.
    pub tolerance: Tolerance,
    /// Samples per second.
    pub rate: f64,
    /// When something changes abruptly, in order: a step ends there and another begins.
    pub changes: Vec<f64>,
}

/// Called while a run goes on.
///
/// ```
/// use linkwork::simulate::{Dynamics, Listener, Method, Run, State};
///
/// /// Keeps the angle of the first joint, and ends the run when it is negative.
/// #[derive(Default)]
/// struct Swing(Vec<f64>);
///
/// impl Listener for Swing {
///     fn sample(&mut self, state: &State) {
///         self.0.push(state.q[0]);
///     }
///
///     fn goes_on(&mut self, state: &State, _steps: u64) -> bool {
///         state.q[0] >= 0.0
///     }
/// }
///
/// let robot = linkwork::model::examples::double_pendulum();
/// let mut equations = Dynamics::new(&robot, ())?;
/// let (start, mut swing) = (State::at_rest(&robot, &[0.5, 0.0]), Swing::default());
/// let outcome = Run::new(Method::RungeKutta4, 10.0).step(1e-3).samples(100.0).go(&mut equations, start, &mut swing);
/// assert!(outcome.state.t < 10.0 && swing.0.len() > 2);
/// # Ok::<(), linkwork::Error>(())
/// ```
pub trait Listener {
    /// A state to keep: the first, those at the rate asked for, and the last.
    fn sample(&mut self, state: &State);

    /// Before every step: its number, and where the run is. `false` ends the run there.
    fn goes_on(&mut self, state: &State, steps: u64) -> bool {
        let _ = (state, steps);
        true
    }

    /// Before every stretch of time in which nothing changes abruptly.
    fn stretch(&mut self, from: f64, until: f64) {
        let _ = (from, until);
    }
}

/// Nobody listens.
impl Listener for () {
    fn sample(&mut self, _: &State) {}
}

/// What came of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunOutcome {
    /// The last state.
    pub state: State,
    /// Steps taken.
    pub steps: u64,
    /// Steps that were too long and were taken again, by [`Method::DormandPrince`].
    pub rejected: u64,
    /// How it ended.
    pub ended: Ended,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// At its time.
    Finished,
    /// Before, because its listener said so.
    Stopped,
    /// Before, by an error; what came until then holds.
    Failed(Error),
}

impl Run {
    /// A run to a time, in seconds: steps of a millisecond, or within the default [`Tolerance`]; a hundred samples a second.
    pub fn new(method: Method, end: f64) -> Self {
        Self {
            method,
            end,
            dt: 1e-3,
            tolerance: Tolerance::default(),
            rate: 100.0,
            changes: Vec::new(),
        }
    }

    /// Another length of the step, in seconds.
    pub fn step(self, dt: f64) -> Self {
        Self { dt, ..self }
    }

    /// Another tolerance.
    pub fn tolerance(self, tolerance: Tolerance) -> Self {
        Self { tolerance, ..self }
    }

    /// Another number of samples per second.
    pub fn samples(self, rate: f64) -> Self {
        Self { rate, ..self }
    }

    /// Times at which something changes abruptly.
    pub fn changes(self, mut changes: Vec<f64>) -> Self {
        changes.sort_by(f64::total_cmp);
        Self { changes, ..self }
    }

    /// Runs from a state.
    pub fn go(&self, equations: &mut impl Equations, start: State, listener: &mut impl Listener) -> RunOutcome {
        match self.method {
            Method::DormandPrince => self.freely(equations, start, listener),
            method => self.walk(&mut Integrated::new(method, equations), start, listener),
        }
    }

    /// Runs from a state in steps of one length, by whatever takes them.
    pub fn walk(&self, by: &mut impl Advance, start: State, listener: &mut impl Listener) -> RunOutcome {
        let mut course = Course::new(self.clone(), start);
        let done = self.check().and_then(|()| {
            listener.sample(&course.state);
            while !course.is_over() && listener.goes_on(&course.state, course.steps) {
                course.step(by, listener)?;
            }
            Ok(())
        });
        self.outcome(course.state, [course.steps, 0], done)
    }

    fn outcome(&self, state: State, [steps, rejected]: [u64; 2], done: Result<()>) -> RunOutcome {
        RunOutcome {
            steps,
            rejected,
            ended: match done {
                Ok(()) if state.t < self.end => Ended::Stopped,
                Ok(()) => Ended::Finished,
                Err(error) => Ended::Failed(error),
            },
            state,
        }
    }

    /// The first abrupt change after a time, or the end.
    pub(super) fn next_change(&self, t: f64, end: f64) -> f64 {
        let next = self.changes.iter().find(|change| **change > t);
        next.map_or(end, |change| change.min(end))
    }

    /// Steps as long as the tolerance allows, and states in between from dense output.
    fn freely(&self, equations: &mut impl Equations, start: State, listener: &mut impl Listener) -> RunOutcome {
        let mut integrator = DormandPrince::new(equations.mechanism()).tolerance(self.tolerance);
        let (origin, mut state, mut between) = (start.t, start.clone(), start);
        let (mut kept, mut steps) = (0_u64, 0);
        let mut run = || -> Result<()> {
            self.check()?;
            listener.sample(&state);
            while state.t < self.end {
                let until = self.next_change(state.t, self.end);
                listener.stretch(state.t, until);
                integrator.restart();
                while state.t < until {
                    if !listener.goes_on(&state, steps) {
                        return Ok(());
                    }
                    integrator.step(equations, &mut state, until)?;
                    steps += 1;
                    loop {
                        let t = origin + (kept + 1) as f64 / self.rate;
                        if t > state.t || t > self.end {
                            break;
                        }
                        kept += 1;
                        integrator.interpolate(t, &mut between)?;
                        listener.sample(&between);
                    }
                }
            }
            if origin + kept as f64 / self.rate < self.end {
                listener.sample(&state);
            }
            Ok(())
        };
        let done = run();
        self.outcome(state, [steps, integrator.rejected()], done)
    }

    fn check(&self) -> Result<()> {
        if !self.end.is_finite() {
            return Err(Error::Parameter {
                argument: "end",
                value: self.end,
            });
        }
        for (argument, value) in [("dt", self.dt), ("rate", self.rate)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Duration { argument, value });
            }
        }
        // Steps that rounding cannot tell apart would never arrive.
        if self.dt < f64::EPSILON * self.end.abs() {
            return Err(Error::Step {
                t: self.end,
                problem: format!("steps of {:e} s are below rounding; take longer ones", self.dt),
            });
        }
        Ok(())
    }
}
