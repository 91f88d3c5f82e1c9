//! Operational-space control: moves frames to targets, in order of priority.

use super::priority::Priorities;
use super::underactuated::Partly;
use super::{Controller, positive};
use crate::model::FrameId;
use crate::simulate::Now;
use crate::spatial::{Motion, Pose, Reference, Vec3};
use crate::workspace::{Moving, Part};
use crate::{Error, Mechanism, Result};

/// Where a frame is to be, and how it moves there, in the world's axes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct FrameTarget {
    /// Where, and how turned.
    pub pose: Pose,
    /// [ω; v] of the frame's origin.
    pub velocity: Motion,
    /// [ω̇; v̇] of the frame's origin.
    pub acceleration: Motion,
}

impl FrameTarget {
    /// At rest.
    pub fn at(pose: Pose) -> Self {
        Self {
            pose,
            velocity: Motion::ZERO,
            acceleration: Motion::ZERO,
        }
    }

    /// The acceleration that takes a frame there: ẍ_d + k_d(ẋ_d − ẋ) + k_p(x_d ⊖ x).
    pub(super) fn pull(&self, pose: &Pose, velocity: Motion, kp: f64, kd: f64) -> Motion {
        let turn = pose.rotation * (pose.rotation.inverse() * self.pose.rotation).log();
        let error = Motion::new(turn, self.pose.translation - pose.translation);
        self.acceleration + (self.velocity - velocity) * kd + error * kp
    }
}

/// One frame's share in [`OperationalSpace`].
///
/// ```
/// use linkwork::control::FrameTask;
/// use linkwork::workspace::Part;
/// let arm = linkwork::model::examples::arm7();
/// let place = FrameTask { quickness: 20.0, ..FrameTask::position(arm.frame("flange")?, [0.4, 0.0, 0.5]) };
/// assert_eq!(place.part, Part::Linear);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct FrameTask {
    /// The frame.
    pub frame: FrameId,
    /// Which of its motions count.
    pub part: Part,
    /// Where it is to be.
    pub target: FrameTarget,
    /// How quick, in rad/s: k_p = ω², k_d = 2ω.
    pub quickness: f64,
}

impl FrameTask {
    /// All of a frame's pose, with 10 rad/s.
    pub fn pose(frame: impl Into<FrameId>, pose: Pose) -> Self {
        Self {
            frame: frame.into(),
            part: Part::All,
            target: FrameTarget::at(pose),
            quickness: 10.0,
        }
    }

    /// The place of a frame's origin alone, with 10 rad/s.
    pub fn position(frame: impl Into<FrameId>, place: impl Into<Vec3>) -> Self {
        Self {
            part: Part::Linear,
            ..Self::pose(frame, Pose::from_translation(place))
        }
    }
}

/// Several frames under control, the first before all others, and a posture in what they leave.
///
/// T = ID(q, q̇, q̈₀) + ΣJᵢ\*Fᵢ: q̈₀ takes the robot to its posture, and the forces F, from Ω = J𝓜⁻¹J\* in O(n), change what
/// frames make of it to what is wanted. A frame never feels those after it. Near singular configurations directions that are
/// lost are released smoothly, and only those.
///
/// ```
/// use linkwork::control::{Controlled, FrameTask, OperationalSpace};
/// use linkwork::simulate::{Dynamics, Integrator, RungeKutta4, State};
/// let arm = linkwork::model::examples::arm7();
/// let (tip, q) = (arm.frame("flange")?, [0.0, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0]);
/// let mut goal = arm.workspace().at(&q)?.pose(tip)?;
/// goal.translation.y += 0.1;
/// let control = OperationalSpace::new(&arm, vec![FrameTask::pose(tip, goal)], &q)?;
/// let mut equations = Dynamics::new(&arm, Controlled::new(&arm, control))?;
/// let mut state = State::at_rest(&arm, &q);
/// let mut integrator = RungeKutta4::new(&arm);
/// for _ in 0..1500 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// let there = arm.workspace().at(&state.q)?.pose(tip)?;
/// assert!((there.translation - goal.translation).norm() < 1e-4);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "operational space control")]
pub struct OperationalSpace {
    mechanism: Mechanism,
    tasks: Vec<FrameTask>,
    frames: Vec<FrameId>,
    posture: Posture,
    singular: f64,
    priorities: Priorities,
    partly: Option<Partly>,
    jacobian: Vec<f64>,
    gravity: Vec<f64>,
}

impl OperationalSpace {
    /// Tasks in order of priority, and a posture. Where motors drive some joints alone, as of a robot with a floating base,
    /// frames are moved by those, and the others follow; see [`OperationalSpace::standing_on`].
    pub fn new(mechanism: &Mechanism, tasks: Vec<FrameTask>, posture: &[f64]) -> Result<Self> {
        if tasks.is_empty() {
            return Err(Error::Unsolved {
                what: "operational-space control",
                problem: "no frame is given; give one, or take `ComputedTorque` for a posture alone".to_owned(),
            });
        }
        for task in &tasks {
            mechanism.own_frame(task.frame)?;
            positive("quickness", &[task.quickness], 1)?;
            check_target(&task.target)?;
        }
        let rows = tasks.iter().map(|t| {
            let turns = t.part != Part::Linear;
            let moves = t.part != Part::Angular;
            [turns, turns, turns, moves, moves, moves]
        });
        Ok(Self {
            mechanism: mechanism.clone(),
            frames: tasks.iter().map(|t| t.frame).collect(),
            priorities: Priorities::new(rows.collect()),
            posture: Posture::new(mechanism, posture, 5.0)?,
            singular: 1e-3,
            partly: Partly::new(mechanism, tasks.len(), Vec::new())?,
            jacobian: vec![0.0; 6 * mechanism.nv()],
            gravity: vec![0.0; mechanism.nv()],
            tasks,
        })
    }

    /// Links that stand on something and do not move, such as feet: whatever pushes at them there, tasks are met by what is
    /// left. That they are only pushed, and within friction, is not looked at.
    ///
    /// ```
    /// use linkwork::control::{FrameTask, OperationalSpace};
    /// let robot = linkwork::model::examples::humanoid();
    /// let (foot, head) = (robot.frame("left_foot")?, robot.frame("head")?);
    /// let q = robot.neutral();
    /// let there = robot.workspace().at(&q)?.pose(head)?;
    /// let law = OperationalSpace::new(&robot, vec![FrameTask::position(head, there.translation)], &q)?;
    /// let law = law.standing_on(&[foot])?;
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    #[doc(alias = "contact")]
    #[doc(alias = "floating base")]
    pub fn standing_on(mut self, frames: &[FrameId]) -> Result<Self> {
        for frame in frames {
            self.mechanism.own_frame(*frame)?;
        }
        self.partly = Partly::new(&self.mechanism, self.tasks.len(), frames.to_vec())?;
        Ok(self)
    }

    /// How quick the posture is in what tasks leave, in rad/s; 5 at first.
    pub fn posture_quickness(mut self, quickness: f64) -> Result<Self> {
        positive("quickness", &[quickness], 1)?;
        self.posture.quickness = quickness;
        Ok(self)
    }

    /// Below which eigenvalue of Λ⁻¹, scaled to a mean of one, a direction is released; 10⁻³ by default.
    pub fn singular_below(mut self, part: f64) -> Result<Self> {
        positive("part", &[part], 1)?;
        self.singular = part;
        Ok(self)
    }

    /// Another target for a task.
    pub fn set_target(&mut self, task: usize, target: FrameTarget) -> Result<()> {
        check_target(&target)?;
        let count = self.tasks.len();
        match self.tasks.get_mut(task) {
            Some(own) => {
                own.target = target;
                Ok(())
            }
            None => Err(Error::Unsolved {
                what: "operational-space control",
                problem: format!("there is no task number {task} (from zero) of {count}"),
            }),
        }
    }

    /// Per task: the least eigenvalue of what earlier tasks leave of Λ⁻¹, scaled to a mean of one, at the last call. Zero
    /// where it can not accelerate in some direction that counts.
    pub fn reach(&self) -> &[f64] {
        self.priorities.reach()
    }
}

impl Controller for OperationalSpace {
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        moving.mechanism().check_same(&self.mechanism, "controller")?;
        if let Some(partly) = &mut self.partly {
            let (priorities, posture) = (&mut self.priorities, &mut self.posture);
            partly.torques(&self.tasks, posture, priorities, self.singular, (now, moving), tau)?;
            moving.gravity_torque(&mut self.gravity)?;
            for &dof in &partly.driven {
                tau[dof] -= self.gravity[dof];
            }
            return Ok(());
        }
        let wanted = &mut self.priorities.wanted;
        for (task, out) in self.tasks.iter().zip(wanted.chunks_exact_mut(6)) {
            let (pose, velocity) = (
                moving.pose_of(task.frame),
                moving.velocity_of(task.frame, Reference::Aligned),
            );
            let w = task.quickness;
            let pull = task.target.pull(&pose, velocity, w * w, 2.0 * w);
            out.copy_from_slice(&pull.to_array());
        }
        self.posture.accelerations(&self.mechanism, now)?;
        let free = moving.with_accelerations(&self.posture.qdd, tau)?;
        for (frame, out) in self.frames.iter().zip(wanted.chunks_exact_mut(6)) {
            let own = free.acceleration_of(*frame, Reference::Aligned).to_array();
            out.iter_mut().zip(own).for_each(|(out, own)| *out -= own);
        }
        moving.operational_inertias_inverse(&self.frames, Reference::Aligned, &mut self.priorities.compliance)?;
        self.priorities.solve(self.singular);
        for (frame, force) in self.frames.iter().zip(self.priorities.wanted.chunks_exact(6)) {
            moving.jacobian(*frame, Reference::Aligned, &mut self.jacobian)?;
            add_transposed(&self.jacobian, force, tau);
        }
        // What holds the robot against gravity is added later.
        moving.gravity_torque(&mut self.gravity)?;
        tau.iter_mut().zip(&self.gravity).for_each(|(tau, g)| *tau -= g);
        Ok(())
    }
}

/// q̈ = ω²(q_d ⊖ q) − 2ωq̇.
#[derive(Clone, Debug)]
pub(super) struct Posture {
    q: Vec<f64>,
    pub(super) quickness: f64,
    pub(super) qdd: Vec<f64>,
}

impl Posture {
    pub(super) fn new(m: &Mechanism, q: &[f64], quickness: f64) -> Result<Self> {
        m.check_configuration("posture", q)?;
        Ok(Self {
            q: q.to_vec(),
            quickness,
            qdd: vec![0.0; m.nv()],
        })
    }

    pub(super) fn accelerations(&mut self, m: &Mechanism, now: Now<'_>) -> Result<()> {
        let w = self.quickness;
        m.difference(now.q, &self.q, &mut self.qdd)?;
        for (qdd, v) in self.qdd.iter_mut().zip(now.v) {
            *qdd = w * w * *qdd - 2.0 * w * v;
        }
        Ok(())
    }
}

/// tau += J*f.
pub(super) fn add_transposed(jacobian: &[f64], force: &[f64], tau: &mut [f64]) {
    for (row, f) in jacobian.chunks_exact(tau.len()).zip(force) {
        crate::dense::add_scaled(tau, *f, row);
    }
}

pub(super) fn check_target(target: &FrameTarget) -> Result<()> {
    let pose = target.pose.translation.to_array();
    let rest = [target.velocity, target.acceleration].map(|m| m.to_array());
    let mut all = pose.into_iter().chain(rest.into_iter().flatten());
    match all.find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(value) => Err(Error::Parameter {
            argument: "target",
            value,
        }),
    }
}
