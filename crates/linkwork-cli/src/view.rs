//! `linkwork view`: a robot in the browser.

mod export;
mod levels;
mod live;
mod log;

pub(crate) use log::csv_columns;

use crate::ExitCode;
use crate::numbers::{positive, seconds};
use crate::robot::{Loaded, Loading};
use crate::simulate::control::Control;
use crate::simulate::start::Start;
use crate::simulate::{closed, contact_run, resistance};
use crate::user_error::UserError;
use anyhow::Result;
use clap::Args;
use linkwork::Mechanism;
use linkwork::closed::ClosedMechanism;
use linkwork::simulate::{Method, Run, State};
use linkwork_formats::Robot;
use linkwork_scene::Scene;
use linkwork_view::{Assets, Physics, Recording, Simulation, Source};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Arguments of `linkwork view`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linkwork view robot.urdf
  linkwork view arm7 --simulate --controller gravity
  linkwork view scene.xml --simulate
  linkwork view run.mcap
  linkwork view robot.urdf --play run.csv
  linkwork view robot.urdf --play run.csv --contacts touch.csv
  linkwork view robot.urdf --export robot.html
  linkwork view double_pendulum --q 2,0 --simulate --video swing.mp4 --seconds 5
  linkwork view robot.urdf --snapshot robot.png --size 1600x1200
  linkwork view arm7 --levels \"inv(Mass) (T - C)\" --export levels.html

The page is served on this machine alone, at an address that holds a secret. From another machine: forward the port, as in
`ssh -L 8765:127.0.0.1:8765 there`, and open the same address here. --listen 0.0.0.0 lets others in who know the address.
In a notebook, show the address in a frame.

Poses, rates and forces come from the library. Logs are those of `linkwork simulate --log`; an MCAP log knows its robot and its
contacts, and opens in Foxglove, Rerun and the tools of ROS 2 too. Bodies touch where the file has collision shapes and something
to stand on, or with --ground.
Pictures and films are taken by Chromium or Chrome without a window; LINKWORK_BROWSER names another.")]
pub(crate) struct Arguments {
    /// A built-in robot, a URDF, MJCF, SDF, xacro, native or text file, which may hold a whole scene, or an MCAP log.
    robot: String,
    #[command(flatten)]
    loading: Loading,
    /// Play a log of this robot: .mcap, .npz, .parquet or .csv.
    #[arg(long, value_name = "LOG", conflicts_with_all = ["simulate", "q", "v", "random", "start"])]
    play: Option<PathBuf>,
    /// The contacts of that run, as `simulate --contact-log` wrote them; an MCAP log has them inside.
    #[arg(long, value_name = "FILE.csv", conflicts_with = "simulate")]
    contacts: Option<PathBuf>,
    /// Simulate: the robot moves, and links can be dragged.
    #[arg(long)]
    simulate: bool,
    #[command(flatten)]
    start: Start,
    #[command(flatten)]
    control: Control,
    #[command(flatten)]
    surroundings: contact_run::Surroundings,
    /// Leave out damping, friction, springs and stops.
    #[arg(long)]
    ideal: bool,
    /// Leave out the stops at the joints' limits.
    #[arg(long)]
    no_limits: bool,
    /// The step of the simulation, in seconds.
    #[arg(long, default_value_t = 1e-3, value_name = "S", value_parser = |s: &str| positive(s, 1.0), allow_negative_numbers = true)]
    dt: f64,
    /// How long to simulate for a file or film; a page goes on without end.
    #[arg(long, default_value_t = 10.0, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    #[command(flatten)]
    levels: levels::Levels,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    output: export::Output,
}

/// How the page is served.
#[derive(Args, Default)]
pub(crate) struct Page {
    /// The port; any that is free if left out.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Listen on this address instead of loopback: other machines can then see the page, if they know its address.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<std::net::IpAddr>,
    /// A name of this machine by which the page may be asked for, for --listen; may be given several times.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Do not open a browser; only print the address.
    #[arg(long)]
    no_open: bool,
}

impl Page {
    /// An error if something is said of a page where none is served.
    pub(crate) fn only_with_view(&self) -> Result<()> {
        let said = self.port != 0 || self.listen.is_some() || !self.host.is_empty() || self.no_open;
        match said {
            true => Err(UserError::usage(
                "--port, --listen, --host and --no-open are of the page that --view shows",
                "add --view, or leave them out",
            )),
            false => Ok(()),
        }
    }
}

/// Everything on the stage.
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) mechanism: Mechanism,
    pub(crate) closed: Option<ClosedMechanism>,
    pub(crate) assets: Assets,
    pub(crate) scene: Map<String, Value>,
    /// Where it starts.
    pub(crate) state: State,
    /// What may touch, for poses that no simulation leads to.
    pub(crate) touching: Option<Scene>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.output.check()?;
    let (loaded, recording, home) = arguments.load()?;
    let closed = closed::close(&loaded.robot)?;
    let mechanism = closed
        .as_ref()
        .map_or(&loaded.robot.mechanism, ClosedMechanism::mechanism);
    let mut state = arguments.start.state(mechanism, &loaded.robot)?;
    if let Some(closed) = &closed {
        closed::settle(closed, &mut state)?;
    }
    let mut touching = arguments.surroundings.scene(&loaded.robot, mechanism)?;
    if let Some(scene) = &mut touching
        && arguments.simulate
    {
        arguments.surroundings.settle(scene, closed.as_ref(), &mut state)?;
    }
    let mut stage = Stage::new(&loaded, home.as_deref(), closed.as_ref(), state)?;
    stage.ground(arguments.surroundings.ground());
    if let Some(levels) = arguments.levels.told(&stage.mechanism)? {
        stage.scene.insert("levels".into(), levels);
    }
    if !arguments.output.layers().is_empty() {
        arguments.output.defined(&stage.mechanism)?;
        stage.scene.insert("layers".into(), arguments.output.layers().into());
    }
    let recording = recording.map(|log| log.fitted(&stage.mechanism)).transpose()?;
    let source = match recording {
        Some(recording) => Source::Recording(recording),
        None if arguments.simulate => {
            let run = arguments.simulation(&loaded.robot, &stage, touching.take())?;
            Source::Simulation(Box::new(run))
        }
        None => {
            arguments.control.only_with("--simulate")?;
            Source::Still
        }
    };
    stage.touching = touching;
    if arguments.output.is_any() {
        return arguments.output.write(stage, source, arguments.seconds);
    }
    live::serve(&arguments.page, stage, source)
}

impl Arguments {
    /// The robot, a log of it, and the directory of its file.
    fn load(&self) -> Result<(Loaded, Option<log::Log>, Option<PathBuf>)> {
        let path = Path::new(&self.robot);
        let home = |path: &Path| {
            path.parent()
                .map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p }.to_owned())
        };
        if log::is_log(path) {
            if self.play.is_some() {
                let problem = format!("`{}` is a log, and --play names another", self.robot);
                return Err(UserError::usage(
                    problem,
                    "name the robot first: `linkwork view ROBOT --play LOG`",
                ));
            }
            let log = self.with_contacts(log::Log::read(path)?)?;
            let (loaded, beside) = log.robot(&self.loading)?;
            return Ok((loaded, Some(log), beside.or_else(|| home(path))));
        }
        let loaded = self.loading.load_and_warn(&self.robot)?;
        let log = self.play.as_deref().map(log::Log::read).transpose()?;
        let log = log.map(|log| self.with_contacts(log)).transpose()?;
        if let (None, Some(file)) = (&log, &self.contacts) {
            let problem = format!("`{}` holds contacts, but there is no log to play", file.display());
            return Err(UserError::usage(problem, "name the log with --play"));
        }
        Ok((loaded, log, home(path).filter(|_| path.exists())))
    }

    fn with_contacts(&self, log: log::Log) -> Result<log::Log> {
        match &self.contacts {
            Some(file) => log.with_contacts(file),
            None => Ok(log),
        }
    }

    fn simulation(&self, robot: &Robot, stage: &Stage, touching: Option<Scene>) -> Result<Simulation> {
        let driver = self.control.driver(&stage.mechanism, &[], self.ideal)?;
        let limits = [self.ideal, self.ideal || self.no_limits];
        let key = self.start.key(robot);
        let machinery = self
            .control
            .machinery(robot, &stage.mechanism, key, limits, Some(self.dt))?;
        machinery.warn();
        let driver = driver.with(&machinery);
        let physics = match (touching, &stage.closed) {
            (Some(scene), closed) => {
                let settings = contact_run::settings(self.dt, [self.ideal, self.no_limits]);
                Physics::touching(scene, closed.clone(), settings)
            }
            (None, closed) => {
                let resistance = resistance((self.ideal, self.no_limits, Some(self.dt)), &stage.mechanism)?;
                match closed {
                    Some(closed) => Physics::Closed(closed.clone(), resistance),
                    None => Physics::Free(resistance),
                }
            }
        };
        let stretch = driver.stretch();
        let run = Run::new(Method::RungeKutta4, f64::INFINITY)
            .step(self.dt)
            .changes(machinery.changes());
        let (mechanism, start) = (&stage.mechanism, stage.state.clone());
        let simulation = Simulation::new(mechanism, physics, start, Box::new(driver), run)?;
        Ok(simulation.hearing(Box::new(move |from, until| stretch.set(from, until))))
    }
}

impl Stage {
    /// The stage of a robot. `home` is the directory of its file.
    pub(crate) fn new(
        loaded: &Loaded,
        home: Option<&Path>,
        closed: Option<&ClosedMechanism>,
        state: State,
    ) -> Result<Self> {
        let robot = &loaded.robot;
        let mechanism = closed.map_or(&robot.mechanism, ClosedMechanism::mechanism).clone();
        let assets = Assets::of(&robot.geometry, home);
        let scene = linkwork_view::describe(robot, &mechanism, &assets)?;
        let missing: Vec<_> = assets.meshes().iter().filter(|m| m.file.is_none()).collect();
        for mesh in missing.iter().take(5) {
            anstream::eprintln!("warning: mesh `{}`: {}; a marker stands for it", mesh.uri, mesh.problem);
        }
        if missing.len() > 5 {
            anstream::eprintln!("warning: and {} more meshes; the page lists them", missing.len() - 5);
        }
        if missing.iter().any(|m| m.uri.starts_with("package://")) {
            anstream::eprintln!("hint: --package DIR names a directory that holds packages");
        }
        Ok(Self {
            name: loaded.name.clone(),
            mechanism,
            closed: closed.cloned(),
            assets,
            scene,
            state,
            touching: None,
        })
    }

    /// The height of a ground that was asked for.
    fn ground(&mut self, height: Option<f64>) {
        if let Some(height) = height {
            self.scene.insert("ground".into(), height.into());
        }
    }
}

/// `linkwork simulate --view`: shows a simulation that was set up there.
pub(crate) fn show_simulation(
    page: &Page,
    loaded: &Loaded,
    (robot, ground): (&str, Option<f64>),
    closed: Option<&ClosedMechanism>,
    simulation: Simulation,
) -> Result<ExitCode> {
    let path = Path::new(robot);
    let home = path.parent().filter(|_| path.exists());
    let state = simulation.state().clone();
    let mut stage = Stage::new(loaded, home, closed, state)?;
    stage.ground(ground);
    live::serve(page, stage, Source::Simulation(Box::new(simulation)))
}

/// The page, without a scene.
fn html() -> Result<Vec<u8>> {
    linkwork_view::page().map_err(|problem| UserError::failure(problem, "the other commands work without it"))
}

/// A motion as it would be recorded, for files and films.
fn recorded(mut simulation: Simulation, seconds: f64) -> Result<Recording> {
    const RATE: f64 = 60.0;
    const HINT: &str = "try a smaller --dt, or shorter --seconds";
    let mut out = Recording::default();
    let mut next = 0.0;
    loop {
        let state = simulation.state();
        if state.t >= next - 1e-12 {
            out.t.push(state.t);
            out.q.extend(&state.q);
            out.v.extend(&state.v);
            out.tau.extend(simulation.torques());
            let arrows = simulation
                .arrows()
                .map_err(|e| UserError::failure(e.to_string(), HINT))?;
            out.arrows.push(arrows);
            next += 1.0 / RATE;
        }
        if simulation.state().t >= seconds.min(simulation.end()) {
            return Ok(out);
        }
        simulation
            .step()
            .map_err(|problem| UserError::failure(problem.to_string(), HINT))?;
        // At the start T is what the first step takes.
        if out.t.len() == 1 {
            out.tau.clear();
            out.tau.extend(simulation.torques());
        }
    }
}
