//! Apache Parquet: a column of doubles for every number of a state, plain and uncompressed, in one row group.
//!
//! The format's own description of a file is a Thrift structure in the compact protocol; [`Thrift`] writes that.

use crate::numbers::write_numbers;
use crate::simulate::record::Record;
use anyhow::Result;
use std::io::Write;

const MAGIC: &[u8] = b"PAR1";
/// Parquet's numbers for what is used of it.
const DOUBLE: i64 = 5;
const REQUIRED: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const UNCOMPRESSED: i64 = 0;
const DATA_PAGE: i64 = 0;
/// Numbers per page.
const PAGE: usize = 1 << 20;

/// A column that has been written.
struct Column {
    name: String,
    offset: i64,
    size: i64,
}

pub(super) fn write(out: &mut impl Write, record: &Record) -> Result<()> {
    out.write_all(MAGIC)?;
    let mut at = MAGIC.len() as i64;
    let mut columns = Vec::new();
    for quantity in &record.quantities {
        for (i, name) in quantity.columns().into_iter().enumerate() {
            let offset = at;
            let mut numbers = quantity.column(i);
            for start in (0..record.rows).step_by(PAGE) {
                let length = PAGE.min(record.rows - start);
                let head = page_header(length);
                out.write_all(&head)?;
                write_numbers(out, numbers.by_ref().take(length))?;
                at += (head.len() + 8 * length) as i64;
            }
            columns.push(Column {
                name,
                offset,
                size: at - offset,
            });
        }
    }
    let description = description(&columns, record.rows as i64);
    out.write_all(&description)?;
    out.write_all(&(description.len() as u32).to_le_bytes())?;
    out.write_all(MAGIC)?;
    Ok(())
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
fn description(columns: &[Column], rows: i64) -> Vec<u8> {
    let mut file = Thrift::default();
    file.int(1, 1);
    file.list(2, STRUCT, columns.len() + 1);
    file.element(|root| {
        root.text(4, "states");
        root.int(5, columns.len() as i64);
    });
    for column in columns {
        file.element(|leaf| {
            leaf.int(1, DOUBLE);
            leaf.int(3, REQUIRED);
            leaf.text(4, &column.name);
        });
    }
    file.long(3, rows);
    file.list(4, STRUCT, usize::from(rows > 0));
    if rows > 0 {
        file.element(|group| {
            group.list(1, STRUCT, columns.len());
            for column in columns {
                group.element(|chunk| {
                    chunk.long(2, column.offset);
                    chunk.structure(3, |meta| {
                        meta.int(1, DOUBLE);
                        meta.list(2, I32, 1);
                        meta.zigzag(PLAIN);
                        meta.list(3, BINARY, 1);
                        meta.bytes(column.name.as_bytes());
                        meta.int(4, UNCOMPRESSED);
                        meta.long(5, rows);
                        meta.long(6, column.size);
                        meta.long(7, column.size);
                        meta.long(9, column.offset);
                    });
                });
            }
            group.long(2, columns.iter().map(|c| c.size).sum());
            group.long(3, rows);
        });
    }
    file.text(6, concat!("linkwork ", env!("CARGO_PKG_VERSION")));
    file.end()
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A structure in Thrift's compact protocol: each field as its distance from the last one, its type and its value.
#[derive(Default)]
struct Thrift {
    out: Vec<u8>,
    last: u8,
}

impl Thrift {
    fn field(&mut self, id: u8, kind: u8) {
        self.out.push((id - self.last) << 4 | kind);
        self.last = id;
    }

    fn int(&mut self, id: u8, x: i64) {
        self.field(id, I32);
        self.zigzag(x);
    }

    fn long(&mut self, id: u8, x: i64) {
        self.field(id, I64);
        self.zigzag(x);
    }

    fn text(&mut self, id: u8, text: &str) {
        self.field(id, BINARY);
        self.bytes(text.as_bytes());
    }

    /// The head of a list, whose elements follow.
    fn list(&mut self, id: u8, kind: u8, length: usize) {
        self.field(id, LIST);
        if length < 15 {
            self.out.push((length as u8) << 4 | kind);
        } else {
            self.out.push(0xf0 | kind);
            self.varint(length as u64);
        }
    }

    fn structure(&mut self, id: u8, fill: impl FnOnce(&mut Self)) {
        self.field(id, STRUCT);
        self.element(fill);
    }

    /// A structure in a list.
    fn element(&mut self, fill: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.last);
        fill(self);
        self.out.push(0);
        self.last = outer;
    }

    fn end(mut self) -> Vec<u8> {
        self.out.push(0);
        self.out
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    fn zigzag(&mut self, x: i64) {
        self.varint(((x << 1) ^ (x >> 63)) as u64);
    }

    fn varint(&mut self, mut x: u64) {
        while x >= 0x80 {
            self.out.push(x as u8 | 0x80);
            x >>= 7;
        }
        self.out.push(x as u8);
    }
}
