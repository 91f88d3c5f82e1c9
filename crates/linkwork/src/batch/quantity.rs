//! What can be asked of every state of a batch.

use crate::Result;
use crate::coupled::workspace::derivatives_in_lanes;
use crate::dynamics::linearized::{self, inverse_in_lanes};
use crate::dynamics::{centroidal, composite, forward, inverse, inverse_mass, kinematics, mass_elements};
use crate::model::{FrameId, Mechanism};
use crate::plan::path_order;
use crate::scalar::Scalar;
use crate::simd::Lanes;
use crate::spatial::Reference;
use crate::sweep::{Algorithm, Known};
use crate::workspace::View;

/// How many tables there are.
pub(super) const TABLES: usize = 3;

#[derive(Clone, Copy, Debug)]
pub enum Quantity<'a> {
    Poses(&'a [FrameId]),
    Jacobian(FrameId, Reference),
    Velocity(FrameId, Reference),
    Com,
    PotentialEnergy,
    KineticEnergy,
    InverseDynamics,
    ForwardDynamics,
    Bias,
    GravityTorque,
    MassMatrix,
    MassEntries,
    MassMatrixInverse,
    InverseDerivatives,
    ForwardDerivatives,
    TorqueAdjoint,
    AccelerationAdjoint,
}

impl Quantity<'_> {
    /// What users know it as; poses are of several frames at once, and so of no one quantity.
    fn known(&self) -> Option<Known> {
        Some(match self {
            Self::Poses(_) => return None,
            Self::Jacobian(..) => return kinematics::JacobianOf::KNOWN,
            Self::Velocity(..) => return kinematics::VelocityOf::KNOWN,
            Self::Com => return centroidal::CentreOfMass::KNOWN,
            Self::PotentialEnergy => return centroidal::PotentialEnergy::KNOWN,
            Self::KineticEnergy => return centroidal::KineticEnergy::KNOWN,
            Self::InverseDynamics => return inverse::Inverse::KNOWN,
            Self::Bias => return inverse::Bias::KNOWN,
            Self::GravityTorque => return inverse::Gravity::KNOWN,
            Self::MassMatrix => return composite::MassMatrix::KNOWN,
            Self::ForwardDynamics => forward::FORWARD_DYNAMICS,
            Self::MassEntries => mass_elements::MASS_MATRIX_ENTRIES,
            Self::MassMatrixInverse => inverse_mass::MASS_MATRIX_INVERSE,
            Self::InverseDerivatives => linearized::inverse::INVERSE_DYNAMICS_DERIVATIVES,
            Self::ForwardDerivatives => linearized::forward::FORWARD_DYNAMICS_DERIVATIVES,
            Self::TorqueAdjoint => linearized::products::TORQUE_ADJOINT,
            Self::AccelerationAdjoint => linearized::products::ACCELERATION_ADJOINT,
        })
    }

    /// How many numbers it has.
    pub(super) fn size(&self, mechanism: &Mechanism) -> usize {
        match (self, self.known()) {
            (Self::Poses(frames), _) => 12 * frames.len(),
            (_, known) => known.map_or(0, |known| known.len(mechanism)),
        }
    }

    /// What one of its vectors is called: those after q, in their order.
    pub(super) fn vector(&self, i: usize) -> &'static str {
        let inputs = self.known().map_or(&[][..], |known| known.inputs);
        inputs.get(i + 1).map_or("x", |input| input.name())
    }

    /// How many numbers computing it takes, itself included.
    pub(super) fn room<S: Lanes>(&self, mechanism: &Mechanism) -> usize {
        let m = &mechanism.compiled;
        match self {
            Self::MassMatrix | Self::MassEntries if S::LANES > 1 => match &m.reduction {
                None => mechanism.mass_pattern_length(),
                Some(r) => r.mass_in_lanes(m).length(),
            },
            Self::InverseDerivatives if S::LANES > 1 => match &m.reduction {
                None => inverse_in_lanes::length(m),
                Some(r) => derivatives_in_lanes(m, r).length(),
            },
            Self::InverseDerivatives | Self::ForwardDerivatives => mechanism.derivatives_length(),
            _ => self.size(mechanism),
        }
    }

    /// Whether lanes compute only those of its numbers that are not zero, or in another order, and which table tells
    /// where they stand.
    #[inline]
    pub(super) fn table<S: Lanes>(&self) -> Option<usize> {
        match self {
            Self::MassMatrix if S::LANES > 1 => Some(0),
            Self::InverseDerivatives if S::LANES > 1 => Some(1),
            Self::MassEntries if S::LANES > 1 => Some(2),
            _ => None,
        }
    }

    /// Such a table: for each number of a state, its place among those computed; a zero stands after them.
    pub(super) fn sources(&self, mechanism: &Mechanism) -> Vec<u32> {
        if let Some(r) = &mechanism.compiled.reduction {
            return match self {
                Self::InverseDerivatives => derivatives_in_lanes(&mechanism.compiled, r).sources.clone(),
                Self::MassEntries => r.mass_in_lanes(&mechanism.compiled).pattern.clone(),
                _ => r.mass_in_lanes(&mechanism.compiled).sources.clone(),
            };
        }
        if let Self::InverseDerivatives = self {
            return inverse_in_lanes::sources(&mechanism.compiled);
        }
        let (m, n, order) = (
            &mechanism.compiled,
            mechanism.nv(),
            path_order(&mechanism.compiled.bodies, &mechanism.compiled.columns.single),
        );
        let mut from = vec![order.len() as u32; self.size(mechanism)];
        for (i, [row, column]) in order.into_iter().enumerate() {
            if let Self::MassEntries = self {
                from[m.columns.rows[row] + (column - row)] = i as u32;
                continue;
            }
            let [row, column] = [row, column].map(|c| m.columns.single.dof[c]);
            from[row * n + column] = i as u32;
            from[column * n + row] = i as u32;
        }
        from
    }

    /// Whether lanes do not compute it for a mechanism: where forward dynamics is refined, and 𝓜⁻¹ of joints that follow others
    /// where it cannot be made from 𝓜.
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    pub(super) fn is_alone(&self, mechanism: &Mechanism) -> bool {
        let inverse = matches!(self, Self::MassMatrixInverse | Self::ForwardDerivatives);
        let r = mechanism.compiled.reduction.as_ref();
        mechanism.compiled.refines && self.is_refined() || inverse && r.is_some_and(|r| r.reduced.is_none())
    }

    /// Whether it takes q̈ from forward dynamics, which some mechanisms refine.
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    fn is_refined(&self) -> bool {
        matches!(
            self,
            Self::ForwardDynamics | Self::ForwardDerivatives | Self::AccelerationAdjoint
        )
    }

    /// Whether it divides by D.
    pub(super) fn needs_pivots(&self) -> bool {
        matches!(
            self,
            Self::ForwardDynamics | Self::MassMatrixInverse | Self::ForwardDerivatives | Self::AccelerationAdjoint
        )
    }

    /// Computes it for the state in a view, in the first of the numbers that [`Quantity::room`] asks for.
    #[inline(always)]
    pub(super) fn compute<S: Scalar>(&self, view: &mut View<'_, S>, input: &[S], x: &[S], out: &mut [S]) -> Result<()> {
        match *self {
            Self::InverseDerivatives => view.inverse_derivatives(input, out)?,
            Self::ForwardDerivatives => view.forward_derivatives(input, out)?,
            Self::TorqueAdjoint => view.torque_adjoint(input, x, out)?,
            Self::AccelerationAdjoint => view.acceleration_adjoint(input, x, out)?,
            Self::Poses(frames) => {
                for f in 0..frames.len() {
                    let mut columns = [S::ZERO; 12];
                    view.sweep_at::<kinematics::PlaceOf>(frames[f], Reference::World, &[], &mut columns);
                    let rows = &mut out[12 * f..][..12];
                    for i in 0..12 {
                        rows[4 * (i % 3) + i / 3] = columns[i];
                    }
                }
            }
            Self::Jacobian(frame, reference) => view.sweep_at::<kinematics::JacobianOf>(frame, reference, &[], out),
            Self::Velocity(frame, reference) => view.sweep_at::<kinematics::VelocityOf>(frame, reference, &[], out),
            Self::Com => view.sweep::<centroidal::CentreOfMass>(&[], out),
            Self::PotentialEnergy => view.sweep::<centroidal::PotentialEnergy>(&[], out),
            Self::KineticEnergy => view.sweep::<centroidal::KineticEnergy>(&[], out),
            // As a view does it, which matters where joints follow others by curves.
            Self::Bias if const { S::LANES == 1 } => view.sweep::<inverse::Bias>(&[], out),
            // Where nothing is given, input and velocities are zero.
            Self::InverseDynamics | Self::Bias | Self::GravityTorque => {
                view.sweep::<inverse::Inverse>(input, out);
            }
            Self::ForwardDynamics => {
                view.sweep::<forward::Forward>(input, out);
                view.refine(input, out);
            }
            Self::MassMatrix | Self::MassEntries => {
                if const { S::LANES > 1 } && view.mechanism.is_coupled() {
                    view.coupled_mass_list(out);
                } else if const { S::LANES > 1 } {
                    view.sweep_lanes::<mass_elements::MassElements>(&[], out);
                } else if let Self::MassMatrix = self {
                    view.sweep::<composite::MassMatrix>(&[], out);
                } else {
                    view.mass_entries(out);
                }
            }
            Self::MassMatrixInverse => view.mass_inverse(out),
        }
        Ok(())
    }
}
