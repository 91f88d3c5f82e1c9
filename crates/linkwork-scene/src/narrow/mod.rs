//! How two shapes meet: points, normals and gaps.
//!
//! A feature number tells the points of a pair apart and stays with a point from step to step.

mod boxes;
mod convex;
mod gjk;
mod height_fields;
mod planes;
mod round_shapes;

use crate::ColliderShape;
use linkwork::spatial::{Pose, Vec3};

/// A point of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchPoint {
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
    fn touch(
        &self,
        a: &ColliderShape,
        at: &Pose,
        b: &ColliderShape,
        bt: &Pose,
        margin: f64,
        out: &mut Vec<TouchPoint>,
    ) -> bool;

    /// Whether it knows such a pair.
    fn knows(&self, a: &ColliderShape, b: &ColliderShape) -> bool;
}

/// Closed forms where there are some: everything against planes and the triangles of height fields, spheres, capsules and boxes against each other, spheres and
/// capsules against cylinders. All other pairs by the nearest points of convex shapes.
///
/// ```
/// use linkwork::spatial::Pose;
/// use linkwork_scene::{ClosedForm, ColliderShape, Narrow};
/// let (ball, ground) = (ColliderShape::Sphere { radius: 0.1 }, ColliderShape::Plane);
/// let mut points = Vec::new();
/// ClosedForm.touch(&ball, &Pose::from_translation([0.0, 0.0, 0.09]), &ground, &Pose::IDENTITY, 0.01, &mut points);
/// assert!(points.len() == 1 && (points[0].gap + 0.01).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ClosedForm;

impl Narrow for ClosedForm {
    fn touch(
        &self,
        a: &ColliderShape,
        at: &Pose,
        b: &ColliderShape,
        bt: &Pose,
        margin: f64,
        out: &mut Vec<TouchPoint>,
    ) -> bool {
        use ColliderShape::{Capsule, Cuboid, Cylinder, HeightField, Plane, Sphere};
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
        linkwork::workspace::call(Touches, (a, at, b, bt, margin, out));
        true
    }

    fn knows(&self, a: &ColliderShape, b: &ColliderShape) -> bool {
        let ground = |shape: &ColliderShape| matches!(shape, ColliderShape::Plane | ColliderShape::HeightField(_));
        !(ground(a) && ground(b))
    }
}

linkwork::functions! {
    /// The points of two shapes of which the first is no ground, nor rounder if it is the second.
    fn Touches((a, at, b, bt, margin, out): (&ColliderShape, &Pose, &ColliderShape, &Pose, f64, &mut Vec<TouchPoint>)) -> () {
        use ColliderShape::{Capsule, Cuboid, Cylinder, HeightField, Plane, Sphere};
        match (a, b) {
            (_, HeightField(field)) => height_fields::on_field(a, at, field, bt, margin, out),
            (_, Plane) => planes::on_plane(a, at, bt, margin, out),
            (Sphere { .. } | Capsule { .. }, Sphere { .. } | Capsule { .. }) => round_shapes::rounds(a, at, b, bt, margin, out),
            (Sphere { radius }, Cuboid { .. } | Cylinder { .. }) => {
                round_shapes::ball_on(at.translation, *radius, 0, b, bt, margin, out);
            }
            (Capsule { radius, half }, Cuboid { .. } | Cylinder { .. }) => {
                round_shapes::capsule_on(*radius, *half, at, b, bt, margin, out);
            }
            (Cuboid { half }, Cuboid { half: other }) => boxes::boxes(*half, at, *other, bt, margin, out),
            _ => convex::convex(a, at, b, bt, margin, out),
        }
    }
}
