//! Shares of links in a torque add up to inverse dynamics, and each is what its cause alone would give.

mod support;

use linkwork::algebra::{link_space, torque_shares};
use linkwork::spatial::Force;
use linkwork::{Mechanism, Reference};
use support::coupled;
use support::random::{Random, random_state, random_tree};

fn outside_forces(mechanism: &Mechanism, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed ^ 0x0f);
    let forces = |name: &String| match name.starts_with("cross of ") {
        true => vec![0.0; 6],
        false => random.numbers(6, 3.0),
    };
    link_space(mechanism).iter().flat_map(forces).collect()
}

fn check(mechanism: &Mechanism, q: &[f64], qd: &[f64], qdd: &[f64], seed: u64) {
    let outside = outside_forces(mechanism, seed);
    let n = mechanism.nv();
    let [mut all, mut still, mut gravity] = [(); 3].map(|()| vec![0.0; n]);
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q).unwrap();
    posed.gravity_torque(&mut gravity).unwrap();
    for (name, f) in link_space(mechanism).iter().zip(outside.chunks_exact(6)) {
        if let Ok(link) = mechanism.link(name) {
            let force = Force::from_array(core::array::from_fn(|i| f[i]));
            posed.apply_force(link, Reference::Local, force).unwrap();
        }
    }
    posed.moving(qd).unwrap().inverse_dynamics(qdd, &mut all).unwrap();
    workspace.at(q).unwrap().mass_times(qdd, &mut still).unwrap();
    for dof in 0..n {
        let shares = torque_shares(mechanism, q, qd, qdd, &outside, dof).unwrap();
        let size: f64 = shares
            .links
            .iter()
            .map(|s| s.acceleration.abs() + s.velocity.abs() + s.gravity.abs() + s.outside.abs())
            .sum();
        let close = |what: &str, x: f64, y: f64| {
            assert!(
                (x - y).abs() < 1e-9 * (1.0 + size),
                "seed {seed}, {dof}, {what}: {x} and {y}"
            );
        };
        close("all", shares.total, all[dof]);
        close("gravity", shares.links.iter().map(|s| s.gravity).sum(), gravity[dof]);
        if !mechanism.is_coupled() {
            let own = shares.links.iter().map(|s| s.acceleration).sum::<f64>() + shares.rotor;
            close("acceleration", own, still[dof]);
        }
    }
}

#[test]
fn shares_add_up_on_random_trees() {
    for seed in 0..60 {
        let mechanism = random_tree(seed, 9);
        let state = random_state(&mechanism, seed);
        check(&mechanism, &state.q, &state.qd, &state.qdd, seed);
    }
}

#[test]
fn shares_add_up_where_joints_follow_others() {
    for case in coupled::cases().take(12) {
        let qdd = Random::new(case.seed).numbers(case.coupled.nv(), 1.0);
        check(&case.coupled, &case.y, &case.yd, &qdd, case.seed);
    }
}

#[test]
fn bad_arguments_are_refused() {
    let arm = linkwork::model::examples::arm7();
    let x = [0.0; 7];
    assert!(torque_shares(&arm, &x, &x, &x, &[], 7).is_err());
    assert!(torque_shares(&arm, &x, &x, &x, &[0.0; 5], 0).is_err());
    assert!(torque_shares(&arm, &x, &x, &x[..3], &[], 0).is_err());
}
