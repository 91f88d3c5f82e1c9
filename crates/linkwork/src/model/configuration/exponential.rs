//! q ⊕ v, joint by joint. No control flow depends on the values.

use crate::model::JointKind;
use crate::scalar::{Scalar, cos_sinc_sqrt};
use crate::spatial::{Rotation, Vec3};

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

/// Where the screw [ω; u] takes the origin in unit time: u + (1 − cos θ)/θ² ω × u + (θ − sin θ)/θ³ ω × (ω × u).
#[inline(always)]
fn along_screw<S: Scalar>(w: Vec3<S>, u: Vec3<S>) -> Vec3<S> {
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
