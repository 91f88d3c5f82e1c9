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

/// Energies as they come.
#[derive(Clone, Copy, Default)]
pub(crate) struct Energies {
    start: Option<f64>,
    end: f64,
    peak_kinetic: f64,
    largest_change: f64,
}

impl Energies {
    pub(crate) fn add(&mut self, kinetic: f64, potential: f64) {
        self.end = kinetic + potential;
        self.peak_kinetic = worse(self.peak_kinetic, kinetic);
        let change = (self.end - *self.start.get_or_insert(self.end)).abs();
        self.largest_change = worse(self.largest_change, change);
    }

    pub(crate) fn told(self, conserved: bool) -> Energy {
        Energy {
            start: self.start.unwrap_or(0.0),
            end: self.end,
            peak_kinetic: self.peak_kinetic,
            largest_change: self.largest_change,
            conserved,
        }
    }
}

/// The larger of two numbers; NaN counts as the largest.
pub(crate) fn worse(a: f64, b: f64) -> f64 {
    if b.is_nan() || b > a { b } else { a }
}
