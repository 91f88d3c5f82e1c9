//! How q₀ ⊕ u moves when u does: what an integrator that works with u needs to keep its order.
//!
//! With ad the Lie bracket by u and θ the angle of its turn, q₀ ⊕ u moves with velocity v if
//!
//! ```text
//! u̇ = ad / (1 − e^(−ad)) v = v + ½ ad v + (C − θ²C′) ad² v − C′ ad⁴ v,    C(θ²) = (1 − θ/2 cot θ/2) / θ²
//! ```
//!
//! since ad has the eigenvalues 0 and ±iθ, the latter twice. For rotations alone C ad² is left of the last two terms.

use crate::model::JointKind;
use crate::scalar::Scalar;
use crate::spatial::{Motion, Vec3};

/// Turns within a step must stay below this angle: at a full circle u̇ is infinite.
pub(crate) const WIDEST: f64 = 5.0;

impl JointKind {
    /// Whether steps of this joint do not commute, so that u̇ and the velocity differ.
    pub(crate) fn is_curved(&self) -> bool {
        matches!(self, Self::Spherical | Self::Free | Self::Planar)
    }

    /// `v` ← u̇, the rate of u at which q₀ ⊕ u has velocity `v`, for any q₀; NaN, and false, if u turns too far for that.
    #[inline(always)]
    pub(crate) fn chart_rate<S: Scalar>(&self, u: &[S], v: &mut [S]) -> bool {
        match self {
            Self::Spherical => turn(u, v),
            Self::Free => screw(u, v),
            Self::Planar => planar(u, v),
            _ => return true,
        }
        (0..S::LANES).all(|lane| !v[0].lane(lane).is_nan())
    }

    /// `out` = q ⊕ u.
    #[inline(always)]
    pub(crate) fn moved<S: Scalar>(&self, q: &[S], u: &[S], out: &mut [S]) {
        super::exponential::step(self, q, u, out);
    }
}

#[inline(always)]
fn turn<S: Scalar>(u: &[S], v: &mut [S]) {
    let (a, w) = (Vec3::new(u[0], u[1], u[2]), Vec3::new(v[0], v[1], v[2]));
    let square = a.dot(a);
    let first = a.cross(w);
    let rate = w + first * S::lift(0.5) + a.cross(first) * rest(square).0;
    v.copy_from_slice(&within(square, rate.to_array()));
}

#[inline(always)]
fn screw<S: Scalar>(u: &[S], v: &mut [S]) {
    let motion = |x: &[S]| Motion::new([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
    let (u, w) = (motion(u), motion(v));
    let square = u.angular.dot(u.angular);
    let (c, slope) = rest(square);
    let first = u.cross(w);
    let second = u.cross(first);
    let fourth = u.cross(u.cross(second));
    let rate = first.mul_add(S::lift(0.5), w);
    let rate = fourth.mul_add(-slope, second.mul_add(c - square * slope, rate));
    v.copy_from_slice(&within(square, rate.to_array()));
}

/// NaN unless the square of an angle is small enough.
#[inline(always)]
fn within<S: Scalar, const N: usize>(square: S, rate: [S; N]) -> [S; N] {
    rate.map(|x| square.where_below(WIDEST * WIDEST, x, S::lift(f64::NAN)))
}

/// A screw whose axis is normal to the plane.
#[inline(always)]
fn planar<S: Scalar>(u: &[S], v: &mut [S]) {
    let o = S::ZERO;
    let mut whole = [o, o, v[0], v[1], v[2], o];
    screw(&[o, o, u[0], u[1], u[2], o], &mut whole);
    v.copy_from_slice(&whole[2..5]);
}

/// C(y) and C′(y) at y = θ².
#[inline(always)]
fn rest<S: Scalar>(y: S) -> (S, S) {
    if S::LANES == 1 && y.lane(0) < SMALL {
        return series(y);
    }
    let (near, far) = (series(y), closed(y));
    (y.where_below(SMALL, near.0, far.0), y.where_below(SMALL, near.1, far.1))
}

/// Below this square of an angle the series is used.
const SMALL: f64 = 1.0;

/// Σ |B₂ₖ| yᵏ⁻¹ / (2k)!: the first term left out is below 1e-19.
#[inline(always)]
fn series<S: Scalar>(y: S) -> (S, S) {
    let (mut c, mut slope) = (S::ZERO, S::ZERO);
    for term in SERIES.into_iter().rev() {
        slope = slope * y + c;
        c = c * y + S::lift(term);
    }
    (c, slope)
}

#[inline(always)]
fn closed<S: Scalar>(y: S) -> (S, S) {
    let half = S::lift(0.5) * y.sqrt();
    let (sin, cos) = half.sin_cos();
    let (cotangent, inverse) = (half * cos * sin.recip(), y.recip());
    let c = (S::ONE - cotangent) * inverse;
    let curve = (cotangent * cotangent - cotangent) * S::lift(0.5) * inverse;
    (c, (curve + S::lift(0.125) - c) * inverse)
}

/// |B₂ₖ| / (2k)!
const SERIES: [f64; 11] = [
    1.0 / 12.0,
    1.0 / 720.0,
    1.0 / 30_240.0,
    1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    3_617.0 / 10_670_622_842_880_000.0,
    43_867.0 / 5_109_094_217_170_944_000.0,
    174_611.0 / 802_857_662_698_291_200_000.0,
    77_683.0 / 14_101_100_039_391_805_440_000.0,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Joint, Link, Mechanism};
    use crate::scalar::Dual;
    use crate::spatial::Inertia;

    /// Where q₀ ⊕ u goes at the rate u̇ is where q₀ ⊕ u goes with velocity v.
    #[test]
    fn the_rate_of_the_chart_gives_the_velocity() {
        for joint in [Joint::spherical("j"), Joint::free("j"), Joint::planar("j")] {
            let ball = Mechanism::builder("ball")
                .link(Link::new("ball", Inertia::cuboid(1.0, [0.1, 0.2, 0.3])))
                .joint(joint.between("world", "ball"))
                .build()
                .unwrap();
            let q0 = ball.random(3);
            for size in [0.0, 1e-9, 1e-3, 0.3, 0.57, 0.58, 1.0, 2.0, 2.8] {
                let u: Vec<f64> = (0..ball.nv())
                    .map(|i| size * [1.0, -0.9, 1.1, 0.4, -0.7, 0.5][i])
                    .collect();
                let v: Vec<f64> = (0..ball.nv()).map(|i| [0.3, 0.8, -0.4, 0.9, 0.2, -0.6][i]).collect();
                let mut rate = v.clone();
                assert!(ball.joints()[0].kind.chart_rate(&u, &mut rate));
                let lift = |x: &[f64]| x.iter().map(|x| Dual::new(*x, 0.0)).collect::<Vec<_>>();
                let vary = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| Dual::new(*x, *d)).collect::<Vec<_>>();
                let mut by_rate = lift(&q0);
                ball.integrate(&lift(&q0), &vary(&u, &rate), &mut by_rate).unwrap();
                let mut there = q0.clone();
                ball.integrate(&q0, &u, &mut there).unwrap();
                let mut by_velocity = lift(&q0);
                let zero = vec![0.0; ball.nv()];
                ball.integrate(&lift(&there), &vary(&zero, &v), &mut by_velocity)
                    .unwrap();
                for (a, b) in by_rate.iter().zip(&by_velocity) {
                    assert!((a.derivative - b.derivative).abs() < 1e-13, "{size}: {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn turns_close_to_a_circle_are_refused() {
        let mut v = [0.1; 3];
        turn(&[3.0, 4.0, 0.0], &mut v);
        assert!(v.iter().all(|x: &f64| x.is_nan()));
    }
}
