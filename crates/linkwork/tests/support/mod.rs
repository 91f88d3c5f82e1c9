//! What tests compare the library with: dense definitions, golden numbers and random mechanisms.
#![allow(dead_code, unreachable_pub, non_snake_case)]

pub mod arm;
pub mod contacts;
pub mod conventional;
pub mod coupled;
pub mod dense;
pub mod double_double;
pub mod dual;
pub mod expressions;
pub mod golden;
pub mod golden_contact;
pub mod library;
pub mod manifold;
pub mod matrix;
pub mod pushes;
pub mod random;
pub mod resisted;
pub mod riccati;
pub mod rigid;
pub mod scale;
pub mod worst;

/// The same mechanism with a motor for every degree of freedom, those of free joints included.
pub fn fully_driven(m: &linkwork::Mechanism) -> linkwork::Mechanism {
    let own = |j: &&linkwork::model::Joint| !m.v_range(m.joint(&j.name).unwrap()).unwrap().is_empty();
    let names: Vec<&str> = m.joints().iter().filter(own).map(|j| j.name.as_str()).collect();
    m.driven_by(&names).unwrap()
}

/// The largest difference, relative to the largest expected magnitude (or absolute where that is zero).
pub fn error(got: &[f64], expect: &[f64]) -> f64 {
    let largest = expect.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    error_of(got, expect, if largest > 0.0 { largest } else { 1.0 })
}

/// The largest difference in units of `scale`; infinite where anything is not a number.
pub fn error_of(got: &[f64], expect: &[f64], scale: f64) -> f64 {
    assert_eq!(got.len(), expect.len(), "different lengths");
    let differences = got.iter().zip(expect).map(|(g, e)| (g - e).abs() / scale);
    differences.fold(0.0, |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) })
}

/// Asserts that `error` is at most `tolerance`.
#[track_caller]
pub fn assert_close(what: &str, got: &[f64], expect: &[f64], tolerance: f64) {
    let error = error(got, expect);
    assert!(
        error <= tolerance,
        "{what}: error {error:e} exceeds {tolerance:e}\n got {got:?}\nwant {expect:?}"
    );
}

/// Asserts that `error_of` is at most `tolerance`.
#[track_caller]
pub fn assert_close_of(what: &str, got: &[f64], expect: &[f64], scale: f64, tolerance: f64) {
    let error = error_of(got, expect, scale);
    assert!(
        error <= tolerance,
        "{what}: error {error:e} of {scale:e} exceeds {tolerance:e}\n got {got:?}\nwant {expect:?}"
    );
}
