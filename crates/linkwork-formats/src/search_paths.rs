//! Where files that a robot refers to may lie.

use crate::Options;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

/// Directories in which meshes and included files are looked for. Nothing outside of them is touched.
#[derive(Debug, Default)]
pub(crate) struct SearchPaths {
    /// The directory of the robot's file.
    home: Option<PathBuf>,
    /// Directories that hold packages, or are packages.
    packages: Vec<PathBuf>,
    /// Packages by name.
    named: Vec<(String, PathBuf)>,
    /// Whether absolute and upward paths may lead anywhere.
    anywhere: bool,
    /// Packages found so far.
    known: Mutex<HashMap<String, Option<PathBuf>>>,
}

impl SearchPaths {
    /// The directory of a file, packages that were given, and what ROS and Gazebo have in their environment.
    pub(crate) fn new(home: Option<&Path>, options: &Options) -> Self {
        let mut packages = options.packages.clone();
        let listed = |name: &str| std::env::var_os(name).map(|v| std::env::split_paths(&v).collect::<Vec<_>>());
        packages.extend(listed("ROS_PACKAGE_PATH").unwrap_or_default());
        let prefixes = listed("AMENT_PREFIX_PATH").unwrap_or_default();
        packages.extend(prefixes.iter().map(|p| p.join("share")));
        for name in ["GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH"] {
            packages.extend(listed(name).unwrap_or_default());
        }
        packages.retain(|p| !p.as_os_str().is_empty());
        Self {
            home: home.map(Path::to_path_buf),
            packages,
            named: options.named_packages.clone(),
            anywhere: options.anywhere,
            known: Mutex::default(),
        }
    }

    /// The directory of the robot's file, if it has one.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The file that a URI means, if it exists and lies in one of the roots.
    pub(crate) fn find(&self, uri: &str) -> Option<PathBuf> {
        self.look(None, uri).ok()
    }

    /// The file that a URI means, relative to a directory of the robot or to that of its file, or why there is none.
    pub(crate) fn look(&self, from: Option<&Path>, uri: &str) -> Result<PathBuf, Lost> {
        // An empty one would be the robot's own directory.
        if uri.is_empty() || uri.len() > 4096 || uri.contains('\0') {
            return Err(Lost::Missing);
        }
        if let Some(rest) = uri.strip_prefix("package://").or_else(|| uri.strip_prefix("model://")) {
            // Some files write one slash too many.
            let rest = rest.trim_start_matches('/');
            let (package, inner) = rest.split_once('/').unwrap_or((rest, ""));
            let package = self.package(package).ok_or(Lost::Missing)?;
            return self.allowed(&package.join(inner), Some(&package));
        }
        let path = Path::new(uri.strip_prefix("file://").unwrap_or(uri));
        let path = match (from.or(self.home.as_deref()), path.is_absolute()) {
            (_, true) => path.to_owned(),
            (Some(directory), false) => directory.join(path),
            (None, false) => return Err(Lost::Missing),
        };
        self.allowed(&path, None)
    }

    /// A file, links followed, if it lies in the robot's directory or repository, in a package, or in another root.
    fn allowed(&self, path: &Path, also: Option<&Path>) -> Result<PathBuf, Lost> {
        let real = path.canonicalize().map_err(|_| Lost::Missing)?;
        let home = self.home.as_deref();
        let within = |root: &Path| root.canonicalize().is_ok_and(|r| real.starts_with(r));
        let named = self.named.iter().map(|(_, place)| place);
        let listed = self.packages.iter().chain(named).map(PathBuf::as_path);
        let mut roots = home.into_iter().chain(also).chain(listed);
        let repository = || home.and_then(repository).is_some_and(|r| real.starts_with(r));
        let known = || {
            let known = self.known.lock();
            known.is_ok_and(|known| known.values().flatten().any(|r| within(r)))
        };
        if self.anywhere || roots.any(within) || repository() || known() {
            Ok(real)
        } else {
            Err(Lost::Outside)
        }
    }

    /// The directory of a package: one of that name in the search path, one of the search path itself, or the directory
    /// of that name which the robot's own file lies in.
    pub(crate) fn package(&self, name: &str) -> Option<PathBuf> {
        if name.is_empty() || Path::new(name).components().any(|c| !matches!(c, Component::Normal(_))) {
            return None;
        }
        let mut known = self.known.lock().ok()?;
        if let Some(found) = known.get(name) {
            return found.clone();
        }
        let named = |p: &Path| p.file_name().is_some_and(|n| n == name);
        let given = self.named.iter().find(|(n, place)| n == name && place.is_dir());
        let given = given.map(|(_, place)| place.clone());
        let listed = given.or_else(|| {
            self.packages.iter().find_map(|p| {
                let inner = p.join(name);
                if inner.is_dir() {
                    Some(inner)
                } else {
                    (named(p) && p.is_dir()).then(|| p.clone())
                }
            })
        });
        let found = listed.or_else(|| {
            let home = self.home.as_ref()?.canonicalize().ok()?;
            home.ancestors().find(|p| named(p)).map(Path::to_path_buf)
        });
        known.insert(name.to_owned(), found.clone());
        found
    }
}

/// Why a file was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// It does not exist.
    Missing,
    /// It exists, outside of all roots.
    Outside,
}

impl Lost {
    /// What is wrong, after the file's name.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Missing => "does not exist",
            Self::Outside => "lies outside of the robot's directory and repository",
        }
    }

    /// What to do.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::Missing => "correct its path, or put it there",
            Self::Outside => {
                "allow the directory that it lies in with `--package DIR` (`Options::packages`), or all with `--anywhere`"
            }
        }
    }
}

/// The repository that a directory lies in: the nearest around it that has `.git`.
fn repository(directory: &Path) -> Option<PathBuf> {
    let real = directory.canonicalize().ok()?;
    real.ancestors()
        .find(|p| p.join(".git").exists())
        .map(Path::to_path_buf)
}
