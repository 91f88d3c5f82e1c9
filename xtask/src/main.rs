//! Tasks of the repository: `cargo xtask test` is what CI runs, `cargo xtask python` its part for the Python package,
//! `cargo xtask viewer` builds the viewer's page, `cargo xtask race` and `cargo xtask contact` race other libraries,
//! `cargo xtask count` counts instructions.

mod checks;
mod contact;
mod instructions;
mod layers;
mod python;
mod race;
mod reference;
mod test;
mod viewer;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask test         format, lints, tests, docs and the repository's own checks
       cargo xtask test --all   the same, and PyTorch and a Ray cluster (gigabytes are installed once)
       cargo xtask python       the tests of the Python package alone
       cargo xtask viewer       builds the page of `linkwork view`, with npm
       cargo xtask race         linkwork against Pinocchio and MuJoCo: installs and compiles them, prints one table
       cargo xtask race python  the Python package beside pin, mujoco and torch, in one table
       cargo xtask race motion  inverse kinematics beside pytracik, pin-pink and mink, in one table
       cargo xtask contact      steps with contact beside MuJoCo's, on scenes of its own format
       cargo xtask check        paths in the guides, order of the rooms, length of the files: in a second
       cargo xtask count        writes the baseline of instructions that `test` compares with";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["test"] => test::run(&root(), false),
        ["test", "--all"] => test::run(&root(), true),
        ["python"] => python::test(&root(), false).map(counted),
        ["python", "--all"] => python::test(&root(), true).map(counted),
        ["viewer"] => viewer::build(&root()),
        ["race"] => race::run(&root()),
        ["race", "python"] => python::race(&root()),
        ["race", "motion"] => race::motion::run(&root()),
        ["contact"] => contact::run(&root()),
        ["check"] => {
            let mut score = test::Score::default();
            test::own(&root(), &mut score).map(|()| score.failed == 0)
        }
        ["count"] => instructions::write(&root()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Whether nothing failed, told.
fn counted((passed, failed): (u64, u64)) -> bool {
    println!("\n{passed} passed, {failed} failed");
    failed == 0
}

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
