//! What every target asks of a reader.

use linkwork_formats::{Format, Mode, Options, read};

/// A file either loads or is refused with findings, in every mode; what loads has finite dynamics or says why not.
pub fn reads(format: Format, bytes: &[u8]) {
    for mode in [Mode::Strict, Mode::Warn, Mode::Repair] {
        let options = Options {
            mode,
            ..Options::default()
        };
        match read("fuzz", bytes, format, &options) {
            Ok(robot) => finite(&robot.mechanism),
            Err(refusal) => assert!(!refusal.report.findings.is_empty(), "refused without a reason"),
        }
    }
}

fn finite(m: &linkwork::Mechanism) {
    // Robots of a thousand links teach nothing that smaller ones do not.
    if m.nv() > 200 {
        return;
    }
    let (q, v) = (m.neutral(), vec![0.5; m.nv()]);
    for result in [m.inverse_dynamics(&q, &v, &v), m.forward_dynamics(&q, &v, &v)] {
        if let Ok(numbers) = result {
            assert!(numbers.iter().all(|x| x.is_finite()), "a number that is not finite");
        }
    }
}
