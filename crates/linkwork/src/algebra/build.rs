//! From a syntax tree whose spaces are known to a sum of products.

use super::augmented;
use super::derivative::{self, Variable};
use super::fault::Fault;
use super::infer::{Inference, LOG_DET, VECTORS, misfit, part, plain, short};
use super::laws;
use super::names::{VECTORS_INSIDE, definition_of_inverse_mass, dense_inverse, has_vectors, identity_of, operator};
use super::op::Op;
use super::parse::{Ast, What};
use super::space::Space;
use super::sum::{Factor, Sum, Term, Vector};
use super::vector_operators::{By, by};
use core::ops::Range;

/// Expressions with more factors are refused.
const LARGEST: usize = 512;
/// Derivatives may have more.
const LARGEST_DERIVED: usize = 16_384;

/// Whether a derivative was taken on the way.
fn is_derived(sum: &Sum) -> bool {
    let mut found = false;
    sum.each(&mut |factor| found |= matches!(factor, Factor::By(..) | Factor::Held(..)));
    found
}

/// log det, where 𝓜 = (I + HφK)D(I + HφK)* gives it: causal factors have ones on their diagonals.
fn log_det(sum: &Sum) -> Option<Sum> {
    fn times(sum: &Sum) -> Option<f64> {
        let [term] = &sum.terms[..] else { return None };
        if term.scale != 1.0 || sum.range != sum.domain {
            return None;
        }
        let each = term.factors.iter().map(|factor| match factor {
            Factor::Op(op, _) => match op {
                Op::Mass | Op::D => Some(1.0),
                Op::MassInv | Op::DInv => Some(-1.0),
                Op::Root => Some(0.5),
                Op::RootInv => Some(-0.5),
                Op::N | Op::F | Op::Phi | Op::Psi | Op::PhiInv | Op::PsiInv => Some(0.0),
                _ => None,
            },
            Factor::Sum(inner) => times(inner),
            _ => None,
        });
        each.sum()
    }
    let found = times(sum).or_else(|| times(&laws::inverse(sum, true)?).map(|x| -x))?;
    let name = LOG_DET.into();
    let whole = Factor::Vector(
        Vector {
            name,
            space: Space::Number,
        },
        false,
    );
    Some(Sum::of(whole).scaled(found))
}

impl Inference {
    pub(super) fn build(&self, ast: &Ast) -> Result<Sum, Fault> {
        let sum = self.build_part(ast)?;
        if sum.terms.iter().any(|t| !t.scale.is_finite()) {
            let problem = "the numbers in this multiply to infinity";
            return Err(Fault::at(ast.span.clone(), problem, "take smaller ones"));
        }
        let mut refused = false;
        sum.each(&mut |factor| refused |= matches!(factor, Factor::By(By::UpsilonDq(true), _)));
        if refused {
            let problem = "the gradient of what Υ defines is not in closed form here";
            let hint = "write J inv(Mass) J^* instead, of which Υ is a part";
            return Err(Fault::at(ast.span.clone(), problem, hint));
        }
        let largest = if is_derived(&sum) { LARGEST_DERIVED } else { LARGEST };
        if sum.size() > largest {
            let problem = format!("this has more than {largest} factors");
            return Err(Fault::at(ast.span.clone(), problem, "bind a part of it to a name"));
        }
        Ok(sum)
    }

    fn build_part(&self, ast: &Ast) -> Result<Sum, Fault> {
        let at = || ast.span.clone();
        Ok(match &ast.what {
            What::Number(x) => self.identity(ast)?.scaled(*x),
            What::Name(name, _) => self.build_name(ast, plain(name))?,
            What::Adjoint(inner) => self.build(inner)?.adjoint(),
            What::Inverse(inner) => {
                let sum = self.build(inner)?;
                if sum.is_zero() || sum.terms.iter().any(|t| !t.scale.recip().is_finite()) {
                    return Err(Fault::at(at(), "this divides by zero", "divide by something else"));
                }
                match laws::inverse(&sum, true).or_else(|| augmented::inverse(&sum)) {
                    Some(inverse) => inverse,
                    None => dense_inverse(at(), sum)?,
                }
            }
            What::Pseudo(inner) => {
                let sum = self.build(inner)?;
                let small = |space| !matches!(space, Space::Motion | Space::Force | Space::Number);
                if !small(sum.range) || !small(sum.domain) {
                    let problem = "only operators between joints, frames and constraints have a pseudo-inverse here";
                    return Err(Fault::at(at(), problem, "as in pinv(J)"));
                }
                if has_vectors(&sum) {
                    return Err(Fault::at(at(), VECTORS_INSIDE, "take the vectors out"));
                }
                Sum::of(Factor::Pseudo(Box::new(sum)))
            }
            What::By(kind, inner) => self.build_by(*kind, inner, at())?,
            What::Dot(inner) => {
                let of = derivative::recognised(&self.build(inner)?);
                derivative::dot(&of).map_err(|r| r.at(at()))?
            }
            What::Along(inner, direction) => {
                let (of, w) = (derivative::recognised(&self.build(inner)?), self.build(direction)?);
                derivative::along(&of, &w).map_err(|r| r.at(at()))?
            }
            What::Derivative(inner, variable) => {
                let of = derivative::recognised(&self.build(inner)?);
                let variable = match plain(variable) {
                    "q" => Variable::Configuration,
                    name => match &self.build_name(ast, name)?.terms[..] {
                        [Term { factors, .. }] => match &factors[..] {
                            [Factor::Vector(v, false)] => Variable::Vector(v.clone()),
                            _ => return Err(Fault::at(at(), format!("`{name}` is not a vector"), "name one")),
                        },
                        _ => return Err(Fault::at(at(), format!("`{name}` is not a vector"), "name one")),
                    },
                };
                derivative::jacobian(&of, &variable).map_err(|r| r.at(at()))?
            }
            What::Diagonal(inner) if self.is_product(inner)? => {
                let sum = self.build(inner)?;
                if matches!(sum.range, Space::Motion | Space::Force) {
                    let problem = "diag(…) takes a vector of joints, frames or constraints";
                    return Err(Fault::at(at(), problem, "as in diag(w:tip)"));
                }
                by(By::Diagonal, &sum)
            }
            What::Diagonal(inner) => {
                let sum = self.build(inner)?;
                let [Term { scale, factors }] = &sum.terms[..] else {
                    return Err(Fault::at(at(), "diag(…) takes one vector by name", "as in diag(w:tip)"));
                };
                match &factors[..] {
                    [Factor::Vector(v, false)] if !matches!(v.space, Space::Motion | Space::Force) => {
                        Sum::of(Factor::Diagonal(v.clone(), false)).scaled(*scale)
                    }
                    _ => {
                        let problem = "diag(…) takes a vector by name, of joints, frames or constraints";
                        return Err(Fault::at(at(), problem, "as in diag(w:tip)"));
                    }
                }
            }
            What::Of(name, frame) => {
                let select = Sum::of(Factor::Select(frame.as_str().into(), false));
                match &name[..] {
                    "J" => select.times(&Sum::of(Factor::op(Op::J))),
                    "S" => select,
                    _ => Sum::of(Factor::op(Op::B)).times(&select.adjoint()),
                }
            }
            What::Strict(inner) => {
                let sum = self.build(inner)?;
                sum.plus(&Sum::identity(sum.range).scaled(-1.0))
            }
            What::Root(inner) => self.root_of(inner, at())?,
            What::Matrix(inner) => self.matrix_of(inner, at())?,
            What::LogDet(inner) => log_det(&self.build(inner)?).ok_or_else(|| {
                let problem = "only Mass, D, their inverses and factors, and products of these have a log det here";
                let hint = "log det(A B) = log det A + log det B, and a number c is n log c; take those out";
                Fault::at(at(), problem, hint)
            })?,
            What::Power(inner, n) => {
                let base = self.build(inner)?;
                if base.size() * *n as usize > LARGEST {
                    let problem = format!("this has more than {LARGEST} factors");
                    return Err(Fault::at(at(), problem, "take a lower power"));
                }
                let mut power = Sum::identity(base.range);
                for _ in 0..*n {
                    power = power.times(&base);
                }
                power
            }
            What::Product(factors) => {
                let mut parts = factors.iter().map(|f| self.build(f));
                let mut product = parts.next().unwrap_or_else(|| Ok(Sum::identity(Space::Joint)))?;
                for (i, part) in parts.enumerate() {
                    let part = part?;
                    if product.domain != part.range {
                        let (takes, gives) = (product.domain.to_string(), part.range.to_string());
                        return Err(misfit(&factors[i], &factors[i + 1], &takes, &gives));
                    }
                    product = product.times(&part);
                }
                product
            }
            What::Sum(terms) => {
                let mut sum: Option<Sum> = None;
                for (negative, term) in terms {
                    let part = self.build(term)?.scaled(if *negative { -1.0 } else { 1.0 });
                    sum = Some(match sum {
                        None => part,
                        Some(sum) if (sum.range, sum.domain) == (part.range, part.domain) => sum.plus(&part),
                        Some(_) => {
                            let problem = "this is in another space than what it is added to";
                            return Err(Fault::at(term.span.clone(), problem, "only like can be added to like"));
                        }
                    });
                }
                sum.unwrap_or_else(|| Sum::zero(Space::Joint, Space::Joint))
            }
        })
    }

    /// I where it stands.
    fn identity(&self, ast: &Ast) -> Result<Sum, Fault> {
        let space = self.identities.get(&part(ast)).and_then(|&x| self.space(x));
        let Some(space) = space else {
            let problem = format!("the space of {} cannot be inferred", short(ast));
            let hint = "write I_q for joint space, I_V for motions, I_f for forces, I_t for tip space";
            return Err(Fault::at(ast.span.clone(), problem, hint));
        };
        Ok(Sum::identity(space))
    }

    fn build_name(&self, ast: &Ast, name: &str) -> Result<Sum, Fault> {
        if let Some(operator) = operator(name) {
            return Ok(operator);
        }
        if identity_of(name).is_some() {
            return self.identity(ast);
        }
        let known = VECTORS.iter().find(|v| v.0 == name).map(|v| v.1);
        let own = self.names.get(name).and_then(|&x| self.space(x));
        let Some(space) = known.or(own) else {
            let problem = format!("the space of the vector `{name}` cannot be inferred");
            let hint = match name.strip_prefix("I_") {
                Some(_) => "the identities are I_q, I_V, I_f, I_t and I_c".to_owned(),
                None => format!("write {name}:joint, {name}:motion, {name}:force or {name}:tip"),
            };
            return Err(Fault::at(ast.span.clone(), problem, hint));
        };
        let name = name.into();
        Ok(Sum::of(Factor::Vector(Vector { name, space }, false)))
    }

    /// A symmetric matrix by name.
    fn matrix_of(&self, inner: &Ast, at: Range<usize>) -> Result<Sum, Fault> {
        let What::Name(name, _) = &inner.what else {
            return Err(Fault::at(at, "sym(…) takes a matrix by name", "as in J^* sym(W) J"));
        };
        let name = plain(name);
        let side = self.matrices.get(name).and_then(|&x| self.space(x));
        let Some(side) = side else {
            let problem = format!("the space of the matrix `{name}` cannot be inferred");
            let hint = format!("write sym({name}:joint), sym({name}:tip), sym({name}:frame) or sym({name}:constraint)");
            return Err(Fault::at(at, problem, hint));
        };
        let Some(space) = side.square() else {
            let problem = format!("there are no matrices of {side} here");
            return Err(Fault::at(
                at,
                problem,
                "those of joints, frames and constraints can be given",
            ));
        };
        let name = name.into();
        Ok(Sum::of(Factor::Matrix(Vector { name, space })))
    }

    fn root_of(&self, inner: &Ast, at: Range<usize>) -> Result<Sum, Fault> {
        let sum = self.build(inner)?;
        if let [term] = &sum.terms[..]
            && term.scale > 0.0
        {
            let root = match &term.factors[..] {
                [] => Some(Sum::identity(sum.range)),
                [Factor::Op(Op::D, _)] => Some(Sum::of(Factor::op(Op::Root))),
                // D⁻¹ = D^-½*D^-½: the first factor.
                [Factor::Op(Op::DInv, _)] => Some(Sum::of(Factor::Op(Op::RootInv, true))),
                // 𝓜 = mm* and 𝓜⁻¹ = ℓ*ℓ.
                [Factor::Op(Op::Mass, _)] => operator("m"),
                [Factor::Op(Op::MassInv, _)] => operator("ell").map(|ell| ell.adjoint()),
                _ if sum == definition_of_inverse_mass() => operator("ell").map(|ell| ell.adjoint()),
                _ => None,
            };
            if let Some(root) = root {
                return Ok(root.scaled(term.scale.sqrt()));
            }
        }
        Err(Fault::at(
            at,
            "only D, Mass, their inverses and positive numbers have a root here",
            "D^½ is sqrt(D), the lower Cholesky factor; D^-½ is inv(sqrt(D)), and sqrt(inv(D)) its adjoint; sqrt(Mass) is m",
        ))
    }

    /// Whether what a diagonal is made of is more than a vector by name.
    fn is_product(&self, inner: &Ast) -> Result<bool, Fault> {
        let sum = self.build(inner)?;
        Ok(!matches!(&sum.terms[..], [term] if matches!(term.factors[..], [Factor::Vector(_, false)])))
    }

    fn build_by(&self, kind: By, inner: &Ast, at: Range<usize>) -> Result<Sum, Fault> {
        let sum = self.build(inner)?;
        let fits = match (kind.of(), kind) {
            (Some(space), _) => sum.range == space,
            (None, By::Bar) => matches!(sum.range, Space::Force | Space::Tip),
            (None, _) => matches!(sum.range, Space::Motion | Space::Tip),
        };
        if !fits {
            let problem = format!("this takes no vector of {}", sum.range);
            let hint = "crm and crf take motions, bar takes forces; of links, or of frames";
            return Err(Fault::at(at, problem, hint));
        }
        Ok(by(kind, &sum))
    }
}
