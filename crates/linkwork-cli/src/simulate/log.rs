//! Logs in files that other programs read.

mod csv;
mod described;
mod joint_states;
mod mcap;
mod npz;
mod parquet;

pub(crate) use described::{Described, NATIVE};
pub(crate) use mcap::identifier;

use super::record::Record;
use crate::complaint::Complaint;
use anyhow::{Context, Result};
use linkwork::Mechanism;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

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

/// A log that is written while states come.
pub(crate) trait Stream: Send {
    /// Takes some rows, one after another.
    fn add(&mut self, rows: &[f64]) -> Result<()>;
    /// Writes what is left.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Opens the logs that can be written while states come; the others are written in the end.
pub(crate) fn streams(
    paths: &[PathBuf],
    form: &Record,
    mechanism: &Mechanism,
    robot: &Described,
) -> Result<Vec<Box<dyn Stream>>> {
    let mut streams: Vec<Box<dyn Stream>> = Vec::new();
    for path in paths {
        let format = Format::of(path)?;
        match format {
            Format::Csv => streams.push(Box::new(csv::Csv::new(create(path)?, form)?)),
            Format::Mcap => streams.push(Box::new(mcap::Mcap::new(create(path)?, form, mechanism, robot)?)),
            Format::Npz | Format::Parquet => {}
        }
    }
    Ok(streams)
}

fn create(path: &Path) -> Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("cannot write the log to `{}`", path.display()))?;
    Ok(BufWriter::with_capacity(1 << 18, file))
}

/// Writes a record to a log that holds one column after another.
pub(crate) fn write(path: &Path, record: &Record) -> Result<()> {
    let problem = || format!("cannot write the log to `{}`", path.display());
    let format = Format::of(path)?;
    if matches!(format, Format::Csv | Format::Mcap) {
        return Ok(());
    }
    let mut out = create(path)?;
    match format {
        Format::Npz => npz::write(&mut out, record).with_context(problem)?,
        _ => parquet::write(&mut out, record).with_context(problem)?,
    }
    out.flush().with_context(problem)
}
