//! Errors against a tolerance, and the worst of each kind.

use super::error_of;
use std::collections::BTreeMap;

/// Asserts errors and remembers the largest of every name; they are printed when it goes.
pub struct Worst {
    tolerance: f64,
    found: BTreeMap<&'static str, f64>,
}

impl Worst {
    pub fn new(tolerance: f64) -> Self {
        let found = BTreeMap::new();
        Self { tolerance, found }
    }

    /// Asserts that `got` is `expect` within the tolerance in units of `scale`.
    #[track_caller]
    pub fn check(&mut self, what: &'static str, of: &str, got: &[f64], expect: &[f64], scale: f64) {
        let scale = scale.max(f64::MIN_POSITIVE);
        let error = error_of(got, expect, scale);
        let worst = self.found.entry(what).or_default();
        *worst = worst.max(error);
        assert!(
            error <= self.tolerance,
            "{of}, {what}: error {error:e} of {scale:e} exceeds {:e}\n got {got:?}\nwant {expect:?}",
            self.tolerance
        );
    }
}

impl Drop for Worst {
    fn drop(&mut self) {
        for (what, error) in &self.found {
            println!("{error:8.1e}  {what}");
        }
    }
}
