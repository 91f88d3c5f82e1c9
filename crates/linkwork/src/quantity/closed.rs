//! Mechanisms whose loops are closed.

use super::Input::{Q, Qd, Tau, X};
use super::Quantity;
use super::Size::{Constraints, Nv};

pub(super) static QUANTITIES: &[Quantity] = &[
    Quantity::closed(
        (
            "closed_forward_dynamics",
            "q̈",
            "the accelerations under the torques tau that keep the loops closed",
        ),
        &[Q, Qd, Tau],
        &[Nv],
        |posed, g, _, out| posed.moving(g.qd)?.forward_dynamics(g.tau, out).map(drop),
    ),
    Quantity::closed(
        ("multipliers", "λ", "the constraints' multipliers under the torques tau"),
        &[Q, Qd, Tau],
        &[Constraints],
        |posed, g, room, out| {
            let mut moving = posed.moving(g.qd)?;
            let multipliers = moving.forward_dynamics(g.tau, room.first(g.tau.len()))?;
            out.copy_from_slice(multipliers.all());
            Ok(())
        },
    ),
    Quantity::closed(
        (
            "constraint_jacobian",
            "J_c",
            "the rates of the constraints' equations per q̇",
        ),
        &[Q],
        &[Constraints, Nv],
        |posed, _, _, out| posed.jacobian(out),
    ),
    Quantity::closed(
        (
            "constraint_gaps",
            "g(q)",
            "by how much every equation of the constraints is missed",
        ),
        &[Q],
        &[Constraints],
        |posed, _, _, out| {
            out.copy_from_slice(posed.gaps());
            Ok(())
        },
    ),
    Quantity::closed(
        (
            "constraint_rank",
            "rank J_c",
            "how many equations of the constraints are independent",
        ),
        &[Q],
        &[],
        |posed, _, _, out| {
            out[0] = posed.report()?.rank as f64;
            Ok(())
        },
    ),
    Quantity::closed(
        (
            "freedom",
            "nv − rank J_c",
            "the degrees of freedom that the constraints leave",
        ),
        &[Q],
        &[],
        |posed, _, _, out| {
            out[0] = posed.report()?.freedom as f64;
            Ok(())
        },
    ),
    Quantity::closed(
        (
            "closed_inverse_mass_times",
            "(𝓜⁻¹ − 𝓜⁻¹J*W⁺J𝓜⁻¹)x",
            "accelerations that torques x give where loops stay closed",
        ),
        &[Q, X],
        &[Nv],
        |posed, g, _, out| posed.inverse_mass_times(g.x, out),
    ),
];
