//! Centre of mass, momentum and energy.

use super::kinematics::velocity_at_home;
use crate::model::Compiled;
use crate::scalar::{Scalar, put};
use crate::spatial::Reference;
use crate::spatial::{Force, RigidBody, Vec3};
use crate::stage::Stages;
use crate::sweep::{At, Sweep, algorithm};

/// Three numbers: the centre of mass of all moving links.
pub(crate) struct CentreOfMass;
/// One number: −Σ m g·c.
pub(crate) struct PotentialEnergy;
/// One number: ½ Σ V*MV + ½ Σ armature q̇².
pub(crate) struct KineticEnergy;
/// Six numbers: the momentum of all moving links in the world's axes, about the centre of mass or, in the world's
/// reference, its origin.
pub(crate) struct Momentum;
/// The Jacobian of the centre of mass, 3 × nv.
pub(crate) struct ComJacobian;
/// The centroidal momentum matrix, 6 × nv.
pub(crate) struct MomentumMatrix;
/// Its time derivative.
pub(crate) struct MomentumMatrixRate;

algorithm! {
    CentreOfMass: Plain =>
        ("com", "c", "the centre of mass in the world, in m"), ["center_of_mass", "centre_of_mass"], [Q] -> [Of(3)];
    ComJacobian: Columns =>
        ("com_jacobian", "J_c", "velocity of the centre of mass per q̇, 3 × nv"), [], [Q] -> [Of(3), Nv];
    KineticEnergy: Plain =>
        ("kinetic_energy", "½q̇*𝓜q̇", "the kinetic energy, in J"), [], [Q, Qd] -> [];
    PotentialEnergy: Plain =>
        ("potential_energy", "−Σ m g·c", "the potential energy of gravity, in J"), [], [Q] -> [];
    Momentum: Plain;
    MomentumMatrix: Columns =>
        ("centroidal_matrix", "A_G", "centroidal momentum per q̇, 6 × nv"),
        ["ccrba", "centroidal_map"], [Q] -> [Of(6), Nv];
    MomentumMatrixRate: ColumnsRate with MomentumMatrix =>
        ("centroidal_matrix_rate", "Ȧ_G", "the time derivative of the centroidal matrix, 6 × nv"),
        ["dccrba"], [Q, Qd] -> [Of(6), Nv];
}

impl<S: Scalar> Sweep<S> for CentreOfMass {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        s.need_world(m);
        let com = mass_and_com(m, s).1 + first_home(s);
        put(com.to_array(), out);
    }
}

impl<S: Scalar> Sweep<S> for PotentialEnergy {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        s.need_world(m);
        let g = m.gravity.lift();
        out[0] = S::ZERO;
        for k in 0..m.bodies.len() {
            out[0] -= g.dot(first_moment(m, s, k, s.world.homes[k]));
        }
    }
}

impl<S: Scalar> Sweep<S> for KineticEnergy {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        s.need_velocities(m);
        let mut twice = S::ZERO;
        for k in 0..m.bodies.len() {
            let (body, v) = (&m.bodies[k], &s.velocities[k]);
            twice += v.dot(body.inertia.lift().times(*v));
        }
        for i in 0..m.nv {
            let (rotor, rate) = (&m.armature[i], &s.qd[i]);
            twice += S::lift(*rotor) * *rate * *rate;
        }
        out[0] = S::lift(0.5) * twice;
    }
}

impl<S: Scalar> Sweep<S> for Momentum {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
        s.need_world(m);
        s.need_velocities(m);
        let about = match at.reference {
            Reference::World => -first_home(s),
            Reference::Local | Reference::Aligned => mass_and_com(m, s).1,
        };
        put(momentum(m, s, about).to_array(), out);
    }
}

impl<S: Scalar> Sweep<S> for ComJacobian {
    /// Each column is the linear momentum of the joint's composite body, over the whole mass.
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        composites(m, s);
        let (mass, _) = mass_and_com(m, s);
        let share = mass.recip();
        for (k, body) in m.bodies.iter().enumerate() {
            for v in body.v..body.v + body.dofs {
                let h = s.scratch.composite[k].times(s.world.columns[v]).force * share;
                for (i, x) in h.to_array().into_iter().enumerate() {
                    out[i * m.nv + v] = x;
                }
            }
        }
    }
}

impl<S: Scalar> Sweep<S> for MomentumMatrix {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        composites(m, s);
        let (_, com) = mass_and_com(m, s);
        for (k, body) in m.bodies.iter().enumerate() {
            let arm = com - home_from_first(s, k);
            for v in body.v..body.v + body.dofs {
                let h = s.scratch.composite[k].times(s.world.columns[v]);
                write_column(m.nv, v, Force::new(h.moment - arm.cross(h.force), h.force), out);
            }
        }
    }
}

impl<S: Scalar> Sweep<S> for MomentumMatrixRate {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        s.need_columns(m);
        s.need_velocities(m);
        for k in 0..m.bodies.len() {
            s.scratch.composite[k] = at_home(m, s, k);
            s.scratch.composite_rate[k] = s.scratch.composite[k].rate(velocity_at_home(s, k));
        }
        gather(m, &mut s.scratch.composite);
        gather(m, &mut s.scratch.composite_rate);
        let (mass, com) = mass_and_com(m, s);
        let com_rate = momentum(m, s, com).force * mass.recip();
        for (k, body) in m.bodies.iter().enumerate() {
            let arm = com - home_from_first(s, k);
            let v_k = velocity_at_home(s, k);
            for v in body.v..body.v + body.dofs {
                let column = s.world.columns[v];
                let h = s.scratch.composite[k].times(column);
                let rate = s.scratch.composite_rate[k].times(column) + s.scratch.composite[k].times(v_k.cross(column));
                let moment = rate.moment - arm.cross(rate.force) - com_rate.cross(h.force);
                write_column(m.nv, v, Force::new(moment, rate.force), out);
            }
        }
    }
}

/// The mass of all moving links and their centre of mass, seen from the first link's home; poses are filled.
#[inline(always)]
fn mass_and_com<S: Scalar>(m: &Compiled, s: &Stages<S>) -> (S, Vec3<S>) {
    let (mut mass, mut first) = (S::ZERO, Vec3::ZERO);
    for (k, body) in m.bodies.iter().enumerate() {
        mass += S::lift(body.inertia.mass);
        first += first_moment(m, s, k, home_from_first(s, k));
    }
    if m.bodies.iter().all(|b| b.inertia.mass == 0.0) {
        return (S::ONE, Vec3::ZERO);
    }
    (mass, first * mass.recip())
}

/// The home of the first link: near enough to all others that differences of places keep their digits.
#[inline(always)]
fn first_home<S: Scalar>(s: &Stages<S>) -> Vec3<S> {
    s.world.homes.first().copied().unwrap_or(Vec3::ZERO)
}

/// The home of link k, seen from the first link's.
#[inline(always)]
fn home_from_first<S: Scalar>(s: &Stages<S>, k: usize) -> Vec3<S> {
    s.world.homes[k] - first_home(s)
}

/// Mass times centre of mass of a link whose home is at a place.
#[inline(always)]
fn first_moment<S: Scalar>(m: &Compiled, s: &Stages<S>, k: usize, home: Vec3<S>) -> Vec3<S> {
    let (body, pose) = (&m.bodies[k].inertia, &s.world.poses[k]);
    pose.rotation * body.first.lift() + (pose.translation + home) * S::lift(body.mass)
}

/// Momentum of all moving links about a point seen from the first link's home, in the world's axes; poses and velocities are filled.
#[inline(always)]
fn momentum<S: Scalar>(m: &Compiled, s: &Stages<S>, about: Vec3<S>) -> Force<S> {
    let mut sum = Force::ZERO;
    for (k, body) in m.bodies.iter().enumerate() {
        let h = body.inertia.lift().times(s.velocities[k]);
        let pose = &s.world.poses[k];
        let force = pose.rotation * h.force;
        let arm = pose.translation + (home_from_first(s, k) - about);
        let moment = pose.rotation * h.moment + arm.cross(force);
        sum += Force { moment, force };
    }
    sum
}

/// Composite bodies in the world's axes at home.
#[inline(always)]
fn composites<S: Scalar>(m: &Compiled, s: &mut Stages<S>) {
    s.need_columns(m);
    for k in 0..m.bodies.len() {
        s.scratch.composite[k] = at_home(m, s, k);
    }
    gather(m, &mut s.scratch.composite);
}

/// M(k) in the world's axes at home.
#[inline(always)]
pub(crate) fn at_home<S: Scalar>(m: &Compiled, s: &Stages<S>, k: usize) -> RigidBody<S> {
    m.bodies[k].inertia.lift().through(&s.world.poses[k])
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

#[inline(always)]
fn write_column<S: Scalar>(nv: usize, v: usize, column: Force<S>, out: &mut [S]) {
    for (i, x) in column.to_array().into_iter().enumerate() {
        out[i * nv + v] = x;
    }
}
