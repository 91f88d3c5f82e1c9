//! Decoupled control in total joint rates, and the classical controllers to compare it with.
//! (Jain and Rodriguez, *Diagonalized Lagrangian Robot Dynamics*, section 8)
//!
//! In ν and ε a robot is nv unit masses side by side, coupled only by a Coriolis force that does no work. So a torque that
//! opposes each ν by itself takes energy away whatever the others do: [`RateDamping`] is ε = −cν, with ½ν\*ν falling at the
//! rate ν\*cν, and [`PoseControl`] adds a spring from the tip to a pose. [`JointPd`], [`ComputedTorque`] and the linear
//! [`Regulator`] are the usual alternatives.
//!
//! [`OperationalSpace`] brings several frames where they are to be, in order of priority; [`Grasp`] moves an object in several
//! hands and holds the forces inside it; [`Adaptive`] follows a course while it learns the robot's inertial parameters.
//!
//! [`Controlled`] makes any of them a [`Drive`] of the simulator: it adds the torques that hold the robot against gravity and
//! keeps to the joints' limits. A [`Trial`] sets one task to several and measures what each makes of it.
//!
//! ```
//! use linkwork::control::{Controlled, RateDamping};
//! use linkwork::model::examples;
//! use linkwork::simulate::{Integrator, RungeKutta4, Dynamics, State};
//! let arm = examples::arm7();
//! let control = Controlled::new(&arm, RateDamping::new(&arm, 4.0)?);
//! let mut equations = Dynamics::new(&arm, control)?;
//! let mut state = State { t: 0.0, q: arm.neutral(), v: vec![0.4; 7] };
//! let mut integrator = RungeKutta4::new(&arm);
//! for _ in 0..2000 {
//!     integrator.step(&mut equations, &mut state, 1e-3)?;
//! }
//! assert!(state.v.iter().all(|v| v.abs() < 1e-2), "at rest after two seconds");
//! # Ok::<(), linkwork::Error>(())
//! ```

mod adaptive;
mod grasp;
mod joint_space;
mod operational;
mod pose_control;
mod priority;
mod rate_damping;
mod regulator;
mod trial;
mod underactuated;

pub use adaptive::{Adaptation, Adaptive, DesiredMotion};
pub use grasp::Grasp;
pub use joint_space::{ComputedTorque, JointPd};
pub use operational::{FrameTarget, FrameTask, OperationalSpace};
pub use pose_control::{PoseControl, Stiffness};
pub use rate_damping::RateDamping;
pub use regulator::Regulator;
pub use trial::{Trial, TrialOutcome};

use crate::simulate::{Drive, Now};
use crate::workspace::Moving;
use crate::{Error, Mechanism, Result};

/// Says which torques to apply, beyond those that hold the robot against gravity.
///
/// ```
/// use linkwork::control::{Controlled, Controller};
/// use linkwork::simulate::{Dynamics, Integrator, Now, RungeKutta4, State};
/// use linkwork::workspace::Moving;
///
/// /// Opposes every joint's speed.
/// struct Brake(f64);
///
/// impl Controller for Brake {
///     fn torques(&mut self, now: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]) -> linkwork::Result<()> {
///         (0..tau.len()).for_each(|i| tau[i] = -self.0 * now.v[i]);
///         Ok(())
///     }
/// }
///
/// let arm = linkwork::model::examples::arm7();
/// let mut equations = Dynamics::new(&arm, Controlled::new(&arm, Brake(5.0)))?;
/// let mut state = State { t: 0.0, q: arm.neutral(), v: vec![0.2; 7] };
/// RungeKutta4::new(&arm).step(&mut equations, &mut state, 1e-3)?;
/// # Ok::<(), linkwork::Error>(())
/// ```
pub trait Controller {
    /// Writes the torques to `tau`. `now` has q and q̇, `moving` is the robot there.
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()>;
}

/// A controller as a drive: T = g(q) + s T_c, the torques of gravity and what the controller asks for.
///
/// Torques are at degrees of freedom that motors drive: elsewhere gravity is not held, and a controller that asks for more is
/// refused by the name of the joint. Where T_c would exceed a limit, the whole of it is scaled by the largest s ≤ 1 that keeps every joint within its own, so
/// that it keeps its direction and a torque that only damps still only damps. Where gravity alone exceeds a limit, nothing can
/// hold the robot, and that joint is given its limit.
///
/// ```
/// use linkwork::control::{Controlled, JointPd};
/// use linkwork::simulate::{Drive, Now};
/// let arm = linkwork::model::examples::arm7();
/// let servo = JointPd::new(&arm, &[0.2; 7], &[100.0; 7], &[10.0; 7])?;
/// let mut drive = Controlled::new(&arm, servo).limits(&[20.0; 7])?;
/// let (q, v, mut tau) = (arm.neutral(), [0.0; 7], [0.0; 7]);
/// let mut workspace = arm.workspace();
/// drive.drive(Now { t: 0.0, q: &q, v: &v }, &mut workspace.at(&q)?.moving(&v)?, &mut tau)?;
/// assert!(tau.iter().all(|tau| tau.abs() <= 20.0 + 1e-12) && drive.scale() <= 1.0);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Controlled<C> {
    mechanism: Mechanism,
    controller: C,
    limits: Vec<f64>,
    driven: Vec<bool>,
    gravity: bool,
    held: Vec<f64>,
    scale: f64,
}

impl<C: Controller> Controlled<C> {
    /// With gravity compensation, and the limits of the mechanism's motors and joints.
    pub fn new(mechanism: &Mechanism, controller: C) -> Self {
        Self {
            mechanism: mechanism.clone(),
            controller,
            limits: mechanism.motor_limits().to_vec(),
            driven: (0..mechanism.nv()).map(|i| mechanism.is_driven(i)).collect(),
            gravity: true,
            held: vec![0.0; mechanism.nv()],
            scale: 1.0,
        }
    }

    /// With other limits, one per degree of freedom; infinity is none.
    pub fn limits(mut self, limits: &[f64]) -> Result<Self> {
        if limits.len() != self.limits.len() {
            return Err(Error::Length {
                argument: "limits",
                needed: self.limits.len(),
                given: limits.len(),
            });
        }
        if let Some(bad) = limits.iter().find(|x| x.is_nan() || **x < 0.0) {
            return Err(Error::Gain {
                argument: "limits",
                value: *bad,
                rule: "not be negative",
            });
        }
        self.limits.copy_from_slice(limits);
        Ok(self)
    }

    /// Without gravity compensation.
    pub fn without_gravity(mut self) -> Self {
        self.gravity = false;
        self
    }

    /// s of the last call: below one where limits were met.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The controller.
    pub fn controller(&mut self) -> &mut C {
        &mut self.controller
    }
}

impl<C: Controller> Drive for Controlled<C> {
    fn drive(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        moving.mechanism().check_same(&self.mechanism, "controller")?;
        self.controller.torques(now, moving, tau)?;
        if self.gravity {
            moving.gravity_torque(&mut self.held)?;
        }
        self.scale = 1.0;
        for i in 0..tau.len() {
            if !self.driven[i] {
                if tau[i] != 0.0 {
                    return Err(moving.mechanism().not_driven(i, "the controller"));
                }
                self.held[i] = 0.0;
                continue;
            }
            let (limit, held) = (self.limits[i], self.held[i]);
            self.held[i] = held.clamp(-limit, limit);
            let room = if tau[i] > 0.0 { limit - held } else { limit + held };
            if tau[i].abs() > room {
                self.scale = self.scale.min(room.max(0.0) / tau[i].abs());
            }
        }
        for (tau, held) in tau.iter_mut().zip(&self.held) {
            *tau = held + self.scale * *tau;
        }
        Ok(())
    }
}

/// Gains of nv numbers, all positive.
fn positive(argument: &'static str, gains: &[f64], needed: usize) -> Result<()> {
    if gains.len() != needed {
        let given = gains.len();
        return Err(Error::Length {
            argument,
            needed,
            given,
        });
    }
    match gains.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
        Some(bad) => Err(Error::Gain {
            argument,
            value: *bad,
            rule: "be positive and finite",
        }),
        None => Ok(()),
    }
}
