//! NumPy's archive: an array for every quantity, and one with the names of its columns.
//!
//! An archive holds its arrays one after another, so that it cannot grow. Until the run ends rows go to a file that can: an
//! array of NumPy with a field for every quantity, whose head says how many rows there are and is written over as they come.

use super::{Sink, Stream};
use crate::npz::{Archive, head};
use crate::numbers::write_numbers;
use crate::simulate::contact_run::Bearing;
use crate::simulate::record::{Quantity, Record};
use anyhow::Result;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, SeekFrom};
use std::path::{Path, PathBuf};

pub(super) struct Npz<W> {
    rows: Rows<W>,
    form: Record,
    /// Where the archive is put together.
    new: PathBuf,
}

impl<W: Sink> Npz<W> {
    pub(super) fn new(out: W, form: &Record, new: &Path) -> Result<Self> {
        Ok(Self {
            rows: Rows::new(out, form)?,
            form: form.empty(),
            new: new.to_owned(),
        })
    }
}

impl<W: Sink> Stream for Npz<W> {
    fn add(&mut self, rows: &[f64], _: &[Vec<Bearing>]) -> Result<()> {
        self.rows.add(rows)
    }

    fn flush(&mut self) -> Result<()> {
        self.rows.flush()
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.rows.flush()?;
        let mut put = || -> Result<()> {
            let out = BufWriter::with_capacity(1 << 18, File::create(&self.new)?);
            archive(&mut self.rows, &self.form, Archive::new(out))
        };
        let done = put();
        if done.is_err() {
            let _ = std::fs::remove_file(&self.new);
        }
        done
    }
}

/// Puts the archive together.
fn archive<W: Sink, A: std::io::Write + std::io::Seek>(
    rows: &mut Rows<W>,
    form: &Record,
    mut archive: Archive<A>,
) -> Result<()> {
    let mut before = 0;
    for quantity in &form.quantities {
        let place = before..before + quantity.width();
        before = place.end;
        if !place.is_empty() {
            let shape = [rows.count as usize, quantity.width()];
            let shape = if quantity.is_number() { &shape[..1] } else { &shape };
            let mut failed = Ok(());
            let numbers = rows.columns(place, &mut failed)?;
            archive.numbers(quantity.name, shape, numbers)?;
            failed?;
        }
    }
    for name in ["q", "v"] {
        archive.names(&format!("{name}_names"), &form.of(name).labels)?;
    }
    archive.finish()
}

/// Rows in a file, as one array of NumPy.
struct Rows<W> {
    out: W,
    width: usize,
    kind: String,
    /// Rows in the file, and numbers that are not there yet.
    count: u64,
    waiting: Vec<f64>,
    start: u64,
}

impl<W: Sink> Rows<W> {
    fn new(mut out: W, form: &Record) -> Result<Self> {
        let field = |q: &Quantity| match q.is_number() {
            true => format!("('{}', '<f8')", q.name),
            false => format!("('{}', '<f8', ({},))", q.name, q.width()),
        };
        let fields: Vec<String> = form.quantities.iter().filter(|q| q.width() > 0).map(field).collect();
        let kind = format!("[{}]", fields.join(", "));
        let first = head(&kind, &[0]);
        out.write_all(&first)?;
        Ok(Self {
            out,
            width: form.width(),
            kind,
            count: 0,
            waiting: Vec::new(),
            start: first.len() as u64,
        })
    }

    fn add(&mut self, rows: &[f64]) -> Result<()> {
        const MANY: usize = 1 << 13;
        self.waiting.extend_from_slice(rows);
        if self.waiting.len() >= MANY {
            self.flush()?;
        }
        Ok(())
    }

    /// First the rows, then how many there are: the array is whole in between.
    fn flush(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let end = self.start + 8 * self.count * self.width as u64;
        self.out.seek(SeekFrom::Start(end))?;
        write_numbers(&mut self.out, self.waiting.iter().copied())?;
        self.count += (self.waiting.len() / self.width) as u64;
        self.waiting.clear();
        self.out.seek(SeekFrom::Start(0))?;
        Ok(self.out.write_all(&head(&self.kind, &[self.count as usize]))?)
    }

    /// Some columns of all rows, row by row; what goes wrong with reading goes to `failed`.
    fn columns<'a>(
        &'a mut self,
        columns: std::ops::Range<usize>,
        failed: &'a mut std::io::Result<()>,
    ) -> Result<impl Iterator<Item = f64> + 'a> {
        self.out.seek(SeekFrom::Start(self.start))?;
        let mut input = BufReader::with_capacity(1 << 18, &mut self.out);
        let mut row = vec![0; 8 * self.width];
        Ok((0..self.count)
            .map_while(move |_| {
                *failed = input.read_exact(&mut row);
                let number = |i: usize| row[8 * i..8 * i + 8].try_into().map_or(f64::NAN, f64::from_le_bytes);
                failed
                    .is_ok()
                    .then(|| columns.clone().map(number).collect::<Vec<f64>>())
            })
            .flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sink::tests::Failing;
    use super::*;
    use linkwork::model::examples;

    /// The rows that the head of an array tells of, if they are all there.
    fn told(bytes: &[u8], width: usize) -> Option<usize> {
        let length = usize::from(u16::from_le_bytes(bytes.get(8..10)?.try_into().ok()?));
        let text = std::str::from_utf8(bytes.get(10..10 + length)?).ok()?;
        let shape = text.split("'shape': (").nth(1)?.split(',').next()?;
        let rows = shape.parse().ok()?;
        (bytes.len() >= 10 + length + 8 * width * rows).then_some(rows)
    }

    #[test]
    fn rows_are_an_array_however_many_writes_succeed() {
        let form = Record::new(&examples::double_pendulum(), &[], &[]);
        let width = form.width();
        let row: Vec<f64> = (0..width).map(|i| i as f64).collect();
        let mut most = 0;
        for writes in 1..40 {
            let sink = Failing::after(Some(writes));
            let mut flushed = 0;
            let Ok(mut rows) = Rows::new(sink.clone(), &form) else {
                continue;
            };
            for _ in 0..12 {
                rows.add(&row).unwrap();
                if rows.flush().is_err() {
                    break;
                }
                flushed += 1;
            }
            let found = told(&sink.taken(), width).expect("an array");
            assert!(
                found == flushed || found == flushed + 1,
                "{writes}: {found} of {flushed}"
            );
            most = most.max(found);
        }
        assert_eq!(most, 12);
    }

    #[test]
    fn an_archive_that_cannot_be_written_is_an_error() {
        let form = Record::new(&examples::double_pendulum(), &[], &[]);
        let row: Vec<f64> = (0..form.width()).map(|i| i as f64).collect();
        let mut failures = 0;
        for writes in (0..60).map(Some).chain([None]) {
            let mut rows = Rows::new(Failing::after(None), &form).unwrap();
            (0..5).for_each(|_| rows.add(&row).unwrap());
            rows.flush().unwrap();
            let sink = Failing::after(writes);
            let done = archive(&mut rows, &form, Archive::new(sink.clone()));
            assert_eq!(
                done.is_ok(),
                sink.taken().ends_with(&[0; 2]) && done.is_ok(),
                "{writes:?}"
            );
            failures += usize::from(done.is_err());
            assert!(writes.is_some() || done.is_ok());
        }
        assert!(failures > 20, "{failures}");
    }
}
