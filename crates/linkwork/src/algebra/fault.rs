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

/// The expression with carets below the columns; tabs and line breaks become spaces so that they line up.
pub(crate) fn underlined(text: &str, start: usize, end: usize) -> String {
    let line: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let is_mark = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    let wide = |from: usize, to: usize| {
        let inside = line
            .chars()
            .skip(from)
            .take(to.saturating_sub(from))
            .filter(|c| !is_mark(c));
        inside.count()
    };
    let carets = wide(start, end).max(1);
    format!("  {line}\n  {}{}", " ".repeat(wide(0, start)), "^".repeat(carets))
}
