//! Forward dynamics, refined where a link carries one that is far heavier.
//!
//! There P of the light link is a small difference of large numbers, and q̈ loses as many digits as their masses differ by.
//! Inverse dynamics loses none: the force on a heavy link is wrong only by what hardly moves it. So one step of refinement
//! brings all digits back.

use super::View;

use crate::dynamics::innovations::InverseMassTimes;
use crate::dynamics::inverse::InverseAgain;
use crate::scalar::Scalar;

impl<S: Scalar> View<'_, S> {
    /// q̈ of a sweep of forward dynamics, brought to all digits where the mechanism asks for it.
    #[inline(always)]
    pub(crate) fn refine(&mut self, tau: &[S], qdd: &mut [S]) {
        // Batches take such mechanisms one state at a time.
        if const { S::LANES == 1 } && self.mechanism.compiled.refines {
            self.add_residual(tau, qdd);
        }
    }

    /// q̈ += 𝓜⁻¹(T − T(q̈)), with T(q̈) from the links' whole inertias.
    #[inline(never)]
    fn add_residual(&mut self, tau: &[S], qdd: &mut [S]) {
        let [mut residual, mut change] = core::mem::take(&mut self.stages.scratch.refinement);
        let nv = qdd.len();
        self.sweep::<InverseAgain>(qdd, &mut residual[..nv]);
        for i in 0..nv {
            residual[i] = tau[i] - residual[i];
        }
        self.sweep::<InverseMassTimes>(&residual[..nv], &mut change[..nv]);
        for i in 0..nv {
            qdd[i] += change[i];
        }
        self.stages.scratch.refinement = [residual, change];
    }

    /// Whether forward dynamics leaves every link's acceleration as the tree's sweep finds it: without followers, branches
    /// side by side, and refinement.
    pub(super) fn leaves_accelerations(&self) -> bool {
        let m = &self.mechanism.compiled;
        m.reduction.is_none() && m.bundles.is_none() && !m.refines
    }
}
