//! Comma-separated values: a line of names, then a line for every state.

use super::Stream;
use crate::simulate::record::Record;
use anyhow::Result;
use std::io::{BufWriter, Write};

pub(super) struct Csv<W: Write> {
    out: BufWriter<W>,
    width: usize,
    text: Vec<u8>,
}

impl<W: Write> Csv<W> {
    pub(super) fn new(out: W, form: &Record) -> Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 18, out);
        let names = form.quantities.iter().flat_map(|q| q.columns());
        let names: Vec<String> = names.map(|name| quoted(&name)).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(Self {
            out,
            width: names.len(),
            text: Vec::new(),
        })
    }
}

impl<W: Write + Send> Stream for Csv<W> {
    fn add(&mut self, rows: &[f64]) -> Result<()> {
        self.text.clear();
        for row in rows.chunks(self.width) {
            for x in row {
                // The shortest digits that read back as the same number.
                serde_json::to_writer(&mut self.text, x)?;
                self.text.push(b',');
            }
            self.text.pop();
            self.text.push(b'\n');
        }
        Ok(self.out.write_all(&self.text)?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

/// A column's name; quoted where the joint's has commas or quotes in it.
/// A field with a comma or a quote in it, in quotes.
pub(crate) fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
