//! `linkwork sweep`: many states into a directory, chunk by chunk.
//!
//! The Python package computes its sweeps by the same code, so that one directory may be filled by both.

mod chunk;
mod job;
mod random_states;
mod table;

pub use job::{Asked, Numbers, Roll, States, Sweep, digest};
pub use random_states::Random;

use crate::ExitCode;
use crate::numbers::positive;
use crate::robot::Chosen;
use crate::style;
use crate::user_error::UserError;
use anyhow::{Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use linkwork::Mechanism;
use linkwork::batch::Variation;
use linkwork::quantity::{Input, Quantity};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `linkwork sweep`.
#[derive(Args)]
#[command(after_help = "\
A sweep is a directory:
  manifest.json         what is computed, of which robot and states, in chunks of how many
  part-00007.parquet    a row for every state of a chunk: its number, what it was given, and its quantities
  failed-00008.json     the states of a chunk that could not be computed, and why; they are NaN in its part

A part is written under another name and renamed when it is complete, so a part that exists is complete. Running the same
command again computes what is missing. States are drawn by their numbers, so that no result depends on who computed it, nor on how many did. `linkwork.sweep` and
`linkwork.ray` of the Python package write and continue the same directories.

--chunk I/N computes every N-th chunk from the I-th on, I from 0 to N − 1. So for an array of jobs under Slurm:
  sbatch --array=0-15 --wrap 'linkwork sweep arm7 mass_matrix --random 1000000 --out sweep --chunk $SLURM_ARRAY_TASK_ID/16'

Exit codes: 0 success, 1 failure of a chunk or of states, 2 wrong usage.

Examples:
  linkwork sweep arm7 forward_dynamics kinetic_energy --random 100000 --seed 1 --out energies
  linkwork sweep arm7 jacobian --frame flange --random 10000 --out jacobians --chunk 0/4
  linkwork sweep quadruped --rollout 100 --dt 0.001 --every 10 --random 1000 --vary mass=0.2,damping=0.5 --out rolls
  linkwork sweep arm7 bias --states states.jsonl --out given")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// What to compute: names of `linkwork eval --help`.
    #[arg(value_name = "QUANTITY")]
    quantities: Vec<String>,
    /// The directory.
    #[arg(long, value_name = "DIRECTORY")]
    out: PathBuf,
    /// This many random states: configurations within limits, normally distributed velocities and torques.
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "states",
        conflicts_with = "states"
    )]
    random: Option<u64>,
    /// Another seed gives other states.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The standard deviation of random velocities and accelerations.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = |s: &str| positive(s, 1e9))]
    velocity: f64,
    /// The standard deviation of random torques.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = |s: &str| positive(s, 1e9))]
    torque: f64,
    /// Give every random state a model of its own, whose masses, origins of joints, armature, damping or gravity differ from
    /// the robot's by up to this fraction; rollouts then have that damping in them.
    #[arg(long, value_name = "KIND=PART", value_delimiter = ',', conflicts_with = "states")]
    vary: Vec<String>,
    /// Read states from a file, as `linkwork eval` does: a line of JSON for each.
    #[arg(long, value_name = "FILE")]
    states: Option<PathBuf>,
    /// The number of states in a chunk.
    #[arg(long, value_name = "N", default_value_t = 65536, value_parser = clap::value_parser!(u64).range(1..))]
    size: u64,
    /// Compute every N-th chunk from the I-th on, as one job of N does.
    #[arg(long, value_name = "I/N", value_parser = share)]
    chunk: Option<(u64, u64)>,
    /// Simulate every state for this many steps, with its torques held constant.
    #[arg(long, value_name = "STEPS")]
    rollout: Option<usize>,
    /// The step of rollouts, in seconds.
    #[arg(long, value_name = "S", default_value_t = 1e-3, value_parser = |s: &str| positive(s, 1e3))]
    dt: f64,
    /// Keep every N-th step.
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
    /// How rollouts step.
    #[arg(long, value_name = "NAME", default_value = "semi_implicit_euler", value_parser = ["semi_implicit_euler", "runge_kutta4"])]
    method: String,
    /// The frame that quantities are of.
    #[arg(long, value_name = "NAME")]
    frame: Option<String>,
    /// The joint that quantities are of.
    #[arg(long, value_name = "NAME")]
    joint: Option<String>,
    /// The axes and point that quantities of a frame are seen in.
    #[arg(long, value_name = "REFERENCE", value_parser = ["local", "world", "aligned"])]
    reference: Option<String>,
    /// How many threads to use; all processors if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// `2/16` as 2 and 16.
fn share(text: &str) -> Result<(u64, u64), String> {
    let read = text
        .split_once('/')
        .and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match read {
        Some((i, n)) if i < n => Ok((i, n)),
        Some((i, n)) => Err(format!("{i} must be less than {n}: parts count from 0")),
        None => Err("write it as I/N, such as 0/16".to_owned()),
    }
}

/// `mass=0.2` and others as parts of each kind.
fn vary(given: &[String]) -> Result<[f64; 6]> {
    let mut parts = [0.0; 6];
    for text in given {
        let read = text.split_once('=').and_then(|(kind, part)| {
            let kind = Variation::NAMES.iter().position(|name| *name == kind)?;
            Some((kind, part.parse::<f64>().ok()?))
        });
        let Some((kind, part)) = read else {
            let kinds = "kinds are mass, origin, armature, damping and gravity";
            return Err(UserError::usage(
                format!("--vary `{text}` is not of the form KIND=PART"),
                kinds,
            ));
        };
        parts[kind] = part;
    }
    Ok(parts)
}

/// States of a file: the inputs that are asked for.
fn given(path: &Path, m: &Mechanism, quantities: &[&Quantity], rolls: bool) -> Result<(States, Numbers)> {
    let file = std::fs::File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let (states, count) = crate::eval::read_all(file, &path.display().to_string(), m)?;
    let used =
        |i: Input| rolls && matches!(i, Input::Q | Input::Qd | Input::Tau) || quantities.iter().any(|q| q.takes(i));
    let inputs: Vec<(Input, Vec<f64>)> = states.into_iter().filter(|(input, _)| used(*input)).collect();
    let names = inputs.iter().map(|(input, _)| input.name().to_owned()).collect();
    let all: Vec<(&str, &Vec<f64>)> = inputs.iter().map(|(input, x)| (input.name(), x)).collect();
    let states = States::Given {
        total: count,
        names,
        digest: digest(&all),
    };
    let numbers = Numbers {
        inputs,
        models: Vec::new(),
    };
    Ok((states, numbers))
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let loaded = arguments.chosen.load()?;
    let m = &loaded.robot.mechanism;
    let names = [
        ("frame", &arguments.frame),
        ("joint", &arguments.joint),
        ("reference", &arguments.reference),
    ];
    let named: BTreeMap<String, String> = names
        .into_iter()
        .filter_map(|(key, name)| Some((key.to_owned(), name.clone()?)))
        .collect();
    let roll = arguments.rollout.map(|steps| Roll {
        dt: arguments.dt,
        steps,
        every: arguments.every,
        method: arguments.method.clone(),
    });
    let (states, numbers) = match &arguments.states {
        None => {
            let random = Random {
                total: arguments.random.unwrap_or(0),
                seed: arguments.seed,
                velocity: arguments.velocity,
                torque: arguments.torque,
                vary: vary(&arguments.vary)?,
            };
            (States::Random(random), None)
        }
        Some(path) => {
            let found: Vec<_> = arguments
                .quantities
                .iter()
                .filter_map(|name| Quantity::find(name).ok())
                .collect();
            let (states, numbers) = given(path, m, &found, roll.is_some())?;
            (states, Some(numbers))
        }
    };
    let asked = Asked {
        what: arguments.quantities.clone(),
        named,
        roll,
    };
    let sweep = Sweep::new(&loaded.robot, asked, states, &arguments.out, arguments.size)?;
    sweep.open()?;
    let threads = match arguments.threads {
        Some(n) => usize::from(n),
        None => std::thread::available_parallelism().map_or(1, |n| n.get()),
    };
    let (mine, of) = arguments.chunk.unwrap_or((0, 1));
    let missing: Vec<u64> = sweep.missing().into_iter().filter(|i| i % of == mine).collect();
    compute(&sweep, numbers.as_ref(), &missing, threads)
}

/// Computes chunks, whatever becomes of each, and says how it went.
fn compute(sweep: &Sweep, numbers: Option<&Numbers>, missing: &[u64], threads: usize) -> Result<ExitCode> {
    let bar = ProgressBar::new(missing.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} chunks, {eta} left") {
        bar.set_style(style);
    }
    let (mut failed, mut lost) = (0, 0);
    for &index in missing {
        let drawn = match numbers {
            Some(all) => sweep.part_of(all, index),
            None => sweep.draw(index).context("states are drawn or given")?,
        };
        match sweep.compute(index, drawn, threads) {
            Ok(states) => failed += states,
            Err(problem) => {
                lost += 1;
                let (first, count) = sweep.range(index);
                let last = first + count as u64 - 1;
                let word = style::paint(style::BAD, "error");
                bar.suspend(|| anstream::eprintln!("{word}: chunk {index}, states {first} to {last}: {problem:#}"));
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let computed = missing.len() - lost;
    writeln!(
        anstream::stdout(),
        "{computed} of {} chunks computed now, {} there, {failed} states failed",
        sweep.chunks(),
        sweep.chunks() - sweep.missing().len() as u64
    )?;
    match (lost, failed) {
        (0, 0) => Ok(ExitCode::SUCCESS),
        (0, _) => {
            let word = style::paint(style::HEAD, "warning");
            anstream::eprintln!("{word}: states that failed are NaN; failed-*.json name them, and say why");
            Ok(ExitCode::FAILURE)
        }
        _ => Ok(ExitCode::FAILURE),
    }
}
