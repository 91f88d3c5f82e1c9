//! Many worlds of one scene, rolled forward in time on several threads.

use crate::scene::Scene;
use linkwork::contact::{Contact, Next, Seen, Settings, SideBySide, StepReport, Stepper, World};
use linkwork::{Error, Result};
use std::sync::{Mutex, PoisonError};

/// Memory for rolling many worlds of one scene forward: a scene and a stepper per thread.
///
/// A world has the same bits whichever others are rolled with it, and on any number of threads: it starts without memory of contacts,
/// and its steps are made one after another. Threads take the next world when they are done with one, for worlds where much touches
/// take longer. With the feature `lanes` of the library, worlds of a single tree are stepped side by side, as many as a register has
/// lanes; see [`SideBySide`].
///
/// ```
/// use linkwork::contact::{Settings, Surface};
/// use linkwork::model::{Joint, Link, Mechanism};
/// use linkwork::spatial::{Inertia, Pose};
/// use linkwork_scene::{Collider, Scene, ColliderShape, Worlds};
///
/// let m = Mechanism::builder("ball")
///     .link(Link::new("ball", Inertia::sphere(1.0, 0.1)))
///     .joint(Joint::free("free").between("world", "ball"))
///     .build()?;
/// let scene = Scene::new(&m, vec![
///     Collider::on(m.frame("ball")?, ColliderShape::Sphere { radius: 0.1 }),
///     Collider::ground(Pose::IDENTITY, Surface::default()),
/// ])?;
/// let (count, steps) = (10, 200);
/// let mut q: Vec<f64> = (0..count).flat_map(|_| m.neutral()).collect();
/// (0..count).for_each(|i| q[7 * i + 6] = 0.2 + 0.01 * i as f64);
/// let (mut q_out, mut v_out) = (vec![0.0; 7 * count * steps], vec![0.0; 6 * count * steps]);
/// let mut worlds = Worlds::new(&scene, Settings::new(0.005), 2)?;
/// let told = worlds.rollout(&q, &vec![0.0; 6 * count], None, steps, &mut q_out, &mut v_out)?;
/// assert!(told.iter().all(|world| world.unsettled == 0 && world.deepest < 1e-3));
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Debug)]
pub struct Worlds {
    rollers: Vec<Roller>,
}

/// How a world fared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WorldOutcome {
    /// The deepest penetration, in metres.
    pub deepest: f64,
    /// Newton's iterations in all.
    pub iterations: usize,
    /// Steps that did not settle.
    pub unsettled: usize,
    /// Steps in which a body went through another.
    pub crossed: usize,
}

impl WorldOutcome {
    fn take(&mut self, report: &StepReport) {
        self.deepest = self.deepest.max(report.residuals.penetration);
        self.iterations += report.iterations;
        self.unsettled += usize::from(!report.settled);
    }
}

/// What one thread works with.
#[derive(Debug)]
struct Roller {
    scene: Scene,
    stepper: Stepper,
    q: Vec<f64>,
    v: Vec<f64>,
    none: Vec<f64>,
    /// For several worlds at once, and the scenes of these.
    beside: Option<(SideBySide, Vec<Scene>)>,
}

/// One world: where it starts, what drives it, and where its states go.
struct Job<'a> {
    index: usize,
    q: &'a [f64],
    v: &'a [f64],
    torque: Option<&'a [f64]>,
    q_out: &'a mut [f64],
    v_out: &'a mut [f64],
    fared: &'a mut WorldOutcome,
}

impl Worlds {
    /// Memory for some number of threads, at least one.
    pub fn new(scene: &Scene, settings: Settings, threads: usize) -> Result<Self> {
        Ok(Self::of(scene, &Stepper::new(scene.mechanism(), settings)?, threads))
    }

    /// The same with a stepper of the scene's mechanism, as one that keeps loops closed.
    pub fn of(scene: &Scene, stepper: &Stepper, threads: usize) -> Self {
        let m = scene.mechanism();
        let roller = |_| Roller {
            scene: scene.clone(),
            stepper: stepper.clone(),
            q: m.neutral(),
            v: vec![0.0; m.nv()],
            none: vec![0.0; m.nv()],
            beside: SideBySide::new(stepper, scene.frames()).map(|group| {
                let scenes = vec![scene.clone(); group.worlds()];
                (group, scenes)
            }),
        };
        Self {
            rollers: (0..threads.max(1)).map(roller).collect(),
        }
    }

    /// Rolls worlds forward by some steps: `q_out` and `v_out` receive, for each world, what every step ends in. `torque` has nv
    /// numbers for every step of every world; without it there are none.
    ///
    /// A world that fails does not spoil the others: it is NaN from that step on, and the error names it.
    pub fn rollout(
        &mut self,
        q: &[f64],
        v: &[f64],
        torque: Option<&[f64]>,
        steps: usize,
        q_out: &mut [f64],
        v_out: &mut [f64],
    ) -> Result<Vec<WorldOutcome>> {
        let m = self.rollers[0].scene.mechanism();
        let (nq, nv) = (m.nq(), m.nv());
        let count = q.len().checked_div(nq).unwrap_or(0);
        let lengths = [
            ("q", q.len(), nq * count),
            ("v", v.len(), nv * count),
            (
                "torque",
                torque.map_or(nv * count * steps, <[f64]>::len),
                nv * count * steps,
            ),
            ("q_out", q_out.len(), nq * count * steps),
            ("v_out", v_out.len(), nv * count * steps),
        ];
        for (argument, given, needed) in lengths {
            if given != needed {
                return Err(Error::Length {
                    argument,
                    needed,
                    given,
                });
            }
        }
        let mut fared = vec![WorldOutcome::default(); count];
        if count * steps == 0 {
            return Ok(fared);
        }
        let outputs = q_out
            .chunks_mut(nq * steps)
            .zip(v_out.chunks_mut(nv * steps))
            .zip(&mut fared);
        let jobs = outputs.enumerate().map(|(index, ((q_out, v_out), fared))| Job {
            index,
            q: &q[nq * index..nq * (index + 1)],
            v: &v[nv * index..nv * (index + 1)],
            torque: torque.map(|all| &all[nv * steps * index..nv * steps * (index + 1)]),
            q_out,
            v_out,
            fared,
        });
        let jobs = Mutex::new(jobs);
        let first = Mutex::new(None::<(usize, Error)>);
        let take = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        let fail = |index: usize, problem: Error| {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|(before, _)| *before > index) {
                *first = Some((index, problem));
            }
        };
        let work = |roller: &mut Roller| {
            if let Some((group, scenes)) = &mut roller.beside {
                let step = roller.stepper.settings().step;
                let mut lanes: Vec<_> = scenes
                    .iter_mut()
                    .map(|scene| Lane::new(scene, step, &take, &fail))
                    .collect();
                let mut worlds: Vec<_> = lanes.iter_mut().map(|lane| lane as &mut dyn World).collect();
                return group.roll(&mut worlds);
            }
            while let Some(job) = take() {
                let index = job.index;
                if let Err(problem) = roller.roll(job) {
                    fail(index, problem);
                }
            }
        };
        match &mut self.rollers[..] {
            [roller] => work(roller),
            rollers => std::thread::scope(|scope| {
                for roller in rollers {
                    let work = &work;
                    scope.spawn(move || work(roller));
                }
            }),
        }
        match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(fared),
            Some((index, problem)) => Err(Error::Unsolved {
                what: "a rollout with contact",
                problem: format!("world {index} of {count}: {problem}"),
            }),
        }
    }
}

impl Roller {
    fn roll(&mut self, job: Job<'_>) -> Result<()> {
        let (nq, nv) = (self.q.len(), self.v.len());
        self.stepper.forget();
        self.q.copy_from_slice(job.q);
        self.v.copy_from_slice(job.v);
        for step in 0..job.q_out.len() / nq {
            let torque = job
                .torque
                .map_or(&self.none[..], |all| &all[nv * step..nv * (step + 1)]);
            let done = self.scene.step(&mut self.stepper, &mut self.q, &mut self.v, torque);
            match done {
                Ok(report) => {
                    job.fared.take(report);
                    job.fared.crossed += usize::from(self.scene.crossed(&self.q)?.is_some());
                }
                Err(problem) => {
                    job.q_out[nq * step..].fill(f64::NAN);
                    job.v_out[nv * step..].fill(f64::NAN);
                    return Err(problem);
                }
            }
            job.q_out[nq * step..nq * (step + 1)].copy_from_slice(&self.q);
            job.v_out[nv * step..nv * (step + 1)].copy_from_slice(&self.v);
        }
        Ok(())
    }
}

/// A lane, and the world in it.
struct Lane<'j, 's, T, F> {
    scene: &'s mut Scene,
    dt: f64,
    take: &'s T,
    fail: &'s F,
    job: Option<Job<'j>>,
    /// How many steps of it are done.
    steps: usize,
}

impl<'j, 's, T: Fn() -> Option<Job<'j>>, F: Fn(usize, Error)> Lane<'j, 's, T, F> {
    fn new(scene: &'s mut Scene, dt: f64, take: &'s T, fail: &'s F) -> Self {
        Self {
            scene,
            dt,
            take,
            fail,
            job: None,
            steps: 0,
        }
    }
}

impl<'j, T: Fn() -> Option<Job<'j>>, F: Fn(usize, Error)> World for Lane<'j, '_, T, F> {
    fn next(&mut self, q: &mut [f64], v: &mut [f64], torque: &mut [f64]) -> Next {
        let goes_on = self
            .job
            .as_ref()
            .is_some_and(|job| q.len() * self.steps < job.q_out.len());
        if !goes_on {
            self.job = (self.take)();
            self.steps = 0;
        }
        let Some(job) = &self.job else { return Next::End };
        match job.torque {
            Some(all) => torque.copy_from_slice(&all[v.len() * self.steps..v.len() * (self.steps + 1)]),
            None => torque.fill(0.0),
        }
        if goes_on {
            return Next::Step;
        }
        q.copy_from_slice(job.q);
        v.copy_from_slice(job.v);
        Next::Start
    }

    fn contacts(&mut self, seen: &Seen<'_>) -> Result<&[Contact]> {
        let (contacts, crossed) = self.scene.find_seen(seen, self.dt, self.steps > 0);
        if let Some(job) = &mut self.job {
            job.fared.crossed += usize::from(crossed);
        }
        Ok(contacts)
    }

    fn done(&mut self, q: &[f64], v: &[f64], report: Result<&StepReport>) {
        let Some(job) = &mut self.job else { return };
        let (nq, nv, step) = (q.len(), v.len(), self.steps);
        self.steps += 1;
        let problem = match report {
            Ok(report) => {
                job.fared.take(report);
                job.q_out[nq * step..nq * (step + 1)].copy_from_slice(q);
                job.v_out[nv * step..nv * (step + 1)].copy_from_slice(v);
                if nq * self.steps < job.q_out.len() {
                    return;
                }
                // Of the last step there is no next look.
                match self.scene.crossed(q) {
                    Ok(through) => {
                        job.fared.crossed += usize::from(through.is_some());
                        return;
                    }
                    Err(problem) => problem,
                }
            }
            Err(problem) => problem,
        };
        job.q_out[nq * step..].fill(f64::NAN);
        job.v_out[nv * step..].fill(f64::NAN);
        (self.fail)(job.index, problem);
        self.job = None;
    }
}
