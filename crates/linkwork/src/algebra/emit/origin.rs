//! What each number on a tape was made for: the first step that needs it, and the link it is made at.

use super::super::algorithm::Algorithm;
use super::super::evaluator::Evaluator;
use super::super::follow::Made;
use super::super::graph::{Id, Local, Node};
use super::super::space::Space;
use super::super::steps::Teller;
use super::trace::{From, Tape, Traced};
use crate::model::Compiled;
use crate::stage::Stages;

/// A step, and the place of its link in link space where it is done at one.
pub(crate) type Origin = (Made, Option<usize>);

/// What numbers and results were made for.
#[derive(Default)]
pub(super) struct Origins {
    /// Number by number.
    pub(super) numbers: Vec<Vec<Origin>>,
    /// Result by result.
    pub(super) results: Vec<Origin>,
}

/// Who claims numbers: an evaluator that has run.
struct Claims<'a> {
    tape: &'a Tape,
    m: &'a Compiled,
    evaluator: &'a Evaluator<Traced>,
    algorithm: &'a Algorithm,
    names: Vec<Option<String>>,
    numbers: Vec<Vec<Origin>>,
    seen: Vec<bool>,
}

/// The numbers of an evaluator that has run, in the order in which its steps make them. Sines, cosines and what else a
/// joint's coordinates become belong to no step.
pub(super) fn origins(
    tape: &Tape,
    evaluator: &Evaluator<Traced>,
    m: &Compiled,
    stages: &Stages<Traced>,
    results: &[Traced],
) -> Origins {
    let (n, algorithm) = (tape.made.len(), evaluator.algorithm());
    let mut claims = Claims {
        tape,
        m,
        evaluator,
        algorithm,
        names: Teller::new(&algorithm.graph, &algorithm.schedule, &algorithm.expression.names).names,
        numbers: vec![Vec::new(); n],
        seen: vec![false; n],
    };
    for screw in &stages.joints.screws {
        claims.claim([screw.turn.cos, screw.turn.sin, screw.shift], &[]);
    }
    for pose in &stages.joints.general {
        let r = pose.rotation;
        let vectors = [r.x, r.y, r.z, pose.translation];
        claims.claim(vectors.into_iter().flat_map(|v| [v.x, v.y, v.z]), &[]);
    }
    claims.whole(&algorithm.schedule.before);
    for sweep in &algorithm.schedule.sweeps {
        for i in 0..m.bodies.len() {
            let k = if sweep.inward { m.bodies.len() - 1 - i } else { i };
            if sweep.riccati {
                claims.riccati(stages, k);
            }
            if sweep.upsilon && algorithm.schedule.keeps.upsilon {
                let rows = evaluator.memory.upsilon[k].as_flattened().to_vec();
                claims.claim(rows, &[(Made::Upsilon, place(m, k))]);
            }
            sweep.nodes.iter().for_each(|&id| claims.at_link(id, k));
        }
        claims.whole(&sweep.after);
    }
    let results = claims.results(results);
    Origins {
        numbers: claims.numbers,
        results,
    }
}

/// The place of a body in link space.
fn place(m: &Compiled, k: usize) -> Option<usize> {
    m.link_space.iter().position(|(body, _)| *body == k)
}

impl Claims<'_> {
    /// All that these numbers need and nothing before them did.
    fn claim(&mut self, numbers: impl IntoIterator<Item = Traced>, origins: &[Origin]) {
        let mut waiting: Vec<u32> = numbers.into_iter().map(|x| x.0).collect();
        while let Some(id) = waiting.pop() {
            let at = id as usize;
            if core::mem::replace(&mut self.seen[at], true) {
                continue;
            }
            if matches!(self.tape.made[at], From::Constant(_) | From::Input(..)) {
                continue;
            }
            self.numbers[at] = origins.to_vec();
            waiting.extend(self.tape.reads(id));
        }
    }

    /// What these numbers are made of.
    fn claim_reads(&mut self, numbers: &[Traced], origins: &[Origin]) {
        let tape = self.tape;
        self.claim(numbers.iter().flat_map(|x| tape.reads(x.0)).map(Traced), origins);
    }

    /// What a recursion gives the links is its own.
    fn step(&self, id: Id) -> Id {
        match self.algorithm.graph.nodes[id] {
            Node::Link(core) => core,
            _ => id,
        }
    }

    fn riccati(&mut self, stages: &Stages<Traced>, k: usize) {
        let (body, link) = (&self.m.bodies[k], place(self.m, k));
        self.claim(stages.riccati.p[k].to_rows().into_iter().flatten(), &[(Made::P, link)]);
        // H picks coordinates: what is divided by, and what D divides, are numbers of P, also where P is not kept.
        for gain in &stages.riccati.gains[body.v..body.v + body.dofs] {
            self.claim_reads(&[gain.d_inv], &[(Made::P, link)]);
            self.claim([gain.d_inv], &[(Made::D, link)]);
            self.claim_reads(&gain.g, &[(Made::P, link)]);
            self.claim(gain.g, &[(Made::G, link)]);
        }
    }

    /// A vector at a link. What has no name is written out, and so made, where it is read.
    fn at_link(&mut self, id: Id, k: usize) {
        let link = place(self.m, k);
        let own = (Made::Node(self.step(id)), link);
        if self.names[self.step(id)].is_none() {
            return;
        }
        let numbers = self.numbers_at(id, k);
        match &self.algorithm.graph.nodes[id] {
            // Where D⁻¹ is applied on the way, what it is applied to has no place of its own.
            Node::Local(Local::DInv, x) if self.names[*x].is_some() => {
                self.claim_reads(&numbers, &[(Made::Node(*x), link)]);
                self.claim(numbers, &[own]);
            }
            // So are a and a₀ made together.
            Node::Combine(terms, _) => {
                let mut all = vec![own];
                for &(_, x) in terms {
                    let made = match self.algorithm.graph.nodes[x] {
                        Node::BaseAcceleration => self.m.bodies[k].parent.is_none(),
                        Node::Coriolis(..) => self.m.bodies[k].parent.is_some(),
                        _ => false,
                    };
                    all.extend(made.then_some((Made::Node(x), link)));
                }
                self.claim(numbers, &all);
            }
            _ => self.claim(numbers, &[own]),
        }
    }

    fn numbers_at(&self, id: Id, k: usize) -> Vec<Traced> {
        let (memory, body, graph) = (&self.evaluator.memory, &self.m.bodies[k], &self.algorithm.graph);
        let Some(slot) = self.algorithm.program.slots[self.step(id)] else {
            return Vec::new();
        };
        match (&graph.nodes[id], graph.spaces[id]) {
            (Node::PRate(_) | Node::UpsilonRate(..), _) => {
                let matrix = memory.matrices[k * memory.room.matrices + slot];
                matrix.to_rows().into_iter().flatten().collect()
            }
            (_, Space::Motion | Space::Force) => memory.link[k * memory.room.link + slot].to_vec(),
            (_, Space::Joint) => {
                let at = slot * memory.nv + body.v;
                memory.joint[at..at + body.dofs].to_vec()
            }
            _ => Vec::new(),
        }
    }

    /// Vectors that are made as a whole.
    fn whole(&mut self, ids: &[Id]) {
        for &id in ids {
            let (space, made) = (self.algorithm.graph.spaces[id], self.step(id));
            let (Some(slot), Some(_)) = (self.algorithm.program.slots[made], &self.names[made]) else {
                continue;
            };
            let memory = &self.evaluator.memory;
            let numbers: Vec<Traced> = match space {
                Space::Motion | Space::Force => {
                    let links = memory.link.chunks(memory.room.link.max(1));
                    links.flat_map(|slots| slots[slot]).collect()
                }
                space => memory.flat(space, slot).to_vec(),
            };
            self.claim(numbers, &[(Made::Node(made), None)]);
        }
    }

    /// Results in the users' frames.
    fn results(&mut self, numbers: &[Traced]) -> Vec<Origin> {
        let mut all = Vec::new();
        for &id in &self.algorithm.graph.results {
            let space = self.algorithm.graph.spaces[id];
            let rest = &numbers[all.len().min(numbers.len())..];
            let own = &rest[..self.evaluator.size(space).min(rest.len())];
            for (i, &x) in own.iter().enumerate() {
                let link = match space {
                    Space::Joint => {
                        let holds = |b: &crate::body::Body| (b.v..b.v + b.dofs).contains(&i);
                        self.m.bodies.iter().position(holds).and_then(|k| place(self.m, k))
                    }
                    Space::Motion | Space::Force => Some(i / 6),
                    _ => None,
                };
                let origin = (Made::Node(self.step(id)), link);
                self.claim([x], &[origin]);
                all.push(origin);
            }
        }
        all
    }
}
