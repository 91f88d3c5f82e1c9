//! SDF: every feature against Drake, and what it says about itself.

mod support;

use linkwork::closed::ConstraintKind;
use linkwork::model::JointKind;
use linkwork::spatial::{Inertia, Vec3};
use linkwork_formats::{Format, Mode, Options, Refusal, Robot, Severity, Shape, load};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::reference::{Reference, compare, states};
use support::{dynamics_are_finite, first_error, parse};

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/sdf")
}

fn options() -> Options {
    Options {
        named_packages: vec![("gripper".to_owned(), place().join("gripper"))],
        ..Options::default()
    }
}

fn robot(name: &str) -> Robot {
    load(&place().join(name), &options()).unwrap_or_else(|e| panic!("{e}"))
}

fn read(inner: &str, mode: Mode) -> Result<Robot, Refusal> {
    parse(
        Format::Sdf,
        format!("<sdf version=\"1.9\">{inner}</sdf>").as_bytes(),
        mode,
    )
}

fn model(inner: &str) -> Robot {
    read(&format!("<model name=\"m\">{inner}</model>"), Mode::Warn).unwrap_or_else(|e| panic!("{e}"))
}

const BODY: &str = "<inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>";

fn link(name: &str, pose: &str) -> String {
    format!("<link name=\"{name}\"><pose>{pose}</pose>{BODY}</link>")
}

/// Compares a robot with what Drake makes of its file; `top` is the model that our names leave out.
fn agrees(reference: &mut Reference, file: &Path, robot: &Robot, top: &str) {
    let m = &robot.mechanism;
    let states = states(m);
    let listed: Vec<_> = states
        .iter()
        .map(|s| json!({"q": s.q, "v": s.v, "a": s.a, "tau": s.tau}))
        .collect();
    // Links that only join a joint to its link are ours.
    let links: Vec<_> = m
        .links()
        .iter()
        .map(|l| l.name.as_str())
        .filter(|l| !l.ends_with("_1"))
        .collect();
    let joints: Vec<Value> = m
        .joints()
        .iter()
        .filter(|j| j.kind.nv() > 0)
        .map(|j| {
            let (r, t) = (j.origin.rotation.to_rows(), j.origin.translation.to_array());
            let origin: Vec<f64> = (0..3).flat_map(|i| [r[i][0], r[i][1], r[i][2], t[i]]).collect();
            json!({"name": j.name, "kind": j.kind.name(), "link": j.child, "origin": origin})
        })
        .collect();
    let answer = reference.ask(&json!({
        "ask": "drake", "file": file, "top": top, "links": links, "states": listed, "joints": joints,
        "gravity": m.gravity().to_array(), "packages": {"gripper": place().join("gripper")},
    }));
    compare(&file.display().to_string(), m, &links, &states, &answer);
}

#[test]
fn robots_agree_with_drake() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    for (name, top) in [("arm.sdf", "arm"), ("old.sdf", "cart"), ("world.sdf", "")] {
        agrees(&mut reference, &place().join(name), &robot(name), top);
    }
}
