//! What happens at a joint to the rates of inertias.

use super::crossing::{AnyJoint, Crossing, Sliding, Turning};
use super::joints::Joints;
use super::out_of_line::OutOfLine;
use crate::body::{Body, Gain, Hinge};
use crate::scalar::Scalar;
use crate::spatial::{Articulated, ConstantTurn};

impl<'a, S: Scalar> AnyJoint<'a, S> {
    /// The crossing of a link, whatever its joint: for sweeps that need not be compiled for each kind.
    #[inline(always)]
    pub(crate) fn of(body: &'a Body, joints: &'a Joints<S>, k: usize) -> Self {
        Self {
            body,
            z: joints.screws[k],
            general: &joints.general,
        }
    }
}

/// A crossing that also releases Ṗ.
pub(crate) trait Changing<S: Scalar>: Crossing<S> {
    /// τ̄Ṗτ̄* + crf(Δ)P⁺ − P⁺crm(Δ), Δ = H*q̇: the rate of P⁺ as the parent's side of the joint sees it.
    fn release_rate(self, rest: &Self::Rest, p_rate: Articulated<S>, gains: &[Gain<S>], qd: &[S]) -> Self::Rest;
}

impl<S: Scalar, T: ConstantTurn> Changing<S> for Turning<'_, S, T> {
    #[inline(always)]
    fn release_rate(self, rest: &Self::Rest, p_rate: Articulated<S>, gains: &[Gain<S>], qd: &[S]) -> Self::Rest {
        rest.rate(&p_rate, &gains[0].g, qd[0])
    }
}

impl<S: Scalar, T: ConstantTurn> Changing<S> for Sliding<'_, S, T> {
    #[inline(always)]
    fn release_rate(self, rest: &Self::Rest, p_rate: Articulated<S>, gains: &[Gain<S>], qd: &[S]) -> Self::Rest {
        release_rate(Hinge::Prismatic, rest, p_rate, gains, qd)
    }
}

impl<S: Scalar> Changing<S> for AnyJoint<'_, S> {
    #[inline(always)]
    fn release_rate(self, rest: &Self::Rest, p_rate: Articulated<S>, gains: &[Gain<S>], qd: &[S]) -> Self::Rest {
        release_rate(self.body.hinge, rest, p_rate, gains, qd)
    }
}

impl<S: Scalar> Changing<S> for OutOfLine<'_, S> {
    #[inline(never)]
    fn release_rate(self, rest: &Self::Rest, p_rate: Articulated<S>, gains: &[Gain<S>], qd: &[S]) -> Self::Rest {
        self.0.release_rate(rest, p_rate, gains, qd)
    }
}

/// One degree of freedom after the other, as P was released; then the joint's own motion.
#[inline(always)]
fn release_rate<S: Scalar>(
    hinge: Hinge,
    rest: &Articulated<S>,
    mut p_rate: Articulated<S>,
    gains: &[Gain<S>],
    qd: &[S],
) -> Articulated<S> {
    for i in 0..hinge.axes().len() {
        release_rate_of_one(hinge, i, &gains[i].g, &mut p_rate);
    }
    match hinge {
        Hinge::Revolute => p_rate.add_turned(rest, qd[0]),
        Hinge::Prismatic => p_rate.add_slid(rest, qd[0]),
        _ => p_rate += rest.carried_by(hinge.motion(qd)),
    }
    p_rate
}

/// Ṗ ← τ̄Ṗτ̄* = Ṗ − gv* − vg* of one degree of freedom, with u̇ = Ṗh, ḋ = h·u̇ and v = u̇ − ½ḋg; returns v and ḋ.
#[inline(always)]
pub(crate) fn release_rate_of_one<S: Scalar>(
    hinge: Hinge,
    i: usize,
    g: &[S; 6],
    p_rate: &mut Articulated<S>,
) -> ([S; 6], S) {
    let mut v = hinge.column(p_rate, i);
    let d_rate = hinge.pick(i, &v);
    let half = S::lift(0.5) * d_rate;
    for j in 0..6 {
        v[j] = (-half).mul_add(g[j], v[j]);
    }
    p_rate.subtract_both(g, &v);
    (v, d_rate)
}
