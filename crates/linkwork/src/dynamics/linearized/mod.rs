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
pub(crate) mod inverse;
mod long;
mod product;
pub(crate) mod products;
pub(crate) mod regressor;
pub(crate) mod related;

use crate::model::Compiled;
use crate::scalar::{Scalar, put};
use crate::simd::{At, Sweep};
use crate::stage::Stages;
use crate::stage::linear::{KINDS, LANES};

/// q̈ → the linearization point. About 500 operations per link.
pub(crate) struct Linearize;

impl<S: Scalar> Sweep<S> for Linearize {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: At<'_>, qdd: &[S], _: &mut [S]) {
        s.need_columns(m);
        let loads = if s.loaded { Some(&s.loads[..]) } else { None };
        s.linear.fill(m, &s.world, &s.qd, qdd, loads);
    }
}

/// Noughts in a row of each matrix.
#[inline(always)]
fn clear<S: Scalar>(m: &Compiled, c: usize, out: &mut [S]) {
    let (n, row) = (m.nv, m.columns.single.dof[c] * m.nv);
    for kind in 0..KINDS {
        out[kind * n * n + row..][..n].fill(S::ZERO);
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
