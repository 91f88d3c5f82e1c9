//! Splines through waypoints.
//!
//! Steps between waypoints, velocities and accelerations are each in the axes of its own waypoint; for joints that turn about
//! all axes the equations of a spline hold but for how far these differ. What comes out is smooth in q, q̇ and q̈ all the same.

use super::{Trajectory, check_times};
use crate::model::Mechanism;
use crate::{Error, Result};

impl Trajectory {
    /// From rest to rest with the least jerk: q₀ ⊕ (10σ³ − 15σ⁴ + 6σ⁵)(q₁ ⊖ q₀).
    #[doc(alias = "point to point")]
    pub fn minimum_jerk(mechanism: &Mechanism, q0: &[f64], q1: &[f64], seconds: f64) -> Result<Self> {
        Self::quintic_spline(mechanism, &[0.0, seconds], &[q0, q1])
    }

    /// Through waypoints at rising times, from rest to rest, by polynomials of degree three: of all such courses that with the
    /// least ∫ q̈² dt. Accelerations are continuous, but not zero at the ends.
    pub fn cubic_spline(mechanism: &Mechanism, times: &[f64], waypoints: &[impl AsRef<[f64]>]) -> Result<Self> {
        let spline = Spline::new(mechanism, times, waypoints)?;
        spline.cubic(false)
    }

    /// Through waypoints at rising times, from rest to rest without a jump of acceleration, by polynomials of degree five:
    /// of all such courses that with the least ∫ jerk² dt.
    #[doc(alias = "minimum jerk spline")]
    pub fn quintic_spline(mechanism: &Mechanism, times: &[f64], waypoints: &[impl AsRef<[f64]>]) -> Result<Self> {
        let spline = Spline::new(mechanism, times, waypoints)?;
        spline.quintic()
    }

    /// A smooth path through waypoints, as one for [`Trajectory::time_optimal`]: its time is the length of the chords between
    /// them, so that it moves everywhere, and at its ends it is straight.
    ///
    /// Waypoints that are twice the same are refused: a path does not wait.
    pub fn path_through(mechanism: &Mechanism, waypoints: &[impl AsRef<[f64]>]) -> Result<Self> {
        let mut times = vec![0.0];
        for (i, pair) in waypoints.windows(2).enumerate() {
            let chord = mechanism.distance(pair[0].as_ref(), pair[1].as_ref())?;
            if chord < 1e-9 {
                return Err(Error::Unsolved {
                    what: "a path",
                    problem: format!(
                        "waypoint {} (from zero) is where the one before is; leave one out",
                        i + 1
                    ),
                });
            }
            times.push(times[i] + chord);
        }
        Spline::new(mechanism, &times, waypoints)?.cubic(true)
    }
}

/// Waypoints and the steps between them.
struct Spline<'a> {
    mechanism: &'a Mechanism,
    times: &'a [f64],
    q: Vec<f64>,
    /// qₖ₊₁ ⊖ qₖ, nv numbers each.
    steps: Vec<f64>,
}

impl<'a> Spline<'a> {
    fn new(mechanism: &'a Mechanism, times: &'a [f64], waypoints: &[impl AsRef<[f64]>]) -> Result<Self> {
        check_times(times, waypoints.len())?;
        let nv = mechanism.nv();
        let mut steps = vec![0.0; (times.len() - 1) * nv];
        let mut q = Vec::with_capacity(times.len() * mechanism.nq());
        for waypoint in waypoints {
            mechanism.check_configuration("waypoint", waypoint.as_ref())?;
            q.extend_from_slice(waypoint.as_ref());
        }
        for (k, pair) in waypoints.windows(2).enumerate() {
            mechanism.difference(pair[0].as_ref(), pair[1].as_ref(), &mut steps[k * nv..(k + 1) * nv])?;
        }
        Ok(Self {
            mechanism,
            times,
            q,
            steps,
        })
    }

    fn seconds(&self, k: usize) -> f64 {
        self.times[k + 1] - self.times[k]
    }

    /// Continuity of the second derivative at inner waypoints gives the velocities; `straight` ends have no acceleration, others no
    /// velocity.
    fn cubic(&self, straight: bool) -> Result<Trajectory> {
        let (n, nv) = (self.times.len(), self.mechanism.nv());
        let (mut v, mut a) = (vec![0.0; n * nv], vec![0.0; n * nv]);
        let (mut diagonal, mut above, mut below) = (vec![1.0; n], vec![0.0; n], vec![0.0; n]);
        let step = |k: usize, i: usize| self.steps[k * nv + i];
        for k in 1..n - 1 {
            let (before, after) = (self.seconds(k - 1).recip(), self.seconds(k).recip());
            (below[k], diagonal[k], above[k]) = (before, 2.0 * (before + after), after);
            for i in 0..nv {
                v[k * nv + i] = 3.0 * (step(k - 1, i) * before * before + step(k, i) * after * after);
            }
        }
        if straight {
            (diagonal[0], above[0], diagonal[n - 1], below[n - 1]) = (2.0, 1.0, 2.0, 1.0);
            for i in 0..nv {
                v[i] = 3.0 * step(0, i) / self.seconds(0);
                v[(n - 1) * nv + i] = 3.0 * step(n - 2, i) / self.seconds(n - 2);
            }
        }
        for k in 1..n {
            let factor = below[k] / diagonal[k - 1];
            diagonal[k] -= factor * above[k - 1];
            let (done, rest) = v.split_at_mut(k * nv);
            rest.iter_mut()
                .zip(&done[(k - 1) * nv..])
                .take(nv)
                .for_each(|(x, y)| *x -= factor * y);
        }
        for k in (0..n).rev() {
            let (now, later) = v.split_at_mut((k + 1) * nv);
            for i in 0..nv {
                let next = if k + 1 < n { above[k] * later[i] } else { 0.0 };
                now[k * nv + i] = (now[k * nv + i] - next) / diagonal[k];
            }
        }
        for k in 0..n {
            // The last from the segment before it.
            let (s, [near, far], sign) = if k + 1 < n {
                (k, [k, k + 1], 1.0)
            } else {
                (k - 1, [k, k - 1], -1.0)
            };
            let h = self.seconds(s);
            for i in 0..nv {
                let bend = 6.0 * step(s, i) / h - 4.0 * v[near * nv + i] - 2.0 * v[far * nv + i];
                a[k * nv + i] = sign * bend / h;
            }
        }
        Trajectory::through(self.mechanism, self.times, &self.q, &v, &a)
    }

    /// Continuity of the third and fourth derivatives at inner waypoints: pairs (q̇, q̈) by elimination of 2×2 blocks.
    fn quintic(&self) -> Result<Trajectory> {
        let (n, nv) = (self.times.len(), self.mechanism.nv());
        // Row k: L x(k−1) + D x(k) + U x(k+1) = right.
        let (mut diagonal, mut above, mut below) =
            (vec![[[0.0; 2]; 2]; n], vec![[[0.0; 2]; 2]; n], vec![[[0.0; 2]; 2]; n]);
        let mut x = vec![[0.0; 2]; n * nv];
        for k in 1..n - 1 {
            let (g, h) = (self.seconds(k - 1).recip(), self.seconds(k).recip());
            let (g2, h2) = (g * g, h * h);
            below[k] = [[24.0 * g2, 3.0 * g], [168.0 * g2 * g, 24.0 * g2]];
            diagonal[k] = [
                [36.0 * (g2 - h2), -9.0 * (g + h)],
                [192.0 * (g2 * g + h2 * h), 36.0 * (h2 - g2)],
            ];
            above[k] = [[-24.0 * h2, 3.0 * h], [168.0 * h2 * h, -24.0 * h2]];
            for i in 0..nv {
                let (before, after) = (self.steps[(k - 1) * nv + i], self.steps[k * nv + i]);
                x[k * nv + i] = [
                    60.0 * (before * g2 * g - after * h2 * h),
                    360.0 * (before * g2 * g2 + after * h2 * h2),
                ];
            }
        }
        for k in 1..n - 1 {
            if k > 1 {
                let factor = times(below[k], inverse(diagonal[k - 1]));
                let lost = times(factor, above[k - 1]);
                for (row, lost) in diagonal[k].iter_mut().zip(lost) {
                    row.iter_mut().zip(lost).for_each(|(x, y)| *x -= y);
                }
                for i in 0..nv {
                    let gone = apply(factor, x[(k - 1) * nv + i]);
                    x[k * nv + i][0] -= gone[0];
                    x[k * nv + i][1] -= gone[1];
                }
            }
        }
        for k in (1..n.max(2) - 1).rev() {
            let solve = inverse(diagonal[k]);
            for i in 0..nv {
                let mut right = x[k * nv + i];
                if k + 2 < n {
                    let next = apply(above[k], x[(k + 1) * nv + i]);
                    right = [right[0] - next[0], right[1] - next[1]];
                }
                x[k * nv + i] = apply(solve, right);
            }
        }
        let v: Vec<f64> = x.iter().map(|x| x[0]).collect();
        let a: Vec<f64> = x.iter().map(|x| x[1]).collect();
        Trajectory::through(self.mechanism, self.times, &self.q, &v, &a)
    }
}

type Block = [[f64; 2]; 2];

fn apply(a: Block, x: [f64; 2]) -> [f64; 2] {
    [a[0][0] * x[0] + a[0][1] * x[1], a[1][0] * x[0] + a[1][1] * x[1]]
}

fn times(a: Block, b: Block) -> Block {
    let column = |j: usize| apply(a, [b[0][j], b[1][j]]);
    let (p, q) = (column(0), column(1));
    [[p[0], q[0]], [p[1], q[1]]]
}

/// The blocks met here are never singular: the spline's energy is positive.
fn inverse(a: Block) -> Block {
    let s = (a[0][0] * a[1][1] - a[0][1] * a[1][0]).recip();
    [[a[1][1] * s, -a[0][1] * s], [-a[1][0] * s, a[0][0] * s]]
}
