//! J𝓜⁻¹J* of several frames as a matrix, from Υ.  (SOA 5)
//!
//! Block (i, j) is B_i* ψ*(a, i) Υ(a) ψ(a, j) B_j, a the closest common ancestor of the two links, and zero where there is
//! none: after the recursion of Υ, O(depth) for each pair of frames.

use super::run::{Known, Memory, times_upsilon};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Pose};
use crate::stage::crossing::Crossing;

/// Fills the matrix, a multiple of it, row by row.
pub(crate) fn compliance<S: Scalar>(
    m: &Compiled,
    known: &Known<'_, S>,
    memory: &Memory<S>,
    tips: &[(Option<usize>, Pose<S>)],
    scale: f64,
    out: &mut [S],
) {
    let width = 6 * tips.len();
    out.fill(S::ZERO);
    for (j, (at, from)) in tips.iter().enumerate() {
        for (i, (to, seen)) in tips.iter().enumerate() {
            let (Some(start), Some(end)) = (*at, *to) else { continue };
            let Some(meeting) = common(m, start, end) else {
                continue;
            };
            for column in 0..6 {
                let mut unit = [S::ZERO; 6];
                unit[column] = S::lift(scale);
                let f = inward(m, known, start, meeting, from.force_in(Force::from_array(unit)));
                let v = times_upsilon(&memory.upsilon[meeting], f);
                let v = seen.motion_out(outward(m, known, meeting, end, v)).to_array();
                for row in 0..6 {
                    out[(6 * i + row) * width + 6 * j + column] = v[row];
                }
            }
        }
    }
}

/// The closest link that carries both, if any does.
fn common(m: &Compiled, a: usize, b: usize) -> Option<usize> {
    let (mut a, mut b) = (a, b);
    // Parents come before their children: the later of the two moves in.
    while a != b {
        if a > b {
            a = m.bodies[a].parent?;
        } else {
            b = m.bodies[b].parent?;
        }
    }
    Some(a)
}

/// ψ(a, k) f.
fn inward<S: Scalar>(m: &Compiled, known: &Known<'_, S>, k: usize, a: usize, f: Force<S>) -> Force<S> {
    let (mut k, mut f) = (k, f);
    while k != a {
        let body = &m.bodies[k];
        let (at, joint) = known.at(body, k);
        f = joint.force_in(at.tau_bar(f));
        k = match body.parent {
            Some(p) => p,
            None => return f,
        };
    }
    f
}

/// ψ*(a, k) v.
fn outward<S: Scalar>(m: &Compiled, known: &Known<'_, S>, a: usize, k: usize, v: Motion<S>) -> Motion<S> {
    let Some(p) = m.bodies[k].parent.filter(|_| k != a) else {
        return v;
    };
    let v = outward(m, known, a, p, v);
    let (at, joint) = known.at(&m.bodies[k], k);
    at.tau_bar_star(joint.motion_out(v))
}
