//! The skew matrix c with 𝒞(q, ν) = cν, gravity aside.
//!
//! As crm(V)V = 0, crf(V)MV is also (crf(V)M + M crm(V))V, and that matrix is skew. What is left of 𝒞 pairs up likewise, with
//! V = ψ*H*ξ and E_ψ*V = V − H*ξ:
//!
//! ```text
//! L c L* = H{ψBψ* + ½(ψṖ − Ṗψ*)}H* + ½(L̇L* − LL̇*)
//! B = crf(V)M + M crm(V) − ½ E_φ(crf(Δ)P⁺ + P⁺crm(Δ))E_φ*
//! ```
//!
//! Each term is skew: so is c, and the Coriolis force ν*𝒞 does no work, for trees and every kind of joint.

use crate::body::{Gain, Hinge};
use crate::dynamics::diagonal::factors::finish_moments;
use crate::model::Compiled;
use crate::scalar::{Scalar, zeros};
use crate::spatial::{Articulated, Force, Motion};
use crate::stage::Stages;
use crate::stage::crossing::{AnyJoint, Crossing};
use crate::stage::diagonal::Scaling;
use crate::sweep::{At, Sweep, algorithm};

/// c, nv × nv. Inward: R = B + Σ ψRψ*, and (R + ½Ṗ)H* of each link on its way to the base: O(n · depth).
pub(crate) struct SkewMatrix;

/// A 6×6, column by column.
type Six<S> = [[S; 6]; 6];

/// crf(V)P + P crm(V).
#[inline(always)]
fn twist<S: Scalar>(v: Motion<S>, p: &Articulated<S>) -> Six<S> {
    let mut x = [[S::ZERO; 6]; 6];
    for j in 0..6 {
        x[j] = v.cross_force(Force::from_array(p.column(j))).to_array();
    }
    let mut skew = x;
    for j in 0..6 {
        for i in 0..6 {
            skew[j][i] = x[j][i] - x[i][j];
        }
    }
    skew
}

/// y ← y + X x on both sides of a 6×6, X given by what it does to a column.
#[inline(always)]
fn congruence<S: Scalar>(x: &Six<S>, apply: impl Fn([S; 6]) -> [S; 6]) -> Six<S> {
    let mut half = *x;
    for j in 0..6 {
        half[j] = apply(x[j]);
    }
    let mut full = half;
    for i in 0..6 {
        let mut row = [S::ZERO; 6];
        for j in 0..6 {
            row[j] = half[j][i];
        }
        let row = apply(row);
        for j in 0..6 {
            full[j][i] = row[j];
        }
    }
    full
}

/// τ̄ f.
#[inline(always)]
pub(crate) fn released<S: Scalar>(hinge: Hinge, gains: &[Gain<S>], mut f: Force<S>) -> Force<S> {
    hinge.innovate(&mut f, &[S::ZERO; 6], gains, &mut [S::ZERO; 6]);
    f
}

algorithm! {
    SkewMatrix: Plain;
}

impl<S: Scalar> Sweep<S> for SkewMatrix {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        let n = m.nv;
        zeros(out);
        for k in 0..m.bodies.len() {
            let body = &m.bodies[k];
            s.diagonal.twists[k] = twist(s.velocities[k], &Articulated::from(body.inertia.lift::<S>()));
        }
        for k in (0..m.bodies.len()).rev() {
            let (body, at) = (&m.bodies[k], m.bodies[k].v);
            let (hinge, gains) = (body.hinge, &s.riccati.gains[at..]);
            let (r, p_rate) = (s.diagonal.twists[k], &s.diagonal.p_rate[k]);
            for i in 0..body.dofs {
                let mut h = [S::ZERO; 6];
                h[i] = S::ONE;
                let h = hinge.motion(&h).to_array();
                let mut own = [S::ZERO; 6];
                for j in 0..6 {
                    for l in 0..6 {
                        own[l] = r[j][l].mul_add(h[j], own[l]);
                    }
                }
                for j in 0..body.dofs {
                    out[(at + j) * n + at + i] = hinge.pick(j, &own);
                }
                let half = p_rate.times(Motion::from_array(h)) * S::lift(0.5);
                let mut y = Force::from_array(own) + half;
                let mut link = k;
                while let Some(p) = m.bodies[link].parent {
                    let (inner, here) = (&m.bodies[p], &m.bodies[link]);
                    let gains = &s.riccati.gains[here.v..];
                    let joint = AnyJoint::of(here, &s.joints, link);
                    y = joint.force_in(released(here.hinge, gains, y));
                    for j in 0..inner.dofs {
                        let x = inner.hinge.pick(j, &y.to_array());
                        out[(inner.v + j) * n + at + i] = x;
                        out[(at + i) * n + inner.v + j] = -x;
                    }
                    link = p;
                }
            }
            if let Some(p) = body.parent {
                let joint = AnyJoint::of(body, &s.joints, k);
                let own = twist(hinge.motion(&s.qd[at..]), &s.riccati.p_plus[k]);
                let mut rest = congruence(&r, |f| released(hinge, gains, Force::from_array(f)).to_array());
                for j in 0..6 {
                    for i in 0..6 {
                        rest[j][i] = S::lift(-0.5).mul_add(own[j][i], rest[j][i]);
                    }
                }
                let handed = congruence(&rest, |f| joint.force_in(Force::from_array(f)).to_array());
                for j in 0..6 {
                    for i in 0..6 {
                        s.diagonal.twists[p][j][i] += handed[j][i];
                    }
                }
            }
        }
        normalize(m, s, out);
    }
}

/// L⁻¹ on both sides, then ½(L⁻¹L̇ − (L⁻¹L̇)*): as L⁻¹L̇ is the lower triangle of L⁻¹ḊL⁻*, diagonal halved.
#[inline(always)]
fn normalize<S: Scalar>(m: &Compiled, s: &mut Stages<S>, out: &mut [S]) {
    let n = m.nv;
    for side in 0..2 {
        let at = |line: usize, i: usize| if side == 0 { i * n + line } else { line * n + i };
        for line in 0..n {
            for body in &m.bodies {
                let mut x = [S::ZERO; 6];
                for i in 0..body.dofs {
                    x[i] = out[at(line, body.v + i)];
                }
                whiten(body.hinge, &s.riccati.gains[body.v..], &mut x);
                for i in 0..body.dofs {
                    out[at(line, body.v + i)] = x[i];
                }
            }
        }
    }
    for (k, body) in m.bodies.iter().enumerate() {
        let (hinge, d, gains) = (body.hinge, body.dofs, &s.riccati.gains[body.v..]);
        // L⁻¹ḊL⁻*, Ḋ = HṖH*.
        let mut x = [[S::ZERO; 6]; 6];
        for i in 0..d {
            let u = hinge.column(&s.diagonal.p_rate[k], i);
            for j in 0..d {
                x[i][j] = hinge.pick(j, &u);
            }
            whiten(hinge, gains, &mut x[i]);
        }
        for j in 0..d {
            let mut row = [S::ZERO; 6];
            for i in 0..d {
                row[i] = x[i][j];
            }
            whiten(hinge, gains, &mut row);
            for i in 0..j {
                let half = S::lift(0.5) * row[i];
                out[(body.v + j) * n + body.v + i] += half;
                out[(body.v + i) * n + body.v + j] -= half;
            }
        }
    }
}

/// L⁻¹x, L L* = D.
#[inline(always)]
fn whiten<S: Scalar>(hinge: Hinge, gains: &[Gain<S>], x: &mut [S; 6]) {
    hinge.lower_inverse(gains, x);
    finish_moments(Scaling::Normalized, hinge, gains, x);
}
