//! Another library in a process of its own.

use linkwork::Mechanism;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running `reference.py`.
pub struct Reference {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Reference {
    /// Starts it with the interpreter that `cargo xtask test` installs; without one there is nothing to compare with.
    pub fn start() -> Option<Self> {
        let Some(python) = std::env::var_os("LINKWORK_REFERENCE_PYTHON") else {
            eprintln!("skipped: `cargo xtask test` installs the libraries that this compares with");
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference.py");
        let mut child = Command::new(python)
            .arg(script)
            // MuJoCo writes a log where it runs.
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the reference interpreter starts");
        let input = child.stdin.take().expect("its input is a pipe");
        let output = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        Some(Self { child, input, output })
    }

    /// Asks, and waits for the answer.
    pub fn ask(&mut self, request: &Value) -> Value {
        writeln!(self.input, "{request}").expect("the reference reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the reference answers");
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("no answer to {request}: {e}"));
        if let Some(failure) = answer["failure"].as_str() {
            panic!("{}: {failure}", request["file"]);
        }
        answer
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The numbers of a list; NaN where there is none.
pub fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

/// The largest difference as a part of the largest expected number.
pub fn error(got: &[f64], expect: &[f64]) -> f64 {
    assert_eq!(got.len(), expect.len());
    let largest = expect.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let worst = got.iter().zip(expect).map(|(g, e)| (g - e).abs() / scale);
    worst.fold(0.0, |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) })
}

const TOLERANCE: f64 = 1e-9;

/// A state, and what drives it.
pub struct State {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
    pub tau: Vec<f64>,
}

/// Two states of a mechanism.
pub fn states(m: &Mechanism) -> Vec<State> {
    let wave = |phase: f64| (0..m.nv()).map(|i| (phase + 1.7 * i as f64).sin()).collect::<Vec<_>>();
    (1..=2)
        .map(|seed| State {
            q: m.random(seed),
            v: wave(0.3 * seed as f64),
            a: wave(1.1 * seed as f64),
            tau: wave(2.3 * seed as f64),
        })
        .collect()
}

/// Compares everything; panics with the robot's name where something differs.
pub fn compare(name: &str, m: &Mechanism, links: &[&str], states: &[State], answer: &Value) {
    let mut workspace = m.workspace();
    let check = |what: &str, got: &[f64], expect: &[f64], tolerance: f64| {
        let error = error(got, expect);
        assert!(
            error <= tolerance,
            "{name}: {what} differs by {error:e}, allowed {tolerance:e}"
        );
    };
    for (state, expect) in states.iter().zip(answer["states"].as_array().expect("states")) {
        let condition = expect["condition"].as_f64().unwrap_or(f64::INFINITY);
        let mut posed = workspace.at(&state.q).expect("a configuration");
        check(
            "mass",
            &[posed.mass()],
            &[answer["mass"].as_f64().expect("a mass")],
            TOLERANCE,
        );
        let mut poses = Vec::new();
        for link in links {
            let pose = posed.pose(m.frame(link).expect("a link")).unwrap();
            let (r, t) = (pose.rotation.to_rows(), pose.translation.to_array());
            poses.extend((0..3).flat_map(|i| [r[i][0], r[i][1], r[i][2], t[i]]));
        }
        let expected: Vec<f64> = expect["poses"]
            .as_array()
            .expect("poses")
            .iter()
            .flat_map(numbers)
            .collect();
        check("forward kinematics", &poses, &expected, TOLERANCE);
        let (mut mass, mut out) = (vec![0.0; m.nv() * m.nv()], vec![0.0; m.nv()]);
        posed.mass_matrix(&mut mass).expect("a mass matrix");
        check("mass matrix", &mass, &numbers(&expect["mass_matrix"]), TOLERANCE);
        let mut moving = posed.moving(&state.v).expect("a velocity");
        moving.inverse_dynamics(&state.a, &mut out).expect("torques");
        check("inverse dynamics", &out, &numbers(&expect["inverse"]), TOLERANCE);
        moving.forward_dynamics(&state.tau, &mut out).expect("accelerations");
        check(
            "forward dynamics",
            &out,
            &numbers(&expect["forward"]),
            TOLERANCE.max(1e-14 * condition),
        );
        // Where the other library has derivatives.
        let Some(by_torque) = expect["inverse_derivatives"].as_array() else {
            continue;
        };
        let mut d = m.derivatives();
        moving
            .linearized(&state.a)
            .and_then(|mut point| point.inverse_derivatives(&mut d))
            .expect("derivatives");
        // Velocities and accelerations are of size one: terms are as large as 𝓜, and of forward dynamics 𝓜⁻¹ times that.
        let check = |what: &str, got: &[f64], expect: &[f64], scale: f64, tolerance: f64| {
            let largest = expect.iter().fold(scale, |m: f64, x| m.max(x.abs()));
            let worst = got.iter().zip(expect).map(|(g, e)| (g - e).abs() / largest);
            let error = worst.fold(0.0, |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) });
            assert!(
                error <= tolerance,
                "{name}: {what} differs by {error:e}, allowed {tolerance:e}"
            );
        };
        let scale = mass.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        check("∂T/∂q", d.by_q(), &numbers(&by_torque[0]), scale, TOLERANCE);
        check("∂T/∂q̇", d.by_qd(), &numbers(&by_torque[1]), scale, TOLERANCE);
        let by_motion = expect["forward_derivatives"].as_array().expect("derivatives");
        moving
            .linearized_under(&state.tau, &mut out)
            .and_then(|mut point| point.forward_derivatives(&mut d))
            .expect("derivatives");
        let tolerance = TOLERANCE.max(1e-13 * condition);
        let scale = d.by_input().iter().fold(1.0, |m: f64, x| m.max(x.abs())) * scale;
        check("∂q̈/∂q", d.by_q(), &numbers(&by_motion[0]), scale, tolerance);
        check("∂q̈/∂q̇", d.by_qd(), &numbers(&by_motion[1]), scale, tolerance);
    }
}
