//! The viewer's page, which npm builds, and its tests in a browser. Packages go into a cache outside of the tree.

use crate::reference::cache;
use crate::test::Score;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HELP: &str = "\
the viewer's page is built with Node.js 20 or later and npm (Debian: apt-get install nodejs npm), and the network once.";

const BROWSER_HELP: &str = "\
the page is tested in Chromium, which was not found and could not be installed: `apt-get install chromium`, or name a
Chromium or Chrome in LINKWORK_BROWSER.";

/// What is built and run, beside the packages.
const SOURCES: [&str; 4] = ["src", "tests", "build.mjs", "tsconfig.json"];

/// Builds the page into the crate that serves it.
pub(crate) fn build(root: &Path) -> Result<bool, String> {
    let place = packages(root)?;
    run(Command::new("node")
        .arg("node_modules/typescript/bin/tsc")
        .current_dir(&place))?;
    let out = root.join("crates/linkwork-view/page");
    run(Command::new("node").arg("build.mjs").arg(out).current_dir(&place))?;
    Ok(true)
}

/// A directory in the cache with the packages of the lock and the sources as they are now.
fn packages(root: &Path) -> Result<PathBuf, String> {
    let viewer = root.join("viewer");
    let lock = viewer.join("package-lock.json");
    let text = std::fs::read(&lock).map_err(|e| format!("cannot read {}: {e}", lock.display()))?;
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let place = cache().join(format!("viewer-{:016x}", hasher.finish()));
    let done = place.join("complete");
    if !done.exists() {
        println!("installing the packages of {} into {}", lock.display(), place.display());
        // What an interrupted run left behind.
        let _ = std::fs::remove_dir_all(&place);
        copy(&viewer.join("package.json"), &place.join("package.json"))?;
        copy(&lock, &place.join("package-lock.json"))?;
        let quiet = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        run(Command::new("npm").args(quiet).current_dir(&place))?;
        std::fs::write(&done, "").map_err(|e| format!("cannot write {}: {e}", done.display()))?;
    }
    for name in SOURCES {
        let _ = std::fs::remove_dir_all(place.join(name));
        copy(&viewer.join(name), &place.join(name))?;
    }
    Ok(place)
}

/// Copies a file or a directory.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let problem = |e: std::io::Error| format!("cannot copy {} to {}: {e}", from.display(), to.display());
    if !from.is_dir() {
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent).map_err(problem)?;
        }
        return std::fs::copy(from, to).map(drop).map_err(problem);
    }
    for entry in std::fs::read_dir(from).map_err(problem)? {
        let entry = entry.map_err(problem)?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Runs the tests of the page in a browser, and counts them.
pub(crate) fn test(root: &Path, python: &Path, score: &mut Score) -> Result<(), String> {
    let place = packages(root)?;
    let program = root.join("target/debug/linkwork");
    if !program.is_file() {
        return Err(format!(
            "{} is not there; the tests before this one build it",
            program.display()
        ));
    }
    let problem = |e| format!("cannot run node: {e};\n{HELP}");
    let mut child = Command::new("node")
        .args(["--test", "--test-concurrency=1", "--test-reporter=tap", "tests/"])
        .current_dir(&place)
        .env("LINKWORK", program)
        .env("LINKWORK_BROWSER", browser()?)
        .env("LINKWORK_ROBOTS", robots(python)?)
        .env("LINKWORK_SHOTS", root.join("target/viewer-shots"))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(problem)?;
    let mut failed = 0;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.map_err(problem)?;
            println!("{line}");
            score.passed += u64::from(line.starts_with("ok "));
            failed += u64::from(line.starts_with("not ok "));
        }
    }
    let success = child.wait().map_err(problem)?.success();
    score.failed += if success { failed } else { failed.max(1) };
    Ok(())
}

/// The robots of `example-robot-data`, which the other libraries bring.
fn robots(python: &Path) -> Result<String, String> {
    let find = "import importlib.util, pathlib; \
        print(pathlib.Path(importlib.util.find_spec('cmeel').origin).parent.parent / 'cmeel.prefix/share/example-robot-data/robots')";
    let output = Command::new(python).args(["-c", find]).output();
    let output = output.map_err(|e| format!("cannot run {}: {e}", python.display()))?;
    let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match Path::new(&path).is_dir() {
        true => Ok(path),
        false => Err(format!("{} has no robots of example-robot-data", python.display())),
    }
}

/// Chromium, installed by apt where it is not there.
fn browser() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("LINKWORK_BROWSER") {
        return Ok(named.into());
    }
    if let Some(found) = on_path() {
        return Ok(found);
    }
    println!("installing chromium by apt-get");
    let apt = |words: &[&str]| {
        run(Command::new("apt-get")
            .args(words)
            .env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let install = ["install", "--yes", "--quiet", "--no-install-recommends", "chromium"];
    if apt(&install).is_err() {
        apt(&["update", "--quiet"])
            .and_then(|()| apt(&install))
            .map_err(|e| format!("{e}\n{BROWSER_HELP}"))?;
    }
    on_path().ok_or_else(|| BROWSER_HELP.to_owned())
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut all = std::env::split_paths(&path).flat_map(|d| names.map(|n| d.join(n)));
    all.find(|p| p.is_file())
}

fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown} failed ({status});\n{HELP}")),
        Err(problem) => Err(format!("cannot run {shown}: {problem};\n{HELP}")),
    }
}
