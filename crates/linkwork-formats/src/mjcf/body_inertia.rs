//! What bodies weigh.

use super::orientation::plain_pose;
use super::{Model, principal_axes};
use crate::numbers;
use crate::report::Findings;
use crate::source::{At, Spot, shortened};
use crate::xml::Element;
use linkwork::spatial::{Inertia, Pose};

/// What a body weighs.
#[derive(Default)]
pub(super) struct Weight {
    pub(super) sum: Inertia,
    /// The frame of its inertia, where one element tells it.
    pub(super) frame: Option<Pose>,
    /// How many geoms counted.
    pub(super) count: usize,
    /// Geoms whose body could not be told, and why.
    pub(super) unknown: Vec<(Spot, String)>,
}

impl Weight {
    /// Reports geoms whose bodies could not be told. A body that moves and weighs nothing else cannot be used.
    pub(super) fn report_unknown(&self, name: &str, moves: bool, at: At<'_>, f: &mut Findings) {
        let Some((spot, first)) = self.unknown.first() else {
            return;
        };
        let more = match self.unknown.len() {
            1 => String::new(),
            n => format!(" (and {} more of this body)", n - 1),
        };
        let advice = "make the mesh readable, or give the body an <inertial>";
        let at = at.seen_at(*spot);
        if moves && self.sum.mass <= 0.0 {
            let message = format!(
                "all mass of the moving body `{}` is that of a mesh which cannot be used: {first}{more}",
                shortened(name)
            );
            f.error(at, "mesh-inertia", message, advice);
        } else {
            let message = format!("the mass of a mesh is not known and counts as nothing: {first}{more}");
            f.doubt(at, "mesh-inertia", message, advice);
        }
    }
}

/// A body's own inertia, and its frame if that is told by more than six moments.
pub(super) fn inertial(model: &Model<'_>, e: Element<'_>, at: At<'_>, f: &mut Findings) -> (Inertia, Option<Pose>) {
    let place = plain_pose(&model.compiler, e, at, f);
    let mass = numbers::needed(f, e, "mass", at);
    let mut full = false;
    let moments = if let Some([xx, yy, zz, xy, xz, yz]) = numbers::several(f, e, "fullinertia", at) {
        full = true;
        [xx, xy, xz, yy, yz, zz]
    } else if let Some([xx, yy, zz]) = numbers::several(f, e, "diaginertia", at) {
        [xx, 0.0, 0.0, yy, 0.0, zz]
    } else {
        let message = "its <inertial> has neither diaginertia nor fullinertia: it is a point mass";
        f.doubt(at.seen_at(e.spot()), "missing-inertia", message, "give one of them");
        [0.0; 6]
    };
    let own = Inertia::new(mass, [0.0; 3], moments).seen_from(&place);
    (own, (!full).then_some(place))
}

/// Whether a free joint moves its body's frame to the centre of mass.
pub(super) fn aligns(model: &Model<'_>, joint: Element<'_>) -> bool {
    match joint.attribute("align").as_deref() {
        Some("true") => true,
        Some("false") => false,
        _ => model.compiler.align,
    }
}

/// The centre of mass and the principal axes, largest moment first.
pub(super) fn principal(body: &Inertia) -> Pose {
    let (_, turn) = principal_axes::principal(body.moments);
    Pose::new(turn, body.com)
}

/// A body as the compiler's options bound and balance it.
pub(super) fn bounded(model: &Model<'_>, body: Inertia) -> Inertia {
    let c = &model.compiler;
    let ([a, b, d], axes) = body.principal();
    let broken = c.balance && d > a + b;
    let small = a < c.least_inertia;
    let mass = body.mass.max(c.least_mass);
    if !broken && !small {
        return Inertia { mass, ..body };
    }
    let mean = (a + b + d) / 3.0;
    let [x, y, z] = if broken {
        [mean; 3]
    } else {
        [a, b, d].map(|m| m.max(c.least_inertia))
    };
    let straight = Inertia::new(mass, [0.0; 3], [x, 0.0, 0.0, y, 0.0, z]);
    Inertia {
        com: body.com,
        ..straight.seen_from(&Pose::from_rotation(axes))
    }
}
