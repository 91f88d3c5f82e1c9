//! Operational space: inertia, compliance and forces as a frame sees them.

use super::{Configured, Moving, check_length, check_six};
use crate::dense::{Eigen, add_scaled, dot};
use crate::dynamics::forward::Forward;
use crate::dynamics::innovations::InverseMassTimes;
use crate::dynamics::inverse::Gravity;
use crate::dynamics::kinematics::{self, JacobianOf, Velocities};
use crate::dynamics::operational::{Compliance, FromInnovations, HomeGains, InnovationsOfForces};
use crate::model::FrameId;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Reference};
use crate::{Error, Result};
use core::ops::{Deref, DerefMut, Range};

impl<'w, S: Scalar> Configured<'w, S> {
    /// Λ⁻¹ = J𝓜⁻¹J* of a frame, by one outward recursion along the way to it: what a force [N; F] on the frame adds to
    /// its acceleration. Always finite; singular where the frame cannot accelerate in every direction.
    ///
    /// ```
    /// use linkwork::Reference;
    /// let arm = linkwork::model::examples::arm7();
    /// let flange = arm.frame("flange")?;
    /// let mut workspace = arm.workspace();
    /// let mut posed = workspace.at(&[0.3; 7])?;
    /// let compliance = posed.operational_inertia_inverse(flange, Reference::Aligned)?;
    /// assert!(compliance[5][5] > 0.0);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    #[doc(alias = "operational space")]
    pub fn operational_inertia_inverse(
        &mut self,
        frame: impl Into<FrameId>,
        reference: Reference,
    ) -> Result<[[S; 6]; 6]> {
        let frame = self.view.mechanism.own_frame(frame)?;
        let mut x = [S::ZERO; 36];
        if self.view.mechanism.is_coupled() {
            self.operational_inertias_inverse(&[frame], reference, &mut x)?;
        } else {
            self.view.need::<HomeGains>();
            x = self.view.numbers::<Compliance, 36>(frame, reference);
        }
        self.view.check_pivots()?;
        Ok(core::array::from_fn(|i| core::array::from_fn(|j| x[6 * i + j])))
    }

    /// J𝓜⁻¹J* of several frames at once, 6ℓ × 6ℓ: six rows and columns per frame. Every frame's forces are propagated to
    /// its root by ψ; frames meet where their ways do. The first call with more frames than before makes room.
    pub fn operational_inertias_inverse(
        &mut self,
        frames: &[FrameId],
        reference: Reference,
        out: &mut [S],
    ) -> Result<()> {
        let (n, m) = (6 * frames.len(), &self.view.mechanism.compiled);
        check_length("out", out.len(), n * n)?;
        for &frame in frames {
            self.view.mechanism.own_frame(frame)?;
        }
        if self.view.mechanism.is_coupled() {
            return self.coupled_compliance(frames, reference, out);
        }
        self.view.need::<HomeGains>();
        let body = |frame: &FrameId| self.view.mechanism.placed[frame.index()].body;
        let mut unit = [S::ZERO; 36];
        for i in 0..6 {
            unit[7 * i] = S::ONE;
        }
        // Six rows per frame, each with room for the longest way.
        let width = frames.iter().map(|f| m.way_length(body(f))).max().unwrap_or(0);
        let mut rows = core::mem::take(&mut self.view.stages.scratch.columns);
        rows.clear();
        rows.resize(n * width, S::ZERO);
        for (i, frame) in frames.iter().enumerate() {
            let length = m.way_length(body(frame));
            let own = &mut rows[6 * i * width..][..6 * length];
            self.view.sweep_at::<InnovationsOfForces>(*frame, reference, &unit, own);
        }
        for (i, a) in frames.iter().enumerate() {
            for (j, b) in frames.iter().enumerate().take(i + 1) {
                let (a, b) = (body(a), body(b));
                let common = m.way_length(m.fork(a, b));
                let row = |frame: usize, link, r: usize| {
                    let start = 6 * frame * width + r * m.way_length(link);
                    start..start + common
                };
                for r in 0..6 {
                    for c in 0..6 {
                        let (x, y) = (&rows[row(i, a, r)], &rows[row(j, b, c)]);
                        let sum = x.iter().zip(y).fold(S::ZERO, |sum, (x, y)| x.mul_add(*y, sum));
                        out[(6 * i + r) * n + 6 * j + c] = sum;
                        out[(6 * j + c) * n + 6 * i + r] = sum;
                    }
                }
            }
        }
        self.view.stages.scratch.columns = rows;
        self.view.check_pivots()
    }

    /// The same where joints follow others: J𝓜⁻¹ row by row, times J*.
    fn coupled_compliance(&mut self, frames: &[FrameId], reference: Reference, out: &mut [S]) -> Result<()> {
        let (n, nv) = (6 * frames.len(), self.view.nv());
        let mut room = core::mem::take(&mut self.view.stages.scratch.columns);
        room.clear();
        room.resize((n + 1) * nv, S::ZERO);
        let (jacobian, moved) = room.split_at_mut(n * nv);
        for (&frame, rows) in frames.iter().zip(jacobian.chunks_exact_mut(6 * nv)) {
            self.view.sweep_at::<JacobianOf>(frame, reference, &[], rows);
        }
        for i in 0..n {
            self.view
                .sweep::<InverseMassTimes>(&jacobian[i * nv..(i + 1) * nv], moved);
            for j in 0..=i {
                let row = &jacobian[j * nv..(j + 1) * nv];
                let sum = row.iter().zip(&*moved).fold(S::ZERO, |sum, (x, y)| x.mul_add(*y, sum));
                out[i * n + j] = sum;
                out[j * n + i] = sum;
            }
        }
        self.view.stages.scratch.columns = room;
        self.view.check_pivots()
    }

    /// 𝓜⁻¹J*f: the accelerations that a force on a frame adds, in O(N).
    pub fn acceleration_by_force(
        &mut self,
        frame: impl Into<FrameId>,
        reference: Reference,
        force: Force<S>,
        qdd: &mut [S],
    ) -> Result<()> {
        check_length("qdd", qdd.len(), self.view.nv())?;
        check_six("force", force.to_array())?;
        let m = self.view.mechanism;
        let frame = m.own_frame(frame)?;
        if m.is_coupled() {
            let mut room = core::mem::take(&mut self.view.stages.scratch.columns);
            room.clear();
            room.resize(7 * m.nv(), S::ZERO);
            let (jacobian, tau) = room.split_at_mut(6 * m.nv());
            self.view.sweep_at::<JacobianOf>(frame, reference, &[], jacobian);
            for (f, row) in force.to_array().into_iter().zip(jacobian.chunks_exact(m.nv())) {
                for (tau, j) in tau.iter_mut().zip(row) {
                    *tau = f.mul_add(*j, *tau);
                }
            }
            self.view.sweep::<InverseMassTimes>(tau, qdd);
            self.view.stages.scratch.columns = room;
            return self.view.check_pivots();
        }
        let link = m.placed[frame.index()].body;
        let length = m.compiled.way_length(link);
        let mut row = core::mem::take(&mut self.view.stages.scratch.columns);
        row.clear();
        row.resize(length + m.nv(), S::ZERO);
        self.view.need::<HomeGains>();
        let (way, innovations) = row.split_at_mut(length);
        self.view
            .sweep_at::<InnovationsOfForces>(frame, reference, &force.to_array(), way);
        m.compiled.scatter(link, way, innovations);
        self.view.sweep::<FromInnovations>(innovations, qdd);
        self.view.stages.scratch.columns = row;
        self.view.check_pivots()
    }
}

/// Which motions of a frame a task is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All six.
    All,
    /// Turning alone.
    Angular,
    /// The motion of the frame's origin alone.
    Linear,
}

impl Part {
    fn rows(self) -> Range<usize> {
        match self {
            Self::All => 0..6,
            Self::Angular => 0..3,
            Self::Linear => 3..6,
        }
    }
}

/// A frame's motion as a task: Λẍ + μ + p = F, for the torques T = J*F.
///
/// Numbers that do not belong to the task's [`Part`] are zero in results and ignored in arguments. Where the arm is
/// singular, Λ leaves out the directions that it cannot accelerate in; damping makes it smooth there.
///
/// ```
/// use linkwork::spatial::Motion;
/// use linkwork::{Reference, workspace::Part};
/// let arm = linkwork::model::examples::arm7();
/// let mut workspace = arm.workspace();
/// let mut posed = workspace.at(&[0.3; 7])?;
/// let mut task = posed.task(arm.frame("flange")?, Reference::Aligned, Part::Linear, 0.0)?;
/// // The torques that accelerate the flange upwards, beyond gravity and velocities.
/// let force = task.force_for(Motion::new([0.0; 3], [0.0, 0.0, 1.0]));
/// let mut tau = [0.0; 7];
/// task.torque(force, &mut tau)?;
/// assert!(tau.iter().any(|tau| tau.abs() > 1e-3));
/// # Ok::<(), linkwork::Error>(())
/// ```
pub struct TaskDynamics<'v, 'w> {
    configured: &'v mut Configured<'w>,
    frame: FrameId,
    reference: Reference,
    rows: Range<usize>,
    lambda: [[f64; 6]; 6],
    condition: f64,
    rank: usize,
}

/// A [`TaskDynamics`] of a mechanism in motion, which knows its velocity terms.
pub struct MovingTaskDynamics<'v, 'w>(TaskDynamics<'v, 'w>);

impl<'v, 'w> Deref for MovingTaskDynamics<'v, 'w> {
    type Target = TaskDynamics<'v, 'w>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for MovingTaskDynamics<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Eigenvalues of Λ⁻¹ below this part of the largest count as zero.
const SINGULAR: f64 = 1e-12;

impl<'w> Configured<'w> {
    /// A frame's motion as a task. `damping` (0 for none) is added to the eigenvalues of Λ⁻¹, in 1/kg and 1/(kg m²).
    ///
    /// ```
    /// use linkwork::{Reference, workspace::Part};
    /// let arm = linkwork::model::examples::arm7();
    /// let mut workspace = arm.workspace();
    /// let mut posed = workspace.at(&[0.3; 7])?;
    /// let task = posed.task(arm.frame("flange")?, Reference::Aligned, Part::Linear, 0.0)?;
    /// assert!(task.condition() < 1e3 && task.rank() == 3);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn task(
        &mut self,
        frame: impl Into<FrameId>,
        reference: Reference,
        part: Part,
        damping: f64,
    ) -> Result<TaskDynamics<'_, 'w>> {
        if !(damping >= 0.0 && damping.is_finite()) {
            return Err(Error::Negative {
                argument: "damping",
                value: damping,
            });
        }
        let frame = self.view.mechanism.own_frame(frame)?;
        let mut x = self.operational_inertia_inverse(frame, reference)?;
        let rows = part.rows();
        for i in 0..6 {
            for j in 0..6 {
                if !(rows.contains(&i) && rows.contains(&j)) {
                    x[i][j] = 0.0;
                }
            }
        }
        // Rows outside the part are eigenvectors of their own, with eigenvalue zero.
        let eigen = Eigen::new(x);
        let (size, largest) = (rows.len(), eigen.largest());
        let mut least = f64::INFINITY;
        let (mut rank, mut lambda) = (0, [[0.0; 6]; 6]);
        let inside = |k: usize| rows.clone().map(|i| eigen.vectors[i][k].powi(2)).sum::<f64>() > 0.5;
        for k in (0..6).filter(|&k| inside(k)) {
            let value = eigen.values[k].max(0.0);
            least = least.min(value);
            let reached = value > SINGULAR * largest;
            rank += usize::from(reached);
            if !reached && damping == 0.0 {
                continue;
            }
            let inverse = 1.0 / (value + damping);
            for i in 0..6 {
                for j in 0..6 {
                    lambda[i][j] += eigen.vectors[i][k] * inverse * eigen.vectors[j][k];
                }
            }
        }
        let floor = f64::EPSILON * largest;
        let condition = if largest > 0.0 {
            largest / least.max(floor)
        } else {
            1.0 / f64::EPSILON
        };
        debug_assert!(rank <= size);
        Ok(TaskDynamics {
            configured: self,
            frame,
            reference,
            rows,
            lambda,
            condition,
            rank,
        })
    }
}

impl<'w> Moving<'w> {
    /// The same as [`Configured::task`], with velocity terms.
    pub fn task(
        &mut self,
        frame: impl Into<FrameId>,
        reference: Reference,
        part: Part,
        damping: f64,
    ) -> Result<MovingTaskDynamics<'_, 'w>> {
        self.configured
            .task(frame, reference, part, damping)
            .map(MovingTaskDynamics)
    }
}

impl TaskDynamics<'_, '_> {
    /// Λ, six by six: the inertia that the frame shows.
    pub fn inertia(&self) -> &[[f64; 6]; 6] {
        &self.lambda
    }

    /// The largest eigenvalue of Λ⁻¹ over the least: large near a singularity, 1/ε = 4.5e15 at one.
    pub fn condition(&self) -> f64 {
        self.condition
    }

    /// In how many directions the frame can be accelerated.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// J̄x = 𝓜⁻¹J*Λx: of all q̈ that give the frame the acceleration x, the one of least kinetic cost.
    pub fn dynamically_consistent_inverse(&mut self, x: Motion, qdd: &mut [f64]) -> Result<()> {
        check_six("x", x.to_array())?;
        let force = self.force_for(x);
        let (frame, reference) = (self.frame, self.reference);
        self.configured.acceleration_by_force(frame, reference, force, qdd)
    }

    /// J̄*T: the force on the frame that torques amount to.
    pub fn consistent_force(&mut self, tau: &[f64]) -> Result<Force> {
        let mechanism = self.configured.view.mechanism;
        mechanism.check_vector("tau", tau)?;
        let mut scratch = self.take(1);
        let (jacobian, x) = scratch.split_at_mut(6 * mechanism.nv());
        let done = self.configured.inverse_mass_times(tau, x);
        let force = self.force_for(moved(jacobian, x));
        self.configured.view.stages.scratch.columns = scratch;
        done.map(|()| force)
    }

    /// (I − J̄J) x: what of a motion the task does not see.
    pub fn nullspace_motion(&mut self, x: &mut [f64]) -> Result<()> {
        self.configured.view.mechanism.check_vector("x", x)?;
        let jacobian = self.take(0);
        let seen = moved(&jacobian, x);
        self.configured.view.stages.scratch.columns = jacobian;
        let mut along = core::mem::take(&mut self.configured.view.stages.scratch.dofs);
        let done = self.dynamically_consistent_inverse(seen, &mut along[..x.len()]);
        add_scaled(x, -1.0, &along[..x.len()]);
        self.configured.view.stages.scratch.dofs = along;
        done
    }

    /// (I − J*J̄*) T: what of the torques does not accelerate the frame.
    pub fn nullspace_torque(&mut self, tau: &mut [f64]) -> Result<()> {
        let force = self.consistent_force(tau)?;
        let mut scratch = self.take(1);
        let (jacobian, seen) = scratch.split_at_mut(6 * tau.len());
        torque(jacobian, force, seen);
        add_scaled(tau, -1.0, seen);
        self.configured.view.stages.scratch.columns = scratch;
        Ok(())
    }

    /// J*F: the torques of a force on the frame.
    pub fn torque(&mut self, force: Force, tau: &mut [f64]) -> Result<()> {
        check_six("force", force.to_array())?;
        check_length("tau", tau.len(), self.configured.view.nv())?;
        let scratch = self.take(0);
        torque(&scratch, self.only_rows(force), tau);
        self.configured.view.stages.scratch.columns = scratch;
        Ok(())
    }

    /// p = J̄*g: the force that gravity amounts to.
    pub fn gravity(&mut self) -> Result<Force> {
        let mut g = core::mem::take(&mut self.configured.view.stages.scratch.dofs);
        let nv = self.configured.view.nv();
        self.configured.view.sweep::<Gravity>(&[], &mut g[..nv]);
        let force = self.consistent_force(&g[..nv]);
        self.configured.view.stages.scratch.dofs = g;
        force
    }

    /// Λx.
    pub fn force_for(&self, x: Motion) -> Force {
        let x = x.to_array();
        Force::from_array(core::array::from_fn(|i| dot(&self.lambda[i], &x)))
    }

    fn only_rows(&self, force: Force) -> Force {
        let mut f = force.to_array();
        for (i, f) in f.iter_mut().enumerate() {
            if !self.rows.contains(&i) {
                *f = 0.0;
            }
        }
        Force::from_array(f)
    }

    /// Room for the frame's Jacobian, which is filled, and for so many vectors.
    fn take(&mut self, vectors: usize) -> Vec<f64> {
        let view = &mut self.configured.view;
        let nv = view.nv();
        let mut scratch = core::mem::take(&mut view.stages.scratch.columns);
        scratch.clear();
        scratch.resize((6 + vectors) * nv, 0.0);
        view.sweep_at::<JacobianOf>(self.frame, self.reference, &[], &mut scratch[..6 * nv]);
        scratch
    }
}

/// J x.
fn moved(jacobian: &[f64], x: &[f64]) -> Motion {
    let row = |i: usize| &jacobian[i * x.len()..(i + 1) * x.len()];
    Motion::from_array(core::array::from_fn(|i| dot(row(i), x)))
}

/// J*f.
fn torque(jacobian: &[f64], force: Force, out: &mut [f64]) {
    let n = out.len();
    out.fill(0.0);
    for (i, f) in force.to_array().into_iter().enumerate() {
        add_scaled(out, f, &jacobian[i * n..(i + 1) * n]);
    }
}

impl MovingTaskDynamics<'_, '_> {
    /// μ + p: the force that keeps the frame's acceleration zero, against velocity terms, gravity and external forces.
    pub fn bias(&mut self) -> Result<Force> {
        let TaskDynamics {
            configured,
            frame,
            reference,
            ..
        } = &mut self.0;
        let view = &mut configured.view;
        let nv = view.nv();
        let mut scratch = core::mem::take(&mut view.stages.scratch.columns);
        scratch.clear();
        scratch.resize(2 * nv, 0.0);
        let (tau, qdd) = scratch.split_at_mut(nv);
        view.sweep::<Forward>(tau, qdd);
        view.refine(tau, qdd);
        if !view.leaves_accelerations() {
            view.fill_accelerations(qdd);
        }
        view.stages.scratch.columns = scratch;
        view.check_pivots()?;
        view.need::<Velocities>();
        let base = -view.mechanism.compiled.gravity;
        let placed = &view.mechanism.placed[frame.index()];
        let free = kinematics::acceleration(view.stages, placed, base, *reference);
        Ok(self.0.force_for(-free))
    }

    /// μ: the velocity terms alone, with whatever external forces there are.
    pub fn coriolis(&mut self) -> Result<Force> {
        Ok(self.bias()? - self.gravity()?)
    }
}
