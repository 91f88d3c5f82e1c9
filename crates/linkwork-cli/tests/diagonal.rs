//! `linkwork rates` and `linkwork control` as users run them.

mod program_support;

use program_support::{complaint, directory, linkwork, text};
use serde_json::Value;

#[test]
fn rates_of_every_joint_add_up_to_the_energy() {
    let here = directory("rates");
    for robot in ["puma560", "quadruped"] {
        let output = linkwork(&here, &["rates", robot, "--random", "3", "--json", "--terms"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let table: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
        let rows = table["joints"].as_array().expect("rows");
        let number = |row: &Value, key: &str| row[key].as_f64().expect("a number");
        let energy: f64 = rows.iter().map(|row| 0.5 * number(row, "nu").powi(2)).sum();
        let expect = table["kinetic_energy"].as_f64().expect("a number");
        assert!((energy - expect).abs() < 1e-9 * expect, "{energy} {expect}");
        for row in rows {
            assert!((number(row, "xi") - number(row, "qd") - number(row, "correction")).abs() < 1e-12);
            assert!(number(row, "inertia_free") <= number(row, "inertia_locked") * (1.0 + 1e-12));
            let terms = &row["terms"];
            let parts = ["outboard", "inboard", "present", "change", "gravity"];
            let sum: f64 = parts.iter().map(|key| number(terms, key)).sum();
            assert!((sum - number(terms, "sum")).abs() < 1e-9);
        }
    }
}

#[test]
fn rates_are_a_table_and_a_plot() {
    let here = directory("rates_table");
    let output = linkwork(
        &here,
        &["rates", "puma560", "--terms", "--plot", "rates.svg", "--seconds", "0.5"],
    );
    let report = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for word in ["G*V⁺", "joint6", "kinetic energy", "𝒞(q, ν)"] {
        assert!(report.contains(word), "{report}");
    }
    let picture = std::fs::read_to_string(here.join("rates.svg")).expect("the plot is written");
    assert!(picture.starts_with("<svg ") && picture.contains("joint3"));
}

#[test]
fn wrong_states_are_refused_in_words() {
    for (arguments, words) in [
        (vec!["rates", "arm7", "--v", "1,2"], "v has 2 numbers but needs 7"),
        (vec!["rates", "arm7", "--tau", "1"], "tau has 1 numbers but needs 7"),
        (vec!["rates", "arm7", "--q", "nan,0,0,0,0,0,0"], "q[0]"),
        (vec!["control", "arm7", "--from", "1"], "q has 1 numbers but needs 7"),
        (vec!["control", "arm7", "--frame", "nose"], "nose"),
        (
            vec!["control", "arm7", "--from", "0,0,0,0,0,0,0", "--to", "0,0,0,0,0,0,0"],
            "already",
        ),
    ] {
        let (code, message) = complaint(&arguments);
        assert!(code == 2 && message.contains(words), "{arguments:?}: {message}");
    }
}

#[test]
fn three_controllers_do_one_task() {
    let here = directory("control");
    let output = linkwork(
        &here,
        &["control", "arm7", "--seconds", "6", "--json", "--plot", "control.svg"],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let outcomes: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    let outcomes = outcomes.as_array().expect("three");
    assert_eq!(outcomes.len(), 3);
    for outcome in outcomes {
        assert!(
            outcome["settled"].as_f64().is_some_and(|t| t > 0.1 && t < 5.0),
            "{outcome}"
        );
    }
    for outcome in outcomes {
        assert!(outcome["final_distance"].as_f64().is_some_and(|d| d < 0.2), "{outcome}");
        assert!(outcome["peak_torque"].as_f64().is_some_and(|t| t > 0.0), "{outcome}");
        assert!(outcome["energy_used"].as_f64().is_some_and(|t| t > 0.0), "{outcome}");
    }
    let picture = std::fs::read_to_string(here.join("control.svg")).expect("the plot is written");
    assert!(picture.contains("decoupled") && picture.contains("computed torque"));
}
