//! Three ways to eliminate followers from forward dynamics, measured: embedded in the recursion, which is what the library
//! does; by the factor of the independent joints' mass matrix; and by the tree's own factors with a small system that keeps
//! followers in step.
//!
//! `cargo run --release --example couplings`

use linkwork::model::{Coupling, Joint, Link, examples};
use linkwork::spatial::{Inertia, Pose};
use linkwork::workspace::Scaling;
use linkwork::{Mechanism, Result};
use std::time::Instant;

/// A robot with a rotor beside every joint of one degree of freedom: on the joint's parent, and so many times as fast.
fn with_rotors(robot: &Mechanism, count: usize) -> Result<Mechanism> {
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
fn chain(links: usize, gears: usize) -> Result<Mechanism> {
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

const STATES: usize = 16;

/// The least time of a call on one of the states, in microseconds; the first is called last.
fn least(mut call: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    let (mut best, begun) = (f64::INFINITY, Instant::now());
    for round in (0..STATES).rev().cycle() {
        let start = Instant::now();
        call(round)?;
        best = best.min(start.elapsed().as_secs_f64());
        if round == 0 && begun.elapsed().as_secs_f64() > 0.05 {
            break;
        }
    }
    Ok(1e6 * best)
}

/// x of a positive system, over the system and its right side.
fn solve(w: &mut [f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| w[i * n + k] * w[j * n + k]).sum();
            w[i * n + j] = if i == j {
                (w[i * n + i] - sum).sqrt()
            } else {
                (w[i * n + j] - sum) / w[j * n + j]
            };
        }
        let sum: f64 = (0..i).map(|k| w[i * n + k] * x[k]).sum();
        x[i] = (x[i] - sum) / w[i * n + i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| w[k * n + i] * x[k]).sum();
        x[i] = (x[i] - sum) / w[i * n + i];
    }
}

/// A mechanism, states of it, a velocity and torques.
struct Case<'a> {
    mechanism: &'a Mechanism,
    states: Vec<Vec<f64>>,
    qd: Vec<f64>,
    tau: Vec<f64>,
}

/// Microseconds of a call, and the accelerations at the first state.
type Answer = Result<(f64, Vec<f64>)>;

impl Case<'_> {
    /// As the library does it.
    fn embedded(&self) -> Answer {
        let (mut workspace, mut qdd) = (self.mechanism.workspace(), self.qd.clone());
        let time = least(|i| {
            let mut posed = workspace.at(&self.states[i])?;
            posed.moving(&self.qd)?.forward_dynamics(&self.tau, &mut qdd)
        })?;
        Ok((time, qdd))
    }

    /// q̈ = ℓ*ℓ(T − C), where 𝓜 = mm* and ℓ = m⁻¹.
    fn by_factor(&self) -> Answer {
        let (mut workspace, mut x, mut qdd) = (self.mechanism.workspace(), self.qd.clone(), self.qd.clone());
        let time = least(|i| {
            let mut posed = workspace.at(&self.states[i])?;
            let mut moving = posed.moving(&self.qd)?;
            moving.bias(&mut x)?;
            x.iter_mut().zip(&self.tau).for_each(|(x, tau)| *x = tau - *x);
            moving.working_moments(Scaling::Normalized, &x, &mut qdd)?;
            x.copy_from_slice(&qdd);
            moving.joint_rates(Scaling::Normalized, &x, &mut qdd)
        })?;
        Ok((time, qdd))
    }

    /// q̈ = q̈_f − 𝓜⁻¹C*(C𝓜⁻¹C*)⁻¹Cq̈_f on the tree of all joints, C having e_f − r e_l for a follower.
    fn by_tree(&self) -> Answer {
        let (mechanism, tree) = (self.mechanism, self.mechanism.uncoupled()?);
        // Per degree of freedom of the tree: whose it is among the independent ones, and the ratio.
        let (mut from, mut gears) = (vec![(0, 1.0); tree.nv()], Vec::new());
        for joint in tree.joints() {
            let (all, own) = (tree.joint(&joint.name)?, mechanism.joint(&joint.name)?);
            let start = tree.v_range(all)?.start;
            let Some(leader) = mechanism.follows(own)? else {
                mechanism
                    .v_range(own)?
                    .enumerate()
                    .for_each(|(i, v)| from[start + i] = (v, 1.0));
                continue;
            };
            let [_, ratio, _] = mechanism.coupling_at(own, 0.0)?;
            from[start] = (mechanism.v_range(leader)?.start, ratio);
            let leader = tree.joint(&mechanism.joints()[leader.index()].name)?;
            gears.push((start, tree.v_range(leader)?.start, ratio));
        }
        let (n, c) = (tree.nv(), gears.len());
        let qd: Vec<f64> = from.iter().map(|&(v, ratio)| ratio * self.qd[v]).collect();
        let mut tau: Vec<f64> = from.iter().map(|&(v, _)| self.tau[v]).collect();
        gears.iter().for_each(|&(follower, ..)| tau[follower] = 0.0);
        let states = self.states.iter().map(|q| mechanism.all_coordinates(q));
        let states = states.collect::<Result<Vec<_>>>()?;

        let (mut qdd, mut row, mut columns) = (vec![0.0; n], vec![0.0; n], vec![0.0; n * c]);
        let (mut w, mut lambda) = (vec![0.0; c * c], vec![0.0; c]);
        let mut workspace = tree.workspace();
        let time = least(|i| {
            let mut posed = workspace.at(&states[i])?;
            let mut moving = posed.moving(&qd)?;
            moving.forward_dynamics(&tau, &mut qdd)?;
            for (&(follower, leader, ratio), column) in gears.iter().zip(columns.chunks_exact_mut(n)) {
                (row[follower], row[leader]) = (1.0, -ratio);
                moving.inverse_mass_times(&row, column)?;
                (row[follower], row[leader]) = (0.0, 0.0);
            }
            for (i, &(follower, leader, ratio)) in gears.iter().enumerate() {
                for (j, column) in columns.chunks_exact(n).enumerate() {
                    w[i * c + j] = column[follower] - ratio * column[leader];
                }
                lambda[i] = qdd[follower] - ratio * qdd[leader];
            }
            solve(&mut w, &mut lambda);
            for (column, lambda) in columns.chunks_exact(n).zip(&lambda) {
                qdd.iter_mut().zip(column).for_each(|(x, column)| *x -= lambda * column);
            }
            Ok(())
        })?;
        let mut independent = self.qd.clone();
        for (&(v, ratio), qdd) in from.iter().zip(&qdd) {
            if ratio == 1.0 {
                independent[v] = *qdd;
            }
        }
        Ok((time, independent))
    }
}

fn main() -> Result<()> {
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
        chain(300, 100)?,
    ];
    println!("Forward dynamics, µs");
    println!("mechanism     independent followers   embedded  by factor    by tree");
    for mechanism in &cases {
        let nv = mechanism.nv();
        let case = Case {
            mechanism,
            states: (0..STATES as u64).map(|seed| mechanism.random(seed)).collect(),
            qd: vec![0.2; nv],
            tau: vec![1.0; nv],
        };
        let answers = [case.embedded()?, case.by_factor()?, case.by_tree()?];
        let size = answers[0].1.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        for (_, other) in &answers[1..] {
            let apart = answers[0].1.iter().zip(other).map(|(a, b)| (a - b).abs());
            let apart = apart.fold(0.0, f64::max) / size;
            assert!(apart < 1e-6, "{}: {apart:e}", mechanism.name());
        }
        let [a, b, c] = answers.map(|(time, _)| time);
        let followers = mechanism.couplings().len();
        println!(
            "{:14} {nv:10} {followers:9} {a:10.2} {b:10.2} {c:10.2}",
            mechanism.name()
        );
    }
    Ok(())
}
