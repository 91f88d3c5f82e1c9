//! Checks of what stands in files.

use std::path::{Path, PathBuf};

/// The guides whose paths must exist, beside the chapters in `CHAPTERS`.
const GUIDES: [&str; 4] = ["README.md", "ARCHITECTURE.md", "NOTATION.md", "CONTRIBUTING.md"];
const CHAPTERS: [&str; 2] = ["docs/architecture", "docs/guide"];
/// Files stay small enough to hold in the head.
const LONGEST: usize = 600;

/// Paths that a guide names and that are not there.
pub(crate) fn paths(root: &Path) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    let mut guides: Vec<String> = GUIDES.map(str::to_owned).to_vec();
    for chapters in CHAPTERS {
        let directory = root.join(chapters);
        let problem = |e| format!("cannot list {}: {e}", directory.display());
        for entry in std::fs::read_dir(&directory).map_err(problem)? {
            let name = entry.map_err(problem)?.file_name();
            guides.push(format!("{chapters}/{}", name.to_string_lossy()));
        }
    }
    guides.sort();
    for guide in guides {
        let text = read(&root.join(&guide))?;
        for (at, span) in spans(&text) {
            if is_path(span) && !root.join(span).exists() {
                problems.push(format!("{guide}:{at}: `{span}` does not exist"));
            }
        }
    }
    Ok(problems)
}

/// Source files that are too long.
pub(crate) fn lengths(root: &Path) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for file in sources(&[root.join("crates"), root.join("xtask")])? {
        let lines = read(&file)?.lines().count();
        if lines > LONGEST {
            let name = file.strip_prefix(root).unwrap_or(&file).display();
            problems.push(format!("{name} has {lines} lines; split it ({LONGEST} at most)"));
        }
    }
    Ok(problems)
}

/// All Rust files below some directories, in order.
pub(crate) fn sources(directories: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut waiting = directories.to_vec();
    while let Some(directory) = waiting.pop() {
        let problem = |e| format!("cannot list {}: {e}", directory.display());
        for entry in std::fs::read_dir(&directory).map_err(problem)? {
            let path = entry.map_err(problem)?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

pub(crate) fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()))
}

/// The code spans of a Markdown text outside code blocks, with their line numbers.
fn spans(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_block = false;
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            let code = line.split('`').skip(1).step_by(2);
            found.extend(code.map(|span| (i + 1, span)));
        }
    }
    found
}

/// Whether a code span means a path of the repository.
fn is_path(span: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let named = [".rs", ".md", ".toml", ".cff"].iter().any(|end| span.ends_with(end));
    span.chars().all(plain) && (span.contains('/') || named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_code() {
        for path in ["crates/linkwork/src", "README.md", "xtask/src/main.rs", ".ci/run"] {
            assert!(is_path(path), "{path}");
        }
        for other in [
            "Mechanism::workspace",
            "1 / 2",
            "at(q)",
            "cargo xtask test",
            "P⁺ / D",
            "nv",
            "--json",
        ] {
            assert!(!is_path(other), "{other}");
        }
    }

    #[test]
    fn code_blocks_are_not_searched() {
        let text = "see `a/b`\n```\n`c/d`\n```\nand `e/f`, `g.md`";
        assert_eq!(spans(text), [(1, "a/b"), (5, "e/f"), (5, "g.md")]);
    }
}
