//! Written expressions, split into operators and vectors.

use super::super::algorithm::Algorithm;
use super::super::notation::{Notation, vector};
use super::super::op::Op;
use super::Piece;

/// An operator or a vector, and whether it stands as its adjoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Atom {
    pub(super) symbol: String,
    pub(super) star: bool,
}

/// Operators with a symbol of one piece; the composed ones are written with parentheses.
const OPERATORS: [Op; 28] = [
    Op::H,
    Op::M,
    Op::P,
    Op::PPlus,
    Op::D,
    Op::DInv,
    Op::G,
    Op::K,
    Op::TauBar,
    Op::EPhi,
    Op::EPsi,
    Op::Phi,
    Op::Psi,
    Op::PhiInv,
    Op::PsiInv,
    Op::Mass,
    Op::MassInv,
    Op::B,
    Op::J,
    Op::Root,
    Op::RootInv,
    Op::Upsilon,
    Op::Rotors,
    Op::MInv,
    Op::PInv,
    Op::Bc,
    Op::Jc,
    Op::Seen,
];

impl Atom {
    /// An operator by its symbol. Those that are their own adjoints have no star, and neither have vectors.
    pub(super) fn new(symbol: &str, star: bool) -> Self {
        let plain = match OPERATORS.iter().find(|op| op.symbol() == symbol) {
            Some(op) => op.self_adjoint(),
            None => true,
        };
        Self {
            symbol: symbol.to_owned(),
            star: star && !plain,
        }
    }

    pub(super) fn adjoint(&self) -> Self {
        Self::new(&self.symbol, !self.star)
    }
}

/// The vectors that may be written, the longest names first.
pub(super) fn names(algorithm: &Algorithm) -> Vec<String> {
    let mut names: Vec<String> = ["a", "a0", "b", "C", "g", "V", "T", "qd", "qdd", "Jc_dot qd"]
        .iter()
        .map(|n| (*n).to_owned())
        .collect();
    names.extend(algorithm.expression.vectors().into_iter().map(|(name, _)| name));
    let mut names: Vec<String> = names.iter().map(|n| vector(n, Notation::Symbols).to_owned()).collect();
    names.sort_by_key(|name| core::cmp::Reverse(name.len()));
    names.dedup();
    names
}

/// The atoms of a text.
pub(super) fn atoms(text: &str, names: &[String]) -> Vec<Atom> {
    let mut found = Vec::new();
    split(text, names, false, &mut |_, atom| found.extend(atom));
    found
}

/// The text in pieces, each atom with the steps that it stands for.
pub(super) fn pieces(text: &str, names: &[String], steps: impl Fn(&Atom) -> Vec<usize>) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::new();
    split(text, names, false, &mut |text, atom| {
        let steps = atom.map(|a| steps(&a)).unwrap_or_default();
        match all.last_mut() {
            Some(last) if last.steps.is_empty() && steps.is_empty() => last.text += text,
            _ => all.push(Piece {
                text: text.to_owned(),
                steps,
            }),
        }
    });
    all
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || ('\u{300}'..='\u{36f}').contains(&c)
}

/// Hands out piece by piece. A parenthesis that a star follows is of adjoints.
fn split<'a>(text: &'a str, names: &[String], star: bool, see: &mut dyn FnMut(&'a str, Option<Atom>)) {
    let mut at = 0;
    let mut before = ' ';
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut plain = c.len_utf8();
        if c == '(' {
            let inner = enclosed(rest);
            let after = rest.get(inner.len() + 2..).unwrap_or_default();
            let starred = after.trim_start_matches("⁻¹").starts_with('*');
            see(&rest[..1], None);
            split(inner, names, star != starred, see);
            at += 1 + inner.len();
            before = '(';
            continue;
        }
        if c == '[' {
            plain = rest.find(']').map_or(rest.len(), |i| i + 1);
        } else if let Some(found) = atom(rest, before, names) {
            let starred = rest[found.len()..].starts_with('*');
            let whole = &rest[..found.len() + usize::from(starred)];
            see(whole, Some(Atom::new(found, star != starred)));
            before = whole.chars().last().unwrap_or(' ');
            at += whole.len();
            continue;
        } else if c.is_ascii_lowercase() {
            plain = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        }
        see(&rest[..plain], None);
        before = rest[..plain].chars().last().unwrap_or(' ');
        at += plain;
    }
}

/// What stands between a parenthesis and its end.
fn enclosed(text: &str) -> &str {
    let mut depth = 0_usize;
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return &text[1..i],
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    &text[1..]
}

/// The operator or vector that a text begins with.
fn atom<'a>(text: &'a str, before: char, names: &[String]) -> Option<&'a str> {
    let ends = |name: &str| !text[name.len()..].starts_with(is_letter);
    let vector = names
        .iter()
        .find(|name| text.starts_with(name.as_str()) && ends(name) && !before.is_ascii_alphanumeric());
    if let Some(name) = vector {
        return Some(&text[..name.len()]);
    }
    let fits = OPERATORS.iter().map(|op| op.symbol()).filter(|s| text.starts_with(s));
    fits.max_by_key(|s| s.len()).map(|s| &text[..s.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_with_a_star_hold_adjoints() {
        let names = ["T".to_owned(), "q̇".to_owned(), "a".to_owned()];
        let told = |text: &str| -> Vec<String> {
            let atoms = atoms(text, &names);
            let word = |a: &Atom| format!("{}{}", a.symbol, if a.star { "*" } else { "" });
            atoms.iter().map(word).collect()
        };
        assert_eq!(told("(I − HψK)*D⁻¹ T"), ["H*", "ψ*", "K*", "D⁻¹", "T"]);
        assert_eq!(told("HPH* crm(H* q̇) a"), ["H", "P", "H*", "H*", "q̇", "a"]);
        assert_eq!(told("J[left]* 𝓜⁻¹ E_ψ*P⁺"), ["J", "𝓜⁻¹", "E_ψ*", "P⁺"]);
        let whole = pieces("2 (𝓜 + A)⁻¹ T", &names, |_| Vec::new());
        assert_eq!(whole.iter().map(|p| &p.text[..]).collect::<String>(), "2 (𝓜 + A)⁻¹ T");
    }
}
