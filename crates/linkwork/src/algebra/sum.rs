//! Expressions in normal form: sums of products of operators and vectors.

use super::op::Op;
use super::space::{Direction, Space};
use super::vector_operators::By;
use std::sync::Arc;

/// Σ of terms, from one space to another. A vector leads from numbers to its space.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    pub(crate) range: Space,
    pub(crate) domain: Space,
    pub(crate) terms: Vec<Term>,
}

/// A number times a product; without factors, a multiple of the identity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) scale: f64,
    pub(crate) factors: Vec<Factor>,
}

/// One factor of a product, or its adjoint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Factor {
    Op(Op, bool),
    Vector(Vector, bool),
    Sum(Box<Sum>),
    /// The inverse of what has none in closed form: a dense solve, in joint or tip space.
    Inverse(Box<Sum>),
    /// The pseudo-inverse of a dense matrix.
    Pseudo(Box<Sum>),
    /// The inverse of a mass operator with weights, by the augmented recursion.
    Augmented(Box<Sum>),
    /// diag(w), or its inverse.
    Diagonal(Vector, bool),
    /// The six numbers of one frame among those of tip space, or the other way.
    Select(Arc<str>, bool),
    /// A symmetric matrix that is given: a vector of a space of matrices.
    Matrix(Vector),
    /// An operator that a vector makes.
    By(By, Box<Sum>),
    /// A vector that is computed as it is, or its adjoint.
    Held(Box<Sum>, bool),
}

/// A named vector.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Vector {
    pub(crate) name: Arc<str>,
    pub(crate) space: Space,
}

/// Sums are the same in whatever order their terms stand.
impl PartialEq for Sum {
    fn eq(&self, other: &Self) -> bool {
        let same = self.range == other.range && self.domain == other.domain && self.terms.len() == other.terms.len();
        // No two terms of a sum are alike: each needs a partner only.
        same && self.terms.iter().all(|t| other.terms.contains(t))
    }
}

impl Factor {
    pub(crate) fn op(op: Op) -> Self {
        Self::Op(op, false)
    }

    pub(crate) fn range(&self) -> Space {
        match self {
            Self::Op(op, false) => op.spaces().0,
            Self::Op(op, true) => op.spaces().1.dual(),
            Self::Vector(v, false) => v.space,
            Self::Vector(_, true) => Space::Number,
            Self::Sum(sum) => sum.range,
            Self::Inverse(sum) | Self::Pseudo(sum) | Self::Augmented(sum) => sum.domain,
            Self::Diagonal(v, _) => v.space,
            Self::Matrix(v) => v.space.side().unwrap_or(v.space),
            Self::By(by, vector) => by.spaces(vector.range).0,
            Self::Held(vector, false) => vector.range,
            Self::Held(_, true) => Space::Number,
            Self::Select(_, adjoint) => {
                if *adjoint {
                    Space::Tip
                } else {
                    Space::Frame
                }
            }
        }
    }

    pub(crate) fn domain(&self) -> Space {
        match self {
            Self::Op(op, false) => op.spaces().1,
            Self::Op(op, true) => op.spaces().0.dual(),
            Self::Vector(_, false) => Space::Number,
            Self::Vector(v, true) => v.space.dual(),
            Self::Sum(sum) => sum.domain,
            Self::Inverse(sum) | Self::Pseudo(sum) | Self::Augmented(sum) => sum.range,
            Self::Diagonal(v, _) => v.space,
            Self::Matrix(v) => v.space.side().unwrap_or(v.space),
            Self::By(by, vector) => by.spaces(vector.range).1,
            Self::Held(_, false) => Space::Number,
            Self::Held(vector, true) => vector.range.dual(),
            Self::Select(_, adjoint) => {
                if *adjoint {
                    Space::Frame
                } else {
                    Space::Tip
                }
            }
        }
    }

    /// The adjoint; of skew ones without their sign, which is the caller's ([`Self::is_skew`]).
    pub(crate) fn adjoint(&self) -> Self {
        match self {
            Self::Op(op, adjoint) => Self::Op(*op, !adjoint && !op.self_adjoint()),
            Self::Vector(v, adjoint) => Self::Vector(v.clone(), !adjoint),
            Self::Sum(sum) => Self::Sum(Box::new(sum.adjoint())),
            Self::Inverse(sum) => Self::Inverse(Box::new(sum.adjoint())),
            Self::Pseudo(sum) => Self::Pseudo(Box::new(sum.adjoint())),
            // Symmetric.
            Self::Augmented(_) | Self::Diagonal(..) | Self::Matrix(_) => self.clone(),
            Self::Select(name, adjoint) => Self::Select(name.clone(), !adjoint),
            Self::By(by, vector) => Self::By(by.adjoint(), vector.clone()),
            Self::Held(vector, adjoint) => Self::Held(vector.clone(), !adjoint),
        }
    }

    /// Whether the adjoint has the other sign.
    fn is_skew(&self) -> bool {
        matches!(self, Self::By(by, _) if by.is_skew())
    }

    /// What stands inside of it: a parenthesis, what is inverted, or a vector.
    pub(crate) fn inside(&self) -> Option<&Sum> {
        match self {
            Self::Sum(inner) | Self::Inverse(inner) | Self::Pseudo(inner) | Self::Augmented(inner) => Some(inner),
            Self::By(_, inner) | Self::Held(inner, _) => Some(inner),
            Self::Op(..) | Self::Vector(..) | Self::Diagonal(..) | Self::Select(..) | Self::Matrix(_) => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn inside_mut(&mut self) -> Option<&mut Sum> {
        match self {
            Self::Sum(inner) | Self::Inverse(inner) | Self::Pseudo(inner) | Self::Augmented(inner) => Some(inner),
            Self::By(_, inner) | Self::Held(inner, _) => Some(inner),
            Self::Op(..) | Self::Vector(..) | Self::Diagonal(..) | Self::Select(..) | Self::Matrix(_) => None,
        }
    }

    fn inverse(&self) -> Option<Self> {
        match self {
            Self::Op(op, adjoint) => {
                let inverse = op.inverse()?;
                Some(Self::Op(inverse, *adjoint && !inverse.self_adjoint()))
            }
            Self::Inverse(sum) | Self::Augmented(sum) => Some(Self::Sum(sum.clone())),
            Self::Diagonal(v, inverted) => Some(Self::Diagonal(v.clone(), !inverted)),
            _ => None,
        }
    }

    fn direction(&self) -> Direction {
        match self {
            Self::Op(op, false) => op.direction(),
            Self::Op(op, true) => op.direction().reversed(),
            Self::Vector(..) | Self::Diagonal(..) | Self::Select(..) | Self::Held(..) => Direction::Memoryless,
            // Across all joints, frames or constraints at once.
            Self::Matrix(_) => Direction::Both,
            Self::By(By::PDq(adjoint) | By::RootDq(_, adjoint), _) => match adjoint {
                false => Direction::Inward,
                true => Direction::Outward,
            },
            Self::By(..) => Direction::Memoryless,
            Self::Sum(sum) => sum.direction(),
            Self::Inverse(_) | Self::Pseudo(_) | Self::Augmented(_) => Direction::Both,
        }
    }
}

impl Term {
    pub(crate) fn new(scale: f64, factors: Vec<Factor>) -> Self {
        Self { scale, factors }
    }
}

impl Sum {
    pub(crate) fn zero(range: Space, domain: Space) -> Self {
        let terms = Vec::new();
        Self { range, domain, terms }
    }

    pub(crate) fn identity(space: Space) -> Self {
        Self {
            range: space,
            domain: space,
            terms: vec![Term::new(1.0, Vec::new())],
        }
    }

    pub(crate) fn of(factor: Factor) -> Self {
        Self {
            range: factor.range(),
            domain: factor.domain(),
            terms: vec![Term::new(1.0, vec![factor])],
        }
    }

    pub(crate) fn of_terms(range: Space, domain: Space, terms: Vec<Term>) -> Self {
        let mut sum = Self { range, domain, terms };
        sum.collect();
        sum
    }

    /// Opens what needs no parentheses, adds up like terms and drops those that vanish.
    fn collect(&mut self) {
        let mut collected: Vec<Term> = Vec::with_capacity(self.terms.len());
        let mut waiting: Vec<Term> = core::mem::take(&mut self.terms);
        waiting.reverse();
        while let Some(mut term) = waiting.pop() {
            if let [Factor::Sum(inner)] = &mut term.factors[..] {
                let inner = core::mem::take(&mut inner.terms);
                let scaled = inner.into_iter().map(|t| Term::new(t.scale * term.scale, t.factors));
                waiting.extend(scaled.rev());
                continue;
            }
            match collected.iter_mut().find(|t| t.factors == term.factors) {
                Some(like) => like.scale += term.scale,
                None => collected.push(term),
            }
        }
        collected.retain(|t| t.scale != 0.0);
        self.terms = collected;
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub(crate) fn is_vector(&self) -> bool {
        self.domain == Space::Number
    }

    /// self · other; the caller has seen to it that they fit.
    pub(crate) fn times(&self, other: &Self) -> Self {
        let (range, domain) = (self.range, other.domain);
        if self.is_zero() || other.is_zero() {
            return Self::zero(range, domain);
        }
        let mut term = self.as_term();
        let other = other.as_term();
        term.scale *= other.scale;
        term.factors.extend(other.factors);
        Self::of_terms(range, domain, vec![term])
    }

    /// As one term: itself, or a parenthesis.
    fn as_term(&self) -> Term {
        match &self.terms[..] {
            [one] => one.clone(),
            _ => Term::new(1.0, vec![Factor::Sum(Box::new(self.clone()))]),
        }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let terms = [&self.terms[..], &other.terms[..]].concat();
        Self::of_terms(self.range, self.domain, terms)
    }

    pub(crate) fn scaled(&self, scale: f64) -> Self {
        let mut sum = self.clone();
        for term in &mut sum.terms {
            term.scale *= scale;
        }
        sum.terms.retain(|t| t.scale != 0.0);
        sum
    }

    pub(crate) fn adjoint(&self) -> Self {
        let flip = |t: &Term| {
            let skew = t.factors.iter().filter(|f| f.is_skew()).count();
            let sign = if skew % 2 == 1 { -1.0 } else { 1.0 };
            Term::new(t.scale * sign, t.factors.iter().rev().map(Factor::adjoint).collect())
        };
        Self {
            range: self.domain.dual(),
            domain: self.range.dual(),
            terms: self.terms.iter().map(flip).collect(),
        }
    }

    /// The inverse of a product of operators that have one.
    pub(crate) fn inverse(&self) -> Option<Self> {
        let [term] = &self.terms[..] else { return None };
        let mut factors = Vec::with_capacity(term.factors.len());
        for factor in term.factors.iter().rev() {
            factors.push(factor.inverse()?);
        }
        let scale = term.scale.recip();
        Some(Self::of_terms(self.domain, self.range, vec![Term::new(scale, factors)]))
    }

    pub(crate) fn direction(&self) -> Direction {
        let each = self.terms.iter().flat_map(|t| &t.factors).map(Factor::direction);
        each.fold(Direction::Memoryless, Direction::with)
    }

    /// Every parenthesis multiplied out; none if that gives more than `most` terms.
    pub(crate) fn expanded(&self, most: usize) -> Option<Self> {
        let mut flat = Vec::new();
        for term in &self.terms {
            let mut products = vec![Term::new(term.scale, Vec::new())];
            for factor in &term.factors {
                let Factor::Sum(inner) = factor else {
                    products.iter_mut().for_each(|p| p.factors.push(factor.clone()));
                    continue;
                };
                let inner = inner.expanded(most)?;
                if products.len() * inner.terms.len() > most {
                    return None;
                }
                let mut next = Vec::new();
                for product in &products {
                    for t in &inner.terms {
                        let factors = [&product.factors[..], &t.factors[..]].concat();
                        next.push(Term::new(product.scale * t.scale, factors));
                    }
                }
                products = next;
            }
            flat.extend(products);
        }
        if flat.len() > most {
            return None;
        }
        Some(Self::of_terms(self.range, self.domain, flat))
    }

    /// Terms that begin alike share what they begin with: A B x + A C y becomes A (B x + C y).
    pub(crate) fn factored(&self) -> Self {
        let mut terms: Vec<Term> = Vec::new();
        let mut used = vec![false; self.terms.len()];
        for i in 0..self.terms.len() {
            if used[i] {
                continue;
            }
            let first = &self.terms[i];
            let Some(head) = first.factors.first() else {
                terms.push(first.clone());
                continue;
            };
            let alike: Vec<usize> = (i..self.terms.len())
                .filter(|&j| !used[j] && self.terms[j].factors.first() == Some(head))
                .collect();
            alike.iter().for_each(|&j| used[j] = true);
            if alike.len() == 1 || matches!(head, Factor::Vector(..) | Factor::Held(..)) {
                terms.extend(alike.iter().map(|&j| self.terms[j].clone()));
                continue;
            }
            let scale = if first.scale < 0.0 { -1.0 } else { 1.0 };
            let tails = alike.iter().map(|&j| {
                let t = &self.terms[j];
                Term::new(t.scale * scale, t.factors[1..].to_vec())
            });
            let inner = Self::of_terms(head.domain(), self.domain, tails.collect()).factored();
            let mut term = inner.as_term();
            term.scale *= scale;
            term.factors.insert(0, head.clone());
            terms.push(term);
        }
        Self::of_terms(self.range, self.domain, terms)
    }

    /// How many factors it has.
    pub(crate) fn size(&self) -> usize {
        let of = |f: &Factor| f.inside().map_or(1, Self::size);
        self.terms
            .iter()
            .map(|t| t.factors.iter().map(of).sum::<usize>().max(1))
            .sum()
    }

    /// Every vector in it, in order of appearance.
    pub(crate) fn vectors(&self) -> Vec<Vector> {
        let mut found = Vec::new();
        for factor in self.terms.iter().flat_map(|t| &t.factors) {
            let more = match factor {
                Factor::Vector(v, _) | Factor::Diagonal(v, _) | Factor::Matrix(v) => vec![v.clone()],
                other => match other.inside() {
                    Some(inner) => inner.vectors(),
                    None => continue,
                },
            };
            for v in more {
                if !found.contains(&v) {
                    found.push(v);
                }
            }
        }
        found
    }
}

impl Sum {
    /// Whether tip space occurs anywhere.
    pub(crate) fn mentions_tips(&self) -> bool {
        let tip = |space| space == Space::Tip;
        let inside = |f: &Factor| match f.inside() {
            Some(inner) => inner.mentions_tips(),
            None => tip(f.range()) || tip(f.domain()),
        };
        tip(self.range) || tip(self.domain) || self.terms.iter().flat_map(|t| &t.factors).any(inside)
    }

    /// Every factor, also inside of parentheses and inverses.
    pub(crate) fn each(&self, see: &mut dyn FnMut(&Factor)) {
        for factor in self.terms.iter().flat_map(|t| &t.factors) {
            see(factor);
            if let Some(inner) = factor.inside() {
                inner.each(see);
            }
        }
    }

    /// The frames that it names, in order of appearance.
    pub(crate) fn frames(&self) -> Vec<Arc<str>> {
        let mut found: Vec<Arc<str>> = Vec::new();
        self.each(&mut |factor| {
            if let Factor::Select(name, _) = factor
                && !found.contains(name)
            {
                found.push(name.clone());
            }
        });
        found
    }

    /// Whether some operator occurs anywhere.
    pub(crate) fn has_op(&self, of: impl Fn(Op) -> bool) -> bool {
        let mut found = false;
        self.each(&mut |factor| found |= matches!(factor, Factor::Op(op, _) if of(*op)));
        found
    }
}
