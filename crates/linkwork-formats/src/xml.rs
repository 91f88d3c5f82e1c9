//! XML as a flat tree: elements in the order of the file, each knowing where its subtree ends.
//!
//! Nothing recurses, and memory is a small multiple of the file's. Document types, and with them entities of the file's
//! own, are refused.

use crate::report::Findings;
use crate::source::{At, LARGEST, Source, Spot, shortened, shortened_to};
use quick_xml::Reader;
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;
use std::rc::Rc;

/// Elements nested deeper than this are refused.
const DEEPEST: usize = 10_000;
/// Elements with more attributes than this are refused.
const MOST_ATTRIBUTES: usize = 256;

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Document {
    source: Rc<Source>,
    /// Which text it is, for findings.
    spot: Spot,
    nodes: Vec<Node>,
    attributes: Vec<Attribute>,
    /// Where each element comes from, if not from the text itself.
    origins: Vec<Spot>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Where its `<` stands.
    at: u32,
    name: u32,
    attributes: (u32, u32),
    /// The first node after its subtree.
    end: u32,
    /// Its first piece of text.
    text: Span,
}

impl Node {
    /// Takes in a piece of text if it is the first or goes on from there, as it does after `&amp;` and its like.
    fn grow(&mut self, piece: Span, blank: bool) {
        if self.text.length == 0 {
            if !blank {
                self.text = piece;
            }
        } else if self.text.start + self.text.length == piece.start {
            self.text.length += piece.length;
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    length: u32,
}

#[derive(Clone, Copy, Debug)]
struct Attribute {
    name: Span,
    value: Span,
}

/// An element of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    document: &'a Document,
    index: u32,
}

impl Document {
    /// Parses a text, or says why that cannot be done.
    pub(crate) fn parse(file: &str, bytes: &[u8], findings: &mut Findings) -> Option<Self> {
        let source = Rc::new(decode(file, bytes, findings)?);
        let spot = findings.source(source.clone());
        let (mut nodes, mut attributes) = (Vec::new(), Vec::new());
        match read(&source, &mut nodes, &mut attributes) {
            Ok(()) => Some(Self {
                source,
                spot,
                nodes,
                attributes,
                origins: Vec::new(),
            }),
            Err((offset, code, message, advice)) => {
                let offset = offset as u32;
                findings.error(At::new(Spot { offset, ..spot }, "", ""), code, message, advice);
                None
            }
        }
    }

    /// Parses a text that was made of others; its elements stand where they come from.
    pub(crate) fn expanded(file: &str, text: String, origins: Vec<Spot>, findings: &mut Findings) -> Option<Self> {
        let source = Rc::new(Source::new(file, text));
        let (mut nodes, mut attributes) = (Vec::new(), Vec::new());
        let first = origins.first().copied().unwrap_or_default();
        if let Err((_, code, message, advice)) = read(&source, &mut nodes, &mut attributes) {
            findings.error(At::new(first, "", ""), code, format!("expanded, {message}"), advice);
            return None;
        }
        Some(Self {
            source,
            spot: first,
            nodes,
            attributes,
            origins,
        })
    }

    /// The whole text.
    pub(crate) fn into_text(self) -> String {
        Rc::try_unwrap(self.source).map_or_else(|shared| shared.text.clone(), |own| own.text)
    }

    /// The name of its file.
    pub(crate) fn file(&self) -> &str {
        &self.source.file
    }

    /// An element by its number.
    pub(crate) fn element(&self, index: u32) -> Element<'_> {
        Element { document: self, index }
    }

    /// Where a byte of an element stands.
    fn spot(&self, element: u32, offset: u32) -> Spot {
        let own = Spot { offset, ..self.spot };
        self.origins.get(element as usize).copied().unwrap_or(own)
    }

    pub(crate) fn root(&self) -> Element<'_> {
        Element {
            document: self,
            index: 0,
        }
    }

    /// All elements, in the order of the file.
    pub(crate) fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        let all = 0..self.nodes.len() as u32;
        all.map(|index| Element { document: self, index })
    }

    fn get(&self, span: Span) -> &str {
        &self.source.text[span.start as usize..(span.start + span.length) as usize]
    }
}

/// UTF-8, without a byte order mark.
pub(crate) fn decode(file: &str, bytes: &[u8], findings: &mut Findings) -> Option<Source> {
    let mut whole = |message: &str, advice: &str| {
        let spot = findings.source(Rc::new(Source::new(file, String::new())));
        let code = "encoding";
        findings.error(
            At::FILE.seen_at(Spot {
                offset: u32::MAX,
                ..spot
            }),
            code,
            message,
            advice,
        );
        None
    };
    if bytes.len() > LARGEST {
        return whole("the file has more than a gigabyte", "split it");
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return whole("the file is UTF-16", "save it as UTF-8");
    }
    let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(Source::new(file, text.to_owned())),
        Err(problem) => {
            let at = problem.valid_up_to();
            let sound = String::from_utf8_lossy(&bytes[..at]).into_owned();
            let message = format!("byte {at} ({:#04x}) is not UTF-8", bytes[at]);
            let spot = findings.source(Rc::new(Source::new(file, sound)));
            let spot = Spot {
                offset: at as u32,
                ..spot
            };
            findings.error(At::new(spot, "", ""), "encoding", message, "save the file as UTF-8");
            None
        }
    }
}

type Problem = (usize, &'static str, String, &'static str);

/// Fills the arrays; the first thing that is wrong ends it.
fn read(source: &Source, nodes: &mut Vec<Node>, attributes: &mut Vec<Attribute>) -> Result<(), Problem> {
    let text = source.text.as_str();
    let mut reader = Reader::from_str(text);
    let mut open: Vec<u32> = Vec::new();
    loop {
        let at = reader.buffer_position() as usize;
        let event = reader.read_event().map_err(|problem| {
            let message = format!(
                "this is not well-formed XML: {}",
                shortened_to(&problem.to_string(), 200)
            );
            let advice = "repair the markup here or before";
            (reader.error_position() as usize, "xml", message, advice)
        })?;
        match event {
            Event::Start(tag) => {
                if open.len() >= DEEPEST {
                    let message = format!("elements are nested more than {DEEPEST} deep");
                    return Err((at, "too-deep", message, "flatten the file"));
                }
                begin(text, at, &tag, nodes, attributes, open.is_empty())?;
                open.push(nodes.len() as u32 - 1);
            }
            Event::Empty(tag) => begin(text, at, &tag, nodes, attributes, open.is_empty())?,
            Event::End(_) => {
                if let Some(node) = open.pop() {
                    nodes[node as usize].end = nodes.len() as u32;
                }
            }
            Event::Text(piece) => {
                if let Some(&node) = open.last() {
                    let blank = piece.trim().is_empty();
                    nodes[node as usize].grow(span(text, &piece), blank);
                } else if !piece.trim().is_empty() {
                    let message = format!("text outside of any element: `{}`", shortened(piece.trim()));
                    return Err((
                        at,
                        "xml",
                        message,
                        "remove it; a robot file is XML with one root element",
                    ));
                }
            }
            Event::DocType(_) => {
                let message = "the file declares a document type, which may define or fetch entities".to_owned();
                return Err((at, "doctype", message, "remove the <!DOCTYPE …> declaration"));
            }
            Event::GeneralRef(name) => {
                let known = name.starts_with('#') || ["lt", "gt", "amp", "apos", "quot"].contains(&&*name);
                if !known {
                    let message = format!("the entity `&{};` is not defined", shortened(&name));
                    return Err((at, "entity", message, "write the text itself"));
                }
                if let Some(&node) = open.last() {
                    let length = (reader.buffer_position() as usize - at) as u32;
                    let start = at as u32;
                    nodes[node as usize].grow(Span { start, length }, false);
                }
            }
            Event::Eof => break,
            Event::CData(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
    if let Some(&node) = open.last() {
        let node = &nodes[node as usize];
        let name = &text[node.at as usize + 1..][..node.name as usize];
        let message = format!("the file ends inside <{}>", shortened(name));
        return Err((
            node.at as usize,
            "truncated",
            message,
            "the file was cut off; get it whole",
        ));
    }
    if nodes.is_empty() {
        let message = "the file holds no XML element".to_owned();
        return Err((0, "empty", message, "give a robot description"));
    }
    Ok(())
}

/// Adds an element.
fn begin(
    text: &str,
    at: usize,
    tag: &BytesStart<'_>,
    nodes: &mut Vec<Node>,
    attributes: &mut Vec<Attribute>,
    outermost: bool,
) -> Result<(), Problem> {
    if outermost && !nodes.is_empty() {
        let message = "a second root element begins here".to_owned();
        return Err((at, "xml", message, "a file holds one root element; remove the others"));
    }
    let first = attributes.len();
    for found in tag.attributes().with_checks(false) {
        let found = found.map_err(|problem| {
            let (offset, message) = attribute_problem(&problem);
            (
                at + offset,
                "xml",
                message.to_owned(),
                "write attributes as name=\"value\"",
            )
        })?;
        let name = span(text, found.key.as_ref());
        attributes.push(Attribute {
            name,
            value: span(text, &found.value),
        });
        if attributes.len() - first > MOST_ATTRIBUTES {
            let message = format!("the element has more than {MOST_ATTRIBUTES} attributes");
            return Err((at, "xml", message, "remove some"));
        }
        let earlier = &attributes[first..attributes.len() - 1];
        let word = |span: Span| &text[span.start as usize..(span.start + span.length) as usize];
        if earlier.iter().any(|a| word(a.name) == word(name)) {
            let message = format!("the attribute `{}` is given twice", shortened(word(name)));
            return Err((name.start as usize, "xml", message, "remove one of them"));
        }
    }
    nodes.push(Node {
        at: at as u32,
        name: tag.name().as_ref().len() as u32,
        attributes: (first as u32, attributes.len() as u32),
        end: nodes.len() as u32 + 1,
        text: Span::default(),
    });
    Ok(())
}

fn attribute_problem(problem: &AttrError) -> (usize, &'static str) {
    match *problem {
        AttrError::ExpectedEq(at) => (at, "an attribute without `=`"),
        AttrError::ExpectedValue(at) => (at, "an attribute without a value"),
        AttrError::UnquotedValue(at) => (at, "an attribute's value without quotes"),
        AttrError::ExpectedQuote(at, _) => (at, "an attribute's value without its closing quote"),
        AttrError::Duplicated(at, _) => (at, "an attribute is given twice"),
    }
}

/// Where a piece of the text stands in it.
fn span(text: &str, piece: &str) -> Span {
    let start = piece.as_ptr() as usize - text.as_ptr() as usize;
    Span {
        start: start as u32,
        length: piece.len() as u32,
    }
}

impl<'a> Element<'a> {
    fn node(self) -> &'a Node {
        &self.document.nodes[self.index as usize]
    }

    /// Its name as written.
    pub(crate) fn name(self) -> &'a str {
        let node = self.node();
        self.document.get(Span {
            start: node.at + 1,
            length: node.name,
        })
    }

    /// The elements directly in it.
    pub(crate) fn children(self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let (document, end) = (self.document, self.node().end);
        let mut next = self.index + 1;
        core::iter::from_fn(move || {
            if next >= end {
                return None;
            }
            let child = Element { document, index: next };
            next = child.node().end;
            Some(child)
        })
    }

    /// The elements of a name directly in it.
    pub(crate) fn children_named(self, name: &str) -> impl Iterator<Item = Element<'a>> + use<'a, '_> {
        self.children().filter(move |c| c.name() == name)
    }

    /// The first element of a name directly in it.
    pub(crate) fn child(self, name: &str) -> Option<Element<'a>> {
        self.children_named(name).next()
    }

    /// An attribute, with `&amp;` and its like resolved; entities that are not known stay as they are.
    pub(crate) fn attribute(self, name: &str) -> Option<Cow<'a, str>> {
        let found = self.find(name)?;
        let raw = self.document.get(found.value);
        Some(quick_xml::escape::unescape(raw).unwrap_or(Cow::Borrowed(raw)))
    }

    /// The names of its attributes, and where they stand.
    pub(crate) fn attributes(self) -> impl Iterator<Item = (&'a str, Spot)> {
        let (first, end) = self.node().attributes;
        let all = &self.document.attributes[first as usize..end as usize];
        all.iter().map(move |a| {
            let spot = self.document.spot(self.index, a.name.start);
            (self.document.get(a.name), spot)
        })
    }

    fn find(self, name: &str) -> Option<&'a Attribute> {
        let (first, end) = self.node().attributes;
        let all = &self.document.attributes[first as usize..end as usize];
        all.iter().find(|a| self.document.get(a.name) == name)
    }

    /// Its first piece of text, trimmed.
    pub(crate) fn text(self) -> &'a str {
        self.document.get(self.node().text).trim()
    }

    /// Its first piece of text, trimmed, with `&amp;` and its like resolved.
    pub(crate) fn content(self) -> Cow<'a, str> {
        let raw = self.text();
        quick_xml::escape::unescape(raw).unwrap_or(Cow::Borrowed(raw))
    }

    /// Where its text stands, or the element if it has none.
    pub(crate) fn spot_of_text(self) -> Spot {
        let node = self.node();
        let text = self.document.get(node.text);
        let lead = (text.len() - text.trim_start().len()) as u32;
        let offset = if node.text.length == 0 {
            node.at
        } else {
            node.text.start + lead
        };
        self.document.spot(self.index, offset)
    }

    /// Its number in the document.
    pub(crate) fn index(self) -> u32 {
        self.index
    }

    /// What and where it is.
    pub(crate) fn at(self) -> At<'a> {
        let name = self.find("name").map_or("", |a| self.document.get(a.value));
        At::new(self.spot(), self.name(), name)
    }

    /// Where its `<` stands.
    pub(crate) fn spot(self) -> Spot {
        self.document.spot(self.index, self.node().at)
    }

    /// Where an attribute's value stands, or the element if there is none.
    pub(crate) fn spot_of(self, attribute: &str) -> Spot {
        let offset = self.find(attribute).map_or(self.node().at, |a| a.value.start);
        self.document.spot(self.index, offset)
    }
}
