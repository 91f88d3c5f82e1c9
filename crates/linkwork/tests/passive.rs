//! What springs, dampers and dry friction of joints do by themselves, and how it answers small changes.

mod support;

use linkwork::Mechanism;
use support::coupled::cases;
use support::library::vector;
use support::random::{random_state, random_tree};
use support::resisted::resisted;
use support::worst::Worst;

fn torque(mechanism: &Mechanism, q: &[f64], qd: &[f64]) -> Vec<f64> {
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q).unwrap();
    let mut moving = posed.moving(qd).unwrap();
    vector(mechanism.nv(), |out| moving.passive_torque(out))
}

/// f′(0) by central differences of two lengths, which leave errors of order h⁴.
fn slope(h: f64, f: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let [near, far] = [h, 2.0 * h].map(|h| {
        let pairs = f(h).into_iter().zip(f(-h));
        pairs.map(|(up, down)| (up - down) / (2.0 * h)).collect::<Vec<f64>>()
    });
    near.iter()
        .zip(&far)
        .map(|(near, far)| (4.0 * near - far) / 3.0)
        .collect()
}

/// Compares the derivatives at a state with differences of the torques.
fn check(worst: &mut Worst, mechanism: &Mechanism, q: &[f64], qd: &[f64]) {
    let (n, name) = (mechanism.nv(), mechanism.name());
    let (mut by_q, mut by_qd) = (vec![f64::NAN; n * n], vec![f64::NAN; n]);
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q).unwrap();
    let mut moving = posed.moving(qd).unwrap();
    moving.passive_derivatives(&mut by_q, &mut by_qd).unwrap();
    let size = |x: &[f64]| x.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    for j in 0..n {
        // What dry friction changes within depends on the speed; steps are a small part of it.
        let h = 1e-3 * qd[j].hypot(1e-3);
        let unit = |length: f64| (0..n).map(|i| if i == j { length } else { 0.0 }).collect::<Vec<_>>();
        let expect = slope(1e-4, |h| {
            let mut moved = q.to_vec();
            mechanism.integrate(q, &unit(h), &mut moved).unwrap();
            torque(mechanism, &moved, qd)
        });
        let column: Vec<f64> = (0..n).map(|i| by_q[i * n + j]).collect();
        worst.check("∂/∂q", name, &column, &expect, size(&by_q));
        let expect = slope(h, |h| {
            let moved: Vec<f64> = qd.iter().zip(unit(h)).map(|(x, d)| x + d).collect();
            torque(mechanism, q, &moved)
        });
        let column: Vec<f64> = unit(1.0).iter().zip(&by_qd).map(|(one, x)| one * x).collect();
        worst.check("∂/∂q̇", name, &column, &expect, size(&by_qd));
    }
}

/// Rounding of differences leaves ε T/h, which is 10⁻¹¹ for steps of 10⁻⁴, and 10⁻¹⁰ of slopes of friction at rest.
#[test]
fn derivatives_are_differences_of_torques() {
    let mut worst = Worst::new(1e-8);
    for seed in 0..60 {
        let mechanism = resisted(&random_tree(seed, 8), seed);
        let state = random_state(&mechanism, seed);
        check(&mut worst, &mechanism, &state.q, &state.qd);
        let slow: Vec<f64> = state.qd.iter().map(|x| 2e-3 * x).collect();
        check(&mut worst, &mechanism, &state.q, &slow);
    }
}

#[test]
fn followers_are_resisted_through_their_couplings() {
    let mut worst = Worst::new(1e-8);
    for case in cases().step_by(3) {
        let mechanism = resisted(&case.coupled, case.seed);
        check(&mut worst, &mechanism, &case.y, &case.yd);
        let slow: Vec<f64> = case.yd.iter().map(|x| 2e-3 * x).collect();
        check(&mut worst, &mechanism, &case.y, &slow);
    }
}
