//! Expressions of xacro files: the part of Python's that they use.

mod eval;
mod format;
mod functions;
mod lexer;
mod methods;
mod operators;
mod parser;

pub(super) use eval::{Context, DEEPEST, Trouble, eval};
pub(super) use parser::parse;
