//! What is wanted of a configuration.

use crate::model::{FrameId, Mechanism};
use crate::spatial::{Pose, Rotation, Vec3};
use crate::{Error, Result};

/// Something wanted of a configuration, with a weight.
///
/// Targets are in the world, or in another frame after [`Task::relative_to`]. Every task is a goal, which must be met, unless
/// it is [`Task::preferred`]. Tasks of one [`Task::level`] share by their weights; those of a later level have only the room
/// that earlier ones leave.
///
/// ```
/// use linkwork::motion::{InverseKinematics, Task};
/// let robot = linkwork::model::examples::dual_arm();
/// let (left, right) = (robot.frame("left_link7")?, robot.frame("right_link7")?);
/// let mut ik = InverseKinematics::new(&robot, vec![
///     Task::position(left, [0.4, 0.1, 0.5]),
///     Task::position(right, [0.2, 0.0, 0.0]).relative_to(left),
///     Task::posture(vec![0.3; robot.nq()]).weight(0.01).preferred(),
/// ])?;
/// assert!(ik.solve_from(&robot.neutral())?.reached);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Task {
    pub(super) goal: Goal,
    pub(super) other: Option<FrameId>,
    pub(super) weight: f64,
    /// How much each axis counts, and the axes, in those that the target is in.
    pub(super) axes: [f64; 3],
    pub(super) basis: Rotation,
    pub(super) turning: f64,
    pub(super) is_preferred: bool,
    pub(super) level: usize,
    /// The target's velocity, turning and moving, in the axes that it is in.
    pub(super) feed: [Vec3; 2],
    /// What may be left, in metres and radians: the solver's.
    pub(super) tolerance: f64,
}

#[derive(Clone, Debug)]
pub(super) enum Goal {
    Pose { frame: FrameId, target: Pose },
    Position { frame: FrameId, target: Vec3 },
    Orientation { frame: FrameId, target: Rotation },
    Direction { frame: FrameId, axis: Vec3, target: Vec3 },
    Distance { frame: FrameId, length: f64, side: Side },
    Com { target: Vec3 },
    Clear { margin: f64 },
    Posture { q: Vec<f64> },
}

/// Which side of a distance is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    Exactly,
    AtLeast,
    AtMost,
}

impl Task {
    fn new(goal: Goal) -> Self {
        Self {
            goal,
            other: None,
            weight: 1.0,
            axes: [1.0; 3],
            basis: Rotation::IDENTITY,
            turning: 1.0,
            is_preferred: false,
            level: 0,
            feed: [Vec3::ZERO; 2],
            tolerance: 0.0,
        }
    }

    /// A frame is to be somewhere, turned so.
    pub fn pose(frame: impl Into<FrameId>, target: Pose) -> Self {
        let frame = frame.into();
        Self::new(Goal::Pose { frame, target })
    }

    /// A frame's origin is to be somewhere.
    pub fn position(frame: impl Into<FrameId>, target: impl Into<Vec3>) -> Self {
        let (frame, target) = (frame.into(), target.into());
        Self::new(Goal::Position { frame, target })
    }

    /// A frame is to be turned so, wherever it is.
    pub fn orientation(frame: impl Into<FrameId>, target: Rotation) -> Self {
        let frame = frame.into();
        Self::new(Goal::Orientation { frame, target })
    }

    /// An axis of a frame is to point in a direction, both of any length.
    pub fn direction(frame: impl Into<FrameId>, axis: impl Into<Vec3>, target: impl Into<Vec3>) -> Self {
        let (frame, axis, target) = (frame.into(), axis.into(), target.into());
        Self::new(Goal::Direction { frame, axis, target })
    }

    /// The origins of two frames are to be so far apart, in metres.
    ///
    /// ```
    /// use linkwork::motion::{InverseKinematics, Task};
    /// let robot = linkwork::model::examples::dual_arm();
    /// let (left, right) = (robot.frame("left_link7")?, robot.frame("right_link7")?);
    /// let mut ik = InverseKinematics::new(&robot, vec![Task::distance(left, right, 0.5)])?;
    /// assert!(ik.solve_from(&vec![0.3; robot.nq()])?.reached);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn distance(frame: impl Into<FrameId>, other: impl Into<FrameId>, length: f64) -> Self {
        let (frame, side) = (frame.into(), Side::Exactly);
        Self::new(Goal::Distance { frame, length, side }).relative_to(other)
    }

    /// The origins of two frames are to be at least so far apart: what keeps clear of something.
    pub fn distance_at_least(frame: impl Into<FrameId>, other: impl Into<FrameId>, length: f64) -> Self {
        let (frame, side) = (frame.into(), Side::AtLeast);
        Self::new(Goal::Distance { frame, length, side }).relative_to(other)
    }

    /// The origins of two frames are to be at most so far apart.
    pub fn distance_at_most(frame: impl Into<FrameId>, other: impl Into<FrameId>, length: f64) -> Self {
        let (frame, side) = (frame.into(), Side::AtMost);
        Self::new(Goal::Distance { frame, length, side }).relative_to(other)
    }

    /// The centre of mass of all moving links is to be somewhere.
    #[doc(alias = "com")]
    pub fn centre_of_mass(target: impl Into<Vec3>) -> Self {
        Self::new(Goal::Com { target: target.into() })
    }

    /// Shapes are to be at least so far from each other, in metres, those of the robot and of its surroundings that
    /// [`super::InverseKinematics::avoiding`] knows: two links, or a link and the world. As a goal it is met where no pair is
    /// nearer; [`Task::preferred`], it leads apart where goals leave room.
    #[doc(alias = "collision avoidance")]
    pub fn clear(margin: f64) -> Self {
        Self::new(Goal::Clear { margin })
    }

    /// The joints are to be at q, nq numbers. Free and planar joints are left out: a posture says nothing of where a robot is.
    pub fn posture(q: Vec<f64>) -> Self {
        Self::new(Goal::Posture { q })
    }

    /// The target is seen from another frame, which moves too.
    pub fn relative_to(mut self, other: impl Into<FrameId>) -> Self {
        self.other = Some(other.into());
        self
    }

    /// How much it counts beside others, 1 at first: the cost is ½·weight·error², in rad² and m².
    pub fn weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// How much turning counts beside moving in a pose, in m²/rad²; 1 at first.
    pub fn turning_weight(mut self, weight: f64) -> Self {
        self.turning = weight;
        self
    }

    /// How much each axis of a position counts, in the axes that the target is in; all 1 at first. What counts 0 is free.
    pub fn axis_weights(mut self, weights: [f64; 3]) -> Self {
        self.axes = weights;
        self
    }

    /// The level of priority, 0 at first: a task has only the room that all tasks of smaller numbers leave.
    ///
    /// ```
    /// use linkwork::motion::{InverseKinematics, Task};
    /// let arm = linkwork::model::examples::arm7();
    /// let hand = arm.frame("flange")?;
    /// let mut ik = InverseKinematics::new(&arm, vec![
    ///     Task::position(hand, [0.4, 0.2, 0.5]),
    ///     Task::posture(vec![0.2; 7]).level(1).preferred(),
    /// ])?;
    /// let found = ik.solve_from(&arm.neutral())?;
    /// assert!(found.reached && found.residuals[0].distance < 1e-8, "{found}");
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    #[doc(alias = "priority")]
    pub fn level(mut self, level: usize) -> Self {
        self.level = level;
        self
    }

    /// The target's own velocity, in rad/s and m/s in the axes that it is in, for [`super::InverseKinematics::velocity`]. Of a
    /// distance, the first number of `linear` is its rate.
    #[doc(alias = "feedforward")]
    pub fn moving(mut self, angular: impl Into<Vec3>, linear: impl Into<Vec3>) -> Self {
        self.feed = [angular.into(), linear.into()];
        self
    }

    /// No goal but a preference: it pulls where goals leave room, and gives way to them.
    pub fn preferred(mut self) -> Self {
        self.is_preferred = true;
        self
    }

    /// The frame it is about.
    pub(super) fn frame(&self) -> Option<FrameId> {
        match self.goal {
            Goal::Pose { frame, .. }
            | Goal::Position { frame, .. }
            | Goal::Orientation { frame, .. }
            | Goal::Direction { frame, .. }
            | Goal::Distance { frame, .. } => Some(frame),
            Goal::Com { .. } | Goal::Clear { .. } | Goal::Posture { .. } => None,
        }
    }

    /// What it is, in words.
    pub(super) fn name(&self, m: &Mechanism) -> String {
        let what = match self.goal {
            Goal::Pose { .. } => "pose",
            Goal::Position { .. } => "position",
            Goal::Orientation { .. } => "orientation",
            Goal::Direction { .. } => "direction",
            Goal::Distance { .. } => "distance",
            Goal::Com { .. } => return "the centre of mass".to_owned(),
            Goal::Clear { .. } => return "the clearance".to_owned(),
            Goal::Posture { .. } => return "the posture".to_owned(),
        };
        let name = |frame: FrameId| frame_name(m, frame);
        let of = self.frame().map(name).unwrap_or_default();
        match self.other {
            None => format!("the {what} of `{of}`"),
            Some(other) => format!("the {what} of `{of}` seen from `{}`", name(other)),
        }
    }

    /// An error unless it makes sense for a mechanism.
    pub(super) fn check(&mut self, m: &Mechanism) -> Result<()> {
        for frame in [self.frame(), self.other].into_iter().flatten() {
            m.own_frame(frame)?;
        }
        let weights = [("weight", self.weight), ("turning_weight", self.turning)];
        let axes = self.axes.map(|w| ("axis_weights", w));
        let fed = self.feed.iter().flat_map(|v| v.to_array()).find(|x| !x.is_finite());
        if let Some(value) = fed {
            return Err(Error::Parameter {
                argument: "velocity of a target",
                value,
            });
        }
        for (argument, value) in weights.into_iter().chain(axes) {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::Negative { argument, value });
            }
        }
        if self.frame().is_none() && self.other.is_some() {
            return Err(unsolved(format!(
                "{} cannot be relative to a frame; leave `relative_to` out",
                self.name(m)
            )));
        }
        match &mut self.goal {
            Goal::Pose { target, .. } => check_turn(&target.rotation).and(check_place(target.translation)),
            Goal::Orientation { target, .. } => check_turn(target),
            Goal::Position { target, .. } | Goal::Com { target } => check_place(*target),
            Goal::Direction { axis, target, .. } => {
                for (argument, v) in [("axis", axis), ("target", target)] {
                    let norm = v.norm();
                    if !(norm > 0.0 && norm.is_finite()) {
                        return Err(unsolved(format!(
                            "the {argument} of a direction is {norm} long; it must be finite and longer than zero"
                        )));
                    }
                    *v = *v * norm.recip();
                }
                Ok(())
            }
            Goal::Distance { length, side, .. } => {
                let value = *length;
                if !(value >= 0.0 && value.is_finite()) {
                    let argument = "distance";
                    return Err(Error::Negative { argument, value });
                }
                check_place(Vec3::new(value, 0.0, 0.0))?;
                if value == 0.0 && *side != Side::AtLeast {
                    return Err(unsolved(format!(
                        "{} is to be zero, which has no direction; ask for a `position` relative to the other frame",
                        self.name(m)
                    )));
                }
                Ok(())
            }
            Goal::Clear { margin } => match *margin >= 0.0 && margin.is_finite() {
                true => Ok(()),
                false => Err(Error::Negative {
                    argument: "margin",
                    value: *margin,
                }),
            },
            Goal::Posture { q } => m.check_configuration("q of the posture", q),
        }
    }

    /// Whether no configuration can meet both, for they want one thing of one frame to be two.
    pub(super) fn contradicts(&self, other: &Self, tolerance: f64) -> bool {
        if self.frame() != other.frame() || self.other != other.other {
            return false;
        }
        let place = |task: &Self| match task.goal {
            Goal::Pose { target, .. } => Some(target.translation),
            Goal::Position { target, .. } | Goal::Com { target } => Some(target),
            _ => None,
        };
        let turn = |task: &Self| match task.goal {
            Goal::Pose { target, .. } if task.turning > 0.0 => Some(target.rotation),
            Goal::Orientation { target, .. } => Some(target),
            _ => None,
        };
        let apart = |a: Vec3, b: Vec3| {
            let (d, both) = ((a - b).to_array(), |i: usize| self.axes[i] * other.axes[i] > 0.0);
            (0..3).any(|i| both(i) && d[i].abs() > tolerance)
        };
        let places = place(self).zip(place(other)).is_some_and(|(a, b)| apart(a, b));
        let turns = turn(self).zip(turn(other));
        places || turns.is_some_and(|(a, b)| (a.inverse() * b).log().norm() > tolerance)
    }
}

pub(super) fn frame_name(m: &Mechanism, frame: FrameId) -> String {
    let links = m.links().len();
    match frame.index() {
        0 => "world".to_owned(),
        i if i <= links => m.links()[i - 1].name.clone(),
        i => m.frames()[i - 1 - links].name.clone(),
    }
}

pub(super) fn unsolved(problem: String) -> Error {
    Error::Unsolved {
        what: "an answer to inverse kinematics",
        problem,
    }
}

fn check_place(target: Vec3) -> Result<()> {
    let (argument, places) = ("target", target.to_array());
    match places.into_iter().find(|x| x.is_nan() || x.abs() > FARTHEST) {
        None => Ok(()),
        Some(value) if !value.is_finite() => Err(Error::Parameter { argument, value }),
        Some(value) => Err(unsolved(format!(
            "the {argument} is {value:e} m away; {FARTHEST:e} is the most"
        ))),
    }
}

/// Farther targets drown every joint's motion in rounding.
const FARTHEST: f64 = 1e15;

fn check_turn(target: &Rotation) -> Result<()> {
    let r = target.to_rows();
    for i in 0..3 {
        for j in 0..3 {
            let dot: f64 = (0..3).map(|k| r[i][k] * r[j][k]).sum();
            let one = if i == j { 1.0 } else { 0.0 };
            if dot.is_nan() || (dot - one).abs() >= 1e-6 {
                return Err(unsolved(
                    "the target's axes are not of unit length and at right angles; make it by `Rotation::from_quaternion` \
                     of a unit quaternion, or by `from_rpy`"
                        .to_owned(),
                ));
            }
        }
    }
    Ok(())
}
