//! Vectors of three numbers.

use crate::scalar::Scalar;
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A vector of three numbers.
///
/// ```
/// use linkwork::spatial::Vec3;
/// let (x, y) = (Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0));
/// assert_eq!(x.cross(y), Vec3::new(0.0, 0.0, 1.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Vec3<S = f64> {
    /// First component.
    pub x: S,
    /// Second component.
    pub y: S,
    /// Third component.
    pub z: S,
}

impl<S> From<[S; 3]> for Vec3<S> {
    fn from([x, y, z]: [S; 3]) -> Self {
        Self { x, y, z }
    }
}

impl<S> From<Vec3<S>> for [S; 3] {
    fn from(v: Vec3<S>) -> Self {
        [v.x, v.y, v.z]
    }
}

impl Vec3<f64> {
    /// The same constants as another scalar.
    #[inline]
    pub fn lift<S: Scalar>(self) -> Vec3<S> {
        Vec3::new(S::lift(self.x), S::lift(self.y), S::lift(self.z))
    }
}

impl<S: Scalar> Vec3<S> {
    /// Zero.
    pub const ZERO: Self = Self {
        x: S::ZERO,
        y: S::ZERO,
        z: S::ZERO,
    };

    /// A vector from its components.
    #[inline]
    pub fn new(x: S, y: S, z: S) -> Self {
        Self { x, y, z }
    }

    /// The inner product.
    #[inline]
    pub fn dot(self, b: Self) -> S {
        self.x.mul_add(b.x, self.y.mul_add(b.y, self.z * b.z))
    }

    /// The cross product ã b.
    #[inline(always)]
    pub fn cross(self, b: Self) -> Self {
        Self::new(
            self.y.mul_sub(b.z, self.z * b.y),
            self.z.mul_sub(b.x, self.x * b.z),
            self.x.mul_sub(b.y, self.y * b.x),
        )
    }

    /// The length.
    pub fn norm(self) -> S {
        self.dot(self).sqrt()
    }

    /// `self · s + b`.
    #[inline]
    pub fn mul_add(self, s: S, b: Self) -> Self {
        Self::new(self.x.mul_add(s, b.x), self.y.mul_add(s, b.y), self.z.mul_add(s, b.z))
    }

    /// The components in order.
    #[inline]
    pub fn to_array(self) -> [S; 3] {
        [self.x, self.y, self.z]
    }

    /// Whether every component is a number.
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }
}

impl<S: Scalar> Neg for Vec3<S> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

impl<S: Scalar> Add for Vec3<S> {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        Self::new(self.x + b.x, self.y + b.y, self.z + b.z)
    }
}

impl<S: Scalar> Sub for Vec3<S> {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        Self::new(self.x - b.x, self.y - b.y, self.z - b.z)
    }
}

impl<S: Scalar> Mul<S> for Vec3<S> {
    type Output = Self;
    #[inline]
    fn mul(self, s: S) -> Self {
        Self::new(self.x * s, self.y * s, self.z * s)
    }
}

impl<S: Scalar> AddAssign for Vec3<S> {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<S: Scalar> SubAssign for Vec3<S> {
    #[inline]
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}
