//! Any matrix, of any rank, by a complete orthogonal decomposition: A P = Q [T 0; 0 0] Z*.
//!
//! Householder reflections with column pivoting give Q and the rank; reflections from the right then clear what is
//! beside the triangle. Least-squares solutions of least norm, and bases of null spaces, follow.

use super::dot;

/// The decomposition of a rows × cols matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orthogonal {
    rows: usize,
    cols: usize,
    /// Row by row; reflectors below and beside the triangle T.
    a: Vec<f64>,
    /// Heads and factors of the left and the right reflectors.
    left: Vec<[f64; 2]>,
    right: Vec<[f64; 2]>,
    order: Vec<usize>,
    rank: usize,
    norms: Vec<f64>,
    y: Vec<f64>,
    x: Vec<f64>,
}

/// The reflection I − β v v* that takes x to (α, 0, …): v = x but for its head. Gives v's head, β and α.
fn reflection(head: f64, tail: f64) -> (f64, f64, f64) {
    let norm = head.hypot(tail.sqrt());
    if norm == 0.0 || tail == 0.0 {
        return (1.0, 0.0, head);
    }
    let alpha = if head > 0.0 { -norm } else { norm };
    let v = head - alpha;
    (v, 2.0 / (v * v + tail), alpha)
}

impl Orthogonal {
    /// Decomposes a rows × cols matrix. Columns whose remainder is at most `tolerance` of the largest column count as
    /// zero. Memory is made when it is first needed.
    pub(crate) fn factor(&mut self, rows: usize, cols: usize, a: &[f64], tolerance: f64) -> usize {
        self.resize(rows, cols);
        let (m, n) = (self.rows, self.cols);
        self.a.copy_from_slice(a);
        for j in 0..n {
            self.order[j] = j;
        }
        let mut largest = 0.0;
        self.rank = m.min(n);
        for k in 0..m.min(n) {
            for j in k..n {
                self.norms[j] = (k..m).map(|i| self.a[i * n + j].powi(2)).sum::<f64>().sqrt();
            }
            let pivot = (k..n).fold(k, |best, j| if self.norms[j] > self.norms[best] { j } else { best });
            if k == 0 {
                largest = self.norms[pivot];
            }
            if self.norms[pivot].is_nan() || self.norms[pivot] <= tolerance * largest || largest == 0.0 {
                self.rank = k;
                break;
            }
            if pivot != k {
                self.order.swap(k, pivot);
                for i in 0..m {
                    self.a.swap(i * n + k, i * n + pivot);
                }
            }
            let tail: f64 = (k + 1..m).map(|i| self.a[i * n + k].powi(2)).sum();
            let (head, beta, alpha) = reflection(self.a[k * n + k], tail);
            self.left[k] = [head, beta];
            for j in k + 1..n {
                let mut w = head * self.a[k * n + j];
                for i in k + 1..m {
                    w = self.a[i * n + k].mul_add(self.a[i * n + j], w);
                }
                w *= beta;
                self.a[k * n + j] -= w * head;
                for i in k + 1..m {
                    let v = self.a[i * n + k];
                    self.a[i * n + j] = (-w).mul_add(v, self.a[i * n + j]);
                }
            }
            self.a[k * n + k] = alpha;
        }
        self.clear_beside();
        self.rank
    }

    fn resize(&mut self, rows: usize, cols: usize) {
        (self.rows, self.cols) = (rows, cols);
        self.a.resize(rows * cols, 0.0);
        self.left.resize(rows.min(cols), [0.0; 2]);
        self.right.resize(rows.min(cols), [0.0; 2]);
        self.order.resize(cols, 0);
        self.norms.resize(cols, 0.0);
        self.y.resize(rows, 0.0);
        self.x.resize(cols, 0.0);
    }

    /// Reflections from the right, last row first: row k keeps its triangle, and what is beyond the rank goes into it.
    fn clear_beside(&mut self) {
        let (n, r) = (self.cols, self.rank);
        for k in (0..r).rev() {
            let row = &self.a[k * n..(k + 1) * n];
            let tail = dot(&row[r..], &row[r..]);
            let (head, beta, alpha) = reflection(row[k], tail);
            self.right[k] = [head, beta];
            let (above, own) = self.a.split_at_mut(k * n);
            let own = &own[..n];
            for row in above.chunks_exact_mut(n) {
                let w = beta * head.mul_add(row[k], dot(&row[r..], &own[r..]));
                row[k] -= w * head;
                super::add_scaled(&mut row[r..], -w, &own[r..]);
            }
            self.a[k * n + k] = alpha;
        }
    }

    /// x of least norm among those that bring A x closest to b; what A x misses of b is the result.
    pub(crate) fn solve(&mut self, b: &[f64], x: &mut [f64]) -> f64 {
        let r = self.rank;
        self.y.copy_from_slice(b);
        for k in 0..r {
            self.reflect(k);
        }
        self.solve_triangle();
        self.x[r..].fill(0.0);
        self.turn_back();
        for (i, &at) in self.order.iter().enumerate() {
            x[at] = self.x[i];
        }
        dot(&self.y[r..], &self.y[r..]).sqrt()
    }

    /// b ← (AA*)⁺b, for a matrix whose columns are independent.
    pub(crate) fn solve_gram(&mut self, b: &mut [f64]) {
        let (n, r) = (self.cols, self.rank);
        self.y.copy_from_slice(b);
        for k in 0..r {
            self.reflect(k);
        }
        self.solve_triangle();
        for k in 0..r {
            let known: f64 = (0..k).map(|i| self.a[i * n + k] * self.y[i]).sum();
            self.y[k] = (self.x[k] - known) / self.a[k * n + k];
        }
        self.y[r..].fill(0.0);
        for k in (0..r).rev() {
            self.reflect(k);
        }
        b.copy_from_slice(&self.y);
    }

    /// One of the reflections that Q is made of, on y.
    fn reflect(&mut self, k: usize) {
        let (m, n) = (self.rows, self.cols);
        let [head, beta] = self.left[k];
        let mut w = head * self.y[k];
        for i in k + 1..m {
            w = self.a[i * n + k].mul_add(self.y[i], w);
        }
        w *= beta;
        self.y[k] -= w * head;
        for i in k + 1..m {
            self.y[i] = (-w).mul_add(self.a[i * n + k], self.y[i]);
        }
    }

    /// x ← T⁻¹y.
    fn solve_triangle(&mut self) {
        let (n, r) = (self.cols, self.rank);
        for k in (0..r).rev() {
            let known = dot(&self.a[k * n + k + 1..k * n + r], &self.x[k + 1..r]);
            self.x[k] = (self.y[k] - known) / self.a[k * n + k];
        }
    }

    /// x ← Z x.
    fn turn_back(&mut self) {
        let (n, r) = (self.cols, self.rank);
        for k in 0..r {
            let [head, beta] = self.right[k];
            let own = &self.a[k * n..(k + 1) * n];
            let w = beta * head.mul_add(self.x[k], dot(&self.x[r..], &own[r..]));
            self.x[k] -= w * head;
            super::add_scaled(&mut self.x[r..], -w, &own[r..]);
        }
    }

    /// One of the cols − rank vectors of an orthonormal basis of all x with A x = 0.
    pub(crate) fn null_vector(&mut self, i: usize, x: &mut [f64]) {
        self.x.fill(0.0);
        self.x[self.rank + i] = 1.0;
        self.turn_back();
        for (i, &at) in self.order.iter().enumerate() {
            x[at] = self.x[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(m: usize, n: usize, r: usize) -> Vec<f64> {
        let pseudo = |i: usize| ((i * i * 31 + i * 17 + 3) % 97) as f64 / 48.0 - 1.0;
        let at = |i: usize, j: usize| {
            (0..r)
                .map(|k| pseudo(i * r + k) * pseudo(1000 + k * n + j))
                .sum::<f64>()
        };
        (0..m * n).map(|k| at(k / n, k % n)).collect()
    }

    #[test]
    fn solutions_are_closest_and_of_least_norm() {
        for (m, n, r) in [(5, 7, 5), (7, 5, 5), (6, 6, 4), (4, 9, 2), (9, 4, 3), (3, 3, 0)] {
            let a = product(m, n, r);
            let mut factor = Orthogonal::default();
            assert_eq!(factor.factor(m, n, &a, 1e-12), r, "{m} {n} {r}");
            let b: Vec<f64> = (0..m).map(|i| (i as f64 * 1.7).sin() + 0.3).collect();
            let mut x = vec![0.0; n];
            let missed = factor.solve(&b, &mut x);
            let rest: Vec<f64> = (0..m).map(|i| b[i] - dot(&a[i * n..i * n + n], &x)).collect();
            assert!((dot(&rest, &rest).sqrt() - missed).abs() < 1e-12);
            // The remainder is orthogonal to every column, and x to the null space.
            for j in 0..n {
                let along: f64 = (0..m).map(|i| a[i * n + j] * rest[i]).sum();
                assert!(along.abs() < 1e-11, "{m} {n} {r}: {along}");
            }
            let mut null = vec![0.0; n];
            for i in 0..n - r {
                factor.null_vector(i, &mut null);
                assert!((dot(&null, &null) - 1.0).abs() < 1e-13);
                assert!(dot(&null, &x).abs() < 1e-12);
                for row in a.chunks_exact(n) {
                    assert!(dot(row, &null).abs() < 1e-12);
                }
            }
        }
    }
}
