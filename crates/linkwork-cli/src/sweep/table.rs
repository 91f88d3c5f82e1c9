//! A table in Apache Parquet: whole numbers and doubles, one for every row or a list of so many, plain and uncompressed.

use crate::thrift::{BINARY, I32, STRUCT, Thrift};

const MAGIC: &[u8] = b"PAR1";
/// Parquet's numbers for what is used of it.
const INT64: i64 = 2;
const DOUBLE: i64 = 5;
const REQUIRED: i64 = 0;
const REPEATED: i64 = 2;
const LIST: i64 = 3;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const UNCOMPRESSED: i64 = 0;
const DATA_PAGE: i64 = 0;
/// Numbers of a page, about: its length in bytes must fit into 32 bits.
const PAGE: usize = 1 << 20;

/// A column: its name, and numbers row after row.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) numbers: Numbers,
}

pub(super) enum Numbers {
    /// One for every row.
    Whole(Vec<i64>),
    /// As many for every row as there are in a cell: the product of its dimensions.
    Doubles { dimensions: Vec<usize>, all: Vec<f64> },
}

impl Column {
    /// The numbers of a cell, and whether they are a list.
    fn width(&self) -> (usize, bool) {
        match &self.numbers {
            Numbers::Whole(_) => (1, false),
            Numbers::Doubles { dimensions, .. } => (dimensions.iter().product(), !dimensions.is_empty()),
        }
    }

    fn kind(&self) -> i64 {
        match self.numbers {
            Numbers::Whole(_) => INT64,
            Numbers::Doubles { .. } => DOUBLE,
        }
    }

    /// Its fields from the root to the numbers.
    fn path(&self) -> Vec<&str> {
        match self.width().1 {
            true => vec![&self.name, "list", "element"],
            false => vec![&self.name],
        }
    }

    fn bytes(&self, rows: std::ops::Range<usize>, out: &mut Vec<u8>) {
        let width = self.width().0;
        match &self.numbers {
            Numbers::Whole(all) => out.extend(all[rows].iter().flat_map(|x| x.to_le_bytes())),
            Numbers::Doubles { all, .. } => {
                let numbers = &all[rows.start * width..rows.end * width];
                out.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
            }
        }
    }

    /// Pages one after another.
    fn pages(&self, rows: usize, out: &mut Vec<u8>) {
        let (width, is_list) = self.width();
        let most = (PAGE / width.max(1)).max(1);
        for first in (0..rows).step_by(most) {
            let rows = first..rows.min(first + most);
            let values = rows.len() * if is_list && width == 0 { 1 } else { width };
            let mut page = Vec::with_capacity(values * 9);
            if is_list {
                // A list begins where this is 0; and there are numbers in it where that is 1.
                levels((0..values).map(|i| width > 0 && i % width != 0), &mut page);
                levels((0..values).map(|_| width > 0), &mut page);
            }
            self.bytes(rows, &mut page);
            let mut head = Thrift::default();
            head.int(1, DATA_PAGE);
            head.int(2, page.len() as i64);
            head.int(3, page.len() as i64);
            head.structure(5, |data| {
                data.int(1, values as i64);
                data.int(2, PLAIN);
                data.int(3, RLE);
                data.int(4, RLE);
            });
            out.extend(head.end());
            out.extend(page);
        }
    }
}

/// Levels of one bit, eight to a byte, behind their length.
fn levels(bits: impl ExactSizeIterator<Item = bool>, out: &mut Vec<u8>) {
    let groups = bits.len().div_ceil(8);
    let mut packed = vec![0_u8; groups];
    for (i, bit) in bits.enumerate() {
        packed[i / 8] |= u8::from(bit) << (i % 8);
    }
    let mut head = Thrift::default();
    head.varint((groups as u64) << 1 | 1);
    let head = head.into_bytes();
    out.extend(((head.len() + groups) as u32).to_le_bytes());
    out.extend(head);
    out.extend(packed);
}

/// The bytes of a file.
pub(super) fn parquet(rows: usize, columns: &[Column]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let mut places = Vec::with_capacity(columns.len());
    for column in columns {
        let start = out.len();
        column.pages(rows, &mut out);
        places.push((start as i64, (out.len() - start) as i64));
    }
    let description = description(rows, columns, &places);
    let length = description.len() as u32;
    out.extend(description);
    out.extend(length.to_le_bytes());
    out.extend(MAGIC);
    out
}

/// The structure `FileMetaData`.
fn description(rows: usize, columns: &[Column], places: &[(i64, i64)]) -> Vec<u8> {
    let mut file = Thrift::default();
    file.int(1, 1);
    let elements: usize = columns.iter().map(|c| c.path().len()).sum();
    file.list(2, STRUCT, elements + 1);
    file.element(|root| {
        root.text(4, "states");
        root.int(5, columns.len() as i64);
    });
    for column in columns {
        if column.width().1 {
            file.element(|list| {
                list.int(3, REQUIRED);
                list.text(4, &column.name);
                list.int(5, 1);
                list.int(6, LIST);
            });
            file.element(|inner| {
                inner.int(3, REPEATED);
                inner.text(4, "list");
                inner.int(5, 1);
            });
        }
        let name = if column.width().1 { "element" } else { &column.name };
        file.element(|leaf| {
            leaf.int(1, column.kind());
            leaf.int(3, REQUIRED);
            leaf.text(4, name);
        });
    }
    file.long(3, rows as i64);
    file.list(4, STRUCT, 1);
    file.element(|group| {
        group.list(1, STRUCT, columns.len());
        for (column, &(offset, size)) in columns.iter().zip(places) {
            let (width, is_list) = column.width();
            let values = rows * if is_list && width == 0 { 1 } else { width };
            group.element(|chunk| {
                chunk.long(2, offset);
                chunk.structure(3, |meta| {
                    meta.int(1, column.kind());
                    meta.list(2, I32, 2);
                    meta.zigzag(PLAIN);
                    meta.zigzag(RLE);
                    let path = column.path();
                    meta.list(3, BINARY, path.len());
                    path.iter().for_each(|name| meta.bytes(name.as_bytes()));
                    meta.int(4, UNCOMPRESSED);
                    meta.long(5, values as i64);
                    meta.long(6, size);
                    meta.long(7, size);
                    meta.long(9, offset);
                });
            });
        }
        group.long(2, places.iter().map(|(_, size)| size).sum());
        group.long(3, rows as i64);
    });
    file.text(6, concat!("linkwork ", env!("CARGO_PKG_VERSION")));
    file.end()
}
