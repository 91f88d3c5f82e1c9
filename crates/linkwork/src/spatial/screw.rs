//! Planar turns and screws: what every rigid step of a sweep is made of.
//!
//! Any placement factors into a screw about z, one about x and one about z again. Each turns one plane only, so a
//! symmetric 2×2 block changes instead of a 3×3 matrix.

use super::{Force, Motion, Pose, Row, Rows, Vec3};
use crate::scalar::Scalar;

/// A turn of one plane, applied to what lives in it.
pub(crate) trait PlanarTurn<S: Scalar>: Copy {
    /// A vector (u, v), turned.
    fn pair(self, u: S, v: S) -> (S, S);
    /// A vector (u, v), turned back.
    fn pair_back(self, u: S, v: S) -> (S, S);
    /// The symmetric [[a, b], [b, d]], both sides turned.
    fn symmetric(self, a: S, b: S, d: S) -> (S, S, S);
    /// Any [[a, b], [c, d]], both sides turned.
    fn block(self, a: S, b: S, c: S, d: S) -> (S, S, S, S);
    /// A vector (u, 0), turned.
    fn first(self, u: S) -> (S, S);
    /// The symmetric [[a, 0], [0, 0]], both sides turned.
    fn corner(self, a: S) -> (S, S, S);
    /// A shift along y that comes with the turn; none for most.
    #[inline]
    fn across(self) -> Option<S> {
        None
    }
    /// The shift along x that goes with the turn: for most the same in every lane.
    #[inline]
    fn along(self, everywhere: f64) -> S {
        S::lift(everywhere)
    }
    /// Whether there is such a shift. One number is as quick with a shift by zero as with a branch.
    #[inline]
    fn shifts(self, everywhere: f64) -> bool {
        if const { S::LANES == 1 } {
            true
        } else {
            everywhere != 0.0
        }
    }
}

/// A turn that no state changes: one for every kind of number.
pub(crate) trait ConstantTurn: Copy {
    /// As it applies to one kind.
    type Of<S: Scalar>: PlanarTurn<S>;
    /// The same turn.
    fn of<S: Scalar>(self) -> Self::Of<S>;
}

macro_rules! constant_turns {
    ($($turn:ty),*) => {$(
        impl ConstantTurn for $turn {
            type Of<S: Scalar> = Self;
            #[inline]
            fn of<S: Scalar>(self) -> Self {
                self
            }
        }
    )*};
}

constant_turns!(Flat, Quarter, Lean, Skew);

/// A turn by any angle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<S> {
    pub(crate) cos: S,
    pub(crate) sin: S,
}

impl<S: Scalar> PlanarTurn<S> for Turn<S> {
    #[inline]
    fn pair(self, u: S, v: S) -> (S, S) {
        (self.cos.mul_sub(u, self.sin * v), self.cos.mul_add(v, self.sin * u))
    }

    /// In sweeps outward it is v that comes late.
    #[inline]
    fn pair_back(self, u: S, v: S) -> (S, S) {
        (self.sin.mul_add(v, self.cos * u), self.cos.mul_sub(v, self.sin * u))
    }

    /// As squares and products of sine and cosine: the shorter a + s(s(d − a) − 2cb) cancels where a moment is small.
    #[inline(always)]
    fn symmetric(self, a: S, b: S, d: S) -> (S, S, S) {
        let (cc, ss, cs) = (self.cos * self.cos, self.sin * self.sin, self.cos * self.sin);
        let across = cs * (b + b);
        (
            cc.mul_add(a, ss.mul_sub(d, across)),
            cs.mul_add(a - d, (cc - ss) * b),
            ss.mul_add(a, cc.mul_add(d, across)),
        )
    }

    #[inline(always)]
    fn block(self, a: S, b: S, c: S, d: S) -> (S, S, S, S) {
        let (cc, ss, cs) = (self.cos * self.cos, self.sin * self.sin, self.cos * self.sin);
        let (across, along) = (cs * (b + c), cs * (a - d));
        (
            cc.mul_add(a, ss.mul_sub(d, across)),
            cc.mul_add(b, (-ss).mul_add(c, along)),
            cc.mul_add(c, (-ss).mul_add(b, along)),
            ss.mul_add(a, cc.mul_add(d, across)),
        )
    }

    #[inline]
    fn first(self, u: S) -> (S, S) {
        (self.cos * u, self.sin * u)
    }

    #[inline]
    fn corner(self, a: S) -> (S, S, S) {
        let (u, v) = self.first(a);
        (self.cos * u, self.cos * v, self.sin * v)
    }
}

/// No turn at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flat;

impl<S: Scalar> PlanarTurn<S> for Flat {
    #[inline]
    fn pair(self, u: S, v: S) -> (S, S) {
        (u, v)
    }

    #[inline]
    fn pair_back(self, u: S, v: S) -> (S, S) {
        (u, v)
    }

    #[inline(always)]
    fn symmetric(self, a: S, b: S, d: S) -> (S, S, S) {
        (a, b, d)
    }

    #[inline(always)]
    fn block(self, a: S, b: S, c: S, d: S) -> (S, S, S, S) {
        (a, b, c, d)
    }

    #[inline]
    fn first(self, u: S) -> (S, S) {
        (u, S::ZERO)
    }

    #[inline]
    fn corner(self, a: S) -> (S, S, S) {
        (a, S::ZERO, S::ZERO)
    }
}

/// A quarter turn: nothing but exchanges and signs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quarter;

impl<S: Scalar> PlanarTurn<S> for Quarter {
    #[inline]
    fn pair(self, u: S, v: S) -> (S, S) {
        (-v, u)
    }

    #[inline]
    fn pair_back(self, u: S, v: S) -> (S, S) {
        (v, -u)
    }

    #[inline(always)]
    fn symmetric(self, a: S, b: S, d: S) -> (S, S, S) {
        (d, -b, a)
    }

    #[inline(always)]
    fn block(self, a: S, b: S, c: S, d: S) -> (S, S, S, S) {
        (d, -c, -b, a)
    }

    #[inline]
    fn first(self, u: S) -> (S, S) {
        (S::ZERO, u)
    }

    #[inline]
    fn corner(self, a: S) -> (S, S, S) {
        (S::ZERO, S::ZERO, a)
    }
}

/// A constant turn by any angle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lean {
    pub(crate) cos: f64,
    pub(crate) sin: f64,
}

impl Lean {
    #[inline]
    fn lift<S: Scalar>(self) -> Turn<S> {
        Turn {
            cos: S::lift(self.cos),
            sin: S::lift(self.sin),
        }
    }
}

impl<S: Scalar> PlanarTurn<S> for Lean {
    #[inline]
    fn pair(self, u: S, v: S) -> (S, S) {
        self.lift().pair(u, v)
    }

    #[inline]
    fn pair_back(self, u: S, v: S) -> (S, S) {
        self.lift().pair_back(u, v)
    }

    #[inline(always)]
    fn symmetric(self, a: S, b: S, d: S) -> (S, S, S) {
        self.lift().symmetric(a, b, d)
    }

    #[inline(always)]
    fn block(self, a: S, b: S, c: S, d: S) -> (S, S, S, S) {
        self.lift().block(a, b, c, d)
    }

    #[inline]
    fn first(self, u: S) -> (S, S) {
        (S::lift(self.cos) * u, S::lift(self.sin) * u)
    }

    #[inline]
    fn corner(self, a: S) -> (S, S, S) {
        let Self { cos, sin } = self;
        (S::lift(cos * cos) * a, S::lift(cos * sin) * a, S::lift(sin * sin) * a)
    }
}

/// A constant turn with a shift along y: between axes that are almost, but not quite, parallel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skew {
    pub(crate) lean: Lean,
    pub(crate) across: f64,
}

impl<S: Scalar> PlanarTurn<S> for Skew {
    #[inline]
    fn pair(self, u: S, v: S) -> (S, S) {
        self.lean.pair(u, v)
    }

    #[inline]
    fn pair_back(self, u: S, v: S) -> (S, S) {
        self.lean.pair_back(u, v)
    }

    #[inline(always)]
    fn symmetric(self, a: S, b: S, d: S) -> (S, S, S) {
        self.lean.symmetric(a, b, d)
    }

    #[inline(always)]
    fn block(self, a: S, b: S, c: S, d: S) -> (S, S, S, S) {
        self.lean.block(a, b, c, d)
    }

    #[inline]
    fn first(self, u: S) -> (S, S) {
        self.lean.first(u)
    }

    #[inline]
    fn corner(self, a: S) -> (S, S, S) {
        self.lean.corner(a)
    }

    #[inline]
    fn across(self) -> Option<S> {
        if self.across != 0.0 {
            Some(S::lift(self.across))
        } else {
            None
        }
    }
}

/// A constant turn of its own in every lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaning<S>(pub(crate) Turn<S>);

impl<S: Scalar> PlanarTurn<S> for Leaning<S> {
    #[inline]
    fn pair(self, u: S, v: S) -> (S, S) {
        self.0.pair(u, v)
    }

    #[inline]
    fn pair_back(self, u: S, v: S) -> (S, S) {
        self.0.pair_back(u, v)
    }

    #[inline(always)]
    fn symmetric(self, a: S, b: S, d: S) -> (S, S, S) {
        self.0.symmetric(a, b, d)
    }

    #[inline(always)]
    fn block(self, a: S, b: S, c: S, d: S) -> (S, S, S, S) {
        self.0.block(a, b, c, d)
    }

    #[inline]
    fn first(self, u: S) -> (S, S) {
        self.0.first(u)
    }

    /// Rounded as [`Lean`] does.
    #[inline]
    fn corner(self, a: S) -> (S, S, S) {
        let Turn { cos, sin } = self.0;
        (cos * cos * a, cos * sin * a, sin * sin * a)
    }
}

/// A turn whose shifts are others in every lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart<S, T> {
    pub(crate) turn: T,
    pub(crate) along: S,
    pub(crate) across: Option<S>,
}

impl<S: Scalar, T: PlanarTurn<S>> PlanarTurn<S> for Apart<S, T> {
    #[inline]
    fn pair(self, u: S, v: S) -> (S, S) {
        self.turn.pair(u, v)
    }

    #[inline]
    fn pair_back(self, u: S, v: S) -> (S, S) {
        self.turn.pair_back(u, v)
    }

    #[inline(always)]
    fn symmetric(self, a: S, b: S, d: S) -> (S, S, S) {
        self.turn.symmetric(a, b, d)
    }

    #[inline(always)]
    fn block(self, a: S, b: S, c: S, d: S) -> (S, S, S, S) {
        self.turn.block(a, b, c, d)
    }

    #[inline]
    fn first(self, u: S) -> (S, S) {
        self.turn.first(u)
    }

    #[inline]
    fn corner(self, a: S) -> (S, S, S) {
        self.turn.corner(a)
    }

    #[inline]
    fn across(self) -> Option<S> {
        self.across
    }

    #[inline]
    fn along(self, _: f64) -> S {
        self.along
    }

    #[inline]
    fn shifts(self, _: f64) -> bool {
        true
    }
}

/// A turn about z and a shift along z.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Screw<S> {
    pub(crate) turn: Turn<S>,
    pub(crate) shift: S,
}

impl Screw<f64> {
    #[inline]
    pub(crate) fn lift<S: Scalar>(&self) -> Screw<S> {
        Screw::new(S::lift(self.turn.cos), S::lift(self.turn.sin), S::lift(self.shift))
    }
}

impl<S: Scalar> Screw<S> {
    #[inline]
    pub(crate) fn new(cos: S, sin: S, shift: S) -> Self {
        Self {
            turn: Turn { cos, sin },
            shift,
        }
    }

    /// The frame that the screw takes a frame to.
    #[inline(always)]
    pub(crate) fn after(self, mut row: Row<S>) -> Row<S> {
        (row.x, row.y) = self.turn.pair_back(row.x, row.y);
        row.origin = row.z.mul_add(self.shift, row.origin);
        row
    }

    /// The same for a whole frame.
    #[inline(always)]
    pub(crate) fn after_pose(self, pose: &Pose<S>) -> Pose<S> {
        let mut rows = Rows::<S>::of(pose);
        for row in &mut rows.0 {
            *row = self.after(*row);
        }
        rows.pose()
    }

    #[inline]
    pub(crate) fn vector_in(self, v: Vec3<S>) -> Vec3<S> {
        let (x, y) = self.turn.pair(v.x, v.y);
        Vec3::new(x, y, v.z)
    }

    #[inline]
    pub(crate) fn vector_out(self, v: Vec3<S>) -> Vec3<S> {
        let (x, y) = self.turn.pair_back(v.x, v.y);
        Vec3::new(x, y, v.z)
    }

    /// φ f.
    #[inline(always)]
    pub(crate) fn force_in(self, f: Force<S>) -> Force<S> {
        self.turn_in(self.slide_in(f))
    }

    /// φ f of the shift alone, which comes first.
    #[inline(always)]
    pub(crate) fn slide_in(self, mut f: Force<S>) -> Force<S> {
        f.moment.x = (-self.shift).mul_add(f.force.y, f.moment.x);
        f.moment.y = self.shift.mul_add(f.force.x, f.moment.y);
        f
    }

    /// φ f of the turn alone.
    #[inline(always)]
    pub(crate) fn turn_in(self, f: Force<S>) -> Force<S> {
        Force {
            moment: self.vector_in(f.moment),
            force: self.vector_in(f.force),
        }
    }

    /// φ* V.
    #[inline(always)]
    pub(crate) fn motion_out(self, v: Motion<S>) -> Motion<S> {
        let (w, u, d) = (self.vector_out(v.angular), self.vector_out(v.linear), self.shift);
        Motion {
            angular: w,
            linear: Vec3::new(d.mul_add(w.y, u.x), (-d).mul_add(w.x, u.y), u.z),
        }
    }
}

/// A constant turn about x and a shift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tilt<T> {
    pub(crate) turn: T,
    /// Shift along x: the common normal of two joint axes.
    pub(crate) along: f64,
}

impl<T: Copy> Tilt<T> {
    /// As it applies to one kind of number.
    #[inline]
    pub(crate) fn of<S: Scalar>(self) -> Tilt<T::Of<S>>
    where
        T: ConstantTurn,
    {
        Tilt {
            turn: self.turn.of(),
            along: self.along,
        }
    }

    /// The frame that the tilt takes a frame to.
    #[inline(always)]
    pub(crate) fn after<S: Scalar>(&self, mut row: Row<S>) -> Row<S>
    where
        T: PlanarTurn<S>,
    {
        row.origin = row.x.mul_add(self.turn.along(self.along), row.origin);
        if let Some(b) = self.turn.across() {
            row.origin = row.y.mul_add(b, row.origin);
        }
        (row.y, row.z) = self.turn.pair_back(row.y, row.z);
        row
    }

    #[inline]
    pub(crate) fn vector_in<S: Scalar>(&self, mut v: Vec3<S>) -> Vec3<S>
    where
        T: PlanarTurn<S>,
    {
        (v.y, v.z) = self.turn.pair(v.y, v.z);
        v
    }

    #[inline]
    pub(crate) fn vector_out<S: Scalar>(&self, mut v: Vec3<S>) -> Vec3<S>
    where
        T: PlanarTurn<S>,
    {
        (v.y, v.z) = self.turn.pair_back(v.y, v.z);
        v
    }

    /// φ f.
    #[inline(always)]
    pub(crate) fn force_in<S: Scalar>(&self, f: Force<S>) -> Force<S>
    where
        T: PlanarTurn<S>,
    {
        let (mut n, f) = (self.vector_in(f.moment), self.vector_in(f.force));
        if self.turn.shifts(self.along) {
            let a = self.turn.along(self.along);
            n.y = (-a).mul_add(f.z, n.y);
            n.z = a.mul_add(f.y, n.z);
        }
        if let Some(b) = self.turn.across() {
            n.x = b.mul_add(f.z, n.x);
            n.z = (-b).mul_add(f.x, n.z);
        }
        Force { moment: n, force: f }
    }

    /// φ* V.
    #[inline(always)]
    pub(crate) fn motion_out<S: Scalar>(&self, v: Motion<S>) -> Motion<S>
    where
        T: PlanarTurn<S>,
    {
        let (w, mut u) = (v.angular, v.linear);
        let a = self.turn.along(self.along);
        u.y = a.mul_add(w.z, u.y);
        u.z = (-a).mul_add(w.y, u.z);
        if let Some(b) = self.turn.across() {
            u.x = (-b).mul_add(w.z, u.x);
            u.z = b.mul_add(w.x, u.z);
        }
        Motion {
            angular: self.vector_out(w),
            linear: self.vector_out(u),
        }
    }
}
