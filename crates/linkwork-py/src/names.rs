//! Words for what the library has types for.

use crate::errors::Error;
use linkwork::Reference;
use pyo3::prelude::*;

/// Where a motion is taken.
pub(crate) fn reference(word: &str) -> PyResult<Reference> {
    match word {
        "local" => Ok(Reference::Local),
        "aligned" => Ok(Reference::Aligned),
        "world" => Ok(Reference::World),
        _ => Err(Error::new_err(format!(
            "reference is {word:?}; it must be \"local\" (the frame's axes and origin), \"aligned\" (the world's axes at the \
             frame's origin) or \"world\" (the world's axes and origin)"
        ))),
    }
}
