//! Linear models along a trajectory, as iterative LQR and model predictive control take them: 200 knots in one call, several
//! to a register and on all threads; then a backward ignore them; and how long exact derivatives of one step take.
//!
//! ```sh
//! cargo run --release --example trajectory_linearization
//! ```

use linkwork::model::examples;
use linkwork::state_space::{Method, StepDerivatives};
use std::time::Instant;

/// Knots, and seconds between them.
const KNOTS: usize = 200;
const STEP: f64 = 0.01;

fn main() -> linkwork::Result<()> {
    let arm = examples::arm7();
    let n = arm.nv();
    // Joints that swing, state after state.
    let along = |f: fn(f64) -> f64| -> Vec<f64> {
        let angle = |k: usize| std::f64::consts::TAU * k as f64 / KNOTS as f64;
        (0..KNOTS).flat_map(|k| vec![0.5 * f(angle(k)); n]).collect()
    };
    let (q, qd) = (along(f64::sin), along(f64::cos));
    let mut tau = vec![0.0; n * KNOTS];
    let mut batch = arm.batch();
    batch.bias(&q, &qd, &mut tau)?;

    // ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ of every knot.
    let mut models = vec![0.0; 3 * n * n * KNOTS];
    batch.forward_derivatives(&q, &qd, &tau, &mut models)?;
    let start = Instant::now();
    batch.forward_derivatives(&q, &qd, &tau, &mut models)?;
    let all = start.elapsed().as_secs_f64();

    // The same, knot by knot.
    let (mut workspace, mut one, mut qdd) = (arm.workspace(), arm.derivatives(), vec![0.0; n]);
    let start = Instant::now();
    for k in 0..KNOTS {
        let part = |x: &[f64]| x[k * n..(k + 1) * n].to_vec();
        let mut posed = workspace.at(&part(&q))?;
        let mut moving = posed.moving(&part(&qd))?;
        moving
            .linearized_under(&part(&tau), &mut qdd)?
            .forward_derivatives(&mut one)?;
        let apart = one
            .by_q()
            .iter()
            .zip(&models[3 * n * n * k..])
            .map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) == 0.0, "a knot gets the same bits alone");
    }
    let each = start.elapsed().as_secs_f64();
    println!(
        "{KNOTS} knots of {}: {:.0} µs in one call, {:.0} µs one by one",
        arm.name(),
        1e6 * all,
        1e6 * each
    );

    // λ ← A*λ with A = [[1, h], [h ∂q̈/∂q, 1 + h ∂q̈/∂q̇]]: how the end answers a change at the start.
    let mut costate = vec![0.0; 2 * n];
    costate[0] = 1.0;
    for model in models.chunks_exact(3 * n * n).rev() {
        let (by_q, rest) = model.split_at(n * n);
        let by_qd = &rest[..n * n];
        let before = costate.clone();
        for j in 0..n {
            let through = |m: &[f64]| (0..n).map(|i| m[i * n + j] * before[n + i]).sum::<f64>();
            costate[j] = before[j] + STEP * through(by_q);
            costate[n + j] = before[n + j] + STEP * (before[j] + through(by_qd));
        }
    }
    println!(
        "the first joint at the end moves {:.3} for one at the start",
        costate[0]
    );
    for robot in [examples::double_pendulum(), arm, examples::humanoid()] {
        let (q, v) = (robot.random(1), vec![0.1; robot.nv()]);
        let mut times = Vec::new();
        for method in Method::ALL {
            let mut step = StepDerivatives::new(&robot, method, 1e-3)?;
            let mut least = f64::INFINITY;
            for _ in 0..300 {
                let start = Instant::now();
                step.at(&q, &v, &v, &[])?;
                least = least.min(start.elapsed().as_secs_f64());
            }
            times.push(format!("{method:?} {:.1} µs", 1e6 * least));
        }
        println!(
            "one step of {} with its derivatives: {}",
            robot.name(),
            times.join(", ")
        );
    }
    Ok(())
}
