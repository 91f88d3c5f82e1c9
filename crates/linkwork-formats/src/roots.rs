//! Where files that a robot refers to may lie.

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
    /// Whether absolute and upward paths may lead anywhere.
    anywhere: bool,
    /// Packages found so far.
    known: Mutex<HashMap<String, Option<PathBuf>>>,
}

impl Roots {
    /// The directory of a file, a search path, and what ROS has in its environment.
    pub(crate) fn new(home: Option<&Path>, search: &[PathBuf], anywhere: bool) -> Self {
        let mut packages = search.to_vec();
        let listed = |name: &str| std::env::var_os(name).map(|v| std::env::split_paths(&v).collect::<Vec<_>>());
        packages.extend(listed("ROS_PACKAGE_PATH").unwrap_or_default());
        let prefixes = listed("AMENT_PREFIX_PATH").unwrap_or_default();
        packages.extend(prefixes.iter().map(|p| p.join("share")));
        packages.retain(|p| !p.as_os_str().is_empty());
        Self {
            home: home.map(Path::to_path_buf),
            packages,
            anywhere,
            known: Mutex::default(),
        }
    }

    /// The file that a URI means, if it exists and lies in one of the roots.
    pub(crate) fn find(&self, uri: &str) -> Option<PathBuf> {
        if uri.len() > 4096 || uri.contains('\0') {
            return None;
        }
        if let Some(rest) = uri.strip_prefix("package://").or_else(|| uri.strip_prefix("model://")) {
            let (package, inner) = rest.split_once('/')?;
            let package = self.package(package)?;
            return inside(&package, Path::new(inner), self.anywhere);
        }
        let path = Path::new(uri.strip_prefix("file://").unwrap_or(uri));
        if path.is_absolute() {
            let listed = self.home.iter().chain(&self.packages);
            let real = path.canonicalize().ok()?;
            let allowed = listed
                .into_iter()
                .filter_map(|r| r.canonicalize().ok())
                .any(|r| real.starts_with(r));
            return (allowed || self.anywhere).then_some(real);
        }
        inside(self.home.as_ref()?, path, self.anywhere)
    }

    /// The directory of a package: one of that name in the search path, one of the search path itself, or the directory
    /// of that name which the robot's own file lies in.
    fn package(&self, name: &str) -> Option<PathBuf> {
        if name.is_empty() || Path::new(name).components().any(|c| !matches!(c, Component::Normal(_))) {
            return None;
        }
        let mut known = self.known.lock().ok()?;
        if let Some(found) = known.get(name) {
            return found.clone();
        }
        let named = |p: &Path| p.file_name().is_some_and(|n| n == name);
        let listed = self.packages.iter().find_map(|p| {
            let inner = p.join(name);
            if inner.is_dir() {
                Some(inner)
            } else {
                (named(p) && p.is_dir()).then(|| p.clone())
            }
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
