//! Inverses of mass operators with weights: 𝓐 = 𝓜 + A + ΣJ*GJ = Hφ(M + ΣBGB*)φ*H* + A, by the augmented recursion.
//!
//! Only M changes, so that 𝓐⁻¹ takes the two sweeps of 𝓜⁻¹ however many weights there are. By Woodbury's identity so do
//! inverses in tip and constraint space:
//!
//! ```text
//! (R + J𝓜⁻¹J*)⁻¹ = R⁻¹ − R⁻¹J (𝓜 + J*R⁻¹J)⁻¹ J*R⁻¹
//! ```

use super::laws;
use super::op::Op;
use super::space::Space;
use super::sum::{Factor, Sum, Term, Vector};
use std::sync::Arc;

/// What a weight looks at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum At {
    Tips,
    Frame(Arc<str>),
    Constraints,
}

/// scale · J* G J.
#[derive(Clone, Debug)]
pub(crate) struct Weight {
    pub(crate) scale: f64,
    pub(crate) at: At,
    pub(crate) kind: Kind,
}

/// What a weight is: I, diag(w) or its inverse, or a symmetric operator of tip or constraint space, as a matrix.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    One,
    Diagonal(Vector, bool),
    Whole(Sum),
}

/// What 𝓐 is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recipe {
    pub(crate) masses: bool,
    /// Multiples of I and of diag(d) in joint space.
    pub(crate) diagonals: Vec<(f64, Option<(Vector, bool)>)>,
    pub(crate) weights: Vec<Weight>,
}

/// The inverse by the augmented recursion, if an operator is of that form.
pub(crate) fn inverse(sum: &Sum) -> Option<Sum> {
    if sum.range != sum.domain {
        return None;
    }
    let flat = laws::reduced(sum, true)?;
    match sum.range {
        Space::Joint => of_joints(&flat),
        Space::Tip | Space::Frame | Space::Constraint => of_tips(&flat),
        _ => None,
    }
}

fn of_joints(flat: &Sum) -> Option<Sum> {
    let mass = flat.terms.iter().find(|t| t.factors == [Factor::op(Op::Mass)]);
    let scale = mass.map_or(1.0, |t| t.scale);
    if scale <= 0.0 {
        return None;
    }
    let sum = flat.scaled(scale.recip());
    recipe(&sum)?;
    Some(Sum::of(Factor::Augmented(Box::new(sum))).scaled(scale.recip()))
}

/// What an operator of joint space is made of; none if something else is among it, or nothing but joints that resist
/// makes sure that there is an inverse.
pub(crate) fn recipe(sum: &Sum) -> Option<Recipe> {
    let mut recipe = Recipe::default();
    for term in &sum.terms {
        if term.scale < 0.0 {
            return None;
        }
        match &term.factors[..] {
            [Factor::Op(Op::Mass, _)] if term.scale == 1.0 => recipe.masses = true,
            [] => recipe.diagonals.push((term.scale, None)),
            [Factor::Diagonal(v, inverted)] => recipe.diagonals.push((term.scale, Some((v.clone(), *inverted)))),
            factors => recipe.weights.push(weight(term.scale, factors)?),
        }
    }
    let resists = recipe.masses || !recipe.diagonals.is_empty();
    let more = !recipe.weights.is_empty() || (recipe.masses && !recipe.diagonals.is_empty());
    (resists && more).then_some(recipe)
}

/// A weight: X* G X with X = J, J of a frame, or Jc.
fn weight(scale: f64, factors: &[Factor]) -> Option<Weight> {
    let plain = written_out(factors);
    let path = [Factor::op(Op::H), Factor::op(Op::Phi)];
    let inner = plain.strip_prefix(&path[..])?;
    let back = path.map(|f| f.adjoint());
    let inner = inner.strip_suffix(&[back[1].clone(), back[0].clone()][..])?;
    let (first, last) = (inner.first()?, inner.last()?);
    if *last != first.adjoint() || inner.len() < 2 {
        return None;
    }
    let mut inner = &inner[1..inner.len() - 1];
    let mut at = match first {
        Factor::Op(Op::B, false) => At::Tips,
        Factor::Op(Op::Bc, false) => At::Constraints,
        _ => return None,
    };
    if let ([Factor::Select(name, true), ..], At::Tips) = (inner, &at) {
        let [_, middle @ .., Factor::Select(other, false)] = inner else {
            return None;
        };
        if name != other {
            return None;
        }
        (at, inner) = (At::Frame(name.clone()), middle);
    }
    let kind = match inner {
        [] => Kind::One,
        [Factor::Diagonal(v, inverted)] => Kind::Diagonal(v.clone(), *inverted),
        [whole] if is_weight(whole) => Kind::Whole(Sum::of(whole.clone())),
        _ => return None,
    };
    Some(Weight { scale, at, kind })
}

/// Whether a factor is a symmetric matrix that is given, or the inverse of something symmetric.
fn is_weight(factor: &Factor) -> bool {
    match factor {
        Factor::Matrix(_) => true,
        Factor::Inverse(inner) | Factor::Pseudo(inner) => inner.adjoint() == **inner,
        _ => false,
    }
}

/// Jacobians as what they are made of.
fn written_out(factors: &[Factor]) -> Vec<Factor> {
    let mut out = Vec::new();
    for factor in factors {
        let (at, adjoint) = match factor {
            Factor::Op(Op::J, adjoint) => (Op::B, *adjoint),
            Factor::Op(Op::Jc, adjoint) => (Op::Bc, *adjoint),
            other => {
                out.push(other.clone());
                continue;
            }
        };
        let force = [Factor::op(Op::H), Factor::op(Op::Phi), Factor::op(at)];
        if adjoint {
            out.extend(force);
        } else {
            out.extend(force.iter().rev().map(Factor::adjoint));
        }
    }
    out
}

/// Woodbury's identity.
fn of_tips(flat: &Sum) -> Option<Sum> {
    let [a, b] = &flat.terms[..] else { return None };
    let regular = |t: &Term| t.scale > 0.0 && matches!(t.factors[..], [] | [Factor::Diagonal(..)]);
    let (r, c) = match (regular(a), regular(b)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return None,
    };
    let middle = c.factors.iter().position(|f| *f == Factor::op(Op::MassInv))?;
    let (left, right) = (&c.factors[..middle], &c.factors[middle + 1..]);
    let is_jacobian = matches!(
        left,
        [Factor::Op(Op::J | Op::Jc, false)] | [Factor::Select(..), Factor::Op(Op::J, false)]
    );
    let x = Sum::of_terms(flat.range, Space::Joint, vec![Term::new(1.0, left.to_vec())]);
    if !is_jacobian || c.scale <= 0.0 || x.adjoint().terms[0].factors != right {
        return None;
    }
    let r = Sum::of_terms(flat.range, flat.range, vec![r.clone()]).inverse()?;
    let weighted = x.adjoint().times(&r).times(&x).scaled(c.scale);
    let whole = Sum::of(Factor::op(Op::Mass)).plus(&weighted);
    recipe(&whole)?;
    let inner = Sum::of(Factor::Augmented(Box::new(whole)));
    let taken = r.times(&x).times(&inner).times(&x.adjoint()).times(&r);
    Some(r.plus(&taken.scaled(-c.scale)))
}
