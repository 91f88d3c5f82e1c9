//! From the first state to the last.

use super::{DormandPrince, Equations, ImplicitMidpoint, Integrator, RungeKutta4, SemiImplicitEuler, State, Tolerance};
use crate::{Error, Result};

/// An integrator by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// [`SemiImplicitEuler`].
    SemiImplicitEuler,
    /// [`RungeKutta4`].
    RungeKutta4,
    /// [`DormandPrince`].
    DormandPrince,
    /// [`ImplicitMidpoint`].
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

/// Who is told how a run goes.
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

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
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
    Whole,
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
    pub fn go(&self, equations: &mut impl Equations, start: State, listener: &mut impl Listener) -> Outcome {
        let mut course = Course {
            run: self,
            listener,
            origin: start.t,
            state: start,
            steps: 0,
            rejected: 0,
        };
        let mechanism = equations.mechanism().clone();
        let done = self.check().and_then(|()| {
            course.listener.sample(&course.state);
            match self.method {
                Method::SemiImplicitEuler => course.evenly(equations, SemiImplicitEuler::new(&mechanism)),
                Method::RungeKutta4 => course.evenly(equations, RungeKutta4::new(&mechanism)),
                Method::ImplicitMidpoint => course.evenly(equations, ImplicitMidpoint::new(&mechanism)),
                Method::DormandPrince => course.freely(equations, DormandPrince::new(&mechanism)),
            }
        });
        Outcome {
            steps: course.steps,
            rejected: course.rejected,
            ended: match done {
                Ok(()) if course.state.t < self.end => Ended::Stopped,
                Ok(()) => Ended::Whole,
                Err(error) => Ended::Failed(error),
            },
            state: course.state,
        }
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
        Ok(())
    }
}

struct Course<'a, L> {
    run: &'a Run,
    listener: &'a mut L,
    /// When it began.
    origin: f64,
    state: State,
    steps: u64,
    rejected: u64,
}

impl<L: Listener> Course<'_, L> {
    /// The first abrupt change after the present time, or the end.
    fn next_change(&self, end: f64) -> f64 {
        let next = self.run.changes.iter().find(|t| **t > self.state.t);
        next.map_or(end, |t| t.min(end))
    }

    /// When so many steps are done: counted, not added up, so that times do not drift, and exact where a second has a whole
    /// number of steps.
    fn time(&self, steps: u64, dt: f64) -> f64 {
        let per_second = (1.0 / dt).round();
        let passed = if (per_second * dt - 1.0).abs() < 1e-12 {
            steps as f64 / per_second
        } else {
            steps as f64 * dt
        };
        self.origin + passed
    }

    fn goes_on(&mut self) -> bool {
        self.listener.goes_on(&self.state, self.steps)
    }

    /// Steps of equal length.
    fn evenly(&mut self, equations: &mut impl Equations, mut integrator: impl Integrator) -> Result<()> {
        let Run { dt, end, rate, .. } = *self.run;
        let stride = (1.0 / (rate * dt)).round().max(1.0) as u64;
        while self.state.t < end && self.goes_on() {
            let (begun, whole) = (self.time(self.steps, dt), self.time(self.steps + 1, dt));
            let next = if whole > end - 1e-9 * dt { end } else { whole };
            loop {
                let until = self.next_change(next);
                self.listener.stretch(self.state.t, until);
                let h = if until == whole && self.state.t == begun {
                    dt
                } else {
                    until - self.state.t
                };
                integrator.step(equations, &mut self.state, h)?;
                self.state.t = until;
                if until == next {
                    break;
                }
            }
            self.steps += 1;
            if self.steps.is_multiple_of(stride) || self.state.t == end {
                self.listener.sample(&self.state);
            }
        }
        Ok(())
    }

    /// Steps as long as the tolerance allows, and states in between from dense output.
    fn freely(&mut self, equations: &mut impl Equations, integrator: DormandPrince) -> Result<()> {
        let Run {
            tolerance, end, rate, ..
        } = *self.run;
        let mut integrator = integrator.tolerance(tolerance);
        let mut between = self.state.clone();
        let mut kept = 0_u64;
        while self.state.t < end {
            let until = self.next_change(end);
            self.listener.stretch(self.state.t, until);
            integrator.restart();
            while self.state.t < until {
                if !self.goes_on() {
                    return Ok(());
                }
                let done = integrator.step(equations, &mut self.state, until);
                self.rejected = integrator.rejected();
                done?;
                self.steps += 1;
                loop {
                    let t = self.origin + (kept + 1) as f64 / rate;
                    if t > self.state.t || t > end {
                        break;
                    }
                    kept += 1;
                    integrator.interpolate(t, &mut between)?;
                    self.listener.sample(&between);
                }
            }
        }
        if self.origin + kept as f64 / rate < end {
            self.listener.sample(&self.state);
        }
        Ok(())
    }
}
