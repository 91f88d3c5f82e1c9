//! The four recursions at one link. What crosses the joint is the caller's.
//!
//! `REVOLUTE` tells the compiler that the joint is a revolute one: then its few numbers are one, in a register.

use super::graph::Core;
use super::joint_algebra::Joint;
use super::program::Step;
use super::run::Memory;
use crate::body::Body;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion};
use crate::stage::riccati::Riccati;

/// φ: y = x + Σ φ(y + G t), e = t + H y.  ψ: z = x + Σ φ(z + G ε), ε = t − H z. Gives what goes on inward.
#[inline(always)]
pub(crate) fn inward<S: Scalar, const REVOLUTE: bool>(
    riccati: &Riccati<S>,
    body: &Body,
    k: usize,
    step: &Step,
    memory: &mut Memory<S>,
) -> Force<S> {
    let Step::Core {
        core,
        joint_in,
        link_in,
        more,
        joint_out,
        weighted,
        link_out,
        gathered,
    } = *step
    else {
        return Force::ZERO;
    };
    let mut own = Force::ZERO;
    if let Some(x) = link_in {
        own = memory.force(k, x);
    }
    if let Some(x) = more {
        own += memory.force(k, x);
    }
    let z = match (link_in.is_some(), memory.gather(body, k, gathered)) {
        (true, Some(sum)) => own + sum,
        (false, Some(sum)) => sum,
        (_, None) => own,
    };
    memory.set_force(k, link_out, z);
    let psi = core == Core::InPsi;
    if !psi && joint_in.is_none() && joint_out.is_none() && weighted.is_none() {
        return z;
    }
    let at = Joint::of::<REVOLUTE>(body, riccati);
    let projected = at.h(z);
    // What goes through G: ε, or t itself.
    let (mut through, mut e) = (projected, projected);
    if let Some(t) = joint_in {
        let t = memory.few::<REVOLUTE>(body, t);
        for i in 0..at.dofs() {
            e[i] = if psi { t[i] - projected[i] } else { t[i] + projected[i] };
            through[i] = if psi { e[i] } else { t[i] };
        }
    } else if psi {
        for i in 0..at.dofs() {
            e[i] = -projected[i];
        }
        through = e;
    }
    if let Some(out) = joint_out {
        memory.set_few::<REVOLUTE>(body, out, &e);
    }
    if let Some(out) = weighted {
        memory.set_few::<REVOLUTE>(body, out, &at.d_inv(e));
    }
    if body.parent.is_some() && (psi || joint_in.is_some()) {
        at.add_g(z, through)
    } else {
        z
    }
}

/// φ*: y = φ*y(p) + H*t + x, e = t + G*φ*y(p).  ψ*: λ = φ*λ(p) + H*e + x, e = t − G*φ*λ(p).
#[inline(always)]
pub(crate) fn outward<S: Scalar, const REVOLUTE: bool>(
    riccati: &Riccati<S>,
    body: &Body,
    k: usize,
    step: &Step,
    carried: Motion<S>,
    memory: &mut Memory<S>,
) {
    let Step::Core {
        core,
        joint_in,
        link_in,
        more,
        joint_out,
        weighted,
        link_out,
        ..
    } = *step
    else {
        return;
    };
    let at = Joint::of::<REVOLUTE>(body, riccati);
    let psi = core == Core::OutPsi;
    let mut t = [S::ZERO; 6];
    if let Some(slot) = joint_in {
        t = memory.few::<REVOLUTE>(body, slot);
    }
    let mut e = t;
    if (psi || joint_out.is_some() || weighted.is_some()) && body.parent.is_some() {
        let felt = at.g_star(carried);
        for i in 0..at.dofs() {
            e[i] = match (psi, joint_in.is_some()) {
                (true, true) => t[i] - felt[i],
                (true, false) => -felt[i],
                (false, true) => t[i] + felt[i],
                (false, false) => felt[i],
            };
        }
    }
    if let Some(out) = joint_out {
        memory.set_few::<REVOLUTE>(body, out, &e);
    }
    if let Some(out) = weighted {
        memory.set_few::<REVOLUTE>(body, out, &at.d_inv(e));
    }
    let mut v = carried;
    if psi {
        v = at.hinge.add_motion(v, &e);
    } else if joint_in.is_some() {
        v = at.hinge.add_motion(v, &t);
    }
    match (link_in, more) {
        (Some(x), Some(y)) => v += memory.motion(k, x) + memory.motion(k, y),
        (Some(x), None) => v += memory.motion(k, x),
        (None, _) => {}
    }
    memory.set_motion(k, link_out, v);
}
