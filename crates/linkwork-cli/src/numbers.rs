//! Numbers as users write them, and as files hold them.

use crate::user_error::UserError;
use anyhow::Context;
use std::io::{Read, Write};
use std::path::Path;

/// The longest run, in seconds: a day.
const LONGEST: f64 = 86_400.0;

/// How long to simulate.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s <= LONGEST => Ok(s),
        Ok(_) => Err(format!("must be more than 0 and at most {LONGEST} seconds")),
        Err(_) => Err("not a number of seconds".to_owned()),
    }
}

/// A seed of random numbers.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "a seed is a whole number, zero or more".to_owned())
}

/// The largest file of states or torques, in bytes.
const LARGEST_FILE: u64 = 256 << 20;

/// The text of a file, of which no more than so much is read: devices have no end.
pub(crate) fn read_bounded(path: &Path) -> anyhow::Result<String> {
    let bytes = read_at_most(path, LARGEST_FILE)?;
    let problem = || format!("cannot read `{}`", path.display());
    String::from_utf8(bytes)
        .map_err(|e| e.utf8_error())
        .with_context(problem)
}

/// The bytes of a log, which may be a large file, but not a device without an end.
pub(crate) fn read_log(path: &Path) -> anyhow::Result<Vec<u8>> {
    let problem = || format!("cannot read `{}`", path.display());
    let found = std::fs::metadata(path).with_context(problem)?;
    read_at_most(path, if found.is_file() { found.len() } else { LARGEST_FILE })
}

fn read_at_most(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    let problem = || format!("cannot read `{}`", path.display());
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).with_context(problem)?;
    file.take(most + 1).read_to_end(&mut bytes).with_context(problem)?;
    if bytes.len() as u64 > most {
        let problem = format!("`{}` holds more than {} MB", path.display(), most >> 20);
        return Err(UserError::failure(problem, "give a smaller file"));
    }
    Ok(bytes)
}

/// A number above zero and at most so large.
pub(crate) fn positive(text: &str, largest: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x <= largest => Ok(x),
        Ok(_) => Err(format!("must be more than 0 and at most {largest}")),
        Err(_) => Err("not a number".to_owned()),
    }
}

/// A number with so many significant digits, in scientific form where it is large or small, and without a −0.
pub(crate) fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{}", x + 0.0);
    }
    // Rounded first: 9.9999996 has one digit more before its point than it seems.
    let rounded = format!("{x:.*e}", digits.saturating_sub(1));
    let exponent = rounded.rsplit('e').next().and_then(|e| e.parse::<i32>().ok());
    match exponent {
        Some(e @ -4..=5) => format!("{x:.*}", (digits as i32 - 1 - e).max(0) as usize),
        _ => rounded,
    }
}

/// Numbers as bytes, many at a time.
pub(crate) fn write_numbers(out: &mut impl Write, numbers: impl Iterator<Item = f64>) -> std::io::Result<()> {
    const MANY: usize = 1 << 16;
    let mut bytes = Vec::with_capacity(MANY);
    for x in numbers {
        bytes.extend(x.to_le_bytes());
        if bytes.len() == MANY {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_whatever_their_size() {
        for (x, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1.00000"),
            (-3.132_091_952, "-3.13209"),
            (9.999_999_6, "10.0000"),
            (123_456.7, "123457"),
            (999_999.7, "1.00000e6"),
            (1.5e-7, "1.50000e-7"),
            (-0.000_123_456_78, "-0.000123457"),
            (-2e300, "-2.00000e300"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(significant(x, 6), text);
        }
    }
}
