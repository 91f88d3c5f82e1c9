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
        self.by(|a, b, sum| a.mul_add(b, sum));
    }

    /// Where a fused multiply-add is a call.
    #[inline(always)]
    fn run_small(self) {
        self.by(|a, b, sum| a * b + sum);
    }
}

impl AddProduct<'_> {
    #[inline(always)]
    fn by(self, step: impl Fn(f64, f64, f64) -> f64 + Copy) {
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
        let blocks = a.chunks(ROWS * inner).zip(out.chunks_mut(ROWS * width));
        for (a, out) in blocks {
            for column in (0..width).step_by(COLUMNS) {
                if a.len() == ROWS * inner {
                    tile::<ROWS>(inner, a, b, [width, column], out, step);
                } else {
                    for (a, out) in a.chunks_exact(inner).zip(out.chunks_exact_mut(width)) {
                        tile::<1>(inner, a, b, [width, column], out, step);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn tile<const R: usize>(
    inner: usize,
    a: &[f64],
    b: &[f64],
    [width, column]: [usize; 2],
    out: &mut [f64],
    step: impl Fn(f64, f64, f64) -> f64,
) {
    let mut sums = [[0.0; COLUMNS]; R];
    for (r, sums) in sums.iter_mut().enumerate() {
        sums.copy_from_slice(&out[r * width + column..][..COLUMNS]);
    }
    let rows: [&[f64]; R] = core::array::from_fn(|r| &a[r * inner..(r + 1) * inner]);
    for (k, b) in b.chunks_exact(width).take(inner).enumerate() {
        let b = &b[column..column + COLUMNS];
        for r in 0..R {
            let weight = rows[r][k];
            for c in 0..COLUMNS {
                sums[r][c] = step(weight, b[c], sums[r][c]);
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        out[r * width + column..][..COLUMNS].copy_from_slice(sums);
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
