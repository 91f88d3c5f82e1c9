//! Many states rolled forward in time together.

use super::engine::{Failures, InLanes, MOST_LANES, Real, Through64, part, replace};
use super::{Batch, check_states, share};
use crate::dynamics::forward;
use crate::model::{Mechanism, all_usable, surely_usable};
use crate::scalar::Scalar;
use crate::simd::{Lanes, Task};
use crate::simulate::chart::Chart;
use crate::workspace::Workspace;
use crate::{Error, Result};
use rayon::prelude::*;

/// How states are rolled forward: `steps` steps of `dt` seconds each.
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
        let (states, steps) = (course.states, rollout.steps);
        if states * steps == 0 {
            return Ok(());
        }
        let (nq, nv) = (self.mechanism.nq(), self.mechanism.nv());
        let engines = self.engines(states);
        let block = share(states, engines.len());
        let q_parts = q_out.par_chunks_mut(block * steps * nq);
        let qd_parts = qd_out.par_chunks_mut(block * steps * nv);
        let failures = match engines {
            [engine] => engine.roll(&course, 0, q_out, qd_out),
            engines => engines
                .par_iter_mut()
                .zip(q_parts)
                .zip(qd_parts)
                .enumerate()
                .map(|(i, ((engine, q_out), qd_out))| engine.roll(&course, i * block, q_out, qd_out))
                .reduce(Failures::default, Failures::and),
        };
        failures.into_result(states)
    }
}

/// What is asked, and of which states.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a, T> {
    pub(super) rollout: Rollout,
    pub(super) states: usize,
    pub(super) q: &'a [T],
    pub(super) qd: &'a [T],
    pub(super) tau: Option<&'a [T]>,
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

/// What drives states in a rollout.
pub(super) trait Accelerates<S> {
    /// q̈ of a state.
    fn accelerations(&mut self, q: &[S], v: &[S], vd: &mut [S]);
}

/// What a rollout needs beside the memory of an engine.
#[derive(Debug)]
pub(super) struct Rolling<S> {
    pub(super) chart: Chart,
    /// u̇ and v̇ of every stage, in the coordinates u around the start of the step.
    pub(super) ud: [Vec<S>; 4],
    pub(super) vd: [Vec<S>; 4],
    /// The state of the present stage.
    u: Vec<S>,
    pub(super) q: Vec<S>,
    pub(super) v: Vec<S>,
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
    pub(super) fn step(&mut self, rollout: Rollout, q: &mut [S], v: &mut [S], driven: &mut impl Accelerates<S>) {
        let (r, h) = (self, S::lift(rollout.dt));
        driven.accelerations(q, v, &mut r.vd[0]);
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
                        driven.accelerations(&r.q, &r.v, &mut r.vd[i]);
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

impl<T: Real, S: Lanes<Element = T>> InLanes<S> {
    pub(super) fn roll_all(
        &mut self,
        course: &Course<'_, T>,
        first: usize,
        q_out: &mut [T],
        qd_out: &mut [T],
    ) -> Failures {
        let mechanism = self.workspace.mechanism();
        let (nq, nv, steps) = (mechanism.nq(), mechanism.nv(), course.rollout.steps);
        let mut failures = Failures::default();
        let groups = q_out
            .chunks_mut(S::LANES * nq * steps)
            .zip(qd_out.chunks_mut(S::LANES * nv * steps));
        for (i, (q_out, qd_out)) in groups.enumerate() {
            self.roll_group(course, first + i * S::LANES, q_out, qd_out, &mut failures);
        }
        failures
    }

    fn roll_group(
        &mut self,
        course: &Course<'_, T>,
        first: usize,
        q_out: &mut [T],
        qd_out: &mut [T],
        failures: &mut Failures,
    ) {
        let mechanism = self.workspace.mechanism();
        let (nq, nv, steps) = (mechanism.nq(), mechanism.nv(), course.rollout.steps);
        let states = q_out.len() / (nq * steps);
        let (q, qd) = (part(course.q, nq, first, states), part(course.qd, nv, first, states));
        let mut lost: [Option<(usize, Error)>; MOST_LANES] = core::array::from_fn(|_| None);
        for (state, lost) in lost.iter_mut().enumerate().take(states) {
            let sound = mechanism.check_configuration("q", part(q, nq, state, 1));
            let sound = sound.and_then(|()| mechanism.check_vector("qd", part(qd, nv, state, 1)));
            *lost = sound.err().map(|problem| (0, problem));
        }
        S::load(q, nq, &mut self.q);
        S::load(qd, nv, &mut self.qd);
        self.input.fill(S::ZERO);
        let instructions = self.workspace.instructions();
        instructions.perform::<S, _>(Roll {
            rolling: self.rolling.get_or_insert_with(|| Rolling::new(mechanism)),
            workspace: &mut self.workspace,
            q: &mut self.q,
            v: &mut self.qd,
            tau: &mut self.input,
            given: course.tau.map(|tau| part(tau, nv * steps, first, states)),
            rollout: course.rollout,
            q_out,
            v_out: qd_out,
            lost: &mut lost[..states],
        });
        for (lane, lost) in lost.into_iter().enumerate() {
            if let Some((step, problem)) = lost {
                q_out[(lane * steps + step) * nq..(lane + 1) * steps * nq].fill(T::lift(f64::NAN));
                qd_out[(lane * steps + step) * nv..(lane + 1) * steps * nv].fill(T::lift(f64::NAN));
                failures.add(first + lane, problem);
            }
        }
    }
}

/// The steps of one group of states.
struct Roll<'a, S: Lanes + 'static> {
    rolling: &'a mut Rolling<S>,
    workspace: &'a mut Workspace<S>,
    q: &'a mut [S],
    v: &'a mut [S],
    tau: &'a mut [S],
    given: Option<&'a [S::Element]>,
    rollout: Rollout,
    q_out: &'a mut [S::Element],
    v_out: &'a mut [S::Element],
    /// The states that were lost, and in which step.
    lost: &'a mut [Option<(usize, Error)>],
}

impl<S: Lanes> Task for Roll<'_, S> {
    #[inline(always)]
    fn run(mut self) {
        let (nq, nv, steps) = (self.q.len(), self.v.len(), self.rollout.steps);
        for step in 0..steps {
            if let Some(tau) = self.given {
                S::load(&tau[step * nv..], steps * nv, self.tau);
                if surely_usable(self.tau) != S::ONE {
                    self.refuse_torques(tau, step);
                }
            }
            self.leave_out_lost();
            self.advance(step);
            self.find_lost(step);
            S::store(self.q, &mut self.q_out[step * nq..], steps * nq);
            S::store(self.v, &mut self.v_out[step * nv..], steps * nv);
        }
    }
}

impl<S: Lanes> Roll<'_, S> {
    /// One step of all lanes.
    #[inline(always)]
    fn advance(&mut self, step: usize) {
        let mut driven = Driven {
            workspace: self.workspace,
            tau: self.tau,
            step,
            t: step as f64 * self.rollout.dt,
            lost: self.lost,
        };
        self.rolling.step(self.rollout, self.q, self.v, &mut driven);
    }

    /// Notes which states are given torques in this step that are no numbers, or too large.
    #[cold]
    fn refuse_torques(&mut self, tau: &[S::Element], step: usize) {
        let (mechanism, nv) = (self.workspace.mechanism(), self.v.len());
        for (state, lost) in self.lost.iter_mut().enumerate().filter(|(_, lost)| lost.is_none()) {
            let torques = part(tau, nv, state * self.rollout.steps + step, 1);
            *lost = mechanism.check_vector("tau", torques).err().map(|mut problem| {
                // Torques are counted from the state's first step on.
                if let Error::NotFinite { index, .. } = &mut problem {
                    *index += step * nv;
                }
                (step, problem)
            });
        }
    }

    /// Notes which states have gone out of bounds.
    #[inline(always)]
    fn find_lost(&mut self, step: usize) {
        if surely_usable(self.q) * surely_usable(self.v) == S::ONE {
            return;
        }
        for (lane, lost) in self.lost.iter_mut().enumerate() {
            if lost.is_none() && !is_bounded(self.q, self.v, lane) {
                *lost = Some((step, out_of_bounds(step as f64 * self.rollout.dt)));
            }
        }
    }

    /// Lost states stand still at rest; whoever stands in the lanes left over follows the last state.
    #[inline(always)]
    fn leave_out_lost(&mut self) {
        let last = self.lost.len() - 1;
        for lane in 0..S::LANES {
            if self.lost[lane.min(last)].is_some() {
                replace(self.q, lane, &self.workspace.mechanism().neutral());
                replace(self.v, lane, &[]);
                replace(self.tau, lane, &[]);
            }
        }
    }
}

/// Whether the state in a lane can be computed with.
pub(super) fn is_bounded<S: Lanes>(q: &[S], v: &[S], lane: usize) -> bool {
    q.iter().chain(v).all(|x| all_usable(&[x.element(lane)]))
}

#[cold]
pub(super) fn out_of_bounds(t: f64) -> Error {
    Error::Step {
        t,
        problem:
            "the state grows without bound, or a joint turns almost a whole circle in one step; take shorter steps"
                .into(),
    }
}

/// The mechanism under constant torques.
struct Driven<'a, S: 'static> {
    workspace: &'a mut Workspace<S>,
    tau: &'a [S],
    step: usize,
    t: f64,
    lost: &'a mut [Option<(usize, Error)>],
}

impl<S: Lanes> Accelerates<S> for Driven<'_, S> {
    #[inline(always)]
    fn accelerations(&mut self, q: &[S], v: &[S], vd: &mut [S]) {
        let mut view = self.workspace.view_at(q, v);
        let mechanism = view.mechanism;
        view.forward::<forward::Forward>(self.tau, vd);
        // Functions that couple joints may have no value: such mechanisms are taken one state at a time.
        if view.pivots_are_sound() && (S::LANES > 1 || mechanism.check_couplings(q).is_ok()) {
            return;
        }
        for (lane, lost) in self.lost.iter_mut().enumerate().filter(|(_, lost)| lost.is_none()) {
            // Out of bounds, nothing else can be judged; nor can pivots where a coupling has no value.
            let problem = if is_bounded(q, v, lane) {
                let defined = mechanism.check_couplings(q);
                defined.and_then(|()| view.check_pivots_of(lane)).err()
            } else {
                Some(out_of_bounds(self.t))
            };
            *lost = problem.map(|problem| (self.step, problem));
        }
    }
}

impl Through64 {
    pub(super) fn roll_one_by_one(
        &mut self,
        course: &Course<'_, f32>,
        first: usize,
        q_out: &mut [f32],
        qd_out: &mut [f32],
    ) -> Failures {
        let mechanism = &self.inner.workspace.mechanism().clone();
        let Rollout { steps, dt, .. } = course.rollout;
        let (nq, nv) = (mechanism.nq(), mechanism.nv());
        let rolling = self.inner.rolling.get_or_insert_with(|| Rolling::new(mechanism));
        let mut wide = core::mem::take(&mut rolling.wide);
        let [q, qd, tau, q_wide, qd_wide] = &mut wide;
        q_wide.resize(nq * steps, 0.0);
        qd_wide.resize(nv * steps, 0.0);
        let mut failures = Failures::default();
        let outs = q_out.chunks_mut(nq * steps).zip(qd_out.chunks_mut(nv * steps));
        for (state, (q_out, qd_out)) in (first..).zip(outs) {
            let (q_given, qd_given) = (part(course.q, nq, state, 1), part(course.qd, nv, state, 1));
            let tau_given = course.tau.map_or(&[][..], |tau| part(tau, nv * steps, state, 1));
            for (wide, narrow) in [(&mut *q, q_given), (&mut *qd, qd_given), (&mut *tau, tau_given)] {
                wide.clear();
                wide.extend(narrow.iter().map(|x| f64::from(*x)));
            }
            let one = Course {
                rollout: course.rollout,
                states: 1,
                q,
                qd,
                tau: course.tau.map(|_| &tau[..]),
            };
            let sound = mechanism.check_configuration("q", q_given);
            let lost = match sound.and_then(|()| mechanism.check_vector("qd", qd_given)) {
                Err(problem) => Some((0, problem)),
                Ok(()) => {
                    let failed = self.inner.roll_all(&one, 0, q_wide, qd_wide).first;
                    let results = q_out.iter_mut().zip(&*q_wide).chain(qd_out.iter_mut().zip(&*qd_wide));
                    results.for_each(|(narrow, wide)| *narrow = *wide as f32);
                    let fits = |step: usize| is_bounded(part(q_out, nq, step, 1), part(qd_out, nv, step, 1), 0);
                    let step = (0..steps).find(|&step| !fits(step));
                    let problem = |step: usize| failed.map_or_else(|| out_of_bounds(step as f64 * dt), |(_, p)| p);
                    step.map(|step| (step, problem(step)))
                }
            };
            if let Some((step, problem)) = lost {
                q_out[step * nq..].fill(f32::NAN);
                qd_out[step * nv..].fill(f32::NAN);
                failures.add(state, problem);
            }
        }
        self.inner.rolling.get_or_insert_with(|| Rolling::new(mechanism)).wide = wide;
        failures
    }
}
