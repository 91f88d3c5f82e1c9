//! Triangle meshes in files: STL, OBJ, MSH and COLLADA.

mod dae;
mod hull;
mod moments;
mod obj;
mod stl;

pub use moments::{Moments, Soundness};

use linkwork::spatial::Vec3;
use std::fmt;
use std::path::Path;

/// Meshes with more vertices or triangles are refused.
const LARGEST: usize = 20_000_000;

/// Triangles over a list of vertices. Seen from outside, the corners of a triangle run counterclockwise.
///
/// ```
/// use linkwork_formats::{Mesh, MeshFormat};
/// let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
/// let mesh = Mesh::read(text.as_bytes(), MeshFormat::Obj)?;
/// assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4));
/// assert!((mesh.solid().measure - 1.0 / 6.0).abs() < 1e-15);
/// # Ok::<(), linkwork_formats::MeshProblem>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners, in the units of the file (COLLADA: in metres).
    pub vertices: Vec<Vec3>,
    /// Places of three vertices each.
    pub triangles: Vec<[u32; 3]>,
}

/// A kind of mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeshFormat {
    /// Stereolithography, binary or text.
    Stl,
    /// Wavefront.
    Obj,
    /// MuJoCo's binary format.
    Msh,
    /// COLLADA, with the transforms of its scene and its unit of length; the axis that it calls up is ignored, as RViz does.
    Dae,
}

/// Why a mesh cannot be read, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MeshProblem(pub(crate) String);

impl fmt::Display for MeshProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MeshProblem {}

fn problem<T>(message: impl Into<String>) -> Result<T, MeshProblem> {
    Err(MeshProblem(message.into()))
}

impl MeshFormat {
    /// The format that the ending of a file's name stands for.
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*extension {
            "stl" | "stlb" => Some(Self::Stl),
            "obj" => Some(Self::Obj),
            "msh" => Some(Self::Msh),
            "dae" => Some(Self::Dae),
            _ => None,
        }
    }
}

impl Mesh {
    /// Loads a mesh from a file; the ending of its name says the format.
    pub fn load(path: &Path) -> Result<Self, MeshProblem> {
        let Some(format) = MeshFormat::of_name(path) else {
            return problem("its format is not known; give STL, OBJ, MSH or DAE");
        };
        match crate::source::read(path) {
            Ok(bytes) => Self::read(&bytes, format),
            Err(why) => problem(format!("it cannot be read: {why}")),
        }
    }

    /// Reads a mesh from bytes.
    pub fn read(bytes: &[u8], format: MeshFormat) -> Result<Self, MeshProblem> {
        let mesh = match format {
            MeshFormat::Stl => stl::read(bytes),
            MeshFormat::Obj => obj::read(bytes),
            MeshFormat::Msh => msh(bytes),
            MeshFormat::Dae => dae::read(bytes),
        }?;
        mesh.checked()
    }

    /// The mesh, if every number is finite and every corner is there.
    pub(crate) fn checked(self) -> Result<Self, MeshProblem> {
        let count = self.vertices.len();
        if count > LARGEST || self.triangles.len() > LARGEST {
            return problem(format!("it has more than {LARGEST} vertices or triangles; simplify it"));
        }
        if let Some(i) = self.vertices.iter().position(|v| !v.norm().is_finite()) {
            return problem(format!("vertex {} is not finite; export it again", i + 1));
        }
        let outside = |t: &[u32; 3]| t.iter().any(|&v| v as usize >= count);
        match self.triangles.iter().position(outside) {
            Some(i) => problem(format!(
                "triangle {} has a corner that is none of its {count} vertices; export it again",
                i + 1
            )),
            None => Ok(self),
        }
    }

    /// The mesh after every vertex has moved; where that turns it inside out, triangles are turned back.
    pub fn scaled(&self, by: Vec3) -> Self {
        let mirrored = by.x * by.y * by.z < 0.0;
        let turned = |&[a, b, c]: &[u32; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
        Self {
            vertices: self
                .vertices
                .iter()
                .map(|v| Vec3::new(v.x * by.x, v.y * by.y, v.z * by.z))
                .collect(),
            triangles: self.triangles.iter().map(turned).collect(),
        }
    }

    /// The convex hull of the vertices; an error where they all lie in a plane.
    pub fn hull(&self) -> Result<Self, MeshProblem> {
        hull::of(&self.vertices)
    }

    /// The corners of a triangle.
    fn corners(&self, &[a, b, c]: &[u32; 3]) -> [Vec3; 3] {
        [a, b, c].map(|i| self.vertices[i as usize])
    }
}

/// MuJoCo's own: four counts, then vertices, normals and texture coordinates as `f32`, then triangles.
fn msh(bytes: &[u8]) -> Result<Mesh, MeshProblem> {
    let word = |i: usize| bytes.get(4 * i..4 * i + 4).and_then(|b| <[u8; 4]>::try_from(b).ok());
    let count = |i: usize| word(i).map_or(0, |b| i32::from_le_bytes(b).max(0) as usize);
    let [vertices, normals, textures, faces] = [count(0), count(1), count(2), count(3)];
    if bytes.len() < 16 || vertices.max(faces).max(normals).max(textures) > LARGEST {
        return problem("it is not an MSH file; export it again");
    }
    let needed = 4 * (4 + 3 * vertices + 3 * normals + 2 * textures + 3 * faces);
    if bytes.len() != needed {
        let length = bytes.len();
        return problem(format!(
            "it has {length} bytes, but what it says it holds takes {needed}; export it again"
        ));
    }
    let number = |i: usize| word(i).map_or(f64::NAN, |b| f64::from(f32::from_le_bytes(b)));
    let corner = |i: usize| word(i).map_or(u32::MAX, u32::from_le_bytes);
    let first = 4 + 3 * vertices + 3 * normals + 2 * textures;
    Ok(Mesh {
        vertices: (0..vertices)
            .map(|i| 4 + 3 * i)
            .map(|i| Vec3::new(number(i), number(i + 1), number(i + 2)))
            .collect(),
        triangles: (0..faces)
            .map(|i| first + 3 * i)
            .map(|i| [corner(i), corner(i + 1), corner(i + 2)])
            .collect(),
    })
}
