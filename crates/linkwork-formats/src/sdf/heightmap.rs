//! Heightmaps: ground over a grid, from a picture whose brightest point is as high as its size says.

use super::files;
use super::text;
use crate::height_pictures::{Depth, picture};
use crate::report::Findings;
use crate::robot::{Terrain, Touch};
use crate::search_paths::SearchPaths;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::spatial::{Pose, Vec3};
use std::path::Path;

/// How far it goes on below its lowest point, in metres.
const BASE: f64 = 1.0;
/// As all shapes of SDF have it.
const FRICTION: f64 = 0.5;

/// A heightmap in the frame of its collision; none if it cannot be made, which is then told.
pub(super) fn read(
    e: Element<'_>,
    home: Option<&Path>,
    roots: &SearchPaths,
    at: At<'_>,
    f: &mut Findings,
) -> Option<Terrain> {
    let at = at.seen_at(e.spot());
    let uri = e.child("uri").map_or_else(String::new, |u| u.content().into_owned());
    let size = text::vector(f, e, "size", at).unwrap_or(Vec3::new(1.0, 1.0, 1.0));
    let place = text::vector(f, e, "pos", at).unwrap_or(Vec3::ZERO);
    match heights(&uri, size, home, roots) {
        Ok((rows, columns, heights)) => Some(Terrain {
            name: String::new(),
            link: String::new(),
            pose: Pose::from_translation(place),
            rows,
            columns,
            half: [0.5 * size.x, 0.5 * size.y],
            base: BASE,
            heights,
            touch: Touch {
                friction: [FRICTION, 0.0, 0.0],
                ..Touch::default()
            },
        }),
        Err(problem) => {
            let message = format!("the heightmap `{}` is left out: {problem}", shortened(&uri));
            f.doubt(at, "height-field", message, "nothing stands on it");
            None
        }
    }
}

/// Rows, columns and heights in metres, the row of the least y first; or why there are none.
fn heights(
    uri: &str,
    size: Vec3,
    home: Option<&Path>,
    roots: &SearchPaths,
) -> Result<(usize, usize, Vec<f64>), String> {
    if uri.is_empty() {
        return Err("it has no uri".into());
    }
    if !(size.x > 0.0 && size.y > 0.0 && size.z.is_finite()) {
        return Err(format!("its size is {:?}; lengths must be positive", size.to_array()));
    }
    let path = files::find(uri, home, roots).ok_or("its file was not found")?;
    if !path.extension().is_some_and(|x| x.eq_ignore_ascii_case("png")) {
        return Err("only PNG pictures are read; convert it to one".into());
    }
    let (rows, columns, shares) = picture(&path, Depth::Whole)?;
    if rows < 2 || columns < 2 {
        return Err(format!(
            "its picture has {rows} × {columns} points; two each way are the least"
        ));
    }
    let brightest = shares.iter().copied().fold(0.0, f64::max);
    let scale = if brightest > 0.0 { size.z.abs() / brightest } else { 0.0 };
    // A negative height turns hills into pits.
    let height = |share: &f64| match size.z < 0.0 {
        true => size.z.abs() - scale * share,
        false => scale * share,
    };
    let heights = shares.chunks(columns).rev().flatten().map(height).collect();
    Ok((rows, columns, heights))
}
