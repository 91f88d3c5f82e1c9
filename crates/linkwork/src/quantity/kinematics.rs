//! Where things are, and how fast they move.

use super::Input::{Frame, Q, Qd, Qdd, Reference};
use super::Quantity;
use super::Size::{Links, Of};
use crate::spatial::Pose;

pub(super) static QUANTITIES: &[Quantity] = &[
    Quantity::new(
        ("pose", "T", "where a frame is in the world, 4 × 4"),
        &["forward_kinematics", "frame_placement", "homogeneous_transform"],
        &[Q, Frame],
        &[Of(4), Of(4)],
        |m, g, _, out| {
            out.copy_from_slice(&homogeneous(&m.pose(g.frame)?));
            Ok(())
        },
    ),
    Quantity::new(
        ("link_poses", "T(k)", "where every link is in the world, 4 × 4 each"),
        &["fk"],
        &[Q],
        &[Links, Of(4), Of(4)],
        |m, _, _, out| {
            for (out, pose) in out.chunks_exact_mut(16).zip(m.poses()) {
                out.copy_from_slice(&homogeneous(pose));
            }
            Ok(())
        },
    ),
    Quantity::new(
        ("acceleration", "α", "the acceleration of a frame, Jq̈ + J̇q̇"),
        &["frame_acceleration"],
        &[Q, Qd, Qdd, Frame, Reference],
        &[Of(6)],
        |m, g, room, out| {
            let accelerating = m.with_accelerations(g.qdd, room.first(g.qdd.len()))?;
            out.copy_from_slice(&accelerating.acceleration(g.frame, g.reference)?.to_array());
            Ok(())
        },
    ),
    Quantity::new(
        (
            "momentum",
            "h",
            "the momentum about the world's origin, [angular; linear]",
        ),
        &[],
        &[Q, Qd],
        &[Of(6)],
        |m, _, _, out| {
            out.copy_from_slice(&m.momentum().to_array());
            Ok(())
        },
    ),
    Quantity::new(
        (
            "centroidal_momentum",
            "h_G",
            "the momentum about the centre of mass, [angular; linear]",
        ),
        &["hg"],
        &[Q, Qd],
        &[Of(6)],
        |m, _, _, out| {
            out.copy_from_slice(&m.centroidal_momentum().to_array());
            Ok(())
        },
    ),
];

/// [R p; 0 1], row by row.
fn homogeneous(pose: &Pose) -> [f64; 16] {
    let (r, p) = (pose.rotation, pose.translation);
    [
        r.x.x, r.y.x, r.z.x, p.x, r.x.y, r.y.y, r.z.y, p.y, r.x.z, r.y.z, r.z.z, p.z, 0.0, 0.0, 0.0, 1.0,
    ]
}
