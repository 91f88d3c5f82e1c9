//! Articulated inertias: symmetric 6×6, twenty-one numbers.

use super::screw::PlanarTurn;
use super::{Force, Motion, Pose, RigidBody, Screw, Tilt, Vec3};
use crate::scalar::{Scalar, unrolled};
use core::ops::AddAssign;

/// A symmetric 3×3 as xx, xy, xz, yy, yz, zz.
type Symmetric<S> = [S; 6];

/// The row and column of each of its numbers.
const AT: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];

/// [[A, B], [B*, C]]: what a motion [ω; v] costs in force [N; F].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Articulated<S> {
    pub(crate) a: Symmetric<S>,
    /// Rows of the moment, columns of the linear motion.
    pub(crate) b: [[S; 3]; 3],
    pub(crate) c: Symmetric<S>,
}

/// An articulated inertia that a turn about z costs nothing: its ω_z row and column are zero and are not kept.
/// What is left of a link behind a revolute joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ArticulatedAboutZ<S> {
    /// xx, xy, yy.
    pub(crate) a: [S; 3],
    pub(crate) b: [[S; 3]; 2],
    pub(crate) c: Symmetric<S>,
}

impl<S: Scalar> Default for Articulated<S> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<S: Scalar> From<RigidBody<S>> for Articulated<S> {
    #[inline(always)]
    fn from(m: RigidBody<S>) -> Self {
        let (h, o) = (m.first, S::ZERO);
        Self {
            a: m.second,
            b: [[o, -h.z, h.y], [h.z, o, -h.x], [-h.y, h.x, o]],
            c: [m.mass, o, o, m.mass, o, m.mass],
        }
    }
}

impl<S: Scalar> AddAssign for Articulated<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        unrolled!(I in 0 1 2 3 4 5 => {
            self.a[I] += o.a[I];
            self.c[I] += o.c[I];
        });
        unrolled!(I in 0 1 2 => {
            self.b[I][0] += o.b[I][0];
            self.b[I][1] += o.b[I][1];
            self.b[I][2] += o.b[I][2];
        });
    }
}

impl<S: Scalar> AddAssign<RigidBody<S>> for Articulated<S> {
    #[inline(always)]
    fn add_assign(&mut self, m: RigidBody<S>) {
        unrolled!(I in 0 1 2 3 4 5 => self.a[I] += m.second[I]);
        let h = m.first;
        self.b[0][1] -= h.z;
        self.b[0][2] += h.y;
        self.b[1][0] += h.z;
        self.b[1][2] -= h.x;
        self.b[2][0] -= h.y;
        self.b[2][1] += h.x;
        unrolled!(I in 0 3 5 => self.c[I] += m.mass);
    }
}

#[inline(always)]
fn times<S: Scalar>(a: &Symmetric<S>, x: Vec3<S>) -> Vec3<S> {
    Vec3::new(
        a[0].mul_add(x.x, a[1].mul_add(x.y, a[2] * x.z)),
        a[1].mul_add(x.x, a[3].mul_add(x.y, a[4] * x.z)),
        a[2].mul_add(x.x, a[4].mul_add(x.y, a[5] * x.z)),
    )
}

/// The plane of the first two axes of a symmetric 3×3, turned.
#[inline(always)]
fn turn_xy<S: Scalar>(a: &mut Symmetric<S>, turn: impl PlanarTurn<S>) {
    (a[0], a[1], a[3]) = turn.symmetric(a[0], a[1], a[3]);
    (a[2], a[4]) = turn.pair(a[2], a[4]);
}

/// The plane of the last two axes of a symmetric 3×3, turned.
#[inline(always)]
fn turn_yz<S: Scalar>(a: &mut Symmetric<S>, turn: impl PlanarTurn<S>) {
    (a[3], a[4], a[5]) = turn.symmetric(a[3], a[4], a[5]);
    (a[1], a[2]) = turn.pair(a[1], a[2]);
}

impl<S: Scalar> Articulated<S> {
    pub(crate) const ZERO: Self = Self {
        a: [S::ZERO; 6],
        b: [[S::ZERO; 3]; 3],
        c: [S::ZERO; 6],
    };

    /// P V.
    #[inline(always)]
    pub(crate) fn times(&self, v: Motion<S>) -> Force<S> {
        let (w, u, b) = (v.angular, v.linear, &self.b);
        let bu = |i: usize| b[i][0].mul_add(u.x, b[i][1].mul_add(u.y, b[i][2] * u.z));
        let bw = |j: usize| b[0][j].mul_add(w.x, b[1][j].mul_add(w.y, b[2][j] * w.z));
        Force {
            moment: times(&self.a, w) + Vec3::new(bu(0), bu(1), bu(2)),
            force: times(&self.c, u) + Vec3::new(bw(0), bw(1), bw(2)),
        }
    }

    /// How large it is: the sum of the moments of inertia, and that of the masses along the axes.
    #[inline(always)]
    pub(crate) fn traces(&self) -> [S; 2] {
        let (a, c) = (&self.a, &self.c);
        [a[0] + a[3] + a[5], c[0] + c[3] + c[5]]
    }

    /// A column, coordinates angular first.
    #[inline(always)]
    pub(crate) fn column(&self, i: usize) -> [S; 6] {
        const AT: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];
        let (a, b, c) = (&self.a, &self.b, &self.c);
        if i < 3 {
            let s = AT[i];
            [a[s[0]], a[s[1]], a[s[2]], b[i][0], b[i][1], b[i][2]]
        } else {
            let (j, s) = (i - 3, AT[i - 3]);
            [b[0][j], b[1][j], b[2][j], c[s[0]], c[s[1]], c[s[2]]]
        }
    }

    /// P − g u*, symmetric because g is a multiple of u.
    #[inline(always)]
    pub(crate) fn subtract_outer(&mut self, g: [S; 6], u: [S; 6]) {
        unrolled!(N in 0 1 2 3 4 5 => {
            let [i, j] = AT[N];
            self.a[N] = (-g[i]).mul_add(u[j], self.a[N]);
            self.c[N] = (-g[i + 3]).mul_add(u[j + 3], self.c[N]);
        });
        unrolled!(I in 0 1 2 => {
            self.b[I][0] = (-g[I]).mul_add(u[3], self.b[I][0]);
            self.b[I][1] = (-g[I]).mul_add(u[4], self.b[I][1]);
            self.b[I][2] = (-g[I]).mul_add(u[5], self.b[I][2]);
        });
    }

    /// P + w xx*. Not fused: outside of sweeps a fused product is a call.
    #[inline]
    pub(crate) fn add_square(&mut self, w: S, x: &[S; 6]) {
        let mut wx = *x;
        for wx in &mut wx {
            *wx = w * *wx;
        }
        for n in 0..6 {
            let [i, j] = AT[n];
            self.a[n] += wx[i] * x[j];
            self.c[n] += wx[i + 3] * x[j + 3];
        }
        for i in 0..3 {
            for j in 0..3 {
                self.b[i][j] += wx[i] * x[j + 3];
            }
        }
    }

    /// Sets a row and its column to zero, where rounding left something else.
    #[inline(always)]
    pub(crate) fn clear(&mut self, i: usize) {
        const AT: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];
        let o = S::ZERO;
        if i < 3 {
            for s in AT[i] {
                self.a[s] = o;
            }
            self.b[i] = [o; 3];
        } else {
            for s in AT[i - 3] {
                self.c[s] = o;
            }
            for row in &mut self.b {
                row[i - 3] = o;
            }
        }
    }

    /// Sets a column and its row, coordinates angular first.
    #[inline(always)]
    pub(crate) fn put_column(&mut self, i: usize, u: [S; 6]) {
        const AT: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];
        if i < 3 {
            for j in 0..3 {
                self.a[AT[i][j]] = u[j];
                self.b[i][j] = u[j + 3];
            }
        } else {
            for j in 0..3 {
                self.c[AT[i - 3][j]] = u[j + 3];
                self.b[j][i - 3] = u[j];
            }
        }
    }

    /// From the full 6×6, of which the upper triangle is read.
    #[inline(always)]
    pub(crate) fn from_rows(x: &[[S; 6]; 6]) -> Self {
        let mut p = Self::ZERO;
        for n in 0..6 {
            let [i, j] = AT[n];
            p.a[n] = x[i][j];
            p.c[n] = x[i + 3][j + 3];
        }
        for i in 0..3 {
            for j in 0..3 {
                p.b[i][j] = x[i][j + 3];
            }
        }
        p
    }

    /// The revolute hinge about z: (D, G, P⁺) of D = P_zz + armature, G = P e_z / D, P⁺ = P − G D G*.
    #[inline(always)]
    pub(crate) fn release_about_z(&self, d_inv: S) -> ([S; 6], ArticulatedAboutZ<S>) {
        let (a, b, c) = (&self.a, &self.b, &self.c);
        let u = [a[2], a[4], a[5], b[2][0], b[2][1], b[2][2]];
        let g = [
            u[0] * d_inv,
            u[1] * d_inv,
            u[2] * d_inv,
            u[3] * d_inv,
            u[4] * d_inv,
            u[5] * d_inv,
        ];
        let less = |g: S, u: S, p: S| (-g).mul_add(u, p);
        let rest = ArticulatedAboutZ {
            a: [less(g[0], u[0], a[0]), less(g[0], u[1], a[1]), less(g[1], u[1], a[3])],
            b: [
                [
                    less(g[0], u[3], b[0][0]),
                    less(g[0], u[4], b[0][1]),
                    less(g[0], u[5], b[0][2]),
                ],
                [
                    less(g[1], u[3], b[1][0]),
                    less(g[1], u[4], b[1][1]),
                    less(g[1], u[5], b[1][2]),
                ],
            ],
            c: [
                less(g[3], u[3], c[0]),
                less(g[3], u[4], c[1]),
                less(g[3], u[5], c[2]),
                less(g[4], u[4], c[3]),
                less(g[4], u[5], c[4]),
                less(g[5], u[5], c[5]),
            ],
        };
        (g, rest)
    }

    /// φPφ* across a screw about z.
    #[inline(always)]
    pub(crate) fn through_screw(mut self, z: Screw<S>) -> Self {
        let (b, d) = (self.b, z.shift);
        let c = &self.c;
        let lower = |d: S, c: S, b: S| (-d).mul_add(c, b);
        self.b[0] = [
            lower(d, c[1], b[0][0]),
            lower(d, c[3], b[0][1]),
            lower(d, c[4], b[0][2]),
        ];
        self.b[1] = [
            d.mul_add(c[0], b[1][0]),
            d.mul_add(c[1], b[1][1]),
            d.mul_add(c[2], b[1][2]),
        ];
        let n = &self.b;
        self.a[0] = lower(d, b[0][1] + n[0][1], self.a[0]);
        self.a[1] = d.mul_add(n[0][0] - b[1][1], self.a[1]);
        self.a[2] = lower(d, b[2][1], self.a[2]);
        self.a[3] = d.mul_add(b[1][0] + n[1][0], self.a[3]);
        self.a[4] = d.mul_add(b[2][0], self.a[4]);

        turn_xy(&mut self.a, z.turn);
        turn_xy(&mut self.c, z.turn);
        let b = &mut self.b;
        (b[0][0], b[0][1], b[1][0], b[1][1]) = z.turn.block(b[0][0], b[0][1], b[1][0], b[1][1]);
        (b[0][2], b[1][2]) = z.turn.pair(b[0][2], b[1][2]);
        (b[2][0], b[2][1]) = z.turn.pair(b[2][0], b[2][1]);
        self
    }

    /// φPφ* across a tilt about x.
    #[inline(always)]
    pub(crate) fn through_tilt<T: PlanarTurn<S>>(mut self, x: &Tilt<T>) -> Self {
        let turn = x.turn;
        turn_yz(&mut self.a, turn);
        turn_yz(&mut self.c, turn);
        let b = &mut self.b;
        (b[1][1], b[1][2], b[2][1], b[2][2]) = turn.block(b[1][1], b[1][2], b[2][1], b[2][2]);
        (b[0][1], b[0][2]) = turn.pair(b[0][1], b[0][2]);
        (b[1][0], b[2][0]) = turn.pair(b[1][0], b[2][0]);
        self.shift_across(turn.along(x.along), turn.across())
    }

    #[inline(always)]
    fn shift_across(mut self, along: S, across: Option<S>) -> Self {
        let (b, c, d) = (self.b, &self.c, along);
        let lower = |d: S, c: S, b: S| (-d).mul_add(c, b);
        self.b[1] = [
            lower(d, c[2], b[1][0]),
            lower(d, c[4], b[1][1]),
            lower(d, c[5], b[1][2]),
        ];
        self.b[2] = [
            d.mul_add(c[1], b[2][0]),
            d.mul_add(c[3], b[2][1]),
            d.mul_add(c[4], b[2][2]),
        ];
        let n = &self.b;
        self.a[1] = lower(d, b[0][2], self.a[1]);
        self.a[2] = d.mul_add(b[0][1], self.a[2]);
        self.a[3] = lower(d, b[1][2] + n[1][2], self.a[3]);
        self.a[4] = d.mul_add(n[1][1] - b[2][2], self.a[4]);
        self.a[5] = d.mul_add(b[2][1] + n[2][1], self.a[5]);
        if let Some(d) = across {
            let (b, c) = (self.b, &self.c);
            self.b[0] = [
                d.mul_add(c[2], b[0][0]),
                d.mul_add(c[4], b[0][1]),
                d.mul_add(c[5], b[0][2]),
            ];
            self.b[2] = [
                lower(d, c[0], b[2][0]),
                lower(d, c[1], b[2][1]),
                lower(d, c[2], b[2][2]),
            ];
            let n = &self.b;
            self.a[0] = d.mul_add(b[0][2] + n[0][2], self.a[0]);
            self.a[1] = d.mul_add(b[1][2], self.a[1]);
            self.a[2] = d.mul_add(b[2][2] - n[0][0], self.a[2]);
            self.a[4] = lower(d, b[1][0], self.a[4]);
            self.a[5] = lower(d, b[2][0] + n[2][0], self.a[5]);
        }
        self
    }

    /// φPφ* across any pose.
    #[inline(always)]
    pub(crate) fn through(&self, x: &Pose<S>) -> Self {
        let (r, l) = (x.rotation, x.translation);
        // No closures: they might not become part of the sweep. Turn the force index of every column, then the motion
        // index of every row.
        let mut half = [[S::ZERO; 6]; 6];
        for i in 0..6 {
            let f = Force::from_array(self.column(i));
            let (moment, force) = (r * f.moment, r * f.force);
            half[i] = Force { moment, force }.to_array();
        }
        let (mut a, mut b, mut c) = ([Vec3::ZERO; 3], [Vec3::ZERO; 3], [Vec3::ZERO; 3]);
        for i in 0..3 {
            a[i] = r * Vec3::new(half[0][i], half[1][i], half[2][i]);
            b[i] = r * Vec3::new(half[3][i], half[4][i], half[5][i]);
            c[i] = r * Vec3::new(half[3][i + 3], half[4][i + 3], half[5][i + 3]);
        }
        // B' = B + l̃C;  A' = A + l̃B* + B'l̃*.  Row i of X l̃* is l × (row i of X), and (l̃B*) is its transpose on B.
        let shifted = [
            b[0] + (c[2] * l.y - c[1] * l.z),
            b[1] + (c[0] * l.z - c[2] * l.x),
            b[2] + (c[1] * l.x - c[0] * l.y),
        ];
        let (mut moments, mut across) = ([[S::ZERO; 3]; 3], [[S::ZERO; 3]; 3]);
        for i in 0..3 {
            let (own, other) = (l.cross(shifted[i]).to_array(), l.cross(b[i]).to_array());
            let a = a[i].to_array();
            for j in 0..3 {
                moments[i][j] = a[j] + own[j];
                across[j][i] = other[j];
            }
        }
        for i in 0..3 {
            for j in i..3 {
                moments[i][j] += across[i][j];
            }
        }
        let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = moments;
        let [[c_xx, c_xy, c_xz], [_, c_yy, c_yz], [_, _, c_zz]] = [c[0].to_array(), c[1].to_array(), c[2].to_array()];
        Self {
            a: [xx, xy, xz, yy, yz, zz],
            b: [shifted[0].to_array(), shifted[1].to_array(), shifted[2].to_array()],
            c: [c_xx, c_xy, c_xz, c_yy, c_yz, c_zz],
        }
    }

    /// Without its ω_z row and column.
    #[inline]
    pub(crate) fn about_z(&self) -> ArticulatedAboutZ<S> {
        ArticulatedAboutZ {
            a: [self.a[0], self.a[1], self.a[3]],
            b: [self.b[0], self.b[1]],
            c: self.c,
        }
    }

    /// The full 6×6, rows angular first.
    #[inline(always)]
    pub(crate) fn to_rows(self) -> [[S; 6]; 6] {
        [
            self.column(0),
            self.column(1),
            self.column(2),
            self.column(3),
            self.column(4),
            self.column(5),
        ]
    }
}

impl<S: Scalar> From<ArticulatedAboutZ<S>> for Articulated<S> {
    #[inline(always)]
    fn from(p: ArticulatedAboutZ<S>) -> Self {
        let o = S::ZERO;
        Self {
            a: [p.a[0], p.a[1], o, p.a[2], o, o],
            b: [p.b[0], p.b[1], [o; 3]],
            c: p.c,
        }
    }
}

impl<S: Scalar> ArticulatedAboutZ<S> {
    /// P V, whatever ω_z is.
    #[inline(always)]
    pub(crate) fn times(&self, v: Motion<S>) -> Force<S> {
        let (w, u, a, b) = (v.angular, v.linear, &self.a, &self.b);
        let bu = |i: usize| b[i][0].mul_add(u.x, b[i][1].mul_add(u.y, b[i][2] * u.z));
        let bw = |j: usize| b[0][j].mul_add(w.x, b[1][j] * w.y);
        Force {
            moment: Vec3::new(
                a[0].mul_add(w.x, a[1].mul_add(w.y, bu(0))),
                a[1].mul_add(w.x, a[2].mul_add(w.y, bu(1))),
                S::ZERO,
            ),
            force: times(&self.c, u) + Vec3::new(bw(0), bw(1), bw(2)),
        }
    }

    /// φPφ* across a screw about z: it stays free about z.
    #[inline(always)]
    pub(crate) fn through_screw(mut self, z: Screw<S>) -> Self {
        let (b, c, d) = (self.b, &self.c, z.shift);
        let lower = |d: S, c: S, b: S| (-d).mul_add(c, b);
        self.b[0] = [
            lower(d, c[1], b[0][0]),
            lower(d, c[3], b[0][1]),
            lower(d, c[4], b[0][2]),
        ];
        self.b[1] = [
            d.mul_add(c[0], b[1][0]),
            d.mul_add(c[1], b[1][1]),
            d.mul_add(c[2], b[1][2]),
        ];
        let n = &self.b;
        self.a[0] = lower(d, b[0][1] + n[0][1], self.a[0]);
        self.a[1] = d.mul_add(n[0][0] - b[1][1], self.a[1]);
        self.a[2] = d.mul_add(b[1][0] + n[1][0], self.a[2]);

        (self.a[0], self.a[1], self.a[2]) = z.turn.symmetric(self.a[0], self.a[1], self.a[2]);
        turn_xy(&mut self.c, z.turn);
        let b = &mut self.b;
        (b[0][0], b[0][1], b[1][0], b[1][1]) = z.turn.block(b[0][0], b[0][1], b[1][0], b[1][1]);
        (b[0][2], b[1][2]) = z.turn.pair(b[0][2], b[1][2]);
        self
    }

    /// φPφ* across a tilt about x; the rows it starts without save most of the turn.
    #[inline(always)]
    pub(crate) fn through_tilt<T: PlanarTurn<S>>(self, x: &Tilt<T>) -> Articulated<S> {
        let (turn, [row_x, row_y]) = (x.turn, self.b);
        let (xy, xz) = turn.first(self.a[1]);
        let corner = turn.corner(self.a[2]);
        let pair = |row: [S; 3]| {
            let (y, z) = turn.pair(row[1], row[2]);
            [row[0], y, z]
        };
        let y = pair(row_y);
        let [(yx, zx), (yy, zy), (yz, zz)] = [turn.first(y[0]), turn.first(y[1]), turn.first(y[2])];
        let mut c = self.c;
        turn_yz(&mut c, turn);
        let p = Articulated {
            a: [self.a[0], xy, xz, corner.0, corner.1, corner.2],
            b: [pair(row_x), [yx, yy, yz], [zx, zy, zz]],
            c,
        };
        p.shift_across(turn.along(x.along), turn.across())
    }
}
