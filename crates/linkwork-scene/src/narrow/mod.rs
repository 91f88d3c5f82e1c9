//! How two shapes meet: points, normals and gaps.
//!
//! A feature number tells the points of a pair apart and stays with a point from step to step.

mod boxes;
mod convex;
mod flat;
mod gjk;
mod ground;
mod round;

use crate::Shape;
use linkwork::spatial::{Pose, Vec3};

/// A point of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Which point of the pair: the same as long as the same features touch.
    pub feature: u32,
    /// Halfway through the gap; of a plane and a shape, on the shape.
    pub point: Vec3,
    /// From the second shape to the first.
    pub normal: Vec3,
    /// Negative inside.
    pub gap: f64,
}

/// What finds the points of two shapes.
pub trait Narrow {
    /// Adds the points nearer than `margin`, normals from b to a. False if it does not know such a pair.
    fn touch(&self, a: &Shape, at: &Pose, b: &Shape, bt: &Pose, margin: f64, out: &mut Vec<Touch>) -> bool;

    /// Whether it knows such a pair.
    fn knows(&self, a: &Shape, b: &Shape) -> bool;
}

/// Closed forms where there are some: everything against planes and the triangles of height fields, spheres, capsules and boxes against each other, spheres and
/// capsules against cylinders. All other pairs by the nearest points of convex shapes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClosedForm;

impl Narrow for ClosedForm {
    fn touch(&self, a: &Shape, at: &Pose, b: &Shape, bt: &Pose, margin: f64, out: &mut Vec<Touch>) -> bool {
        use Shape::{Capsule, Cuboid, Cylinder, HeightField, Plane, Sphere};
        if let (Plane | HeightField(_), Plane | HeightField(_)) = (a, b) {
            return false;
        }
        if let (Plane | HeightField(_), _) | (Cuboid { .. } | Cylinder { .. }, Sphere { .. } | Capsule { .. }) = (a, b)
        {
            let first = out.len();
            let known = self.touch(b, bt, a, at, margin, out);
            for touch in &mut out[first..] {
                touch.normal = -touch.normal;
            }
            return known;
        }
        linkwork::workspace::call(touch, (a, at, b, bt, margin, out));
        true
    }

    fn knows(&self, a: &Shape, b: &Shape) -> bool {
        let ground = |shape: &Shape| matches!(shape, Shape::Plane | Shape::HeightField(_));
        !(ground(a) && ground(b))
    }
}

/// The points of two shapes of which the first is no ground, nor rounder if it is the second.
#[inline(always)]
fn touch((a, at, b, bt, margin, out): (&Shape, &Pose, &Shape, &Pose, f64, &mut Vec<Touch>)) {
    use Shape::{Capsule, Cuboid, Cylinder, HeightField, Plane, Sphere};
    match (a, b) {
        (_, HeightField(field)) => ground::on_field(a, at, field, bt, margin, out),
        (_, Plane) => flat::on_plane(a, at, bt, margin, out),
        (Sphere { .. } | Capsule { .. }, Sphere { .. } | Capsule { .. }) => round::rounds(a, at, b, bt, margin, out),
        (Sphere { radius }, Cuboid { .. } | Cylinder { .. }) => {
            round::ball_on(at.translation, *radius, 0, b, bt, margin, out);
        }
        (Capsule { radius, half }, Cuboid { .. } | Cylinder { .. }) => {
            round::capsule_on(*radius, *half, at, b, bt, margin, out);
        }
        (Cuboid { half }, Cuboid { half: other }) => boxes::boxes(*half, at, *other, bt, margin, out),
        _ => convex::convex(a, at, b, bt, margin, out),
    }
}
