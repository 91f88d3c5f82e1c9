//! Quantities that are one sweep, as their algorithms declare them.

use super::{Call, Compute, Given, Input, Quantity};
use crate::Result;
use crate::scalar::Scalar;
use crate::sweep::Sweep;
use crate::workspace::Moving;
use crate::workspace::sweeps::{Listed, all_sweeps};

macro_rules! known {
    ($($name:ident in $($room:ident)::+;)*) => {
        /// One for every sweep that users know.
        pub(super) static QUANTITIES: &[Option<Quantity>] = &[$(quantity::<crate::$($room)::+::$name>()),*];

        /// That of a name over any scalar, if it is of the dynamics.
        pub(super) fn over<S: Scalar>(name: &str) -> Option<Call<S>> {
            $(if let Some(call) = named::<S, crate::$($room)::+::$name>(name) {
                return Some(call);
            })*
            None
        }
    };
}
all_sweeps!(known);

const fn quantity<W: Listed<Partner: Listed + Sweep<f64>> + Sweep<f64>>() -> Option<Quantity> {
    match W::KNOWN {
        Some(known) => Some(Quantity::declared(known, Compute::Call(run::<f64, W>))),
        None => None,
    }
}

fn named<S: Scalar, W: Listed<Partner: Listed + Sweep<S>> + Sweep<S>>(name: &str) -> Option<Call<S>> {
    // In a constant, so that what nobody asks for is not made: of places and velocities nobody counts operations.
    if const { W::KNOWN.is_none() || W::SHAPE.is_kinematic() } {
        return None;
    }
    let known = W::KNOWN?;
    (known.head.0 == name).then_some(run::<S, W>)
}

/// A sweep takes at most one vector besides q and q̇, and at most one frame.
fn run<S: Scalar, W: Listed<Partner: Listed + Sweep<S>> + Sweep<S>>(
    moving: &mut Moving<'_, S>,
    given: &Given<'_, S>,
    out: &mut [S],
) -> Result<()> {
    let inputs = W::KNOWN.map_or(&[][..], |known| known.inputs);
    let vector = inputs.iter().find(|i| matches!(i, Input::Qdd | Input::Tau | Input::X));
    let input = vector.map_or(&[][..], |input| given.numbers(*input));
    if let Some(vector) = vector {
        moving.mechanism().check_vector(vector.name(), input)?;
    }
    moving.sweep_known::<W>(given.frame, given.reference, input, out)
}
