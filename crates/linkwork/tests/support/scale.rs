//! The sizes that rounding is relative to, where results are small differences of large terms.

use super::dense::Dense;
use super::matrix::Matrix;

fn magnitudes(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x.abs()).collect()
}

fn magnitude(x: &Matrix) -> Matrix {
    Matrix::from_slice(x.rows, x.cols, &magnitudes(&x.data))
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// Of a torque of inverse dynamics: every term of Hφ(Mα + b), added up without signs.
pub fn inverse_scale(of: &Dense, qdd: &[f64]) -> f64 {
    let g = largest(&of.gravity);
    let J = magnitude(&of.J);
    let mut alpha = J.apply(&magnitudes(qdd));
    let coriolis = magnitude(&of.phi).t().apply(&magnitudes(&of.a));
    alpha.iter_mut().zip(coriolis).for_each(|(x, c)| *x += c + g);
    let mut f = magnitude(&of.M).apply(&alpha);
    f.iter_mut().zip(&of.b).for_each(|(f, b)| *f += b.abs());
    largest(&J.t().apply(&f)).max(f64::MIN_POSITIVE)
}

/// Of an acceleration of forward dynamics: ‖𝓜⁻¹‖ times the torques that cancel.
pub fn forward_scale(of: &Dense, tau: &[f64]) -> f64 {
    let torques = largest(tau) + inverse_scale(of, &vec![0.0; of.nv]);
    of.mass_matrix().inverse().norm() * torques
}
