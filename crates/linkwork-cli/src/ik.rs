//! `linkwork ik`: configurations that bring frames of a robot somewhere, within its limits.

pub(crate) mod tasks;

use crate::ExitCode;
use crate::numbers::significant;
use crate::robot::Chosen;
use crate::style;
use crate::user_error::UserError;
use anyhow::{Context, Result};
use clap::Args;
use linkwork::Mechanism;
use linkwork::closed::ClosedMechanism;
use linkwork::contact::Surface;
use linkwork::motion::{InverseKinematics, Residual, Solution, SolverOptions, Task};
use linkwork::spatial::Pose;
use linkwork_formats::Robot;
use linkwork_scene::{ClosedForm, Collider, Scene, colliders};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use tasks::Wanted;

/// Arguments of `linkwork ik`.
#[derive(Args)]
#[command(after_help = "\
A task is KIND [FRAME] NUMBERS [relative=FRAME] [weight=W] [level=N] [preferred]:
  pose FRAME x,y,z,roll,pitch,yaw      or x,y,z and a quaternion x,y,z,w
  position FRAME x,y,z                 orientation FRAME roll,pitch,yaw
  direction FRAME ax,ay,az x,y,z       an axis of the frame, and the direction it is to point in
  distance FRAME d relative=FRAME      also at-least, at-most
  com x,y,z                            posture q1,q2,…
  clear d                              collision shapes at least so far apart, in metres
Tasks of one level are traded off by their weights; a later level has only the freedom that earlier ones leave. A preferred task
need not be met. Limits of joints always hold, and loops of the robot are closed. If the targets cannot be
reached, the nearest configuration that was found is printed, and the exit code is 1.

A file of --targets has a list of {\"tasks\": [{\"kind\", \"frame\", \"target\", …}], \"q\": start}; all are solved at
once, and a list of answers is printed as JSON.

Examples:
  linkwork ik puma560 --frame link6_dh --position 0.4,0.2,0.3
  linkwork ik arm7 --frame flange --pose 0.4,0.2,0.5,3.14,0,0
  linkwork ik arm7 --frame flange --pose 0.4,0.2,0.5,1,0,0,0 --json
  linkwork ik arm7 --task \"position flange 0.4,0.2,0.5\" --task \"posture 0,0,0,0,0,0,0 preferred\"
  linkwork ik scene.xml --frame hand --position 0.35,0,0.35 --avoid 0.02")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The frame or link to bring there.
    #[arg(long, value_name = "NAME", requires = "target")]
    frame: Option<String>,
    /// Where its origin is to be: x, y, z in metres.
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(group = "target", requires = "frame")]
    position: Option<Vec<f64>>,
    /// Where it is to be and how turned: x, y, z and roll, pitch, yaw in radians, or a quaternion x, y, z, w.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(group = "target", requires = "frame")]
    pose: Option<Vec<f64>>,
    /// The frame that the target is seen from; the world's if left out.
    #[arg(long, value_name = "NAME", requires = "target")]
    relative_to: Option<String>,
    /// Another task; may be given several times.
    #[arg(long, value_name = "TASK", allow_hyphen_values = true)]
    task: Vec<String>,
    /// Keep collision shapes so far from each other and from the surroundings, in metres: the same as --task "clear MARGIN".
    #[arg(long, value_name = "MARGIN", value_parser = margin)]
    avoid: Option<f64>,
    /// Add a ground to keep clear of, at a height in metres: 0 if none is given.
    #[arg(long, value_name = "Z", num_args = 0..=1, default_missing_value = "0", allow_negative_numbers = true)]
    ground: Option<f64>,
    /// A file of many targets, in JSON.
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["task", "target"])]
    targets: Option<PathBuf>,
    /// Where to start, nq numbers; neutral, or the nearest within limits, if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    q: Option<Vec<f64>>,
    /// The error that counts as zero, in metres and radians.
    #[arg(long, default_value_t = 1e-9, value_name = "SIZE", value_parser = tolerance)]
    tolerance: f64,
    /// How many other starts to try if the first does not lead to the target.
    #[arg(long, default_value_t = 100, value_name = "TIMES")]
    restarts: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn tolerance(text: &str) -> Result<f64, String> {
    crate::numbers::positive(text, 1.0)
}

fn margin(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(margin) if (0.0..f64::INFINITY).contains(&margin) => Ok(margin),
        _ => Err("it must be a distance in metres, zero or more".to_owned()),
    }
}

/// One of many targets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    tasks: Vec<Wanted>,
    q: Option<Vec<f64>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    robot: &'a str,
    reached: bool,
    q: &'a [f64],
    /// The most that is left of a task, in metres and radians, and what is left of each.
    distance: f64,
    angle: f64,
    residuals: Vec<Left>,
    /// How far loops are from closed.
    closure: f64,
    at_limit: Vec<&'a str>,
    iterations: usize,
    restarts: usize,
    message: String,
}

#[derive(Serialize)]
struct Left {
    distance: f64,
    angle: f64,
}

/// A robot to solve for.
struct Asked<'a> {
    arguments: &'a Arguments,
    robot: &'a Robot,
    mechanism: &'a Mechanism,
    closed: Option<&'a ClosedMechanism>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let loaded = arguments.chosen.load()?;
    let closed = crate::simulate::closed::close(&loaded.robot)?;
    let asked = Asked {
        arguments,
        robot: &loaded.robot,
        mechanism: closed
            .as_ref()
            .map_or(&loaded.robot.mechanism, ClosedMechanism::mechanism),
        closed: closed.as_ref(),
    };
    if let Some(file) = &arguments.targets {
        let found = asked.many(file)?;
        let answers: Vec<Answer<'_>> = found.iter().map(|found| answer(&loaded.name, found)).collect();
        writeln!(anstream::stdout(), "{}", serde_json::to_string(&answers)?)?;
        return Ok(code(found.iter().all(|f| f.reached)));
    }
    let wanted = asked.wanted()?;
    let tasks = asked.tasks(&wanted)?;
    let start = asked.start(arguments.q.as_ref())?;
    let found = asked.solver(&wanted, tasks)?.solve_from(&start).map_err(wrong)?;
    match arguments.json {
        true => {
            let answer = answer(&loaded.name, &found);
            writeln!(anstream::stdout(), "{}", serde_json::to_string(&answer)?)?;
        }
        false => print(asked.mechanism, &found)?,
    }
    Ok(code(found.reached))
}

fn code(reached: bool) -> ExitCode {
    if reached { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn wrong(e: linkwork::Error) -> anyhow::Error {
    UserError::usage(e.to_string(), "`linkwork info` shows joints, limits and frames")
}

impl Asked<'_> {
    /// What the command line wants.
    fn wanted(&self) -> Result<Vec<Wanted>> {
        let given = self.arguments;
        let mut all = Vec::new();
        for (kind, numbers) in [("position", &given.position), ("pose", &given.pose)] {
            if let Some(target) = numbers {
                all.push(Wanted {
                    kind: kind.to_owned(),
                    frame: given.frame.clone(),
                    relative_to: given.relative_to.clone(),
                    target: target.clone(),
                    ..Wanted::default()
                });
            }
        }
        for text in &given.task {
            all.push(Wanted::parse(text)?);
        }
        if all.is_empty() {
            let hint = "give --frame with --position or --pose, --task, or --targets";
            return Err(UserError::usage("no target is given", hint));
        }
        Ok(all)
    }

    /// The tasks of one target, with what --avoid adds.
    fn tasks(&self, wanted: &[Wanted]) -> Result<Vec<Task>> {
        let given = wanted.iter().map(|wanted| wanted.task(self.mechanism));
        let avoid = self.arguments.avoid.map(|margin| Ok(Task::clear(margin)));
        given.chain(avoid).collect()
    }

    /// The robot's collision shapes and its surroundings.
    fn scene(&self) -> Result<Scene> {
        // Frames are those of the mechanism that is solved for.
        let robot = Robot {
            mechanism: self.mechanism.clone(),
            ..self.robot.clone()
        };
        let (mut all, _, notes) = colliders(&robot)?;
        for note in &notes {
            anstream::eprintln!("{}: {note}", style::paint(style::HEAD, "note"));
        }
        if let Some(height) = self.arguments.ground {
            let at = Pose::from_translation([0.0, 0.0, height]);
            all.push(Collider::ground(at, Surface::default()));
        }
        let scene = Scene::with(&robot.mechanism, all, &robot.untouching, Box::new(ClosedForm))?;
        if scene.pairs() == 0 {
            return Err(UserError::usage(
                "--avoid: no two shapes of this robot and its surroundings could touch",
                "give its links <collision> shapes or geoms, and a --ground if it has none to avoid",
            ));
        }
        Ok(scene)
    }

    fn solver(&self, wanted: &[Wanted], tasks: Vec<Task>) -> Result<InverseKinematics> {
        let options = SolverOptions {
            tolerance: self.arguments.tolerance,
            restarts: self.arguments.restarts,
            ..SolverOptions::default()
        };
        let made = match self.closed {
            Some(closed) => InverseKinematics::closed(closed, tasks),
            None => InverseKinematics::new(self.mechanism, tasks),
        };
        let made = made.and_then(|ik| ik.options(options)).map_err(wrong)?;
        let avoids = self.arguments.avoid.is_some() || wanted.iter().any(|wanted| wanted.kind == "clear");
        match avoids {
            true => Ok(made.avoiding(Box::new(self.scene()?))),
            false if self.arguments.ground.is_some() => Err(UserError::usage(
                "--ground has no part without something that keeps clear of it",
                "give --avoid MARGIN too",
            )),
            false => Ok(made),
        }
    }

    /// A given start, or neutral within limits.
    fn start(&self, given: Option<&Vec<f64>>) -> Result<Vec<f64>> {
        if let Some(q) = given {
            return Ok(q.clone());
        }
        let mut q = self.mechanism.neutral();
        self.mechanism.clamp(&mut q).map_err(wrong)?;
        Ok(q)
    }

    /// All targets of a file, those of the same kinds of tasks in one batch.
    fn many(&self, file: &Path) -> Result<Vec<Solution>> {
        let shown = file.display();
        let text = crate::numbers::read_bounded(file)?;
        let targets: Vec<Target> = serde_json::from_str(&text).map_err(|e| {
            let hint = "`linkwork ik --help` shows how a file of targets is written";
            UserError::usage(format!("{shown}: {e}"), hint)
        })?;
        let (mut tasks, mut starts) = (Vec::new(), Vec::new());
        for (i, target) in targets.iter().enumerate() {
            let own = self.tasks(&target.tasks);
            tasks.push(own.with_context(|| format!("{shown}, target number {i} (from zero)"))?);
            let start = self.start(target.q.as_ref().or(self.arguments.q.as_ref()))?;
            if start.len() != self.mechanism.nq() {
                let problem = format!(
                    "{shown}: q of target number {i} (from zero) has {} numbers",
                    start.len()
                );
                return Err(UserError::usage(problem, format!("nq is {}", self.mechanism.nq())));
            }
            starts.extend(start);
        }
        let (Some(first), Some(target)) = (tasks.first(), targets.first()) else {
            return Ok(Vec::new());
        };
        let solver = self.solver(&target.tasks, first.clone())?;
        solver.solve_many(&tasks, &starts).map_err(wrong)
    }
}

fn answer<'a>(robot: &'a str, found: &'a Solution) -> Answer<'a> {
    let most = |of: fn(&Residual) -> f64| found.residuals.iter().map(of).fold(0.0, f64::max);
    let left = |r: &Residual| Left {
        distance: r.distance,
        angle: r.angle,
    };
    Answer {
        robot,
        reached: found.reached,
        q: &found.q,
        distance: most(|r| r.distance),
        angle: most(|r| r.angle),
        residuals: found.residuals.iter().map(left).collect(),
        closure: found.closure,
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
