//! What happens at a joint: φ(p, k), H(k) and the release of P.
//!
//! A sweep handles every link alike through [`Crossing`]. Most links of most robots hang on a revolute joint, for which
//! H picks one coordinate and the way to the parent is a screw and a tilt: [`Turning`] is that case, compiled once per
//! kind of tilt. [`AnyJoint`] is every other. `at_joint!` picks between them, once per link.

use super::branches::{pass_columns, read, write_column};
use super::joints::Joints;
use super::way_to_parent::{Across, AnyWay, Way, centripetal, spread_pose, spread_screw};
use crate::body::{Body, Gain, Hinge, Passage, sizes};
use crate::model::Compiled;
use crate::plan::Passed;
use crate::scalar::{Pack, Register, Scalar};
use crate::spatial::{
    Articulated, ArticulatedAboutZ, ConstantTurn, Flat, Force, Motion, Pose, Quarter, RigidBody, Row, Screw, Skew, Vec3,
};

/// φ(p, k) and H(k) of one link.
pub(crate) trait Crossing<S: Scalar>: Copy {
    /// P⁺.
    type Rest: Copy;

    /// φ f.
    fn force_in(self, f: Force<S>) -> Force<S>;
    /// φ* V.
    fn motion_out(self, v: Motion<S>) -> Motion<S>;
    /// The parent's ω seen from the link, and the centripetal acceleration ω × (ω × l) that it gives the link's origin.
    fn spin_out(self, w: Vec3<S>) -> (Vec3<S>, Vec3<S>);
    /// A vector of the parent, in the link's axes.
    fn turn_out(self, v: Vec3<S>) -> Vec3<S>;
    /// φ r φ*.
    fn carry_rigid_in(self, r: RigidBody<S>) -> RigidBody<S>;
    /// φ r φ*, and φ f of a column of r.
    #[inline(always)]
    fn carry_column_in(self, r: RigidBody<S>, f: Force<S>) -> (RigidBody<S>, Force<S>) {
        (self.carry_rigid_in(r), self.force_in(f))
    }
    /// φ P⁺ φ*.
    fn carry_in(self, rest: Self::Rest) -> Articulated<S>;
    /// φPφ* of a P that the joint has not released, or not all of it.
    fn carry_whole_in(self, p: Articulated<S>) -> Articulated<S>;

    /// The link's place from its parent's, row by row.
    fn place<P: Pack<S>>(self, parent: Row<P>) -> Row<P>;

    /// The joint.
    fn hinge(self) -> Hinge;
    /// D, G and P⁺ from P.
    fn release(self, p: Articulated<S>, armature: &[f64], gains: &mut [Gain<S>]) -> Self::Rest;
    /// P⁺ V.
    fn rest_times(self, rest: &Self::Rest, v: Motion<S>) -> Force<S>;
    /// P⁺ in full, and back.
    fn full(self, rest: &Self::Rest) -> Articulated<S>;
    /// P⁺ from full.
    fn rest(self, full: &Articulated<S>) -> Self::Rest;
}

/// A revolute joint without armature, behind a moving parent.
#[derive(Clone, Copy)]
pub(crate) struct Turning<'a, S, T>(pub(crate) Way<'a, S, T>);

/// A prismatic joint, behind a moving parent.
#[derive(Clone, Copy)]
pub(crate) struct Sliding<'a, S, T>(pub(crate) Way<'a, S, T>);

macro_rules! same_way {
    ($scalar:ty) => {
        #[inline(always)]
        fn force_in(self, f: Force<$scalar>) -> Force<$scalar> {
            self.0.force_in(f)
        }

        #[inline(always)]
        fn motion_out(self, v: Motion<$scalar>) -> Motion<$scalar> {
            self.0.motion_out(v)
        }

        #[inline(always)]
        fn spin_out(self, w: Vec3<$scalar>) -> (Vec3<$scalar>, Vec3<$scalar>) {
            self.0.spin_out(w)
        }

        #[inline(always)]
        fn turn_out(self, v: Vec3<$scalar>) -> Vec3<$scalar> {
            self.0.turn_out(v)
        }

        #[inline(always)]
        fn place<P: Pack<$scalar>>(self, parent: Row<P>) -> Row<P> {
            self.0.spread::<P>().place(parent)
        }

        #[inline(always)]
        fn carry_rigid_in(self, r: RigidBody<$scalar>) -> RigidBody<$scalar> {
            self.0.carry_rigid_in(r)
        }

        #[inline(always)]
        fn carry_column_in(self, r: RigidBody<$scalar>, f: Force<$scalar>) -> (RigidBody<$scalar>, Force<$scalar>) {
            self.0.carry_column_in(r, f)
        }
    };
}

impl<S: Scalar, T: ConstantTurn> Crossing<S> for Turning<'_, S, T> {
    type Rest = ArticulatedAboutZ<S>;

    same_way!(S);

    #[inline(always)]
    fn carry_in(self, rest: Self::Rest) -> Articulated<S> {
        self.0.carry_in_about_z(rest)
    }

    #[inline(always)]
    fn carry_whole_in(self, p: Articulated<S>) -> Articulated<S> {
        self.0.carry_in(p)
    }

    #[inline(always)]
    fn hinge(self) -> Hinge {
        Hinge::Revolute
    }

    #[inline(always)]
    fn release(self, p: Articulated<S>, _: &[f64], gains: &mut [Gain<S>]) -> Self::Rest {
        let d_inv = p.a[5].recip();
        let (g, rest) = p.release_about_z(d_inv);
        gains[0] = Gain { d_inv, g }.judged(p.a[5], sizes(&p)[0]);
        rest
    }

    #[inline(always)]
    fn rest_times(self, rest: &Self::Rest, v: Motion<S>) -> Force<S> {
        rest.times(v)
    }

    #[inline(always)]
    fn full(self, rest: &Self::Rest) -> Articulated<S> {
        (*rest).into()
    }

    #[inline(always)]
    fn rest(self, full: &Articulated<S>) -> Self::Rest {
        full.about_z()
    }
}

impl<S: Scalar, T: ConstantTurn> Crossing<S> for Sliding<'_, S, T> {
    type Rest = Articulated<S>;

    same_way!(S);

    #[inline(always)]
    fn carry_in(self, rest: Self::Rest) -> Articulated<S> {
        self.0.carry_in(rest)
    }

    #[inline(always)]
    fn carry_whole_in(self, p: Articulated<S>) -> Articulated<S> {
        self.0.carry_in(p)
    }

    #[inline(always)]
    fn hinge(self) -> Hinge {
        Hinge::Prismatic
    }

    #[inline(always)]
    fn release(self, p: Articulated<S>, armature: &[f64], gains: &mut [Gain<S>]) -> Self::Rest {
        Hinge::Prismatic.release(p, armature, gains)
    }

    #[inline(always)]
    fn rest_times(self, rest: &Self::Rest, v: Motion<S>) -> Force<S> {
        rest.times(v)
    }

    #[inline(always)]
    fn full(self, rest: &Self::Rest) -> Articulated<S> {
        *rest
    }

    #[inline(always)]
    fn rest(self, full: &Articulated<S>) -> Self::Rest {
        *full
    }
}

/// Any joint.
#[derive(Clone, Copy)]
pub(crate) struct AnyJoint<'a, S> {
    pub(crate) body: &'a Body,
    pub(crate) z: Screw<S>,
    pub(crate) general: &'a [Pose<S>],
}

impl<'a, S: Scalar> AnyJoint<'a, S> {
    /// That of a link.
    #[inline(always)]
    pub(crate) fn new(m: &'a Compiled, joints: &'a Joints<S>, k: usize) -> Self {
        Self {
            body: &m.bodies[k],
            z: joints.screws[k],
            general: &joints.general,
        }
    }
}

/// Runs one of three expressions, by how a link hangs on its parent.
macro_rules! by_route {
    (<$scalar:ty> $joint:expr, root $placement:ident => $root:expr, screws $way:ident => $screws:expr, general $pose:ident => $general:expr) => {{
        let body = $joint.body;
        match body.passage {
            Passage::Root => {
                let $placement = body.placement.lift::<$scalar>();
                $root
            }
            Passage::General => {
                let $pose = &$joint.general[body.general];
                $general
            }
            _ => {
                let $way = AnyWay::new(body, $joint.z);
                $screws
            }
        }
    }};
}

impl<S: Scalar> AnyJoint<'_, S> {
    /// φ f of the columns in lanes that pass it, in place; and first, where a turning joint wants it, H f.
    #[inline(always)]
    pub(crate) fn forces_in<P: Pack<S>>(
        self,
        columns: &mut [Register<S>],
        turned: &mut [Register<S>],
        passed: &Passed,
    ) {
        let (body, z) = (self.body, self.z);
        match body.passage {
            // Nothing goes into the world.
            Passage::Root => {}
            Passage::TurnFlat | Passage::ScrewFlat => {
                let way = Way::new(body, Flat, z).spread::<P>();
                pass_columns!(<P> columns, turned, passed, f => way.force_in(f));
            }
            Passage::TurnQuarter | Passage::SlideQuarter | Passage::ScrewQuarter => {
                let way = Way::new(body, Quarter, z).spread::<P>();
                pass_columns!(<P> columns, turned, passed, f => way.force_in(f));
            }
            Passage::TurnLean | Passage::ScrewLean | Passage::ScrewSkew => {
                let (lean, across) = (body.lean, body.across);
                let way = Way::new(body, Skew { lean, across }, z).spread::<P>();
                pass_columns!(<P> columns, turned, passed, f => way.force_in(f));
            }
            Passage::General => {
                let pose = spread_pose::<S, P>(&self.general[body.general]);
                pass_columns!(<P> columns, turned, passed, f => pose.force_in(f));
            }
        }
    }
}

impl<S: Scalar> Crossing<S> for AnyJoint<'_, S> {
    type Rest = Articulated<S>;

    #[inline(always)]
    fn force_in(self, f: Force<S>) -> Force<S> {
        by_route!(<S> self,
            root placement => placement.force_in(self.z.force_in(f)),
            screws way => way.force_in(f),
            general pose => pose.force_in(f))
    }

    #[inline(always)]
    fn motion_out(self, v: Motion<S>) -> Motion<S> {
        by_route!(<S> self,
            // The world does not turn.
            root placement => Motion {
                angular: Vec3::ZERO,
                linear: self.z.vector_out(placement.rotation.inverse_mul(v.linear)),
            },
            screws way => way.motion_out(v),
            general pose => pose.motion_out(v))
    }

    #[inline(always)]
    fn spin_out(self, w: Vec3<S>) -> (Vec3<S>, Vec3<S>) {
        by_route!(<S> self,
        root _placement => (Vec3::ZERO, Vec3::ZERO),
        screws way => way.spin_out(w),
        general pose => {
            let c = centripetal(w, pose.translation);
            (pose.rotation.inverse_mul(w), pose.rotation.inverse_mul(c))
        })
    }

    #[inline(always)]
    fn turn_out(self, v: Vec3<S>) -> Vec3<S> {
        by_route!(<S> self,
            root placement => self.z.vector_out(placement.rotation.inverse_mul(v)),
            screws way => way.turn_out(v),
            general pose => pose.rotation.inverse_mul(v))
    }

    #[inline(always)]
    fn place<P: Pack<S>>(self, parent: Row<P>) -> Row<P> {
        by_route!(<S> self,
            root placement => spread_screw(self.z).after(parent.times(&placement)),
            screws way => way.spread::<P>().place(parent),
            general pose => parent.times(pose))
    }

    #[inline(always)]
    fn carry_rigid_in(self, r: RigidBody<S>) -> RigidBody<S> {
        by_route!(<S> self,
            root _placement => r,
            screws way => way.carry_rigid_in(r),
            general pose => r.through(pose))
    }

    #[inline(always)]
    fn carry_in(self, p: Articulated<S>) -> Articulated<S> {
        if const { S::SPECIAL } && self.body.turns {
            let (lean, across) = (self.body.lean, self.body.across);
            return Way::new(self.body, Skew { lean, across }, self.z).carry_in_about_z(p.about_z());
        }
        self.carry_whole_in(p)
    }

    #[inline(always)]
    fn carry_whole_in(self, p: Articulated<S>) -> Articulated<S> {
        by_route!(<S> self,
            // Nothing is carried into the world.
            root _placement => p,
            screws way => way.carry_in(p),
            general pose => p.through(pose))
    }

    #[inline(always)]
    fn hinge(self) -> Hinge {
        self.body.hinge
    }

    #[inline(always)]
    fn release(self, p: Articulated<S>, armature: &[f64], gains: &mut [Gain<S>]) -> Self::Rest {
        self.body.hinge.release(p, armature, gains)
    }

    #[inline(always)]
    fn rest_times(self, rest: &Self::Rest, v: Motion<S>) -> Force<S> {
        if const { S::SPECIAL } && self.body.turns {
            return rest.about_z().times(v);
        }
        rest.times(v)
    }

    #[inline(always)]
    fn full(self, rest: &Self::Rest) -> Articulated<S> {
        *rest
    }

    #[inline(always)]
    fn rest(self, full: &Articulated<S>) -> Self::Rest {
        *full
    }
}

/// Runs `$run` with `$joint` bound to the crossing of link `$k`, over a scalar, with code of its own for the commonest joints
/// or without.
macro_rules! at_joint {
    (<$scalar:ty, $special:ident> $bodies:expr, $joints:expr, $k:expr, $joint:ident => $run:expr) => {{
        use $crate::body::Passage;
        use $crate::spatial::{Flat, Quarter};
        use $crate::stage::crossing::{AnyJoint, Sliding, Turning};
        use $crate::stage::out_of_line::{OutOfLine, is_out_of_line};
        use $crate::stage::way_to_parent::Way;
        let body: &$crate::body::Body = &$bodies[$k];
        let z = $joints.screws[$k];
        // Decided by the compiler, before it makes any code of the ways not taken.
        if $special {
            match body.passage {
                Passage::TurnQuarter => {
                    let $joint = Turning(Way::new(body, Quarter, z));
                    $run
                }
                Passage::TurnFlat => {
                    let $joint = Turning(Way::new(body, Flat, z));
                    $run
                }
                Passage::TurnLean => {
                    let $joint = Turning(Way::new(body, body.lean, z));
                    $run
                }
                Passage::SlideQuarter => {
                    let $joint = Sliding(Way::new(body, Quarter, z));
                    $run
                }
                _ => {
                    let general = &$joints.general;
                    let $joint = AnyJoint { body, z, general };
                    $run
                }
            }
        } else {
            let general = &$joints.general;
            let joint = AnyJoint { body, z, general };
            if const { is_out_of_line::<$scalar>() } {
                let $joint = OutOfLine(joint);
                $run
            } else {
                let $joint = joint;
                $run
            }
        }
    }};
}
pub(crate) use at_joint;
