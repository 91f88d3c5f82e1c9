//! Which degrees of freedom motors drive.
//!
//! Actuation belongs to the model. Where it names motors, those are all there are. Where it says nothing, every joint has
//! one per degree of freedom but those that no machine drives by itself: free and planar joints, and joints that follow
//! others.

use super::{Joint, JointId, JointKind, Mechanism, per_dof};
use crate::coupled::model::Lead;
use crate::{Error, Result};
use std::collections::HashMap;

/// A motor, which drives one degree of freedom of a joint.
///
/// ```
/// use linkwork::model::{Joint, Link, Mechanism, Motor};
/// use linkwork::spatial::Inertia;
/// let rod = |name: &str| Link::new(name, Inertia::rod(1.0, [0.0, 0.0, -1.0]));
/// let acrobot = Mechanism::builder("acrobot")
///     .link(rod("upper")).link(rod("lower"))
///     .joint(Joint::revolute("shoulder", [0.0, 1.0, 0.0]).between("world", "upper"))
///     .joint(Joint::revolute("elbow", [0.0, 1.0, 0.0]).between("upper", "lower").at([0.0, 0.0, -1.0]))
///     .motor(Motor::on("elbow").geared(50.0).effort_limit(0.2))
///     .build()?;
/// assert_eq!(acrobot.driven_dofs(), [1]);
/// assert_eq!(acrobot.motor_limits(), [0.0, 10.0]);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Motor {
    /// Its name; several may have the same.
    pub name: String,
    /// The joint that it drives.
    pub joint: String,
    /// Which of the joint's degrees of freedom, from zero.
    pub dof: usize,
    /// The torque or force at the joint for a unit of the motor's own; negative where it turns the other way.
    pub gear: f64,
    /// The largest torque or force of the motor itself, before the gear; infinity is none.
    pub effort_limit: f64,
}

impl Motor {
    /// On the first degree of freedom of a joint, directly, without a limit of its own.
    pub fn on(joint: impl Into<String>) -> Self {
        let joint = joint.into();
        Self {
            name: joint.clone(),
            joint,
            dof: 0,
            gear: 1.0,
            effort_limit: f64::INFINITY,
        }
    }

    /// The same with another name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same on another of the joint's degrees of freedom, from zero.
    pub fn dof(mut self, dof: usize) -> Self {
        self.dof = dof;
        self
    }

    /// The same through a gear.
    pub fn geared(mut self, gear: f64) -> Self {
        self.gear = gear;
        self
    }

    /// The same with a largest effort, before the gear.
    pub fn effort_limit(mut self, limit: f64) -> Self {
        self.effort_limit = limit;
        self
    }
}

/// What motors can do, per degree of freedom of the mechanism.
#[derive(Clone, Debug, Default)]
pub(crate) struct Actuation {
    pub(crate) driven: Vec<bool>,
    /// The largest torques; zero where nothing drives.
    pub(crate) limits: Vec<f64>,
}

impl Actuation {
    /// From the motors as given, none where the model says nothing.
    pub(super) fn new(
        motors: Option<&[Motor]>,
        joints: &[Joint],
        leads: &[Option<Lead>],
        v_start: &[usize],
        nv: usize,
    ) -> Result<Self> {
        let mut all = Self {
            driven: vec![false; nv],
            limits: vec![0.0; nv],
        };
        let own_limit = |joint: &Joint| per_dof(&joint.effort_limit, joint.kind.nv(), f64::INFINITY);
        let Some(motors) = motors else {
            let idle = |joint: &Joint| matches!(joint.kind, JointKind::Free | JointKind::Planar);
            for (j, joint) in joints
                .iter()
                .enumerate()
                .filter(|(j, x)| leads[*j].is_none() && !idle(x))
            {
                for (i, limit) in own_limit(joint).into_iter().enumerate() {
                    all.driven[v_start[j] + i] = true;
                    all.limits[v_start[j] + i] = limit;
                }
            }
            return Ok(all);
        };
        let places: HashMap<&str, usize> = joints.iter().enumerate().map(|(j, x)| (x.name.as_str(), j)).collect();
        // What the motors of each joint can do together, before the joint's own limit.
        let mut sums: Vec<Vec<Option<f64>>> = joints.iter().map(|j| vec![None; j.kind.nv()]).collect();
        for motor in motors {
            let j = check(motor, joints, &places)?;
            let limit = motor.gear.abs() * motor.effort_limit;
            *sums[j][motor.dof].get_or_insert(0.0) += limit;
        }
        for (j, (joint, sums)) in joints.iter().zip(sums).enumerate() {
            for (i, (sum, own)) in sums.into_iter().zip(own_limit(joint)).enumerate() {
                let Some(sum) = sum else { continue };
                let (at, ratio) = match &leads[j] {
                    None => (v_start[j] + i, 1.0),
                    Some(lead) if lead.is_curved() => {
                        let leader = &joints[lead.joint].name;
                        let problem = format!(
                            "it has a motor but follows joint `{leader}` by more than a ratio; put the motor on `{leader}`"
                        );
                        return Err(bad(&joint.name, problem));
                    }
                    Some(lead) => (v_start[lead.joint], lead.at(0.0)[1]),
                };
                if ratio != 0.0 {
                    all.driven[at] = true;
                    all.limits[at] += ratio.abs() * sum.min(own);
                }
            }
        }
        Ok(all)
    }
}

fn bad(joint: &str, problem: String) -> Error {
    Error::Joint {
        joint: joint.to_owned(),
        problem,
    }
}

/// What is wrong with a motor by itself, or the joint it is on.
fn check(motor: &Motor, joints: &[Joint], places: &HashMap<&str, usize>) -> Result<usize> {
    let Motor {
        name,
        joint,
        dof,
        gear,
        effort_limit,
    } = motor;
    let Some(&j) = places.get(joint.as_str()) else {
        let hint = super::did_you_mean(joint, joints.iter().map(|j| j.name.as_str()));
        return Err(bad(
            joint,
            format!("motor `{name}` drives it but it does not exist{hint}"),
        ));
    };
    let nv = joints[j].kind.nv();
    if *dof >= nv {
        let kind = joints[j].kind.name();
        return Err(bad(
            joint,
            format!("motor `{name}` drives its degree of freedom {dof}, from zero, but a {kind} joint has {nv}"),
        ));
    }
    if !gear.is_finite() || *gear == 0.0 {
        return Err(bad(
            joint,
            format!("the gear of motor `{name}` is {gear}; it must be finite and not zero"),
        ));
    }
    if effort_limit.is_nan() || *effort_limit < 0.0 {
        return Err(bad(
            joint,
            format!("the effort limit of motor `{name}` is {effort_limit}; it must not be negative"),
        ));
    }
    Ok(j)
}

/// # Actuation
impl Mechanism {
    /// The motors as given; none where the model says nothing, and then every joint has them but free and planar ones and
    /// those that follow others.
    pub fn motors(&self) -> Option<&[Motor]> {
        self.given.motors.as_deref()
    }

    /// Whether a motor drives a degree of freedom (a place in v), by itself or through a joint that follows it.
    pub fn is_driven(&self, dof: usize) -> bool {
        self.actuation.driven.get(dof).copied().unwrap_or(false)
    }

    /// The degrees of freedom that motors drive: places in v.
    pub fn driven_dofs(&self) -> Vec<usize> {
        (0..self.nv()).filter(|&i| self.actuation.driven[i]).collect()
    }

    /// The largest torque or force of motors at every degree of freedom: infinity where there is no limit, zero where
    /// nothing drives.
    pub fn motor_limits(&self) -> &[f64] {
        &self.actuation.limits
    }

    /// The first degree of freedom that no motor drives, as an error that names its joint and what would need it.
    pub(crate) fn need_driven(&self, needed: impl Fn(usize) -> bool, what: &'static str) -> Result<()> {
        match (0..self.nv()).find(|&i| needed(i) && !self.actuation.driven[i]) {
            None => Ok(()),
            Some(dof) => Err(self.not_driven(dof, what)),
        }
    }

    pub(crate) fn not_driven(&self, dof: usize, what: &'static str) -> Error {
        let (joint, index) = self.joint_of_dof(dof);
        Error::NotDriven {
            joint: self.joints()[joint.index()].name.clone(),
            index,
            what,
        }
    }

    /// The same mechanism with motors at these joints alone, or at one degree of freedom as `joint[number]`, whatever it said before: those that it has there, else one for
    /// every degree of freedom, with the joint's own limit.
    ///
    /// ```
    /// use linkwork::model::examples;
    /// let robot = examples::double_pendulum().driven_by(&["elbow"])?;
    /// assert_eq!(robot.driven_dofs(), [1]);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn driven_by(&self, joints: &[impl AsRef<str>]) -> Result<Self> {
        let mut motors: Vec<Motor> = Vec::new();
        for given in joints {
            let (id, dofs) = self.meant(given.as_ref())?;
            let name = &self.joints()[id.index()].name;
            if motors.iter().any(|m| m.joint == *name && dofs.contains(&m.dof)) {
                return Err(bad(name, "it is driven already; name it once".to_owned()));
            }
            if dofs.is_empty() {
                return Err(bad(name, "it is fixed: no motor can drive it".to_owned()));
            }
            let known = self.motors().unwrap_or_default().iter();
            let known = known.filter(|m| m.joint == *name && dofs.contains(&m.dof));
            let before = motors.len();
            motors.extend(known.cloned());
            if motors.len() == before {
                motors.extend(dofs.map(|dof| Motor::on(name).dof(dof)));
            }
        }
        let mut given = self.to_builder();
        given.motors = Some(motors);
        given.build()
    }

    /// A joint and its degrees of freedom by its name, or one of them as `joint[number]`, from zero.
    fn meant(&self, name: &str) -> Result<(JointId, core::ops::Range<usize>)> {
        let count = |id: JointId| self.joints()[id.index()].kind.nv();
        let unknown = match self.joint(name) {
            Ok(id) => return Ok((id, 0..count(id))),
            Err(unknown) => unknown,
        };
        let part = name.strip_suffix(']').and_then(|whole| whole.rsplit_once('['));
        let part = part.and_then(|(joint, dof)| Some((self.joint(joint).ok()?, dof.parse::<usize>().ok()?)));
        match part {
            Some((id, dof)) if dof < count(id) => Ok((id, dof..dof + 1)),
            _ => Err(unknown),
        }
    }

    /// The motors that it has, written out also where the model says nothing.
    pub(super) fn all_motors(&self) -> Vec<Motor> {
        if let Some(given) = self.motors() {
            return given.to_vec();
        }
        let mut motors = Vec::new();
        for (j, joint) in self.joints().iter().enumerate() {
            let driven = self.v_of(j).enumerate().filter(|(_, v)| self.is_driven(*v));
            motors.extend(driven.map(|(dof, _)| Motor::on(&joint.name).dof(dof)));
        }
        motors
    }
}
