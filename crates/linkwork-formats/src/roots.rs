//! Where files that a robot refers to may lie.

use crate::Options;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

/// Directories in which meshes and included files are looked for. Nothing outside of them is touched.
#[derive(Debug, Default)]
pub(crate) struct Roots {
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

impl Roots {
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
        if uri.len() > 4096 || uri.contains('\0') {
            return None;
        }
        if let Some(rest) = uri.strip_prefix("package://").or_else(|| uri.strip_prefix("model://")) {
            let (package, inner) = rest.split_once('/').unwrap_or((rest, ""));
            let package = self.package(package)?;
            return inside(&package, Path::new(inner), self.anywhere);
        }
        let path = Path::new(uri.strip_prefix("file://").unwrap_or(uri));
        if path.is_absolute() {
            let named = self.named.iter().map(|(_, place)| place);
            let listed = self.home.iter().chain(&self.packages).chain(named);
            let real = path.canonicalize().ok()?;
            let known = self.known.lock().ok()?;
            let allowed = listed
                .chain(known.values().flatten())
                .filter_map(|r| r.canonicalize().ok())
                .any(|r| real.starts_with(r));
            return (allowed || self.anywhere).then_some(real);
        }
        inside(self.home.as_ref()?, path, self.anywhere)
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

/// A file below a directory, links followed.
fn inside(root: &Path, path: &Path, anywhere: bool) -> Option<PathBuf> {
    let real = root.join(path).canonicalize().ok()?;
    let root = root.canonicalize().ok()?;
    (real.starts_with(root) || anywhere).then_some(real)
}
