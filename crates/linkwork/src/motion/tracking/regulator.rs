//! The regulator of least cost along a trajectory.

use super::{Trajectory, Wanted, feedforward, memory};
use crate::control::Controller;
use crate::dense::dot;
use crate::model::Mechanism;
use crate::simulate::Now;
use crate::state_space::{Method, OperatingPoint, StateSpace};
use crate::workspace::{Moving, Workspace};
use crate::{Error, Result};

/// T = T_d(t) − K(t)[q ⊖ q_d; q̇ − q̇_d] at the driven joints: the torques that the trajectory takes, and the feedback of least
/// cost for the dynamics linearized along it, by the exact derivatives of the simulator's steps.
///
/// T_d holds the robot against gravity, so that [`Controlled`](crate::control::Controlled) goes without.
///
/// ```
/// use linkwork::control::Controlled;
/// use linkwork::model::examples;
/// use linkwork::motion::{Trajectory, TrackingRegulator};
/// use linkwork::simulate::{Dynamics, Integrator, RungeKutta4, State};
/// let arm = examples::arm7();
/// let course = Trajectory::minimum_jerk(&arm, &[0.0; 7], &[0.4; 7], 1.0)?;
/// let weights = [[1e3; 7], [1.0; 7]].concat();             // of positions, then of rates
/// let law = TrackingRegulator::new(&course, &weights, &[1e-2; 7], 0.01)?;
/// let mut equations = Dynamics::new(&arm, Controlled::new(&arm, law).without_gravity())?;
/// let mut state = State::at_rest(&arm, &[0.02; 7]);        // not where the trajectory starts
/// let mut integrator = RungeKutta4::new(&arm);
/// for _ in 0..1000 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// assert!(state.q.iter().all(|q| (q - 0.4).abs() < 2e-3), "{:?}", state.q);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[doc(alias = "time-varying lqr")]
#[derive(Clone, Debug)]
pub struct TrackingRegulator {
    wanted: Wanted,
    workspace: Workspace,
    memory: [Vec<f64>; 4],
    mechanism: Mechanism,
    step: f64,
    driven: Vec<usize>,
    /// Kₖ of every step, driven × states.
    gains: Vec<Vec<f64>>,
    x: Vec<f64>,
}

impl TrackingRegulator {
    /// Along a trajectory, with steps of about so many seconds. Weights are those of the 2nv states, q ⊖ q_d and then q̇ − q̇_d,
    /// also at the end; `effort` has the weights of the torques at the driven degrees of freedom. An error if the trajectory
    /// needs a torque where no motor is.
    pub fn new(course: &Trajectory, weights: &[f64], effort: &[f64], step: f64) -> Result<Self> {
        if !(step > 0.0 && step.is_finite()) {
            return Err(Error::Duration {
                argument: "step",
                value: step,
            });
        }
        let m = course.mechanism();
        let steps = (course.duration() / step).ceil().max(1.0);
        if steps > 1e6 {
            return Err(Error::Gain {
                argument: "step",
                value: step,
                rule: "give at most 10⁶ steps along the trajectory",
            });
        }
        let h = course.duration() / steps;
        let (mut workspace, mut memory) = (m.workspace(), memory(m));
        let mut points = Vec::new();
        for k in 0..steps as usize {
            let t = course.start_time() + k as f64 * h;
            let mut tau = vec![0.0; m.nv()];
            // What is held over the step is the torque of its middle.
            feedforward(
                course,
                &mut workspace,
                t + 0.5 * h,
                memory.each_mut().map(|x| &mut x[..]),
                &mut tau,
            )?;
            let [q, qd, qdd, _] = &mut memory;
            course.at(t, q, qd, qdd)?;
            points.push(OperatingPoint {
                q: q.clone(),
                qd: qd.clone(),
                tau,
                forces: Vec::new(),
            });
        }
        let models = StateSpace::of_steps(m, &points, Method::ImplicitMidpoint, h)?;
        Ok(Self {
            wanted: Wanted::new(course),
            workspace,
            memory,
            mechanism: m.clone(),
            step: h,
            driven: m.driven_dofs(),
            gains: StateSpace::lqr_along(&models, weights, effort, weights)?,
            x: vec![0.0; 2 * m.nv()],
        })
    }

    /// For a robot with the same joints, whose masses and lengths may be others: the law stays that of the model.
    pub fn for_plant(mut self, mechanism: &Mechanism) -> Result<Self> {
        self.wanted.course.clone().for_mechanism(mechanism)?;
        self.mechanism = mechanism.clone();
        Ok(self)
    }

    /// K at a time, driven × states.
    pub fn gain(&self, t: f64) -> &[f64] {
        let k = (t - self.wanted.course.start_time()) / self.step;
        &self.gains[(k.max(0.0) as usize).min(self.gains.len() - 1)]
    }
}

impl Controller for TrackingRegulator {
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        moving.mechanism().check_same(&self.mechanism, "controller")?;
        self.wanted.look(now.t, now.q, now.v)?;
        let n = tau.len();
        for i in 0..n {
            (self.x[i], self.x[n + i]) = (-self.wanted.error[i], -self.wanted.rate[i]);
        }
        let room = self.memory.each_mut().map(|x| &mut x[..]);
        feedforward(&self.wanted.course, &mut self.workspace, now.t, room, tau)?;
        let k = ((now.t - self.wanted.course.start_time()) / self.step).max(0.0) as usize;
        let gain = &self.gains[k.min(self.gains.len() - 1)];
        for (&i, row) in self.driven.iter().zip(gain.chunks(2 * n.max(1))) {
            tau[i] -= dot(row, &self.x);
        }
        Ok(())
    }
}
