//! Quantities of many states, as lines of JSON.

use super::state::States;
use anyhow::Result;
use linkwork::closed::ClosedMechanism;
use linkwork::model::{FrameId, JointId};
use linkwork::quantity::{BatchEvaluation, Evaluation, Given, Input, Quantity, Room};
use linkwork::{Mechanism, Reference, Workspace};

/// What is asked of every state.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) mechanism: Mechanism,
    pub(crate) closed: Option<ClosedMechanism>,
    pub(crate) quantities: Vec<&'static Quantity>,
    pub(crate) frame: FrameId,
    pub(crate) reference: Reference,
    pub(crate) joint: Option<JointId>,
}

impl Question {
    fn complete<'a>(&self, given: Given<'a>) -> Given<'a> {
        Given {
            frame: self.frame,
            reference: self.reference,
            joint: self.joint,
            ..given
        }
    }

    fn evaluation(&self) -> Evaluation {
        match &self.closed {
            Some(closed) => Evaluation::of_closed(closed),
            None => Evaluation::new(&self.mechanism),
        }
    }

    /// The dimensions of every quantity.
    pub(crate) fn dimensions(&self) -> linkwork::Result<Vec<Vec<usize>>> {
        let (evaluation, given) = (self.evaluation(), self.complete(Given::default()));
        let dimensions = self.quantities.iter().map(|q| evaluation.dimensions(q, &given));
        dimensions.collect()
    }
}

/// So many states are evaluated together, unless their results are large.
const CHUNK: usize = 256;
/// So many numbers may the results of one quantity have.
const LARGE: usize = 1 << 20;

/// Memory for answering a question.
pub(crate) struct Evaluator<'a> {
    question: &'a Question,
    /// The dimensions and the numbers of every quantity, state after state.
    results: Vec<Answer>,
    workspace: Workspace,
    loops: Evaluation,
    batch: BatchEvaluation,
    still: Vec<f64>,
    room: Room,
    chunk: usize,
}

struct Answer {
    quantity: &'static Quantity,
    dimensions: Vec<usize>,
    size: usize,
    numbers: Vec<f64>,
}

impl Answer {
    fn of(&self, state: usize) -> &[f64] {
        &self.numbers[state * self.size..(state + 1) * self.size]
    }
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(question: &'a Question) -> Result<Self> {
        let dimensions = question.dimensions()?;
        let sizes = dimensions.iter().map(|d| d.iter().product::<usize>());
        let chunk = (LARGE / sizes.max().unwrap_or(1).max(1)).clamp(1, CHUNK);
        let answer = |(quantity, dimensions): (&&'static Quantity, Vec<usize>)| {
            let size = dimensions.iter().product();
            Answer {
                quantity,
                dimensions,
                size,
                numbers: vec![0.0; chunk * size],
            }
        };
        let mechanism = &question.mechanism;
        Ok(Self {
            question,
            results: question.quantities.iter().zip(dimensions).map(answer).collect(),
            workspace: mechanism.workspace(),
            loops: question.evaluation(),
            // Threads share lines, not states.
            batch: BatchEvaluation::new(mechanism).with_threads(1),
            still: vec![0.0; mechanism.nv()],
            room: Room::default(),
            chunk,
        })
    }

    /// How many states to give at once, at most.
    pub(crate) fn chunk(&self) -> usize {
        self.chunk
    }

    /// Computes all quantities. An error comes with the state it belongs to; those before it are computed.
    fn compute(&mut self, states: &States) -> Result<(), (usize, anyhow::Error)> {
        let n = states.len();
        let mut together = n > 1;
        let all = self.question.complete(states.all());
        for answer in self.results.iter_mut().filter(|a| a.quantity.has_lanes()) {
            if together {
                let out = &mut answer.numbers[..n * answer.size];
                // Where a state fails, each is taken by itself, to find which.
                together = self.batch.evaluate(answer.quantity, &all, out).is_ok();
            }
        }
        for i in 0..n {
            self.alone(states, i, together).map_err(|e| (i, e.into()))?;
        }
        Ok(())
    }

    /// Computes what has not been computed for all states together.
    fn alone(&mut self, states: &States, i: usize, together: bool) -> linkwork::Result<()> {
        let left = |answer: &Answer| !(together && answer.quantity.has_lanes());
        if !self.results.iter().any(left) {
            return Ok(());
        }
        let given = self.question.complete(states.one(i));
        let moves = self.results.iter().any(|a| a.quantity.takes(Input::Qd));
        let mut posed = self.workspace.at(given.q)?;
        let mut moving = posed.moving(if moves { given.qd } else { &self.still })?;
        for answer in self.results.iter_mut().filter(|a| left(a)) {
            let out = &mut answer.numbers[i * answer.size..(i + 1) * answer.size];
            if answer.quantity.is_of_loops() {
                self.loops.evaluate(answer.quantity, &given, out)?;
            } else {
                answer.quantity.evaluate_at(&mut moving, &given, &mut self.room, out)?;
            }
        }
        Ok(())
    }

    /// Appends a line of JSON for every state. An error comes with the state it belongs to; lines before it are there.
    pub(crate) fn lines(&mut self, states: &States, out: &mut Vec<u8>) -> Result<(), (usize, anyhow::Error)> {
        let done = self.compute(states);
        for i in 0..done.as_ref().map_or_else(|(i, _)| *i, |()| states.len()) {
            self.line(i, out);
        }
        done
    }

    /// The line of a state.
    fn line(&self, state: usize, out: &mut Vec<u8>) {
        for (k, answer) in self.results.iter().enumerate() {
            out.extend_from_slice(if k == 0 { b"{\"" } else { b",\"" });
            out.extend_from_slice(answer.quantity.name.as_bytes());
            out.extend_from_slice(b"\":");
            nested(answer.of(state), &answer.dimensions, out);
        }
        out.extend_from_slice(b"}\n");
    }

    /// The first state for people to read: a heading for each quantity, and rows of numbers.
    pub(crate) fn table(&mut self, states: &States) -> Result<String> {
        self.compute(states).map_err(|(_, problem)| problem)?;
        let mut text = String::new();
        for answer in &self.results {
            let Quantity {
                name, symbol, about, ..
            } = answer.quantity;
            text += &format!("{name}  {symbol}: {about}\n");
            let columns = answer.dimensions.last().copied().unwrap_or(1).max(1);
            let block = answer.dimensions.iter().rev().nth(1).copied().unwrap_or(1).max(1);
            for (i, row) in answer.of(0).chunks(columns).enumerate() {
                if i > 0 && i % block == 0 {
                    text.push('\n');
                }
                let numbers = row
                    .iter()
                    .map(|x| format!("{:>13}", crate::numbers::significant(*x, 6)));
                text += &format!("{}\n", numbers.collect::<Vec<_>>().join(""));
            }
        }
        Ok(text)
    }
}

/// Numbers in lists of lists, as many deep as there are dimensions.
fn nested(numbers: &[f64], dimensions: &[usize], out: &mut Vec<u8>) {
    let Some((n, inner)) = dimensions.split_first() else {
        // The shortest digits that read back as the same number.
        return serde_json::to_writer(out, &numbers[0]).expect("writing to memory does not fail");
    };
    let size: usize = inner.iter().product();
    out.push(b'[');
    for i in 0..*n {
        if i > 0 {
            out.push(b',');
        }
        nested(&numbers[i * size..(i + 1) * size], inner, out);
    }
    out.push(b']');
}
