//! NumPy's archive: an array for every quantity, and one with the names of its columns.

use crate::npz::Archive;
use crate::simulate::record::Record;
use anyhow::Result;
use std::io::{Seek, Write};

pub(super) fn write(out: &mut (impl Write + Seek), record: &Record) -> Result<()> {
    let mut archive = Archive::new(out);
    for quantity in record.quantities.iter().filter(|q| q.width() > 0) {
        let shape = [record.rows, quantity.width()];
        let shape = if quantity.is_number() { &shape[..1] } else { &shape };
        archive.numbers(quantity.name, shape, quantity.numbers.iter().copied())?;
    }
    for name in ["q", "v"] {
        archive.names(&format!("{name}_names"), &record.of(name).labels)?;
    }
    archive.finish()
}
