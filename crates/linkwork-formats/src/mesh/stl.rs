//! STL: triangles without shared vertices, binary or text.

use super::{LARGEST, Mesh, MeshProblem, problem};
use linkwork::spatial::Vec3;
use std::collections::HashMap;

/// Reads either kind. Vertices with the same coordinates become one.
pub(super) fn read(bytes: &[u8]) -> Result<Mesh, MeshProblem> {
    let count = bytes.get(80..84).and_then(|b| <[u8; 4]>::try_from(b).ok());
    let count = count.map(|b| u32::from_le_bytes(b) as usize);
    // Binary files may begin with the word of text files; their length tells.
    match count {
        Some(n) if n <= LARGEST && bytes.len() == 84 + 50 * n => binary(bytes, n),
        _ if bytes.trim_ascii_start().starts_with(b"solid") => text(bytes),
        Some(n) => problem(format!(
            "it has {} bytes, but {n} triangles take {}; export it again",
            bytes.len(),
            84 + 50 * n
        )),
        None => problem("it is too short for an STL file; export it again"),
    }
}

#[derive(Default)]
struct Shared {
    mesh: Mesh,
    known: HashMap<[u32; 3], u32>,
}

impl Shared {
    fn vertex(&mut self, v: [f32; 3]) -> u32 {
        // −0 and 0 are the same place.
        let key = v.map(|x| (x + 0.0).to_bits());
        *self.known.entry(key).or_insert_with(|| {
            self.mesh.vertices.push(Vec3::from(v.map(f64::from)));
            self.mesh.vertices.len() as u32 - 1
        })
    }
}

fn binary(bytes: &[u8], count: usize) -> Result<Mesh, MeshProblem> {
    let mut shared = Shared::default();
    for facet in bytes[84..84 + 50 * count].chunks_exact(50) {
        let number = |i: usize| f32::from_le_bytes([facet[i], facet[i + 1], facet[i + 2], facet[i + 3]]);
        let corner = |k: usize| [12 + 12 * k, 16 + 12 * k, 20 + 12 * k].map(number);
        let triangle = [0, 1, 2].map(|k| shared.vertex(corner(k)));
        shared.mesh.triangles.push(triangle);
    }
    Ok(shared.mesh)
}

fn text(bytes: &[u8]) -> Result<Mesh, MeshProblem> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return problem("it is neither binary STL of the length that it says, nor text; export it again");
    };
    let mut shared = Shared::default();
    let mut corners = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("vertex") => {
                let numbers: Vec<f32> = words.filter_map(|w| w.parse().ok()).collect();
                let Ok(v) = <[f32; 3]>::try_from(numbers) else {
                    return problem(format!("line {} is not a vertex of three numbers", i + 1));
                };
                corners.push(shared.vertex(v));
            }
            Some("endfacet") => {
                let Ok(triangle) = <[u32; 3]>::try_from(&corners[..]) else {
                    return problem(format!(
                        "the facet that ends on line {} has {} corners",
                        i + 1,
                        corners.len()
                    ));
                };
                shared.mesh.triangles.push(triangle);
                corners.clear();
            }
            _ => {}
        }
    }
    if shared.mesh.triangles.is_empty() {
        return problem("it has no facets");
    }
    Ok(shared.mesh)
}
