//! Which mass distributions a body can have.

use super::{LARGEST, usable};
use crate::model::Link;
use crate::model::builder::Trust;
use crate::{Error, Result};

/// How far principal moments may break their inequalities, as a part of their sum.
const TOLERANCE: f64 = 1e-9;

/// Refuses masses and moments that no body has.
///
/// Mass is zero or more. Principal moments are zero or more, and none exceeds the sum of the others: a thin plate
/// reaches equality. Moments without mass are accepted as the limit of a light, wide body: rotors are written so.
/// How much of this is asked for is for `trust` to say.
pub(super) fn check(link: &Link, trust: Trust) -> Result<()> {
    let fail = |problem: String| {
        let link = link.name.clone();
        Err(Error::Inertia { link, problem })
    };
    let body = &link.inertia;
    if !(body.mass <= LARGEST && body.mass >= 0.0) {
        return fail(format!(
            "has mass {}; give a finite number of kg, zero or more and at most 1e30",
            body.mass
        ));
    }
    if body.mass > 0.0 && body.mass < f64::MIN_POSITIVE {
        return fail(format!(
            "has mass {:e}, which is too little to compute with; give 0, or at least {:e} kg",
            body.mass,
            f64::MIN_POSITIVE
        ));
    }
    if !usable(body.com) {
        let com = body.com.to_array();
        return fail(format!(
            "has its centre of mass at {com:?}; every component must be finite and at most 1e30 m"
        ));
    }
    if let Some(x) = body.moments.iter().find(|x| x.is_nan() || x.abs() > LARGEST) {
        return fail(format!(
            "has a moment of inertia of {x}; every moment must be finite and at most 1e30 kg m²"
        ));
    }
    if trust == Trust::Any {
        return Ok(());
    }
    let [least, middle, most] = body.principal().0;
    let slack = TOLERANCE * (least.abs() + middle.abs() + most.abs());
    if least < -slack {
        return fail(format!(
            "has a negative principal moment of inertia: {least:e}, {middle:e}, {most:e}; \
             moments are xx, xy, xz, yy, yz, zz about the centre of mass"
        ));
    }
    if trust == Trust::Bodies && most > least + middle + slack {
        return fail(format!(
            "has principal moments of inertia {least:e}, {middle:e}, {most:e}: \
             no body has one above the sum of the other two; check that the moments are xx, xy, xz, yy, yz, zz about \
             the centre of mass, or accept identified parameters as they are with Builder::any_positive_inertia"
        ));
    }
    Ok(())
}
