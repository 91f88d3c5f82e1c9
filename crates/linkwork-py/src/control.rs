//! Controllers and other drives.

use crate::arrays::{array, pose, vector};
use crate::errors::{Error, raised};
use crate::evaluate::locked;
use crate::model::Model;
use crate::trajectory::Trajectory;
use linkwork::control::{
    self, ComputedTorque, Controlled, FrameTask, JointPd, OperationalSpace, PoseControl, RateDamping, Regulator,
};
use linkwork::motion::{TrackingRegulator, TrackingTorque};
use linkwork::simulate::{Drive, Now};
use linkwork::workspace::Moving;
use numpy::PyArray1;
use pyo3::prelude::*;
use std::sync::Mutex;

/// A controller of any kind.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    JointPd(JointPd),
    ComputedTorque(ComputedTorque),
    RateDamping(RateDamping),
    Pose(Box<PoseControl>),
    Regulator(Regulator),
    Operational(Box<OperationalSpace>),
    Tracking(Box<TrackingTorque>),
    TrackingRegulator(Box<TrackingRegulator>),
}

impl control::Controller for Kind {
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> linkwork::Result<()> {
        match self {
            Self::JointPd(c) => c.torques(now, moving, tau),
            Self::ComputedTorque(c) => c.torques(now, moving, tau),
            Self::RateDamping(c) => c.torques(now, moving, tau),
            Self::Pose(c) => c.torques(now, moving, tau),
            Self::Regulator(c) => c.torques(now, moving, tau),
            Self::Operational(c) => c.torques(now, moving, tau),
            Self::Tracking(c) => c.torques(now, moving, tau),
            Self::TrackingRegulator(c) => c.torques(now, moving, tau),
        }
    }
}

/// What drives a simulation.
pub(crate) enum Drives<'a> {
    None,
    Controller(Box<Controlled<Kind>>),
    /// A function of time, q and q̇, and where what it raises is kept.
    Function(Py<PyAny>, &'a mut Option<PyErr>),
}

impl Drive for Drives<'_> {
    fn drive(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> linkwork::Result<()> {
        let (function, failure) = match self {
            Self::None => return Ok(()),
            Self::Controller(controlled) => return controlled.drive(now, moving, tau),
            Self::Function(function, failure) => (function, failure),
        };
        let called = Python::attach(|py| -> PyResult<Vec<f64>> {
            let (q, v) = (PyArray1::from_slice(py, now.q), PyArray1::from_slice(py, now.v));
            let given = vector("the drive's result", &function.bind(py).call1((now.t, q, v))?)?;
            if given.len() != tau.len() {
                return Err(Error::new_err(format!(
                    "the drive gives {} torques but the model has nv = {}",
                    given.len(),
                    tau.len()
                )));
            }
            Ok(given)
        });
        match called {
            Ok(given) => {
                tau.copy_from_slice(&given);
                Ok(())
            }
            Err(raised) => {
                **failure = Some(raised);
                let problem = "the drive raised an exception".to_owned();
                Err(linkwork::Error::Drive { problem })
            }
        }
    }
}

/// A controller: give it to `Model.simulate` as its drive, or ask it for torques. It holds the model against gravity and keeps to
/// the joints' effort limits.
///
/// >>> import numpy as np, linkwork as lw
/// >>> m = lw.Model.example("puma560")
/// >>> c = lw.Controller.computed_torque(m, m.neutral(), kp=25.0, kd=10.0)
/// >>> c.torques(m.random(1), np.zeros(6)).shape
/// (6,)
#[pyclass(frozen, module = "linkwork")]
pub(crate) struct Controller(pub(crate) Mutex<Controlled<Kind>>, Py<Model>);

/// One number for all degrees of freedom, or one each.
pub(crate) fn gains(argument: &str, given: &Bound<'_, PyAny>, nv: usize) -> PyResult<Vec<f64>> {
    match given.extract::<f64>() {
        Ok(number) => Ok(vec![number; nv]),
        Err(_) => vector(argument, given),
    }
}

impl Controller {
    fn of(model: &Bound<'_, Model>, kind: linkwork::Result<Kind>, gravity: bool) -> PyResult<Self> {
        let controlled = Controlled::new(model.get().mechanism(), kind.map_err(raised)?);
        let controlled = if gravity {
            controlled
        } else {
            controlled.without_gravity()
        };
        Ok(Self(Mutex::new(controlled), model.clone().unbind()))
    }
}

#[pymethods]
impl Controller {
    /// A spring and a damper at every joint.
    #[staticmethod]
    #[pyo3(signature = (model, target, kp, kd, *, gravity=true))]
    fn joint_pd(
        model: &Bound<'_, Model>,
        target: &Bound<'_, PyAny>,
        kp: &Bound<'_, PyAny>,
        kd: &Bound<'_, PyAny>,
        gravity: bool,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let (kp, kd) = (gains("kp", kp, m.nv())?, gains("kd", kd, m.nv())?);
        let kind = JointPd::new(m, &vector("target", target)?, &kp, &kd).map(Kind::JointPd);
        Self::of(model, kind, gravity)
    }

    /// The torques that give every joint the acceleration of a spring and a damper: 𝓜(kp e − kd q̇) and the velocity terms.
    #[staticmethod]
    #[pyo3(signature = (model, target, kp, kd, *, gravity=true))]
    fn computed_torque(
        model: &Bound<'_, Model>,
        target: &Bound<'_, PyAny>,
        kp: &Bound<'_, PyAny>,
        kd: &Bound<'_, PyAny>,
        gravity: bool,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let (kp, kd) = (gains("kp", kp, m.nv())?, gains("kd", kd, m.nv())?);
        let kind = ComputedTorque::new(m, &vector("target", target)?, &kp, &kd).map(Kind::ComputedTorque);
        Self::of(model, kind, gravity)
    }

    /// ε = −cν: every total rate is opposed by itself.
    #[staticmethod]
    #[pyo3(signature = (model, c, *, gravity=true))]
    fn rate_damping(model: &Bound<'_, Model>, c: &Bound<'_, PyAny>, gravity: bool) -> PyResult<Self> {
        let m = model.get().mechanism();
        let kind = RateDamping::with(m, &gains("c", c, m.nv())?).map(Kind::RateDamping);
        Self::of(model, kind, gravity)
    }

    /// Decoupled control of a frame to a pose, tuned at the configuration q that reaches it: its slowest pole there is −rate.
    #[staticmethod]
    #[pyo3(signature = (model, frame, target, q, rate, *, gravity=true))]
    fn pose(
        model: &Bound<'_, Model>,
        frame: &str,
        target: &Bound<'_, PyAny>,
        q: &Bound<'_, PyAny>,
        rate: f64,
        gravity: bool,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let frame = m.frame(frame).map_err(raised)?;
        let tuned = PoseControl::tuned(m, frame, pose("target", target)?, &vector("q", q)?, rate);
        Self::of(model, tuned.map(|c| Kind::Pose(Box::new(c))), gravity)
    }

    /// The linear quadratic regulator about a configuration at rest: u = −K x, with the weights of states and torques on the
    /// diagonals of Q and R; `driven` names the joints that have motors, all if it is empty.
    #[staticmethod]
    #[pyo3(signature = (model, target, *, driven=Vec::new(), weights=None, effort=None))]
    fn lqr(
        model: &Bound<'_, Model>,
        target: &Bound<'_, PyAny>,
        driven: Vec<String>,
        weights: Option<&Bound<'_, PyAny>>,
        effort: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let mut inputs = 0;
        for (joint, _, v) in m.layout() {
            if driven.is_empty() || driven.contains(&joint.name) {
                inputs += v.len();
            }
        }
        let weights = weights.map_or(Ok(vec![1.0; 2 * m.nv()]), |w| gains("weights", w, 2 * m.nv()))?;
        let effort = effort.map_or(Ok(vec![1.0; inputs]), |e| gains("effort", e, inputs))?;
        let regulator = Regulator::new(m, &vector("target", target)?, &driven, &weights, &effort);
        // It holds what it can by itself.
        Self::of(model, regulator.map(Kind::Regulator), false)
    }

    /// Frames to their targets, in order of priority, each with the dynamics of its own directions undone; what they leave brings the
    /// joints to a posture. Tasks are pairs of a frame's name and a target, a place of three numbers or a pose of 4 × 4.
    /// `quickness` is in rad/s: k_p = ω², k_d = 2ω. Where motors drive some joints alone, as of a floating base, frames are moved by
    /// those; `standing_on` names links that do not move, such as feet.
    ///
    /// >>> import numpy as np, linkwork as lw
    /// >>> m = lw.Model.example("arm7")
    /// >>> there = m.pose(np.full(7, 0.4), "flange")[:3, 3]
    /// >>> c = lw.Controller.operational_space(m, [("flange", there)], np.full(7, 0.3))
    /// >>> path = m.simulate(np.full(7, 0.3), seconds=2.0, dt=2e-3, drive=c)
    /// >>> bool(np.linalg.norm(m.pose(path.q[-1], "flange")[:3, 3] - there) < 1e-3)
    /// True
    #[staticmethod]
    #[pyo3(signature = (model, tasks, posture, *, quickness=10.0, posture_quickness=5.0, gravity=true, standing_on=Vec::new()))]
    fn operational_space(
        model: &Bound<'_, Model>,
        tasks: Vec<(String, Bound<'_, PyAny>)>,
        posture: &Bound<'_, PyAny>,
        quickness: f64,
        posture_quickness: f64,
        gravity: bool,
        standing_on: Vec<String>,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let mut all = Vec::new();
        for (frame, target) in &tasks {
            let frame = m.frame(frame).map_err(raised)?;
            let task = match array::<3>("target", target) {
                Ok(place) => FrameTask::position(frame, place),
                Err(_) => FrameTask::pose(frame, pose("target", target)?),
            };
            all.push(FrameTask { quickness, ..task });
        }
        let law = OperationalSpace::new(m, all, &vector("posture", posture)?);
        let held: linkwork::Result<Vec<_>> = standing_on.iter().map(|name| m.frame(name)).collect();
        let held = held.map_err(raised)?;
        let law = law.and_then(|law| law.posture_quickness(posture_quickness)?.standing_on(&held));
        Self::of(model, law.map(|c| Kind::Operational(Box::new(c))), gravity)
    }

    /// Computed torque along a trajectory: 𝓜(q̈_d + kp e + kd ė) and what the motion takes beside. `plant` is the model that is to
    /// be driven, if its masses are not those that the law knows.
    ///
    /// >>> import numpy as np, linkwork as lw
    /// >>> m = lw.Model.example("arm7")
    /// >>> course = lw.Trajectory.minimum_jerk(m, np.zeros(7), np.full(7, 0.4), seconds=1.0)
    /// >>> path = m.simulate(np.zeros(7), seconds=1.0, drive=lw.Controller.tracking(course, kp=100.0, kd=20.0))
    /// >>> bool(np.allclose(path.q[-1], 0.4, atol=1e-6))
    /// True
    #[staticmethod]
    #[pyo3(signature = (trajectory, kp, kd, *, plant=None))]
    fn tracking(
        py: Python<'_>,
        trajectory: &Trajectory,
        kp: &Bound<'_, PyAny>,
        kd: &Bound<'_, PyAny>,
        plant: Option<&Bound<'_, Model>>,
    ) -> PyResult<Self> {
        let nv = trajectory.course.mechanism().nv();
        let (kp, kd) = (gains("kp", kp, nv)?, gains("kd", kd, nv)?);
        let law = TrackingTorque::new(&trajectory.course, &kp, &kd);
        let plant = plant.unwrap_or(trajectory.model.bind(py));
        let law = law.and_then(|law| law.for_plant(plant.get().mechanism()));
        // Gravity is part of the law.
        Self::of(plant, law.map(|c| Kind::Tracking(Box::new(c))), false)
    }

    /// The regulator of least cost along a trajectory: the torques that it takes, and the feedback for the dynamics linearized along
    /// it, in steps of `step` seconds. Weights are those of the 2 nv states, `effort` has those of the torques.
    #[staticmethod]
    #[pyo3(signature = (trajectory, *, weights=None, effort=None, step=0.01, plant=None))]
    fn tracking_lqr(
        py: Python<'_>,
        trajectory: &Trajectory,
        weights: Option<&Bound<'_, PyAny>>,
        effort: Option<&Bound<'_, PyAny>>,
        step: f64,
        plant: Option<&Bound<'_, Model>>,
    ) -> PyResult<Self> {
        let m = trajectory.course.mechanism();
        let driven = m.driven_dofs().len();
        let weights = weights.map_or(Ok(vec![1.0; 2 * m.nv()]), |w| gains("weights", w, 2 * m.nv()))?;
        let effort = effort.map_or(Ok(vec![1.0; driven]), |e| gains("effort", e, driven))?;
        let law = py.detach(|| TrackingRegulator::new(&trajectory.course, &weights, &effort, step));
        let plant = plant.unwrap_or(trajectory.model.bind(py));
        let law = law.and_then(|law| law.for_plant(plant.get().mechanism()));
        Self::of(plant, law.map(|c| Kind::TrackingRegulator(Box::new(c))), false)
    }

    /// The torques at a state, those that hold the model against gravity included.
    #[pyo3(signature = (q, qd, t=0.0))]
    fn torques<'py>(
        &self,
        py: Python<'py>,
        q: &Bound<'_, PyAny>,
        qd: &Bound<'_, PyAny>,
        t: f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let m = self.1.get().mechanism();
        let (q, v) = (vector("q", q)?, vector("qd", qd)?);
        let mut tau = vec![0.0; m.nv()];
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&q).map_err(raised)?;
        let mut moving = posed.moving(&v).map_err(raised)?;
        let now = Now { t, q: &q, v: &v };
        locked(&self.0).drive(now, &mut moving, &mut tau).map_err(raised)?;
        Ok(PyArray1::from_vec(py, tau))
    }
}
