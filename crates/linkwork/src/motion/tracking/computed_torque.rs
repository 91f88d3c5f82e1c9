//! Computed torque along a trajectory.

use super::{Trajectory, Wanted, needed};
use crate::control::Controller;
use crate::model::check_length;
use crate::simulate::Now;
use crate::workspace::Moving;
use crate::{Error, Mechanism, Result, Workspace};

/// T = 𝓜(q̈_d + k_p (q_d ⊖ q) + k_d (q̇_d − q̇)) + C, less what springs, dampers and friction do: the robot's own dynamics undone,
/// as far as its model knows them, so that every coordinate goes to the trajectory by itself.
///
/// Gravity is part of it, so that [`Controlled`](crate::control::Controlled), which keeps to effort limits, goes without.
///
/// ```
/// use linkwork::control::Controlled;
/// use linkwork::model::examples;
/// use linkwork::motion::{Trajectory, TrackingTorque};
/// use linkwork::simulate::{Dynamics, Integrator, RungeKutta4, State};
/// let arm = examples::arm7();
/// let course = Trajectory::minimum_jerk(&arm, &[0.0; 7], &[0.4; 7], 1.0)?;
/// let law = TrackingTorque::new(&course, &[100.0; 7], &[20.0; 7])?;
/// let mut equations = Dynamics::new(&arm, Controlled::new(&arm, law).without_gravity())?;
/// let mut state = State::at_rest(&arm, &[0.0; 7]);
/// let mut integrator = RungeKutta4::new(&arm);
/// for _ in 0..1000 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// assert!(state.q.iter().all(|q| (q - 0.4).abs() < 1e-6));
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TrackingTorque {
    wanted: Wanted,
    workspace: Workspace,
    kp: Vec<f64>,
    kd: Vec<f64>,
    room: Vec<f64>,
    mechanism: Mechanism,
}

impl TrackingTorque {
    /// Along a trajectory, with gains per degree of freedom that are not negative. Motors must drive all of them.
    pub fn new(course: &Trajectory, kp: &[f64], kd: &[f64]) -> Result<Self> {
        let m = course.mechanism();
        m.need_driven(|_| true, "computed torque along a trajectory")?;
        for (argument, gains) in [("kp", kp), ("kd", kd)] {
            check_length(argument, m.nv(), gains.len())?;
            if let Some(&value) = gains.iter().find(|x| !(x.is_finite() && **x >= 0.0)) {
                return Err(Error::Negative { argument, value });
            }
        }
        Ok(Self {
            wanted: Wanted::new(course),
            workspace: m.workspace(),
            kp: kp.to_vec(),
            kd: kd.to_vec(),
            room: vec![0.0; m.nv()],
            mechanism: m.clone(),
        })
    }

    /// For a robot with the same joints, whose masses and lengths may be others: the law stays that of the model.
    pub fn for_plant(mut self, mechanism: &Mechanism) -> Result<Self> {
        self.wanted.course.clone().for_mechanism(mechanism)?;
        self.mechanism = mechanism.clone();
        Ok(self)
    }

    /// q_d ⊖ q of the last call.
    pub fn error(&self) -> &[f64] {
        &self.wanted.error
    }
}

impl Controller for TrackingTorque {
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        moving.mechanism().check_same(&self.mechanism, "controller")?;
        self.wanted.look(now.t, now.q, now.v)?;
        let w = &mut self.wanted;
        for i in 0..tau.len() {
            w.qdd[i] += self.kp[i] * w.error[i] + self.kd[i] * w.rate[i];
        }
        let mut posed = self.workspace.at(now.q)?;
        needed(&mut posed.moving(now.v)?, &w.qdd, &mut self.room, tau)
    }
}
