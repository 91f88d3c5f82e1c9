//! q ⊕ v, joint by joint. No control flow depends on the values.

use crate::model::JointKind;
use crate::scalar::{Scalar, cos_sinc_sqrt};
use crate::spatial::{Rotation, Vec3, along_screw};

/// Moves one joint by a step.
#[inline(always)]
pub(super) fn step<S: Scalar>(kind: &JointKind, q: &[S], v: &[S], out: &mut [S]) {
    match kind {
        JointKind::Spherical => turn(q, v, out),
        JointKind::Free => {
            turn(q, v, out);
            let [w, u] = [Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5])];
            let mut start = [q[0], q[1], q[2], q[3]];
            normalise(&mut start);
            let moved = Rotation::from_quaternion(start) * along_screw(w, u);
            (out[4], out[5], out[6]) = (q[4] + moved.x, q[5] + moved.y, q[6] + moved.z);
        }
        JointKind::Planar => planar(q, v, out),
        _ => {
            for ((out, q), v) in out.iter_mut().zip(q).zip(v) {
                *out = *q + *v;
            }
        }
    }
}

/// q ⊗ exp(ω/2), brought to unit length.
#[inline(always)]
fn turn<S: Scalar>(q: &[S], w: &[S], out: &mut [S]) {
    let w = Vec3::new(w[0], w[1], w[2]);
    let (cos, sinc) = cos_sinc_sqrt(w.dot(w) * S::lift(0.25));
    let d = w * (sinc * S::lift(0.5));
    let (x, s) = (Vec3::new(q[0], q[1], q[2]), q[3]);
    let vector = x.mul_add(cos, d.mul_add(s, x.cross(d)));
    (out[0], out[1], out[2]) = (vector.x, vector.y, vector.z);
    out[3] = s.mul_sub(cos, x.dot(d));
    normalise(&mut out[..4]);
}

/// Divides four numbers by their length.
#[inline(always)]
pub(super) fn normalise<S: Scalar>(q: &mut [S]) {
    let square = q.iter().fold(S::ZERO, |sum, x| x.mul_add(*x, sum));
    let scale = square.sqrt().recip();
    q.iter_mut().for_each(|x| *x = *x * scale);
}

/// The same in the plane: q = [angle, x, y], v = [ω, vx, vy] in the link's own axes.
#[inline(always)]
fn planar<S: Scalar>(q: &[S], v: &[S], out: &mut [S]) {
    let half = v[0] * S::lift(0.5);
    let (cos, sinc) = cos_sinc_sqrt(half * half);
    // The chord of an arc lies along the mean direction, turned by half the angle, and is sinc(θ/2) as long.
    let (along, across) = (cos * sinc, half * sinc * sinc);
    let x = along.mul_sub(v[1], across * v[2]);
    let y = across.mul_add(v[1], along * v[2]);
    let (s, c) = q[0].sin_cos();
    out[0] = q[0] + v[0];
    out[1] = c.mul_add(x, q[1]) - s * y;
    out[2] = s.mul_add(x, q[2]) + c * y;
}
