//! How expressions are written: as they are typed, as the papers print them, and in LaTeX.

use super::sum::{Factor, Sum, Term};
use core::fmt::Write;

/// A way of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// What the parser reads back: `inv(D) H psi^*`.
    Ascii,
    /// As the papers print it: `D⁻¹Hψ*`.
    Symbols,
    /// For TeX.
    Latex,
}

/// Vectors that have a symbol of their own.
const VECTORS: [(&str, &str, &str); 5] = [
    ("qd", "q̇", r"\dot q"),
    ("qdd", "q̈", r"\ddot q"),
    ("a0", "a₀", "a_0"),
    ("eps", "ε", r"\varepsilon"),
    ("lambda", "λ", r"\lambda"),
];

/// A vector's name.
pub(crate) fn vector(name: &str, notation: Notation) -> &str {
    let row = VECTORS.iter().find(|row| row.0 == name);
    match (notation, row) {
        (Notation::Symbols, Some(row)) => row.1,
        (Notation::Latex, Some(row)) => row.2,
        _ => name,
    }
}

impl Sum {
    /// The expression in some notation.
    pub(crate) fn written(&self, notation: Notation) -> String {
        if self.terms.is_empty() {
            return "0".to_owned();
        }
        let mut text = String::new();
        for (i, term) in self.terms.iter().enumerate() {
            let minus = if notation == Notation::Symbols { "−" } else { "-" };
            match (i, term.scale < 0.0) {
                (0, true) => text += minus,
                (0, false) => {}
                (_, true) => write!(text, " {minus} ").unwrap_or(()),
                (_, false) => text += " + ",
            }
            text += &term_text(term, notation);
        }
        text
    }
}

fn term_text(term: &Term, notation: Notation) -> String {
    let size = term.scale.abs();
    let mut parts: Vec<String> = Vec::new();
    if size != 1.0 {
        parts.push(number(size));
    }
    let mut i = 0;
    while i < term.factors.len() {
        let same = |f: &&Factor| **f == term.factors[i];
        let run = term.factors[i..].iter().take_while(same).count();
        parts.push(factor_text(&term.factors[i], notation, run));
        i += run;
    }
    if term.factors.is_empty() && (size == 1.0 || notation != Notation::Ascii) {
        parts.push("I".to_owned());
    }
    let between = match notation {
        Notation::Symbols => "",
        _ => " ",
    };
    let mut text = String::new();
    for (i, part) in parts.iter().enumerate() {
        // Letters of names that run together would be misread: keep vectors and numbers apart.
        let apart = i > 0 && notation == Notation::Symbols && needs_space(&parts[i - 1], part);
        if i > 0 {
            text += if apart { " " } else { between };
        }
        text += part;
    }
    text
}

/// Whether two parts need a space between them to be told apart.
fn needs_space(left: &str, right: &str) -> bool {
    let many = |s: &str| s.chars().filter(|c| c.is_ascii_alphanumeric()).count() > 1;
    let digit = left.ends_with(|c: char| c.is_ascii_digit());
    digit
        || many(right)
        || right.starts_with(|c: char| c.is_ascii_lowercase())
        || right.starts_with('q')
        || right == "T"
}

fn factor_text(factor: &Factor, notation: Notation, run: usize) -> String {
    let (name, adjoint) = match factor {
        Factor::Op(op, adjoint) => {
            let name = match notation {
                Notation::Ascii => op.ascii(),
                Notation::Symbols => op.symbol(),
                Notation::Latex => op.latex(),
            };
            (name.to_owned(), *adjoint)
        }
        Factor::Vector(v, adjoint) => (vector(&v.name, notation).to_owned(), *adjoint),
        Factor::Sum(sum) => (format!("({})", sum.written(notation)), false),
        Factor::Inverse(sum) => {
            let inner = sum.written(notation);
            let text = match notation {
                Notation::Ascii => format!("inv({inner})"),
                Notation::Symbols => format!("({inner})⁻¹"),
                Notation::Latex => format!("({inner})^{{-1}}"),
            };
            (text, false)
        }
    };
    let mut text = name;
    if adjoint {
        text = match notation {
            Notation::Ascii => format!("{text}^*"),
            Notation::Symbols => format!("{text}*"),
            Notation::Latex if text.contains("^{") => format!("({text})^*"),
            Notation::Latex => format!("{text}^*"),
        };
    }
    if run > 1 {
        let base = if adjoint && notation == Notation::Latex {
            format!("({text})")
        } else {
            text
        };
        text = match notation {
            Notation::Latex => format!("{base}^{{{run}}}"),
            _ => format!("{base}^{run}"),
        };
    }
    text
}

/// A positive number as the parser reads it.
fn number(x: f64) -> String {
    format!("{x}")
}
