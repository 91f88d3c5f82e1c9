//! Linearized dynamics of several states at once: only what is not nought.
//!
//! Every number is a register there, and a dense matrix would leave the caches. Elements stand in the order of
//! [`crate::Mechanism::mass_pattern`], one list for each kind and side of the diagonal; [`sources`] tells which of them
//! makes up which element of the dense matrices.

use crate::model::{Body, Compiled, Hinge};
use crate::scalar::Scalar;
use crate::simd::{At, Sweep};
use crate::spatial::{Force, Vec3};
use crate::stage::Stages;
use crate::stage::linear::{KINDS, Span, Terms, load_at_home};

/// q̈ → ∂T/∂q, ∂T/∂q̇ and 𝓜 of pairs (j, k), j on the way from k to the base; then of pairs (k, j). 𝓜 of the latter is there
/// only within a joint. The formulas are those of [`super::inverse::InverseDerivatives`].
///
/// Outward what belongs to the columns, then link by link inward: what a subtree makes of a link's columns goes to the base in
/// registers.
pub(crate) struct TorqueDerivatives;

impl<S: Scalar> Sweep<S> for TorqueDerivatives {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, qdd: &[S], out: &mut [S]) {
        s.need_world(m);
        let (linear, poses) = (&mut s.linear, &s.world.poses[..m.bodies.len()]);
        linear.spread_out(m, &s.world, &s.qd, qdd);
        let (layout, rows) = (&m.columns.single, &m.columns.rows[..]);
        let pairs = rows[m.nv];
        let mut carried = Terms::ZERO;
        for k in (0..poses.len()).rev() {
            let load = if s.loaded {
                Some(load_at_home(&poses[k], &s.loads[k]))
            } else {
                None
            };
            let terms = linear.take_in(m, k, &poses[k], load, &mut carried);
            let (spans, body) = (&linear.spans[..], &m.bodies[k]);
            let own = layout.start[k]..layout.start[k] + body.dofs;
            for c in own.clone() {
                let Span {
                    h,
                    psi,
                    psi_rate,
                    twice,
                } = spans[c];
                let inner = Inner {
                    r: terms.inertia.times(h),
                    gyro: terms.gyro_adjoint(h),
                };
                for j in own.clone() {
                    let at = if j < c {
                        KINDS * pairs + rows[j] + (c - j)
                    } else {
                        rows[c] + (j - c)
                    };
                    let ([q, qd], out) = (inner.lower(&spans[j]), &mut out[at..]);
                    (out[0], out[pairs], out[2 * pairs]) = (q, qd, spans[j].h.dot(inner.r));
                }
                if body.parent.is_none() {
                    continue;
                }
                let column = Column {
                    by_q: terms.by_q(h, psi.angular, psi_rate),
                    by_qd: terms.by_qd(h, twice),
                    inner,
                };
                let (base, mut j) = (layout.start[body.root], layout.up[own.end - 1]);
                while j != base {
                    column.with(&spans[j]).put(pairs, &mut out[rows[j] + (c - j)..]);
                    j = layout.up[j];
                }
                let root = &m.bodies[body.root];
                for i in 0..root.dofs {
                    let (j, axis) = (base + i, root_axis(root, i));
                    column
                        .with_root(axis, &spans[j])
                        .put(pairs, &mut out[rows[j] + (c - j)..]);
                }
            }
        }
        if m.has_armature {
            for i in 0..m.nv {
                out[2 * pairs + rows[i]] += S::lift(m.armature[layout.dof[i]]);
            }
        }
    }
}

/// The axis of a degree of freedom of a root, unless it both turns and slides.
#[inline(always)]
fn root_axis(root: &Body, i: usize) -> Option<usize> {
    match root.hinge {
        Hinge::Helical { .. } => None,
        hinge => Some(hinge.axes()[i]),
    }
}

/// RH* and 2R̂*H* of a column.
#[derive(Clone, Copy)]
struct Inner<S> {
    r: Force<S>,
    gyro: Vec3<S>,
}

impl<S: Scalar> Inner<S> {
    /// ∂T_k/∂q_j and ∂T_k/∂q̇_j of this column k and one toward the base, or of the same joint.
    #[inline(always)]
    fn lower(&self, j: &Span<S>) -> [S; 2] {
        [
            j.psi_rate.dot(self.r) + j.psi.angular.dot(self.gyro),
            j.twice.dot(self.r) + j.h.angular.dot(self.gyro),
        ]
    }
}

/// The same, and RΨ̇ + 2R̂Ψ + crf(H*)f and R(Ψ + Ḣ) + 2R̂H*: all that a column gives to those toward the base.
struct Column<S> {
    inner: Inner<S>,
    by_q: Force<S>,
    by_qd: Force<S>,
}

/// What a column k and one toward the base have in common.
struct Pair<S> {
    /// ∂T_j/∂q_k, ∂T_j/∂q̇_k and 𝓜(j,k).
    upper: [S; 3],
    /// ∂T_k/∂q_j and ∂T_k/∂q̇_j.
    lower: [S; 2],
}

impl<S: Scalar> Column<S> {
    #[inline(always)]
    fn with(&self, j: &Span<S>) -> Pair<S> {
        Pair {
            upper: [j.h.dot(self.by_q), j.h.dot(self.by_qd), j.h.dot(self.inner.r)],
            lower: self.inner.lower(j),
        }
    }

    /// The same with one of a root, whose origin is home and whose parent rests: H* turns or slides along an axis, Ψ is nought,
    /// and Ψ̇ is what gravity does to a turn. A helical joint has no such axis.
    #[inline(always)]
    fn with_root(&self, axis: Option<usize>, j: &Span<S>) -> Pair<S> {
        let (Self { by_q, by_qd, .. }, Inner { r, gyro }) = (self, self.inner);
        match axis {
            Some(..3) => {
                let a = j.h.angular;
                Pair {
                    upper: [a.dot(by_q.moment), a.dot(by_qd.moment), a.dot(r.moment)],
                    lower: [j.psi_rate.linear.dot(r.force), j.twice.dot(r) + a.dot(gyro)],
                }
            }
            Some(_) => {
                let a = j.h.linear;
                Pair {
                    upper: [a.dot(by_q.force), a.dot(by_qd.force), a.dot(r.force)],
                    lower: [S::ZERO, j.twice.linear.dot(r.force)],
                }
            }
            None => self.with(j),
        }
    }
}

impl<S: Scalar> Pair<S> {
    /// To its place in each of the lists.
    #[inline(always)]
    fn put(self, pairs: usize, out: &mut [S]) {
        for kind in 0..3 {
            out[kind * pairs] = self.upper[kind];
        }
        for kind in 0..2 {
            out[(KINDS + kind) * pairs] = self.lower[kind];
        }
    }
}

/// How many registers [`TorqueDerivatives`] fills.
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
