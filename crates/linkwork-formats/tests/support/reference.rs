//! Another library in a process of its own.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running `reference.py`.
pub struct Reference {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Reference {
    /// Starts it with the interpreter that `cargo xtask test` installs; without one there is nothing to compare with.
    pub fn start() -> Option<Self> {
        let Some(python) = std::env::var_os("LINKWORK_REFERENCE_PYTHON") else {
            eprintln!("skipped: `cargo xtask test` installs the libraries that this compares with");
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the reference interpreter starts");
        let input = child.stdin.take().expect("its input is a pipe");
        let output = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        Some(Self { child, input, output })
    }

    /// Asks, and waits for the answer.
    pub fn ask(&mut self, request: &Value) -> Value {
        writeln!(self.input, "{request}").expect("the reference reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the reference answers");
        // Python writes NaN and Infinity, which JSON has not.
        let line = line
            .replace("NaN", "null")
            .replace("-Infinity", "null")
            .replace("Infinity", "null");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("no answer to {}: {e}", request["file"]))
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The numbers of a list; NaN where there is none.
pub fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

/// The largest difference as a part of the largest expected number.
pub fn error(got: &[f64], expect: &[f64]) -> f64 {
    assert_eq!(got.len(), expect.len());
    let largest = expect.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let worst = got.iter().zip(expect).map(|(g, e)| (g - e).abs() / scale);
    worst.fold(0.0, |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) })
}
