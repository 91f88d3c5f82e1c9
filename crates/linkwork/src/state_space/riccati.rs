//! Linear quadratic regulators: K from the stabilising solution X of a Riccati equation.
//!
//! ```text
//! continuous   A*X + XA − XGX + Q = 0                  closed loop A − GX
//! discrete     A*X(I + GX)⁻¹A + Q − X = 0              closed loop (I + GX)⁻¹A           G = BR⁻¹B*
//! ```
//!
//! The motions that die out are a subspace [I; X] of states and costates, which the sign of a matrix tells. Newton's steps
//! then take off what rounding left; each asks whether the closed loop is stable, so that no other X gets through.

use super::StateSpace;
use super::matrix::{congruence, inverse, norm, product, shifted, sum, symmetric, transpose};
use crate::dense::Orthogonal;
use crate::{Error, Result};

/// K of u = −K x.
pub(super) fn lqr(model: &StateSpace, q: &[f64], r: &[f64]) -> Result<Vec<f64>> {
    let (n, m) = (model.states.len(), model.inputs.len());
    weights("weights of the states", q, n, |x| x >= 0.0, "at least nought")?;
    weights("weights of the inputs", r, m, |x| x > 0.0, "above nought")?;
    if n == 0 {
        return Ok(Vec::new());
    }
    let (a, b) = (&model.a, &model.b);
    let mut g = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            g[i * n + j] = (0..m).map(|k| b[i * m + k] * b[j * m + k] / r[k]).sum();
        }
    }
    let mut diagonal = vec![0.0; n * n];
    (0..n).for_each(|i| diagonal[i * n + i] = q[i]);
    let equation = Equation {
        n,
        a,
        g: &g,
        q: &diagonal,
        is_discrete: model.step.is_some(),
    };
    let x = equation.stabilising().ok_or_else(unsolvable)?;
    let bx = product(m, n, n, &transpose(n, m, b), &x);
    if !equation.is_discrete {
        let rows = bx.chunks(n).zip(r);
        return Ok(rows.flat_map(|(row, r)| row.iter().map(move |x| x / r)).collect());
    }
    let mut inner = product(m, n, m, &bx, b);
    (0..m).for_each(|i| inner[i * m + i] += r[i]);
    let inverse = inverse(m, &inner).ok_or_else(unsolvable)?;
    Ok(product(m, m, n, &inverse, &product(m, n, n, &bx, a)))
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
            problem: format!("number {i} of the {argument} is {}; give a finite one {bound}", x[i]),
        }),
    }
}

fn unsolvable() -> Error {
    Error::Unsolved {
        what: "a regulator",
        problem: "the Riccati equation has no stabilising solution: some motion can neither be reached by the inputs nor dies out by itself, or undamped motion has no weight; drive more joints, or weigh every state".into(),
    }
}

/// A Riccati equation.
struct Equation<'a> {
    n: usize,
    a: &'a [f64],
    g: &'a [f64],
    q: &'a [f64],
    is_discrete: bool,
}

impl Equation<'_> {
    /// How much of the sizes of its terms may be left of an equation that is solved.
    const SOLVED: f64 = 1e-5;

    /// X whose closed loop is stable; none if there is no such.
    fn stabilising(&self) -> Option<Vec<f64>> {
        const STEPS: usize = 10;
        let (mut x, mut best) = (self.subspace()?, None::<(Vec<f64>, f64)>);
        for _ in 0..STEPS {
            let Some((left, change)) = self.improve(&x) else { break };
            let before = best.as_ref().map_or(f64::INFINITY, |best| best.1);
            if left < before {
                best = Some((x.clone(), left));
            }
            // Until rounding is all that is left.
            if left == 0.0 || left > 0.25 * before {
                break;
            }
            x = symmetric(self.n, &sum(&x, 1.0, &change));
        }
        best.filter(|(_, left)| *left <= Self::SOLVED).map(|best| best.0)
    }

    /// What is left of the equation, compared with its terms, and Newton's change of X; none if the closed loop is not stable.
    fn improve(&self, x: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (n, a) = (self.n, self.a);
        let (closed, left, size);
        if self.is_discrete {
            let bent = inverse(n, &shifted(n, &product(n, n, n, self.g, x), 1.0))?;
            closed = product(n, n, n, &bent, a);
            let carried = product(n, n, n, &transpose(n, n, a), &product(n, n, n, x, &closed));
            left = sum(&sum(&carried, 1.0, self.q), -1.0, x);
            size = norm(&carried) + norm(self.q) + norm(x);
        } else {
            let gx = product(n, n, n, self.g, x);
            closed = sum(a, -1.0, &gx);
            let (xa, xgx) = (product(n, n, n, x, a), product(n, n, n, x, &gx));
            left = sum(&sum(&sum(&xa, 1.0, &transpose(n, n, &xa)), -1.0, &xgx), 1.0, self.q);
            size = 2.0 * norm(&xa) + norm(&xgx) + norm(self.q);
        }
        let left = symmetric(n, &left);
        let change = if self.is_discrete {
            stein(n, closed, left.clone())?
        } else {
            lyapunov(n, &closed, &left)?
        };
        Some((norm(&left) / size.max(f64::MIN_POSITIVE), change))
    }

    /// X from the subspace [I; X] of motions that die out.
    fn subspace(&self) -> Option<Vec<f64>> {
        let (n, w) = (self.n, 2 * self.n);
        // With costates of the size of the states.
        let (g, q) = (norm(self.g), norm(self.q));
        let scale = if g > 0.0 && q > 0.0 { (q / g).sqrt() } else { 1.0 };
        let s = sign(w, self.hamiltonian(scale)?)?;
        // (S + I)[I; X] = 0.
        let (mut left, mut right) = (vec![0.0; w * n], vec![0.0; w * n]);
        for i in 0..w {
            for j in 0..n {
                left[i * n + j] = s[i * w + n + j] + if i == n + j { 1.0 } else { 0.0 };
                right[i * n + j] = -s[i * w + j] - if i == j { 1.0 } else { 0.0 };
            }
        }
        let mut solver = Orthogonal::default();
        if solver.factor(w, n, &left, 1e-14) < n {
            return None;
        }
        let (mut x, mut column) = (vec![0.0; n * n], vec![0.0; n]);
        for j in 0..n {
            let b: Vec<f64> = (0..w).map(|i| right[i * n + j]).collect();
            solver.solve(&b, &mut column);
            (0..n).for_each(|i| x[i * n + j] = scale * column[i]);
        }
        Some(symmetric(n, &x))
    }

    /// The matrix whose eigenvalues left of the axis belong to motions that die out: [[A, −G], [−Q, −A*]]. For steps, which
    /// take L[x; p] of the next to M[x; p], it is (M + L)⁻¹(M − L): what shrinks goes to the left.
    fn hamiltonian(&self, scale: f64) -> Option<Vec<f64>> {
        let (n, w) = (self.n, 2 * self.n);
        let (mut m, mut l) = (vec![0.0; w * w], vec![0.0; w * w]);
        for i in 0..n {
            for j in 0..n {
                let (a, across) = (self.a[i * n + j], self.a[j * n + i]);
                let (g, q) = (scale * self.g[i * n + j], self.q[i * n + j] / scale);
                m[i * w + j] = a;
                m[(n + i) * w + j] = -q;
                if self.is_discrete {
                    l[i * w + n + j] = g;
                    l[(n + i) * w + n + j] = across;
                } else {
                    m[i * w + n + j] = -g;
                    m[(n + i) * w + n + j] = -across;
                }
            }
            if self.is_discrete {
                l[i * w + i] = 1.0;
                m[(n + i) * w + n + i] = 1.0;
            }
        }
        if !self.is_discrete {
            return Some(m);
        }
        let both = inverse(w, &sum(&m, 1.0, &l))?;
        Some(product(w, w, w, &both, &sum(&m, -1.0, &l)))
    }
}

/// The sign of a matrix by Newton's iteration S ← ½(S + S⁻¹); none if an eigenvalue is on the axis.
fn sign(n: usize, mut s: Vec<f64>) -> Option<Vec<f64>> {
    const STEPS: usize = 100;
    let mut last = f64::INFINITY;
    for _ in 0..STEPS {
        let inverse = inverse(n, &s)?;
        // Scaled so that both have the same size, as long as they are far apart.
        let scale = if last > 1e-2 {
            (norm(&inverse) / norm(&s)).sqrt()
        } else {
            1.0
        };
        let next: Vec<f64> = s
            .iter()
            .zip(&inverse)
            .map(|(s, x)| 0.5 * (scale * s + x / scale))
            .collect();
        let change = norm(&sum(&next, -1.0, &s)) / norm(&next);
        s = next;
        if !change.is_finite() {
            return None;
        }
        // It converges quadratically, until rounding keeps it from going on.
        if change <= 1e-15 || change <= 1e-6 && change >= 0.5 * last {
            return Some(s);
        }
        last = change;
    }
    None
}

/// Y of A*Y + YA + W = 0; none unless A is stable. (A + p)(A − p)⁻¹ makes steps of it.
fn lyapunov(n: usize, a: &[f64], w: &[f64]) -> Option<Vec<f64>> {
    // Between the fastest motion and the slowest.
    let p = (norm(a) / norm(&inverse(n, a)?)).sqrt();
    let f = inverse(n, &shifted(n, a, -p))?;
    let steps = product(n, n, n, &shifted(n, a, p), &f);
    let per_step = congruence(n, &f, w).into_iter().map(|x| 2.0 * p * x).collect();
    stein(n, steps, per_step)
}

/// Y = A*YA + W, by doubling the number of steps: W + A*WA + A²*WA² + …; none unless all of it dies out.
fn stein(n: usize, mut a: Vec<f64>, mut y: Vec<f64>) -> Option<Vec<f64>> {
    const DOUBLINGS: usize = 60;
    for _ in 0..DOUBLINGS {
        let size = norm(&a);
        if size <= 1e-9 {
            return Some(y);
        }
        if !size.is_finite() {
            return None;
        }
        y = sum(&y, 1.0, &congruence(n, &a, &y));
        a = product(n, n, n, &a, &a);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::matrix::identity;
    use super::*;

    #[test]
    fn equations_of_steps_and_of_rates_have_known_solutions() {
        // y = a²y + w and 2ay + w = 0 of one number.
        assert!((stein(1, vec![0.5], vec![3.0]).unwrap()[0] - 4.0).abs() < 1e-14);
        assert!((lyapunov(1, &[-0.5], &[3.0]).unwrap()[0] - 3.0).abs() < 1e-14);
        assert_eq!(
            (stein(1, vec![1.0], vec![1.0]), lyapunov(1, &[0.1], &[1.0])),
            (None, None)
        );
        let s = sign(2, vec![1.0, 4.0, 2.0, 3.0]).unwrap();
        // Eigenvalues 5 and −1: the sign squared is the identity.
        assert!(norm(&sum(&product(2, 2, 2, &s, &s), -1.0, &identity(2))) < 1e-14);
    }
}
