//! Closed mechanisms: trees whose frames are tied to each other or to the world.
//!
//! The constraints g(q) = 0 have the Jacobian J, and their multipliers λ act through J*:
//!
//! ```text
//! 𝓜q̈ + C = T + J*λ        Jq̈ + J̇q̇ = 0        W = J𝓜⁻¹J* = (D^-½HψB)*(D^-½HψB)        Wλ = −(Jq̈_free + J̇q̇)
//! ```
//!
//! Forward dynamics of the tree, the rows of D^-½HψB and the accelerations that λ adds each take one sweep; only W is
//! dense, as large as there are constraints, and smaller blocks where they do not meet. 𝓜 and J are never formed.
//! Redundant constraints get the multipliers of least norm, and [`ConstraintReport`] names them.
//!
//! Rows may be about velocities alone (skates, wheels), and then have no part in projections of q; targets may move by
//! themselves, which adds to ġ and g̈; constraints may be one-sided, 0 ≤ g̈ ⟂ λ ≥ 0 where they touch; and all can be
//! switched on and off.
//!
//! ```
//! use linkwork::closed::{ClosedMechanism, Constraint};
//! use linkwork::model::{Joint, Link, Mechanism};
//! use linkwork::spatial::{Inertia, Pose};
//! // A four-bar: a chain of three rods, whose end is held to the ground.
//! let rod = |name: &str| Link::new(name, Inertia::point(1.0, [0.5, 0.0, 0.0]));
//! let hinge = |name: &str| Joint::revolute(name, [0.0, 0.0, 1.0]);
//! let chain = Mechanism::builder("four-bar")
//!     .gravity([0.0, -9.81, 0.0])
//!     .link(rod("crank")).link(rod("coupler")).link(rod("rocker"))
//!     .joint(hinge("a").between("world", "crank"))
//!     .joint(hinge("b").between("crank", "coupler").at([1.0, 0.0, 0.0]))
//!     .joint(hinge("c").between("coupler", "rocker").at([1.5, 0.0, 0.0]))
//!     .frame("end", "rocker", Pose::from_translation([1.0, 0.0, 0.0]))
//!     .frame("ground", "world", Pose::from_translation([1.6, 0.0, 0.0]))
//!     .build()?;
//! let loop_ = ClosedMechanism::new(chain, vec![Constraint::point("loop", "end", "ground")])?;
//! let q = loop_.assemble(&[1.0, -0.5, -2.0])?;
//! let mut workspace = loop_.workspace();
//! let mut posed = workspace.at(&q)?;
//! assert!(posed.closure() < 1e-12);
//! let report = posed.report()?;
//! assert_eq!((report.rank, report.freedom), (2, 1)); // nothing leaves the plane: one row of three is redundant
//! let mut qdd = [0.0; 3];
//! posed.moving(&[0.0; 3])?.forward_dynamics(&[0.0; 3], &mut qdd)?;
//! # Ok::<(), linkwork::Error>(())
//! ```

mod assembly;
mod constraint;
mod equation;
mod linear;
mod motion;
mod moving;
mod multipliers;
mod plan;
mod posed;
mod report;
mod switching;
mod system;

pub use constraint::{Constraint, ConstraintKind, Side};
pub use linear::ClosedLinearization;
pub use motion::ClosedMotion;
pub use moving::{ClosedMoving, Multipliers};
pub use posed::{ClosedPosed, ClosedWorkspace};
pub use report::{ConstraintReport, Redundant};
pub use switching::{ConstraintTarget, Transition};

use crate::model::Mechanism;
use crate::spatial::Vec3;
use crate::{Error, Result};
pub(crate) use equation::Row;
pub(crate) use plan::Tie;
pub(crate) use switching::Setting;

use equation::Equation;
use plan::{MOST_ROWS, Plan};
use std::collections::HashMap;
use std::sync::Arc;
use switching::check_side;

/// How the drift of an integrated closed mechanism is met.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Stabilisation {
    /// Accelerations are exactly those of the equations of motion; [`ClosedMotion`] brings states back onto the
    /// constraints.
    Projection,
    /// Baumgarte's: g̈ + 2ζωġ + ω²g = 0. It bends accelerations wherever the loops are not closed.
    Baumgarte {
        /// ω, in rad/s; at most about 1 / time step.
        frequency: f64,
        /// ζ: 1 is critical.
        damping: f64,
    },
}

impl Stabilisation {
    /// Critically damped.
    pub fn critical(frequency: f64) -> Self {
        let damping = 1.0;
        Self::Baumgarte { frequency, damping }
    }
}

/// A tree and the constraints that close it: checked, planned and never changed. Clones share all that is large.
///
/// ```
/// use linkwork::closed::{ClosedMechanism, Constraint};
/// use linkwork::spatial::Pose;
/// let arm = linkwork::model::examples::arm7();
/// let q = [0.3, 0.6, 0.2, -1.0, 0.3, 0.5, 0.1];
/// let hand = arm.workspace().at(&q)?.pose(arm.frame("flange")?)?;
/// // Hold the hand where it is, free to turn:
/// let arm = arm.to_builder().frame("hook", "world", Pose::from_translation(hand.translation)).build()?;
/// let held = ClosedMechanism::new(arm, vec![Constraint::point("held", "flange", "hook")])?;
/// assert_eq!(held.workspace().at(&q)?.report()?.freedom, 4);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "loop closure")]
#[doc(alias = "constraint dynamics")]
pub struct ClosedMechanism {
    mechanism: Mechanism,
    constraints: Arc<[Constraint]>,
    ties: Arc<[Tie]>,
    plan: Arc<Plan>,
    settings: Arc<Vec<Setting>>,
    stabilisation: Stabilisation,
}

impl ClosedMechanism {
    /// Closes a tree. Refused are constraints between frames that no joint moves against each other, frames that do not
    /// exist, names given twice, axes without direction, distances of zero, and one-sided ones of several rows.
    pub fn new(mechanism: Mechanism, constraints: Vec<Constraint>) -> Result<Self> {
        let mut ties = Vec::with_capacity(constraints.len());
        let mut names = HashMap::new();
        let mut rows = 0;
        for given in &constraints {
            check(&mechanism, given)?;
            if names.insert(given.name.as_str(), ()).is_some() {
                return Err(bad(given, "another constraint has its name; give it one of its own"));
            }
            let frames = [mechanism.frame(&given.a)?, mechanism.frame(&given.b)?];
            let [a, b] = frames.map(|f| mechanism.placed[f.index()].body);
            if a == b {
                let problem = format!(
                    "`{}` and `{}` are on the same rigid body, so that nothing can move between them; tie two bodies, or one and `world`",
                    given.a, given.b
                );
                return Err(bad(given, problem));
            }
            let equations = given.kind.equations();
            check_side(given.side, &equations).map_err(|problem| bad(given, problem))?;
            ties.push(Tie {
                kind: given.kind,
                equations,
                side: given.side,
                frames,
                rows: rows..rows + given.kind.rows(),
            });
            rows += given.kind.rows();
        }
        let plan = Plan::new(&mechanism, &ties).map_err(|(first, rows)| too_many(&constraints[first], rows))?;
        let on = Setting { on: true, target: None };
        Ok(Self {
            mechanism,
            settings: Arc::new(vec![on; constraints.len()]),
            constraints: constraints.into(),
            ties: ties.into(),
            plan: Arc::new(plan),
            stabilisation: Stabilisation::Projection,
        })
    }

    /// The same with another stabilisation.
    pub fn stabilised(mut self, stabilisation: Stabilisation) -> Result<Self> {
        if let Stabilisation::Baumgarte { frequency, damping } = stabilisation {
            for (argument, value) in [("the frequency", frequency), ("the damping", damping)] {
                if !(value >= 0.0 && value.is_finite()) {
                    return Err(Error::Negative { argument, value });
                }
            }
        }
        self.stabilisation = stabilisation;
        Ok(self)
    }

    /// The tree.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// The constraints as given.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// How many equations all constraints stand for.
    pub fn rows(&self) -> usize {
        self.plan.rows
    }

    /// How many equations share degrees of freedom at most, and so are solved together: their matrix is dense, its memory
    /// grows with their square and the time of a step with their cube. More than 4,096 are refused when the mechanism is closed.
    pub fn rows_together(&self) -> usize {
        self.plan.groups.iter().map(|group| group.rows.len()).max().unwrap_or(0)
    }

    /// The equations of all rows.
    fn equations(&self) -> impl Iterator<Item = &Equation> {
        self.ties.iter().flat_map(|tie| &tie.equations)
    }

    /// The constraints that are switched on, their rows numbered without the others'.
    pub(crate) fn active_ties(&self) -> Vec<Tie> {
        let mut rows = 0;
        let on = self.ties.iter().zip(&*self.settings).filter(|(_, setting)| setting.on);
        on.map(|(tie, _)| {
            let start = rows;
            rows += tie.rows.len();
            Tie {
                rows: start..rows,
                ..tie.clone()
            }
        })
        .collect()
    }

    /// The constraints that are switched on, with their places and how they stand.
    pub(crate) fn held(&self) -> impl Iterator<Item = (usize, &Tie, &Setting)> {
        let all = self.ties.iter().zip(&*self.settings).enumerate();
        all.filter(|(_, (_, setting))| setting.on)
            .map(|(i, (tie, setting))| (i, tie, setting))
    }

    /// Where a constraint's rows are among all.
    fn tie(&self, name: &str) -> Result<usize> {
        let found = self.constraints.iter().position(|c| c.name == name);
        found.ok_or_else(|| Error::Unknown {
            what: "constraint",
            name: name.to_owned(),
            mechanism: self.mechanism.name().to_owned(),
            hint: self
                .mechanism
                .suggest(name, self.constraints.iter().map(|c| c.name.as_str())),
        })
    }
}

fn bad(constraint: &Constraint, problem: impl Into<String>) -> Error {
    Error::Constraint {
        constraint: constraint.name.clone(),
        problem: problem.into(),
    }
}

/// More rows than can be solved together.
fn too_many(constraint: &Constraint, rows: usize) -> Error {
    let problem = format!(
        "it and those that hold the same links are {rows} equations to be solved together, and {MOST_ROWS} is the most; \
         leave out some, or close short loops by couplings"
    );
    bad(constraint, problem)
}

/// What is wrong with a constraint by itself.
fn check(mechanism: &Mechanism, given: &Constraint) -> Result<()> {
    for frame in [&given.a, &given.b] {
        if let Err(problem) = mechanism.frame(frame) {
            return Err(bad(given, problem.to_string()));
        }
    }
    let has_direction = |what: &str, axis: Vec3| {
        let norm = axis.norm();
        if norm > 1e-9 && norm < 1e30 {
            return Ok(());
        }
        let problem = format!(
            "its {what} {:?} has no direction; give one, such as [0.0, 0.0, 1.0]",
            axis.to_array()
        );
        Err(bad(given, problem))
    };
    match given.kind {
        ConstraintKind::Hinge { axis } | ConstraintKind::Slider { axis } => has_direction("axis", axis)?,
        ConstraintKind::Rolling { radius, axis, normal } => {
            has_direction("normal", normal)?;
            axis.map_or(Ok(()), |axis| has_direction("axis", axis))?;
            if !(radius > 0.0 && radius < 1e30) {
                let problem = format!("its radius is {radius}; give more than zero");
                return Err(bad(given, problem));
            }
        }
        ConstraintKind::Distance { length } if !(length > 0.0 && length < 1e30) => {
            let problem = format!("its length is {length}; give more than zero, or tie the two points by `point`");
            return Err(bad(given, problem));
        }
        _ => {}
    }
    Ok(())
}
