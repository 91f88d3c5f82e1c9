//! Energy along a motion.

use serde::Serialize;

/// Kinetic and potential energy, in joules.
#[derive(Serialize)]
pub(crate) struct Energy {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) peak_kinetic: f64,
    /// The largest change of the sum since the start.
    pub(crate) largest_change: f64,
    /// Whether nothing gives or takes energy, so that any change is the integrator's error.
    pub(crate) conserved: bool,
}

impl Energy {
    /// From kinetic and potential energies, one after another.
    pub(crate) fn along(energies: impl Iterator<Item = (f64, f64)>, conserved: bool) -> Self {
        let mut start = None;
        let (mut end, mut peak_kinetic, mut largest_change) = (0.0, 0.0, 0.0);
        for (kinetic, potential) in energies {
            end = kinetic + potential;
            peak_kinetic = worse(peak_kinetic, kinetic);
            largest_change = worse(largest_change, (end - *start.get_or_insert(end)).abs());
        }
        Self {
            start: start.unwrap_or(0.0),
            end,
            peak_kinetic,
            largest_change,
            conserved,
        }
    }
}

/// The larger of two numbers; NaN counts as the largest.
pub(crate) fn worse(a: f64, b: f64) -> f64 {
    if b.is_nan() || b > a { b } else { a }
}
