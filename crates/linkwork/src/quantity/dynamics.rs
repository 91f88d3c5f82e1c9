//! Forces, accelerations, and the mass matrix.

use super::Input::{Frame, Q, Qd, Qdd, Tau, X};
use super::Size::{Nv, Of, Pattern};
use super::{Quantity, batched, calls};

// One call, over any scalar.
calls! {
    forward_dynamics: |m, g, out| m.forward_dynamics(g.tau, out);
    inverse_dynamics: |m, g, out| m.inverse_dynamics(g.qdd, out);
    mass_matrix: |m, _, out| m.mass_matrix(out);
    mass_matrix_inverse: |m, _, out| m.mass_matrix_inverse(out);
    mass_times: |m, g, out| m.mass_times(g.x, out);
    inverse_mass_times: |m, g, out| m.inverse_mass_times(g.x, out);
    bias: |m, _, out| m.bias(out);
    gravity_torque: |m, _, out| m.gravity_torque(out);
    coriolis: |m, _, out| m.coriolis(out);
    coriolis_matrix: |m, _, out| m.coriolis_matrix(out);
}

pub(super) static QUANTITIES: &[Quantity] = &[
    Quantity::call(
        ("forward_dynamics", "q̈", "the accelerations under the torques tau"),
        &["aba"],
        &[Q, Qd, Tau],
        &[Nv],
        forward_dynamics,
    )
    .in_batches(batched!(|b, g, out| b.forward_dynamics(g.q, g.qd, g.tau, out))),
    Quantity::call(
        ("inverse_dynamics", "T", "the torques for the accelerations qdd"),
        &["rnea"],
        &[Q, Qd, Qdd],
        &[Nv],
        inverse_dynamics,
    )
    .in_batches(batched!(|b, g, out| b.inverse_dynamics(g.q, g.qd, g.qdd, out))),
    Quantity::call(
        ("mass_matrix", "𝓜", "the mass matrix, nv × nv"),
        &["crba", "joint_space_inertia"],
        &[Q],
        &[Nv, Nv],
        mass_matrix,
    )
    .in_batches(batched!(|b, g, out| b.mass_matrix(g.q, out))),
    Quantity::new(
        (
            "mass_matrix_entries",
            "𝓜",
            "the elements of the mass matrix that are not zero, one of each pair",
        ),
        &[],
        &[Q],
        &[Pattern],
        |m, _, _, out| m.mass_matrix_entries(out),
    )
    .in_batches(batched!(|b, g, out| b.mass_matrix_entries(g.q, out))),
    Quantity::call(
        ("mass_matrix_inverse", "𝓜⁻¹", "the inverse of the mass matrix, nv × nv"),
        &["minv"],
        &[Q],
        &[Nv, Nv],
        mass_matrix_inverse,
    )
    .in_batches(batched!(|b, g, out| b.mass_matrix_inverse(g.q, out))),
    Quantity::call(
        ("mass_times", "𝓜x", "the mass matrix times x, in O(n)"),
        &[],
        &[Q, X],
        &[Nv],
        mass_times,
    ),
    Quantity::call(
        (
            "inverse_mass_times",
            "𝓜⁻¹x",
            "the inverse of the mass matrix times x, in O(n)",
        ),
        &[],
        &[Q, X],
        &[Nv],
        inverse_mass_times,
    ),
    Quantity::new(
        (
            "log_det_mass",
            "log det 𝓜",
            "the logarithm of the determinant of the mass matrix",
        ),
        &["log_det"],
        &[Q],
        &[],
        |m, _, _, out| {
            out[0] = m.log_det_mass()?;
            Ok(())
        },
    ),
    Quantity::new(
        (
            "log_det_mass_gradient",
            "∂ log det 𝓜/∂q",
            "the change of log det 𝓜 along each degree of freedom, in O(n)",
        ),
        &["fixman_gradient"],
        &[Q],
        &[Nv],
        |m, _, _, out| m.log_det_mass_gradient(out),
    ),
    Quantity::call(
        (
            "bias",
            "C",
            "gravity and velocity terms: inverse dynamics without acceleration",
        ),
        &["nle", "nonlinear_effects"],
        &[Q, Qd],
        &[Nv],
        bias,
    )
    .in_batches(batched!(|b, g, out| b.bias(g.q, g.qd, out))),
    Quantity::call(
        ("gravity_torque", "g", "the torques that hold it still"),
        &["gravity_compensation", "generalized_gravity"],
        &[Q],
        &[Nv],
        gravity_torque,
    )
    .in_batches(batched!(|b, g, out| b.gravity_torque(g.q, out))),
    Quantity::call(
        (
            "coriolis",
            "Cq̇",
            "the velocity terms alone: Coriolis and centrifugal torques",
        ),
        &[],
        &[Q, Qd],
        &[Nv],
        coriolis,
    ),
    Quantity::call(
        (
            "coriolis_matrix",
            "C",
            "nv × nv; times q̇ it is the velocity terms, and 𝓜̇ − 2C is skew",
        ),
        &[],
        &[Q, Qd],
        &[Nv, Nv],
        coriolis_matrix,
    ),
    Quantity::new(
        (
            "passive_torque",
            "T_p",
            "what springs, dampers and friction of the joints add to the torques",
        ),
        &[],
        &[Q, Qd],
        &[Nv],
        |m, _, _, out| m.passive_torque(out),
    ),
    Quantity::new(
        ("kinetic_energy", "½q̇*𝓜q̇", "the kinetic energy, in J"),
        &[],
        &[Q, Qd],
        &[],
        |m, _, _, out| {
            out[0] = m.kinetic_energy();
            Ok(())
        },
    )
    .in_batches(batched!(|b, g, out| b.kinetic_energy(g.q, g.qd, out))),
    Quantity::new(
        ("potential_energy", "−Σ m g·c", "the potential energy of gravity, in J"),
        &[],
        &[Q],
        &[],
        |m, _, _, out| {
            out[0] = m.potential_energy();
            Ok(())
        },
    )
    .in_batches(batched!(|b, g, out| b.potential_energy(g.q, out))),
    Quantity::new(
        (
            "composite_inertia",
            "r(k)",
            "of a link and all outboard as one rigid body, in the link's frame, 6 × 6",
        ),
        &[],
        &[Q, Frame],
        &[Of(6), Of(6)],
        |m, g, _, out| {
            let link = m.mechanism().link_of(g.frame)?;
            out.copy_from_slice(m.composite_inertia(link)?.as_flattened());
            Ok(())
        },
    ),
    Quantity::new(
        (
            "articulated_inertia",
            "P(k)",
            "that a link shows when all outboard is free to move, in its frame, 6 × 6",
        ),
        &["aba_inertia"],
        &[Q, Frame],
        &[Of(6), Of(6)],
        |m, g, _, out| {
            let link = m.mechanism().link_of(g.frame)?;
            out.copy_from_slice(m.articulated_inertia(link)?.as_flattened());
            Ok(())
        },
    ),
];
