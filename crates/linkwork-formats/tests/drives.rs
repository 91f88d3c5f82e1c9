//! Actuators that act, sensors that measure and tendons that pull, against MuJoCo.

mod support;

use linkwork::simulate::{Dynamics, Integrator, Now, PassiveForces, RungeKutta4, State};
use linkwork::workspace::Moving;
use linkwork_formats::{Controls, Drivetrain, Options, Robot, Sensors, load};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::reference::{Reference, error, numbers};

/// A chain on a free base, with a ball joint, and a second one on rails.
const ROBOT: &str = r#"<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <site name="ceiling" pos="0.3 -0.2 2"/>
    <body name="base" pos="0.1 0.2 1" euler="0.3 -0.2 0.5"><freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05" mass="3"/><site name="hip" pos="0.1 0.05 -0.04" euler="0.2 0.1 0"/>
      <body name="upper" pos="0.2 0 -0.05"><joint name="shoulder" axis="0 1 0.3" damping="0.1" armature="0.02" ref="0.2"/>
        <geom name="arm" type="capsule" size="0.04 0.2" pos="0 0 -0.2" euler="0.1 0 0.2" mass="1"/><site name="elbow" pos="0.03 0 -0.38"/>
        <body name="lower" pos="0 0 -0.4"><joint name="ball" type="ball" damping="0.05"/>
          <geom type="box" size="0.05 0.08 0.2" pos="0.02 0 -0.2" mass="0.7"/><site name="hand" pos="0 0.03 -0.4" euler="0.5 -0.4 0.3"/>
          <body name="tool" pos="0.01 0 -0.41" euler="0 0.4 0"><geom name="tip" type="sphere" size="0.05" pos="0.1 0 0" mass="0.2"/>
            <site name="wrist"/></body>
        </body></body>
    </body>
    <body name="cart" pos="0 1 0.5"><joint name="rail" type="slide" axis="1 0.2 0" stiffness="3" springref="0.1"/><geom size="0.1" mass="2"/>
      <site name="pin" pos="0 0.1 0"/>
      <body name="pole"><joint name="pivot" axis="0 1 0" actuatorfrcrange="-2 2"/><geom type="capsule" size="0.02 0.3" pos="0 0 0.3" mass="0.4"/>
        <site name="top" pos="0 0 0.6"/></body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="belt" stiffness="4" damping="0.3" springlength="0.05 0.1" actuatorfrcrange="-0.8 0.9">
      <joint joint="rail" coef="1.5"/><joint joint="pivot" coef="-0.4"/></fixed>
    <fixed name="drag" damping="0.2" stiffness="2"><joint joint="shoulder" coef="0.7"/><joint joint="rail" coef="-2"/></fixed>
    <spatial name="rope" stiffness="30" damping="2"><site site="ceiling"/><site site="hip"/><site site="elbow"/><pulley divisor="2"/>
      <site site="elbow"/><site site="hand"/><pulley divisor="3"/><site site="top"/><site site="hand"/></spatial>
    <spatial name="slack" stiffness="50" springlength="0 1.2"><site site="pin"/><site site="top"/><site site="wrist"/></spatial>
    <spatial name="string"><site site="pin"/><site site="hip"/></spatial>
  </tendon>
  <actuator>
    <motor name="m" joint="shoulder" gear="7" ctrlrange="-1 1"/>
    <position name="p" joint="shoulder" kp="12" kv="1.5" forcerange="-3 3"/>
    <position name="ratio" joint="rail" kp="40" dampratio="0.8"/>
    <velocity name="v" joint="rail" kv="2.5" gear="0.5"/>
    <intvelocity name="i" joint="pivot" kp="6" kv="0.3" actrange="-0.5 0.5"/>
    <damper name="d" joint="pivot" kv="1.3" ctrlrange="0 2"/>
    <cylinder name="c" joint="rail" timeconst="0.3" area="0.7" bias="0.1 -0.2 -0.3"/>
    <general name="g" joint="pivot" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="0.5 -1 -0.2" dyntype="filterexact" dynprm="0.2"/>
    <motor name="on_ball" joint="ball" gear="0.3 -0.2 0.5"/>
    <position name="at_ball" joint="ball" gear="0 1 0.4" kp="3"/>
    <motor name="in_parent" jointinparent="ball" gear="0.3 -0.2 0.5"/>
    <motor name="thrust" joint="root" gear="1 2 3 0.1 0.2 0.3"/>
    <motor name="thrust_in_world" jointinparent="root" gear="1 2 3 0.1 0.2 0.3"/>
    <motor name="winch" tendon="rope" gear="2"/>
    <position name="hold" tendon="belt" kp="9" gear="1.2"/>
    <position name="hold2" tendon="belt" kp="3"/>
    <motor name="jet" site="hand" gear="1 0.5 -0.2 0.1 0.3 0.05"/>
    <position name="meet" site="hand" refsite="pin" gear="1 -0.5 0.3 0.2 0.1 -0.3" kp="5"/>
    <motor name="crank" cranksite="hand" slidersite="pin" cranklength="2.5" gear="0.7"/>
    <position name="far_crank" cranksite="wrist" slidersite="hip" cranklength="0.9" kp="3"/>
    <position name="short_crank" cranksite="top" slidersite="hand" cranklength="0.05" kp="4" gear="-0.3"/>
    <position name="near" site="wrist" refsite="hip" gear="0.4 0.2 0.1 0 0.6 0" kp="2"/>
  </actuator>
  <sensor>
    <accelerometer site="hand"/><gyro site="hand"/><velocimeter site="wrist"/><force site="hand"/><torque site="hand"/>
    <force site="wrist"/><torque site="wrist"/><force site="hip"/><torque site="top"/>
    <jointpos joint="shoulder"/><jointvel joint="rail"/><ballquat joint="ball"/><ballangvel joint="ball"/>
    <tendonpos tendon="rope"/><tendonvel tendon="slack"/><actuatorpos actuator="meet"/><actuatorvel actuator="winch"/>
    <actuatorfrc actuator="hold"/><jointactuatorfrc joint="pivot"/><tendonactuatorfrc tendon="belt"/>
    <framepos objtype="site" objname="hand"/><framepos objtype="body" objname="upper" reftype="site" refname="pin"/>
    <framepos objtype="geom" objname="arm" reftype="xbody" refname="pole"/>
    <framequat objtype="xbody" objname="lower"/><framequat objtype="site" objname="hand" reftype="geom" refname="arm"/>
    <framexaxis objtype="site" objname="hand"/><frameyaxis objtype="xbody" objname="tool" reftype="site" refname="hip"/>
    <framezaxis objtype="geom" objname="arm"/>
    <framelinvel objtype="body" objname="lower"/><framelinvel objtype="site" objname="hand" reftype="site" refname="top"/>
    <frameangvel objtype="geom" objname="tip"/><frameangvel objtype="site" objname="hand" reftype="xbody" refname="base"/>
    <framelinacc objtype="site" objname="hand"/><framelinacc objtype="body" objname="pole"/><frameangacc objtype="xbody" objname="tool"/>
    <subtreecom body="base"/><subtreecom body="lower"/><subtreelinvel body="upper"/><subtreeangmom body="base"/><subtreeangmom body="cart"/>
    <clock/><e_kinetic/><e_potential/><accelerometer site="elbow" cutoff="0.5"/>
  </sensor>
</mujoco>"#;

fn written(test: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("robot.xml");
    std::fs::write(&path, text).unwrap();
    path
}

fn loaded(path: &Path) -> Robot {
    let options = Options {
        ignore_couplings: true,
        ..Options::default()
    };
    load(path, &options).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A list of numbers that depends on a number.
fn wave(n: usize, phase: f64) -> Vec<f64> {
    (0..n).map(|i| (phase + 1.7 * i as f64).sin()).collect()
}

#[test]
fn actuators_tendons_and_sensors_are_as_in_mujoco() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let path = written("acts", ROBOT);
    let robot = loaded(&path);
    let m = &robot.mechanism;
    let (mut drives, mut sensors) = (Drivetrain::new(&robot).unwrap(), Sensors::new(&robot).unwrap());
    assert_eq!((drives.left_out(), sensors.left_out()), (&[][..], &[][..]));
    let n = robot.actuators.len();
    let states: Vec<_> = (1..=3)
        .map(|seed| {
            let (ctrl, act) = (wave(n, 0.9 * f64::from(seed)), wave(n, 0.4 * f64::from(seed)));
            let inputs: Vec<f64> = robot
                .actuators
                .iter()
                .enumerate()
                .map(|(i, a)| if a.has_activation() { act[i] } else { a.bounded_control(ctrl[i]) })
                .collect();
            let q = m.random(u64::try_from(seed).unwrap());
            json!({"q": q, "v": wave(m.nv(), 0.3 * f64::from(seed)), "ctrl": ctrl, "inputs": inputs, "t": 0.25 * f64::from(seed)})
        })
        .collect();
    let answer = reference.ask(&json!({"ask": "acts", "file": path, "states": states}));
    let mut workspace = m.workspace();
    for (state, expect) in states.iter().zip(answer["states"].as_array().unwrap()) {
        let [q, v, ctrl, inputs] = ["q", "v", "ctrl", "inputs"].map(|key| numbers(&state[key]));
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&v).unwrap();
        drives.at(&q, &v, &mut moving).unwrap();
        let mut tau = vec![0.0; m.nv()];
        drives.actuate(&inputs, &mut tau);
        let check = |what: &str, got: &[f64], expect: &[f64]| {
            let error = error(got, expect);
            assert!(error < 1e-9, "{what} differs by {error:e}:\n{got:?}\n{expect:?}");
        };
        let list = |value: &Value| value.as_array().unwrap().iter().map(numbers).collect::<Vec<_>>();
        for (i, expect) in list(&expect["tendons"]).iter().enumerate() {
            check(&robot.tendons[i].name, &drives.tendon(i).unwrap(), expect);
        }
        for (i, expect) in list(&expect["actuators"]).iter().enumerate() {
            check(&robot.actuators[i].name, &drives.actuator(i).unwrap(), expect);
        }
        check("qfrc_actuator", &tau, &numbers(&expect["torques"]));
        let rates: Vec<f64> = (0..n)
            .map(|i| robot.actuators[i].activation_rate(ctrl[i], inputs[i]))
            .collect();
        check("act_dot", &rates, &numbers(&expect["rates"]));
        let mut passive = vec![0.0; m.nv()];
        moving.passive_torque(&mut passive).unwrap();
        drives.pull(&mut passive);
        check("qfrc_passive", &passive, &numbers(&expect["passive"]));
        let mut qdd = vec![0.0; m.nv()];
        tau.iter_mut().zip(&passive).for_each(|(tau, x)| *tau += x);
        moving.forward_dynamics(&tau, &mut qdd).unwrap();
        check("accelerations", &qdd, &numbers(&expect["accelerations"]));
        let mut measured = vec![0.0; sensors.width()];
        let now = Now {
            t: state["t"].as_f64().unwrap(),
            q: &q,
            v: &v,
        };
        sensors
            .measure(now, &mut moving, &drives, &qdd, &[], &mut measured)
            .unwrap();
        let expected = numbers(&expect["sensors"]);
        assert_eq!(measured.len(), expected.len());
        let labels = sensors.labels();
        let mut at = 0;
        while at < labels.len() {
            // The numbers of one sensor; quaternions have two signs.
            let stem = |label: &str| label.rsplit_once('.').map_or(label.to_owned(), |(a, _)| a.to_owned());
            let width = labels[at..].iter().take_while(|l| stem(l) == stem(&labels[at])).count();
            let (mut got, theirs) = (measured[at..at + width].to_vec(), &expected[at..at + width]);
            if width == 4 && got.iter().zip(theirs).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
                got.iter_mut().for_each(|x| *x = -*x);
            }
            check(&labels[at], &got, theirs);
            at += width;
        }
    }
}

#[test]
fn servos_move_a_robot_as_in_mujoco() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    // One coordinate to a joint, so that configurations compare as they are.
    let text = ROBOT
        .replace("<freejoint name=\"root\"/>", "")
        .replace("type=\"ball\" damping", "axis=\"1 1 0\" damping");
    let drop = |text: String, what: &str| -> String {
        let lines = text.lines().filter(|line| !line.contains(what));
        lines.collect::<Vec<_>>().join("\n")
    };
    // Which MuJoCo's Runge–Kutta method follows to first order only.
    let text = text.replace("filterexact", "filter");
    let text = ["\"ball\" gear", "joint=\"root\"", "inparent", "<sensor>"]
        .iter()
        .fold(text, |text, what| drop(text, what));
    let text = format!(
        "{}</mujoco>",
        text.split("<accelerometer").next().unwrap().replace("<sensor>", "")
    );
    let path = written("runs", &text);
    let robot = loaded(&path);
    let m = &robot.mechanism;
    let n = robot.actuators.len();
    let (q, v, ctrl) = (wave(m.nq(), 0.2), wave(m.nv(), 0.7), wave(n, 1.1));
    let run = json!({"q": q, "v": v, "ctrl": ctrl, "step": 2e-4, "seconds": 0.5});
    let answer = reference.ask(&json!({"ask": "acts", "file": path, "states": [], "run": run}));
    let controls = Controls::constant(&robot, &ctrl).unwrap();
    let mut drives = Drivetrain::new(&robot).unwrap();
    let mut inputs = vec![0.0; n];
    let drive = |now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]| {
        controls.inputs(now.t, &mut inputs);
        drives.at(now.q, now.v, moving)?;
        drives.actuate(&inputs, tau);
        drives.pull(tau);
        Ok(())
    };
    let resistance = PassiveForces::of(m).unwrap().without_stops();
    let mut equations = Dynamics::with(m, drive, resistance);
    let mut integrator = RungeKutta4::new(m);
    let mut state = State {
        t: 0.0,
        q: q.clone(),
        v,
    };
    for _ in 0..2500 {
        integrator.step(&mut equations, &mut state, 2e-4).unwrap();
    }
    let expect = numbers(&answer["run"]);
    let moved = error(&q, &expect);
    let apart = error(&state.q, &expect);
    assert!(
        moved > 0.1 && apart < 1e-6,
        "{moved} {apart:e}: {:?} {expect:?}",
        state.q
    );
}

#[test]
fn what_is_not_modelled_is_listed() {
    let text = r#"<mujoco><worldbody><geom name="drum" type="cylinder" size="0.1 0.2"/><geom name="crate" type="box" size="0.1 0.2 0.1"/><site name="a" pos="1 0 0"/>
        <body name="b"><joint name="j"/><geom size="0.1" pos="1 0 0"/><site name="s" pos="0 0 1"/></body></worldbody>
        <tendon><spatial name="t" stiffness="3"><site site="a"/><geom geom="drum"/><site site="s"/></spatial>
        <spatial name="u" stiffness="3" armature="1"><site site="a"/><geom geom="crate"/><site site="s"/></spatial></tendon>
        <actuator><muscle name="m" joint="j"/><motor name="w" tendon="u"/><adhesion name="g" body="b" ctrlrange="0 1" gain="1"/></actuator>
        <sensor><touch name="skin" site="s"/><rangefinder name="eye" site="s"/><framequat name="k" objtype="body" objname="b"/></sensor></mujoco>"#;
    let robot = loaded(&written("left_out", text));
    let drives = Drivetrain::new(&robot).unwrap();
    let all = drives.left_out().join("\n");
    for words in [
        "`u`: geom `crate` is neither",
        "`m`: no limits of joints end",
        "`w`: its tendon `u`",
        "`g`: a <adhesion>",
    ] {
        assert!(all.contains(words), "{words}: {all}");
    }
    assert!(!drives.has_actuators() && drives.has_tendons());
    let sensors = Sensors::new(&robot).unwrap();
    assert_eq!(
        (sensors.width(), sensors.left_out().len()),
        (1, 2),
        "{:?}",
        sensors.left_out()
    );
    for code in ["muscle", "unmodelled-actuator", "unmodelled-sensor"] {
        assert_eq!(robot.report.of(code).count(), 1, "{code}");
    }
}

#[test]
fn controls_over_time_have_closed_forms() {
    let text = r#"<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody><actuator>
        <motor joint="j" ctrlrange="-1 1"/><intvelocity joint="j" actrange="-0.3 0.4"/><general joint="j" dyntype="filter" dynprm="0.2"/>
        <general joint="j" dyntype="filter" dynprm="0.1" actlimited="true" actrange="0 0.5" ctrllimited="true" ctrlrange="-0.5 1"/></actuator></mujoco>"#;
    let robot = loaded(&written("controls", text));
    let (times, n) = ([0.1, 0.5, 0.9, 2.0], robot.actuators.len());
    let rows: Vec<f64> = [2.0, -3.0, 1.5, -0.2].iter().flat_map(|u| vec![*u; n]).collect();
    let controls = Controls::over_time(&robot, &times, &rows).unwrap();
    let line = |t: f64| -> f64 {
        let given = [2.0, -3.0, 1.5, -0.2];
        let k = times.partition_point(|x| *x <= t);
        if k == 0 || k == times.len() {
            return given[k.saturating_sub(1)];
        }
        given[k - 1] + (given[k] - given[k - 1]) * (t - times[k - 1]) / (times[k] - times[k - 1])
    };
    // Small explicit steps come to the same.
    let (h, mut activations) = (1e-5, vec![0.0; n]);
    let (mut inputs, mut worst) = (vec![0.0; n], 0.0_f64);
    for step in 0..250_000 {
        let t = f64::from(step) * h;
        if step % 1000 == 0 {
            controls.inputs(t, &mut inputs);
            assert!((inputs[0] - line(t).clamp(-1.0, 1.0)).abs() < 1e-12, "t = {t}");
            worst = (1..n).fold(worst, |w, i| w.max((inputs[i] - activations[i]).abs()));
        }
        for (i, a) in robot.actuators.iter().enumerate() {
            activations[i] += h * a.activation_rate(line(t), activations[i]);
            if let Some([lower, upper]) = a.activation_range {
                activations[i] = activations[i].clamp(lower, upper);
            }
        }
    }
    assert!(worst < 3e-4, "{worst}");
    assert!(Controls::constant(&robot, &[1.0]).is_err() && Controls::constant(&robot, &[f64::NAN; 4]).is_err());
}

#[test]
fn names_that_nothing_has_are_told_with_their_lines() {
    for (part, code) in [
        (
            "<tendon><spatial><site site=\"s\"/><site site=\"none\"/></spatial></tendon>",
            "tendon",
        ),
        (
            "<tendon><fixed><joint joint=\"none\" coef=\"1\"/></fixed></tendon>",
            "tendon",
        ),
        ("<sensor><jointpos joint=\"none\"/></sensor>", "sensor-target"),
        (
            "<sensor><framepos objtype=\"body\" objname=\"none\"/></sensor>",
            "sensor-target",
        ),
        (
            "<sensor><framepos objtype=\"site\" objname=\"s\" reftype=\"site\" refname=\"none\"/></sensor>",
            "sensor-target",
        ),
        ("<actuator><motor joint=\"none\"/></actuator>", "actuator"),
    ] {
        let with = |part: &str| {
            let text = format!(
                "<mujoco><worldbody><body name=\"b\"><joint name=\"j\"/><geom size=\"0.1\" pos=\"1 0 0\"/><site name=\"s\"/></body>\
                 </worldbody>\n{part}</mujoco>"
            );
            let robot = loaded(&written("nothing", &text));
            let told = robot.report.findings.into_iter();
            told.filter(|f| f.code == code && f.line == 2 && f.message.contains("`none`"))
                .count()
        };
        assert_eq!(with(part), 1, "{part}");
        let there = part.replace("joint=\"none\"", "joint=\"j\"");
        let there = there
            .replace("objname=\"none\"", "objname=\"b\"")
            .replace("\"none\"", "\"s\"");
        assert_eq!(with(&there), 0, "{there}");
    }
}
