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

/// A row of the table: what is asked of Pinocchio, what it is called, and how ours computes it.
struct Row {
    alg: &'static str,
    name: &'static str,
    how: How,
}

/// How a program is run: one state, or batches on one thread, in single precision, or on two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    One,
    Batch,
    Single,
    Threads,
}

impl How {
    const ALL: [Self; 4] = [Self::One, Self::Batch, Self::Single, Self::Threads];

    fn options(self) -> &'static [&'static str] {
        match self {
            Self::One => &[],
            Self::Batch => &["--batch", BATCH],
            Self::Single => &["--batch", BATCH, "--scalar", "f32"],
            Self::Threads => &["--batch", BATCH, "--threads", "2"],
        }
    }
}

const fn row_of(alg: &'static str, name: &'static str, how: How) -> Row {
    Row { alg, name, how }
}

const ROWS: [Row; 16] = [
    row_of("aba", "forward dynamics", How::One),
    row_of("rnea", "inverse dynamics", How::One),
    row_of("crba", "mass matrix", How::One),
    row_of("minv", "inverse of the mass matrix", How::One),
    row_of("fk", "poses of all links", How::One),
    row_of("jacobians", "Jacobians", How::One),
    row_of("rnea_derivatives", "derivatives of inverse dynamics", How::One),
    row_of("aba_derivatives", "derivatives of forward dynamics", How::One),
    row_of("aba", "forward dynamics, per state of a batch", How::Batch),
    row_of("rnea", "inverse dynamics, per state of a batch", How::Batch),
    row_of("crba", "mass matrix, per state of a batch", How::Batch),
    row_of(
        "rnea_derivatives",
        "derivatives of inverse dynamics, per state of a batch",
        How::Batch,
    ),
    row_of(
        "aba_derivatives",
        "derivatives of forward dynamics, per state of a batch",
        How::Batch,
    ),
    row_of("aba", "forward dynamics, per state of a batch in `f32`", How::Single),
    row_of("rnea", "inverse dynamics, per state of a batch in `f32`", How::Single),
    row_of(
        "aba",
        "forward dynamics, per state of a batch on two threads",
        How::Threads,
    ),
];

/// Runs the race; whether it could be run.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let rival = Rival::prepared(root)?;
    let Some((ours, target)) = built(root)? else {
        return Ok(false);
    };
    println!("{}; {}\n", processor(), rival.versions.join(", "));
    // Ours and Pinocchio's, robot by robot.
    let mut lanes: Vec<(Lane, usize)> = Vec::new();
    let mut theirs: Vec<Lane> = Vec::new();
    for robot in &rival.robots {
        let mut own = vec![Lane::ours("", robot, &ours, &[])];
        if robot.follows()? {
            own.push(Lane::ours(", joints free", robot, &ours, &["--ignore-couplings"]));
        }
        let mut other = Lane::new(robot.name.clone());
        for _ in 0..ROUNDS {
            own.iter_mut().try_for_each(Lane::turn)?;
            other.take(Command::new(&rival.program).arg(&robot.model), How::One)?;
            if !robot.free {
                let script = root.join("xtask/src/race/mujoco_step.py");
                // MuJoCo does not read every file.
                let _ = other.take(Command::new(&rival.python).arg(script).arg(&robot.file), How::One);
            }
        }
        lanes.extend(own.into_iter().map(|lane| (lane, theirs.len())));
        theirs.push(other);
    }
    print(&lanes, &theirs);
    emitted_race(&rival, &ours, &target)?;
    arms::run(root)
}

/// Minima in nanoseconds, then how many times as fast as Pinocchio, whose calls stand for states of batches too.
fn print(lanes: &[(Lane, usize)], theirs: &[Lane]) {
    let table = |title: &str, names: Vec<String>, cell: &dyn Fn(&Row, usize) -> String| {
        let heads: Vec<String> = core::iter::once(title.to_owned()).chain(names).collect();
        row(&heads);
        row(&vec!["---".to_owned(); heads.len()]);
        for line in &ROWS {
            let cells: Vec<String> = (0..heads.len() - 1).map(|i| cell(line, i)).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                row(&[vec![line.name.to_owned()], cells].concat());
            }
        }
        println!();
    };
    let names = |lanes: &[(Lane, usize)]| lanes.iter().map(|(lane, _)| lane.name.clone()).collect::<Vec<_>>();
    let freedoms = lanes
        .iter()
        .map(|(lane, _)| format!("{}, {} freedoms", lane.name, lane.freedom));
    table("minimum ns", freedoms.collect(), &|line, i| {
        told(lanes[i].0.least(line.alg, line.how), 0)
    });
    let others = theirs
        .iter()
        .map(|lane| format!("{}, {} freedoms", lane.name, lane.freedom));
    table("Pinocchio, minimum ns", others.collect(), &|line, i| match line.how {
        How::One => told(theirs[i].least(line.alg, How::One), 0),
        _ => String::new(),
    });
    for lane in theirs {
        let step = told(lane.least("step", How::One), 0);
        if !step.is_empty() {
            println!("MuJoCo's step of {}: {step} ns", lane.name);
        }
    }
    println!();
    table("times Pinocchio", names(lanes), &|line, i| {
        let (own, other) = (&lanes[i].0, &theirs[lanes[i].1]);
        told(other.least(line.alg, How::One) / own.least(line.alg, line.how), 1)
    });
    for (lane, _) in lanes {
        let [one, two] = [How::Batch, How::Threads].map(|how| lane.least("aba", how));
        println!(
            "{}: {:.1} million forward dynamics a second on one core, {:.2} times as many on two",
            lane.name,
            1e3 / one,
            one / two
        );
    }
    println!(
        "\nBatches have {BATCH} states; a state of one is compared with a call of Pinocchio, which has no batches.\n"
    );
}

/// Forward dynamics as emitted source code, of the robot with every joint on its own, beside Pinocchio's.
fn emitted_race(rival: &Rival, ours: &Path, target: &Path) -> Result<(), String> {
    println!("| forward dynamics | emitted, ns | Pinocchio, ns | times Pinocchio |");
    println!("| --- | --- | --- | --- |");
    for robot in &rival.robots {
        let program = emitted::program(ours, robot, target)?;
        let (mut lane, mut theirs) = (Lane::new(robot.name.clone()), Lane::new(String::new()));
        for _ in 0..ROUNDS {
            lane.take(&mut Command::new(&program), How::One)?;
            theirs.take(Command::new(&rival.program).arg(&robot.model), How::One)?;
        }
        let (own, other) = (lane.least("emitted", How::One), theirs.least("aba", How::One));
        println!("| {} | {own:.0} | {other:.0} | {:.1} |", robot.name, other / own);
    }
    println!();
    Ok(())
}

/// The part of the race that is of emitted code.
pub(crate) fn run_emitted(root: &Path) -> Result<bool, String> {
    let rival = Rival::prepared(root)?;
    let Some((ours, target)) = built(root)? else {
        return Ok(false);
    };
    println!("{}, one thread; {}\n", processor(), rival.versions.join(", "));
    emitted_race(&rival, &ours, &target)?;
    Ok(true)
}

/// Builds our program: where it is, and the directory of all that is built.
fn built(root: &Path) -> Result<Option<(PathBuf, PathBuf)>, String> {
    let words = [
        "build",
        "--quiet",
        "--release",
        "--package",
        "linkwork-cli",
        "--features",
        "lanes",
        // What calls is compiled as a user's own crate is, not for a quick build as the program is.
        "--config",
        "profile.release.package.linkwork-cli.opt-level=2",
    ];
    if !cargo(root, &words, &[])? {
        return Ok(None);
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(Some((target.join("release/linkwork"), target)))
}

/// One line of the table: a program on a robot.
struct Lane {
    name: String,
    freedom: usize,
    commands: Vec<(Command, How)>,
    /// Algorithm, how it was run, and the least time.
    times: Vec<(String, How, f64)>,
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
        for how in How::ALL {
            let mut command = Command::new(program);
            command.arg("bench").arg(&robot.file).arg("--json").args(options);
            if robot.free {
                command.arg("--floating");
            }
            command.args(how.options());
            let algorithms: Vec<&str> = ROWS.iter().filter(|row| row.how == how).map(|row| row.alg).collect();
            command.args(["--algorithm", &algorithms.join(",")]);
            lane.commands.push((command, how));
        }
        lane
    }

    fn turn(&mut self) -> Result<(), String> {
        let mut commands = core::mem::take(&mut self.commands);
        let done = commands
            .iter_mut()
            .try_for_each(|(command, how)| self.take(command, *how));
        self.commands = commands;
        done
    }

    /// Takes in what a program prints: a line of JSON for each algorithm.
    fn take(&mut self, command: &mut Command, how: How) -> Result<(), String> {
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
                self.times.push((alg.to_owned(), how, min));
            }
            self.freedom = line["nv"].as_u64().map_or(self.freedom, |nv| nv as usize);
        }
        Ok(())
    }

    /// The least time of an algorithm; infinite where there is none.
    fn least(&self, alg: &str, how: How) -> f64 {
        let own = self.times.iter().filter(|(name, of, _)| name == alg && *of == how);
        own.map(|(_, _, min)| *min).fold(f64::INFINITY, f64::min)
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
