//! `linkwork simulate` as users run it: known answers, controllers, logs and plots.

mod program_support;

use program_support::{complaint, directory, linkwork, number, numbers, simulate, text};
use serde_json::Value;
use std::path::Path;

const TURN: &str = "1 0 0 0 1 0 0 0 1";

/// A text model in a file, and its name.
fn model(here: &Path, name: &str, joints: &[String]) -> String {
    let text = format!("{}\n{}\n", joints.len(), joints.join("\n"));
    std::fs::write(here.join(name), text).expect("a file can be written");
    name.to_owned()
}

/// A point of 1 kg on a rod of 1 m without mass, hanging along −z.
fn point(parent: usize) -> String {
    let z = if parent == 0 { 0 } else { -1 };
    format!("RY {parent} {TURN} 0 0 {z} 1 0 0 -1 0 0 0 0 0 0 0 0 0 0 0 0")
}

#[test]
fn a_pendulum_is_where_it_must_be() {
    let here = directory("simulate_pendulum");
    let robot = model(&here, "pendulum.txt", &[point(0)]);
    let summary = simulate(&here, &[&robot, "--q", "1.5707963267948966", "-i", "adaptive"]);
    let angle = numbers(&summary["end"]["q"])[0];
    let error = (-angle.sin() + 0.275087462576)
        .abs()
        .max((-angle.cos() + 0.961419205099).abs());
    assert!(error < 1e-9, "{error:e}");
    assert_eq!(number(&summary["end"]["t"]), 10.0);
}

#[test]
fn a_double_pendulum_keeps_its_energy() {
    let here = directory("simulate_double");
    let robot = model(&here, "double.txt", &[point(0), point(1)]);
    let start = [&robot, "--q", "1.5707963267948966,0"];
    let summary = simulate(&here, &[&start[..], &["-i", "adaptive"]].concat());
    assert!(number(&summary["energy"]["largest_change"]) < 1e-9);
    assert_eq!(summary["energy"]["conserved"], true);
    let drift = |dt: &str| {
        let summary = simulate(&here, &[&start[..], &["--seconds", "2", "--dt", dt]].concat());
        (number(&summary["energy"]["end"]) - number(&summary["energy"]["start"])).abs()
    };
    let order = (drift("0.002") / drift("0.001")).log2();
    assert!(order > 3.7, "{order}");
}

#[test]
fn a_tennis_racket_tumbles_and_keeps_momentum_and_energy() {
    let here = directory("simulate_racket");
    let racket = format!("FreeFlyer 0 {TURN} 0 0 0 1 0 0 0 1 0 0 0 2 0 0 0 3 0 0 0");
    let robot = model(&here, "racket.txt", &[racket]);
    let run = [
        "--gravity",
        "0,0,0",
        "--v",
        "0.01,5,0.01,0,0,0",
        "--seconds",
        "100",
        "--log",
        "racket.csv",
    ];
    let summary = simulate(&here, &[&[robot.as_str()], &run[..]].concat());
    let start = number(&summary["energy"]["start"]);
    assert!(number(&summary["energy"]["largest_change"]) < 1e-10 * start);
    let log = std::fs::read_to_string(here.join("racket.csv")).expect("the log is written");
    let mut flips = 0;
    let mut side = true;
    for line in log.lines().skip(1) {
        let row: Vec<f64> = line.split(',').map(|x| x.parse().expect("a number")).collect();
        let ([x, y, z, w], omega) = ([row[1], row[2], row[3], row[4]], [row[8], row[9], row[10]]);
        assert!((x * x + y * y + z * z + w * w - 1.0).abs() < 1e-14);
        // R(q) I ω, which was (0.01, 10, 0.03).
        let l = [omega[0], 2.0 * omega[1], 3.0 * omega[2]];
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [
                a[1] * b[2] - a[2] * b[1],
                a[2] * b[0] - a[0] * b[2],
                a[0] * b[1] - a[1] * b[0],
            ]
        };
        let twice = cross([x, y, z], l).map(|c| 2.0 * c);
        let more = cross([x, y, z], twice);
        for (i, expect) in [0.01, 10.0, 0.03].into_iter().enumerate() {
            let world = l[i] + w * twice[i] + more[i];
            assert!((world - expect).abs() < 1e-9, "momentum {i} at {} s: {world}", row[0]);
        }
        if (omega[1] > 0.0) != side {
            (flips, side) = (flips + 1, !side);
        }
    }
    assert!(flips > 10, "it must tumble: {flips}");
}

#[test]
fn both_forms_of_the_equations_give_the_same_motion() {
    let here = directory("simulate_forms");
    let run = |form: &str| {
        let arguments = [
            "arm7",
            "--random",
            "3",
            "--ideal",
            "--seconds",
            "0.5",
            "-i",
            "adaptive",
            "--equations",
            form,
        ];
        numbers(&simulate(&here, &arguments)["end"]["q"])
    };
    let (standard, diagonalized, unnormalized) = (run("standard"), run("diagonalized"), run("unnormalized"));
    for i in 0..7 {
        assert!(
            (standard[i] - diagonalized[i]).abs() < 1e-6,
            "{standard:?} {diagonalized:?}"
        );
        assert!(
            (standard[i] - unnormalized[i]).abs() < 1e-6,
            "{standard:?} {unnormalized:?}"
        );
    }
}

#[test]
fn every_integrator_runs_and_agrees() {
    let here = directory("simulate_integrators");
    let run = |integrator: &str| {
        let arguments = [
            "puma560",
            "--random",
            "2",
            "--seconds",
            "0.3",
            "--ideal",
            "-i",
            integrator,
        ];
        numbers(&simulate(&here, &arguments)["end"]["q"])
    };
    let exact = run("adaptive");
    for (integrator, tolerance) in [("rk4", 1e-8), ("midpoint", 1e-3), ("euler", 0.1)] {
        let end = run(integrator);
        let apart = exact.iter().zip(&end).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        assert!(apart < tolerance, "{integrator}: {apart}");
    }
}

#[test]
fn controllers_do_what_they_say() {
    let here = directory("simulate_controllers");
    let speed = |summary: &Value| {
        numbers(&summary["end"]["v"])
            .iter()
            .fold(0.0, |m: f64, v| m.max(v.abs()))
    };
    // Gravity compensation holds a robot where it is.
    let summary = simulate(&here, &["arm7", "--random", "1", "--seconds", "1", "-c", "gravity"]);
    assert!(speed(&summary) < 1e-9);
    // Computed torque leads to the target as (1 + 10t)e^(−10t), every joint on its own.
    let target = "0.3,0.5,-0.2,-1.5,0.1,1.2,0.4";
    let control = [
        "--target",
        target,
        "--seconds",
        "1",
        "--no-effort-limits",
        "--no-limits",
        "--q",
        "0,0,0,0,0,0,0",
    ];
    let run = [&["arm7", "-c", "computed-torque"], &control[..]].concat();
    let end = numbers(&simulate(&here, &run)["end"]["q"]);
    let left = 11.0 * (-10.0_f64).exp();
    for (end, target) in end.iter().zip([0.3, 0.5, -0.2, -1.5, 0.1, 1.2, 0.4]) {
        assert!((end - target * (1.0 - left)).abs() < 1e-6, "{end} {target}");
    }
    // Proportional and derivative torques without gravity lead there too.
    let run = [
        "puma560",
        "-c",
        "pd",
        "--gravity",
        "0,0,0",
        "--target",
        "0.2,0.1,0.3,0,0.2,0",
        "--no-limits",
    ];
    let run = [
        &run[..],
        &["--kp", "400", "--kd", "80", "--no-effort-limits", "--ideal"],
    ]
    .concat();
    let end = numbers(&simulate(&here, &run)["end"]["q"]);
    for (end, target) in end.iter().zip([0.2, 0.1, 0.3, 0.0, 0.2, 0.0]) {
        assert!((end - target).abs() < 1e-2, "{end} {target}");
    }
    // Damping of total rates makes kinetic energy fall as e^(−2ct).
    let run = [
        "arm7",
        "-c",
        "rate-damping",
        "--kd",
        "2",
        "--ideal",
        "--no-effort-limits",
        "--seconds",
        "1",
    ];
    let run = [&run[..], &["--v", "1,0.5,-1,0.3,1,-0.2,0.7", "--log", "damped.csv"]].concat();
    simulate(&here, &run);
    let log = std::fs::read_to_string(here.join("damped.csv")).expect("the log is written");
    let names: Vec<&str> = log.lines().next().expect("names").split(',').collect();
    let kinetic = names.iter().position(|n| *n == "kinetic").expect("a column");
    let energies: Vec<f64> = log
        .lines()
        .skip(1)
        .map(|line| {
            line.split(',')
                .nth(kinetic)
                .and_then(|x| x.parse().ok())
                .expect("a number")
        })
        .collect();
    let ratio = energies[energies.len() - 1] / energies[0];
    assert!((ratio / (-4.0_f64).exp() - 1.0).abs() < 1e-3, "{ratio}");
    // The pose controller brings a frame to where it is at the target.
    let run = [
        "arm7", "-c", "pose", "--frame", "flange", "--target", target, "--kp", "200", "--kd", "12",
    ];
    let start = [
        "--q",
        "0.1,0.3,0,-1.2,0,1,0.2",
        "--no-limits",
        "--no-effort-limits",
        "--seconds",
        "20",
    ];
    let end = numbers(&simulate(&here, &[&run[..], &start].concat())["end"]["q"]);
    let pose = |q: &str| {
        let output = linkwork(&here, &["eval", "arm7", "pose", "--frame", "flange", "--q", q]);
        let line: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        line["pose"]
            .as_array()
            .expect("rows")
            .iter()
            .flat_map(numbers)
            .collect::<Vec<f64>>()
    };
    let end: Vec<String> = end.iter().map(f64::to_string).collect();
    for (a, b) in pose(&end.join(",")).iter().zip(pose(target)) {
        assert!((a - b).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn torque_files_and_pushes_act_in_their_time() {
    let here = directory("simulate_torques");
    let rail = model(
        &here,
        "rail.txt",
        &[format!("PX 0 {TURN} 0 0 0 2 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0")],
    );
    std::fs::write(here.join("t.csv"), "t,rail\n0,2\n1,2\n2,0\n").expect("a file can be written");
    let run = [rail.as_str(), "-c", "file", "--torques", "t.csv", "--seconds", "3"];
    let summary = simulate(&here, &run);
    // 2 kg under 2 N for a second, then a ramp down to zero.
    assert!((numbers(&summary["end"]["v"])[0] - 1.5).abs() < 1e-9);
    // An impulse of 6 N for a quarter of a second, whose ends are met exactly by every integrator.
    for integrator in ["rk4", "adaptive", "euler", "midpoint"] {
        let run = [
            rail.as_str(),
            "--push",
            "link1:0.10003:0.35003:6,0,5",
            "--seconds",
            "1",
            "-i",
            integrator,
        ];
        let speed = numbers(&simulate(&here, &run)["end"]["v"])[0];
        assert!((speed - 0.75).abs() < 1e-9, "{integrator}: {speed}");
    }
}

#[test]
fn stops_hold_joints_within_their_limits() {
    let here = directory("simulate_stops");
    // The rail of the cart ends at 2.4 m; the motor pushes with all its 10 N.
    let start = [
        "cart_pole",
        "--seconds",
        "6",
        "-c",
        "pd",
        "--target",
        "50,0",
        "--kp",
        "1000",
        "--kd",
        "0.001",
        "--driven",
        "rail,hinge",
    ];
    for integrator in ["rk4", "adaptive"] {
        let end = numbers(&simulate(&here, &[&start[..], &["-i", integrator]].concat())["end"]["q"]);
        assert!(end[0] > 2.0 && end[0] < 2.41, "{integrator}: {end:?}");
    }
    let end = numbers(&simulate(&here, &[&start[..], &["--no-limits"]].concat())["end"]["q"]);
    assert!(end[0] > 5.0, "{end:?}");
}

/// A parallelogram of two cranks and a coupler, closed by a point.
const LINKAGE: &str = r#"<mujoco model="linkage">
  <worldbody>
    <body name="crank" pos="0 0 1">
      <joint name="left" type="hinge" axis="0 1 0"/>
      <inertial pos="0 0 -0.2" mass="1" diaginertia="0.02 0.02 0.001"/>
      <body name="coupler" pos="0 0 -0.4">
        <joint name="knee" type="hinge" axis="0 1 0"/>
        <inertial pos="0.25 0 0" mass="2" diaginertia="0.001 0.03 0.03"/>
      </body>
    </body>
    <body name="rocker" pos="0.5 0 1">
      <joint name="right" type="hinge" axis="0 1 0"/>
      <inertial pos="0 0 -0.2" mass="1" diaginertia="0.02 0.02 0.001"/>
    </body>
  </worldbody>
  <equality><connect body1="coupler" body2="rocker" anchor="0.5 0 0"/></equality>
</mujoco>
"#;

#[test]
fn loops_stay_closed() {
    let here = directory("simulate_loops");
    std::fs::write(here.join("linkage.xml"), LINKAGE).expect("a file can be written");
    let run = ["simulate", "linkage.xml", "--v", "2,-2,2", "--seconds", "3", "--json"];
    let output = linkwork(&here, &run);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a JSON summary");
    assert!(number(&summary["closure"]) < 1e-9, "{summary}");
    assert!(number(&summary["energy"]["largest_change"]) < 1e-6, "{summary}");
    let q = numbers(&summary["end"]["q"]);
    assert!(
        (q[0] - q[2]).abs() < 1e-9 && (q[0] + q[1]).abs() < 1e-9,
        "a parallelogram: {q:?}"
    );
    let arguments = ["simulate", "linkage.xml", "--equations", "diagonalized"];
    let output = linkwork(&here, &arguments);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("closed loops"),
        "{}",
        text(&output.stderr)
    );
}

/// Two fingers, of which one follows the other.
const GRIPPER: &str = r#"<robot name="gripper">
  <link name="base"/>
  <link name="left"><inertial><origin xyz="0 0 0.1"/><mass value="0.2"/><inertia ixx="0.001" iyy="0.001" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><origin xyz="0 0 0.1"/><mass value="0.2"/><inertia ixx="0.001" iyy="0.001" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="open" type="continuous"><parent link="base"/><child link="left"/><axis xyz="1 0 0"/></joint>
  <joint name="mirror" type="continuous"><parent link="base"/><child link="right"/><axis xyz="1 0 0"/><mimic joint="open" multiplier="-2"/></joint>
</robot>
"#;

#[test]
fn followers_follow_in_every_command() {
    let here = directory("simulate_couplings");
    std::fs::write(here.join("gripper.urdf"), GRIPPER).expect("a file can be written");
    let ask = |arguments: &[&str]| -> Value {
        let output = linkwork(&here, arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let page = ask(&["info", "gripper.urdf", "--json"]);
    assert_eq!((&page["nv"], &page["joints"][1]["v_start"]), (&1.into(), &0.into()));
    let mirror = &page["joints"][2];
    assert_eq!((&mirror["nq"], &mirror["follows"]), (&0.into(), &"open".into()));
    assert_eq!(numbers(&mirror["coefficients"]), [0.0, -2.0]);
    // J = 0.001 + 0.2 · 0.1² each, the second one 2² times.
    let answer = ask(&["eval", "gripper.urdf", "mass_matrix", "--q", "0.3"]);
    assert!(
        (number(&answer["mass_matrix"][0][0]) - 5.0 * 0.003).abs() < 1e-15,
        "{answer}"
    );
    let answer = ask(&[
        "eval",
        "gripper.urdf",
        "mass_matrix",
        "--q",
        "0.3,1",
        "--ignore-couplings",
    ]);
    assert!((number(&answer["mass_matrix"][0][0]) - 0.003).abs() < 1e-15, "{answer}");
    let run = [
        "gripper.urdf",
        "--q",
        "0.3",
        "--seconds",
        "2",
        "--log",
        "a.csv",
        "--plot",
        "a.svg",
    ];
    let summary = simulate(&here, &run);
    assert!(number(&summary["energy"]["largest_change"]) < 1e-9, "{summary}");
    let log = std::fs::read_to_string(here.join("a.csv")).expect("a log");
    assert!(log.starts_with("t,q.open,v.open,tau.open,"), "{log:.60}");
    let loose = simulate(&here, &["gripper.urdf", "--seconds", "1", "--ignore-couplings"]);
    assert_eq!(loose["nv"], 2);
    // What is converted still follows.
    for file in ["gripper.xml", "gripper.json", "again.urdf"] {
        let output = linkwork(&here, &["convert", "gripper.urdf", file]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let answer = ask(&["eval", file, "mass_matrix", "--q", "0.3"]);
        assert!(
            (number(&answer["mass_matrix"][0][0]) - 0.015).abs() < 1e-14,
            "{file}: {answer}"
        );
        let output = linkwork(&here, &["check", "--strict", file]);
        assert!(output.status.success(), "{}", text(&output.stdout));
    }
}

#[test]
fn the_regulator_balances_and_holds() {
    let here = directory("simulate_lqr");
    let balance = [
        "cart_pole",
        "--q",
        "0.1,0.2",
        "-c",
        "lqr",
        "--driven",
        "rail",
        "--weights",
        "1,10,1,1",
        "--seconds",
        "20",
    ];
    for (integrator, equations) in [("rk4", "standard"), ("adaptive", "standard"), ("rk4", "diagonalized")] {
        let how = ["-i", integrator, "--equations", equations];
        let end = simulate(&here, &[&balance[..], &how].concat())["end"].clone();
        let state = [numbers(&end["q"]), numbers(&end["v"])].concat();
        assert!(state.iter().all(|x| x.abs() < 1e-3), "{integrator}: {state:?}");
    }
    // The same start falls without it.
    let end = numbers(&simulate(&here, &["cart_pole", "--q", "0.1,0.2", "--seconds", "2"])["end"]["q"]);
    assert!(end[1].abs() > 1.0, "{end:?}");
    let target = "0.2,-0.5,0.3,0.4,-0.2,0.1";
    let hold = [
        "puma560",
        "--target",
        target,
        "-c",
        "lqr",
        "--weights",
        "1000",
        "--effort",
        "0.01",
        "--seconds",
        "20",
        "--ideal",
    ];
    let start = ["--q", "0.3,-0.4,0.2,0.5,-0.1,0.0"];
    let end = numbers(&simulate(&here, &[&hold[..], &start].concat())["end"]["q"]);
    let goal: Vec<f64> = target.split(',').map(|x| x.parse().expect("a number")).collect();
    assert!(end.iter().zip(goal).all(|(q, goal)| (q - goal).abs() < 1e-3), "{end:?}");
    for (arguments, code, words) in [
        (&["double_pendulum", "-c", "lqr", "--weights", "1,2"][..], 2, "4 states"),
        (&["double_pendulum", "-c", "lqr", "--driven", "knee"], 2, "knee"),
        (
            &["cart_pole", "-c", "lqr", "--driven", "rail", "--target", "0,0.5"],
            1,
            "cannot rest there",
        ),
        (
            &[
                "quadruped",
                "-c",
                "lqr",
                "--gravity",
                "0,0,0",
                "--driven",
                "front_left_knee",
            ],
            1,
            "drive more joints",
        ),
    ] {
        let (found, message) = complaint(&[&["simulate"], arguments].concat());
        assert!(found == code && message.contains(words), "{arguments:?}: {message}");
    }
}

#[test]
fn a_run_that_fails_keeps_what_came_before() {
    let here = directory("simulate_failure");
    let start = [
        "simulate",
        "double_pendulum",
        "--v",
        "1e9,0",
        "--dt",
        "0.1",
        "--log",
        "kept.csv",
        "--json",
    ];
    let output = linkwork(&here, &start);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(
        message.contains("error: at t = ") && message.contains("hint: what came before is kept"),
        "{message}"
    );
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a JSON summary");
    assert!(number(&summary["seconds"]) < 10.0);
    assert!(
        std::fs::read_to_string(here.join("kept.csv"))
            .expect("the log is written")
            .lines()
            .count()
            >= 2
    );
}

#[test]
fn wrong_usage_of_simulate_is_explained() {
    for (arguments, words) in [
        (&["--seconds", "-1"][..], "more than 0"),
        (&["--dt", "0"], "more than 0"),
        (&["--dt", "0.01", "-i", "adaptive"], "--tolerance"),
        (&["--tolerance", "1e-6"], "--integrator adaptive"),
        (&["--plot", "foo.pdf"], ".svg or .png"),
        (&["--log", "foo.txt"], ".csv, .npz, .parquet or .mcap"),
        (&["--q", "1"], "needs 2"),
        (&["--v", "1,2,3"], "needs 2"),
        (&["--q", "nan,0"], "finite"),
        (&["--push", "tip:1:2"], "FRAME:FROM:TO"),
        (&["--push", "toe:1:2:0,0,1"], "toe"),
        (&["--push", "tip:2:1:0,0,1"], "before it starts"),
        (&["-c", "pose"], "--frame"),
        (&["-c", "file"], "--torques"),
        (&["--torques", "x.csv"], "--controller file"),
        (&["-c", "pd", "--target", "1"], "needs 2"),
        (&["--random", "1", "--q", "0,0"], "cannot be used with"),
        (
            &["--log", "a.csv", "--plot", "a.svg", "--log", "a.csv"],
            "written twice",
        ),
    ] {
        let (code, message) = complaint(&[&["simulate", "double_pendulum"], arguments].concat());
        assert_eq!(code, 2, "{arguments:?}: {message}");
        assert!(message.contains(words), "{arguments:?}: {message}");
    }
    let (code, message) = complaint(&["simulate", "pendulum", "--log", "no/such/place.csv"]);
    assert!(
        code == 1 && message.contains("cannot write to `no/such/place.csv`"),
        "{message}"
    );
}

#[test]
fn feet_that_stand_are_held_and_the_hand_goes_where_it_should() {
    let here = directory("simulate_standing");
    let stands = [
        "-c",
        "operational",
        "--frame",
        "left_hand",
        "--standing-on",
        "left_foot,right_foot",
    ];
    let run = [&["simulate", "humanoid"][..], &stands, &["--seconds", "0.02", "--json"]].concat();
    let output = linkwork(&here, &run);
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a JSON summary");
    // The start is the target: nothing moves, and gravity is held.
    let end = numbers(&summary["end"]["v"]);
    assert!(end.len() == 37 && end.iter().all(|v| v.abs() < 1e-6), "{end:?}");
    let run = [&["simulate", "humanoid", "-c", "pd"][..], &stands[4..]].concat();
    let (code, said) = complaint(&run);
    assert!(code == 2 && said.contains("operational"), "{said}");
    let run = [&["simulate", "humanoid"][..], &stands[..5], &["no_foot"]].concat();
    let (_, said) = complaint(&run);
    assert!(said.contains("no_foot"), "{said}");
}
