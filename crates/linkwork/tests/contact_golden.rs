//! One step with contact against golden numbers: free velocity, compliance, impulses, v⁺ and the next state.

mod support;

use linkwork::Mechanism;
use linkwork::contact::{Contact, Friction, JointRow, Region, Report, Settings, Stepper, Surface};
use linkwork::model::{FrameId, Joint, Link};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use serde_json::Value;
use support::{assert_close, error};

const NAMES: [&str; 6] = [
    "sphere_sliding",
    "two_spheres",
    "block_corners",
    "quadruped_mixed",
    "limits_and_dry_friction",
    "arm_on_slope",
];

fn numbers(x: &Value) -> Vec<f64> {
    x.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn vector(x: &Value) -> Vec3 {
    let x = numbers(x);
    Vec3::new(x[0], x[1], x[2])
}

fn rows(x: &Value) -> Vec<Vec<f64>> {
    x.as_array().unwrap().iter().map(numbers).collect()
}

struct Golden {
    name: &'static str,
    file: Value,
    mechanism: Mechanism,
    contacts: Vec<Contact>,
    settings: Settings,
    q: Vec<f64>,
    v: Vec<f64>,
    torque: Vec<f64>,
}

fn load(name: &'static str) -> Golden {
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
    settings.gyroscopic = false;
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
    let state = &file["state"];
    let (q, v, torque) = (numbers(&state["q"]), numbers(&state["v"]), numbers(&state["torque"]));
    Golden {
        name,
        mechanism,
        contacts,
        settings,
        q,
        v,
        torque,
        file,
    }
}

/// γ as the file has it: along t1, t2 and the normal.
fn impulses(report: &Report, file: &Value) -> Vec<f64> {
    let mut all = Vec::new();
    for (told, c) in report.contacts.iter().zip(file["contacts"].as_array().unwrap()) {
        all.extend([
            told.across.dot(vector(&c["t1"])),
            told.across.dot(vector(&c["t2"])),
            told.along,
        ]);
    }
    all
}

#[test]
fn the_convex_step_is_that_of_the_golden_numbers() {
    for golden in NAMES.map(load) {
        let Golden {
            name,
            file,
            mechanism,
            contacts,
            settings,
            q,
            v,
            torque,
        } = golden;
        let mut stepper = Stepper::new(&mechanism, settings).unwrap();
        let (mut q, mut v) = (q, v);
        let report = stepper.step(&mut q, &mut v, &torque, &contacts).unwrap().clone();
        assert!(report.settled, "{name}");
        assert_close(
            &format!("{name}: v*"),
            &report.free_velocity,
            &numbers(&file["v_star"]),
            1e-12,
        );
        for (told, c) in report.contacts.iter().zip(file["contacts"].as_array().unwrap()) {
            let r = numbers(&c["R"]);
            assert_close(name, &[told.compliance[1], told.compliance[0]], &[r[0], r[2]], 1e-12);
            let region = match c["region"].as_str().unwrap() {
                "apart" => Region::Apart,
                "sticking" => Region::Sticking,
                "sliding" => Region::Sliding,
                other => panic!("{other}"),
            };
            assert_eq!(told.region, region, "{name}");
        }
        let expect: Vec<f64> = file["contacts"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|c| numbers(&c["gamma"]))
            .collect();
        assert_close(&format!("{name}: γ"), &impulses(&report, &file), &expect, 1e-9);
        assert_close(
            &format!("{name}: v⁺"),
            &report.velocity,
            &numbers(&file["v_plus"]),
            1e-10,
        );
        assert_close(&format!("{name}: q"), &q, &numbers(&file["q_next"]), 1e-11);
        assert_close(&format!("{name}: v"), &v, &numbers(&file["v_next"]), 1e-10);
        let objective = file["objective"].as_f64().unwrap();
        assert!(
            (report.objective - objective).abs() < 1e-9 * objective,
            "{name}: {}",
            report.objective
        );
        let joints = file["scalar_rows"].as_array().unwrap();
        assert_eq!(report.joints.len(), joints.len(), "{name}");
        for row in joints {
            let line = numbers(&row["row"]);
            let dof = line.iter().position(|x| *x != 0.0).unwrap();
            let kind = match row["kind"].as_str().unwrap() {
                "limit" => JointRow::Limit,
                _ => JointRow::Friction,
            };
            let impulse = line[dof] * row["gamma"].as_f64().unwrap();
            let found = report.joints.iter().filter(|j| j.dof == dof && j.row == kind);
            let nearest = found.map(|j| (j.impulse - impulse).abs()).fold(f64::INFINITY, f64::min);
            assert!(
                nearest < 1e-10 * (1.0 + impulse.abs()),
                "{name}: {kind:?} {dof}: {nearest:e}"
            );
        }
    }
}

#[test]
fn coulombs_law_is_that_of_the_golden_numbers() {
    let mut count = 0;
    for golden in NAMES.map(load) {
        let Golden {
            name,
            file,
            mechanism,
            contacts,
            mut settings,
            q,
            v,
            torque,
        } = golden;
        if file["coulomb"].is_null() {
            continue;
        }
        count += 1;
        settings.friction = Friction::Coulomb;
        settings.coulomb_tolerance = 1e-12;
        settings.tolerance = 1e-13;
        let mut stepper = Stepper::new(&mechanism, settings).unwrap();
        let report = stepper.solve(&q, &v, &torque, &contacts).unwrap();
        assert!(report.residuals.coulomb < 1e-9, "{name}: {:?}", report.residuals);
        let expect: Vec<f64> = rows(&file["coulomb"]["gamma"]).concat();
        assert_close(&format!("{name}: γ"), &impulses(report, &file), &expect, 1e-8);
        assert_close(
            &format!("{name}: v⁺"),
            &report.velocity,
            &numbers(&file["coulomb"]["v_plus"]),
            1e-8,
        );
        assert!(
            error(&[report.residuals.normal], &[0.0]) < 1e-8,
            "{name}: {:?}",
            report.residuals
        );
    }
    assert_eq!(count, 4);
}
