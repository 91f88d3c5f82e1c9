//! How q₀ ⊕ u moves when u does: what an integrator that works with u needs to keep its order.
//!
//! With ad the Lie bracket by u and θ the angle of its turn, q₀ ⊕ u moves with velocity v if
//!
//! ```text
//! u̇ = ad / (1 − e^(−ad)) v = v + ½ ad v + (C − θ²C′) ad² v − C′ ad⁴ v,    C(θ²) = (1 − θ/2 cot θ/2) / θ²
//! ```
//!
//! since ad has the eigenvalues 0 and ±iθ, the latter twice. For rotations alone C ad² is left of the last two terms.
//! The other way round, v = (1 − e^(−ad)) / ad u̇ has the same form with B(θ²) = (1 − cos θ)/θ² and C(θ²) = (θ − sin θ)/θ³.

use crate::model::JointKind;
use crate::scalar::{Dual, Scalar, cos_sinc_sqrt};
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

    /// `rate`, u̇, becomes the velocity v of q₀ ⊕ u, for any q₀: the inverse of [`JointKind::chart_rate`], for every u.
    #[inline(always)]
    pub(crate) fn chart_velocity<S: Scalar>(&self, u: &[S], rate: &mut [S]) {
        match self {
            Self::Spherical => {
                let o = S::ZERO;
                let mut whole = [rate[0], rate[1], rate[2], o, o, o];
                velocity(&[u[0], u[1], u[2], o, o, o], &mut whole);
                rate.copy_from_slice(&whole[..3]);
            }
            Self::Free => velocity(u, rate),
            Self::Planar => {
                let o = S::ZERO;
                let mut whole = [o, o, rate[0], rate[1], rate[2], o];
                velocity(&[o, o, u[0], u[1], u[2], o], &mut whole);
                rate.copy_from_slice(&whole[2..5]);
            }
            _ => {}
        }
    }

    /// From u, u̇ and ü to the velocity and acceleration of q₀ ⊕ u, in their places.
    pub(crate) fn chart_motion(&self, u: &[f64], rate: &mut [f64], bend: &mut [f64]) {
        if !self.is_curved() {
            return;
        }
        let (mut at, mut going) = ([Dual::constant(0.0); 6], [Dual::constant(0.0); 6]);
        for i in 0..u.len() {
            at[i] = Dual::new(u[i], rate[i]);
            going[i] = Dual::new(rate[i], bend[i]);
        }
        self.chart_velocity(&at[..u.len()], &mut going[..u.len()]);
        for i in 0..u.len() {
            (rate[i], bend[i]) = (going[i].value, going[i].derivative);
        }
    }

    /// The inverse: from velocity and acceleration to u̇ and ü. False if u turns too far for that.
    pub(crate) fn chart_bend(&self, u: &[f64], rate: &mut [f64], bend: &mut [f64]) -> bool {
        if !self.is_curved() {
            return true;
        }
        let n = u.len();
        if !self.chart_rate(u, rate) {
            return false;
        }
        // v̇ = J ü + J̇ u̇, and the last is what comes of u̇ without ü.
        let (mut going, mut turning) = ([0.0; 6], [0.0; 6]);
        going[..n].copy_from_slice(rate);
        self.chart_motion(u, &mut going[..n], &mut turning[..n]);
        bend.iter_mut().zip(turning).for_each(|(bend, x)| *bend -= x);
        self.chart_rate(u, bend)
    }

    /// e^(−ad) `x`: a step at q₀ as one at q₀ ⊕ u.
    #[inline(always)]
    pub(crate) fn carried<S: Scalar>(&self, u: &[S], x: &mut [S]) {
        if !self.is_curved() {
            return;
        }
        let n = u.len();
        let mut mean = [S::ZERO; 6];
        mean[..n].copy_from_slice(x);
        self.chart_velocity(u, &mut mean[..n]);
        let turned = self.bracket(u, &mean[..n]);
        x.iter_mut().zip(turned).for_each(|(x, turned)| *x -= turned);
    }

    /// ad(u) x of a curved joint; numbers beyond its degrees of freedom are zero.
    #[inline(always)]
    fn bracket<S: Scalar>(&self, u: &[S], x: &[S]) -> [S; 6] {
        let (o, mut out) = (S::ZERO, [S::ZERO; 6]);
        let whole = |x: &[S]| match self {
            Self::Spherical => Motion::new([x[0], x[1], x[2]], [o, o, o]),
            Self::Planar => Motion::new([o, o, x[0]], [x[1], x[2], o]),
            _ => Motion::new([x[0], x[1], x[2]], [x[3], x[4], x[5]]),
        };
        let turned = whole(u).cross(whole(x)).to_array();
        match self {
            Self::Planar => out[..3].copy_from_slice(&turned[2..5]),
            _ => out = turned,
        }
        out
    }

    /// `u` = q₁ ⊖ q₀.
    pub(crate) fn step(&self, q0: &[f64], q1: &[f64], u: &mut [f64]) {
        super::logarithm::step(self, q0, q1, u);
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

/// u̇ − (B − θ²B′) ad u̇ + (C − θ²C′) ad² u̇ + B′ ad³ u̇ − C′ ad⁴ u̇.
#[inline(always)]
fn velocity<S: Scalar>(u: &[S], rate: &mut [S]) {
    let motion = |x: &[S]| Motion::new([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
    let (u, w) = (motion(u), motion(rate));
    let square = u.angular.dot(u.angular);
    let [b, b_slope, c, c_slope] = arcs(square);
    let first = u.cross(w);
    let second = u.cross(first);
    let third = u.cross(second);
    let v = first.mul_add(square * b_slope - b, w);
    let v = second.mul_add(c - square * c_slope, v);
    let v = u.cross(third).mul_add(-c_slope, third.mul_add(b_slope, v));
    rate.copy_from_slice(&v.to_array());
}

/// B, B′, C and C′ at y = θ².
#[inline(always)]
fn arcs<S: Scalar>(y: S) -> [S; 4] {
    if y.lane(0) < SMALL && S::LANES == 1 {
        // Σ (−y)ᵏ / (2k + 2)! and Σ (−y)ᵏ / (2k + 3)!: the first term left out is below 1e-19.
        let [mut b, mut b_slope, mut c, mut c_slope] = [S::ZERO; 4];
        for k in (0..9_u32).rev() {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let factorial: f64 = (1..=2 * k + 2).map(f64::from).product();
            b_slope = b_slope * y + b;
            b = b * y + S::lift(sign / factorial);
            c_slope = c_slope * y + c;
            c = c * y + S::lift(sign / (factorial * f64::from(2 * k + 3)));
        }
        return [b, b_slope, c, c_slope];
    }
    let (cos, sinc) = cos_sinc_sqrt(y);
    let (half, inverse) = (S::lift(0.5), y.recip());
    let (b, c) = ((S::ONE - cos) * inverse, (S::ONE - sinc) * inverse);
    let b_slope = (half * sinc - b) * inverse;
    let c_slope = (half * (sinc - cos) * inverse - c) * inverse;
    [b, b_slope, c, c_slope]
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
                let mut back = rate.clone();
                ball.joints()[0].kind.chart_velocity(&u, &mut back);
                for (a, b) in back.iter().zip(&v) {
                    assert!((a - b).abs() < 1e-13, "{size}: {back:?} {v:?}");
                }
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

    /// Velocity and acceleration of a course u(t) are those of the numbers of q₀ ⊕ u(t), and lead back to u̇ and ü; and a
    /// step at q₀ leads where its image at q₀ ⊕ u does.
    #[test]
    fn the_motion_of_the_chart_is_that_of_the_configuration() {
        for joint in [Joint::spherical("j"), Joint::free("j"), Joint::planar("j")] {
            let ball = Mechanism::builder("ball")
                .link(Link::new("ball", Inertia::cuboid(1.0, [0.1, 0.2, 0.3])))
                .joint(joint.between("world", "ball"))
                .build()
                .unwrap();
            let (q0, kind, n) = (ball.random(5), ball.joints()[0].kind, ball.nv());
            let at = |t: f64, i: usize| [0.3, -0.5, 0.8, 0.4, -0.7, 0.5][i] * (1.0 + 0.9 * t - 0.6 * t * t);
            let rate = |t: f64, i: usize| {
                [0.3, -0.5, 0.8, 0.4, -0.7, 0.5][i] * (0.9 - 1.2 * t) + [0.2, 0.1, -0.3, 0.5, 0.4, -0.1][i]
            };
            let bend = |i: usize| -1.2 * [0.3, -0.5, 0.8, 0.4, -0.7, 0.5][i];
            let course = |t: f64| {
                let at = |i: usize| at(t, i) + [0.2, 0.1, -0.3, 0.5, 0.4, -0.1][i] * t;
                let (mut u, mut v, mut a) = ([0.0; 6], [0.0; 6], [0.0; 6]);
                (0..n).for_each(|i| (u[i], v[i], a[i]) = (at(i), rate(t, i), bend(i)));
                let (first, second) = (v, a);
                kind.chart_motion(&u[..n], &mut v[..n], &mut a[..n]);
                let (mut back, mut again) = (v, a);
                assert!(kind.chart_bend(&u[..n], &mut back[..n], &mut again[..n]));
                for i in 0..n {
                    assert!((back[i] - first[i]).abs() + (again[i] - second[i]).abs() < 1e-12);
                }
                let mut q = q0.clone();
                ball.integrate(&q0, &u[..n], &mut q).unwrap();
                (q, u, v, a)
            };
            let (q, u, v, a) = course(0.4);
            let h = 1e-5;
            let (before, after) = (course(0.4 - h), course(0.4 + h));
            let mut step = vec![0.0; n];
            ball.difference(&before.0, &after.0, &mut step).unwrap();
            for i in 0..n {
                assert!((step[i] / (2.0 * h) - v[i]).abs() < 1e-8, "{kind:?}");
                assert!(((after.2[i] - before.2[i]) / (2.0 * h) - a[i]).abs() < 1e-8, "{kind:?}");
            }
            // (q₀ ⊕ x) ⊕ u is q ⊕ its image, to first order: by duals.
            let x = [0.3, 0.8, -0.4, 0.9, 0.2, -0.6];
            let lift = |x: &[f64]| x.iter().map(|x| Dual::new(*x, 0.0)).collect::<Vec<_>>();
            let small: Vec<_> = x[..n].iter().map(|x| Dual::new(0.0, *x)).collect();
            let (mut shifted, mut way) = (lift(&q0), lift(&q));
            ball.integrate(&lift(&q0), &small, &mut shifted).unwrap();
            ball.integrate(&shifted, &lift(&u[..n]), &mut way).unwrap();
            let mut image = x;
            kind.carried(&u[..n], &mut image[..n]);
            let small: Vec<_> = image[..n].iter().map(|x| Dual::new(0.0, *x)).collect();
            let mut other = lift(&q);
            ball.integrate(&lift(&q), &small, &mut other).unwrap();
            for (a, b) in way.iter().zip(&other) {
                assert!((a.derivative - b.derivative).abs() < 1e-13, "{kind:?}: {a:?} {b:?}");
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
