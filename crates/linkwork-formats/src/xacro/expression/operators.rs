//! Operators between values.

use super::eval::Trouble;
use super::format;
use crate::xacro::value::Value;
use std::cmp::Ordering;

type Charge<'a> = &'a mut dyn FnMut(usize) -> Result<(), Trouble>;

fn here(message: impl Into<String>) -> Trouble {
    Trouble::Here(0, message.into())
}

pub(super) fn unary(sign: &str, x: &Value) -> Result<Value, String> {
    match (sign, x) {
        ("not", x) => Ok(Value::Bool(!x.truth())),
        ("-", Value::Float(x)) => Ok(Value::Float(-x)),
        ("+", Value::Float(x)) => Ok(Value::Float(*x)),
        (sign, x) => match x.whole() {
            Some(i) if sign == "+" => Ok(Value::Int(i)),
            Some(i) => i.checked_neg().map(Value::Int).ok_or_else(too_large),
            None => Err(format!("`{sign}` needs a number, not a {}", x.kind())),
        },
    }
}

fn too_large() -> String {
    "the number is too large".to_owned()
}

pub(super) fn binary(sign: &str, a: &Value, b: &Value, charge: Charge<'_>) -> Result<Value, Trouble> {
    match (sign, a, b) {
        ("+", Value::Text(x), Value::Text(y)) => {
            charge(x.len() + y.len())?;
            return Ok(Value::text(format!("{x}{y}")));
        }
        ("+", Value::List(x), Value::List(y)) | ("+", Value::Tuple(x), Value::Tuple(y)) => {
            charge(32 * (x.len() + y.len()))?;
            let joined = x.iter().chain(y.iter()).cloned().collect();
            return Ok(if matches!(a, Value::List(_)) {
                Value::list(joined)
            } else {
                Value::tuple(joined)
            });
        }
        ("*", Value::Text(_) | Value::List(_) | Value::Tuple(_), _) if b.whole().is_some() => {
            return repeated(a, b.whole().unwrap_or(0), charge);
        }
        ("*", _, Value::Text(_) | Value::List(_) | Value::Tuple(_)) if a.whole().is_some() => {
            return repeated(b, a.whole().unwrap_or(0), charge);
        }
        ("%", Value::Text(pattern), _) => {
            let text = format::percent(pattern, b).map_err(here)?;
            charge(text.len())?;
            return Ok(Value::text(text));
        }
        _ => {}
    }
    if let (Some(x), Some(y)) = (a.whole(), b.whole())
        && let Some(result) = whole(sign, x, y)
    {
        return result.map_err(here);
    }
    match (a.number(), b.number()) {
        (Some(x), Some(y)) => real(sign, x, y).map(Value::Float).map_err(here),
        _ => {
            let message = format!("`{sign}` does not go between a {} and a {}", a.kind(), b.kind());
            Err(here(message))
        }
    }
}

/// A sequence so many times.
fn repeated(a: &Value, times: i64, charge: Charge<'_>) -> Result<Value, Trouble> {
    let times = usize::try_from(times).unwrap_or(0);
    match a {
        Value::Text(s) => {
            charge(s.len().saturating_mul(times))?;
            Ok(Value::text(s.repeat(times)))
        }
        Value::List(l) | Value::Tuple(l) => {
            charge(l.len().saturating_mul(times).saturating_mul(32))?;
            let items = (0..times).flat_map(|_| l.iter().cloned()).collect();
            Ok(if matches!(a, Value::List(_)) {
                Value::list(items)
            } else {
                Value::tuple(items)
            })
        }
        _ => Ok(Value::None),
    }
}

/// Whole numbers, where the result is whole; none where real numbers are meant.
fn whole(sign: &str, x: i64, y: i64) -> Option<Result<Value, String>> {
    let checked = |result: Option<i64>| Some(result.map(Value::Int).ok_or_else(too_large));
    match sign {
        "+" => checked(x.checked_add(y)),
        "-" => checked(x.checked_sub(y)),
        "*" => checked(x.checked_mul(y)),
        "//" | "%" if y == 0 => Some(Err("division by zero".to_owned())),
        "//" => checked(
            x.checked_div_euclid(y)
                .map(|_| x.wrapping_div(y) - i64::from(x % y != 0 && (x < 0) != (y < 0))),
        ),
        "%" => checked(
            x.checked_rem(y)
                .map(|r| if r != 0 && (r < 0) != (y < 0) { r + y } else { r }),
        ),
        "**" if y >= 0 => checked(u32::try_from(y).ok().and_then(|y| x.checked_pow(y))),
        _ => None,
    }
}

fn real(sign: &str, x: f64, y: f64) -> Result<f64, String> {
    if y == 0.0 && matches!(sign, "/" | "//" | "%") {
        return Err("division by zero".to_owned());
    }
    let rest = || {
        let r = x % y;
        if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r }
    };
    Ok(match sign {
        "+" => x + y,
        "-" => x - y,
        "*" => x * y,
        "/" => x / y,
        "//" => (x / y).floor(),
        "%" => rest(),
        "**" if x == 0.0 && y < 0.0 => return Err("division by zero".to_owned()),
        "**" if x < 0.0 && y.fract() != 0.0 => return Err("the power is not a real number".to_owned()),
        "**" => x.powf(y),
        other => return Err(format!("`{other}` is not supported")),
    })
}

pub(super) fn compare(sign: &str, a: &Value, b: &Value) -> Result<bool, String> {
    Ok(match sign {
        "==" => a.same(b),
        "!=" => !a.same(b),
        "is" => a.kind() == b.kind() && a.same(b),
        "is not" => !(a.kind() == b.kind() && a.same(b)),
        "in" => contains(b, a)?,
        "not in" => !contains(b, a)?,
        _ => {
            let order = order(a, b)?;
            match (sign, order) {
                (_, None) => false,
                ("<", Some(o)) => o == Ordering::Less,
                ("<=", Some(o)) => o != Ordering::Greater,
                (">", Some(o)) => o == Ordering::Greater,
                (_, Some(o)) => o != Ordering::Less,
            }
        }
    })
}

/// Which of two comes first.
pub(super) fn order(a: &Value, b: &Value) -> Result<Option<Ordering>, String> {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Ok(Some(a.cmp(b))),
        (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                if !a.same(b) {
                    return order(a, b);
                }
            }
            Ok(Some(a.len().cmp(&b.len())))
        }
        _ => match (a.number(), b.number()) {
            (Some(x), Some(y)) => Ok(x.partial_cmp(&y)),
            _ => Err(format!("a {} and a {} have no order", a.kind(), b.kind())),
        },
    }
}

fn contains(all: &Value, one: &Value) -> Result<bool, String> {
    match (all, one) {
        (Value::Text(all), Value::Text(one)) => Ok(all.contains(&**one)),
        (Value::Text(_), one) => Err(format!("a {} is not in a str", one.kind())),
        (all, one) => match all.items() {
            Some(items) => Ok(items.iter().any(|i| i.same(one))),
            None => Err(format!("nothing is in a {}", all.kind())),
        },
    }
}

pub(super) fn index(value: &Value, index: &Value) -> Result<Value, String> {
    if let Value::Dict(_) = value {
        let missing = || format!("there is no key {}", crate::source::shortened(&index.quoted()));
        return value.get(index).ok_or_else(missing);
    }
    let Some(i) = index.whole() else {
        return Err(format!(
            "a {} has no {}",
            value.kind(),
            crate::source::shortened(&index.quoted())
        ));
    };
    let at = |length: usize| {
        let from = if i < 0 { i + length as i64 } else { i };
        let inside = usize::try_from(from).ok().filter(|at| *at < length);
        inside.ok_or_else(|| format!("there is no item {i} of {length}"))
    };
    match value {
        Value::List(l) | Value::Tuple(l) => Ok(l[at(l.len())?].clone()),
        Value::Text(s) => {
            let length = s.chars().count();
            let c = s.chars().nth(at(length)?).unwrap_or_default();
            Ok(Value::text(c.to_string()))
        }
        other => Err(format!("a {} has no items", other.kind())),
    }
}

pub(super) fn slice(value: &Value, [start, end, step]: [Option<i64>; 3]) -> Result<Value, String> {
    let Some(items) = value.items().filter(|_| !matches!(value, Value::Dict(_))) else {
        return Err(format!("a {} has no slices", value.kind()));
    };
    let (length, step) = (items.len() as i64, step.unwrap_or(1));
    if step == 0 {
        return Err("a slice's step is zero".to_owned());
    }
    let clamp = |x: i64, low: i64, high: i64| (if x < 0 { x.saturating_add(length) } else { x }).clamp(low, high);
    let mut picked = Vec::new();
    if step > 0 {
        let (mut i, end) = (
            clamp(start.unwrap_or(0), 0, length),
            clamp(end.unwrap_or(length), 0, length),
        );
        while i < end {
            picked.push(items[i as usize].clone());
            i = i.saturating_add(step);
        }
    } else {
        let mut i = start.map_or(length - 1, |s| clamp(s, -1, length - 1));
        let end = end.map_or(-1, |e| clamp(e, -1, length - 1));
        while i > end {
            picked.push(items[i as usize].clone());
            i = i.saturating_add(step);
        }
    }
    Ok(match value {
        Value::Text(_) => Value::text(picked.iter().map(Value::shown).collect::<String>()),
        Value::Tuple(_) => Value::tuple(picked),
        _ => Value::list(picked),
    })
}
