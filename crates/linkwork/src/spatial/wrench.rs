//! Motions and forces.

use super::Vec3;
use crate::scalar::Scalar;
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A spatial velocity or acceleration: [ω; v] of a frame's origin.
///
/// ```
/// use linkwork::spatial::{Force, Motion};
/// let v = Motion::new([0.0, 0.0, 2.0], [0.5, 0.0, 0.0]); // angular, then linear
/// let f = Force::new([0.0, 0.0, 3.0], [10.0, 0.0, 0.0]); // moment, then force
/// assert_eq!(v.dot(f), 11.0); // power
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[doc(alias = "twist")]
#[doc(alias = "screw")]
pub struct Motion<S = f64> {
    /// ω.
    pub angular: Vec3<S>,
    /// v.
    pub linear: Vec3<S>,
}

/// A spatial force or momentum: [N; F] about a frame's origin.
///
/// ```
/// use linkwork::spatial::Force;
/// let weight = Force::new([0.0; 3], [0.0, 0.0, -9.81]); // no moment about the origin
/// assert_eq!(weight.to_array(), [0.0, 0.0, 0.0, 0.0, 0.0, -9.81]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[doc(alias = "wrench")]
pub struct Force<S = f64> {
    /// N.
    pub moment: Vec3<S>,
    /// F.
    pub force: Vec3<S>,
}

impl<S: Scalar> Motion<S> {
    /// Power: the pairing of a motion and a force.
    #[inline(always)]
    pub fn dot(self, f: Force<S>) -> S {
        self.angular.dot(f.moment) + self.linear.dot(f.force)
    }

    /// The motion cross product crm(V) X.
    #[inline(always)]
    pub fn cross(self, x: Self) -> Self {
        Self {
            angular: self.angular.cross(x.angular),
            linear: self.linear.cross(x.angular) + self.angular.cross(x.linear),
        }
    }

    /// The force cross product crf(V) f.
    #[inline(always)]
    pub fn cross_force(self, f: Force<S>) -> Force<S> {
        Force {
            moment: self.angular.cross(f.moment) + self.linear.cross(f.force),
            force: self.angular.cross(f.force),
        }
    }
}

macro_rules! six_dimensional {
    ($name:ident, $a:ident, $b:ident) => {
        impl<S: Scalar> $name<S> {
            /// Zero.
            pub const ZERO: Self = Self {
                $a: Vec3::ZERO,
                $b: Vec3::ZERO,
            };

            /// From its two halves, angular first.
            #[inline]
            pub fn new($a: impl Into<Vec3<S>>, $b: impl Into<Vec3<S>>) -> Self {
                Self {
                    $a: $a.into(),
                    $b: $b.into(),
                }
            }

            /// The six numbers, angular first.
            #[inline]
            pub fn to_array(self) -> [S; 6] {
                let (a, b) = (self.$a, self.$b);
                [a.x, a.y, a.z, b.x, b.y, b.z]
            }

            /// From six numbers, angular first.
            #[inline]
            pub fn from_array(x: [S; 6]) -> Self {
                Self {
                    $a: Vec3::new(x[0], x[1], x[2]),
                    $b: Vec3::new(x[3], x[4], x[5]),
                }
            }

            /// `self · s + b`.
            #[inline(always)]
            pub fn mul_add(self, s: S, b: Self) -> Self {
                Self {
                    $a: self.$a.mul_add(s, b.$a),
                    $b: self.$b.mul_add(s, b.$b),
                }
            }
        }

        impl<S: Scalar> Neg for $name<S> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self {
                    $a: -self.$a,
                    $b: -self.$b,
                }
            }
        }

        impl<S: Scalar> Add for $name<S> {
            type Output = Self;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                Self {
                    $a: self.$a + o.$a,
                    $b: self.$b + o.$b,
                }
            }
        }

        impl<S: Scalar> Sub for $name<S> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                Self {
                    $a: self.$a - o.$a,
                    $b: self.$b - o.$b,
                }
            }
        }

        impl<S: Scalar> Mul<S> for $name<S> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, s: S) -> Self {
                Self {
                    $a: self.$a * s,
                    $b: self.$b * s,
                }
            }
        }

        impl<S: Scalar> AddAssign for $name<S> {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }

        impl<S: Scalar> SubAssign for $name<S> {
            #[inline(always)]
            fn sub_assign(&mut self, o: Self) {
                *self = *self - o;
            }
        }
    };
}

six_dimensional!(Motion, angular, linear);
six_dimensional!(Force, moment, force);
