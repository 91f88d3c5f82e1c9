//! Linearized dynamics.  (JL, with its misprints corrected)
//!
//! About a point (q, q̇, q̈), in the world's axes at home, where every φ is the identity:
//!
//! ```text
//! Ψ = crm(V(p))H*     Ḣ = crm(V)H*     Ψ̇ = crm(α(p))H* + crm(V(p))Ψ     M̂ = ½(Ṁ − Q[MV])
//! ```
//!
//! R, R̂ and f are sums of M, M̂ and Mα + crf(V)MV over a subtree. Variations of q are steps in the tangent space, as
//! [`crate::Mechanism::integrate`] takes them. External forces keep to their links: they turn and move with them.

pub(crate) mod forward;
mod forward_by_rows;
mod forward_by_tiles;
pub(crate) mod forward_in_lanes;
pub(crate) mod inverse;
pub(crate) mod inverse_in_lanes;
pub(crate) mod products;
pub(crate) mod regressor;

use super::tiled::tiled;
use crate::model::Compiled;
use crate::scalar::{Pack, Scalar, put, zeros};
use crate::stage::Stages;
use crate::stage::linear::{KINDS, LANES};
use crate::sweep::{At, PackedSweep, Sweep, algorithm};

/// q̈ → the linearization point. Or T → q̈ and the point, where [`tiled`] tells: forward dynamics at home. About 500
/// operations per link.
pub(crate) struct Linearize;

algorithm! {
    Linearize: Plain, Packed;
}

impl<S: Scalar> Sweep<S> for Linearize {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, given: &[S], qdd: &mut [S]) {
        linearize::<S, S>(m, s, given, qdd);
    }
}

impl PackedSweep for Linearize {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, _: At<'_>, given: &[f64], qdd: &mut [f64]) {
        s.need_world_packed::<P>(m);
        linearize::<f64, P>(m, s, given, qdd);
    }
}

#[inline(always)]
fn linearize<S: Scalar, P: Pack<S>>(m: &Compiled, s: &mut Stages<S>, given: &[S], qdd: &mut [S]) {
    s.need_columns(m);
    let loads = if s.loaded { Some(&s.loads[..]) } else { None };
    let under = const { S::LANES == 1 } && !qdd.is_empty() && tiled::<S>(m).is_some();
    s.linear.start::<P>(m, (&s.world, &s.qd[..], loads), given, under);
    match tiled::<S>(m) {
        Some(tiles) if const { S::LANES == 1 } && under => {
            s.linear.finish_under::<P>(m, tiles, qdd);
            s.filled.tell_eliminated();
        }
        _ => s.linear.finish(m),
    }
}

/// Zeros in a row of each matrix.
#[inline(always)]
fn clear<S: Scalar>(m: &Compiled, c: usize, out: &mut [S]) {
    let (n, row) = (m.nv, m.columns.single.dof[c] * m.nv);
    for kind in 0..KINDS {
        zeros(&mut out[kind * n * n + row..][..n]);
    }
}

/// Part of a row of each matrix, in the users' order.
#[inline(always)]
fn write<S: Scalar>(m: &Compiled, c: usize, from: usize, got: &[[S; LANES]; KINDS], out: &mut [S]) {
    let n = m.nv;
    let row = m.columns.single.dof[c] * n;
    for kind in 0..KINDS {
        let out = &mut out[kind * n * n + row..][..n];
        if m.columns.in_users_order && from + LANES <= n {
            put(got[kind], &mut out[from..]);
            continue;
        }
        let dof = &m.columns.single.dof[from..];
        for i in 0..dof.len().min(LANES) {
            out[dof[i]] = got[kind][i];
        }
    }
}
