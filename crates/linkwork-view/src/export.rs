//! A scene, its meshes and its motion in one file, which needs no server and no network.

use crate::assets::Assets;
use crate::digest::base64;
use crate::frame::{Arrow, Framer, Moment};
use crate::recording::{Recording, Row};
use linkwork::Mechanism;
use serde_json::{Map, Value, json};
use std::io;

/// Frames per second of the motion in a file.
pub(crate) const RATE: f64 = 60.0;
/// A file holds no more frames than these; longer motions have fewer per second.
const MOST: usize = 6000;
/// Inertias of links, which a page cannot work out by itself, are part of a file with no more than so many links, and no
/// more than so many of them in all frames.
const INERTIAS: (usize, usize) = (1000, 200_000);

/// The page with everything inside. `motion` is what moves in it; where it is of one row, the robot stands there.
pub fn export(
    page: &[u8],
    mut scene: Map<String, Value>,
    assets: &Assets,
    mechanism: &Mechanism,
    motion: &Recording,
) -> io::Result<Vec<u8>> {
    let mut framer = Framer::new(mechanism);
    let wrong = |e: linkwork::Error| io::Error::other(e.to_string());
    let (mut states, mut poses, mut arrows, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut articulated, mut operational) = (Vec::new(), Vec::new());
    let times = moments(motion);
    let links = mechanism.links().len();
    let heavy = links <= INERTIAS.0 && links * times.len() <= INERTIAS.1;
    for t in &times {
        let Row { q, v, tau } = motion.at(mechanism, *t).map_err(wrong)?;
        let forces = motion.forces(*t).unwrap_or_default();
        let moment = Moment {
            t: *t,
            q: &q,
            v: &v,
            tau: tau.as_deref(),
            arrows: forces,
        };
        let state = framer.state(&moment).map_err(wrong)?;
        states.extend(state.iter().flat_map(|x| x.to_le_bytes()));
        let placed = framer.poses(&q).map_err(wrong)?;
        poses.extend(placed.iter().flat_map(|x| x.to_le_bytes()));
        arrows.extend(forces.iter().flat_map(Arrow::numbers).flat_map(f32::to_le_bytes));
        counts.push(forces.len());
        if heavy {
            if !mechanism.is_coupled() {
                let numbers = framer.articulated(&q).map_err(wrong)?;
                articulated.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
            }
            for link in 0..links {
                let numbers = framer.operational(&q, link).map_err(wrong)?;
                operational.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
            }
        }
    }
    let files: io::Result<Vec<String>> = assets.contents().map(|bytes| Ok(base64(&bytes?))).collect();
    scene.insert("total".into(), framer.has_total_rates().into());
    scene.insert("files".into(), json!(files?));
    let mut motion = json!({
        "frames": times.len(), "states": base64(&states), "poses": base64(&poses),
        "arrows": base64(&arrows), "counts": counts,
    });
    for (name, numbers) in [("articulated", articulated), ("operational", operational)] {
        if !numbers.is_empty() {
            motion[name] = base64(&numbers).into();
        }
    }
    scene.insert("motion".into(), motion);
    with_scene(page, &Value::from(scene).to_string())
}

/// The times of frames: evenly from first to last.
pub(crate) fn moments(log: &Recording) -> Vec<f64> {
    let (first, last) = log.span();
    if log.rows() == 1 {
        return vec![first];
    }
    let frames = (((last - first) * RATE).ceil() as usize).clamp(1, MOST);
    (0..=frames)
        .map(|i| first + (last - first) * i as f64 / frames as f64)
        .collect()
}

/// The page with a scene in the place that it leaves for one.
fn with_scene(page: &[u8], scene: &str) -> io::Result<Vec<u8>> {
    const PLACE: &str = "<script type=\"application/json\" id=\"scene\">";
    let page = std::str::from_utf8(page).map_err(io::Error::other)?;
    let Some((before, after)) = page.split_once(PLACE) else {
        return Err(io::Error::other(
            "the page leaves no place for a scene; `cargo xtask viewer` makes a new one",
        ));
    };
    // No text can end the element it stands in.
    let scene = scene.replace("</", "<\\/").replace("<!--", "<\\!--");
    Ok([before, PLACE, &scene, after].concat().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_end_the_element_that_holds_the_scene() {
        let page = b"<html><script type=\"application/json\" id=\"scene\"></script></html>";
        let scene = json!({ "name": "</script><script>alert(1)</script><!-- <script>" }).to_string();
        let whole = String::from_utf8(with_scene(page, &scene).unwrap()).unwrap();
        assert_eq!(whole.matches("</script>").count(), 1);
        assert!(!whole.contains("<!--"));
        assert!(with_scene(b"<html/>", "{}").is_err());
    }

    #[test]
    fn long_motions_have_fewer_frames_per_second() {
        let log = |end: f64| Recording {
            t: vec![0.0, end],
            ..Recording::default()
        };
        assert_eq!(moments(&log(1.0)).len(), 61);
        assert_eq!(moments(&log(1e6)).len(), MOST + 1);
        assert_eq!(moments(&log(0.0)), [0.0, 0.0]);
    }
}
