//! How linearized dynamics grows with the number of links: products with vectors in proportion to it, matrices with its
//! square.
//!
//! ```sh
//! cargo run --release --example linearized_scaling
//! ```

use linkwork::model::{Joint, Link, Mechanism};
use linkwork::spatial::Inertia;
use std::time::Instant;

/// Rods in a row, every other axis turned.
fn chain(n: usize) -> linkwork::Result<Mechanism> {
    let mut builder = Mechanism::builder(format!("chain{n}"));
    for k in 0..n {
        let inner = if k == 0 {
            "world".to_owned()
        } else {
            format!("link{}", k - 1)
        };
        let axis = if k % 2 == 0 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let at = if k == 0 { 0.0 } else { -0.1 };
        let joint = Joint::revolute(format!("joint{k}"), axis).between(inner, format!("link{k}"));
        builder = builder
            .link(Link::new(format!("link{k}"), Inertia::rod(0.2, [0.0, 0.0, -0.1])))
            .joint(joint.at([0.0, 0.0, at]));
    }
    builder.build()
}

/// The least of several times, in µs.
fn least(mut work: impl FnMut() -> linkwork::Result<()>) -> linkwork::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        work()?;
        best = best.min(1e6 * start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn main() -> linkwork::Result<()> {
    println!("{:>6} {:>12} {:>12} {:>12} {:>12}   µs", "n", "δT", "δq̈", "∂T", "∂q̈");
    for n in [10, 100, 1000] {
        let robot = chain(n)?;
        let (mut workspace, mut matrices) = (robot.workspace(), robot.derivatives());
        let (mut posed_at, change) = (vec![0.01; n], vec![0.5; 3 * n]);
        posed_at[0] = 0.3;
        let mut posed = workspace.at(&posed_at)?;
        let mut moving = posed.moving(&vec![0.1; n])?;
        let (mut qdd, mut out) = (vec![0.0; n], vec![0.0; n]);
        let mut linearized = moving.linearized_under(&vec![0.0; n], &mut qdd)?;
        let torque = least(|| linearized.torque_change(&change, &mut out))?;
        let acceleration = least(|| linearized.acceleration_change(&change, &mut out))?;
        let inverse = least(|| linearized.inverse_derivatives(&mut matrices))?;
        let forward = least(|| linearized.forward_derivatives(&mut matrices))?;
        println!("{n:>6} {torque:>12.1} {acceleration:>12.1} {inverse:>12.1} {forward:>12.1}");
    }
    Ok(())
}
