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

/// How H*x changes, as the link sees it, with one or two steps of the joint: zero but for a universal joint, whose first axis
/// the second turn carries. With x and one step q̇ it is Ḣ*q̇.
pub(super) fn motions_change(kind: &JointKind, q: &[f64], x: &[f64], steps: &[&[f64]]) -> Motion {
    match *kind {
        JointKind::Universal { axes: [_, second] } => {
            let first = motions(kind, q)[0].angular;
            let turn = |axis: Vec3, step: &&[f64]| axis.cross(unit(second)) * step[1];
            Motion::new(steps.iter().fold(first * x[0], turn), STILL)
        }
        _ => Motion::ZERO,
    }
}
