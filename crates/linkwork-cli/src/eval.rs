//! `linkwork eval`: any quantity at a state, or at every state of a stream.

mod quantity;
mod state;
mod stream;

use crate::complaint::Complaint;
use crate::robot::Chosen;
use anyhow::{Context, Result};
use clap::Args;
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use linkwork::{Mechanism, Reference};
use quantity::{Asked, QUANTITIES, Quantity, Seen};
use state::{State, States};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// Arguments of `linkwork eval`.
#[derive(Args)]
#[command(after_help = HELP.as_str())]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// What to compute, one or more of the names below.
    #[arg(required = true, value_name = "QUANTITY", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(QUANTITIES.iter().map(|q| q.name)))]
    quantities: Vec<String>,
    /// The frame that jacobian, pose and osim_inverse are of: a link's, a named one, or world.
    #[arg(long, value_name = "NAME")]
    frame: Option<String>,
    /// The axes and point that jacobian and osim_inverse are seen in.
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
    /// Read states from a file instead of standard input, which is `-`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["q", "v", "a", "tau"])]
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

static HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    let mut text = String::from("Quantities:\n");
    for quantity in QUANTITIES {
        text += &format!("  {:<20} {}\n", quantity.name, quantity.about);
    }
    text + "
States are lines of JSON on standard input, such as {\"q\": [0.1, 0.2], \"v\": [1, 0]}. The keys are q, v, a and tau; what
is missing is nought, and a missing q neutral. For every state one line of JSON comes out, matrices row by row.
With --q, --v, --a or --tau the one state they make is taken instead. All units are SI.

Examples:
  linkwork eval double_pendulum mass_matrix kinetic_energy --q 0.3,-0.5 --v 1,0
  linkwork eval arm7 jacobian --frame flange --q 0,0.5,0,-1,0,1,0
  linkwork eval arm7 forward_dynamics < states.jsonl > accelerations.jsonl"
});

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mechanism = arguments.chosen.load_tree()?.robot.mechanism;
    let seen = seen(arguments, &mechanism)?;
    let asked: Vec<Asked> = asked(&arguments.quantities)
        .map(|q| Asked::new(q, mechanism.nv()))
        .collect();
    let flags = [&arguments.q, &arguments.v, &arguments.a, &arguments.tau];
    let one = flags.iter().any(|f| f.is_some()) || arguments.states.is_none() && std::io::stdin().is_terminal();
    if one {
        let state =
            State::of(&mechanism, flags).map_err(|e| Complaint::usage(e.to_string(), length_hint(&mechanism)))?;
        let (mut line, mut states) = (Vec::new(), States::default());
        states.push(&state);
        let mut evaluator = quantity::Evaluator::new(&mechanism, &asked, seen);
        evaluator.lines(&states, &mut line).map_err(|(_, problem)| problem)?;
        std::io::stdout().write_all(&line)?;
        return Ok(());
    }
    let threads = match arguments.threads {
        Some(n) => usize::from(n),
        None => std::thread::available_parallelism().map_or(1, |n| n.get()),
    };
    let stream = stream::Stream {
        mechanism: &mechanism,
        asked: &asked,
        seen,
        threads,
    };
    let out = std::io::stdout().lock();
    match &arguments.states {
        Some(path) if path.as_os_str() != "-" => {
            let file = std::fs::File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
            stream.run(&path.display().to_string(), file, out)
        }
        _ if arguments.chosen.robot == "-" => Err(Complaint::usage(
            "standard input cannot hold both the model and the states",
            "give the states with --states FILE, or one with --q",
        )),
        _ => stream.run("standard input", std::io::stdin().lock(), out),
    }
}

fn asked(names: &[String]) -> impl Iterator<Item = &'static Quantity> {
    let find = |name: &String| QUANTITIES.iter().find(|q| q.name == name.as_str());
    // clap lets known names through only.
    names.iter().filter_map(find)
}

fn length_hint(mechanism: &Mechanism) -> String {
    format!(
        "`{}` has nq = {}, nv = {}",
        mechanism.name(),
        mechanism.nq(),
        mechanism.nv()
    )
}

/// The frame to look at, if a quantity asks for one.
fn seen(arguments: &Arguments, mechanism: &Mechanism) -> Result<Seen> {
    let reference = match arguments.reference {
        Sight::Local => Reference::Local,
        Sight::World => Reference::World,
        Sight::Aligned => Reference::Aligned,
    };
    let wanted = asked(&arguments.quantities).find(|q| q.of_frame);
    let frame = match (&arguments.frame, wanted) {
        (Some(name), _) => mechanism.frame(name).map_err(|e| {
            let names = mechanism.frames().iter().map(|f| &f.name);
            let names: Vec<&str> = names
                .chain(mechanism.links().iter().map(|l| &l.name))
                .map(String::as_str)
                .collect();
            Complaint::usage(e.to_string(), format!("the frames are {}, world", names.join(", ")))
        })?,
        (None, Some(quantity)) => {
            return Err(Complaint::usage(
                format!("{} needs a frame", quantity.name),
                "say which with --frame NAME; `linkwork info ROBOT` lists them",
            ));
        }
        (None, None) => linkwork::model::FrameId::WORLD,
    };
    Ok(Seen { frame, reference })
}
