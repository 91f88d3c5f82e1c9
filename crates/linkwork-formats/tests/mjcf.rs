//! MJCF: every feature against MuJoCo, and what it says about itself.

mod support;

use linkwork::closed::ConstraintKind;
use linkwork::model::JointKind;
use linkwork::spatial::{Inertia, Vec3};
use linkwork_formats::{Format, Mode, Options, Refusal, Robot, Role, Severity, Shape, load};
use serde_json::json;
use std::path::{Path, PathBuf};
use support::reference::{Reference, compare, states};
use support::{dynamics_are_finite, first_error, parse};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn robot(name: &str) -> Robot {
    load(&file(name), &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn read(inner: &str, mode: Mode) -> Result<Robot, Refusal> {
    parse(Format::Mjcf, format!("<mujoco>{inner}</mujoco>").as_bytes(), mode)
}

fn world(inner: &str) -> Robot {
    read(&format!("<worldbody>{inner}</worldbody>"), Mode::Warn).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn robots_agree_with_mujoco() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    for name in ["arm.xml", "legged.xml", "pendulums.xml"] {
        // Equality constraints are not part of what is compared.
        let options = Options {
            ignore_couplings: true,
            ..Options::default()
        };
        let robot = load(&file(name), &options).unwrap_or_else(|e| panic!("{e}"));
        let m = &robot.mechanism;
        let states = states(m);
        // Links that only join several joints are ours.
        let text =
            std::fs::read_to_string(file(name)).unwrap() + &std::fs::read_to_string(file("legged_leg.xml")).unwrap();
        let own = |link: &str| text.contains(&format!("body name=\"{link}\""));
        let links: Vec<_> = m.links().iter().map(|l| l.name.as_str()).filter(|l| own(l)).collect();
        let listed: Vec<_> = states
            .iter()
            .map(|s| json!({"q": s.q, "v": s.v, "a": s.a, "tau": s.tau}))
            .collect();
        let answer = reference.ask(&json!({"ask": "mujoco", "file": file(name), "links": links, "states": listed}));
        let named: Vec<_> = m
            .joints()
            .iter()
            .filter(|j| j.kind.nv() > 0)
            .map(|j| j.name.as_str())
            .collect();
        let theirs: Vec<_> = answer["names"]
            .as_array()
            .expect("names")
            .iter()
            .map(|n| n.as_str().unwrap_or(""))
            .collect();
        for (ours, theirs) in named.iter().zip(theirs) {
            assert!(theirs.is_empty() || *ours == theirs, "{name}: {ours} {theirs}");
        }
        compare(name, m, &links, &states, &answer);
    }
}

#[test]
fn several_joints_of_a_body_become_several_joints() {
    let robot = robot("legged.xml");
    let m = &robot.mechanism;
    let kinds: Vec<_> = m
        .joints()
        .iter()
        .filter(|j| j.kind.nv() > 0)
        .map(|j| j.kind.name())
        .collect();
    assert_eq!(
        kinds,
        [
            "free",
            "revolute",
            "revolute",
            "prismatic",
            "revolute",
            "spherical",
            "free"
        ]
    );
    let hip = &m.joints()[m.joint("hip_x").unwrap().index()];
    let (lower, upper) = hip.position_limits[0];
    assert!((lower.to_degrees() + 30.0).abs() < 1e-12 && (upper.to_degrees() - 60.0).abs() < 1e-12);
    let second = &m.joints()[m.joint("hip_y").unwrap().index()];
    assert!(second.position_limits.is_empty(), "limited is false");
    assert!((second.rest[0].to_degrees() + 20.0).abs() < 1e-12);
    assert!(m.link("hip").is_ok() && m.link("hip_1").is_ok());
    let total: f64 = m.links().iter().map(|l| l.inertia.mass).sum();
    assert!((total - 12.0).abs() < 1e-12);
}

#[test]
fn loops_couplings_and_what_is_not_modelled_are_reported() {
    let legged = robot("legged.xml");
    let codes: Vec<_> = legged.report.findings.iter().map(|f| (f.code, f.severity)).collect();
    for expected in [
        ("closed-loop", Severity::Note),
        ("actuator", Severity::Note),
        ("undriven", Severity::Note),
    ] {
        assert!(codes.contains(&expected), "{codes:?}");
    }
    // A tendon that does nothing by itself is no loss.
    assert_eq!((legged.tendons.len(), legged.actuators[0].gear[0]), (1, 10.0));
    let m = &legged.mechanism;
    let knee = m.v_range(m.joint("knee").unwrap()).unwrap().start;
    assert_eq!(m.driven_dofs(), [knee], "the file has one motor");
    assert_eq!(m.motors().unwrap()[0].gear, 10.0);
    let [hold, glue] = &legged.loops[..] else {
        panic!("two loops")
    };
    assert_eq!((hold.kind, glue.kind), (ConstraintKind::Point, ConstraintKind::Weld));
    assert_eq!(
        (&*hold.first.0, &*hold.second.0, &*glue.second.0),
        ("head", "ball", "world")
    );
    // Where the file stands, both ends of a loop coincide.
    let m = &legged.mechanism;
    let mut q = m.neutral();
    for (name, value) in [
        ("hip_x", 15_f64.to_radians()),
        ("hip_z", 0.05),
        ("knee", -40_f64.to_radians()),
    ] {
        q[m.q_range(m.joint(name).unwrap()).unwrap().start] = value;
    }
    let mut workspace = m.workspace();
    let mut posed = workspace.at(&q).unwrap();
    for ends in [hold, glue] {
        let [a, b] =
            [&ends.first, &ends.second].map(|(link, pose)| posed.pose(m.frame(link).unwrap()).unwrap() * *pose);
        assert!((a.translation - b.translation).norm() < 1e-12, "{}", ends.name);
    }
    // As constraints they are closed there too.
    let closed = legged.closed().unwrap();
    assert_eq!(closed.rows(), 9);
    assert!(closed.workspace().at(&q).unwrap().closure() < 1e-12);
    let arm = robot("arm.xml");
    assert_eq!(arm.mechanism.uncoupled().unwrap().nv(), arm.mechanism.nv() + 1);
    assert_eq!(arm.couplings[0].coefficients, [0.1, 0.02, 0.003]);
    assert_eq!(
        (&*arm.couplings[0].follower, arm.couplings[0].leader.as_deref()),
        ("reach", Some("roll"))
    );
    assert!(arm.mechanism.frame("wrist").is_ok() && arm.mechanism.frame("corner").is_ok());
}

#[test]
fn couplings_are_about_the_references_of_their_joints() {
    let robot = read(
        r#"<worldbody><body><joint name="a" type="slide" ref="2"/><geom size="1"/></body>
        <body><joint name="b" type="slide" ref="3"/><geom size="1"/></body></worldbody>
        <equality><joint joint1="a" joint2="b" polycoef="0.5 2 1 0 0"/></equality>"#,
        Mode::Warn,
    )
    .unwrap();
    // y = 2 + 0.5 + 2 (x − 3) + (x − 3)² = 5.5 − 4 x + x².
    assert_eq!(robot.couplings[0].coefficients, [5.5, -4.0, 1.0]);
    assert_eq!(robot.mechanism.all_coordinates(&[1.0]).unwrap(), [2.5, 1.0]);
}

#[test]
fn joints_that_follow_nobody_are_held_and_so_are_their_followers() {
    let robot = read(
        r#"<worldbody><body><joint name="a" type="slide"/><geom size="1"/></body>
        <body><joint name="b" type="slide"/><geom size="1"/></body>
        <body><joint name="c" type="slide"/><geom size="1"/></body></worldbody>
        <equality><joint joint1="a" polycoef="0.5 0 0 0 0"/><joint joint1="b" joint2="a" polycoef="1 2 0 0 0"/></equality>"#,
        Mode::Strict,
    )
    .unwrap();
    let m = &robot.mechanism;
    assert_eq!((m.nv(), robot.couplings.len()), (1, 0));
    let place = |joint: usize| m.joints()[joint].origin.translation.to_array();
    assert_eq!((place(0), place(1)), ([0.0, 0.0, 0.5], [0.0, 0.0, 2.0]));
    assert_eq!(robot.report.of("held-joint").count(), 1);
}

#[test]
fn couplings_that_cannot_be_computed_are_left_out() {
    let chain = |coefficients: &str, n: usize| {
        let bodies: String = (0..=n)
            .map(|i| format!("<body><joint name=\"j{i}\" type=\"slide\"/><geom size=\"1\"/></body>"))
            .collect();
        let couplings: String = (0..n)
            .map(|i| {
                format!(
                    "<joint joint1=\"j{i}\" joint2=\"j{}\" polycoef=\"{coefficients}\"/>",
                    i + 1
                )
            })
            .collect();
        read(
            &format!("<worldbody>{bodies}</worldbody><equality>{couplings}</equality>"),
            Mode::Warn,
        )
        .unwrap()
    };
    // Curves of curves are kept.
    let curved = chain("0 0 1 0 0", 3);
    assert_eq!((curved.couplings.len(), curved.report.of("coupling").count()), (3, 0));
    assert_eq!(
        curved.mechanism.all_coordinates(&[2.0]).unwrap(),
        [256.0, 16.0, 4.0, 2.0]
    );
    // Ratios that multiply beyond all numbers.
    let steep = chain("0 1e25 0 0 0", 20);
    assert!(steep.report.of("coupling").count() > 0);
    assert!(support::dynamics_are_finite(&steep));
    // More than a dense system can hold.
    let many = chain("0 1 0 0 0", 3000);
    assert_eq!(
        (many.couplings.len(), many.report.of("too-many-couplings").count()),
        (0, 1)
    );
    assert!(support::dynamics_are_finite(&many));
}

#[test]
fn unknown_names_are_reported_with_their_place() {
    let text = "<worldbody>\n<body nme=\"a\">\n<joint type=\"hinge\" dampng=\"1\"/><gem size=\"1\"/><geom size=\"1\"/></body></worldbody>\n<sensr/>";
    let found = read(text, Mode::Warn).unwrap().report;
    let listed: Vec<_> = found
        .findings
        .iter()
        .filter(|f| f.code.starts_with("unknown-"))
        .collect();
    let places: Vec<_> = listed.iter().map(|f| (f.code, f.line, f.severity)).collect();
    for expected in [
        ("unknown-attribute", 2, Severity::Warning),
        ("unknown-attribute", 3, Severity::Warning),
        ("unknown-element", 3, Severity::Warning),
        ("unknown-element", 4, Severity::Warning),
    ] {
        assert!(places.contains(&expected), "{places:?}");
    }
    assert_eq!(listed.len(), 4, "{listed:?}");
    let said = |words: &str| listed.iter().any(|f| f.message.contains(words));
    assert!(
        said("`dampng` is not a known attribute of <joint>; did you mean `damping`?"),
        "{listed:?}"
    );
    assert!(said("`gem` is not a known element; did you mean `geom`?"), "{listed:?}");
    assert!(read(text, Mode::Strict).is_err());
    let fluid = world("<body><joint/><geom size=\"1\" fluidshape=\"ellipsoid\"/></body>");
    assert_eq!(fluid.report.of("unmodelled-attribute").count(), 1);
}

#[test]
fn every_name_of_mujoco_is_known() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let answer = reference.ask(&json!({"ask": "names"}));
    let mut met = 0;
    for line in answer["elements"].as_array().expect("a list") {
        let words = |value: &serde_json::Value| -> Vec<String> {
            let list = value.as_array().expect("a list");
            list.iter().map(|x| x.as_str().expect("a word").to_owned()).collect()
        };
        let (path, attributes) = (words(&line[0]), words(&line[1]));
        if path.len() < 2 {
            continue;
        }
        let attributes: String = attributes.iter().map(|a| format!(" {a}=\"\"")).collect();
        let mut text = format!("<{}{attributes}/>", path[path.len() - 1]);
        for outer in path[1..path.len() - 1].iter().rev() {
            text = format!("<{outer}>{text}</{outer}>");
        }
        let report = match read(&text, Mode::Warn) {
            Ok(robot) => robot.report,
            Err(refusal) => refusal.report,
        };
        let unknown: Vec<_> = report
            .findings
            .iter()
            .filter(|f| f.code.starts_with("unknown-"))
            .collect();
        assert!(unknown.is_empty(), "{text}: {unknown:?}");
        met += 1;
    }
    assert!(met > 100, "{met}");
}

#[test]
fn geoms_are_shapes_and_bodies() {
    let robot = world(
        r#"<body name="a"><joint/><geom type="capsule" size="0.1 0.2" contype="0" conaffinity="0"/>
        <geom type="box" size="0.1 0.2 0.3" mass="2" pos="0 0 1"/></body>"#,
    );
    let [capsule, cuboid] = &robot.geometry[..] else {
        panic!("two shapes")
    };
    assert_eq!((capsule.role, cuboid.role), (Role::Visual, Role::Collision));
    assert_eq!(
        capsule.shape,
        Shape::Capsule {
            radius: 0.1,
            length: 0.4
        }
    );
    assert_eq!(
        cuboid.shape,
        Shape::Cuboid {
            edges: Vec3::new(0.2, 0.4, 0.6)
        }
    );
    let volume = std::f64::consts::PI * 0.01 * (0.4 + 4.0 / 30.0);
    assert!((robot.mechanism.links()[0].inertia.mass - 2.0 - 1000.0 * volume).abs() < 1e-12);
    let never = read(
        r#"<compiler inertiafromgeom="false"/><worldbody><body name="a"><joint armature="1"/><geom size="1"/></body></worldbody>"#,
        Mode::Warn,
    );
    assert_eq!(never.unwrap().mechanism.links()[0].inertia, Inertia::ZERO);
}

#[test]
fn a_moving_body_whose_only_mass_is_a_mesh_that_cannot_be_read_is_refused() {
    let text = |more: &str, joint: &str| {
        format!(
            "<asset><mesh file=\"part.stl\"/></asset><worldbody><body name=\"a\">{joint}<geom type=\"mesh\" mesh=\"part\"/>{more}\
             </body></worldbody>"
        )
    };
    let refusal = read(&text("", "<joint armature=\"1\"/>"), Mode::Warn).unwrap_err();
    assert_eq!(first_error(&refusal).code, "mesh-inertia");
    // With other mass, or on the world, it is doubtful; where it weighs nothing, it is not.
    for (more, joint, count) in [
        ("<geom size=\"1\"/>", "<joint/>", 1),
        ("", "", 1),
        (
            "<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>",
            "<joint/>",
            0,
        ),
    ] {
        let robot = read(&text(more, joint), Mode::Warn).unwrap();
        assert_eq!(robot.report.of("mesh-inertia").count(), count, "{more}");
    }
    assert!(read(&text("<geom size=\"1\"/>", "<joint/>"), Mode::Strict).is_err());
}

#[test]
fn damage_is_refused_with_its_place() {
    let refused = |inner: &str, code: &str| {
        let refusal = read(inner, Mode::Warn).expect_err(inner);
        assert_eq!(first_error(&refusal).code, code, "{inner}");
        assert!(first_error(&refusal).line > 0);
    };
    let body = |inner: &str| format!("<worldbody><body name=\"a\">{inner}<geom size=\"1\"/></body></worldbody>");
    refused(&body("<joint type=\"screw\"/>"), "joint-type");
    refused(&body("<joint class=\"none\"/>"), "default-class");
    refused(&body("<joint range=\"1\"/>"), "number-count");
    refused(&body("<geom type=\"torus\"/>"), "geometry");
    refused(&body("<geom type=\"box\" size=\"1 1\"/>"), "geometry");
    refused(&body("<geom size=\"-1\"/>"), "geometry");
    refused(
        &body("<geom type=\"capsule\" size=\"1\" fromto=\"0 0 0 0 0 0\"/>"),
        "geometry",
    );
    refused(&body("<geom size=\"1\" mass=\"-1\"/>"), "negative-mass");
    refused(&body("<geom size=\"1\" quat=\"0 0 0 0\"/>"), "orientation");
    refused(
        &body("<geom size=\"1\" quat=\"1 0 0 0\" euler=\"0 0 0\"/>"),
        "orientation",
    );
    refused(&body("<joint/><freejoint/>"), "free-joint");
    refused(&body("<body><freejoint/></body>"), "free-joint");
    refused(&body("<body name=\"a\"/>"), "duplicate-name");
    refused(&body("<inertial pos=\"0 0 0\"/>"), "missing-attribute");
    refused(&body("<replicate count=\"0\"/>"), "replicate");
    refused(&body("<replicate count=\"2\"><joint/></replicate>"), "replicate");
    refused(&body("<attach model=\"none\" prefix=\"\"/>"), "attach");
    refused("<compiler angle=\"gradian\"/>", "compiler");
    refused("<compiler eulerseq=\"xyw\"/>", "compiler");
    refused("<include file=\"nowhere.xml\"/>", "include");
    refused("<default><default/></default>", "default-class");
    refused("<equality><connect body1=\"a\"/></equality>", "constraint");
    let part = parse(Format::Mjcf, b"<mujocoinclude/>", Mode::Warn).unwrap_err();
    assert_eq!(first_error(&part).code, "mujocoinclude");
    let coupled = read(
        &(body("<joint name=\"j\"/>") + "<equality><joint joint1=\"k\"/></equality>"),
        Mode::Warn,
    )
    .unwrap();
    assert!(coupled.couplings.is_empty() && coupled.report.of("coupling").count() == 1);
}

#[test]
fn a_file_that_includes_itself_is_refused() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("includes");
    std::fs::create_dir_all(&directory).unwrap();
    let text = "<mujoco><include file=\"self.xml\"/></mujoco>";
    std::fs::write(directory.join("self.xml"), text).unwrap();
    let refusal = load(&directory.join("self.xml"), &Options::default()).unwrap_err();
    assert_eq!(first_error(&refusal).code, "include");
    // Nothing outside of the robot's directory and repository is opened.
    std::fs::create_dir_all(directory.join(".git")).unwrap();
    std::fs::write(
        directory.join("out.xml"),
        "<mujoco><include file=\"../secret.xml\"/></mujoco>",
    )
    .unwrap();
    std::fs::write(directory.join("../secret.xml"), "<mujocoinclude/>").unwrap();
    let refusal = load(&directory.join("out.xml"), &Options::default()).unwrap_err();
    assert_eq!(first_error(&refusal).code, "include");
    let options = Options {
        anywhere: true,
        ..Options::default()
    };
    assert!(load(&directory.join("out.xml"), &options).is_ok());
}

#[test]
fn long_chains_load_without_recursion() {
    let depth = 9000;
    let chain =
        "<body pos=\"0 0 0.1\"><joint axis=\"0 1 0\"/><geom size=\"0.05\"/>".repeat(depth) + &"</body>".repeat(depth);
    let robot = world(&chain);
    assert_eq!(robot.mechanism.nv(), depth);
    assert!(matches!(robot.mechanism.joints()[0].kind, JointKind::Revolute { .. }));
    assert!(dynamics_are_finite(&robot));
}
