//! A race against a native Pinocchio benchmark.
//!
//! DIR holds `pinocchio_bench` (called with a text model and a name, it prints one JSON line per algorithm) and text
//! models. Both programs run in turn, three times each, so that a busy moment of the machine hits both; minima are
//! compared. Where Pinocchio has two ways to one result, the faster counts.

use crate::emitted;
use crate::test::cargo;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 3;

/// Our name of an algorithm, its words, and Pinocchio's names.
const ALGORITHMS: [(&str, &str, &[&str]); 8] = [
    ("fk", "forward kinematics", &["fk"]),
    ("jacobians", "Jacobians", &["jacobians"]),
    ("rnea", "inverse dynamics", &["rnea"]),
    ("crba", "mass matrix", &["crba_world", "crba_local"]),
    ("aba", "forward dynamics", &["aba_world", "aba_local"]),
    ("minv", "mass matrix inverse", &["minv"]),
    ("rnea_derivatives", "∂ inverse dynamics", &["rnea_derivatives"]),
    ("aba_derivatives", "∂ forward dynamics", &["aba_derivatives"]),
];

/// The place of forward dynamics among them.
const FORWARD: usize = 4;

/// Runs the race; whether it could be run.
pub(crate) fn run(root: &Path, directory: &Path) -> Result<bool, String> {
    let (rival, models) = found(directory)?;
    if !cargo(
        root,
        &["build", "--quiet", "--release", "--package", "linkwork-cli"],
        &[],
    )? {
        return Ok(false);
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let ours = target.join("release/linkwork");
    println!("minimum ns per call over {ROUNDS} rounds, one thread, one state\n");
    println!(
        "{:<10} {:<20} {:>10} {:>10} {:>7}",
        "robot", "", "linkwork", "pinocchio", "ratio"
    );
    for model in &models {
        let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut best = [[f64::INFINITY; 2]; ALGORITHMS.len()];
        let emitted = emitted::program(&ours, model, &target)?;
        let mut straight = f64::INFINITY;
        for _ in 0..ROUNDS {
            if let Some(program) = &emitted {
                straight = straight.min(minimum(&times(&mut Command::new(program))?, &["emitted"]));
            }
            let us = times(Command::new(&ours).arg("bench").arg(model).arg("--json"))?;
            let them = times(Command::new(&rival).arg(model).arg(&name))?;
            for (best, (alg, _, theirs)) in best.iter_mut().zip(ALGORITHMS) {
                best[0] = best[0].min(minimum(&us, &[alg]));
                best[1] = best[1].min(minimum(&them, theirs));
            }
        }
        for ([us, them], (_, words, _)) in best.into_iter().zip(ALGORITHMS) {
            println!("{name:<10} {words:<20} {us:>10.1} {them:>10.1} {:>6.2}×", them / us);
        }
        if emitted.is_some() {
            let them = best[FORWARD][1];
            println!(
                "{name:<10} {:<20} {straight:>10.1} {them:>10.1} {:>6.2}×",
                "the same, emitted",
                them / straight
            );
        }
        println!();
    }
    Ok(true)
}

/// The rival and the models of a directory.
fn found(directory: &Path) -> Result<(PathBuf, Vec<PathBuf>), String> {
    let problem = |e| format!("cannot open {}: {e}", directory.display());
    let directory = directory.canonicalize().map_err(problem)?;
    let rival = directory.join("pinocchio_bench");
    if !rival.is_file() {
        return Err(format!("there is no {}", rival.display()));
    }
    let mut models = Vec::new();
    for entry in std::fs::read_dir(&directory).map_err(problem)? {
        let path = entry.map_err(problem)?.path();
        if path.extension().is_some_and(|e| e == "txt") {
            models.push(path);
        }
    }
    models.sort();
    if models.is_empty() {
        return Err(format!("there is no text model in {}", directory.display()));
    }
    Ok((rival, models))
}

/// Algorithm and minimum of every line that a program prints.
fn times(command: &mut Command) -> Result<Vec<(String, f64)>, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("cannot run {program}: {e}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program} failed: {}", said.trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).ok()?;
        Some((line["alg"].as_str()?.to_owned(), line["min"].as_f64()?))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// The least time of some algorithms; infinite where there is none.
fn minimum(times: &[(String, f64)], algorithms: &[&str]) -> f64 {
    let chosen = times.iter().filter(|(alg, _)| algorithms.contains(&alg.as_str()));
    chosen.map(|(_, min)| *min).fold(f64::INFINITY, f64::min)
}
