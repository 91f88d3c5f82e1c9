//! Muscles, tendons around round things, rotors of actuators and weight that is carried, against MuJoCo.

mod support;

use linkwork_formats::{Controls, Drivetrain, Lag, Options, Robot, Sensors, load};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::reference::{Reference, error, numbers};

/// An arm on a free base, whose tendons pass balls and cylinders outside, on one side and inside.
const ROBOT: &str = r#"<mujoco>
  <compiler angle="radian"/>
  <default><default class="flesh"><muscle ctrllimited="true" ctrlrange="0 1" scale="300"/></default></default>
  <worldbody>
    <site name="wall" pos="0.4 -0.3 1.6"/><geom name="post" type="cylinder" size="0.15 0.3" pos="0.2 0.1 1.4" euler="0.3 0.2 0"/>
    <body name="base" pos="0.1 0.2 1" euler="0.3 -0.2 0.5" gravcomp="0.6"><freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05" mass="3"/><site name="origin" pos="0.2 0.08 0.02"/><site name="beyond" pos="-0.1 0.4 0.2"/>
      <body name="upper" pos="0.2 0 -0.05" gravcomp="1">
        <joint name="shoulder" axis="0 1 0.3" damping="0.1" armature="0.02" stiffness="4" springref="0.3" springdamper="0.4 0.7"/>
        <geom name="bone" type="capsule" size="0.04 0.2" pos="0 0 -0.2" euler="0.1 0 0.2" mass="1"/>
        <geom name="ball" type="sphere" size="0.09" pos="0.02 0.01 -0.3" mass="0.1"/>
        <geom name="sleeve" type="cylinder" size="0.08 0.1" pos="0 0.02 -0.15" euler="0.4 0.1 0.3" mass="0.1"/>
        <site name="elbow" pos="0.03 0 -0.38"/><site name="inside" pos="0.03 0.02 -0.28"/><site name="left" pos="0.02 0.4 -0.3"/>
        <site name="in_sleeve" pos="0.01 0.03 -0.16"/><site name="side_of_sleeve" pos="-0.4 0.02 -0.1"/>
        <body name="lower" pos="0 0 -0.4"><joint name="elbow" axis="1 0.1 0" damping="0.05"/>
          <geom type="box" size="0.05 0.08 0.2" pos="0.02 0 -0.2" mass="0.7"/><site name="hand" pos="0 0.03 -0.4"/>
          <body name="tool" pos="0 0 -0.4"><joint name="wrist" type="ball" springdamper="0.3 1"/><geom size="0.05" mass="0.3"/>
            <site name="tip" pos="0.1 0.1 0"/></body>
        </body></body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="past" stiffness="20" damping="1"><site site="origin"/><geom geom="ball"/><site site="hand"/></spatial>
    <spatial name="beside" stiffness="10"><site site="origin"/><geom geom="ball" sidesite="left"/><site site="hand"/></spatial>
    <spatial name="within" stiffness="10"><site site="origin"/><geom geom="ball" sidesite="inside"/><site site="hand"/></spatial>
    <spatial name="sleeved"><site site="wall"/><geom geom="post"/><site site="origin"/><geom geom="sleeve"/><site site="tip"/></spatial>
    <spatial name="sided"><site site="beyond"/><geom geom="sleeve" sidesite="side_of_sleeve"/><site site="hand"/><pulley divisor="2"/>
      <site site="hand"/><geom geom="ball"/><site site="wall"/></spatial>
    <spatial name="through"><site site="beyond"/><geom geom="sleeve" sidesite="in_sleeve"/><site site="tip"/></spatial>
  </tendon>
  <actuator>
    <muscle name="strong" tendon="past" lengthrange="0.4 1.2" force="80"/>
    <muscle name="scaled" tendon="beside" lengthrange="0.3 1.4" scale="120" gear="1.5"/>
    <muscle name="curved" tendon="within" lengthrange="0.5 1" range="0.6 1.3" force="60" lmin="0.4" lmax="1.8" vmax="2" fpmax="1.1" fvmax="1.5"/>
    <muscle name="timed" joint="elbow" lengthrange="-2 2" timeconst="0.02 0.06"/>
    <general name="long" class="flesh" tendon="sleeved" lengthrange="0.5 2.2" gainprm="0.7 1.1 40 200 0.5 1.6 1.5 1.3 1.2"
      biasprm="0.8 1.2 30 200 0.5 1.6 1.5 1.3 1.2" dynprm="0.015 0.05 0"/>
    <general name="half" tendon="sided" lengthrange="0.5 2.2" gaintype="muscle" gainprm="0.75 1.05 -1 200 0.5 1.6 1.5 1.3 1.2"
      biastype="affine" biasprm="1 -2 -0.5" dyntype="filter" dynprm="0.1"/>
    <muscle name="classed" class="flesh" tendon="through" lengthrange="0.4 1.5" tausmooth="0.2"/>
    <motor name="rotor" joint="shoulder" gear="5" armature="0.01" damping="0.02"/>
    <position name="servo" tendon="through" kp="8"/>
  </actuator>
  <sensor><force site="hand"/><torque site="elbow"/><accelerometer site="tip"/><tendonpos tendon="sided"/><actuatorfrc actuator="long"/></sensor>
</mujoco>"#;

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

/// Tendons through a ring, and what pulls at them. The point at which they touch it is found to a millionth of an angle only,
/// there as here, and so is all that comes of it.
const RINGED: [&str; 5] = ["within", "through", "curved", "classed", "servo"];

fn check(what: &str, got: &[f64], expect: &[f64], near: f64) {
    let error = error(got, expect);
    assert!(error < near, "{what} differs by {error:e}:\n{got:?}\n{expect:?}");
}

#[test]
fn muscles_and_what_tendons_go_around_are_as_in_mujoco() {
    let ringed = |line: &&str| RINGED.iter().any(|name| line.contains(&format!("name=\"{name}\"")));
    let plain: Vec<&str> = ROBOT.lines().filter(|line| !ringed(line)).collect();
    agrees("muscles_plain", &plain.join("\n"), 1e-9);
    agrees("muscles", ROBOT, 1e-6);
}

/// Compares everything; what rings have to do with is as near as `near`, all else to 1e-9.
fn agrees(test: &str, text: &str, near: f64) {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let path = written(test, text);
    let of = |name: &str| if RINGED.contains(&name) { near } else { 1e-9 };
    let robot = loaded(&path);
    let m = &robot.mechanism;
    let (mut drives, mut sensors) = (Drivetrain::new(&robot).unwrap(), Sensors::new(&robot).unwrap());
    assert_eq!((drives.left_out(), sensors.left_out()), (&[][..], &[][..]));
    let n = robot.actuators.len();
    let states: Vec<_> = (1..=40)
        .map(|seed| {
            let phase = f64::from(seed);
            let ctrl: Vec<f64> = wave(n, 0.9 * phase).iter().map(|x| 0.7 + 0.8 * x).collect();
            let act: Vec<f64> = wave(n, 0.4 * phase).iter().map(|x| 0.5 + 0.5 * x).collect();
            let given = robot.actuators.iter().enumerate();
            let inputs: Vec<f64> = given
                .map(|(i, a)| {
                    if a.has_activation() {
                        act[i]
                    } else {
                        a.bounded_control(ctrl[i])
                    }
                })
                .collect();
            let q = m.random(u64::try_from(seed).unwrap());
            json!({"q": q, "v": wave(m.nv(), 0.3 * phase), "ctrl": ctrl, "inputs": inputs, "t": 0.25})
        })
        .collect();
    let answer = reference.ask(&json!({"ask": "acts", "file": path, "states": states}));
    let mut workspace = m.workspace();
    let mut bent = [0; 2];
    for (state, expect) in states.iter().zip(answer["states"].as_array().unwrap()) {
        let [q, v, ctrl, inputs] = ["q", "v", "ctrl", "inputs"].map(|key| numbers(&state[key]));
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&v).unwrap();
        drives.at(&q, &v, &mut moving).unwrap();
        let mut tau = vec![0.0; m.nv()];
        drives.actuate(&inputs, &mut tau);
        let list = |value: &Value| value.as_array().unwrap().iter().map(numbers).collect::<Vec<_>>();
        let lengths = list(&expect["tendons"]);
        for (i, expect) in lengths.iter().enumerate() {
            let name = &robot.tendons[i].name;
            check(name, &drives.tendon(i).unwrap(), expect, of(name));
        }
        // The ball is in the way, or not; and a side makes a difference, or none.
        let differs = |i: usize| {
            lengths[0]
                .first()
                .zip(lengths[i].first())
                .is_some_and(|(a, b)| (a - b).abs() > 1e-9)
        };
        bent[0] += usize::from(differs(1));
        bent[1] += usize::from(differs(2));
        for (i, expect) in list(&expect["actuators"]).iter().enumerate() {
            let name = &robot.actuators[i].name;
            check(name, &drives.actuator(i).unwrap(), expect, of(name));
        }
        check("qfrc_actuator", &tau, &numbers(&expect["torques"]), near);
        let rates = robot.actuators.iter().enumerate();
        let rates: Vec<f64> = rates.map(|(i, a)| a.activation_rate(ctrl[i], inputs[i])).collect();
        check("act_dot", &rates, &numbers(&expect["rates"]), 1e-9);
        let mut passive = vec![0.0; m.nv()];
        moving.passive_torque(&mut passive).unwrap();
        drives.pull(&mut passive);
        check("qfrc_passive", &passive, &numbers(&expect["passive"]), near);
        tau.iter_mut().zip(&passive).for_each(|(tau, x)| *tau += x);
        let mut qdd = vec![0.0; m.nv()];
        moving.forward_dynamics(&tau, &mut qdd).unwrap();
        check("accelerations", &qdd, &numbers(&expect["accelerations"]), near);
        let now = linkwork::simulate::Now { t: 0.25, q: &q, v: &v };
        let mut measured = vec![0.0; sensors.width()];
        sensors
            .measure(now, &mut moving, &drives, &qdd, &[], &mut measured)
            .unwrap();
        check("sensors", &measured, &numbers(&expect["sensors"]), near);
    }
    assert!(bent.iter().all(|n| (5..=40).contains(n)), "{bent:?}");
}

#[test]
fn forces_fall_as_their_slopes_say() {
    let robot = loaded(&written("muscle_slopes", ROBOT));
    let m = &robot.mechanism;
    let mut drives = Drivetrain::new(&robot).unwrap();
    let (n, nv) = (robot.actuators.len(), m.nv());
    let inputs = vec![0.6; n];
    // What resists in an implicit step is what torques fall by as velocities grow, and a little more.
    for seed in 1..=5 {
        let (q, v) = (m.random(seed), wave(nv, 0.3));
        let mut workspace = m.workspace();
        let mut torques = |v: &[f64]| {
            let mut posed = workspace.at(&q).unwrap();
            drives.at(&q, v, &mut posed.moving(v).unwrap()).unwrap();
            let mut tau = vec![0.0; nv];
            drives.actuate(&inputs, &mut tau);
            let (mut same, mut resists) = (tau.clone(), vec![0.0; nv]);
            drives.resist(0.0, &mut same, &mut resists);
            (tau, resists)
        };
        let (_, resists) = torques(&v);
        for i in 0..nv {
            let mut there = [v.clone(), v.clone()];
            there[0][i] -= 1e-6;
            there[1][i] += 1e-6;
            let [a, b] = there.map(|v| torques(&v).0[i]);
            let falls = (a - b) / 2e-6;
            assert!(falls <= resists[i] * (1.0 + 1e-6) + 1e-5, "{i}: {falls} {}", resists[i]);
        }
    }
}

#[test]
fn activations_of_muscles_follow_what_they_are_told() {
    let text = r#"<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody><actuator>
        <muscle joint="j" lengthrange="-1 1"/><muscle joint="j" lengthrange="-1 1" timeconst="0.03 0.02" tausmooth="0.4"/></actuator></mujoco>"#;
    let robot = loaded(&written("activations", text));
    assert_eq!(
        robot.actuators[0].lag,
        Lag::Muscle {
            rise: 0.01,
            fall: 0.04,
            smooth: 0.0
        }
    );
    let times = [0.0, 0.1, 0.25, 0.3];
    let rows: Vec<f64> = [0.9, 1.4, 0.1, 0.1].iter().flat_map(|u| [*u; 2]).collect();
    let controls = Controls::over_time(&robot, &times, &rows).unwrap();
    let told = |t: f64| -> f64 {
        let given = [0.9, 1.4, 0.1, 0.1];
        let k = times.partition_point(|x| *x <= t).clamp(1, 3);
        let u = given[k - 1]
            + (given[k] - given[k - 1]) * (t - times[k - 1]).min(times[k] - times[k - 1]) / (times[k] - times[k - 1]);
        u.clamp(0.0, 1.0)
    };
    // Small steps of the midpoint rule come to the same.
    let (h, mut a, mut inputs, mut worst) = (1e-6, [0.0; 2], [0.0; 2], 0.0_f64);
    for step in 0..600_000 {
        let t = f64::from(step) * h;
        if step % 500 == 0 {
            controls.inputs(t, &mut inputs);
            worst = (0..2).fold(worst, |w, i| w.max((inputs[i] - a[i]).abs()));
        }
        for (a, actuator) in a.iter_mut().zip(&robot.actuators) {
            let middle = *a + 0.5 * h * actuator.activation_rate(told(t), *a);
            *a += h * actuator.activation_rate(told(t + 0.5 * h), middle);
        }
    }
    assert!(worst < 2e-8, "{worst:e}");
    // Long after, they are what they were told.
    controls.inputs(1e3, &mut inputs);
    assert!(inputs.iter().all(|a| (a - 0.1).abs() < 1e-9), "{inputs:?}");
}

#[test]
fn muscles_without_a_range_of_lengths_are_left_out_with_a_word() {
    let text = r#"<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>
        <actuator><muscle name="m" joint="j"/></actuator></mujoco>"#;
    let robot = loaded(&written("no_range", text));
    assert_eq!(robot.report.of("muscle").count(), 1);
    assert!(!Drivetrain::new(&robot).unwrap().has_actuators());
}
