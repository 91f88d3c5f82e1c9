//! Explicit methods with steps of a given length.

use super::chart::Chart;
use super::{Equations, Integrator, State, at_time, check_step, settled, too_far};
use crate::{Mechanism, Result};

/// First order and cheap, and energy stays near its value: v ← v + h v̇(q, v), then q ← q ⊕ h q̇(q, v).
///
/// ```
/// use linkwork::simulate::{Dynamics, Integrator, SemiImplicitEuler, State};
/// let robot = linkwork::model::examples::double_pendulum();
/// let mut equations = Dynamics::new(&robot, ())?; // no torques
/// let (mut state, mut integrator) = (State::at_rest(&robot, &[0.3, 0.0]), SemiImplicitEuler::new(&robot));
/// for _ in 0..1000 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// assert!((state.t - 1.0).abs() < 1e-9);
/// # Ok::<(), linkwork::Error>(())
/// ```
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
        check_step(h)?;
        self.chart.check(equations, state)?;
        let (qd, vd) = (&mut self.qd[..], &mut self.vd[..]);
        let failed = |e| at_time(state.t, e);
        equations.rates(state.t, &state.q, &state.v, qd, vd).map_err(failed)?;
        vd.iter_mut().zip(&state.v).for_each(|(vd, v)| *vd = v + h * *vd);
        equations.velocities(&state.q, vd, qd).map_err(failed)?;
        qd.iter_mut().for_each(|u| *u *= h);
        self.chart.moved(&state.q, qd, &mut self.q);
        settled(equations, [state.t, state.t + h], &mut self.q, vd)?;
        state.q.copy_from_slice(&self.q);
        state.v.copy_from_slice(vd);
        state.t += h;
        Ok(())
    }
}

/// The classical Runge–Kutta method of order four, on the manifold as by Munthe-Kaas (1998).
///
/// ```
/// use linkwork::simulate::{Dynamics, Integrator, RungeKutta4, State};
/// let robot = linkwork::model::examples::double_pendulum();
/// let mut equations = Dynamics::new(&robot, ())?; // no torques
/// let (mut state, mut integrator) = (State::at_rest(&robot, &[1.5, 0.0]), RungeKutta4::new(&robot));
/// let energy = |state: &State| {
///     let mut workspace = robot.workspace();
///     let mut posed = workspace.at(&state.q)?;
///     let potential = posed.potential_energy();
///     Ok::<f64, linkwork::Error>(posed.moving(&state.v)?.kinetic_energy() + potential)
/// };
/// let before = energy(&state)?;
/// for _ in 0..100 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// assert!((energy(&state)? - before).abs() < 1e-8);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RungeKutta4 {
    stages: Stages<4>,
}

impl RungeKutta4 {
    /// Memory for one mechanism.
    pub fn new(mechanism: &Mechanism) -> Self {
        Self {
            stages: Stages::new(mechanism),
        }
    }
}

impl Integrator for RungeKutta4 {
    fn step(&mut self, equations: &mut impl Equations, state: &mut State, h: f64) -> Result<()> {
        check_step(h)?;
        self.stages.chart.check(equations, state)?;
        let (s, sixth, third) = (&mut self.stages, 1.0 / 6.0, 1.0 / 3.0);
        s.q.copy_from_slice(&state.q);
        s.v.copy_from_slice(&state.v);
        s.stage(equations, state, h, 0.0, [0.5])?;
        s.stage(equations, state, h, 0.5, [0.0, 0.5])?;
        s.stage(equations, state, h, 0.5, [0.0, 0.0, 1.0])?;
        s.stage(equations, state, h, 1.0, [sixth, third, third, sixth])?;
        settled(equations, [state.t, state.t + h], &mut s.q, &mut s.v)?;
        state.q.copy_from_slice(&s.q);
        state.v.copy_from_slice(&s.v);
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
    /// The configuration of the next one.
    next: Vec<f64>,
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
            next: vec![0.0; mechanism.nq()],
        }
    }

    /// The rates at the start.
    pub(super) fn first(&mut self, equations: &mut impl Equations, state: &State) -> Result<()> {
        let rates = equations.rates(state.t, &state.q, &state.v, &mut self.ud[0], &mut self.vd[0]);
        rates.map_err(|e| at_time(state.t, e))
    }

    /// The rates at the last of `I` stages, `c` h after the start; then the state of the next one, for its weights of these.
    #[inline(always)]
    pub(super) fn stage<const I: usize>(
        &mut self,
        equations: &mut impl Equations,
        state: &State,
        h: f64,
        c: f64,
        weights: [f64; I],
    ) -> Result<()> {
        let (chart, u, next) = (&self.chart, &mut self.u, &mut self.next);
        let (before, own) = self.ud.split_at_mut(I - 1);
        let onward = move |qd: &mut [f64]| {
            if I > 1 && !chart.rate(u, qd) {
                return Err(too_far(state.t));
            }
            u.fill(0.0);
            for (w, ud) in weights.iter().zip(before.iter().map(|ud| &ud[..]).chain([&*qd])) {
                add(u, *w, ud);
            }
            u.iter_mut().for_each(|u| *u *= h);
            let there = next;
            chart.moved(&state.q, u, there);
            Ok(&there[..])
        };
        let rates = equations.rates_onward(
            state.t + c * h,
            &self.q,
            &self.v,
            &mut own[0],
            &mut self.vd[I - 1],
            onward,
        );
        rates.map_err(|e| at_time(state.t, e))?;
        self.mix_velocity(&state.v, h, weights);
        core::mem::swap(&mut self.q, &mut self.next);
        Ok(())
    }

    /// The state of the second stage from the rates at the start.
    pub(super) fn second(&mut self, state: &State, h: f64, weight: f64) {
        self.u.fill(0.0);
        add(&mut self.u, weight, &self.ud[0]);
        self.u.iter_mut().for_each(|u| *u *= h);
        self.chart.moved(&state.q, &self.u, &mut self.q);
        self.mix_velocity(&state.v, h, [weight]);
    }

    /// v = v₀ + h Σ w v̇ over the first stages.
    #[inline(always)]
    fn mix_velocity<const I: usize>(&mut self, v0: &[f64], h: f64, weights: [f64; I]) {
        self.v.fill(0.0);
        for (w, vd) in weights.into_iter().zip(&self.vd) {
            add(&mut self.v, w, vd);
        }
        self.v.iter_mut().zip(v0).for_each(|(v, v0)| *v = v0 + h * *v);
    }
}

/// `sum` += w x.
#[inline(always)]
fn add(sum: &mut [f64], w: f64, x: &[f64]) {
    if w != 0.0 {
        sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += w * x);
    }
}
