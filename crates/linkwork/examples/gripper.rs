//! A gripper of two jointed fingers on one motor: three of its four joints follow the first.
//!
//! `cargo run --release --example gripper` writes gripper.svg.

mod drawing;

use drawing::{BLUE, Drawing, GREY};
use linkwork::model::{Coupling, Joint, Link, Mechanism};
use linkwork::simulate::{Dynamics, Integrator, Now, RungeKutta4, State};
use linkwork::spatial::{Inertia, Pose};
use linkwork::workspace::Moving;

fn gripper() -> linkwork::Result<Mechanism> {
    let mut builder = Mechanism::builder("gripper").gravity([0.0, 0.0, 0.0]);
    for (side, y) in [("left", 0.04), ("right", -0.04)] {
        for (part, length, inner, at) in [
            ("near", 0.06, "world".to_owned(), [0.0, y, 0.0]),
            ("far", 0.05, format!("{side} near"), [0.06, 0.0, 0.0]),
        ] {
            let name = format!("{side} {part}");
            let body = Inertia::cuboid(0.05, [length, 0.012, 0.012]).seen_from(&Pose::from_translation([
                length / 2.0,
                0.0,
                0.0,
            ]));
            builder = builder
                .link(Link::new(&*name, body))
                .joint(
                    Joint::revolute(&*name, [0.0, 0.0, 1.0])
                        .between(inner, &*name)
                        .at(at)
                        .damping(2e-3),
                )
                .frame(
                    format!("{name} end"),
                    &*name,
                    Pose::from_translation([length, 0.0, 0.0]),
                );
        }
    }
    builder
        .couple(Coupling::gear("left far", "left near", -1.4, 0.0))
        .couple(Coupling::gear("right near", "left near", -1.0, 0.0))
        .couple(Coupling::gear("right far", "left far", -1.0, 0.0))
        .build()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gripper = gripper()?;
    println!("{} joints, {} degree of freedom", gripper.joints().len(), gripper.nv());
    let open = [0.9];
    println!("the motor moves {:.3e} kg m²", gripper.mass_matrix(&open)?[0]);
    // A weak motor with a spring-like controller closes it.
    let close = |now: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]| {
        tau[0] = (0.05 * (0.1 - now.q[0]) - 0.004 * now.v[0]).clamp(-0.02, 0.02);
        Ok(())
    };
    let mut equations = Dynamics::new(&gripper, close)?;
    let mut integrator = RungeKutta4::new(&gripper);
    let mut state = State::at_rest(&gripper, &open);
    let mut picture = Drawing::new("Two fingers on one motor, closing", "x, m", "y, m").in_metres();
    let mut workspace = gripper.workspace();
    for step in 0..=1000 {
        if step % 125 == 0 {
            let mut posed = workspace.at(&state.q)?;
            for side in ["left", "right"] {
                let frames = ["near", "near end", "far end"].map(|f| gripper.frame(&format!("{side} {f}")));
                let points = frames.into_iter().map(|f| Ok(posed.pose(f?)?.translation));
                let points: linkwork::Result<Vec<_>> = points.map(|p| p.map(|p| [p.x, p.y])).collect();
                picture.curve("", if step == 1000 { BLUE } else { GREY }, 4.0, points?);
            }
        }
        integrator.step(&mut equations, &mut state, 2e-3)?;
    }
    println!(
        "closed to {:.3} rad; all joints at {:.3?}",
        state.q[0],
        gripper.all_coordinates(&state.q)?
    );
    picture.save("gripper.svg")?;
    Ok(())
}
