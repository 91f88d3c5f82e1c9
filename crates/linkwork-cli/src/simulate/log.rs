//! Logs in files that other programs read.

mod csv;
mod mcap;
mod npz;
mod parquet;

use super::record::Record;
use crate::complaint::Complaint;
use anyhow::{Context, Result};
use linkwork::Mechanism;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// A log's format, by its file's name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Npz,
    Parquet,
    Mcap,
}

impl Format {
    pub(crate) fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("npz") => Ok(Self::Npz),
            Some("parquet") => Ok(Self::Parquet),
            Some("mcap") => Ok(Self::Mcap),
            _ => Err(Complaint::usage(
                format!("no log can be written to `{}`", path.display()),
                "name a file that ends in .csv, .npz, .parquet or .mcap",
            )),
        }
    }
}

/// Writes a record.
pub(crate) fn write(path: &Path, record: &Record, mechanism: &Mechanism) -> Result<()> {
    let format = Format::of(path)?;
    let problem = || format!("cannot write the log to `{}`", path.display());
    let mut out = BufWriter::new(File::create(path).with_context(problem)?);
    match format {
        Format::Csv => csv::write(&mut out, record).with_context(problem)?,
        Format::Npz => npz::write(&mut out, record).with_context(problem)?,
        Format::Parquet => parquet::write(&mut out, record).with_context(problem)?,
        Format::Mcap => mcap::write(&mut out, record, mechanism).with_context(problem)?,
    }
    out.flush().with_context(problem)
}
