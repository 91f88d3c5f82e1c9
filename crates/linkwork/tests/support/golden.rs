//! Golden numbers: mechanisms and what is known about them at some states.

use super::matrix::Matrix;
use linkwork::Mechanism;
use linkwork::closed::{ClosedMechanism, Constraint, ConstraintKind};
use linkwork::model::{Joint, JointKind, Link};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use serde_json::Value;

/// The files. `chain100` has no matrices.
pub const NAMES: [&str; 6] = ["arm6", "scara", "quadruped", "zoo", "forest", "chain100"];

pub struct Golden {
    pub name: String,
    /// Links `link0` …, held by joints `joint0` …, in the file's order.
    pub mechanism: Mechanism,
    pub cases: Vec<Case>,
}

pub struct Case {
    pub q: Vec<f64>,
    pub qd: Vec<f64>,
    pub qdd: Vec<f64>,
    pub tau: Vec<f64>,
    pub expect: Expect,
    pub tips: Vec<Tip>,
}

/// What is known about a leaf link.
pub struct Tip {
    /// Its name.
    pub link: String,
    /// Its pose in the world, 4×4.
    pub pose: Matrix,
    /// 6×nv, in the link's frame.
    pub jacobian_body: Matrix,
    /// J𝓜⁻¹J*, 6×6.
    pub osim_inverse_body: Matrix,
}

/// Expected numbers by name; none where the file leaves them out.
pub struct Expect(Value);

impl Expect {
    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    pub fn vector(&self, name: &str) -> Option<Vec<f64>> {
        self.0.get(name).map(numbers)
    }

    pub fn matrix(&self, name: &str) -> Option<Matrix> {
        self.0.get(name).map(matrix)
    }

    /// One vector per link.
    pub fn vectors(&self, name: &str) -> Option<Vec<Vec<f64>>> {
        Some(list(self.0.get(name)?).iter().map(numbers).collect())
    }

    /// One matrix per link.
    pub fn matrices(&self, name: &str) -> Option<Vec<Matrix>> {
        Some(list(self.0.get(name)?).iter().map(matrix).collect())
    }
}

/// Reads one of [`NAMES`].
pub fn load(name: &str) -> Golden {
    let file = read(name);
    let cases = list(&file["cases"]).iter().map(case).collect();
    Golden {
        name: name.to_owned(),
        mechanism: mechanism(name, &file["mechanism"]),
        cases,
    }
}

fn read(name: &str) -> Value {
    let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

pub fn load_all() -> impl Iterator<Item = Golden> {
    NAMES.into_iter().map(load)
}

/// A closed mechanism at one state, and what is known about it.
pub struct Loop {
    pub closed: ClosedMechanism,
    pub rank: usize,
    pub q: Vec<f64>,
    pub qd: Vec<f64>,
    pub tau: Vec<f64>,
    pub expect: Expect,
}

/// The files that [`load_loop`] reads.
pub const LOOPS: [&str; 3] = ["loop_fourbar", "loop_two_arms", "loop_grasp"];

/// Reads one of [`LOOPS`].
pub fn load_loop(name: &str) -> Loop {
    let file = read(name);
    let mut builder = mechanism(name, &file["mechanism"]).to_builder();
    let mut constraints = Vec::new();
    for (i, given) in list(&file["constraints"]).iter().enumerate() {
        let mut ends = Vec::new();
        for side in ["a", "b"] {
            let link = match given[format!("link_{side}")].as_i64().unwrap() {
                -1 => "world".to_owned(),
                k => format!("link{k}"),
            };
            let pose = pose(&given[format!("frame_{side}")]);
            ends.push(format!("{side}{i}"));
            builder = builder.frame(format!("{side}{i}"), link, pose);
        }
        let kind = match given["kind"].as_str().unwrap() {
            "weld" => ConstraintKind::Weld,
            "point" => ConstraintKind::Point,
            other => panic!("unknown constraint {other}"),
        };
        constraints.push(Constraint::new(format!("loop{i}"), kind, &ends[0], &ends[1]));
    }
    let closed = ClosedMechanism::new(builder.build().unwrap(), constraints).unwrap();
    Loop {
        rank: file["rank"].as_u64().map_or(closed.rows(), |r| r as usize),
        closed,
        q: numbers(&file["q"]),
        qd: numbers(&file["v"]),
        tau: numbers(&file["tau"]),
        expect: Expect(file["expect"].clone()),
    }
}

fn pose(given: &Value) -> Pose {
    let r = matrix(&given["R"]);
    let rotation = Rotation::from_rows([0, 1, 2].map(|i| [r.at(i, 0), r.at(i, 1), r.at(i, 2)]));
    Pose::new(rotation, vec3(&given["p"]))
}

fn mechanism(name: &str, given: &Value) -> Mechanism {
    let mut builder = Mechanism::builder(name)
        .gravity(vec3(&given["gravity"]))
        .any_positive_inertia();
    for (k, link) in list(&given["links"]).iter().enumerate() {
        let parent = match link["parent"].as_i64().unwrap() {
            -1 => "world".to_owned(),
            p => format!("link{p}"),
        };
        let kind = match link["kind"].as_str().unwrap() {
            "revolute" => JointKind::Revolute {
                axis: vec3(&link["axis"]),
            },
            "prismatic" => JointKind::Prismatic {
                axis: vec3(&link["axis"]),
            },
            "spherical" => JointKind::Spherical,
            "planar" => JointKind::Planar,
            "translation" => JointKind::Translation,
            "free" => JointKind::Free,
            other => panic!("unknown joint {other}"),
        };
        let i = matrix(&link["inertia"]);
        let moments = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].map(|(r, c)| i.at(r, c));
        let inertia = Inertia::new(link["mass"].as_f64().unwrap(), vec3(&link["com"]), moments);
        let joint = Joint::new(format!("joint{k}"), kind)
            .between(parent, format!("link{k}"))
            .placed(pose(link));
        builder = builder.link(Link::new(format!("link{k}"), inertia)).joint(joint);
    }
    builder.build().unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn case(given: &Value) -> Case {
    let expect = &given["expect"];
    let tips = expect.get("tips").map_or(&[][..], list);
    Case {
        q: numbers(&given["q"]),
        qd: numbers(&given["v"]),
        qdd: numbers(&given["a"]),
        tau: numbers(&given["tau"]),
        expect: Expect(expect.clone()),
        tips: tips.iter().map(tip).collect(),
    }
}

fn tip(given: &Value) -> Tip {
    let pose = &given["pose"];
    Tip {
        link: format!("link{}", given["link"].as_u64().unwrap()),
        pose: super::rigid::homogeneous(&matrix(&pose["R"]), &numbers(&pose["p"])),
        jacobian_body: matrix(&given["jacobian_body"]),
        osim_inverse_body: matrix(&given["osim_inverse_body"]),
    }
}

fn list(x: &Value) -> &[Value] {
    x.as_array().expect("a list")
}

fn numbers(x: &Value) -> Vec<f64> {
    list(x).iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn matrix(x: &Value) -> Matrix {
    let rows: Vec<Vec<f64>> = list(x).iter().map(numbers).collect();
    Matrix::from_slice(rows.len(), rows.first().map_or(0, Vec::len), &rows.concat())
}

fn vec3(x: &Value) -> Vec3 {
    let x = numbers(x);
    Vec3::new(x[0], x[1], x[2])
}
