//! A step followed through the levels: what each line between the expression and the code is a part of.
//!
//! A step is a vector or matrix of the recursions that has a name. From there on every level is written step by step, so
//! that the lines of each are known. Towards the expression a step is followed by the operators that it applies, and from
//! these by the laws that led to them; where it applies none that is written, by the steps that read it.

mod atoms;
mod lines;

use super::algorithm::Algorithm;
use super::emit::WrittenLine;
use super::levels::Level;
use super::notation::Notation;
use crate::Mechanism;
use atoms::{Atom, pieces};
pub(crate) use lines::Made;
use lines::Walk;

/// A vector or matrix of the recursions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedStep {
    /// As in the equations.
    pub name: String,
    /// The sweep that makes it, from one; none where it is made between sweeps.
    pub sweep: Option<usize>,
    /// Whether that sweep runs inward.
    pub inward: bool,
    /// The steps that it reads.
    pub reads: Vec<usize>,
}

/// Part of a line, and the steps that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What is written.
    pub text: String,
    /// Places in [`Followed::steps`].
    pub steps: Vec<usize>,
}

/// One line of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The left side of an equation; empty in code.
    pub left: String,
    /// The right side, piece by piece.
    pub right: Vec<Piece>,
    /// The steps that the whole line is a part of.
    pub steps: Vec<usize>,
    /// In code: the links at which it is computed, as places in [`link_space`](super::link_space).
    pub links: Vec<usize>,
}

/// Lines below a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePart {
    /// What they are.
    pub heading: String,
    /// The link whose joint they are about.
    pub link: Option<String>,
    /// In order.
    pub lines: Vec<Line>,
}

/// The levels between an expression and its code, and the steps that lead through them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// In the order in which they are made.
    pub steps: Vec<FollowedStep>,
    /// From the expression on.
    pub levels: Vec<(Level, Vec<LinePart>)>,
}

impl Algorithm {
    /// Every level as lines that are known by their steps. Code is what
    /// [`Expression::written_lines`](super::Expression::written_lines) gave for the same robot.
    ///
    /// ```
    /// use linkwork::algebra::{Expression, Language, Level};
    /// let arm = linkwork::model::examples::double_pendulum();
    /// let expression: Expression = "inv(Mass) (T - C)".parse()?;
    /// let code = expression.written_lines(&arm, &[], &[], Language::Rust)?;
    /// let followed = expression.compile(false, &[]).followed(&arm, &code);
    /// // D is followed from D⁻¹ of the operator form to the line that divides.
    /// let d = followed.steps.iter().position(|s| s.name == "D").unwrap();
    /// let lines = |level: Level| followed.levels[level as usize].1.iter().flat_map(|p| &p.lines);
    /// assert!(lines(Level::Operators).any(|l| l.right.iter().any(|p| p.text == "D⁻¹" && p.steps.contains(&d))));
    /// assert!(lines(Level::Links).any(|l| l.left == "D(k)" && l.steps == [d]));
    /// assert!(lines(Level::Code).any(|l| l.right[0].text.contains("1.0 / ") && l.steps.contains(&d)));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn followed(&self, robot: &Mechanism, code: &[WrittenLine]) -> Followed {
        let walk = Walk::new(self);
        let tracks = Tracks::new(self, &walk);
        let level = |level: Level| {
            let told = self.told_at(level, Some(robot));
            match level {
                Level::Expression => equations(told, |text| tracks.of_expression(text), &walk),
                Level::Operators => equations(told, |text| tracks.of_operators(text), &walk),
                Level::Recursions | Level::Links | Level::Coordinates => {
                    let made = walk.lines(level);
                    let mut made = made.into_iter();
                    parts(told, |_, _| made.next().map(|m| walk.places(&m)).unwrap_or_default())
                }
                Level::Crossings => crossings(robot, told, &walk),
                Level::Code => vec![in_code(code, &walk)],
            }
        };
        Followed {
            levels: Level::ALL.map(|l| (l, level(l))).to_vec(),
            steps: walk.told(),
        }
    }
}

/// Equations as they are told, each line with its steps.
fn parts(told: Vec<super::explain::Told>, mut steps: impl FnMut(&str, &str) -> Vec<usize>) -> Vec<LinePart> {
    let part = |told: super::explain::Told| LinePart {
        heading: told.heading,
        link: None,
        lines: told
            .lines
            .into_iter()
            .map(|(left, right)| Line {
                steps: steps(&left, &right),
                right: vec![Piece {
                    text: right,
                    steps: Vec::new(),
                }],
                left,
                links: Vec::new(),
            })
            .collect(),
    };
    told.into_iter().map(part).collect()
}

/// Equations of operators: each atom has its own steps, and what is defined the one that makes it.
fn equations(told: Vec<super::explain::Told>, split: impl Fn(&str) -> Vec<Piece>, walk: &Walk<'_>) -> Vec<LinePart> {
    let mut all = parts(told, |_, _| Vec::new());
    for line in all.iter_mut().flat_map(|part| &mut part.lines) {
        line.right = split(&line.right[0].text);
        line.steps = walk.result(&line.left).into_iter().collect();
    }
    all
}

/// What happens across joints: in general by what a step does there, and the joints of a robot.
fn crossings(robot: &Mechanism, told: Vec<super::explain::Told>, walk: &Walk<'_>) -> Vec<LinePart> {
    let mut all = parts(told, |left, _| match left {
        "φ(p,k) [N; F]" => walk.crossing(lines::Across::Forces),
        "φ*(p,k) [ω; v]" => walk.crossing(lines::Across::Motions),
        "φ(p,k) P⁺ φ*(p,k)" => walk.crossing(lines::Across::Inertias),
        "R" | "l" => walk.crossing(lines::Across::Any),
        _ => walk.crossing(lines::Across::Axes),
    });
    let moving = robot.layout().filter(|(_, _, v)| !v.is_empty());
    for (part, (joint, _, _)) in all.iter_mut().skip(1).zip(moving) {
        part.link = Some(joint.child.clone());
    }
    all
}

fn in_code(code: &[WrittenLine], walk: &Walk<'_>) -> LinePart {
    let line = |line: &WrittenLine| {
        let made: Vec<Made> = line.made.iter().map(|m| m.0).collect();
        let mut links: Vec<usize> = line.made.iter().filter_map(|m| m.1).collect();
        links.sort_unstable();
        links.dedup();
        Line {
            left: String::new(),
            right: vec![Piece {
                text: line.text.clone(),
                steps: Vec::new(),
            }],
            steps: walk.places(&made),
            links,
        }
    };
    LinePart {
        heading: String::new(),
        link: None,
        lines: code.iter().map(line).collect(),
    }
}

/// How steps are found again in the expression: by operators, and the laws that led to them.
struct Tracks<'a> {
    walk: &'a Walk<'a>,
    names: Vec<String>,
    /// The operators that each step applies, as far as they are written.
    applied: Vec<Vec<Atom>>,
    /// What the laws and definitions make of operators.
    laws: Vec<(Vec<Atom>, Vec<Atom>)>,
}

impl<'a> Tracks<'a> {
    fn new(algorithm: &Algorithm, walk: &'a Walk<'a>) -> Self {
        let names = atoms::names(algorithm);
        let of = |text: &str| atoms::atoms(text, &names);
        let rewritten = algorithm.rewritten();
        let written: Vec<Atom> = rewritten
            .sums()
            .flat_map(|s| of(&s.written(Notation::Symbols)))
            .collect();
        let mut laws: Vec<(Vec<Atom>, Vec<Atom>)> = algorithm
            .laws(Notation::Symbols)
            .iter()
            .filter_map(|law| law.split_once(" = "))
            .map(|(left, right)| (of(left), of(right)))
            .collect();
        for name in ["V", "C", "g"]
            .iter()
            .filter(|n| !algorithm.given.iter().any(|g| g == *n))
        {
            if let Some(sum) = super::algorithm::definition(name) {
                laws.push((of(name), of(&sum.written(Notation::Symbols))));
            }
        }
        Self {
            applied: walk.applied(&written, &names),
            walk,
            names,
            laws,
        }
    }

    /// The steps that apply one of these.
    fn steps(&self, atoms: &[Atom]) -> Vec<usize> {
        let found = |i: &usize| self.applied[*i].iter().any(|a| atoms.contains(a));
        (0..self.walk.len()).filter(found).collect()
    }

    fn of_operators(&self, text: &str) -> Vec<Piece> {
        pieces(text, &self.names, |atom| self.steps(core::slice::from_ref(atom)))
    }

    fn of_expression(&self, text: &str) -> Vec<Piece> {
        pieces(text, &self.names, |atom| self.steps(&self.led_to(atom)))
    }

    /// All that laws and definitions make of an operator.
    fn led_to(&self, atom: &Atom) -> Vec<Atom> {
        let mut all = vec![atom.clone()];
        let mut next = 0;
        while next < all.len() {
            let from = all[next].clone();
            let mut add = |atoms: &[Atom], adjoint: bool| {
                for atom in atoms {
                    let atom = if adjoint { atom.adjoint() } else { atom.clone() };
                    if !all.contains(&atom) {
                        all.push(atom);
                    }
                }
            };
            // The law of an operator is that of its adjoint.
            for (left, right) in &self.laws {
                if left.contains(&from) {
                    add(right, false);
                } else if left.contains(&from.adjoint()) {
                    add(right, true);
                }
            }
            next += 1;
        }
        all
    }
}
