//! `linkwork ik`: a configuration that brings a frame of a robot somewhere, within its limits.

use crate::complaint::Complaint;
use crate::numbers::significant;
use crate::robot::Chosen;
use crate::style;
use anyhow::Result;
use clap::Args;
use linkwork::Mechanism;
use linkwork::motion::{InverseKinematics, Options, Solution, Task};
use linkwork::spatial::{Pose, Rotation};
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// Arguments of `linkwork ik`.
#[derive(Args)]
#[command(after_help = "\
Limits of joints always hold. If the target cannot be reached, the nearest configuration that was found is printed, and the
exit code is 1.

Examples:
  linkwork ik puma560 --frame link6_dh --position 0.4,0.2,0.3
  linkwork ik arm7 --frame flange --pose 0.4,0.2,0.5,3.14,0,0
  linkwork ik arm7 --frame flange --pose 0.4,0.2,0.5,1,0,0,0 --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The frame or link that is to be brought there.
    #[arg(long, value_name = "NAME")]
    frame: String,
    /// Where its origin is to be: x, y, z in metres.
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(required_unless_present = "pose", conflicts_with = "pose")]
    position: Option<Vec<f64>>,
    /// Where it is to be and how turned: x, y, z and roll, pitch, yaw in radians, or a quaternion x, y, z, w.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    pose: Option<Vec<f64>>,
    /// The frame that the target is seen from; the world's if left out.
    #[arg(long, value_name = "NAME")]
    relative_to: Option<String>,
    /// Where to start, nq numbers; neutral, or the nearest within limits, if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    q: Option<Vec<f64>>,
    /// What may be left, in metres and radians.
    #[arg(long, default_value_t = 1e-9, value_name = "SIZE", value_parser = tolerance)]
    tolerance: f64,
    /// How often to start elsewhere.
    #[arg(long, default_value_t = 100, value_name = "TIMES")]
    restarts: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn tolerance(text: &str) -> Result<f64, String> {
    crate::numbers::positive(text, 1.0)
}

#[derive(Serialize)]
struct Answer<'a> {
    robot: &'a str,
    reached: bool,
    q: &'a [f64],
    /// What is left, in metres and radians.
    distance: f64,
    angle: f64,
    at_limit: Vec<&'a str>,
    iterations: usize,
    restarts: usize,
    message: String,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let loaded = arguments.chosen.load_tree()?;
    let m = &loaded.robot.mechanism;
    let wrong = |e: linkwork::Error| Complaint::usage(e.to_string(), "`linkwork info` shows joints, limits and frames");
    let frame = m.frame(&arguments.frame).map_err(wrong)?;
    let mut task = match (&arguments.position, &arguments.pose) {
        (Some(position), _) => Task::position(frame, place("position", position)?),
        (_, Some(numbers)) => Task::pose(frame, pose(numbers)?),
        (None, None) => return Err(Complaint::usage("no target is given", "give --position or --pose")),
    };
    if let Some(other) = &arguments.relative_to {
        task = task.relative_to(m.frame(other).map_err(wrong)?);
    }
    let options = Options {
        tolerance: arguments.tolerance,
        restarts: arguments.restarts,
        ..Options::default()
    };
    let start = start(arguments, m).map_err(wrong)?;
    let solver = InverseKinematics::new(m, vec![task]).and_then(|ik| ik.options(options));
    let found = solver.map_err(wrong)?.solve_from(&start).map_err(wrong)?;
    match arguments.json {
        true => {
            let answer = answer(&loaded.name, &found);
            writeln!(anstream::stdout(), "{}", serde_json::to_string(&answer)?)?;
        }
        false => print(m, &found)?,
    }
    Ok(if found.reached {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn start(arguments: &Arguments, m: &Mechanism) -> linkwork::Result<Vec<f64>> {
    if let Some(q) = &arguments.q {
        return Ok(q.clone());
    }
    let mut q = m.neutral();
    m.clamp(&mut q)?;
    Ok(q)
}

fn place(argument: &str, numbers: &[f64]) -> Result<[f64; 3]> {
    let [x, y, z] = numbers[..] else {
        let problem = format!("--{argument} has {} numbers but needs 3", numbers.len());
        return Err(Complaint::usage(problem, "write it as x,y,z, in metres"));
    };
    Ok([x, y, z])
}

fn pose(numbers: &[f64]) -> Result<Pose> {
    let rotation = match numbers.get(3..).unwrap_or_default() {
        [roll, pitch, yaw] => Rotation::from_rpy(*roll, *pitch, *yaw),
        [x, y, z, w] => {
            let norm = (x * x + y * y + z * z + w * w).sqrt();
            if (norm - 1.0).abs() > 1e-3 || norm.is_nan() {
                let problem = format!("the quaternion of --pose is {norm} long");
                return Err(Complaint::usage(problem, "give a unit quaternion x,y,z,w"));
            }
            Rotation::from_quaternion([x, y, z, w].map(|x| x / norm))
        }
        _ => {
            let problem = format!("--pose has {} numbers but needs 6 or 7", numbers.len());
            let hint = "write it as x,y,z,roll,pitch,yaw, or as x,y,z and a quaternion x,y,z,w";
            return Err(Complaint::usage(problem, hint));
        }
    };
    Ok(Pose::new(rotation, place("pose", &numbers[..3])?))
}

fn answer<'a>(robot: &'a str, found: &'a Solution) -> Answer<'a> {
    let residual = found.residuals[0];
    Answer {
        robot,
        reached: found.reached,
        q: &found.q,
        distance: residual.distance,
        angle: residual.angle,
        at_limit: found.bindings.iter().map(|b| b.joint.as_str()).collect(),
        iterations: found.iterations,
        restarts: found.restarts,
        message: found.to_string(),
    }
}

fn print(m: &Mechanism, found: &Solution) -> Result<()> {
    let mut out = anstream::stdout();
    let names = m.position_names();
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
    for (name, q) in names.iter().zip(&found.q) {
        writeln!(out, "{}  {:>12}", style::pad(name, width), significant(*q, 9))?;
    }
    let numbers: Vec<String> = found.q.iter().map(f64::to_string).collect();
    writeln!(
        out,
        "{}",
        style::paint(style::FAINT, &format!("--q {}", numbers.join(",")))
    )?;
    let paint = if found.reached { style::HEAD } else { style::BAD };
    let text = format!("{found} ({} steps, {} restarts)", found.iterations, found.restarts);
    writeln!(out, "{}", style::paint(paint, &text))?;
    Ok(())
}
