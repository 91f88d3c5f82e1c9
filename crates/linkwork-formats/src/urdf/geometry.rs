//! Visual and collision geometry of URDF.

use super::{Materials, only, origin};
use crate::draft::Draft;
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::robot::{Geometry, Role, Shape};
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::spatial::Vec3;

/// Colours by the names of materials.
pub(super) fn materials(root: Element<'_>, f: &mut Findings) -> Materials {
    let mut found = Materials::new();
    for e in root.children_named("material") {
        if let (Some(name), Some(colour)) = (e.attribute("name"), colour(e, e.at(), f)) {
            found.insert(name.into_owned(), colour);
        }
    }
    found
}

fn colour(material: Element<'_>, at: At<'_>, f: &mut Findings) -> Option<[f64; 4]> {
    f.leniently(|f| numbers::several(f, material.child("color")?, "rgba", at))
}

/// Adds a link's shapes to the draft.
pub(super) fn read(e: Element<'_>, link: &str, materials: &Materials, draft: &mut Draft, f: &mut Findings) {
    let at = e.at();
    for child in e.children() {
        let role = match child.name() {
            "visual" => Role::Visual,
            "collision" => Role::Collision,
            _ => continue,
        };
        let pose = origin(child, at, f);
        let Some(geometry) = only(child, "geometry", at, f) else {
            let message = format!("a <{}> has no <geometry>", child.name());
            f.doubt(
                at.seen_at(child.spot()),
                "geometry",
                message,
                "give it a shape, or remove it",
            );
            continue;
        };
        let material = child.child("material");
        let named = material
            .and_then(|m| m.attribute("name"))
            .and_then(|name| materials.get(&*name).copied());
        let own = material.and_then(|m| colour(m, at, f));
        for shape in geometry.children() {
            let Some(shape) = f.leniently(|f| read_shape(shape, at, f)) else {
                continue;
            };
            draft.geometry.push(Geometry {
                name: child.attribute("name").unwrap_or_default().into_owned(),
                link: link.to_owned(),
                role,
                pose,
                shape,
                colour: own.or(named),
            });
        }
    }
}

fn read_shape(e: Element<'_>, at: At<'_>, f: &mut Findings) -> Option<Shape> {
    match e.name() {
        "box" if measured(e, &["size"], at, f) => {
            numbers::vector(f, e, "size", at).map(|edges| Shape::Cuboid { edges })
        }
        "sphere" if measured(e, &["radius"], at, f) => {
            let radius = numbers::number(f, e, "radius", at, Range::Usable)?;
            Some(Shape::Sphere { radius })
        }
        name @ ("cylinder" | "capsule") if measured(e, &["radius", "length"], at, f) => {
            let mut number = |name| numbers::number(f, e, name, at, Range::Usable);
            let (radius, length) = (number("radius")?, number("length")?);
            match name {
                "cylinder" => Some(Shape::Cylinder { radius, length }),
                _ => Some(Shape::Capsule { radius, length }),
            }
        }
        "mesh" if measured(e, &["filename"], at, f) => {
            let uri = e.attribute("filename").unwrap_or_default().into_owned();
            let scale = match e.attribute("scale") {
                Some(_) => scale(e, at, f),
                None => Vec3::new(1.0, 1.0, 1.0),
            };
            Some(Shape::Mesh { uri, path: None, scale })
        }
        "box" | "sphere" | "cylinder" | "capsule" | "mesh" => None,
        other => {
            let message = format!("<{}> is not a shape of URDF; it is left out", shortened(other));
            f.doubt(
                at.seen_at(e.spot()),
                "geometry",
                message,
                "use box, cylinder, sphere or mesh",
            );
            None
        }
    }
}

/// Whether an element has all its measures; if not, that is reported.
fn measured(e: Element<'_>, names: &[&str], at: At<'_>, f: &mut Findings) -> bool {
    let missing = names.iter().find(|name| e.attribute(name).is_none());
    if let Some(name) = missing {
        let message = format!("<{}> has no {name}; the shape is left out", e.name());
        f.doubt(at.seen_at(e.spot()), "geometry", message, "give its measures");
    }
    missing.is_none()
}

/// Three factors, or one for all.
fn scale(e: Element<'_>, at: At<'_>, f: &mut Findings) -> Vec3 {
    match numbers::list(f, e, "scale", at, Range::Usable).as_deref() {
        Some([x]) => Vec3::new(*x, *x, *x),
        Some([x, y, z, _, ..]) => {
            let message = "scale has more than three numbers; the first three count";
            f.doubt(at.seen_at(e.spot_of("scale")), "scale", message, "give three");
            Vec3::new(*x, *y, *z)
        }
        Some(_) => numbers::vector(f, e, "scale", at).unwrap_or(Vec3::new(1.0, 1.0, 1.0)),
        None => Vec3::new(1.0, 1.0, 1.0),
    }
}
