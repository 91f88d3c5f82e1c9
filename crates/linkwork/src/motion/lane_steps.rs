//! What all lanes do together: see their tasks, and take a step within limits.
#![cfg(all(target_arch = "x86_64", feature = "lanes"))]

use super::bounds::Limits;
use super::least_squares::{Look, Reach, Solve, Take};
use super::levels::STILL;
use super::link_goal::Aim;
use super::residual::Seen;
use super::step::HELD;
use crate::model::Placed;
use crate::scalar::Scalar;
use crate::simd::{self, Lanes};
use crate::spatial::Pose;
use crate::stage::world::World;

/// Sees the tasks of the simple kind: their costs and the largest of what is left, summed and taken over these; and where the
/// frames of the others are.
pub(super) struct See<'a, S> {
    pub(super) world: &'a World<S>,
    pub(super) placed: &'a [Placed],
    pub(super) aims: &'a [Option<Aim<S>>],
    pub(super) frames: &'a mut [Pose<S>],
    pub(super) seen: &'a mut [Seen<S>],
    pub(super) looks: &'a mut [Look<S>],
    pub(super) costs: &'a mut [S],
    pub(super) cost: &'a mut S,
    pub(super) worst: &'a mut S,
}

impl<S: Scalar> simd::Task for See<'_, S> {
    #[inline(always)]
    fn run(self) {
        let (mut cost, mut worst) = (S::ZERO, S::ZERO);
        for i in 0..self.aims.len() {
            let here = self.world.frame(&self.placed[i]);
            let Some(aim) = &self.aims[i] else {
                self.frames[i] = here;
                continue;
            };
            let seen = aim.see(&here);
            self.costs[i] = seen.cost();
            cost += self.costs[i];
            worst = larger(worst, larger(seen.angle, seen.distance));
            self.looks[i] = seen.look(S::ONE);
            self.seen[i] = seen;
        }
        (*self.cost, *self.worst) = (cost, worst);
    }
}

#[inline(always)]
fn larger<S: Scalar>(a: S, b: S) -> S {
    (a - b).where_below(0.0, b, a)
}

/// What steers the lanes, and what they are about to do.
pub(super) struct Control<S> {
    /// 1 for lanes that go on, else 0; 1 for those that begin a step, 0 for those in the middle of one; and λ.
    pub(super) goes: S,
    pub(super) begins: S,
    pub(super) lambda: S,
    /// Per degree of freedom: its coordinate, if that is a plain number, and the bounds.
    coordinates: Vec<Option<usize>>,
    bounds: Vec<(f64, f64)>,
    is_plain: bool,
    gradient: Vec<S>,
    diagonal: Vec<S>,
    rhs: Vec<S>,
    wide: Vec<S>,
    /// The steps, and 1 where a limit holds, else 0.
    steps: Vec<S>,
    held: Vec<S>,
    /// 1 where the last pass held more than those before, so that the others are to make up for it.
    shortened: S,
    /// The largest part of a step.
    most: S,
}

impl<S: Lanes<Element = f64>> Control<S> {
    pub(super) fn new(limits: &Limits) -> Self {
        let (coordinates, bounds) = limits.plain_bounds();
        let nothing = || vec![S::ZERO; bounds.len()];
        Self {
            goes: S::ZERO,
            begins: S::ONE,
            lambda: S::ONE,
            is_plain: coordinates.iter().all(Option::is_some),
            gradient: nothing(),
            diagonal: nothing(),
            rhs: nothing(),
            wide: nothing(),
            steps: nothing(),
            held: nothing(),
            shortened: S::ZERO,
            most: S::ZERO,
            coordinates,
            bounds,
        }
    }

    /// Whether every degree of freedom is a plain number, so that steps are added in lanes.
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether a lane's step is not over: a limit shortened it in the last pass.
    pub(super) fn is_shortened(&self, lane: usize) -> bool {
        self.shortened.element(lane) > 0.0
    }

    /// Whether a lane's step moves nothing that matters.
    pub(super) fn is_still(&self, lane: usize) -> bool {
        self.most.element(lane) < STILL
    }

    /// The step of one lane.
    pub(super) fn step_of(&self, lane: usize, out: &mut [f64]) {
        for (x, step) in out.iter_mut().zip(&self.steps) {
            *x = step.element(lane);
        }
    }
}

/// One pass of a step of damped least squares within limits, as [`super::step::Step::solve`] takes it for one state: what would
/// leave its limits goes as far as it may and is held. Then lanes whose step is over are moved by [`Go`].
pub(super) struct Pass<'a, S> {
    pub(super) reach: &'a mut Reach<S>,
    pub(super) world: &'a World<S>,
    pub(super) looks: &'a [Look<S>],
    pub(super) control: &'a mut Control<S>,
    pub(super) q: &'a [S],
}

impl<S: Scalar> simd::Task for Pass<'_, S> {
    #[inline(always)]
    fn run(self) {
        let (c, reach) = (self.control, self.reach);
        Take {
            reach: &mut *reach,
            world: self.world,
            looks: self.looks,
            gradient: &mut c.gradient,
        }
        .run();
        let (nv, begins, large) = (c.steps.len(), c.begins, S::lift(HELD));
        for dof in 0..nv {
            let (push, mut held) = (c.gradient[dof], S::ZERO);
            if let Some(at) = c.coordinates[dof] {
                let (lower, upper) = c.bounds[dof];
                // At the lower bound and pushed down, or at the upper one and pushed up.
                let low = (S::lift(lower) - self.q[at]).where_below(0.0, S::ZERO, S::ONE);
                let high = (self.q[at] - S::lift(upper)).where_below(0.0, S::ZERO, S::ONE);
                held = push.where_below(0.0, low, (-push).where_below(0.0, high, S::ZERO));
            }
            held = begins.where_below(0.5, c.held[dof], held);
            let step = begins.where_below(0.5, c.steps[dof], S::ZERO);
            (c.held[dof], c.steps[dof]) = (held, step);
            c.diagonal[dof] = held.where_below(0.5, c.lambda, large);
            c.rhs[dof] = held.where_below(0.5, push, large * step);
        }
        Solve {
            reach: &mut *reach,
            a: &c.diagonal,
            b: &c.rhs,
            out: &mut c.wide,
        }
        .run();
        let (mut shortened, mut most) = (S::ZERO, S::ZERO);
        for dof in 0..nv {
            let (held, step) = (c.held[dof], c.wide[dof]);
            let (mut beyond, mut allowed) = (S::ZERO, step);
            if let Some(at) = c.coordinates[dof] {
                let (y, (lower, upper)) = (self.q[at], c.bounds[dof]);
                let to = y + step;
                let (below, above) = (to - S::lift(lower), S::lift(upper) - to);
                allowed = below.where_below(0.0, S::lift(lower) - y, step);
                allowed = above.where_below(0.0, S::lift(upper) - y, allowed);
                beyond = below.where_below(0.0, S::ONE, above.where_below(0.0, S::ONE, S::ZERO));
            }
            // What is held stays where it is.
            let step = held.where_below(0.5, allowed, c.steps[dof]);
            let newly = held.where_below(0.5, beyond, S::ZERO);
            (c.steps[dof], c.held[dof]) = (step, held + newly);
            shortened += newly;
            most = larger(most, step.where_below(0.0, -step, step));
        }
        (c.shortened, c.most) = (shortened, most);
    }
}

/// Moves the lanes that go on by their steps, where all coordinates are plain numbers.
pub(super) struct Go<'a, S> {
    pub(super) control: &'a Control<S>,
    pub(super) q: &'a mut [S],
}

impl<S: Scalar> simd::Task for Go<'_, S> {
    #[inline(always)]
    fn run(self) {
        let c = self.control;
        for dof in 0..c.steps.len() {
            let Some(at) = c.coordinates[dof] else { continue };
            let (y, (lower, upper)) = (self.q[at], c.bounds[dof]);
            let mut to = y + c.steps[dof];
            to = (to - S::lift(lower)).where_below(0.0, S::lift(lower), to);
            to = (S::lift(upper) - to).where_below(0.0, S::lift(upper), to);
            self.q[at] = c.goes.where_below(0.5, y, to);
        }
    }
}
