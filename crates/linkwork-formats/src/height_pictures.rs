//! Heights of the ground from pictures.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The most numbers that a file of heights may have.
pub(crate) const MOST: usize = 1 << 24;

/// How many bits of a picture's brightness count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Eight, whatever it has.
    Eight,
    /// All.
    Whole,
}

/// Rows, columns, and the brightness of a PNG picture as a share of the most that it can have, row by row from its top.
pub(crate) fn picture(path: &Path, depth: Depth) -> Result<(usize, usize, Vec<f64>), String> {
    let wrong = |problem: &dyn core::fmt::Display| format!("its picture cannot be read: {problem}");
    let file = File::open(path).map_err(|e| wrong(&e))?;
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(match depth {
        Depth::Eight => png::Transformations::normalize_to_color8(),
        Depth::Whole => png::Transformations::EXPAND,
    });
    let mut reader = decoder.read_info().map_err(|e| wrong(&e))?;
    let size = reader.output_buffer_size().filter(|n| *n <= 8 * MOST);
    let mut bytes = vec![0; size.ok_or_else(|| wrong(&"it is too large"))?];
    let info = reader.next_frame(&mut bytes).map_err(|e| wrong(&e))?;
    let (rows, columns) = (info.height as usize, info.width as usize);
    let (samples, bytes) = (info.color_type.samples(), &bytes[..info.buffer_size()]);
    let brightness = match info.bit_depth {
        png::BitDepth::Sixteen => {
            let pixels = bytes.chunks_exact(2 * samples);
            pixels
                .map(|p| f64::from(u16::from_be_bytes([p[0], p[1]])) / 65535.0)
                .collect()
        }
        _ => bytes.chunks_exact(samples).map(|p| f64::from(p[0]) / 255.0).collect(),
    };
    Ok((rows, columns, brightness))
}
