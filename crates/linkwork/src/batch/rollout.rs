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
    pub method: Method,
    /// The length of a step, in seconds.
    pub dt: f64,
    /// How many.
    pub steps: usize,
}

/// How a step is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// As [`SemiImplicitEuler`](crate::simulate::SemiImplicitEuler) does it.
    SemiImplicitEuler,
    /// As [`RungeKutta4`](crate::simulate::RungeKutta4) does it.
    RungeKutta4,
}

impl<T: Real> Batch<'_, T> {
    /// Rolls states forward in time: `q_out` and `qd_out` receive, for each state, what every step ends in.
    ///
    /// `tau` holds torques, nv for every step of every state, constant within the step; without it there are none. As in
    /// [`Batch::forward_dynamics`] these are all that drives the joints: add damping and friction to them. A state that
    /// goes out of bounds does not spoil the others: it is NaN from that step on, and the error names it.
    ///
    /// ```
    /// use linkwork::batch::{Method, Rollout};
    /// let arm = linkwork::model::examples::arm7();
    /// let (states, steps) = (100, 50);
    /// let q: Vec<f64> = (0..states).flat_map(|i| arm.random(i)).collect();
    /// let qd = vec![0.0; 7 * 100];
    /// let (mut q_out, mut qd_out) = (vec![0.0; 7 * 100 * steps], vec![0.0; 7 * 100 * steps]);
    /// let rollout = Rollout { method: Method::RungeKutta4, dt: 1e-3, steps };
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
        let course = Course::new(self.mechanism, rollout, q, qd, tau, [q_out.len(), qd_out.len()])?;
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
    rollout: Rollout,
    states: usize,
    q: &'a [T],
    qd: &'a [T],
    tau: Option<&'a [T]>,
}

impl<'a, T: Real> Course<'a, T> {
    fn new(
        mechanism: &Mechanism,
        rollout: Rollout,
        q: &'a [T],
        qd: &'a [T],
        tau: Option<&'a [T]>,
        [q_out, qd_out]: [usize; 2],
    ) -> Result<Self> {
        let (nq, nv, steps) = (mechanism.nq(), mechanism.nv(), rollout.steps);
        if !rollout.dt.is_finite() {
            return Err(Error::Parameter {
                argument: "dt",
                value: rollout.dt,
            });
        }
        let states = q.len().checked_div(nq).unwrap_or(0);
        check_states("q", q.len(), nq, states)?;
        check_states("qd", qd.len(), nv, states)?;
        if let Some(tau) = tau {
            check_states("tau", tau.len(), nv * steps, states)?;
        }
        check_states("q_out", q_out, nq * steps, states)?;
        check_states("qd_out", qd_out, nv * steps, states)?;
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
}

impl<S: Scalar> Rolling<S> {
    fn new(mechanism: &Mechanism) -> Self {
        let [nq, nv] = [mechanism.nq(), mechanism.nv()];
        let rates = || core::array::from_fn(|_| vec![S::ZERO; nv]);
        Self {
            chart: Chart::new(mechanism),
            ud: rates(),
            vd: rates(),
            u: vec![S::ZERO; nv],
            q: vec![S::ZERO; nq],
            v: vec![S::ZERO; nv],
        }
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

impl<T: Real, S: Lanes<Element = T>> InLanes<'_, S> {
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
struct Roll<'a, 'm, S: Lanes + 'static> {
    rolling: &'a mut Rolling<S>,
    workspace: &'a mut Workspace<'m, S>,
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

impl<S: Lanes> Task for Roll<'_, '_, S> {
    #[inline(always)]
    fn run(mut self) {
        let (nq, nv, steps) = (self.q.len(), self.v.len(), self.rollout.steps);
        for step in 0..steps {
            self.leave_out_lost();
            if let Some(tau) = self.given {
                S::load(&tau[step * nv..], steps * nv, self.tau);
            }
            self.advance(step);
            self.find_lost(step);
            S::store(self.q, &mut self.q_out[step * nq..], steps * nq);
            S::store(self.v, &mut self.v_out[step * nv..], steps * nv);
        }
    }
}

impl<S: Lanes> Roll<'_, '_, S> {
    /// One step of all lanes.
    #[inline(always)]
    fn advance(&mut self, step: usize) {
        let Rollout { method, dt, .. } = self.rollout;
        let (r, h) = (&mut *self.rolling, S::lift(dt));
        let (q, v) = (&mut *self.q, &mut *self.v);
        let mut driven = Driven {
            workspace: self.workspace,
            tau: self.tau,
            step,
            lost: self.lost,
        };
        driven.accelerations(q, v, &mut r.vd[0]);
        match method {
            Method::SemiImplicitEuler => {
                for ((r_v, v), vd) in r.v.iter_mut().zip(&*v).zip(&r.vd[0]) {
                    *r_v = *v + h * *vd;
                }
                for (u, v) in r.u.iter_mut().zip(&r.v) {
                    *u = *v * h;
                }
                r.chart.moved_along(q, &r.u, &mut r.q);
            }
            Method::RungeKutta4 => {
                r.ud[0].copy_from_slice(v);
                for (i, weights) in RUNGE_KUTTA_4.into_iter().enumerate() {
                    if i > 0 {
                        driven.stage(r, i);
                    }
                    r.advance(q, v, h, weights);
                }
            }
        }
        q.copy_from_slice(&r.q);
        v.copy_from_slice(&r.v);
    }

    /// Notes which states have gone out of bounds.
    #[inline(always)]
    fn find_lost(&mut self, step: usize) {
        if surely_usable(self.q) * surely_usable(self.v) == S::ONE {
            return;
        }
        for (lane, lost) in self.lost.iter_mut().enumerate() {
            let usable = |x: &S| all_usable(&[x.element(lane)]);
            if lost.is_none() && !(self.q.iter().all(usable) && self.v.iter().all(usable)) {
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
            }
        }
    }
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
struct Driven<'a, 'm, S: 'static> {
    workspace: &'a mut Workspace<'m, S>,
    tau: &'a [S],
    step: usize,
    lost: &'a mut [Option<(usize, Error)>],
}

impl<S: Scalar> Driven<'_, '_, S> {
    /// The rates at the present state of a stage; NaN where a joint has turned almost a circle in this step.
    #[inline(always)]
    fn stage(&mut self, r: &mut Rolling<S>, i: usize) {
        self.accelerations(&r.q, &r.v, &mut r.vd[i]);
        r.ud[i].copy_from_slice(&r.v);
        r.chart.rate_along(&r.u, &mut r.ud[i]);
    }

    #[inline(always)]
    fn accelerations(&mut self, q: &[S], v: &[S], vd: &mut [S]) {
        let mut view = self.workspace.view_at(q, v);
        view.forward::<forward::Forward>(self.tau, vd);
        if !view.pivots_are_sound() {
            for (lane, lost) in self.lost.iter_mut().enumerate() {
                if let (None, Err(problem)) = (&lost, view.check_pivots_of(lane)) {
                    *lost = Some((self.step, problem));
                }
            }
        }
    }
}

impl Through64<'_> {
    pub(super) fn roll_one_by_one(
        &mut self,
        course: &Course<'_, f32>,
        first: usize,
        q_out: &mut [f32],
        qd_out: &mut [f32],
    ) -> Failures {
        let mechanism = self.inner.workspace.mechanism();
        let (nq, nv, steps) = (mechanism.nq(), mechanism.nv(), course.rollout.steps);
        let wide = |x: &[f32]| -> Vec<f64> { x.iter().map(|x| f64::from(*x)).collect() };
        let mut failures = Failures::default();
        let outs = q_out.chunks_mut(nq * steps).zip(qd_out.chunks_mut(nv * steps));
        for (i, (q_out, qd_out)) in outs.enumerate() {
            let (q, qd) = (part(course.q, nq, first + i, 1), part(course.qd, nv, first + i, 1));
            let tau = course.tau.map(|tau| wide(part(tau, nv * steps, first + i, 1)));
            let one = Course {
                rollout: course.rollout,
                states: 1,
                q: &wide(q),
                qd: &wide(qd),
                tau: tau.as_deref(),
            };
            let (mut q_wide, mut qd_wide) = (wide(q_out), wide(qd_out));
            if let Some((_, problem)) = self.inner.roll_all(&one, 0, &mut q_wide, &mut qd_wide).first {
                failures.add(first + i, problem);
            }
            let narrow = |to: &mut [f32], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, x)| *to = *x as f32);
            narrow(q_out, &q_wide);
            narrow(qd_out, &qd_wide);
        }
        failures
    }
}
