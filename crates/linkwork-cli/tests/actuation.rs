//! Motors, gains, steps and starts: what `simulate`, `control` and `linearize` make of them.

mod program_support;

use program_support::{complaint, directory, linkwork, number, numbers, simulate, text};
use serde_json::Value;

#[test]
fn controllers_refuse_what_no_motor_drives() {
    for (arguments, joint) in [
        (&["simulate", "quadruped", "-c", "gravity"][..], "`float`"),
        (&["simulate", "quadruped", "-c", "computed-torque"], "`float`"),
        (&["simulate", "quadruped", "-c", "rate-damping"], "`float`"),
        (&["simulate", "quadruped", "-c", "pose", "--frame", "imu"], "`float`"),
        (&["simulate", "cart_pole", "-c", "gravity", "--q", "0,0.5"], "`hinge`"),
        (&["control", "humanoid"], "`float`"),
        (&["linearize", "quadruped"], "`float[5]`"),
    ] {
        let (code, message) = complaint(arguments);
        assert_eq!(code, 1, "{arguments:?}: {message}");
        assert!(
            message.contains(joint) && message.contains("driven"),
            "{arguments:?}: {message}"
        );
    }
    let (code, message) = complaint(&["simulate", "quadruped", "-c", "gravity", "--driven", "flaot"]);
    assert!(code == 2 && message.contains("did you mean `float`"), "{message}");
}

#[test]
fn joint_pd_acts_where_motors_are() {
    let here = directory("pd_underactuated");
    let run = [
        "simulate",
        "quadruped",
        "-c",
        "pd",
        "--seconds",
        "0.5",
        "--log",
        "a.csv",
        "--json",
    ];
    let output = linkwork(&here, &run);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("no motor drives `float`"),
        "{}",
        text(&output.stderr)
    );
    let log = std::fs::read_to_string(here.join("a.csv")).expect("a log");
    let names: Vec<&str> = log.lines().next().expect("names").split(',').collect();
    for line in log.lines().skip(1) {
        for (name, x) in names.iter().zip(line.split(',')) {
            assert!(!name.starts_with("tau.float") || x == "0.0", "{name} {x}");
        }
    }
    // It falls as a stone does: half a second down 1.2 m.
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a summary");
    let end = numbers(&summary["end"]["q"]);
    assert!((end[6] + 0.5 * 9.81 * 0.25).abs() < 0.05, "{end:?}");
}

#[test]
fn joint_pd_rests_at_its_target() {
    let here = directory("pd_rests");
    for robot in ["arm7", "puma560", "scara", "double_pendulum"] {
        let summary = simulate(&here, &[robot, "-c", "pd", "--seconds", "3"]);
        let v = numbers(&summary["end"]["v"]);
        assert!(v.iter().all(|v| v.abs() < 1e-6), "{robot}: {v:?}");
    }
}

#[test]
fn gains_that_steps_cannot_bear_are_found_before_the_run() {
    let here = directory("stiff_gains");
    let stiff = [
        "simulate",
        "arm7",
        "-c",
        "pd",
        "--kp",
        "100",
        "--kd",
        "200",
        "--seconds",
        "1",
        "--json",
    ];
    let output = linkwork(&here, &stiff);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("midpoint") && said.contains("joint7") && said.contains("--dt"),
        "{said}"
    );
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a summary");
    assert_eq!(summary["integrator"], "implicit midpoint");
    let v = numbers(&summary["end"]["v"]);
    assert!(v.iter().all(|v| v.abs() < 0.01), "{v:?}");
    // Who insists on a method is told of the step that would do, and it does.
    for method in ["rk4", "euler"] {
        let (code, message) = complaint(&[&stiff[..10], &["-i", method]].concat());
        assert!(code == 2 && message.contains("joint7"), "{message}");
        let step = message
            .split("--dt ")
            .nth(1)
            .and_then(|x| x.split(',').next())
            .expect("a step");
        let summary = simulate(
            &here,
            &[&stiff[1..8], &["-i", method, "--dt", step, "--seconds", "0.05"]].concat(),
        );
        let v = numbers(&summary["end"]["v"]);
        assert!(v.iter().all(|v| v.abs() < 0.01), "{method}: {v:?}");
    }
}

/// A finger with a damper far too strong for its inertia.
const DAMPED: &str = "<robot name='damped'><link name='base'/><link name='finger'><inertial><origin xyz='0 0 0.1'/>
<mass value='0.01'/><inertia ixx='1e-6' iyy='1e-6' izz='1e-6' ixy='0' ixz='0' iyz='0'/></inertial></link>
<joint name='knuckle' type='revolute'><parent link='base'/><child link='finger'/><axis xyz='0 1 0'/>
<limit lower='0.2' upper='1' effort='5' velocity='1'/><dynamics damping='2'/></joint></robot>";

#[test]
fn stiff_damping_is_stepped_implicitly_and_starts_lie_within_limits() {
    let here = directory("stiff_damping");
    std::fs::write(here.join("damped.urdf"), DAMPED).expect("a file");
    let output = linkwork(&here, &["simulate", "damped.urdf", "--seconds", "1", "--json"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("implicit midpoint") && said.contains("`knuckle`"),
        "{said}"
    );
    assert!(said.contains("beyond the limits of joint `knuckle`"), "{said}");
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a summary");
    let q = number(&summary["end"]["q"][0]);
    assert!((0.2..0.3).contains(&q), "{q}");
    // A start that was asked for is taken, and the stop pushes back.
    let output = linkwork(
        &here,
        &["simulate", "damped.urdf", "--q", "0.1", "--seconds", "3", "--json"],
    );
    let said = text(&output.stderr);
    assert!(
        output.status.success() && said.contains("its stop pushes it back"),
        "{said}"
    );
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a summary");
    let q = number(&summary["end"]["q"][0]);
    assert!((0.19..0.3).contains(&q), "{q}");
}
