//! Functions that expressions may call, and constants.

use super::eval::{Context, Evaluated, Trouble, insert};
use super::operators;
use crate::source::shortened;
use crate::xacro::value::{Value, literal};
use std::cmp::Ordering;

const MATH: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sqrt",
    "pow", "exp", "log", "log10", "log2", "floor", "ceil", "trunc", "fabs", "degrees", "radians", "hypot", "fmod",
    "copysign", "isnan", "isinf", "isfinite",
];
const PYTHON: &[&str] = &[
    "list",
    "dict",
    "map",
    "len",
    "str",
    "float",
    "int",
    "bool",
    "min",
    "max",
    "round",
    "sorted",
    "range",
    "abs",
    "all",
    "any",
    "divmod",
    "enumerate",
    "sum",
    "tuple",
    "zip",
    "reversed",
    "repr",
    "filter",
    "set",
    "ord",
    "isinstance",
];
const XACRO: &[&str] = &[
    "load_yaml",
    "abs_filename",
    "dotify",
    "arg",
    "tokenize",
    "fatal",
    "message",
    "warning",
    "error",
    "print_location",
];

fn constant(name: &str) -> Option<Value> {
    Some(Value::Float(match name {
        "pi" => std::f64::consts::PI,
        "e" => std::f64::consts::E,
        "tau" => std::f64::consts::TAU,
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => return None,
    }))
}

fn listed(list: &[&'static str], name: &str) -> Option<Value> {
    list.iter().find(|n| **n == name).map(|n| Value::Function(n))
}

/// What a name means that no property has.
pub(super) fn global(name: &str) -> Option<Value> {
    let module = ["math", "python", "xacro"].iter().find(|n| **n == name);
    if let Some(module) = module {
        return Some(Value::Module(module));
    }
    let direct = &XACRO[..3];
    constant(name)
        .or_else(|| listed(PYTHON, name))
        .or_else(|| listed(MATH, name))
        .or_else(|| listed(direct, name))
}

/// What a name means in a module.
pub(super) fn member(module: &str, name: &str) -> Option<Value> {
    match module {
        "math" => constant(name).or_else(|| listed(MATH, name)),
        "python" => listed(PYTHON, name),
        _ => listed(XACRO, name),
    }
}

fn here(message: impl Into<String>) -> Trouble {
    Trouble::Here(0, message.into())
}

/// Calls a function.
pub(super) fn call(c: &mut dyn Context, name: &str, given: &[Value], named: &[(String, Value)]) -> Evaluated {
    c.charge(32 * given.len())?;
    if MATH.contains(&name) {
        return math(name, given).map_err(here);
    }
    let first = || given.first().ok_or_else(|| here(format!("`{name}` needs an argument")));
    let items = |value: &Value| {
        let problem = || here(format!("a {} cannot be gone through", value.kind()));
        value.items().ok_or_else(problem)
    };
    Ok(match name {
        "load_yaml" => return c.yaml(&first()?.shown()),
        "abs_filename" => first()?.clone(),
        "dotify" => first()?.clone(),
        "arg" => {
            let wanted = first()?.shown();
            let problem = || here(format!("there is no argument `{}`", shortened(&wanted)));
            c.argument(&wanted).ok_or_else(problem)?
        }
        "tokenize" => {
            let separators = given.get(1).map_or(",; ".to_owned(), Value::shown);
            let text = first()?.shown();
            c.charge(32 * text.len())?;
            let words = text.split(|x| separators.contains(x)).filter(|w| !w.is_empty());
            Value::list(words.map(Value::text).collect())
        }
        "fatal" => {
            let words: Vec<_> = given.iter().map(Value::shown).collect();
            return Err(here(format!("the file says: {}", shortened(&words.join(" ")))));
        }
        "message" | "warning" | "error" | "print_location" => Value::text(""),
        "len" => Value::Int(items(first()?)?.len() as i64),
        "str" => {
            let text = given.first().map_or_else(String::new, Value::shown);
            c.charge(text.len())?;
            Value::text(text)
        }
        "repr" => Value::text(first()?.quoted()),
        "bool" => Value::Bool(given.first().is_some_and(Value::truth)),
        "int" => int(given).map_err(here)?,
        "float" => float(given.first()).map_err(here)?,
        "abs" => match first()? {
            Value::Float(x) => Value::Float(x.abs()),
            other => match other.whole().and_then(i64::checked_abs) {
                Some(i) => Value::Int(i),
                None => return Err(here(format!("`abs` needs a number, not a {}", other.kind()))),
            },
        },
        "round" => round(given).map_err(here)?,
        "min" | "max" => {
            let all = if given.len() == 1 {
                items(&given[0])?
            } else {
                given.to_vec()
            };
            extreme(&all, name == "max").map_err(here)?
        }
        "sum" => {
            let mut sum = given.get(1).cloned().unwrap_or(Value::Int(0));
            for item in items(first()?)? {
                sum = operators::binary("+", &sum, &item, &mut |b| c.charge(b))?;
            }
            sum
        }
        "range" => {
            let whole: Option<Vec<i64>> = given.iter().map(Value::whole).collect();
            let (start, end, step) = match whole.as_deref() {
                Some([end]) => (0, *end, 1),
                Some([start, end]) => (*start, *end, 1),
                Some([start, end, step]) if *step != 0 => (*start, *end, *step),
                _ => return Err(here("`range` needs one to three whole numbers")),
            };
            let count = (i128::from(end) - i128::from(start)) / i128::from(step) + 1;
            c.charge(usize::try_from(count.max(0)).unwrap_or(usize::MAX).saturating_mul(32))?;
            let mut all = Vec::new();
            let mut i = start;
            while (step > 0 && i < end) || (step < 0 && i > end) {
                all.push(Value::Int(i));
                i = i.saturating_add(step);
            }
            Value::list(all)
        }
        "list" | "tuple" | "sorted" | "reversed" | "set" | "enumerate" => {
            let mut all = match given.first() {
                Some(value) => items(value)?,
                None => Vec::new(),
            };
            c.charge(64 * all.len())?;
            match name {
                "sorted" => {
                    c.charge(all.len().saturating_mul(all.len()))?;
                    sort(&mut all).map_err(here)?;
                    if named.iter().any(|(n, v)| n == "reverse" && v.truth()) {
                        all.reverse();
                    }
                }
                "reversed" => all.reverse(),
                "enumerate" => {
                    let numbered = all.into_iter().enumerate();
                    all = numbered
                        .map(|(i, v)| Value::tuple(vec![Value::Int(i as i64), v]))
                        .collect();
                }
                "set" => {
                    c.charge(all.len().saturating_mul(all.len()))?;
                    let mut unique: Vec<Value> = Vec::new();
                    all.into_iter().for_each(|v| {
                        if !unique.iter().any(|u| u.same(&v)) {
                            unique.push(v);
                        }
                    });
                    all = unique;
                }
                _ => {}
            }
            if name == "tuple" {
                Value::tuple(all)
            } else {
                Value::list(all)
            }
        }
        "dict" => {
            let mut pairs: Vec<(Value, Value)> = match given.first() {
                Some(Value::Dict(d)) => d.to_vec(),
                Some(other) => {
                    let mut pairs = Vec::new();
                    for item in items(other)? {
                        match item.items().as_deref() {
                            Some([k, v]) => insert(&mut pairs, k.clone(), v.clone()),
                            _ => return Err(here("`dict` needs pairs")),
                        }
                        c.charge(16 * pairs.len())?;
                    }
                    pairs
                }
                None => Vec::new(),
            };
            named
                .iter()
                .for_each(|(n, v)| insert(&mut pairs, Value::text(n), v.clone()));
            Value::dict(pairs)
        }
        "zip" => {
            let columns = given.iter().map(items).collect::<Result<Vec<_>, _>>()?;
            let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
            c.charge(32 * rows * columns.len())?;
            let row = |i: usize| Value::tuple(columns.iter().map(|column| column[i].clone()).collect());
            Value::list((0..rows).map(row).collect())
        }
        "map" => match (given.first(), given.get(1)) {
            (Some(Value::Function(f)), Some(all)) => {
                let mut out = Vec::new();
                for item in items(all)? {
                    out.push(call(c, f, &[item], &[])?);
                }
                Value::list(out)
            }
            _ => return Err(here("`map` needs a function and a list")),
        },
        "all" => Value::Bool(items(first()?)?.iter().all(Value::truth)),
        "any" => Value::Bool(items(first()?)?.iter().any(Value::truth)),
        "divmod" if given.len() == 2 => {
            let mut part = |sign| operators::binary(sign, &given[0], &given[1], &mut |b| c.charge(b));
            Value::tuple(vec![part("//")?, part("%")?])
        }
        "isinstance" => match given {
            [value, Value::Function(kind)] => Value::Bool(value.kind() == *kind),
            _ => return Err(here("`isinstance` needs a value and a type")),
        },
        other => return Err(here(format!("the function `{other}` is not supported"))),
    })
}

fn math(name: &str, given: &[Value]) -> Result<Value, String> {
    let numbers: Option<Vec<f64>> = given.iter().map(Value::number).collect();
    let Some(numbers) = numbers else {
        return Err(format!("`{name}` needs numbers"));
    };
    let (x, y) = match numbers[..] {
        [x] => (x, None),
        [x, y] => (x, Some(y)),
        _ => return Err(format!("`{name}` needs one or two numbers")),
    };
    let whole = |x: f64| match x.abs() < 9e18 {
        true => Ok(Value::Int(x as i64)),
        false => Err("the number is too large".to_owned()),
    };
    let value = match (name, y) {
        ("floor", None) => return whole(x.floor()),
        ("ceil", None) => return whole(x.ceil()),
        ("trunc", None) => return whole(x.trunc()),
        ("isnan", None) => return Ok(Value::Bool(x.is_nan())),
        ("isinf", None) => return Ok(Value::Bool(x.is_infinite())),
        ("isfinite", None) => return Ok(Value::Bool(x.is_finite())),
        ("sin", None) => x.sin(),
        ("cos", None) => x.cos(),
        ("tan", None) => x.tan(),
        ("asin", None) => x.asin(),
        ("acos", None) => x.acos(),
        ("atan", None) => x.atan(),
        ("sinh", None) => x.sinh(),
        ("cosh", None) => x.cosh(),
        ("tanh", None) => x.tanh(),
        ("asinh", None) => x.asinh(),
        ("acosh", None) => x.acosh(),
        ("atanh", None) => x.atanh(),
        ("sqrt", None) => x.sqrt(),
        ("exp", None) => x.exp(),
        ("log", None) => x.ln(),
        ("log10", None) => x.log10(),
        ("log2", None) => x.log2(),
        ("fabs", None) => x.abs(),
        // As Python computes them, to the last bit.
        ("degrees", None) => x * (180.0 / std::f64::consts::PI),
        ("radians", None) => x * (std::f64::consts::PI / 180.0),
        ("atan2", Some(y)) => x.atan2(y),
        ("pow", Some(y)) => x.powf(y),
        ("log", Some(y)) => x.ln() / y.ln(),
        ("hypot", Some(y)) => x.hypot(y),
        ("fmod", Some(y)) => x % y,
        ("copysign", Some(y)) => x.copysign(y),
        _ => return Err(format!("`{name}` got {} arguments", numbers.len())),
    };
    if value.is_nan() && !numbers.iter().any(|x| x.is_nan()) {
        return Err(format!("`{name}` is not defined there"));
    }
    Ok(Value::Float(value))
}

fn int(given: &[Value]) -> Result<Value, String> {
    match given {
        [] => Ok(Value::Int(0)),
        [Value::Float(x), ..] if x.abs() < 9e18 => Ok(Value::Int(*x as i64)),
        [Value::Text(s)] => match s.trim().parse() {
            Ok(i) => Ok(Value::Int(i)),
            Err(_) => Err(format!("`{}` is not a whole number", shortened(s))),
        },
        [Value::Text(s), base] => {
            let base = base
                .whole()
                .and_then(|b| u32::try_from(b).ok())
                .filter(|b| (2..=36).contains(b));
            let digits = s.trim().trim_start_matches("0x");
            let parsed = base.and_then(|b| i64::from_str_radix(digits, b).ok());
            parsed
                .map(Value::Int)
                .ok_or_else(|| format!("`{}` is not a whole number", shortened(s)))
        }
        [other, ..] => match other.whole() {
            Some(i) => Ok(Value::Int(i)),
            None => Err(format!("a {} is not a whole number", other.kind())),
        },
    }
}

fn float(given: Option<&Value>) -> Result<Value, String> {
    match given {
        None => Ok(Value::Float(0.0)),
        Some(Value::Text(s)) => match literal(s.trim()).number() {
            Some(x) => Ok(Value::Float(x)),
            None => Err(format!("`{}` is not a number", shortened(s))),
        },
        Some(other) => match other.number() {
            Some(x) => Ok(Value::Float(x)),
            None => Err(format!("a {} is not a number", other.kind())),
        },
    }
}

fn round(given: &[Value]) -> Result<Value, String> {
    let places = match given.get(1) {
        None | Some(Value::None) => None,
        Some(p) => Some(p.whole().ok_or("`round` needs a whole number of places")?),
    };
    match (given.first(), places) {
        (Some(Value::Float(x)), None) if x.abs() < 9e18 => Ok(Value::Int(x.round_ties_even() as i64)),
        (Some(Value::Float(x)), Some(p)) if (0..=300).contains(&p) => {
            // The digits of the number itself decide, as they do in Python.
            let text = format!("{x:.*}", p as usize);
            Ok(Value::Float(text.parse().unwrap_or(*x)))
        }
        (Some(value), _) if value.whole().is_some() => Ok(value.clone()),
        _ => Err("`round` needs a number".to_owned()),
    }
}

fn extreme(all: &[Value], most: bool) -> Result<Value, String> {
    let mut best = all.first().ok_or("there is nothing to choose from")?;
    let wanted = if most { Ordering::Greater } else { Ordering::Less };
    for value in &all[1..] {
        if operators::order(value, best)? == Some(wanted) {
            best = value;
        }
    }
    Ok(best.clone())
}

/// Sorts by inserting, which no order can lead astray.
fn sort(all: &mut [Value]) -> Result<(), String> {
    for end in 1..all.len() {
        let mut i = end;
        while i > 0 && operators::order(&all[i], &all[i - 1])? == Some(Ordering::Less) {
            all.swap(i, i - 1);
            i -= 1;
        }
    }
    Ok(())
}
