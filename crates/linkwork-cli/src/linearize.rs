//! `linkwork linearize`: a linear model about a state, its poles, and files of its matrices.

mod picture;
mod point;
mod push;
mod report;
mod write;

use crate::plot::{self, Picture};
use crate::robot::{Chosen, Driven};
use crate::user_error::UserError;
use anyhow::Result;
use clap::Args;
use linkwork::Mechanism;
use linkwork::simulate::PassiveForces;
use linkwork::state_space::{Method, Pole, StateSpace};
use picture::Poles;
use point::Point;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `linkwork linearize`.
#[derive(Args)]
#[command(after_help = "\
A state is a JSON object, such as {\"q\": [0, 0.1], \"v\": [0, 0], \"tau\": [0, 0]}: in a file, or written out after --at. What
is missing is neutral or zero; without tau, the torques that hold the robot there at rest are taken, against pushes too.

u and x are changes about that state: with a regulator, motors give the torques tau − Kx. Its q, v and tau, the last two with a
number for every degree of freedom in the order of states, and its pushes are in all files.

Pushes are those of `linkwork simulate` and last for ever: they keep to the world's axes while the robot moves, which is part of A.

Written files take their form from their ending: .json, .csv (one file per matrix: model_A.csv …, and
model_point.csv for the state), .npz (NumPy) or .m (MATLAB and Octave). All hold the names of states, inputs and outputs, and
the step of a discrete model, zero for a continuous one: `Ts` in .m; in .csv in the corner above the rows' names, which a
continuous model leaves empty. States are steps of q in its tangent space, then changes of q̇.

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
    #[command(flatten)]
    driven: Driven,
    /// Frames whose places are the outputs, instead of the configuration.
    #[arg(long, value_name = "FRAME", value_delimiter = ',')]
    output: Vec<String>,
    /// A discrete model with this step, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = step, allow_negative_numbers = true)]
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
    /// Write A, B, C, D (and K), their names, the step and the state to this file.
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

/// Seconds for the poles of a model, over the cube of its states.
const POLES_RATE: f64 = 3.3e-9;
/// The same of a regulator.
pub(crate) const LQR_RATE: f64 = 1.1e-7;

/// The shortest step of a discrete model, in seconds: a pole is told apart from 1 by its sixteenth digit, and its rate by that over the
/// step.
const SHORTEST: f64 = 1e-9;

/// The length of a step.
fn step(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(h) if h > 0.0 && h < SHORTEST => Err(format!(
            "in a step below {SHORTEST:e} s nothing moves by more than rounding, and poles say nothing; leave --step out for a \
             continuous model"
        )),
        Ok(h) if h.is_finite() && h > 0.0 => Ok(h),
        Ok(_) => Err("a step takes more than 0 seconds; leave --step out for a continuous model".to_owned()),
        Err(_) => Err("not a number of seconds".to_owned()),
    }
}

/// All that is told of a model.
struct Found<'a> {
    point: &'a Point,
    model: &'a StateSpace,
    poles: &'a [Pole],
    /// K, if it was asked for, and the poles with it.
    gain: Option<&'a [f64]>,
    closed: Option<&'a [Pole]>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(path) = &arguments.poles {
        plot::Format::of(path)?;
    }
    if let Some(path) = &arguments.out {
        write::Form::of(path)?;
    }
    let read = arguments.at.as_deref().map(Path::new);
    let read = read.into_iter().chain([Path::new(&*arguments.chosen.robot)]);
    crate::atomic_file::check_apart(arguments.out.iter().chain(&arguments.poles), read)?;
    let loaded = if arguments.open {
        arguments.chosen.load_tree()?
    } else {
        arguments.chosen.load()?
    };
    let loaded = loaded.driven(&arguments.driven)?;
    if !arguments.open && !loaded.robot.loops.is_empty() {
        return Err(UserError::failure(
            format!("{} has closed loops, about which no linear model is made", loaded.name),
            "--open leaves them open; in Rust, `ClosedMechanism::linearize` gives the derivatives of closed mechanisms",
        ));
    }
    let mechanism = &loaded.robot.mechanism;
    let point = Point::new(arguments, mechanism)?;
    let states = 2 * mechanism.nv();
    match arguments.lqr.is_some() {
        true => crate::expected_duration::tell("the regulator, with the poles", states, LQR_RATE),
        false => crate::expected_duration::tell("the linear model, with its poles", states, POLES_RATE),
    }
    let model = model(arguments, mechanism, &point)?;
    let gain = gain(arguments, &model)?;
    let poles = sorted(model.poles()?, model.step);
    let closed = match &gain {
        None => None,
        Some(gain) => Some(sorted(model.with_feedback(gain)?.poles()?, model.step)),
    };
    let found = Found {
        point: &point,
        model: &model,
        poles: &poles,
        gain: gain.as_deref(),
        closed: closed.as_deref(),
    };
    if let Some(path) = &arguments.out {
        write::model(path, mechanism, &found)?;
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
        let text = write::json(&found)?;
        writeln!(std::io::stdout(), "{text}")?;
        return Ok(());
    }
    report::report(&loaded.name, &found)
}

fn model(arguments: &Arguments, mechanism: &Mechanism, point: &Point) -> Result<StateSpace> {
    let at = &point.at;
    let mut model = match arguments.step {
        None => StateSpace::continuous(mechanism, at)?,
        Some(h) => {
            // A step as `linkwork simulate` takes it: dry friction is softened so that it bears the step.
            let explicit = |method| {
                let resistance = PassiveForces::of(mechanism)?.for_steps(h);
                StateSpace::of_step_against(mechanism, at, &resistance, method, h)
            };
            let stepped = match arguments.method {
                Sampling::Exact => StateSpace::continuous(mechanism, at)?.sampled(h),
                Sampling::Euler => explicit(Method::SemiImplicitEuler),
                Sampling::Rk4 => explicit(Method::RungeKutta4),
                Sampling::DormandPrince => explicit(Method::DormandPrince),
                Sampling::Midpoint => StateSpace::of_step(mechanism, at, Method::ImplicitMidpoint, h),
            };
            stepped.map_err(|problem| blown_up(problem, h))?
        }
    };
    let all = &model.states[..mechanism.nv()];
    if model.inputs.is_empty() {
        let problem = format!("no motor drives any joint of `{}`", mechanism.name());
        return Err(UserError::failure(problem, "say which with --driven"));
    }
    point.check_held(all, &model.inputs)?;
    if let Some(problem) = arguments.output.iter().find_map(|name| mechanism.frame(name).err()) {
        return Err(UserError::usage(format!("--output: {problem}"), push::FRAMES));
    }
    if !arguments.output.is_empty() {
        model = model.seen_at(mechanism, &at.q, &arguments.output)?;
    }
    Ok(model)
}

/// What is wrong with a step from a state that is sound.
fn blown_up(problem: linkwork::Error, h: f64) -> anyhow::Error {
    match problem {
        linkwork::Error::NotFinite { joint, .. } => UserError::failure(
            format!("a step of {h:?} s takes joint `{joint}` beyond all numbers"),
            "shorten --step",
        ),
        problem @ (linkwork::Error::Step { .. } | linkwork::Error::Unsolved { .. }) => {
            UserError::failure(problem.to_string(), "shorten --step")
        }
        problem => problem.into(),
    }
}

/// The regulator, if it was asked for.
fn gain(arguments: &Arguments, model: &StateSpace) -> Result<Option<Vec<f64>>> {
    let Some(weights) = &arguments.lqr else { return Ok(None) };
    let states = model.states.len();
    let weights = match weights[..] {
        [weight] => vec![weight; states],
        _ if weights.len() == states => weights.clone(),
        _ => {
            return Err(UserError::usage(
                format!("--lqr has {} weights but the model has {states} states", weights.len()),
                "give a weight for every state, those of q first and then those of q̇, or one for all",
            ));
        }
    };
    if let Some(x) = weights.iter().find(|x| !(x.is_finite() && **x >= 0.0)) {
        let problem = format!("--lqr has a weight {x}");
        return Err(UserError::usage(problem, "give finite weights of at least zero"));
    }
    if !(arguments.effort.is_finite() && arguments.effort > 0.0) {
        let problem = format!("--effort is {}", arguments.effort);
        return Err(UserError::usage(problem, "give a finite weight above zero"));
    }
    Ok(Some(model.lqr(&weights, &vec![arguments.effort; model.inputs.len()])?))
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
    crate::atomic_file::write(path, bytes)
}
