//! Torques that fall as velocities grow, in steps with contact.

use linkwork::contact::{Settings, Stepper};
use linkwork::model::examples;

/// 𝓜(v⁺ − v) = Δt(T − C − R(v⁺ − v)), however large R is.
#[test]
fn a_step_is_implicit_in_what_torques_fall_by() {
    let m = examples::arm7();
    let (n, dt) = (m.nv(), 0.01);
    let mut settings = Settings::new(dt);
    (settings.passive, settings.joint_friction, settings.joint_limits) = (false, false, false);
    let mut stepper = Stepper::new(&m, settings).unwrap();
    let wave = |phase: f64| -> Vec<f64> { (0..n).map(|i| (phase + 1.7 * i as f64).sin()).collect() };
    for large in [0.0, 1.0, 1e6] {
        let (start, v, torque) = (m.random(3), wave(0.3), wave(1.1));
        let resistance: Vec<f64> = wave(2.3).iter().map(|x| large * x * x).collect();
        let (mut q, mut after) = (start.clone(), v.clone());
        stepper
            .step_resisted(&mut q, &mut after, &[], |_, tau, r| {
                tau.copy_from_slice(&torque);
                r.copy_from_slice(&resistance);
                Ok(())
            })
            .unwrap();
        let mass = m.mass_matrix(&start).unwrap();
        let bias = m.inverse_dynamics(&start, &v, &vec![0.0; n]).unwrap();
        for i in 0..n {
            let gained: f64 = (0..n).map(|j| mass[i * n + j] * (after[j] - v[j])).sum();
            let given = dt * (torque[i] - bias[i] - resistance[i] * (after[i] - v[i]));
            let scale = gained.abs().max(dt * bias[i].abs()).max(1e-3);
            let near = 1e-9 * scale + 1e-15 * large;
            assert!((gained - given).abs() < near, "{large} {i}: {gained} {given}");
        }
        // What resists much hardly moves.
        if large > 1e3 {
            assert!((0..n).all(|i| (after[i] - v[i]).abs() * resistance[i] < 1e3));
        }
    }
}
