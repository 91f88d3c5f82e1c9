//! The scenes of the race, as files that both sides read.

use linkwork::Result;
use linkwork::contact::{Change, Settings, StepReport, Stepper};
use linkwork_formats::{Format, Options, read};
use linkwork_scene::{ClosedForm, Scene, Worlds, colliders};
use std::f64::consts::PI;
use std::time::Instant;

/// A scene, and which part of its motion is measured.
pub(crate) struct Course {
    pub(crate) name: &'static str,
    /// The file's name without its ending.
    pub(crate) file: &'static str,
    text: &'static str,
    /// Seconds that pass before, and that are measured.
    pub(crate) before: f64,
    pub(crate) seconds: f64,
    pub(crate) trots: bool,
}

const QUADRUPED: (&str, &str) = ("quadruped", include_str!("quadruped.xml"));
const HUMANOID: (&str, &str) = ("humanoid", include_str!("humanoid.xml"));
const STACK: (&str, &str) = ("stack", include_str!("stack.xml"));

const fn course(name: &'static str, (file, text): (&'static str, &'static str), before: f64, trots: bool) -> Course {
    Course {
        name,
        file,
        text,
        before,
        seconds: 1.0,
        trots,
    }
}

/// All of them.
pub(crate) const SCENES: [Course; 5] = [
    course("quadruped, standing", QUADRUPED, 2.0, false),
    course("quadruped, trotting", QUADRUPED, 2.0, true),
    course("humanoid, falling", HUMANOID, 0.5, false),
    course("humanoid, lying", HUMANOID, 4.0, false),
    course("20 boxes", STACK, 1.0, false),
];

/// Legs of a diagonal lift and swing together, by torques on top of the joints' springs.
fn trot(t: f64, torque: &mut [f64]) {
    for (leg, phase) in [0.0, PI, PI, 0.0].into_iter().enumerate() {
        let wave = (4.0 * PI * t + phase).sin();
        torque[6 + 3 * leg + 1] = 30.0 * wave;
        torque[6 + 3 * leg + 2] = -80.0 * wave.max(0.0);
    }
}

const STEP: f64 = 0.002;

/// A scene at the beginning of what is measured.
pub(crate) struct Ready {
    scene: Scene,
    stepper: Stepper,
    q: Vec<f64>,
    v: Vec<f64>,
    first: usize,
    steps: usize,
    trots: bool,
}

/// What happens while it is measured.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) contacts: f64,
    pub(crate) deepest: f64,
    pub(crate) height: f64,
    pub(crate) iterations: f64,
    pub(crate) laws: Laws,
}

/// The worst of: normal impulse times what opens, J; excess over the cone, N s; what friction falls short of taking, J.
pub(crate) type Laws = [f64; 3];

fn judge(report: &StepReport, worst: &mut Laws) {
    for c in &report.contacts {
        let opens = c.velocity.dot(c.normal);
        let slip = (c.velocity - c.normal * opens).norm();
        let bound = c.friction * c.along;
        let found = [
            (c.along * (opens + c.gap.max(0.0) / STEP)).abs(),
            c.across.norm() - bound,
            (c.across.dot(c.velocity) + bound * slip).abs(),
        ];
        for (worst, found) in worst.iter_mut().zip(found) {
            *worst = worst.max(found);
        }
    }
}

impl Course {
    /// Reads the file and lets the first seconds pass.
    pub(crate) fn prepare(&self) -> Result<Ready> {
        let robot = read(self.file, self.text.as_bytes(), Format::Mjcf, &Options::default())
            .unwrap_or_else(|refusal| panic!("{refusal}"));
        let (all, ..) = colliders(&robot)?;
        let scene = Scene::with(&robot.mechanism, all, &robot.untouching, Box::new(ClosedForm))?;
        let m = robot.mechanism;
        let start = robot.keyframes.first().map(|key| key.q.clone());
        let mut ready = Ready {
            scene,
            stepper: Stepper::new(&m, Settings::new(STEP))?,
            q: start.unwrap_or_else(|| m.neutral()),
            v: vec![0.0; m.nv()],
            first: 0,
            steps: (self.before / STEP).round() as usize,
            trots: self.trots,
        };
        let (q, v, stepper) = ready.run(|_| {})?;
        (ready.q, ready.v, ready.stepper) = (q, v, stepper);
        ready.first = ready.steps;
        ready.steps = (self.seconds / STEP).round() as usize;
        Ok(ready)
    }
}

impl Ready {
    fn run(&mut self, mut look: impl FnMut(&StepReport)) -> Result<(Vec<f64>, Vec<f64>, Stepper)> {
        let (mut q, mut v, mut stepper) = (self.q.clone(), self.v.clone(), self.stepper.clone());
        let mut torque = vec![0.0; v.len()];
        for i in 0..self.steps {
            if self.trots {
                trot((self.first + i) as f64 * STEP, &mut torque);
            }
            look(self.scene.step(&mut stepper, &mut q, &mut v, &torque)?);
        }
        Ok((q, v, stepper))
    }

    /// Microseconds per step.
    pub(crate) fn measure(&mut self) -> Result<f64> {
        let clock = Instant::now();
        self.run(|_| {})?;
        Ok(1e6 * clock.elapsed().as_secs_f64() / self.steps as f64)
    }

    /// What the steps do.
    pub(crate) fn tell(&mut self) -> Result<Told> {
        let mut told = Told::default();
        let (q, ..) = self.run(|report| {
            told.contacts += report.contacts.iter().filter(|c| c.along > 0.0).count() as f64;
            told.deepest = told.deepest.max(report.residuals.penetration);
            told.iterations += report.iterations as f64;
            judge(report, &mut told.laws);
        })?;
        told.contacts /= self.steps as f64;
        told.iterations /= self.steps as f64;
        let m = self.scene.mechanism();
        let first = m.frame(&m.links()[0].name)?;
        told.height = m.workspace().at(&q)?.pose(first)?.translation.z;
        Ok(told)
    }

    /// The same scene with contacts that are softer and looser tolerances, as deep as the other side's.
    pub(crate) fn softened(&self, rho: f64) -> Result<Self> {
        let mut settings = *self.stepper.settings();
        (settings.rho, settings.sigma) = (rho, rho);
        (settings.tolerance, settings.coulomb_tolerance) = (1e-6, 1e-3);
        let mut stepper = self.stepper.clone();
        stepper.set(settings)?;
        Ok(Self {
            scene: self.scene.clone(),
            stepper,
            q: self.q.clone(),
            v: self.v.clone(),
            ..*self
        })
    }

    /// Microseconds for the matrices of a step's derivatives, and for a product with them; how many contacts bear.
    pub(crate) fn measure_derivatives(&self) -> Result<(f64, f64, usize)> {
        let mut scene = self.scene.clone();
        let mut settings = *self.stepper.settings();
        settings.gyroscopic = false;
        let mut stepper = Stepper::new(scene.mechanism(), settings)?;
        let all = scene.contacts(&self.q, &self.v, STEP)?.to_vec();
        // Those that are differentiated: what lies on the ground.
        let (mut contacts, mut meetings) = (Vec::new(), Vec::new());
        for contact in all {
            if let Ok(meeting) = scene.meetings(&[contact]) {
                contacts.push(contact);
                meetings.extend(meeting);
            }
        }
        let nv = self.v.len();
        let (torque, ones) = (vec![0.0; nv], vec![1.0; nv]);
        let [mut by_q, mut by_v, mut by_torque] = [(); 3].map(|()| vec![0.0; nv * nv]);
        let (mut matrices, mut product) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..200 {
            let clock = Instant::now();
            let mut step = stepper.derivatives(&self.q, &self.v, &torque, &contacts, &meetings)?;
            step.matrices(&mut by_q, &mut by_v, &mut by_torque)?;
            matrices = matrices.min(1e6 * clock.elapsed().as_secs_f64());
            let clock = Instant::now();
            let change = Change {
                q: Some(&ones),
                v: Some(&ones),
                ..Change::default()
            };
            step.change(&change, &mut by_q[..nv])?;
            product = product.min(1e6 * clock.elapsed().as_secs_f64());
        }
        let bearing = stepper.report().contacts.iter().filter(|c| c.along > 0.0).count();
        Ok((matrices, product, bearing))
    }

    /// The same worlds one after the other, on one thread.
    pub(crate) fn measure_singles(&self, count: usize, steps: usize) -> Result<f64> {
        let (mut scene, none) = (self.scene.clone(), vec![0.0; self.v.len()]);
        let mut stepper = Stepper::new(scene.mechanism(), *self.stepper.settings())?;
        let clock = Instant::now();
        for i in 0..count {
            stepper.forget();
            let (mut q, mut v) = (self.q.clone(), self.v.clone());
            v[5] += 0.3 * (i as f64).sin();
            for _ in 0..steps {
                scene.step(&mut stepper, &mut q, &mut v, &none)?;
            }
        }
        Ok(1e6 * clock.elapsed().as_secs_f64() / (count * steps) as f64)
    }

    /// Microseconds per world and step of many worlds that start here, each a little different, and the most that a world went inside.
    pub(crate) fn measure_worlds(&self, count: usize, steps: usize, threads: usize) -> Result<(f64, f64)> {
        let (nq, nv) = (self.q.len(), self.v.len());
        let q = self.q.repeat(count);
        let mut v = self.v.repeat(count);
        for (i, v) in v.chunks_mut(nv).enumerate() {
            v[5] += 0.3 * (i as f64).sin();
        }
        let (mut q_out, mut v_out) = (vec![0.0; nq * count * steps], vec![0.0; nv * count * steps]);
        let mut worlds = Worlds::new(&self.scene, *self.stepper.settings(), threads)?;
        let clock = Instant::now();
        let fared = worlds.rollout(&q, &v, None, steps, &mut q_out, &mut v_out)?;
        let time = 1e6 * clock.elapsed().as_secs_f64() / (count * steps) as f64;
        Ok((time, fared.iter().fold(0.0, |most, world| most.max(world.deepest))))
    }
}
