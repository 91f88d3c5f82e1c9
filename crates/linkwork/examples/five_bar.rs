//! A five-bar parallel robot: two motors on the base move one point in the plane.
//!
//! `cargo run --release --example five_bar` writes five_bar.svg.

mod drawing;

use drawing::{BLUE, Drawing, GREY, RED};
use linkwork::closed::{ClosedMechanism, ClosedMotion, Constraint};
use linkwork::model::{Joint, Link, Mechanism};
use linkwork::simulate::{Integrator, RungeKutta4, State};
use linkwork::spatial::{Inertia, Pose};

/// Two chains of crank and rod, whose ends are one point.
fn five_bar() -> linkwork::Result<ClosedMechanism> {
    let mut builder = Mechanism::builder("five-bar").gravity([0.0, -9.81, 0.0]);
    for (side, x) in [("left", -0.1), ("right", 0.1)] {
        for (part, length, mass, inner, at) in [
            ("crank", 0.25, 0.6, "world".to_owned(), x),
            ("rod", 0.35, 0.4, format!("{side} crank"), 0.25),
        ] {
            let name = format!("{side} {part}");
            let body = Inertia::cuboid(mass, [length, 0.03, 0.03]).seen_from(&Pose::from_translation([
                length / 2.0,
                0.0,
                0.0,
            ]));
            builder = builder
                .link(Link::new(&*name, body))
                .joint(
                    Joint::revolute(&*name, [0.0, 0.0, 1.0])
                        .between(inner, &*name)
                        .at([at, 0.0, 0.0]),
                )
                .frame(
                    format!("{name} end"),
                    &*name,
                    Pose::from_translation([length, 0.0, 0.0]),
                );
        }
    }
    let tie = Constraint::point("tip", "left rod end", "right rod end");
    ClosedMechanism::new(builder.build()?, vec![tie])
}

/// Torques on the two cranks that accelerate them as wanted, whatever the rods then do.
fn computed_torque(
    robot: &ClosedMechanism,
    q: &[f64],
    qd: &[f64],
    wanted: [f64; 2],
    tau: &mut [f64],
) -> linkwork::Result<()> {
    const CRANKS: [usize; 2] = [0, 2];
    let mut workspace = robot.workspace();
    let mut posed = workspace.at(q)?;
    let mut basis = Vec::new();
    let freedom = posed.free_directions(&mut basis);
    assert_eq!(freedom, 2, "away from singularities");
    // Any accelerations that keep the loop, and then the free directions that bring the cranks where they should be.
    let mut moving = posed.moving(qd)?;
    let mut qdd = [0.0; 4];
    moving.forward_dynamics(&[0.0; 4], &mut qdd)?;
    let n = |row: usize, crank: usize| basis[4 * row + CRANKS[crank]];
    let missing = [0, 1].map(|i| wanted[i] - qdd[CRANKS[i]]);
    let det = n(0, 0) * n(1, 1) - n(0, 1) * n(1, 0);
    let z = [
        (missing[0] * n(1, 1) - missing[1] * n(1, 0)) / det,
        (missing[1] * n(0, 0) - missing[0] * n(0, 1)) / det,
    ];
    for i in 0..4 {
        qdd[i] += z[0] * basis[i] + z[1] * basis[4 + i];
    }
    moving.inverse_dynamics(&qdd, &CRANKS, tau)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let robot = five_bar()?;
    // The cranks' course: angle, speed and acceleration.
    let course = |t: f64, mean: f64, phase: f64| {
        let (a, w) = (0.45, 2.0);
        let x = w * t + phase;
        (mean + a * x.sin(), a * w * x.cos(), -a * w * w * x.sin())
    };
    let cranks = |t: f64| [course(t, 2.2, 0.0), course(t, 0.95, 1.2)];
    let start = cranks(0.0);
    let q = robot.assemble_holding(&[start[0].0, -1.2, start[1].0, 1.2], &["left crank", "right crank"])?;
    let mut state = State::at_rest(robot.mechanism(), &q);
    let drive = |now: linkwork::simulate::Now<'_>, _: &mut linkwork::workspace::Moving<'_>, tau: &mut [f64]| {
        let to = cranks(now.t);
        let wanted = [0, 1].map(|i| {
            let (q, qd) = (now.q[2 * i], now.v[2 * i]);
            to[i].2 + 30.0 * (to[i].1 - qd) + 225.0 * (to[i].0 - q)
        });
        computed_torque(&robot, now.q, now.v, wanted, tau)
    };
    let mut motion = ClosedMotion::new(&robot, drive)?;
    let mut integrator = RungeKutta4::new(robot.mechanism());
    let mut picture = Drawing::new("A five-bar robot and the path of its tip", "x, m", "y, m").in_metres();
    let mut path = Vec::new();
    let frames = [
        "left crank",
        "left crank end",
        "left rod end",
        "right crank end",
        "right crank",
    ];
    let frames = frames.map(|f| robot.mechanism().frame(f).expect("named above"));
    let mut workspace = robot.workspace();
    for step in 0..1600 {
        let points = {
            let mut posed = workspace.at(&state.q)?;
            frames.map(|f| posed.tree().pose(f).expect("a frame of the robot").translation)
        };
        path.push([points[2].x, points[2].y]);
        if step % 320 == 0 {
            picture.curve(
                "",
                if step == 0 { BLUE } else { GREY },
                3.0,
                points.map(|p| [p.x, p.y]).to_vec(),
            );
        }
        integrator.step(&mut motion, &mut state, 2e-3)?;
    }
    picture.curve("path of the tip", RED, 2.0, path);
    let to = cranks(state.t);
    println!(
        "cranks are {:.1e} and {:.1e} rad from their course",
        state.q[0] - to[0].0,
        state.q[2] - to[1].0
    );
    println!("largest gap of the loop: {:.1e} m", motion.worst_closure());
    picture.save("five_bar.svg")?;
    Ok(())
}
