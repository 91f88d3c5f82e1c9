//! Inverse kinematics of random reachable poses: how many are found, and how fast. Steps of integrators with their derivatives.
//!
//! `cargo run --release -p linkwork-formats --features linkwork/lanes --example ik_speed -- [--write DIRECTORY] [ROBOT.urdf FRAME]…`
//! takes arm7, puma560 and a humanoid with four tasks, robots of files, and prints lines of a table. With `--write` the
//! problems are written down, for others to solve.

use linkwork::model::{FrameId, Mechanism, examples};
use linkwork::motion::{InverseKinematics, Rates, SolverOptions, Task};
use linkwork::spatial::Pose;
use linkwork::state_space::{Method, OperatingPoint, StateSpace, StepDerivatives};
use std::path::{Path, PathBuf};
use std::time::Instant;

const POSES: u64 = 10_000;
const CLOSE: f64 = 1e-6;
/// Poses that are written down.
const WRITTEN: usize = 1000;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut given: Vec<String> = std::env::args().skip(1).collect();
    let mut place = None;
    if given.first().is_some_and(|x| x == "--write") {
        place = Some(PathBuf::from(given.get(1).ok_or("--write needs a directory")?));
        given.drain(..2);
    }
    let place = place.as_deref();
    for pair in given.chunks(2) {
        let [file, frame] = pair else {
            return Err("give a frame for every file".into());
        };
        let robot = linkwork_formats::load(Path::new(file), &linkwork_formats::Options::default())?;
        poses(&robot.mechanism, frame, place)?;
    }
    poses(&examples::arm7(), "flange", place)?;
    poses(&examples::puma560(), "link6_dh", None)?;
    four_tasks(&examples::humanoid(), place)?;
    if place.is_none() {
        for m in [examples::double_pendulum(), examples::arm7(), examples::humanoid()] {
            step_derivatives(&m)?;
        }
    }
    Ok(())
}

/// A start within limits.
fn home(m: &Mechanism) -> Result<Vec<f64>, Failure> {
    let mut q = m.neutral();
    m.clamp(&mut q)?;
    Ok(q)
}

fn place_of(m: &Mechanism, q: &[f64], frame: FrameId) -> Result<Pose, Failure> {
    Ok(m.workspace().at(q)?.pose(frame)?)
}

fn middle(sorted: &mut [f64]) -> f64 {
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The least time of a call, in µs.
fn least(mut call: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut least = f64::INFINITY;
    for _ in 0..300 {
        let clock = Instant::now();
        for _ in 0..20 {
            call()?;
        }
        least = least.min(clock.elapsed().as_secs_f64() * 1e6 / 20.0);
    }
    Ok(least)
}

fn poses(m: &Mechanism, frame: &str, place: Option<&Path>) -> Result<(), Failure> {
    let (hand, start) = (m.frame(frame)?, home(m)?);
    let wanted: Vec<Pose> = (0..POSES)
        .map(|seed| place_of(m, &m.random(seed), hand))
        .collect::<Result<_, _>>()?;
    let targets: Vec<Vec<Task>> = wanted.iter().map(|pose| vec![Task::pose(hand, *pose)]).collect();
    if let Some(place) = place {
        let rows: Vec<String> = wanted[..WRITTEN].iter().map(matrix).collect();
        let base = m
            .joints()
            .iter()
            .find(|j| j.parent == "world")
            .map_or("world", |j| &j.child);
        let base = if base == "world" { &m.links()[0].name } else { base };
        let text = format!(
            "{{\"floating\": false, \"base\": \"{base}\", \"frame\": \"{frame}\", \"start\": {start:?}, \"targets\": [{}]}}",
            rows.join(", ")
        );
        std::fs::write(place.join(format!("{}.json", name(m))), text)?;
    }
    let options = SolverOptions {
        tolerance: 0.5 * CLOSE,
        ..SolverOptions::default()
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
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut each = f64::INFINITY;
    for _ in 0..3 {
        let clock = Instant::now();
        threads.install(|| ik.solve_many(&targets, &start))?;
        each = each.min(clock.elapsed().as_secs_f64() * 1e6 / POSES as f64);
    }
    let step = differential(m, vec![Task::pose(hand, place_of(m, &m.random(1), hand)?)], &start)?;
    println!(
        "| {} | linkwork | {:.2} % of {POSES} | {:.1} µs | {step:.2} µs |",
        name(m),
        100.0 * solved as f64 / POSES as f64,
        middle(&mut times),
    );
    println!(
        "| {} | linkwork, in one batch on one core | the same | {each:.1} µs each, {mean:.1} µs one by one; {:.1} steps, {:.2} restarts | |",
        name(m),
        steps as f64 / POSES as f64,
        restarts as f64 / POSES as f64,
    );
    Ok(())
}

/// A short name of a robot.
fn name(m: &Mechanism) -> &str {
    m.name().trim_end_matches("_robot")
}

fn matrix(pose: &Pose) -> String {
    let (r, p) = (pose.rotation.to_rows(), pose.translation.to_array());
    let rows = [0, 1, 2].map(|i| format!("{:?}, {:?}, {:?}, {:?}", r[i][0], r[i][1], r[i][2], p[i]));
    format!("[{}, 0, 0, 0, 1]", rows.join(", "))
}

/// One step of the differential form, the least of many.
fn differential(m: &Mechanism, tasks: Vec<Task>, q: &[f64]) -> Result<f64, Failure> {
    let mut ik = InverseKinematics::new(m, tasks)?;
    let (mut v, rates) = (vec![0.0; m.nv()], Rates::default());
    least(|| Ok(ik.velocity(std::hint::black_box(q), &rates, &mut v)?))
}

/// Both feet, a hand and the posture.
fn four_tasks(m: &Mechanism, place: Option<&Path>) -> Result<(), Failure> {
    let (q, names) = (home(m)?, ["left_foot", "right_foot", "left_hand"]);
    let mut tasks = Vec::new();
    for tip in names {
        let tip = m.frame(tip)?;
        let mut there = place_of(m, &q, tip)?;
        there.translation.z += 0.02;
        tasks.push(Task::pose(tip, there));
    }
    tasks.push(Task::posture(q.clone()).weight(1e-2));
    if let Some(place) = place {
        let text = format!("{{\"floating\": true, \"tips\": {names:?}, \"start\": [], \"targets\": []}}");
        std::fs::write(place.join(format!("{}.json", name(m))), text)?;
    }
    let step = differential(m, tasks, &q)?;
    println!("| {}, four tasks | linkwork | | | {step:.2} µs |", name(m));
    Ok(())
}

/// A step of an integrator and its derivatives, alone and for many knots on one core.
fn step_derivatives(m: &Mechanism) -> Result<(), Failure> {
    const KNOTS: u64 = 200;
    let h = 0.01;
    let knots: Vec<OperatingPoint> = (0..KNOTS)
        .map(|seed| OperatingPoint {
            q: m.random(seed),
            qd: (0..m.nv()).map(|i| 0.1 * (i as f64 + seed as f64).sin()).collect(),
            tau: vec![0.0; m.nv()],
            forces: Vec::new(),
        })
        .collect();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for method in [Method::SemiImplicitEuler, Method::RungeKutta4] {
        let mut step = StepDerivatives::new(m, method, h)?;
        let p = &knots[0];
        let alone = least(|| Ok(step.at(&p.q, &p.qd, &p.tau, &p.forces)?))?;
        let whole = least(|| StateSpace::of_step(m, p, method, h).map(drop).map_err(Into::into))?;
        let mut each = f64::INFINITY;
        for _ in 0..5 {
            let clock = Instant::now();
            threads.install(|| StateSpace::of_steps(m, &knots, method, h))?;
            each = each.min(clock.elapsed().as_secs_f64() * 1e6 / KNOTS as f64);
        }
        println!(
            "{}, {method:?}: derivatives of a step {alone:.2} µs, as a model with names {whole:.2} µs, of {KNOTS} knots {each:.2} µs each",
            m.name()
        );
    }
    Ok(())
}
