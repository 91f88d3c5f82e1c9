//! Small dense matrices, row by row: the plain way, to compare with.

use crate::energy::worse;

/// A B − I, its largest element.
pub(crate) fn product_less_identity(a: &[f64], b: &[f64], n: usize) -> f64 {
    let mut largest = 0.0_f64;
    for i in 0..n {
        for j in 0..n {
            let sum: f64 = (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum();
            let identity = f64::from(u8::from(i == j));
            largest = worse(largest, (sum - identity).abs());
        }
    }
    largest
}

/// A x.
pub(crate) fn times(a: &[f64], x: &[f64]) -> Vec<f64> {
    a.chunks(x.len()).map(|row| dot(row, x)).collect()
}

/// a·b.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The largest absolute value; NaN if there is one.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| worse(m, x.abs()))
}

/// The largest absolute difference; NaN if there is one.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| worse(m, (a - b).abs()))
}

/// The largest sum of absolute values of a row.
pub(crate) fn norm(a: &[f64], n: usize) -> f64 {
    let rows = a.chunks(n).map(|row| row.iter().map(|x| x.abs()).sum::<f64>());
    rows.fold(0.0, worse)
}

/// log det A of a symmetric positive definite A, by its Cholesky factor; NaN if it is not.
pub(crate) fn log_det(a: &[f64], n: usize) -> f64 {
    let mut l = a.to_vec();
    let mut sum = 0.0;
    for j in 0..n {
        let pivot = l[j * n + j] - dot(&l[j * n..j * n + j], &l[j * n..j * n + j]);
        let root = pivot.sqrt();
        sum += pivot.ln();
        l[j * n + j] = root;
        for i in j + 1..n {
            let inner = dot(&l[i * n..i * n + j], &l[j * n..j * n + j]);
            l[i * n + j] = (l[i * n + j] - inner) / root;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cholesky_finds_the_determinant() {
        let a = [4.0, 2.0, 0.0, 2.0, 5.0, 3.0, 0.0, 3.0, 6.0];
        // 4(30 − 9) − 2(12 − 0) = 60
        assert!((log_det(&a, 3) - 60.0_f64.ln()).abs() < 1e-14);
        assert!(log_det(&[-1.0], 1).is_nan());
    }

    #[test]
    fn nothing_hides_a_nan() {
        assert!(largest(&[1.0, f64::NAN, 2.0]).is_nan());
        assert!(distance(&[1.0, f64::NAN, 2.0], &[0.0; 3]).is_nan());
    }
}
