//! The oracle that other tests lean on, itself checked: against golden numbers, finite differences and its own laws.
#![allow(non_snake_case)]

mod support;

use linkwork::model::{JointKind, Mechanism};
use support::dense::{Dense, REFERENCES, Reference, plus};
use support::manifold::step;
use support::matrix::{Matrix, dot};
use support::random::{State, random_external, random_state, random_tree, revolutes_for_universals};
use support::riccati::{Riccati, composites};
use support::rigid::{axes, force_in, inverse, origin, tilde};
use support::scale::forward_scale;
use support::{assert_close, assert_close_of, golden};

const GOLDEN: f64 = 1e-10;
const TREES: u64 = 300;

/// Random trees at random states.
fn trees() -> impl Iterator<Item = (Mechanism, State)> {
    (0..TREES).map(|seed| {
        let max_links = if seed % 5 == 0 { 60 } else { 12 };
        let mechanism = random_tree(seed, max_links);
        let state = random_state(&mechanism, seed);
        (mechanism, state)
    })
}

#[test]
fn dense_definitions_reproduce_the_golden_vectors() {
    for file in golden::load_all() {
        for case in &file.cases {
            let check = |name: &str, got: &[f64]| {
                let expect = case.expect.vector(name).unwrap();
                assert_close(&format!("{} {name}", file.name), got, &expect, GOLDEN);
            };
            let number = |name: &str, got: f64| {
                let expect = case.expect.number(name).unwrap();
                assert_close(&format!("{} {name}", file.name), &[got], &[expect], 1e-12);
            };
            let dense = Dense::new(&file.mechanism, &case.q, &case.qd);
            check("inverse_dynamics", &dense.inverse_dynamics(&case.qdd, None));
            check("forward_dynamics", &dense.forward_dynamics(&case.tau, None));
            check("bias", &dense.bias());
            check("gravity_torque", &dense.gravity_torque());
            check("com", &dense.com());
            number("kinetic_energy", dense.kinetic_energy());
            number("potential_energy", dense.potential_energy());
            let riccati = Riccati::new(&dense);
            check("xi", &riccati.xi(&dense));
            check("nu", &riccati.nu(&dense));
            check("kappa", &riccati.kappa(&dense, &case.tau));
            check("eps", &riccati.eps(&dense, &case.tau));
            check("C_xi", &riccati.coriolis_xi(&dense));
            check("C_nu", &riccati.coriolis_nu(&dense));
        }
    }
}

#[test]
fn dense_definitions_reproduce_the_golden_matrices() {
    for file in golden::load_all().filter(|f| f.name != "chain100") {
        for case in &file.cases {
            let close = |name: &str, got: &Matrix, expect: &Matrix| {
                assert_close(&format!("{} {name}", file.name), &got.data, &expect.data, GOLDEN);
            };
            let each = |name: &str, got: &[Matrix]| {
                let expect = case.expect.matrices(name).unwrap();
                assert_eq!(got.len(), expect.len());
                got.iter().zip(&expect).for_each(|(g, e)| close(name, g, e));
            };
            let dense = Dense::new(&file.mechanism, &case.q, &case.qd);
            let riccati = Riccati::new(&dense);
            let mass = dense.mass_matrix();
            close("mass_matrix", &mass, &case.expect.matrix("mass_matrix").unwrap());
            close(
                "inverse",
                &mass.inverse(),
                &case.expect.matrix("mass_matrix_inverse").unwrap(),
            );
            each("P", &riccati.P);
            each("D", &riccati.D);
            each("composite", &composites(&dense));
            each("P_rate", &riccati.rates(&dense).0);
            let V = case.expect.vectors("V").unwrap().concat();
            assert_close("V", &dense.V, &V, GOLDEN);
            for tip in &case.tips {
                let J = dense.jacobian(&tip.link, Reference::Local);
                close("pose", &dense.pose(&tip.link), &tip.pose);
                close("jacobian_body", &J, &tip.jacobian_body);
                close("osim_inverse_body", &(&J * mass.solve(&J.t())), &tip.osim_inverse_body);
            }
        }
    }
}

#[test]
fn random_trees_have_every_kind_of_joint_and_inertia_behind_each() {
    let mut kinds: Vec<&str> = Vec::new();
    let (mut largest, mut massless, mut rotors) = (0, 0, 0);
    for (mechanism, state) in trees() {
        kinds.extend(mechanism.joints().iter().map(|j| j.kind.name()));
        largest = largest.max(mechanism.links().len());
        massless += mechanism.links().iter().filter(|l| l.inertia.mass == 0.0).count();
        rotors += mechanism.joints().iter().filter(|j| !j.armature.is_empty()).count();
        let mass = Dense::new(&mechanism, &state.q, &state.qd).mass_matrix();
        assert_close("symmetry", &mass.data, &mass.t().data, 1e-13);
        assert!(
            mass.cholesky().is_some(),
            "{} has a singular mass matrix",
            mechanism.name()
        );
        assert!(
            mass.condition() < 1e9,
            "{} has condition {:e}",
            mechanism.name(),
            mass.condition()
        );
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 11, "{kinds:?}");
    assert!(largest > 50 && massless > 20 && rotors > 20);
}

#[test]
fn velocities_and_their_rates_are_those_of_the_poses() {
    let h = 1e-5;
    for (mechanism, State { q, qd, qdd, .. }) in trees().filter(|(m, _)| m.links().len() <= 12) {
        let at = |t: f64| along(&mechanism, &q, &qd, &qdd, t);
        let (now, before, after) = (at(0.0), at(-h), at(h));
        for (name, ..) in &now.frames {
            // Ṙ R* and ṗ.
            let slope = (after.pose(name) - before.pose(name)).scale(0.5 / h);
            let w = axes(&slope) * axes(&now.pose(name)).t();
            let expect = [&[w.at(2, 1), w.at(0, 2), w.at(1, 0)][..], &origin(&slope)].concat();
            let velocity = now.velocity(name, Reference::Aligned);
            assert_close_of("velocity", &velocity, &expect, 10.0, 1e-7);
            for reference in REFERENCES {
                let rate = difference(
                    &after.velocity(name, reference),
                    &before.velocity(name, reference),
                    2.0 * h,
                );
                let got = now.acceleration(name, reference, &qdd);
                assert_close_of("acceleration", &got, &rate, 1.0 + largest(&rate), 1e-6);
                let rate = (after.jacobian(name, reference) - before.jacobian(name, reference)).scale(0.5 / h);
                let got = now.jacobian_rate(name, reference);
                assert_close_of("jacobian rate", &got.data, &rate.data, 1.0 + rate.max_abs(), 1e-6);
            }
        }
        let rate = (after.centroidal() - before.centroidal()).scale(0.5 / h);
        let got = now.centroidal_rate();
        assert_close_of("centroidal rate", &got.data, &rate.data, 1.0 + rate.max_abs(), 1e-6);
        let rate = difference(&after.com(), &before.com(), 2.0 * h);
        assert_close_of("com rate", &now.com_jacobian().apply(&qd), &rate, 1.0, 1e-6);
        let rate = (after.mass_matrix() - before.mass_matrix()).scale(0.5 / h);
        let got = now.mass_matrix_rate();
        assert_close_of("mass matrix rate", &got.data, &rate.data, 1.0 + rate.max_abs(), 1e-6);
    }
}

/// Newton and Euler in the world: the momentum of every link changes at the rate of the force on it.
#[test]
fn torques_are_those_of_the_momenta() {
    let h = 1e-5;
    for (mechanism, State { q, qd, qdd, .. }) in trees().filter(|(m, _)| m.links().len() <= 12) {
        let at = |t: f64| along(&mechanism, &q, &qd, &qdd, t);
        let (now, before, after) = (at(0.0), at(-h), at(h));
        let external = random_external(&mechanism, q.len() as u64);
        let mut expect = Matrix::diagonal(&now.armature).apply(&qdd);
        for k in 0..now.links() {
            let link = &mechanism.links()[k];
            let momentum = |x: &Dense| {
                let own = x.own(&x.M, k).apply(&x.V[6 * k..6 * k + 6]);
                force_in(&x.world[k]).apply(&own)
            };
            let rate = difference(&momentum(&after), &momentum(&before), 2.0 * h);
            let c = now.world[k].apply(&[link.inertia.com.x, link.inertia.com.y, link.inertia.com.z, 1.0]);
            let weight = now.gravity.map(|g| g * link.inertia.mass);
            let moment = tilde(&c[..3]).apply(&weight);
            let pushed = force_in(&now.world[k]).apply(&external[6 * k..6 * k + 6]);
            let given = plus(&[&moment[..], &weight].concat(), &pushed);
            let needed = difference(&rate, &given, 1.0);
            let J = now.jacobian(&link.name, Reference::World);
            expect = plus(&expect, &J.t().apply(&needed));
        }
        let got = now.inverse_dynamics(&qdd, Some(&external));
        assert_close_of("inverse dynamics", &got, &expect, 1.0 + largest(&expect), 1e-6);
        let back = now.forward_dynamics(&got, Some(&external));
        assert_close_of("forward of inverse", &back, &qdd, forward_scale(&now, &got), 1e-14);
    }
}

#[test]
fn gravity_torque_is_the_slope_of_potential_energy() {
    let h = 1e-5;
    for (mechanism, State { q, qd, .. }) in trees().filter(|(m, _)| m.links().len() <= 12) {
        let energy = |t: f64| Dense::new(&mechanism, &step(&mechanism, &q, &scaled(&qd, t)), &qd).potential_energy();
        let slope = (energy(h) - energy(-h)) / (2.0 * h);
        let now = Dense::new(&mechanism, &q, &qd);
        let got = dot(&now.gravity_torque(), &qd);
        assert_close_of("power of gravity", &[got], &[slope], 1.0 + slope.abs(), 1e-5);
    }
}

#[test]
fn a_universal_joint_is_two_revolutes() {
    for (mechanism, State { q, qd, qdd, tau }) in trees() {
        if !mechanism
            .joints()
            .iter()
            .any(|j| matches!(j.kind, JointKind::Universal { .. }))
        {
            continue;
        }
        let one = Dense::new(&mechanism, &q, &qd);
        let two = Dense::new(&revolutes_for_universals(&mechanism), &q, &qd);
        assert_close("mass matrix", &two.mass_matrix().data, &one.mass_matrix().data, 1e-12);
        let (expect, got) = (one.inverse_dynamics(&qdd, None), two.inverse_dynamics(&qdd, None));
        assert_close("inverse dynamics", &got, &expect, 1e-12);
        let (expect, got) = (Riccati::new(&one), Riccati::new(&two));
        for (k, link) in mechanism.links().iter().enumerate() {
            let name = &link.name;
            let (a, b) = (one.pose(name), two.pose(name));
            assert_close("pose", &(inverse(&a) * b).data, &Matrix::identity(4).data, 1e-12);
            assert_close_of(
                "P",
                &got.P[k].data,
                &expect.P[k].data,
                1.0 + expect.P[k].max_abs(),
                1e-11,
            );
        }
        assert_close_of("log det", &[got.log_det()], &[expect.log_det()], one.nv as f64, 1e-9);
        let work = |r: &Riccati, d: &Dense| dot(&r.eps(d, &tau), &r.nu(d));
        assert_close_of("power", &[work(&got, &two)], &[dot(&tau, &qd)], one.nv as f64, 1e-9);
    }
}

/// The laws of the innovations factorization. Rotors belong to no link: where a law turns H P H* into D, what D has
/// more of appears.
#[test]
fn innovations_operators_obey_their_laws() {
    for (mechanism, State { q, qd, tau, .. }) in trees().filter(|(m, _)| m.links().len() <= 30) {
        let dense = Dense::new(&mechanism, &q, &qd);
        let r = Riccati::new(&dense);
        let (H, phi, M, psi, K, P, D, G) = (
            &dense.H, &dense.phi, &dense.M, &r.psi, &r.K, &r.P_all, &r.D_all, &r.G_all,
        );
        let (links, joints) = (Matrix::identity(phi.rows), Matrix::identity(dense.nv));
        let rotors = Matrix::diagonal(&dense.armature);
        let tolerance = 1e-15 * dense.mass_matrix().condition().max(1e4);
        let law = |what: &str, left: Matrix, right: Matrix| {
            let scale = 1.0 + right.max_abs();
            assert_close_of(
                &format!("{}: {what}", mechanism.name()),
                &left.data,
                &right.data,
                scale,
                tolerance,
            );
        };
        law("φ⁻¹", (&links - &r.E_phi) * phi, links.clone());
        law("ψ⁻¹", (&links - &r.E_psi) * psi, links.clone());
        law("ψ⁻¹ = φ⁻¹ + KH", &links - &r.E_psi, &links - &r.E_phi + K * H);
        let (m, l) = (&joints + H * phi * K, &joints - H * psi * K);
        law("(I + HφK)(I − HψK) = I", &m * &l, joints.clone());
        law("𝓜", &m * D * m.t(), dense.mass_matrix());
        law("𝓜⁻¹", l.t() * D.solve(&l), dense.mass_matrix().inverse());
        law("(I − HψK)Hφ = Hψ", &l * H * phi, H * psi);
        law("φK(I − HψK) = ψK", phi * K * &l, psi * K);
        law(
            "I + HφK = HφG + rotors D⁻¹",
            m.clone(),
            H * phi * G + D.solve(&rotors).t(),
        );
        let over = phi - &links;
        let KD = phi * K;
        let sum = P + &over * P + P * over.t() + &KD * D * KD.t();
        law("φMφ*", phi * M * phi.t(), sum);
        let half = (&links + phi * K * H) * P * phi.t() * H.t() + phi * K * &rotors;
        law("φMφ*H* = (I + φKH)Pφ*H* + φK rotors", phi * M * phi.t() * H.t(), half);
        law("M = P − E_ψPE_φ*", M.clone(), P - &r.E_psi * P * r.E_phi.t());
        let both = P - &r.E_psi * P * r.E_psi.t() - K * &rotors * K.t();
        law("M = P − E_ψPE_ψ* − K rotors K*", M.clone(), both);
        law("ψMφ* = ψP + Pφ̃*", psi * M * phi.t(), psi * P + P * over.t());
        let right = l.t() * D.solve(&(H * psi * P)) + K.t() * psi.t();
        law("𝓜⁻¹HφMφ*", dense.mass_matrix().solve(&(H * phi * M * phi.t())), right);
        let nu = r.nu(&dense);
        let energy = [0.5 * dot(&nu, &nu)];
        assert_close("½ν*ν", &energy, &[dense.kinetic_energy()], tolerance);
        assert_close_of(
            "ε*ν",
            &[dot(&r.eps(&dense, &tau), &nu)],
            &[dot(&tau, &qd)],
            dense.nv as f64,
            100.0 * tolerance,
        );
    }
}

#[test]
fn articulated_inertias_change_at_their_rate() {
    let h = 1e-5;
    for (mechanism, State { q, qd, .. }) in trees().filter(|(m, _)| m.links().len() <= 8) {
        let at = |t: f64| Riccati::new(&along(&mechanism, &q, &qd, &vec![0.0; qd.len()], t));
        let (before, after) = (at(-h), at(h));
        let dense = Dense::new(&mechanism, &q, &qd);
        let (P_rate, D_rate) = Riccati::new(&dense).rates(&dense);
        for k in 0..dense.links() {
            for (got, a, b) in [(&P_rate, &after.P, &before.P), (&D_rate, &after.D, &before.D)] {
                let rate = (&a[k] - &b[k]).scale(0.5 / h);
                assert_close_of("rate", &got[k].data, &rate.data, 1.0 + rate.max_abs(), 1e-6);
            }
        }
    }
}

/// The state at time t of the motion that passes q at t = 0 with q̇ and q̈ (exact to second order).
fn along(mechanism: &Mechanism, q: &[f64], qd: &[f64], qdd: &[f64], t: f64) -> Dense {
    let way = plus(&scaled(qd, t), &scaled(qdd, 0.5 * t * t));
    Dense::new(mechanism, &step(mechanism, q, &way), &plus(qd, &scaled(qdd, t)))
}

fn scaled(x: &[f64], s: f64) -> Vec<f64> {
    x.iter().map(|x| x * s).collect()
}

fn difference(x: &[f64], y: &[f64], by: f64) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| (x - y) / by).collect()
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}
