//! Linearized dynamics of several states at once: only what is not nought.
//!
//! Every number is a register there, and a dense matrix would leave the caches. Elements stand in the order of
//! [`crate::Mechanism::mass_pattern`], one list for each kind and side of the diagonal; [`sources`] tells which of them
//! makes up which element of the dense matrices.

use super::inverse::Row;
use crate::model::{Compiled, GAP};
use crate::scalar::Scalar;
use crate::stage::linear::{BY_Q, BY_QD, H, KINDS, LANES, Linear, PSI, PSI_RATE, TWICE};

/// ∂T/∂q, ∂T/∂q̇ and 𝓜 of pairs (j, k), j on the way from k to the base; then of pairs (k, j). 𝓜 of the latter is there
/// only within a joint. The formulas are those of [`super::inverse::InverseDerivatives`].
#[inline(always)]
pub(super) fn torque_derivatives<S: Scalar>(m: &Compiled, linear: &Linear<S>, out: &mut [S]) {
    let (layout, rows) = (&m.columns.single, &m.columns.rows[..]);
    let pairs = rows[m.nv];
    for (k, body) in m.bodies.iter().enumerate() {
        let start = layout.start[k];
        for c in start..start + body.dofs {
            let (block, lane) = (&linear.pairs[c / LANES], c % LANES);
            let Row { r, gyro, .. } = Row::of(&linear.columns[c / LANES], block, lane);
            let (by_q, by_qd) = (block.force(BY_Q, lane), block.force(BY_QD, lane));
            let mut j = start;
            while j != GAP {
                let (column, lane) = (&linear.columns[j / LANES], j % LANES);
                let h = column.motion(H, lane);
                let lower_q = column.motion(PSI_RATE, lane).dot(r) + column.three(PSI, lane).dot(gyro);
                let lower_qd = column.motion(TWICE, lane).dot(r) + h.angular.dot(gyro);
                let mass = h.dot(r);
                if j < start {
                    let at = rows[j] + (c - j);
                    let upper = &mut out[at..];
                    upper[0] = h.dot(by_q);
                    upper[pairs] = h.dot(by_qd);
                    upper[2 * pairs] = mass;
                    upper[KINDS * pairs] = lower_q;
                    upper[(KINDS + 1) * pairs] = lower_qd;
                } else {
                    // Within the joint.
                    let at = if j < c {
                        KINDS * pairs + rows[j] + (c - j)
                    } else {
                        rows[c] + (j - c)
                    };
                    let out = &mut out[at..];
                    out[0] = lower_q;
                    out[pairs] = lower_qd;
                    out[2 * pairs] = mass;
                }
                j = layout.up[j];
            }
        }
    }
    if m.has_armature {
        for i in 0..m.nv {
            out[2 * pairs + rows[i]] += S::lift(m.armature[layout.dof[i]]);
        }
    }
}

/// How many registers [`torque_derivatives`] fills.
pub(crate) fn length(m: &Compiled) -> usize {
    2 * KINDS * m.columns.rows[m.nv]
}

/// Per element of the three dense matrices: which register it comes from; one past the last where it is nought.
pub(crate) fn sources(m: &Compiled) -> Vec<u32> {
    let (layout, rows, n) = (&m.columns.single, &m.columns.rows[..], m.nv);
    let pairs = rows[n];
    let mut from = vec![length(m) as u32; KINDS * n * n];
    for (k, body) in m.bodies.iter().enumerate() {
        let own = layout.start[k]..layout.start[k] + body.dofs;
        for j in own.clone() {
            for c in j..layout.end[k] {
                let (row, column, at) = (layout.dof[j], layout.dof[c], rows[j] + (c - j));
                for kind in 0..KINDS {
                    let upper = kind * pairs + at;
                    let is_alike = c == j || kind == 2 && !own.contains(&c);
                    let lower = if is_alike { upper } else { upper + KINDS * pairs };
                    from[(kind * n + row) * n + column] = upper as u32;
                    from[(kind * n + column) * n + row] = lower as u32;
                }
            }
        }
    }
    from
}
