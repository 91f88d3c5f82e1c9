//! Forward dynamics with couplings embedded in the recursion: one elimination for every mechanism, O(n) where couplings
//! reach over few links.
//!
//! Beyond the sweeps of a tree it takes about 60 operations for every column that passes a link, and 2 for every two of them.
//! Joints of a group are locked on the way inward, until the group closes.

use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion, Vec3};
use crate::stage::Stages;
use crate::stage::crossing::{AnyJoint, Crossing, at_joint};
use crate::stage::inflow::Inflow;
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
    let mut p_in = Inflow::<S, Articulated<S>>::new(&mut s.scratch.waiting);
    let mut z_in = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting_too);
    x.clear();
    x.clear_torques();
    for k in (0..n).rev() {
        let (body, station, rate) = (&m.bodies[k], &e.stations[k], &s.rates[k]);
        let (v, any) = (body.v, AnyJoint::new(m, joints, k));
        let mut p = p_in.gather(body, body.inertia.lift::<S>());
        let mut z = z_in.gather(body, if s.loaded { rate.b - s.loads[k] } else { rate.b });
        // Most links of most robots carry no column.
        let carries = station.start < station.end;
        if carries {
            p = x.close(e, station, p);
            z = x.close_torques(e, station, z);
        }
        let mut a = rate.a;
        // P⁺ and z⁺ of what is no joint with code of its own.
        let mut rest = None;
        if let Some(own) = station.own {
            let (rotor, bend) = (S::lift(armature[v]), s.coupled.bend_of(r, v));
            let mut along = [S::ZERO; 6];
            any.hinge().project(z, &mut along);
            x.lock(e, station, own, any, &p, [ratio[v], rotor]);
            x.lock_torque(e, own, ratio[v], tau[v] - along[0] - rotor * bend);
            a = any.hinge().add_motion(a, &[bend]);
            rest = Some((p, z + p.times(a)));
        } else {
            if SPECIAL {
                at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                    let p_plus = joint.release(p, &armature[v..], &mut x.gains[v..]);
                    joint.hinge().innovate(&mut z, &tau[v..], &x.gains[v..], &mut eps[v..]);
                    if body.parent.is_some() {
                        z_in.hand_in(body, joint.force_in(joint.rest_times(&p_plus, a) + z));
                        p_in.hand_in(body, joint.carry_in(p_plus));
                    }
                });
            } else {
                let p_plus = any.release(p, &armature[v..], &mut x.gains[v..]);
                any.hinge().innovate(&mut z, &tau[v..], &x.gains[v..], &mut eps[v..]);
                rest = Some((p_plus, any.rest_times(&p_plus, a) + z));
            }
            if carries {
                x.pass(e, station, any);
                x.pass_torque(e, station, any, &eps[v..]);
            }
        }
        if let (Some((p_plus, z_plus)), Some(_)) = (rest, body.parent) {
            z_in.hand_in(body, any.force_in(z_plus));
            p_in.hand_in(body, any.carry_whole_in(p_plus));
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
    for k in 0..m.bodies.len() {
        let (body, station) = (&m.bodies[k], &e.stations[k]);
        let v = body.v;
        let alpha_p = match body.parent {
            Some(p) => s.alpha[p],
            None => base,
        };
        let mut alpha = at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => joint.motion_out(alpha_p));
        if MOVING {
            alpha += s.rates[k].a;
        }
        if let Some(own) = station.own {
            qdd[v] = s.coupled.ratio[v] * x.y[e.columns[own].group()];
            if MOVING {
                qdd[v] += s.coupled.bend_of(r, v);
            }
            alpha = body.hinge.add_motion(alpha, &qdd[v..]);
        } else {
            if station.start < station.end {
                x.pass_acceleration(e, station, body.dofs, &mut eps[v..]);
            }
            body.hinge.resolve(&mut alpha, &eps[v..], &x.gains[v..], &mut qdd[v..]);
        }
        if station.start < station.end {
            x.resolve(e, station, alpha);
        }
        s.alpha[k] = alpha;
    }
}

impl<S: Scalar> Sweep<S> for Embed {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        let Some(r) = &m.reduction else { return };
        let (e, n, x) = (r.embedding(m), m.bodies.len(), &mut s.embedded);
        let mut inflow = Inflow::<S, Articulated<S>>::new(&mut s.scratch.waiting);
        x.clear();
        for k in (0..n).rev() {
            let (body, station) = (&m.bodies[k], &e.stations[k]);
            let (v, joint) = (body.v, AnyJoint::new(m, &s.joints, k));
            let mut p = x.close(e, station, inflow.gather(body, body.inertia.lift::<S>()));
            if let Some(own) = station.own {
                let armature = S::lift(m.armature[v]);
                x.lock(e, station, own, joint, &p, [s.coupled.ratio[v], armature]);
            } else {
                p = joint.release(p, &m.armature[v..], &mut x.gains[v..]);
                x.pass(e, station, joint);
            }
            x.hand_in(e, station, joint);
            if body.parent.is_some() {
                inflow.hand_in(body, joint.carry_whole_in(p));
            }
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
