//! Linearized dynamics against golden numbers and against dual numbers, on trees with every kind of joint.
#![allow(non_snake_case)]

mod support;

use linkwork::Reference;
use linkwork::model::{Joint, Link, Mechanism};
use linkwork::scalar::{Dual, Scalar};
use linkwork::spatial::{Force, Inertia};
use linkwork::workspace::{Derivatives, Posed};
use support::arm::general_arm;
use support::conventional::{algorithm_3, algorithm_4};
use support::dual::{D, along, rate, varied};
use support::golden;
use support::library::vector;
use support::matrix::Matrix;
use support::random::{Random, State, random_external, random_state, random_tree, thousand};
use support::worst::Worst;
use support::{assert_close, assert_close_of};

#[test]
fn derivatives_of_inverse_dynamics_are_golden() {
    for file in golden::load_all() {
        let mut d = file.mechanism.derivatives();
        for (i, case) in file.cases.iter().enumerate() {
            let Some(by_q) = case.expect.matrix("dtau_dq") else {
                continue;
            };
            let by_qd = case.expect.matrix("dtau_dqd").unwrap();
            let mass = case.expect.matrix("mass_matrix").unwrap();
            let mut workspace = file.mechanism.workspace();
            let mut posed = workspace.at(&case.q).unwrap();
            let mut moving = posed.moving(&case.qd).unwrap();
            moving
                .linearized(&case.qdd)
                .unwrap()
                .inverse_derivatives(&mut d)
                .unwrap();
            let what = format!("{} case {i}", file.name);
            assert_close(&format!("{what}: mass"), d.by_input(), &mass.data, 1e-10);
            assert_close(&format!("{what}: dtau_dqd"), d.by_qd(), &by_qd.data, 1e-10);
            assert_close(&format!("{what}: dtau_dq"), d.by_q(), &by_q.data, 1e-10);
        }
    }
}

#[test]
fn derivatives_of_forward_dynamics_are_golden() {
    for file in golden::load_all() {
        let nv = file.mechanism.nv();
        let mut d = file.mechanism.derivatives();
        for (i, case) in file.cases.iter().enumerate() {
            let Some(by_q) = case.expect.matrix("dqdd_dq") else {
                continue;
            };
            let by_qd = case.expect.matrix("dqdd_dqd").unwrap();
            let inverse = case.expect.matrix("mass_matrix").unwrap().inverse();
            let mut workspace = file.mechanism.workspace();
            let mut posed = workspace.at(&case.q).unwrap();
            let mut moving = posed.moving(&case.qd).unwrap();
            let mut qdd = vec![0.0; nv];
            let mut linearized = moving.linearized_under(&case.tau, &mut qdd).unwrap();
            linearized.forward_derivatives(&mut d).unwrap();
            let what = format!("{} case {i}", file.name);
            assert_close(&format!("{what}: inverse"), d.by_input(), &inverse.data, 1e-10);
            assert_close(&format!("{what}: dqdd_dqd"), d.by_qd(), &by_qd.data, 1e-10);
            assert_close(&format!("{what}: dqdd_dq"), d.by_q(), &by_q.data, 1e-10);
        }
    }
}

/// A random direction of change of (q, q̇, input).
fn direction(nv: usize, seed: u64) -> [Vec<f64>; 3] {
    let mut random = Random::new(seed ^ 0xd1ec);
    [0, 1, 2].map(|_| random.numbers(nv, 1.0))
}

/// Σ of matrices times vectors, and the same without signs: what rounding is relative to.
fn sum_of_products(d: &Derivatives, [dq, dqd, input]: &[Vec<f64>; 3]) -> (Vec<f64>, f64) {
    let n = dq.len();
    let (mut out, mut scale) = (vec![0.0; n], f64::MIN_POSITIVE);
    for i in 0..n {
        let mut size = 0.0;
        for (m, x) in [(d.by_q(), dq), (d.by_qd(), dqd), (d.by_input(), input)] {
            for j in 0..n {
                out[i] += m[i * n + j] * x[j];
                size += (m[i * n + j] * x[j]).abs();
            }
        }
        scale = size.max(scale);
    }
    (out, scale)
}

/// The transposes of the three matrices times a vector, one after another, and the size of their terms.
fn transposed_products(d: &Derivatives, y: &[f64]) -> (Vec<f64>, f64) {
    let n = y.len();
    let (mut out, mut scale) = (Vec::new(), f64::MIN_POSITIVE);
    for m in [d.by_q(), d.by_qd(), d.by_input()] {
        for j in 0..n {
            let terms = || (0..n).map(|i| m[i * n + j] * y[i]);
            out.push(terms().sum());
            scale = terms().map(f64::abs).sum::<f64>().max(scale);
        }
    }
    (out, scale)
}

/// External forces on about half of the links, fixed to them.
fn pushed<S: Scalar>(posed: &mut Posed<'_, S>, mechanism: &Mechanism, external: &[f64]) {
    for (link, f) in mechanism.links().iter().zip(external.chunks(6)) {
        let force = Force::from_array(core::array::from_fn(|i| S::lift(f[i])));
        posed
            .apply_force(mechanism.link(&link.name).unwrap(), Reference::Local, force)
            .unwrap();
    }
}

#[test]
fn derivatives_are_those_of_dual_numbers_on_a_thousand_trees() {
    let mut worst = Worst::new(1e-11);
    for (seed, mechanism, State { q, qd, qdd, .. }) in thousand() {
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let external = random_external(&mechanism, seed);
        let mut d = mechanism.derivatives();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        pushed(&mut posed, &mechanism, &external);
        let mut moving = posed.moving(&qd).unwrap();
        let tau = vector(nv, |out| moving.inverse_dynamics(&qdd, out));
        let change = direction(nv, seed);
        let mut dual = mechanism.workspace_of::<D>();
        let mut posed = dual.at(&along(&mechanism, &q, &change[0])).unwrap();
        pushed(&mut posed, &mechanism, &external);
        let mut varying = posed.moving(&varied(&qd, &change[1])).unwrap();

        moving.linearized(&qdd).unwrap().inverse_derivatives(&mut d).unwrap();
        let expect = rate(nv, 1, |out| varying.inverse_dynamics(&varied(&qdd, &change[2]), out));
        let (got, scale) = sum_of_products(&d, &change);
        worst.check("inverse", name, &got, &expect.data, scale);
        let mut linearized = moving.linearized(&qdd).unwrap();
        let product = vector(nv, |out| linearized.torque_change(&change.concat(), out));
        worst.check("torque change", name, &product, &got, scale);
        let adjoint = vector(3 * nv, |out| linearized.torque_adjoint(&change[0], out));
        let (expect, adjoint_scale) = transposed_products(&d, &change[0]);
        worst.check("torque adjoint", name, &adjoint, &expect, adjoint_scale);
        let torque_scale = scale;
        let mass = Matrix::from_slice(nv, nv, d.by_input());

        // At the torques found, so that both are linearized about one point.
        let mut found = vec![0.0; nv];
        let mut linearized = moving.linearized_under(&tau, &mut found).unwrap();
        linearized.forward_derivatives(&mut d).unwrap();
        let expect = rate(nv, 1, |out| varying.forward_dynamics(&varied(&tau, &change[2]), out));
        let (got, scale) = sum_of_products(&d, &change);
        let inverse = Matrix::from_slice(nv, nv, d.by_input());
        let condition = inverse.norm() * mass.norm();
        let scale = scale + inverse.norm() * torque_scale;
        worst.check("forward", name, &got, &expect.data, scale);
        let product = vector(nv, |out| linearized.acceleration_change(&change.concat(), out));
        worst.check("acceleration change", name, &product, &got, scale);
        let adjoint = vector(3 * nv, |out| linearized.acceleration_adjoint(&change[0], out));
        let (expect, adjoint_scale) = transposed_products(&d, &change[0]);
        worst.check("acceleration adjoint", name, &adjoint, &expect, adjoint_scale + scale);
        let one = &inverse * &mass;
        worst.check("inverse mass", name, &one.data, &Matrix::identity(nv).data, condition);
    }
}

/// Algorithms 5 and 6 against 3 and 4, which form and factor 𝓜: on trees, and on arms of which the last is so long that its
/// columns are swept instead of multiplied.
#[test]
fn conventional_algorithms_give_the_same() {
    let mut worst = Worst::new(1e-12);
    let trees = thousand().step_by(5).map(|(seed, mechanism, _)| (seed, mechanism));
    for (seed, mechanism) in trees.chain([6, 30, 70].map(|n| (n as u64, general_arm(n)))) {
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let State { q, qd, tau, .. } = random_state(&mechanism, seed);
        let change = direction(nv, seed);
        let (mut inverse, mut forward) = (mechanism.derivatives(), mechanism.derivatives());
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let mut qdd = vec![0.0; nv];
        let mut linearized = moving.linearized_under(&tau, &mut qdd).unwrap();
        linearized.inverse_derivatives(&mut inverse).unwrap();
        linearized.forward_derivatives(&mut forward).unwrap();

        let [by_q, by_qd, by_tau] = algorithm_4(&inverse, nv);
        let mass = Matrix::from_slice(nv, nv, inverse.by_input());
        let condition = mass.norm() * by_tau.norm();
        // What derivatives are differences of, where they almost vanish.
        let size = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let (rate, acceleration) = (size(&qd), size(&qdd));
        for (what, got, expect, least) in [
            ("∂q̈/∂q", forward.by_q(), by_q, acceleration + rate * rate),
            ("∂q̈/∂q̇", forward.by_qd(), by_qd, rate),
            ("𝓜⁻¹", forward.by_input(), by_tau, 0.0),
        ] {
            worst.check(what, name, got, &expect.data, condition * expect.norm().max(least));
        }

        let without_input = [&change[0][..], &change[1][..], &vec![0.0; nv]].concat();
        let needed = vector(nv, |out| linearized.torque_change(&without_input, out));
        let expect = algorithm_3(&inverse, &needed, &change[2]);
        let got = vector(nv, |out| linearized.acceleration_change(&change.concat(), out));
        let largest = expect.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        worst.check("δq̈", name, &got, &expect, condition * largest);
    }
}

#[test]
fn torques_are_linear_in_the_inertial_parameters() {
    let mut worst = Worst::new(1e-13);
    for (_, mechanism, State { q, qd, qdd, .. }) in thousand().take(200) {
        let (nv, name, pi) = (mechanism.nv(), mechanism.name(), mechanism.inertial_parameters());
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let mut expect = vector(nv, |out| moving.inverse_dynamics(&qdd, out));
        let mut linearized = moving.linearized(&qdd).unwrap();
        let regressor = vector(nv * pi.len(), |out| linearized.regressor(out));
        // Rotors are no part of the links.
        let mut armature: Vec<f64> = Vec::new();
        for joint in mechanism.joints() {
            let nothing = vec![0.0; joint.kind.nv()];
            armature.extend(if joint.armature.is_empty() {
                &nothing
            } else {
                &joint.armature
            });
        }
        for i in 0..nv {
            expect[i] -= armature[i] * qdd[i];
        }
        let rows = regressor.chunks(pi.len());
        let got: Vec<f64> = rows
            .clone()
            .map(|row| row.iter().zip(&pi).map(|(y, p)| y * p).sum())
            .collect();
        let size = |row: &[f64]| row.iter().zip(&pi).map(|(y, p)| (y * p).abs()).sum::<f64>();
        let scale = rows.map(size).fold(f64::MIN_POSITIVE, f64::max);
        worst.check("regressor", name, &got, &expect, scale);
    }
}

/// Derivatives along a direction of the first-order code, against duals of duals of the dynamics itself.
#[test]
fn second_derivatives_come_from_dual_numbers_over_the_first_order_code() {
    type DD = Dual<D>;
    let mut worst = Worst::new(1e-10);
    for seed in 0..40 {
        let mechanism = random_tree(seed, 8);
        let State { q, qd, qdd, tau } = random_state(&mechanism, seed);
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let ([a, ad, ai], [b, bd, bi]) = (direction(nv, seed), direction(nv, seed + 1));
        let q1 = along(&mechanism, &q, &a);
        let second = |x: &[f64], d: &[f64], e: &[f64]| -> Vec<DD> {
            let all = x.iter().zip(d).zip(e);
            all.map(|((x, d), e)| Dual::new(Dual::new(*x, *d), Dual::constant(*e)))
                .collect()
        };
        // (q ⊕ εa) ⊕ δb.
        let lifted: Vec<DD> = q1.iter().map(|x| Dual::constant(*x)).collect();
        let zero = vec![0.0; nv];
        let mut q2 = lifted.clone();
        mechanism
            .integrate(&lifted, &second(&zero, &zero, &b), &mut q2)
            .unwrap();
        let mut twice = mechanism.workspace_of::<DD>();
        let mut posed = twice.at(&q2).unwrap();
        let mut moving = posed.moving(&second(&qd, &ad, &bd)).unwrap();
        let mut once = mechanism.workspace_of::<D>();
        let mut posed_once = once.at(&q1).unwrap();
        let mut moving_once = posed_once.moving(&varied(&qd, &ad)).unwrap();
        let change: Vec<D> = [&b[..], &bd, &bi].concat().into_iter().map(Dual::constant).collect();

        let mut out = vec![Dual::constant(Dual::constant(f64::NAN)); nv];
        moving.inverse_dynamics(&second(&qdd, &ai, &bi), &mut out).unwrap();
        let expect: Vec<f64> = out.iter().map(|x| x.derivative.derivative).collect();
        let mut linearized = moving_once.linearized(&varied(&qdd, &ai)).unwrap();
        let got = rate(nv, 1, |out| linearized.torque_change(&change, out));
        let size = |x: &[f64]| x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        worst.check("inverse", name, &got.data, &expect, size(&expect));

        moving.forward_dynamics(&second(&tau, &ai, &bi), &mut out).unwrap();
        let expect: Vec<f64> = out.iter().map(|x| x.derivative.derivative).collect();
        let mut found = vec![Dual::constant(0.0); nv];
        let mut linearized = moving_once.linearized_under(&varied(&tau, &ai), &mut found).unwrap();
        let got = rate(nv, 1, |out| linearized.acceleration_change(&change, out));
        let mass = Matrix::from_slice(nv, nv, &mechanism.mass_matrix(&q).unwrap());
        let condition = mass.norm() * mass.inverse().norm();
        worst.check("forward", name, &got.data, &expect, size(&expect) * condition);
    }
}

#[test]
fn long_chains_have_derivatives_too() {
    let n = 1300;
    let mut builder = Mechanism::builder("long");
    for k in 0..n {
        let inner = if k == 0 {
            "world".to_owned()
        } else {
            format!("link{}", k - 1)
        };
        let axis = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]][k % 2];
        let joint = Joint::revolute(format!("joint{k}"), axis).between(inner, format!("link{k}"));
        builder = builder
            .link(Link::new(format!("link{k}"), Inertia::rod(0.2, [0.0, 0.0, -0.1])))
            .joint(joint.at([0.0, 0.0, -0.1]));
    }
    let mechanism = builder.build().unwrap();
    let state = random_state(&mechanism, 3);
    let change = direction(n, 3);
    let (mut workspace, mut d) = (mechanism.workspace(), mechanism.derivatives());
    let mut posed = workspace.at(&state.q).unwrap();
    let mut moving = posed.moving(&state.qd).unwrap();
    let mut linearized = moving.linearized(&state.qdd).unwrap();
    linearized.inverse_derivatives(&mut d).unwrap();
    let (expect, scale) = sum_of_products(&d, &change);
    let got = vector(n, |out| linearized.torque_change(&change.concat(), out));
    assert_close_of("long chain", &got, &expect, scale, 1e-11);
}

#[test]
fn torques_and_accelerations_answer_external_forces() {
    for (seed, mechanism, State { q, qd, tau, .. }) in thousand().step_by(10) {
        let nv = mechanism.nv();
        let frame = mechanism.frame(&mechanism.links().last().unwrap().name).unwrap();
        let force = random_external(&mechanism, seed);
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let mut qdd = vec![0.0; nv];
        let mut linearized = moving.linearized_under(&tau, &mut qdd).unwrap();
        let mut dual = mechanism.workspace_of::<D>();
        for reference in [Reference::World, Reference::Local, Reference::Aligned] {
            let by_torque = vector(6 * nv, |out| linearized.torque_by_force(frame, reference, out));
            let by_motion = vector(6 * nv, |out| linearized.acceleration_by_force(frame, reference, out));
            for i in 0..6 {
                // The force varies from some value on along one of its coordinates.
                let mut f: [D; 6] = core::array::from_fn(|k| D::constant(force[k]));
                f[i].derivative = 1.0;
                let mut posed = dual.at(&support::dual::constant(&q)).unwrap();
                posed.apply_force(frame, reference, Force::from_array(f)).unwrap();
                let mut moving = posed.moving(&support::dual::constant(&qd)).unwrap();
                let (still, drive) = (support::dual::constant(&qdd), support::dual::constant(&tau));
                let torque = support::dual::rate(nv, 1, |out| moving.inverse_dynamics(&still, out));
                let motion = support::dual::rate(nv, 1, |out| moving.forward_dynamics(&drive, out));
                let column = |m: &[f64]| (0..nv).map(|j| m[6 * j + i]).collect::<Vec<f64>>();
                let size = |x: &[f64]| x.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
                assert_close_of("∂T/∂f", &column(&by_torque), &torque.data, size(&by_torque), 1e-12);
                assert_close_of("∂q̈/∂f", &column(&by_motion), &motion.data, size(&by_motion), 1e-9);
            }
        }
    }
}
