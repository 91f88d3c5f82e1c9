//! Methods of texts, lists and dictionaries.

use super::eval::Trouble;
use super::format;
use crate::source::shortened;
use crate::xacro::value::Value;

const TEXT: &str = " format lower upper strip lstrip rstrip split replace startswith endswith join find index title \
                    capitalize isdigit isalpha zfill count rjust ljust splitlines ";
const LIST: &str = " index count ";
const DICT: &str = " keys values items get copy ";

/// Whether a value has a method.
pub(super) fn exists(value: &Value, name: &str) -> bool {
    let known = match value {
        Value::Text(_) => TEXT,
        Value::List(_) | Value::Tuple(_) => LIST,
        Value::Dict(_) => DICT,
        _ => "",
    };
    known.split(' ').any(|k| k == name && !k.is_empty())
}

/// Calls a method.
pub(super) fn call(
    value: &Value,
    name: &str,
    given: &[Value],
    named: &[(String, Value)],
    charge: &mut dyn FnMut(usize) -> Result<(), Trouble>,
) -> Result<Value, Trouble> {
    let result = match value {
        Value::Text(s) => {
            charge(s.len())?;
            if name == "replace" {
                let longest = given.get(1).map_or(0, |v| v.shown().len()) + 1;
                charge(s.len().saturating_add(1).saturating_mul(longest))?;
            }
            if name == "join" {
                let parts = given.first().and_then(Value::items).unwrap_or_default();
                charge(parts.iter().map(|p| p.shown().len() + s.len()).sum())?;
            }
            text(s, name, given, named)
        }
        Value::List(l) | Value::Tuple(l) => {
            charge(8 * l.len())?;
            list(l, name, given)
        }
        Value::Dict(d) => {
            charge(32 * d.len())?;
            dict(value, d, name, given)
        }
        other => Err(format!("a {} has no methods", other.kind())),
    };
    result.map_err(|message| Trouble::Here(0, message))
}

fn text(s: &str, name: &str, given: &[Value], named: &[(String, Value)]) -> Result<Value, String> {
    let word = |i: usize| match given.get(i) {
        Some(Value::Text(s)) => Ok(s.to_string()),
        Some(other) => Err(format!("`{name}` needs a str, not a {}", other.kind())),
        None => Err(format!("`{name}` needs more arguments")),
    };
    let number = |i: usize| given.get(i).and_then(Value::whole);
    let stripped: Vec<char> = match given.first() {
        Some(Value::Text(s)) => s.chars().collect(),
        _ => Vec::new(),
    };
    let gone = |c: char| {
        if stripped.is_empty() {
            c.is_whitespace()
        } else {
            stripped.contains(&c)
        }
    };
    let width = || match number(0) {
        Some(n) if (0..=10_000).contains(&n) => Ok(n as usize),
        _ => Err(format!("`{name}` needs a width of at most 10000")),
    };
    Ok(match name {
        "format" => Value::text(format::braces(s, given, named)?),
        "lower" => Value::text(s.to_lowercase()),
        "upper" => Value::text(s.to_uppercase()),
        "strip" => Value::text(s.trim_matches(gone)),
        "lstrip" => Value::text(s.trim_start_matches(gone)),
        "rstrip" => Value::text(s.trim_end_matches(gone)),
        "split" if given.is_empty() => Value::list(s.split_whitespace().map(Value::text).collect()),
        "split" => {
            let separator = word(0)?;
            if separator.is_empty() {
                return Err("`split` needs a separator that is not empty".to_owned());
            }
            let most = number(1)
                .and_then(|n| usize::try_from(n).ok())
                .map_or(usize::MAX, |n| n.saturating_add(1));
            Value::list(s.splitn(most, separator.as_str()).map(Value::text).collect())
        }
        "splitlines" => Value::list(s.lines().map(Value::text).collect()),
        "replace" => Value::text(s.replace(&word(0)?, &word(1)?)),
        "startswith" => Value::Bool(s.starts_with(&word(0)?)),
        "endswith" => Value::Bool(s.ends_with(&word(0)?)),
        "join" => {
            let Some(items) = given.first().and_then(Value::items) else {
                return Err("`join` needs a list".to_owned());
            };
            let mut words = Vec::new();
            for item in &items {
                match item {
                    Value::Text(s) => words.push(s.to_string()),
                    other => return Err(format!("`join` needs a list of str, not of {}", other.kind())),
                }
            }
            Value::text(words.join(s))
        }
        "find" | "index" => {
            let wanted = word(0)?;
            match s.find(&wanted) {
                Some(byte) => Value::Int(s[..byte].chars().count() as i64),
                None if name == "find" => Value::Int(-1),
                None => return Err(format!("`{}` is not in the text", shortened(&wanted))),
            }
        }
        "title" => {
            let mut start = true;
            let titled = s.chars().map(|c| {
                let new: String = if start {
                    c.to_uppercase().collect()
                } else {
                    c.to_lowercase().collect()
                };
                start = !c.is_alphabetic();
                new
            });
            Value::text(titled.collect::<String>())
        }
        "capitalize" => {
            let mut chars = s.chars();
            let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
            Value::text(first + &chars.as_str().to_lowercase())
        }
        "isdigit" => Value::Bool(!s.is_empty() && s.chars().all(|c| c.is_ascii_digit())),
        "isalpha" => Value::Bool(!s.is_empty() && s.chars().all(char::is_alphabetic)),
        "zfill" => {
            let sign = usize::from(s.starts_with(['-', '+']));
            let zeros = "0".repeat(width()?.saturating_sub(s.chars().count()));
            Value::text(format!("{}{zeros}{}", &s[..sign], &s[sign..]))
        }
        "rjust" => Value::text(format!("{s:>0$}", width()?)),
        "ljust" => Value::text(format!("{s:<0$}", width()?)),
        "count" => {
            let wanted = word(0)?;
            let count = if wanted.is_empty() {
                s.chars().count() + 1
            } else {
                s.matches(&wanted).count()
            };
            Value::Int(count as i64)
        }
        other => return Err(format!("a str has no `{}`", shortened(other))),
    })
}

fn list(l: &[Value], name: &str, given: &[Value]) -> Result<Value, String> {
    let Some(wanted) = given.first() else {
        return Err(format!("`{name}` needs an argument"));
    };
    match name {
        "count" => Ok(Value::Int(l.iter().filter(|x| x.same(wanted)).count() as i64)),
        _ => match l.iter().position(|x| x.same(wanted)) {
            Some(i) => Ok(Value::Int(i as i64)),
            None => Err(format!("{} is not in the list", shortened(&wanted.quoted()))),
        },
    }
}

fn dict(value: &Value, d: &[(Value, Value)], name: &str, given: &[Value]) -> Result<Value, String> {
    Ok(match name {
        "keys" => Value::list(d.iter().map(|(k, _)| k.clone()).collect()),
        "values" => Value::list(d.iter().map(|(_, v)| v.clone()).collect()),
        "items" => {
            let pairs = d.iter().map(|(k, v)| Value::tuple(vec![k.clone(), v.clone()]));
            Value::list(pairs.collect())
        }
        "get" => {
            let Some(key) = given.first() else {
                return Err("`get` needs a key".to_owned());
            };
            let default = given.get(1).cloned().unwrap_or(Value::None);
            value.get(key).unwrap_or(default)
        }
        _ => value.clone(),
    })
}
