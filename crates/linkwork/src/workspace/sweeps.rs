//! All sweeps, one line each: declared here, compiled once.
//!
//! A program that uses `f64` finds the sweeps compiled in this library, for every instruction set, and builds in no
//! time. Other scalars compile them where they are used.

use crate::coupled::dynamics as embedded;
use crate::coupled::workspace::Shape;
use crate::dynamics::diagonal::{evaluate, factors, papers, rates, skew, terms};
use crate::dynamics::linearized::{
    self, forward as linearized_forward, inverse as linearized_inverse, products, regressor,
};
use crate::dynamics::{
    centroidal, composite, coriolis, forward, innovations, inverse, inverse_mass, kinematics, operational, passivity,
    reduced,
};
use crate::scalar::{Builds, Scalar};
use crate::simd::Instructions;
use crate::stage::Fills;
use crate::sweep::{Packed, Ready, Sweep};
use core::any::Any;

/// A sweep that has a line in the table.
pub(crate) trait Listed {
    /// Its place there.
    const PLACE: usize;
    /// What it takes and gives per degree of freedom: how it meets joints that follow others, or that it is refused there.
    const SHAPE: Shape;
    /// Another sweep that its shape needs where couplings are curved; most need none and name themselves.
    type Partner: Listed;
}

macro_rules! partner {
    ($own:ty) => {
        $own
    };
    ($own:ty, $other:ty) => {
        $other
    };
}

macro_rules! sweeps {
    ($($room:ident::$name:ident: $shape:ident $(with $other:ident::$partner:ident)? $(, $often:ident)?;)*) => {
        #[allow(dead_code, clippy::enum_variant_names)]
        enum Place { $($name),* }

        $(impl Listed for $room::$name {
            const PLACE: usize = Place::$name as usize;
            const SHAPE: Shape = Shape::$shape;
            type Partner = partner!($room::$name $(, $other::$partner)?);
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

// A sweep: what it takes and gives, and how it is built.
sweeps! {
    super::Configure: Plain, Packed;
    kinematics::LinkPoses: Plain, Packed;
    kinematics::Placements: Plain;
    kinematics::Columns: Plain, Packed;
    kinematics::Velocities: Plain;
    kinematics::PlaceOf: Plain;
    kinematics::VelocityOf: Plain;
    kinematics::JacobianOf: Columns;
    kinematics::JacobianRateOf: ColumnsRate with kinematics::JacobianOf;
    centroidal::CentreOfMass: Plain;
    centroidal::ComJacobian: Columns;
    centroidal::KineticEnergy: Plain;
    centroidal::PotentialEnergy: Plain;
    centroidal::Momentum: Plain;
    centroidal::MomentumMatrix: Columns;
    centroidal::MomentumMatrixRate: ColumnsRate with centroidal::MomentumMatrix;
    inverse::Inverse: Dynamics, Packed;
    inverse::InverseAgain: Dynamics;
    inverse::Bias: Dynamics with inverse::MassTimes;
    inverse::Coriolis: Dynamics with inverse::MassTimes;
    inverse::Gravity: Torques;
    inverse::MassTimes: Torques;
    coriolis::CoriolisMatrix: CoriolisForm with composite::MassMatrix;
    passivity::CoriolisTimes: Plain;
    passivity::CoriolisTransposed: Plain;
    passivity::ReferenceTorque: Plain;
    passivity::ReferenceAdjoint: Plain;
    composite::MassMatrix: Form, Packed;
    composite::CompositeOf: Plain;
    composite::ArticulatedOf: Tree;
    innovations::Articulate: Tree;
    innovations::InverseMassTimes: Motions, Often;
    factors::TotalRates: Plain;
    factors::JointRates: Plain;
    factors::WorkingMoments: Plain;
    factors::JointTorques: Plain;
    inverse_mass::MassMatrixInverse: Inverse with composite::MassMatrix, Packed;
    forward::Forward: Forward, Packed;
    forward::ForwardKeeping: Forward;
    forward::ForwardBiasFree: BiasFree;
    forward::ForwardBiased: BiasFree;
    forward::Gains: Plain;
    forward::Pivots: Plain, Often;
    forward::Reactions: Plain;
    forward::ForcesFromAccelerations: Plain;
    embedded::Embed: Plain;
    embedded::ForwardEmbedded: Plain, Often;
    embedded::InverseMassEmbedded: Plain;
    reduced::ReducedInverse: Plain, Packed;
    reduced::ReducedProduct: Plain, Packed;
    operational::HomeGains: Plain;
    operational::Compliance: Plain;
    operational::Compliances: Plain, Often;
    operational::LogDetGradient: Tree;
    operational::InnovationsOfForces: Plain;
    operational::FromInnovations: Plain;
    evaluate::Settle: Plain, Often;
    evaluate::TotalAccelerations: Plain, Often;
    evaluate::Onward: Tree, Often;
    rates::ForwardDiagonalized: Plain;
    rates::FactorRate: Plain;
    skew::SkewMatrix: Plain;
    papers::PapersRecursions: Tree;
    terms::CoriolisTerms: Tree;
    terms::ArticulatedRates: Plain;
    linearized::Linearize: Plain, Packed;
    linearized_inverse::InverseDerivatives: Plain, Packed;
    linearized_forward::ForwardDerivatives: Plain, Packed;
    products::TorqueChange: Plain;
    products::TorqueAdjoint: Plain;
    products::AccelerationChange: Plain;
    products::AccelerationAdjoint: Plain;
    regressor::Regressor: Plain;
}

/// The shipped sweeps over one scalar; none if it is not shipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweeps<S: 'static>(&'static [Ready<S>]);

impl<S: Scalar> Sweeps<S> {
    /// Finds them.
    pub(crate) fn shipped() -> Self {
        let table: &dyn Any = &F64;
        Self(table.downcast_ref().copied().unwrap_or_default())
    }

    /// A sweep, ready to run.
    #[inline(always)]
    pub(crate) fn of<W: Listed + Sweep<S>>(self) -> &'static Ready<S> {
        // In a constant, so that what is shipped is not made once more.
        if const { matches!(S::BUILDS, Builds::Shipped) } {
            &self.0[W::PLACE]
        } else {
            const { &Ready::new::<W>() }
        }
    }
}

/// How stages over a scalar are filled.
pub(crate) fn fills<S: Scalar>(instructions: Instructions) -> &'static Fills<S> {
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
