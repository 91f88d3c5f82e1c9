//! How to step, and what came of it.

use super::contact_run::Summary;
use clap::ValueEnum;
use linkwork::simulate;

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

impl From<Method> for simulate::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Euler => Self::SemiImplicitEuler,
            Method::Rk4 => Self::RungeKutta4,
            Method::Adaptive => Self::DormandPrince,
            Method::Midpoint => Self::ImplicitMidpoint,
        }
    }
}

impl Method {
    pub(crate) fn words(self) -> &'static str {
        simulate::Method::from(self).words()
    }
}

/// What came of a run.
pub(crate) struct Outcome {
    pub(crate) run: simulate::RunOutcome,
    pub(crate) wall_seconds: f64,
    /// The widest gap of closed loops, if there are any.
    pub(crate) closure: Option<f64>,
    /// What touching came to, if anything could.
    pub(crate) contact: Option<Summary>,
}
