//! Steps with contact: the example `contact_race`, which steps MuJoCo beside it on the very same scenes.

use crate::reference;
use std::path::Path;
use std::process::Command;

/// Runs it; whether it could be run.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let python = reference::python()?;
    let example = [
        "run",
        "--quiet",
        "--release",
        "--package",
        "linkwork-scene",
        "--example",
        "contact_race",
    ];
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root)
        .args(example)
        .env(reference::VARIABLE, python)
        .status();
    let status = status.map_err(|e| format!("cannot run cargo: {e}"))?;
    Ok(status.success())
}
