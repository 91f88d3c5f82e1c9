//! What moves on the stage, and who says how.

mod commands;

use crate::command::Command;
use crate::frame::{Framer, Moment, Shown};
use crate::hub::Hub;
use crate::modes::{Eigenmode, modes};
use crate::recording::{Recording, Row};
use crate::server::error;
use crate::simulation::{Simulation, touches};
use linkwork::Mechanism;
use linkwork::closed::ClosedMechanism;
use linkwork_scene::Scene;
use serde_json::json;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::{Duration, Instant};

/// Where motion comes from.
#[derive(Debug)]
pub enum Source {
    /// Nowhere: the robot stands where it is put.
    Still,
    /// A simulation.
    Simulation(Box<Simulation>),
    /// A log.
    Recording(Recording),
}

/// A robot on a stage.
pub struct Show {
    mechanism: Mechanism,
    closed: Option<ClosedMechanism>,
    /// What may touch, where motion does not tell.
    scene: Option<Box<Scene>>,
    source: Source,
    framer: Framer,
    hub: Arc<Hub>,
    shown: Shown,
    /// Where it stands, in a show without motion.
    q: Vec<f64>,
    start: Vec<f64>,
    t: f64,
    running: bool,
    speed: f64,
    /// When the clock and the motion were last set side by side.
    anchor: (Instant, f64),
    /// How much slower than asked a simulation is.
    pace: f64,
    modes: Vec<Eigenmode>,
    /// The modes that are being worked out on another thread, and the configuration they are about.
    coming: Option<Receiver<linkwork::Result<Vec<Eigenmode>>>>,
    about: Vec<f64>,
    mode: Option<(usize, Instant)>,
}

/// Frames per second.
const RATE: f64 = 60.0;
/// So much of a frame's time may be spent on simulating; the rest is for frames and commands.
const SHARE: f64 = 0.7;
/// So much of it may be spent on commands.
const HEARING: f64 = 0.15;
/// So many commands are heard between two frames: more of them wait.
const HEARD: usize = 32;

impl fmt::Debug for Show {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Show")
            .field("mechanism", &self.mechanism.name())
            .field("source", &self.source)
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}

impl Show {
    /// A show of a mechanism, which starts at a configuration. `closed` is its loops, if it has any.
    pub fn new(
        mechanism: &Mechanism,
        closed: Option<&ClosedMechanism>,
        source: Source,
        q: &[f64],
        hub: Arc<Hub>,
    ) -> Self {
        let t = match &source {
            Source::Recording(log) => log.span().0,
            _ => 0.0,
        };
        Self {
            mechanism: mechanism.clone(),
            closed: closed.cloned(),
            scene: None,
            framer: Framer::new(mechanism),
            source,
            hub,
            shown: Shown::default(),
            q: q.to_vec(),
            start: q.to_vec(),
            t,
            running: false,
            speed: 1.0,
            anchor: (Instant::now(), t),
            pace: 1.0,
            modes: Vec::new(),
            coming: None,
            about: Vec::new(),
            mode: None,
        }
    }

    /// Shows where bodies of a scene touch, also where nothing is simulated.
    pub fn touching(mut self, scene: Option<Scene>) -> Self {
        self.scene = scene.map(Box::new);
        self
    }

    /// Starts with the motion running.
    pub fn running(mut self) -> Self {
        self.set_running(true);
        self
    }

    /// Obeys commands and shows frames, until it is stopped or nobody can command any more.
    pub fn run(&mut self, commands: &Receiver<Command>, stop: &AtomicBool) {
        self.tell();
        self.draw();
        let frame = Duration::from_secs_f64(1.0 / RATE);
        let mut told = Instant::now();
        while !stop.load(Relaxed) {
            let begun = Instant::now();
            let moving = self.running || self.mode.is_some();
            // Where nothing moves, there is time to wait for a command.
            let patience = if moving {
                Duration::ZERO
            } else {
                Duration::from_millis(50)
            };
            let mut changed = match commands.recv_timeout(patience) {
                Ok(command) => self.obey(command),
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            // What pages ask for has its share of the time too, and no more.
            let heard = begun + frame.mul_f64(HEARING);
            for _ in 1..HEARD {
                if Instant::now() > heard {
                    break;
                }
                match commands.try_recv() {
                    Ok(command) => changed |= self.obey(command),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            self.receive_modes();
            if self.mode.is_none() && self.running {
                self.advance(begun + frame.mul_f64(SHARE));
            }
            if changed || moving {
                self.draw();
            }
            if moving && told.elapsed() > Duration::from_millis(500) {
                self.tell();
                told = Instant::now();
            }
            if moving {
                std::thread::sleep(frame.saturating_sub(begun.elapsed()));
            }
        }
    }

    fn set_running(&mut self, running: bool) {
        self.running = running;
        self.anchor = (Instant::now(), self.time());
    }

    /// The time that the motion has come to.
    pub fn time(&self) -> f64 {
        match &self.source {
            Source::Simulation(run) => run.state().t,
            _ => self.t,
        }
    }

    /// Tells pages how things are.
    fn tell(&self) {
        let (kind, span) = match &self.source {
            Source::Still => ("still", None),
            Source::Simulation(run) => ("simulation", Some((0.0, run.end())).filter(|s| s.1.is_finite())),
            Source::Recording(log) => ("log", Some(log.span())),
        };
        let status = json!({
            "kind": kind, "running": self.running, "speed": self.speed, "span": span,
            "pace": self.pace, "mode": self.mode.map(|(i, _)| i),
        });
        self.hub.status(json!({ "status": status }).to_string());
    }

    fn complain(&self, problem: impl std::fmt::Display) {
        self.hub.tell(error(&problem.to_string()));
    }

    /// Moves on as the clock does, but no longer than until a time.
    fn advance(&mut self, until: Instant) {
        let (from, t) = self.anchor;
        let target = t + self.speed * from.elapsed().as_secs_f64();
        match &mut self.source {
            Source::Still => {}
            Source::Recording(log) => {
                self.t = target.min(log.span().1);
                if self.t >= log.span().1 {
                    self.set_running(false);
                    self.tell();
                }
            }
            Source::Simulation(run) => {
                let begun = run.state().t;
                while run.state().t < target && run.state().t < run.end() {
                    if let Err(problem) = run.step() {
                        self.complain(problem);
                        self.set_running(false);
                        return self.tell();
                    }
                    if Instant::now() > until {
                        break;
                    }
                }
                let (reached, end) = (run.state().t, run.end());
                if reached < target && reached < end {
                    // It cannot keep up: go on from here, and say so.
                    let asked = (target - begun).max(1e-9);
                    self.pace = 0.9 * self.pace + 0.1 * ((reached - begun) / asked).min(1.0);
                    self.anchor = (Instant::now(), reached);
                } else {
                    self.pace = 0.9 * self.pace + 0.1;
                }
                if reached >= end {
                    self.set_running(false);
                    self.tell();
                }
            }
        }
    }

    /// Shows a frame.
    fn draw(&mut self) {
        let frame = match self.mode {
            Some((i, begun)) => self.swing(i, begun.elapsed().as_secs_f64()),
            None => self.moment(),
        };
        match frame {
            Ok(frame) => self.hub.show(frame),
            Err(problem) => {
                self.mode = None;
                self.running = false;
                self.complain(problem);
                self.tell();
            }
        }
    }

    fn moment(&mut self) -> linkwork::Result<Vec<u8>> {
        let touching = |scene: &mut Option<Box<Scene>>, q: &[f64]| match scene {
            Some(scene) => touches(scene, q),
            None => Ok(Vec::new()),
        };
        let (t, row, arrows) = match &mut self.source {
            Source::Still => {
                let row = Row {
                    q: self.q.clone(),
                    v: vec![0.0; self.mechanism.nv()],
                    tau: None,
                };
                (0.0, row, touching(&mut self.scene, &self.q)?)
            }
            Source::Simulation(run) => {
                let arrows = run.arrows()?;
                let state = run.state();
                let row = Row {
                    q: state.q.clone(),
                    v: state.v.clone(),
                    tau: Some(run.torques().to_vec()),
                };
                (state.t, row, arrows)
            }
            Source::Recording(log) => {
                let row = log.at(&self.mechanism, self.t)?;
                let arrows = match log.forces(self.t) {
                    Some(arrows) => arrows.to_vec(),
                    None => touching(&mut self.scene, &row.q)?,
                };
                (self.t, row, arrows)
            }
        };
        let moment = Moment {
            t,
            q: &row.q,
            v: &row.v,
            tau: row.tau.as_deref(),
            arrows: &arrows,
        };
        self.framer.frame(&moment, self.shown)
    }

    /// A mode in motion: for three turns of an oscillation, at most one in a second, or for two seconds; then again.
    fn swing(&mut self, index: usize, elapsed: f64) -> linkwork::Result<Vec<u8>> {
        let mode = &self.modes[index];
        let (change, rate) = mode.swung(elapsed);
        let mut q = vec![0.0; self.mechanism.nq()];
        self.mechanism.integrate(&self.about, &change, &mut q)?;
        if let Some(closed) = &self.closed {
            q = closed.assemble(&q)?;
        }
        let moment = Moment {
            t: elapsed,
            q: &q,
            v: &rate,
            tau: None,
            arrows: &[],
        };
        self.framer.frame(&moment, self.shown)
    }

    /// Lets another thread work modes out: they take a while, and the motion goes on.
    fn begin_modes(&mut self) {
        if self.coming.is_some() {
            return;
        }
        let q = match self.configuration() {
            Ok(q) => q,
            Err(problem) => return self.complain(problem),
        };
        let (sender, receiver) = channel();
        let (mechanism, closed) = (self.mechanism.clone(), self.closed.clone());
        self.about = q.clone();
        self.mode = None;
        self.coming = Some(receiver);
        std::thread::spawn(move || {
            // Nobody waits any more where the show is over.
            let _ = sender.send(modes(&mechanism, closed.as_ref(), &q));
        });
    }

    fn receive_modes(&mut self) {
        let Some(Ok(found)) = self.coming.as_ref().map(Receiver::try_recv) else {
            return;
        };
        self.coming = None;
        match found {
            Ok(found) => {
                let list = found.iter().map(|m| {
                    let parts: Vec<f64> = m.re.iter().zip(&m.im).map(|(a, b)| a.hypot(*b)).collect();
                    json!({ "re": m.pole.re, "im": m.pole.im, "damping": m.pole.damping(), "parts": parts })
                });
                self.hub.tell(json!({ "modes": list.collect::<Vec<_>>() }).to_string());
                self.modes = found;
            }
            Err(problem) => self.complain(problem),
        }
    }
}
