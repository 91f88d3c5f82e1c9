//! Steps in the order in which they are made, the lines that each takes on a level, and the operators that it applies.

use super::super::algorithm::Algorithm;
use super::super::coordinates;
use super::super::graph::{Core, Id, Local, Node};
use super::super::levels::{self, Level};
use super::super::notation::{Notation, vector};
use super::super::schedule::Sweep;
use super::super::steps::{self, Teller};
use super::FollowedStep;
use super::atoms::{Atom, atoms};

/// What a step makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    P,
    D,
    G,
    Upsilon,
    Node(Id),
}

/// What crosses a joint.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Across {
    Forces,
    Motions,
    Inertias,
    /// What H leads to or from.
    Axes,
    Any,
}

struct Step {
    made: Made,
    name: String,
    sweep: Option<usize>,
    inward: bool,
}

pub(super) struct Walk<'a> {
    algorithm: &'a Algorithm,
    teller: Teller<'a>,
    steps: Vec<Step>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(algorithm: &'a Algorithm) -> Self {
        let teller = Teller::new(&algorithm.graph, &algorithm.schedule, &algorithm.expression.names);
        let mut walk = Self {
            algorithm,
            teller,
            steps: Vec::new(),
        };
        walk.between(&algorithm.schedule.before);
        for (i, sweep) in algorithm.schedule.sweeps.iter().enumerate() {
            let known = [("P", Made::P), ("D", Made::D), ("G", Made::G)];
            let riccati = known.iter().filter(|_| sweep.riccati);
            let upsilon = [("Υ", Made::Upsilon)];
            for (name, made) in riccati.chain(upsilon.iter().filter(|_| sweep.upsilon)) {
                walk.push(*made, name, Some((i, sweep.inward)));
            }
            for &id in &sweep.nodes {
                let Some(name) = walk.teller.names[id].clone() else {
                    continue;
                };
                match algorithm.graph.nodes[id] {
                    Node::Joint(_) | Node::Link(_) => {}
                    _ => walk.push(Made::Node(id), &name, Some((i, sweep.inward))),
                }
                if let Some((joint, name)) = walk.joint_of(id) {
                    walk.push(Made::Node(joint), &name, Some((i, sweep.inward)));
                }
            }
            walk.between(&sweep.after);
        }
        walk
    }

    fn push(&mut self, made: Made, name: &str, sweep: Option<(usize, bool)>) {
        self.steps.push(Step {
            made,
            name: name.to_owned(),
            sweep: sweep.map(|s| s.0 + 1),
            inward: sweep.is_some_and(|s| s.1),
        });
    }

    fn between(&mut self, ids: &[Id]) {
        for &id in ids {
            if let (Some(name), false) = (
                self.teller.name(id).map(str::to_owned),
                matches!(self.algorithm.graph.nodes[id], Node::Link(_)),
            ) {
                self.push(Made::Node(id), &name, None);
            }
        }
    }

    /// What a recursion gives the joints.
    fn joint_of(&self, core: Id) -> Option<(Id, String)> {
        if !matches!(self.algorithm.graph.nodes[core], Node::Core(..)) {
            return None;
        }
        let nodes = &self.algorithm.graph.nodes;
        let joint = nodes.iter().position(|n| *n == Node::Joint(core))?;
        Some((joint, self.teller.names[joint].clone()?))
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The steps that make these.
    pub(super) fn places(&self, made: &[Made]) -> Vec<usize> {
        let found = |i: &usize| made.contains(&self.steps[*i].made);
        (0..self.steps.len()).filter(found).collect()
    }

    /// The step that makes a result, by its name.
    pub(super) fn result(&self, name: &str) -> Option<usize> {
        let results = &self.algorithm.graph.results;
        let is_it = |step: &Step| {
            let Made::Node(id) = step.made else { return false };
            let link = |&r: &Id| matches!(self.algorithm.graph.nodes[r], Node::Link(core) if core == id);
            step.name == name && (results.contains(&id) || results.iter().any(link))
        };
        self.steps.iter().position(is_it)
    }

    pub(super) fn told(&self) -> Vec<FollowedStep> {
        let each = self.steps.iter().map(|step| FollowedStep {
            name: step.name.clone(),
            sweep: step.sweep,
            inward: step.inward,
            reads: self.reads(step.made),
        });
        each.collect()
    }

    /// The steps that one reads: by name, or through what is written out in it.
    fn reads(&self, made: Made) -> Vec<usize> {
        let mut found = match made {
            Made::P => vec![Made::G, Made::D],
            Made::D => vec![Made::P],
            Made::G => vec![Made::P, Made::D],
            Made::Upsilon => vec![Made::D, Made::G],
            Made::Node(_) => Vec::new(),
        };
        if let Made::Node(id) = made {
            self.gather(id, &mut found);
        }
        found.retain(|&m| m != made);
        self.places(&found)
    }

    fn gather(&self, id: Id, found: &mut Vec<Made>) {
        let graph = &self.algorithm.graph;
        match graph.nodes[id] {
            Node::Core(core, t, _) if core.psi() || (core.inward() && t.is_some()) => found.push(Made::G),
            Node::Joint(core) => {
                if let Node::Core(core, t, _) = graph.nodes[core] {
                    found.extend((!core.inward()).then_some(Made::G));
                    t.into_iter().for_each(|t| self.read(t, found));
                }
            }
            Node::Local(local, _) => match local {
                Local::P | Local::PPlus | Local::PInv => found.push(Made::P),
                Local::D | Local::DInv | Local::Root | Local::RootStar => found.push(Made::D),
                Local::RootInv | Local::RootInvStar => found.push(Made::D),
                Local::G | Local::GStar | Local::TauBar | Local::TauBarStar => found.push(Made::G),
                Local::Upsilon => found.push(Made::Upsilon),
                Local::H | Local::HStar | Local::M | Local::Rotors | Local::MInv => {}
            },
            Node::PRate(_) | Node::RateAdjoint(_) => found.extend([Made::P, Made::G]),
            Node::LogDet => found.push(Made::D),
            Node::UpsilonRate(..) => found.push(Made::Upsilon),
            _ => {}
        }
        graph.reads(id).into_iter().for_each(|read| self.read(read, found));
    }

    fn read(&self, id: Id, found: &mut Vec<Made>) {
        let id = match self.algorithm.graph.nodes[id] {
            Node::Link(core) => core,
            _ => id,
        };
        match self.teller.names[id] {
            Some(_) => found.push(Made::Node(id)),
            None => self.gather(id, found),
        }
    }

    /// What each line of a level makes, in the order in which [`Algorithm::told_at`] tells them.
    pub(super) fn lines(&self, level: Level) -> Vec<Vec<Made>> {
        let mut teller = Teller::new(
            &self.algorithm.graph,
            &self.algorithm.schedule,
            &self.algorithm.expression.names,
        );
        teller.at_links = level != Level::Recursions;
        let of = |sweep: &Sweep| {
            let rotors = self.algorithm.rotors;
            let told = match level {
                Level::Recursions => levels::sweep_of(&teller, 1, sweep, rotors),
                Level::Links => teller.sweep(1, sweep, rotors),
                _ => coordinates::sweep_of(&teller, 1, sweep, rotors),
            };
            told.lines
        };
        let mut all = Vec::new();
        let between = |ids: &[Id], all: &mut Vec<Vec<Made>>| {
            let named = ids.iter().filter(|&&id| teller.name(id).is_some());
            all.extend(named.map(|&id| vec![Made::Node(id)]));
        };
        between(&self.algorithm.schedule.before, &mut all);
        for sweep in &self.algorithm.schedule.sweeps {
            let alone = Sweep {
                nodes: Vec::new(),
                after: Vec::new(),
                ..sweep.clone()
            };
            all.extend(of(&alone).iter().map(|(left, _)| matrices(left)));
            for &id in &sweep.nodes {
                let one = Sweep {
                    riccati: false,
                    upsilon: false,
                    nodes: vec![id],
                    ..alone.clone()
                };
                let joint = self.joint_of(id);
                all.extend(of(&one).iter().map(|(left, _)| match &joint {
                    Some((joint, name)) if left.trim_end_matches("(k)") == name => vec![Made::Node(*joint)],
                    _ => vec![Made::Node(id)],
                }));
            }
            between(&sweep.after, &mut all);
        }
        all
    }

    /// The steps in which something crosses a joint.
    pub(super) fn crossing(&self, what: Across) -> Vec<usize> {
        let nodes = &self.algorithm.graph.nodes;
        let crosses = |made: Made| match made {
            Made::P => matches!(what, Across::Inertias | Across::Any),
            Made::D | Made::G => what == Across::Axes,
            Made::Upsilon => matches!(what, Across::Inertias | Across::Any | Across::Axes),
            Made::Node(id) => match nodes[id] {
                Node::Core(core, t, _) => match what {
                    Across::Forces => core.inward(),
                    Across::Motions => !core.inward(),
                    Across::Any => true,
                    Across::Axes => core.psi() || (t.is_some() && !core.inward()),
                    Across::Inertias => false,
                },
                Node::Shift(inward, _) => match what {
                    Across::Forces => inward,
                    Across::Motions => !inward,
                    other => other == Across::Any,
                },
                Node::BaseAcceleration => matches!(what, Across::Motions | Across::Any),
                Node::PRate(_) | Node::UpsilonRate(..) | Node::RateAdjoint(_) => {
                    matches!(what, Across::Inertias | Across::Any)
                }
                Node::Joint(_) | Node::Coriolis(..) => what == Across::Axes,
                Node::Local(Local::H | Local::HStar, _) => what == Across::Axes,
                _ => false,
            },
        };
        let found = |i: &usize| crosses(self.steps[*i].made);
        (0..self.steps.len()).filter(found).collect()
    }

    /// The operators and vectors of `written` that each step applies; of a step that applies none of them, those of the
    /// steps that read it.
    pub(super) fn applied(&self, written: &[Atom], names: &[String]) -> Vec<Vec<Atom>> {
        let own = |step: &Step| {
            let mut found = Vec::new();
            match step.made {
                Made::P => found.extend(["P", "P⁺"].map(|s| Atom::new(s, false))),
                Made::D => found.extend(["D", "D⁻¹", "D^½", "D^-½"].map(|s| Atom::new(s, false))),
                Made::G => found.extend(["G", "K"].map(|s| Atom::new(s, false))),
                Made::Upsilon => found.push(Atom::new("Υ", false)),
                Made::Node(id) if self.is_written(id, written) => self.symbols(id, names, &mut found),
                Made::Node(_) => {}
            }
            // D^½ and K stand for the same step as their adjoints.
            if !matches!(step.made, Made::Node(_)) {
                found.extend(found.clone().iter().map(Atom::adjoint));
            }
            found.retain(|atom| written.contains(atom));
            found
        };
        let mut all: Vec<Vec<Atom>> = self.steps.iter().map(own).collect();
        let reads: Vec<Vec<usize>> = self.steps.iter().map(|s| self.reads(s.made)).collect();
        for _ in 0..self.steps.len() {
            let known = all.clone();
            for i in 0..all.len() {
                if !known[i].is_empty() {
                    continue;
                }
                let readers = (0..all.len()).filter(|&j| reads[j].contains(&i));
                for atom in readers.flat_map(|j| &known[j]) {
                    if !all[i].contains(atom) {
                        all[i].push(atom.clone());
                    }
                }
            }
            if known == all {
                break;
            }
        }
        all
    }

    /// Whether a recursion is one of the expression's own: V of a definition applies φ*H*q̇, which is written nowhere.
    fn is_written(&self, id: Id, written: &[Atom]) -> bool {
        let nodes = &self.algorithm.graph.nodes;
        let Node::Core(core, t, _) = nodes[id] else {
            return true;
        };
        let own = Atom::new(if core.psi() { "ψ" } else { "φ" }, !core.inward());
        let given = t.and_then(|t| match &nodes[t] {
            Node::Given(v) => Some(Atom::new(vector(&v.name, Notation::Symbols), false)),
            _ => None,
        });
        // What an operator acts on is not written either.
        let known = |atom: &Atom| written.contains(atom) || !written.iter().any(|a| a.symbol == "a" || a.symbol == "b");
        written.contains(&own) && given.iter().all(known)
    }

    /// The operators that a node applies, with what is written out in it.
    fn symbols(&self, id: Id, names: &[String], found: &mut Vec<Atom>) {
        let graph = &self.algorithm.graph;
        let inner = |id: Id, found: &mut Vec<Atom>| {
            let given = matches!(graph.nodes[id], Node::Given(_));
            if given || self.teller.name(id).is_none() {
                self.symbols(id, names, found);
            }
        };
        let mut push = |symbol: &str, star: bool| found.push(Atom::new(symbol, star));
        match &graph.nodes[id] {
            Node::Given(v) => push(vector(&v.name, Notation::Symbols), false),
            Node::Core(core, t, _) => {
                let symbol = if core.psi() { "ψ" } else { "φ" };
                push(symbol, !core.inward());
                match (core.inward(), t.is_some() || core.psi()) {
                    (true, true) => push("K", false),
                    (false, true) => push("H", true),
                    _ => {}
                }
            }
            Node::Joint(core) => {
                if let Node::Core(core, t, _) = graph.nodes[*core] {
                    match core {
                        Core::InPhi | Core::InPsi => push("H", false),
                        Core::OutPhi | Core::OutPsi => push("K", true),
                    }
                    t.into_iter().for_each(|t| inner(t, found));
                }
                return;
            }
            Node::Local(local, x) => {
                let symbol = steps::symbol(*local).trim_end_matches("(k)");
                let star = symbol.ends_with('*');
                push(symbol.trim_end_matches('*'), star);
                // K* = G*E_φ*.
                if matches!((local, &graph.nodes[*x]), (Local::GStar, Node::Shift(false, _))) {
                    push("K", true);
                }
            }
            Node::Shift(inward, x) => {
                push("E_φ", !inward);
                match graph.nodes[*x] {
                    Node::Local(Local::G, _) => push("K", false),
                    Node::Local(Local::TauBar, _) => push("E_ψ", false),
                    _ => {}
                }
            }
            Node::Coriolis(..) => push("a", false),
            Node::BaseAcceleration => {
                push("a₀", false);
                push("a", false);
            }
            Node::Gyroscopic(_) => push("b", false),
            Node::Combine(terms, _) => {
                let of_a = |x: Id| matches!(graph.nodes[x], Node::Coriolis(..) | Node::BaseAcceleration);
                if terms.iter().all(|t| of_a(t.1)) {
                    push("a", false);
                }
            }
            Node::Spread(_) => push("B", false),
            Node::Pick(_) => push("B", true),
            Node::Tie(_) => push("Bc", false),
            Node::Untie(_) => push("Bc", true),
            Node::LogDet => push("logdet(𝓜)", false),
            Node::Seen(_) => push("Seen", false),
            Node::Solve(which, _) => found.extend(atoms(&graph.solves[*which].0.written(Notation::Symbols), names)),
            Node::Augmented(which, ..) => {
                found.extend(atoms(&graph.augmented[*which].written(Notation::Symbols), names));
            }
            _ => {}
        }
        graph.reads(id).into_iter().for_each(|read| inner(read, found));
    }
}

/// What a line of the Riccati equation, or of Υ, makes.
fn matrices(left: &str) -> Vec<Made> {
    match left.trim_end_matches("(k)") {
        "D" => vec![Made::D],
        "G" | "K" | "g_N(k), g_F" => vec![Made::G],
        "u_N" | "u_F" => vec![Made::D, Made::G],
        "Υ" => vec![Made::Upsilon],
        _ => vec![Made::P],
    }
}
