//! Forces, accelerations, and the mass matrix.

use super::Input::{Frame, Q, Qd};
use super::Size::{Nv, Of};
use super::{Compute, Quantity, calls};
use crate::dynamics::forward::FORWARD_DYNAMICS;
use crate::dynamics::inverse_mass::MASS_MATRIX_INVERSE;
use crate::dynamics::mass_elements::MASS_MATRIX_ENTRIES;

// One call, over any scalar.
calls! {
    forward_dynamics: |m, g, out| m.forward_dynamics(g.tau, out);
    mass_matrix_inverse: |m, _, out| m.mass_matrix_inverse(out);
}

pub(super) static QUANTITIES: &[Quantity] = &[
    Quantity::declared(FORWARD_DYNAMICS, Compute::Call(forward_dynamics)),
    Quantity::declared(
        MASS_MATRIX_ENTRIES,
        Compute::Tree(|m, _, _, out| m.mass_matrix_entries(out)),
    ),
    Quantity::declared(MASS_MATRIX_INVERSE, Compute::Call(mass_matrix_inverse)),
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
