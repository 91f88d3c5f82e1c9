//! ε = −c₁ν + c₂ℓJ*e.

use super::{Controller, RateDamping, positive};
use crate::model::FrameId;
use crate::simulate::Now;
use crate::spatial::{Force, Pose, Reference, Vec3};
use crate::state_space::poles_of;
use crate::workspace::{Moving, Scaling};
use crate::{Error, Mechanism, Result};

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
    /// Motors must drive all of them.
    pub fn new(mechanism: &Mechanism, frame: impl Into<FrameId>, target: Pose, c1: &[f64], c2: f64) -> Result<Self> {
        positive("c2", &[c2], 1)?;
        Ok(Self {
            frame: mechanism.own_frame(frame)?,
            target,
            damping: RateDamping::with(mechanism, c1)?,
            c2,
            jacobian: vec![0.0; 6 * mechanism.nv()],
        })
    }

    /// With gains for a configuration near the goal, such that the slowest pole of the loop there lies at −`rate`, in 1/s: the
    /// error falls to 2 % in about 4/`rate` seconds. Torques grow with the square of it.
    ///
    /// There ν is a row of unit masses on the springs c₂A, A = ℓJ\*Jℓ\*, and each is damped by the same part ζ of what would be
    /// critical for it alone, c₁ᵢ = 2ζ√(c₂Aᵢᵢ). Little damping lets light wrists ring, much makes the tip creep, as directions in
    /// which several joints work against each other are softer; ζ is the one whose slowest pole is quickest. Directions in which
    /// the frame hardly moves are left out of account.
    pub fn tuned(mechanism: &Mechanism, frame: impl Into<FrameId>, target: Pose, q: &[f64], rate: f64) -> Result<Self> {
        positive("rate", &[rate], 1)?;
        let frame = mechanism.own_frame(frame)?;
        let stiffness = stiffness(mechanism, frame, q)?;
        let n = mechanism.nv();
        // c₂ scales time: with c₂ = 1 first.
        let mut best: Option<(f64, f64)> = None;
        for i in 0..DAMPINGS {
            let zeta = LEAST_DAMPING * GROWTH.powi(i);
            let slowest = slowest_pole(n, &stiffness, &dampings(n, &stiffness, zeta))?;
            if best.is_none_or(|(_, quickest)| slowest > quickest) {
                best = Some((zeta, slowest));
            }
        }
        let (zeta, slowest) = best.filter(|(_, slowest)| *slowest > 0.0).ok_or(Error::Gain {
            argument: "frame",
            value: frame.index() as f64,
            rule: "belong to a frame that the joints can move",
        })?;
        let speed = rate / slowest;
        let c1: Vec<f64> = dampings(n, &stiffness, zeta).iter().map(|c| speed * c).collect();
        Self::new(mechanism, frame, target, &c1, speed * speed)
    }

    /// e, twelve numbers: of the position, then of each axis.
    pub fn error(&self, moving: &mut Moving<'_>) -> Result<[f64; 12]> {
        let mut e = [0.0; 12];
        let (is, parts) = (columns(&moving.pose(self.frame)?), columns(&self.target));
        for (i, (is, wanted)) in is.into_iter().zip(parts).enumerate() {
            e[3 * i..3 * i + 3].copy_from_slice(&(wanted - is).to_array());
        }
        Ok(e)
    }

    /// ½ν\*ν + ½c₂e\*e, which falls.
    pub fn lyapunov(&mut self, moving: &mut Moving<'_>) -> Result<f64> {
        let e = self.error(moving)?;
        Ok(moving.kinetic_energy() + 0.5 * self.c2 * e.iter().map(|x| x * x).sum::<f64>())
    }
}

/// The damping ratios that are tried: from the least on, each larger by a part than the one before.
const LEAST_DAMPING: f64 = 0.05;
const GROWTH: f64 = 1.15;
const DAMPINGS: i32 = 23;

/// Poles this much slower than the fastest belong to directions in which the frame hardly moves.
const HARDLY: f64 = 1e-4;

/// ℓJ*Jℓ*, with |Ẏ|² = 2|ω|² + |v|².
fn stiffness(mechanism: &Mechanism, frame: FrameId, q: &[f64]) -> Result<Vec<f64>> {
    let n = mechanism.nv();
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q)?;
    let (mut jacobian, mut row) = (vec![0.0; 6 * n], vec![0.0; n]);
    let mut stiffness = vec![0.0; n * n];
    posed.jacobian(frame, Reference::Aligned, &mut jacobian)?;
    for (i, j) in jacobian.chunks(n.max(1)).enumerate() {
        posed.working_moments(Scaling::Normalized, j, &mut row)?;
        let weight = if i < 3 { 2.0 } else { 1.0 };
        for (k, x) in row.iter().enumerate() {
            for (l, y) in row.iter().enumerate() {
                stiffness[k * n + l] += weight * x * y;
            }
        }
    }
    Ok(stiffness)
}

/// c₁ for c₂ = 1: a part of each variable's own critical damping; where it has no spring, of the weakest that has.
fn dampings(n: usize, stiffness: &[f64], zeta: f64) -> Vec<f64> {
    let own = |i: usize| stiffness[i * (n + 1)];
    let most = (0..n).map(own).fold(0.0, f64::max);
    (0..n)
        .map(|i| 2.0 * zeta * own(i).max(HARDLY * HARDLY * most).sqrt())
        .collect()
}

/// How fast the slowest motion of ẍ + c₁ẋ + Ax = 0 dies away, of those that matter.
fn slowest_pole(n: usize, stiffness: &[f64], c1: &[f64]) -> Result<f64> {
    let wide = 2 * n;
    let mut system = vec![0.0; wide * wide];
    for i in 0..n {
        system[i * wide + n + i] = 1.0;
        system[(n + i) * wide + n + i] = -c1[i];
        for j in 0..n {
            system[(n + i) * wide + j] = -stiffness[i * n + j];
        }
    }
    let poles = poles_of(wide, &system)?;
    let fastest = poles.iter().map(|p| p.size()).fold(0.0, f64::max);
    let that_matter = poles.iter().filter(|p| p.size() > HARDLY * fastest);
    Ok(that_matter.map(|p| -p.re).fold(f64::INFINITY, f64::min))
}

/// y₀ … y₃.
fn columns(pose: &Pose) -> [Vec3; 4] {
    let r = pose.rotation;
    [pose.translation, r.x, r.y, r.z]
}

impl Controller for PoseControl {
    /// T = −m c₁ν + c₂J\*e: mℓ = I.
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        self.damping.damp(now.v, moving, tau)?;
        let (is, wanted) = (columns(&moving.pose(self.frame)?), columns(&self.target));
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
