//! Motors of MuJoCo 4, delays, lengths of muscles and limits of ball joints, against MuJoCo.

mod support;

use linkwork::contact::{JointRow, Settings, Start, Stepper};
use linkwork_formats::{Controls, Drivetrain, Options, Robot, load};
use serde_json::json;
use std::path::{Path, PathBuf};
use support::reference::{Reference, error, numbers};

fn written(test: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("robot.xml");
    std::fs::write(&path, text).unwrap();
    path
}

fn loaded(path: &Path) -> Robot {
    load(path, &Options::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn wave(n: usize, phase: f64) -> Vec<f64> {
    (0..n).map(|i| (phase + 1.7 * i as f64).sin()).collect()
}

/// An arm with a tendon over its joints.
const BODIES: &str = r#"<worldbody><site name="wall" pos="0 0 0.1"/>
    <body name="upper"><joint name="j" axis="0 1 0" range="-1 2"/><geom type="capsule" size="0.02 0.1" pos="0 0 -0.1"/><site name="b" pos="0.03 0 -0.15"/>
      <body name="lower" pos="0 0 -0.2"><joint name="k" axis="0 1 0" range="-1 0.5"/><geom type="capsule" size="0.02 0.1" pos="0 0 -0.1"/>
        <site name="c" pos="0.03 0 -0.1"/></body></body></worldbody>
  <tendon><spatial name="t"><site site="wall"/><site site="b"/><site site="c"/></spatial></tendon>"#;

const MOTORS: &str = r#"<default><default class="small"><dcmotor motorconst="0.05" resistance="2" cogging="0.01 6 0.3"/></default></default>
  <actuator>
    <dcmotor joint="j" motorconst="0.05" resistance="2" gear="20" armature="0.001" damping="0.01"/>
    <dcmotor joint="k" motorconst="0.05 0.06" resistance="0.5" saturation="0.003 0 0" cogging="0.1 6 0.3"/>
    <dcmotor tendon="t" nominal="12 1 300" saturation="0 2 0" ctrlrange="-0.5 0.5"/>
    <dcmotor joint="k" motorconst="0.05" nominal="12 1 300"/>
    <dcmotor class="small" joint="j" resistance="3" gear="3"/>
    <pid joint="j" input="pos" kp="3" kv="0.2"/>
    <pid joint="k" input="vel" kp="3" kv="0.2" forcerange="-0.4 0.4"/>
    <pid tendon="t" input="ff" kp="3"/>
  </actuator>"#;

#[test]
fn motors_and_their_controllers_are_as_in_mujoco() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let path = written(
        "motors",
        &format!("<mujoco><compiler angle=\"radian\"/>{BODIES}{MOTORS}</mujoco>"),
    );
    let robot = loaded(&path);
    let (m, n) = (&robot.mechanism, robot.actuators.len());
    let mut drives = Drivetrain::new(&robot).unwrap();
    assert_eq!((drives.left_out(), n), (&[][..], 8));
    let states: Vec<_> = (1..=4)
        .map(|seed| {
            let (ctrl, phase) = (wave(n, f64::from(seed)), 0.4 * f64::from(seed));
            let inputs: Vec<f64> = robot
                .actuators
                .iter()
                .zip(&ctrl)
                .map(|(a, u)| a.bounded_control(*u))
                .collect();
            json!({"q": wave(2, phase), "v": wave(2, phase + 2.0), "ctrl": ctrl, "inputs": inputs, "t": 0.0})
        })
        .collect();
    let answer = reference.ask(&json!({"ask": "acts", "file": path, "states": states}));
    let mut workspace = m.workspace();
    for (state, expect) in states.iter().zip(answer["states"].as_array().unwrap()) {
        let [q, v, inputs] = ["q", "v", "inputs"].map(|key| numbers(&state[key]));
        let mut posed = workspace.at(&q).unwrap();
        drives.at(&q, &v, &mut posed.moving(&v).unwrap()).unwrap();
        let mut tau = vec![0.0; 2];
        drives.actuate(&inputs, &mut tau);
        assert!(
            error(&tau, &numbers(&expect["torques"])) < 1e-9,
            "{tau:?} {}",
            expect["torques"]
        );
        for i in 0..n {
            let [length, rate, force] = drives.actuator(i).unwrap();
            let there = numbers(&expect["actuators"][i]);
            assert!(error(&[length, rate, force], &there) < 1e-9, "{i}: {force} {there:?}");
        }
    }
}

#[test]
fn what_motors_do_besides_is_told() {
    let with = |attributes: &str| {
        let actuator = format!("<actuator><dcmotor joint=\"j\" {attributes}/></actuator>");
        let path = written("besides", &format!("<mujoco>{BODIES}\n{actuator}</mujoco>"));
        let robot = loaded(&path);
        let told = robot
            .report
            .findings
            .iter()
            .any(|f| f.code == "unmodelled-actuator" && f.line == 6);
        (told, Drivetrain::new(&robot).unwrap().left_out().len())
    };
    assert_eq!(with("motorconst=\"0.05\" resistance=\"2\""), (false, 0));
    for more in [
        "inductance=\"0.001 0\"",
        "thermal=\"1 10 0 0.004 25 25\"",
        "lugre=\"100 1 0.1 0.2 0.01\"",
        "input=\"pos\" controller=\"1 0 0 0 0 0\"",
        "input=\"none\"",
    ] {
        assert_eq!(
            with(&format!("motorconst=\"0.05\" resistance=\"2\" {more}")),
            (true, 1),
            "{more}"
        );
    }
    assert_eq!(with("motorconst=\"0.05\"").1, 1);
}

#[test]
fn delays_and_lengths_of_muscles_are_as_in_mujoco() {
    let actuators = r#"<actuator>
        <motor joint="j" delay="0.03" nsample="40" interp="linear"/>
        <general joint="k" dyntype="none" gainprm="2" ctrlrange="0 0.01" delay="0.017" nsample="40" interp="linear"/>
        <muscle joint="k" force="1"/><muscle tendon="t" force="1"/><muscle joint="j" gear="2" force="1"/></actuator>"#;
    let text = format!("<mujoco><compiler angle=\"radian\"/><option timestep=\"0.001\"/>{BODIES}{actuators}</mujoco>");
    let path = written("delays", &text);
    let robot = loaded(&path);
    let mut drives = Drivetrain::new(&robot).unwrap();
    assert_eq!(drives.left_out(), &[] as &[String]);
    let rates = [0.5, 0.3, 0.0, 0.0, 0.0];
    let rows: Vec<f64> = [0.0, 1.0].iter().flat_map(|t| rates.map(|rate| rate * t)).collect();
    let controls = Controls::over_time(&robot, &[0.0, 1.0], &rows).unwrap();
    // Late by their delays, and nothing before.
    let mut inputs = [0.0; 5];
    for (t, expect) in [(0.0, [0.0, 0.0]), (0.0299, [0.0, 0.3 * 0.0129]), (0.1, [0.035, 0.01])] {
        controls.inputs(t, &mut inputs);
        assert!((0..2).all(|i| (inputs[i] - expect[i]).abs() < 1e-15), "{t}: {inputs:?}");
    }
    // A joint's length is its displacement times the gear; ends are the joint's.
    let ends = |drives: &mut Drivetrain, q: [f64; 2]| {
        let mut workspace = robot.mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        drives.at(&q, &[0.0; 2], &mut posed.moving(&[0.0; 2]).unwrap()).unwrap();
    };
    // A muscle has no force at the ends of what it can reach: range 0.75 to 1.05 of what it is strongest at, so all do here.
    ends(&mut drives, [2.0, 0.5]);
    let mut tau = [0.0; 2];
    drives.actuate(&[0.0, 0.0, 1.0, 0.0, 1.0], &mut tau);
    let forces: Vec<f64> = (2..5).map(|i| drives.actuator(i).unwrap()[2]).collect();
    assert!(
        (forces[0] - forces[2]).abs() < 1e-9 && forces[0] < -0.5,
        "both are as long as they get: {forces:?}"
    );

    let free = text.replace("range=\"-1 2\"", "");
    let free = loaded(&written("endless", &free));
    let left: Vec<String> = Drivetrain::new(&free).unwrap().left_out().to_vec();
    assert!(left.len() == 1 && left[0].contains("lengthrange"), "{left:?}");

    let Some(mut reference) = Reference::start() else {
        return;
    };
    let answer = reference.ask(&json!({"ask": "delays", "file": path, "rates": rates, "steps": 60}));
    let mut compared = 0;
    for step in answer["steps"].as_array().unwrap() {
        let (t, forces) = (step["t"].as_f64().unwrap(), numbers(&step["forces"]));
        controls.inputs(t, &mut inputs);
        let expect = [inputs[0], 2.0 * inputs[1]];
        assert!(error(&expect, &forces[..2]) < 1e-9, "{t}: {expect:?} {forces:?}");
        compared += usize::from(forces[0] > 0.0);
    }
    assert!(compared > 20);
    // Its limits are soft: so are the ends of its lengths.
    for (i, range) in numbers_of(&answer["ranges"]).iter().enumerate().skip(2) {
        let ours = drives.muscle_range(i).unwrap();
        let width = range[1] - range[0];
        assert!(
            (0..2).all(|e| (ours[e] - range[e]).abs() < 3e-3 * width),
            "{i}: {ours:?} {range:?}"
        );
    }
}

fn numbers_of(value: &serde_json::Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

#[test]
fn limits_of_ball_joints_are_as_in_mujoco() {
    let text = r#"<mujoco><worldbody><body name="base"><joint name="turn" axis="0 0.3 1"/><geom size="0.1"/>
        <body name="arm" pos="0.1 0 0.2" euler="20 30 -10"><joint name="ball" type="ball" range="0 40"/><geom type="box" size="0.1 0.2 0.3"/>
        </body></body></worldbody></mujoco>"#;
    let path = written("balls", text);
    let robot = loaded(&path);
    let m = &robot.mechanism;
    let limit = 40.0_f64.to_radians();
    assert_eq!(m.joints()[1].position_limits, [(0.0, limit)]);
    assert!(!robot.report.findings.iter().any(|f| f.code.contains("limit")));
    // Beyond the limit, so that its row is there, also by the quaternion of the other sign.
    let states: Vec<(Vec<f64>, Vec<f64>)> = (0..6)
        .map(|i| {
            let (angle, sign) = (limit + 0.02 * f64::from(i) + 0.01, if i % 2 == 0 { 1.0 } else { -1.0 });
            let axis = wave(3, f64::from(i));
            let norm = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
            let (s, c) = (0.5 * angle).sin_cos();
            let mut q = vec![0.3 * f64::from(i)];
            q.extend(axis.iter().map(|x| sign * s * x / norm));
            q.push(sign * c);
            (q, wave(4, 0.5 * f64::from(i)))
        })
        .collect();
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let asked: Vec<_> = states.iter().map(|(q, v)| json!({"q": q, "v": v})).collect();
    let answer = reference.ask(&json!({"ask": "limits", "file": path, "states": asked}));
    let mut settings = Settings::new(0.01);
    (settings.start, settings.gyroscopic) = (Start::Free, false);
    for ((q, v), there) in states.iter().zip(answer["states"].as_array().unwrap()) {
        let there = &there.as_array().unwrap()[0];
        let (row, gap) = (numbers(&there["row"]), there["gap"].as_f64().unwrap());
        let mut stepper = Stepper::new(m, settings).unwrap();
        let report = stepper.solve(q, v, &[0.0; 4], &[]).unwrap();
        let told = report.joints.iter().filter(|j| j.row == JointRow::Limit);
        let impulses: Vec<f64> = told.map(|j| j.impulse).collect();
        let size = impulses.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(
            (0..3).all(|i| (impulses[i] - size * row[1 + i]).abs() < 1e-9 * size),
            "{impulses:?} {row:?}"
        );
        // The limit is held: Jv⁺ + Rγ = −gap/(Δt + 0.02), J being that of MuJoCo, and R a thousandth of J𝓜⁻¹J*.
        let speed: f64 = row.iter().zip(&report.velocity).map(|(j, v)| j * v).sum();
        let inverse = m.mass_matrix_inverse(q).unwrap();
        let yields: f64 = (0..16).map(|i| row[i / 4] * inverse[i] * row[i % 4]).sum();
        let left = speed + 1e-3 * yields * size + gap / 0.03;
        assert!(size > 0.0 && left.abs() < 1e-9, "{left:e} of {speed}");
    }
}
