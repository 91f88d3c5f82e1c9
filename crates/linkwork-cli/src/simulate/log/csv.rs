//! Comma-separated values: a line of names, then a line for every state.

use super::{Sink, Stream};
use crate::simulate::contact_run::Bearing;
use crate::simulate::record::Record;
use anyhow::Result;
use std::io::{SeekFrom, Write};

/// Lines of text that go to a file some at a time, none of them in part: not even where the disk is full.
pub(crate) struct Lines<W> {
    out: W,
    /// Whole lines that are to be written.
    text: Vec<u8>,
    /// Bytes that are in the file.
    written: u64,
}

/// So many bytes are written at once.
const AT_ONCE: usize = 1 << 18;

impl<W: Sink> Lines<W> {
    pub(crate) fn new(out: W) -> Self {
        let (text, written) = (Vec::new(), 0);
        Self { out, text, written }
    }

    /// Where lines are added.
    pub(crate) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Writes what there is if that is much, or in any case.
    pub(crate) fn go_on(&mut self, in_any_case: bool) -> std::io::Result<()> {
        if self.text.is_empty() || self.text.len() < AT_ONCE && !in_any_case {
            return Ok(());
        }
        let done = self.out.write_all(&self.text).and_then(|()| self.out.flush());
        let taken = match &done {
            Ok(()) => self.text.len(),
            Err(_) => self.cut().unwrap_or(0),
        };
        self.text.drain(..taken);
        self.written += taken as u64;
        done
    }

    /// After a write that failed: leaves the lines that are whole, and says how many bytes of the text they are.
    fn cut(&mut self) -> std::io::Result<usize> {
        let there = self.out.seek(SeekFrom::End(0))?.saturating_sub(self.written) as usize;
        let there = &self.text[..there.min(self.text.len())];
        let whole = there.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        self.out.cut(self.written + whole as u64)?;
        self.out.seek(SeekFrom::End(0))?;
        Ok(whole)
    }
}

pub(super) struct Csv<W> {
    lines: Lines<W>,
    width: usize,
}

impl<W: Sink> Csv<W> {
    pub(super) fn new(out: W, form: &Record) -> Result<Self> {
        let mut lines = Lines::new(out);
        let names = form.quantities.iter().flat_map(|q| q.columns());
        let names: Vec<String> = names.map(|name| quoted(&name)).collect();
        writeln!(lines.text(), "{}", names.join(","))?;
        let width = names.len();
        Ok(Self { lines, width })
    }
}

impl<W: Sink> Stream for Csv<W> {
    fn add(&mut self, rows: &[f64], _: &[Vec<Bearing>]) -> Result<()> {
        let text = self.lines.text();
        for row in rows.chunks(self.width) {
            for x in row {
                // The shortest digits that read back as the same number.
                serde_json::to_writer(&mut *text, x)?;
                text.push(b',');
            }
            text.pop();
            text.push(b'\n');
        }
        Ok(self.lines.go_on(false)?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.lines.go_on(true)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.lines.go_on(true)?)
    }
}

/// A field with a comma or a quote in it, in quotes.
pub(crate) fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sink::tests::Failing;
    use super::*;
    use linkwork::model::examples;

    #[test]
    fn lines_are_there_however_many_writes_succeed() {
        let form = Record::new(&examples::double_pendulum(), &[], &[]);
        let write = |writes: Option<usize>| {
            let sink = Failing::after(writes);
            let mut file = Box::new(Csv::new(sink.clone(), &form).unwrap());
            let mut flushed = 0;
            for i in 0..40 {
                let row: Vec<f64> = (0..form.width()).map(|k| (i * 1000 + k) as f64).collect();
                if file.add(&row, &[]).and_then(|()| file.flush()).is_err() {
                    return (sink.taken(), flushed, true);
                }
                flushed += 1;
            }
            let failed = file.finish().is_err();
            (sink.taken(), flushed, failed)
        };
        let (whole, rows, failed) = write(None);
        assert!(!failed && rows == 40);
        let lines = |bytes: &[u8]| bytes.iter().filter(|b| **b == b'\n').count();
        assert_eq!(lines(&whole), 41);
        for writes in 1..45 {
            let (bytes, rows, failed) = write(Some(writes));
            assert!(whole.starts_with(&bytes), "{writes}");
            assert!(bytes.is_empty() || bytes.ends_with(b"\n"), "{writes}: lines are whole");
            assert_eq!(failed, bytes.len() < whole.len(), "{writes}: a loss is an error");
            let told = lines(&bytes).saturating_sub(1);
            assert!(told == rows || told == rows + 1, "{writes}: {told} of {rows}");
        }
    }
}
