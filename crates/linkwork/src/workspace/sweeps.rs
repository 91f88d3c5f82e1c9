//! All sweeps, compiled once.
//!
//! A program that uses `f64` finds the sweeps compiled in this library, for every instruction set, and builds in no
//! time. Other scalars compile them where they are used.

use crate::dynamics::{centroidal, composite, coriolis, forward, inverse, inverse_mass, kinematics};
use crate::model::Compiled;
use crate::operator::innovations;
use crate::scalar::Scalar;
use crate::simd::{At, Sweep, widest};
use crate::stage::Stages;
use core::any::Any;

/// A sweep, ready to run.
type Run<S> = fn(&Compiled, &mut Stages<S>, At<'_>, &[S], &mut [S]);

/// A sweep that has its place in the table.
pub(super) trait Listed {
    const PLACE: usize;
}

macro_rules! sweeps {
    ($($room:ident::$name:ident),* $(,)?) => {
        #[allow(dead_code, clippy::enum_variant_names)]
        enum Place { $($name),* }

        $(impl Listed for $room::$name {
            const PLACE: usize = Place::$name as usize;
        })*

        /// Every sweep over one scalar.
        struct Sweeps<S>([Run<S>; [$(Place::$name as usize),*].len()]);

        impl<S: Scalar> Sweeps<S> {
            const ALL: Self = Self([$(widest::<$room::$name, S>),*]);
        }
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
    inverse::Bias,
    inverse::Coriolis,
    inverse::Gravity,
    inverse::MassTimes,
    coriolis::CoriolisMatrix,
    composite::MassMatrix,
    composite::CompositeOf,
    composite::ArticulatedOf,
    innovations::InverseMassTimes,
    inverse_mass::MassMatrixInverse,
    forward::Forward,
    forward::ForwardKeeping,
    forward::ForwardBiasFree,
    forward::ForwardBiased,
    forward::Gains,
    forward::Reactions,
    forward::ForcesFromAccelerations,
];

static F64: Sweeps<f64> = Sweeps::ALL;

/// The table entry of a sweep.
#[inline(always)]
pub(super) fn compiled<W: Sweep<S> + Listed, S: Scalar>() -> Run<S> {
    let table: &'static Sweeps<S> = if S::SHIPPED {
        let shipped: &'static dyn Any = &F64;
        match shipped.downcast_ref() {
            Some(table) => table,
            None => unreachable!("f64 alone is shipped"),
        }
    } else {
        &Sweeps::ALL
    };
    table.0[W::PLACE]
}
