//! Logs of simulations, in the formats of their tools.
//!
//! A log is written while states come, under its name with `.part` after it, and gets its own name when the run ends,
//! whatever ends it. If the program is killed or the disk is full, what is under that name can be read up to about the last
//! second: CSV by lines, MCAP by messages, Parquet as it is; that of an NPZ is one array of NumPy, with a field for each
//! quantity.

mod csv;
mod joint_states;
mod markers;
mod mcap;
mod npz;
mod parquet;
mod robot_description;
mod sink;

pub(crate) use csv::{Lines, quoted};
pub(crate) use markers::FIELDS;
pub(crate) use mcap::{CONTACT_POINTS, identifier};
pub(crate) use robot_description::{Described, NATIVE};
pub(crate) use sink::Sink;

use super::contact_run::Bearing;
use super::record::Record;
use crate::atomic_file;
use crate::user_error::UserError;
use anyhow::{Context, Result};
use linkwork::Mechanism;
use std::fs::{File, OpenOptions};
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
            _ => Err(UserError::usage(
                format!("no log can be written to `{}`", path.display()),
                "name a file that ends in .csv, .npz, .parquet or .mcap",
            )),
        }
    }
}

/// What takes rows as they come.
trait Stream: Send {
    /// Takes some rows, one after another, and what bears at each if anything can.
    fn add(&mut self, rows: &[f64], contacts: &[Vec<Bearing>]) -> Result<()>;
    /// Hands all rows so far to the system, such that they can be read.
    fn flush(&mut self) -> Result<()>;
    /// Writes what is left.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A log that is being written.
pub(crate) struct Log {
    path: PathBuf,
    /// Where it is written to, and held against others who would write there.
    begun: PathBuf,
    held: Option<File>,
    /// What is whole in the end.
    made: PathBuf,
    stream: Box<dyn Stream>,
}

impl Log {
    /// Begins a log. An older file of its name goes, so that nobody takes that for the log of this run.
    pub(crate) fn begin(
        path: &Path,
        form: &Record,
        mechanism: &Mechanism,
        robot: &Described,
        rate: f64,
    ) -> Result<Self> {
        let format = Format::of(path)?;
        let path = &*atomic_file::followed(path);
        let named = |problem: anyhow::Error| problem.context(cannot_write(path));
        let special = atomic_file::is_special(path);
        let begun = if special {
            path.to_owned()
        } else {
            atomic_file::part(path)
        };
        let file = if special {
            let opened = OpenOptions::new().write(true).open(path);
            opened.with_context(|| cannot_write(path))?
        } else {
            atomic_file::begin(&begun).map_err(named)?
        };
        let held = (!special).then(|| file.try_clone()).transpose();
        let held = held.with_context(|| cannot_write(path))?;
        let made = match format {
            Format::Npz => atomic_file::with_end(path, ".part.npz"),
            _ => begun.clone(),
        };
        let stream = begin(format, file, &made, form, mechanism, robot, rate).map_err(named)?;
        if !special && path.exists() {
            std::fs::remove_file(path).with_context(|| cannot_write(path))?;
        }
        Ok(Self {
            path: path.to_owned(),
            begun,
            held,
            made,
            stream,
        })
    }

    pub(crate) fn add(&mut self, rows: &[f64], contacts: &[Vec<Bearing>]) -> Result<()> {
        self.stream.add(rows, contacts).with_context(|| self.told())
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.stream.flush().with_context(|| self.told())
    }

    /// Ends it, and gives it its name.
    pub(crate) fn finish(self) -> Result<()> {
        let told = self.told();
        let Self {
            path,
            begun,
            held,
            made,
            stream,
        } = self;
        stream.finish().with_context(|| told.clone())?;
        let Some(_held) = held else { return Ok(()) };
        let name = || {
            File::open(&made)?.sync_all()?;
            std::fs::rename(&made, &path)?;
            match made == begun {
                true => Ok(()),
                false => std::fs::remove_file(&begun),
            }
        };
        name().context(told)
    }

    /// What went wrong, and what is left.
    fn told(&self) -> String {
        let mut told = cannot_write(&self.path);
        if self.begun != self.path {
            told += &format!("; what came before is in `{}`", self.begun.display());
        }
        told
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write the log to `{}`", path.display())
}

fn begin(
    format: Format,
    file: File,
    made: &Path,
    form: &Record,
    mechanism: &Mechanism,
    robot: &Described,
    rate: f64,
) -> Result<Box<dyn Stream>> {
    Ok(match format {
        Format::Csv => Box::new(csv::Csv::new(file, form)?),
        Format::Mcap => Box::new(mcap::Mcap::new(file, form, mechanism, robot, rate)?),
        Format::Npz => Box::new(npz::Npz::new(file, form, made)?),
        Format::Parquet => Box::new(parquet::Parquet::new(file, form)?),
    })
}
