//! Σ over the children, in an inward sweep.

use crate::body::Body;
use crate::scalar::{Scalar, unrolled};
use crate::spatial::{Articulated, Force, RigidBody};
use core::ops::AddAssign;

/// What children hand to their parents in an inward sweep.
///
/// Links are depth-first: the next link, if it is a child, is the one just visited, and what it hands in stays in
/// registers. Only the other children of a branching link go through memory.
pub(crate) struct Inflow<'a, S, T> {
    carried: T,
    waiting: &'a mut Waiting<S>,
}

/// Room for what waits at branching links; zero between sweeps.
///
/// Numbers stand apart in memory: side by side they would tempt the compiler into packing the arithmetic that makes
/// them, which is slower for the many different formulas of an inertia (a measured fifth of forward dynamics).
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting<S>(Vec<[S; 2]>);

impl<S: Scalar> Waiting<S> {
    /// Room at so many branching links, for anything that sweeps hand in.
    pub(crate) fn new(branches: usize) -> Self {
        Self(vec![[S::ZERO; 2]; branches * Articulated::<S>::NUMBERS])
    }
}

/// Something that is handed in.
pub(crate) trait Handed<S>: Copy + AddAssign {
    /// Nothing.
    const ZERO: Self;
    /// How many numbers it has.
    const NUMBERS: usize;
    /// Adds each number to its place.
    fn leave(self, places: &mut [[S; 2]]);
    /// Takes the numbers, and leaves zeros.
    fn fetch(places: &mut [[S; 2]]) -> Self;
}

impl<'a, S: Scalar, T: Handed<S>> Inflow<'a, S, T> {
    #[inline(always)]
    pub(crate) fn new(waiting: &'a mut Waiting<S>) -> Self {
        Self {
            carried: T::ZERO,
            waiting,
        }
    }

    /// own(k) + Σ_c (what child c handed in).
    #[inline(always)]
    pub(crate) fn gather<U>(&mut self, body: &Body, own: U) -> T
    where
        T: From<U> + AddAssign<U>,
    {
        let mut sum = if body.has_child {
            let mut sum = self.carried;
            sum += own;
            sum
        } else {
            T::from(own)
        };
        if let Some(slot) = body.branch {
            sum += T::fetch(&mut self.waiting.0[slot * T::NUMBERS..][..T::NUMBERS]);
        }
        sum
    }

    /// Σ_c (what child c handed in).
    #[inline(always)]
    pub(crate) fn gather_children(&mut self, body: &Body) -> T {
        let mut sum = if body.has_child { self.carried } else { T::ZERO };
        if let Some(slot) = body.branch {
            sum += T::fetch(&mut self.waiting.0[slot * T::NUMBERS..][..T::NUMBERS]);
        }
        sum
    }

    /// Hands y in from a link to its parent.
    #[inline(always)]
    pub(crate) fn hand_in(&mut self, body: &Body, y: T) {
        match body.hands_to {
            Some(slot) => y.leave(&mut self.waiting.0[slot * T::NUMBERS..][..T::NUMBERS]),
            None => self.carried = y,
        }
    }

    /// The same without keeping what was carried before, which nobody asks for: the link visited next is the parent, or has
    /// no child. So there need be no registers for both.
    #[inline(always)]
    pub(crate) fn hand_over(&mut self, body: &Body, y: T) {
        self.carried = y;
        if let Some(slot) = body.hands_to {
            y.leave(&mut self.waiting.0[slot * T::NUMBERS..][..T::NUMBERS]);
        }
    }
}

#[inline(always)]
fn add<S: Scalar, const N: usize>(x: [S; N], places: &mut [[S; 2]]) {
    let places = &mut places[..N];
    unrolled!(I in 0 1 2 3 4 5 6 7 8 9 => if const { I < N } { places[I][0] += x[I] });
}

#[inline(always)]
fn fetch<S: Scalar, const N: usize>(places: &mut [[S; 2]]) -> [S; N] {
    let (mut x, places) = ([S::ZERO; N], &mut places[..N]);
    unrolled!(I in 0 1 2 3 4 5 6 7 8 9 => if const { I < N } {
        x[I] = places[I][0];
        places[I][0] = S::ZERO;
    });
    x
}

impl<S: Scalar> Handed<S> for Force<S> {
    const ZERO: Self = Self::ZERO;
    const NUMBERS: usize = 6;

    #[inline(always)]
    fn leave(self, places: &mut [[S; 2]]) {
        add(self.to_array(), places);
    }

    #[inline(always)]
    fn fetch(places: &mut [[S; 2]]) -> Self {
        Self::from_array(fetch(places))
    }
}

impl<S: Scalar> Handed<S> for RigidBody<S> {
    const ZERO: Self = Self::ZERO;
    const NUMBERS: usize = 10;

    #[inline(always)]
    fn leave(self, places: &mut [[S; 2]]) {
        add(self.to_array(), places);
    }

    #[inline(always)]
    fn fetch(places: &mut [[S; 2]]) -> Self {
        Self::from_array(fetch(places))
    }
}

impl<S: Scalar> Handed<S> for Articulated<S> {
    const ZERO: Self = Self::ZERO;
    const NUMBERS: usize = 21;

    #[inline(always)]
    fn leave(self, places: &mut [[S; 2]]) {
        add(self.a, places);
        add(self.c, &mut places[6..]);
        add(self.b[0], &mut places[12..]);
        add(self.b[1], &mut places[15..]);
        add(self.b[2], &mut places[18..]);
    }

    #[inline(always)]
    fn fetch(places: &mut [[S; 2]]) -> Self {
        Self {
            a: fetch(places),
            c: fetch(&mut places[6..]),
            b: [
                fetch(&mut places[12..]),
                fetch(&mut places[15..]),
                fetch(&mut places[18..]),
            ],
        }
    }
}
