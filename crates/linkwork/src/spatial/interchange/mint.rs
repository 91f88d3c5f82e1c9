//! The interchange types of mint, which most crates of graphics and mathematics convert to and from.

use crate::spatial::{Rotation, Vec3};
use mint::{ColumnMatrix3, IntoMint, Point3, Quaternion, Vector3};

impl From<Vec3> for Vector3<f64> {
    fn from(v: Vec3) -> Self {
        v.to_array().into()
    }
}

impl From<Vector3<f64>> for Vec3 {
    fn from(v: Vector3<f64>) -> Self {
        Self::new(v.x, v.y, v.z)
    }
}

impl IntoMint for Vec3 {
    type MintType = Vector3<f64>;
}

impl From<Vec3> for Point3<f64> {
    fn from(v: Vec3) -> Self {
        v.to_array().into()
    }
}

impl From<Point3<f64>> for Vec3 {
    fn from(p: Point3<f64>) -> Self {
        Self::new(p.x, p.y, p.z)
    }
}

impl From<Rotation> for Quaternion<f64> {
    fn from(r: Rotation) -> Self {
        let [x, y, z, s] = r.to_quaternion();
        Self {
            v: Vector3 { x, y, z },
            s,
        }
    }
}

/// The quaternion must have unit length.
impl From<Quaternion<f64>> for Rotation {
    fn from(q: Quaternion<f64>) -> Self {
        Self::from_quaternion([q.v.x, q.v.y, q.v.z, q.s])
    }
}

impl IntoMint for Rotation {
    type MintType = Quaternion<f64>;
}

impl From<Rotation> for ColumnMatrix3<f64> {
    fn from(r: Rotation) -> Self {
        Self {
            x: r.x.into(),
            y: r.y.into(),
            z: r.z.into(),
        }
    }
}
