//! The mass matrix by composite bodies: 𝓜(i,k) = H(i) φ(i,k) r(k) H*(k).  [spec 3]

use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::simd::Sweep;
use crate::spatial::{Force, RigidBody};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;
use crate::stage::joints::Joints;

/// 𝓜, dense and row by row. Inward: r(k) = M(k) + Σ φ r(c) φ*; each column r(k)H*(k) then goes on to the base, giving an
/// element at every joint it passes: O(n · depth).
pub(crate) struct MassMatrix;
/// r(k) of every link, into the stage.
pub(crate) struct Composites;

impl<S: Scalar> Sweep<S> for MassMatrix {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], out: &mut [S]) {
        let (bodies, joints) = (&m.bodies[..], &s.joints);
        out.fill(S::ZERO);
        let mut inflow = Inflow::<S, RigidBody<S>>::new(&mut s.waiting);
        for k in (0..bodies.len()).rev() {
            let body = &bodies[k];
            let r = inflow.gather(body, body.inertia.lift::<S>());
            if body.parent.is_some() {
                at_joint!(bodies, joints, k, joint => inflow.hand_in(body, joint.carry_rigid_in(r)));
            }
            for i in 0..body.hinge.axes().len() {
                climb(m, joints, k, body.v + i, body.hinge.column_of(&r, i), out);
            }
        }
        for i in 0..m.nv {
            out[i * m.nv + i] += S::lift(m.armature[i]);
        }
    }
}

/// H(j) φ(j,k) f for link k and each of its ancestors j, into row and column `at`.
#[inline(always)]
fn climb<S: Scalar>(m: &Compiled, joints: &Joints<S>, k: usize, at: usize, f: Force<S>, out: &mut [S]) {
    let (bodies, nv) = (&m.bodies[..], m.nv);
    let (mut j, mut f) = (k, f);
    loop {
        let body = &bodies[j];
        let row = at * nv + body.v;
        body.hinge.project(f, &mut out[row..]);
        for i in 0..body.hinge.axes().len() {
            out[(body.v + i) * nv + at] = out[row + i];
        }
        let Some(p) = body.parent else { break };
        f = at_joint!(bodies, joints, j, joint => joint.force_in(f));
        j = p;
    }
}

impl<S: Scalar> Sweep<S> for Composites {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], _: &mut [S]) {
        let mut inflow = Inflow::<S, RigidBody<S>>::new(&mut s.waiting);
        for k in (0..m.bodies.len()).rev() {
            let body = &m.bodies[k];
            let r = inflow.gather(body, body.inertia.lift::<S>());
            s.composite[k] = r;
            if body.parent.is_some() {
                at_joint!(m.bodies, s.joints, k, joint => inflow.hand_in(body, joint.carry_rigid_in(r)));
            }
        }
    }
}
