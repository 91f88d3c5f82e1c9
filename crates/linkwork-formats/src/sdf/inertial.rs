//! Mass and moments of links.

use super::expand::LinkItem;
use super::geometry;
use super::text;
use crate::report::Findings;
use crate::robot::Shape;
use crate::source::At;
use crate::xml::Element;
use linkwork::spatial::{Inertia, Pose};
use std::f64::consts::PI;

/// What a link weighs that does not say, kg; its moments are as large in kg m².
const DEFAULT: f64 = 1.0;
/// Water, in kg/m³.
const DENSITY: f64 = 1000.0;

/// The inertia of a link.
pub(super) fn read(link: &LinkItem<'_>, at: At<'_>, f: &mut Findings) -> Inertia {
    let Some(e) = link.e.child("inertial") else {
        if link.fixed {
            return Inertia::ZERO;
        }
        let message = "it has no <inertial>: SDF gives it 1 kg and moments of 1 kg m²";
        f.doubt(at, "missing-inertia", message, "add <inertial>");
        return Inertia::new(DEFAULT, [0.0; 3], [DEFAULT, 0.0, 0.0, DEFAULT, 0.0, DEFAULT]);
    };
    if matches!(e.attribute("auto").as_deref(), Some("true" | "1")) {
        return from_collisions(link.e, e, at, f);
    }
    let pose = e.child("pose").map_or(Pose::IDENTITY, |p| text::pose(f, p, at));
    let mass = text::number(f, e, "mass", at).unwrap_or(DEFAULT);
    let mut moments = [DEFAULT, 0.0, 0.0, DEFAULT, 0.0, DEFAULT];
    match e.child("inertia") {
        Some(inertia) => {
            for (moment, name) in moments.iter_mut().zip(["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]) {
                *moment = text::number(f, inertia, name, at).unwrap_or(*moment);
            }
        }
        None => {
            let message = "its <inertial> has no <inertia>: SDF gives it moments of 1 kg m²";
            f.doubt(at.seen_at(e.spot()), "missing-inertia", message, "add <inertia>");
        }
    }
    Inertia::new(mass, [0.0; 3], moments).seen_from(&pose)
}

/// The inertia of the shapes that a link collides with.
fn from_collisions(link: Element<'_>, inertial: Element<'_>, at: At<'_>, f: &mut Findings) -> Inertia {
    let common = text::number(f, inertial, "density", at).unwrap_or(DENSITY);
    let mut sum = Inertia::ZERO;
    for e in link.children_named("collision") {
        let density = text::number(f, e, "density", at).unwrap_or(common);
        let pose = e.child("pose").map_or(Pose::IDENTITY, |p| text::pose(f, p, at));
        let body = geometry::shape(e, at, f).and_then(|(shape, turn)| Some((solid(&shape, density)?, turn)));
        match body {
            Some((body, turn)) => sum = sum.with(&body.seen_from(&(pose * turn))),
            None => {
                let message = "the inertia of this shape is not computed: it counts as nothing";
                f.doubt(
                    at.seen_at(e.spot()),
                    "shape-inertia",
                    message,
                    "give the link's <mass> and <inertia>",
                );
            }
        }
    }
    if sum == Inertia::ZERO {
        let message = "its inertia is to come from its collisions, and none of them has any";
        f.error(
            at.seen_at(inertial.spot()),
            "shape-inertia",
            message,
            "give its <mass> and <inertia>",
        );
    }
    sum
}

/// The inertia of a solid shape.
fn solid(shape: &Shape, density: f64) -> Option<Inertia> {
    let ball = |r: f64| 4.0 / 3.0 * PI * r * r * r * density;
    let rod = |r: f64, l: f64| PI * r * r * l * density;
    let body = match *shape {
        Shape::Cuboid { edges } => Inertia::cuboid(edges.x * edges.y * edges.z * density, edges),
        Shape::Cylinder { radius, length } => Inertia::cylinder(rod(radius, length), radius, length),
        Shape::Sphere { radius } => Inertia::sphere(ball(radius), radius),
        Shape::Capsule { radius: r, length: l } => {
            let (balls, middle) = (ball(r), rod(r, l));
            let across = middle * (r * r / 4.0 + l * l / 12.0) + balls * (0.4 * r * r + l * l / 4.0 + 0.375 * l * r);
            let along = middle * r * r / 2.0 + balls * 0.4 * r * r;
            Inertia::new(balls + middle, [0.0; 3], [across, 0.0, 0.0, across, 0.0, along])
        }
        Shape::Ellipsoid { radii } => {
            let mass = 4.0 / 3.0 * PI * radii.x * radii.y * radii.z * density;
            let [x, y, z] = [radii.x, radii.y, radii.z].map(|r| mass / 5.0 * r * r);
            Inertia::new(mass, [0.0; 3], [y + z, 0.0, 0.0, x + z, 0.0, x + y])
        }
        Shape::Plane | Shape::Mesh { .. } => return None,
    };
    Some(body)
}
