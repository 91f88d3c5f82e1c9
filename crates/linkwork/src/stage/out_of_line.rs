//! Any joint, by calls.
//!
//! Sweeps over `f64` without FMA call a function for every multiply-add, and gain nothing from being in one piece. So what
//! happens at their joints is compiled once, and not in every sweep.

use super::crossing::{AnyJoint, Crossing};
use crate::body::{Gain, Hinge};
use crate::scalar::{Builds, Pack, Scalar};
use crate::spatial::{Articulated, Force, Motion, RigidBody, Row, Vec3};

/// Whether a sweep with one code for all joints takes them by calls: of what is shipped, only the sweeps for any processor
/// have one code for all.
pub(crate) const fn is_out_of_line<S: Scalar>() -> bool {
    matches!(S::BUILDS, Builds::Shipped)
}

/// Any joint, by calls.
#[derive(Clone, Copy)]
pub(crate) struct OutOfLine<'a, S>(pub(crate) AnyJoint<'a, S>);

macro_rules! calls {
    ($(fn $name:ident$(<$pack:ident>)?($($x:ident: $type:ty),*) -> $result:ty;)*) => {
        $(#[inline(never)]
        fn $name$(<$pack: Pack<S>>)?(self, $($x: $type),*) -> $result {
            self.0.$name($($x),*)
        })*
    };
}

impl<S: Scalar> Crossing<S> for OutOfLine<'_, S> {
    type Rest = Articulated<S>;

    calls! {
        fn force_in(f: Force<S>) -> Force<S>;
        fn motion_out(v: Motion<S>) -> Motion<S>;
        fn spin_out(w: Vec3<S>) -> (Vec3<S>, Vec3<S>);
        fn turn_out(v: Vec3<S>) -> Vec3<S>;
        fn carry_rigid_in(r: RigidBody<S>) -> RigidBody<S>;
        fn carry_in(p: Articulated<S>) -> Articulated<S>;
        fn carry_whole_in(p: Articulated<S>) -> Articulated<S>;
        fn place<P>(parent: Row<P>) -> Row<P>;
        fn release(p: Articulated<S>, armature: &[f64], gains: &mut [Gain<S>]) -> Articulated<S>;
        fn rest_times(rest: &Articulated<S>, v: Motion<S>) -> Force<S>;
    }

    #[inline(always)]
    fn hinge(self) -> Hinge {
        self.0.hinge()
    }

    #[inline(always)]
    fn full(self, rest: &Articulated<S>) -> Articulated<S> {
        *rest
    }

    #[inline(always)]
    fn rest(self, full: &Articulated<S>) -> Articulated<S> {
        *full
    }
}
