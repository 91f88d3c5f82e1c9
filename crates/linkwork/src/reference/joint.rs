//! H* of every kind of joint, in the frame of the link that it moves.

use crate::model::JointKind;
use crate::spatial::{Motion, Rotation, Vec3};

const STILL: [f64; 3] = [0.0; 3];

fn unit(axis: Vec3) -> Vec3 {
    axis * axis.norm().recip()
}

/// The motions that a joint allows, one for each degree of freedom.
pub(super) fn motions(kind: &JointKind, q: &[f64]) -> Vec<Motion> {
    let along = |i: usize| {
        let mut axis = STILL;
        axis[i] = 1.0;
        Vec3::from(axis)
    };
    let (turn, slide) = (
        |axis: Vec3| Motion::new(axis, STILL),
        |axis: Vec3| Motion::new(STILL, axis),
    );
    match *kind {
        JointKind::Fixed => Vec::new(),
        JointKind::Revolute { axis } | JointKind::Continuous { axis } => vec![turn(unit(axis))],
        JointKind::Prismatic { axis } => vec![slide(unit(axis))],
        JointKind::Helical { axis, pitch } => vec![Motion::new(unit(axis), unit(axis) * pitch)],
        JointKind::Cylindrical { axis } => vec![turn(unit(axis)), slide(unit(axis))],
        JointKind::Universal { axes: [first, second] } => {
            // The second turn carries the first axis away from the link.
            let carried = Rotation::about(unit(second), q[1]).inverse_mul(unit(first));
            vec![turn(carried), turn(unit(second))]
        }
        JointKind::Planar => vec![turn(along(2)), slide(along(0)), slide(along(1))],
        // The link does not turn against its joint.
        JointKind::Translation => (0..3).map(|i| slide(along(i))).collect(),
        JointKind::Spherical => (0..3).map(|i| turn(along(i))).collect(),
        JointKind::Free => (0..3)
            .map(|i| turn(along(i)))
            .chain((0..3).map(|i| slide(along(i))))
            .collect(),
    }
}

/// Ḣ*q̇ as the link sees it: zero but for a universal joint, whose first axis the second turn carries.
pub(super) fn motions_rate(kind: &JointKind, q: &[f64], qd: &[f64]) -> Motion {
    match *kind {
        JointKind::Universal { axes: [_, second] } => {
            let first = motions(kind, q)[0].angular;
            Motion::new(first.cross(unit(second)) * (qd[0] * qd[1]), STILL)
        }
        _ => Motion::ZERO,
    }
}
