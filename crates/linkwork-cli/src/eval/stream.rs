//! Many states, one line each, in and out.
//!
//! Lines are taken as they come, so that a program on the other end of a pipe gets its answers at once. Where many lines
//! have come they are shared among threads; the order stays.

use super::quantity::{Evaluator, Question};
use super::state::{State, States};
use crate::user_error::UserError;
use anyhow::{Context, Result};
use std::io::{Read, Write};

/// What to compute, of what.
pub(crate) struct Stream<'a> {
    pub(crate) question: &'a Question,
    pub(crate) threads: usize,
}

/// As much is read at a time, in bytes.
const BLOCK: usize = 1 << 20;
/// Less than this is not worth another thread.
const SHARE: usize = 1 << 14;
/// A line may not be longer.
pub(super) const LONGEST: u64 = 1 << 28;

/// A line that is longer.
pub(super) fn too_long(name: &str, line: u64) -> anyhow::Error {
    UserError::failure(
        format!("{name}: line {line} is longer than {LONGEST} bytes"),
        "write one state per line",
    )
}

/// One thread's memory.
struct Worker<'a> {
    evaluator: Evaluator<'a>,
    state: State,
    states: States,
    /// The lines they were on.
    places: Vec<u64>,
    out: Vec<u8>,
    /// Lines read, and what went wrong at the last of them.
    lines: u64,
    problem: Option<anyhow::Error>,
}

impl Stream<'_> {
    /// Reads states until the end, and writes results.
    pub(crate) fn run(&self, name: &str, mut input: impl Read, mut out: impl Write) -> Result<()> {
        let Question {
            mechanism, quantities, ..
        } = self.question;
        let worker = |_| -> Result<Worker<'_>> {
            Ok(Worker {
                evaluator: Evaluator::new(self.question)?,
                state: State::new(mechanism),
                states: States::new(mechanism, quantities.iter().copied()),
                places: Vec::new(),
                out: Vec::new(),
                lines: 0,
                problem: None,
            })
        };
        let mut workers = (0..self.threads).map(worker).collect::<Result<Vec<_>>>()?;
        let (mut block, mut filled) = (vec![0; BLOCK], 0);
        let mut lines = 0;
        loop {
            if filled == block.len() {
                if filled as u64 >= LONGEST {
                    return Err(too_long(name, lines + 1));
                }
                block.resize(2 * filled, 0);
            }
            let read = input
                .read(&mut block[filled..])
                .with_context(|| format!("cannot read {name}"))?;
            filled += read;
            // The last line may have no end.
            let whole = if read == 0 {
                filled
            } else {
                end_of_line(&block[..filled])
            };
            let used = share(&mut workers, &block[..whole]);
            for worker in &mut workers[..used] {
                out.write_all(&worker.out)?;
                lines += worker.lines;
                if let Some(problem) = worker.problem.take() {
                    out.flush()?;
                    return Err(located(problem, &format!("{name}, line {lines}")));
                }
            }
            out.flush()?;
            block.copy_within(whole..filled, 0);
            filled -= whole;
            if read == 0 {
                return Ok(());
            }
        }
    }
}

fn located(problem: anyhow::Error, place: &str) -> anyhow::Error {
    UserError::failure(
        format!("{place}: {problem}"),
        "a state is a line such as {\"q\": [0.1, 0.2], \"v\": [0, 0]}",
    )
}

/// Where the last whole line ends.
fn end_of_line(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1)
}

/// Gives every worker some of the lines; how many had any.
fn share(workers: &mut [Worker<'_>], mut lines: &[u8]) -> usize {
    let parts = (lines.len() / SHARE).clamp(1, workers.len());
    if parts == 1 {
        workers[0].work(lines);
        return 1;
    }
    let each = lines.len() / parts;
    std::thread::scope(|scope| {
        for (i, worker) in workers[..parts].iter_mut().enumerate() {
            let end = if i + 1 == parts {
                lines.len()
            } else {
                let cut = each.min(lines.len());
                lines[cut..]
                    .iter()
                    .position(|b| *b == b'\n')
                    .map_or(lines.len(), |j| cut + j + 1)
            };
            let (mine, rest) = lines.split_at(end);
            lines = rest;
            scope.spawn(move || worker.work(mine));
        }
    });
    parts
}

impl Worker<'_> {
    fn work(&mut self, lines: &[u8]) {
        self.out.clear();
        self.lines = 0;
        for line in lines.split_inclusive(|b| *b == b'\n') {
            self.lines += 1;
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            if let Err(problem) = self.state.read(line) {
                let here = self.lines;
                self.evaluate();
                // What is wrong with a line before comes first.
                if self.problem.is_none() {
                    (self.lines, self.problem) = (here, Some(anyhow::Error::msg(problem)));
                }
                return;
            }
            self.states.push(&self.state);
            self.places.push(self.lines);
            if self.states.len() == self.evaluator.chunk() {
                self.evaluate();
            }
            if self.problem.is_some() {
                return;
            }
        }
        self.evaluate();
    }

    /// Answers the states that have been read.
    fn evaluate(&mut self) {
        if let Err((i, problem)) = self.evaluator.lines(&self.states, &mut self.out) {
            (self.lines, self.problem) = (self.places[i], Some(problem));
        }
        self.states.clear();
        self.places.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::Reference;
    use linkwork::model::{FrameId, examples};
    use linkwork::quantity::Quantity;

    fn run(input: &[u8], threads: usize) -> (String, Result<()>) {
        let question = Question {
            mechanism: examples::double_pendulum(),
            closed: None,
            quantities: vec![Quantity::find("forward_dynamics").unwrap()],
            frame: FrameId::WORLD,
            reference: Reference::World,
            joint: None,
        };
        let stream = Stream {
            question: &question,
            threads,
        };
        let mut out = Vec::new();
        let done = stream.run("input", input, &mut out);
        (String::from_utf8(out).unwrap(), done)
    }

    #[test]
    fn threads_keep_the_order() {
        let input: String = (0..20_000).map(|i| format!("{{\"q\": [{i}e-3, 0.5]}}\n")).collect();
        let (one, done) = run(input.as_bytes(), 1);
        done.unwrap();
        assert_eq!(one.lines().count(), 20_000);
        let (many, done) = run(input.trim_end().as_bytes(), 7);
        done.unwrap();
        assert!(one == many);
    }

    #[test]
    fn the_line_that_is_wrong_is_named_and_those_before_are_answered() {
        for threads in [1, 3] {
            let mut input: String = (0..5_000).map(|i| format!("{{\"q\": [{i}e-3, 0.5]}}\n\n")).collect();
            input += "{\"q\": [1]}\n{}\n";
            let (out, done) = run(input.as_bytes(), threads);
            assert_eq!(out.lines().count(), 5_000);
            let message = done.unwrap_err().to_string();
            assert!(message.starts_with("input, line 10001: q has 1 numbers"), "{message}");
        }
    }
}
