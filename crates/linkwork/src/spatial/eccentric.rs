//! What of a body its hinge feels.

use super::{Force, Motion, RigidBody, Vec3};
use crate::scalar::Scalar;

/// A body that turns about z, without what is the same at every angle: a mass and a thin rod on the axis. The parent may
/// carry those as well; the torque about z, and all that the parent passes on, stay the same. Left are h_x and h_y, and
/// J_xx − J_yy, J_xy, J_xz, J_yz and J_zz.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Eccentric<S> {
    pub(crate) first: [S; 2],
    pub(crate) second: [S; 5],
}

/// How many numbers that are.
pub(crate) const ECCENTRIC: usize = 7;

impl RigidBody<f64> {
    /// Takes off what is the same at every angle about z.
    pub(crate) fn take_off_symmetric(&mut self) -> Self {
        let symmetric = Self {
            mass: self.mass,
            first: Vec3::new(0.0, 0.0, self.first.z),
            second: [self.second[3], 0.0, 0.0, self.second[3], 0.0, 0.0],
        };
        (self.mass, self.first.z, self.second[3]) = (0.0, 0.0, 0.0);
        self.second[0] -= symmetric.second[0];
        symmetric
    }

    /// Takes off what is the same wherever a slide is.
    pub(crate) fn take_off_turning(&mut self) -> Self {
        Self {
            second: core::mem::take(&mut self.second),
            ..Self::ZERO
        }
    }

    /// What is left of a body that turns.
    #[inline(always)]
    pub(crate) fn eccentric<S: Scalar>(&self) -> Eccentric<S> {
        let (h, [xx, xy, xz, _, yz, zz]) = (self.first, self.second);
        Eccentric {
            first: [S::lift(h.x), S::lift(h.y)],
            second: [S::lift(xx), S::lift(xy), S::lift(xz), S::lift(yz), S::lift(zz)],
        }
    }
}

/// What is left of a body that slides.
impl<S: Scalar> RigidBody<S> {
    /// Mα + b: [h × u'; m u' + α' × h + ω × (ω × h)].
    #[inline(always)]
    pub(crate) fn slide_force(&self, w: Vec3<S>, alpha: Motion<S>) -> Force<S> {
        let (m, h, a, u) = (self.mass, self.first, alpha.angular, alpha.linear);
        let (xx, yy, zz) = (w.x * w.x, w.y * w.y, w.z * w.z);
        let (xy, xz, yz) = (w.x * w.y, w.x * w.z, w.y * w.z);
        let turned = Vec3::new(
            (xy - a.z).mul_add(h.y, (xz + a.y) * h.z),
            (xy + a.z).mul_add(h.x, (yz - a.x) * h.z),
            (xz - a.y).mul_add(h.x, (yz + a.x) * h.y),
        );
        let turned = Vec3::new(
            (-(yy + zz)).mul_add(h.x, turned.x),
            (-(xx + zz)).mul_add(h.y, turned.y),
            (-(xx + yy)).mul_add(h.z, turned.z),
        );
        Force {
            moment: h.cross(u),
            force: u.mul_add(m, turned),
        }
    }

    /// Mα, to the bit what [`RigidBody::slide_force`] gives at rest.
    #[inline(always)]
    pub(crate) fn slide_times(&self, alpha: Motion<S>) -> Force<S> {
        let (m, h, a, u) = (self.mass, self.first, alpha.angular, alpha.linear);
        let turned = Vec3::new(
            (-a.z).mul_add(h.y, a.y * h.z),
            a.z.mul_add(h.x, -a.x * h.z),
            (-a.y).mul_add(h.x, a.x * h.y),
        );
        Force {
            moment: h.cross(u),
            force: u.mul_add(m, turned),
        }
    }
}

impl Eccentric<f64> {
    /// One after another.
    pub(crate) fn numbers(&self) -> [f64; ECCENTRIC] {
        let ([x, y], [xx, xy, xz, yz, zz]) = (self.first, self.second);
        [x, y, xx, xy, xz, yz, zz]
    }
}

impl<S: Scalar> Eccentric<S> {
    /// Mα, to the bit what [`Eccentric::force`] gives at rest.
    #[inline(always)]
    pub(crate) fn times(&self, alpha: Motion<S>) -> Force<S> {
        let ([h_x, h_y], [j_xx, j_xy, j_xz, j_yz, j_zz]) = (self.first, self.second);
        let (a, u) = (alpha.angular, alpha.linear);
        let moment = Vec3::new(
            j_xx.mul_add(a.x, j_xy.mul_add(a.y, j_xz.mul_add(a.z, h_y * u.z))),
            j_xy.mul_sub(a.x, h_x * u.z) + j_yz * a.z,
            j_xz.mul_add(a.x, h_x.mul_sub(u.y, h_y * u.x)) + j_yz.mul_add(a.y, j_zz * a.z),
        );
        Force {
            moment,
            force: Vec3::new(-(h_y * a.z), h_x * a.z, h_x.mul_add(-a.y, h_y * a.x)),
        }
    }

    /// Mα + b of a frame that turns at ω and accelerates at α: [Jα' + h × u' + ω × Jω; α' × h + ω × (ω × h)].
    #[inline(always)]
    pub(crate) fn force(&self, w: Vec3<S>, alpha: Motion<S>) -> Force<S> {
        let ([h_x, h_y], [j_xx, j_xy, j_xz, j_yz, j_zz]) = (self.first, self.second);
        let (a, u) = (alpha.angular, alpha.linear);
        let (xx, yy, zz) = (w.x * w.x, w.y * w.y, w.z * w.z);
        let (xy, xz, yz) = (w.x * w.y, w.x * w.z, w.y * w.z);
        // What J_xz, J_yz and J_xy have in common.
        let (x, y, z) = (a.x - yz, a.y + xz, a.z + xy);
        let moment = Vec3::new(
            j_xx.mul_add(a.x, j_xy.mul_add(a.y - xz, j_xz.mul_add(z, h_y * u.z))),
            j_xx.mul_add(xz, j_xy.mul_add(a.x + yz, j_xz.mul_sub(zz - xx, h_x * u.z))),
            j_xy.mul_add(xx - yy, j_xz.mul_add(x, h_x.mul_sub(u.y, h_y * u.x))),
        );
        let rest = Vec3::new(
            j_yz.mul_add(yy - zz, j_zz * yz),
            j_yz.mul_sub(a.z - xy, j_zz * xz),
            j_yz.mul_add(y, j_zz.mul_sub(a.z, j_xx * xy)),
        );
        Force {
            moment: moment + rest,
            force: Vec3::new(
                h_y.mul_sub(xy - a.z, h_x * (yy + zz)),
                h_x.mul_sub(z, h_y * (xx + zz)),
                h_x.mul_add(xz - a.y, h_y * (yz + a.x)),
            ),
        }
    }
}
