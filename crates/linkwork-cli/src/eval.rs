//! `linkwork eval`: any quantity at a state, or at every state of a stream.

mod quantity;
mod state;
mod stream;

use crate::robot::Chosen;
use crate::user_error::UserError;
use anyhow::{Context, Result};
use clap::Args;
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use linkwork::model::{FrameId, JointId};
use linkwork::quantity::{Input, Quantity};
use linkwork::{Mechanism, Reference};
use quantity::{Evaluator, Question};
use state::{State, States};
use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::PathBuf;

/// Arguments of `linkwork eval`.
#[derive(Args)]
#[command(after_help = HELP.as_str())]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// What to compute, one or more of the names below.
    #[arg(required = true, value_name = "QUANTITY", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(names()))]
    quantities: Vec<String>,
    /// The frame that quantities are of: a link's, a named one, or world.
    #[arg(long, value_name = "NAME")]
    frame: Option<String>,
    /// The joint that blocks of operators are of.
    #[arg(long, value_name = "NAME")]
    joint: Option<String>,
    /// The axes and point that quantities of a frame are seen in.
    #[arg(long, value_enum, default_value_t = Sight::Local, value_name = "REFERENCE")]
    reference: Sight,
    /// The configuration, nq numbers: rad and m, quaternions x, y, z, w.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    q: Option<Vec<f64>>,
    /// The velocity, nv numbers: rad/s and m/s.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    v: Option<Vec<f64>>,
    /// The acceleration, nv numbers: rad/s² and m/s².
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    a: Option<Vec<f64>>,
    /// The torques, nv numbers: N m and N.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    tau: Option<Vec<f64>>,
    /// The vector that an operator is applied to, nv numbers.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    x: Option<Vec<f64>>,
    /// Changes of q, of v, and of a or tau, 3 nv numbers.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    change: Option<Vec<f64>>,
    /// Print JSON on a terminal too.
    #[arg(long)]
    json: bool,
    /// Read states from a file instead of standard input, which is `-`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["q", "v", "a", "tau", "x", "change"])]
    states: Option<PathBuf>,
    /// How many threads to use; all processors if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sight {
    /// The frame's own axes and origin.
    Local,
    /// The world's axes and origin.
    World,
    /// The world's axes, at the frame's origin.
    Aligned,
}

/// What can be asked for, in the words of this library and of others.
fn names() -> Vec<&'static str> {
    let names = Quantity::all().flat_map(|q| q.aliases.iter().chain([&q.name]));
    names.copied().collect()
}

static HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    let mut text = String::from("Quantities:\n");
    for Quantity {
        name,
        symbol,
        about,
        aliases,
        ..
    } in Quantity::all()
    {
        let also = match aliases {
            [] => String::new(),
            aliases => format!(" (also {})", aliases.join(", ")),
        };
        text += &format!("  {name:<28} {symbol}: {about}{also}\n");
    }
    text + "
States are lines of JSON on standard input, such as {\"q\": [0.1, 0.2], \"v\": [1, 0]}. The keys are q, v, a, tau, x and
change; what is missing is zero, and a missing q neutral. For every state one line of JSON comes out, matrices row by row.
With --q, --v, --a, --tau, --x or --change the one state they make is taken instead. All units are SI.

Examples:
  linkwork eval double_pendulum mass_matrix kinetic_energy --q 0.3,-0.5 --v 1,0
  linkwork eval arm7 jacobian --frame flange --q 0,0.5,0,-1,0,1,0
  linkwork eval arm7 forward_dynamics < states.jsonl > accelerations.jsonl"
});

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let question = question(arguments)?;
    let mechanism = &question.mechanism;
    let Arguments {
        q,
        v,
        a,
        tau,
        x,
        change,
        ..
    } = arguments;
    let flags = [q, v, a, tau, x, change];
    let one = flags.iter().any(|f| f.is_some()) || arguments.states.is_none() && std::io::stdin().is_terminal();
    if one {
        let state = State::of(mechanism, flags).map_err(|e| UserError::usage(e, length_hint(mechanism)))?;
        let mut states = States::new(mechanism, question.quantities.iter().copied());
        states.push(&state);
        let mut evaluator = Evaluator::new(&question)?;
        let mut out = std::io::stdout();
        if out.is_terminal() && !arguments.json {
            out.write_all(evaluator.table(&states)?.as_bytes())?;
            return Ok(());
        }
        let mut line = Vec::new();
        evaluator.lines(&states, &mut line).map_err(|(_, problem)| problem)?;
        out.write_all(&line)?;
        return Ok(());
    }
    let threads = match arguments.threads {
        Some(n) => usize::from(n),
        None => std::thread::available_parallelism().map_or(1, |n| n.get()),
    };
    let stream = stream::Stream {
        question: &question,
        threads,
    };
    let out = std::io::stdout().lock();
    match &arguments.states {
        Some(path) if path.as_os_str() != "-" => {
            let file = std::fs::File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
            stream.run(&path.display().to_string(), file, out)
        }
        _ if arguments.chosen.robot == "-" => Err(UserError::usage(
            "standard input cannot hold both the model and the states",
            "give the states with --states FILE, or one with --q",
        )),
        _ => stream.run("standard input", std::io::stdin().lock(), out),
    }
}

/// The numbers of inputs, state after state.
pub(crate) type Columns = Vec<(Input, Vec<f64>)>;

/// Reads all states of a stream: the numbers of every input, and how many states there are.
pub(crate) fn read_all(input: impl std::io::Read, name: &str, m: &Mechanism) -> Result<(Columns, u64)> {
    let mut one = State::new(m);
    let mut all: Columns = state::KEYS.map(|(_, input)| (input, Vec::new())).into();
    let mut count = 0;
    let (mut input, mut line) = (std::io::BufReader::new(input), Vec::new());
    for i in 0_u64.. {
        line.clear();
        let read = input.by_ref().take(stream::LONGEST + 1).read_until(b'\n', &mut line);
        match read.with_context(|| format!("cannot read {name}"))? as u64 {
            0 => break,
            long if long > stream::LONGEST => return Err(stream::too_long(name, i + 1)),
            _ => {}
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        one.read(line.trim_ascii()).map_err(|problem| {
            let place = format!("{name}, line {}: {problem}", i + 1);
            UserError::failure(place, "a state is a line such as {\"q\": [0.1, 0.2], \"v\": [0, 0]}")
        })?;
        for ((_, all), own) in all.iter_mut().zip(one.lists()) {
            all.extend_from_slice(own);
        }
        count += 1;
    }
    Ok((all, count))
}

fn length_hint(mechanism: &Mechanism) -> String {
    format!(
        "`{}` has nq = {}, nv = {}",
        mechanism.name(),
        mechanism.nq(),
        mechanism.nv()
    )
}

/// What is asked, of which robot.
fn question(arguments: &Arguments) -> Result<Question> {
    let quantities = arguments.quantities.iter().map(|name| Quantity::find(name));
    let quantities = quantities.collect::<linkwork::Result<Vec<_>>>()?;
    let (mechanism, closed) = match quantities.iter().find(|q| q.is_of_loops()) {
        None => (arguments.chosen.load_tree()?.robot.mechanism, None),
        Some(quantity) => {
            let loaded = arguments.chosen.load()?;
            if loaded.robot.loops.is_empty() {
                return Err(UserError::usage(
                    format!("{} is of closed loops, and `{}` has none", quantity.name, loaded.name),
                    "ask for another quantity, or take a robot with loops",
                ));
            }
            let closed = loaded.robot.closed()?;
            (closed.mechanism().clone(), Some(closed))
        }
    };
    Ok(Question {
        frame: frame(arguments, &mechanism, &quantities)?,
        joint: joint(arguments, &mechanism, &quantities)?,
        reference: match arguments.reference {
            Sight::Local => Reference::Local,
            Sight::World => Reference::World,
            Sight::Aligned => Reference::Aligned,
        },
        mechanism,
        closed,
        quantities,
    })
}

/// The frame to look at, if a quantity asks for one.
fn frame(arguments: &Arguments, mechanism: &Mechanism, quantities: &[&Quantity]) -> Result<FrameId> {
    match (&arguments.frame, quantities.iter().find(|q| q.takes(Input::Frame))) {
        (Some(name), _) => mechanism.frame(name).map_err(|e| {
            let names = mechanism.frames().iter().map(|f| &f.name);
            let names: Vec<&str> = names
                .chain(mechanism.links().iter().map(|l| &l.name))
                .map(String::as_str)
                .collect();
            UserError::usage(e.to_string(), format!("the frames are {}, world", names.join(", ")))
        }),
        (None, Some(quantity)) => Err(UserError::usage(
            format!("{} needs a frame", quantity.name),
            "say which with --frame NAME; `linkwork info ROBOT` lists them",
        )),
        (None, None) => Ok(FrameId::WORLD),
    }
}

/// The joint to look at, if a quantity asks for one.
fn joint(arguments: &Arguments, mechanism: &Mechanism, quantities: &[&Quantity]) -> Result<Option<JointId>> {
    match (&arguments.joint, quantities.iter().find(|q| q.takes(Input::Joint))) {
        (Some(name), _) => {
            let names = || mechanism.joints().iter().map(|j| j.name.as_str()).collect::<Vec<_>>();
            let found = mechanism.joint(name).map(Some);
            found.map_err(|e| UserError::usage(e.to_string(), format!("the joints are {}", names().join(", "))))
        }
        (None, Some(quantity)) => Err(UserError::usage(
            format!("{} needs a joint", quantity.name),
            "say which with --joint NAME; `linkwork info ROBOT` lists them",
        )),
        (None, None) => Ok(None),
    }
}
