//! How long a step with contact takes as a chain that lies on the ground grows: `cargo run --release --example contact_scaling`.

use linkwork::contact::{Contact, Settings, Stepper, Surface};
use linkwork::model::{FrameId, Joint, Link, Mechanism};
use linkwork::spatial::{Inertia, Vec3};
use std::time::Instant;

const RADIUS: f64 = 0.02;

/// Links that hang together by hinges about y, the first one free.
fn chain(links: usize) -> linkwork::Result<Mechanism> {
    let mut builder = Mechanism::builder("chain");
    for i in 0..links {
        let name = format!("link{i}");
        let inertia = Inertia::new(0.1, [0.05, 0.0, 0.0], [4e-5, 0.0, 0.0, 1e-4, 0.0, 1e-4]);
        builder = builder.link(Link::new(name.clone(), inertia));
        builder = builder.joint(match i {
            0 => Joint::free("float").between("world", name),
            i => Joint::revolute(format!("hinge{i}"), [0.0, 1.0, 0.0])
                .between(format!("link{}", i - 1), name)
                .at([0.1, 0.0, 0.0])
                .damping(1e-3),
        });
    }
    builder.build()
}

fn main() -> linkwork::Result<()> {
    println!("links  contacts  iterations  µs per step  µs per link");
    for links in [10, 100, 1000, 10_000] {
        let m = chain(links)?;
        let frames: Vec<FrameId> = (0..links)
            .map(|i| m.frame(&format!("link{i}")))
            .collect::<Result<_, _>>()?;
        let mut stepper = Stepper::new(&m, Settings::new(0.002))?;
        let mut workspace = m.workspace();
        let (mut q, mut v, none) = (m.neutral(), vec![0.0; m.nv()], vec![0.0; m.nv()]);
        q[6] = RADIUS + 1e-4;
        let (mut least, mut bearing, mut iterations) = (f64::INFINITY, 0, 0);
        let (steps, mut contacts) = ((20_000 / links).clamp(12, 400), Vec::new());
        for step in 0..steps {
            contacts.clear();
            let mut posed = workspace.at(&q)?;
            for (i, frame) in frames.iter().enumerate() {
                let centre = posed.pose(*frame)?.point(Vec3::new(0.05, 0.0, 0.0));
                contacts.push(Contact {
                    id: i as u64,
                    a: *frame,
                    b: FrameId::WORLD,
                    point: centre - Vec3::new(0.0, 0.0, RADIUS),
                    normal: Vec3::new(0.0, 0.0, 1.0),
                    gap: centre.z - RADIUS,
                    surface: Surface::default(),
                });
            }
            let clock = Instant::now();
            let report = stepper.step(&mut q, &mut v, &none, &contacts)?;
            let time = 1e6 * clock.elapsed().as_secs_f64();
            // Once it lies.
            if step >= steps / 2 {
                least = least.min(time);
                bearing = report.contacts.iter().filter(|c| c.along > 0.0).count();
                iterations = report.iterations;
            }
        }
        println!(
            "{links:5}  {bearing:8}  {iterations:10}  {least:11.1}  {:11.3}",
            least / links as f64
        );
    }
    Ok(())
}
