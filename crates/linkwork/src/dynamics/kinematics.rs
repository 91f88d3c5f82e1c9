//! Poses, velocities, accelerations and Jacobians of frames.

use crate::model::{Compiled, Placed};
use crate::scalar::{Pack, Scalar, put, zeros};
use crate::spatial::{Motion, Pose, Reference, Vec3};
use crate::stage::Stages;
use crate::sweep::{At, PackedSweep, Sweep, algorithm};

/// Poses of all links in the world, in the users' frames.
pub(crate) struct LinkPoses;
/// Poses of all links in the world.
pub(crate) struct Placements;
/// The joints' motions in the world.
pub(crate) struct Columns;
/// Spatial velocities of all links.
pub(crate) struct Velocities;

algorithm! {
    LinkPoses: Plain, Packed;
    Placements: Plain;
    Columns: Plain, Packed;
    Velocities: Plain;
    PlaceOf: Plain;
    VelocityOf: Plain =>
        ("velocity", "V", "the velocity of a frame, [ω; v]"),
        ["twist", "frame_velocity"], [Q, Qd, Frame, Reference] -> [Of(6)];
    JacobianOf: Columns =>
        ("jacobian", "J", "velocity of a frame per q̇, 6 × nv, rows [ω; v]"),
        ["frame_jacobian"], [Q, Frame, Reference] -> [Of(6), Nv];
    JacobianRateOf: ColumnsRate with JacobianOf =>
        ("jacobian_rate", "J̇", "the time derivative of the Jacobian, 6 × nv"),
        ["jacobian_time_variation"], [Q, Qd, Frame, Reference] -> [Of(6), Nv];
}

impl<S: Scalar> Sweep<S> for LinkPoses {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        s.need_world(m);
        s.world.place_links::<S>(m);
    }
}

impl PackedSweep for LinkPoses {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, _: At<'_>, _: &[f64], _: &mut [f64]) {
        s.place_links_packed::<P>(m);
    }
}

impl<S: Scalar> Sweep<S> for Placements {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        s.need_world(m);
    }
}

impl<S: Scalar> Sweep<S> for Columns {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        s.need_columns(m);
    }
}

impl PackedSweep for Columns {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, _: At<'_>, _: &[f64], _: &mut [f64]) {
        s.need_world_packed::<P>(m);
        s.need_columns(m);
    }
}

impl<S: Scalar> Sweep<S> for Velocities {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        s.need_world(m);
        s.need_velocities(m);
    }
}

/// Twelve numbers: the pose of a frame.
pub(crate) struct PlaceOf;
/// Six numbers: the velocity of a frame.
pub(crate) struct VelocityOf;
/// The Jacobian of a frame, 6 × nv.
pub(crate) struct JacobianOf;
/// Its time derivative.
pub(crate) struct JacobianRateOf;

impl<S: Scalar> Sweep<S> for PlaceOf {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
        s.need_world(m);
        let pose = s.world.frame(at.frame);
        let columns = [pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.translation];
        for i in 0..4 {
            put(columns[i].to_array(), &mut out[3 * i..]);
        }
    }
}

impl<S: Scalar> Sweep<S> for VelocityOf {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
        s.need_world(m);
        s.need_velocities(m);
        put(velocity(s, at.frame, at.reference).to_array(), out);
    }
}

impl<S: Scalar> Sweep<S> for JacobianOf {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
        s.need_columns(m);
        jacobian(m, s, at.frame, at.reference, out);
    }
}

impl<S: Scalar> Sweep<S> for JacobianRateOf {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
        s.need_columns(m);
        s.need_velocities(m);
        jacobian_rate(m, s, at.frame, at.reference, out);
    }
}

/// The velocity of a frame; poses and velocities are filled.
#[inline(always)]
pub(crate) fn velocity<S: Scalar>(s: &Stages<S>, frame: &Placed, reference: Reference) -> Motion<S> {
    let Some(k) = frame.body else { return Motion::ZERO };
    let local = frame.pose.lift().motion_out(s.velocities[k]);
    from_local(local, &s.world.frame(frame), reference)
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
#[inline(always)]
pub(crate) fn acceleration<S: Scalar>(s: &Stages<S>, frame: &Placed, base: Vec3<S>, reference: Reference) -> Motion<S> {
    let Some(k) = frame.body else { return Motion::ZERO };
    let at = s.world.frame(frame);
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

/// Visits a link and its ancestors with each of their degrees of freedom. No closure: it might not become part of the sweep.
macro_rules! for_each_ancestor {
    ($m:expr, $k:expr, ($j:pat, $v:ident) => $visit:expr) => {
        let mut next = Some($k);
        while let Some(j) = next {
            let (body, $j) = (&$m.bodies[j], j);
            for $v in body.v..body.v + body.dofs {
                $visit;
            }
            next = body.parent;
        }
    };
}

/// The Jacobian of a frame, 6 × nv row by row; columns are filled.
#[inline(always)]
fn jacobian<S: Scalar>(m: &Compiled, s: &Stages<S>, frame: &Placed, reference: Reference, out: &mut [S]) {
    zeros(out);
    let at = s.world.frame(frame);
    let Some(k) = frame.body else { return };
    let arm = match reference {
        Reference::World => -s.world.homes[k],
        Reference::Local | Reference::Aligned => from_home(s, frame, k),
    };
    for_each_ancestor!(m, k, (_, v) => {
        let column = at_reference(s.world.columns[v], arm, &at, reference);
        write_column(m.nv, v, column, out);
    });
}

/// The time derivative of the Jacobian of a frame; columns and velocities are filled.
#[inline(always)]
fn jacobian_rate<S: Scalar>(m: &Compiled, s: &Stages<S>, frame: &Placed, reference: Reference, out: &mut [S]) {
    zeros(out);
    let at = s.world.frame(frame);
    let Some(k) = frame.body else { return };
    let arm = match reference {
        Reference::World => -s.world.homes[k],
        Reference::Local | Reference::Aligned => from_home(s, frame, k),
    };
    let v_frame = velocity_at_home(s, k);
    let origin_rate = v_frame.linear + v_frame.angular.cross(from_home(s, frame, k));
    for_each_ancestor!(m, k, (j, v) => {
        let column = s.world.columns[v];
        // H is constant in link j: in fixed axes its column turns with the link.
        let mut rate = velocity_at_home(s, j).cross(column);
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
pub(crate) fn velocity_at_home<S: Scalar>(s: &Stages<S>, k: usize) -> Motion<S> {
    let pose = &s.world.poses[k];
    let (w, u) = (
        pose.rotation * s.velocities[k].angular,
        pose.rotation * s.velocities[k].linear,
    );
    Motion::new(w, u + pose.translation.cross(w))
}

/// From home to the origin of a frame on link k, in the world's axes.
#[inline(always)]
fn from_home<S: Scalar>(s: &Stages<S>, frame: &Placed, k: usize) -> Vec3<S> {
    s.world.poses[k].point(frame.pose.translation.lift())
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

#[inline(always)]
fn write_column<S: Scalar>(nv: usize, v: usize, column: Motion<S>, out: &mut [S]) {
    for (i, x) in column.to_array().into_iter().enumerate() {
        out[i * nv + v] = x;
    }
}
