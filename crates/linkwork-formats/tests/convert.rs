//! Robots in other formats: written files open elsewhere, and writing what was read gives the same text.

mod support;

use linkwork_formats::{Format, Mode, Options, Robot, load, read_beside, write};
use serde_json::json;
use std::path::{Path, PathBuf};
use support::reference::{Reference, error, numbers, states};

/// The files below a directory with one of some endings, sorted.
fn files(root: &Path, ends: &[&str]) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![root.to_owned()]);
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if ends.iter().any(|end| path.to_string_lossy().ends_with(end)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn options(mode: Mode, packages: &[PathBuf]) -> Options {
    Options {
        mode,
        packages: packages.to_vec(),
        ignore_couplings: true,
        ..Options::default()
    }
}

/// Where example robots are, and their packages.
fn examples(reference: &mut Reference) -> (PathBuf, Vec<PathBuf>) {
    let answer = reference.ask(&json!({"ask": "where"}));
    let root = PathBuf::from(answer["robots"].as_str().expect("a directory"));
    let share = root.ancestors().nth(2).expect("a prefix").to_owned();
    (root, vec![share])
}

#[test]
fn every_converted_example_robot_opens_in_mujoco() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let (root, packages) = examples(&mut reference);
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("converted");
    std::fs::create_dir_all(&directory).unwrap();
    let (mut count, mut worst) = (0, 0.0_f64);
    for path in files(&root, &[".urdf"]) {
        let shown = path.display();
        let robot = load(&path, &options(Mode::Repair, &packages)).unwrap_or_else(|e| panic!("{shown}: {e}"));
        let text = write(&robot, Format::Mjcf)
            .unwrap_or_else(|e| panic!("{shown}: {e}"))
            .text;
        let written = directory.join(format!("{count}.xml"));
        std::fs::write(&written, &text).unwrap();
        let again = load(&written, &options(Mode::Warn, &[])).unwrap_or_else(|e| panic!("{shown}: {e}"));
        let (m, n) = (&robot.mechanism, &again.mechanism);
        assert_eq!(m.nv(), n.nv(), "{shown}");
        let (state, theirs) = (&states(m)[0], n.nv());
        // Coordinates by the names of joints; MJCF follows the tree.
        let place = |name: &str| {
            let at = |m: &linkwork::Mechanism| (m.q_range(m.joint(name).unwrap()), m.v_range(m.joint(name).unwrap()));
            let ((q, v), (to_q, to_v)) = (at(m), at(n));
            (q.unwrap(), v.unwrap(), to_q.unwrap(), to_v.unwrap())
        };
        let (mut q, mut order) = (n.neutral(), vec![0; theirs]);
        for joint in m.joints().iter().filter(|j| j.kind.nv() > 0) {
            let (from_q, from_v, to_q, to_v) = place(&joint.name);
            q[to_q].copy_from_slice(&state.q[from_q]);
            to_v.zip(from_v).for_each(|(to, from)| order[to] = from);
        }
        let zero = vec![0.0; theirs];
        let asked = json!({"q": q, "v": zero, "a": zero, "tau": zero});
        let answer = reference.ask(&json!({"ask": "mujoco", "file": written, "links": [], "states": [asked]}));
        let mut mass = vec![0.0; theirs * theirs];
        m.workspace().at(&state.q).unwrap().mass_matrix(&mut mass).unwrap();
        let ordered: Vec<f64> = (0..theirs * theirs)
            .map(|i| mass[order[i / theirs] * theirs + order[i % theirs]])
            .collect();
        let error = error(&ordered, &numbers(&answer["states"][0]["mass_matrix"]));
        assert!(error < 1e-9, "{shown}: 𝓜 differs by {error:e}");
        (count, worst) = (count + 1, worst.max(error));
    }
    println!("{count} converted robots open in MuJoCo; 𝓜 differs by at most {worst:e}");
    assert!(count > 60);
}

fn again(text: &str, format: Format, home: &Path, packages: &[PathBuf]) -> Result<Robot, String> {
    read_beside(
        "again",
        text.as_bytes(),
        format,
        Some(home),
        &options(Mode::Warn, packages),
    )
    .map_err(|e| e.to_string())
}

/// The first lines in which two texts differ.
fn difference(a: &str, b: &str) -> String {
    let lines = a.lines().zip(b.lines());
    let first = lines.enumerate().find(|(_, (a, b))| a != b);
    first.map_or_else(
        || format!("{} and {} lines", a.lines().count(), b.lines().count()),
        |(i, (a, b))| format!("line {}:\n  {a}\n  {b}", i + 1),
    )
}

#[test]
fn writing_what_was_written_gives_the_same_text() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut all = files(&own, &[".urdf", ".xml", ".sdf", ".xacro"]);
    let mut packages = Vec::new();
    if let Some(mut reference) = Reference::start() {
        let (root, share) = examples(&mut reference);
        packages = share;
        all.extend(files(&root, &[".urdf", ".sdf", ".xml"]));
    }
    let (mut count, mut broken) = (0, Vec::new());
    for path in all {
        // Parts of other files are no robots.
        let Ok(robot) = load(&path, &options(Mode::Repair, &packages)) else {
            continue;
        };
        let home = path.parent().expect("a directory");
        for format in [Format::Urdf, Format::Mjcf, Format::Sdf, Format::Native] {
            // A joint that a format has not is refused.
            let Ok(first) = write(&robot, format) else { continue };
            let turn = || -> Result<(), String> {
                let mut before = first.text.clone();
                // In SDF what joins a free link to others holds it: its coordinates change once, and that is told.
                let joined = first.report.of("loop-as-joint").count() > 0;
                for round in 0..3 {
                    let robot = again(&before, format, home, &packages)?;
                    let after = write(&robot, format).map_err(|e| e.to_string())?.text;
                    if after != before && !(joined && round == 0) {
                        return Err(format!("round {round}, {}", difference(&before, &after)));
                    }
                    before = after;
                }
                Ok(())
            };
            count += 1;
            if let Err(why) = turn() {
                broken.push(format!("{} {format:?}: {why}", path.display()));
            }
        }
    }
    println!("{count} texts");
    assert!(broken.is_empty(), "{} of {count}:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn loops_that_miss_by_rounding_are_assembled() {
    // Four bars in a plane; the sites that meet are apart by so much across it, whatever the angles.
    let bars = |apart: f64| {
        format!(
            "<mujoco><worldbody><site name=\"ground\" pos=\"0.5 {apart:e} 0\"/><body name=\"a\"><joint name=\"a\" axis=\"0 1 0\"/>\
             <geom size=\"0.1\"/><body name=\"b\" pos=\"0 0 0.3\"><joint name=\"b\" axis=\"0 1 0\"/><geom size=\"0.1\"/><body name=\"c\" \
             pos=\"0.5 0 0\"><joint name=\"c\" axis=\"0 1 0\"/><geom size=\"0.1\"/><site name=\"end\" pos=\"0 0 -0.3\"/></body></body></body>\
             </worldbody><equality><connect site1=\"ground\" site2=\"end\"/></equality></mujoco>"
        )
    };
    let closed = |apart: f64| {
        let robot = linkwork_formats::read("bars", bars(apart).as_bytes(), Format::Mjcf, &Options::default()).unwrap();
        robot.closed().unwrap()
    };
    let near = closed(1.2e-8);
    let q = near.assemble(&[0.4, -0.3, 0.2]).unwrap();
    let open = near.workspace().at(&q).unwrap().closure();
    assert!((open - 1.2e-8).abs() < 1e-10, "{open:e}");
    assert!(closed(1e-6).assemble(&[0.4, -0.3, 0.2]).is_err());
}
