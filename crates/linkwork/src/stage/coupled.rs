//! What couplings determine: R, its rate, and room to go between users' coordinates and all.

use super::coupled_factor::Factor;
use crate::model::{Compiled, Reduction};
use crate::scalar::{Dual, Scalar};
use core::ops::{Deref, DerefMut};

/// Memory that can be taken out of the stages while sweeps run on them, at the cost of a pointer.
#[derive(Clone, Debug)]
pub(crate) struct Lent<T>(Option<Box<T>>);

impl<T> Lent<T> {
    pub(crate) fn new(memory: T) -> Self {
        Self(Some(Box::new(memory)))
    }
}

/// What is left behind.
impl<T> Default for Lent<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Deref for Lent<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        match &self.0 {
            Some(memory) => memory,
            None => unreachable!("{LENT}"),
        }
    }
}

impl<T> DerefMut for Lent<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.0 {
            Some(memory) => memory,
            None => unreachable!("{LENT}"),
        }
    }
}

const LENT: &str = "nothing asks for what is lent while it is";

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
    /// Per follower, d²q/dy² and d³q/dy³.
    pub(crate) bend: Vec<S>,
    third: Vec<S>,
    /// At the point of a linearization: R̈ as R, and Σ g″T of every leader's followers.
    pub(crate) ratio_bend: Vec<S>,
    pub(crate) load: Vec<S>,
    /// Changes of q, q̇ and q̈ or T.
    pub(crate) change: Vec<S>,
    /// The same of y.
    pub(crate) held: Vec<S>,
    pub(crate) load_change: Vec<S>,
    pub(crate) moved_change: Vec<S>,
    /// Numbers per degree of freedom of all joints.
    pub(crate) input: Vec<S>,
    pub(crate) output: Vec<S>,
    /// Dense results of all joints, made when first needed.
    pub(crate) matrix: Vec<S>,
    /// Beside the tree's 𝓜⁻¹, per follower: a row of C𝓜⁻¹, C having e_f − r e_l; the factor LL* of W = C𝓜⁻¹C*, diagonal
    /// inverted; and rows of numbers per follower.
    rows: Vec<S>,
    factor: Vec<S>,
    lambda: Vec<S>,
    /// 𝓜 of what is independent and its Coriolis matrix; 𝓜 = mm*, and the same with its rate.
    pub(crate) mass: Vec<S>,
    pub(crate) coriolis: Vec<S>,
    pub(crate) m: Factor<S>,
    pub(crate) m_rate: Factor<Dual<S>>,
    /// Numbers per rank.
    pub(crate) ranked: Vec<S>,
    pub(crate) ranked_rate: Vec<Dual<S>>,
}

impl<S: Scalar> Coupled<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        let Some(r) = &m.reduction else { return Self::default() };
        let (n, c) = (m.nv, r.followers.len());
        // Room for dense results; beyond, it is made when first needed.
        let dense = usize::from(n <= super::LARGE);
        let zeros = |n: usize| vec![S::ZERO; n];
        Self {
            y: zeros(r.nq),
            yd: zeros(r.nv),
            q: zeros(m.nq),
            ratio: vec![S::ONE; n],
            ratio_rate: zeros(n),
            bend: zeros(c),
            third: zeros(c),
            ratio_bend: zeros(n),
            load: zeros(r.nv),
            change: zeros(3 * n),
            held: zeros(3 * r.nv),
            load_change: zeros(r.nv),
            moved_change: zeros(r.nv),
            input: zeros(n),
            output: zeros(n),
            matrix: zeros(dense * n * n.max(6)),
            rows: zeros(dense * n * c),
            factor: zeros(dense * c * c),
            lambda: zeros(dense * c * r.nv),
            mass: zeros(dense * r.nv * r.nv),
            coriolis: Vec::with_capacity(dense * r.nv * r.nv),
            m: Factor::new(dense * r.nv),
            m_rate: Factor::new(dense * r.nv),
            ranked: zeros(r.nv),
            ranked_rate: vec![Dual::ZERO; r.nv],
        }
    }

    /// A new configuration; the coordinates of all joints are left in `q`.
    pub(crate) fn configure(&mut self, r: &Reduction, y: &[S]) {
        self.y.copy_from_slice(y);
        self.m.is_filled = false;
        self.m_rate.is_filled = false;
        for (q, &from) in self.q.iter_mut().zip(&r.q_from) {
            *q = y[from];
        }
        for (i, follower) in r.followers.iter().enumerate() {
            [self.q[follower.q], self.ratio[follower.v], self.bend[i], self.third[i]] = follower.at(self.q[follower.q]);
        }
    }

    /// Accelerations ÿ to linearize about: R̈ = g‴ẏ² + g″ÿ.
    pub(crate) fn set_accelerating(&mut self, r: &Reduction, ydd: &[S]) {
        for (i, follower) in r.followers.iter().enumerate() {
            let from = r.v_from[follower.v];
            let yd = self.yd[from];
            self.ratio_bend[follower.v] = self.third[i] * (yd * yd) + self.bend[i] * ydd[from];
        }
    }

    /// What torques on all joints do as followers turn ever faster: Σ g″T.
    pub(crate) fn set_load(&mut self, r: &Reduction, tau: &[S]) {
        self.load.fill(S::ZERO);
        for (follower, bend) in r.followers.iter().zip(&self.bend) {
            let to = &mut self.load[r.v_from[follower.v]];
            *to += *bend * tau[follower.v];
        }
    }

    /// A new velocity: q̇ = Rẏ.
    pub(crate) fn set_moving(&mut self, r: &Reduction, yd: &[S], qd: &mut [S]) {
        self.yd.copy_from_slice(yd);
        self.m_rate.is_filled = false;
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

    /// Ṙẏ of one degree of freedom.
    #[inline(always)]
    pub(crate) fn bend_of(&self, r: &Reduction, v: usize) -> S {
        self.ratio_rate[v] * self.yd[r.v_from[v]]
    }

    /// out += Ṙẏ.
    pub(crate) fn add_bend(&self, r: &Reduction, out: &mut [S]) {
        for ((out, &from), rate) in out.iter_mut().zip(&r.v_from).zip(&self.ratio_rate) {
            *out += *rate * self.yd[from];
        }
    }

    // What is independent has one in its row of R: only followers need products. Sums of plain products, since this code is
    // not compiled for processors that fuse them.

    /// out += R*x.
    pub(crate) fn contract(&self, r: &Reduction, x: &[S], out: &mut [S]) {
        for (out, &v) in out.iter_mut().zip(&r.independent) {
            *out += x[v];
        }
        Self::contract_followers(r, &self.ratio, x, out);
    }

    /// out += W*x, where W has rows of one number for followers alone, as Ṙ and R̈.
    pub(crate) fn contract_followers(r: &Reduction, w: &[S], x: &[S], out: &mut [S]) {
        for f in &r.followers {
            out[r.v_from[f.v]] += w[f.v] * x[f.v];
        }
    }

    /// out += R*XR.
    pub(crate) fn congruence(&self, r: &Reduction, x: &[S], out: &mut [S]) {
        let n = r.v_from.len();
        for (out, &v) in out.chunks_exact_mut(r.nv).zip(&r.independent) {
            self.contract(r, &x[v * n..][..n], out);
        }
        for f in &r.followers {
            let (row, ratio, to) = (&x[f.v * n..][..n], self.ratio[f.v], r.v_from[f.v]);
            let out = &mut out[to * r.nv..][..r.nv];
            for (out, &v) in out.iter_mut().zip(&r.independent) {
                *out += ratio * row[v];
            }
            for g in &r.followers {
                out[r.v_from[g.v]] += ratio * self.ratio[g.v] * row[g.v];
            }
        }
    }

    /// out += R*XW, where W has rows for followers alone.
    pub(crate) fn congruence_followers(&self, r: &Reduction, w: &[S], x: &[S], out: &mut [S]) {
        let n = r.v_from.len();
        for ((row, &to), ratio) in x.chunks_exact(n).zip(&r.v_from).zip(&self.ratio) {
            for f in &r.followers {
                out[to * r.nv + r.v_from[f.v]] += *ratio * w[f.v] * row[f.v];
            }
        }
    }

    /// Takes in the tree's 𝓜⁻¹: C𝓜⁻¹, and the factor of W.
    pub(crate) fn take_inverse(&mut self, r: &Reduction, inverse: &[S]) {
        let (n, c) = (r.v_from.len(), r.followers.len());
        self.rows.resize(n * c, S::ZERO);
        self.factor.resize(c * c, S::ZERO);
        for (row, f) in self.rows.chunks_exact_mut(n).zip(&r.followers) {
            let ratio = self.ratio[f.v];
            for ((x, own), lead) in row.iter_mut().zip(&inverse[f.v * n..]).zip(&inverse[f.leader * n..]) {
                *x = *own - ratio * *lead;
            }
        }
        for i in 0..c {
            let row = &self.rows[i * n..(i + 1) * n];
            for (j, f) in r.followers.iter().enumerate().take(i + 1) {
                let mut sum = row[f.v] - self.ratio[f.v] * row[f.leader];
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
    }

    /// λ ← (LL*)⁻¹λ, rows of so many numbers.
    fn solve(&mut self, width: usize) {
        let (c, l) = (self.lambda.len() / width.max(1), &self.factor);
        for i in 0..c {
            let (before, own) = self.lambda.split_at_mut(i * width);
            let own = &mut own[..width];
            for (j, other) in before.chunks_exact(width).enumerate() {
                subtract(l[i * c + j], other, own);
            }
            own.iter_mut().for_each(|x| *x = *x * l[i * c + i]);
        }
        for i in (0..c).rev() {
            let (own, after) = self.lambda[i * width..].split_at_mut(width);
            for (j, other) in after.chunks_exact(width).enumerate() {
                subtract(l[(i + 1 + j) * c + i], other, own);
            }
            own.iter_mut().for_each(|x| *x = *x * l[i * c + i]);
        }
    }

    /// Takes off an independent row what keeps followers in step: as many rows of λ as there are followers.
    fn keep_in_step(&self, n: usize, width: usize, row: usize, out: &mut [S]) {
        for (of_c, lambda) in self.rows.chunks_exact(n).zip(self.lambda.chunks_exact(width)) {
            subtract(of_c[row], lambda, out);
        }
    }

    /// The independent part of 𝓜⁻¹ − 𝓜⁻¹C*W⁻¹C𝓜⁻¹, from the tree's 𝓜⁻¹ that was taken in.
    pub(crate) fn constrain_inverse(&mut self, r: &Reduction, inverse: &[S], out: &mut [S]) {
        let (n, nv) = (r.v_from.len(), r.nv);
        self.lambda.resize(r.followers.len() * nv, S::ZERO);
        for (lambda, row) in self.lambda.chunks_exact_mut(nv.max(1)).zip(self.rows.chunks_exact(n)) {
            for (lambda, &a) in lambda.iter_mut().zip(&r.independent) {
                *lambda = row[a];
            }
        }
        self.solve(nv);
        for (i, &a) in r.independent.iter().enumerate() {
            let own = &mut out[i * nv..][..=i];
            for (x, &b) in own.iter_mut().zip(&r.independent) {
                *x = inverse[a * n + b];
            }
            self.keep_in_step(n, nv, a, own);
            for j in 0..i {
                out[j * nv + i] = out[i * nv + j];
            }
        }
    }

    /// The independent part of Z − 𝓜⁻¹C*W⁻¹CZ, Z having the columns of what is independent in rows of all.
    pub(crate) fn constrain_columns(&mut self, r: &Reduction, z: &[S], out: &mut [S]) {
        let (n, nv) = (r.v_from.len(), r.nv);
        self.lambda.resize(r.followers.len() * nv, S::ZERO);
        for (lambda, f) in self.lambda.chunks_exact_mut(nv.max(1)).zip(&r.followers) {
            lambda.copy_from_slice(&z[f.v * n..][..nv]);
            subtract(self.ratio[f.v], &z[f.leader * n..][..nv], lambda);
        }
        self.solve(nv);
        for (out, &a) in out.chunks_exact_mut(nv.max(1)).zip(&r.independent) {
            out.copy_from_slice(&z[a * n..][..nv]);
            self.keep_in_step(n, nv, a, out);
        }
    }
}

/// out −= a x, as far as there is room.
#[inline(always)]
fn subtract<S: Scalar>(a: S, x: &[S], out: &mut [S]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out -= a * *x;
    }
}
