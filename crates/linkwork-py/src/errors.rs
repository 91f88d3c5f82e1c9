//! The library's errors as exceptions.

use linkwork_formats::{Refusal, Report};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

create_exception!(
    linkwork,
    Error,
    PyValueError,
    "What the library refuses, with its message. Where some states of a batch failed, `index` is the first of them, `failed` how \
     many there are, and `result` holds the others."
);
create_exception!(
    linkwork,
    FileError,
    Error,
    "A robot file that cannot be used; `report` lists what was found in it."
);

/// The library's error as an exception.
pub(crate) fn raised(error: linkwork::Error) -> PyErr {
    let raised = Error::new_err(error.to_string());
    if let linkwork::Error::State { index, failed, .. } = error {
        Python::attach(|py| {
            let value = raised.value(py);
            // An exception has a dictionary; if this fails, the message still says it.
            let _ = value.setattr("index", index);
            let _ = value.setattr("failed", failed);
        });
    }
    raised
}

/// What was found in a file, as dictionaries.
pub(crate) fn findings<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for finding in &report.findings {
        let entry = PyDict::new(py);
        entry.set_item("severity", finding.severity.name())?;
        entry.set_item("code", finding.code)?;
        entry.set_item("file", &finding.file)?;
        entry.set_item("line", finding.line)?;
        entry.set_item("column", finding.column)?;
        entry.set_item("element", &finding.element)?;
        entry.set_item("message", &finding.message)?;
        entry.set_item("advice", &finding.advice)?;
        list.append(entry)?;
    }
    Ok(list)
}

/// A file that was refused, as an exception.
pub(crate) fn refused(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let raised = FileError::new_err(refusal.to_string());
    match findings(py, &refusal.report) {
        Ok(report) => match raised.value(py).setattr("report", report) {
            Ok(()) => raised,
            Err(problem) => problem,
        },
        Err(problem) => problem,
    }
}
