//! From text to tokens.

use super::fault::Fault;
use core::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Name(String),
    Plus,
    Minus,
    Times,
    Slash,
    Open,
    Close,
    Caret,
    Prime,
    /// A star that touches what stands on both sides: an adjoint or a product.
    Either,
    Colon,
    Comma,
    Bracket(String),
    Tilde,
    Half,
    /// ⁻¹
    Inverted,
    /// †, or ⁺ after what is no name with it.
    Dagger,
}

fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Letters that are names by themselves.
fn is_symbol(c: char) -> bool {
    "φϕψτΥΦΨΛ𝓜ℳ𝒥ℓνεζξλαβκρθ".contains(c)
}

pub(super) fn tokens(chars: &[char]) -> Result<Vec<(Token, Range<usize>)>, Fault> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        let c = chars[i];
        i += 1;
        let token = match c {
            c if c.is_whitespace() => continue,
            '+' => Token::Plus,
            '-' | '−' | '–' => Token::Minus,
            '*' | '∗' => star(chars, start, found.last()),
            '·' | '⋅' | '×' => Token::Times,
            '†' | '⁺' => Token::Dagger,
            '~' => Token::Tilde,
            '½' => Token::Half,
            '[' => {
                let Some(length) = chars[i..].iter().position(|&c| c == ']') else {
                    return Err(Fault::at(start..i, "this bracket is never closed", "close it with `]`"));
                };
                let name: String = chars[i..i + length].iter().collect();
                i += length + 1;
                Token::Bracket(name.trim().to_owned())
            }
            '/' => Token::Slash,
            '(' | '{' => Token::Open,
            ')' | '}' => Token::Close,
            '^' => Token::Caret,
            '\'' | '′' | 'ᵀ' => Token::Prime,
            ':' => Token::Colon,
            ',' => Token::Comma,
            '⁻' if chars.get(i) == Some(&'¹') => {
                i += 1;
                Token::Inverted
            }
            c if c.is_ascii_digit() || c == '.' => {
                i = number_end(chars, start);
                let text: String = chars[start..i].iter().collect();
                match text.parse::<f64>() {
                    Ok(x) if x.is_finite() => Token::Number(x),
                    _ => {
                        let problem = format!("`{text}` is not a number");
                        return Err(Fault::at(start..i, problem, "write it as 2, 0.5 or 1e-3"));
                    }
                }
            }
            c if is_symbol(c) || c.is_ascii_alphabetic() || c == '_' => {
                i = name_end(chars, start);
                Token::Name(chars[start..i].iter().collect())
            }
            c => {
                let problem = format!("`{c}` means nothing here");
                return Err(Fault::at(start..i, problem, "remove it"));
            }
        };
        found.push((token, start..i));
    }
    Ok(found)
}

/// A star: the adjoint where it ends what it touches, a product between spaces or after a number.
fn star(chars: &[char], at: usize, before: Option<&(Token, Range<usize>)>) -> Token {
    // After a caret it is an adjoint by itself.
    let Some((token, span)) = before.filter(|b| b.1.end == at) else {
        return Token::Times;
    };
    let powered = *token == Token::Half;
    let operand = matches!(
        token,
        Token::Name(_)
            | Token::Close
            | Token::Prime
            | Token::Inverted
            | Token::Bracket(_)
            | Token::Tilde
            | Token::Dagger
    );
    let raised = matches!(token, Token::Number(_)) && span.start > 0 && matches!(chars[span.start - 1], '^' | '-');
    if !(operand || powered || raised) {
        return Token::Times;
    }
    match chars.get(at + 1) {
        Some(c) if c.is_alphanumeric() || is_symbol(*c) || matches!(c, '(' | '_' | '.') => Token::Either,
        _ => Token::Prime,
    }
}

/// Where a number that starts at `i` ends: digits, a point, an exponent.
fn number_end(chars: &[char], mut i: usize) -> usize {
    let digits = |mut i: usize| {
        while chars.get(i).is_some_and(char::is_ascii_digit) {
            i += 1;
        }
        i
    };
    i = digits(i);
    if chars.get(i) == Some(&'.') {
        i = digits(i + 1);
    }
    if matches!(chars.get(i), Some('e' | 'E')) {
        let sign = usize::from(matches!(chars.get(i + 1), Some('+' | '-')));
        let end = digits(i + 1 + sign);
        if end > i + 1 + sign {
            return end;
        }
    }
    i
}

/// Where a name that starts at `i` ends. Greek letters stand alone, so that `HψK` is three names; `E_φ` is one.
fn name_end(chars: &[char], start: usize) -> usize {
    // ⁺ belongs to P⁺ alone: elsewhere it is a pseudo-inverse.
    let marks = |mut i: usize| {
        let of_p = i == start + 1 && chars[start] == 'P';
        while chars
            .get(i)
            .is_some_and(|&c| is_mark(c) || (c == '⁺' && of_p) || c == '₀')
        {
            i += 1;
        }
        i
    };
    let mut i = start + 1;
    if !is_symbol(chars[start]) {
        while chars.get(i).is_some_and(|&c| c.is_ascii_alphanumeric() || c == '_') {
            i += 1;
        }
        let shift = matches!(chars[start..i], ['E'] | ['E', '_']);
        if shift && matches!(chars.get(i), Some('φ' | 'ϕ' | 'ψ')) {
            i += 1;
        }
    }
    marks(i)
}
