//! Exponentials and logarithms of turns and of displacements, and the way between two of them.

use super::{Motion, Pose, Rotation, Vec3};
use crate::scalar::{Scalar, cos_sinc_sqrt};

impl<S: Scalar> Rotation<S> {
    /// The turn about w by as many radians as it is long.
    ///
    /// ```
    /// use linkwork::spatial::{Rotation, Vec3};
    /// let w = Vec3::new(0.3, -0.2, 0.5);
    /// assert!((Rotation::exp(w).log() - w).norm() < 1e-15);
    /// ```
    #[doc(alias = "exponential map")]
    pub fn exp(w: Vec3<S>) -> Self {
        let (cos, sinc) = cos_sinc_sqrt(w.dot(w) * S::lift(0.25));
        let v = w * (sinc * S::lift(0.5));
        Self::from_quaternion([v.x, v.y, v.z, cos])
    }
}

impl Rotation {
    /// Axis times angle, at most half a turn: the inverse of [`Rotation::exp`].
    #[doc(alias = "logarithm")]
    #[doc(alias = "axis angle")]
    pub fn log(&self) -> Vec3 {
        ShortTurn::of(self.to_quaternion()).vector
    }

    /// The rotation a part t of the shortest way to another.
    #[doc(alias = "slerp")]
    pub fn interpolate(&self, to: &Self, t: f64) -> Self {
        *self * Self::exp((self.inverse() * *to).log() * t)
    }
}

impl<S: Scalar> Pose<S> {
    /// Where the screw motion [ω; v], in the frame's own axes, takes a frame in unit time.
    ///
    /// ```
    /// use linkwork::spatial::{Motion, Pose, Vec3};
    /// let v = Motion::new(Vec3::new(0.3, -0.2, 0.5), Vec3::new(1.0, 2.0, -1.0));
    /// assert!((Pose::exp(v).log() - v).to_array().iter().all(|x| x.abs() < 1e-14));
    /// ```
    #[doc(alias = "exponential map")]
    pub fn exp(v: Motion<S>) -> Self {
        Self::new(Rotation::exp(v.angular), along_screw(v.angular, v.linear))
    }
}

impl Pose {
    /// The screw motion that leads here from the identity in unit time, turning by at most half a turn: the inverse of
    /// [`Pose::exp`].
    #[doc(alias = "logarithm")]
    pub fn log(&self) -> Motion {
        let turn = ShortTurn::of(self.rotation.to_quaternion());
        Motion::new(turn.vector, turn.velocity(self.translation))
    }

    /// The screw motion, in this frame's axes, that leads from here to a target in unit time: what an inverse-kinematics task
    /// or a pose controller has left to do.
    #[doc(alias = "pose error")]
    pub fn error(&self, target: &Self) -> Motion {
        (self.inverse() * *target).log()
    }

    /// The pose a part t of the screw that leads to another.
    pub fn interpolate(&self, to: &Self, t: f64) -> Self {
        *self * Self::exp(self.error(to) * t)
    }
}

/// A turn by at most half a circle.
pub(crate) struct ShortTurn {
    /// Axis times angle.
    pub(crate) vector: Vec3,
    /// (1 − θ/2 cot θ/2) / θ².
    rest: f64,
}

impl ShortTurn {
    /// The logarithm of a quaternion x, y, z, w of any length but zero.
    pub(crate) fn of([x, y, z, w]: [f64; 4]) -> Self {
        let vector = Vec3::new(x, y, z);
        // Both signs are the same rotation: w ≥ 0 is the short way.
        let sign = 1.0_f64.copysign(w);
        let (sin, cos) = (vector.norm(), w.abs());
        // θ = 2 atan2(‖v‖, w) is as exact near half a turn as near none.
        let angle = 2.0 * sin.atan2(cos);
        // The quotient θ/‖v‖ tends to 2/w.
        let quotient = if sin > 1e-150 { angle / sin } else { 2.0 / cos };
        Self {
            vector: vector * (sign * quotient),
            rest: cotangent_rest(angle, 0.5 * quotient * cos),
        }
    }

    /// The velocity of the screw that turns so and moves its origin by `moved`: the inverse of [`along_screw`].
    pub(crate) fn velocity(&self, moved: Vec3) -> Vec3 {
        let first = self.vector.cross(moved);
        moved - first * 0.5 + self.vector.cross(first) * self.rest
    }
}

/// (1 − θ/2 cot θ/2) / θ², given θ/2 cot θ/2.
fn cotangent_rest(angle: f64, cotangent: f64) -> f64 {
    const SMALL: f64 = 0.25;
    let x = angle * angle;
    if angle.abs() > SMALL {
        return (1.0 - cotangent) / x;
    }
    // 1/12 + θ²/720 + …: the first term left out is below 1e-16 of the sum.
    let terms = [
        12.0,
        720.0,
        30_240.0,
        1_209_600.0,
        47_900_160.0,
        1_307_674_368_000.0 / 691.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| sum * x + 1.0 / term)
}

/// Where the screw [ω; u] takes the origin in unit time: u + (1 − cos θ)/θ² ω × u + (θ − sin θ)/θ³ ω × (ω × u).
#[inline(always)]
pub(crate) fn along_screw<S: Scalar>(w: Vec3<S>, u: Vec3<S>) -> Vec3<S> {
    let square = w.dot(w);
    // With half the angle: sin θ/θ = cos · sinc and (1 − cos θ)/θ² = ½ sinc².
    let (cos, sinc) = cos_sinc_sqrt(square * S::lift(0.25));
    let first = w.cross(u);
    let second = w.cross(first);
    first.mul_add(
        sinc * sinc * S::lift(0.5),
        second.mul_add(sine_rest(square, cos * sinc), u),
    )
}

/// (1 − sin √x / √x) / x, given the sine's quotient: analytic at zero.
#[inline(always)]
fn sine_rest<S: Scalar>(x: S, sinc: S) -> S {
    const SMALL: f64 = 1.0;
    // 1/3! − x/5! + x²/7! …: the first term left out is below 1e-22 for x < 1.
    let series = SERIES
        .iter()
        .rev()
        .fold(S::ZERO, |sum, term| sum.mul_add(x, S::lift(*term)));
    let divisor = x.where_below(SMALL, S::ONE, x);
    x.where_below(SMALL, series, (S::ONE - sinc) * divisor.recip())
}

/// (−1)^k / (2k + 3)!
const SERIES: [f64; 10] = {
    let mut series = [0.0; 10];
    let mut term = 1.0 / 6.0;
    let mut k = 0;
    while k < 10 {
        series[k] = term;
        term /= -(((2 * k + 4) * (2 * k + 5)) as f64);
        k += 1;
    }
    series
};
