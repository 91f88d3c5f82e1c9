//! Loops over all contacts, compiled for what the processor has: see [`Instructions::call`](crate::simd::Instructions::call).

use super::cone::{ROWS, Rows};
use super::operator::{Forces, Motions, Weights};
use super::rows::Point;

#[inline(always)]
fn dot(rows: usize, x: &Rows, y: &Rows) -> f64 {
    let mut sum = 0.0;
    for i in 0..rows {
        sum += x[i] * y[i];
    }
    sum
}

crate::functions! {
    /// Jv, and no impulses yet.
    pub(super) fn StartPoints<M: Motions>((points, motions): (&mut [Point], &M)) -> () {
        for point in points {
            point.u = point.velocity(motions);
            point.gamma = [0.0; ROWS];
        }
    }

    /// J dv and GJ dv.
    pub(super) fn MovePoints<M: Motions>((points, motions): (&mut [Point], &M)) -> () {
        for point in points {
            point.du = point.velocity(motions);
            point.gdu = point.weight.times(point.cone.rows, &point.du);
        }
    }

    /// γ at the present velocity, kept in `next`.
    pub(super) fn TryPoints(points: &mut [Point]) -> () {
        for point in points {
            point.try_at(0.0);
        }
    }

    /// The largest impulse, and the largest change of one.
    pub(super) fn ComparePoints(points: &[Point]) -> [f64; 2] {
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
    pub(super) fn PushPoints<F: Forces>((points, forces): (&[Point], &mut F)) -> () {
        for point in points {
            let rows = point.cone.rows;
            point.arms.push_between(rows, &point.gamma, &point.next.0, forces);
        }
    }

    /// Goes along dv, and adds γ − GJ dv − γ⁺ to the forces on links, or −γ⁺ alone; the largest impulse, and the largest of these
    /// differences.
    pub(super) fn ArriveAtPoints<F: Forces>((points, exact, forces): (&mut [Point], bool, &mut F)) -> [f64; 2] {
        let (mut largest, mut differ): (f64, f64) = (0.0, 0.0);
        for point in points {
            let rows = point.cone.rows;
            for i in 0..rows {
                point.u[i] += point.du[i];
            }
            point.try_at(0.0);
            let mut push = [0.0; ROWS];
            for i in 0..rows {
                let next = point.next.0[i];
                let told = if exact { 0.0 } else { point.gamma[i] - point.gdu[i] };
                push[i] = told - next;
                largest = largest.max(next.abs());
                differ = differ.max(push[i].abs());
            }
            point.push(&push, forces);
            (point.gamma, point.region) = point.next;
        }
        [largest, differ]
    }

    /// Goes a share of the way along dv.
    pub(super) fn AdvancePoints((points, t, exact): (&mut [Point], f64, bool)) -> () {
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
    pub(super) fn WeighPoints<W: Weights>((points, a): (&mut [Point], &mut W)) -> () {
        for point in points {
            point.weight = point.weight();
            point.weigh(&point.weight, a);
        }
    }

    /// ΣJ dv*GJ dv.
    pub(super) fn CurveOfPoints(points: &[Point]) -> f64 {
        let mut sum = 0.0;
        for point in points {
            sum += dot(point.cone.rows, &point.du, &point.gdu);
        }
        sum
    }

    /// ΣJ dv·(γ − γ(t)); the impulses there are kept in `next`.
    pub(super) fn SlopeOfPoints((points, t): (&mut [Point], f64)) -> f64 {
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
    pub(super) fn BendOfPoints((points, t): (&[Point], f64)) -> f64 {
        let mut sum = 0.0;
        for point in points {
            sum += point.bend(t);
        }
        sum
    }
}
