//! Inverse kinematics, for one target or many.

use crate::arrays::flat;
use crate::errors::{Error, raised};
use crate::model::Model;
use crate::pool;
use crate::scene::_Scene;
use linkwork::Mechanism;
use linkwork::motion::{InverseKinematics, Rates, SolverOptions, Task};
use linkwork::spatial::{Pose, Rotation, Vec3};
use numpy::PyArray1;
use pyo3::prelude::*;

/// A task as Python's dataclass has it; its targets come beside it.
#[derive(FromPyObject)]
pub(crate) struct Given {
    kind: String,
    frame: Option<String>,
    relative_to: Option<String>,
    axis: Option<[f64; 3]>,
    weight: f64,
    turning_weight: f64,
    axis_weights: [f64; 3],
    level: usize,
    preferred: bool,
    target_velocity: Option<[f64; 6]>,
}

/// Three rows of numbers, `stride` apart.
fn rotation(x: &[f64], stride: usize) -> Rotation {
    Rotation::from_rows([0, 1, 2].map(|i| [0, 1, 2].map(|j| x[stride * i + j])))
}

impl Given {
    /// How many numbers a target has.
    fn size(&self, m: &Mechanism) -> PyResult<usize> {
        Ok(match &*self.kind {
            "pose" => 16,
            "orientation" => 9,
            "position" | "direction" | "centre_of_mass" => 3,
            "distance" | "distance_at_least" | "distance_at_most" | "clear" => 1,
            "posture" => m.nq(),
            kind => {
                return Err(Error::new_err(format!(
                    "the task's kind is {kind:?}; make tasks by `Task.pose`, `Task.position` and the like"
                )));
            }
        })
    }

    /// The library's task for a target.
    fn task(&self, m: &Mechanism, x: &[f64]) -> PyResult<Task> {
        let frame = |name: &Option<String>, argument: &str| match name {
            Some(name) => m.frame(name).map_err(raised),
            None => Err(Error::new_err(format!("the {} needs a {argument}", self.kind))),
        };
        let other = self
            .relative_to
            .as_ref()
            .map(|name| m.frame(name).map_err(raised))
            .transpose()?;
        let apart = || {
            Ok::<_, PyErr>((
                frame(&self.frame, "frame")?,
                frame(&self.relative_to, "frame to be relative to")?,
            ))
        };
        let three = || Vec3::new(x[0], x[1], x[2]);
        let mut task = match &*self.kind {
            "pose" => {
                if x[12..] != [0.0, 0.0, 0.0, 1.0] {
                    let problem = "the last row of a target pose is 0, 0, 0, 1";
                    return Err(Error::new_err(format!("{problem}, not {:?}", &x[12..])));
                }
                let pose = Pose::new(rotation(x, 4), Vec3::new(x[3], x[7], x[11]));
                Task::pose(frame(&self.frame, "frame")?, pose)
            }
            "orientation" => Task::orientation(frame(&self.frame, "frame")?, rotation(x, 3)),
            "position" => Task::position(frame(&self.frame, "frame")?, three()),
            "direction" => {
                let axis = self.axis.ok_or_else(|| Error::new_err("a direction needs an axis"))?;
                Task::direction(frame(&self.frame, "frame")?, axis, three())
            }
            "distance" => apart().map(|(a, b)| Task::distance(a, b, x[0]))?,
            "distance_at_least" => apart().map(|(a, b)| Task::distance_at_least(a, b, x[0]))?,
            "distance_at_most" => apart().map(|(a, b)| Task::distance_at_most(a, b, x[0]))?,
            "centre_of_mass" => Task::centre_of_mass(three()),
            "clear" => Task::clear(x[0]),
            _ => Task::posture(x.to_vec()),
        };
        if let Some(other) = other {
            task = task.relative_to(other);
        }
        task = task.weight(self.weight).turning_weight(self.turning_weight);
        task = task.axis_weights(self.axis_weights).level(self.level);
        if let Some([a, b, c, x, y, z]) = self.target_velocity {
            task = task.moving([a, b, c], [x, y, z]);
        }
        Ok(if self.preferred { task.preferred() } else { task })
    }
}

fn plain() -> PyErr {
    Error::new_err("targets and starts must be plain arrays of float64, of the tasks' sizes")
}

/// The tasks of each of `count` targets.
fn all_tasks(m: &Mechanism, tasks: &[Given], targets: &[Bound<'_, PyAny>], count: usize) -> PyResult<Vec<Vec<Task>>> {
    let mut wanted: Vec<Vec<Task>> = (0..count).map(|_| Vec::with_capacity(tasks.len())).collect();
    for (given, targets) in tasks.iter().zip(targets) {
        // SAFETY: the lock is held while targets are read.
        let numbers = unsafe { flat::<f64>(targets) }.ok_or_else(plain)?;
        let size = given.size(m)?;
        if numbers.len() != size * count {
            return Err(plain());
        }
        for (i, list) in wanted.iter_mut().enumerate() {
            list.push(given.task(m, &numbers[size * i..size * (i + 1)])?);
        }
    }
    Ok(wanted)
}

/// Velocities of joints that give tasks theirs, one after another, and per degree of freedom whether a limit held it.
type Velocities<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<bool>>);

/// The differential form at `count` configurations, with targets as in [`inverse_kinematics`]: `rates` are the period, the gain and
/// the damping.
#[pyfunction]
#[pyo3(signature = (model, tasks, targets, count, q, rates, scene = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn task_velocities<'py>(
    py: Python<'py>,
    model: &Bound<'_, Model>,
    tasks: Vec<Given>,
    targets: Vec<Bound<'_, PyAny>>,
    count: usize,
    q: &Bound<'_, PyAny>,
    rates: (f64, f64, f64),
    scene: Option<&Bound<'_, _Scene>>,
) -> PyResult<Velocities<'py>> {
    let model = model.get();
    let closed = model.closed()?;
    let m = closed.map_or(model.mechanism(), |c| c.mechanism());
    let wanted = all_tasks(m, &tasks, &targets, count)?;
    // SAFETY: the lock is held while configurations are read.
    let q = unsafe { flat::<f64>(q) }.ok_or_else(plain)?;
    let (nq, nv) = (m.nq(), m.nv());
    let first = wanted.first().cloned().unwrap_or_default();
    let solver = match closed {
        Some(closed) => InverseKinematics::closed(closed, first),
        None => InverseKinematics::new(m, first),
    };
    let mut solver = solver.map_err(raised)?;
    if let Some(scene) = scene {
        solver = solver.avoiding(scene.get().shapes());
    }
    let (period, gain, damping) = rates;
    let rates = Rates { period, gain, damping };
    let (mut v, mut held) = (vec![0.0; count * nv], vec![false; count * nv]);
    for (i, tasks) in wanted.into_iter().enumerate() {
        for (k, task) in tasks.into_iter().enumerate() {
            solver.set(k, task).map_err(raised)?;
        }
        let out = &mut v[i * nv..][..nv];
        solver.velocity(&q[i * nq..][..nq], &rates, out).map_err(raised)?;
        held[i * nv..][..nv].copy_from_slice(solver.held());
    }
    Ok((PyArray1::from_vec(py, v), PyArray1::from_vec(py, held)))
}

/// Solutions, one after another: q, whether reached, per task what is left to turn and to move, how far loops are open, iterations,
/// restarts, sentences, and the joints at limits.
type Found<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Vec<String>,
    Vec<Vec<(String, f64, bool)>>,
);

/// Solves for `count` targets: of each task `count` targets one after another, and starts for all or for each.
#[pyfunction]
#[pyo3(signature = (model, tasks, targets, count, starts, options, scene = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn inverse_kinematics<'py>(
    py: Python<'py>,
    model: &Bound<'_, Model>,
    tasks: Vec<Given>,
    targets: Vec<Bound<'_, PyAny>>,
    count: usize,
    starts: &Bound<'_, PyAny>,
    options: (f64, usize, usize, u64),
    scene: Option<&Bound<'_, _Scene>>,
) -> PyResult<Found<'py>> {
    let model = model.get();
    let closed = model.closed()?;
    let m = closed.map_or(model.mechanism(), |c| c.mechanism());
    let wanted = all_tasks(m, &tasks, &targets, count)?;
    // SAFETY: copied at once.
    let starts = unsafe { flat::<f64>(starts) }.ok_or_else(plain)?.to_vec();
    let (tolerance, iterations, restarts, seed) = options;
    let options = SolverOptions {
        tolerance,
        iterations,
        restarts,
        seed,
    };
    let first = wanted.first().cloned().unwrap_or_default();
    let solver = match closed {
        Some(closed) => InverseKinematics::closed(closed, first),
        None => InverseKinematics::new(m, first),
    };
    let mut solver = solver.and_then(|s| s.options(options)).map_err(raised)?;
    if let Some(scene) = scene {
        solver = solver.avoiding(scene.get().shapes());
    } else if tasks.iter().any(|task| task.kind == "clear") {
        return Err(Error::new_err(
            "a task keeps clear of shapes; give them by `scene`, as `lw.Scene(model, ground=None)`",
        ));
    }
    let pool = pool::pool(py)?;
    let found = py.detach(|| pool.install(|| solver.solve_many(&wanted, &starts)));
    let found = found.map_err(raised)?;
    let residuals = found
        .iter()
        .flat_map(|f| f.residuals.iter().flat_map(|r| [r.angle, r.distance]));
    let limits = found.iter().map(|f| {
        let each = f.bindings.iter().map(|b| (b.joint.clone(), b.at, b.is_upper));
        each.collect()
    });
    Ok((
        PyArray1::from_vec(py, found.iter().flat_map(|f| f.q.iter().copied()).collect()),
        PyArray1::from_vec(py, found.iter().map(|f| f.reached).collect()),
        PyArray1::from_vec(py, residuals.collect()),
        PyArray1::from_vec(py, found.iter().map(|f| f.closure).collect()),
        PyArray1::from_vec(py, found.iter().map(|f| f.iterations as i64).collect()),
        PyArray1::from_vec(py, found.iter().map(|f| f.restarts as i64).collect()),
        found.iter().map(ToString::to_string).collect(),
        limits.collect(),
    ))
}
