//! The diagonalized equations of motion, in q and total joint rates.

use super::{Drive, Equations, Now, Resistance};
use crate::workspace::Scaling;
use crate::{Mechanism, Result, Workspace};

/// ν̇ + 𝒞(q, ν) = ε in q and ν, or Dξ̇ + 𝒞(q, ξ) = κ in q and ξ: the same motion as [`super::Standard`], and a state whose
/// kinetic energy is ½ν\*ν at every q.
///
/// ```
/// use linkwork::model::examples;
/// use linkwork::simulate::{Diagonalized, Integrator, RungeKutta4, State};
/// use linkwork::workspace::Scaling::Normalized;
/// let robot = examples::puma560();
/// let mut equations = Diagonalized::new(&robot, Normalized, ())?;
/// let mut state = equations.state(0.0, &[0.3; 6], &[0.5; 6])?;
/// let mut integrator = RungeKutta4::new(&robot);
/// for _ in 0..100 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// println!("ν = {:?}", state.v);
/// # Ok::<(), linkwork::Error>(())
/// ```
pub struct Diagonalized<'m, D> {
    workspace: Workspace<'m>,
    scaling: Scaling,
    drive: D,
    resistance: Resistance,
    qd: Vec<f64>,
    tau: Vec<f64>,
}

impl<'m, D: Drive> Diagonalized<'m, D> {
    /// The equations of a mechanism under a drive, with the [`Resistance`] that its joints have.
    pub fn new(mechanism: &'m Mechanism, scaling: Scaling, drive: D) -> Result<Self> {
        Ok(Self::with(mechanism, scaling, drive, Resistance::of(mechanism)?))
    }

    /// The same with another [`Resistance`].
    pub fn with(mechanism: &'m Mechanism, scaling: Scaling, drive: D, resistance: Resistance) -> Self {
        Self {
            workspace: mechanism.workspace(),
            scaling,
            drive,
            resistance,
            qd: vec![0.0; mechanism.nv()],
            tau: vec![0.0; mechanism.nv()],
        }
    }

    /// The state that has a given velocity q̇.
    pub fn state(&mut self, t: f64, q: &[f64], qd: &[f64]) -> Result<super::State> {
        let mut v = vec![0.0; self.tau.len()];
        self.workspace.at(q)?.total_rates(self.scaling, qd, &mut v)?;
        Ok(super::State { t, q: q.to_vec(), v })
    }

    /// T of the last call, resistance included.
    pub fn torques(&self) -> &[f64] {
        &self.tau
    }

    /// Total accelerations, q̇ and V in two sweeps, for [`super::TwoSweep`]: `input` holds total rates, predicted q̇, room for T,
    /// and predicted V.
    pub(super) fn two_sweeps(&mut self, t: f64, q: &[f64], input: &mut [f64], out: &mut [f64]) -> Result<()> {
        let (mechanism, nv) = (self.workspace.mechanism(), self.tau.len());
        let qd = &input[nv..2 * nv];
        self.tau.fill(0.0);
        let mut posed = self.workspace.at(q)?;
        let mut moving = posed.moving(qd)?;
        self.drive.drive(Now { t, q, v: qd }, &mut moving, &mut self.tau)?;
        self.resistance.add(mechanism, q, qd, &mut self.tau)?;
        input[2 * nv..3 * nv].copy_from_slice(&self.tau);
        posed.two_sweeps(self.scaling, input, out)
    }

    /// V of every link in its compiled frame, for [`super::TwoSweep`].
    pub(super) fn link_velocities(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<()> {
        let mut posed = self.workspace.at(q)?;
        posed.moving_at_total_rates(self.scaling, v)?.compiled_velocities(out);
        Ok(())
    }
}

impl<D: Drive> Equations for Diagonalized<'_, D> {
    fn mechanism(&self) -> &Mechanism {
        self.workspace.mechanism()
    }

    fn rates(&mut self, t: f64, q: &[f64], v: &[f64], qd: &mut [f64], vd: &mut [f64]) -> Result<()> {
        let mechanism = self.workspace.mechanism();
        let mut posed = self.workspace.at(q)?;
        let mut moving = posed.moving_at_total_rates(self.scaling, v)?;
        self.qd.copy_from_slice(moving.qd());
        self.tau.fill(0.0);
        let now = Now { t, q, v: &self.qd };
        self.drive.drive(now, &mut moving, &mut self.tau)?;
        self.resistance.add(mechanism, q, &self.qd, &mut self.tau)?;
        moving.total_accelerations(self.scaling, &self.tau, vd)?;
        qd.copy_from_slice(&self.qd);
        Ok(())
    }

    fn velocities(&mut self, q: &[f64], v: &[f64], qd: &mut [f64]) -> Result<()> {
        self.workspace.at(q)?.joint_rates(self.scaling, v, qd)
    }
}
