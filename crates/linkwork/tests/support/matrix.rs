//! Dense matrices, as plain as they come.

use std::ops::{Add, Mul, Sub};

/// A dense matrix, row by row. Empty ones (a fixed joint's) are fine.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub rows: usize,
    pub cols: usize,
    pub data: Vec<f64>,
}

impl Matrix {
    pub fn zeros(rows: usize, cols: usize) -> Self {
        let data = vec![0.0; rows * cols];
        Self { rows, cols, data }
    }

    pub fn identity(n: usize) -> Self {
        Self::diagonal(&vec![1.0; n])
    }

    pub fn diagonal(x: &[f64]) -> Self {
        Self::from_fn(x.len(), x.len(), |i, j| if i == j { x[i] } else { 0.0 })
    }

    pub fn from_fn(rows: usize, cols: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..rows * cols).map(|n| f(n / cols, n % cols)).collect();
        Self { rows, cols, data }
    }

    pub fn from_rows<const N: usize>(rows: &[[f64; N]]) -> Self {
        Self::from_fn(rows.len(), N, |i, j| rows[i][j])
    }

    /// From numbers row by row, as the library writes its matrices.
    pub fn from_slice(rows: usize, cols: usize, data: &[f64]) -> Self {
        assert_eq!(data.len(), rows * cols);
        let data = data.to_vec();
        Self { rows, cols, data }
    }

    pub fn column(x: &[f64]) -> Self {
        Self::from_slice(x.len(), 1, x)
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.cols + j]
    }

    pub fn set(&mut self, i: usize, j: usize, x: f64) {
        self.data[i * self.cols + j] = x;
    }

    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// The rows × cols block whose first element is (i, j).
    pub fn block(&self, i: usize, j: usize, rows: usize, cols: usize) -> Self {
        Self::from_fn(rows, cols, |r, c| self.at(i + r, j + c))
    }

    pub fn set_block(&mut self, i: usize, j: usize, block: &Self) {
        for r in 0..block.rows {
            for c in 0..block.cols {
                self.set(i + r, j + c, block.at(r, c));
            }
        }
    }

    /// The transpose.
    pub fn t(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self.at(j, i))
    }

    pub fn scale(&self, s: f64) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| s * self.at(i, j))
    }

    /// A x.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(self.cols, x.len());
        (0..self.rows).map(|i| dot(self.row(i), x)).collect()
    }

    /// The largest magnitude.
    pub fn max_abs(&self) -> f64 {
        self.data.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
    }

    /// The largest column sum of magnitudes.
    pub fn norm(&self) -> f64 {
        let sum = |j| (0..self.rows).map(|i| self.at(i, j).abs()).sum::<f64>();
        (0..self.cols).map(sum).fold(0.0, f64::max)
    }

    /// L, lower triangular, of A = L L*; none where A is not positive definite.
    pub fn cholesky(&self) -> Option<Self> {
        let n = self.rows;
        let mut l = Self::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                let rest = self.at(i, j) - dot(&l.row(i)[..j], &l.row(j)[..j]);
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

    /// A⁻¹B by elimination with partial pivoting.
    pub fn solve(&self, b: &Self) -> Self {
        let n = self.rows;
        assert!(self.cols == n && b.rows == n);
        let (mut a, mut x) = (self.clone(), b.clone());
        for k in 0..n {
            let pivot = (k..n).fold(k, |m, i| if a.at(i, k).abs() > a.at(m, k).abs() { i } else { m });
            a.swap_rows(k, pivot);
            x.swap_rows(k, pivot);
            assert!(a.at(k, k) != 0.0, "singular matrix");
            for i in k + 1..n {
                let f = a.at(i, k) / a.at(k, k);
                a.subtract_row(i, f, k);
                x.subtract_row(i, f, k);
            }
        }
        for k in (0..n).rev() {
            for i in k + 1..n {
                x.subtract_row(k, a.at(k, i), i);
            }
            for j in 0..x.cols {
                x.set(k, j, x.at(k, j) / a.at(k, k));
            }
        }
        x
    }

    pub fn inverse(&self) -> Self {
        self.solve(&Self::identity(self.rows))
    }

    /// ‖A‖ ‖A⁻¹‖, at least one.
    pub fn condition(&self) -> f64 {
        (self.norm() * self.inverse().norm()).max(1.0)
    }

    fn swap_rows(&mut self, a: usize, b: usize) {
        for j in 0..self.cols {
            self.data.swap(a * self.cols + j, b * self.cols + j);
        }
    }

    /// Row i less f times row k.
    fn subtract_row(&mut self, i: usize, f: f64, k: usize) {
        if f != 0.0 {
            for j in 0..self.cols {
                self.data[i * self.cols + j] -= f * self.data[k * self.cols + j];
            }
        }
    }
}

/// x*y.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl Mul for &Matrix {
    type Output = Matrix;
    fn mul(self, b: &Matrix) -> Matrix {
        assert_eq!(self.cols, b.rows);
        let mut out = Matrix::zeros(self.rows, b.cols);
        for i in 0..self.rows {
            let into = &mut out.data[i * b.cols..(i + 1) * b.cols];
            // Operators of trees are mostly zero.
            for (k, &a) in self.row(i).iter().enumerate().filter(|(_, a)| **a != 0.0) {
                for (x, y) in into.iter_mut().zip(b.row(k)) {
                    *x += a * y;
                }
            }
        }
        out
    }
}

impl Add for &Matrix {
    type Output = Matrix;
    fn add(self, b: &Matrix) -> Matrix {
        assert_eq!((self.rows, self.cols), (b.rows, b.cols));
        Matrix::from_fn(self.rows, self.cols, |i, j| self.at(i, j) + b.at(i, j))
    }
}

impl Sub for &Matrix {
    type Output = Matrix;
    fn sub(self, b: &Matrix) -> Matrix {
        assert_eq!((self.rows, self.cols), (b.rows, b.cols));
        Matrix::from_fn(self.rows, self.cols, |i, j| self.at(i, j) - b.at(i, j))
    }
}

/// Products and sums read better without the ampersands of every step.
macro_rules! by_value {
    ($($op:ident $f:ident),*) => {$(
        impl $op<&Matrix> for Matrix {
            type Output = Matrix;
            fn $f(self, b: &Matrix) -> Matrix {
                (&self).$f(b)
            }
        }
        impl $op<Matrix> for &Matrix {
            type Output = Matrix;
            fn $f(self, b: Matrix) -> Matrix {
                self.$f(&b)
            }
        }
        impl $op for Matrix {
            type Output = Matrix;
            fn $f(self, b: Matrix) -> Matrix {
                (&self).$f(&b)
            }
        }
    )*};
}

by_value!(Mul mul, Add add, Sub sub);
