//! All sweeps, compiled once.
//!
//! A program that uses `f64` finds the sweeps compiled in this library, for every instruction set, and builds in no
//! time. Other scalars compile them where they are used.

use crate::dynamics::diagonal::{evaluate, papers, rates, skew, terms};
use crate::dynamics::linearized::{
    self, forward as linearized_forward, inverse as linearized_inverse, products, regressor,
};
use crate::dynamics::{
    centroidal, composite, coriolis, embedded, forward, inverse, inverse_mass, kinematics, operational,
};
use crate::operator::{articulate, diagonal as factors, innovations};
use crate::scalar::{Builds, Scalar};
use crate::simd::{Instructions, Packed, Ready, Sweep};
use crate::stage::Fills;
use core::any::Any;

/// A sweep that has its place in the table.
pub(crate) trait Listed {
    const PLACE: usize;
}

macro_rules! sweeps {
    ($($room:ident::$name:ident $(as $often:ident)?),* $(,)?) => {
        #[allow(dead_code, clippy::enum_variant_names)]
        enum Place { $($name),* }

        $(impl Listed for $room::$name {
            const PLACE: usize = Place::$name as usize;
        })*

        static F64: &[Ready<f64>] = &[$(ready!($room::$name $(, $often)?)),*];
    };
}

/// A sweep that is run seldom, often, or often and with several columns to a register. Only the latter two are worth the
/// time for every set of instructions.
macro_rules! ready {
    ($sweep:path) => {
        Ready::seldom::<$sweep>()
    };
    ($sweep:path, Often) => {
        Ready::new::<$sweep>()
    };
    ($sweep:path, Packed) => {
        Ready::new::<Packed<$sweep>>()
    };
}

sweeps![
    super::Configure as Packed,
    kinematics::LinkPoses as Packed,
    kinematics::Placements,
    kinematics::Columns as Packed,
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
    inverse::Inverse as Packed,
    inverse::InverseAgain,
    inverse::Bias,
    inverse::Coriolis,
    inverse::Gravity,
    inverse::MassTimes,
    coriolis::CoriolisMatrix,
    composite::MassMatrix as Packed,
    composite::CompositeOf,
    composite::ArticulatedOf,
    articulate::Articulate,
    innovations::InverseMassTimes as Often,
    factors::TotalRates,
    factors::JointRates,
    factors::WorkingMoments,
    factors::JointTorques,
    inverse_mass::MassMatrixInverse as Packed,
    forward::Forward as Packed,
    forward::ForwardKeeping,
    forward::ForwardBiasFree,
    forward::ForwardBiased,
    forward::Gains,
    forward::Pivots as Often,
    forward::Reactions,
    forward::ForcesFromAccelerations,
    embedded::Embed,
    embedded::ForwardEmbedded,
    embedded::InverseMassEmbedded,
    operational::HomeGains,
    operational::Compliance,
    operational::InnovationsOfForces,
    operational::FromInnovations,
    evaluate::Settle as Often,
    evaluate::TotalAccelerations as Often,
    evaluate::Onward as Often,
    rates::ForwardDiagonalized,
    rates::FactorRate,
    skew::SkewMatrix,
    papers::PapersRecursions,
    terms::CoriolisTerms,
    terms::ArticulatedRates,
    linearized::Linearize as Packed,
    linearized_inverse::InverseDerivatives as Packed,
    linearized_forward::ForwardDerivatives as Packed,
    products::TorqueChange,
    products::TorqueAdjoint,
    products::AccelerationChange,
    products::AccelerationAdjoint,
    regressor::Regressor,
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
        // In a constant, so that what is shipped is not made once more.
        if const { matches!(S::BUILDS, Builds::Shipped) } {
            &self.0[W::PLACE]
        } else {
            const { &Ready::new::<W>() }
        }
    }
}

/// How stages over a scalar are filled.
pub(super) fn fills<S: Scalar>(instructions: Instructions) -> &'static Fills<S> {
    if const { !matches!(S::BUILDS, Builds::Shipped) } {
        return instructions.fills();
    }
    let shipped: &dyn Any = fills_of_f64(instructions);
    match shipped.downcast_ref() {
        Some(fills) => fills,
        None => unreachable!("f64 alone is shipped"),
    }
}

/// Not generic and not inlined, so that they are compiled here.
#[inline(never)]
fn fills_of_f64(instructions: Instructions) -> &'static Fills<f64> {
    instructions.fills()
}
