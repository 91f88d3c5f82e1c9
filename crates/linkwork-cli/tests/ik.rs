//! `linkwork ik` as users run it.

mod program_support;

use program_support::{complaint, directory, linkwork, text};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}

#[test]
fn a_pose_is_reached_as_the_mechanism_itself_confirms() {
    let here = directory("ik");
    let output = linkwork(
        &here,
        &[
            "ik",
            "arm7",
            "--frame",
            "flange",
            "--pose",
            "0.4,0.2,0.5,3.1,0.1,0.2",
            "--json",
        ],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answer: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    let q = numbers(&answer["q"]);
    let arm = linkwork::model::examples::arm7();
    let pose = arm
        .workspace()
        .at(&q)
        .expect("sound")
        .pose(arm.frame("flange").expect("there"));
    let pose = pose.expect("its own");
    let target = linkwork::spatial::Rotation::from_rpy(3.1, 0.1, 0.2);
    assert!((pose.translation - [0.4, 0.2, 0.5].into()).norm() < 1e-8);
    assert!((pose.rotation.inverse() * target).log().norm() < 1e-8);
}

#[test]
fn a_target_out_of_reach_is_a_failure_that_says_how_far() {
    let here = directory("ik_far");
    let output = linkwork(&here, &["ik", "arm7", "--frame", "flange", "--position", "5,0,0"]);
    assert_eq!(output.status.code(), Some(1));
    let report = text(&output.stdout);
    assert!(
        report.contains("not reachable: nearest is the position of `flange` off by"),
        "{report}"
    );
    assert!(report.contains("joint3") && report.contains("--q "), "{report}");
}

#[test]
fn wrong_targets_are_refused_in_words() {
    for (arguments, words) in [
        (vec!["ik", "arm7", "--frame", "nose", "--position", "0,0,0"], "nose"),
        (
            vec!["ik", "arm7", "--frame", "flange", "--position", "1,2"],
            "position has 2 numbers",
        ),
        (
            vec!["ik", "arm7", "--frame", "flange", "--pose", "1,2,3,4"],
            "pose has 4 numbers",
        ),
        (
            vec!["ik", "arm7", "--frame", "flange", "--pose", "1,2,3,4,0,0,0"],
            "quaternion",
        ),
        (vec!["ik", "arm7", "--frame", "flange"], "--position"),
        (
            vec![
                "ik",
                "arm7",
                "--frame",
                "flange",
                "--position",
                "0,0,1",
                "--q",
                "9,0,0,0,0,0,0",
            ],
            "outside its limits",
        ),
    ] {
        let (code, message) = complaint(&arguments);
        assert!(code == 2 && message.contains(words), "{arguments:?}: {message}");
    }
}

#[test]
fn several_tasks_share_levels_and_weights() {
    let here = directory("ik_tasks");
    let output = linkwork(
        &here,
        &[
            "ik",
            "arm7",
            "--task",
            "position flange 0.4,0.2,0.5",
            "--task",
            "direction flange 0,0,1 0,0,-1 level=1",
            "--task",
            "posture 0,0.3,0,-0.8,0,0.5,0 level=2 preferred",
            "--json",
        ],
    );
    assert!(
        output.status.success(),
        "{} {}",
        text(&output.stdout),
        text(&output.stderr)
    );
    let answer: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    let left = answer["residuals"].as_array().expect("a list");
    assert_eq!(left.len(), 3);
    assert!(left[0]["distance"].as_f64().expect("a number") < 1e-8);
    assert!(left[1]["angle"].as_f64().expect("a number") < 1e-8);
    for (task, words) in [
        ("fly flange 1,2,3", "`fly` is not a kind of task"),
        ("position flange 1,2", "position has 2 numbers"),
        ("position flange 0,0,1 colour=red", "`colour` is not a property"),
        ("distance flange 0.3", "one frame alone"),
        ("position 0,0,1", "has no frame"),
        ("position nose 0,0,1", "nose"),
        ("position flange 0,0,1 level=high", "whole number"),
    ] {
        let (code, message) = complaint(&["ik", "arm7", "--task", task]);
        assert!(code == 2 && message.contains(words), "{task}: {message}");
    }
}

#[test]
fn a_file_of_targets_is_answered_as_each_alone() {
    let here = directory("ik_targets");
    let target =
        |y: f64| format!(r#"{{"tasks": [{{"kind": "position", "frame": "flange", "target": [0.4, {y}, 0.5]}}]}}"#);
    let file = format!("[{}, {}]", target(0.1), target(-0.2));
    std::fs::write(here.join("targets.json"), file).expect("written");
    let output = linkwork(&here, &["ik", "arm7", "--targets", "targets.json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answers: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    let alone = linkwork(
        &here,
        &[
            "ik",
            "arm7",
            "--frame",
            "flange",
            "--position",
            "0.4,-0.2,0.5",
            "--json",
        ],
    );
    let alone: Value = serde_json::from_str(&text(&alone.stdout)).expect("JSON");
    assert_eq!(answers[1]["q"], alone["q"]);
    std::fs::write(
        here.join("bad.json"),
        r#"[{"tasks": [{"kind": "position", "frme": "flange"}]}]"#,
    )
    .expect("written");
    let output = linkwork(&here, &["ik", "arm7", "--targets", "bad.json"]);
    let message = text(&output.stderr);
    assert!(message.contains("bad.json") && message.contains("frme"), "{message}");
}
