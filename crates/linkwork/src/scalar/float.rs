//! `f64` and `f32`, with sines and cosines of our own: the same bits on every machine, and several at a time.

use super::Scalar;

/// Fused where the target has the instruction: on x86-64 the sweeps run inside functions compiled for it (see
/// `simd`), on aarch64 it is always there. Elsewhere (WebAssembly) a plain product and sum.
macro_rules! fused {
    ($a:expr, $b:expr, $c:expr) => {
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            $a.mul_add($b, $c)
        } else {
            $a * $b + $c
        }
    };
}

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const SHIPPED: bool = true;

    #[inline(always)]
    fn lift(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        self
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        fused!(self, b, c)
    }

    #[inline(always)]
    fn recip(self) -> Self {
        1.0 / self
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        if self.abs() <= REDUCIBLE {
            sin_cos_reduced(self)
        } else {
            f64::sin_cos(self)
        }
    }

    #[inline(always)]
    fn sin_cos_all(angles: &[Self], sin: &mut [Self], cos: &mut [Self]) {
        let largest = angles.iter().fold(0.0, |m, x| if x.abs() > m { x.abs() } else { m });
        if largest <= REDUCIBLE {
            // No branch in the body: the compiler takes four angles at a time.
            for ((x, s), c) in angles.iter().zip(sin).zip(cos) {
                (*s, *c) = sin_cos_reduced(*x);
            }
        } else {
            for ((x, s), c) in angles.iter().zip(sin).zip(cos) {
                (*s, *c) = Scalar::sin_cos(*x);
            }
        }
    }

    #[inline(always)]
    fn where_below(self, bound: f64, yes: Self, no: Self) -> Self {
        if self < bound { yes } else { no }
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        self.abs() < Self::INFINITY
    }
}

impl Scalar for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const EPSILON: f64 = f32::EPSILON as f64;

    #[inline(always)]
    fn lift(x: f64) -> Self {
        x as f32
    }

    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        fused!(self, b, c)
    }

    #[inline(always)]
    fn recip(self) -> Self {
        1.0 / self
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = Scalar::sin_cos(f64::from(self));
        (s as f32, c as f32)
    }

    #[inline(always)]
    fn where_below(self, bound: f64, yes: Self, no: Self) -> Self {
        if f64::from(self) < bound { yes } else { no }
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        self.abs() < Self::INFINITY
    }
}

/// Up to this angle three parts of π/2 reduce without loss: the quotient stays below 2²⁰, so that its product with
/// the first two parts (33 bits each) is exact.
const REDUCIBLE: f64 = 1_048_576.0;

/// π/2 in three parts of 33, 33 and 53 bits.
const HALF_PI: [f64; 3] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_795_950_6e-21,
];

/// Sine and cosine for |x| ≤ [`REDUCIBLE`], within one unit in the last place, without a branch.
#[inline(always)]
fn sin_cos_reduced(x: f64) -> (f64, f64) {
    // Adding 1.5·2⁵² rounds to the nearest integer, which then stands in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let shifted = Scalar::mul_add(x, core::f64::consts::FRAC_2_PI, ROUND);
    let quadrant = shifted.to_bits();
    let n = shifted - ROUND;
    // r + tail = x − n·π/2, the tail below half a unit of r.
    let a = Scalar::mul_add(-n, HALF_PI[0], x);
    let b = Scalar::mul_add(-n, HALF_PI[1], a);
    let rest = Scalar::mul_add(-n, HALF_PI[2], Scalar::mul_add(-n, HALF_PI[1], a - b));
    let r = b + rest;
    let tail = (b - r) + rest;

    let z = r * r;
    // Minimax polynomials on |r| ≤ π/4: sin r = r + r³·p(r²), cos r = 1 − r²/2 + r⁴·q(r²).
    let p = horner(z, &SIN);
    let q = horner(z, &COS);
    let sin = r + Scalar::mul_add(z * r, p, tail);
    let half = 0.5 * z;
    let head = 1.0 - half;
    let cos = head + ((1.0 - head) - half + Scalar::mul_add(z * z, q, -r * tail));

    // Odd quadrants exchange sine and cosine; the sign of each follows the second bit.
    let odd = (quadrant & 1).wrapping_neg();
    let (sin, cos) = (sin.to_bits(), cos.to_bits());
    let exchange = (sin ^ cos) & odd;
    let sign = |q: u64| (q & 2) << 62;
    (
        f64::from_bits((sin ^ exchange) ^ sign(quadrant)),
        f64::from_bits((cos ^ exchange) ^ sign(quadrant.wrapping_add(1))),
    )
}

#[inline(always)]
fn horner<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let mut sum = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        sum = Scalar::mul_add(sum, x, coefficients[i]);
    }
    sum
}

const SIN: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];

const COS: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn ulps(a: f64, b: f64) -> f64 {
        (a - b).abs() / (b.abs().max(f64::MIN_POSITIVE) * f64::EPSILON)
    }

    #[test]
    fn sine_and_cosine_agree_with_the_standard_library_to_an_ulp() {
        let mut x = 1e-9;
        while x < 2e6 {
            for x in [x, -x, x * core::f64::consts::PI] {
                let (s, c) = Scalar::sin_cos(x);
                let (s0, c0) = f64::sin_cos(x);
                assert!(ulps(s, s0) <= 1.5 && ulps(c, c0) <= 1.5, "{x}: {s} {s0} {c} {c0}");
            }
            x *= 1.001_3;
        }
        for k in 1..200_000 {
            let x = f64::from(k) * core::f64::consts::FRAC_PI_2;
            let (s, c) = Scalar::sin_cos(x);
            let (s0, c0) = f64::sin_cos(x);
            assert!(
                ulps(s, s0) <= 1.5 && ulps(c, c0) <= 1.5,
                "{k} quarter turns: {s} {s0} {c} {c0}"
            );
        }
    }

    #[test]
    fn many_angles_give_the_same_bits_as_one_at_a_time() {
        let angles: Vec<f64> = (0..37).map(|i| f64::from(i) * 0.77 - 12.0).collect();
        for scale in [1.0, 1e7] {
            let angles: Vec<f64> = angles.iter().map(|x| x * scale).collect();
            let (mut sin, mut cos) = (vec![0.0; 37], vec![0.0; 37]);
            f64::sin_cos_all(&angles, &mut sin, &mut cos);
            for (i, x) in angles.iter().enumerate() {
                assert_eq!(Scalar::sin_cos(*x), (sin[i], cos[i]));
            }
        }
    }

    #[test]
    fn sine_of_nothing_is_nothing_and_of_infinity_is_not_a_number() {
        assert_eq!(Scalar::sin_cos(0.0), (0.0, 1.0));
        assert!(Scalar::sin_cos(f64::INFINITY).0.is_nan());
    }
}
