//! The mass matrix by composite bodies: 𝓜(i,k) = H(i) φ(i,k) r(k) H*(k).  (RK)

use crate::model::{Compiled, Placed};
use crate::scalar::Scalar;
use crate::simd::{At, Sweep};
use crate::spatial::{Articulated, RigidBody};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;

/// 𝓜, dense and row by row. Inward: r(k) = M(k) + Σ φ r(c) φ*; its columns r(k)H*(k) join those of the subtree, which give
/// an element at every joint that they pass on the way to the base: O(n · depth).
pub(crate) struct MassMatrix;
/// The elements of 𝓜 that are not nought, in the order of [`crate::Mechanism::mass_pattern`].
pub(crate) struct MassEntries;
/// Thirty-six numbers: r(k) of a link in a frame on it.
pub(crate) struct CompositeOf;
/// Thirty-six numbers: P(k) of a link in a frame on it.
pub(crate) struct ArticulatedOf;

impl<S: Scalar> Sweep<S> for MassMatrix {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        if !m.is_chain {
            out.fill(S::ZERO);
        }
        elements(m, s, Dense { n: m.nv, out });
        if m.has_armature {
            for i in 0..m.nv {
                out[i * m.nv + i] += S::lift(m.armature[i]);
            }
        }
    }
}

impl<S: Scalar> Sweep<S> for MassEntries {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        let (rows, dofs) = (&m.columns.rows[..], &m.columns.single.dof);
        elements(m, s, Entries { rows, out });
        if m.has_armature {
            for (&first, &dof) in rows.iter().zip(dofs) {
                out[first] += S::lift(m.armature[dof]);
            }
        }
    }
}

/// Where elements of 𝓜 go: that of a row and a column in the order of single columns, or in the users'.
trait Elements<S> {
    /// That of two columns, of which the second is in the subtree of the first's joint.
    fn put(&mut self, columns: [usize; 2], users: [usize; 2], x: S);
}

struct Dense<'a, S> {
    n: usize,
    out: &'a mut [S],
}

struct Entries<'a, S> {
    rows: &'a [usize],
    out: &'a mut [S],
}

impl<S: Scalar> Elements<S> for Dense<'_, S> {
    #[inline(always)]
    fn put(&mut self, _: [usize; 2], [row, column]: [usize; 2], x: S) {
        self.out[row * self.n + column] = x;
        self.out[column * self.n + row] = x;
    }
}

impl<S: Scalar> Elements<S> for Entries<'_, S> {
    #[inline(always)]
    fn put(&mut self, [row, column]: [usize; 2], _: [usize; 2], x: S) {
        if column >= row {
            self.out[self.rows[row] + (column - row)] = x;
        }
    }
}

/// H(i) φ(i,k) r(k) H*(k) of all pairs, but for armatures.
#[inline(always)]
fn elements<S: Scalar>(m: &Compiled, s: &mut Stages<S>, mut to: impl Elements<S>) {
    let (bodies, joints, layout) = (&m.bodies[..], &s.joints, &m.columns.single);
    let mut inflow = Inflow::<S, RigidBody<S>>::new(&mut s.waiting);
    for k in (0..bodies.len()).rev() {
        let body = &bodies[k];
        let (start, end) = (layout.start[k], layout.end[k]);
        let (columns, dofs) = (&mut s.forces[start..end], &layout.dof[start..end]);
        let r = inflow.gather(body, body.inertia.lift::<S>());
        at_joint!(bodies, joints, k, joint => {
            if body.parent.is_some() {
                inflow.hand_in(body, joint.carry_rigid_in(r));
            }
            for i in 0..body.dofs {
                columns[i] = joint.hinge().column_of(&r, i);
            }
            for j in 0..columns.len() {
                let column = columns[j];
                if body.dofs == 1 {
                    let mut x = [S::ZERO];
                    joint.hinge().project(column, &mut x);
                    to.put([start, start + j], [body.v, dofs[j]], x[0]);
                } else {
                    let mut x = [S::ZERO; 6];
                    joint.hinge().project(column, &mut x);
                    for i in 0..body.dofs {
                        to.put([start + i, start + j], [body.v + i, dofs[j]], x[i]);
                    }
                }
                if body.parent.is_some() {
                    columns[j] = joint.force_in(column);
                }
            }
        });
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
