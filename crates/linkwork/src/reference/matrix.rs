//! 6 × 6 matrices that take motions to forces, and small systems.

use crate::spatial::{Force, Inertia, Motion, Pose};
use crate::{Error, Result};

/// A matrix of six rows: what motion it takes to what force.
#[derive(Clone)]
pub(super) struct Six([[f64; 6]; 6]);

/// The i-th of six motions.
fn axis(i: usize) -> Motion {
    let mut one = [0.0; 6];
    one[i] = 1.0;
    Motion::from_array(one)
}

impl Six {
    /// The matrix with these columns.
    fn with(column: impl Fn(usize) -> Force) -> Self {
        let columns: [[f64; 6]; 6] = core::array::from_fn(|j| column(j).to_array());
        Self(core::array::from_fn(|i| core::array::from_fn(|j| columns[j][i])))
    }

    /// That of a rigid body.
    pub(super) fn of(body: &Inertia) -> Self {
        Self::with(|j| super::momentum(body, axis(j)))
    }

    pub(super) fn times(&self, v: Motion) -> Force {
        let v = v.to_array();
        Force::from_array(core::array::from_fn(|i| (0..6).map(|j| self.0[i][j] * v[j]).sum()))
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        Self(core::array::from_fn(|i| {
            core::array::from_fn(|j| self.0[i][j] + other.0[i][j])
        }))
    }

    /// φ X φ*: the same, as the inner frame sees it.
    pub(super) fn seen_through(&self, pose: &Pose) -> Self {
        Self::with(|j| pose.force_in(self.times(pose.motion_out(axis(j)))))
    }

    /// X − C D⁻¹ C*.
    pub(super) fn less(&self, columns: &[Force], d: &[Vec<f64>]) -> Result<Self> {
        let mut out = self.clone();
        let rows: Vec<[f64; 6]> = columns.iter().map(|column| column.to_array()).collect();
        for j in 0..6 {
            let right: Vec<f64> = rows.iter().map(|row| row[j]).collect();
            for (x, row) in solve(d, &right)?.iter().zip(&rows) {
                (0..6).for_each(|i| out.0[i][j] -= row[i] * x);
            }
        }
        Ok(out)
    }
}

/// D x = b, by Cholesky's L L* = D.
pub(super) fn solve(d: &[Vec<f64>], b: &[f64]) -> Result<Vec<f64>> {
    let n = b.len();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let left = d[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j { left.sqrt() } else { left / l[j][j] };
        }
        if !(l[i][i] > 0.0 && l[i][i].is_finite()) {
            return Err(Error::Overflow { what: "D of a joint" });
        }
    }
    let mut x = b.to_vec();
    for i in 0..n {
        x[i] = (x[i] - (0..i).map(|k| l[i][k] * x[k]).sum::<f64>()) / l[i][i];
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - (i + 1..n).map(|k| l[k][i] * x[k]).sum::<f64>()) / l[i][i];
    }
    Ok(x)
}
