//! A scene, its meshes and its motion in one file, which needs no server and no network.

use crate::assets::Assets;
use crate::digest::base64;
use crate::frame::{Framer, Moment};
use crate::recording::{Recording, Row};
use linkwork::Mechanism;
use serde_json::{Map, Value, json};
use std::io;

/// Frames per second of the motion in a file.
pub(crate) const RATE: f64 = 60.0;
/// A file holds no more frames than these; longer motions have fewer per second.
const MOST: usize = 6000;

/// The page with everything inside. `motion` is what moves in it; without one the robot stands at q.
pub fn export(
    page: &[u8],
    mut scene: Map<String, Value>,
    assets: &Assets,
    mechanism: &Mechanism,
    q: &[f64],
    motion: Option<&Recording>,
) -> io::Result<Vec<u8>> {
    let mut framer = Framer::new(mechanism);
    let wrong = |e: linkwork::Error| io::Error::other(e.to_string());
    let zero = vec![0.0; mechanism.nv()];
    let (mut states, mut poses) = (Vec::new(), Vec::new());
    let mut keep = |moment: &Moment<'_>| -> linkwork::Result<()> {
        framer
            .state(moment)?
            .iter()
            .for_each(|x| states.extend(x.to_le_bytes()));
        framer
            .poses(moment.q)?
            .iter()
            .for_each(|x| poses.extend(x.to_le_bytes()));
        Ok(())
    };
    let times = motion.map_or_else(|| vec![0.0], moments);
    for t in &times {
        match motion {
            Some(log) => {
                let Row { q, v, tau } = log.at(mechanism, *t).map_err(wrong)?;
                keep(&Moment {
                    t: *t,
                    q: &q,
                    v: &v,
                    tau: tau.as_deref(),
                    arrows: &[],
                })
                .map_err(wrong)?;
            }
            None => keep(&Moment {
                t: *t,
                q,
                v: &zero,
                tau: None,
                arrows: &[],
            })
            .map_err(wrong)?,
        }
    }
    let files: io::Result<Vec<String>> = assets.contents().map(|bytes| Ok(base64(&bytes?))).collect();
    scene.insert("total".into(), framer.has_total_rates().into());
    scene.insert("files".into(), json!(files?));
    scene.insert(
        "motion".into(),
        json!({ "frames": times.len(), "states": base64(&states), "poses": base64(&poses) }),
    );
    with_scene(page, &Value::from(scene).to_string())
}

/// The times of frames: evenly from first to last.
pub(crate) fn moments(log: &Recording) -> Vec<f64> {
    let (first, last) = log.span();
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
