//! Constraints between two frames, and the rows that each stands for.
//!
//! A row is a function g of the two poses that must stay zero. Its derivative is ġ = F_a·V_a + F_b·V_b, with velocities
//! at the frames' origins in the world's axes: F_a and F_b are the forces that a multiplier of one exerts. Then
//! g̈ = F_a·V̇_a + F_b·V̇_b + bias.

use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Pose, Rotation, Vec3};

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
}

impl ConstraintKind {
    /// How many equations it stands for.
    pub fn rows(&self) -> usize {
        match self {
            Self::Weld => 6,
            Self::Point => 3,
            Self::Hinge { .. } | Self::Slider { .. } => 5,
            Self::Distance { .. } => 1,
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
pub struct Constraint {
    /// Unique among constraints.
    pub name: String,
    /// What it keeps the frames from doing.
    pub kind: ConstraintKind,
    /// The first frame.
    pub a: String,
    /// The second frame.
    pub b: String,
}

impl Constraint {
    /// A constraint of any kind.
    pub fn new(name: impl Into<String>, kind: ConstraintKind, a: impl Into<String>, b: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind,
            a: a.into(),
            b: b.into(),
        }
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
}

/// One row: the forces of a multiplier of one, and g̈ less what accelerations give.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row<S = f64> {
    pub(crate) a: Force<S>,
    pub(crate) b: Force<S>,
    pub(crate) bias: S,
}

impl<S: Scalar> Row<S> {
    fn opposite(f: Force<S>) -> Self {
        let bias = S::ZERO;
        Self { a: -f, b: f, bias }
    }

    /// The force on one of the frames.
    pub(crate) fn on(&self, side: usize) -> Force<S> {
        if side == 0 { self.a } else { self.b }
    }

    /// The pairing with what the two frames do.
    pub(crate) fn of(&self, a: Motion<S>, b: Motion<S>) -> S {
        a.dot(self.a) + b.dot(self.b)
    }
}

/// The axis of a kind as a frame of its own: two directions across it, then the axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis(pub(crate) [Vec3; 3]);

impl Basis {
    /// Directions across an axis; any for kinds that have none.
    pub(crate) fn new(kind: &ConstraintKind) -> Self {
        let axis = match kind {
            ConstraintKind::Hinge { axis } | ConstraintKind::Slider { axis } => *axis * (1.0 / axis.norm()),
            _ => unit(2),
        };
        // Across the coordinate that it has least of.
        let size = axis.to_array().map(f64::abs);
        let least = (0..3).fold(0, |m, i| if size[i] < size[m] { i } else { m });
        let first = axis.cross(unit(least));
        let first = first * (1.0 / first.norm());
        Self([first, axis.cross(first), axis])
    }
}

fn unit<S: Scalar>(i: usize) -> Vec3<S> {
    let mut e = [S::ZERO; 3];
    e[i] = S::ONE;
    e.into()
}

/// A constraint's rows at two poses.
pub(crate) fn place<S: Scalar>(kind: &ConstraintKind, basis: &Basis, a: &Pose<S>, b: &Pose<S>, rows: &mut [Row<S>]) {
    let p = b.translation - a.translation;
    let shift = |i: usize| Row::opposite(Force::new(Vec3::ZERO, unit(i)));
    let turn = |i: usize| Row::opposite(Force::new(unit(i), Vec3::ZERO));
    for (i, row) in rows.iter_mut().enumerate() {
        *row = match kind {
            ConstraintKind::Weld | ConstraintKind::Slider { .. } if i < 3 => turn(i),
            ConstraintKind::Weld => shift(i - 3),
            ConstraintKind::Point => shift(i),
            ConstraintKind::Hinge { .. } if i < 3 => shift(i),
            ConstraintKind::Hinge { .. } => {
                let (n, e) = (b.rotation * basis.0[2].lift(), a.rotation * basis.0[i - 3].lift());
                Row::opposite(Force::new(n.cross(e), Vec3::ZERO))
            }
            ConstraintKind::Slider { .. } => {
                let e = a.rotation * basis.0[i - 3].lift();
                Row {
                    a: -Force::new(p.cross(e), e),
                    b: Force::new(Vec3::ZERO, e),
                    bias: S::ZERO,
                }
            }
            ConstraintKind::Distance { .. } => Row::opposite(Force::new(Vec3::ZERO, direction(p))),
        };
    }
}

/// The rows' biases, from the velocities of the frames.
pub(crate) fn set_in_motion<S: Scalar>(
    kind: &ConstraintKind,
    basis: &Basis,
    (a, va): (&Pose<S>, Motion<S>),
    (b, vb): (&Pose<S>, Motion<S>),
    rows: &mut [Row<S>],
) {
    let (wa, wb) = (va.angular, vb.angular);
    let (apart, rate) = (b.translation - a.translation, vb.linear - va.linear);
    match kind {
        ConstraintKind::Weld | ConstraintKind::Point => {}
        ConstraintKind::Hinge { .. } => {
            let n = b.rotation * basis.0[2].lift();
            for (row, across) in rows[3..].iter_mut().zip(basis.0) {
                let e = a.rotation * across.lift();
                let turning = wb.cross(n).cross(e) + n.cross(wa.cross(e));
                row.bias = (wb - wa).dot(turning);
            }
        }
        ConstraintKind::Slider { .. } => {
            for (row, across) in rows[3..].iter_mut().zip(basis.0) {
                let turning = wa.cross(a.rotation * across.lift());
                row.bias = S::lift(2.0) * turning.dot(rate) + apart.dot(wa.cross(turning));
            }
        }
        ConstraintKind::Distance { .. } => {
            let along = direction(apart).dot(rate);
            let square = apart.dot(apart);
            let length = square.where_below(SHORT, S::ONE, square).sqrt();
            rows[0].bias = (rate.dot(rate) - along * along) * length.recip();
        }
    }
}

/// Below this square of a length there is no direction.
const SHORT: f64 = 1e-200;

/// The unit vector along another; x where there is none.
fn direction<S: Scalar>(p: Vec3<S>) -> Vec3<S> {
    let square = p.dot(p);
    let scale = square.where_below(SHORT, S::ONE, square).sqrt().recip();
    let x = square.where_below(SHORT, S::ONE, p.x);
    Vec3::new(x, p.y, p.z) * scale
}

/// g of every row, and how far the constraint is from closed as one number: the largest g, or π where an axis points the
/// wrong way.
pub(crate) fn gaps(kind: &ConstraintKind, basis: &Basis, a: &Pose, b: &Pose, gaps: &mut [f64]) -> f64 {
    let p = b.translation - a.translation;
    let turned = rotation_vector(&(b.rotation * a.rotation.inverse())).to_array();
    let n = b.rotation * basis.0[2];
    for (i, gap) in gaps.iter_mut().enumerate() {
        *gap = match kind {
            ConstraintKind::Weld | ConstraintKind::Slider { .. } if i < 3 => turned[i],
            ConstraintKind::Weld => p.to_array()[i - 3],
            ConstraintKind::Point => p.to_array()[i],
            ConstraintKind::Hinge { .. } if i < 3 => p.to_array()[i],
            ConstraintKind::Hinge { .. } => n.dot(a.rotation * basis.0[i - 3]),
            ConstraintKind::Slider { .. } => p.dot(a.rotation * basis.0[i - 3]),
            ConstraintKind::Distance { length } => p.norm() - length,
        };
    }
    let largest = gaps.iter().fold(0.0, |most: f64, gap| most.max(gap.abs()));
    match kind {
        ConstraintKind::Hinge { .. } if n.dot(a.rotation * basis.0[2]) < 0.0 => core::f64::consts::PI.max(largest),
        _ => largest,
    }
}

/// The rotation vector of a rotation, at most half a turn long.
fn rotation_vector(r: &Rotation) -> Vec3 {
    let [x, y, z, w] = r.to_quaternion();
    let v = Vec3::new(x, y, z);
    let sin = v.norm();
    // angle / sin(angle / 2), two at zero.
    v * if sin < 1e-8 { 2.0 } else { 2.0 * sin.atan2(w) / sin }
}
