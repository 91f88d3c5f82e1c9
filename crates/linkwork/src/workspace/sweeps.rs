//! All sweeps, one line each: what each of them is stands beside it, in its [`algorithm!`](crate::sweep::algorithm).
//!
//! A program that uses `f64` finds the sweeps compiled in this library, for every instruction set, and builds in no
//! time. Other scalars compile them where they are used.

use crate::scalar::{Builds, Scalar};
use crate::simd::Instructions;
use crate::stage::Fills;
use crate::sweep::{Algorithm, Ready, Sweep};
use core::any::Any;

/// Gives the list to a macro.
macro_rules! all_sweeps {
    ($to:ident) => {
        $to! {
            Configure in workspace;
            LinkPoses in dynamics::kinematics;
            Placements in dynamics::kinematics;
            Columns in dynamics::kinematics;
            Velocities in dynamics::kinematics;
            PlaceOf in dynamics::kinematics;
            VelocityOf in dynamics::kinematics;
            JacobianOf in dynamics::kinematics;
            JacobianRateOf in dynamics::kinematics;
            CentreOfMass in dynamics::centroidal;
            ComJacobian in dynamics::centroidal;
            KineticEnergy in dynamics::centroidal;
            PotentialEnergy in dynamics::centroidal;
            Momentum in dynamics::centroidal;
            MomentumMatrix in dynamics::centroidal;
            MomentumMatrixRate in dynamics::centroidal;
            Inverse in dynamics::inverse;
            InverseAgain in dynamics::inverse;
            Bias in dynamics::inverse;
            Coriolis in dynamics::inverse;
            Gravity in dynamics::inverse;
            MassTimes in dynamics::inverse;
            CoriolisMatrix in dynamics::coriolis;
            CoriolisTimes in dynamics::passivity;
            CoriolisTransposed in dynamics::passivity;
            ReferenceTorque in dynamics::passivity;
            ReferenceAdjoint in dynamics::passivity;
            MassMatrix in dynamics::composite;
            CompositeOf in dynamics::composite;
            ArticulatedOf in dynamics::composite;
            Articulate in dynamics::innovations;
            InverseMassTimes in dynamics::innovations;
            TotalRates in dynamics::diagonal::factors;
            JointRates in dynamics::diagonal::factors;
            WorkingMoments in dynamics::diagonal::factors;
            JointTorques in dynamics::diagonal::factors;
            MassMatrixInverse in dynamics::inverse_mass;
            Forward in dynamics::forward;
            ForwardKeeping in dynamics::forward;
            ForwardBiasFree in dynamics::forward;
            ForwardBiased in dynamics::forward;
            Gains in dynamics::forward;
            Pivots in dynamics::forward;
            Reactions in dynamics::forward;
            ForcesFromAccelerations in dynamics::forward;
            Embed in coupled::dynamics;
            ForwardEmbedded in coupled::dynamics;
            InverseMassEmbedded in coupled::dynamics;
            ReducedInverse in dynamics::coupled_inverse_mass;
            ReducedProduct in dynamics::coupled_inverse_mass;
            HomeGains in dynamics::operational;
            Compliance in dynamics::operational;
            Compliances in dynamics::operational;
            LogDetGradient in dynamics::operational;
            InnovationsOfForces in dynamics::operational;
            FromInnovations in dynamics::operational;
            Settle in dynamics::diagonal::evaluate;
            TotalAccelerations in dynamics::diagonal::evaluate;
            Onward in dynamics::diagonal::evaluate;
            ForwardDiagonalized in dynamics::diagonal::rates;
            FactorRate in dynamics::diagonal::rates;
            SkewMatrix in dynamics::diagonal::skew;
            PapersRecursions in dynamics::diagonal::published_recursions;
            CoriolisTerms in dynamics::diagonal::terms;
            ArticulatedRates in dynamics::diagonal::terms;
            Linearize in dynamics::linearized;
            InverseDerivatives in dynamics::linearized::inverse;
            ForwardDerivatives in dynamics::linearized::forward;
            TorqueChange in dynamics::linearized::products;
            TorqueAdjoint in dynamics::linearized::products;
            AccelerationChange in dynamics::linearized::products;
            AccelerationAdjoint in dynamics::linearized::products;
            Regressor in dynamics::linearized::regressor;
        }
    };
}
pub(crate) use all_sweeps;

/// A sweep that has a line in the list.
pub(crate) trait Listed: Algorithm {
    /// Its place there.
    const PLACE: usize;
}

macro_rules! compiled {
    ($($name:ident in $($room:ident)::+;)*) => {
        #[allow(dead_code, clippy::enum_variant_names)]
        enum Place { $($name),* }

        $(impl Listed for crate::$($room)::+::$name {
            const PLACE: usize = Place::$name as usize;
        })*

        static F64: &[Ready<f64>] = &[$(<crate::$($room)::+::$name as Algorithm>::F64),*];
    };
}
all_sweeps!(compiled);

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
