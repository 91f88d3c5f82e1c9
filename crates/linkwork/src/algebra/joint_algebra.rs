//! D, G and the root of D at one joint, from the pivots that the Riccati sweep keeps.
//!
//! A joint of several degrees of freedom is released one after the other; then D = L₁ diag(pivots) L₁* with L₁ unit
//! lower triangular, its columns in the gains, and G = (gains) L₁⁻¹. For one degree of freedom L₁ is one.

use crate::body::{Body, Gain, Hinge};
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion};
use crate::stage::riccati::Riccati;

/// The gains of one joint.
#[derive(Clone, Copy)]
pub(crate) struct Joint<'a, S> {
    pub(crate) hinge: Hinge,
    pub(crate) gains: &'a [Gain<S>],
}

/// Numbers of one joint: as many as it has degrees of freedom are used.
pub(crate) type Few<S> = [S; 6];

impl<'a, S: Scalar> Joint<'a, S> {
    /// The joint of a link. `REVOLUTE` tells the compiler that it is a revolute one.
    #[inline(always)]
    pub(crate) fn of<const REVOLUTE: bool>(body: &Body, riccati: &'a Riccati<S>) -> Self {
        Self {
            hinge: if REVOLUTE { Hinge::Revolute } else { body.hinge },
            gains: &riccati.gains[body.v..],
        }
    }

    #[inline(always)]
    pub(crate) fn dofs(&self) -> usize {
        self.hinge.axes().len()
    }

    /// L₁(a, i), a > i.
    #[inline(always)]
    fn lower(&self, a: usize, i: usize) -> S {
        self.gains[i].g[self.hinge.axes()[a]]
    }

    /// L₁⁻¹x.
    #[inline(always)]
    fn solve_lower(&self, mut x: Few<S>) -> Few<S> {
        for a in 1..self.dofs() {
            for i in 0..a {
                x[a] = (-self.lower(a, i)).mul_add(x[i], x[a]);
            }
        }
        x
    }

    /// L₁⁻*x.
    #[inline(always)]
    fn solve_upper(&self, mut x: Few<S>) -> Few<S> {
        for i in (0..self.dofs()).rev() {
            for a in i + 1..self.dofs() {
                x[i] = (-self.lower(a, i)).mul_add(x[a], x[i]);
            }
        }
        x
    }

    /// L₁x.
    #[inline(always)]
    fn lower_times(&self, mut x: Few<S>) -> Few<S> {
        for a in (1..self.dofs()).rev() {
            for i in 0..a {
                x[a] = self.lower(a, i).mul_add(x[i], x[a]);
            }
        }
        x
    }

    /// L₁*x.
    #[inline(always)]
    fn upper_times(&self, mut x: Few<S>) -> Few<S> {
        for i in 0..self.dofs() {
            for a in i + 1..self.dofs() {
                x[i] = self.lower(a, i).mul_add(x[a], x[i]);
            }
        }
        x
    }

    /// Each number times what its pivot says.
    #[inline(always)]
    fn scale(&self, mut x: Few<S>, pivot: Pivot) -> Few<S> {
        for i in 0..self.dofs() {
            let d_inv = self.gains[i].d_inv;
            x[i] = x[i]
                * match pivot {
                    Pivot::Whole => d_inv.recip(),
                    Pivot::Inverse => d_inv,
                    Pivot::Root => d_inv.recip().sqrt(),
                    Pivot::InverseRoot => d_inv.sqrt(),
                };
        }
        x
    }

    /// D x.
    #[inline(always)]
    pub(crate) fn d(&self, x: Few<S>) -> Few<S> {
        self.lower_times(self.scale(self.upper_times(x), Pivot::Whole))
    }

    /// D⁻¹x.
    #[inline(always)]
    pub(crate) fn d_inv(&self, x: Few<S>) -> Few<S> {
        self.solve_upper(self.scale(self.solve_lower(x), Pivot::Inverse))
    }

    /// D^½x, by the lower Cholesky factor.
    #[inline(always)]
    pub(crate) fn root(&self, x: Few<S>) -> Few<S> {
        self.lower_times(self.scale(x, Pivot::Root))
    }

    #[inline(always)]
    pub(crate) fn root_star(&self, x: Few<S>) -> Few<S> {
        self.scale(self.upper_times(x), Pivot::Root)
    }

    #[inline(always)]
    pub(crate) fn root_inv(&self, x: Few<S>) -> Few<S> {
        self.scale(self.solve_lower(x), Pivot::InverseRoot)
    }

    #[inline(always)]
    pub(crate) fn root_inv_star(&self, x: Few<S>) -> Few<S> {
        self.solve_upper(self.scale(x, Pivot::InverseRoot))
    }

    /// The rotors' inertia times x.
    #[inline(always)]
    pub(crate) fn rotors(&self, armature: &[f64], mut x: Few<S>) -> Few<S> {
        for i in 0..self.dofs() {
            x[i] = S::lift(armature[i]) * x[i];
        }
        x
    }

    /// z + G x.
    #[inline(always)]
    pub(crate) fn add_g(&self, z: Force<S>, x: Few<S>) -> Force<S> {
        if matches!(self.hinge, Hinge::Revolute) {
            return Force::from_array(self.gains[0].g).mul_add(x[0], z);
        }
        let y = self.solve_lower(x);
        let mut z = z;
        for i in 0..self.dofs() {
            z = Force::from_array(self.gains[i].g).mul_add(y[i], z);
        }
        z
    }

    /// G x.
    #[inline(always)]
    pub(crate) fn g(&self, x: Few<S>) -> Force<S> {
        let y = self.solve_lower(x);
        let mut z = Force::from_array(self.gains[0].g) * y[0];
        for i in 1..self.dofs() {
            z = Force::from_array(self.gains[i].g).mul_add(y[i], z);
        }
        z
    }

    /// G*v.
    #[inline(always)]
    pub(crate) fn g_star(&self, v: Motion<S>) -> Few<S> {
        let mut x = [S::ZERO; 6];
        if matches!(self.hinge, Hinge::Revolute) {
            x[0] = v.dot(Force::from_array(self.gains[0].g));
            return x;
        }
        for i in 0..self.dofs() {
            x[i] = v.dot(Force::from_array(self.gains[i].g));
        }
        self.solve_upper(x)
    }

    /// H z.
    #[inline(always)]
    pub(crate) fn h(&self, z: Force<S>) -> Few<S> {
        let mut x = [S::ZERO; 6];
        self.hinge.project(z, &mut x);
        x
    }

    /// τ̄ z = z − G H z.
    #[inline(always)]
    pub(crate) fn tau_bar(&self, z: Force<S>) -> Force<S> {
        let mut x = self.h(z);
        for i in 0..self.dofs() {
            x[i] = -x[i];
        }
        self.add_g(z, x)
    }

    /// τ̄*v = v − H*G*v.
    #[inline(always)]
    pub(crate) fn tau_bar_star(&self, v: Motion<S>) -> Motion<S> {
        let mut x = self.g_star(v);
        for i in 0..self.dofs() {
            x[i] = -x[i];
        }
        self.hinge.add_motion(v, &x)
    }
}

/// What a pivot contributes.
#[derive(Clone, Copy)]
enum Pivot {
    Whole,
    Inverse,
    Root,
    InverseRoot,
}
