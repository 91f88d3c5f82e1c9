//! Thrift's compact protocol, in which Parquet describes its files.

pub(crate) const I32: u8 = 5;
const I64: u8 = 6;
pub(crate) const BINARY: u8 = 8;
const LIST: u8 = 9;
pub(crate) const STRUCT: u8 = 12;

/// A structure in Thrift's compact protocol: each field as its distance from the last one, its type and its value.
#[derive(Default)]
pub(crate) struct Thrift {
    out: Vec<u8>,
    last: u8,
}

impl Thrift {
    fn field(&mut self, id: u8, kind: u8) {
        self.out.push((id - self.last) << 4 | kind);
        self.last = id;
    }

    pub(crate) fn int(&mut self, id: u8, x: i64) {
        self.field(id, I32);
        self.zigzag(x);
    }

    pub(crate) fn long(&mut self, id: u8, x: i64) {
        self.field(id, I64);
        self.zigzag(x);
    }

    pub(crate) fn text(&mut self, id: u8, text: &str) {
        self.field(id, BINARY);
        self.bytes(text.as_bytes());
    }

    /// The head of a list, whose elements follow.
    pub(crate) fn list(&mut self, id: u8, kind: u8, length: usize) {
        self.field(id, LIST);
        if length < 15 {
            self.out.push((length as u8) << 4 | kind);
        } else {
            self.out.push(0xf0 | kind);
            self.varint(length as u64);
        }
    }

    pub(crate) fn structure(&mut self, id: u8, fill: impl FnOnce(&mut Self)) {
        self.field(id, STRUCT);
        self.element(fill);
    }

    /// A structure in a list.
    pub(crate) fn element(&mut self, fill: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.last);
        fill(self);
        self.out.push(0);
        self.last = outer;
    }

    pub(crate) fn end(mut self) -> Vec<u8> {
        self.out.push(0);
        self.out
    }

    /// What was written, without an end.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    pub(crate) fn zigzag(&mut self, x: i64) {
        self.varint(((x << 1) ^ (x >> 63)) as u64);
    }

    pub(crate) fn varint(&mut self, mut x: u64) {
        while x >= 0x80 {
            self.out.push(x as u8 | 0x80);
            x >>= 7;
        }
        self.out.push(x as u8);
    }
}
