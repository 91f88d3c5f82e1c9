//! The mass matrix as a covariance: samples from N(0, 𝓜) and N(0, 𝓜⁻¹), and log det 𝓜 with its gradient.
//!
//! A mechanism in a bath of temperature kT has velocities of covariance kT 𝓜⁻¹ and momenta of covariance kT 𝓜. Both
//! come from independent normal numbers by one sweep, q̇ = ℓ\*ν and p = mν, so that ½q̇\*𝓜q̇ = ½ν\*ν: every degree of freedom has ½kT.
//! In coordinates q the density has a factor √det 𝓜; Fixman's potential ½kT log det 𝓜 takes it away.

use super::{Configured, Scaling, check_length};
use crate::model::{FrameId, Generator};
use crate::scalar::Scalar;
use crate::{Error, Result};

/// Independent normal numbers of mean zero and variance one, the same for the same seed on every machine.
///
/// ```
/// let mut normal = linkwork::workspace::Normal::new(7);
/// let x: Vec<f64> = (0..10_000).map(|_| normal.number()).collect();
/// let variance = x.iter().map(|x| x * x).sum::<f64>() / 1e4;
/// assert!((variance - 1.0).abs() < 0.05);
/// ```
pub struct Normal {
    generator: Generator,
    /// They come in pairs.
    waiting: Option<f64>,
}

impl core::fmt::Debug for Normal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Normal").finish_non_exhaustive()
    }
}

impl Normal {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        let generator = Generator::new(seed);
        Self {
            generator,
            waiting: None,
        }
    }

    /// The next one, by Box and Muller's transformation.
    pub fn number(&mut self) -> f64 {
        if let Some(second) = self.waiting.take() {
            return second;
        }
        // In (0, 1], so that its logarithm is finite.
        let radius = (-2.0 * (1.0 - self.generator.unit()).ln()).sqrt();
        let (sin, cos) = (core::f64::consts::TAU * self.generator.unit()).sin_cos();
        self.waiting = Some(radius * sin);
        radius * cos
    }
}

impl<S: Scalar> Configured<'_, S> {
    /// Random joint rates of covariance kT 𝓜⁻¹, in O(N): q̇ = ℓ\*ν with independent ν.
    ///
    /// ```
    /// use linkwork::workspace::Normal;
    /// let arm = linkwork::model::examples::arm7();
    /// let (mut workspace, mut normal) = (arm.workspace(), Normal::new(1));
    /// let (mut qd, mut energy) = ([0.0; 7], 0.0);
    /// for _ in 0..1000 {
    ///     let mut posed = workspace.at(&[0.3; 7])?;
    ///     posed.thermal_rates(2.0, &mut normal, &mut qd)?;
    ///     energy += posed.moving(&qd)?.kinetic_energy() / 1000.0;
    /// }
    /// // Equipartition: ½kT for each of seven degrees of freedom.
    /// assert!((energy - 7.0).abs() < 0.5);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn thermal_rates(&mut self, kt: f64, normal: &mut Normal, qd: &mut [S]) -> Result<()> {
        let nu = self.thermal(kt, normal, "qd", qd)?;
        let done = self.joint_rates(Scaling::Normalized, &nu, qd);
        self.give_back(nu);
        done
    }

    /// Random generalized momenta, or torques, of covariance kT 𝓜, in O(N): p = mν with independent ν.
    pub fn thermal_momenta(&mut self, kt: f64, normal: &mut Normal, out: &mut [S]) -> Result<()> {
        let nu = self.thermal(kt, normal, "out", out)?;
        let done = self.joint_torques(Scaling::Normalized, &nu, out);
        self.give_back(nu);
        done
    }

    /// √kT times independent normal numbers.
    fn thermal(&mut self, kt: f64, normal: &mut Normal, name: &'static str, out: &[S]) -> Result<Vec<S>> {
        check_length(name, out.len(), self.view.nv())?;
        if !(kt >= 0.0 && kt.is_finite()) {
            return Err(Error::Negative {
                argument: "kt",
                value: kt,
            });
        }
        let mut nu = core::mem::take(&mut self.view.stages.scratch.normal);
        nu.resize(out.len(), S::ZERO);
        let root = kt.sqrt();
        nu.iter_mut().for_each(|x| *x = S::lift(root * normal.number()));
        Ok(nu)
    }

    fn give_back(&mut self, nu: Vec<S>) {
        self.view.stages.scratch.normal = nu;
    }

    /// ∂ log det 𝓜/∂q along every degree of freedom, in O(N): one inward and one outward sweep, as Υ(k) = ∂ log det 𝓜/∂P(k).
    /// Where joints follow others it is tr(𝓜⁻¹ ∂𝓜/∂q) instead, in O(N³).
    ///
    /// −½kT times it is the force of Fixman's potential.
    pub fn log_det_mass_gradient(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv())?;
        if self.view.mechanism.is_coupled() {
            return self.log_det_gradient_by_traces(out);
        }
        self.view
            .sweep_tree::<crate::dynamics::operational::LogDetGradient>(FrameId::WORLD, &[], out)?;
        self.view.check_pivots()
    }

    fn log_det_gradient_by_traces(&mut self, out: &mut [S]) -> Result<()> {
        let n = out.len();
        let (mut change, mut inverse) = (vec![S::ZERO; n * n], vec![S::ZERO; n * n]);
        self.mass_matrix_inverse(&mut inverse)?;
        for (dof, out) in out.iter_mut().enumerate() {
            self.view.coupled_mass_derivative(dof, &mut change);
            *out = S::ZERO;
            for (x, y) in inverse.iter().zip(&change) {
                *out = x.mul_add(*y, *out);
            }
        }
        Ok(())
    }
}
