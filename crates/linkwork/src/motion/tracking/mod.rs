//! Following a trajectory: computed torque, the time-varying regulator, and what errors of the model do.

mod computed_torque;
mod regulator;
mod sensitivity;

pub use computed_torque::TrackingTorque;
pub use regulator::TrackingRegulator;
pub use sensitivity::{Feedback, Sensitivity};

use super::Trajectory;
use crate::Result;
use crate::model::Mechanism;
use crate::workspace::{Moving, Workspace};

/// Where a trajectory is, and how far a state is from it.
#[derive(Clone, Debug)]
struct Wanted {
    course: Trajectory,
    q: Vec<f64>,
    qd: Vec<f64>,
    qdd: Vec<f64>,
    /// q_d ⊖ q, and q̇_d in the axes at q, less q̇.
    error: Vec<f64>,
    rate: Vec<f64>,
}

impl Wanted {
    fn new(course: &Trajectory) -> Self {
        let (m, nv) = (course.mechanism(), course.mechanism().nv());
        Self {
            course: course.clone(),
            q: m.neutral(),
            qd: vec![0.0; nv],
            qdd: vec![0.0; nv],
            error: vec![0.0; nv],
            rate: vec![0.0; nv],
        }
    }

    /// Looks at the trajectory at a time, from a state. q̇_d and q̈_d are brought into the axes of joints as they are.
    fn look(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<()> {
        self.course.at(t, &mut self.q, &mut self.qd, &mut self.qdd)?;
        let m = self.course.mechanism();
        m.difference(q, &self.q, &mut self.error)?;
        self.rate.copy_from_slice(&self.qd);
        for (joint, _, range) in m.independent().filter(|(joint, ..)| joint.kind.is_curved()) {
            let mut back = [0.0; 6];
            back.iter_mut()
                .zip(&self.error[range.clone()])
                .for_each(|(x, e)| *x = -e);
            joint.kind.carried(&back[..range.len()], &mut self.rate[range.clone()]);
            joint.kind.carried(&back[..range.len()], &mut self.qdd[range]);
        }
        self.rate.iter_mut().zip(v).for_each(|(rate, v)| *rate -= v);
        Ok(())
    }
}

/// The motors' torques for a motion: inverse dynamics less what springs, dampers and friction of the joints do.
fn needed(moving: &mut Moving<'_>, qdd: &[f64], room: &mut [f64], tau: &mut [f64]) -> Result<()> {
    moving.inverse_dynamics(qdd, tau)?;
    moving.passive_torque(room)?;
    tau.iter_mut().zip(room).for_each(|(tau, x)| *tau -= *x);
    Ok(())
}

/// The torques that a trajectory takes at a time; an error that names the joint if there is none where motors are missing.
fn feedforward(
    course: &Trajectory,
    workspace: &mut Workspace,
    t: f64,
    [q, qd, qdd, room]: [&mut [f64]; 4],
    tau: &mut [f64],
) -> Result<()> {
    course.at(t, q, qd, qdd)?;
    let mut posed = workspace.at(q)?;
    needed(&mut posed.moving(qd)?, qdd, room, tau)?;
    let m = course.mechanism();
    let largest = tau.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    for (i, tau) in tau.iter_mut().enumerate().filter(|(i, _)| !m.is_driven(*i)) {
        if tau.abs() > 1e-6 * largest {
            return Err(m.not_driven(i, "the trajectory"));
        }
        *tau = 0.0;
    }
    Ok(())
}

/// Memory of [`feedforward`].
fn memory(m: &Mechanism) -> [Vec<f64>; 4] {
    let nv = || vec![0.0; m.nv()];
    [m.neutral(), nv(), nv(), nv()]
}
