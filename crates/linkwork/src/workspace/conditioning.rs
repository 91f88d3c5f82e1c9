//! How well a state is conditioned: what rounding can do to accelerations there.

use super::Configured;
use crate::Result;
use crate::dynamics::forward;
use crate::model::JointId;
use core::fmt;

/// How well 𝓜 is conditioned at a configuration.
///
/// ```
/// let arm = linkwork::model::examples::puma560();
/// let mut workspace = arm.workspace();
/// let conditioning = workspace.at(&arm.neutral())?.conditioning()?;
/// assert!(!conditioning.is_poor());
/// println!("{conditioning}");
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Conditioning {
    /// The least of all D; none without degrees of freedom.
    pub least: Option<Pivot>,
    /// The greatest.
    pub greatest: Option<Pivot>,
    /// λ_max(𝓜) / λ_min(𝓜), estimated from below by O(N) products.
    pub condition: f64,
    /// Whether forward dynamics is refined, as a link carries a far heavier one: its accelerations keep their digits.
    pub refined: bool,
}

/// D of one degree of freedom: the inertia that it works against.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pivot {
    /// The joint.
    pub joint: JointId,
    /// Its name.
    pub name: String,
    /// Which of its degrees of freedom, from zero.
    pub index: usize,
    /// D, in kg m² or kg.
    pub d: f64,
}

/// Beyond this condition what 𝓜⁻¹ makes may lose seven of its sixteen digits.
const POOR: f64 = 1e7;

impl Conditioning {
    /// Whether 𝓜⁻¹, accelerations and their derivatives may lose seven of their sixteen digits or more, as when a light chain
    /// carries a heavy tip. Where forward dynamics is [refined](Self::refined), its accelerations do not, but the rest may.
    pub fn is_poor(&self) -> bool {
        self.condition > POOR
    }

    /// D_max / D_min; one without degrees of freedom.
    pub fn range(&self) -> f64 {
        match (&self.least, &self.greatest) {
            (Some(least), Some(greatest)) => greatest.d / least.d,
            _ => 1.0,
        }
    }
}

impl fmt::Display for Conditioning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(least), Some(greatest)) = (&self.least, &self.greatest) else {
            return write!(f, "no degrees of freedom");
        };
        write!(
            f,
            "condition of the mass matrix {:.1e}; D from {:.3e} at `{}` to {:.3e} at `{}`",
            self.condition, least.d, least.name, greatest.d, greatest.name
        )?;
        if self.is_poor() {
            let what = match self.refined {
                false => "accelerations",
                true => "𝓜⁻¹ and derivatives of accelerations, but not these,",
            };
            write!(
                f,
                "; {what} may lose {:.0} of 16 digits: compare the inertias of these joints",
                self.condition.log10()
            )?;
        }
        Ok(())
    }
}

impl Configured<'_> {
    /// How well 𝓜 is conditioned here: the range of D, and the condition of 𝓜, estimated in O(N). Allocates.
    pub fn conditioning(&mut self) -> Result<Conditioning> {
        let condition = if self.view.nv() == 0 {
            1.0
        } else {
            self.growth(Self::mass_times)? * self.growth(Self::inverse_mass_times)?
        };
        let mut conditioning = Conditioning {
            least: None,
            greatest: None,
            condition,
            refined: self.view.mechanism.compiled.refines,
        };
        let mechanism = self.view.mechanism;
        let mut consider = |joint: JointId, index: usize, d: f64| {
            let Conditioning { least, greatest, .. } = &mut conditioning;
            let pivot = || Pivot {
                joint,
                name: mechanism.joints()[joint.index()].name.clone(),
                index,
                d,
            };
            if least.as_ref().is_none_or(|least| d < least.d) {
                *least = Some(pivot());
            }
            if greatest.as_ref().is_none_or(|greatest| d > greatest.d) {
                *greatest = Some(pivot());
            }
        };
        if mechanism.is_coupled() {
            for j in 0..mechanism.joints().len() {
                let (joint, n) = (mechanism.joint_at(j), mechanism.v_of(j).len());
                if n == 0 {
                    continue;
                }
                let mut d = vec![0.0; n * n];
                self.joint_inertia(joint, &mut d)?;
                (0..n).for_each(|i| consider(joint, i, d[i * n + i]));
            }
        } else {
            self.view.need::<forward::Gains>();
            for (dof, gain) in self.view.stages.riccati.gains.iter().enumerate() {
                let (joint, index) = mechanism.joint_of_any_dof(dof);
                consider(joint, index, gain.d_inv.recip());
            }
        }
        Ok(conditioning)
    }

    /// The greatest eigenvalue of a positive operator, from below.
    fn growth(&mut self, apply: impl Fn(&mut Self, &[f64], &mut [f64]) -> Result<()>) -> Result<f64> {
        const ROUNDS: usize = 100;
        const SETTLED: f64 = 1e-4;
        let n = self.view.nv();
        // Any start that is not orthogonal to the answer will do.
        let mut x: Vec<f64> = (0..n).map(|k| 1.0 + 0.5 * (1.3 * k as f64).sin()).collect();
        let mut y = vec![0.0; n];
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut grown = 0.0;
        for _ in 0..ROUNDS {
            let scale = length(&x).recip();
            x.iter_mut().for_each(|x| *x *= scale);
            apply(self, &x, &mut y)?;
            let before = core::mem::replace(&mut grown, length(&y));
            if (grown - before).abs() <= SETTLED * grown {
                break;
            }
            core::mem::swap(&mut x, &mut y);
        }
        Ok(grown)
    }
}
