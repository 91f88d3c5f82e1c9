//! Products of matrices, four rows and eight columns at a time in registers.

use crate::simd::Task;

/// Columns that are computed together.
pub(super) const COLUMNS: usize = 8;
const ROWS: usize = 4;

/// How long rows are made so that columns go together without a rest.
pub(super) fn padded(columns: usize) -> usize {
    columns.next_multiple_of(COLUMNS)
}

/// `out` += A B: A is rows × inner, B inner × width and `out` rows × width, with a padded width.
pub(super) struct AddProduct<'a> {
    pub(super) inner: usize,
    pub(super) a: &'a [f64],
    pub(super) b: &'a [f64],
    pub(super) width: usize,
    pub(super) out: &'a mut [f64],
}

impl Task for AddProduct<'_> {
    #[inline(always)]
    fn run(self) {
        self.by::<Fused>();
    }

    /// Where a fused multiply-add is a call.
    #[inline(always)]
    fn run_small(self) {
        self.by::<Apart>();
    }
}

/// A row of a tile, and how a product is added to it. A type, as a closure might not become part of the loop.
trait Row: Copy {
    fn read(from: &[f64; COLUMNS]) -> Self;
    fn write(self, to: &mut [f64; COLUMNS]);
    /// `self` + a b.
    fn plus(self, a: f64, b: Self) -> Self;
}

/// Products and sums are rounded apart.
#[derive(Clone, Copy)]
struct Apart([f64; COLUMNS]);

impl Row for Apart {
    #[inline(always)]
    fn read(from: &[f64; COLUMNS]) -> Self {
        Self(*from)
    }

    #[inline(always)]
    fn write(self, to: &mut [f64; COLUMNS]) {
        *to = self.0;
    }

    #[inline(always)]
    fn plus(mut self, a: f64, b: Self) -> Self {
        for i in 0..COLUMNS {
            self.0[i] += a * b.0[i];
        }
        self
    }
}

/// Two registers, fused.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Fused([crate::simd::F64x4; 2]);

#[cfg(target_arch = "x86_64")]
impl Row for Fused {
    #[inline(always)]
    fn read(x: &[f64; COLUMNS]) -> Self {
        use crate::simd::F64x4;
        Self([
            F64x4::from_array([x[0], x[1], x[2], x[3]]),
            F64x4::from_array([x[4], x[5], x[6], x[7]]),
        ])
    }

    #[inline(always)]
    fn write(self, to: &mut [f64; COLUMNS]) {
        let ([a, b, c, d], [e, f, g, h]) = (self.0[0].to_array(), self.0[1].to_array());
        *to = [a, b, c, d, e, f, g, h];
    }

    #[inline(always)]
    fn plus(self, a: f64, b: Self) -> Self {
        use crate::scalar::Scalar;
        let a = crate::simd::F64x4::lift(a);
        Self([a.mul_add(b.0[0], self.0[0]), a.mul_add(b.0[1], self.0[1])])
    }
}

/// Fused where the processor does.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
struct Fused([f64; COLUMNS]);

#[cfg(not(target_arch = "x86_64"))]
impl Row for Fused {
    #[inline(always)]
    fn read(from: &[f64; COLUMNS]) -> Self {
        Self(*from)
    }

    #[inline(always)]
    fn write(self, to: &mut [f64; COLUMNS]) {
        *to = self.0;
    }

    #[inline(always)]
    fn plus(mut self, a: f64, b: Self) -> Self {
        for i in 0..COLUMNS {
            self.0[i] = a.mul_add(b.0[i], self.0[i]);
        }
        self
    }
}

impl AddProduct<'_> {
    #[inline(always)]
    fn by<T: Row>(self) {
        let Self {
            inner,
            a,
            b,
            width,
            out,
        } = self;
        if inner == 0 || width == 0 {
            return;
        }
        let rows = a.len() / inner;
        let whole = rows - rows % ROWS;
        for column in (0..width).step_by(COLUMNS) {
            for row in (0..whole).step_by(ROWS) {
                let a = &a[row * inner..(row + ROWS) * inner];
                tile::<ROWS, T>(inner, a, b, [width, column], &mut out[row * width..]);
            }
            for row in whole..rows {
                let a = &a[row * inner..(row + 1) * inner];
                tile::<1, T>(inner, a, b, [width, column], &mut out[row * width..]);
            }
        }
    }
}

#[inline(always)]
fn tile<const R: usize, T: Row>(inner: usize, a: &[f64], b: &[f64], [width, column]: [usize; 2], out: &mut [f64]) {
    let mut sums = [T::read(&[0.0; COLUMNS]); R];
    for r in 0..R {
        if let Some(from) = out[r * width + column..].first_chunk() {
            sums[r] = T::read(from);
        }
    }
    for k in 0..inner {
        let Some(b) = b[k * width + column..].first_chunk() else {
            return;
        };
        let b = T::read(b);
        for r in 0..R {
            sums[r] = sums[r].plus(a[r * inner + k], b);
        }
    }
    for r in 0..R {
        if let Some(to) = out[r * width + column..].first_chunk_mut() {
            sums[r].write(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Instructions;

    #[test]
    fn products_are_sums_of_products() {
        for (rows, inner, columns) in [(1, 1, 1), (4, 3, 8), (7, 5, 21), (6, 9, 17), (0, 3, 4), (3, 0, 4)] {
            let width = padded(columns);
            let a: Vec<f64> = (0..rows * inner).map(|i| (i as f64).sin()).collect();
            let b: Vec<f64> = (0..inner * width).map(|i| (2.0 * i as f64).cos()).collect();
            let mut out = vec![1.0; rows * width];
            let known: Vec<f64> = (0..rows * width)
                .map(|x| {
                    1.0 + (0..inner)
                        .map(|k| a[x / width * inner + k] * b[k * width + x % width])
                        .sum::<f64>()
                })
                .collect();
            let out_ = &mut out[..];
            Instructions::detect().perform::<f64, _>(AddProduct {
                inner,
                a: &a,
                b: &b,
                width,
                out: out_,
            });
            for (x, y) in out.iter().zip(&known) {
                assert!((x - y).abs() < 1e-14 * (1.0 + inner as f64));
            }
        }
    }
}
