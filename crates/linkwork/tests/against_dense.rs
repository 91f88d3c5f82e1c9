//! Inertias, torques, accelerations and reaction forces against their dense definitions, on a thousand random trees.
#![allow(non_snake_case)]

mod support;

use linkwork::Mechanism;
use linkwork::model::JointKind;
use linkwork::spatial::Force;
use linkwork::workspace::{Accelerating, Posed};
use support::dense::{Dense, REFERENCES, Reference};
use support::library::{force, matrix, named, six, vector};
use support::matrix::Matrix;
use support::random::{Random, State, revolutes_for_universals, thousand};
use support::riccati::{Riccati, composites};
use support::rigid::{axes, force_in, homogeneous, inverse};
use support::scale::{forward_scale, inverse_scale};
use support::worst::Worst;

const TOLERANCE: f64 = 1e-13;

/// Of numbers that elimination gives: what rounding in 𝓜 makes of them.
fn conditioned(mass: &Matrix) -> f64 {
    1.0 + 1e-3 * mass.condition()
}

#[test]
fn mass_matrices_and_their_inverses_are_as_defined() {
    let mut worst = Worst::new(TOLERANCE);
    for (_, mechanism, State { q, qd, tau, .. }) in thousand() {
        let (dense, nv) = (Dense::new(&mechanism, &q, &qd), mechanism.nv());
        let mut check = |what, got: &[f64], expect: &[f64], scale| {
            worst.check(what, mechanism.name(), got, expect, scale);
        };
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mass = dense.mass_matrix();
        let got = matrix(nv, nv, |out| posed.mass_matrix(out));
        check("mass matrix", &got.data, &mass.data, mass.max_abs());
        assert_eq!(got, got.t());
        let got = vector(nv, |out| posed.mass_times(&qd, out));
        check("mass times", &got, &mass.apply(&qd), mass.norm());

        let (inverse, harm) = (mass.inverse(), conditioned(&mass));
        let got = matrix(nv, nv, |out| posed.mass_matrix_inverse(out));
        check("inverse", &got.data, &inverse.data, inverse.max_abs() * harm);
        assert_eq!(got, got.t());
        let got = vector(nv, |out| posed.inverse_mass_times(&tau, out));
        check("inverse times", &got, &inverse.apply(&tau), inverse.norm() * 5.0 * harm);
        let L = mass.cholesky().unwrap();
        let log_det: f64 = (0..nv).map(|i| 2.0 * L.at(i, i).ln()).sum();
        let size = nv as f64 * harm;
        check("log det", &[posed.log_det_mass().unwrap()], &[log_det], size);
    }
}

#[test]
fn inertias_of_links_and_joints_are_as_defined() {
    let mut worst = Worst::new(TOLERANCE);
    for (_, mechanism, State { q, qd, .. }) in thousand() {
        // A universal joint is two revolute ones here.
        let split = revolutes_for_universals(&mechanism);
        let dense = Dense::new(&split, &q, &qd);
        let (riccati, composites) = (Riccati::new(&dense), composites(&dense));
        let harm = conditioned(&dense.mass_matrix());
        let mut check = |what, got: &Matrix, expect: &Matrix, harm: f64| {
            let scale = expect.max_abs().max(f64::MIN_POSITIVE) * harm;
            worst.check(what, mechanism.name(), &got.data, &expect.data, scale);
        };
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        for (k, link) in mechanism.links().iter().enumerate() {
            let id = mechanism.link(&link.name).unwrap();
            let (r, P) = (
                posed.composite_inertia(id).unwrap(),
                posed.articulated_inertia(id).unwrap(),
            );
            let joint = inboard(&mechanism, &link.name);
            // A weld makes one body of two links: then both show what the body does, from where each is.
            let moving = body_of(&dense, k);
            let seen = moving.map_or(Matrix::zeros(6, 6), |b| {
                force_in(&(inverse(&dense.world[k]) * &dense.world[b]))
            });
            let from = |x: &[Matrix]| moving.map_or(Matrix::zeros(6, 6), |b| &seen * &x[b] * seen.t());
            check("composite", &six(r), &from(&composites), 1.0);
            check("P", &six(P), &from(&riccati.P), harm);
            let d = mechanism.v_range(joint).unwrap().len();
            let got = matrix(d, d, |out| posed.joint_inertia(joint, out));
            let expect = match mechanism.joints()[joint.index()].kind {
                JointKind::Universal { .. } => {
                    let cross = format!("{}_cross", mechanism.joints()[joint.index()].name);
                    let inner = &riccati.D[split.link(&cross).unwrap().index()];
                    Matrix::diagonal(&[inner.at(0, 0), riccati.D[k].at(0, 0)])
                }
                _ => riccati.D[k].clone(),
            };
            if d > 0 {
                check("D", &got, &expect, harm);
            }
        }
    }
}

/// The joint that holds a link.
fn inboard(mechanism: &Mechanism, link: &str) -> linkwork::model::JointId {
    let joint = mechanism.joints().iter().find(|j| j.child == link).unwrap();
    mechanism.joint(&joint.name).unwrap()
}

/// The innermost link that a link is welded to; none where that is the world.
fn body_of(dense: &Dense, k: usize) -> Option<usize> {
    let mut at = Some(k);
    while let Some(k) = at
        && dense.dofs[k].is_empty()
    {
        at = dense.parent[k];
    }
    at
}

/// Pushes on random frames in every reference; what that is on each link, in its own frame.
fn push(posed: &mut Posed, dense: &Dense, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed ^ 0xf0ce);
    let mut external = vec![0.0; 6 * dense.links()];
    for _ in 0..random.below(8) {
        let (name, link, seat) = &dense.frames[random.below(dense.frames.len())];
        let reference = REFERENCES[random.below(3)];
        let given = random.numbers(6, 5.0);
        let frame = posed.mechanism().frame(name).unwrap();
        let pushed = Force::from_array(given.clone().try_into().unwrap());
        posed.apply_force(frame, named(reference), pushed).unwrap();
        let Some(k) = *link else { continue };
        let seen = match reference {
            Reference::World => inverse(&dense.world[k]),
            Reference::Local => seat.clone(),
            Reference::Aligned => {
                let unturn = axes(&dense.pose(name)).t();
                seat * homogeneous(&unturn, &[0.0; 3])
            }
        };
        let own = force_in(&seen).apply(&given);
        external[6 * k..6 * k + 6]
            .iter_mut()
            .zip(own)
            .for_each(|(x, f)| *x += f);
    }
    external
}

#[test]
fn torques_are_as_defined() {
    let mut worst = Worst::new(TOLERANCE);
    for (seed, mechanism, State { q, qd, qdd, .. }) in thousand() {
        let (dense, nv) = (Dense::new(&mechanism, &q, &qd), mechanism.nv());
        let scale = inverse_scale(&dense, &qdd);
        let mut check = |what, got: &[f64], expect: &[f64]| {
            worst.check(what, mechanism.name(), got, expect, scale);
        };
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let (gravity, bias) = (dense.gravity_torque(), dense.bias());
        let coriolis: Vec<f64> = bias.iter().zip(&gravity).map(|(c, g)| c - g).collect();
        // What the velocity and gravity alone do, pushes leave alone.
        for pushed in [false, true] {
            let external = pushed.then(|| push(&mut posed, &dense, seed));
            let external = external.as_deref();
            check("gravity", &vector(nv, |out| posed.gravity_torque(out)), &gravity);
            let mut moving = posed.moving(&qd).unwrap();
            check("coriolis", &vector(nv, |out| moving.coriolis(out)), &coriolis);
            let C = matrix(nv, nv, |out| moving.coriolis_matrix(out));
            check("coriolis matrix", &C.apply(&qd), &coriolis);
            let expect = dense.inverse_dynamics(&vec![0.0; nv], external);
            check("bias", &vector(nv, |out| moving.bias(out)), &expect);
            let expect = dense.inverse_dynamics(&qdd, external);
            let got = vector(nv, |out| moving.inverse_dynamics(&qdd, out));
            check("inverse dynamics", &got, &expect);
        }
    }
}

#[test]
fn accelerations_are_as_defined_by_every_algorithm() {
    let mut worst = Worst::new(TOLERANCE);
    for (seed, mechanism, State { q, qd, tau, .. }) in thousand() {
        let (dense, nv) = (Dense::new(&mechanism, &q, &qd), mechanism.nv());
        let scale = forward_scale(&dense, &tau);
        let mut check = |what, got: &[f64], expect: &[f64]| {
            worst.check(what, mechanism.name(), got, expect, scale);
        };
        let mut workspace = mechanism.workspace();
        for pushed in [false, true] {
            let mut posed = workspace.at(&q).unwrap();
            let external = pushed.then(|| push(&mut posed, &dense, seed));
            let expect = dense.forward_dynamics(&tau, external.as_deref());
            let mut moving = posed.moving(&qd).unwrap();
            let got = vector(nv, |out| moving.forward_dynamics(&tau, out));
            check("forward", &got, &expect);
            let got = vector(nv, |out| moving.forward_dynamics_bias_free(&tau, out));
            check("forward, bias-free", &got, &expect);
            let got = vector(nv, |out| moving.forward_dynamics_biased(&tau, out));
            check("forward, biased", &got, &expect);
            let got = vector(nv, |out| moving.with_torques(&tau, out).map(drop));
            check("driven", &got, &expect);
            let got = vector(nv, |out| moving.with_torques_bias_free(&tau, out).map(drop));
            check("driven, bias-free", &got, &expect);
            // Once more, now that the Riccati stage is kept.
            let got = vector(nv, |out| moving.forward_dynamics(&tau, out));
            check("forward, kept", &got, &expect);
        }
    }
}

#[test]
fn fixed_joints_carry_what_is_welded_to_their_links() {
    let mut worst = Worst::new(TOLERANCE);
    let mut welds = 0;
    for (_, mechanism, State { q, qd, qdd, .. }) in thousand() {
        let dense = Dense::new(&mechanism, &q, &qd);
        let expect = dense.reactions(&qdd, None);
        let scale = inverse_scale(&dense, &qdd) + 40.0;
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let mut torques = vec![0.0; mechanism.nv()];
        let accelerating = moving.with_accelerations(&qdd, &mut torques).unwrap();
        for (k, link) in mechanism.links().iter().enumerate() {
            let joint = inboard(&mechanism, &link.name);
            if mechanism.v_range(joint).unwrap().is_empty() && mechanism.joints()[joint.index()].kind.nv() == 0 {
                welds += 1;
                let got = force(accelerating.reaction(joint).unwrap());
                worst.check(
                    "across a weld",
                    mechanism.name(),
                    &got,
                    &expect[6 * k..6 * k + 6],
                    scale,
                );
            }
        }
    }
    assert!(welds > 300, "{welds}");
}

#[test]
fn reaction_forces_are_as_defined() {
    let mut worst = Worst::new(TOLERANCE);
    for (seed, mechanism, State { q, qd, qdd, tau }) in thousand() {
        let (dense, nv) = (Dense::new(&mechanism, &q, &qd), mechanism.nv());
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let external = push(&mut posed, &dense, seed);
        let mut moving = posed.moving(&qd).unwrap();
        let mut check = |what, accelerating: Accelerating, qdd: &[f64], harm: f64| {
            let expect = dense.reactions(qdd, Some(&external));
            let scale = (inverse_scale(&dense, qdd) + 40.0) * harm;
            for (k, link) in mechanism.links().iter().enumerate() {
                let joint = inboard(&mechanism, &link.name);
                match accelerating.reaction(joint) {
                    Ok(f) => worst.check(what, mechanism.name(), &force(f), &expect[6 * k..6 * k + 6], scale),
                    Err(_) => assert!(mechanism.v_range(joint).unwrap().is_empty()),
                }
            }
        };
        let mut torques = vec![0.0; nv];
        let accelerating = moving.with_accelerations(&qdd, &mut torques).unwrap();
        check("at given accelerations", accelerating, &qdd, 1.0);
        // Errors of q̈ become forces through 𝓜.
        let harm = conditioned(&dense.mass_matrix());
        let (mut found, expect) = (vec![0.0; nv], dense.forward_dynamics(&tau, Some(&external)));
        let driven = moving.with_torques(&tau, &mut found).unwrap();
        check("driven", driven, &expect, harm);
        let driven = moving.with_torques_bias_free(&tau, &mut found).unwrap();
        check("driven, bias-free", driven, &expect, harm);
    }
}
