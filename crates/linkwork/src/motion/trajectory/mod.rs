//! Trajectories: q, q̇ and q̈ at every time.
//!
//! Between two knots a trajectory is q(t) = q₀ ⊕ u(t), with u a polynomial of degree five around the knot that it starts
//! from: for joints whose coordinates are plain numbers that is the usual piecewise polynomial, and quaternions stay of unit
//! length. Velocities and accelerations are exact derivatives on the manifold, so that what meets at a knot with equal q̇ and q̈
//! is smooth there, whatever the joint.
//!
//! ```
//! use linkwork::motion::Trajectory;
//! let arm = linkwork::model::examples::arm7();
//! let (rest, raised) = (vec![0.0; 7], vec![0.3, 0.5, 0.0, -1.0, 0.0, 0.7, 0.0]);
//! let course = Trajectory::quintic_spline(&arm, &[0.0, 1.0, 2.0], &[&rest, &raised, &rest])?;
//! let (mut q, mut qd, mut qdd) = ([0.0; 7], [0.0; 7], [0.0; 7]);
//! course.at(1.0, &mut q, &mut qd, &mut qdd)?;
//! assert!(q.iter().zip(&raised).all(|(a, b)| (a - b).abs() < 1e-12));
//! # Ok::<(), linkwork::Error>(())
//! ```

mod blends;
mod half_planes;
mod limits;
mod poses;
mod splines;
mod time_optimal;

pub use blends::Blend;
pub use limits::{LimitUse, Limits};
pub use poses::{PoseCourse, PoseTrajectory};
pub use time_optimal::TimeOptimal;

use crate::model::{Mechanism, check_length};
use crate::{Error, Result};

/// How many coefficients a polynomial has beside the one that is zero.
const DEGREE: usize = 5;

/// Where a robot is at every time, how fast it moves and how it accelerates.
///
/// Before its start it rests where it starts, and after its end where it ends.
///
/// ```
/// use linkwork::motion::Trajectory;
/// let arm = linkwork::model::examples::arm7();
/// let reach = Trajectory::minimum_jerk(&arm, &[0.0; 7], &[0.5; 7], 2.0)?;
/// let (mut q, mut qd, mut qdd) = ([0.0; 7], [0.0; 7], [0.0; 7]);
/// reach.at(1.0, &mut q, &mut qd, &mut qdd)?;
/// assert!((q[0] - 0.25).abs() < 1e-12); // half the way at half the time
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trajectory {
    mechanism: Mechanism,
    /// The knots: one more than there are segments.
    times: Vec<f64>,
    /// The configuration that each segment starts from.
    bases: Vec<f64>,
    /// Of each segment [`DEGREE`] rows of nv numbers: u = c₁σ + … + c₅σ⁵ with σ from 0 to 1.
    coefficients: Vec<f64>,
    /// Where the last segment ends.
    end: Vec<f64>,
}

/// A state and its acceleration.
#[derive(Clone, Copy, Debug)]
pub struct Knot<'a> {
    /// Configuration, nq numbers.
    pub q: &'a [f64],
    /// Velocity, nv numbers.
    pub qd: &'a [f64],
    /// Acceleration, nv numbers.
    pub qdd: &'a [f64],
}

impl Trajectory {
    /// Rest at a configuration from a time on, to be continued by [`Trajectory::push`].
    pub fn start(mechanism: &Mechanism, t: f64, q: &[f64]) -> Result<Self> {
        finite("t", t)?;
        mechanism.check_configuration("q", q)?;
        let mut end = q.to_vec();
        mechanism.normalise(&mut end)?;
        Ok(Self {
            mechanism: mechanism.clone(),
            times: vec![t],
            bases: Vec::new(),
            coefficients: Vec::new(),
            end,
        })
    }

    /// Goes on for some seconds, from the present end with a velocity and an acceleration to another state, by the polynomial of
    /// degree five that has both. It is smooth where a segment starts with what the one before ended with.
    pub fn push(&mut self, seconds: f64, [qd, qdd]: [&[f64]; 2], to: Knot<'_>) -> Result<()> {
        let m = &self.mechanism;
        if !(seconds > 0.0 && seconds.is_finite()) {
            return Err(Error::Duration {
                argument: "seconds",
                value: seconds,
            });
        }
        for (argument, x) in [("qd", qd), ("qdd", qdd), ("to.qd", to.qd), ("to.qdd", to.qdd)] {
            m.check_vector(argument, x)?;
        }
        m.check_configuration("to.q", to.q)?;
        let nv = m.nv();
        let start = self.coefficients.len();
        self.bases.extend_from_slice(&self.end);
        self.coefficients.resize(start + DEGREE * nv, 0.0);
        let rows = &mut self.coefficients[start..];
        let (t, square) = (seconds, seconds * seconds);
        for (joint, q, v) in m.independent() {
            let n = v.len();
            let (mut u, mut rate, mut bend) = ([0.0; 6], [0.0; 6], [0.0; 6]);
            rate[..n].copy_from_slice(&to.qd[v.clone()]);
            bend[..n].copy_from_slice(&to.qdd[v.clone()]);
            joint.kind.step(&self.end[q.clone()], &to.q[q.clone()], &mut u[..n]);
            if !joint.kind.chart_bend(&u[..n], &mut rate[..n], &mut bend[..n]) {
                return Err(Error::Joint {
                    joint: joint.name.clone(),
                    problem: "turns almost a whole circle in one segment; put a waypoint between".into(),
                });
            }
            for (k, i) in v.enumerate() {
                let (d, v0, a0) = (u[k], qd[i] * t, qdd[i] * square);
                let (v1, a1) = (rate[k] * t, bend[k] * square);
                rows[i] = v0;
                rows[nv + i] = 0.5 * a0;
                rows[2 * nv + i] = 10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1;
                rows[3 * nv + i] = -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1;
                rows[4 * nv + i] = 6.0 * d - 3.0 * (v0 + v1) - 0.5 * (a0 - a1);
            }
            // The end of the polynomial, so that quaternions keep their sign; of plain numbers that is `to` itself.
            let base = self.bases.len() - m.nq();
            let from = &self.bases[base + q.start..base + q.end];
            match joint.kind.is_curved() {
                true => joint.kind.moved(from, &u[..n], &mut self.end[q]),
                false => self.end[q.clone()].copy_from_slice(&to.q[q]),
            }
        }
        self.times.push(self.end_time() + seconds);
        Ok(())
    }

    /// Knots at rising times, all numbers of one kind one after another: smooth in position, velocity and acceleration.
    pub fn through(mechanism: &Mechanism, times: &[f64], q: &[f64], qd: &[f64], qdd: &[f64]) -> Result<Self> {
        let (n, nq, nv) = (times.len(), mechanism.nq(), mechanism.nv());
        check_times(times, n)?;
        check_length("q", n * nq, q.len())?;
        check_length("qd", n * nv, qd.len())?;
        check_length("qdd", n * nv, qdd.len())?;
        let mut course = Self::start(mechanism, times[0], &q[..nq])?;
        for i in 1..n {
            let before = (i - 1) * nv..i * nv;
            let after = i * nv..(i + 1) * nv;
            let to = Knot {
                q: &q[i * nq..(i + 1) * nq],
                qd: &qd[after.clone()],
                qdd: &qdd[after],
            };
            course.push(times[i] - times[i - 1], [&qd[before.clone()], &qdd[before]], to)?;
            course.times[i] = times[i];
        }
        Ok(course)
    }

    /// The mechanism that it is for.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// When it starts.
    pub fn start_time(&self) -> f64 {
        self.times[0]
    }

    /// When it ends.
    pub fn end_time(&self) -> f64 {
        self.times[self.times.len() - 1]
    }

    /// How long it takes.
    pub fn duration(&self) -> f64 {
        self.end_time() - self.start_time()
    }

    /// The times of its knots, first and last included.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Where it ends.
    pub fn end(&self) -> &[f64] {
        &self.end
    }

    /// Times from start to end, a number of them per second; both ends are among them.
    pub fn sample_times(&self, rate: f64) -> Result<Vec<f64>> {
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(Error::Gain {
                argument: "rate",
                value: rate,
                rule: "be positive and finite",
            });
        }
        let steps = (self.duration() * rate * (1.0 - 1e-12)).ceil().max(1.0);
        if steps > 1e8 {
            return Err(Error::Gain {
                argument: "rate",
                value: rate,
                rule: "give at most 10⁸ samples",
            });
        }
        let at = |i: usize| (self.start_time() + i as f64 / rate).min(self.end_time());
        Ok((0..=steps as usize).map(at).collect())
    }

    /// q, q̇ and q̈ at a time, without allocation.
    pub fn at(&self, t: f64, q: &mut [f64], qd: &mut [f64], qdd: &mut [f64]) -> Result<()> {
        finite("t", t)?;
        check_length("q", self.mechanism.nq(), q.len())?;
        check_length("qd", self.mechanism.nv(), qd.len())?;
        check_length("qdd", self.mechanism.nv(), qdd.len())?;
        let segments = self.times.len() - 1;
        if segments == 0 {
            q.copy_from_slice(&self.end);
            qd.fill(0.0);
            qdd.fill(0.0);
            return Ok(());
        }
        let after = self.times.partition_point(|x| *x <= t).clamp(1, segments);
        let (from, to) = (self.times[after - 1], self.times[after]);
        let seconds = to - from;
        self.on_segment(after - 1, ((t - from) / seconds).clamp(0.0, 1.0), seconds, q, qd, qdd);
        if t < self.start_time() || t > self.end_time() {
            qd.fill(0.0);
            qdd.fill(0.0);
        }
        Ok(())
    }

    fn on_segment(&self, k: usize, s: f64, seconds: f64, q: &mut [f64], qd: &mut [f64], qdd: &mut [f64]) {
        let (m, nv) = (&self.mechanism, self.mechanism.nv());
        let rows = &self.coefficients[k * DEGREE * nv..(k + 1) * DEGREE * nv];
        let base = &self.bases[k * m.nq()..(k + 1) * m.nq()];
        for (joint, at, v) in m.independent() {
            let n = v.len();
            let (mut u, mut rate, mut bend) = ([0.0; 6], [0.0; 6], [0.0; 6]);
            for (k, i) in v.clone().enumerate() {
                let c = |row: usize| rows[row * nv + i];
                u[k] = s * (c(0) + s * (c(1) + s * (c(2) + s * (c(3) + s * c(4)))));
                let slope = c(0) + s * (2.0 * c(1) + s * (3.0 * c(2) + s * (4.0 * c(3) + s * 5.0 * c(4))));
                let curve = 2.0 * c(1) + s * (6.0 * c(2) + s * (12.0 * c(3) + s * 20.0 * c(4)));
                rate[k] = slope / seconds;
                bend[k] = curve / (seconds * seconds);
            }
            joint.kind.moved(&base[at.clone()], &u[..n], &mut q[at]);
            joint.kind.chart_motion(&u[..n], &mut rate[..n], &mut bend[..n]);
            qd[v.clone()].copy_from_slice(&rate[..n]);
            qdd[v].copy_from_slice(&bend[..n]);
        }
    }

    /// The same path from another start time on.
    pub fn shifted(mut self, start: f64) -> Result<Self> {
        finite("start", start)?;
        let by = start - self.start_time();
        self.times.iter_mut().for_each(|t| *t += by);
        Ok(self)
    }

    /// The same path in another time, every part longer or shorter by the same factor.
    pub fn stretched(mut self, factor: f64) -> Result<Self> {
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(Error::Gain {
                argument: "factor",
                value: factor,
                rule: "be positive and finite",
            });
        }
        let start = self.start_time();
        self.times.iter_mut().for_each(|t| *t = start + factor * (*t - start));
        Ok(self)
    }

    /// Goes on with another trajectory of the same mechanism that starts where this one ends, however its times are numbered.
    pub fn then(mut self, next: &Self) -> Result<Self> {
        next.mechanism.check_same(&self.mechanism, "trajectory")?;
        let first = next.bases.get(..self.mechanism.nq()).unwrap_or(&next.end);
        let gap = self.mechanism.distance(&self.end, first)?;
        if gap > 1e-9 {
            return Err(Error::Unsolved {
                what: "a trajectory that goes on",
                problem: format!("the next one starts {gap:.3e} rad or m from where this one ends; let it start there"),
            });
        }
        let by = self.end_time() - next.start_time();
        self.times.extend(next.times[1..].iter().map(|t| t + by));
        self.bases.extend_from_slice(&next.bases);
        self.coefficients.extend_from_slice(&next.coefficients);
        self.end.copy_from_slice(&next.end);
        Ok(self)
    }

    /// The same course for a mechanism with the same joints, as one with other masses.
    pub fn for_mechanism(mut self, mechanism: &Mechanism) -> Result<Self> {
        let joints = |m: &Mechanism| {
            m.layout()
                .map(|(joint, q, v)| (joint.name.clone(), q, v))
                .collect::<Vec<_>>()
        };
        if joints(mechanism) != joints(&self.mechanism) {
            return Err(mechanism.foreign("trajectory"));
        }
        self.mechanism = mechanism.clone();
        Ok(self)
    }

    /// The numbers of its polynomials: times, the configuration that each segment starts from, and its five rows of
    /// coefficients, nv each, of u = c₁σ + … + c₅σ⁵ with σ from 0 to 1 over the segment.
    pub fn polynomials(&self) -> (&[f64], &[f64], &[f64]) {
        (&self.times, &self.bases, &self.coefficients)
    }

    /// A trajectory of such numbers, and where it ends.
    pub fn from_polynomials(mechanism: &Mechanism, times: &[f64], bases: &[f64], coefficients: &[f64]) -> Result<Self> {
        let segments = times.len().saturating_sub(1);
        check_times(times, times.len())?;
        check_length("bases", segments * mechanism.nq(), bases.len())?;
        check_length("coefficients", segments * DEGREE * mechanism.nv(), coefficients.len())?;
        for base in bases.chunks(mechanism.nq().max(1)) {
            mechanism.check_configuration("bases", base)?;
        }
        for row in coefficients.chunks(mechanism.nv().max(1)) {
            mechanism.check_vector("coefficients", row)?;
        }
        let mut course = Self {
            mechanism: mechanism.clone(),
            times: times.to_vec(),
            bases: bases.to_vec(),
            coefficients: coefficients.to_vec(),
            end: mechanism.neutral(),
        };
        let (mut end, mut still) = (mechanism.neutral(), vec![0.0; mechanism.nv()]);
        for k in 0..segments {
            if k > 0 {
                let gap = mechanism.distance(&end, &bases[k * mechanism.nq()..(k + 1) * mechanism.nq()])?;
                if gap > 1e-6 {
                    return Err(Error::Unsolved {
                        what: "a trajectory",
                        problem: format!("it jumps by {gap:.3e} rad or m at t = {} s", times[k]),
                    });
                }
            }
            course.on_segment(k, 1.0, 1.0, &mut end, &mut still.clone(), &mut still);
        }
        course.end = end;
        Ok(course)
    }
}

fn finite(argument: &'static str, value: f64) -> Result<()> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(Error::Parameter { argument, value }),
    }
}

/// An error unless there are as many times as needed, at least two, and each comes after the one before.
fn check_times(times: &[f64], needed: usize) -> Result<()> {
    check_length("times", needed, times.len())?;
    times.iter().try_for_each(|t| finite("times", *t))?;
    if times.len() < 2 {
        return Err(Error::Unsolved {
            what: "a trajectory",
            problem: "it needs two waypoints at least".into(),
        });
    }
    match (1..times.len()).find(|&i| times[i] <= times[i - 1]) {
        None => Ok(()),
        Some(i) => Err(Error::Unsolved {
            what: "a trajectory",
            problem: format!(
                "waypoint {i} (from zero) is at t = {} s, which does not come after {} s; give rising times",
                times[i],
                times[i - 1]
            ),
        }),
    }
}
