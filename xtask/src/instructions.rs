//! Instructions that algorithms take, counted by valgrind: figures that no busy moment of a machine changes.

use crate::test::cargo;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::process::Command;

const ROBOTS: [&str; 2] = ["arm7", "humanoid"];
const ALGORITHMS: [&str; 14] = [
    "fk",
    "jacobians",
    "rnea",
    "crba",
    "aba",
    "minv",
    "rnea_derivatives",
    "aba_derivatives",
    "rnea_batch",
    "crba_batch",
    "aba_batch",
    "minv_batch",
    "rnea_derivatives_batch",
    "aba_derivatives_batch",
];
/// What a count may exceed the baseline by.
const MARGIN: f64 = 0.05;
/// Calls in the shorter and in the longer of two runs: their difference leaves the start out. That varies by some ten thousand
/// instructions, as hashes do, which is little beside so many calls.
const CALLS: [usize; 2] = [20, 420];
const BASELINE: &str = "xtask/instructions.json";

/// Compares with the baseline; what became slower.
pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let Some(counts) = count(root)? else {
        return Ok(Vec::new());
    };
    let text = std::fs::read_to_string(root.join(BASELINE)).map_err(|e| format!("cannot read {BASELINE}: {e}"))?;
    let baseline: Map<String, Value> =
        serde_json::from_str(&text).map_err(|e| format!("{BASELINE} is not a baseline: {e}"))?;
    let mut problems = Vec::new();
    for (name, count) in counts {
        let Some(before) = baseline.get(&name).and_then(Value::as_f64) else {
            // The baseline was written with a valgrind that does not know it.
            println!("{name:<28} {count:>9.0} instructions; `cargo xtask count` adds it to {BASELINE}");
            continue;
        };
        let ratio = count / before;
        println!("{name:<28} {count:>9.0} instructions, {:+.1} %", 100.0 * (ratio - 1.0));
        if ratio > 1.0 + MARGIN {
            problems.push(format!(
                "{name} takes {count:.0} instructions, {before:.0} before; if that is meant, run `cargo xtask count`"
            ));
        }
    }
    Ok(problems)
}

/// Writes the baseline; whether it could.
pub(crate) fn write(root: &Path) -> Result<bool, String> {
    let Some(counts) = count(root)? else {
        return Ok(false);
    };
    let map: Map<String, Value> = counts
        .into_iter()
        .map(|(name, n)| (name, Value::from(n.round())))
        .collect();
    let text = serde_json::to_string_pretty(&map).map_err(|e| e.to_string())?;
    std::fs::write(root.join(BASELINE), text + "\n").map_err(|e| format!("cannot write {BASELINE}: {e}"))?;
    Ok(true)
}

/// Instructions per call of every algorithm on every robot; none without valgrind, or on another processor.
fn count(root: &Path) -> Result<Option<Vec<(String, f64)>>, String> {
    if !cfg!(target_arch = "x86_64") {
        println!("the baseline is of x86-64: not counted");
        return Ok(None);
    }
    if !has_valgrind() {
        println!("there is no valgrind, and it could not be installed: instructions are not counted");
        return Ok(None);
    }
    let build = [
        "build",
        "--quiet",
        "--release",
        "--package",
        "linkwork",
        "--example",
        "steady",
    ];
    if !cargo(root, &build, &[])? {
        return Err("the example `steady` does not build".into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let program = target.join("release/examples/steady");
    let mut counts = Vec::new();
    for robot in ROBOTS {
        for algorithm in ALGORITHMS {
            let [short, long] = CALLS.map(|calls| instructions(&program, robot, algorithm, calls));
            let name = format!("{robot} {algorithm}");
            match (short?, long?) {
                (Some(short), Some(long)) => counts.push((name, (long - short) / (CALLS[1] - CALLS[0]) as f64)),
                _ => println!("{name:<28} this valgrind does not know all its instructions: not counted"),
            }
        }
    }
    Ok(Some(counts))
}

/// Whether there is valgrind; Debian's is installed where that is allowed.
fn has_valgrind() -> bool {
    let works = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let present = || works(Command::new("valgrind").arg("--version"));
    present()
        || works(Command::new("apt-get").args(["install", "--yes", "--quiet", "valgrind"])) && present()
        || works(Command::new("apt-get").arg("update"))
            && works(Command::new("apt-get").args(["install", "--yes", "--quiet", "valgrind"]))
            && present()
}

/// All instructions of a run; none if valgrind met one that it does not know.
fn instructions(program: &Path, robot: &str, algorithm: &str, calls: usize) -> Result<Option<f64>, String> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args([robot, algorithm, &calls.to_string()])
        .output()
        .map_err(|e| format!("cannot run valgrind: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("SIGILL") {
        return Ok(None);
    }
    if !output.status.success() {
        return Err(format!("{robot} {algorithm} failed under valgrind: {}", said.trim()));
    }
    total(&said)
        .map(Some)
        .ok_or_else(|| format!("valgrind did not count {robot} {algorithm}: {}", said.trim()))
}

/// The number of a line `==1== I refs: 1,234`.
fn total(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.contains("I") && line.contains("refs:"))?;
    line.rsplit_once(':')?.1.trim().replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_valgrind_counted_is_read() {
        assert_eq!(
            total("==7== Cachegrind\n==7== I   refs:      1,234,567\n"),
            Some(1_234_567.0)
        );
        assert_eq!(total("==7== killed"), None);
    }
}
