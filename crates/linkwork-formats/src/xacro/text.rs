//! Texts with `${expressions}` and `$(substitutions)` in them.

use super::expander::Expander;
use super::expression::{DEEPEST, Trouble, eval, parse};
use super::value::{Value, literal};
use super::{Problem, expression};
use crate::source::{Spot, shortened};

impl Expander<'_> {
    /// The value of a text that stands at a spot: typed if it is one expression, otherwise a text.
    pub(super) fn text(&mut self, text: &str, spot: Spot, scope: usize) -> Result<Value, Problem> {
        self.charge_at(text.len(), spot)?;
        if !text.contains('$') {
            return Ok(Value::text(text));
        }
        *self.depth_mut() += 1;
        if *self.depth_mut() > DEEPEST {
            return Err(Problem::new(
                spot,
                format!("expressions are nested more than {DEEPEST} deep"),
            ));
        }
        let mut pieces: Vec<Value> = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let dollars = rest.len() - rest.trim_start_matches('$').len();
            let after = &rest[dollars..];
            if dollars == 0 || !after.starts_with(['{', '(']) {
                let length = if dollars > 0 {
                    dollars
                } else {
                    rest.find('$').unwrap_or(rest.len())
                };
                plain += &rest[..length];
                at += length;
                continue;
            }
            if dollars > 1 {
                // `$${` stands for `${`.
                plain += &rest[1..=dollars];
                at += dollars + 1;
                continue;
            }
            let here = moved(spot, at);
            let Some(length) = closed(after) else {
                return Err(Problem::new(here, format!("`${}` has no end", &after[..1])));
            };
            let inner = &after[1..length - 1];
            if !plain.is_empty() {
                pieces.push(Value::text(std::mem::take(&mut plain)));
            }
            let value = if after.starts_with('{') {
                self.expression(inner, moved(here, 2), scope)?
            } else {
                self.substitution(inner, moved(here, 2), scope)?
            };
            pieces.push(value);
            at += 1 + length;
        }
        if !plain.is_empty() {
            pieces.push(Value::text(plain));
        }
        *self.depth_mut() -= 1;
        if pieces.len() == 1 {
            return Ok(pieces.remove(0));
        }
        let mut joined = String::new();
        for piece in &pieces {
            joined += &piece.shown();
            self.charge_at(joined.len(), spot)?;
        }
        Ok(Value::text(joined))
    }

    /// The value of an expression, in which other expressions may stand.
    pub(super) fn expression(&mut self, code: &str, spot: Spot, scope: usize) -> Result<Value, Problem> {
        let inner;
        let code = if code.contains("${") || code.contains("$(") {
            inner = self.text(code, spot, scope)?.shown();
            &inner
        } else {
            code
        };
        let failed = |at: usize, message: String| {
            let message = format!("{message}, in `{}`", shortened(code.trim()));
            Problem::new(moved(spot, at), message)
        };
        self.charge_at(20 * code.len(), spot)?;
        let tree = parse(code).map_err(|(at, message)| failed(at, message))?;
        let before = (*self.depth_mut(), std::mem::replace(&mut self.scope, scope));
        let locals = std::mem::take(&mut self.names);
        let value = eval(self, &tree);
        self.names = locals;
        self.scope = before.1;
        match value {
            Ok(value) => {
                *self.depth_mut() = before.0;
                Ok(value)
            }
            Err(Trouble::Here(at, message)) => Err(failed(at, message)),
            Err(Trouble::There(problem)) => Err(problem.or_at(spot)),
        }
    }

    /// `$(find package)`, `$(arg name)` and their like.
    fn substitution(&mut self, inner: &str, spot: Spot, scope: usize) -> Result<Value, Problem> {
        let evaluated = self.text(inner, spot, scope)?.shown();
        let (word, rest) = evaluated
            .trim()
            .split_once(char::is_whitespace)
            .unwrap_or((evaluated.trim(), ""));
        let rest = rest.trim();
        let problem = |message: String| Problem::new(spot, message);
        match word {
            "find" | "find-pkg-share" => match self.roots.package(rest) {
                Some(path) => Ok(Value::text(path.to_string_lossy())),
                None => {
                    let advice = "say where it is: --package NAME=PATH";
                    Err(problem(format!("the package `{}` was not found", shortened(rest))).advised(advice))
                }
            },
            "arg" => match self.arguments.get(rest) {
                Some(value) => Ok(Value::text(value)),
                None => {
                    let advice = "give it: --arg name:=value";
                    Err(problem(format!("the argument `{}` has no value", shortened(rest))).advised(advice))
                }
            },
            "env" | "optenv" => {
                let (name, default) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                if !self.environment {
                    if word == "optenv" {
                        return Ok(Value::text(default.trim()));
                    }
                    let advice = "let files read it: --env";
                    let message = format!("the file reads the environment variable `{}`", shortened(name));
                    return Err(problem(message).advised(advice));
                }
                match (std::env::var(name), word) {
                    (Ok(value), _) => Ok(Value::text(value)),
                    (Err(_), "optenv") => Ok(Value::text(default.trim())),
                    _ => Err(problem(format!(
                        "the environment variable `{}` is not set",
                        shortened(name)
                    ))),
                }
            }
            "dirname" => Ok(Value::text(self.folder().to_string_lossy())),
            "cwd" => Ok(Value::text(".")),
            "eval" => {
                // Arguments are names here.
                let inner = self.scopes.open(scope);
                let all: Vec<_> = self.arguments.iter().map(|(n, v)| (n.clone(), literal(v))).collect();
                self.charge_at(100 * all.len() + 200, spot)?;
                for (name, value) in all {
                    self.scopes.set(inner, &name, super::scope::Entry::Ready(value));
                }
                self.expression(rest, spot, inner)
            }
            other => {
                let advice = "find, arg, env, optenv, dirname and eval are";
                Err(problem(format!("`$({})` is not supported", shortened(other))).advised(advice))
            }
        }
    }

    /// A YAML file of the robot.
    pub(super) fn read_yaml(&mut self, file: &str) -> Result<Value, Trouble> {
        let here = |message: String| Trouble::Here(0, message);
        self.charge(2_000)?;
        let Some(path) = self.find(file) else {
            let message = format!("the file `{}` was not found", shortened(file));
            return Err(here(message));
        };
        if let Some(known) = self.yaml_files.get(&path) {
            return Ok(known.clone());
        }
        let bytes =
            crate::source::read(&path).map_err(|e| here(format!("`{}` cannot be read: {e}", path.display())))?;
        self.charge(8 * bytes.len())?;
        let text = String::from_utf8(bytes).map_err(|_| here(format!("`{}` is not UTF-8", path.display())))?;
        let mut number = |code: &str| {
            let tree = expression::parse(code).ok()?;
            eval(self, &tree).ok()?.number()
        };
        let value = super::yaml::parse(&text, &mut number)
            .map_err(|(line, message)| here(format!("{}:{line}: {message}", path.display())))?;
        self.yaml_files.insert(path, value.clone());
        Ok(value)
    }

    fn charge(&mut self, bytes: usize) -> Result<(), Trouble> {
        expression::Context::charge(self, bytes)
    }
}

/// A spot so many bytes further on.
pub(super) fn moved(spot: Spot, by: usize) -> Spot {
    Spot {
        offset: spot.offset.saturating_add(by as u32),
        ..spot
    }
}

/// How long a text in brackets is, those in it included; strings are ignored.
fn closed(text: &str) -> Option<usize> {
    let (open, close) = if text.starts_with('{') { ('{', '}') } else { ('(', ')') };
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(i + 1);
            }
        }
    }
    None
}
