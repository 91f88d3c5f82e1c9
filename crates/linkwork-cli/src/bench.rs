//! `linkwork bench`: nanoseconds per call of every algorithm.
//!
//! The protocol is one that other libraries can follow: 64 random states in rotation, 2000 calls to warm up, batches of
//! about 4 ms, 41 of them; the median and the minimum of their means.

mod batches;
mod quantities;

use crate::random::Random;
use crate::robot::{Chosen, Loading};
use crate::style;
use crate::user_error::UserError;
use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use linkwork::model::{JointKind, examples};
use linkwork::simulate::{self, Dynamics, Integrator, PassiveForces, RungeKutta4};
use linkwork::workspace::Derivatives;
use linkwork::workspace::Scaling;
use linkwork::{Mechanism, Workspace};
use serde::Serialize;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

/// Arguments of `linkwork bench`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linkwork bench                            every built-in robot
  linkwork bench humanoid --algorithm aba,rnea
  linkwork bench arm7 --floating --json
  linkwork bench arm7 --quantity regressor,coriolis_matrix
  linkwork bench robot.txt                  a text model
  linkwork bench arm7 --batch 4096 --scalar f32

A call includes all that a new state needs. Times are of one thread unless --threads says otherwise; on a busy machine
compare minima. Those of a batch are per state.")]
pub(crate) struct Arguments {
    /// A built-in robot, a text model, or `-` for a text model on standard input; all built-in robots if left out.
    robot: Option<String>,
    #[command(flatten)]
    loading: Loading,
    /// Print one line of JSON for each algorithm.
    #[arg(long)]
    json: bool,
    /// Time these algorithms only.
    #[arg(long, short, value_enum, value_delimiter = ',', value_name = "ALG")]
    algorithm: Vec<Algorithm>,
    /// Time quantities of the list of `linkwork eval` instead, by name or alias; `all` for all.
    #[arg(long, value_delimiter = ',', value_name = "NAME", conflicts_with_all = ["algorithm", "batch", "scalar", "threads"])]
    quantity: Vec<String>,
    /// A rough answer at once: fewer and shorter batches.
    #[arg(long)]
    quick: bool,
    /// The number of states in one call.
    #[arg(long, value_name = "STATES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch: u32,
    /// What to compute with; f32 in batches.
    #[arg(long, value_enum, default_value_t = Precision::F64)]
    scalar: Precision,
    /// Threads of a batch.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Precision {
    F64,
    F32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
enum Algorithm {
    /// Forward kinematics: the poses of all links.
    Fk,
    /// Forward kinematics and the motions that all Jacobians are made of.
    Jacobians,
    /// Inverse dynamics.
    Rnea,
    /// The mass matrix.
    Crba,
    /// The elements of the mass matrix that are not zero.
    CrbaEntries,
    /// Forward dynamics.
    Aba,
    /// The inverse of the mass matrix.
    Minv,
    /// A step of the Runge–Kutta method of order four.
    Rk4,
    /// Diagonalized dynamics: joint rates and the rate of ξ from (q, ξ).
    Diagonalized,
    /// The same, normalized: from (q, ν).
    Normalized,
    /// Derivatives of inverse dynamics, and the mass matrix.
    RneaDerivatives,
    /// Derivatives of forward dynamics, and the inverse of the mass matrix.
    AbaDerivatives,
}

impl Algorithm {
    fn words(self) -> &'static str {
        match self {
            Self::Fk => "forward kinematics",
            Self::Jacobians => "Jacobians",
            Self::Rnea => "inverse dynamics",
            Self::Crba => "mass matrix",
            Self::CrbaEntries => "mass matrix entries",
            Self::Aba => "forward dynamics",
            Self::Minv => "mass matrix inverse",
            Self::Rk4 => "Runge–Kutta 4 step",
            Self::Diagonalized => "diagonalized",
            Self::Normalized => "diagonalized, ν",
            Self::RneaDerivatives => "∂ inverse dynamics",
            Self::AbaDerivatives => "∂ forward dynamics",
        }
    }
}

/// One line of results.
#[derive(Serialize)]
struct Line<'a> {
    lib: &'static str,
    robot: &'a str,
    nv: usize,
    alg: Algorithm,
    batch: usize,
    scalar: Precision,
    ns: f64,
    min: f64,
}

/// How long to measure.
#[derive(Clone, Copy)]
struct Protocol {
    warm_up: usize,
    trial: usize,
    batches: usize,
    nanoseconds: f64,
}

impl Protocol {
    /// About how many nanoseconds it takes.
    fn total(&self) -> u128 {
        (self.batches as f64 * self.nanoseconds) as u128
    }
}

const FULL: Protocol = Protocol {
    warm_up: 2000,
    trial: 500,
    batches: 41,
    nanoseconds: 4e6,
};

const QUICK: Protocol = Protocol {
    warm_up: 100,
    trial: 100,
    batches: 5,
    nanoseconds: 1e5,
};

const STATES: usize = 64;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let protocol = if arguments.quick { QUICK } else { FULL };
    if !arguments.quantity.is_empty() {
        let quantities = quantities::asked(&arguments.quantity)?;
        let named = arguments.quantity != ["all"];
        for (i, (name, mechanism)) in robots(arguments)?.into_iter().enumerate() {
            if !arguments.json {
                heading(&name, &mechanism, i == 0, 36)?;
            }
            quantities::run(&name, &mechanism, (&quantities, named), &protocol, arguments.json)?;
        }
        return Ok(());
    }
    let in_batches = arguments.batch > 1 || arguments.scalar == Precision::F32;
    let available = if in_batches {
        &batches::ALGORITHMS[..]
    } else {
        Algorithm::value_variants()
    };
    if let Some(alg) = arguments.algorithm.iter().find(|alg| !available.contains(alg)) {
        return Err(UserError::usage(
            format!("batches do not have {}", alg.words()),
            "leave --batch and --scalar out, or take fk, rnea, crba, aba or minv",
        ));
    }
    let algorithms = match &arguments.algorithm[..] {
        [] => available,
        asked => asked,
    };
    let states = arguments.batch as usize;
    if in_batches && !linkwork::batch::HAS_LANES {
        anstream::eprintln!(
            "this program takes one state of a batch after another; one built with `--features lanes` takes several to a register"
        );
    }
    for (i, (name, mechanism)) in robots(arguments)?.into_iter().enumerate() {
        if !arguments.json {
            heading(&name, &mechanism, i == 0, 24)?;
        }
        let threads = usize::from(arguments.threads);
        let mut time: Box<dyn FnMut(Algorithm) -> Result<(f64, f64)>> = match (in_batches, arguments.scalar) {
            (false, _) => {
                let mut bench = Bench::new(&mechanism);
                Box::new(move |alg| bench.time(alg, &protocol))
            }
            (true, Precision::F64) => {
                let mut bench = batches::Batched::<f64>::new(&mechanism, states, threads)?;
                Box::new(move |alg| bench.time(alg, &protocol))
            }
            (true, Precision::F32) => {
                let mut bench = batches::Batched::<f32>::new(&mechanism, states, threads)?;
                Box::new(move |alg| bench.time(alg, &protocol))
            }
        };
        for &alg in algorithms {
            let (ns, min) = time(alg)?;
            let mut out = anstream::stdout();
            if arguments.json {
                let line = Line {
                    lib: "linkwork",
                    robot: &name,
                    nv: mechanism.nv(),
                    alg,
                    batch: states,
                    scalar: arguments.scalar,
                    ns: tenths(ns),
                    min: tenths(min),
                };
                writeln!(out, "{}", serde_json::to_string(&line)?)?;
            } else {
                writeln!(out, "  {} {min:10.1} {ns:10.1}", style::pad(alg.words(), 22))?;
            }
        }
    }
    Ok(())
}

/// The robots asked for. With a free base on request; a built-in robot that has none is ignored unless it was named.
fn robots(arguments: &Arguments) -> Result<Vec<(String, Mechanism)>> {
    let asked = match &arguments.robot {
        Some(robot) => {
            let chosen = Chosen {
                robot: robot.clone(),
                loading: arguments.loading.clone(),
            };
            let loaded = chosen.load_tree()?;
            return Ok(vec![(loaded.name, loaded.robot.mechanism)]);
        }
        None => examples::all()
            .map(|(name, example)| (name.to_owned(), example()))
            .into(),
    };
    if !arguments.loading.floating {
        return Ok(asked);
    }
    let mut floating = Vec::new();
    for (name, mechanism) in asked {
        match mechanism.with_floating_base() {
            Ok(free) => floating.push((name, free)),
            Err(_) => anstream::eprintln!(
                "{}: {name} has no base to set free",
                style::paint(style::FAINT, "skipped")
            ),
        }
    }
    Ok(floating)
}

fn heading(name: &str, mechanism: &Mechanism, first: bool, wide: usize) -> Result<()> {
    let mut out = anstream::stdout();
    if !first {
        writeln!(out)?;
    }
    let freedom = match mechanism.nv() {
        1 => "1 degree of freedom".to_owned(),
        nv => format!("{nv} degrees of freedom"),
    };
    let columns = style::paint(style::FAINT, &format!("{:>10} {:>10}", "min ns", "median ns"));
    let title = style::pad(&format!("{name}, {freedom}"), wide);
    writeln!(out, "{} {columns}", style::paint(style::HEAD, &title))?;
    Ok(())
}

fn tenths(x: f64) -> f64 {
    (10.0 * x).round() / 10.0
}

/// A robot, its states, and room for results.
struct Bench {
    workspace: Workspace,
    equations: Dynamics<()>,
    stepper: RungeKutta4,
    state: simulate::State,
    states: Vec<State>,
    vector: Vec<f64>,
    matrix: Vec<f64>,
    entries: Vec<f64>,
    derivatives: Derivatives,
}

struct State {
    q: Vec<f64>,
    qd: Vec<f64>,
    qdd: Vec<f64>,
    tau: Vec<f64>,
}

impl Bench {
    fn new(mechanism: &Mechanism) -> Self {
        let mut random = Random::new(1);
        let nv = mechanism.nv();
        let states = (0..STATES).map(|_| State {
            q: configuration(mechanism, &mut random),
            qd: random.numbers(nv),
            qdd: random.numbers(nv),
            tau: random.numbers(nv),
        });
        Self {
            workspace: mechanism.workspace(),
            equations: Dynamics::with(mechanism, (), PassiveForces::none(mechanism)),
            stepper: RungeKutta4::new(mechanism),
            state: simulate::State::at_rest(mechanism, &mechanism.neutral()),
            states: states.collect(),
            vector: vec![0.0; nv],
            matrix: vec![0.0; nv * nv],
            entries: vec![0.0; mechanism.mass_pattern().len()],
            derivatives: mechanism.derivatives(),
        }
    }

    /// Median and minimum nanoseconds per call.
    fn time(&mut self, algorithm: Algorithm, protocol: &Protocol) -> Result<(f64, f64)> {
        // One call each with every check; the timed ones below cannot fail where these succeed.
        for i in 0..STATES {
            let robot = self.workspace.mechanism().clone();
            self.call(algorithm, i)
                .map_err(|e| anyhow!(e).context(format!("{} of `{}` failed", algorithm.words(), robot.name())))?;
        }
        // One loop per algorithm: the choice is made outside.
        Ok(match algorithm {
            Algorithm::Fk => measure(protocol, |i| self.call(Algorithm::Fk, i)),
            Algorithm::Jacobians => measure(protocol, |i| self.call(Algorithm::Jacobians, i)),
            Algorithm::Rnea => measure(protocol, |i| self.call(Algorithm::Rnea, i)),
            Algorithm::Crba => measure(protocol, |i| self.call(Algorithm::Crba, i)),
            Algorithm::CrbaEntries => measure(protocol, |i| self.call(Algorithm::CrbaEntries, i)),
            Algorithm::Aba => measure(protocol, |i| self.call(Algorithm::Aba, i)),
            Algorithm::Minv => measure(protocol, |i| self.call(Algorithm::Minv, i)),
            Algorithm::Rk4 => measure(protocol, |i| self.call(Algorithm::Rk4, i)),
            Algorithm::Diagonalized => measure(protocol, |i| self.call(Algorithm::Diagonalized, i)),
            Algorithm::Normalized => measure(protocol, |i| self.call(Algorithm::Normalized, i)),
            Algorithm::RneaDerivatives => measure(protocol, |i| self.call(Algorithm::RneaDerivatives, i)),
            Algorithm::AbaDerivatives => measure(protocol, |i| self.call(Algorithm::AbaDerivatives, i)),
        })
    }

    #[inline(always)]
    fn call(&mut self, algorithm: Algorithm, i: usize) -> linkwork::Result<()> {
        let State { q, qd, qdd, tau } = black_box(&self.states[i]);
        if algorithm == Algorithm::Rk4 {
            self.state.q.copy_from_slice(q);
            self.state.v.copy_from_slice(qd);
            return self.stepper.step(&mut self.equations, &mut self.state, 1e-3);
        }
        let mut posed = self.workspace.at(q)?;
        match algorithm {
            Algorithm::Fk => _ = black_box(posed.poses()),
            Algorithm::Jacobians => posed.prepare_jacobians(),
            Algorithm::Rnea => posed.moving(qd)?.inverse_dynamics(qdd, &mut self.vector)?,
            Algorithm::Crba => posed.mass_matrix(&mut self.matrix)?,
            Algorithm::CrbaEntries => posed.mass_matrix_entries(&mut self.entries)?,
            Algorithm::Aba => posed.moving(qd)?.forward_dynamics(tau, &mut self.vector)?,
            Algorithm::Minv => posed.mass_matrix_inverse(&mut self.matrix)?,
            Algorithm::Rk4 => {}
            Algorithm::Diagonalized => posed
                .moving_at_total_rates(Scaling::Unnormalized, qd)?
                .total_accelerations(Scaling::Unnormalized, tau, &mut self.vector)?,
            Algorithm::Normalized => posed
                .moving_at_total_rates(Scaling::Normalized, qd)?
                .total_accelerations(Scaling::Normalized, tau, &mut self.vector)?,
            Algorithm::RneaDerivatives => posed
                .moving(qd)?
                .linearized(qdd)?
                .inverse_derivatives(&mut self.derivatives)?,
            Algorithm::AbaDerivatives => posed
                .moving(qd)?
                .linearized_under(tau, &mut self.vector)?
                .forward_derivatives(&mut self.derivatives)?,
        }
        Ok(())
    }
}

/// Every coordinate in [−1, 1], quaternions of unit length.
fn configuration(mechanism: &Mechanism, random: &mut Random) -> Vec<f64> {
    let mut q = Vec::with_capacity(mechanism.nq());
    for (joint, own, _) in mechanism.layout() {
        // A joint that follows another has no coordinates.
        let start = q.len();
        q.extend(random.numbers(own.len()));
        if !own.is_empty() && matches!(joint.kind, JointKind::Spherical | JointKind::Free) {
            let quaternion = &mut q[start..start + 4];
            let norm = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
            quaternion.iter_mut().for_each(|x| *x /= norm);
        }
    }
    q
}

fn measure(protocol: &Protocol, mut call: impl FnMut(usize) -> linkwork::Result<()>) -> (f64, f64) {
    let mut mean = |calls: usize| {
        let start = Instant::now();
        let mut failures = 0;
        for i in 0..calls {
            failures += usize::from(call(i % STATES).is_err());
        }
        black_box(failures);
        start.elapsed().as_nanos() as f64 / calls as f64
    };
    mean(protocol.warm_up);
    let per_call = mean(protocol.trial).max(1.0);
    let calls = ((protocol.nanoseconds / per_call) as usize).max(STATES);
    let mut means: Vec<f64> = (0..protocol.batches).map(|_| mean(calls)).collect();
    means.sort_by(f64::total_cmp);
    (means[means.len() / 2], means[0])
}
