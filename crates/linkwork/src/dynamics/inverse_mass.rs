//! 𝓜⁻¹ directly, in O(n²).  [spec 4]
//!
//! Column c of 𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK) takes one inward sweep along the ancestors of its joint and one outward
//! sweep, which by symmetry may stop at the joint. In the world's axes at home every φ is the identity, and a joint of
//! several degrees of freedom is as many joints of one: a step is one inner product and one sum.

use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::simd::Sweep;
use crate::spatial::{Force, Motion};
use crate::stage::Stages;

/// 𝓜⁻¹, dense and row by row.
pub(crate) struct MassMatrixInverse;

impl<S: Scalar> Sweep<S> for MassMatrixInverse {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], out: &mut [S]) {
        s.need_columns(m);
        s.need_gains(m);
        gains_at_home(m, s);
        out.fill(S::ZERO);
        let nv = m.nv;
        let (h, g, gains) = (&s.world.columns[..nv], &s.forces[..nv], &s.riccati.gains[..nv]);
        let (nu, lambda) = (&mut s.dofs[..nv], &mut s.motions[..nv]);
        nu.fill(S::ZERO);
        for at in 0..nv {
            let c = m.dofs.outward[at];
            // Inward, for T = 1 at c: ε = T − Hz, ν = D⁻¹ε, z⁺ = z + Gε.
            nu[c] = gains[c].d_inv;
            let mut z = g[c];
            let mut i = m.dofs.parent[c];
            while let Some(j) = i {
                let eps = -h[j].dot(z);
                nu[j] = gains[j].d_inv * eps;
                z = g[j].mul_add(eps, z);
                i = m.dofs.parent[j];
            }
            // Outward, to c: q̈ = ν − G*λ(p), λ = λ(p) + H*q̈.
            for &j in &m.dofs.outward[m.dofs.tree_start[at]..=at] {
                let inner = m.dofs.parent[j].map_or(Motion::ZERO, |p| lambda[p]);
                let qdd = nu[j] - inner.dot(g[j]);
                lambda[j] = h[j].mul_add(qdd, inner);
                out[j * nv + c] = qdd;
                out[c * nv + j] = qdd;
                nu[j] = S::ZERO;
            }
        }
    }
}

/// G of every degree of freedom in the world's axes, about home.
#[inline(always)]
fn gains_at_home<S: Scalar>(m: &Compiled, s: &mut Stages<S>) {
    for (k, body) in m.bodies.iter().enumerate() {
        let pose = &s.world.poses[k];
        let arm = pose.translation - s.world.home(m, k);
        for v in body.v..body.v + body.hinge.axes().len() {
            let g = Force::from_array(s.riccati.gains[v].g);
            let force = pose.rotation * g.force;
            s.forces[v] = Force {
                moment: pose.rotation * g.moment + arm.cross(force),
                force,
            };
        }
    }
}
