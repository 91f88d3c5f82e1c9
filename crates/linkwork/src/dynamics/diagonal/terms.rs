//! 𝒞(q, ν) and 𝒞(q, ξ), term by term.  (JR)

use crate::dynamics::diagonal::factors::finish_moments;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force};
use crate::stage::Stages;
use crate::stage::crossing::{AnyJoint, Crossing, at_joint};
use crate::stage::diagonal::Scaling;
use crate::stage::inertia_rates::Changing;
use crate::stage::inflow::Inflow;
use crate::sweep::{At, Sweep, algorithm};

use super::evaluate::{add_pivot_rates, need_gravity, rates_of_pivots};

/// After the velocities and [`ArticulatedRates`]:  𝒞(q, ξ) = H[z − Ṗτ̄*V⁺], z = b + Σ φ(z + Gε + P⁺a), ε = −Hz, as rows of its terms; 𝒞(q, ν) = L⁻¹𝒞(q, ξ) − L̇*ξ.
///
/// Rows: what the outboard links hand in; base-body motion −HṖτ̄*V⁺; the present link's Hb; −L̇*ξ; gravity.
pub(crate) struct CoriolisTerms;

/// How many terms there are.
pub(crate) const TERMS: usize = 5;

/// Ṗ of every link, as it sees it, and gravity in its axes; after the Riccati stage.
///
/// Inward:  Ṗ = Σ φ(τ̄Ṗτ̄* + crf(Δ)P⁺ − P⁺crm(Δ))φ*.
pub(crate) struct ArticulatedRates;

algorithm! {
    CoriolisTerms: Tree;
    ArticulatedRates: Plain;
}

impl<S: Scalar> Sweep<S> for ArticulatedRates {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        s.need_riccati(m);
        need_gravity::<S, SPECIAL>(m, s);
        let mut inflow = Inflow::<S, Articulated<S>>::new(&mut s.scratch.waiting);
        for k in (0..m.bodies.len()).rev() {
            let (body, at) = (&m.bodies[k], m.bodies[k].v);
            let p_rate = inflow.gather_children(body);
            s.diagonal.p_rate[k] = p_rate;
            if body.parent.is_some() {
                at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => {
                    let rest = joint.rest(&s.riccati.p_plus[k]);
                    let rate = joint.release_rate(&rest, p_rate, &s.riccati.gains[at..], &s.qd[at..]);
                    inflow.hand_in(body, joint.carry_in(rate));
                });
            }
        }
    }
}

impl<S: Scalar> Sweep<S> for CoriolisTerms {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        let (n, scaling) = (m.nv, s.diagonal.scaling);
        let still = [S::ZERO; 6];
        let mut inflow = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting);
        for k in (0..m.bodies.len()).rev() {
            let (body, at, v) = (&m.bodies[k], m.bodies[k].v, s.velocities[k]);
            let (hinge, d) = (body.hinge, body.dofs);
            let (gains, qd, p_rate) = (&s.riccati.gains[at..], &s.qd[at..], &s.diagonal.p_rate[k]);
            let (mut eta, mut e) = ([S::ZERO; 6], [S::ZERO; 6]);
            let mut moved = hinge.take_motion(v, qd);
            hinge.total_rates(&mut moved, qd, gains, &mut eta);
            let xi = rates_of_pivots(hinge, gains, &eta);

            let outboard = inflow.gather_children(body);
            let own = v.cross_force(body.inertia.lift().times(v));
            let mut z = outboard + own;
            let mut terms = [[S::ZERO; 6]; TERMS];
            hinge.project(outboard, &mut terms[0]);
            hinge.project(-p_rate.times(v - hinge.motion(&xi)), &mut terms[1]);
            hinge.project(own, &mut terms[2]);
            for i in 0..d {
                // −DG*[0; g], as its pivots' −Δĝ*[0; g].
                let g = Force::from_array(gains[i].g).force;
                terms[4][i] = -(g.dot(s.diagonal.gravity[k]) * gains[i].d_inv.recip());
            }
            hinge.lower(gains, &mut terms[4]);
            if matches!(scaling, Scaling::Normalized) {
                for term in &mut terms {
                    hinge.lower_inverse(gains, term);
                    finish_moments(scaling, hinge, gains, term);
                }
                add_pivot_rates(hinge, p_rate, gains, &eta, &mut terms[3]);
                finish_moments(scaling, hinge, gains, &mut terms[3]);
                for i in 0..d {
                    terms[3][i] = -terms[3][i];
                }
            }
            for (row, term) in terms.iter().enumerate() {
                out[row * n + at..][..d].copy_from_slice(&term[..d]);
            }
            if body.parent.is_some() {
                hinge.innovate(&mut z, &still, gains, &mut e);
                let a = -hinge.motion(qd).cross(v);
                let z_plus = z + s.riccati.p_plus[k].times(a);
                let joint = AnyJoint::of(body, &s.joints, k);
                inflow.hand_in(body, joint.force_in(z_plus));
            }
        }
    }
}
