//! Loops over all contacts, compiled for what the processor has: see [`Instructions::call`](crate::simd::Instructions::call).

use super::cone::{ROWS, Rows};
use super::rows::Point;
use crate::spatial::{Force, Motion};
use crate::workspace::AugmentedMass;

/// Jv, and no impulses yet.
#[inline(always)]
pub(super) fn start_points((points, motions): (&mut [Point], &[Motion])) {
    for point in points {
        point.u = point.velocity(motions);
        point.gamma = [0.0; ROWS];
    }
}

/// J dv and GJ dv.
#[inline(always)]
pub(super) fn move_points((points, motions): (&mut [Point], &[Motion])) {
    for point in points {
        point.du = point.velocity(motions);
        point.gdu = point.weight.times(point.cone.rows, &point.du);
    }
}

/// γ at the present velocity, kept in `next`.
#[inline(always)]
pub(super) fn try_points(points: &mut [Point]) {
    for point in points {
        point.try_at(0.0);
    }
}

/// The largest impulse, and the largest change of one.
#[inline(always)]
pub(super) fn compare_points(points: &[Point]) -> [f64; 2] {
    let (mut largest, mut differ): (f64, f64) = (0.0, 0.0);
    for point in points {
        for i in 0..point.cone.rows {
            largest = largest.max(point.next.0[i].abs());
            differ = differ.max((point.gamma[i] - point.next.0[i]).abs());
        }
    }
    [largest, differ]
}

/// Adds what impulses lose to the forces on links.
#[inline(always)]
pub(super) fn push_points((points, forces): (&[Point], &mut [Force])) {
    for point in points {
        let rows = point.cone.rows;
        point.arms.push_between(rows, &point.gamma, &point.next.0, forces);
    }
}

/// Goes a share of the way along dv.
#[inline(always)]
pub(super) fn advance_points((points, t, exact): (&mut [Point], f64, bool)) {
    for point in points {
        for i in 0..point.cone.rows {
            point.u[i] += t * point.du[i];
            if !exact {
                point.gamma[i] -= t * point.gdu[i];
            }
        }
    }
}

/// G of all contacts, and its part of 𝓐.
#[inline(always)]
pub(super) fn weigh_points((points, a): (&mut [Point], &mut AugmentedMass<'_>)) {
    for point in points {
        point.weight = point.weight();
        point.weigh(&point.weight, a);
    }
}

#[inline(always)]
fn dot(rows: usize, x: &Rows, y: &Rows) -> f64 {
    let mut sum = 0.0;
    for i in 0..rows {
        sum += x[i] * y[i];
    }
    sum
}

/// ΣJ dv*GJ dv.
#[inline(always)]
pub(super) fn curve_of_points(points: &[Point]) -> f64 {
    let mut sum = 0.0;
    for point in points {
        sum += dot(point.cone.rows, &point.du, &point.gdu);
    }
    sum
}

/// ΣJ dv·(γ − γ(t)); the impulses there are kept in `next`.
#[inline(always)]
pub(super) fn slope_of_points((points, t): (&mut [Point], f64)) -> f64 {
    let mut sum = 0.0;
    for point in points {
        point.try_at(t);
        for i in 0..point.cone.rows {
            sum += point.du[i] * (point.gamma[i] - point.next.0[i]);
        }
    }
    sum
}

/// ΣJ dv*GJ dv at a share of the step.
#[inline(always)]
pub(super) fn bend_of_points((points, t): (&[Point], f64)) -> f64 {
    let mut sum = 0.0;
    for point in points {
        sum += point.bend(t);
    }
    sum
}
