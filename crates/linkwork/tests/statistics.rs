//! The mass matrix as a covariance: samples, log det 𝓜 and its gradient.

mod support;

use linkwork::Mechanism;
use linkwork::workspace::{Normal, Scaling};
use support::random::{random_state, random_tree};
use support::{coupled, golden};

fn gradient(mechanism: &Mechanism, q: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; mechanism.nv()];
    let mut workspace = mechanism.workspace();
    workspace.at(q).unwrap().log_det_mass_gradient(&mut out).unwrap();
    out
}

/// tr(𝓜⁻¹ ∂𝓜/∂q), dense.
fn by_traces(mechanism: &Mechanism, q: &[f64]) -> Vec<f64> {
    let n = mechanism.nv();
    let (mut inverse, mut change) = (vec![0.0; n * n], vec![0.0; n * n]);
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q).unwrap();
    posed.mass_matrix_inverse(&mut inverse).unwrap();
    let mut out = vec![0.0; n];
    for joint in mechanism.joints() {
        let id = mechanism.joint(&joint.name).unwrap();
        if mechanism.follows(id).unwrap().is_some() {
            continue;
        }
        for (index, dof) in mechanism.v_range(id).unwrap().enumerate() {
            posed.mass_matrix_derivative(id, index, &mut change).unwrap();
            out[dof] = inverse.iter().zip(&change).map(|(x, y)| x * y).sum();
        }
    }
    out
}

/// The same by differences.
fn slope(mechanism: &Mechanism, q: &[f64], dof: usize, h: f64) -> f64 {
    let at = |step: f64| {
        let (mut change, mut there) = (vec![0.0; mechanism.nv()], vec![0.0; mechanism.nq()]);
        change[dof] = step;
        mechanism.integrate(q, &change, &mut there).unwrap();
        let mut workspace = mechanism.workspace();
        workspace.at(&there).unwrap().log_det_mass().unwrap()
    };
    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
}

fn assert_same(what: &str, found: &[f64], expect: &[f64], tolerance: f64) {
    let size = expect.iter().fold(1.0_f64, |a, x| a.max(x.abs()));
    for (i, (x, y)) in found.iter().zip(expect).enumerate() {
        assert!((x - y).abs() <= tolerance * size, "{what}, {i}: {x} and {y}");
    }
}

#[test]
fn the_gradient_of_log_det_is_golden() {
    let file = include_str!("golden/extensions/arm6.json");
    let known: serde_json::Value = serde_json::from_str(file).unwrap();
    let numbers = |name: &str| -> Vec<f64> { serde_json::from_value(known[name].clone()).unwrap() };
    let arm = golden::load_all().into_iter().find(|g| g.name == "arm6").unwrap();
    let q = &arm.cases[0].q;
    let mut workspace = arm.mechanism.workspace();
    let log_det = workspace.at(q).unwrap().log_det_mass().unwrap();
    assert_same("log det", &[log_det], &[known["log_det_mass"].as_f64().unwrap()], 1e-12);
    assert_same(
        "gradient",
        &gradient(&arm.mechanism, q),
        &numbers("fixman_gradient"),
        1e-12,
    );
}

/// Every kind of joint, trees, with and without rotors: against dense traces and differences.
#[test]
fn the_gradient_of_log_det_is_a_trace_on_random_trees() {
    for seed in 0..200 {
        let mechanism = random_tree(seed, 12);
        let q = random_state(&mechanism, seed).q;
        let found = gradient(&mechanism, &q);
        let expect = by_traces(&mechanism, &q);
        assert_same(&format!("tree {seed}"), &found, &expect, 1e-8);
        if seed < 20 {
            let h = 1e-4;
            for dof in 0..mechanism.nv() {
                let slope = slope(&mechanism, &q, dof, h);
                let wide = 1.0 + expect[dof].abs();
                assert!(
                    (slope - found[dof]).abs() < 1e-6 * wide,
                    "tree {seed}, {dof}: {slope} and {}",
                    found[dof]
                );
            }
        }
    }
}

#[test]
fn followers_count() {
    for case in coupled::cases().take(12) {
        let mechanism = &case.coupled;
        let q = &case.y;
        let (found, h) = (gradient(mechanism, q), 1e-4);
        for dof in 0..mechanism.nv() {
            let slope = slope(mechanism, q, dof, h);
            assert!(
                (slope - found[dof]).abs() < 1e-6 * (1.0 + slope.abs()),
                "{}, {dof}",
                mechanism.name()
            );
        }
    }
}

#[test]
fn samples_come_from_independent_numbers_by_the_factors() {
    for seed in 0..40 {
        let mechanism = random_tree(seed, 10);
        let (n, q) = (mechanism.nv(), random_state(&mechanism, seed).q);
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let (mut qd, mut p, mut nu) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        posed.thermal_rates(4.0, &mut Normal::new(seed), &mut qd).unwrap();
        posed.thermal_momenta(4.0, &mut Normal::new(seed), &mut p).unwrap();
        let mut normal = Normal::new(seed);
        let drawn: Vec<f64> = (0..n).map(|_| 2.0 * normal.number()).collect();
        posed.total_rates(Scaling::Normalized, &qd, &mut nu).unwrap();
        assert_same("ν from q̇", &nu, &drawn, 1e-8);
        posed.working_moments(Scaling::Normalized, &p, &mut nu).unwrap();
        assert_same("ν from p", &nu, &drawn, 1e-8);
        // Kinetic energy is ½ν*ν.
        let energy = posed.moving(&qd).unwrap().kinetic_energy();
        let half: f64 = drawn.iter().map(|x| 0.5 * x * x).sum();
        assert!((energy - half).abs() < 1e-8 * (1.0 + half));
    }
}

#[test]
fn covariances_are_the_mass_matrix_and_its_inverse() {
    let arm = linkwork::model::examples::puma560();
    let (n, draws) = (arm.nv(), 40_000);
    let q = arm.random(3);
    let mut workspace = arm.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let (mut mass, mut inverse) = (vec![0.0; n * n], vec![0.0; n * n]);
    posed.mass_matrix(&mut mass).unwrap();
    posed.mass_matrix_inverse(&mut inverse).unwrap();
    let mut normal = Normal::new(11);
    let (mut x, mut sums) = (vec![0.0; n], [vec![0.0; n * n], vec![0.0; n * n]]);
    for _ in 0..draws {
        for (i, sum) in sums.iter_mut().enumerate() {
            match i {
                0 => posed.thermal_momenta(1.0, &mut normal, &mut x).unwrap(),
                _ => posed.thermal_rates(1.0, &mut normal, &mut x).unwrap(),
            }
            for (k, sum) in sum.iter_mut().enumerate() {
                *sum += x[k / n] * x[k % n] / f64::from(draws);
            }
        }
    }
    for (sum, expect) in sums.iter().zip([&mass, &inverse]) {
        for (k, (x, y)) in sum.iter().zip(expect).enumerate() {
            let (i, j) = (k / n, k % n);
            // Five standard deviations of a sample covariance.
            let spread = (expect[i * n + i] * expect[j * n + j] + y * y) / f64::from(draws);
            assert!((x - y).abs() < 5.0 * spread.sqrt(), "{i}, {j}: {x} and {y}");
        }
    }
}

#[test]
fn bad_temperatures_are_refused() {
    let arm = linkwork::model::examples::arm7();
    let q = arm.random(5);
    let mut workspace = arm.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let mut out = vec![0.0; 7];
    for kt in [-1.0, f64::NAN, f64::INFINITY] {
        let error = posed.thermal_rates(kt, &mut Normal::new(0), &mut out).unwrap_err();
        assert!(error.to_string().contains("kt"), "{error}");
    }
    assert!(posed.log_det_mass_gradient(&mut [0.0; 3]).is_err());
}
