//! Configurations as points of a manifold, and motion in time.

use crate::arrays::{flat, slice_mut};
use crate::control::{Controller, Drives};
use crate::errors::{Error, raised};
use crate::evaluate::locked;
use crate::model::Model;
use crate::pool;
use linkwork::batch::{Rollout, RolloutMethod};
use linkwork::closed::ClosedMotion;
use linkwork::simulate::{
    DormandPrince, Dynamics, Equations, ImplicitMidpoint, Integrator, PassiveForces, RungeKutta4, SemiImplicitEuler,
    State, Tolerance,
};
use linkwork::{Batch, Mechanism};
use numpy::{Element, PyArrayDyn};
use pyo3::prelude::*;

/// Steps and differences of configurations, state after state: `what` is "integrate" or "difference".
#[pyfunction]
pub(crate) fn manifold(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    what: &str,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let m = model.get().mechanism();
    let plain = || Error::new_err("arrays must be plain ones of float64");
    // SAFETY: nobody else writes to them meanwhile; `out` was just made.
    let (a, b) = unsafe { (flat::<f64>(a), flat::<f64>(b)) };
    let (a, b) = (a.ok_or_else(plain)?, b.ok_or_else(plain)?);
    // SAFETY: the same.
    let out = unsafe { slice_mut::<f64>(out) }.ok_or_else(plain)?;
    let (nq, nv) = (m.nq().max(1), m.nv().max(1));
    let done = py.detach(|| -> linkwork::Result<()> {
        match what {
            "integrate" => {
                let all = a.chunks_exact(nq).zip(b.chunks_exact(nv)).zip(out.chunks_exact_mut(nq));
                for ((q, v), out) in all {
                    m.integrate(q, v, out)?;
                }
            }
            _ => {
                let all = a.chunks_exact(nq).zip(b.chunks_exact(nq)).zip(out.chunks_exact_mut(nv));
                for ((q0, q1), out) in all {
                    m.difference(q0, q1, out)?;
                }
            }
        }
        Ok(())
    });
    done.map_err(raised)
}

/// Rolls states forward: inputs and results are plain arrays of one type, state after state.
#[pyfunction]
#[pyo3(signature = (model, method, dt, steps, q, qd, tau, q_out, qd_out))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn rollout(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    method: &str,
    dt: f64,
    steps: usize,
    q: &Bound<'_, PyAny>,
    qd: &Bound<'_, PyAny>,
    tau: Option<&Bound<'_, PyAny>>,
    q_out: &Bound<'_, PyAny>,
    qd_out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let method = match method {
        "semi_implicit_euler" => RolloutMethod::SemiImplicitEuler,
        "runge_kutta4" => RolloutMethod::RungeKutta4,
        _ => {
            return Err(Error::new_err(format!(
                "method is {method:?}; it must be \"semi_implicit_euler\" or \"runge_kutta4\""
            )));
        }
    };
    let rollout = Rollout { method, dt, steps };
    let arrays = [Some(q), Some(qd), tau, Some(q_out), Some(qd_out)];
    let m = model.get().mechanism();
    if q_out.cast::<PyArrayDyn<f32>>().is_ok() {
        rolled::<f32>(py, m, rollout, arrays)
    } else {
        rolled::<f64>(py, m, rollout, arrays)
    }
}

fn rolled<T: linkwork::batch::Real + Element>(
    py: Python<'_>,
    m: &Mechanism,
    rollout: Rollout,
    [q, qd, tau, q_out, qd_out]: [Option<&Bound<'_, PyAny>>; 5],
) -> PyResult<()> {
    let plain = || Error::new_err("arrays must be plain ones of one type");
    // SAFETY: nobody else writes to inputs meanwhile, and results were just made.
    let (q, qd, tau, q_out, qd_out) = unsafe {
        (
            q.and_then(|x| flat::<T>(x)).ok_or_else(plain)?,
            qd.and_then(|x| flat::<T>(x)).ok_or_else(plain)?,
            tau.map(|x| flat::<T>(x).ok_or_else(plain)).transpose()?,
            q_out.and_then(|x| slice_mut::<T>(x)).ok_or_else(plain)?,
            qd_out.and_then(|x| slice_mut::<T>(x)).ok_or_else(plain)?,
        )
    };
    let pool = pool::pool(py)?;
    let threads = pool.current_num_threads();
    let done = py.detach(|| {
        pool.install(|| {
            let mut batch: Batch<T> = m.batch_of::<T>().with_threads(threads);
            batch.rollout(rollout, q, qd, tau, q_out, qd_out)
        })
    });
    done.map_err(raised)
}

/// How steps are taken.
enum Steps {
    Euler(SemiImplicitEuler),
    RungeKutta(RungeKutta4),
    Midpoint(ImplicitMidpoint),
    Adaptive(Box<DormandPrince>),
}

impl Steps {
    fn new(word: &str, m: &Mechanism, tolerance: f64) -> PyResult<Self> {
        Ok(match word {
            "semi_implicit_euler" => Self::Euler(SemiImplicitEuler::new(m)),
            "runge_kutta4" => Self::RungeKutta(RungeKutta4::new(m)),
            "implicit_midpoint" => Self::Midpoint(ImplicitMidpoint::new(m)),
            "adaptive" => {
                let tolerance = Tolerance {
                    absolute: tolerance,
                    relative: tolerance,
                };
                Self::Adaptive(Box::new(DormandPrince::new(m).tolerance(tolerance)))
            }
            _ => {
                return Err(Error::new_err(format!(
                    "integrator is {word:?}; it must be \"semi_implicit_euler\", \"runge_kutta4\", \"implicit_midpoint\" or \"adaptive\""
                )));
            }
        })
    }

    /// On to a time.
    fn advance(&mut self, equations: &mut impl Equations, state: &mut State, end: f64) -> linkwork::Result<()> {
        let h = end - state.t;
        match self {
            Self::Euler(i) => i.step(equations, state, h)?,
            Self::RungeKutta(i) => i.step(equations, state, h)?,
            Self::Midpoint(i) => i.step(equations, state, h)?,
            Self::Adaptive(i) => {
                while state.t < end {
                    i.step(equations, state, end)?;
                }
            }
        }
        // Sums of steps drift; the grid does not.
        state.t = end;
        Ok(())
    }
}

/// What a simulation writes: times, configurations, velocities and torques.
struct Record<'a> {
    q: &'a mut [f64],
    qd: &'a mut [f64],
    tau: &'a mut [f64],
    dt: f64,
    every: usize,
}

fn simulated<E: Equations>(
    equations: &mut E,
    steps: &mut Steps,
    state: &mut State,
    record: Record<'_>,
    torques: fn(&E) -> &[f64],
) -> linkwork::Result<()> {
    let Record { q, qd, tau, dt, every } = record;
    let (nq, nv) = (state.q.len(), state.v.len());
    let rows = qd.len().checked_div(nv).unwrap_or(0);
    for row in 0..rows {
        if row > 0 {
            for k in 0..every {
                let end = ((row - 1) * every + k + 1) as f64 * dt;
                steps.advance(equations, state, end)?;
            }
        }
        q[row * nq..(row + 1) * nq].copy_from_slice(&state.q);
        equations.velocities(&state.q, &state.v, &mut qd[row * nv..(row + 1) * nv])?;
        // The torques at the state itself, not within a step.
        let (mut rate, mut change) = (vec![0.0; nv], vec![0.0; nv]);
        equations.rates(state.t, &state.q, &state.v, &mut rate, &mut change)?;
        tau[row * nv..(row + 1) * nv].copy_from_slice(torques(equations));
    }
    Ok(())
}

/// Simulates a model from (q, qd) on: a row for every `every` steps of `dt` seconds, the first being the start.
#[pyfunction]
#[pyo3(signature = (model, integrator, dt, every, tolerance, resist, q, qd, drive, q_out, qd_out, tau_out))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn simulate(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    integrator: &str,
    dt: f64,
    every: usize,
    tolerance: f64,
    resist: bool,
    q: Vec<f64>,
    qd: Vec<f64>,
    drive: Option<&Bound<'_, PyAny>>,
    q_out: &Bound<'_, PyAny>,
    qd_out: &Bound<'_, PyAny>,
    tau_out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let model = model.get();
    let m = model.mechanism();
    if !(dt > 0.0 && dt.is_finite()) {
        return Err(raised(linkwork::Error::Duration {
            argument: "dt",
            value: dt,
        }));
    }
    let plain = || Error::new_err("results must be plain arrays of float64");
    // SAFETY: they were just made.
    let (q_out, qd_out, tau_out) = unsafe {
        (
            slice_mut::<f64>(q_out).ok_or_else(plain)?,
            slice_mut::<f64>(qd_out).ok_or_else(plain)?,
            slice_mut::<f64>(tau_out).ok_or_else(plain)?,
        )
    };
    let record = Record {
        q: q_out,
        qd: qd_out,
        tau: tau_out,
        dt,
        every: every.max(1),
    };
    let closed = model.closed()?;
    let m = closed.map_or(m, |c| c.mechanism());
    let mut steps = Steps::new(integrator, m, tolerance)?;
    let passive = match resist {
        true => PassiveForces::of(m).map_err(raised)?,
        false => PassiveForces::none(m),
    };
    let passive = match integrator {
        "semi_implicit_euler" | "runge_kutta4" => passive.for_steps(dt),
        _ => passive,
    };
    let mut failure = None;
    let mut state = State { t: 0.0, q, v: qd };
    let drives = match drive {
        None => Drives::None,
        Some(drive) => match drive.cast::<Controller>() {
            Ok(controller) => Drives::Controller(Box::new(locked(&controller.get().0).clone())),
            Err(_) => Drives::Function(drive.clone().unbind(), &mut failure),
        },
    };
    let run = |drives: Drives<'_>| -> linkwork::Result<()> {
        match closed {
            Some(closed) => {
                let mut equations = ClosedMotion::with(closed, drives, passive);
                simulated(&mut equations, &mut steps, &mut state, record, |e| e.torques())
            }
            None => {
                let mut equations = Dynamics::with(m, drives, passive);
                simulated(&mut equations, &mut steps, &mut state, record, |e| e.torques())
            }
        }
    };
    let done = match drives {
        Drives::Function(..) => run(drives),
        _ => py.detach(|| run(drives)),
    };
    match (failure, done) {
        (Some(raised), _) => Err(raised),
        (None, done) => done.map_err(raised),
    }
}

/// A configuration near q that closes all loops, with some joints held where they are.
#[pyfunction]
pub(crate) fn assemble(model: &Bound<'_, Model>, q: &Bound<'_, PyAny>, held: Vec<String>) -> PyResult<Vec<f64>> {
    let model = model.get();
    let closed = model.closed()?.ok_or_else(|| {
        Error::new_err(format!(
            "model `{}` has no loops to close; close some with `Builder.loop`",
            model.mechanism().name()
        ))
    })?;
    let held: Vec<&str> = held.iter().map(String::as_str).collect();
    let q = crate::arrays::vector("q", q)?;
    closed.assemble_holding(&q, &held).map_err(raised)
}
