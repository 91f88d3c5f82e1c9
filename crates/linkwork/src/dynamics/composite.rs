//! The mass matrix by composite bodies: 𝓜(i,k) = H(i) φ(i,k) r(k) H*(k).  (RK)

use super::columns;
use crate::model::{Compiled, Placed};
use crate::scalar::{Pack, Scalar};
use crate::simd::{At, PackedSweep, Sweep};
use crate::spatial::{Articulated, RigidBody};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;

/// 𝓜, dense and row by row.
pub(crate) struct MassMatrix;
/// Thirty-six numbers: r(k) of a link in a frame on it.
pub(crate) struct CompositeOf;
/// Thirty-six numbers: P(k) of a link in a frame on it.
pub(crate) struct ArticulatedOf;

impl<S: Scalar> Sweep<S> for MassMatrix {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        let layout = &m.columns.single;
        out.fill(S::ZERO);
        s.make_room(6 * layout.width);
        columns::composite::<S, S>(m, &s.joints, &mut s.waiting, layout, &mut s.tiles, out);
        columns::complete(m, out, &mut s.dofs);
    }
}

impl PackedSweep for MassMatrix {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, at: At<'_>, _: &[f64], out: &mut [f64]) {
        let Some(layout) = &m.columns.packed else {
            return Self::run(m, s, at, &[], out);
        };
        s.make_room((6 + layout.width) * layout.width);
        let (room, rows) = s.tiles.split_at_mut(6 * layout.width);
        columns::composite::<f64, P>(m, &s.joints, &mut s.waiting, layout, room, rows);
        if !m.is_chain {
            out.fill(0.0);
        }
        columns::symmetric::<f64, P>(m.nv, layout, &layout.end_at, rows, out);
    }
}

impl<S: Scalar> Sweep<S> for CompositeOf {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
        let mut inflow = Inflow::<S, RigidBody<S>>::new(&mut s.waiting);
        for k in (0..m.bodies.len()).rev() {
            let body = &m.bodies[k];
            let r = inflow.gather(body, body.inertia.lift::<S>());
            s.composite[k] = r;
            if body.parent.is_some() {
                at_joint!(m.bodies, s.joints, k, joint => inflow.hand_in(body, joint.carry_rigid_in(r)));
            }
        }
        if let Some(k) = at.frame.body {
            write_in_frame(s.composite[k].into(), at.frame, out);
        }
    }
}

impl<S: Scalar> Sweep<S> for ArticulatedOf {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
        s.need_riccati(m);
        if let Some(k) = at.frame.body {
            write_in_frame(s.riccati.p[k], at.frame, out);
        }
    }
}

/// An inertia in the compiled frame of a link, seen from a frame on it.
#[inline(always)]
fn write_in_frame<S: Scalar>(inertia: Articulated<S>, frame: &Placed, out: &mut [S]) {
    let rows = inertia.through(&frame.pose.inverse().lift()).to_rows();
    for (i, row) in rows.iter().enumerate() {
        out[6 * i..6 * i + 6].copy_from_slice(row);
    }
}
