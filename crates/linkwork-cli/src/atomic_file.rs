//! Files that are whole or not there: written under another name, and given their own when nothing is missing.
//!
//! Where a name is a symbolic link, what it leads to is written, and the link stays. Who writes a file holds a lock on it, so that
//! no two programs write one file at a time.

use crate::user_error::UserError;
use anyhow::{Context, Result};
use std::fs::{File, TryLockError};
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

/// Where a path leads to: the file that a symbolic link stands for, whether that is there or not.
pub(crate) fn followed(path: &Path) -> PathBuf {
    /// More links in a row than systems follow.
    const MOST: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST {
        let Ok(next) = std::fs::read_link(&place) else { break };
        place = match place.parent() {
            Some(directory) => directory.join(next),
            None => next,
        };
    }
    place
}

/// Whether two paths lead to one file, which need not be there yet.
pub(crate) fn same(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let path = followed(path);
        let directory = match path.parent() {
            Some(directory) if directory != Path::new("") => directory.canonicalize(),
            _ => Path::new(".").canonicalize(),
        };
        (directory.ok(), path.file_name().map(ToOwned::to_owned), path)
    };
    match (place(a), place(b)) {
        ((Some(a), Some(x), _), (Some(b), Some(y), _)) => a == b && x == y,
        ((.., a), (.., b)) => a == b,
    }
}

/// An error where something is to be written over what is read, or twice.
pub(crate) fn check_apart<'a>(
    outputs: impl IntoIterator<Item = &'a PathBuf>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let (outputs, inputs): (Vec<_>, Vec<_>) = (outputs.into_iter().collect(), inputs.into_iter().collect());
    for (i, path) in outputs.iter().enumerate() {
        // A device is none the less there.
        if is_special(path) {
            continue;
        }
        let shown = path.display();
        if outputs[..i].iter().any(|other| same(other, path)) {
            let problem = format!("`{shown}` is to be written twice");
            return Err(UserError::usage(problem, "give each file a name of its own"));
        }
        if inputs.iter().any(|other| same(other, path)) {
            let problem = format!("`{shown}` is read, and would be written over");
            return Err(UserError::usage(problem, "give what is written another name"));
        }
    }
    Ok(())
}

/// An error unless a file can be written there, before much is done for it.
pub(crate) fn check(path: &Path) -> Result<()> {
    let problem = || format!("cannot write to `{}`", path.display());
    if path.is_dir() {
        let is_directory = std::io::Error::from(std::io::ErrorKind::IsADirectory);
        return Err(is_directory).with_context(problem);
    }
    let special = is_special(path);
    if special || path.exists() {
        std::fs::OpenOptions::new()
            .append(true)
            .open(path)
            .with_context(problem)?;
    }
    if special {
        return Ok(());
    }
    let tried = part(&followed(path));
    // What a run that was killed has left stays until something takes its place.
    let left = tried.exists();
    let _held = hold(&tried).with_context(problem)?;
    if left {
        return Ok(());
    }
    std::fs::remove_file(&tried).with_context(problem)
}

/// Opens a file to write and read it anew, and holds it: an error where another program does. It is held for as long as the file,
/// or a clone of it, is open.
pub(crate) fn begin(path: &Path) -> Result<File> {
    let file = hold(path)?;
    file.set_len(0)?;
    Ok(file)
}

/// The same with what is in it.
fn hold(path: &Path) -> Result<File> {
    loop {
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let problem = format!("another run is writing `{}`", path.display());
                return Err(UserError::failure(
                    problem,
                    "wait until it has ended, or give another name",
                ));
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => {}
        }
        // Who held it before may have given it its own name meanwhile, and then it is not ours.
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

/// Whether a file is the one that a path leads to.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((own.dev(), own.ino()) == (there.dev(), there.ino())),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// A file that is open keeps its name here.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(true)
}

/// Writes a file at once.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let problem = || format!("cannot write `{}`", path.display());
    if is_special(path) {
        return std::fs::write(path, bytes).with_context(problem);
    }
    let place = followed(path);
    let begun = part(&place);
    let mut file = begin(&begun).with_context(problem)?;
    let mut put = || -> std::io::Result<()> {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&begun, &place)
    };
    let written = put();
    if written.is_err() {
        // What is there of it is of no use.
        let _ = std::fs::remove_file(&begun);
    }
    written.with_context(problem)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let here = std::env::temp_dir().join(format!("linkwork-whole-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&here);
        std::fs::create_dir_all(&here).expect("a directory");
        here
    }

    #[test]
    fn links_stay_and_lead_to_what_is_written() {
        let here = directory("links");
        let (link, target) = (here.join("link"), here.join("target"));
        std::os::unix::fs::symlink("target", &link).expect("a link");
        // Whether the target is there or not.
        for text in [&b"one"[..], b"two"] {
            check(&link).expect("it can be written");
            write(&link, text).expect("it is written");
            assert!(link.is_symlink());
            assert_eq!(std::fs::read(&target).expect("it is there"), text);
        }
        assert!(same(&link, &target) && same(&link, &here.join("../").join(here.file_name().unwrap()).join("target")));
        assert!(!same(&link, &here.join("other")));
        std::fs::remove_dir_all(&here).expect("it goes");
    }

    #[test]
    fn a_file_that_is_being_written_is_left_alone() {
        let here = directory("held");
        let path = here.join("run");
        let mut held = begin(&part(&path)).expect("nobody holds it");
        held.write_all(b"mine").expect("it is written");
        for refused in [check(&path), write(&path, b"yours"), begin(&part(&path)).map(drop)] {
            let problem = format!("{:#}", refused.expect_err("it is held"));
            assert!(problem.contains("another run"), "{problem}");
        }
        assert_eq!(std::fs::read(part(&path)).expect("it is there"), b"mine");
        drop(held);
        check(&path).expect("nobody holds it");
        assert_eq!(std::fs::read(part(&path)).expect("it is left"), b"mine");
        write(&path, b"yours").expect("nobody holds it");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"yours");
        std::fs::remove_dir_all(&here).expect("it goes");
    }
}
