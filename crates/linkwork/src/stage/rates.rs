//! What q̇ determines: angular velocities, and the velocity terms a and b.

use super::crossing::{Crossing, at_joint};
use super::joints::Joints;
use crate::body::Body;
use crate::model::Compiled;
use crate::plan::{Course, Met};
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, RigidBody, Vec3};

/// The rates of one link. Accelerations are those of the link's origin, as in the papers: then no sweep of the
/// dynamics needs a linear velocity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate<S> {
    pub(crate) omega: Vec3<S>,
    /// a(k) = [ω_p × Hω q̇; (ω_p + ω) × Hv q̇ + ω_p × (ω_p × l)].
    pub(crate) a: Motion<S>,
    /// b(k) = [ω × Jω; ω × (ω × m p)].
    pub(crate) b: Force<S>,
}

impl<S: Scalar> Rate<S> {
    /// At rest.
    pub(crate) const ZERO: Self = Self {
        omega: Vec3::ZERO,
        a: Motion::ZERO,
        b: Force::ZERO,
    };
}

/// Outward along some links, parents first: ω = φ*ω_p + Hω q̇, and with it a and b. About 90 operations per link.
#[inline(always)]
pub(crate) fn fill<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    joints: &Joints<S>,
    qd: &[S],
    rates: &mut [Rate<S>],
    course: impl Course,
) {
    let n = m.bodies.len();
    let (bodies, rates) = (&m.bodies[..n], &mut rates[..n]);
    let mut last = Vec3::ZERO;
    for i in 0..course.len() {
        let Met::Link(k) = course.at(i) else { continue };
        let body = &bodies[k];
        let omega_p = match body.parent {
            Some(p) if p + 1 == k => last,
            Some(p) => rates[p].omega,
            None => Vec3::ZERO,
        };
        rates[k] = at_joint!(<S, SPECIAL> bodies, joints, k, joint => step(joint, body, omega_p, qd));
        last = rates[k].omega;
    }
}

/// ω and a of a link from its parent's ω, if it has one.
#[inline(always)]
pub(crate) fn turn<S: Scalar>(
    joint: impl Crossing<S>,
    body: &Body,
    omega_p: Vec3<S>,
    qd: &[S],
) -> (Vec3<S>, Motion<S>) {
    // No closure: it might not become part of the sweep.
    let mut inner = None;
    if body.parent.is_some() {
        inner = Some(joint.spin_out(omega_p));
    }
    joint.hinge().step(inner, &qd[body.v..])
}

/// The rates of a link.
#[inline(always)]
fn step<S: Scalar>(joint: impl Crossing<S>, body: &Body, omega_p: Vec3<S>, qd: &[S]) -> Rate<S> {
    let (omega, a) = turn(joint, body, omega_p, qd);
    let b = gyroscopic(&body.inertia, omega);
    Rate { omega, a, b }
}

/// b of a body whose frame turns at ω.
#[inline(always)]
pub(crate) fn gyroscopic<S: Scalar>(inertia: &RigidBody<f64>, omega: Vec3<S>) -> Force<S> {
    let [x, y, z] = inertia.differences();
    inertia.lift().gyroscopic([S::lift(x), S::lift(y), S::lift(z)], omega)
}
