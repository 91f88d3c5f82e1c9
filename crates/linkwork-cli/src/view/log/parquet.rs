//! Apache Parquet, as far as our logs use it: columns of plain doubles that are never missing.

use super::Column;
use std::collections::BTreeMap;

const MAGIC: &[u8] = b"PAR1";

/// All columns.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Column>, String> {
    let inner = bytes
        .strip_prefix(MAGIC)
        .and_then(|b| b.strip_suffix(MAGIC))
        .ok_or("is not a complete Parquet file")?;
    let (inner, length) = inner.split_last_chunk::<4>().ok_or("is too short")?;
    let start = inner
        .len()
        .checked_sub(u32::from_le_bytes(*length) as usize)
        .ok_or("its description is cut short")?;
    let about = Thrift::parse(&mut &inner[start..]).ok_or("its description cannot be read")?;
    let mut columns: Vec<Column> = Vec::new();
    for group in about.list(4) {
        for (i, chunk) in group.list(1).iter().enumerate() {
            let meta = chunk.get(3);
            let name = meta.list(3).first().map(Thrift::text).unwrap_or_default();
            if meta.int(1) != 5 || meta.int(4) != 0 {
                return Err(format!("column `{name}` is compressed, or not of doubles"));
            }
            if columns.len() <= i {
                columns.push(Column {
                    name: name.clone(),
                    numbers: Vec::new(),
                });
            }
            if columns[i].name != name {
                return Err(format!("column `{name}` stands elsewhere in another group of rows"));
            }
            let from = usize::try_from(meta.int(9)).ok().and_then(|at| bytes.get(at..));
            let mut rest = from.ok_or("a column begins beyond the end")?;
            let mut left = meta.int(5);
            while left > 0 {
                let page = Thrift::parse(&mut rest).ok_or("a page cannot be read")?;
                let values = page.get(5).int(1);
                let size = usize::try_from(page.int(3)).unwrap_or(usize::MAX);
                let data = rest.split_off(..size).ok_or("a page is cut short")?;
                if page.int(1) != 0 || page.get(5).int(2) != 0 || data.len() as i64 != 8 * values || values <= 0 {
                    return Err(format!("column `{name}` has a page that is not plain"));
                }
                columns[i]
                    .numbers
                    .extend(data.as_chunks::<8>().0.iter().map(|x| f64::from_le_bytes(*x)));
                left -= values;
            }
        }
    }
    Ok(columns)
}

/// A value in Thrift's compact protocol.
enum Thrift {
    Int(i64),
    Bytes(Vec<u8>),
    List(Vec<Thrift>),
    Struct(BTreeMap<i64, Thrift>),
}

static NOTHING: Thrift = Thrift::Int(0);

impl Thrift {
    /// A structure, which ends where its fields do.
    fn parse(input: &mut &[u8]) -> Option<Self> {
        Self::structure(input, 0)
    }

    fn structure(input: &mut &[u8], depth: usize) -> Option<Self> {
        let (mut fields, mut last) = (BTreeMap::new(), 0);
        loop {
            let head = byte(input)?;
            if head == 0 {
                return Some(Self::Struct(fields));
            }
            last = match head >> 4 {
                0 => zigzag(input)?,
                step => last + i64::from(step),
            };
            fields.insert(last, Self::value(input, head & 15, depth + 1)?);
        }
    }

    fn value(input: &mut &[u8], kind: u8, depth: usize) -> Option<Self> {
        if depth > 16 {
            return None;
        }
        Some(match kind {
            1 => Self::Int(1),
            2 => Self::Int(0),
            3 => Self::Int(i64::from(byte(input)?)),
            4..=6 => Self::Int(zigzag(input)?),
            7 => Self::Bytes(input.split_off(..8)?.to_vec()),
            8 => {
                let length = usize::try_from(varint(input)?).ok()?;
                Self::Bytes(input.split_off(..length)?.to_vec())
            }
            9 | 10 => {
                let head = byte(input)?;
                let length = match head >> 4 {
                    15 => varint(input)?,
                    short => u64::from(short),
                };
                // Each element takes a byte at least.
                if length > input.len() as u64 {
                    return None;
                }
                Self::List(
                    (0..length)
                        .map(|_| Self::value(input, head & 15, depth + 1))
                        .collect::<Option<_>>()?,
                )
            }
            12 => Self::structure(input, depth)?,
            _ => return None,
        })
    }

    fn get(&self, id: i64) -> &Self {
        match self {
            Self::Struct(fields) => fields.get(&id).unwrap_or(&NOTHING),
            _ => &NOTHING,
        }
    }

    fn int(&self, id: i64) -> i64 {
        match self.get(id) {
            Self::Int(x) => *x,
            _ => 0,
        }
    }

    fn list(&self, id: i64) -> &[Self] {
        match self.get(id) {
            Self::List(list) => list,
            _ => &[],
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        }
    }
}

fn byte(input: &mut &[u8]) -> Option<u8> {
    input.split_off_first().copied()
}

fn varint(input: &mut &[u8]) -> Option<u64> {
    let mut out = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(input)?;
        out |= u64::from(next & 0x7f) << shift;
        if next < 0x80 {
            return Some(out);
        }
    }
    None
}

fn zigzag(input: &mut &[u8]) -> Option<i64> {
    let x = varint(input)?;
    Some((x >> 1) as i64 ^ -((x & 1) as i64))
}
