//! 𝓜⁻¹ directly, in O(n²).  (RK)
//!
//! 𝓜⁻¹ = N* D⁻¹ N with N = I − HψK. On short and bushy mechanisms the factors D and HG come from 𝓜, and an element costs a
//! multiplication per ancestor. On long ones, and where 𝓜 would lose digits, a sweep goes inward, in which the columns of a
//! subtree pass its joint together, and one outward: (I − HψK)*, twelve multiplications per element. [`crate::model`]
//! decides once.
//!
//! A joint of several degrees of freedom is as many joints of one, the first outermost.

use super::columns;
use super::inverse_mass_by_tiles::{Order, Square};
use crate::model::Compiled;
use crate::plan::Tiles;
use crate::scalar::{Builds, Pack, Scalar, zeros};
use crate::spatial::Force;
use crate::stage::Stages;
use crate::stage::linear::{inverse_room, square_room};
use crate::sweep::{At, Known, PackedSweep, Sweep, algorithm, known};

/// 𝓜⁻¹, dense and row by row; where it [is made from 𝓜](is_from_mass), that stands in its place before.
pub(crate) struct MassMatrixInverse;

/// [`MassMatrixInverse`], by the sweeps that are fastest for the mechanism.
pub(crate) const MASS_MATRIX_INVERSE: Known = known!(
    ("mass_matrix_inverse", "𝓜⁻¹", "the inverse of the mass matrix, nv × nv"),
    ["minv"], [Q] -> [Nv, Nv]
);

algorithm! {
    MassMatrixInverse: Inverse with crate::dynamics::composite::MassMatrix, Packed;
}

impl<S: Scalar> Sweep<S> for MassMatrixInverse {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        if let Some(tiles) = by_tiles::<S>(m) {
            return from_mass::<S, S>(m, s, tiles, out);
        }
        s.need_gains(m);
        zeros(out);
        let first = s.scratch.make_room(6 * m.nv);
        columns::innovations::<S, SPECIAL>(m, &s.joints, &s.riccati.gains, &mut s.scratch.tiles[first..], out);
        s.need_columns(m);
        outward(m, s, out);
        columns::complete(m, out, &mut s.scratch.dofs);
    }
}

impl PackedSweep for MassMatrixInverse {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, at: At<'_>, _: &[f64], out: &mut [f64]) {
        match by_tiles::<f64>(m) {
            Some(tiles) => from_mass::<f64, P>(m, s, tiles, out),
            None => Self::run::<true>(m, s, at, &[], out),
        }
    }
}

/// Whether it is made from 𝓜.
#[inline(always)]
pub(crate) fn is_from_mass<S: Scalar>(m: &Compiled) -> bool {
    by_tiles::<S>(m).is_some()
}

/// The tiles, but for dual numbers; what counts operations goes the same way as what it counts.
#[inline(always)]
fn by_tiles<S: Scalar>(m: &Compiled) -> Option<&Tiles> {
    if const { !S::SPECIAL && !matches!(S::BUILDS, Builds::Once) } {
        return None;
    }
    m.columns.tiles.as_ref()
}

/// By elimination, tile by tile.
#[inline(always)]
fn from_mass<S: Scalar, P: Pack<S>>(m: &Compiled, s: &mut Stages<S>, tiles: &Tiles, out: &mut [S]) {
    let (n, dof) = (m.nv, &m.columns.single.dof[..]);
    let first = s.scratch.make_room(inverse_room(m));
    let (square, beside) = s.scratch.tiles[first..].split_at_mut(square_room(n));
    let mut square = Square::new(n, square);
    let order = Order {
        dof,
        in_users_order: m.columns.in_users_order,
        runs: &m.columns.runs,
    };
    square.take::<P>(order, tiles, out);
    for column in 0..n {
        s.linear.set_whole(column, S::lift(tiles.most(column)));
    }
    square.eliminate::<P>(tiles, &mut s.linear.d_inv);
    s.linear.judge(m);
    s.filled.tell_eliminated();
    s.linear.eliminated = false;
    if m.columns.in_users_order {
        return square.invert::<P>(tiles, &s.linear.d_inv, out);
    }
    let inverse = &mut beside[..n * n];
    square.invert::<P>(tiles, &s.linear.d_inv, inverse);
    order.restore::<S, P>(inverse, out);
}

/// Outward in the world's axes at home, where φ is the identity: q̈ = D⁻¹ε − G*λ(p), λ = λ(p) + H*q̈, for the columns not
/// yet known.
#[inline(always)]
fn outward<S: Scalar>(m: &Compiled, s: &mut Stages<S>, out: &mut [S]) {
    gains_at_home(m, s);
    let n = m.nv;
    s.scratch.columns.resize(6 * n * m.columns.levels, S::ZERO);
    let lambda = &mut s.scratch.columns[..];
    for (k, body) in m.bodies.iter().enumerate() {
        let (start, end) = (m.columns.single.start[k], m.columns.single.end[body.root]);
        let level = m.columns.level[k];
        match body.parent {
            None => zeros(&mut lambda[level * 6 * n..(level + 1) * 6 * n]),
            Some(p) if m.columns.level[p] != level => {
                let inner = m.columns.level[p] * 6 * n;
                lambda.copy_within(inner..inner + 6 * n, level * 6 * n);
            }
            Some(_) => {}
        }
        let lambda = &mut lambda[level * 6 * n..(level + 1) * 6 * n];
        for i in (0..body.dofs).rev() {
            let (v, at) = (body.v + i, start + i);
            let (h, g) = (s.world.columns[v].to_array(), s.scratch.forces[v].to_array());
            let d_inv = s.riccati.gains[v].d_inv;
            resolve(h, g, d_inv, lambda, n, start, &mut out[at * n + start..at * n + end]);
        }
    }
}

/// Six rows of one number per column, from column `from` on.
#[inline(always)]
fn rows<S>(block: &mut [S], n: usize, from: usize, len: usize) -> [&mut [S]; 6] {
    let (a, rest) = block.split_at_mut(n);
    let (b, rest) = rest.split_at_mut(n);
    let (c, rest) = rest.split_at_mut(n);
    let (d, rest) = rest.split_at_mut(n);
    let (e, f) = rest.split_at_mut(n);
    let part = from..from + len;
    [
        &mut a[part.clone()],
        &mut b[part.clone()],
        &mut c[part.clone()],
        &mut d[part.clone()],
        &mut e[part.clone()],
        &mut f[part],
    ]
}

/// q̈ = D⁻¹ε − g·λ and λ ← λ + h q̈, column by column; ε is replaced by q̈.
#[inline(always)]
fn resolve<S: Scalar>(h: [S; 6], g: [S; 6], d_inv: S, lambda: &mut [S], n: usize, from: usize, eps: &mut [S]) {
    let [a, b, c, d, e, f] = rows(lambda, n, from, eps.len());
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn step<S: Scalar>(
        h: [S; 6],
        g: [S; 6],
        d_inv: S,
        eps: &mut [S],
        l0: &mut [S],
        l1: &mut [S],
        l2: &mut [S],
        l3: &mut [S],
        l4: &mut [S],
        l5: &mut [S],
    ) {
        for c in 0..eps.len() {
            let known = g[0].mul_add(l0[c], g[1].mul_add(l1[c], g[2] * l2[c]))
                + g[3].mul_add(l3[c], g[4].mul_add(l4[c], g[5] * l5[c]));
            let qdd = d_inv.mul_sub(eps[c], known);
            eps[c] = qdd;
            l0[c] = h[0].mul_add(qdd, l0[c]);
            l1[c] = h[1].mul_add(qdd, l1[c]);
            l2[c] = h[2].mul_add(qdd, l2[c]);
            l3[c] = h[3].mul_add(qdd, l3[c]);
            l4[c] = h[4].mul_add(qdd, l4[c]);
            l5[c] = h[5].mul_add(qdd, l5[c]);
        }
    }
    let l = eps.len();
    step(
        h,
        g,
        d_inv,
        eps,
        &mut a[..l],
        &mut b[..l],
        &mut c[..l],
        &mut d[..l],
        &mut e[..l],
        &mut f[..l],
    );
}

/// G of every degree of freedom in the world's axes, about home.
#[inline(always)]
fn gains_at_home<S: Scalar>(m: &Compiled, s: &mut Stages<S>) {
    for (k, body) in m.bodies.iter().enumerate() {
        let pose = &s.world.poses[k];
        let arm = pose.translation;
        for v in body.v..body.v + body.dofs {
            let g = Force::from_array(s.riccati.gains[v].g);
            let force = pose.rotation * g.force;
            s.scratch.forces[v] = Force {
                moment: pose.rotation * g.moment + arm.cross(force),
                force,
            };
        }
    }
}
