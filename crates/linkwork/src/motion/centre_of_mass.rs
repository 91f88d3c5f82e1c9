//! The centre of mass in a step: three rows beside the tree, as all links share in them.

use super::residual::{Seen, square};
use crate::Result;
use crate::dense::dot;
use crate::spatial::Vec3;
use crate::workspace::{AugmentedMass, Configured};

/// The rows C of the centre of mass, and 𝓐⁻¹ of them.
#[derive(Clone, Debug)]
pub(super) struct Centre {
    pub(super) task: usize,
    rows: Vec<f64>,
    solved: Vec<f64>,
    weight: [[f64; 3]; 3],
    counts: bool,
}

impl Centre {
    pub(super) fn new(task: usize, nv: usize) -> Self {
        Self {
            task,
            rows: vec![0.0; 3 * nv],
            solved: vec![0.0; 3 * nv],
            weight: [[0.0; 3]; 3],
            counts: false,
        }
    }

    pub(super) fn look(&mut self, posed: &mut Configured<'_>) -> Result<()> {
        posed.com_jacobian(&mut self.rows)
    }

    /// Cx.
    pub(super) fn times(&self, x: &[f64]) -> Vec3 {
        let row = |i: usize| dot(&self.rows[i * x.len()..][..x.len()], x);
        Vec3::new(row(0), row(1), row(2))
    }

    /// Adds C*Ge, and takes up the weight.
    pub(super) fn pull(&mut self, seen: &Seen, scale: f64, gradient: &mut [f64]) {
        self.counts = scale > 0.0;
        self.weight = square(&seen.g[1].map(|x| x * scale));
        let [_, push] = seen.force();
        if self.counts {
            add_rows(&self.rows, (push * scale).to_array(), gradient);
        }
    }

    /// (𝓐 + C*GC)⁻¹b from x = 𝓐⁻¹b: x − 𝓐⁻¹C*(I + GW)⁻¹GCx with W = C𝓐⁻¹C*.
    pub(super) fn correct(&mut self, operator: &mut AugmentedMass<'_>, x: &mut [f64]) {
        if !self.counts {
            return;
        }
        let nv = x.len();
        let pairs = self.rows.chunks_exact(nv).zip(self.solved.chunks_exact_mut(nv));
        for (row, solved) in pairs {
            operator.solve_pushed(Some(row), false, solved);
        }
        let (row, solved) = (
            |i: usize| &self.rows[i * nv..][..nv],
            |i: usize| &self.solved[i * nv..][..nv],
        );
        let w: [[f64; 3]; 3] = [0, 1, 2].map(|i| [0, 1, 2].map(|j| dot(row(i), solved(j))));
        let cx = [0, 1, 2].map(|i| dot(row(i), x));
        let g = &self.weight;
        let times = |i: usize, v: &dyn Fn(usize) -> f64| (0..3).map(|k| g[i][k] * v(k)).sum::<f64>();
        // [I + GW | GCx], eliminated with pivots: it is similar to a symmetric positive matrix.
        let mut s = [0, 1, 2].map(|i| {
            let at = |j: usize| times(i, &|k| w[k][j]) + if i == j { 1.0 } else { 0.0 };
            [at(0), at(1), at(2), times(i, &|k| cx[k])]
        });
        for c in 0..3 {
            let best = (c..3)
                .max_by(|&a, &b| s[a][c].abs().total_cmp(&s[b][c].abs()))
                .unwrap_or(c);
            s.swap(c, best);
            for r in 0..3 {
                if r != c {
                    let t = s[r][c] / s[c][c];
                    for j in c..4 {
                        s[r][j] -= t * s[c][j];
                    }
                }
            }
        }
        let y = [0, 1, 2].map(|i| -s[i][3] / s[i][i]);
        if y.iter().all(|y| y.is_finite()) {
            add_rows(&self.solved, y, x);
        }
    }
}

/// out += C*x.
fn add_rows(rows: &[f64], x: [f64; 3], out: &mut [f64]) {
    for (row, x) in rows.chunks_exact(out.len()).zip(x) {
        for (out, c) in out.iter_mut().zip(row) {
            *out += c * x;
        }
    }
}
