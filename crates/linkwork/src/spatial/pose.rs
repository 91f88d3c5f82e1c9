//! Rigid displacements.

use super::{Force, Motion, Rotation, Vec3};
use crate::scalar::Scalar;
use core::ops::Mul;

/// Where a frame is: its axes and its origin, seen from another frame. `a_to_b * b_to_c` is `a_to_c`.
///
/// ```
/// use linkwork::spatial::{Pose, Rotation, Vec3};
/// let up = Pose::from_translation([0.0, 0.0, 1.0]);
/// let turned = Pose::new(Rotation::about(Vec3::new(1.0, 0.0, 0.0), 0.3), [0.0, 0.0, 0.0]);
/// assert_eq!((up * turned).translation, Vec3::new(0.0, 0.0, 1.0));
/// ```
///
/// ```
/// use linkwork::spatial::{Pose, Rotation, Vec3};
/// let a = Pose::new(Rotation::from_rpy(0.0, 0.0, 0.5), [1.0, 0.0, 0.0]);
/// let p = a.point(Vec3::new(0.2, 0.0, 0.0)); // from the frame's coordinates to the outer ones
/// assert!((a.inverse().point(p) - Vec3::new(0.2, 0.0, 0.0)).norm() < 1e-14);
/// assert!((Pose::exp(a.log()).translation - a.translation).norm() < 1e-14);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(
        serialize = "S: serde::Serialize, Rotation<S>: serde::Serialize",
        deserialize = "S: serde::Deserialize<'de>, Rotation<S>: serde::Deserialize<'de>"
    ))
)]
#[must_use]
#[doc(alias = "SE3")]
#[doc(alias = "homogeneous transform")]
pub struct Pose<S = f64> {
    /// The frame's axes.
    pub rotation: Rotation<S>,
    /// The frame's origin.
    pub translation: Vec3<S>,
}

impl<S: Scalar> Default for Pose<S> {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose<f64> {
    /// The same constants as another scalar.
    #[inline(always)]
    pub fn lift<S: Scalar>(self) -> Pose<S> {
        Pose {
            rotation: self.rotation.lift(),
            translation: self.translation.lift(),
        }
    }
}

impl<S: Scalar> Pose<S> {
    /// The same frame.
    pub const IDENTITY: Self = Self {
        rotation: Rotation::IDENTITY,
        translation: Vec3::ZERO,
    };

    /// From axes and origin.
    #[inline]
    pub fn new(rotation: Rotation<S>, translation: impl Into<Vec3<S>>) -> Self {
        Self {
            rotation,
            translation: translation.into(),
        }
    }

    /// A shift without a turn.
    pub fn from_translation(translation: impl Into<Vec3<S>>) -> Self {
        Self::new(Rotation::IDENTITY, translation)
    }

    /// A turn without a shift.
    pub fn from_rotation(rotation: Rotation<S>) -> Self {
        Self::new(rotation, Vec3::ZERO)
    }

    /// The other frame seen from this one.
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self {
            rotation,
            translation: -(rotation * self.translation),
        }
    }

    /// A point of this frame, seen from the other.
    #[inline(always)]
    pub fn point(&self, p: Vec3<S>) -> Vec3<S> {
        self.rotation * p + self.translation
    }

    /// φ f: a force in this frame, seen from the other and taken about its origin.
    #[inline(always)]
    pub fn force_in(&self, f: Force<S>) -> Force<S> {
        let force = self.rotation * f.force;
        Force {
            moment: self.rotation * f.moment + self.translation.cross(force),
            force,
        }
    }

    /// φ* V: a motion in the other frame, seen from this one and taken at its origin.
    #[inline(always)]
    pub fn motion_out(&self, v: Motion<S>) -> Motion<S> {
        Motion {
            angular: self.rotation.inverse_mul(v.angular),
            linear: self.rotation.inverse_mul(v.linear + v.angular.cross(self.translation)),
        }
    }
}

impl<S: Scalar> Mul for Pose<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self {
            rotation: self.rotation * b.rotation,
            translation: self.point(b.translation),
        }
    }
}
