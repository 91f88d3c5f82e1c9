//! Numbers as users write them.

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
