//! Linearized dynamics of several states at once: only what is not zero.
//!
//! Every number is a register there, and a dense matrix would leave the caches. Elements stand in the order of
//! [`crate::Mechanism::mass_pattern`], one list for each kind and side of the diagonal; [`sources`] tells which of them
//! makes up which element of the dense matrices.

use crate::body::{Body, Hinge};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Force, Vec3};
use crate::stage::Stages;
use crate::stage::linear::{KINDS, Span, Terms};
use crate::sweep::{At, Sweep};

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
        let loads = if s.loaded { Some(&s.loads[..]) } else { None };
        s.linear.spread_out::<false>(m, &s.world, &s.qd, qdd);
        let (rows, mut carried) = (&m.columns.rows[..], Terms::ZERO);
        let mut lists = Lists { rows, out };
        for k in (0..m.bodies.len()).rev() {
            let terms = s.linear.take_in(m, k, (&s.world, loads), &mut carried);
            let spans = &s.linear.spans.columns[..];
            let start = m.columns.single.start[k];
            for c in start..start + m.bodies[k].dofs {
                let inner = Inner {
                    r: terms.inertia.times(spans[c].h),
                    gyro: terms.gyro_adjoint(spans[c].h),
                };
                inner.pair_up(m, k, c, spans, &terms, &mut lists);
            }
        }
        if m.has_armature {
            for i in 0..m.nv {
                lists.out[2 * rows[m.nv] + rows[i]] += S::lift(m.armature[m.columns.single.dof[i]]);
            }
        }
    }
}

/// Where elements go that belong to pairs of columns.
pub(super) trait Pairs<S> {
    /// Of a column and one toward the base.
    fn put(&mut self, inward: usize, column: usize, pair: Pair<S>);
    /// Of a row and a column of the same joint: ∂T/∂q, ∂T/∂q̇ and 𝓜.
    fn put_own(&mut self, row: usize, column: usize, elements: [S; KINDS]);
}

/// Lists in the order of the elements of 𝓜.
struct Lists<'a, S> {
    rows: &'a [usize],
    out: &'a mut [S],
}

impl<S: Scalar> Pairs<S> for Lists<'_, S> {
    #[inline(always)]
    fn put(&mut self, inward: usize, column: usize, pair: Pair<S>) {
        let pairs = self.rows[self.rows.len() - 1];
        let out = &mut self.out[self.rows[inward] + (column - inward)..];
        for kind in 0..KINDS {
            out[kind * pairs] = pair.upper[kind];
        }
        for kind in 0..2 {
            out[(KINDS + kind) * pairs] = pair.lower[kind];
        }
    }

    #[inline(always)]
    fn put_own(&mut self, row: usize, column: usize, elements: [S; KINDS]) {
        let pairs = self.rows[self.rows.len() - 1];
        let at = if column < row {
            KINDS * pairs + self.rows[column] + (row - column)
        } else {
            self.rows[row] + (column - row)
        };
        let out = &mut self.out[at..];
        for kind in 0..KINDS {
            out[kind * pairs] = elements[kind];
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
pub(super) struct Inner<S> {
    pub(super) r: Force<S>,
    pub(super) gyro: Vec3<S>,
}

impl<S: Scalar> Inner<S> {
    /// This column c of link k with those of its joint and all toward the base.
    #[inline(always)]
    pub(super) fn pair_up(
        self,
        m: &Compiled,
        k: usize,
        c: usize,
        spans: &[Span<S>],
        terms: &Terms<S>,
        to: &mut impl Pairs<S>,
    ) {
        let (layout, body, root) = (&m.columns.single, &m.bodies[k], &m.bodies[m.bodies[k].root]);
        let own = layout.start[k]..layout.start[k] + body.dofs;
        for j in own.clone() {
            let [q, qd] = self.lower(&spans[j]);
            to.put_own(c, j, [q, qd, spans[j].h.dot(self.r)]);
        }
        if body.parent.is_none() {
            return;
        }
        let Span {
            h,
            psi,
            psi_rate,
            twice,
        } = spans[c];
        let column = Column {
            by_q: terms.by_q(h, psi.angular, psi_rate),
            by_qd: terms.by_qd(h, twice),
            inner: self,
        };
        let (base, mut j) = (layout.start[body.root], layout.up[own.end - 1]);
        while j != base {
            to.put(j, c, column.with(&spans[j]));
            j = layout.up[j];
        }
        for i in 0..root.dofs {
            to.put(base + i, c, column.with_root(root_axis(root, i), &spans[base + i]));
        }
    }

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
pub(super) struct Pair<S> {
    /// ∂T_j/∂q_k, ∂T_j/∂q̇_k and 𝓜(j,k).
    pub(super) upper: [S; KINDS],
    /// ∂T_k/∂q_j and ∂T_k/∂q̇_j.
    pub(super) lower: [S; 2],
}

impl<S: Scalar> Column<S> {
    #[inline(always)]
    fn with(&self, j: &Span<S>) -> Pair<S> {
        Pair {
            upper: [j.h.dot(self.by_q), j.h.dot(self.by_qd), j.h.dot(self.inner.r)],
            lower: self.inner.lower(j),
        }
    }

    /// The same with one of a root, whose origin is home and whose parent rests: H* turns or slides along an axis, Ψ is zero,
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

/// How many registers [`TorqueDerivatives`] fills.
pub(crate) fn length(m: &Compiled) -> usize {
    2 * KINDS * m.columns.rows[m.nv]
}

/// Per element of the three dense matrices: which register it comes from; one past the last where it is zero.
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
