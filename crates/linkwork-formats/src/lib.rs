//! Robot files for Linkwork: URDF, SDF, MJCF, xacro and a lossless native format.
//!
//! Files are messy. In [`Mode::Warn`], the default, what can be loaded is loaded as it is written; [`Mode::Strict`]
//! refuses what is wrong, and [`Mode::Repair`] repairs it. In each the [`Report`] lists everything that was found, with
//! its place in the file and what to do about it.
//!
//! ```
//! use linkwork_formats::{Format, Options, read};
//! let text = r#"
//! <robot name="pendulum">
//!   <link name="base"/>
//!   <link name="bob">
//!     <inertial><origin xyz="0 0 -1"/><mass value="1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>
//!   </link>
//!   <joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint>
//! </robot>"#;
//! let robot = read("pendulum.urdf", text.as_bytes(), Format::Urdf, &Options::default())?;
//! assert_eq!(robot.mechanism.nv(), 1);
//! let qdd = robot.mechanism.forward_dynamics(&[0.5], &[0.0], &[0.0]).expect("it has inertia");
//! assert!((qdd[0] + 9.81 * 0.5_f64.sin()).abs() < 1e-12);
//! # Ok::<(), linkwork_formats::Refusal>(())
//! ```
#![deny(unsafe_code)]

mod actuators;
mod draft;
mod drivetrain;
mod explain;
mod height_pictures;
mod keyframe;
mod mesh;
mod mjcf;
mod native;
mod numbers;
mod order;
mod report;
mod robot;
mod rotations;
mod sdf;
mod search_paths;
mod sensors;
mod shape_moments;
mod source;
mod urdf;
mod vocabulary;
mod write;
mod xacro;
mod xml;

pub use actuators::{Actuator, Fibre, Lag, Muscle, Sensor, Target, Tendon, TendonPath, TendonPoint};
pub use draft::LEAST_ARMATURE;
pub use drivetrain::{Controls, Drivetrain};
pub use explain::{KINDS, explain};
pub use keyframe::{Keyframe, WRITTEN};
pub use mesh::{Mesh, MeshFormat, MeshProblem, Moments, Soundness};
pub use native::SCHEMA;
pub use order::{Order, joint_order};
pub use report::{Finding, Mode, Refusal, Report, Severity};
pub use robot::{FileCoupling, Geometry, Loop, Robot, Role, Shape, Terrain, Touch, Transmission};
pub use sensors::Sensors;
pub use write::{Text, write};

use report::Findings;
use search_paths::SearchPaths;
use source::{At, shortened};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use xml::Document;

/// What to do about xacro in a file that has none of its elements.
pub(crate) const EXPAND: &str = "give the file a name that ends with .xacro, so that it is expanded";

/// How to load a file.
///
/// ```
/// use linkwork_formats::{Mode, Options};
/// let strict = Options { mode: Mode::Strict, ..Options::default() };
/// assert!(!strict.ignore_couplings);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What to do about what is wrong.
    pub mode: Mode,
    /// Directories that hold packages, for `package://` addresses. Those of `ROS_PACKAGE_PATH` and
    /// `AMENT_PREFIX_PATH` are searched after them.
    pub packages: Vec<PathBuf>,
    /// Packages by name, and where each is.
    pub named_packages: Vec<(String, PathBuf)>,
    /// Arguments of xacro files: names and values.
    pub arguments: Vec<(String, String)>,
    /// Whether xacro files may read environment variables.
    pub environment: bool,
    /// Whether meshes and included files may lie outside of the robot's directory and the packages.
    pub anywhere: bool,
    /// Whether joints that follow others, as mimic joints do, move on their own. Otherwise they have no coordinates.
    pub ignore_couplings: bool,
    /// The density, in kg/m³, by which links without an inertia of their own get that of their collision shapes, meshes
    /// included. Without it they weigh nothing.
    pub collision_density: Option<f64>,
}

/// A kind of file.
///
/// ```
/// use linkwork_formats::Format;
/// use std::path::Path;
/// assert_eq!(Format::of_name(Path::new("arm.sdf")), Some(Format::Sdf));
/// assert_eq!(Format::of_name(Path::new("arm.txt")), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Unified Robot Description Format.
    Urdf,
    /// MuJoCo's format.
    Mjcf,
    /// Simulation Description Format, of Gazebo and Drake.
    Sdf,
    /// Everything a robot has, in JSON, without loss.
    Native,
}

impl Format {
    /// The format that the ending of a file's name stands for; the content of an XML file says which of the XML formats it is.
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*extension {
            "urdf" | "xacro" => Some(Self::Urdf),
            "sdf" | "world" => Some(Self::Sdf),
            "mjcf" | "xml" => Some(Self::Mjcf),
            "json" => Some(Self::Native),
            _ => None,
        }
    }
}

/// The name of a format that describes scenes rather than mechanisms and is not read or written, if a file's name tells
/// such a one.
pub fn out_of_scope(path: &Path) -> Option<&'static str> {
    match &*path.extension()?.to_str()?.to_ascii_lowercase() {
        "usd" | "usda" | "usdc" | "usdz" => Some("USD"),
        "gltf" | "glb" => Some("glTF"),
        _ => None,
    }
}

/// Loads a robot from a file.
pub fn load(path: &Path, options: &Options) -> Result<Robot, Refusal> {
    let shown = path.display().to_string();
    if let Some(format) = out_of_scope(path) {
        let message = format!("{format} files are out of scope");
        let advice = "give the robot's URDF, SDF, MJCF or xacro file, or export one of them";
        return Err(refuse(&shown, options, "out-of-scope", message, advice));
    }
    let bytes = match source::read(path) {
        Ok(bytes) => bytes,
        Err(problem) => {
            return Err(refuse(
                &shown,
                options,
                "unreadable",
                format!("cannot be read: {problem}"),
                "",
            ));
        }
    };
    parse(&shown, &bytes, Format::of_name(path), options, &roots_of(path, options))
}

/// Where the files of a robot may lie.
fn roots_of(path: &Path, options: &Options) -> SearchPaths {
    let home = path
        .parent()
        .map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p });
    SearchPaths::new(home, options)
}

/// The XML that a xacro file stands for.
pub fn expand(path: &Path, options: &Options) -> Result<String, Refusal> {
    let shown = path.display().to_string();
    let unreadable = |e| refuse(&shown, options, "unreadable", format!("cannot be read: {e}"), "");
    let bytes = source::read(path).map_err(unreadable)?;
    let mut findings = Findings::new(options.mode);
    let parsed = Document::parse(&shown, &bytes, &mut findings);
    let expanded = parsed.and_then(|d| xacro::expand(d, &roots_of(path, options), options, &mut findings));
    expanded.map(Document::into_text).ok_or_else(|| findings.refusal())
}

/// Reads a robot from bytes; `file` is for messages.
pub fn read(file: &str, bytes: &[u8], format: Format, options: &Options) -> Result<Robot, Refusal> {
    read_beside(file, bytes, format, None, options)
}

/// Reads a robot from bytes whose meshes and included files are found from a directory, as if a file lay there.
pub fn read_beside(
    file: &str,
    bytes: &[u8],
    format: Format,
    home: Option<&Path>,
    options: &Options,
) -> Result<Robot, Refusal> {
    parse(file, bytes, Some(format), options, &SearchPaths::new(home, options))
}

fn refuse(file: &str, options: &Options, code: &'static str, message: String, advice: &str) -> Refusal {
    let mut findings = Findings::new(options.mode);
    findings.source(Rc::new(source::Source::new(file, String::new())));
    findings.error(At::FILE, code, message, advice);
    findings.refusal()
}

fn parse(
    file: &str,
    bytes: &[u8],
    format: Option<Format>,
    options: &Options,
    roots: &SearchPaths,
) -> Result<Robot, Refusal> {
    let mut findings = Findings::new(options.mode);
    if format == Some(Format::Native) {
        let source = xml::decode(file, bytes, &mut findings);
        return match source.and_then(|s| native::read(s, &mut findings)) {
            Some(draft) => draft
                .with_meshes(roots, options, &mut findings)
                .assemble(findings, options),
            None => Err(findings.refusal()),
        };
    }
    let Some(document) = Document::parse(file, bytes, &mut findings) else {
        return Err(findings.refusal());
    };
    let document = if file.ends_with(".xacro") || xacro::needed(&document) {
        match xacro::expand(document, roots, options, &mut findings) {
            Some(expanded) => expanded,
            None => return Err(findings.refusal()),
        }
    } else {
        document
    };
    let root = document.root();
    let draft = match root.name() {
        "robot" => urdf::read(&document, &mut findings),
        "mujoco" => match mjcf::read(document, roots, &mut findings) {
            Some(draft) => draft,
            None => return Err(findings.refusal()),
        },
        "mujocoinclude" => {
            let message = "this is a part of an MJCF file, to be included by another";
            findings.error(root.at(), "mujocoinclude", message, "give the file that includes it");
            return Err(findings.refusal());
        }
        "sdf" => sdf::read(document, roots, &mut findings),
        other => {
            let message = format!("<{}> is not a robot", shortened(other));
            let advice =
                "give a URDF file, whose root element is <robot>, an MJCF file, <mujoco>, or an SDF file, <sdf>";
            findings.error(root.at(), "unknown-format", message, advice);
            return Err(findings.refusal());
        }
    };
    draft
        .with_meshes(roots, options, &mut findings)
        .assemble(findings, options)
}

/// The guide's code runs as tests: here, because it reads robot files too.
#[cfg(doctest)]
mod guide {
    macro_rules! chapters {
        ($($name:ident $file:literal),* $(,)?) => {
            $(#[doc = include_str!(concat!("../../../docs/guide/", $file))]
            struct $name;)*
        };
    }

    #[doc = include_str!("../../../README.md")]
    struct Readme;

    chapters!(
        FirstHour "first-hour.md",
        Frames "frames-and-coordinates.md",
        Dynamics "dynamics.md",
        Loops "loops-and-gears.md",
        Control "linear-models-and-control.md",
        Trajectories "trajectories.md",
        InverseKinematics "inverse-kinematics.md",
        ControlByTasks "control-by-tasks.md",
        Batches "batches.md",
        ComingFrom "coming-from.md",
    );
}
