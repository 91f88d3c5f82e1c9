//! How motions of links and torques of forces on them change with the configuration; where joints follow others, in proportion, R being
//! constant.

use super::AugmentedMass;
use crate::dynamics::augmented::Flow;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion};
use std::borrow::Cow;

impl<S: Scalar> AugmentedMass<'_, S> {
    /// Rx, of all joints.
    fn expanded<'x>(&self, x: &'x [S]) -> Cow<'x, [S]> {
        match &self.mechanism.compiled.reduction {
            None => Cow::Borrowed(x),
            Some(r) => {
                let mut all = vec![S::ZERO; self.mechanism.compiled.nv];
                self.stages.coupled.expand(r, x, &mut all);
                Cow::Owned(all)
            }
        }
    }

    /// Adds R*x to what `run` adds to x of all joints.
    fn contracting(&mut self, out: [&mut [S]; 3], run: impl FnOnce(&mut Self, [&mut [S]; 3])) {
        let mechanism = self.mechanism;
        let Some(r) = &mechanism.compiled.reduction else {
            return run(self, out);
        };
        let mut all = out.each_ref().map(|_| vec![S::ZERO; mechanism.compiled.nv]);
        run(self, all.each_mut().map(|all| &mut all[..]));
        for (out, all) in out.into_iter().zip(&all).filter(|(out, _)| !out.is_empty()) {
            self.stages.coupled.contract_more(r, all, out);
        }
    }

    /// δV of links at fixed rates, into λ.
    pub(crate) fn bend(&mut self, velocities: &[Motion<S>], dq: &[S]) {
        let dq = self.expanded(dq);
        self.with(|memory, tree| memory.bend(tree, velocities, &dq));
    }

    /// Forces across the joints, in the place of forces on links.
    pub(crate) fn total_forces(&mut self) {
        self.with(|memory, tree| memory.total_forces(tree));
    }

    /// How T = Hφf changes: f by the present forces in the links' frames, φ by δq.
    pub(crate) fn gather_change(&mut self, totals: &[Force<S>], dq: &[S], tau: &mut [S]) {
        tau.fill(S::ZERO);
        let dq = self.expanded(dq);
        self.contracting([tau, &mut [], &mut []], |a, [tau, ..]| {
            a.with(|memory, tree| memory.gather_change(tree, totals, &dq, tau));
        });
    }

    /// The transpose of changes by δq, added.
    pub(crate) fn add_across(&mut self, motions: &[Motion<S>], totals: &[Force<S>], tau: &mut [S]) {
        self.contracting([tau, &mut [], &mut []], |a, [tau, ..]| {
            a.with(|memory, tree| memory.add_across(tree, motions, totals, tau));
        });
    }

    /// How links move at joint rates v and accelerations x of the joints.
    pub(crate) fn follow(&mut self, v: &[S], x: &[S]) -> Flow<S> {
        let links = self.mechanism.compiled.bodies.len();
        let x = self.expanded(x);
        let mut flow = Flow {
            v: self.expanded(v).into_owned(),
            velocities: vec![Motion::ZERO; links],
            accelerations: vec![Motion::ZERO; links],
        };
        self.with(|memory, tree| memory.follow(tree, &x, &mut flow));
        flow
    }

    /// δV and δA of links for changes of q, v and x.
    pub(crate) fn follow_change(&mut self, flow: &Flow<S>, by: [&[S]; 3], out: &mut [[Motion<S>; 2]]) {
        let by = by.map(|by| self.expanded(by));
        self.with(|memory, tree| memory.follow_change(tree, flow, by.each_ref().map(|by| &by[..]), out));
    }

    /// The transpose of that, added; forces become totals.
    pub(crate) fn follow_adjoint(&mut self, flow: &Flow<S>, forces: &mut [[Force<S>; 2]], by: [&mut [S]; 3]) {
        self.contracting(by, |a, by| {
            a.with(|memory, tree| memory.follow_adjoint(tree, flow, forces, by));
        });
    }
}
