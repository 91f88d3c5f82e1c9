//! The robot's own actuators, tendons and sensors in a run.

use super::torque_file::Timetable;
use crate::style;
use crate::user_error::UserError;
use anyhow::Result;
use linkwork::Mechanism;
use linkwork::simulate::Now;
use linkwork::workspace::Moving;
use linkwork_formats::{Controls, Drivetrain, Keyframe, Robot, Sensors};
use std::path::Path;

/// Actuators with what they are told, and tendons.
#[derive(Clone)]
pub(crate) struct Machinery {
    drives: Drivetrain,
    /// None where the actuators are to rest.
    controls: Option<Controls>,
    /// Whether tendons do anything by themselves.
    tendons: bool,
    inputs: Vec<f64>,
    /// Names of the actuators.
    names: Vec<String>,
}

/// How machinery is to run.
pub(crate) struct Wish<'a> {
    /// What `--ctrl` says.
    pub(crate) ctrl: Option<&'a str>,
    /// The keyframe that the run starts at.
    pub(crate) key: Option<&'a Keyframe>,
    /// Whether actuators act.
    pub(crate) act: bool,
    pub(crate) ideal: bool,
    pub(crate) no_limits: bool,
    pub(crate) no_effort_limits: bool,
    /// The step, where it is explicit.
    pub(crate) step: Option<f64>,
}

impl Machinery {
    /// That of a robot, with the mechanism that is stepped.
    pub(crate) fn new(robot: &Robot, mechanism: &Mechanism, wish: &Wish<'_>) -> Result<Self> {
        let robot = Robot {
            mechanism: mechanism.clone(),
            ..robot.clone()
        };
        let mut drives = Drivetrain::new(&robot)?;
        if wish.no_limits {
            drives = drives.without_limits();
        }
        if wish.no_effort_limits {
            drives = drives.without_force_limits();
        }
        if let Some(step) = wish.step {
            drives = drives.for_steps(step);
        }
        let controls = match wish.act {
            true => Some(controls(&robot, wish)?),
            false => None,
        };
        let name = |(i, a): (usize, &linkwork_formats::Actuator)| match &*a.name {
            "" => format!("actuator{}", i + 1),
            name => name.to_owned(),
        };
        Ok(Self {
            tendons: !wish.ideal && drives.has_tendons(),
            controls: controls.filter(|_| drives.has_actuators()),
            drives,
            inputs: vec![0.0; robot.actuators.len()],
            names: robot.actuators.iter().enumerate().map(name).collect(),
        })
    }

    /// Says what is not modelled.
    pub(crate) fn warn(&self) {
        tell(self.drives.left_out());
    }

    /// Whether anything acts.
    pub(crate) fn acts(&self) -> bool {
        self.tendons || self.controls.is_some()
    }

    /// The actuators that act, by name.
    pub(crate) fn actuators(&self) -> &[String] {
        if self.controls.is_some() { &self.names } else { &[] }
    }

    /// When controls change abruptly.
    pub(crate) fn changes(&self) -> Vec<f64> {
        let all = self.controls.as_ref().map(Controls::changes).unwrap_or_default();
        all.into_iter().filter(|t| *t > 0.0).collect()
    }

    /// The same with forces that never meet a bound.
    pub(crate) fn boundless(&self) -> Self {
        Self {
            drives: self.drives.clone().without_force_limits().without_limits(),
            ..self.clone()
        }
    }

    /// Adds torques, unless nothing acts.
    pub(crate) fn drive(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> linkwork::Result<()> {
        if self.acts() {
            self.look(now, moving)?;
            if let Some(controls) = &self.controls {
                controls.inputs(now.t, &mut self.inputs);
                self.drives.actuate(&self.inputs, tau);
            }
            if self.tendons {
                self.drives.pull(tau);
            }
        }
        Ok(())
    }

    /// Makes what was added implicit in velocities, for a step.
    pub(crate) fn resist(&self, step: f64, tau: &mut [f64], resistance: &mut [f64]) {
        if self.acts() {
            self.drives.resist(step, tau, resistance);
        }
    }

    /// Finds lengths and rates.
    pub(crate) fn look(&mut self, now: Now<'_>, moving: &mut Moving<'_>) -> linkwork::Result<()> {
        self.drives.at(now.q, now.v, moving)
    }

    pub(crate) fn drives(&self) -> &Drivetrain {
        &self.drives
    }
}

/// Sensors of a run; none where the file has none that are modelled. Pushes, and loops without contact, add forces that
/// accelerations of joints alone do not tell.
pub(crate) fn sensors(robot: &Robot, mechanism: &Mechanism, told: bool) -> Result<Option<Sensors>> {
    if robot.sensors.is_empty() {
        return Ok(None);
    }
    let robot = Robot {
        mechanism: mechanism.clone(),
        ..robot.clone()
    };
    let mut sensors = Sensors::new(&robot)?;
    if !told {
        let why = "accelerations are not measured in runs with pushes, or with closed loops that touch nothing";
        sensors = sensors.without_accelerations(why);
    }
    tell(sensors.left_out());
    Ok((sensors.width() > 0).then_some(sensors))
}

/// A line for what is left out, and the first few.
fn tell(left_out: &[String]) {
    let word = style::paint(style::HEAD, "warning");
    for why in left_out.iter().take(3) {
        anstream::eprintln!("{word}: {why}; it is left out");
    }
    if left_out.len() > 3 {
        anstream::eprintln!("{word}: {} more are left out as well", left_out.len() - 3);
    }
}

/// What actuators are told: by `--ctrl`, the keyframe, or nothing.
fn controls(robot: &Robot, wish: &Wish<'_>) -> Result<Controls> {
    let n = robot.actuators.len();
    let wrong = |problem: String| {
        let hint = format!(
            "give {n} numbers separated by commas, NAME=NUMBER pairs, or a .csv file of lines with a time and {n} numbers; \
             `linkwork info` lists the actuators"
        );
        UserError::usage(format!("--ctrl: {problem}"), hint)
    };
    let Some(text) = wish.ctrl else {
        let key = wish.key.filter(|key| key.ctrl.len() == n);
        let told = key.map_or_else(|| vec![0.0; n], |key| key.ctrl.clone());
        return Controls::constant(robot, &told).map_err(wrong);
    };
    if n == 0 {
        return Err(wrong("the robot's file has no actuators".to_owned()));
    }
    if text.ends_with(".csv") {
        let table = Timetable::read(Path::new(text), n, "controls")?;
        return Controls::over_time(robot, table.times(), table.numbers()).map_err(wrong);
    }
    let number = |word: &str| match word.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(wrong(format!("`{word}` is not a number"))),
    };
    let mut told = wish.key.map(|key| key.ctrl.clone()).unwrap_or_default();
    told.resize(n, 0.0);
    let words: Vec<&str> = text.split(',').collect();
    if text.contains('=') {
        for word in words {
            let (name, value) = word
                .rsplit_once('=')
                .ok_or_else(|| wrong(format!("`{word}` has no =")))?;
            let known = robot.actuators.iter().map(|a| a.name.as_str());
            let found = known.clone().position(|known| known == name.trim());
            let near = linkwork::model::did_you_mean(name, known);
            let place = found.ok_or_else(|| wrong(format!("there is no actuator `{name}`{near}")))?;
            told[place] = number(value)?;
        }
    } else if words.len() == n {
        for (told, word) in told.iter_mut().zip(words) {
            *told = number(word)?;
        }
    } else {
        return Err(wrong(format!("{} numbers for {n} actuators", words.len())));
    }
    Controls::constant(robot, &told).map_err(wrong)
}
