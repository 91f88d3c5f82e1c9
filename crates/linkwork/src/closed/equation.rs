//! The equations that constraints stand for, and their rows at a state.
//!
//! An equation is a function g of the poses of two frames that stays zero. Its derivative is ġ = F_a·V_a + F_b·V_b, with
//! velocities at the frames' origins in the world's axes: F_a and F_b are the forces that a multiplier of one exerts. Then
//! g̈ = F_a·V̇_a + F_b·V̇_b + bias. Equations of velocities alone have ġ and g̈, and no g.

use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Pose, Rotation, Vec3};

/// One equation of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Equation {
    /// A coordinate of the relative rotation vector, in the world's axes.
    Turn(usize),
    /// A coordinate of what is between the origins, in the world's axes.
    Shift(usize),
    /// A direction of b stays across one of a.
    Lean {
        /// In b.
        along: Vec3,
        /// In a.
        across: Vec3,
    },
    /// b's origin does not leave a's along a direction of a.
    Across(Vec3),
    /// The origins stay this far apart.
    Distance(f64),
    /// No relative angular velocity about a direction of b.
    TurnRate(Vec3),
    /// No velocity of b's origin, seen from a, along a direction of b.
    ShiftRate(Vec3),
    /// The lowest point of a ball or wheel does not move along a direction of the plane that it is on.
    Rolling {
        radius: f64,
        /// In b; none for a ball.
        axis: Option<Vec3>,
        /// In a.
        normal: Vec3,
        /// In a.
        along: Vec3,
        is_rate: bool,
    },
}

/// One row: the forces of a multiplier of one, ġ less what velocities give, and g̈ less what accelerations give.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row<S = f64> {
    pub(crate) a: Force<S>,
    pub(crate) b: Force<S>,
    pub(crate) drift: S,
    pub(crate) bias: S,
}

impl<S: Scalar> Row<S> {
    fn new(a: Force<S>, b: Force<S>) -> Self {
        let (drift, bias) = (S::ZERO, S::ZERO);
        Self { a, b, drift, bias }
    }

    fn opposite(f: Force<S>) -> Self {
        Self::new(-f, f)
    }

    /// A force on a point, at these places seen from the two frames.
    fn at(from_a: Vec3<S>, from_b: Vec3<S>, e: Vec3<S>) -> Self {
        Self::new(-Force::new(from_a.cross(e), e), Force::new(from_b.cross(e), e))
    }

    /// The force on one of the frames.
    pub(crate) fn on(&self, side: usize) -> Force<S> {
        if side == 0 { self.a } else { self.b }
    }

    /// The pairing with what the two frames do.
    pub(crate) fn of(&self, a: Motion<S>, b: Motion<S>) -> S {
        a.dot(self.a) + b.dot(self.b)
    }

    /// ġ at velocities of the frames.
    pub(crate) fn rate(&self, a: Motion<S>, b: Motion<S>) -> S {
        self.of(a, b) + self.drift
    }
}

pub(crate) fn unit<S: Scalar>(i: usize) -> Vec3<S> {
    let mut e = [S::ZERO; 3];
    e[i] = S::ONE;
    e.into()
}

/// Two directions across an axis, and the axis, each of length one.
pub(crate) fn across(axis: Vec3) -> [Vec3; 3] {
    let axis = axis * (1.0 / axis.norm());
    // Across the coordinate that it has least of.
    let size = axis.to_array().map(f64::abs);
    let least = (0..3).fold(0, |m, i| if size[i] < size[m] { i } else { m });
    let first = axis.cross(unit(least));
    let first = first * (1.0 / first.norm());
    [first, axis.cross(first), axis]
}

/// A frame: where it is and how it moves.
pub(crate) type Moved<'p, S> = (&'p Pose<S>, Motion<S>);

impl Equation {
    /// Whether it is about velocities alone.
    pub(crate) fn is_rate(&self) -> bool {
        match self {
            Self::TurnRate(_) | Self::ShiftRate(_) => true,
            Self::Rolling { is_rate, .. } => *is_rate,
            _ => false,
        }
    }

    /// Its row at two poses.
    pub(crate) fn row<S: Scalar>(&self, a: &Pose<S>, b: &Pose<S>) -> Row<S> {
        let p = b.translation - a.translation;
        match self {
            Self::Turn(i) => Row::opposite(Force::new(unit(*i), Vec3::ZERO)),
            Self::Shift(i) => Row::opposite(Force::new(Vec3::ZERO, unit(*i))),
            Self::Lean { along, across } => {
                let (n, e) = (b.rotation * along.lift(), a.rotation * across.lift());
                Row::opposite(Force::new(n.cross(e), Vec3::ZERO))
            }
            Self::Across(e) => Row::at(p, Vec3::ZERO, a.rotation * e.lift()),
            Self::Distance(_) => Row::opposite(Force::new(Vec3::ZERO, direction(p))),
            Self::TurnRate(e) => Row::opposite(Force::new(b.rotation * e.lift(), Vec3::ZERO)),
            Self::ShiftRate(e) => Row::at(p, Vec3::ZERO, b.rotation * e.lift()),
            Self::Rolling { along, .. } => {
                let (r, _) = self.lowest((a, Motion::ZERO), (b, Motion::ZERO));
                Row::at(p + r, r, a.rotation * along.lift())
            }
        }
    }

    /// g̈ of its row without accelerations.
    pub(crate) fn bias<S: Scalar>(&self, (a, va): Moved<'_, S>, (b, vb): Moved<'_, S>) -> S {
        let (wa, wb) = (va.angular, vb.angular);
        let (apart, rate) = (b.translation - a.translation, vb.linear - va.linear);
        match self {
            Self::Turn(_) | Self::Shift(_) => S::ZERO,
            Self::Lean { along, across } => {
                let (n, e) = (b.rotation * along.lift(), a.rotation * across.lift());
                (wb - wa).dot(wb.cross(n).cross(e) + n.cross(wa.cross(e)))
            }
            Self::Across(e) => {
                let turning = wa.cross(a.rotation * e.lift());
                S::lift(2.0) * turning.dot(rate) + apart.dot(wa.cross(turning))
            }
            Self::Distance(_) => {
                let along = direction(apart).dot(rate);
                let square = apart.dot(apart);
                let length = square.where_below(SHORT, S::ONE, square).sqrt();
                (rate.dot(rate) - along * along) * length.recip()
            }
            Self::TurnRate(e) => wb.cross(b.rotation * e.lift()).dot(wb - wa),
            Self::ShiftRate(e) => {
                let e = b.rotation * e.lift();
                wb.cross(e).dot(rate - wa.cross(apart)) - e.dot(wa.cross(rate))
            }
            Self::Rolling { along, .. } => {
                let (r, moves) = self.lowest((a, va), (b, vb));
                let e = a.rotation * along.lift();
                let slips = rate + wb.cross(r) - wa.cross(apart + r);
                wa.cross(e).dot(slips) + e.dot(wb.cross(moves) - wa.cross(rate + moves))
            }
        }
    }

    /// The lowest point of a rolling body seen from its centre, and how it moves.
    fn lowest<S: Scalar>(&self, (a, va): Moved<'_, S>, (b, vb): Moved<'_, S>) -> (Vec3<S>, Vec3<S>) {
        let Self::Rolling {
            radius, axis, normal, ..
        } = self
        else {
            return (Vec3::ZERO, Vec3::ZERO);
        };
        let n = a.rotation * normal.lift();
        let n_rate = va.angular.cross(n);
        let down = -S::lift(*radius);
        let Some(axis) = axis else {
            return (n * down, n_rate * down);
        };
        // What of the normal lies in the wheel's plane: s = n − (n·k)k.
        let k = b.rotation * axis.lift();
        let k_rate = vb.angular.cross(k);
        let (along, along_rate) = (n.dot(k), n_rate.dot(k) + n.dot(k_rate));
        let s = n - k * along;
        let s_rate = n_rate - k * along_rate - k_rate * along;
        let square = s.dot(s);
        let short = square.where_below(SHORT, S::ONE, square).sqrt().recip();
        let up = s * short;
        (up * down, (s_rate - up * up.dot(s_rate)) * short * down)
    }

    /// g at two poses; zero where it is about velocities alone.
    pub(crate) fn gap(&self, a: &Pose, b: &Pose) -> f64 {
        let p = b.translation - a.translation;
        match self {
            Self::Turn(i) => rotation_vector(&(b.rotation * a.rotation.inverse())).to_array()[*i],
            Self::Shift(i) => p.to_array()[*i],
            Self::Lean { along, across } => (b.rotation * *along).dot(a.rotation * *across),
            Self::Across(e) => p.dot(a.rotation * *e),
            Self::Distance(length) => p.norm() - length,
            Self::Rolling { along, is_rate, .. } if !is_rate => {
                let (r, _) = self.lowest((a, Motion::ZERO), (b, Motion::ZERO));
                (a.rotation * *along).dot(p + r)
            }
            _ => 0.0,
        }
    }

    /// How a coordinate of the relative rotation vector ρ changes as the two frames turn: e·(J_l⁻¹δω_b − J_r⁻¹δω_a) with
    /// J_l⁻¹ = I − ½ρ~ + cρ~² and J_r = J_l*. None of other equations.
    pub(crate) fn turn_changes(&self, a: &Pose, b: &Pose) -> Option<[Vec3; 2]> {
        let Self::Turn(i) = self else { return None };
        let rho = rotation_vector(&(b.rotation * a.rotation.inverse()));
        let (e, angle) = (unit::<f64>(*i), rho.norm());
        let c = match angle < 1e-3 {
            true => 1.0 / 12.0 + angle * angle / 720.0,
            false => (1.0 - 0.5 * angle / (0.5 * angle).tan()) / (angle * angle),
        };
        let (once, twice) = (rho.cross(e) * 0.5, rho.cross(rho.cross(e)) * c);
        Some([once - e - twice, e + once + twice])
    }

    /// Whether an axis that should be common to both frames points the wrong way: leans say across, not where to.
    pub(crate) fn is_reversed(&self, other: &Self, a: &Pose, b: &Pose) -> bool {
        match (self, other) {
            (Self::Lean { along, across: e }, Self::Lean { along: same, across: f }) if along == same => {
                let n = e.cross(*f);
                (b.rotation * *along).dot(a.rotation * n) * n.dot(*along) < 0.0
            }
            _ => false,
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

/// The rotation vector of a rotation, at most half a turn long.
fn rotation_vector(r: &Rotation) -> Vec3 {
    let [x, y, z, w] = r.to_quaternion();
    let v = Vec3::new(x, y, z);
    let sin = v.norm();
    // angle / sin(angle / 2), two at zero.
    v * if sin < 1e-8 { 2.0 } else { 2.0 * sin.atan2(w) / sin }
}
