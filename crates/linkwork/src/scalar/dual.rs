//! Forward-mode dual numbers.

use super::{Builds, Scalar};
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// `value + derivative·ε` with ε² = 0: exact directional derivatives of anything a sweep computes.
///
/// Duals nest: `Dual<Dual<f64>>` carries second derivatives.
///
/// ```
/// use linkwork::scalar::Dual;
/// let x = Dual::variable(3.0);
/// let y = x * x + x; // y' = 2x + 1
/// assert_eq!((y.value, y.derivative), (12.0, 7.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[must_use]
pub struct Dual<S> {
    /// The plain part.
    pub value: S,
    /// The coefficient of ε.
    pub derivative: S,
}

impl<S: Scalar> Dual<S> {
    /// A number with a given derivative.
    pub fn new(value: S, derivative: S) -> Self {
        Self { value, derivative }
    }

    /// A number that does not vary.
    pub fn constant(value: S) -> Self {
        Self::new(value, S::ZERO)
    }

    /// The variable of differentiation.
    pub fn variable(value: S) -> Self {
        Self::new(value, S::ONE)
    }
}

impl<S: Scalar> Neg for Dual<S> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self::new(-self.value, -self.derivative)
    }
}

impl<S: Scalar> Add for Dual<S> {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        Self::new(self.value + b.value, self.derivative + b.derivative)
    }
}

impl<S: Scalar> Sub for Dual<S> {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        Self::new(self.value - b.value, self.derivative - b.derivative)
    }
}

impl<S: Scalar> Mul for Dual<S> {
    type Output = Self;
    #[inline]
    fn mul(self, b: Self) -> Self {
        Self::new(
            self.value * b.value,
            self.value.mul_add(b.derivative, self.derivative * b.value),
        )
    }
}

impl<S: Scalar> AddAssign for Dual<S> {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<S: Scalar> SubAssign for Dual<S> {
    #[inline]
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl<S: Scalar> Scalar for Dual<S> {
    const ZERO: Self = Self {
        value: S::ZERO,
        derivative: S::ZERO,
    };
    const ONE: Self = Self {
        value: S::ONE,
        derivative: S::ZERO,
    };
    const LANES: usize = S::LANES;
    const EPSILON: f64 = S::EPSILON;
    const ORDER: usize = S::ORDER + 1;
    const BUILDS: Builds = match S::BUILDS {
        Builds::Shipped => Builds::Portable,
        other => other,
    };
    // Every operation is a dozen: what is saved on some of them does not pay for compiling them five times.
    const SPECIAL: bool = false;

    #[inline]
    fn lift(x: f64) -> Self {
        Self::constant(S::lift(x))
    }

    fn lane(self, lane: usize) -> f64 {
        self.value.lane(lane)
    }

    #[inline]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self::new(
            self.value.mul_add(b.value, c.value),
            self.value
                .mul_add(b.derivative, self.derivative.mul_add(b.value, c.derivative)),
        )
    }

    #[inline]
    fn recip(self) -> Self {
        let r = self.value.recip();
        Self::new(r, -(self.derivative * r * r))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        let r = self.value.sqrt();
        Self::new(r, self.derivative * (r + r).recip())
    }

    fn ln(self) -> Self {
        Self::new(self.value.ln(), self.derivative * self.value.recip())
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.value.sin_cos();
        (Self::new(s, self.derivative * c), Self::new(c, -(self.derivative * s)))
    }

    #[inline(always)]
    fn where_below(self, bound: f64, yes: Self, no: Self) -> Self {
        Self::new(
            self.value.where_below(bound, yes.value, no.value),
            self.value.where_below(bound, yes.derivative, no.derivative),
        )
    }

    fn is_finite(self) -> bool {
        self.value.is_finite() && self.derivative.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_duals_give_second_derivatives() {
        let x = Dual::new(Dual::variable(0.7_f64), Dual::constant(1.0));
        let y = x.sin_cos().0 * x.recip().sqrt();
        // f = sin x · x^-½;  f'' = −sin x x^-½ − cos x x^-3/2 + ¾ sin x x^-5/2
        let (s, c) = 0.7_f64.sin_cos();
        let expect = -s * 0.7_f64.powf(-0.5) - c * 0.7_f64.powf(-1.5) + 0.75 * s * 0.7_f64.powf(-2.5);
        assert!((y.derivative.derivative - expect).abs() < 1e-14);
    }
}
