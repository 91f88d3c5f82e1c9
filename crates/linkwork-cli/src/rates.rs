//! `linkwork rates`: what total joint rates and working moments are, joint by joint, at a state of a robot.

use crate::plot::{CURVES, Curve, Figure, Panel, Picture};
use crate::random::Random;
use crate::robot::Chosen;
use crate::style;
use crate::user_error::UserError;
use anyhow::Result;
use clap::Args;
use linkwork::Mechanism;
use linkwork::simulate::{Diagonalized, Equations, Integrator, PassiveForces, RungeKutta4};
use linkwork::workspace::{Moving, Scaling, TotalRate};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `linkwork rates`.
#[derive(Args)]
#[command(after_help = "\
The equations of motion in total joint rates ν and working moments ε are ν̇ + 𝒞(q, ν) = ε, one for each degree of freedom.

  q̇       the joint's own rate
  G*V⁺    what the motion of the links inboard adds: how fast the links outboard would turn the joint, were it free
  ξ       q̇ + G*V⁺, the total rate
  ν       √D ξ; ½ν² is the joint's share of the kinetic energy
  T       the torque
  ε       what is left of it when those outboard have had their effect, over √D; εν is the power into ½ν²
  D       the inertia that the joint moves: joints outboard free, and locked

With --terms also 𝒞(q, ν) in parts: what the links outboard hand in, the motion of the links inboard, the present link's own,
the change of D, and gravity.

Examples:
  linkwork rates puma560
  linkwork rates arm7 --q 0,0.5,0,-1,0,1,0 --v 1,0,0,0,0,0,0 --terms
  linkwork rates robot.urdf --random 7 --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The configuration, nq numbers; neutral if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    q: Option<Vec<f64>>,
    /// The velocity, nv numbers; one rad/s or m/s everywhere if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    v: Option<Vec<f64>>,
    /// The torques, nv numbers; those that hold the robot against gravity if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    tau: Option<Vec<f64>>,
    /// A random velocity and configuration instead, from a seed.
    #[arg(long, value_name = "SEED", conflicts_with_all = ["q", "v"], value_parser = crate::numbers::seed, allow_negative_numbers = true)]
    random: Option<u64>,
    /// Also the terms of 𝒞(q, ν).
    #[arg(long)]
    terms: bool,
    /// Also release the robot there, without torques, and draw q̇, ν and ½ν² over time, in an SVG or PNG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// How long to simulate after the release, in seconds.
    #[arg(long, default_value_t = 4.0, value_name = "SECONDS", requires = "plot", value_parser = seconds)]
    seconds: f64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// One degree of freedom, as JSON has it.
#[derive(Serialize)]
struct Row<'a> {
    joint: &'a str,
    index: usize,
    qd: f64,
    correction: f64,
    xi: f64,
    nu: f64,
    tau: f64,
    kappa: f64,
    eps: f64,
    inertia_free: f64,
    inertia_locked: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<Terms>,
}

/// The terms of 𝒞(q, ν) at it.
#[derive(Clone, Copy, Serialize)]
struct Terms {
    outboard: f64,
    inboard: f64,
    present: f64,
    change: f64,
    gravity: f64,
    sum: f64,
}

#[derive(Serialize)]
struct Table<'a> {
    robot: &'a str,
    q: &'a [f64],
    kinetic_energy: f64,
    joints: Vec<Row<'a>>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let loaded = arguments.chosen.load_tree()?;
    let mechanism = &loaded.robot.mechanism;
    let (q, v) = state(arguments, mechanism)?;
    let mut workspace = mechanism.workspace();
    let wrong = |e: linkwork::Error| UserError::usage(e.to_string(), hint(mechanism));
    let mut posed = workspace.at(&q).map_err(wrong)?;
    let mut moving = posed.moving(&v).map_err(wrong)?;
    let tau = match &arguments.tau {
        Some(tau) => tau.clone(),
        None => {
            let mut tau = vec![0.0; mechanism.nv()];
            moving.gravity_torque(&mut tau)?;
            tau
        }
    };
    if tau.len() != mechanism.nv() {
        let problem = format!("tau has {} numbers but needs {}", tau.len(), mechanism.nv());
        return Err(UserError::usage(problem, hint(mechanism)));
    }
    let table = moving.total_rate_table(&tau).map_err(wrong)?;
    let terms = match arguments.terms {
        true => Some(terms(&mut moving, mechanism.nv())?),
        false => None,
    };
    let rows = table
        .iter()
        .enumerate()
        .map(|(i, rate)| row(mechanism, rate, terms.as_ref().map(|t| t[i])));
    let table = Table {
        robot: &loaded.name,
        q: &q,
        kinetic_energy: moving.kinetic_energy(),
        joints: rows.collect(),
    };
    if let Some(file) = &arguments.plot {
        swing(mechanism, &q, &v, arguments.seconds, file)?;
    }
    match arguments.json {
        true => writeln!(anstream::stdout(), "{}", serde_json::to_string(&table)?)?,
        false => print(&table)?,
    }
    Ok(())
}

fn hint(mechanism: &Mechanism) -> String {
    format!(
        "`{}` has nq = {} and nv = {}",
        mechanism.name(),
        mechanism.nq(),
        mechanism.nv()
    )
}

fn state(arguments: &Arguments, mechanism: &Mechanism) -> Result<(Vec<f64>, Vec<f64>)> {
    let nv = mechanism.nv();
    if let Some(seed) = arguments.random {
        let mut random = Random::new(seed);
        let step: Vec<f64> = random.numbers(nv).into_iter().map(|x| 2.0 * x).collect();
        let mut q = mechanism.neutral();
        mechanism.integrate(&mechanism.neutral(), &step, &mut q)?;
        return Ok((q, random.numbers(nv)));
    }
    let q = arguments.q.clone().unwrap_or_else(|| mechanism.neutral());
    let v = arguments.v.clone().unwrap_or_else(|| vec![1.0; nv]);
    if v.len() != nv {
        let problem = format!("v has {} numbers but needs {nv}", v.len());
        return Err(UserError::usage(problem, hint(mechanism)));
    }
    Ok((q, v))
}

fn terms(moving: &mut Moving<'_>, nv: usize) -> Result<Vec<Terms>> {
    let mut numbers = vec![0.0; 5 * nv];
    moving.diagonal_coriolis_terms(Scaling::Normalized, &mut numbers)?;
    let at = |row: usize, i: usize| numbers[row * nv + i];
    let of = |i: usize| Terms {
        outboard: at(0, i),
        inboard: at(1, i),
        present: at(2, i),
        change: at(3, i),
        gravity: at(4, i),
        sum: (0..5).map(|row| at(row, i)).sum(),
    };
    Ok((0..nv).map(of).collect())
}

fn row<'a>(mechanism: &'a Mechanism, rate: &TotalRate, terms: Option<Terms>) -> Row<'a> {
    Row {
        joint: &mechanism.joints()[rate.joint.index()].name,
        index: rate.index,
        qd: rate.qd,
        correction: rate.correction,
        xi: rate.xi,
        nu: rate.nu,
        tau: rate.tau,
        kappa: rate.kappa,
        eps: rate.eps,
        inertia_free: rate.inertia_free,
        inertia_locked: rate.inertia_locked,
        terms,
    }
}

fn print(table: &Table<'_>) -> Result<()> {
    let mut out = anstream::stdout();
    let name = |row: &Row<'_>| match table.joints.iter().filter(|r| r.joint == row.joint).count() {
        1 => row.joint.to_owned(),
        _ => format!("{}[{}]", row.joint, row.index),
    };
    let names: Vec<String> = table.joints.iter().map(name).collect();
    let width = names
        .iter()
        .map(|n| n.chars().count())
        .max()
        .unwrap_or(0)
        .max(table.robot.chars().count());
    let heads = ["q̇", "G*V⁺", "ξ", "ν", "T", "ε", "D free", "D locked", "½ν²"];
    let numbers = table.joints.iter().map(|row| {
        let share = 0.5 * row.nu * row.nu;
        let (free, locked) = (row.inertia_free, row.inertia_locked);
        vec![
            row.qd,
            row.correction,
            row.xi,
            row.nu,
            row.tau,
            row.eps,
            free,
            locked,
            share,
        ]
    });
    columns(
        &mut out,
        table.robot,
        width,
        &heads,
        &names,
        &numbers.collect::<Vec<_>>(),
    )?;
    let energy = style::paint(
        style::FAINT,
        &format!("kinetic energy ½ν*ν = {:.6} J", table.kinetic_energy),
    );
    writeln!(out, "{energy}")?;
    if table.joints.iter().any(|row| row.terms.is_some()) {
        writeln!(out)?;
        let heads = ["outboard", "inboard", "present", "Ḋ", "gravity", "sum"];
        let numbers = table.joints.iter().flat_map(|row| row.terms);
        let numbers = numbers.map(|t| vec![t.outboard, t.inboard, t.present, t.change, t.gravity, t.sum]);
        columns(&mut out, "𝒞(q, ν)", width, &heads, &names, &numbers.collect::<Vec<_>>())?;
    }
    Ok(())
}

const COLUMN: usize = 11;

/// A table of numbers, one row per name. What is zero but for rounding is shown as such.
pub(crate) fn columns(
    out: &mut impl Write,
    title: &str,
    width: usize,
    heads: &[&str],
    names: &[String],
    rows: &[Vec<f64>],
) -> Result<()> {
    write!(out, "{}", style::paint(style::HEAD, &style::pad(title, width)))?;
    for head in heads {
        let gap = COLUMN.saturating_sub(head.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count());
        write!(out, "{}{}", " ".repeat(gap), style::paint(style::FAINT, head))?;
    }
    writeln!(out)?;
    let largest = |i: usize| rows.iter().fold(0.0, |m: f64, row| m.max(row[i].abs()));
    for (name, row) in names.iter().zip(rows) {
        write!(out, "{}", style::pad(name, width))?;
        for (i, x) in row.iter().enumerate() {
            let shown = if x.abs() < 1e-13 * largest(i) { 0.0 } else { *x };
            write!(out, "{:>COLUMN$}", number(shown))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Four figures, and powers of ten where needed.
fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-3..1e5).contains(&size) => format!("{x:.2e}"),
        size if size >= 100.0 => format!("{x:.1}"),
        _ => format!("{x:.4}"),
    }
}

/// A positive number of seconds, at most an hour.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x <= 3600.0 => Ok(x),
        _ => Err("a number of seconds between 0 and 3600 is needed".to_owned()),
    }
}

/// q̇, ν and ½ν² of every degree of freedom as the robot swings freely, without friction or stops, by the equations in (q, ν).
fn swing(mechanism: &Mechanism, q: &[f64], v: &[f64], seconds: f64, file: &Path) -> Result<()> {
    const SAMPLES: usize = 400;
    const STEP: f64 = 1e-3;
    let nv = mechanism.nv();
    let mut equations = Diagonalized::with(mechanism, Scaling::Normalized, (), PassiveForces::none(mechanism));
    let mut integrator = RungeKutta4::new(mechanism);
    let mut state = equations.state(0.0, q, v)?;
    let steps = (seconds / SAMPLES as f64 / STEP).ceil().max(1.0);
    let h = seconds / SAMPLES as f64 / steps;
    let (mut t, mut qd) = (Vec::new(), vec![0.0; nv]);
    let mut curves = vec![Vec::new(); 3 * nv];
    for sample in 0..=SAMPLES {
        equations.velocities(&state.q, &state.v, &mut qd)?;
        t.push(state.t);
        for i in 0..nv {
            curves[i].push(qd[i]);
            curves[nv + i].push(state.v[i]);
            curves[2 * nv + i].push(0.5 * state.v[i] * state.v[i]);
        }
        for _ in 0..if sample < SAMPLES { steps as usize } else { 0 } {
            integrator.step(&mut equations, &mut state, h)?;
        }
    }
    let name = |i: usize| {
        let joint = mechanism.layout().find(|(_, _, v)| v.contains(&i));
        joint.map_or(String::new(), |(joint, ..)| joint.name.clone())
    };
    let mut panel = |label: &str, from: usize| {
        let curve = |i: usize| Curve {
            name: name(i),
            y: std::mem::take(&mut curves[from + i]),
        };
        Panel {
            label: label.to_owned(),
            curves: (0..nv.min(CURVES)).map(curve).collect(),
            more: nv.saturating_sub(CURVES),
        }
    };
    let panels = vec![
        // The font of plots has no dots above letters.
        panel("dq/dt (rad/s, m/s)", 0),
        panel("ν (√J)", nv),
        panel("½ν² (J)", 2 * nv),
    ];
    Figure {
        title: format!("{}, swinging freely: joint rates and total rates", mechanism.name()),
        t: &t,
        columns: 1,
        panels,
    }
    .write(file)
}
