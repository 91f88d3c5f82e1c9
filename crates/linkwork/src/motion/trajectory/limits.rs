//! What a trajectory must keep to, and how near it comes to that.

use super::Trajectory;
use crate::model::{Mechanism, check_length, per_dof};
use crate::{Error, Result};

/// Limits of every degree of freedom, nv numbers each; infinity is none. Joints that follow others keep to their own limits of
/// velocity besides.
///
/// ```
/// use linkwork::motion::{Limits, Trajectory};
/// let arm = linkwork::model::examples::arm7();
/// let limits = Limits::of(&arm).acceleration(&[15.0; 7])?;
/// let course = Trajectory::minimum_jerk(&arm, &[0.0; 7], &[0.5; 7], 2.0)?;
/// let most = course.limit_use(&limits)?;
/// assert!(most.share < 1.0, "{most}");
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    pub(super) velocity: Vec<f64>,
    pub(super) acceleration: Vec<f64>,
    pub(super) torque: Vec<f64>,
}

/// The largest share of a limit that a trajectory takes. Displays as a sentence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LimitUse {
    /// The joint, followers included.
    pub joint: String,
    /// `velocity`, `acceleration` or `torque`.
    pub quantity: &'static str,
    /// When, in seconds.
    pub t: f64,
    /// The share: 1 is the limit, more is beyond it.
    pub share: f64,
}

impl core::fmt::Display for LimitUse {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (percent, t) = (100.0 * self.share, self.t);
        write!(f, "the {} of joint `{}` is ", self.quantity, self.joint)?;
        // Absurd numbers would have hundreds of digits.
        match percent < 1e6 {
            true => write!(f, "{percent:.1}")?,
            false => write!(f, "{percent:.1e}")?,
        }
        match t < 1e6 {
            true => write!(f, " % of its limit at t = {t:.4} s"),
            false => write!(f, " % of its limit at t = {t:.4e} s"),
        }
    }
}

impl Limits {
    /// The velocity limits of a mechanism's joints and what its motors exert at most, zero where there are none; accelerations
    /// have no limit.
    pub fn of(mechanism: &Mechanism) -> Self {
        Self {
            velocity: mechanism.velocity_limits(),
            acceleration: vec![f64::INFINITY; mechanism.nv()],
            torque: mechanism.motor_limits().to_vec(),
        }
    }

    /// No limit at all.
    pub fn none(mechanism: &Mechanism) -> Self {
        let free = || vec![f64::INFINITY; mechanism.nv()];
        Self {
            velocity: free(),
            acceleration: free(),
            torque: free(),
        }
    }

    /// With these limits of velocity, in rad/s or m/s.
    pub fn velocity(mut self, limits: &[f64]) -> Result<Self> {
        check("velocity", limits, self.velocity.len(), 0.0)?;
        self.velocity.copy_from_slice(limits);
        Ok(self)
    }

    /// With these limits of acceleration.
    pub fn acceleration(mut self, limits: &[f64]) -> Result<Self> {
        check("acceleration", limits, self.velocity.len(), 0.0)?;
        self.acceleration.copy_from_slice(limits);
        Ok(self)
    }

    /// With these limits of torque, in N m or N; zero is a joint that nothing drives.
    pub fn torque(mut self, limits: &[f64]) -> Result<Self> {
        check("torque", limits, self.velocity.len(), -1.0)?;
        self.torque.copy_from_slice(limits);
        Ok(self)
    }
}

/// An error unless there are enough limits, all above a number.
fn check(argument: &'static str, limits: &[f64], needed: usize, above: f64) -> Result<()> {
    check_length(argument, needed, limits.len())?;
    match limits.iter().find(|x| x.is_nan() || **x <= above) {
        None => Ok(()),
        Some(&value) => Err(Error::Gain {
            argument,
            value,
            rule: "be a positive limit; infinity is none",
        }),
    }
}

/// Points of every segment that are looked at, ends included.
const SAMPLES: usize = 8;
/// Torques below this, in N m or N, count as none where there is no motor.
const NOTHING: f64 = 1e-6;

/// What a joint that follows may do, seen from its leader.
pub(super) struct Followed {
    pub(super) joint: usize,
    pub(super) q: usize,
    pub(super) v: usize,
    pub(super) velocity: f64,
    position: (f64, f64),
}

/// The followers with limits.
pub(super) fn followers(m: &Mechanism) -> Vec<Followed> {
    let of = |j: usize| {
        let (joint, leader) = (&m.joints()[j], m.leader_of(j)?);
        let followed = Followed {
            joint: j,
            q: m.q_of(leader).start,
            v: m.v_of(leader).start,
            velocity: per_dof(&joint.velocity_limit, 1, f64::INFINITY)[0],
            position: per_dof(&joint.position_limits, 1, (f64::NEG_INFINITY, f64::INFINITY))[0],
        };
        Some(followed)
    };
    (0..m.joints().len()).filter_map(of).collect()
}

impl Trajectory {
    /// The largest share of any limit that it takes, at both ends of every segment and several times in between; torques are
    /// those of the motors, springs, dampers and friction of the joints being accounted for. Where nothing drives a joint, any
    /// torque is beyond its limit.
    pub fn limit_use(&self, limits: &Limits) -> Result<LimitUse> {
        let m = &self.mechanism;
        check_length("limits", m.nv(), limits.velocity.len())?;
        let nv = m.nv();
        let mut most = (0.0_f64, 0, "velocity", self.start_time());
        let (mut workspace, followers) = (m.workspace(), followers(m));
        let (mut q, mut v, mut a) = (m.neutral(), vec![0.0; nv], vec![0.0; nv]);
        let (mut tau, mut passive) = (vec![0.0; nv], vec![0.0; nv]);
        let looks_at_torques = limits.torque.iter().any(|x| x.is_finite());
        for k in 0..self.times.len() - 1 {
            let seconds = self.times[k + 1] - self.times[k];
            for i in 0..=SAMPLES {
                let s = i as f64 / SAMPLES as f64;
                self.on_segment(k, s, seconds, &mut q, &mut v, &mut a);
                let mut note = |joint: usize, quantity, value: f64, limit: f64| {
                    let share = match limit > 0.0 {
                        true => value.abs() / limit,
                        false => value.abs() / NOTHING,
                    };
                    if share > most.0 || share.is_nan() {
                        most = (share, joint, quantity, self.times[k] + s * seconds);
                    }
                };
                if looks_at_torques {
                    let mut posed = workspace.at(&q)?;
                    let mut moving = posed.moving(&v)?;
                    moving.inverse_dynamics(&a, &mut tau)?;
                    moving.passive_torque(&mut passive)?;
                }
                for i in 0..nv {
                    let joint = m.joint_of_dof(i).0.index();
                    note(joint, "velocity", v[i], limits.velocity[i]);
                    note(joint, "acceleration", a[i], limits.acceleration[i]);
                    if looks_at_torques {
                        note(joint, "torque", tau[i] - passive[i], limits.torque[i]);
                    }
                }
                for f in &followers {
                    let [_, slope, _] = m.coupling_of(f.joint, q[f.q]);
                    note(f.joint, "velocity", slope * v[f.v], f.velocity);
                }
            }
        }
        let (share, joint, quantity, t) = most;
        let joint = m.joints().get(joint).map_or_else(String::new, |j| j.name.clone());
        Ok(LimitUse {
            joint,
            quantity,
            t,
            share,
        })
    }

    /// An error that names the first joint which it leads beyond a position limit, followers included. Limits of planar,
    /// spherical and free joints are left out of account.
    pub fn check_positions(&self) -> Result<()> {
        let m = &self.mechanism;
        let (bounds, followers) = (m.position_bounds(), followers(m));
        let (mut q, mut v, mut a) = (m.neutral(), vec![0.0; m.nv()], vec![0.0; m.nv()]);
        let beyond = |x: f64, (low, high): (f64, f64)| x < low - 1e-9 || x > high + 1e-9;
        for k in 0..self.times.len() - 1 {
            for i in 0..=SAMPLES {
                let s = i as f64 / SAMPLES as f64;
                self.on_segment(k, s, 1.0, &mut q, &mut v, &mut a);
                let t = self.times[k] + s * (self.times[k + 1] - self.times[k]);
                let told = |joint: usize, at: f64, (low, high): (f64, f64)| Error::Joint {
                    joint: m.joints()[joint].name.clone(),
                    problem: format!(
                        "is at {at:.6} at t = {t:.4} s, beyond its limits [{low}, {high}]; move the waypoints near there inward"
                    ),
                };
                for (joint, at, _) in m.independent().filter(|(joint, ..)| !joint.kind.is_curved()) {
                    for i in at {
                        let limits = (bounds.lower[i], bounds.upper[i]);
                        if beyond(q[i], limits) {
                            return Err(told(m.names.joints[&joint.name], q[i], limits));
                        }
                    }
                }
                for f in &followers {
                    let [at, ..] = m.coupling_of(f.joint, q[f.q]);
                    if beyond(at, f.position) {
                        return Err(told(f.joint, at, f.position));
                    }
                }
            }
        }
        Ok(())
    }
}
