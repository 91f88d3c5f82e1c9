//! Many models of one tree in one batch: masses, lengths, rotors, damping and gravity of their own.

use super::engine::{Failures, Intake, Job, MOST_LANES, Real, part, replace};
use super::quantity::Quantity;
use super::rollout::{Accelerates, Course, Rolling, Rollout, is_bounded, out_of_bounds};
use super::{BLOCK, share, share_out};
use crate::dynamics::varied::{Common, Memory, Several, length, numbers};
use crate::model::{Mechanism, surely_usable};
use crate::scalar::Scalar;
use crate::simd::{Instructions, Lanes, Task};
use crate::{Error, Result};
use rayon::prelude::*;

/// Models that share a tree and differ in their numbers, with one state of each: for randomised training, identification and
/// studies of a design.
///
/// A model is a [`Mechanism`] of the same joints, but for fixed ones; everything else may differ: inertias, where joints are placed, rotors,
/// damping, gravity. Only the numbers are kept. Calls take and give what those of [`super::Batch`] do, state after state, the
/// first for the first model; each result is the one that a batch of that model would give, but for rounding.
///
/// ```
/// use linkwork::batch::Models;
/// let arm = linkwork::model::examples::arm7();
/// let mut models = Models::<f64>::new(&arm)?;
/// for i in 0..100 {
///     let heavier = arm.to_builder().gravity([0.0, 0.0, -9.0 - 0.01 * i as f64]).build()?;
///     models.push(&heavier)?;
/// }
/// let (q, qd, tau) = (vec![0.3; 700], vec![0.1; 700], vec![0.0; 700]);
/// let mut qdd = vec![0.0; 700];
/// models.forward_dynamics(&q, &qd, &tau, &mut qdd)?;
/// # Ok::<(), linkwork::Error>(())
/// ```
pub struct Models<T: Real = f64> {
    alike: Alike,
    threads: usize,
    fleet: Option<Box<dyn Fleet<T>>>,
}

/// What models have in common, and their numbers one after another.
#[derive(Clone, Debug)]
pub struct Alike {
    mechanism: Mechanism,
    common: Vec<Common>,
    numbers: Vec<f64>,
}

impl Alike {
    /// Numbers of one model.
    fn each(&self) -> usize {
        length(&self.mechanism.compiled)
    }

    fn count(&self) -> usize {
        self.numbers.len() / self.each()
    }
}

impl<T: Real> Models<T> {
    /// No models yet, of the tree of a mechanism; with as many threads as the processor runs at once.
    pub fn new(tree: &Mechanism) -> Result<Self> {
        tree.refuse_coupled("a batch of many models")?;
        let m = &tree.compiled;
        let common = m.bodies.iter().map(|body| Common::new(body, &m.armature)).collect();
        Ok(Self {
            alike: Alike {
                mechanism: tree.clone(),
                common,
                numbers: Vec::new(),
            },
            threads: rayon::current_num_threads().max(1),
            fleet: None,
        })
    }

    /// The same with another number of threads; at least one.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Takes in the numbers of one more model.
    pub fn push(&mut self, model: &Mechanism) -> Result<()> {
        let alike = &mut self.alike;
        let (m, base) = (&model.compiled, &alike.mechanism.compiled);
        let other = |problem: &str| {
            Err(Error::Models {
                model: alike.count(),
                problem: problem.to_owned(),
            })
        };
        model.refuse_coupled("a batch of many models")?;
        if m.bodies.len() != base.bodies.len() || model.nq() != alike.mechanism.nq() {
            return other("it has other moving links or joints than the tree");
        }
        if m.refines {
            return other("a link carries one that is more than 10⁵ times as heavy; take a batch of its own");
        }
        let mut common = alike.common.clone();
        for (k, (a, b)) in base.bodies.iter().zip(&m.bodies).enumerate() {
            if (a.parent, a.hinge, a.q, a.v) != (b.parent, b.hinge, b.q, b.v) {
                return other("its joints are of other kinds, or elsewhere in the tree");
            }
            let Some(both) = common[k].and(Common::new(b, &m.armature)) else {
                return other("its joints are of other kinds, or elsewhere in the tree");
            };
            common[k] = both;
        }
        let numbers = numbers(m, &model.passive.damping);
        alike.common = common;
        alike.numbers.extend(numbers);
        self.fleet = None;
        Ok(())
    }

    /// How many models there are.
    pub fn len(&self) -> usize {
        self.alike.count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tree.
    pub fn mechanism(&self) -> &Mechanism {
        &self.alike.mechanism
    }

    /// T for given accelerations.
    pub fn inverse_dynamics(&mut self, q: &[T], qd: &[T], qdd: &[T], tau: &mut [T]) -> Result<()> {
        self.run(Quantity::InverseDynamics, &[("q", q), ("qd", qd), ("qdd", qdd)], tau)
    }

    /// q̈ under given torques.
    pub fn forward_dynamics(&mut self, q: &[T], qd: &[T], tau: &[T], qdd: &mut [T]) -> Result<()> {
        self.run(Quantity::ForwardDynamics, &[("q", q), ("qd", qd), ("tau", tau)], qdd)
    }

    /// C: inverse dynamics without acceleration.
    pub fn bias(&mut self, q: &[T], qd: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::Bias, &[("q", q), ("qd", qd)], out)
    }

    /// The torques that hold each model against its gravity.
    pub fn gravity_torque(&mut self, q: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::GravityTorque, &[("q", q)], out)
    }

    /// 𝓜, nv × nv.
    pub fn mass_matrix(&mut self, q: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::MassMatrix, &[("q", q)], out)
    }

    /// Rolls one state of every model forward in time, as [`super::Batch::rollout`] does; the damping of the joints acts beside the
    /// torques that are given.
    pub fn rollout(
        &mut self,
        rollout: Rollout,
        q: &[T],
        qd: &[T],
        tau: Option<&[T]>,
        q_out: &mut [T],
        qd_out: &mut [T],
    ) -> Result<()> {
        let lengths = [q_out.len(), qd_out.len()];
        let course = Course::new(&self.alike.mechanism, rollout, q, qd, tau, lengths)?;
        self.check_states(course.states)?;
        if course.states * rollout.steps == 0 {
            return Ok(());
        }
        let threads = self.threads;
        self.fleet().roll(&course, threads, q_out, qd_out)
    }

    fn run(&mut self, quantity: Quantity<'_>, inputs: &[(&'static str, &[T])], out: &mut [T]) -> Result<()> {
        let job = Job::new(&self.alike.mechanism, quantity, inputs, out.len())?;
        self.check_states(job.states)?;
        let threads = self.threads;
        self.fleet().run(&job, threads, out)
    }

    fn fleet(&mut self) -> &mut dyn Fleet<T> {
        &mut **self.fleet.get_or_insert_with(|| T::fleet(&self.alike))
    }

    /// An error unless there is one state for each model.
    fn check_states(&self, states: usize) -> Result<()> {
        let nq = self.alike.mechanism.nq();
        if states == self.len() {
            return Ok(());
        }
        Err(Error::Length {
            argument: "q",
            needed: self.len() * nq,
            given: states * nq,
        })
    }
}

impl<T: Real> core::fmt::Debug for Models<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Models")
            .field("tree", &self.alike.mechanism.name())
            .field("models", &self.len())
            .finish_non_exhaustive()
    }
}

/// Models in lanes.
pub trait Fleet<T>: Send {
    /// Computes one state of every model.
    fn run(&mut self, job: &Job<'_, T>, threads: usize, out: &mut [T]) -> Result<()>;
    /// Rolls one state of every model.
    fn roll(&mut self, course: &Course<'_, T>, threads: usize, q_out: &mut [T], qd_out: &mut [T]) -> Result<()>;
}

/// As many models to a register as it has lanes, group after group; and memory for every thread.
pub(super) struct Abreast<S: 'static> {
    models: Shared<S>,
    works: Vec<Work<S>>,
}

/// What all threads read.
struct Shared<S> {
    mechanism: Mechanism,
    common: Vec<Common>,
    numbers: Vec<S>,
    instructions: Instructions,
}

/// One thread's memory.
struct Work<S> {
    memory: Memory<S>,
    q: Vec<S>,
    qd: Vec<S>,
    input: Vec<S>,
    none: Vec<S>,
    out: Vec<S>,
    /// 𝓜 alone: its elements that are zero are never written.
    mass: Vec<S>,
    driven: Vec<S>,
    rolling: Rolling<S>,
}

impl<S: Scalar> Work<S> {
    fn new(mechanism: &Mechanism) -> Self {
        let zeros = |n: usize| vec![S::ZERO; n];
        let (nq, nv) = (mechanism.nq(), mechanism.nv());
        Self {
            memory: Memory::new(&mechanism.compiled),
            q: zeros(nq),
            qd: zeros(nv),
            input: zeros(nv),
            none: Vec::new(),
            out: zeros(nv),
            mass: zeros(nv * nv),
            driven: zeros(nv),
            rolling: Rolling::new(mechanism),
        }
    }
}

impl<S: Lanes> Abreast<S> {
    pub(super) fn new(alike: &Alike) -> Self {
        let (each, count) = (alike.each(), alike.count());
        let mut all = vec![S::ZERO; each * count.div_ceil(S::LANES)];
        for (group, lanes) in all.chunks_exact_mut(each).enumerate() {
            for (i, x) in lanes.iter_mut().enumerate() {
                let model = |lane: usize| (group * S::LANES + lane).min(count - 1);
                *x = S::from_lanes(|lane| S::Element::lift(alike.numbers[model(lane) * each + i]));
            }
        }
        Self {
            models: Shared {
                mechanism: alike.mechanism.clone(),
                common: alike.common.clone(),
                numbers: all,
                instructions: Instructions::detect(),
            },
            works: Vec::new(),
        }
    }

    /// Memory for as many threads as so many states are shared out to.
    fn works(&mut self, threads: usize, states: usize) -> (&Shared<S>, &mut [Work<S>]) {
        let used = threads.min(states.div_ceil(BLOCK)).max(1);
        while self.works.len() < used {
            self.works.push(Work::new(&self.models.mechanism));
        }
        (&self.models, &mut self.works[..used])
    }
}

impl<S: Lanes> Shared<S> {
    /// The models from some state on.
    fn several(&self, first: usize) -> Several<'_, S> {
        let each = length(&self.mechanism.compiled);
        Several {
            m: &self.mechanism.compiled,
            common: &self.common,
            numbers: &self.numbers[first / S::LANES * each..][..each],
        }
    }

    /// What nothing resists in a lane.
    fn singular(&self, memory: &Memory<S>, lane: usize) -> Option<Error> {
        let dof = memory.gains.iter().position(|gain| !gain.is_sound(lane))?;
        let (joint, index) = self.mechanism.joint_of_any_dof(dof);
        Some(Error::Singular {
            joint: self.mechanism.joints()[joint.index()].name.clone(),
            index,
            value: memory.gains[dof].d_inv.lane(lane).recip(),
        })
    }
}

impl<T: Real, S: Lanes<Element = T>> Fleet<T> for Abreast<S> {
    fn run(&mut self, job: &Job<'_, T>, threads: usize, out: &mut [T]) -> Result<()> {
        if job.size == 0 {
            return Ok(());
        }
        let (models, works) = self.works(threads, job.states);
        let run = |work: &mut Work<S>, first: usize, out: &mut [T]| {
            let mut failures = Failures::default();
            for (i, out) in out.chunks_mut(S::LANES * job.size).enumerate() {
                work.group(models, job, first + i * S::LANES, out, &mut failures);
            }
            failures
        };
        share_out(works, job.states, job.size, out, run)
    }

    fn roll(&mut self, course: &Course<'_, T>, threads: usize, q_out: &mut [T], qd_out: &mut [T]) -> Result<()> {
        let (models, works) = self.works(threads, course.states);
        let (nq, nv, steps) = (models.mechanism.nq(), models.mechanism.nv(), course.rollout.steps);
        let block = share(course.states, works.len());
        let q_parts = q_out.par_chunks_mut(block * steps * nq);
        let qd_parts = qd_out.par_chunks_mut(block * steps * nv);
        let roll = |work: &mut Work<S>, first: usize, q_out: &mut [T], qd_out: &mut [T]| {
            let mut failures = Failures::default();
            let groups = q_out
                .chunks_mut(S::LANES * nq * steps)
                .zip(qd_out.chunks_mut(S::LANES * nv * steps));
            for (i, (q_out, qd_out)) in groups.enumerate() {
                work.roll(models, course, first + i * S::LANES, q_out, qd_out, &mut failures);
            }
            failures
        };
        let failures = match works {
            [work] => roll(work, 0, q_out, qd_out),
            works => works
                .par_iter_mut()
                .zip(q_parts)
                .zip(qd_parts)
                .enumerate()
                .map(|(i, ((work, q_out), qd_out))| roll(work, i * block, q_out, qd_out))
                .reduce(Failures::default, Failures::and),
        };
        failures.into_result(course.states)
    }
}

impl<T: Real, S: Lanes<Element = T>> Work<S> {
    /// As many states as there are lanes, or fewer at the end.
    fn group(&mut self, models: &Shared<S>, job: &Job<'_, T>, first: usize, out: &mut [T], failures: &mut Failures) {
        let (mechanism, states) = (&models.mechanism, out.len() / job.size);
        let (nq, nv) = (mechanism.nq(), mechanism.nv());
        for (given, lanes) in [(job.qd, &mut self.qd), (job.input, &mut self.input)] {
            if given.is_none() {
                lanes.fill(S::ZERO);
            }
        }
        let mut sound = false;
        models.instructions.perform::<S, _>(Intake {
            given: [
                Some(part(job.q, nq, first, states)),
                job.qd.map(|x| part(x, nv, first, states)),
                job.input.map(|x| part(x, nv, first, states)),
                None,
            ],
            lanes: [&mut self.q, &mut self.qd, &mut self.input, &mut self.none],
            mechanism,
            sound: &mut sound,
        });
        let mut bad: [Option<Error>; MOST_LANES] = core::array::from_fn(|_| None);
        if !sound {
            for lane in 0..S::LANES {
                let state = lane.min(states - 1);
                if let Err(problem) = job.problem(mechanism, first + state) {
                    replace(&mut self.q, lane, &mechanism.neutral());
                    replace(&mut self.qd, lane, &[]);
                    replace(&mut self.input, lane, &[]);
                    bad[state] = Some(problem);
                }
            }
        }
        let mut unsound = S::ZERO;
        models.instructions.perform::<S, _>(Evaluate {
            several: models.several(first),
            quantity: job.quantity,
            work: self,
            unsound: &mut unsound,
        });
        if unsound != S::ZERO {
            for (lane, bad) in bad.iter_mut().enumerate().take(states) {
                if bad.is_none() {
                    *bad = models.singular(&self.memory, lane);
                }
            }
        }
        let from = match job.quantity {
            Quantity::MassMatrix => &self.mass,
            _ => &self.out,
        };
        S::store(&from[..job.size], out, job.size);
        for (lane, bad) in bad.into_iter().enumerate() {
            if let Some(problem) = bad {
                out[lane * job.size..(lane + 1) * job.size].fill(T::lift(f64::NAN));
                failures.add(first + lane, problem);
            }
        }
    }

    /// The same in time.
    fn roll(
        &mut self,
        models: &Shared<S>,
        course: &Course<'_, T>,
        first: usize,
        q_out: &mut [T],
        qd_out: &mut [T],
        failures: &mut Failures,
    ) {
        let (mechanism, rollout) = (&models.mechanism, course.rollout);
        let (nq, nv, steps) = (mechanism.nq(), mechanism.nv(), rollout.steps);
        let states = q_out.len() / (nq * steps);
        let mut lost: [Option<(usize, Error)>; MOST_LANES] = core::array::from_fn(|_| None);
        let (q, qd) = (part(course.q, nq, first, states), part(course.qd, nv, first, states));
        for (state, lost) in lost.iter_mut().enumerate().take(states) {
            let sound = mechanism.check_configuration("q", part(q, nq, state, 1));
            let sound = sound.and_then(|()| mechanism.check_vector("qd", part(qd, nv, state, 1)));
            *lost = sound.err().map(|problem| (0, problem));
        }
        S::load(q, nq, &mut self.q);
        S::load(qd, nv, &mut self.qd);
        self.input.fill(S::ZERO);
        for step in 0..steps {
            if let Some(tau) = course.tau {
                let tau = part(tau, nv * steps, first, states);
                S::load(&tau[step * nv..], steps * nv, &mut self.input);
                for (state, lost) in lost.iter_mut().enumerate().take(states) {
                    if lost.is_none() {
                        let torques = part(tau, nv, state * steps + step, 1);
                        *lost = mechanism
                            .check_vector("tau", torques)
                            .err()
                            .map(|problem| (step, problem));
                    }
                }
            }
            for lane in 0..S::LANES {
                if lost[lane.min(states - 1)].is_some() {
                    replace(&mut self.q, lane, &mechanism.neutral());
                    replace(&mut self.qd, lane, &[]);
                    replace(&mut self.input, lane, &[]);
                }
            }
            let mut unsound = S::ZERO;
            models.instructions.perform::<S, _>(Advance {
                several: models.several(first),
                rollout,
                work: self,
                unsound: &mut unsound,
            });
            if unsound != S::ZERO || surely_usable(&self.q) * surely_usable(&self.qd) != S::ONE {
                for (lane, lost) in lost.iter_mut().enumerate().take(states) {
                    if lost.is_none() && !is_bounded(&self.q, &self.qd, lane) {
                        let problem = models.singular(&self.memory, lane);
                        *lost = Some((step, problem.unwrap_or_else(|| out_of_bounds(step as f64 * rollout.dt))));
                    }
                }
            }
            S::store(&self.q, &mut q_out[step * nq..], steps * nq);
            S::store(&self.qd, &mut qd_out[step * nv..], steps * nv);
        }
        for (lane, lost) in lost.into_iter().enumerate() {
            if let Some((step, problem)) = lost {
                q_out[(lane * steps + step) * nq..(lane + 1) * steps * nq].fill(T::lift(f64::NAN));
                qd_out[(lane * steps + step) * nv..(lane + 1) * steps * nv].fill(T::lift(f64::NAN));
                failures.add(first + lane, problem);
            }
        }
    }
}

/// One quantity of a group.
struct Evaluate<'a, S: 'static> {
    several: Several<'a, S>,
    quantity: Quantity<'a>,
    work: &'a mut Work<S>,
    unsound: &'a mut S,
}

impl<S: Scalar> Task for Evaluate<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Work {
            memory,
            q,
            qd,
            input,
            out,
            mass,
            ..
        } = self.work;
        let several = self.several;
        several.pose(memory, q);
        match self.quantity {
            Quantity::ForwardDynamics => *self.unsound = several.forward(memory, qd, input, out),
            Quantity::MassMatrix => several.mass(memory, mass),
            // Where nothing is given, input and velocities are zero.
            _ => several.inverse(memory, qd, input, out),
        }
    }
}

/// One step of a group.
struct Advance<'a, S: 'static> {
    several: Several<'a, S>,
    rollout: Rollout,
    work: &'a mut Work<S>,
    unsound: &'a mut S,
}

impl<S: Scalar> Task for Advance<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Work {
            memory,
            q,
            qd,
            input,
            driven,
            rolling,
            ..
        } = self.work;
        let mut driven = Driven {
            several: self.several,
            memory,
            tau: input,
            driven,
            unsound: self.unsound,
        };
        rolling.step(self.rollout, q, qd, &mut driven);
    }
}

/// Models under constant torques, less their damping.
struct Driven<'a, S> {
    several: Several<'a, S>,
    memory: &'a mut Memory<S>,
    tau: &'a [S],
    driven: &'a mut [S],
    unsound: &'a mut S,
}

impl<S: Scalar> Accelerates<S> for Driven<'_, S> {
    #[inline(always)]
    fn accelerations(&mut self, q: &[S], v: &[S], vd: &mut [S]) {
        let damping = self.several.damping();
        for i in 0..v.len() {
            self.driven[i] = (-damping[i]).mul_add(v[i], self.tau[i]);
        }
        self.several.pose(self.memory, q);
        *self.unsound += self.several.forward(self.memory, v, self.driven, vd);
    }
}
