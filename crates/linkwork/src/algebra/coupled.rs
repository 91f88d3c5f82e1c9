//! Expressions on mechanisms in which joints follow others: joint space is that of the independent joints.
//!
//! H becomes R*H, so that φ, M, B, J, 𝓜 and all that is made of them keep their meaning, and 𝓜⁻¹ is that of R*𝓜R. Its
//! factors I + HφK, D and D^½ are those of the coupled mechanism's own elimination. What a tree's Riccati recursion defines
//! link by link (P, G, K, τ̄, ψ, Υ) has no meaning where a link's motion depends on joints outside of its way, and is refused.
//!
//! A product is cut where it passes through joint space; every piece is compiled and run as an expression of the tree.

use super::algorithm::{Algorithm, defined};
use super::coupled_joints::joint;
use super::dense_inverses::{self, Inverter};
use super::evaluator::{Evaluator, finite, missing, symmetric};
use super::expression::Expression;
use super::graph::OPERAND;
use super::infer::{CONSTRAINT_BIAS, LOG_DET, LOG_DET_GRADIENT};
use super::laws;
use super::notation::Notation;
use super::op::Op;
use super::space::Space;
use super::sum::{Factor, Sum, Term, Vector};
use super::vector_operators::By;
use crate::closed::ClosedMechanism;
use crate::model::{FrameId, Law, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::Reference;
use crate::workspace::Configured;
use crate::{Error, Result};

/// What expressions are of: the mechanism, its frames and its constraints.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub(crate) mechanism: &'a Mechanism,
    pub(crate) frames: &'a [(FrameId, Reference)],
    pub(crate) closed: Option<&'a ClosedMechanism>,
}

/// A sum whose products are cut into pieces.
#[derive(Clone, Debug)]
struct Pieces<S: 'static> {
    range: Space,
    domain: Space,
    terms: Vec<(f64, Vec<Piece<S>>)>,
}

/// A part of a product, the last first.
#[derive(Clone, Debug)]
enum Piece<S: 'static> {
    /// An operator of the tree, from one space to another.
    Tree(Box<Evaluator<S>>, Space, Space),
    /// An operator of the independent joints.
    Joint(Op, bool),
    /// A vector, or the product with one.
    Vector(Vector, bool, Option<Box<Evaluator<S>>>),
    Sum(Pieces<S>),
    /// The inverse of a dense matrix, or its pseudo-inverse, and what it is the inverse of in words.
    Solve(Pieces<S>, bool, String),
    /// The inverse of a mass operator with weights.
    Augmented(Box<Evaluator<S>>),
    /// diag(w), or its inverse.
    Diagonal(Vector, bool),
    /// A symmetric matrix that is given.
    Matrix(Vector),
    /// R*AṘẏ: what turns the rotors of followers faster.
    Rotors,
    /// log det R*𝓜R, or its gradient, times a number or paired with a vector.
    LogDet(bool, bool),
    /// An operator that a vector makes: of the tree's links or frames, with the vector.
    By(Box<Evaluator<S>>, Pieces<S>),
    /// A number times, or the numbers of a vector one by one.
    Scaled(Pieces<S>),
    /// A vector, or the product with one.
    Held(Pieces<S>, bool),
}

/// What the vector that makes an operator is called.
const MAKER: &str = "v";

/// Whether all joints follow by ratios: then R stays as it is, and derivatives are those of the tree.
pub(super) fn by_ratios(mechanism: &Mechanism) -> bool {
    let straight = |law: &Law| match law {
        Law::Polynomial(c) => c.iter().skip(2).all(|c| *c == 0.0),
        Law::Function(_) => false,
    };
    mechanism.couplings().iter().all(|c| straight(&c.law))
}

/// What the elimination of a coupled mechanism defines by itself.
pub(crate) fn of_joints(op: Op) -> bool {
    use Op::{D, DInv, F, Mass, MassInv, N, Root, RootInv};
    matches!(op, D | DInv | F | N | Mass | MassInv | Root | RootInv)
}

/// What only a tree has.
pub(crate) fn of_trees(op: Op) -> bool {
    use Op::{EPsi, G, K, P, PInv, PPlus, Psi, PsiInv, TauBar, Upsilon};
    matches!(op, P | PInv | PPlus | G | K | TauBar | EPsi | Psi | PsiInv | Upsilon)
}

/// An expression in pieces.
#[derive(Clone, Debug)]
pub(crate) struct CoupledEvaluator<S: 'static> {
    results: Vec<Pieces<S>>,
    /// H* and Jc, for the accelerations that curved couplings add.
    columns: Box<Evaluator<S>>,
    rates: Option<Box<Evaluator<S>>>,
    room: Room<S>,
}

/// Vectors on the way to a result, used again and again: only the first evaluation allocates.
#[derive(Clone, Debug)]
pub(super) struct Room<S> {
    free: Vec<Vec<S>>,
    /// The most numbers that a vector has.
    most: usize,
}

impl<S: Scalar> Room<S> {
    /// So many zeros.
    pub(super) fn take(&mut self, count: usize) -> Vec<S> {
        let mut x = self.free.pop().unwrap_or_else(|| Vec::with_capacity(self.most));
        x.clear();
        x.resize(count, S::ZERO);
        x
    }

    fn copy(&mut self, from: &[S]) -> Vec<S> {
        let mut x = self.take(from.len());
        x.copy_from_slice(from);
        x
    }

    pub(super) fn give_back(&mut self, x: Vec<S>) {
        self.free.push(x);
    }
}

/// What is known when an expression is run.
pub(super) struct State<'a, 'v, 'w, S: 'static> {
    pub(super) view: &'a mut Configured<'w, S>,
    given: &'a [(&'v str, &'v [S])],
    moving: bool,
    pub(super) room: &'a mut Room<S>,
}

impl<S: Scalar> CoupledEvaluator<S> {
    pub(crate) fn new(algorithm: &Algorithm, of: &Tree<'_>) -> Result<Self> {
        let Tree {
            mechanism,
            frames,
            closed,
        } = *of;
        let given = &algorithm.given;
        let kept: Vec<String> = given.iter().cloned().chain(["C".to_owned()]).collect();
        let columns = Sum::of(Factor::Op(Op::H, true));
        let m = &mechanism.compiled;
        let most = (6 * m.bodies.len()).max(m.nv).max(6 * frames.len()).max(1);
        Ok(Self {
            results: algorithm
                .expression
                .sums()
                .map(|sum| cut(&laws::resolved(&defined(sum, &kept), algorithm.rotors), of, given))
                .collect::<Result<_>>()?,
            columns: Box::new(of_tree(columns, of)?),
            rates: match closed {
                Some(_) => Some(Box::new(of_tree(Sum::of(Factor::op(Op::Jc)), of)?)),
                None => None,
            },
            room: Room { free: Vec::new(), most },
        })
    }

    pub(crate) fn run(
        &mut self,
        view: &mut Configured<'_, S>,
        moving: bool,
        given: &[(&str, &[S])],
        out: &mut [S],
    ) -> Result<()> {
        let operand = given.iter().find(|(name, _)| *name == OPERAND);
        let alone = [S::ONE];
        let x = operand.map_or(&alone[..], |(_, x)| x);
        // A velocity that is given holds for all that depends on it.
        let before = match given.iter().find(|(name, _)| *name == "qd") {
            Some((_, qd)) => Some(self.set_moving(view, qd)?),
            None => None,
        };
        let mut state = State {
            moving: moving || before.is_some(),
            room: &mut self.room,
            view,
            given,
        };
        let mut of = Own {
            columns: &mut self.columns,
            rates: self.rates.as_deref_mut(),
        };
        let (mut done, mut rest) = (Ok(()), out);
        for pieces in &mut self.results {
            match apply(pieces, &mut of, &mut state, x) {
                Ok(result) => {
                    let (out, after) = rest.split_at_mut(result.len());
                    out.copy_from_slice(&result);
                    rest = after;
                    state.room.give_back(result);
                }
                Err(problem) => {
                    done = Err(problem);
                    break;
                }
            }
        }
        if let Some(before) = before {
            let after = self.set_moving(view, &before)?;
            self.room.give_back(before);
            self.room.give_back(after);
        }
        done
    }

    /// Takes in a velocity; the one before.
    fn set_moving(&mut self, view: &mut Configured<'_, S>, qd: &[S]) -> Result<Vec<S>> {
        let mechanism = view.mechanism();
        check("qd", Space::Joint, qd, mechanism.nv())?;
        let stages = view.access(false).stages;
        let before = self.room.copy(&stages.coupled.yd);
        if let Some(r) = &mechanism.compiled.reduction {
            stages.coupled.set_moving(r, qd, &mut stages.qd);
        }
        Ok(before)
    }
}

/// An error unless a vector has as many numbers as its space, all finite.
pub(super) fn check<S: Scalar>(name: &str, space: Space, x: &[S], needed: usize) -> Result<()> {
    if x.len() != needed {
        return Err(Error::Binding {
            name: name.to_owned(),
            problem: format!("{space} needs {needed} numbers, not {}", x.len()),
        });
    }
    finite(name, x)
}

fn of_tree<S: Scalar>(sum: Sum, of: &Tree<'_>) -> Result<Evaluator<S>> {
    let algorithm = Expression::of(sum).compile(of.mechanism.compiled.has_armature, &[]);
    Evaluator::of_tree(algorithm, of.mechanism, of.frames, of.closed)
}

fn cut<S: Scalar>(sum: &Sum, of: &Tree<'_>, given: &[String]) -> Result<Pieces<S>> {
    let mechanism = of.mechanism;
    let mut terms = Vec::with_capacity(sum.terms.len());
    for term in &sum.terms {
        let mut pieces: Vec<Piece<S>> = Vec::new();
        // Factors of the tree that follow each other without passing through joint space, the last first.
        let mut run: Vec<Factor> = Vec::new();
        let finish = |run: &mut Vec<Factor>, pieces: &mut Vec<Piece<S>>| -> Result<()> {
            let (Some(last), Some(first)) = (run.first(), run.last()) else {
                return Ok(());
            };
            let (range, domain) = (first.range(), last.domain());
            let factors: Vec<Factor> = run.drain(..).rev().collect();
            let whole = Sum::of_terms(range, domain, vec![Term::new(1.0, factors)]);
            pieces.push(Piece::Tree(Box::new(of_tree(whole, of)?), range, domain));
            Ok(())
        };
        for factor in term.factors.iter().rev() {
            match factor {
                Factor::Op(op, adjoint) if of_joints(*op) => {
                    finish(&mut run, &mut pieces)?;
                    pieces.push(Piece::Joint(*op, *adjoint));
                }
                Factor::Op(op, _) if of_trees(*op) => {
                    return Err(Error::Coupled {
                        what: op.symbol(),
                        mechanism: mechanism.name().to_owned(),
                    });
                }
                Factor::Op(..) | Factor::Select(..) => {
                    if factor.domain() == Space::Joint {
                        finish(&mut run, &mut pieces)?;
                    }
                    run.push(factor.clone());
                    if factor.range() == Space::Joint {
                        finish(&mut run, &mut pieces)?;
                    }
                }
                Factor::Vector(v, false) if &*v.name == "C" && !given.iter().any(|g| g == "C") => {
                    finish(&mut run, &mut pieces)?;
                    let links = defined(&Sum::of(factor.clone()), given);
                    let mut whole = cut(&links, of, given)?;
                    whole.terms.push((1.0, vec![Piece::Rotors]));
                    pieces.push(Piece::Sum(whole));
                }
                Factor::Vector(v, adjoint) if matches!(&*v.name, LOG_DET | LOG_DET_GRADIENT) => {
                    finish(&mut run, &mut pieces)?;
                    pieces.push(Piece::LogDet(&*v.name == LOG_DET_GRADIENT, *adjoint));
                }
                Factor::Vector(v, adjoint) => {
                    finish(&mut run, &mut pieces)?;
                    let of_state = matches!(&*v.name, "a" | "b" | "a0" | CONSTRAINT_BIAS);
                    let alone = Sum::of(Factor::Vector(v.clone(), false));
                    let own = match of_state {
                        true => Some(Box::new(of_tree(alone, of)?)),
                        false => None,
                    };
                    pieces.push(Piece::Vector(v.clone(), *adjoint, own));
                }
                Factor::Inverse(inner) | Factor::Pseudo(inner) => {
                    finish(&mut run, &mut pieces)?;
                    let text = inner.written(Notation::Ascii);
                    let pseudo = matches!(factor, Factor::Pseudo(_));
                    pieces.push(Piece::Solve(cut(inner, of, given)?, pseudo, text));
                }
                Factor::Augmented(_) => {
                    finish(&mut run, &mut pieces)?;
                    pieces.push(Piece::Augmented(Box::new(of_tree(Sum::of(factor.clone()), of)?)));
                }
                Factor::Matrix(v) => {
                    finish(&mut run, &mut pieces)?;
                    pieces.push(Piece::Matrix(v.clone()));
                }
                Factor::Diagonal(v, inverted) => {
                    finish(&mut run, &mut pieces)?;
                    pieces.push(Piece::Diagonal(v.clone(), *inverted));
                }
                Factor::By(..) | Factor::Held(..) if !by_ratios(mechanism) => {
                    return Err(Error::Coupled {
                        what: "a derivative, where joints follow by curves",
                        mechanism: mechanism.name().to_owned(),
                    });
                }
                Factor::By(
                    by @ (By::Crm | By::Crf | By::Bar | By::TiesDot(_) | By::TiesDq(_) | By::TiesStarDq(_)),
                    inner,
                ) => {
                    finish(&mut run, &mut pieces)?;
                    let maker = Vector {
                        name: MAKER.into(),
                        space: inner.range,
                    };
                    let maker = Sum::of(Factor::Vector(maker, false));
                    let alone = Sum::of(Factor::By(*by, Box::new(maker)));
                    pieces.push(Piece::By(Box::new(of_tree(alone, of)?), cut(inner, of, given)?));
                }
                Factor::By(By::Times(_) | By::Diagonal, inner) => {
                    finish(&mut run, &mut pieces)?;
                    pieces.push(Piece::Scaled(cut(inner, of, given)?));
                }
                Factor::By(..) => {
                    return Err(Error::Coupled {
                        what: "the rate of P",
                        mechanism: mechanism.name().to_owned(),
                    });
                }
                Factor::Held(inner, adjoint) => {
                    finish(&mut run, &mut pieces)?;
                    pieces.push(Piece::Held(cut(inner, of, given)?, *adjoint));
                }
                Factor::Sum(inner) => {
                    finish(&mut run, &mut pieces)?;
                    pieces.push(Piece::Sum(cut(inner, of, given)?));
                }
            }
        }
        finish(&mut run, &mut pieces)?;
        terms.push((term.scale, pieces));
    }
    let (range, domain) = (sum.range, sum.domain);
    Ok(Pieces { range, domain, terms })
}

/// Operators of the tree that couplings need.
struct Own<'a, S: 'static> {
    columns: &'a mut Evaluator<S>,
    rates: Option<&'a mut Evaluator<S>>,
}

fn apply<S: Scalar>(
    sum: &mut Pieces<S>,
    of: &mut Own<'_, S>,
    state: &mut State<'_, '_, '_, S>,
    x: &[S],
) -> Result<Vec<S>> {
    let nv = state.view.mechanism().nv();
    let mut total = state.room.take(of.columns.space_size(sum.range, nv));
    for (scale, pieces) in &mut sum.terms {
        let mut now = state.room.copy(x);
        for piece in pieces {
            let next = match piece {
                Piece::Tree(run, range, domain) => tree(run, *range, *domain, state, &now)?,
                Piece::Joint(op, adjoint) => joint(*op, *adjoint, state, &now)?,
                Piece::Vector(v, adjoint, own) => {
                    let mut value = vector(v, own.as_deref_mut(), of, state)?;
                    paired(&mut value, *adjoint, &now);
                    value
                }
                Piece::Sum(inner) => apply(inner, of, state, &now)?,
                Piece::Augmented(run) => {
                    let mut out = state.room.take(now.len());
                    run.solve_augmented(state.view, state.given, &now, &mut out)?;
                    out
                }
                Piece::Matrix(v) => {
                    let w = vector(v, None, of, state)?;
                    symmetric(v, &w)?;
                    let mut out = state.room.take(now.len());
                    for (out, row) in out.iter_mut().zip(w.chunks_exact(now.len().max(1))) {
                        *out = row.iter().zip(&now).fold(S::ZERO, |sum, (a, b)| a.mul_add(*b, sum));
                    }
                    state.room.give_back(w);
                    out
                }
                Piece::Diagonal(v, inverted) => {
                    let mut w = vector(v, None, of, state)?;
                    for (w, x) in w.iter_mut().zip(&now) {
                        *w = if *inverted { *x * w.recip() } else { *x * *w };
                    }
                    w
                }
                Piece::Solve(inner, pseudo, text) => {
                    let rows = of.columns.space_size(inner.range, nv);
                    let n = of.columns.space_size(inner.domain, nv);
                    let mut matrix = vec![S::ZERO; rows * n];
                    for j in 0..n {
                        let mut unit = state.room.take(n);
                        unit[j] = S::ONE;
                        let column = apply(inner, of, state, &unit)?;
                        (0..rows).for_each(|i| matrix[i * n + j] = column[i]);
                        state.room.give_back(unit);
                        state.room.give_back(column);
                    }
                    let mut memory = Inverter::default();
                    match pseudo {
                        true => memory.pseudo_invert(&mut matrix, rows),
                        false => dense_inverses::invert(&mut matrix, text, &mut memory)?,
                    }
                    let mut out = state.room.take(n);
                    for (out, row) in out.iter_mut().zip(matrix.chunks_exact(rows.max(1))) {
                        *out = row.iter().zip(&now).fold(S::ZERO, |sum, (a, b)| a.mul_add(*b, sum));
                    }
                    out
                }
                Piece::By(run, inner) => {
                    let maker = apply(inner, of, state, &[S::ONE])?;
                    let mut out = state.room.take(run.len());
                    run.run(state.view, state.moving, &[(OPERAND, &now), (MAKER, &maker)], &mut out)?;
                    state.room.give_back(maker);
                    out
                }
                Piece::Scaled(inner) => {
                    let w = apply(inner, of, state, &[S::ONE])?;
                    let mut out = state.room.copy(&now);
                    let each = |i: usize| if w.len() == 1 { w[0] } else { w[i] };
                    out.iter_mut().enumerate().for_each(|(i, x)| *x = *x * each(i));
                    state.room.give_back(w);
                    out
                }
                Piece::Held(inner, adjoint) => {
                    let mut value = apply(inner, of, state, &[S::ONE])?;
                    paired(&mut value, *adjoint, &now);
                    value
                }
                Piece::LogDet(gradient, adjoint) => {
                    let mut value = match gradient {
                        true => {
                            let mut value = state.room.take(nv);
                            state.view.log_det_mass_gradient(&mut value)?;
                            value
                        }
                        false => {
                            let mut value = state.room.take(1);
                            value[0] = state.view.log_det()?;
                            value
                        }
                    };
                    paired(&mut value, *adjoint, &now);
                    value
                }
                Piece::Rotors => {
                    let mut torques = rotors(state);
                    torques.iter_mut().for_each(|x| *x = *x * now[0]);
                    torques
                }
            };
            state.room.give_back(core::mem::replace(&mut now, next));
        }
        for (total, x) in total.iter_mut().zip(&now) {
            *total = S::lift(*scale).mul_add(*x, *total);
        }
        state.room.give_back(now);
    }
    Ok(total)
}

/// A vector times a number, or its product with a vector.
fn paired<S: Scalar>(value: &mut Vec<S>, adjoint: bool, x: &[S]) {
    if adjoint {
        let sum = value.iter().zip(x).fold(S::ZERO, |sum, (a, b)| a.mul_add(*b, sum));
        value.clear();
        value.push(sum);
    } else {
        value.iter_mut().for_each(|v| *v = *v * x[0]);
    }
}

/// A piece of the tree: R before it where it takes joint space, R* after it where it gives that.
fn tree<S: Scalar>(
    run: &mut Evaluator<S>,
    range: Space,
    domain: Space,
    state: &mut State<'_, '_, '_, S>,
    x: &[S],
) -> Result<Vec<S>> {
    let Some(r) = &state.view.mechanism().compiled.reduction else {
        return Ok(x.to_vec());
    };
    let mut out = state.room.take(run.len());
    if domain == Space::Joint {
        let mut wide = state.room.take(r.v_from.len());
        state.view.access(false).stages.coupled.expand(r, x, &mut wide);
        run.run(state.view, state.moving, &[(OPERAND, &wide)], &mut out)?;
        state.room.give_back(wide);
    } else {
        run.run(state.view, state.moving, &[(OPERAND, x)], &mut out)?;
    }
    if range == Space::Joint {
        let mut narrow = state.room.take(r.nv);
        state.view.access(false).stages.coupled.contract(r, &out, &mut narrow);
        state.room.give_back(core::mem::replace(&mut out, narrow));
    }
    Ok(out)
}

fn rotors<S: Scalar>(state: &mut State<'_, '_, '_, S>) -> Vec<S> {
    let m = &state.view.mechanism().compiled;
    let Some(r) = &m.reduction else { return Vec::new() };
    let (mut bend, mut out) = (state.room.take(m.nv), state.room.take(r.nv));
    let c = &state.view.access(false).stages.coupled;
    c.add_bend(r, &mut bend);
    for (x, armature) in bend.iter_mut().zip(&m.armature) {
        *x = *x * S::lift(*armature);
    }
    c.contract(r, &bend, &mut out);
    state.room.give_back(bend);
    out
}

/// A vector: given, or what the state says.
fn vector<S: Scalar>(
    v: &Vector,
    own: Option<&mut Evaluator<S>>,
    of: &mut Own<'_, S>,
    state: &mut State<'_, '_, '_, S>,
) -> Result<Vec<S>> {
    let mechanism = state.view.mechanism();
    if let Some((_, x)) = state.given.iter().find(|(name, _)| **name == *v.name) {
        check(&v.name, v.space, x, of.columns.space_size(v.space, mechanism.nv()))?;
        return Ok(state.room.copy(x));
    }
    if &*v.name == "qd" && state.moving {
        return Ok(state.room.copy(&state.view.access(false).stages.coupled.yd));
    }
    let own = own.ok_or_else(|| missing(v))?;
    let mut out = state.room.take(own.len());
    own.run(state.view, state.moving, &[], &mut out)?;
    let added_by = match &*v.name {
        "a" => Some(&mut *of.columns),
        CONSTRAINT_BIAS => of.rates.as_deref_mut(),
        _ => None,
    };
    if let (Some(columns), Some(r)) = (added_by, &mechanism.compiled.reduction) {
        // H*Ṙẏ: what followers accelerate by as their ratios change.
        let (mut bend, mut added) = (state.room.take(r.v_from.len()), state.room.take(columns.len()));
        state.view.access(false).stages.coupled.add_bend(r, &mut bend);
        columns.run(state.view, state.moving, &[(OPERAND, &bend)], &mut added)?;
        out.iter_mut().zip(&added).for_each(|(a, b)| *a += *b);
        state.room.give_back(bend);
        state.room.give_back(added);
    }
    Ok(out)
}
