//! The linearization point of several states at once, link by link.
//!
//! A number is a register there, and a block of columns fills the fastest cache. So each column stands by itself, and what
//! can be found on the way stays in registers.

use super::terms::{Terms, at_home};
use super::{Linear, load_at_home};
use crate::body::Body;
use crate::model::Compiled;
use crate::plan::Tiles;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, RigidBody, Vec3};
use crate::stage::linear::LANES;
use crate::stage::outflow::of_parent;
use crate::stage::world::{World, span};
use core::ops::AddAssign;

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

/// PH*, 2P̂*H* and ε of a degree of freedom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Released<S> {
    pub(crate) u: Force<S>,
    pub(crate) gyro: Vec3<S>,
    eps: S,
}

/// All this, and what else is kept of the links.
#[derive(Clone, Debug)]
pub(crate) struct Spans<S> {
    /// Per degree of freedom.
    pub(crate) columns: Vec<Span<S>>,
    pub(crate) released: Vec<Released<S>>,
    /// Per link: M and f by itself, and what its subtree adds up to.
    alone: Vec<(RigidBody<S>, Force<S>)>,
    sums: Vec<Terms<S>>,
}

impl<S: Scalar> Spans<S> {
    /// Room for so many links and degrees of freedom.
    pub(super) fn new(links: usize, columns: usize) -> Self {
        let span = Span {
            h: Motion::ZERO,
            psi: Motion::ZERO,
            psi_rate: Motion::ZERO,
            twice: Motion::ZERO,
        };
        let released = Released {
            u: Force::ZERO,
            gyro: Vec3::ZERO,
            eps: S::ZERO,
        };
        Self {
            columns: vec![span; columns],
            released: vec![released; columns],
            alone: vec![(RigidBody::ZERO, Force::ZERO); links],
            sums: vec![Terms::ZERO; links],
        }
    }
}

impl<S: Scalar> Linear<S> {
    /// Outward: V, α and the spans of all degrees of freedom. `UNDER` given torques, q̈ is zero, and Ψ̇ comes later.
    #[inline(always)]
    pub(crate) fn spread_out<const UNDER: bool>(&mut self, m: &Compiled, world: &World<S>, qd: &[S], given: &[S]) {
        let n = m.bodies.len();
        let (bodies, starts, poses) = (&m.bodies[..n], &m.columns.single.start[..n], &world.poses[..n]);
        let (vs, alphas) = (&mut self.scratch.v[..n], &mut self.scratch.alpha[..n]);
        let base = base_acceleration(m);
        let (mut last_v, mut last_alpha) = (Motion::ZERO, base);
        for k in 0..n {
            let body = &bodies[k];
            let v_p = of_parent(body, k, last_v, vs, Motion::ZERO);
            let alpha_p = of_parent(body, k, last_alpha, alphas, base);
            let (mut v, mut alpha) = (v_p, alpha_p);
            let spans = &mut self.spans.columns[starts[k]..starts[k] + body.dofs];
            for i in 0..spans.len() {
                let (h, qd) = (span(body, &poses[k], i), qd[body.v + i]);
                let psi = v_p.cross(h);
                v = h.mul_add(qd, v);
                alpha += if UNDER {
                    psi * qd
                } else {
                    psi.mul_add(qd, h * given[body.v + i])
                };
                (spans[i].h, spans[i].psi, spans[i].twice) = (h, psi, psi + psi);
                if !UNDER {
                    spans[i].psi_rate = alpha_p.cross(h) + v_p.cross(psi);
                }
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

    /// M, 2M̂ and f of link k by itself.
    #[inline(always)]
    fn alone(&self, m: &Compiled, k: usize, world: &World<S>, loads: Option<&[Force<S>]>) -> Terms<S> {
        let (pose, r) = (&world.poses[k], &world.poses[k].rotation);
        let home = at_home(m.bodies[k].inertia.lift(), [r.x, r.y, r.z], pose.translation);
        let mut own = Terms::new(home, self.scratch.v[k], self.scratch.alpha[k]);
        if let Some(loads) = loads {
            own.force -= load_at_home(pose, &loads[k]);
        }
        own
    }

    /// Inward: R, 2R̂ and f of link k, with what the link before has `carried`.
    #[inline(always)]
    pub(crate) fn take_in(
        &mut self,
        m: &Compiled,
        k: usize,
        (world, loads): (&World<S>, Option<&[Force<S>]>),
        carried: &mut Terms<S>,
    ) -> Terms<S> {
        let own = self.alone(m, k, world, loads);
        gather(&m.bodies[k], own, carried, &mut self.scratch.waiting, Terms::ZERO)
    }

    /// The point under torques: inward PH*, 2P̂*H*, D and −HG of every degree of freedom as [`Linear::eliminate`] finds them,
    /// each column by itself; then outward q̈, α and Ψ̇.
    #[inline(always)]
    pub(crate) fn drive(
        &mut self,
        m: &Compiled,
        tiles: &Tiles,
        (world, loads): (&World<S>, Option<&[Force<S>]>),
        qd: &[S],
        tau: &[S],
    ) {
        self.spread_out::<true>(m, world, qd, tau);
        let mut carried = Terms::ZERO;
        for k in (0..m.bodies.len()).rev() {
            let own = self.alone(m, k, world, loads);
            let sum = gather(&m.bodies[k], own, &mut carried, &mut self.scratch.waiting, Terms::ZERO);
            (self.spans.alone[k], self.spans.sums[k]) = ((own.inertia, own.force), sum);
            let start = m.columns.single.start[k];
            for c in (start..start + m.bodies[k].dofs).rev() {
                self.release(m, tiles, c, &sum, tau);
            }
        }
        self.judge(m);
        self.eliminated = true;
        self.fall(m);
    }

    /// One column, from those outward of it.
    #[inline(always)]
    fn release(&mut self, m: &Compiled, tiles: &Tiles, c: usize, terms: &Terms<S>, tau: &[S]) {
        let (layout, released) = (&m.columns.single, &mut self.spans.released[..m.nv]);
        let (h, dof) = (self.spans.columns[c].h, layout.dof[c]);
        let (mut u, mut pivot, whole) = resistance(&terms.inertia, h, S::lift(m.armature[dof]));
        let (mut gyro, mut eps) = (terms.gyro_adjoint(h), tau[dof] - h.dot(terms.force));
        // Where its block is among those inward of any column outward of it.
        let place = tiles.places(c).len() - 1;
        for j in (c + 1..layout.end_at[c]).rev() {
            let outer = released[j];
            let s = h.dot(outer.u);
            let less = -self.d_inv[j] * s;
            self.inward[tiles.places(j).start + place][c % LANES] = less;
            u = outer.u.mul_add(less, u);
            gyro = outer.gyro.mul_add(less, gyro);
            pivot = s.mul_add(less, pivot);
            eps = outer.eps.mul_add(less, eps);
        }
        released[c] = Released { u, gyro, eps };
        self.d_inv[c] = pivot.recip();
        self.set_whole(c, whole);
    }

    /// Outward: q̈ = D⁻¹(ε − PH*·λ), λ = λ(p) + H*q̈; α grows by λ, and Ψ̇ follows.
    #[inline(always)]
    fn fall(&mut self, m: &Compiled) {
        let n = m.bodies.len();
        let (bodies, starts) = (&m.bodies[..n], &m.columns.single.start[..n]);
        let (vs, alphas, lambdas) = (
            &self.scratch.v[..n],
            &mut self.scratch.alpha[..n],
            &mut self.scratch.lambda[..n],
        );
        let base = base_acceleration(m);
        let (mut last, mut last_alpha) = (Motion::ZERO, base);
        for k in 0..n {
            let body = &bodies[k];
            let mut lambda = of_parent(body, k, last, lambdas, Motion::ZERO);
            let alpha_p = of_parent(body, k, last_alpha, alphas, base);
            let v_p = match body.parent {
                Some(p) => vs[p],
                None => Motion::ZERO,
            };
            for c in starts[k]..starts[k] + body.dofs {
                let (span, released) = (&mut self.spans.columns[c], &self.spans.released[c]);
                let x = self.d_inv[c] * (released.eps - lambda.dot(released.u));
                lambda = span.h.mul_add(x, lambda);
                span.psi_rate = alpha_p.cross(span.h) + v_p.cross(span.psi);
            }
            alphas[k] += lambda;
            (lambdas[k], last, last_alpha) = (lambda, lambda, alphas[k]);
        }
    }

    /// Inward, after [`Linear::drive`]: R, 2R̂ and f of link k about the accelerations that it found.
    #[inline(always)]
    pub(crate) fn take_in_driven(&mut self, m: &Compiled, k: usize, carried: &mut Force<S>) -> Terms<S> {
        let (inertia, force) = &self.spans.alone[k];
        let own = *force + inertia.times(self.scratch.lambda[k]);
        let force = gather(
            &m.bodies[k],
            own,
            carried,
            &mut self.scratch.waiting_forces,
            Force::ZERO,
        );
        Terms {
            force,
            ..self.spans.sums[k]
        }
    }
}

/// α of the base: −g.
#[inline(always)]
pub(super) fn base_acceleration<S: Scalar>(m: &Compiled) -> Motion<S> {
    Motion::new(Vec3::ZERO, -m.gravity.lift())
}

/// RH*, HRH* with the rotor, and how large its terms are.
#[inline(always)]
pub(super) fn resistance<S: Scalar>(inertia: &RigidBody<S>, h: Motion<S>, armature: S) -> (Force<S>, S, S) {
    let r = inertia.times(h);
    let [xx, _, _, yy, _, zz] = inertia.second;
    let turned = h.angular.dot(h.angular).mul_add(xx + yy + zz, armature);
    let whole = h.linear.dot(h.linear).mul_add(inertia.mass, turned);
    (r, h.dot(r) + armature, whole)
}

/// Inward: the sum over a link's subtree, from its own part and what its children handed in; it is handed on.
#[inline(always)]
fn gather<T: Copy + AddAssign>(body: &Body, own: T, carried: &mut T, waiting: &mut [T], zero: T) -> T {
    let mut sum = own;
    if body.has_child {
        sum += *carried;
    }
    if let Some(slot) = body.branch {
        sum += waiting[slot];
        waiting[slot] = zero;
    }
    match body.hands_to {
        Some(slot) => waiting[slot] += sum,
        None => *carried = sum,
    }
    sum
}
