//! Comma-separated values: a line of names, then a line for every state.

use super::Stream;
use crate::simulate::record::Record;
use crate::simulate::touching::Bearing;
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
    fn add(&mut self, rows: &[f64], _: &[Vec<Bearing>]) -> Result<()> {
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
            assert_eq!(failed, bytes.len() < whole.len(), "{writes}: a loss is an error");
            let told = lines(&bytes).saturating_sub(1);
            assert!(told == rows || told == rows + 1, "{writes}: {told} of {rows}");
        }
    }
}
