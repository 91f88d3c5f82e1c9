//! Inertias of rigid bodies.

use super::screw::PlanarTurn;
use super::{Force, Motion, Pose, Screw, Tilt, Turn, Vec3};
use crate::scalar::{Scalar, unrolled};
use core::ops::{Add, AddAssign};

/// Mass, centre of mass and rotational inertia of a rigid body, as users give them.
///
/// ```
/// use linkwork::spatial::Inertia;
/// let rod = Inertia::rod(2.0, [0.0, 0.0, 1.5]);
/// assert_eq!(rod.mass, 2.0);
/// assert_eq!(rod.com.z, 0.75);
/// assert_eq!(rod.moments[0], 2.0 * 1.5 * 1.5 / 12.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use]
pub struct Inertia {
    /// In kg.
    pub mass: f64,
    /// Centre of mass in the link's frame, in m.
    pub com: Vec3,
    /// xx, xy, xz, yy, yz, zz of the rotational inertia about the centre of mass, in the link's axes, in kg m².
    pub moments: [f64; 6],
}

impl Inertia {
    /// No mass.
    pub const ZERO: Self = Self {
        mass: 0.0,
        com: Vec3::ZERO,
        moments: [0.0; 6],
    };

    /// From mass, centre of mass and the six moments xx, xy, xz, yy, yz, zz about the centre of mass.
    pub fn new(mass: f64, com: impl Into<Vec3>, moments: [f64; 6]) -> Self {
        Self {
            mass,
            com: com.into(),
            moments,
        }
    }

    /// A point mass.
    pub fn point(mass: f64, at: impl Into<Vec3>) -> Self {
        Self::new(mass, at, [0.0; 6])
    }

    /// A thin rod from the frame's origin to `tip`.
    pub fn rod(mass: f64, tip: impl Into<Vec3>) -> Self {
        let l = tip.into();
        let k = mass / 12.0;
        let moments = [
            k * (l.y * l.y + l.z * l.z),
            -k * l.x * l.y,
            -k * l.x * l.z,
            k * (l.x * l.x + l.z * l.z),
            -k * l.y * l.z,
            k * (l.x * l.x + l.y * l.y),
        ];
        Self::new(mass, l * 0.5, moments)
    }

    /// A solid ball about the frame's origin.
    pub fn sphere(mass: f64, radius: f64) -> Self {
        let i = 0.4 * mass * radius * radius;
        Self::new(mass, Vec3::ZERO, [i, 0.0, 0.0, i, 0.0, i])
    }

    /// A solid box about the frame's origin, with full edge lengths.
    pub fn cuboid(mass: f64, edges: impl Into<Vec3>) -> Self {
        let e = edges.into();
        let (x, y, z) = (e.x * e.x, e.y * e.y, e.z * e.z);
        let k = mass / 12.0;
        Self::new(mass, Vec3::ZERO, [k * (y + z), 0.0, 0.0, k * (x + z), 0.0, k * (x + y)])
    }

    /// A solid cylinder about the frame's origin, its axis along z, with full length.
    pub fn cylinder(mass: f64, radius: f64, length: f64) -> Self {
        let across = mass * (3.0 * radius * radius + length * length) / 12.0;
        let along = 0.5 * mass * radius * radius;
        Self::new(mass, Vec3::ZERO, [across, 0.0, 0.0, across, 0.0, along])
    }

    /// The same body seen from another frame, given the pose of the body's frame there.
    pub fn seen_from(&self, pose: &Pose) -> Self {
        Self {
            mass: self.mass,
            com: pose.point(self.com),
            moments: RigidBody::rotate_symmetric(&pose.rotation, &self.moments),
        }
    }

    /// Two bodies welded together.
    pub fn with(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        // The inverse of a mass below this is infinite.
        if mass.abs() < f64::MIN_POSITIVE {
            return Self {
                moments: core::array::from_fn(|i| self.moments[i] + other.moments[i]),
                ..*self
            };
        }
        let com = (self.com * self.mass + other.com * other.mass) * (1.0 / mass);
        let mut moments = [0.0; 6];
        for body in [self, other] {
            let about = parallel_axis(body.mass, body.com - com);
            for i in 0..6 {
                moments[i] += body.moments[i] + about[i];
            }
        }
        Self { mass, com, moments }
    }
}

/// The rotational inertia of a point mass at r.
fn parallel_axis(mass: f64, r: Vec3) -> [f64; 6] {
    let (xx, yy, zz) = (r.x * r.x, r.y * r.y, r.z * r.z);
    [yy + zz, -r.x * r.y, -r.x * r.z, xx + zz, -r.y * r.z, xx + yy].map(|x| mass * x)
}

/// M(k), ten numbers: mass, its first moment, and its second moment J about the frame's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RigidBody<S> {
    pub(crate) mass: S,
    /// m p.
    pub(crate) first: Vec3<S>,
    /// J: xx, xy, xz, yy, yz, zz.
    pub(crate) second: [S; 6],
}

impl From<&Inertia> for RigidBody<f64> {
    fn from(body: &Inertia) -> Self {
        let about = parallel_axis(body.mass, body.com);
        Self {
            mass: body.mass,
            first: body.com * body.mass,
            second: core::array::from_fn(|i| body.moments[i] + about[i]),
        }
    }
}

impl<S: Scalar> RigidBody<S> {
    /// Mass, first and second moments.
    #[inline]
    pub(crate) fn to_array(self) -> [S; 10] {
        let (h, [xx, xy, xz, yy, yz, zz]) = (self.first, self.second);
        [self.mass, h.x, h.y, h.z, xx, xy, xz, yy, yz, zz]
    }

    #[inline]
    pub(crate) fn from_array(x: [S; 10]) -> Self {
        Self {
            mass: x[0],
            first: Vec3::new(x[1], x[2], x[3]),
            second: [x[4], x[5], x[6], x[7], x[8], x[9]],
        }
    }

    /// The velocity-dependent force of a body whose frame turns at ω, in the frame's own axes, for accelerations of
    /// its origin: [ω × Jω; ω × (ω × mp)]. The [differences](RigidBody::differences) of its moments are given.
    #[inline(always)]
    pub(crate) fn gyroscopic(&self, differences: [S; 3], w: Vec3<S>) -> Force<S> {
        let (j, h) = (self.second, self.first);
        let (xx, yy, zz) = (w.x * w.x, w.y * w.y, w.z * w.z);
        let (xy, xz, yz) = (w.x * w.y, w.x * w.z, w.y * w.z);
        Force {
            moment: Vec3::new(
                differences[0].mul_add(yz, j[4].mul_add(yy - zz, j[2].mul_sub(xy, j[1] * xz))),
                differences[1].mul_add(xz, j[2].mul_add(zz - xx, j[1].mul_sub(yz, j[4] * xy))),
                differences[2].mul_add(xy, j[1].mul_add(xx - yy, j[4].mul_sub(xz, j[2] * yz))),
            ),
            force: Vec3::new(
                (-(yy + zz)).mul_add(h.x, xy.mul_add(h.y, xz * h.z)),
                xy.mul_add(h.x, (-(xx + zz)).mul_add(h.y, yz * h.z)),
                xz.mul_add(h.x, yz.mul_add(h.y, -(xx + yy) * h.z)),
            ),
        }
    }
}

impl RigidBody<f64> {
    /// Mass, first and second moments, and the differences of the latter.
    pub(crate) fn numbers(&self) -> [f64; 13] {
        let (h, [xx, xy, xz, yy, yz, zz], [x, y, z]) = (self.first, self.second, self.differences());
        [self.mass, h.x, h.y, h.z, xx, xy, xz, yy, yz, zz, x, y, z]
    }

    /// J_zz − J_yy, J_xx − J_zz and J_yy − J_xx.
    #[inline]
    pub(crate) fn differences(&self) -> [f64; 3] {
        let [xx, _, _, yy, _, zz] = self.second;
        [zz - yy, xx - zz, yy - xx]
    }

    #[inline(always)]
    pub(crate) fn lift<S: Scalar>(&self) -> RigidBody<S> {
        let [xx, xy, xz, yy, yz, zz] = self.second;
        RigidBody {
            mass: S::lift(self.mass),
            first: self.first.lift(),
            second: [
                S::lift(xx),
                S::lift(xy),
                S::lift(xz),
                S::lift(yy),
                S::lift(yz),
                S::lift(zz),
            ],
        }
    }

    /// R J R*.
    pub(crate) fn rotate_symmetric(r: &super::Rotation, j: &[f64; 6]) -> [f64; 6] {
        RigidBody {
            mass: 0.0,
            first: Vec3::ZERO,
            second: *j,
        }
        .through(&Pose::from_rotation(*r))
        .second
    }
}

impl<S: Scalar> Add for RigidBody<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self {
            mass: self.mass + o.mass,
            first: self.first + o.first,
            second: {
                let mut sum = self.second;
                unrolled!(I in 0 1 2 3 4 5 => sum[I] += o.second[I]);
                sum
            },
        }
    }
}

impl<S: Scalar> AddAssign for RigidBody<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl<S: Scalar> RigidBody<S> {
    pub(crate) const ZERO: Self = Self {
        mass: S::ZERO,
        first: Vec3::ZERO,
        second: [S::ZERO; 6],
    };

    /// J x.
    #[inline(always)]
    pub(crate) fn second_times(&self, x: Vec3<S>) -> Vec3<S> {
        let j = &self.second;
        Vec3::new(
            j[0].mul_add(x.x, j[1].mul_add(x.y, j[2] * x.z)),
            j[1].mul_add(x.x, j[3].mul_add(x.y, j[4] * x.z)),
            j[2].mul_add(x.x, j[4].mul_add(x.y, j[5] * x.z)),
        )
    }

    /// A column of M, coordinates angular first.
    #[inline(always)]
    pub(crate) fn column(&self, i: usize) -> Force<S> {
        let (m, h, j, o) = (self.mass, self.first, &self.second, S::ZERO);
        match i {
            0 => Force::new([j[0], j[1], j[2]], [o, -h.z, h.y]),
            1 => Force::new([j[1], j[3], j[4]], [h.z, o, -h.x]),
            2 => Force::new([j[2], j[4], j[5]], [-h.y, h.x, o]),
            3 => Force::new([o, h.z, -h.y], [m, o, o]),
            4 => Force::new([-h.z, o, h.x], [o, m, o]),
            _ => Force::new([h.y, -h.x, o], [o, o, m]),
        }
    }

    /// The columns of M down to the diagonal, one after the other.
    #[inline(always)]
    pub(crate) fn triangle(&self) -> [S; 21] {
        let (m, h, o) = (self.mass, self.first, S::ZERO);
        let [xx, xy, xz, yy, yz, zz] = self.second;
        [
            xx, xy, yy, xz, yz, zz, o, h.z, -h.y, m, -h.z, o, h.x, o, m, h.y, -h.x, o, o, o, m,
        ]
    }

    /// M V.
    #[inline(always)]
    pub(crate) fn times(&self, v: Motion<S>) -> Force<S> {
        Force {
            moment: self.second_times(v.angular) + self.first.cross(v.linear),
            force: v.linear.mul_add(self.mass, v.angular.cross(self.first)),
        }
    }

    /// φMφ* across a screw about z.
    #[inline(always)]
    pub(crate) fn through_screw(self, z: Screw<S>) -> Self {
        self.slide(z.shift).turn(z.turn)
    }

    /// φMφ* across a shift along z.
    #[inline(always)]
    pub(crate) fn slide(mut self, d: S) -> Self {
        let h = self.first;
        let moved = self.mass.mul_add(d, h.z);
        let grown = d * (h.z + moved);
        let j = &mut self.second;
        j[0] += grown;
        j[3] += grown;
        j[2] = (-d).mul_add(h.x, j[2]);
        j[4] = (-d).mul_add(h.y, j[4]);
        self.first.z = moved;
        self
    }

    /// φMφ* across a turn about z.
    #[inline(always)]
    pub(crate) fn turn(mut self, turn: Turn<S>) -> Self {
        let (j, h) = (&mut self.second, &mut self.first);
        (j[0], j[1], j[3]) = turn.symmetric(j[0], j[1], j[3]);
        (j[2], j[4]) = turn.pair(j[2], j[4]);
        (h.x, h.y) = turn.pair(h.x, h.y);
        self
    }

    /// φMφ* across a tilt about x.
    #[inline(always)]
    pub(crate) fn through_tilt<T: PlanarTurn<S>>(mut self, x: &Tilt<T>) -> Self {
        let j = &mut self.second;
        let h = &mut self.first;
        let turn = x.turn;
        (j[3], j[4], j[5]) = turn.symmetric(j[3], j[4], j[5]);
        (j[1], j[2]) = turn.pair(j[1], j[2]);
        (h.y, h.z) = turn.pair(h.y, h.z);
        if turn.shifts(x.along) {
            let a = turn.along(x.along);
            let moved = self.mass.mul_add(a, h.x);
            let grown = a * (h.x + moved);
            j[3] += grown;
            j[5] += grown;
            j[1] = (-a).mul_add(h.y, j[1]);
            j[2] = (-a).mul_add(h.z, j[2]);
            h.x = moved;
        }
        if let Some(b) = turn.across() {
            let moved = self.mass.mul_add(b, h.y);
            let grown = b * (h.y + moved);
            j[0] += grown;
            j[5] += grown;
            j[1] = (-b).mul_add(h.x, j[1]);
            j[4] = (-b).mul_add(h.z, j[4]);
            h.y = moved;
        }
        self
    }

    /// φMφ* across any pose.
    #[inline(always)]
    pub(crate) fn through(&self, x: &Pose<S>) -> Self {
        let (r, l) = (&x.rotation, x.translation);
        let j = &self.second;
        let rows = [
            (*r * Vec3::new(j[0], j[1], j[2])).to_array(),
            (*r * Vec3::new(j[1], j[3], j[4])).to_array(),
            (*r * Vec3::new(j[2], j[4], j[5])).to_array(),
        ];
        // Columns of (R J)* are now rows: turn the other index.
        let column = |i: usize| *r * Vec3::new(rows[0][i], rows[1][i], rows[2][i]);
        let (a, b, c) = (column(0), column(1), column(2));
        let h = *r * self.first;
        let moved = l.mul_add(self.mass, h);
        // J' = J − l̃h̃ − h̃'l̃ with h' = h + m l: symmetric because −m l̃l̃ is.
        let grown = |u: S, v: S, u2: S, v2: S| l_dot(u, v, u2, v2);
        Self {
            mass: self.mass,
            first: moved,
            second: [
                a.x + grown(l.y, h.y + moved.y, l.z, h.z + moved.z),
                a.y - l.x * h.y - l.y * moved.x,
                a.z - l.x * h.z - l.z * moved.x,
                b.y + grown(l.x, h.x + moved.x, l.z, h.z + moved.z),
                b.z - l.y * h.z - l.z * moved.y,
                c.z + grown(l.x, h.x + moved.x, l.y, h.y + moved.y),
            ],
        }
    }
}

#[inline(always)]
fn l_dot<S: Scalar>(u: S, v: S, u2: S, v2: S) -> S {
    u.mul_add(v, u2 * v2)
}
