//! M, M̂ and f of a link, or of a subtree.

use super::block::Block;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, RigidBody, Vec3};
use core::ops::AddAssign;

/// M, 2M̂ and f of a link, or their sums over a subtree.
///
/// 2M̂ = Ṁ − Q[MV] = [[E, 0], [−2l̃, 0]] with E = 2ω̃J − tr(J)ω̃ − 2 h̃ũ, h = m p, and the linear momentum l = m u + ω × h.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<S> {
    pub(crate) inertia: RigidBody<S>,
    /// E, row by row.
    pub(crate) turning: [Vec3<S>; 3],
    /// 2 l.
    pub(crate) twice_momentum: Vec3<S>,
    /// Mα + crf(V)MV − f_ext.
    pub(crate) force: Force<S>,
}

impl<S: Scalar> Terms<S> {
    pub(crate) const ZERO: Self = Self {
        inertia: RigidBody::ZERO,
        turning: [Vec3::ZERO; 3],
        twice_momentum: Vec3::ZERO,
        force: Force::ZERO,
    };

    /// Of a body with velocity V and acceleration α.
    #[inline(always)]
    pub(super) fn new(inertia: RigidBody<S>, v: Motion<S>, alpha: Motion<S>) -> Self {
        let (w, u, h, j) = (v.angular, v.linear, inertia.first, &inertia.second);
        let momentum = inertia.times(v);
        let force = inertia.times(alpha) + v.cross_force(momentum);
        let two = S::lift(2.0);
        let (w2, u2) = (w * two, u * two);
        let trace = j[0] + j[3] + j[5];
        // 2ω̃J − 2(u h* − (h·u)I), column by column of the symmetric J, then −tr(J)ω̃.
        let x = w2.cross(Vec3::new(j[0], j[1], j[2])) - u2 * h.x;
        let y = w2.cross(Vec3::new(j[1], j[3], j[4])) - u2 * h.y;
        let z = w2.cross(Vec3::new(j[2], j[4], j[5])) - u2 * h.z;
        let (along, t) = (h.dot(u2), w * trace);
        Self {
            inertia,
            turning: [
                Vec3::new(x.x + along, y.x + t.z, z.x - t.y),
                Vec3::new(x.y - t.z, y.y + along, z.y + t.x),
                Vec3::new(x.z + t.y, y.z - t.x, z.z + along),
            ],
            twice_momentum: momentum.force * two,
            force,
        }
    }

    /// 2M̂ X, which reads the angular half alone.
    #[inline(always)]
    pub(crate) fn gyro(&self, w: Vec3<S>) -> Force<S> {
        let [a, b, c] = self.turning;
        Force {
            moment: Vec3::new(a.dot(w), b.dot(w), c.dot(w)),
            force: w.cross(self.twice_momentum),
        }
    }

    /// 2M̂* X, which has an angular half alone.
    #[inline(always)]
    pub(crate) fn gyro_adjoint(&self, x: Motion<S>) -> Vec3<S> {
        let [a, b, c] = self.turning;
        let (w, u) = (x.angular, x.linear);
        c.mul_add(w.z, b.mul_add(w.y, a.mul_add(w.x, self.twice_momentum.cross(u))))
    }
}

/// What a subtree makes of a column, from its H*, Ψ, Ψ̇ and Ψ + Ḣ.
impl<S: Scalar> Terms<S> {
    /// RΨ̇ + 2R̂Ψ + crf(H*)f.
    #[inline(always)]
    pub(crate) fn by_q(&self, h: Motion<S>, psi: Vec3<S>, psi_rate: Motion<S>) -> Force<S> {
        self.inertia.times(psi_rate) + self.gyro(psi) + h.cross_force(self.force)
    }

    /// R(Ψ + Ḣ) + 2R̂H*.
    #[inline(always)]
    pub(crate) fn by_qd(&self, h: Motion<S>, twice: Motion<S>) -> Force<S> {
        self.inertia.times(twice) + self.gyro(h.angular)
    }
}

/// Numbers of [`Terms`], as rows of a block, the force last.
pub(crate) const TERMS: usize = 28;
pub(crate) const FORCE: usize = 22;

impl<S: Scalar> Block<S, TERMS> {
    #[inline(always)]
    pub(crate) fn put_terms(&mut self, lane: usize, t: &Terms<S>) {
        self.put_inertia(lane, &t.inertia);
        let [a, b, c] = t.turning;
        self.put(10, lane, a.to_array());
        self.put(13, lane, b.to_array());
        self.put(16, lane, c.to_array());
        self.put(19, lane, t.twice_momentum.to_array());
        self.put(FORCE, lane, t.force.to_array());
    }

    #[inline(always)]
    pub(super) fn put_inertia(&mut self, lane: usize, m: &RigidBody<S>) {
        self.put(0, lane, [m.mass]);
        self.put(1, lane, m.first.to_array());
        self.put(4, lane, m.second);
    }

    #[inline(always)]
    pub(super) fn inertia(&self, lane: usize) -> RigidBody<S> {
        RigidBody {
            mass: self.0[0][lane],
            first: self.three(1, lane),
            second: self.six(4, lane),
        }
    }

    #[inline(always)]
    pub(crate) fn terms(&self, lane: usize) -> Terms<S> {
        Terms {
            inertia: self.inertia(lane),
            turning: [self.three(10, lane), self.three(13, lane), self.three(16, lane)],
            twice_momentum: self.three(19, lane),
            force: self.force(FORCE, lane),
        }
    }
}

impl<S: Scalar> AddAssign for Terms<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        self.inertia += o.inertia;
        for i in 0..3 {
            self.turning[i] += o.turning[i];
        }
        self.twice_momentum += o.twice_momentum;
        self.force += o.force;
    }
}

/// φMφ* of a body with given axes and place: [`RigidBody::through`] without a closure, which would keep the columns of a
/// block from being taken together.
#[inline(always)]
pub(super) fn at_home<S: Scalar>(m: RigidBody<S>, [x, y, z]: [Vec3<S>; 3], l: Vec3<S>) -> RigidBody<S> {
    let [xx, xy, xz, yy, yz, zz] = m.second;
    // RJ, column by column, then its rows with those of R.
    let a = x.mul_add(xx, y.mul_add(xy, z * xz));
    let b = x.mul_add(xy, y.mul_add(yy, z * yz));
    let c = x.mul_add(xz, y.mul_add(yz, z * zz));
    let h = x.mul_add(m.first.x, y.mul_add(m.first.y, z * m.first.z));
    let first = l.mul_add(m.mass, h);
    // −l̃h̃ − h̃'l̃ with h' = h + m l.
    let sum = h + first;
    let (dx, dy, dz) = (l.x * sum.x, l.y * sum.y, l.z * sum.z);
    let turned = |ai: S, bi: S, ci: S, xj: S, yj: S, zj: S| ai.mul_add(xj, bi.mul_add(yj, ci * zj));
    let off = |turned: S, li: S, hj: S, lj: S, fi: S| (-li).mul_add(hj, (-lj).mul_add(fi, turned));
    RigidBody {
        mass: m.mass,
        first,
        second: [
            turned(a.x, b.x, c.x, x.x, y.x, z.x) + (dy + dz),
            off(turned(a.x, b.x, c.x, x.y, y.y, z.y), l.x, h.y, l.y, first.x),
            off(turned(a.x, b.x, c.x, x.z, y.z, z.z), l.x, h.z, l.z, first.x),
            turned(a.y, b.y, c.y, x.y, y.y, z.y) + (dx + dz),
            off(turned(a.y, b.y, c.y, x.z, y.z, z.z), l.y, h.z, l.z, first.y),
            turned(a.z, b.z, c.z, x.z, y.z, z.z) + (dx + dy),
        ],
    }
}
