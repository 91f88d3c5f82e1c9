//! Every robot of `example-robot-data` loads, and agrees with Pinocchio wherever that reads it.

mod support;

use linkwork::Mechanism;
use linkwork::model::Joint;
use linkwork_formats::{LEAST_ARMATURE, Mode, Options, Order, joint_order, load};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::reference::{Reference, State, compare, error, states};

const ROBOTS: usize = 69;
/// So many of them have joints that follow others; in five more the followers are fixed, or nobody leads them.
const COUPLED: usize = 8;

/// All URDF files below a directory, in order.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory).expect("the robots are there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|e| e == "urdf") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn moving(m: &Mechanism) -> impl Iterator<Item = &Joint> {
    m.joints().iter().filter(|j| j.kind.nv() > 0)
}

fn request(file: &Path, floating: bool, m: &Mechanism, states: &[State]) -> Value {
    let joints: Vec<_> = moving(m)
        .map(|j| json!({"name": j.name, "kind": j.kind.name()}))
        .collect();
    let armature: Vec<f64> = moving(m)
        .flat_map(|j| (0..j.kind.nv()).map(|i| j.armature.get(i).or(j.armature.first()).copied().unwrap_or(0.0)))
        .collect();
    // Only the stated minimum is ours to add: everything else the other library reads for itself.
    assert!(armature.iter().all(|a| *a == 0.0 || *a == LEAST_ARMATURE));
    let states: Vec<_> = states
        .iter()
        .map(|s| json!({"q": s.q, "v": s.v, "a": s.a, "tau": s.tau}))
        .collect();
    json!({
        "ask": "pinocchio", "file": file, "floating": floating, "joints": joints, "armature": armature,
        "links": m.links().iter().map(|l| &l.name).collect::<Vec<_>>(), "states": states,
    })
}

#[test]
fn every_example_robot_loads_and_agrees_with_pinocchio() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let place = reference.ask(&json!({"ask": "where"}));
    let files = files(Path::new(place["robots"].as_str().expect("a path")));
    assert_eq!(files.len(), ROBOTS);
    let (mut compared, mut coupled, mut refused) = ([0; 2], 0, Vec::new());
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        // The other library lets joints that follow others move on their own.
        let independent = Options {
            ignore_couplings: true,
            ..Options::default()
        };
        let fixed = load(file, &independent).unwrap_or_else(|e| panic!("{e}")).mechanism;
        coupled += usize::from(coupled_as_by_hand(file, &fixed));
        let floating = fixed.with_floating_base();
        for (floats, m) in [(false, Some(fixed)), (true, floating.ok())] {
            // Where a link of the file is the world, the other library frees that link, and we free what stands on it.
            let Some(m) = m.filter(|m| !floats || m.joints()[0].name == "root_joint") else {
                continue;
            };
            let states = states(&m);
            let answer = reference.ask(&request(file, floats, &m, &states));
            if answer["error"].is_string() {
                refused.push(format!("{name}: {}", answer["error"]));
                continue;
            }
            let listed: Vec<_> = answer["listed"]
                .as_array()
                .expect("names")
                .iter()
                .map(|j| j.as_str())
                .collect();
            let ours: Vec<_> = moving(&m)
                .skip(usize::from(floats))
                .map(|j| Some(j.name.as_str()))
                .collect();
            assert_eq!(ours, listed, "{name}");
            let ordered = joint_order(&m, Order::Pinocchio)
                .into_iter()
                .map(|j| json!(m.joints()[j].name));
            assert_eq!(json!(ordered.collect::<Vec<_>>()), answer["ordered"], "{name}");
            let links: Vec<_> = m.links().iter().map(|l| l.name.as_str()).collect();
            compare(&name, &m, &links, &states, &answer);
            compared[usize::from(floats)] += 1;
        }
        // Repaired, every one of them obeys the equations at every configuration.
        let options = Options {
            mode: Mode::Repair,
            ..Options::default()
        };
        let repaired = load(file, &options).unwrap_or_else(|e| panic!("{e}")).mechanism;
        for state in states(&repaired) {
            let qdd = repaired
                .forward_dynamics(&state.q, &state.v, &state.tau)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            let tau = repaired.inverse_dynamics(&state.q, &state.v, &qdd).expect("torques");
            assert!(error(&tau, &state.tau) < 1e-6, "{name}");
        }
    }
    // The one that Pinocchio does not read has no links.
    assert_eq!((compared, refused.len()), ([ROBOTS - 1, 57], 1), "{refused:?}");
    assert_eq!(coupled, COUPLED);
}

/// Whether joints of a file follow others; if so, its dynamics is compared with that of its joints on their own, q̇ being
/// Rẏ: 𝓜 with R\*𝓜R, and inverse dynamics with R\*T.
fn coupled_as_by_hand(file: &Path, independent: &Mechanism) -> bool {
    let robot = load(file, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let m = &robot.mechanism;
    if robot.couplings.is_empty() {
        return false;
    }
    let (n, all) = (m.nv(), independent.nv());
    assert_eq!(n + robot.couplings.len(), all);
    // Rotors that joints got because nothing resisted them: on their own each needs one, together their leader alone.
    let mut more = Vec::new();
    for (alone, led) in independent.joints().iter().zip(m.joints()) {
        let rotor = |joint: &Joint, i: usize| joint.armature.get(i).copied().unwrap_or(0.0);
        more.extend((0..alone.kind.nv()).map(|i| rotor(alone, i) - rotor(led, i)));
    }
    // R by columns, from the file's own words: chains of mimic joints are followed to their end.
    let mut r = vec![0.0; n * all];
    for joint in independent.joints() {
        let (mut name, mut ratio) = (joint.name.as_str(), 1.0);
        while let Some(c) = robot.couplings.iter().find(|c| c.follower == name) {
            ratio *= c.coefficients[1];
            name = c.leader.as_deref().expect("mimic joints have leaders");
        }
        let rows = independent
            .v_range(independent.joint(&joint.name).expect("a joint"))
            .unwrap();
        let columns = m.v_range(m.joint(name).expect("a joint")).unwrap();
        for (row, column) in rows.zip(columns) {
            r[column * all + row] = ratio;
        }
    }
    for state in states(m) {
        let q = m.all_coordinates(&state.q).expect("coordinates");
        let expand =
            |y: &[f64]| -> Vec<f64> { (0..all).map(|i| (0..n).map(|k| r[k * all + i] * y[k]).sum()).collect() };
        let contract =
            |x: &[f64]| -> Vec<f64> { (0..n).map(|k| (0..all).map(|i| r[k * all + i] * x[i]).sum()).collect() };
        let a = expand(&state.a);
        let mut tau = independent
            .inverse_dynamics(&q, &expand(&state.v), &a)
            .expect("torques");
        (0..all).for_each(|i| tau[i] -= more[i] * a[i]);
        let ours = m.inverse_dynamics(&state.q, &state.v, &state.a).expect("torques");
        assert!(error(&ours, &contract(&tau)) < 1e-9, "{}", file.display());
        let mut mass = independent.mass_matrix(&q).expect("a matrix");
        (0..all).for_each(|i| mass[i * all + i] -= more[i]);
        let ours = m.mass_matrix(&state.q).expect("a matrix");
        for k in 0..n {
            let column: Vec<f64> = (0..all)
                .map(|i| (0..all).map(|j| mass[i * all + j] * r[k * all + j]).sum())
                .collect();
            assert!(
                error(&ours[k * n..(k + 1) * n], &contract(&column)) < 1e-9,
                "{}",
                file.display()
            );
        }
        // And forward dynamics undoes inverse dynamics.
        let tau = m.inverse_dynamics(&state.q, &state.v, &state.a).expect("torques");
        let a = m
            .forward_dynamics(&state.q, &state.v, &tau)
            .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let back = m.inverse_dynamics(&state.q, &state.v, &a).expect("torques");
        assert!(error(&back, &tau) < 1e-6, "{}", file.display());
    }
    true
}
