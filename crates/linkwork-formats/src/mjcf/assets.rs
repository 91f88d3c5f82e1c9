//! Meshes and colours by name.

use super::compiler::Compiler;
use super::terrain::Field;
use super::{Model, principal_axes};
use crate::mesh::{Mesh, Moments};
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::rotations::quaternion;
use crate::search_paths::{Lost, SearchPaths};
use crate::source::shortened;
use crate::xml::Element;
use linkwork::spatial::{Pose, Rotation, Vec3};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;

/// How a mesh is made a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filling {
    /// Every pyramid over a triangle counts as positive.
    Legacy,
    Exact,
    Convex,
    Shell,
}

/// A mesh asset.
pub(super) struct MeshAsset {
    /// The file, as found from the robot's own; empty where vertices stand in the asset.
    pub(super) uri: String,
    pub(super) scale: Vec3,
    /// Where the mesh's own frame is in the asset's.
    pub(super) reference: Pose,
    inline: Option<Mesh>,
    filling: Filling,
    /// Why it cannot be read, whatever its file holds.
    problem: Option<String>,
    body: OnceCell<Result<Filled, String>>,
}

/// A mesh as a body.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    /// In the frame of the asset.
    pub(super) moments: Moments,
    /// What is doubtful about it.
    pub(super) doubt: Option<&'static str>,
    /// The centre and principal axes, largest moment first.
    pub(super) frame: Pose,
    /// Half edges of the box with the same moments, in that frame.
    pub(super) inertia_box: Vec3,
    /// The corners of the box around it, in that frame.
    pub(super) bounds: [Vec3; 2],
}

#[derive(Default)]
pub(super) struct Assets {
    pub(super) meshes: HashMap<String, MeshAsset>,
    pub(super) colours: HashMap<String, [f64; 4]>,
    pub(super) fields: HashMap<String, Field>,
}

impl Assets {
    pub(super) fn read<'a>(model: &'a Model<'a>, roots: &SearchPaths, f: &mut Findings) -> Self {
        let mut this = Self::default();
        for e in model.section("asset").flat_map(|s| model.includes.children(s)) {
            let d = model.defaults.apply(e, None, f);
            match e.name() {
                "mesh" => {
                    let file = e.attribute("file").unwrap_or_default();
                    let stem = Path::new(&*file).file_stem().map(|s| s.to_string_lossy().into_owned());
                    let name = e.attribute("name").map(|n| n.into_owned()).or(stem).unwrap_or_default();
                    this.meshes.insert(name, mesh(model, e, &d, roots, f));
                }
                "hfield" => {
                    let file = e.attribute("file").unwrap_or_default();
                    let stem = Path::new(&*file).file_stem().map(|s| s.to_string_lossy().into_owned());
                    let name = e.attribute("name").map(|n| n.into_owned()).or(stem).unwrap_or_default();
                    this.fields
                        .extend(Field::read(model, e, &d, roots, f).map(|field| (name, field)));
                }
                "material" => {
                    let colour = colour(d.with("rgba"), e.at(), f);
                    if let (Some(name), Some(colour)) = (e.attribute("name"), colour) {
                        this.colours.insert(name.into_owned(), colour);
                    }
                }
                _ => {}
            }
        }
        this
    }
}

/// Red, green, blue and opacity; what is no colour is doubtful at most, for nothing moves by it.
pub(super) fn colour(e: Element<'_>, at: crate::source::At<'_>, f: &mut Findings) -> Option<[f64; 4]> {
    let text = e.attribute("rgba")?;
    let words: Vec<f64> = text.split_ascii_whitespace().filter_map(|w| w.parse().ok()).collect();
    let found = <[f64; 4]>::try_from(words)
        .ok()
        .filter(|c| c.iter().all(|x| x.is_finite()));
    if found.is_none() && !text.trim().is_empty() {
        let message = format!("rgba=\"{}\" is not a colour; it is ignored", shortened(&text));
        f.doubt(at.seen_at(e.spot_of("rgba")), "colour", message, "give four numbers");
    }
    found
}

fn mesh(
    model: &Model<'_>,
    e: Element<'_>,
    d: &super::defaults::Defaulted<'_>,
    roots: &SearchPaths,
    f: &mut Findings,
) -> MeshAsset {
    let at = e.at();
    let scale = numbers::list(f, d.with("scale"), "scale", at, Range::Usable).unwrap_or(vec![1.0; 3]);
    let scale = match scale[..] {
        [x, y, z] => Vec3::new(x, y, z),
        [x, y, z, ..] => {
            let message = format!("scale has {} numbers; the first three count", scale.len());
            f.doubt(
                at.seen_at(d.with("scale").spot_of("scale")),
                "scale",
                message,
                "give three",
            );
            Vec3::new(x, y, z)
        }
        _ => {
            let message = format!("scale has {} numbers instead of 3", scale.len());
            f.error(
                at.seen_at(d.with("scale").spot_of("scale")),
                "number-count",
                message,
                "give three",
            );
            Vec3::new(1.0, 1.0, 1.0)
        }
    };
    let position = numbers::vector(f, d.with("refpos"), "refpos", at).unwrap_or_default();
    let turn = numbers::several::<4>(f, d.with("refquat"), "refquat", at).and_then(quaternion);
    let mut problem = None;
    let filling = match d.attribute("inertia").as_deref() {
        Some("exact") => Filling::Exact,
        Some("convex") => Filling::Convex,
        Some("shell") => Filling::Shell,
        Some("legacy") => Filling::Legacy,
        Some(other) => {
            let message = format!("inertia=\"{}\" is unknown", shortened(other));
            let advice = "use one of convex, exact, legacy, shell";
            f.error(
                at.seen_at(d.with("inertia").spot_of("inertia")),
                "mesh",
                message,
                advice,
            );
            Filling::Legacy
        }
        None if model.compiler.exact_meshes => Filling::Exact,
        None => Filling::Legacy,
    };
    if e.attribute("builtin").is_some() {
        problem = Some("builtin meshes are not made here".to_owned());
    }
    if filling == Filling::Convex && d.attribute("maxhullvert").is_some_and(|n| n != "-1") {
        problem = Some("hulls with fewer vertices (maxhullvert) are not made here".to_owned());
    }
    MeshAsset {
        uri: uri(model, e, roots),
        scale,
        reference: Pose::new(turn.unwrap_or(Rotation::IDENTITY), position).inverse(),
        inline: inline(e, f),
        filling,
        problem,
        body: OnceCell::new(),
    }
}

/// Vertices that stand in the file, and triangles of them; their hull where there are none.
fn inline(e: Element<'_>, f: &mut Findings) -> Option<Mesh> {
    let numbers = |name: &str, f: &mut Findings| {
        let text = e.attribute(name)?;
        let found: Result<Vec<f64>, _> = text
            .split_ascii_whitespace()
            .map(|w| numbers::parse(w, Range::Usable))
            .collect();
        match found {
            Ok(list) if list.len() % 3 == 0 => Some(list),
            Ok(list) => {
                let message = format!("{name} has {} numbers, which is not a multiple of three", list.len());
                f.error(
                    e.at().seen_at(e.spot_of(name)),
                    "number-count",
                    message,
                    "give three for each",
                );
                None
            }
            Err((problem, advice)) => {
                f.error(
                    e.at().seen_at(e.spot_of(name)),
                    "number",
                    format!("{name}: {problem}"),
                    advice,
                );
                None
            }
        }
    };
    let vertices = numbers("vertex", f)?;
    let faces = numbers("face", f).unwrap_or_default();
    Some(Mesh {
        vertices: vertices.chunks_exact(3).map(|v| Vec3::new(v[0], v[1], v[2])).collect(),
        triangles: faces
            .chunks_exact(3)
            .map(|t| [t[0] as u32, t[1] as u32, t[2] as u32])
            .collect(),
    })
}

/// An asset's file, as found from the directory of the robot's own. If it is not there, it may lie beside the included file
/// that names it.
pub(super) fn uri(model: &Model<'_>, e: Element<'_>, roots: &SearchPaths) -> String {
    let file = e.attribute("file").unwrap_or_default();
    let first = uri_within(model, &file, "");
    let missing = |uri: &str| roots.look(None, uri) == Err(Lost::Missing);
    match model.includes.directory_of(e).filter(|_| missing(&first)) {
        Some(directory) => Some(uri_within(model, &file, directory))
            .filter(|uri| !missing(uri))
            .unwrap_or(first),
        None => first,
    }
}

fn uri_within(model: &Model<'_>, file: &str, place: &str) -> String {
    let Compiler {
        mesh_directory, strip, ..
    } = &model.compiler;
    let stripped = Path::new(file).file_name().map(|n| n.to_string_lossy().into_owned());
    let file = stripped.filter(|_| *strip).unwrap_or(file.to_owned());
    if file.is_empty() || file.contains("://") || Path::new(&file).is_absolute() {
        return file;
    }
    let mut whole = file;
    for directory in [place, mesh_directory.trim_end_matches('/'), &model.directory] {
        if !directory.is_empty() && !Path::new(&whole).is_absolute() {
            whole = format!("{directory}/{whole}");
        }
    }
    whole
}

impl MeshAsset {
    /// Where the file's own frame is in the asset's. Scales that differ along axes which are turned cannot be told so.
    pub(super) fn shown_at(&self) -> Pose {
        let t = self.reference.translation;
        let moved = Vec3::new(t.x * self.scale.x, t.y * self.scale.y, t.z * self.scale.z);
        Pose::new(self.reference.rotation, moved)
    }

    /// The mesh as a body, or why it is none.
    pub(super) fn body(&self, roots: &SearchPaths) -> &Result<Filled, String> {
        self.body.get_or_init(|| self.fill(roots))
    }

    fn fill(&self, roots: &SearchPaths) -> Result<Filled, String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        let mesh = match &self.inline {
            Some(mesh) => mesh.clone().checked().map_err(|e| e.to_string())?,
            None => {
                let path = roots.look(None, &self.uri).map_err(|lost| lost.message().to_owned())?;
                Mesh::load(&path).map_err(|e| e.to_string())?
            }
        };
        // MuJoCo keeps vertices as `f32`, and moves and turns them before it scales them.
        let moved = |v: &Vec3| {
            self.reference
                .point(Vec3::from(v.to_array().map(|x| f64::from(x as f32))))
        };
        let mut mesh = Mesh {
            vertices: mesh.vertices.iter().map(moved).collect(),
            ..mesh
        }
        .scaled(self.scale);
        if mesh.triangles.is_empty() || self.filling == Filling::Convex {
            mesh = mesh.hull().map_err(|e| e.to_string())?;
        }
        let (moments, doubt) = match self.filling {
            Filling::Shell => (mesh.shell(), None),
            Filling::Convex => (mesh.solid(), None),
            Filling::Legacy => (mesh.overestimate(), None),
            Filling::Exact => {
                let sound = mesh.soundness();
                let doubt = match (sound.closed, sound.inverted) {
                    (_, true) => return Err("its triangles face inwards, so that its volume is negative".to_owned()),
                    (false, _) => Some("the mesh is not closed, so that its volume is doubtful"),
                    _ => None,
                };
                let moments = if sound.closed {
                    mesh.solid()
                } else {
                    mesh.solid_if_closed()
                };
                (moments, doubt)
            }
        };
        let finite = moments.centre.norm().is_finite() && moments.inertia.iter().all(|i| i.is_finite());
        if !finite || moments.measure.is_nan() || moments.measure < 1e-14 {
            return Err(format!(
                "its measure of {:.3e} is too small for a body",
                moments.measure
            ));
        }
        Ok(Filled::new(&mesh, moments, doubt))
    }
}

impl Filled {
    fn new(mesh: &Mesh, moments: Moments, doubt: Option<&'static str>) -> Self {
        let ([a, b, c], turn) = principal_axes::principal(moments.inertia);
        let frame = Pose::new(turn, moments.centre);
        let back = frame.inverse();
        let mut bounds = [Vec3::from([f64::INFINITY; 3]), Vec3::from([f64::NEG_INFINITY; 3])];
        for v in mesh.vertices.iter().map(|v| back.point(*v)) {
            let [low, high] = bounds;
            bounds = [
                Vec3::new(low.x.min(v.x), low.y.min(v.y), low.z.min(v.z)),
                Vec3::new(high.x.max(v.x), high.y.max(v.y), high.z.max(v.z)),
            ];
        }
        // Of a box of mass m with half edges h: m (h_y² + h_z²)/3 about x.
        let half = |sum: f64| (1.5 * sum.max(0.0) / moments.measure).sqrt();
        Self {
            moments,
            doubt,
            frame,
            inertia_box: Vec3::new(half(b + c - a), half(a + c - b), half(a + b - c)),
            bounds,
        }
    }
}
