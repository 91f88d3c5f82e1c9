//! Derivatives of expressions: the product rule, with the rates of operators.
//!
//! The derivative of a vector by the configuration, or by another vector, is an operator: where a factor changes by crf(Δ),
//! Δ = H*w, what follows it is a force f, and crf(H*w)f = bar(f)H*w. So it is applied in O(n), and so is its adjoint, which
//! gives the gradient of a number by all joints at once. The derivative of an operator needs a direction.

use super::algorithm::definition;
use super::fault::Fault;
use super::infer::{CONSTRAINT_BIAS, LOG_DET, LOG_DET_GRADIENT};
use super::op::Op;
use super::rates::{Part, Rate, rate};
use super::space::Space;
use super::sum::{Factor, Sum, Term, Vector};
use super::vector_operators::{By, by, held};
use core::ops::Range;
use std::sync::Arc;

/// What a derivative is taken by.
#[derive(Clone, Debug)]
pub(crate) enum Variable {
    /// The configuration, with tangents as joint rates are.
    Configuration,
    Vector(Vector),
}

impl Variable {
    fn space(&self) -> Space {
        match self {
            Self::Configuration => Space::Joint,
            Self::Vector(v) => v.space,
        }
    }
}

/// Why there is no derivative, and what to do about it.
pub(crate) struct Refused(String, String);

impl Refused {
    fn new(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self(problem.into(), hint.into())
    }

    pub(crate) fn at(self, span: Range<usize>) -> Fault {
        Fault::at(span, self.0, self.1)
    }
}

type Result<T> = core::result::Result<T, Refused>;

fn named(name: &str, space: Space) -> Vector {
    let name: Arc<str> = name.into();
    Vector { name, space }
}

fn vector(name: &str, space: Space) -> Sum {
    Sum::of(Factor::Vector(named(name, space), false))
}

fn one() -> Sum {
    Sum::identity(Space::Number)
}

fn op(op: Op, adjoint: bool) -> Sum {
    Sum::of(Factor::Op(op, adjoint))
}

fn product(parts: &[Sum]) -> Sum {
    let mut whole = parts[0].clone();
    for part in &parts[1..] {
        whole = whole.times(part);
    }
    whole
}

/// V = φ*H*q̇.
fn velocity() -> Sum {
    vector("V", Space::Motion)
}

/// With the factors of 𝓜 by name, as whose rates are shorter than those of what they are made of.
pub(crate) fn recognised(sum: &Sum) -> Sum {
    let mut sum = sum.clone();
    for factor in sum.terms.iter_mut().flat_map(|t| &mut t.factors) {
        if let Some(inner) = factor.inside_mut() {
            *inner = recognised(inner);
        }
        let Factor::Sum(inner) = factor else { continue };
        for (name, text) in [(Op::N, "I - H ψ K"), (Op::F, "I + H φ K")] {
            let whole = super::laws::made_of(text);
            if **inner == whole || **inner == whole.adjoint() {
                *factor = Factor::Op(name, **inner != whole);
                break;
            }
        }
    }
    sum
}

/// The derivative of a vector: an operator from the tangents of the variable.
pub(crate) fn jacobian(of: &Sum, variable: &Variable) -> Result<Sum> {
    on(of, &one(), variable)
}

/// The derivative of X y, with y as it is.
fn on(x: &Sum, y: &Sum, variable: &Variable) -> Result<Sum> {
    let mut total = Sum::zero(x.range, variable.space());
    for term in &x.terms {
        let mut after = y.clone();
        for (i, factor) in term.factors.iter().enumerate().rev() {
            let own = factor_on(factor, &after, variable)?;
            if !own.is_zero() {
                let before = Sum::of_terms(
                    x.range,
                    own.range,
                    vec![Term::new(term.scale, term.factors[..i].to_vec())],
                );
                total = total.plus(&before.times(&own));
            }
            after = Sum::of(factor.clone()).times(&after);
            if is_solved(factor) {
                after = held(after);
            }
        }
    }
    Ok(total)
}

/// Whether a factor is an inverse: what it gives is computed once.
fn is_solved(factor: &Factor) -> bool {
    matches!(
        factor,
        Factor::Op(Op::MassInv, _) | Factor::Inverse(_) | Factor::Augmented(_) | Factor::Pseudo(_)
    )
}

/// The derivative of F y, with y as it is.
fn factor_on(factor: &Factor, y: &Sum, variable: &Variable) -> Result<Sum> {
    let zero = || Sum::zero(factor.range(), variable.space());
    Ok(match factor {
        Factor::Op(..) if !matches!(variable, Variable::Configuration) => zero(),
        Factor::Op(op, adjoint) => operator_on(*op, *adjoint, y)?,
        Factor::Vector(v, adjoint) => of_vector(&variation_of(v, variable)?, *adjoint, y),
        Factor::Held(inner, adjoint) => of_vector(&jacobian(inner, variable)?, *adjoint, y),
        Factor::Sum(inner) => on(inner, y, variable)?,
        Factor::Inverse(inner) | Factor::Augmented(inner) => {
            let solved = held(Sum::of(factor.clone()).times(y));
            let change = on(inner, &solved, variable)?;
            Sum::of(factor.clone()).times(&change).scaled(-1.0)
        }
        Factor::Pseudo(inner) => pseudo_on(factor, inner, y, variable)?,
        Factor::Diagonal(v, inverted) => {
            let change = variation_of(v, variable)?;
            let whole = Sum::of(factor.clone());
            match inverted {
                false => by(By::Diagonal, y).times(&change),
                true => whole
                    .times(&by(By::Diagonal, &held(whole.times(y))))
                    .times(&change)
                    .scaled(-1.0),
            }
        }
        Factor::Select(..) | Factor::Matrix(_) => zero(),
        Factor::By(kind, inner) => {
            let change = jacobian(inner, variable)?;
            let by_inner = match kind {
                By::Crm => by(By::Crm, y).scaled(-1.0),
                By::Crf => by(By::Bar, y),
                By::Bar => by(By::Crf, y),
                By::Diagonal => by(By::Diagonal, y),
                By::Times(_) => held(y.clone()),
                By::PDot => by(By::PDq(false), y),
                By::UpsilonDot => by(By::UpsilonDq(false), y),
                By::UpsilonDq(false) => by(By::UpsilonDot, y),
                By::RootDot(star) => by(By::RootDq(*star, false), y),
                By::PDq(false) => by(By::PDot, y),
                By::RootDq(star, false) => by(By::RootDot(*star), y),
                By::PDq(true) | By::UpsilonDq(true) | By::RootDq(_, true) => return Err(second(*kind)),
                // Y*Ḃc[X]λ is linear in each of the three.
                By::TiesDot(false) => by(By::TiesDq(false), y),
                By::TiesDot(true) => by(By::TiesStarDq(false), y),
                By::TiesDq(false) => by(By::TiesDot(false), y),
                By::TiesDq(true) => by(By::TiesStarDq(true), y),
                By::TiesStarDq(false) => by(By::TiesDot(true), y),
                By::TiesStarDq(true) => by(By::TiesDq(true), y),
            };
            if depends_on_configuration(*kind) && matches!(variable, Variable::Configuration) {
                return Err(second(*kind));
            }
            by_inner.times(&change)
        }
    })
}

fn depends_on_configuration(kind: By) -> bool {
    !matches!(kind, By::Crm | By::Crf | By::Bar | By::Times(_) | By::Diagonal)
}

fn second(kind: By) -> Refused {
    if let By::TiesDot(_) | By::TiesDq(_) | By::TiesStarDq(_) = kind {
        return Refused::new(
            "second derivatives of constraints are not in closed form here",
            "differentiate once, and take the second derivative by Dual numbers",
        );
    }
    Refused::new(
        "second derivatives of P and of what it defines are not in closed form here",
        "write the expression by M, phi, Mass and inv(Mass), which have derivatives of every order",
    )
}

/// v y for a number y, or v*y for a vector, where v changes.
fn of_vector(change: &Sum, adjoint: bool, y: &Sum) -> Sum {
    if change.is_zero() {
        let range = if adjoint { Space::Number } else { change.range };
        return Sum::zero(range, change.domain);
    }
    if adjoint {
        return held(y.clone()).adjoint().times(change);
    }
    if *y == one() {
        return change.clone();
    }
    by(By::Times(change.range), y).times(change)
}

/// The derivative of op y by the configuration.
fn operator_on(op_: Op, adjoint: bool, y: &Sum) -> Result<Sum> {
    let whole = op(op_, adjoint);
    Ok(match rate(op_) {
        Rate::Constant => Sum::zero(whole.range, Space::Joint),
        Rate::Terms(terms) => {
            let mut total = Sum::zero(whole.range, Space::Joint);
            for (scale, parts) in with_adjoint(terms, adjoint) {
                total = total.plus(&terms_on(&parts, y).scaled(scale));
            }
            total
        }
        Rate::Made(text) => on(&made(text, adjoint), y, &Variable::Configuration)?,
        Rate::Inverse(of) => {
            let solved = held(whole.times(y));
            let change = operator_on(of, adjoint && !of.self_adjoint(), &solved)?;
            whole.times(&change).scaled(-1.0)
        }
        Rate::Unknown(problem, hint) => return Err(Refused::new(problem, hint)),
    })
}

/// What an operator is made of, or the adjoint.
fn made(text: &'static str, adjoint: bool) -> Sum {
    let sum = super::laws::made_of(text);
    if adjoint { sum.adjoint() } else { sum }
}

fn with_adjoint(terms: Vec<(f64, Vec<Part>)>, adjoint: bool) -> Vec<(f64, Vec<Part>)> {
    if !adjoint {
        return terms;
    }
    let flip = |(scale, parts): (f64, Vec<Part>)| (scale, parts.into_iter().rev().map(Part::adjoint).collect());
    terms.into_iter().map(flip).collect()
}

fn operators(parts: &[Part]) -> Option<Sum> {
    let each = parts.iter().filter_map(|part| match part {
        Part::Op(o, adjoint) => Some(op(*o, *adjoint)),
        _ => None,
    });
    each.reduce(|a, b| a.times(&b))
}

/// One product of a rate on y, as an operator on w.
fn terms_on(parts: &[Part], y: &Sum) -> Sum {
    let at = parts.iter().position(|p| p.changes()).unwrap_or(0);
    let (left, right) = (operators(&parts[..at]), operators(&parts[at + 1..]));
    let y = right.map_or_else(|| y.clone(), |right| right.times(y));
    let own = op(Op::H, true);
    let seen = product(&[op(Op::Seen, false), op(Op::J, false)]);
    let all = op(Op::Phi, true).times(&own);
    let changed = match parts[at] {
        Part::Delta(false) => by(By::Bar, &y).times(&own),
        Part::Delta(true) => by(By::Crm, &y).times(&own),
        Part::P => by(By::PDq(false), &y),
        Part::Upsilon => by(By::UpsilonDq(false), &y),
        Part::Root(star) => by(By::RootDq(star, false), &y),
        Part::Frames(false) => by(By::Crm, &y).times(&seen).scaled(-1.0),
        Part::Frames(true) => by(By::Bar, &y).times(&seen).scaled(-1.0),
        Part::Ties(false) => by(By::TiesDq(false), &y).times(&all),
        Part::Ties(true) => by(By::TiesStarDq(false), &y).times(&all),
        Part::Op(..) => y,
    };
    match left {
        Some(left) => left.times(&changed),
        None => changed,
    }
}

/// Ȧ⁺y = −A⁺ȦA⁺y + A⁺A⁺*Ȧ*(I − AA⁺)y + (I − A⁺A)Ȧ*A⁺*A⁺y, where the rank stays.
fn pseudo_on(factor: &Factor, inner: &Sum, y: &Sum, variable: &Variable) -> Result<Sum> {
    let plus = Sum::of(factor.clone());
    let (star, plus_star) = (inner.adjoint(), plus.adjoint());
    let solved = held(plus.times(y));
    let left = y.plus(&inner.times(&solved).scaled(-1.0));
    let first = plus.times(&on(inner, &solved, variable)?).scaled(-1.0);
    let second = product(&[plus.clone(), plus_star.clone(), on(&star, &held(left), variable)?]);
    let weighed = held(plus_star.times(&solved));
    let change = on(&star, &weighed, variable)?;
    let third = change.plus(&product(&[plus, inner.clone(), change.clone()]).scaled(-1.0));
    Ok(first.plus(&second).plus(&third))
}

/// How a vector changes with a variable.
fn variation_of(v: &Vector, variable: &Variable) -> Result<Sum> {
    if let Variable::Vector(by) = variable
        && by == v
    {
        return Ok(Sum::identity(v.space));
    }
    if let Some(definition) = definition(&v.name) {
        return jacobian(&definition, variable);
    }
    let by_configuration = matches!(variable, Variable::Configuration);
    let own = op(Op::H, true);
    let qd = vector("qd", Space::Joint);
    let speed = || jacobian(&velocity(), variable);
    Ok(match &*v.name {
        // a = crm(V)H*q̇ + a₀.
        "a" => {
            let mut change = by(By::Crm, &own.times(&qd)).scaled(-1.0).times(&speed()?);
            let turned = variation_of(&named("qd", Space::Joint), variable)?;
            if !turned.is_zero() {
                change = change.plus(&product(&[by(By::Crm, &velocity()), own, turned]));
            }
            change.plus(&variation_of(&named("a0", Space::Motion), variable)?)
        }
        // b = crf(V)MV.
        "b" => {
            let m = op(Op::M, false);
            let speed = speed()?;
            let first = by(By::Bar, &m.times(&velocity())).times(&speed);
            first.plus(&product(&[by(By::Crf, &velocity()), m, speed]))
        }
        "a0" if by_configuration => by(By::Crm, &Sum::of(Factor::Vector(v.clone(), false))).times(&own),
        LOG_DET if by_configuration => vector(LOG_DET_GRADIENT, Space::Joint).adjoint(),
        LOG_DET_GRADIENT if by_configuration => {
            return Err(Refused::new(
                "second derivatives of log det Mass are not in closed form here",
                "differentiate once, and take the second derivative by Dual numbers",
            ));
        }
        // J̇c q̇ = Bc*φ̇*H*q̇ + Ḃc*V.
        CONSTRAINT_BIAS => {
            let rate = operator_along(Op::Jc, false, &qd)?;
            jacobian(&rate.times(&qd), variable)?
        }
        _ => Sum::zero(v.space, variable.space()),
    })
}

/// The derivative of a vector as the configuration moves by w.
pub(crate) fn along(of: &Sum, w: &Sum) -> Result<Sum> {
    if of.is_vector() {
        return Ok(jacobian(of, &Variable::Configuration)?.times(w));
    }
    operators_along(
        of,
        w,
        &|vector| Ok(jacobian(vector, &Variable::Configuration)?.times(w)),
    )
}

/// The derivative in time, as the state moves: by q̇, q̈ and the rates of what is given.
pub(crate) fn dot(of: &Sum) -> Result<Sum> {
    let qd = vector("qd", Space::Joint);
    if !of.is_vector() {
        return operators_along(of, &qd, &dot);
    }
    // J̇c q̇ has a name.
    if let [term] = &of.terms[..]
        && let [before @ .., Factor::Op(Op::Jc, false), Factor::Vector(v, false)] = &term.factors[..]
        && &*v.name == "qd"
    {
        let qdd = vector("qdd", Space::Joint);
        let rate = product(&[op(Op::Jc, false), qdd]).plus(&vector(CONSTRAINT_BIAS, Space::Constraint));
        let before = Sum::of_terms(
            of.range,
            Space::Constraint,
            vec![Term::new(term.scale, before.to_vec())],
        );
        let y = product(&[op(Op::Jc, false), qd.clone()]);
        let own = on(&before, &y, &Variable::Configuration)?.times(&qd);
        return Ok(own.plus(&before.times(&rate)));
    }
    let mut total = jacobian(of, &Variable::Configuration)?.times(&qd);
    let mut vectors = of.vectors();
    let of_state = |v: &Vector| {
        matches!(
            &*v.name,
            "V" | "a" | "b" | "C" | "g" | "a0" | LOG_DET | LOG_DET_GRADIENT
        )
    };
    let of_rates = |v: &Vector| of_state(v) && !matches!(&*v.name, "a0" | LOG_DET | LOG_DET_GRADIENT);
    if vectors.iter().any(of_rates) && !vectors.iter().any(|v| &*v.name == "qd") {
        vectors.push(named("qd", Space::Joint));
    }
    for v in vectors.into_iter().filter(|v| !of_state(v)) {
        let rate = match &*v.name {
            "qd" => "qdd".to_owned(),
            "qdd" => "qddd".to_owned(),
            CONSTRAINT_BIAS => continue,
            other => format!("{other}_dot"),
        };
        let rate = vector(&rate, v.space);
        let change = jacobian(of, &Variable::Vector(v))?;
        if !change.is_zero() {
            total = total.plus(&change.times(&rate));
        }
    }
    Ok(total)
}

/// The derivative of an operator as the joints move by w, and vectors as `change` says.
fn operators_along(x: &Sum, w: &Sum, change: &dyn Fn(&Sum) -> Result<Sum>) -> Result<Sum> {
    let mut total = Sum::zero(x.range, x.domain);
    for term in &x.terms {
        for (i, factor) in term.factors.iter().enumerate() {
            let own = factor_along(factor, w, change)?;
            if own.is_zero() {
                continue;
            }
            let (before, after) = (&term.factors[..i], &term.factors[i + 1..]);
            let before = Sum::of_terms(x.range, own.range, vec![Term::new(term.scale, before.to_vec())]);
            let after = Sum::of_terms(own.domain, x.domain, vec![Term::new(1.0, after.to_vec())]);
            total = total.plus(&product(&[before, own, after]));
        }
    }
    Ok(total)
}

fn factor_along(factor: &Factor, w: &Sum, change: &dyn Fn(&Sum) -> Result<Sum>) -> Result<Sum> {
    let whole = Sum::of(factor.clone());
    Ok(match factor {
        Factor::Op(op, adjoint) => operator_along(*op, *adjoint, w)?,
        Factor::Vector(v, adjoint) => {
            let own = held(change(&Sum::of(Factor::Vector(v.clone(), false)))?);
            if *adjoint { own.adjoint() } else { own }
        }
        Factor::Held(inner, adjoint) => {
            let own = held(change(inner)?);
            if *adjoint { own.adjoint() } else { own }
        }
        Factor::Sum(inner) => operators_along(inner, w, change)?,
        Factor::Inverse(inner) | Factor::Augmented(inner) => {
            let rate = operators_along(inner, w, change)?;
            product(&[whole.clone(), rate, whole]).scaled(-1.0)
        }
        Factor::Pseudo(inner) => {
            let (rate, star) = (operators_along(inner, w, change)?, whole.adjoint());
            let back = rate.adjoint();
            let left = Sum::identity(inner.range).plus(&inner.times(&whole).scaled(-1.0));
            let free = Sum::identity(inner.domain).plus(&whole.times(inner).scaled(-1.0));
            product(&[whole.clone(), rate, whole.clone()])
                .scaled(-1.0)
                .plus(&product(&[whole.clone(), star.clone(), back.clone(), left]))
                .plus(&product(&[free, back, star, whole]))
        }
        Factor::Diagonal(v, inverted) => {
            let own = by(By::Diagonal, &change(&Sum::of(Factor::Vector(v.clone(), false)))?);
            match inverted {
                false => own,
                true => product(&[whole.clone(), own, whole]).scaled(-1.0),
            }
        }
        Factor::Select(..) | Factor::Matrix(_) => Sum::zero(whole.range, whole.domain),
        Factor::By(kind, inner) => {
            if depends_on_configuration(*kind) && !matches!(&w.terms[..], []) {
                return Err(second(*kind));
            }
            by(*kind, &change(inner)?)
        }
    })
}

fn operator_along(op_: Op, adjoint: bool, w: &Sum) -> Result<Sum> {
    let whole = op(op_, adjoint);
    Ok(match rate(op_) {
        Rate::Constant => Sum::zero(whole.range, whole.domain),
        Rate::Terms(terms) => {
            let mut total = Sum::zero(whole.range, whole.domain);
            for (scale, parts) in with_adjoint(terms, adjoint) {
                let each: Vec<Sum> = parts.iter().map(|part| part_along(*part, w)).collect();
                total = total.plus(&product(&each).scaled(scale));
            }
            total
        }
        Rate::Made(text) => operators_along(&made(text, adjoint), w, &|vector| {
            Ok(Sum::zero(vector.range, vector.domain))
        })?,
        Rate::Inverse(of) => {
            let change = operator_along(of, adjoint && !of.self_adjoint(), w)?;
            product(&[whole.clone(), change, whole]).scaled(-1.0)
        }
        Rate::Unknown(problem, hint) => return Err(Refused::new(problem, hint)),
    })
}

fn part_along(part: Part, w: &Sum) -> Sum {
    let own = op(Op::H, true).times(w);
    let seen = product(&[op(Op::Seen, false), op(Op::J, false), w.clone()]);
    match part {
        Part::Op(o, adjoint) => op(o, adjoint),
        Part::Delta(false) => by(By::Crf, &own),
        Part::Delta(true) => by(By::Crm, &own).scaled(-1.0),
        Part::P => by(By::PDot, w),
        Part::Upsilon => by(By::UpsilonDot, w),
        Part::Root(star) => by(By::RootDot(star), w),
        Part::Frames(false) => by(By::Crm, &seen),
        Part::Frames(true) => by(By::Crf, &seen).scaled(-1.0),
        Part::Ties(adjoint) => by(By::TiesDot(adjoint), &held(op(Op::Phi, true).times(&own))),
    }
}
