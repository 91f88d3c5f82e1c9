//! Many states at once: several in the lanes of a register, and blocks of them on several threads.
//!
//! Every state gets the very bits that it would get in a batch of its own, whatever its neighbours, its place, the size of the
//! batch or the number of threads; in `f64` those are the numbers that a workspace gives, too, up to the signs of zeros.
//! Several states stand in the lanes of a register where the crate is built with its feature `lanes`.
//! Mechanisms in which joints follow others by curves, forward dynamics that is refined, and processors without AVX2 take states
//! one by one, `f32` through `f64`.

pub(crate) mod damped_rollout;
pub(crate) mod engine;
pub(crate) mod lanes;
mod models;
mod quantity;
mod rollout;
mod sweep_engine;
pub(crate) mod threads;
mod variation;

use crate::Result;
use crate::model::{FrameId, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::Reference;
use engine::Job;
use quantity::Quantity;
use sweep_engine::{Roller, or_another};
use threads::Team;

pub use models::Models;
pub use rollout::{Rollout, RolloutMethod};
pub use sweep_engine::Real;
pub use variation::Variation;

/// Whether several states stand in one register, where the processor has such: the crate's feature `lanes`.
pub const HAS_LANES: bool = cfg!(feature = "lanes");

/// Memory for evaluating many states of a mechanism in one call.
///
/// Arguments and results are state after state: `q` holds nq numbers of the first state, then nq of the second. A state
/// that cannot be computed does not spoil the others: its results are NaN, and the error names it.
///
/// ```
/// let arm = linkwork::model::examples::arm7();
/// let mut batch = arm.batch();
/// let states = 1000;
/// let q: Vec<f64> = (0..states).flat_map(|i| arm.random(i)).collect();
/// let (qd, tau) = (vec![0.1; 7 * 1000], vec![0.0; 7 * 1000]);
/// let mut qdd = vec![0.0; 7 * 1000];
/// batch.forward_dynamics(&q, &qd, &tau, &mut qdd)?;
/// # Ok::<(), linkwork::Error>(())
/// ```
#[must_use]
pub struct Batch<T: Real = f64> {
    mechanism: Mechanism,
    team: Team<Box<dyn Roller<T>>>,
}

impl Mechanism {
    /// Memory for batches in `f64`, with as many threads as the processor runs at once.
    pub fn batch(&self) -> Batch {
        self.batch_of()
    }

    /// Memory for batches in `f64` or `f32`.
    pub fn batch_of<T: Real>(&self) -> Batch<T> {
        Batch::new(self, rayon::current_num_threads())
    }
}

impl<T: Real> Batch<T> {
    fn new(mechanism: &Mechanism, threads: usize) -> Self {
        Self {
            mechanism: mechanism.clone(),
            team: Team::new(threads),
        }
    }

    /// The same with another number of threads; at least one.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.team = self.team.with_threads(threads);
        self
    }

    /// The mechanism it belongs to.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    // Kinematics.

    /// Where frames are in the world: for each state, for each frame, the three rows of [R p], twelve numbers.
    pub fn poses(&mut self, frames: &[FrameId], q: &[T], out: &mut [T]) -> Result<()> {
        for &frame in frames {
            self.mechanism.own_frame(frame)?;
        }
        self.run(Quantity::Poses(frames), &[q], out)
    }

    /// The Jacobian of a frame, 6 × nv with rows [ω; v].
    pub fn jacobian(&mut self, frame: impl Into<FrameId>, reference: Reference, q: &[T], out: &mut [T]) -> Result<()> {
        let frame = self.mechanism.own_frame(frame)?;
        self.run(Quantity::Jacobian(frame, reference), &[q], out)
    }

    /// The velocity of a frame, [ω; v].
    pub fn velocity(
        &mut self,
        frame: impl Into<FrameId>,
        reference: Reference,
        q: &[T],
        qd: &[T],
        out: &mut [T],
    ) -> Result<()> {
        let quantity = Quantity::Velocity(self.mechanism.own_frame(frame)?, reference);
        self.run(quantity, &[q, qd], out)
    }

    /// The centre of mass in the world.
    pub fn com(&mut self, q: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::Com, &[q], out)
    }

    /// The potential energy of gravity.
    pub fn potential_energy(&mut self, q: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::PotentialEnergy, &[q], out)
    }

    /// The kinetic energy, rotors included.
    pub fn kinetic_energy(&mut self, q: &[T], qd: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::KineticEnergy, &[q, qd], out)
    }

    // Dynamics.

    /// T for given accelerations.
    pub fn inverse_dynamics(&mut self, q: &[T], qd: &[T], qdd: &[T], tau: &mut [T]) -> Result<()> {
        self.run(Quantity::InverseDynamics, &[q, qd, qdd], tau)
    }

    /// q̈ under given torques.
    pub fn forward_dynamics(&mut self, q: &[T], qd: &[T], tau: &[T], qdd: &mut [T]) -> Result<()> {
        self.run(Quantity::ForwardDynamics, &[q, qd, tau], qdd)
    }

    /// C: inverse dynamics without acceleration.
    pub fn bias(&mut self, q: &[T], qd: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::Bias, &[q, qd], out)
    }

    /// The torques that hold the mechanism against gravity.
    pub fn gravity_torque(&mut self, q: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::GravityTorque, &[q], out)
    }

    /// 𝓜, nv × nv.
    pub fn mass_matrix(&mut self, q: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::MassMatrix, &[q], out)
    }

    /// The elements of 𝓜 that are not zero, one of each symmetric pair, in the order of [`Mechanism::mass_pattern`]: far
    /// fewer numbers to write and to read than [`Batch::mass_matrix`] where a mechanism has branches.
    pub fn mass_matrix_entries(&mut self, q: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::MassEntries, &[q], out)
    }

    /// 𝓜⁻¹, nv × nv.
    pub fn mass_matrix_inverse(&mut self, q: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::MassMatrixInverse, &[q], out)
    }

    // Linearized dynamics.

    /// ∂T/∂q, ∂T/∂q̇ and 𝓜 one after another, 3 nv × nv numbers for each state: see [`crate::workspace::Linearized`].
    pub fn inverse_derivatives(&mut self, q: &[T], qd: &[T], qdd: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::InverseDerivatives, &[q, qd, qdd], out)
    }

    /// ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ under given torques, one after another, 3 nv × nv numbers for each state: a whole trajectory
    /// linearized in one call. What springs, dampers and friction add is told by
    /// [`passive_derivatives`](crate::workspace::Moving::passive_derivatives).
    ///
    /// ```
    /// let arm = linkwork::model::examples::arm7();
    /// let knots = 200;
    /// let q: Vec<f64> = (0..knots).flat_map(|k| vec![0.005 * k as f64; 7]).collect();
    /// let (qd, tau) = (vec![0.1; 7 * knots], vec![0.0; 7 * knots]);
    /// let mut models = vec![0.0; knots * 3 * 49];
    /// arm.batch().forward_derivatives(&q, &qd, &tau, &mut models)?;
    /// let (by_q, rest) = models[..3 * 49].split_at(49);       // of the first knot
    /// let (by_qd, inverse) = rest.split_at(49);
    /// assert!(inverse[0] > 0.0 && by_q[0].is_finite() && by_qd[0].is_finite());
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn forward_derivatives(&mut self, q: &[T], qd: &[T], tau: &[T], out: &mut [T]) -> Result<()> {
        self.run(Quantity::ForwardDerivatives, &[q, qd, tau], out)
    }

    /// (∂T/∂q)\*x, (∂T/∂q̇)\*x and 𝓜x one after another, 3 nv numbers for each state, in O(n): how a gradient goes back through
    /// inverse dynamics.
    pub fn torque_adjoint(&mut self, q: &[T], qd: &[T], qdd: &[T], x: &[T], out: &mut [T]) -> Result<()> {
        let inputs = [q, qd, qdd, x];
        self.run(Quantity::TorqueAdjoint, &inputs, out)
    }

    /// (∂q̈/∂q)\*x, (∂q̈/∂q̇)\*x and 𝓜⁻¹x one after another, 3 nv numbers for each state, in O(n): how a gradient goes back through
    /// forward dynamics.
    pub fn acceleration_adjoint(&mut self, q: &[T], qd: &[T], tau: &[T], x: &[T], out: &mut [T]) -> Result<()> {
        let inputs = [q, qd, tau, x];
        self.run(Quantity::AccelerationAdjoint, &inputs, out)
    }

    /// `given` are q, and the other vectors that the quantity takes.
    fn run(&mut self, quantity: Quantity<'_>, given: &[&[T]], out: &mut [T]) -> Result<()> {
        let job = Job::new(&self.mechanism, quantity, given, out.len())?;
        let make = or_another(|| T::engine(&self.mechanism));
        self.team.run_job(&job, out, make)
    }
}

impl<T: Real> core::fmt::Debug for Batch<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Batch")
            .field("mechanism", &self.mechanism.name())
            .field("threads", &self.team.threads())
            .field("epsilon", &<T as Scalar>::EPSILON)
            .finish_non_exhaustive()
    }
}
