//! Models from files and text.

use crate::errors::{Error, refused};
use crate::model::Model;
use linkwork_formats::{Format, Mode, Options};
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// A format by its name.
pub(crate) fn format_of(word: &str) -> PyResult<Format> {
    match word {
        "urdf" => Ok(Format::Urdf),
        "mjcf" => Ok(Format::Mjcf),
        "sdf" => Ok(Format::Sdf),
        "native" => Ok(Format::Native),
        _ => Err(Error::new_err(format!(
            "format is {word:?}; it must be \"urdf\", \"mjcf\", \"sdf\" or \"native\""
        ))),
    }
}

/// Arguments of files: what to do about what is wrong, and where to look.
fn options(
    mode: &str,
    packages: &Packages,
    arguments: HashMap<String, String>,
    environment: bool,
    anywhere: bool,
    ignore_couplings: bool,
    collision_density: Option<f64>,
) -> PyResult<Options> {
    let mode = match mode {
        "warn" => Mode::Warn,
        "strict" => Mode::Strict,
        "repair" => Mode::Repair,
        _ => {
            return Err(Error::new_err(format!(
                "mode is {mode:?}; it must be \"warn\" (load as it is written), \"strict\" (refuse what is wrong) or \"repair\""
            )));
        }
    };
    let (packages, named_packages) = match packages {
        Packages::Named(named) => (Vec::new(), named.iter().map(|(n, p)| (n.clone(), p.clone())).collect()),
        Packages::Directories(all) => (all.clone(), Vec::new()),
    };
    Ok(Options {
        mode,
        packages,
        named_packages,
        arguments: arguments.into_iter().collect(),
        environment,
        anywhere,
        ignore_couplings,
        collision_density,
    })
}

/// Directories that hold packages, or packages by name.
#[derive(FromPyObject)]
pub(crate) enum Packages {
    Named(BTreeMap<String, PathBuf>),
    Directories(Vec<PathBuf>),
}

/// Loads a robot from a URDF, xacro, SDF, MJCF or native file.
///
/// `mode` says what to do about what is wrong with it: "warn" loads it as it is written, "strict" refuses it, "repair" repairs it;
/// `Model.report` lists what was found. `packages` are directories that hold packages, for `package://` addresses and xacro's
/// `$(find …)`, or a dictionary of packages by name. `arguments` are those of a xacro file, which may read environment variables
/// only if `environment` is true. `collision_density` in kg/m³ gives links without inertia that of their collision shapes.
#[pyfunction]
#[pyo3(signature = (path, *, mode="warn", packages=Packages::Directories(Vec::new()), arguments=HashMap::new(), environment=false, anywhere=false, ignore_couplings=false, collision_density=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn load(
    py: Python<'_>,
    path: PathBuf,
    mode: &str,
    packages: Packages,
    arguments: HashMap<String, String>,
    environment: bool,
    anywhere: bool,
    ignore_couplings: bool,
    collision_density: Option<f64>,
) -> PyResult<Model> {
    let options = options(
        mode,
        &packages,
        arguments,
        environment,
        anywhere,
        ignore_couplings,
        collision_density,
    )?;
    let loaded = py.detach(|| linkwork_formats::load(&path, &options));
    loaded.map(Model::of).map_err(|r| refused(py, &r))
}

/// Reads a robot from text in a format: "urdf", "mjcf", "sdf" or "native".
///
/// >>> import linkwork as lw
/// >>> m = lw.Model.example("pendulum")
/// >>> lw.read(m.text("urdf"), "urdf").nv
/// 1
#[pyfunction]
#[pyo3(signature = (text, format, *, mode="warn", packages=Packages::Directories(Vec::new()), arguments=HashMap::new(), anywhere=false, ignore_couplings=false, file="text"))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn read(
    py: Python<'_>,
    text: &str,
    format: &str,
    mode: &str,
    packages: Packages,
    arguments: HashMap<String, String>,
    anywhere: bool,
    ignore_couplings: bool,
    file: &str,
) -> PyResult<Model> {
    let options = options(mode, &packages, arguments, false, anywhere, ignore_couplings, None)?;
    let robot = linkwork_formats::read(file, text.as_bytes(), format_of(format)?, &options);
    robot.map(Model::of).map_err(|r| refused(py, &r))
}
