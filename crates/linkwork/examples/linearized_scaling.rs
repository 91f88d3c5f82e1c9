//! How linearized dynamics grows with the number of links, in time and in memory: products with vectors in proportion to
//! it, matrices with its square. Up to a thousand degrees of freedom, a workspace brings room for a dense result along.
//!
//! ```sh
//! cargo run --release --example linearized_scaling
//! ```

use linkwork::model::{Joint, Link, Mechanism};
use linkwork::spatial::Inertia;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The system's allocator, counting the bytes that are in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The bytes that are in use now and were not before, in kB.
fn more_than(before: usize) -> f64 {
    IN_USE.load(Ordering::Relaxed).saturating_sub(before) as f64 / 1e3
}

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
    // A combining mark takes no column.
    println!(
        "{:>6} {:>11} {:>12} {:>11} {:>12} {:>14} {:>14}",
        "n", "δT, µs", "δq̈, µs", "∂T, µs", "∂q̈, µs", "products, kB", "matrices, kB"
    );
    for n in [10, 100, 1000, 2000] {
        let robot = chain(n)?;
        let start = IN_USE.load(Ordering::Relaxed);
        let mut workspace = robot.workspace();
        let (mut posed_at, change) = (vec![0.01; n], vec![0.5; 3 * n]);
        posed_at[0] = 0.3;
        let mut posed = workspace.at(&posed_at)?;
        let mut moving = posed.moving(&vec![0.1; n])?;
        let (mut qdd, mut out) = (vec![0.0; n], vec![0.0; n]);
        let mut linearized = moving.linearized_under(&vec![0.0; n], &mut qdd)?;
        let torque = least(|| linearized.torque_change(&change, &mut out))?;
        let acceleration = least(|| linearized.acceleration_change(&change, &mut out))?;
        let products = more_than(start);
        let mut matrices = robot.derivatives();
        let inverse = least(|| linearized.inverse_derivatives(&mut matrices))?;
        let forward = least(|| linearized.forward_derivatives(&mut matrices))?;
        // All of it: the workspace may have grown too.
        let all = more_than(start);
        println!(
            "{n:>6} {torque:>11.1} {acceleration:>11.1} {inverse:>11.1} {forward:>11.1} {products:>14.1} {all:>14.1}"
        );
    }
    Ok(())
}
