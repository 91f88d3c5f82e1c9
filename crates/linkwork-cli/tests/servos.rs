//! `linkwork simulate` with the actuators, tendons and sensors of a file.

mod program_support;

use program_support::{directory, linkwork, numbers, text};
use serde_json::Value;
use std::path::Path;

const ARM: &str = r#"<mujoco model="arm">
  <worldbody>
    <body name="upper" pos="0 0 2"><joint name="shoulder" axis="0 1 0" damping="0.2"/><geom type="capsule" size="0.04 0.2" pos="0 0 -0.2" mass="1"/>
      <body name="lower" pos="0 0 -0.4"><joint name="elbow" axis="0 1 0"/><geom type="capsule" size="0.03 0.2" pos="0 0 -0.2" mass="0.5"/>
        <site name="hand" pos="0 0 -0.4"/></body></body>
  </worldbody>
  <tendon><fixed name="link" stiffness="2"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="1"/></fixed></tendon>
  <actuator>
    <position name="s" joint="shoulder" kp="400" kv="40"/>
    <position name="e" joint="elbow" kp="200" kv="10" ctrlrange="-1 1"/>
    <muscle name="biceps" joint="elbow"/>
  </actuator>
  <sensor><jointpos name="angle" joint="elbow"/><accelerometer name="imu" site="hand"/><touch name="skin" site="hand"/></sensor>
  <keyframe><key name="up" qpos="0.5 0.5" ctrl="0.5 0.5 0"/></keyframe>
</mujoco>"#;

/// The summary of a run; notes of what is left out are no errors.
fn simulate(here: &Path, arguments: &[&str]) -> Value {
    let output = linkwork(here, &[&["simulate"], arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a JSON summary")
}

/// The columns of a log in CSV.
fn columns(log: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = log.lines();
    let names = lines.next().unwrap().split(',').map(str::to_owned).collect();
    let rows = lines
        .map(|l| l.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    (names, rows)
}

#[test]
fn servos_go_where_they_are_told_and_sensors_are_logged() {
    let here = directory("servos");
    std::fs::write(here.join("arm.xml"), ARM).unwrap();
    let told = ["arm.xml", "--seconds", "4", "--gravity", "0,0,0", "--no-contact"];
    let with = |more: &[&str]| simulate(&here, &[&told[..], more].concat());
    // Against the spring 2(a + b): 400(0.3 − a) = 2(a + b) = 200(0.4 − b).
    let end = numbers(&with(&["--ctrl", "0.3,0.4,0", "--log", "run.csv"])["end"]["q"]);
    let sum = |q: &[f64]| 2.0 * (q[0] + q[1]);
    assert!((400.0 * (0.3 - end[0]) - sum(&end)).abs() < 1e-6, "{end:?}");
    assert!((200.0 * (0.4 - end[1]) - sum(&end)).abs() < 1e-6, "{end:?}");
    let (names, rows) = columns(&std::fs::read_to_string(here.join("run.csv")).unwrap());
    let at = |name: &str| {
        names
            .iter()
            .position(|n| n == name)
            .unwrap_or_else(|| panic!("{name}: {names:?}"))
    };
    let last = rows.last().unwrap();
    assert_eq!(last[at("sensor.angle")], end[1]);
    assert!((last[at("actuator.s")] - 400.0 * (0.3 - end[0])).abs() < 1e-6);
    // Nothing is touched.
    assert!(last[at("sensor.imu.x")].abs() < 1e-3 && last[at("sensor.skin")] == 0.0);
    // By name, within the range, from a keyframe, and from a file.
    let bounded = numbers(&with(&["--ctrl", "e=7"])["end"]["q"]);
    assert!((200.0 * (1.0 - bounded[1]) - sum(&bounded)).abs() < 1e-6, "{bounded:?}");
    let key = numbers(&with(&["--start-key", "up"])["end"]["q"]);
    assert!((400.0 * (0.5 - key[0]) - sum(&key)).abs() < 1e-6, "{key:?}");
    std::fs::write(here.join("ctrl.csv"), "t,s,e,b\n0,0,0,0\n1,0.3,0.4,0\n").unwrap();
    let filed = numbers(&with(&["--ctrl", "ctrl.csv"])["end"]["q"]);
    assert!((filed[0] - end[0]).abs() < 1e-6, "{filed:?}");
    // Without them it hangs in the tendon's spring alone.
    let idle = numbers(&with(&["-c", "none", "--q", "0.3,-0.1"])["end"]["q"]);
    assert!((idle[0] - end[0]).abs() > 1e-3, "{idle:?}");
}

#[test]
fn stiff_servos_are_stepped_implicitly() {
    let here = directory("stiff_servos");
    std::fs::write(
        here.join("stiff.xml"),
        ARM.replace("kp=\"400\" kv=\"40\"", "kp=\"1e6\" kv=\"1e4\""),
    )
    .unwrap();
    let summary = simulate(&here, &["stiff.xml", "--ctrl", "0.3,0.4,0", "--seconds", "2"]);
    let end = numbers(&summary["end"]["q"]);
    assert!((end[0] - 0.3).abs() < 1e-4, "{end:?}");
    assert!(numbers(&summary["end"]["v"]).iter().all(|v| v.abs() < 1e-2));
}

#[test]
fn what_is_not_modelled_and_wrong_controls_are_told() {
    let here = directory("servo_complaints");
    std::fs::write(here.join("arm.xml"), ARM).unwrap();
    let run = linkwork(&here, &["simulate", "arm.xml", "--seconds", "0.1", "--log", "a.csv"]);
    let told = text(&run.stderr);
    assert!(run.status.success(), "{told}");
    assert!(
        told.contains("`biceps`: no limits of joints end the length of this muscle") && !told.contains("skin"),
        "{told}"
    );
    for (ctrl, words) in [
        ("1,2", "2 numbers for 3 actuators"),
        ("x=1", "no actuator `x`"),
        ("1,2,y", "`y` is not a number"),
        ("gone.csv", "cannot read"),
    ] {
        let run = linkwork(&here, &["simulate", "arm.xml", "--ctrl", ctrl]);
        let told = text(&run.stderr);
        assert!(!run.status.success() && told.contains(words), "{ctrl}: {told}");
    }
    let run = linkwork(&here, &["simulate", "arm7", "--ctrl", "1"]);
    assert!(text(&run.stderr).contains("no actuators"), "{}", text(&run.stderr));
    let run = linkwork(&here, &["simulate", "arm.xml", "--ctrl", "1,2,3", "-c", "pd"]);
    assert!(text(&run.stderr).contains("--ctrl is for"), "{}", text(&run.stderr));
}

#[test]
fn stiff_servos_stand_in_contact_at_any_step() {
    let here = directory("servos_in_contact");
    // Explicit steps of 5 ms would need kp h² below the inertia of 0.01 kg m², and a kv of 40 below 2 kg m²/s.
    let leg = r#"<mujoco><worldbody><geom type="plane" size="5 5 1"/>
        <body name="trunk" pos="0 0 0.62"><joint name="lift" type="slide" axis="0 0 1"/><geom type="box" size="0.1 0.1 0.05" mass="3"/>
          <body name="thigh"><joint name="hip" axis="0 1 0"/><geom type="capsule" size="0.02 0.14" pos="0 0 -0.15" mass="0.2"/>
            <body name="shank" pos="0 0 -0.3"><joint name="knee" axis="0 1 0"/><geom type="capsule" size="0.02 0.14" pos="0 0 -0.15" mass="0.1"/>
              <body name="foot" pos="0 0 -0.3"><joint name="ankle" axis="0 1 0"/><geom type="sphere" size="0.02" mass="0.1"/></body></body></body></body>
        </worldbody>
        <actuator><position joint="hip" kp="20000" kv="100"/><position joint="knee" kp="20000" kv="100"/><position joint="ankle" kp="500" kv="40"/></actuator>
        <keyframe><key name="crouch" qpos="-0.02 0.3 -0.6 0.3" ctrl="0.3 -0.6 0.3"/></keyframe></mujoco>"#;
    std::fs::write(here.join("leg.xml"), leg).unwrap();
    let run = |dt: &str| {
        simulate(
            &here,
            &["leg.xml", "--start-key", "crouch", "--seconds", "2", "--dt", dt],
        )
    };
    let [coarse, fine] = ["0.005", "0.0005"].map(|dt| numbers(&run(dt)["end"]["q"]));
    assert!(
        coarse.iter().zip(&fine).all(|(a, b)| (a - b).abs() < 2e-3),
        "{coarse:?} {fine:?}"
    );
    // The servos give by what the trunk weighs, and no more.
    for (q, told) in coarse[1..].iter().zip([0.3, -0.6, 0.3]) {
        assert!((q - told).abs() < 0.02, "{coarse:?}");
    }
}
