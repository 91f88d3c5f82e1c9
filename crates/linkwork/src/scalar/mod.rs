//! The numbers a sweep runs on.
//!
//! Every sweep is written once over [`Scalar`]: `f64` and `f32` for work, [`Dual`] for exact derivatives,
//! [`Count`] for operation counts; several states side by side fit the same trait. The parameters of a mechanism
//! stay `f64` and are lifted. Control flow never depends on the value of a scalar, so that every lane of a wide
//! scalar, and every count, is exact.

pub(crate) mod angle;
mod count;
mod dual;
mod float;
mod place_lists;

pub use count::{Count, Operations};
pub use dual::Dual;

#[cfg(target_arch = "x86_64")]
pub(crate) use place_lists::Tile;
pub(crate) use place_lists::{Copies, Register};

use core::fmt::Debug;
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// For which instructions the sweeps over a scalar are compiled.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builds {
    /// Once, with the library, for every set of instructions.
    Shipped,
    /// Where they are used: for AVX2 with FMA, and for any processor.
    Portable,
    /// Where they are used, for any processor, by the algorithms that run on `f64`: what counts operations.
    Once,
    /// Where they are used, for any processor, joints of every kind by the same code: neither speed nor operations matter.
    Anywhere,
    /// For the only instructions that such a number exists with.
    Avx2,
    /// The same.
    Avx512,
}

/// A number that a sweep can run on.
///
/// ```
/// use linkwork::scalar::{Dual, Scalar};
/// fn square_plus_one<S: Scalar>(x: S) -> S {
///     x.mul_add(x, S::ONE)
/// }
/// assert_eq!(square_plus_one(3.0_f64), 10.0);
/// assert_eq!(square_plus_one(Dual::variable(3.0_f64)).derivative, 6.0);
/// ```
pub trait Scalar:
    Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + 'static
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + AddAssign
    + SubAssign
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// How many independent numbers it holds side by side.
    const LANES: usize = 1;
    /// The relative rounding error of one operation.
    const EPSILON: f64 = f64::EPSILON;

    /// How many derivatives it carries beside its value.
    #[doc(hidden)]
    const ORDER: usize = 0;

    /// Whether sweeps compare D with the rounding of what it is part of: not where operations are counted or written down.
    #[doc(hidden)]
    const JUDGES: bool = true;
    /// For which instructions its sweeps are compiled.
    #[doc(hidden)]
    const BUILDS: Builds = Builds::Portable;
    /// Whether sweeps have code of their own for the commonest joints, or one for all: faster, or small.
    #[doc(hidden)]
    const SPECIAL: bool = true;

    /// A constant of the mechanism.
    fn lift(x: f64) -> Self;
    /// The plain value in a lane.
    fn lane(self, lane: usize) -> f64;
    /// `self · b + c`, rounded once on every processor whose compiler target can.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `1 / self`.
    fn recip(self) -> Self;
    /// The non-negative square root.
    fn sqrt(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// Lane by lane: `yes` where `self < bound`, else `no`.
    fn where_below(self, bound: f64, yes: Self, no: Self) -> Self;

    /// `self · b − c`.
    #[inline]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        self.mul_add(b, -c)
    }

    /// Whether every lane is a number.
    fn is_finite(self) -> bool {
        (0..Self::LANES).all(|i| self.lane(i).is_finite())
    }
}

/// Several columns of one state side by side: themselves numbers, and made of some.
pub(crate) trait Pack<S: Scalar>: Scalar {
    /// How many.
    const COLUMNS: usize;
    /// The same in every column.
    fn spread(x: S) -> Self;
    /// One in a column, if it is among those from `block` on; zero in the others.
    fn one_at(column: usize, block: usize) -> Option<Self>;
    /// The first numbers of a slice.
    fn read(from: &[S]) -> Self;
    /// Over the first numbers of a slice.
    fn write(self, to: &mut [S]);
    /// Three numbers, as many as there are columns, and the last one again.
    fn three(x: [S; 3]) -> Self;
    /// The first numbers of four rows, so far apart.
    fn read_rows(from: &[S], apart: usize) -> [Self; MOST_COLUMNS];
    /// Over them.
    fn write_rows(rows: [Self; MOST_COLUMNS], to: &mut [S], apart: usize);
    /// Each to its place, but for those that have none.
    fn write_some(self, places: &[usize], none: usize, to: &mut [S]);
    /// Each to its place, as many as there are places.
    fn write_first(self, places: &[usize], to: &mut [S]);
    /// The columns that the lowest bits tell, and zero in the others.
    fn keep(self, bits: u8) -> Self;
    /// The columns that the lowest bits tell, and another's elsewhere.
    fn over(self, other: Self, bits: u8) -> Self;
    /// The numbers of some columns.
    fn pick(self, columns: &[usize; MOST_COLUMNS]) -> Self;
    /// One part of the zeros beside those.
    fn fill(copies: &Copies, part: usize, to: &mut [S]);
    /// Numbers that stand in columns, side by side, to their places.
    fn copy(copies: &Copies, from: &[Register<S>], to: &mut [S]);
    /// The rows of a square tile become its columns; of the places, the first count that it has.
    fn transpose(rows: [Self; MOST_COLUMNS]) -> [Self; MOST_COLUMNS];
}

/// Runs something for each of some indices, which are constants: a short loop, unrolled. The compiler would unroll it too,
/// but takes its time for that in every sweep that the loop is part of.
macro_rules! unrolled {
    ($i:ident in $($n:literal)+ => $run:expr) => {{
        $({
            const $i: usize = $n;
            $run;
        })+
    }};
}
pub(crate) use unrolled;

/// Over the first numbers of a slice: an assignment, so that it becomes part of any sweep.
#[inline(always)]
pub(crate) fn put<T: Copy, const N: usize>(x: [T; N], to: &mut [T]) {
    match to.first_chunk_mut() {
        Some(to) => *to = x,
        None => unreachable!("results have the room that was checked at the door"),
    }
}

/// Zeros all along: a loop, since `fill` would be a call.
#[inline(always)]
pub(crate) fn zeros<S: Scalar>(x: &mut [S]) {
    for i in 0..x.len() {
        x[i] = S::ZERO;
    }
}

/// The most columns that stand side by side.
pub(crate) const MOST_COLUMNS: usize = 4;

/// One column is no more than its number.
impl<S: Scalar> Pack<S> for S {
    const COLUMNS: usize = 1;

    #[inline]
    fn spread(x: S) -> Self {
        x
    }

    #[inline]
    fn one_at(column: usize, block: usize) -> Option<Self> {
        if column == block { Some(S::ONE) } else { None }
    }

    #[inline]
    fn read(from: &[S]) -> Self {
        from[0]
    }

    #[inline]
    fn write(self, to: &mut [S]) {
        to[0] = self;
    }

    #[inline]
    fn three(x: [S; 3]) -> Self {
        x[0]
    }

    #[inline(always)]
    fn read_rows(from: &[S], apart: usize) -> [Self; MOST_COLUMNS] {
        [from[0], from[apart], from[2 * apart], from[3 * apart]]
    }

    #[inline(always)]
    fn write_rows(rows: [Self; MOST_COLUMNS], to: &mut [S], apart: usize) {
        for i in 0..MOST_COLUMNS {
            to[i * apart] = rows[i];
        }
    }

    #[inline(always)]
    fn write_some(self, places: &[usize], none: usize, to: &mut [S]) {
        if places[0] != none {
            to[places[0]] = self;
        }
    }

    #[inline]
    fn keep(self, bits: u8) -> Self {
        if bits & 1 != 0 { self } else { S::ZERO }
    }

    #[inline]
    fn over(self, other: Self, bits: u8) -> Self {
        if bits & 1 != 0 { self } else { other }
    }

    #[inline(always)]
    fn pick(self, _: &[usize; MOST_COLUMNS]) -> Self {
        self
    }

    #[inline(always)]
    fn write_first(self, places: &[usize], to: &mut [S]) {
        to[places[0]] = self;
    }

    #[inline(always)]
    fn fill(_: &Copies, _: usize, _: &mut [S]) {
        unreachable!("one column needs no copies")
    }

    #[inline(always)]
    fn copy(_: &Copies, _: &[Register<S>], _: &mut [S]) {
        unreachable!("one column needs no copies")
    }

    #[inline(always)]
    fn transpose(rows: [Self; MOST_COLUMNS]) -> [Self; MOST_COLUMNS] {
        rows
    }
}

/// `(cos √x, sin √x / √x)` for x ≥ 0: both are analytic at zero, which the exponential of a rotation vector needs.
#[inline(always)]
pub(crate) fn cos_sinc_sqrt<S: Scalar>(x: S) -> (S, S) {
    const SMALL: f64 = 0.25;
    // 1 − x/2! + x²/4! … and 1 − x/3! + x²/5! …: the first term left out is below 1e-19 for x < ¼.
    let (mut cos, mut sinc) = (S::ZERO, S::ZERO);
    for k in (0..10).rev() {
        cos = cos.mul_add(x, S::lift(SERIES[2 * k]));
        sinc = sinc.mul_add(x, S::lift(SERIES[2 * k + 1]));
    }
    let t = x.where_below(SMALL, S::ONE, x).sqrt();
    let (sin_t, cos_t) = t.sin_cos();
    (
        x.where_below(SMALL, cos, cos_t),
        x.where_below(SMALL, sinc, sin_t * t.recip()),
    )
}

/// (−1)^⌊i/2⌋ / i!
const SERIES: [f64; 20] = {
    let mut series = [1.0; 20];
    let mut factorial = 1.0;
    let mut i = 1;
    while i < 20 {
        factorial *= i as f64;
        series[i] = if (i / 2) % 2 == 0 { 1.0 } else { -1.0 } / factorial;
        i += 1;
    }
    series
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sinc_of_a_root_and_its_derivative_are_smooth_through_zero() {
        for t in [1e-8_f64, 1e-3, 0.3, 0.499, 0.501, 1.0, 2.5, 40.0] {
            let (c, s) = cos_sinc_sqrt(Dual::variable(t * t));
            // d/dx sin√x/√x = (cos t − sin t / t) / (2 t²) = −1/6 + t²/60 − …
            let slope = if t < 0.01 {
                -1.0 / 6.0 + t * t / 60.0
            } else {
                (t.cos() - t.sin() / t) / (2.0 * t * t)
            };
            assert!((s.derivative - slope).abs() < 2e-14, "{t}: {} {slope}", s.derivative);
            assert!(
                (c.value - t.cos()).abs() < 4e-16 && (s.value - t.sin() / t).abs() < 4e-16,
                "{t}"
            );
            assert!((c.derivative + 0.5 * s.value).abs() < 4e-16, "{t}");
        }
        let (c, s) = cos_sinc_sqrt(Dual::variable(0.0));
        assert_eq!((c.value, s.value, c.derivative), (1.0, 1.0, -0.5));
    }
}
