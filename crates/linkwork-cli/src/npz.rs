//! NumPy's archives: a ZIP file, stored, of one .npy for each array.

use crate::numbers::write_numbers;
use anyhow::Result;
use std::io::{Seek, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An archive that is being written.
pub(crate) struct Archive<W: Write + Seek>(ZipWriter<W>);

impl<W: Write + Seek> Archive<W> {
    pub(crate) fn new(out: W) -> Self {
        Self(ZipWriter::new(out))
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
        let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
        // A tuple of one has a comma.
        let comma = if shape.len() == 1 { "," } else { "" };
        let mut text = format!(
            "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}{comma}), }}",
            lengths.join(", ")
        );
        while (10 + text.len() + 1) % 64 != 0 {
            text.push(' ');
        }
        text.push('\n');
        // A time of its own, so that the same numbers give the same bytes.
        let stored = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(true);
        self.0.start_file(format!("{name}.npy"), stored)?;
        self.0.write_all(b"\x93NUMPY\x01\x00")?;
        self.0.write_all(&(text.len() as u16).to_le_bytes())?;
        Ok(self.0.write_all(text.as_bytes())?)
    }
}
