//! 𝓐⁻¹ where joints follow others: the recursion with couplings in it, on M̂ and with A at what is independent.

use super::{Augmented, Pass, Tree, release};
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion};
use crate::stage::crossing::{AnyJoint, Crossing};
use crate::stage::inflow::Inflow;

/// The Riccati recursion.
pub(super) struct Embed;

impl<S: Scalar> Pass<S> for Embed {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, coupled, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        let Some(r) = &m.reduction else { return };
        let (e, n) = (r.embedding(m), m.bodies.len());
        let mut x = core::mem::take(&mut a.embedded);
        let mut waiting = core::mem::replace(&mut a.waiting, crate::stage::inflow::Waiting::new(0));
        let mut inflow = Inflow::<S, Articulated<S>>::new(&mut waiting);
        x.clear();
        for k in (0..n).rev() {
            if a.pairs.is_eliminated(k) {
                continue;
            }
            let (body, station) = (&m.bodies[k], &e.stations[k]);
            let (v, joint) = (body.v, AnyJoint::new(m, joints, k));
            let mut p = inflow.gather(body, a.own(body, k));
            a.pairs.add_to(k, &mut p);
            p = x.close(e, station, p);
            if let Some(own) = station.own {
                let u = p.times(joint.hinge().motion(&[S::ONE]));
                x.lock(e, station, own, joint, u, [coupled.ratio[v], a.rotors[v]]);
            } else {
                p = release(body.hinge, p, &a.rotors[v..], &mut x.gains[v..]);
                x.pass(e, station, joint);
            }
            x.hand_in(e, station, joint);
            if body.parent.is_some() {
                inflow.hand_in(body, joint.carry_whole_in(p));
            }
        }
        x.close(e, &e.stations[n], Articulated::ZERO);
        (a.embedded, a.waiting) = (x, waiting);
    }
}

/// T → 𝓐⁻¹(T + J*f) of all joints, T being zero at followers.
pub(super) struct Solve<'a, S> {
    pub(super) tau: &'a [S],
    pub(super) pushed: bool,
    pub(super) out: &'a mut [S],
}

impl<S: Scalar> Pass<S> for Solve<'_, S> {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, coupled, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        let Some(r) = &m.reduction else { return };
        let Self { tau, pushed, out } = self;
        let (e, n, x, eps) = (r.embedding(m), m.bodies.len(), &mut a.embedded, &mut a.eps);
        let mut inflow = Inflow::<S, Force<S>>::new(&mut a.waiting);
        x.clear_torques();
        for k in (0..n).rev() {
            if a.pairs.is_eliminated(k) {
                continue;
            }
            let (body, station) = (&m.bodies[k], &e.stations[k]);
            let (v, joint) = (body.v, AnyJoint::new(m, joints, k));
            let z = inflow.gather(body, if pushed { -a.forces[k] } else { Force::ZERO });
            let mut z = x.close_torques(e, station, z);
            if let Some(own) = station.own {
                let mut along = [S::ZERO; 6];
                joint.hinge().project(z, &mut along);
                x.lock_torque(e, own, coupled.ratio[v], tau[v] - along[0]);
            } else {
                let eps = &mut eps[v..];
                joint.hinge().innovate(&mut z, &tau[v..], &x.gains[v..], eps);
                x.pass_torque(e, station, joint, eps);
            }
            if body.parent.is_some() {
                inflow.hand_in(body, joint.force_in(z));
            }
        }
        let world = &e.stations[n];
        x.close_torques(e, world, Force::ZERO);
        x.resolve(e, world, Motion::ZERO);
        for k in 0..n {
            if a.pairs.is_eliminated(k) {
                continue;
            }
            let (body, station) = (&m.bodies[k], &e.stations[k]);
            let (v, joint) = (body.v, AnyJoint::new(m, joints, k));
            let mut lambda = match body.parent {
                Some(p) => joint.motion_out(a.lambda[p]),
                None => Motion::ZERO,
            };
            if let Some(own) = station.own {
                out[v] = coupled.ratio[v] * x.y[e.columns[own].group()];
                lambda = body.hinge.add_motion(lambda, &out[v..]);
            } else {
                x.pass_acceleration(e, station, body.dofs, &mut eps[v..]);
                body.hinge.resolve(&mut lambda, &eps[v..], &x.gains[v..], &mut out[v..]);
            }
            x.resolve(e, station, lambda);
            a.lambda[k] = lambda;
        }
    }
}
