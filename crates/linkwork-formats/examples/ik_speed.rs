//! Inverse kinematics of random reachable poses: how many are found, and how fast.
//!
//! `cargo run --release -p linkwork-formats --example ik_speed -- [ROBOT.urdf FRAME]…` takes arm7, puma560 and a humanoid
//! with four tasks, and then robots of files.

use linkwork::model::{FrameId, Mechanism, examples};
use linkwork::motion::{InverseKinematics, Options, Rates, Task};
use std::path::Path;
use std::time::Instant;

const POSES: u64 = 10_000;
const CLOSE: f64 = 1e-6;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    poses(&examples::puma560(), "link6_dh")?;
    poses(&examples::arm7(), "flange")?;
    let given: Vec<String> = std::env::args().skip(1).collect();
    for pair in given.chunks(2) {
        let [file, frame] = pair else {
            return Err("give a frame for every file".into());
        };
        let robot = linkwork_formats::load(Path::new(file), &linkwork_formats::Options::default())?;
        poses(&robot.mechanism, frame)?;
    }
    four_tasks(&examples::humanoid())
}

/// A start within limits.
fn home(m: &Mechanism) -> Result<Vec<f64>, Failure> {
    let mut q = m.neutral();
    m.clamp(&mut q)?;
    Ok(q)
}

fn place(m: &Mechanism, q: &[f64], frame: FrameId) -> Result<linkwork::spatial::Pose, Failure> {
    Ok(m.workspace().at(q)?.pose(frame)?)
}

fn middle(sorted: &mut [f64]) -> f64 {
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn poses(m: &Mechanism, frame: &str) -> Result<(), Failure> {
    let (hand, start) = (m.frame(frame)?, home(m)?);
    let targets: Vec<Vec<Task>> = (0..POSES)
        .map(|seed| Ok(vec![Task::pose(hand, place(m, &m.random(seed), hand)?)]))
        .collect::<Result<_, Failure>>()?;
    let options = Options {
        tolerance: 0.5 * CLOSE,
        ..Options::default()
    };
    let mut ik = InverseKinematics::new(m, targets[0].clone())?.options(options)?;
    let (mut times, mut solved, mut steps, mut restarts) = (Vec::new(), 0, 0, 0);
    let mut q = start.clone();
    for target in &targets {
        q.copy_from_slice(&start);
        ik.set(0, target[0].clone())?;
        let clock = Instant::now();
        let outcome = ik.solve(&mut q)?;
        times.push(clock.elapsed().as_secs_f64() * 1e6);
        solved += usize::from(ik.residuals()[0].largest() < CLOSE);
        steps += outcome.iterations;
        restarts += outcome.restarts;
    }
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let clock = Instant::now();
    let many = ik.solve_many(&targets, &start)?;
    let each = clock.elapsed().as_secs_f64() * 1e6 / many.len() as f64;
    println!(
        "{:10} {:.2} % to {CLOSE:.0e}; median {:.1} µs, mean {mean:.1} µs, in one batch {each:.1} µs; {:.1} steps, {:.2} restarts",
        m.name(),
        100.0 * solved as f64 / POSES as f64,
        middle(&mut times),
        steps as f64 / POSES as f64,
        restarts as f64 / POSES as f64,
    );
    step(m, vec![Task::pose(hand, place(m, &m.random(1), hand)?)], &start)
}

/// One step of the differential form, the least of many.
fn step(m: &Mechanism, tasks: Vec<Task>, q: &[f64]) -> Result<(), Failure> {
    let mut ik = InverseKinematics::new(m, tasks)?;
    let (mut v, rates) = (vec![0.0; m.nv()], Rates::default());
    let mut least = f64::INFINITY;
    for _ in 0..300 {
        let clock = Instant::now();
        for _ in 0..20 {
            ik.velocity(std::hint::black_box(q), &rates, &mut v)?;
        }
        least = least.min(clock.elapsed().as_secs_f64() * 1e6 / 20.0);
    }
    println!("{:10} a differential step with limits: {least:.2} µs", m.name());
    Ok(())
}

/// Both feet, a hand and the posture.
fn four_tasks(m: &Mechanism) -> Result<(), Failure> {
    let q = home(m)?;
    let tips: Vec<FrameId> = (0..m.links().len())
        .filter(|&i| !m.joints().iter().any(|j| j.parent == m.links()[i].name))
        .map(|i| m.frame(&m.links()[i].name))
        .collect::<Result<_, _>>()?;
    let mut tasks = Vec::new();
    for tip in tips.iter().take(3) {
        let mut there = place(m, &q, *tip)?;
        there.translation.z += 0.02;
        tasks.push(Task::pose(*tip, there));
    }
    tasks.push(Task::posture(q.clone()).weight(1e-2));
    println!("{:10} four tasks, {} degrees of freedom", m.name(), m.nv());
    step(m, tasks, &q)
}
