//! `linkwork eval` against golden numbers, as users run it.

mod program_support;

use program_support::{complaint, directory, linkwork_with, text};
use serde_json::{Value, json};
use std::fmt::Write;

const FILES: [(&str, &str); 6] = [
    ("arm6", include_str!("../../linkwork/tests/golden/arm6.json")),
    ("scara", include_str!("../../linkwork/tests/golden/scara.json")),
    ("quadruped", include_str!("../../linkwork/tests/golden/quadruped.json")),
    ("forest", include_str!("../../linkwork/tests/golden/forest.json")),
    ("zoo", include_str!("../../linkwork/tests/golden/zoo.json")),
    ("chain100", include_str!("../../linkwork/tests/golden/chain100.json")),
];

/// All numbers in a value, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        Value::Number(x) => vec![x.as_f64().unwrap()],
        other => panic!("no number: {other}"),
    }
}

/// A mechanism of the golden files in the native format.
fn native_model(name: &str, mechanism: &Value) -> String {
    let (mut links, mut joints) = (Vec::new(), Vec::new());
    for (i, link) in mechanism["links"].as_array().unwrap().iter().enumerate() {
        let inertia = numbers(&link["inertia"]);
        let moments = [0, 1, 2, 4, 5, 8].map(|k| inertia[k]);
        let name = format!("link{}", i + 1);
        links.push(json!({"name": name, "mass": link["mass"], "com": link["com"], "moments": moments}));
        let parent = match link["parent"].as_i64().unwrap() {
            -1 => "world".to_owned(),
            k => format!("link{}", k + 1),
        };
        let mut joint = json!({
            "name": format!("joint{}", i + 1), "kind": link["kind"], "parent": parent, "child": name,
            "origin": {"rotation": link["R"], "translation": link["p"]},
        });
        if !link["axis"].is_null() {
            joint["axis"] = link["axis"].clone();
        }
        joints.push(joint);
    }
    json!({
        "format": "linkwork-robot", "version": 1, "name": name, "gravity": mechanism["gravity"],
        "links": links, "joints": joints,
    })
    .to_string()
}

/// Every quantity of the golden files that is asked for by its name alone.
const QUANTITIES: [&str; 19] = [
    "forward_dynamics",
    "inverse_dynamics",
    "mass_matrix",
    "mass_matrix_inverse",
    "bias",
    "gravity_torque",
    "kinetic_energy",
    "potential_energy",
    "com",
    "xi",
    "nu",
    "kappa",
    "eps",
    "C_xi",
    "C_nu",
    "dtau_dq",
    "dtau_dqd",
    "dqdd_dq",
    "dqdd_dqd",
];

fn assert_close(what: &str, got: &Value, expect: &Value) {
    let (a, b) = (numbers(got), numbers(expect));
    assert_eq!(a.len(), b.len(), "{what}");
    let scale = b.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() <= 1e-9 * scale, "{what}: {a} instead of {b}");
    }
}

#[test]
fn quantities_are_those_of_the_golden_files() {
    let here = directory("eval_golden");
    for (name, file) in FILES {
        let golden: Value = serde_json::from_str(file).unwrap();
        let model = format!("{name}.json");
        std::fs::write(here.join(&model), native_model(name, &golden["mechanism"])).unwrap();
        let cases = golden["cases"].as_array().unwrap();
        let mut input = String::new();
        for case in cases {
            let state = json!({"q": case["q"], "v": case["v"], "a": case["a"], "tau": case["tau"]});
            writeln!(input, "{state}").unwrap();
        }
        let run = |quantities: &[&str]| -> Vec<Value> {
            let arguments = [&["eval", &model][..], quantities].concat();
            let output = linkwork_with(&here, &arguments, &input);
            assert!(output.status.success(), "{}", text(&output.stderr));
            text(&output.stdout)
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect()
        };
        let lines = run(&QUANTITIES);
        assert_eq!(lines.len(), cases.len());
        for (line, case) in lines.iter().zip(cases) {
            for quantity in QUANTITIES {
                let expect = &case["expect"][quantity];
                // Of the longest chain only vectors are known.
                if expect.is_null() {
                    assert_eq!(name, "chain100", "{quantity}");
                    continue;
                }
                assert_close(&format!("{name}: {quantity}"), &line[quantity], expect);
                // Numbers, lists and lists of lists as there.
                let shape = |v: &Value| (v.is_array(), v.get(0).is_some_and(Value::is_array));
                assert_eq!(shape(&line[quantity]), shape(expect), "{quantity}");
            }
        }
        let tips = cases[0]["expect"]["tips"].as_array();
        for (i, tip) in tips.into_iter().flatten().enumerate() {
            let frame = format!("link{}", tip["link"].as_i64().unwrap() + 1);
            let lines = run(&["jacobian", "osim_inverse", "pose", "--frame", &frame]);
            for (line, case) in lines.iter().zip(cases) {
                let tip = &case["expect"]["tips"][i];
                assert_close("jacobian", &line["jacobian"], &tip["jacobian_body"]);
                assert_close("osim_inverse", &line["osim_inverse"], &tip["osim_inverse_body"]);
                let position: Vec<&Value> = (0..3).map(|k| &line["pose"][k][3]).collect();
                assert_close("pose", &json!(position), &tip["pose"]["p"]);
            }
        }
    }
}

#[test]
fn one_state_comes_from_flags_and_what_is_missing_is_zero() {
    let here = directory("eval_flags");
    let arguments = ["eval", "pendulum", "kinetic_energy", "gravity_torque", "--v", "-3"];
    let output = linkwork_with(&here, &arguments, "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stdout),
        "{\"kinetic_energy\":1.5,\"gravity_torque\":[0.0]}\n"
    );
    let output = linkwork_with(
        &here,
        &["eval", "pendulum", "gravity_torque"],
        "{}\n\n{\"q\": [1.5707963267948966]}",
    );
    let lines = text(&output.stdout);
    assert_eq!(lines.lines().next(), Some("{\"gravity_torque\":[0.0]}"));
    assert_eq!(lines.lines().nth(1), Some("{\"gravity_torque\":[4.905]}"));
    // No state, no line.
    let output = linkwork_with(&here, &["eval", "pendulum", "mass_matrix"], "");
    assert!(output.status.success() && output.stdout.is_empty());
}

#[test]
fn wrong_states_name_their_line_and_answers_before_are_kept() {
    let here = directory("eval_wrong");
    let input = "{\"q\": [0.1]}\n{\"q\": [0.1, 0.2]}\n";
    let output = linkwork_with(&here, &["eval", "pendulum", "bias"], input);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().count(), 1);
    let message = text(&output.stderr);
    assert!(
        message.contains("standard input, line 2: q has 2 numbers but needs 1"),
        "{message}"
    );
    for (line, problem) in [
        ("{\"q\": [1e999]}", "out of range"),
        ("{\"q\": [NaN]}", "line 1"),
        ("{\"q\": 1}", "a list of numbers"),
        ("{\"speed\": [1]}", "unknown key `speed`"),
        ("{\"v\": [1e70]}", "pivot"),
        ("{\"q\": [1]", "EOF"),
        ("\u{0}", "line 1"),
    ] {
        let output = linkwork_with(&here, &["eval", "pendulum", "bias"], line);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(
            message.contains(problem) && message.contains("line 1"),
            "{line}: {message}"
        );
    }
}

#[test]
fn wrong_usage_of_eval_is_explained() {
    let (code, message) = complaint(&["eval", "pendulum", "mass_matrx", "--q", "0"]);
    assert!(code == 2 && message.contains("mass_matrix"), "{message}");
    let (code, message) = complaint(&["eval", "arm7", "jacobian", "--q", "0,0,0,0,0,0,0"]);
    assert!(code == 2 && message.contains("--frame"), "{message}");
    let (code, message) = complaint(&["eval", "pendulum", "jacobian", "--frame", "toe", "--q", "0"]);
    assert!(code == 2 && message.contains("tip, rod"), "{message}");
    let (code, message) = complaint(&["eval", "pendulum", "bias", "--q", "0,1"]);
    assert!(
        code == 2 && message.contains("q has 2 numbers but needs 1"),
        "{message}"
    );
    let (code, message) = complaint(&["eval", "pendulum", "bias", "--q", "x"]);
    assert!(code == 2 && message.contains("--q"), "{message}");
    let (code, message) = complaint(&["eval", "pendulum"]);
    assert!(code == 2 && message.contains("QUANTITY"), "{message}");
    let (code, message) = complaint(&["eval", "pendulum", "bias", "--gravity", "1,2"]);
    assert!(code == 2 && message.contains("needs 3"), "{message}");
}
