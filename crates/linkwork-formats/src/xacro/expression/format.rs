//! Values as text, in the ways of `%`, `format` and f-strings.

use crate::source::shortened;
use crate::xacro::value::Value;

/// Wider columns than this are refused.
const WIDEST: usize = 10_000;

/// How a value is written.
#[derive(Default)]
struct Style {
    fill: Option<char>,
    align: Option<char>,
    plus: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    kind: Option<char>,
}

/// A value by a format specification such as `.3f`.
pub(super) fn spec(value: &Value, text: &str) -> Result<String, String> {
    // `!r` and `!s` stand before the colon.
    let mut style = Style::default();
    let chars: Vec<char> = text.chars().collect();
    let mut i = 0;
    if chars.len() > 1 && "<>^=".contains(chars[1]) {
        (style.fill, style.align, i) = (Some(chars[0]), Some(chars[1]), 2);
    } else if chars.first().is_some_and(|c| "<>^=".contains(*c)) {
        (style.align, i) = (Some(chars[0]), 1);
    }
    if i < chars.len() && "+- ".contains(chars[i]) {
        style.plus = chars[i] == '+';
        i += 1;
    }
    if i < chars.len() && chars[i] == '0' {
        style.zero = true;
        i += 1;
    }
    style.width = digits(&chars, &mut i)?.unwrap_or(0);
    if i < chars.len() && chars[i] == '.' {
        i += 1;
        style.precision = Some(digits(&chars, &mut i)?.unwrap_or(0));
    }
    style.kind = chars.get(i).copied();
    if i + 1 < chars.len() {
        return Err(format!("the format `{}` is not supported", shortened(text)));
    }
    written(value, &style)
}

fn digits(chars: &[char], i: &mut usize) -> Result<Option<usize>, String> {
    let start = *i;
    while chars.get(*i).is_some_and(char::is_ascii_digit) {
        *i += 1;
    }
    if start == *i {
        return Ok(None);
    }
    let word: String = chars[start..*i].iter().collect();
    match word.parse::<usize>() {
        Ok(n) if n <= WIDEST => Ok(Some(n)),
        _ => Err(format!("a format asks for more than {WIDEST} characters")),
    }
}

fn written(value: &Value, style: &Style) -> Result<String, String> {
    let real = || {
        value
            .number()
            .ok_or_else(|| format!("a {} is not a number", value.kind()))
    };
    let whole = || match value {
        Value::Float(x) if x.abs() < 9e18 => Ok(x.trunc() as i64),
        other => other
            .whole()
            .ok_or_else(|| format!("a {} is not a whole number", other.kind())),
    };
    let precision = style.precision.unwrap_or(6);
    let mut text = match style.kind {
        Some('d' | 'i' | 'u') => whole()?.to_string(),
        Some('x') => format!("{:x}", whole()?),
        Some('X') => format!("{:X}", whole()?),
        Some('f' | 'F') => format!("{:.precision$}", real()?),
        Some('e' | 'E') => exponent(&format!("{:.precision$e}", real()?)),
        Some('g' | 'G') => general(real()?, precision.max(1)),
        Some('%') => format!("{:.precision$}%", real()? * 100.0),
        Some('r') => value.quoted(),
        Some('s') | None => match (value, style.precision) {
            (Value::Float(x), Some(p)) if style.kind.is_none() => general(*x, p.max(1)),
            (_, Some(p)) => value.shown().chars().take(p).collect(),
            _ => value.shown(),
        },
        Some(other) => return Err(format!("the format `{other}` is not supported")),
    };
    let numeric = value.number().is_some() && !matches!(style.kind, Some('s' | 'r'));
    if style.plus && numeric && !text.starts_with('-') {
        text.insert(0, '+');
    }
    let missing = style.width.saturating_sub(text.chars().count());
    if missing == 0 {
        return Ok(text);
    }
    if style.zero && numeric && style.align.is_none() {
        let sign = usize::from(text.starts_with(['-', '+']));
        text.insert_str(sign, &"0".repeat(missing));
        return Ok(text);
    }
    let fill = |n: usize| style.fill.unwrap_or(' ').to_string().repeat(n);
    Ok(match style.align.unwrap_or(if numeric { '>' } else { '<' }) {
        '<' => text + &fill(missing),
        '^' => fill(missing / 2) + &text + &fill(missing - missing / 2),
        _ => fill(missing) + &text,
    })
}

/// Rust's exponents as C writes them.
fn exponent(text: &str) -> String {
    let (digits, size) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, size) = match size.strip_prefix('-') {
        Some(size) => ('-', size),
        None => ('+', size),
    };
    format!("{digits}e{sign}{size:0>2}")
}

/// The shorter of two ways, with so many digits that matter.
fn general(x: f64, precision: usize) -> String {
    let rounded = format!("{x:.*e}", precision - 1);
    let size: i64 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let bare = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if size < -4 || size >= precision as i64 {
        let (digits, size) = rounded.split_once('e').unwrap_or((&rounded, "0"));
        return exponent(&format!("{}e{size}", bare(digits)));
    }
    bare(&format!("{x:.*}", (precision as i64 - 1 - size).max(0) as usize))
}

/// The operator `%` of a text.
pub(super) fn percent(pattern: &str, value: &Value) -> Result<String, String> {
    let values: Vec<Value> = match value {
        Value::Tuple(l) => l.to_vec(),
        other => vec![other.clone()],
    };
    let chars: Vec<char> = pattern.chars().collect();
    let (mut out, mut i, mut next) = (String::new(), 0, 0);
    while i < chars.len() {
        if chars[i] != '%' {
            out.push(chars[i]);
            i += 1;
            continue;
        }
        i += 1;
        let mut chosen = None;
        if chars.get(i) == Some(&'(') {
            let end = chars[i..].iter().position(|c| *c == ')').ok_or("`%(` has no `)`")? + i;
            let key: String = chars[i + 1..end].iter().collect();
            let found = value.get(&Value::text(&key));
            chosen = Some(found.ok_or_else(|| format!("there is no key `{}`", shortened(&key)))?);
            i = end + 1;
        }
        let mut style = Style::default();
        while let Some(flag) = chars.get(i).filter(|c| "+-0 #".contains(**c)) {
            style.plus |= *flag == '+';
            style.zero |= *flag == '0';
            if *flag == '-' {
                style.align = Some('<');
            }
            i += 1;
        }
        style.width = digits(&chars, &mut i)?.unwrap_or(0);
        if chars.get(i) == Some(&'.') {
            i += 1;
            style.precision = Some(digits(&chars, &mut i)?.unwrap_or(0));
        }
        style.kind = chars.get(i).copied();
        i += 1;
        if style.kind == Some('%') {
            out.push('%');
            continue;
        }
        if style.kind.is_none() {
            return Err("a `%` stands at the end of the text".to_owned());
        }
        style.align = style.align.or(if style.zero { None } else { Some('>') });
        let value = match chosen {
            Some(value) => value,
            None => {
                next += 1;
                values
                    .get(next - 1)
                    .cloned()
                    .ok_or("there are fewer values than `%` in the text")?
            }
        };
        out += &written(&value, &style)?;
    }
    if next < values.len() && !matches!(value, Value::Dict(_)) {
        return Err("there are more values than `%` in the text".to_owned());
    }
    Ok(out)
}

/// The method `format` of a text.
pub(super) fn braces(pattern: &str, given: &[Value], named: &[(String, Value)]) -> Result<String, String> {
    let (mut out, mut rest, mut next) = (String::new(), pattern, 0);
    while let Some(i) = rest.find(['{', '}']) {
        out += &rest[..i];
        let (sign, after) = (&rest[i..=i], &rest[i + 1..]);
        if after.starts_with(sign) {
            out += sign;
            rest = &after[1..];
            continue;
        }
        let end = after
            .find('}')
            .filter(|_| sign == "{")
            .ok_or("a brace has no partner")?;
        let (field, how) = after[..end].split_once(':').unwrap_or((&after[..end], ""));
        let value = if field.is_empty() {
            next += 1;
            given.get(next - 1)
        } else if let Ok(i) = field.parse::<usize>() {
            given.get(i)
        } else {
            named.iter().find(|(n, _)| n == field).map(|(_, v)| v)
        };
        let value = value.ok_or_else(|| format!("there is no value for `{{{}}}`", shortened(field)))?;
        out += &spec(value, how)?;
        rest = &after[end + 1..];
    }
    Ok(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_python() {
        let pair = Value::tuple(vec![Value::Int(3), Value::Float(0.25)]);
        assert_eq!(percent("%02d|%.3f", &pair).unwrap(), "03|0.250");
        assert_eq!(percent("%g %%", &Value::Float(1e-7)).unwrap(), "1e-07 %");
        assert_eq!(spec(&Value::Float(1234.5678), "10.2f").unwrap(), "   1234.57");
        assert_eq!(spec(&Value::text("a"), "*^5").unwrap(), "**a**");
        assert_eq!(spec(&Value::Float(100_000.0), "g").unwrap(), "100000");
        assert_eq!(
            braces("{}_{1}{{}}", &[Value::Int(1), Value::Int(2)], &[]).unwrap(),
            "1_2{}"
        );
        assert!(percent("%d", &Value::text("x")).is_err());
        assert!(spec(&Value::Int(1), "99999999999d").is_err());
    }
}
