//! ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ without forming or inverting 𝓜, for trees and joints of any kind.
//!
//! A joint of several degrees of freedom is as many joints of one, the first outermost.

use super::inverse::{BY_Q, BY_QD, Row, all_terms};
use super::product::{Three, Two, place};
use super::{long, product};
use crate::model::Compiled;
use crate::scalar::{Builds, Pack, Scalar};
use crate::simd::{At, PackedSweep, Sweep};
use crate::spatial::{Force, Vec3};
use crate::stage::Stages;
use crate::stage::linear::{H, HomeGain, KINDS, LANES, Linear, PSI, PSI_RATE, TWICE, bits, blocks};

/// Three matrices one after another: ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ = ∂q̈/∂T, each dense and row by row; then room.
///
/// With N = I − HψK they are −N*D⁻¹N ∂T/∂q, −N*D⁻¹N ∂T/∂q̇ and N*D⁻¹N. All factors are nought between branches, and are
/// multiplied tile by tile. Where a mechanism is so long that a sweep over columns costs less, that is done.
pub(crate) struct ForwardDerivatives;

/// Numbers of room: N, two kinds of ∂T and three of ε, in whole tiles; or ε alone; and what aligns them.
pub(crate) fn room(m: &Compiled) -> usize {
    let width = blocks(m.nv) * LANES;
    LINE + match m.columns.tiles {
        Some(_) => 6 * width * width,
        None => KINDS * m.nv * width,
    }
}

/// Numbers in a line of the cache.
const LINE: usize = 8;

impl<S: Scalar> Sweep<S> for ForwardDerivatives {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        derivatives::<S, S>(m, s, out);
    }
}

impl PackedSweep for ForwardDerivatives {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, _: At<'_>, _: &[f64], out: &mut [f64]) {
        derivatives::<f64, P>(m, s, out);
    }
}

#[inline(always)]
fn derivatives<S: Scalar, P: Pack<S>>(m: &Compiled, s: &mut Stages<S>, out: &mut [S]) {
    let n = m.nv;
    s.need_gains(m);
    gains_at_home(m, s);
    let (out, room) = out.split_at_mut(KINDS * n * n);
    let first = room.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
    let room = &mut room[first..];
    let tiles = match &m.columns.tiles {
        // Where operations count, and where numbers are slow, the sweep is as good.
        Some(tiles) if const { S::SPECIAL && !matches!(S::BUILDS, Builds::Once) } => tiles,
        _ => {
            let (eps, _) = room.as_chunks_mut::<LANES>();
            return long::sweep(m, &mut s.linear, eps, out);
        }
    };
    let size = blocks(n) * blocks(n) * LANES * LANES;
    let (rows, room) = room.split_at_mut(size);
    let (dt, room) = room.split_at_mut(2 * size);
    let (dt, eps) = (dt.as_chunks_mut().0, room[..3 * size].as_chunks_mut().0);
    let (dt, eps) = (dt.as_chunks_mut().0, eps.as_chunks_mut().0);
    torque_rows::<S, P>(m, &mut s.linear, dt);
    innovations::<S, P>(m, &mut s.linear, rows, eps);
    product::inward::<S, P>(n, tiles, rows, dt, eps);
    s.columns.resize(LANES * n, S::ZERO);
    let (weights, _) = s.columns.as_chunks_mut();
    product::outward::<S, P>(m, tiles, &s.linear.gains, eps, weights, out);
}

/// Rows of ∂T/∂q and ∂T/∂q̇, where they are not nought.
#[inline(always)]
fn torque_rows<S: Scalar, P: Pack<S>>(m: &Compiled, linear: &mut Linear<S>, dt: &mut [Two<S>]) {
    let wide = blocks(m.nv);
    all_terms(m, linear);
    for (k, body) in m.bodies.iter().enumerate() {
        let (start, end) = (m.columns.single.start[k], m.columns.single.end[k]);
        let (own, level) = (start + body.dofs, m.columns.level[k] * wide);
        linear.enter(m, k);
        linear.mark(m, k);
        for c in start..own {
            let row = Row::of(&linear.columns[c / LANES], &linear.pairs[c / LANES], c % LANES);
            let (h, r, gyro) = (row.h.to_array(), row.r.to_array(), row.gyro.to_array());
            for b in 0..end.div_ceil(LANES) {
                let (inner, outer) = (linear.inner[level + b], bits(b, own, end));
                let (columns, pairs, out) = (&linear.columns[b].0, &linear.pairs[b].0, &mut dt[c * wide + b]);
                for l in (0..LANES).step_by(P::COLUMNS) {
                    let here = bits(0, 0, P::COLUMNS);
                    let (inner, outer) = ((inner >> l) & here, (outer >> l) & here);
                    let (mut by_q, mut by_qd) = (P::ZERO, P::ZERO);
                    if outer != 0 {
                        by_q = dot::<S, P>(h, read(pairs, BY_Q, l)).keep(outer);
                        by_qd = dot::<S, P>(h, read(pairs, BY_QD, l)).keep(outer);
                    }
                    if inner != 0 {
                        let q = dot::<S, P>(r, read(columns, PSI_RATE, l)) + turn(gyro, read(columns, PSI, l));
                        let qd = dot::<S, P>(r, read(columns, TWICE, l)) + turn(gyro, read(columns, H, l));
                        by_q += q.keep(inner);
                        by_qd += qd.keep(inner);
                    }
                    by_q.write(&mut out[0][l..]);
                    by_qd.write(&mut out[1][l..]);
                }
            }
        }
    }
}

/// Rows of N. Inward, for T = 1 at each column: ε = T − Hz, z⁺ = z + Gε; z is nought before a column begins.
#[inline(always)]
fn innovations<S: Scalar, P: Pack<S>>(m: &Compiled, linear: &mut Linear<S>, rows: &mut [S], kinds: &mut [Three<S>]) {
    let (wide, width) = (blocks(m.nv), blocks(m.nv) * LANES);
    for z in &mut linear.flow[..blocks(m.nv)] {
        for row in &mut z.0[..6] {
            *row = [S::ZERO; LANES];
        }
    }
    for (k, body) in m.bodies.iter().enumerate().rev() {
        let (start, end) = (m.columns.single.start[k], m.columns.single.end[k]);
        let first = start / P::COLUMNS * P::COLUMNS;
        for c in start..start + body.dofs {
            let gain = &linear.gains[c];
            let (h, g) = (gain.h.to_array(), gain.g.to_array());
            let row = &mut rows[c * width..(c + 1) * width];
            let kinds = &mut kinds[c * wide..(c + 1) * wide];
            for block in (0..width).step_by(P::COLUMNS) {
                let kind = &mut kinds[block / LANES][2];
                if block < first || block >= end {
                    P::ZERO.write(&mut row[block..]);
                    P::ZERO.write(&mut kind[place::<S, P>(block)..]);
                    continue;
                }
                let (z, place) = (&mut linear.flow[block / LANES].0, place::<S, P>(block));
                let before: [P; 6] = read(z, 0, place);
                let mut eps = -dot(h, before);
                if let Some(own) = P::one_at(c, block) {
                    eps += own;
                }
                if block + P::COLUMNS > end {
                    // What follows in the register belongs to other branches.
                    eps = eps.keep(bits(block / LANES, 0, end));
                }
                for i in 0..6 {
                    P::spread(g[i]).mul_add(eps, before[i]).write(&mut z[i][place..]);
                }
                eps.write(&mut row[block..]);
                eps.write(&mut kind[place..]);
            }
        }
    }
}

/// Some rows of a block, from `row` on.
#[inline(always)]
fn read<S: Scalar, P: Pack<S>, const N: usize>(block: &[[S; LANES]], row: usize, place: usize) -> [P; N] {
    let (mut some, block) = ([P::ZERO; N], &block[row..row + N]);
    for i in 0..N {
        some[i] = P::read(&block[i][place..]);
    }
    some
}

#[inline(always)]
fn turn<S: Scalar, P: Pack<S>>(x: [S; 3], y: [P; 3]) -> P {
    P::spread(x[0]).mul_add(y[0], P::spread(x[1]).mul_add(y[1], P::spread(x[2]) * y[2]))
}

#[inline(always)]
fn dot<S: Scalar, P: Pack<S>>(x: [S; 6], y: [P; 6]) -> P {
    turn([x[0], x[1], x[2]], [y[0], y[1], y[2]]) + turn([x[3], x[4], x[5]], [y[3], y[4], y[5]])
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
