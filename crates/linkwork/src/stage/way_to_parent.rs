//! The way from a link to its parent, where its joint is a screw about z.

use crate::body::{Body, Passage};
use crate::scalar::{Pack, Scalar};
use crate::spatial::{
    Apart, Articulated, ArticulatedAboutZ, ConstantTurn, Flat, Force, Motion, PlanarTurn, Pose, Quarter, RigidBody,
    Rotation, Row, Screw, Skew, Tilt, Vec3,
};

/// The way to the parent of a link whose joint is a screw about z: that screw, a tilt, and another screw if the parent has
/// not absorbed it.
#[derive(Clone, Copy)]
pub(crate) struct Way<'a, S, T> {
    before: Option<&'a Screw<f64>>,
    tilt: Tilt<T>,
    aside: Option<&'a [f64; 2]>,
    z: Screw<S>,
    /// Whether the screw may have a shift.
    slides: bool,
}

impl<'a, S: Scalar, T> Way<'a, S, T> {
    #[inline(always)]
    pub(crate) fn new(body: &'a Body, turn: T, z: Screw<S>) -> Self {
        Self {
            before: body.before.as_ref(),
            tilt: Tilt {
                turn,
                along: body.along,
            },
            aside: body.aside.as_ref(),
            z,
            slides: const { S::LANES == 1 } || body.shift != 0.0 || !body.revolute,
        }
    }
}

impl<'a, S: Scalar, T: ConstantTurn> Way<'a, S, T> {
    /// The same way for several columns.
    #[inline(always)]
    pub(crate) fn spread<P: Pack<S>>(self) -> Way<'a, P, T> {
        Way {
            before: self.before,
            tilt: self.tilt,
            aside: self.aside,
            z: spread_screw(self.z),
            slides: self.slides,
        }
    }
}

/// The tilt's part of every step; `$by` runs something with the tilt bound to a name.
macro_rules! through_tilt {
    ($scalar:ty, $by:ident) => {
        #[inline(always)]
        fn force_through_tilt(self, f: Force<$scalar>) -> Force<$scalar> {
            $by!(<$scalar> self, tilt => tilt.force_in(f))
        }

        #[inline(always)]
        fn motion_through_tilt(self, v: Motion<$scalar>) -> Motion<$scalar> {
            $by!(<$scalar> self, tilt => tilt.motion_out(v))
        }

        #[inline(always)]
        fn vector_through_tilt(self, v: Vec3<$scalar>) -> Vec3<$scalar> {
            $by!(<$scalar> self, tilt => tilt.vector_out(v))
        }

        #[inline(always)]
        fn row_through_tilt(self, row: Row<$scalar>) -> Row<$scalar> {
            $by!(<$scalar> self, tilt => tilt.after(row))
        }

        #[inline(always)]
        fn body_through_tilt(self, r: RigidBody<$scalar>) -> RigidBody<$scalar> {
            $by!(<$scalar> self, tilt => r.through_tilt(&tilt))
        }

        #[inline(always)]
        fn inertia_through_tilt(self, p: Articulated<$scalar>) -> Articulated<$scalar> {
            $by!(<$scalar> self, tilt => p.through_tilt(&tilt))
        }
    };
}

/// The one tilt that a way has.
macro_rules! by_own_tilt {
    (<$scalar:ty> $way:expr, $tilt:ident => $run:expr) => {{
        let $tilt = $way.tilt();
        $run
    }};
}

/// The tilt of a link's passage: one without a turn and a quarter turn are cheaper, and any tilt is a skew one.
macro_rules! by_passage {
    (<$scalar:ty> $way:expr, $tilt:ident => $run:expr) => {{
        let along = $way.way.tilt.along;
        match $way.passage {
            Passage::TurnFlat | Passage::ScrewFlat if const { <$scalar>::SPECIAL } => {
                let $tilt = Tilt { turn: Flat, along };
                $run
            }
            Passage::TurnQuarter | Passage::SlideQuarter | Passage::ScrewQuarter if const { <$scalar>::SPECIAL } => {
                let $tilt = Tilt { turn: Quarter, along };
                $run
            }
            _ => {
                let $tilt = $way.way.tilt();
                $run
            }
        }
    }};
}

/// Across a screw about z, a tilt, and perhaps another screw, from a link to its parent.
pub(crate) trait Across<S: Scalar>: Copy {
    /// The turn of the tilt.
    type Tilting: PlanarTurn<S>;

    /// The screw that the parent has not absorbed.
    fn before(self) -> Option<Screw<S>>;
    fn tilt(self) -> Tilt<Self::Tilting>;
    /// [`crate::body::Body::aside`].
    fn aside(self) -> Option<[S; 2]>;
    /// The joint's own screw.
    fn screw(self) -> Screw<S>;
    /// Whether that has a shift.
    #[inline(always)]
    fn slides(self) -> bool {
        true
    }

    through_tilt!(S, by_own_tilt);

    #[inline(always)]
    fn force_in(self, f: Force<S>) -> Force<S> {
        let f = if self.slides() { self.screw().slide_in(f) } else { f };
        let f = self.force_through_tilt(self.screw().turn_in(f));
        match self.before() {
            Some(z) => z.force_in(f),
            None => f,
        }
    }

    #[inline(always)]
    fn motion_out(self, v: Motion<S>) -> Motion<S> {
        let v = match self.before() {
            Some(z) => z.motion_out(v),
            None => v,
        };
        self.screw().motion_out(self.motion_through_tilt(v))
    }

    #[inline(always)]
    fn spin_out(self, w: Vec3<S>) -> (Vec3<S>, Vec3<S>) {
        let (w, tilt) = (self.turn_out(w), self.tilt());
        (
            w,
            centripetal(w, arm(self.screw(), tilt.turn.along(tilt.along), self.aside())),
        )
    }

    #[inline(always)]
    fn turn_out(self, v: Vec3<S>) -> Vec3<S> {
        let v = match self.before() {
            Some(z) => z.vector_out(v),
            None => v,
        };
        self.screw().vector_out(self.vector_through_tilt(v))
    }

    #[inline(always)]
    fn place(self, parent: Row<S>) -> Row<S> {
        match self.before() {
            Some(z) => self.screw().after(self.row_through_tilt(z.after(parent))),
            None => self.screw().after(self.row_through_tilt(parent)),
        }
    }

    #[inline(always)]
    fn carry_rigid_in(self, r: RigidBody<S>) -> RigidBody<S> {
        let r = if self.slides() { r.slide(self.screw().shift) } else { r };
        let r = self.body_through_tilt(r.turn(self.screw().turn));
        match self.before() {
            Some(z) => r.through_screw(z),
            None => r,
        }
    }

    /// φrφ*, and φf of a column of r: what these have in common is computed once.
    #[inline(always)]
    fn carry_column_in(self, r: RigidBody<S>, f: Force<S>) -> (RigidBody<S>, Force<S>) {
        let (r, f) = if self.slides() {
            (r.slide(self.screw().shift), self.screw().slide_in(f))
        } else {
            (r, f)
        };
        let (r, f) = (r.turn(self.screw().turn), self.screw().turn_in(f));
        let (r, f) = (self.body_through_tilt(r), self.force_through_tilt(f));
        match self.before() {
            Some(z) => (r.through_screw(z), z.force_in(f)),
            None => (r, f),
        }
    }

    #[inline(always)]
    fn carry_in(self, p: Articulated<S>) -> Articulated<S> {
        let p = self.inertia_through_tilt(p.through_screw(self.screw()));
        match self.before() {
            Some(z) => p.through_screw(z),
            None => p,
        }
    }

    #[inline(always)]
    fn carry_in_about_z(self, rest: ArticulatedAboutZ<S>) -> Articulated<S> {
        let p = rest.through_screw(self.screw()).through_tilt(&self.tilt());
        match self.before() {
            Some(z) => p.through_screw(z),
            None => p,
        }
    }
}

impl<S: Scalar, T: ConstantTurn> Across<S> for Way<'_, S, T> {
    type Tilting = T::Of<S>;

    #[inline(always)]
    #[allow(clippy::manual_map, reason = "a closure might not become part of the sweep")]
    fn before(self) -> Option<Screw<S>> {
        match self.before {
            Some(z) => Some(z.lift()),
            None => None,
        }
    }

    #[inline(always)]
    fn tilt(self) -> Tilt<T::Of<S>> {
        self.tilt.of()
    }

    #[inline(always)]
    #[allow(clippy::manual_map, reason = "a closure might not become part of the sweep")]
    fn aside(self) -> Option<[S; 2]> {
        match self.aside {
            Some(&[y, z]) => Some([S::lift(y), S::lift(z)]),
            None => None,
        }
    }

    #[inline(always)]
    fn screw(self) -> Screw<S> {
        self.z
    }

    #[inline(always)]
    fn slides(self) -> bool {
        if const { S::LANES == 1 } { true } else { self.slides }
    }
}

/// The same where every lane has numbers of its own: those of another link, or of another model.
#[derive(Clone, Copy)]
pub(crate) struct Ways<S, T> {
    pub(crate) before: Option<Screw<S>>,
    pub(crate) tilt: Tilt<Apart<S, T>>,
    pub(crate) aside: Option<[S; 2]>,
    pub(crate) z: Screw<S>,
}

impl<S: Scalar, T: PlanarTurn<S>> Across<S> for Ways<S, T> {
    type Tilting = Apart<S, T>;

    #[inline(always)]
    fn before(self) -> Option<Screw<S>> {
        self.before
    }

    #[inline(always)]
    fn tilt(self) -> Tilt<Apart<S, T>> {
        self.tilt
    }

    #[inline(always)]
    fn aside(self) -> Option<[S; 2]> {
        self.aside
    }

    #[inline(always)]
    fn screw(self) -> Screw<S> {
        self.z
    }
}

/// A way whose tilt is chosen where it is met: the screws before and after it are the same code for all.
#[derive(Clone, Copy)]
pub(crate) struct AnyWay<'a, S> {
    way: Way<'a, S, Skew>,
    passage: Passage,
}

impl<'a, S: Scalar> AnyWay<'a, S> {
    #[inline(always)]
    pub(crate) fn new(body: &'a Body, z: Screw<S>) -> Self {
        let (lean, across) = (body.lean, body.across);
        Self {
            way: Way::new(body, Skew { lean, across }, z),
            passage: body.passage,
        }
    }

    #[inline(always)]
    pub(crate) fn spread<P: Pack<S>>(self) -> AnyWay<'a, P> {
        AnyWay {
            way: self.way.spread(),
            passage: self.passage,
        }
    }
}

impl<S: Scalar> Across<S> for AnyWay<'_, S> {
    type Tilting = Skew;

    through_tilt!(S, by_passage);

    #[inline(always)]
    fn before(self) -> Option<Screw<S>> {
        self.way.before()
    }

    #[inline(always)]
    fn tilt(self) -> Tilt<Skew> {
        self.way.tilt()
    }

    #[inline(always)]
    fn aside(self) -> Option<[S; 2]> {
        self.way.aside()
    }

    #[inline(always)]
    fn screw(self) -> Screw<S> {
        self.way.z
    }

    #[inline(always)]
    fn slides(self) -> bool {
        self.way.slides()
    }
}

/// The same screw in every column.
#[inline(always)]
pub(crate) fn spread_screw<S: Scalar, P: Pack<S>>(Screw { turn, shift }: Screw<S>) -> Screw<P> {
    Screw::new(P::spread(turn.cos), P::spread(turn.sin), P::spread(shift))
}

/// The same placement in every column.
#[inline(always)]
pub(crate) fn spread_pose<S: Scalar, P: Pack<S>>(pose: &Pose<S>) -> Pose<P> {
    let Rotation { x, y, z } = pose.rotation;
    Pose {
        rotation: Rotation {
            x: spread_vector(x),
            y: spread_vector(y),
            z: spread_vector(z),
        },
        translation: spread_vector(pose.translation),
    }
}

#[inline(always)]
fn spread_vector<S: Scalar, P: Pack<S>>(v: Vec3<S>) -> Vec3<P> {
    Vec3::new(P::spread(v.x), P::spread(v.y), P::spread(v.z))
}

/// From the parent's origin to the link's, in the link's axes.
#[inline(always)]
fn arm<S: Scalar>(Screw { turn, shift }: Screw<S>, along: S, aside: Option<[S; 2]>) -> Vec3<S> {
    match aside {
        None => Vec3::new(turn.cos * along, -(turn.sin * along), shift),
        Some([y, z]) => {
            let (x, y) = turn.pair_back(along, y);
            Vec3::new(x, y, z + shift)
        }
    }
}

/// ω × (ω × l).
#[inline(always)]
pub(crate) fn centripetal<S: Scalar>(w: Vec3<S>, l: Vec3<S>) -> Vec3<S> {
    w.cross(w.cross(l))
}
