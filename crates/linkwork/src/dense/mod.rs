//! Small dense problems of plain numbers: what is left when the operators have done the large part.
//!
//! Matrices are row by row. Every solver keeps its memory, so that it can be used again without allocating.

mod cholesky;
mod eigen;
mod orthogonal;
mod semidefinite;

pub(crate) use cholesky::Cholesky;
pub(crate) use eigen::Eigen;
pub(crate) use orthogonal::Orthogonal;
pub(crate) use semidefinite::Semidefinite;

/// x*y.
#[inline(always)]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |sum, (x, y)| x.mul_add(*y, sum))
}

/// y += s x.
#[inline(always)]
pub(crate) fn add_scaled(y: &mut [f64], s: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = s.mul_add(*x, *y);
    }
}
