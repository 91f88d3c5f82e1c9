//! What of a constraint may change while its mechanism moves: whether it holds, and where.

use super::constraint::Side;
use super::equation::{Equation, Moved, Row};
use super::plan::Tie;
use super::{ClosedMechanism, ConstraintKind, bad};
use crate::Result;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Pose};
use std::sync::Arc;

/// Where a constraint holds frame b, as seen from frame a: b is tied to a frame that moves on a by itself.
///
/// ```
/// use linkwork::closed::ConstraintTarget;
/// use linkwork::spatial::{Motion, Pose};
/// // Up and down by 0.1 m, at 2 rad/s, at the time t.
/// let t = 0.3_f64;
/// let (s, c) = (2.0 * t).sin_cos();
/// let target = ConstraintTarget {
///     pose: Pose::from_translation([0.0, 0.0, 0.1 * s]),
///     velocity: Motion::new([0.0; 3], [0.0, 0.0, 0.2 * c]),
///     acceleration: Motion::new([0.0; 3], [0.0, 0.0, -0.4 * s]),
/// };
/// assert!(target.is_finite());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstraintTarget {
    /// The pose in frame a.
    pub pose: Pose,
    /// [ω; ṗ] against frame a, in its axes.
    pub velocity: Motion,
    /// The derivatives of these numbers.
    pub acceleration: Motion,
}

impl ConstraintTarget {
    /// A place that rests on frame a.
    pub fn at(pose: Pose) -> Self {
        let (velocity, acceleration) = (Motion::ZERO, Motion::ZERO);
        Self {
            pose,
            velocity,
            acceleration,
        }
    }

    /// Whether all its numbers are.
    pub fn is_finite(&self) -> bool {
        let moves = [self.velocity, self.acceleration];
        let rows = self.pose.rotation.to_rows();
        let numbers = moves
            .iter()
            .flat_map(|m| m.to_array())
            .chain(rows.into_iter().flatten());
        self.pose.translation.is_finite() && numbers.into_iter().all(f64::is_finite)
    }
}

/// How a constraint stands at present.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) on: bool,
    pub(crate) target: Option<ConstraintTarget>,
}

impl Tie {
    /// The frame that b is tied to.
    pub(super) fn target<S: Scalar>(&self, setting: &Setting, a: &Pose<S>) -> Pose<S> {
        setting.target.map_or(*a, |target| *a * target.pose.lift())
    }

    /// The constraint's rows at two poses; zero if it is off.
    pub(crate) fn place<S: Scalar>(&self, setting: &Setting, a: &Pose<S>, b: &Pose<S>, rows: &mut [Row<S>]) {
        if !setting.on {
            rows.fill(Row::default());
            return;
        }
        let held = self.target(setting, a);
        for (row, equation) in rows.iter_mut().zip(&self.equations) {
            *row = equation.row(&held, b);
            if let Some(target) = &setting.target {
                let moves = lifted(target.velocity);
                row.drift = Motion::new(a.rotation * moves.angular, a.rotation * moves.linear).dot(row.a);
                let arm = held.translation - a.translation;
                row.a = Force::new(row.a.moment + arm.cross(row.a.force), row.a.force);
            }
        }
    }

    /// The rows' biases, from the velocities of the frames.
    pub(crate) fn set_in_motion<S: Scalar>(
        &self,
        setting: &Setting,
        (a, va): Moved<'_, S>,
        b: Moved<'_, S>,
        rows: &mut [Row<S>],
    ) {
        if !setting.on {
            return;
        }
        let Some(target) = &setting.target else {
            for (row, equation) in rows.iter_mut().zip(&self.equations) {
                row.bias = equation.bias((a, va), b);
            }
            return;
        };
        let held = self.target(setting, a);
        let turned = |m: Motion| {
            let m = lifted(m);
            Motion::new(a.rotation * m.angular, a.rotation * m.linear)
        };
        let (moves, speeds) = (turned(target.velocity), turned(target.acceleration));
        let (w, arm) = (va.angular, held.translation - a.translation);
        let velocity = Motion::new(w + moves.angular, va.linear + w.cross(arm) + moves.linear);
        let extra = Motion::new(
            w.cross(moves.angular) + speeds.angular,
            w.cross(w.cross(arm)) + w.cross(moves.linear) * S::lift(2.0) + speeds.linear,
        );
        for (row, equation) in rows.iter_mut().zip(&self.equations) {
            let there = Force::new(row.a.moment - arm.cross(row.a.force), row.a.force);
            row.bias = equation.bias((&held, velocity), b) + extra.dot(there);
        }
    }

    /// g of every row, and how far the constraint is from closed as one number: the largest violation, or π where an axis
    /// points the wrong way.
    pub(crate) fn gaps(&self, setting: &Setting, a: &Pose, b: &Pose, gaps: &mut [f64]) -> f64 {
        if !setting.on {
            gaps.fill(0.0);
            return 0.0;
        }
        let held = self.target(setting, a);
        let mut largest: f64 = 0.0;
        for (gap, equation) in gaps.iter_mut().zip(&self.equations) {
            *gap = equation.gap(&held, b);
            largest = largest.max(self.side.violation(*gap).abs());
        }
        let mut pairs = self.equations.windows(2);
        if pairs.any(|pair| pair[0].is_reversed(&pair[1], &held, b)) {
            largest = largest.max(core::f64::consts::PI);
        }
        largest
    }

    /// What a displacement [turn; shift] of the frames is paired with to give the change of every row's g, given the rows there:
    /// those themselves, but for turns that are far from zero.
    pub(crate) fn gap_changes(&self, setting: &Setting, a: &Pose, b: &Pose, rows: &[Row], out: &mut [Row]) {
        let held = self.target(setting, a);
        for ((equation, row), out) in self.equations.iter().zip(rows).zip(out) {
            *out = match equation.turn_changes(&held, b) {
                _ if equation.is_rate() => Row::default(),
                Some([a, b]) => Row {
                    a: Force::new(a, [0.0; 3]),
                    b: Force::new(b, [0.0; 3]),
                    ..Row::default()
                },
                None => *row,
            };
        }
    }
}

fn lifted<S: Scalar>(m: Motion) -> Motion<S> {
    Motion::new(m.angular.lift(), m.linear.lift())
}

impl ClosedMechanism {
    /// Switches a constraint on or off, without a rebuild: rows of constraints that are off hold nothing, and their
    /// multipliers are zero. What [`super::ClosedPosed::project_velocity`] takes from a velocity that a constraint which is
    /// switched on does not allow is the impulse of the transition.
    pub fn switch(&mut self, constraint: &str, on: bool) -> Result<()> {
        let i = self.tie(constraint)?;
        Arc::make_mut(&mut self.settings)[i].on = on;
        Ok(())
    }

    /// Whether a constraint is on.
    pub fn is_on(&self, constraint: &str) -> Result<bool> {
        Ok(self.settings[self.tie(constraint)?].on)
    }

    /// Sets where a constraint holds frame b against frame a, and how that moves; none for frame a itself.
    pub fn prescribe(&mut self, constraint: &str, target: Option<ConstraintTarget>) -> Result<()> {
        let i = self.tie(constraint)?;
        self.set_target(i, target)
    }

    pub(super) fn set_target(&mut self, i: usize, target: Option<ConstraintTarget>) -> Result<()> {
        if target.is_some_and(|target| !target.is_finite()) {
            let problem = "its target has numbers that are not finite; give a pose, a velocity and an acceleration";
            return Err(bad(&self.constraints[i], problem));
        }
        Arc::make_mut(&mut self.settings)[i].target = target;
        Ok(())
    }

    /// Whether a constraint is held where its frames are, which a distance and a rolling body are not.
    pub(super) fn check_graspable(&self, i: usize) -> Result<()> {
        match self.constraints[i].kind {
            ConstraintKind::Distance { .. } | ConstraintKind::Rolling { .. } => Err(bad(
                &self.constraints[i],
                "distances and rolling bodies cannot be held just where they are; use `switch`, then project",
            )),
            _ => Ok(()),
        }
    }
}

/// Rows of a one-sided constraint that make no sense.
pub(super) fn check_side(side: Side, equations: &[Equation]) -> core::result::Result<(), &'static str> {
    match equations {
        [] => Err("it holds nothing; choose at least one of its directions"),
        _ if side == Side::Both => Ok(()),
        [
            Equation::Turn(_)
            | Equation::Shift(_)
            | Equation::Lean { .. }
            | Equation::Across(_)
            | Equation::Distance(_),
        ] => Ok(()),
        _ => Err("one-sided constraints have one row of positions: a distance, or one direction of `Directions`"),
    }
}

/// What switching a constraint on did.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Transition {
    /// The impulse on frame a, about its origin in the world's axes: [N m s; N s].
    pub on_a: Force,
    /// The impulse on frame b, likewise.
    pub on_b: Force,
    /// The kinetic energy that was lost; all constraints that are on have a part in it.
    pub energy_lost: f64,
}
