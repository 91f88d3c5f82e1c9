//! How expressions are written: as they are typed, as the papers print them, and in LaTeX.

use super::infer::{LOG_DET, LOG_DET_GRADIENT, VECTORS as VECTORS_OF_STATES};
use super::space::Space;
use super::sum::{Factor, Sum, Term};
use core::fmt::Write;

/// A way of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notation {
    /// What the parser reads back: `inv(D) H psi^*`.
    Ascii,
    /// As the papers print it: `D⁻¹Hψ*`.
    Symbols,
    /// For TeX.
    Latex,
}

/// Vectors that have a symbol of their own.
const VECTORS: [(&str, &str, &str); 9] = [
    ("Jc_dot qd", "Jc_dot q̇", r"\dot J_c \dot q"),
    ("qd", "q̇", r"\dot q"),
    ("qdd", "q̈", r"\ddot q"),
    ("qddd", "qddd", r"\dddot q"),
    ("a0", "a₀", "a_0"),
    ("eps", "ε", r"\varepsilon"),
    ("lambda", "λ", r"\lambda"),
    (LOG_DET, "logdet(𝓜)", r"\log\det\mathcal{M}"),
    (LOG_DET_GRADIENT, "grad(logdet(𝓜))", r"\nabla\log\det\mathcal{M}"),
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

/// An operator as it is typed.
pub(crate) fn operator(op: super::op::Op) -> &'static str {
    op.ascii()
}

impl Sum {
    /// The expression in some notation.
    pub(crate) fn written(&self, notation: Notation) -> String {
        if self.terms.is_empty() {
            return "0".to_owned();
        }
        // Where nothing else tells the space of an identity, its name does.
        let alone = self.terms.iter().all(|t| t.factors.is_empty());
        let mut text = String::new();
        for (i, term) in self.terms.iter().enumerate() {
            let minus = if notation == Notation::Symbols { "−" } else { "-" };
            match (i, term.scale < 0.0) {
                (0, true) => text += minus,
                (0, false) => {}
                (_, true) => write!(text, " {minus} ").unwrap_or(()),
                (_, false) => text += " + ",
            }
            text += &term_text(term, notation, alone.then_some(self.range));
        }
        text
    }
}

fn term_text(term: &Term, notation: Notation, space: Option<Space>) -> String {
    let size = term.scale.abs();
    let mut parts: Vec<String> = Vec::new();
    if size != 1.0 {
        parts.push(number(size));
    }
    let mut i = 0;
    while i < term.factors.len() {
        if let Some(text) = of_frame(&term.factors[i..], notation) {
            parts.push(text);
            i += 2;
            continue;
        }
        let same = |f: &&Factor| **f == term.factors[i];
        let run = term.factors[i..].iter().take_while(same).count();
        let mut text = factor_text(&term.factors[i], notation, run);
        if let (Factor::Vector(v, adjoint), false) = (&term.factors[i], notation == Notation::Latex) {
            let other = if *adjoint {
                term.factors.get(i + 1)
            } else {
                i.checked_sub(1).map(|i| &term.factors[i])
            };
            let known = VECTORS_OF_STATES.iter().any(|known| *known.0 == *v.name);
            if !known && matches!(other, None | Some(Factor::Vector(..))) {
                let name = vector(&v.name, notation);
                text = text.replacen(name, &format!("{name}:{}", v.space.name()), 1);
            }
        }
        parts.push(text);
        i += run;
    }
    if term.factors.is_empty() {
        let name = match (space, notation) {
            (Some(Space::Joint), Notation::Ascii | Notation::Symbols) => "I_q",
            (Some(Space::Motion), Notation::Ascii | Notation::Symbols) => "I_V",
            (Some(Space::Force), Notation::Ascii | Notation::Symbols) => "I_f",
            (Some(Space::Tip), Notation::Ascii | Notation::Symbols) => "I_t",
            (Some(Space::Constraint), Notation::Ascii | Notation::Symbols) => "I_c",
            (Some(Space::Frame), Notation::Ascii | Notation::Symbols) => "I:frame",
            (Some(Space::Number), Notation::Ascii | Notation::Symbols) => "I:number",
            _ => "I",
        };
        if size == 1.0 || name != "I" || notation != Notation::Ascii {
            parts.push(name.to_owned());
        }
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

/// J[name], B[name] or an adjoint, if two factors are that.
fn of_frame(factors: &[Factor], notation: Notation) -> Option<String> {
    use super::op::Op::{B, J};
    let (letter, name, adjoint) = match factors {
        [Factor::Select(name, false), Factor::Op(J, false), ..] => ("J", name, false),
        [Factor::Op(J, true), Factor::Select(name, true), ..] => ("J", name, true),
        [Factor::Op(B, false), Factor::Select(name, true), ..] => ("B", name, false),
        [Factor::Select(name, false), Factor::Op(B, true), ..] => ("B", name, true),
        _ => return None,
    };
    Some(match (notation, adjoint) {
        (Notation::Latex, false) => format!(r"{letter}_{{\mathrm{{{name}}}}}"),
        (Notation::Latex, true) => format!(r"{letter}_{{\mathrm{{{name}}}}}^*"),
        (_, false) => format!("{letter}[{name}]"),
        (Notation::Ascii, true) => format!("{letter}[{name}]^*"),
        (Notation::Symbols, true) => format!("{letter}[{name}]*"),
    })
}

/// Whether two parts need a space between them to be told apart.
fn needs_space(left: &str, right: &str) -> bool {
    let many = |s: &str| s.chars().filter(|c| c.is_ascii_alphanumeric()).count() > 1;
    let digit = left.ends_with(|c: char| c.is_ascii_digit());
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    digit
        || left.ends_with(letter) && right.starts_with(letter)
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
        Factor::Vector(v, adjoint) => {
            let name = vector(&v.name, notation);
            let open = *adjoint && v.name.contains(' ');
            (if open { format!("({name})") } else { name.to_owned() }, *adjoint)
        }
        Factor::Sum(sum) => (format!("({})", sum.written(notation)), false),
        Factor::Pseudo(sum) => {
            let inner = sum.written(notation);
            let text = match notation {
                Notation::Latex => format!("({inner})^{{+}}"),
                _ => format!("pinv({inner})"),
            };
            (text, false)
        }
        Factor::Diagonal(v, inverted) => {
            let name = vector(&v.name, notation);
            let typed = format!("{name}:{}", v.space.name());
            let text = match (notation, inverted) {
                (Notation::Latex, false) => format!(r"\operatorname{{diag}}({name})"),
                (Notation::Latex, true) => format!(r"\operatorname{{diag}}({name})^{{-1}}"),
                (_, false) => format!("diag({typed})"),
                (Notation::Ascii, true) => format!("inv(diag({typed}))"),
                (Notation::Symbols, true) => format!("diag({typed})⁻¹"),
            };
            (text, false)
        }
        Factor::Matrix(v) => match notation {
            Notation::Latex => (v.name.to_string(), false),
            _ => (format!("sym({}:{})", v.name, v.space.name()), false),
        },
        Factor::By(kind, vector) => kind.written(&vector.written(notation), notation),
        Factor::Held(vector, adjoint) => (format!("({})", vector.written(notation)), *adjoint),
        // With what it follows or leads, J[name] and B[name] are written by the caller.
        Factor::Select(name, adjoint) => (format!("S[{name}]"), *adjoint),
        Factor::Inverse(sum) | Factor::Augmented(sum) => {
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
