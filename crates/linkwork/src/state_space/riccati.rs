//! Linear quadratic regulators: K from the stabilising solution X of a Riccati equation.
//!
//! ```text
//! continuous   A*X + XA − XGX + Q = 0              K = R⁻¹B*X                      G = BR⁻¹B*
//! discrete     A*X(I + GX)⁻¹A + Q − X = 0          K = (R + B*XB)⁻¹B*XA
//! ```
//!
//! Doubling finds X where every motion that does not die out has a weight. Else the motions that die out are a subspace [I; X]
//! of states and costates, which the sign of a matrix tells. Newton's steps then take off what rounding left. Each asks whether
//! the closed loop is stable, so that no other X gets through.

use super::{Pole, StateSpace, controllability, doubling};
use crate::dense::matrix::{congruence, inverse, norm, product, shifted, sum, symmetric, transpose};
use crate::dense::{Orthogonal, poles_of};
use crate::{Error, Result};

/// K of u = −K x.
pub(super) fn lqr(model: &StateSpace, q: &[f64], r: &[f64]) -> Result<Vec<f64>> {
    model.check_finite("a regulator")?;
    let (n, m) = (model.states.len(), model.inputs.len());
    weights("list of state weights", q, n, |x| x >= 0.0, "at least zero")?;
    weights("list of input weights", r, m, |x| x > 0.0, "above zero")?;
    if n == 0 {
        return Ok(Vec::new());
    }
    let equation = Equation {
        n,
        m,
        a: &model.a,
        b: &model.b,
        q,
        r,
        is_discrete: model.step.is_some(),
    };
    equation.stabilising().ok_or_else(|| equation.why())
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

fn unsolved(problem: String) -> Error {
    Error::Unsolved {
        what: "a regulator",
        problem,
    }
}

fn named(pole: &Pole) -> String {
    match pole.im {
        0.0 => format!("{:.6}", pole.re),
        im => format!("{:.6} ± {:.6}i", pole.re, im.abs()),
    }
}

/// A Riccati equation, with the diagonals of Q and R.
struct Equation<'a> {
    n: usize,
    m: usize,
    a: &'a [f64],
    b: &'a [f64],
    q: &'a [f64],
    r: &'a [f64],
    is_discrete: bool,
}

impl Equation<'_> {
    /// How much the last of Newton's steps may still change of K.
    const SETTLED: f64 = 1e-4;

    /// K whose closed loop is stable; none if none is found.
    fn stabilising(&self) -> Option<Vec<f64>> {
        if let Some(x) = self.doubled() {
            let gain = self.gain(&x)?;
            if let Some(settled) = self.settled(gain.clone()) {
                return Some(settled);
            }
            if self.holds(&x, &gain) {
                return Some(gain);
            }
        }
        self.settled(self.gain(&self.subspace()?)?)
    }

    /// Whether X solves the equation to five digits, and the poles of the loop are stable: where poles are so near the axis
    /// that Newton's steps have more rounding than X.
    fn holds(&self, x: &[f64], gain: &[f64]) -> bool {
        const RESIDUAL: f64 = 1e-5;
        const EDGE: f64 = 1e-12;
        let (n, m) = (self.n, self.m);
        let closed = sum(self.a, -1.0, &product(n, m, n, self.b, gain));
        let ahead = product(n, n, n, &transpose(n, n, self.a), x);
        // A*X + X(A − BK) + Q, or A*X(A − BK) − X + Q.
        let [first, second] = match self.is_discrete {
            true => [product(n, n, n, &ahead, &closed), x.iter().map(|x| -x).collect()],
            false => [ahead, product(n, n, n, x, &closed)],
        };
        let mut residual = sum(&first, 1.0, &second);
        (0..n).for_each(|i| residual[i * n + i] += self.q[i]);
        if norm(&residual) > RESIDUAL * (norm(&first) + norm(&second)) {
            return false;
        }
        let poles = poles_of(n, &closed).unwrap_or_default();
        let largest = poles.iter().fold(0.0, |most: f64, pole| most.max(pole.size()));
        let is_stable = |pole: &Pole| match self.is_discrete {
            true => pole.size() < 1.0 - EDGE,
            false => pole.re < -EDGE * largest,
        };
        poles.len() == n && poles.iter().all(is_stable)
    }

    /// What Newton's steps make of a gain; none if it does not stabilise.
    fn settled(&self, mut gain: Vec<f64>) -> Option<Vec<f64>> {
        const STEPS: usize = 15;
        let mut best = None::<(Vec<f64>, f64)>;
        for _ in 0..STEPS {
            let Some(next) = self.improved(&gain) else { break };
            let change = norm(&sum(&next, -1.0, &gain)) / norm(&next).max(f64::MIN_POSITIVE);
            let before = best.as_ref().map_or(f64::INFINITY, |best| best.1);
            if change < before {
                best = Some((gain, change));
            }
            // Until rounding is all that changes.
            if change <= f64::EPSILON || change > 0.25 * before {
                break;
            }
            gain = next;
        }
        best.filter(|(_, change)| *change <= Self::SETTLED).map(|best| best.0)
    }

    /// X by looking ahead.
    fn doubled(&self) -> Option<Vec<f64>> {
        if !self.is_discrete {
            return doubling::of_rates(self.n, self.a, &self.reach(), self.q);
        }
        let mut cost = vec![0.0; self.n * self.n];
        (0..self.n).for_each(|i| cost[i * self.n + i] = self.q[i]);
        doubling::of_steps(self.n, self.a.to_vec(), self.reach(), cost)
    }

    /// Why no gain was found: motion that no input reaches does not die out, or motion that goes on has no weight, or rounding
    /// is in the way.
    fn why(&self) -> Error {
        // From the edge of what dies out, in units of the largest pole.
        const EDGE: f64 = 1e-8;
        let beyond = |pole: &Pole, largest: f64| match self.is_discrete {
            true => pole.size() - 1.0,
            false => pole.re / largest,
        };
        let (n, m) = (self.n, self.m);
        let largest = poles_of(n, self.a).map_or(0.0, |all| all.iter().fold(0.0, |most, p| p.size().max(most)));
        let largest = if largest > 0.0 { largest } else { 1.0 };
        let (left, rest) = controllability::unreached(n, m, self.a, self.b);
        let stays = |pole: &&Pole| beyond(pole, largest) >= -EDGE;
        if let Some(pole) = poles_of(left, &rest).unwrap_or_default().iter().find(stays) {
            return unsolved(format!(
                "no input reaches {left} of {n} states, whose motion with the pole {} does not die out by itself; drive more joints",
                named(pole)
            ));
        }
        let mut roots = vec![0.0; n * n];
        (0..n).for_each(|i| roots[i * n + i] = self.q[i].sqrt());
        let (left, rest) = controllability::unreached(n, n, &transpose(n, n, self.a), &roots);
        let goes_on = |pole: &&Pole| beyond(pole, largest).abs() <= EDGE;
        if let Some(pole) = poles_of(left, &rest).unwrap_or_default().iter().find(goes_on) {
            return unsolved(format!(
                "undamped motion with the pole {} has no weight; weigh every state",
                named(pole)
            ));
        }
        unsolved(
            "the iteration for the Riccati equation did not settle, though nothing says that there is no solution: its numbers are too far apart for rounding; take units, or weights of states and inputs, that bring them closer".into(),
        )
    }

    /// Newton's step: X is what the loop that K closes costs, a sum of squares over all times. None if the loop is not
    /// stable.
    fn improved(&self, gain: &[f64]) -> Option<Vec<f64>> {
        let (n, m) = (self.n, self.m);
        let closed = sum(self.a, -1.0, &product(n, m, n, self.b, gain));
        let weighed: Vec<f64> = (0..m * n).map(|i| self.r[i / n] * gain[i]).collect();
        let mut cost = product(n, m, n, &transpose(m, n, gain), &weighed);
        (0..n).for_each(|i| cost[i * n + i] += self.q[i]);
        let cost = symmetric(n, &cost);
        let x = if self.is_discrete {
            stein(n, closed, cost)?
        } else {
            lyapunov(n, &closed, &cost)?
        };
        self.gain(&symmetric(n, &x))
    }

    /// R⁻¹B*X, or (R + B*XB)⁻¹B*XA.
    fn gain(&self, x: &[f64]) -> Option<Vec<f64>> {
        let (n, m) = (self.n, self.m);
        let bx = product(m, n, n, &transpose(n, m, self.b), x);
        if !self.is_discrete {
            return Some((0..m * n).map(|i| bx[i] / self.r[i / n]).collect());
        }
        let mut inner = product(m, n, m, &bx, self.b);
        (0..m).for_each(|i| inner[i * m + i] += self.r[i]);
        Some(product(m, m, n, &inverse(m, &inner)?, &product(m, n, n, &bx, self.a)))
    }

    /// BR⁻¹B*.
    fn reach(&self) -> Vec<f64> {
        let (n, m) = (self.n, self.m);
        let weighed: Vec<f64> = (0..n * m).map(|i| self.b[i] / self.r[i % m]).collect();
        product(n, m, n, &weighed, &transpose(n, m, self.b))
    }

    /// X from the subspace [I; X] of motions that die out.
    fn subspace(&self) -> Option<Vec<f64>> {
        let (n, w) = (self.n, 2 * self.n);
        // With costates of the size of the states.
        let reach = self.reach();
        let sizes = norm(self.q) / norm(&reach);
        let scale = if sizes > 0.0 && sizes.is_finite() {
            sizes.sqrt()
        } else {
            1.0
        };
        let s = sign(w, self.hamiltonian(&reach, scale)?)?;
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
    fn hamiltonian(&self, reach: &[f64], scale: f64) -> Option<Vec<f64>> {
        let (n, w) = (self.n, 2 * self.n);
        let (mut m, mut l) = (vec![0.0; w * w], vec![0.0; w * w]);
        for i in 0..n {
            for j in 0..n {
                let (a, across) = (self.a[i * n + j], self.a[j * n + i]);
                let g = scale * reach[i * n + j];
                m[i * w + j] = a;
                if self.is_discrete {
                    l[i * w + n + j] = g;
                    l[(n + i) * w + n + j] = across;
                } else {
                    m[i * w + n + j] = -g;
                    m[(n + i) * w + n + j] = -across;
                }
            }
            m[(n + i) * w + i] = -self.q[i] / scale;
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
    use super::*;
    use crate::dense::matrix::identity;

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
