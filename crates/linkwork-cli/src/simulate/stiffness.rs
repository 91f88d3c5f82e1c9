//! Whether steps of a length are short enough, found before the run.
//!
//! Damping, springs and gains over the inertia that they act on are rates, and an explicit method bears rates up to some
//! number per step. The poles of the equations at a few states, the controller included, tell them all.

use super::stepping::Method;
use linkwork::Result;
use linkwork::simulate::{Equations, State};
use linkwork::state_space::{Pole, StateSpace};

/// More degrees of freedom than this are judged by their fastest decay alone.
pub(super) const MOST: usize = 120;

/// What is too fast for a step.
pub(crate) struct Stiff {
    /// The joint that shows it most.
    pub(crate) joint: String,
    /// Its rate, in 1/s.
    pub(crate) rate: f64,
    /// The longest step that would do, in seconds.
    pub(crate) longest: f64,
}

/// Whether steps of a method follow what dies out or rings at a pole.
fn bears(method: Method, pole: Pole, h: f64) -> bool {
    let (x, y) = (h * pole.re, h * pole.im);
    match method {
        Method::Midpoint | Method::Adaptive => true,
        // What grows by itself is no fault of the step.
        _ if x > 0.0 => true,
        Method::Euler => x.hypot(y) < 2.0,
        Method::Rk4 => {
            // 1 + z + z²/2 + z³/6 + z⁴/24.
            let times = |(a, b): (f64, f64)| (a * x - b * y, a * y + b * x);
            let (mut sum, mut term) = ((1.0, 0.0), (1.0, 0.0));
            for k in 1..=4 {
                term = times(term);
                term = (term.0 / f64::from(k), term.1 / f64::from(k));
                sum = (sum.0 + term.0, sum.1 + term.1);
            }
            sum.0.hypot(sum.1) <= 1.0 + 1e-9
        }
    }
}

/// What at these states is too fast for steps of this length, if anything is.
pub(crate) fn find(equations: &mut impl Equations, states: &[State], method: Method, h: f64) -> Result<Option<Stiff>> {
    let mut worst: Option<Stiff> = None;
    for state in states {
        let Ok((poles, dof)) = poles(equations, state) else {
            // A state that cannot be computed says so in the run.
            continue;
        };
        if poles.iter().all(|pole| bears(method, *pole, h)) {
            continue;
        }
        let mut longest = h;
        while longest > 1e-12 * h && !poles.iter().all(|pole| bears(method, *pole, longest)) {
            longest *= 0.9;
        }
        if worst.as_ref().is_none_or(|w| longest < w.longest) {
            let rate = poles.iter().map(|p| p.size()).fold(0.0, f64::max);
            let mechanism = equations.mechanism();
            let named = mechanism.joints().iter().find(|joint| {
                let range = mechanism.joint(&joint.name).and_then(|j| mechanism.v_range(j));
                range.is_ok_and(|range| range.contains(&dof))
            });
            let joint = named.map_or_else(String::new, |j| j.name.clone());
            worst = Some(Stiff { joint, rate, longest });
        }
    }
    Ok(worst)
}

/// The poles of the equations about a state, and the degree of freedom whose own rates are the fastest.
fn poles(equations: &mut impl Equations, state: &State) -> Result<(Vec<Pole>, usize)> {
    let n = state.v.len();
    let mut sampled = Sampled::new(equations, state)?;
    if n > MOST {
        return sampled.fastest();
    }
    let wide = 2 * n;
    let mut a = vec![0.0; wide * wide];
    let mut change = vec![0.0; wide];
    for j in 0..wide {
        change.fill(0.0);
        change[j] = 1.0;
        let column = sampled.along(&change)?;
        for (i, x) in column.into_iter().enumerate() {
            a[i * wide + j] = x;
        }
    }
    let own = |i: usize| a[(n + i) * wide + n + i].abs().max(a[(n + i) * wide + i].abs().sqrt());
    let dof = (0..n).max_by(|&i, &j| own(i).total_cmp(&own(j))).unwrap_or(0);
    let model = StateSpace {
        states: vec![String::new(); wide],
        inputs: Vec::new(),
        outputs: Vec::new(),
        a,
        b: Vec::new(),
        c: Vec::new(),
        d: Vec::new(),
        step: None,
    };
    Ok((model.poles()?, dof))
}

/// The equations near a state, by differences.
struct Sampled<'a, E> {
    equations: &'a mut E,
    state: &'a State,
    /// q̇ and v̇ there.
    rates: Vec<f64>,
}

impl<'a, E: Equations> Sampled<'a, E> {
    fn new(equations: &'a mut E, state: &'a State) -> Result<Self> {
        let mut sampled = Self {
            equations,
            state,
            rates: Vec::new(),
        };
        sampled.rates = sampled.rates_at(&state.q, &state.v)?;
        Ok(sampled)
    }

    fn rates_at(&mut self, q: &[f64], v: &[f64]) -> Result<Vec<f64>> {
        let n = v.len();
        let mut rates = vec![0.0; 2 * n];
        let (qd, vd) = rates.split_at_mut(n);
        self.equations.rates(self.state.t, q, v, qd, vd)?;
        Ok(rates)
    }

    /// How the rates change along a direction of q and v.
    fn along(&mut self, change: &[f64]) -> Result<Vec<f64>> {
        let n = self.state.v.len();
        let size = change.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let h = 1e-7 / size.max(1e-300);
        let step: Vec<f64> = change[..n].iter().map(|x| h * x).collect();
        let mut q = self.state.q.clone();
        self.equations.mechanism().integrate(&self.state.q, &step, &mut q)?;
        let v: Vec<f64> = self.state.v.iter().zip(&change[n..]).map(|(v, x)| v + h * x).collect();
        let mut rates = self.rates_at(&q, &v)?;
        for (x, still) in rates.iter_mut().zip(&self.rates) {
            *x = (*x - still) / h;
        }
        Ok(rates)
    }

    /// The fastest decay of velocities, by repeated differences along the direction that they lead to.
    fn fastest(&mut self) -> Result<(Vec<Pole>, usize)> {
        const ROUNDS: usize = 40;
        const SETTLED: f64 = 1e-3;
        let n = self.state.v.len();
        let mut change = vec![0.0; 2 * n];
        change[n..]
            .iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x = 1.0 + (i % 7) as f64);
        let (mut rate, mut settled) = (0.0, 0);
        for _ in 0..ROUNDS {
            let next = self.along(&change)?;
            let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let before = std::mem::replace(&mut rate, size(&next[n..]) / size(&change[n..]).max(1e-300));
            // A mechanism of thousands of joints takes its time for each round.
            settled = if (rate - before).abs() < SETTLED * rate {
                settled + 1
            } else {
                0
            };
            if settled == 2 {
                break;
            }
            if !rate.is_finite() || rate == 0.0 {
                return Ok((Vec::new(), 0));
            }
            let scale = size(&next[n..]).recip();
            change[n..]
                .iter_mut()
                .zip(&next[n..])
                .for_each(|(x, next)| *x = scale * next);
        }
        let moves = |i: &usize| change[n + i].abs();
        let dof = (0..n).max_by(|i, j| moves(i).total_cmp(&moves(j))).unwrap_or(0);
        Ok((vec![Pole { re: -rate, im: 0.0 }], dof))
    }
}
