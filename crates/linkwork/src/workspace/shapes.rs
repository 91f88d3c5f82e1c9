//! What every sweep takes and gives, for mechanisms in which joints follow others.
//!
//! A sweep of the table in [`super::sweeps`] has a line here.

use super::coupled::Shape;
use super::sweeps::Listed;
use crate::dynamics::diagonal::{evaluate, papers, rates, skew, terms};
use crate::dynamics::linearized::{
    self, forward as linearized_forward, inverse as linearized_inverse, products, regressor,
};
use crate::dynamics::{
    centroidal, composite, coriolis, embedded, forward, inverse, inverse_mass, kinematics, operational,
};
use crate::operator::{articulate, diagonal as factors, innovations};

/// A sweep that can be run for coupled mechanisms, or refused.
pub(crate) trait Shaped: Listed {
    /// What it takes and gives per degree of freedom.
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

macro_rules! shapes {
    ($($room:ident::$name:ident: $shape:ident $(with $other:ident::$partner:ident)?),* $(,)?) => {
        $(impl Shaped for $room::$name {
            const SHAPE: Shape = Shape::$shape;
            type Partner = partner!($room::$name $(, $other::$partner)?);
        })*
    };
}

shapes![
    super::Configure: Plain,
    kinematics::LinkPoses: Plain,
    kinematics::Placements: Plain,
    kinematics::Columns: Plain,
    kinematics::Velocities: Plain,
    kinematics::PlaceOf: Plain,
    kinematics::VelocityOf: Plain,
    kinematics::JacobianOf: Columns,
    kinematics::JacobianRateOf: ColumnsRate with kinematics::JacobianOf,
    centroidal::CentreOfMass: Plain,
    centroidal::ComJacobian: Columns,
    centroidal::KineticEnergy: Plain,
    centroidal::PotentialEnergy: Plain,
    centroidal::Momentum: Plain,
    centroidal::MomentumMatrix: Columns,
    centroidal::MomentumMatrixRate: ColumnsRate with centroidal::MomentumMatrix,
    inverse::Inverse: Dynamics,
    inverse::InverseAgain: Dynamics,
    inverse::Bias: Dynamics with inverse::MassTimes,
    inverse::Coriolis: Dynamics with inverse::MassTimes,
    inverse::Gravity: Torques,
    inverse::MassTimes: Torques,
    coriolis::CoriolisMatrix: CoriolisForm with composite::MassMatrix,
    composite::MassMatrix: Form,
    composite::CompositeOf: Plain,
    composite::ArticulatedOf: Tree,
    articulate::Articulate: Tree,
    innovations::InverseMassTimes: Motions,
    factors::TotalRates: Plain,
    factors::JointRates: Plain,
    factors::WorkingMoments: Plain,
    factors::JointTorques: Plain,
    inverse_mass::MassMatrixInverse: Inverse with composite::MassMatrix,
    forward::Forward: Forward,
    forward::ForwardKeeping: Forward,
    forward::ForwardBiasFree: BiasFree,
    forward::ForwardBiased: BiasFree,
    forward::Gains: Plain,
    forward::Pivots: Plain,
    forward::Reactions: Plain,
    forward::ForcesFromAccelerations: Plain,
    embedded::Embed: Plain,
    embedded::ForwardEmbedded: Plain,
    embedded::InverseMassEmbedded: Plain,
    operational::HomeGains: Plain,
    operational::Compliance: Plain,
    operational::InnovationsOfForces: Plain,
    operational::FromInnovations: Plain,
    evaluate::Settle: Plain,
    evaluate::TotalAccelerations: Plain,
    evaluate::Onward: Tree,
    rates::ForwardDiagonalized: Plain,
    rates::FactorRate: Plain,
    skew::SkewMatrix: Plain,
    papers::PapersRecursions: Tree,
    terms::CoriolisTerms: Tree,
    terms::ArticulatedRates: Plain,
    linearized::Linearize: Plain,
    linearized_inverse::InverseDerivatives: Plain,
    linearized_forward::ForwardDerivatives: Plain,
    products::TorqueChange: Plain,
    products::TorqueAdjoint: Plain,
    products::AccelerationChange: Plain,
    products::AccelerationAdjoint: Plain,
    regressor::Regressor: Plain,
];
