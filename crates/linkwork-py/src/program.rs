//! The program `linkwork`, here so that the library's code is in the wheel once.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::Write;

/// Runs the program with the arguments of a command line, its own name first; its exit code.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = linkwork_cli::run(arguments);
        // Nobody does it at the interpreter's end. Whoever was to read may have gone.
        let _ = std::io::stdout().flush();
        code.number()
    })
}
