//! A text and its lines.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longer lines are cut in reports.
const SHOWN: usize = 160;
/// Columns count characters up to here, and bytes beyond: no file can make counting slow.
const COUNTED: usize = 4096;

/// Larger files are refused.
pub(crate) const LARGEST: usize = 1 << 30;

/// The bytes of a file; no more than can be used, even of one without end.
pub(crate) fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    // One more tells that there is too much.
    let most = if length > LARGEST as u64 { 0 } else { LARGEST as u64 + 1 };
    file.take(most).read_to_end(&mut bytes)?;
    if most == 0 || bytes.len() > LARGEST {
        return Err(std::io::Error::other("it has more than a gigabyte"));
    }
    Ok(bytes)
}

/// A text with a name and its lines.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) text: String,
    /// Where each line starts.
    starts: Vec<u32>,
}

/// A byte of one of the texts that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Spot {
    /// Which text; the first is zero.
    pub(crate) source: u32,
    pub(crate) offset: u32,
}

/// What a finding is about, and where that stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'a> {
    pub(crate) spot: Spot,
    /// Link, joint …
    pub(crate) what: &'a str,
    pub(crate) name: &'a str,
}

impl<'a> At<'a> {
    /// The file as a whole.
    pub(crate) const FILE: At<'static> = At {
        spot: Spot {
            source: 0,
            offset: u32::MAX,
        },
        what: "",
        name: "",
    };

    pub(crate) fn new(spot: Spot, what: &'a str, name: &'a str) -> Self {
        Self { spot, what, name }
    }

    /// The same thing, at another spot.
    pub(crate) fn seen_at(self, spot: Spot) -> Self {
        Self { spot, ..self }
    }
}

/// A line, a column and the line itself.
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) excerpt: String,
}

impl Source {
    pub(crate) fn new(file: &str, text: String) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let mut starts = vec![0];
        starts.extend(ends.map(|(i, _)| i as u32 + 1));
        Self {
            file: file.to_owned(),
            text,
            starts,
        }
    }

    /// The place of a byte.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&s| s as usize <= offset);
        let start = self.starts[line - 1] as usize;
        let column = match offset - start {
            far if far > COUNTED => far + 1,
            _ => self.text[start..offset].chars().count() + 1,
        };
        let end = self.starts.get(line).map_or(self.text.len(), |&s| s as usize);
        Position {
            line,
            column,
            excerpt: self.excerpt(start, end, column),
        }
    }

    fn excerpt(&self, start: usize, end: usize, column: usize) -> String {
        if column > COUNTED {
            return String::new();
        }
        let line = self.text[start..end].trim_end_matches(['\r', '\n']);
        let shown: String = line.chars().take(SHOWN.max(column + 40)).collect();
        shown.replace(|c: char| c.is_control(), " ")
    }
}

/// The beginning of a text that may be of any length, without control characters.
pub(crate) fn shortened(text: &str) -> String {
    const LENGTH: usize = 60;
    let mut short: String = text
        .chars()
        .take(LENGTH)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.len() > LENGTH && text.chars().nth(LENGTH).is_some() {
        short.push('…');
    }
    short
}

/// The beginning of a text, cut at a number of characters.
pub(crate) fn shortened_to(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
