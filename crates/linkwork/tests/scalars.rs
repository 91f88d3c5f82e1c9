//! One source of every sweep, many scalars.
#![allow(non_snake_case)]

mod support;

use linkwork::model::Mechanism;
use linkwork::scalar::{Count, Dual, Scalar};
use linkwork::workspace::Derivatives;
use linkwork::{Reference, Workspace};
use support::assert_close;
use support::dense::Dense;
use support::dual::{along, constant, rate, varied};
use support::golden::{self, Case, Golden};
use support::library::{matrix, vector};
use support::matrix::Matrix;
use support::random::{State, random_state, random_tree};
use support::scale::{forward_scale, inverse_scale};
use support::worst::Worst;

fn lifted<S: Scalar>(x: &[f64]) -> Vec<S> {
    x.iter().map(|x| S::lift(*x)).collect()
}

/// Every sweep on one state: all that is written, in a row.
fn everything<S: Scalar>(mechanism: &Mechanism, state: &State) -> Vec<f64> {
    let (nv, none) = (mechanism.nv(), S::lift(f64::NAN));
    let [q, qd, qdd, tau] = [&state.q, &state.qd, &state.qdd, &state.tau].map(|x| lifted::<S>(x));
    let mut all: Vec<S> = Vec::new();
    let mut workspace: Workspace<S> = mechanism.workspace_of();
    let mut posed = workspace.at(&q).unwrap();
    let (mut square, mut six, mut three, mut one) = (
        vec![none; nv * nv],
        vec![none; 6 * nv],
        vec![none; 3 * nv],
        vec![none; nv],
    );
    let link = mechanism.link(&mechanism.links()[0].name).unwrap();
    posed.mass_matrix(&mut square).unwrap();
    all.extend(&square);
    posed.mass_matrix_inverse(&mut square).unwrap();
    all.extend(&square);
    posed.gravity_torque(&mut one).unwrap();
    all.extend(&one);
    posed.mass_times(&qd, &mut one).unwrap();
    all.extend(&one);
    posed.inverse_mass_times(&qd, &mut one).unwrap();
    all.extend(&one);
    all.push(posed.potential_energy());
    posed.com_jacobian(&mut three).unwrap();
    all.extend(&three);
    posed.centroidal_matrix(&mut six).unwrap();
    all.extend(&six);
    all.extend(posed.articulated_inertia(link).unwrap().as_flattened());
    all.extend(posed.composite_inertia(link).unwrap().as_flattened());
    let mut moving = posed.moving(&qd).unwrap();
    moving.jacobian_rate(link, Reference::Local, &mut six).unwrap();
    all.extend(&six);
    moving.centroidal_matrix_rate(&mut six).unwrap();
    all.extend(&six);
    moving.coriolis_matrix(&mut square).unwrap();
    all.extend(&square);
    all.push(moving.kinetic_energy());
    moving.inverse_dynamics(&qdd, &mut one).unwrap();
    all.extend(&one);
    moving.forward_dynamics(&tau, &mut one).unwrap();
    all.extend(&one);
    moving.forward_dynamics_bias_free(&tau, &mut one).unwrap();
    all.extend(&one);
    moving.forward_dynamics_biased(&tau, &mut one).unwrap();
    all.extend(&one);
    let driven = moving.with_torques(&tau, &mut one).unwrap();
    all.extend(driven.acceleration(link, Reference::World).unwrap().to_array());
    all.into_iter().map(|x| x.lane(0)).collect()
}

/// Trees of every kind of joint.
fn trees() -> impl Iterator<Item = (Mechanism, State)> {
    (0..200).map(|seed| {
        let mechanism = random_tree(seed, 20);
        let state = random_state(&mechanism, seed);
        (mechanism, state)
    })
}

#[test]
fn counting_leaves_every_bit_of_the_values() {
    for (mechanism, state) in trees() {
        let plain = everything::<f64>(&mechanism, &state);
        let same = |what: &str, other: Vec<f64>| {
            let differ = plain
                .iter()
                .zip(&other)
                .position(|(a, b)| a.to_bits() != b.to_bits() && a != b);
            assert_eq!(differ, None, "{what} of {}", mechanism.name());
        };
        same("counts", everything::<Count>(&mechanism, &state));
    }
}

#[test]
fn single_precision_is_right_to_single_precision() {
    let mut worst = Worst::new(5e-6);
    for (mechanism, State { q, qd, qdd, tau }) in trees() {
        let nv = mechanism.nv();
        // What single precision is given, double precision is given too.
        let rounded = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<f32>>();
        let wide = |x: &[f32]| x.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
        let [q, qd, qdd, tau] = [&q, &qd, &qdd, &tau].map(|x| rounded(x));
        let (q64, qd64, qdd64, tau64) = (wide(&q), wide(&qd), wide(&qdd), wide(&tau));
        let dense = Dense::new(&mechanism, &q64, &qd64);
        let (mut single, mut double) = (mechanism.workspace_of::<f32>(), mechanism.workspace());
        let (mut single, mut double) = (single.at(&q).unwrap(), double.at(&q64).unwrap());
        let mut check = |what, got: &[f32], expect: &[f64], scale| {
            worst.check(what, mechanism.name(), &wide(got), expect, scale);
        };
        let mut square = vec![0.0; nv * nv];
        single.mass_matrix(&mut square).unwrap();
        let mass = matrix(nv, nv, |out| double.mass_matrix(out));
        check("mass matrix", &square, &mass.data, mass.max_abs());
        let (mut single, mut double) = (single.moving(&qd).unwrap(), double.moving(&qd64).unwrap());
        let mut one = vec![0.0; nv];
        single.inverse_dynamics(&qdd, &mut one).unwrap();
        let expect = vector(nv, |out| double.inverse_dynamics(&qdd64, out));
        check("inverse dynamics", &one, &expect, inverse_scale(&dense, &qdd64));
        single.forward_dynamics(&tau, &mut one).unwrap();
        let expect = vector(nv, |out| double.forward_dynamics(&tau64, out));
        check("forward dynamics", &one, &expect, forward_scale(&dense, &tau64));

        let (mut narrow, mut full) = (mechanism.derivatives_of::<f32>(), mechanism.derivatives());
        let largest = |x: &[f64]| x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let torques =
            |by: &Derivatives, qdd: &[f64]| largest(by.by_q()).max(largest(by.by_qd())) + inverse_scale(&dense, qdd);
        let mut at = single.linearized(&qdd).unwrap();
        at.inverse_derivatives(&mut narrow).unwrap();
        let mut at = double.linearized(&qdd64).unwrap();
        at.inverse_derivatives(&mut full).unwrap();
        let scale = torques(&full, &qdd64);
        check("∂T/∂q", narrow.by_q(), full.by_q(), scale);
        check("∂T/∂q̇", narrow.by_qd(), full.by_qd(), scale);
        let mut at = single.linearized_under(&tau, &mut one).unwrap();
        at.forward_derivatives(&mut narrow).unwrap();
        let mut qdd = vec![0.0; nv];
        let mut at = double.linearized_under(&tau64, &mut qdd).unwrap();
        at.inverse_derivatives(&mut full).unwrap();
        let scale = dense.mass_matrix().inverse().norm() * torques(&full, &qdd);
        at.forward_derivatives(&mut full).unwrap();
        check("∂q̈/∂q", narrow.by_q(), full.by_q(), scale);
        check("∂q̈/∂q̇", narrow.by_qd(), full.by_qd(), scale);
    }
}

/// The derivatives of a function of (q, q̇) in every direction of the tangent space.
fn derivatives(
    Golden { mechanism, .. }: &Golden,
    Case { q, qd, .. }: &Case,
    f: impl Fn(&mut linkwork::workspace::Moving<Dual<f64>>, &mut [Dual<f64>]) -> linkwork::Result<()>,
) -> [Matrix; 2] {
    let nv = mechanism.nv();
    let mut workspace = mechanism.workspace_of();
    let (mut by_q, mut by_qd) = (Matrix::zeros(nv, nv), Matrix::zeros(nv, nv));
    for i in 0..nv {
        let mut direction = vec![0.0; nv];
        direction[i] = 1.0;
        let mut posed = workspace.at(&along(mechanism, q, &direction)).unwrap();
        let mut moving = posed.moving(&constant(qd)).unwrap();
        by_q.set_block(0, i, &rate(nv, 1, |out| f(&mut moving, out)));
        let mut posed = workspace.at(&constant(q)).unwrap();
        let mut moving = posed.moving(&varied(qd, &direction)).unwrap();
        by_qd.set_block(0, i, &rate(nv, 1, |out| f(&mut moving, out)));
    }
    [by_q, by_qd]
}

#[test]
fn dual_numbers_give_the_golden_derivatives_of_dynamics() {
    let mut compared = 0;
    for file in golden::load_all() {
        for case in &file.cases {
            let Some(dtau_dq) = case.expect.matrix("dtau_dq") else {
                continue;
            };
            compared += 1;
            let expect = |name| case.expect.matrix(name).unwrap().data;
            let (qdd, tau) = (constant(&case.qdd), constant(&case.tau));
            let [by_q, by_qd] = derivatives(&file, case, |moving, out| moving.inverse_dynamics(&qdd, out));
            assert_close(&format!("{} dtau_dq", file.name), &by_q.data, &dtau_dq.data, 1e-10);
            assert_close(
                &format!("{} dtau_dqd", file.name),
                &by_qd.data,
                &expect("dtau_dqd"),
                1e-10,
            );
            let [by_q, by_qd] = derivatives(&file, case, |moving, out| moving.forward_dynamics(&tau, out));
            assert_close(&format!("{} dqdd_dq", file.name), &by_q.data, &expect("dqdd_dq"), 1e-9);
            assert_close(
                &format!("{} dqdd_dqd", file.name),
                &by_qd.data,
                &expect("dqdd_dqd"),
                1e-9,
            );
        }
    }
    assert!(compared > 5);
}

type Twice = Dual<Dual<f64>>;

/// t and s of a function's second derivative ∂²/∂s∂t.
fn twice(value: f64, by_t: f64, by_s: f64) -> Twice {
    Dual::new(Dual::new(value, by_t), Dual::constant(by_s))
}

#[test]
fn the_mass_matrix_is_the_second_derivative_of_kinetic_energy() {
    for (mechanism, State { q, qd, .. }) in trees().filter(|(m, _)| m.nv() < 15) {
        let nv = mechanism.nv();
        let mass = mechanism.mass_matrix(&q).unwrap();
        let mut workspace = mechanism.workspace_of::<Twice>();
        let mut posed = workspace.at(&lifted(&q)).unwrap();
        let mut second = Vec::new();
        for i in 0..nv {
            for j in 0..nv {
                let unit = |k: usize, i: usize| if k == i { 1.0 } else { 0.0 };
                let v: Vec<Twice> = (0..nv).map(|k| twice(qd[k], unit(k, i), unit(k, j))).collect();
                second.push(posed.moving(&v).unwrap().kinetic_energy().derivative.derivative);
            }
        }
        assert_close(mechanism.name(), &second, &mass, 1e-12);
    }
}

#[test]
fn accelerations_are_second_derivatives_of_positions() {
    let mut worst = Worst::new(1e-12);
    for (mechanism, State { q, qd, qdd, .. }) in trees() {
        // q ⊕ (t q̇ + ½ t² q̈) at t = 0.
        let t = twice(0.0, 1.0, 1.0);
        let half = t * t * Twice::lift(0.5);
        let way: Vec<Twice> = (0..qd.len())
            .map(|i| t * Twice::lift(qd[i]) + half * Twice::lift(qdd[i]))
            .collect();
        let mut moved = lifted(&q);
        mechanism.integrate(&lifted(&q), &way, &mut moved).unwrap();
        let (mut nested, mut plain) = (mechanism.workspace_of::<Twice>(), mechanism.workspace());
        let (mut nested, mut plain) = (nested.at(&moved).unwrap(), plain.at(&q).unwrap());
        let mut moving = plain.moving(&qd).unwrap();
        let mut tau = vec![0.0; qd.len()];
        let speeds: Vec<f64> = (0..mechanism.links().len())
            .map(|k| {
                let id = mechanism.link(&mechanism.links()[k].name).unwrap();
                let v = moving.velocity(id, Reference::Aligned).unwrap();
                v.angular.norm() + v.linear.norm()
            })
            .collect();
        let speed = speeds.into_iter().fold(1.0, f64::max);
        let accelerating = moving.with_accelerations(&qdd, &mut tau).unwrap();
        for link in mechanism.links() {
            let id = mechanism.link(&link.name).unwrap();
            let at = nested.pose(id).unwrap().translation.to_array();
            let second = at.map(|x| x.derivative.derivative);
            let got = accelerating.acceleration(id, Reference::Aligned).unwrap().linear;
            let scale = (10.0 + got.norm() + speed) * speed;
            worst.check("acceleration", mechanism.name(), &got.to_array(), &second, scale);
        }
    }
}
