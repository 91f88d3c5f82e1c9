//! The nearest points of two convex shapes (Gilbert, Johnson and Keerthi), and how deep they are in each other (expanding
//! polytopes).
//!
//! Both look at the difference A − B of two cores: shapes without the radius that balls and capsules have around theirs. Its
//! point nearest to zero is what is between them; where it holds zero, they meet.

use crate::ColliderShape;
use linkwork::spatial::{Pose, Vec3};

/// A shape at a place.
#[derive(Clone, Copy)]
pub(super) struct Solid<'a> {
    pub(super) shape: &'a ColliderShape,
    pub(super) at: Pose,
}

impl Solid<'_> {
    /// The farthest point of its core along a direction of the world.
    fn core(&self, d: Vec3) -> Vec3 {
        let local = self.at.rotation.inverse_mul(d);
        let p = match *self.shape {
            ColliderShape::Sphere { .. } => Vec3::ZERO,
            ColliderShape::Capsule { half, .. } => Vec3::new(0.0, 0.0, if local.z < 0.0 { -half } else { half }),
            ref other => other.support(local),
        };
        self.at.point(p)
    }

    /// What is around its core.
    pub(super) fn radius(&self) -> f64 {
        match *self.shape {
            ColliderShape::Sphere { radius } | ColliderShape::Capsule { radius, .. } => radius,
            _ => 0.0,
        }
    }

    fn middle(&self) -> Vec3 {
        match self.shape {
            ColliderShape::Hull(hull) => self.at.point(hull.ball().0),
            _ => self.at.translation,
        }
    }
}

/// How two solids stand to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    /// From b to a.
    pub(super) normal: Vec3,
    pub(super) gap: f64,
    /// On a and on b.
    pub(super) points: [Vec3; 2],
}

/// A point of A − B, and those of A and B that it comes from.
#[derive(Clone, Copy, Debug)]
struct Vertex {
    w: Vec3,
    a: Vec3,
    b: Vec3,
}

/// No nearer than this part of the distance.
const EXACT: f64 = 1e-10;
/// Zero, relative to the sizes.
const TINY: f64 = 1e-10;

fn support(a: &Solid<'_>, b: &Solid<'_>, d: Vec3) -> Vertex {
    let (a, b) = (a.core(d), b.core(-d));
    Vertex { w: a - b, a, b }
}

/// The nearest points of two solids; none if they are further apart than `margin`.
pub(super) fn nearest(a: &Solid<'_>, b: &Solid<'_>, margin: f64) -> Option<Nearest> {
    const STEPS: usize = 120;
    let around = a.radius() + b.radius();
    let mut simplex: Vec<Vertex> = Vec::with_capacity(4);
    let mut weights = [1.0, 0.0, 0.0, 0.0];
    let apart = a.middle() - b.middle();
    let first = support(
        a,
        b,
        if apart.norm() > 0.0 {
            -apart
        } else {
            Vec3::new(1.0, 0.0, 0.0)
        },
    );
    simplex.push(first);
    let mut v = first.w;
    let mut size = v.norm();
    for _ in 0..STEPS {
        let square = v.dot(v);
        if square <= (TINY * size).powi(2) {
            return Some(expand(a, b, simplex, around));
        }
        let next = support(a, b, -v);
        size = size.max(next.w.norm());
        // All of A − B is beyond this plane.
        let bound = v.dot(next.w);
        if bound > 0.0 && bound > (margin + around) * square.sqrt() {
            return None;
        }
        let known = simplex.iter().any(|s| (s.w - next.w).norm() <= 1e-15 * size);
        if known || square - bound <= EXACT * square {
            break;
        }
        simplex.push(next);
        let Some(found) = reduce(&mut simplex, &mut weights) else {
            return Some(expand(a, b, simplex, around));
        };
        // Rounding: no step forwards any more.
        if found.dot(found) >= square {
            break;
        }
        v = found;
    }
    let distance = v.norm();
    let normal = v * distance.recip();
    let blend = |of: fn(&Vertex) -> Vec3| {
        let each = simplex.iter().zip(weights);
        each.fold(Vec3::ZERO, |sum, (s, weight)| sum + of(s) * weight)
    };
    let (pa, pb) = (blend(|s| s.a), blend(|s| s.b));
    let gap = distance - around;
    (gap <= margin).then_some(Nearest {
        normal,
        gap,
        points: [pa - normal * a.radius(), pb + normal * b.radius()],
    })
}

/// The point of a simplex nearest to zero; what has no part in it is left out. None if zero is inside.
fn reduce(simplex: &mut Vec<Vertex>, weights: &mut [f64; 4]) -> Option<Vec3> {
    let w: Vec<Vec3> = simplex.iter().map(|s| s.w).collect();
    let mut best = [0.0; 4];
    match w[..] {
        [_] => best[0] = 1.0,
        [p, q] => {
            let d = q - p;
            let t = (-p.dot(d) / d.dot(d)).clamp(0.0, 1.0);
            (best[0], best[1]) = (1.0 - t, t);
        }
        [p, q, r] => best[..3].copy_from_slice(&triangle(p, q, r)),
        _ => {
            let mut least = f64::INFINITY;
            for [i, j, k, l] in [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]] {
                let n = (w[j] - w[i]).cross(w[k] - w[i]);
                let (zero, other) = (-w[i].dot(n), (w[l] - w[i]).dot(n));
                let flat = other.abs() <= 1e-12 * n.norm() * (w[l] - w[i]).norm();
                if zero * other >= 0.0 && !flat {
                    continue;
                }
                let [x, y, z] = triangle(w[i], w[j], w[k]);
                let p = w[i] * x + w[j] * y + w[k] * z;
                if p.dot(p) < least {
                    least = p.dot(p);
                    best = [0.0; 4];
                    (best[i], best[j], best[k]) = (x, y, z);
                }
            }
            if least == f64::INFINITY {
                return None;
            }
        }
    }
    let mut v = Vec3::ZERO;
    let all = core::mem::take(simplex);
    *weights = [0.0; 4];
    for (vertex, weight) in all.into_iter().zip(best).filter(|(_, weight)| *weight > 0.0) {
        v += vertex.w * weight;
        weights[simplex.len()] = weight;
        simplex.push(vertex);
    }
    Some(v)
}

/// The weights of a triangle's corners for its point nearest to zero.
fn triangle(a: Vec3, b: Vec3, c: Vec3) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(a), -ac.dot(a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (-ab.dot(b), -ac.dot(b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let on_c = d1 * d4 - d3 * d2;
    if on_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return [1.0 - t, t, 0.0];
    }
    let (d5, d6) = (-ab.dot(c), -ac.dot(c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let on_b = d5 * d2 - d1 * d6;
    if on_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return [1.0 - t, 0.0, t];
    }
    let on_a = d3 * d6 - d5 * d4;
    if on_a <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - t, t];
    }
    let all = (on_a + on_b + on_c).recip();
    [on_a * all, on_b * all, on_c * all]
}

/// A face of a polytope in A − B, outwards.
struct Face {
    corners: [usize; 3],
    normal: Vec3,
    /// From zero.
    distance: f64,
}

/// How deep: the nearest place of the surface of A − B, from a simplex that holds zero or almost does.
fn expand(a: &Solid<'_>, b: &Solid<'_>, mut all: Vec<Vertex>, around: f64) -> Nearest {
    const STEPS: usize = 96;
    let grown = grow(a, b, &mut all);
    let mut best: Option<(Vec3, Nearest)> = None;
    if grown {
        let face = |all: &[Vertex], corners: [usize; 3]| {
            let [p, q, r] = corners.map(|i| all[i].w);
            let n = (q - p).cross(r - p);
            let length = n.norm();
            let normal = if length > 0.0 { n * length.recip() } else { Vec3::ZERO };
            Face {
                corners,
                normal,
                distance: normal.dot(p),
            }
        };
        let inner = all[..4].iter().fold(Vec3::ZERO, |sum, s| sum + s.w * 0.25);
        let mut faces: Vec<Face> = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]
            .into_iter()
            .map(|corners| {
                let one = face(&all, corners);
                match one.normal.dot(inner) > one.distance {
                    true => face(&all, [corners[0], corners[2], corners[1]]),
                    false => one,
                }
            })
            .collect();
        for _ in 0..STEPS {
            let sound = (0..faces.len()).filter(|&i| faces[i].normal != Vec3::ZERO);
            let Some(nearest) = sound.min_by(|&i, &j| faces[i].distance.total_cmp(&faces[j].distance)) else {
                break;
            };
            let (n, distance) = (faces[nearest].normal, faces[nearest].distance);
            let next = support(a, b, n);
            let reach = next.w.dot(n);
            if best.as_ref().is_none_or(|(_, found)| reach < -found.gap - around) {
                best = Some((n, blend(&all, &faces[nearest], reach, around, [a, b])));
            }
            if reach - distance <= 1e-9 * (1.0 + reach.abs()).min(all[0].w.norm() + reach.abs()) {
                break;
            }
            // Faces that the new point sees go; their rim is joined to it.
            let mut rim: Vec<(usize, usize)> = Vec::new();
            faces.retain(|f| {
                let seen = f.normal.dot(next.w) > f.distance + 1e-14 * next.w.norm() || f.normal == Vec3::ZERO;
                if seen {
                    let [i, j, k] = f.corners;
                    for edge in [(i, j), (j, k), (k, i)] {
                        match rim.iter().position(|&(x, y)| (y, x) == edge) {
                            Some(known) => {
                                rim.swap_remove(known);
                            }
                            None => rim.push(edge),
                        }
                    }
                }
                !seen
            });
            if rim.is_empty() {
                break;
            }
            all.push(next);
            let last = all.len() - 1;
            faces.extend(rim.into_iter().map(|(i, j)| face(&all, [i, j, last])));
        }
    }
    match best {
        Some((_, found)) => found,
        // Cores without volume that meet, as two crossing segments: out the shorter way between the middles.
        None => flat(a, b, around),
    }
}

/// What a face tells, with the surface this far out.
fn blend(all: &[Vertex], face: &Face, reach: f64, around: f64, [a, b]: [&Solid<'_>; 2]) -> Nearest {
    let [p, q, r] = face.corners.map(|i| all[i]);
    let foot = face.normal * face.distance;
    let [x, y, z] = triangle(p.w - foot, q.w - foot, r.w - foot);
    let normal = -face.normal;
    let (pa, pb) = (p.a * x + q.a * y + r.a * z, p.b * x + q.b * y + r.b * z);
    Nearest {
        normal,
        gap: -reach - around,
        points: [pa - normal * a.radius(), pb + normal * b.radius()],
    }
}

/// Four points with a volume; whether there are.
fn grow(a: &Solid<'_>, b: &Solid<'_>, all: &mut Vec<Vertex>) -> bool {
    let axes = [
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(0.0, 1.0, 0.0),
        Vec3::new(0.0, 0.0, 1.0),
    ];
    all.truncate(4);
    let size = all.iter().fold(1e-12, |most: f64, s| most.max(s.w.norm()));
    let wide = |all: &[Vertex]| match all {
        [] => f64::INFINITY,
        [_] => f64::INFINITY,
        [p, q] => (q.w - p.w).norm(),
        [p, q, r] => (q.w - p.w).cross(r.w - p.w).norm().sqrt(),
        [p, q, r, s, ..] => (q.w - p.w).cross(r.w - p.w).dot(s.w - p.w).abs().cbrt(),
    };
    while all.len() > 1 && wide(all) < 1e-9 * size {
        all.pop();
    }
    while all.len() < 4 {
        let from = all.first().map_or(Vec3::ZERO, |s| s.w);
        let mut tried: Vec<Vec3> = match all.len() {
            2 => {
                let d = all[1].w - from;
                axes.iter()
                    .map(|e| d.cross(*e))
                    .filter(|n| n.norm() > 0.1 * d.norm())
                    .collect()
            }
            3 => vec![(all[1].w - from).cross(all[2].w - from)],
            _ => axes.to_vec(),
        };
        let turned: Vec<Vec3> = tried.iter().map(|d| -*d).collect();
        tried.extend(turned);
        let mut best = (0.0, None);
        for d in tried {
            let vertex = support(a, b, d);
            all.push(vertex);
            let width = if all.len() == 1 { 1.0 } else { wide(all) };
            all.pop();
            if width > best.0 {
                best = (width, Some(vertex));
            }
        }
        match best {
            (width, Some(vertex)) if width > 1e-9 * size => all.push(vertex),
            _ => return false,
        }
    }
    true
}

/// Two flat cores that meet.
fn flat(a: &Solid<'_>, b: &Solid<'_>, around: f64) -> Nearest {
    let between = a.middle() - b.middle();
    let mut best: Option<Nearest> = None;
    let (ra, rb) = (&a.at.rotation, &b.at.rotation);
    let mut tried = vec![between, ra.x, ra.y, ra.z, rb.x, rb.y, rb.z, ra.z.cross(rb.z)];
    tried.retain(|d| d.norm() > 1e-9);
    for d in tried {
        for n in [d * d.norm().recip(), d * -d.norm().recip()] {
            let reach = support(a, b, -n);
            let gap = reach.w.dot(n) - around;
            if best.is_none_or(|found| gap > found.gap) {
                best = Some(Nearest {
                    normal: n,
                    gap,
                    points: [reach.a - n * a.radius(), reach.b + n * b.radius()],
                });
            }
        }
    }
    best.unwrap_or(Nearest {
        normal: Vec3::new(0.0, 0.0, 1.0),
        gap: -around,
        points: [a.at.translation, b.at.translation],
    })
}
