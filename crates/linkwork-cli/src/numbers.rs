//! Numbers as users write them, and as files hold them.

use std::io::Write;

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

/// A number above nought and at most so large.
pub(crate) fn positive(text: &str, largest: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x <= largest => Ok(x),
        Ok(_) => Err(format!("must be more than 0 and at most {largest}")),
        Err(_) => Err("not a number".to_owned()),
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
