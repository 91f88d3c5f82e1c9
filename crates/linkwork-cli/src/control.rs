//! `linkwork control`: one task, three controllers.
//!
//! The robot starts at rest and is to bring its tip to where it would be at another configuration. Decoupled pose control works
//! on the tip's pose, computed torque and joint PD on the configuration; gains are chosen for the same quickness.

use crate::complaint::Complaint;
use crate::plot::{Curve, Figure, Panel};
use crate::robot::Chosen;
use crate::style;
use anyhow::Result;
use clap::Args;
use linkwork::Mechanism;
use linkwork::control::{ComputedTorque, Controlled, Controller, JointPd, PoseControl};
use linkwork::model::FrameId;
use linkwork::simulate::{Integrator, Resistance, RungeKutta4, Standard, State};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `linkwork control`.
#[derive(Args)]
#[command(after_help = "\
Controllers, each with gravity held and torques kept within the joints' limits:
  decoupled        ε = −c₁ν + c₂ℓJ*e with the 12-vector error e of the tip's pose, the slowest ν
                   with frequency ω
  computed torque  q̈ = ω²(q_d ⊖ q) − 2ωq̇, the robot's dynamics undone
  joint PD         T = ω²D(q_d ⊖ q) − 2ωDq̇, D the diagonal of 𝓜 at the goal

The tip has settled when its distance from the goal stays below 2 % of what it was. Energy used is ∫ Σ|T q̇| dt.

Examples:
  linkwork control puma560
  linkwork control arm7 --from 0,0.5,0,-1,0,1,0 --to 0.5,0.2,0.3,-1.4,0,1,0 --plot control.svg")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// Where to start, nq numbers; neutral if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    from: Option<Vec<f64>>,
    /// The configuration whose tip is the goal, nq numbers; half a radian or metre from the start, to and fro, if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    to: Option<Vec<f64>>,
    /// The frame to bring there; the last link if left out.
    #[arg(long, value_name = "NAME")]
    frame: Option<String>,
    /// ω, how quick the controllers are, in rad/s.
    #[arg(long, default_value_t = 4.0, value_name = "OMEGA", value_parser = positive)]
    quickness: f64,
    /// c₁ of the decoupled controller, in 1/s, for every joint; chosen from ω if left out.
    #[arg(long, value_name = "C1", value_parser = positive, requires = "c2")]
    c1: Option<f64>,
    /// c₂ of the decoupled controller, in N/m.
    #[arg(long, value_name = "C2", value_parser = positive, requires = "c1")]
    c2: Option<f64>,
    /// How long to run, in seconds.
    #[arg(long, default_value_t = 8.0, value_name = "SECONDS", value_parser = positive)]
    seconds: f64,
    /// Draw the tip's distance and the torques over time, in an SVG or PNG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x <= 1000.0 => Ok(x),
        _ => Err("a positive number up to 1000 is needed".to_owned()),
    }
}

/// What one controller did.
#[derive(Serialize)]
struct Outcome {
    controller: &'static str,
    /// Seconds; none if the tip never settled.
    settled: Option<f64>,
    peak_torque: f64,
    peak_joint: String,
    energy_used: f64,
    final_distance: f64,
    #[serde(skip)]
    distances: Vec<f64>,
    #[serde(skip)]
    torques: Vec<f64>,
}

struct Task<'m> {
    mechanism: &'m Mechanism,
    start: Vec<f64>,
    goal: Vec<f64>,
    frame: FrameId,
    steps: usize,
}

const STEP: f64 = 1e-3;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let loaded = arguments.chosen.load()?;
    let mechanism = &loaded.robot.mechanism;
    let task = task(arguments, mechanism)?;
    let (nv, omega) = (mechanism.nv(), arguments.quickness);
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(&task.goal)?;
    let target = posed.pose(task.frame);
    let mut mass = vec![0.0; nv * nv];
    posed.mass_matrix(&mut mass)?;
    let inertia: Vec<f64> = (0..nv).map(|i| mass[i * (nv + 1)]).collect();
    let scaled = |s: f64| inertia.iter().map(|d| s * d).collect::<Vec<f64>>();
    let (kp, kd) = (vec![omega * omega; nv], vec![2.0 * omega; nv]);
    let pose = match (arguments.c1, arguments.c2) {
        (Some(c1), Some(c2)) => PoseControl::new(mechanism, task.frame, target, &vec![c1; nv], c2)?,
        _ => PoseControl::tuned(mechanism, task.frame, target, &task.goal, omega)?,
    };
    let outcomes = [
        task.run("decoupled", pose)?,
        task.run("computed torque", ComputedTorque::new(mechanism, &task.goal, &kp, &kd)?)?,
        task.run(
            "joint PD",
            JointPd::new(mechanism, &task.goal, &scaled(omega * omega), &scaled(2.0 * omega))?,
        )?,
    ];
    if let Some(file) = &arguments.plot {
        let every = (task.steps / 400).max(1);
        let panel = |label: &str, y: fn(&Outcome) -> &Vec<f64>| {
            let curve = |o: &Outcome| Curve {
                name: o.controller.to_owned(),
                y: y(o).iter().copied().step_by(every).collect(),
            };
            Panel {
                label: label.to_owned(),
                curves: outcomes.iter().map(curve).collect(),
                more: 0,
            }
        };
        let t: Vec<f64> = (0..=task.steps).step_by(every).map(|i| i as f64 * STEP).collect();
        let panels = vec![
            panel("distance of the tip (m)", |o| &o.distances),
            panel("largest torque (N m, N)", |o| &o.torques),
        ];
        Figure {
            title: format!("{}, one task and three controllers", loaded.name),
            t: &t,
            columns: 1,
            panels,
        }
        .write(file)?;
    }
    let mut out = anstream::stdout();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&outcomes)?)?;
        return Ok(());
    }
    let heads = "settled (s)  peak torque  energy used (J)  left over (m)";
    let name = style::paint(style::HEAD, &style::pad(&loaded.name, 16));
    writeln!(out, "{name} {}", style::paint(style::FAINT, heads))?;
    for o in &outcomes {
        let settled = o.settled.map_or("not yet".to_owned(), |t| format!("{t:.2}"));
        writeln!(
            out,
            "{} {settled:>11} {:>12.2} {:>16.2} {:>14.1e}   {}",
            style::pad(o.controller, 16),
            o.peak_torque,
            o.energy_used,
            o.final_distance,
            style::paint(style::FAINT, &format!("peak at {}", o.peak_joint)),
        )?;
    }
    Ok(())
}

fn task<'m>(arguments: &Arguments, mechanism: &'m Mechanism) -> Result<Task<'m>> {
    let usage = |e: linkwork::Error| {
        let hint = format!("`{}` has nq = {}", mechanism.name(), mechanism.nq());
        Complaint::usage(e.to_string(), hint)
    };
    let start = arguments.from.clone().unwrap_or_else(|| mechanism.neutral());
    let goal = match &arguments.to {
        Some(to) => to.clone(),
        None => {
            let step: Vec<f64> = (0..mechanism.nv())
                .map(|i| if i % 2 == 0 { 0.5 } else { -0.5 })
                .collect();
            let mut goal = start.clone();
            mechanism.integrate(&start, &step, &mut goal).map_err(usage)?;
            goal
        }
    };
    let mut workspace = mechanism.workspace();
    for q in [&start, &goal] {
        workspace.at(q).map_err(usage)?;
    }
    let frame = match &arguments.frame {
        Some(name) => mechanism.frame(name).map_err(usage)?,
        None => match mechanism.links().last() {
            Some(link) => mechanism.link(&link.name)?.into(),
            None => return Err(Complaint::usage("the robot has no links", "take another one")),
        },
    };
    let distance = {
        let [a, b] = [&start, &goal].map(|q| workspace.at(q).map(|mut p| p.pose(frame).translation));
        (a? - b?).norm()
    };
    if distance < 1e-6 {
        return Err(Complaint::usage(
            "the tip is at its goal already",
            "give another --to, or a --frame that moves",
        ));
    }
    Ok(Task {
        mechanism,
        start,
        goal,
        frame,
        steps: (arguments.seconds / STEP).ceil() as usize,
    })
}

impl Task<'_> {
    fn run(&self, name: &'static str, controller: impl Controller) -> Result<Outcome> {
        let m = self.mechanism;
        let mut equations = Standard::with(m, Controlled::new(m, controller), Resistance::none(m));
        let mut integrator = RungeKutta4::new(m);
        let mut state = State::at_rest(m, &self.start);
        let mut workspace = m.workspace();
        let goal = workspace.at(&self.goal)?.pose(self.frame).translation;
        let (mut distances, mut torques, mut used) = (Vec::new(), Vec::new(), 0.0);
        let (mut peak, mut peak_at) = (0.0, 0);
        for i in 0..=self.steps {
            distances.push((workspace.at(&state.q)?.pose(self.frame).translation - goal).norm());
            if i < self.steps {
                integrator.step(&mut equations, &mut state, STEP)?;
            }
            let tau = equations.torques();
            used += STEP * tau.iter().zip(&state.v).map(|(t, v)| (t * v).abs()).sum::<f64>();
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
            Some(last) if last + 1 < distances.len() => Some((last + 1) as f64 * STEP),
            Some(_) => None,
            None => Some(0.0),
        };
        let joint = m
            .joints()
            .iter()
            .find(|j| m.joint(&j.name).is_ok_and(|id| m.v_range(id).contains(&peak_at)));
        Ok(Outcome {
            controller: name,
            settled,
            peak_torque: peak,
            peak_joint: joint.map_or(String::new(), |j| j.name.clone()),
            energy_used: used,
            final_distance: *distances.last().unwrap_or(&0.0),
            distances,
            torques,
        })
    }
}
