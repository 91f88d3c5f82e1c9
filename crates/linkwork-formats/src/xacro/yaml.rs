//! YAML as parameters of robots are written in: maps, lists, scalars and units, without types of its own.
//!
//! Blocks by indentation, flow `{}` and `[]`, quotes, `|` and `>` texts, comments, anchors and merged maps. Several
//! documents and complex keys are refused.

use super::value::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What is wrong, and on which line.
pub(super) type Fault = (usize, String);

/// Nested deeper than this a file is refused.
const DEEPEST: usize = 50;

/// Evaluates what stands after a unit, such as `!degrees 90`.
pub(super) type Number<'a> = &'a mut dyn FnMut(&str) -> Option<f64>;

/// Reads a text.
pub(super) fn parse(text: &str, number: Number<'_>) -> Result<Value, Fault> {
    let mut lines = Vec::new();
    for (i, raw) in text.lines().enumerate() {
        let line = raw.trim_end();
        if lines.is_empty() && (line == "---" || line.starts_with('%')) {
            continue;
        }
        if line == "---" || line == "..." {
            return Err((i + 1, "a file with several documents is not supported".to_owned()));
        }
        let content = line.trim_start_matches(' ');
        if content.starts_with('\t') {
            return Err((i + 1, "tabs do not indent in YAML".to_owned()));
        }
        lines.push(Line {
            number: i + 1,
            indent: line.len() - content.len(),
            content,
            raw,
        });
    }
    let mut p = Parser {
        lines,
        next: 0,
        anchors: HashMap::new(),
        number,
    };
    p.skip();
    let Some(indent) = p.line().map(|l| l.indent) else {
        return Ok(Value::None);
    };
    let value = p.block(indent, 0)?;
    p.skip();
    match p.line() {
        Some(line) => Err((
            line.number,
            "this line does not belong to what stands before".to_owned(),
        )),
        None => Ok(value),
    }
}

#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    indent: usize,
    content: &'a str,
    raw: &'a str,
}

struct Parser<'a, 'n> {
    lines: Vec<Line<'a>>,
    next: usize,
    anchors: HashMap<String, Value>,
    number: Number<'n>,
}

/// A text without the comment at its end.
fn bare(text: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (i, c) in text.char_indices() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if (c == '"' || c == '\'') && (before == ' ' || "[{,:".contains(before)) => quote = Some(c),
            None if c == '#' && before == ' ' => return text[..i].trim_end(),
            None => {}
        }
        before = c;
    }
    text.trim_end()
}

/// A key and what follows its colon.
fn keyed(text: &str) -> Option<(&str, &str)> {
    if let Some(quote @ ('"' | '\'')) = text.chars().next() {
        let end = text[1..].find(quote)? + 1;
        let rest = text[end + 1..].trim_start().strip_prefix(':')?;
        return (rest.is_empty() || rest.starts_with(' ')).then(|| (&text[1..end], rest.trim_start()));
    }
    if text.starts_with(['[', '{', '#', '&', '!', '|', '>']) {
        return None;
    }
    let colon = text.find(": ").or_else(|| text.strip_suffix(':').map(str::len))?;
    Some((text[..colon].trim_end(), text[colon + 1..].trim_start()))
}

impl<'a> Parser<'a, '_> {
    fn line(&self) -> Option<Line<'a>> {
        self.lines.get(self.next).copied()
    }

    /// Passes blank lines and comments.
    fn skip(&mut self) {
        while self
            .line()
            .is_some_and(|l| bare(l.content).is_empty() || l.content.starts_with('#'))
        {
            self.next += 1;
        }
    }

    /// A map, list or scalar whose lines are indented so.
    fn block(&mut self, indent: usize, depth: usize) -> Result<Value, Fault> {
        let Some(line) = self.line() else {
            return Ok(Value::None);
        };
        if depth > DEEPEST {
            return Err((line.number, format!("values are nested more than {DEEPEST} deep")));
        }
        if line.content == "-" || line.content.starts_with("- ") {
            return self.list(indent, depth);
        }
        if keyed(bare(line.content)).is_some() {
            return self.map(indent, depth);
        }
        self.next += 1;
        self.scalar_or_flow(bare(line.content), line.number, indent, depth)
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Value, Fault> {
        let mut items = Vec::new();
        loop {
            self.skip();
            let Some(line) = self.line().filter(|l| l.indent == indent) else {
                break;
            };
            let Some(rest) = line
                .content
                .strip_prefix('-')
                .filter(|r| r.is_empty() || r.starts_with(' '))
            else {
                break;
            };
            let inner = rest.trim_start();
            if inner.is_empty() || inner.starts_with('#') {
                self.next += 1;
                items.push(self.nested(indent, depth)?);
            } else if keyed(bare(inner)).is_some() || inner.starts_with("- ") {
                // What stands after the dash is a block of its own, as deep as it stands.
                let column = indent + line.content.len() - inner.len();
                let place = self.next;
                self.lines[place] = Line {
                    indent: column,
                    content: inner,
                    ..line
                };
                items.push(self.block(column, depth + 1)?);
            } else {
                self.next += 1;
                items.push(self.value(bare(inner), line.number, indent, depth)?);
            }
        }
        Ok(Value::list(items))
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Value, Fault> {
        let mut items: Vec<(Value, Value)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        loop {
            self.skip();
            let Some(line) = self.line().filter(|l| l.indent == indent) else {
                break;
            };
            let content = bare(line.content);
            let Some((key, rest)) = keyed(content) else {
                return Err((line.number, "a key and a colon are missing here".to_owned()));
            };
            self.next += 1;
            let value = match rest {
                "" => self.nested(indent, depth)?,
                rest => self.value(rest, line.number, indent, depth)?,
            };
            if key == "<<" {
                let Value::Dict(merged) = &value else {
                    return Err((line.number, "only a map can be merged".to_owned()));
                };
                for (k, v) in merged.iter() {
                    if let Entry::Vacant(free) = places.entry(k.quoted()) {
                        free.insert(items.len());
                        items.push((k.clone(), v.clone()));
                    }
                }
                continue;
            }
            let quoted = line.content.starts_with(['"', '\'']);
            let key = if quoted { Value::text(key) } else { plain(key) };
            match places.get(&key.quoted()) {
                Some(&at) => items[at].1 = value,
                None => {
                    places.insert(key.quoted(), items.len());
                    items.push((key, value));
                }
            }
        }
        Ok(Value::dict(items))
    }

    /// What stands on the lines after a key or a dash.
    fn nested(&mut self, indent: usize, depth: usize) -> Result<Value, Fault> {
        self.skip();
        match self.line() {
            Some(line) if line.indent > indent => self.block(line.indent, depth + 1),
            // Lists may stand as deep as their key.
            Some(line) if line.indent == indent && (line.content == "-" || line.content.starts_with("- ")) => {
                let before = self.next.checked_sub(1).and_then(|i| self.lines.get(i));
                let of_list = before.is_some_and(|l| l.content.starts_with('-') && l.indent == indent);
                if of_list {
                    Ok(Value::None)
                } else {
                    self.list(indent, depth + 1)
                }
            }
            _ => Ok(Value::None),
        }
    }

    /// A value that begins on the line of its key or dash.
    fn value(&mut self, text: &str, number: usize, indent: usize, depth: usize) -> Result<Value, Fault> {
        if let Some(rest) = text.strip_prefix('&') {
            let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let value = match rest.trim() {
                "" => self.nested(indent, depth)?,
                rest => self.value(rest, number, indent, depth)?,
            };
            if value.depth() > DEEPEST {
                return Err((number, format!("values are nested more than {DEEPEST} deep")));
            }
            self.anchors.insert(name.to_owned(), value.clone());
            return Ok(value);
        }
        if text.starts_with('|') || text.starts_with('>') {
            return Ok(self.lines_of_text(text, indent));
        }
        self.scalar_or_flow(text, number, indent, depth)
    }

    /// The text of a block scalar.
    fn lines_of_text(&mut self, head: &str, indent: usize) -> Value {
        let folded = head.starts_with('>');
        let mut inner = None;
        let mut lines: Vec<String> = Vec::new();
        while let Some(line) = self.line() {
            if !line.content.is_empty() && line.indent <= indent {
                break;
            }
            let margin = *inner.get_or_insert(line.indent.max(indent + 1));
            lines.push(line.raw.get(margin..).unwrap_or("").to_owned());
            self.next += 1;
        }
        while lines.last().is_some_and(|l| l.trim().is_empty()) {
            lines.pop();
        }
        let mut text = lines.join(if folded { " " } else { "\n" });
        if !head.contains('-') && !text.is_empty() {
            text.push('\n');
        }
        Value::text(text)
    }

    /// A scalar, an alias, or a list or map in brackets, which may go on over lines.
    fn scalar_or_flow(&mut self, text: &str, number: usize, indent: usize, depth: usize) -> Result<Value, Fault> {
        if let Some(name) = text.strip_prefix('*') {
            let known = self.anchors.get(name.trim());
            return known.cloned().ok_or((number, "the alias has no anchor".to_owned()));
        }
        if text.starts_with(['[', '{']) {
            let mut whole = text.to_owned();
            let mut brackets = Brackets::default();
            brackets.read(text);
            while brackets.open > 0 {
                let Some(line) = self.line() else {
                    return Err((number, "a bracket has no end".to_owned()));
                };
                whole.push(' ');
                whole += bare(line.content);
                brackets.read(bare(line.content));
                self.next += 1;
            }
            let mut flow = Flow {
                text: &whole,
                at: 0,
                line: number,
                anchors: &self.anchors,
                number: &mut *self.number,
            };
            let value = flow.value(depth)?;
            flow.space();
            if flow.at < whole.len() {
                return Err((number, "something follows the closing bracket".to_owned()));
            }
            return Ok(value);
        }
        let mut whole = text.to_owned();
        // A plain scalar may go on over lines that are indented more.
        if !text.starts_with(['"', '\'', '!']) {
            while let Some(line) = self.line().filter(|l| l.indent > indent && !bare(l.content).is_empty()) {
                if keyed(bare(line.content)).is_some() || line.content.starts_with("- ") {
                    return Err((
                        line.number,
                        "this line does not belong to what stands before".to_owned(),
                    ));
                }
                whole.push(' ');
                whole += bare(line.content);
                self.next += 1;
            }
        }
        scalar(&whole, number, &mut *self.number)
    }
}

/// Counts brackets that are open, those in quotes left out.
#[derive(Default)]
struct Brackets {
    open: i64,
    quote: Option<char>,
}

impl Brackets {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            match self.quote {
                Some(q) if c == q => self.quote = None,
                Some(_) => {}
                None if c == '"' || c == '\'' => self.quote = Some(c),
                None if "[{".contains(c) => self.open += 1,
                None if "]}".contains(c) => self.open -= 1,
                None => {}
            }
        }
    }
}

fn scalar(text: &str, line: usize, number: Number<'_>) -> Result<Value, Fault> {
    if let Some(rest) = text.strip_prefix('!') {
        let (unit, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let factor = match unit {
            "radians" | "meters" => 1.0,
            "degrees" => std::f64::consts::PI / 180.0,
            "millimeters" => 0.001,
            "foot" => 0.3048,
            "inches" => 0.0254,
            "!str" => return Ok(Value::text(rest)),
            other => {
                return Err((
                    line,
                    format!("the tag `!{}` is not supported", crate::source::shortened(other)),
                ));
            }
        };
        let rest = rest.trim().trim_matches(['"', '\'']);
        let value =
            number(rest).ok_or_else(|| (line, format!("`{}` is not a number", crate::source::shortened(rest))))?;
        return Ok(Value::Float(value * factor));
    }
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote));
        if let Some(inner) = inner.filter(|_| text.len() > 1) {
            return Ok(Value::text(match quote {
                '"' => inner.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\"),
                _ => inner.replace("''", "'"),
            }));
        }
    }
    Ok(plain(text))
}

/// A scalar without quotes.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::None,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "on" | "On" => return Value::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "off" | "Off" => return Value::Bool(false),
        ".inf" | "+.inf" => return Value::Float(f64::INFINITY),
        "-.inf" => return Value::Float(f64::NEG_INFINITY),
        ".nan" => return Value::Float(f64::NAN),
        _ => {}
    }
    if let Ok(i) = text.parse::<i64>() {
        return Value::Int(i);
    }
    // A number has a point in YAML 1.1, and its exponent a sign; all else is a text.
    let numeric = text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    let exponent = text.split_once(['e', 'E']).map_or("+", |(_, e)| e);
    if numeric
        && text.contains('.')
        && exponent.starts_with(['+', '-'])
        && let Ok(x) = text.parse::<f64>()
    {
        return Value::Float(x);
    }
    Value::text(text)
}

/// Lists and maps in brackets.
struct Flow<'a, 'n> {
    text: &'a str,
    at: usize,
    line: usize,
    anchors: &'a HashMap<String, Value>,
    number: Number<'n>,
}

impl Flow<'_, '_> {
    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, sign: char) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(sign);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        if depth > DEEPEST {
            return Err((self.line, format!("values are nested more than {DEEPEST} deep")));
        }
        if self.take('[') {
            let mut items = Vec::new();
            while !self.take(']') {
                items.push(self.value(depth + 1)?);
                if !self.take(',') && !self.text[self.at..].trim_start().starts_with(']') {
                    return Err((self.line, "`,` or `]` is missing".to_owned()));
                }
            }
            return Ok(Value::list(items));
        }
        if self.take('{') {
            let mut items = Vec::new();
            while !self.take('}') {
                let key = self.word(true)?;
                let value = if self.take(':') {
                    self.value(depth + 1)?
                } else {
                    Value::None
                };
                items.push((key, value));
                if !self.take(',') && !self.text[self.at..].trim_start().starts_with('}') {
                    return Err((self.line, "`,` or `}` is missing".to_owned()));
                }
            }
            return Ok(Value::dict(items));
        }
        self.word(false)
    }

    /// A scalar, up to a sign that ends it.
    fn word(&mut self, key: bool) -> Result<Value, Fault> {
        self.space();
        let rest = &self.text[self.at..];
        let quoted = rest.chars().next().filter(|c| "\"'".contains(*c));
        let length = match quoted {
            Some(quote) => rest[1..].find(quote).map(|end| end + 2),
            None => Some(
                rest.find(|c: char| ",]}[{".contains(c) || key && c == ':')
                    .unwrap_or(rest.len()),
            ),
        };
        let Some(length) = length.filter(|l| *l > 0) else {
            return Err((self.line, "a value is missing between brackets".to_owned()));
        };
        self.at += length;
        let word = rest[..length].trim();
        if let Some(name) = word.strip_prefix('*') {
            let known = self.anchors.get(name);
            return known.cloned().ok_or((self.line, "the alias has no anchor".to_owned()));
        }
        scalar(word, self.line, &mut *self.number)
    }
}
