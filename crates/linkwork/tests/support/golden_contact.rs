//! Golden numbers of one step with contact.

use linkwork::Mechanism;
use linkwork::contact::{Contact, Friction, Meeting, Settings, Start, Surface};
use linkwork::model::{FrameId, Joint, Link};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use serde_json::Value;

pub const NAMES: [&str; 6] = [
    "sphere_sliding",
    "two_spheres",
    "block_corners",
    "quadruped_mixed",
    "limits_and_dry_friction",
    "arm_on_slope",
];

pub fn numbers(x: &Value) -> Vec<f64> {
    x.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

pub fn vector(x: &Value) -> Vec3 {
    let x = numbers(x);
    Vec3::new(x[0], x[1], x[2])
}

pub fn rows(x: &Value) -> Vec<Vec<f64>> {
    x.as_array().unwrap().iter().map(numbers).collect()
}

/// One step, whole.
pub struct Golden {
    pub name: &'static str,
    pub file: Value,
    pub mechanism: Mechanism,
    pub contacts: Vec<Contact>,
    pub meetings: Vec<Meeting>,
    pub settings: Settings,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub torque: Vec<f64>,
}

pub fn load(name: &'static str) -> Golden {
    let path = format!("{}/tests/golden/contact/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let model = &file["model"];
    let mut builder = Mechanism::builder(name).gravity(vector(&model["gravity"]));
    let links = model["links"].as_array().unwrap();
    for (i, link) in links.iter().enumerate() {
        let child = &format!("link{i}");
        let axis = vector(&link["axis"]);
        let kind = link["joint"].as_str().unwrap();
        let mut joint = match kind {
            "free" => Joint::free(format!("to {child}")),
            "revolute" => Joint::revolute(format!("to {child}"), axis),
            "prismatic" => Joint::prismatic(format!("to {child}"), axis),
            other => panic!("{other}"),
        };
        let parent = match link["parent"].as_i64().unwrap() {
            -1 => "world".to_owned(),
            k => format!("link{k}"),
        };
        let turn = rows(&link["placement"]["rotation"]);
        let turn = Rotation::from_rows([0, 1, 2].map(|i| [turn[i][0], turn[i][1], turn[i][2]]));
        joint = joint
            .between(parent, child)
            .placed(Pose::new(turn, vector(&link["placement"]["translation"])));
        let number = |name: &str| link[name].as_f64().unwrap();
        if kind != "free" {
            joint = joint
                .armature(number("armature"))
                .damping(number("damping"))
                .friction(number("dry_friction"))
                .spring(number("stiffness"), &[number("spring_reference")]);
        }
        if let Some(limits) = link["limits"].as_array() {
            joint = joint.position_limits(limits[0].as_f64().unwrap(), limits[1].as_f64().unwrap());
        }
        let j = rows(&link["inertia_com"]);
        let moments = [j[0][0], j[0][1], j[0][2], j[1][1], j[1][2], j[2][2]];
        builder = builder
            .link(Link::new(
                child,
                Inertia::new(number("mass"), vector(&link["com"]), moments),
            ))
            .joint(joint);
    }
    let mechanism = builder.build().unwrap();
    let parameters = &file["parameters"];
    let number = |name: &str| parameters[name].as_f64().unwrap();
    let mut settings = Settings::new(number("dt"));
    (settings.rho, settings.sigma) = (number("rho"), number("sigma"));
    settings.friction = Friction::Convex;
    (settings.gyroscopic, settings.start) = (false, Start::Free);
    let surface = |friction: &Value| Surface {
        friction: friction.as_f64().unwrap(),
        stiffness: parameters["stiffness"].as_f64(),
        relaxation: Some(number("tau")),
        ..Surface::default()
    };
    let frame = |k: &Value| match k.as_i64().unwrap() {
        -1 => FrameId::WORLD,
        k => mechanism.frame(&format!("link{k}")).unwrap(),
    };
    let contacts = file["contacts"].as_array().unwrap().iter().map(|c| Contact {
        id: c["candidate"].as_u64().unwrap(),
        a: frame(&c["link_a"]),
        b: frame(&c["link_b"]),
        point: vector(&c["point"]),
        normal: vector(&c["normal"]),
        gap: c["gap"].as_f64().unwrap(),
        surface: surface(&c["friction"]),
    });
    let contacts = contacts.collect();
    let radius = |point: &Value| {
        model["points"][point.as_u64().unwrap() as usize]["radius"]
            .as_f64()
            .unwrap()
    };
    let planes = model["point_plane"].as_array().unwrap();
    let meetings = file["contacts"].as_array().unwrap().iter().map(|c| {
        let candidate = c["candidate"].as_u64().unwrap() as usize;
        match planes.get(candidate) {
            Some(pair) => Meeting::BallOnFace {
                radius: radius(&pair[0]),
                halfway: false,
            },
            None => {
                let pair = &model["point_point"][candidate - planes.len()];
                Meeting::Balls {
                    radii: [radius(&pair[0]), radius(&pair[1])],
                }
            }
        }
    });
    let meetings = meetings.collect();
    let state = &file["state"];
    let (q, v, torque) = (numbers(&state["q"]), numbers(&state["v"]), numbers(&state["torque"]));
    Golden {
        name,
        mechanism,
        contacts,
        meetings,
        settings,
        q,
        v,
        torque,
        file,
    }
}
