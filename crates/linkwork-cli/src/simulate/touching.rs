//! Runs with contact: the robot's collision shapes on the ground and on each other.

use super::control::Driver;
use super::course::{Audience, Outcome, Plan};
use crate::complaint::Complaint;
use crate::style;
use anyhow::{Context, Result};
use clap::Args;
use linkwork::contact::{Report, Settings, Stepper, Surface};
use linkwork::simulate::{Drive, Now, State};
use linkwork::spatial::Pose;
use linkwork_formats::Robot;
use linkwork_scene::{ClosedForm, Collider, Ground, LeftOut, Scene, colliders};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// What the robot stands on.
#[derive(Args)]
pub(crate) struct Surroundings {
    /// Leave out contact: nothing touches, even where the file has collision shapes and a ground.
    #[arg(long, conflicts_with_all = ["ground", "contact_log"])]
    no_contact: bool,
    /// Add a ground for the robot's collision shapes, at a height in metres: 0 if none is given.
    #[arg(long, value_name = "Z", num_args = 0..=1, default_missing_value = "0", allow_negative_numbers = true)]
    ground: Option<f64>,
    /// Write the contacts of every step: time, colliders, point, gap, force and what it is doing, as .csv.
    #[arg(long, value_name = "FILE")]
    contact_log: Option<PathBuf>,
}

/// Deeper than this at the start is an error, in metres.
const DEEP: f64 = 0.01;

impl Surroundings {
    /// The scene, if there is anything to touch and to stand on.
    pub(crate) fn scene(&self, robot: &Robot) -> Result<Option<Scene>> {
        if self.no_contact {
            return Ok(None);
        }
        let (mut all, present, notes) = colliders(robot)?;
        if let Some(height) = self.ground {
            if all.is_empty() {
                return Err(Complaint::usage(
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

    /// A run in a scene.
    pub(crate) fn run(&self, scene: Scene, driver: Driver, dt: f64, ideal: bool, no_limits: bool) -> Result<Touching> {
        let mut settings = Settings::new(dt);
        (settings.passive, settings.joint_friction) = (!ideal, !ideal);
        settings.joint_limits = !ideal && !no_limits;
        let log = match &self.contact_log {
            Some(path) => {
                let file = File::create(path).with_context(|| format!("cannot write to `{}`", path.display()))?;
                let mut log = BufWriter::new(file);
                writeln!(log, "t,id,a,b,x,y,z,nx,ny,nz,gap,fx,fy,fz,along,region")?;
                Some(log)
            }
            None => None,
        };
        Ok(Touching {
            stepper: Stepper::new(scene.mechanism(), settings)?,
            scene,
            driver,
            log,
            summary: Summary::default(),
        })
    }
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
    fn add(&mut self, report: &Report, dt: f64, steps: u64) {
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

/// A scene that is stepped.
pub(crate) struct Touching {
    scene: Scene,
    stepper: Stepper,
    driver: Driver,
    log: Option<BufWriter<File>>,
    pub(crate) summary: Summary,
}

impl Touching {
    /// An error if something starts deep inside something else.
    pub(crate) fn check_start(&mut self, q: &[f64]) -> Result<()> {
        match self.scene.deepest(q)? {
            Some((a, b, depth)) if depth > DEEP => {
                let [a, b] = [a, b].map(|i| &self.scene.colliders()[i].name);
                Err(Complaint::usage(
                    format!("`{a}` starts {depth:.3} m inside `{b}`"),
                    "start elsewhere with --q, put the --ground lower, or leave contact out with --no-contact",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Runs a plan from a state; an error in it ends the course, and what came before stays.
    pub(crate) fn course(
        &mut self,
        plan: &Plan,
        start: State,
        stop: &AtomicBool,
        audience: &mut impl Audience,
    ) -> Outcome {
        let (clock, mut state, mut steps) = (Instant::now(), start, 0);
        audience.keep(&state);
        let done = self.steps(plan, &mut state, &mut steps, stop, audience);
        Outcome {
            steps,
            rejected: 0,
            wall_seconds: clock.elapsed().as_secs_f64(),
            interrupted: done.is_ok() && state.t < plan.end,
            problem: done.err(),
            state,
            closure: None,
            contact: None,
        }
    }

    fn steps(
        &mut self,
        plan: &Plan,
        state: &mut State,
        steps: &mut u64,
        stop: &AtomicBool,
        audience: &mut impl Audience,
    ) -> linkwork::Result<()> {
        let dt = plan.dt;
        let stride = (1.0 / (plan.rate * dt)).round().max(1.0) as u64;
        while state.t < plan.end - 1e-9 * dt {
            if steps.is_multiple_of(256) {
                audience.hear(state.t);
            }
            if stop.load(Relaxed) {
                return Ok(());
            }
            plan.stretch.set(state.t, state.t + dt);
            let contacts = self.scene.contacts(&state.q, &state.v, dt)?;
            let (t, q, v, driver) = (state.t, state.q.clone(), state.v.clone(), &mut self.driver);
            let report = self
                .stepper
                .step_driven(&mut state.q, &mut state.v, contacts, |moving, tau| {
                    driver.drive(Now { t, q: &q, v: &v }, moving, tau)
                })?;
            self.summary.add(report, dt, *steps);
            self.summary.crossed += usize::from(self.scene.crossed(&state.q)?.is_some());
            if let Some(log) = &mut self.log {
                // A log that cannot be written any longer ends with what it has.
                if write(log, &self.scene, t, dt, report).is_err() {
                    self.log = None;
                }
            }
            *steps += 1;
            state.t = *steps as f64 * dt;
            if steps.is_multiple_of(stride) || state.t >= plan.end - 1e-9 * dt {
                audience.keep(state);
            }
        }
        if let Some(log) = &mut self.log {
            let _ = log.flush();
        }
        Ok(())
    }
}

/// A row per contact that bears something.
fn write(log: &mut impl Write, scene: &Scene, t: f64, dt: f64, report: &Report) -> std::io::Result<()> {
    for c in report.contacts.iter().filter(|c| c.along > 0.0) {
        let (f, p, n) = (c.force(dt), c.point, c.normal);
        let name = |i: usize| scene.colliders_of(c.id).map_or("", |pair| &*pair[i].name);
        writeln!(
            log,
            "{t},{},{:?},{:?},{},{},{},{},{},{},{},{},{},{},{},{:?}",
            c.id,
            name(0),
            name(1),
            p.x,
            p.y,
            p.z,
            n.x,
            n.y,
            n.z,
            c.gap,
            f.x,
            f.y,
            f.z,
            c.along / dt,
            c.region
        )?;
    }
    Ok(())
}
