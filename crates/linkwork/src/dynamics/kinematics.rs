//! Poses, velocities, accelerations and Jacobians of frames.

use crate::model::{Compiled, Placed};
use crate::scalar::Scalar;
use crate::simd::Sweep;
use crate::spatial::{Motion, Pose, Vec3};
use crate::stage::Stages;

/// Where a motion [ω; v] is taken, and in which axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// The world's axes, at the world's origin: the spatial velocity of the body-fixed point that is there just now.
    World,
    /// The frame's own axes, at its origin.
    Local,
    /// The world's axes, at the frame's origin: plain angular and linear velocity.
    Aligned,
}

/// Poses of all links in the world.
pub(crate) struct Placements;
/// The joints' motions in the world.
pub(crate) struct Columns;
/// Spatial velocities of all links.
pub(crate) struct Velocities;
/// All that accelerations are made of: poses, angular velocities and velocities.
pub(crate) struct Motions;

impl<S: Scalar> Sweep<S> for Placements {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], _: &mut [S]) {
        s.need_world(m);
    }
}

impl<S: Scalar> Sweep<S> for Columns {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], _: &mut [S]) {
        s.need_columns(m);
    }
}

impl<S: Scalar> Sweep<S> for Velocities {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], _: &mut [S]) {
        s.need_world(m);
        s.need_velocities(m);
    }
}

impl<S: Scalar> Sweep<S> for Motions {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], _: &mut [S]) {
        s.need_columns(m);
        s.need_velocities(m);
    }
}

/// The pose of a frame; poses are filled.
#[inline(always)]
pub(crate) fn pose<S: Scalar>(s: &Stages<S>, frame: &Placed) -> Pose<S> {
    let own = frame.pose.lift();
    frame.body.map_or(own, |k| s.world.poses[k] * own)
}

/// The velocity of a frame; poses and velocities are filled.
pub(crate) fn velocity<S: Scalar>(s: &Stages<S>, frame: &Placed, reference: Reference) -> Motion<S> {
    let Some(k) = frame.body else { return Motion::ZERO };
    let local = frame.pose.lift().motion_out(s.velocities[k]);
    from_local(local, &pose(s, frame), reference)
}

/// A motion in a frame's own axes at its origin, as another reference sees it.
#[inline(always)]
pub(crate) fn from_local<S: Scalar>(v: Motion<S>, pose: &Pose<S>, reference: Reference) -> Motion<S> {
    if reference == Reference::Local {
        return v;
    }
    let (w, u) = (pose.rotation * v.angular, pose.rotation * v.linear);
    match reference {
        Reference::Aligned => Motion::new(w, u),
        _ => Motion::new(w, u + pose.translation.cross(w)),
    }
}

/// J q̈ + J̇ q̇ of a frame, from α of its link: the base's acceleration `base` is taken off again. Poses and velocities
/// are filled.
pub(crate) fn acceleration<S: Scalar>(s: &Stages<S>, frame: &Placed, base: Vec3<S>, reference: Reference) -> Motion<S> {
    let Some(k) = frame.body else { return Motion::ZERO };
    let at = pose(s, frame);
    let alpha = &s.alpha[k];
    let (link, arm) = (&s.world.poses[k].rotation, frame.pose.translation.lift());
    let v = velocity(s, frame, Reference::Aligned);
    let w_link = s.velocities[k].angular;
    // The acceleration of the frame's origin, in the world's axes.
    let of_origin = alpha.linear + alpha.angular.cross(arm) + w_link.cross(w_link.cross(arm));
    let linear = *link * of_origin - base;
    let angular = *link * alpha.angular;
    match reference {
        Reference::Aligned => Motion::new(angular, linear),
        Reference::World => {
            // Spatial: of the body-fixed point at the world's origin, whose velocity is v + p × ω.
            let spatial = linear - v.angular.cross(v.linear);
            Motion::new(angular, spatial + at.translation.cross(angular))
        }
        Reference::Local => {
            let spatial = linear - v.angular.cross(v.linear);
            Motion::new(at.rotation.inverse_mul(angular), at.rotation.inverse_mul(spatial))
        }
    }
}

/// The Jacobian of a frame, 6 × nv row by row; columns are filled.
pub(crate) fn jacobian<S: Scalar>(m: &Compiled, s: &Stages<S>, frame: &Placed, reference: Reference, out: &mut [S]) {
    out.fill(S::ZERO);
    let at = pose(s, frame);
    let Some(k) = frame.body else { return };
    let arm = arm_from_home(m, s, k, &at, reference);
    for_each_ancestor(m, k, |_, v| {
        let column = at_reference(s.world.columns[v], arm, &at, reference);
        write_column(m.nv, v, column, out);
    });
}

/// The time derivative of the Jacobian of a frame; columns and velocities are filled.
pub(crate) fn jacobian_rate<S: Scalar>(
    m: &Compiled,
    s: &Stages<S>,
    frame: &Placed,
    reference: Reference,
    out: &mut [S],
) {
    out.fill(S::ZERO);
    let at = pose(s, frame);
    let Some(k) = frame.body else { return };
    let arm = arm_from_home(m, s, k, &at, reference);
    let v_frame = velocity_at_home(m, s, k);
    let origin_rate = v_frame.linear + v_frame.angular.cross(at.translation - s.world.home(m, k));
    for_each_ancestor(m, k, |j, v| {
        let column = s.world.columns[v];
        // H is constant in link j: in fixed axes its column turns with the link.
        let mut rate = velocity_at_home(m, s, j).cross(column);
        let column_rate = match reference {
            Reference::World => at_reference(rate, arm, &at, reference),
            Reference::Aligned => {
                let mut rate = at_reference(rate, arm, &at, reference);
                rate.linear += column.angular.cross(origin_rate);
                rate
            }
            Reference::Local => {
                rate -= v_frame.cross(column);
                at_reference(rate, arm, &at, reference)
            }
        };
        write_column(m.nv, v, column_rate, out);
    });
}

/// V(k) in the world's axes at home.
#[inline(always)]
pub(crate) fn velocity_at_home<S: Scalar>(m: &Compiled, s: &Stages<S>, k: usize) -> Motion<S> {
    let pose = &s.world.poses[k];
    let (w, u) = (
        pose.rotation * s.velocities[k].angular,
        pose.rotation * s.velocities[k].linear,
    );
    Motion::new(w, u + (pose.translation - s.world.home(m, k)).cross(w))
}

/// From home to the point where a reference takes motions.
fn arm_from_home<S: Scalar>(m: &Compiled, s: &Stages<S>, k: usize, at: &Pose<S>, reference: Reference) -> Vec3<S> {
    let home = s.world.home(m, k);
    match reference {
        Reference::World => -home,
        Reference::Local | Reference::Aligned => at.translation - home,
    }
}

/// A motion at home in the world's axes, as a reference sees it.
#[inline(always)]
fn at_reference<S: Scalar>(v: Motion<S>, arm: Vec3<S>, at: &Pose<S>, reference: Reference) -> Motion<S> {
    let moved = Motion::new(v.angular, v.linear + v.angular.cross(arm));
    match reference {
        Reference::Local => Motion::new(
            at.rotation.inverse_mul(moved.angular),
            at.rotation.inverse_mul(moved.linear),
        ),
        Reference::World | Reference::Aligned => moved,
    }
}

/// Visits link k and its ancestors with each of their degrees of freedom.
fn for_each_ancestor(m: &Compiled, k: usize, mut visit: impl FnMut(usize, usize)) {
    let mut next = Some(k);
    while let Some(j) = next {
        let body = &m.bodies[j];
        for v in body.v..body.v + body.hinge.axes().len() {
            visit(j, v);
        }
        next = body.parent;
    }
}

#[inline(always)]
fn write_column<S: Scalar>(nv: usize, v: usize, column: Motion<S>, out: &mut [S]) {
    for (i, x) in column.to_array().into_iter().enumerate() {
        out[i * nv + v] = x;
    }
}
