//! Balls and capsules, on each other and on boxes and cylinders.

use super::TouchPoint;
use crate::ColliderShape;
use linkwork::spatial::{Pose, Vec3};

/// A segment and a radius.
#[derive(Clone, Copy)]
struct Round {
    a: Vec3,
    b: Vec3,
    radius: f64,
}

#[inline(always)]
fn round(shape: &ColliderShape, at: &Pose) -> Round {
    let (radius, half) = match *shape {
        ColliderShape::Capsule { radius, half } => (radius, half),
        ColliderShape::Sphere { radius } => (radius, 0.0),
        _ => (0.0, 0.0),
    };
    let along = at.rotation.z * half;
    Round {
        a: at.translation - along,
        b: at.translation + along,
        radius,
    }
}

/// Two balls or capsules: the nearest points; of capsules side by side both ends of where they overlap.
#[inline(always)]
pub(super) fn rounds(
    one: &ColliderShape,
    at: &Pose,
    two: &ColliderShape,
    bt: &Pose,
    margin: f64,
    out: &mut Vec<TouchPoint>,
) {
    let (one, two) = (round(one, at), round(two, bt));
    let (d1, d2) = (one.b - one.a, two.b - two.a);
    let (l1, l2) = (d1.norm(), d2.norm());
    let mut add = |feature: u32, p: Vec3, q: Vec3| {
        let (away, apart) = ((p - q).norm(), p - q);
        // Centres that coincide have no direction between them: any will do.
        let normal = if away > 1e-12 {
            apart * away.recip()
        } else {
            Vec3::new(0.0, 0.0, 1.0)
        };
        let gap = away - one.radius - two.radius;
        if gap < margin {
            let point = q + normal * (two.radius + 0.5 * gap);
            out.push(TouchPoint {
                feature,
                point,
                normal,
                gap,
            });
        }
    };
    let parallel = l1 > 0.0 && l2 > 0.0 && d1.cross(d2).norm() < 0.02 * l1 * l2;
    if parallel {
        for (i, end) in [one.a, one.b].into_iter().enumerate() {
            let q = nearest(end, two.a, two.b);
            let p = nearest(q, one.a, one.b);
            add(i as u32, p, q);
        }
        return;
    }
    let (p, q) = segments(one, two);
    add(2, p, q);
}

/// The point of a segment nearest to another.
#[inline(always)]
fn nearest(p: Vec3, a: Vec3, b: Vec3) -> Vec3 {
    let d = b - a;
    let square = d.dot(d);
    if square == 0.0 {
        return a;
    }
    a + d * ((p - a).dot(d) / square).clamp(0.0, 1.0)
}

/// The nearest points of two segments.
#[inline(always)]
fn segments(one: Round, two: Round) -> (Vec3, Vec3) {
    let (d1, d2, r) = (one.b - one.a, two.b - two.a, one.a - two.a);
    let (a, e, f) = (d1.dot(d1), d2.dot(d2), d2.dot(r));
    if a == 0.0 {
        return (one.a, nearest(one.a, two.a, two.b));
    }
    if e == 0.0 {
        return (nearest(two.a, one.a, one.b), two.a);
    }
    let (b, c) = (d1.dot(d2), d1.dot(r));
    let down = a * e - b * b;
    let mut s = if down > 0.0 {
        ((b * f - c * e) / down).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let t = ((b * s + f) / e).clamp(0.0, 1.0);
    s = ((b * t - c) / a).clamp(0.0, 1.0);
    (one.a + d1 * s, two.a + d2 * t)
}

/// A point's distance from the surface of a box or cylinder, and the direction away from it, in the shape's frame.
#[inline(always)]
fn outside(shape: &ColliderShape, p: Vec3) -> (f64, Vec3) {
    match *shape {
        ColliderShape::Cuboid { half } => {
            let q = Vec3::new(
                p.x.clamp(-half.x, half.x),
                p.y.clamp(-half.y, half.y),
                p.z.clamp(-half.z, half.z),
            );
            let away = p - q;
            let distance = away.norm();
            if distance > 1e-12 {
                return (distance, away * distance.recip());
            }
            // Inside: out through the nearest face.
            let (x, h) = (p.to_array(), half.to_array());
            let axis = (0..3).fold(0, |best, i| {
                if h[i] - x[i].abs() < h[best] - x[best].abs() {
                    i
                } else {
                    best
                }
            });
            let mut n = [0.0; 3];
            n[axis] = if x[axis] < 0.0 { -1.0 } else { 1.0 };
            (x[axis].abs() - h[axis], n.into())
        }
        ColliderShape::Cylinder { radius, half } => {
            let across = p.x.hypot(p.y);
            let (cx, cy) = if across > 1e-12 {
                (p.x / across, p.y / across)
            } else {
                (1.0, 0.0)
            };
            let (r, z) = (across - radius, p.z.abs() - half);
            let up = if p.z < 0.0 { -1.0 } else { 1.0 };
            if r > 0.0 && z > 0.0 {
                let distance = r.hypot(z);
                let n = Vec3::new(cx * r, cy * r, up * z) * distance.recip();
                (distance, n)
            } else if r > z {
                (r, Vec3::new(cx, cy, 0.0))
            } else {
                (z, Vec3::new(0.0, 0.0, up))
            }
        }
        _ => (f64::INFINITY, Vec3::new(0.0, 0.0, 1.0)),
    }
}

/// A ball on a box or cylinder.
#[inline(always)]
pub(super) fn ball_on(
    centre: Vec3,
    radius: f64,
    feature: u32,
    shape: &ColliderShape,
    at: &Pose,
    margin: f64,
    out: &mut Vec<TouchPoint>,
) {
    let local = at.rotation.inverse_mul(centre - at.translation);
    let (distance, normal) = outside(shape, local);
    let gap = distance - radius;
    if gap < margin {
        let normal = at.rotation * normal;
        let point = centre - normal * (radius + 0.5 * gap);
        out.push(TouchPoint {
            feature,
            point,
            normal,
            gap,
        });
    }
}

/// A capsule on a box or cylinder: its ends, and the point between them that is nearest, if it is nearer than both; with its axis
/// inside, the shortest way out.
pub(super) fn capsule_on(
    radius: f64,
    half: f64,
    at: &Pose,
    shape: &ColliderShape,
    bt: &Pose,
    margin: f64,
    out: &mut Vec<TouchPoint>,
) {
    let first = out.len();
    let place = |t: f64| at.translation + at.rotation.z * t;
    let distance = |t: f64| outside(shape, bt.rotation.inverse_mul(place(t) - bt.translation)).0;
    ball_on(place(-half), radius, 0, shape, bt, margin, out);
    ball_on(place(half), radius, 1, shape, bt, margin, out);
    // The distance from a convex shape is convex along the axis: golden sections.
    let (mut low, mut high) = (-half, half);
    let share = 0.5 * (5f64.sqrt() - 1.0);
    for _ in 0..40 {
        let (l, h) = (high - share * (high - low), low + share * (high - low));
        if distance(l) < distance(h) {
            high = h;
        } else {
            low = l;
        }
    }
    let middle = 0.5 * (low + high);
    // An axis that goes inside: how deep its points are says too little of how far all of it has to go.
    if distance(middle) < 0.0 {
        out.truncate(first);
        return super::convex::convex(&ColliderShape::Capsule { radius, half }, at, shape, bt, margin, out);
    }
    let ends = distance(-half).min(distance(half));
    if distance(middle) < ends - 1e-3 * radius {
        ball_on(place(middle), radius, 2, shape, bt, margin, out);
    }
}
