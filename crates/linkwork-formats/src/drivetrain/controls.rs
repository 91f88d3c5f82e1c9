//! What actuators are told over time, and what comes of it.
//!
//! Activations depend on time alone: between two times at which a control is given, a filter and an integrator have closed
//! forms, and those of muscles are found once, to ten digits. So they are no state of a simulation, and the same at every step length.

use super::muscle::Table;
use super::servo::{LEAST_LAG, within};
use crate::actuators::{Actuator, Lag};
use crate::robot::Robot;

/// Controls over time, along straight lines between given times.
///
/// ```
/// use linkwork_formats::{Controls, Format, Options, read};
/// let text = r#"<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>
///   <actuator><general joint="j" dyntype="filter" dynprm="0.5"/></actuator></mujoco>"#;
/// let robot = read("robot.xml", text.as_bytes(), Format::Mjcf, &Options::default())?;
/// let controls = Controls::constant(&robot, &[2.0]).expect("one control");
/// let mut inputs = [0.0];
/// controls.inputs(1.0, &mut inputs);
/// assert!((inputs[0] - 2.0 * (1.0 - (-2.0_f64).exp())).abs() < 1e-15);
/// # Ok::<(), linkwork_formats::Refusal>(())
/// ```
#[derive(Clone, Debug)]
pub struct Controls {
    courses: Vec<Course>,
}

#[derive(Clone, Debug)]
struct Course {
    lag: Lag,
    range: Option<[f64; 2]>,
    knots: Vec<Knot>,
    /// The activation of a muscle, which has no closed form.
    table: Table,
}

/// From a time on: a control, how it changes, and the activation at that time.
#[derive(Clone, Copy, Debug)]
struct Knot {
    t: f64,
    control: f64,
    slope: f64,
    activation: f64,
}

impl Controls {
    /// The same controls at all times. An error in words if they are not as many as the robot has actuators, or not finite.
    pub fn constant(robot: &Robot, controls: &[f64]) -> Result<Self, String> {
        Self::over_time(robot, &[0.0], controls)
    }

    /// Controls at rising times, row by row: straight lines between, and the first and last hold before and after.
    /// Activations are zero at the time zero.
    pub fn over_time(robot: &Robot, times: &[f64], controls: &[f64]) -> Result<Self, String> {
        let n = robot.actuators.len();
        if times.is_empty() || controls.len() != n * times.len() {
            let (given, rows) = (controls.len(), times.len());
            return Err(format!("{given} controls at {rows} times, for {n} actuators"));
        }
        if controls.iter().chain(times).any(|x| !x.is_finite()) || times.windows(2).any(|w| w[0] >= w[1]) {
            return Err("controls and times must be finite numbers, and times must rise".to_owned());
        }
        let course = |(i, actuator)| {
            let given: Vec<(f64, f64)> = times
                .iter()
                .zip(controls.iter().skip(i).step_by(n))
                .map(|(t, u)| (*t, *u))
                .collect();
            Course::new(actuator, &given)
        };
        Ok(Self {
            courses: robot.actuators.iter().enumerate().map(course).collect(),
        })
    }

    /// What acts at a time, a number for each actuator: its activation where it has one, else its control.
    pub fn inputs(&self, t: f64, out: &mut [f64]) {
        for (course, out) in self.courses.iter().zip(out) {
            *out = course.at(t);
        }
    }

    /// The times at which controls change abruptly, or the way they change does.
    pub fn changes(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.courses.iter().flat_map(|c| c.knots.iter().map(|k| k.t)).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}

impl Course {
    fn new(actuator: &Actuator, given: &[(f64, f64)]) -> Self {
        // Where a control passes a bound, zero or one, another straight line begins.
        let levels = [actuator.control_range, actuator.activation_range, Some([0.0, 1.0])];
        let mut course = Self {
            lag: actuator.lag.clone(),
            range: actuator.activation_range,
            knots: Vec::with_capacity(given.len() + 1),
            table: Table::default(),
        };
        let late = actuator.delay.max(0.0);
        let mut all = match late > 0.0 {
            // Nothing acts before.
            true => vec![(0.0, 0.0), (late, 0.0), (late, held(given, 0.0))],
            false => vec![(0.0, held(given, 0.0))],
        };
        for (t, u) in given.iter().filter(|(t, _)| *t > 0.0).map(|(t, u)| (t + late, *u)) {
            let (from, before) = all[all.len() - 1];
            let mut between: Vec<f64> = levels
                .iter()
                .flatten()
                .flatten()
                .map(|level| from + (t - from) * (level - before) / (u - before))
                .filter(|x| *x > from && *x < t)
                .collect();
            between.sort_by(f64::total_cmp);
            let line = |x: f64| before + (u - before) * (x - from) / (t - from);
            all.extend(between.into_iter().map(|x| (x, line(x))));
            all.push((t, u));
        }
        let mut activation = within(0.0, course.range);
        for (i, &(t, u)) in all.iter().enumerate() {
            let control = actuator.bounded_control(u);
            let slope = all.get(i + 1).map_or(0.0, |&(next, after)| {
                (actuator.bounded_control(after) - control) / (next - t)
            });
            let knot = Knot {
                t,
                control,
                slope: if slope.is_finite() { slope } else { 0.0 },
                activation,
            };
            course.knots.push(knot);
            if let Some(&(next, _)) = all.get(i + 1) {
                activation = course.activation(&knot, next);
            }
        }
        if let Lag::Muscle { rise, fall, smooth } = course.lag {
            let controls: Vec<_> = course.knots.iter().map(|k| (k.t, k.control, k.slope)).collect();
            course.table = Table::follow([rise, fall, smooth], &controls);
        }
        course
    }

    fn at(&self, t: f64) -> f64 {
        let next = self.knots.partition_point(|knot| knot.t <= t);
        let knot = &self.knots[next.saturating_sub(1)];
        match self.lag {
            Lag::None => knot.control + knot.slope * (t - knot.t).max(0.0),
            Lag::Muscle { .. } => within(self.table.at(t), self.range),
            _ => self.activation(knot, t),
        }
    }

    /// a at a time after a knot, until the next.
    fn activation(&self, knot: &Knot, t: f64) -> f64 {
        let (x, Knot { control, slope, .. }) = ((t - knot.t).max(0.0), *knot);
        let a = match self.lag {
            Lag::Integrator => knot.activation + x * (control + 0.5 * slope * x),
            Lag::Filter { seconds } => {
                let lag = seconds.max(LEAST_LAG);
                let rest = knot.activation - control + slope * lag;
                control + slope * (x - lag) + rest * (-x / lag).exp()
            }
            Lag::None | Lag::Muscle { .. } | Lag::Other { .. } => control,
        };
        within(a, self.range)
    }
}

/// The control at a time, along the lines between what is given.
fn held(given: &[(f64, f64)], t: f64) -> f64 {
    let next = given.partition_point(|(x, _)| *x <= t);
    if next == 0 || next == given.len() {
        return given[next.saturating_sub(1)].1;
    }
    let ((from, u), (to, after)) = (given[next - 1], given[next]);
    u + (after - u) * (t - from) / (to - from)
}
