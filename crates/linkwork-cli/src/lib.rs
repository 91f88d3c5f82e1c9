//! The `linkwork` program: robot dynamics from the command line. A library of one function, [`run`], for the program itself and
//! for the Python package, which has it inside.
//!
//! Each command is a module with its arguments and a `run`. Results go to standard output, messages to standard error.
//! Exit codes: 0 for success, 1 for failure, 2 for wrong usage.

mod atomic_file;
mod bench;
mod check;
mod control;
mod convert;
mod cost;
mod demo;
mod derive;
mod energy;
mod eval;
mod exit;
mod expected_duration;
mod explain;
mod ik;
mod info;
mod linearize;
mod manual;
mod npz;
mod numbers;
mod plan;
mod plot;
mod prove;
mod random;
mod rates;
mod robot;
mod simulate;
mod style;
pub mod sweep;
mod text_model;
mod thrift;
mod trajectory_file;
mod user_error;
mod view;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;

pub use exit::ExitCode;

/// Robot dynamics as operators: fast kinematics and dynamics of articulated mechanisms.
#[derive(Parser)]
#[command(name = "linkwork", version, propagate_version = true, arg_required_else_help = true)]
#[command(styles = style::HELP, after_help = EXAMPLES)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate a built-in robot, check the laws of the algebra on it, and plot its motion.
    Demo(demo::Arguments),
    /// Say what is wrong with a robot's file, and where.
    Check(check::Arguments),
    /// Write a robot in another format.
    Convert(convert::Arguments),
    /// Describe a robot: its tree, joints, masses and reach.
    Info(info::Arguments),
    /// Simulate a robot: controllers, pushes, logs and plots.
    Simulate(Box<simulate::Arguments>),
    /// Compute any quantity at a state, or at every state of a stream.
    Eval(eval::Arguments),
    /// Compute quantities or rollouts of many states into a directory, chunk by chunk: alone, or as one of many jobs.
    Sweep(Box<sweep::Arguments>),
    /// Linearize a robot about a state: poles, matrices, a regulator.
    Linearize(linearize::Arguments),
    /// Turn an operator expression into an algorithm: explain it, evaluate it on a robot, or write its source code.
    Derive(Box<derive::Arguments>),
    /// Prove an equation of operators by the laws of the algebra, or find a robot on which it is false.
    Prove(prove::Arguments),
    /// Show a robot, its simulation or a log in the browser; write pictures, films and files of it.
    View(Box<view::Arguments>),
    /// Find a configuration that brings a frame somewhere, within the limits of the joints.
    Ik(ik::Arguments),
    /// Plan a trajectory through waypoints of the joints or of a frame, and write it to a file.
    Plan(Box<plan::Arguments>),
    /// Show total joint rates and working moments, joint by joint.
    Rates(rates::Arguments),
    /// Explain one joint: what its torque is for, its Coriolis term, the inertia it moves; and whether the robot is flat.
    Explain(explain::Arguments),
    /// Compare decoupled control with computed torque and joint PD on one task.
    Control(control::Arguments),
    /// Time every algorithm on a robot, in nanoseconds per call.
    Bench(bench::Arguments),
    /// Count the multiplications and additions of every algorithm, beside the published ones.
    Cost(cost::Arguments),
    /// Print completions for a shell.
    Completions(manual::Completions),
    /// Print the manual page, or write one for every command.
    Man(manual::Man),
}

const EXAMPLES: &str = "\
Examples:
  linkwork demo
  linkwork demo --robot double_pendulum --seconds 20 --out swing.svg
  linkwork check robot.urdf
  linkwork info robot.urdf
  linkwork convert robot.urdf robot.xml
  linkwork simulate double_pendulum --q 1.5,0 --integrator adaptive --plot swing.png
  linkwork view arm7 --simulate
  linkwork eval arm7 mass_matrix --q 0,0.5,0,-1,0,1,0
  linkwork sweep arm7 forward_dynamics --random 10000 --out sweep
  linkwork ik arm7 --frame flange --position 0.4,0.2,0.5
  linkwork linearize cart_pole --driven rail --lqr 1 --poles poles.svg
  linkwork plan arm7 --to 0.5,0.4,0,-1,0,0.8,0 --out reach.json
  linkwork rates puma560 --terms
  linkwork bench arm7
  linkwork cost --links 6,7

Exit codes: 0 success, 1 failure, 2 wrong usage. NO_COLOR turns colours off.";

/// Runs the program with the arguments of a command line, its own name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let fine = |()| ExitCode::SUCCESS;
    let program = match Program::try_parse_from(with_files_apart(arguments.into_iter())) {
        Ok(program) => program,
        Err(told) => return tell(&told),
    };
    let done = match program.command {
        Command::Demo(arguments) => demo::run(&arguments).map(fine),
        Command::Derive(arguments) => derive::run(&arguments).map(fine),
        Command::Check(arguments) => check::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments).map(fine),
        Command::Info(arguments) => info::run(&arguments).map(fine),
        Command::Linearize(arguments) => linearize::run(&arguments).map(fine),
        Command::Plan(arguments) => plan::run(&arguments).map(fine),
        Command::Explain(arguments) => explain::run(&arguments).map(fine),
        Command::Rates(arguments) => rates::run(&arguments).map(fine),
        Command::Control(arguments) => control::run(&arguments).map(fine),
        Command::Bench(arguments) => bench::run(&arguments).map(fine),
        Command::Cost(arguments) => cost::run(&arguments).map(fine),
        Command::Completions(arguments) => manual::completions(&arguments).map(fine),
        Command::Man(arguments) => manual::man(&arguments).map(fine),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Ik(arguments) => ik::run(&arguments),
        Command::Prove(arguments) => prove::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments).map(fine),
    };
    match done {
        Ok(code) => code,
        Err(error) => user_error::report(&error),
    }
}

/// What a user is told of a problem, on one line: with its causes, and what to do.
pub fn explained(problem: &anyhow::Error) -> String {
    user_error::explained(problem)
}

/// `track:FILE` as `track --trajectory FILE`, and the same of `track-lqr`: a controller that comes with its file.
fn with_files_apart(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut apart = Vec::new();
    for argument in arguments {
        let split = argument.to_str().and_then(|text| text.split_once(':'));
        match split {
            Some((kind @ ("track" | "track-lqr" | "--controller=track" | "--controller=track-lqr"), file)) => {
                apart.extend([kind.into(), "--trajectory".into(), file.into()]);
            }
            _ => apart.push(argument),
        }
    }
    apart
}

/// Prints help, versions and what is wrong with arguments; a failure where that cannot be printed.
fn tell(told: &clap::Error) -> ExitCode {
    let printed = told.print().and_then(|()| std::io::stdout().flush());
    match printed {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => user_error::report(&anyhow::Error::new(e)),
        _ => ExitCode::from(told.exit_code() as u8),
    }
}
