//! Every feature of URDF, in files small enough to compute by hand.

use linkwork::model::{JointKind, WORLD};
use linkwork::spatial::Vec3;
use linkwork_formats::{Format, Mode, Options, Refusal, Robot, Role, Shape, read};

const BODY: &str = r#"<inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial>"#;

fn parse(inner: &str, mode: Mode) -> Result<Robot, Refusal> {
    let text = format!("<?xml version=\"1.0\"?>\n<robot name=\"test\">\n{inner}\n</robot>\n");
    let options = Options {
        mode,
        ..Options::default()
    };
    read("test.urdf", text.as_bytes(), Format::Urdf, &options)
}

fn robot(inner: &str) -> Robot {
    parse(inner, Mode::Warn).expect("it loads")
}

/// A base and a link on a joint of some type.
fn one_joint(kind: &str, inside: &str) -> String {
    format!(
        r#"<link name="base"/><link name="tip">{BODY}</link>
        <joint name="j" type="{kind}"><parent link="base"/><child link="tip"/>
        <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>{inside}</joint>"#
    )
}

fn codes(robot: &Robot) -> Vec<&str> {
    robot.report.findings.iter().map(|f| f.code).collect()
}

#[test]
fn every_type_of_joint_is_read() {
    for (kind, name, nq, nv) in [
        ("revolute", "revolute", 1, 1),
        ("continuous", "continuous", 1, 1),
        ("prismatic", "prismatic", 1, 1),
        ("fixed", "fixed", 0, 0),
        ("floating", "free", 7, 6),
        ("planar", "planar", 3, 3),
    ] {
        let robot = robot(&one_joint(kind, r#"<axis xyz="0 0 1"/><limit lower="-1" upper="1"/>"#));
        let m = &robot.mechanism;
        assert_eq!((m.nq(), m.nv()), (nq, nv), "{kind}");
        let joint = &m.joints()[m.joint("j").unwrap().index()];
        assert_eq!(joint.kind.name(), name);
        assert_eq!(joint.origin.translation, Vec3::new(1.0, 2.0, 3.0));
    }
}

#[test]
fn a_planar_joint_moves_across_its_axis() {
    let robot = robot(&one_joint("planar", r#"<axis xyz="1 0 0"/>"#));
    let m = &robot.mechanism;
    let tip = m.frame("tip").unwrap();
    let mut workspace = m.workspace();
    let zero = workspace.at(&[0.0; 3]).unwrap().pose(tip).unwrap();
    let joint = linkwork::spatial::Pose::new(linkwork::spatial::Rotation::from_rpy(0.1, 0.2, 0.3), [1.0, 2.0, 3.0]);
    assert!((zero.translation - joint.translation).norm() < 1e-14);
    assert!((zero.rotation.y - joint.rotation.y).norm() < 1e-14);
    let moved = workspace.at(&[0.7, 0.4, -0.6]).unwrap().pose(tip).unwrap();
    let shift = joint.rotation.inverse_mul(moved.translation - zero.translation);
    assert!(shift.x.abs() < 1e-14 && (shift.norm() - 0.52_f64.sqrt()).abs() < 1e-14);
    assert!(
        (moved.rotation.x - zero.rotation.x).norm() < 1e-14,
        "it turns about its axis"
    );
}

#[test]
fn the_default_axis_is_x_and_parameters_are_kept() {
    let robot = robot(&one_joint(
        "revolute",
        r#"<limit lower="-1.5" upper="2" velocity="3" effort="40"/><dynamics damping="0.5" friction="0.1"/>"#,
    ));
    let m = &robot.mechanism;
    let joint = &m.joints()[m.joint("j").unwrap().index()];
    assert_eq!(
        joint.kind,
        JointKind::Revolute {
            axis: Vec3::new(1.0, 0.0, 0.0)
        }
    );
    assert_eq!(joint.position_limits, [(-1.5, 2.0)]);
    assert_eq!(
        (&joint.velocity_limit[..], &joint.effort_limit[..]),
        (&[3.0][..], &[40.0][..])
    );
    assert_eq!((&joint.damping[..], &joint.friction[..]), (&[0.5][..], &[0.1][..]));
    assert_eq!(m.links()[1].inertia.mass, 2.0);
    assert_eq!(m.links()[1].inertia.moments, [0.2, 0.01, 0.02, 0.3, 0.03, 0.4]);
}

#[test]
fn moments_are_turned_with_the_inertial_frame() {
    let text = one_joint("continuous", "").replace(
        r#"<origin xyz="0 0 -0.5"/>"#,
        r#"<origin xyz="0 0 -0.5" rpy="0 0 1.5707963267948966"/>"#,
    );
    let [xx, xy, xz, yy, yz, zz] = robot(&text).mechanism.links()[1].inertia.moments;
    for (got, expect) in [(xx, 0.3), (xy, -0.01), (xz, -0.03), (yy, 0.2), (yz, 0.02), (zz, 0.4)] {
        assert!((got - expect).abs() < 1e-15, "{got} {expect}");
    }
}

#[test]
fn mimic_joints_follow() {
    let text = one_joint("continuous", "")
        + &format!(
            r#"<link name="second">{BODY}</link><joint name="k" type="continuous"><parent link="tip"/><child link="second"/>
            <mimic joint="j" multiplier="-2" offset="0.25"/></joint>"#
        );
    let loaded = robot(&text);
    let coupling = &loaded.couplings[0];
    assert_eq!((&*coupling.follower, coupling.leader.as_deref()), ("k", Some("j")));
    assert_eq!(coupling.coefficients, [0.25, -2.0]);
    let said: Vec<_> = loaded.report.of("coupling-applied").collect();
    assert!(
        said.len() == 1 && said[0].message.contains("no coordinate of its own"),
        "{said:?}"
    );
    // The follower has no coordinate of its own.
    let independent = Options {
        ignore_couplings: true,
        ..Options::default()
    };
    let whole_text = format!("<robot name=\"r\">{text}</robot>");
    let loose = read("test", whole_text.as_bytes(), Format::Urdf, &independent).unwrap();
    assert!(loose.couplings.is_empty() && codes(&loose).contains(&"coupling-ignored"));
    let coupled = &loaded.mechanism;
    assert_eq!((loose.mechanism.nv(), coupled.nv()), (2, 1));
    assert_eq!(coupled.all_coordinates(&[0.5]).unwrap(), [0.5, -0.75]);
    let whole = loose.mechanism.mass_matrix(&[0.5, -0.75]).unwrap();
    let expect = whole[0] - 2.0 * (whole[1] + whole[2]) + 4.0 * whole[3];
    assert!((coupled.mass_matrix(&[0.5]).unwrap()[0] - expect).abs() < 1e-12);
    // Nothing is wrong with them.
    assert!(!codes(&loaded).contains(&"coupling"));
    assert!(parse(&text, Mode::Strict).is_ok());
    let circle = text.replace(r#"<origin xyz="1 2 3""#, r#"<mimic joint="k"/><origin xyz="1 2 3""#);
    let broken = robot(&circle);
    assert_eq!(broken.couplings.len(), 1);
    assert_eq!(broken.report.of("coupling-cycle").count(), 1);
}

#[test]
fn misspelt_names_are_reported_and_foreign_ones_are_noted() {
    let text =
        one_joint("continuous", "<dynamics dampin=\"1\"/><orgin xyz=\"0 0 1\"/><axel/>") + "<hologram/><hologram/>";
    let loaded = robot(&text);
    let found = |code: &str| {
        let all = loaded.report.of(code);
        all.map(|f| (f.message.clone(), f.line)).collect::<Vec<_>>()
    };
    let attributes = found("unknown-attribute");
    assert!(
        attributes.len() == 1 && attributes[0].0.contains("did you mean `damping`?") && attributes[0].1 == 6,
        "{attributes:?}"
    );
    let elements = found("unknown-element");
    assert!(
        elements.iter().any(|(m, _)| m.contains("did you mean `origin`?")),
        "{elements:?}"
    );
    let ignored = found("ignored-name");
    assert!(
        ignored.iter().filter(|(m, _)| m.contains("hologram")).count() == 1,
        "{ignored:?}"
    );
}

#[test]
fn transmissions_give_armature() {
    let gear = |inside: &str| {
        one_joint("continuous", "") + &format!(r#"<transmission name="t"><joint name="j"/>{inside}</transmission>"#)
    };
    for inside in [
        "<actuator name=\"a\"><mechanicalReduction>50</mechanicalReduction><rotorInertia>1e-4</rotorInertia></actuator>",
        "<mechanicalReduction>-50</mechanicalReduction><rotorInertia>1e-4</rotorInertia>",
        "<actuator name=\"a\"><drake:gear_ratio value=\"50\"/><drake:rotor_inertia value=\"1e-4\"/></actuator>",
        // Drake takes no notice of the reduction beside its own elements.
        "<actuator name=\"a\"><mechanicalReduction>7</mechanicalReduction><drake:gear_ratio value=\"50\"/>\
         <drake:rotor_inertia value=\"1e-4\"/></actuator>",
    ] {
        let loaded = robot(&gear(inside));
        assert_eq!(loaded.transmissions[0].ratio.abs(), 50.0);
        let m = &loaded.mechanism;
        let armature = &m.joints()[m.joint("j").unwrap().index()].armature;
        assert!((armature[0] - 0.25).abs() < 1e-15, "{armature:?}");
    }
    let plain = robot(&gear(
        "<actuator name=\"a\"><mechanicalReduction>7</mechanicalReduction></actuator>",
    ));
    assert!(plain.mechanism.joints().iter().all(|j| j.armature.is_empty()));
}

#[test]
fn links_may_weigh_what_their_collision_shapes_enclose() {
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("weighed");
    std::fs::create_dir_all(&root).unwrap();
    // A tetrahedron, whole and with a triangle missing.
    let whole = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(root.join("whole.obj"), whole).unwrap();
    std::fs::write(root.join("open.obj"), whole.replace("f 2 3 4\n", "")).unwrap();
    let shape = |inner: &str| format!("<collision><origin xyz=\"0 0 1\"/><geometry>{inner}</geometry></collision>");
    let mesh = |file: &str| shape(&format!("<mesh filename=\"{file}\" scale=\"0.1 0.1 0.2 7\"/>"));
    let link = |shapes: String| {
        format!(
            "<robot name=\"a\"><link name=\"base\"/><link name=\"tip\">{shapes}</link>\
         <joint name=\"j\" type=\"continuous\"><parent link=\"base\"/><child link=\"tip\"/></joint></robot>"
        )
    };
    let load = |shapes: String, density: Option<f64>| {
        let file = root.join("a.urdf");
        std::fs::write(&file, link(shapes)).unwrap();
        let options = Options {
            collision_density: density,
            ..Options::default()
        };
        linkwork_formats::load(&file, &options).unwrap()
    };
    let both = mesh("whole.obj") + &shape("<box size=\"0.1 0.1 0.1\"/>");
    let weighed = load(both.clone(), Some(500.0));
    let body = weighed.mechanism.links()[1].inertia;
    assert!((body.mass - 500.0 * (0.002 / 6.0 + 0.001)).abs() < 1e-15, "{body:?}");
    assert!(
        (body.com.z - (1.05 / 3.0 + 1.0) / (1.0 / 3.0 + 1.0)).abs() < 1e-12,
        "{body:?}"
    );
    assert_eq!(weighed.report.of("collision-inertia").count(), 1);
    assert_eq!(weighed.report.of("scale").count(), 1);
    // Not unless it is asked for; and nothing is enclosed by what is open.
    let light = load(both, None);
    assert_eq!(
        (
            light.mechanism.links()[1].inertia.mass,
            light.report.of("massless-robot").count()
        ),
        (0.0, 1)
    );
    let open = load(mesh("open.obj"), Some(500.0));
    assert_eq!(
        (
            open.mechanism.links()[1].inertia.mass,
            open.report.of("mesh-inertia").count()
        ),
        (0.0, 1)
    );
}

#[test]
fn colours_and_shapes_never_stop_dynamics() {
    let wrong = r#"<visual><geometry><box size="1 2"/></geometry><material name="m"><color rgba=""/></material></visual>
        <collision><geometry><sphere radius="big"/></geometry></collision>"#;
    let text = format!("<link name=\"base\">{BODY}{wrong}</link>");
    let loaded = robot(&text);
    assert!(loaded.geometry.is_empty() && loaded.report.count(linkwork_formats::Severity::Warning) >= 2);
    assert!(parse(&text, Mode::Strict).is_err());
}

#[test]
fn geometry_is_kept() {
    let loaded = robot(
        r#"<material name="red"><color rgba="1 0 0 1"/></material>
        <link name="base">
        <visual name="v"><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
        <collision><geometry><cylinder radius="0.5" length="2"/></geometry></collision>
        <collision><geometry><sphere radius="0.25"/></geometry></collision>
        <visual><geometry><mesh filename="package://nowhere/part.stl" scale="0.001 0.001 0.002"/></geometry></visual>
        </link>"#,
    );
    let shapes = &loaded.geometry;
    assert_eq!(shapes.len(), 4);
    assert_eq!(
        (shapes[0].role, shapes[0].colour),
        (Role::Visual, Some([1.0, 0.0, 0.0, 1.0]))
    );
    assert_eq!(
        shapes[0].shape,
        Shape::Cuboid {
            edges: Vec3::new(1.0, 2.0, 3.0)
        }
    );
    assert_eq!(shapes[0].pose.translation, Vec3::new(0.0, 0.0, 1.0));
    assert_eq!(
        shapes[1].shape,
        Shape::Cylinder {
            radius: 0.5,
            length: 2.0
        }
    );
    assert_eq!(
        (shapes[2].role, &shapes[2].shape),
        (Role::Collision, &Shape::Sphere { radius: 0.25 })
    );
    let Shape::Mesh { uri, path, scale } = &shapes[3].shape else {
        panic!("a mesh")
    };
    assert_eq!(
        (&**uri, path, *scale),
        ("package://nowhere/part.stl", &None, Vec3::new(0.001, 0.001, 0.002))
    );
}

#[test]
fn a_root_link_named_world_is_the_world() {
    let text = one_joint("continuous", "").replace("base", "world");
    let loaded = robot(&text);
    assert_eq!(loaded.mechanism.links().len(), 1);
    assert_eq!(loaded.mechanism.joints().len(), 1);
    assert_eq!(loaded.mechanism.joints()[0].parent, WORLD);
    let held = one_joint("continuous", "").replace("\"tip\"", "\"world\"");
    let loaded = robot(&held);
    assert!(loaded.mechanism.link("world_link").is_ok());
    assert_eq!(loaded.report.of("world-link").count(), 1);
}

#[test]
fn the_base_is_welded_first_and_can_be_freed() {
    let loaded = robot(&one_joint("continuous", ""));
    let m = &loaded.mechanism;
    assert_eq!(
        (&*m.joints()[0].name, m.joints()[0].kind.name()),
        ("root_joint", "fixed")
    );
    let text =
        one_joint("continuous", "").replace("<link name=\"base\"/>", &format!("<link name=\"base\">{BODY}</link>"));
    let floating = robot(&text).mechanism.with_floating_base().unwrap();
    assert_eq!((floating.nq(), floating.nv()), (8, 7));
    assert_eq!(floating.v_range(floating.joint("j").unwrap()).unwrap(), 6..7);
}

#[test]
fn meshes_are_found_in_packages_and_nowhere_else() {
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
    let _ = std::fs::remove_dir_all(&root);
    // Its repository, which is a root of its own, holds nothing else.
    for directory in ["arm/urdf", "arm/.git", "arm/meshes", "elsewhere/hand"] {
        std::fs::create_dir_all(root.join(directory)).unwrap();
    }
    for file in ["arm/meshes/a.stl", "elsewhere/hand/b.stl", "secret.stl"] {
        std::fs::write(root.join(file), "solid").unwrap();
    }
    let mesh = |uri: &str| format!("<visual><geometry><mesh filename=\"{uri}\"/></geometry></visual>");
    let absolute = root.join("secret.stl").display().to_string();
    let uris = [
        "package://arm/meshes/a.stl",
        "package://hand/b.stl",
        "package://arm/../secret.stl",
        "package://../secret.stl",
        "../../secret.stl",
        &absolute,
        "package://arm/meshes/missing.stl",
    ];
    let shapes: String = uris.iter().map(|uri| mesh(uri)).collect();
    let file = root.join("arm/urdf/arm.urdf");
    std::fs::write(
        &file,
        format!("<robot name=\"arm\"><link name=\"a\">{shapes}</link></robot>"),
    )
    .unwrap();
    let found = |options: &Options| {
        let robot = linkwork_formats::load(&file, options).unwrap();
        let path = |shape: &Shape| matches!(shape, Shape::Mesh { path: Some(path), .. } if path.exists());
        let found = robot.geometry.iter().map(|g| path(&g.shape)).collect::<Vec<_>>();
        assert_eq!(robot.report.of("mesh-not-found").count(), 1);
        found
    };
    let mut options = Options::default();
    // The file's own package is known by its name; others have to be given.
    assert_eq!(found(&options), [true, false, false, false, false, false, false]);
    options.packages = vec![root.join("elsewhere")];
    assert_eq!(found(&options), [true, true, false, false, false, false, false]);
    options.anywhere = true;
    assert_eq!(found(&options), [true, true, true, false, true, true, false]);
}
