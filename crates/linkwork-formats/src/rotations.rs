//! Turns that readers and writers need.

use linkwork::spatial::{Rotation, Vec3};

/// The shortest turn that brings z to an axis of any length; none for an axis without one.
pub(crate) fn facing(axis: Vec3) -> Rotation {
    let norm = axis.norm();
    if norm == 0.0 || !norm.is_finite() {
        return Rotation::IDENTITY;
    }
    let axis = axis * (1.0 / norm);
    let normal = Vec3::new(0.0, 0.0, 1.0).cross(axis);
    let (sin, cos) = (normal.norm(), axis.z);
    if sin < 1e-12 {
        let half = Rotation::about(Vec3::new(1.0, 0.0, 0.0), std::f64::consts::PI);
        return if cos > 0.0 { Rotation::IDENTITY } else { half };
    }
    Rotation::about(normal, sin.atan2(cos))
}

/// A rotation from a quaternion w, x, y, z of any length; none where it has none.
pub(crate) fn quaternion([w, x, y, z]: [f64; 4]) -> Option<Rotation> {
    let norm = (w * w + x * x + y * y + z * z).sqrt();
    (norm > 1e-12 && norm.is_finite()).then(|| Rotation::from_quaternion([x, y, z, w].map(|x| x / norm)))
}
