//! Symmetric positive matrices, perhaps singular: P*AP = LL* with the largest pivot first.

use super::dot;

/// A pivoted factor of a matrix scaled to a unit diagonal, and its rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cholesky {
    n: usize,
    /// L of the scaled matrix, rows in pivot order.
    l: Vec<f64>,
    /// Which row of the matrix each row of L is.
    order: Vec<usize>,
    /// 1 / √(diagonal).
    scale: Vec<f64>,
    rank: usize,
    x: Vec<f64>,
}

impl Cholesky {
    /// Memory for n rows.
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            l: vec![0.0; n * n],
            order: vec![0; n],
            scale: vec![0.0; n],
            rank: 0,
            x: vec![0.0; n],
        }
    }

    /// Factors a matrix whose lower triangle is given. Rows with a diagonal element up to `floor` are zero; pivots up
    /// to `tolerance`, of a unit diagonal, are zero too: their rows depend on those before them.
    #[inline(always)]
    pub(crate) fn factor(&mut self, a: &[f64], floor: f64, tolerance: f64) -> usize {
        let n = self.n;
        for i in 0..n {
            let d = a[i * n + i];
            self.scale[i] = if d > floor { d.sqrt().recip() } else { 0.0 };
            self.order[i] = i;
        }
        // What is left of the diagonal; row i of L is written where row i of the scaled matrix was.
        for i in 0..n {
            for j in 0..=i {
                self.l[i * n + j] = a[i * n + j] * self.scale[i] * self.scale[j];
            }
            self.x[i] = self.l[i * n + i];
        }
        self.rank = n;
        for k in 0..n {
            let left = |i: &usize| self.x[*i];
            let pivot = (k..n).fold(k, |best, i| if left(&i) > left(&best) { i } else { best });
            if self.x[pivot].is_nan() || self.x[pivot] <= tolerance {
                self.rank = k;
                break;
            }
            self.swap(k, pivot);
            let root = self.x[k].sqrt();
            let (head, tail) = self.l.split_at_mut((k + 1) * n);
            let row_k = &mut head[k * n..];
            row_k[k] = root;
            for (i, row) in tail.chunks_exact_mut(n).enumerate() {
                let x = (row[k] - dot(&row[..k], &row_k[..k])) / root;
                row[k] = x;
                self.x[k + 1 + i] -= x * x;
            }
        }
        self.rank
    }

    /// Exchanges rows and columns k < p of the lower triangle.
    #[inline(always)]
    fn swap(&mut self, k: usize, p: usize) {
        if k == p {
            return;
        }
        let n = self.n;
        self.order.swap(k, p);
        self.x.swap(k, p);
        for j in 0..k {
            self.l.swap(k * n + j, p * n + j);
        }
        for j in k + 1..p {
            self.l.swap(j * n + k, p * n + j);
        }
        for i in p + 1..n {
            self.l.swap(i * n + k, i * n + p);
        }
        self.l.swap(k * n + k, p * n + p);
    }

    /// Rows that depend on the others.
    pub(crate) fn dependent(&self) -> &[usize] {
        &self.order[self.rank..]
    }

    /// F, n × rank, of A = FF*.
    pub(crate) fn columns(&self, f: &mut Vec<f64>) {
        let (n, r) = (self.n, self.rank);
        f.clear();
        f.resize(n * r, 0.0);
        for i in 0..n {
            let at = self.order[i];
            for j in 0..r.min(i + 1) {
                f[at * r + j] = self.l[i * n + j] / self.scale[at].max(f64::MIN_POSITIVE);
            }
        }
        for (row, scale) in f.chunks_exact_mut(r.max(1)).zip(&self.scale) {
            if *scale == 0.0 {
                row.fill(0.0);
            }
        }
    }

    /// b ← A⁻¹b of a matrix of full rank.
    #[inline(always)]
    pub(crate) fn solve(&mut self, b: &mut [f64]) {
        let (n, l) = (self.n, &self.l);
        for i in 0..n {
            let at = self.order[i];
            let x = b[at] * self.scale[at] - dot(&l[i * n..i * n + i], &self.x[..i]);
            self.x[i] = x / l[i * n + i];
        }
        for i in (0..n).rev() {
            let x = self.x[i] / l[i * n + i];
            self.x[i] = x;
            let (before, row) = (&mut self.x[..i], &l[i * n..i * n + i]);
            super::add_scaled(before, -x, row);
        }
        for i in 0..n {
            let at = self.order[i];
            b[at] = self.x[i] * self.scale[at];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A = B B* for pseudo-random B, n × r.
    fn gram(n: usize, r: usize) -> Vec<f64> {
        let b: Vec<f64> = (0..n * r)
            .map(|i| ((i * i * 7 + i * 13 + 5) % 101) as f64 / 50.0 - 1.0)
            .collect();
        let at = |i: usize, j: usize| dot(&b[i * r..i * r + r], &b[j * r..j * r + r]);
        (0..n * n).map(|k| at(k / n, k % n)).collect()
    }

    #[test]
    fn regular_systems_are_solved() {
        let (n, a) = (7, gram(7, 11));
        let mut factor = Cholesky::new(n);
        assert_eq!(factor.factor(&a, 0.0, 1e-12), n);
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 2.5).collect();
        let mut b: Vec<f64> = (0..n).map(|i| dot(&a[i * n..i * n + n], &x)).collect();
        factor.solve(&mut b);
        assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-11), "{b:?}");
    }

    #[test]
    fn the_rank_is_found() {
        for r in 0..6 {
            let mut factor = Cholesky::new(6);
            assert_eq!(factor.factor(&gram(6, r), 0.0, 1e-12), r);
            assert_eq!(factor.dependent().len(), 6 - r);
        }
    }
}
