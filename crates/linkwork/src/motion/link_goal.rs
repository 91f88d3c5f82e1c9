//! A goal about one link, with all that does not depend on the configuration worked out, for one state or several side by side.

use super::residual::{SIX, Seen};
use super::task::{Goal, Task};
use crate::scalar::Scalar;
use crate::spatial::{Pose, Rotation, Vec3};
use core::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// Where a frame is to be in the world, and what that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim<S> {
    rotation: Rotation<S>,
    place: Vec3<S>,
    /// What turning and moving weigh, the second in the world's axes as xx, xy, xz, yy, yz, zz.
    turning: S,
    moving: [S; 6],
    /// The axes along which a distance is measured, and 1 for those that count.
    axes: [Vec3<S>; 3],
    counts: [S; 3],
    /// The axes that the target is in.
    base: Rotation<S>,
}

impl Aim<f64> {
    /// That of a pose, a position or an orientation, with the target seen from a base that does not move.
    pub(super) fn of(task: &Task, base: Pose) -> Option<Self> {
        let mut aim = Self {
            rotation: Rotation::IDENTITY,
            place: Vec3::ZERO,
            turning: 0.0,
            moving: [0.0; 6],
            axes: [Vec3::ZERO; 3],
            counts: [0.0; 3],
            base: base.rotation,
        };
        match &task.goal {
            Goal::Pose { target, .. } => {
                aim.turn(base.rotation * target.rotation, task.weight * task.turning);
                aim.move_to(task, &base, target.translation);
            }
            Goal::Position { target, .. } => aim.move_to(task, &base, *target),
            Goal::Orientation { target, .. } => aim.turn(base.rotation * *target, task.weight),
            _ => return None,
        }
        Some(aim)
    }

    fn turn(&mut self, target: Rotation, weight: f64) {
        (self.rotation, self.turning) = (target, weight);
    }

    fn move_to(&mut self, task: &Task, base: &Pose, target: Vec3) {
        self.place = base.rotation * target + base.translation;
        let turned = base.rotation * task.basis;
        self.axes = [turned.x, turned.y, turned.z];
        for (axis, w) in self.axes.into_iter().zip(task.axes) {
            let (n, w) = (axis.to_array(), task.weight * w);
            for (g, (i, j)) in self.moving.iter_mut().zip(SIX) {
                *g += w * n[i] * n[j];
            }
        }
        self.counts = task.axes.map(|w| f64::from(task.weight * w > 0.0));
    }
}

impl<S: Scalar> Aim<S> {
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    pub(super) const NOTHING: Self = Self {
        rotation: Rotation::IDENTITY,
        place: Vec3::ZERO,
        turning: S::ZERO,
        moving: [S::ZERO; 6],
        axes: [Vec3::ZERO; 3],
        counts: [S::ZERO; 3],
        base: Rotation::IDENTITY,
    };

    /// Errors, weights and what is left of a frame that is here.
    #[inline(always)]
    pub(super) fn see(&self, here: &Pose<S>) -> Seen<S> {
        let e = [
            turn_between(&here.rotation, &self.rotation),
            self.place - here.translation,
        ];
        let mut square = S::ZERO;
        for i in 0..3 {
            let along = self.axes[i].dot(e[1]);
            square = (self.counts[i] * along).mul_add(along, square);
        }
        let (turning, none) = (self.turning, S::ZERO);
        // Where turning counts nothing, nothing is left to turn.
        let angle = (-turning).where_below(0.0, e[0].dot(e[0]).sqrt(), none);
        Seen {
            at: here.translation,
            axes: self.base,
            e,
            g: [[turning, none, none, turning, none, turning], self.moving],
            angle,
            distance: square.sqrt(),
        }
    }
}

#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
impl<S: crate::simd::Lanes<Element = f64>> Aim<S> {
    /// Puts one into a lane.
    pub(super) fn put(&mut self, lane: usize, aim: &Aim<f64>) {
        let three = |to: &mut Vec3<S>, from: &Vec3| {
            to.x.put(lane, from.x);
            to.y.put(lane, from.y);
            to.z.put(lane, from.z);
        };
        three(&mut self.rotation.x, &aim.rotation.x);
        three(&mut self.rotation.y, &aim.rotation.y);
        three(&mut self.rotation.z, &aim.rotation.z);
        three(&mut self.place, &aim.place);
        self.turning.put(lane, aim.turning);
        for i in 0..6 {
            self.moving[i].put(lane, aim.moving[i]);
        }
        for i in 0..3 {
            three(&mut self.axes[i], &aim.axes[i]);
            self.counts[i].put(lane, aim.counts[i]);
        }
    }
}

/// log(R_to R_from*): axis times angle, at most half a turn, whose square changes by −2e·ω.
///
/// As [`Rotation::log`], but without a branch, so that lanes go together: the quaternion of any length from the largest of
/// four squares, and the angle by an arc tangent of an argument below tan π/8.
#[inline(always)]
fn turn_between<S: Scalar>(from: &Rotation<S>, to: &Rotation<S>) -> Vec3<S> {
    let x = *to * Vec3::new(from.x.x, from.y.x, from.z.x);
    let y = *to * Vec3::new(from.x.y, from.y.y, from.z.y);
    let z = *to * Vec3::new(from.x.z, from.y.z, from.z.z);
    let one = S::ONE;
    let squares = [
        one + x.x + y.y + z.z,
        one + x.x - y.y - z.z,
        one - x.x + y.y - z.z,
        one - x.x - y.y + z.z,
    ];
    let (xy, xz, yz) = (y.x + x.y, z.x + x.z, z.y + y.z);
    let (nx, ny, nz) = (y.z - z.y, z.x - x.z, x.y - y.x);
    let of = [
        [nx, ny, nz, squares[0]],
        [squares[1], xy, xz, nx],
        [xy, squares[2], yz, ny],
        [xz, yz, squares[3], nz],
    ];
    let (mut q, mut most) = (of[0], squares[0]);
    for i in 1..4 {
        let behind = most - squares[i];
        for k in 0..4 {
            q[k] = behind.where_below(0.0, of[i][k], q[k]);
        }
        most = behind.where_below(0.0, squares[i], most);
    }
    // Both signs are the same turn: w ≥ 0 is the short way.
    let w = q[3].where_below(0.0, -q[3], q[3]);
    let v = Vec3::new(
        q[3].where_below(0.0, -q[0], q[0]),
        q[3].where_below(0.0, -q[1], q[1]),
        q[3].where_below(0.0, -q[2], q[2]),
    );
    let s = v.dot(v).sqrt();
    // atan2(s, w) = base + atan u, with |u| at most tan π/8.
    let (small, large) = (s - w * S::lift(TAN_EIGHTH), w - s * S::lift(TAN_EIGHTH));
    let part = [small, large];
    let recip = choose(part, [w, s + w, s]).recip();
    let u = choose(part, [s, s - w, -w]) * recip;
    let square = u * u;
    let mut series = S::lift(ARC[ARC.len() - 1]);
    for i in (0..ARC.len() - 1).rev() {
        series = series.mul_add(square, S::lift(ARC[i]));
    }
    let base = choose(part, [S::ZERO, S::lift(FRAC_PI_4), S::lift(FRAC_PI_2)]);
    let angle = u.mul_add(series, base);
    // θ/2 over sin θ/2, which tends to 1/w.
    let quotient = small.where_below(0.0, series * recip, angle * small.where_below(0.0, one, s).recip());
    v * (quotient + quotient)
}

/// The first where the first number is negative, the last where the second is, and else the one between.
#[inline(always)]
fn choose<S: Scalar>([small, large]: [S; 2], [near, middle, far]: [S; 3]) -> S {
    small.where_below(0.0, near, large.where_below(0.0, far, middle))
}

/// tan π/8.
const TAN_EIGHTH: f64 = 0.414_213_562_373_095_03;

/// atan √x / √x for x up to tan² π/8: a polynomial through Chebyshev's nodes, within 4e-18.
const ARC: [f64; 12] = [
    1.0,
    -0.333_333_333_333_331_2,
    0.199_999_999_999_408_9,
    -0.142_857_142_792_501_92,
    0.111_111_107_449_170_34,
    -0.090_908_968_089_881_35,
    0.076_920_453_295_390_92,
    -0.066_629_517_979_556_37,
    0.058_468_781_818_920_52,
    -0.050_351_019_300_160_78,
    0.037_965_243_910_971_95,
    -0.017_805_382_196_606_493,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_logarithms_all_the_way_to_half_a_turn() {
        let axes = [[0.6, 0.0, 0.8], [-0.36, 0.48, 0.8], [1.0, 0.0, 0.0], [0.0, -0.6, 0.8]];
        let from = Rotation::from_rpy(0.3, -1.2, 2.0);
        for axis in axes {
            for angle in [
                0.0,
                1e-160,
                1e-9,
                1e-3,
                0.5,
                0.785,
                0.79,
                1.6,
                2.35,
                2.36,
                3.0,
                3.13,
                core::f64::consts::PI - 1e-9,
            ] {
                let w = Vec3::from(axis) * angle;
                let found = turn_between(&from, &(Rotation::exp(w) * from));
                assert!((found - w).norm() < 1e-14, "{axis:?}, {angle}: {found:?}");
            }
        }
    }

    #[test]
    fn an_aim_sees_what_the_task_says() {
        let frame = crate::model::examples::arm7().frame("flange").unwrap();
        let base = Pose::new(Rotation::from_rpy(0.1, 0.7, -0.4), [0.3, -1.0, 2.0]);
        let target = Pose::new(Rotation::from_rpy(-2.0, 0.3, 0.9), [0.4, 0.1, 0.5]);
        let here = Pose::new(Rotation::from_rpy(1.0, 0.2, 0.1), [0.1, 0.2, 0.3]);
        for task in [
            Task::pose(frame, target).weight(2.0).turning_weight(0.3),
            Task::pose(frame, target)
                .turning_weight(0.0)
                .axis_weights([1.0, 0.0, 2.0]),
            Task::position(frame, target.translation).axis_weights([0.5, 1.0, 0.0]),
            Task::orientation(frame, target.rotation).weight(3.0),
        ] {
            let (a, b) = (Aim::of(&task, base).unwrap().see(&here), task.see_at(here, base));
            assert!((a.cost() - b.cost()).abs() < 1e-14 * (1.0 + b.cost()), "{task:?}");
            assert!(
                (a.angle - b.angle).abs() + (a.distance - b.distance).abs() < 1e-14,
                "{task:?}"
            );
            for (a, b) in a.look(1.5).force.iter().zip(b.look(1.5).force) {
                assert!((*a - b).norm() < 1e-14, "{task:?}");
            }
        }
    }
}
