//! The files that a scene is drawn from: meshes, and the textures, materials and buffers that they name.
//!
//! All of them are found before anything is served, and only in the directories a robot's own files may lie in.

use linkwork::model::WORLD;
use linkwork_formats::{Geometry, Role, Shape};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

/// The largest file that is sent to a page.
const LARGEST: u64 = 256 << 20;
/// So much of a mesh is searched for the names of other files; text formats name them near their beginning.
const SEARCHED: usize = 64 << 20;

/// The files of a scene, by number.
#[derive(Clone, Debug, Default)]
pub struct Assets {
    files: Vec<File>,
    numbers: HashMap<File, usize>,
    meshes: Vec<MeshAsset>,
    known: HashMap<(String, Form), usize>,
}

/// A file as it is, or the convex hull of the mesh in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct File {
    path: PathBuf,
    form: Form,
}

/// What is drawn of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// All of it.
    Whole,
    /// The hull, by which it touches.
    Hull,
}

impl Form {
    /// That of shapes with a role: meshes to be touched are hulls, unless nothing else is there to be seen.
    pub(crate) fn of(all: &[Geometry]) -> impl Fn(Role) -> Self + use<> {
        let seen = all.iter().any(|g| g.role == Role::Visual && g.link != WORLD);
        move |role| match role {
            Role::Collision if seen => Self::Hull,
            _ => Self::Whole,
        }
    }
}

/// A mesh of the scene.
#[derive(Clone, Debug)]
pub struct MeshAsset {
    /// As the robot's file names it.
    pub uri: String,
    /// Its format, by the end of its name.
    pub kind: String,
    /// Its file's number; none where it cannot be drawn.
    pub file: Option<usize>,
    /// Why not.
    pub problem: String,
    /// Other files, by the names it gives them.
    others: BTreeMap<String, usize>,
}

impl Assets {
    /// The files that shapes need. `home` is the directory of the robot's file.
    pub fn of(geometry: &[Geometry], home: Option<&Path>) -> Self {
        let mut assets = Self::default();
        let home = home.and_then(|h| h.canonicalize().ok());
        let form = Form::of(geometry);
        for shape in geometry {
            if let Shape::Mesh { uri, path, .. } = &shape.shape {
                assets.add(uri, form(shape.role), path.as_deref(), home.as_deref());
            }
        }
        assets
    }

    fn add(&mut self, uri: &str, form: Form, path: Option<&Path>, home: Option<&Path>) {
        let key = (uri.to_owned(), form);
        if self.known.contains_key(&key) {
            return;
        }
        self.known.insert(key, self.meshes.len());
        let kind = end(path.unwrap_or(Path::new(uri))).unwrap_or_default();
        let mut mesh = MeshAsset {
            uri: uri.to_owned(),
            kind,
            file: None,
            problem: String::new(),
            others: BTreeMap::new(),
        };
        match self.checked(path, &mesh.kind) {
            Ok(path) => {
                mesh.file = Some(self.number(&path, form));
                match form {
                    Form::Whole => mesh.others = self.others(&path, &mesh.kind, &root(&path, uri, home)),
                    Form::Hull => mesh.kind = "stl".to_owned(),
                }
            }
            Err(problem) => mesh.problem = problem,
        }
        self.meshes.push(mesh);
    }

    /// The mesh's file, or why it cannot be drawn.
    fn checked(&self, path: Option<&Path>, kind: &str) -> Result<PathBuf, String> {
        let path = path.ok_or("not found, or outside of the robot's directories")?;
        if !["stl", "obj", "dae", "gltf", "glb", "msh"].contains(&kind) {
            return Err(format!(
                "`.{kind}` is not a mesh that can be drawn; STL, OBJ, DAE, glTF and MSH are"
            ));
        }
        let path = path.canonicalize().map_err(|e| e.to_string())?;
        let about = path.metadata().map_err(|e| e.to_string())?;
        match about.len() {
            _ if !about.is_file() => Err("is not a file".into()),
            n if n > LARGEST => Err(format!("has {} MB; {} is the most", n >> 20, LARGEST >> 20)),
            _ => Ok(path),
        }
    }

    fn number(&mut self, path: &Path, form: Form) -> usize {
        let file = File {
            path: path.to_owned(),
            form,
        };
        if let Some(n) = self.numbers.get(&file) {
            return *n;
        }
        self.files.push(file.clone());
        self.numbers.insert(file, self.files.len() - 1);
        self.files.len() - 1
    }

    /// What a mesh refers to and lies within a root, by the names it gives.
    fn others(&mut self, path: &Path, kind: &str, root: &Path) -> BTreeMap<String, usize> {
        let mut found = BTreeMap::new();
        let folder = path.parent().unwrap_or(path);
        let mut names = named(path, kind);
        for library in names.clone().iter().filter(|n| n.ends_with(".mtl")) {
            if let Some(file) = within(root, folder, library) {
                names.extend(named(&file, "mtl"));
            }
        }
        for name in names {
            if let Some(file) = within(root, folder, &name) {
                found.insert(name, self.number(&file, Form::Whole));
            }
        }
        found
    }

    /// The number of a shape's mesh.
    pub(crate) fn mesh(&self, uri: &str, form: Form) -> Option<usize> {
        self.known.get(&(uri.to_owned(), form)).copied()
    }

    /// All meshes.
    pub fn meshes(&self) -> &[MeshAsset] {
        &self.meshes
    }

    /// The content of a file by its number as text; none where there is no such file.
    pub(crate) fn read(&self, number: &str) -> Option<io::Result<Vec<u8>>> {
        // Only the one way to write a number is a name.
        let file = self.files.get(number.parse::<usize>().ok()?)?;
        number.bytes().all(|b| b.is_ascii_digit()).then(|| content(file))
    }

    /// The contents of all files, in the order of their numbers. A mesh that encloses nothing has no hull, and no bytes.
    pub(crate) fn contents(&self) -> impl Iterator<Item = io::Result<Vec<u8>>> {
        self.files.iter().map(|file| match (content(file), file.form) {
            (Err(_), Form::Hull) => Ok(Vec::new()),
            (bytes, _) => bytes,
        })
    }

    /// The meshes, as a scene tells of them.
    pub(crate) fn to_json(&self) -> Value {
        let meshes = self
            .meshes
            .iter()
            .map(|m| json!({ "uri": m.uri, "kind": if m.kind == "msh" { "stl" } else { &m.kind }, "file": m.file, "problem": m.problem, "others": m.others }));
        meshes.collect()
    }
}

fn end(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// A file as a page gets it: as it is, but for hulls and MuJoCo's own format, which become STL.
fn content(file: &File) -> io::Result<Vec<u8>> {
    if file.form == Form::Whole && end(&file.path).as_deref() != Some("msh") {
        return std::fs::read(&file.path);
    }
    let mesh = linkwork_formats::Mesh::load(&file.path).map_err(io::Error::other)?;
    match file.form {
        Form::Whole => Ok(stl(&mesh)),
        Form::Hull => Ok(stl(&mesh.hull().map_err(io::Error::other)?)),
    }
}

fn stl(mesh: &linkwork_formats::Mesh) -> Vec<u8> {
    let mut out = vec![0; 80];
    out.extend((mesh.triangles.len() as u32).to_le_bytes());
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|i| mesh.vertices[i as usize]);
        let normal = (b - a).cross(c - a);
        let length = normal.norm();
        let normal = if length > 0.0 { normal * (1.0 / length) } else { normal };
        for number in [normal, a, b, c].iter().flat_map(|v| v.to_array()) {
            out.extend((number as f32).to_le_bytes());
        }
        out.extend([0; 2]);
    }
    out
}

/// The directory that a mesh's other files must lie in: the robot's, its package's, or the mesh's own.
fn root(path: &Path, uri: &str, home: Option<&Path>) -> PathBuf {
    if let Some(home) = home.filter(|h| path.starts_with(h)) {
        return home.to_owned();
    }
    let inner = uri.strip_prefix("package://").or_else(|| uri.strip_prefix("model://"));
    let inner = inner
        .and_then(|rest| rest.trim_start_matches('/').split_once('/'))
        .map(|(_, inner)| Path::new(inner));
    if let Some(inner) = inner.filter(|inner| path.ends_with(inner))
        && let Some(package) = path.ancestors().nth(inner.components().count())
    {
        return package.to_owned();
    }
    path.parent().unwrap_or(path).to_owned()
}

/// A file that another names, if it lies within a root and is of a kind that meshes name.
fn within(root: &Path, folder: &Path, name: &str) -> Option<PathBuf> {
    if name.contains("://") || name.contains('\0') || name.len() > 1024 {
        return None;
    }
    let path = folder.join(decoded(name)).canonicalize().ok()?;
    let end = end(&path)?;
    let kinds = ["mtl", "bin", "png", "jpg", "jpeg", "webp", "bmp", "gif"];
    let about = path.metadata().ok()?;
    let right = about.is_file() && about.len() <= LARGEST && kinds.contains(&&*end);
    (right && path.starts_with(root)).then_some(path)
}

/// `%20` and the like as what they mean.
fn decoded(name: &str) -> String {
    let bytes = name.as_bytes();
    let (mut out, mut i) = (Vec::new(), 0);
    while i < bytes.len() {
        let hex = name.get(i + 1..i + 3).filter(|_| bytes[i] == b'%');
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                i += 3;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The names of other files in a mesh or library of materials, as they stand there.
fn named(path: &Path, kind: &str) -> Vec<String> {
    if kind == "stl" || kind == "msh" {
        return Vec::new();
    }
    let Ok(mut bytes) = std::fs::read(path) else {
        return Vec::new();
    };
    bytes.truncate(SEARCHED);
    if kind == "glb" {
        // Twelve bytes, then the length and kind of the first part, which is JSON.
        let length = bytes
            .get(12..16)
            .and_then(|n| n.try_into().ok())
            .map_or(0, u32::from_le_bytes);
        bytes = bytes.get(20..20 + length as usize).unwrap_or_default().to_vec();
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut names: Vec<String> = match kind {
        "gltf" | "glb" => {
            let root: Value = serde_json::from_str(&text).unwrap_or_default();
            let lists = ["buffers", "images"].into_iter().filter_map(|k| root[k].as_array());
            lists
                .flatten()
                .filter_map(|x| x["uri"].as_str())
                .map(str::to_owned)
                .collect()
        }
        "dae" => between(&text, "<init_from>", "</init_from>"),
        _ => text.lines().filter_map(file_of_line).collect(),
    };
    names.retain(|name| !name.starts_with("data:"));
    names
}

/// The file that a line of an OBJ file or a library of materials names; options come before it.
fn file_of_line(line: &str) -> Option<String> {
    let (word, rest) = line.trim().split_once(char::is_whitespace)?;
    let names = word == "mtllib" || word.starts_with("map_") || matches!(word, "bump" | "disp" | "norm");
    let name = if word == "mtllib" {
        rest.trim()
    } else {
        rest.split_whitespace().last()?
    };
    names.then(|| name.to_owned())
}

fn between(text: &str, start: &str, end: &str) -> Vec<String> {
    let parts = text.split(start).skip(1).filter_map(|part| part.split_once(end));
    let inner = parts.map(|(name, _)| name.trim());
    // The newer form has an element inside.
    inner
        .map(|n| {
            n.strip_prefix("<ref>")
                .and_then(|n| n.strip_suffix("</ref>"))
                .unwrap_or(n)
                .to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::spatial::{Pose, Vec3};
    use linkwork_formats::Role;

    fn mesh(uri: &str, path: Option<PathBuf>) -> Geometry {
        Geometry {
            name: String::new(),
            link: "a".into(),
            role: Role::Visual,
            pose: Pose::IDENTITY,
            shape: Shape::Mesh {
                uri: uri.into(),
                path,
                scale: Vec3::new(1.0, 1.0, 1.0),
            },
            colour: None,
        }
    }

    #[test]
    fn a_mesh_of_mujoco_is_sent_as_stl() {
        let file = std::env::temp_dir().join(format!("linkwork-mesh-{}.msh", std::process::id()));
        // Three vertices, no normals, no texture, one triangle.
        let mut bytes: Vec<u8> = [3_i32, 0, 0, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
        let corners = [0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0, 0.0_f32];
        bytes.extend(corners.iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0_i32, 1, 2].iter().flat_map(|n| n.to_le_bytes()));
        std::fs::write(&file, bytes).unwrap();
        let assets = Assets::of(&[mesh("a.msh", Some(file.clone()))], None);
        assert_eq!(assets.to_json()[0]["kind"], "stl");
        let stl = assets.read("0").unwrap().unwrap();
        let numbers: Vec<f32> = stl[84..132]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|x| f32::from_le_bytes(*x))
            .collect();
        assert_eq!((stl.len(), stl[80]), (134, 1));
        assert_eq!((&numbers[..3], &numbers[3..]), (&[0.0, 0.0, 1.0][..], &corners[..]));
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn what_touches_by_its_hull_is_drawn_as_that() {
        let file = std::env::temp_dir().join(format!("linkwork-hull-{}.obj", std::process::id()));
        // A tetrahedron with a point inside.
        let text =
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.1 0.1 0.1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 5\nf 3 4 5\nf 4 2 5\n";
        std::fs::write(&file, text).unwrap();
        let seen = mesh("a.obj", Some(file.clone()));
        let touched = Geometry {
            role: Role::Collision,
            ..seen.clone()
        };
        let both = Assets::of(&[seen, touched.clone()], None);
        assert_eq!((&*both.meshes()[0].kind, &*both.meshes()[1].kind), ("obj", "stl"));
        assert_eq!(both.read("1").unwrap().unwrap()[80], 4, "triangles");
        let alone = Assets::of(&[touched], None);
        assert_eq!(alone.meshes()[0].kind, "obj", "where nothing else is seen");
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn meshes_bring_what_they_name_and_nothing_from_outside() {
        let base = std::env::temp_dir().join(format!("linkwork-assets-{}", std::process::id()));
        let robot = base.join("robot");
        std::fs::create_dir_all(robot.join("meshes")).unwrap();
        std::fs::create_dir_all(robot.join("textures")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(base.join(name), text).unwrap();
        write("secret.png", "x");
        write("robot/secret.txt", "x");
        write("robot/textures/skin 1.png", "x");
        write("robot/meshes/a.mtl", "map_Kd -s 1 1 1 ../textures/x.png\n");
        write("robot/textures/x.png", "x");
        write("robot/meshes/a.obj", "mtllib a.mtl\nmtllib ../../secret.png\n");
        write(
            "robot/meshes/b.dae",
            "<init_from>../textures/skin%201.png</init_from><init_from>../../secret.png</init_from>\
             <init_from>/etc/passwd</init_from><init_from>../secret.txt</init_from>",
        );
        let at = |name: &str| Some(robot.join("meshes").join(name));
        let shapes = [
            mesh("meshes/a.obj", at("a.obj")),
            mesh("meshes/b.dae", at("b.dae")),
            mesh("meshes/a.obj", at("a.obj")),
            mesh("gone.stl", None),
            mesh("odd.xyz", at("a.mtl")),
        ];
        let assets = Assets::of(&shapes, Some(&robot));
        let json = assets.to_json();
        assert_eq!(assets.meshes().len(), 4, "each once");
        let others = |i: usize| {
            json[i]["others"]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(others(0), ["../textures/x.png", "a.mtl"]);
        assert_eq!(others(1), ["../textures/skin%201.png"]);
        assert!(json[2]["file"].is_null() && json[2]["problem"].as_str().unwrap().contains("not found"));
        assert!(json[3]["problem"].as_str().unwrap().contains("`.mtl`"));
        assert_eq!(assets.contents().count(), 5);
        assert!(assets.read("5").is_none() && assets.read("+1").is_none() && assets.read("../x").is_none());
        assert_eq!(
            assets.read("1").unwrap().unwrap(),
            b"map_Kd -s 1 1 1 ../textures/x.png\n"
        );
        std::fs::remove_dir_all(base).unwrap();
    }
}
