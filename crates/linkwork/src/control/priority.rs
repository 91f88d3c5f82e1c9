//! Forces at several frames, in strict order of priority, from Ω = J𝓜⁻¹J*.
//!
//! The forces F with ΩF = b are found by block elimination, level after level: what a later level does, earlier ones undo
//! through Λ, so that they never feel it. Near singular configurations Λ is damped in the directions that are lost, and there
//! alone.

use crate::dense::Eigen;

/// Six numbers by six.
type Six = [[f64; 6]; 6];

/// Memory for a number of levels.
#[derive(Clone, Debug)]
pub(super) struct Priorities {
    levels: usize,
    /// Ω of all frames, 6ℓ × 6ℓ, filled by the caller.
    pub(super) compliance: Vec<f64>,
    /// What forces are to add to the accelerations, six numbers per frame; then the forces.
    pub(super) wanted: Vec<f64>,
    /// Per level: which rows count, Λ, and the least eigenvalue of Λ⁻¹ over the largest.
    rows: Vec<[bool; 6]>,
    inertias: Vec<Six>,
    reach: Vec<f64>,
    /// What scales each frame's own Ω to a unit mean of turning and of moving.
    scales: Vec<[f64; 6]>,
}

impl Priorities {
    pub(super) fn new(rows: Vec<[bool; 6]>) -> Self {
        let levels = rows.len();
        Self {
            levels,
            compliance: vec![0.0; 36 * levels * levels],
            wanted: vec![0.0; 6 * levels],
            rows,
            inertias: vec![[[0.0; 6]; 6]; levels],
            reach: vec![0.0; levels],
            scales: vec![[1.0; 6]; levels],
        }
    }

    /// Per level: the least eigenvalue of what earlier levels leave of Λ⁻¹, scaled to a unit mean; 0 where a direction is
    /// lost.
    pub(super) fn reach(&self) -> &[f64] {
        &self.reach
    }

    fn block(&self, i: usize, j: usize) -> Six {
        let n = 6 * self.levels;
        core::array::from_fn(|r| core::array::from_fn(|c| self.compliance[(6 * i + r) * n + 6 * j + c]))
    }

    fn set_block(&mut self, i: usize, j: usize, x: &Six) {
        let n = 6 * self.levels;
        for r in 0..6 {
            self.compliance[(6 * i + r) * n + 6 * j..][..6].copy_from_slice(&x[r]);
        }
    }

    fn part(&self, i: usize) -> [f64; 6] {
        core::array::from_fn(|r| self.wanted[6 * i + r])
    }

    /// The forces, in the place of what was wanted. Directions whose eigenvalue, scaled so that metres and radians do not
    /// matter, is below `singular` are damped.
    pub(super) fn solve(&mut self, singular: f64) {
        for i in 0..self.levels {
            for j in 0..self.levels {
                let mut x = self.block(i, j);
                for r in 0..6 {
                    for c in 0..6 {
                        if !(self.rows[i][r] && self.rows[j][c]) {
                            x[r][c] = 0.0;
                        }
                    }
                }
                self.set_block(i, j, &x);
            }
            self.scales[i] = unit_means(&self.block(i, i));
            for r in 0..6 {
                self.wanted[6 * i + r] *= f64::from(self.rows[i][r]);
            }
        }
        for k in 0..self.levels {
            let (inertia, reach) = damped_inverse(&self.block(k, k), self.rows[k], self.scales[k], singular);
            (self.inertias[k], self.reach[k]) = (inertia, reach);
            let y = times(&inertia, self.part(k));
            for i in k + 1..self.levels {
                let across = self.block(i, k);
                let lost = times(&across, y);
                for r in 0..6 {
                    self.wanted[6 * i + r] -= lost[r];
                }
                for j in k + 1..self.levels {
                    let (mut x, other) = (self.block(i, j), self.block(k, j));
                    for c in 0..6 {
                        let column = times(&across, times(&inertia, core::array::from_fn(|r| other[r][c])));
                        for r in 0..6 {
                            x[r][c] -= column[r];
                        }
                    }
                    self.set_block(i, j, &x);
                }
            }
        }
        for k in (0..self.levels).rev() {
            let mut b = self.part(k);
            for j in k + 1..self.levels {
                let felt = times(&self.block(k, j), self.part(j));
                for r in 0..6 {
                    b[r] -= felt[r];
                }
            }
            let f = times(&self.inertias[k], b);
            self.wanted[6 * k..][..6].copy_from_slice(&f);
        }
    }
}

/// What scales turning and moving each to a mean of one on the diagonal; 1 where there is nothing. One number for all three
/// axes: a direction that is lost stays small, along an axis as between them.
pub(super) fn unit_means(x: &Six) -> [f64; 6] {
    let scale = |first: usize| {
        let mean = (first..first + 3).map(|i| x[i][i]).sum::<f64>() / 3.0;
        if mean > 0.0 { mean.sqrt().recip() } else { 1.0 }
    };
    let (turning, moving) = (scale(0), scale(3));
    [turning, turning, turning, moving, moving, moving]
}

/// The inverse of a symmetric matrix on some rows, scaled, damped where eigenvalues are below a floor: σ/(σ² + ρ²) with ρ that
/// grows from zero there. Also the least eigenvalue.
pub(super) fn damped_inverse(x: &Six, rows: [bool; 6], scale: [f64; 6], floor: f64) -> (Six, f64) {
    let scaled: Six = core::array::from_fn(|i| core::array::from_fn(|j| scale[i] * x[i][j] * scale[j]));
    let eigen = Eigen::new(scaled);
    let mut least = f64::INFINITY;
    let mut out = [[0.0; 6]; 6];
    let inside = |k: usize| {
        (0..6)
            .filter(|&i| rows[i])
            .map(|i| eigen.vectors[i][k].powi(2))
            .sum::<f64>()
            > 0.5
    };
    for k in (0..6).filter(|&k| inside(k)) {
        let value = eigen.values[k].max(0.0);
        least = least.min(value);
        let lost = (floor - value).max(0.0);
        let inverse = value / (value * value + lost * lost).max(f64::MIN_POSITIVE);
        for i in 0..6 {
            for j in 0..6 {
                out[i][j] += scale[i] * eigen.vectors[i][k] * inverse * eigen.vectors[j][k] * scale[j];
            }
        }
    }
    (out, if least.is_finite() { least } else { 0.0 })
}

pub(super) fn times(x: &Six, y: [f64; 6]) -> [f64; 6] {
    core::array::from_fn(|r| (0..6).map(|c| x[r][c] * y[c]).sum())
}
