//! X of a Riccati equation by doubling the number of steps that it looks ahead.
//!
//! ```text
//! A ← AWA      G ← G + AWGA*      X ← X + A*XWA      W = (I + GX)⁻¹
//! ```
//!
//! from A, G and Q of one step: X is what the best of 2ᵏ steps costs, which settles where every motion that does not die out
//! has a weight. Rates become steps by (A + p)(A − p)⁻¹. All matrices have as many rows as there are states, and G and X stay
//! symmetric without negative directions, so that little is lost to rounding even where poles are near the axis.

use crate::dense::matrix::{identity, inverse, norm, product, shifted, sum, symmetric, transpose};

/// X of A*X(I + GX)⁻¹A + Q − X = 0; none if it does not settle.
pub(super) fn of_steps(n: usize, mut a: Vec<f64>, mut g: Vec<f64>, mut x: Vec<f64>) -> Option<Vec<f64>> {
    const DOUBLINGS: usize = 50;
    let square = |a: &[f64], b: &[f64]| product(n, n, n, a, b);
    for _ in 0..DOUBLINGS {
        let w = inverse(n, &sum(&identity(n), 1.0, &square(&g, &x)))?;
        let (wa, across) = (square(&w, &a), transpose(n, n, &a));
        let more = square(&across, &square(&x, &wa));
        g = symmetric(n, &sum(&g, 1.0, &square(&a, &square(&square(&w, &g), &across))));
        x = symmetric(n, &sum(&x, 1.0, &more));
        a = square(&a, &wa);
        let (grown, size) = (norm(&more), norm(&x));
        if !(grown.is_finite() && size.is_finite() && norm(&g).is_finite()) {
            return None;
        }
        // The next one would add the square of that.
        if grown <= 1e-12 * size {
            return Some(x);
        }
    }
    None
}

/// X of A*X + XA − XGX + Q = 0, with the diagonal of Q; none if it does not settle.
pub(super) fn of_rates(n: usize, a: &[f64], g: &[f64], q: &[f64]) -> Option<Vec<f64>> {
    // Costates of the size of the states.
    let unit = match (norm(q) / norm(g)).sqrt() {
        unit if unit > 0.0 && unit.is_finite() => unit,
        _ => 1.0,
    };
    let g: Vec<f64> = g.iter().map(|x| x * unit).collect();
    let p = rate(n, a, &g, q, unit);
    let left = inverse(n, &shifted(n, a, -p))?;
    // (A − p)* + Q(A − p)⁻¹G.
    let weighed: Vec<f64> = (0..n * n).map(|i| q[i / n] / unit * left[i]).collect();
    let both = sum(
        &transpose(n, n, &shifted(n, a, -p)),
        1.0,
        &product(n, n, n, &weighed, &g),
    );
    let both = inverse(n, &both)?;
    let scaled = |x: Vec<f64>| x.into_iter().map(|x| 2.0 * p * x).collect::<Vec<f64>>();
    let step = shifted(n, &scaled(transpose(n, n, &both)), 1.0);
    let reach = scaled(product(n, n, n, &product(n, n, n, &left, &g), &both));
    let cost = scaled(product(n, n, n, &both, &weighed));
    let x = of_steps(n, step, symmetric(n, &reach), symmetric(n, &cost))?;
    Some(x.into_iter().map(|x| unit * x).collect())
}

/// A rate amid those of the motions: that of a root of the mean square.
fn rate(n: usize, a: &[f64], g: &[f64], q: &[f64], unit: f64) -> f64 {
    let squares = 2.0 * norm(a).powi(2) + norm(g).powi(2) + (norm(q) / unit).powi(2);
    let rate = (squares / (2 * n) as f64).sqrt();
    if rate > 0.0 && rate.is_finite() { rate } else { 1.0 }
}
