//! Xacro: files with properties, macros, conditions and includes, expanded into XML.
//!
//! The result is a document whose elements know where they come from, so that what is found in it later has a file, a
//! line and a column too. Elements wait on a list and nothing recurses but expressions, whose depth is bounded; work and
//! memory are counted, and a file that takes too much of them is refused.

mod expander;
mod expression;
mod output;
mod scope;
mod tags;
mod text;
mod value;
mod yaml;

use crate::Options;
use crate::report::Findings;
use crate::search_paths::SearchPaths;
use crate::source::{At, Spot};
use crate::xml::Document;

/// What is wrong with a file, and where.
#[derive(Debug)]
pub(crate) struct Problem {
    /// None until the place is known.
    spot: Option<Spot>,
    message: String,
    advice: &'static str,
}

impl Problem {
    fn new(spot: Spot, message: String) -> Self {
        Self {
            spot: Some(spot),
            message,
            advice: "",
        }
    }

    fn advised(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }

    /// The same, at a spot if it has none.
    fn or_at(self, spot: Spot) -> Self {
        Self {
            spot: self.spot.or(Some(spot)),
            ..self
        }
    }
}

/// Whether a document has elements of xacro.
pub(crate) fn needed(document: &Document) -> bool {
    document.elements().any(|e| e.name().starts_with("xacro:"))
}

/// Expands a document; what is wrong is reported.
pub(crate) fn expand(document: Document, roots: &SearchPaths, options: &Options, f: &mut Findings) -> Option<Document> {
    let file = document.file().to_owned();
    match expander::Expander::run(document, roots.home(), roots, options, f) {
        Ok((text, origins)) => Document::expanded(&file, text, origins, f),
        Err(problem) => {
            let spot = problem.spot.unwrap_or_default();
            f.error(At::new(spot, "", ""), "xacro", problem.message, problem.advice);
            None
        }
    }
}
