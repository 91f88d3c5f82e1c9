//! Eigenvalues of small symmetric matrices, by Jacobi's rotations.

/// A = V diag(values) V*.
#[derive(Clone, Debug)]
pub(crate) struct Eigen<const N: usize> {
    pub(crate) values: [f64; N],
    /// Row by row: each column is an eigenvector.
    pub(crate) vectors: [[f64; N]; N],
}

impl<const N: usize> Eigen<N> {
    /// Of a symmetric matrix.
    pub(crate) fn new(mut a: [[f64; N]; N]) -> Self {
        const SWEEPS: usize = 40;
        let mut v: [[f64; N]; N] = core::array::from_fn(|i| core::array::from_fn(|j| f64::from(u8::from(i == j))));
        for _ in 0..SWEEPS {
            let mut off = 0.0;
            let mut on = 0.0;
            for i in 0..N {
                on += a[i][i] * a[i][i];
                off += a[i][i + 1..].iter().map(|x| x * x).sum::<f64>();
            }
            if off <= on * 1e-34 {
                break;
            }
            for p in 0..N {
                for q in p + 1..N {
                    rotate(&mut a, &mut v, p, q);
                }
            }
        }
        Self {
            values: core::array::from_fn(|i| a[i][i]),
            vectors: v,
        }
    }

    /// The largest eigenvalue.
    pub(crate) fn largest(&self) -> f64 {
        self.values.iter().copied().fold(f64::MIN, f64::max)
    }
}

/// Turns the plane of p and q so that a[p][q] vanishes.
fn rotate<const N: usize>(a: &mut [[f64; N]; N], v: &mut [[f64; N]; N], p: usize, q: usize) {
    let off = a[p][q];
    if off == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * off);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    for k in 0..N {
        (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
    }
    for row in v.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_its_eigenvectors_and_values() {
        let a = [[4.0, 1.0, -2.0], [1.0, 2.0, 0.5], [-2.0, 0.5, 3.0]];
        let Eigen { values, vectors: v } = Eigen::new(a);
        for i in 0..3 {
            for j in 0..3 {
                let sum: f64 = (0..3).map(|k| v[i][k] * values[k] * v[j][k]).sum();
                assert!((sum - a[i][j]).abs() < 1e-14);
            }
        }
    }
}
