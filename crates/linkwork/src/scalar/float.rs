//! `f64` and `f32`.

use super::angle::{self, Quadrants, REDUCIBLE, REDUCIBLE_SINGLE};
use super::{Builds, Scalar};

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
    const BUILDS: Builds = Builds::Shipped;

    #[inline]
    fn lift(x: f64) -> Self {
        x
    }

    #[inline]
    fn lane(self, _: usize) -> f64 {
        self
    }

    #[inline]
    fn mul_add(self, b: Self, c: Self) -> Self {
        fused!(self, b, c)
    }

    #[inline]
    fn recip(self) -> Self {
        1.0 / self
    }

    #[inline]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    fn ln(self) -> Self {
        f64::ln(self)
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        if self.abs() <= REDUCIBLE {
            angle::sin_cos(self)
        } else {
            f64::sin_cos(self)
        }
    }

    #[inline]
    fn where_below(self, bound: f64, yes: Self, no: Self) -> Self {
        if self < bound { yes } else { no }
    }

    #[inline]
    fn is_finite(self) -> bool {
        self.abs() < Self::INFINITY
    }
}

impl Scalar for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const EPSILON: f64 = f32::EPSILON as f64;

    #[inline]
    fn lift(x: f64) -> Self {
        x as f32
    }

    #[inline]
    fn lane(self, _: usize) -> f64 {
        f64::from(self)
    }

    #[inline]
    fn mul_add(self, b: Self, c: Self) -> Self {
        fused!(self, b, c)
    }

    #[inline]
    fn recip(self) -> Self {
        1.0 / self
    }

    #[inline]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    fn ln(self) -> Self {
        f32::ln(self)
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        if self.abs() <= REDUCIBLE_SINGLE {
            angle::sin_cos_single(self)
        } else {
            let (s, c) = Scalar::sin_cos(f64::from(self));
            (s as f32, c as f32)
        }
    }

    #[inline]
    fn where_below(self, bound: f64, yes: Self, no: Self) -> Self {
        if f64::from(self) < bound { yes } else { no }
    }

    #[inline]
    fn is_finite(self) -> bool {
        self.abs() < Self::INFINITY
    }
}

macro_rules! quadrants {
    ($float:ty, $bits:ty, $sign:literal) => {
        impl Quadrants for $float {
            #[inline(always)]
            fn unfold(shifted: Self, sin: Self, cos: Self) -> (Self, Self) {
                let quadrant = shifted.to_bits();
                let odd = (quadrant & 1).wrapping_neg();
                let (sin, cos) = (sin.to_bits(), cos.to_bits());
                let exchange = (sin ^ cos) & odd;
                let sign = |q: $bits| (q & 2) << $sign;
                (
                    Self::from_bits((sin ^ exchange) ^ sign(quadrant)),
                    Self::from_bits((cos ^ exchange) ^ sign(quadrant.wrapping_add(1))),
                )
            }
        }
    };
}

quadrants!(f64, u64, 62);
quadrants!(f32, u32, 30);
