//! What couplings determine: R, its rate, and room to go between users' coordinates and all.

pub(crate) mod embedded;
pub(crate) mod factor;

use crate::coupled::model::{By, Merge, Piece, Reduction};
use crate::model::Compiled;
use crate::scalar::{Dual, Scalar};
use core::ops::{Deref, DerefMut};
use factor::Factor;

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

/// Up to so many degrees of freedom, how dense results are summed is found beforehand: it takes some ten megabytes.
const AT_ONCE: usize = 200;

/// The memory of a mechanism with couplings; empty for others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coupled<S> {
    /// The users' configuration and velocity.
    pub(crate) y: Vec<S>,
    pub(crate) yd: Vec<S>,
    /// The coordinates of all joints.
    pub(crate) q: Vec<S>,
    /// Per degree of freedom of all joints, its one number of R and of Ṙ: one and zero where it is independent.
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
    /// From 𝓜 of what is independent: D⁻¹ in the order of its tree, and whether any is unsound; ∂T/∂q and ∂T/∂q̇; and 𝓜 itself.
    pub(crate) d_inv: Vec<S>,
    pub(crate) unsound: S,
    pub(crate) changes: Vec<S>,
    pub(crate) elements: Vec<S>,
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
        let dense = usize::from(n <= crate::stage::LARGE);
        if n <= AT_ONCE && S::LANES == 1 {
            // Made here, and not when first needed.
            let _ = (r.merge_mass(m), r.merge_derivatives(m));
        }
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
            d_inv: zeros(r.nv),
            unsound: S::ZERO,
            changes: zeros(dense * (2 * r.nv * r.nv + BEYOND)),
            elements: zeros(dense * r.nv * r.nv),
            mass: zeros(dense * r.nv * r.nv),
            coriolis: Vec::with_capacity(dense * r.nv * r.nv),
            m: Factor::new(dense * r.nv),
            m_rate: Factor::new(dense * r.nv),
            ranked: zeros(r.nv),
            ranked_rate: vec![Dual::ZERO; r.nv],
        }
    }

    /// A new configuration; the coordinates of all joints are left in `q`.
    #[inline(always)]
    pub(crate) fn configure(&mut self, r: &Reduction, y: &[S]) {
        copy(y, &mut self.y);
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
    #[inline(always)]
    pub(crate) fn set_moving(&mut self, r: &Reduction, yd: &[S], qd: &mut [S]) {
        copy(yd, &mut self.yd);
        self.m_rate.is_filled = false;
        self.expand(r, yd, qd);
        for (i, follower) in r.followers.iter().enumerate() {
            self.ratio_rate[follower.v] = self.bend[i] * yd[r.v_from[follower.v]];
        }
    }

    /// out = R x.
    #[inline(always)]
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

    // What is independent has one in its row of R: only followers need products.

    /// out = R*x.
    #[inline(always)]
    pub(crate) fn contract(&self, r: &Reduction, x: &[S], out: &mut [S]) {
        pick(r, x, out);
        Self::contract_followers(r, &self.ratio, x, out);
    }

    /// out += R*x.
    pub(crate) fn contract_more(&self, r: &Reduction, x: &[S], out: &mut [S]) {
        for (out, &v) in out.iter_mut().zip(&r.independent) {
            *out += x[v];
        }
        Self::contract_followers(r, &self.ratio, x, out);
    }

    /// out += W*x, where W has rows of one number for followers alone, as Ṙ and R̈.
    #[inline(always)]
    pub(crate) fn contract_followers(r: &Reduction, w: &[S], x: &[S], out: &mut [S]) {
        for f in &r.followers {
            out[r.v_from[f.v]] += w[f.v] * x[f.v];
        }
    }

    /// The elements of R*XR that followers take part in: `x` has those of the tree, and `put` takes a place and a result.
    #[inline(always)]
    fn sums(&self, merge: &Merge, x: &[S], mut put: impl FnMut(usize, S)) {
        let mut first = 0;
        for sum in &merge.sums {
            let (end, mut total) = (sum.end as usize, S::ZERO);
            for term in &merge.terms[first..end] {
                let right = match term.by {
                    By::Ratio => &self.ratio,
                    By::Rate => &self.ratio_rate,
                    By::Bend => &self.ratio_bend,
                };
                let weight = self.ratio[term.left as usize] * right[term.right as usize];
                total = weight.mul_add(x[term.from as usize], total);
            }
            put(sum.to as usize, total);
            if sum.also != sum.to {
                put(sum.also as usize, total);
            }
            first = end;
        }
    }

    /// R*XR of dense matrices that are zero between branches: the independent elements, and sums for those of followers.
    #[inline(always)]
    pub(crate) fn merge(&self, r: &Reduction, merge: &Merge, x: &[S], out: &mut [S]) {
        let (n, nv) = (r.v_from.len(), r.nv);
        for kind in 0..x.len() / (n * n) {
            for i in 0..nv {
                let row = (kind * n + r.independent[i]) * n;
                pick(r, &x[row..row + n], &mut out[(kind * nv + i) * nv..][..nv]);
            }
        }
        self.sums(merge, x, |to, total| out[to] = total);
    }

    /// The same of a list of so many elements, behind which sums go.
    #[inline(always)]
    pub(crate) fn merge_list(&self, merge: &Merge, tree: usize, list: &mut [S]) {
        let (x, sums) = list.split_at_mut(tree);
        self.sums(merge, x, |to, total| sums[to - tree] = total);
    }

    /// out = R*XR.
    #[inline(always)]
    pub(crate) fn congruence(&self, r: &Reduction, x: &[S], out: &mut [S]) {
        let (n, nv) = (r.v_from.len(), r.nv);
        for i in 0..nv {
            self.contract(r, &x[r.independent[i] * n..][..n], &mut out[i * nv..][..nv]);
        }
        for f in &r.followers {
            let (row, ratio, to) = (&x[f.v * n..][..n], self.ratio[f.v], r.v_from[f.v]);
            let out = &mut out[to * nv..][..nv];
            for &Piece { from, to, count } in &r.pieces {
                add_scaled(ratio, &row[from..from + count], &mut out[to..to + count]);
            }
            for g in &r.followers {
                out[r.v_from[g.v]] += ratio * self.ratio[g.v] * row[g.v];
            }
        }
    }

    /// out += R*XW, where W has rows for followers alone.
    #[inline(always)]
    pub(crate) fn congruence_followers(&self, r: &Reduction, w: impl Fn(usize) -> S, x: &[S], out: &mut [S]) {
        let n = r.v_from.len();
        for ((row, &to), ratio) in x.chunks_exact(n).zip(&r.v_from).zip(&self.ratio) {
            for f in &r.followers {
                out[to * r.nv + r.v_from[f.v]] += *ratio * w(f.v) * row[f.v];
            }
        }
    }

    /// Takes in the tree's 𝓜⁻¹: C𝓜⁻¹, and the factor of W.
    #[inline(always)]
    pub(crate) fn take_inverse(&mut self, r: &Reduction, inverse: &[S]) {
        let (n, c) = (r.v_from.len(), r.followers.len());
        self.rows.resize(n * c, S::ZERO);
        self.factor.resize(c * c, S::ZERO);
        for i in 0..c {
            let (f, row) = (&r.followers[i], &mut self.rows[i * n..][..n]);
            copy(&inverse[f.v * n..][..n], row);
            add_scaled(-self.ratio[f.v], &inverse[f.leader * n..][..n], row);
        }
        for i in 0..c {
            let row = &self.rows[i * n..(i + 1) * n];
            for j in 0..=i {
                let f = &r.followers[j];
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

    /// λ ← (LL*)⁻¹λ, a row of so many numbers for every follower.
    #[inline(always)]
    fn solve(&mut self, followers: usize, width: usize) {
        let (c, l) = (followers, &self.factor[..]);
        for i in 0..c {
            let (before, own) = self.lambda.split_at_mut(i * width);
            let own = &mut own[..width];
            for j in 0..i {
                add_scaled(-l[i * c + j], &before[j * width..][..width], own);
            }
            scale(l[i * c + i], own);
        }
        for i in (0..c).rev() {
            let (own, after) = self.lambda[i * width..].split_at_mut(width);
            for j in i + 1..c {
                add_scaled(-l[j * c + i], &after[(j - i - 1) * width..][..width], own);
            }
            scale(l[i * c + i], own);
        }
    }

    /// Takes off an independent row what keeps followers in step.
    #[inline(always)]
    fn keep_in_step(&self, r: &Reduction, row: usize, out: &mut [S]) {
        let (n, nv) = (r.v_from.len(), r.nv);
        for i in 0..r.followers.len() {
            add_scaled(-self.rows[i * n + row], &self.lambda[i * nv..][..nv], out);
        }
    }

    /// The independent part of 𝓜⁻¹ − 𝓜⁻¹C*W⁻¹C𝓜⁻¹, from the tree's 𝓜⁻¹ that was taken in.
    #[inline(always)]
    pub(crate) fn constrain_inverse(&mut self, r: &Reduction, inverse: &[S], out: &mut [S]) {
        let (n, nv, c) = (r.v_from.len(), r.nv, r.followers.len());
        self.lambda.resize(c * nv, S::ZERO);
        for i in 0..c {
            pick(r, &self.rows[i * n..][..n], &mut self.lambda[i * nv..][..nv]);
        }
        self.solve(c, nv);
        for i in 0..nv {
            let a = r.independent[i];
            let own = &mut out[i * nv..][..nv];
            pick(r, &inverse[a * n..][..n], own);
            self.keep_in_step(r, a, &mut own[..=i]);
            for j in 0..i {
                out[j * nv + i] = out[i * nv + j];
            }
        }
    }

    /// The independent part of Z − 𝓜⁻¹C*W⁻¹CZ, Z having the columns of what is independent in rows of all.
    #[inline(always)]
    pub(crate) fn constrain_columns(&mut self, r: &Reduction, z: &[S], out: &mut [S]) {
        let (n, nv, c) = (r.v_from.len(), r.nv, r.followers.len());
        self.lambda.resize(c * nv, S::ZERO);
        for i in 0..c {
            let (f, lambda) = (&r.followers[i], &mut self.lambda[i * nv..][..nv]);
            copy(&z[f.v * n..][..nv], lambda);
            add_scaled(-self.ratio[f.v], &z[f.leader * n..][..nv], lambda);
        }
        self.solve(c, nv);
        for i in 0..nv {
            let (a, out) = (r.independent[i], &mut out[i * nv..][..nv]);
            copy(&z[a * n..][..nv], out);
            self.keep_in_step(r, a, out);
        }
    }
}

/// What a register may read beyond the last row of a matrix.
pub(crate) const BEYOND: usize = 4;

// Loops over indices, which become part of what is compiled for the processor.

/// What is independent, of all.
#[inline(always)]
fn pick<S: Scalar>(r: &Reduction, x: &[S], out: &mut [S]) {
    for &Piece { from, to, count } in &r.pieces {
        copy(&x[from..from + count], &mut out[to..to + count]);
    }
}

#[inline(always)]
#[expect(clippy::manual_memcpy, reason = "rows are short, and `copy_from_slice` is a call")]
fn copy<S: Scalar>(x: &[S], out: &mut [S]) {
    let out = &mut out[..x.len()];
    for i in 0..x.len() {
        out[i] = x[i];
    }
}

#[inline(always)]
fn scale<S: Scalar>(a: S, x: &mut [S]) {
    for i in 0..x.len() {
        x[i] = a * x[i];
    }
}

/// out += a x, as far as there is room.
#[inline(always)]
fn add_scaled<S: Scalar>(a: S, x: &[S], out: &mut [S]) {
    let count = x.len().min(out.len());
    let (x, out) = (&x[..count], &mut out[..count]);
    for i in 0..count {
        out[i] = a.mul_add(x[i], out[i]);
    }
}
