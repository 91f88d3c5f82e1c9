//! Two ways to eliminate followers from forward dynamics, measured: by the factor of the independent joints' mass matrix,
//! or by the tree's own factors and a small system that keeps followers in step, which is what the library takes.
//!
//! `cargo run --release --example couplings`

use linkwork::Mechanism;
use linkwork::model::{Coupling, Joint, Link, examples};
use linkwork::spatial::{Inertia, Pose};
use std::time::Instant;

/// A robot with a rotor beside every joint of one degree of freedom: on the joint's parent, and so many times as fast.
fn with_rotors(robot: &Mechanism, count: usize) -> linkwork::Result<Mechanism> {
    let rotor = Inertia::new(0.1, [0.0; 3], [1e-4, 0.0, 0.0, 1e-4, 0.0, 1e-4]);
    let mut builder = robot.to_builder();
    for joint in robot.joints().iter().filter(|j| j.kind.nv() == 1).take(count) {
        let (name, shaft) = (format!("rotor of {}", joint.name), format!("shaft of {}", joint.name));
        let axis = Joint {
            name: shaft.clone(),
            child: name.clone(),
            ..joint.clone()
        };
        builder = builder.link(Link::new(name, rotor)).joint(axis);
        builder = builder.couple(Coupling::gear(shaft, &joint.name, 50.0, 0.0));
    }
    builder.build()
}

/// A chain of rods with gears between far joints.
fn chain(links: usize, gears: usize) -> linkwork::Result<Mechanism> {
    let rod = Inertia::rod(1.0, [0.0, 0.0, -0.2]);
    let mut builder = Mechanism::builder(format!("chain of {links}"));
    for i in 0..links {
        let axis = if i % 2 == 0 { [0.0, 1.0, 0.0] } else { [1.0, 0.0, 0.0] };
        let joint = Joint::revolute(format!("joint{i}"), axis);
        let parent = if i == 0 {
            "world".to_owned()
        } else {
            format!("link{}", i - 1)
        };
        let place = if i == 0 {
            Pose::IDENTITY
        } else {
            Pose::from_translation([0.0, 0.0, -0.2])
        };
        builder = builder.link(Link::new(format!("link{i}"), rod));
        builder = builder.joint(joint.between(parent, format!("link{i}")).placed(place));
    }
    for g in 0..gears {
        let follower = links - 1 - g * (links / 2) / gears;
        builder = builder.couple(Coupling::gear(
            format!("joint{follower}"),
            format!("joint{g}"),
            0.5,
            0.1,
        ));
    }
    builder.build()
}

/// The least time of a call of forward dynamics, in microseconds.
fn least(mechanism: &Mechanism, qdd: &mut [f64]) -> linkwork::Result<f64> {
    let nv = mechanism.nv();
    let (qd, tau) = (vec![0.2; nv], vec![1.0; nv]);
    let states: Vec<Vec<f64>> = (0..16).map(|seed| mechanism.random(seed)).collect();
    let mut workspace = mechanism.workspace();
    let mut best = f64::INFINITY;
    for round in 0..300 {
        let start = Instant::now();
        workspace
            .at(&states[round % 16])?
            .moving(&qd)?
            .forward_dynamics(&tau, qdd)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(1e6 * best)
}

fn main() -> linkwork::Result<()> {
    let cases = [
        with_rotors(&examples::arm7(), 7)?,
        with_rotors(&examples::puma560(), 1)?,
        with_rotors(&examples::quadruped(), 12)?,
        with_rotors(&examples::humanoid(), 99)?,
        chain(10, 1)?,
        chain(30, 1)?,
        chain(30, 5)?,
        chain(100, 1)?,
        chain(100, 20)?,
        chain(300, 1)?,
    ];
    println!(
        "{:16} independent followers  by factor, µs  by the tree, µs",
        "mechanism"
    );
    for mechanism in cases {
        let nv = mechanism.nv();
        let (mut one, mut other) = (vec![0.0; nv], vec![0.0; nv]);
        let factor = least(&mechanism.clone().coupled_by_factor(true), &mut one)?;
        let tree = least(&mechanism.clone().coupled_by_factor(false), &mut other)?;
        let size = one.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        assert!(
            one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-6 * size),
            "{}",
            mechanism.name()
        );
        let followers = mechanism.couplings().len();
        println!(
            "{:16} {nv:11} {followers:9} {factor:14.2} {tree:16.2}",
            mechanism.name()
        );
    }
    Ok(())
}
