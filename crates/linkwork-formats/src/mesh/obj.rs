//! Wavefront OBJ: vertices and polygons, line by line.

use super::{LARGEST, Mesh, MeshProblem, problem};
use linkwork::spatial::Vec3;

/// Reads vertices and faces; polygons become fans of triangles. Normals, colours and materials are ignored.
pub(super) fn read(bytes: &[u8]) -> Result<Mesh, MeshProblem> {
    let text = String::from_utf8_lossy(bytes);
    let mut mesh = Mesh::default();
    let mut corners: Vec<u32> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut number = || words.next().and_then(|w| w.parse::<f64>().ok());
                let (Some(x), Some(y), Some(z)) = (number(), number(), number()) else {
                    return problem(format!("line {} is not a vertex of three numbers", i + 1));
                };
                mesh.vertices.push(Vec3::new(x, y, z));
            }
            Some("f") => {
                corners.clear();
                for word in words {
                    let first = word.split('/').next().unwrap_or_default();
                    // From one, or backwards from the last.
                    let place = match first.parse::<i64>() {
                        Ok(n) if n > 0 => n - 1,
                        Ok(n) if n < 0 => mesh.vertices.len() as i64 + n,
                        _ => -1,
                    };
                    if place < 0 || place > LARGEST as i64 {
                        return problem(format!("line {} names a vertex that is not there", i + 1));
                    }
                    corners.push(place as u32);
                }
                if corners.len() < 3 {
                    return problem(format!("the face on line {} has {} corners", i + 1, corners.len()));
                }
                let fan = (1..corners.len() - 1).map(|k| [corners[0], corners[k], corners[k + 1]]);
                mesh.triangles.extend(fan);
            }
            _ => {}
        }
        if mesh.vertices.len() > LARGEST || mesh.triangles.len() > LARGEST {
            break;
        }
    }
    if mesh.vertices.is_empty() {
        return problem("it has no vertices");
    }
    Ok(mesh)
}
