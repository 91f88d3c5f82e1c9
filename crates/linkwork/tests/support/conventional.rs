//! Linearized forward dynamics as it is conventionally done: 𝓜 is formed and factored.  (JL, Algorithms 3 and 4)

use super::matrix::Matrix;
use linkwork::workspace::Derivatives;

/// The lower triangular L with LL* = 𝓜.
fn cholesky(mass: &Matrix) -> Matrix {
    let n = mass.rows;
    let mut l = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| l.at(i, k) * l.at(j, k)).sum();
            let rest = mass.at(i, j) - known;
            l.set(i, j, if i == j { rest.sqrt() } else { rest / l.at(j, j) });
        }
    }
    l
}

/// x with LL*x = b.
fn solve(l: &Matrix, b: &[f64]) -> Vec<f64> {
    let (n, mut x) = (b.len(), b.to_vec());
    for i in 0..n {
        let known: f64 = (0..i).map(|k| l.at(i, k) * x[k]).sum();
        x[i] = (x[i] - known) / l.at(i, i);
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| l.at(k, i) * x[k]).sum();
        x[i] = (x[i] - known) / l.at(i, i);
    }
    x
}

fn factor(inverse: &Derivatives, n: usize) -> Matrix {
    cholesky(&Matrix::from_slice(n, n, inverse.by_input()))
}

/// δq̈ from what δq and δq̇ do to T, and δT: n³/6 multiplications for the factor, n² for the rest.
pub fn algorithm_3(inverse: &Derivatives, torque_change: &[f64], dtau: &[f64]) -> Vec<f64> {
    let right: Vec<f64> = dtau
        .iter()
        .zip(torque_change)
        .map(|(given, needed)| given - needed)
        .collect();
    solve(&factor(inverse, dtau.len()), &right)
}

/// ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ from ∂T/∂q, ∂T/∂q̇ and 𝓜, column by column, in O(n³).
pub fn algorithm_4(inverse: &Derivatives, n: usize) -> [Matrix; 3] {
    let l = factor(inverse, n);
    let columns = |right: &Matrix, sign: f64| {
        let mut out = Matrix::zeros(n, n);
        for j in 0..n {
            let column: Vec<f64> = (0..n).map(|i| sign * right.at(i, j)).collect();
            for (i, x) in solve(&l, &column).into_iter().enumerate() {
                out.set(i, j, x);
            }
        }
        out
    };
    let of = |numbers: &[f64]| Matrix::from_slice(n, n, numbers);
    [
        columns(&of(inverse.by_q()), -1.0),
        columns(&of(inverse.by_qd()), -1.0),
        columns(&Matrix::identity(n), 1.0),
    ]
}
