//! Other libraries, to compare with: installed from PyPI into a cache outside of the tree, once.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is compared with. Changing a version makes a new cache.
const PACKAGES: [&str; 10] = [
    "pin==4.1.0",
    "example-robot-data==6.0.0",
    "mujoco==3.17.0",
    "drake==1.51.1",
    "xacrodoc==2.0.1",
    "jsonschema==4.25.1",
    "mcap==1.6.0",
    "mcap-ros2-support==0.6.0",
    "rosbags==0.11.9",
    "pyarrow==26.0.1",
];

/// Longer lists of packages are told apart by a number.
const LONGEST_NAME: usize = 120;

/// The variable by which tests are told of the interpreter.
pub(crate) const VARIABLE: &str = "LINKWORK_REFERENCE_PYTHON";

const HELP: &str = "\
the tests compare with Pinocchio, MuJoCo, Drake and xacro, which are installed from PyPI with `python3 -m venv` and pip;
this needs Python 3.10 or later with its venv module, and the network once.
Set LINKWORK_REFERENCE_PYTHON to an interpreter that has `pin`, `example-robot-data`, `mujoco`, `drake`, `xacrodoc`,
`jsonschema`, `mcap`, `mcap-ros2-support`, `rosbags` and `pyarrow` to use that instead.";

/// A Python that has the other libraries.
pub(crate) fn python() -> Result<PathBuf, String> {
    if let Some(given) = std::env::var_os(VARIABLE) {
        return Ok(given.into());
    }
    environment("reference", &PACKAGES).map_err(|problem| format!("{problem};\n{HELP}"))
}

/// A Python that has these packages, in an environment that is made once: changing a version makes a new one.
pub(crate) fn environment(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let mut list = packages.join("-").replace('=', "");
    if list.len() > LONGEST_NAME {
        let mut hasher = std::hash::DefaultHasher::new();
        list.hash(&mut hasher);
        list = format!("{:016x}", hasher.finish());
    }
    let place = cache().join(format!("{name}-{list}"));
    let (python, done) = (place.join("bin/python"), place.join("complete"));
    if done.exists() {
        return Ok(python);
    }
    println!("installing {} into {}", packages.join(", "), place.display());
    // What an interrupted run left behind.
    let _ = std::fs::remove_dir_all(&place);
    let parent = place.parent().unwrap_or(&place);
    std::fs::create_dir_all(parent).map_err(|e| format!("cannot make {}: {e}", parent.display()))?;
    run(Command::new("python3").args(["-m", "venv"]).arg(&place))?;
    let quiet = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
    ];
    run(Command::new(&python).args(quiet).args(packages))?;
    std::fs::write(&done, "").map_err(|e| format!("cannot write {}: {e}", done.display()))?;
    Ok(python)
}

/// The user's cache directory, or that of the system.
pub(crate) fn cache() -> PathBuf {
    let from = |name: &str| {
        std::env::var_os(name)
            .filter(|v| Path::new(v).is_absolute())
            .map(PathBuf::from)
    };
    let found = from("LINKWORK_CACHE")
        .or_else(|| from("XDG_CACHE_HOME").map(|p| p.join("linkwork")))
        .or_else(|| from("HOME").map(|p| p.join(".cache/linkwork")));
    found.unwrap_or_else(|| std::env::temp_dir().join("linkwork-cache"))
}

/// Runs a command; an error unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown} failed ({status})")),
        Err(problem) => Err(format!("cannot run {shown}: {problem}")),
    }
}
