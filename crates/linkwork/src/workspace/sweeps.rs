//! All sweeps, compiled once.
//!
//! A program that uses `f64` finds the sweeps compiled in this library, for every instruction set, and builds in no
//! time. Other scalars compile them where they are used.

use crate::dynamics::{centroidal, composite, coriolis, forward, inverse, inverse_mass, kinematics};
use crate::operator::innovations;
use crate::scalar::Scalar;
use crate::simd::Ready;
use core::any::Any;

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
        #[derive(Debug)]
        pub(super) struct Sweeps<S>([Ready<S>; [$(Place::$name as usize),*].len()]);

        impl<S: Scalar> Sweeps<S> {
            const ALL: Self = Self([$(Ready::new::<$room::$name>()),*]);
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

impl<S: Scalar> Sweeps<S> {
    /// The table of a scalar.
    pub(super) fn table() -> &'static Self {
        if !S::SHIPPED {
            return &Self::ALL;
        }
        let shipped: &'static dyn Any = &F64;
        match shipped.downcast_ref() {
            Some(table) => table,
            None => unreachable!("f64 alone is shipped"),
        }
    }

    /// A sweep, ready to run.
    #[inline(always)]
    pub(super) fn of<W: Listed>(&self) -> &Ready<S> {
        &self.0[W::PLACE]
    }
}
