//! Colliders of robots that were read from files.

use crate::height_field::HeightField;
use crate::hull::Hull;
use crate::scene::Collider;
use crate::shape::ColliderShape;
use crate::surfaces::Matter;
use linkwork::Result;
use linkwork::model::FrameId;
use linkwork::spatial::Vec3;
use linkwork_formats::{Mesh, Robot, Role, Shape as Given, Touch};
use std::collections::HashMap;
use std::path::Path;

/// Whether a scene has something to stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ground {
    /// A plane, or any shape fixed to the world.
    Present,
    /// Nothing in the world touches.
    Missing,
}

/// The colliders of a robot: its shapes that are to be touched. Also whether it has surroundings, and in a sentence each what was
/// left out.
pub fn colliders(robot: &Robot) -> Result<(Vec<Collider>, Ground, Vec<String>)> {
    let (mut all, mut notes, mut ground) = (Vec::new(), Vec::new(), Ground::Missing);
    let (mut hulls, mut known) = (0, HashMap::new());
    for (i, given) in robot.geometry.iter().enumerate() {
        if given.role != Role::Collision {
            continue;
        }
        let frame = robot.mechanism.frame(&given.link)?;
        let shape = match &given.shape {
            Given::Sphere { radius } => ColliderShape::Sphere { radius: *radius },
            Given::Capsule { radius, length } => ColliderShape::Capsule {
                radius: *radius,
                half: 0.5 * length,
            },
            Given::Cylinder { radius, length } => ColliderShape::Cylinder {
                radius: *radius,
                half: 0.5 * length,
            },
            Given::Cuboid { edges } => ColliderShape::Cuboid { half: *edges * 0.5 },
            Given::Ellipsoid { radii } => ColliderShape::Ellipsoid { radii: *radii },
            Given::Plane => ColliderShape::Plane,
            Given::Mesh { uri, path, scale } => {
                let hull = match path {
                    // The same mesh stands on many links: feet, wheels, fingers.
                    Some(path) => known
                        .entry((path.clone(), scale.to_array().map(f64::to_bits)))
                        .or_insert_with(|| hull(path, *scale))
                        .clone(),
                    None => Err("its file was not found".into()),
                };
                match hull {
                    Ok(hull) => {
                        hulls += 1;
                        ColliderShape::Hull(hull)
                    }
                    Err(problem) => {
                        notes.push(format!(
                            "the collision mesh `{uri}` of `{}` is left out: {problem}",
                            given.link
                        ));
                        continue;
                    }
                }
            }
        };
        if let Err(problem) = shape.check() {
            notes.push(format!("a collision shape of `{}` is left out: {problem}", given.link));
            continue;
        }
        // A plane stands, whichever link a file gives it to.
        if frame == FrameId::WORLD || shape == ColliderShape::Plane {
            ground = Ground::Present;
        }
        let matter = robot.touches.get(&i).copied().map_or_else(Matter::default, matter);
        all.push(Collider {
            name: match given.name.is_empty() {
                true => format!("{} of {}", shape.name(), given.link),
                false => given.name.clone(),
            },
            frame,
            pose: given.pose,
            shape,
            matter,
        });
    }
    for given in &robot.terrains {
        let frame = robot.mechanism.frame(&given.link)?;
        let heights = given.heights.clone();
        match HeightField::new(given.rows, given.columns, given.half, heights, given.base) {
            Ok(field) => {
                ground = Ground::Present;
                let name = match given.name.is_empty() {
                    true => format!("height field of {}", given.link),
                    false => given.name.clone(),
                };
                all.push(Collider {
                    name,
                    frame,
                    pose: given.pose,
                    shape: ColliderShape::HeightField(field),
                    matter: matter(given.touch),
                });
            }
            Err(problem) => notes.push(format!("the height field of `{}` is left out: {problem}", given.link)),
        }
    }
    if hulls > 0 {
        notes.push(format!("{hulls} collision meshes touch by their convex hulls"));
    }
    Ok((all, ground, notes))
}

/// The hull of a mesh in a file.
fn hull(path: &Path, scale: Vec3) -> core::result::Result<Hull, String> {
    let mesh = Mesh::load(path).map_err(|problem| problem.to_string())?;
    Hull::of_mesh(&mesh.scaled(scale))
}

/// What the file says of a surface, in our terms: torsion and rolling as radii of friction, the time constant of a contact as
/// its relaxation.
fn matter(touch: Touch) -> Matter {
    let mut matter = Matter {
        priority: touch.priority,
        kind: touch.kind,
        affinity: touch.affinity,
        ..Matter::default()
    };
    let [slide, torsion, roll] = touch.friction;
    let surface = &mut matter.surface;
    surface.friction = if touch.dimensions == 1 { 0.0 } else { slide };
    if surface.friction > 0.0 {
        surface.torsion = if touch.dimensions >= 4 { torsion / slide } else { 0.0 };
        surface.rolling = if touch.dimensions >= 6 { roll / slide } else { 0.0 };
    }
    surface.relaxation = touch.time_constant;
    matter
}
