//! From the first state to the last.

use super::control::Stretch;
use clap::ValueEnum;
use linkwork::simulate::{
    DormandPrince, Equations, ImplicitMidpoint, Integrator, RungeKutta4, SemiImplicitEuler, State, Tolerance,
};
use linkwork::{Error, Mechanism, Result};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// How to step.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// Semi-implicit Euler: order 1, one evaluation per step.
    Euler,
    /// Runge–Kutta: order 4, four evaluations per step.
    Rk4,
    /// Dormand–Prince 5(4): steps of its own choice within --tolerance.
    Adaptive,
    /// The implicit midpoint rule: order 2, for stiff and long runs.
    Midpoint,
}

impl Method {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Euler => "semi-implicit Euler",
            Self::Rk4 => "Runge–Kutta 4",
            Self::Adaptive => "Dormand–Prince 5(4)",
            Self::Midpoint => "implicit midpoint",
        }
    }
}

/// What to do.
pub(crate) struct Plan {
    pub(crate) method: Method,
    pub(crate) end: f64,
    /// The step of all methods but the adaptive one.
    pub(crate) dt: f64,
    pub(crate) tolerance: f64,
    /// States to keep per second.
    pub(crate) rate: f64,
    /// When something changes abruptly.
    pub(crate) changes: Vec<f64>,
    pub(crate) stretch: Stretch,
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) steps: u64,
    pub(crate) rejected: u64,
    pub(crate) wall_seconds: f64,
    pub(crate) state: State,
    /// Why it ended early.
    pub(crate) problem: Option<Error>,
    pub(crate) interrupted: bool,
    /// The widest gap of closed loops, if there are any.
    pub(crate) closure: Option<f64>,
    /// What touching came to, if anything could.
    pub(crate) contact: Option<super::touching::Summary>,
}

/// Who is told how it goes.
pub(crate) trait Audience {
    /// A state to keep.
    fn keep(&mut self, state: &State);
    /// Now and then, the time reached.
    fn hear(&mut self, t: f64);
}

/// Runs a plan from a state; an error in it ends the course, and what came before stays.
pub(crate) fn run(
    plan: &Plan,
    mechanism: &Mechanism,
    equations: &mut impl Equations,
    start: State,
    stop: &AtomicBool,
    audience: &mut impl Audience,
) -> Outcome {
    let clock = Instant::now();
    let mut course = Course {
        plan,
        stop,
        audience,
        state: start,
        steps: 0,
    };
    course.audience.keep(&course.state);
    let mut rejected = 0;
    let done = match plan.method {
        Method::Euler => course.evenly(equations, SemiImplicitEuler::new(mechanism)),
        Method::Rk4 => course.evenly(equations, RungeKutta4::new(mechanism)),
        Method::Midpoint => course.evenly(equations, ImplicitMidpoint::new(mechanism)),
        Method::Adaptive => course.freely(equations, mechanism, &mut rejected),
    };
    Outcome {
        steps: course.steps,
        rejected,
        wall_seconds: clock.elapsed().as_secs_f64(),
        interrupted: done.is_ok() && course.state.t < plan.end,
        problem: done.err(),
        state: course.state,
        closure: None,
        contact: None,
    }
}

struct Course<'a, A> {
    plan: &'a Plan,
    stop: &'a AtomicBool,
    audience: &'a mut A,
    state: State,
    steps: u64,
}

impl<A: Audience> Course<'_, A> {
    /// The first abrupt change after the present time, or the end.
    fn next_change(&self, end: f64) -> f64 {
        let next = self.plan.changes.iter().find(|t| **t > self.state.t);
        next.map_or(end, |t| t.min(end))
    }

    /// Whether to go on; tells the time.
    fn goes_on(&mut self) -> bool {
        if self.steps.is_multiple_of(256) {
            self.audience.hear(self.state.t);
        }
        !self.stop.load(Relaxed)
    }

    /// Steps of equal length.
    fn evenly(&mut self, equations: &mut impl Equations, mut integrator: impl Integrator) -> Result<()> {
        let Plan { dt, end, rate, .. } = *self.plan;
        let stride = (1.0 / (rate * dt)).round().max(1.0) as u64;
        while self.state.t < end && self.goes_on() {
            let (begun, whole) = (time(self.steps, dt), time(self.steps + 1, dt));
            let next = if whole > end - 1e-9 * dt { end } else { whole };
            loop {
                let until = self.next_change(next);
                self.plan.stretch.set(self.state.t, until);
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
                self.audience.keep(&self.state);
            }
        }
        Ok(())
    }

    /// Steps as long as the tolerance allows, and states in between from dense output.
    fn freely(&mut self, equations: &mut impl Equations, mechanism: &Mechanism, rejected: &mut u64) -> Result<()> {
        let Plan {
            tolerance, end, rate, ..
        } = *self.plan;
        let tolerance = Tolerance {
            relative: tolerance,
            absolute: 0.1 * tolerance,
        };
        let mut integrator = DormandPrince::new(mechanism).tolerance(tolerance);
        let mut between = self.state.clone();
        let mut kept = 0_u64;
        while self.state.t < end {
            let until = self.next_change(end);
            self.plan.stretch.set(self.state.t, until);
            integrator.restart();
            while self.state.t < until {
                if !self.goes_on() {
                    return Ok(());
                }
                let done = integrator.step(equations, &mut self.state, until);
                *rejected = integrator.rejected();
                done?;
                self.steps += 1;
                loop {
                    let t = (kept + 1) as f64 / rate;
                    if t > self.state.t || t > end {
                        break;
                    }
                    kept += 1;
                    integrator.interpolate(t, &mut between)?;
                    self.audience.keep(&between);
                }
            }
        }
        if kept as f64 / rate < end {
            self.audience.keep(&self.state);
        }
        Ok(())
    }
}

/// When so many steps are done: counted, not added up, so that times do not drift, and exact where a second has a whole
/// number of steps.
fn time(steps: u64, dt: f64) -> f64 {
    let per_second = (1.0 / dt).round();
    if (per_second * dt - 1.0).abs() < 1e-12 {
        steps as f64 / per_second
    } else {
        steps as f64 * dt
    }
}
