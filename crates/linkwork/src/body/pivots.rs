//! The pivots of D: what a joint of several degrees of freedom does to diagonalized rates and torques.
//!
//! D = LΔL* with L unit lower triangular: releasing one degree of freedom after the other leaves the pivots Δ and, as G of
//! each, a column ĝ of GL, so that L_ji = h_j·ĝ_i. Sweeps work with η = L*ξ and e = L⁻¹κ, which need no more than these;
//! a single degree of freedom has L = 1.

use super::Hinge;
use super::hinge::Gain;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion};

impl Hinge {
    /// h_i · f.
    #[inline(always)]
    pub(crate) fn pick<S: Scalar>(self, i: usize, f: &[S; 6]) -> S {
        let along = f[self.axes()[i]];
        match self.pitch() {
            Some(pitch) => S::lift(pitch).mul_add(f[5], along),
            None => along,
        }
    }

    /// P h_i.
    #[inline(always)]
    pub(crate) fn column<S: Scalar>(self, p: &Articulated<S>, i: usize) -> [S; 6] {
        let mut u = p.column(self.axes()[i]);
        if let Some(pitch) = self.pitch() {
            let (h, other) = (S::lift(pitch), p.column(5));
            for j in 0..6 {
                u[j] = h.mul_add(other[j], u[j]);
            }
        }
        u
    }

    /// V + h_i x.
    #[inline(always)]
    fn move_along<S: Scalar>(self, i: usize, x: S, v: &mut [S; 6]) {
        v[self.axes()[i]] += x;
        if let Some(pitch) = self.pitch() {
            v[5] = S::lift(pitch).mul_add(x, v[5]);
        }
    }

    /// V − H*q̇.
    #[inline(always)]
    pub(crate) fn take_motion<S: Scalar>(self, mut v: Motion<S>, qd: &[S]) -> Motion<S> {
        match self {
            Self::Revolute => {
                v.angular.z -= qd[0];
                v
            }
            _ => v - self.motion(qd),
        }
    }

    /// η = q̇ + ĝ*V and V ← V + hq̇, last degree of freedom first.
    #[inline(always)]
    pub(crate) fn total_rates<S: Scalar>(self, v: &mut Motion<S>, qd: &[S], gains: &[Gain<S>], eta: &mut [S]) {
        if matches!(self, Self::Revolute) {
            eta[0] = qd[0] + v.dot(Force::from_array(gains[0].g));
            v.angular.z += qd[0];
            return;
        }
        let mut numbers = v.to_array();
        for i in (0..self.axes().len()).rev() {
            eta[i] = qd[i] + Motion::from_array(numbers).dot(Force::from_array(gains[i].g));
            self.move_along(i, qd[i], &mut numbers);
        }
        *v = Motion::from_array(numbers);
    }

    /// q̇ = η − ĝ*V and V ← V + hq̇, last degree of freedom first.
    #[inline(always)]
    pub(crate) fn joint_rates<S: Scalar>(self, v: &mut Motion<S>, eta: &[S], gains: &[Gain<S>], qd: &mut [S]) {
        if matches!(self, Self::Revolute) {
            qd[0] = eta[0] - v.dot(Force::from_array(gains[0].g));
            v.angular.z += qd[0];
            return;
        }
        let mut numbers = v.to_array();
        for i in (0..self.axes().len()).rev() {
            qd[i] = eta[i] - Motion::from_array(numbers).dot(Force::from_array(gains[i].g));
            self.move_along(i, qd[i], &mut numbers);
        }
        *v = Motion::from_array(numbers);
    }

    /// T = e + Hz and z ← z + ĝe, one degree of freedom after the other.
    #[inline(always)]
    pub(crate) fn torques<S: Scalar>(self, z: &mut Force<S>, e: &[S], gains: &[Gain<S>], tau: &mut [S]) {
        for i in 0..self.axes().len() {
            tau[i] = e[i] + self.pick(i, &z.to_array());
            *z = Force::from_array(gains[i].g).mul_add(e[i], *z);
        }
    }

    /// κ = Le, in place.
    #[inline(always)]
    pub(crate) fn lower<S: Scalar>(self, gains: &[Gain<S>], x: &mut [S]) {
        for i in (1..self.axes().len()).rev() {
            for j in 0..i {
                x[i] = self.pick(i, &gains[j].g).mul_add(x[j], x[i]);
            }
        }
    }

    /// e = L⁻¹κ, in place.
    #[inline(always)]
    pub(crate) fn lower_inverse<S: Scalar>(self, gains: &[Gain<S>], x: &mut [S]) {
        for i in 1..self.axes().len() {
            for j in 0..i {
                x[i] = (-self.pick(i, &gains[j].g)).mul_add(x[j], x[i]);
            }
        }
    }

    /// η = L*ξ, in place.
    #[inline(always)]
    pub(crate) fn upper<S: Scalar>(self, gains: &[Gain<S>], x: &mut [S]) {
        let d = self.axes().len();
        for i in 0..d {
            for j in i + 1..d {
                x[i] = self.pick(j, &gains[i].g).mul_add(x[j], x[i]);
            }
        }
    }

    /// ξ = L⁻*η, in place.
    #[inline(always)]
    pub(crate) fn upper_inverse<S: Scalar>(self, gains: &[Gain<S>], x: &mut [S]) {
        let d = self.axes().len();
        for i in (0..d).rev() {
            for j in i + 1..d {
                x[i] = (-self.pick(j, &gains[i].g)).mul_add(x[j], x[i]);
            }
        }
    }
}
