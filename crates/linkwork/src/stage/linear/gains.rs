//! P̂ and Ĝ, and what G releases, at home.

use super::block::Block;
use super::terms::Terms;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion, Vec3};
use core::ops::AddAssign;

/// 2P̂ = [[·, 0], [·, 0]], or 2M̂, row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hat<S>([Vec3<S>; 6]);

impl<S: Scalar> Hat<S> {
    pub(crate) const ZERO: Self = Self([Vec3::ZERO; 6]);

    /// 2P̂ X, which reads the angular half alone.
    #[inline(always)]
    pub(crate) fn times(&self, w: Vec3<S>) -> Force<S> {
        let [a, b, c, d, e, f] = self.0;
        Force {
            moment: Vec3::new(a.dot(w), b.dot(w), c.dot(w)),
            force: Vec3::new(d.dot(w), e.dot(w), f.dot(w)),
        }
    }

    /// 2P̂* X, which has an angular half alone.
    #[inline(always)]
    fn adjoint_times(&self, x: Motion<S>) -> Vec3<S> {
        let [a, b, c, d, e, f] = self.0;
        let (w, u) = (x.angular, x.linear);
        let turning = c.mul_add(w.z, b.mul_add(w.y, a * w.x));
        f.mul_add(u.z, e.mul_add(u.y, d.mul_add(u.x, turning)))
    }
}

impl<S: Scalar> AddAssign for Hat<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        for i in 0..6 {
            self.0[i] += o.0[i];
        }
    }
}

/// Rows of P, then of 2P̂.
pub(crate) const ARTICULATED: usize = HAT + 18;
const HAT: usize = 21;

impl<S: Scalar> Block<S, ARTICULATED> {
    #[inline(always)]
    pub(super) fn put_articulated(&mut self, lane: usize, p: &Articulated<S>, hat: &Hat<S>) {
        self.put(0, lane, p.a);
        self.put(6, lane, p.b[0]);
        self.put(9, lane, p.b[1]);
        self.put(12, lane, p.b[2]);
        self.put(15, lane, p.c);
        let [a, b, c, d, e, f] = hat.0;
        self.put(HAT, lane, a.to_array());
        self.put(HAT + 3, lane, b.to_array());
        self.put(HAT + 6, lane, c.to_array());
        self.put(HAT + 9, lane, d.to_array());
        self.put(HAT + 12, lane, e.to_array());
        self.put(HAT + 15, lane, f.to_array());
    }

    #[inline(always)]
    pub(crate) fn p(&self, lane: usize) -> Articulated<S> {
        let b = |row: usize| self.three(row, lane).to_array();
        Articulated {
            a: self.six(0, lane),
            b: [b(6), b(9), b(12)],
            c: self.six(15, lane),
        }
    }

    #[inline(always)]
    pub(crate) fn hat(&self, lane: usize) -> Hat<S> {
        let row = |row: usize| self.three(HAT + row, lane);
        Hat([row(0), row(3), row(6), row(9), row(12), row(15)])
    }
}

impl<S: Scalar> Terms<S> {
    /// 2M̂.
    #[inline(always)]
    pub(crate) fn hat(&self) -> Hat<S> {
        let ([a, b, c], l, o) = (self.turning, self.twice_momentum, S::ZERO);
        Hat([
            a,
            b,
            c,
            Vec3::new(o, l.z, -l.y),
            Vec3::new(-l.z, o, l.x),
            Vec3::new(l.y, -l.x, o),
        ])
    }
}

/// H*, G, PH*, 2P̂*H* and D⁻¹ of one degree of freedom, at home.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HomeGain<S> {
    pub(crate) h: Motion<S>,
    pub(crate) g: Force<S>,
    pub(crate) ph: Force<S>,
    pub(crate) ph_hat: Vec3<S>,
    pub(crate) d_inv: S,
}

impl<S: Scalar> HomeGain<S> {
    pub(crate) const ZERO: Self = Self {
        h: Motion::ZERO,
        g: Force::ZERO,
        ph: Force::ZERO,
        ph_hat: Vec3::ZERO,
        d_inv: S::ZERO,
    };

    /// P⁺ = P − G(PH*)* and τ̄P̂ = P̂ − G(P̂*H*)*; G and D are there, the others are found.
    #[inline(always)]
    pub(crate) fn release(&mut self, p: &mut Articulated<S>, hat: &mut Hat<S>) {
        let g = self.g.to_array();
        self.ph = self.g * self.d_inv.recip();
        self.ph_hat = hat.adjoint_times(self.h);
        p.subtract_outer(g, self.ph.to_array());
        for i in 0..6 {
            hat.0[i] = self.ph_hat.mul_add(-g[i], hat.0[i]);
        }
    }
}
