//! The Coriolis matrix C(q, q̇), for which 𝓜̇ − 2C is skew.
//!
//! C = J*(M J̇ + M̂ J) over the links, with M̂ = ½(crf(V)M − M crm(V) + (MV)×): the factor of JL. At home, in
//! the world's axes, sums over subtrees are enough: C(i,k) = s_i*(R(k)ṡ_k + R̂(k)s_k) for an ancestor i of k, and
//! C(k,i) = s_k*(R(k)ṡ_i + R̂(k)s_i). O(n · depth).

use super::centroidal::{at_home, gather};
use super::kinematics::velocity_at_home;
use crate::model::Compiled;
use crate::scalar::{Scalar, zeros};
use crate::spatial::{Force, Motion, RigidBody, Vec3};
use crate::stage::Stages;
use crate::sweep::{At, Sweep, algorithm};

/// C, dense and row by row.
pub(crate) struct CoriolisMatrix;

algorithm! {
    CoriolisMatrix: CoriolisForm with crate::dynamics::composite::MassMatrix =>
        ("coriolis_matrix", "C", "nv × nv; times q̇ it is the velocity terms, and 𝓜̇ − 2C is skew"),
        [], [Q, Qd] -> [Nv, Nv];
}

impl<S: Scalar> Sweep<S> for CoriolisMatrix {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        s.need_columns(m);
        s.need_velocities(m);
        zeros(out);
        for k in 0..m.bodies.len() {
            let v = velocity_at_home(s, k);
            let body = at_home(m, s, k);
            s.scratch.composite[k] = body;
            s.scratch.composite_rate[k] = body.rate(v);
            s.force[k] = body.times(v);
        }
        gather(m, &mut s.scratch.composite);
        gather(m, &mut s.scratch.composite_rate);
        gather(m, &mut s.force);
        for (k, body) in m.bodies.iter().enumerate() {
            let v = velocity_at_home(s, k);
            for c in body.v..body.v + body.dofs {
                s.scratch.motions[c] = v.cross(s.world.columns[c]);
            }
        }
        let (h, h_rate) = (&s.world.columns, &s.scratch.motions);
        for (k, body) in m.bodies.iter().enumerate() {
            let subtree = Subtree {
                r: s.scratch.composite[k],
                r_rate: s.scratch.composite_rate[k],
                momentum: s.force[k],
            };
            for c in body.v..body.v + body.dofs {
                let column = subtree.coriolis(h[c], h_rate[c]);
                // The same joint first, then its ancestors.
                for i in body.v..body.v + body.dofs {
                    out[i * m.nv + c] = h[i].dot(column);
                }
                let mut next = body.parent;
                while let Some(p) = next {
                    let ancestor = &m.bodies[p];
                    for i in ancestor.v..ancestor.v + ancestor.dofs {
                        out[i * m.nv + c] = h[i].dot(column);
                        out[c * m.nv + i] = h[c].dot(subtree.coriolis(h[i], h_rate[i]));
                    }
                    next = ancestor.parent;
                }
            }
        }
    }
}

/// Sums over a subtree.
struct Subtree<S> {
    r: RigidBody<S>,
    r_rate: RigidBody<S>,
    momentum: Force<S>,
}

impl<S: Scalar> Subtree<S> {
    /// R ṡ + R̂ s.
    #[inline(always)]
    fn coriolis(&self, s: Motion<S>, s_rate: Motion<S>) -> Force<S> {
        let half = S::lift(0.5);
        let gyroscopic = s.cross_force(self.momentum);
        self.r.times(s_rate) + (self.r_rate.times(s) + gyroscopic) * half
    }
}

impl<S: Scalar> RigidBody<S> {
    /// Ṁ = crf(V)M − M crm(V) of a body that moves at V: again ten numbers, the mass zero.
    #[inline(always)]
    pub(crate) fn rate(&self, v: Motion<S>) -> Self {
        let (w, u, h, j) = (v.angular, v.linear, self.first, &self.second);
        // ω̃J − Jω̃ and 2(h·u)I − u h* − h u*.
        let rows = [
            Vec3::new(j[0], j[1], j[2]),
            Vec3::new(j[1], j[3], j[4]),
            Vec3::new(j[2], j[4], j[5]),
        ];
        let turned = [
            w.cross(rows[0]).to_array(),
            w.cross(rows[1]).to_array(),
            w.cross(rows[2]).to_array(),
        ];
        let two = S::lift(2.0);
        let twice = two * h.dot(u);
        let (ha, ua) = (h.to_array(), u.to_array());
        let at = |a: usize, b: usize| {
            let spread = turned[b][a] + turned[a][b] - ua[a] * ha[b] - ha[a] * ua[b];
            if a == b { spread + twice } else { spread }
        };
        Self {
            mass: S::ZERO,
            first: u.mul_add(self.mass, w.cross(h)),
            second: [at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2), at(2, 2)],
        }
    }
}
