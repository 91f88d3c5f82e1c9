//! COLLADA: geometries, and a scene that places them.

use super::{LARGEST, Mesh, MeshProblem, problem};
use crate::report::{Findings, Mode};
use crate::xml::{Document, Element};
use linkwork::spatial::{Rotation, Vec3};
use std::collections::HashMap;

/// Nodes of a scene that are nested deeper, or in a circle, are refused.
const DEEPEST: usize = 256;

/// An affine map: three columns and a translation.
type Map = [Vec3; 4];

const IDENTITY: Map = [
    Vec3 { x: 1.0, y: 0.0, z: 0.0 },
    Vec3 { x: 0.0, y: 1.0, z: 0.0 },
    Vec3 { x: 0.0, y: 0.0, z: 1.0 },
    Vec3::ZERO,
];

fn turn(map: &Map, v: Vec3) -> Vec3 {
    map[0] * v.x + map[1] * v.y + map[2] * v.z
}

fn product(a: &Map, b: &Map) -> Map {
    let [x, y, z, t] = *b;
    [turn(a, x), turn(a, y), turn(a, z), turn(a, t) + a[3]]
}

/// Reads all triangles of the scene, in metres; of all geometries where there is no scene.
pub(super) fn read(bytes: &[u8]) -> Result<Mesh, MeshProblem> {
    let mut f = Findings::new(Mode::Warn);
    let Some(document) = Document::parse("", bytes, &mut f) else {
        return problem(f.refusal().to_string().trim_start_matches([':', ' ']).to_owned());
    };
    let root = document.root();
    if root.name() != "COLLADA" {
        return problem("it is not a COLLADA file: its root is not <COLLADA>");
    }
    let reader = Reader {
        by_id: document
            .elements()
            .filter_map(|e| Some((e.attribute("id")?.into_owned(), e)))
            .collect(),
    };
    let unit = root.child("asset").and_then(|a| a.child("unit"));
    let metre = unit.and_then(|u| u.attribute("meter")?.parse::<f64>().ok());
    let metre = metre.filter(|m| m.is_finite() && *m > 0.0).unwrap_or(1.0);
    let mut whole = IDENTITY;
    whole[..3].iter_mut().for_each(|column| *column = *column * metre);
    let mut mesh = Mesh::default();
    let scene = root
        .child("scene")
        .and_then(|s| s.child("instance_visual_scene"))
        .and_then(|s| reader.target(s, "url"));
    match scene.or_else(|| root.child("library_visual_scenes")?.child("visual_scene")) {
        Some(scene) => reader.scene(scene, &whole, &mut mesh)?,
        None => {
            let libraries = root.children_named("library_geometries");
            for geometry in libraries.flat_map(|l| l.children_named("geometry")) {
                reader.geometry(geometry, &whole, &mut mesh)?;
            }
        }
    }
    if mesh.triangles.is_empty() {
        return problem("it has no triangles");
    }
    Ok(mesh)
}

struct Reader<'a> {
    by_id: HashMap<String, Element<'a>>,
}

/// The numbers in an element's text.
fn numbers(e: Element<'_>) -> Result<Vec<f64>, MeshProblem> {
    let words = e.text().split_ascii_whitespace();
    words
        .map(|w| match w.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => problem(format!(
                "<{}> has `{}` for a number",
                e.name(),
                crate::source::shortened(w)
            )),
        })
        .collect()
}

/// The transform that an element of a node stands for, if it is one.
fn transform(e: Element<'_>) -> Result<Option<Map>, MeshProblem> {
    let wrong = || problem(format!("<{}> has not as many numbers as it needs", e.name()));
    Ok(Some(match e.name() {
        "matrix" => match numbers(e)?[..] {
            [a, b, c, x, d, e, f, y, g, h, i, z, ..] => [
                Vec3::new(a, d, g),
                Vec3::new(b, e, h),
                Vec3::new(c, f, i),
                Vec3::new(x, y, z),
            ],
            _ => return wrong(),
        },
        "translate" => match numbers(e)?[..] {
            [x, y, z] => [IDENTITY[0], IDENTITY[1], IDENTITY[2], Vec3::new(x, y, z)],
            _ => return wrong(),
        },
        "rotate" => match numbers(e)?[..] {
            [x, y, z, degrees] => {
                let axis = Vec3::new(x, y, z);
                if axis.norm() == 0.0 {
                    return Ok(None);
                }
                let r = Rotation::about(axis, degrees.to_radians());
                [r.x, r.y, r.z, Vec3::ZERO]
            }
            _ => return wrong(),
        },
        "scale" => match numbers(e)?[..] {
            [x, y, z] => [IDENTITY[0] * x, IDENTITY[1] * y, IDENTITY[2] * z, Vec3::ZERO],
            _ => return wrong(),
        },
        _ => return Ok(None),
    }))
}

impl<'a> Reader<'a> {
    /// What an attribute such as `url="#name"` refers to.
    fn target(&self, e: Element<'a>, attribute: &str) -> Option<Element<'a>> {
        let address = e.attribute(attribute)?;
        self.by_id.get(address.strip_prefix('#')?).copied()
    }

    fn scene(&self, scene: Element<'a>, whole: &Map, mesh: &mut Mesh) -> Result<(), MeshProblem> {
        let mut waiting = vec![(scene, *whole, 0)];
        let mut met = 0_usize;
        while let Some((node, outer, depth)) = waiting.pop() {
            met += 1;
            if depth > DEEPEST || met > 1_000_000 {
                return problem("its scene is nested too deeply, or in a circle");
            }
            let mut map = outer;
            for e in node.children() {
                if let Some(own) = transform(e)? {
                    map = product(&map, &own);
                }
            }
            for e in node.children() {
                match e.name() {
                    "node" => waiting.push((e, map, depth + 1)),
                    "instance_node" => waiting.extend(self.target(e, "url").map(|n| (n, map, depth + 1))),
                    "instance_geometry" => {
                        if let Some(geometry) = self.target(e, "url") {
                            self.geometry(geometry, &map, mesh)?;
                        }
                    }
                    "instance_controller" => {
                        // A skin: what it deforms is taken as it is at rest.
                        let skin = self.target(e, "url").and_then(|c| c.child("skin"));
                        if let Some(geometry) = skin.and_then(|s| self.target(s, "source")) {
                            self.geometry(geometry, &map, mesh)?;
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn geometry(&self, geometry: Element<'a>, map: &Map, mesh: &mut Mesh) -> Result<(), MeshProblem> {
        let mirrored = map[0].dot(map[1].cross(map[2])) < 0.0;
        for inner in geometry.children_named("mesh") {
            let mut known: HashMap<u32, u32> = HashMap::new();
            for e in inner.children() {
                let lists = match e.name() {
                    "triangles" | "polylist" => e.child("p").into_iter().collect::<Vec<_>>(),
                    "polygons" | "trifans" | "tristrips" => e.children_named("p").collect(),
                    _ => continue,
                };
                let Some((offset, stride, positions)) = self.input(e)? else {
                    continue;
                };
                let first = match known.get(&positions.0) {
                    Some(first) => *first,
                    None => {
                        let first = mesh.vertices.len() as u32;
                        known.insert(positions.0, first);
                        let points = positions.1.chunks_exact(3).map(|v| Vec3::new(v[0], v[1], v[2]));
                        mesh.vertices.extend(points.map(|v| turn(map, v) + map[3]));
                        first
                    }
                };
                let counts = match e.child("vcount").filter(|_| e.name() == "polylist") {
                    Some(list) => Some(numbers(list)?),
                    None => None,
                };
                for list in lists {
                    let corners: Vec<u32> = numbers(list)?
                        .chunks_exact(stride)
                        .map(|c| first.saturating_add(c[offset] as u32))
                        .collect();
                    let mut add =
                        |[a, b, c]: [u32; 3]| mesh.triangles.push(if mirrored { [a, c, b] } else { [a, b, c] });
                    let mut fan = |p: &[u32]| (1..p.len().max(2) - 1).for_each(|k| add([p[0], p[k], p[k + 1]]));
                    match (e.name(), &counts) {
                        ("polylist", Some(counts)) => {
                            let mut at = 0;
                            for n in counts {
                                let end = at + *n as usize;
                                let Some(polygon) = corners.get(at..end) else {
                                    return problem("a <polylist> has fewer corners than it says");
                                };
                                fan(polygon);
                                at = end;
                            }
                        }
                        ("tristrips", _) => corners.windows(3).enumerate().for_each(|(i, w)| {
                            add(if i % 2 == 0 {
                                [w[0], w[1], w[2]]
                            } else {
                                [w[1], w[0], w[2]]
                            });
                        }),
                        ("triangles", _) => corners.chunks_exact(3).for_each(fan),
                        _ => fan(&corners),
                    }
                }
                if mesh.triangles.len() > LARGEST || mesh.vertices.len() > LARGEST {
                    return problem(format!("it has more than {LARGEST} vertices or triangles; simplify it"));
                }
            }
        }
        Ok(())
    }

    /// Of a list of primitives: which of its indices are those of positions, how many it has for each corner, and the
    /// positions, with a number that tells them from others.
    #[allow(clippy::type_complexity)]
    fn input(&self, e: Element<'a>) -> Result<Option<(usize, usize, (u32, Vec<f64>))>, MeshProblem> {
        let place = |i: Element<'_>| i.attribute("offset").and_then(|o| o.parse::<usize>().ok()).unwrap_or(0);
        let stride = e.children_named("input").map(place).max().unwrap_or(0) + 1;
        let semantic = |i: &Element<'_>, what: &str| i.attribute("semantic").as_deref() == Some(what);
        let Some(input) = e.children_named("input").find(|i| semantic(i, "VERTEX")) else {
            return Ok(None);
        };
        let source = self
            .target(input, "source")
            .and_then(|v| v.children_named("input").find(|i| semantic(i, "POSITION")))
            .and_then(|i| self.target(i, "source"));
        let Some(list) = source.and_then(|s| s.child("float_array")) else {
            return problem("a <vertices> has no positions");
        };
        if stride > 64 {
            return problem("a list of triangles has too many inputs");
        }
        Ok(Some((place(input), stride, (list.spot().offset, numbers(list)?))))
    }
}
