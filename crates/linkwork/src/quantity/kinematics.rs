//! Where things are, and how fast they move.

use super::Input::{Frame, Q, Qd, Qdd, Reference};
use super::Size::{Links, Nv, Of};
use super::{Quantity, batched};
use crate::Result;
use crate::batch::{Batch, Real};
use crate::model::FrameId;
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
    )
    .in_batches(batched!(|b, g, out| poses(b, g.frame, g.q, out))),
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
        ("jacobian", "J", "velocity of a frame per q̇, 6 × nv, rows [ω; v]"),
        &["frame_jacobian"],
        &[Q, Frame, Reference],
        &[Of(6), Nv],
        |m, g, _, out| m.jacobian(g.frame, g.reference, out),
    )
    .in_batches(batched!(|b, g, out| b.jacobian(g.frame, g.reference, g.q, out))),
    Quantity::new(
        ("jacobian_rate", "J̇", "the time derivative of the Jacobian, 6 × nv"),
        &["jacobian_time_variation"],
        &[Q, Qd, Frame, Reference],
        &[Of(6), Nv],
        |m, g, _, out| m.jacobian_rate(g.frame, g.reference, out),
    ),
    Quantity::new(
        ("velocity", "V", "the velocity of a frame, [ω; v]"),
        &["twist", "frame_velocity"],
        &[Q, Qd, Frame, Reference],
        &[Of(6)],
        |m, g, _, out| {
            out.copy_from_slice(&m.velocity(g.frame, g.reference)?.to_array());
            Ok(())
        },
    )
    .in_batches(batched!(|b, g, out| b.velocity(g.frame, g.reference, g.q, g.qd, out))),
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
        ("com", "c", "the centre of mass in the world, in m"),
        &["center_of_mass", "centre_of_mass"],
        &[Q],
        &[Of(3)],
        |m, _, _, out| {
            out.copy_from_slice(&m.com().to_array());
            Ok(())
        },
    )
    .in_batches(batched!(|b, g, out| b.com(g.q, out))),
    Quantity::new(
        ("com_jacobian", "J_c", "velocity of the centre of mass per q̇, 3 × nv"),
        &[],
        &[Q],
        &[Of(3), Nv],
        |m, _, _, out| m.com_jacobian(out),
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
    Quantity::new(
        ("centroidal_matrix", "A_G", "centroidal momentum per q̇, 6 × nv"),
        &["ccrba", "centroidal_map"],
        &[Q],
        &[Of(6), Nv],
        |m, _, _, out| m.centroidal_matrix(out),
    ),
    Quantity::new(
        (
            "centroidal_matrix_rate",
            "Ȧ_G",
            "the time derivative of the centroidal matrix, 6 × nv",
        ),
        &["dccrba"],
        &[Q, Qd],
        &[Of(6), Nv],
        |m, _, _, out| m.centroidal_matrix_rate(out),
    ),
];

/// [R p; 0 1], row by row.
fn homogeneous(pose: &Pose) -> [f64; 16] {
    let (r, p) = (pose.rotation, pose.translation);
    [
        r.x.x, r.y.x, r.z.x, p.x, r.x.y, r.y.y, r.z.y, p.y, r.x.z, r.y.z, r.z.z, p.z, 0.0, 0.0, 0.0, 1.0,
    ]
}

/// The three rows that vary are computed in place, from the back on.
fn poses<T: Real>(batch: &mut Batch<T>, frame: FrameId, q: &[T], out: &mut [T]) -> Result<()> {
    let states = out.len() / 16;
    let done = batch.poses(&[frame], q, &mut out[..12 * states]);
    for state in (0..states).rev() {
        out.copy_within(12 * state..12 * state + 12, 16 * state);
        out[16 * state + 12..16 * state + 16].copy_from_slice(&[T::ZERO, T::ZERO, T::ZERO, T::ONE]);
    }
    done
}
