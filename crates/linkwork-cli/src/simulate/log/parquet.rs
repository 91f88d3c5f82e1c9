//! Apache Parquet: a column of doubles for every number of a state, plain and uncompressed.
//!
//! The format's own description of a file is a Thrift structure in the compact protocol, and stands at its end. Rows that
//! come are written as a group of their own, over the description and with a new one behind, so that the file can be read
//! whenever a write has ended. Small groups become one, so that the description stays short and the whole file does not depend
//! on when its parts were written.

use super::{Sink, Stream};
use crate::simulate::contact_run::Bearing;
use crate::simulate::record::Record;
use crate::thrift::{BINARY, I32, STRUCT, Thrift};
use anyhow::Result;
use std::io::SeekFrom;

const MAGIC: &[u8] = b"PAR1";
/// Parquet's numbers for what is used of it.
const DOUBLE: i64 = 5;
const REQUIRED: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const UNCOMPRESSED: i64 = 0;
const DATA_PAGE: i64 = 0;
/// Numbers in a group of rows, about.
const GROUP: usize = 1 << 22;
/// Numbers that are written together at most.
const AT_ONCE: usize = 1 << 15;
/// So many small groups become one.
const SMALL: usize = 64;

/// Rows that are written: how many, and where each column's numbers start and how many bytes they take.
struct Group {
    rows: usize,
    columns: Vec<(i64, i64)>,
}

pub(super) struct Parquet<W> {
    out: W,
    names: Vec<String>,
    groups: Vec<Group>,
    /// The first groups are final; the others hold the rows in `tail`, from this byte on.
    kept: usize,
    from: u64,
    tail: Vec<f64>,
    /// Numbers of the tail that are in the file.
    written: usize,
    /// Where the description starts.
    end: u64,
    /// Rows of a final group.
    most: usize,
}

impl<W: Sink> Parquet<W> {
    pub(super) fn new(out: W, form: &Record) -> Result<Self> {
        let names: Vec<String> = form.quantities.iter().flat_map(|q| q.columns()).collect();
        let mut parquet = Self {
            out,
            groups: Vec::new(),
            kept: 0,
            from: MAGIC.len() as u64,
            tail: Vec::new(),
            written: 0,
            end: MAGIC.len() as u64,
            most: (GROUP / names.len().max(1)).max(1),
            names,
        };
        let mut first = MAGIC.to_vec();
        first.extend(parquet.description());
        parquet.out.write_all(&first)?;
        Ok(parquet)
    }

    /// The description of all groups, with its length and the magic.
    fn description(&self) -> Vec<u8> {
        let mut description = description(&self.names, &self.groups);
        let length = description.len() as u32;
        description.extend(length.to_le_bytes());
        description.extend(MAGIC);
        description
    }

    /// Writes rows as a group at a place, and a description behind.
    fn put(&mut self, rows: std::ops::Range<usize>, at: u64) -> Result<()> {
        let width = self.names.len();
        let (mut bytes, mut columns) = (Vec::new(), Vec::with_capacity(width));
        let numbers = &self.tail[rows.start * width..rows.end * width];
        for column in 0..width {
            let start = bytes.len();
            bytes.extend(page_header(rows.len()));
            bytes.extend(numbers.iter().skip(column).step_by(width).flat_map(|x| x.to_le_bytes()));
            columns.push((at as i64 + start as i64, (bytes.len() - start) as i64));
        }
        self.groups.push(Group {
            rows: rows.len(),
            columns,
        });
        let end = at + bytes.len() as u64;
        bytes.extend(self.description());
        self.out.seek(SeekFrom::Start(at))?;
        self.out.write_all(&bytes)?;
        self.out.cut(at + bytes.len() as u64)?;
        self.end = end;
        Ok(())
    }

    /// Adds rows of the tail as a group; where that fails, the file is as it was: there was room for its description before.
    fn append(&mut self, rows: std::ops::Range<usize>) -> Result<()> {
        let (end, description, groups) = (self.end, self.description(), self.groups.len());
        let done = self.put(rows, end);
        if done.is_err() {
            self.groups.truncate(groups);
            self.out.seek(SeekFrom::Start(end))?;
            self.out.write_all(&description)?;
            self.out.cut(end + description.len() as u64)?;
        }
        done
    }

    /// Writes the first rows of the tail, which are in the file, as one group instead of several: that takes less room.
    fn join(&mut self, rows: usize) -> Result<()> {
        self.groups.truncate(self.kept);
        self.put(0..rows, self.from)
    }
}

impl<W: Sink> Stream for Parquet<W> {
    fn add(&mut self, rows: &[f64], _: &[Vec<Bearing>]) -> Result<()> {
        let width = self.names.len();
        self.tail.extend_from_slice(rows);
        if self.tail.len() - self.written >= AT_ONCE {
            self.flush()?;
        }
        while self.tail.len() / width >= self.most {
            self.flush()?;
            self.join(self.most)?;
            self.kept = self.groups.len();
            self.from = self.end;
            self.tail.drain(..self.most * width);
            self.written = 0;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let (width, rows) = (self.names.len(), self.tail.len() / self.names.len());
        if self.written == rows * width {
            return Ok(());
        }
        self.append(self.written / width..rows)?;
        self.written = rows * width;
        if self.groups.len() - self.kept > SMALL {
            self.join(rows)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()?;
        if self.groups.len() - self.kept > 1 {
            self.join(self.tail.len() / self.names.len())?;
        }
        Ok(self.out.flush()?)
    }
}

fn page_header(values: usize) -> Vec<u8> {
    let mut head = Thrift::default();
    let size = 8 * values as i64;
    head.int(1, DATA_PAGE);
    head.int(2, size);
    head.int(3, size);
    head.structure(5, |data| {
        data.int(1, values as i64);
        data.int(2, PLAIN);
        data.int(3, RLE);
        data.int(4, RLE);
    });
    head.end()
}

/// The structure `FileMetaData`.
fn description(names: &[String], groups: &[Group]) -> Vec<u8> {
    let mut file = Thrift::default();
    file.int(1, 1);
    file.list(2, STRUCT, names.len() + 1);
    file.element(|root| {
        root.text(4, "states");
        root.int(5, names.len() as i64);
    });
    for name in names {
        file.element(|leaf| {
            leaf.int(1, DOUBLE);
            leaf.int(3, REQUIRED);
            leaf.text(4, name);
        });
    }
    file.long(3, groups.iter().map(|g| g.rows as i64).sum());
    file.list(4, STRUCT, groups.len());
    for Group { rows, columns } in groups {
        file.element(|group| {
            group.list(1, STRUCT, columns.len());
            for (name, &(offset, size)) in names.iter().zip(columns) {
                group.element(|chunk| {
                    chunk.long(2, offset);
                    chunk.structure(3, |meta| {
                        meta.int(1, DOUBLE);
                        meta.list(2, I32, 1);
                        meta.zigzag(PLAIN);
                        meta.list(3, BINARY, 1);
                        meta.bytes(name.as_bytes());
                        meta.int(4, UNCOMPRESSED);
                        meta.long(5, *rows as i64);
                        meta.long(6, size);
                        meta.long(7, size);
                        meta.long(9, offset);
                    });
                });
            }
            group.long(2, columns.iter().map(|(_, size)| size).sum());
            group.long(3, *rows as i64);
        });
    }
    file.text(6, concat!("linkwork ", env!("CARGO_PKG_VERSION")));
    file.end()
}

#[cfg(test)]
mod tests {
    use super::super::sink::tests::Failing;
    use super::*;
    use linkwork::model::examples;

    /// The rows that a whole file tells of, from its description.
    fn told(bytes: &[u8]) -> Option<u64> {
        let inner = bytes.strip_prefix(MAGIC)?.strip_suffix(MAGIC)?;
        let (rest, length) = inner.split_last_chunk::<4>()?;
        let text = rest.get(rest.len().checked_sub(u32::from_le_bytes(*length) as usize)?..)?;
        // The version, the schema, and then field 3, a long: the names end where its head is.
        let end = text.windows(4).position(|w| w == b"tial")? + 4;
        let (mut rows, mut shift) = (0_u64, 0);
        for byte in text.get(end + 2..)? {
            rows |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(rows >> 1);
            }
        }
        None
    }

    fn row(form: &Record, i: usize) -> Vec<f64> {
        (0..form.width()).map(|k| (i * 1000 + k) as f64).collect()
    }

    #[test]
    fn a_file_is_whole_however_many_writes_succeed() {
        let form = Record::new(&examples::double_pendulum(), &[], &[]);
        let mut most = 0;
        for writes in 1..60 {
            let sink = Failing::after(Some(writes));
            let Ok(mut file) = Parquet::new(sink.clone(), &form) else {
                continue;
            };
            file.most = 17;
            let mut flushed = 0;
            for i in 0..40 {
                if file.add(&row(&form, i), &[]).and_then(|()| file.flush()).is_err() {
                    break;
                }
                flushed += 1;
            }
            let found = told(&sink.taken()).expect("a whole file");
            assert!(
                found == flushed || found == flushed + 1,
                "{writes}: {found} of {flushed}"
            );
            most = most.max(found);
        }
        assert_eq!(most, 40);
    }

    #[test]
    fn the_bytes_do_not_depend_on_when_rows_were_flushed() {
        let form = Record::new(&examples::double_pendulum(), &[], &[]);
        let written = |every: usize| {
            let sink = Failing::after(None);
            let mut file = Box::new(Parquet::new(sink.clone(), &form).unwrap());
            file.most = 100;
            for i in 0..250 {
                file.add(&row(&form, i), &[]).unwrap();
                if i % every == 0 {
                    file.flush().unwrap();
                }
            }
            file.finish().unwrap();
            sink.taken()
        };
        let once = written(1000);
        assert_eq!(told(&once), Some(250));
        assert!([1, 3, 70].iter().all(|every| written(*every) == once));
    }
}
