//! How far a robot may be from its trajectory if its masses are not quite known: bands to first order, and robots that were drawn.

use crate::numbers::significant;
use crate::plot::{Curve, Figure, Panel, Picture};
use crate::user_error::UserError;
use anyhow::Result;
use linkwork::Mechanism;
use linkwork::motion::{Feedback, Sensitivity, Trajectory};
use serde::Serialize;
use std::path::Path;

/// Robots that are drawn.
const ROBOTS: usize = 120;
/// ω of the joints' feedback, in rad/s: critically damped for the diagonal of 𝓜.
const QUICKNESS: f64 = 10.0;
/// Seconds between torques, at most, and parts of the trajectory, at least.
const STEP: f64 = 5e-3;
const STEPS: f64 = 50.0;

/// Standard deviations over time.
pub(super) struct Bands {
    times: Vec<f64>,
    names: Vec<String>,
    /// Per time and degree of freedom: to first order, and of the robots that were drawn.
    linear: Vec<Vec<f64>>,
    drawn: Vec<Vec<f64>>,
    error: f64,
    trusted: bool,
}

/// The worst of them.
#[derive(Serialize)]
pub(super) struct Worst {
    mass_error: f64,
    joint: String,
    time: f64,
    deviation: f64,
    deviation_of_drawn_robots: f64,
    robots: usize,
}

/// A mechanism whose links are heavier by parts of their mass and inertia.
fn changed(m: &Mechanism, links: &[usize], parts: &[f64]) -> linkwork::Result<Mechanism> {
    let mut robot = m.clone();
    for (&link, part) in links.iter().zip(parts) {
        let link = &m.links()[link];
        let mut inertia = link.inertia;
        inertia.mass *= 1.0 + part;
        inertia.moments.iter_mut().for_each(|x| *x *= 1.0 + part);
        robot = robot.with_inertia(&link.name, inertia)?;
    }
    Ok(robot)
}

/// Numbers of mean zero and variance one, nearly normal: sums of twelve uniform ones.
struct Normal(u64);

impl Normal {
    fn next(&mut self) -> f64 {
        let mut sum = -6.0;
        for _ in 0..12 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            sum += (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        }
        sum
    }
}

impl Bands {
    /// For masses and inertias of all links that are known up to a part.
    pub(super) fn new(course: &Trajectory, error: f64) -> Result<Self> {
        let m = course.mechanism();
        let wrong =
            |e: linkwork::Error| UserError::failure(e.to_string(), "bands need a robot whose joints are all driven");
        let (links, n) = (
            (0..m.links().len())
                .filter(|&i| m.links()[i].inertia.mass > 0.0)
                .collect::<Vec<_>>(),
            m.nv(),
        );
        let mut mass = vec![0.0; n * n];
        let mut from = m.neutral();
        let (mut v, mut a) = (vec![0.0; n], vec![0.0; n]);
        course.at(course.start_time(), &mut from, &mut v, &mut a)?;
        m.workspace().at(&from)?.mass_matrix(&mut mass)?;
        let gains = |by: f64| (0..n).map(|i| by * mass[i * (n + 1)]).collect();
        let feedback = Feedback {
            kp: gains(QUICKNESS * QUICKNESS),
            kd: gains(2.0 * QUICKNESS),
        };
        let h = STEP.min(course.duration() / STEPS);
        let model = |parts: &[f64]| changed(m, &links, parts);
        let told = Sensitivity::new(course, &feedback, &vec![error; links.len()], model, h).map_err(wrong)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let follow = |first: usize| -> linkwork::Result<Vec<Vec<f64>>> {
            let mut squares = vec![vec![0.0; n]; told.times().len()];
            let mut off = vec![0.0; n];
            for robot in (first..ROBOTS).step_by(threads) {
                let mut normal = Normal(robot as u64 + 1);
                // The first numbers of neighbouring seeds are alike.
                for _ in 0..4 {
                    normal.next();
                }
                let parts: Vec<f64> = links.iter().map(|_| (error * normal.next()).max(-0.9)).collect();
                let states = Sensitivity::follow(course, &feedback, &model(&parts)?, h)?;
                for ((sum, state), nominal) in squares.iter_mut().zip(&states).zip(told.states()) {
                    m.difference(&nominal.q, &state.q, &mut off)?;
                    sum.iter_mut().zip(&off).for_each(|(sum, x)| *sum += x * x);
                }
            }
            Ok(squares)
        };
        let parts: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|first| scope.spawn(move || follow(first))).collect();
            running.into_iter().map(|one| one.join()).collect()
        });
        let mut drawn = vec![vec![0.0; n]; told.times().len()];
        for part in parts {
            let Ok(part) = part else {
                return Err(UserError::failure(
                    "a thread that followed robots ended early",
                    "try again",
                ));
            };
            for (sum, row) in drawn.iter_mut().zip(part.map_err(wrong)?) {
                sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
        }
        drawn
            .iter_mut()
            .flatten()
            .for_each(|square| *square = (*square / ROBOTS as f64).sqrt());
        Ok(Self {
            times: told.times().to_vec(),
            names: m.velocity_names(),
            linear: told.deviations().iter().map(|row| row[..n].to_vec()).collect(),
            drawn,
            error,
            trusted: told.is_trusted(),
        })
    }

    /// Where a joint may be furthest from where it should be.
    pub(super) fn worst(&self) -> Worst {
        let all = (0..self.times.len()).flat_map(|t| (0..self.names.len()).map(move |i| (t, i)));
        let (t, i) = all
            .max_by(|a, b| self.linear[a.0][a.1].total_cmp(&self.linear[b.0][b.1]))
            .unwrap_or((0, 0));
        Worst {
            mass_error: self.error,
            joint: self.names.get(i).cloned().unwrap_or_default(),
            time: self.times[t],
            deviation: self.linear[t][i],
            deviation_of_drawn_robots: self.drawn[t][i],
            robots: ROBOTS,
        }
    }

    /// The worst in a sentence.
    pub(super) fn sentence(&self) -> String {
        let w = self.worst();
        let mut text = format!(
            "with masses known to {} %, `{}` is off by {} at t = {} s (standard deviation; {} of {} robots that were drawn)",
            significant(100.0 * w.mass_error, 3),
            w.joint,
            significant(w.deviation, 3),
            significant(w.time, 4),
            significant(w.deviation_of_drawn_robots, 3),
            w.robots
        );
        if !self.trusted {
            text.push_str("; so far off, an answer to first order is not to be trusted: see the drawn robots");
        }
        text
    }

    /// Draws both bands of every degree of freedom.
    pub(super) fn draw(&self, robot: &str, path: &Path) -> Result<()> {
        let panel = |i: usize| {
            let curve = |name: &str, sign: f64, of: &[Vec<f64>]| Curve {
                name: name.to_owned(),
                y: of.iter().map(|row| sign * row[i]).collect(),
            };
            Panel {
                label: format!("{} off (rad, m)", self.names[i]),
                curves: vec![
                    curve("+σ, to first order", 1.0, &self.linear),
                    curve("−σ", -1.0, &self.linear),
                    curve("+σ, drawn robots", 1.0, &self.drawn),
                    curve("−σ, drawn robots", -1.0, &self.drawn),
                ],
                more: 0,
            }
        };
        let figure = Figure {
            title: format!("{robot}: masses known to {} %", significant(100.0 * self.error, 3)),
            t: &self.times,
            columns: if self.names.len() > 4 { 2 } else { 1 },
            panels: (0..self.names.len()).map(panel).collect(),
        };
        figure.write(path)
    }
}
