//! What is wanted of a configuration, and how far from it one is.

use crate::model::{FrameId, JointKind, Mechanism};
use crate::spatial::{Pose, Rotation, Vec3};
use crate::workspace::Configured;
use crate::{Error, Result};

/// Something wanted of a configuration, with a weight.
///
/// Targets are in the world, or in another frame after [`Task::relative_to`]. Every task is a goal, which must be met, unless
/// it is [`Task::preferred`].
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
pub struct Task {
    pub(super) goal: Goal,
    pub(super) other: Option<FrameId>,
    weight: f64,
    axes: [f64; 3],
    turning: f64,
    pub(super) is_preferred: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Goal {
    Pose { frame: FrameId, target: Pose },
    Position { frame: FrameId, target: Vec3 },
    Orientation { frame: FrameId, target: Rotation },
    Direction { frame: FrameId, axis: Vec3, target: Vec3 },
    Com { target: Vec3 },
    Posture { q: Vec<f64> },
}

/// How far a configuration is from a task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// What is left to turn, in radians; of a posture, the length of the difference of coordinates.
    pub angle: f64,
    /// What is left to move, in metres, along the axes that count.
    pub distance: f64,
}

impl Residual {
    /// The greater of the two.
    pub fn largest(&self) -> f64 {
        self.angle.max(self.distance)
    }
}

type Three = [[f64; 3]; 3];

/// A task seen at a configuration: errors and weights in the world's axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Where the frame is.
    pub(super) at: Vec3,
    /// What is left to turn and to move.
    pub(super) e: [Vec3; 2],
    /// The weights of both.
    pub(super) g: [Three; 2],
    pub(super) residual: Residual,
}

impl Seen {
    pub(super) const NOTHING: Self = Self {
        at: Vec3::ZERO,
        e: [Vec3::ZERO; 2],
        g: [[[0.0; 3]; 3]; 2],
        residual: Residual {
            angle: 0.0,
            distance: 0.0,
        },
    };

    /// Ge, turning and moving.
    pub(super) fn force(&self) -> [Vec3; 2] {
        [0, 1].map(|i| apply(&self.g[i], self.e[i]))
    }

    /// ½e*Ge.
    pub(super) fn cost(&self) -> f64 {
        let f = self.force();
        0.5 * (f[0].dot(self.e[0]) + f[1].dot(self.e[1]))
    }

    /// G as six by six.
    pub(super) fn weight(&self) -> [[f64; 6]; 6] {
        let mut out = [[0.0; 6]; 6];
        for i in 0..3 {
            out[i][..3].copy_from_slice(&self.g[0][i]);
            out[i + 3][3..].copy_from_slice(&self.g[1][i]);
        }
        out
    }
}

impl Task {
    fn new(goal: Goal) -> Self {
        Self {
            goal,
            other: None,
            weight: 1.0,
            axes: [1.0; 3],
            turning: 1.0,
            is_preferred: false,
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

    /// The centre of mass of all moving links is to be somewhere.
    #[doc(alias = "com")]
    pub fn centre_of_mass(target: impl Into<Vec3>) -> Self {
        Self::new(Goal::Com { target: target.into() })
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
            | Goal::Direction { frame, .. } => Some(frame),
            Goal::Com { .. } | Goal::Posture { .. } => None,
        }
    }

    /// What it is, in words.
    pub(super) fn name(&self, m: &Mechanism) -> String {
        let what = match self.goal {
            Goal::Pose { .. } => "pose",
            Goal::Position { .. } => "position",
            Goal::Orientation { .. } => "orientation",
            Goal::Direction { .. } => "direction",
            Goal::Com { .. } => return "the centre of mass".to_owned(),
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
            Goal::Posture { q } => m.check_configuration("q of the posture", q),
        }
    }

    /// Errors, weights and what is left of a task about a frame or the centre of mass.
    pub(super) fn see(&self, posed: &mut Configured<'_>) -> Seen {
        let base = self.other.map(|other| posed.pose_of(other));
        let here = match (self.frame(), &self.goal) {
            (Some(frame), _) => posed.pose_of(frame),
            (None, Goal::Com { .. }) => Pose::from_translation(posed.com()),
            _ => return Seen::NOTHING,
        };
        let base = base.unwrap_or(Pose::IDENTITY);
        let mut seen = Seen {
            at: here.translation,
            ..Seen::NOTHING
        };
        match &self.goal {
            Goal::Pose { target, .. } => {
                self.turn(&mut seen, &here, base.rotation * target.rotation, self.turning);
                self.move_to(&mut seen, &base, target.translation);
            }
            Goal::Position { target, .. } | Goal::Com { target } => self.move_to(&mut seen, &base, *target),
            Goal::Orientation { target, .. } => self.turn(&mut seen, &here, base.rotation * *target, 1.0),
            Goal::Direction { axis, target, .. } => {
                self.point(&mut seen, here.rotation * *axis, base.rotation * *target)
            }
            Goal::Posture { .. } => {}
        }
        seen
    }

    /// e = log(R_target R*), whose square changes by −2e·ω.
    fn turn(&self, seen: &mut Seen, here: &Pose, target: Rotation, more: f64) {
        let e = here.rotation * (here.rotation.inverse() * target).log();
        let w = self.weight * more;
        seen.e[0] = e;
        seen.g[0] = [[w, 0.0, 0.0], [0.0, w, 0.0], [0.0, 0.0, w]];
        seen.residual.angle = e.norm();
    }

    /// e = p_target − p; the target's own motion with its frame leaves e*(v − v_base(p)) alone.
    fn move_to(&self, seen: &mut Seen, base: &Pose, target: Vec3) {
        let e = base.rotation * target + base.translation - seen.at;
        let axes = [base.rotation.x, base.rotation.y, base.rotation.z];
        let mut square = 0.0;
        for (axis, w) in axes.into_iter().zip(self.axes) {
            let (n, along, w) = (axis.to_array(), axis.dot(e), self.weight * w);
            square += if w > 0.0 { along * along } else { 0.0 };
            for i in 0..3 {
                for j in 0..3 {
                    seen.g[1][i][j] += w * n[i] * n[j];
                }
            }
        }
        seen.e[1] = e;
        seen.residual.distance = square.sqrt();
    }

    /// The turn that leads one direction to another; turning about the direction itself is free.
    fn point(&self, seen: &mut Seen, from: Vec3, to: Vec3) {
        let (across, along) = (from.cross(to), from.dot(to));
        let sin = across.norm();
        let angle = sin.atan2(along);
        seen.e[0] = if sin > 1e-12 {
            across * (angle / sin)
        } else if along > 0.0 {
            across
        } else {
            // Half a turn, about any axis across.
            let other = if from.x.abs() < 0.7 {
                Vec3::new(1.0, 0.0, 0.0)
            } else {
                Vec3::new(0.0, 1.0, 0.0)
            };
            let axis = from.cross(other);
            axis * (angle / axis.norm())
        };
        let n = from.to_array();
        for i in 0..3 {
            for j in 0..3 {
                let one = if i == j { 1.0 } else { 0.0 };
                seen.g[0][i][j] = self.weight * (one - n[i] * n[j]);
            }
        }
        seen.residual.angle = angle;
    }

    /// The weight of every degree of freedom in a posture.
    pub(super) fn posture_weights(&self, m: &Mechanism, out: &mut [f64]) {
        for (joint, _, v) in m.independent() {
            let counts = !matches!(joint.kind, JointKind::Free | JointKind::Planar);
            out[v].fill(if counts { self.weight } else { 0.0 });
        }
    }
}

fn frame_name(m: &Mechanism, frame: FrameId) -> String {
    let links = m.links().len();
    match frame.index() {
        0 => "world".to_owned(),
        i if i <= links => m.links()[i - 1].name.clone(),
        i => m.frames()[i - 1 - links].name.clone(),
    }
}

fn apply(g: &Three, e: Vec3) -> Vec3 {
    let row = |i: usize| Vec3::from(g[i]).dot(e);
    Vec3::new(row(0), row(1), row(2))
}

pub(super) fn unsolved(problem: String) -> Error {
    Error::Unsolved {
        what: "an answer to inverse kinematics",
        problem,
    }
}

fn check_place(target: Vec3) -> Result<()> {
    match target.to_array().into_iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(value) => Err(Error::Parameter {
            argument: "target",
            value,
        }),
    }
}

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
