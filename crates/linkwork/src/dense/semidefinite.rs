//! Symmetric matrices without negative eigenvalues: solved, if they are singular in the sense of least norm.

use super::{Cholesky, Orthogonal};

/// Pivots below this part of the diagonal count as zero.
const DEPENDENT: f64 = 1e-11;

/// A factor that answers for any rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Semidefinite {
    n: usize,
    rank: usize,
    factor: Cholesky,
    /// F of A = FF*, and its decomposition, where the rank is not full.
    columns: Vec<f64>,
    least: Orthogonal,
}

impl Semidefinite {
    /// Memory for n rows; more is made when a rank is first not full.
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            factor: Cholesky::new(n),
            ..Self::default()
        }
    }

    /// Factors a matrix whose lower triangle is given; diagonal elements up to `floor` are rounding.
    #[inline(always)]
    pub(crate) fn factor(&mut self, a: &[f64], floor: f64) -> usize {
        self.rank = self.factor.factor(a, floor, DEPENDENT);
        if self.rank < self.n {
            self.factor.columns(&mut self.columns);
            self.least.factor(self.n, self.rank, &self.columns, 0.0);
        }
        self.rank
    }

    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.rank == self.n
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// Rows that depend on the others.
    pub(crate) fn dependent(&self) -> &[usize] {
        self.factor.dependent()
    }

    /// b ← A⁺b.
    #[inline(always)]
    pub(crate) fn solve(&mut self, b: &mut [f64]) {
        if self.is_full() {
            self.factor.solve(b);
        } else {
            self.least.solve_gram(b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::dot;

    #[test]
    fn singular_systems_have_a_solution_of_least_norm() {
        let (n, r) = (6, 4);
        let b: Vec<f64> = (0..n * r)
            .map(|i| ((i * i * 7 + i * 13 + 5) % 101) as f64 / 50.0 - 1.0)
            .collect();
        let at = |i: usize, j: usize| dot(&b[i * r..i * r + r], &b[j * r..j * r + r]);
        let a: Vec<f64> = (0..n * n).map(|k| at(k / n, k % n)).collect();
        let mut solver = Semidefinite::new(n);
        assert_eq!(solver.factor(&a, 0.0), r);
        // A w for any w is solved by what of w lies in the range.
        let w: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let times = |x: &[f64]| -> Vec<f64> { (0..n).map(|i| dot(&a[i * n..i * n + n], x)).collect() };
        let image = times(&w);
        let mut x = image.clone();
        solver.solve(&mut x);
        assert!(times(&x).iter().zip(&image).all(|(a, b)| (a - b).abs() < 1e-12));
        // In the range: solving A x again and again changes nothing.
        let mut again = times(&x);
        solver.solve(&mut again);
        assert!(again.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(dot(&x, &x) < dot(&w, &w));
    }
}
