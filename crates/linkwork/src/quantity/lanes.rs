//! What is computed for many states at once, several to a register.

use super::Given;
use crate::batch::{Batch, Real};
use crate::model::FrameId;
use crate::{Error, Result};

/// A quantity of many states.
type OfMany<T> = fn(&mut Batch<T>, &Given<'_, T>, &mut [T]) -> Result<()>;

macro_rules! in_lanes {
    ($($name:ident: |$batch:ident, $given:ident, $out:ident| $call:expr;)*) => {
        /// How a quantity is computed so, if it is.
        pub(super) fn in_lanes<T: Real>(name: &str) -> Option<OfMany<T>> {
            match name {
                $(stringify!($name) => Some(|$batch, $given, $out| $call),)*
                _ => None,
            }
        }

        #[cfg(test)]
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

in_lanes! {
    pose: |b, g, out| poses(b, g.frame, g.q, out);
    jacobian: |b, g, out| b.jacobian(g.frame, g.reference, g.q, out);
    velocity: |b, g, out| b.velocity(g.frame, g.reference, g.q, g.qd, out);
    com: |b, g, out| b.com(g.q, out);
    forward_dynamics: |b, g, out| b.forward_dynamics(g.q, g.qd, g.tau, out);
    inverse_dynamics: |b, g, out| b.inverse_dynamics(g.q, g.qd, g.qdd, out);
    mass_matrix: |b, g, out| b.mass_matrix(g.q, out);
    mass_matrix_entries: |b, g, out| b.mass_matrix_entries(g.q, out);
    mass_matrix_inverse: |b, g, out| b.mass_matrix_inverse(g.q, out);
    bias: |b, g, out| b.bias(g.q, g.qd, out);
    gravity_torque: |b, g, out| b.gravity_torque(g.q, out);
    kinetic_energy: |b, g, out| b.kinetic_energy(g.q, g.qd, out);
    potential_energy: |b, g, out| b.potential_energy(g.q, out);
    inverse_dynamics_derivatives: |b, g, out| b.inverse_derivatives(g.q, g.qd, g.qdd, out);
    forward_dynamics_derivatives: |b, g, out| b.forward_derivatives(g.q, g.qd, g.tau, out);
    dtau_dq: |b, g, out| part(b, g, 0, out, |b, g, all| b.inverse_derivatives(g.q, g.qd, g.qdd, all));
    dtau_dqd: |b, g, out| part(b, g, 1, out, |b, g, all| b.inverse_derivatives(g.q, g.qd, g.qdd, all));
    dqdd_dq: |b, g, out| part(b, g, 0, out, |b, g, all| b.forward_derivatives(g.q, g.qd, g.tau, all));
    dqdd_dqd: |b, g, out| part(b, g, 1, out, |b, g, all| b.forward_derivatives(g.q, g.qd, g.tau, all));
    torque_adjoint: |b, g, out| b.torque_adjoint(g.q, g.qd, g.qdd, g.x, out);
    acceleration_adjoint: |b, g, out| b.acceleration_adjoint(g.q, g.qd, g.tau, g.x, out);
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

/// So many numbers may all matrices of the states that are computed at once have.
const ROOM: usize = 1 << 18;

/// One of three matrices for many states: all three of a few states at a time.
fn part<T: Real>(
    batch: &mut Batch<T>,
    given: &Given<'_, T>,
    which: usize,
    out: &mut [T],
    all: impl Fn(&mut Batch<T>, &Given<'_, T>, &mut [T]) -> Result<()>,
) -> Result<()> {
    let (nq, nv) = (batch.mechanism().nq(), batch.mechanism().nv());
    let size = (nv * nv).max(1);
    let states = out.len() / size;
    let chunk = (ROOM / (3 * size)).clamp(1, states.max(1));
    let mut room = vec![T::ZERO; 3 * size * chunk];
    let mut failed: Option<(usize, usize, Box<Error>)> = None;
    for (i, out) in out.chunks_mut(size * chunk).enumerate() {
        let (first, n) = (i * chunk, out.len() / size);
        let few = given.of_states(first..first + n, nq, nv);
        match all(batch, &few, &mut room[..3 * size * n]) {
            Ok(()) => {}
            Err(Error::State {
                index,
                failed: count,
                problem,
                ..
            }) => {
                let (_, sum, _) = failed.get_or_insert((first + index, 0, problem));
                *sum += count;
            }
            Err(other) => return Err(other),
        }
        for (out, three) in out.chunks_exact_mut(size).zip(room.chunks_exact(3 * size)) {
            out.copy_from_slice(&three[which * size..(which + 1) * size]);
        }
    }
    match failed {
        None => Ok(()),
        Some((index, failed, problem)) => Err(Error::State {
            index,
            failed,
            states,
            problem,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::NAMES;
    use crate::quantity::Quantity;

    #[test]
    fn lanes_are_of_quantities() {
        for name in NAMES {
            assert_eq!(
                Quantity::find(name).map(|q| q.name).ok(),
                Some(*name),
                "no quantity has that name"
            );
        }
    }
}
