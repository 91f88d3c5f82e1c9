//! Convex hulls of points.

use linkwork::spatial::Vec3;
use linkwork_formats::Mesh;
use std::sync::Arc;

/// The convex hull of some points: its corners, shared by all colliders that have it.
///
/// ```
/// use linkwork::spatial::Vec3;
/// use linkwork_scene::Hull;
/// let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.1, 0.1, 0.1]];
/// let hull = Hull::of(&corners.map(Vec3::from)).unwrap();
/// assert_eq!(hull.corners().len(), 4); // the last is inside
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hull(Arc<Corners>);

#[derive(Debug, PartialEq)]
struct Corners {
    all: Vec<Vec3>,
    centre: Vec3,
    /// Of a ball about the centre.
    radius: f64,
}

impl Hull {
    /// The hull of points; the reason if they enclose nothing.
    pub fn of(points: &[Vec3]) -> Result<Self, String> {
        let mesh = Mesh {
            vertices: points.to_vec(),
            triangles: Vec::new(),
        };
        Self::of_mesh(&mesh)
    }

    /// Corners that are known to be those of a hull.
    pub(crate) fn of_corners(all: Vec<Vec3>) -> Self {
        let sum = all.iter().fold(Vec3::ZERO, |sum, p| sum + *p);
        let centre = sum * (all.len() as f64).recip();
        let radius = all.iter().fold(0.0, |most: f64, p| most.max((*p - centre).norm()));
        Self(Arc::new(Corners { all, centre, radius }))
    }

    /// The hull of a mesh, which may be open or hollow.
    pub fn of_mesh(mesh: &Mesh) -> Result<Self, String> {
        if let Some(p) = mesh.vertices.iter().find(|p| !p.is_finite()) {
            return Err(format!("a vertex is not finite: {:?}", p.to_array()));
        }
        let all = mesh.hull().map_err(|problem| problem.to_string())?.vertices;
        let low = all
            .iter()
            .fold(all[0], |m, p| Vec3::new(m.x.min(p.x), m.y.min(p.y), m.z.min(p.z)));
        let high = all
            .iter()
            .fold(all[0], |m, p| Vec3::new(m.x.max(p.x), m.y.max(p.y), m.z.max(p.z)));
        let centre = (low + high) * 0.5;
        let radius = all.iter().fold(0.0, |most: f64, p| most.max((*p - centre).norm()));
        Ok(Self(Arc::new(Corners { all, centre, radius })))
    }

    /// Its corners.
    pub fn corners(&self) -> &[Vec3] {
        &self.0.all
    }

    /// A ball that holds it: centre and radius.
    pub fn ball(&self) -> (Vec3, f64) {
        (self.0.centre, self.0.radius)
    }

    /// The corner that is farthest along a direction.
    pub(crate) fn support(&self, d: Vec3) -> Vec3 {
        let mut best = (f64::NEG_INFINITY, self.0.centre);
        for p in &self.0.all {
            let along = p.dot(d);
            if along > best.0 {
                best = (along, *p);
            }
        }
        best.1
    }
}
