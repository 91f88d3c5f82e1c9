//! ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ without forming or inverting 𝓜, for trees and joints of any kind.

use super::super::tiled::tiled;
use super::{forward_by_rows, forward_by_tiles};
use crate::model::Compiled;
use crate::scalar::{Pack, Scalar};
use crate::stage::Stages;
use crate::stage::cache_lines::{LINE, first_of_line};
use crate::stage::linear::{KINDS, LANES, blocks};
use crate::sweep::{At, Known, PackedSweep, Sweep, algorithm, known};

/// Three matrices one after another: ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ = ∂q̈/∂T, each dense and row by row; then room.
///
/// With N = I − HψK they are −N*D⁻¹N ∂T/∂q, −N*D⁻¹N ∂T/∂q̇ and N*D⁻¹N. All factors are zero between branches, and are
/// found and multiplied tile by tile; several states at once take [`super::forward_in_lanes::AccelerationDerivatives`]. Where a mechanism is so long that a sweep over columns costs less, that is done.
pub(crate) struct ForwardDerivatives;

/// Numbers of room: three kinds of ε, in whole tiles or not; and what aligns them.
pub(crate) fn room(m: &Compiled) -> usize {
    let width = blocks(m.nv) * LANES;
    LINE + match m.columns.tiles {
        Some(_) => KINDS * width * width,
        None => KINDS * m.nv * width,
    }
}

/// [`ForwardDerivatives`] about the accelerations that torques cause.
pub(crate) const FORWARD_DYNAMICS_DERIVATIVES: Known = known!(
    ("forward_dynamics_derivatives", "∂q̈/∂(q, q̇, T)", "∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹, 3 × nv × nv, in the tangent space"),
    ["aba_derivatives"], [Q, Qd, Tau] -> [Of(3), Nv, Nv]
);

algorithm! {
    ForwardDerivatives: Plain, Packed;
}

impl<S: Scalar> Sweep<S> for ForwardDerivatives {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        derivatives::<S, S>(m, s, out);
    }
}

impl PackedSweep for ForwardDerivatives {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, _: At<'_>, _: &[f64], out: &mut [f64]) {
        derivatives::<f64, P>(m, s, out);
    }
}

#[inline(always)]
fn derivatives<S: Scalar, P: Pack<S>>(m: &Compiled, s: &mut Stages<S>, out: &mut [S]) {
    let n = m.nv;
    let (out, room) = out.split_at_mut(KINDS * n * n);
    let first = first_of_line(room);
    let room = &mut room[first..];
    let tiles = if const { S::LANES > 1 } { None } else { tiled::<S>(m) };
    let Some(tiles) = tiles else {
        s.need_gains(m);
        let (eps, _) = room.as_chunks_mut::<LANES>();
        return forward_by_rows::sweep(m, s, eps, out);
    };
    if !s.linear.eliminated {
        s.linear.eliminate::<P>(m, tiles);
        s.filled.tell_eliminated();
    }
    let size = KINDS * blocks(n) * blocks(n) * LANES * LANES;
    let (eps, _) = room[..size].as_chunks_mut().0.as_chunks_mut();
    forward_by_tiles::inward::<S, P>(m, tiles, &mut s.linear, eps);
    s.scratch.columns.resize(LANES * n, S::ZERO);
    let (weights, _) = s.scratch.columns.as_chunks_mut();
    forward_by_tiles::outward::<S, P>(m, tiles, &s.linear.d_inv, eps, weights, out);
}
