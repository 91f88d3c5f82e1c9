//! An expression as a graph of vectors: what is computed from what.
//!
//! Equal vectors are one node, so that common parts are shared. The four recursions of the algebra are one kind of node:
//!
//! ```text
//! inward   φ:  y = φ(x + K t)     e = t + H y          outward  φ*:  y = φ*(x + H*t)    e = t + K*y
//!          ψ:  z = ψ(x + K t)     ε = t − H z                   ψ*:  λ = ψ*(x + H*t)    e = t − K*λ
//! ```
//!
//! each with a joint and a link vector on either side. Recursions are linear: where results of one kind are added up,
//! their inputs are instead, and one recursion is left.

use super::infer::{CONSTRAINT_BIAS, LOG_DET, LOG_DET_GRADIENT};
pub(crate) use super::node::{Core, Id, Local, Node, Seed};
use super::op::Op;
use super::space::Space;
use super::sum::{Factor, Sum, Term, Vector};
use std::collections::HashMap;

/// How much a graph may change on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Each operator by itself.
    None,
    /// Equal vectors are computed once.
    Equal,
    /// Sums of recursions, and of what happens link by link, are merged too.
    Linear,
}

#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) spaces: Vec<Space>,
    known: HashMap<Node, Id>,
    pub(super) sharing: Sharing,
    /// Vectors of a state that the caller gives instead.
    given: Vec<String>,
    /// What is inverted as a dense matrix, and whether by its pseudo-inverse.
    pub(crate) solves: Vec<(Sum, bool)>,
    /// What is inverted by the augmented recursion.
    pub(crate) augmented: Vec<Sum>,
    pub(crate) results: Vec<Id>,
    /// Sums that may still be merged.
    pub(super) merges: usize,
}

/// So many sums of recursions are merged: in powers of sums each merge leads to two more, and the plain form, whose
/// factors run one after the other, is the cheaper one.
const MOST_MERGES: usize = 100;

/// What an operator acts on, by name.
pub(crate) const OPERAND: &str = "x";

impl Graph {
    /// The graph of expressions; of an operator, applied to [`OPERAND`].
    pub(crate) fn new(sums: &[&Sum], sharing: Sharing, given: &[String]) -> Self {
        let mut graph = Self {
            nodes: Vec::new(),
            spaces: Vec::new(),
            known: HashMap::new(),
            sharing,
            given: given.to_vec(),
            solves: Vec::new(),
            augmented: Vec::new(),
            results: Vec::new(),
            merges: MOST_MERGES,
        };
        for sum in sums {
            let start = if sum.is_vector() {
                graph.add(Node::Unit, Space::Number)
            } else {
                let space = sum.domain;
                let name = OPERAND.into();
                graph.add(Node::Given(Vector { name, space }), space)
            };
            let result = graph.sum(sum, start);
            graph.results.push(result);
        }
        graph.sweep_out();
        graph
    }

    pub(super) fn add(&mut self, node: Node, space: Space) -> Id {
        let share = self.sharing != Sharing::None || matches!(node, Node::Given(_) | Node::Unit);
        if share && let Some(&id) = self.known.get(&node) {
            return id;
        }
        let id = self.nodes.len();
        self.known.insert(node.clone(), id);
        self.nodes.push(node);
        self.spaces.push(space);
        id
    }

    pub(super) fn sum(&mut self, sum: &Sum, x: Id) -> Id {
        if self.sharing == Sharing::Linear {
            return self.grouped(&sum.terms, sum.range, x);
        }
        let terms: Vec<(f64, Id)> = sum.terms.iter().map(|t| (t.scale, self.product(t, x))).collect();
        self.combine(terms, sum.range)
    }

    fn product(&mut self, term: &Term, x: Id) -> Id {
        let mut y = x;
        for factor in term.factors.iter().rev() {
            y = self.apply(factor, y);
        }
        y
    }

    /// Terms that begin alike go through what they begin with together.
    fn grouped(&mut self, terms: &[Term], space: Space, x: Id) -> Id {
        let mut parts: Vec<(f64, Id)> = Vec::new();
        let mut done = vec![false; terms.len()];
        for i in 0..terms.len() {
            if done[i] {
                continue;
            }
            let Some(head) = terms[i].factors.first() else {
                parts.push((terms[i].scale, x));
                continue;
            };
            let mut tails = Vec::new();
            for j in i..terms.len() {
                if !done[j] && terms[j].factors.first() == Some(head) {
                    done[j] = true;
                    tails.push(Term::new(terms[j].scale, terms[j].factors[1..].to_vec()));
                }
            }
            // A common scale stays outside: it may be one that costs nothing.
            let scale = tails[0].scale;
            if tails.iter().all(|t| t.scale.abs() == scale.abs()) {
                tails.iter_mut().for_each(|t| t.scale /= scale);
                let inner = self.grouped(&tails, head.domain(), x);
                let y = self.apply(head, inner);
                parts.push((scale, y));
            } else {
                let inner = self.grouped(&tails, head.domain(), x);
                let y = self.apply(head, inner);
                parts.push((1.0, y));
            }
        }
        self.combine(parts, space)
    }

    fn apply(&mut self, factor: &Factor, x: Id) -> Id {
        match factor {
            Factor::Sum(inner) => self.sum(inner, x),
            Factor::Vector(v, false) => {
                let y = self.vector(v);
                self.times(x, y)
            }
            Factor::Vector(v, true) => {
                let y = self.vector(v);
                self.add(Node::Dot(y, x), Space::Number)
            }
            Factor::Op(op, adjoint) => self.operate(*op, *adjoint, x),
            Factor::Inverse(inner) => self.solve(inner, false, x),
            Factor::Pseudo(inner) => self.solve(inner, true, x),
            Factor::Augmented(inner) => {
                let known = self.augmented.iter().position(|s| s == &**inner);
                let which = known.unwrap_or_else(|| {
                    self.augmented.push((**inner).clone());
                    self.augmented.len() - 1
                });
                let (t, pushed) = self.pushed(x);
                let node = self.add(Node::Augmented(which, t, pushed), Space::Motion);
                self.add(Node::Joint(node), Space::Joint)
            }
            Factor::Diagonal(v, inverted) => {
                let w = self.vector(v);
                self.add(Node::Diagonal(w, *inverted, x), v.space)
            }
            Factor::Matrix(v) => {
                let w = self.vector(v);
                let space = self.spaces[x];
                self.add(Node::Matrix(w, x), space)
            }
            Factor::By(by, vector) => self.made_by(*by, vector, x),
            Factor::Held(vector, false) => {
                let y = self.inner(vector);
                self.times(x, y)
            }
            Factor::Held(vector, true) => {
                let y = self.inner(vector);
                self.add(Node::Dot(y, x), Space::Number)
            }
            Factor::Select(name, false) => self.add(Node::Select(name.clone(), x), Space::Frame),
            Factor::Select(name, true) => self.add(Node::Place(name.clone(), x), Space::Tip),
        }
    }

    fn solve(&mut self, inner: &Sum, pseudo: bool, x: Id) -> Id {
        let known = self.solves.iter().position(|s| s.0 == *inner && s.1 == pseudo);
        let which = known.unwrap_or_else(|| {
            self.solves.push((inner.clone(), pseudo));
            self.solves.len() - 1
        });
        self.add(Node::Solve(which, x), inner.domain)
    }

    /// A joint vector as t + Hφf with forces f on links, so that an augmented inverse takes these on its own way.
    fn pushed(&mut self, x: Id) -> (Option<Id>, Option<Id>) {
        if self.sharing != Sharing::Linear {
            return (Some(x), None);
        }
        let terms = match &self.nodes[x] {
            Node::Combine(terms, _) => terms.iter().map(|&(s, id)| (f64::from_bits(s), id)).collect(),
            _ => vec![(1.0, x)],
        };
        let (mut own, mut forces) = (Vec::new(), Vec::new());
        for (scale, id) in terms {
            let pushed = match self.nodes[id] {
                Node::Joint(core) => match self.nodes[core] {
                    Node::Core(Core::InPhi, None, Some(f)) => Some(f),
                    _ => None,
                },
                _ => None,
            };
            match pushed {
                Some(f) => forces.push((scale, f)),
                None => own.push((scale, id)),
            }
        }
        if forces.is_empty() {
            return (Some(x), None);
        }
        let t = (!own.is_empty()).then(|| self.combine(own, Space::Joint));
        (t, Some(self.combine(forces, Space::Force)))
    }

    pub(super) fn times(&mut self, number: Id, y: Id) -> Id {
        if self.nodes[number] == Node::Unit {
            return y;
        }
        let space = self.spaces[y];
        self.add(Node::Times(number, y), space)
    }

    fn given(&mut self, name: &str, space: Space) -> Id {
        let name = name.into();
        self.add(Node::Given(Vector { name, space }), space)
    }

    /// A vector by name: those of a state are computed from q̇.
    fn vector(&mut self, v: &Vector) -> Id {
        // However little is shared otherwise, a state is computed once.
        let sharing = self.sharing;
        if sharing == Sharing::None {
            self.sharing = Sharing::Equal;
        }
        let id = self.state_vector(v);
        self.sharing = sharing;
        id
    }

    fn state_vector(&mut self, v: &Vector) -> Id {
        match &*v.name {
            name if self.given.iter().any(|g| g == name) => self.add(Node::Given(v.clone()), v.space),
            "a0" => self.add(Node::BaseAcceleration, Space::Motion),
            LOG_DET => self.add(Node::LogDet, Space::Number),
            LOG_DET_GRADIENT => {
                let unit = self.add(Node::Unit, Space::Number);
                self.rate_adjoint(vec![(Seed::LogDet, unit, unit)])
            }
            "a" => {
                let qd = self.given("qd", Space::Joint);
                let velocity = self.recursion(Core::OutPhi, Some(qd), None, false);
                let own = self.add(Node::Coriolis(velocity, qd), Space::Motion);
                let base = self.add(Node::BaseAcceleration, Space::Motion);
                self.combine(vec![(1.0, own), (1.0, base)], Space::Motion)
            }
            CONSTRAINT_BIAS => {
                let qd = self.given("qd", Space::Joint);
                let velocity = self.recursion(Core::OutPhi, Some(qd), None, false);
                let own = self.add(Node::Coriolis(velocity, qd), Space::Motion);
                let acceleration = self.recursion(Core::OutPhi, None, Some(own), false);
                self.add(Node::ConstraintBias(velocity, acceleration), Space::Constraint)
            }
            "b" => {
                let qd = self.given("qd", Space::Joint);
                let velocity = self.recursion(Core::OutPhi, Some(qd), None, false);
                self.add(Node::Gyroscopic(velocity), Space::Force)
            }
            _ => self.add(Node::Given(v.clone()), v.space),
        }
    }

    fn operate(&mut self, op: Op, adjoint: bool, x: Id) -> Id {
        use Local as L;
        match (op, adjoint) {
            (Op::H, false) => self.local(L::H, x),
            (Op::H, true) => self.local(L::HStar, x),
            (Op::M, _) => self.local(L::M, x),
            (Op::P, _) => self.local(L::P, x),
            (Op::PPlus, _) => self.local(L::PPlus, x),
            (Op::D, _) => self.local(L::D, x),
            (Op::DInv, _) => self.local(L::DInv, x),
            (Op::G, false) => self.local(L::G, x),
            (Op::G, true) => self.local(L::GStar, x),
            (Op::TauBar, false) => self.local(L::TauBar, x),
            (Op::TauBar, true) => self.local(L::TauBarStar, x),
            (Op::Root, false) => self.local(L::Root, x),
            (Op::Root, true) => self.local(L::RootStar, x),
            (Op::RootInv, false) => self.local(L::RootInv, x),
            (Op::RootInv, true) => self.local(L::RootInvStar, x),
            (Op::Upsilon, _) => self.local(L::Upsilon, x),
            (Op::Rotors, _) => self.local(L::Rotors, x),
            (Op::MInv, _) => self.local(L::MInv, x),
            (Op::PInv, _) => self.local(L::PInv, x),
            (Op::Composite, _) => {
                let r = self.add(Node::Composite, Space::Motion);
                self.add(Node::PRateTimes(r, x), Space::Force)
            }
            (Op::Seen, _) => self.add(Node::Seen(x), Space::Tip),
            (Op::Bc, false) => self.add(Node::Tie(x), Space::Force),
            (Op::Bc, true) => self.add(Node::Untie(x), Space::Constraint),
            (Op::Jc, false) => self.chain(&[(Op::Bc, true), (Op::Phi, true), (Op::H, true)], x),
            (Op::Jc, true) => self.chain(&[(Op::H, false), (Op::Phi, false), (Op::Bc, false)], x),
            (Op::EPhi, adjoint) => self.shift(!adjoint, x),
            (Op::EPsi, false) => {
                let y = self.local(L::TauBar, x);
                self.shift(true, y)
            }
            (Op::EPsi, true) => {
                let y = self.shift(false, x);
                self.local(L::TauBarStar, y)
            }
            (Op::K, false) => {
                let y = self.local(L::G, x);
                self.shift(true, y)
            }
            (Op::K, true) => {
                let y = self.shift(false, x);
                self.local(L::GStar, y)
            }
            (Op::PhiInv | Op::PsiInv, adjoint) => {
                let step = if op == Op::PhiInv { Op::EPhi } else { Op::EPsi };
                let moved = self.operate(step, adjoint, x);
                let space = self.spaces[x];
                self.combine(vec![(1.0, x), (-1.0, moved)], space)
            }
            (Op::Phi, false) => self.recursion(Core::InPhi, None, Some(x), false),
            (Op::Phi, true) => self.recursion(Core::OutPhi, None, Some(x), false),
            (Op::Psi, false) => self.recursion(Core::InPsi, None, Some(x), false),
            (Op::Psi, true) => self.recursion(Core::OutPsi, None, Some(x), false),
            (Op::N, false) => self.recursion(Core::InPsi, Some(x), None, true),
            (Op::N, true) => self.recursion(Core::OutPsi, Some(x), None, true),
            (Op::F, false) => self.recursion(Core::InPhi, Some(x), None, true),
            (Op::F, true) => self.recursion(Core::OutPhi, Some(x), None, true),
            (Op::B, false) => self.add(Node::Spread(x), Space::Force),
            (Op::B, true) => self.add(Node::Pick(x), Space::Tip),
            (Op::J, false) => self.chain(&[(Op::B, true), (Op::Phi, true), (Op::H, true)], x),
            (Op::J, true) => self.chain(&[(Op::H, false), (Op::Phi, false), (Op::B, false)], x),
            (Op::MassInv, _) => self.chain(&[(Op::N, true), (Op::DInv, false), (Op::N, false)], x),
            (Op::Mass, _) => {
                let rigid = [
                    (Op::H, false),
                    (Op::Phi, false),
                    (Op::M, false),
                    (Op::Phi, true),
                    (Op::H, true),
                ];
                let y = self.chain(&rigid, x);
                let rotors = self.local(L::Rotors, x);
                self.combine(vec![(1.0, y), (1.0, rotors)], Space::Joint)
            }
        }
    }

    fn chain(&mut self, factors: &[(Op, bool)], x: Id) -> Id {
        let mut y = x;
        for &(op, adjoint) in factors.iter().rev() {
            y = self.operate(op, adjoint, y);
        }
        y
    }

    pub(super) fn local(&mut self, local: Local, x: Id) -> Id {
        let linear = self.sharing == Sharing::Linear;
        // H y = e − t and H z = t − ε; K*λ likewise: what the recursion gives anyway.
        if linear {
            let core = match (local, &self.nodes[x]) {
                (Local::H, Node::Link(core)) => Some(*core),
                (Local::GStar, Node::Shift(false, from)) => match &self.nodes[*from] {
                    Node::Link(core) => Some(*core),
                    _ => None,
                },
                _ => None,
            };
            if let Some(core) = core
                && let Node::Core(kind, t, _) = self.nodes[core]
                && kind.inward() == (local == Local::H)
            {
                let e = self.add(Node::Joint(core), Space::Joint);
                let sign = if kind.psi() { -1.0 } else { 1.0 };
                let mut terms = vec![(sign, e)];
                terms.extend(t.map(|t| (-sign, t)));
                return self.combine(terms, Space::Joint);
            }
        }
        let space = match local {
            Local::H | Local::GStar => Space::Joint,
            Local::HStar | Local::TauBarStar | Local::Upsilon | Local::MInv | Local::PInv => Space::Motion,
            Local::M | Local::P | Local::PPlus | Local::G | Local::TauBar => Space::Force,
            _ => Space::Joint,
        };
        self.add(Node::Local(local, x), space)
    }

    pub(super) fn shift(&mut self, inward: bool, x: Id) -> Id {
        let space = self.spaces[x];
        self.add(Node::Shift(inward, x), space)
    }

    /// A recursion on t and x; its joint result if `joint`, else that of the links.
    pub(super) fn recursion(&mut self, core: Core, t: Option<Id>, x: Option<Id>, joint: bool) -> Id {
        let (mut t, mut x) = (t, x);
        let mut moved = None;
        if self.sharing == Sharing::Linear {
            (x, moved) = self.split(core, x);
            if let Some(more) = moved {
                let terms = [Some((1.0, more)), t.map(|t| (1.0, t))];
                t = Some(self.combine(terms.into_iter().flatten().collect(), Space::Joint));
            }
        }
        let link = if core.inward() { Space::Force } else { Space::Motion };
        // φ*H* of what an augmented inverse gives is among its results.
        if let (Core::OutPhi, Some(t), None, false, Sharing::Linear) = (core, t, x, joint, self.sharing)
            && let Node::Joint(from) = self.nodes[t]
            && let Node::Augmented(..) = self.nodes[from]
        {
            return self.add(Node::Link(from), Space::Motion);
        }
        let node = self.add(Node::Core(core, t, x), link);
        if !joint {
            return self.add(Node::Link(node), link);
        }
        let e = self.add(Node::Joint(node), Space::Joint);
        match moved {
            Some(more) => self.combine(vec![(1.0, e), (-1.0, more)], Space::Joint),
            None => e,
        }
    }

    /// Takes K t (of an inward recursion) or H*t (of an outward one) out of a link vector.
    fn split(&mut self, core: Core, x: Option<Id>) -> (Option<Id>, Option<Id>) {
        let Some(id) = x else { return (None, None) };
        let space = self.spaces[id];
        let terms = match &self.nodes[id] {
            Node::Combine(terms, _) => terms.clone(),
            _ => vec![(1.0_f64.to_bits(), id)],
        };
        let joint_part = |node: &Node, nodes: &[Node]| match *node {
            Node::Local(Local::HStar, t) if !core.inward() => Some(t),
            Node::Shift(true, y) if core.inward() => match nodes[y] {
                Node::Local(Local::G, t) => Some(t),
                _ => None,
            },
            _ => None,
        };
        let (mut rest, mut joint) = (Vec::new(), Vec::new());
        for (scale, y) in terms {
            let scale = f64::from_bits(scale);
            match joint_part(&self.nodes[y], &self.nodes) {
                Some(t) => joint.push((scale, t)),
                None => rest.push((scale, y)),
            }
        }
        if joint.is_empty() {
            return (x, None);
        }
        let left = (!rest.is_empty()).then(|| self.combine(rest, space));
        (left, Some(self.combine(joint, Space::Joint)))
    }

    /// Whether more sums could have been merged.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.merges == 0
    }

    /// The nodes that a node reads.
    pub(crate) fn reads(&self, id: Id) -> Vec<Id> {
        match &self.nodes[id] {
            Node::Unit | Node::Given(_) | Node::BaseAcceleration | Node::Composite | Node::LogDet => Vec::new(),
            Node::Coriolis(a, b) | Node::Dot(a, b) | Node::Times(a, b) => vec![*a, *b],
            Node::ConstraintBias(a, b) | Node::Diagonal(a, _, b) | Node::TieRate(_, a, b) => vec![*a, *b],
            Node::Cross(_, a, b) | Node::PRateTimes(a, b) | Node::RootRate(a, _, b) => vec![*a, *b],
            Node::UpsilonRate(a, b) | Node::Matrix(a, b) => vec![*a, *b],
            Node::PRate(a) | Node::Seen(a) => vec![*a],
            Node::RateAdjoint(seeds) => seeds.iter().flat_map(|(_, a, b)| [*a, *b]).collect(),
            Node::Select(_, a) | Node::Place(_, a) | Node::Tie(a) | Node::Untie(a) => vec![*a],
            Node::Gyroscopic(a) | Node::Local(_, a) | Node::Shift(_, a) => vec![*a],
            Node::Joint(a) | Node::Link(a) | Node::Spread(a) | Node::Pick(a) | Node::Solve(_, a) => vec![*a],
            Node::Core(_, t, x) | Node::Augmented(_, t, x) => t.iter().chain(x).copied().collect(),
            Node::Combine(terms, _) => terms.iter().map(|t| t.1).collect(),
        }
    }

    /// Drops what the result does not need, and numbers the rest afresh.
    fn sweep_out(&mut self) {
        let mut needed = vec![false; self.nodes.len()];
        self.results.iter().for_each(|&id| needed[id] = true);
        for id in (0..self.nodes.len()).rev() {
            if needed[id] {
                self.reads(id).into_iter().for_each(|r| needed[r] = true);
            }
        }
        let mut place = vec![usize::MAX; self.nodes.len()];
        let mut kept = 0;
        for id in 0..self.nodes.len() {
            if needed[id] {
                place[id] = kept;
                kept += 1;
            }
        }
        let at = |id: Id| place[id];
        let nodes = core::mem::take(&mut self.nodes);
        let spaces = core::mem::take(&mut self.spaces);
        for (id, (node, space)) in nodes.into_iter().zip(spaces).enumerate() {
            if !needed[id] {
                continue;
            }
            self.nodes.push(match node {
                Node::Coriolis(a, b) => Node::Coriolis(at(a), at(b)),
                Node::Dot(a, b) => Node::Dot(at(a), at(b)),
                Node::Times(a, b) => Node::Times(at(a), at(b)),
                Node::Gyroscopic(a) => Node::Gyroscopic(at(a)),
                Node::Local(l, a) => Node::Local(l, at(a)),
                Node::Shift(d, a) => Node::Shift(d, at(a)),
                Node::Joint(a) => Node::Joint(at(a)),
                Node::Link(a) => Node::Link(at(a)),
                Node::Spread(a) => Node::Spread(at(a)),
                Node::Pick(a) => Node::Pick(at(a)),
                Node::Solve(which, a) => Node::Solve(which, at(a)),
                Node::Augmented(which, t, x) => Node::Augmented(which, t.map(at), x.map(at)),
                Node::Diagonal(a, inverted, b) => Node::Diagonal(at(a), inverted, at(b)),
                Node::Cross(force, a, b) => Node::Cross(force, at(a), at(b)),
                Node::Matrix(a, b) => Node::Matrix(at(a), at(b)),
                Node::PRate(a) => Node::PRate(at(a)),
                Node::PRateTimes(a, b) => Node::PRateTimes(at(a), at(b)),
                Node::UpsilonRate(a, b) => Node::UpsilonRate(at(a), at(b)),
                Node::RootRate(a, star, b) => Node::RootRate(at(a), star, at(b)),
                Node::RateAdjoint(seeds) => {
                    Node::RateAdjoint(seeds.into_iter().map(|(s, a, b)| (s, at(a), at(b))).collect())
                }
                Node::Seen(a) => Node::Seen(at(a)),
                Node::ConstraintBias(a, b) => Node::ConstraintBias(at(a), at(b)),
                Node::TieRate(of, a, b) => Node::TieRate(of, at(a), at(b)),
                Node::Select(name, a) => Node::Select(name, at(a)),
                Node::Place(name, a) => Node::Place(name, at(a)),
                Node::Tie(a) => Node::Tie(at(a)),
                Node::Untie(a) => Node::Untie(at(a)),
                Node::Core(c, t, x) => Node::Core(c, t.map(at), x.map(at)),
                Node::Combine(terms, space) => {
                    Node::Combine(terms.into_iter().map(|(s, i)| (s, at(i))).collect(), space)
                }
                leaf => leaf,
            });
            self.spaces.push(space);
        }
        self.results.iter_mut().for_each(|id| *id = place[*id]);
        self.known.clear();
    }
}
