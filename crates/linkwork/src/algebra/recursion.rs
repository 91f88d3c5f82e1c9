//! The four recursions at one link. What crosses the joint is the caller's.
//!
//! `REVOLUTE` tells the compiler that the joint is a revolute one: then its few numbers are one, in a register.

use super::graph::Core;
use super::joint_algebra::{Few, Joint};
use super::program::Slot;
use crate::body::Body;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion};
use crate::stage::riccati::Riccati;

/// A recursion: on `link_in` and `more` together, and with D⁻¹ times what the joints get in `weighted`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recursion {
    pub(crate) core: Core,
    pub(crate) joint_in: Option<Slot>,
    pub(crate) link_in: Option<Slot>,
    pub(crate) more: Option<Slot>,
    pub(crate) joint_out: Option<Slot>,
    pub(crate) weighted: Option<Slot>,
    pub(crate) link_out: Slot,
    pub(crate) gathered: usize,
}

/// The vectors of one link, by their slots, and of all joints, slot by slot.
pub(crate) struct Here<'a, S> {
    pub(crate) own: &'a mut [[S; 6]],
    pub(crate) joint: &'a mut [S],
    pub(crate) nv: usize,
}

impl<S: Scalar> Here<'_, S> {
    #[inline(always)]
    fn force(&self, slot: Slot) -> Force<S> {
        Force::from_array(self.own[slot])
    }

    #[inline(always)]
    fn motion(&self, slot: Slot) -> Motion<S> {
        Motion::from_array(self.own[slot])
    }

    /// The numbers of the link's joint.
    #[inline(always)]
    pub(crate) fn few<const REVOLUTE: bool>(&self, body: &Body, slot: Slot) -> Few<S> {
        let mut x = [S::ZERO; 6];
        let at = slot * self.nv + body.v;
        if REVOLUTE {
            x[0] = self.joint[at];
        } else {
            for (i, x) in x.iter_mut().enumerate().take(body.dofs) {
                *x = self.joint[at + i];
            }
        }
        x
    }

    #[inline(always)]
    fn set_few<const REVOLUTE: bool>(&mut self, body: &Body, slot: Slot, x: &Few<S>) {
        let at = slot * self.nv + body.v;
        if REVOLUTE {
            self.joint[at] = x[0];
        } else {
            for (i, x) in x.iter().enumerate().take(body.dofs) {
                self.joint[at + i] = *x;
            }
        }
    }
}

/// φ: y = x + Σ φ(y + G t), e = t + H y.  ψ: z = x + Σ φ(z + G ε), ε = t − H z. Gives what goes on inward.
#[inline(always)]
pub(crate) fn inward<S: Scalar, const REVOLUTE: bool>(
    r: &Recursion,
    riccati: &Riccati<S>,
    body: &Body,
    gathered: Option<Force<S>>,
    here: &mut Here<'_, S>,
) -> Force<S> {
    let mut own = Force::ZERO;
    if let Some(x) = r.link_in {
        own = here.force(x);
    }
    if let Some(x) = r.more {
        own += here.force(x);
    }
    let z = match (r.link_in.is_some(), gathered) {
        (true, Some(sum)) => own + sum,
        (false, Some(sum)) => sum,
        (_, None) => own,
    };
    here.own[r.link_out] = z.to_array();
    let psi = r.core == Core::InPsi;
    if !psi && r.joint_in.is_none() && r.joint_out.is_none() && r.weighted.is_none() {
        return z;
    }
    let at = Joint::of::<REVOLUTE>(body, riccati);
    let projected = at.h(z);
    // What goes through G: ε, or t itself.
    let (mut through, mut e) = (projected, projected);
    if let Some(t) = r.joint_in {
        let t = here.few::<REVOLUTE>(body, t);
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
    if let Some(out) = r.joint_out {
        here.set_few::<REVOLUTE>(body, out, &e);
    }
    if let Some(out) = r.weighted {
        here.set_few::<REVOLUTE>(body, out, &at.d_inv(e));
    }
    if body.parent.is_some() && (psi || r.joint_in.is_some()) {
        at.add_g(z, through)
    } else {
        z
    }
}

/// φ*: y = φ*y(p) + H*t + x, e = t + G*φ*y(p).  ψ*: λ = φ*λ(p) + H*e + x, e = t − G*φ*λ(p). Gives y or λ.
#[inline(always)]
pub(crate) fn outward<S: Scalar, const REVOLUTE: bool>(
    r: &Recursion,
    riccati: &Riccati<S>,
    body: &Body,
    carried: Motion<S>,
    here: &mut Here<'_, S>,
) -> Motion<S> {
    let at = Joint::of::<REVOLUTE>(body, riccati);
    let psi = r.core == Core::OutPsi;
    let mut t = [S::ZERO; 6];
    if let Some(slot) = r.joint_in {
        t = here.few::<REVOLUTE>(body, slot);
    }
    let mut e = t;
    if (psi || r.joint_out.is_some() || r.weighted.is_some()) && body.parent.is_some() {
        let felt = at.g_star(carried);
        for i in 0..at.dofs() {
            e[i] = match (psi, r.joint_in.is_some()) {
                (true, true) => t[i] - felt[i],
                (true, false) => -felt[i],
                (false, true) => t[i] + felt[i],
                (false, false) => felt[i],
            };
        }
    }
    if let Some(out) = r.joint_out {
        here.set_few::<REVOLUTE>(body, out, &e);
    }
    if let Some(out) = r.weighted {
        here.set_few::<REVOLUTE>(body, out, &at.d_inv(e));
    }
    let mut v = carried;
    if psi {
        v = at.hinge.add_motion(v, &e);
    } else if r.joint_in.is_some() {
        v = at.hinge.add_motion(v, &t);
    }
    match (r.link_in, r.more) {
        (Some(x), Some(y)) => v += here.motion(x) + here.motion(y),
        (Some(x), None) => v += here.motion(x),
        (None, _) => {}
    }
    here.own[r.link_out] = v.to_array();
    v
}
