//! ε = −c₁ν + c₂ℓJ*e.

use super::{Controller, RateDamping, positive};
use crate::model::FrameId;
use crate::simulate::Now;
use crate::spatial::{Force, Pose, Reference, Vec3};
use crate::workspace::{Moving, Scaling};
use crate::{Mechanism, Result};

/// Takes a frame to a pose: ε = −c₁ν + c₂ℓJ\*e.
///
/// Y = (y₀; y₁; y₂; y₃) is the frame's position and its three axes, e = Y_desired − Y, Ẏ = Jq̇ with ẏ₀ = v and ẏᵢ = ω × yᵢ. Then
/// ½ν\*ν + ½c₂e\*e falls at the rate ν\*c₁ν until nothing moves: at the pose, or where the spring has nothing left to pull along
/// (half a turn away, or at the end of the robot's reach). Limits on torques may suspend that fall while they are met.
#[derive(Clone, Debug)]
pub struct PoseControl {
    frame: FrameId,
    target: Pose,
    damping: RateDamping,
    c2: f64,
    jacobian: Vec<f64>,
}

impl PoseControl {
    /// With c₁ > 0 for every degree of freedom, in 1/s, and c₂ > 0, in N/m for the position and N m for the axes.
    pub fn new(mechanism: &Mechanism, frame: impl Into<FrameId>, target: Pose, c1: &[f64], c2: f64) -> Result<Self> {
        positive("c2", &[c2], 1)?;
        Ok(Self {
            frame: frame.into(),
            target,
            damping: RateDamping::with(mechanism, c1)?,
            c2,
            jacobian: vec![0.0; 6 * mechanism.nv()],
        })
    }

    /// With gains for a configuration near the goal: c₂ gives the slowest of the decoupled variables the frequency `quickness`,
    /// in rad/s, and c₁ damps each with a quarter of its critical damping: more makes the tip creep, as directions in which
    /// several joints work against each other are softer.
    ///
    /// There νᵢ is a mass of one on a spring of c₂(ℓJ\*Jℓ\*)ᵢᵢ. Variables that hardly move the frame are left out of account.
    pub fn tuned(
        mechanism: &Mechanism,
        frame: impl Into<FrameId>,
        target: Pose,
        q: &[f64],
        quickness: f64,
    ) -> Result<Self> {
        const HARDLY: f64 = 1e-3;
        const DAMPING: f64 = 0.25;
        positive("quickness", &[quickness], 1)?;
        let (frame, nv) = (frame.into(), mechanism.nv());
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(q)?;
        let (mut jacobian, mut row) = (vec![0.0; 6 * nv], vec![0.0; nv]);
        let mut stiffness = vec![0.0; nv];
        posed.jacobian(frame, Reference::Aligned, &mut jacobian)?;
        for (i, j) in jacobian.chunks(nv.max(1)).enumerate() {
            posed.working_moments(Scaling::Normalized, j, &mut row)?;
            // |Ẏ|² = 2|ω|² + |v|².
            let weight = if i < 3 { 2.0 } else { 1.0 };
            stiffness.iter_mut().zip(&row).for_each(|(s, x)| *s += weight * x * x);
        }
        let largest = stiffness.iter().fold(0.0, |m: f64, s| m.max(*s));
        stiffness.iter_mut().for_each(|s| *s = s.max(HARDLY * largest));
        let least = stiffness.iter().fold(f64::INFINITY, |m, s| m.min(*s));
        let c2 = quickness * quickness / least;
        let c1: Vec<f64> = stiffness.iter().map(|s| 2.0 * DAMPING * (c2 * s).sqrt()).collect();
        Self::new(mechanism, frame, target, &c1, c2)
    }

    /// e, twelve numbers: of the position, then of each axis.
    pub fn error(&self, moving: &mut Moving<'_, '_>) -> [f64; 12] {
        let mut e = [0.0; 12];
        let (is, parts) = (columns(&moving.pose(self.frame)), columns(&self.target));
        for (i, (is, wanted)) in is.into_iter().zip(parts).enumerate() {
            e[3 * i..3 * i + 3].copy_from_slice(&(wanted - is).to_array());
        }
        e
    }

    /// ½ν\*ν + ½c₂e\*e, which falls.
    pub fn lyapunov(&mut self, moving: &mut Moving<'_, '_>) -> f64 {
        let e = self.error(moving);
        moving.kinetic_energy() + 0.5 * self.c2 * e.iter().map(|x| x * x).sum::<f64>()
    }
}

/// y₀ … y₃.
fn columns(pose: &Pose) -> [Vec3; 4] {
    let r = pose.rotation;
    [pose.translation, r.x, r.y, r.z]
}

impl Controller for PoseControl {
    /// T = −m c₁ν + c₂J\*e: mℓ = I.
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_, '_>, tau: &mut [f64]) -> Result<()> {
        self.damping.damp(now.v, moving, tau)?;
        let (is, wanted) = (columns(&moving.pose(self.frame)), columns(&self.target));
        // e·Ẏ = f·v + n·ω with f = e₀ and n = Σ yᵢ × eᵢ.
        let force = wanted[0] - is[0];
        let moment = (1..4).fold(Vec3::ZERO, |sum, i| sum + is[i].cross(wanted[i] - is[i]));
        let spring = Force::new(moment, force).to_array();
        moving.jacobian(self.frame, Reference::Aligned, &mut self.jacobian)?;
        let nv = tau.len();
        for (row, f) in self.jacobian.chunks(nv).zip(spring) {
            for (tau, j) in tau.iter_mut().zip(row) {
                *tau += self.c2 * j * f;
            }
        }
        Ok(())
    }
}
