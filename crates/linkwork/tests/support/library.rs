//! The library's own results as the oracle's types.

use super::dense;
use super::matrix::Matrix;
use linkwork::spatial::{Force, Motion, Pose};
use linkwork::{Reference, Result};

/// The library's name for a reference of the oracle.
pub fn named(reference: dense::Reference) -> Reference {
    match reference {
        dense::Reference::World => Reference::World,
        dense::Reference::Local => Reference::Local,
        dense::Reference::Aligned => Reference::Aligned,
    }
}

/// What an in-place function writes into n numbers.
#[track_caller]
pub fn vector(n: usize, fill: impl FnOnce(&mut [f64]) -> Result<()>) -> Vec<f64> {
    let mut out = vec![f64::NAN; n];
    fill(&mut out).unwrap_or_else(|e| panic!("{e}"));
    out
}

/// What an in-place function writes into rows × cols numbers.
#[track_caller]
pub fn matrix(rows: usize, cols: usize, fill: impl FnOnce(&mut [f64]) -> Result<()>) -> Matrix {
    Matrix::from_slice(rows, cols, &vector(rows * cols, fill))
}

pub fn six(x: [[f64; 6]; 6]) -> Matrix {
    Matrix::from_rows(&x)
}

pub fn pose(x: Pose) -> Matrix {
    super::rigid::from_pose(&x)
}

pub fn motion(x: Motion) -> Vec<f64> {
    x.to_array().to_vec()
}

pub fn force(x: Force) -> Vec<f64> {
    x.to_array().to_vec()
}
