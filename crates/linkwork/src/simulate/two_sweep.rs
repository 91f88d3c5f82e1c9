//! Time stepping with one inward and one outward sweep per step.  (JR, Algorithm 8.1)

use super::{Diagonalized, Drive, Equations, Integrator, RungeKutta4, State, at_time, check};
use crate::{Mechanism, Result};

/// Adams–Bashforth steps of second order for [`Diagonalized`] equations, each of two sweeps and no more.
///
/// The rate of ξ depends on q̇, and q̇ on ξ through the G that the same inward sweep makes; so the inward sweep, which gives
/// P, D, G, Ṗ and ξ̇, takes q̇ and V extrapolated from the last two steps, and the outward sweep then gives those that belong
/// to (q, ξ). Extrapolation errs by h² in a rate, which leaves a method of second order. Steps of another length, and the first
/// two, start it afresh.
#[derive(Clone, Debug)]
pub struct TwoSweep {
    starter: RungeKutta4,
    /// How many steps of the present length are remembered, up to two.
    known: usize,
    h: f64,
    /// ξ̇, q̇ and V of this step and of the two before it.
    now: Vec<f64>,
    last: Vec<f64>,
    before: Vec<f64>,
    /// ξ, q̇, T and V, as the sweeps take them.
    input: Vec<f64>,
    state: State,
    expected: State,
    step: Vec<f64>,
}

impl TwoSweep {
    /// Memory for one mechanism.
    pub fn new(mechanism: &Mechanism) -> Self {
        let (nv, links) = (mechanism.nv(), mechanism.compiled.bodies.len());
        let results = vec![0.0; 2 * nv + 6 * links];
        let state = State {
            t: f64::NAN,
            q: vec![0.0; mechanism.nq()],
            v: vec![0.0; nv],
        };
        Self {
            starter: RungeKutta4::new(mechanism),
            known: 0,
            h: f64::NAN,
            now: results.clone(),
            last: results.clone(),
            before: results,
            input: vec![0.0; 3 * nv + 6 * links],
            expected: state.clone(),
            state,
            step: vec![0.0; nv],
        }
    }

    /// Advances the state by `h` seconds. After an error the state is as it was.
    pub fn step<D: Drive>(&mut self, equations: &mut Diagonalized<'_, D>, state: &mut State, h: f64) -> Result<()> {
        check(equations.mechanism(), state, h)?;
        // A state that no step of this run ended in has no past.
        if h != self.h || *state != self.expected {
            self.known = 0;
            self.h = h;
        }
        self.evaluate(equations, state).map_err(|e| at_time(state.t, e))?;
        self.state.clone_from(state);
        if self.known == 0 {
            self.starter.step(equations, &mut self.state, h)?;
        } else {
            let nv = state.v.len();
            let mixed = |i: usize| h * (1.5 * self.now[i] - 0.5 * self.last[i]);
            for i in 0..nv {
                self.state.v[i] += mixed(i);
                self.step[i] = mixed(nv + i);
            }
            equations
                .mechanism()
                .integrate(&state.q, &self.step, &mut self.state.q)?;
            self.state.t += h;
        }
        core::mem::swap(&mut self.before, &mut self.last);
        core::mem::swap(&mut self.last, &mut self.now);
        self.known = (self.known + 1).min(2);
        state.clone_from(&self.state);
        self.expected.clone_from(state);
        Ok(())
    }

    /// ξ̇, q̇ and V at a state.
    fn evaluate<D: Drive>(&mut self, equations: &mut Diagonalized<'_, D>, state: &State) -> Result<()> {
        let nv = state.v.len();
        if self.known < 2 {
            let (vd, rest) = self.now.split_at_mut(nv);
            let (qd, velocities) = rest.split_at_mut(nv);
            equations.rates(state.t, &state.q, &state.v, qd, vd)?;
            return equations.link_velocities(&state.q, &state.v, velocities);
        }
        let (predicted, links) = self.input.split_at_mut(3 * nv);
        let extrapolate = |i: usize| 2.0 * self.last[i] - self.before[i];
        predicted[..nv].copy_from_slice(&state.v);
        for i in 0..nv {
            predicted[nv + i] = extrapolate(nv + i);
        }
        for (i, v) in links.iter_mut().enumerate() {
            *v = extrapolate(2 * nv + i);
        }
        equations.two_sweeps(state.t, &state.q, &mut self.input, &mut self.now)
    }
}
