//! Sines and cosines of our own: the same bits on every machine, for one number or for several side by side.

use super::Scalar;

/// A number whose sine and cosine can be unfolded from those of the remainder of a quarter turn.
pub(crate) trait Quadrants: Scalar {
    /// Sine and cosine from those of the remainder, with the number of quarter turns in the low bits of `shifted`: odd
    /// quadrants exchange the two, and the sign of each follows the second bit.
    fn unfold(shifted: Self, sin: Self, cos: Self) -> (Self, Self);
}

/// Up to this angle three parts of π/2 reduce without loss: the quotient stays below 2²⁰. Its product with the first part is
/// subtracted exactly, as nothing below a unit of that part is left; that with the second, of 33 bits, is exact itself.
pub(crate) const REDUCIBLE: f64 = 1_048_576.0;

/// π/2 in three parts of 53, 33 and 53 bits.
const HALF_PI: [f64; 3] = [
    core::f64::consts::FRAC_PI_2,
    6.123_233_995_384_61e-17,
    3.521_559_865_183_2e-27,
];

/// Sine and cosine in double precision for |x| ≤ [`REDUCIBLE`], within one unit in the last place, without a branch.
#[inline(always)]
pub(crate) fn sin_cos<T: Quadrants>(x: T) -> (T, T) {
    // Adding 1.5·2⁵² rounds to the nearest integer, which then stands in the low bits.
    let round = T::lift(6_755_399_441_055_744.0);
    let shifted = x.mul_add(T::lift(core::f64::consts::FRAC_2_PI), round);
    let minus_n = round - shifted;
    // r + tail = x − n·π/2, the tail about half a unit of r.
    let a = minus_n.mul_add(T::lift(HALF_PI[0]), x);
    let r = minus_n.mul_add(T::lift(HALF_PI[1]), a);
    let tail = minus_n.mul_add(T::lift(HALF_PI[2]), minus_n.mul_add(T::lift(HALF_PI[1]), a - r));

    let z = r * r;
    // Minimax polynomials on |r| ≤ π/4: sin r = r + r³·p(r²), cos r = 1 − r²/2 + r⁴·q(r²).
    let (p, q) = (six_terms(z, &SIN), six_terms(z, &COS));
    let sin = r + (z * r).mul_add(p, tail);
    let half = T::lift(0.5) * z;
    let head = T::ONE - half;
    let cos = head + ((T::ONE - head) - half + (z * z).mul_add(q, -(r * tail)));
    T::unfold(shifted, sin, cos)
}

/// The same bound for single precision: the quotient stays below 2¹⁶.
pub(crate) const REDUCIBLE_SINGLE: f32 = 65_536.0;

/// π/2 in three parts of single precision.
const HALF_PI_SINGLE: [f64; 3] = [1.570_796_370_506_286_6, -4.371_138_828_673_793e-8, -1.715_124_5e-15];

/// Sine and cosine in single precision for |x| ≤ [`REDUCIBLE_SINGLE`], within two units in the last place.
#[inline(always)]
pub(crate) fn sin_cos_single<T: Quadrants>(x: T) -> (T, T) {
    let round = T::lift(12_582_912.0);
    let shifted = x.mul_add(T::lift(core::f64::consts::FRAC_2_PI), round);
    let minus_n = round - shifted;
    // The first difference is exact; each of the others is rounded once.
    let mut r = x;
    for part in HALF_PI_SINGLE {
        r = minus_n.mul_add(T::lift(part), r);
    }
    let z = r * r;
    let (p, q) = (horner(z, &SIN_SINGLE), horner(z, &COS_SINGLE));
    let sin = (z * r).mul_add(p, r);
    let cos = (z * z).mul_add(q, T::lift(-0.5).mul_add(z, T::ONE));
    T::unfold(shifted, sin, cos)
}

/// A polynomial, its terms in pairs: a short arm waits for its sines.
#[inline(always)]
fn six_terms<T: Scalar>(x: T, c: &[f64; 6]) -> T {
    let low = T::lift(c[1]).mul_add(x, T::lift(c[0]));
    let middle = T::lift(c[3]).mul_add(x, T::lift(c[2]));
    let high = T::lift(c[5]).mul_add(x, T::lift(c[4]));
    let square = x * x;
    high.mul_add(square, middle).mul_add(square, low)
}

#[inline(always)]
fn horner<T: Scalar, const N: usize>(x: T, coefficients: &[f64; N]) -> T {
    let mut sum = T::lift(coefficients[N - 1]);
    for i in (0..N - 1).rev() {
        sum = sum.mul_add(x, T::lift(coefficients[i]));
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

const SIN_SINGLE: [f64; 3] = [
    -0.166_666_549_401_592_12,
    8.332_177_913_848_49e-3,
    -1.951_726_649_964_843_3e-4,
];

const COS_SINGLE: [f64; 3] = [
    4.166_664_686_046_454e-2,
    -1.388_736_720_997_564_4e-3,
    2.443_841_519_642_148_6e-5,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn ulps(a: f64, b: f64) -> f64 {
        (a - b).abs() / (b.abs().max(f64::MIN_POSITIVE) * f64::EPSILON)
    }

    #[test]
    fn sine_and_cosine_agree_with_the_standard_library_to_an_ulp() {
        let check = |x: f64| {
            let (s, c) = Scalar::sin_cos(x);
            let (s0, c0) = f64::sin_cos(x);
            assert!(ulps(s, s0) <= 1.5 && ulps(c, c0) <= 1.5, "{x}: {s} {s0} {c} {c0}");
        };
        let mut x = 1e-9;
        while x < 2e6 {
            [x, -x, x * core::f64::consts::PI].into_iter().for_each(check);
            x *= 1.001_3;
        }
        (1..200_000)
            .map(|k| f64::from(k) * core::f64::consts::FRAC_PI_2)
            .for_each(check);
    }

    #[test]
    fn single_precision_is_right_to_two_ulps() {
        let check = |x: f32| {
            let (s, c) = Scalar::sin_cos(x);
            let (s0, c0) = f64::from(x).sin_cos();
            let ulps = |a: f32, b: f64| (f64::from(a) - b).abs() / (b.abs() * f64::from(f32::EPSILON));
            assert!(ulps(s, s0) <= 2.0 && ulps(c, c0) <= 2.0, "{x}: {s} {s0} {c} {c0}");
        };
        let mut x = 1e-6_f32;
        while x < 2e5 {
            [x, -x].into_iter().for_each(check);
            x *= 1.000_3;
        }
        (1..40_000)
            .map(|k| (f64::from(k) * core::f64::consts::FRAC_PI_2) as f32)
            .for_each(check);
    }

    #[test]
    fn sine_of_nothing_is_nothing_and_of_infinity_is_not_a_number() {
        assert_eq!(Scalar::sin_cos(0.0), (0.0, 1.0));
        assert!(Scalar::sin_cos(f64::INFINITY).0.is_nan());
        assert!(Scalar::sin_cos(f32::INFINITY).0.is_nan());
    }
}
