//! A scalar that counts the operations done on it.

use super::{Builds, Scalar};
use core::cell::Cell;
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// Multiplications and additions; a division or square root counts as a multiplication, a subtraction as an
/// addition, a change of sign and trigonometry as nothing, as the literature counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Multiplications, divisions and square roots.
    pub multiplications: u64,
    /// Additions and subtractions.
    pub additions: u64,
}

impl Operations {
    /// Multiplications and additions together.
    pub fn total(self) -> u64 {
        self.multiplications + self.additions
    }
}

thread_local! {
    static TALLY: Cell<Operations> = const { Cell::new(Operations { multiplications: 0, additions: 0 }) };
}

fn tally(multiplications: u64, additions: u64) {
    TALLY.with(|t| {
        let mut n = t.get();
        n.multiplications += multiplications;
        n.additions += additions;
        t.set(n);
    });
}

/// An `f64` that counts what is done to it, on the thread that does it.
///
/// ```
/// use linkwork::scalar::{Count, Scalar};
/// let n = Count::operations(|| Count::lift(2.0).mul_add(Count::lift(3.0), Count::ONE));
/// assert_eq!((n.multiplications, n.additions), (1, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count(pub f64);

impl Count {
    /// What `work` costs.
    pub fn operations<R>(work: impl FnOnce() -> R) -> Operations {
        let before = TALLY.with(Cell::get);
        work();
        let after = TALLY.with(Cell::get);
        Operations {
            multiplications: after.multiplications - before.multiplications,
            additions: after.additions - before.additions,
        }
    }
}

impl Neg for Count {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Add for Count {
    type Output = Self;
    #[inline(never)]
    fn add(self, b: Self) -> Self {
        tally(0, 1);
        Self(self.0 + b.0)
    }
}

impl Sub for Count {
    type Output = Self;
    #[inline(never)]
    fn sub(self, b: Self) -> Self {
        tally(0, 1);
        Self(self.0 - b.0)
    }
}

impl Mul for Count {
    type Output = Self;
    #[inline(never)]
    fn mul(self, b: Self) -> Self {
        tally(1, 0);
        Self(self.0 * b.0)
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl SubAssign for Count {
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl Scalar for Count {
    const ZERO: Self = Self(0.0);
    const ONE: Self = Self(1.0);
    const BUILDS: Builds = Builds::Once;
    const JUDGES: bool = false;

    fn lift(x: f64) -> Self {
        Self(x)
    }

    fn lane(self, _: usize) -> f64 {
        self.0
    }

    #[inline(never)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        tally(1, 1);
        Self(Scalar::mul_add(self.0, b.0, c.0))
    }

    #[inline(never)]
    fn recip(self) -> Self {
        tally(1, 0);
        Self(Scalar::recip(self.0))
    }

    #[inline(never)]
    fn sqrt(self) -> Self {
        tally(1, 0);
        Self(Scalar::sqrt(self.0))
    }

    fn ln(self) -> Self {
        Self(Scalar::ln(self.0))
    }

    #[inline(never)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = Scalar::sin_cos(self.0);
        (Self(s), Self(c))
    }

    #[inline(never)]
    fn where_below(self, bound: f64, yes: Self, no: Self) -> Self {
        if self.0 < bound { yes } else { no }
    }
}
