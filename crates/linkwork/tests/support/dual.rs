//! Exact derivatives along a motion.

use super::matrix::Matrix;
use linkwork::scalar::Dual;
use linkwork::{Mechanism, Result};

pub type D = Dual<f64>;

/// x + ε dx.
pub fn varied(x: &[f64], rate: &[f64]) -> Vec<D> {
    x.iter().zip(rate).map(|(x, r)| Dual::new(*x, *r)).collect()
}

pub fn constant(x: &[f64]) -> Vec<D> {
    x.iter().map(|x| Dual::constant(*x)).collect()
}

/// q ⊕ ε v.
pub fn along(mechanism: &Mechanism, q: &[f64], v: &[f64]) -> Vec<D> {
    let mut out = constant(q);
    let step = varied(&vec![0.0; v.len()], v);
    mechanism.integrate(&constant(q), &step, &mut out).unwrap();
    out
}

pub fn rates(x: &[D]) -> Vec<f64> {
    x.iter().map(|x| x.derivative).collect()
}

/// The rates of rows × cols numbers that an in-place function writes.
#[track_caller]
pub fn rate(rows: usize, cols: usize, fill: impl FnOnce(&mut [D]) -> Result<()>) -> Matrix {
    let mut out = vec![Dual::constant(f64::NAN); rows * cols];
    fill(&mut out).unwrap_or_else(|e| panic!("{e}"));
    Matrix::from_slice(rows, cols, &rates(&out))
}
