//! `linkwork prove`: proofs, counterexamples, and complaints.

mod program_support;

use program_support::{complaint, directory, linkwork, text};
use serde_json::Value;

#[test]
fn a_proof_is_printed_step_by_step() {
    let here = directory("prove");
    let output = linkwork(&here, &["prove", "(I - H psi K) H phi = H psi"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in ["proved", "K = E_φG", "Kalman gain", "= Hψ"] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
    let output = linkwork(&here, &["prove", "m m^* = Mass", "--latex"]);
    assert!(text(&output.stdout).starts_with(r"\begin{align*}"));
}

#[test]
fn a_counterexample_is_shown_and_fails() {
    let here = directory("prove-false");
    let output = linkwork(&here, &["prove", "P = M", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["proved"], false);
    assert!(answer["counterexample"]["difference"].as_f64().unwrap() > 1e-3);
    assert!(answer["failed"].as_u64().unwrap() > 0);
    let output = linkwork(&here, &["prove", "tau_bar^2 = tau_bar"]);
    let said = text(&output.stdout);
    assert!(
        said.contains("proved where there are no rotors") && said.contains("rotor"),
        "{said}"
    );
}

#[test]
fn what_is_no_equation_is_complained_about() {
    let (code, said) = complaint(&["prove", "Mass"]);
    assert_eq!(code, 2);
    assert!(said.contains("an equation has one equals sign"), "{said}");
}
