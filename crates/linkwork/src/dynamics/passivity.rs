//! Products with the Coriolis matrix, and what passivity-based control asks for, each by an outward and an inward sweep.
//!
//! C x = Hφ(MA + M̂X) with X = φ*H*x, A = φ*Ḣ*x and M̂X = ½(ṀX + X ×* MV); C*x = Hφ(M̂*X) + Ḣφ(MX) with M̂* = Ṁ − M̂.
//! At home, in the world's axes, φ is a sum.

use super::centroidal::{at_home, gather};
use super::kinematics::velocity_at_home;
use super::linearized::regressor::PARAMETERS;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Pose, RigidBody, Vec3};
use crate::stage::Stages;
use crate::sweep::{At, Sweep, algorithm};

/// [x; a] → 𝓜a + C x, rotors included.
pub(crate) struct CoriolisTimes;
/// x → [Hφ(M̂*X) + Ḣφ(MX); 𝓜x without rotors]: the first is C*x.
pub(crate) struct CoriolisTransposed;
/// [x; a; π] → 𝓜a + C x + g with the links' parameters π, rotors included: Y(q, q̇, x, a)π.
pub(crate) struct ReferenceTorque;
/// [x; a; s] → Y*s, ten numbers per link.
pub(crate) struct ReferenceAdjoint;

/// X, and A with the accelerations H*a beside Ḣ*x and the base accelerating.
#[inline(always)]
fn outward<S: Scalar>(m: &Compiled, s: &mut Stages<S>, x: &[S], a: Option<&[S]>, base: Vec3<S>) {
    s.need_columns(m);
    s.need_velocities(m);
    for (k, body) in m.bodies.iter().enumerate() {
        let v = velocity_at_home(s, k);
        let (mut motion, mut alpha) = match body.parent {
            Some(p) => (s.scratch.lambda[p], s.alpha[p]),
            None => (Motion::ZERO, Motion::new(Vec3::ZERO, base)),
        };
        for c in body.v..body.v + body.dofs {
            let h = s.world.columns[c];
            motion += h * x[c];
            alpha += v.cross(h) * x[c];
            if let Some(a) = a {
                alpha += h * a[c];
            }
        }
        (s.scratch.lambda[k], s.alpha[k]) = (motion, alpha);
    }
}

/// MA + M̂X of a body that moves at v.
#[inline(always)]
fn guided<S: Scalar>(body: &RigidBody<S>, v: Motion<S>, x: Motion<S>, a: Motion<S>) -> Force<S> {
    body.times(a) + (body.rate(v).times(x) + x.cross_force(body.times(v))) * S::lift(0.5)
}

/// T = Hφf, and rotors.
#[inline(always)]
fn inward<S: Scalar>(m: &Compiled, s: &mut Stages<S>, a: &[S], out: &mut [S]) {
    gather(m, &mut s.force);
    for (k, body) in m.bodies.iter().enumerate() {
        for c in body.v..body.v + body.dofs {
            out[c] = S::lift(m.armature[c]).mul_add(a[c], s.world.columns[c].dot(s.force[k]));
        }
    }
}

algorithm! {
    CoriolisTimes: Plain;
    CoriolisTransposed: Plain;
    ReferenceTorque: Plain;
    ReferenceAdjoint: Plain;
}

impl<S: Scalar> Sweep<S> for CoriolisTimes {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, input: &[S], out: &mut [S]) {
        let (x, a) = input.split_at(m.nv);
        outward(m, s, x, Some(a), Vec3::ZERO);
        for k in 0..m.bodies.len() {
            s.force[k] = guided(
                &at_home(m, s, k),
                velocity_at_home(s, k),
                s.scratch.lambda[k],
                s.alpha[k],
            );
        }
        inward(m, s, a, out);
    }
}

impl<S: Scalar> Sweep<S> for CoriolisTransposed {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, x: &[S], out: &mut [S]) {
        outward(m, s, x, None, Vec3::ZERO);
        let (out, momentum) = out.split_at_mut(m.nv);
        for k in 0..m.bodies.len() {
            let (body, v, x) = (at_home(m, s, k), velocity_at_home(s, k), s.scratch.lambda[k]);
            s.force[k] = (body.rate(v).times(x) - x.cross_force(body.times(v))) * S::lift(0.5);
            // MX takes the place of A, which is not needed.
            let f = body.times(x);
            s.alpha[k] = Motion::new(f.moment, f.force);
        }
        gather(m, &mut s.force);
        gather(m, &mut s.alpha);
        for (k, body) in m.bodies.iter().enumerate() {
            let (v, mx) = (
                velocity_at_home(s, k),
                Force::new(s.alpha[k].angular, s.alpha[k].linear),
            );
            for c in body.v..body.v + body.dofs {
                let h = s.world.columns[c];
                out[c] = h.dot(s.force[k]) + v.cross(h).dot(mx);
                momentum[c] = h.dot(mx);
            }
        }
    }
}

/// The ten numbers of a link as a body in its own frame.
#[inline(always)]
fn body_of<S: Scalar>(p: &[S]) -> RigidBody<S> {
    RigidBody {
        mass: p[0],
        first: Vec3::new(p[1], p[2], p[3]),
        second: [p[4], p[5], p[6], p[7], p[8], p[9]],
    }
}

impl<S: Scalar> Sweep<S> for ReferenceTorque {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, input: &[S], out: &mut [S]) {
        let (x, rest) = input.split_at(m.nv);
        let (a, parameters) = rest.split_at(m.nv);
        outward(m, s, x, Some(a), -m.gravity.lift());
        s.force.fill(Force::ZERO);
        for (link, own) in m.link_frames.iter().zip(parameters.chunks_exact(PARAMETERS)) {
            let Some(k) = link.body else { continue };
            let pose: Pose<S> = s.world.poses[k] * link.pose.lift();
            let body = body_of(own).through(&pose);
            let v = velocity_at_home(s, k);
            s.force[k] += guided(&body, v, s.scratch.lambda[k], s.alpha[k]);
        }
        inward(m, s, a, out);
    }
}

impl<S: Scalar> Sweep<S> for ReferenceAdjoint {
    /// E(S, α) − ½(E(V×S, X) + E(S, V×X) + E(X×S, V)) per link, in its own frame; no inward sweep.
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, input: &[S], out: &mut [S]) {
        let (x, rest) = input.split_at(m.nv);
        let (a, along) = rest.split_at(m.nv);
        outward(m, s, x, Some(a), -m.gravity.lift());
        for (k, body) in m.bodies.iter().enumerate() {
            let mut sum = body.parent.map_or(Motion::ZERO, |p| s.scratch.along[p]);
            for c in body.v..body.v + body.dofs {
                sum += s.world.columns[c] * along[c];
            }
            s.scratch.along[k] = sum;
        }
        for (link, out) in m.link_frames.iter().zip(out.chunks_exact_mut(PARAMETERS)) {
            let Some(k) = link.body else {
                out.fill(S::ZERO);
                continue;
            };
            let pose: Pose<S> = s.world.poses[k] * link.pose.lift();
            let [v, x, alpha, along] = [
                velocity_at_home(s, k),
                s.scratch.lambda[k],
                s.alpha[k],
                s.scratch.along[k],
            ]
            .map(|motion| pose.motion_out(motion));
            let pairs = [
                (S::ONE, along, alpha),
                (S::lift(-0.5), v.cross(along), x),
                (S::lift(-0.5), along, v.cross(x)),
                (S::lift(-0.5), x.cross(along), v),
            ];
            out.fill(S::ZERO);
            for (factor, x, y) in pairs {
                for (out, e) in out.iter_mut().zip(bilinear(x, y)) {
                    *out = factor.mul_add(e, *out);
                }
            }
        }
    }
}

/// E(x, y): x*My = E(x, y)·π, symmetric.
#[inline(always)]
fn bilinear<S: Scalar>(x: Motion<S>, y: Motion<S>) -> [S; PARAMETERS] {
    let first = (y.linear.cross(x.angular) + x.linear.cross(y.angular)).to_array();
    let (s, a) = (x.angular.to_array(), y.angular.to_array());
    let mixed = |i: usize, j: usize| s[i].mul_add(a[j], s[j] * a[i]);
    [
        x.linear.dot(y.linear),
        first[0],
        first[1],
        first[2],
        s[0] * a[0],
        mixed(0, 1),
        mixed(0, 2),
        s[1] * a[1],
        mixed(1, 2),
        s[2] * a[2],
    ]
}
