//! Straight segments with blends.

use super::{Knot, Trajectory, check_times};
use crate::model::Mechanism;
use crate::{Error, Result};

/// How a course turns from one straight segment into the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blend {
    /// With constant acceleration, which jumps where the blend begins and ends.
    Parabolic,
    /// With accelerations that begin and end at zero.
    Quintic,
}

impl Trajectory {
    /// Straight segments of constant velocity between waypoints at rising times, from rest to rest, with a blend of some seconds
    /// at each: the first and the last begin and end with one.
    ///
    /// Inner waypoints are passed by, at a distance of ⅛ of the blend's time times the change of velocity if it is parabolic,
    /// 3/32 (that is 0.094) of it if quintic.
    #[doc(alias = "lspb")]
    #[doc(alias = "trapezoidal")]
    pub fn linear_with_blends(
        mechanism: &Mechanism,
        times: &[f64],
        waypoints: &[impl AsRef<[f64]>],
        seconds: f64,
        blend: Blend,
    ) -> Result<Self> {
        check_times(times, waypoints.len())?;
        if !(seconds > 0.0 && seconds.is_finite()) {
            return Err(Error::Duration {
                argument: "the time of blends",
                value: seconds,
            });
        }
        let (n, nv) = (times.len(), mechanism.nv());
        let half = 0.5 * seconds;
        // Velocities of the straight parts: at both ends half a blend is lost.
        let mut straight = vec![vec![0.0; nv]; n - 1];
        for k in 0..n - 1 {
            let lost = half * (f64::from(k == 0) + f64::from(k + 2 == n));
            let (whole, needed) = (times[k + 1] - times[k], seconds + lost);
            if whole < needed * (1.0 - 1e-12) {
                return Err(Error::Unsolved {
                    what: "a course with blends",
                    problem: format!(
                        "segment {k} (from zero) takes {whole} s but its blends need {needed} s; give it more time, or shorter blends"
                    ),
                });
            }
            mechanism.difference(waypoints[k].as_ref(), waypoints[k + 1].as_ref(), &mut straight[k])?;
            straight[k].iter_mut().for_each(|x| *x /= whole - lost);
        }
        let still = vec![0.0; nv];
        let mut course = Self::start(mechanism, times[0], waypoints[0].as_ref())?;
        let (mut q, mut step) = (waypoints[0].as_ref().to_vec(), vec![0.0; nv]);
        for k in 0..n {
            // The blend at waypoint k.
            let before = if k > 0 { &straight[k - 1] } else { &still };
            let after = if k + 1 < n { &straight[k] } else { &still };
            if k + 1 < n {
                step.iter_mut().zip(after).for_each(|(x, v)| *x = half * v);
                mechanism.integrate(waypoints[k].as_ref(), &step, &mut q)?;
            } else {
                q.copy_from_slice(waypoints[k].as_ref());
            }
            let bend: Vec<f64> = match blend {
                Blend::Parabolic => after.iter().zip(before).map(|(b, a)| (b - a) / seconds).collect(),
                Blend::Quintic => still.clone(),
            };
            let to = Knot {
                q: &q,
                qd: after,
                qdd: &bend,
            };
            course.push(seconds, [before, &bend], to)?;
            if k + 1 == n {
                break;
            }
            // The straight part to the next blend.
            let end = if k + 2 == n {
                times[k + 1] - seconds
            } else {
                times[k + 1] - half
            };
            let rest = end - course.end_time();
            if rest > 1e-9 * seconds {
                let way: Vec<f64> = after.iter().map(|v| rest * v).collect();
                let from = course.end().to_vec();
                mechanism.integrate(&from, &way, &mut q)?;
                let to = Knot {
                    q: &q,
                    qd: after,
                    qdd: &still,
                };
                course.push(rest, [after, &still], to)?;
            }
        }
        Ok(course)
    }
}
