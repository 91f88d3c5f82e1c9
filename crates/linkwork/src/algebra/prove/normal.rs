//! The normal form of an expression, and every step on the way to it.

use super::axioms::{Axiom, axioms};
use super::rates::{self, RateLaw};
use crate::algebra::notation::Notation;
use crate::algebra::op::Op;
use crate::algebra::rewrite::kept;
use crate::algebra::space::Space;
use crate::algebra::sum::{Factor, Sum, Term};
use crate::algebra::vector_operators::By;

/// More terms than this are not looked at.
const MOST_TERMS: usize = 400;
/// Nor more steps.
const MOST_STEPS: usize = 400;

/// What was done to come to a form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reason {
    /// X X⁻¹ = I, of a dense inverse.
    Inverse,
    /// X (X + Y)⁻¹ = I − Y (X + Y)⁻¹.
    InverseOfSum,
    /// The equations that define a pseudo-inverse.
    Penrose,
    Expanded,
    Axiom(&'static Axiom),
    Rate(&'static RateLaw),
}

/// A form and how it was come by.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) reason: Reason,
    pub(crate) sum: Sum,
}

/// All forms down to the normal one; none if that is too long.
pub(crate) fn forms(sum: &Sum, rotors: bool, composite: bool) -> Option<Vec<Form>> {
    let mut found: Vec<Form> = Vec::new();
    let mut now = opened(&kept(sum.clone(), rotors));
    let take = |reason, sum: Sum, now: &mut Sum, found: &mut Vec<Form>| {
        if sum != *now {
            found.push(Form {
                reason,
                sum: sum.clone(),
            });
        }
        *now = sum;
    };
    let next = cancelled(&now);
    take(Reason::Inverse, next, &mut now, &mut found);
    let next = inside(&now, &|sum| sum.expanded(MOST_TERMS))?;
    take(Reason::Expanded, next, &mut now, &mut found);
    let next = cancelled(&now);
    take(Reason::Inverse, next, &mut now, &mut found);
    let next = shortened(&now, of_sum)?;
    take(Reason::InverseOfSum, next, &mut now, &mut found);
    let next = shortened(&now, penrose)?;
    take(Reason::Penrose, next, &mut now, &mut found);
    while found.len() < MOST_STEPS {
        let apply = |axiom: &'static Axiom| {
            let next = everywhere(&now, axiom, rotors)?;
            Some((axiom, next))
        };
        let fitting = |axiom: &&'static Axiom| axiom.composite.is_none_or(|own| own == composite);
        if let Some((axiom, next)) = axioms().iter().filter(fitting).find_map(apply) {
            take(Reason::Axiom(axiom), next?, &mut now, &mut found);
            continue;
        }
        // Where no definition is left to put in, what is known of rates.
        let Some((law, next)) = rates::step(&now) else {
            return Some(found);
        };
        if next.terms.len() > MOST_TERMS {
            return None;
        }
        take(Reason::Rate(law), kept(next, rotors), &mut now, &mut found);
    }
    None
}

/// Applies an axiom wherever it fits, also inside of inverses: none where it does not, none inside where that is too long.
fn everywhere(sum: &Sum, axiom: &Axiom, rotors: bool) -> Option<Option<Sum>> {
    let fits = fits(sum, axiom);
    fits.then(|| {
        let rewritten = inside(sum, &|sum| {
            let mut now = sum.clone();
            while let Some(next) = once(&now, axiom) {
                now = kept(next, rotors);
                if now.terms.len() > MOST_TERMS {
                    return None;
                }
            }
            Some(now)
        });
        rewritten.map(|sum| kept(sum, rotors))
    })
}

fn fits(sum: &Sum, axiom: &Axiom) -> bool {
    let pattern = &axiom.law.left[0].factors;
    let here = |t: &Term| t.factors.windows(pattern.len()).any(|w| w == &pattern[..]);
    let below = |t: &Term| {
        t.factors
            .iter()
            .filter_map(Factor::inside)
            .any(|inner| fits(inner, axiom))
    };
    sum.terms.iter().any(|t| here(t) || below(t))
}

/// In every term that it fits, at its first place.
fn once(sum: &Sum, axiom: &Axiom) -> Option<Sum> {
    let pattern = &axiom.law.left[0].factors;
    let mut terms = Vec::with_capacity(sum.terms.len());
    let mut any = false;
    for term in &sum.terms {
        let Some(at) = term.factors.windows(pattern.len()).position(|w| w == &pattern[..]) else {
            terms.push(term.clone());
            continue;
        };
        any = true;
        let (before, after) = (&term.factors[..at], &term.factors[at + pattern.len()..]);
        terms.extend(axiom.law.right.iter().map(|r| {
            let factors = [before, &r.factors[..], after].concat();
            Term::new(term.scale * r.scale, factors)
        }));
    }
    any.then(|| Sum::of_terms(sum.range, sum.domain, terms))
}

/// A sum with the same done to it and to all that is inverted in it.
fn inside(sum: &Sum, change: &dyn Fn(&Sum) -> Option<Sum>) -> Option<Sum> {
    let mut sum = change(sum)?;
    for factor in sum.terms.iter_mut().flat_map(|t| &mut t.factors) {
        if let Factor::Inverse(inner) | Factor::Pseudo(inner) | Factor::Augmented(inner) | Factor::By(_, inner) = factor
        {
            **inner = inside(inner, change)?;
        }
    }
    Some(apart(&Sum::of_terms(sum.range, sum.domain, sum.terms)))
}

/// Vectors in parentheses like any others, and operators that sums of vectors make as sums of operators.
pub(super) fn opened(sum: &Sum) -> Sum {
    let mut sum = sum.clone();
    for factor in sum.terms.iter_mut().flat_map(|t| &mut t.factors) {
        if let Some(inner) = factor.inside_mut() {
            *inner = opened(inner);
        }
        if let Factor::Held(inner, adjoint) = factor {
            let vector = if *adjoint { inner.adjoint() } else { (**inner).clone() };
            *factor = Factor::Sum(Box::new(vector));
        }
    }
    apart(&Sum::of_terms(sum.range, sum.domain, sum.terms))
}

/// crm(v + w) = crm(v) + crm(w), and so with all that a vector makes.
fn apart(sum: &Sum) -> Sum {
    let several = |f: &Factor| matches!(f, Factor::By(_, v) if v.terms.len() != 1 || v.terms[0].scale != 1.0);
    let mut terms: Vec<Term> = sum.terms.clone();
    while let Some(i) = terms.iter().position(|t| t.factors.iter().any(several)) {
        let term = terms.remove(i);
        let Some(at) = term.factors.iter().position(several) else {
            continue;
        };
        let Factor::By(kind, vector) = &term.factors[at] else {
            continue;
        };
        for part in &vector.terms {
            let mut factors = term.factors.clone();
            let plain = Term::new(1.0, part.factors.clone());
            let alone = Sum::of_terms(vector.range, vector.domain, vec![plain]);
            factors[at] = Factor::By(*kind, Box::new(alone));
            terms.push(Term::new(term.scale * part.scale, factors));
        }
    }
    if sum.is_vector() {
        terms.iter_mut().for_each(turned);
    }
    if sum.is_vector() && sum.range == Space::Number {
        terms = terms.into_iter().filter_map(as_number).collect();
    }
    terms.retain(|term| !crosses_itself(term));
    Sum::of_terms(sum.range, sum.domain, terms)
}

/// crm(v)v = 0, and v*crf(v) = 0.
fn crosses_itself(term: &Term) -> bool {
    let is_vector = |factors: &[Factor]| factors.last().is_some_and(|f| f.domain() == Space::Number);
    let is_row = |factors: &[Factor]| factors.first().is_some_and(|f| f.range() == Space::Number);
    term.factors.iter().enumerate().any(|(at, factor)| {
        let Factor::By(kind @ (By::Crm | By::Crf), v) = factor else {
            return false;
        };
        let (before, after) = (&term.factors[..at], &term.factors[at + 1..]);
        let ([same], [row]) = (&v.terms[..], &v.adjoint().terms[..]) else {
            return false;
        };
        match kind {
            By::Crm => is_vector(after) && after == &same.factors[..],
            _ => is_row(before) && before == &row.factors[..],
        }
    })
}

/// crm(v)x = −crm(x)v and bar(f)v = crf(v)f, in one order: of a product that is a vector.
fn turned(term: &mut Term) {
    let alone = |factors: &[Factor]| {
        let range = factors.first().map(Factor::range)?;
        let plain = Term::new(1.0, factors.to_vec());
        Some(Sum::of_terms(range, Space::Number, vec![plain]))
    };
    for at in (0..term.factors.len()).rev() {
        let Factor::By(kind, vector) = &term.factors[at] else {
            continue;
        };
        let (Some(rest), [inner]) = (alone(&term.factors[at + 1..]), &vector.terms[..]) else {
            continue;
        };
        let (kind, sign) = match kind {
            By::Crm if rest.written(Notation::Ascii) < vector.written(Notation::Ascii) => (By::Crm, -1.0),
            By::Bar => (By::Crf, 1.0),
            _ => continue,
        };
        let inner = inner.clone();
        term.scale *= sign * inner.scale;
        term.factors.truncate(at);
        term.factors.push(Factor::By(kind, Box::new(rest)));
        term.factors.extend(inner.factors);
    }
}

/// The first in order of all ways to write a number: x*y = y*x, crm(v)x = −crm(x)v and v*crf(x) = −x*crf(v). None if it is
/// its own negative.
fn as_number(term: Term) -> Option<Term> {
    let crosses = |f: &Factor| matches!(f, Factor::By(By::Crm | By::Crf, _));
    if !term.factors.iter().any(crosses) {
        return Some(term);
    }
    let mut found: Vec<(String, Term)> = vec![(text(&term), term)];
    let mut at = 0;
    while at < found.len() && found.len() < MOST_WAYS {
        for next in other_ways(&found[at].1) {
            let text = text(&next);
            match found.iter().find(|(known, _)| *known == text) {
                Some((_, same)) if same.scale == -next.scale => return None,
                Some(_) => {}
                None => found.push((text, next)),
            }
        }
        at += 1;
    }
    found.into_iter().min_by(|a, b| a.0.cmp(&b.0)).map(|(_, term)| term)
}

/// So many ways to write a number are looked at.
const MOST_WAYS: usize = 64;

/// A product without its scale.
fn text(term: &Term) -> String {
    let plain = Term::new(1.0, term.factors.clone());
    Sum::of_terms(Space::Number, Space::Number, vec![plain]).written(Notation::Ascii)
}

/// The same number by one exchange.
fn other_ways(term: &Term) -> Vec<Term> {
    let whole = Sum {
        range: Space::Number,
        domain: Space::Number,
        terms: vec![term.clone()],
    };
    let mut found = whole.adjoint().terms;
    for (at, factor) in term.factors.iter().enumerate() {
        let Factor::By(kind @ (By::Crm | By::Crf), v) = factor else {
            continue;
        };
        let [inner] = &v.terms[..] else { continue };
        let (before, after) = (&term.factors[..at], &term.factors[at + 1..]);
        let alone = |factors: &[Factor]| {
            let range = factors.first().map(Factor::range)?;
            (range != Space::Number).then(|| {
                let plain = Term::new(1.0, factors.to_vec());
                Sum::of_terms(range, Space::Number, vec![plain])
            })
        };
        let scale = -term.scale * inner.scale;
        match kind {
            By::Crm => {
                if let Some(rest) = alone(after) {
                    let made = Factor::By(By::Crm, Box::new(rest));
                    let factors = [before, &[made], &inner.factors[..]].concat();
                    found.push(Term::new(scale, factors));
                }
            }
            _ => {
                let row = Sum {
                    range: Space::Number,
                    domain: factor.range(),
                    terms: vec![Term::new(1.0, before.to_vec())],
                };
                let [own] = &row.adjoint().terms[..] else { continue };
                let Some(rest) = alone(&own.factors) else { continue };
                let back = v.adjoint();
                let [back] = &back.terms[..] else { continue };
                let made = Factor::By(By::Crf, Box::new(rest));
                let factors = [&back.factors[..], &[made], after].concat();
                found.push(Term::new(-term.scale * own.scale * back.scale, factors));
            }
        }
    }
    found
}

/// A law that is applied to products until it fits no more: from where, to where, and what comes instead.
type Shorter = fn(&[Factor]) -> Option<(usize, usize, Vec<Term>)>;

fn shortened(sum: &Sum, by: Shorter) -> Option<Sum> {
    let mut now = sum.clone();
    for _ in 0..MOST_STEPS {
        let fits = now.terms.iter().position(|t| by(&t.factors).is_some());
        let Some(i) = fits else { return Some(now) };
        let term = now.terms.remove(i);
        let (from, to, parts) = by(&term.factors)?;
        for part in parts {
            let factors = [&term.factors[..from], &part.factors[..], &term.factors[to..]].concat();
            now.terms.push(Term::new(term.scale * part.scale, factors));
        }
        now = Sum::of_terms(now.range, now.domain, now.terms).expanded(MOST_TERMS)?;
    }
    None
}

/// X (X + Y)⁻¹ = I − Y (X + Y)⁻¹ and (X + Y)⁻¹X = I − (X + Y)⁻¹Y, with 𝓜 for X where it is among them.
fn of_sum(factors: &[Factor]) -> Option<(usize, usize, Vec<Term>)> {
    for (at, factor) in factors.iter().enumerate() {
        let (Factor::Inverse(inner) | Factor::Augmented(inner)) = factor else {
            continue;
        };
        if inner.terms.len() < 2 {
            continue;
        }
        let mass = [Factor::op(Op::Mass)];
        let which = inner.terms.iter().position(|t| t.factors == mass).unwrap_or(0);
        let (own, n) = (&inner.terms[which], inner.terms[which].factors.len());
        if n == 0 {
            continue;
        }
        let before = at >= n && factors[at - n..at] == own.factors[..];
        let after = factors.len() > at + n && factors[at + 1..=at + n] == own.factors[..];
        let (from, to) = match (before, after) {
            (true, _) => (at - n, at + 1),
            (_, true) => (at, at + n + 1),
            _ => continue,
        };
        let mut parts = vec![Term::new(own.scale.recip(), Vec::new())];
        for other in inner
            .terms
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != which)
            .map(|(_, t)| t)
        {
            let product = match before {
                true => [&other.factors[..], std::slice::from_ref(factor)].concat(),
                false => [std::slice::from_ref(factor), &other.factors[..]].concat(),
            };
            parts.push(Term::new(-other.scale * own.scale.recip(), product));
        }
        return Some((from, to, parts));
    }
    None
}

/// X X⁺X = X, X⁺X X⁺ = X⁺, and as X X⁺ and X⁺X are symmetric, X⁺X X* = X* and X*X X⁺ = X*.
fn penrose(factors: &[Factor]) -> Option<(usize, usize, Vec<Term>)> {
    for (at, factor) in factors.iter().enumerate() {
        let Factor::Pseudo(inner) = factor else { continue };
        let ([own], [star]) = (&inner.terms[..], &inner.adjoint().terms[..]) else {
            continue;
        };
        let (x, back) = (&own.factors[..], &star.factors[..]);
        let n = x.len();
        let is = |from: usize, what: &[Factor]| factors.get(from..from + what.len()) == Some(what);
        let before = |length: usize, what: &[Factor]| at.checked_sub(length).is_some_and(|from| is(from, what));
        let plain = |scale: f64, factors: &[Factor]| vec![Term::new(scale, factors.to_vec())];
        if before(n, x) && is(at + 1, x) {
            return Some((at - n, at + 1 + n, plain(own.scale.recip(), x)));
        }
        if is(at + 1, x) && factors.get(at + 1 + n) == Some(factor) {
            return Some((at, at + 2 + n, plain(own.scale.recip(), std::slice::from_ref(factor))));
        }
        if is(at + 1, x) && is(at + 1 + n, back) {
            return Some((at, at + 1 + 2 * n, plain(own.scale.recip(), back)));
        }
        if before(n, x) && before(2 * n, back) {
            return Some((at - 2 * n, at + 1, plain(own.scale.recip(), back)));
        }
    }
    None
}

/// Without what stands beside its own inverse.
fn cancelled(sum: &Sum) -> Sum {
    let mut sum = sum.clone();
    for term in &mut sum.terms {
        for factor in &mut term.factors {
            if let Factor::Sum(inner) = factor {
                **inner = cancelled(inner);
            }
        }
        while let Some((from, to, scale)) = pair(&term.factors) {
            term.factors.drain(from..to);
            term.scale *= scale;
        }
    }
    Sum::of_terms(sum.range, sum.domain, sum.terms)
}

/// Where an inverse stands beside what it inverts, and what is left of both.
fn pair(factors: &[Factor]) -> Option<(usize, usize, f64)> {
    for (at, factor) in factors.iter().enumerate() {
        let (Factor::Inverse(inner) | Factor::Augmented(inner)) = factor else {
            continue;
        };
        let same = |f: &Factor| matches!(f, Factor::Sum(sum) if sum == inner);
        if at > 0 && same(&factors[at - 1]) {
            return Some((at - 1, at + 1, 1.0));
        }
        if factors.get(at + 1).is_some_and(same) {
            return Some((at, at + 2, 1.0));
        }
        if let [term] = &inner.terms[..] {
            let n = term.factors.len();
            if at >= n && factors[at - n..at] == term.factors[..] {
                return Some((at - n, at + 1, term.scale.recip()));
            }
            if factors.len() > at + n && factors[at + 1..=at + n] == term.factors[..] {
                return Some((at, at + n + 1, term.scale.recip()));
            }
        }
    }
    None
}
