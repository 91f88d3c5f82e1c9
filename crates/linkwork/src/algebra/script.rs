//! Several statements in one text: `let` gives a part its name, and every other statement is a result.
//!
//! ```text
//! let L = inv(Jc inv(Mass) Jc^*)
//! lambda = -L (Jc inv(Mass) (T - C) + Jc_dot qd)
//! qdd = inv(Mass) (T - C + Jc^* lambda)
//! ```
//!
//! Statements end at a line or a semicolon. `q̈, λ = …, …` are two results. Names stand for what they were given, so that
//! the laws see through them; what is common to results is computed once.

use super::fault::Fault;
use super::infer;
use super::parse::{self, Ast, Star, What};
use core::ops::Range;

/// A result and its name, if it has one.
pub(crate) struct Statement {
    pub(crate) name: Option<String>,
    pub(crate) ast: Ast,
}

/// Reads all statements of a text; what `let` names is put in its places.
pub(crate) fn read(text: &str, star: Star) -> Result<Vec<Statement>, Fault> {
    let chars: Vec<char> = text.chars().collect();
    let mut known: Vec<(String, Ast)> = Vec::new();
    let mut results = Vec::new();
    for span in split(&chars, 0..chars.len(), &[';', '\n']) {
        let mut span = trimmed(&chars, span);
        if span.is_empty() {
            continue;
        }
        let is_let = chars[span.clone()].starts_with(&['l', 'e', 't', ' ']);
        if is_let {
            span = trimmed(&chars, span.start + 4..span.end);
        }
        let Some(equals) = chars[span.clone()].iter().position(|&c| c == '=') else {
            if is_let {
                return Err(Fault::at(
                    span,
                    "`let` needs a name, `=` and an expression",
                    "as in let L = inv(J J^*)",
                ));
            }
            let ast = expression(&chars, span, star, &known)?;
            results.push(Statement { name: None, ast });
            continue;
        };
        let equals = span.start + equals;
        let names = split(&chars, span.start..equals, &[',']);
        let parts = split(&chars, equals + 1..span.end, &[',']);
        if names.len() != parts.len() {
            let problem = format!("there are {} names for {} expressions", names.len(), parts.len());
            return Err(Fault::at(span, problem, "write as many of one as of the other"));
        }
        let mut new = Vec::new();
        for (at, part) in names.into_iter().zip(parts) {
            let at = trimmed(&chars, at);
            let name = name(&chars, at.clone(), is_let)?;
            if known.iter().chain(&new).any(|(n, _)| *n == name) {
                return Err(Fault::at(at, format!("`{name}` is given twice"), "take another name"));
            }
            new.push((name, expression(&chars, part, star, &known)?));
        }
        for (name, ast) in &new {
            if !is_let {
                let (name, ast) = (Some(name.clone()), ast.clone());
                results.push(Statement { name, ast });
            }
        }
        known.extend(new);
    }
    let end = chars.len();
    if results.is_empty() && known.is_empty() {
        let problem = "the expression is empty";
        return Err(Fault::at(0..1, problem, "write one, such as `inv(Mass) T`"));
    }
    if results.is_empty() {
        let problem = "there is no result";
        return Err(Fault::at(
            end.saturating_sub(1)..end,
            problem,
            "write one, such as `inv(Mass) T`",
        ));
    }
    if results.len() > 1
        && let Some(unnamed) = results.iter().find(|r| r.name.is_none())
    {
        let span = unnamed.ast.span.clone();
        return Err(Fault::at(
            span,
            "of several results each needs a name",
            "write name = before it",
        ));
    }
    Ok(results)
}

/// The two sides of an equation.
pub(crate) fn equation(text: &str, star: Star) -> Result<[Ast; 2], Fault> {
    let chars: Vec<char> = text.chars().collect();
    let sides = split(&chars, 0..chars.len(), &['=']);
    let [left, right] = &sides[..] else {
        let problem = format!("an equation has one equals sign, and this has {}", sides.len() - 1);
        return Err(Fault::at(0..chars.len(), problem, "write A = B"));
    };
    Ok([
        expression(&chars, left.clone(), star, &[])?,
        expression(&chars, right.clone(), star, &[])?,
    ])
}

/// Parts between marks that no parenthesis or bracket encloses.
fn split(chars: &[char], within: Range<usize>, marks: &[char]) -> Vec<Range<usize>> {
    let (mut found, mut start, mut depth) = (Vec::new(), within.start, 0_usize);
    for i in within.clone() {
        match chars[i] {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            c if depth == 0 && marks.contains(&c) => {
                found.push(start..i);
                start = i + 1;
            }
            _ => {}
        }
    }
    found.push(start..within.end);
    found
}

fn trimmed(chars: &[char], mut span: Range<usize>) -> Range<usize> {
    while !span.is_empty() && chars[span.start].is_whitespace() {
        span.start += 1;
    }
    while !span.is_empty() && chars[span.end - 1].is_whitespace() {
        span.end -= 1;
    }
    span
}

/// A name to the left of `=`.
fn name(chars: &[char], at: Range<usize>, is_let: bool) -> Result<String, Fault> {
    let text: String = chars[at.clone()].iter().collect();
    let wrong = |problem: String, hint: &str| Err(Fault::at(at.start..at.end.max(at.start + 1), problem, hint));
    let alone = parse::parse(&text, Star::Product).ok().map(|ast| ast.what);
    let Some(What::Name(name, None)) = alone else {
        return wrong(format!("`{text}` is not a name"), "letters, digits and _ make one");
    };
    if infer::is_taken(&name, is_let) {
        return wrong(format!("`{name}` has a meaning already"), "take another name");
    }
    Ok(infer::plain(&name).to_owned())
}

/// One expression, with names put in.
fn expression(chars: &[char], span: Range<usize>, star: Star, known: &[(String, Ast)]) -> Result<Ast, Fault> {
    let text: String = chars[span.clone()].iter().collect();
    let moved = |fault: Fault| fault.moved(span.start);
    let mut ast = parse::parse(&text, star).map_err(moved)?;
    shift(&mut ast, span.start);
    put_in(&mut ast, known);
    Ok(ast)
}

fn shift(ast: &mut Ast, by: usize) {
    ast.span = ast.span.start + by..ast.span.end + by;
    ast.each_part(&mut |part| shift(part, by));
}

/// Names become what they stand for.
fn put_in(ast: &mut Ast, known: &[(String, Ast)]) {
    if let What::Name(name, None) = &ast.what {
        let found = known.iter().find(|(n, _)| n == infer::plain(name));
        if let Some((_, part)) = found {
            *ast = part.clone();
            return;
        }
    }
    ast.each_part(&mut |part| put_in(part, known));
}
