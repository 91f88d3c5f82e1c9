//! All sweeps, compiled once.
//!
//! A program that uses `f64` finds the sweeps compiled in this library, for every instruction set, and builds in no
//! time. Other scalars compile them where they are used.

use crate::dynamics::diagonal::{evaluate, papers, rates, skew, terms};
use crate::dynamics::{centroidal, composite, coriolis, forward, inverse, inverse_mass, kinematics, operational};
use crate::operator::{articulate, diagonal as factors, innovations};
use crate::scalar::{Builds, Scalar};
use crate::simd::{Ready, Sweep};
use core::any::Any;

/// A sweep that has its place in the table.
pub(crate) trait Listed {
    const PLACE: usize;
}

macro_rules! sweeps {
    ($($room:ident::$name:ident),* $(,)?) => {
        #[allow(dead_code, clippy::enum_variant_names)]
        enum Place { $($name),* }

        $(impl Listed for $room::$name {
            const PLACE: usize = Place::$name as usize;
        })*

        static F64: &[Ready<f64>] = &[$(Ready::new::<$room::$name>()),*];
    };
}

sweeps![
    super::Configure,
    kinematics::LinkPoses,
    kinematics::Placements,
    kinematics::Columns,
    kinematics::Velocities,
    kinematics::PlaceOf,
    kinematics::VelocityOf,
    kinematics::JacobianOf,
    kinematics::JacobianRateOf,
    centroidal::CentreOfMass,
    centroidal::ComJacobian,
    centroidal::KineticEnergy,
    centroidal::PotentialEnergy,
    centroidal::Momentum,
    centroidal::MomentumMatrix,
    centroidal::MomentumMatrixRate,
    inverse::Inverse,
    inverse::InverseAgain,
    inverse::Bias,
    inverse::Coriolis,
    inverse::Gravity,
    inverse::MassTimes,
    coriolis::CoriolisMatrix,
    composite::MassMatrix,
    composite::CompositeOf,
    composite::ArticulatedOf,
    articulate::Articulate,
    innovations::InverseMassTimes,
    factors::TotalRates,
    factors::JointRates,
    factors::WorkingMoments,
    factors::JointTorques,
    inverse_mass::MassMatrixInverse,
    forward::Forward,
    forward::ForwardKeeping,
    forward::ForwardBiasFree,
    forward::ForwardBiased,
    forward::Gains,
    forward::Pivots,
    forward::Reactions,
    forward::ForcesFromAccelerations,
    operational::Compliance,
    operational::InnovationsOfForces,
    operational::InnovationsOfTorques,
    operational::FromInnovations,
    evaluate::Settle,
    evaluate::TotalAccelerations,
    evaluate::TwoSweeps,
    rates::ForwardDiagonalized,
    rates::FactorRate,
    skew::SkewMatrix,
    papers::PapersRecursions,
    terms::CoriolisTerms,
    terms::ArticulatedRates,
];

/// The shipped sweeps over one scalar; none if it is not shipped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweeps<S: 'static>(&'static [Ready<S>]);

impl<S: Scalar> Sweeps<S> {
    /// Finds them.
    pub(super) fn shipped() -> Self {
        let table: &dyn Any = &F64;
        Self(table.downcast_ref().copied().unwrap_or_default())
    }

    /// A sweep, ready to run.
    #[inline(always)]
    pub(super) fn of<W: Listed + Sweep<S>>(self) -> &'static Ready<S> {
        if matches!(S::BUILDS, Builds::Shipped) {
            &self.0[W::PLACE]
        } else {
            const { &Ready::new::<W>() }
        }
    }
}
