//! Words of an expression.

/// A word, and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Int(i64),
    Float(f64),
    Text(String),
    /// The inside of an f-string.
    Format(String),
    Name(String),
    Sign(&'static str),
}

/// What is wrong, and at which byte.
pub(in crate::xacro) type Fault = (usize, String);

const SIGNS: [&str; 32] = [
    "**", "//", "<=", ">=", "==", "!=", "<<", ">>", "+", "-", "*", "/", "%", "<", ">", "(", ")", "[", "]", "{", "}",
    ",", ":", ".", "=", "~", "&", "|", "^", "@", ";", "!",
];

/// Splits an expression.
pub(super) fn split(text: &str) -> Result<Vec<(Token, usize)>, Fault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let start = at;
        let rest = &text[at..];
        let digit = |s: &str| s.starts_with(|c: char| c.is_ascii_digit());
        if digit(rest) || rest.starts_with('.') && digit(&rest[1..]) {
            let length = number_length(rest);
            at += length;
            tokens.push((number(&rest[..length]).map_err(|m| (start, m))?, start));
        } else if c.is_alphabetic() || c == '_' {
            let length = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            let word = &rest[..length];
            let after = rest[length..].chars().next();
            if let Some(quote @ ('"' | '\'')) = after
                && length <= 2
                && word.chars().all(|c| "frbuFRBU".contains(c))
            {
                let raw = word.contains(['r', 'R']);
                let (inner, used) = string(&rest[length..], quote, raw).map_err(|m| (start, m))?;
                at += length + used;
                let token = if word.contains(['f', 'F']) {
                    Token::Format(inner)
                } else {
                    Token::Text(inner)
                };
                tokens.push((token, start));
            } else {
                at += length;
                tokens.push((Token::Name(word.to_owned()), start));
            }
        } else if c == '"' || c == '\'' {
            let (inner, used) = string(rest, c, false).map_err(|m| (start, m))?;
            at += used;
            tokens.push((Token::Text(inner), start));
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            at += sign.len();
            tokens.push((Token::Sign(sign), start));
        } else {
            return Err((start, format!("`{c}` has no place in an expression")));
        }
        if tokens.len() > 100_000 {
            return Err((start, "the expression is too long".to_owned()));
        }
    }
    Ok(tokens)
}

/// How many bytes of a text are a number.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if text.len() > 1 && bytes[0] == b'0' && matches!(bytes[1], b'x' | b'X') {
        return 2 + bytes[2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
    }
    let mut i = 0;
    while i < bytes.len() {
        let sign = i > 0 && matches!(bytes[i], b'+' | b'-') && matches!(bytes[i - 1], b'e' | b'E');
        if !(bytes[i].is_ascii_digit() || matches!(bytes[i], b'.' | b'e' | b'E' | b'_') || sign) {
            break;
        }
        i += 1;
    }
    i
}

fn number(word: &str) -> Result<Token, String> {
    let plain = word.replace('_', "");
    if let Some(hex) = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        return i64::from_str_radix(hex, 16)
            .map(Token::Int)
            .map_err(|_| format!("`{word}` is not a number"));
    }
    if let Ok(i) = plain.parse::<i64>() {
        return Ok(Token::Int(i));
    }
    plain
        .parse::<f64>()
        .map(Token::Float)
        .map_err(|_| format!("`{}` is not a number", crate::source::shortened(word)))
}

/// The inside of a string, and how many bytes it takes with its quotes.
fn string(text: &str, quote: char, raw: bool) -> Result<(String, usize), String> {
    let triple: String = [quote; 3].iter().collect();
    let end = if text.starts_with(&triple) {
        &triple[..]
    } else {
        &triple[..1]
    };
    let mut out = String::new();
    let mut at = end.len();
    loop {
        let rest = &text[at..];
        if rest.starts_with(end) {
            return Ok((out, at + end.len()));
        }
        let mut chars = rest.chars();
        match (chars.next(), chars.next()) {
            (Some('\\'), Some(c)) if !raw => {
                match c {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    '\\' | '\'' | '"' => out.push(c),
                    '\n' => {}
                    other => {
                        out.push('\\');
                        out.push(other);
                    }
                }
                at += 1 + c.len_utf8();
            }
            (Some(c), _) => {
                out.push(c);
                at += c.len_utf8();
            }
            (None, _) => return Err("a string has no end".to_owned()),
        }
    }
}
