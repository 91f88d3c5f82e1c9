//! All that must pass, in order. Every step runs, whatever the ones before it said.

use crate::{checks, instructions, layers, python, reference, viewer};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

#[derive(Default)]
pub(crate) struct Score {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Score {
    fn add(&mut self, good: bool) {
        if good {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }
}

/// Packs every crate that is published, and builds each from its package.
const PACKAGE: [&str; 8] = [
    "package",
    "--quiet",
    "--workspace",
    "--exclude",
    "xtask",
    "--exclude",
    "linkwork-py",
    "--allow-dirty",
];

/// Runs every step; whether nothing failed. With `all` also what needs gigabytes.
pub(crate) fn run(root: &Path, all: bool) -> Result<bool, String> {
    let mut score = Score::default();
    let warnings = ["--", "-D", "warnings"];
    heading("format");
    score.add(cargo(root, &["fmt", "--all", "--check"], &[])?);
    heading("lints");
    let lints = ["clippy", "--quiet", "--workspace", "--all-targets", "--all-features"];
    score.add(cargo(root, &[&lints[..], &warnings].concat(), &[])?);
    heading("other libraries to compare with");
    let python = reference::python();
    score.add(python.is_ok());
    let environment = match &python {
        Ok(python) => vec![(reference::VARIABLE, python.as_path())],
        Err(problem) => {
            println!("{problem}");
            Vec::new()
        }
    };
    heading("the viewer's page");
    let page = viewer::build(root);
    score.add(page.is_ok());
    if let Err(problem) = &page {
        println!("{problem}");
    }
    heading("tests");
    let tests = [
        "test",
        "--workspace",
        "--all-features",
        "--lib",
        "--bins",
        "--tests",
        "--no-fail-fast",
    ];
    tested(root, &tests, &environment, &mut score)?;
    heading("tests of the viewer in a browser");
    let shown = match (&python, &page) {
        (Ok(python), Ok(_)) => viewer::test(root, python, &mut score),
        _ => Err("they need the page and the robots above".to_owned()),
    };
    if let Err(problem) = shown {
        println!("{problem}");
        score.add(false);
    }
    heading("tests in the documentation");
    tested(
        root,
        &["test", "--workspace", "--all-features", "--doc", "--no-fail-fast"],
        &[],
        &mut score,
    )?;
    heading("documentation");
    let docs = [
        "doc",
        "--quiet",
        "--all-features",
        "--package",
        "linkwork",
        "--package",
        "linkwork-formats",
        "--package",
        "linkwork-view",
        "--package",
        "linkwork-scene",
        "--no-deps",
    ];
    score.add(cargo(root, &docs, &[("RUSTDOCFLAGS", "-D warnings")])?);
    heading("Python package");
    match python::test(root, all) {
        Ok((passed, failed)) => {
            score.passed += passed;
            score.failed += failed;
        }
        Err(problem) => {
            println!("{problem}");
            score.add(false);
        }
    }
    heading("packages");
    forget_packages()?;
    score.add(cargo(root, &PACKAGE, &[])?);
    own(root, &mut score)?;
    heading("instructions per call");
    let problems = instructions::check(root)?;
    show(&problems);
    score.add(problems.is_empty());
    println!("\n{} passed, {} failed", score.passed, score.failed);
    Ok(score.failed == 0)
}

/// Removes our crates as an earlier run unpacked them: cargo would build a package with those of the same version and path, however
/// old, instead of the ones it has just packed.
fn forget_packages() -> Result<(), String> {
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => home.into(),
        None => std::env::home_dir()
            .ok_or("set CARGO_HOME: there is no home directory")?
            .join(".cargo"),
    };
    let Ok(registries) = home.join("registry/src").read_dir() else {
        return Ok(());
    };
    let ours = concat!("-", env!("CARGO_PKG_VERSION"));
    for unpacked in registries
        .flatten()
        .filter_map(|registry| registry.path().read_dir().ok())
        .flatten()
        .flatten()
    {
        let name = unpacked.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("linkwork") && name.ends_with(ours) {
            let place = unpacked.path();
            std::fs::remove_dir_all(&place).map_err(|e| format!("cannot remove {}: {e}", place.display()))?;
        }
    }
    Ok(())
}

/// The quick checks of our own: paths in the guides, order of the rooms, length of the files.
pub(crate) fn own(root: &Path, score: &mut Score) -> Result<(), String> {
    type Check = fn(&Path) -> Result<Vec<String>, String>;
    let own: [(&str, Check); 3] = [
        ("paths named in the guides", checks::paths),
        ("order of the rooms", layers::check),
        ("length of the files", checks::lengths),
    ];
    for (name, check) in own {
        heading(name);
        let problems = check(root)?;
        show(&problems);
        score.add(problems.is_empty());
    }
    Ok(())
}

fn show(problems: &[String]) {
    for problem in problems {
        println!("{problem}");
    }
}

fn heading(name: &str) {
    println!("\n== {name}");
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).current_dir(root);
    cargo
}

/// Runs cargo; whether it succeeded.
pub(crate) fn cargo(root: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Result<bool, String> {
    let status = command(root, arguments).envs(environment.iter().copied()).status();
    let status = status.map_err(|e| format!("cannot run cargo {}: {e}", arguments.join(" ")))?;
    Ok(status.success())
}

/// Runs tests, shows what they print, and counts them. A run that fails without a failed test counts as one.
fn tested(root: &Path, arguments: &[&str], environment: &[(&str, &Path)], score: &mut Score) -> Result<(), String> {
    let problem = |e| format!("cannot run cargo {}: {e}", arguments.join(" "));
    let mut child = command(root, arguments)
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(problem)?;
    let mut failed = 0;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.map_err(problem)?;
            println!("{line}");
            if let Some((good, bad)) = result(&line) {
                score.passed += good;
                failed += bad;
            }
        }
    }
    let success = child.wait().map_err(problem)?.success();
    score.failed += if success { failed } else { failed.max(1) };
    Ok(())
}

/// Passed and failed of a line `test result: ok. 5 passed; 0 failed; …`.
fn result(line: &str) -> Option<(u64, u64)> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let mut numbers = counts.split("; ").map(|part| part.split_once(' '));
    let (passed, _) = numbers.next()??;
    let (failed, _) = numbers.next()??;
    Some((passed.parse().ok()?, failed.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_tests_are_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s";
        assert_eq!(result(line), Some((12, 3)));
        assert_eq!(result("test laws ... ok"), None);
    }
}
