//! What all formats ask of shapes.

use crate::report::Findings;
use crate::robot::{Geometry, Shape};
use crate::source::At;

/// Whether a shape has a size.
pub(super) fn extends(g: &Geometry) -> bool {
    let positive = |numbers: &[f64]| numbers.iter().all(|x| *x > 0.0 && x.is_finite());
    match &g.shape {
        Shape::Cuboid { edges } => positive(&edges.to_array()),
        Shape::Cylinder { radius, length } | Shape::Capsule { radius, length } => positive(&[*radius, *length]),
        Shape::Sphere { radius } => positive(&[*radius]),
        Shape::Ellipsoid { radii } => positive(&radii.to_array()),
        Shape::Plane | Shape::Mesh { .. } => true,
    }
}

/// Whether a shape can be written: those without extent are told of and left out.
pub(super) fn has_size(g: &Geometry, f: &mut Findings) -> bool {
    let fits = extends(g);
    if !fits {
        let at = At {
            what: "link",
            name: &g.link,
            ..At::FILE
        };
        f.doubt(at, "lost-shape", "a shape on it has no extent and is left out", "");
    }
    fits
}

/// A colour within bounds.
pub(super) fn colour(rgba: [f64; 4]) -> [f64; 4] {
    rgba.map(|x| if x.is_nan() { 1.0 } else { x.clamp(0.0, 1.0) })
}
