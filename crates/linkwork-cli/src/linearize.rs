//! `linkwork linearize`: a linear model about a state, its poles, and files of its matrices.

mod picture;
mod push;
mod write;

use crate::complaint::Complaint;
use crate::numbers::significant;
use crate::plot::{self, Picture};
use crate::robot::Chosen;
use crate::style::{self, pad};
use anyhow::{Context, Result};
use clap::Args;
use linkwork::Mechanism;
use linkwork::simulate::Resistance;
use linkwork::state_space::{Method, OperatingPoint, Pole, StateSpace};
use picture::Poles;
use serde::Deserialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `linkwork linearize`.
#[derive(Args)]
#[command(after_help = "\
A state is a JSON object, such as {\"q\": [0, 0.1], \"v\": [0, 0], \"tau\": [0, 0]}: in a file, or written out after --at. What
is missing is neutral or nought; without tau, the torques that hold the robot there at rest are taken, against pushes too.

Pushes are those of `linkwork simulate` and last for ever: they keep to the world's axes while the robot moves, which is part of A.

Written files take their form from their ending: .json, .csv (one file per matrix: model_A.csv …), .npz (NumPy) or
.m (MATLAB and Octave). All hold the names of states, inputs and outputs, and the step of a discrete model, nought for a
continuous one: `Ts` in .m, in .csv in the corner above the rows' names. States are steps of q in its tangent space, then changes of q̇.

Examples:
  linkwork linearize cart_pole
  linkwork linearize cart_pole --driven rail --lqr 1,1,0.1,0.1 --effort 0.1
  linkwork linearize robot.urdf --at state.json --out model.npz --poles poles.svg
  linkwork linearize cart_pole --push tip:0,0,-2
  linkwork linearize arm7 --at '{\"q\": [0, 0.5, 0, -1, 0, 1, 0]}' --output flange --step 0.002 --method rk4")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The state to linearize about: a JSON file, or JSON itself. The neutral configuration at rest if left out.
    #[arg(long, value_name = "STATE")]
    at: Option<String>,
    /// Push a frame, with N and N m along the world's axes; may be given several times.
    #[arg(long, value_name = push::FORM, allow_hyphen_values = true)]
    push: Vec<String>,
    /// The joints that motors drive; all if left out.
    #[arg(long, value_name = "JOINT", value_delimiter = ',')]
    driven: Vec<String>,
    /// Frames whose places are the outputs, instead of the configuration.
    #[arg(long, value_name = "FRAME", value_delimiter = ',')]
    output: Vec<String>,
    /// A discrete model with this step, in seconds.
    #[arg(long, value_name = "SECONDS")]
    step: Option<f64>,
    /// How the step is taken; explicit ones soften dry friction as `linkwork simulate` does.
    #[arg(long, value_enum, default_value_t = Sampling::Exact, requires = "step")]
    method: Sampling,
    /// Also find a regulator: weights of the states, one number each, or one for all.
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',')]
    lqr: Option<Vec<f64>>,
    /// The regulator's weight of every input.
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0, requires = "lqr")]
    effort: f64,
    /// Write A, B, C, D (and K), their names and the step to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the poles: .svg or .png.
    #[arg(long, value_name = "FILE")]
    poles: Option<PathBuf>,
    /// Leave closed loops open: the model is that of the tree.
    #[arg(long)]
    open: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Sampling {
    /// The continuous model, sampled, with inputs held.
    Exact,
    /// A step of the simulator's semi-implicit Euler method.
    Euler,
    /// A step of the simulator's Runge–Kutta method of order four.
    Rk4,
    /// A step of Dormand and Prince's method of order five, of this length.
    DormandPrince,
    /// A step of the simulator's implicit midpoint rule.
    Midpoint,
}

/// A state as users write it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct State {
    q: Option<Vec<f64>>,
    #[serde(alias = "qd")]
    v: Option<Vec<f64>>,
    tau: Option<Vec<f64>>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(path) = &arguments.poles {
        plot::Format::of(path)?;
    }
    if let Some(path) = &arguments.out {
        write::Form::of(path)?;
    }
    let loaded = if arguments.open {
        arguments.chosen.load_tree()?
    } else {
        arguments.chosen.load()?
    };
    if !arguments.open && !loaded.robot.loops.is_empty() {
        return Err(Complaint::failure(
            format!("{} has closed loops, about which no linear model is made", loaded.name),
            "--open leaves them open; in Rust, `Closed::linearize` gives the derivatives of closed mechanisms",
        ));
    }
    let mechanism = &loaded.robot.mechanism;
    let point = point(arguments, mechanism)?;
    let model = model(arguments, mechanism, &point)?;
    let gain = match &arguments.lqr {
        None => None,
        Some(weights) => {
            let states = model.states.len();
            let weights = if weights.len() == 1 {
                vec![weights[0]; states]
            } else {
                weights.clone()
            };
            Some(model.lqr(&weights, &vec![arguments.effort; model.inputs.len()])?)
        }
    };
    let poles = sorted(model.poles()?, model.step);
    let closed = match &gain {
        None => None,
        Some(gain) => Some(sorted(model.with_feedback(gain)?.poles()?, model.step)),
    };
    if let Some(path) = &arguments.out {
        write::model(path, &model, gain.as_deref(), &poles, closed.as_deref())?;
    }
    if let Some(path) = &arguments.poles {
        let picture = Poles {
            name: &loaded.name,
            step: model.step,
            open: &poles,
            closed: closed.as_deref(),
        };
        picture.write(path)?;
    }
    if arguments.json {
        let text = write::json(&model, gain.as_deref(), &poles, closed.as_deref())?;
        writeln!(std::io::stdout(), "{text}")?;
        return Ok(());
    }
    report(&loaded.name, &model, &poles, gain.as_deref(), closed.as_deref())
}

/// The state asked for.
fn point(arguments: &Arguments, mechanism: &Mechanism) -> Result<OperatingPoint> {
    let state = match &arguments.at {
        None => State::default(),
        Some(text) if text.trim_start().starts_with('{') => read(text, "--at")?,
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the state `{path}`"))?;
            read(&text, path)?
        }
    };
    let q = state.q.unwrap_or_else(|| mechanism.neutral());
    let pushes = arguments.push.iter().map(|text| push::parse(text, mechanism));
    let pushes = pushes.collect::<Result<Vec<_>>>()?;
    let mut point = OperatingPoint::at_rest_under(mechanism, &q, &pushes).context("the state's q does not fit")?;
    let nv = mechanism.nv();
    for (name, given, into) in [("v", state.v, &mut point.qd), ("tau", state.tau, &mut point.tau)] {
        let Some(given) = given else { continue };
        if given.len() != nv {
            return Err(Complaint::usage(
                format!(
                    "{name} has {} numbers but `{}` has {nv} degrees of freedom",
                    given.len(),
                    mechanism.name()
                ),
                "`linkwork info ROBOT` lists the joints in the order of coordinates",
            ));
        }
        *into = given;
    }
    Ok(point)
}

fn read(text: &str, name: &str) -> Result<State> {
    serde_json::from_str(text).map_err(|e| {
        Complaint::usage(
            format!("the state in {name} is not what was expected: {e}"),
            "write it as {\"q\": [...], \"v\": [...], \"tau\": [...]}",
        )
    })
}

fn model(arguments: &Arguments, mechanism: &Mechanism, point: &OperatingPoint) -> Result<StateSpace> {
    let mut model = match (arguments.step, arguments.method) {
        (None, _) => StateSpace::continuous(mechanism, point)?,
        (Some(h), Sampling::Exact) => StateSpace::continuous(mechanism, point)?.sampled(h)?,
        (Some(h), Sampling::Euler) => explicit_step(mechanism, point, Method::SemiImplicitEuler, h)?,
        (Some(h), Sampling::Rk4) => explicit_step(mechanism, point, Method::RungeKutta4, h)?,
        (Some(h), Sampling::DormandPrince) => explicit_step(mechanism, point, Method::DormandPrince, h)?,
        (Some(h), Sampling::Midpoint) => StateSpace::of_step(mechanism, point, Method::ImplicitMidpoint, h)?,
    };
    if !arguments.driven.is_empty() {
        let all = model.inputs.clone();
        model = model.driven_by(&arguments.driven)?;
        check_held(&all, &model.inputs, &point.tau)?;
    }
    if !arguments.output.is_empty() {
        model = model.seen_at(mechanism, &point.q, &arguments.output)?;
    }
    Ok(model)
}

/// An error where a torque of the point acts at a joint that nothing drives.
fn check_held(all: &[String], driven: &[String], tau: &[f64]) -> Result<()> {
    let largest = tau.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let idle = |i: &usize| !driven.contains(&all[*i]) && tau[*i].abs() > 1e-9 * (1.0 + largest);
    match (0..all.len()).find(idle) {
        None => Ok(()),
        Some(i) => Err(Complaint::failure(
            format!(
                "the robot is not held there: `{}` would need {:.6} N m or N but is not driven",
                all[i], tau[i]
            ),
            "choose a configuration in balance with --at, drive that joint too, or give \"tau\" in the state",
        )),
    }
}

/// A step as `linkwork simulate` takes it: dry friction is softened so that it bears the step.
fn explicit_step(mechanism: &Mechanism, point: &OperatingPoint, method: Method, h: f64) -> Result<StateSpace> {
    let resistance = Resistance::of(mechanism)?.for_steps(mechanism, h);
    Ok(StateSpace::of_step_against(mechanism, point, &resistance, method, h)?)
}

/// Poles that die out last first, each beside its mate.
fn sorted(poles: Vec<Pole>, step: Option<f64>) -> Vec<Pole> {
    let slowness = |p: &Pole| if step.is_some() { p.size() } else { p.re };
    let order = |a: &Pole, b: &Pole| {
        let slower = slowness(b).total_cmp(&slowness(a));
        slower.then(a.im.abs().total_cmp(&b.im.abs()))
    };
    let (above, mut below): (Vec<Pole>, Vec<Pole>) = poles.into_iter().partition(|p| p.im >= 0.0);
    let mated = |p: Pole| {
        let mate = below.iter().position(|mate| mate.re == p.re && mate.im == -p.im);
        (p, mate.map(|i| below.swap_remove(i)))
    };
    let mut pairs: Vec<(Pole, Option<Pole>)> = above.into_iter().map(mated).collect();
    // Rounding may leave some alone.
    pairs.extend(below.into_iter().map(|p| (p, None)));
    pairs.sort_by(|(a, _), (b, _)| order(a, b));
    pairs
        .into_iter()
        .flat_map(|(p, mate)| [Some(p), mate])
        .flatten()
        .collect()
}

/// Writes a file.
fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Poles as a table.
fn report(name: &str, model: &StateSpace, poles: &[Pole], gain: Option<&[f64]>, closed: Option<&[Pole]>) -> Result<()> {
    let mut out = anstream::stdout();
    let time = match model.step {
        None => "continuous".to_owned(),
        Some(h) => format!("steps of {h:?} s"),
    };
    let (states, inputs) = (model.states.len(), model.inputs.len());
    let reached = model.controllable_states();
    let head = style::paint(style::HEAD, name);
    writeln!(
        out,
        "{head}: {states} states, {inputs} inputs, {} outputs, {time}",
        model.outputs.len()
    )?;
    let words = if reached == states {
        "controllable".to_owned()
    } else {
        format!("{reached} of {states} states can be controlled")
    };
    writeln!(out, "{words}\n")?;
    table(&mut out, "poles", model.step, poles)?;
    if let (Some(gain), Some(closed)) = (gain, closed) {
        writeln!(out)?;
        table(&mut out, "poles with the regulator", model.step, closed)?;
        writeln!(out, "\n{}", style::paint(style::HEAD, "gain K of u = −Kx"))?;
        for (input, row) in model.inputs.iter().zip(gain.chunks(states.max(1))) {
            let numbers: Vec<String> = row.iter().map(|x| significant(*x, 6)).collect();
            writeln!(out, "  {} {}", pad(input, 20), numbers.join("  "))?;
        }
    }
    Ok(())
}

fn table(out: &mut impl Write, title: &str, step: Option<f64>, poles: &[Pole]) -> Result<()> {
    let unit = if step.is_none() { ["1/s", "rad/s"] } else { ["", ""] };
    writeln!(
        out,
        "{} {}",
        style::paint(style::HEAD, &pad(title, 39)),
        style::paint(style::FAINT, "frequency Hz    damping")
    )?;
    for pole in poles {
        // A discrete pole z stands for the continuous log z / h.
        let (size, damping) = match step {
            None => (pole.size(), pole.damping()),
            Some(h) => {
                let (re, im) = (pole.size().ln() / h, pole.im.atan2(pole.re) / h);
                let size = re.hypot(im);
                (size, if size == 0.0 { 0.0 } else { -re / size })
            }
        };
        // What is this little of a pole, rounding left.
        let part = |x: f64| {
            let kept = if x.abs() > 1e-13 * pole.size() { x } else { 0.0 };
            significant(kept, 6)
        };
        let re = part(pole.re);
        let number = if pole.im == 0.0 {
            format!("{re:>13} {}", unit[0])
        } else {
            let sign = if pole.im < 0.0 { '−' } else { '+' };
            format!("{re:>13} {sign} {}i {}", part(pole.im.abs()), unit[1])
        };
        let (hertz, damping) = if size.is_finite() {
            (
                significant(size / core::f64::consts::TAU, 5),
                significant(if damping.abs() > 1e-13 { damping } else { 0.0 }, 4),
            )
        } else {
            ("–".to_owned(), "–".to_owned())
        };
        writeln!(out, "{} {hertz:>12} {damping:>10}", pad(&number, 39))?;
    }
    Ok(())
}
