//! Numbers of twice the digits, each the unevaluated sum of two doubles.

use core::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wide {
    high: f64,
    low: f64,
}

/// a + b and what rounding lost.
fn two_sum(a: f64, b: f64) -> Wide {
    let high = a + b;
    let from_b = high - a;
    Wide {
        high,
        low: (a - (high - from_b)) + (b - from_b),
    }
}

impl Wide {
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };

    pub fn new(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }

    pub fn rounded(self) -> f64 {
        self.high
    }

    pub fn sqrt(self) -> Self {
        let x = Self::new(self.high.sqrt());
        // One step of Newton's method doubles the digits.
        x + (self - x * x) / (x + x)
    }

    /// Sine and cosine: a series at a small fraction of the angle, doubled back.
    pub fn sin_cos(self) -> (Self, Self) {
        const DOUBLINGS: u32 = 8;
        let x = self * Self::new(0.5_f64.powi(DOUBLINGS as i32));
        let square = x * x;
        // sin x and 1 − cos x keep their digits where x is small.
        let (mut sin, mut versine) = (x, Self::ZERO);
        let (mut term, mut n) = (x, 1.0);
        let mut even = Self::new(1.0);
        while n < 24.0 {
            even = -(even * square) / Self::new(n * (n + 1.0));
            versine = versine - even;
            term = -(term * square) / Self::new((n + 1.0) * (n + 2.0));
            sin = sin + term;
            n += 2.0;
        }
        let (one, two) = (Self::new(1.0), Self::new(2.0));
        for _ in 0..DOUBLINGS {
            let cos = one - versine;
            versine = two * sin * sin;
            sin = two * sin * cos;
        }
        (sin, one - versine)
    }
}

impl Neg for Wide {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            high: -self.high,
            low: -self.low,
        }
    }
}

impl Add for Wide {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        let (high, low) = (two_sum(self.high, b.high), two_sum(self.low, b.low));
        let sum = two_sum(high.high, high.low + low.high);
        two_sum(sum.high, sum.low + low.low)
    }
}

impl Sub for Wide {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for Wide {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        let high = self.high * b.high;
        let lost = self.high.mul_add(b.high, -high);
        two_sum(high, lost + (self.high * b.low + self.low * b.high))
    }
}

impl Div for Wide {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let first = Self::new(self.high / b.high);
        let rest = self - b * first;
        let second = Self::new(rest.high / b.high);
        let rest = rest - b * second;
        first + second + Self::new(rest.high / b.high)
    }
}
