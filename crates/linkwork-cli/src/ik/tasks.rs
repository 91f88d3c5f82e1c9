//! Tasks as users write them: on the command line, and as JSON.

use crate::user_error::UserError;
use anyhow::Result;
use linkwork::Mechanism;
use linkwork::model::FrameId;
use linkwork::motion::Task;
use linkwork::spatial::{Pose, Rotation};
use serde::Deserialize;

/// One task.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// pose, position, orientation, direction, distance, at-least, at-most, com, clear or posture.
    pub(super) kind: String,
    /// The frame, of all but com, clear and posture.
    pub(super) frame: Option<String>,
    /// The frame that the target is seen from, or that a distance is measured to.
    pub(super) relative_to: Option<String>,
    /// Of a direction: the axis in the frame.
    #[serde(default)]
    pub(super) axis: Vec<f64>,
    /// The numbers of the target.
    #[serde(default)]
    pub(super) target: Vec<f64>,
    pub(super) weight: Option<f64>,
    pub(super) level: Option<usize>,
    #[serde(default)]
    pub(super) preferred: bool,
}

/// How tasks are written.
pub(super) const GRAMMAR: &str = "write it as KIND [FRAME] NUMBERS [NUMBERS] [relative=FRAME] [weight=W] [level=N] [preferred], as `pose flange \
     0.4,0.2,0.5,3.14,0,0`, `distance left 0.3 relative=right`, `direction hand 0,0,1 0,0,-1` or `posture 0,0,0,0,0,0,0 level=1`";

impl Wanted {
    /// From words apart by spaces.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let wrong = |problem: String| UserError::usage(format!("--task \"{text}\": {problem}"), GRAMMAR);
        let mut words = text.split_whitespace();
        let mut wanted = Self {
            kind: words
                .next()
                .ok_or_else(|| wrong("it has no kind".to_owned()))?
                .to_owned(),
            ..Self::default()
        };
        let mut lists = Vec::new();
        for word in words {
            if word == "preferred" {
                wanted.preferred = true;
            } else if let Some((key, value)) = word.split_once('=') {
                let number = |what: &str| wrong(format!("{key} is `{value}` but needs {what}"));
                match key {
                    "relative" => wanted.relative_to = Some(value.to_owned()),
                    "weight" => wanted.weight = Some(value.parse().map_err(|_| number("a number"))?),
                    "level" => wanted.level = Some(value.parse().map_err(|_| number("a whole number"))?),
                    _ => return Err(wrong(format!("`{key}` is not a property of a task"))),
                }
            } else if let Ok(numbers) = word.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>() {
                lists.push(numbers);
            } else if wanted.frame.is_none() && wanted.needs_frame() {
                wanted.frame = Some(word.to_owned());
            } else {
                return Err(wrong(format!("`{word}` is neither numbers nor a property")));
            }
        }
        wanted.target = lists.pop().unwrap_or_default();
        if wanted.kind == "direction" {
            wanted.axis = lists.pop().unwrap_or_default();
        }
        match lists.is_empty() {
            true => Ok(wanted),
            false => Err(wrong("it has too many lists of numbers".to_owned())),
        }
    }

    fn needs_frame(&self) -> bool {
        !matches!(self.kind.as_str(), "com" | "clear" | "posture")
    }

    /// For a mechanism.
    pub(super) fn task(&self, m: &Mechanism) -> Result<Task> {
        let wrong =
            |e: linkwork::Error| UserError::usage(e.to_string(), "`linkwork info` shows joints, limits and frames");
        let find = |name: &Option<String>| -> Result<Option<FrameId>> {
            name.as_ref().map(|name| m.frame(name).map_err(wrong)).transpose()
        };
        let other = find(&self.relative_to)?;
        let frame = || {
            let missing = || UserError::usage(format!("a task of kind `{}` has no frame", self.kind), GRAMMAR);
            find(&self.frame)?.ok_or_else(missing)
        };
        let mut relative = other;
        let mut task = match self.kind.as_str() {
            "pose" => Task::pose(frame()?, pose(&self.target)?),
            "position" => Task::position(frame()?, three("position", &self.target)?),
            "orientation" => Task::orientation(frame()?, rotation("orientation", &self.target)?),
            "direction" => Task::direction(
                frame()?,
                three("the axis of a direction", &self.axis)?,
                three("direction", &self.target)?,
            ),
            "distance" | "at-least" | "at-most" => {
                let [length] = self.target[..] else {
                    let problem = format!("{} has {} numbers but needs 1", self.kind, self.target.len());
                    return Err(UserError::usage(problem, "write the length in metres"));
                };
                let missing = || UserError::usage("a distance has one frame alone", "add relative=FRAME, or world");
                let (a, b) = (frame()?, relative.take().ok_or_else(missing)?);
                match self.kind.as_str() {
                    "distance" => Task::distance(a, b, length),
                    "at-least" => Task::distance_at_least(a, b, length),
                    _ => Task::distance_at_most(a, b, length),
                }
            }
            "com" => Task::centre_of_mass(three("com", &self.target)?),
            "clear" => {
                let [margin] = self.target[..] else {
                    let problem = format!("clear has {} numbers but needs 1", self.target.len());
                    return Err(UserError::usage(problem, "write the margin in metres"));
                };
                Task::clear(margin)
            }
            "posture" => Task::posture(self.target.clone()),
            other => {
                let problem = format!("`{other}` is not a kind of task");
                let hint =
                    "pose, position, orientation, direction, distance, at-least, at-most, com, clear and posture are";
                return Err(UserError::usage(problem, hint));
            }
        };
        if let Some(other) = relative {
            task = task.relative_to(other);
        }
        if let Some(weight) = self.weight {
            task = task.weight(weight);
        }
        if self.preferred {
            task = task.preferred();
        }
        Ok(task.level(self.level.unwrap_or(0)))
    }
}

fn three(what: &str, numbers: &[f64]) -> Result<[f64; 3]> {
    let [x, y, z] = numbers[..] else {
        let problem = format!("{what} has {} numbers but needs 3", numbers.len());
        return Err(UserError::usage(problem, "write it as x,y,z"));
    };
    Ok([x, y, z])
}

fn rotation(what: &str, numbers: &[f64]) -> Result<Rotation> {
    match numbers {
        [roll, pitch, yaw] => Ok(Rotation::from_rpy(*roll, *pitch, *yaw)),
        [x, y, z, w] => {
            let norm = (x * x + y * y + z * z + w * w).sqrt();
            if (norm - 1.0).abs() > 1e-3 || norm.is_nan() {
                let problem = format!("the quaternion of {what} is {norm} long");
                return Err(UserError::usage(problem, "give a unit quaternion x,y,z,w"));
            }
            Ok(Rotation::from_quaternion([x, y, z, w].map(|x| x / norm)))
        }
        _ => {
            let problem = format!("{what} has {} numbers but needs 3 or 4", numbers.len());
            Err(UserError::usage(
                problem,
                "write it as roll,pitch,yaw, or as a quaternion x,y,z,w",
            ))
        }
    }
}

/// A pose of x, y, z and roll, pitch, yaw or a quaternion.
pub(crate) fn pose(numbers: &[f64]) -> Result<Pose> {
    if !matches!(numbers.len(), 6 | 7) {
        let problem = format!("pose has {} numbers but needs 6 or 7", numbers.len());
        let hint = "write it as x,y,z,roll,pitch,yaw, or as x,y,z and a quaternion x,y,z,w";
        return Err(UserError::usage(problem, hint));
    }
    Ok(Pose::new(
        rotation("pose", &numbers[3..])?,
        three("pose", &numbers[..3])?,
    ))
}
