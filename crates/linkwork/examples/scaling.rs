//! How time grows with links: chains, stars and combs of up to a hundred thousand, in nanoseconds per link.
//!
//! `cargo run --release --example scaling`

use linkwork::Mechanism;
use linkwork::model::{Joint, Link};
use linkwork::spatial::Inertia;
use std::hint::black_box;
use std::time::Instant;

/// Which link carries a link.
type Parent = fn(usize) -> usize;

const SHAPES: [(&str, Parent); 3] = [
    ("chain", |k| k - 1),
    ("star", |_| 0),
    // A spine, and a rib on each of its links.
    ("comb", |k| if k % 2 == 1 { k - 1 } else { k - 2 }),
];

fn main() -> linkwork::Result<()> {
    println!(
        "{:<8} {:>8} {:>10} {:>10} {:>10} {:>12}",
        "", "links", "poses", "inverse", "forward", "build, ms"
    );
    for (name, parent) in SHAPES {
        for links in [100, 1_000, 10_000, 100_000] {
            let start = Instant::now();
            let mechanism = built(name, links, parent)?;
            let build = start.elapsed().as_secs_f64();
            let [poses, inverse, forward] = times(&mechanism)?;
            println!(
                "{name:<8} {links:>8} {poses:>10.1} {inverse:>10.1} {forward:>10.1} {:>12.1}",
                1e3 * build
            );
        }
    }
    Ok(())
}

/// Links on revolute joints of any direction.
fn built(name: &str, links: usize, parent: Parent) -> linkwork::Result<Mechanism> {
    let body = Inertia::new(1.0, [0.1, 0.05, 0.2], [0.2, 0.0, 0.0, 0.3, 0.0, 0.25]);
    let mut builder = Mechanism::builder(name);
    for k in 0..links {
        let on = if k == 0 {
            "world".into()
        } else {
            format!("link{}", parent(k))
        };
        let angle = k as f64;
        let axis = [angle.sin(), angle.cos(), (2.0 * angle).sin()];
        let joint = Joint::revolute(format!("joint{k}"), axis).between(on, format!("link{k}"));
        builder = builder
            .link(Link::new(format!("link{k}"), body))
            .joint(joint.at([0.01, 0.02, 0.03]));
    }
    builder.build()
}

/// Nanoseconds per link of poses, inverse and forward dynamics.
fn times(mechanism: &Mechanism) -> linkwork::Result<[f64; 3]> {
    let n = mechanism.nv();
    let q: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let (qd, given, mut out) = (vec![0.001; n], vec![0.001; n], vec![0.0; n]);
    let mut workspace = mechanism.workspace();
    let mut run = |algorithm: usize| {
        let mut posed = workspace.at(&q)?;
        match algorithm {
            0 => {
                black_box(posed.poses());
                Ok(())
            }
            1 => posed.moving(&qd)?.inverse_dynamics(&given, &mut out),
            _ => posed.moving(&qd)?.forward_dynamics(&given, &mut out),
        }
    };
    let mut least = [f64::INFINITY; 3];
    for (algorithm, least) in least.iter_mut().enumerate() {
        for _ in 0..(1_000_000 / n).max(8) {
            let start = Instant::now();
            run(algorithm)?;
            *least = least.min(1e9 * start.elapsed().as_secs_f64() / n as f64);
        }
    }
    Ok(least)
}
