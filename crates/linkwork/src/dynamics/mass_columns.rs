//! 𝓜 column by column: every column goes to the base in registers.  (RK)
//!
//! A column r(k)H*(k) gives an element at each joint on its way to the base. If it stayed in memory on that way, it would be
//! written and read at every joint. Here it stays in registers, and only elements are written. Two columns go together where
//! they can, as one alone would wait for its own results. Several states at once do it in their own way: [`super::mass_elements`].

use crate::body::{Body, Hinge};
use crate::model::Compiled;
use crate::plan::{Course, Met, waits_for_next};
use crate::scalar::{Scalar, put};
use crate::spatial::{Force, RigidBody};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;
use crate::stage::joints::Joints;

/// r(k) of links, and the elements that their columns give.
#[inline(always)]
pub(super) fn inward<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    course: impl Course,
    out: &mut [S],
) {
    let (bodies, joints, mut to) = (&m.bodies[..], &s.joints, Dense { n: m.nv, out });
    let mut inflow = Inflow::<S, RigidBody<S>>::new(&mut s.scratch.waiting);
    // The column of the link just visited, if it waits, and the link that it has come to.
    let (mut waits, mut waiting, mut whose) = (None, Force::ZERO, 0);
    for at in (0..course.len()).rev() {
        let k = match course.at(at) {
            Met::Link(k) => k,
            Met::Branch { root, run, lane } => {
                inflow.hand_in(&bodies[root], s.scratch.abreast.handed_body(run, lane));
                continue;
            }
        };
        let body = &bodies[k];
        let r = inflow.gather(body, body.inertia.lift::<S>());
        let mut own = Force::ZERO;
        at_joint!(<S, SPECIAL> bodies, joints, k, joint => {
            let (hinge, is_held) = (joint.hinge(), body.parent.is_some());
            if is_held {
                inflow.hand_in(body, joint.carry_rigid_in(r));
            }
            if matches!(hinge, Hinge::Free) && !is_held {
                to.put_whole(body, &r);
            } else {
                for i in 0..hinge.axes().len() {
                    own = hinge.column_of(&r, i);
                    to.put(body, hinge, own, body.v + i);
                    if is_held {
                        own = joint.force_in(own);
                        if hinge.axes().len() > 1 {
                            s.scratch.forces[i] = own;
                        }
                    }
                }
            }
            if waits == Some(k) {
                to.put(body, hinge, waiting, whose);
                if is_held {
                    waiting = joint.force_in(waiting);
                }
            }
        });
        if waits.is_some() {
            go_inward::<S, true, SPECIAL>(bodies, joints, body.parent, [waiting, own], [whose, body.v], &mut to);
            waits = None;
        } else if waits_for_next(bodies, k) && matches!(course.at(at - 1), Met::Link(next) if next == k - 1) {
            (waits, waiting, whose) = (body.parent, own, body.v);
        } else if body.parent.is_some() {
            for i in 0..body.dofs {
                let column = if body.dofs > 1 { s.scratch.forces[i] } else { own };
                go_inward::<S, false, SPECIAL>(bodies, joints, body.parent, [column; 2], [body.v + i; 2], &mut to);
            }
        }
    }
}

/// From a link to the base; the second column only if there are `TWO`.
#[inline(always)]
fn go_inward<S: Scalar, const TWO: bool, const SPECIAL: bool>(
    bodies: &[Body],
    joints: &Joints<S>,
    mut from: Option<usize>,
    [mut a, mut b]: [Force<S>; 2],
    [first, second]: [usize; 2],
    to: &mut Dense<'_, S>,
) {
    while let Some(j) = from {
        let body = &bodies[j];
        at_joint!(<S, SPECIAL> bodies, joints, j, joint => {
            to.put(body, joint.hinge(), a, first);
            if TWO {
                to.put(body, joint.hinge(), b, second);
            }
            if body.parent.is_some() {
                a = joint.force_in(a);
                if TWO {
                    b = joint.force_in(b);
                }
            }
        });
        from = body.parent;
    }
}

/// 𝓜 row by row, in the users' order.
struct Dense<'a, S> {
    n: usize,
    out: &'a mut [S],
}

impl<S: Scalar> Dense<'_, S> {
    /// H f of a column, that of some degree of freedom.
    #[inline(always)]
    fn put(&mut self, body: &Body, hinge: Hinge, f: Force<S>, column: usize) {
        match hinge {
            Hinge::Revolute => self.set(body.v, column, f.moment.z),
            Hinge::Prismatic => self.set(body.v, column, f.force.z),
            Hinge::Free => self.put_six(body.v, column, f.to_array()),
            _ => {
                let mut elements = [S::ZERO; 6];
                hinge.project(f, &mut elements);
                for (i, x) in elements.into_iter().enumerate().take(hinge.axes().len()) {
                    self.set(body.v + i, column, x);
                }
            }
        }
    }

    /// All that a free base gives by itself.
    #[inline(always)]
    fn put_whole(&mut self, body: &Body, r: &RigidBody<S>) {
        let rows = &mut self.out[body.v * self.n + body.v..][..5 * self.n + 6];
        for i in 0..6 {
            put(r.column(i).to_array(), &mut rows[i * self.n..]);
        }
    }

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
