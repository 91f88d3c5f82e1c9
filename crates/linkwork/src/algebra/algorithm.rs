//! A compiled expression: rewritten, scheduled, and costed.

use super::cost::Cost;
use super::expression::Expression;
use super::graph::{Graph, Sharing};
use super::laws;
use super::notation::Notation;
use super::op::Op;
use super::program::Program;
use super::rewrite::{self, Budget, Rewritten};
use super::schedule::{Schedule, naive_cost};
use super::space::Space;
use super::sum::{Factor, Sum, Term, Vector};
use super::vector_operators::{by, held};
use std::cell::Cell;

/// An expression turned into sweeps.
#[derive(Clone, Debug)]
pub struct Algorithm {
    pub(crate) expression: Expression,
    pub(crate) rotors: bool,
    /// Vectors that are given although a state could give them.
    pub(crate) given: Vec<String>,
    pub(crate) rewritten: Rewritten,
    /// The same of results after the first.
    pub(crate) more: Vec<Rewritten>,
    pub(crate) graph: Graph,
    pub(crate) schedule: Schedule,
    pub(crate) program: Program,
    /// Multiples of matrices that have recursions of their own, if it is a sum of such.
    pub(crate) forms: Option<Vec<(f64, Form)>>,
    before: Cost,
    after: Cost,
}

/// A matrix that has a recursion of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// By composite bodies.
    Mass,
    /// By the Riccati equation and columns of ψ.
    MassInverse,
    Identity,
}

/// What a sum is in terms of those; none if something else is among it, or no sweep saved.
fn forms(sum: &Sum, rotors: bool) -> Option<Vec<(f64, Form)>> {
    if (sum.range, sum.domain) != (Space::Joint, Space::Joint) {
        return None;
    }
    let of = |term: &Term| {
        let form = match &term.factors[..] {
            [] => Form::Identity,
            [Factor::Op(Op::Mass, _)] => Form::Mass,
            [Factor::Op(Op::MassInv, _)] => Form::MassInverse,
            _ => return None,
        };
        Some((term.scale, form))
    };
    let found: Vec<_> = laws::reduced(sum, rotors)?
        .terms
        .iter()
        .map(of)
        .collect::<Option<_>>()?;
    let whole = |form: &(f64, Form)| matches!(form.1, Form::Mass | Form::MassInverse);
    found.iter().any(whole).then_some(found)
}

/// The graph, its schedule and cost, by the better of two ways to share.
fn plan(sums: &[&Sum], given: &[String]) -> (Graph, Schedule, Cost) {
    let with = |sharing| {
        let graph = Graph::new(sums, sharing, given);
        let schedule = Schedule::new(&graph);
        let cost = schedule.cost(&graph);
        (graph, schedule, cost)
    };
    let (linear, equal) = (with(Sharing::Linear), with(Sharing::Equal));
    if equal.2.total() < linear.2.total() {
        equal
    } else {
        linear
    }
}

/// What an expression costs by itself, in one number.
pub(crate) fn cost_of(sum: &Sum) -> f64 {
    plan(&[sum], &[]).2.total() as f64
}

/// Rewrites vectors that stand inside of factors, each by itself; equal ones become equal.
struct Inner<'a> {
    rotors: bool,
    given: &'a [String],
    budget: &'a Budget,
    known: Vec<(Sum, Sum)>,
}

impl Inner<'_> {
    fn rewrite(&mut self, sum: &mut Sum) {
        for factor in sum.terms.iter_mut().flat_map(|t| &mut t.factors) {
            match factor {
                Factor::Sum(inner) => self.rewrite(inner),
                Factor::By(_, inner) | Factor::Held(inner, _) => {
                    if let Some((_, found)) = self.known.iter().find(|(given, _)| *given == **inner) {
                        **inner = found.clone();
                        continue;
                    }
                    let given = (**inner).clone();
                    self.rewrite(inner);
                    let cost = |sum: &Sum| plan(&[sum], self.given).2.total() as f64;
                    // How many there are to come is not known: each may take a quarter of what is left.
                    let part = self.budget.part(4, 0);
                    **inner = rewrite::cheapest(inner, self.rotors, &part, &cost).sum;
                    self.budget.take_back(part);
                    self.known.push((given, (**inner).clone()));
                }
                _ => {}
            }
        }
    }
}

impl Algorithm {
    pub(crate) fn new(expression: &Expression, rotors: bool, given: &[&str]) -> Self {
        let given: Vec<String> = given.iter().map(|g| (*g).to_owned()).collect();
        let mut sums: Vec<Sum> = expression
            .sums()
            .map(|sum| laws::resolved(&defined(sum, &given), rotors))
            .collect();
        let budget = Budget::new();
        let mut inner = Inner {
            rotors,
            given: &given,
            budget: &budget,
            known: Vec::new(),
        };
        for sum in &mut sums {
            inner.rewrite(sum);
        }
        let forms = match &sums[..] {
            [one] => forms(one, rotors),
            _ => None,
        };
        let naive = Graph::new(&sums.iter().collect::<Vec<_>>(), Sharing::None, &given);
        let before = naive_cost(&naive);
        // Each in turn, costed together with the others, so that what they share counts once.
        let mut found: Vec<Rewritten> = Vec::with_capacity(sums.len());
        for i in 0..sums.len() {
            let cut = Cell::new(false);
            let cost = |sum: &Sum| {
                let all: Vec<&Sum> = sums
                    .iter()
                    .enumerate()
                    .map(|(j, s)| if i == j { sum } else { s })
                    .collect();
                let (graph, _, cost) = plan(&all, &given);
                cut.set(cut.get() || graph.is_cut_short());
                cost.total() as f64
            };
            let others = sums.iter().enumerate().filter(|(j, _)| *j != i);
            let part = budget.part(sums.len() - i, others.map(|(_, sum)| sum.size()).sum());
            let mut rewritten = rewrite::cheapest(&sums[i], rotors, &part, &cost);
            budget.take_back(part);
            rewritten.cut_short |= cut.get();
            sums[i] = rewritten.sum.clone();
            found.push(rewritten);
        }
        let (graph, schedule, after) = plan(&sums.iter().collect::<Vec<_>>(), &given);
        let rewritten = found.remove(0);
        let more = found;
        let program = Program::new(&graph, &schedule);
        Self {
            expression: expression.clone(),
            rotors,
            given,
            rewritten,
            more,
            graph,
            schedule,
            program,
            forms,
            before,
            after,
        }
    }

    /// The expression it came from.
    pub fn expression(&self) -> &Expression {
        &self.expression
    }

    /// The expression it was rewritten to.
    pub fn rewritten(&self) -> Expression {
        let mut found = Expression::of(self.rewritten.sum.factored());
        found.more = self.more.iter().map(|r| r.sum.factored()).collect();
        found.names = self.expression.names.clone();
        found.text = found.written(Notation::Ascii);
        found
    }

    /// The laws that were applied, in order.
    pub fn laws(&self, notation: Notation) -> Vec<String> {
        let mut laws = self.rewritten.equations(self.rotors, notation);
        for law in self.more.iter().flat_map(|r| r.equations(self.rotors, notation)) {
            if !laws.contains(&law) {
                laws.push(law);
            }
        }
        if self.operational().is_some() {
            laws.push(match notation {
                Notation::Latex => {
                    r"\psi^* H^* D^{-1} H \psi = \Upsilon + \tilde\psi^* \Upsilon + \Upsilon \tilde\psi".to_owned()
                }
                Notation::Ascii => {
                    "psi^* H^* inv(D) H psi = Upsilon + (psi - I)^* Upsilon + Upsilon (psi - I)".to_owned()
                }
                Notation::Symbols => "ψ*H*D⁻¹Hψ = Υ + (ψ − I)*Υ + Υ(ψ − I)".to_owned(),
            });
        }
        if self.is_composite() {
            laws.push(match notation {
                Notation::Latex => r"\phi M \phi^* = r + \tilde\phi r + r \tilde\phi^*".to_owned(),
                Notation::Ascii => "phi M phi^* = r + (phi - I) r + r (phi - I)^*".to_owned(),
                Notation::Symbols => "φMφ* = r + (φ − I)r + r(φ − I)*".to_owned(),
            });
        }
        if !self.graph.augmented.is_empty() {
            laws.push(match notation {
                Notation::Latex => {
                    r"(\mathcal{M} + A + \sum J^* G J)^{-1} = (I - H\psi K)^* D^{-1} (I - H\psi K),\ M + \sum B G B^*\text{ for }M,\ D + A\text{ for }D"
                        .to_owned()
                }
                _ => "(𝓜 + A + ΣJ*GJ)⁻¹ = (I − HψK)*D⁻¹ (I − HψK), with M + ΣBGB* for M and D + A for D".to_owned(),
            });
        }
        laws
    }

    /// Whether the search for a cheaper form ended before all was tried: the expression is so long that there may be one.
    pub fn is_cut_short(&self) -> bool {
        self.rewritten.cut_short || self.more.iter().any(|r| r.cut_short)
    }

    /// What it costs, per link on a revolute joint in general position.
    pub fn cost(&self) -> Cost {
        self.after
    }

    /// What it would cost to run every operator of the expression by itself.
    pub fn naive_cost(&self) -> Cost {
        self.before
    }

    /// Whether as a matrix it comes from composite bodies.
    pub(crate) fn is_composite(&self) -> bool {
        self.forms.iter().flatten().any(|form| form.1 == Form::Mass)
    }

    /// A multiple of J𝓜⁻¹J* = B*ψ*H*D⁻¹HψB, as which the expression was recognised: as a matrix it is the recursion of Υ.
    pub(crate) fn operational(&self) -> Option<f64> {
        use Op::{B, DInv, H, Psi};
        let shape = [
            (B, true),
            (Psi, true),
            (H, true),
            (DInv, false),
            (H, false),
            (Psi, false),
            (B, false),
        ];
        let ([term], []) = (&self.rewritten.sum.terms[..], &self.more[..]) else {
            return None;
        };
        let wanted = shape.iter().map(|&(op, adjoint)| Factor::Op(op, adjoint));
        (term.factors.iter().cloned().eq(wanted)).then_some(term.scale)
    }

    /// All results as they were rewritten.
    pub(crate) fn sums(&self) -> impl Iterator<Item = &Sum> {
        core::iter::once(&self.rewritten.sum).chain(self.more.iter().map(|r| &r.sum))
    }

    /// What is inverted as a dense matrix at each state, having no inverse in closed form.
    pub fn solves(&self) -> Vec<Expression> {
        self.graph.solves.iter().map(|s| Expression::of(s.0.clone())).collect()
    }

    /// The vectors it must be given, and their spaces.
    pub fn inputs(&self) -> Vec<(String, Space)> {
        let inputs = self.program.inputs.iter();
        inputs.map(|(v, _)| (v.name.to_string(), v.space)).collect()
    }
}

/// Vectors that are short for others: V = φ*H*q̇, C = Hφ(Mφ*a + b), g = HφMφ*a₀.
pub(crate) fn defined(sum: &Sum, given: &[String]) -> Sum {
    put_in(sum, &|name| match given.iter().any(|g| *g == name) {
        true => None,
        false => definition(name),
    })
}

/// With vectors by what they stand for.
pub(crate) fn put_in(sum: &Sum, known: &dyn Fn(&str) -> Option<Sum>) -> Sum {
    let mut terms = Vec::new();
    for term in &sum.terms {
        let mut out = Sum::identity(term.factors.last().map_or(sum.domain, Factor::domain));
        for factor in term.factors.iter().rev() {
            let sum = match factor {
                Factor::Vector(v, adjoint) => match known(&v.name) {
                    Some(sum) if *adjoint => sum.adjoint(),
                    Some(sum) => sum,
                    None => Sum::of(factor.clone()),
                },
                Factor::Sum(inner) => put_in(inner, known),
                Factor::By(kind, inner) => by(*kind, &put_in(inner, known)),
                Factor::Held(inner, adjoint) => {
                    let vector = held(put_in(inner, known));
                    if *adjoint { vector.adjoint() } else { vector }
                }
                other => Sum::of(other.clone()),
            };
            out = sum.times(&out);
        }
        terms.extend(out.scaled(term.scale).terms);
    }
    Sum::of_terms(sum.range, sum.domain, terms)
}

pub(crate) fn definition(name: &str) -> Option<Sum> {
    let op = |op| Factor::op(op);
    let star = |op| Factor::Op(op, true);
    let vector = |name: &str, space| {
        let name = name.into();
        Factor::Vector(Vector { name, space }, false)
    };
    let (a, b) = (vector("a", Space::Motion), vector("b", Space::Force));
    let (range, terms) = match name {
        "V" => {
            let qd = vector("qd", Space::Joint);
            (
                Space::Motion,
                vec![Term::new(1.0, vec![star(Op::Phi), star(Op::H), qd])],
            )
        }
        "C" => {
            let inner = vec![
                Term::new(1.0, vec![op(Op::M), star(Op::Phi), a]),
                Term::new(1.0, vec![b]),
            ];
            let inner = Factor::Sum(Box::new(Sum::of_terms(Space::Force, Space::Number, inner)));
            (Space::Joint, vec![Term::new(1.0, vec![op(Op::H), op(Op::Phi), inner])])
        }
        "g" => {
            let a0 = vector("a0", Space::Motion);
            let factors = vec![op(Op::H), op(Op::Phi), op(Op::M), star(Op::Phi), a0];
            (Space::Joint, vec![Term::new(1.0, factors)])
        }
        _ => return None,
    };
    Some(Sum::of_terms(range, Space::Number, terms))
}
