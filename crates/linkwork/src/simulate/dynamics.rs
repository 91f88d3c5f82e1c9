//! The standard equations of motion, 𝓜q̈ + C = T.

use super::{Equations, PassiveForces};
use crate::workspace::Moving;
use crate::{Error, Mechanism, Result, Workspace};

/// The present time and state, for a [`Drive`].
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Time, in seconds.
    pub t: f64,
    /// Configuration.
    pub q: &'a [f64],
    /// Velocity, q̇.
    pub v: &'a [f64],
}

/// What drives a mechanism: torques of motors, and external forces. A function or closure with the arguments of
/// [`Drive::drive`] is a drive, and `()` is none.
///
/// ```
/// use linkwork::simulate::{Drive, Dynamics, Integrator, Now, RungeKutta4, State};
/// use linkwork::workspace::Moving;
///
/// /// A spring and a damper at every joint.
/// struct Servo {
///     target: Vec<f64>,
/// }
///
/// impl Drive for Servo {
///     fn drive(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> linkwork::Result<()> {
///         moving.gravity_torque(tau)?; // what holds the arm, and
///         for i in 0..tau.len() {
///             tau[i] += 40.0 * (self.target[i] - now.q[i]) - 10.0 * now.v[i];
///         }
///         Ok(())
///     }
/// }
///
/// let arm = linkwork::model::examples::double_pendulum();
/// let mut equations = Dynamics::new(&arm, Servo { target: vec![0.5, -0.2] })?;
/// let (mut state, mut integrator) = (State::at_rest(&arm, &[0.0, 0.0]), RungeKutta4::new(&arm));
/// for _ in 0..5000 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// assert!((state.q[0] - 0.5).abs() < 1e-2 && (state.q[1] + 0.2).abs() < 1e-2);
/// # Ok::<(), linkwork::Error>(())
/// ```
pub trait Drive {
    /// Writes the motors' torques to `tau`, which comes filled with zeros. `moving` is the mechanism at this state: ask it what
    /// a controller needs, or [apply forces](crate::workspace::Configured::apply_force) to its links.
    fn drive(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()>;

    /// For steps of a length that are implicit in velocities, as those with contact: changes the torques of the last call to
    /// those at the configuration that present velocities lead to, and adds what they fall by as velocities grow to
    /// `resistance`. Nothing, where a drive does not say.
    fn resist(&mut self, _step: f64, _tau: &mut [f64], _resistance: &mut [f64]) {}
}

impl Drive for () {
    fn drive(&mut self, _: Now<'_>, _: &mut Moving<'_>, _: &mut [f64]) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(Now<'_>, &mut Moving<'_>, &mut [f64]) -> Result<()>> Drive for F {
    fn drive(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        self(now, moving, tau)
    }
}

/// T of a drive, which is to blame for what is not finite.
pub(crate) fn driven<D: Drive>(drive: &mut D, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
    tau.fill(0.0);
    drive.drive(now, moving, tau)?;
    let Some(index) = tau.iter().position(|x| !x.is_finite()) else {
        return Ok(());
    };
    let (joint, _) = moving.mechanism().joint_of_dof(index);
    Err(Error::Drive {
        problem: format!(
            "at t = {} s the drive gives joint `{}` a torque of {}; every torque must be a finite number",
            now.t,
            moving.mechanism().joints()[joint.index()].name,
            tau[index]
        ),
    })
}

/// The equations of motion 𝓜q̈ + C = T in q and q̇, by O(N) forward dynamics. T is the sum of the drive's torques and the
/// passive torques of the joints (springs, dampers, friction, stops).
///
/// ```
/// use linkwork::simulate::{Dynamics, Integrator, Now, RungeKutta4, State};
/// use linkwork::workspace::Moving;
/// let arm = linkwork::model::examples::double_pendulum();
/// // A drive is a function of time and state: here a damper at every joint.
/// let damper = |now: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]| {
///     for (tau, v) in tau.iter_mut().zip(now.v) {
///         *tau = -0.5 * v;
///     }
///     Ok(())
/// };
/// let mut equations = Dynamics::new(&arm, damper)?;
/// let mut state = State::at_rest(&arm, &[1.0, 0.0]);
/// let mut integrator = RungeKutta4::new(&arm);
/// for _ in 0..100 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// assert!((state.t - 0.1).abs() < 1e-12);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Debug)]
pub struct Dynamics<D> {
    workspace: Workspace,
    drive: D,
    resistance: PassiveForces,
    tau: Vec<f64>,
}

impl<D: Drive> Dynamics<D> {
    /// The equations of a mechanism under a drive, with the [`PassiveForces`] that its joints have.
    pub fn new(mechanism: &Mechanism, drive: D) -> Result<Self> {
        Ok(Self::with(mechanism, drive, PassiveForces::of(mechanism)?))
    }

    /// The same with another [`PassiveForces`].
    pub fn with(mechanism: &Mechanism, drive: D, resistance: PassiveForces) -> Self {
        Self {
            workspace: mechanism.workspace(),
            drive,
            resistance,
            tau: vec![0.0; mechanism.nv()],
        }
    }

    /// The drive.
    pub fn drive(&mut self) -> &mut D {
        &mut self.drive
    }

    /// T of the last call, resistance included.
    pub fn torques(&self) -> &[f64] {
        &self.tau
    }
}

impl<D: Drive> Equations for Dynamics<D> {
    fn mechanism(&self) -> &Mechanism {
        self.workspace.mechanism()
    }

    fn rates(&mut self, t: f64, q: &[f64], v: &[f64], qd: &mut [f64], vd: &mut [f64]) -> Result<()> {
        let mut posed = self.workspace.at(q)?;
        let mut moving = posed.moving(v)?;
        driven(&mut self.drive, Now { t, q, v }, &mut moving, &mut self.tau)?;
        self.resistance.check(moving.mechanism())?;
        self.resistance.add(q, v, &mut self.tau)?;
        moving.forward_dynamics(&self.tau, vd)?;
        qd.copy_from_slice(v);
        Ok(())
    }
}
