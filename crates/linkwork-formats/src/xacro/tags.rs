//! What each element of xacro does.

use super::Problem;
use super::expander::{Expander, Task, as_property};
use super::scope::{Entry, Macro, Piece, parameters};
use super::text::moved;
use super::value::Value;
use crate::report::Findings;
use crate::source::{Spot, shortened};
use crate::xml::Element;
use std::path::Path;
use std::rc::Rc;

/// More files than this for one pattern are refused.
const MOST_FILES: usize = 1000;

impl Expander<'_> {
    /// Expands an element.
    pub(super) fn visit(&mut self, piece: &Piece, scope: usize, into: usize) -> Result<(), Problem> {
        let e = piece.element();
        self.charge_at(200, e.spot())?;
        let Some(tag) = e.name().strip_prefix("xacro:") else {
            return self.plain(piece, scope, into);
        };
        match tag {
            "property" => self.define_property(piece, scope),
            "macro" => self.define_macro(piece, scope),
            "arg" => self.define_argument(e, scope),
            "include" => self.include(e, scope, into),
            "if" | "unless" => {
                let (text, spot) = needed(e, "value")?;
                let value = self.text(&text, spot, scope)?;
                let Some(truth) = truth(&value) else {
                    let shown = shortened(&value.shown());
                    let message = format!("the condition is `{shown}`, which is neither true nor false");
                    return Err(Problem::new(spot, message));
                };
                if truth == (tag == "if") {
                    self.contents(piece, scope, into)?;
                }
                Ok(())
            }
            "insert_block" => self.insert(e, scope, into),
            "element" => {
                let (text, spot) = needed(e, "xacro:name")?;
                let name = self.text(&text, spot, scope)?.shown();
                self.named(piece, &name, scope, into)
            }
            "attribute" => {
                let (name, value) = (needed(e, "name")?, needed(e, "value")?);
                let name_spot = name.1;
                let name = self.text(&name.0, name.1, scope)?.shown();
                let value = self.text(&value.0, value.1, scope)?.shown();
                checked(&name, name_spot)?;
                self.output.set(into, &name, value);
                Ok(())
            }
            "call" => {
                let (text, spot) = needed(e, "macro")?;
                let name = self.text(&text, spot, scope)?.shown();
                self.prepare(piece, &name, scope, into)
            }
            name => self.prepare(piece, name, scope, into),
        }
    }

    /// An element that is no xacro: it is written with its attributes, text and contents expanded.
    pub(super) fn plain(&mut self, piece: &Piece, scope: usize, into: usize) -> Result<(), Problem> {
        let name = piece.element().name().to_owned();
        self.named(piece, &name, scope, into)
    }

    fn named(&mut self, piece: &Piece, name: &str, scope: usize, into: usize) -> Result<(), Problem> {
        let e = piece.element();
        checked(name, e.spot())?;
        let out = self.output.make(name, e.spot());
        self.output.nodes[into].children.push(out);
        for (attribute, _) in e.attributes() {
            if attribute.starts_with("xacro:") || attribute == "xmlns:xacro" {
                continue;
            }
            let text = e.attribute(attribute).unwrap_or_default();
            let value = self.text(&text, e.spot_of(attribute), scope)?.shown();
            self.charge_at(attribute.len() + value.len(), e.spot())?;
            self.output.set(out, attribute, value);
        }
        self.contents(piece, scope, out)
    }

    /// Expands the text and the elements in an element.
    fn contents(&mut self, piece: &Piece, scope: usize, into: usize) -> Result<(), Problem> {
        let e = piece.element();
        if !e.text().is_empty() {
            let text = self.text(&e.content(), e.spot_of_text(), scope)?.shown();
            self.charge_at(text.len(), e.spot())?;
            self.output.nodes[into].text += &text;
        }
        self.later(piece.children(), scope, into);
        Ok(())
    }

    /// Expands elements, in their order, before anything that waits already.
    fn later(&mut self, pieces: Vec<Piece>, scope: usize, into: usize) {
        let tasks = pieces.into_iter().rev().map(|piece| Task::Visit { piece, scope, into });
        self.tasks.extend(tasks);
    }

    fn define_property(&mut self, piece: &Piece, scope: usize) -> Result<(), Problem> {
        let e = piece.element();
        let (name, spot) = needed(e, "name")?;
        let name = self.text(&name, spot, scope)?.shown();
        let first = name.chars().next();
        let valid = first.is_some_and(|c| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !name.starts_with("__");
        if !valid {
            let message = format!("`{}` is not a name for a property", shortened(&name));
            return Err(Problem::new(spot, message).advised("use letters, digits and underscores"));
        }
        let flag = |this: &mut Self, attribute: &str, none: bool| -> Result<bool, Problem> {
            let Some(text) = e.attribute(attribute) else {
                return Ok(none);
            };
            let spot = e.spot_of(attribute);
            let value = this.text(&text, spot, scope)?;
            let message = format!(
                "{attribute}=\"{}\" is neither true nor false",
                shortened(&value.shown())
            );
            truth(&value).ok_or_else(|| Problem::new(spot, message))
        };
        if flag(self, "remove", false)? {
            self.scopes.remove(scope, &name);
            return Ok(());
        }
        let lazy = flag(self, "lazy_eval", true)?;
        let known = |this: &Self| this.scopes.holder(scope, &name).is_some();
        let written = match (e.attribute("value"), e.attribute("default")) {
            (Some(value), _) => Some((value, e.spot_of("value"))),
            (None, Some(_)) if known(self) => return Ok(()),
            (None, default) => default.map(|d| (d, e.spot_of("default"))),
        };
        let Some((text, spot)) = written else {
            self.scopes
                .set(scope, &format!("**{name}"), Entry::Written(piece.clone()));
            return Ok(());
        };
        self.charge_at(text.len() + name.len() + 100, spot)?;
        let (target, lazy) = match e.attribute("scope").as_deref() {
            Some("global") => (0, false),
            Some("parent") => match self.scopes.parent(scope) {
                Some(parent) => (parent, false),
                None => return Ok(()),
            },
            _ => (scope, lazy),
        };
        let entry = if lazy && text.contains('$') {
            Entry::Lazy(Rc::from(&*text), spot)
        } else {
            Entry::Ready(as_property(self.text(&text, spot, scope)?))
        };
        self.scopes.set(target, &name, entry);
        Ok(())
    }

    fn define_macro(&mut self, piece: &Piece, scope: usize) -> Result<(), Problem> {
        let e = piece.element();
        let (name, spot) = needed(e, "name")?;
        let name = name.strip_prefix("xacro:").unwrap_or(&name);
        if name.is_empty() || name == "call" || name.contains('.') {
            return Err(Problem::new(
                spot,
                format!("`{}` is not a name for a macro", shortened(name)),
            ));
        }
        let text = e.attribute("params").unwrap_or_default();
        self.charge_at(10 * text.len() + 200, spot)?;
        let defined = Macro {
            body: piece.clone(),
            parameters: parameters(&text),
        };
        self.scopes.define(scope, name, defined);
        Ok(())
    }

    fn define_argument(&mut self, e: Element<'_>, scope: usize) -> Result<(), Problem> {
        let (name, _) = needed(e, "name")?;
        if self.arguments.contains_key(&name) {
            return Ok(());
        }
        if let Some(text) = e.attribute("default") {
            let value = self.text(&text, e.spot_of("default"), scope)?.shown();
            self.charge_at(name.len() + value.len() + 100, e.spot())?;
            self.arguments.insert(name, value);
        }
        Ok(())
    }

    fn include(&mut self, e: Element<'_>, scope: usize, into: usize) -> Result<(), Problem> {
        let (text, spot) = needed(e, "filename")?;
        // Files are looked for in the file system, which takes its time.
        self.charge_at(20_000, spot)?;
        let name = self.text(&text, spot, scope)?.shown();
        let optional = e
            .attribute("optional")
            .is_some_and(|o| matches!(&*o, "true" | "True" | "1"));
        let scope = match e.attribute("ns") {
            Some(space) => {
                let space = self.text(&space, e.spot_of("ns"), scope)?.shown();
                self.scopes.open_space(scope, &space)
            }
            None => scope,
        };
        let files = self.matching(&name, spot)?;
        if files.is_empty() && !optional && !name.contains(['*', '?', '[']) {
            let advice = "put it beside this file, or say where its package is: --package NAME=PATH";
            let message = format!(
                "the included file `{}` was not found in the robot's directory or packages",
                shortened(&name)
            );
            return Err(Problem::new(spot, message).advised(advice));
        }
        // What is put on the list last is done first.
        for path in files.into_iter().rev() {
            self.charge_at(200, spot)?;
            let spot = e.spot();
            self.tasks.push(Task::File {
                path,
                spot,
                scope,
                into,
            });
        }
        Ok(())
    }

    /// Expands what is in an included file.
    pub(super) fn file(
        &mut self,
        path: &Path,
        spot: Spot,
        scope: usize,
        into: usize,
        f: &mut Findings,
    ) -> Result<(), Problem> {
        let root = self.open(path, spot, f)?;
        self.tasks.push(Task::EndOfFile);
        self.later(root.children(), scope, into);
        Ok(())
    }

    /// The file of a name, or all that fit a pattern in its last part, in their order.
    fn matching(&self, name: &str, spot: Spot) -> Result<Vec<std::path::PathBuf>, Problem> {
        if !name.contains(['*', '?']) {
            return Ok(self.find(name).into_iter().collect());
        }
        let (folder, pattern) = name.rsplit_once('/').unwrap_or((".", name));
        let folder = self.folder().join(folder);
        let Ok(entries) = std::fs::read_dir(&folder) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for entry in entries.flatten().take(100 * MOST_FILES) {
            let file = entry.file_name().to_string_lossy().into_owned();
            if fits(pattern, &file)
                && let Some(path) = entry.path().to_str().and_then(|p| self.find(p))
            {
                found.push(path);
            }
        }
        found.sort();
        if found.len() > MOST_FILES {
            return Err(Problem::new(
                spot,
                format!("more than {MOST_FILES} files fit the pattern"),
            ));
        }
        Ok(found)
    }

    fn insert(&mut self, e: Element<'_>, scope: usize, into: usize) -> Result<(), Problem> {
        let (name, spot) = needed(e, "name")?;
        let several = self.scopes.get(scope, &format!("**{name}"));
        match several.or_else(|| self.scopes.get(scope, &format!("*{name}"))).cloned() {
            Some(Entry::Written(piece)) => self.contents(&piece, scope, into),
            Some(Entry::Given(node, false)) => {
                self.output.nodes[into].children.push(node);
                Ok(())
            }
            Some(Entry::Given(node, true)) => {
                let (text, inner) = (
                    self.output.nodes[node].text.clone(),
                    self.output.nodes[node].children.clone(),
                );
                self.charge_at(text.len() + 8 * inner.len(), spot)?;
                let out = &mut self.output.nodes[into];
                out.text += &text;
                out.children.extend(inner);
                Ok(())
            }
            _ => {
                let message = format!("there is no block `{}`", shortened(&name));
                Err(Problem::new(spot, message))
            }
        }
    }

    /// Finds a macro, and expands the blocks that it is given; the call follows.
    fn prepare(&mut self, piece: &Piece, name: &str, scope: usize, into: usize) -> Result<(), Problem> {
        let e = piece.element();
        let Some((called, inner)) = self.scopes.find_macro(scope, name) else {
            let message = format!("there is no macro `{}`", shortened(name));
            return Err(Problem::new(e.spot(), message).advised("define it before, or include the file that does"));
        };
        let blocks = self.output.make("", e.spot());
        self.tasks.push(Task::Call {
            piece: piece.clone(),
            called,
            inner,
            scope,
            blocks,
            into,
        });
        self.later(piece.children(), scope, blocks);
        Ok(())
    }

    /// Calls a macro whose blocks are expanded.
    pub(super) fn call(
        &mut self,
        piece: &Piece,
        called: &Macro,
        inner: usize,
        scope: usize,
        blocks: usize,
        into: usize,
    ) -> Result<(), Problem> {
        let e = piece.element();
        self.enter(e.spot())?;
        self.charge_at(300 + 100 * called.parameters.len(), e.spot())?;
        let local = self.scopes.open(inner);
        let dynamic = e.name() == "xacro:call";
        for (name, spot) in e.attributes() {
            if name.starts_with("xmlns") || dynamic && name == "macro" {
                continue;
            }
            if !called.parameters.iter().any(|p| p.name == name) {
                let message = format!("the macro has no parameter `{}`", shortened(name));
                return Err(Problem::new(spot, message));
            }
            let text = e.attribute(name).unwrap_or_default();
            let value = self.text(&text, e.spot_of(name), scope)?;
            self.scopes.set(local, name, Entry::Ready(as_property(value)));
        }
        let mut given = self.output.nodes[blocks].children.clone().into_iter();
        let mut missing = Vec::new();
        for parameter in &called.parameters {
            let name = &parameter.name;
            if name.starts_with('*') {
                let Some(node) = given.next() else {
                    let message = format!("the macro's block `{}` is not given", shortened(name));
                    return Err(Problem::new(e.spot(), message));
                };
                self.scopes.set(local, name, Entry::Given(node, name.starts_with("**")));
                continue;
            }
            if e.attributes().any(|(n, _)| n == name && !(dynamic && n == "macro")) {
                continue;
            }
            let Some((forward, default)) = &parameter.default else {
                missing.push(name.as_str());
                continue;
            };
            let forwarded = if *forward {
                self.property(scope, name).map_err(|p| p.or_at(e.spot()))?
            } else {
                None
            };
            let value = match (forwarded, default) {
                (Some(value), _) => value,
                (None, Some(text)) => {
                    let at = called.body.element().spot_of("params");
                    self.text(text, at, scope)?
                }
                (None, None) if *forward => {
                    let message = format!("the caller has no property `{}` for the macro", shortened(name));
                    return Err(Problem::new(e.spot(), message));
                }
                (None, None) => Value::text(""),
            };
            self.scopes.set(local, name, Entry::Ready(as_property(value)));
        }
        if !missing.is_empty() {
            let message = format!(
                "the macro's parameters {} are not given",
                shortened(&missing.join(", "))
            );
            return Err(Problem::new(e.spot(), message));
        }
        if let Some(extra) = given.next() {
            let message = "the macro is given more blocks than it takes".to_owned();
            return Err(Problem::new(self.output.nodes[extra].origin, message));
        }
        self.tasks.push(Task::Return);
        self.contents(&called.body, local, into)
    }
}

/// An attribute that must be there, and where its value stands.
fn needed(e: Element<'_>, name: &str) -> Result<(String, Spot), Problem> {
    match e.attribute(name) {
        Some(value) => Ok((value.into_owned(), e.spot_of(name))),
        None => {
            let message = format!("<{}> has no {name}", shortened(e.name()));
            Err(Problem::new(moved(e.spot(), 0), message))
        }
    }
}

/// Whether a value is true or false, as conditions take it.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Text(s) => match s.trim() {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            other => other.parse::<i64>().ok().map(|i| i != 0),
        },
        other => Some(other.truth()),
    }
}

/// Refuses names that XML has not.
fn checked(name: &str, spot: Spot) -> Result<(), Problem> {
    let first = name
        .chars()
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_' || c == ':');
    let plain = name.chars().all(|c| c.is_alphanumeric() || "_:.-".contains(c));
    if first && plain {
        return Ok(());
    }
    Err(Problem::new(
        spot,
        format!("`{}` is not a name of XML", shortened(name)),
    ))
}

/// Whether a name fits a pattern with `*` and `?`.
fn fits(pattern: &str, name: &str) -> bool {
    let (p, n): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut i, mut j, mut star) = (0, 0, None);
    while j < n.len() {
        if i < p.len() && (p[i] == '?' || p[i] == n[j]) && p[i] != '*' {
            (i, j) = (i + 1, j + 1);
        } else if i < p.len() && p[i] == '*' {
            star = Some((i, j));
            i += 1;
        } else if let Some((s, at)) = star {
            star = Some((s, at + 1));
            (i, j) = (s + 1, at + 1);
        } else {
            return false;
        }
    }
    p[i..].iter().all(|c| *c == '*')
}
