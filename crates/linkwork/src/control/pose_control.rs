//! ε = −c₁ν + c₂ℓJ*Ge.

use super::priority::{damped_inverse, unit_means};
use super::{Controller, RateDamping, positive};
use crate::dense::Eigen;
use crate::model::FrameId;
use crate::simulate::Now;
use crate::spatial::{Force, Pose, Reference, Rotation, Vec3};
use crate::state_space::poles_of;
use crate::workspace::{Moving, Scaling};
use crate::{Error, Mechanism, Result};

/// How stiff the spring of [`PoseControl`] is in each direction, beside c₂.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stiffness {
    /// Three directions in the world, as the axes of a rotation, and the weight of moving along each.
    pub directions: Rotation,
    /// The weights of these.
    pub moving: [f64; 3],
    /// Three axes y₁, y₂, y₃ fixed to the frame, seen from it, and the weight of each: turning about one is held by the other
    /// two.
    pub axes: Rotation,
    /// The weights of these.
    pub turning: [f64; 3],
}

impl Stiffness {
    /// The same in all directions.
    pub const EVEN: Self = Self {
        directions: Rotation::IDENTITY,
        moving: [1.0; 3],
        axes: Rotation::IDENTITY,
        turning: [1.0; 3],
    };

    /// That of the inertia Λ which a frame feels at a configuration: pushed by its spring it starts alike in all directions,
    /// as far as moving and turning can be told apart.
    pub fn of_inertia(mechanism: &Mechanism, frame: impl Into<FrameId>, q: &[f64]) -> Result<Self> {
        let (frame, n) = (mechanism.own_frame(frame)?, mechanism.nv());
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(q)?;
        let turned = posed.pose(frame)?.rotation;
        let (mut jacobian, mut column) = (vec![0.0; 6 * n], vec![0.0; n]);
        posed.jacobian(frame, Reference::Aligned, &mut jacobian)?;
        let mut compliance = [[0.0; 6]; 6];
        for (j, row) in jacobian.chunks_exact(n.max(1)).enumerate() {
            posed.inverse_mass_times(row, &mut column)?;
            for (i, other) in jacobian.chunks_exact(n.max(1)).enumerate() {
                compliance[i][j] = crate::dense::dot(other, &column);
            }
        }
        // Directions that are all but lost would be all but infinitely stiff.
        let (inertia, _) = damped_inverse(&compliance, [true; 6], unit_means(&compliance), LOST);
        let block =
            |at: usize| [0, 1, 2].map(|i| [0, 1, 2].map(|j| 0.5 * (inertia[at + i][at + j] + inertia[at + j][at + i])));
        let (turning, moving) = (Eigen::new(block(0)), Eigen::new(block(3)));
        let axes = |e: &Eigen<3>| Rotation::from_rows(e.vectors);
        let most = turning.largest();
        // About each axis the stiffness is the sum of the weights of the other two.
        let half = 0.5 * turning.values.iter().sum::<f64>();
        Ok(Self {
            directions: axes(&moving),
            moving: moving.values,
            axes: turned.inverse() * axes(&turning),
            turning: turning.values.map(|k| (half - k).max(LOST * most)),
        })
    }

    fn check(&self) -> Result<()> {
        positive("weights", &self.moving, 3)?;
        positive("weights", &self.turning, 3)
    }

    /// G of small motions of a frame that is turned so, turning and moving.
    fn matrices(&self, turned: Rotation) -> [[[f64; 3]; 3]; 2] {
        let sum: f64 = self.turning.iter().sum();
        let about = self.turning.map(|w| sum - w);
        [(turned * self.axes, about), (self.directions, self.moving)].map(|(axes, weights)| {
            let axes = [axes.x, axes.y, axes.z].map(|a| a.to_array());
            let at = |i: usize, j: usize| (0..3).map(|k| weights[k] * axes[k][i] * axes[k][j]).sum();
            [0, 1, 2].map(|i| [0, 1, 2].map(|j| at(i, j)))
        })
    }
}

/// Below this part of the mean, a direction counts as lost.
const LOST: f64 = 0.01;

/// Takes a frame to a pose: ε = −c₁ν + c₂ℓJ\*Ge.
///
/// Y = (y₀; y₁; y₂; y₃) is the frame's position and three axes of it, e = Y_desired − Y, Ẏ = Jq̇ with ẏ₀ = v and ẏᵢ = ω × yᵢ, and
/// G, one at first, has a weight for every direction: [`PoseControl::stiffness`]. Then
/// ½ν\*ν + ½c₂e\*Ge falls at the rate ν\*c₁ν until nothing moves: at the pose, or where the spring has nothing left to pull along
/// (half a turn away, or at the end of the robot's reach). Limits on torques may suspend that fall while they are met.
///
/// ```
/// use linkwork::control::{Controlled, PoseControl};
/// use linkwork::simulate::{Dynamics, Integrator, RungeKutta4, State};
/// let arm = linkwork::model::examples::arm7();
/// let (tip, q) = (arm.frame("flange")?, [0.0, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0]);
/// let mut goal = arm.workspace().at(&q)?.pose(tip)?;
/// goal.translation.z += 0.05;
/// let control = PoseControl::tuned(&arm, tip, goal, &q, 4.0)?; // settles in about a second
/// let mut equations = Dynamics::new(&arm, Controlled::new(&arm, control))?;
/// let (mut state, mut integrator) = (State::at_rest(&arm, &q), RungeKutta4::new(&arm));
/// for _ in 0..2000 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// let reached = arm.workspace().at(&state.q)?.pose(tip)?;
/// assert!((reached.translation - goal.translation).norm() < 5e-3);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PoseControl {
    frame: FrameId,
    target: Pose,
    damping: RateDamping,
    c2: f64,
    stiffness: Stiffness,
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
            stiffness: Stiffness::EVEN,
            jacobian: vec![0.0; 6 * mechanism.nv()],
        })
    }

    /// With a weight for every direction, none of them zero.
    pub fn stiffness(mut self, stiffness: Stiffness) -> Result<Self> {
        stiffness.check()?;
        self.stiffness = stiffness;
        Ok(self)
    }

    /// With gains for a configuration near the goal, such that the slowest pole of the loop there lies at −`rate`, in 1/s: the
    /// error falls to 2 % in about 4/`rate` seconds. Torques grow with the square of it.
    ///
    /// Directions are as stiff as the frame is heavy in them there, [`Stiffness::of_inertia`]. ν is a row of unit masses on the
    /// springs c₂A, A = ℓJ\*GJℓ\*, and each is damped by the same part ζ of what would be
    /// critical for it alone, c₁ᵢ = 2ζ√(c₂Aᵢᵢ). Little damping lets light wrists ring, much makes the tip creep, as directions in
    /// which several joints work against each other are softer; ζ is the one whose slowest pole is quickest. Directions in which
    /// the frame hardly moves are left out of account.
    pub fn tuned(mechanism: &Mechanism, frame: impl Into<FrameId>, target: Pose, q: &[f64], rate: f64) -> Result<Self> {
        positive("rate", &[rate], 1)?;
        let frame = mechanism.own_frame(frame)?;
        let even = Stiffness::of_inertia(mechanism, frame, q)?;
        let stiffness = stiffness(mechanism, frame, q, &even)?;
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
        Self::new(mechanism, frame, target, &c1, speed * speed)?.stiffness(even)
    }

    /// e, twelve numbers: of the position, then of each axis.
    pub fn error(&self, moving: &mut Moving<'_>) -> Result<[f64; 12]> {
        let mut e = [0.0; 12];
        let pose = moving.pose(self.frame)?;
        let (is, parts) = (self.columns(&pose), self.columns(&self.target));
        for (i, (is, wanted)) in is.into_iter().zip(parts).enumerate() {
            e[3 * i..3 * i + 3].copy_from_slice(&(wanted - is).to_array());
        }
        Ok(e)
    }

    /// ½ν\*ν + ½c₂e\*Ge, which falls.
    pub fn lyapunov(&mut self, moving: &mut Moving<'_>) -> Result<f64> {
        let e = self.error(moving)?;
        let e = [0, 1, 2, 3].map(|i| Vec3::new(e[3 * i], e[3 * i + 1], e[3 * i + 2]));
        let turning = self.stiffness.turning;
        let axes: f64 = (0..3).map(|i| turning[i] * e[i + 1].dot(e[i + 1])).sum();
        Ok(moving.kinetic_energy() + 0.5 * self.c2 * (e[0].dot(self.weighed(e[0])) + axes))
    }

    /// y₀ … y₃.
    fn columns(&self, pose: &Pose) -> [Vec3; 4] {
        let r = pose.rotation * self.stiffness.axes;
        [pose.translation, r.x, r.y, r.z]
    }

    /// G of the position's error.
    fn weighed(&self, e: Vec3) -> Vec3 {
        let (d, w) = (self.stiffness.directions, self.stiffness.moving);
        [d.x, d.y, d.z]
            .into_iter()
            .zip(w)
            .fold(Vec3::ZERO, |sum, (axis, w)| sum + axis * (w * axis.dot(e)))
    }
}

/// The damping ratios that are tried: from the least on, each larger by a part than the one before.
const LEAST_DAMPING: f64 = 0.05;
const GROWTH: f64 = 1.15;
const DAMPINGS: i32 = 23;

/// Poles this much slower than the fastest belong to directions in which the frame hardly moves.
const HARDLY: f64 = 1e-4;

/// ℓJ*GJℓ*.
fn stiffness(mechanism: &Mechanism, frame: FrameId, q: &[f64], weights: &Stiffness) -> Result<Vec<f64>> {
    let n = mechanism.nv();
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q)?;
    let g = weights.matrices(posed.pose(frame)?.rotation);
    let (mut jacobian, mut rows) = (vec![0.0; 6 * n], vec![0.0; 6 * n]);
    let mut stiffness = vec![0.0; n * n];
    posed.jacobian(frame, Reference::Aligned, &mut jacobian)?;
    for (j, row) in jacobian.chunks(n.max(1)).zip(rows.chunks_mut(n.max(1))) {
        posed.working_moments(Scaling::Normalized, j, row)?;
    }
    for (i, x) in rows.chunks(n.max(1)).enumerate() {
        for (j, y) in rows.chunks(n.max(1)).enumerate().filter(|(j, _)| i / 3 == j / 3) {
            let weight = g[i / 3][i % 3][j % 3];
            for k in 0..n {
                for l in 0..n {
                    stiffness[k * n + l] += weight * x[k] * y[l];
                }
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

impl Controller for PoseControl {
    /// T = −m c₁ν + c₂J\*Ge: mℓ = I.
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        self.damping.damp(now.v, moving, tau)?;
        let (is, wanted) = (self.columns(&moving.pose(self.frame)?), self.columns(&self.target));
        // Ge·Ẏ = f·v + n·ω with f = Ge₀ and n = Σ gᵢ yᵢ × eᵢ.
        let force = self.weighed(wanted[0] - is[0]);
        let weights = self.stiffness.turning;
        let pull = |i: usize| is[i].cross(wanted[i] - is[i]) * weights[i - 1];
        let moment = (1..4).fold(Vec3::ZERO, |sum, i| sum + pull(i));
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
