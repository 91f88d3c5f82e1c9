//! `linkwork linearize` as users run it.

mod program_support;

use program_support::{complaint, directory, linkwork, text};
use serde_json::Value;

#[test]
fn a_cart_pole_is_balanced_and_drawn() {
    let here = directory("linearize");
    let arguments = [
        "linearize",
        "cart_pole",
        "--driven",
        "rail",
        "--lqr",
        "1,1,0.1,0.1",
        "--effort",
        "0.1",
        "--poles",
        "poles.svg",
        "--out",
        "model.npz",
    ];
    let output = linkwork(&here, &arguments);
    let report = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        report.contains("4 states, 1 inputs") && report.contains("controllable"),
        "{report}"
    );
    assert!(report.contains("gain K"), "{report}");
    let picture = std::fs::read_to_string(here.join("poles.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && picture.contains("with the regulator"));
    let archive = std::fs::read(here.join("model.npz")).unwrap();
    assert!(archive.starts_with(b"PK") && archive.windows(5).any(|w| w == b"A.npy"));
}

#[test]
fn matrices_are_written_in_every_form() {
    let here = directory("linearize_forms");
    let run = |file: &str| {
        let state = "{\"q\": [0.3, -0.2], \"v\": [0.1, 0]}";
        let output = linkwork(
            &here,
            &["linearize", "double_pendulum", "--at", state, "--out", file, "--json"],
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_str::<Value>(&text(&output.stdout)).unwrap()
    };
    let printed = run("model.json");
    let written = std::fs::read_to_string(here.join("model.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(printed["A"], written["A"]);
    assert_eq!(printed["A"].as_array().unwrap().len(), 4);
    assert_eq!(printed["poles"].as_array().unwrap().len(), 4);
    run("model.csv");
    let csv = std::fs::read_to_string(here.join("model_A.csv")).unwrap();
    assert_eq!(csv.lines().count(), 5, "{csv}");
    let first: f64 = csv.lines().nth(3).unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert_eq!(Some(first), printed["A"][2][0].as_f64());
    run("model.m");
    let matlab = std::fs::read_to_string(here.join("model.m")).unwrap();
    assert!(
        matlab.contains("A = zeros(4, 4);") && matlab.contains("step = -1.0;"),
        "{matlab}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_a_hint() {
    for (arguments, word) in [
        (&["linearize", "cart_pole", "--at", "{\"q\": [0]}"][..], "q"),
        (&["linearize", "cart_pole", "--at", "{\"p\": [0]}"], "unknown field"),
        (&["linearize", "cart_pole", "--at", "nowhere.json"], "nowhere.json"),
        (&["linearize", "cart_pole", "--driven", "cart"], "rail"),
        (&["linearize", "cart_pole", "--out", "model.xyz"], ".npz"),
        (&["linearize", "cart_pole", "--step", "-1"], "-1"),
        (
            &["linearize", "cart_pole", "--lqr", "1", "--effort", "0"],
            "above nought",
        ),
    ] {
        let (code, said) = complaint(arguments);
        assert!(code != 0 && said.contains(word), "{arguments:?}: {said}");
    }
}
