//! Diagonalized dynamics: golden numbers and dense definitions.
#![allow(non_snake_case)]

mod support;

use linkwork::workspace::Scaling::{self, Normalized, Unnormalized};
use support::assert_close;
use support::dense::Dense;
use support::golden;
use support::library::vector;
use support::matrix::Matrix;
use support::random::{State, random_state, random_tree, revolutes_for_universals};
use support::riccati::Riccati;
use support::scale::inverse_scale;
use support::worst::Worst;

const GOLDEN: f64 = 1e-10;
const BOTH: [Scaling; 2] = [Normalized, Unnormalized];

fn sum_of_terms(terms: &[f64], nv: usize) -> Vec<f64> {
    (0..nv).map(|i| terms.iter().skip(i).step_by(nv).sum()).collect()
}

fn less(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x - y).collect()
}

#[test]
fn total_rates_and_working_moments_are_golden_both_ways() {
    for file in golden::load_all() {
        let nv = file.mechanism.nv();
        let mut workspace = file.mechanism.workspace();
        for (i, case) in file.cases.iter().enumerate() {
            let expect = |name: &str| case.expect.vector(name).unwrap();
            let close = |what: &str, got: &[f64], expect: &[f64], tolerance: f64| {
                assert_close(&format!("{} case {i}: {what}", file.name), got, expect, tolerance);
            };
            let mut posed = workspace.at(&case.q).unwrap();
            for (scaling, rates, moments) in [(Normalized, "nu", "eps"), (Unnormalized, "xi", "kappa")] {
                let total = vector(nv, |out| posed.total_rates(scaling, &case.qd, out));
                close(rates, &total, &expect(rates), GOLDEN);
                let working = vector(nv, |out| posed.working_moments(scaling, &case.tau, out));
                close(moments, &working, &expect(moments), GOLDEN);
                let back = vector(nv, |out| posed.joint_rates(scaling, &total, out));
                close("qd", &back, &case.qd, 1e-12);
                let back = vector(nv, |out| posed.joint_torques(scaling, &working, out));
                close("tau", &back, &case.tau, 1e-12);
            }
        }
    }
}

#[test]
fn coriolis_terms_and_total_accelerations_are_golden() {
    for file in golden::load_all() {
        let nv = file.mechanism.nv();
        let mut workspace = file.mechanism.workspace();
        for (i, case) in file.cases.iter().enumerate() {
            let expect = |name: &str| case.expect.vector(name).unwrap();
            let close = |what: &str, got: &[f64], expect: &[f64]| {
                assert_close(&format!("{} case {i}: {what}", file.name), got, expect, GOLDEN);
            };
            for (scaling, coriolis, rates, moments) in
                [(Normalized, "C_nu", "nu", "eps"), (Unnormalized, "C_xi", "xi", "kappa")]
            {
                let mut posed = workspace.at(&case.q).unwrap();
                let mut moving = posed.moving(&case.qd).unwrap();
                let terms = vector(5 * nv, |out| moving.diagonal_coriolis_terms(scaling, out));
                close(coriolis, &sum_of_terms(&terms, nv), &expect(coriolis));

                // ν̇ = ε − 𝒞(q, ν) and Dξ̇ = κ − 𝒞(q, ξ), from q̇ and from total rates, fresh and again.
                let driven = less(&expect(moments), &expect(coriolis));
                for again in 0..3 {
                    let mut posed = workspace.at(&case.q).unwrap();
                    let mut moving = match again {
                        0 => posed.moving(&case.qd).unwrap(),
                        _ => posed.moving_at_total_rates(scaling, &expect(rates)).unwrap(),
                    };
                    close("qd", moving.qd(), &case.qd);
                    if again == 2 {
                        moving
                            .total_accelerations(scaling, &case.qd, &mut vec![0.0; nv])
                            .unwrap();
                    }
                    let mut got = vector(nv, |out| moving.total_accelerations(scaling, &case.tau, out));
                    if scaling == Unnormalized {
                        let Some(D) = case.expect.matrices("D") else { continue };
                        for (k, D) in D.iter().enumerate() {
                            let at = file
                                .mechanism
                                .v_range(file.mechanism.joint(&format!("joint{k}")).unwrap())
                                .unwrap();
                            let product = D.apply(&got[at.clone()]);
                            got[at].copy_from_slice(&product);
                        }
                    }
                    close("total accelerations", &got, &driven);
                }
            }
        }
    }
}

#[test]
fn diagonalized_variables_and_equations_are_as_defined_on_random_trees() {
    let mut worst = Worst::new(1e-12);
    for seed in (0..300).map(|i| 3 * i) {
        let mechanism = random_tree(seed, if seed % 2 == 0 { 40 } else { 12 });
        let State { q, qd, tau, .. } = random_state(&mechanism, seed);
        let nv = mechanism.nv();
        let split = revolutes_for_universals(&mechanism);
        let dense = Dense::new(&split, &q, &qd);
        let riccati = Riccati::new(&dense);
        let mass = dense.mass_matrix();
        let harm = 1.0 + 1e-3 * mass.condition();
        let L = riccati.D_root(&dense);
        let mut check = |what, got: &[f64], expect: &[f64], scale: f64| {
            worst.check(what, mechanism.name(), got, expect, scale * harm);
        };
        let torque = inverse_scale(&dense, &vec![0.0; nv]) + 5.0;
        let unit = L.inverse().max_abs();
        let mut workspace = mechanism.workspace();
        for scaling in BOTH {
            let (total, working, coriolis, rate, force) = match scaling {
                Normalized => (
                    riccati.nu(&dense),
                    riccati.eps(&dense, &tau),
                    riccati.coriolis_nu(&dense),
                    L.max_abs(),
                    unit * torque,
                ),
                Unnormalized => (
                    riccati.xi(&dense),
                    riccati.kappa(&dense, &tau),
                    riccati.coriolis_xi(&dense),
                    1.0,
                    torque,
                ),
            };
            let mut posed = workspace.at(&q).unwrap();
            let got = vector(nv, |out| posed.total_rates(scaling, &qd, out));
            check("total rates", &got, &total, rate * 10.0);
            let back = vector(nv, |out| posed.joint_rates(scaling, &got, out));
            check("joint rates", &back, &qd, 10.0);
            let got = vector(nv, |out| posed.working_moments(scaling, &tau, out));
            check("working moments", &got, &working, force);
            let back = vector(nv, |out| posed.joint_torques(scaling, &got, out));
            check("joint torques", &back, &tau, torque);

            let mut moving = posed.moving(&qd).unwrap();
            let terms = vector(5 * nv, |out| moving.diagonal_coriolis_terms(scaling, out));
            check("Coriolis", &sum_of_terms(&terms, nv), &coriolis, force);
            let mut driven = less(&working, &coriolis);
            let mut size = force;
            if scaling == Unnormalized {
                driven = riccati.D_all.solve(&Matrix::column(&driven)).data;
                size = unit * unit * torque;
            }
            let got = vector(nv, |out| moving.total_accelerations(scaling, &tau, out));
            check("total accelerations", &got, &driven, size);
            let mut moving = posed.moving_at_total_rates(scaling, &total).unwrap();
            check("rates again", moving.qd(), &qd, 10.0);
            let got = vector(nv, |out| moving.total_accelerations(scaling, &tau, out));
            check("total accelerations again", &got, &driven, size);
        }
    }
}
