//! Which space every part of an expression leads from and to.

use super::fault::Fault;
use super::graph::OPERAND;
use super::names::{WORDS, identity_of, operator};
use super::op::Op;
use super::parse::{Ast, What};
use super::space::Space;
use super::sum::Sum;
use super::vector_operators::By;
use crate::model::did_you_mean;
use std::collections::HashMap;

/// Vectors that every expression knows: what a state or its caller gives.
pub(crate) const VECTORS: [(&str, Space); 14] = [
    ("T", Space::Joint),
    ("qd", Space::Joint),
    ("qdd", Space::Joint),
    ("qddd", Space::Joint),
    ("C", Space::Joint),
    ("g", Space::Joint),
    ("f", Space::Tip),
    ("V", Space::Motion),
    ("a", Space::Motion),
    ("a0", Space::Motion),
    ("b", Space::Force),
    (CONSTRAINT_BIAS, Space::Constraint),
    (LOG_DET, Space::Number),
    (LOG_DET_GRADIENT, Space::Joint),
];

/// J̇c q̇: what the constraints accelerate by where the joints do not.
pub(crate) const CONSTRAINT_BIAS: &str = "Jc_dot qd";

/// The logarithm of the determinant of 𝓜, and its gradient by all joints.
pub(crate) const LOG_DET: &str = "logdet(Mass)";
pub(crate) const LOG_DET_GRADIENT: &str = "grad(logdet(Mass))";

/// Other spellings.
pub(crate) fn plain(name: &str) -> &str {
    match name {
        "q̇" | "θ̇" | "qdot" | "q_dot" => "qd",
        "q̈" | "θ̈" | "qddot" | "q_ddot" => "qdd",
        "α" => "alpha",
        "β" => "beta",
        "ε" => "eps",
        "ζ" => "zeta",
        "κ" => "kappa",
        "λ" => "lambda",
        "ν" => "nu",
        "ξ" => "xi",
        "ρ" => "rho",
        "a₀" => "a0",
        other => other,
    }
}

/// A space that may not be known yet, or its dual.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unknown {
    variable: usize,
    dual: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    No,
    Space(Space),
    Same(Unknown),
}

/// What a part leads to and from.
#[derive(Clone, Copy)]
struct Kind {
    range: Unknown,
    domain: Unknown,
}

#[derive(Default)]
pub(super) struct Inference {
    known: Vec<Known>,
    /// Users' own vectors.
    pub(super) names: HashMap<String, Unknown>,
    /// Users' own matrices, by the space that they lead from and to.
    pub(super) matrices: HashMap<String, Unknown>,
    /// Identities and numbers, by the part of the tree that they are.
    pub(super) identities: HashMap<usize, Unknown>,
    /// The spaces of every `I` by itself.
    free: Vec<Unknown>,
}

/// Expressions as sums of products, with every space known; vectors of one name are the same in all.
pub(crate) fn typed(all: &[&Ast]) -> Result<Vec<Sum>, Fault> {
    let mut inference = Inference::default();
    for ast in all {
        inference.kind(ast)?;
    }
    let mut sums = Vec::with_capacity(all.len());
    for ast in all {
        let sum = inference.build(ast)?;
        if !sum.is_vector() && sum.vectors().iter().any(|v| &*v.name == OPERAND) {
            let problem = format!("`{OPERAND}` is what an operator acts on, and this is an operator");
            return Err(Fault::at(ast.span.clone(), problem, "give the vector another name"));
        }
        if all.len() > 1 && !sum.is_vector() {
            let problem = "of several results each is a vector, and this is an operator";
            return Err(Fault::at(ast.span.clone(), problem, "let it act on one"));
        }
        sums.push(sum);
    }
    Ok(sums)
}

/// Both sides of an equation as sums of products.
pub(crate) fn equation(left: &Ast, right: &Ast) -> Result<[Sum; 2], Fault> {
    let mut inference = Inference::default();
    let (a, b) = (inference.kind(left)?, inference.kind(right)?);
    if !inference.unify(a.range, b.range) || !inference.unify(a.domain, b.domain) {
        let (a, b) = (inference.lead(a), inference.lead(b));
        let problem = format!("this side {b}, the other {a}");
        let hint = "both sides of an equation have the same spaces";
        return Err(Fault::at(right.span.clone(), problem, hint));
    }
    inference.settle();
    Ok([inference.build(left)?, inference.build(right)?])
}

/// Whether a name cannot be given to something: operators, functions, and for `let` also vectors of a state.
pub(crate) fn is_taken(name: &str, is_let: bool) -> bool {
    let name = plain(name);
    let of_state = VECTORS.iter().any(|v| v.0 == name) && (is_let || matches!(name, "qd" | "V" | "a" | "a0" | "b"));
    operator(name).is_some() || identity_of(name).is_some() || WORDS.contains(&name) || of_state
}

impl Inference {
    fn fresh(&mut self) -> Unknown {
        self.known.push(Known::No);
        let variable = self.known.len() - 1;
        Unknown { variable, dual: false }
    }

    fn fixed(&mut self, space: Space) -> Unknown {
        let unknown = self.fresh();
        self.known[unknown.variable] = Known::Space(space);
        unknown
    }

    fn root(&self, mut x: Unknown) -> Unknown {
        while let Known::Same(next) = self.known[x.variable] {
            x = Unknown {
                variable: next.variable,
                dual: next.dual != x.dual,
            };
        }
        x
    }

    pub(super) fn space(&self, x: Unknown) -> Option<Space> {
        let x = self.root(x);
        match self.known[x.variable] {
            Known::Space(space) if x.dual => Some(space.dual()),
            Known::Space(space) => Some(space),
            _ => None,
        }
    }

    /// Makes two spaces one; false if they differ.
    fn unify(&mut self, a: Unknown, b: Unknown) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        if a.variable == b.variable {
            // A space that is its own dual, unless it is known to be otherwise.
            return a.dual == b.dual || self.space(a).is_none_or(|s| s.dual() == s);
        }
        match (self.space(a), self.space(b)) {
            (Some(x), Some(y)) => return x == y,
            (None, _) => {
                let dual = a.dual != b.dual;
                self.known[a.variable] = Known::Same(Unknown {
                    variable: b.variable,
                    dual,
                });
            }
            (_, None) => {
                let dual = a.dual != b.dual;
                self.known[b.variable] = Known::Same(Unknown {
                    variable: a.variable,
                    dual,
                });
            }
        }
        true
    }

    /// Where nothing tells the space of an `I`, whatever is said of it is as true in joint space as elsewhere.
    fn settle(&mut self) {
        let own: Vec<Unknown> = self.free.clone();
        for space in own {
            let joint = self.fixed(Space::Joint);
            self.unify(space, joint);
        }
    }

    fn dual(x: Unknown) -> Unknown {
        Unknown { dual: !x.dual, ..x }
    }

    fn kind(&mut self, ast: &Ast) -> Result<Kind, Fault> {
        let square = |x| Kind { range: x, domain: x };
        Ok(match &ast.what {
            What::Number(_) => {
                let space = self.fresh();
                self.identities.insert(part(ast), space);
                square(space)
            }
            What::Name(name, given) => {
                let given = given.as_deref().and_then(Space::named);
                self.named(ast, plain(name), given)?
            }
            What::Adjoint(inner) => {
                let Kind { range, domain } = self.kind(inner)?;
                Kind {
                    range: Self::dual(domain),
                    domain: Self::dual(range),
                }
            }
            What::Inverse(inner) | What::Pseudo(inner) => {
                let Kind { range, domain } = self.kind(inner)?;
                Kind {
                    range: domain,
                    domain: range,
                }
            }
            What::Root(inner) => self.kind(inner)?,
            What::Matrix(inner) => square(self.matrix(inner)?),
            What::LogDet(inner) => {
                let Kind { range, domain } = self.kind(inner)?;
                if !self.unify(range, domain) {
                    let problem = "only what leads from a space to itself has a determinant";
                    return Err(Fault::at(inner.span.clone(), problem, "as in logdet(Mass)"));
                }
                square(self.fixed(Space::Number))
            }
            What::Diagonal(inner) => {
                let Kind { range, domain } = self.kind(inner)?;
                let number = self.fixed(Space::Number);
                if !self.unify(domain, number) {
                    let problem = "diag(…) takes a vector";
                    return Err(Fault::at(inner.span.clone(), problem, "name one, as in diag(w:tip)"));
                }
                square(range)
            }
            What::By(by, inner) => self.kind_by(*by, inner)?,
            What::Dot(inner) => self.kind(inner)?,
            What::Along(inner, direction) => {
                let kind = self.kind(inner)?;
                let (along, joint, number) = (
                    self.kind(direction)?,
                    self.fixed(Space::Joint),
                    self.fixed(Space::Number),
                );
                if !self.unify(along.domain, number) || !self.unify(along.range, joint) {
                    let problem = "a configuration moves by a vector of joint space";
                    return Err(Fault::at(direction.span.clone(), problem, "as in d(Mass, w)"));
                }
                kind
            }
            What::Derivative(inner, variable) => {
                let Kind { range, domain } = self.kind(inner)?;
                let number = self.fixed(Space::Number);
                if !self.unify(domain, number) {
                    let problem = "the derivative of an operator needs a direction";
                    let hint = "write d(X, w) for the change along w, or let it act on a vector";
                    return Err(Fault::at(inner.span.clone(), problem, hint));
                }
                let domain = match plain(variable) {
                    "q" => self.fixed(Space::Joint),
                    name if operator(name).is_some() || identity_of(name).is_some() => {
                        let problem = format!("`{name}` is an operator");
                        return Err(Fault::at(
                            ast.span.clone(),
                            problem,
                            "a derivative is taken by q or a vector",
                        ));
                    }
                    name => self.named(ast, name, None)?.range,
                };
                Kind { range, domain }
            }
            What::Of(name, _) => {
                let (range, domain) = match &name[..] {
                    "J" => (Space::Frame, Space::Joint),
                    "B" => (Space::Force, Space::Frame),
                    "S" => (Space::Frame, Space::Tip),
                    _ => {
                        let problem = format!("`{name}` does not belong to a frame");
                        return Err(Fault::at(ast.span.clone(), problem, "J[name] and B[name] do"));
                    }
                };
                let (range, domain) = (self.fixed(range), self.fixed(domain));
                Kind { range, domain }
            }
            What::Strict(inner) => {
                let kind = self.kind(inner)?;
                if !self.unify(kind.range, kind.domain) {
                    let problem = "X~ is X − I, and this does not lead from a space to itself";
                    return Err(Fault::at(inner.span.clone(), problem, "write it after phi or psi"));
                }
                kind
            }
            What::Power(inner, _) => {
                let kind = self.kind(inner)?;
                if !self.unify(kind.range, kind.domain) {
                    let (to, from) = (self.words(kind.range), self.words(kind.domain));
                    let problem = format!("a power needs one space, but this leads from {from} to {to}");
                    return Err(Fault::at(
                        inner.span.clone(),
                        problem,
                        "multiply by its adjoint instead",
                    ));
                }
                kind
            }
            What::Product(factors) => {
                let kinds: Vec<Kind> = factors.iter().map(|f| self.kind(f)).collect::<Result<_, _>>()?;
                for i in (1..kinds.len()).rev() {
                    if !self.unify(kinds[i - 1].domain, kinds[i].range) {
                        let (takes, gives) = (self.words(kinds[i - 1].domain), self.words(kinds[i].range));
                        return Err(misfit(&factors[i - 1], &factors[i], &takes, &gives));
                    }
                }
                Kind {
                    range: kinds[0].range,
                    domain: kinds[kinds.len() - 1].domain,
                }
            }
            What::Sum(terms) => {
                let first = self.kind(&terms[0].1)?;
                for (_, term) in &terms[1..] {
                    let kind = self.kind(term)?;
                    if !self.unify(first.range, kind.range) || !self.unify(first.domain, kind.domain) {
                        let (a, b) = (self.lead(first), self.lead(kind));
                        let problem = format!("this {b}, but what it is added to {a}");
                        return Err(Fault::at(term.span.clone(), problem, "only like can be added to like"));
                    }
                }
                first
            }
        })
    }

    /// The space that a matrix by name leads from and to.
    fn matrix(&mut self, inner: &Ast) -> Result<Unknown, Fault> {
        let fault = |problem: String, hint: &str| Fault::at(inner.span.clone(), problem, hint);
        let What::Name(name, given) = &inner.what else {
            return Err(fault(
                "sym(…) takes a matrix by name".to_owned(),
                "as in J^* sym(W) J, with W given row by row",
            ));
        };
        let name = plain(name);
        // G is the gain elsewhere, and a weight of the papers here.
        if name != "G" && (is_taken(name, true) || self.names.contains_key(name)) {
            let problem = format!("`{name}` is not a matrix");
            return Err(fault(problem, "take another name for the matrix in sym(…)"));
        }
        let side = match self.matrices.get(name) {
            Some(&side) => side,
            None => {
                let side = self.fresh();
                self.matrices.insert(name.to_owned(), side);
                side
            }
        };
        if let Some(space) = given.as_deref().and_then(Space::named) {
            let given = self.fixed(space);
            if !self.unify(side, given) {
                let problem = format!("`{name}` is of {} already", self.words(side));
                return Err(fault(problem, "leave the colon out, or take another name"));
            }
        }
        Ok(side)
    }

    /// What an operator that a vector makes leads to and from.
    fn kind_by(&mut self, by: By, inner: &Ast) -> Result<Kind, Fault> {
        let Kind { range, domain } = self.kind(inner)?;
        let number = self.fixed(Space::Number);
        if !self.unify(domain, number) {
            let problem = "this takes a vector";
            return Err(Fault::at(inner.span.clone(), problem, "as in crm(V)"));
        }
        if let Some(space) = by.of() {
            let own = self.fixed(space);
            if !self.unify(range, own) {
                let problem = format!("this takes a vector of {space}, not of {}", self.words(range));
                return Err(Fault::at(inner.span.clone(), problem, "only such a vector makes it"));
            }
            let (range, domain) = by.spaces(space);
            let (range, domain) = (self.fixed(range), self.fixed(domain));
            return Ok(Kind { range, domain });
        }
        let dual = Self::dual(range);
        Ok(match by {
            By::Crf => Kind {
                range: dual,
                domain: dual,
            },
            By::Bar => Kind { range, domain: dual },
            _ => Kind { range, domain: range },
        })
    }

    fn named(&mut self, ast: &Ast, name: &str, given: Option<Space>) -> Result<Kind, Fault> {
        let at = ast.span.clone();
        if let Some((range, domain)) = operator(name).map(|sum| (sum.range, sum.domain)) {
            if given.is_some() {
                let problem = format!("`{name}` is an operator and has its spaces already");
                return Err(Fault::at(at, problem, "leave the colon out"));
            }
            let (range, domain) = (self.fixed(range), self.fixed(domain));
            return Ok(Kind { range, domain });
        }
        if let Some(own) = identity_of(name) {
            if own.is_some() && given.is_some() {
                let problem = format!("`{name}` has its space already");
                return Err(Fault::at(at, problem, "leave the colon out"));
            }
            let space = match own.or(given) {
                Some(space) => self.fixed(space),
                None => {
                    let space = self.fresh();
                    self.free.push(space);
                    space
                }
            };
            self.identities.insert(part(ast), space);
            return Ok(Kind {
                range: space,
                domain: space,
            });
        }
        let domain = self.fixed(Space::Number);
        let known = VECTORS.iter().find(|v| v.0 == name).map(|v| v.1);
        let range = match (known, self.names.get(name)) {
            (Some(space), _) => self.fixed(space),
            (None, Some(&space)) => space,
            (None, None) if self.matrices.contains_key(name) => {
                let problem = format!("`{name}` is a matrix");
                let hint = format!("write sym({name}) for it");
                return Err(Fault::at(at, problem, hint));
            }
            (None, None) => {
                let space = self.fresh();
                self.names.insert(name.to_owned(), space);
                space
            }
        };
        if let Some(space) = given {
            let given = self.fixed(space);
            if !self.unify(range, given) {
                let problem = format!("`{name}` is in {} already", self.words(range));
                return Err(Fault::at(at, problem, "leave the colon out, or take another name"));
            }
        }
        Ok(Kind { range, domain })
    }

    fn words(&self, x: Unknown) -> String {
        self.space(x).map_or("some space".to_owned(), |s| s.to_string())
    }

    fn lead(&self, kind: Kind) -> String {
        if self.space(kind.domain) == Some(Space::Number) {
            return format!("is a vector of {}", self.words(kind.range));
        }
        format!("leads from {} to {}", self.words(kind.domain), self.words(kind.range))
    }
}

pub(super) fn misfit(left: &Ast, right: &Ast, takes: &str, gives: &str) -> Fault {
    let (l, r) = (short(left), short(right));
    let mut hint = "write an adjoint as ^* or '".to_owned();
    let problem = match &left.what {
        What::Name(name, _) if operator(plain(name)).is_none() && identity_of(plain(name)).is_none() => {
            let names = Op::names().chain(WORDS);
            let suggestion = match meant(name) {
                Some(word) => format!("; did you mean `{word}`?"),
                None => did_you_mean(name, names),
            };
            hint = format!("vectors stand last{suggestion}");
            format!("{l} is a vector and takes a number, but {r} gives {gives}")
        }
        What::Name(name, _) if name == "G" && takes.starts_with("joint") && gives.starts_with("tip") => {
            hint = "G is the gain PH*D⁻¹; weights of frames are diag(w), as in J^* diag(w) J, or whole matrices sym(W)"
                .to_owned();
            format!("{l} takes {takes}, but {r} gives {gives}")
        }
        _ => format!("{l} takes {takes}, but {r} gives {gives}"),
    };
    Fault::at(right.span.clone(), problem, hint)
}

/// What others call an operator.
fn meant(name: &str) -> Option<&'static str> {
    Some(match &name.to_lowercase()[..] {
        "mass_matrix" | "massmatrix" | "inertia_matrix" | "crba" => "Mass",
        "jacobian" | "jac" => "J",
        "eye" | "identity" | "id" | "one" => "I",
        "i_tip" | "i_tips" => "I_t",
        "i_joint" => "I_q",
        "i_motion" => "I_V",
        "i_force" => "I_f",
        "armature" | "rotors" => "A",
        "kalman" | "gain" => "G",
        _ => return None,
    })
}

/// A part of an expression in a few words.
pub(super) fn short(ast: &Ast) -> String {
    match &ast.what {
        What::Name(name, _) => format!("`{name}`"),
        What::Number(x) => format!("`{x}`"),
        What::Adjoint(inner) => match &inner.what {
            What::Name(name, _) => format!("`{name}^*`"),
            _ => "the adjoint".to_owned(),
        },
        What::Inverse(_) => "the inverse".to_owned(),
        What::Root(_) => "the root".to_owned(),
        What::LogDet(_) => "log det".to_owned(),
        What::Matrix(_) => "the matrix".to_owned(),
        What::Pseudo(_) => "the pseudo-inverse".to_owned(),
        What::Diagonal(_) => "the diagonal".to_owned(),
        What::Strict(_) => "the strict part".to_owned(),
        What::Of(name, frame) => format!("`{name}[{frame}]`"),
        What::Power(..) => "the power".to_owned(),
        What::By(..) => "the cross product".to_owned(),
        What::Dot(_) | What::Derivative(..) | What::Along(..) => "the derivative".to_owned(),
        What::Product(_) | What::Sum(_) => "the parenthesis".to_owned(),
    }
}

/// Which part of a tree this is.
pub(super) fn part(ast: &Ast) -> usize {
    core::ptr::from_ref(ast) as usize
}
