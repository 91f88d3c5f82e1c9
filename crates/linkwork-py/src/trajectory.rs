//! Trajectories: a robot's course in time, made of polynomials.

use crate::arrays::{flat, vector};
use crate::control::gains;
use crate::errors::{Error, raised};
use crate::model::Model;
use linkwork::motion::{self, Blend, Limits, PoseTrajectory};
use linkwork::spatial::{Pose, Rotation, Vec3};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Where a robot is at every time, how fast it moves and how it accelerates. Before its start it rests where it starts, and after
/// its end where it ends. Immutable, shared by threads, and picklable.
///
/// >>> import numpy as np, linkwork as lw
/// >>> m = lw.Model.example("arm7")
/// >>> course = lw.Trajectory.minimum_jerk(m, np.zeros(7), np.full(7, 0.4), seconds=2.0)
/// >>> q, qd, qdd = course.at(np.linspace(0, 2, 101))
/// >>> q.shape, bool(np.allclose(q[-1], 0.4))
/// ((101, 7), True)
#[pyclass(frozen, module = "linkwork")]
pub(crate) struct Trajectory {
    pub(crate) course: motion::Trajectory,
    pub(crate) model: Py<Model>,
}

/// Rows of numbers.
fn rows(argument: &str, given: &Bound<'_, PyAny>, size: usize) -> PyResult<Vec<Vec<f64>>> {
    let numpy = given.py().import("numpy")?;
    let problem = |_| Error::new_err(format!("{argument} must be rows of {size} numbers"));
    let array = numpy.call_method1("asarray", (given, "float64")).map_err(problem)?;
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    if shape.len() != 2 || shape[1] != size {
        return Err(Error::new_err(format!(
            "{argument} has shape {shape:?}, but it must be rows of {size} numbers"
        )));
    }
    let plain = numpy.call_method1("ascontiguousarray", (array,))?;
    // SAFETY: copied at once.
    let numbers = unsafe { flat::<f64>(&plain) }.unwrap_or_default();
    Ok(numbers.chunks(size.max(1)).map(<[f64]>::to_vec).collect())
}

/// Poses of n × 4 × 4 numbers.
fn poses(given: &Bound<'_, PyAny>) -> PyResult<Vec<Pose>> {
    let problem = || Error::new_err("poses must be n × 4 × 4 numbers");
    let numpy = given.py().import("numpy")?;
    let array = numpy
        .call_method1("asarray", (given, "float64"))
        .map_err(|_| problem())?;
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    if shape.len() != 3 || shape[1..] != [4, 4] {
        return Err(problem());
    }
    let all = rows("poses", &array.call_method1("reshape", (shape[0], 16))?, 16)?;
    let pose = |x: &Vec<f64>| {
        let rotation = Rotation::from_rows([0, 1, 2].map(|i| [0, 1, 2].map(|j| x[4 * i + j])));
        Pose::new(rotation, Vec3::new(x[3], x[7], x[11]))
    };
    Ok(all.iter().map(pose).collect())
}

/// The model's limits, with others in the place of some.
fn limits(
    model: &Model,
    velocity: Option<&Bound<'_, PyAny>>,
    acceleration: Option<&Bound<'_, PyAny>>,
    torque: Option<&Bound<'_, PyAny>>,
) -> PyResult<Limits> {
    let m = model.mechanism();
    let mut limits = Limits::of(m);
    if let Some(given) = velocity {
        limits = limits.velocity(&gains("velocity", given, m.nv())?).map_err(raised)?;
    }
    if let Some(given) = acceleration {
        limits = limits
            .acceleration(&gains("acceleration", given, m.nv())?)
            .map_err(raised)?;
    }
    if let Some(given) = torque {
        limits = limits.torque(&gains("torque", given, m.nv())?).map_err(raised)?;
    }
    Ok(limits)
}

impl Trajectory {
    fn of(model: &Bound<'_, Model>, course: linkwork::Result<motion::Trajectory>) -> PyResult<Self> {
        Ok(Self {
            course: course.map_err(raised)?,
            model: model.clone().unbind(),
        })
    }

    fn changed(&self, py: Python<'_>, course: linkwork::Result<motion::Trajectory>) -> PyResult<Self> {
        Self::of(self.model.bind(py), course)
    }
}

#[pymethods]
impl Trajectory {
    /// From rest to rest with the least jerk.
    #[staticmethod]
    fn minimum_jerk(
        model: &Bound<'_, Model>,
        q0: &Bound<'_, PyAny>,
        q1: &Bound<'_, PyAny>,
        seconds: f64,
    ) -> PyResult<Self> {
        let (q0, q1) = (vector("q0", q0)?, vector("q1", q1)?);
        let m = model.get().mechanism();
        Self::of(model, motion::Trajectory::minimum_jerk(m, &q0, &q1, seconds))
    }

    /// Through waypoints (n, nq) at rising times, from rest to rest, by polynomials of degree three.
    #[staticmethod]
    fn cubic_spline(
        model: &Bound<'_, Model>,
        times: &Bound<'_, PyAny>,
        waypoints: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let (times, waypoints) = (vector("times", times)?, rows("waypoints", waypoints, m.nq())?);
        Self::of(model, motion::Trajectory::cubic_spline(m, &times, &waypoints))
    }

    /// Through waypoints (n, nq) at rising times, from rest to rest without a jump of acceleration, by polynomials of degree five:
    /// of all such courses that with the least jerk.
    ///
    /// >>> import linkwork as lw
    /// >>> m = lw.Model.example("arm7")
    /// >>> lw.Trajectory.quintic_spline(m, [0.0, 1.0, 2.5], m.random(1, count=3)).duration
    /// 2.5
    #[staticmethod]
    fn quintic_spline(
        model: &Bound<'_, Model>,
        times: &Bound<'_, PyAny>,
        waypoints: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let (times, waypoints) = (vector("times", times)?, rows("waypoints", waypoints, m.nq())?);
        Self::of(model, motion::Trajectory::quintic_spline(m, &times, &waypoints))
    }

    /// Straight segments between waypoints at rising times with blends of so many seconds, which pass inner waypoints by. `shape`
    /// is "quintic", with accelerations that begin and end at zero, or "parabolic", with constant ones.
    #[staticmethod]
    #[pyo3(signature = (model, times, waypoints, seconds, *, shape="quintic"))]
    fn linear_with_blends(
        model: &Bound<'_, Model>,
        times: &Bound<'_, PyAny>,
        waypoints: &Bound<'_, PyAny>,
        seconds: f64,
        shape: &str,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let (times, waypoints) = (vector("times", times)?, rows("waypoints", waypoints, m.nq())?);
        let blend = match shape {
            "quintic" => Blend::Quintic,
            "parabolic" => Blend::Parabolic,
            _ => {
                return Err(Error::new_err(format!(
                    "shape is {shape:?}; it must be \"quintic\" or \"parabolic\""
                )));
            }
        };
        Self::of(
            model,
            motion::Trajectory::linear_with_blends(m, &times, &waypoints, seconds, blend),
        )
    }

    /// Through states (n, nq), (n, nv) and their accelerations (n, nv) at rising times.
    #[staticmethod]
    fn through(
        model: &Bound<'_, Model>,
        times: &Bound<'_, PyAny>,
        q: &Bound<'_, PyAny>,
        qd: &Bound<'_, PyAny>,
        qdd: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let times = vector("times", times)?;
        let q = rows("q", q, m.nq())?.concat();
        let (qd, qdd) = (rows("qd", qd, m.nv())?.concat(), rows("qdd", qdd, m.nv())?.concat());
        Self::of(model, motion::Trajectory::through(m, &times, &q, &qd, &qdd))
    }

    /// A smooth path through waypoints (n, nq), in the least time from rest to rest. Limits of velocity, acceleration and torque are
    /// one number, or one per degree of freedom; the model's where none are given.
    ///
    /// >>> import numpy as np, linkwork as lw
    /// >>> m = lw.Model.example("arm7")
    /// >>> fast = lw.Trajectory.fastest(m, [np.zeros(7), np.full(7, 0.4), np.full(7, 0.9)], velocity=2.0, acceleration=10.0)
    /// >>> fast.limit_use(velocity=2.0, acceleration=10.0)["share"] < 1.01
    /// True
    #[staticmethod]
    #[pyo3(signature = (model, waypoints, *, velocity=None, acceleration=None, torque=None))]
    fn fastest(
        py: Python<'_>,
        model: &Bound<'_, Model>,
        waypoints: &Bound<'_, PyAny>,
        velocity: Option<&Bound<'_, PyAny>>,
        acceleration: Option<&Bound<'_, PyAny>>,
        torque: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let waypoints = rows("waypoints", waypoints, m.nq())?;
        let limits = limits(model.get(), velocity, acceleration, torque)?;
        let found = py.detach(|| motion::Trajectory::path_through(m, &waypoints)?.time_optimal(&limits));
        Self::of(model, found.map(|fast| fast.trajectory))
    }

    /// The joints' course that brings a frame through poses (n, 4, 4), from rest to rest and within position limits, by inverse
    /// kinematics from the configuration `start` on: off by less than `tolerance` everywhere. It takes the times given, or without
    /// any the least within limits of velocity, acceleration and torque.
    #[staticmethod]
    #[pyo3(signature = (model, frame, poses, start, *, times=None, tolerance=1e-6, velocity=None, acceleration=None, torque=None))]
    #[allow(clippy::too_many_arguments)]
    fn along_poses(
        py: Python<'_>,
        model: &Bound<'_, Model>,
        frame: &str,
        poses: &Bound<'_, PyAny>,
        start: &Bound<'_, PyAny>,
        times: Option<&Bound<'_, PyAny>>,
        tolerance: f64,
        velocity: Option<&Bound<'_, PyAny>>,
        acceleration: Option<&Bound<'_, PyAny>>,
        torque: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let (frame, start) = (m.frame(frame).map_err(raised)?, vector("start", start)?);
        let poses = self::poses(poses)?;
        let times = times.map(|t| vector("times", t)).transpose()?;
        let limits = limits(model.get(), velocity, acceleration, torque)?;
        let found = py.detach(|| match &times {
            Some(times) => PoseTrajectory::new(&poses, |body, q| motion::Trajectory::quintic_spline(body, times, q))?
                .follow(m, frame, &start, tolerance),
            None => {
                let path = PoseTrajectory::new(&poses, motion::Trajectory::path_through)?;
                let path = path.path(m, frame, &start, tolerance)?;
                path.time_optimal(&limits).map(|fast| fast.trajectory)
            }
        });
        Self::of(model, found)
    }

    /// The robot.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// When it starts, in s.
    #[getter]
    fn start_time(&self) -> f64 {
        self.course.start_time()
    }

    /// When it ends, in s.
    #[getter]
    fn end_time(&self) -> f64 {
        self.course.end_time()
    }

    /// How long it takes, in s.
    #[getter]
    fn duration(&self) -> f64 {
        self.course.duration()
    }

    /// The times of its knots, both ends included.
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.course.times())
    }

    /// Times from start to end, `rate` of them per second; both ends are among them.
    #[pyo3(signature = (rate=1000.0))]
    fn sample_times<'py>(&self, py: Python<'py>, rate: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let times = self.course.sample_times(rate).map_err(raised)?;
        Ok(PyArray1::from_vec(py, times))
    }

    /// q, q̇ and q̈ at times, written one after another.
    fn _at(
        &self,
        py: Python<'_>,
        t: &Bound<'_, PyAny>,
        q: &Bound<'_, PyAny>,
        qd: &Bound<'_, PyAny>,
        qdd: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let plain = || Error::new_err("arrays must be plain ones of float64");
        // SAFETY: results were just made, and nobody else writes to the times meanwhile.
        let (t, q, qd, qdd) = unsafe {
            (
                flat::<f64>(t).ok_or_else(plain)?,
                crate::arrays::slice_mut::<f64>(q).ok_or_else(plain)?,
                crate::arrays::slice_mut::<f64>(qd).ok_or_else(plain)?,
                crate::arrays::slice_mut::<f64>(qdd).ok_or_else(plain)?,
            )
        };
        let (nq, nv) = (self.course.mechanism().nq(), self.course.mechanism().nv());
        let done = py.detach(|| {
            t.iter().enumerate().try_for_each(|(i, &t)| {
                let (at, rate) = (nq * i..nq * (i + 1), nv * i..nv * (i + 1));
                self.course.at(t, &mut q[at], &mut qd[rate.clone()], &mut qdd[rate])
            })
        });
        done.map_err(raised)
    }

    /// The same course from another start time on.
    fn shifted(&self, py: Python<'_>, start: f64) -> PyResult<Self> {
        self.changed(py, self.course.clone().shifted(start))
    }

    /// The same path in another time, every part longer by a factor.
    fn stretched(&self, py: Python<'_>, factor: f64) -> PyResult<Self> {
        self.changed(py, self.course.clone().stretched(factor))
    }

    /// Goes on with another that starts where this one ends, however its times are numbered.
    fn then(&self, py: Python<'_>, next: &Self) -> PyResult<Self> {
        // Their models may be two copies of one.
        let next = next.course.clone().for_mechanism(self.course.mechanism());
        self.changed(py, next.and_then(|next| self.course.clone().then(&next)))
    }

    /// The same course for a model with the same joints, as one with other masses.
    fn for_model(&self, model: &Bound<'_, Model>) -> PyResult<Self> {
        Self::of(model, self.course.clone().for_mechanism(model.get().mechanism()))
    }

    /// The largest share of any limit that it takes: which joint, which quantity, when, and the share, beyond 1 if the limit is
    /// broken. Limits are the model's where none are given.
    #[pyo3(signature = (*, velocity=None, acceleration=None, torque=None))]
    fn limit_use<'py>(
        &self,
        py: Python<'py>,
        velocity: Option<&Bound<'_, PyAny>>,
        acceleration: Option<&Bound<'_, PyAny>>,
        torque: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let limits = limits(self.model.get(), velocity, acceleration, torque)?;
        let found = self.course.limit_use(&limits).map_err(raised)?;
        let entry = PyDict::new(py);
        entry.set_item("joint", &found.joint)?;
        entry.set_item("quantity", found.quantity)?;
        entry.set_item("t", found.t)?;
        entry.set_item("share", found.share)?;
        entry.set_item("message", found.to_string())?;
        Ok(entry)
    }

    /// An error that names the first joint which it leads beyond a position limit.
    fn check_positions(&self) -> PyResult<()> {
        self.course.check_positions().map_err(raised)
    }

    /// Its polynomials: times (n + 1), the configurations that segments start from (n, nq), and their coefficients (n, 5, nv) of
    /// u = c₁σ + … + c₅σ⁵, with σ from 0 to 1 over a segment and q = start ⊕ u.
    fn polynomials<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (times, bases, coefficients) = self.course.polynomials();
        let (n, m) = (times.len() - 1, self.course.mechanism());
        Ok((
            PyArray1::from_slice(py, times).into_any(),
            PyArray1::from_slice(py, bases).call_method1("reshape", ((n, m.nq()),))?,
            PyArray1::from_slice(py, coefficients).call_method1("reshape", ((n, 5, m.nv()),))?,
        ))
    }

    /// A trajectory of such polynomials.
    #[staticmethod]
    fn from_polynomials(
        model: &Bound<'_, Model>,
        times: &Bound<'_, PyAny>,
        starts: &Bound<'_, PyAny>,
        coefficients: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let numpy = times.py().import("numpy")?;
        let line = |argument: &str, x: &Bound<'_, PyAny>| vector(argument, &numpy.call_method1("ravel", (x,))?);
        let (times, starts) = (vector("times", times)?, line("starts", starts)?);
        let coefficients = line("coefficients", coefficients)?;
        Self::of(
            model,
            motion::Trajectory::from_polynomials(m, &times, &starts, &coefficients),
        )
    }

    fn __repr__(&self) -> String {
        let (name, knots) = (self.course.mechanism().name(), self.course.times().len());
        let (start, end) = (self.start_time(), self.end_time());
        format!("<Trajectory of {name:?}: {knots} knots, {start} s to {end} s>")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let restore = py.get_type::<Self>().getattr("from_polynomials")?;
        let (times, starts, coefficients) = self.polynomials(py)?;
        let given = (self.model.clone_ref(py), times, starts, coefficients);
        Ok((restore, given.into_pyobject(py)?.into_any()))
    }
}
