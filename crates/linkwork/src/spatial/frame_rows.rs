//! A frame, coordinate by coordinate.

use super::{Pose, Rotation, Vec3};
use crate::scalar::{Pack, Scalar};

/// One coordinate of a frame's axes and origin, seen from another frame: a row of [R p]. What moves a frame moves its
/// rows alike, so that they may also stand side by side in a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<P> {
    pub(crate) x: P,
    pub(crate) y: P,
    pub(crate) z: P,
    pub(crate) origin: P,
}

impl<P: Scalar> Row<P> {
    /// The row of `self * pose`.
    #[inline(always)]
    pub(crate) fn times<S: Scalar>(self, pose: &Pose<S>) -> Self
    where
        P: Pack<S>,
    {
        let Rotation { x, y, z } = pose.rotation;
        Self {
            x: self.along(x),
            y: self.along(y),
            z: self.along(z),
            origin: self.along(pose.translation) + self.origin,
        }
    }

    /// A vector of the frame.
    #[inline(always)]
    fn along<S: Scalar>(self, v: Vec3<S>) -> P
    where
        P: Pack<S>,
    {
        let (x, y, z) = (P::spread(v.x), P::spread(v.y), P::spread(v.z));
        self.x.mul_add(x, self.y.mul_add(y, self.z * z))
    }
}

/// All rows of a frame, as many to a register as there is room for; of the places, the first that are needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<P>(pub(crate) [Row<P>; 3]);

impl<P: Scalar> Rows<P> {
    /// How many places are needed.
    #[inline]
    pub(crate) fn places<S: Scalar>() -> usize
    where
        P: Pack<S>,
    {
        if P::COLUMNS == 1 { 3 } else { 1 }
    }

    #[inline(always)]
    pub(crate) fn of<S: Scalar>(pose: &Pose<S>) -> Self
    where
        P: Pack<S>,
    {
        let Rotation { x, y, z } = pose.rotation;
        let (x, y, z, origin) = (four(x), four(y), four(z), four(pose.translation));
        let mut rows = [Row {
            x: P::ZERO,
            y: P::ZERO,
            z: P::ZERO,
            origin: P::ZERO,
        }; 3];
        for i in 0..Self::places::<S>() {
            rows[i] = Row {
                x: P::read(&x[i..]),
                y: P::read(&y[i..]),
                z: P::read(&z[i..]),
                origin: P::read(&origin[i..]),
            };
        }
        Self(rows)
    }

    /// The same frame, seen from where the origin is at `home`.
    #[inline(always)]
    pub(crate) fn from<S: Scalar>(mut self, home: Vec3<S>) -> Self
    where
        P: Pack<S>,
    {
        let home = four(home);
        for i in 0..Self::places::<S>() {
            self.0[i].origin += P::read(&home[i..]);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn pose<S: Scalar>(self) -> Pose<S>
    where
        P: Pack<S>,
    {
        let mut columns = [[S::ZERO; 4]; 4];
        for i in 0..Self::places::<S>() {
            let row = self.0[i];
            row.x.write(&mut columns[0][i..]);
            row.y.write(&mut columns[1][i..]);
            row.z.write(&mut columns[2][i..]);
            row.origin.write(&mut columns[3][i..]);
        }
        let [x, y, z, origin] = columns;
        Pose {
            rotation: Rotation {
                x: three(x),
                y: three(y),
                z: three(z),
            },
            translation: three(origin),
        }
    }
}

#[inline]
fn four<S: Scalar>(v: Vec3<S>) -> [S; 4] {
    [v.x, v.y, v.z, v.z]
}

#[inline]
fn three<S: Scalar>(c: [S; 4]) -> Vec3<S> {
    Vec3::new(c[0], c[1], c[2])
}
