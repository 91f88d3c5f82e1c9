//! The factors of the mass matrix, 𝓜 = mm*, m = (I + HφK)D^½, and of its inverse, 𝓜⁻¹ = ℓ*ℓ, ℓ = D^-½(I − HψK); and the
//! same without D^½. Each is one sweep.  (JR)

use crate::body::{Gain, Hinge};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::diagonal::Scaling;
use crate::stage::inflow::Inflow;
use crate::sweep::{At, Sweep, algorithm};

/// q̇ → ν = m*q̇, or ξ = (I + HφK)*q̇.
pub(crate) struct TotalRates;
/// ν → q̇ = ℓ*ν, or from ξ by (I − HψK)*.
pub(crate) struct JointRates;
/// T → ε = ℓT, or κ = (I − HψK)T.
pub(crate) struct WorkingMoments;
/// ε → T = mε, or from κ by I + HφK.
pub(crate) struct JointTorques;

/// ν or ξ from η, in place.
#[inline(always)]
pub(crate) fn finish_rates<S: Scalar>(scaling: Scaling, hinge: Hinge, gains: &[Gain<S>], x: &mut [S]) {
    match scaling {
        Scaling::Normalized => {
            for i in 0..hinge.axes().len() {
                x[i] = x[i] * gains[i].d_inv.sqrt().recip();
            }
        }
        Scaling::Unnormalized => hinge.upper_inverse(gains, x),
    }
}

/// η from ν or ξ, in place.
#[inline(always)]
pub(crate) fn start_rates<S: Scalar>(scaling: Scaling, hinge: Hinge, gains: &[Gain<S>], x: &mut [S]) {
    match scaling {
        Scaling::Normalized => {
            for i in 0..hinge.axes().len() {
                x[i] = x[i] * gains[i].d_inv.sqrt();
            }
        }
        Scaling::Unnormalized => hinge.upper(gains, x),
    }
}

/// ε or κ from e, in place.
#[inline(always)]
pub(crate) fn finish_moments<S: Scalar>(scaling: Scaling, hinge: Hinge, gains: &[Gain<S>], x: &mut [S]) {
    match scaling {
        Scaling::Normalized => start_rates(scaling, hinge, gains, x),
        Scaling::Unnormalized => hinge.lower(gains, x),
    }
}

/// e from ε or κ, in place.
#[inline(always)]
pub(crate) fn start_moments<S: Scalar>(scaling: Scaling, hinge: Hinge, gains: &[Gain<S>], x: &mut [S]) {
    match scaling {
        Scaling::Normalized => finish_rates(scaling, hinge, gains, x),
        Scaling::Unnormalized => hinge.lower_inverse(gains, x),
    }
}

algorithm! {
    TotalRates: Plain;
    JointRates: Plain;
    WorkingMoments: Plain;
    JointTorques: Plain;
}

/// Outward: V⁺ = φ*V(p);  ξ = q̇ + G*V⁺;  V = V⁺ + H*q̇.
impl<S: Scalar> Sweep<S> for TotalRates {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, qd: &[S], out: &mut [S]) {
        s.need_gains(m);
        let (gains, v, scaling) = (&s.riccati.gains[..], &mut s.scratch.lambda[..], s.diagonal.scaling);
        for k in 0..m.bodies.len() {
            let (body, at) = (&m.bodies[k], m.bodies[k].v);
            at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => {
                let mut own = match body.parent {
                    Some(p) => joint.motion_out(v[p]),
                    None => Motion::ZERO,
                };
                let hinge = joint.hinge();
                hinge.total_rates(&mut own, &qd[at..], &gains[at..], &mut out[at..]);
                finish_rates(scaling, hinge, &gains[at..], &mut out[at..]);
                v[k] = own;
            });
        }
    }
}

/// Outward: V⁺ = φ*V(p);  q̇ = ξ − G*V⁺;  V = V⁺ + H*q̇.
impl<S: Scalar> Sweep<S> for JointRates {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, x: &[S], out: &mut [S]) {
        s.need_gains(m);
        s.scratch.dofs.copy_from_slice(x);
        let (gains, eta) = (&s.riccati.gains[..], &mut s.scratch.dofs[..]);
        let (v, scaling) = (&mut s.scratch.lambda[..], s.diagonal.scaling);
        for k in 0..m.bodies.len() {
            let (body, at) = (&m.bodies[k], m.bodies[k].v);
            at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => {
                let mut own = match body.parent {
                    Some(p) => joint.motion_out(v[p]),
                    None => Motion::ZERO,
                };
                let hinge = joint.hinge();
                start_rates(scaling, hinge, &gains[at..], &mut eta[at..]);
                hinge.joint_rates(&mut own, &eta[at..], &gains[at..], &mut out[at..]);
                v[k] = own;
            });
        }
    }
}

/// Inward: z = Σ φz⁺;  κ = T − Hz;  z⁺ = z + Gκ.
impl<S: Scalar> Sweep<S> for WorkingMoments {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, tau: &[S], out: &mut [S]) {
        s.need_gains(m);
        let (gains, scaling) = (&s.riccati.gains[..], s.diagonal.scaling);
        let mut inflow = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting);
        for k in (0..m.bodies.len()).rev() {
            let (body, at) = (&m.bodies[k], m.bodies[k].v);
            let mut z = inflow.gather_children(body);
            at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => {
                let hinge = joint.hinge();
                hinge.innovate(&mut z, &tau[at..], &gains[at..], &mut out[at..]);
                if body.parent.is_some() {
                    inflow.hand_in(body, joint.force_in(z));
                }
                finish_moments(scaling, hinge, &gains[at..], &mut out[at..]);
            });
        }
    }
}

/// Inward: z = Σ φz⁺;  T = κ + Hz;  z⁺ = z + Gκ.
impl<S: Scalar> Sweep<S> for JointTorques {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, x: &[S], out: &mut [S]) {
        s.need_gains(m);
        s.scratch.dofs.copy_from_slice(x);
        let (gains, e, scaling) = (&s.riccati.gains[..], &mut s.scratch.dofs[..], s.diagonal.scaling);
        let mut inflow = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting);
        for k in (0..m.bodies.len()).rev() {
            let (body, at) = (&m.bodies[k], m.bodies[k].v);
            let mut z = inflow.gather_children(body);
            at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => {
                let hinge = joint.hinge();
                start_moments(scaling, hinge, &gains[at..], &mut e[at..]);
                hinge.torques(&mut z, &e[at..], &gains[at..], &mut out[at..]);
                if body.parent.is_some() {
                    inflow.hand_in(body, joint.force_in(z));
                }
            });
        }
    }
}
