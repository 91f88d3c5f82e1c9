//! I − HψK and its adjoint: the two sweeps of 𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK).  (RK)

use crate::body::Gain;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::{Inflow, Waiting};
use crate::stage::joints::Joints;
use crate::stage::outflow::of_parent;
use crate::sweep::{At, Sweep, algorithm};

/// Fills the Riccati stage: P, D, G and P⁺, for operators that read them again and again.
pub(crate) struct Articulate;

algorithm! {
    Articulate: Tree;
    InverseMassTimes: Motions, Often =>
        ("inverse_mass_times", "𝓜⁻¹x", "the inverse of the mass matrix times x, in O(n)"), [], [Q, X] -> [Nv];
}

impl<S: Scalar> Sweep<S> for Articulate {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        s.need_riccati(m);
    }
}

/// x → 𝓜⁻¹x in O(N).
pub(crate) struct InverseMassTimes;

impl<S: Scalar> Sweep<S> for InverseMassTimes {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, x: &[S], out: &mut [S]) {
        s.need_gains(m);
        inward::<S, SPECIAL>(
            m,
            &s.joints,
            &s.riccati.gains,
            &mut s.scratch.waiting,
            x,
            &mut s.scratch.eps,
        );
        outward::<S, SPECIAL>(
            m,
            &s.joints,
            &s.riccati.gains,
            &s.scratch.eps,
            &mut s.scratch.lambda,
            out,
        );
    }
}

/// Inward: z = Σ φ z⁺;  ε = T − H z;  z⁺ = z + Gε.  ε = (I − HψK) T.
#[inline(always)]
pub(crate) fn inward<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    joints: &Joints<S>,
    gains: &[Gain<S>],
    waiting: &mut Waiting<S>,
    tau: &[S],
    eps: &mut [S],
) {
    let mut inflow = Inflow::<S, Force<S>>::new(waiting);
    for k in (0..m.bodies.len()).rev() {
        let body = &m.bodies[k];
        let v = body.v;
        let mut z = inflow.gather(body, Force::ZERO);
        at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
            joint.hinge().innovate(&mut z, &tau[v..], &gains[v..], &mut eps[v..]);
            if body.parent.is_some() {
                inflow.hand_in(body, joint.force_in(z));
            }
        });
    }
}

/// Outward: λ⁺ = φ*λ(p);  x = D⁻¹ε − G*λ⁺;  λ = λ⁺ + H*x.  x = (I − HψK)* D⁻¹ ε.
#[inline(always)]
pub(crate) fn outward<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    joints: &Joints<S>,
    gains: &[Gain<S>],
    eps: &[S],
    lambda: &mut [Motion<S>],
    out: &mut [S],
) {
    let mut last = Motion::ZERO;
    for k in 0..m.bodies.len() {
        let body = &m.bodies[k];
        let v = body.v;
        let inner = of_parent(body, k, last, lambda, Motion::ZERO);
        at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
            let mut plus = match body.parent {
                Some(_) => joint.motion_out(inner),
                None => Motion::ZERO,
            };
            joint.hinge().resolve(&mut plus, &eps[v..], &gains[v..], &mut out[v..]);
            (lambda[k], last) = (plus, plus);
        });
    }
}
