//! The library's sweeps and the textbook's loops give the same.

mod support;

use linkwork::model::{Coupling, Joint, Link, examples};
use linkwork::spatial::Inertia;
use linkwork::{Error, Mechanism, Reference, reference};
use support::random::{random_state, random_tree};
use support::{assert_close, assert_close_of};

#[test]
fn the_textbooks_algorithms_agree_with_the_sweeps_on_random_trees() {
    for seed in 0..200 {
        let m = random_tree(seed, 12);
        let state = random_state(&m, seed);
        let (q, qd, x) = (&state.q, &state.qd, &state.qdd);
        let tau = m.inverse_dynamics(q, qd, x).unwrap();
        assert_close("T", &reference::inverse_dynamics(&m, q, qd, x).unwrap(), &tau, 1e-10);
        let mass = m.mass_matrix(q).unwrap();
        assert_close("𝓜", &reference::mass_matrix(&m, q).unwrap(), &mass, 1e-11);
        // Forward dynamics loses what 𝓜's condition says.
        let condition = m.workspace().at(q).unwrap().conditioning().unwrap().condition;
        let qdd = reference::forward_dynamics(&m, q, qd, &tau).unwrap();
        assert_close("q̈", &qdd, x, 1e-12 * condition.max(100.0));
        let inverse = m.mass_matrix_inverse(q).unwrap();
        let textbook = reference::mass_matrix_inverse(&m, q).unwrap();
        assert_close("𝓜⁻¹", &textbook, &inverse, 1e-12 * condition.max(100.0));
    }
    for seed in 0..100 {
        let m = random_tree(seed, 12);
        let state = random_state(&m, seed);
        let poses = reference::link_poses(&m, &state.q).unwrap();
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        for (link, pose) in m.links().iter().zip(&poses) {
            let id = m.link(&link.name).unwrap();
            let there = posed.pose(id).unwrap();
            assert!(
                (there.translation - pose.translation).norm() < 1e-11,
                "{seed}: {}",
                link.name
            );
            let turned = pose.rotation.to_rows().concat();
            assert_close("R", &turned, &there.rotation.to_rows().concat(), 1e-12);
            let mut jacobian = vec![0.0; 6 * m.nv()];
            posed.jacobian(id, Reference::Local, &mut jacobian).unwrap();
            assert_close("J", &reference::jacobian(&m, &state.q, id).unwrap(), &jacobian, 1e-11);
        }
    }
    let robot = examples::humanoid();
    let state = random_state(&robot, 3);
    let tau = robot.inverse_dynamics(&state.q, &state.qd, &state.qdd).unwrap();
    assert_close(
        "T",
        &reference::inverse_dynamics(&robot, &state.q, &state.qd, &state.qdd).unwrap(),
        &tau,
        1e-11,
    );
}

#[test]
fn the_textbooks_derivatives_agree_with_the_sweeps_on_random_trees() {
    for seed in 0..200 {
        let m = random_tree(seed, 12);
        let state = random_state(&m, seed);
        let (q, qd, x) = (&state.q, &state.qd, &state.qdd);
        let (mut workspace, mut out) = (m.workspace(), m.derivatives());
        let mut posed = workspace.at(q).unwrap();
        let condition = posed.conditioning().unwrap().condition;
        let mut moving = posed.moving(qd).unwrap();
        let mut linearized = moving.linearized(x).unwrap();
        linearized.inverse_derivatives(&mut out).unwrap();
        let [by_q, by_qd, mass] = reference::inverse_derivatives(&m, q, qd, x).unwrap();
        // Where speeds cancel, digits are of what they cancel from.
        let scale = |x: &[f64], y: &[f64]| x.iter().chain(y).fold(0.0, |most: f64, x| most.max(x.abs()));
        let of = |x: &[f64]| scale(x, out.by_input());
        assert_close_of("∂T/∂q", &by_q, out.by_q(), of(out.by_q()), 1e-10);
        assert_close_of("∂T/∂q̇", &by_qd, out.by_qd(), of(out.by_qd()), 1e-10);
        assert_close("𝓜", &mass, out.by_input(), 1e-11);
        // Each of these loses what 𝓜's condition says, and of what was lost in q̈ as much again.
        let tau = m.inverse_dynamics(q, qd, x).unwrap();
        let mut qdd = vec![0.0; m.nv()];
        let mut under = moving.linearized_under(&tau, &mut qdd).unwrap();
        under.forward_derivatives(&mut out).unwrap();
        let [by_q, by_qd, inverse] = reference::forward_derivatives(&m, q, qd, &tau).unwrap();
        let digits = 1e-12 * condition.max(100.0);
        let of = |x: &[f64]| scale(x, x).max(1.0);
        assert_close_of("∂q̈/∂q", &by_q, out.by_q(), of(out.by_q()), digits);
        assert_close_of("∂q̈/∂q̇", &by_qd, out.by_qd(), of(out.by_qd()), digits);
        assert_close("𝓜⁻¹", &inverse, out.by_input(), digits);
    }
}

#[test]
fn what_the_textbook_does_not_know_is_refused() {
    let rod = || Inertia::rod(1.0, [0.0, 0.0, 1.0]);
    let hinge = |name: &str, on: &str| Joint::revolute(name, [0.0, 1.0, 0.0]).between(on, name);
    let geared = Mechanism::builder("geared")
        .link(Link::new("a", rod()))
        .link(Link::new("b", rod()))
        .joint(hinge("a", "world"))
        .joint(hinge("b", "a"))
        .couple(Coupling::gear("b", "a", 2.0, 0.0))
        .build()
        .unwrap();
    let refused = reference::mass_matrix(&geared, &[0.0]);
    assert!(matches!(refused, Err(Error::Coupled { .. })), "{refused:?}");
    let arm = examples::puma560();
    assert!(reference::inverse_dynamics(&arm, &[0.0; 5], &[0.0; 6], &[0.0; 6]).is_err());
    assert!(reference::forward_dynamics(&arm, &[0.0; 6], &[0.0; 6], &[f64::NAN; 6]).is_err());
    assert!(reference::inverse_derivatives(&arm, &[0.0; 6], &[0.0; 6], &[f64::NAN; 6]).is_err());
    assert!(reference::mass_matrix_inverse(&geared, &[0.0]).is_err());
}
