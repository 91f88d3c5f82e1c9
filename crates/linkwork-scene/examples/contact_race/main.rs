//! Steps with contact beside MuJoCo's, on the same files and in the same run: microseconds per step at 2 ms, one thread.
//!
//! `cargo run --release -p linkwork-scene --example contact_race [SCENE]`, with LINKWORK_REFERENCE_PYTHON naming an interpreter that
//! has `mujoco`; without it only our own figures are printed. `cargo xtask contact` does both.

mod scenes;

use linkwork::Result;
use scenes::{Course, SCENES};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// How often each side is measured, in turns; the least counts, for other work on the machine only adds.
const TURNS: usize = 15;

/// R over what a direction yields where contacts are to be as deep as MuJoCo's.
const SOFT: f64 = 0.1;

/// MuJoCo, in a process of its own.
struct Peer {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    fn start() -> Option<Self> {
        let python = std::env::var_os("LINKWORK_REFERENCE_PYTHON")?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/contact_race/peer.py");
        let mut command = Command::new(python);
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let (ask, answers) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        Some(Self { child, ask, answers })
    }

    /// µs per world and step of many worlds.
    fn measure_worlds(&mut self, course: &Course, count: usize, steps: usize, threads: usize) -> Option<f64> {
        let Course { file, before, .. } = course;
        writeln!(self.ask, "worlds {file} {before} {count} {steps} {threads}").ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        line.trim().parse().ok()
    }

    /// µs per step, contacts per step, the deepest penetration, the height of the first body at the end, and the residuals.
    fn measure(&mut self, course: &Course, cone: &str) -> Option<[f64; 7]> {
        let Course {
            file,
            before,
            seconds,
            trots,
            ..
        } = course;
        writeln!(self.ask, "{file} {cone} {before} {seconds} {trots}").ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        let numbers: Vec<f64> = line.split_whitespace().filter_map(|x| x.parse().ok()).collect();
        numbers.try_into().ok()
    }
}

fn main() -> Result<()> {
    let only = std::env::args().nth(1);
    let mut peer = Peer::start();
    for course in SCENES
        .iter()
        .filter(|s| only.as_ref().is_none_or(|name| s.name.contains(name.as_str())))
    {
        let mut ours = course.prepare()?;
        let told = ours.tell()?;
        let (mut least, mut pyramidal, mut elliptic) = (f64::INFINITY, [f64::INFINITY; 7], [f64::INFINITY; 7]);
        for _ in 0..TURNS {
            least = least.min(ours.measure()?);
            let Some(peer) = &mut peer else { continue };
            for (cone, best) in [("pyramidal", &mut pyramidal), ("elliptic", &mut elliptic)] {
                if let Some(found) = peer.measure(course, cone) {
                    let time = best[0].min(found[0]);
                    *best = found;
                    best[0] = time;
                }
            }
        }
        // As deep as MuJoCo's contacts are, more or less: softer and looser.
        let mut soft = ours.softened(SOFT)?;
        let soft_told = soft.tell()?;
        let soft_least = (0..TURNS).try_fold(f64::INFINITY, |least, _| {
            Ok::<_, linkwork::Error>(soft.measure()?.min(least))
        })?;
        println!(
            "{}: {:.2} iterations per step, {:.2} with contacts as deep as MuJoCo's",
            course.name, told.iterations, soft_told.iterations
        );
        let [complementarity, excess, dissipation] = told.laws;
        let own = [
            least,
            told.contacts,
            told.deepest,
            told.height,
            complementarity,
            excess,
            dissipation,
        ];
        let [complementarity, excess, dissipation] = soft_told.laws;
        let softened = [
            soft_least,
            soft_told.contacts,
            soft_told.deepest,
            soft_told.height,
            complementarity,
            excess,
            dissipation,
        ];
        for (name, row) in [
            ("linkwork", own),
            ("linkwork, softer", softened),
            ("MuJoCo, pyramids", pyramidal),
            ("MuJoCo, cones", elliptic),
        ] {
            let [time, contacts, deepest, height, complementarity, excess, dissipation] = row;
            println!(
                "  {name:16} {time:8.2} µs ({:5.2} ×)  {contacts:5.1} contacts, {deepest:7.1e} m deep, height {height:6.3} m, \
                 γ_n v_n {complementarity:7.1e} J, cone {excess:8.1e} N s, friction {dissipation:7.1e} J",
                time / least
            );
        }
    }
    if only.as_ref().is_none_or(|name| name == "derivatives") {
        let ready = SCENES[3].prepare()?;
        let (matrices, product, contacts) = ready.measure_derivatives()?;
        println!(
            "derivatives of a step, humanoid lying, {contacts} contacts: matrices {matrices:.1} µs with the step, a product {product:.1} µs"
        );
    }
    if only.is_none_or(|name| name == "worlds") {
        race_worlds(&mut peer)?;
    }
    if let Some(Peer {
        mut child,
        ask,
        answers,
    }) = peer
    {
        drop((ask, answers));
        let _ = child.wait();
    }
    Ok(())
}

/// Many quadrupeds at once, on one thread and on two.
fn race_worlds(peer: &mut Option<Peer>) -> Result<()> {
    let (course, count, steps) = (&SCENES[0], 4096, 20);
    let ours = course.prepare()?;
    let mut single = f64::INFINITY;
    for _ in 0..3 {
        single = single.min(ours.measure_singles(count / 8, steps)?);
    }
    println!("quadrupeds one after the other: {single:.2} µs per world and step");
    for threads in [1, 2] {
        let (mut least, mut theirs) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..3 {
            least = least.min(ours.measure_worlds(count, steps, threads)?.0);
            if let Some(found) = peer
                .as_mut()
                .and_then(|peer| peer.measure_worlds(course, count, steps, threads))
            {
                theirs = theirs.min(found);
            }
        }
        println!(
            "{count} quadrupeds on {threads} threads: {least:.2} µs per world and step, MuJoCo {theirs:.2}, ratio {:.2} ×",
            theirs / least
        );
    }
    Ok(())
}
