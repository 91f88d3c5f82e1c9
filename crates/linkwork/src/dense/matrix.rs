//! Dense square algebra for models of a few hundred states. Matrices are row by row.
//!
//! Products and sums are not fused here: outside of sweeps that would be a call for every number.

use rayon::prelude::*;

/// From how many numbers on a matrix is worth several threads.
const LARGE: usize = 10_000;

/// Does something to each row of a matrix, on all threads if it is large.
fn each_row(x: &mut [f64], cols: usize, change: impl Fn(usize, &mut [f64]) + Sync) {
    if x.len() < LARGE {
        x.chunks_mut(cols.max(1))
            .enumerate()
            .for_each(|(i, row)| change(i, row));
    } else {
        let rows = x.par_chunks_mut(cols).enumerate().with_min_len(8);
        rows.for_each(|(i, row)| change(i, row));
    }
}

/// A (rows × inner) times B (inner × cols).
pub(crate) fn product(rows: usize, inner: usize, cols: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; rows * cols];
    each_row(&mut out, cols, |i, out| {
        let (weights, rows) = (&a[i * inner..(i + 1) * inner], b.chunks_exact(cols.max(1)));
        // Four at a time, so that the sums are seldom put back.
        let (fours, last) = weights.as_chunks::<4>();
        let mut rows = rows;
        for w in fours {
            let [Some(p), Some(q), Some(r), Some(s)] = [rows.next(), rows.next(), rows.next(), rows.next()] else {
                return;
            };
            for ((((y, p), q), r), s) in out.iter_mut().zip(p).zip(q).zip(r).zip(s) {
                *y += (w[0] * p + w[1] * q) + (w[2] * r + w[3] * s);
            }
        }
        last.iter().zip(rows).for_each(|(w, row)| add_multiple(out, *w, row));
    });
    out
}

/// A*BA of square matrices.
pub(crate) fn congruence(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    product(n, n, n, &transpose(n, n, a), &product(n, n, n, b, a))
}

/// A⁻¹ by elimination with partial pivoting, in place; none if A is singular.
pub(crate) fn inverse(n: usize, a: &[f64]) -> Option<Vec<f64>> {
    let (mut x, mut row, mut pivots) = (a.to_vec(), vec![0.0; n], Vec::with_capacity(n));
    for k in 0..n {
        let larger = |a: usize, b: usize| x[a * n + k].abs() >= x[b * n + k].abs();
        let pivot = (k..n).fold(k, |best, i| if larger(best, i) { best } else { i });
        let size = x[pivot * n + k];
        if size == 0.0 || !size.is_finite() {
            return None;
        }
        (0..n).for_each(|j| x.swap(k * n + j, pivot * n + j));
        pivots.push(pivot);
        row.copy_from_slice(&x[k * n..(k + 1) * n]);
        row[k] = 1.0;
        row.iter_mut().for_each(|x| *x /= size);
        each_row(&mut x, n, |i, to| {
            if i == k {
                to.copy_from_slice(&row);
            } else {
                let weight = to[k];
                to[k] = 0.0;
                add_multiple(to, -weight, &row);
            }
        });
    }
    for (k, pivot) in pivots.into_iter().enumerate().rev() {
        (0..n).for_each(|i| x.swap(i * n + k, i * n + pivot));
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// Adds a multiple of the identity.
pub(crate) fn shifted(n: usize, a: &[f64], by: f64) -> Vec<f64> {
    let mut out = a.to_vec();
    (0..n).for_each(|i| out[i * n + i] += by);
    out
}

pub(crate) fn identity(n: usize) -> Vec<f64> {
    shifted(n, &vec![0.0; n * n], 1.0)
}

pub(crate) fn transpose(rows: usize, cols: usize, a: &[f64]) -> Vec<f64> {
    let at = |i: usize| a[(i % rows) * cols + i / rows];
    (0..rows * cols).map(at).collect()
}

/// ½(A + A*).
pub(crate) fn symmetric(n: usize, a: &[f64]) -> Vec<f64> {
    let at = |i: usize| 0.5 * (a[i] + a[(i % n) * n + i / n]);
    (0..n * n).map(at).collect()
}

/// a + s b.
pub(crate) fn sum(a: &[f64], s: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + s * b).collect()
}

/// The root of the sum of squares.
pub(crate) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn add_multiple(y: &mut [f64], s: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += s * x;
    }
}
