//! Values of expressions, as Python has them.

use std::fmt::Write;
use std::rc::Rc;

/// What an expression may be.
#[derive(Clone, Debug)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    List(Rc<Held<Value>>),
    Tuple(Rc<Held<Value>>),
    Dict(Rc<Held<(Value, Value)>>),
    /// A function of a name: `sin`, `xacro.load_yaml` …
    Function(&'static str),
    /// A method of a value, not yet called.
    Method(Rc<(Value, String)>),
    /// Properties under a name.
    Space(usize),
    /// `math`, `python`, `xacro`.
    Module(&'static str),
}

/// Values in a value, which know how deep they are.
#[derive(Clone, Debug)]
pub(super) struct Held<T> {
    items: Vec<T>,
    depth: usize,
}

impl<T> std::ops::Deref for Held<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

/// So many comparisons of parts are made before two values count as different.
const MOST_COMPARED: usize = 1_000_000;

impl Value {
    /// How deep values are nested in it.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::List(l) | Self::Tuple(l) => l.depth,
            Self::Dict(d) => d.depth,
            Self::Method(m) => m.0.depth(),
            _ => 0,
        }
    }

    pub(super) fn tuple(items: Vec<Value>) -> Self {
        let depth = 1 + items.iter().map(Value::depth).max().unwrap_or(0);
        Self::Tuple(Rc::new(Held { items, depth }))
    }

    pub(super) fn dict(items: Vec<(Value, Value)>) -> Self {
        let depth = 1 + items.iter().map(|(k, v)| k.depth().max(v.depth())).max().unwrap_or(0);
        Self::Dict(Rc::new(Held { items, depth }))
    }

    pub(super) fn text(s: impl AsRef<str>) -> Self {
        Self::Text(s.as_ref().into())
    }

    pub(super) fn list(items: Vec<Value>) -> Self {
        let depth = 1 + items.iter().map(Value::depth).max().unwrap_or(0);
        Self::List(Rc::new(Held { items, depth }))
    }

    /// The name of its type.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "str",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Dict(_) => "dict",
            Self::Function(_) | Self::Method(_) => "function",
            Self::Space(_) | Self::Module(_) => "namespace",
        }
    }

    pub(super) fn truth(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(b) => *b,
            Self::Int(i) => *i != 0,
            Self::Float(x) => *x != 0.0,
            Self::Text(s) => !s.is_empty(),
            Self::List(l) | Self::Tuple(l) => !l.is_empty(),
            Self::Dict(d) => !d.is_empty(),
            _ => true,
        }
    }

    /// As a number, where it is one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(b) => Some(f64::from(u8::from(*b))),
            Self::Int(i) => Some(*i as f64),
            Self::Float(x) => Some(*x),
            _ => None,
        }
    }

    /// As a whole number, where it is one.
    pub(super) fn whole(&self) -> Option<i64> {
        match self {
            Self::Bool(b) => Some(i64::from(*b)),
            Self::Int(i) => Some(*i),
            _ => None,
        }
    }

    /// The items of a sequence; the keys of a dictionary, the characters of a text.
    pub(super) fn items(&self) -> Option<Vec<Value>> {
        match self {
            Self::List(l) | Self::Tuple(l) => Some(l.to_vec()),
            Self::Dict(d) => Some(d.iter().map(|(k, _)| k.clone()).collect()),
            Self::Text(s) => Some(s.chars().map(|c| Self::text(c.to_string())).collect()),
            _ => None,
        }
    }

    pub(super) fn same(&self, other: &Self) -> bool {
        self.equals(other, &mut MOST_COMPARED.clone())
    }

    fn equals(&self, other: &Self, left: &mut usize) -> bool {
        // Values share their parts, so that small ones may take long to compare.
        *left = left.saturating_sub(1);
        if *left == 0 {
            return false;
        }
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals(b, left))
            }
            (Self::Dict(a), Self::Dict(b)) => {
                let mut has = |k: &Value, v: &Value| b.iter().any(|(l, w)| k.equals(l, left) && v.equals(w, left));
                a.len() == b.len() && a.iter().all(|(k, v)| has(k, v))
            }
            (Self::Int(a), Self::Int(b)) => a == b,
            _ => matches!((self.number(), other.number()), (Some(a), Some(b)) if a == b),
        }
    }

    /// The value under a key.
    pub(super) fn get(&self, key: &Value) -> Option<Value> {
        match self {
            Self::Dict(d) => d.iter().find(|(k, _)| k.same(key)).map(|(_, v)| v.clone()),
            _ => None,
        }
    }

    /// As `str` writes it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(s) => s.to_string(),
            other => {
                let mut out = String::new();
                other.write(&mut out, 0);
                out
            }
        }
    }

    /// As `repr` writes it.
    pub(super) fn quoted(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0);
        out
    }

    fn write(&self, out: &mut String, depth: usize) {
        // Values share their parts, so that a small one may be endless to write.
        const LONGEST: usize = 1 << 20;
        if depth > 50 || out.len() > LONGEST {
            out.push('…');
            return;
        }
        let several = |out: &mut String, items: &[Value]| {
            for (i, item) in items.iter().enumerate() {
                *out += if i > 0 { ", " } else { "" };
                item.write(out, depth + 1);
            }
        };
        match self {
            Self::None => *out += "None",
            Self::Bool(b) => *out += if *b { "True" } else { "False" },
            Self::Int(i) => {
                let _ = write!(out, "{i}");
            }
            Self::Float(x) => *out += &float(*x),
            Self::Text(s) => {
                let quote = if s.contains('\'') && !s.contains('"') {
                    '"'
                } else {
                    '\''
                };
                let inner = s.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t");
                let inner = if quote == '\'' {
                    inner.replace('\'', "\\'")
                } else {
                    inner
                };
                let _ = write!(out, "{quote}{inner}{quote}");
            }
            Self::List(l) => {
                out.push('[');
                several(out, l);
                out.push(']');
            }
            Self::Tuple(l) => {
                out.push('(');
                several(out, l);
                *out += if l.len() == 1 { ",)" } else { ")" };
            }
            Self::Dict(d) => {
                out.push('{');
                for (i, (k, v)) in d.iter().enumerate() {
                    *out += if i > 0 { ", " } else { "" };
                    k.write(out, depth + 1);
                    *out += ": ";
                    v.write(out, depth + 1);
                }
                out.push('}');
            }
            Self::Function(name) => *out += name,
            Self::Method(m) => *out += &m.1,
            Self::Space(_) => *out += "<namespace>",
            Self::Module(name) => *out += name,
        }
    }
}

/// A number as Python writes it: the shortest digits that read back the same.
pub(super) fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let text = format!("{x:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let digits = digits.strip_suffix(".0").unwrap_or(digits);
            let (sign, size) = match exponent.strip_prefix('-') {
                Some(size) => ('-', size),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{size:0>2}")
        }
        None => text,
    }
}

/// A text as a number, true or false if it is one, as values of properties are.
pub(super) fn literal(text: &str) -> Value {
    if text.len() >= 2 && text.starts_with('\'') && text.ends_with('\'') {
        return Value::text(&text[1..text.len() - 1]);
    }
    let trimmed = text.trim();
    let plain = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    if !text.contains('_') && !trimmed.is_empty() {
        if let Ok(i) = trimmed.parse::<i64>() {
            return Value::Int(i);
        }
        let word = trimmed.trim_start_matches(['+', '-']).to_ascii_lowercase();
        let named = ["inf", "infinity", "nan"].contains(&&*word);
        if (trimmed.chars().all(plain) || named)
            && let Ok(x) = trimmed.parse::<f64>()
        {
            return Value::Float(x);
        }
        match text {
            "true" | "True" => return Value::Bool(true),
            "false" | "False" => return Value::Bool(false),
            _ => {}
        }
    }
    Value::text(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        let pairs = [
            (0.1, "0.1"),
            (1.0, "1.0"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (0.0001, "0.0001"),
            (1e16, "1e+16"),
            (1e15, "1000000000000000.0"),
            (-0.0, "-0.0"),
            (1e300, "1e+300"),
        ];
        for (x, text) in pairs {
            assert_eq!(float(x), text);
        }
    }

    #[test]
    fn texts_that_are_numbers_are_numbers() {
        assert!(matches!(literal("12"), Value::Int(12)));
        assert!(matches!(literal("1.5"), Value::Float(_)));
        assert!(matches!(literal("true"), Value::Bool(true)));
        assert!(matches!(literal("1_0"), Value::Text(_)));
        assert!(matches!(literal("0 0 1"), Value::Text(_)));
        assert_eq!(literal("'7'").shown(), "7");
    }
}
