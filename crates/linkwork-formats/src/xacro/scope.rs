//! Names: properties, blocks, macros and name spaces, in scopes that see those around them.

use super::value::Value;
use crate::source::Spot;
use crate::xml::{Document, Element};
use std::collections::HashMap;
use std::rc::Rc;

/// An element of a document that may be gone through later.
#[derive(Clone)]
pub(super) struct Piece {
    document: Rc<Document>,
    index: u32,
}

impl Piece {
    pub(super) fn root(document: Rc<Document>) -> Self {
        Self { document, index: 0 }
    }

    pub(super) fn element(&self) -> Element<'_> {
        self.document.element(self.index)
    }

    pub(super) fn children(&self) -> Vec<Piece> {
        let children = self.element().children();
        children
            .map(|e| Piece {
                document: self.document.clone(),
                index: e.index(),
            })
            .collect()
    }
}

/// A macro.
pub(super) struct Macro {
    pub(super) body: Piece,
    pub(super) parameters: Vec<Parameter>,
}

/// A parameter of a macro; blocks begin with `*` or `**`.
pub(super) struct Parameter {
    pub(super) name: String,
    /// Whether the caller's property of the same name is taken, and the text that is taken otherwise.
    pub(super) default: Option<(bool, Option<String>)>,
}

/// What a property holds.
#[derive(Clone)]
pub(super) enum Entry {
    Ready(Value),
    /// Text to be evaluated when it is first needed, and where it stands.
    Lazy(Rc<str>, Spot),
    /// Being evaluated.
    Busy,
    /// Elements as they are written, of a property.
    Written(Piece),
    /// Elements that a macro was given, expanded: an output node, and whether its contents alone are meant.
    Given(usize, bool),
}

/// A scope.
#[derive(Default)]
pub(super) struct Scope {
    parent: Option<usize>,
    /// Whether it is that of an included file with a name.
    space: bool,
    entries: HashMap<String, Entry>,
    macros: HashMap<String, Rc<Macro>>,
    spaces: HashMap<String, usize>,
}

/// All scopes of a file. The first is the file's own.
#[derive(Default)]
pub(super) struct Scopes(Vec<Scope>);

impl Scopes {
    pub(super) fn new() -> Self {
        Self(vec![Scope::default()])
    }

    /// A scope in another.
    pub(super) fn open(&mut self, parent: usize) -> usize {
        self.0.push(Scope {
            parent: Some(parent),
            ..Scope::default()
        });
        self.0.len() - 1
    }

    /// A scope with a name.
    pub(super) fn open_space(&mut self, parent: usize, name: &str) -> usize {
        let inner = self.open(parent);
        self.0[inner].space = true;
        self.0[parent].spaces.insert(name.to_owned(), inner);
        inner
    }

    /// The scope, among those around one, where a name is.
    pub(super) fn holder(&self, mut scope: usize, name: &str) -> Option<usize> {
        loop {
            if self.0[scope].entries.contains_key(name) {
                return Some(scope);
            }
            scope = self.0[scope].parent?;
        }
    }

    pub(super) fn get(&self, scope: usize, name: &str) -> Option<&Entry> {
        let holder = self.holder(scope, name)?;
        self.0[holder].entries.get(name)
    }

    pub(super) fn set(&mut self, scope: usize, name: &str, entry: Entry) {
        self.0[scope].entries.insert(name.to_owned(), entry);
    }

    /// Forgets a property in all scopes around one.
    pub(super) fn remove(&mut self, scope: usize, name: &str) {
        let mut next = Some(scope);
        while let Some(s) = next {
            self.0[s].entries.remove(name);
            next = self.0[s].parent;
        }
    }

    /// The scope that a macro was called from; that of the file around an included one.
    pub(super) fn parent(&self, scope: usize) -> Option<usize> {
        let mut parent = self.0[scope].parent?;
        if !self.0[scope].space {
            while self.0[parent].space {
                parent = self.0[parent].parent?;
            }
        }
        Some(parent)
    }

    pub(super) fn define(&mut self, scope: usize, name: &str, defined: Macro) {
        self.0[scope].macros.insert(name.to_owned(), Rc::new(defined));
    }

    /// A name space that a scope sees.
    pub(super) fn space(&self, mut scope: usize, name: &str) -> Option<usize> {
        loop {
            if let Some(found) = self.0[scope].spaces.get(name) {
                return Some(*found);
            }
            scope = self.0[scope].parent?;
        }
    }

    /// A macro, and the scope that its body sees: the caller's, or that of its name space.
    pub(super) fn find_macro(&self, scope: usize, name: &str) -> Option<(Rc<Macro>, usize)> {
        let mut next = Some(scope);
        while let Some(s) = next {
            if let Some(found) = self.0[s].macros.get(name) {
                return Some((found.clone(), scope));
            }
            next = self.0[s].parent;
        }
        let (space, rest) = name.split_once('.')?;
        self.find_macro(self.space(scope, space)?, rest)
    }
}

/// The parameters of a macro: `name`, `name:=default`, `name:=^`, `name:=^|default`, `*block`, `**blocks`.
pub(super) fn parameters(text: &str) -> Vec<Parameter> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c.is_whitespace() || c == ':' || c == '=')
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at(end.max(1));
        let spaced = after.trim_start();
        let assigned = spaced.strip_prefix(":=").or_else(|| spaced.strip_prefix('='));
        let Some(value) = assigned else {
            found.push(Parameter {
                name: name.to_owned(),
                default: None,
            });
            rest = after.trim_start_matches([':', '=']).trim_start();
            continue;
        };
        let mut value = value.trim_start();
        let mut forward = false;
        if let Some(after) = value.strip_prefix('^') {
            forward = true;
            value = after.strip_prefix('|').unwrap_or(after);
        }
        let end = default_length(value);
        let default = (end > 0 || !forward)
            .then(|| value[..end].to_owned())
            .filter(|d| !d.is_empty());
        found.push(Parameter {
            name: name.to_owned(),
            default: Some((forward, default)),
        });
        rest = value[end..].trim_start();
    }
    found
}

/// Where a default value ends: at a blank outside of quotes and `${…}`.
fn default_length(text: &str) -> usize {
    let (mut quote, mut open) = (None, 0);
    let mut before = ' ';
    for (i, c) in text.char_indices() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if (c == '{' || c == '(') && (before == '$' || open > 0) => open += 1,
            None if (c == '}' || c == ')') && open > 0 => open -= 1,
            None if c.is_whitespace() && open == 0 => return i,
            None => {}
        }
        before = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_defaults_of_all_kinds() {
        let text = "a b:=1 c=2 d:='x y' e:=${f + 1} g:=^ h:=^|3 *i **j k:=\"\" l:=$(find p)/x";
        let read: Vec<_> = parameters(text).into_iter().map(|p| (p.name, p.default)).collect();
        let some = |s: &str| Some((false, Some(s.to_owned())));
        let expected = [
            ("a", None),
            ("b", some("1")),
            ("c", some("2")),
            ("d", some("'x y'")),
            ("e", some("${f + 1}")),
            ("g", Some((true, None))),
            ("h", Some((true, Some("3".to_owned())))),
            ("*i", None),
            ("**j", None),
            ("k", some("\"\"")),
            ("l", some("$(find p)/x")),
        ];
        let expected: Vec<_> = expected.into_iter().map(|(n, d)| (n.to_owned(), d)).collect();
        assert_eq!(read, expected);
    }
}
