//! ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ in O(n²), without forming 𝓜: Algorithm 5 for all columns together, for trees and joints of any
//! kind.
//!
//! A joint of several degrees of freedom is as many joints of one, the first outermost.

use super::write;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::simd::{At, Sweep};
use crate::spatial::{Force, Vec3};
use crate::stage::Stages;
use crate::stage::linear::{
    ARTICULATED, BEYOND, Block, COLUMN, FLOW, FORCE, H, HomeGain, KINDS, LANES, Linear, PSI, PSI_RATE, TERMS, THETA,
    TWICE, bit, bits, blocks, lanes, together,
};

/// Three matrices one after another: ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ = ∂q̈/∂T, each dense and row by row; then room for ε.
///
/// Each column is a change of one q, q̇ or T. Inward, from the link c of the change to the base:
///
/// ```text
/// P̂ = M̂ + Σ τ̄P̂     Ĝ = P̂*H*D⁻¹     z(c) = PΨ̇ + 2P̂Ψ | P(Ψ + Ḣ) + 2P̂H* | 0     ε = δT − Hz     z⁺ = z + Gε
/// ```
///
/// and crf(H*)f joins z⁺(c) of a change of q. Outward, to every link:
///
/// ```text
/// δq̈ = D⁻¹ε − G*λ(p) − 2Ĝ*ϑ(p)     λ = λ(p) + H*δq̈     beyond c:  λ += Ψ̇ | Ψ + Ḣ | 0     ϑ = Ψ | H* | 0
/// ```
pub(crate) struct ForwardDerivatives;

/// Numbers of room for ε.
pub(crate) fn room(nv: usize) -> usize {
    nv * blocks(nv) * KINDS * LANES
}

impl<S: Scalar> Sweep<S> for ForwardDerivatives {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        s.need_gains(m);
        let (out, room) = out.split_at_mut(KINDS * m.nv * m.nv);
        let (eps, _) = room.as_chunks_mut::<LANES>();
        gains_at_home(m, s);
        s.linear.articulate(m);
        inward(m, &mut s.linear, eps);
        outward(m, &mut s.linear, eps, out);
    }
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
                g_hat: Vec3::ZERO,
                d_inv: gain.d_inv,
            };
        }
    }
}

/// z and ε.
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
        let flow = &mut linear.flow[b];
        flow.0[..12].copy_from_slice(&begun.0);
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
                let got = pass_inward(&mut linear.flow[b], &linear.gains[c], inside, begun);
                eps[(c * wide + b) * KINDS..][..KINDS].copy_from_slice(&got);
            }
            eps[(c * wide + c / LANES) * KINDS + 2][c % LANES] = S::ONE;
        }
        if body.dofs > 1 && body.parent.is_some() {
            for c in start..own {
                let (flow, l) = (&mut linear.flow[c / LANES], c % LANES);
                let force = linear.subtrees[c / LANES].force(FORCE, l);
                let z = flow.force(0, l) + linear.gains[c].h.cross_force(force);
                flow.put(0, l, z.to_array());
            }
        }
    }
}

/// What z starts from: PΨ̇ + 2P̂Ψ + crf(H*)f and P(Ψ + Ḣ) + 2P̂H*. As H crf(H*)f is nought for a single degree of freedom,
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

/// δq̈, λ and ϑ.
#[inline(always)]
fn outward<S: Scalar>(m: &Compiled, linear: &mut Linear<S>, eps: &[[S; LANES]], out: &mut [S]) {
    let (n, wide) = (m.nv, blocks(m.nv));
    let trees = m.columns.single.tree_end.first().is_some_and(|end| *end < n);
    if trees {
        out.fill(S::ZERO);
    }
    for (k, body) in m.bodies.iter().enumerate() {
        let (start, end) = (m.columns.single.start[k], m.columns.single.end[k]);
        let first = m.columns.single.start[body.root] / LANES;
        let last = m.columns.single.tree_end[start].div_ceil(LANES);
        let level = m.columns.level[k] * wide;
        linear.enter(m, k);
        match body.parent {
            None => {
                for b in first..last {
                    linear.flow[level + b] = begin(&linear.columns[b]);
                }
            }
            Some(p) if m.columns.level[p] * wide != level => {
                let inner = m.columns.level[p] * wide;
                for b in first..last {
                    linear.flow[level + b] = linear.flow[inner + b];
                }
            }
            Some(_) => {}
        }
        for c in (start..start + body.dofs).rev() {
            let gain = &linear.gains[c];
            for b in first..last {
                let (flow, inner) = (&mut linear.flow[level + b], linear.inner[level + b]);
                let within = start / LANES <= b && b * LANES < end;
                let (eps, lanes) = (&eps[(c * wide + b) * KINDS..][..KINDS], lanes::<S>(b, n));
                let got = match (within, inner != 0) {
                    (true, true) => pass_outward::<S, true, true>(flow, eps, gain, inner, lanes),
                    (true, false) => pass_outward::<S, true, false>(flow, eps, gain, inner, lanes),
                    (false, true) => pass_outward::<S, false, true>(flow, eps, gain, inner, lanes),
                    (false, false) => pass_outward::<S, false, false>(flow, eps, gain, inner, lanes),
                };
                write(m, c, b * LANES, &got, out);
            }
        }
        linear.mark(m, k);
    }
}

/// λ = 0, and beside it what the columns add to it and to ϑ beyond their own joint.
#[inline(always)]
fn begin<S: Scalar>(columns: &Block<S, COLUMN>) -> Block<S, FLOW> {
    let mut flow = Block::ZERO;
    flow.0[BEYOND..BEYOND + 6].copy_from_slice(&columns.0[PSI_RATE..PSI_RATE + 6]);
    flow.0[BEYOND + 6..BEYOND + 12].copy_from_slice(&columns.0[TWICE..TWICE + 6]);
    flow.0[THETA..THETA + 3].copy_from_slice(&columns.0[PSI..PSI + 3]);
    flow.0[THETA + 3..THETA + 6].copy_from_slice(&columns.0[H..H + 3]);
    flow
}

/// δq̈ = D⁻¹ε − G*λ − 2Ĝ*ϑ and λ ← λ + H*δq̈ of the columns of a block. ε is nought but `WITHIN` the subtree; ϑ, and what
/// goes with it, but for the columns of ancestors, which are `INNER`.
#[inline(always)]
fn pass_outward<S: Scalar, const WITHIN: bool, const INNER: bool>(
    flow: &mut Block<S, FLOW>,
    eps: &[[S; LANES]],
    gain: &HomeGain<S>,
    inner: u8,
    lanes: usize,
) -> [[S; LANES]; KINDS] {
    let (mut got, gain) = ([[S::ZERO; LANES]; KINDS], *gain);
    let eps = [eps[0], eps[1], eps[2]];
    for l in 0..lanes {
        let (mut by_q, mut by_qd) = (S::ZERO, S::ZERO);
        if INNER && (together::<S>() || bit(inner, l)) {
            let q = gain.g_hat.dot(flow.three(THETA, l)) + flow.motion(BEYOND, l).dot(gain.g);
            let qd = gain.g_hat.dot(flow.three(THETA + 3, l)) + flow.motion(BEYOND + 6, l).dot(gain.g);
            by_q = if bit(inner, l) { q } else { by_q };
            by_qd = if bit(inner, l) { qd } else { by_qd };
        }
        if WITHIN {
            by_q = (-gain.d_inv).mul_add(eps[0][l], by_q);
            by_qd = (-gain.d_inv).mul_add(eps[1][l], by_qd);
        }
        let by_tau = if WITHIN { -(gain.d_inv * eps[2][l]) } else { S::ZERO };
        got[0][l] = resolve(flow, 0, by_q, &gain, l);
        got[1][l] = resolve(flow, 6, by_qd, &gain, l);
        got[2][l] = resolve(flow, 12, by_tau, &gain, l);
    }
    got
}

/// δq̈ = −known − G*λ and λ ← λ + H*δq̈.
#[inline(always)]
fn resolve<S: Scalar>(flow: &mut Block<S, FLOW>, row: usize, known: S, gain: &HomeGain<S>, l: usize) -> S {
    let lambda = flow.motion(row, l);
    let qdd = -(lambda.dot(gain.g) + known);
    flow.put(row, l, gain.h.mul_add(qdd, lambda).to_array());
    qdd
}
