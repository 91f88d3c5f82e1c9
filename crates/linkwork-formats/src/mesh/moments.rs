//! Volumes, areas, centres and moments of inertia of meshes.

use super::Mesh;
use linkwork::spatial::{Inertia, Vec3};
use std::collections::HashMap;

/// What a body of density one would have that fills a mesh, or covers it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Moments {
    /// Volume in m³, or area in m² of a shell. Negative where triangles face inwards.
    pub measure: f64,
    /// The centre.
    pub centre: Vec3,
    /// xx, xy, xz, yy, yz, zz of the rotational inertia about the centre, for a density of one.
    pub inertia: [f64; 6],
}

/// What a mesh is as the surface of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Soundness {
    /// Whether every edge has a triangle on either side, which run along it in opposite ways.
    pub closed: bool,
    /// Whether triangles face inwards on the whole.
    pub inverted: bool,
}

impl Moments {
    /// A body of a mass, with the same mass everywhere.
    pub fn body(&self, mass: f64) -> Inertia {
        let density = mass / self.measure;
        Inertia::new(mass, self.centre, self.inertia.map(|i| i * density))
    }

    /// From the measure, ∫x and ∫xx\* about a point.
    fn about(point: Vec3, measure: f64, first: Vec3, second: [f64; 6]) -> Self {
        let c = first * (1.0 / measure);
        let [xx, xy, xz, yy, yz, zz] = second;
        let s = [
            xx - measure * c.x * c.x,
            xy - measure * c.x * c.y,
            xz - measure * c.x * c.z,
            yy - measure * c.y * c.y,
            yz - measure * c.y * c.z,
            zz - measure * c.z * c.z,
        ];
        Self {
            measure,
            centre: point + c,
            inertia: [s[3] + s[5], -s[1], -s[2], s[0] + s[5], -s[4], s[0] + s[3]],
        }
    }
}

/// Sums over simplices: measure, ∫x, ∫xx\*.
#[derive(Clone, Copy, Default)]
struct Sums {
    measure: f64,
    first: Vec3,
    second: [f64; 6],
}

impl Sums {
    /// Adds a simplex of some measure with `corners`, and another at the origin if it is a tetrahedron: ∫xx\* over it is
    /// its measure over n (n + 1), n corners, times Σxx\* + (Σx)(Σx)\*.
    fn add(&mut self, measure: f64, corners: [Vec3; 3], n: f64) {
        let [a, b, c] = corners;
        let sum = a + b + c;
        self.measure += measure;
        self.first += sum * (measure / n);
        let factor = measure / (n * (n + 1.0));
        let dyad = |f: fn(Vec3) -> (f64, f64)| {
            let product = |v: Vec3| {
                let (x, y) = f(v);
                x * y
            };
            factor * (product(a) + product(b) + product(c) + product(sum))
        };
        let more = [
            dyad(|v| (v.x, v.x)),
            dyad(|v| (v.x, v.y)),
            dyad(|v| (v.x, v.z)),
            dyad(|v| (v.y, v.y)),
            dyad(|v| (v.y, v.z)),
            dyad(|v| (v.z, v.z)),
        ];
        for (sum, x) in self.second.iter_mut().zip(more) {
            *sum += x;
        }
    }
}

impl Mesh {
    /// Six times the volume under a triangle, seen from a point.
    fn under(&self, t: &[u32; 3], from: Vec3) -> ([Vec3; 3], f64) {
        let corners = self.corners(t).map(|v| v - from);
        let [a, b, c] = corners;
        (corners, a.dot(b.cross(c)))
    }

    /// A point amid the vertices: moments are summed about it, so that a mesh far from its origin loses no digits.
    fn amid(&self) -> Vec3 {
        let sum = self.vertices.iter().fold(Vec3::ZERO, |s, v| s + *v);
        sum * (1.0 / self.vertices.len().max(1) as f64)
    }

    fn pyramids(&self, apex: Vec3, sign: fn(f64) -> f64) -> Sums {
        let mut sums = Sums::default();
        for t in &self.triangles {
            let (corners, six) = self.under(t, apex);
            sums.add(sign(six) / 6.0, corners, 4.0);
        }
        sums
    }

    /// Moments of the volume that it encloses.
    pub fn solid(&self) -> Moments {
        let apex = self.amid();
        let sums = self.pyramids(apex, |x| x);
        Moments::about(apex, sums.measure, sums.first, sums.second)
    }

    /// What MuJoCo takes for the volume of a mesh that is not closed: pyramids from the centre of its triangles tell the
    /// centre of mass, and pyramids from there volume and moments. Those of [`Mesh::solid`] where it is closed.
    pub fn solid_if_closed(&self) -> Moments {
        self.of_twice(|x| x)
    }

    fn of_twice(&self, sign: fn(f64) -> f64) -> Moments {
        let apex = self.shell().centre;
        let sums = self.pyramids(apex, sign);
        let centre = apex + sums.first * (1.0 / sums.measure);
        let sums = self.pyramids(centre, sign);
        Moments::about(centre, sums.measure, Vec3::ZERO, sums.second)
    }

    /// Moments of its triangles, taken as thin plates.
    pub fn shell(&self) -> Moments {
        let from = self.amid();
        let mut sums = Sums::default();
        for t in &self.triangles {
            let corners = self.corners(t).map(|v| v - from);
            let [a, b, c] = corners;
            sums.add(0.5 * (b - a).cross(c - a).norm(), corners, 3.0);
        }
        Moments::about(from, sums.measure, sums.first, sums.second)
    }

    /// Moments as MuJoCo's `legacy` mode has them: every pyramid over a triangle counts as positive. Its apex is the centre
    /// of the triangles for the centre of mass, and that centre of mass for volume and moments. They are those of
    /// [`Mesh::solid`] for what is seen whole from both points, and more for all else.
    pub fn overestimate(&self) -> Moments {
        self.of_twice(f64::abs)
    }

    /// Whether it can be the surface of a body. Vertices at the same place count as one.
    pub fn soundness(&self) -> Soundness {
        let mut places = HashMap::with_capacity(self.vertices.len());
        let one: Vec<u32> = self
            .vertices
            .iter()
            .enumerate()
            .map(|(i, v)| {
                *places
                    .entry(v.to_array().map(|x| (x + 0.0).to_bits()))
                    .or_insert(i as u32)
            })
            .collect();
        let mut open: HashMap<(u32, u32), i32> = HashMap::with_capacity(2 * self.triangles.len());
        for t in &self.triangles {
            let [a, b, c] = t.map(|i| one[i as usize]);
            for (from, to) in [(a, b), (b, c), (c, a)].into_iter().filter(|(x, y)| x != y) {
                *open.entry((from.min(to), from.max(to))).or_default() += if from < to { 1 } else { -1 };
            }
        }
        Soundness {
            closed: open.values().all(|n| *n == 0),
            inverted: self.solid().measure < 0.0,
        }
    }
}
