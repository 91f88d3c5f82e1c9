//! A race that anyone can run: linkwork, Pinocchio compiled for this machine, and MuJoCo, in turns, as one table.
//!
//! Libraries and robots come from PyPI, into the cache. Robots run as their files say, where joints follow others, and with
//! every joint on its own, which is what Pinocchio computes. Minima over rounds are compared: a busy moment of the machine
//! hits all. Where Pinocchio has two ways to one result, the faster counts.

mod arms;
mod emitted;
pub(crate) mod motion;
mod rival;

use crate::test::cargo;
use rival::Rival;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 3;
/// States of a batch.
const BATCH: &str = "1024";

/// Names of algorithms in the programs' output, and as columns.
const ALGORITHMS: [(&str, &str); 8] = [
    ("aba", "forward"),
    ("rnea", "inverse"),
    ("crba", "𝓜"),
    ("minv", "𝓜⁻¹"),
    ("fk", "poses"),
    ("jacobians", "Jacobians"),
    ("rnea_derivatives", "∂T"),
    ("aba_derivatives", "∂q̈"),
];

/// The same of batches.
const BATCHED: [(&str, &str); 4] = [
    ("aba", "batch forward"),
    ("rnea", "batch inverse"),
    ("rnea_derivatives", "batch ∂T"),
    ("aba_derivatives", "batch ∂q̈"),
];

/// Runs the race; whether it could be run.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let rival = Rival::prepared(root)?;
    if !cargo(
        root,
        &[
            "build",
            "--quiet",
            "--release",
            "--package",
            "linkwork-cli",
            "--features",
            "lanes",
        ],
        &[],
    )? {
        return Ok(false);
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let ours = target.join("release/linkwork");
    println!("{}, one thread; {}\n", processor(), rival.versions.join(", "));
    let mut heads = vec!["minimum ns", "degrees of freedom"];
    heads.extend(ALGORITHMS.iter().map(|x| x.1));
    heads.extend(BATCHED.iter().map(|x| x.1));
    heads.push("MuJoCo's step");
    row(&heads.iter().map(ToString::to_string).collect::<Vec<_>>());
    row(&vec!["---".to_owned(); heads.len()]);
    for robot in &rival.robots {
        let mut lanes = vec![Lane::ours("", robot, &ours, &[])];
        if robot.follows()? {
            lanes.push(Lane::ours(", joints free", robot, &ours, &["--ignore-couplings"]));
        }
        let mut theirs = Lane::new(format!("{}, Pinocchio", robot.name));
        for _ in 0..ROUNDS {
            lanes.iter_mut().try_for_each(Lane::turn)?;
            theirs.take(Command::new(&rival.program).arg(&robot.model), false)?;
            if !robot.free {
                let script = root.join("xtask/src/race/mujoco_step.py");
                // MuJoCo does not read every file.
                let _ = theirs.take(Command::new(&rival.python).arg(script).arg(&robot.file), false);
            }
        }
        for lane in &lanes {
            lane.print();
        }
        theirs.print();
        for lane in &lanes {
            lane.print_against(&theirs);
        }
    }
    println!("\nA state of a batch of {BATCH} is compared with a call of Pinocchio, which has no batches.\n");
    emitted_race(&rival, &ours, &target)?;
    arms::run(root)
}

/// Forward dynamics as emitted source code, beside Pinocchio's.
fn emitted_race(rival: &Rival, ours: &Path, target: &Path) -> Result<(), String> {
    for robot in rival.robots.iter().filter(|robot| !robot.free) {
        let Some(program) = emitted::program(ours, &robot.file, target)? else {
            continue;
        };
        let mut lane = Lane::new(format!("{}, emitted forward dynamics", robot.name));
        for _ in 0..ROUNDS {
            lane.take(&mut Command::new(&program), false)?;
        }
        println!("{}: {:.0} ns", lane.name, lane.least("emitted", false));
    }
    Ok(())
}

/// One line of the table: a program on a robot.
struct Lane {
    name: String,
    freedom: usize,
    commands: Vec<(Command, bool)>,
    /// Algorithm, whether of a batch, and the least time.
    times: Vec<(String, bool, f64)>,
}

impl Lane {
    fn new(name: String) -> Self {
        Self {
            name,
            freedom: 0,
            commands: Vec::new(),
            times: Vec::new(),
        }
    }

    /// Our program, with and without batches.
    fn ours(how: &str, robot: &rival::Robot, program: &Path, options: &[&str]) -> Self {
        let mut lane = Self::new(format!("{}{how}", robot.name));
        for batch in [false, true] {
            let mut command = Command::new(program);
            command.arg("bench").arg(&robot.file).arg("--json").args(options);
            if robot.free {
                command.arg("--floating");
            }
            if batch {
                command.args(["--batch", BATCH]);
            }
            lane.commands.push((command, batch));
        }
        lane
    }

    fn turn(&mut self) -> Result<(), String> {
        let mut commands = core::mem::take(&mut self.commands);
        let done = commands
            .iter_mut()
            .try_for_each(|(command, batch)| self.take(command, *batch));
        self.commands = commands;
        done
    }

    /// Takes in what a program prints: a line of JSON for each algorithm.
    fn take(&mut self, command: &mut Command, batch: bool) -> Result<(), String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let output = command.output().map_err(|e| format!("cannot run {program}: {e}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{program} failed: {}", said.trim()));
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            if let (Some(alg), Some(min)) = (line["alg"].as_str(), line["min"].as_f64()) {
                self.times.push((alg.to_owned(), batch, min));
            }
            self.freedom = line["nv"].as_u64().map_or(self.freedom, |nv| nv as usize);
        }
        Ok(())
    }

    /// The least time of an algorithm; infinite where there is none.
    fn least(&self, alg: &str, batch: bool) -> f64 {
        let own = self.times.iter().filter(|(name, of, _)| name == alg && *of == batch);
        own.map(|(_, _, min)| *min).fold(f64::INFINITY, f64::min)
    }

    fn cells(&self, name: String, number: impl Fn(&str, bool) -> String) -> Vec<String> {
        let freedom = if self.freedom > 0 {
            self.freedom.to_string()
        } else {
            String::new()
        };
        let mut cells = vec![name, freedom];
        cells.extend(ALGORITHMS.iter().map(|(alg, _)| number(alg, false)));
        cells.extend(BATCHED.iter().map(|(alg, _)| number(alg, true)));
        cells.push(number("step", false));
        cells
    }

    fn print(&self) {
        row(&self.cells(self.name.clone(), |alg, batch| told(self.least(alg, batch), 0)));
    }

    /// How many times as fast as another, whose calls stand for states of batches too.
    fn print_against(&self, other: &Self) {
        let name = format!("{}, times Pinocchio", self.name);
        row(&self.cells(name, |alg, batch| {
            told(other.least(alg, false) / self.least(alg, batch), 1)
        }));
    }
}

fn told(x: f64, digits: usize) -> String {
    if x.is_finite() && x > 0.0 {
        format!("{x:.digits$}")
    } else {
        String::new()
    }
}

fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// What the machine calls its processor.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    name.map_or_else(
        || format!("{} with {cores} cores", std::env::consts::ARCH),
        |(_, name)| format!("{name} with {cores} cores"),
    )
}
