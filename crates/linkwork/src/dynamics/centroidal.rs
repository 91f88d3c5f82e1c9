//! Centre of mass, momentum and energy.

use super::kinematics::velocity_at_home;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::simd::Sweep;
use crate::spatial::{Force, Motion, Pose, RigidBody, Vec3};
use crate::stage::Stages;

/// The mass of all moving links and their centre of mass; poses are filled.
pub(crate) fn mass_and_com<S: Scalar>(m: &Compiled, s: &Stages<S>) -> (S, Vec3<S>) {
    let (mut mass, mut first) = (S::ZERO, Vec3::ZERO);
    for (body, pose) in m.bodies.iter().zip(&s.world.poses) {
        let own = S::lift(body.inertia.mass);
        mass += own;
        first += pose.rotation * body.inertia.first.lift() + pose.translation * own;
    }
    (mass, first * mass.recip())
}

/// ½ Σ V*MV + ½ Σ armature q̇²; velocities are filled.
pub(crate) fn kinetic_energy<S: Scalar>(m: &Compiled, s: &Stages<S>) -> S {
    let mut twice = S::ZERO;
    for (body, v) in m.bodies.iter().zip(&s.velocities) {
        twice += v.dot(body.inertia.lift().times(*v));
    }
    for (rotor, rate) in m.armature.iter().zip(&s.qd) {
        twice += S::lift(*rotor) * *rate * *rate;
    }
    S::lift(0.5) * twice
}

/// −Σ m g·c; poses are filled.
pub(crate) fn potential_energy<S: Scalar>(m: &Compiled, s: &Stages<S>) -> S {
    let (mut sum, g) = (S::ZERO, m.gravity.lift());
    for (body, pose) in m.bodies.iter().zip(&s.world.poses) {
        let first = pose.rotation * body.inertia.first.lift() + pose.translation * S::lift(body.inertia.mass);
        sum -= g.dot(first);
    }
    sum
}

/// Momentum of all moving links about the centre of mass, in the world's axes; poses and velocities are filled.
pub(crate) fn momentum<S: Scalar>(m: &Compiled, s: &Stages<S>, about: Vec3<S>) -> Force<S> {
    let mut sum = Force::ZERO;
    for (k, body) in m.bodies.iter().enumerate() {
        let h = body.inertia.lift().times(s.velocities[k]);
        let pose = &s.world.poses[k];
        let force = pose.rotation * h.force;
        let moment = pose.rotation * h.moment + (pose.translation - about).cross(force);
        sum += Force { moment, force };
    }
    sum
}

/// Composite bodies in the world's axes at home; columns are filled on the way.
pub(crate) struct CompositesAtHome;
/// Also their rates of change.
pub(crate) struct CompositeRatesAtHome;

impl<S: Scalar> Sweep<S> for CompositesAtHome {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], _: &mut [S]) {
        s.need_columns(m);
        for k in 0..m.bodies.len() {
            s.composite[k] = at_home(m, s, k);
        }
        gather(m, &mut s.composite);
    }
}

impl<S: Scalar> Sweep<S> for CompositeRatesAtHome {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], _: &mut [S]) {
        s.need_columns(m);
        s.need_velocities(m);
        for k in 0..m.bodies.len() {
            s.composite[k] = at_home(m, s, k);
            s.composite_rate[k] = s.composite[k].rate(velocity_at_home(m, s, k));
        }
        gather(m, &mut s.composite);
        gather(m, &mut s.composite_rate);
    }
}

/// M(k) in the world's axes at home.
#[inline(always)]
pub(crate) fn at_home<S: Scalar>(m: &Compiled, s: &Stages<S>, k: usize) -> RigidBody<S> {
    let pose = &s.world.poses[k];
    let at = Pose::new(pose.rotation, pose.translation - s.world.home(m, k));
    m.bodies[k].inertia.lift().through(&at)
}

/// Adds every link to its ancestors: at home φ is the identity.
#[inline(always)]
pub(crate) fn gather<T: Copy + core::ops::AddAssign>(m: &Compiled, sums: &mut [T]) {
    for k in (0..m.bodies.len()).rev() {
        if let Some(p) = m.bodies[k].parent {
            let outer = sums[k];
            sums[p] += outer;
        }
    }
}

/// The centroidal momentum matrix, 6 × nv row by row, about `com`; composites are filled.
pub(crate) fn momentum_matrix<S: Scalar>(m: &Compiled, s: &Stages<S>, com: Vec3<S>, out: &mut [S]) {
    for (k, body) in m.bodies.iter().enumerate() {
        let arm = com - s.world.home(m, k);
        for v in body.v..body.v + body.hinge.axes().len() {
            let h = s.composite[k].times(s.world.columns[v]);
            write_column(m.nv, v, Force::new(h.moment - arm.cross(h.force), h.force), out);
        }
    }
}

/// The rate of the centroidal momentum matrix; composites and their rates are filled.
pub(crate) fn momentum_matrix_rate<S: Scalar>(
    m: &Compiled,
    s: &Stages<S>,
    com: Vec3<S>,
    com_rate: Vec3<S>,
    out: &mut [S],
) {
    for (k, body) in m.bodies.iter().enumerate() {
        let arm = com - s.world.home(m, k);
        let v_k = velocity_at_home(m, s, k);
        for v in body.v..body.v + body.hinge.axes().len() {
            let column = s.world.columns[v];
            let h = s.composite[k].times(column);
            let rate = s.composite_rate[k].times(column) + s.composite[k].times(v_k.cross(column));
            let moment = rate.moment - arm.cross(rate.force) - com_rate.cross(h.force);
            write_column(m.nv, v, Force::new(moment, rate.force), out);
        }
    }
}

/// The Jacobian of the centre of mass, 3 × nv row by row; composites are filled.
pub(crate) fn com_jacobian<S: Scalar>(m: &Compiled, s: &Stages<S>, mass: S, out: &mut [S]) {
    let share = mass.recip();
    for (k, body) in m.bodies.iter().enumerate() {
        for v in body.v..body.v + body.hinge.axes().len() {
            let column: Motion<S> = s.world.columns[v];
            let h = s.composite[k].times(column).force * share;
            for (i, x) in h.to_array().into_iter().enumerate() {
                out[i * m.nv + v] = x;
            }
        }
    }
}

#[inline(always)]
fn write_column<S: Scalar>(nv: usize, v: usize, column: Force<S>, out: &mut [S]) {
    for (i, x) in column.to_array().into_iter().enumerate() {
        out[i * nv + v] = x;
    }
}
