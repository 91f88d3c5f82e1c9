//! Linear quadratic regulators: K from the stabilising solution X of a Riccati equation.

use super::StateSpace;
use crate::dense::{Orthogonal, dot};
use crate::{Error, Result};

/// Iterations before giving up; both converge quadratically.
const STEPS: usize = 100;

/// K of u = −K x.
pub(super) fn lqr(model: &StateSpace, q: &[f64], r: &[f64]) -> Result<Vec<f64>> {
    let (n, m) = (model.states.len(), model.inputs.len());
    weights("q", q, n, |x| x >= 0.0, "at least nought")?;
    weights("r", r, m, |x| x > 0.0, "above nought")?;
    let (a, b) = (&model.a, &model.b);
    // BR⁻¹B*.
    let mut g = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            g[i * n + j] = (0..m).map(|k| b[i * m + k] * b[j * m + k] / r[k]).sum();
        }
    }
    let x = match model.step {
        None => continuous(n, a, &g, q)?,
        Some(_) => discrete(n, a, &g, q)?,
    };
    let bx = product(m, n, n, &transpose(n, m, b), &x);
    let gain = match model.step {
        None => bx
            .chunks(n.max(1))
            .zip(r)
            .flat_map(|(row, r)| row.iter().map(move |x| x / r))
            .collect(),
        Some(_) => {
            let mut inner = product(m, n, m, &bx, b);
            (0..m).for_each(|i| inner[i * m + i] += r[i]);
            let inverse = inverse(m, &inner).ok_or_else(unsolvable)?;
            product(m, m, n, &inverse, &product(m, n, n, &bx, a))
        }
    };
    Ok(gain)
}

fn weights(argument: &'static str, x: &[f64], needed: usize, fits: impl Fn(f64) -> bool, bound: &str) -> Result<()> {
    if x.len() != needed {
        let given = x.len();
        return Err(Error::Length {
            argument,
            needed,
            given,
        });
    }
    match x.iter().position(|x| !(x.is_finite() && fits(*x))) {
        None => Ok(()),
        Some(i) => Err(Error::Unsolved {
            what: "a regulator",
            problem: format!("weight {argument}[{i}] is {}; give a finite number {bound}", x[i]),
        }),
    }
}

fn unsolvable() -> Error {
    Error::Unsolved {
        what: "a regulator",
        problem: "the Riccati equation has no stabilising solution: some motion can neither be reached by the inputs nor dies out by itself, or undamped motion has no weight; drive more joints, or weigh every state".into(),
    }
}

/// A*X + XA − XGX + Q = 0: the sign of the Hamiltonian matrix, by Newton's iteration, tells its stable subspace [I; X].
fn continuous(n: usize, a: &[f64], g: &[f64], q: &[f64]) -> Result<Vec<f64>> {
    let w = 2 * n;
    let mut s = vec![0.0; w * w];
    for i in 0..n {
        for j in 0..n {
            s[i * w + j] = a[i * n + j];
            s[i * w + n + j] = -g[i * n + j];
            s[(n + i) * w + n + j] = -a[j * n + i];
        }
        s[(n + i) * w + i] = -q[i];
    }
    let mut settled = false;
    for _ in 0..STEPS {
        let inverse = inverse(w, &s).ok_or_else(unsolvable)?;
        // Scaled so that both have the same size: fewer steps far from the sign.
        let scale = (norm(&inverse) / norm(&s)).sqrt();
        let (mut change, mut size) = (0.0_f64, 0.0_f64);
        for (s, inverse) in s.iter_mut().zip(&inverse) {
            let next = 0.5 * (scale * *s + inverse / scale);
            change = change.max((next - *s).abs());
            size = size.max(next.abs());
            *s = next;
        }
        if !size.is_finite() {
            return Err(unsolvable());
        }
        if change <= 1e-13 * size {
            settled = true;
            break;
        }
        // Rounding may keep it from settling further.
        settled = change <= 1e-9 * size;
    }
    if !settled {
        return Err(unsolvable());
    }
    // (S + I)[I; X] = 0.
    let (mut left, mut right) = (vec![0.0; w * n], vec![0.0; w * n]);
    for i in 0..w {
        for j in 0..n {
            left[i * n + j] = s[i * w + n + j] + if i == n + j { 1.0 } else { 0.0 };
            right[i * n + j] = -s[i * w + j] - if i == j { 1.0 } else { 0.0 };
        }
    }
    let mut solver = Orthogonal::default();
    if solver.factor(w, n, &left, 1e-12) < n {
        return Err(unsolvable());
    }
    let (mut x, mut column) = (vec![0.0; n * n], vec![0.0; n]);
    for j in 0..n {
        let b: Vec<f64> = (0..w).map(|i| right[i * n + j]).collect();
        solver.solve(&b, &mut column);
        (0..n).for_each(|i| x[i * n + j] = column[i]);
    }
    Ok(symmetric(n, &x))
}

/// X = A*X(I + GX)⁻¹A + Q, by structure-preserving doubling.
fn discrete(n: usize, a: &[f64], g: &[f64], q: &[f64]) -> Result<Vec<f64>> {
    let (mut a, mut g, mut x) = (a.to_vec(), g.to_vec(), vec![0.0; n * n]);
    (0..n).for_each(|i| x[i * n + i] = q[i]);
    for _ in 0..STEPS {
        let mut w = product(n, n, n, &g, &x);
        (0..n).for_each(|i| w[i * n + i] += 1.0);
        let w = inverse(n, &w).ok_or_else(unsolvable)?;
        let (aw, wa) = (product(n, n, n, &a, &w), product(n, n, n, &w, &a));
        let at = transpose(n, n, &a);
        let dg = product(n, n, n, &product(n, n, n, &aw, &g), &at);
        let dx = product(n, n, n, &product(n, n, n, &at, &x), &wa);
        a = product(n, n, n, &aw, &a);
        g.iter_mut().zip(&dg).for_each(|(g, d)| *g += d);
        x.iter_mut().zip(&dx).for_each(|(x, d)| *x += d);
        (g, x) = (symmetric(n, &g), symmetric(n, &x));
        if !norm(&x).is_finite() {
            break;
        }
        if norm(&dx) <= 1e-14 * norm(&x) {
            return Ok(x);
        }
    }
    Err(unsolvable())
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

fn transpose(rows: usize, cols: usize, a: &[f64]) -> Vec<f64> {
    let at = |i: usize| a[(i % rows) * cols + i / rows];
    (0..rows * cols).map(at).collect()
}

fn symmetric(n: usize, a: &[f64]) -> Vec<f64> {
    let at = |i: usize| 0.5 * (a[i] + a[(i % n) * n + i / n]);
    (0..n * n).map(at).collect()
}

/// A (rows × inner) times B (inner × cols).
pub(super) fn product(rows: usize, inner: usize, cols: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; rows * cols];
    for i in 0..rows {
        for k in 0..inner {
            let weight = a[i * inner + k];
            crate::dense::add_scaled(&mut out[i * cols..(i + 1) * cols], weight, &b[k * cols..(k + 1) * cols]);
        }
    }
    out
}

/// A⁻¹ by elimination with partial pivoting; none if A is singular.
pub(super) fn inverse(n: usize, a: &[f64]) -> Option<Vec<f64>> {
    let (mut a, mut x) = (a.to_vec(), vec![0.0; n * n]);
    (0..n).for_each(|i| x[i * n + i] = 1.0);
    for k in 0..n {
        let pivot = (k..n).fold(k, |best, i| {
            if a[i * n + k].abs() > a[best * n + k].abs() {
                i
            } else {
                best
            }
        });
        let size = a[pivot * n + k];
        if size == 0.0 || !size.is_finite() {
            return None;
        }
        for j in 0..n {
            a.swap(k * n + j, pivot * n + j);
            x.swap(k * n + j, pivot * n + j);
        }
        for m in [&mut a, &mut x] {
            m[k * n..(k + 1) * n].iter_mut().for_each(|v| *v /= size);
        }
        for i in (0..n).filter(|i| *i != k) {
            let weight = a[i * n + k];
            for j in 0..n {
                a[i * n + j] -= weight * a[k * n + j];
                x[i * n + j] -= weight * x[k * n + j];
            }
        }
    }
    Some(x)
}
