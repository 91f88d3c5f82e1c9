//! From text to a syntax tree whose parts know their columns.

use super::fault::Fault;
use super::tokens::{Token, tokens};
use super::vector_operators::By;
use core::ops::Range;

/// A part of an expression, and the columns it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Ast {
    pub(crate) what: What,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Number(f64),
    /// A name, and the space that `name:space` gives it.
    Name(String, Option<String>),
    /// An operator of one frame: `J[left]`.
    Of(String, String),
    Adjoint(Box<Ast>),
    Inverse(Box<Ast>),
    Root(Box<Ast>),
    /// logdet(…).
    LogDet(Box<Ast>),
    /// sym(W): a symmetric matrix by name.
    Matrix(Box<Ast>),
    /// pinv(…).
    Pseudo(Box<Ast>),
    /// diag(…).
    Diagonal(Box<Ast>),
    /// X~ = X − I.
    Strict(Box<Ast>),
    Power(Box<Ast>, u32),
    /// An operator that a vector makes: crm(v).
    By(By, Box<Ast>),
    /// dot(X).
    Dot(Box<Ast>),
    /// d(X)/dq, or by a vector.
    Derivative(Box<Ast>, String),
    /// d(X, w): as the configuration moves by w.
    Along(Box<Ast>, Box<Ast>),
    Product(Vec<Ast>),
    /// Terms and whether each is subtracted.
    Sum(Vec<(bool, Ast)>),
}

impl Ast {
    /// Every part directly below.
    pub(crate) fn each_part(&mut self, see: &mut dyn FnMut(&mut Ast)) {
        match &mut self.what {
            What::Number(_) | What::Name(..) | What::Of(..) => {}
            What::Adjoint(x) | What::Inverse(x) | What::Root(x) | What::Pseudo(x) | What::Diagonal(x) => see(x),
            What::LogDet(x) | What::Matrix(x) => see(x),
            What::Strict(x) | What::Power(x, _) | What::By(_, x) | What::Dot(x) | What::Derivative(x, _) => see(x),
            What::Along(x, w) => {
                see(x);
                see(w);
            }
            What::Product(parts) => parts.iter_mut().for_each(see),
            What::Sum(terms) => terms.iter_mut().for_each(|(_, part)| see(part)),
        }
    }
}

/// Longer expressions are refused.
const LONGEST: usize = 4096;
/// Parentheses, and inverses of inverses, may be nested so deep.
const DEEPEST: usize = 64;
/// The largest power.
const HIGHEST: u32 = 64;

/// What a star between two factors without spaces means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Star {
    Adjoint,
    Product,
}

/// Where a star can be read in two ways, if anywhere.
pub(crate) fn ambiguous(text: &str) -> Option<Range<usize>> {
    // What stands between statements does not matter here.
    let between = |c: char| if matches!(c, ';' | '=' | ',') { ' ' } else { c };
    let chars: Vec<char> = text.chars().map(between).collect();
    let found = tokens(&chars).ok()?;
    found.into_iter().find(|t| t.0 == Token::Either).map(|t| t.1)
}

/// Reads an expression.
pub(crate) fn parse(text: &str, star: Star) -> Result<Ast, Fault> {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() > LONGEST {
        let problem = format!("the expression has {} characters; {LONGEST} is the limit", chars.len());
        return Err(Fault::at(
            0..1,
            problem,
            "split it, and bind what comes first to a name",
        ));
    }
    let mut tokens = tokens(&chars)?;
    for (token, _) in tokens.iter_mut().filter(|t| t.0 == Token::Either) {
        *token = match star {
            Star::Adjoint => Token::Prime,
            Star::Product => Token::Times,
        };
    }
    if tokens.is_empty() {
        return Err(Fault::at(
            0..1,
            "the expression is empty",
            "write one, such as `inv(Mass) T`",
        ));
    }
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
        end: chars.len(),
    };
    let whole = parser.sum()?;
    match parser.tokens.get(parser.at) {
        None => Ok(whole),
        Some((Token::Close, span)) => {
            let hint = "remove it, or open one before it";
            Err(Fault::at(span.clone(), "this parenthesis closes nothing", hint))
        }
        Some((_, span)) => Err(Fault::at(span.clone(), "this cannot follow here", "remove it")),
    }
}

struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    depth: usize,
    end: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|t| &t.0)
    }

    fn take(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    /// The columns of the next token, or just past the end.
    fn here(&self) -> Range<usize> {
        let past = self.end..self.end + 1;
        self.tokens.get(self.at).map_or(past, |t| t.1.clone())
    }

    fn last_end(&self) -> usize {
        self.tokens[self.at - 1].1.end
    }

    fn deeper(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let problem = format!("parentheses are nested more than {DEEPEST} deep");
            return Err(Fault::at(
                self.here(),
                problem,
                "bind an inner part to a name of its own",
            ));
        }
        Ok(())
    }

    fn sum(&mut self) -> Result<Ast, Fault> {
        self.deeper()?;
        let start = self.here().start;
        let mut terms = Vec::new();
        let mut negative = self.signs();
        loop {
            terms.push((negative, self.product()?));
            if !matches!(self.peek(), Some(Token::Plus | Token::Minus)) {
                break;
            }
            negative = self.signs();
        }
        self.depth -= 1;
        let span = start..self.last_end();
        Ok(match &terms[..] {
            [(false, _)] => terms.swap_remove(0).1,
            _ => Ast {
                what: What::Sum(terms),
                span,
            },
        })
    }

    /// Signs in a row: whether they are a minus together.
    fn signs(&mut self) -> bool {
        let mut negative = false;
        loop {
            if self.take(&Token::Minus) {
                negative = !negative;
            } else if !self.take(&Token::Plus) {
                return negative;
            }
        }
    }

    fn product(&mut self) -> Result<Ast, Fault> {
        let start = self.here().start;
        let mut factors = vec![self.factor()?];
        loop {
            match self.peek() {
                Some(Token::Times) => {
                    self.at += 1;
                    let (star, from) = (self.at - 1, self.here().start);
                    let negative = self.signs();
                    let factor = self.factor().map_err(|fault| self.star_hint(fault, star))?;
                    let span = from..self.last_end();
                    factors.push(match negative {
                        false => factor,
                        true => Ast {
                            what: What::Sum(vec![(true, factor)]),
                            span,
                        },
                    });
                }
                Some(Token::Slash) => {
                    self.at += 1;
                    let below = self.factor()?;
                    let span = below.span.clone();
                    if !matches!(below.what, What::Number(_)) {
                        let hint = "write inv(…) for an inverse";
                        return Err(Fault::at(span, "only a number can stand below a stroke", hint));
                    }
                    factors.push(Ast {
                        what: What::Inverse(Box::new(below)),
                        span,
                    });
                }
                Some(Token::Name(_) | Token::Open) => factors.push(self.factor()?),
                Some(Token::Number(_)) => factors.push(self.factor()?),
                _ => break,
            }
        }
        // J̇c q̇ is one vector, which needs less than J̇c.
        let is = |ast: &Ast, words: [&str; 2]| matches!(&ast.what, What::Name(n, None) if words.contains(&&n[..]));
        let rate = |ast: &Ast| matches!(&ast.what, What::Dot(inner) if is(inner, ["Jc", "J_c"]));
        while let Some(i) = (1..factors.len()).find(|&i| rate(&factors[i - 1]) && is(&factors[i], ["qd", "q̇"])) {
            let qd = factors.remove(i);
            let both = &mut factors[i - 1];
            both.what = What::Name(super::infer::CONSTRAINT_BIAS.to_owned(), None);
            both.span.end = qd.span.end;
        }
        // Between a Jacobian and its adjoint, G is the weight of the papers and not the gain.
        let jacobian = |ast: &Ast| match &ast.what {
            What::Name(name, None) => matches!(&name[..], "J" | "Jc" | "J_c" | "𝒥"),
            What::Of(name, _) => name == "J",
            _ => false,
        };
        for i in 1..factors.len().saturating_sub(1) {
            let before = matches!(&factors[i - 1].what, What::Adjoint(inner) if jacobian(inner));
            if before && jacobian(&factors[i + 1]) && is(&factors[i], ["G", "G"]) {
                let name = core::mem::replace(&mut factors[i].what, What::Product(Vec::new()));
                let span = factors[i].span.clone();
                factors[i].what = What::Matrix(Box::new(Ast { what: name, span }));
            }
        }
        let span = start..self.last_end();
        Ok(match factors.len() {
            1 => factors.swap_remove(0),
            _ => Ast {
                what: What::Product(factors),
                span,
            },
        })
    }

    /// A lone `*` after an operator is often meant as its adjoint.
    fn star_hint(&self, fault: Fault, star: usize) -> Fault {
        let span = self.tokens[star].1.clone();
        if fault.span.start >= span.end {
            return Fault::at(span, "nothing follows this `*`", "for the adjoint write ^* or '");
        }
        fault
    }

    /// An atom and what stands behind it: ^*, ^T, ', ᵀ, ^-1, ^2.
    fn factor(&mut self) -> Result<Ast, Fault> {
        let start = self.here().start;
        let mut ast = self.atom()?;
        let mut raised = 0;
        loop {
            raised += 1;
            if raised > DEEPEST {
                return Err(Fault::at(self.here(), "too many adjoints and powers", "simplify them"));
            }
            let boxed = |ast| Box::new(ast);
            let what = if self.take(&Token::Tilde) {
                What::Strict(boxed(ast))
            } else if self.take(&Token::Prime) {
                What::Adjoint(boxed(ast))
            } else if self.take(&Token::Inverted) {
                What::Inverse(boxed(ast))
            } else if self.take(&Token::Dagger) {
                What::Pseudo(boxed(ast))
            } else if self.take(&Token::Caret) {
                let open = self.here();
                let enclosed = self.take(&Token::Open);
                let what = self.raised(ast, start, enclosed)?;
                if enclosed {
                    self.close(&open)?;
                }
                what
            } else {
                return Ok(ast);
            };
            let span = start..self.last_end();
            ast = Ast { what, span };
        }
    }

    /// What follows a caret: *, T, +, -1, ½, 1/2, -1/2 or a whole number; halves as strokes in parentheses alone.
    fn raised(&mut self, ast: Ast, start: usize, enclosed: bool) -> Result<What, Fault> {
        let span = self.here();
        let boxed = Box::new(ast);
        if self.take(&Token::Times) || self.take(&Token::Prime) || self.take(&Token::Name("T".to_owned())) {
            return Ok(What::Adjoint(boxed));
        }
        if self.take(&Token::Plus) || self.take(&Token::Dagger) {
            return Ok(What::Pseudo(boxed));
        }
        let negative = self.take(&Token::Minus);
        let half = self.take(&Token::Half) || self.half(enclosed)?;
        let what = match (half, negative) {
            (true, false) => What::Root(boxed),
            (true, true) => {
                let span = start..self.last_end();
                let what = What::Root(boxed);
                What::Inverse(Box::new(Ast { what, span }))
            }
            (false, false) => What::Power(boxed, self.whole_number()?),
            (false, true) => match self.whole_number()? {
                1 => What::Inverse(boxed),
                _ => {
                    let hint = "write inv(…) and a power of that";
                    return Err(Fault::at(span, "only ^-1 is a negative power", hint));
                }
            },
        };
        Ok(what)
    }

    /// Whether 1/2 follows. Outside of parentheses it could be meant as an exponent, or as a half of what comes before.
    fn half(&mut self, enclosed: bool) -> Result<bool, Fault> {
        let part = |i: usize| self.tokens.get(self.at + i).cloned();
        let (Some((Token::Number(1.0), one)), Some((Token::Slash, stroke)), Some((Token::Number(2.0), two))) =
            (part(0), part(1), part(2))
        else {
            return Ok(false);
        };
        if enclosed {
            self.at += 3;
            return Ok(true);
        }
        if one.end == stroke.start && stroke.end == two.start {
            let problem = "this can be a root, or half of what stands before the stroke";
            let hint = "write ^(1/2) or ^(-1/2) for the root, and spaces around the stroke for the half";
            return Err(Fault::at(one.start..two.end, problem, hint));
        }
        Ok(false)
    }

    fn whole_number(&mut self) -> Result<u32, Fault> {
        let span = self.here();
        if let Some(&Token::Number(x)) = self.peek()
            && x.fract() == 0.0
            && (0.0..=f64::from(HIGHEST)).contains(&x)
        {
            self.at += 1;
            return Ok(x as u32);
        }
        let problem = "`^` must be followed by `*`, `T`, `+`, `-1`, `½` or a whole number";
        Err(Fault::at(span, problem, format!("powers go up to {HIGHEST}")))
    }

    fn atom(&mut self) -> Result<Ast, Fault> {
        let span = self.here();
        let Some(token) = self.peek().cloned() else {
            return Err(Fault::at(span, "something is missing here", "finish the expression"));
        };
        self.at += 1;
        let what = match token {
            Token::Number(x) => What::Number(x),
            Token::Open => {
                let inner = self.sum()?;
                self.close(&span)?;
                return Ok(Ast {
                    what: inner.what,
                    span: span.start..self.last_end(),
                });
            }
            Token::Name(name) if name == "d" && self.take(&Token::Open) => self.derivative(&span)?,
            Token::Name(name) if name == "grad" && self.take(&Token::Open) => {
                let inner = Box::new(self.sum()?);
                self.close(&span)?;
                let span = span.start..self.last_end();
                let what = What::Derivative(inner, "q".to_owned());
                What::Adjoint(Box::new(Ast { what, span }))
            }
            Token::Name(name) if FUNCTIONS.contains(&&name[..]) && self.take(&Token::Open) => {
                let inner = Box::new(self.sum()?);
                self.close(&span)?;
                match &name[..] {
                    "inv" => What::Inverse(inner),
                    "pinv" => What::Pseudo(inner),
                    "diag" => What::Diagonal(inner),
                    "dot" => What::Dot(inner),
                    "sym" => What::Matrix(inner),
                    "logdet" | "log_det" => What::LogDet(inner),
                    name => match By::named(name) {
                        Some(by) => What::By(by, inner),
                        None => What::Root(inner),
                    },
                }
            }
            Token::Name(name) if FUNCTIONS.contains(&&name[..]) => {
                let problem = format!("`{name}` needs parentheses");
                return Err(Fault::at(
                    span,
                    problem,
                    format!("write {name}(…) around what it acts on"),
                ));
            }
            Token::Name(name) if self.peek() == Some(&Token::Open) && known_elsewhere(&name).is_some() => {
                let problem = format!("there is no function `{name}` here");
                return Err(Fault::at(span, problem, known_elsewhere(&name).unwrap_or_default()));
            }
            Token::Name(name) if matches!(self.peek(), Some(Token::Bracket(_))) => {
                let Some((Token::Bracket(frame), inside)) = self.tokens.get(self.at).cloned() else {
                    return Err(Fault::at(span, "a frame is missing", "write J[name]"));
                };
                self.at += 1;
                if frame.is_empty() {
                    return Err(Fault::at(inside, "a frame's name is missing here", "write J[name]"));
                }
                What::Of(name, frame)
            }
            Token::Name(name) if matches!(&name[..], "Jc_dot" | "Jċ" | "J̇c") => {
                let what = What::Name("Jc".to_owned(), None);
                What::Dot(Box::new(Ast {
                    what,
                    span: span.clone(),
                }))
            }
            Token::Name(name) => {
                let mut space = None;
                if self.take(&Token::Colon) {
                    let span = self.here();
                    let Some(Token::Name(word)) = self.peek().cloned() else {
                        return Err(Fault::at(span, "a space must follow the colon", SPACES));
                    };
                    if super::space::Space::named(&word).is_none() {
                        return Err(Fault::at(span, format!("there is no space `{word}`"), SPACES));
                    }
                    self.at += 1;
                    space = Some(word);
                }
                What::Name(name, space)
            }
            Token::Close => {
                return Err(Fault::at(
                    span,
                    "nothing stands before this parenthesis",
                    "write something",
                ));
            }
            _ => {
                return Err(Fault::at(
                    span,
                    "an operator, a vector or a number is missing before this",
                    "write it",
                ));
            }
        };
        let span = span.start..self.last_end();
        Ok(Ast { what, span })
    }

    /// What follows `d(`: X)/dq, X)/dx or X, w).
    fn derivative(&mut self, open: &Range<usize>) -> Result<What, Fault> {
        let inner = Box::new(self.sum()?);
        if self.take(&Token::Comma) {
            let direction = Box::new(self.sum()?);
            self.close(open)?;
            return Ok(What::Along(inner, direction));
        }
        self.close(open)?;
        let hint = "write d(X)/dq, d(X)/dqd or d(X)/dx for another vector x, or d(X, w) for the change along w";
        let stroke = self.here();
        if !self.take(&Token::Slash) {
            return Err(Fault::at(
                stroke,
                "what the derivative is taken with respect to is missing",
                hint,
            ));
        }
        let span = self.here();
        let Some(Token::Name(name)) = self.peek().cloned() else {
            return Err(Fault::at(span, "a variable is missing here", hint));
        };
        let Some(variable) = name.strip_prefix('d').filter(|rest| !rest.is_empty()) else {
            return Err(Fault::at(span, format!("`{name}` does not begin with d"), hint));
        };
        self.at += 1;
        Ok(What::Derivative(inner, variable.to_owned()))
    }

    fn close(&mut self, open: &Range<usize>) -> Result<(), Fault> {
        if self.take(&Token::Close) {
            return Ok(());
        }
        if self.peek().is_none() {
            return Err(Fault::at(
                open.clone(),
                "this parenthesis is never closed",
                "close it with `)`",
            ));
        }
        Err(Fault::at(
            self.here(),
            "`)` is missing before this",
            "close the parenthesis",
        ))
    }
}

/// Functions that other languages have, and what to write instead.
fn known_elsewhere(name: &str) -> Option<&'static str> {
    Some(match name {
        "inverse" | "Inverse" | "invert" | "Inv" => "write inv(…)",
        "pseudoinverse" | "pinverse" => "write pinv(…)",
        "transpose" | "adjoint" | "ctranspose" => "write ^* or ' behind what it acts on",
        "chol" | "cholesky" => "write sqrt(D), or m for the factor of Mass",
        "gradient" => "write grad(…) of a number",
        "det" | "logDet" | "slogdet" | "logabsdet" => "write logdet(Mass)",
        "diff" | "derivative" | "jacobian" => "write d(X)/dq, d(X, w) or dot(X)",
        "cross" => "write crm(v) for motions, crf(v) for forces",
        _ => return None,
    })
}

const SPACES: &str = "the spaces are joint, motion, force, tip, frame, constraint and number";

/// What is written before parentheses.
pub(crate) const FUNCTIONS: [&str; 21] = [
    "Upsilon_dot",
    "Upsilon_dq",
    "inv",
    "sqrt",
    "pinv",
    "diag",
    "dot",
    "crm",
    "crf",
    "bar",
    "P_dot",
    "P_dq",
    "root_dot",
    "root_dq",
    "root_star_dq",
    "Bc_dot",
    "Bc_dq",
    "Bc_star_dq",
    "logdet",
    "log_det",
    "sym",
];
