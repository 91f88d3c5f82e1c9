//! How long something takes, said before it begins.

use crate::style;

/// What takes no longer needs no word, in seconds.
const SHORT: f64 = 10.0;

/// Tells of work that grows with the cube of a size and will take long. `rate` is what a unit of it took, in seconds, on a
/// machine of today.
pub(crate) fn tell(what: &str, size: usize, rate: f64) {
    let seconds = rate * (size as f64).powi(3);
    if seconds < SHORT {
        return;
    }
    let word = style::paint(style::HEAD, "note");
    let time = match seconds {
        s if s < 90.0 => format!("{s:.0} seconds"),
        s if s < 5400.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{:.0} hours", s / 3600.0),
    };
    anstream::eprintln!("{word}: {what} takes some {time}, as the cube of {size}; Ctrl-C ends it");
}
