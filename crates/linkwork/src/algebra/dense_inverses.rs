//! Small dense inverses: what has none in closed form, in joint or tip space.

use crate::scalar::Scalar;
use crate::{Error, Result};

/// A pivot below this part of the largest, in rows and columns of one size, is none.
const SMALLEST: f64 = 1e-12;

/// Singular values below this part of the largest are zero.
const NEGLIGIBLE: f64 = 1e-10;

/// Memory for inverses: only the first of a size allocates.
#[derive(Clone, Debug, Default)]
pub(super) struct Inverter<S> {
    scales: [Vec<f64>; 2],
    exchanged: Vec<(usize, usize)>,
    u: Vec<S>,
    v: Vec<S>,
}

impl<S: Scalar> Inverter<S> {
    /// The pseudo-inverse of a matrix with so many rows, in place: by its singular values, after Jacobi.
    pub(super) fn pseudo_invert(&mut self, a: &mut [S], rows: usize) {
        let columns = a.len().checked_div(rows).unwrap_or(0);
        let Self { u, v, .. } = self;
        // U = A V, with V a product of rotations that make the columns of U orthogonal.
        u.clear();
        u.extend_from_slice(a);
        v.clear();
        v.resize(columns * columns, S::ZERO);
        (0..columns).for_each(|i| v[i * columns + i] = S::ONE);
        for _ in 0..MOST_ROUNDS {
            let mut turned = false;
            for p in 0..columns {
                for q in p + 1..columns {
                    turned |= turn(u, v, columns, (p, q));
                }
            }
            if !turned {
                break;
            }
        }
        let square = |j: usize| {
            u.iter()
                .skip(j)
                .step_by(columns)
                .fold(S::ZERO, |sum, x| x.mul_add(*x, sum))
        };
        let largest = (0..columns).map(|j| square(j).lane(0)).fold(0.0, f64::max);
        // A⁺ = V Σ⁻² U*.
        a.fill(S::ZERO);
        for j in 0..columns {
            let d = square(j);
            if d.lane(0) <= NEGLIGIBLE * NEGLIGIBLE * largest {
                continue;
            }
            let inverse = d.recip();
            for i in 0..columns {
                let x = v[i * columns + j] * inverse;
                for r in 0..rows {
                    a[i * rows + r] = x.mul_add(u[r * columns + j], a[i * rows + r]);
                }
            }
        }
    }
}

/// So many times all pairs are turned at most; a handful do.
const MOST_ROUNDS: usize = 60;

/// Makes two columns of U orthogonal, and keeps count in V; false if they were.
fn turn<S: Scalar>(u: &mut [S], v: &mut [S], columns: usize, (p, q): (usize, usize)) -> bool {
    let (mut a, mut b, mut c) = (S::ZERO, S::ZERO, S::ZERO);
    for row in u.chunks_exact(columns) {
        a = row[p].mul_add(row[p], a);
        b = row[q].mul_add(row[q], b);
        c = row[p].mul_add(row[q], c);
    }
    let size = (a.lane(0) * b.lane(0)).sqrt();
    if c.lane(0).abs() <= 1e-15 * size || size == 0.0 {
        return false;
    }
    let zeta = (b - a) * (c + c).recip();
    let root = zeta.mul_add(zeta, S::ONE).sqrt();
    let t = if zeta.lane(0) < 0.0 {
        -(root - zeta).recip()
    } else {
        (root + zeta).recip()
    };
    let cos = t.mul_add(t, S::ONE).sqrt().recip();
    let sin = cos * t;
    for row in u.chunks_exact_mut(columns).chain(v.chunks_exact_mut(columns)) {
        let (x, y) = (row[p], row[q]);
        row[p] = cos * x - sin * y;
        row[q] = sin * x + cos * y;
    }
    true
}

/// Inverts a square matrix in place, row by row, by elimination with complete pivoting; `what` it is, for an error with
/// its rank. Rows and columns are brought to one size before, so that units do not matter.
pub(super) fn invert<S: Scalar>(a: &mut [S], what: &str, memory: &mut Inverter<S>) -> Result<()> {
    let n = a.len().isqrt();
    let size = |x: S| x.lane(0).abs();
    let Inverter { scales, exchanged, .. } = memory;
    for (columns, scale) in scales.iter_mut().enumerate() {
        scale.clear();
        scale.resize(n, 1.0);
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
    exchanged.clear();
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
                false => {
                    format!("it has no inverse at this configuration: its rank is {k} of {n}; pinv(…) is there at all")
                }
            };
            return Err(Error::Operator {
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

/// Whether a symmetric matrix has no direction with a negative weight: by elimination with the largest pivots first.
pub(super) fn is_weight<S: Scalar>(a: &[S], n: usize, lane: usize, x: &mut Vec<f64>) -> bool {
    x.clear();
    x.extend(a.iter().map(|x| x.lane(lane)));
    let size = x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if !x.iter().all(|x| x.is_finite()) {
        return false;
    }
    let small = 1e-9 * size;
    if (0..n * n).any(|i| (x[i] - x[i % n * n + i / n]).abs() > small) {
        return false;
    }
    for _ in 0..n {
        let largest = (0..n).max_by(|&i, &j| x[i * (n + 1)].total_cmp(&x[j * (n + 1)]));
        let k = largest.unwrap_or(0);
        let pivot = x[k * (n + 1)];
        // Where the largest is negligible, nothing else may be left.
        if pivot <= small {
            return x.iter().all(|x| x.abs() <= small);
        }
        for i in 0..n {
            let factor = x[i * n + k] / pivot;
            if i != k {
                (0..n)
                    .filter(|&j| j != k)
                    .for_each(|j| x[i * n + j] -= factor * x[k * n + j]);
            }
        }
        for i in 0..n {
            (x[i * n + k], x[k * n + i]) = (0.0, 0.0);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_of_mixed_units_times_its_inverse_is_the_identity() {
        let a = [0.0, 2e6, 1e3, 1e-5, 3.0, 0.0, 4e-3, 0.5, 7.0];
        let mut x = a;
        invert(&mut x, "a", &mut Inverter::default()).unwrap();
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
        let error = invert(&mut x, "X", &mut Inverter::default()).unwrap_err().to_string();
        assert!(error.contains("rank is 2 of 3"), "{error}");
    }

    #[test]
    fn a_pseudo_inverse_meets_the_equations_of_penrose_whatever_the_rank() {
        // Rank two, three rows, four columns.
        let a = [1.0, 2.0, 0.0, -1.0, 0.5, 1.0, 3.0, 2.0, 1.5, 3.0, 3.0, 1.0];
        let mut x = a;
        Inverter::default().pseudo_invert(&mut x, 3);
        let times = |a: &[f64], b: &[f64], n: usize, l: usize, m: usize| -> Vec<f64> {
            let at = |i: usize, j: usize| (0..l).map(|k| a[i * l + k] * b[k * m + j]).sum();
            (0..n * m).map(|ij| at(ij / m, ij % m)).collect()
        };
        let (ax, xa) = (times(&a, &x, 3, 4, 3), times(&x, &a, 4, 3, 4));
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13);
        assert!(close(&times(&ax, &a, 3, 3, 4), &a));
        assert!(close(&times(&xa, &x, 4, 4, 3), &x));
        for (p, n) in [(&ax, 3), (&xa, 4)] {
            let transposed: Vec<f64> = (0..n * n).map(|ij| p[ij % n * n + ij / n]).collect();
            assert!(close(p, &transposed));
        }
    }
}
