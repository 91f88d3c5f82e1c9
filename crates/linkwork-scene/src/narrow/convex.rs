//! Any two convex shapes: the nearest points, and where flat sides lie on each other the corners of what they share.

use super::TouchPoint;
use super::gjk::{Nearest, Solid, nearest};
use crate::ColliderShape;
use linkwork::spatial::{Pose, Vec3};

/// Sides that lean by less than this, in radians, lie on each other.
const LEANS: f64 = 0.02;
/// The most points of a pair.
const MOST: usize = 8;
/// The corners that stand for the rim of a cylinder.
const RIM: usize = 8;

/// A corner of a side: its number on its shape, where it is in the plane of contact, and how high along the normal.
#[derive(Clone, Copy, Debug)]
struct Corner {
    number: u32,
    x: f64,
    y: f64,
    z: f64,
}

/// Adds the points nearer than a margin, normals from b to a.
pub(super) fn convex(
    a: &ColliderShape,
    at: &Pose,
    b: &ColliderShape,
    bt: &Pose,
    margin: f64,
    out: &mut Vec<TouchPoint>,
) {
    // Seen from b, so that nothing loses digits far from the world's origin.
    let home = bt.translation;
    let near = |pose: &Pose| Pose::new(pose.rotation, pose.translation - home);
    let (a, b) = (Solid { shape: a, at: near(at) }, Solid { shape: b, at: near(bt) });
    let Some(found) = nearest(&a, &b, margin) else { return };
    let first = out.len();
    sides(&a, &b, &found, margin, out);
    // The nearest points themselves, unless some point is as near.
    if !out[first..].iter().any(|t| t.gap <= found.gap + 1e-9) {
        out.push(TouchPoint {
            feature: 0,
            point: (found.points[0] + found.points[1]) * 0.5,
            normal: found.normal,
            gap: found.gap,
        });
    }
    for touch in &mut out[first..] {
        touch.point += home;
    }
}

/// The corners that two sides share, if they lie on each other.
fn sides(a: &Solid<'_>, b: &Solid<'_>, found: &Nearest, margin: f64, out: &mut Vec<TouchPoint>) {
    let n = found.normal;
    let t = tangents(n);
    let (one, two) = (side(a, -n, n, &t), side(b, n, n, &t));
    let shared = match (one.len(), two.len()) {
        (0 | 1, _) | (_, 0 | 1) => return,
        (2, 2) => overlap(&one, &two),
        (2, _) => clip(&one, &two),
        (_, 2) => clip(&two, &one),
        _ => clip(&one, &two),
    };
    let first = out.len();
    for (number, x, y) in shared {
        let (Some(above), Some(below)) = (height(&one, x, y), height(&two, x, y)) else {
            continue;
        };
        // Corners that lean a little make a side uneven: nothing is nearer than the nearest.
        let gap = (above - below).max(found.gap);
        if gap >= margin {
            continue;
        }
        let mut feature = 1 + number % 1_000_000;
        while out[first..].iter().any(|t| t.feature == feature) {
            feature += 1;
        }
        let point = t[0] * x + t[1] * y + n * (0.5 * (above + below));
        out.push(TouchPoint {
            feature,
            point,
            normal: n,
            gap,
        });
    }
    thin(out, first, &t);
}

/// Leaves the points that are farthest out in a few directions, and the deepest.
pub(super) fn thin(out: &mut Vec<TouchPoint>, first: usize, t: &[Vec3; 2]) {
    if out.len() - first <= MOST {
        return;
    }
    let points = &out[first..];
    let mut kept: Vec<usize> = Vec::with_capacity(MOST);
    let deepest = (0..points.len()).fold(0, |best, i| if points[i].gap < points[best].gap { i } else { best });
    kept.push(deepest);
    for k in 0..MOST - 1 {
        let (s, c) = (core::f64::consts::TAU * k as f64 / (MOST - 1) as f64).sin_cos();
        let d = t[0] * c + t[1] * s;
        let far = (0..points.len()).fold(0, |best, i| {
            if points[i].point.dot(d) > points[best].point.dot(d) {
                i
            } else {
                best
            }
        });
        if !kept.contains(&far) {
            kept.push(far);
        }
    }
    kept.sort_unstable();
    let chosen: Vec<TouchPoint> = kept.into_iter().map(|i| points[i]).collect();
    out.truncate(first);
    out.extend(chosen);
}

/// Two directions across a unit normal.
pub(super) fn tangents(n: Vec3) -> [Vec3; 2] {
    let along = if n.x.abs() < 0.9 {
        Vec3::new(1.0, 0.0, 0.0)
    } else {
        Vec3::new(0.0, 1.0, 0.0)
    };
    let across = along - n * n.dot(along);
    let first = across * across.norm().recip();
    [first, n.cross(first)]
}

/// The corners of a shape's side that faces a direction, around it; one or two where it is a corner or an edge.
fn side(solid: &Solid<'_>, facing: Vec3, n: Vec3, t: &[Vec3; 2]) -> Vec<Corner> {
    let d = solid.at.rotation.inverse_mul(facing);
    let corner = |number: usize, p: Vec3| {
        let p = solid.at.point(p) + facing * solid.radius();
        Corner {
            number: number as u32,
            x: p.dot(t[0]),
            y: p.dot(t[1]),
            z: p.dot(n),
        }
    };
    let ends = |half: f64, p: Vec3| {
        vec![
            corner(0, p - Vec3::new(0.0, 0.0, half)),
            corner(1, p + Vec3::new(0.0, 0.0, half)),
        ]
    };
    match *solid.shape {
        ColliderShape::Capsule { half, .. } if d.z.abs() < LEANS => ends(half, Vec3::ZERO),
        ColliderShape::Cylinder { radius, half } if d.z.abs() < LEANS => {
            let across = d.x.hypot(d.y);
            ends(half, Vec3::new(radius * d.x / across, radius * d.y / across, 0.0))
        }
        ColliderShape::Cylinder { radius, half } if d.x.hypot(d.y) < LEANS => {
            let z = if d.z < 0.0 { -half } else { half };
            let rim = (0..RIM).map(|k| {
                let (s, c) = (core::f64::consts::TAU * k as f64 / RIM as f64).sin_cos();
                corner(k, Vec3::new(radius * c, radius * s, z))
            });
            around(rim.collect())
        }
        ColliderShape::Cuboid { half } => facets(&super::planes::corners(half), d, corner),
        ColliderShape::Hull(ref hull) => facets(hull.corners(), d, corner),
        _ => Vec::new(),
    }
}

/// The corners of a polytope that lie on its side along a direction, as good as.
fn facets(all: &[Vec3], d: Vec3, corner: impl Fn(usize, Vec3) -> Corner) -> Vec<Corner> {
    let top = all
        .iter()
        .fold(all[0], |best, p| if p.dot(d) > best.dot(d) { *p } else { best });
    let on = all.iter().enumerate().filter(|(_, p)| {
        let away = **p - top;
        -away.dot(d) <= LEANS * away.norm() + 1e-12
    });
    around(on.map(|(i, p)| corner(i, *p)).collect())
}

/// The outermost corners, counterclockwise.
fn around(mut all: Vec<Corner>) -> Vec<Corner> {
    if all.len() < 3 {
        return all;
    }
    all.sort_by(|p, q| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)));
    let turn = |p: &Corner, q: &Corner, r: &Corner| (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
    let spread = all
        .iter()
        .fold(0.0, |m: f64, p| m.max((p.x - all[0].x).hypot(p.y - all[0].y)));
    let flat = 1e-9 * spread * spread;
    let mut chain: Vec<Corner> = Vec::with_capacity(all.len() + 1);
    for round in 0..2 {
        let start = chain.len();
        let go = |chain: &mut Vec<Corner>, p: &Corner| {
            while chain.len() >= start + 2 && turn(&chain[chain.len() - 2], &chain[chain.len() - 1], p) <= flat {
                chain.pop();
            }
            chain.push(*p);
        };
        match round {
            0 => all.iter().for_each(|p| go(&mut chain, p)),
            _ => all.iter().rev().for_each(|p| go(&mut chain, p)),
        }
        chain.pop();
    }
    chain
}

/// How high a side is above a point of the plane.
fn height(side: &[Corner], x: f64, y: f64) -> Option<f64> {
    if let [p, q] = side {
        let (dx, dy) = (q.x - p.x, q.y - p.y);
        let square = dx * dx + dy * dy;
        let along = if square > 0.0 {
            ((x - p.x) * dx + (y - p.y) * dy) / square
        } else {
            0.0
        };
        return Some(p.z + along.clamp(0.0, 1.0) * (q.z - p.z));
    }
    // By the triangle fan's largest triangle: the side is flat.
    let p = side[0];
    let mut best = (0.0, None);
    for pair in side[1..].windows(2) {
        let (ux, uy, vx, vy) = (pair[0].x - p.x, pair[0].y - p.y, pair[1].x - p.x, pair[1].y - p.y);
        let area = ux * vy - uy * vx;
        if area > best.0 {
            let (s, t) = (
                ((x - p.x) * vy - (y - p.y) * vx) / area,
                (ux * (y - p.y) - uy * (x - p.x)) / area,
            );
            best = (area, Some(p.z + s * (pair[0].z - p.z) + t * (pair[1].z - p.z)));
        }
    }
    best.1
}

/// A polygon or segment clipped by a polygon: numbers and places.
fn clip(subject: &[Corner], by: &[Corner]) -> Vec<(u32, f64, f64)> {
    let mut polygon: Vec<(u32, f64, f64)> = subject.iter().map(|c| (c.number, c.x, c.y)).collect();
    let spread = by
        .iter()
        .fold(0.0, |m: f64, p| m.max((p.x - by[0].x).hypot(p.y - by[0].y)));
    for (e, from) in by.iter().enumerate() {
        let to = by[(e + 1) % by.len()];
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let length = dx.hypot(dy);
        // Inwards of a counterclockwise polygon; corners that are hardly outside stay corners.
        let inside = |&(_, x, y): &(u32, f64, f64)| (dx * (y - from.y) - dy * (x - from.x)) / length + 1e-6 * spread;
        let mut next = Vec::with_capacity(polygon.len() + 1);
        let open = polygon.len() == 2;
        for i in 0..polygon.len() {
            let one = polygon[i];
            let d = inside(&one);
            if d >= 0.0 {
                next.push(one);
            }
            if open && i == 1 {
                break;
            }
            let two = polygon[(i + 1) % polygon.len()];
            let f = inside(&two);
            if (d >= 0.0) != (f >= 0.0) {
                let t = d / (d - f);
                let number = 1024 + (one.0.min(two.0) % 97 * 31 + one.0.max(two.0) % 97) * 64 + from.number % 64;
                next.push((number, one.1 + t * (two.1 - one.1), one.2 + t * (two.2 - one.2)));
            }
        }
        polygon = next;
        if polygon.is_empty() {
            break;
        }
    }
    polygon
}

/// What two edges share if they run alike: both ends.
fn overlap(one: &[Corner], two: &[Corner]) -> Vec<(u32, f64, f64)> {
    let [p, q] = [one[0], one[1]];
    let (dx, dy) = (q.x - p.x, q.y - p.y);
    let length = dx.hypot(dy);
    let (ex, ey) = (two[1].x - two[0].x, two[1].y - two[0].y);
    if length == 0.0 || (dx * ey - dy * ex).abs() > LEANS * length * ex.hypot(ey) {
        return Vec::new();
    }
    let along = |c: &Corner| ((c.x - p.x) * dx + (c.y - p.y) * dy) / (length * length);
    let (s, t) = (along(&two[0]), along(&two[1]));
    let (low, high) = (s.min(t).max(0.0), s.max(t).min(1.0));
    if low > high {
        return Vec::new();
    }
    vec![
        (0, p.x + low * dx, p.y + low * dy),
        (1, p.x + high * dx, p.y + high * dy),
    ]
}
