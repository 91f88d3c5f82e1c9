//! Rotations of three-space.

use super::Vec3;
use crate::scalar::Scalar;
use core::ops::Mul;

/// A rotation as its three columns: the axes of the turned frame seen from the other.
///
/// ```
/// use linkwork::spatial::{Rotation, Vec3};
/// let quarter = Rotation::about(Vec3::new(0.0, 0.0, 1.0), std::f64::consts::FRAC_PI_2);
/// let turned = quarter * Vec3::new(1.0, 0.0, 0.0);
/// assert!((turned - Vec3::new(0.0, 1.0, 0.0)).norm() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
#[doc(alias = "SO3")]
#[doc(alias = "quaternion")]
pub struct Rotation<S = f64> {
    /// The turned x axis.
    pub x: Vec3<S>,
    /// The turned y axis.
    pub y: Vec3<S>,
    /// The turned z axis.
    pub z: Vec3<S>,
}

impl<S: Scalar> Default for Rotation<S> {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Rotation<f64> {
    /// The same constants as another scalar.
    #[inline(always)]
    pub fn lift<S: Scalar>(self) -> Rotation<S> {
        Rotation {
            x: self.x.lift(),
            y: self.y.lift(),
            z: self.z.lift(),
        }
    }

    /// A turn by `angle` about an axis, which is normalised.
    pub fn about(axis: Vec3, angle: f64) -> Self {
        let half = 0.5 * angle;
        let v = axis * (half.sin() / axis.norm());
        Self::from_quaternion([v.x, v.y, v.z, half.cos()])
    }

    /// Roll about x, then pitch about y, then yaw about z, all fixed axes, as in URDF.
    pub fn from_rpy(roll: f64, pitch: f64, yaw: f64) -> Self {
        let (sr, cr) = roll.sin_cos();
        let (sp, cp) = pitch.sin_cos();
        let (sy, cy) = yaw.sin_cos();
        Self::from_rows([
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ])
    }

    /// The unit quaternion x, y, z, w with w ≥ 0.
    pub fn to_quaternion(&self) -> [f64; 4] {
        let [[xx, xy, xz], [yx, yy, yz], [zx, zy, zz]] = self.to_rows();
        // The largest of the four squares is at least ¼: divide by that one.
        let squares = [
            1.0 + xx - yy - zz,
            1.0 - xx + yy - zz,
            1.0 - xx - yy + zz,
            1.0 + xx + yy + zz,
        ];
        let largest = (0..4).fold(0, |m, i| if squares[i] > squares[m] { i } else { m });
        let q = match largest {
            0 => [squares[0], xy + yx, xz + zx, zy - yz],
            1 => [xy + yx, squares[1], yz + zy, xz - zx],
            2 => [xz + zx, yz + zy, squares[2], yx - xy],
            _ => [zy - yz, xz - zx, yx - xy, squares[3]],
        };
        let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt().copysign(q[3]);
        q.map(|x| x / norm)
    }

    /// How far the columns are from unit length and right angles, and the frame from right-handed.
    pub(crate) fn defect(&self) -> f64 {
        let gram = [
            self.x.dot(self.x) - 1.0,
            self.y.dot(self.y) - 1.0,
            self.z.dot(self.z) - 1.0,
            self.x.dot(self.y),
            self.y.dot(self.z),
            self.z.dot(self.x),
            self.x.cross(self.y).dot(self.z) - 1.0,
        ];
        gram.iter()
            .fold(0.0, |m: f64, e| if e.is_nan() { f64::INFINITY } else { m.max(e.abs()) })
    }
}

impl<S: Scalar> Rotation<S> {
    /// No turn.
    pub const IDENTITY: Self = Self {
        x: Vec3 {
            x: S::ONE,
            y: S::ZERO,
            z: S::ZERO,
        },
        y: Vec3 {
            x: S::ZERO,
            y: S::ONE,
            z: S::ZERO,
        },
        z: Vec3 {
            x: S::ZERO,
            y: S::ZERO,
            z: S::ONE,
        },
    };

    /// From rows, as matrices are written.
    #[inline]
    pub fn from_rows([a, b, c]: [[S; 3]; 3]) -> Self {
        Self {
            x: Vec3::new(a[0], b[0], c[0]),
            y: Vec3::new(a[1], b[1], c[1]),
            z: Vec3::new(a[2], b[2], c[2]),
        }
    }

    /// The rows of the matrix.
    #[inline]
    pub fn to_rows(&self) -> [[S; 3]; 3] {
        [
            [self.x.x, self.y.x, self.z.x],
            [self.x.y, self.y.y, self.z.y],
            [self.x.z, self.y.z, self.z.z],
        ]
    }

    /// From a unit quaternion x, y, z, w.
    #[inline(always)]
    pub fn from_quaternion([x, y, z, w]: [S; 4]) -> Self {
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, yy, zz) = (x * x2, y * y2, z * z2);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        Self {
            x: Vec3::new(S::ONE - (yy + zz), xy + wz, xz - wy),
            y: Vec3::new(xy - wz, S::ONE - (xx + zz), yz + wx),
            z: Vec3::new(xz + wy, yz - wx, S::ONE - (xx + yy)),
        }
    }

    /// The other way.
    #[inline]
    pub fn inverse(&self) -> Self {
        Self::from_rows([self.x.to_array(), self.y.to_array(), self.z.to_array()])
    }

    /// `R* v`: the vector seen from the turned frame.
    #[inline(always)]
    pub fn inverse_mul(&self, v: Vec3<S>) -> Vec3<S> {
        Vec3::new(self.x.dot(v), self.y.dot(v), self.z.dot(v))
    }
}

impl<S: Scalar> Mul<Vec3<S>> for Rotation<S> {
    type Output = Vec3<S>;
    #[inline(always)]
    fn mul(self, v: Vec3<S>) -> Vec3<S> {
        self.x.mul_add(v.x, self.y.mul_add(v.y, self.z * v.z))
    }
}

impl<S: Scalar> Mul for Rotation<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self {
            x: self * b.x,
            y: self * b.y,
            z: self * b.z,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quaternions_and_matrices_agree_in_every_octant() {
        for axis in [[1.0, 0.2, -0.3], [-0.1, 1.0, 0.4], [0.3, -0.2, 1.0], [-1.0, -1.0, 0.01]] {
            for angle in [1e-9, 0.5, 2.0, 3.1, -3.0, -1e-3] {
                let r = Rotation::about(axis.into(), angle);
                let back = Rotation::from_quaternion(r.to_quaternion());
                assert!((r.x - back.x).norm() + (r.y - back.y).norm() < 1e-14);
                assert!(r.defect() < 4e-15, "{}", r.defect());
                assert!(r.to_quaternion()[3] >= 0.0);
            }
        }
    }

    #[test]
    fn roll_pitch_yaw_turns_about_fixed_axes() {
        let axis = |x, y, z| Vec3::new(x, y, z);
        let expect = Rotation::about(axis(0., 0., 1.), 0.3)
            * Rotation::about(axis(0., 1., 0.), -0.7)
            * Rotation::about(axis(1., 0., 0.), 1.1);
        let r = Rotation::from_rpy(1.1, -0.7, 0.3);
        assert!((r.x - expect.x).norm() + (r.y - expect.y).norm() < 1e-15);
    }
}
