//! Volumes that sensors of touch look at.

use crate::robot::Shape;
use linkwork::spatial::{Pose, Vec3};

/// Whether a ray from a point, in the world, meets a shape at a place or starts in it.
pub(super) fn meets(shape: &Shape, at: &Pose, point: Vec3, ray: Vec3) -> bool {
    let p = at.rotation.inverse_mul(point - at.translation);
    let d = at.rotation.inverse_mul(ray);
    match *shape {
        Shape::Sphere { radius } => ball(p, d, radius),
        Shape::Ellipsoid { radii } => ball(over(p, radii), over(d, radii), 1.0),
        Shape::Cuboid { edges } => {
            let half = (edges * 0.5).to_array();
            let slabs = (0..3).map(|i| slab(p.to_array()[i], d.to_array()[i], half[i]));
            ahead(slabs)
        }
        Shape::Cylinder { radius, length } => ahead([slab(p.z, d.z, 0.5 * length), tube(p, d, radius)]),
        Shape::Capsule { radius, length } => {
            let half = 0.5 * length;
            let end = Vec3::new(0.0, 0.0, half);
            ahead([slab(p.z, d.z, half), tube(p, d, radius)]) || ball(p - end, d, radius) || ball(p + end, d, radius)
        }
        Shape::Plane | Shape::Mesh { .. } => false,
    }
}

fn over(x: Vec3, by: Vec3) -> Vec3 {
    Vec3::new(x.x / by.x, x.y / by.y, x.z / by.z)
}

/// Where a ray is within a slab: from where to where along it; none at all if the second comes first.
fn slab(p: f64, d: f64, half: f64) -> [f64; 2] {
    if d == 0.0 {
        return if p.abs() <= half {
            [f64::NEG_INFINITY, f64::INFINITY]
        } else {
            [f64::INFINITY, f64::NEG_INFINITY]
        };
    }
    let (one, two) = ((-half - p) / d, (half - p) / d);
    [one.min(two), one.max(two)]
}

/// Where it is within a circle: a|x|² + 2bx + c ≤ 0.
fn within(a: f64, b: f64, c: f64) -> [f64; 2] {
    if a == 0.0 {
        return if c <= 0.0 {
            [f64::NEG_INFINITY, f64::INFINITY]
        } else {
            [f64::INFINITY, f64::NEG_INFINITY]
        };
    }
    let square = b * b - a * c;
    if square < 0.0 {
        return [f64::INFINITY, f64::NEG_INFINITY];
    }
    [(-b - square.sqrt()) / a, (-b + square.sqrt()) / a]
}

fn tube(p: Vec3, d: Vec3, radius: f64) -> [f64; 2] {
    within(
        d.x * d.x + d.y * d.y,
        p.x * d.x + p.y * d.y,
        p.x * p.x + p.y * p.y - radius * radius,
    )
}

fn ball(p: Vec3, d: Vec3, radius: f64) -> bool {
    ahead([within(d.dot(d), p.dot(d), p.dot(p) - radius * radius)])
}

/// Whether stretches share something that is not behind.
fn ahead(stretches: impl IntoIterator<Item = [f64; 2]>) -> bool {
    let (mut from, mut to) = (0.0_f64, f64::INFINITY);
    for [one, two] in stretches {
        (from, to) = (from.max(one), to.min(two));
    }
    from <= to
}

#[cfg(test)]
mod tests {
    use super::meets;
    use crate::robot::Shape;
    use linkwork::spatial::{Pose, Vec3};

    #[test]
    fn rays_meet_what_is_ahead_of_them_or_around_their_start() {
        let shapes = [
            Shape::Sphere { radius: 1.0 },
            Shape::Ellipsoid {
                radii: Vec3::new(1.0, 2.0, 3.0),
            },
            Shape::Cuboid {
                edges: Vec3::new(2.0, 4.0, 6.0),
            },
            Shape::Cylinder {
                radius: 1.0,
                length: 6.0,
            },
            Shape::Capsule {
                radius: 1.0,
                length: 4.0,
            },
        ];
        let at = Pose::from_translation([0.0, 0.0, 5.0]);
        let x = Vec3::new(1.0, 0.0, 0.0);
        for shape in &shapes {
            let met = |p: [f64; 3], d: Vec3| meets(shape, &at, p.into(), d);
            assert!(met([-3.0, 0.0, 5.0], x), "{shape:?}");
            assert!(!met([-3.0, 0.0, 5.0], -x), "{shape:?}");
            assert!(met([0.5, 0.0, 5.0], x) && met([0.5, 0.0, 5.0], -x), "{shape:?}");
            assert!(!met([-3.0, 0.0, 9.0], x), "{shape:?}");
            assert!(!met([-3.0, 2.5, 5.0], x), "{shape:?}");
        }
        let capsule = &shapes[4];
        assert!(meets(capsule, &at, Vec3::new(-3.0, 0.0, 7.9), x));
        assert!(!meets(&shapes[3], &at, Vec3::new(-3.0, 0.0, 8.1), x));
    }
}
