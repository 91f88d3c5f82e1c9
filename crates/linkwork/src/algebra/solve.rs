//! Small dense inverses: what has none in closed form, in joint or tip space.

use crate::scalar::Scalar;
use crate::{Error, Result};

/// A pivot below this part of the largest, in rows and columns of one size, is none.
const SMALLEST: f64 = 1e-12;

/// Inverts a square matrix in place, row by row, by elimination with complete pivoting; `what` it is, for an error with
/// its rank. Rows and columns are brought to one size before, so that units do not matter.
pub(super) fn invert<S: Scalar>(a: &mut [S], what: &str) -> Result<()> {
    let n = a.len().isqrt();
    let size = |x: S| x.lane(0).abs();
    let mut scales = [vec![1.0; n], vec![1.0; n]];
    for (columns, scale) in scales.iter_mut().enumerate() {
        for (i, scale) in scale.iter_mut().enumerate() {
            let at = |j: usize| if columns == 1 { j * n + i } else { i * n + j };
            let largest = (0..n).map(|j| size(a[at(j)])).fold(0.0, f64::max);
            if largest > 0.0 {
                *scale = largest.recip();
            }
            (0..n).for_each(|j| a[at(j)] = a[at(j)] * S::lift(*scale));
        }
    }
    // Gauss and Jordan in place: the row and the column of each pivot are kept to undo their exchange.
    let mut exchanged = Vec::with_capacity(n);
    for k in 0..n {
        let (mut pivot, mut largest) = ((k, k), -1.0);
        for i in k..n {
            for j in k..n {
                let x = size(a[i * n + j]);
                if x > largest || x.is_nan() {
                    (pivot, largest) = ((i, j), x);
                }
            }
        }
        // After scaling the largest number is one.
        if largest.is_nan() || largest < SMALLEST {
            let problem = match largest.is_nan() {
                true => "it is not finite at this configuration".to_owned(),
                false => format!("it has no inverse at this configuration: its rank is {k} of {n}"),
            };
            return Err(Error::Binding {
                name: what.to_owned(),
                problem,
            });
        }
        (0..n).for_each(|j| a.swap(k * n + j, pivot.0 * n + j));
        (0..n).for_each(|i| a.swap(i * n + k, i * n + pivot.1));
        exchanged.push(pivot);
        let inverse = a[k * n + k].recip();
        a[k * n + k] = S::ONE;
        (0..n).for_each(|j| a[k * n + j] = a[k * n + j] * inverse);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i * n + k];
            a[i * n + k] = S::ZERO;
            for j in 0..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    for (k, &(row, column)) in exchanged.iter().enumerate().rev() {
        (0..n).for_each(|j| a.swap(k * n + j, column * n + j));
        (0..n).for_each(|i| a.swap(i * n + k, i * n + row));
    }
    // (RAC)⁻¹ = C⁻¹A⁻¹R⁻¹.
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] = a[i * n + j] * S::lift(scales[1][i] * scales[0][j]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_of_mixed_units_times_its_inverse_is_the_identity() {
        let a = [0.0, 2e6, 1e3, 1e-5, 3.0, 0.0, 4e-3, 0.5, 7.0];
        let mut x = a;
        invert(&mut x, "a").unwrap();
        for i in 0..3 {
            for j in 0..3 {
                let terms: Vec<f64> = (0..3).map(|k| a[i * 3 + k] * x[k * 3 + j]).collect();
                let scale: f64 = terms.iter().map(|t| t.abs()).sum();
                let expect = if i == j { 1.0 } else { 0.0 };
                assert!((terms.iter().sum::<f64>() - expect).abs() < 1e-13 * scale.max(1.0));
            }
        }
    }

    #[test]
    fn what_lacks_rank_is_refused_with_its_rank() {
        let mut x = [1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1e9, 0.0, 1.0];
        let error = invert(&mut x, "X").unwrap_err().to_string();
        assert!(error.contains("rank is 2 of 3"), "{error}");
    }
}
