//! Whether an equation of operators holds: a proof, or a robot on which it does not.
//!
//! Both sides are taken to one normal form by definitions and the Riccati equation alone; where they meet, the steps are a
//! proof. Where they do not, both are evaluated as dense matrices on random robots.

mod axioms;
mod normal;
mod rates;
mod robots;

use super::algorithm::{defined, put_in};
use super::dense::Dense;
use super::expression::{self, Expression};
use super::infer::{LOG_DET, LOG_DET_GRADIENT};
use super::laws::made_of;
use super::notation::Notation;
use super::op::Op;
use super::space::Space;
use super::sum::{Factor, Sum, Vector};
use super::vector_operators::{By, by};
use crate::model::Generator;
use crate::model::Mechanism;
use crate::{Error, Result};
use normal::{Form, Reason};

/// Robots that an equation is tried on, every other one with rotors.
const ROBOTS: usize = 100;
/// Equations that are very long are tried on fewer, but no less than so many.
const FEWEST: usize = 4;
/// Robots times factors of the equation; some seconds' worth. A count, not a time: the answer is the same on every machine.
const BUDGET: usize = 100_000;
/// Differences below this part of what the terms add up to without cancelling are rounding.
const ROUNDING: f64 = 1e-10;

/// What is known about an equation.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The left side.
    pub left: Expression,
    /// The right side.
    pub right: Expression,
    /// A proof from the definitions, if one was found; perhaps of robots without rotors only ([`Proof::rotors`]).
    pub proof: Option<Proof>,
    /// How many random robots it was tried on: none where it is proved.
    pub tried: usize,
    /// On how many of them it does not hold.
    pub failed: usize,
    /// The smallest robot on which it does not hold.
    pub counterexample: Option<Counterexample>,
}

/// A chain of laws from either side to a form that both have.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Whether it holds for joints with rotors; else A = 0.
    pub rotors: bool,
    /// What was shown, if the proof is of another equation that says the same: X Y = I for X⁻¹ = Y, or Z X = Z Y for X = Y.
    shown: [Sum; 2],
    instead: bool,
    left: Vec<Form>,
    right: Vec<Form>,
    /// Proofs of what was used on the way.
    lemmas: Vec<(String, Proof)>,
}

/// One step of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What the law is called.
    pub name: String,
    /// The law; empty where terms are only multiplied out.
    pub law: String,
    /// Where it comes from.
    pub source: String,
    /// What the side is after it.
    pub becomes: String,
}

/// A robot and a state at which the sides of an equation differ.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The robot.
    pub mechanism: Mechanism,
    /// Whether its joints have rotors.
    pub rotors: bool,
    /// Its configuration.
    pub q: Vec<f64>,
    /// Its velocity.
    pub qd: Vec<f64>,
    /// The row and column where the sides differ most.
    pub at: (usize, usize),
    /// The left side there.
    pub left: f64,
    /// The right side there.
    pub right: f64,
}

/// Judges an equation of operators or vectors, `A = B`.
///
/// ```
/// use linkwork::algebra::{Notation, prove};
/// let law = prove("(I - H psi K) H phi = H psi")?;
/// let proof = law.proof.as_ref().expect("it is one of the laws");
/// assert!(proof.steps(Notation::Symbols).0.iter().any(|step| step.law == "K = E_φG"));
///
/// // τ̄ is a projection only where joints have no rotors.
/// let projection = prove("tau_bar^2 = tau_bar")?;
/// assert!(!projection.proof.as_ref().is_some_and(|proof| proof.rotors));
/// assert!(projection.counterexample.is_some_and(|robot| robot.rotors));
///
/// let wrong = prove("Mass = H psi M psi^* H^*")?;
/// assert!(wrong.proof.is_none() && wrong.counterexample.is_some());
/// # Ok::<(), linkwork::Error>(())
/// ```
pub fn prove(equation: &str) -> Result<Judgement> {
    let [left, right] = expression::equation(equation)?;
    let mut judgement = Judgement {
        proof: proof(&left.sum, &right.sum, true),
        left,
        right,
        tried: 0,
        failed: 0,
        counterexample: None,
    };
    if judgement.proof.is_none() {
        judgement.try_on_robots()?;
        let only_rotors = judgement.counterexample.as_ref().is_none_or(|c| c.rotors);
        if only_rotors {
            judgement.proof = proof(&judgement.left.sum, &judgement.right.sum, false);
        }
    }
    Ok(judgement)
}

/// A proof, if both sides have the same normal form, or an inverse is shown to be one.
fn proof(left: &Sum, right: &Sum, rotors: bool) -> Option<Proof> {
    let sides = [defined(left, &[]), defined(right, &[])];
    if let Some(proof) = meeting(sides.clone(), rotors) {
        return Some(proof);
    }
    // Where it takes what a and b are made of.
    let made = [of_velocities(&sides[0]), of_velocities(&sides[1])];
    if made != sides
        && let Some(proof) = meeting(made, rotors)
    {
        return Some(proof);
    }
    // X⁻¹ = Y where XY = I: all that is inverted is square.
    let one = |sum: &Sum| match &sum.terms[..] {
        [term] if term.scale == 1.0 => match &term.factors[..] {
            [Factor::Inverse(inner) | Factor::Augmented(inner)] => Some((**inner).clone()),
            _ => None,
        },
        _ => None,
    };
    let [left, right] = &sides;
    let tried = match (one(left), one(right)) {
        (Some(inner), _) => Some((inner, right)),
        (None, Some(inner)) => Some((inner, left)),
        (None, None) => None,
    };
    let found = tried.and_then(|(inner, other)| {
        let identity = Sum::identity(inner.range);
        meeting([inner.times(other), identity], rotors)
    });
    let found = found.or_else(|| {
        multipliers(&sides).into_iter().find_map(|(before, after)| {
            let times = |side: &Sum| {
                let side = before.as_ref().map_or_else(|| side.clone(), |z| z.times(side));
                after.as_ref().map_or_else(|| side.clone(), |z| side.times(z))
            };
            meeting(sides.clone().map(|side| times(&side)), rotors)
        })
    });
    Some(Proof {
        instead: true,
        ..found?
    })
}

/// Operators with an inverse, by which both sides may be multiplied before and after: what is inverted at either end of
/// them, 𝓜, and its factors.
fn multipliers(sides: &[Sum; 2]) -> Vec<(Option<Sum>, Option<Sum>)> {
    let mut found = Vec::new();
    let ends = |last: bool| {
        let of = |term: &super::sum::Term| {
            let factor = if last {
                term.factors.last()
            } else {
                term.factors.first()
            };
            match factor {
                Some(Factor::Inverse(inner) | Factor::Augmented(inner)) => Some((**inner).clone()),
                _ => None,
            }
        };
        sides.iter().flat_map(|side| &side.terms).find_map(of)
    };
    found.extend(ends(false).map(|z| (Some(z), None)));
    found.extend(ends(true).map(|z| (None, Some(z))));
    let inverted = |op: Op| matches!(op, Op::MassInv | Op::N | Op::DInv);
    if sides.iter().any(|side| side.has_op(inverted)) {
        for z in [made_of("Mass"), made_of("F D F*")] {
            let [before, after] = [sides[0].range, sides[0].domain].map(|s| (s == Space::Joint).then(|| z.clone()));
            if before.is_some() || after.is_some() {
                found.push((before, after));
            }
        }
    }
    found
}

/// With a = crm(V)H*q̇ + a₀ and b = crf(V)MV put in: nothing pushes from outside.
fn of_velocities(sum: &Sum) -> Sum {
    let vector = |name: &str, space: Space| {
        let name = name.into();
        Sum::of(Factor::Vector(Vector { name, space }, false))
    };
    let hinge = made_of("H*").times(&vector("qd", Space::Joint));
    let velocity = made_of("φ*").times(&hinge);
    put_in(sum, &|name| match name {
        "a" => Some(by(By::Crm, &velocity).times(&hinge).plus(&vector("a0", Space::Motion))),
        "b" => Some(by(By::Crf, &velocity).times(&made_of("M").times(&velocity))),
        _ => None,
    })
}

/// The shortest chains to a form that both sides have.
fn meeting(shown: [Sum; 2], rotors: bool) -> Option<Proof> {
    let starts = shown
        .clone()
        .map(|sum| normal::opened(&super::rewrite::kept(sum, rotors)));
    // What is the same by definition needs no further step.
    if starts[0] == starts[1] {
        return Some(Proof {
            rotors,
            shown,
            instead: false,
            left: Vec::new(),
            right: Vec::new(),
            lemmas: Vec::new(),
        });
    }
    let composite = shown.iter().any(|side| side.has_op(|op| op == Op::Composite));
    let mut left = normal::forms(&shown[0], rotors, composite)?;
    let mut right = normal::forms(&shown[1], rotors, composite)?;
    let at = |start: &Sum, forms: &[Form], i: usize| match i.checked_sub(1) {
        None => start.clone(),
        Some(i) => forms[i].sum.clone(),
    };
    if at(&starts[0], &left, left.len()) != at(&starts[1], &right, right.len()) {
        return None;
    }
    let pairs = (0..=left.len()).flat_map(|i| (0..=right.len()).map(move |j| (i, j)));
    let met = pairs.filter(|&(i, j)| at(&starts[0], &left, i) == at(&starts[1], &right, j));
    let (i, j) = met.min_by_key(|(i, j)| i + j)?;
    left.truncate(i);
    right.truncate(j);
    let mut lemmas: Vec<(String, Proof)> = Vec::new();
    for form in left.iter().chain(&right) {
        let Reason::Axiom(axiom) = form.reason else { continue };
        let Some((a, b)) = axiom.lemma else { continue };
        let name = axiom.name.to_owned();
        if lemmas.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let [a, b] = expression::equation(&format!("{a} = {b}")).ok()?;
        lemmas.push((name, meeting([a.sum, b.sum], rotors)?));
    }
    Some(Proof {
        rotors,
        shown,
        instead: false,
        left,
        right,
        lemmas,
    })
}

impl Judgement {
    /// Whether it is proved for every robot.
    pub fn is_proved(&self) -> bool {
        self.proof.as_ref().is_some_and(|proof| proof.rotors)
    }

    /// In a few words.
    pub fn verdict(&self) -> String {
        match (&self.proof, &self.counterexample) {
            (Some(proof), None) if proof.rotors => "proved".to_owned(),
            (Some(_), None) => format!(
                "proved where there are no rotors; with rotors true on {} random robots, no proof found",
                self.tried
            ),
            (Some(_), Some(_)) => format!(
                "proved where there are no rotors; with rotors false, on {} of {} random robots",
                self.failed, self.tried
            ),
            (None, Some(_)) => format!("false: on {} of {} random robots", self.failed, self.tried),
            (None, None) => format!("true on {} random robots, no proof found", self.tried),
        }
    }

    /// Evaluates both sides by their definitions on random robots.
    fn try_on_robots(&mut self) -> Result<()> {
        let of_constraints = |sum: &Sum| sum.has_op(|op| matches!(op, Op::Bc | Op::Jc));
        if of_constraints(&self.left.sum) || of_constraints(&self.right.sum) {
            return Err(Error::Binding {
                name: "Jc".to_owned(),
                problem: "no proof was found, and random robots have no constraints to try it on; \
                          write it for frames, as in J[left] - J[right]"
                    .to_owned(),
            });
        }
        let mut named = self.left.frames();
        named.extend(
            self.right
                .frames()
                .into_iter()
                .filter(|f| !self.left.frames().contains(f)),
        );
        let mut last = None;
        let long = [&self.left, &self.right].map(|side| defined(&side.sum, &[]).size());
        let robots = (BUDGET / (long[0] + long[1]).max(1)).clamp(FEWEST, ROBOTS);
        for number in 0..4 * robots as u64 {
            if self.tried == robots {
                return Ok(());
            }
            let rotors = number % 2 == 1;
            let trial = robots::trial(number, &named, rotors)?;
            // Some inverses exist on some robots only: arms that are too short have no Λ.
            match self.differ(&trial) {
                Ok(None) => self.tried += 1,
                Ok(Some(found)) => {
                    (self.tried, self.failed) = (self.tried + 1, self.failed + 1);
                    let better = |known: &Counterexample| known.rotors && !rotors;
                    if self.counterexample.as_ref().is_none_or(better) {
                        self.counterexample = Some(Counterexample { rotors, ..found });
                    }
                }
                Err(problem) => last = Some(problem),
            }
        }
        match (self.tried, last) {
            (0, Some(problem)) => Err(problem),
            _ => Ok(()),
        }
    }

    /// Where the sides differ by more than rounding.
    fn differ(&self, trial: &robots::Trial) -> Result<Option<Counterexample>> {
        let dense = Dense::new(&trial.mechanism, &trial.q, &trial.qd, &trial.frames)?;
        let mut from = Generator::new(trial.q.len() as u64);
        let mut given: Vec<(String, Vec<f64>)> = Vec::new();
        let known = ["qd", "V", "C", "g", "a", "a0", "b", LOG_DET, LOG_DET_GRADIENT];
        for (name, space) in self.left.vectors().into_iter().chain(self.right.vectors()) {
            if !known.contains(&&name[..]) && given.iter().all(|(g, _)| *g != name) {
                let numbers = match space.side() {
                    Some(side) => robots::weight(&mut from, dense.size(side)),
                    None => robots::numbers(&mut from, dense.size(space)),
                };
                given.push((name, numbers));
            }
        }
        let given: Vec<(&str, &[f64])> = given.iter().map(|(name, x)| (&name[..], &x[..])).collect();
        let [a, b] = [&self.left, &self.right].map(|side| dense.evaluate(side, &given));
        let (a, b) = (a?, b?);
        if a.data.iter().chain(&b.data).any(|x| !x.is_finite()) {
            return Err(Error::Binding {
                name: self.left.to_string(),
                problem: "it is not finite on random robots".to_owned(),
            });
        }
        let bound = |side: &Expression| size(&dense, &defined(&side.sum, &[]), &given);
        let rounding = ROUNDING * (bound(&self.left)? + bound(&self.right)?);
        let differences = a.data.iter().zip(&b.data).map(|(a, b)| (a - b).abs());
        let worst = differences.enumerate().max_by(|x, y| x.1.total_cmp(&y.1));
        let Some((i, _)) = worst.filter(|(_, difference)| *difference > rounding) else {
            return Ok(None);
        };
        Ok(Some(Counterexample {
            mechanism: trial.mechanism.clone(),
            rotors: false,
            q: trial.q.clone(),
            qd: trial.qd.clone(),
            at: (i / a.columns, i % a.columns),
            left: a.data[i],
            right: b.data[i],
        }))
    }
}

/// What the terms of a sum would add up to without cancelling, by norms; with inverses, their condition.
fn size(dense: &Dense, sum: &Sum, given: &[(&str, &[f64])]) -> Result<f64> {
    let norm = |x: &super::dense_matrix::Matrix| x.data.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut total = 0.0;
    for term in &sum.terms {
        let mut product = term.scale.abs();
        for factor in &term.factors {
            product *= match factor {
                Factor::Sum(inner) => size(dense, inner, given)?,
                Factor::Inverse(inner) | Factor::Augmented(inner) | Factor::Pseudo(inner) => {
                    let inverse = norm(&dense.factor(factor, given)?);
                    (inverse * size(dense, inner, given)?).max(1.0) * inverse
                }
                Factor::Vector(..) => norm(&dense.factor(factor, given)?),
                _ => norm(&dense.factor(factor, given)?).max(1.0),
            };
        }
        total += product;
    }
    Ok(total)
}

impl Proof {
    /// What is shown: the equation itself, for an inverse that it times the other side is I, or both sides times something
    /// that has an inverse.
    pub fn shown(&self, notation: Notation) -> String {
        let [left, right] = &self.shown;
        format!("{} = {}", left.written(notation), right.written(notation))
    }

    /// Whether [`Proof::shown`] is another equation that says the same.
    pub fn is_of_inverse(&self) -> bool {
        self.instead
    }

    /// The steps from the left side, and those from the right side, to what both become.
    pub fn steps(&self, notation: Notation) -> (Vec<Step>, Vec<Step>) {
        let written = |forms: &[Form]| forms.iter().map(|form| step(form, self.rotors, notation)).collect();
        (written(&self.left), written(&self.right))
    }

    /// Laws on the way that are proved themselves, by name.
    pub fn lemmas(&self) -> impl Iterator<Item = (&str, &Proof)> {
        self.lemmas.iter().map(|(name, proof)| (&name[..], proof))
    }
}

fn step(form: &Form, rotors: bool, notation: Notation) -> Step {
    let (name, law, source) = match form.reason {
        Reason::Inverse => ("an inverse", "X inv(X) = I".to_owned(), "definition"),
        Reason::InverseOfSum => (
            "the inverse of a sum",
            "X inv(X + Y) = I - Y inv(X + Y)".to_owned(),
            "(X + Y) inv(X + Y) = I",
        ),
        Reason::Penrose => (
            "Penrose's equations",
            "X pinv(X) X = X, pinv(X) X pinv(X) = pinv(X), pinv(X) X X^* = X^*".to_owned(),
            "definition",
        ),
        Reason::Expanded => ("multiplied out", String::new(), ""),
        Reason::Axiom(axiom) => (axiom.name, axiom.law.written(rotors, notation), axiom.source),
        Reason::Rate(law) => (law.name, law.written(notation), law.source),
    };
    Step {
        name: name.to_owned(),
        law,
        source: source.to_owned(),
        becomes: form.sum.written(notation),
    }
}
