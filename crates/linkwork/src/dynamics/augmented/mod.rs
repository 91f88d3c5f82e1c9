//! 𝓐 = 𝓜 + A + ΣJ*GJ: the mass operator with weights on links and on degrees of freedom.
//!
//! A contact, task or sensor with the Jacobian J = B*φ*H* and the weight G ≥ 0 adds BGB* to one link:
//!
//! ```text
//! 𝓐 = Hφ(M + ΣBGB*)φ*H* + A = (I + HφK) D (I + HφK)*      𝓐⁻¹ = (I − HψK)* D⁻¹ (I − HψK)      log det 𝓐 = Σ log det D
//! ```
//!
//! with P, D and G of the Riccati recursion on M̂ = M + ΣBGB*, D + A for D. So 𝓐⁻¹x takes the sweeps of 𝓜⁻¹x, however many
//! weights there are, and nothing fills in. Without masses, M̂ = ΣBGB* and A = λ is damped least squares.
//! Weights between two moving links are in [`pairs`] and [`between`]; couplings in [`embedded`]. Where many factors follow at one
//! configuration, [`kept`] does again only what changed.

mod changed_weights;
mod elimination_order;
mod embedded;
mod kinematic_change;
mod pairs;
pub(crate) mod six_by_six;
mod tree_pairs;

pub(crate) use changed_weights::Kept;
pub(crate) use kinematic_change::Flow;
pub(crate) use pairs::Pairs;
pub(crate) use tree_pairs::{Between, Row};

use crate::body::{Body, Gain, Hinge, sizes};
use crate::coupled::stage::Coupled;
use crate::coupled::stage::embedded::Embedded;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::simd::{Instructions, Task};
use crate::spatial::{Articulated, Force, Motion};
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::{Inflow, Waiting};
use crate::stage::joints::Joints;
use crate::stage::outflow::of_parent;

/// The weights, and what elimination makes of them.
#[derive(Clone, Debug)]
pub(crate) struct Augmented<S> {
    /// Whether links have their masses and joints their rotors.
    pub(crate) inertial: bool,
    /// Per link: ΣBGB* in its compiled frame, and whether there is any.
    pub(crate) weights: Vec<Articulated<S>>,
    pub(crate) touched: Vec<bool>,
    /// A per degree of freedom of all joints, rotors not counted, and whether there is any.
    pub(crate) diagonal: Vec<S>,
    pub(crate) has_diagonal: bool,
    /// The same with rotors.
    pub(crate) rotors: Vec<S>,
    pub(crate) gains: Vec<Gain<S>>,
    pub(crate) pairs: Pairs<S>,
    pub(crate) between: Between<S>,
    pub(crate) kept: Kept<S>,
    pub(crate) is_factored: bool,
    embedded: Embedded<S>,
    eps: Vec<S>,
    /// λ(k): the motions of links that the last product or solution gave.
    pub(crate) lambda: Vec<Motion<S>>,
    /// Forces on links, in their compiled frames.
    pub(crate) forces: Vec<Force<S>>,
    /// Numbers per degree of freedom of all joints.
    pub(crate) wide: [Vec<S>; 2],
    waiting: Waiting<S>,
}

impl<S: Scalar> Augmented<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        let (n, nv) = (m.bodies.len(), m.nv);
        Self {
            inertial: true,
            weights: vec![Articulated::ZERO; n],
            touched: vec![false; n],
            diagonal: vec![S::ZERO; nv],
            has_diagonal: false,
            rotors: m.armature.iter().map(|&x| S::lift(x)).collect(),
            gains: vec![Gain::default(); nv],
            pairs: Pairs::new(n),
            between: Between::default(),
            kept: Kept::default(),
            is_factored: false,
            embedded: Embedded::new(m),
            eps: vec![S::ZERO; nv],
            lambda: vec![Motion::ZERO; n],
            forces: vec![Force::ZERO; n],
            wide: [(); 2].map(|()| vec![S::ZERO; nv]),
            waiting: Waiting::new(m.branches),
        }
    }

    /// No weights and no diagonal; with masses or without.
    pub(crate) fn clear(&mut self, m: &Compiled, inertial: bool) {
        self.clear_weights();
        self.kept.forget();
        if self.has_diagonal || self.inertial != inertial {
            self.inertial = inertial;
            self.diagonal.fill(S::ZERO);
            self.sum_rotors(m);
            self.has_diagonal = false;
        }
    }

    /// No weights; the diagonal stays.
    pub(crate) fn clear_weights(&mut self) {
        for (weight, touched) in self.weights.iter_mut().zip(&mut self.touched) {
            if *touched {
                (*weight, *touched) = (Articulated::ZERO, false);
            }
        }
        self.pairs.clear();
        self.between.rows.clear();
        self.is_factored = false;
    }

    /// A + rotors, after A has changed.
    pub(crate) fn sum_rotors(&mut self, m: &Compiled) {
        for ((sum, own), rotor) in self.rotors.iter_mut().zip(&self.diagonal).zip(&m.armature) {
            *sum = if self.inertial { *own + S::lift(*rotor) } else { *own };
        }
        self.is_factored = false;
    }

    /// Adds BGB* to a link.
    #[inline(always)]
    pub(crate) fn weigh(&mut self, k: usize, weight: &Articulated<S>) {
        self.weights[k] += *weight;
        self.touched[k] = true;
        self.is_factored = false;
    }

    /// M̂ of a link.
    #[inline(always)]
    pub(crate) fn own(&self, body: &Body, k: usize) -> Articulated<S> {
        let mut own = match self.inertial {
            true => Articulated::from(body.inertia.lift::<S>()),
            false => Articulated::ZERO,
        };
        if self.touched[k] {
            own += self.weights[k];
        }
        own
    }

    /// Whether, in one lane, some D is not sound, and which: a degree of freedom of all joints and its D.
    pub(crate) fn unsound(&self, m: &Compiled, lane: usize) -> Option<(usize, f64)> {
        let d = |gain: &Gain<S>| gain.d_inv.lane(lane).recip();
        let bad = |v: usize| (!self.gains[v].is_sound(lane)).then(|| (v, d(&self.gains[v])));
        let Some(r) = &m.reduction else {
            return (0..m.nv).find_map(bad);
        };
        let (x, e) = (&self.embedded, r.embedding(m));
        let alone = e.independent.iter().find(|&&v| !x.gains[v].is_sound(lane));
        if let Some(&v) = alone {
            return Some((v, d(&x.gains[v])));
        }
        let group = (0..e.leaders.len()).find(|&group| !x.is_sound(group, lane))?;
        Some((e.leaders[group], d(&x.closed[group])))
    }

    /// D⁻¹ of the pivots, one per independent degree of freedom in the users' order.
    pub(crate) fn pivots<'a>(&'a self, m: &'a Compiled, out: &mut [S]) {
        let Some(r) = &m.reduction else {
            for (out, gain) in out.iter_mut().zip(&self.gains) {
                *out = gain.d_inv;
            }
            return;
        };
        for (out, &v) in out.iter_mut().zip(&r.independent) {
            *out = self.embedded.gains[v].d_inv;
        }
        for (&leader, gain) in r.embedding(m).leaders.iter().zip(&self.embedded.closed) {
            out[r.v_from[leader]] = gain.d_inv;
        }
    }
}

/// D, G and P⁺ from P, with a diagonal beside D: u = P h, D = h·u + A, G = u/D, P⁺ = P − G u*. Along a released axis P⁺ is
/// u A/D, without the rounding of a difference.
#[inline(always)]
fn release<S: Scalar>(hinge: Hinge, mut p: Articulated<S>, diagonal: &[S], gains: &mut [Gain<S>]) -> Articulated<S> {
    let sizes = sizes(&p);
    for (i, &axis) in hinge.axes().iter().enumerate() {
        let mut u = p.column(axis);
        let (mut d, mut whole) = (u[axis], sizes[axis / 3]);
        let pitch = hinge.pitch();
        if let Some(pitch) = pitch {
            let (h, other) = (S::lift(pitch), p.column(5));
            whole = S::lift(pitch * pitch).mul_add(sizes[1], whole);
            for j in 0..6 {
                u[j] = h.mul_add(other[j], u[j]);
            }
            d = h.mul_add(u[5], u[2]);
        }
        d += diagonal[i];
        whole += diagonal[i];
        gains[i] = Gain::new(d.recip(), u).judged(d, whole);
        p.subtract_outer(gains[i].g, u);
        if pitch.is_none() {
            let left = diagonal[i] * gains[i].d_inv;
            for j in 0..6 {
                u[j] = u[j] * left;
            }
            p.put_column(axis, u);
        }
    }
    p
}

/// What a sweep reads beside the weights.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'a, S> {
    pub(crate) m: &'a Compiled,
    pub(crate) joints: &'a Joints<S>,
    pub(crate) coupled: &'a Coupled<S>,
    pub(crate) instructions: Instructions,
}

/// One of the sweeps, at every level of instructions.
struct Run<'a, S, F>(F, Tree<'a, S>, &'a mut Augmented<S>);

/// The sweeps.
trait Pass<S: Scalar> {
    fn run<const SPECIAL: bool>(self, tree: Tree<'_, S>, a: &mut Augmented<S>);
}

impl<S: Scalar, F: Pass<S>> Task for Run<'_, S, F> {
    #[inline(always)]
    fn run(self) {
        if const { S::SPECIAL } {
            self.0.run::<true>(self.1, self.2);
        } else {
            self.0.run::<false>(self.1, self.2);
        }
    }

    #[inline(always)]
    fn run_small(self) {
        self.0.run::<false>(self.1, self.2);
    }
}

impl<S: Scalar> Augmented<S> {
    fn perform(&mut self, tree: Tree<'_, S>, pass: impl Pass<S>) {
        tree.instructions.perform::<S, _>(Run(pass, tree, self));
    }

    /// D and G; where links are paired, also what joins them.
    pub(crate) fn factor(&mut self, tree: Tree<'_, S>) {
        if self.is_factored {
            return;
        }
        self.is_factored = true;
        if self.pairs.is_empty() {
            self.pairs.forget_plan();
            self.factor_trees(tree);
            return self.factor_rows(tree);
        }
        self.factor_pairs(tree);
    }

    fn factor_trees(&mut self, tree: Tree<'_, S>) {
        match tree.m.reduction.is_some() {
            true => self.perform(tree, embedded::Embed),
            false if self.kept.on => self.perform(tree, changed_weights::Refactor),
            false => self.perform(tree, Factor),
        }
    }

    /// x = 𝓐⁻¹(T + J*f), T and x over all joints, f the forces on links if `pushed`; λ are the links' motions at x.
    /// Only what is independent of x is right where joints are coupled.
    pub(crate) fn solve(&mut self, tree: Tree<'_, S>, tau: &[S], pushed: bool, out: &mut [S]) {
        self.factor(tree);
        if self.pairs.is_empty() {
            return self.solve_trees(tree, tau, pushed, out);
        }
        self.solve_pairs(tree, tau, pushed, out);
    }

    fn solve_trees(&mut self, tree: Tree<'_, S>, tau: &[S], pushed: bool, out: &mut [S]) {
        match tree.m.reduction.is_some() {
            true => self.perform(tree, embedded::Solve { tau, pushed, out }),
            false => self.perform(tree, Solve { tau, pushed, out }),
        }
    }

    /// λ = φ*H*x: the motions of links.
    pub(crate) fn move_links(&mut self, tree: Tree<'_, S>, x: &[S]) {
        self.perform(tree, MoveLinks { x });
    }

    /// T = Hφf, f being the forces on links.
    pub(crate) fn gather(&mut self, tree: Tree<'_, S>, tau: &mut [S]) {
        self.perform(tree, Gather { tau });
    }

    /// 𝓐x over all joints, with x = Rẏ where they are coupled.
    pub(crate) fn times(&mut self, tree: Tree<'_, S>, x: &[S], out: &mut [S]) {
        self.move_links(tree, x);
        for (k, body) in tree.m.bodies.iter().enumerate() {
            self.forces[k] = self.own(body, k).times(self.lambda[k]);
        }
        self.pairs.push_links(&self.lambda, &mut self.forces);
        self.between.push_links(&self.lambda, &mut self.forces);
        self.gather(tree, out);
        for ((out, x), rotor) in out.iter_mut().zip(x).zip(&self.rotors) {
            *out = rotor.mul_add(*x, *out);
        }
    }

    /// 𝓜x over all joints, from the links' motions at x.
    pub(crate) fn mass_times(&mut self, tree: Tree<'_, S>, x: &[S], out: &mut [S]) {
        self.perform(tree, MassTimes { tau: out });
        for ((out, x), rotor) in out.iter_mut().zip(x).zip(&tree.m.armature) {
            *out = S::lift(*rotor).mul_add(*x, *out);
        }
    }
}

impl<S: Scalar> Augmented<S> {
    /// x*𝓜x over all joints, from the links' motions at x.
    pub(crate) fn energy(&mut self, tree: Tree<'_, S>, x: &[S]) -> S {
        let mut sum = S::ZERO;
        self.perform(tree, Energy { x, sum: &mut sum });
        sum
    }

    /// δV of links at fixed rates, into λ, from their velocities and δq.
    pub(crate) fn bend(&mut self, tree: Tree<'_, S>, velocities: &[Motion<S>], dq: &[S]) {
        self.perform(tree, kinematic_change::Bend { velocities, dq });
    }

    /// Forces across the joints, in the place of forces on links.
    pub(crate) fn total_forces(&mut self, tree: Tree<'_, S>) {
        self.perform(tree, kinematic_change::Totals);
    }

    /// δT = δ(Hφf): forces on links with these totals, changed by the present forces in the links' frames.
    pub(crate) fn gather_change(&mut self, tree: Tree<'_, S>, totals: &[Force<S>], dq: &[S], tau: &mut [S]) {
        self.perform(tree, kinematic_change::Turned { totals, dq, tau });
    }

    /// Adds the transpose of what a displacement does between motions of links and totals of forces.
    pub(crate) fn add_across(&mut self, tree: Tree<'_, S>, motions: &[Motion<S>], totals: &[Force<S>], tau: &mut [S]) {
        self.perform(tree, kinematic_change::Across { motions, totals, tau });
    }

    /// How links move at the flow's joint rates and accelerations x of the joints.
    pub(crate) fn follow(&mut self, tree: Tree<'_, S>, x: &[S], flow: &mut Flow<S>) {
        self.perform(tree, kinematic_change::Follow { x, flow });
    }

    /// How that changes with q, v and x: δV and δA of links.
    pub(crate) fn follow_change(
        &mut self,
        tree: Tree<'_, S>,
        flow: &Flow<S>,
        by: [&[S]; 3],
        out: &mut [[Motion<S>; 2]],
    ) {
        self.perform(tree, kinematic_change::FollowChange { flow, by, out });
    }

    /// Adds the transpose of that; forces become totals.
    pub(crate) fn follow_adjoint(
        &mut self,
        tree: Tree<'_, S>,
        flow: &Flow<S>,
        forces: &mut [[Force<S>; 2]],
        by: [&mut [S]; 3],
    ) {
        self.perform(tree, kinematic_change::FollowAdjoint { flow, forces, by });
    }
}

struct Factor;

impl<S: Scalar> Pass<S> for Factor {
    /// Inward: P = M̂ + Σ φP⁺φ*, D = HPH* + A, G = PH*D⁻¹, P⁺ = P − GDG*.
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        let Augmented {
            gains,
            weights,
            touched,
            rotors,
            pairs,
            waiting,
            ..
        } = a;
        let mut inflow = Inflow::<S, Articulated<S>>::new(waiting);
        let plain = a.inertial && !a.has_diagonal;
        for k in (0..m.bodies.len()).rev() {
            let body = &m.bodies[k];
            let v = body.v;
            if pairs.is_eliminated(k) {
                continue;
            }
            let mut p = match a.inertial {
                true => inflow.gather(body, body.inertia.lift::<S>()),
                false => inflow.gather_children(body),
            };
            if touched[k] {
                p += weights[k];
            }
            pairs.add_to(k, &mut p);
            if plain {
                at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                    let p_plus = joint.release(p, &m.armature[v..], &mut gains[v..]);
                    if body.parent.is_some() {
                        inflow.hand_in(body, joint.carry_in(p_plus));
                    }
                });
            } else {
                at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                    let p_plus = release(joint.hinge(), p, &rotors[v..], &mut gains[v..]);
                    if body.parent.is_some() {
                        inflow.hand_in(body, joint.carry_whole_in(p_plus));
                    }
                });
            }
        }
    }
}

struct Solve<'a, S> {
    tau: &'a [S],
    pushed: bool,
    out: &'a mut [S],
}

impl<S: Scalar> Pass<S> for Solve<'_, S> {
    /// Inward: z = Σ φz⁺ − f, ε = T − Hz, z⁺ = z + Gε. Outward: λ⁺ = φ*λ(p), x = D⁻¹ε − G*λ⁺, λ = λ⁺ + H*x.
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        let Self { tau, pushed, out } = self;
        let (gains, eps, lambda, pairs) = (&a.gains[..], &mut a.eps[..], &mut a.lambda[..], &a.pairs);
        let mut inflow = Inflow::<S, Force<S>>::new(&mut a.waiting);
        for k in (0..m.bodies.len()).rev() {
            let body = &m.bodies[k];
            let v = body.v;
            if pairs.is_eliminated(k) {
                continue;
            }
            let mut z = inflow.gather(body, if pushed { -a.forces[k] } else { Force::ZERO });
            at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                joint.hinge().innovate(&mut z, &tau[v..], &gains[v..], &mut eps[v..]);
                if body.parent.is_some() {
                    inflow.hand_in(body, joint.force_in(z));
                }
            });
        }
        if !a.between.rows.is_empty() {
            a.between.correct(eps);
        }
        let mut last = Motion::ZERO;
        for k in 0..m.bodies.len() {
            let body = &m.bodies[k];
            let v = body.v;
            if pairs.is_eliminated(k) {
                continue;
            }
            let inner = of_parent(body, k, last, lambda, Motion::ZERO);
            at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                let mut plus = match body.parent {
                    Some(_) => joint.motion_out(inner),
                    None => Motion::ZERO,
                };
                joint.hinge().resolve(&mut plus, &eps[v..], &gains[v..], &mut out[v..]);
                (lambda[k], last) = (plus, plus);
            });
        }
    }
}

struct MoveLinks<'a, S> {
    x: &'a [S],
}

impl<S: Scalar> Pass<S> for MoveLinks<'_, S> {
    /// Outward: λ = φ*λ(p) + H*x.
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        let lambda = &mut a.lambda[..];
        let mut last = Motion::ZERO;
        for k in 0..m.bodies.len() {
            let body = &m.bodies[k];
            let inner = of_parent(body, k, last, lambda, Motion::ZERO);
            at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                let plus = match body.parent {
                    Some(_) => joint.motion_out(inner),
                    None => Motion::ZERO,
                };
                last = joint.hinge().add_motion(plus, &self.x[body.v..]);
                lambda[k] = last;
            });
        }
    }
}

struct Gather<'a, S> {
    tau: &'a mut [S],
}

impl<S: Scalar> Pass<S> for Gather<'_, S> {
    /// Inward: f ← f + Σ φf, T = Hf.
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        let mut inflow = Inflow::<S, Force<S>>::new(&mut a.waiting);
        for k in (0..m.bodies.len()).rev() {
            let body = &m.bodies[k];
            let f = inflow.gather(body, a.forces[k]);
            at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                joint.hinge().project(f, &mut self.tau[body.v..]);
                if body.parent.is_some() {
                    inflow.hand_in(body, joint.force_in(f));
                }
            });
        }
    }
}

struct MassTimes<'a, S> {
    tau: &'a mut [S],
}

impl<S: Scalar> Pass<S> for MassTimes<'_, S> {
    /// Inward: f = Mλ + Σ φf, T = Hf.
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, joints, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        let mut inflow = Inflow::<S, Force<S>>::new(&mut a.waiting);
        for k in (0..m.bodies.len()).rev() {
            let body = &m.bodies[k];
            let f = inflow.gather(body, body.inertia.lift::<S>().times(a.lambda[k]));
            at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                joint.hinge().project(f, &mut self.tau[body.v..]);
                if body.parent.is_some() {
                    inflow.hand_in(body, joint.force_in(f));
                }
            });
        }
    }
}

struct Energy<'a, S> {
    x: &'a [S],
    sum: &'a mut S,
}

impl<S: Scalar> Pass<S> for Energy<'_, S> {
    /// Σ λ·Mλ, and the rotors' part.
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, Tree { m, .. }: Tree<'_, S>, a: &mut Augmented<S>) {
        let mut sum = S::ZERO;
        for (body, lambda) in m.bodies.iter().zip(&a.lambda) {
            sum += lambda.dot(body.inertia.lift::<S>().times(*lambda));
        }
        for (x, rotor) in self.x.iter().zip(&m.armature) {
            sum = (S::lift(*rotor) * *x).mul_add(*x, sum);
        }
        *self.sum = sum;
    }
}
