//! The linearization point of several states at once, link by link.
//!
//! A number is a register there, and a block of columns fills the fastest cache. So each column stands by itself, and what
//! can be found on the way stays in registers.

use super::Linear;
use super::terms::{Terms, at_home};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Pose, Vec3};
use crate::stage::outflow::of_parent;
use crate::stage::world::{World, span};

/// What goes into pairs with a degree of freedom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<S> {
    /// H*.
    pub(crate) h: Motion<S>,
    /// Ψ.
    pub(crate) psi: Motion<S>,
    /// Ψ̇.
    pub(crate) psi_rate: Motion<S>,
    /// Ψ + Ḣ.
    pub(crate) twice: Motion<S>,
}

impl<S: Scalar> Span<S> {
    pub(super) const ZERO: Self = Self {
        h: Motion::ZERO,
        psi: Motion::ZERO,
        psi_rate: Motion::ZERO,
        twice: Motion::ZERO,
    };
}

impl<S: Scalar> Linear<S> {
    /// Outward: V, α and the spans of all degrees of freedom.
    #[inline(always)]
    pub(crate) fn spread_out(&mut self, m: &Compiled, world: &World<S>, qd: &[S], qdd: &[S]) {
        let n = m.bodies.len();
        let (bodies, starts, poses) = (&m.bodies[..n], &m.columns.single.start[..n], &world.poses[..n]);
        let (vs, alphas) = (&mut self.v[..n], &mut self.alpha[..n]);
        let base = Motion::new(Vec3::ZERO, -m.gravity.lift());
        let (mut last_v, mut last_alpha) = (Motion::ZERO, base);
        for k in 0..n {
            let body = &bodies[k];
            let v_p = of_parent(body, k, last_v, vs, Motion::ZERO);
            let alpha_p = of_parent(body, k, last_alpha, alphas, base);
            let (mut v, mut alpha) = (v_p, alpha_p);
            let spans = &mut self.spans[starts[k]..starts[k] + body.dofs];
            for i in 0..spans.len() {
                let (h, qd, qdd) = (span(body, &poses[k], i), qd[body.v + i], qdd[body.v + i]);
                let psi = v_p.cross(h);
                v = h.mul_add(qd, v);
                alpha += psi.mul_add(qd, h * qdd);
                spans[i] = Span {
                    h,
                    psi,
                    psi_rate: alpha_p.cross(h) + v_p.cross(psi),
                    twice: psi + psi,
                };
            }
            if spans.len() > 1 {
                // Ḣ is not Ψ where a joint's other motions turn it.
                for i in 0..spans.len() {
                    spans[i].twice = spans[i].psi + v.cross(spans[i].h);
                }
            }
            (vs[k], alphas[k]) = (v, alpha);
            (last_v, last_alpha) = (v, alpha);
        }
    }

    /// Inward: R, 2R̂ and f of link k, which are handed on. What the link before has `carried` is that of the next one then.
    #[inline(always)]
    pub(crate) fn take_in(
        &mut self,
        m: &Compiled,
        k: usize,
        pose: &Pose<S>,
        load: Option<Force<S>>,
        carried: &mut Terms<S>,
    ) -> Terms<S> {
        let (body, r) = (&m.bodies[k], &pose.rotation);
        let home = at_home(body.inertia.lift(), [r.x, r.y, r.z], pose.translation);
        let mut sum = Terms::new(home, self.v[k], self.alpha[k]);
        if let Some(load) = load {
            sum.force = sum.force - load;
        }
        if body.has_child {
            sum += *carried;
        }
        if let Some(slot) = body.branch {
            sum += self.waiting[slot];
            self.waiting[slot] = Terms::ZERO;
        }
        match body.hands_to {
            Some(slot) => self.waiting[slot] += sum,
            None => *carried = sum,
        }
        sum
    }
}
