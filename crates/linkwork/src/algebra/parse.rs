//! From text to a syntax tree whose parts know their columns.

use super::fault::Fault;
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
    /// pinv(…).
    Pseudo(Box<Ast>),
    /// diag(…).
    Diagonal(Box<Ast>),
    /// X~ = X − I.
    Strict(Box<Ast>),
    Power(Box<Ast>, u32),
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
            What::Strict(x) | What::Power(x, _) => see(x),
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

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Plus,
    Minus,
    Times,
    Slash,
    Open,
    Close,
    Caret,
    Prime,
    /// A star that touches what stands on both sides: an adjoint or a product.
    Either,
    Colon,
    Bracket(String),
    Tilde,
    Half,
    /// ⁻¹
    Inverted,
}

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

fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Letters that are names by themselves.
fn is_symbol(c: char) -> bool {
    "φϕψτΥΦΨΛ𝓜ℳℓνεζξλαβκρ".contains(c)
}

fn tokens(chars: &[char]) -> Result<Vec<(Token, Range<usize>)>, Fault> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        let c = chars[i];
        i += 1;
        let token = match c {
            c if c.is_whitespace() => continue,
            '+' => Token::Plus,
            '-' | '−' => Token::Minus,
            '*' => star(chars, start, found.last()),
            '·' => Token::Times,
            '~' => Token::Tilde,
            '½' => Token::Half,
            '[' => {
                let Some(length) = chars[i..].iter().position(|&c| c == ']') else {
                    return Err(Fault::at(start..i, "this bracket is never closed", "close it with `]`"));
                };
                let name: String = chars[i..i + length].iter().collect();
                i += length + 1;
                Token::Bracket(name.trim().to_owned())
            }
            '/' => Token::Slash,
            '(' => Token::Open,
            ')' => Token::Close,
            '^' => Token::Caret,
            '\'' | '′' | 'ᵀ' => Token::Prime,
            ':' => Token::Colon,
            '⁻' if chars.get(i) == Some(&'¹') => {
                i += 1;
                Token::Inverted
            }
            c if c.is_ascii_digit() || c == '.' => {
                i = number_end(chars, start);
                let text: String = chars[start..i].iter().collect();
                match text.parse::<f64>() {
                    Ok(x) if x.is_finite() => Token::Number(x),
                    _ => {
                        let problem = format!("`{text}` is no number");
                        return Err(Fault::at(start..i, problem, "write it as 2, 0.5 or 1e-3"));
                    }
                }
            }
            c if is_symbol(c) || c.is_ascii_alphabetic() || c == '_' => {
                i = name_end(chars, start);
                Token::Name(chars[start..i].iter().collect())
            }
            c => {
                let problem = format!("`{c}` means nothing here");
                return Err(Fault::at(start..i, problem, "remove it"));
            }
        };
        found.push((token, start..i));
    }
    Ok(found)
}

/// A star: the adjoint where it ends what it touches, a product between spaces or after a number.
fn star(chars: &[char], at: usize, before: Option<&(Token, Range<usize>)>) -> Token {
    // After a caret it is an adjoint by itself.
    let Some((token, span)) = before.filter(|b| b.1.end == at) else {
        return Token::Times;
    };
    let powered = *token == Token::Half;
    let operand = matches!(
        token,
        Token::Name(_) | Token::Close | Token::Prime | Token::Inverted | Token::Bracket(_) | Token::Tilde
    );
    let raised = matches!(token, Token::Number(_)) && span.start > 0 && matches!(chars[span.start - 1], '^' | '-');
    if !(operand || powered || raised) {
        return Token::Times;
    }
    match chars.get(at + 1) {
        Some(c) if c.is_alphanumeric() || is_symbol(*c) || matches!(c, '(' | '_' | '.') => Token::Either,
        _ => Token::Prime,
    }
}

/// Where a number that starts at `i` ends: digits, a point, an exponent.
fn number_end(chars: &[char], mut i: usize) -> usize {
    let digits = |mut i: usize| {
        while chars.get(i).is_some_and(char::is_ascii_digit) {
            i += 1;
        }
        i
    };
    i = digits(i);
    if chars.get(i) == Some(&'.') {
        i = digits(i + 1);
    }
    if matches!(chars.get(i), Some('e' | 'E')) {
        let sign = usize::from(matches!(chars.get(i + 1), Some('+' | '-')));
        let end = digits(i + 1 + sign);
        if end > i + 1 + sign {
            return end;
        }
    }
    i
}

/// Where a name that starts at `i` ends. Greek letters stand alone, so that `HψK` is three names; `E_φ` is one.
fn name_end(chars: &[char], start: usize) -> usize {
    let marks = |mut i: usize| {
        while chars.get(i).is_some_and(|&c| is_mark(c) || c == '⁺' || c == '₀') {
            i += 1;
        }
        i
    };
    let mut i = start + 1;
    if !is_symbol(chars[start]) {
        while chars.get(i).is_some_and(|&c| c.is_ascii_alphanumeric() || c == '_') {
            i += 1;
        }
        let shift = matches!(chars[start..i], ['E'] | ['E', '_']);
        if shift && matches!(chars.get(i), Some('φ' | 'ϕ' | 'ψ')) {
            i += 1;
        }
    }
    marks(i)
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
        let mut negative = self.take(&Token::Minus);
        if !negative {
            self.take(&Token::Plus);
        }
        loop {
            terms.push((negative, self.product()?));
            negative = match self.peek() {
                Some(Token::Plus) => false,
                Some(Token::Minus) => true,
                _ => break,
            };
            self.at += 1;
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

    fn product(&mut self) -> Result<Ast, Fault> {
        let start = self.here().start;
        let mut factors = vec![self.factor()?];
        loop {
            match self.peek() {
                Some(Token::Times) => {
                    self.at += 1;
                    let star = self.at - 1;
                    factors.push(self.factor().map_err(|fault| self.star_hint(fault, star))?);
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
        // J̇c is known on q̇ alone: together they are one vector.
        let is = |ast: &Ast, words: [&str; 2]| matches!(&ast.what, What::Name(n, None) if words.contains(&&n[..]));
        while let Some(i) =
            (1..factors.len()).find(|&i| is(&factors[i - 1], ["Jc_dot", "Jċ"]) && is(&factors[i], ["qd", "q̇"]))
        {
            let qd = factors.remove(i);
            let both = &mut factors[i - 1];
            both.what = What::Name(super::infer::CONSTRAINT_BIAS.to_owned(), None);
            both.span.end = qd.span.end;
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
            } else if self.take(&Token::Caret) {
                let span = self.here();
                if self.take(&Token::Times) || self.take(&Token::Name("T".to_owned())) {
                    What::Adjoint(boxed(ast))
                } else if self.take(&Token::Half) {
                    What::Root(boxed(ast))
                } else if self.take(&Token::Minus) {
                    if self.take(&Token::Half) {
                        let inner = What::Root(boxed(ast));
                        let span = start..self.last_end();
                        ast = Ast {
                            what: What::Inverse(Box::new(Ast {
                                what: inner,
                                span: span.clone(),
                            })),
                            span,
                        };
                        continue;
                    }
                    match self.whole_number()? {
                        1 => What::Inverse(boxed(ast)),
                        _ => {
                            let hint = "write inv(…) and a power of that";
                            return Err(Fault::at(span, "only ^-1 is a negative power", hint));
                        }
                    }
                } else {
                    What::Power(boxed(ast), self.whole_number()?)
                }
            } else {
                return Ok(ast);
            };
            let span = start..self.last_end();
            ast = Ast { what, span };
        }
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
        let problem = "`^` must be followed by `*`, `T`, `-1` or a whole number";
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
            Token::Name(name) if FUNCTIONS.contains(&&name[..]) && self.take(&Token::Open) => {
                let inner = Box::new(self.sum()?);
                self.close(&span)?;
                match &name[..] {
                    "inv" => What::Inverse(inner),
                    "pinv" => What::Pseudo(inner),
                    "diag" => What::Diagonal(inner),
                    _ => What::Root(inner),
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

const SPACES: &str = "the spaces are joint, motion, force, tip, frame, constraint and number";

/// What is written before parentheses.
pub(crate) const FUNCTIONS: [&str; 4] = ["inv", "sqrt", "pinv", "diag"];
