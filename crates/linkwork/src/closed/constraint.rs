//! Constraints between two frames.

use super::equation::{Equation, across, unit};
use crate::spatial::Vec3;

/// What a constraint keeps two frames from doing.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConstraintKind {
    /// The frames coincide: six rows.
    Weld,
    /// Their origins coincide: three rows.
    Point,
    /// Their origins and an axis, given in both frames, coincide: five rows.
    Hinge {
        /// The axis, the same numbers in both frames.
        axis: Vec3,
    },
    /// Frame b slides along an axis of frame a without turning: five rows.
    Slider {
        /// The axis in frame a.
        axis: Vec3,
    },
    /// Their origins stay a distance apart: one row.
    Distance {
        /// The distance, more than zero.
        length: f64,
    },
    /// Any of the six relative directions, in the axes of frame a: a row for each that is held.
    ///
    /// Shifts hold coordinates of b's origin: one keeps it in a plane of a, two on a line. Two turns leave one axis common
    /// to both frames, as a hinge does; one turn about x keeps b's y across a's z (and so on around), as a universal joint
    /// does.
    Directions {
        /// The turns about x, y and z that are held.
        turns: [bool; 3],
        /// The shifts along x, y and z that are held.
        shifts: [bool; 3],
    },
    /// Velocities alone, in the axes of frame b: a row for each component of b's velocity against a that stays zero. No
    /// position is held: a blade that does not slip sideways is `shifts: [false, true, false]`.
    Rates {
        /// The angular velocities about x, y and z that are held.
        turns: [bool; 3],
        /// The velocities of b's origin along x, y and z that are held.
        shifts: [bool; 3],
    },
    /// A ball, or the rim of a thin wheel, rolls on a plane without slipping: three rows. The first keeps it on the plane;
    /// the others are velocities alone. Frame b is its centre; the plane goes through the origin of frame a.
    Rolling {
        /// The radius, more than zero.
        radius: f64,
        /// A wheel's axis in frame b; none for a ball.
        axis: Option<Vec3>,
        /// The plane's normal in frame a, towards the ball or wheel.
        normal: Vec3,
    },
}

impl ConstraintKind {
    /// How many equations it stands for.
    pub fn rows(&self) -> usize {
        match self {
            Self::Weld => 6,
            Self::Point | Self::Rolling { .. } => 3,
            Self::Hinge { .. } | Self::Slider { .. } => 5,
            Self::Distance { .. } => 1,
            Self::Directions { turns, shifts } | Self::Rates { turns, shifts } => {
                turns.iter().chain(shifts).filter(|held| **held).count()
            }
        }
    }

    /// What a row is about, for reports.
    pub(crate) fn row_name(&self, row: usize) -> &'static str {
        const TURN: [&str; 3] = ["turning about x", "turning about y", "turning about z"];
        const SHIFT: [&str; 3] = ["shifting along x", "shifting along y", "shifting along z"];
        const LEAN: [&str; 2] = ["leaning of the axis, first way", "leaning of the axis, second way"];
        const ACROSS: [&str; 2] = [
            "shifting across the axis, first way",
            "shifting across the axis, second way",
        ];
        match self {
            Self::Weld => [TURN, SHIFT][row / 3][row % 3],
            Self::Point => SHIFT[row],
            Self::Hinge { .. } if row < 3 => SHIFT[row],
            Self::Hinge { .. } => LEAN[row - 3],
            Self::Slider { .. } if row < 3 => TURN[row],
            Self::Slider { .. } => ACROSS[row - 3],
            Self::Distance { .. } => "the distance",
            Self::Directions { turns, shifts } | Self::Rates { turns, shifts } => {
                let all = TURN.iter().zip(turns).chain(SHIFT.iter().zip(shifts));
                all.filter(|(_, held)| **held).nth(row).map_or("", |(name, _)| name)
            }
            Self::Rolling { .. } => ["leaving the plane", "slipping, first way", "slipping, second way"][row],
        }
    }

    /// Its equations.
    pub(super) fn equations(&self) -> Vec<Equation> {
        let turns = (0..3).map(Equation::Turn);
        let shifts = (0..3).map(Equation::Shift);
        let chosen = |held: &[bool; 3]| {
            let held = *held;
            (0..3).filter(move |&i| held[i])
        };
        match self {
            Self::Weld => turns.chain(shifts).collect(),
            Self::Point => shifts.collect(),
            Self::Hinge { axis } => {
                let [first, second, along] = across(*axis);
                let lean = [first, second].map(|across| Equation::Lean { along, across });
                shifts.chain(lean).collect()
            }
            Self::Slider { axis } => {
                let [first, second, _] = across(*axis);
                turns.chain([first, second].map(Equation::Across)).collect()
            }
            Self::Distance { length } => vec![Equation::Distance(*length)],
            Self::Directions { turns: held, shifts } => {
                let next = |i: usize, n: usize| unit((i + n) % 3);
                let turned: Vec<Equation> = match held.iter().filter(|held| **held).count() {
                    3 => turns.collect(),
                    // The axis that is left is common to both.
                    2 => {
                        let free = held.iter().position(|held| !held).unwrap_or(0);
                        let along = next(free, 0);
                        // along × across = the axis of the turn: z × x = y, z × −y = x.
                        let lean = |i: usize| if (i + 1) % 3 == free { next(i, 2) } else { -next(i, 1) };
                        let lean = |i: usize| Equation::Lean { along, across: lean(i) };
                        chosen(held).map(lean).collect()
                    }
                    _ => {
                        let lean = |i: usize| Equation::Lean {
                            along: next(i, 1),
                            across: next(i, 2),
                        };
                        chosen(held).map(lean).collect()
                    }
                };
                let shifted = chosen(shifts).map(|i| Equation::Across(unit(i)));
                turned.into_iter().chain(shifted).collect()
            }
            Self::Rates { turns, shifts } => {
                let turned = chosen(turns).map(|i| Equation::TurnRate(unit(i)));
                turned
                    .chain(chosen(shifts).map(|i| Equation::ShiftRate(unit(i))))
                    .collect()
            }
            Self::Rolling { radius, axis, normal } => {
                let [first, second, normal] = across(*normal);
                let axis = axis.map(|axis| across(axis)[2]);
                let row = |(i, along)| Equation::Rolling {
                    radius: *radius,
                    axis,
                    normal,
                    along,
                    is_rate: i > 0,
                };
                [normal, first, second].into_iter().enumerate().map(row).collect()
            }
        }
    }
}

/// Whether a constraint pulls and pushes, or only one of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// An equality.
    #[default]
    Both,
    /// The distance, shift or turn may be larger: a floor, a stop.
    AtLeast,
    /// It may be smaller: a rope.
    AtMost,
}

impl Side {
    /// The sign of multipliers, and of gaps that are allowed; zero for equalities.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Self::Both => 0.0,
            Self::AtLeast => 1.0,
            Self::AtMost => -1.0,
        }
    }

    /// What of a gap is not allowed.
    pub(super) fn violation(self, gap: f64) -> f64 {
        match self {
            Self::Both => gap,
            Self::AtLeast => gap.min(0.0),
            Self::AtMost => gap.max(0.0),
        }
    }
}

/// A constraint between two frames: named frames, links, or `"world"`.
///
/// ```
/// use linkwork::closed::Constraint;
/// let grasp = Constraint::weld("grasp", "left_tool", "box_handle");
/// assert_eq!(grasp.kind.rows(), 6);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Constraint {
    /// Unique among constraints.
    pub name: String,
    /// What it keeps the frames from doing.
    pub kind: ConstraintKind,
    /// The first frame.
    pub a: String,
    /// The second frame.
    pub b: String,
    /// One-sided constraints have a single row; they touch where its gap is zero, and take plastic impacts.
    pub side: Side,
}

impl Constraint {
    /// A constraint of any kind.
    pub fn new(name: impl Into<String>, kind: ConstraintKind, a: impl Into<String>, b: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind,
            a: a.into(),
            b: b.into(),
            side: Side::Both,
        }
    }

    /// The same, that only keeps its distance, shift or turn from getting smaller.
    pub fn at_least(self) -> Self {
        let side = Side::AtLeast;
        Self { side, ..self }
    }

    /// The same, that only keeps it from getting larger.
    pub fn at_most(self) -> Self {
        let side = Side::AtMost;
        Self { side, ..self }
    }

    /// The frames coincide.
    pub fn weld(name: impl Into<String>, a: impl Into<String>, b: impl Into<String>) -> Self {
        Self::new(name, ConstraintKind::Weld, a, b)
    }

    /// Their origins coincide.
    pub fn point(name: impl Into<String>, a: impl Into<String>, b: impl Into<String>) -> Self {
        Self::new(name, ConstraintKind::Point, a, b)
    }

    /// Their origins and an axis of both coincide.
    pub fn hinge(name: impl Into<String>, a: impl Into<String>, b: impl Into<String>, axis: impl Into<Vec3>) -> Self {
        Self::new(name, ConstraintKind::Hinge { axis: axis.into() }, a, b)
    }

    /// Frame b slides along an axis of frame a.
    pub fn slider(name: impl Into<String>, a: impl Into<String>, b: impl Into<String>, axis: impl Into<Vec3>) -> Self {
        Self::new(name, ConstraintKind::Slider { axis: axis.into() }, a, b)
    }

    /// Their origins stay a distance apart.
    pub fn distance(name: impl Into<String>, a: impl Into<String>, b: impl Into<String>, length: f64) -> Self {
        Self::new(name, ConstraintKind::Distance { length }, a, b)
    }

    /// Any of the six relative directions, in the axes of frame a: see [`ConstraintKind::Directions`].
    pub fn directions(
        name: impl Into<String>,
        a: impl Into<String>,
        b: impl Into<String>,
        turns: [bool; 3],
        shifts: [bool; 3],
    ) -> Self {
        Self::new(name, ConstraintKind::Directions { turns, shifts }, a, b)
    }

    /// Any of the six relative velocities, in the axes of frame b: see [`ConstraintKind::Rates`].
    pub fn rates(
        name: impl Into<String>,
        a: impl Into<String>,
        b: impl Into<String>,
        turns: [bool; 3],
        shifts: [bool; 3],
    ) -> Self {
        Self::new(name, ConstraintKind::Rates { turns, shifts }, a, b)
    }

    /// Frame b is a skate or knife edge on a: its origin goes along its x, not along its y.
    pub fn skate(name: impl Into<String>, a: impl Into<String>, b: impl Into<String>) -> Self {
        Self::rates(name, a, b, [false; 3], [false, true, false])
    }

    /// A wheel with its centre and axis in frame b rolls on the plane z = 0 of frame a.
    pub fn wheel(
        name: impl Into<String>,
        a: impl Into<String>,
        b: impl Into<String>,
        axis: impl Into<Vec3>,
        radius: f64,
    ) -> Self {
        let (axis, normal) = (Some(axis.into()), unit(2));
        Self::new(name, ConstraintKind::Rolling { radius, axis, normal }, a, b)
    }

    /// A ball with its centre in frame b rolls on the plane z = 0 of frame a.
    pub fn ball(name: impl Into<String>, a: impl Into<String>, b: impl Into<String>, radius: f64) -> Self {
        let (axis, normal) = (None, unit(2));
        Self::new(name, ConstraintKind::Rolling { radius, axis, normal }, a, b)
    }
}
