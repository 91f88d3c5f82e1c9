//! The steps of a schedule as equations, in the papers' notation.

use super::algorithm::Algorithm;
use super::explain::Told;
use super::graph::{Core, Graph, Id, Local, Node, Seed};
use super::node::TieRate;
use super::notation::{Notation, vector};
use super::schedule::{Schedule, Sweep};
use super::space::Space;

/// Every sweep of an algorithm, in words.
pub(crate) fn told(algorithm: &Algorithm) -> Vec<Told> {
    let teller = Teller::new(&algorithm.graph, &algorithm.schedule, &algorithm.expression.names);
    let mut all = Vec::new();
    if !algorithm.schedule.before.is_empty() {
        all.push(teller.between("before", &algorithm.schedule.before));
    }
    // Sweeps in which nothing happens have no number.
    let mut number = 1;
    for sweep in &algorithm.schedule.sweeps {
        let told = teller.sweep(number, sweep, algorithm.rotors);
        if !told.lines.is_empty() {
            number += 1;
            all.push(told);
        }
        if !sweep.after.is_empty() {
            all.push(teller.between("then", &sweep.after));
        }
    }
    let line = |left: &str, right: &str| (left.to_owned(), right.to_owned());
    if algorithm.is_composite() {
        all.push(Told {
            heading: "as a matrix: composite bodies, inward".to_owned(),
            lines: vec![
                line("r(k)", "M(k) + Σ φ(k,c) r(c) φ*(k,c)"),
                line("block(k,k)", "H r(k) H*"),
                line("block(i,k)", "H φ(i,k) r(k) H*, where i carries k"),
            ],
        });
    }
    if algorithm.operational().is_some() {
        all.push(Told {
            heading: "as a matrix: the recursion of Υ, outward after the Riccati equation".to_owned(),
            lines: vec![
                line("Υ(k)", "H* D⁻¹ H + ψ*(p,k) Υ(p) ψ(p,k)"),
                line("block(i,i)", "B* Υ(i) B"),
                line("block(i,j)", "B* ψ*(a,i) Υ(a) ψ(a,j) B, where a carries both"),
            ],
        });
    }
    all
}

pub(super) struct Teller<'a> {
    pub(super) graph: &'a Graph,
    pub(super) names: Vec<Option<String>>,
    /// Whether vectors are written as at link k, or as a whole.
    pub(super) at_links: bool,
}

/// The letter that a node is known by.
fn letter(graph: &Graph, id: Id) -> &'static str {
    match &graph.nodes[id] {
        Node::Core(Core::InPhi, ..) => "f",
        Node::Core(Core::InPsi, ..) => "z",
        Node::Core(Core::OutPhi, Some(t), None) if is_qd(graph, *t) => "V",
        Node::Core(Core::OutPhi, ..) => "y",
        Node::Core(Core::OutPsi, ..) => "λ",
        Node::Joint(core) => match graph.nodes[*core] {
            Node::Core(Core::InPsi, ..) => "ε",
            Node::Core(Core::InPhi, ..) => "h",
            Node::Core(Core::OutPhi, ..) => "ξ",
            Node::Augmented(..) => "s",
            _ => "ν",
        },
        Node::Augmented(..) => "λ",
        Node::PRate(_) => "Ṗ",
        Node::Composite => "r",
        Node::UpsilonRate(..) => "Υ̇",
        Node::Coriolis(..) => "a",
        Node::Gyroscopic(_) => "b",
        Node::BaseAcceleration => "a₀",
        _ => match graph.spaces[id] {
            Space::Joint => "s",
            Space::Number => "n",
            Space::Tip | Space::Frame => "t",
            Space::Constraint => "c",
            _ => "u",
        },
    }
}

fn is_qd(graph: &Graph, id: Id) -> bool {
    matches!(&graph.nodes[id], Node::Given(v) if &*v.name == "qd")
}

impl<'a> Teller<'a> {
    pub(super) fn new(graph: &'a Graph, schedule: &Schedule, results: &[Option<String>]) -> Self {
        let called = |i: usize| {
            results[i]
                .as_deref()
                .map_or("result", |n| vector(n, Notation::Symbols))
                .to_owned()
        };
        let n = graph.nodes.len();
        // What is used twice, later, or as a whole has a name; the rest is written where it is used.
        let mut place = vec![0; n];
        for (i, sweep) in schedule.sweeps.iter().enumerate() {
            sweep.nodes.iter().for_each(|&id| place[id] = i + 1);
        }
        let (mut uses, mut named) = (vec![0; n], vec![false; n]);
        graph.results.iter().for_each(|&id| named[id] = true);
        for id in 0..n {
            let whole = matches!(
                graph.nodes[id],
                Node::Shift(..)
                    | Node::Dot(..)
                    | Node::Pick(_)
                    | Node::Spread(_)
                    | Node::Solve(..)
                    | Node::Augmented(..)
                    | Node::Tie(_)
                    | Node::Untie(_)
                    | Node::TieRate(..)
                    | Node::Matrix(..)
                    | Node::Select(..)
                    | Node::Place(..)
                    | Node::ConstraintBias(..)
                    | Node::Diagonal(..)
                    | Node::PRate(_)
                    | Node::UpsilonRate(..)
                    | Node::RateAdjoint(_)
                    | Node::Seen(_)
            );
            for read in graph.reads(id) {
                uses[read] += 1;
                named[read] |= whole || place[read] != place[id];
            }
        }
        let mut counts: Vec<(&str, usize)> = Vec::new();
        let mut names = vec![None; n];
        for id in 0..n {
            let node = &graph.nodes[id];
            if let Node::Given(v) = node {
                names[id] = Some(vector(&v.name, Notation::Symbols).to_owned());
                continue;
            }
            let inline = matches!(
                node,
                Node::Local(..) | Node::Combine(..) | Node::Times(..) | Node::Cross(..) | Node::PRateTimes(..)
            );
            if matches!(node, Node::Unit | Node::Link(_)) || (inline && uses[id] < 2 && !named[id]) {
                continue;
            }
            if let Some(i) = graph.results.iter().position(|&r| r == id) {
                names[id] = Some(called(i));
                continue;
            }
            let letter = letter(graph, id);
            let count = match counts.iter_mut().find(|c| c.0 == letter) {
                Some(count) => {
                    count.1 += 1;
                    count.1
                }
                None => {
                    counts.push((letter, 1));
                    1
                }
            };
            names[id] = Some(if count == 1 {
                letter.to_owned()
            } else {
                format!("{letter}{}", subscript(count))
            });
        }
        // A recursion whose links are the result has its name.
        for (i, &id) in graph.results.iter().enumerate() {
            if let Node::Link(core) = graph.nodes[id] {
                names[core] = Some(called(i));
            }
        }
        Self {
            graph,
            names,
            at_links: true,
        }
    }

    pub(super) fn name(&self, id: Id) -> Option<&str> {
        match self.graph.nodes[id] {
            Node::Link(core) => self.names[core].as_deref(),
            _ => self.names[id].as_deref(),
        }
    }

    /// Whether a node has one value for each link.
    pub(super) fn per_link(&self, id: Id) -> bool {
        matches!(self.graph.spaces[id], Space::Joint | Space::Motion | Space::Force)
    }

    /// A node's value at link k, by its name or written out.
    pub(super) fn text(&self, id: Id) -> String {
        if let Some(name) = self.name(id) {
            return if self.at_links && self.per_link(id) {
                format!("{name}(k)")
            } else {
                name.to_owned()
            };
        }
        self.written_out(id)
    }

    pub(super) fn written_out(&self, id: Id) -> String {
        match &self.graph.nodes[id] {
            Node::Local(local, x) => {
                let inner = self.text(*x);
                let open = inner.contains(" + ") || inner.contains(" − ") || inner.starts_with('−');
                let inner = if open { format!("[{inner}]") } else { inner };
                {
                    let symbol = symbol(*local);
                    let symbol = if self.at_links {
                        symbol
                    } else {
                        symbol.trim_end_matches("(k)")
                    };
                    format!("{symbol} {inner}")
                }
            }
            Node::Combine(terms, _) => {
                let mut text = String::new();
                for (i, &(scale, x)) in terms.iter().enumerate() {
                    let scale = f64::from_bits(scale);
                    text += match (i, scale < 0.0) {
                        (0, true) => "−",
                        (0, false) => "",
                        (_, true) => " − ",
                        (_, false) => " + ",
                    };
                    if scale.abs() != 1.0 {
                        text += &format!("{} ", scale.abs());
                    }
                    text += &self.text(x);
                }
                if text.is_empty() { "0".to_owned() } else { text }
            }
            Node::Times(number, x) => format!("{} {}", self.text(*number), self.text(*x)),
            Node::Cross(force, v, x) => {
                let name = if *force { "crf" } else { "crm" };
                format!("{name}({}) {}", self.text(*v), bracketed(&self.text(*x)))
            }
            Node::PRateTimes(rate, x) => format!("{} {}", self.text(*rate), bracketed(&self.text(*x))),
            Node::RootRate(rate, star, x) => {
                let star = if *star { "*" } else { "" };
                let rate = self.text(*rate);
                format!("[D^½ Φ(D^-½ H {rate} H* D^-½*)]{star} {}", bracketed(&self.text(*x)))
            }
            Node::Seen(x) => format!("what of {} moves the frames' axes", self.whole(*x)),
            Node::Unit => "1".to_owned(),
            Node::Spread(x) => format!("B {}", self.whole(*x)),
            Node::Pick(x) => format!("B* {}", self.whole(*x)),
            Node::Solve(which, x) => {
                let (inner, pseudo) = &self.graph.solves[*which];
                let inner = inner.written(Notation::Symbols);
                let power = if *pseudo { "⁺" } else { "⁻¹" };
                format!("({inner}){power} {}, solved as a dense matrix", self.whole(*x))
            }
            Node::Augmented(which, t, x) => {
                let inner = self.graph.augmented[*which].written(Notation::Symbols);
                let given = [t.map(|t| self.whole(t)), x.map(|x| format!("Hφ {}", self.whole(x)))];
                let given: Vec<String> = given.into_iter().flatten().collect();
                let given = given.join(" + ");
                format!(
                    "φ*H* ({inner})⁻¹ [{given}], one sweep inward (P, D, G of the weighted links, z, ε) and one outward"
                )
            }
            Node::Joint(of) => match self.graph.nodes[*of] {
                Node::Augmented(..) => format!("the joints of {}", self.whole(*of)),
                _ => "?".to_owned(),
            },
            Node::Diagonal(by, inverted, x) => {
                let power = if *inverted { "⁻¹" } else { "" };
                format!("diag({}){power} {}", self.whole(*by), self.whole(*x))
            }
            Node::Select(name, x) => format!("the frame {name} of {}", self.whole(*x)),
            Node::Place(name, x) => format!("{} at the frame {name}, else 0", self.whole(*x)),
            Node::Tie(x) => format!("Bc {}", self.whole(*x)),
            Node::Untie(x) => format!("Bc* {}", self.whole(*x)),
            Node::ConstraintBias(v, a) => format!("Ḃc* {} + Bc* {}", self.whole(*v), self.whole(*a)),
            Node::TieRate(of, a, b) => {
                let (a, b) = (self.whole(*a), self.whole(*b));
                match of {
                    TieRate::Forces => format!("Ḃc[{b}] {a}"),
                    TieRate::Rates => format!("Ḃc*[{a}] {b}"),
                    TieRate::Gradient => format!("the gradient of {b}* Ḃc[X] {a} by X"),
                }
            }
            Node::Matrix(w, x) => format!("{} {}", self.whole(*w), self.whole(*x)),
            Node::LogDet => "Σ log det D(k)".to_owned(),
            Node::Dot(a, b) => format!("Σ {}*{}", self.text(*a), self.text(*b)),
            _ => "?".to_owned(),
        }
    }

    pub(super) fn whole(&self, id: Id) -> String {
        self.name(id).map_or_else(|| self.text(id), str::to_owned)
    }

    pub(super) fn between(&self, heading: &str, ids: &[Id]) -> Told {
        let named = ids.iter().filter(|&&id| self.name(id).is_some());
        let lines = named.map(|&id| {
            let left = self.name(id).unwrap_or_default().to_owned();
            let left = if self.at_links && self.per_link(id) {
                format!("{left}(k)")
            } else {
                left
            };
            (left, self.written_out(id))
        });
        Told {
            heading: heading.to_owned(),
            lines: lines.collect(),
        }
    }

    pub(super) fn sweep(&self, number: usize, sweep: &Sweep, rotors: bool) -> Told {
        let heading = if sweep.inward {
            format!("sweep {number}, inward: from the tips to the base")
        } else {
            format!("sweep {number}, outward: from the base to the tips")
        };
        let mut lines = Vec::new();
        let mut line = |left: &str, right: String| lines.push((left.to_owned(), right));
        if sweep.riccati {
            line("P(k)", "M(k) + Σ φ(k,c) P⁺(c) φ*(k,c)".to_owned());
            line("D(k)", format!("H P(k) H*{}", if rotors { " + A" } else { "" }));
            line("G(k)", "P(k) H* D⁻¹(k)".to_owned());
            line("P⁺(k)", "P(k) − G D G*".to_owned());
        }
        if sweep.upsilon {
            line("Υ(k)", "H* D⁻¹ H + ψ*(p,k) Υ(p) ψ(p,k)".to_owned());
        }
        for &id in &sweep.nodes {
            let Some(name) = self.names[id].clone() else {
                continue;
            };
            let at = format!("{name}(k)");
            match &self.graph.nodes[id] {
                Node::Core(core, t, x) => self.recursion(id, *core, *t, *x, &name, &mut line),
                Node::Joint(_) | Node::Link(_) => {}
                Node::Shift(true, x) => line(&at, format!("Σ φ(k,c) {}(c)", self.whole(*x))),
                Node::Shift(false, x) => line(&at, format!("φ*(p,k) {}(p)", self.whole(*x))),
                Node::Coriolis(v, qd) => line(&at, format!("crm({}) H* {}", self.text(*v), self.text(*qd))),
                Node::Gyroscopic(v) => line(&at, format!("crf({0}) M {0}", self.text(*v))),
                Node::Composite => line(&at, format!("M(k) + Σ φ(k,c) {name}(c) φ*(k,c)")),
                Node::PRate(w) => {
                    line(&at, format!("Σ φ(k,c) {name}⁺(c) φ*(k,c)"));
                    line(
                        &format!("{name}⁺(k)"),
                        format!(
                            "τ̄ {at} τ̄* + crf(Δ) P⁺ − P⁺ crm(Δ), Δ = H* {}",
                            bracketed(&self.text(*w))
                        ),
                    );
                }
                Node::UpsilonRate(..) => line(
                    &at,
                    format!("the rate of H* D⁻¹ H + ψ*(p,k) Υ(p) ψ(p,k), from {name}(p) and those of D, G and φ(p,k)"),
                ),
                Node::RateAdjoint(seeds) => {
                    let each = seeds.iter().map(|(seed, x, y)| match seed {
                        Seed::LogDet => "H* D⁻¹ H".to_owned(),
                        _ => format!("sym({} {}*)", self.text(*x), self.text(*y)),
                    });
                    let each: Vec<String> = each.collect();
                    line(
                        "W(k)",
                        format!("{} + τ̄* Z τ̄, Z = φ*(p,k) W(p) φ(p,k)", each.join(" + ")),
                    );
                    line(&at, "−2 H Σ crf(z) p⁺, over the columns of Z and P⁺".to_owned());
                }
                Node::BaseAcceleration => line(&at, "φ*(p,k) [0; −g], where p is the world, else 0".to_owned()),
                _ => line(&at, self.written_out(id)),
            }
        }
        Told { heading, lines }
    }

    fn recursion(
        &self,
        id: Id,
        core: Core,
        t: Option<Id>,
        x: Option<Id>,
        name: &str,
        line: &mut impl FnMut(&str, String),
    ) {
        let joint = self.graph.nodes.iter().position(|n| *n == Node::Joint(id));
        let joint = joint.and_then(|j| self.names[j].clone());
        let own = x.map(|x| format!("{} + ", self.text(x))).unwrap_or_default();
        let given = t.map(|t| self.text(t));
        let at = format!("{name}(k)");
        let plus = format!("{name}⁺");
        match core {
            Core::InPsi => {
                let eps = joint.unwrap_or_else(|| "ε".to_owned());
                let first = given.map(|t| format!("{t} ")).unwrap_or_default();
                line(&at, format!("{own}Σ φ(k,c) {plus}(c)"));
                line(&format!("{eps}(k)"), format!("{first}− H {at}"));
                line(&format!("{plus}(k)"), format!("{at} + G {eps}(k)"));
            }
            Core::InPhi => {
                let into = if t.is_some() { &plus } else { name };
                line(&at, format!("{own}Σ φ(k,c) {into}(c)"));
                if let Some(joint) = joint {
                    let first = given.as_ref().map(|t| format!("{t} + ")).unwrap_or_default();
                    line(&format!("{joint}(k)"), format!("{first}H {at}"));
                }
                if let Some(t) = given {
                    line(&format!("{plus}(k)"), format!("{at} + G [{t}]"));
                }
            }
            Core::OutPsi | Core::OutPhi => {
                let psi = core == Core::OutPsi;
                let carried = format!("φ*(p,k) {name}(p)");
                let more = x.map(|x| format!(" + {}", self.text(x))).unwrap_or_default();
                if joint.is_none() && !psi {
                    let first = given.map(|t| format!(" + H* {}", bracketed(&t))).unwrap_or_default();
                    line(&at, format!("{carried}{first}{more}"));
                    return;
                }
                let e = joint.unwrap_or_else(|| "ν".to_owned());
                let sign = if psi { "−" } else { "+" };
                let first = given.as_ref().map(|t| format!("{t} ")).unwrap_or_default();
                line(&format!("{plus}(k)"), carried);
                line(&format!("{e}(k)"), format!("{first}{sign} G* {plus}(k)"));
                let along = if psi { Some(format!("{e}(k)")) } else { given };
                let along = along.map(|t| format!(" + H* {}", bracketed(&t))).unwrap_or_default();
                line(&at, format!("{plus}(k){along}{more}"));
            }
        }
    }
}

pub(super) fn bracketed(text: &str) -> String {
    if text.contains(" + ") || text.contains(" − ") {
        format!("[{text}]")
    } else {
        text.to_owned()
    }
}

pub(super) fn symbol(local: Local) -> &'static str {
    match local {
        Local::H => "H",
        Local::HStar => "H*",
        Local::M => "M",
        Local::P => "P(k)",
        Local::PPlus => "P⁺(k)",
        Local::D => "D",
        Local::DInv => "D⁻¹",
        Local::G => "G",
        Local::GStar => "G*",
        Local::TauBar => "τ̄",
        Local::TauBarStar => "τ̄*",
        Local::Root => "D^½",
        Local::RootStar => "D^½*",
        Local::RootInv => "D^-½",
        Local::RootInvStar => "D^-½*",
        Local::Upsilon => "Υ(k)",
        Local::Rotors => "A",
        Local::MInv => "M⁻¹",
        Local::PInv => "P⁻¹(k)",
    }
}

fn subscript(n: usize) -> String {
    let digit = |c: char| char::from_u32('₀' as u32 + c as u32 - '0' as u32).unwrap_or(c);
    n.to_string().chars().map(digit).collect()
}
