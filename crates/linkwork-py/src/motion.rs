//! Configurations as points of a manifold, and motion in time.

use crate::arrays::{self, flat, slice_mut};
use crate::control::{Controller, Drives};
use crate::errors::{Error, raised};
use crate::evaluate::locked;
use crate::model::Model;
use crate::pool;
use linkwork::batch::{Rollout, RolloutMethod};
use linkwork::closed::{ClosedMotion, ConstraintTarget};
use linkwork::simulate::{
    DormandPrince, Drive, Dynamics, Equations, ImplicitMidpoint, Integrator, PassiveForces, RungeKutta4,
    SemiImplicitEuler, State, Tolerance,
};
use linkwork::spatial::{Motion, Pose};
use linkwork::{Batch, Mechanism};
use numpy::{Element, PyArrayDyn};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};

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

/// How rollouts step, by name.
pub(crate) fn method(word: &str) -> PyResult<RolloutMethod> {
    match word {
        "semi_implicit_euler" => Ok(RolloutMethod::SemiImplicitEuler),
        "runge_kutta4" => Ok(RolloutMethod::RungeKutta4),
        _ => Err(Error::new_err(format!(
            "method is {word:?}; it must be \"semi_implicit_euler\" or \"runge_kutta4\""
        ))),
    }
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
    let method = self::method(method)?;
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
    mut before: impl FnMut(&mut E, &mut State) -> linkwork::Result<()>,
) -> linkwork::Result<()> {
    let Record { q, qd, tau, dt, every } = record;
    let (nq, nv) = (state.q.len(), state.v.len());
    let rows = qd.len().checked_div(nv).unwrap_or(0);
    for row in 0..rows {
        if row > 0 {
            for k in 0..every {
                let end = ((row - 1) * every + k + 1) as f64 * dt;
                steps.advance(equations, state, end)?;
                before(equations, state)?;
            }
        } else {
            before(equations, state)?;
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

/// What becomes of a constraint: at a time, by its name, "on", "off" or "grasp".
type Switch = (f64, String, String);

/// Does what is due by now.
fn switch<D: Drive>(due: &mut Vec<Switch>, equations: &mut ClosedMotion<D>, state: &mut State) -> linkwork::Result<()> {
    // Times are sums of steps.
    while due
        .last()
        .is_some_and(|(t, ..)| *t <= state.t + 1e-12 * state.t.abs().max(1.0))
    {
        if let Some((_, name, word)) = due.pop() {
            match word.as_str() {
                "grasp" => drop(equations.grasp(&name, state)?),
                word => equations.switch(&name, word == "on")?,
            }
        }
    }
    Ok(())
}

/// Where a function of time holds a constraint's frame: a pose, or a pose, its velocity and acceleration, six numbers each.
fn target(py: Python<'_>, function: &Py<PyAny>, t: f64) -> PyResult<ConstraintTarget> {
    let given = function.bind(py).call1((t,))?;
    let Ok((pose, velocity, acceleration)) = given.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>)>()
    else {
        return Ok(ConstraintTarget::at(arrays::pose("the prescribed pose", &given)?));
    };
    if !given.is_instance_of::<pyo3::types::PyTuple>() || pose.extract::<f64>().is_ok() {
        return Ok(ConstraintTarget::at(arrays::pose("the prescribed pose", &given)?));
    }
    let motion = |argument: &str, object: &Bound<'_, PyAny>| -> PyResult<Motion> {
        let [a, b, c, x, y, z] = arrays::array::<6>(argument, object)?;
        Ok(Motion::new([a, b, c], [x, y, z]))
    };
    Ok(ConstraintTarget {
        pose: arrays::pose("the prescribed pose", &pose)?,
        velocity: motion("the prescribed velocity", &velocity)?,
        acceleration: motion("the prescribed acceleration", &acceleration)?,
    })
}

/// Simulates a model from (q, qd) on: a row for every `every` steps of `dt` seconds, the first being the start.
#[pyfunction]
#[pyo3(signature = (model, integrator, dt, every, tolerance, resist, q, qd, drive, q_out, qd_out, tau_out, switched, prescribed))]
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
    mut switched: Vec<Switch>,
    prescribed: Vec<(String, Py<PyAny>)>,
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
    if closed.is_none() && !(switched.is_empty() && prescribed.is_empty()) {
        let problem = format!(
            "model `{}` has no constraints to switch or prescribe; add some with `Builder.loop`",
            m.name()
        );
        return Err(Error::new_err(problem));
    }
    // The next one last.
    switched.sort_by(|a, b| b.0.total_cmp(&a.0));
    let calls = !prescribed.is_empty() || matches!(drives, Drives::Function(..));
    let raised_in = Arc::new(Mutex::new(None));
    let run = |drives: Drives<'_>| -> linkwork::Result<()> {
        match closed {
            Some(closed) => {
                let mut equations = ClosedMotion::with(closed, drives, passive);
                for (name, function) in prescribed {
                    let failed = raised_in.clone();
                    equations.prescribe(&name, move |t| {
                        Python::attach(|py| target(py, &function, t)).unwrap_or_else(|problem| {
                            locked(&failed).get_or_insert(problem);
                            // It is refused, and ends the run.
                            ConstraintTarget::at(Pose::from_translation([f64::NAN; 3]))
                        })
                    })?;
                }
                simulated(
                    &mut equations,
                    &mut steps,
                    &mut state,
                    record,
                    |e| e.torques(),
                    |e, state| switch(&mut switched, e, state),
                )
            }
            None => {
                let mut equations = Dynamics::with(m, drives, passive);
                simulated(
                    &mut equations,
                    &mut steps,
                    &mut state,
                    record,
                    |e| e.torques(),
                    |_, _| Ok(()),
                )
            }
        }
    };
    let done = match calls {
        true => run(drives),
        false => py.detach(|| run(drives)),
    };
    let failure = failure.or_else(|| locked(&raised_in).take());
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
