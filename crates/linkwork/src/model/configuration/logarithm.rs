//! q₁ ⊖ q₀, joint by joint.

use crate::model::JointKind;
use crate::spatial::{Rotation, ShortTurn, Vec3};
use core::f64::consts::TAU;

/// The step that leads from one configuration of a joint to another.
pub(super) fn step(kind: &JointKind, q0: &[f64], q1: &[f64], v: &mut [f64]) {
    match kind {
        JointKind::Spherical => v.copy_from_slice(&rotation(q0, q1).vector.to_array()),
        JointKind::Free => {
            let turn = rotation(q0, q1);
            let world = Vec3::new(q1[4] - q0[4], q1[5] - q0[5], q1[6] - q0[6]);
            let start = unit([q0[0], q0[1], q0[2], q0[3]]);
            let moved = Rotation::from_quaternion(start).inverse_mul(world);
            v[..3].copy_from_slice(&turn.vector.to_array());
            v[3..].copy_from_slice(&turn.velocity(moved).to_array());
        }
        JointKind::Planar => planar(q0, q1, v),
        _ => {
            for ((v, q0), q1) in v.iter_mut().zip(q0).zip(q1) {
                *v = q1 - q0;
            }
        }
    }
}

/// The logarithm of q₀* ⊗ q₁.
fn rotation(q0: &[f64], q1: &[f64]) -> ShortTurn {
    let (a, b) = (Vec3::new(q0[0], q0[1], q0[2]), Vec3::new(q1[0], q1[1], q1[2]));
    let vector = b * q0[3] - a * q1[3] - a.cross(b);
    let scalar = q0[3] * q1[3] + a.dot(b);
    ShortTurn::of([vector.x, vector.y, vector.z, scalar])
}

/// The same in the plane.
fn planar(q0: &[f64], q1: &[f64], v: &mut [f64]) {
    let angle = q1[0] - q0[0];
    let angle = angle - TAU * (angle / TAU).round();
    let (s, c) = q0[0].sin_cos();
    let (dx, dy) = (q1[1] - q0[1], q1[2] - q0[2]);
    let (x, y) = (c * dx + s * dy, c * dy - s * dx);
    let half = 0.5 * angle;
    let cotangent = if half.abs() > 1e-4 {
        half / half.tan()
    } else {
        1.0 - half * half / 3.0
    };
    v[0] = angle;
    v[1] = cotangent * x + half * y;
    v[2] = cotangent * y - half * x;
}

/// A quaternion at unit length.
fn unit(q: [f64; 4]) -> [f64; 4] {
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|x| x / norm)
}
