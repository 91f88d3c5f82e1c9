//! NumPy's archives: a ZIP file, stored, of one .npy for each array.

use crate::numbers::write_numbers;
use anyhow::Result;
use std::io::{Seek, SeekFrom, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An archive that is being written.
pub(crate) struct Archive<W: Write + Seek>(ZipWriter<Once<W>>);

impl<W: Write + Seek> Archive<W> {
    pub(crate) fn new(out: W) -> Self {
        Self(ZipWriter::new(Once {
            out,
            failed: false,
            at: 0,
        }))
    }

    /// Adds numbers, row by row; without lengths it is one number.
    pub(crate) fn numbers(
        &mut self,
        name: &str,
        shape: &[usize],
        numbers: impl IntoIterator<Item = f64>,
    ) -> Result<()> {
        self.start(name, "<f8", shape)?;
        Ok(write_numbers(&mut self.0, numbers.into_iter())?)
    }

    /// Adds names, each as wide as the longest, four bytes a letter.
    pub(crate) fn names(&mut self, name: &str, names: &[String]) -> Result<()> {
        let longest = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(1);
        self.start(name, &format!("<U{longest}"), &[names.len()])?;
        for name in names {
            let codes = name.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
            for code in codes {
                self.0.write_all(&code.to_le_bytes())?;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.0.finish()?.flush()?;
        Ok(())
    }

    /// Starts a .npy file: magic, version 1.0, and a description padded to 64 bytes.
    fn start(&mut self, name: &str, kind: &str, shape: &[usize]) -> Result<()> {
        // A time of its own, so that the same numbers give the same bytes.
        let stored = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(true);
        self.0.start_file(format!("{name}.npy"), stored)?;
        Ok(self.0.write_all(&head(&format!("'{kind}'"), shape))?)
    }
}

/// What fails once, and takes anything from then on: a ZIP that failed is ended once more when it is dropped, and would
/// complain by itself.
struct Once<W> {
    out: W,
    failed: bool,
    /// Where the next byte goes.
    at: u64,
}

impl<W> Once<W> {
    fn try_to<T>(&mut self, done: T, act: impl FnOnce(&mut W) -> std::io::Result<T>) -> std::io::Result<T> {
        if self.failed {
            return Ok(done);
        }
        let tried = act(&mut self.out);
        self.failed = tried.is_err();
        tried
    }
}

impl<W: Write> Write for Once<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let taken = self.try_to(bytes.len(), |out| out.write(bytes))?;
        self.at += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.try_to((), Write::flush)
    }
}

impl<W: Seek> Seek for Once<W> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let meant = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) | SeekFrom::End(by) => self.at.saturating_add_signed(by),
        };
        self.at = self.try_to(meant, |out| out.seek(to))?;
        Ok(self.at)
    }
}

/// The head of a .npy file: magic, version 1.0, and a description padded to 64 bytes, as long for any number of rows.
pub(crate) fn head(kind: &str, shape: &[usize]) -> Vec<u8> {
    /// The most digits of a length.
    const DIGITS: usize = 20;
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    // A tuple of one has a comma.
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut text = format!(
        "{{'descr': {kind}, 'fortran_order': False, 'shape': ({}{comma}), }}",
        lengths.join(", ")
    );
    let longest = text.len() - lengths.first().map_or(DIGITS, String::len) + DIGITS;
    while text.len() < longest || (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend((text.len() as u16).to_le_bytes());
    head.extend(text.as_bytes());
    head
}
