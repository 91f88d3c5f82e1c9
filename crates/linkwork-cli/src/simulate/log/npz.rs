//! NumPy's archive: an array for every quantity, and one with the names of its columns.

use crate::simulate::record::Record;
use anyhow::Result;
use std::io::{Seek, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(super) fn write(out: &mut (impl Write + Seek), record: &Record) -> Result<()> {
    let mut archive = ZipWriter::new(out);
    // A time of its own, so that the same run gives the same bytes.
    let stored = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .large_file(true);
    for quantity in record.quantities.iter().filter(|q| q.width() > 0) {
        let shape = if quantity.is_number() {
            format!("({},)", record.rows)
        } else {
            format!("({}, {})", record.rows, quantity.width())
        };
        archive.start_file(format!("{}.npy", quantity.name), stored)?;
        archive.write_all(&header("<f8", &shape))?;
        super::write_numbers(&mut archive, quantity.numbers.iter().copied())?;
    }
    for name in ["q", "v"] {
        let labels = &record.of(name).labels;
        archive.start_file(format!("{name}_names.npy"), stored)?;
        let longest = labels.iter().map(|l| l.chars().count()).max().unwrap_or(0).max(1);
        archive.write_all(&header(&format!("<U{longest}"), &format!("({},)", labels.len())))?;
        for label in labels {
            let codes = label.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
            for code in codes {
                archive.write_all(&code.to_le_bytes())?;
            }
        }
    }
    archive.finish()?.flush()?;
    Ok(())
}

/// The head of a .npy file: magic, version 1.0, and a description padded to 64 bytes.
fn header(kind: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes
}
