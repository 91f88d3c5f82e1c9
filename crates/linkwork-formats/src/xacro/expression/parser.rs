//! Expressions as trees.

use super::lexer::{Fault, Token, split};
use crate::source::shortened;
use crate::xacro::value::Value;

/// Expressions nested deeper than this are refused.
const DEEPEST: usize = 60;

/// A part of an expression, and where it starts.
#[derive(Debug)]
pub(in crate::xacro) struct Node {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Literal(Value),
    Name(String),
    /// `-x`, `+x`, `not x`.
    Unary(&'static str, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
    /// `a < b <= c`.
    Compare(Box<Node>, Vec<(&'static str, Node)>),
    And(Vec<Node>),
    Or(Vec<Node>),
    /// What, whether, else what.
    Choice(Box<Node>, Box<Node>, Box<Node>),
    Index(Box<Node>, Box<Node>),
    Slice(Box<Node>, [Option<Box<Node>>; 3]),
    Attribute(Box<Node>, String),
    Call(Box<Node>, Vec<Node>, Vec<(String, Node)>),
    List(Vec<Node>),
    Tuple(Vec<Node>),
    Dict(Vec<(Node, Node)>),
    Each(Box<Each>),
    /// Pieces of text, and values with how they are written.
    Format(Vec<Written>),
}

/// A piece of text, and a value that follows it with how it is written.
pub(super) type Written = (String, Option<(Node, String)>);

/// `[key: item for names in over if when]`; a dictionary has keys.
#[derive(Debug)]
pub(super) struct Each {
    pub(super) key: Option<Node>,
    pub(super) item: Node,
    pub(super) names: Vec<String>,
    pub(super) over: Node,
    pub(super) when: Option<Node>,
}

/// Parses an expression.
pub(in crate::xacro) fn parse(text: &str) -> Result<Node, Fault> {
    inner(text, 0)
}

fn inner(text: &str, depth: usize) -> Result<Node, Fault> {
    let mut p = Parser {
        tokens: split(text)?,
        next: 0,
        end: text.len(),
        depth,
    };
    if p.tokens.is_empty() {
        return Err((0, "the expression is empty".to_owned()));
    }
    let node = p.listed()?;
    match p.tokens.get(p.next) {
        None => Ok(node),
        Some((token, at)) => Err((*at, format!("{} is not expected here", shown(token)))),
    }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Int(i) => format!("`{i}`"),
        Token::Float(x) => format!("`{x}`"),
        Token::Text(s) | Token::Format(s) => format!("the string `{}`", shortened(s)),
        Token::Name(s) => format!("`{}`", shortened(s)),
        Token::Sign(s) => format!("`{s}`"),
    }
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    end: usize,
    depth: usize,
}

type Parsed = Result<Node, Fault>;

fn node(at: usize, kind: Kind) -> Node {
    Node { at, kind }
}

impl Parser {
    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |t| t.1)
    }

    fn peek(&self, sign: &str) -> bool {
        match self.tokens.get(self.next) {
            Some((Token::Sign(s), _)) => *s == sign,
            Some((Token::Name(s), _)) => s == sign,
            _ => false,
        }
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.peek(sign);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), Fault> {
        if self.take(sign) {
            return Ok(());
        }
        Err((self.at(), format!("`{sign}` is missing here")))
    }

    /// One of several signs.
    fn any(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let found = signs.iter().find(|s| self.peek(s)).copied();
        self.next += usize::from(found.is_some());
        found
    }

    /// Expressions with commas between them are a tuple.
    fn listed(&mut self) -> Parsed {
        let at = self.at();
        let first = self.choice()?;
        if !self.peek(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take(",") {
            if self.next >= self.tokens.len() || self.peek(")") {
                break;
            }
            items.push(self.choice()?);
        }
        Ok(node(at, Kind::Tuple(items)))
    }

    fn choice(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((self.at(), format!("the expression is nested more than {DEEPEST} deep")));
        }
        let at = self.at();
        if self.peek("lambda") {
            return Err((at, "`lambda` is not supported".to_owned()));
        }
        let value = self.or()?;
        let result = if self.take("if") {
            let when = self.or()?;
            self.expect("else")?;
            let other = self.choice()?;
            node(at, Kind::Choice(Box::new(value), Box::new(when), Box::new(other)))
        } else {
            value
        };
        self.depth -= 1;
        Ok(result)
    }

    fn or(&mut self) -> Parsed {
        let at = self.at();
        let mut all = vec![self.and()?];
        while self.take("or") {
            all.push(self.and()?);
        }
        Ok(if all.len() == 1 {
            all.remove(0)
        } else {
            node(at, Kind::Or(all))
        })
    }

    fn and(&mut self) -> Parsed {
        let at = self.at();
        let mut all = vec![self.not()?];
        while self.take("and") {
            all.push(self.not()?);
        }
        Ok(if all.len() == 1 {
            all.remove(0)
        } else {
            node(at, Kind::And(all))
        })
    }

    fn not(&mut self) -> Parsed {
        let at = self.at();
        let mut count = 0;
        while self.take("not") {
            count += 1;
        }
        let mut value = self.comparison()?;
        for _ in 0..count.min(DEEPEST) {
            value = node(at, Kind::Unary("not", Box::new(value)));
        }
        Ok(value)
    }

    fn comparison(&mut self) -> Parsed {
        let at = self.at();
        let first = self.sum()?;
        let mut rest = Vec::new();
        loop {
            let sign = if let Some(sign) = self.any(&["<=", ">=", "==", "!=", "<", ">", "in"]) {
                sign
            } else if self.take("is") {
                if self.take("not") { "is not" } else { "is" }
            } else if self.peek("not") {
                self.next += 1;
                self.expect("in")?;
                "not in"
            } else {
                break;
            };
            rest.push((sign, self.sum()?));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            node(at, Kind::Compare(Box::new(first), rest))
        })
    }

    fn sum(&mut self) -> Parsed {
        let at = self.at();
        let mut value = self.product()?;
        let mut length = 0;
        while let Some(sign) = self.any(&["+", "-"]) {
            let other = self.product()?;
            value = node(at, Kind::Binary(sign, Box::new(value), Box::new(other)));
            length += 1;
            self.bounded(length)?;
        }
        Ok(value)
    }

    /// A long row of operators is a deep tree.
    fn bounded(&self, length: usize) -> Result<(), Fault> {
        const LONGEST: usize = 200;
        if length > LONGEST {
            return Err((self.at(), format!("more than {LONGEST} terms follow each other")));
        }
        Ok(())
    }

    fn product(&mut self) -> Parsed {
        let at = self.at();
        let mut value = self.signed()?;
        let mut length = 0;
        while let Some(sign) = self.any(&["*", "/", "//", "%"]) {
            let other = self.signed()?;
            value = node(at, Kind::Binary(sign, Box::new(value), Box::new(other)));
            length += 1;
            self.bounded(length)?;
        }
        Ok(value)
    }

    fn signed(&mut self) -> Parsed {
        let at = self.at();
        let Some(sign) = self.any(&["-", "+"]) else {
            return self.power();
        };
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((at, format!("the expression is nested more than {DEEPEST} deep")));
        }
        let value = self.signed()?;
        self.depth -= 1;
        Ok(node(at, Kind::Unary(sign, Box::new(value))))
    }

    fn power(&mut self) -> Parsed {
        let at = self.at();
        let base = self.primary()?;
        if !self.take("**") {
            return Ok(base);
        }
        let exponent = self.signed()?;
        Ok(node(at, Kind::Binary("**", Box::new(base), Box::new(exponent))))
    }

    fn primary(&mut self) -> Parsed {
        let at = self.at();
        let mut value = self.atom()?;
        let mut length = 0;
        loop {
            length += 1;
            self.bounded(length)?;
            if self.take(".") {
                let Some((Token::Name(name), _)) = self.tokens.get(self.next) else {
                    return Err((self.at(), "a name is missing after `.`".to_owned()));
                };
                value = node(at, Kind::Attribute(Box::new(value), name.clone()));
                self.next += 1;
            } else if self.take("[") {
                value = self.index(at, value)?;
            } else if self.take("(") {
                value = self.call(at, value)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn index(&mut self, at: usize, value: Node) -> Parsed {
        let mut parts = [None, None, None];
        let mut colons = 0;
        while !self.peek("]") {
            if self.take(":") {
                colons += 1;
                if colons > 2 {
                    return Err((self.at(), "a slice has two colons at most".to_owned()));
                }
            } else {
                let part = if colons == 0 { self.listed()? } else { self.choice()? };
                if parts[colons].replace(Box::new(part)).is_some() {
                    return Err((self.at(), "`]` is missing here".to_owned()));
                }
            }
        }
        self.expect("]")?;
        match (colons, &mut parts) {
            (0, [index, ..]) => match index.take() {
                Some(index) => Ok(node(at, Kind::Index(Box::new(value), index))),
                None => Err((self.at(), "an index is missing".to_owned())),
            },
            _ => Ok(node(at, Kind::Slice(Box::new(value), parts))),
        }
    }

    fn call(&mut self, at: usize, value: Node) -> Parsed {
        let (mut given, mut named) = (Vec::new(), Vec::new());
        while !self.peek(")") {
            let assigned = matches!(self.tokens.get(self.next + 1), Some((Token::Sign("="), _)));
            if let Some((Token::Name(name), _)) = self.tokens.get(self.next)
                && assigned
            {
                let name = name.clone();
                self.next += 2;
                named.push((name, self.choice()?));
            } else {
                let item = self.choice()?;
                let item = if self.peek("for") {
                    self.each(at, None, item)?
                } else {
                    item
                };
                given.push(item);
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(node(at, Kind::Call(Box::new(value), given, named)))
    }

    /// What follows `for` in a comprehension.
    fn each(&mut self, at: usize, key: Option<Node>, item: Node) -> Parsed {
        self.expect("for")?;
        let mut names = Vec::new();
        let bracketed = self.take("(");
        loop {
            match self.tokens.get(self.next) {
                Some((Token::Name(name), _)) if name != "in" => names.push(name.clone()),
                _ => return Err((self.at(), "a name is missing after `for`".to_owned())),
            }
            self.next += 1;
            if !self.take(",") {
                break;
            }
        }
        if bracketed {
            self.expect(")")?;
        }
        self.expect("in")?;
        let over = self.or()?;
        let when = if self.take("if") { Some(self.or()?) } else { None };
        if self.peek("for") {
            return Err((self.at(), "only one `for` is supported".to_owned()));
        }
        let each = Each {
            key,
            item,
            names,
            over,
            when,
        };
        Ok(node(at, Kind::Each(Box::new(each))))
    }

    fn atom(&mut self) -> Parsed {
        let at = self.at();
        let Some((token, _)) = self.tokens.get(self.next).cloned() else {
            return Err((at, "the expression ends here, where a value is missing".to_owned()));
        };
        self.next += 1;
        let kind = match token {
            Token::Int(i) => Kind::Literal(Value::Int(i)),
            Token::Float(x) => Kind::Literal(Value::Float(x)),
            Token::Format(text) => Kind::Format(self.format(at, &text)?),
            Token::Text(mut text) => {
                // Strings beside each other are one.
                while let Some((Token::Text(more), _)) = self.tokens.get(self.next) {
                    text += more;
                    self.next += 1;
                }
                Kind::Literal(Value::text(text))
            }
            Token::Name(name) => match &*name {
                "True" => Kind::Literal(Value::Bool(true)),
                "False" => Kind::Literal(Value::Bool(false)),
                "None" => Kind::Literal(Value::None),
                "for" | "in" | "if" | "else" | "and" | "or" | "is" => {
                    return Err((at, format!("`{name}` is not expected here")));
                }
                _ => Kind::Name(name),
            },
            Token::Sign("(") => {
                if self.take(")") {
                    return Ok(node(at, Kind::Tuple(Vec::new())));
                }
                let inner = self.listed()?;
                let inner = if self.peek("for") {
                    self.each(at, None, inner)?
                } else {
                    inner
                };
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Sign("[") => self.list(at)?,
            Token::Sign("{") => self.dict(at)?,
            other => return Err((at, format!("{} is not expected here", shown(&other)))),
        };
        Ok(node(at, kind))
    }

    fn list(&mut self, at: usize) -> Result<Kind, Fault> {
        let mut items = Vec::new();
        while !self.peek("]") {
            let item = self.choice()?;
            if self.peek("for") && items.is_empty() {
                let each = self.each(at, None, item)?;
                self.expect("]")?;
                return Ok(each.kind);
            }
            items.push(item);
            if !self.take(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(Kind::List(items))
    }

    fn dict(&mut self, at: usize) -> Result<Kind, Fault> {
        let mut items = Vec::new();
        while !self.peek("}") {
            let key = self.choice()?;
            self.expect(":")?;
            let item = self.choice()?;
            if self.peek("for") && items.is_empty() {
                let each = self.each(at, Some(key), item)?;
                self.expect("}")?;
                return Ok(each.kind);
            }
            items.push((key, item));
            if !self.take(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Kind::Dict(items))
    }

    /// The pieces of an f-string.
    fn format(&self, at: usize, text: &str) -> Result<Vec<Written>, Fault> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(i) = rest.find(['{', '}']) {
            plain += &rest[..i];
            let (sign, after) = (&rest[i..=i], &rest[i + 1..]);
            if after.starts_with(sign) {
                plain += sign;
                rest = &after[1..];
                continue;
            }
            let Some(end) = after.find('}').filter(|_| sign == "{") else {
                return Err((at, "a brace of an f-string has no partner".to_owned()));
            };
            let (code, how) = after[..end].split_once(':').unwrap_or((&after[..end], ""));
            let value = inner(code, self.depth + 1).map_err(|(_, message)| (at, message))?;
            pieces.push((std::mem::take(&mut plain), Some((value, how.to_owned()))));
            rest = &after[end + 1..];
        }
        pieces.push((plain + rest, None));
        Ok(pieces)
    }
}
