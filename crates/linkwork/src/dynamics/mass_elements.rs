//! The elements of 𝓜 that are not zero, of several states side by side.  (RK)
//!
//! Of registers as wide as these, a store takes as long as two multiplications, and to find out what to do at a joint as
//! long as for one number. So r(k) stays in registers along a chain, and columns wait until a few of them can go to the base
//! together: a joint is looked at once for all, and nothing is written on the way but elements.

use crate::body::{Body, Hinge};
use crate::model::Compiled;
use crate::plan::{GROUP, joins};
use crate::scalar::{Scalar, put, unrolled};
use crate::spatial::{Force, RigidBody};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;
use crate::stage::joints::Joints;
use crate::sweep::{At, Known, Sweep, known};

/// The elements of 𝓜 that are not zero, in the order of [`path_order`](crate::plan::path_order).
pub(crate) struct MassElements;

/// These, in the order of [`Mechanism::mass_pattern`](crate::model::Mechanism::mass_pattern).
pub(crate) const MASS_MATRIX_ENTRIES: Known = known!(
    ("mass_matrix_entries", "𝓜", "the elements of the mass matrix that are not zero, one of each pair"),
    [], [Q] -> [Pattern]
);

impl<S: Scalar> Sweep<S> for MassElements {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        let mut to = InOrder { out, next: 0 };
        composites::<S, SPECIAL>(m, s, &mut to);
        columns::<S, SPECIAL>(&m.bodies, &s.joints, &s.scratch.forces, &mut to);
    }
}

/// Inward: r(k) = M(k) + Σ φ r(c) φ*, what its columns r(k)H*(k) give at their own joint, and what they are at the parent.
#[inline(always)]
fn composites<S: Scalar, const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, to: &mut InOrder<'_, S>) {
    let (bodies, joints, forces) = (&m.bodies[..], &s.joints, &mut s.scratch.forces[..]);
    let mut inflow = Inflow::<S, RigidBody<S>>::new(&mut s.scratch.waiting);
    for k in (0..bodies.len()).rev() {
        let body = &bodies[k];
        let r = inflow.gather(body, body.inertia.lift::<S>());
        if is_free_base(body) {
            to.put_triangle(body, &r, m);
            continue;
        }
        at_joint!(<S, SPECIAL> bodies, joints, k, joint => {
            let (hinge, is_held) = (joint.hinge(), body.parent.is_some());
            let own = hinge.column_of(&r, 0);
            to.put_own(body, hinge, own, 0, m);
            for i in 1..hinge.axes().len() {
                let own = hinge.column_of(&r, i);
                to.put_own(body, hinge, own, i, m);
                forces[body.v + i] = joint.force_in(own);
            }
            if is_held {
                let (r, own) = joint.carry_column_in(r, own);
                inflow.hand_over(body, r);
                forces[body.v] = own;
            }
        });
    }
}

/// The columns, from the parents of their joints to the base: as many together as join, up to [`GROUP`].
#[inline(always)]
fn columns<S: Scalar, const SPECIAL: bool>(
    bodies: &[Body],
    joints: &Joints<S>,
    forces: &[Force<S>],
    to: &mut InOrder<'_, S>,
) {
    const { assert!(GROUP == 3) };
    let mut k = bodies.len();
    while k > 0 {
        k -= 1;
        let Body { v, dofs, parent, .. } = bodies[k];
        for i in 1..dofs {
            go_inward::<S, 1, SPECIAL>(bodies, joints, parent, None, [forces[v + i]], to);
        }
        if !joins(bodies, k, parent) {
            go_inward::<S, 1, SPECIAL>(bodies, joints, parent, None, [forces[v]], to);
            continue;
        }
        k -= 1;
        let second = &bodies[k];
        let [a] = go_inward::<S, 1, SPECIAL>(bodies, joints, parent, second.parent, [forces[v]], to);
        let two = [a, forces[second.v]];
        if !joins(bodies, k, second.parent) {
            go_inward::<S, 2, SPECIAL>(bodies, joints, second.parent, None, two, to);
            continue;
        }
        k -= 1;
        let third = &bodies[k];
        let [a, b] = go_inward::<S, 2, SPECIAL>(bodies, joints, second.parent, third.parent, two, to);
        go_inward::<S, 3, SPECIAL>(bodies, joints, third.parent, None, [a, b, forces[third.v]], to);
    }
}

/// Columns from one link to another, or to the base.
#[inline(always)]
fn go_inward<S: Scalar, const N: usize, const SPECIAL: bool>(
    bodies: &[Body],
    joints: &Joints<S>,
    mut from: Option<usize>,
    until: Option<usize>,
    mut f: [Force<S>; N],
    to: &mut InOrder<'_, S>,
) -> [Force<S>; N] {
    let until = until.unwrap_or(usize::MAX);
    while let Some(j) = from
        && j != until
    {
        let body = &bodies[j];
        if is_free_base(body) {
            to.put_whole(f);
            break;
        }
        at_joint!(<S, SPECIAL> bodies, joints, j, joint => {
            to.put(joint.hinge(), f);
            if body.parent.is_some() {
                unrolled!(I in 0 1 2 => if const { I < N } { f[I] = joint.force_in(f[I]) });
            }
        });
        from = body.parent;
    }
    f
}

#[inline(always)]
fn is_free_base(body: &Body) -> bool {
    matches!(body.hinge, Hinge::Free) && body.parent.is_none()
}

/// Elements of 𝓜, one after the other.
struct InOrder<'a, S> {
    out: &'a mut [S],
    next: usize,
}

impl<S: Scalar> InOrder<'_, S> {
    /// Room for some of them.
    #[inline(always)]
    fn take(&mut self, count: usize) -> &mut [S] {
        let first = self.next;
        self.next += count;
        &mut self.out[first..first + count]
    }

    /// H f of columns that belong to descendants.
    #[inline(always)]
    fn put<const N: usize>(&mut self, hinge: Hinge, f: [Force<S>; N]) {
        let dofs = hinge.axes().len();
        let out = self.take(N * dofs);
        if matches!(hinge, Hinge::Revolute) {
            unrolled!(I in 0 1 2 => if const { I < N } { out[I] = f[I].moment.z });
        } else {
            unrolled!(I in 0 1 2 => if const { I < N } { hinge.project(f[I], &mut out[I * dofs..][..dofs]) });
        }
    }

    /// The same at a free base.
    #[inline(always)]
    fn put_whole<const N: usize>(&mut self, f: [Force<S>; N]) {
        let out = self.take(6 * N);
        unrolled!(I in 0 1 2 => if const { I < N } { put(f[I].to_array(), &mut out[6 * I..]) });
    }

    /// H f of the i-th of the joint's own, up to the diagonal, where its rotor joins in.
    #[inline(always)]
    fn put_own(&mut self, body: &Body, hinge: Hinge, f: Force<S>, i: usize, m: &Compiled) {
        if matches!(hinge, Hinge::Revolute) && !m.has_armature {
            return self.put(hinge, [f]);
        }
        let mut elements = [S::ZERO; 6];
        hinge.project(f, &mut elements);
        if m.has_armature {
            elements[i] += S::lift(m.armature[body.v + i]);
        }
        for j in 0..=i {
            self.out[self.next + j] = elements[j];
        }
        self.next += i + 1;
    }

    /// The same of all columns of a free base.
    #[inline(always)]
    fn put_triangle(&mut self, body: &Body, r: &RigidBody<S>, m: &Compiled) {
        let out = self.take(21);
        put(r.triangle(), out);
        if m.has_armature {
            for i in 0..6 {
                out[i * (i + 3) / 2] += S::lift(m.armature[body.v + i]);
            }
        }
    }
}
