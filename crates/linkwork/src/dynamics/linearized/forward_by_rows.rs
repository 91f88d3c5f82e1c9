//! ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ in O(n²) however long the mechanism: Algorithm 5 for all columns together.
//!
//! ε = −N ∂T/∂q | −N ∂T/∂q̇ | N with N = I − HψK, row by row. A column is a change of one q, q̇ or T; it is zero at rows
//! of other branches. Inward, from the link k of the change to the base:
//!
//! ```text
//! P̂ = M̂ + Σ τ̄P̂     z(k) = PΨ̇ + 2P̂Ψ | P(Ψ + Ḣ) + 2P̂H* | 0     ε = δT − Hz     z⁺ = z + Gε
//! ```
//!
//! and crf(H*)f joins z⁺(k) of a change of q. Beyond its link, at c:
//!
//! ```text
//! ε(c, k) = −[PH*](c)·Ψ̇(k) − [2P̂*H*](c)·Ψ(k) | −[PH*](c)·(Ψ + Ḣ)(k) − [2P̂*H*](c)·H*(k) | 0
//! ```
//!
//! Then N*D⁻¹ε by an outward sweep, twelve operations per element.

use super::write;
use crate::model::Compiled;
use crate::scalar::{Scalar, put};
use crate::spatial::{Force, Vec3};
use crate::stage::Stages;
use crate::stage::linear::{
    ARTICULATED, Block, COLUMN, FLOW, FORCE, H, HomeGain, KINDS, LANES, Linear, PSI, PSI_RATE, TERMS, TWICE, bit, bits,
    blocks, lanes, together,
};

/// The matrices. A joint of several degrees of freedom is as many joints of one, the first outermost.
#[inline(always)]
pub(super) fn sweep<S: Scalar>(m: &Compiled, s: &mut Stages<S>, eps: &mut [[S; LANES]], out: &mut [S]) {
    gains_at_home(m, s);
    let linear = &mut s.linear;
    linear.articulate(m);
    inward(m, linear, eps);
    beyond(m, linear, eps);
    outward(m, linear, eps, out);
}

/// G and D⁻¹ of every degree of freedom, in the world's axes at home.
#[inline(always)]
fn gains_at_home<S: Scalar>(m: &Compiled, s: &mut Stages<S>) {
    for (k, body) in m.bodies.iter().enumerate() {
        let pose = &s.world.poses[k];
        for i in 0..body.dofs {
            let gain = &s.riccati.gains[body.v + i];
            let local = Force::from_array(gain.g);
            let force = pose.rotation * local.force;
            let moment = pose.rotation * local.moment + pose.translation.cross(force);
            s.linear.gains[m.columns.single.start[k] + i] = HomeGain {
                h: s.world.columns[body.v + i],
                g: Force { moment, force },
                ph: Force::ZERO,
                ph_hat: Vec3::ZERO,
                d_inv: gain.d_inv,
            };
        }
    }
}

/// z, and ε from every column's own link to the base.
#[inline(always)]
fn inward<S: Scalar>(m: &Compiled, linear: &mut Linear<S>, eps: &mut [[S; LANES]]) {
    let wide = blocks(m.nv);
    for b in 0..wide {
        let begun = start(
            &linear.columns[b],
            &linear.articulated[b],
            &linear.subtrees[b],
            linear.single[b],
            lanes::<S>(b, m.nv),
        );
        let flow = &mut linear.scratch.flow[b];
        put(begun.0, &mut flow.0);
        for (l, gain) in linear.gains[b * LANES..].iter().take(LANES).enumerate() {
            flow.put(12, l, gain.g.to_array());
        }
    }
    for (k, body) in m.bodies.iter().enumerate().rev() {
        let (start, end) = (m.columns.single.start[k], m.columns.single.end[k]);
        let own = start + body.dofs;
        for c in start..own {
            for b in start / LANES..end.div_ceil(LANES) {
                // Columns of T begin one by one, those of q and q̇ with the joint.
                let inside = bits(b, start, end);
                let begun = inside & !bits(b, c, own);
                let got = pass_inward(&mut linear.scratch.flow[b], &linear.gains[c], inside, begun);
                put(got, &mut eps[(c * wide + b) * KINDS..]);
            }
            eps[(c * wide + c / LANES) * KINDS + 2][c % LANES] = S::ONE;
        }
        if body.dofs > 1 && body.parent.is_some() {
            for c in start..own {
                let (flow, l) = (&mut linear.scratch.flow[c / LANES], c % LANES);
                let force = linear.subtrees[c / LANES].force(FORCE, l);
                let z = flow.force(0, l) + linear.gains[c].h.cross_force(force);
                flow.put(0, l, z.to_array());
            }
        }
    }
}

/// What z starts from: PΨ̇ + 2P̂Ψ + crf(H*)f and P(Ψ + Ḣ) + 2P̂H*. As H crf(H*)f is zero for a single degree of freedom,
/// such joints have it from the start, others when z has passed them.
#[inline(always)]
fn start<S: Scalar>(
    columns: &Block<S, COLUMN>,
    articulated: &Block<S, ARTICULATED>,
    subtrees: &Block<S, TERMS>,
    single: u8,
    lanes: usize,
) -> Block<S, 12> {
    let mut out = Block::ZERO;
    for l in 0..lanes {
        let (p, hat, h) = (articulated.p(l), articulated.hat(l), columns.motion(H, l));
        let by_q = p.times(columns.motion(PSI_RATE, l)) + hat.times(columns.three(PSI, l));
        let by_qd = p.times(columns.motion(TWICE, l)) + hat.times(h.angular);
        let turned = (by_q + h.cross_force(subtrees.force(FORCE, l))).to_array();
        let by_q = by_q.to_array();
        for i in 0..6 {
            out.0[i][l] = if bit(single, l) { turned[i] } else { by_q[i] };
        }
        out.put(6, l, by_qd.to_array());
    }
    out
}

/// ε = −Hz and z ← z + Gε of some columns of a block: `inside` for changes of q and q̇, `begun` for those of T. Kind by
/// kind, written out: a loop inside would keep the columns from being taken together.
#[inline(always)]
fn pass_inward<S: Scalar>(z: &mut Block<S, FLOW>, gain: &HomeGain<S>, inside: u8, begun: u8) -> [[S; LANES]; KINDS] {
    let (mut got, gain) = ([[S::ZERO; LANES]; KINDS], *gain);
    for l in 0..LANES {
        if !together::<S>() && !bit(inside, l) {
            continue;
        }
        got[0][l] = innovate(z, 0, &gain, inside, l);
        got[1][l] = innovate(z, 6, &gain, inside, l);
        got[2][l] = innovate(z, 12, &gain, begun, l);
    }
    got
}

/// [`pass_inward`] of one kind and column. Other branches may share the block.
#[inline(always)]
fn innovate<S: Scalar>(z: &mut Block<S, FLOW>, row: usize, gain: &HomeGain<S>, inside: u8, l: usize) -> S {
    if !together::<S>() && !bit(inside, l) {
        return S::ZERO;
    }
    let before = z.force(row, l);
    let eps = -gain.h.dot(before);
    let eps = if bit(inside, l) { eps } else { S::ZERO };
    z.put(row, l, gain.g.mul_add(eps, before).to_array());
    eps
}

/// ε beyond the columns' own links, and zeros at the rows of other branches.
#[inline(always)]
fn beyond<S: Scalar>(m: &Compiled, linear: &mut Linear<S>, eps: &mut [[S; LANES]]) {
    let wide = blocks(m.nv);
    for (k, body) in m.bodies.iter().enumerate() {
        let (start, end) = (m.columns.single.start[k], m.columns.single.end[k]);
        let (first, last, level) = (start / LANES, end.div_ceil(LANES), m.columns.level[k] * wide);
        linear.enter(m, k);
        for c in start..start + body.dofs {
            let gain = &linear.gains[c];
            for b in 0..wide {
                let inner = linear.scratch.inner[level + b];
                let row = &mut eps[(c * wide + b) * KINDS..][..KINDS];
                let within = first <= b && b < last;
                if inner != 0 {
                    let got = answer(&linear.columns[b], gain, inner);
                    for kind in 0..2 {
                        for l in 0..LANES {
                            let before = if within { row[kind][l] } else { S::ZERO };
                            row[kind][l] = if bit(inner, l) { got[kind][l] } else { before };
                        }
                    }
                } else if !within {
                    row[0] = [S::ZERO; LANES];
                    row[1] = [S::ZERO; LANES];
                }
                if !within {
                    row[2] = [S::ZERO; LANES];
                }
            }
        }
        linear.mark(m, k);
    }
}

/// −[PH*]·Ψ̇ − [2P̂*H*]·Ψ and −[PH*]·(Ψ + Ḣ) − [2P̂*H*]·H* with the columns of ancestors, which are `inner`.
#[inline(always)]
fn answer<S: Scalar>(columns: &Block<S, COLUMN>, gain: &HomeGain<S>, inner: u8) -> [[S; LANES]; 2] {
    let (mut got, hat) = ([[S::ZERO; LANES]; 2], -gain.ph_hat);
    let ph = Force {
        moment: -gain.ph.moment,
        force: -gain.ph.force,
    };
    for l in 0..LANES {
        if !together::<S>() && !bit(inner, l) {
            continue;
        }
        got[0][l] = hat.dot(columns.three(PSI, l)) + columns.motion(PSI_RATE, l).dot(ph);
        got[1][l] = hat.dot(columns.three(H, l)) + columns.motion(TWICE, l).dot(ph);
    }
    got
}

/// N*D⁻¹ε by a sweep: δq̈ = D⁻¹ε − G*λ(p), λ = λ(p) + H*δq̈.
#[inline(always)]
fn outward<S: Scalar>(m: &Compiled, linear: &mut Linear<S>, eps: &[[S; LANES]], out: &mut [S]) {
    let wide = blocks(m.nv);
    for (k, body) in m.bodies.iter().enumerate() {
        let (start, level) = (m.columns.single.start[k], m.columns.level[k] * wide);
        match body.parent {
            None => linear.scratch.flow[level..level + wide].fill(Block::ZERO),
            Some(p) if m.columns.level[p] * wide != level => {
                let inner = m.columns.level[p] * wide;
                linear.scratch.flow.copy_within(inner..inner + wide, level);
            }
            Some(_) => {}
        }
        for c in (start..start + body.dofs).rev() {
            for b in 0..wide {
                let eps = &eps[(c * wide + b) * KINDS..][..KINDS];
                let got = pass_outward(
                    &mut linear.scratch.flow[level + b],
                    eps,
                    &linear.gains[c],
                    lanes::<S>(b, m.nv),
                );
                write(m, c, b * LANES, &got, out);
            }
        }
    }
}

/// δq̈ = D⁻¹ε − G*λ and λ ← λ + H*δq̈ of the columns of a block.
#[inline(always)]
fn pass_outward<S: Scalar>(
    flow: &mut Block<S, FLOW>,
    eps: &[[S; LANES]],
    gain: &HomeGain<S>,
    lanes: usize,
) -> [[S; LANES]; KINDS] {
    let (mut got, gain) = ([[S::ZERO; LANES]; KINDS], *gain);
    let eps = [eps[0], eps[1], eps[2]];
    for l in 0..lanes {
        got[0][l] = resolve(flow, 0, eps[0][l], &gain, l);
        got[1][l] = resolve(flow, 6, eps[1][l], &gain, l);
        got[2][l] = resolve(flow, 12, eps[2][l], &gain, l);
    }
    got
}

/// [`pass_outward`] of one kind and column.
#[inline(always)]
fn resolve<S: Scalar>(flow: &mut Block<S, FLOW>, row: usize, eps: S, gain: &HomeGain<S>, l: usize) -> S {
    let lambda = flow.motion(row, l);
    let qdd = gain.d_inv.mul_sub(eps, lambda.dot(gain.g));
    flow.put(row, l, gain.h.mul_add(qdd, lambda).to_array());
    qdd
}
