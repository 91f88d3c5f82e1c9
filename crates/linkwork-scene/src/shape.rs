//! Shapes, about the origins of their frames.

use crate::height_field::HeightField;
use crate::hull::Hull;
use linkwork::spatial::{Pose, Vec3};
use linkwork::{Error, Result};

/// The form of a collider. Lengths are in metres.
///
/// ```
/// use linkwork_scene::ColliderShape;
/// use linkwork::spatial::Vec3;
/// let brick = ColliderShape::Cuboid { half: Vec3::new(0.1, 0.05, 0.03) };
/// assert_ne!(brick, ColliderShape::Plane);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum ColliderShape {
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A cylinder along z with half balls at its ends.
    Capsule {
        /// Its radius.
        radius: f64,
        /// Half the length of the cylinder.
        half: f64,
    },
    /// A box.
    Cuboid {
        /// Half its edges.
        half: Vec3,
    },
    /// A cylinder along z.
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Half its length.
        half: f64,
    },
    /// An ellipsoid along the axes.
    Ellipsoid {
        /// Its half axes.
        radii: Vec3,
    },
    /// The convex hull of points.
    Hull(Hull),
    /// Ground over a grid.
    HeightField(HeightField),
    /// All below z = 0.
    Plane,
}

impl ColliderShape {
    /// A word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sphere { .. } => "sphere",
            Self::Capsule { .. } => "capsule",
            Self::Cuboid { .. } => "box",
            Self::Cylinder { .. } => "cylinder",
            Self::Ellipsoid { .. } => "ellipsoid",
            Self::Hull(_) => "hull",
            Self::HeightField(_) => "height field",
            Self::Plane => "plane",
        }
    }

    /// The radius of a ball about its origin that holds it; none of a plane.
    pub fn reach(&self) -> Option<f64> {
        match *self {
            Self::Sphere { radius } => Some(radius),
            Self::Capsule { radius, half } => Some(radius + half),
            Self::Cuboid { half } => Some(half.norm()),
            Self::Cylinder { radius, half } => Some(radius.hypot(half)),
            Self::Ellipsoid { radii } => Some(radii.x.max(radii.y).max(radii.z)),
            Self::Hull(ref hull) => {
                let (centre, radius) = hull.ball();
                Some(centre.norm() + radius)
            }
            Self::HeightField(ref field) => Some(field.reach()),
            Self::Plane => None,
        }
    }

    /// The radius of a ball about its origin that is inside it; none of a plane.
    pub fn core(&self) -> Option<f64> {
        match *self {
            Self::Sphere { radius } | Self::Capsule { radius, .. } => Some(radius),
            Self::Cuboid { half } => Some(half.x.min(half.y).min(half.z)),
            Self::Cylinder { radius, half } => Some(radius.min(half)),
            Self::Ellipsoid { radii } => Some(radii.x.min(radii.y).min(radii.z)),
            // Its origin may lie outside.
            Self::Hull(_) | Self::HeightField(_) => Some(0.0),
            Self::Plane => None,
        }
    }

    /// The farthest point along a direction, of all that are convex and bounded.
    pub(crate) fn support(&self, d: Vec3) -> Vec3 {
        let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
        match *self {
            Self::Sphere { radius } => d * (radius / d.norm()),
            Self::Capsule { radius, half } => d * (radius / d.norm()) + Vec3::new(0.0, 0.0, half * sign(d.z)),
            Self::Cuboid { half } => Vec3::new(half.x * sign(d.x), half.y * sign(d.y), half.z * sign(d.z)),
            Self::Cylinder { radius, half } => {
                let across = d.x.hypot(d.y);
                let scale = if across > 0.0 { radius / across } else { 0.0 };
                Vec3::new(d.x * scale, d.y * scale, half * sign(d.z))
            }
            Self::Ellipsoid { radii } => {
                let r = Vec3::new(radii.x * d.x, radii.y * d.y, radii.z * d.z);
                let length = r.norm();
                Vec3::new(radii.x * r.x, radii.y * r.y, radii.z * r.z) * length.recip()
            }
            Self::Hull(ref hull) => hull.support(d),
            Self::HeightField(_) | Self::Plane => Vec3::ZERO,
        }
    }

    /// The middle of a box along the world's axes that holds it at a place, and half its edges; none of a plane.
    pub(crate) fn bounds(&self, at: &Pose) -> Option<(Vec3, Vec3)> {
        match self {
            Self::Plane => None,
            Self::Hull(hull) => {
                let (centre, radius) = hull.ball();
                Some((at.point(centre), Vec3::new(radius, radius, radius)))
            }
            Self::HeightField(field) => {
                let (middle, half) = field.bounds();
                let along = |e: Vec3| {
                    let d = at.rotation.inverse_mul(e);
                    half.x * d.x.abs() + half.y * d.y.abs() + half.z * d.z.abs()
                };
                let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|e| along(e.into()));
                Some((at.point(middle), Vec3::new(x, y, z)))
            }
            Self::Sphere { radius } => Some((at.translation, Vec3::new(*radius, *radius, *radius))),
            Self::Capsule { radius, half } => {
                let z = at.rotation.z;
                let along = |z: f64| radius + half * z.abs();
                Some((at.translation, Vec3::new(along(z.x), along(z.y), along(z.z))))
            }
            Self::Cuboid { half } => {
                let r = &at.rotation;
                let along = |x: f64, y: f64, z: f64| half.x * x.abs() + half.y * y.abs() + half.z * z.abs();
                let half = Vec3::new(
                    along(r.x.x, r.y.x, r.z.x),
                    along(r.x.y, r.y.y, r.z.y),
                    along(r.x.z, r.y.z, r.z.z),
                );
                Some((at.translation, half))
            }
            _ => {
                let half = |e: Vec3| {
                    let d = at.rotation.inverse_mul(e);
                    self.support(d).dot(d)
                };
                let axis = |x, y, z| half(Vec3::new(x, y, z));
                let half = Vec3::new(axis(1.0, 0.0, 0.0), axis(0.0, 1.0, 0.0), axis(0.0, 0.0, 1.0));
                Some((at.translation, half))
            }
        }
    }

    /// An error unless it has a volume.
    pub fn check(&self) -> Result<()> {
        let measures = match *self {
            Self::Sphere { radius } => vec![("radius of a sphere", radius)],
            Self::Capsule { radius, half } => vec![("radius of a capsule", radius), ("half length of a capsule", half)],
            Self::Cuboid { half } => vec![
                ("half edge of a box", half.x),
                ("half edge of a box", half.y),
                ("half edge of a box", half.z),
            ],
            Self::Cylinder { radius, half } => {
                vec![("radius of a cylinder", radius), ("half length of a cylinder", half)]
            }
            Self::Ellipsoid { radii } => vec![
                ("half axis of an ellipsoid", radii.x),
                ("half axis of an ellipsoid", radii.y),
                ("half axis of an ellipsoid", radii.z),
            ],
            Self::Hull(_) | Self::HeightField(_) | Self::Plane => vec![],
        };
        match measures.into_iter().find(|(_, x)| !(*x > 0.0 && x.is_finite())) {
            Some((argument, value)) => Err(Error::Duration { argument, value }),
            None => Ok(()),
        }
    }
}
