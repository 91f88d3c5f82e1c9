//! What is wrong with an expression, and where.

use crate::Error;
use core::ops::Range;

/// A problem at some columns of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) span: Range<usize>,
    problem: String,
    hint: String,
}

impl Fault {
    pub(crate) fn at(span: Range<usize>, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            span,
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    /// The same in a text that starts so much earlier.
    pub(crate) fn moved(mut self, by: usize) -> Self {
        self.span = self.span.start + by..self.span.end + by;
        self
    }

    /// As the library's error, with the expression it belongs to.
    pub(crate) fn of(self, text: &str) -> Error {
        Error::Expression {
            text: text.to_owned(),
            start: self.span.start,
            end: self.span.end.max(self.span.start + 1),
            problem: self.problem,
            hint: self.hint,
        }
    }
}
