//! The right-hand side of the diagonalized equations: (q, ξ) → q̇, then T → ξ̇; or the same with ν.
//!
//! ξ̇ = D⁻¹(T − Hz + HṖτ̄*V⁺) with z of the articulated body algorithm. Here z − ṖV is carried instead, and forces that P
//! exerts at V replace those of M, which leaves neither velocity terms a nor b to make:
//!
//! ```text
//! w = n + ṖH*ξ + crf(V)PV,   n = Σ φ(w⁺ − crf(V)P⁺V⁺) − f_ext       PV = P⁺V⁺ + GDξ
//! κ = T − Hw,   w⁺ = w + Gκ,   ξ̇ = D⁻¹κ + G*[0; g]
//! ```
//!
//! Gravity needs no sweep of forces: an accelerating base gives z = Pα, as ψMφ* = Pφ* + ψ̃P, and HPα = DG*α.

use crate::body::{Gain, Hinge};
use crate::dynamics::diagonal::factors::{finish_rates, start_rates};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion, Vec3};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::diagonal::Scaling;
use crate::stage::inertia_rates::{Changing, release_rate_of_one};
use crate::stage::inflow::Inflow;
use crate::stage::outflow::of_parent;
use crate::stage::riccati;
use crate::sweep::{At, Sweep, algorithm};

/// ν or ξ → q̇ and V, in the stages: an inward sweep for P⁺, D and G, then an outward one. Without any, η and V of q̇.
pub(crate) struct Settle;
/// T → ν̇ or ξ̇, after [`Settle`]: one inward sweep.
pub(crate) struct TotalAccelerations;
/// The same and, on the same way along the links, P⁺, D and G of the configuration that comes next: then [`Settle`] is one
/// outward sweep there, and a run of evaluations takes one inward and one outward sweep each.  (JR, Algorithm 8.1)
///
/// In: T, and the next q, at which the stages then are. Out: total accelerations.
pub(crate) struct Onward;

/// What an outward sweep starts from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    TotalRates,
    JointRates,
}

algorithm! {
    Settle: Plain, Often;
    TotalAccelerations: Plain, Often;
    Onward: Tree, Often;
}

impl<S: Scalar> Sweep<S> for Settle {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, total: &[S], _: &mut [S]) {
        if !(s.filled.has_riccati() || s.filled.has_rests()) {
            let mut inflow = Inflow::new(&mut s.scratch.waiting);
            for k in (0..m.bodies.len()).rev() {
                at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => {
                    let rest = riccati::step(joint, &m.bodies[k], m, &mut inflow, &mut s.riccati.gains, |_| {});
                    s.riccati.p_plus[k] = joint.full(&rest);
                });
            }
            s.filled.tell_rests();
        }
        let from = if total.len() == m.nv {
            s.diagonal.eta.copy_from_slice(total);
            s.filled.forget_motion();
            From::TotalRates
        } else {
            From::JointRates
        };
        settle::<S, SPECIAL>(m, s, from);
        s.filled.tell_settled();
    }
}

impl<S: Scalar> Sweep<S> for Onward {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, input: &[S], out: &mut [S]) {
        let (tau, q) = input.split_at(m.nv);
        s.q.copy_from_slice(q);
        s.diagonal.next.fill::<S>(m, q);
        inward::<S, true, SPECIAL>(m, s, tau, out);
        core::mem::swap(&mut s.joints, &mut s.diagonal.next);
        s.leave();
        s.filled.tell_rests();
    }
}

/// Outward: q̇ and V from total rates, or η and V from q̇; and gravity in the links' axes.
#[inline(always)]
fn settle<S: Scalar, const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, from: From) {
    let (gains, eta, qd) = (&s.riccati.gains[..], &mut s.diagonal.eta[..], &mut s.qd[..]);
    let (velocities, gravity) = (&mut s.velocities[..], &mut s.diagonal.gravity[..]);
    let (mut last, mut last_gravity) = (Motion::ZERO, Vec3::ZERO);
    for k in 0..m.bodies.len() {
        let (body, at) = (&m.bodies[k], m.bodies[k].v);
        let v_p = of_parent(body, k, last, velocities, Motion::ZERO);
        let g = of_parent(body, k, last_gravity, gravity, m.gravity.lift());
        at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => {
            let mut v = match body.parent {
                Some(_) => joint.motion_out(v_p),
                None => Motion::ZERO,
            };
            let hinge = joint.hinge();
            if from == From::TotalRates {
                start_rates(s.diagonal.scaling, hinge, &gains[at..], &mut eta[at..]);
            }
            if from == From::JointRates {
                hinge.total_rates(&mut v, &qd[at..], &gains[at..], &mut eta[at..]);
            } else {
                hinge.joint_rates(&mut v, &eta[at..], &gains[at..], &mut qd[at..]);
            }
            (velocities[k], last) = (v, v);
            last_gravity = joint.turn_out(g);
            gravity[k] = last_gravity;
        });
    }
}

/// ĝ*[0; g].
#[inline(always)]
fn falling<S: Scalar>(g: &[S; 6], gravity: Vec3<S>) -> S {
    Vec3::new(g[3], g[4], g[5]).dot(gravity)
}

impl<S: Scalar> Sweep<S> for TotalAccelerations {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, tau: &[S], out: &mut [S]) {
        inward::<S, false, SPECIAL>(m, s, tau, out);
    }
}

/// Gravity in the links' axes.
#[inline(always)]
pub(crate) fn need_gravity<S: Scalar, const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>) {
    let gravity = &mut s.diagonal.gravity[..];
    for k in 0..m.bodies.len() {
        let g = match m.bodies[k].parent {
            Some(p) => gravity[p],
            None => m.gravity.lift(),
        };
        at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => gravity[k] = joint.turn_out(g));
    }
}

/// The inward sweep; `ONWARD`, with the Riccati recursion of the next configuration, which takes the place of this one's.
#[inline(always)]
fn inward<S: Scalar, const ONWARD: bool, const SPECIAL: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    tau: &[S],
    out: &mut [S],
) {
    let n = m.bodies.len();
    let (bodies, joints, qd, scaling) = (&m.bodies[..n], &s.joints, &s.qd[..], s.diagonal.scaling);
    let (velocities, gravity, eta) = (&s.velocities[..n], &s.diagonal.gravity[..n], &s.diagonal.eta[..]);
    let (every_gain, p_plus) = (&mut s.riccati.gains[..], &mut s.riccati.p_plus[..n]);
    let mut p_in = Inflow::<S, Articulated<S>>::new(&mut s.scratch.waiting);
    let mut n_in = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting_too);
    let mut rate_in = Inflow::<S, Articulated<S>>::new(&mut s.diagonal.waiting);
    for k in (0..n).rev() {
        let (body, at, v) = (&bodies[k], bodies[k].v, velocities[k]);
        at_joint!(<S, SPECIAL> bodies, joints, k, joint => {
            let hinge = joint.hinge();
            let rest = joint.rest(&p_plus[k]);
            let (gains, qd, out) = (&every_gain[at..], &qd[at..], &mut out[at..]);
            let v_plus = hinge.take_motion(v, qd);
            let f_plus = joint.rest_times(&rest, v_plus);
            let p_rate = rate_in.gather_children(body);
            let mut w = n_in.gather_children(body);
            if s.loaded {
                w -= s.loads[k];
            }
            let w_plus = work(hinge, w, f_plus, v, &p_rate, gains, &eta[at..], &tau[at..], out);
            if body.parent.is_some() {
                n_in.hand_in(body, joint.force_in(w_plus));
                let rest_rate = joint.release_rate(&rest, p_rate, gains, qd);
                rate_in.hand_in(body, joint.carry_in(rest_rate));
            }
            finish(scaling, hinge, &p_rate, gains, &eta[at..], gravity[k], out);
        });
        if ONWARD {
            at_joint!(<S, SPECIAL> bodies, s.diagonal.next, k, joint => {
                let rest = riccati::step(joint, body, m, &mut p_in, every_gain, |_| {});
                p_plus[k] = joint.full(&rest);
            });
        }
    }
}

/// κ (as its pivots' e) and w⁺ − crf(V)P⁺V⁺, from n and what P⁺ exerts at V⁺.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn work<S: Scalar>(
    hinge: Hinge,
    n: Force<S>,
    f_plus: Force<S>,
    v: Motion<S>,
    p_rate: &Articulated<S>,
    gains: &[Gain<S>],
    eta: &[S],
    tau: &[S],
    e: &mut [S],
) -> Force<S> {
    if matches!(hinge, Hinge::Revolute) {
        let g = Force::from_array(gains[0].g);
        let (w, u) = (v.angular, v.linear);
        let n = Force::from_array(hinge.column(p_rate, 0)).mul_add(eta[0], n);
        let own = g * (eta[0] * gains[0].d_inv.recip());
        let (moment, force) = (f_plus.moment + own.moment, f_plus.force + own.force);
        let turning = w.x.mul_sub(moment.y, w.y * moment.x);
        let sliding = u.x.mul_sub(force.y, u.y * force.x);
        e[0] = tau[0] - n.moment.z - (turning + sliding);
        return g.mul_add(e[0], n) + v.cross_force(own);
    }
    let mut w = n + p_rate.times(hinge.motion(&rates_of_pivots(hinge, gains, eta)));
    let mut own = Force::ZERO;
    for i in 0..hinge.axes().len() {
        own = Force::from_array(gains[i].g).mul_add(eta[i] * gains[i].d_inv.recip(), own);
    }
    w += v.cross_force(f_plus + own);
    hinge.innovate(&mut w, tau, gains, e);
    w - v.cross_force(f_plus)
}

/// ξ from η.
#[inline(always)]
pub(crate) fn rates_of_pivots<S: Scalar>(hinge: Hinge, gains: &[Gain<S>], eta: &[S]) -> [S; 6] {
    let mut xi = [S::ZERO; 6];
    let d = hinge.axes().len();
    xi[..d].copy_from_slice(&eta[..d]);
    hinge.upper_inverse(gains, &mut xi);
    xi
}

/// ν̇ or ξ̇ from e, in place: Dξ̇ = κ + DG*[0; g], or ν̇ = L⁻¹(Dξ̇) + L̇*ξ.
#[inline(always)]
fn finish<S: Scalar>(
    scaling: Scaling,
    hinge: Hinge,
    p_rate: &Articulated<S>,
    gains: &[Gain<S>],
    eta: &[S],
    gravity: Vec3<S>,
    x: &mut [S],
) {
    let d = hinge.axes().len();
    if matches!(scaling, Scaling::Normalized) {
        add_pivot_rates(hinge, p_rate, gains, eta, x);
    }
    for i in 0..d {
        x[i] = gains[i].d_inv.mul_add(x[i], falling(&gains[i].g, gravity));
    }
    finish_rates(scaling, hinge, gains, x);
}

/// e + Δ^½(Δ^½L*)˙ξ: with D = LΔL*, ½ḋη on each pivot and its part of ΔL̇*ξ.
#[inline(always)]
pub(crate) fn add_pivot_rates<S: Scalar>(
    hinge: Hinge,
    p_rate: &Articulated<S>,
    gains: &[Gain<S>],
    eta: &[S],
    e: &mut [S],
) {
    let half = S::lift(0.5);
    if matches!(hinge, Hinge::Revolute) {
        e[0] = (half * p_rate.a[5]).mul_add(eta[0], e[0]);
        return;
    }
    let d = hinge.axes().len();
    let (mut p_rate, xi) = (*p_rate, rates_of_pivots(hinge, gains, eta));
    for i in 0..d {
        let (v, d_rate) = release_rate_of_one(hinge, i, &gains[i].g, &mut p_rate);
        let half_rate = half * d_rate;
        e[i] = half_rate.mul_add(eta[i], e[i]);
        for j in i + 1..d {
            // d ġ = u̇ − ḋg = v − ½ḋg.
            let change = (-half_rate).mul_add(hinge.pick(j, &gains[i].g), hinge.pick(j, &v));
            e[i] = change.mul_add(xi[j], e[i]);
        }
    }
}
