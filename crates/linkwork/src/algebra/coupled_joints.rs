//! Operators of the independent joints, where joints follow others: those of the coupled mechanism's own elimination.

use super::coupled::State;
use super::op::Op;
use crate::Result;
use crate::scalar::Scalar;
use crate::workspace::Scaling;

/// An operator of the independent joints.
pub(super) fn joint<S: Scalar>(op: Op, adjoint: bool, state: &mut State<'_, '_, '_, S>, x: &[S]) -> Result<Vec<S>> {
    use Scaling::{Normalized, Unnormalized};
    let mut out = state.room.take(x.len());
    let mut room = state.room.take(x.len());
    let view = &mut *state.view;
    match (op, adjoint) {
        (Op::Mass, _) => view.mass_times(x, &mut out)?,
        (Op::MassInv, _) => view.inverse_mass_times(x, &mut out)?,
        (Op::F, false) => view.joint_torques(Unnormalized, x, &mut out)?,
        (Op::F, true) => view.total_rates(Unnormalized, x, &mut out)?,
        (Op::N, false) => view.working_moments(Unnormalized, x, &mut out)?,
        (Op::N, true) => view.joint_rates(Unnormalized, x, &mut out)?,
        // D^½ = (I + HφK)⁻¹m.
        (Op::Root, false) => {
            view.joint_torques(Normalized, x, &mut room)?;
            view.working_moments(Unnormalized, &room, &mut out)?;
        }
        (Op::Root, true) => {
            view.joint_rates(Unnormalized, x, &mut room)?;
            view.total_rates(Normalized, &room, &mut out)?;
        }
        (Op::RootInv, false) => {
            view.joint_torques(Unnormalized, x, &mut room)?;
            view.working_moments(Normalized, &room, &mut out)?;
        }
        (Op::RootInv, true) => {
            view.joint_rates(Normalized, x, &mut room)?;
            view.total_rates(Unnormalized, &room, &mut out)?;
        }
        // D = D^½D^½*, and D⁻¹ = D^-½*D^-½.
        _ => {
            let (half, first) = if op == Op::D {
                (Op::Root, true)
            } else {
                (Op::RootInv, false)
            };
            let inner = joint(half, first, state, x)?;
            let whole = joint(half, !first, state, &inner)?;
            state.room.give_back(inner);
            state.room.give_back(core::mem::replace(&mut out, whole));
        }
    }
    state.room.give_back(room);
    Ok(out)
}
