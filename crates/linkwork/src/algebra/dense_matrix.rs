//! Dense matrices, for definitions and small problems.

use core::ops::{Add, Mul, Sub};

/// A dense matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// How many rows.
    pub rows: usize,
    /// How many columns.
    pub columns: usize,
    /// The numbers, row by row.
    pub data: Vec<f64>,
}

impl Matrix {
    /// All zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        let data = vec![0.0; rows * columns];
        Self { rows, columns, data }
    }

    /// Ones on the diagonal.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// Element by element.
    pub fn from_fn(rows: usize, columns: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..rows * columns).map(|n| f(n / columns, n % columns)).collect();
        Self { rows, columns, data }
    }

    /// One column.
    pub fn column(x: &[f64]) -> Self {
        Self {
            rows: x.len(),
            columns: 1,
            data: x.to_vec(),
        }
    }

    /// An element.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.columns + j]
    }

    /// The transpose.
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |i, j| self.at(j, i))
    }

    pub(crate) fn set(&mut self, i: usize, j: usize, x: f64) {
        self.data[i * self.columns + j] = x;
    }

    pub(crate) fn block(&self, i: usize, j: usize, rows: usize, columns: usize) -> Self {
        Self::from_fn(rows, columns, |r, c| self.at(i + r, j + c))
    }

    pub(crate) fn set_block(&mut self, i: usize, j: usize, block: &Self) {
        for r in 0..block.rows {
            for c in 0..block.columns {
                self.set(i + r, j + c, block.at(r, c));
            }
        }
    }

    pub(crate) fn scaled(&self, s: f64) -> Self {
        Self::from_fn(self.rows, self.columns, |i, j| s * self.at(i, j))
    }

    /// L, lower triangular, of A = L L*; none where A is not positive definite.
    pub(crate) fn cholesky(&self) -> Option<Self> {
        let mut l = Self::zeros(self.rows, self.rows);
        for i in 0..self.rows {
            for j in 0..=i {
                let inner: f64 = (0..j).map(|k| l.at(i, k) * l.at(j, k)).sum();
                let rest = self.at(i, j) - inner;
                if i > j {
                    l.set(i, j, rest / l.at(j, j));
                } else if rest > 0.0 {
                    l.set(i, i, rest.sqrt());
                } else {
                    return None;
                }
            }
        }
        Some(l)
    }

    /// The inverse, by elimination with partial pivoting; none where a pivot vanishes.
    pub(crate) fn inverse(&self) -> Option<Self> {
        let n = self.rows;
        let (mut a, mut x) = (self.clone(), Self::identity(n));
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a.at(i, k).abs().total_cmp(&a.at(j, k).abs()))?;
            if a.at(pivot, k) == 0.0 {
                return None;
            }
            for j in 0..n {
                a.data.swap(k * n + j, pivot * n + j);
                x.data.swap(k * n + j, pivot * n + j);
            }
            let scale = a.at(k, k).recip();
            for j in 0..n {
                a.set(k, j, a.at(k, j) * scale);
                x.set(k, j, x.at(k, j) * scale);
            }
            for i in (0..n).filter(|&i| i != k) {
                let factor = a.at(i, k);
                if factor == 0.0 {
                    continue;
                }
                for j in 0..n {
                    a.set(i, j, a.at(i, j) - factor * a.at(k, j));
                    x.set(i, j, x.at(i, j) - factor * x.at(k, j));
                }
            }
        }
        Some(x)
    }
}

impl Mul for &Matrix {
    type Output = Matrix;
    fn mul(self, b: Self) -> Matrix {
        let mut c = Matrix::zeros(self.rows, b.columns);
        for i in 0..self.rows {
            for k in 0..self.columns {
                let a = self.at(i, k);
                if a == 0.0 {
                    continue;
                }
                for j in 0..b.columns {
                    c.data[i * b.columns + j] += a * b.at(k, j);
                }
            }
        }
        c
    }
}

impl Add for &Matrix {
    type Output = Matrix;
    fn add(self, b: Self) -> Matrix {
        Matrix::from_fn(self.rows, self.columns, |i, j| self.at(i, j) + b.at(i, j))
    }
}

impl Sub for &Matrix {
    type Output = Matrix;
    fn sub(self, b: Self) -> Matrix {
        Matrix::from_fn(self.rows, self.columns, |i, j| self.at(i, j) - b.at(i, j))
    }
}
