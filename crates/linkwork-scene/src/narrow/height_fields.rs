//! Convex shapes on height fields: each triangle by what is below it.

use super::TouchPoint;
use super::convex::{convex, tangents, thin};
use crate::{ColliderShape, HeightField};
use linkwork::spatial::Pose;

/// A normal this near to a triangle's, by its cosine, is the triangle's.
const UPRIGHT: f64 = 0.995;
/// Room for the numbers of points.
const FEATURES: u32 = 1 << 20;

/// Adds the points of a shape on a field that are nearer than a margin, normals from the field.
///
/// Where a shape lies on a triangle, what it touches of its neighbours' edges would hold it back as it slides: edges count only
/// where no triangle is touched as deep.
pub(super) fn on_field(
    shape: &ColliderShape,
    at: &Pose,
    field: &HeightField,
    ground: &Pose,
    margin: f64,
    out: &mut Vec<TouchPoint>,
) {
    let seen = ground.inverse() * *at;
    let Some((middle, half)) = shape.bounds(&seen) else {
        return;
    };
    let wide = half + linkwork::spatial::Vec3::new(margin, margin, margin);
    let first = out.len();
    let (mut faces, mut lean): (usize, Vec<TouchPoint>) = (0, Vec::new());
    for (i, prism) in field.below(middle, wide) {
        let begin = out.len();
        convex(shape, at, &prism.shape, ground, margin, out);
        let up = ground.rotation * prism.normal;
        for touch in &mut out[begin..] {
            let own = (i as u32).wrapping_mul(31).wrapping_add(touch.feature);
            touch.feature = own % FEATURES;
        }
        let mut at = begin;
        while at < out.len() {
            if out[at].normal.dot(up) >= UPRIGHT {
                at += 1;
                faces += 1;
            } else {
                lean.push(out.swap_remove(at));
            }
        }
    }
    let deepest = out[first..].iter().fold(f64::INFINITY, |m, t| m.min(t.gap));
    for touch in lean {
        // The same place of an edge is found from both its triangles.
        let known = out[first..]
            .iter()
            .any(|t| (t.point - touch.point).norm() < 1e-9 + 1e-6 * half.norm());
        if !known && (faces == 0 || touch.gap < deepest) {
            out.push(touch);
        }
    }
    if out.len() > first {
        thin(out, first, &tangents(ground.rotation.z));
    }
    // Numbers differ within a pair.
    for i in first + 1..out.len() {
        while out[first..i].iter().any(|t| t.feature == out[i].feature) {
            out[i].feature = (out[i].feature + 1) % FEATURES;
        }
    }
}
