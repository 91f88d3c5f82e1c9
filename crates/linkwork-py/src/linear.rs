//! Linear models about a state.

use crate::arrays::vector;
use crate::errors::{Error, raised};
use crate::model::Model;
use crate::pool;
use linkwork::state_space::{Method, OperatingPoint, StateSpace as Linear};
use numpy::{Complex64, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// A linear model: ẋ = Ax + Bu, y = Cx + Du, or x⁺ = Ax + Bu where `step` is a time in seconds.
///
/// The state is a small step of the configuration in its tangent space, then a change of velocity.
///
/// >>> import numpy as np, linkwork as lw
/// >>> m = lw.Model.example("cart_pole")
/// >>> upright = m.linearize(m.neutral()).driven_by(["rail"])
/// >>> K = upright.lqr(np.ones(4), np.ones(1))
/// >>> bool(np.all(upright.with_feedback(K).poles().real < 0))
/// True
#[pyclass(frozen, module = "linkwork", name = "StateSpace")]
pub(crate) struct StateSpace(Linear);

fn matrix<'py>(py: Python<'py>, numbers: &[f64], rows: usize, columns: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, numbers).reshape([rows, columns])
}

/// The point to linearize about: at rest where neither velocity nor torques are given, with the torques that hold it.
fn point(
    model: &Model,
    q: &Bound<'_, PyAny>,
    qd: Option<&Bound<'_, PyAny>>,
    tau: Option<&Bound<'_, PyAny>>,
) -> PyResult<OperatingPoint> {
    let m = model.mechanism();
    let mut point = OperatingPoint::at_rest(m, &vector("q", q)?).map_err(raised)?;
    if let Some(qd) = qd {
        point.qd = vector("qd", qd)?;
        if tau.is_none() {
            return Err(Error::new_err(
                "qd is given but tau is not; without a velocity tau is what holds the model, with one it must be given",
            ));
        }
    }
    if let Some(tau) = tau {
        point.tau = vector("tau", tau)?;
    }
    Ok(point)
}

/// ẋ = Ax + Bu about a state.
#[pyfunction]
#[pyo3(signature = (model, q, qd=None, tau=None))]
pub(crate) fn linearize(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    q: &Bound<'_, PyAny>,
    qd: Option<&Bound<'_, PyAny>>,
    tau: Option<&Bound<'_, PyAny>>,
) -> PyResult<StateSpace> {
    let model = model.get();
    let point = point(model, q, qd, tau)?;
    let pool = pool::pool(py)?;
    let linear = py.detach(|| pool.install(|| Linear::continuous(model.mechanism(), &point)));
    linear.map(StateSpace).map_err(raised)
}

/// x⁺ = Ax + Bu of one step of an integrator from a state, exactly.
#[pyfunction]
#[pyo3(signature = (model, q, qd, tau, dt, method))]
pub(crate) fn linearize_step(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    q: &Bound<'_, PyAny>,
    qd: Option<&Bound<'_, PyAny>>,
    tau: Option<&Bound<'_, PyAny>>,
    dt: f64,
    method: &str,
) -> PyResult<StateSpace> {
    let model = model.get();
    let point = point(model, q, qd, tau)?;
    let method = match method {
        "semi_implicit_euler" => Method::SemiImplicitEuler,
        "runge_kutta4" => Method::RungeKutta4,
        "dormand_prince" => Method::DormandPrince,
        "implicit_midpoint" => Method::ImplicitMidpoint,
        _ => {
            return Err(Error::new_err(format!(
                "method is {method:?}; it must be \"semi_implicit_euler\", \"runge_kutta4\", \"dormand_prince\" or \"implicit_midpoint\""
            )));
        }
    };
    let pool = pool::pool(py)?;
    let linear = py.detach(|| pool.install(|| Linear::of_step(model.mechanism(), &point, method, dt)));
    linear.map(StateSpace).map_err(raised)
}

#[pymethods]
impl StateSpace {
    /// A, states × states.
    #[getter]
    fn a<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.0.a, self.0.states.len(), self.0.states.len())
    }

    /// B, states × inputs.
    #[getter]
    fn b<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.0.b, self.0.states.len(), self.0.inputs.len())
    }

    /// C, outputs × states.
    #[getter]
    fn c<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.0.c, self.0.outputs.len(), self.0.states.len())
    }

    /// D, outputs × inputs.
    #[getter]
    fn d<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.0.d, self.0.outputs.len(), self.0.inputs.len())
    }

    /// The names of the states.
    #[getter]
    fn states(&self) -> Vec<String> {
        self.0.states.clone()
    }

    /// The names of the inputs.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.0.inputs.clone()
    }

    /// The names of the outputs.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.0.outputs.clone()
    }

    /// None for ẋ = Ax + Bu, the step in seconds for x⁺ = Ax + Bu.
    #[getter]
    fn step(&self) -> Option<f64> {
        self.0.step
    }

    /// The same with torques at these joints alone.
    fn driven_by(&self, joints: Vec<String>) -> PyResult<Self> {
        self.0.clone().driven_by(&joints).map(Self).map_err(raised)
    }

    /// The same with the places of these frames as outputs, at the configuration that it was linearized about.
    fn seen_at(&self, model: &Bound<'_, Model>, q: &Bound<'_, PyAny>, frames: Vec<String>) -> PyResult<Self> {
        let seen = self
            .0
            .clone()
            .seen_at(model.get().mechanism(), &vector("q", q)?, &frames);
        seen.map(Self).map_err(raised)
    }

    /// The eigenvalues of A, those of the largest real part first.
    fn poles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let poles = self.0.poles().map_err(raised)?;
        let poles = poles.iter().map(|p| Complex64::new(p.re, p.im));
        Ok(PyArray1::from_iter(py, poles))
    }

    /// The closed loop u = −K x.
    fn with_feedback(&self, gain: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (rows, columns) = (self.0.inputs.len(), self.0.states.len());
        let shape: (usize, usize) = gain.getattr("shape").and_then(|s| s.extract()).unwrap_or((0, 0));
        if shape != (rows, columns) {
            return Err(Error::new_err(format!(
                "gain must be a matrix of {rows} inputs × {columns} states, not {shape:?}"
            )));
        }
        let gain = vector("gain", &gain.call_method0("ravel")?)?;
        self.0.with_feedback(&gain).map(Self).map_err(raised)
    }

    /// How many directions of the state space the inputs can reach.
    fn controllable_states(&self) -> PyResult<usize> {
        self.0.controllable_states().map_err(raised)
    }

    /// The gain K of u = −K x that makes ∫ x*Qx + u*Ru least, with Q and R given by their diagonals.
    fn lqr<'py>(
        &self,
        py: Python<'py>,
        q: &Bound<'py, PyAny>,
        r: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (q, r) = (vector("q", q)?, vector("r", r)?);
        let pool = pool::pool(py)?;
        let gain = py.detach(|| pool.install(|| self.0.lqr(&q, &r))).map_err(raised)?;
        matrix(py, &gain, self.0.inputs.len(), self.0.states.len())
    }

    /// The same sampled every h seconds, inputs being held between.
    fn sampled(&self, h: f64) -> PyResult<Self> {
        self.0.sampled(h).map(Self).map_err(raised)
    }

    fn __repr__(&self) -> String {
        let (n, m, p) = (self.0.states.len(), self.0.inputs.len(), self.0.outputs.len());
        match self.0.step {
            None => format!("<StateSpace: {n} states, {m} inputs, {p} outputs>"),
            Some(h) => format!("<StateSpace: {n} states, {m} inputs, {p} outputs, steps of {h} s>"),
        }
    }
}
