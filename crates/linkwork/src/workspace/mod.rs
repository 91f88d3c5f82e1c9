//! The façade: memory that is allocated once, and views that cannot be stale.
//!
//! A [`Workspace`] owns all memory. Giving it q returns a [`Posed`] view that borrows it; giving that q̇ returns a
//! [`Moving`] one; giving that q̈ or torques returns an [`Accelerating`] one. Each view computes a stage when it is first
//! asked for and reuses it; setting a new q needs the workspace back, so that nothing can be read that belongs to
//! another state. No method of a view that writes into a caller's memory allocates, except that beyond a thousand degrees of
//! freedom the first dense inverse makes its room, and where joints follow others the first regressor.

mod accelerating;
mod allocating;
mod augmented;
mod blocks;
mod conditioning;
mod contact;
mod curvature;
mod debug;
mod diagonal;
mod linearized;
mod moving;
mod operational;
mod passivity;
mod posed;
mod refine;
mod second_order;
mod statistics;
pub(crate) mod sweeps;
mod total_rates;
mod unchecked_sweeps;
mod weld;

pub use crate::stage::diagonal::Scaling;
pub use accelerating::Accelerating;
pub use augmented::{Augmented, AugmentedMass, Masses};
pub use blocks::{Block, Seen, Small};
pub use conditioning::{Conditioning, Pivot};
pub use curvature::Curvature;
pub use linearized::{Derivatives, Linearized};
pub use moving::Moving;
pub use operational::{MovingTaskDynamics, Part, TaskDynamics};
pub use posed::{Configured, Posed};
pub use second_order::{Along, DerivativeRates, SecondOrder};
pub use statistics::Normal;
pub use total_rates::TotalRate;

use crate::dynamics::innovations::Articulate;
use crate::dynamics::{coupled_inverse_mass, forward};
use crate::model::{Compiled, FrameId, Mechanism};
use crate::scalar::{Builds, Pack, Scalar};
use crate::simd::{Function, Instructions};
use crate::spatial::Reference;
use crate::stage::Stages;
use crate::sweep::{At, PackedSweep, Ready, Shape, Sweep, algorithm};
use crate::{Error, Result};

use sweeps::{Listed, Sweeps};

/// All memory that the algorithms need for one mechanism, allocated once.
///
/// ```
/// use linkwork::model::examples;
/// let arm = examples::puma560();
/// let mut workspace = arm.workspace();
/// let q = arm.neutral();
/// let mut posed = workspace.at(&q)?;
/// let mut mass_matrix = vec![0.0; 36];
/// posed.mass_matrix(&mut mass_matrix)?;
/// let mut moving = posed.moving(&[0.1; 6])?;
/// let mut qdd = [0.0; 6];
/// moving.forward_dynamics(&[0.0; 6], &mut qdd)?;
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[doc(alias = "mjData")]
pub struct Workspace<S: 'static = f64> {
    mechanism: Mechanism,
    pub(crate) sweeps: Sweeps<S>,
    pub(crate) instructions: Instructions,
    stages: Stages<S>,
}

impl Mechanism {
    /// Memory for calls with `f64`.
    pub fn workspace(&self) -> Workspace<f64> {
        self.workspace_of()
    }

    /// Memory for calls with another scalar, such as [`crate::scalar::Dual`].
    pub fn workspace_of<S: Scalar>(&self) -> Workspace<S> {
        self.workspace_with(Instructions::detect())
    }

    fn workspace_with<S: Scalar>(&self, instructions: Instructions) -> Workspace<S> {
        Workspace {
            mechanism: self.clone(),
            sweeps: Sweeps::shipped(),
            instructions,
            stages: Stages::new(&self.compiled, sweeps::fills(instructions)),
        }
    }
}

impl<S: Scalar> Workspace<S> {
    /// The mechanism it belongs to.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// Sets the configuration. Quaternions are normalised if they are almost of unit length, and refused otherwise.
    // Part of the caller: a view that comes through memory is read back before it is there.
    #[inline]
    pub fn at(&mut self, q: &[S]) -> Result<Posed<'_, S>> {
        self.mechanism.check_configuration("q", q)?;
        if self.mechanism.is_coupled() {
            self.mechanism
                .check_derivatives(2 + S::ORDER, "dynamics over these numbers")?;
        }
        let mut view = self.view();
        view.configure(q);
        Ok(Posed(Configured { view }))
    }

    /// What the processor has.
    pub(crate) fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// A state known to be right.
    #[inline(always)]
    pub(crate) fn view_at(&mut self, q: &[S], qd: &[S]) -> View<'_, S> {
        let mut view = self.view_with(q);
        view.set_moving(qd);
        view
    }

    /// The same with the velocities that are there.
    #[inline(always)]
    pub(crate) fn view_with(&mut self, q: &[S]) -> View<'_, S> {
        let mut view = self.view();
        view.configure(q);
        view
    }

    /// A configuration known to be right.
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    pub(crate) fn at_unchecked(&mut self, q: &[S]) -> Configured<'_, S> {
        let view = self.view_with(q);
        Configured { view }
    }

    /// The configuration that is there.
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    pub(crate) fn at_again(&mut self) -> Configured<'_, S> {
        let view = self.view();
        Configured { view }
    }

    /// That, moving at the velocity that is there.
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    pub(crate) fn moving_again(&mut self) -> Moving<'_, S> {
        Moving {
            configured: self.at_again(),
        }
    }

    /// What is known of the state that is there.
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    pub(crate) fn stages(&self) -> &Stages<S> {
        &self.stages
    }

    /// Takes in velocities for configurations to come.
    pub(crate) fn set_velocity(&mut self, qd: &[S]) {
        self.view().set_moving(qd);
    }

    #[inline(always)]
    fn view(&mut self) -> View<'_, S> {
        View {
            mechanism: &self.mechanism,
            sweeps: self.sweeps,
            instructions: self.instructions,
            stages: &mut self.stages,
        }
    }
}

/// Calls a function, compiled for what the processor has: fused products are no calls there.
#[doc(hidden)]
#[inline(always)]
pub fn call<A, F: Function<A>>(function: F, input: A) -> F::Out {
    Instructions::detect().call(function, input)
}

/// Takes in a configuration.
pub(crate) struct Configure;

algorithm! {
    Configure: Plain, Packed;
}

impl<S: Scalar> Sweep<S> for Configure {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, q: &[S], _: &mut [S]) {
        s.pose::<S>(m, q);
    }
}

impl PackedSweep for Configure {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, _: At<'_>, q: &[f64], _: &mut [f64]) {
        s.pose::<P>(m, q);
    }
}

/// A mechanism and the stages of its present state.
pub(crate) struct View<'w, S: 'static> {
    pub(crate) mechanism: &'w Mechanism,
    pub(crate) sweeps: Sweeps<S>,
    pub(crate) instructions: Instructions,
    pub(crate) stages: &'w mut Stages<S>,
}

/// A view laid open, for what works on stages from outside.
pub(crate) struct Access<'a, S: 'static> {
    pub(crate) instructions: Instructions,
    pub(crate) stages: &'a mut Stages<S>,
}

impl<S: Scalar> Configured<'_, S> {
    /// The stages; with the links' places in the world, if `placed`.
    pub(crate) fn access(&mut self, placed: bool) -> Access<'_, S> {
        if placed {
            self.view.need::<crate::dynamics::kinematics::Placements>();
        }
        Access {
            instructions: self.view.instructions,
            stages: &mut *self.view.stages,
        }
    }

    /// P, D and G, checked.
    pub(crate) fn articulate(&mut self) -> Result<()> {
        if self.view.mechanism.is_coupled() {
            return self.view.need_coupled_factor();
        }
        self.view.sweep_tree::<Articulate>(FrameId::WORLD, &[], &mut [])?;
        self.view.check_pivots()
    }

    /// An error if a pivot of D is not positive.
    pub(crate) fn check(&mut self) -> Result<()> {
        self.view.check_pivots()
    }

    /// Whether all pivots of all lanes are positive.
    pub(crate) fn is_sound(&mut self) -> bool {
        self.view.pivots_are_sound()
    }

    /// An error if a pivot of D is not positive in one lane.
    pub(crate) fn check_lane(&self, lane: usize) -> Result<()> {
        self.view.check_pivots_of(lane)
    }
}

impl<S: Scalar> View<'_, S> {
    /// Runs a sweep with what the processor has.
    #[inline(always)]
    pub(crate) fn sweep<W: Listed<Partner: Listed + Sweep<S>> + Sweep<S>>(&mut self, input: &[S], out: &mut [S]) {
        const {
            assert!(
                !matches!(W::SHAPE, Shape::Tree),
                "it may be refused: `sweep_tree` runs it"
            )
        };
        let (m, at) = (&self.mechanism.compiled, At::NOWHERE);
        if m.reduction.is_some() {
            return self.coupled::<W>(at, input, out);
        }
        let sweep = self.sweeps.of::<W>();
        sweep.run(self.instructions, m, self.stages, at, input, out);
    }

    /// Runs a sweep that is asked about a frame.
    #[inline(always)]
    pub(crate) fn sweep_at<W: Listed<Partner: Listed + Sweep<S>> + Sweep<S>>(
        &mut self,
        frame: FrameId,
        reference: Reference,
        input: &[S],
        out: &mut [S],
    ) {
        let frame = &self.mechanism.placed[frame.index()];
        let (m, at) = (&self.mechanism.compiled, At { frame, reference });
        if m.reduction.is_some() {
            return self.coupled::<W>(at, input, out);
        }
        let sweep = self.sweeps.of::<W>();
        sweep.run(self.instructions, m, self.stages, at, input, out);
    }

    /// Runs a sweep that users know by a name, about what they gave.
    #[inline(never)]
    pub(crate) fn sweep_known<W: Listed<Partner: Listed + Sweep<S>> + Sweep<S>>(
        &mut self,
        (frame, reference): (FrameId, Reference),
        input: &[S],
        out: &mut [S],
    ) -> Result<()> {
        if matches!(W::SHAPE, Shape::Tree) {
            self.mechanism
                .refuse_coupled("what is made of the factors of a tree's mass matrix")?;
        }
        self.sweep_at::<W>(frame, reference, input, out);
        if const { matches!(W::SHAPE, Shape::Forward) } {
            self.refine(input, out);
        }
        match W::SHAPE.divides() || matches!(W::SHAPE, Shape::Tree) {
            true => self.check_pivots(),
            false => Ok(()),
        }
    }

    /// Runs a sweep that means nothing where joints follow others: there it is refused before it runs.
    #[inline(always)]
    pub(crate) fn sweep_tree<W: Listed + Sweep<S>>(
        &mut self,
        frame: FrameId,
        input: &[S],
        out: &mut [S],
    ) -> Result<()> {
        const { assert!(matches!(W::SHAPE, Shape::Tree), "`sweep` runs it") };
        self.mechanism
            .refuse_coupled("what is made of the factors of a tree's mass matrix")?;
        let at = At {
            frame: &self.mechanism.placed[frame.index()],
            reference: Reference::Local,
        };
        self.raw::<W>(at, input, out);
        Ok(())
    }

    /// Runs a sweep that only lanes take.
    #[inline(always)]
    pub(crate) fn sweep_lanes<W: Sweep<S>>(&mut self, input: &[S], out: &mut [S]) {
        let m = &self.mechanism.compiled;
        const { &Ready::<S>::new::<W>() }.run(self.instructions, m, self.stages, At::NOWHERE, input, out);
    }

    /// Takes in a configuration.
    #[inline(always)]
    fn configure(&mut self, q: &[S]) {
        let Some(r) = &self.mechanism.compiled.reduction else {
            return self.sweep::<Configure>(q, &mut []);
        };
        let mut c = core::mem::take(&mut self.stages.coupled);
        self.instructions
            .perform::<S, _>(crate::coupled::workspace::Follow(&mut c, r, q));
        self.sweep::<Configure>(&c.q, &mut []);
        self.stages.coupled = c;
    }

    /// Takes in a velocity; what depended on the last one no longer holds.
    #[inline(always)]
    fn set_moving(&mut self, qd: &[S]) {
        self.stages.filled.forget_motion();
        match &self.mechanism.compiled.reduction {
            None => self.stages.qd.copy_from_slice(qd),
            Some(r) => {
                let (c, all) = (&mut self.stages.coupled, &mut self.stages.qd);
                self.instructions
                    .perform::<S, _>(crate::coupled::workspace::Move(c, r, qd, all));
            }
        }
    }

    /// The configuration and velocity as users gave them.
    fn given(&self) -> (&[S], &[S]) {
        let s = &*self.stages;
        match self.mechanism.is_coupled() {
            true => (&s.coupled.y, &s.coupled.yd),
            false => (&s.q, &s.qd),
        }
    }

    /// Brings a stage up to date.
    #[inline(always)]
    fn need<W: Listed<Partner: Listed + Sweep<S>> + Sweep<S>>(&mut self) {
        self.sweep::<W>(&[], &mut []);
    }

    /// The few numbers that a sweep gives.
    #[inline(always)]
    pub(crate) fn numbers<W: Listed<Partner: Listed + Sweep<S>> + Sweep<S>, const N: usize>(
        &mut self,
        frame: FrameId,
        reference: Reference,
    ) -> [S; N] {
        let mut out = [S::ZERO; N];
        self.sweep_at::<W>(frame, reference, &[], &mut out);
        out
    }

    pub(crate) fn nv(&self) -> usize {
        self.mechanism.nv()
    }

    /// An error if a pivot of D is not positive, or zero but for rounding: then nothing resists the joint it belongs to.
    pub(crate) fn check_pivots(&mut self) -> Result<()> {
        // Only what is compiled for this; and no counter counts the check.
        if const { matches!(S::BUILDS, Builds::Shipped) } && self.pivots_are_sound() {
            return Ok(());
        }
        (0..S::LANES).try_for_each(|lane| self.check_pivots_of(lane))
    }

    /// The same for the state in one lane.
    pub(crate) fn check_pivots_of(&self, lane: usize) -> Result<()> {
        if let Some(r) = &self.mechanism.compiled.reduction {
            self.check_coupled_factor(r)?;
            if let Some((dof, d)) = self.unsound_embedded(r, lane) {
                return Err(self.singular(dof, d));
            }
            if self.stages.filled.is_reduced()
                && let Some((dof, d)) = coupled_inverse_mass::unsound_pivot(&self.mechanism.compiled, self.stages, lane)
            {
                return Err(self.singular(dof, d));
            }
            if !self.stages.filled.has_gains() && !self.stages.filled.is_eliminated() {
                return Ok(());
            }
        }
        if self.stages.filled.has_pivots_at_home() {
            return self.check_pivots_at_home(lane);
        }
        let mut gains = self.stages.riccati.gains.iter();
        let Some(i) = gains.position(|gain| !gain.is_sound(lane)) else {
            return Ok(());
        };
        Err(self.singular(i, self.stages.riccati.gains[i].d_inv.lane(lane).recip()))
    }

    /// The same for the pivots of linearized dynamics.
    pub(crate) fn check_pivots_at_home(&self, lane: usize) -> Result<()> {
        match self.stages.linear.unsound_pivot(lane) {
            Some((column, d)) => Err(self.singular(self.mechanism.compiled.columns.single.dof[column], d)),
            None => Ok(()),
        }
    }

    /// Nothing resists a degree of freedom of all joints: its D is such.
    pub(crate) fn singular(&self, dof: usize, value: f64) -> Error {
        let (joint, index) = self.mechanism.joint_of_any_dof(dof);
        let joint = self.mechanism.joints()[joint.index()].name.clone();
        Error::Singular { joint, index, value }
    }

    /// Whether all pivots of all lanes are sound.
    pub(crate) fn pivots_are_sound(&mut self) -> bool {
        if self.mechanism.is_coupled() {
            let s = &*self.stages;
            let filled = s.filled;
            let judged = filled.is_judged() == filled.is_embedded() && (filled.is_judged() || filled.is_reduced());
            let rest = filled.has_gains() || filled.is_eliminated() || s.coupled.m.is_filled;
            if judged && !rest {
                let first = !filled.is_judged() || s.unsound == S::ZERO;
                return first && (!filled.is_reduced() || s.coupled.unsound == S::ZERO);
            }
            return (0..S::LANES).all(|lane| self.check_pivots_of(lane).is_ok());
        }
        let [unsound] = if self.stages.filled.is_judged() && !self.stages.filled.has_pivots_at_home() {
            [self.stages.unsound]
        } else {
            self.numbers::<forward::Pivots, 1>(FrameId::WORLD, Reference::World)
        };
        if unsound == S::ZERO {
            return true;
        }
        if !self.stages.filled.has_pivots_at_home() {
            // Whoever asks which one it is looks there.
            self.need::<forward::Gains>();
        }
        false
    }
}

/// An error unless a motion or a force is made of numbers.
fn check_six<S: Scalar>(argument: &'static str, six: [S; 6]) -> Result<()> {
    match six.into_iter().find(|x| !x.is_finite()) {
        Some(x) => Err(Error::Parameter {
            argument,
            value: x.lane(0),
        }),
        None => Ok(()),
    }
}

/// An error unless an output has room for exactly what is written.
fn check_length(argument: &'static str, given: usize, needed: usize) -> Result<()> {
    if given == needed {
        Ok(())
    } else {
        Err(Error::Length {
            argument,
            needed,
            given,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Scaling;
    use crate::model::examples;
    use crate::simd::Instructions;
    use crate::{Mechanism, Result};

    /// T, q̈, 𝓜, 𝓜⁻¹ and the diagonalized rates of one state.
    fn dynamics(m: &Mechanism, instructions: Instructions) -> Result<Vec<f64>> {
        let (n, q) = (m.nv(), m.random(3));
        let qd: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut workspace = m.workspace_with::<f64>(instructions);
        let mut all = vec![0.0; 4 * n + 2 * n * n];
        let (vectors, matrices) = all.split_at_mut(4 * n);
        workspace.at(&q)?.mass_matrix(&mut matrices[..n * n])?;
        workspace.at(&q)?.mass_matrix_inverse(&mut matrices[n * n..])?;
        workspace
            .at(&q)?
            .moving(&qd)?
            .inverse_dynamics(&qd, &mut vectors[..n])?;
        workspace
            .at(&q)?
            .moving(&qd)?
            .forward_dynamics(&qd, &mut vectors[n..2 * n])?;
        workspace.at(&q)?.inverse_mass_times(&qd, &mut vectors[2 * n..3 * n])?;
        workspace
            .at(&q)?
            .total_rates(Scaling::Unnormalized, &qd, &mut vectors[3 * n..])?;
        Ok(all)
    }

    #[test]
    fn every_processor_gives_the_same_numbers() -> Result<()> {
        for m in [
            examples::cart_pole(),
            examples::scara(),
            examples::puma560(),
            examples::arm7(),
            examples::quadruped(),
            examples::humanoid(),
        ] {
            let (plain, here) = (
                dynamics(&m, Instructions::PLAIN)?,
                dynamics(&m, Instructions::detect())?,
            );
            for i in 0..plain.len() {
                assert!(plain[i] == here[i], "{i}: {} {}", plain[i], here[i]);
            }
        }
        Ok(())
    }
}
