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

    /// µs per step, contacts per step, the deepest penetration, and the height of the first body at the end.
    fn measure(&mut self, course: &Course, cone: &str) -> Option<[f64; 4]> {
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
    println!(
        "scene                 | linkwork: µs  contacts  deepest m  height m  iterations | MuJoCo pyramidal: µs  contacts  deepest m  height m | elliptic: µs | ratio"
    );
    for course in SCENES
        .iter()
        .filter(|s| only.as_ref().is_none_or(|name| s.name.contains(name.as_str())))
    {
        let mut ours = course.prepare()?;
        let told = ours.tell()?;
        let (mut least, mut pyramidal, mut elliptic) = (f64::INFINITY, [f64::INFINITY; 4], f64::INFINITY);
        for _ in 0..TURNS {
            least = least.min(ours.measure()?);
            let Some(peer) = &mut peer else { continue };
            if let Some(found) = peer.measure(course, "pyramidal") {
                pyramidal = [pyramidal[0].min(found[0]), found[1], found[2], found[3]];
            }
            if let Some(found) = peer.measure(course, "elliptic") {
                elliptic = elliptic.min(found[0]);
            }
        }
        let [theirs, contacts, deepest, height] = pyramidal;
        println!(
            "{:21} | {least:13.2} {:9.1} {:10.1e} {:9.4} {:11.2} | {theirs:20.2} {contacts:9.1} {deepest:10.1e} {height:9.4} | {elliptic:12.2} | {:.2} ×",
            course.name,
            told.contacts,
            told.deepest,
            told.height,
            told.iterations,
            theirs / least
        );
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
