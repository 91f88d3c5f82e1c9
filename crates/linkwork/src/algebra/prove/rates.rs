//! What proofs know of rates: the Riccati equation and D = LL*, differentiated.
//!
//! With Δ = H*w across the joints and Ṗ where they move as w, 0 = Ṗ − E_φ(τ̄Ṗτ̄* + crf(Δ)P⁺ − P⁺crm(Δ))E_φ*. Beside φ or ψ on
//! either side it takes other forms; each is used where its left side stands.

use crate::algebra::laws::{made_of, op};
use crate::algebra::notation::Notation;
use crate::algebra::op::Op;
use crate::algebra::sum::{Factor, Sum, Term};
use crate::algebra::vector_operators::{By, by};

/// A law of rates: it holds for every w.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RateLaw {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    left: &'static str,
    right: &'static str,
    /// What may not stand before and behind: there another form is the one that ends.
    apart: bool,
}

const RICCATI: &str = "rate of the Riccati equation";

/// Ṗ and L̇ along w, crf(Δ) as X and crm(Δ) as Y; the rest by the short names of the laws.
const LAWS: [RateLaw; 6] = [
    RateLaw {
        name: "rate of D = D^½D^½*",
        source: "[JR]",
        left: "L̇ L*",
        right: "H Ṗ H* - L L̇*",
        apart: false,
    },
    RateLaw {
        name: "rate of D = D^½D^½*",
        source: "[JR]",
        left: "L⁻ L̇",
        right: "L⁻ H Ṗ H* L⁻* - L̇* L⁻*",
        apart: false,
    },
    // Where L*D⁻ has become L⁻, as beside rotors.
    RateLaw {
        name: "rate of D = D^½D^½*",
        source: "[JR], times D⁻¹",
        left: "L̇ L⁻",
        right: "H Ṗ H* D⁻ - L L̇* D⁻",
        apart: false,
    },
    RateLaw {
        name: RICCATI,
        source: "[JR], φ on both sides",
        left: "φ G H Ṗ H* G* φ*",
        right: "φ Ṗ + Ṗ φ* - Ṗ + φ G H Ṗ H* G* + G H Ṗ H* G* φ* - G H Ṗ H* G* \
                + φ Ṗ H* G* φ* - φ Ṗ H* G* - Ṗ H* G* φ* + Ṗ H* G* + φ G H Ṗ φ* - φ G H Ṗ - G H Ṗ φ* + G H Ṗ \
                - φ X P φ* + φ X P + X P φ* - X P + φ X G D G* φ* - φ X G D G* - X G D G* φ* + X G D G* \
                + φ P Y φ* - φ P Y - P Y φ* + P Y - φ G D G* Y φ* + φ G D G* Y + G D G* Y φ* - G D G* Y",
        apart: false,
    },
    RateLaw {
        name: RICCATI,
        source: "[JR], ψ on both sides",
        left: "ψ P Y E_φ* ψ*",
        right: "ψ E_φ X P ψ* - ψ E_φ X P + P Y E_φ* ψ* - ψ Ṗ - Ṗ ψ* + Ṗ",
        apart: false,
    },
    RateLaw {
        name: RICCATI,
        source: "[JR]",
        left: "E_φ Ṗ E_φ*",
        right: "Ṗ + E_φ Ṗ H* G* E_φ* + E_φ G H Ṗ E_φ* - E_φ G H Ṗ H* G* E_φ* - E_φ X P E_φ* + E_φ X G D G* E_φ* \
                + E_φ P Y E_φ* - E_φ G D G* Y E_φ*",
        apart: true,
    },
];

/// One side of a law along a vector.
fn side(text: &str, w: &Sum) -> Vec<Term> {
    let delta = made_of("H*").times(w);
    let mut found = vec![Term::new(1.0, Vec::new())];
    for word in text.split_whitespace() {
        let factor = match word {
            "+" => {
                found.push(Term::new(1.0, Vec::new()));
                continue;
            }
            "-" => {
                found.push(Term::new(-1.0, Vec::new()));
                continue;
            }
            "Ṗ" => by(By::PDot, w),
            "L̇" => by(By::RootDot(false), w),
            "L̇*" => by(By::RootDot(true), w),
            "X" => by(By::Crf, &delta),
            "Y" => by(By::Crm, &delta),
            word => {
                let name = word.trim_end_matches('*');
                let op: Op = op(name);
                let adjoint = name.len() < word.len() && !op.self_adjoint();
                Sum::of(Factor::Op(op, adjoint))
            }
        };
        if let (Some(last), [term]) = (found.last_mut(), &factor.terms[..]) {
            last.scale *= term.scale;
            last.factors.extend(term.factors.iter().cloned());
        }
    }
    found
}

/// The vectors along which something changes in a sum.
fn directions(sum: &Sum) -> Vec<Sum> {
    let mut found: Vec<Sum> = Vec::new();
    let mut see = |factor: &Factor| {
        if let Factor::By(By::PDot | By::RootDot(_), w) = factor
            && !found.contains(w)
        {
            found.push((**w).clone());
        }
        // crm(H*w): w is what stands behind H*.
        if let Factor::By(By::Crm | By::Crf, delta) = factor
            && let [term] = &delta.terms[..]
            && let Some((Factor::Op(Op::H, true), rest)) = term.factors.split_first()
            && let Some(first) = rest.first()
        {
            let w = Sum::of_terms(first.range(), delta.domain, vec![Term::new(1.0, rest.to_vec())]);
            if !found.contains(&w) {
                found.push(w);
            }
        }
    };
    sum.terms.iter().flat_map(|t| &t.factors).for_each(&mut see);
    found
}

impl RateLaw {
    /// The law as an equation.
    pub(crate) fn written(&self, notation: Notation) -> String {
        let w = crate::algebra::sum::Vector {
            name: "w".into(),
            space: crate::algebra::space::Space::Joint,
        };
        let w = Sum::of(Factor::Vector(w, false));
        let text = |side: Vec<Term>| {
            let spaces = side
                .first()
                .and_then(|t| Some((t.factors.first()?.range(), t.factors.last()?.domain())));
            let (range, domain) = spaces.unwrap_or((w.range, w.range));
            Sum::of_terms(range, domain, side).written(notation)
        };
        format!("{} = {}", text(side(self.left, &w)), text(side(self.right, &w)))
    }

    /// Applies it in every term where it fits, along one vector.
    fn apply(&self, sum: &Sum, w: &Sum) -> Option<Sum> {
        let left = side(self.left, w);
        let (pattern, right) = (&left.first()?.factors, side(self.right, w));
        let beside = |f: Option<&Factor>, adjoint: bool| {
            self.apart && matches!(f, Some(Factor::Op(Op::Phi | Op::Psi, a)) if *a == adjoint)
        };
        let (mut any, mut terms) = (false, Vec::with_capacity(sum.terms.len()));
        for term in &sum.terms {
            let n = pattern.len();
            let fits = |at: &usize| {
                let before = at.checked_sub(1).map(|i| &term.factors[i]);
                !beside(before, false) && !beside(term.factors.get(at + n), true)
            };
            let places = term.factors.windows(n).enumerate();
            let place = places.filter(|(_, x)| *x == &pattern[..]).map(|(at, _)| at).find(fits);
            let Some(at) = place else {
                terms.push(term.clone());
                continue;
            };
            any = true;
            let (before, after) = (&term.factors[..at], &term.factors[at + n..]);
            terms.extend(right.iter().map(|r| {
                let factors = [before, &r.factors[..], after].concat();
                Term::new(term.scale * r.scale, factors)
            }));
        }
        any.then(|| Sum::of_terms(sum.range, sum.domain, terms))
    }
}

/// A law of rates that fits, and what it makes of a sum.
pub(super) fn step(sum: &Sum) -> Option<(&'static RateLaw, Sum)> {
    let along = directions(sum);
    let mut tried = LAWS.iter().flat_map(|law| along.iter().map(move |w| (law, w)));
    tried.find_map(|(law, w)| Some((law, law.apply(sum, w)?)))
}
