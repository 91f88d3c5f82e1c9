//! Many models of one tree in one batch: masses, lengths, rotors, damping and gravity of their own.

use super::engine::{Engine, Job};
use super::lanes::{Intake, Lost, clear, in_groups};
use super::quantity::Quantity;
use super::rollout::{Course, Drives, Held, Judge, Rolling, Rollout};
use super::sweep_engine::{Quantities, Real, Roller, or_another};
use super::threads::{Failures, Team};
use crate::dynamics::many_models::{Common, Memory, Several, length, numbers};
use crate::model::Mechanism;
use crate::scalar::Scalar;
use crate::simd::{Instructions, Lanes, Task};
use crate::{Error, Result};
use std::sync::Arc;

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
#[must_use]
pub struct Models<T: Real = f64> {
    alike: Alike,
    team: Team<Box<dyn Roller<T>>>,
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
            team: Team::new(rayon::current_num_threads()),
        })
    }

    /// The same with another number of threads; at least one.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.team = self.team.with_threads(threads);
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
        self.team.dismiss();
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
        self.run(Quantity::InverseDynamics, &[q, qd, qdd], tau)
    }

    /// q̈ under given torques.
    pub fn forward_dynamics(&mut self, q: &[T], qd: &[T], tau: &[T], qdd: &mut [T]) -> Result<()> {
        self.run(Quantity::ForwardDynamics, &[q, qd, tau], qdd)
    }

    /// C: inverse dynamics without acceleration.
    pub fn bias(&mut self, q: &[T], qd: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::Bias, &[q, qd], out)
    }

    /// The torques that hold each model against its gravity.
    pub fn gravity_torque(&mut self, q: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::GravityTorque, &[q], out)
    }

    /// 𝓜, nv × nv.
    pub fn mass_matrix(&mut self, q: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::MassMatrix, &[q], out)
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
        self.team.roll(&course, [q_out, qd_out], || T::of_models(&self.alike))
    }

    fn run(&mut self, quantity: Quantity<'_>, given: &[&[T]], out: &mut [T]) -> Result<()> {
        let job = Job::new(&self.alike.mechanism, quantity, given, out.len())?;
        self.check_states(job.states)?;
        let make = or_another(|| T::of_models(&self.alike));
        self.team.run_job(&job, out, make)
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

/// As many models to a register as it has lanes, group after group; and one thread's memory.
pub(super) struct Abreast<S: 'static> {
    models: Arc<Shared<S>>,
    work: Work<S>,
}

/// What all threads read.
struct Shared<S> {
    mechanism: Mechanism,
    common: Vec<Common>,
    numbers: Vec<S>,
    instructions: Instructions,
}

/// What one thread writes.
struct Work<S> {
    memory: Memory<S>,
    q: Vec<S>,
    /// q̇, and q̈ or T.
    vectors: [Vec<S>; 2],
    out: Vec<S>,
    /// 𝓜 alone: its elements that are zero are never written.
    mass: Vec<S>,
    driven: Vec<S>,
    rolling: Option<Rolling<S>>,
}

impl<S: Scalar> Work<S> {
    fn new(mechanism: &Mechanism) -> Self {
        let zeros = |n: usize| vec![S::ZERO; n];
        let (nq, nv) = (mechanism.nq(), mechanism.nv());
        Self {
            memory: Memory::new(&mechanism.compiled),
            q: zeros(nq),
            vectors: [(); 2].map(|()| zeros(nv)),
            out: zeros(nv),
            mass: zeros(nv * nv),
            driven: zeros(nv),
            rolling: None,
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
            models: Arc::new(Shared {
                mechanism: alike.mechanism.clone(),
                common: alike.common.clone(),
                numbers: all,
                instructions: Instructions::detect(),
            }),
            work: Work::new(&alike.mechanism),
        }
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

    /// An error if nothing resists a joint in a lane.
    fn check(&self, memory: &Memory<S>, lane: usize) -> Result<()> {
        let Some(dof) = memory.gains.iter().position(|gain| !gain.is_sound(lane)) else {
            return Ok(());
        };
        let (joint, index) = self.mechanism.joint_of_any_dof(dof);
        Err(Error::Singular {
            joint: self.mechanism.joints()[joint.index()].name.clone(),
            index,
            value: memory.gains[dof].d_inv.lane(lane).recip(),
        })
    }
}

impl<T: Real, S: Lanes<Element = T>> Engine<T, Quantities> for Abreast<S> {
    fn run(&mut self, job: &Job<'_, '_, T, Quantities>, first: usize, out: &mut [T]) -> Failures {
        if job.size == 0 {
            return Failures::default();
        }
        let (models, work, states) = (&*self.models, &mut self.work, out.len() / job.size);
        for x in &mut work.vectors[job.vectors.len()..] {
            x.fill(S::ZERO);
        }
        in_groups(S::LANES, first, states, [job.size], [out], |first, [out], failures| {
            work.group(models, job, first, out, failures);
        })
    }
}

impl<T: Real, S: Lanes<Element = T>> Roller<T> for Abreast<S> {
    fn roll(&mut self, course: &Course<'_, T>, first: usize, outs: [&mut [T]; 2]) -> Failures {
        let (models, work, states) = (&*self.models, &mut self.work, outs[0].len() / course.sizes[0]);
        let rolling = work.rolling.get_or_insert_with(|| Rolling::new(&models.mechanism));
        let [v, tau] = &mut work.vectors;
        in_groups(S::LANES, first, states, course.sizes, outs, |first, outs, failures| {
            let held = Held {
                rolling: &mut *rolling,
                q: &mut work.q,
                v,
                tau,
            };
            let drives = Driven {
                models,
                several: models.several(first),
                memory: &mut work.memory,
                driven: &mut work.driven,
            };
            course.roll_group(models.instructions, drives, held, first, outs, failures);
        })
    }

    fn another(&self) -> Box<dyn Roller<T>> {
        Box::new(Self {
            models: self.models.clone(),
            work: Work::new(&self.models.mechanism),
        })
    }
}

impl<T: Real, S: Lanes<Element = T>> Work<S> {
    /// As many states as there are lanes, or fewer at the end.
    fn group(
        &mut self,
        models: &Shared<S>,
        job: &Job<'_, '_, T, Quantities>,
        first: usize,
        out: &mut [T],
        failures: &mut Failures,
    ) {
        let (mechanism, states) = (&models.mechanism, out.len() / job.size);
        let mut sound = false;
        models.instructions.perform_in_lanes::<S, _>(Intake {
            states: first..first + states,
            given: (job.q, job.vectors),
            lanes: (&mut self.q, &mut self.vectors),
            mechanism,
            sound: &mut sound,
        });
        let mut lost = Lost::none(states);
        if !sound {
            lost.find(0, |lane| job.problem(mechanism, first + lane));
            lost.stand_in(mechanism, &mut self.q, |lane| {
                self.vectors.iter_mut().for_each(|x| clear(x, lane));
            });
        }
        let mut unsound = S::ZERO;
        models.instructions.perform_in_lanes::<S, _>(Evaluate {
            several: models.several(first),
            quantity: job.asked,
            memory: &mut self.memory,
            q: &self.q,
            qd: &self.vectors[0],
            input: &self.vectors[1],
            out: match job.asked {
                Quantity::MassMatrix => &mut self.mass,
                _ => &mut self.out,
            },
            unsound: &mut unsound,
        });
        if unsound != S::ZERO {
            lost.find(0, |lane| models.check(&self.memory, lane));
        }
        let from = match job.asked {
            Quantity::MassMatrix => &self.mass,
            _ => &self.out,
        };
        S::store(&from[..job.size], out, job.size);
        lost.tell(first, 1, [job.size], [out], failures);
    }
}

/// One quantity of a group.
struct Evaluate<'a, S: 'static> {
    several: Several<'a, S>,
    quantity: Quantity<'a>,
    memory: &'a mut Memory<S>,
    q: &'a [S],
    qd: &'a [S],
    input: &'a [S],
    out: &'a mut [S],
    unsound: &'a mut S,
}

impl<S: Scalar> Task for Evaluate<'_, S> {
    #[inline(always)]
    fn run(self) {
        let (several, memory) = (self.several, self.memory);
        several.pose(memory, self.q);
        match self.quantity {
            Quantity::ForwardDynamics => *self.unsound = several.forward(memory, self.qd, self.input, self.out),
            Quantity::MassMatrix => several.mass(memory, self.out),
            // Where nothing is given, input and velocities are zero.
            _ => several.inverse(memory, self.qd, self.input, self.out),
        }
    }
}

/// Models under constant torques, less their damping.
struct Driven<'a, S> {
    models: &'a Shared<S>,
    several: Several<'a, S>,
    memory: &'a mut Memory<S>,
    driven: &'a mut [S],
}

impl<S: Lanes> Drives<S> for Driven<'_, S> {
    #[inline(always)]
    fn mechanism(&self) -> &Mechanism {
        &self.models.mechanism
    }

    #[inline(always)]
    fn accelerations(&mut self, q: &[S], v: &[S], tau: &[S], vd: &mut [S], judge: &mut Judge<'_>) {
        let damping = self.several.damping();
        for i in 0..v.len() {
            self.driven[i] = (-damping[i]).mul_add(v[i], tau[i]);
        }
        let mut unsound = S::ZERO;
        self.models.instructions.perform_in_lanes::<S, _>(Evaluate {
            several: self.several,
            quantity: Quantity::ForwardDynamics,
            memory: self.memory,
            q,
            qd: v,
            input: self.driven,
            out: vd,
            unsound: &mut unsound,
        });
        if unsound != S::ZERO {
            judge(&|lane| self.models.check(self.memory, lane));
        }
    }
}
