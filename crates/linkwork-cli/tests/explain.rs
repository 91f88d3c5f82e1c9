//! `linkwork explain`: one joint in words and in JSON.

mod program_support;

use program_support::{complaint, directory, linkwork, text};
use serde_json::Value;

#[test]
fn a_joint_is_explained() {
    let here = directory("explain");
    let output = linkwork(&here, &["explain", "puma560", "--joint", "joint2"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in [
        "which is",
        "gravity",
        "𝒞(q, ξ)",
        "P, free",
        "r, locked",
        "not flat, because of",
    ] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
}

#[test]
fn the_parts_of_a_torque_add_up() {
    let here = directory("explain-json");
    let robot = ["explain", "arm7", "--joint", "2", "--random", "3", "--json"];
    let output = linkwork(&here, &robot);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let degree = &told["degrees_of_freedom"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let links = degree["links"].as_array().unwrap();
    let parts = ["acceleration", "velocity", "gravity", "outside"];
    let sum: f64 = links
        .iter()
        .flat_map(|link| parts.map(|part| number(&link[part])))
        .sum();
    assert!((sum + number(&degree["rotor"]) - number(&degree["torque"])).abs() < 1e-9);
    assert!(number(&degree["inertia_free"]) <= number(&degree["inertia_locked"]) + 1e-12);
}

#[test]
fn the_coriolis_matrix_is_drawn_and_skew() {
    let here = directory("explain-picture");
    for file in ["c.svg", "c.png"] {
        let robot = ["explain", "arm7", "--random", "3", "--json", "--picture", file];
        let output = linkwork(&here, &robot);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let c: Vec<f64> = told["coriolis_matrix"]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect();
        assert!((0..49).all(|i| (c[i] + c[i % 7 * 7 + i / 7]).abs() < 1e-12));
        assert!(std::fs::metadata(here.join(file)).unwrap().len() > 1000);
    }
}

/// A point mass at spherical coordinates: flat, and its own place is coordinates in which the mass is the identity.
#[test]
fn flat_coordinates_are_told() {
    const POINT: &str = r#"<robot name="point">
  <link name="base"/><link name="turned"/><link name="lifted"/>
  <link name="point"><inertial><origin xyz="1 0 0"/><mass value="4"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="a" type="continuous"><parent link="base"/><child link="turned"/><axis xyz="0 0 1"/></joint>
  <joint name="b" type="continuous"><parent link="turned"/><child link="lifted"/><axis xyz="0 1 0"/></joint>
  <joint name="r" type="prismatic"><parent link="lifted"/><child link="point"/><axis xyz="1 0 0"/><limit lower="-1" upper="5" effort="1" velocity="1"/></joint>
</robot>"#;
    let here = directory("explain-flat");
    std::fs::write(here.join("point.urdf"), POINT).unwrap();
    let told = |q: &str| -> Vec<f64> {
        let output = linkwork(&here, &["explain", "point.urdf", "--joint", "a", "--q", q, "--json"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let y = &told["curvature"]["coordinates"];
        let list = y.as_array().unwrap_or_else(|| panic!("{}", told["curvature"]));
        list.iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let place = |a: f64, b: f64, r: f64| {
        [
            (1.0 + r) * b.cos() * a.cos(),
            (1.0 + r) * b.cos() * a.sin(),
            -(1.0 + r) * b.sin(),
        ]
    };
    let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
    let (x, y) = (told("0.7,0.4,0.5"), told("-0.3,0.6,0.9"));
    let expect = 2.0 * distance(&place(0.7, 0.4, 0.5), &place(-0.3, 0.6, 0.9));
    assert!(
        (distance(&x, &y) - expect).abs() < 1e-4,
        "{} {expect}",
        distance(&x, &y)
    );
}

#[test]
fn unknown_joints_and_bad_pushes_are_complained_about() {
    for (arguments, problem) in [
        (["explain", "arm7", "--joint", "elbow"], "has no joint `elbow`"),
        (
            ["explain", "arm7", "--push", "nothing=1,2,3,4,5,6"],
            "not a link that moves",
        ),
        (["explain", "arm7", "--q", "1,2"], "but needs"),
    ] {
        let (code, said) = complaint(&arguments);
        assert!(code == 2 && said.contains(problem), "{said}");
    }
}
