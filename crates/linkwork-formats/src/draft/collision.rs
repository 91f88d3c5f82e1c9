//! Links without inertia as what their collision shapes enclose.

use super::{Draft, link_at};
use crate::mesh::{Mesh, Moments};
use crate::report::Findings;
use crate::robot::{Role, Shape};
use crate::shape_moments;
use crate::source::shortened;
use linkwork::spatial::{Inertia, Vec3};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

impl Draft {
    /// Gives links that have no inertia that of their collision shapes, at a density.
    pub(super) fn weigh(&mut self, density: f64, f: &mut Findings) {
        let mut known: HashMap<(PathBuf, [u64; 3]), Result<Moments, String>> = HashMap::new();
        for i in 0..self.links.len() {
            let link = &self.links[i];
            if link.item.inertia != Inertia::ZERO || self.inertia_spots.contains_key(&link.item.name) {
                continue;
            }
            let mut sum = Inertia::ZERO;
            for g in self
                .geometry
                .iter()
                .filter(|g| g.role == Role::Collision && g.link == link.item.name)
            {
                let moments = match &g.shape {
                    Shape::Mesh {
                        path: Some(path),
                        scale,
                        ..
                    } => {
                        let key = (path.clone(), scale.to_array().map(f64::to_bits));
                        known.entry(key).or_insert_with(|| filled(path, *scale)).clone()
                    }
                    Shape::Mesh { uri, .. } => Err(format!("`{}` was not found", shortened(uri))),
                    shape => match shape_moments::filled(shape) {
                        Some(moments) => Ok(moments),
                        None => continue,
                    },
                };
                match moments {
                    Ok(m) => sum = sum.with(&m.body(m.measure * density).seen_from(&g.pose)),
                    Err(problem) => {
                        let message = format!("a collision mesh weighs nothing: {problem}");
                        f.doubt(
                            link_at(link),
                            "mesh-inertia",
                            message,
                            "repair the mesh, or give the link an <inertial>",
                        );
                    }
                }
            }
            if sum.mass > 0.0 {
                let message = format!(
                    "its {:.6} kg are what its collision shapes enclose at {density} kg/m³",
                    sum.mass
                );
                f.note(link_at(link), "collision-inertia", message, "");
                self.links[i].item.inertia = sum;
            }
        }
    }
}

/// The moments of what a mesh in a file encloses.
fn filled(path: &Path, scale: Vec3) -> Result<Moments, String> {
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mesh = Mesh::load(path).map_err(|e| format!("`{name}`: {e}"))?.scaled(scale);
    let sound = mesh.soundness();
    if sound.inverted {
        return Err(format!("the triangles of `{name}` face inwards"));
    }
    if !sound.closed {
        return Err(format!(
            "`{name}` is not closed, so that it encloses nothing that is known"
        ));
    }
    let moments = mesh.solid();
    match moments.measure > 1e-14 && moments.inertia.iter().all(|i| i.is_finite()) {
        true => Ok(moments),
        false => Err(format!("`{name}` encloses nothing")),
    }
}
