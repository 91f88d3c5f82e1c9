//! The Riccati recursion where only some weights changed since the last one at the same configuration.
//!
//! P of a link depends on what is outboard of it alone: only links whose weights or rotors changed, and those inboard of them, are done
//! again. What a link hands to its parent is kept.

use super::{Augmented, Pass, Tree, release};
use crate::scalar::Scalar;
use crate::spatial::Articulated;
use crate::stage::crossing::{Crossing, at_joint};

/// What the last factor was made from, and what links handed in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept<S> {
    /// Whether factors are kept at all: where many follow at one configuration.
    pub(crate) on: bool,
    /// Per link: whether it was done at this configuration, and whether it is to be done again.
    done: Vec<bool>,
    stale: Vec<bool>,
    weights: Vec<Articulated<S>>,
    weighed: Vec<bool>,
    rotors: Vec<S>,
    /// Whether there was nothing but masses and rotors: done by other operations, and other roundings.
    plain: bool,
    /// φP⁺φ*, and its sum over the children.
    carried: Vec<Articulated<S>>,
    sums: Vec<Articulated<S>>,
}

impl<S: Scalar> Kept<S> {
    /// Another configuration.
    pub(crate) fn forget(&mut self) {
        self.done.fill(false);
    }

    /// Keeps factors from now on.
    pub(crate) fn start(&mut self, links: usize, dofs: usize) {
        self.on = true;
        self.done.resize(links, false);
        self.stale.resize(links, true);
        self.weighed.resize(links, false);
        self.rotors.resize(dofs, S::ZERO);
        for list in [&mut self.weights, &mut self.carried, &mut self.sums] {
            list.resize(links, Articulated::ZERO);
        }
    }
}

/// As [`super::Factor`].
pub(super) struct Refactor;

impl<S: Scalar> Pass<S> for Refactor {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        let Augmented {
            gains,
            weights,
            touched,
            rotors,
            pairs,
            kept,
            ..
        } = a;
        let n = m.bodies.len();
        let plain = a.inertial && !a.has_diagonal;
        if kept.plain != plain {
            kept.forget();
            kept.plain = plain;
        }
        for k in 0..n {
            let (body, done) = (&m.bodies[k], &mut kept.done[k]);
            let v = body.v..body.v + body.dofs;
            let same = *done
                && !pairs.is_node(k)
                && touched[k] == kept.weighed[k]
                && (!touched[k] || weights[k] == kept.weights[k])
                && rotors[v.clone()] == kept.rotors[v.clone()];
            kept.stale[k] = !same;
            if !same {
                // Links of pairs change with what is eliminated.
                *done = !pairs.is_node(k);
                kept.weighed[k] = touched[k];
                kept.weights[k] = weights[k];
                kept.rotors[v.clone()].copy_from_slice(&rotors[v]);
            }
        }
        for k in (0..n).rev() {
            if let (true, Some(p)) = (kept.stale[k], m.bodies[k].parent) {
                kept.stale[p] = true;
            }
        }
        kept.sums.fill(Articulated::ZERO);
        for k in (0..n).rev() {
            let body = &m.bodies[k];
            let v = body.v;
            if pairs.is_eliminated(k) {
                continue;
            }
            if kept.stale[k] {
                let mut p = kept.sums[k];
                if a.inertial {
                    p += body.inertia.lift::<S>();
                }
                if touched[k] {
                    p += weights[k];
                }
                pairs.add_to(k, &mut p);
                if plain {
                    at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                        let p_plus = joint.release(p, &m.armature[v..], &mut gains[v..]);
                        if body.parent.is_some() {
                            kept.carried[k] = joint.carry_in(p_plus);
                        }
                    });
                } else {
                    at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                        let p_plus = release(joint.hinge(), p, &rotors[v..], &mut gains[v..]);
                        if body.parent.is_some() {
                            kept.carried[k] = joint.carry_whole_in(p_plus);
                        }
                    });
                }
            }
            if let Some(p) = body.parent
                && kept.stale[p]
            {
                kept.sums[p] += kept.carried[k];
            }
        }
    }
}
