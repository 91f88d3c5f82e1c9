//! 𝓜⁻¹ directly, in O(n²).  (RK)
//!
//! 𝓜⁻¹ = N* D⁻¹ N with N = I − HψK. Row by row of N, inward: the columns of a subtree pass its joint together. Then either
//! the product itself, which costs a multiplication per common ancestor and wins on short and bushy mechanisms, or the
//! outward sweep (I − HψK)*, twelve per element, on long ones. [`crate::model`] decides once.
//!
//! A joint of several degrees of freedom is as many joints of one, the first outermost.

use crate::model::{Compiled, Gain};
use crate::scalar::Scalar;
use crate::simd::{At, Sweep};
use crate::spatial::Force;
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};

/// 𝓜⁻¹, dense and row by row.
pub(crate) struct MassMatrixInverse;

impl<S: Scalar> Sweep<S> for MassMatrixInverse {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        s.need_gains(m);
        out.fill(S::ZERO);
        innovations(m, s, out);
        if m.columns.product {
            multiply(m, &s.riccati.gains, out);
        } else {
            s.need_columns(m);
            outward(m, s, out);
        }
        mirror(m.nv, out);
        if !m.columns.in_users_order {
            reorder(&m.columns.dof, out, &mut s.dofs);
        }
    }
}

/// Copies the upper triangle to the lower.
#[inline(always)]
fn mirror<S: Scalar>(n: usize, out: &mut [S]) {
    for i in 0..n {
        let (upper, lower) = out.split_at_mut((i + 1) * n);
        let row = &upper[i * n + i + 1..];
        for (x, below) in row.iter().zip(lower.chunks_exact_mut(n)) {
            below[i] = *x;
        }
    }
}

/// Rows of N, in the order of columns. Inward, for T = 1 at each column: ε = T − Hz, z⁺ = z + Gε.
#[inline(always)]
fn innovations<S: Scalar>(m: &Compiled, s: &mut Stages<S>, out: &mut [S]) {
    let (bodies, joints, n) = (&m.bodies[..], &s.joints, m.nv);
    for k in (0..bodies.len()).rev() {
        let body = &bodies[k];
        let (start, end) = (m.columns.start[k], m.columns.end[k]);
        let gains = &s.riccati.gains[body.v..];
        let z = &mut s.forces[start..end];
        at_joint!(bodies, joints, k, joint => {
            for i in 0..body.dofs {
                let row = &mut out[(start + i) * n + start..(start + i) * n + end];
                let g = Force::from_array(gains[i].g);
                // Columns of this joint that have not started yet are nought and stay so.
                z[i..body.dofs].fill(Force::ZERO);
                joint.hinge().innovate_columns(i, g, z, row);
                row[i] = S::ONE;
                z[i] = g;
            }
            if body.parent.is_some() {
                for z in z.iter_mut() {
                    *z = joint.force_in(*z);
                }
            }
        });
    }
}

/// N → N*D⁻¹N in place: row u is a sum of the rows of u and its ancestors, which are still those of N.
#[inline(always)]
fn multiply<S: Scalar>(m: &Compiled, gains: &[Gain<S>], out: &mut [S]) {
    let n = m.nv;
    for (k, body) in m.bodies.iter().enumerate().rev() {
        let start = m.columns.start[k];
        let len = m.columns.tree_end[k] - start;
        for i in 0..body.dofs {
            let u = start + i;
            let d_inv = gains[body.v + i].d_inv;
            for x in &mut out[u * n + start..u * n + start + len] {
                *x = *x * d_inv;
            }
            // Inner degrees of freedom of the same joint, then the ancestors' four by four.
            for j in i + 1..body.dofs {
                let row = start + j;
                let weight = out[row * n + u] * gains[body.v + j].d_inv;
                add_row(weight, out, row * n + start, u * n + start, len);
            }
            let (inner, own) = out.split_at_mut(u * n);
            let row = &mut own[start..start + len];
            let mut four = [(S::ZERO, start); 4];
            let mut waiting = 0;
            let mut next = body.parent;
            while let Some(p) = next {
                let ancestor = &m.bodies[p];
                for j in 0..ancestor.dofs {
                    let at = (m.columns.start[p] + j) * n;
                    four[waiting] = (inner[at + u] * gains[ancestor.v + j].d_inv, at + start);
                    waiting += 1;
                    if waiting == 4 {
                        add_four_rows(four, inner, row);
                        waiting = 0;
                    }
                }
                next = ancestor.parent;
            }
            for &(weight, from) in &four[..waiting] {
                for (t, x) in row.iter_mut().zip(&inner[from..from + len]) {
                    *t = weight.mul_add(*x, *t);
                }
            }
        }
    }
}

/// Adds four rows, each with its weight.
#[inline(always)]
fn add_four_rows<S: Scalar>(rows: [(S, usize); 4], x: &[S], out: &mut [S]) {
    let n = out.len();
    let [(p, a), (q, b), (r, c), (s, d)] = rows;
    let (a, b, c, d) = (&x[a..a + n], &x[b..b + n], &x[c..c + n], &x[d..d + n]);
    for i in 0..n {
        out[i] = p.mul_add(a[i], q.mul_add(b[i], r.mul_add(c[i], s.mul_add(d[i], out[i]))));
    }
}

/// x[to + c] += weight · x[from + c].
#[inline(always)]
fn add_row<S: Scalar>(weight: S, x: &mut [S], from: usize, to: usize, len: usize) {
    let (low, high) = x.split_at_mut(from.max(to));
    let (source, target) = if from < to {
        (&low[from..from + len], &mut high[..len])
    } else {
        (&high[..len], &mut low[to..to + len])
    };
    for (t, s) in target.iter_mut().zip(source) {
        *t = weight.mul_add(*s, *t);
    }
}

/// Outward in the world's axes at home, where φ is the identity: q̈ = D⁻¹ε − G*λ(p), λ = λ(p) + H*q̈, for the columns not
/// yet known.
#[inline(always)]
fn outward<S: Scalar>(m: &Compiled, s: &mut Stages<S>, out: &mut [S]) {
    gains_at_home(m, s);
    let n = m.nv;
    s.columns.resize(6 * n * m.columns.levels, S::ZERO);
    let lambda = &mut s.columns[..];
    for (k, body) in m.bodies.iter().enumerate() {
        let (start, end) = (m.columns.start[k], m.columns.tree_end[k]);
        let level = m.columns.level[k];
        match body.parent {
            None => lambda[level * 6 * n..(level + 1) * 6 * n].fill(S::ZERO),
            Some(p) if m.columns.level[p] != level => {
                let inner = m.columns.level[p] * 6 * n;
                lambda.copy_within(inner..inner + 6 * n, level * 6 * n);
            }
            Some(_) => {}
        }
        let lambda = &mut lambda[level * 6 * n..(level + 1) * 6 * n];
        for i in (0..body.dofs).rev() {
            let (v, at) = (body.v + i, start + i);
            let (h, g) = (s.world.columns[v].to_array(), s.forces[v].to_array());
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

/// Rows and columns of a symmetric matrix from the compiled order to the users'.
fn reorder<S: Scalar>(dof: &[usize], out: &mut [S], row: &mut [S]) {
    let n = dof.len();
    for turn in 0..2 {
        for i in 0..n {
            row.copy_from_slice(&out[i * n..(i + 1) * n]);
            for (x, &v) in row.iter().zip(dof) {
                out[i * n + v] = *x;
            }
        }
        if turn == 0 {
            for i in 0..n {
                for j in 0..i {
                    out.swap(i * n + j, j * n + i);
                }
            }
        }
    }
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
            s.forces[v] = Force {
                moment: pose.rotation * g.moment + arm.cross(force),
                force,
            };
        }
    }
}
