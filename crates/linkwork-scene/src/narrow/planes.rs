//! Shapes on a plane.

use super::TouchPoint;
use crate::ColliderShape;
use linkwork::spatial::{Pose, Vec3};

/// Up to this sine of its tilt a cylinder stands on points that are fixed to it.
const UPRIGHT: f64 = 0.02;

/// The points of a shape that are nearest to a plane: one of a ball or an ellipsoid, two of a capsule, corners of a box, rims of a
/// cylinder.
#[inline(always)]
pub(super) fn on_plane(shape: &ColliderShape, at: &Pose, plane: &Pose, margin: f64, out: &mut Vec<TouchPoint>) {
    let normal = plane.rotation.z;
    let first = out.len();
    let mut add = |feature: usize, point: Vec3| {
        let gap = (point - plane.translation).dot(normal);
        if gap < margin {
            let feature = feature as u32;
            out.push(TouchPoint {
                feature,
                point,
                normal,
                gap,
            });
        }
    };
    let down = at.rotation.inverse_mul(-normal);
    match *shape {
        ColliderShape::Sphere { .. } | ColliderShape::Ellipsoid { .. } => add(0, at.point(shape.support(down))),
        ColliderShape::Capsule { radius, half } => {
            for (i, z) in [-half, half].into_iter().enumerate() {
                add(i, at.point(Vec3::new(0.0, 0.0, z)) - normal * radius);
            }
        }
        ColliderShape::Cuboid { half } => {
            for (i, corner) in corners(half).into_iter().enumerate() {
                add(i, at.point(corner));
            }
        }
        ColliderShape::Cylinder { radius, half } => {
            // The lowest line, and points beside it, so that it stands on either end.
            let across = down.x.hypot(down.y);
            let (x, y) = match across > UPRIGHT {
                true => (down.x / across, down.y / across),
                false => (1.0, 0.0),
            };
            for (end, z) in [-half, half].into_iter().enumerate() {
                for (i, (c, s)) in [(x, y), (-y, x), (y, -x), (-x, -y)].into_iter().enumerate() {
                    add(4 * end + i, at.point(Vec3::new(radius * c, radius * s, z)));
                }
            }
        }
        ColliderShape::Hull(ref hull) => {
            for (i, corner) in hull.corners().iter().enumerate() {
                add(i, at.point(*corner));
            }
            super::convex::thin(out, first, &super::convex::tangents(normal));
        }
        ColliderShape::HeightField(_) | ColliderShape::Plane => {}
    }
}

/// The corners of a box, numbered by the signs of x, y and z.
#[inline(always)]
pub(super) fn corners(half: Vec3) -> [Vec3; 8] {
    core::array::from_fn(|i| {
        let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        Vec3::new(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z)
    })
}
