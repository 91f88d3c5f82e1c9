//! Dense linear equations, for Newton's method.

/// A square matrix as L U with its rows exchanged.
#[derive(Clone, Debug)]
pub(crate) struct Lu {
    n: usize,
    a: Vec<f64>,
    rows: Vec<usize>,
}

impl Lu {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            a: vec![0.0; n * n],
            rows: vec![0; n],
        }
    }

    /// Row by row, to be filled before [`Lu::factor`].
    pub(crate) fn matrix(&mut self) -> &mut [f64] {
        &mut self.a
    }

    /// Factors the matrix in place. False if it is singular.
    pub(crate) fn factor(&mut self) -> bool {
        let n = self.n;
        for k in 0..n {
            let mut p = k;
            for i in k + 1..n {
                if self.a[i * n + k].abs() > self.a[p * n + k].abs() {
                    p = i;
                }
            }
            self.rows[k] = p;
            let pivot = self.a[p * n + k];
            if !(pivot.abs() > 0.0 && pivot.is_finite()) {
                return false;
            }
            if p != k {
                for j in 0..n {
                    self.a.swap(k * n + j, p * n + j);
                }
            }
            let (upper, lower) = self.a.split_at_mut((k + 1) * n);
            let row = &upper[k * n..];
            for below in lower.chunks_exact_mut(n) {
                let factor = below[k] / pivot;
                below[k] = factor;
                for (x, y) in below[k + 1..].iter_mut().zip(&row[k + 1..]) {
                    *x -= factor * y;
                }
            }
        }
        true
    }

    /// Solves in place for all columns of a matrix of rows that are `width` long.
    pub(crate) fn solve_rows(&self, x: &mut [f64], width: usize) {
        let n = self.n;
        let eliminate = |to: &mut [f64], weight: f64, from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(x, y)| *x -= weight * y);
        };
        for (k, &other) in self.rows.iter().enumerate().filter(|(k, other)| k != *other) {
            for j in 0..width {
                x.swap(k * width + j, other * width + j);
            }
        }
        for i in 0..n {
            let (done, rest) = x.split_at_mut(i * width);
            for (k, row) in done.chunks_exact(width).enumerate() {
                eliminate(&mut rest[..width], self.a[i * n + k], row);
            }
        }
        for i in (0..n).rev() {
            let (rest, done) = x.split_at_mut((i + 1) * width);
            let row = &mut rest[i * width..];
            for (k, other) in (i + 1..n).zip(done.chunks_exact(width)) {
                eliminate(row, self.a[i * n + k], other);
            }
            let scale = self.a[i * n + i].recip();
            row.iter_mut().for_each(|x| *x *= scale);
        }
    }

    /// Solves in place.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let n = self.n;
        for k in 0..n {
            x.swap(k, self.rows[k]);
        }
        for i in 0..n {
            let (done, rest) = x.split_at_mut(i);
            rest[0] -= dot(&self.a[i * n..i * n + i], done);
        }
        for i in (0..n).rev() {
            let (rest, done) = x.split_at_mut(i + 1);
            rest[i] = (rest[i] - dot(&self.a[i * n + i + 1..(i + 1) * n], done)) / self.a[i * n + i];
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_satisfy_their_equations() {
        let matrix = [0.0, 2.0, 1.0, 1.0, -2.0, 4.0, 3.0, 1.0, 1.0];
        let mut lu = Lu::new(3);
        lu.matrix().copy_from_slice(&matrix);
        assert!(lu.factor());
        let mut x = [4.0, 9.0, 8.0];
        lu.solve(&mut x);
        for (row, b) in matrix.chunks_exact(3).zip([4.0, 9.0, 8.0]) {
            assert!((dot(row, &x) - b).abs() < 1e-14);
        }
        let mut both = [4.0, 1.0, 9.0, 0.0, 8.0, 0.0];
        lu.solve_rows(&mut both, 2);
        for i in 0..3 {
            assert!((both[2 * i] - x[i]).abs() < 1e-14);
        }
        for (row, b) in matrix.chunks_exact(3).zip([1.0, 0.0, 0.0]) {
            let sum: f64 = (0..3).map(|i| row[i] * both[2 * i + 1]).sum();
            assert!((sum - b).abs() < 1e-14);
        }
        lu.matrix().fill(1.0);
        assert!(!lu.factor());
    }
}
