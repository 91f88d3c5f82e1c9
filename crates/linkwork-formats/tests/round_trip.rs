//! Written and read again, robots move as before.

mod support;

use linkwork::Mechanism;
use linkwork::closed::{ConstraintKind, Side};
use linkwork::model::{Joint, Link, examples};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use linkwork_formats::{
    Actuator, FileCoupling, Format, Geometry, Keyframe, Lag, Loop, Mode, Options, Robot, Role, Sensor, Shape, Target,
    Tendon, TendonPath, TendonPoint, Terrain, Touch, Transmission, load, read, write,
};
use serde_json::{Value, json};
use std::path::Path;
use support::first_error;
use support::reference::{Reference, error};

const TOLERANCE: f64 = 1e-12;

/// A robot with every kind of joint, in an order that is not the tree's, and everything that goes with it.
fn zoo(kinds: &[&str]) -> Robot {
    let pose = |i: f64| Pose::new(Rotation::from_rpy(0.3 * i, -0.2 * i, 0.5), [0.1 * i, 0.2, -0.05 * i]);
    let axis = |i: f64| Vec3::new(i.sin(), i.cos(), 0.5);
    let mut builder = Mechanism::builder("zoo & <co>").gravity([0.1, 0.2, -9.0]);
    let mut parent = "world".to_owned();
    for (n, &kind) in kinds.iter().enumerate() {
        let (i, name, link) = (n as f64 + 1.0, format!("{kind} joint"), format!("{kind} \"link\""));
        let body = Inertia::cuboid(1.0 + 0.1 * i, [0.1, 0.2, 0.3]).seen_from(&pose(i));
        let joint = match kind {
            "fixed" => Joint::fixed(name),
            "revolute" => Joint::revolute(name, axis(i))
                .position_limits(-1.25, 2.5)
                .armature(0.1)
                .effort_limit(7.0),
            "continuous" => Joint::continuous(name, axis(i)).damping(0.3).friction(0.01),
            "prismatic" => Joint::prismatic(name, axis(i))
                .position_limits(-0.1, 0.2)
                .spring(30.0, &[0.05]),
            "helical" => Joint::helical(name, axis(i), 0.02),
            "cylindrical" => Joint::cylindrical(name, axis(i)).armature(0.2),
            "universal" => Joint::universal(name, axis(i), axis(i + 1.0)),
            "planar" => Joint::planar(name),
            "translation" => Joint::translation(name).damping(0.5),
            "spherical" => Joint::spherical(name),
            _ => Joint::free(name),
        };
        // A free joint starts a tree of its own; the others branch every third link.
        let from = if kind == "free" { "world" } else { &*parent };
        builder = builder
            .link(Link::new(&link, body))
            .joint(joint.between(from, &link).placed(pose(i + 0.5)));
        if n % 3 != 1 {
            parent = link;
        }
    }
    let first = format!("{} \"link\"", kinds[0]);
    let mechanism = builder.frame("tool", &first, pose(2.0)).build().expect("it is sound");
    let shape = |shape: Shape, role: Role| Geometry {
        name: String::new(),
        link: first.clone(),
        role,
        pose: pose(0.7),
        shape,
        colour: Some([0.1, 0.2, 0.3, 1.0]),
    };
    let mut robot = Robot::from(mechanism);
    robot.geometry = vec![
        shape(
            Shape::Cuboid {
                edges: Vec3::new(0.1, 0.2, 0.3),
            },
            Role::Visual,
        ),
        shape(
            Shape::Capsule {
                radius: 0.1,
                length: 0.3,
            },
            Role::Collision,
        ),
        shape(
            Shape::Mesh {
                uri: "package://zoo/a&b.stl".into(),
                path: None,
                scale: Vec3::new(1.0, 2.0, 3.0),
            },
            Role::Visual,
        ),
    ];
    robot
}

const ALL: [&str; 11] = [
    "free",
    "revolute",
    "continuous",
    "universal",
    "prismatic",
    "helical",
    "cylindrical",
    "planar",
    "translation",
    "spherical",
    "fixed",
];

/// Where the coordinates of each of a mechanism's joints are in another, in which a joint may be several.
fn indices(from: &Mechanism, to: &Mechanism) -> (Vec<usize>, Vec<usize>) {
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for joint in from.joints().iter().filter(|j| j.kind.nv() > 0) {
        let mut names = vec![joint.name.clone()];
        if to.joint(&joint.name).is_err() {
            names = (1..=joint.kind.nv()).map(|i| format!("{}_{i}", joint.name)).collect();
        }
        for name in names {
            let id = to.joint(&name).expect("the joint is there");
            q.extend(to.q_range(id).unwrap());
            v.extend(to.v_range(id).unwrap());
        }
    }
    (q, v)
}

/// Compares poses, the mass matrix, and inverse and forward dynamics.
fn same_dynamics(what: &str, before: &Mechanism, after: &Mechanism) {
    let (qi, vi) = indices(before, after);
    assert_eq!((qi.len(), vi.len()), (after.nq(), after.nv()), "{what}");
    let n = before.nv();
    let spread = |x: &[f64], at: &[usize]| {
        let mut y = vec![0.0; x.len()];
        at.iter().zip(x).for_each(|(&i, x)| y[i] = *x);
        y
    };
    for seed in 1..3 {
        let q = before.random(seed);
        let v: Vec<f64> = (0..n).map(|i| (i as f64 + seed as f64).sin()).collect();
        let (q2, v2) = (spread(&q, &qi), spread(&v, &vi));
        let (mut one, mut two) = (before.workspace(), after.workspace());
        let (mut one, mut two) = (one.at(&q).unwrap(), two.at(&q2).unwrap());
        for link in before.links() {
            let [a, b] = [
                one.pose(before.frame(&link.name).unwrap()).unwrap(),
                two.pose(after.frame(&link.name).unwrap()).unwrap(),
            ];
            assert!(
                (a.translation - b.translation).norm() < TOLERANCE,
                "{what}: {}",
                link.name
            );
            assert!(
                (a.rotation.x - b.rotation.x).norm() < TOLERANCE,
                "{what}: {}",
                link.name
            );
        }
        let check = |quantity: &str, expect: &[f64], got: &[f64]| {
            let e = error(got, expect);
            assert!(e <= TOLERANCE, "{what}: {quantity} differs by {e:e}");
        };
        let mass = before.mass_matrix(&q).unwrap();
        let turned = after.mass_matrix(&q2).unwrap();
        let picked: Vec<f64> = (0..n * n).map(|k| turned[vi[k / n] * n + vi[k % n]]).collect();
        check("mass matrix", &mass, &picked);
        let back = |x: Vec<f64>| vi.iter().map(|&i| x[i]).collect::<Vec<_>>();
        check(
            "inverse dynamics",
            &before.inverse_dynamics(&q, &v, &v).unwrap(),
            &back(after.inverse_dynamics(&q2, &v2, &v2).unwrap()),
        );
        let condition = 100.0;
        let forward = before.forward_dynamics(&q, &v, &v).unwrap();
        let e = error(&back(after.forward_dynamics(&q2, &v2, &v2).unwrap()), &forward);
        assert!(e <= TOLERANCE * condition, "{what}: forward dynamics differs by {e:e}");
    }
}

fn again(robot: &Robot, format: Format) -> Robot {
    let text = write(robot, format).unwrap_or_else(|e| panic!("{e}")).text;
    read("again", text.as_bytes(), format, &Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Robots to try, with the formats that can say all their joints.
fn robots() -> Vec<(String, Robot, Vec<Format>)> {
    let every = [Format::Native, Format::Urdf, Format::Mjcf];
    let native = [Format::Native];
    let file_with = |name: &str, options: &Options| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
        load(&path, options).unwrap_or_else(|e| panic!("{e}"))
    };
    let file = |name: &str| file_with(name, &Options::default());
    let independent = Options {
        ignore_couplings: true,
        ..Options::default()
    };
    let plain: Vec<&str> = ALL
        .iter()
        .copied()
        .filter(|k| !["helical", "planar"].contains(k))
        .collect();
    let mut all = vec![
        ("zoo".to_owned(), zoo(&ALL), native.to_vec()),
        ("plain zoo".to_owned(), zoo(&plain), vec![Format::Native, Format::Mjcf]),
        (
            "small zoo".to_owned(),
            zoo(&["free", "revolute", "fixed", "continuous", "prismatic", "planar"]),
            vec![Format::Native, Format::Urdf],
        ),
        (
            "held zoo".to_owned(),
            zoo(&ALL[1..].iter().copied().filter(|k| *k != "planar").collect::<Vec<_>>()),
            vec![Format::Native, Format::Sdf],
        ),
        (
            "everything".to_owned(),
            file("everything.urdf"),
            vec![Format::Native, Format::Urdf],
        ),
        // One of its joints follows another by a curve, which URDF has not.
        ("arm".to_owned(), file("arm.xml"), vec![Format::Native, Format::Mjcf]),
        (
            "uncoupled arm".to_owned(),
            file_with("arm.xml", &independent),
            every.to_vec(),
        ),
        (
            "pendulums".to_owned(),
            file("pendulums.xml"),
            vec![Format::Native, Format::Mjcf],
        ),
        (
            "legged".to_owned(),
            file("legged.xml"),
            vec![Format::Native, Format::Mjcf],
        ),
    ];
    for (name, example) in examples::all() {
        let mechanism = example();
        let kinds: Vec<_> = mechanism.joints().iter().map(|j| j.kind.name()).collect();
        let simple = kinds
            .iter()
            .all(|k| ["fixed", "revolute", "continuous", "prismatic", "free"].contains(k));
        let formats = if simple { every.to_vec() } else { native.to_vec() };
        all.push((name.to_owned(), Robot::from(mechanism), formats));
    }
    all
}

#[test]
fn dynamics_survive_every_format() {
    for (name, robot, formats) in robots() {
        for format in formats {
            // URDF has no gravity; it says so.
            let after = again(&robot, format).mechanism.with_gravity(robot.mechanism.gravity());
            same_dynamics(&format!("{name} in {format:?}"), &robot.mechanism, &after.unwrap());
        }
    }
}

#[test]
fn the_native_format_loses_nothing() {
    for (name, mut robot, _) in robots() {
        let links = robot.mechanism.links();
        let (first, last) = (links[0].name.clone(), links[links.len() - 1].name.clone());
        robot.loops.push(Loop {
            name: "shut".to_owned(),
            kind: ConstraintKind::Hinge {
                axis: Vec3::new(0.1, 0.2, 0.3),
            },
            side: Side::Both,
            first: (first.clone(), Pose::from_translation([0.1, 0.0, 1.0 / 3.0])),
            second: (
                "world".to_owned(),
                Pose::from_rotation(Rotation::from_rpy(0.1, 0.2, 0.3)),
            ),
        });
        let (turns, shifts) = ([true, false, true], [false, true, false]);
        let (axis, normal) = (Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.6, 0.8));
        for (kind, side) in [
            (ConstraintKind::Distance { length: 0.7 }, Side::AtMost),
            (ConstraintKind::Slider { axis }, Side::Both),
            (ConstraintKind::Directions { turns, shifts }, Side::AtLeast),
            (ConstraintKind::Rates { turns, shifts }, Side::Both),
            (
                ConstraintKind::Rolling {
                    radius: 0.3,
                    axis: Some(axis),
                    normal,
                },
                Side::Both,
            ),
            (
                ConstraintKind::Rolling {
                    radius: 0.1,
                    axis: None,
                    normal,
                },
                Side::Both,
            ),
        ] {
            robot.loops.push(Loop {
                name: String::new(),
                kind,
                side,
                first: (last.clone(), Pose::IDENTITY),
                second: ("world".to_owned(), Pose::IDENTITY),
            });
        }
        let moving = robot
            .mechanism
            .joints()
            .iter()
            .find(|j| j.kind.nv() == 1)
            .map(|j| j.name.clone());
        if let Some(joint) = moving {
            robot.transmissions.push(Transmission {
                name: "gear".to_owned(),
                joint,
                ratio: 1.0 / 3.0,
                rotor_inertia: 0.0,
            });
        }
        fill(&mut robot, &first, &last);
        let after = again(&robot, Format::Native);
        let (before, m) = (&robot.mechanism, &after.mechanism);
        assert_eq!((before.name(), before.gravity()), (m.name(), m.gravity()), "{name}");
        assert_eq!(before.links(), m.links(), "{name}");
        assert_eq!(before.joints(), m.joints(), "{name}");
        assert_eq!(before.frames(), m.frames(), "{name}");
        assert_eq!(before.motors(), m.motors(), "{name}");
        // Every field of a robot, so that one that is added is asked for here.
        let Robot {
            mechanism: _,
            geometry,
            touches,
            terrains,
            untouching,
            couplings,
            loops,
            transmissions,
            keyframes,
            actuators,
            sensors,
            zones,
            tendons,
            floating,
            report: _,
        } = &after;
        assert_eq!((&robot.couplings, &robot.loops), (couplings, loops), "{name}");
        assert_eq!(
            (&robot.transmissions, &robot.geometry),
            (transmissions, geometry),
            "{name}"
        );
        assert_eq!((&robot.touches, &robot.terrains), (touches, terrains), "{name}");
        assert_eq!((&robot.untouching, &robot.zones), (untouching, zones), "{name}");
        assert_eq!((&robot.keyframes, &robot.actuators), (keyframes, actuators), "{name}");
        assert_eq!((&robot.sensors, &robot.tendons), (sensors, tendons), "{name}");
        assert_eq!(&robot.floating, floating, "{name}");
        let text = write(&robot, Format::Native).unwrap().text;
        assert_eq!(write(&after, Format::Native).unwrap().text, text, "{name}");
    }
}

/// Gives a robot what files say of contact and drives.
fn fill(robot: &mut Robot, first: &str, last: &str) {
    let touch = Touch {
        kind: 3,
        affinity: 1 << 31,
        dimensions: 6,
        friction: [0.7, 1.0 / 3.0, 1e-4],
        priority: -2,
        time_constant: Some(0.013),
    };
    for i in (0..robot.geometry.len()).step_by(2) {
        robot.touches.insert(i, touch);
    }
    robot.terrains.push(Terrain {
        name: "hill".to_owned(),
        link: "world".to_owned(),
        pose: Pose::new(Rotation::from_rpy(0.1, 0.0, 0.2), [1.0, 2.0, 1.0 / 7.0]),
        rows: 2,
        columns: 3,
        half: [1.5, 2.5],
        base: 0.1,
        heights: vec![0.0, 0.1, 0.2, 0.3, 1.0 / 3.0, 0.5],
        touch,
    });
    robot.untouching.push((first.to_owned(), last.to_owned()));
    robot.zones.insert(
        "pad".to_owned(),
        Shape::Ellipsoid {
            radii: Vec3::new(0.1, 0.2, 0.3),
        },
    );
    robot.floating.insert(last.to_owned(), 0.25);
    let (q, n) = (robot.mechanism.neutral(), robot.mechanism.nv());
    robot.keyframes.push(Keyframe {
        name: "home".to_owned(),
        time: 0.5,
        q,
        v: vec![0.125; n],
        ctrl: vec![1.0 / 3.0],
    });
    let target = |kind: &str| Target {
        kind: kind.to_owned(),
        name: first.to_owned(),
    };
    robot.actuators.push(Actuator {
        name: "servo".to_owned(),
        kind: "general".to_owned(),
        target: target("site"),
        reference: Some(target("site")),
        rod: Some(0.7),
        gear: vec![1.0, 0.0, 0.0, 0.5, 0.0, 0.1],
        gain: [1.0, 2.0, 3.0],
        bias: [0.1, 0.2, 0.3],
        lag: Lag::Filter { seconds: 0.05 },
        damping_ratio: Some(0.7),
        control_range: Some([-1.0, 2.0]),
        activation_range: Some([0.0, 0.5]),
        force_range: Some([-3.0, 4.0]),
        cogging: Some([0.1, 6.0, 0.3]),
        delay: 0.02,
        muscle: None,
        modelled: true,
    });
    robot.sensors.push(Sensor {
        name: "feel".to_owned(),
        kind: "touch".to_owned(),
        target: Some(target("site")),
        reference: None,
        cutoff: 10.0,
        noise: 0.01,
    });
    robot.tendons.push(Tendon {
        name: "cord".to_owned(),
        path: TendonPath::Spatial {
            points: vec![
                TendonPoint::Site { name: "pad".to_owned() },
                TendonPoint::Pulley { divisor: 2.0 },
                TendonPoint::Wrap {
                    geom: "drum".to_owned(),
                    side: Some("pad".to_owned()),
                },
            ],
        },
        stiffness: 10.0,
        rest: Some([0.1, 0.2]),
        damping: 0.3,
        friction: 0.4,
        armature: 0.5,
        range: Some([0.0, 1.0]),
        force_range: Some([-1.0, 1.0]),
        folded: false,
    });
}

#[test]
fn couplings_gears_and_shapes_survive_where_the_format_has_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/everything.urdf");
    let robot = load(&path, &Options::default()).unwrap();
    let after = again(&robot, Format::Urdf);
    assert_eq!(
        (&after.couplings, &after.transmissions),
        (&robot.couplings, &robot.transmissions)
    );
    let shapes = |r: &Robot| {
        r.geometry
            .iter()
            .map(|g| (g.link.clone(), g.shape.clone(), g.role, g.colour))
            .collect::<Vec<_>>()
    };
    assert_eq!(shapes(&after), shapes(&robot));
    let armature = |r: &Robot| r.mechanism.joints()[1].armature.clone();
    assert_eq!(armature(&after), armature(&robot));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/legged.xml");
    let legged = load(&path, &Options::default()).unwrap();
    let after = again(&legged, Format::Mjcf);
    assert_eq!(after.loops.len(), 2);
    for (a, b) in after.loops.iter().zip(&legged.loops) {
        assert_eq!(
            (&a.name, a.kind, &a.first.0, &a.second.0),
            (&b.name, b.kind, &b.first.0, &b.second.0)
        );
        assert!((a.second.1.translation - b.second.1.translation).norm() < 1e-15);
    }
    assert_eq!(shapes(&after).len(), shapes(&legged).len());
}

#[test]
fn what_a_format_cannot_say_is_refused_or_reported() {
    let robot = zoo(&ALL);
    let refusal = write(&robot, Format::Urdf).unwrap_err();
    assert_eq!(refusal.report.of("joint-kind").count(), 5);
    assert!(first_error(&refusal).message.contains("universal"));
    let refusal = write(&robot, Format::Mjcf).unwrap_err();
    assert_eq!(refusal.report.of("joint-kind").count(), 1);
    let mut simple = zoo(&["revolute", "prismatic"]);
    simple.couplings.push(FileCoupling {
        name: String::new(),
        follower: "prismatic joint".to_owned(),
        leader: Some("revolute joint".to_owned()),
        coefficients: vec![0.0, 1.0, 2.0],
    });
    let report = write(&simple, Format::Urdf).unwrap().report;
    for code in ["lost-gravity", "lost-coupling", "frame-as-link"] {
        assert_eq!(report.of(code).count(), 1, "{code}");
    }
    let report = write(&simple, Format::Mjcf).unwrap().report;
    // Its mesh is nowhere.
    assert!(
        report.findings.iter().all(|f| f.code == "lost-mesh"),
        "{:?}",
        report.findings
    );
}

#[test]
fn damaged_native_files_are_refused_with_their_place() {
    let text = write(&zoo(&["revolute", "prismatic"]), Format::Native).unwrap().text;
    let refused = |from: &str, to: &str, code: &str, line: usize| {
        assert!(text.contains(from), "{from}\n{text}");
        let damaged = text.replacen(from, to, 1);
        let refusal = support::parse(Format::Native, damaged.as_bytes(), Mode::Warn).expect_err(to);
        let error = first_error(&refusal);
        assert_eq!((error.code, error.line), (code, line), "{error}");
    };
    refused("\"version\": 1", "\"version\": 2", "version", 1);
    refused("\"kind\":\"revolute\"", "\"kind\":\"revolt\"", "native", 11);
    refused("\"mass\":1.1", "\"mass\":1e999", "native", 7);
    refused("\"mass\":1.1", "\"mass\":\"much\"", "native", 7);
    refused("\"mass\":1.1", "\"mas\":1.1", "native", 7);
    refused("\"mass\":1.1", "\"mass\":-1.1", "negative-mass", 7);
    refused("\"axis\":[", "\"axis\":[1,", "native", 11);
    refused("\"parent\":\"world\"", "\"parent\":\"nowhere\"", "missing-link", 11);
    refused("{\n", "[{\n", "native", 1);
    for end in 0..text.len() - 2 {
        assert!(support::parse(Format::Native, &text.as_bytes()[..end], Mode::Warn).is_err());
    }
    let deep = "[".repeat(200_000);
    assert!(support::parse(Format::Native, deep.as_bytes(), Mode::Warn).is_err());
}

#[test]
fn native_files_obey_their_schema() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let schema: Value = serde_json::from_str(linkwork_formats::SCHEMA).expect("the schema is JSON");
    for (name, robot, _) in robots() {
        let text = write(&robot, Format::Native).unwrap().text;
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let answer = reference.ask(&json!({"ask": "schema", "schema": schema, "document": document}));
        assert_eq!(answer["errors"], json!([]), "{name}");
        let wrong =
            reference.ask(&json!({"ask": "schema", "schema": schema, "document": {"format": "linkwork-robot"}}));
        assert_ne!(wrong["errors"], json!([]));
    }
}
