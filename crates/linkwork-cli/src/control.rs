//! `linkwork control`: one task, three controllers.
//!
//! The robot starts at rest and is to bring its tip to where it would be at another configuration. Decoupled pose control works
//! on the tip's pose, computed torque and joint PD on the configuration; gains are chosen for the same quickness.

use crate::plot::{Curve, Figure, Panel, Picture};
use crate::robot::{Chosen, Driven};
use crate::style;
use crate::user_error::UserError;
use anyhow::Result;
use clap::Args;
use linkwork::Mechanism;
use linkwork::control::{PoseControl, Trial, TrialOutcome};
use linkwork::model::FrameId;
use linkwork::spatial::Pose;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `linkwork control`.
#[derive(Args)]
#[command(after_help = "\
Controllers, each with gravity held and torques kept within the joints' limits:
  decoupled        ε = −c₁ν + c₂ℓJ*Ge with the 12-vector error e of the tip's pose, directions as stiff
                   as the tip is heavy in them, the slowest pole at −0.7 ω: it takes as long as the others
  computed torque  q̈ = ω²(q_d ⊖ q) − 2ωq̇, the robot's dynamics undone
  joint PD         T = ω²D(q_d ⊖ q) − 2ωDq̇, D the diagonal of 𝓜 at the goal

The tip has settled when its distance from the goal stays below 2 % of what it was. Energy used is ∫ Σ|T q̇| dt.

Examples:
  linkwork control puma560
  linkwork control arm7 --from 0,0.5,0,-1,0,1,0 --to 0.5,0.2,0.3,-1.4,0,1,0 --plot control.svg")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    driven: Driven,
    /// Where to start, nq numbers; neutral if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    from: Option<Vec<f64>>,
    /// The configuration whose tip is the goal, nq numbers; half a radian or metre from the start, with alternating signs, if
    /// left out.
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
struct Line<'a> {
    controller: &'static str,
    /// Seconds; none if the tip never settled.
    settled: Option<f64>,
    peak_torque: f64,
    peak_joint: &'a str,
    energy_used: f64,
    final_distance: f64,
}

/// Seconds for the three runs, over the cube of the degrees of freedom.
const RUN_RATE: f64 = 2.5e-7;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let loaded = arguments.chosen.load_tree()?.driven(&arguments.driven)?;
    let mechanism = &loaded.robot.mechanism;
    crate::expected_duration::tell("the run of three controllers", mechanism.nv(), RUN_RATE);
    let task = task(arguments, mechanism)?;
    let (trial, omega) = (&task.trial, arguments.quickness);
    let pose = match (arguments.c1, arguments.c2) {
        (Some(c1), Some(c2)) => {
            let c1 = vec![c1; mechanism.nv()];
            PoseControl::new(mechanism, task.frame, task.target, &c1, c2)?
        }
        _ => trial.decoupled(omega)?,
    };
    let outcomes = [
        ("decoupled", trial.run(pose)?),
        ("computed torque", trial.run(trial.computed_torque(omega)?)?),
        ("joint PD", trial.run(trial.joint_pd(omega)?)?),
    ];
    if let Some(file) = &arguments.plot {
        let steps = outcomes[0].1.distances.len();
        let every = (steps / 400).max(1);
        let panel = |label: &str, y: fn(&TrialOutcome) -> &Vec<f64>| {
            let curve = |(name, o): &(&str, TrialOutcome)| Curve {
                name: (*name).to_owned(),
                y: y(o).iter().copied().step_by(every).collect(),
            };
            Panel {
                label: label.to_owned(),
                curves: outcomes.iter().map(curve).collect(),
                more: 0,
            }
        };
        let t: Vec<f64> = (0..steps).step_by(every).map(|i| i as f64 * Trial::STEP).collect();
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
        let line = |(controller, o): &(&'static str, TrialOutcome)| {
            serde_json::to_value(Line {
                controller,
                settled: o.settled,
                peak_torque: o.peak_torque,
                peak_joint: &o.peak_joint,
                energy_used: o.energy_used,
                final_distance: o.final_distance,
            })
        };
        let lines = outcomes.iter().map(line).collect::<Result<Vec<_>, _>>()?;
        writeln!(out, "{}", serde_json::to_string(&lines)?)?;
        return Ok(());
    }
    let heads = "settled (s)  peak torque  energy used (J)  left over (m)";
    let name = style::paint(style::HEAD, &style::pad(&loaded.name, 16));
    writeln!(out, "{name} {}", style::paint(style::FAINT, heads))?;
    for (name, o) in &outcomes {
        let settled = o.settled.map_or("not yet".to_owned(), |t| format!("{t:.2}"));
        writeln!(
            out,
            "{} {settled:>11} {:>12.2} {:>16.2} {:>14.1e}   {}",
            style::pad(name, 16),
            o.peak_torque,
            o.energy_used,
            o.final_distance,
            style::paint(style::FAINT, &format!("peak at {}", o.peak_joint)),
        )?;
    }
    Ok(())
}

/// What is to be done.
struct Task {
    trial: Trial,
    frame: FrameId,
    target: Pose,
}

fn task(arguments: &Arguments, mechanism: &Mechanism) -> Result<Task> {
    let usage = |e: linkwork::Error| {
        let hint = format!("`{}` has nq = {}", mechanism.name(), mechanism.nq());
        UserError::usage(e.to_string(), hint)
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
            None => return Err(UserError::usage("the robot has no links", "take another one")),
        },
    };
    let distance = {
        let [a, b] = [&start, &goal].map(|q| workspace.at(q)?.pose(frame));
        (a?.translation - b?.translation).norm()
    };
    if distance < 1e-6 {
        return Err(UserError::usage(
            "the tip is at its goal already",
            "give another --to, or a --frame that moves",
        ));
    }
    Ok(Task {
        trial: Trial::new(mechanism, &start, &goal, frame, arguments.seconds)?,
        target: workspace.at(&goal)?.pose(frame)?,
        frame,
    })
}
