//! Linear models along a trajectory, as iterative LQR and model predictive control take them: 200 knots in one pass, in
//! memory that is made once.
//!
//! ```sh
//! cargo run --release --example trajectory_linearization
//! ```

use linkwork::model::examples;
use linkwork::workspace::Derivatives;
use std::time::Instant;

fn main() -> linkwork::Result<()> {
    let arm = examples::arm7();
    let (nv, knots) = (arm.nv(), 200);
    let mut workspace = arm.workspace();
    let mut qdd = vec![0.0; nv];
    let mut models: Vec<Derivatives> = vec![arm.derivatives(); knots];
    let start = Instant::now();
    for (k, model) in models.iter_mut().enumerate() {
        let t = k as f64 / knots as f64;
        let (sin, cos) = (std::f64::consts::TAU * t).sin_cos();
        let mut posed = workspace.at(&vec![0.5 * sin; nv])?;
        let mut moving = posed.moving(&vec![0.5 * cos; nv])?;
        moving
            .linearized_under(&vec![0.0; nv], &mut qdd)?
            .forward_derivatives(model)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{knots} knots of {} in {:.1} µs", arm.name(), 1e6 * seconds);
    // A backward pass reads them as A = [[1, h], [h ∂q̈/∂q, 1 + h ∂q̈/∂q̇]] and B = [0, h 𝓜⁻¹].
    let last = &models[knots - 1];
    println!("∂q̈₁/∂q₁ at the end: {:.6}", last.by_q()[0]);
    Ok(())
}
