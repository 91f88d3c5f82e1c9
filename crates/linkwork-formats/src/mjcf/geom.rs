//! Geoms: shapes, and bodies made of them.

use super::Context;
use super::defaults::Defaulted;
use super::orientation::pose;
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::robot::{Geometry, Role, Shape};
use crate::source::{At, shortened};
use crate::turn::facing;
use crate::xml::Element;
use linkwork::spatial::{Inertia, Pose, Vec3};
use std::collections::HashMap;
use std::f64::consts::PI;
use std::path::Path;

const DENSITY: f64 = 1000.0;

/// Meshes and colours by name.
pub(super) struct Assets {
    meshes: HashMap<String, (String, Vec3)>,
    colours: HashMap<String, [f64; 4]>,
}

impl Assets {
    pub(super) fn read<'a>(
        context: &'a Context<'a>,
        sections: impl Iterator<Item = Element<'a>>,
        f: &mut Findings,
    ) -> Self {
        let mut this = Self {
            meshes: HashMap::new(),
            colours: HashMap::new(),
        };
        for e in sections.flat_map(|s| context.includes.children(s)) {
            let d = context.defaults.apply(e, None, f);
            match e.name() {
                "mesh" => {
                    let file = e.attribute("file").unwrap_or_default().into_owned();
                    let stem = Path::new(&file).file_stem().map(|s| s.to_string_lossy().into_owned());
                    let name = e.attribute("name").map(|n| n.into_owned()).or(stem).unwrap_or_default();
                    let scale = numbers::vector(f, d.with("scale"), "scale", e.at());
                    this.meshes
                        .insert(name, (file, scale.unwrap_or(Vec3::new(1.0, 1.0, 1.0))));
                }
                "material" => {
                    let colour = numbers::several(f, d.with("rgba"), "rgba", e.at());
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

/// A geom: how it looks, and the body it is if it counts for one.
pub(super) struct Read {
    pub(super) geometry: Geometry,
    pub(super) inertia: Option<Inertia>,
    /// Whether its body cannot be told from the file.
    pub(super) unknown: bool,
}

/// Reads a geom; none where it has no shape that is known.
pub(super) fn read(
    context: &Context<'_>,
    assets: &Assets,
    e: Element<'_>,
    d: &Defaulted<'_>,
    f: &mut Findings,
) -> Option<Read> {
    let at = e.at();
    let mesh = d.attribute("mesh");
    let written = d
        .attribute("type")
        .unwrap_or(if mesh.is_some() { "mesh".into() } else { "sphere".into() });
    let place = pose(&context.compiler, d, at, f);
    let size = numbers::list(f, d.with("size"), "size", at, Range::Usable).unwrap_or_default();
    let (shape, place) = match &*written {
        "mesh" | "sdf" => (mesh_shape(context, assets, &mesh.unwrap_or_default()), place),
        "plane" => (Shape::Plane, place),
        "hfield" => return None,
        other => primitive(other, &size, d, place, at, f)?,
    };
    let volume = volume(&shape);
    let mut number = |name: &str| numbers::number(f, d.with(name), name, at, Range::Usable);
    let (mass, density, group) = (number("mass"), number("density"), number("group"));
    let (contype, conaffinity) = (number("contype"), number("conaffinity"));
    if let Some(x) = mass.into_iter().chain(density).find(|x| *x < 0.0) {
        f.error(
            at,
            "negative-mass",
            format!("a mass or density is {x}"),
            "give zero or more",
        );
    }
    let counts = (context.compiler.groups[0]..=context.compiler.groups[1]).contains(&group.unwrap_or(0.0));
    let mass = mass.or(volume.map(|v| v * density.unwrap_or(DENSITY)));
    let solid = matches!(shape, Shape::Mesh { .. }) && mass != Some(0.0) && density != Some(0.0);
    let inertia = mass
        .filter(|_| counts)
        .and_then(|m| body(&shape, m))
        .map(|b| b.seen_from(&place));
    let own = numbers::several(f, d.with("rgba"), "rgba", at);
    let material = d.attribute("material").and_then(|m| assets.colours.get(&*m).copied());
    let untouchable = contype == Some(0.0) && conaffinity == Some(0.0);
    Some(Read {
        geometry: Geometry {
            name: e.attribute("name").unwrap_or_default().into_owned(),
            link: String::new(),
            role: if untouchable { Role::Visual } else { Role::Collision },
            pose: place,
            shape,
            colour: own.or(material),
        },
        inertia,
        unknown: solid && counts,
    })
}

fn mesh_shape(context: &Context<'_>, assets: &Assets, name: &str) -> Shape {
    let (file, scale) = assets
        .meshes
        .get(name)
        .cloned()
        .unwrap_or((name.to_owned(), Vec3::new(1.0, 1.0, 1.0)));
    let directory = &context.compiler.mesh_directory;
    let uri = match directory.trim_end_matches('/') {
        "" => file,
        directory => format!("{directory}/{file}"),
    };
    Shape::Mesh { uri, path: None, scale }
}

/// A shape of the format's own, whose sizes are halves; `fromto` gives both its length and its place.
fn primitive(
    kind: &str,
    size: &[f64],
    d: &Defaulted<'_>,
    place: Pose,
    at: At<'_>,
    f: &mut Findings,
) -> Option<(Shape, Pose)> {
    let needed = match kind {
        "sphere" => 1,
        "capsule" | "cylinder" => 2,
        "box" | "ellipsoid" => 3,
        other => {
            let message = format!("unknown geom type `{}`", shortened(other));
            f.error(
                at,
                "geometry",
                message,
                "types are plane, sphere, capsule, ellipsoid, cylinder, box and mesh",
            );
            return None;
        }
    };
    let spanned = d.attribute("fromto").filter(|_| needed > 1);
    let (mut halves, mut place) = ([0.0; 3], place);
    if spanned.is_some() {
        let [a, b, c, x, y, z] = numbers::several::<6>(f, d.with("fromto"), "fromto", at)?;
        let (from, to) = (Vec3::new(a, b, c), Vec3::new(x, y, z));
        let along = from - to;
        let length = along.norm();
        if length < 1e-12 {
            f.error(
                at.seen_at(d.with("fromto").spot_of("fromto")),
                "geometry",
                "fromto has no length",
                "give two points",
            );
            return None;
        }
        place = Pose::new(facing(along), (from + to) * 0.5);
        let radius = size.first().copied().unwrap_or(0.0);
        halves = if needed == 2 {
            [radius, 0.5 * length, 0.0]
        } else {
            [radius, radius, 0.5 * length]
        };
    } else {
        for (half, given) in halves.iter_mut().zip(size) {
            *half = *given;
        }
    }
    if halves[..needed].iter().any(|x| *x <= 0.0) {
        let message = format!("a {kind} needs {needed} sizes above zero");
        f.error(at, "geometry", message, "give its half sizes");
        return None;
    }
    let [a, b, c] = halves;
    let shape = match kind {
        "sphere" => Shape::Sphere { radius: a },
        "capsule" => Shape::Capsule {
            radius: a,
            length: 2.0 * b,
        },
        "cylinder" => Shape::Cylinder {
            radius: a,
            length: 2.0 * b,
        },
        "box" => Shape::Cuboid {
            edges: Vec3::new(a, b, c) * 2.0,
        },
        _ => Shape::Ellipsoid {
            radii: Vec3::new(a, b, c),
        },
    };
    Some((shape, place))
}

fn volume(shape: &Shape) -> Option<f64> {
    Some(match *shape {
        Shape::Sphere { radius } => 4.0 / 3.0 * PI * radius.powi(3),
        Shape::Cuboid { edges } => edges.x * edges.y * edges.z,
        Shape::Cylinder { radius, length } => PI * radius * radius * length,
        Shape::Capsule { radius, length } => PI * radius * radius * (length + 4.0 / 3.0 * radius),
        Shape::Ellipsoid { radii } => 4.0 / 3.0 * PI * radii.x * radii.y * radii.z,
        Shape::Plane | Shape::Mesh { .. } => return None,
    })
}

/// A solid of a mass about the shape's own frame.
fn body(shape: &Shape, mass: f64) -> Option<Inertia> {
    Some(match *shape {
        Shape::Sphere { radius } => Inertia::sphere(mass, radius),
        Shape::Cuboid { edges } => Inertia::cuboid(mass, edges),
        Shape::Cylinder { radius, length } => Inertia::cylinder(mass, radius, length),
        Shape::Capsule { radius: r, length: l } => {
            let caps = mass * 4.0 * r / (4.0 * r + 3.0 * l);
            let tube = Inertia::cylinder(mass - caps, r, l).moments;
            let across = tube[0] + caps * (0.4 * r * r + l * (0.375 * r + 0.25 * l));
            let along = tube[5] + caps * 0.4 * r * r;
            Inertia::new(mass, [0.0; 3], [across, 0.0, 0.0, across, 0.0, along])
        }
        Shape::Ellipsoid { radii } => {
            let (x, y, z) = (radii.x.powi(2), radii.y.powi(2), radii.z.powi(2));
            let k = mass / 5.0;
            Inertia::new(mass, [0.0; 3], [k * (y + z), 0.0, 0.0, k * (x + z), 0.0, k * (x + y)])
        }
        Shape::Plane | Shape::Mesh { .. } => return None,
    })
}
