//! What links look like and collide with.

use super::expand::Expansion;
use super::files;
use super::frames::Places;
use super::{heightmap, text};
use crate::draft::Draft;
use crate::report::Findings;
use crate::robot::{Geometry, Role, Shape, Terrain};
use crate::rotations::facing;
use crate::search_paths::SearchPaths;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::spatial::{Pose, Vec3};

/// Adds a link's shapes to the draft.
pub(super) fn read(
    x: &Expansion<'_>,
    link: usize,
    places: &Places,
    roots: &SearchPaths,
    draft: &mut Draft,
    f: &mut Findings,
) {
    let item = &x.links[link];
    let node = &x.nodes[item.node];
    let at = At::new(item.e.spot(), "link", &node.name);
    for e in item.e.children() {
        let role = match e.name() {
            "visual" => Role::Visual,
            "collision" => Role::Collision,
            _ => continue,
        };
        let heightmap = heightmap_of(e);
        if let (Some(given), Role::Collision) = (heightmap, role) {
            let read = heightmap::read(given, x.folder(item), roots, at, f);
            draft.terrains.extend(read.map(|terrain| Terrain {
                name: e.attribute("name").unwrap_or_default().into_owned(),
                link: node.name.clone(),
                pose: placed(x, link, places, e, at, f) * terrain.pose,
                ..terrain
            }));
            continue;
        }
        if heightmap.is_some()
            && !item
                .e
                .children()
                .any(|c| c.name() == "collision" && heightmap_of(c).is_some())
        {
            let message = "a <heightmap> that is only seen is left out";
            f.note(at.seen_at(e.spot()), "geometry", message, "");
        }
        let Some((mut shape, turn)) = shape(e, at, f) else {
            continue;
        };
        let pose = placed(x, link, places, e, at, f);
        if let Shape::Mesh { uri, path, .. } = &mut shape {
            // Files that were included have their meshes beside them.
            *path = x.folder(item).and_then(|home| files::find(uri, Some(home), roots));
            if let Some(found) = path.as_ref().and_then(|p| p.to_str()) {
                found.clone_into(uri);
            }
        }
        let material = e.child("material");
        draft.geometry.push(Geometry {
            name: e.attribute("name").unwrap_or_default().into_owned(),
            link: node.name.clone(),
            role,
            pose: pose * turn,
            shape,
            colour: material.and_then(|m| colour(m, at, f)),
        });
    }
}

fn heightmap_of(e: Element<'_>) -> Option<Element<'_>> {
    e.child("geometry").and_then(|g| g.child("heightmap"))
}

/// Where a visual or collision is on its link.
fn placed(x: &Expansion<'_>, link: usize, places: &Places, e: Element<'_>, at: At<'_>, f: &mut Findings) -> Pose {
    let item = &x.links[link];
    let pose = e.child("pose").map_or(Pose::IDENTITY, |p| text::pose(f, p, at));
    let relative_to = e.child("pose").and_then(|p| p.attribute("relative_to"));
    let Some(name) = relative_to.filter(|n| !n.is_empty()) else {
        return pose;
    };
    match x.find(item.node, &name) {
        Some(other) => places.seen_from(item.node, other) * pose,
        None => {
            let message = format!("its pose is relative to `{}`, which does not exist", shortened(&name));
            f.doubt(at.seen_at(e.spot()), "missing-frame", message, "correct the name");
            pose
        }
    }
}

/// What a surface scatters, or else what it is lit with.
fn colour(e: Element<'_>, at: At<'_>, f: &mut Findings) -> Option<[f64; 4]> {
    let e = e.child("diffuse").or_else(|| e.child("ambient"))?;
    let words = text::list(f, e, at, crate::numbers::Range::Usable)?;
    match words[..] {
        [r, g, b] => Some([r, g, b, 1.0]),
        [r, g, b, a] => Some([r, g, b, a]),
        _ => None,
    }
}

/// The shape of a visual or collision, and how it is turned.
pub(super) fn shape(e: Element<'_>, at: At<'_>, f: &mut Findings) -> Option<(Shape, Pose)> {
    let e = e.child("geometry")?.children().next()?;
    let at = at.seen_at(e.spot());
    let mut turn = Pose::IDENTITY;
    let mut measure = |name: &str| text::number(f, e, name, at).ok_or(name.to_owned());
    let shape = match e.name() {
        "sphere" => measure("radius").map(|radius| Shape::Sphere { radius }),
        "cylinder" => measure("radius").and_then(|radius| {
            let length = measure("length")?;
            Ok(Shape::Cylinder { radius, length })
        }),
        "capsule" => measure("radius").and_then(|radius| {
            let length = measure("length")?;
            Ok(Shape::Capsule { radius, length })
        }),
        "box" => text::vector(f, e, "size", at)
            .map(|edges| Shape::Cuboid { edges })
            .ok_or("size".to_owned()),
        "ellipsoid" => text::vector(f, e, "radii", at)
            .map(|radii| Shape::Ellipsoid { radii })
            .ok_or("radii".to_owned()),
        "plane" => {
            let normal = text::vector(f, e, "normal", at).unwrap_or(Vec3::new(0.0, 0.0, 1.0));
            turn = Pose::from_rotation(facing(normal));
            Ok(Shape::Plane)
        }
        "mesh" => {
            let scale = match e
                .child("scale")
                .and_then(|s| text::list(f, s, at, crate::numbers::Range::Usable))
            {
                Some(list) => match list[..] {
                    [s] => Vec3::new(s, s, s),
                    [x, y, z] => Vec3::new(x, y, z),
                    _ => Vec3::new(1.0, 1.0, 1.0),
                },
                None => Vec3::new(1.0, 1.0, 1.0),
            };
            let uri = e.child("uri").or_else(|| e.child("filename"));
            uri.map(|u| Shape::Mesh {
                uri: u.content().into_owned(),
                path: None,
                scale,
            })
            .ok_or("uri".to_owned())
        }
        // Ground that is touched is read by itself, and drawn from there.
        "empty" | "heightmap" => return None,
        other => {
            let message = format!("<{}> shapes are not modelled; the shape is left out", shortened(other));
            f.note(at, "geometry", message, "");
            return None;
        }
    };
    match shape {
        Ok(shape) => Some((shape, turn)),
        Err(missing) => {
            let message = format!("<{}> has no {missing}; the shape is left out", e.name());
            f.doubt(at, "geometry", message, "give its measures");
            None
        }
    }
}
