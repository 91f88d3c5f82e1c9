//! 𝒞(q, ν) and 𝒞(q, ξ) of chains of single degrees of freedom by the papers' own recursions: a second opinion, and the
//! terms as the papers interpret them.
//! (Jain and Rodriguez, *Diagonalized Lagrangian Robot Dynamics*, equations 7.2 and 7.10)
//!
//! ```text
//! λ̇ = ψλ̇(c)ψ* + X + X*,   X = crf(Δ)P
//! y = ψy(c) + ψλ̇(c)V(c) − λ̇τ̄*V⁺ + [2crf(V)M − X + X*]V       𝒞(q, ν) = ½D^-½Hy
//! y = ψy(c) + λ̇H*ξ + [crf(V)M − X]V                           𝒞(q, ξ) = Hy
//! ```

use super::skew::released;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion};
use crate::stage::Stages;
use crate::stage::crossing::{AnyJoint, Crossing};
use crate::sweep::{At, Sweep, algorithm};

/// 4 × nv: outboard articulation, base-body motion and present link of 𝒞(q, ν); then 𝒞(q, ξ). Without gravity.
pub(crate) struct PapersRecursions;

algorithm! {
    PapersRecursions: Tree;
}

impl<S: Scalar> Sweep<S> for PapersRecursions {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        let nv = m.nv;
        // What link c hands to its parent: ψy and ψλ̇V for ν, ψy for ξ.
        let (mut y_in, mut articulation_in, mut xi_in) = (Force::ZERO, Force::ZERO, Force::ZERO);
        for k in (0..m.bodies.len()).rev() {
            let (body, at) = (&m.bodies[k], m.bodies[k].v);
            let (hinge, gains) = (body.hinge, &s.riccati.gains[at..]);
            let (v, qd) = (s.velocities[k], &s.qd[at..]);
            let delta = hinge.motion(qd);
            let p = &s.riccati.p[k];
            // ψλ̇(c)ψ* is Ṗ.
            let lambda_rate = {
                let mut sum = s.diagonal.p_rate[k];
                sum += p.carried_by(delta);
                sum
            };
            let (mut v_plus, mut eta) = (v - delta, [S::ZERO; 6]);
            hinge.total_rates(&mut v_plus, qd, gains, &mut eta);
            let total: Motion<S> = hinge.motion(&eta);
            let x = delta.cross_force(p.times(v));
            let x_adjoint = -p.times(delta.cross(v));
            let own = v.cross_force(body.inertia.lift().times(v));

            let outboard = y_in + articulation_in;
            let base = -lambda_rate.times(v - total);
            let present = own + own - x + x_adjoint;
            let half = S::lift(0.5) * gains[0].d_inv.sqrt();
            for (row, term) in [outboard, base, present].into_iter().enumerate() {
                out[row * nv + at] = half * hinge.pick(0, &term.to_array());
            }
            let y = outboard + base + present;
            let y_xi = xi_in + lambda_rate.times(total) + own - x;
            out[3 * nv + at] = hinge.pick(0, &y_xi.to_array());

            let joint = AnyJoint::of(body, &s.joints, k);
            let psi = |f: Force<S>| joint.force_in(released(hinge, gains, f));
            (y_in, articulation_in, xi_in) = (psi(y), psi(lambda_rate.times(v)), psi(y_xi));
        }
    }
}
