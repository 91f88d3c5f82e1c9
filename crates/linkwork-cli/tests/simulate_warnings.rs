//! What `linkwork simulate` tells before a run: axes that come to be one, and gains that no step can follow.

mod program_support;

use program_support::{complaint, directory, linkwork, numbers, text};
use serde_json::Value;

#[test]
fn axes_that_come_to_be_one_are_told_before_the_run() {
    let here = directory("simulate_lock");
    let link = |name: &str| format!("<link name=\"{name}\"/>");
    let joint = |name: &str, parent: &str, child: &str, axis: &str| {
        format!(
            "<joint name=\"{name}\" type=\"revolute\"><parent link=\"{parent}\"/><child link=\"{child}\"/><axis xyz=\"{axis}\"/>\
             <limit lower=\"-2\" upper=\"2\" effort=\"1\" velocity=\"1\"/></joint>"
        )
    };
    let leg = "<link name=\"leg\"><inertial><origin xyz=\"0 0.1 -0.2\"/><mass value=\"1\"/>\
               <inertia ixx=\"0.1\" iyy=\"0.1\" izz=\"0.05\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>";
    let robot = [
        link("base"),
        link("a"),
        link("b"),
        leg.to_owned(),
        joint("Z", "base", "a", "0 0 1"),
        joint("X", "a", "b", "1 0 0"),
        joint("Y", "b", "leg", "0 1 0"),
    ];
    std::fs::write(
        here.join("hip.urdf"),
        format!("<robot name=\"hip\">{}</robot>", robot.concat()),
    )
    .expect("written");
    let ran = linkwork(&here, &["simulate", "hip.urdf", "--seconds", "0.01"]);
    let said = text(&ran.stderr);
    assert!(said.contains("the axes of `Z` and `Y` are one"), "{said}");
}

#[test]
fn gains_that_no_step_can_follow_are_refused_with_those_that_would_do() {
    let run = ["simulate", "arm7", "-c", "pd", "--seconds", "0.1", "--kd"];
    let (code, said) = complaint(&[&run[..], &["1e9"]].concat());
    assert_eq!(code, 2, "{said}");
    let most = said.split("give --kd of at most ").nth(1).expect("it names a gain");
    let most = most.split(',').next().expect("a number");
    // The gain that is named does, and so do the others; that steps are implicit then is told.
    let here = directory("simulate_gains");
    let run_with = |more: &[&str]| -> Value {
        let output = linkwork(&here, &[&run[..], more, &["--json"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(
            text(&output.stderr).contains("implicit midpoint"),
            "{}",
            text(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).expect("a JSON summary")
    };
    let end = run_with(&[most]);
    assert!(numbers(&end["end"]["v"]).iter().all(|v| v.abs() < 1e-2), "{end}");
    run_with(&["1e9", "--no-effort-limits"]);
    run_with(&["1e9", "--kp", "1e3"]);
}

/// A lever of 1 kg that dry friction holds by far.
#[test]
fn dry_friction_holds_what_it_can_hold() {
    let here = directory("simulate_held");
    for friction in ["100", "1e9"] {
        let robot = format!(
            "<robot name=\"lever\"><link name=\"b\"/><link name=\"a\"><inertial><origin xyz=\"0.5 0 0\"/><mass value=\"1\"/>\
             <inertia ixx=\"0.01\" iyy=\"0.01\" izz=\"0.01\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\
             <joint name=\"j\" type=\"continuous\"><parent link=\"b\"/><child link=\"a\"/><axis xyz=\"0 1 0\"/>\
             <dynamics friction=\"{friction}\"/></joint></robot>"
        );
        std::fs::write(here.join("lever.urdf"), robot).expect("written");
        let ran = linkwork(&here, &["simulate", "lever.urdf", "--seconds", "2", "--json"]);
        let said = text(&ran.stderr);
        assert!(
            ran.status.success() && said.contains("the dry friction of joint `j`"),
            "{said}"
        );
        let end: Value = serde_json::from_slice(&ran.stdout).expect("a JSON summary");
        let q = numbers(&end["end"]["q"])[0];
        assert!(q.abs() < 1e-3, "{friction}: it slipped by {q} rad");
    }
}
