//! One task for several controllers, and what each makes of it.

use super::{ComputedTorque, Controlled, Controller, JointPd, PoseControl};
use crate::model::FrameId;
use crate::simulate::{Dynamics, Integrator, PassiveForces, RungeKutta4, State};
use crate::{Mechanism, Result};

/// A robot at rest that is to bring a frame to where it would be at another configuration.
///
/// ```
/// use linkwork::control::Trial;
/// let arm = linkwork::model::examples::puma560();
/// let tip = arm.frame("link6")?;
/// let trial = Trial::new(&arm, &[0.0; 6], &[0.5, -0.5, 0.5, -0.5, 0.5, -0.5], tip, 3.0)?;
/// let outcome = trial.run(trial.computed_torque(4.0)?)?;
/// assert!(outcome.settled.is_some_and(|t| t < 2.0));
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trial {
    mechanism: Mechanism,
    start: Vec<f64>,
    goal: Vec<f64>,
    frame: FrameId,
    steps: usize,
}

/// What a controller made of a [`Trial`]. Gravity is held, and torques are within the joints' limits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrialOutcome {
    /// When the frame's distance from the goal came below 2 % of what it was, and stayed there; none if it never did.
    pub settled: Option<f64>,
    /// The largest torque of any joint, in N m or N, and that joint.
    pub peak_torque: f64,
    /// The joint that the largest torque was asked of.
    pub peak_joint: String,
    /// ∫ Σ|T q̇| dt, in J.
    pub energy_used: f64,
    /// The frame's distance from the goal in the end, in m.
    pub final_distance: f64,
    /// Every [`Trial::STEP`] seconds, the frame's distance from the goal.
    pub distances: Vec<f64>,
    /// The same of the largest torque of any joint.
    pub torques: Vec<f64>,
}

impl Trial {
    /// The time between two states, in seconds.
    pub const STEP: f64 = 1e-3;

    /// From a configuration to the frame's pose at another, for some seconds.
    pub fn new(
        mechanism: &Mechanism,
        start: &[f64],
        goal: &[f64],
        frame: impl Into<FrameId>,
        seconds: f64,
    ) -> Result<Self> {
        super::positive("seconds", &[seconds], 1)?;
        for q in [start, goal] {
            mechanism.check_configuration("q", q)?;
        }
        Ok(Self {
            mechanism: mechanism.clone(),
            start: start.to_vec(),
            goal: goal.to_vec(),
            frame: mechanism.own_frame(frame)?,
            steps: (seconds / Self::STEP).ceil() as usize,
        })
    }

    /// Decoupled control to the goal, its slowest pole there at −0.7 `quickness`: the others have two there, which takes as long.
    pub fn decoupled(&self, quickness: f64) -> Result<PoseControl> {
        let target = self.mechanism.workspace().at(&self.goal)?.pose(self.frame)?;
        PoseControl::tuned(&self.mechanism, self.frame, target, &self.goal, 0.7 * quickness)
    }

    /// Computed torque to the goal: every joint critically damped, with both poles at −`quickness`.
    pub fn computed_torque(&self, quickness: f64) -> Result<ComputedTorque> {
        let n = self.mechanism.nv();
        let (kp, kd) = (vec![quickness * quickness; n], vec![2.0 * quickness; n]);
        ComputedTorque::new(&self.mechanism, &self.goal, &kp, &kd)
    }

    /// A spring and a damper at each joint that a motor drives, for the same poles with the diagonal of 𝓜 at the goal.
    pub fn joint_pd(&self, quickness: f64) -> Result<JointPd> {
        let n = self.mechanism.nv();
        let mut mass = vec![0.0; n * n];
        self.mechanism.workspace().at(&self.goal)?.mass_matrix(&mut mass)?;
        let own = |i: usize| f64::from(self.mechanism.is_driven(i)) * mass[i * (n + 1)];
        let gains = |s: f64| (0..n).map(|i| s * own(i)).collect::<Vec<f64>>();
        let (kp, kd) = (gains(quickness * quickness), gains(2.0 * quickness));
        JointPd::new(&self.mechanism, &self.goal, &kp, &kd)
    }

    /// Runs a controller.
    pub fn run(&self, controller: impl Controller) -> Result<TrialOutcome> {
        let m = &self.mechanism;
        let mut equations = Dynamics::with(m, Controlled::new(m, controller), PassiveForces::none(m));
        let mut integrator = RungeKutta4::new(m);
        let mut state = State::at_rest(m, &self.start);
        let mut workspace = m.workspace();
        let goal = workspace.at(&self.goal)?.pose(self.frame)?.translation;
        let (mut distances, mut torques, mut used) = (Vec::new(), Vec::new(), 0.0);
        let (mut peak, mut peak_at) = (0.0, 0);
        for i in 0..=self.steps {
            distances.push((workspace.at(&state.q)?.pose(self.frame)?.translation - goal).norm());
            if i < self.steps {
                integrator.step(&mut equations, &mut state, Self::STEP)?;
            }
            let tau = equations.torques();
            used += Self::STEP * tau.iter().zip(&state.v).map(|(t, v)| (t * v).abs()).sum::<f64>();
            let mut largest = 0.0;
            for (dof, t) in tau.iter().enumerate() {
                if t.abs() > largest {
                    largest = t.abs();
                    if largest > peak {
                        (peak, peak_at) = (largest, dof);
                    }
                }
            }
            torques.push(largest);
        }
        let near = 0.02 * distances[0];
        let settled = match distances.iter().rposition(|d| *d > near) {
            Some(last) if last + 1 < distances.len() => Some((last + 1) as f64 * Self::STEP),
            Some(_) => None,
            None => Some(0.0),
        };
        let joint = (0..m.joints().len()).find(|&i| m.v_of(i).contains(&peak_at));
        Ok(TrialOutcome {
            settled,
            peak_torque: peak,
            peak_joint: joint.map_or(String::new(), |i| m.joints()[i].name.clone()),
            energy_used: used,
            final_distance: *distances.last().unwrap_or(&0.0),
            distances,
            torques,
        })
    }
}
