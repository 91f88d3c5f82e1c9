//! Energy that a minute of undamped motion gains or loses, with the standard and with the diagonalized equations: at equal
//! steps, and at equal work.
//!
//! `cargo run --release --example energy_drift`

#[path = "../tests/support/mod.rs"]
mod support;

use linkwork::simulate::{Diagonalized, Dynamics, Integrator, PassiveForces, RungeKutta4, State};
use linkwork::workspace::Scaling::{self, Normalized, Unnormalized};
use linkwork::{Mechanism, Result};
use std::time::Instant;
use support::golden;

const SECONDS: f64 = 60.0;
const STEP: f64 = 4e-3;

/// Advances a state.
type Step<'a> = Box<dyn FnMut(&mut State, f64) -> Result<()> + 'a>;

/// One formulation of one robot: how a state is stepped, and its energy.
struct Course<'a> {
    name: &'static str,
    start: State,
    step: Step<'a>,
    scaling: Option<Scaling>,
}

fn energy(mechanism: &Mechanism, state: &State, scaling: Option<Scaling>) -> Result<f64> {
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(&state.q)?;
    let potential = posed.potential_energy();
    let mut moving = match scaling {
        Some(scaling) => posed.moving_at_total_rates(scaling, &state.v)?,
        None => posed.moving(&state.v)?,
    };
    Ok(potential + moving.kinetic_energy())
}

fn courses<'a>(mechanism: &'a Mechanism, q: &[f64], qd: &[f64]) -> Result<Vec<Course<'a>>> {
    let mut standard = Dynamics::with(mechanism, (), PassiveForces::none(mechanism));
    let mut integrator = RungeKutta4::new(mechanism);
    let mut all = vec![Course {
        name: "(q, q̇)",
        start: State {
            t: 0.0,
            q: q.to_vec(),
            v: qd.to_vec(),
        },
        step: Box::new(move |state, h| integrator.step(&mut standard, state, h)),
        scaling: None,
    }];
    for (name, scaling) in [("(q, ν)", Normalized), ("(q, ξ)", Unnormalized)] {
        let mut equations = Diagonalized::with(mechanism, scaling, (), PassiveForces::none(mechanism));
        let start = equations.state(0.0, q, qd)?;
        let mut integrator = RungeKutta4::new(mechanism);
        all.push(Course {
            name,
            start,
            step: Box::new(move |state, h| integrator.step(&mut equations, state, h)),
            scaling: Some(scaling),
        });
    }
    Ok(all)
}

impl Course<'_> {
    /// The least nanoseconds that a step takes.
    fn time(&mut self) -> Result<f64> {
        let mut least = f64::INFINITY;
        for _ in 0..60 {
            let mut state = self.start.clone();
            let start = Instant::now();
            for _ in 0..100 {
                (self.step)(&mut state, 1e-4)?;
            }
            least = least.min(start.elapsed().as_nanos() as f64 / 100.0);
        }
        Ok(least)
    }

    /// How far the energy strays from its first value.
    fn drift(&mut self, mechanism: &Mechanism, h: f64) -> Result<f64> {
        let mut state = self.start.clone();
        let first = energy(mechanism, &state, self.scaling)?;
        let steps = (SECONDS / h).round() as usize;
        let mut most = 0.0_f64;
        for i in 0..steps {
            (self.step)(&mut state, SECONDS / steps as f64)?;
            if i % 25 == 24 {
                most = most.max((energy(mechanism, &state, self.scaling)? - first).abs());
            }
        }
        Ok(most)
    }
}

fn main() -> Result<()> {
    println!("Runge–Kutta of order four for {SECONDS} s");
    for name in ["arm6", "quadruped"] {
        let file = golden::load(name);
        let golden::Case { q, qd, .. } = &file.cases[0];
        // Well inside what the steps resolve; and falling for a minute would say nothing about the quadruped.
        let qd: Vec<f64> = qd.iter().map(|v| 0.3 * v).collect();
        let floats = name == "quadruped";
        let gravity = if floats {
            [0.0; 3].into()
        } else {
            file.mechanism.gravity()
        };
        let mechanism = &file.mechanism.with_gravity(gravity)?;
        let mut all = courses(mechanism, q, &qd)?;
        let first = energy(mechanism, &all[0].start, None)?;
        println!(
            "\n{name}, {first:.3} J{}",
            if floats { ", without gravity" } else { "" }
        );
        println!("state    ns a step  × (q, q̇)  strays by, {STEP} s  at equal work: step  strays by");
        let times = all.iter_mut().map(Course::time).collect::<Result<Vec<f64>>>()?;
        for (course, time) in all.iter_mut().zip(&times) {
            let more = time / times[0];
            let (equal_step, equal_work) = (course.drift(mechanism, STEP)?, course.drift(mechanism, STEP * more)?);
            println!(
                "{:8} {time:>9.0}  {more:>8.2}  {equal_step:>17.1e} J  {:>17.2} ms  {equal_work:>7.1e} J",
                course.name,
                1e3 * STEP * more,
            );
        }
    }
    Ok(())
}
