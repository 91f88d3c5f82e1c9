//! What couplings determine: R, its rate, and room to go between users' coordinates and all.

use crate::model::{Compiled, Reduction};
use crate::scalar::Scalar;

/// The memory of a mechanism with couplings; empty for others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coupled<S> {
    /// The users' configuration and velocity.
    pub(crate) y: Vec<S>,
    pub(crate) yd: Vec<S>,
    /// The coordinates of all joints.
    pub(crate) q: Vec<S>,
    /// Per degree of freedom of all joints, its one number of R and of Ṙ: one and nought where it is independent.
    pub(crate) ratio: Vec<S>,
    pub(crate) ratio_rate: Vec<S>,
    /// Per follower, d²q/dy².
    bend: Vec<S>,
    /// Numbers per degree of freedom of all joints.
    pub(crate) input: Vec<S>,
    pub(crate) output: Vec<S>,
    /// Dense results of all joints, made when first needed.
    pub(crate) matrix: Vec<S>,
    /// Per follower: D^-½(I − HψK)(e_f − r e_l), over all degrees of freedom.
    pub(crate) rows: Vec<S>,
    /// The factor LL* of their products, diagonal inverted, and numbers per follower.
    pub(crate) factor: Vec<S>,
    pub(crate) lambda: Vec<S>,
    /// Whether rows and factor hold for the present configuration.
    pub(crate) is_factored: bool,
    /// Whether the last sweep is not defined for followers, and was not run.
    pub(crate) is_refused: bool,
}

impl<S: Scalar> Coupled<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        let Some(r) = &m.reduction else { return Self::default() };
        let (n, c) = (m.nv, r.followers.len());
        let zeros = |n: usize| vec![S::ZERO; n];
        Self {
            y: zeros(r.nq),
            yd: zeros(r.nv),
            q: zeros(m.nq),
            ratio: vec![S::ONE; n],
            ratio_rate: zeros(n),
            bend: zeros(c),
            input: zeros(n),
            output: zeros(n),
            matrix: zeros(if n <= super::LARGE { n * n.max(6) } else { 0 }),
            rows: zeros(n * c),
            factor: zeros(c * c),
            lambda: zeros(c),
            is_factored: false,
            is_refused: false,
        }
    }

    /// A new configuration; the coordinates of all joints are left in `q`.
    pub(crate) fn configure(&mut self, r: &Reduction, y: &[S]) {
        self.y.copy_from_slice(y);
        self.is_factored = false;
        r.configuration(y, &mut self.q);
        for (i, follower) in r.followers.iter().enumerate() {
            let (_, slope, bend) = follower.at(y[r.q_from[follower.q]]);
            self.ratio[follower.v] = slope;
            self.bend[i] = bend;
        }
    }

    /// A new velocity: q̇ = Rẏ.
    pub(crate) fn set_moving(&mut self, r: &Reduction, yd: &[S], qd: &mut [S]) {
        self.yd.copy_from_slice(yd);
        self.expand(r, yd, qd);
        for (i, follower) in r.followers.iter().enumerate() {
            self.ratio_rate[follower.v] = self.bend[i] * yd[r.v_from[follower.v]];
        }
    }

    /// out = R x.
    pub(crate) fn expand(&self, r: &Reduction, x: &[S], out: &mut [S]) {
        for ((out, &from), ratio) in out.iter_mut().zip(&r.v_from).zip(&self.ratio) {
            *out = x[from] * *ratio;
        }
    }

    /// out += Ṙẏ.
    pub(crate) fn add_bend(&self, r: &Reduction, out: &mut [S]) {
        for ((out, &from), rate) in out.iter_mut().zip(&r.v_from).zip(&self.ratio_rate) {
            *out = rate.mul_add(self.yd[from], *out);
        }
    }

    /// out += R*x, or Ṙ*x.
    pub(crate) fn contract(r: &Reduction, ratio: &[S], x: &[S], out: &mut [S]) {
        for ((x, &to), ratio) in x.iter().zip(&r.v_from).zip(ratio) {
            out[to] = ratio.mul_add(*x, out[to]);
        }
    }

    /// out += R*XR, or R*XṘ.
    pub(crate) fn congruence(&self, r: &Reduction, right: &[S], x: &[S], out: &mut [S]) {
        for ((row, &i), left) in x.chunks_exact(r.v_from.len()).zip(&r.v_from).zip(&self.ratio) {
            for ((x, &j), right) in row.iter().zip(&r.v_from).zip(right) {
                let to = &mut out[i * r.nv + j];
                *to = (*left * *right).mul_add(*x, *to);
            }
        }
    }

    /// Factors the products of the rows.
    pub(crate) fn factor(&mut self, n: usize) {
        let c = self.lambda.len();
        for i in 0..c {
            for j in 0..=i {
                let (a, b) = (&self.rows[i * n..(i + 1) * n], &self.rows[j * n..(j + 1) * n]);
                let mut sum = a.iter().zip(b).fold(S::ZERO, |sum, (a, b)| a.mul_add(*b, sum));
                for k in 0..j {
                    sum -= self.factor[i * c + k] * self.factor[j * c + k];
                }
                self.factor[i * c + j] = if i == j {
                    sum.sqrt().recip()
                } else {
                    sum * self.factor[j * c + j]
                };
            }
        }
        self.is_factored = true;
    }

    /// λ ← (LL*)⁻¹λ.
    pub(crate) fn solve(&mut self) {
        let (c, l) = (self.lambda.len(), &self.factor);
        for i in 0..c {
            let mut x = self.lambda[i];
            for j in 0..i {
                x -= l[i * c + j] * self.lambda[j];
            }
            self.lambda[i] = x * l[i * c + i];
        }
        for i in (0..c).rev() {
            let mut x = self.lambda[i];
            for j in i + 1..c {
                x -= l[j * c + i] * self.lambda[j];
            }
            self.lambda[i] = x * l[i * c + i];
        }
    }
}
