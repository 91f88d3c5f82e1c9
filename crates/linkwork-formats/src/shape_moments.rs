//! Moments of shapes, solid and hollow.

use crate::mesh::Moments;
use crate::robot::Shape;
use linkwork::spatial::{Inertia, Vec3};
use std::f64::consts::PI;

fn volume(shape: &Shape) -> Option<f64> {
    Some(match *shape {
        Shape::Sphere { radius } => 4.0 / 3.0 * PI * radius.powi(3),
        Shape::Cuboid { edges } => edges.x * edges.y * edges.z,
        Shape::Cylinder { radius, length } => PI * radius * radius * length,
        Shape::Capsule { radius, length } => PI * radius * radius * (length + 4.0 / 3.0 * radius),
        Shape::Ellipsoid { radii } => 4.0 / 3.0 * PI * radii.x * radii.y * radii.z,
        Shape::Plane | Shape::Mesh { .. } => return None,
    })
}

/// The moments of a solid shape about its own frame; none of planes and meshes.
pub(crate) fn filled(shape: &Shape) -> Option<Moments> {
    let measure = volume(shape)?;
    let body = body(shape, measure)?;
    Some(Moments {
        measure,
        centre: Vec3::ZERO,
        inertia: body.moments,
    })
}

/// The moments of a shape's surface: how those of the solid grow with it. As in MuJoCo the surface of an ellipsoid is a
/// micrometre thick, and its area that of Thomsen's formula.
pub(crate) fn shell(shape: &Shape) -> Option<Moments> {
    let grown = |by: f64| {
        let mut shape = shape.clone();
        match &mut shape {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius += by,
            Shape::Cylinder { radius, length } => {
                *radius += by;
                *length += 2.0 * by;
            }
            Shape::Cuboid { edges } => *edges += Vec3::from([2.0 * by; 3]),
            Shape::Ellipsoid { radii } => *radii += Vec3::from([by; 3]),
            Shape::Plane | Shape::Mesh { .. } => return None,
        }
        let m = filled(&shape)?;
        let [xx, .., zz] = m.inertia;
        Some([m.measure, xx, m.inertia[3], zz])
    };
    // Polynomials of degree five, for which differences over six points are exact.
    let step = 0.05 * volume(shape)?.cbrt();
    let differences: &[_] = match shape {
        Shape::Ellipsoid { .. } => &[(1e6, 1e-6, 0.0)],
        _ => &[
            (45.0, step, -step),
            (-9.0, 2.0 * step, -2.0 * step),
            (1.0, 3.0 * step, -3.0 * step),
        ],
    };
    let mut rate = [0.0; 4];
    for &(weight, more, less) in differences {
        let (up, down) = (grown(more)?, grown(less)?);
        for i in 0..4 {
            rate[i] += weight * (up[i] - down[i]);
        }
    }
    if !matches!(shape, Shape::Ellipsoid { .. }) {
        rate = rate.map(|x| x / (60.0 * step));
    }
    let area = match *shape {
        Shape::Ellipsoid { radii: r } => {
            let p = 1.6075;
            let mean = ((r.x * r.y).powf(p) + (r.y * r.z).powf(p) + (r.x * r.z).powf(p)) / 3.0;
            4.0 * PI * mean.powf(1.0 / p)
        }
        _ => rate[0],
    };
    let [xx, yy, zz] = [rate[1], rate[2], rate[3]].map(|i| i * area / rate[0]);
    Some(Moments {
        measure: area,
        centre: Vec3::ZERO,
        inertia: [xx, 0.0, 0.0, yy, 0.0, zz],
    })
}

/// A solid of a mass about the shape's own frame.
fn body(shape: &Shape, mass: f64) -> Option<Inertia> {
    Some(match *shape {
        Shape::Sphere { radius } => Inertia::sphere(mass, radius),
        Shape::Cuboid { edges } => Inertia::cuboid(mass, edges),
        Shape::Cylinder { radius, length } => Inertia::cylinder(mass, radius, length),
        Shape::Capsule { radius: r, length: l } => {
            let caps = mass * 4.0 * r / (4.0 * r + 3.0 * l);
            let tube = Inertia::cylinder(mass - caps, r, l).moments;
            let across = tube[0] + caps * (0.4 * r * r + l * (0.375 * r + 0.25 * l));
            let along = tube[5] + caps * 0.4 * r * r;
            Inertia::new(mass, [0.0; 3], [across, 0.0, 0.0, across, 0.0, along])
        }
        Shape::Ellipsoid { radii } => {
            let (x, y, z) = (radii.x.powi(2), radii.y.powi(2), radii.z.powi(2));
            let k = mass / 5.0;
            Inertia::new(mass, [0.0; 3], [k * (y + z), 0.0, 0.0, k * (x + z), 0.0, k * (x + y)])
        }
        Shape::Plane | Shape::Mesh { .. } => return None,
    })
}
