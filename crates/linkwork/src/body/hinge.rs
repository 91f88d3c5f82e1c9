//! H(k): what a joint does to motions and forces, in its link's compiled frame.
//!
//! In that frame H picks coordinates of [ω; v] (a helical joint picks one combination), so a joint of several degrees
//! of freedom is released one coordinate after the other: the pivots met on the way are the LDL* factors of D.

use super::Hinge;
use crate::scalar::{Scalar, put};
use crate::spatial::{Articulated, Force, Motion, RigidBody, Vec3};

/// 1/D and G of one degree of freedom.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gain<S> {
    pub(crate) d_inv: S,
    pub(crate) g: [S; 6],
}

/// How many units in the last place of the inertia that it is part of a D must have, to be more than its rounding.
const ROUNDING: f64 = 32.0;

impl<S: Scalar> Gain<S> {
    /// From 1/D and the column u = PH*: G = u/D.
    #[inline(always)]
    pub(crate) fn new(d_inv: S, u: [S; 6]) -> Self {
        let g = [
            u[0] * d_inv,
            u[1] * d_inv,
            u[2] * d_inv,
            u[3] * d_inv,
            u[4] * d_inv,
            u[5] * d_inv,
        ];
        Self { d_inv, g }
    }

    /// The same, and whether D is sound: 1/D stands as infinite where it is not more than the rounding of the whole that it is
    /// part of.
    #[inline(always)]
    pub(crate) fn judged(mut self, d: S, whole: S) -> Self {
        if const { S::JUDGES } {
            let rounding_less_d = whole.mul_sub(S::lift(ROUNDING * S::EPSILON), d);
            self.d_inv = rounding_less_d.where_below(0.0, self.d_inv, S::lift(f64::INFINITY));
        }
        self
    }

    /// Whether, in one lane, D is positive and more than rounding.
    pub(crate) fn is_sound(&self, lane: usize) -> bool {
        let d_inv = self.d_inv.lane(lane);
        d_inv > 0.0 && d_inv < f64::INFINITY
    }

    /// The same for all lanes at once: zero where it is sound, one elsewhere.
    #[inline(always)]
    pub(crate) fn unsound(&self) -> S {
        let finite = self.d_inv.where_below(f64::INFINITY, S::ZERO, S::ONE);
        (-self.d_inv).where_below(0.0, finite, S::ONE)
    }
}

/// How large an inertia is, if that matters: the sum of the moments, and that of the masses along the axes.
#[inline(always)]
pub(crate) fn sizes<S: Scalar>(p: &Articulated<S>) -> [S; 2] {
    if const { S::JUDGES } { p.traces() } else { [S::ZERO; 2] }
}

impl Hinge {
    /// (ω, a) of a link behind the joint: `inner` is the parent's ω in this frame and the centripetal acceleration that
    /// it causes; none behind the world.
    #[inline(always)]
    pub(crate) fn step<S: Scalar>(self, inner: Option<(Vec3<S>, Vec3<S>)>, qd: &[S]) -> (Vec3<S>, Motion<S>) {
        let o = S::ZERO;
        if matches!(self, Self::Revolute) {
            let rate = qd[0];
            let Some((w, linear)) = inner else {
                return (Vec3::new(o, o, rate), Motion::ZERO);
            };
            // ω_p × e_z q̇ = (ω_y, −ω_x, 0) q̇.
            let angular = Vec3::new(w.y * rate, -(w.x * rate), o);
            return (Vec3::new(w.x, w.y, w.z + rate), Motion { angular, linear });
        }
        let relative = self.motion(qd);
        let (w, centripetal) = inner.unwrap_or((Vec3::ZERO, Vec3::ZERO));
        let omega = w + relative.angular;
        let a = Motion {
            angular: w.cross(relative.angular),
            linear: (w + omega).cross(relative.linear) + centripetal,
        };
        (omega, a)
    }

    /// H* x.
    #[inline(always)]
    pub(crate) fn motion<S: Scalar>(self, x: &[S]) -> Motion<S> {
        if matches!(self, Self::Free) {
            return Motion::new([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
        }
        let mut v = [S::ZERO; 6];
        for (i, &axis) in self.axes().iter().enumerate() {
            v[axis] = x[i];
        }
        if let Some(pitch) = self.pitch() {
            v[5] = S::lift(pitch) * x[0];
        }
        Motion::from_array(v)
    }

    /// V + H* x.
    #[inline(always)]
    pub(crate) fn add_motion<S: Scalar>(self, mut v: Motion<S>, x: &[S]) -> Motion<S> {
        match self {
            Self::Revolute => {
                v.angular.z += x[0];
                v
            }
            _ => v + self.motion(x),
        }
    }

    /// r H* of one degree of freedom.
    #[inline(always)]
    pub(crate) fn column_of<S: Scalar>(self, r: &RigidBody<S>, i: usize) -> Force<S> {
        let axis = self.axes()[i];
        let mut column = r.column(axis);
        if let Some(pitch) = self.pitch() {
            column = r.column(5).mul_add(S::lift(pitch), column);
        }
        column
    }

    /// H f.
    #[inline(always)]
    pub(crate) fn project<S: Scalar>(self, f: Force<S>, out: &mut [S]) {
        if matches!(self, Self::Revolute) {
            out[0] = f.moment.z;
            return;
        }
        let f = f.to_array();
        if matches!(self, Self::Free) {
            put(f, out);
            return;
        }
        for (i, &axis) in self.axes().iter().enumerate() {
            out[i] = f[axis];
        }
        if let Some(pitch) = self.pitch() {
            out[0] = S::lift(pitch).mul_add(f[5], out[0]);
        }
    }

    /// D, G and P⁺, one degree of freedom after the other: u = P h, D = h·u + armature, G = u / D, P ← P − G u*.
    #[inline(always)]
    pub(crate) fn release<S: Scalar>(
        self,
        mut p: Articulated<S>,
        armature: &[f64],
        gains: &mut [Gain<S>],
    ) -> Articulated<S> {
        if matches!(self, Self::Revolute) && armature[0] == 0.0 {
            let d_inv = p.a[5].recip();
            let (g, rest) = p.release_about_z(d_inv);
            gains[0] = Gain { d_inv, g }.judged(p.a[5], sizes(&p)[0]);
            return rest.into();
        }
        if matches!(self, Self::Free) && armature[..6].iter().all(|&rotor| rotor == 0.0) {
            release_all(&p, gains);
            return Articulated::ZERO;
        }
        let sizes = sizes(&p);
        for (i, &axis) in self.axes().iter().enumerate() {
            let mut u = p.column(axis);
            let (mut d, mut whole) = (u[axis], sizes[axis / 3]);
            if let Some(pitch) = self.pitch() {
                let (h, other) = (S::lift(pitch), p.column(5));
                if const { S::JUDGES } {
                    whole = S::lift(pitch * pitch).mul_add(sizes[1], whole);
                }
                for j in 0..6 {
                    u[j] = h.mul_add(other[j], u[j]);
                }
                d = h.mul_add(u[5], u[2]);
            }
            d += S::lift(armature[i]);
            gains[i] = Gain::new(d.recip(), u).judged(d, whole);
            p.subtract_outer(gains[i].g, u);
            if armature[i] == 0.0 && self.pitch().is_none() {
                p.clear(axis);
            }
        }
        p
    }

    /// ε = T − H z and z ← z + G ε, one degree of freedom after the other.
    #[inline(always)]
    pub(crate) fn innovate<S: Scalar>(self, z: &mut Force<S>, tau: &[S], gains: &[Gain<S>], eps: &mut [S]) {
        if matches!(self, Self::Revolute) {
            eps[0] = tau[0] - z.moment.z;
            *z = Force::from_array(gains[0].g).mul_add(eps[0], *z);
            return;
        }
        if matches!(self, Self::Free) {
            let (tau, gains, eps) = (&tau[..6], &gains[..6], &mut eps[..6]);
            let mut f = z.to_array();
            for i in 0..6 {
                eps[i] = tau[i] - f[i];
                for j in 0..6 {
                    f[j] = gains[i].g[j].mul_add(eps[i], f[j]);
                }
            }
            *z = Force::from_array(f);
            return;
        }
        for (i, &axis) in self.axes().iter().enumerate() {
            let f = z.to_array();
            let mut h_z = f[axis];
            if let Some(pitch) = self.pitch() {
                h_z = S::lift(pitch).mul_add(f[5], h_z);
            }
            eps[i] = tau[i] - h_z;
            *z = Force::from_array(gains[i].g).mul_add(eps[i], *z);
        }
    }

    /// q̈ = D⁻¹ε − G*α and α ← α + H*q̈, last degree of freedom first.
    #[inline(always)]
    pub(crate) fn resolve<S: Scalar>(self, alpha: &mut Motion<S>, eps: &[S], gains: &[Gain<S>], qdd: &mut [S]) {
        if matches!(self, Self::Revolute) {
            // What is known of α first, what the parent's q̈ reaches last comes last: the next link waits for the sum.
            let (g, w, u) = (&gains[0].g, alpha.angular, alpha.linear);
            let mut sum = gains[0].d_inv.mul_sub(eps[0], g[2] * w.z);
            sum = (-g[5]).mul_add(u.z, sum);
            sum = (-g[1]).mul_add(w.y, sum);
            sum = (-g[0]).mul_add(w.x, sum);
            qdd[0] = sum - g[4].mul_add(u.y, g[3] * u.x);
            alpha.angular.z += qdd[0];
            return;
        }
        let mut v = alpha.to_array();
        if matches!(self, Self::Free) {
            let (eps, gains, qdd) = (&eps[..6], &gains[..6], &mut qdd[..6]);
            for i in (0..6).rev() {
                // What was last resolved comes last, so that nothing else waits for it.
                let g = &gains[i].g;
                let mut along = g[0] * v[0];
                for j in 1..=i {
                    along = g[j].mul_add(v[j], along);
                }
                for j in (i + 1..6).rev() {
                    along = g[j].mul_add(v[j], along);
                }
                qdd[i] = gains[i].d_inv.mul_sub(eps[i], along);
                v[i] += qdd[i];
            }
            *alpha = Motion::from_array(v);
            return;
        }
        for (i, &axis) in self.axes().iter().enumerate().rev() {
            let along = Motion::from_array(v).dot(Force::from_array(gains[i].g));
            qdd[i] = gains[i].d_inv.mul_sub(eps[i], along);
            v[axis] += qdd[i];
            if let Some(pitch) = self.pitch() {
                v[5] = S::lift(pitch).mul_add(qdd[i], v[5]);
            }
        }
        *alpha = Motion::from_array(v);
    }
}

/// Releases all six: the LDL* factors of P, with no P⁺ to keep up.
#[inline(always)]
fn release_all<S: Scalar>(p: &Articulated<S>, gains: &mut [Gain<S>]) {
    let (mut rows, sizes) = (p.to_rows(), sizes(p));
    for i in 0..6 {
        let d_inv = rows[i][i].recip();
        let mut g = [S::ZERO; 6];
        for j in i..6 {
            g[j] = rows[i][j] * d_inv;
        }
        for j in i + 1..6 {
            for l in j..6 {
                rows[j][l] = (-g[j]).mul_add(rows[i][l], rows[j][l]);
            }
        }
        gains[i] = Gain { d_inv, g }.judged(rows[i][i], sizes[i / 3]);
    }
}

/// The same without loops, to the same bits, for bases: these took a fifth of the forward dynamics of a quadruped. In the code
/// for any joint the loops stay, where so much code would slow down arms.
#[inline(always)]
pub(crate) fn release_base<S: Scalar>(p: &Articulated<S>, gains: &mut [Gain<S>]) {
    let (mut rows, sizes, gains) = (p.to_rows(), sizes(p), &mut gains[..6]);
    gains[0] = release_one::<S, 0>(&mut rows, sizes);
    gains[1] = release_one::<S, 1>(&mut rows, sizes);
    gains[2] = release_one::<S, 2>(&mut rows, sizes);
    gains[3] = release_one::<S, 3>(&mut rows, sizes);
    gains[4] = release_one::<S, 4>(&mut rows, sizes);
    gains[5] = release_one::<S, 5>(&mut rows, sizes);
}

/// One degree of freedom. Rows and columns are constants, so that all stays in registers.
#[inline(always)]
fn release_one<S: Scalar, const I: usize>(rows: &mut [[S; 6]; 6], sizes: [S; 2]) -> Gain<S> {
    let (d_inv, mut g) = (rows[I][I].recip(), [S::ZERO; 6]);
    for j in I..6 {
        g[j] = rows[I][j] * d_inv;
    }
    subtract::<S, I, 1>(&g, rows);
    subtract::<S, I, 2>(&g, rows);
    subtract::<S, I, 3>(&g, rows);
    subtract::<S, I, 4>(&g, rows);
    subtract::<S, I, 5>(&g, rows);
    Gain { d_inv, g }.judged(rows[I][I], sizes[I / 3])
}

/// What row I takes from row J, right of the diagonal.
#[inline(always)]
fn subtract<S: Scalar, const I: usize, const J: usize>(g: &[S; 6], rows: &mut [[S; 6]; 6]) {
    if const { J > I } {
        for l in J..6 {
            rows[J][l] = (-g[J]).mul_add(rows[I][l], rows[J][l]);
        }
    }
}

/// [`Hinge::resolve`] without loops, for bases.
#[inline(always)]
pub(crate) fn resolve_base<S: Scalar>(alpha: &mut Motion<S>, eps: &[S], gains: &[Gain<S>], qdd: &mut [S]) {
    let (eps, gains, qdd) = (&eps[..6], &gains[..6], &mut qdd[..6]);
    let mut v = alpha.to_array();
    qdd[5] = resolve_one::<S, 5>(eps, gains, &mut v);
    qdd[4] = resolve_one::<S, 4>(eps, gains, &mut v);
    qdd[3] = resolve_one::<S, 3>(eps, gains, &mut v);
    qdd[2] = resolve_one::<S, 2>(eps, gains, &mut v);
    qdd[1] = resolve_one::<S, 1>(eps, gains, &mut v);
    qdd[0] = resolve_one::<S, 0>(eps, gains, &mut v);
    *alpha = Motion::from_array(v);
}

/// q̈ of one of the six, which α grows by. What was last resolved comes last, so that nothing else waits for it.
#[inline(always)]
fn resolve_one<S: Scalar, const I: usize>(eps: &[S], gains: &[Gain<S>], v: &mut [S; 6]) -> S {
    let g = &gains[I].g;
    let mut along = g[0] * v[0];
    for j in 1..=I {
        along = g[j].mul_add(v[j], along);
    }
    for j in (I + 1..6).rev() {
        along = g[j].mul_add(v[j], along);
    }
    let qdd = gains[I].d_inv.mul_sub(eps[I], along);
    v[I] += qdd;
    qdd
}
