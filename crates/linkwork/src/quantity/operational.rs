//! The dynamics as a frame sees them.

use super::Input::{Frame, Q, Qd, Reference, Tau};
use super::Quantity;
use super::Size::{Nv, Of};
use crate::spatial::{Force, Motion};
use crate::workspace::Part;

pub(super) static QUANTITIES: &[Quantity] = &[
    Quantity::new(
        (
            "osim_inverse",
            "Λ⁻¹",
            "J𝓜⁻¹J* of a frame, 6 × 6: acceleration per force",
        ),
        &["operational_inertia_inverse"],
        &[Q, Frame, Reference],
        &[Of(6), Of(6)],
        |m, g, _, out| {
            let inverse = m.operational_inertia_inverse(g.frame, g.reference)?;
            out.copy_from_slice(inverse.as_flattened());
            Ok(())
        },
    ),
    Quantity::new(
        (
            "osim",
            "Λ",
            "the operational-space inertia of a frame, 6 × 6, where it can accelerate",
        ),
        &["operational_inertia", "operational_space_inertia"],
        &[Q, Frame, Reference],
        &[Of(6), Of(6)],
        |m, g, _, out| {
            let task = m.task(g.frame, g.reference, Part::All, 0.0)?;
            out.copy_from_slice(task.inertia().as_flattened());
            Ok(())
        },
    ),
    Quantity::new(
        (
            "operational_bias",
            "μ + p",
            "the force that keeps a frame's acceleration zero, 6",
        ),
        &[],
        &[Q, Qd, Frame, Reference],
        &[Of(6)],
        |m, g, _, out| {
            let mut task = m.task(g.frame, g.reference, Part::All, 0.0)?;
            out.copy_from_slice(&task.bias()?.to_array());
            Ok(())
        },
    ),
    Quantity::new(
        (
            "operational_force",
            "J̄*T",
            "the force at a frame that the torques tau amount to, 6",
        ),
        &[],
        &[Q, Tau, Frame, Reference],
        &[Of(6)],
        |m, g, _, out| {
            let mut task = m.task(g.frame, g.reference, Part::All, 0.0)?;
            out.copy_from_slice(&task.consistent_force(g.tau)?.to_array());
            Ok(())
        },
    ),
    Quantity::new(
        (
            "dynamically_consistent_inverse",
            "J̄",
            "the dynamically consistent inverse 𝓜⁻¹J*Λ of a frame's Jacobian, nv × 6",
        ),
        &["consistent_inverse"],
        &[Q, Frame, Reference],
        &[Nv, Of(6)],
        |m, g, room, out| {
            let column = room.first(out.len() / 6);
            let mut task = m.task(g.frame, g.reference, Part::All, 0.0)?;
            for i in 0..6 {
                let mut one = [0.0; 6];
                one[i] = 1.0;
                task.dynamically_consistent_inverse(Motion::from_array(one), column)?;
                column.iter().enumerate().for_each(|(k, x)| out[6 * k + i] = *x);
            }
            Ok(())
        },
    ),
    Quantity::new(
        (
            "acceleration_by_force",
            "𝓜⁻¹J*",
            "accelerations per force on a frame, nv × 6",
        ),
        &[],
        &[Q, Frame, Reference],
        &[Nv, Of(6)],
        |m, g, room, out| {
            let column = room.first(out.len() / 6);
            for i in 0..6 {
                let mut one = [0.0; 6];
                one[i] = 1.0;
                m.acceleration_by_force(g.frame, g.reference, Force::from_array(one), column)?;
                column.iter().enumerate().for_each(|(k, x)| out[6 * k + i] = *x);
            }
            Ok(())
        },
    ),
];
