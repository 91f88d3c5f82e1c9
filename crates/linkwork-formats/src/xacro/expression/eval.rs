//! Values of trees.

use super::parser::{Each, Kind, Node};
use super::{format, functions, methods, operators};
use crate::source::shortened;
use crate::xacro::Problem;
use crate::xacro::value::Value;
use std::rc::Rc;

/// Evaluations nested deeper than this are refused, those of properties in properties included.
pub(in crate::xacro) const DEEPEST: usize = 300;
/// Lists in lists deeper than this are refused.
const DEEPEST_VALUE: usize = 100;

/// Why there is no value.
#[derive(Debug)]
pub(in crate::xacro) enum Trouble {
    /// At a byte of the expression.
    Here(usize, String),
    /// In a property or a file that it uses.
    There(Problem),
}

impl From<(usize, String)> for Trouble {
    fn from((at, message): (usize, String)) -> Self {
        Self::Here(at, message)
    }
}

/// What an expression is evaluated in.
pub(in crate::xacro) trait Context {
    /// The value of a name, if it has one.
    fn name(&mut self, name: &str) -> Result<Option<Value>, Trouble>;
    /// A property of a name space.
    fn member(&mut self, space: usize, name: &str) -> Result<Option<Value>, Trouble>;
    /// A YAML file.
    fn yaml(&mut self, file: &str) -> Result<Value, Trouble>;
    /// An argument of the file.
    fn argument(&mut self, name: &str) -> Option<Value>;
    /// Counts work and memory; fails when there was too much.
    fn charge(&mut self, bytes: usize) -> Result<(), Trouble>;
    /// Steps in; fails when that is too deep.
    fn depth(&mut self) -> &mut usize;
    /// Values that a comprehension gives names.
    fn locals(&mut self) -> &mut Vec<(String, Value)>;
}

pub(super) type Evaluated = Result<Value, Trouble>;

/// The value of an expression.
pub(in crate::xacro) fn eval(c: &mut dyn Context, n: &Node) -> Evaluated {
    *c.depth() += 1;
    if *c.depth() > DEEPEST {
        return Err(Trouble::Here(
            n.at,
            format!("expressions are nested more than {DEEPEST} deep"),
        ));
    }
    c.charge(20)?;
    let value = inner(c, n)?;
    if value.depth() > DEEPEST_VALUE {
        return Err(Trouble::Here(
            n.at,
            format!("values are nested more than {DEEPEST_VALUE} deep"),
        ));
    }
    *c.depth() -= 1;
    Ok(value)
}

fn all(c: &mut dyn Context, nodes: &[Node]) -> Result<Vec<Value>, Trouble> {
    c.charge(32 * nodes.len())?;
    nodes.iter().map(|n| eval(c, n)).collect()
}

fn inner(c: &mut dyn Context, n: &Node) -> Evaluated {
    let here = |message: String| Trouble::Here(n.at, message);
    match &n.kind {
        Kind::Literal(value) => Ok(value.clone()),
        Kind::Name(name) => named(c, n.at, name),
        Kind::Unary(sign, x) => {
            let x = eval(c, x)?;
            operators::unary(sign, &x).map_err(here)
        }
        Kind::Binary(sign, a, b) => {
            let (a, b) = (eval(c, a)?, eval(c, b)?);
            let value = operators::binary(sign, &a, &b, &mut |bytes| c.charge(bytes)).map_err(|t| t.at(n.at))?;
            Ok(value)
        }
        Kind::Compare(first, rest) => {
            let mut left = eval(c, first)?;
            for (sign, right) in rest {
                let right = eval(c, right)?;
                if !operators::compare(sign, &left, &right).map_err(here)? {
                    return Ok(Value::Bool(false));
                }
                left = right;
            }
            Ok(Value::Bool(true))
        }
        Kind::And(nodes) => until(c, nodes, false),
        Kind::Or(nodes) => until(c, nodes, true),
        Kind::Choice(yes, when, no) => {
            let chosen = if eval(c, when)?.truth() { yes } else { no };
            eval(c, chosen)
        }
        Kind::Index(value, index) => {
            let (value, index) = (eval(c, value)?, eval(c, index)?);
            if let (Value::Space(space), Value::Text(name)) = (&value, &index)
                && let Some(found) = c.member(*space, name)?
            {
                return Ok(found);
            }
            operators::index(&value, &index).map_err(here)
        }
        Kind::Slice(value, parts) => {
            let value = eval(c, value)?;
            let mut bounds = [None, None, None];
            for (bound, part) in bounds.iter_mut().zip(parts) {
                if let Some(part) = part {
                    *bound = match eval(c, part)? {
                        Value::None => None,
                        other => Some(
                            other
                                .whole()
                                .ok_or_else(|| here("slices need whole numbers".to_owned()))?,
                        ),
                    };
                }
            }
            operators::slice(&value, bounds).map_err(here)
        }
        Kind::Attribute(value, name) => {
            let value = eval(c, value)?;
            attribute(c, n.at, value, name)
        }
        Kind::Call(function, given, named) => {
            let function = eval(c, function)?;
            let given = all(c, given)?;
            let mut options = Vec::new();
            for (name, value) in named {
                options.push((name.clone(), eval(c, value)?));
            }
            match &function {
                Value::Function(name) => functions::call(c, name, &given, &options).map_err(|t| t.at(n.at)),
                Value::Method(m) => {
                    methods::call(&m.0, &m.1, &given, &options, &mut |b| c.charge(b)).map_err(|t| t.at(n.at))
                }
                other => Err(here(format!("a {} is not a function", other.kind()))),
            }
        }
        Kind::List(nodes) => Ok(Value::list(all(c, nodes)?)),
        Kind::Tuple(nodes) => Ok(Value::tuple(all(c, nodes)?)),
        Kind::Dict(pairs) => {
            let mut items = Vec::new();
            for (key, value) in pairs {
                let (key, value) = (eval(c, key)?, eval(c, value)?);
                insert(&mut items, key, value);
            }
            Ok(Value::dict(items))
        }
        Kind::Each(each) => comprehension(c, n.at, each),
        Kind::Format(pieces) => {
            let mut out = String::new();
            for (plain, value) in pieces {
                out += plain;
                if let Some((value, how)) = value {
                    let value = eval(c, value)?;
                    out += &format::spec(&value, how).map_err(here)?;
                }
                c.charge(out.len())?;
            }
            Ok(Value::text(out))
        }
    }
}

impl Trouble {
    /// The same at the place of a call.
    fn at(self, at: usize) -> Self {
        match self {
            Self::Here(_, message) => Self::Here(at, message),
            there => there,
        }
    }
}

/// Puts a value under a key, in the place of another.
pub(super) fn insert(items: &mut Vec<(Value, Value)>, key: Value, value: Value) {
    match items.iter_mut().find(|(k, _)| k.same(&key)) {
        Some(slot) => slot.1 = value,
        None => items.push((key, value)),
    }
}

/// The first value whose truth is as wished, or the last.
fn until(c: &mut dyn Context, nodes: &[Node], wish: bool) -> Evaluated {
    let mut last = Value::None;
    for n in nodes {
        last = eval(c, n)?;
        if last.truth() == wish {
            break;
        }
    }
    Ok(last)
}

fn named(c: &mut dyn Context, at: usize, name: &str) -> Evaluated {
    let local = c.locals().iter().rev().find(|(n, _)| n == name).map(|(_, v)| v.clone());
    if let Some(value) = local {
        return Ok(value);
    }
    if name.starts_with("__") {
        return Err(Trouble::Here(
            at,
            format!("the name `{}` is not allowed", shortened(name)),
        ));
    }
    if let Some(value) = c.name(name)? {
        return Ok(value);
    }
    functions::global(name).ok_or_else(|| Trouble::Here(at, format!("`{}` is not defined", shortened(name))))
}

fn attribute(c: &mut dyn Context, at: usize, value: Value, name: &str) -> Evaluated {
    let found = match &value {
        Value::Space(space) => c.member(*space, name)?,
        Value::Module(module) => functions::member(module, name),
        Value::Dict(_) if !methods::exists(&value, name) => value.get(&Value::text(name)),
        other if methods::exists(other, name) => Some(Value::Method(Rc::new((value.clone(), name.to_owned())))),
        _ => None,
    };
    found.ok_or_else(|| {
        let message = format!("a {} has no `{}`", value.kind(), shortened(name));
        Trouble::Here(at, message)
    })
}

fn comprehension(c: &mut dyn Context, at: usize, each: &Each) -> Evaluated {
    let over = eval(c, &each.over)?;
    let Some(items) = over.items() else {
        return Err(Trouble::Here(at, format!("a {} cannot be gone through", over.kind())));
    };
    let (mut list, mut dict) = (Vec::new(), Vec::new());
    for item in items {
        c.charge(32)?;
        let before = c.locals().len();
        let parts = if each.names.len() == 1 {
            vec![item]
        } else {
            item.items().unwrap_or_default()
        };
        if parts.len() != each.names.len() {
            let message = format!("{} values do not fit {} names", parts.len(), each.names.len());
            return Err(Trouble::Here(at, message));
        }
        c.locals().extend(each.names.iter().cloned().zip(parts));
        let wanted = match &each.when {
            Some(when) => eval(c, when)?.truth(),
            None => true,
        };
        if wanted {
            let value = eval(c, &each.item)?;
            match &each.key {
                Some(key) => {
                    let key = eval(c, key)?;
                    // Keys are compared one by one.
                    c.charge(16 * dict.len())?;
                    insert(&mut dict, key, value);
                }
                None => list.push(value),
            }
        }
        c.locals().truncate(before);
    }
    Ok(if each.key.is_some() {
        Value::dict(dict)
    } else {
        Value::list(list)
    })
}
