//! The Python package: its wheel is built, installed into a new environment, and tested there.

use crate::reference::{environment, run};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What building and testing needs, installed once into the cache.
const PACKAGES: [&str; 14] = [
    "maturin==1.16.0",
    "numpy==2.4.6",
    "pytest==9.2.0",
    "hypothesis==6.170.15",
    "mypy==2.4.1",
    "scipy==1.17.1",
    "matplotlib",
    "pyarrow==26.0.1",
    "pin==4.1.0",
    "example-robot-data==6.0.0",
    "mujoco==3.17.0",
    "jax==0.10.2",
    "nbclient",
    "ipykernel",
];

/// What only `--all` tests with: some gigabytes.
const LARGE: [&str; 2] = ["torch==2.15.0", "ray==2.60.0"];

/// The largest wheel that is handed out, in bytes; 10 MB is what we want, and 13.4 what the library's compiled copies take today.
const LARGEST: u64 = 13_600_000;

/// Passed and failed tests of the package.
pub(crate) fn test(root: &Path, all: bool) -> Result<(u64, u64), String> {
    let packages: Vec<&str> = match all {
        true => PACKAGES.iter().chain(&LARGE).copied().collect(),
        false => PACKAGES.to_vec(),
    };
    let python = environment("python", &packages)?;
    let wheel = wheel(root, &python)?;
    let size = std::fs::metadata(&wheel)
        .map_err(|e| format!("{}: {e}", wheel.display()))?
        .len();
    println!("{}: {:.1} MB", wheel.display(), size as f64 / 1e6);
    let fresh = fresh(root, &python, &wheel)?;
    let (passed, failed) = pytest(root, &fresh, all)?;
    let fits = size <= LARGEST;
    if !fits {
        println!("the wheel has more than {LARGEST} bytes");
    }
    Ok((passed + u64::from(fits), failed + u64::from(!fits)))
}

/// Times the package beside its peers; whether that could be done.
pub(crate) fn race(root: &Path) -> Result<bool, String> {
    let packages: Vec<&str> = PACKAGES.iter().chain(&LARGE).copied().collect();
    let python = environment("python", &packages)?;
    let wheel = wheel(root, &python)?;
    let fresh = fresh(root, &python, &wheel)?;
    let mut script = Command::new(&fresh);
    script.arg(root.join("crates/linkwork-py/tests/race.py"));
    run(&mut script).map(|()| true)
}

/// Builds the wheel.
fn wheel(root: &Path, python: &Path) -> Result<PathBuf, String> {
    let place = root.join("target/wheels");
    let _ = std::fs::remove_dir_all(&place);
    let quiet = [
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ];
    let mut build = Command::new(python);
    build
        .args(quiet)
        .args(["--no-build-isolation", "--wheel-dir"])
        .arg(&place);
    build.arg(root.join("crates/linkwork-py")).env("PATH", path(python));
    run(&mut build)?;
    let entries = std::fs::read_dir(&place).map_err(|e| format!("cannot list {}: {e}", place.display()))?;
    let built = entries.filter_map(Result::ok).map(|entry| entry.path());
    built.last().ok_or_else(|| format!("no wheel in {}", place.display()))
}

/// The search path, with the programs of an environment first.
fn path(python: &Path) -> std::ffi::OsString {
    let mut path = python.parent().unwrap_or(python).as_os_str().to_owned();
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    path
}

/// A new environment with the wheel, which sees the packages of the cached one.
fn fresh(root: &Path, python: &Path, wheel: &Path) -> Result<PathBuf, String> {
    let place = root.join("target/python");
    let _ = std::fs::remove_dir_all(&place);
    run(Command::new(python).args(["-m", "venv"]).arg(&place))?;
    let fresh = place.join("bin/python");
    let ask = |python: &Path| -> Result<String, String> {
        let code = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let told = Command::new(python).args(["-c", code]).output();
        let told = told.map_err(|e| format!("cannot run {}: {e}", python.display()))?;
        Ok(String::from_utf8_lossy(&told.stdout).trim().to_owned())
    };
    let seen = Path::new(&ask(&fresh)?).join("cached.pth");
    // Packages may have search paths of their own, as Pinocchio has.
    let line = format!("import site; site.addsitedir({:?})\n", ask(python)?);
    std::fs::write(&seen, line).map_err(|e| format!("cannot write {}: {e}", seen.display()))?;
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&fresh).args(quiet).arg(wheel))?;
    Ok(fresh)
}

/// Runs the tests and counts them.
fn pytest(root: &Path, python: &Path, all: bool) -> Result<(u64, u64), String> {
    let problem = |e| format!("cannot run {}: {e}", python.display());
    let mut command = Command::new(python);
    command
        .args(["-m", "pytest", "--color=no", "-rs"])
        .current_dir(root.join("crates/linkwork-py"));
    // What is installed for comparisons may not be skipped.
    command.env("LINKWORK_PEERS", "1");
    command.env("PYTHONDONTWRITEBYTECODE", "1").stdout(Stdio::piped());
    if all {
        command.env("LINKWORK_ALL", "1");
    }
    let mut child = command.spawn().map_err(problem)?;
    let mut counts = (0, 0);
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.map_err(problem)?;
            println!("{line}");
            counts = result(&line).unwrap_or(counts);
        }
    }
    let success = child.wait().map_err(problem)?.success();
    // A run that fails without a failed test counts as one.
    Ok((counts.0, if success { counts.1 } else { counts.1.max(1) }))
}

/// Passed and failed of a line `3 failed, 120 passed, 2 skipped in 12.3s`.
fn result(line: &str) -> Option<(u64, u64)> {
    let (counts, _) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    let mut found = (0, 0);
    let mut any = false;
    for part in counts.split(", ") {
        let (number, word) = part.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match word {
            "passed" => found.0 = number,
            "failed" | "error" | "errors" => found.1 += number,
            "skipped" | "deselected" | "xfailed" | "warning" | "warnings" => {}
            _ => return None,
        }
        any = true;
    }
    any.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_python_tests_are_counted() {
        assert_eq!(result("3 failed, 120 passed, 2 skipped in 12.3s"), Some((120, 3)));
        assert_eq!(result("5 passed, 1 error in 0.5s"), Some((5, 1)));
        assert_eq!(result("tests/test_model.py ..... in 3"), None);
    }
}
