//! Geoms: shapes, and bodies made of them.

use super::Model;
use super::assets::{Filled, MeshAsset, colour};
use super::defaults::Defaulted;
use super::orientation::pose;
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::robot::{Geometry, Role, Shape};
use crate::rotations::facing;
use crate::search_paths::SearchPaths;
use crate::shape_moments;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::spatial::{Inertia, Pose, Vec3};

const DENSITY: f64 = 1000.0;

/// A geom: how it looks, and the body it is if it counts for one.
pub(super) struct Read {
    pub(super) geometry: Geometry,
    pub(super) inertia: Option<Inertia>,
    /// Why its body cannot be told.
    pub(super) unknown: Option<String>,
}

/// Where a geom is read.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) model: &'a Model<'a>,
    pub(super) roots: &'a SearchPaths,
    /// Whether its body is made of geoms; if not, no geom stops a robot from being loaded.
    pub(super) weighs: bool,
}

/// Reads a geom; none where it has no shape that is known.
pub(super) fn read(place: Place<'_>, e: Element<'_>, d: &Defaulted<'_>, f: &mut Findings) -> Option<Read> {
    let (at, compiler, assets) = (e.at(), &place.model.compiler, &place.model.assets);
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
    let counts = (compiler.groups[0]..=compiler.groups[1]).contains(&group.unwrap_or(0.0));
    let weighs = place.weighs && counts && mass != Some(0.0) && (mass.is_some() || density != Some(0.0));
    let named = d.attribute("mesh");
    let written = d.attribute("type").unwrap_or(if named.is_some() {
        "mesh".into()
    } else {
        "sphere".into()
    });
    let own = pose(compiler, d, at, f);
    let asset = named.as_deref().and_then(|n| assets.meshes.get(n));
    if let (Some(name), None) = (&named, asset) {
        let message = format!("there is no mesh `{}`", shortened(name));
        lost(
            f,
            weighs,
            at.seen_at(d.with("mesh").spot_of("mesh")),
            &message,
            "add it to <asset>, or correct the name",
        );
        return None;
    }
    let size = numbers::list(f, d.with("size"), "size", at, Range::Usable).unwrap_or_default();
    let (mut unknown, mut doubt) = (None, None);
    // A mesh as a body, for its own sake or for a primitive that is fitted to it.
    let mut filled = |asset: &MeshAsset| match asset.body(place.roots) {
        Ok(body) => {
            doubt = body.doubt;
            Some(body.clone())
        }
        Err(problem) => {
            unknown = Some(format!(
                "mesh `{}` {problem}",
                shortened(&named.clone().unwrap_or_default())
            ));
            None
        }
    };
    let mut meshed = None;
    let (shape, own) = match (&*written, asset) {
        ("mesh" | "sdf", Some(asset)) => {
            meshed = weighs.then(|| filled(asset)).flatten();
            let shape = Shape::Mesh {
                uri: asset.uri.clone(),
                path: None,
                scale: asset.scale,
            };
            (shape, own)
        }
        ("mesh" | "sdf", None) => {
            lost(f, weighs, at, "a mesh geom names no mesh", "add mesh=\"…\"");
            return None;
        }
        ("plane", _) => (Shape::Plane, own),
        ("hfield", _) => return None,
        (kind, Some(asset)) => {
            let scale = numbers::number(f, d.with("fitscale"), "fitscale", at, Range::Usable).unwrap_or(1.0);
            match filled(asset) {
                Some(body) => fitted(kind, &body, compiler.fit_bounds, scale, own)?,
                None => {
                    let problem = unknown.unwrap_or_default();
                    lost(
                        f,
                        weighs,
                        at,
                        &format!("it cannot be fitted: {problem}"),
                        "give its size instead",
                    );
                    return None;
                }
            }
        }
        (other, None) => primitive(other, &size, d, own, weighs, at, f)?,
    };
    if let Some(doubt) = doubt {
        f.doubt(at, "open-mesh", doubt, "close it, or give the body an <inertial>");
    }
    let hollow = d.attribute("shellinertia").as_deref() == Some("true");
    if hollow && weighs && matches!(shape, Shape::Mesh { .. }) {
        let advice = "write inertia=\"shell\" in the mesh asset";
        f.doubt(at, "shell", "shellinertia is not for meshes; it is ignored", advice);
    }
    let moments = match &meshed {
        Some(body) => Some(body.moments),
        None if hollow => shape_moments::shell(&shape),
        None => shape_moments::filled(&shape),
    };
    let inertia = moments.filter(|_| weighs).map(|m| {
        let mass = mass.unwrap_or(m.measure * density.unwrap_or(DENSITY));
        m.body(mass).seen_from(&own)
    });
    let colour = colour(d.with("rgba"), at, f);
    let material = d.attribute("material").and_then(|m| assets.colours.get(&*m).copied());
    let untouchable = contype == Some(0.0) && conaffinity == Some(0.0);
    let reference = match (&shape, asset) {
        (Shape::Mesh { .. }, Some(asset)) => asset.shown_at(),
        _ => Pose::IDENTITY,
    };
    Some(Read {
        geometry: Geometry {
            name: e.attribute("name").unwrap_or_default().into_owned(),
            link: String::new(),
            role: if untouchable { Role::Visual } else { Role::Collision },
            pose: own * reference,
            shape,
            colour: colour.or(material),
        },
        inertia,
        unknown: unknown.filter(|_| weighs),
    })
}

/// Something wrong with a shape: an error if it weighs something, else a doubt.
fn lost(f: &mut Findings, weighs: bool, at: At<'_>, message: &str, advice: &str) {
    if weighs {
        f.error(at, "geometry", message, advice);
    } else {
        f.doubt(at, "geometry", format!("{message}; the shape is left out"), advice);
    }
}

/// A primitive fitted to a mesh: to the box of the same inertia, or to the box around it.
fn fitted(kind: &str, mesh: &Filled, bounds: bool, scale: f64, own: Pose) -> Option<(Shape, Pose)> {
    let (h, centre) = if bounds {
        let [low, high] = mesh.bounds;
        ((high - low) * 0.5, (high + low) * 0.5)
    } else {
        (mesh.inertia_box, Vec3::ZERO)
    };
    let across = if bounds { h.x.max(h.y) } else { 0.5 * (h.x + h.y) };
    let shape = match kind {
        "sphere" => Shape::Sphere {
            radius: scale
                * if bounds {
                    across.max(h.z)
                } else {
                    (h.x + h.y + h.z) / 3.0
                },
        },
        "capsule" => Shape::Capsule {
            radius: scale * across,
            length: 2.0 * scale * (h.z - if bounds { across } else { 0.5 * across }).max(0.0),
        },
        "cylinder" => Shape::Cylinder {
            radius: scale * across,
            length: 2.0 * scale * h.z,
        },
        "box" => Shape::Cuboid {
            edges: h * (2.0 * scale),
        },
        "ellipsoid" => Shape::Ellipsoid { radii: h * scale },
        _ => return None,
    };
    Some((shape, own * mesh.frame * Pose::from_translation(centre)))
}

/// A shape of the format's own, whose sizes are halves; `fromto` gives both its length and its place.
/// The volume of a site: a small ball unless it says otherwise.
pub(super) fn zone(d: &Defaulted<'_>, at: At<'_>, f: &mut Findings) -> Option<Shape> {
    const SMALL: f64 = 0.005;
    let kind = d.attribute("type").unwrap_or("sphere".into());
    let known = ["sphere", "capsule", "ellipsoid", "cylinder", "box"];
    let mut size = numbers::list(f, d.with("size"), "size", at, Range::Usable).unwrap_or_default();
    size.resize(3, SMALL);
    if !known.contains(&&*kind) || size.iter().any(|x| *x <= 0.0) {
        return None;
    }
    primitive(&kind, &size, d, Pose::IDENTITY, false, at, f).map(|(shape, _)| shape)
}

fn primitive(
    kind: &str,
    size: &[f64],
    d: &Defaulted<'_>,
    place: Pose,
    weighs: bool,
    at: At<'_>,
    f: &mut Findings,
) -> Option<(Shape, Pose)> {
    let needed = match kind {
        "sphere" => 1,
        "capsule" | "cylinder" => 2,
        "box" | "ellipsoid" => 3,
        other => {
            let message = format!("unknown geom type `{}`", shortened(other));
            let advice = "types are plane, sphere, capsule, ellipsoid, cylinder, box and mesh";
            lost(f, true, at, &message, advice);
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
            let at = at.seen_at(d.with("fromto").spot_of("fromto"));
            lost(f, weighs, at, "fromto has no length", "give two points");
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
        lost(f, weighs, at, &message, "give its half sizes");
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
