//! `linkwork demo`: a free arm, the laws of the algebra on it, and a plot.

mod dense;
mod laws;
mod plot;
mod report;

use crate::numbers::seconds;
use crate::random::Random;
use crate::robot::without_resistance;
use crate::user_error::UserError;
use anyhow::{Context, Result};
use clap::Args;
use clap::builder::PossibleValuesParser;
use linkwork::Mechanism;
use linkwork::model::{JointKind, examples};
use linkwork::simulate::{Dynamics, Integrator, PassiveForces, RungeKutta4, State};
use linkwork::spatial::Vec3;
use report::{Kept, Report};
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `linkwork demo`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linkwork demo
  linkwork demo --robot humanoid --seconds 5
  linkwork demo --robot double_pendulum --out swing.svg --json

The robot is released at a random configuration and swings freely: no motors, no friction, no joint stops. A robot without
a fixed base is thrown, without gravity. Only the equations of motion act, so energy must be conserved.")]
pub(crate) struct Arguments {
    /// A built-in robot.
    #[arg(long, default_value = "puma560", value_name = "NAME",
          value_parser = PossibleValuesParser::new(examples::all().map(|(name, _)| name)))]
    robot: String,
    /// How long to simulate, in seconds.
    #[arg(long, default_value_t = 10.0, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// Where to write the plot, as SVG or PNG by the name's end.
    #[arg(long, default_value = "linkwork-demo.svg", value_name = "FILE")]
    out: PathBuf,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// The time step of the simulation, in seconds.
const STEP: f64 = 1e-3;
/// Where the robot is released.
const SEED: u64 = 99;
/// How many states are kept for the plot, about.
const SAMPLES: usize = 1000;
/// How many of them the laws are checked at.
const CHECKED: usize = 25;

/// Energies along a simulation, and the states that they belong to.
struct Course {
    samples: Vec<Sample>,
    steps: u64,
    wall_seconds: f64,
}

struct Sample {
    t: f64,
    q: Vec<f64>,
    qd: Vec<f64>,
    kinetic: f64,
    potential: f64,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    crate::plot::Format::of(&arguments.out)?;
    let example = examples::by_name(&arguments.robot).context("clap lets known names through only")?;
    let (robot, floats) = ideal(&example())?;
    let story = if floats {
        "thrown, without gravity"
    } else {
        "released, without friction"
    };
    let course = simulate(&robot, floats, arguments.seconds)?;
    let laws = laws::check(&robot, &checked(&course.samples))?;
    let out = &arguments.out;
    plot::draw(&robot, story, &course.samples, out)?;
    let report = Report {
        robot: arguments.robot.clone(),
        nq: robot.nq(),
        nv: robot.nv(),
        story,
        laws,
        states: checked(&course.samples).len(),
        seconds: course.steps as f64 * STEP,
        step: STEP,
        steps: course.steps,
        wall_seconds: course.wall_seconds,
        real_time_factor: course.steps as f64 * STEP / course.wall_seconds,
        energy: Kept::along(&course.samples),
        plot: out.display().to_string(),
    };
    report.print(arguments.json)?;
    let broken: Vec<&str> = report.laws.iter().filter(|l| !l.holds).map(|l| l.name).collect();
    if broken.is_empty() && report.energy.kept {
        return Ok(());
    }
    let what = if broken.is_empty() {
        "energy".to_owned()
    } else {
        broken.join(", ")
    };
    Err(UserError::failure(
        format!("not satisfied on {}: {what}", arguments.robot),
        "this should never happen; please report it with the output of --json and your processor",
    ))
}

/// The same mechanism without anything that takes energy or keeps it in springs, and whether it floats. One that floats
/// has no gravity either: falling together, its links would feel none, and move far away.
fn ideal(robot: &Mechanism) -> Result<(Mechanism, bool)> {
    let floats = robot.joints().iter().any(|j| j.kind == JointKind::Free);
    let ideal = without_resistance(robot)?;
    let ideal = if floats { ideal.with_gravity(Vec3::ZERO)? } else { ideal };
    Ok((ideal, floats))
}

/// Lets the robot go from rest, or throws it.
fn simulate(robot: &Mechanism, throw: bool, seconds: f64) -> Result<Course> {
    let steps = (seconds / STEP).round().max(1.0) as u64;
    let stride = steps.div_ceil(SAMPLES as u64);
    let mut equations = Dynamics::with(robot, (), PassiveForces::none(robot));
    let mut integrator = RungeKutta4::new(robot);
    let mut workspace = robot.workspace();
    let mut state = State::at_rest(robot, &robot.random(SEED));
    if throw {
        state.v = Random::new(SEED).numbers(robot.nv());
    }
    let mut samples = Vec::new();
    let mut wall = 0.0;
    let mut done = 0;
    loop {
        let mut posed = workspace.at(&state.q)?;
        let potential = posed.potential_energy();
        let kinetic = posed.moving(&state.v)?.kinetic_energy();
        samples.push(Sample {
            t: done as f64 * STEP,
            q: state.q.clone(),
            qd: state.v.clone(),
            kinetic,
            potential,
        });
        if done == steps {
            break;
        }
        let go = stride.min(steps - done);
        let start = Instant::now();
        for _ in 0..go {
            integrator.step(&mut equations, &mut state, STEP)?;
        }
        wall += start.elapsed().as_secs_f64();
        done += go;
    }
    Ok(Course {
        samples,
        steps,
        wall_seconds: wall,
    })
}

/// Some of the samples, evenly spread, the first one apart: there the robot is at rest.
fn checked(samples: &[Sample]) -> Vec<&Sample> {
    let n = (samples.len() - 1).min(CHECKED);
    (1..=n).map(|i| &samples[i * (samples.len() - 1) / n]).collect()
}
