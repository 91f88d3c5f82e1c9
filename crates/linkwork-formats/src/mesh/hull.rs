//! Convex hulls, by adding points that lie outside one after another (quickhull).

use super::{Mesh, MeshProblem, problem};
use linkwork::spatial::Vec3;
use std::collections::HashMap;

/// Points nearer to a face than this part of the size of all are on it.
const FLAT: f64 = 1e-12;

struct Face {
    corners: [u32; 3],
    /// Outwards, of length one, and where the plane is along it.
    normal: Vec3,
    offset: f64,
    /// Points above it, each of which belongs to one face.
    above: Vec<u32>,
    /// Whether it is part of the hull still.
    alive: bool,
}

struct Hull<'a> {
    points: &'a [Vec3],
    faces: Vec<Face>,
    /// The face on the left of an edge.
    edges: HashMap<(u32, u32), usize>,
    /// What counts as above.
    slack: f64,
}

/// The convex hull of points; it holds no other vertices than theirs.
pub(super) fn of(points: &[Vec3]) -> Result<Mesh, MeshProblem> {
    let Some((start, slack)) = simplex(points) else {
        return problem("its vertices lie in a plane, so that they enclose nothing");
    };
    let mut hull = Hull {
        points,
        faces: Vec::new(),
        edges: HashMap::new(),
        slack,
    };
    let [a, b, c, d] = start;
    for corners in [[a, b, c], [a, d, b], [b, d, c], [c, d, a]] {
        hull.add(corners);
    }
    let all: Vec<u32> = (0..points.len() as u32).filter(|i| !start.contains(i)).collect();
    hull.share(&all, 0);
    let mut waiting: Vec<usize> = (0..4).collect();
    while let Some(f) = waiting.pop() {
        if let Some(eye) = hull.farthest(f) {
            let first = hull.faces.len();
            hull.extend(f, eye);
            waiting.extend(first..hull.faces.len());
        }
    }
    Ok(hull.mesh())
}

/// Four points that span much, outwards in order, and the distance that counts as none.
fn simplex(points: &[Vec3]) -> Option<([u32; 4], f64)> {
    let farthest = |measure: &dyn Fn(Vec3) -> f64| {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, p) in points.iter().enumerate() {
            let x = measure(*p);
            if x > best.1 {
                best = (i, x);
            }
        }
        best
    };
    let first = *points.first()?;
    let (a, _) = farthest(&|p| (p - first).norm());
    let pa = points[a];
    let (b, size) = farthest(&|p| (p - pa).norm());
    let along = points[b] - pa;
    let (c, _) = farthest(&|p| along.cross(p - pa).norm());
    let normal = along.cross(points[c] - pa);
    let area = normal.norm();
    if area <= FLAT * size * size {
        return None;
    }
    let normal = normal * (1.0 / area);
    let (d, height) = farthest(&|p| normal.dot(p - pa).abs());
    let slack = FLAT * size;
    if height <= 8.0 * slack {
        return None;
    }
    let [a, b, c, d] = [a, b, c, d].map(|i| i as u32);
    // The fourth lies below the first three.
    let above = normal.dot(points[d as usize] - pa) > 0.0;
    Some((if above { [a, c, b, d] } else { [a, b, c, d] }, slack))
}

impl Hull<'_> {
    fn add(&mut self, corners: [u32; 3]) {
        let [p, q, r] = corners.map(|i| self.points[i as usize]);
        let normal = (q - p).cross(r - p);
        let length = normal.norm();
        let normal = if length > 0.0 {
            normal * (1.0 / length)
        } else {
            Vec3::ZERO
        };
        let [a, b, c] = corners;
        for edge in [(a, b), (b, c), (c, a)] {
            self.edges.insert(edge, self.faces.len());
        }
        self.faces.push(Face {
            corners,
            normal,
            offset: normal.dot(p),
            above: Vec::new(),
            alive: true,
        });
    }

    fn height(&self, face: usize, point: u32) -> f64 {
        let f = &self.faces[face];
        f.normal.dot(self.points[point as usize]) - f.offset
    }

    /// Gives each point to a face that it is above of, of those from a place on; the others are inside.
    fn share(&mut self, points: &[u32], from: usize) {
        for &p in points {
            let found = (from..self.faces.len()).find(|&f| self.height(f, p) > self.slack);
            if let Some(f) = found {
                self.faces[f].above.push(p);
            }
        }
    }

    fn farthest(&self, face: usize) -> Option<u32> {
        if !self.faces[face].alive {
            return None;
        }
        let above = self.faces[face].above.iter().copied();
        above.max_by(|&a, &b| self.height(face, a).total_cmp(&self.height(face, b)))
    }

    /// Takes a point in: the faces that it sees go, and it is joined to the edge of what it sees.
    fn extend(&mut self, face: usize, eye: u32) {
        let (mut seen, mut waiting, mut rim) = (Vec::new(), vec![face], Vec::new());
        self.faces[face].alive = false;
        while let Some(f) = waiting.pop() {
            seen.push(f);
            let [a, b, c] = self.faces[f].corners;
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let Some(&other) = self.edges.get(&(to, from)) else {
                    continue;
                };
                if !self.faces[other].alive {
                    continue;
                }
                // What is level with it goes too, so that no sliver is folded back over its neighbour.
                if self.height(other, eye) > -self.slack {
                    self.faces[other].alive = false;
                    waiting.push(other);
                } else {
                    rim.push((from, to));
                }
            }
        }
        // An edge between two faces that both went is no rim.
        let first = self.faces.len();
        let mut orphans = Vec::new();
        for &f in &seen {
            orphans.append(&mut self.faces[f].above);
        }
        for (from, to) in rim {
            let other = self.edges.get(&(to, from)).copied();
            if other.is_some_and(|f| self.faces[f].alive) {
                self.add([from, to, eye]);
            }
        }
        orphans.retain(|p| *p != eye);
        self.share(&orphans, first);
    }

    /// What is left, with the vertices that it uses.
    fn mesh(&self) -> Mesh {
        let (mut mesh, mut place) = (Mesh::default(), HashMap::new());
        for face in self.faces.iter().filter(|f| f.alive) {
            let triangle = face.corners.map(|c| {
                *place.entry(c).or_insert_with(|| {
                    mesh.vertices.push(self.points[c as usize]);
                    mesh.vertices.len() as u32 - 1
                })
            });
            mesh.triangles.push(triangle);
        }
        mesh
    }
}
