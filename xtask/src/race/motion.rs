//! Inverse kinematics beside pytracik, pin-pink and mink: the same poses of the same robots, one after the other.

use super::processor;
use crate::reference::{self, cache};
use crate::test::cargo;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Changing a version makes a new environment.
const PEERS: [&str; 7] = [
    "pytracik==0.0.3",
    "pin-pink==4.4.0",
    "mink==1.3.0",
    "pin==4.1.0",
    "mujoco==4.0.0",
    "daqp==0.10.3",
    "example-robot-data==6.0.0",
];

/// Robots of files, and the frames that go somewhere; arm7 and the humanoid are built in.
const ROBOTS: [(&str, &str, &str); 2] = [
    ("ur5", "ur_description/urdf/ur5_robot.urdf", "tool0"),
    ("panda", "panda_description/urdf/panda.urdf", "panda_hand"),
];
const BUILT_IN: [(&str, &str); 2] = [("arm7", "flange"), ("humanoid", "")];

/// Runs the race; whether it could be run.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let python = reference::environment("motion", &PEERS)?;
    // In one go, so that the library is built once.
    let programs = [
        "build",
        "--quiet",
        "--release",
        "--package",
        "linkwork-cli",
        "--package",
        "linkwork-formats",
        "--features",
        "linkwork-cli/lanes,linkwork/lanes",
        "--bin",
        "linkwork",
        "--example",
        "ik_speed",
    ];
    if !cargo(root, &programs, &[])? {
        return Ok(false);
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let place = cache().join("race-motion");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).map_err(|e| format!("cannot make {}: {e}", place.display()))?;
    let convert = |robot: &Path, out: &str| {
        let linkwork = target.join("release/linkwork");
        let out = place.join(out);
        reference::run(
            Command::new(linkwork)
                .arg("convert")
                .args(["--anywhere", "--repair"])
                .arg(robot)
                .arg(out),
        )
    };
    let robots = prefix(&python)?.join("share/example-robot-data/robots");
    let mut given = Vec::new();
    for (name, file, frame) in ROBOTS {
        convert(&robots.join(file), &format!("{name}.xml"))?;
        let urdf = place.join(format!("{name}.urdf"));
        std::fs::copy(robots.join(file), &urdf).map_err(|e| format!("cannot copy {file}: {e}"))?;
        given.extend([urdf.to_string_lossy().into_owned(), frame.to_owned()]);
    }
    for (name, _) in BUILT_IN {
        convert(Path::new(name), &format!("{name}.xml"))?;
        convert(Path::new(name), &format!("{name}.urdf"))?;
    }
    println!("{}\n", processor());
    println!("| robot | | solved to 1e-6 | median | differential step |\n|---|---|---|---|---|");
    let mut ours = Command::new(target.join("release/examples/ik_speed"));
    reference::run(ours.arg("--write").arg(&place).args(given))?;
    let script = root.join("xtask/src/race/motion_peers.py");
    reference::run(Command::new(&python).arg(script).arg(&place))?;
    Ok(true)
}

/// Where packages of robots and libraries are.
fn prefix(python: &Path) -> Result<PathBuf, String> {
    let script = "import pathlib, pinocchio as p; print(next(x for x in pathlib.Path(p.__file__).parents if (x / 'share').exists()))";
    let output = Command::new(python).args(["-c", script]).output();
    let output = output.map_err(|e| format!("cannot run {}: {e}", python.display()))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}
