//! Many states rolled forward in time together.

use super::Batch;
use super::engine::{InLanes, Through64};
use super::lanes::{Lost, clear, in_groups, load, narrow, part, widen};
use super::sweep_engine::{Real, Sweeps};
use super::threads::{Failures, check_states};
use crate::dynamics::forward;
use crate::model::{Mechanism, all_usable, surely_usable};
use crate::scalar::Scalar;
use crate::simd::{Instructions, Lanes, Task};
use crate::simulate::chart::Chart;
use crate::workspace::Workspace;
use crate::{Error, Result};

/// How states are rolled forward: `steps` steps of `dt` seconds each.
///
/// ```
/// use linkwork::batch::{Rollout, RolloutMethod};
/// let arm = linkwork::model::examples::arm7();
/// let (q, qd) = (vec![0.1; 7 * 2], vec![0.0; 7 * 2]); // two states
/// let rollout = Rollout { method: RolloutMethod::SemiImplicitEuler, dt: 1e-3, steps: 10 };
/// let (mut q_out, mut qd_out) = (vec![0.0; 7 * 2 * 10], vec![0.0; 7 * 2 * 10]);
/// arm.batch().rollout(rollout, &q, &qd, None, &mut q_out, &mut qd_out)?;
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rollout {
    /// The method of a step.
    pub method: RolloutMethod,
    /// The length of a step, in seconds; positive.
    pub dt: f64,
    /// How many.
    pub steps: usize,
}

/// How a step is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RolloutMethod {
    /// As [`SemiImplicitEuler`](crate::simulate::SemiImplicitEuler) does it.
    SemiImplicitEuler,
    /// As [`RungeKutta4`](crate::simulate::RungeKutta4) does it.
    RungeKutta4,
}

impl<T: Real> Batch<T> {
    /// Rolls states forward in time: `q_out` and `qd_out` receive, for each state, what every step ends in.
    ///
    /// `tau` holds torques, nv for every step of every state, constant within the step; without it there are none. As in
    /// [`Batch::forward_dynamics`] these are all that drives the joints: add damping and friction to them. A state that
    /// goes out of bounds, or meets a torque that is no number, does not spoil the others: it is NaN from that step on, and
    /// the error names it.
    ///
    /// ```
    /// use linkwork::batch::{RolloutMethod, Rollout};
    /// let arm = linkwork::model::examples::arm7();
    /// let (states, steps) = (100, 50);
    /// let q: Vec<f64> = (0..states).flat_map(|i| arm.random(i)).collect();
    /// let qd = vec![0.0; 7 * 100];
    /// let (mut q_out, mut qd_out) = (vec![0.0; 7 * 100 * steps], vec![0.0; 7 * 100 * steps]);
    /// let rollout = Rollout { method: RolloutMethod::RungeKutta4, dt: 1e-3, steps };
    /// arm.batch().rollout(rollout, &q, &qd, None, &mut q_out, &mut qd_out)?;
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn rollout(
        &mut self,
        rollout: Rollout,
        q: &[T],
        qd: &[T],
        tau: Option<&[T]>,
        q_out: &mut [T],
        qd_out: &mut [T],
    ) -> Result<()> {
        let course = Course::new(&self.mechanism, rollout, q, qd, tau, [q_out.len(), qd_out.len()])?;
        self.team.roll(&course, [q_out, qd_out], || T::engine(&self.mechanism))
    }
}

/// What is asked, and of which states.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a, T> {
    pub(super) rollout: Rollout,
    pub(super) states: usize,
    /// Numbers of q and of q̇ of all steps of a state.
    pub(super) sizes: [usize; 2],
    q: &'a [T],
    qd: &'a [T],
    tau: Option<&'a [T]>,
}

impl<'a, T: Real> Course<'a, T> {
    pub(super) fn new(
        mechanism: &Mechanism,
        rollout: Rollout,
        q: &'a [T],
        qd: &'a [T],
        tau: Option<&'a [T]>,
        [q_out, qd_out]: [usize; 2],
    ) -> Result<Self> {
        let (nq, nv, steps) = (mechanism.nq(), mechanism.nv(), rollout.steps);
        if !(rollout.dt > 0.0 && rollout.dt.is_finite()) {
            return Err(Error::Duration {
                argument: "dt",
                value: rollout.dt,
            });
        }
        let states = q.len().checked_div(nq).unwrap_or(0);
        check_states("q", q.len(), nq, states)?;
        check_states("qd", qd.len(), nv, states)?;
        // More than fits into memory is more than is given.
        let (all_q, all_v) = (nq.saturating_mul(steps), nv.saturating_mul(steps));
        if let Some(tau) = tau {
            check_states("tau", tau.len(), all_v, states)?;
        }
        check_states("q_out", q_out, all_q, states)?;
        check_states("qd_out", qd_out, all_v, states)?;
        Ok(Self {
            rollout,
            states,
            sizes: [all_q, all_v],
            q,
            qd,
            tau,
        })
    }
}

/// What each stage adds up of the rates before it, and the end of the step of them all.
const RUNGE_KUTTA_4: [&[f64]; 4] = [
    &[0.5],
    &[0.0, 0.5],
    &[0.0, 0.0, 1.0],
    &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
];

/// What moves states in a rollout.
pub(super) trait Drives<S: Lanes> {
    fn mechanism(&self) -> &Mechanism;
    /// q̈ under torques. Where some lane is not sound, `judge` is told what is wrong with each.
    fn accelerations(&mut self, q: &[S], v: &[S], tau: &[S], vd: &mut [S], judge: &mut Judge<'_>);
}

/// Is told what is wrong with the state in a lane.
pub(super) type Judge<'a> = dyn FnMut(&dyn Fn(usize) -> Result<()>) + 'a;

/// What a rollout needs beside the memory of an engine.
#[derive(Debug)]
pub(super) struct Rolling<S> {
    chart: Chart,
    /// u̇ and v̇ of every stage, in the coordinates u around the start of the step.
    ud: [Vec<S>; 4],
    vd: [Vec<S>; 4],
    /// The state of the present stage.
    u: Vec<S>,
    q: Vec<S>,
    v: Vec<S>,
    /// q, q̇, T and the results of one state, for narrower numbers that go through these.
    wide: [Vec<S>; 5],
}

impl<S: Scalar> Rolling<S> {
    pub(super) fn new(mechanism: &Mechanism) -> Self {
        let [nq, nv] = [mechanism.nq(), mechanism.nv()];
        let rates = || core::array::from_fn(|_| vec![S::ZERO; nv]);
        Self {
            chart: Chart::new(mechanism),
            ud: rates(),
            vd: rates(),
            u: vec![S::ZERO; nv],
            q: vec![S::ZERO; nq],
            v: vec![S::ZERO; nv],
            wide: Default::default(),
        }
    }

    /// One step of a state.
    #[inline(always)]
    fn step(
        &mut self,
        rollout: Rollout,
        q: &mut [S],
        v: &mut [S],
        mut accelerations: impl FnMut(&[S], &[S], &mut [S]),
    ) {
        let (r, h) = (self, S::lift(rollout.dt));
        accelerations(q, v, &mut r.vd[0]);
        match rollout.method {
            RolloutMethod::SemiImplicitEuler => {
                for ((r_v, v), vd) in r.v.iter_mut().zip(&*v).zip(&r.vd[0]) {
                    *r_v = *v + h * *vd;
                }
                for (u, v) in r.u.iter_mut().zip(&r.v) {
                    *u = *v * h;
                }
                r.chart.moved_along(q, &r.u, &mut r.q);
            }
            RolloutMethod::RungeKutta4 => {
                r.ud[0].copy_from_slice(v);
                for (i, weights) in RUNGE_KUTTA_4.into_iter().enumerate() {
                    if i > 0 {
                        accelerations(&r.q, &r.v, &mut r.vd[i]);
                        r.ud[i].copy_from_slice(&r.v);
                        // NaN where a joint has turned almost a circle in this step.
                        r.chart.rate_along(&r.u, &mut r.ud[i]);
                    }
                    r.advance(q, v, h, weights);
                }
            }
        }
        q.copy_from_slice(&r.q);
        v.copy_from_slice(&r.v);
    }

    /// The state after weighted rates of the first stages: u = h Σ w u̇ and v = v₀ + h Σ w v̇.
    #[inline(always)]
    fn advance(&mut self, q: &[S], v: &[S], h: S, weights: &[f64]) {
        self.u.fill(S::ZERO);
        self.v.fill(S::ZERO);
        for (i, w) in weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            let w = S::lift(*w);
            for (sum, x) in self.u.iter_mut().zip(&self.ud[i]) {
                *sum += w * *x;
            }
            for (sum, x) in self.v.iter_mut().zip(&self.vd[i]) {
                *sum += w * *x;
            }
        }
        for u in &mut self.u {
            *u = *u * h;
        }
        for (v, start) in self.v.iter_mut().zip(v) {
            *v = *start + h * *v;
        }
        self.chart.moved_along(q, &self.u, &mut self.q);
    }
}

/// A group's q, q̇ and torques in lanes, and memory for its steps.
pub(super) struct Held<'a, S> {
    pub(super) rolling: &'a mut Rolling<S>,
    pub(super) q: &'a mut [S],
    pub(super) v: &'a mut [S],
    pub(super) tau: &'a mut [S],
}

impl<T: Real> Course<'_, T> {
    /// Rolls as many states as there are lanes, or fewer at the end, from `first` on.
    pub(super) fn roll_group<S: Lanes<Element = T>>(
        &self,
        instructions: Instructions,
        drives: impl Drives<S>,
        held: Held<'_, S>,
        first: usize,
        [q_out, v_out]: [&mut [T]; 2],
        failures: &mut Failures,
    ) {
        let mechanism = drives.mechanism();
        let (nq, nv, steps) = (mechanism.nq(), mechanism.nv(), self.rollout.steps);
        let states = q_out.len() / self.sizes[0];
        let (q, v) = (part(self.q, nq, first, states), part(self.qd, nv, first, states));
        let mut lost = Lost::new(states, |state| {
            mechanism.check_configuration("q", part(q, nq, state, 1))?;
            mechanism.check_vector("qd", part(v, nv, state, 1))
        });
        load(Some(q), held.q);
        load(Some(v), held.v);
        held.tau.fill(S::ZERO);
        instructions.perform::<S, _>(Roll {
            drives,
            held,
            given: self.tau.map(|tau| part(tau, self.sizes[1], first, states)),
            rollout: self.rollout,
            outs: [&mut *q_out, &mut *v_out],
            lost: &mut lost,
        });
        lost.tell(first, steps, [nq, nv], [q_out, v_out], failures);
    }
}

impl<T: Real, S: Lanes<Element = T>> InLanes<S, Sweeps<S>> {
    pub(super) fn roll_all(&mut self, course: &Course<'_, T>, first: usize, outs: [&mut [T]; 2]) -> Failures {
        let (own, states) = (&mut self.states, outs[0].len() / course.sizes[0]);
        let instructions = own.workspace.instructions();
        let mechanism = own.workspace.mechanism();
        let rolling = self.kernel.rolling.get_or_insert_with(|| Rolling::new(mechanism));
        let [v, tau, ..] = &mut own.vectors[..] else {
            unreachable!("sweeps take three vectors")
        };
        in_groups(S::LANES, first, states, course.sizes, outs, |first, outs, failures| {
            let held = Held {
                rolling: &mut *rolling,
                q: &mut own.q,
                v,
                tau,
            };
            let drives = Torques(&mut own.workspace);
            course.roll_group(instructions, drives, held, first, outs, failures);
        })
    }
}

/// The steps of one group of states.
struct Roll<'a, S: Lanes + 'static, D> {
    drives: D,
    held: Held<'a, S>,
    given: Option<&'a [S::Element]>,
    rollout: Rollout,
    outs: [&'a mut [S::Element]; 2],
    lost: &'a mut Lost,
}

impl<S: Lanes, D: Drives<S>> Task for Roll<'_, S, D> {
    #[inline(always)]
    fn run(mut self) {
        let (nq, nv, steps) = (self.held.q.len(), self.held.v.len(), self.rollout.steps);
        for step in 0..steps {
            if let Some(tau) = self.given {
                S::load(&tau[step * nv..], steps * nv, self.held.tau);
                if surely_usable(self.held.tau) != S::ONE {
                    self.refuse_torques(tau, step);
                }
            }
            // Lost states stand still at rest.
            let Held { q, v, tau, .. } = &mut self.held;
            self.lost.stand_in(self.drives.mechanism(), q, |lane| {
                clear(v, lane);
                clear(tau, lane);
            });
            self.advance(step);
            let Held { q, v, .. } = &self.held;
            if surely_usable(q) * surely_usable(v) != S::ONE {
                self.lost.find(step, |lane| self.rollout.check_bounds(q, v, lane, step));
            }
            S::store(q, &mut self.outs[0][step * nq..], steps * nq);
            S::store(v, &mut self.outs[1][step * nv..], steps * nv);
        }
    }
}

impl<S: Lanes, D: Drives<S>> Roll<'_, S, D> {
    /// One step of all lanes.
    #[inline(always)]
    fn advance(&mut self, step: usize) {
        let (rollout, drives, lost) = (self.rollout, &mut self.drives, &mut *self.lost);
        let Held { rolling, q, v, tau } = &mut self.held;
        rolling.step(rollout, q, v, |q, v, vd| {
            drives.accelerations(q, v, tau, vd, &mut |problem| {
                // Out of bounds, nothing else can be judged.
                lost.find(step, |lane| {
                    rollout.check_bounds(q, v, lane, step)?;
                    problem(lane)
                });
            });
        });
    }

    /// Notes which states are given torques in this step that are no numbers, or too large.
    #[cold]
    fn refuse_torques(&mut self, tau: &[S::Element], step: usize) {
        let (mechanism, nv, steps) = (self.drives.mechanism(), self.held.v.len(), self.rollout.steps);
        self.lost.find(step, |state| {
            let torques = part(tau, nv, state * steps + step, 1);
            mechanism.check_vector("tau", torques).map_err(|mut problem| {
                // Torques are counted from the state's first step on.
                if let Error::NotFinite { index, .. } = &mut problem {
                    *index += step * nv;
                }
                problem
            })
        });
    }
}

impl Rollout {
    /// An error unless the state in a lane can be computed with.
    fn check_bounds<S: Lanes>(&self, q: &[S], v: &[S], lane: usize, step: usize) -> Result<()> {
        match is_bounded(q, v, lane) {
            true => Ok(()),
            false => Err(out_of_bounds(step as f64 * self.dt)),
        }
    }
}

/// Whether the state in a lane can be computed with.
fn is_bounded<S: Lanes>(q: &[S], v: &[S], lane: usize) -> bool {
    q.iter().chain(v).all(|x| all_usable(&[x.element(lane)]))
}

#[cold]
fn out_of_bounds(t: f64) -> Error {
    Error::Step {
        t,
        problem:
            "the state grows without bound, or a joint turns almost a whole circle in one step; take shorter steps"
                .into(),
    }
}

/// The mechanism under constant torques.
pub(super) struct Torques<'a, S: 'static>(pub(super) &'a mut Workspace<S>);

impl<S: Lanes> Drives<S> for Torques<'_, S> {
    #[inline(always)]
    fn mechanism(&self) -> &Mechanism {
        self.0.mechanism()
    }

    #[inline(always)]
    fn accelerations(&mut self, q: &[S], v: &[S], tau: &[S], vd: &mut [S], judge: &mut Judge<'_>) {
        let mut view = self.0.view_at(q, v);
        view.sweep::<forward::Forward>(tau, vd);
        view.refine(tau, vd);
        // Functions that couple joints may have no value: such mechanisms are taken one state at a time.
        if !view.pivots_are_sound() || !(S::LANES > 1 || view.mechanism.check_couplings(q).is_ok()) {
            // Pivots cannot be judged where a coupling has no value.
            judge(&|lane| {
                view.mechanism
                    .check_couplings(q)
                    .and_then(|()| view.check_pivots_of(lane))
            });
        }
    }
}

impl Through64<Sweeps<f64>> {
    pub(super) fn roll_one_by_one(
        &mut self,
        course: &Course<'_, f32>,
        first: usize,
        [q_out, qd_out]: [&mut [f32]; 2],
    ) -> Failures {
        let mechanism = &self.inner.states.workspace.mechanism().clone();
        let Rollout { steps, dt, .. } = course.rollout;
        let (nq, nv, [all_q, all_v]) = (mechanism.nq(), mechanism.nv(), course.sizes);
        let rolling = self.inner.kernel.rolling.get_or_insert_with(|| Rolling::new(mechanism));
        let mut wide = core::mem::take(&mut rolling.wide);
        let [q, qd, tau, q_wide, qd_wide] = &mut wide;
        q_wide.resize(all_q, 0.0);
        qd_wide.resize(all_v, 0.0);
        let states = q_out.len() / all_q;
        let failures = in_groups(
            1,
            first,
            states,
            course.sizes,
            [q_out, qd_out],
            |state, outs, failures| {
                let [q_out, qd_out] = outs;
                let (q_given, qd_given) = (part(course.q, nq, state, 1), part(course.qd, nv, state, 1));
                widen(q, q_given);
                widen(qd, qd_given);
                widen(tau, course.tau.map_or(&[][..], |tau| part(tau, all_v, state, 1)));
                let one = Course {
                    rollout: course.rollout,
                    states: 1,
                    sizes: course.sizes,
                    q: &q[..],
                    qd: &qd[..],
                    tau: course.tau.map(|_| &tau[..]),
                };
                let mut lost = Lost::new(1, |_| {
                    mechanism.check_configuration("q", q_given)?;
                    mechanism.check_vector("qd", qd_given)
                });
                let failed = self.inner.roll_all(&one, 0, [q_wide, qd_wide]).first;
                narrow(q_out, q_wide);
                narrow(qd_out, qd_wide);
                let fits = |step: usize| is_bounded(part(q_out, nq, step, 1), part(qd_out, nv, step, 1), 0);
                if let Some(step) = (0..steps).find(|&step| !fits(step)) {
                    let problem = failed.map_or_else(|| out_of_bounds(step as f64 * dt), |(_, problem)| problem);
                    lost.find(step, |_| Err(problem.clone()));
                }
                lost.tell(state, steps, [nq, nv], [q_out, qd_out], failures);
            },
        );
        self.inner
            .kernel
            .rolling
            .get_or_insert_with(|| Rolling::new(mechanism))
            .wide = wide;
        failures
    }
}
