//! The diagonalized equations of motion, in q and total joint rates.

use super::{Drive, Equations, Now, PassiveForces, driven};
use crate::workspace::{Moving, Scaling};
use crate::{Mechanism, Result, Workspace};

/// ν̇ + 𝒞(q, ν) = ε in q and ν, or Dξ̇ + 𝒞(q, ξ) = κ in q and ξ: the same motion as [`super::Dynamics`], and a state whose
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
#[derive(Debug)]
pub struct Diagonalized<D> {
    workspace: Workspace,
    scaling: Scaling,
    drive: D,
    resistance: PassiveForces,
    tau: Vec<f64>,
    /// T and the configuration that comes next.
    input: Vec<f64>,
}

impl<D: Drive> Diagonalized<D> {
    /// The equations of a mechanism under a drive, with the [`PassiveForces`] that its joints have.
    pub fn new(mechanism: &Mechanism, scaling: Scaling, drive: D) -> Result<Self> {
        Ok(Self::with(mechanism, scaling, drive, PassiveForces::of(mechanism)?))
    }

    /// The same with another [`PassiveForces`].
    pub fn with(mechanism: &Mechanism, scaling: Scaling, drive: D, resistance: PassiveForces) -> Self {
        Self {
            workspace: mechanism.workspace(),
            scaling,
            drive,
            resistance,
            tau: vec![0.0; mechanism.nv()],
            input: vec![0.0; mechanism.nv() + mechanism.nq()],
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

    /// Goes to a configuration, unless the last evaluation began it.
    fn begin(&mut self, q: &[f64]) -> Result<()> {
        if !self.workspace.is_ready_at(q) {
            self.workspace.at(q)?;
        }
        Ok(())
    }
}

impl<D: Drive> Equations for Diagonalized<D> {
    fn mechanism(&self) -> &Mechanism {
        self.workspace.mechanism()
    }

    fn rates(&mut self, t: f64, q: &[f64], v: &[f64], qd: &mut [f64], vd: &mut [f64]) -> Result<()> {
        self.begin(q)?;
        let mut posed = self.workspace.resume();
        let mut moving = posed.moving_at_total_rates(self.scaling, v)?;
        qd.copy_from_slice(moving.qd());
        let now = Now { t, q, v: qd };
        act(&mut self.drive, &mut self.resistance, now, &mut moving, &mut self.tau)?;
        moving.total_accelerations(self.scaling, &self.tau, vd)
    }

    /// An evaluation by itself takes three sweeps: P and G inward, then q̇ and V outward, then Ṗ and the rates of the total rates
    /// inward. The last one begins the next evaluation, with P, D and G there: so each takes one inward and one outward sweep.
    /// (JR, Algorithm 8.1)
    fn rates_onward<'a>(
        &mut self,
        t: f64,
        q: &[f64],
        v: &[f64],
        qd: &mut [f64],
        vd: &mut [f64],
        next: impl FnOnce(&mut [f64]) -> Result<&'a [f64]>,
    ) -> Result<()> {
        if self.mechanism().is_coupled() {
            self.rates(t, q, v, qd, vd)?;
            return next(qd).map(drop);
        }
        self.begin(q)?;
        let mut posed = self.workspace.resume();
        let mut moving = posed.moving_at_total_rates(self.scaling, v)?;
        qd.copy_from_slice(moving.qd());
        let now = Now { t, q, v: qd };
        act(&mut self.drive, &mut self.resistance, now, &mut moving, &mut self.tau)?;
        let (tau, there) = self.input.split_at_mut(self.tau.len());
        tau.copy_from_slice(&self.tau);
        there.copy_from_slice(next(qd)?);
        self.workspace.onward(self.scaling, &self.input, vd)
    }

    fn velocities(&mut self, q: &[f64], v: &[f64], qd: &mut [f64]) -> Result<()> {
        self.begin(q)?;
        self.workspace.resume().joint_rates(self.scaling, v, qd)
    }
}

/// T of what drives and of what resists.
fn act<D: Drive>(
    drive: &mut D,
    resistance: &mut PassiveForces,
    now: Now<'_>,
    moving: &mut Moving<'_>,
    tau: &mut [f64],
) -> Result<()> {
    driven(drive, now, moving, tau)?;
    resistance.check(moving.mechanism())?;
    resistance.add(now.q, now.v, tau)
}
