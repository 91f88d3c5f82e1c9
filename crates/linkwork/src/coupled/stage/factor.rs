//! 𝓜 = mm* of a coupled mechanism: the factor of R*𝓜R in the order of a tree's own, tips first.
//!
//! m has a number at (p, k) where p is on the path of k in the elimination forest. Vectors here are in the order of ranks.

use crate::coupled::model::Elimination;
use crate::scalar::Scalar;
use crate::stage::diagonal::Scaling;

/// m, dense by columns: row r of a column is at `column · n + r`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factor<S> {
    m: Vec<S>,
    /// The diagonal of 𝓜.
    whole: Vec<S>,
    pub(crate) is_filled: bool,
}

impl<S: Scalar> Factor<S> {
    /// Room for so many degrees of freedom.
    pub(crate) fn new(n: usize) -> Self {
        Self {
            m: Vec::with_capacity(n * n),
            whole: Vec::with_capacity(n),
            is_filled: false,
        }
    }

    #[inline(always)]
    fn at(&self, n: usize, row: usize, column: usize) -> S {
        self.m[column * n + row]
    }

    /// Factors 𝓜, given by its numbers at two independent degrees of freedom.
    pub(crate) fn fill(&mut self, e: &Elimination, mass: impl Fn(usize, usize) -> S) {
        let n = e.order.len();
        self.m.resize(n * n, S::ZERO);
        self.whole.resize(n, S::ZERO);
        for k in 0..n {
            self.whole[k] = mass(e.order[k], e.order[k]);
            for i in e.path(k) {
                self.m[k * n + i] = mass(e.order[i], e.order[k]);
            }
        }
        for k in (0..n).rev() {
            let root = self.at(n, k, k).sqrt();
            let inverse = root.recip();
            self.m[k * n + k] = root;
            for i in e.inward(k) {
                self.m[k * n + i] = self.m[k * n + i] * inverse;
            }
            for i in e.inward(k) {
                let x = self.at(n, i, k);
                for j in e.path(i) {
                    let y = self.at(n, j, k);
                    self.m[i * n + j] -= x * y;
                }
            }
        }
        self.is_filled = true;
    }

    /// The rank at which 𝓜 is not positive, or zero but for rounding, if any.
    pub(crate) fn unsound(&self, n: usize) -> Option<usize> {
        (0..n).find(|&k| {
            let (pivot, whole) = (self.at(n, k, k).lane(0), self.whole[k].lane(0));
            !(pivot * pivot > 4.0 * S::EPSILON * whole && self.at(n, k, k).is_finite())
        })
    }

    /// What is left of the mass matrix at a rank.
    pub(crate) fn pivot(&self, n: usize, rank: usize) -> f64 {
        self.at(n, rank, rank).lane(0).powi(2)
    }

    /// Within a joint: x ← m_bb x, m_bb⁻¹x, m_bb*x or m_bb^-*x.
    fn blocks(&self, e: &Elimination, x: &mut [S], adjoint: bool, inverse: bool) {
        let n = e.order.len();
        let mut start = 0;
        while start < n {
            let end = (start..n).find(|&k| e.block[k] != start).unwrap_or(n);
            // m_bb is upper triangular: what is read last is written first.
            let upward = adjoint == inverse;
            for step in start..end {
                let i = if upward { step } else { end - 1 - (step - start) };
                let others = if adjoint { start..i } else { i + 1..end };
                let number = |k: usize| if adjoint { self.at(n, k, i) } else { self.at(n, i, k) };
                let (mut sum, own) = (S::ZERO, self.at(n, i, i));
                for k in others {
                    sum = number(k).mul_add(x[k], sum);
                }
                x[i] = if inverse {
                    (x[i] - sum) * own.recip()
                } else {
                    own.mul_add(x[i], sum)
                };
            }
            start = end;
        }
    }

    /// D x within each joint.
    pub(crate) fn inertias(&self, e: &Elimination, x: &mut [S]) {
        self.blocks(e, x, true, false);
        self.blocks(e, x, false, false);
    }

    /// ν → ξ: m_bb^-*x within each joint.
    pub(crate) fn joint_rates_within(&self, e: &Elimination, x: &mut [S]) {
        self.blocks(e, x, true, true);
    }

    /// x ← m*x, or (m m_bb⁻¹)*x.
    pub(crate) fn total_rates(&self, e: &Elimination, scaling: Scaling, x: &mut [S]) {
        let n = e.order.len();
        for k in (0..n).rev() {
            let mut sum = S::ZERO;
            for i in e.path(k) {
                sum = self.at(n, i, k).mul_add(x[i], sum);
            }
            x[k] = sum;
        }
        if scaling == Scaling::Unnormalized {
            self.blocks(e, x, true, true);
        }
    }

    /// The inverse of [`Factor::total_rates`].
    pub(crate) fn joint_rates(&self, e: &Elimination, scaling: Scaling, x: &mut [S]) {
        let n = e.order.len();
        if scaling == Scaling::Unnormalized {
            self.blocks(e, x, true, false);
        }
        for k in 0..n {
            let mut sum = x[k];
            for i in e.inward(k) {
                sum -= self.at(n, i, k) * x[i];
            }
            x[k] = sum * self.at(n, k, k).recip();
        }
    }

    /// x ← mx, or m m_bb⁻¹x.
    pub(crate) fn joint_torques(&self, e: &Elimination, scaling: Scaling, x: &mut [S]) {
        let n = e.order.len();
        if scaling == Scaling::Unnormalized {
            self.blocks(e, x, false, true);
        }
        for k in 0..n {
            let own = x[k];
            for i in e.inward(k) {
                x[i] = self.at(n, i, k).mul_add(own, x[i]);
            }
            x[k] = self.at(n, k, k) * own;
        }
    }

    /// The inverse of [`Factor::joint_torques`].
    pub(crate) fn working_moments(&self, e: &Elimination, scaling: Scaling, x: &mut [S]) {
        let n = e.order.len();
        for k in (0..n).rev() {
            x[k] = x[k] * self.at(n, k, k).recip();
            for i in e.inward(k) {
                let change = self.at(n, i, k) * x[k];
                x[i] -= change;
            }
        }
        if scaling == Scaling::Unnormalized {
            self.blocks(e, x, false, false);
        }
    }

    /// ℓx along the path from a rank inward, beyond which x is zero.
    pub(crate) fn working_moments_along(&self, e: &Elimination, top: usize, x: &mut [S]) {
        let n = e.order.len();
        for k in e.path(top) {
            x[k] = x[k] * self.at(n, k, k).recip();
            for i in e.inward(k) {
                let change = self.at(n, i, k) * x[k];
                x[i] -= change;
            }
        }
    }

    /// The largest 1/m_kk²: how much the softest degree of freedom yields.
    pub(crate) fn softest(&self, n: usize) -> f64 {
        let pivots = (0..n).map(|k| self.at(n, k, k).lane(0));
        pivots.fold(0.0, |most, pivot| most.max((pivot * pivot).recip()))
    }

    /// The number of D between two degrees of freedom of a joint, by rank.
    pub(crate) fn joint_inertia(&self, e: &Elimination, i: usize, j: usize) -> S {
        let n = e.order.len();
        if e.block[i] != e.block[j] {
            return S::ZERO;
        }
        let from = i.max(j);
        let end = (from..n).find(|&k| e.block[k] != e.block[i]).unwrap_or(n);
        let mut sum = S::ZERO;
        for k in from..end {
            sum = self.at(n, i, k).mul_add(self.at(n, j, k), sum);
        }
        sum
    }
}
