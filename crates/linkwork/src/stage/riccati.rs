//! What the Riccati sweep determines: P, D, G and P⁺.

use super::crossing::{Crossing, at_joint};
use super::inflow::{Inflow, Waiting};
use super::joints::Joints;
use crate::body::{Body, Gain};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::Articulated;

/// D⁻¹ and G per degree of freedom; P and P⁺ per link.
#[derive(Clone, Debug)]
pub(crate) struct Riccati<S> {
    pub(crate) gains: Vec<Gain<S>>,
    pub(crate) p: Vec<Articulated<S>>,
    pub(crate) p_plus: Vec<Articulated<S>>,
}

impl<S: Scalar> Riccati<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        Self {
            gains: vec![Gain::default(); m.nv],
            p: vec![Articulated::ZERO; m.bodies.len()],
            p_plus: vec![Articulated::ZERO; m.bodies.len()],
        }
    }

    /// Inward: P = M + Σ φP⁺φ*, D = HPH*, G = PH*D⁻¹, P⁺ = P − GDG*. About 200 operations per link.
    #[inline(always)]
    pub(crate) fn fill<const SPECIAL: bool>(&mut self, m: &Compiled, joints: &Joints<S>, waiting: &mut Waiting<S>) {
        let n = m.bodies.len();
        let (bodies, p, p_plus) = (&m.bodies[..n], &mut self.p[..n], &mut self.p_plus[..n]);
        let mut inflow = Inflow::new(waiting);
        for k in (0..n).rev() {
            at_joint!(<S, SPECIAL> bodies, joints, k, joint => {
                let rest = step(joint, &bodies[k], m, &mut inflow, &mut self.gains, |whole| p[k] = *whole);
                p_plus[k] = joint.full(&rest);
            });
        }
    }

    /// The same, keeping only D and G.
    #[inline(always)]
    pub(crate) fn fill_gains<const SPECIAL: bool>(
        &mut self,
        m: &Compiled,
        joints: &Joints<S>,
        waiting: &mut Waiting<S>,
    ) {
        let mut inflow = Inflow::new(waiting);
        for k in (0..m.bodies.len()).rev() {
            at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                step(joint, &m.bodies[k], m, &mut inflow, &mut self.gains, |_| {});
            });
        }
    }
}

/// P(k) = M(k) + Σ φP⁺φ*, released: D, G and P⁺; and φP⁺φ* to the parent.
#[inline(always)]
pub(crate) fn step<S: Scalar, J: Crossing<S>>(
    joint: J,
    body: &Body,
    m: &Compiled,
    inflow: &mut Inflow<'_, S, Articulated<S>>,
    gains: &mut [Gain<S>],
    keep: impl FnOnce(&Articulated<S>),
) -> J::Rest {
    let p = inflow.gather(body, body.inertia.lift::<S>());
    keep(&p);
    let p_plus = joint.release(p, &m.armature[body.v..], &mut gains[body.v..]);
    if body.parent.is_some() {
        inflow.hand_in(body, joint.carry_in(p_plus));
    }
    p_plus
}
