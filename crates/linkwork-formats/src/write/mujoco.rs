//! What MuJoCo asks of a file beyond its format.

use crate::report::Findings;
use crate::robot::{Geometry, Robot, Shape};
use crate::source::{At, shortened};
use linkwork::spatial::{Inertia, Vec3};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Ten times what MuJoCo takes of moving bodies at least (`mjMINVAL`, 1e-15), in kg and kg m².
pub(super) const LEAST_MASS: f64 = 1e-14;
/// MuJoCo refuses `fullinertia` whose least principal moment is below 1e-14, in kg m²: one with less room than this for
/// rounding gets twice as much.
const LEAST_FULL: f64 = 1.5e-14;
/// MuJoCo's largest mesh in STL.
const MOST_FACES: u64 = 200_000;

/// A mesh as its file, and its name in the file that is written.
pub(super) struct Mesh {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) scale: Vec3,
}

/// Meshes that MuJoCo can open, by their files and scales.
#[derive(Default)]
pub(super) struct Meshes {
    /// In the order of their files, whatever the robot calls them.
    all: BTreeMap<(PathBuf, String), Mesh>,
    /// Those of shapes, by uri and scale.
    known: HashMap<String, Option<(PathBuf, String)>>,
}

fn key(uri: &str, scale: Vec3) -> String {
    format!("{uri} {}", super::vector(scale))
}

impl Meshes {
    /// Looks at the meshes of a robot, and tells which are left out and why.
    pub(super) fn of(robot: &Robot, f: &mut Findings) -> Self {
        let mut meshes = Self::default();
        // Reasons, each with how often and the first.
        let mut lost: BTreeMap<&'static str, (usize, &str)> = BTreeMap::new();
        for g in &robot.geometry {
            let Shape::Mesh { uri, path, scale } = &g.shape else {
                continue;
            };
            let name = key(uri, *scale);
            if meshes.known.contains_key(&name) {
                continue;
            }
            let mesh = match openable(uri, path.as_deref()) {
                Ok(path) => {
                    let mesh = Mesh {
                        name: String::new(),
                        file: path.to_string_lossy().into_owned(),
                        scale: *scale,
                    };
                    let place = (path, super::vector(*scale));
                    meshes.all.insert(place.clone(), mesh);
                    Some(place)
                }
                Err(reason) => {
                    lost.entry(reason).or_insert((0, uri)).0 += 1;
                    None
                }
            };
            meshes.known.insert(name, mesh);
        }
        // Each is named after its file.
        let mut taken = HashSet::new();
        for ((path, _), mesh) in &mut meshes.all {
            let stem = path
                .file_stem()
                .map_or_else(String::new, |s| s.to_string_lossy().into_owned());
            mesh.name = crate::draft::free_name(&stem, |n| taken.contains(n));
            taken.insert(mesh.name.clone());
        }
        for (reason, (count, first)) in lost {
            let message = format!(
                "{count} meshes are left out, the first being `{}`: {reason}",
                shortened(first)
            );
            f.doubt(At::FILE, "lost-mesh", message, ADVICE);
        }
        meshes
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Mesh> {
        self.all.values()
    }

    /// The name of a shape's mesh; none if it is left out.
    pub(super) fn name(&self, uri: &str, scale: Vec3) -> Option<&str> {
        let place = self.known.get(&key(uri, scale))?.as_ref()?;
        self.all.get(place).map(|mesh| mesh.name.as_str())
    }
}

const ADVICE: &str = "name the directories of packages, convert meshes to binary STL or OBJ, or use the native format";

/// The file of a mesh, or why MuJoCo cannot open it.
fn openable(uri: &str, found: Option<&Path>) -> Result<PathBuf, &'static str> {
    let plain = Path::new(uri);
    let path = match found {
        Some(path) => path.to_owned(),
        // As written by an earlier conversion, or for a file that is beside the new one.
        None if plain.is_absolute() && plain.is_file() => plain.to_owned(),
        None => return Err("their files were not found"),
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    let end = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match end.as_deref() {
        Some("stl") => match binary_faces(&path) {
            Some(1..=MOST_FACES) => Ok(path),
            Some(_) => Err("MuJoCo opens STL files of 1 to 200,000 faces"),
            None => Err("MuJoCo opens binary STL files only"),
        },
        Some("obj" | "msh") => Ok(path),
        _ => Err("MuJoCo opens STL, OBJ and MSH files only"),
    }
}

/// The faces of a binary STL file; none for any other.
fn binary_faces(path: &Path) -> Option<u64> {
    let mut file = std::fs::File::open(path).ok()?;
    let mut head = [0; 84];
    file.read_exact(&mut head).ok()?;
    let faces = u64::from(u32::from_le_bytes([head[80], head[81], head[82], head[83]]));
    (file.metadata().ok()?.len() == 84 + 50 * faces).then_some(faces)
}

/// An inertia that is within what MuJoCo accepts by rounding, if it misses that by no more; one that misses it by more is told
/// of and stays as it is.
pub(super) fn within(inertia: &Inertia, at: At<'_>, f: &mut Findings) -> Inertia {
    /// What counts as rounding.
    const ROUNDING: f64 = 1e-9;
    let [least, middle, most] = inertia.principal().0;
    // What is missing of least + middle ≥ most, and of least ≥ 0, with room for MuJoCo's own rounding. What has half of that
    // room has enough, so that one that was given it stays as it is when it is written again.
    let margin = 1e-12 * most.abs();
    let mut missing = (most - least - middle + margin).max(margin - least);
    if missing > margin + ROUNDING * most.abs() && most > LEAST_MASS {
        let message = "no body has its moments of inertia, and MuJoCo refuses them";
        f.doubt(at, "unphysical-inertia", message, "convert with --repair");
        return *inertia;
    }
    let too_little = !is_diagonal(inertia) && least < LEAST_FULL;
    if too_little {
        missing = missing.max(2.0 * LEAST_FULL - least);
    }
    if missing <= 0.5 * margin && !too_little || inertia.mass == 0.0 && most == 0.0 {
        return *inertia;
    }
    let [xx, xy, xz, yy, yz, zz] = inertia.moments;
    Inertia {
        moments: [xx + missing, xy, xz, yy + missing, yz, zz + missing],
        ..*inertia
    }
}

/// Whether its axes are principal ones: then moments of zero are as good as any.
pub(super) fn is_diagonal(inertia: &Inertia) -> bool {
    [1, 2, 4].iter().all(|i| inertia.moments[*i] == 0.0)
}

/// Names that are all different: repeated ones get a number.
pub(super) fn unique<'a>(shapes: impl Iterator<Item = &'a Geometry>) -> Vec<String> {
    let names: Vec<&str> = shapes.map(|g| g.name.as_str()).collect();
    let mut taken: HashMap<String, usize> = HashMap::new();
    names
        .iter()
        .for_each(|name| *taken.entry((*name).to_owned()).or_default() += 1);
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut unique = |name: &&'a str| {
        let count = seen.entry(name).or_default();
        *count += 1;
        if name.is_empty() || *count == 1 {
            return (*name).to_owned();
        }
        let mut new = format!("{name}_{count}");
        while taken.contains_key(&new) {
            new.push('_');
        }
        taken.insert(new.clone(), 1);
        new
    };
    names.iter().map(&mut unique).collect()
}

/// A direction of unit length, whatever its length; none if it has none.
pub(super) fn direction(axis: Vec3) -> Vec3 {
    let largest = axis.to_array().into_iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if largest == 0.0 || (1e-3..=1e3).contains(&axis.norm()) {
        return axis;
    }
    let scaled = axis * largest.recip();
    scaled * scaled.norm().recip()
}
