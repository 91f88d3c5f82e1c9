//! Small dense algebra of plain numbers: what is left when the operators have done the large part.
//!
//! Matrices are row by row. Solvers keep their memory, so that they can be used again without allocating.

mod cholesky;
mod eigenvalues;
mod francis;
mod lu;
pub(crate) mod matrix;
mod orthogonal;
mod semidefinite;
mod symmetric_eigenvalues;

pub(crate) use cholesky::Cholesky;
pub use eigenvalues::Pole;
pub(crate) use eigenvalues::{balancing, of as poles_of};
pub(crate) use lu::Lu;
pub(crate) use orthogonal::Orthogonal;
pub(crate) use semidefinite::Semidefinite;
pub(crate) use symmetric_eigenvalues::Eigen;

/// x*y.
#[inline(always)]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (x, y) in x.iter().zip(y) {
        sum = x.mul_add(*y, sum);
    }
    sum
}

/// y += s x.
#[inline(always)]
pub(crate) fn add_scaled(y: &mut [f64], s: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = s.mul_add(*x, *y);
    }
}
