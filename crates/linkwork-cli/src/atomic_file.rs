//! Files that are whole or not there: written under another name, and given their own when nothing is missing.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name under which a file is written until it is whole.
pub(crate) fn part(path: &Path) -> PathBuf {
    with_end(path, ".part")
}

/// A path with something after its name.
pub(crate) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Whether a path is a device or a pipe, which is written to as it is.
pub(crate) fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// An error unless a file can be written there, before much is done for it.
pub(crate) fn check(path: &Path) -> Result<()> {
    let problem = || format!("cannot write to `{}`", path.display());
    if path.is_dir() {
        let is_directory = std::io::Error::from(std::io::ErrorKind::IsADirectory);
        return Err(is_directory).with_context(problem);
    }
    if is_special(path) {
        std::fs::OpenOptions::new()
            .append(true)
            .open(path)
            .with_context(problem)?;
        return Ok(());
    }
    if path.exists() {
        std::fs::OpenOptions::new()
            .append(true)
            .open(path)
            .with_context(problem)?;
    }
    let tried = part(path);
    File::create(&tried).with_context(problem)?;
    std::fs::remove_file(&tried).with_context(problem)
}

/// Writes a file at once.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let problem = || format!("cannot write `{}`", path.display());
    if is_special(path) {
        return std::fs::write(path, bytes).with_context(problem);
    }
    let begun = part(path);
    let written = File::create(&begun).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&begun, path)
    });
    if written.is_err() {
        // What is there of it is of no use.
        let _ = std::fs::remove_file(&begun);
    }
    written.with_context(problem)
}
