//! The diagonalized equations in time: the same motion as the standard ones, at the order of each integrator.

mod support;

use linkwork::simulate::{
    Diagonalized, DormandPrince, Dynamics, Equations, Integrator, PassiveForces, RungeKutta4, SemiImplicitEuler, State,
};
use linkwork::workspace::Scaling::{self, Normalized, Unnormalized};
use linkwork::{Mechanism, Result};
use support::golden::{self, Case};
use support::random::{random_state, random_tree};

const BOTH: [Scaling; 2] = [Normalized, Unnormalized];

fn free(mechanism: &Mechanism, scaling: Scaling) -> Diagonalized<()> {
    Diagonalized::with(mechanism, scaling, (), PassiveForces::none(mechanism))
}

fn run(integrator: &mut impl Integrator, equations: &mut impl Equations, state: &State, steps: usize, h: f64) -> State {
    let mut state = state.clone();
    for _ in 0..steps {
        integrator.step(equations, &mut state, h).unwrap();
    }
    state
}

/// Every evaluation by itself, with three sweeps: integrators are not heard where they go next.
struct ByItself<E>(E);

impl<E: Equations> Equations for ByItself<E> {
    fn mechanism(&self) -> &Mechanism {
        self.0.mechanism()
    }

    fn rates(&mut self, t: f64, q: &[f64], v: &[f64], qd: &mut [f64], vd: &mut [f64]) -> Result<()> {
        self.0.rates(t, q, v, qd, vd)
    }

    fn velocities(&mut self, q: &[f64], v: &[f64], qd: &mut [f64]) -> Result<()> {
        self.0.velocities(q, v, qd)
    }
}

fn distance(mechanism: &Mechanism, x: &State, y: &State) -> f64 {
    let mut difference = vec![0.0; mechanism.nv()];
    mechanism.difference(&x.q, &y.q, &mut difference).unwrap();
    difference.iter().fold(0.0, |m: f64, d| m.max(d.abs()))
}

/// Mechanisms with every kind of joint, moving gently enough for a quarter of a second.
fn cases() -> Vec<(Mechanism, Vec<f64>, Vec<f64>)> {
    let mut cases = Vec::new();
    for name in ["arm6", "quadruped", "zoo", "scara"] {
        let file = golden::load(name);
        let Case { q, qd, .. } = &file.cases[0];
        cases.push((file.mechanism, q.clone(), qd.iter().map(|v| 0.5 * v).collect()));
    }
    let tree = random_tree(20, 6);
    let state = random_state(&tree, 3);
    cases.push((tree, state.q, state.qd));
    cases
}

#[test]
fn trajectories_are_those_of_the_standard_equations_at_the_order_of_the_integrator() {
    let time = 0.25;
    for (mechanism, q, qd) in cases() {
        let mut standard = Dynamics::with(&mechanism, (), PassiveForces::none(&mechanism));
        let start = State {
            t: 0.0,
            q: q.clone(),
            v: qd.clone(),
        };
        let fine = 2048;
        let exact = run(
            &mut RungeKutta4::new(&mechanism),
            &mut standard,
            &start,
            fine,
            time / fine as f64,
        );
        for scaling in BOTH {
            let mut equations = free(&mechanism, scaling);
            let start = equations.state(0.0, &q, &qd).unwrap();
            let rk4 = |steps: usize, equations: &mut Diagonalized<()>| {
                run(
                    &mut RungeKutta4::new(&mechanism),
                    equations,
                    &start,
                    steps,
                    time / steps as f64,
                )
            };
            let [coarse, half] = [64, 128].map(|n| distance(&mechanism, &rk4(n, &mut equations), &exact));
            assert!(
                half <= coarse / 10.0 || half < 1e-11,
                "{} {scaling:?}: {coarse:e} {half:e}",
                mechanism.name()
            );
            // With one inward and one outward sweep per evaluation as with three.
            let mut by_itself = ByItself(free(&mechanism, scaling));
            let three = run(
                &mut RungeKutta4::new(&mechanism),
                &mut by_itself,
                &start,
                64,
                time / 64.0,
            );
            assert_eq!(rk4(64, &mut equations), three, "{} {scaling:?}", mechanism.name());
            let adaptive = |equations: &mut dyn FnMut(&mut DormandPrince, &mut State) -> Result<()>| {
                let (mut integrator, mut state) = (DormandPrince::new(&mechanism), start.clone());
                while state.t < time {
                    equations(&mut integrator, &mut state).unwrap();
                }
                state
            };
            let two = adaptive(&mut |integrator, state| integrator.step(&mut equations, state, time));
            let three = adaptive(&mut |integrator, state| integrator.step(&mut by_itself, state, time));
            assert_eq!(two, three, "{} {scaling:?}", mechanism.name());
            assert!(distance(&mechanism, &two, &exact) < 1e-5, "{}", mechanism.name());
            let euler = |steps: usize, equations: &mut Diagonalized<()>| {
                run(
                    &mut SemiImplicitEuler::new(&mechanism),
                    equations,
                    &start,
                    steps,
                    time / steps as f64,
                )
            };
            let [coarse, half] = [512, 1024].map(|n| distance(&mechanism, &euler(n, &mut equations), &exact));
            assert!(
                half <= coarse / 1.7,
                "{} {scaling:?}: {coarse:e} {half:e}",
                mechanism.name()
            );
        }
    }
}

#[test]
fn torques_pushes_and_resistance_act_alike_in_both_formulations() {
    let file = golden::load("zoo");
    let (mechanism, Case { q, qd, tau, .. }) = (&file.mechanism, &file.cases[0]);
    let link = mechanism.link(&mechanism.links()[3].name).unwrap();
    let drive = |now: linkwork::simulate::Now<'_>,
                 moving: &mut linkwork::workspace::Moving<'_>,
                 out: &mut [f64]|
     -> Result<()> {
        moving.apply_force(
            link,
            linkwork::Reference::Aligned,
            linkwork::spatial::Force::new([0.1, 0.2, -0.3], [1.0, 2.0 * now.t, 3.0]),
        )?;
        for i in 0..out.len() {
            out[i] = 0.3 * tau[i] - 0.2 * now.v[i];
        }
        Ok(())
    };
    let (steps, h) = (200, 1e-3);
    let mut standard = Dynamics::new(mechanism, drive).unwrap();
    let start = State {
        t: 0.0,
        q: q.clone(),
        v: qd.clone(),
    };
    let expect = run(&mut RungeKutta4::new(mechanism), &mut standard, &start, steps, h);
    for scaling in BOTH {
        let mut equations = Diagonalized::new(mechanism, scaling, drive).unwrap();
        let start = equations.state(0.0, q, qd).unwrap();
        let got = run(&mut RungeKutta4::new(mechanism), &mut equations, &start, steps, h);
        assert!(
            distance(mechanism, &got, &expect) < 1e-8,
            "{}",
            distance(mechanism, &got, &expect)
        );
        let mut by_itself = ByItself(equations);
        let three = run(&mut RungeKutta4::new(mechanism), &mut by_itself, &start, steps, h);
        assert_eq!(got, three, "bit for bit");
    }
}

#[test]
fn evaluations_begin_afresh_wherever_a_state_comes_from() {
    let file = golden::load("zoo");
    let (mechanism, Case { q, qd, .. }) = (&file.mechanism, &file.cases[0]);
    let mut equations = free(mechanism, Normalized);
    let start = equations.state(0.0, q, qd).unwrap();
    let mut integrator = RungeKutta4::new(mechanism);
    let mut step = |equations: &mut Diagonalized<()>, state: &State| {
        let mut state = state.clone();
        integrator.step(equations, &mut state, 1e-3).unwrap();
        state
    };
    let once = step(&mut equations, &start);
    let twice = step(&mut equations, &once);
    // Back to the start, and on after the equations were used for something else.
    assert_eq!(step(&mut equations, &start), once);
    let mut elsewhere = vec![0.0; mechanism.nv()];
    equations.velocities(&start.q, &start.v, &mut elsewhere).unwrap();
    assert_eq!(step(&mut equations, &once), twice);
    // A state that cannot be stepped leaves itself and the equations as they were.
    let mut broken = once.clone();
    broken.v[0] = f64::NAN;
    let mut after = broken.clone();
    let result = RungeKutta4::new(mechanism).step(&mut equations, &mut after, 1e-3);
    assert!(result.is_err() && after.q == broken.q);
    assert_eq!(step(&mut equations, &once), twice);
}

/// E = ½ν*ν + the potential, without damping; how far it strays in a minute.
#[test]
fn energy_strays_about_as_little_as_with_the_standard_equations() {
    for name in ["arm6", "quadruped"] {
        let file = golden::load(name);
        let (mechanism, Case { q, qd, .. }) = (&file.mechanism, &file.cases[0]);
        // Well inside what the steps resolve.
        let qd: Vec<f64> = qd.iter().map(|v| 0.3 * v).collect();
        // Falling for a minute would say nothing about the quadruped.
        let gravity = if name == "arm6" {
            mechanism.gravity()
        } else {
            Default::default()
        };
        let mechanism = &mechanism.with_gravity(gravity).unwrap();
        let (h, steps) = (4e-3, 15_000);
        let mut workspace = mechanism.workspace();
        let mut energy = |q: &[f64], v: &[f64], scaling: Option<Scaling>| {
            let mut posed = workspace.at(q).unwrap();
            let potential = posed.potential_energy();
            let mut moving = match scaling {
                Some(scaling) => posed.moving_at_total_rates(scaling, v).unwrap(),
                None => posed.moving(v).unwrap(),
            };
            potential + moving.kinetic_energy()
        };
        let mut standard = Dynamics::with(mechanism, (), PassiveForces::none(mechanism));
        let start = State {
            t: 0.0,
            q: q.clone(),
            v: qd.clone(),
        };
        let first = energy(q, &qd, None);
        let end = run(&mut RungeKutta4::new(mechanism), &mut standard, &start, steps, h);
        let mut drifts = vec![energy(&end.q, &end.v, None) - first];
        for scaling in BOTH {
            let mut equations = free(mechanism, scaling);
            let start = equations.state(0.0, q, &qd).unwrap();
            let end = run(&mut RungeKutta4::new(mechanism), &mut equations, &start, steps, h);
            drifts.push(energy(&end.q, &end.v, Some(scaling)) - first);
        }
        let allowed = 20.0 * drifts[0].abs().max(1e-9);
        assert!(
            drifts[1].abs() < allowed && drifts[2].abs() < allowed,
            "{name} {drifts:?}"
        );
    }
}
