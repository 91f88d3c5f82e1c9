//! Courses of a frame, and of the joints that bring it along.

use super::Trajectory;
use crate::model::{FrameId, Joint, Link, Mechanism};
use crate::motion::{InverseKinematics, SolverOptions, Task};
use crate::spatial::{Inertia, Motion, Pose, Rotation};
use crate::{Error, Result};

/// A pose at every time: its origin along a [`Trajectory`] in space, its rotation along one on the sphere of quaternions.
///
/// ```
/// use linkwork::motion::{PoseTrajectory, Trajectory};
/// let arm = linkwork::model::examples::arm7();
/// let (hand, start) = (arm.frame("link7")?, [0.0, 0.5, 0.0, -1.2, 0.0, 0.9, 0.0]);
/// let a = arm.workspace().at(&start)?.pose(hand)?;
/// let b = arm.workspace().at(&[0.3, 0.6, 0.1, -1.0, 0.1, 0.8, 0.2])?.pose(hand)?;
/// let line = PoseTrajectory::new(&[a, b], |body, q| Trajectory::quintic_spline(body, &[0.0, 2.0], q))?;
/// let middle = line.at(1.0)?.pose.translation;
/// assert!((middle - (a.translation + b.translation) * 0.5).norm() < 1e-12);
/// let course = line.follow(&arm, hand, &start, 1e-6)?;
/// assert_eq!(course.duration(), 2.0);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PoseTrajectory(Trajectory);

/// A pose, how it moves and how it accelerates: turning in the pose's own axes, the origin in the world's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseCourse {
    /// Where it is.
    pub pose: Pose,
    /// ω in the pose's axes, and the velocity of its origin in the world's.
    pub velocity: Motion,
    /// The rates of both.
    pub acceleration: Motion,
}

/// The numbers of a pose here: the origin, then a quaternion.
const NQ: usize = 7;
/// How many parts a course is cut into at first, and at most.
const PARTS: [usize; 2] = [16, 4096];
/// In how many parts it must be followed at least before it counts as out of reach.
const PATIENT: usize = 256;

impl PoseTrajectory {
    /// Through poses, by any of the constructors of [`Trajectory`], which is given a body that can be anywhere and its
    /// configurations.
    pub fn new(poses: &[Pose], course: impl FnOnce(&Mechanism, &[[f64; NQ]]) -> Result<Trajectory>) -> Result<Self> {
        let body = Mechanism::builder("pose")
            .link(Link::massless("place"))
            .link(Link::new("pose", Inertia::sphere(1.0, 1.0)))
            .joint(Joint::translation("origin").between("world", "place"))
            .joint(Joint::spherical("turn").between("place", "pose"))
            .build()?;
        let numbers = |pose: &Pose| {
            let ([x, y, z], [a, b, c, w]) = (pose.translation.to_array(), pose.rotation.to_quaternion());
            [x, y, z, a, b, c, w]
        };
        let waypoints: Vec<_> = poses.iter().map(numbers).collect();
        course(&body, &waypoints).map(Self)
    }

    /// Its numbers over time.
    pub fn trajectory(&self) -> &Trajectory {
        &self.0
    }

    /// Where it is at a time.
    pub fn at(&self, t: f64) -> Result<PoseCourse> {
        let (mut q, mut v, mut a) = ([0.0; NQ], [0.0; 6], [0.0; 6]);
        self.0.at(t, &mut q, &mut v, &mut a)?;
        let motion = |x: [f64; 6]| Motion::new([x[3], x[4], x[5]], [x[0], x[1], x[2]]);
        Ok(PoseCourse {
            pose: Pose::new(Rotation::from_quaternion([q[3], q[4], q[5], q[6]]), [q[0], q[1], q[2]]),
            velocity: motion(v),
            acceleration: motion(a),
        })
    }

    /// The joints' course that brings a frame along, from rest to rest and within limits, by inverse kinematics from `start` on:
    /// off by less than `tolerance`, in metres and radians, also between its knots.
    pub fn follow(
        &self,
        mechanism: &Mechanism,
        frame: impl Into<FrameId>,
        start: &[f64],
        tolerance: f64,
    ) -> Result<Trajectory> {
        for t in [self.0.start_time(), self.0.end_time()] {
            let speed = self.at(t)?.velocity;
            if speed.angular.norm() + speed.linear.norm() > 1e-9 {
                return Err(unfollowed(
                    t,
                    "moves, but the joints start and end at rest; let it rest at both ends",
                ));
            }
        }
        self.solve(mechanism, frame.into(), start, tolerance, |times, q| {
            Trajectory::cubic_spline(mechanism, times, q)
        })
    }

    /// The same as a path whose time is its length, for [`Trajectory::time_optimal`]. The poses must be made by
    /// [`Trajectory::path_through`], which moves everywhere.
    pub fn path(
        &self,
        mechanism: &Mechanism,
        frame: impl Into<FrameId>,
        start: &[f64],
        tolerance: f64,
    ) -> Result<Trajectory> {
        for t in [self.0.start_time(), self.0.end_time()] {
            let speed = self.at(t)?.velocity;
            if speed.angular.norm() + speed.linear.norm() < 1e-9 {
                return Err(unfollowed(
                    t,
                    "rests, but a path must move everywhere; make it with `Trajectory::path_through`",
                ));
            }
        }
        self.solve(mechanism, frame.into(), start, tolerance, |_, q| {
            Trajectory::path_through(mechanism, q)
        })
    }

    /// Cuts the course finer until what joins the solutions is near enough to it everywhere.
    fn solve(
        &self,
        mechanism: &Mechanism,
        frame: FrameId,
        start: &[f64],
        tolerance: f64,
        join: impl Fn(&[f64], &[Vec<f64>]) -> Result<Trajectory>,
    ) -> Result<Trajectory> {
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            return Err(Error::Gain {
                argument: "tolerance",
                value: tolerance,
                rule: "be positive and finite",
            });
        }
        let options = |restarts| SolverOptions {
            tolerance: (1e-3 * tolerance).max(1e-12),
            restarts,
            ..SolverOptions::default()
        };
        let first = self.at(self.0.start_time())?.pose;
        let ik = || InverseKinematics::new(mechanism, vec![Task::pose(frame, first)]);
        let begin = ik()?
            .options(options(SolverOptions::default().restarts))?
            .solve_from(start)?;
        if !begin.reached {
            return Err(unfollowed(self.0.start_time(), &format!("is {begin}")));
        }
        let mut ik = ik()?.options(options(0))?;
        let (mut parts, mut worst) = (PARTS[0], (self.0.start_time(), f64::INFINITY));
        while parts <= PARTS[1] {
            let time = |i: f64| self.0.start_time() + self.0.duration() * i / parts as f64;
            let times: Vec<f64> = (0..=parts).map(|i| time(i as f64)).collect();
            let mut found = vec![begin.q.clone()];
            let mut missed = None;
            for t in &times[1..] {
                ik.set(0, Task::pose(frame, self.at(*t)?.pose))?;
                let mut q = found[found.len() - 1].clone();
                if !ik.solve(&mut q)?.reached {
                    missed = Some(*t);
                    break;
                }
                found.push(q);
            }
            if let Some(t) = missed {
                if parts < PATIENT {
                    parts *= 2;
                    continue;
                }
                let whole = ik.options(options(SolverOptions::default().restarts))?;
                return Err(unfollowed(t, &why_not(whole, &found[found.len() - 1])?));
            }
            let course = join(&times, &found)?;
            worst = self.farthest(&course, mechanism, frame, parts)?;
            if worst.1 <= tolerance {
                return Ok(course);
            }
            parts *= 2;
        }
        let problem = format!(
            "is missed by {:.1e} however finely it is followed: the joints jump there, as at a singularity or a limit; move the path, or start from another configuration",
            worst.1
        );
        Err(unfollowed(worst.0, &problem))
    }

    /// When the frame is farthest from the course between its knots, and how far.
    fn farthest(&self, course: &Trajectory, mechanism: &Mechanism, frame: FrameId, parts: usize) -> Result<(f64, f64)> {
        let mut workspace = mechanism.workspace();
        let (mut q, mut v) = (mechanism.neutral(), vec![0.0; mechanism.nv()]);
        let mut worst = (self.0.start_time(), 0.0);
        for i in 0..parts {
            let share = (i as f64 + 0.5) / parts as f64;
            let t = self.0.start_time() + self.0.duration() * share;
            // A path has times of its own: the same part of the same piece.
            let knots = course.times();
            let own = 0.5 * (knots[i] + knots[i + 1]);
            course.at(own, &mut q, &mut v.clone(), &mut v)?;
            let there = workspace.at(&q)?.pose(frame)?;
            let (distance, angle) = match knots.len() == parts + 1 && course.duration() == self.0.duration() {
                true => apart(self.at(t)?.pose, there),
                false => self.nearest(t, there, self.0.duration() / parts as f64)?,
            };
            let off = distance.max(angle);
            if off > worst.1 {
                worst = (t, off);
            }
        }
        Ok(worst)
    }

    /// How far a pose is from the nearest of the course around a time, by narrowing the time down.
    fn nearest(&self, t: f64, pose: Pose, width: f64) -> Result<(f64, f64)> {
        let (mut low, mut high) = (t - width, t + width);
        let off = |t: f64| -> Result<f64> {
            let (distance, angle) = apart(self.at(t)?.pose, pose);
            Ok(distance.hypot(angle))
        };
        for _ in 0..60 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if off(a)? < off(b)? {
                high = b;
            } else {
                low = a;
            }
        }
        Ok(apart(self.at(0.5 * (low + high))?.pose, pose))
    }
}

/// Distance and angle between two poses.
fn apart(a: Pose, b: Pose) -> (f64, f64) {
    let [x, y, z, w] = (a.rotation.inverse() * b.rotation).to_quaternion();
    let sine = (x * x + y * y + z * z).sqrt();
    ((a.translation - b.translation).norm(), 2.0 * sine.atan2(w.abs()))
}

fn unfollowed(t: f64, problem: &str) -> Error {
    Error::Unsolved {
        what: "a course of the joints",
        problem: format!("the pose at t = {t:.6} s {problem}"),
    }
}

/// Why joints do not get from a configuration to the next pose of a course, and what to do.
fn why_not(mut ik: InverseKinematics, last: &[f64]) -> Result<String> {
    let anywhere = ik.solve_from(last)?;
    if !anywhere.reached {
        return Ok(format!("is {anywhere}; move the path"));
    }
    // It can be reached, but not from here: what is in the way here?
    let mut near = ik.options(SolverOptions {
        restarts: 0,
        ..SolverOptions::default()
    })?;
    let stuck = near.solve_from(last)?;
    let held: Vec<String> = stuck.bindings.iter().map(|b| format!("`{}`", b.joint)).collect();
    Ok(match held.is_empty() {
        false => format!(
            "cannot be reached from where the joints are, for {} would have to pass a limit; another configuration reaches it: start from one that leads there, or move the path",
            held.join(" and ")
        ),
        true => "cannot be reached from where the joints are, for a singularity is between; another configuration reaches it: start from one that leads there, or move the path".to_owned(),
    })
}
