//! Pinocchio as a native program, and the robots of the race.

use crate::reference::{self, cache};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The native program, the robots, and what took part.
pub(super) struct Rival {
    pub(super) python: PathBuf,
    pub(super) program: PathBuf,
    pub(super) robots: Vec<Robot>,
    pub(super) versions: Vec<String>,
}

/// A robot's file, what the native program reads instead, and whether its base is free.
pub(super) struct Robot {
    pub(super) name: String,
    pub(super) file: PathBuf,
    pub(super) model: PathBuf,
    pub(super) free: bool,
}

impl Robot {
    /// Whether joints follow others.
    pub(super) fn follows(&self) -> Result<bool, String> {
        let text =
            std::fs::read_to_string(&self.file).map_err(|e| format!("cannot read {}: {e}", self.file.display()))?;
        Ok(text.contains("<mimic"))
    }
}

/// Sources, beside this file.
const SOURCE: &str = "xtask/src/race/pinocchio.cpp";
const ROBOTS: &str = "xtask/src/race/robots.py";
/// The headers that Pinocchio's need and its package does not have.
const EIGEN: &str = "cmeel-eigen==3.4.1";

impl Rival {
    /// Installs, compiles and writes what is missing.
    pub(super) fn prepared(root: &Path) -> Result<Self, String> {
        let python = reference::python()?;
        let place = cache().join("race");
        std::fs::create_dir_all(&place).map_err(|e| format!("cannot make {}: {e}", place.display()))?;
        let program = place.join("pinocchio");
        if is_older(&program, &root.join(SOURCE)) {
            compile(&python, root, &place, &program)?;
        }
        let output = Command::new(&python).arg(root.join(ROBOTS)).arg(&place).output();
        let output = output.map_err(|e| format!("cannot run {}: {e}", python.display()))?;
        if !output.status.success() {
            return Err(format!(
                "{ROBOTS} failed: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ));
        }
        let (mut robots, mut versions) = (Vec::new(), Vec::new());
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            match words[..] {
                ["version", library, number] => versions.push(format!("{library} {number}")),
                [name, base, file] => robots.push(Robot {
                    name: name.to_owned(),
                    file: file.into(),
                    model: place.join(format!("{name}.model")),
                    free: base == "free",
                }),
                _ => {}
            }
        }
        Ok(Self {
            python,
            program,
            robots,
            versions,
        })
    }
}

/// Whether a file is not there, or was made before its source.
fn is_older(made: &Path, source: &Path) -> bool {
    let time = |path: &Path| std::fs::metadata(path).and_then(|about| about.modified()).ok();
    time(made).is_none_or(|made| time(source).is_some_and(|source| source > made))
}

/// Compiles the native program with all that this processor has.
fn compile(python: &Path, root: &Path, place: &Path, program: &Path) -> Result<(), String> {
    let eigen = place.join("eigen");
    if !eigen.exists() {
        let quiet = ["-m", "pip", "install", "--quiet", "--no-deps", "--target"];
        reference::run(Command::new(python).args(quiet).arg(&eigen).arg(EIGEN))?;
    }
    let script = "import pathlib, pinocchio as p; print(next(x for x in pathlib.Path(p.__file__).parents if (x / 'share').exists()))";
    let output = Command::new(python).args(["-c", script]).output();
    let output = output.map_err(|e| format!("cannot run {}: {e}", python.display()))?;
    let prefix = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let compiler = compiler().ok_or("the race needs a C++ compiler: install clang++ or g++")?;
    println!("compiling Pinocchio's algorithms with {compiler}: some minutes, once");
    let limits = [
        "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
        "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
        "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
        "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
    ];
    let libraries = prefix.join("lib");
    reference::run(
        Command::new(compiler)
            .args(["-std=c++17", "-O3", "-DNDEBUG", "-march=native"])
            .args(limits)
            .arg("-I")
            .arg(eigen.join("cmeel.prefix/include/eigen3"))
            .arg("-I")
            .arg(prefix.join("include"))
            .arg(root.join(SOURCE))
            .arg("-o")
            .arg(program)
            .arg("-L")
            .arg(&libraries)
            .arg(format!("-Wl,-rpath,{}", libraries.display()))
            .arg("-lboost_serialization"),
    )
}

/// The first compiler that is there; Debian's clang is installed where that is allowed.
fn compiler() -> Option<&'static str> {
    let works = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let found = || {
        let mut known = ["clang++", "g++"].into_iter();
        known.find(|name| works(Command::new(name).arg("--version")))
    };
    if !works(Command::new("clang++").arg("--version")) {
        let _ = works(Command::new("apt-get").args(["install", "--yes", "--quiet", "clang"]));
    }
    found()
}
