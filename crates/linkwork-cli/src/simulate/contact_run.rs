//! Runs with contact: the robot's collision shapes on the ground and on each other.

use super::contact_log::ContactLog;
use super::control::Driver;
use crate::style;
use crate::user_error::UserError;
use anyhow::Result;
use clap::Args;
use linkwork::closed::ClosedMechanism;
use linkwork::contact::{Settings, StepReport, Stepper, Surface};
use linkwork::model::FrameId;
use linkwork::simulate::{Advance, Now, State};
use linkwork::spatial::{Pose, Vec3};
use linkwork::{Mechanism, Workspace};
use linkwork_formats::{Robot, Sensors};
use linkwork_scene::{ClosedForm, Collider, Ground, LeftOut, Scene, colliders};
use linkwork_view::Sides;
use serde::Serialize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What the robot stands on.
#[derive(Args)]
pub(crate) struct Surroundings {
    /// Leave out contact: nothing touches, even where the file has collision shapes and a ground.
    #[arg(long, conflicts_with = "ground")]
    no_contact: bool,
    /// Add a ground for the robot's collision shapes, at a height in metres: 0 if none is given.
    #[arg(long, value_name = "Z", num_args = 0..=1, default_missing_value = "0", allow_negative_numbers = true)]
    ground: Option<f64>,
    /// If the robot starts inside something, move it out, by the least displacement weighted with the masses.
    #[arg(long, conflicts_with = "no_contact")]
    settle: bool,
}

/// Deeper than this at the start is an error, in metres.
const DEEP: f64 = 0.01;

impl Surroundings {
    /// The scene, if there is anything to touch and to stand on.
    pub(crate) fn scene(&self, robot: &Robot, mechanism: &Mechanism) -> Result<Option<Scene>> {
        if self.no_contact {
            return Ok(None);
        }
        // Frames are those of the mechanism that is stepped.
        let robot = &Robot {
            mechanism: mechanism.clone(),
            ..robot.clone()
        };
        let (mut all, present, notes) = colliders(robot)?;
        if let Some(height) = self.ground {
            if all.is_empty() {
                return Err(UserError::usage(
                    "--ground: the robot has no collision shapes that could touch it",
                    "give its links <collision> shapes or geoms: spheres, capsules, boxes, cylinders or ellipsoids",
                ));
            }
            all.push(Collider::ground(
                Pose::from_translation([0.0, 0.0, height]),
                Surface::default(),
            ));
        } else if present == Ground::Missing {
            return Ok(None);
        }
        for note in &notes {
            anstream::eprintln!("{}: {note}", style::paint(style::HEAD, "note"));
        }
        let scene = Scene::with(&robot.mechanism, all, &robot.untouching, Box::new(ClosedForm))?;
        for why in [LeftOut::AlwaysTouching, LeftOut::Unknown] {
            let found: Vec<_> = scene.left_out().iter().filter(|(.., w)| *w == why).collect();
            if let Some((a, b, _)) = found.first() {
                let (a, b) = (&scene.colliders()[*a].name, &scene.colliders()[*b].name);
                let reason = match why {
                    LeftOut::Unknown => "have shapes that are not known to touch each other",
                    _ => "touch in every configuration",
                };
                anstream::eprintln!(
                    "{}: {} pairs of shapes {reason} and are left out, the first being `{a}` and `{b}`",
                    style::paint(style::HEAD, "note"),
                    found.len()
                );
            }
        }
        Ok((scene.pairs() > 0).then_some(scene))
    }

    /// A start that is not deep inside anything: moved there if that was asked for, else an error that names the pair.
    pub(crate) fn settle(&self, scene: &mut Scene, closed: Option<&ClosedMechanism>, state: &mut State) -> Result<()> {
        if self.settle {
            let depth = scene.settle_closed(&mut state.q, closed)?;
            if let Some(closed) = closed {
                super::closed::settle(closed, state)?;
            }
            if depth > 0.0 {
                let word = style::paint(style::HEAD, "note");
                anstream::eprintln!("{word}: the start was {depth:.3} m inside something, and was moved out of it");
            }
        }
        check_start(scene, &state.q)
    }

    /// The height of a ground that was asked for.
    pub(crate) fn ground(&self) -> Option<f64> {
        self.ground
    }
}

impl Touching {
    /// A run in a scene, of a mechanism whose loops may be closed, with the contacts of every step written to a file.
    pub(crate) fn new(
        scene: Scene,
        closed: Option<&ClosedMechanism>,
        driver: Driver,
        settings: Settings,
        log: Option<&Path>,
    ) -> Result<Self> {
        let log = log.map(ContactLog::begin).transpose()?;
        Ok(Self {
            sides: Sides::new(scene.mechanism()),
            inner: match closed {
                Some(closed) => linkwork_scene::Touching::closed(scene, closed, settings, driver)?,
                None => linkwork_scene::Touching::new(scene, settings, driver)?,
            },
            open: closed.map(|_| 0.0),
            measuring: None,
            log,
            lost: None,
            summary: Summary::default(),
            steps: 0,
            forces: Forces::default(),
        })
    }
}

/// How steps with contact are made.
pub(crate) fn settings(dt: f64, [ideal, no_limits]: [bool; 2]) -> Settings {
    let mut settings = Settings::new(dt);
    (settings.passive, settings.joint_friction) = (!ideal, !ideal);
    settings.joint_limits = !ideal && !no_limits;
    settings
}

/// What touching came to.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Summary {
    /// The most contacts that bore anything at once.
    pub(crate) most_contacts: usize,
    /// The deepest that anything was inside, in metres.
    pub(crate) deepest: f64,
    /// The largest force at a contact, in newtons.
    pub(crate) largest_force: f64,
    /// Newton's iterations per step, on average and at worst.
    pub(crate) iterations: f64,
    /// See `iterations`.
    pub(crate) most_iterations: usize,
    /// Steps whose law of friction did not settle.
    pub(crate) unsettled: usize,
    /// Steps in which a body went through another.
    pub(crate) crossed: usize,
}

impl Summary {
    fn add(&mut self, report: &StepReport, dt: f64, steps: u64) {
        let bearing = report.contacts.iter().filter(|c| c.along > 0.0);
        self.most_contacts = self.most_contacts.max(bearing.clone().count());
        self.deepest = self.deepest.max(report.residuals.penetration);
        self.largest_force = bearing.fold(self.largest_force, |most, c| most.max(c.along / dt));
        self.iterations += (report.iterations as f64 - self.iterations) / (steps + 1) as f64;
        self.most_iterations = self.most_iterations.max(report.iterations);
        self.unsettled += usize::from(!report.settled);
    }

    /// For people.
    pub(crate) fn words(&self) -> String {
        let unsettled = match self.unsettled {
            0 => String::new(),
            n => format!("; {n} steps did not settle"),
        };
        let crossed = match self.crossed {
            0 => String::new(),
            n => format!("; in {n} steps a body went through another: take shorter steps"),
        };
        format!(
            "up to {} at once, {:.1e} m deep at most, {:.1} N at most; {:.1} iterations a step, {} at most{unsettled}{crossed}",
            self.most_contacts, self.deepest, self.largest_force, self.iterations, self.most_iterations
        )
    }
}

/// A scene that is stepped, and what is told of it.
pub(crate) struct Touching {
    inner: linkwork_scene::Touching<Driver>,
    log: Option<ContactLog>,
    /// Why contacts could not be written any longer.
    lost: Option<anyhow::Error>,
    pub(crate) summary: Summary,
    steps: u64,
    forces: Forces,
    sides: Sides,
    /// The widest gap of loops, if there are some.
    open: Option<f64>,
    measuring: Option<Measuring>,
}

/// Sensors of a run with contact: positions and velocities of a state, accelerations and forces of the step that led there.
struct Measuring {
    sensors: Sensors,
    workspace: Workspace,
}

impl Measuring {
    fn row(&mut self, state: &State, stepper: &mut Stepper, driver: &mut Driver) -> linkwork::Result<Vec<f64>> {
        let mut row = vec![0.0; self.sensors.width()];
        let Some(machinery) = &mut driver.machinery else {
            return Ok(row);
        };
        let sensors = stepper.sensors()?;
        let (t, q, v) = (state.t, &state.q, &state.v);
        let mut posed = self.workspace.at(q)?;
        let mut moving = posed.moving(v)?;
        machinery.look(Now { t, q, v }, &mut moving)?;
        let (qdd, pushes) = (sensors.acceleration(), sensors.forces());
        self.sensors
            .measure(Now { t, q, v }, &mut moving, machinery.drives(), qdd, pushes, &mut row)?;
        Ok(row)
    }
}

impl Touching {
    /// Measures with sensors from now on; at the start what the first step takes.
    pub(crate) fn measure(&mut self, sensors: Sensors, start: &State) -> Result<()> {
        let workspace = self.inner.scene().mechanism().workspace();
        let mut measuring = Measuring { sensors, workspace };
        let row = self
            .inner
            .look(start, |stepper, driver| measuring.row(start, stepper, driver))?;
        self.forces.measured(row);
        self.measuring = Some(measuring);
        Ok(())
    }

    /// The widest gap of closed loops, in rad or m.
    pub(crate) fn closure(&self) -> Option<f64> {
        self.open
    }

    /// Ends the log of contacts; an error if something of it is lost.
    pub(crate) fn end_log(&mut self) -> Result<()> {
        match (self.lost.take(), self.log.take()) {
            (Some(problem), _) => Err(problem),
            (None, Some(log)) => log.finish(),
            (None, None) => Ok(()),
        }
    }

    /// What bears in the last step, as it goes on.
    pub(crate) fn forces(&self) -> Forces {
        self.forces.clone()
    }
}

/// Says that something knows no contact.
pub(crate) fn warn_without(what: &str) {
    let word = style::paint(style::HEAD, "warning");
    anstream::eprintln!("{word}: {what} know no contact: the robot falls through what it stands on");
}

/// An error if something starts deep inside something else.
pub(crate) fn check_start(scene: &mut Scene, q: &[f64]) -> Result<()> {
    match scene.deepest(q)? {
        Some((a, b, depth)) if depth > DEEP => {
            // What moves is inside of what does not.
            let fixed = scene.colliders()[a].frame == FrameId::WORLD;
            let [a, b] = if fixed { [b, a] } else { [a, b] }.map(|i| &scene.colliders()[i].name);
            Err(UserError::usage(
                format!("`{a}` starts {depth:.3} m inside `{b}`"),
                "move it out with --settle, start elsewhere with --q, put the --ground lower, or leave contact out with --no-contact",
            ))
        }
        _ => Ok(()),
    }
}

impl Advance for Touching {
    fn advance(&mut self, state: &mut State, h: f64) -> linkwork::Result<()> {
        let t = state.t;
        self.inner.advance(state, h)?;
        let crossed = self.inner.crossed().is_some();
        let report = self.inner.report();
        self.summary.add(report, h, self.steps);
        self.summary.crossed += usize::from(crossed);
        self.forces.set(&self.sides, report, h);
        self.open = self.open.map(|most| most.max(report.residuals.closure));
        self.steps += 1;
        if let Some(log) = &mut self.log
            && let Err(problem) = log.add((self.inner.scene(), &self.sides), t, h, report)
        {
            // The run ends, and `end_log` says why.
            (self.log, self.lost) = (None, Some(problem));
            return Err(linkwork::Error::Step {
                t,
                problem: "contacts cannot be written any longer".into(),
            });
        }
        if let Some(measuring) = &mut self.measuring {
            let now = State {
                t: t + h,
                ..state.clone()
            };
            let (stepper, driver) = self.inner.parts();
            self.forces.measured(measuring.row(&now, stepper, driver)?);
        }
        Ok(())
    }
}

/// A force at a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bearing {
    /// Where, in the world.
    pub(crate) point: Vec3,
    /// On the one that can move, or that the other holds up; along the world's axes.
    pub(crate) force: Vec3,
    /// The distance before the step; negative inside.
    pub(crate) gap: f64,
}

/// What bears in the last step, for who keeps samples of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forces(Arc<Mutex<Told>>);

/// What bears, and what sensors give, if there are some.
type Told = (Vec<Bearing>, Option<Vec<f64>>);

impl Forces {
    fn set(&self, sides: &Sides, report: &StepReport, dt: f64) {
        let inside = &mut self.0.lock().unwrap_or_else(PoisonError::into_inner).0;
        inside.clear();
        let bearing = report.contacts.iter().filter(|c| c.along > 0.0);
        inside.extend(bearing.map(|c| Bearing {
            point: c.point,
            force: sides.force(c, dt),
            gap: c.gap,
        }));
    }

    /// What sensors give.
    fn measured(&self, row: Vec<f64>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(row);
    }

    /// What bears, and what sensors give, if there are some.
    pub(crate) fn get(&self) -> Told {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
