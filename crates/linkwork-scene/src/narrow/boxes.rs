//! Two boxes: the axis of least overlap, then a face clipped by another, or two edges.

use super::TouchPoint;
use super::planes::corners;
use linkwork::spatial::{Pose, Vec3};

/// Another face or an edge must be this much better, relative to the boxes, to be chosen: choices do not flicker.
const BETTER: f64 = 1e-3;

/// A corner of the clipped face, and what made it.
#[derive(Clone, Copy)]
struct Corner {
    at: Vec3,
    feature: u32,
}

/// A face that is clipped: four corners, and at most one more for each of the four sides that cut it.
#[derive(Clone, Copy)]
struct Polygon {
    corners: [Corner; 8],
    count: usize,
}

impl Polygon {
    const NONE: Self = Self {
        corners: [Corner {
            at: Vec3::ZERO,
            feature: 0,
        }; 8],
        count: 0,
    };

    #[inline(always)]
    fn push(&mut self, corner: Corner) {
        // Rounding cannot make more corners than there is room for, but a broken pose might.
        if self.count < self.corners.len() {
            self.corners[self.count] = corner;
            self.count += 1;
        }
    }

    fn all(&self) -> &[Corner] {
        &self.corners[..self.count]
    }
}

/// Normals from b to a.
#[inline(always)]
pub(super) fn boxes(a: Vec3, at: &Pose, b: Vec3, bt: &Pose, margin: f64, out: &mut Vec<TouchPoint>) {
    let (axes_a, axes_b) = (axes(at), axes(bt));
    let (ha, hb) = (a.to_array(), b.to_array());
    let between = at.translation - bt.translation;
    let spread = |axis: Vec3| {
        let own: f64 = (0..3).map(|i| ha[i] * axis.dot(axes_a[i]).abs()).sum();
        let other: f64 = (0..3).map(|i| hb[i] * axis.dot(axes_b[i]).abs()).sum();
        own + other
    };
    // The gap along an axis, and that axis from b to a.
    let gap = |axis: Vec3| {
        let along = between.dot(axis);
        let axis = if along < 0.0 { -axis } else { axis };
        (along.abs() - spread(axis), axis)
    };
    let size = a.norm().min(b.norm());
    let (mut best, mut normal, mut from) = (f64::NEG_INFINITY, axes_a[0], 0);
    for i in 0..6 {
        let axis = if i < 3 { axes_a[i] } else { axes_b[i - 3] };
        let (own, axis) = gap(axis);
        if own > margin {
            return;
        }
        if own > best + if i == 0 { 0.0 } else { BETTER * size } {
            (best, normal, from) = (own, axis, i);
        }
    }
    let mut edges = None;
    for i in 0..3 {
        for j in 0..3 {
            let cross = axes_a[i].cross(axes_b[j]);
            let length = cross.norm();
            if length < 1e-3 {
                continue;
            }
            let (own, axis) = gap(cross * length.recip());
            if own > margin {
                return;
            }
            if own > best + 10.0 * BETTER * size {
                (best, normal, edges) = (own, axis, Some((i, j)));
            }
        }
    }
    if let Some((i, j)) = edges {
        let (p, q) = (edge(a, at, &axes_a, i, -normal), edge(b, bt, &axes_b, j, normal));
        let (p, q) = cross_points(p, axes_a[i], q, axes_b[j]);
        let gap = (p - q).dot(normal);
        if gap < margin {
            let feature = 4096 + (3 * i + j) as u32;
            out.push(TouchPoint {
                feature,
                point: (p + q) * 0.5,
                normal,
                gap,
            });
        }
        return;
    }
    match from < 3 {
        // A face of a, on which the nearest face of b is clipped.
        true => clip([(a, at, &axes_a), (b, bt, &axes_b)], -normal, from, 0, margin, out),
        false => clip([(b, bt, &axes_b), (a, at, &axes_a)], normal, from - 3, 1, margin, out),
    }
}

#[inline(always)]
fn axes(at: &Pose) -> [Vec3; 3] {
    [at.rotation.x, at.rotation.y, at.rotation.z]
}

/// The middle of the edge along axis i that is farthest along a direction.
#[inline(always)]
fn edge(half: Vec3, at: &Pose, axes: &[Vec3; 3], i: usize, along: Vec3) -> Vec3 {
    let h = half.to_array();
    let mut p = at.translation;
    for k in (0..3).filter(|k| *k != i) {
        let sign = if along.dot(axes[k]) < 0.0 { -1.0 } else { 1.0 };
        p += axes[k] * (sign * h[k]);
    }
    p
}

/// The nearest points of two lines.
#[inline(always)]
fn cross_points(p: Vec3, d: Vec3, q: Vec3, e: Vec3) -> (Vec3, Vec3) {
    let (r, b) = (p - q, d.dot(e));
    let down = 1.0 - b * b;
    let (s, t) = ((b * e.dot(r) - d.dot(r)) / down, (e.dot(r) - b * d.dot(r)) / down);
    (p + d * s, q + e * t)
}

/// The face of the second box that faces most against `out_of`, clipped by the sides of the first box's face. `whose` is
/// 0 if the first is a.
#[inline(always)]
fn clip(
    [(half, at, axes), (other_half, other_at, other_axes)]: [(Vec3, &Pose, &[Vec3; 3]); 2],
    out_of: Vec3,
    axis: usize,
    whose: u32,
    margin: f64,
    out: &mut Vec<TouchPoint>,
) {
    let h = half.to_array();
    let facing = (0..3).fold(0, |best: usize, i| {
        if out_of.dot(other_axes[i]).abs() > out_of.dot(other_axes[best]).abs() {
            i
        } else {
            best
        }
    });
    let high = out_of.dot(other_axes[facing]) < 0.0;
    // Its corners, in order around it.
    let all = corners(other_half);
    let (u, v) = ((facing + 1) % 3, (facing + 2) % 3);
    let mut polygon = Polygon::NONE;
    for (x, y) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
        let i = (usize::from(high) << facing) | (x << u) | (y << v);
        polygon.push(Corner {
            at: other_at.point(all[i]),
            feature: i as u32,
        });
    }
    // Corners that are hardly outside stay corners: those of equal boxes on each other keep their numbers.
    let tolerance = 1e-3 * h[0].min(h[1]).min(h[2]);
    for side in (0..3).filter(|i| *i != axis) {
        for sign in [-1.0, 1.0] {
            let n = axes[side] * sign;
            let depth = |p: Vec3| (p - at.translation).dot(n) - h[side];
            let (mut next, given) = (Polygon::NONE, polygon.all());
            for i in 0..given.len() {
                let (one, two) = (given[i], given[(i + 1) % given.len()]);
                let (d, e) = (depth(one.at), depth(two.at));
                let (inside, other) = (d <= tolerance, e <= tolerance);
                if inside {
                    next.push(one);
                }
                if inside != other {
                    let cut = one.at + (two.at - one.at) * (d / (d - e));
                    let bit = 2 * side as u32 + u32::from(sign > 0.0);
                    let (low, high) = (one.feature.min(two.feature) & 63, one.feature.max(two.feature) & 63);
                    next.push(Corner {
                        at: cut,
                        feature: 8 + ((low * 11 + high * 3) % 56) * 6 + bit,
                    });
                }
            }
            polygon = next;
        }
    }
    // Normals go from b to a: out of the first box's face if that is b's.
    let normal = if whose == 0 { -out_of } else { out_of };
    let first = out.len();
    for corner in polygon.all() {
        let gap = (corner.at - at.translation).dot(out_of) - h[axis];
        if gap < margin {
            let mut feature = whose * 512 + corner.feature;
            // Two cuts may get one number: the later takes the next that is free.
            while out[first..].iter().any(|t| t.feature == feature) {
                feature += 1024;
            }
            out.push(TouchPoint {
                feature,
                point: corner.at - out_of * (0.5 * gap),
                normal,
                gap,
            });
        }
    }
}
