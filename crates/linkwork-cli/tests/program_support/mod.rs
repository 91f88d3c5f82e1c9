//! The program, run as users run it.
#![allow(dead_code, unreachable_pub)]

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs the program in a directory, without colours and without input.
pub fn linkwork(directory: &Path, arguments: &[&str]) -> Output {
    linkwork_with(directory, arguments, "")
}

/// The same with something on standard input.
pub fn linkwork_with(directory: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_linkwork"))
        .args(arguments)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (mut pipe, input) = (child.stdin.take().expect("there is a pipe"), input.to_owned());
    // On a thread of its own: pipes fill. The program may not care to read it.
    let feeding = std::thread::spawn(move || drop(pipe.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("the program ends");
    feeding.join().expect("feeding does not panic");
    output
}

/// Runs a script that asserts things about files in a directory, with the Python that the test command has installed NumPy
/// for; without one nothing is run.
pub fn run_in_python(directory: &Path, script: &str) {
    let Some(python) = std::env::var_os("LINKWORK_REFERENCE_PYTHON") else {
        println!("skipped: `cargo xtask test` sets LINKWORK_REFERENCE_PYTHON");
        return;
    };
    let output = Command::new(python)
        .args(["-c", script])
        .current_dir(directory)
        .output()
        .expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// An empty directory for one test.
pub fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a directory can be made");
    path
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

/// The exit code and what was said on standard error; nothing on standard output, and no panic.
pub fn complaint(arguments: &[&str]) -> (i32, String) {
    let output = linkwork(Path::new(env!("CARGO_TARGET_TMPDIR")), arguments);
    let message = text(&output.stderr);
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    assert!(!message.contains("panicked"), "{message}");
    (output.status.code().expect("no signal"), message)
}

/// The summary of a run.
pub fn simulate(here: &Path, arguments: &[&str]) -> Value {
    let output = linkwork(here, &[&["simulate"], arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a JSON summary")
}

pub fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}
