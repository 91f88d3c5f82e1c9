//! NumPy's archives.

use super::Column;
use std::io::{Cursor, Read};

/// Columns of the arrays t, q, v and tau.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Column>, String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| format!("is not an archive: {e}"))?;
    let mut member = |name: &str| -> Result<Array, String> {
        let mut file = archive
            .by_name(&format!("{name}.npy"))
            .map_err(|e| format!("has no array `{name}`: {e}"))?;
        let mut data = Vec::new();
        file.read_to_end(&mut data)
            .map_err(|e| format!("array `{name}`: {e}"))?;
        Array::parse(&data).ok_or_else(|| format!("array `{name}` is in a form that is not known"))
    };
    let time = member("t")?.numbers()?;
    let mut columns = vec![Column {
        name: "t".into(),
        numbers: time,
    }];
    let (of_q, of_v) = (member("q_names")?.names()?, member("v_names")?.names()?);
    for (name, labels) in [("q", &of_q), ("v", &of_v), ("tau", &of_v)] {
        // A robot without coordinates has no such array.
        if labels.is_empty() {
            continue;
        }
        let numbers = member(name)?.numbers()?;
        for (i, label) in labels.iter().enumerate() {
            let column = numbers.iter().skip(i).step_by(labels.len());
            columns.push(Column {
                name: format!("{name}.{label}"),
                numbers: column.copied().collect(),
            });
        }
    }
    Ok(columns)
}

struct Array {
    kind: String,
    data: Vec<u8>,
}

impl Array {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(b"\x93NUMPY\x01\x00")?;
        let (length, rest) = rest.split_at_checked(2)?;
        let length = usize::from(u16::from_le_bytes(length.try_into().ok()?));
        let (head, data) = rest.split_at_checked(length)?;
        let head = std::str::from_utf8(head).ok()?;
        let kind = head.split_once("'descr': '")?.1.split_once('\'')?.0.to_owned();
        head.contains("'fortran_order': False").then(|| Self {
            kind,
            data: data.to_vec(),
        })
    }

    fn numbers(&self) -> Result<Vec<f64>, String> {
        if self.kind != "<f8" {
            return Err(format!("has numbers of kind `{}`, not `<f8`", self.kind));
        }
        let eights = self.data.as_chunks::<8>().0;
        Ok(eights.iter().map(|x| f64::from_le_bytes(*x)).collect())
    }

    fn names(&self) -> Result<Vec<String>, String> {
        let width = self
            .kind
            .strip_prefix("<U")
            .and_then(|n| n.parse::<usize>().ok())
            .filter(|n| *n > 0);
        let width = width.ok_or_else(|| format!("has names of kind `{}`", self.kind))?;
        let letters = |name: &[u8]| -> String {
            let codes = name.as_chunks::<4>().0.iter().map(|x| u32::from_le_bytes(*x));
            codes.take_while(|c| *c > 0).filter_map(char::from_u32).collect()
        };
        Ok(self.data.chunks_exact(4 * width).map(letters).collect())
    }
}
