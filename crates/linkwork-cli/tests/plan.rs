//! `linkwork plan`, and what follows its files.

mod program_support;

use program_support::{directory, linkwork, text};
use serde_json::Value;

const TO: &str = "0.5,0.4,0,-1,0,0.8,0";

fn planned(here: &std::path::Path, arguments: &[&str]) -> Value {
    let output = linkwork(here, &[&["plan", "arm7", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_str(&text(&output.stdout)).expect("JSON")
}

#[test]
fn a_planned_trajectory_is_followed_to_its_end() {
    let here = directory("plan");
    let plan = planned(
        &here,
        &[
            "--to",
            TO,
            "--out",
            "reach.json",
            "--out",
            "reach.csv",
            "--plot",
            "reach.svg",
        ],
    );
    let seconds = plan["seconds"].as_f64().expect("a number");
    assert!(
        plan["limit_share"].as_f64().is_some_and(|x| x > 0.8 && x <= 1.0),
        "{plan}"
    );
    assert!(text(&std::fs::read(here.join("reach.svg")).expect("a picture")).contains("acceleration"));
    let wanted: Vec<f64> = TO.split(',').map(|x| x.parse().expect("a number")).collect();
    for law in ["track:reach.json", "track:reach.csv", "track-lqr:reach.json"] {
        let long = (seconds + 0.2).to_string();
        let mut arguments = vec![
            "simulate",
            "arm7",
            "-c",
            law,
            "--seconds",
            &long,
            "--json",
            "--no-contact",
        ];
        if law.starts_with("track-lqr") {
            arguments.extend(["--weights", "1e4", "--effort", "1e-3"]);
        }
        let output = linkwork(&here, &arguments);
        assert!(output.status.success(), "{law}: {}", text(&output.stderr));
        let report: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
        let end = report["end"]["q"].as_array().expect("a list");
        for (q, wanted) in end.iter().zip(&wanted) {
            assert!((q.as_f64().expect("a number") - wanted).abs() < 5e-3, "{law}: {end:?}");
        }
    }
}

#[test]
fn the_fastest_is_faster_and_within_limits() {
    let here = directory("plan_fast");
    let limits = ["--max-velocity", "1.5", "--max-acceleration", "8"];
    let smooth = planned(&here, &[&["--to", TO][..], &limits].concat());
    let fast = planned(&here, &[&["--to", TO, "--kind", "fastest"][..], &limits].concat());
    let seconds = |plan: &Value| plan["seconds"].as_f64().expect("a number");
    assert!(seconds(&fast) < seconds(&smooth), "{fast} {smooth}");
    assert!(fast["limit_share"].as_f64().is_some_and(|x| x < 1.01), "{fast}");
    for kind in ["cubic", "parabolic", "blended"] {
        let plan = planned(
            &here,
            &[
                &["--to", TO, "--to", "0.2,0.1,0,-0.5,0,0,0", "--kind", kind][..],
                &limits,
            ]
            .concat(),
        );
        assert!(seconds(&plan) > 0.0);
    }
}

#[test]
fn a_frame_goes_along_a_line() {
    let here = directory("plan_line");
    let arguments = [
        "--from",
        "0,0.5,0,-1.2,0,0.9,0",
        "--frame",
        "flange",
        "--seconds",
        "2",
        "--out",
        "line.csv",
    ];
    let arm = linkwork::model::examples::arm7();
    let flange = arm.frame("flange").expect("there");
    let at = |q: &[f64]| arm.workspace().at(q).expect("sound").pose(flange).expect("its own");
    let (a, b) = (
        at(&[0.0, 0.5, 0.0, -1.2, 0.0, 0.9, 0.0]),
        at(&[0.3, 0.6, 0.1, -1.0, 0.1, 0.8, 0.2]),
    );
    let quaternion = b.rotation.to_quaternion();
    let numbers: Vec<String> = b
        .translation
        .to_array()
        .iter()
        .chain(&quaternion)
        .map(f64::to_string)
        .collect();
    planned(&here, &[&arguments[..], &["--pose", &numbers.join(",")]].concat());
    let rows = text(&std::fs::read(here.join("line.csv")).expect("rows"));
    let way = (b.translation - a.translation) * (1.0 / (b.translation - a.translation).norm());
    let mut last = a;
    for row in rows.lines().skip(1) {
        let numbers: Vec<f64> = row.split(',').map(|x| x.parse().expect("a number")).collect();
        last = at(&numbers[1..8]);
        let off = last.translation - a.translation;
        assert!((off - way * off.dot(way)).norm() < 2e-5);
    }
    assert!((last.translation - b.translation).norm() < 2e-5);
}

#[test]
fn mistakes_are_named() {
    let here = directory("plan_wrong");
    let refused = |arguments: &[&str]| {
        let output = linkwork(&here, arguments);
        let told = text(&output.stderr);
        assert!(!output.status.success() && !told.contains("panicked"), "{told}");
        told
    };
    let said = |arguments: &[&str]| refused(&[&["plan", "arm7"], arguments].concat());
    assert!(said(&[]).contains("nowhere to go"));
    assert!(said(&["--to", "1,2"]).contains("nq = 7"));
    assert!(said(&["--to", "1,2,x"]).contains("`x` is not a number"));
    assert!(said(&["--to", "9,0,0,0,0,0,0", "--seconds", "1"]).contains("limits"));
    assert!(said(&["--to", TO, "--out", "course.txt"]).contains("trajectory"));
    assert!(said(&["--frame", "flange", "--pose", "5,0,0,0,0,0"]).contains("reach"));
    assert!(refused(&["simulate", "arm7", "-c", "track"]).contains("need a trajectory"));
    std::fs::write(here.join("other.json"), "{\"format\": \"other\"}").expect("written");
    assert!(refused(&["simulate", "arm7", "-c", "track:other.json"]).contains("other.json"));
    planned(&here, &["--to", TO, "--out", "arm.json"]);
    assert!(refused(&["simulate", "puma560", "-c", "track:arm.json"]).contains("degrees of freedom"));
}
