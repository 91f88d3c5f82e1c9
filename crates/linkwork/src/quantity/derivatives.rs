//! How the dynamics change with the state.

use super::Input::{Change, Q, Qd, Qdd, Tau, X};
use super::Size::{Nv, Of, Parameters};
use super::{Compute, Given, Quantity, Room, calls};
use crate::Result;
use crate::dynamics::linearized::forward::FORWARD_DYNAMICS_DERIVATIVES;
use crate::dynamics::linearized::inverse::INVERSE_DYNAMICS_DERIVATIVES;
use crate::dynamics::linearized::products::{ACCELERATION_ADJOINT, TORQUE_ADJOINT};
use crate::scalar::Dual;
use crate::workspace::{Along, DerivativeRates, Derivatives, Linearized, Moving};

// One call, over any scalar.
calls! {
    torque_change: |m, g, out| m.linearized(g.qdd)?.torque_change(g.change, out);
    torque_adjoint: |m, g, out| m.linearized(g.qdd)?.torque_adjoint(g.x, out);
}

pub(super) static QUANTITIES: &[Quantity] = &[
    Quantity::declared(
        INVERSE_DYNAMICS_DERIVATIVES,
        Compute::Tree(|m, g, room, out| of_torques(m, g, room, 0..3, out)),
    ),
    Quantity::declared(
        FORWARD_DYNAMICS_DERIVATIVES,
        Compute::Tree(|m, g, room, out| of_accelerations(m, g, room, 0..3, out)),
    ),
    Quantity::new(
        ("dtau_dq", "∂T/∂q", "at (q, q̇, q̈), nv × nv, in the tangent space"),
        &[],
        &[Q, Qd, Qdd],
        &[Nv, Nv],
        |m, g, room, out| of_torques(m, g, room, 0..1, out),
    ),
    Quantity::new(
        ("dtau_dqd", "∂T/∂q̇", "at (q, q̇, q̈), nv × nv"),
        &[],
        &[Q, Qd, Qdd],
        &[Nv, Nv],
        |m, g, room, out| of_torques(m, g, room, 1..2, out),
    ),
    Quantity::new(
        ("dqdd_dq", "∂q̈/∂q", "at (q, q̇, T), nv × nv, in the tangent space"),
        &[],
        &[Q, Qd, Tau],
        &[Nv, Nv],
        |m, g, room, out| of_accelerations(m, g, room, 0..1, out),
    ),
    Quantity::new(
        ("dqdd_dqd", "∂q̈/∂q̇", "at (q, q̇, T), nv × nv"),
        &[],
        &[Q, Qd, Tau],
        &[Nv, Nv],
        |m, g, room, out| of_accelerations(m, g, room, 1..2, out),
    ),
    Quantity::call(
        ("torque_change", "δT", "∂T/∂q δq + ∂T/∂q̇ δq̇ + 𝓜 δq̈, in O(n)"),
        &["rnea_jvp"],
        &[Q, Qd, Qdd, Change],
        &[Nv],
        torque_change,
    ),
    Quantity::new(
        ("acceleration_change", "δq̈", "∂q̈/∂q δq + ∂q̈/∂q̇ δq̇ + 𝓜⁻¹ δT, in O(n)"),
        &["aba_jvp"],
        &[Q, Qd, Tau, Change],
        &[Nv],
        |m, g, room, out| {
            m.linearized_under(g.tau, room.first(g.tau.len()))?
                .acceleration_change(g.change, out)
        },
    ),
    Quantity::declared(TORQUE_ADJOINT, Compute::Call(torque_adjoint)),
    Quantity::declared(
        ACCELERATION_ADJOINT,
        Compute::Tree(|m, g, room, out| {
            // As batches do it, to the bit.
            let qdd = room.first(g.tau.len());
            m.forward_dynamics(g.tau, qdd)?;
            m.linearized(qdd)?.acceleration_adjoint(g.x, out)
        }),
    ),
    Quantity::new(
        (
            "torque_hessian_times",
            "∇²(x·T)d",
            "the Hessian of x·T by (q, q̇, q̈), times a change of them, in O(n)",
        ),
        &[],
        &[Q, Qd, Qdd, X, Change],
        &[Of(3), Nv],
        |m, g, room, out| torques_along(m, g, room, |along, _| along.torque_adjoint(g.x, out)),
    ),
    Quantity::new(
        (
            "acceleration_hessian_times",
            "∇²(x·q̈)d",
            "the Hessian of x·q̈ by (q, q̇, T), times a change of them, in O(n)",
        ),
        &[],
        &[Q, Qd, Tau, X, Change],
        &[Of(3), Nv],
        |m, g, room, out| accelerations_along(m, g, room, |along, _| along.acceleration_adjoint(g.x, out)),
    ),
    Quantity::new(
        (
            "inverse_dynamics_second_derivatives",
            "δ∂T/∂(q, q̇, q̈)",
            "how ∂T/∂q, ∂T/∂q̇ and 𝓜 change along a change of (q, q̇, q̈), 3 × nv × nv",
        ),
        &["rnea_second_derivatives"],
        &[Q, Qd, Qdd, Change],
        &[Of(3), Nv, Nv],
        |m, g, room, out| {
            torques_along(m, g, room, |along, rates| {
                along.inverse_derivatives(rates)?;
                copy([rates.by_q(), rates.by_qd(), rates.by_input()], 0..3, out);
                Ok(())
            })
        },
    ),
    Quantity::new(
        (
            "forward_dynamics_second_derivatives",
            "δ∂q̈/∂(q, q̇, T)",
            "how ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ change along a change of (q, q̇, T), 3 × nv × nv",
        ),
        &["aba_second_derivatives"],
        &[Q, Qd, Tau, Change],
        &[Of(3), Nv, Nv],
        |m, g, room, out| {
            accelerations_along(m, g, room, |along, rates| {
                along.forward_derivatives(rates)?;
                copy([rates.by_q(), rates.by_qd(), rates.by_input()], 0..3, out);
                Ok(())
            })
        },
    ),
    Quantity::new(
        (
            "regressor",
            "Y",
            "∂T by ten inertial parameters of every link, nv × 10 links: T = Yπ",
        ),
        &["joint_torque_regressor"],
        &[Q, Qd, Qdd],
        &[Nv, Parameters],
        |m, g, _, out| m.linearized(g.qdd)?.regressor(out),
    ),
    Quantity::new(
        (
            "mass_matrix_derivative",
            "∂𝓜/∂q",
            "along every degree of freedom, nv × nv × nv; the first index says along which",
        ),
        &[],
        &[Q],
        &[Nv, Nv, Nv],
        |m, _, _, out| {
            let (mechanism, n) = (m.mechanism(), m.mechanism().nv());
            for (dof, out) in out.chunks_exact_mut((n * n).max(1)).enumerate() {
                let (joint, index) = mechanism.joint_of_dof(dof);
                m.mass_matrix_derivative(joint, index, out)?;
            }
            Ok(())
        },
    ),
    Quantity::new(
        (
            "curvature",
            "R_hijk",
            "the Riemann symbols of the mass matrix as a metric, nv × nv × nv × nv",
        ),
        &["riemann"],
        &[Q],
        &[Nv, Nv, Nv, Nv],
        |m, g, _, out| {
            out.copy_from_slice(m.mechanism().curvature(g.q)?.symbols());
            Ok(())
        },
    ),
];

/// Some of ∂T/∂q, ∂T/∂q̇ and 𝓜.
fn of_torques(
    m: &mut Moving<'_>,
    g: &Given<'_>,
    room: &mut Room,
    parts: core::ops::Range<usize>,
    out: &mut [f64],
) -> Result<()> {
    let derivatives = room.derivatives(m.mechanism());
    m.linearized(g.qdd)?.inverse_derivatives(derivatives)?;
    copy(all_of(derivatives), parts, out);
    Ok(())
}

/// Some of ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹.
fn of_accelerations(
    m: &mut Moving<'_>,
    g: &Given<'_>,
    room: &mut Room,
    parts: core::ops::Range<usize>,
    out: &mut [f64],
) -> Result<()> {
    let mut qdd = core::mem::take(&mut room.numbers);
    qdd.resize(g.tau.len(), 0.0);
    let derivatives = room.derivatives(m.mechanism());
    let done = m
        .linearized_under(g.tau, &mut qdd)
        .and_then(|mut linearized| linearized.forward_derivatives(derivatives));
    copy(all_of(derivatives), parts, out);
    room.numbers = qdd;
    done
}

fn all_of(derivatives: &Derivatives) -> [&[f64]; 3] {
    [derivatives.by_q(), derivatives.by_qd(), derivatives.by_input()]
}

fn copy(all: [&[f64]; 3], parts: core::ops::Range<usize>, out: &mut [f64]) {
    for (out, part) in out.chunks_exact_mut(all[0].len().max(1)).zip(&all[parts]) {
        out.copy_from_slice(part);
    }
}

/// What is linearized, along a direction.
type Second<'a, 'b> = Along<'a, Linearized<'b, Dual<f64>>>;

/// Something of the dynamics linearized about accelerations, along a change of (q, q̇, q̈).
fn torques_along(
    m: &Moving<'_>,
    g: &Given<'_>,
    room: &mut Room,
    ask: impl FnOnce(&mut Second<'_, '_>, &mut DerivativeRates) -> Result<()>,
) -> Result<()> {
    let (nv, (second, rates)) = (g.qdd.len(), room.second_order(m.mechanism()));
    let (dq, rest) = g.change.split_at(nv);
    let (dqd, dqdd) = rest.split_at(nv);
    let mut posed = second.at(g.q, dq)?;
    posed.take_forces(m);
    let mut moving = posed.moving(g.qd, dqd)?;
    ask(&mut moving.linearized(g.qdd, dqdd)?, rates)
}

/// Something of the dynamics linearized about what torques cause, along a change of (q, q̇, T).
fn accelerations_along(
    m: &Moving<'_>,
    g: &Given<'_>,
    room: &mut Room,
    ask: impl FnOnce(&mut Second<'_, '_>, &mut DerivativeRates) -> Result<()>,
) -> Result<()> {
    let nv = g.tau.len();
    let mut numbers = core::mem::take(&mut room.numbers);
    numbers.resize(2 * nv, 0.0);
    let (qdd, dqdd) = numbers.split_at_mut(nv);
    let (second, rates) = room.second_order(m.mechanism());
    let (dq, rest) = g.change.split_at(nv);
    let (dqd, dtau) = rest.split_at(nv);
    let mut posed = second.at(g.q, dq)?;
    posed.take_forces(m);
    let mut moving = posed.moving(g.qd, dqd)?;
    let done = match moving.linearized_under(g.tau, dtau, qdd, dqdd) {
        Ok(mut linearized) => ask(&mut linearized, rates),
        Err(error) => Err(error),
    };
    room.numbers = numbers;
    done
}
