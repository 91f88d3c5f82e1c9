//! How far a configuration is from a task.

use super::least_squares::Look;
use super::task::{Goal, Side, Task};
use crate::scalar::Scalar;
use crate::spatial::{Pose, Rotation, Vec3};
use crate::workspace::Configured;

/// How far a configuration is from a task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Residual {
    /// What is left to turn, in radians; of a posture, the length of the difference of coordinates.
    pub angle: f64,
    /// What is left to move, in metres, along the axes that count.
    pub distance: f64,
}

impl Residual {
    /// The greater of the two.
    pub fn largest(&self) -> f64 {
        self.angle.max(self.distance)
    }
}

/// A task seen at a configuration, or at several side by side: errors and weights in the world's axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<S = f64> {
    /// Where the frame is, and the axes that the target is in.
    pub(super) at: Vec3<S>,
    pub(super) axes: Rotation<S>,
    /// What is left to turn and to move.
    pub(super) e: [Vec3<S>; 2],
    /// The weights of both, as xx, xy, xz, yy, yz, zz.
    pub(super) g: [[S; 6]; 2],
    /// What is left, as in a [`Residual`].
    pub(super) angle: S,
    pub(super) distance: S,
}

impl<S: Scalar> Seen<S> {
    pub(super) const NOTHING: Self = Self {
        at: Vec3::ZERO,
        axes: Rotation::IDENTITY,
        e: [Vec3::ZERO; 2],
        g: [[S::ZERO; 6]; 2],
        angle: S::ZERO,
        distance: S::ZERO,
    };

    /// Ge, turning and moving.
    #[inline(always)]
    pub(super) fn force(&self) -> [Vec3<S>; 2] {
        [apply(&self.g[0], self.e[0]), apply(&self.g[1], self.e[1])]
    }

    /// ½e*Ge.
    #[inline(always)]
    pub(super) fn cost(&self) -> S {
        let f = self.force();
        S::lift(0.5) * (f[0].dot(self.e[0]) + f[1].dot(self.e[1]))
    }

    /// What a step takes of it, where it counts so much.
    #[inline(always)]
    pub(super) fn look(&self, scale: S) -> Look<S> {
        let (mut g, force) = (self.g, self.force());
        for half in &mut g {
            for x in half {
                *x = *x * scale;
            }
        }
        Look {
            at: self.at,
            g,
            force: [force[0] * scale, force[1] * scale],
        }
    }
}

impl Seen {
    /// What is left.
    pub(super) fn residual(&self) -> Residual {
        Residual {
            angle: self.angle,
            distance: self.distance,
        }
    }

    /// G as six by six.
    pub(super) fn weight(&self) -> [[f64; 6]; 6] {
        let mut out = [[0.0; 6]; 6];
        for (half, g) in self.g.iter().map(square).enumerate() {
            for i in 0..3 {
                out[i + 3 * half][3 * half..][..3].copy_from_slice(&g[i]);
            }
        }
        out
    }
}

/// The places of xx, xy, xz, yy, yz, zz.
pub(super) const SIX: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// Six numbers as a symmetric matrix.
pub(super) fn square(&[xx, xy, xz, yy, yz, zz]: &[f64; 6]) -> [[f64; 3]; 3] {
    [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
}

#[inline(always)]
fn apply<S: Scalar>(g: &[S; 6], e: Vec3<S>) -> Vec3<S> {
    Vec3::new(
        Vec3::new(g[0], g[1], g[2]).dot(e),
        Vec3::new(g[1], g[3], g[4]).dot(e),
        Vec3::new(g[2], g[4], g[5]).dot(e),
    )
}

impl Task {
    /// Whether nothing is left that matters. Preferences need not be met.
    pub(super) fn is_met(&self, seen: &Seen) -> bool {
        self.is_preferred || seen.angle.max(seen.distance) <= self.tolerance
    }

    /// Errors, weights and what is left of a task about a frame or the centre of mass.
    pub(super) fn see(&self, posed: &mut Configured<'_>) -> Seen {
        let base = self.other.map_or(Pose::IDENTITY, |other| posed.pose_of(other));
        match (self.frame(), &self.goal) {
            (Some(frame), _) => self.see_at(posed.pose_of(frame), base),
            (None, Goal::Com { .. }) => self.see_at(Pose::from_translation(posed.com()), base),
            _ => Seen::NOTHING,
        }
    }

    /// The same of a frame that is here, with the target seen from a base.
    pub(super) fn see_at(&self, here: Pose, base: Pose) -> Seen {
        let mut seen = Seen {
            at: here.translation,
            axes: base.rotation,
            ..Seen::NOTHING
        };
        match &self.goal {
            Goal::Pose { target, .. } => {
                self.turn(&mut seen, &here, base.rotation * target.rotation, self.turning);
                self.move_to(&mut seen, &base, target.translation);
            }
            Goal::Position { target, .. } | Goal::Com { target } => self.move_to(&mut seen, &base, *target),
            Goal::Orientation { target, .. } => self.turn(&mut seen, &here, base.rotation * *target, 1.0),
            Goal::Direction { axis, target, .. } => {
                self.point(&mut seen, here.rotation * *axis, base.rotation * *target)
            }
            Goal::Distance { length, side, .. } => self.stand_off(&mut seen, base.translation, *length, *side),
            Goal::Clear { .. } | Goal::Posture { .. } => {}
        }
        seen
    }

    /// e = log(R_target R*), whose square changes by −2e·ω.
    fn turn(&self, seen: &mut Seen, here: &Pose, target: Rotation, more: f64) {
        let e = between(&here.rotation, &target).log();
        let w = self.weight * more;
        seen.e[0] = e;
        seen.g[0] = [w, 0.0, 0.0, w, 0.0, w];
        seen.angle = if w > 0.0 { e.norm() } else { 0.0 };
    }

    /// e = p_target − p; the target's own motion with its frame leaves e*(v − v_base(p)) alone.
    fn move_to(&self, seen: &mut Seen, base: &Pose, target: Vec3) {
        let e = base.rotation * target + base.translation - seen.at;
        let turned = base.rotation * self.basis;
        let axes = [turned.x, turned.y, turned.z];
        let mut square = 0.0;
        for (axis, w) in axes.into_iter().zip(self.axes) {
            let (n, along, w) = (axis.to_array(), axis.dot(e), self.weight * w);
            square += if w > 0.0 { along * along } else { 0.0 };
            for (g, (i, j)) in seen.g[1].iter_mut().zip(SIX) {
                *g += w * n[i] * n[j];
            }
        }
        seen.e[1] = e;
        seen.distance = square.sqrt();
    }

    /// e = (wanted − d) n along the line between two origins, on which turning of the other link has no part.
    fn stand_off(&self, seen: &mut Seen, from: Vec3, length: f64, side: Side) {
        let apart = seen.at - from;
        let d = apart.norm();
        // Where both are in one place any direction leads apart.
        let n = if d > 1e-12 {
            apart * d.recip()
        } else {
            Vec3::new(1.0, 0.0, 0.0)
        };
        let left = match side {
            Side::Exactly => length - d,
            Side::AtLeast => (length - d).max(0.0),
            Side::AtMost => (length - d).min(0.0),
        };
        seen.axes = axes_along(n);
        seen.e[1] = n * left;
        seen.distance = left.abs();
        if side == Side::Exactly || left != 0.0 {
            seen.g[1] = outer(n, self.weight);
        }
    }

    /// The turn that leads one direction to another; turning about the direction itself is free.
    fn point(&self, seen: &mut Seen, from: Vec3, to: Vec3) {
        let (across, along) = (from.cross(to), from.dot(to));
        let sin = across.norm();
        let angle = sin.atan2(along);
        seen.e[0] = if sin > 1e-12 {
            across * (angle / sin)
        } else if along > 0.0 {
            across
        } else {
            // Half a turn, about any axis across.
            axes_along(from).y * angle
        };
        let n = from.to_array();
        for (g, (i, j)) in seen.g[0].iter_mut().zip(SIX) {
            // Rounding must not make the diagonal negative.
            let across = if i == j {
                (1.0 - n[i] * n[i]).max(0.0)
            } else {
                -n[i] * n[j]
            };
            *g = self.weight * across;
        }
        seen.angle = angle;
    }

    /// The velocity of the target beyond that of the frame it is in, turning and moving, in the world's axes; none if it rests.
    pub(super) fn fed(&self, seen: &Seen) -> Option<[Vec3; 2]> {
        (self.feed != [Vec3::ZERO; 2]).then(|| self.feed.map(|v| seen.axes * v))
    }
}

/// Axes whose x is a direction.
pub(super) fn axes_along(x: Vec3) -> Rotation {
    let other = if x.x.abs() < 0.7 {
        Vec3::new(1.0, 0.0, 0.0)
    } else {
        Vec3::new(0.0, 1.0, 0.0)
    };
    let y = x.cross(other);
    let y = y * y.norm().recip();
    Rotation { x, y, z: x.cross(y) }
}

/// R_to R_from*, not fused: outside of sweeps a fused product is a call.
fn between(from: &Rotation, to: &Rotation) -> Rotation {
    let column = |a: f64, b: f64, c: f64| {
        let row = |x: f64, y: f64, z: f64| x * a + y * b + z * c;
        Vec3::new(
            row(to.x.x, to.y.x, to.z.x),
            row(to.x.y, to.y.y, to.z.y),
            row(to.x.z, to.y.z, to.z.z),
        )
    };
    Rotation {
        x: column(from.x.x, from.y.x, from.z.x),
        y: column(from.x.y, from.y.y, from.z.y),
        z: column(from.x.z, from.y.z, from.z.z),
    }
}

/// w nn*.
fn outer(n: Vec3, w: f64) -> [f64; 6] {
    let n = n.to_array();
    SIX.map(|(i, j)| w * n[i] * n[j])
}
