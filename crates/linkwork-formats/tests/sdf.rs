//! SDF: every feature against Drake, and what it says about itself.

mod support;

use linkwork::closed::ConstraintKind;
use linkwork::model::JointKind;
use linkwork::spatial::{Inertia, Vec3};
use linkwork_formats::{Format, Mode, Options, Order, Refusal, Robot, Severity, Shape, joint_order, load, write};
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
        .filter(|l| !["_1", "_2", "_3"].iter().any(|end| l.ends_with(end)))
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

#[test]
fn what_drake_adds_is_read() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let text = format!(
        "<sdf version=\"1.9\"><model name=\"sledge\">{}{}{}<frame name=\"on\" attached_to=\"deck\"><pose>0.1 0.2 0.3 0.4 0.5 0.6</pose></frame>\
         <frame name=\"of\" attached_to=\"puck\"><pose>0.2 0 0.1 0 0.3 0.2</pose></frame>\
         <joint name=\"base\" type=\"revolute\"><parent>world</parent><child>deck</child><axis><xyz>0 1 0.3</xyz></axis></joint>\
         <drake:joint name=\"slide\" type=\"planar\"><drake:parent>on</drake:parent><drake:child>of</drake:child>\
         <drake:damping>0.1 0.2 0.3</drake:damping></drake:joint>\
         <joint name=\"spin\" type=\"revolute\"><parent>puck</parent><child>blade</child><axis><xyz>1 0 0</xyz></axis></joint></model></sdf>",
        link("deck", "0 0 1 0.2 0 0"),
        link("puck", "3 2 1 0 0 0"),
        link("blade", "3 2 1.5 0 0.1 0"),
    );
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sledge.sdf");
    std::fs::write(&file, &text).expect("it can be written");
    let robot = load(&file, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let damping: Vec<f64> = robot
        .mechanism
        .joints()
        .iter()
        .flat_map(|j| j.damping.clone())
        .collect();
    assert_eq!((robot.mechanism.nv(), &damping[..]), (5, &[0.1, 0.2, 0.3][..]));
    agrees(&mut reference, &file, &robot, "sledge");
}

#[test]
fn balls_of_drake_close_loops_and_links_without_gravity_float() {
    let robot = model(&format!(
        "{}{}<joint name=\"a\" type=\"revolute\"><parent>world</parent><child>one</child><axis><xyz>0 0 1</xyz></axis></joint>\
         <joint name=\"b\" type=\"revolute\"><pose>0.5 0 0 0 0 0</pose><parent>world</parent><child>two</child><axis><xyz>0 1 0</xyz></axis></joint>\
         <drake:ball_constraint><drake:ball_constraint_body_A>one</drake:ball_constraint_body_A>\
         <drake:ball_constraint_p_AP>1 0 0</drake:ball_constraint_p_AP><drake:ball_constraint_body_B>two</drake:ball_constraint_body_B>\
         <drake:ball_constraint_p_BQ>0 1 0</drake:ball_constraint_p_BQ></drake:ball_constraint>",
        link("one", "0 0 0 0 0 0"),
        link("two", "1 -1 0 0 0 0").replace("</pose>", "</pose><gravity>false</gravity>"),
    ));
    assert_eq!((robot.loops.len(), robot.floating.get("two")), (1, Some(&1.0)));
    assert!(robot.closed().is_ok(), "{:?}", robot.loops);
    let mut drives = linkwork_formats::Drivetrain::new(&robot).unwrap();
    let (m, q, v) = (&robot.mechanism, [0.0; 2], [0.0; 2]);
    let mut workspace = m.workspace();
    drives
        .at(&q, &v, &mut workspace.at(&q).unwrap().moving(&v).unwrap())
        .unwrap();
    let mut tau = [0.0; 2];
    drives.pull(&mut tau);
    let weight = m.gravity_torque(&q).unwrap();
    assert!(weight[1].abs() > 1.0, "{weight:?}");
    assert!(
        (tau[1] - weight[1]).abs() < 1e-12 && tau[0] == 0.0,
        "{tau:?} {weight:?}"
    );
}

#[test]
fn what_is_written_agrees_with_drake_and_with_what_was_read() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    for (name, top) in [
        ("arm.sdf", "arm"),
        ("old.sdf", "cart"),
        ("world.sdf", "lab"),
        ("four_bar.sdf", "four_bar"),
    ] {
        let before = robot(name);
        let text = write(&before, Format::Sdf).unwrap_or_else(|e| panic!("{e}")).text;
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("written_{name}"));
        std::fs::write(&file, &text).expect("it can be written");
        let after = load(&file, &Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(after.loops.len(), before.loops.len(), "{name}");
        let (a, b) = (&before.mechanism, &after.mechanism);
        let q = a.random(3);
        assert_eq!((a.nq(), a.nv()), (b.nq(), b.nv()), "{name}");
        let b = b.with_gravity(a.gravity()).expect("gravity");
        let v = vec![0.3; a.nv()];
        let [x, y] = [a, &b].map(|m| m.inverse_dynamics(&q, &v, &v).expect("torques"));
        assert!(support::reference::error(&y, &x) < 1e-12, "{name}");
        // A joint that closes a loop has no place in a tree, which is what is compared.
        if before.loops.is_empty() {
            agrees(&mut reference, &file, &after, top);
        }
    }
}

#[test]
fn joints_have_what_their_axes_say() {
    let m = robot("arm.sdf").mechanism;
    let joint = |name: &str| m.joints()[m.joint(name).unwrap().index()].clone();
    let shoulder = joint("shoulder");
    assert_eq!(
        (shoulder.position_limits[0], shoulder.effort_limit[0]),
        ((-1.5, 2.0), 30.0)
    );
    assert_eq!(
        (shoulder.velocity_limit[0], shoulder.damping[0], shoulder.friction[0]),
        (4.0, 0.4, 0.1)
    );
    assert_eq!((shoulder.stiffness[0], shoulder.rest[0]), (7.0, 0.2));
    assert!((shoulder.armature[0] - 0.5).abs() < 1e-15, "2e-4 · 50²");
    assert!(joint("elbow").position_limits.is_empty());
    assert!(
        matches!(joint("spin").kind, JointKind::Helical { pitch, .. } if (pitch * std::f64::consts::TAU - 0.05).abs() < 1e-15)
    );
    let cart = robot("old.sdf").mechanism;
    let lift = &cart.joints()[cart.joint("lift").unwrap().index()];
    assert!(lift.effort_limit.is_empty(), "less than zero is without end");
    let left = &cart.joints()[cart.joint("left_wheel").unwrap().index()];
    assert!(left.position_limits.is_empty(), "1e16 is without end");
}

#[test]
fn thread_pitches_of_both_kinds_are_the_same_screw() {
    let screw = |pitch: &str| {
        let text = format!(
            "{}{}<joint name=\"w\" type=\"fixed\"><parent>world</parent><child>a</child></joint>\
             <joint name=\"j\" type=\"screw\"><parent>a</parent><child>b</child>{pitch}<axis><xyz>0 0 1</xyz></axis></joint>",
            link("a", "0 0 0 0 0 0"),
            link("b", "0 0 0 0 0 0")
        );
        let m = model(&text).mechanism;
        m.workspace()
            .at(&[1.0])
            .unwrap()
            .pose(m.frame("b").unwrap())
            .unwrap()
            .translation
            .z
    };
    let new = screw("<screw_thread_pitch>0.5</screw_thread_pitch>");
    let old = screw(&format!(
        "<thread_pitch>{}</thread_pitch>",
        -std::f64::consts::TAU / 0.5
    ));
    assert!((new - 0.5 / std::f64::consts::TAU).abs() < 1e-15 && (new - old).abs() < 1e-15);
}

#[test]
fn a_second_parent_closes_a_loop() {
    let bar = robot("four_bar.sdf");
    assert_eq!((bar.mechanism.nv(), bar.loops.len()), (3, 1));
    let closing = &bar.loops[0];
    assert_eq!(
        (&*closing.name, &*closing.first.0, &*closing.second.0),
        ("d", "coupler", "rocker")
    );
    assert!(matches!(closing.kind, ConstraintKind::Hinge { .. }));
    // Where the file stands, the joint's frame is the same seen from both links.
    let m = &bar.mechanism;
    let mut workspace = m.workspace();
    let mut posed = workspace.at(&m.neutral()).unwrap();
    let [a, b] =
        [&closing.first, &closing.second].map(|(link, pose)| posed.pose(m.frame(link).unwrap()).unwrap() * *pose);
    assert!((a.translation - b.translation).norm() < 1e-12);
    // One degree of freedom is left: five rows, of which three say something in the plane's loop, less one.
    let closed = bar.closed().unwrap();
    assert_eq!(closed.rows(), 5);
    assert_eq!(bar.report.of("closed-loop").count(), 1);
}

/// Two links on the world, and joints of a kind that both close and hold.
fn doubly_held(kind: &str, more: &str) -> Robot {
    let joint = |name: &str, parent: &str, kind: &str, more: &str| {
        format!("<joint name=\"{name}\" type=\"{kind}\"><parent>{parent}</parent><child>b</child>{more}</joint>")
    };
    let axis = "<axis><xyz>0 0 1</xyz></axis>";
    model(&format!(
        "{}{}<joint name=\"w\" type=\"revolute\"><parent>world</parent><child>a</child>{axis}</joint>{}{}",
        link("a", "0 0 0 0 0 0"),
        link("b", "0.5 0 0 0 0 0"),
        joint("first", "world", "ball", ""),
        joint("second", "a", kind, more)
    ))
}

#[test]
fn every_kind_of_joint_closes_loops() {
    let axis = "<axis><xyz>0 0 1</xyz></axis>";
    let rows = |kind: &str, more: &str| doubly_held(kind, more).closed().unwrap().rows();
    assert_eq!((rows("fixed", ""), rows("ball", "")), (6, 3));
    assert_eq!((rows("revolute", axis), rows("prismatic", axis)), (5, 5));
    // A universal joint: its point, and a distance that keeps the angle between its axes.
    let cross = format!("{axis}<axis2><xyz>0 1 0</xyz></axis2>");
    let robot = doubly_held("universal", &cross);
    let [point, distance] = &robot.loops[..] else {
        panic!("two constraints")
    };
    assert_eq!(point.kind, ConstraintKind::Point);
    assert!(matches!(distance.kind, ConstraintKind::Distance { length } if (length - 2_f64.sqrt()).abs() < 1e-15));
    let closed = robot.closed().unwrap();
    assert!(closed.workspace().at(&robot.mechanism.neutral()).unwrap().closure() < 1e-12);
    // A screw stays in the tree, as no constraint can stand for it.
    let screw = doubly_held("screw", &format!("<screw_thread_pitch>0.1</screw_thread_pitch>{axis}"));
    assert_eq!(
        (&*screw.loops[0].name, screw.loops[0].kind),
        ("first", ConstraintKind::Point)
    );
    // What a joint that closes a loop cannot keep is said.
    let damped = doubly_held(
        "revolute",
        "<axis><xyz>0 0 1</xyz><dynamics><damping>1</damping></dynamics></axis>",
    );
    assert_eq!(damped.report.of("lost-parameter").count(), 1);
}

#[test]
fn links_that_nothing_holds_are_free_and_static_models_are_fixed() {
    let free = model(&link("a", "1 2 3 0 0 0"));
    assert_eq!(free.mechanism.joints()[0].kind, JointKind::Free);
    assert_eq!(
        free.mechanism.joints()[0].origin.translation.to_array(),
        [1.0, 2.0, 3.0]
    );
    let fixed = model(&format!("<static>true</static>{}", link("a", "1 2 3 0 0 0")));
    assert_eq!(fixed.mechanism.joints()[0].kind, JointKind::Fixed);
    // A joint may hold its parent, where nothing else does.
    let turned = model(&format!(
        "{}{}<joint name=\"w\" type=\"fixed\"><parent>world</parent><child>b</child></joint>\
         <joint name=\"j\" type=\"revolute\"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>",
        link("a", "1 0 0 0 0 0"),
        link("b", "0 0 0 0 0 0")
    ));
    let m = &turned.mechanism;
    assert_eq!((m.nv(), turned.loops.len()), (1, 0));
    assert_eq!(turned.report.of("turned-joint").count(), 1);
    // Turned by q, the child leads its parent by q: the parent lags behind.
    let mut workspace = m.workspace();
    let place = workspace.at(&[0.3]).unwrap().pose(m.frame("a").unwrap()).unwrap();
    assert!((place.translation.y + 0.3_f64.sin()).abs() < 1e-12);
}

#[test]
fn gearboxes_and_mimics_couple_joints() {
    let revolute = |name: &str, child: &str, more: &str| {
        format!(
            "<joint name=\"{name}\" type=\"revolute\"><parent>a</parent><child>{child}</child><axis><xyz>0 0 1</xyz>{more}</axis></joint>"
        )
    };
    let base = format!(
        "{}{}{}<joint name=\"w\" type=\"fixed\"><parent>world</parent><child>a</child></joint>{}",
        link("a", "0 0 0 0 0 0"),
        link("b", "1 0 0 0 0 0"),
        link("c", "2 0 0 0 0 0"),
        revolute("jb", "b", "")
    );
    let gears = model(&format!(
        "{base}{}<joint name=\"g\" type=\"gearbox\"><parent>b</parent><child>c</child><gearbox_ratio>3</gearbox_ratio>\
         <gearbox_reference_body>a</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 -1</xyz></axis2></joint>",
        revolute("jc", "c", "")
    ));
    // θ₂ = −3 θ₁, and θ₂ is about −z.
    assert_eq!(gears.couplings[0].coefficients, [0.0, 3.0]);
    assert_eq!((gears.mechanism.nv(), gears.loops.len()), (1, 0));
    let follows = "<mimic joint=\"jb\" axis=\"axis\"><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic>";
    let mimic = model(&format!("{base}{}", revolute("jc", "c", follows)));
    assert_eq!(mimic.mechanism.nv(), 1);
    let q = mimic.mechanism.all_coordinates(&[0.4]).unwrap();
    assert!((q[1] - (2.0 * (0.4 - 0.1) + 0.5)).abs() < 1e-15, "{q:?}");
}

#[test]
fn two_axes_on_one_joint_are_a_universal_joint() {
    let m = model(&format!(
        "{}{}<joint name=\"w\" type=\"fixed\"><parent>world</parent><child>a</child></joint>\
         <joint name=\"j\" type=\"revolute2\"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>\
         <limit><lower>-1</lower><upper>1</upper></limit></axis><axis2><xyz>0 1 0</xyz><dynamics><damping>2</damping></dynamics></axis2></joint>",
        link("a", "0 0 0 0 0 0"),
        link("b", "0 0 0 0 0 0")
    ))
    .mechanism;
    let joint = &m.joints()[1];
    assert!(matches!(joint.kind, JointKind::Universal { axes: [a, b] } if (a.z, b.y) == (1.0, 1.0)));
    assert_eq!(
        (&joint.damping[..], joint.position_limits[0]),
        (&[0.0, 2.0][..], (-1.0, 1.0))
    );
    assert_eq!(joint.position_limits[1], (f64::NEG_INFINITY, f64::INFINITY));
}

#[test]
fn axes_of_old_files_are_the_models() {
    let text = |version: &str| {
        format!(
            "<sdf version=\"{version}\"><model name=\"m\">{}<joint name=\"j\" type=\"revolute\"><parent>world</parent><child>a</child>\
             <axis><xyz>0 0 1</xyz></axis></joint></model></sdf>",
            link("a", "0 0 0 1.5707963267948966 0 0")
        )
    };
    let axis = |version: &str| {
        let robot = parse(Format::Sdf, text(version).as_bytes(), Mode::Warn).unwrap();
        let JointKind::Revolute { axis } = robot.mechanism.joints()[0].kind else {
            panic!("revolute")
        };
        axis.to_array().map(f64::round)
    };
    assert_eq!((axis("1.4"), axis("1.5")), ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]));
    for (version, code) in [("1.0", "version"), ("x", "version")] {
        let refusal = parse(Format::Sdf, text(version).as_bytes(), Mode::Warn).unwrap_err();
        assert_eq!(first_error(&refusal).code, code);
    }
}

#[test]
fn inertias_come_from_the_file_the_collisions_or_the_format() {
    let m = |inner: &str| model(&format!("<link name=\"a\">{inner}</link>"));
    let bare = m("");
    assert_eq!(
        bare.mechanism.links()[0].inertia,
        Inertia::new(1.0, [0.0; 3], [1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    );
    assert_eq!(bare.report.of("missing-inertia").count(), 1);
    let solid = |shape: &str| {
        let text = format!(
            "<inertial auto=\"true\"><density>500</density></inertial><collision name=\"c\"><pose>0 0 1 0 0 0</pose><geometry>{shape}</geometry></collision>"
        );
        m(&text).mechanism.links()[0].inertia
    };
    let cuboid = solid("<box><size>0.1 0.2 0.3</size></box>");
    let expected = Inertia::cuboid(500.0 * 0.006, [0.1, 0.2, 0.3]);
    assert!((cuboid.mass - 3.0).abs() < 1e-12 && (cuboid.com - Vec3::new(0.0, 0.0, 1.0)).norm() < 1e-12);
    assert!((cuboid.moments[0] - expected.moments[0]).abs() < 1e-12);
    // A capsule is a cylinder and two half balls: so is its inertia by slices along z.
    let capsule = solid("<capsule><radius>0.1</radius><length>0.4</length></capsule>");
    let (mut mass, mut along, mut across) = (0.0, 0.0, 0.0);
    let n = 200_000;
    for i in 0..n {
        let z = -0.3 + 0.6 * (f64::from(i) + 0.5) / f64::from(n);
        let beyond = (z.abs() - 0.2).max(0.0);
        let r2 = 0.01 - beyond * beyond;
        let slice = 500.0 * std::f64::consts::PI * r2 * 0.6 / f64::from(n);
        mass += slice;
        along += slice * r2 / 2.0;
        across += slice * (r2 / 4.0 + z * z);
    }
    assert!((capsule.mass - mass).abs() < 1e-9 * mass);
    assert!((capsule.moments[5] - along).abs() < 1e-8 * along && (capsule.moments[0] - across).abs() < 1e-8 * across);
    let mesh = "<link name=\"a\"><inertial auto=\"true\"/><collision name=\"c\"><geometry><mesh><uri>a.stl</uri></mesh></geometry></collision></link>";
    let refusal = read(&format!("<model name=\"m\">{mesh}</model>"), Mode::Warn).unwrap_err();
    assert_eq!(first_error(&refusal).code, "shape-inertia");
}

#[test]
fn includes_are_found_by_directory_and_may_be_merged() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdf_includes");
    std::fs::create_dir_all(&place).expect("a directory");
    let write = |name: &str, inner: &str| {
        let file = place.join(name);
        std::fs::write(&file, format!("<sdf version=\"1.9\">{inner}</sdf>")).expect("it can be written");
        load(&file, &options())
    };
    let world = write(
        "w.sdf",
        "<world name=\"w\"><include><uri>model://gripper</uri></include><include><uri>model://sun</uri></include></world>",
    );
    let world = world.unwrap_or_else(|e| panic!("{e}"));
    // `model.config` names the newest file.
    assert!(world.mechanism.link("gripper::palm").is_ok() && world.mechanism.joint("gripper::grip").is_ok());
    assert_eq!(
        world.mechanism.gravity().z,
        -9.8,
        "what SDF has where a world says nothing"
    );
    assert_eq!(world.report.of("include").next().unwrap().severity, Severity::Note);
    let uri = world.geometry.iter().find_map(|g| match &g.shape {
        Shape::Mesh { uri, .. } => Some(uri.clone()),
        _ => None,
    });
    assert_eq!(uri.as_deref(), Some("palm.stl"));
    let merged = write(
        "m.sdf",
        "<model name=\"m\"><include merge=\"true\"><uri>model://gripper</uri><pose>1 0 0 0 0 0</pose></include>\
         <joint name=\"w\" type=\"fixed\"><parent>world</parent><child>palm</child></joint></model>",
    );
    let merged = merged.unwrap_or_else(|e| panic!("{e}")).mechanism;
    let place_of = merged
        .workspace()
        .at(&[0.0])
        .unwrap()
        .pose(merged.frame("palm").unwrap())
        .unwrap()
        .translation;
    assert!((place_of - Vec3::new(1.0, 0.0, 0.1)).norm() < 1e-15);
    let missing = write(
        "n.sdf",
        "<model name=\"m\"><link name=\"a\"/><include><uri>model://nowhere</uri></include></model>",
    );
    let refusal = missing.unwrap_err();
    let error = first_error(&refusal);
    assert_eq!(error.code, "include");
    assert!(error.advice.contains("--package NAME=PATH"), "{error}");
    let web = write(
        "f.sdf",
        "<world name=\"m\"><include><uri>https://fuel/x</uri></include><model name=\"o\"><link name=\"a\"/></model></world>",
    );
    assert_eq!(
        web.unwrap().report.of("include").next().unwrap().severity,
        Severity::Warning
    );
}

#[test]
fn worlds_have_names_with_the_models_before_them() {
    let lab = robot("world.sdf");
    let m = &lab.mechanism;
    assert_eq!(m.gravity().to_array(), [0.1, 0.0, -9.7]);
    for link in [
        "table::top",
        "robot::trunk",
        "robot::leg::shin",
        "robot::hand::finger",
        "spare::palm",
    ] {
        assert!(m.link(link).is_ok(), "{link}");
    }
    assert!(m.frame("robot::leg::hip").is_ok() && m.frame("corner").is_ok());
    assert!(dynamics_are_finite(&lab));
    // Two models of one name are told apart.
    let twins = format!(
        "<world name=\"w\"><model name=\"m\">{0}</model><model name=\"m\">{0}</model></world>",
        link("a", "0 0 0 0 0 0")
    );
    let twins = read(&twins, Mode::Warn).unwrap();
    assert!(twins.mechanism.link("m::a").is_ok() && twins.mechanism.link("m_2::a").is_ok());
    assert_eq!(twins.report.of("duplicate-name").count(), 1);
}

#[test]
fn mistakes_have_their_places() {
    let text = format!(
        "<sdf version=\"1.9\">\n<model name=\"m\">\n{}\n{}\n<joint name=\"j\" type=\"revolute\">\n<parent>a</parent><child>b</child>\n\
         <axis><xyz>0 0 1</xyz></axis></joint>\n</model></sdf>",
        link("a", "0 0 0 0 0 0"),
        link("b", "0 0 0 0 0 0")
    );
    assert!(parse(Format::Sdf, text.as_bytes(), Mode::Warn).is_ok());
    for (from, to, code, line) in [
        ("<child>b", "<child>c", "missing-link", 5),
        ("<child>b</child>", "", "missing-link", 5),
        ("<child>b", "<child>a", "self-loop", 5),
        ("\"revolute\"", "\"revolut\"", "joint-type", 5),
        ("0 0 1</xyz>", "0 0 x</xyz>", "number", 7),
        ("0 0 1</xyz>", "0 0</xyz>", "number-count", 7),
        ("0 0 1</xyz>", "0 0 0</xyz>", "zero-axis", 7),
        ("<xyz>", "<xyz expressed_in=\"nowhere\">", "missing-frame", 7),
        ("<pose>", "<pose relative_to=\"nowhere\">", "missing-frame", 3),
        ("<pose>", "<pose rotation_format=\"quat_xyzw\">", "number-count", 3),
        ("<mass>1", "<mass>nan", "number", 3),
        ("link name=\"b\"", "link name=\"a\"", "missing-link", 5),
    ] {
        assert!(text.contains(from), "{from}");
        let refusal = parse(Format::Sdf, text.replacen(from, to, 1).as_bytes(), Mode::Warn).expect_err(to);
        let error = first_error(&refusal);
        assert_eq!((error.code, error.line), (code, line), "{error}");
    }
    let reserved = read(
        &format!("<model name=\"m\">{}</model>", link("world", "0 0 0 0 0 0")),
        Mode::Warn,
    );
    assert_eq!(first_error(&reserved.unwrap_err()).code, "reserved-name");
    let misspelt = text.replace("<axis>", "<axis><dynamcs/>");
    let loaded = parse(Format::Sdf, misspelt.as_bytes(), Mode::Warn).unwrap();
    assert_eq!(loaded.report.of("unknown-element").next().unwrap().line, 7);
    let weightless = text.replace("</pose><inertial>", "</pose><gravity>false</gravity><inertial>");
    let loaded = parse(Format::Sdf, weightless.as_bytes(), Mode::Warn).unwrap();
    assert_eq!(loaded.report.of("gravcomp").count(), 2);
}

#[test]
fn joints_can_be_listed_in_the_order_of_drake() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let body = "<inertial><mass>1</mass></inertial>";
    let links = ["g", "d", "a", "h", "c", "b", "e"].map(|l| format!("<link name=\"{l}\">{body}</link>"));
    let joints = [("d", "e"), ("world", "c"), ("c", "b"), ("world", "a"), ("c", "d"), ("g", "h")].map(|(parent, child)| {
        format!(
            "<joint name=\"to_{child}\" type=\"revolute\"><parent>{parent}</parent><child>{child}</child><axis><xyz>0 0 1</xyz></axis></joint>"
        )
    });
    let text = format!(
        "<sdf version=\"1.9\"><model name=\"m\">{}{}</model></sdf>",
        links.concat(),
        joints.concat()
    );
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("order.sdf");
    std::fs::write(&path, text).unwrap();
    let m = load(&path, &Options::default()).unwrap().mechanism;
    let answer = reference.ask(&json!({"ask": "drake_order", "file": path}));
    let ours: Vec<_> = joint_order(&m, Order::Drake)
        .into_iter()
        .map(|j| match &m.joints()[j] {
            // There a free joint is named after its link.
            joint if joint.kind == JointKind::Free => json!(joint.child),
            joint => json!(joint.name),
        })
        .collect();
    assert_eq!(json!(ours), answer["names"]);
}
