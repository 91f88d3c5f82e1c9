//! What a step asks a mechanism at a configuration for: sweeps, and what these leave at the links.
//!
//! A step is written once, as a function that may wait wherever it asks for a sweep. Of a mechanism by itself the answer is there at
//! once ([`Alone`], [`now`]). Of worlds side by side it comes when the others have asked too, and one sweep in lanes serves them all.

use super::rows::Six;
use crate::Result;
use crate::simd::Instructions;
use crate::spatial::{Articulated, Force, Motion, Pose, Vec3};
use crate::workspace::{Augmented, AugmentedMass, Masses, Posed};
use core::pin::pin;
use core::task::{Context, Poll, Waker};

/// How links move, as [ω; v] in their compiled frames.
pub(super) trait Motions {
    fn motion(&self, k: usize) -> [f64; 6];
}

/// Forces on links, as [moment; force] in their compiled frames.
pub(super) trait Forces {
    fn force(&self, k: usize) -> [f64; 6];
    fn set_force(&mut self, k: usize, force: [f64; 6]);
}

/// Takes weights on links, and between them.
pub(super) trait Weights {
    fn weigh(&mut self, k: usize, weight: &Articulated<f64>);
    /// Whether weights between two links stay apart as rows.
    fn joins_by_rows(&self, ends: [usize; 2]) -> bool;
    fn weigh_row(&mut self, ends: [usize; 2], x: [[f64; 6]; 2], weight: f64);
    fn join(&mut self, one: usize, two: usize, weight: &Six);
}

impl Motions for Vec<Motion> {
    #[inline(always)]
    fn motion(&self, k: usize) -> [f64; 6] {
        self[k].to_array()
    }
}

impl Forces for [Force] {
    #[inline(always)]
    fn force(&self, k: usize) -> [f64; 6] {
        self[k].to_array()
    }

    #[inline(always)]
    fn set_force(&mut self, k: usize, force: [f64; 6]) {
        self[k] = Force::from_array(force);
    }
}

impl Forces for Vec<Force> {
    #[inline(always)]
    fn force(&self, k: usize) -> [f64; 6] {
        self[..].force(k)
    }

    #[inline(always)]
    fn set_force(&mut self, k: usize, force: [f64; 6]) {
        self[..].set_force(k, force);
    }
}

impl<M: Motions> Motions for &M {
    #[inline(always)]
    fn motion(&self, k: usize) -> [f64; 6] {
        (**self).motion(k)
    }
}

impl<F: Forces> Forces for &mut F {
    #[inline(always)]
    fn force(&self, k: usize) -> [f64; 6] {
        (**self).force(k)
    }

    #[inline(always)]
    fn set_force(&mut self, k: usize, force: [f64; 6]) {
        (**self).set_force(k, force);
    }
}

impl Weights for AugmentedMass<'_> {
    #[inline(always)]
    fn weigh(&mut self, k: usize, weight: &Articulated<f64>) {
        self.memory().weigh(k, weight);
    }

    #[inline(always)]
    fn joins_by_rows(&self, ends: [usize; 2]) -> bool {
        Self::joins_by_rows(self, ends)
    }

    #[inline(always)]
    fn weigh_row(&mut self, ends: [usize; 2], x: [[f64; 6]; 2], weight: f64) {
        Self::weigh_row(self, ends, x, weight);
    }

    #[inline(always)]
    fn join(&mut self, one: usize, two: usize, weight: &Six) {
        self.memory().pairs.join(one, two, weight);
    }
}

/// A mechanism at a configuration, with 𝓐 = 𝓜 + A + ΣJ*GJ. What is asked for has been answered when the wait is over; links' motions
/// are to be read before something else is asked for.
pub(super) trait Operator {
    /// What the processor has.
    fn instructions(&self) -> Instructions;
    /// 𝓐 = 𝓜.
    fn begin(&mut self) -> Result<()>;
    /// The mechanism by itself, for what is not asked for side by side: couplings, loops, contacts between two links of a tree.
    fn alone(&mut self) -> Option<(Posed<'_>, &mut Augmented)>;

    /// A link's compiled frame in the world, and its home there.
    fn link(&self, k: usize) -> Pose;
    fn home(&self, k: usize) -> Vec3;
    /// J𝓜⁻¹J* of links at home, in the world's axes; once it is known, those that are used are taken one by one.
    async fn find_yields(&mut self, own: &mut [Six]) -> Result<()>;
    fn take_yield(&self, k: usize, own: &mut [Six]);
    /// What two links of one tree yield to a force on the one and its opposite on the other, after these.
    fn yield_between(&self, a: usize, b: usize, force: Force) -> f64;
    /// D⁻¹ and G of a degree of freedom at home, after these.
    fn home_gain(&self, dof: usize) -> (f64, Force);
    /// An element of the diagonal of 𝓜⁻¹.
    async fn inverse_mass_element(&mut self, body: usize, dof: usize, room: &mut [f64]) -> Result<f64>;
    /// D⁻¹ of 𝓜; not of mechanisms with couplings.
    async fn inverse_mass_pivots(&mut self, out: &mut [f64]);
    /// 𝓜x + C at a velocity; x is zero if there is none.
    async fn inverse_dynamics(&mut self, at: &[f64], x: Option<&[f64]>, out: &mut [f64]) -> Result<()>;

    /// What the last sweep left of the links' motions.
    fn motions(&self) -> impl Motions;
    fn forces(&mut self) -> impl Forces;
    fn clear_forces(&mut self);
    fn weights(&mut self) -> impl Weights;
    fn clear_weights(&mut self);
    /// A, in the place of what was there.
    fn set_diagonal(&mut self, a: &[f64]);
    fn has_diagonal(&self) -> bool;
    /// Eliminates, if that has not been done since the last weight.
    async fn factor(&mut self) -> Result<()>;
    /// 𝓐⁻¹(x + J*f) after a factor.
    async fn solve(&mut self, x: Option<&[f64]>, pushed: bool, out: &mut [f64]);
    /// The links' motions at x.
    async fn move_links(&mut self, x: &[f64]);
    /// The same, and x*𝓜x.
    async fn move_with_energy(&mut self, x: &[f64]) -> f64;
    /// 𝓜x from the links' motions at x.
    async fn mass_times_moved(&mut self, x: &[f64], out: &mut [f64]);
    /// J*f.
    async fn gather(&mut self, out: &mut [f64]);
    /// Whether `innovations` are known.
    fn has_innovations(&self) -> bool;
    /// L⁻¹J*f of a force on at most two links after a factor, and with it what gives J𝓐⁻¹J* as a product.
    async fn innovations(&mut self, ends: [Option<usize>; 2], x: &[[f64; 6]; 2], eps: &mut [f64], weighed: &mut [f64]);
}

/// A mechanism by itself: nothing is waited for.
pub(super) struct Alone<'a, 'w> {
    pub(super) posed: &'a mut Posed<'w>,
    pub(super) memory: &'a mut Augmented,
}

impl Alone<'_, '_> {
    #[inline(always)]
    fn a(&mut self) -> AugmentedMass<'_> {
        self.posed.resume(self.memory)
    }
}

/// What a step of a mechanism by itself gives.
pub(super) fn now<T>(step: impl Future<Output = T>) -> T {
    match pin!(step).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => unreachable!("a mechanism by itself waits for nothing"),
    }
}

impl Operator for Alone<'_, '_> {
    fn instructions(&self) -> Instructions {
        self.posed.instructions()
    }

    fn begin(&mut self) -> Result<()> {
        self.posed.augment(self.memory, Masses::Kept).map(|_| ())
    }

    fn alone(&mut self) -> Option<(Posed<'_>, &mut Augmented)> {
        Some((self.posed.again(), self.memory))
    }

    #[inline(always)]
    fn link(&self, k: usize) -> Pose {
        self.posed.link(k)
    }

    #[inline(always)]
    fn home(&self, k: usize) -> Vec3 {
        self.posed.home(k)
    }

    async fn find_yields(&mut self, own: &mut [Six]) -> Result<()> {
        self.posed.compliances(own)
    }

    #[inline(always)]
    fn take_yield(&self, _: usize, _: &mut [Six]) {}

    #[inline(always)]
    fn yield_between(&self, a: usize, b: usize, force: Force) -> f64 {
        self.posed.yield_between(a, b, force)
    }

    fn home_gain(&self, dof: usize) -> (f64, Force) {
        self.posed.home_gain(dof)
    }

    async fn inverse_mass_element(&mut self, body: usize, dof: usize, room: &mut [f64]) -> Result<f64> {
        self.posed.inverse_mass_element(body, dof, room)
    }

    async fn inverse_mass_pivots(&mut self, out: &mut [f64]) {
        self.posed.inverse_mass_pivots(out);
    }

    async fn inverse_dynamics(&mut self, at: &[f64], x: Option<&[f64]>, out: &mut [f64]) -> Result<()> {
        let mut moving = self.posed.moving(at)?;
        match x {
            Some(x) => moving.inverse_dynamics(x, out),
            None => moving.bias(out),
        }
    }

    #[inline(always)]
    fn motions(&self) -> impl Motions {
        &self.memory.0.lambda
    }

    #[inline(always)]
    fn forces(&mut self) -> impl Forces {
        &mut self.memory.0.forces
    }

    fn clear_forces(&mut self) {
        self.memory.0.forces.fill(Force::ZERO);
    }

    #[inline(always)]
    fn weights(&mut self) -> impl Weights {
        self.a()
    }

    fn clear_weights(&mut self) {
        self.memory.0.clear_weights();
    }

    fn set_diagonal(&mut self, a: &[f64]) {
        self.a().set_diagonal(a);
    }

    fn has_diagonal(&self) -> bool {
        self.memory.0.has_diagonal
    }

    async fn factor(&mut self) -> Result<()> {
        self.a().factor()
    }

    async fn solve(&mut self, x: Option<&[f64]>, pushed: bool, out: &mut [f64]) {
        self.a().solve_pushed(x, pushed, out);
    }

    async fn move_links(&mut self, x: &[f64]) {
        self.a().move_links(x);
    }

    async fn move_with_energy(&mut self, x: &[f64]) -> f64 {
        let mut a = self.a();
        a.move_links(x);
        a.energy_moved(x)
    }

    async fn mass_times_moved(&mut self, x: &[f64], out: &mut [f64]) {
        self.a().mass_times_moved(x, out);
    }

    async fn gather(&mut self, out: &mut [f64]) {
        self.a().gather(out);
    }

    fn has_innovations(&self) -> bool {
        self.posed.mechanism().compiled.reduction.is_none() && self.memory.0.pairs.is_empty()
    }

    async fn innovations(&mut self, ends: [Option<usize>; 2], x: &[[f64; 6]; 2], eps: &mut [f64], weighed: &mut [f64]) {
        self.a().innovations(ends, x, eps, weighed);
    }
}
