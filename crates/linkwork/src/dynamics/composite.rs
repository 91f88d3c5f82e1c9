//! The mass matrix by composite bodies: 𝓜(i,k) = H(i) φ(i,k) r(k) H*(k).  (RK)

use super::paths::{self, Elements};
use super::{abreast, in_line};
use crate::model::{Body, Compiled, Hinge, Placed, Whole};
use crate::scalar::{Pack, Scalar, noughts, put};
use crate::simd::{At, PackedSweep, Sweep};
use crate::spatial::{Articulated, Force, RigidBody};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;

/// 𝓜, dense and row by row. Inward: r(k) = M(k) + Σ φ r(c) φ*; its columns r(k)H*(k) join those of the subtree, which give
/// an element at every joint that they pass on the way to the base: O(n · depth).
pub(crate) struct MassMatrix;
/// Thirty-six numbers: r(k) of a link in a frame on it.
pub(crate) struct CompositeOf;
/// Thirty-six numbers: P(k) of a link in a frame on it.
pub(crate) struct ArticulatedOf;

impl<S: Scalar> Sweep<S> for MassMatrix {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        write_noughts(m, out);
        paths::inward::<S, SPECIAL>(m, s, Whole(m.bodies.len()), Dense { n: m.nv, out });
        add_rotors(m, out);
    }
}

/// Branches side by side, where that saves time: the same 𝓜 to the bit.
impl PackedSweep for MassMatrix {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, at: At<'_>, input: &[f64], out: &mut [f64]) {
        let Some(b) = &m.bundles else {
            let Some(line) = &m.columns.in_line else {
                return Self::run::<true>(m, s, at, input, out);
            };
            in_line::inward::<P>(m, line, s, out);
            return add_rotors(m, out);
        };
        abreast::composites::<P>(m, b, s, out);
        paths::inward::<f64, true>(m, s, &b.trunk[..], Dense { n: m.nv, out });
        add_rotors(m, out);
    }
}

#[inline(always)]
fn write_noughts<S: Scalar>(m: &Compiled, out: &mut [S]) {
    match &m.columns.noughts {
        Some(places) => places.write(out),
        None => noughts(out),
    }
}

#[inline(always)]
pub(super) fn add_rotors<S: Scalar>(m: &Compiled, out: &mut [S]) {
    if m.has_armature {
        for i in 0..m.nv {
            out[i * m.nv + i] += S::lift(m.armature[i]);
        }
    }
}

/// 𝓜 row by row, in the users' order.
struct Dense<'a, S> {
    n: usize,
    out: &'a mut [S],
}

impl<S: Scalar> Dense<'_, S> {
    /// An element, and the one across the diagonal.
    #[inline(always)]
    fn set(&mut self, row: usize, column: usize, x: S) {
        self.out[row * self.n + column] = x;
        self.out[column * self.n + row] = x;
    }

    /// Six elements of a column in rows that follow each other, and those across the diagonal.
    #[inline(always)]
    fn put_six(&mut self, row: usize, column: usize, x: [S; 6]) {
        let n = self.n;
        put(x, &mut self.out[column * n + row..]);
        let across = &mut self.out[row * n + column..][..5 * n + 1];
        for i in 0..6 {
            across[i * n] = x[i];
        }
    }
}

impl<S: Scalar> Elements<S> for Dense<'_, S> {
    #[inline(always)]
    fn put(&mut self, body: &Body, hinge: Hinge, f: Force<S>, column: usize) {
        put_elements(hinge, f, body.v, column, self);
    }

    #[inline(always)]
    fn put_own(&mut self, body: &Body, hinge: Hinge, f: Force<S>, i: usize, _: &Compiled) {
        put_elements(hinge, f, body.v, body.v + i, self);
    }
}

/// H f of a column.
#[inline(always)]
fn put_elements<S: Scalar>(hinge: Hinge, f: Force<S>, v: usize, at: usize, to: &mut Dense<'_, S>) {
    match hinge {
        Hinge::Revolute => to.set(v, at, f.moment.z),
        Hinge::Prismatic => to.set(v, at, f.force.z),
        Hinge::Free => {
            to.put_six(v, at, f.to_array());
        }
        _ => {
            let mut elements = [S::ZERO; 6];
            hinge.project(f, &mut elements);
            for (i, x) in elements.into_iter().enumerate().take(hinge.axes().len()) {
                to.set(v + i, at, x);
            }
        }
    }
}

impl<S: Scalar> Sweep<S> for CompositeOf {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
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
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
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
