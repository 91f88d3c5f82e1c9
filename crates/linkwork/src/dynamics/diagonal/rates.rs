//! What changes with time: the factor m, and q̈ through the diagonalized equations.  (JR)

use super::evaluate::rates_of_pivots;
use crate::body::{Gain, Hinge};
use crate::dynamics::diagonal::factors::start_moments;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion};
use crate::stage::Stages;
use crate::stage::crossing::{AnyJoint, Crossing};
use crate::stage::diagonal::Scaling;
use crate::stage::inertia_rates::release_rate_of_one;
use crate::stage::inflow::Inflow;
use crate::sweep::{At, Sweep, algorithm};

/// ν̇ or ξ̇, in place, to q̈: an outward sweep that differentiates q̇ = ξ − G*V⁺, after [`super::terms::ArticulatedRates`].
pub(crate) struct ForwardDiagonalized;
/// After the same, x → ṁx: the derivative of the sweep of m along q̇; un-normalized, of I + HφK.
pub(crate) struct FactorRate;

/// ĝ˙ and ḋ of each pivot: u̇ = Ṗh, ĝ˙ = (u̇ − ḋĝ)/d.
#[inline(always)]
fn pivot_rates<S: Scalar>(hinge: Hinge, mut p_rate: Articulated<S>, gains: &[Gain<S>]) -> [([S; 6], S); 6] {
    let mut rates = [([S::ZERO; 6], S::ZERO); 6];
    for i in 0..hinge.axes().len() {
        let (mut v, d_rate) = release_rate_of_one(hinge, i, &gains[i].g, &mut p_rate);
        let half = S::lift(0.5) * d_rate;
        for j in 0..6 {
            v[j] = (-half).mul_add(gains[i].g[j], v[j]) * gains[i].d_inv;
        }
        rates[i] = (v, d_rate);
    }
    rates
}

algorithm! {
    ForwardDiagonalized: Plain;
    FactorRate: Plain;
}

impl<S: Scalar> Sweep<S> for ForwardDiagonalized {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        for k in 0..m.bodies.len() {
            let (body, at) = (&m.bodies[k], m.bodies[k].v);
            let (hinge, d) = (body.hinge, body.dofs);
            let (gains, qd, eta) = (&s.riccati.gains[at..], &s.qd[at..], &s.diagonal.eta[at..]);
            let joint = AnyJoint::of(body, &s.joints, k);
            let rates = pivot_rates(hinge, s.diagonal.p_rate[k], gains);
            let total = &mut out[at..];
            // η̇ from ν̇ or ξ̇.
            match s.diagonal.scaling {
                Scaling::Normalized => {
                    for i in 0..d {
                        let own = S::lift(0.5) * rates[i].1 * gains[i].d_inv * eta[i];
                        total[i] = gains[i].d_inv.sqrt().mul_sub(total[i], own);
                    }
                }
                Scaling::Unnormalized => {
                    let xi = rates_of_pivots(hinge, gains, eta);
                    hinge.upper(gains, total);
                    for i in 0..d {
                        for j in i + 1..d {
                            total[i] = hinge.pick(j, &rates[i].0).mul_add(xi[j], total[i]);
                        }
                    }
                }
            }
            // q̈ = η̇ − ĝ*V̇ − ĝ˙*V, last degree of freedom first, V and V̇ those before it.
            let delta = hinge.motion(qd);
            let mut v = s.velocities[k] - delta;
            let mut v_rate = -delta.cross(v);
            if let Some(p) = body.parent {
                v_rate += joint.motion_out(s.alpha[p]);
            }
            for i in (0..d).rev() {
                let (g, g_rate) = (Force::from_array(gains[i].g), Force::from_array(rates[i].0));
                total[i] -= v_rate.dot(g) + v.dot(g_rate);
                let mut one = [S::ZERO; 6];
                one[i] = S::ONE;
                let h = hinge.motion(&one);
                v_rate = h.mul_add(total[i], v_rate);
                v = h.mul_add(qd[i], v);
            }
            s.alpha[k] = v_rate;
        }
    }
}

/// Inward, with z of T = mε: ż = Σ φ(ż⁺ + crf(Δ)z⁺);  Ṫ = ė + Hż;  ż⁺ = ż + ĝė + ĝ˙e.
impl<S: Scalar> Sweep<S> for FactorRate {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, x: &[S], out: &mut [S]) {
        s.scratch.dofs.copy_from_slice(x);
        let (scaling, gains) = (s.diagonal.scaling, &s.riccati.gains[..]);
        let mut z_in = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting);
        let mut rate_in = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting_too);
        for k in (0..m.bodies.len()).rev() {
            let (body, at) = (&m.bodies[k], m.bodies[k].v);
            let (hinge, d) = (body.hinge, body.dofs);
            let joint = AnyJoint::of(body, &s.joints, k);
            let (gains, e) = (&gains[at..], &mut s.scratch.dofs[at..]);
            let rates = pivot_rates(hinge, s.diagonal.p_rate[k], gains);
            let (mut z, mut z_rate) = (z_in.gather_children(body), rate_in.gather_children(body));
            start_moments(scaling, hinge, gains, e);
            let mut e_rate = [S::ZERO; 6];
            match scaling {
                // e = √d ε.
                Scaling::Normalized => {
                    for i in 0..d {
                        e_rate[i] = S::lift(0.5) * rates[i].1 * gains[i].d_inv * e[i];
                    }
                }
                // Le = κ.
                Scaling::Unnormalized => {
                    for i in 0..d {
                        for j in 0..i {
                            let (l, l_rate) = (hinge.pick(i, &gains[j].g), hinge.pick(i, &rates[j].0));
                            e_rate[i] -= l.mul_add(e_rate[j], l_rate * e[j]);
                        }
                    }
                }
            }
            for i in 0..d {
                let (g, g_rate) = (Force::from_array(gains[i].g), Force::from_array(rates[i].0));
                out[at + i] = e_rate[i] + hinge.pick(i, &z_rate.to_array());
                z_rate = g.mul_add(e_rate[i], g_rate.mul_add(e[i], z_rate));
                z = g.mul_add(e[i], z);
            }
            if body.parent.is_some() {
                let delta: Motion<S> = hinge.motion(&s.qd[at..]);
                z_in.hand_in(body, joint.force_in(z));
                rate_in.hand_in(body, joint.force_in(z_rate + delta.cross_force(z)));
            }
        }
    }
}
