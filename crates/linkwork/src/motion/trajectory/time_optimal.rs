//! The fastest way along a path within limits of velocity, acceleration and torque.
//!
//! Along a path q(s) the motion is ṡ alone: with x = ṡ² and u = s̈, half of x's slope,
//!
//! ```text
//! q̇² = q′² x     q̈ = q′u + q″x     T = a(s)u + b(s)x + c(s)
//! ```
//!
//! where c is inverse dynamics at rest, a + c that with q̈ = q′, and b + c that with q̇ = q′ and q̈ = q″: three calls per point.
//! Between two points of a grid u is constant, and limits hold at both of its ends: half planes in (u, x). From the end of the
//! path inward, the x from which the end can be reached are intervals, found as the extremes of those half planes; then from the start on
//! the largest u that stays within them is the fastest (Pham and Pham 2018, reachability analysis).
//!
//! Damping is not linear in x; it is taken at the speed of the solution before, until that is the same.

use super::half_planes::{HalfPlane, extreme};
use super::limits::{Followed, LimitUse, Limits, followers};
use super::{Knot, Trajectory};
use crate::model::check_length;
use crate::workspace::Workspace;
use crate::{Error, Result};

/// A path in the least time. Displays as a sentence.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TimeOptimal {
    /// The trajectory.
    pub trajectory: Trajectory,
    /// How near it comes to its limits, recomputed between the points of the grid; a little above 1 is what the grid leaves.
    pub limit_use: LimitUse,
    /// The points of the path, in its own time.
    pub s: Vec<f64>,
    /// ṡ there.
    pub speed: Vec<f64>,
}

impl core::fmt::Display for TimeOptimal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:.4} s; {}", self.trajectory.duration(), self.limit_use)
    }
}

/// Pieces of the first grid; twice as many until limits hold, so often.
const PIECES: usize = 250;
const REFINEMENTS: usize = 3;
/// Of a limit that a finer grid is needed for.
const OVER: f64 = 1.002;
/// Solutions with the damping of the one before, at most.
const DAMPED: usize = 12;

/// One end of a piece of the path.
struct End {
    q: Vec<f64>,
    /// q′ and q″.
    slope: Vec<f64>,
    bend: Vec<f64>,
    /// |a u + b x + c| ≤ limit, the same rows everywhere.
    rows: Vec<Row>,
    /// The largest x that velocities allow.
    fastest: f64,
    /// T at rest without what resists the joints.
    still: Vec<f64>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    a: f64,
    b: f64,
    c: f64,
    limit: f64,
    /// The degree of freedom, and whether it is of torque.
    dof: usize,
    is_torque: bool,
}

struct Course<'a> {
    path: &'a Trajectory,
    limits: &'a Limits,
    s: Vec<f64>,
    /// Both ends of every piece.
    ends: Vec<[End; 2]>,
    followers: Vec<Followed>,
}

impl Trajectory {
    /// The same path from rest to rest in the least time within limits: this trajectory's own time is only the path's parameter.
    /// [`Trajectory::path_through`] and [`PoseTrajectory::path`](super::PoseTrajectory::path) make paths for it; one that stands still
    /// somewhere is refused.
    ///
    /// ```
    /// use linkwork::motion::{Limits, Trajectory};
    /// let arm = linkwork::model::examples::arm7();
    /// let limits = Limits::of(&arm).velocity(&[2.0; 7])?.acceleration(&[10.0; 7])?;
    /// let path = Trajectory::path_through(&arm, &[[0.0; 7], [0.4, 0.8, 0.0, -0.5, 0.2, 0.6, 0.0], [0.9; 7]])?;
    /// let fast = path.time_optimal(&limits)?;
    /// assert!(fast.limit_use.share < 1.01, "{fast}");
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    #[doc(alias = "topp")]
    #[doc(alias = "time parametrization")]
    pub fn time_optimal(&self, limits: &Limits) -> Result<TimeOptimal> {
        check_length("limits", self.mechanism.nv(), limits.velocity.len())?;
        if self.times.len() < 2 {
            return Err(unsolved("the path has no length; give it two waypoints".into()));
        }
        self.check_positions()?;
        let mut pieces = PIECES;
        for _ in 0..REFINEMENTS {
            let found = Course::new(self, limits, pieces)?.solve()?;
            if found.limit_use.share <= OVER {
                return Ok(found);
            }
            pieces *= 2;
        }
        Course::new(self, limits, pieces)?.solve()
    }
}

impl<'a> Course<'a> {
    fn new(path: &'a Trajectory, limits: &'a Limits, pieces: usize) -> Result<Self> {
        let mut course = Self {
            path,
            limits,
            s: vec![path.start_time()],
            ends: Vec::new(),
            followers: followers(&path.mechanism),
        };
        let mut workspace = path.mechanism.workspace();
        for k in 0..path.times.len() - 1 {
            let seconds = path.times[k + 1] - path.times[k];
            for piece in parts(path, k, pieces).windows(2) {
                let both = [piece[0], piece[1]].map(|s| course.end(&mut workspace, k, s, seconds));
                let [left, right] = both;
                course.ends.push([left?, right?]);
                course.s.push(path.times[k] + piece[1] * seconds);
            }
        }
        Ok(course)
    }

    fn end(&self, workspace: &mut Workspace, k: usize, s: f64, seconds: f64) -> Result<End> {
        let (m, limits) = (&self.path.mechanism, self.limits);
        let nv = m.nv();
        let (mut q, mut slope, mut bend) = (m.neutral(), vec![0.0; nv], vec![0.0; nv]);
        self.path.on_segment(k, s, seconds, &mut q, &mut slope, &mut bend);
        let here = self.path.times[k] + s * seconds;
        if slope.iter().all(|x| x.abs() < 1e-9) {
            return Err(unsolved(format!(
                "the path stands still at s = {here:.6}; make one with `Trajectory::path_through`, or time the parts before and after by themselves"
            )));
        }
        let mut fastest = f64::INFINITY;
        let mut narrow = |limit: f64, slope: f64| fastest = fastest.min((limit / slope).powi(2));
        (0..nv).for_each(|i| narrow(limits.velocity[i], slope[i]));
        for f in &self.followers {
            let [_, rate, _] = m.coupling_of(f.joint, q[f.q]);
            narrow(f.velocity, rate * slope[f.v]);
        }
        let mut rows = Vec::new();
        for i in (0..nv).filter(|i| limits.acceleration[*i].is_finite()) {
            rows.push(Row {
                a: slope[i],
                b: bend[i],
                c: 0.0,
                limit: limits.acceleration[i],
                dof: i,
                is_torque: false,
            });
        }
        let mut still = vec![0.0; nv];
        if limits.torque.iter().any(|x| x.is_finite()) {
            let (mut push, mut turn, zero) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
            let mut posed = workspace.at(&q)?;
            let mut resting = posed.moving(&zero)?;
            resting.inverse_dynamics(&zero, &mut still)?;
            resting.inverse_dynamics(&slope, &mut push)?;
            posed.moving(&slope)?.inverse_dynamics(&bend, &mut turn)?;
            for i in (0..nv).filter(|i| limits.torque[*i].is_finite()) {
                rows.push(Row {
                    a: push[i] - still[i],
                    b: turn[i] - still[i],
                    c: still[i],
                    limit: limits.torque[i],
                    dof: i,
                    is_torque: true,
                });
            }
        }
        Ok(End {
            q,
            slope,
            bend,
            rows,
            fastest,
            still,
        })
    }

    fn solve(mut self) -> Result<TimeOptimal> {
        let resists =
            self.path.mechanism.passive.is_any() && self.ends.iter().any(|e| e[0].rows.iter().any(|r| r.is_torque));
        let mut x = Vec::new();
        let mut before = f64::INFINITY;
        for round in 0..DAMPED {
            if resists {
                self.resist(&x)?;
            }
            x = self.speeds()?;
            let seconds = self.seconds(&x)?;
            if !resists || (round > 0 && (seconds - before).abs() < 1e-6 * seconds) {
                break;
            }
            before = seconds;
        }
        self.timed(&x)
    }

    /// Puts into c what springs, dampers and friction do at the speeds found before, at rest if there are none yet.
    fn resist(&mut self, x: &[f64]) -> Result<()> {
        let m = self.path.mechanism.clone();
        let mut workspace = m.workspace();
        let (mut passive, mut v) = (vec![0.0; m.nv()], vec![0.0; m.nv()]);
        for (i, ends) in self.ends.iter_mut().enumerate() {
            for (side, end) in ends.iter_mut().enumerate() {
                let speed = x.get(i + side).map_or(1e-2, |x| x.sqrt());
                v.iter_mut().zip(&end.slope).for_each(|(v, slope)| *v = speed * slope);
                workspace.at(&end.q)?.moving(&v)?.passive_torque(&mut passive)?;
                for row in end.rows.iter_mut().filter(|row| row.is_torque) {
                    row.c = end.still[row.dof] - passive[row.dof];
                }
            }
        }
        Ok(())
    }

    /// The half planes of a piece, in u and the x of its start.
    fn planes(&self, piece: usize, next: [f64; 2], out: &mut Vec<HalfPlane>) {
        let twice = 2.0 * (self.s[piece + 1] - self.s[piece]);
        out.clear();
        for (side, end) in self.ends[piece].iter().enumerate() {
            for (owner, row) in end.rows.iter().enumerate() {
                let p = row.a + if side == 1 { twice * row.b } else { 0.0 };
                for sign in [1.0, -1.0] {
                    out.push(HalfPlane {
                        p: sign * p,
                        r: sign * row.b,
                        w: row.limit - sign * row.c,
                        owner,
                    });
                }
            }
        }
        // The x of its end, x + 2Δu.
        let owner = usize::MAX;
        out.push(HalfPlane {
            p: twice,
            r: 1.0,
            w: next[1],
            owner,
        });
        out.push(HalfPlane {
            p: -twice,
            r: -1.0,
            w: -next[0],
            owner,
        });
    }

    /// x at every point.
    fn speeds(&self) -> Result<Vec<f64>> {
        let n = self.ends.len();
        // Beyond this nothing moves: the whole path in a ten-thousandth of what any limit would allow.
        let huge = 1e12 * (self.s[n] - self.s[0]).powi(2).max(1e-6);
        let fastest = |i: usize| {
            let before = if i > 0 { self.ends[i - 1][1].fastest } else { huge };
            let after = if i < n { self.ends[i][0].fastest } else { huge };
            before.min(after).min(huge)
        };
        let mut planes = Vec::new();
        let mut within = vec![[0.0; 2]; n + 1];
        for i in (0..n).rev() {
            self.planes(i, within[i + 1], &mut planes);
            let twice = 2.0 * (self.s[i + 1] - self.s[i]);
            let blame = |owner| self.infeasible(i, owner);
            let widest = |highest: f64| (highest + within[i + 1][1]) / twice;
            // Once more in a box that fits, for all digits.
            let (mut highest, mut high) = (fastest(i), 0.0);
            for _ in 0..4 {
                high = extreme(&planes, widest(highest), highest, 1.0).map_err(blame)?.1;
                let snug = (4.0 * high).max(1e-9 * highest);
                if snug > 0.1 * highest {
                    break;
                }
                highest = snug;
            }
            let low = extreme(&planes, widest(highest), highest, -1.0).map_err(blame)?.1;
            within[i] = [low.min(high), high];
        }
        let tolerance = 1e-9 * within[0][1].max(1e-9);
        if within[0][0] > tolerance {
            return Err(self.infeasible(0, usize::MAX));
        }
        let mut x = vec![0.0; n + 1];
        for i in 0..n {
            self.planes(i, within[i + 1], &mut planes);
            let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
            for plane in &planes {
                let room = plane.w - plane.r * x[i];
                if plane.p > 0.0 {
                    high = high.min(room / plane.p);
                } else if plane.p < 0.0 {
                    low = low.max(room / plane.p);
                }
            }
            let twice = 2.0 * (self.s[i + 1] - self.s[i]);
            x[i + 1] = (x[i] + twice * high.max(low)).clamp(within[i + 1][0], within[i + 1][1]);
        }
        Ok(x)
    }

    fn seconds(&self, x: &[f64]) -> Result<f64> {
        let mut sum = 0.0;
        for (i, pair) in x.windows(2).enumerate() {
            let mean = pair[0].sqrt() + pair[1].sqrt();
            let seconds = 2.0 * (self.s[i + 1] - self.s[i]) / mean;
            if !(seconds.is_finite() && seconds < 1e6) {
                return Err(self.infeasible(i, usize::MAX));
            }
            sum += seconds;
        }
        match sum > 0.0
            && x.iter()
                .all(|x| *x < 1e11 * (self.s[self.ends.len()] - self.s[0]).powi(2).max(1e-6))
        {
            true => Ok(sum),
            false => Err(unsolved(
                "nothing limits the speed along the path; give limits of velocity, acceleration or torque".into(),
            )),
        }
    }

    /// The trajectory with these x.
    fn timed(self, x: &[f64]) -> Result<TimeOptimal> {
        let m = &self.path.mechanism;
        let mut trajectory = Trajectory::start(m, 0.0, &self.ends[0][0].q)?;
        for (i, [left, right]) in self.ends.iter().enumerate() {
            let step = self.s[i + 1] - self.s[i];
            let (from, to) = (x[i].sqrt(), x[i + 1].sqrt());
            let u = (x[i + 1] - x[i]) / (2.0 * step);
            let of = |end: &End, x: f64| {
                let v: Vec<f64> = end.slope.iter().map(|slope| slope * x.sqrt()).collect();
                let a: Vec<f64> = end
                    .slope
                    .iter()
                    .zip(&end.bend)
                    .map(|(slope, bend)| slope * u + bend * x)
                    .collect();
                (v, a)
            };
            let ((v, a), (v1, a1)) = (of(left, x[i]), of(right, x[i + 1]));
            let to_knot = Knot {
                q: &right.q,
                qd: &v1,
                qdd: &a1,
            };
            trajectory.push(2.0 * step / (from + to), [&v, &a], to_knot)?;
        }
        let limit_use = trajectory.limit_use(self.limits)?;
        Ok(TimeOptimal {
            trajectory,
            limit_use,
            speed: x.iter().map(|x| x.sqrt()).collect(),
            s: self.s,
        })
    }

    /// Why no speed keeps to the limits at a piece, which a row showed.
    fn infeasible(&self, piece: usize, owner: usize) -> Error {
        let (m, s) = (&self.path.mechanism, self.s[piece]);
        let name = |dof: usize| &m.joints()[m.joint_of_dof(dof).0.index()].name;
        let (rows, others) = (&self.ends[piece][0].rows, &self.ends[piece][1].rows);
        let idle = |row: &&Row| row.is_torque && row.limit == 0.0;
        if let Some(row) = rows.iter().find(idle) {
            return unsolved(format!(
                "at s = {s:.6} of the path joint `{}` would need a torque of {:.4} N m or N even at rest, but no motor drives it; drive it, or give a path that its own dynamics follow",
                name(row.dof),
                row.c
            ));
        }
        if let Some(row) = rows.iter().chain(others).find(|row| row.c.abs() > row.limit) {
            return unsolved(format!(
                "at s = {s:.6} of the path joint `{}` cannot hold the robot: that takes {:.4} N m or N, and its limit is {:.4}; move the path, or raise the limit",
                name(row.dof),
                row.c,
                row.limit
            ));
        }
        let word = match rows.get(owner) {
            Some(row) if row.is_torque => format!("the torque of joint `{}` and those of others", name(row.dof)),
            Some(row) => format!("the acceleration of joint `{}` and others", name(row.dof)),
            None => "what comes after".to_owned(),
        };
        unsolved(format!(
            "no speed at s = {s:.6} of the path keeps to its limits: {word} contradict each other there; make the path less bent near there, or raise limits"
        ))
    }
}

/// The points of the grid on a segment, from 0 to 1. They stand closer where the path starts and ends at rest, as 3τ² − 2τ³: from
/// rest the speed grows as the root of the way, and so by as much in each piece.
fn parts(path: &Trajectory, k: usize, pieces: usize) -> Vec<f64> {
    const LEAST: usize = 4;
    let (start, seconds) = (path.times[k], path.times[k + 1] - path.times[k]);
    let near = 1e-3 * (1.0 / pieces as f64).powi(2);
    let of = |i: usize| {
        let tau = i as f64 / pieces as f64;
        (path.start_time() + path.duration() * tau * tau * (3.0 - 2.0 * tau) - start) / seconds
    };
    let mut parts = vec![0.0];
    parts.extend((1..pieces).map(of).filter(|s| *s > near && *s < 1.0 - near));
    if parts.len() < LEAST {
        parts = (0..LEAST).map(|i| i as f64 / LEAST as f64).collect();
    }
    parts.push(1.0);
    parts
}

fn unsolved(problem: String) -> Error {
    Error::Unsolved {
        what: "the fastest motion along the path",
        problem,
    }
}
