//! ∂T/∂q, ∂T/∂q̇ and 𝓜 in O(n · depth): Algorithm 2, for trees and joints of any kind.

use super::super::composite::add_rotors;
use super::forward_by_tiles::write_tile;
use super::{clear, write};
use crate::model::Compiled;
use crate::plan::Tiles;
use crate::scalar::{Pack, Scalar};
use crate::spatial::{Force, Motion, Vec3};
use crate::stage::Stages;
use crate::stage::linear::{
    BY_Q, BY_QD, BY_QDD, Block, COLUMN, GYRO, H, KINDS, LANES, Linear, PAIR, PSI, PSI_RATE, TERMS, TWICE, bit, bits,
    dot, lanes, read, together, turn,
};
use crate::sweep::{At, Known, PackedSweep, Sweep, algorithm, known};

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
/// The last holds for all pairs within one joint. Several states at once take [`super::inverse_in_lanes::TorqueDerivatives`].
pub(crate) struct InverseDerivatives;

/// [`InverseDerivatives`] about the accelerations that are given.
pub(crate) const INVERSE_DYNAMICS_DERIVATIVES: Known = known!(
    ("inverse_dynamics_derivatives", "∂T/∂(q, q̇, q̈)", "∂T/∂q, ∂T/∂q̇ and 𝓜, 3 × nv × nv, in the tangent space"),
    ["rnea_derivatives"], [Q, Qd, Qdd] -> [Of(3), Nv, Nv]
);

algorithm! {
    InverseDerivatives: Plain, Packed;
}

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
                    let (inner, outer) = (linear.scratch.inner[level + b], bits(b, own, end));
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
        add_rotors(m, &mut out[2 * n * n..]);
    }
}

impl PackedSweep for InverseDerivatives {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, at: At<'_>, input: &[f64], out: &mut [f64]) {
        match &m.columns.tiles {
            Some(tiles) if m.columns.in_users_order => by_tiles::<f64, P, true>(m, tiles, &mut s.linear, out),
            Some(tiles) => by_tiles::<f64, P, false>(m, tiles, &mut s.linear, out),
            None => Self::run::<true>(m, s, at, input, out),
        }
    }
}

/// Tile by tile, from right to left: what the last one of a row writes too far is overwritten by the next row.
#[inline(always)]
fn by_tiles<S: Scalar, P: Pack<S>, const ORDERED: bool>(
    m: &Compiled,
    tiles: &Tiles,
    linear: &mut Linear<S>,
    out: &mut [S],
) {
    linear.eliminated = false;
    all_terms(m, linear);
    let (n, wide) = (m.nv, linear.pairs.len());
    for c in 0..wide {
        let (rows, forces) = (&linear.columns[c], &linear.pairs[c]);
        for b in (0..wide).rev() {
            let (tile, columns, pairs) = (tiles.tile(c, b), &linear.columns[b].0, &linear.pairs[b].0);
            let mut x = [[P::ZERO; LANES]; KINDS];
            if tile.has_outer {
                outer_elements::<S, P>(rows, pairs, &mut x);
                if tile.has_inner || !tile.is_whole {
                    keep(&mut x, tile.outer);
                }
            }
            if tile.has_inner {
                let mut y = [[P::ZERO; LANES]; KINDS];
                inner_elements::<S, P>(forces, columns, &mut y);
                if tile.has_outer || !tile.is_whole {
                    keep(&mut y, tile.inner);
                }
                for kind in 0..KINDS {
                    for r in 0..LANES {
                        x[kind][r] += y[kind][r];
                    }
                }
            }
            write_tile::<S, P, KINDS, ORDERED>(m, c * LANES, b * LANES, &x, out);
        }
    }
    add_rotors(m, &mut out[2 * n * n..]);
}

#[inline(always)]
fn keep<S: Scalar, P: Pack<S>>(x: &mut [[P; LANES]; KINDS], bits: [u8; LANES]) {
    for kind in 0..KINDS {
        for r in 0..LANES {
            x[kind][r] = x[kind][r].keep(bits[r]);
        }
    }
}

/// Elements at the columns of descendants.
#[inline(always)]
fn outer_elements<S: Scalar, P: Pack<S>>(
    rows: &Block<S, COLUMN>,
    pairs: &[[S; LANES]; PAIR],
    x: &mut [[P; LANES]; KINDS],
) {
    let (by_q, by_qd, by_qdd): ([P; 6], [P; 6], [P; 6]) =
        (read(pairs, BY_Q, 0), read(pairs, BY_QD, 0), read(pairs, BY_QDD, 0));
    for r in 0..LANES {
        let h = rows.six(H, r);
        x[0][r] = dot(h, by_q);
        x[1][r] = dot(h, by_qd);
        x[2][r] = dot(h, by_qdd);
    }
}

/// Elements at the columns of the joint itself and of ancestors.
#[inline(always)]
fn inner_elements<S: Scalar, P: Pack<S>>(
    forces: &Block<S, PAIR>,
    columns: &[[S; LANES]; COLUMN],
    x: &mut [[P; LANES]; KINDS],
) {
    let (h, psi): ([P; 6], [P; 3]) = (read(columns, H, 0), read(columns, PSI, 0));
    let (psi_rate, twice): ([P; 6], [P; 6]) = (read(columns, PSI_RATE, 0), read(columns, TWICE, 0));
    for r in 0..LANES {
        let (u, hat) = (forces.six(BY_QDD, r), forces.three(GYRO, r).to_array());
        x[0][r] = dot(u, psi_rate) + turn(hat, psi);
        x[1][r] = dot(u, twice) + turn(hat, [h[0], h[1], h[2]]);
        x[2][r] = dot(u, h);
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
