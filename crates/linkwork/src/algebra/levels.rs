//! The levels between an expression and its code, each as equations: the expression, its operator form, recursions of
//! whole operators, steps at a link, what happens across a joint, and coordinates. Code is the last.

use super::algorithm::Algorithm;
use super::coordinates;
use super::explain::{Told, in_latex, in_text};
use super::graph::{Core, Graph, Id, Node};
use super::notation::{Notation, vector};
use super::schedule::Sweep;
use super::steps::{self, Teller};
use crate::model::{Joint, JointKind, Mechanism};
use crate::spatial::Vec3;

/// A level between an expression and its code, as in the founding paper's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What was typed.
    Expression,
    /// What the laws made of it.
    Operators,
    /// Recursions of whole operators, sweep by sweep.
    Recursions,
    /// What is done at a link.
    Links,
    /// What happens across each joint of a robot.
    Crossings,
    /// The same in coordinates: vectors of three numbers.
    Coordinates,
    /// Source code of a robot: see [`Expression::source_code`](super::Expression::source_code).
    Code,
}

impl Level {
    /// All, from the expression to the code.
    pub const ALL: [Self; 7] = [
        Self::Expression,
        Self::Operators,
        Self::Recursions,
        Self::Links,
        Self::Crossings,
        Self::Coordinates,
        Self::Code,
    ];

    /// By its number, from one.
    pub fn numbered(number: usize) -> Option<Self> {
        number.checked_sub(1).and_then(|i| Self::ALL.get(i)).copied()
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Expression => "expression",
            Self::Operators => "operator form",
            Self::Recursions => "spatial recursion",
            Self::Links => "steps at a link",
            Self::Crossings => "joint crossings",
            Self::Coordinates => "coordinates",
            Self::Code => "code",
        }
    }
}

impl Algorithm {
    /// One level of the way from the expression to code, as text or LaTeX. Joint crossings are those of a robot where one is
    /// given; code has its own function.
    ///
    /// ```
    /// use linkwork::algebra::{Expression, Level, Notation};
    /// let algorithm = "inv(Mass) T".parse::<Expression>()?.compile(false, &[]);
    /// let recursion = algorithm.level(Level::Recursions, None, Notation::Symbols);
    /// assert!(recursion.contains("z = ψ K T") && recursion.contains("ε = T − H z"));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn level(&self, level: Level, robot: Option<&Mechanism>, notation: Notation) -> String {
        let told = self.told_at(level, robot);
        match notation {
            Notation::Latex => in_latex(&told),
            _ => in_text(&told),
        }
    }

    pub(crate) fn told_at(&self, level: Level, robot: Option<&Mechanism>) -> Vec<Told> {
        match level {
            Level::Expression => vec![Told {
                heading: format!("the expression, {}", self.kind()),
                lines: self.equations(&self.expression),
            }],
            Level::Operators => {
                let law = |law: String| match law.split_once(" = ") {
                    Some((left, right)) => (left.to_owned(), right.to_owned()),
                    None => (law, String::new()),
                };
                vec![
                    Told {
                        heading: "rewritten".to_owned(),
                        lines: self.equations(&self.rewritten()),
                    },
                    Told {
                        heading: "by these laws".to_owned(),
                        lines: self.laws(Notation::Symbols).into_iter().map(law).collect(),
                    },
                ]
            }
            Level::Recursions => self.recursions(),
            Level::Links => steps::told(self),
            Level::Crossings => crossings(robot),
            Level::Coordinates => coordinates::told(self),
            Level::Code => Vec::new(),
        }
    }

    /// Results as equations.
    fn equations(&self, of: &super::Expression) -> Vec<(String, String)> {
        let each = of.names.iter().zip(of.sums());
        let line = |(name, sum): (&Option<String>, &super::sum::Sum)| {
            let name = name.as_deref().map_or("result", |n| vector(n, Notation::Symbols));
            (name.to_owned(), sum.written(Notation::Symbols))
        };
        each.map(line).collect()
    }

    /// Every sweep as recursions of whole operators.
    fn recursions(&self) -> Vec<Told> {
        let mut teller = Teller::new(&self.graph, &self.schedule, &self.expression.names);
        teller.at_links = false;
        self.in_order(&teller, sweep_of)
    }

    /// Every sweep as `sweep_of` tells it, with what stands before, between and after them; those without lines are left out.
    pub(super) fn in_order(
        &self,
        teller: &Teller<'_>,
        sweep_of: impl Fn(&Teller<'_>, usize, &Sweep, bool) -> Told,
    ) -> Vec<Told> {
        let mut all = Vec::new();
        if !self.schedule.before.is_empty() {
            all.push(teller.between("before", &self.schedule.before));
        }
        for (i, sweep) in self.schedule.sweeps.iter().enumerate() {
            let told = sweep_of(teller, i + 1, sweep, self.rotors);
            if !told.lines.is_empty() {
                all.push(told);
            }
            if !sweep.after.is_empty() {
                all.push(teller.between("then", &sweep.after));
            }
        }
        all
    }
}

/// One sweep, as whole operators.
pub(super) fn sweep_of(teller: &Teller<'_>, number: usize, sweep: &Sweep, rotors: bool) -> Told {
    let way = if sweep.inward {
        "inward, by causal operators"
    } else {
        "outward, by anticausal operators"
    };
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut line = |left: &str, right: String| lines.push((left.to_owned(), right));
    if sweep.riccati {
        line("P", "M + E_ψ P E_φ*".to_owned());
        line("D", format!("H P H*{}", if rotors { " + A" } else { "" }));
        line("G", "P H* D⁻¹".to_owned());
        line("K", "E_φ G".to_owned());
    }
    if sweep.upsilon {
        line("Υ", "H* D⁻¹ H + the diagonal of E_ψ* Υ E_ψ".to_owned());
    }
    for &id in &sweep.nodes {
        let Some(name) = teller.names[id].clone() else { continue };
        match &teller.graph.nodes[id] {
            Node::Core(core, t, x) => recursion(teller, id, *core, (*t, *x), &name, &mut line),
            Node::Joint(_) | Node::Link(_) => {}
            Node::Shift(true, x) => line(&name, format!("E_φ {}", steps::bracketed(&teller.text(*x)))),
            Node::Shift(false, x) => line(&name, format!("E_φ* {}", steps::bracketed(&teller.text(*x)))),
            Node::Coriolis(v, qd) => line(&name, format!("crm({}) H* {}", teller.text(*v), teller.text(*qd))),
            Node::Gyroscopic(v) => line(&name, format!("crf({0}) M {0}", teller.text(*v))),
            Node::BaseAcceleration => line(&name, "[0; −g], carried to the links on the world".to_owned()),
            Node::PRate(w) => line(
                &name,
                format!(
                    "E_ψ {name} E_ψ* + E_φ [crf(Δ) P⁺ − P⁺ crm(Δ)] E_φ*, Δ = H* {}",
                    teller.text(*w)
                ),
            ),
            Node::RateAdjoint(_) => line(&name, "the adjoint of w ↦ Ṗ[w]".to_owned()),
            _ => line(&name, teller.written_out(id)),
        }
    }
    Told {
        heading: format!("sweep {number}, {way}"),
        lines,
    }
}

/// The result of a recursion for the joints, by its name.
pub(super) fn joint_name(teller: &Teller<'_>, core: Id) -> Option<String> {
    let graph: &Graph = teller.graph;
    let joint = graph.nodes.iter().position(|n| *n == Node::Joint(core))?;
    teller.names[joint].clone()
}

fn recursion(
    teller: &Teller<'_>,
    id: Id,
    core: Core,
    (t, x): (Option<Id>, Option<Id>),
    name: &str,
    line: &mut impl FnMut(&str, String),
) {
    let joint = joint_name(teller, id);
    let (operator, through, felt, sign) = match core {
        Core::InPhi => ("φ", "K", "H", '+'),
        Core::InPsi => ("ψ", "K", "H", '−'),
        Core::OutPhi => ("φ*", "H*", "K*", '+'),
        Core::OutPsi => ("ψ*", "H*", "K*", '−'),
    };
    let mut inner = Vec::new();
    if let Some(x) = x {
        inner.push(teller.text(x));
    }
    if let Some(t) = t {
        inner.push(format!("{through} {}", steps::bracketed(&teller.text(t))));
    }
    line(name, format!("{operator} {}", steps::bracketed(&inner.join(" + "))));
    if let Some(joint) = joint {
        let first = t.map(|t| teller.text(t));
        let text = match (first, sign) {
            (Some(first), sign) => format!("{first} {sign} {felt} {name}"),
            (None, '+') => format!("{felt} {name}"),
            (None, _) => format!("−{felt} {name}"),
        };
        line(&joint, text);
    }
}

/// A number as it is read.
fn short(x: f64) -> String {
    let rounded = (x * 1e6).round() / 1e6;
    if rounded == 0.0 {
        "0".to_owned()
    } else {
        format!("{rounded}")
    }
}

fn triple(v: Vec3) -> String {
    format!("({}, {}, {})", short(v.x), short(v.y), short(v.z))
}

/// What happens across every joint: of a robot, or in general.
fn crossings(robot: Option<&Mechanism>) -> Vec<Told> {
    let line = |left: &str, right: &str| (left.to_owned(), right.to_owned());
    let mut all = vec![Told {
        heading: "across a joint: R(k) turns the link's axes into its parent's, l(k) leads from the parent's origin to the link's"
            .to_owned(),
        lines: vec![
            line("φ(p,k) [N; F]", "[R N + l × R F; R F]"),
            line("φ*(p,k) [ω; v]", "[Rᵀ ω; Rᵀ (v + ω × l)]"),
            line("φ(p,k) P⁺ φ*(p,k)", "the same on both sides: turned by R, then moved by l"),
            line("H*(k) x", "[h_ω x; h_v x], constant in the link's axes"),
        ],
    }];
    let Some(robot) = robot else { return all };
    for (joint, q, v) in robot.layout() {
        if v.is_empty() {
            continue;
        }
        all.push(crossing(joint, &q));
    }
    all
}

/// One joint of a robot, in the users' frames.
fn crossing(joint: &Joint, q: &core::ops::Range<usize>) -> Told {
    let line = |left: &str, right: String| (left.to_owned(), right);
    let at = |i: usize| format!("q[{}]", q.start + i);
    let rows = joint.origin.rotation.to_rows();
    let constant: Vec<String> = rows.iter().map(|row| row.map(short).join(" ")).collect();
    let constant = format!("[{}]", constant.join("; "));
    let origin = triple(joint.origin.translation);
    let unit = |axis: Vec3| triple(axis * (1.0 / axis.norm()));
    let (turn, shift, columns) = match &joint.kind {
        JointKind::Fixed => ("I".to_owned(), "0".to_owned(), "none".to_owned()),
        JointKind::Revolute { axis } | JointKind::Continuous { axis } => (
            format!("rot({}, {})", unit(*axis), at(0)),
            "0".to_owned(),
            format!("[{}; 0]", unit(*axis)),
        ),
        JointKind::Prismatic { axis } => (
            "I".to_owned(),
            format!("{} {}", at(0), unit(*axis)),
            format!("[0; {}]", unit(*axis)),
        ),
        JointKind::Helical { axis, pitch } => (
            format!("rot({}, {})", unit(*axis), at(0)),
            format!("{} {} {}", short(*pitch), at(0), unit(*axis)),
            format!("[{0}; {1} {0}]", unit(*axis), short(*pitch)),
        ),
        JointKind::Cylindrical { axis } => (
            format!("rot({}, {})", unit(*axis), at(0)),
            format!("{} {}", at(1), unit(*axis)),
            format!("[{0}; 0], [0; {0}]", unit(*axis)),
        ),
        JointKind::Universal { axes: [first, second] } => (
            format!("rot({}, {}) rot({}, {})", unit(*first), at(0), unit(*second), at(1)),
            "0".to_owned(),
            format!("two links: [{}; 0], then [{}; 0]", unit(*first), unit(*second)),
        ),
        JointKind::Planar => (
            format!("rot((0, 0, 1), {})", at(0)),
            format!("({}, {}, 0)", at(1), at(2)),
            "[(0, 0, 1); 0], [0; (1, 0, 0)], [0; (0, 1, 0)]".to_owned(),
        ),
        JointKind::Translation => (
            "I".to_owned(),
            format!("({}, {}, {})", at(0), at(1), at(2)),
            "[0; I]".to_owned(),
        ),
        JointKind::Spherical => (
            format!(
                "rot of the quaternion (x, y, z, w) = ({}, {}, {}, {})",
                at(0),
                at(1),
                at(2),
                at(3)
            ),
            "0".to_owned(),
            "[I; 0]".to_owned(),
        ),
        JointKind::Free => (
            format!(
                "rot of the quaternion (x, y, z, w) = ({}, {}, {}, {})",
                at(0),
                at(1),
                at(2),
                at(3)
            ),
            format!("({}, {}, {})", at(4), at(5), at(6)),
            "I(6)".to_owned(),
        ),
    };
    Told {
        heading: format!("{}: {} on {}", joint.name, joint.child, joint.parent),
        lines: vec![
            line("R", format!("{constant} {turn}")),
            line("l", format!("{origin} + {constant} {shift}")),
            line("H*", columns),
        ],
    }
}
