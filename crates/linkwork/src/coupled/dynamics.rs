//! Forward dynamics with couplings embedded in the recursion: one elimination for every mechanism, O(n) where couplings
//! reach over few links.
//!
//! Beyond the sweeps of a tree it takes about 60 operations for every column that passes a link, and 2 for every two of them.
//! Joints of a group are locked on the way inward, until the group closes.

use crate::coupled::model::Embedding;
use crate::coupled::stage::embedded::Embedded;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion, RigidBody, Vec3};
use crate::stage::Stages;
use crate::stage::crossing::{AnyJoint, Crossing, at_joint};
use crate::stage::inflow::{Inflow, Waiting};
use crate::stage::outflow::of_parent;
use crate::sweep::{At, Sweep, algorithm};

/// T → q̈ of all joints, T being zero at followers.
pub(crate) struct ForwardEmbedded;
/// What [`InverseMassEmbedded`] reads: the Riccati recursion with couplings in it.
pub(crate) struct Embed;
/// T → 𝓜⁻¹T, in the same way.
pub(crate) struct InverseMassEmbedded;

algorithm! {
    Embed: Plain;
    ForwardEmbedded: Plain, Often;
    InverseMassEmbedded: Plain;
}

impl<S: Scalar> Sweep<S> for ForwardEmbedded {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, tau: &[S], qdd: &mut [S]) {
        s.need_rates(m);
        let base = Motion::new(Vec3::ZERO, -m.gravity.lift());
        inward::<S, SPECIAL>(m, s, tau, base);
        settle(m, s);
        outward::<S, true, SPECIAL>(m, s, base, qdd);
    }
}

/// The recursion is done, and judged.
#[inline(always)]
fn settle<S: Scalar>(m: &Compiled, s: &mut Stages<S>) {
    s.filled.tell_embedded();
    if const { Stages::<S>::JUDGES }
        && let Some(r) = &m.reduction
    {
        let unsound = s.embedded.unsound(r.embedding(m));
        s.judge(unsound);
    }
}

/// P = M + Σ φP⁺φ* and z = b − f_ext + Σ φz⁺, less what closes. At a joint that moves by itself D, G, P⁺ and ε, as without
/// couplings; at one of a group P⁺ = P, and z⁺ = z + P(a + H*Ṙẏ).
#[inline(always)]
fn inward<S: Scalar, const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, tau: &[S], base: Motion<S>) {
    let Some(r) = &m.reduction else { return };
    let (e, n, x, joints) = (r.embedding(m), m.bodies.len(), &mut s.embedded, &s.joints);
    let (ratio, eps, armature) = (&s.coupled.ratio, &mut s.scratch.eps[..], &m.armature[..]);
    let mut inertias = Inertias::new(&mut s.scratch.waiting, &mut s.scratch.waiting_rigid);
    let mut z_in = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting_too);
    x.clear();
    x.clear_torques();
    for k in (0..n).rev() {
        let (body, station, rate) = (&m.bodies[k], &e.stations[k], &s.rates[k]);
        let (v, any) = (body.v, AnyJoint::new(m, joints, k));
        let mut z = z_in.gather(body, if s.loaded { rate.b - s.loads[k] } else { rate.b });
        // Most links of most robots carry no column.
        let carries = station.start < station.end;
        let mut a = rate.a;
        // z⁺ of what is no joint with code of its own.
        let mut rest = None;
        if let Some(own) = station.own {
            let (rotor, bend) = (S::lift(armature[v]), s.coupled.bend_of(r, v));
            a = any.hinge().add_motion(a, &[bend]);
            let [u, pa] = inertias.lock(e, k, any, x, [any.hinge().motion(&[S::ONE]), a]);
            z = x.close_torques(e, station, z);
            let mut along = [S::ZERO; 6];
            any.hinge().project(z, &mut along);
            x.lock(e, station, own, any, u, [ratio[v], rotor]);
            x.lock_torque(e, own, ratio[v], tau[v] - along[0] - rotor * bend);
            rest = Some(z + pa);
        } else {
            let mut p = inertias.p_in.gather(body, body.inertia.lift::<S>());
            if carries {
                p = x.close(e, station, p);
                z = x.close_torques(e, station, z);
            }
            if SPECIAL {
                at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                    let p_plus = joint.release(p, &armature[v..], &mut x.gains[v..]);
                    joint.hinge().innovate(&mut z, &tau[v..], &x.gains[v..], &mut eps[v..]);
                    if body.parent.is_some() {
                        z_in.hand_in(body, joint.force_in(joint.rest_times(&p_plus, a) + z));
                        inertias.p_in.hand_in(body, joint.carry_in(p_plus));
                    }
                });
            } else {
                let p_plus = any.release(p, &armature[v..], &mut x.gains[v..]);
                any.hinge().innovate(&mut z, &tau[v..], &x.gains[v..], &mut eps[v..]);
                rest = Some(any.rest_times(&p_plus, a) + z);
                if body.parent.is_some() {
                    inertias.p_in.hand_in(body, any.carry_whole_in(p_plus));
                }
            }
            if carries {
                x.pass(e, station, any);
                x.pass_torque(e, station, any, &eps[v..]);
            }
        }
        if let (Some(z_plus), Some(_)) = (rest, body.parent) {
            z_in.hand_in(body, any.force_in(z_plus));
        }
        if carries {
            x.carry(e, station, a);
            x.hand_in(e, station, any);
        }
    }
    // The world yields nothing, but gravity is an acceleration of it.
    let world = &e.stations[n];
    x.close(e, world, Articulated::ZERO);
    x.close_torques(e, world, Force::ZERO);
    x.resolve(e, world, base);
}

/// Inertias on their way inward: P, and below joints that are all locked composite bodies, which take less to carry.
struct Inertias<'a, S> {
    p_in: Inflow<'a, S, Articulated<S>>,
    rigid_in: Inflow<'a, S, RigidBody<S>>,
}

impl<'a, S: Scalar> Inertias<'a, S> {
    #[inline(always)]
    fn new(waiting: &'a mut Waiting<S>, waiting_rigid: &'a mut Waiting<S>) -> Self {
        Self {
            p_in: Inflow::new(waiting),
            rigid_in: Inflow::new(waiting_rigid),
        }
    }

    /// Hands P of a link inward through a joint of a group, which is locked; P times some motions.
    #[inline(always)]
    fn lock<const N: usize>(
        &mut self,
        e: &Embedding,
        k: usize,
        joint: AnyJoint<'_, S>,
        x: &mut Embedded<S>,
        motions: [Motion<S>; N],
    ) -> [Force<S>; N] {
        let (body, own) = (joint.body, joint.body.inertia.lift::<S>());
        let mut forces = [Force::ZERO; N];
        if e.stations[k].is_rigid {
            let r = self.rigid_in.gather(body, own);
            for i in 0..N {
                forces[i] = r.times(motions[i]);
            }
            match body.parent {
                Some(p) if e.stations[p].is_rigid => self.rigid_in.hand_in(body, joint.carry_rigid_in(r)),
                Some(_) => self.p_in.hand_in(body, joint.carry_rigid_in(r).into()),
                None => {}
            }
        } else {
            let p = x.close(e, &e.stations[k], self.p_in.gather(body, own));
            for i in 0..N {
                forces[i] = p.times(motions[i]);
            }
            if body.parent.is_some() {
                self.p_in.hand_in(body, joint.carry_whole_in(p));
            }
        }
        forces
    }
}

/// α⁺ = φ*α(p) + a. A joint of a group has q̈ = ry + Ṙẏ; any other resolves ε + (−HB)y as it would ε.
#[inline(always)]
fn outward<S: Scalar, const MOVING: bool, const SPECIAL: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    base: Motion<S>,
    qdd: &mut [S],
) {
    let Some(r) = &m.reduction else { return };
    let (e, x, joints, eps) = (r.embedding(m), &mut s.embedded, &s.joints, &mut s.scratch.eps[..]);
    let (alphas, mut last) = (&mut s.alpha[..m.bodies.len()], base);
    for k in 0..m.bodies.len() {
        let (body, station) = (&m.bodies[k], &e.stations[k]);
        let v = body.v;
        let alpha_p = of_parent(body, k, last, alphas, base);
        if station.own.is_none() && station.start < station.end {
            x.pass_acceleration(e, station, body.dofs, &mut eps[v..]);
        }
        let alpha = if let Some(own) = station.own {
            let mut alpha = AnyJoint::new(m, joints, k).motion_out(alpha_p);
            qdd[v] = s.coupled.ratio[v] * x.y[e.columns[own].group()];
            if MOVING {
                alpha += s.rates[k].a;
                qdd[v] += s.coupled.bend_of(r, v);
            }
            body.hinge.add_motion(alpha, &qdd[v..])
        } else {
            at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                let mut alpha = joint.motion_out(alpha_p);
                if MOVING {
                    alpha += s.rates[k].a;
                }
                joint.hinge().resolve(&mut alpha, &eps[v..], &x.gains[v..], &mut qdd[v..]);
                alpha
            })
        };
        if station.start < station.end {
            x.resolve(e, station, alpha);
        }
        (alphas[k], last) = (alpha, alpha);
    }
}

impl<S: Scalar> Sweep<S> for Embed {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        let Some(r) = &m.reduction else { return };
        let (e, n, x) = (r.embedding(m), m.bodies.len(), &mut s.embedded);
        let mut inertias = Inertias::new(&mut s.scratch.waiting, &mut s.scratch.waiting_rigid);
        x.clear();
        for k in (0..n).rev() {
            let (body, station) = (&m.bodies[k], &e.stations[k]);
            let (v, joint) = (body.v, AnyJoint::new(m, &s.joints, k));
            if let Some(own) = station.own {
                let armature = S::lift(m.armature[v]);
                let [u] = inertias.lock(e, k, joint, x, [joint.hinge().motion(&[S::ONE])]);
                x.lock(e, station, own, joint, u, [s.coupled.ratio[v], armature]);
            } else {
                let p = x.close(e, station, inertias.p_in.gather(body, body.inertia.lift::<S>()));
                let p_plus = joint.release(p, &m.armature[v..], &mut x.gains[v..]);
                x.pass(e, station, joint);
                if body.parent.is_some() {
                    inertias.p_in.hand_in(body, joint.carry_whole_in(p_plus));
                }
            }
            x.hand_in(e, station, joint);
        }
        x.close(e, &e.stations[n], Articulated::ZERO);
        settle(m, s);
    }
}

impl<S: Scalar> Sweep<S> for InverseMassEmbedded {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, tau: &[S], out: &mut [S]) {
        let Some(r) = &m.reduction else { return };
        let (e, n, x) = (r.embedding(m), m.bodies.len(), &mut s.embedded);
        let mut inflow = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting_too);
        x.clear_torques();
        for k in (0..n).rev() {
            let (body, station) = (&m.bodies[k], &e.stations[k]);
            let (v, joint) = (body.v, AnyJoint::new(m, &s.joints, k));
            let mut z = x.close_torques(e, station, inflow.gather_children(body));
            if let Some(own) = station.own {
                let mut along = [S::ZERO; 6];
                joint.hinge().project(z, &mut along);
                x.lock_torque(e, own, s.coupled.ratio[v], tau[v] - along[0]);
            } else {
                let eps = &mut s.scratch.eps[v..];
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
        outward::<S, false, SPECIAL>(m, s, Motion::ZERO, out);
    }
}
