//! Equality constraints: loops and couplings.

use super::body::Bodies;
use super::expand::Item;
use crate::actuators::TendonPath;
use crate::draft::{Draft, Placed};
use crate::numbers;
use crate::report::Findings;
use crate::robot::{FileCoupling, Loop};
use crate::rotations::quaternion;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::closed::{ConstraintKind, Side};
use linkwork::model::WORLD;
use linkwork::spatial::{Pose, Rotation};

/// What a constraint refers to.
fn references(e: Element<'_>) -> Vec<(&'static str, String)> {
    let kinds = [
        ("joint1", "joint"),
        ("joint2", "joint"),
        ("body1", "body"),
        ("body2", "body"),
        ("site1", "site"),
        ("site2", "site"),
        ("tendon1", "tendon"),
        ("tendon2", "tendon"),
    ];
    let named = kinds
        .iter()
        .filter_map(|(attribute, tag)| Some((*tag, e.attribute(attribute)?.into_owned())));
    named.filter(|(tag, name)| *tag != "body" || name != WORLD).collect()
}

/// Adds the equality constraints to the draft.
pub(super) fn read(bodies: &Bodies<'_>, draft: &mut Draft, f: &mut Findings) {
    let loops = draft.loops.len();
    let mut first = None;
    for item in bodies.tree.elements("equality", references, f) {
        let e = item.e;
        let at = e.at();
        let d = bodies.model(&item).defaults.apply(e, None, f);
        if d.attribute("active").as_deref() == Some("false") {
            f.note(
                at,
                "inactive-constraint",
                "a constraint that is switched off is left out",
                "",
            );
            continue;
        }
        match e.name() {
            "connect" | "weld" => {
                if let Some(found) = closed(&item, bodies, at, f) {
                    draft.loops.push(found);
                    first = first.or(Some(at));
                }
            }
            "joint" => coupling(&item, bodies, at, draft, f),
            "tendon" => tendons(&item, bodies, at, draft, f),
            other => {
                let message = format!("an equality <{}> is not modelled", shortened(other));
                f.doubt(at, "unsupported-constraint", message, "the robot moves without it");
            }
        }
    }
    if let Some(at) = first {
        let message = match draft.loops.len() - loops {
            1 => "it closes a loop; the mechanism is the open tree".to_owned(),
            n => format!("{n} loops are closed; the mechanism is the open tree"),
        };
        f.note(
            at,
            "closed-loop",
            message,
            "`linkwork simulate` and `Robot::closed` close them",
        );
    }
}

/// A connect or weld, between two bodies or two sites.
fn closed(item: &Item<'_>, bodies: &Bodies<'_>, at: At<'_>, f: &mut Findings) -> Option<Loop> {
    let e = item.e;
    let full = |tag: &str, name: &str| bodies.tree.resolve(item.space, tag, name);
    let welded = e.name() == "weld";
    let kind = if welded {
        ConstraintKind::Weld
    } else {
        ConstraintKind::Point
    };
    let name = bodies.tree.name(item).unwrap_or_default();
    let mut unknown = |what: &str, name: &str| {
        let message = format!("there is no {what} `{}`", shortened(name));
        f.error(at, "constraint", message, "correct the name");
        None
    };
    if let (Some(first), Some(second)) = (e.attribute("site1"), e.attribute("site2")) {
        let mut site = |name: &str| {
            let found = full("site", name).and_then(|n| bodies.sites.get(&n).cloned());
            found.or_else(|| unknown("site", name))
        };
        let (first, second) = (site(&first)?, site(&second)?);
        return Some(Loop {
            name,
            kind,
            side: Side::Both,
            first,
            second,
        });
    }
    let mut body = |which: &str| {
        let written = e.attribute(which).unwrap_or(WORLD.into());
        let name = match &*written {
            WORLD => Some(WORLD.to_owned()),
            name => full("body", name),
        };
        match name.and_then(|n| bodies.placed.get(&n).map(|p| (n.clone(), *p))) {
            Some(found) => Some(found),
            None => unknown("body", &written),
        }
    };
    let ((first, x1), (second, x2)) = (body("body1")?, body("body2")?);
    let anchor = numbers::vector(f, e, "anchor", at).unwrap_or_default();
    let anchor = Pose::from_translation(anchor);
    let apart = x1.inverse() * x2;
    let (first_at, second_at) = if welded {
        let given = numbers::several::<7>(f, e, "relpose", at);
        // A quaternion of zeros, as by default, means the pose in which the file is written.
        let given = given.and_then(|[x, y, z, a, b, c, d]| Some((quaternion([a, b, c, d])?, [x, y, z])));
        let relative = given.map_or(apart, |(r, p): (Rotation, _)| Pose::new(r, p));
        (relative * anchor, anchor)
    } else {
        (anchor, apart.inverse() * anchor)
    };
    Some(Loop {
        name,
        kind,
        side: Side::Both,
        first: (first, first_at),
        second: (second, second_at),
    })
}

/// A tendon's length as a polynomial of another's, or a constant: a coupling, if two joints are in it or one is.
fn tendons(item: &Item<'_>, bodies: &Bodies<'_>, at: At<'_>, draft: &mut Draft, f: &mut Findings) {
    let e = item.e;
    let joints = |which: &str| -> Option<Vec<(String, f64)>> {
        let name = bodies.tree.resolve(item.space, "tendon", &e.attribute(which)?)?;
        let tendon = draft.tendons.iter().find(|t| t.name == name)?;
        match &tendon.path {
            TendonPath::Fixed { joints } => Some(joints.iter().filter(|(_, c)| *c != 0.0).cloned().collect()),
            TendonPath::Spatial { .. } => None,
        }
    };
    let given = coefficients(e, at, f);
    let reference = |name: &str| bodies.references.get(name).copied().unwrap_or(0.0);
    let (first, second) = (joints("tendon1"), joints("tendon2"));
    let (follower, leader, given) = match (first.as_deref(), second.as_deref(), e.attribute("tendon2")) {
        // a (y − y₀) = c₀ + c₁ b (x − x₀) + …
        (Some([(y, a)]), Some([(x, b)]), _) => {
            let scaled = core::array::from_fn(|i| given[i] * b.powi(i as i32) / a);
            (y.clone(), Some(x.clone()), scaled)
        }
        // a (y − y₀) + b (x − x₀) = c₀.
        (Some([(y, a), (x, b)]), None, None) => (y.clone(), Some(x.clone()), [given[0] / a, -b / a, 0.0, 0.0, 0.0]),
        (Some([(y, a)]), None, None) => (y.clone(), None, [given[0] / a, 0.0, 0.0, 0.0, 0.0]),
        _ => {
            let message = "an equality of tendons is modelled between two joints alone; it is left out";
            f.doubt(at, "unsupported-constraint", message, "the robot moves without it");
            return;
        }
    };
    push_coupling(item, bodies, follower, leader, given, &reference, draft);
}

/// The coefficients of a polynomial, by MuJoCo's default those of equality.
fn coefficients(e: Element<'_>, at: At<'_>, f: &mut Findings) -> [f64; 5] {
    let mut given = [0.0, 1.0, 0.0, 0.0, 0.0];
    if let Some(list) = numbers::list(f, e, "polycoef", at, numbers::Range::Usable) {
        for (slot, x) in given.iter_mut().zip(list) {
            *slot = x;
        }
    }
    given
}

/// A polynomial of one joint's displacement, or a constant.
fn coupling(item: &Item<'_>, bodies: &Bodies<'_>, at: At<'_>, draft: &mut Draft, f: &mut Findings) {
    let e = item.e;
    let given = coefficients(e, at, f);
    let full = |name: &str| {
        bodies
            .tree
            .resolve(item.space, "joint", name)
            .unwrap_or(name.to_owned())
    };
    let follower = full(&e.attribute("joint1").unwrap_or_default());
    let leader = e.attribute("joint2").map(|j| full(&j));
    let reference = |name: &str| bodies.references.get(name).copied().unwrap_or(0.0);
    push_coupling(item, bodies, follower, leader, given, &reference, draft);
}

/// Adds y − y₀ = Σ a (x − x₀)ⁱ, by Horner's rule on polynomials of x.
fn push_coupling(
    item: &Item<'_>,
    bodies: &Bodies<'_>,
    follower: String,
    leader: Option<String>,
    given: [f64; 5],
    reference: &dyn Fn(&str) -> f64,
    draft: &mut Draft,
) {
    let x0 = leader.as_deref().map_or(0.0, reference);
    let mut coefficients = vec![0.0; 5];
    for a in given.into_iter().rev() {
        for i in (0..5).rev() {
            let below = if i > 0 { coefficients[i - 1] } else { 0.0 };
            coefficients[i] = below - x0 * coefficients[i];
        }
        coefficients[0] += a;
    }
    coefficients[0] += reference(&follower);
    if leader.is_none() {
        coefficients.truncate(1);
    }
    while coefficients.len() > 2 && coefficients.last() == Some(&0.0) {
        coefficients.pop();
    }
    draft.couplings.push(Placed {
        item: FileCoupling {
            name: bodies.tree.name(item).unwrap_or_default(),
            follower,
            leader,
            coefficients,
        },
        spot: item.e.spot(),
    });
}
