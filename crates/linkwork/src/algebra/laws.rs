//! The laws of the algebra, as rules that rewrite a product, or two terms of a sum.
//!
//! Each holds with its adjoint. A is the rotors' inertia and vanishes where there is none.

use super::augmented;
use super::notation::Notation;
use super::op::Op;
use super::rewrite::kept;
use super::sum::{Factor, Sum, Term};
use std::sync::LazyLock;

/// Products: what stands on the left becomes what stands on the right. `*` is the adjoint, `N` is I − HψK, `F` is
/// I + HφK, `L` is D^½.
const PRODUCTS: [(&str, &str); 53] = [
    // Inverses.
    ("Mass Mass⁻", "I"),
    ("Mass⁻ Mass", "I"),
    ("F N", "I"),
    ("N F", "I"),
    ("D D⁻", "I"),
    ("D⁻ D", "I"),
    ("M M⁻", "I"),
    ("M⁻ M", "I"),
    ("P P⁻", "I"),
    ("P⁻ P", "I"),
    ("φ φ⁻", "I"),
    ("φ⁻ φ", "I"),
    ("ψ ψ⁻", "I"),
    ("ψ⁻ ψ", "I"),
    ("L L⁻", "I"),
    ("L⁻ L", "I"),
    ("L L*", "D"),
    ("L⁻* L⁻", "D⁻"),
    ("D⁻ L", "L⁻*"),
    ("L⁻ D", "L*"),
    // What the Riccati equation defines.
    ("E_φ τ", "E_ψ"),
    ("E_φ G", "K"),
    ("P H* D⁻", "G"),
    ("P H*", "G D"),
    ("H P H*", "D - A"),
    ("G D G*", "P - P⁺"),
    ("τ P", "P⁺"),
    ("G H P", "P - P⁺"),
    ("H G", "I - A D⁻"),
    ("H τ", "A D⁻ H"),
    ("τ G", "G A D⁻"),
    ("H P⁺", "A G*"),
    // φ and ψ are sums of powers.
    ("E_φ φ", "φ - I"),
    ("φ E_φ", "φ - I"),
    ("E_ψ ψ", "ψ - I"),
    ("ψ E_ψ", "ψ - I"),
    // ψ⁻¹ = φ⁻¹ + KH.
    ("φ⁻ ψ", "I - K H ψ"),
    ("ψ φ⁻", "I - ψ K H"),
    ("ψ⁻ φ", "I + K H φ"),
    ("φ ψ⁻", "I + φ K H"),
    ("ψ K H φ", "φ - ψ"),
    ("φ K H ψ", "φ - ψ"),
    // From one factorization to the other.
    ("N H φ", "H ψ"),
    ("F H ψ", "H φ"),
    ("φ K N", "ψ K"),
    ("ψ K F", "φ K"),
    ("H φ G", "F - A D⁻"),
    ("H P φ* H*", "D F* - A"),
    // The Riccati equation itself.
    ("N* D⁻ H ψ M φ*", "N* D⁻ H ψ P + K* ψ*"),
    ("ψ* H* D⁻ H ψ M φ*", "ψ* H* D⁻ H ψ P + φ* - ψ*"),
    ("ψ M φ*", "ψ P + P φ* - P"),
    ("φ G H ψ", "φ - ψ + G H ψ"),
    ("N* G* φ*", "N* G* + K* ψ*"),
];

/// Where there are no rotors, τ̄ is a projection.
const WITHOUT_ROTORS: [(&str, &str); 2] = [("τ τ", "τ"), ("τ P⁺", "P⁺")];

/// Products that have a name: it is taken first, so that inverses can meet.
const NAMED: [(&str, &str); 3] = [("H φ M φ* H*", "Mass - A"), ("F D F*", "Mass"), ("N* D⁻ N", "Mass⁻")];

/// And written out again: 𝓜 in one of two ways.
const WRITTEN_OUT: [[(&str, &str); 4]; 2] = [
    [
        ("Mass⁻", "N* D⁻ N"),
        ("J", "B* φ* H*"),
        ("Jc", "Bc* φ* H*"),
        ("Mass", "H φ M φ* H* + A"),
    ],
    [
        ("Mass⁻", "N* D⁻ N"),
        ("J", "B* φ* H*"),
        ("Jc", "Bc* φ* H*"),
        ("Mass", "F D F*"),
    ],
];

/// Sums of two terms, one on the left a multiple of the other, between factors that they share.
const PAIRS: [(&str, &str); 10] = [
    ("I - H ψ K", "N"),
    ("I + H φ K", "F"),
    ("I - G H", "τ"),
    ("I - E_φ", "φ⁻"),
    ("I - E_ψ", "ψ⁻"),
    ("φ⁻ + K H", "ψ⁻"),
    ("ψ⁻ - K H", "φ⁻"),
    ("P - E_ψ P E_φ*", "M"),
    ("P - G D G*", "P⁺"),
    ("H φ M φ* H* + A", "Mass"),
];

const PAIRS_WITHOUT_ROTORS: [(&str, &str); 1] = [("P - E_ψ P E_ψ*", "M")];

/// A rule.
#[derive(Debug)]
pub(crate) struct Law {
    pub(crate) left: Vec<Term>,
    pub(crate) right: Vec<Term>,
}

impl Law {
    pub(crate) fn new(left: &str, right: &str) -> Self {
        let (left, right) = (terms(left), terms(right));
        Self { left, right }
    }

    pub(crate) fn adjoint(&self) -> Self {
        let flip = |t: &Term| Term::new(t.scale, t.factors.iter().rev().map(Factor::adjoint).collect());
        Self {
            left: self.left.iter().map(flip).collect(),
            right: self.right.iter().map(flip).collect(),
        }
    }

    /// The law as an equation.
    pub(crate) fn written(&self, rotors: bool, notation: Notation) -> String {
        let space = super::space::Space::Joint;
        let text = |terms: &[Term]| {
            let mut sum = Sum::of_terms(space, space, terms.to_vec());
            if !rotors {
                sum.terms.retain(|t| !has_rotors(t));
            }
            sum.written(notation)
        };
        format!("{} = {}", text(&self.left), text(&self.right))
    }
}

/// All laws of one kind, each followed by its adjoint where that differs.
fn with_adjoints(table: &[(&str, &str)]) -> Vec<Law> {
    let mut laws = Vec::new();
    for (left, right) in table {
        let law = Law::new(left, right);
        let adjoint = law.adjoint();
        let same = adjoint.left == law.left;
        laws.push(law);
        if !same {
            laws.push(adjoint);
        }
    }
    laws
}

static PRODUCT_LAWS: LazyLock<Vec<Law>> = LazyLock::new(|| with_adjoints(&PRODUCTS));
static WITHOUT: LazyLock<Vec<Law>> = LazyLock::new(|| with_adjoints(&WITHOUT_ROTORS));
static NAMED_LAWS: LazyLock<Vec<Law>> = LazyLock::new(|| with_adjoints(&NAMED));
static WRITTEN_OUT_LAWS: LazyLock<[Vec<Law>; 2]> = LazyLock::new(|| WRITTEN_OUT.map(|way| with_adjoints(&way)));
static PAIR_LAWS: LazyLock<Vec<Law>> = LazyLock::new(|| with_adjoints(&PAIRS));
static PAIRS_WITHOUT: LazyLock<Vec<Law>> = LazyLock::new(|| with_adjoints(&PAIRS_WITHOUT_ROTORS));

/// The laws of products.
pub(crate) fn products(rotors: bool) -> impl Iterator<Item = &'static Law> {
    let more: &[Law] = if rotors { &[] } else { &WITHOUT };
    PRODUCT_LAWS.iter().chain(more)
}

/// The laws of sums of two terms.
pub(crate) fn pairs(rotors: bool) -> impl Iterator<Item = &'static Law> {
    let more: &[Law] = if rotors { &[] } else { &PAIRS_WITHOUT };
    PAIR_LAWS.iter().chain(more)
}

/// The laws that give products a name.
pub(crate) fn named() -> &'static [Law] {
    &NAMED_LAWS
}

/// The laws that write names out, in two ways.
pub(crate) fn written_out() -> &'static [Vec<Law>] {
    &*WRITTEN_OUT_LAWS
}

pub(crate) fn has_rotors(term: &Term) -> bool {
    let is = |f: &Factor| match f {
        Factor::Op(Op::Rotors, _) => true,
        Factor::Sum(sum) | Factor::By(_, sum) | Factor::Held(sum, _) => sum.terms.iter().all(has_rotors),
        _ => false,
    };
    term.factors.iter().any(is)
}

/// Sums that are products of operators with an inverse; read by [`inverse`] alone.
const FOLDED: [(&str, &str); 4] = [
    ("I - ψ K H", "ψ φ⁻"),
    ("I - K H ψ", "φ⁻ ψ"),
    ("I + K H φ", "ψ⁻ φ"),
    ("I + φ K H", "φ ψ⁻"),
];

/// Products that are written out before terms are folded; none leads back to another.
const REDUCED: [(&str, &str); 14] = [
    ("H φ M φ* H*", "Mass - A"),
    ("F D F*", "Mass"),
    ("N* D⁻ N", "Mass⁻"),
    ("E_φ G", "K"),
    ("E_φ τ", "E_ψ"),
    ("P H* D⁻", "G"),
    ("H P H*", "D - A"),
    ("H φ G", "F - A D⁻"),
    ("H G", "I - A D⁻"),
    ("E_φ φ", "φ - I"),
    ("φ E_φ", "φ - I"),
    ("E_ψ ψ", "ψ - I"),
    ("ψ E_ψ", "ψ - I"),
    ("L L*", "D"),
];

static FOLDED_LAWS: LazyLock<Vec<Law>> = LazyLock::new(|| with_adjoints(&FOLDED));
static REDUCED_LAWS: LazyLock<Vec<Law>> = LazyLock::new(|| with_adjoints(&REDUCED));

/// More terms than this are not multiplied out to look for an inverse, nor more laws applied.
const MOST: usize = 64;

/// The inverse in closed form, if there is one that is found.
pub(crate) fn inverse(sum: &Sum, rotors: bool) -> Option<Sum> {
    let sum = kept(sum.clone(), rotors);
    let found = folded(&sum, rotors).inverse();
    found.or_else(|| folded(&reduced(&sum, rotors)?, rotors).inverse())
}

/// Multiplied out, and written by what products are named; none if that is too long.
pub(crate) fn reduced(sum: &Sum, rotors: bool) -> Option<Sum> {
    let mut flat = kept(sum.clone(), rotors).expanded(MOST)?;
    for _ in 0..MOST {
        let next = REDUCED_LAWS
            .iter()
            .find_map(|law| apply_product(&flat, law).into_iter().next());
        let Some(next) = next.filter(|next| next.terms.len() <= MOST) else {
            break;
        };
        flat = kept(next, rotors);
    }
    Some(flat)
}

/// With dense inverses in closed form where a mechanism with or without rotors has one.
pub(crate) fn resolved(sum: &Sum, rotors: bool) -> Sum {
    let mut sum = sum.clone();
    for factor in sum.terms.iter_mut().flat_map(|t| &mut t.factors) {
        match factor {
            Factor::Sum(inner) => **inner = resolved(inner, rotors),
            Factor::Pseudo(inner) | Factor::By(_, inner) | Factor::Held(inner, _) => **inner = resolved(inner, rotors),
            Factor::Inverse(inner) => {
                **inner = resolved(inner, rotors);
                let kept = kept((**inner).clone(), rotors);
                if let Some(closed) = inverse(inner, rotors).or_else(|| augmented::inverse(&kept)) {
                    *factor = Factor::Sum(Box::new(closed));
                }
            }
            _ => {}
        }
    }
    Sum::of_terms(sum.range, sum.domain, opened(sum.terms))
}

/// With every two terms that have a name together written by that name.
fn folded(sum: &Sum, rotors: bool) -> Sum {
    let mut sum = sum.clone();
    for factor in sum.terms.iter_mut().flat_map(|t| &mut t.factors) {
        if let Factor::Sum(inner) = factor {
            **inner = folded(inner, rotors);
        }
    }
    sum = Sum::of_terms(sum.range, sum.domain, opened(sum.terms));
    let laws = || pairs(rotors).chain(FOLDED_LAWS.iter());
    while let Some(next) = laws().find_map(|law| apply_pair(&sum, law).into_iter().next()) {
        sum = Sum::of_terms(next.range, next.domain, opened(next.terms));
    }
    sum
}

/// Parentheses around a single term are not needed.
fn opened(terms: Vec<Term>) -> Vec<Term> {
    let open = |term: Term| {
        let mut out = Term::new(term.scale, Vec::with_capacity(term.factors.len()));
        for factor in term.factors {
            match factor {
                Factor::Sum(inner) if inner.terms.len() == 1 => {
                    out.scale *= inner.terms[0].scale;
                    out.factors.extend(inner.terms[0].factors.iter().cloned());
                }
                other => out.factors.push(other),
            }
        }
        out
    };
    terms.into_iter().map(open).collect()
}

/// Ways to apply a law of products: in every term that it fits at once, and in one term at a time.
pub(crate) fn apply_product(sum: &Sum, law: &Law) -> Vec<Sum> {
    let pattern = &law.left[0].factors;
    let found: Vec<Vec<usize>> = sum.terms.iter().map(|t| occurrences(&t.factors, pattern)).collect();
    let fitting: Vec<usize> = (0..found.len()).filter(|&i| !found[i].is_empty()).collect();
    let mut results = Vec::new();
    let replaced = |chosen: &dyn Fn(usize) -> Option<usize>| {
        let mut terms = Vec::new();
        for (i, term) in sum.terms.iter().enumerate() {
            let Some(at) = chosen(i) else {
                terms.push(term.clone());
                continue;
            };
            let (before, after) = (&term.factors[..at], &term.factors[at + pattern.len()..]);
            terms.extend(law.right.iter().map(|r| {
                let factors = [before, &r.factors[..], after].concat();
                Term::new(term.scale * r.scale, factors)
            }));
        }
        Sum::of_terms(sum.range, sum.domain, terms)
    };
    if fitting.len() > 1 {
        results.push(replaced(&|i| found[i].first().copied()));
    }
    for &i in &fitting {
        for &at in &found[i] {
            results.push(replaced(&|j| (i == j).then_some(at)));
        }
    }
    results
}

/// Where a product occurs in another.
fn occurrences(factors: &[Factor], pattern: &[Factor]) -> Vec<usize> {
    let windows = factors.windows(pattern.len()).enumerate();
    windows.filter(|(_, w)| *w == pattern).map(|(at, _)| at).collect()
}

/// Every way to apply a law of pairs: α X β and α Y β become α Z β.
pub(crate) fn apply_pair(sum: &Sum, law: &Law) -> Vec<Sum> {
    let [x, y] = &law.left[..] else { return Vec::new() };
    let mut results = Vec::new();
    for (j, second) in sum.terms.iter().enumerate() {
        for at in 0..(second.factors.len() + 1).saturating_sub(y.factors.len()) {
            if second.factors[at..at + y.factors.len()] != y.factors[..] {
                continue;
            }
            let (before, after) = (&second.factors[..at], &second.factors[at + y.factors.len()..]);
            let wanted = [before, &x.factors[..], after].concat();
            let ratio = y.scale / x.scale;
            let partner = sum
                .terms
                .iter()
                .position(|t| t.factors == wanted && t.scale * ratio == second.scale);
            let Some(i) = partner.filter(|&i| i != j) else { continue };
            let mut terms = sum.terms.clone();
            let z = &law.right[0];
            terms[i] = Term::new(
                terms[i].scale / x.scale * z.scale,
                [before, &z.factors[..], after].concat(),
            );
            terms.remove(j);
            results.push(Sum::of_terms(sum.range, sum.domain, terms));
        }
    }
    results
}

/// Reads the terms of one side of a law.
fn terms(text: &str) -> Vec<Term> {
    let mut found = vec![Term::new(1.0, Vec::new())];
    for word in text.split_whitespace() {
        match word {
            "+" => found.push(Term::new(1.0, Vec::new())),
            "-" => found.push(Term::new(-1.0, Vec::new())),
            "I" => {}
            word => {
                let name = word.trim_end_matches('*');
                let (op, adjoint) = (op(name), name.len() < word.len());
                if let Some(last) = found.last_mut() {
                    last.factors.push(Factor::Op(op, adjoint && !op.self_adjoint()));
                }
            }
        }
    }
    found
}

/// A sum by the short names of the tables above.
pub(super) fn made_of(text: &str) -> Sum {
    let terms = terms(text);
    let spaces = |t: &Term| Some((t.factors.first()?.range(), t.factors.last()?.domain()));
    let joint = super::space::Space::Joint;
    let (range, domain) = terms.iter().find_map(spaces).unwrap_or((joint, joint));
    Sum::of_terms(range, domain, terms)
}

/// The short names of the tables above.
pub(super) fn op(name: &str) -> Op {
    match name {
        "N" => Op::N,
        "F" => Op::F,
        "L" => Op::Root,
        "L⁻" => Op::RootInv,
        "D⁻" => Op::DInv,
        "φ⁻" => Op::PhiInv,
        "ψ⁻" => Op::PsiInv,
        "Mass⁻" => Op::MassInv,
        "M⁻" => Op::MInv,
        "P⁻" => Op::PInv,
        "τ" => Op::TauBar,
        other => Op::named(other).expect("the tables name operators only; a test reads them all"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The spaces of a product; none for an identity.
    fn spaces(term: &Term) -> Option<(super::super::space::Space, super::super::space::Space)> {
        for pair in term.factors.windows(2) {
            assert_eq!(pair[0].domain(), pair[1].range(), "{term:?}");
        }
        Some((term.factors.first()?.range(), term.factors.last()?.domain()))
    }

    #[test]
    fn laws_keep_their_spaces() {
        let all = products(false).chain(products(true)).chain(pairs(false)).chain(named());
        let all = all
            .chain(written_out().iter().flatten())
            .chain(FOLDED_LAWS.iter())
            .chain(REDUCED_LAWS.iter());
        for law in all {
            let found: Vec<_> = law.left.iter().chain(&law.right).filter_map(spaces).collect();
            assert!(found.windows(2).all(|w| w[0] == w[1]), "{law:?}");
        }
    }
}
