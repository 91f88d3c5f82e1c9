//! Dynamics linearized about a point.

use super::{Configured, Moving, View, check_length};
use crate::Result;
use crate::dynamics::forward::Forward;
use crate::dynamics::kinematics::JacobianOf;
use crate::dynamics::linearized::Linearize;
use crate::dynamics::linearized::forward::{self, ForwardDerivatives};
use crate::dynamics::linearized::forward_in_lanes::AccelerationDerivatives;
use crate::dynamics::linearized::inverse::InverseDerivatives;
use crate::dynamics::linearized::inverse_in_lanes::TorqueDerivatives;
use crate::dynamics::linearized::products::{AccelerationAdjoint, AccelerationChange, TorqueAdjoint, TorqueChange};
use crate::dynamics::linearized::regressor::{PARAMETERS, Regressor};
use crate::dynamics::tiled::tiled;
use crate::model::{FrameId, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::{Force, Reference, RigidBody};
use crate::stage::cache_lines::Numbers;

/// Three matrices, each nv × nv and row by row, in memory of their own.
#[derive(Clone, Debug)]
#[must_use]
pub struct Derivatives<S = f64> {
    nv: usize,
    /// The matrices, then what computing them needs.
    numbers: Numbers<S>,
}

impl Mechanism {
    /// Memory for derivatives of the dynamics.
    pub fn derivatives(&self) -> Derivatives {
        self.derivatives_of()
    }

    /// Memory for derivatives with another scalar.
    pub fn derivatives_of<S: Scalar>(&self) -> Derivatives<S> {
        Derivatives {
            nv: self.nv(),
            numbers: Numbers::new(self.derivatives_length()),
        }
    }

    /// How many numbers derivatives and what computing them needs have.
    pub(crate) fn derivatives_length(&self) -> usize {
        let (nv, all) = (self.nv(), self.compiled.nv);
        let of_all = if self.is_coupled() { 3 * all * all } else { 0 };
        3 * nv * nv + of_all + forward::room(&self.compiled)
    }
}

impl Mechanism {
    /// π: the inertial parameters of all links, as [`Linearized::regressor`] takes them.
    pub fn inertial_parameters(&self) -> Vec<f64> {
        let mut all = Vec::with_capacity(PARAMETERS * self.links().len());
        for link in self.links() {
            let body = RigidBody::from(&link.inertia);
            all.push(body.mass);
            all.extend(body.first.to_array());
            all.extend(body.second);
        }
        all
    }
}

impl<S> Derivatives<S> {
    /// By q, in the tangent space: ∂T/∂q of inverse dynamics, ∂q̈/∂q of forward dynamics.
    pub fn by_q(&self) -> &[S] {
        &self.numbers[..self.nv * self.nv]
    }

    /// By q̇: ∂T/∂q̇ of inverse dynamics, ∂q̈/∂q̇ of forward dynamics.
    pub fn by_qd(&self) -> &[S] {
        &self.numbers[self.nv * self.nv..2 * self.nv * self.nv]
    }

    /// By what was given: 𝓜 = ∂T/∂q̈ of inverse dynamics, 𝓜⁻¹ = ∂q̈/∂T of forward dynamics.
    pub fn by_input(&self) -> &[S] {
        &self.numbers[2 * self.nv * self.nv..3 * self.nv * self.nv]
    }
}

/// A mechanism about a point (q, q̇, q̈): how torques and accelerations answer small changes.
///
/// Changes of q are steps in its tangent space, as [`Mechanism::integrate`] takes them. External forces keep to their links:
/// they turn and move with them.
///
/// ```
/// let arm = linkwork::model::examples::arm7();
/// let (mut workspace, mut out) = (arm.workspace(), arm.derivatives());
/// let mut posed = workspace.at(&[0.3; 7])?;
/// let mut moving = posed.moving(&[0.1; 7])?;
/// let mut qdd = [0.0; 7];
/// let mut linearized = moving.linearized_under(&[0.0; 7], &mut qdd)?;
/// linearized.forward_derivatives(&mut out)?;                 // out.by_q() is ∂q̈/∂q
/// let mut gradient = [0.0; 21];
/// linearized.acceleration_adjoint(&[1.0; 7], &mut gradient)?; // its transpose times a vector, without a matrix
/// assert!((gradient[0] - (0..7).map(|i| out.by_q()[7 * i]).sum::<f64>()).abs() < 1e-9);
/// # Ok::<(), linkwork::Error>(())
/// ```
///
/// What springs, dampers and friction of the joints do, T_p, is not in it. With its derivatives, from
/// [`Moving::passive_derivatives`], those of everything are ∂q̈/∂q + 𝓜⁻¹∂T_p/∂q and ∂q̈/∂q̇ + 𝓜⁻¹∂T_p/∂q̇ about q̈ under the
/// motors' torques and T_p, and of the torques that the motors need ∂T/∂q − ∂T_p/∂q and ∂T/∂q̇ − ∂T_p/∂q̇. A batch is
/// completed in the same way, state by state. [`crate::state_space`] does so by itself:
///
/// ```
/// use linkwork::model::{Joint, Link, Mechanism};
/// use linkwork::spatial::Inertia;
/// use linkwork::state_space::{OperatingPoint, StateSpace};
/// let rod = Inertia::rod(1.0, [0.0, 0.0, -1.0]);
/// let joint = |name| Joint::revolute(name, [0.0, 1.0, 0.0]).spring(3.0, &[0.2]).damping(0.4).friction(0.1);
/// let arm = Mechanism::builder("two rods")
///     .link(Link::new("upper", rod))
///     .link(Link::new("lower", rod))
///     .joint(joint("shoulder").between("world", "upper"))
///     .joint(joint("elbow").between("upper", "lower").at([0.0, 0.0, -1.0]))
///     .build()?;
/// let (q, qd, tau) = (vec![0.3, -0.5], vec![0.1, 0.2], vec![2.0, 1.0]);
/// let point = OperatingPoint { q, qd, tau, forces: vec![] };
/// let (mut workspace, mut out) = (arm.workspace(), arm.derivatives());
/// let mut posed = workspace.at(&point.q)?;
/// let mut moving = posed.moving(&point.qd)?;
/// let (mut torque, mut by_q, mut by_qd) = ([0.0; 2], [0.0; 4], [0.0; 2]);
/// moving.passive_torque(&mut torque)?;
/// moving.passive_derivatives(&mut by_q, &mut by_qd)?;
/// torque.iter_mut().zip(&point.tau).for_each(|(sum, motor)| *sum += motor);
/// let mut linearized = moving.linearized_under(&torque, &mut [0.0; 2])?;
/// linearized.forward_derivatives(&mut out)?;
/// let model = StateSpace::continuous(&arm, &point)?;
/// for i in 0..2 {
///     let (row, inverse) = (&model.a[(2 + i) * 4..][..4], &out.by_input()[2 * i..][..2]);
///     for j in 0..2 {
///         let sprung = inverse[0] * by_q[j] + inverse[1] * by_q[2 + j];
///         assert!((row[j] - out.by_q()[2 * i + j] - sprung).abs() < 1e-12);
///         assert!((row[2 + j] - out.by_qd()[2 * i + j] - inverse[j] * by_qd[j]).abs() < 1e-12);
///     }
/// }
/// # Ok::<(), linkwork::Error>(())
/// ```
///
/// [`Mechanism::second_order`] gives second derivatives: how all this changes along a direction.
pub struct Linearized<'w, S: 'static = f64> {
    view: View<'w, S>,
}

impl<S: Scalar> Moving<'_, S> {
    /// Linearizes about accelerations q̈.
    pub fn linearized(&mut self, qdd: &[S]) -> Result<Linearized<'_, S>> {
        self.view.mechanism.check_vector("qdd", qdd)?;
        self.view.linearize(qdd)?;
        Ok(Linearized::new(&mut self.configured.view))
    }

    /// Linearizes about the accelerations that given torques cause; they are written to `qdd`.
    pub fn linearized_under(&mut self, tau: &[S], qdd: &mut [S]) -> Result<Linearized<'_, S>> {
        if self.view.is_tiled() {
            self.check_drive(tau, qdd)?;
            self.view.sweep::<Linearize>(tau, qdd);
            self.view.check_elimination()?;
        } else {
            self.forward_dynamics(tau, qdd)?;
            self.view.linearize(qdd)?;
        }
        Ok(Linearized::new(&mut self.configured.view))
    }
}

impl<S: Scalar> View<'_, S> {
    /// Whether forward dynamics is part of the linearization.
    #[inline(always)]
    fn is_tiled(&self) -> bool {
        !self.mechanism.is_coupled() && tiled::<S>(&self.mechanism.compiled).is_some()
    }

    /// An error if a pivot is not positive.
    fn check_elimination(&self) -> Result<()> {
        if self.stages.linear.unsound == S::ZERO {
            return Ok(());
        }
        (0..S::LANES).try_for_each(|lane| self.check_pivots_at_home(lane))
    }

    fn linearize(&mut self, qdd: &[S]) -> Result<()> {
        if self.mechanism.is_coupled() {
            return self.linearize_coupled(qdd);
        }
        self.sweep::<Linearize>(qdd, &mut []);
        Ok(())
    }

    /// The derivatives about accelerations, in the first of as many numbers as [`Mechanism::derivatives_length`] says; over
    /// several states at once, only what is not zero.
    #[inline(always)]
    pub(crate) fn inverse_derivatives(&mut self, qdd: &[S], out: &mut [S]) -> Result<()> {
        if const { S::LANES > 1 } {
            if self.mechanism.is_coupled() {
                self.coupled_derivatives_list(qdd, out);
            } else {
                self.sweep_lanes::<TorqueDerivatives>(qdd, out);
            }
            return Ok(());
        }
        let (matrices, room) = out.split_at_mut(3 * self.nv() * self.nv());
        if self.mechanism.is_coupled() {
            self.linearize_coupled(qdd)?;
            self.coupled_inverse_derivatives(matrices, room);
            return Ok(());
        }
        self.sweep::<Linearize>(qdd, &mut []);
        self.sweep::<InverseDerivatives>(&[], matrices);
        Ok(())
    }

    /// The same of forward dynamics, about what torques cause.
    #[inline(always)]
    pub(crate) fn forward_derivatives(&mut self, tau: &[S], out: &mut [S]) -> Result<()> {
        let nv = self.nv();
        let (qdd, _) = out.split_at_mut(nv);
        if const { S::LANES > 1 } && self.is_tiled() {
            self.sweep_lanes::<AccelerationDerivatives>(tau, out);
            return Ok(());
        }
        if self.is_tiled() {
            self.sweep::<Linearize>(tau, qdd);
            self.sweep::<ForwardDerivatives>(&[], out);
            return Ok(());
        }
        if self.mechanism.is_coupled() {
            let mut qdd = core::mem::take(&mut self.stages.scratch.dofs);
            self.sweep::<Forward>(tau, &mut qdd[..nv]);
            self.refine(tau, &mut qdd[..nv]);
            if const { S::LANES > 1 } {
                self.coupled_forward_in_lanes(&qdd[..nv], out);
                self.stages.scratch.dofs = qdd;
                return Ok(());
            }
            let done = self.linearize_coupled(&qdd[..nv]);
            self.stages.scratch.dofs = qdd;
            done?;
            let (matrices, room) = out.split_at_mut(3 * nv * nv);
            self.coupled_forward_derivatives(matrices, room);
            return Ok(());
        }
        self.sweep::<Forward>(tau, qdd);
        self.refine(tau, qdd);
        self.sweep::<Linearize>(qdd, &mut []);
        self.sweep::<ForwardDerivatives>(&[], out);
        Ok(())
    }
}

impl<S: Scalar> View<'_, S> {
    /// (∂T)\*x about accelerations.
    #[inline(always)]
    pub(crate) fn torque_adjoint(&mut self, qdd: &[S], x: &[S], out: &mut [S]) -> Result<()> {
        if const { S::LANES > 1 } && !self.mechanism.is_coupled() {
            self.sweep_lanes::<Linearize>(qdd, &mut []);
            self.sweep_lanes::<TorqueAdjoint>(x, out);
            return Ok(());
        }
        self.linearize(qdd)?;
        if self.mechanism.is_coupled() {
            self.coupled_torque_adjoint(x, out);
        } else {
            self.sweep::<TorqueAdjoint>(x, out);
        }
        Ok(())
    }

    /// (∂q̈)\*x about what torques cause.
    #[inline(always)]
    pub(crate) fn acceleration_adjoint(&mut self, tau: &[S], x: &[S], out: &mut [S]) -> Result<()> {
        let (qdd, _) = out.split_at_mut(self.nv());
        self.sweep::<Forward>(tau, qdd);
        self.refine(tau, qdd);
        if const { S::LANES > 1 } && !self.mechanism.is_coupled() {
            self.sweep_lanes::<Linearize>(qdd, &mut []);
            self.sweep_lanes::<AccelerationAdjoint>(x, out);
            return Ok(());
        }
        self.linearize(qdd)?;
        if self.mechanism.is_coupled() {
            self.coupled_acceleration_adjoint(x, out);
        } else {
            self.sweep::<AccelerationAdjoint>(x, out);
        }
        Ok(())
    }
}

impl<'w, S: Scalar> Linearized<'w, S> {
    fn new(view: &'w mut View<'_, S>) -> Self {
        let view = View {
            stages: &mut *view.stages,
            ..*view
        };
        Self { view }
    }

    /// ∂T/∂q, ∂T/∂q̇ and 𝓜 in O(n · depth).
    pub fn inverse_derivatives(&mut self, out: &mut Derivatives<S>) -> Result<()> {
        let (matrices, room) = self.parts(out)?;
        if self.view.mechanism.is_coupled() {
            self.view.coupled_inverse_derivatives(matrices, room);
        } else {
            self.view.sweep::<InverseDerivatives>(&[], matrices);
        }
        Ok(())
    }

    /// ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹ in O(n²), without forming 𝓜, at the torques that cause the point's accelerations.
    pub fn forward_derivatives(&mut self, out: &mut Derivatives<S>) -> Result<()> {
        let (matrices, room) = self.parts(out)?;
        if self.view.mechanism.is_coupled() {
            self.view.coupled_forward_derivatives(matrices, room);
        } else {
            self.view.sweep::<ForwardDerivatives>(&[], &mut out.numbers);
            if self.view.is_tiled() {
                return self.view.check_elimination();
            }
        }
        self.view.check_pivots()
    }

    /// δT = ∂T/∂q δq + ∂T/∂q̇ δq̇ + 𝓜 δq̈ in O(n), without a matrix.
    ///
    /// `change` is δq, δq̇ and δq̈ one after another, 3 nv numbers.
    pub fn torque_change(&mut self, change: &[S], out: &mut [S]) -> Result<()> {
        self.check_change(change)?;
        check_length("out", out.len(), self.view.nv())?;
        if self.view.mechanism.is_coupled() {
            self.view.coupled_torque_change(change, out);
        } else {
            self.view.sweep::<TorqueChange>(change, out);
        }
        Ok(())
    }

    /// The transpose of [`Linearized::torque_change`] in O(n): (∂T/∂q)\*y, (∂T/∂q̇)\*y and 𝓜y one after another, which is
    /// how a gradient goes back through inverse dynamics.
    pub fn torque_adjoint(&mut self, y: &[S], out: &mut [S]) -> Result<()> {
        self.view.mechanism.check_vector("y", y)?;
        check_length("out", out.len(), 3 * self.view.nv())?;
        if self.view.mechanism.is_coupled() {
            self.view.coupled_torque_adjoint(y, out);
        } else {
            self.view.sweep::<TorqueAdjoint>(y, out);
        }
        Ok(())
    }

    /// δq̈ = ∂q̈/∂q δq + ∂q̈/∂q̇ δq̇ + 𝓜⁻¹ δT in O(n), without a matrix.
    ///
    /// `change` is δq, δq̇ and δT one after another, 3 nv numbers.
    pub fn acceleration_change(&mut self, change: &[S], out: &mut [S]) -> Result<()> {
        self.check_change(change)?;
        check_length("out", out.len(), self.view.nv())?;
        if self.view.mechanism.is_coupled() {
            self.view.coupled_acceleration_change(change, out);
        } else {
            self.view.sweep::<AccelerationChange>(change, out);
        }
        self.view.check_pivots()
    }

    /// The transpose of [`Linearized::acceleration_change`] in O(n): (∂q̈/∂q)\*y, (∂q̈/∂q̇)\*y and 𝓜⁻¹y one after another,
    /// which is how a gradient goes back through forward dynamics.
    pub fn acceleration_adjoint(&mut self, y: &[S], out: &mut [S]) -> Result<()> {
        self.view.mechanism.check_vector("y", y)?;
        check_length("out", out.len(), 3 * self.view.nv())?;
        if self.view.mechanism.is_coupled() {
            self.view.coupled_acceleration_adjoint(y, out);
        } else {
            self.view.sweep::<AccelerationAdjoint>(y, out);
        }
        self.view.check_pivots()
    }

    /// The regressor Y = ∂T/∂π, nv × 10 links: torques are linear in the links' inertial parameters, T = Y π, but for
    /// rotors and external forces.
    ///
    /// π has ten numbers for every link in the order of [`Mechanism::links`]: m, m c (x, y, z), and the moments of inertia
    /// about the link's origin (xx, xy, xz, yy, yz, zz), in the link's frame. [`Mechanism::inertial_parameters`] are those
    /// that the mechanism has.
    pub fn regressor(&mut self, out: &mut [S]) -> Result<()> {
        let links = self.view.mechanism.links().len();
        check_length("out", out.len(), self.view.nv() * PARAMETERS * links)?;
        if self.view.mechanism.is_coupled() {
            self.view.coupled_regressor(PARAMETERS * links, out);
        } else {
            self.view.sweep::<Regressor>(&[], out);
        }
        Ok(())
    }

    /// The matrices, and the room that computing them needs.
    fn parts<'a>(&self, out: &'a mut Derivatives<S>) -> Result<(&'a mut [S], &'a mut [S])> {
        let mechanism = self.view.mechanism;
        check_length("out", out.nv, mechanism.nv())?;
        let needed = mechanism.derivatives_length();
        check_length("out", out.numbers.len(), needed)?;
        Ok(out.numbers.split_at_mut(3 * out.nv * out.nv))
    }

    /// ∂T/∂f of a force [N; F] on a frame, nv × 6: −J\*, for a force that keeps to the frame as external forces do.
    pub fn torque_by_force(&mut self, frame: impl Into<FrameId>, reference: Reference, out: &mut [S]) -> Result<()> {
        let (nv, frame) = (self.view.nv(), self.view.mechanism.own_frame(frame)?);
        check_length("out", out.len(), 6 * nv)?;
        let mut jacobian = core::mem::take(&mut self.view.stages.scratch.columns);
        jacobian.clear();
        jacobian.resize(6 * nv, S::ZERO);
        self.view.sweep_at::<JacobianOf>(frame, reference, &[], &mut jacobian);
        for (i, row) in jacobian.chunks_exact(nv.max(1)).enumerate() {
            for (j, x) in row.iter().enumerate() {
                out[6 * j + i] = -*x;
            }
        }
        self.view.stages.scratch.columns = jacobian;
        Ok(())
    }

    /// ∂q̈/∂f of a force [N; F] on a frame, nv × 6: 𝓜⁻¹J\*, in O(nv) for each column.
    pub fn acceleration_by_force(
        &mut self,
        frame: impl Into<FrameId>,
        reference: Reference,
        out: &mut [S],
    ) -> Result<()> {
        let (nv, frame) = (self.view.nv(), frame.into());
        check_length("out", out.len(), 6 * nv)?;
        let view = View {
            stages: &mut *self.view.stages,
            ..self.view
        };
        let mut configured = Configured { view };
        let mut column = core::mem::take(&mut configured.view.stages.scratch.dofs);
        let mut done = Ok(());
        for i in 0..6 {
            let mut one = [S::ZERO; 6];
            one[i] = S::ONE;
            done = configured.acceleration_by_force(frame, reference, Force::from_array(one), &mut column[..nv]);
            if done.is_err() {
                break;
            }
            for (j, x) in column[..nv].iter().enumerate() {
                out[6 * j + i] = *x;
            }
        }
        configured.view.stages.scratch.dofs = column;
        done
    }

    /// Checks δq, δq̇ and a change of the input.
    fn check_change(&self, change: &[S]) -> Result<()> {
        let nv = self.view.nv();
        check_length("change", change.len(), 3 * nv)?;
        for part in change.chunks(nv.max(1)) {
            self.view.mechanism.check_vector("change", part)?;
        }
        Ok(())
    }
}
