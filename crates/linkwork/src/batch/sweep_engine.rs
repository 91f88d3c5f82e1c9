//! Quantities of a batch, by their sweeps: which engine computes them, and how.

use super::engine::{Asks, Engine, InLanes, Job, Kernel, States, Through64};
use super::lanes::{Lost, part};
use super::models::{Abreast, Alike};
use super::quantity::{Quantity, TABLES};
use super::rollout::{Course, Rolling};
use super::threads::{Failures, Team, check_states, count_states};
use crate::Result;
use crate::model::Mechanism;
use crate::scalar::Scalar;
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
use crate::simd::{F32x8, F32x16, F64x4, F64x8, Instructions};
use crate::simd::{Lanes, Places};

/// A plain number that batches run on: `f64` or `f32`.
pub trait Real: Scalar + Sealed {}

impl Real for f64 {}
impl Real for f32 {}

/// [`Quantity`] is what is asked.
#[derive(Debug)]
pub struct Quantities;

impl Asks for Quantities {
    type Asked<'a> = Quantity<'a>;
}

impl<'q, 'a, T: Real> Job<'q, 'a, T, Quantities> {
    /// Checks the arguments: q, and the other vectors that the quantity takes.
    pub(super) fn new(mechanism: &Mechanism, quantity: Quantity<'q>, given: &'a [&'a [T]], out: usize) -> Result<Self> {
        let (nq, nv, size) = (mechanism.nq(), mechanism.nv(), quantity.size(mechanism));
        let (q, vectors) = (given[0], &given[1..]);
        let states = count_states([q.len(), nq], [out, size]);
        check_states("q", q.len(), nq, states)?;
        for (i, x) in vectors.iter().enumerate() {
            check_states(quantity.vector(i), x.len(), nv, states)?;
        }
        check_states("out", out, size, states)?;
        Ok(Self {
            asked: quantity,
            states,
            size,
            q,
            vectors,
        })
    }

    /// What is wrong with the arguments of one state.
    pub(super) fn problem(&self, mechanism: &Mechanism, state: usize) -> Result<()> {
        mechanism.check_configuration("q", part(self.q, mechanism.nq(), state, 1))?;
        for (i, x) in self.vectors.iter().enumerate() {
            mechanism.check_vector(self.asked.vector(i), part(x, mechanism.nv(), state, 1))?;
        }
        Ok(())
    }
}

/// An engine of sweeps, which also rolls states forward.
pub trait Roller<T>: Engine<T, Quantities> {
    /// Rolls the states from `first` on that have room in the outputs, q and q̇.
    fn roll(&mut self, course: &Course<'_, T>, first: usize, outs: [&mut [T]; 2]) -> Failures;
    /// The same for another thread.
    fn another(&self) -> Box<dyn Roller<T>>;
}

impl<T: Real> Team<Box<dyn Roller<T>>> {
    /// Rolls all states of a course.
    pub(super) fn roll(
        &mut self,
        course: &Course<'_, T>,
        outs: [&mut [T]; 2],
        make: impl Fn() -> Box<dyn Roller<T>>,
    ) -> Result<()> {
        let roll =
            |engine: &mut Box<dyn Roller<T>>, first: usize, outs: [&mut [T]; 2]| engine.roll(course, first, outs);
        match course.states * course.rollout.steps {
            0 => Ok(()),
            _ => self.run(course.states, course.sizes, outs, or_another(make), roll),
        }
    }
}

/// A boxed engine.
type AnyRoller<T> = Box<dyn Roller<T>>;

/// Makes the first engine, and those of other threads after it.
pub(super) fn or_another<T>(make: impl Fn() -> AnyRoller<T>) -> impl Fn(Option<&AnyRoller<T>>) -> Result<AnyRoller<T>> {
    move |first| Ok(first.map_or_else(&make, |first| first.another()))
}

/// Chooses lanes by what the processor has.
pub trait Sealed: Sized {
    /// Memory for one thread.
    fn engine(mechanism: &Mechanism) -> Box<dyn Roller<Self>>;
    /// The same for many models.
    fn of_models(models: &Alike) -> Box<dyn Roller<Self>>;
}

macro_rules! engines {
    ($float:ty, $avx512:ty, $avx2:ty, alone $alone:ident) => {
        impl Sealed for $float {
            fn engine(mechanism: &Mechanism) -> Box<dyn Roller<Self>> {
                #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
                if !mechanism.compiled.reduction.as_ref().is_some_and(|r| r.is_curved) {
                    let instructions = Instructions::detect();
                    let lanes: Box<dyn Roller<Self>> = if instructions.avx512() {
                        Box::new(in_lanes::<$avx512>(mechanism))
                    } else if instructions.avx2() {
                        Box::new(in_lanes::<$avx2>(mechanism))
                    } else {
                        return $alone(mechanism);
                    };
                    if !mechanism.compiled.refines && !mechanism.is_coupled() {
                        return lanes;
                    }
                    return Box::new(Either {
                        lanes,
                        alone: $alone(mechanism),
                        mechanism: mechanism.clone(),
                    });
                }
                $alone(mechanism)
            }

            fn of_models(models: &Alike) -> Box<dyn Roller<Self>> {
                #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
                {
                    let instructions = Instructions::detect();
                    if instructions.avx512() {
                        return Box::new(Abreast::<$avx512>::new(models));
                    } else if instructions.avx2() {
                        return Box::new(Abreast::<$avx2>::new(models));
                    }
                }
                Box::new(Abreast::<$float>::new(models))
            }
        }
    };
}

engines!(f64, F64x8, F64x4, alone alone);
engines!(f32, F32x16, F32x8, alone through_64);

/// One state at a time.
fn alone(mechanism: &Mechanism) -> Box<dyn Roller<f64>> {
    Box::new(in_lanes::<f64>(mechanism))
}

fn through_64(mechanism: &Mechanism) -> Box<dyn Roller<f32>> {
    Box::new(Through64::new(in_lanes(mechanism)))
}

/// As many states as a register has lanes, with q̇ and two other vectors.
fn in_lanes<S: Lanes<Element: Real>>(mechanism: &Mechanism) -> InLanes<S, Sweeps<S>> {
    InLanes::new(mechanism, [mechanism.nv(); 3], Sweeps::default())
}

/// Lanes, but for what these do not compute.
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
struct Either<T> {
    lanes: Box<dyn Roller<T>>,
    alone: Box<dyn Roller<T>>,
    mechanism: Mechanism,
}

#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
impl<T: 'static> Engine<T, Quantities> for Either<T> {
    fn run(&mut self, job: &Job<'_, '_, T, Quantities>, first: usize, out: &mut [T]) -> Failures {
        if job.asked.is_alone(&self.mechanism) {
            self.alone.run(job, first, out)
        } else {
            self.lanes.run(job, first, out)
        }
    }
}

#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
impl<T: 'static> Roller<T> for Either<T> {
    fn roll(&mut self, course: &Course<'_, T>, first: usize, outs: [&mut [T]; 2]) -> Failures {
        if self.mechanism.compiled.refines {
            self.alone.roll(course, first, outs)
        } else {
            self.lanes.roll(course, first, outs)
        }
    }

    fn another(&self) -> Box<dyn Roller<T>> {
        Box::new(Self {
            lanes: self.lanes.another(),
            alone: self.alone.another(),
            mechanism: self.mechanism.clone(),
        })
    }
}

/// What sweeps in lanes need beside the states.
pub(super) struct Sweeps<S> {
    /// How many numbers are computed.
    room: usize,
    /// Where the numbers of some quantities come from among these, once they are asked for.
    sources: [Places; TABLES],
    pub(super) rolling: Option<Rolling<S>>,
}

impl<S> Default for Sweeps<S> {
    fn default() -> Self {
        Self {
            room: 0,
            sources: Default::default(),
            rolling: None,
        }
    }
}

impl<S: Lanes<Element: Real>> Kernel<S> for Sweeps<S> {
    type Asks = Quantities;

    fn prepare(&mut self, job: &Job<'_, '_, S::Element, Quantities>, states: &mut States<S>) {
        let mechanism = states.workspace.mechanism();
        self.room = job.asked.room::<S>(mechanism);
        if states.out.len() <= self.room {
            states.out.resize(self.room + 1, S::ZERO);
        }
        states.out[self.room] = S::ZERO;
        if let Some(table) = job.asked.table::<S>()
            && self.sources[table].is_empty()
        {
            self.sources[table] = job.asked.sources(mechanism).into();
        }
        for x in &mut states.vectors[job.vectors.len()..] {
            x.fill(S::ZERO);
        }
        if S::LANES > 1 && job.vectors.is_empty() {
            states.workspace.set_velocity(&states.vectors[0]);
        }
    }

    fn check<T: Real>(&self, mechanism: &Mechanism, asked: Quantity<'_>, vector: usize, x: &[T]) -> Result<()> {
        mechanism.check_vector(asked.vector(vector), x)
    }

    #[inline(always)]
    fn compute(&mut self, asked: Quantity<'_>, given: usize, states: &mut States<S>, lost: &mut Lost) {
        let [qd, input, x] = &states.vectors[..] else {
            unreachable!("sweeps take three vectors")
        };
        // Where states come one by one, velocities go with each.
        let mut view = match given {
            0 if S::LANES > 1 => states.workspace.view_with(&states.q),
            _ => states.workspace.view_at(&states.q, qd),
        };
        let done = asked.compute(&mut view, input, x, &mut states.out[..self.room]);
        if let Err(problem) = done {
            // Of the mechanism, not of a state: where it occurs, states are taken one by one.
            lost.find(0, |_| Err(problem.clone()));
        }
        if asked.needs_pivots() && !view.pivots_are_sound() {
            lost.find(0, |lane| view.check_pivots_of(lane));
        }
    }

    #[inline(always)]
    fn give(&self, job: &Job<'_, '_, S::Element, Quantities>, states: &States<S>, out: &mut [S::Element]) {
        let from = job.asked.table::<S>().map(|table| &self.sources[table]);
        let lanes = &states.out[..=self.room];
        match from {
            _ if job.is_large() => S::stream(lanes, from, job.size, out, job.size),
            None => S::store(&lanes[..job.size], out, job.size),
            Some(from) => S::spread(lanes, from, out, job.size),
        }
    }
}

impl<T: Real, S: Lanes<Element = T>> Roller<T> for InLanes<S, Sweeps<S>> {
    fn roll(&mut self, course: &Course<'_, T>, first: usize, outs: [&mut [T]; 2]) -> Failures {
        self.roll_all(course, first, outs)
    }

    fn another(&self) -> Box<dyn Roller<T>> {
        Box::new(in_lanes::<S>(self.states.workspace.mechanism()))
    }
}

impl Roller<f32> for Through64<Sweeps<f64>> {
    fn roll(&mut self, course: &Course<'_, f32>, first: usize, outs: [&mut [f32]; 2]) -> Failures {
        self.roll_one_by_one(course, first, outs)
    }

    fn another(&self) -> Box<dyn Roller<f32>> {
        through_64(self.inner.states.workspace.mechanism())
    }
}
