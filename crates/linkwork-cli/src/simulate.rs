//! `linkwork simulate`: a robot in time.

pub(crate) mod actuators;
pub(crate) mod closed;
mod contact_log;
pub(crate) mod contact_run;
pub(crate) mod control;
mod figure;
mod gimbal;
pub(crate) mod log;
mod log_threads;
pub(crate) mod push;
pub(crate) mod record;
mod report;
mod setup;
pub(crate) mod start;
mod stepping;
mod stiffness;
mod torque_file;

use crate::ExitCode;
use crate::atomic_file;
use crate::numbers::{positive, seconds};
use crate::plot;
use crate::robot::{Chosen, Driven};
use crate::user_error::UserError;
use actuators::Machinery;
use anyhow::Result;
use clap::{Args, ValueEnum};
use contact_run::Touching;
use control::{Control, Driver, Stretch};
use linkwork::Mechanism;
use linkwork::closed::{ClosedMechanism, ClosedMotion};
use linkwork::simulate::{Diagonalized, Dynamics, Ended, PassiveForces, Run, State, Tolerance};
use linkwork::workspace::Scaling;
use linkwork_formats::Robot;
use linkwork_view::Physics;
use log::Log;
use log_threads::{Listener, WAITING, keep, listen};
use push::Push;
use record::{Record, Recorder, Summary};
use report::{End, Report};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::sync_channel;
use std::time::Instant;
use stepping::{Method, Outcome};

/// Arguments of `linkwork simulate`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linkwork simulate double_pendulum --q 1.5708,0 --integrator adaptive
  linkwork simulate arm7 --random 1 --controller computed-torque --seconds 3 --plot reach.svg
  linkwork simulate puma560 -c gravity --push link6:0.5:0.7:0,40,0 --log push.csv --log push.mcap
  linkwork simulate arm.xml --start-key home -c gravity
  linkwork simulate arm.xml --start-key home --ctrl shoulder=0.3 --log servos.csv
  linkwork simulate cart_pole --q 0,0.2 -c lqr --driven rail --plot balance.svg
  linkwork simulate quadruped --gravity 0,0,0 --v 0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 --seconds 2 --json

Joints have what their model says: damping, friction, springs, and stops at their limits. Dry friction is
friction · q̇/√(q̇² + v₀²), v₀ being 1e-3 rad/s or m/s, or what friction changes in one step if that is more. A stop is an
overdamped spring that gives back some 7 % of a joint's speed; its time constant is 5 ms, or 8 steps if that is longer. --ideal
leaves all of it out. Units are SI. The same arguments give the same bits on every run.

--ctrl sets the controls of the actuators in an MJCF file, which act through their gains, gears, lags and bounds. Its tendons
pull, and its sensors are columns of the log. A warning lists what is not modelled.

Logs: .csv, .npz (NumPy), .parquet, .mcap, which Foxglove, Rerun and the tools of ROS 2 open with the robot, its contacts and its
surroundings in it; `linkwork view` plays them all. They are written to FILE.part while the run lasts. Ctrl-C, SIGTERM and SIGHUP end a run and keep what was
computed. After a SIGKILL, or on a full disk, FILE.part can be read up to the last second or so; that of an .npz is an array of
NumPy with a field for each quantity. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 after a signal.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// How long to simulate, in seconds.
    #[arg(long, default_value_t = 10.0, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    #[command(flatten)]
    start: start::Start,
    #[command(flatten)]
    control: Control,
    #[command(flatten)]
    driven: Driven,
    #[command(flatten)]
    surroundings: contact_run::Surroundings,
    /// Write the contacts of every step: time, colliders, point, gap, force and what it is doing, as .csv.
    #[arg(long, value_name = "FILE", conflicts_with = "no_contact")]
    contact_log: Option<PathBuf>,
    /// Push a frame for a while, with N and N m along the world's axes; may be given several times.
    #[arg(long, value_name = push::FORM, allow_hyphen_values = true)]
    push: Vec<String>,
    /// How to step; rk4 if left out, or midpoint where rk4 would be unstable with the joints' damping, springs or gains.
    #[arg(long, short, value_enum, value_name = "NAME")]
    integrator: Option<Method>,
    /// The step of all integrators but the adaptive one, in seconds; 0.001 if left out.
    #[arg(long, value_name = "S", value_parser = |s: &str| positive(s, 1e3), allow_negative_numbers = true)]
    dt: Option<f64>,
    /// The relative error of each step of the adaptive integrator; 1e-12 if left out.
    #[arg(long, value_name = "X", value_parser = |s: &str| positive(s, 1.0), allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// Which equations of motion to integrate.
    #[arg(long, value_enum, default_value_t = Form::Standard, value_name = "FORM")]
    equations: Form,
    /// Leave out damping, friction, springs and stops.
    #[arg(long)]
    ideal: bool,
    /// Leave out the stops at the joints' limits.
    #[arg(long)]
    no_limits: bool,
    /// Write a log: .csv, .npz, .parquet or .mcap; may be given several times.
    #[arg(long, value_name = "FILE")]
    log: Vec<PathBuf>,
    /// States per second in logs and plots.
    #[arg(long, default_value_t = 100.0, value_name = "HZ", value_parser = |s: &str| positive(s, 1e6), allow_negative_numbers = true)]
    log_rate: f64,
    /// Draw positions, velocities, torques, ν, ε and energy: .svg or .png; may be given several times.
    #[arg(long, value_name = "FILE")]
    plot: Vec<PathBuf>,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
    /// Show it in the browser while it runs: pause, step, drag links; nothing is logged.
    #[arg(long, conflicts_with_all = ["log", "plot", "json", "contact_log"])]
    view: bool,
    #[command(flatten)]
    page: crate::view::Page,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// 𝓜q̈ + C = T in q̇.
    Standard,
    /// ν̇ + 𝒞(q, ν) = ε in total rates ν.
    Diagonalized,
    /// Dξ̇ + 𝒞(q, ξ) = κ in total rates ξ.
    Unnormalized,
}

impl Form {
    fn words(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Diagonalized => "diagonalized",
            Self::Unnormalized => "un-normalized diagonalized",
        }
    }

    /// What the velocities of its states are.
    fn scaling(self) -> Option<Scaling> {
        match self {
            Self::Standard => None,
            Self::Diagonalized => Some(Scaling::Normalized),
            Self::Unnormalized => Some(Scaling::Unnormalized),
        }
    }
}

/// The step where none is given, in seconds.
const STEP: f64 = 1e-3;
/// More steps than this would take weeks.
const MOST_STEPS: f64 = 1e12;
/// The tolerance where none is given.
const TOLERANCE: f64 = 1e-12;

impl Arguments {
    /// An error if some of them contradict others, or files cannot be written: better now than after a long run.
    fn check(&self) -> Result<()> {
        let adaptive = self.integrator == Some(Method::Adaptive);
        if adaptive && self.dt.is_some() {
            let problem = "--dt is for integrators with steps of one length";
            return Err(UserError::usage(
                problem,
                "the adaptive one chooses its own; set --tolerance",
            ));
        }
        if !adaptive && self.tolerance.is_some() {
            let problem = "--tolerance is for the adaptive integrator";
            return Err(UserError::usage(problem, "add --integrator adaptive, or set --dt"));
        }
        for path in &self.plot {
            plot::Format::of(path)?;
        }
        for path in &self.log {
            log::Format::of(path)?;
        }
        let dt = self.dt.unwrap_or(STEP);
        if self.seconds / dt > MOST_STEPS {
            let problem = format!("{} s are {:.0e} steps of {dt:e} s", self.seconds, self.seconds / dt);
            let hint = format!("that would not end; {MOST_STEPS:e} steps are the most: take a longer --dt");
            return Err(UserError::usage(problem, hint));
        }
        let contacts = &self.contact_log;
        let files: Vec<&PathBuf> = self.log.iter().chain(&self.plot).chain(contacts).collect();
        let read = self.control.files().into_iter().chain(self.start.file());
        let read = read.chain([Path::new(&*self.chosen.robot)]);
        atomic_file::check_apart(files.iter().copied(), read)?;
        files.into_iter().try_for_each(|path| atomic_file::check(path))
    }
}

/// The simulation in the browser.
impl Arguments {
    fn show(
        &self,
        loaded: &crate::robot::Loaded,
        closed: Option<&ClosedMechanism>,
        (start, driver): (State, Driver),
        (run, physics): (Run, Physics),
    ) -> Result<ExitCode> {
        if self.equations != Form::Standard {
            let problem = "--view shows the standard equations of motion";
            return Err(UserError::usage(problem, "leave --equations out"));
        }
        let mechanism = closed.map_or(&loaded.robot.mechanism, ClosedMechanism::mechanism);
        let stretch = driver.stretch();
        let simulation = linkwork_view::Simulation::new(mechanism, physics, start, Box::new(driver), run)?
            .hearing(Box::new(move |from, until| stretch.set(from, until)));
        let home = (&*self.chosen.robot, self.surroundings.ground());
        crate::view::show_simulation(&self.page, loaded, home, closed, simulation)
    }
}

impl Arguments {
    /// What the robot, whose loops may be closed, may touch, if this run knows contact; says so where it does not.
    fn scene(&self, robot: &Robot, mechanism: &Mechanism) -> Result<Option<linkwork_scene::Scene>> {
        let Some(scene) = self.surroundings.scene(robot, mechanism)? else {
            return Ok(None);
        };
        let without = match () {
            () if self.equations != Form::Standard => "the diagonalized equations",
            () if self.integrator.is_some() => {
                let problem = "with contact, steps are implicit ones of their own";
                return Err(UserError::usage(
                    problem,
                    "leave --integrator out, or contact with --no-contact",
                ));
            }
            () => return Ok(Some(scene)),
        };
        contact_run::warn_without(without);
        Ok(None)
    }
}

impl Arguments {
    /// Holds the links that stand on something where they are at the start, if contact does not do that.
    fn stand(&self, robot: &mut Robot) -> Result<()> {
        let names = self.control.standing_on()?;
        if names.is_empty() || self.scene(robot, &robot.mechanism)?.is_some() {
            return Ok(());
        }
        let state = self.start.state(&robot.mechanism, robot)?;
        let unknown =
            |e: anyhow::Error| UserError::usage(e.to_string(), "`linkwork info ROBOT` lists links and frames");
        closed::stand(robot, &names, &state).map_err(unknown)
    }

    /// How steps with contact are made.
    fn settings(&self, dt: f64) -> linkwork::contact::Settings {
        contact_run::settings(dt, [self.ideal, self.no_limits])
    }

    /// The robot's own actuators and tendons.
    fn machinery(&self, robot: &Robot, mechanism: &Mechanism) -> Result<Machinery> {
        let explicit = !matches!(self.integrator, Some(Method::Adaptive | Method::Midpoint));
        let step = explicit.then(|| self.dt.unwrap_or(STEP));
        let key = self.start.key(robot);
        let limits = [self.ideal, self.ideal || self.no_limits];
        let machinery = self.control.machinery(robot, mechanism, key, limits, step)?;
        machinery.warn();
        Ok(machinery)
    }
}

/// When something changes abruptly.
fn changes(pushes: &[Push], machinery: &Machinery) -> Vec<f64> {
    let mut all = push::changes(pushes);
    all.extend(machinery.changes());
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.check()?;
    let mut loaded = arguments.chosen.load()?.driven(&arguments.driven)?;
    arguments.stand(&mut loaded.robot)?;
    let closed = closed::close(&loaded.robot)?;
    let mechanism = closed
        .as_ref()
        .map_or(&loaded.robot.mechanism, ClosedMechanism::mechanism);
    if closed.is_some() {
        setup::check_closed(arguments, &loaded.name)?;
    }
    let mut state = arguments.start.state(mechanism, &loaded.robot)?;
    if let (false, Some(start)) = (arguments.start.is_given(), arguments.control.beginning(mechanism)?) {
        state = start;
    }
    setup::within_limits(arguments, &loaded.robot, mechanism, &mut state)?;
    if let Some(closed) = &closed {
        closed::settle(closed, &mut state)?;
    }
    arguments.control.check(mechanism, &state.q)?;
    let pushes = arguments.push.iter().map(|p| Push::parse(p, mechanism));
    let pushes: Vec<Push> = pushes.collect::<Result<_>>()?;
    let machinery = arguments.machinery(&loaded.robot, mechanism)?;
    let driver = || -> Result<Driver> {
        let driver = arguments.control.driver(mechanism, &pushes, arguments.ideal)?;
        Ok(driver.with(&machinery))
    };
    arguments.control.tell_time(mechanism);
    let (running, watched) = (driver()?, driver()?);
    let locks = gimbal::locks(mechanism);
    setup::tell_of_locks(&locks);
    let mut scene = arguments.scene(&loaded.robot, mechanism)?;
    let bound = (closed.as_ref(), scene.is_some());
    let (method, step, resistance) = setup::method(arguments, mechanism, bound, &state, &machinery)?;
    if let Some(scene) = &mut scene {
        arguments.surroundings.settle(scene, closed.as_ref(), &mut state)?;
    }
    if arguments.contact_log.is_some() && scene.is_none() {
        let problem = "--contact-log: nothing can touch in this run";
        let hint = "add --ground for a robot with collision shapes, or leave --contact-log out";
        return Err(UserError::usage(problem, hint));
    }
    let told = arguments.push.is_empty() && (closed.is_none() || scene.is_some());
    let acts = !arguments.control.is_none() || machinery.acts();
    let conserved = !acts && pushes.is_empty() && !resistance.is_any() && scene.is_none();
    let relative = arguments.tolerance.unwrap_or(TOLERANCE);
    let absolute = 0.1 * relative;
    let plan = Run::new(method.into(), arguments.seconds)
        .step(step)
        .tolerance(Tolerance { relative, absolute })
        .samples(arguments.log_rate)
        .changes(changes(&pushes, &machinery));
    if !arguments.view {
        arguments.page.only_with_view()?;
    }
    if arguments.view {
        let physics = match (scene, &closed) {
            (Some(scene), closed) => Physics::touching(scene, closed.clone(), arguments.settings(plan.dt)),
            (None, Some(closed)) => Physics::Closed(closed.clone(), resistance),
            (None, None) => Physics::Free(resistance),
        };
        return arguments.show(&loaded, closed.as_ref(), (state, running), (plan, physics));
    }
    let mut stretch = running.stretch();
    let whole = !(arguments.log.is_empty() && arguments.plot.is_empty());
    let sensors = actuators::sensors(&loaded.robot, mechanism, told)?.filter(|_| whole);
    let form = Record::of_run(mechanism, &watched, sensors.as_ref());
    let measuring = sensors.clone().filter(|_| scene.is_some());
    let recorder = Recorder::new(
        mechanism,
        watched,
        sensors,
        resistance.clone(),
        arguments.equations.scaling(),
        [whole, !arguments.plot.is_empty()],
    );
    let equations = match (&closed, arguments.equations.scaling()) {
        (Some(closed), _) => Posing::Closed(Box::new(ClosedMotion::with(closed, running, resistance))),
        (None, None) => Posing::Dynamics(Dynamics::with(mechanism, running, resistance)),
        (None, Some(scaling)) => {
            let mut equations = Diagonalized::with(mechanism, scaling, running, resistance);
            state = equations.state(state.t, &state.q, &state.v)?;
            Posing::Diagonalized(equations)
        }
    };
    let equations = match scene {
        Some(scene) => {
            let driver = driver()?;
            stretch = driver.stretch();
            let settings = arguments.settings(plan.dt);
            let log = arguments.contact_log.as_deref();
            let mut touching = Touching::new(scene, closed.as_ref(), driver, settings, log)?;
            if let Some(sensors) = measuring {
                touching.measure(sensors, &state)?;
            }
            Posing::Touching(Box::new(touching))
        }
        None => equations,
    };
    let touches = matches!(equations, Posing::Touching(_));
    let ground = arguments.surroundings.ground();
    let described = log::Described::of(&loaded.robot, &arguments.chosen.robot, touches, ground);
    let logs = arguments.log.iter();
    let logs = logs.map(|path| Log::begin(path, &form, mechanism, &described, arguments.log_rate));
    let logs = logs.collect::<Result<Vec<_>>>()?;
    let (outcome, summary) = simulate(&plan, stretch, state, equations, recorder, logs)?;
    for path in &arguments.plot {
        figure::draw(&loaded.name, &summary.some, path)?;
    }
    let written = arguments
        .log
        .iter()
        .chain(&arguments.plot)
        .chain(&arguments.contact_log);
    let written = written.map(|path| path.display().to_string()).collect();
    report(
        arguments,
        (&loaded.name, mechanism),
        method,
        (&outcome, &summary),
        conserved,
        written,
    )
    .print(arguments.json)?;
    match outcome.run.ended {
        Ended::Failed(problem) => {
            let hint = match method {
                _ if outcome.contact.is_some() => "what came before is kept; try a smaller --dt",
                Method::Midpoint => "what came before is kept; try a smaller --dt, or --integrator adaptive",
                Method::Adaptive => "what came before is kept; try a looser --tolerance, or --integrator midpoint",
                Method::Euler | Method::Rk4 => {
                    "what came before is kept; try a smaller --dt, or --integrator adaptive or midpoint"
                }
            };
            let hint = match locks.first() {
                Some(lock) => format!("{hint}; {lock}"),
                None => hint.to_owned(),
            };
            Err(UserError::failure(problem.to_string(), hint))
        }
        Ended::Stopped => Ok(ExitCode::from(130)),
        Ended::Finished => Ok(ExitCode::SUCCESS),
    }
}

/// What resists the joints, which may be ideal or without stops; steps of a given length ask for softer stops.
pub(crate) fn resistance(
    (ideal, no_limits, step): (bool, bool, Option<f64>),
    mechanism: &Mechanism,
) -> Result<PassiveForces> {
    if ideal {
        return Ok(PassiveForces::none(mechanism));
    }
    let mut resistance = PassiveForces::of(mechanism)?;
    if no_limits {
        resistance = resistance.without_stops();
    }
    if let Some(joint) = resistance.unstopped().first() {
        let joint = &mechanism.joints()[joint.index()];
        let problem = format!(
            "joint `{}` is {} and has limits, which no stops can be built for",
            joint.name,
            joint.kind.name()
        );
        return Err(UserError::failure(problem, "--no-limits leaves all stops out"));
    }
    if let Some(step) = step {
        resistance = resistance.for_steps(step);
    }
    Ok(resistance)
}

/// The equations of motion that a run is posed in.
enum Posing {
    Dynamics(Dynamics<Driver>),
    Diagonalized(Diagonalized<Driver>),
    Closed(Box<ClosedMotion<Driver>>),
    Touching(Box<Touching>),
}

/// Runs the plan on this thread, records on another, and writes logs on a third.
fn simulate(
    plan: &Run,
    stretch: Stretch,
    start: State,
    equations: Posing,
    recorder: Recorder,
    logs: Vec<Log>,
) -> Result<(Outcome, Summary)> {
    static STOP: AtomicBool = AtomicBool::new(false);
    // Ctrl-C, and what ends programs from outside. A second time does not wait. Without a handler the first does not either.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Relaxed) {
            std::process::exit(130);
        }
    });
    let (sender, receiver) = sync_channel(WAITING);
    let (rows, written) = sync_channel(WAITING);
    let (outcome, summary, logs) = std::thread::scope(|scope| {
        let writing = scope.spawn(move || keep(logs, &written, &STOP));
        let recording = scope.spawn(move || listen(recorder, &receiver, &rows));
        let forces = match &equations {
            Posing::Touching(e) => Some(e.forces()),
            _ => None,
        };
        let mut audience = Listener::new(sender, plan.end, stretch, forces, &STOP);
        let (clock, mut closure, mut contact, mut listed) = (Instant::now(), None, None, Ok(()));
        let run = match equations {
            Posing::Dynamics(mut e) => plan.go(&mut e, start, &mut audience),
            Posing::Diagonalized(mut e) => plan.go(&mut e, start, &mut audience),
            Posing::Touching(mut e) => {
                let run = plan.walk(&mut *e, start, &mut audience);
                (contact, closure, listed) = (Some(e.summary), e.closure(), e.end_log());
                run
            }
            Posing::Closed(mut e) => {
                let run = plan.go(&mut *e, start, &mut audience);
                closure = Some(e.worst_closure());
                run
            }
        };
        let outcome = Outcome {
            run,
            wall_seconds: clock.elapsed().as_secs_f64(),
            closure,
            contact,
        };
        audience.end();
        let summary = recording.join().expect("recording does not panic");
        let logs = writing.join().expect("writing does not panic");
        (outcome, summary, logs.and(listed))
    });
    logs?;
    Ok((outcome, summary?))
}

fn report(
    arguments: &Arguments,
    (robot, mechanism): (&str, &Mechanism),
    method: Method,
    (outcome, summary): (&Outcome, &Summary),
    conserved: bool,
    written: Vec<String>,
) -> Report {
    let last = |name: &str| summary.last.of(name).numbers.clone();
    let seconds = outcome.run.state.t;
    Report {
        robot: robot.to_owned(),
        nq: mechanism.nq(),
        nv: mechanism.nv(),
        integrator: match outcome.contact {
            Some(_) => "implicit steps with contact",
            None => method.words(),
        },
        equations: arguments.equations.words(),
        seconds,
        asked_seconds: arguments.seconds,
        interrupted: matches!(outcome.run.ended, Ended::Stopped),
        steps: outcome.run.steps,
        rejected_steps: outcome.run.rejected,
        wall_seconds: outcome.wall_seconds,
        real_time_factor: seconds / outcome.wall_seconds,
        closure: outcome.closure,
        contact: outcome.contact,
        energy: summary.energy.told(conserved),
        end: End {
            t: summary.last.times().last().copied().unwrap_or(0.0),
            q: last("q"),
            v: last("v"),
        },
        rows: summary.rows,
        written,
    }
}
