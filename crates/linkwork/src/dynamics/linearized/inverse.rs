//! ∂T/∂q, ∂T/∂q̇ and 𝓜 in O(n · depth): Algorithm 2, for trees and joints of any kind.

use super::{clear, write};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::simd::{At, Sweep};
use crate::spatial::{Force, Motion, Vec3};
use crate::stage::Stages;
use crate::stage::linear::{
    BY_Q, BY_QD, BY_QDD, Block, COLUMN, GYRO, H, KINDS, LANES, Linear, PAIR, PSI, PSI_RATE, TERMS, TWICE, bit, bits,
    lanes, together,
};

/// Three matrices one after another: ∂T/∂q, ∂T/∂q̇ and 𝓜 = ∂T/∂q̈, each dense and row by row.
///
/// For an ancestor j of k, and k itself:
///
/// ```text
/// 𝓜(j,k)      = H(j) RH*(k)
/// ∂T_j/∂q̇_k  = H(j) [R(Ψ + Ḣ) + 2R̂H*](k)                 ∂T_k/∂q̇_j = [RH*](k)·(Ψ + Ḣ)(j) + [2R̂*H*](k)·H*(j)
/// ∂T_j/∂q_k   = H(j) [RΨ̇ + 2R̂Ψ + crf(H*)f](k)            ∂T_k/∂q_j  = [RH*](k)·Ψ̇(j) + [2R̂*H*](k)·Ψ(j)
/// ```
///
/// The last holds for all pairs within one joint. Several states at once take [`super::related::TorqueDerivatives`].
pub(crate) struct InverseDerivatives;

impl<S: Scalar> Sweep<S> for InverseDerivatives {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        let n = m.nv;
        let linear = &mut s.linear;
        linear.eliminated = false;
        all_terms(m, linear);
        let wide = linear.pairs.len();
        for (k, body) in m.bodies.iter().enumerate() {
            let (start, end) = (m.columns.single.start[k], m.columns.single.end[k]);
            let (own, level) = (start + body.dofs, m.columns.level[k] * wide);
            linear.enter(m, k);
            linear.mark(m, k);
            for c in start..own {
                let row = Row::of(&linear.columns[c / LANES], &linear.pairs[c / LANES], c % LANES);
                clear(m, c, out);
                for b in 0..end.div_ceil(LANES) {
                    let (inner, outer) = (linear.inner[level + b], bits(b, own, end));
                    let (columns, pairs) = (&linear.columns[b], &linear.pairs[b]);
                    let got = match (inner != 0, outer != 0) {
                        (false, false) => continue,
                        (true, true) => row.block::<true, true>(columns, pairs, inner, outer),
                        (true, false) => row.block::<true, false>(columns, pairs, inner, outer),
                        (false, true) => row.block::<false, true>(columns, pairs, inner, outer),
                    };
                    write(m, c, b * LANES, &got, out);
                }
            }
        }
        let by_qdd = &mut out[2 * n * n..];
        if m.has_armature {
            for i in 0..n {
                by_qdd[i * n + i] += S::lift(m.armature[i]);
            }
        }
    }
}

/// What stands in brackets above, for all columns.
#[inline(always)]
fn all_terms<S: Scalar>(m: &Compiled, linear: &mut Linear<S>) {
    for b in 0..linear.pairs.len() {
        column_terms(
            &linear.columns[b],
            &linear.subtrees[b],
            &mut linear.pairs[b],
            lanes::<S>(b, m.nv),
        );
    }
}

/// RΨ̇ + 2R̂Ψ + crf(H*)f, R(Ψ + Ḣ) + 2R̂H*, RH* and 2R̂*H* of every column.
#[inline(always)]
fn column_terms<S: Scalar>(
    columns: &Block<S, COLUMN>,
    subtrees: &Block<S, TERMS>,
    out: &mut Block<S, PAIR>,
    lanes: usize,
) {
    for l in 0..lanes {
        let h = columns.motion(H, l);
        let t = subtrees.terms(l);
        let by_q = t.by_q(h, columns.three(PSI, l), columns.motion(PSI_RATE, l));
        let by_qd = t.by_qd(h, columns.motion(TWICE, l));
        out.put(BY_Q, l, by_q.to_array());
        out.put(BY_QD, l, by_qd.to_array());
        out.put(BY_QDD, l, t.inertia.times(h).to_array());
        out.put(GYRO, l, t.gyro_adjoint(h).to_array());
    }
}

/// One row of the matrices: H*, RH* and 2R̂*H* of its degree of freedom.
#[derive(Clone, Copy)]
struct Row<S> {
    h: Motion<S>,
    r: Force<S>,
    gyro: Vec3<S>,
}

impl<S: Scalar> Row<S> {
    #[inline(always)]
    fn of(columns: &Block<S, COLUMN>, pairs: &Block<S, PAIR>, lane: usize) -> Self {
        Self {
            h: columns.motion(H, lane),
            r: pairs.force(BY_QDD, lane),
            gyro: pairs.three(GYRO, lane),
        }
    }

    /// Elements of the three matrices: at inner columns, which are the row's own joint's and its ancestors', and at outer
    /// ones, its descendants'.
    #[inline(always)]
    fn block<const INNER: bool, const OUTER: bool>(
        &self,
        columns: &Block<S, COLUMN>,
        pairs: &Block<S, PAIR>,
        inner: u8,
        outer: u8,
    ) -> [[S; LANES]; KINDS] {
        let Self { h, r, gyro } = *self;
        let mut got = [[S::ZERO; LANES]; KINDS];
        for l in 0..LANES {
            let (is_inner, is_outer) = (INNER && bit(inner, l), OUTER && bit(outer, l));
            if !together::<S>() && !is_inner && !is_outer {
                continue;
            }
            let mut x = [S::ZERO; KINDS];
            if OUTER && (together::<S>() || is_outer) {
                let y = [
                    h.dot(pairs.force(BY_Q, l)),
                    h.dot(pairs.force(BY_QD, l)),
                    h.dot(pairs.force(BY_QDD, l)),
                ];
                for kind in 0..KINDS {
                    x[kind] = if is_outer { y[kind] } else { x[kind] };
                }
            }
            if INNER && (together::<S>() || is_inner) {
                let s = columns.motion(H, l);
                let y = [
                    columns.motion(PSI_RATE, l).dot(r) + columns.three(PSI, l).dot(gyro),
                    columns.motion(TWICE, l).dot(r) + s.angular.dot(gyro),
                    s.dot(r),
                ];
                for kind in 0..KINDS {
                    x[kind] = if is_inner { y[kind] } else { x[kind] };
                }
            }
            for kind in 0..KINDS {
                got[kind][l] = x[kind];
            }
        }
        got
    }
}
