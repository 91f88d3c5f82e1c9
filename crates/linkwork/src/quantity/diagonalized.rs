//! Total rates, working moments, and the blocks of the operators.

use super::Input::{Joint, Q, Qd, Tau, X};
use super::Size::{Dofs, Nv, Of};
use super::{Quantity, Size, calls};
use crate::workspace::Scaling::{Normalized, Unnormalized};
use crate::workspace::{Block, Seen, Small};

/// A block of an operator at a joint, and its rate as the link sees it.
macro_rules! block {
    ($name:literal, $rate:literal, $symbol:literal, $symbol_rate:literal, $block:ident, $shape:expr, $about:literal) => {
        [
            Quantity::new(($name, $symbol, $about), &[], &[Q, Joint], $shape, |m, g, _, out| {
                copy(&m.block(g.joint()?, Block::$block)?, out);
                Ok(())
            }),
            Quantity::new(
                (
                    $rate,
                    $symbol_rate,
                    concat!("the time derivative, as the link sees it, of ", $about),
                ),
                &[],
                &[Q, Qd, Joint],
                $shape,
                |m, g, _, out| {
                    copy(&m.block_rate(g.joint()?, Block::$block, Seen::Locally)?, out);
                    Ok(())
                },
            ),
        ]
    };
}

const SIX: &[Size] = &[Of(6), Of(6)];

pub(super) static BLOCKS: &[[Quantity; 2]] = &[
    block!(
        "block_m",
        "block_m_rate",
        "M(k)",
        "Ṁ(k)",
        M,
        SIX,
        "the inertia of a joint's outer link, 6 × 6"
    ),
    block!(
        "block_p",
        "block_p_rate",
        "P(k)",
        "Ṗ(k)",
        P,
        SIX,
        "the articulated inertia at a joint, 6 × 6"
    ),
    block!(
        "block_d",
        "block_d_rate",
        "D(k)",
        "Ḋ(k)",
        D,
        &[Dofs, Dofs],
        "the inertia that a joint works against"
    ),
    block!(
        "block_g",
        "block_g_rate",
        "G(k)",
        "Ġ(k)",
        G,
        &[Of(6), Dofs],
        "the Kalman gain PH*D⁻¹ of a joint"
    ),
    block!(
        "block_tau_bar",
        "block_tau_bar_rate",
        "τ̄(k)",
        "τ̄̇(k)",
        TauBar,
        SIX,
        "I − GH of a joint, 6 × 6"
    ),
    block!(
        "block_phi",
        "block_phi_rate",
        "φ(p, k)",
        "φ̇(p, k)",
        Phi,
        SIX,
        "forces carried to the inner link, 6 × 6"
    ),
    block!(
        "block_psi",
        "block_psi_rate",
        "ψ(p, k)",
        "ψ̇(p, k)",
        Psi,
        SIX,
        "φτ̄ of a joint, 6 × 6"
    ),
    block!(
        "block_h",
        "block_h_rate",
        "H(k)",
        "Ḣ(k)",
        H,
        &[Dofs, Of(6)],
        "the motions that a joint allows"
    ),
];

// One call, over any scalar.
calls! {
    nu: |m, g, out| m.total_rates(Normalized, g.qd, out);
    eps: |m, g, out| m.working_moments(Normalized, g.tau, out);
}

pub(super) static QUANTITIES: &[Quantity] = &[
    Quantity::new(
        ("xi", "ξ", "the total rates (I + HφK)*q̇"),
        &[],
        &[Q, Qd],
        &[Nv],
        |m, g, _, out| m.total_rates(Unnormalized, g.qd, out),
    ),
    Quantity::call(
        ("nu", "ν", "the normalized total rates m*q̇"),
        &["total_rates"],
        &[Q, Qd],
        &[Nv],
        nu,
    ),
    Quantity::new(
        ("kappa", "κ", "(I − HψK)T of the torques tau"),
        &[],
        &[Q, Tau],
        &[Nv],
        |m, g, _, out| m.working_moments(Unnormalized, g.tau, out),
    ),
    Quantity::call(
        ("eps", "ε", "the working moments ℓT of the torques tau"),
        &["working_moments"],
        &[Q, Tau],
        &[Nv],
        eps,
    ),
    Quantity::new(
        ("rates_of_xi", "q̇", "the joint rates of total rates x = ξ"),
        &[],
        &[Q, X],
        &[Nv],
        |m, g, _, out| m.joint_rates(Unnormalized, g.x, out),
    ),
    Quantity::new(
        ("rates_of_nu", "q̇", "the joint rates ℓ*ν of x = ν"),
        &[],
        &[Q, X],
        &[Nv],
        |m, g, _, out| m.joint_rates(Normalized, g.x, out),
    ),
    Quantity::new(
        ("torques_of_kappa", "T", "the torques (I + HφK)κ of x = κ"),
        &[],
        &[Q, X],
        &[Nv],
        |m, g, _, out| m.joint_torques(Unnormalized, g.x, out),
    ),
    Quantity::new(
        ("torques_of_eps", "T", "the torques mε of x = ε"),
        &[],
        &[Q, X],
        &[Nv],
        |m, g, _, out| m.joint_torques(Normalized, g.x, out),
    ),
    Quantity::new(
        ("C_xi", "𝒞(q, ξ)", "of Dξ̇ + 𝒞 = κ, gravity included"),
        &[],
        &[Q, Qd],
        &[Nv],
        |m, _, _, out| m.diagonal_coriolis(Unnormalized, out),
    ),
    Quantity::new(
        ("C_nu", "𝒞(q, ν)", "of ν̇ + 𝒞 = ε, gravity included"),
        &["diagonal_coriolis"],
        &[Q, Qd],
        &[Nv],
        |m, _, _, out| m.diagonal_coriolis(Normalized, out),
    ),
    Quantity::new(
        (
            "C_nu_terms",
            "𝒞(q, ν)",
            "in five terms: outboard, base motion, present link, changing inertia, gravity; 5 × nv",
        ),
        &[],
        &[Q, Qd],
        &[Of(5), Nv],
        |m, _, _, out| m.diagonal_coriolis_terms(Normalized, out),
    ),
    Quantity::new(
        ("skew_matrix", "c", "the skew matrix of 𝒞(q, ν) = cν + gravity, nv × nv"),
        &["diagonal_coriolis_matrix"],
        &[Q, Qd],
        &[Nv, Nv],
        |m, _, _, out| m.diagonal_coriolis_matrix(out),
    ),
    Quantity::new(
        ("xi_rate", "ξ̇", "the rate of the total rates ξ under the torques tau"),
        &[],
        &[Q, Qd, Tau],
        &[Nv],
        |m, g, _, out| m.total_accelerations(Unnormalized, g.tau, out),
    ),
    Quantity::new(
        ("nu_rate", "ν̇", "the rate of the total rates ν under the torques tau"),
        &["total_accelerations"],
        &[Q, Qd, Tau],
        &[Nv],
        |m, g, _, out| m.total_accelerations(Normalized, g.tau, out),
    ),
    Quantity::new(
        (
            "factor_rate_times",
            "ṁx",
            "the rate of the factor m of 𝓜 = mm*, times x, in O(n)",
        ),
        &[],
        &[Q, Qd, X],
        &[Nv],
        |m, g, _, out| m.factor_rate_times(Normalized, g.x, out),
    ),
    Quantity::new(
        (
            "joint_inertias",
            "D",
            "the diagonal of D: what every degree of freedom works against with all outboard free",
        ),
        &[],
        &[Q],
        &[Nv],
        |m, _, _, out| {
            let mut block = [0.0; 36];
            for id in m.mechanism().joint_ids() {
                let range = m.mechanism().v_range(id)?;
                let d = range.len();
                if d > 0 {
                    m.joint_inertia(id, &mut block[..d * d])?;
                    out[range]
                        .iter_mut()
                        .enumerate()
                        .for_each(|(i, out)| *out = block[i * (d + 1)]);
                }
            }
            Ok(())
        },
    ),
];

fn copy(block: &Small, out: &mut [f64]) {
    for (row, out) in block.at.iter().zip(out.chunks_exact_mut(block.cols.max(1))) {
        out.copy_from_slice(&row[..block.cols]);
    }
}
