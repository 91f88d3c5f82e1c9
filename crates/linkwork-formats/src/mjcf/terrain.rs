//! Height fields: ground over a grid.

use super::Model;
use super::assets::uri;
use super::defaults::Defaulted;
use super::geom::Place;
use super::orientation::pose;
use crate::height_pictures::{Depth, MOST, picture};
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::robot::Terrain;
use crate::search_paths::SearchPaths;
use crate::source::shortened;
use crate::xml::Element;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A height field asset.
pub(super) struct Field {
    uri: String,
    rows: usize,
    columns: usize,
    /// Half lengths along x and y, the height of its highest point above its lowest, and how far it goes on below.
    size: [f64; 4],
    /// Row by row as written, the row of the largest y first.
    elevation: Option<Vec<f64>>,
}

impl Field {
    pub(super) fn read(
        model: &Model<'_>,
        e: Element<'_>,
        d: &Defaulted<'_>,
        roots: &SearchPaths,
        f: &mut Findings,
    ) -> Option<Self> {
        let at = e.at();
        let size = numbers::several::<4>(f, d.with("size"), "size", at)?;
        let mut count = |name: &str| numbers::number(f, d.with(name), name, at, Range::Usable).unwrap_or(0.0) as usize;
        let (rows, columns) = (count("nrow"), count("ncol"));
        Some(Self {
            uri: uri(model, e, roots),
            rows,
            columns,
            size,
            elevation: numbers::list(f, d.with("elevation"), "elevation", at, Range::Usable),
        })
    }

    /// Rows, columns and heights, the row of the least y first; or why there are none.
    fn heights(&self, place: Place<'_>) -> Result<(usize, usize, Vec<f64>), String> {
        let (rows, columns, mut heights, turned) = if !self.uri.is_empty() {
            let path = place.roots.find(&self.uri).ok_or("its file was not found")?;
            let is_picture = Path::new(&self.uri)
                .extension()
                .is_some_and(|x| x.eq_ignore_ascii_case("png"));
            let (rows, columns, heights) = if is_picture {
                picture(&path, Depth::Eight)
            } else {
                table(&path)
            }?;
            (rows, columns, heights, is_picture)
        } else {
            let heights = match &self.elevation {
                Some(given) => given.clone(),
                None => vec![0.0; self.rows.saturating_mul(self.columns)],
            };
            (self.rows, self.columns, heights, true)
        };
        if rows < 2 || columns < 2 || heights.len() != rows * columns {
            return Err(format!(
                "it has {} heights for {rows} × {columns} points",
                heights.len()
            ));
        }
        if turned {
            heights = heights.chunks(columns).rev().flatten().copied().collect();
        }
        // Heights are shares of the highest point above the lowest.
        let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scale = if high > low { self.size[2] / (high - low) } else { 0.0 };
        heights.iter_mut().for_each(|x| *x = (*x - low) * scale);
        match heights.iter().all(|x| x.is_finite()) {
            true => Ok((rows, columns, heights)),
            false => Err("a height is not finite".into()),
        }
    }
}

/// Two numbers of 32 bits, rows and columns, and a float for every point, the row of the least y first.
fn table(path: &Path) -> Result<(usize, usize, Vec<f64>), String> {
    let wrong = |problem: &dyn core::fmt::Display| format!("its file cannot be read: {problem}");
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| wrong(&e))?;
    let limit = 8 + 4 * MOST as u64;
    file.take(limit).read_to_end(&mut bytes).map_err(|e| wrong(&e))?;
    let words: Vec<[u8; 4]> = bytes.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
    let [rows, columns, heights @ ..] = &words[..] else {
        return Err(wrong(&"it is too short"));
    };
    let [rows, columns] = [rows, columns].map(|n| i32::from_le_bytes(*n));
    if rows < 1 || columns < 1 || i64::from(rows) * i64::from(columns) != heights.len() as i64 {
        return Err(wrong(&format!(
            "it has {} heights for {rows} × {columns} points",
            heights.len()
        )));
    }
    let heights = heights.iter().map(|x| f64::from(f32::from_le_bytes(*x))).collect();
    Ok((rows as usize, columns as usize, heights))
}

/// A geom that is a height field; none if it cannot be made, which is then told.
pub(super) fn read(place: Place<'_>, e: Element<'_>, d: &Defaulted<'_>, f: &mut Findings) -> Option<Terrain> {
    let at = e.at();
    let name = d.attribute("hfield").unwrap_or_default();
    let found = place.model.assets.fields.get(&*name);
    let made = found
        .ok_or_else(|| "there is no such asset".to_owned())
        .and_then(|field| Ok((field, field.heights(place)?)));
    match made {
        Ok((field, (rows, columns, heights))) => Some(Terrain {
            name: e.attribute("name").unwrap_or_default().into_owned(),
            link: String::new(),
            pose: pose(&place.model.compiler, d, at, f),
            rows,
            columns,
            half: [field.size[0], field.size[1]],
            base: field.size[3],
            heights,
            touch: super::contact::read(d, at, f),
        }),
        Err(problem) => {
            let message = format!("the height field `{}` is left out: {problem}", shortened(&name));
            f.doubt(at, "height-field", message, "nothing stands on it");
            None
        }
    }
}
