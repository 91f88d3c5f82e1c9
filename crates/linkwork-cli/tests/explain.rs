//! `linkwork explain`: one joint in words and in JSON.

mod program_support;

use program_support::{complaint, directory, linkwork, text};
use serde_json::Value;

#[test]
fn a_joint_is_explained() {
    let here = directory("explain");
    let output = linkwork(&here, &["explain", "puma560", "--joint", "joint2"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in [
        "which is",
        "gravity",
        "𝒞(q, ξ)",
        "P, free",
        "r, locked",
        "not flat, because of",
    ] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
}

#[test]
fn the_parts_of_a_torque_add_up() {
    let here = directory("explain-json");
    let robot = ["explain", "arm7", "--joint", "2", "--random", "3", "--json"];
    let output = linkwork(&here, &robot);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let degree = &told["degrees_of_freedom"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let links = degree["links"].as_array().unwrap();
    let parts = ["acceleration", "velocity", "gravity", "outside"];
    let sum: f64 = links
        .iter()
        .flat_map(|link| parts.map(|part| number(&link[part])))
        .sum();
    assert!((sum + number(&degree["rotor"]) - number(&degree["torque"])).abs() < 1e-9);
    assert!(number(&degree["inertia_free"]) <= number(&degree["inertia_locked"]) + 1e-12);
}

#[test]
fn unknown_joints_and_bad_pushes_are_complained_about() {
    for (arguments, problem) in [
        (["explain", "arm7", "--joint", "elbow"], "has no joint `elbow`"),
        (
            ["explain", "arm7", "--push", "nothing=1,2,3,4,5,6"],
            "no link that moves",
        ),
        (["explain", "arm7", "--q", "1,2"], "but needs"),
    ] {
        let (code, said) = complaint(&arguments);
        assert!(code == 2 && said.contains(problem), "{said}");
    }
}
