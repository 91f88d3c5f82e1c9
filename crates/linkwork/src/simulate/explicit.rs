//! Explicit methods with steps of a given length.

use super::chart::Chart;
use super::{Equations, Integrator, State, at_time, check, too_far};
use crate::{Mechanism, Result};

/// First order and cheap, and energy stays near its value: v ← v + h v̇(q, v), then q ← q ⊕ h q̇(q, v).
#[derive(Clone, Debug)]
pub struct SemiImplicitEuler {
    chart: Chart,
    qd: Vec<f64>,
    vd: Vec<f64>,
    q: Vec<f64>,
}

impl SemiImplicitEuler {
    /// Memory for one mechanism.
    pub fn new(mechanism: &Mechanism) -> Self {
        Self {
            chart: Chart::new(mechanism),
            qd: vec![0.0; mechanism.nv()],
            vd: vec![0.0; mechanism.nv()],
            q: vec![0.0; mechanism.nq()],
        }
    }
}

impl Integrator for SemiImplicitEuler {
    fn step(&mut self, equations: &mut impl Equations, state: &mut State, h: f64) -> Result<()> {
        check(equations.mechanism(), state, h)?;
        let (qd, vd) = (&mut self.qd[..], &mut self.vd[..]);
        let failed = |e| at_time(state.t, e);
        equations.rates(state.t, &state.q, &state.v, qd, vd).map_err(failed)?;
        vd.iter_mut().zip(&state.v).for_each(|(vd, v)| *vd = v + h * *vd);
        equations.velocities(&state.q, vd, qd).map_err(failed)?;
        qd.iter_mut().for_each(|u| *u *= h);
        self.chart.moved(&state.q, qd, &mut self.q);
        equations.settle(state.t + h, &mut self.q, vd).map_err(failed)?;
        state.q.copy_from_slice(&self.q);
        state.v.copy_from_slice(vd);
        state.t += h;
        Ok(())
    }
}

/// The classical Runge–Kutta method of order four, on the manifold as by Munthe-Kaas (1998).
#[derive(Clone, Debug)]
pub struct RungeKutta4 {
    stages: Stages<4>,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl RungeKutta4 {
    /// Memory for one mechanism.
    pub fn new(mechanism: &Mechanism) -> Self {
        Self {
            stages: Stages::new(mechanism),
            q: vec![0.0; mechanism.nq()],
            v: vec![0.0; mechanism.nv()],
        }
    }
}

impl Integrator for RungeKutta4 {
    fn step(&mut self, equations: &mut impl Equations, state: &mut State, h: f64) -> Result<()> {
        check(equations.mechanism(), state, h)?;
        let stages = &mut self.stages;
        stages.first(equations, state)?;
        stages.stage::<1>(equations, state, h, 0.5, [0.5])?;
        stages.stage::<2>(equations, state, h, 0.5, [0.0, 0.5])?;
        stages.stage::<3>(equations, state, h, 1.0, [0.0, 0.0, 1.0])?;
        let (sixth, third) = (1.0 / 6.0, 1.0 / 3.0);
        stages.mix::<4>(&state.v, h, [sixth, third, third, sixth]);
        let (q, v) = (&mut self.q[..], &mut self.v[..]);
        stages.chart.moved(&state.q, &stages.u, q);
        v.copy_from_slice(&stages.v);
        let failed = |e| at_time(state.t, e);
        equations.settle(state.t + h, q, v).map_err(failed)?;
        state.q.copy_from_slice(q);
        state.v.copy_from_slice(v);
        state.t += h;
        Ok(())
    }
}

/// The stages of an explicit Runge–Kutta method in the coordinates u around the start of a step.
#[derive(Clone, Debug)]
pub(super) struct Stages<const N: usize> {
    pub(super) chart: Chart,
    /// u̇ of every stage.
    pub(super) ud: [Vec<f64>; N],
    /// dv/dt of every stage.
    pub(super) vd: [Vec<f64>; N],
    /// The state of the present stage.
    pub(super) u: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
}

impl<const N: usize> Stages<N> {
    pub(super) fn new(mechanism: &Mechanism) -> Self {
        let rates = || core::array::from_fn(|_| vec![0.0; mechanism.nv()]);
        Self {
            chart: Chart::new(mechanism),
            ud: rates(),
            vd: rates(),
            u: vec![0.0; mechanism.nv()],
            q: vec![0.0; mechanism.nq()],
            v: vec![0.0; mechanism.nv()],
        }
    }

    /// The rates at the start.
    pub(super) fn first(&mut self, equations: &mut impl Equations, state: &State) -> Result<()> {
        let rates = equations.rates(state.t, &state.q, &state.v, &mut self.ud[0], &mut self.vd[0]);
        rates.map_err(|e| at_time(state.t, e))
    }

    /// The rates at stage `I`, `c` h after the start, for the weights of the stages before.
    #[inline(always)]
    pub(super) fn stage<const I: usize>(
        &mut self,
        equations: &mut impl Equations,
        state: &State,
        h: f64,
        c: f64,
        weights: [f64; I],
    ) -> Result<()> {
        self.mix(&state.v, h, weights);
        self.chart.moved(&state.q, &self.u, &mut self.q);
        let rates = equations.rates(state.t + c * h, &self.q, &self.v, &mut self.ud[I], &mut self.vd[I]);
        rates.map_err(|e| at_time(state.t, e))?;
        if self.chart.rate(&self.u, &mut self.ud[I]) {
            Ok(())
        } else {
            Err(too_far(state.t))
        }
    }

    /// u = h Σ w u̇ and v = v₀ + h Σ w v̇ over the first stages.
    #[inline(always)]
    pub(super) fn mix<const I: usize>(&mut self, v0: &[f64], h: f64, weights: [f64; I]) {
        self.mix_configuration(h, &weights);
        self.mix_velocity(v0, h, &weights);
    }

    /// u = h Σ w u̇.
    #[inline(always)]
    pub(super) fn mix_configuration(&mut self, h: f64, weights: &[f64]) {
        sum(&mut self.u, weights, &self.ud);
        self.u.iter_mut().for_each(|u| *u *= h);
    }

    /// v = v₀ + h Σ w v̇.
    #[inline(always)]
    pub(super) fn mix_velocity(&mut self, v0: &[f64], h: f64, weights: &[f64]) {
        sum(&mut self.v, weights, &self.vd);
        self.v.iter_mut().zip(v0).for_each(|(v, v0)| *v = v0 + h * *v);
    }
}

/// Σ w x over as many as there are weights.
#[inline(always)]
fn sum(out: &mut [f64], weights: &[f64], x: &[Vec<f64>]) {
    out.fill(0.0);
    for (w, x) in weights.iter().zip(x).filter(|(w, _)| **w != 0.0) {
        out.iter_mut().zip(x).for_each(|(out, x)| *out += w * x);
    }
}
