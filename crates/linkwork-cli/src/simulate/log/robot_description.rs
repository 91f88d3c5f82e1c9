//! The robot of a log, so that others can draw it.

use super::markers::{Marker, surroundings};
use linkwork_formats::{Format, Robot, Shape};
use std::path::{Path, PathBuf};

/// The name of the attachment that holds the robot without loss.
pub(crate) const NATIVE: &str = "robot.json";

/// A robot as text.
pub(crate) struct Described {
    /// In URDF, if that can say it, with meshes by their full paths.
    pub(crate) urdf: Option<String>,
    /// In the native format, which can say all but functions as couplings.
    pub(crate) native: Option<String>,
    /// The directory of its file.
    pub(crate) home: Option<PathBuf>,
    /// Whether anything can touch.
    pub(crate) touches: bool,
    /// What the description in URDF leaves out.
    pub(crate) surroundings: Vec<Marker>,
}

impl Described {
    /// A robot, the name or file that it was loaded by, whether anything can touch, and the height of a ground that was added.
    pub(crate) fn of(robot: &Robot, file: &str, touches: bool, ground: Option<f64>) -> Self {
        let path = Path::new(file);
        let home = path.canonicalize().ok().and_then(|p| p.parent().map(Path::to_path_buf));
        let mut found = robot.clone();
        for shape in &mut found.geometry {
            // Programs that know no robot's directory know packages and whole paths.
            if let Shape::Mesh {
                uri, path: Some(path), ..
            } = &mut shape.shape
                && !uri.contains("://")
                && let Ok(whole) = path.canonicalize()
            {
                *uri = format!("file://{}", whole.display());
            }
        }
        let text = |robot: &Robot, format| linkwork_formats::write(robot, format).ok().map(|t| t.text);
        let urdf = text(&found, Format::Urdf);
        Self {
            touches,
            surroundings: surroundings(robot, urdf.is_some(), ground),
            urdf,
            native: text(robot, Format::Native),
            home,
        }
    }
}
