//! Arms that hold one object: the example `many_arms`, and Pinocchio on the very same mechanisms right after it.

use crate::reference;
use crate::test::cargo;
use std::path::Path;
use std::process::Command;

/// Runs both; whether they could be run and agree.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let python = reference::python()?;
    let place = std::env::temp_dir().join(format!("linkwork-arms-{}", std::process::id()));
    std::fs::create_dir_all(&place).map_err(|e| format!("cannot make {}: {e}", place.display()))?;
    let written = place.to_string_lossy().into_owned();
    let example = [
        "run",
        "--quiet",
        "--release",
        "--package",
        "linkwork",
        "--example",
        "many_arms",
    ];
    let done = cargo(root, &[&example[..], &["--", &written]].concat(), &[]).and_then(|good| {
        let script = root.join("xtask/src/race/many_arms.py");
        let status = Command::new(&python).arg(script).arg(&place).status();
        let status = status.map_err(|e| format!("cannot run {}: {e}", python.display()))?;
        Ok(good && status.success())
    });
    let _ = std::fs::remove_dir_all(&place);
    done
}
