//! Features of MJCF, each in a small file, against MuJoCo.

mod support;

use linkwork::spatial::Vec3;
use linkwork_formats::{Format, Lag, Mesh, Options, Order, Robot, joint_order, load};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::reference::{Reference, compare, error, numbers, states};

/// Writes files into a directory of a test's own.
fn written(test: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    for (name, bytes) in files {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    directory.join(files[0].0)
}

fn loaded(path: &Path) -> Robot {
    let options = Options {
        ignore_couplings: true,
        ..Options::default()
    };
    load(path, &options).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Compares poses, mass matrix and dynamics with MuJoCo's, and the names of bodies and joints in their order.
fn agrees(reference: &mut Reference, path: &Path) -> (Robot, Value) {
    let robot = loaded(path);
    let m = &robot.mechanism;
    let shown = path.display().to_string();
    let named = reference.ask(&json!({"ask": "mujoco", "file": path, "links": [], "states": []}));
    let list = |value: &Value| -> Vec<String> {
        let names = value.as_array().expect("names").iter();
        names.map(|n| n.as_str().unwrap_or_default().to_owned()).collect()
    };
    let links: Vec<_> = list(&named["bodies"]).into_iter().filter(|n| !n.is_empty()).collect();
    let links: Vec<&str> = links.iter().map(|n| &**n).collect();
    let ours: Vec<_> = m
        .links()
        .iter()
        .map(|l| &*l.name)
        .filter(|n| links.contains(n))
        .collect();
    assert_eq!(ours, links, "{shown}: bodies");
    let joints: Vec<_> = list(&named["names"]).into_iter().filter(|n| !n.is_empty()).collect();
    let ours: Vec<_> = m
        .joints()
        .iter()
        .map(|j| &*j.name)
        .filter(|n| joints.iter().any(|j| j == n))
        .collect();
    assert_eq!(ours, joints, "{shown}: joints");
    let states = states(m);
    let listed: Vec<_> = states
        .iter()
        .map(|s| json!({"q": s.q, "v": s.v, "a": s.a, "tau": s.tau}))
        .collect();
    let answer = reference.ask(&json!({"ask": "mujoco", "file": path, "links": links, "states": listed}));
    compare(&shown, m, &links, &states, &answer);
    // Springs and dampers.
    let mut workspace = m.workspace();
    for (state, expect) in states.iter().zip(answer["states"].as_array().expect("states")) {
        let mut out = vec![0.0; m.nv()];
        let mut posed = workspace.at(&state.q).unwrap();
        posed.moving(&state.v).unwrap().passive_torque(&mut out).unwrap();
        let expect = numbers(&expect["passive"]);
        let none = expect.iter().all(|x| x.abs() < 1e-12) && out.iter().all(|x| x.abs() < 1e-12);
        assert!(none || error(&out, &expect) < 1e-9, "{shown}: {out:?} {expect:?}");
    }
    (robot, answer)
}

/// A mesh that is neither convex nor seen whole from its centre: a box with a pyramid cut out of it.
fn dented() -> Mesh {
    let box_corners = (0..8).map(|i| Vec3::new(f64::from(i & 1), f64::from(i >> 1 & 1) * 0.7, f64::from(i >> 2) * 1.3));
    let mut vertices: Vec<Vec3> = box_corners.collect();
    vertices.push(Vec3::new(0.4, 0.3, 0.2));
    let quads = [[0, 2, 3, 1], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let mut triangles: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    triangles.extend([[4, 5, 8], [5, 7, 8], [7, 6, 8], [6, 4, 8]]);
    Mesh { vertices, triangles }
}

fn obj(mesh: &Mesh) -> Vec<u8> {
    let vertices = mesh.vertices.iter().map(|v| format!("v {} {} {}\n", v.x, v.y, v.z));
    let triangles = mesh
        .triangles
        .iter()
        .map(|t| format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    vertices.chain(triangles).collect::<String>().into_bytes()
}

fn stl(mesh: &Mesh) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for t in &mesh.triangles {
        bytes.extend([0; 12]);
        let corners = t.iter().flat_map(|i| mesh.vertices[*i as usize].to_array());
        bytes.extend(corners.flat_map(|x| (x as f32).to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

#[test]
fn meshes_weigh_what_they_do_in_mujoco() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let (mesh, mut boxes, mut assets, mut bodies) = (dented(), String::new(), String::new(), String::new());
    let modes = ["legacy", "exact", "convex", "shell"];
    let shapes = [
        "",
        "scale=\"1 -2 0.5\"",
        "refpos=\"0.3 0.2 -0.1\" refquat=\"0.8 0.1 -0.5 0.3\" scale=\"3 1 2\"",
    ];
    for (i, mode) in modes.iter().enumerate() {
        for (k, shape) in shapes.iter().enumerate() {
            let file = ["part.obj", "part.stl"][(i + k) % 2];
            assets += &format!("<mesh name=\"m{i}{k}\" file=\"{file}\" inertia=\"{mode}\" {shape}/>\n");
            let weight = ["", "mass=\"0.7\"", "density=\"300\""][k];
            bodies += &format!(
                "<body name=\"b{i}{k}\" pos=\"{i} {k} 0\"><joint name=\"j{i}{k}\" axis=\"1 2 3\" pos=\"0.1 0 0\"/>\
                 <geom type=\"mesh\" mesh=\"m{i}{k}\" {weight} pos=\"0.1 0.2 0.3\" euler=\"10 20 30\"/></body>\n"
            );
        }
    }
    // Vertices in the file, with and without triangles; the mode of defaults.
    assets += "<mesh name=\"tetra\" vertex=\"0 0 0 1 0 0 0 2 0 0 0 3\"/>\n<mesh name=\"faced\" class=\"thin\" \
               vertex=\"0 0 0 1 0 0 0 2 0 0 0 3\" face=\"0 2 1 0 1 3 0 3 2 1 2 3\"/>\n";
    for name in ["tetra", "faced"] {
        bodies += &format!("<body><joint axis=\"1 2 3\"/><geom type=\"mesh\" mesh=\"{name}\"/></body>");
    }
    // Primitives of the size of a mesh, and hollow ones.
    for kind in ["sphere", "capsule", "cylinder", "box", "ellipsoid"] {
        for (fit, hollow) in [
            ("", "false"),
            ("fitscale=\"1.5\"", "false"),
            ("mass=\"2\"", "true"),
            ("", "true"),
        ] {
            boxes += &format!(
                "<body><joint axis=\"1 2 3\"/><geom type=\"{kind}\" mesh=\"m10\" {fit} shellinertia=\"{hollow}\" pos=\"0.1 0 0\" \
                 euler=\"10 20 30\"/></body>\n"
            );
        }
    }
    for fit in ["false", "true"] {
        let text = format!(
            "<mujoco><compiler meshdir=\"parts\" fitaabb=\"{fit}\"/><default><default class=\"thin\"><mesh inertia=\"shell\"/></default>\
             </default><asset>{assets}</asset><worldbody>{bodies}{boxes}</worldbody></mujoco>"
        );
        let files = [
            ("robot.xml", text.as_bytes()),
            ("parts/part.obj", &obj(&mesh)),
            ("parts/part.stl", &stl(&mesh)),
        ];
        let path = written(&format!("meshes_{fit}"), &files);
        let robot = loaded(&path);
        assert_eq!(robot.report.of("mesh-inertia").count(), 0);
        let answer = reference.ask(&json!({"ask": "mujoco", "file": path, "links": [], "states": []}));
        let theirs = answer["inertias"].as_array().expect("bodies").iter().map(numbers);
        // Links between joints and bodies are ours alone.
        let own: Vec<_> = robot
            .mechanism
            .links()
            .iter()
            .filter(|l| l.inertia.mass > 0.0)
            .collect();
        assert_eq!(own.len(), theirs.len());
        // MuJoCo stops turning to principal axes at some 1e-8, which boxes around meshes show, as do moments along axes.
        let tolerance = if fit == "true" { 1e-6 } else { 1e-9 };
        for (link, expect) in own.iter().zip(theirs) {
            let body = link.inertia;
            let (principal, _) = body.principal();
            for (got, at) in [(&[body.mass][..], 0), (&body.com.to_array(), 1), (&principal, 4)] {
                let expect = &expect[at..at + got.len()];
                assert!(error(got, expect) < tolerance, "{}: {got:?} {expect:?}", link.name);
            }
            assert!(error(&body.moments, &expect[7..13]) < 2e-7, "{}", link.name);
        }
    }
}

#[test]
fn frames_replicas_and_attached_models_are_written_out() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let child = r#"<mujoco model="kid"><compiler angle="radian" meshdir="parts"/><option gravity="0 0 -1"/>
        <default><joint damping="3"/><geom size="0.3"/><default class="red"><geom size=".05"/><joint axis="1 0 0"/></default></default>
        <asset><mesh file="part.obj" inertia="exact" scale="0.1 0.1 0.1"/></asset>
        <worldbody><geom name="wg"/><body name="a" pos="0 0 1" euler="0 0 1" childclass="red"><joint name="j" range="-1 1"/><geom name="g"/>
        <site name="s"/><body name="b" pos="0 1 0"><joint name="k"/><geom/><geom type="mesh" mesh="part"/></body></body>
        <body name="other"><joint name="o"/><geom/></body></worldbody>
        <equality><joint name="e" joint1="j" joint2="k"/><joint joint1="o" joint2="k"/></equality></mujoco>"#;
    let text = r#"<mujoco><compiler eulerseq="zyx"/><default><default class="c"><joint axis="1 0 0" armature="0.1"/><geom size="0.2"/></default></default>
        <asset><model name="kid" file="kids/kid.xml"/></asset>
        <worldbody>
          <frame pos="1 0 0" euler="0 0 90"><attach model="kid" body="a" prefix="L_"/></frame>
          <body name="x"><frame pos="1 0 0" euler="20 0 90" childclass="c"><joint name="j1" pos="0 0 .5"/><geom/>
            <inertial pos="0.1 0 0" mass="1" diaginertia="1 2 2.5"/><body name="y" pos="0 0 1"><joint name="j2"/><geom/></body></frame>
            <body name="z"><joint name="j3"/><geom size=".1"/><attach model="kid" prefix="all_"/></body></body>
          <replicate count="3" offset="1 0 0.1" euler="10 20 90" sep="-"><body name="r" pos="0 0.1 0"><joint name="rj"/><geom size="0.1"/>
            <replicate count="11" offset="0 0.1 0"><body name="n"><joint name="nj"/><geom size="0.1"/></body></replicate>
            <body><joint name="rk"/><geom size="0.1"/></body></body></replicate>
          <replicate count="10" offset="0 0 1"><attach model="kid" body="b" prefix="R_"/></replicate>
        </worldbody>
        <equality><joint name="q" joint1="rj" joint2="rk"/><joint name="qn" joint1="nj" joint2="rj"/></equality></mujoco>"#;
    let path = written(
        "expanded",
        &[
            ("robot.xml", text.as_bytes()),
            ("kids/kid.xml", child.as_bytes()),
            ("kids/parts/part.obj", &obj(&dented())),
        ],
    );
    let (_, answer) = agrees(&mut reference, &path);
    let coupled = load(&path, &Options::default()).unwrap();
    let mut names: Vec<_> = coupled
        .couplings
        .iter()
        .map(|c| (&*c.name, &*c.follower, c.leader.as_deref().unwrap()))
        .collect();
    names.sort_unstable();
    let expect: Vec<_> = answer["equalities"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), expect.len());
    for theirs in expect {
        let theirs = [0, 1, 2].map(|i| theirs[i].as_str().unwrap());
        assert!(
            names.contains(&(theirs[0], theirs[1], theirs[2])),
            "{theirs:?} {names:?}"
        );
    }
}

#[test]
fn a_model_with_everything_agrees_with_mujoco() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/expanded.xml");
    let (robot, _) = agrees(&mut reference, &path);
    assert_eq!(
        (robot.keyframes.len(), robot.actuators.len(), robot.sensors.len()),
        (2, 5, 4)
    );
}

#[test]
fn free_joints_are_as_in_mujoco() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let text = r#"<mujoco><compiler alignfree="true"/><worldbody>
        <body name="springs" pos="1 0 0" euler="0 30 90"><joint name="s" type="free" stiffness="3" armature="0.5" damping="0.1"/>
          <geom size=".1" pos=".1 0 0"/><body name="arm"><joint axis="1 0 0"/><geom size=".1" pos="0 .2 0"/></body></body>
        <body name="rotor" pos="1 0 0" euler="0 30 90"><joint type="free" armature="0.5"/>
          <geom size=".1" pos=".1 0 0"/><body><joint axis="1 0 0"/><geom size=".1" pos="0 .2 0"/></body></body>
        <body name="one" pos="0 1 0" euler="10 20 30"><freejoint/><geom type="box" size=".1 .2 .3" pos="1 0 0" euler="0 30 0"/></body>
        <body name="given" pos="0 1 0"><freejoint align="true"/><inertial pos=".1 .2 .3" euler="5 6 7" mass="2" diaginertia="1 2 2.5"/></body>
        <body name="kept" pos="0 1 0"><freejoint align="false"/><geom type="box" size=".1 .2 .3" pos="1 0 0" euler="0 30 0"/></body>
        <body name="ball" pos="0 1 0"><joint type="ball" stiffness="2" damping="0.3"/><geom type="box" size=".1 .2 .3" pos="1 0 0"/></body>
        </worldbody></mujoco>"#;
    let (robot, _) = agrees(&mut reference, &written("free", &[("robot.xml", text.as_bytes())]));
    assert_eq!(robot.report.of("aligned-body").count(), 2);
    assert_eq!(robot.report.of("split-free-joint").count(), 2);
}

#[test]
fn frames_of_free_bodies_are_moved_to_the_axes_that_mujoco_chooses() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let bodies: String = (0..12)
        .map(|i| {
            let x = |k: usize| (1.3 * (7 * i + k) as f64).sin();
            format!(
                "<body name=\"b{i}\" pos=\"{} 1 {}\" euler=\"{} 20 {}\"><freejoint/><geom type=\"box\" size=\".1 .2 .3\" pos=\"{} {} 0\" \
                 euler=\"{} 30 0\"/><geom size=\".15\" pos=\".1 {} {}\"/></body>",
                x(0), x(1), 90.0 * x(2), 40.0 * x(3), 0.3 * x(4), 0.3 * x(5), 90.0 * x(6), 0.3 * x(1), 0.3 * x(2)
            )
        })
        .collect();
    let text = format!("<mujoco><compiler alignfree=\"true\"/><worldbody>{bodies}</worldbody></mujoco>");
    let (robot, _) = agrees(&mut reference, &written("axes", &[("robot.xml", text.as_bytes())]));
    assert_eq!(robot.report.of("aligned-body").count(), 12);
}

#[test]
fn meshes_may_lie_beside_the_included_file_that_names_them() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let (large, small) = (dented(), dented().scaled(Vec3::new(0.5, 0.6, 0.7)));
    let main = br#"<mujoco><include file="parts/assets.xml"/><worldbody>
        <body name="a"><joint/><geom type="mesh" mesh="beside"/></body><body name="b"><joint/><geom type="mesh" mesh="both"/></body>
        </worldbody></mujoco>"#;
    let parts = br#"<mujocoinclude><asset><mesh name="beside" file="meshes/beside.obj"/><mesh name="both" file="both.obj"/></asset></mujocoinclude>"#;
    let path = written(
        "beside",
        &[
            ("robot.xml", &main[..]),
            ("parts/assets.xml", &parts[..]),
            ("parts/meshes/beside.obj", &obj(&large)),
            ("both.obj", &obj(&small)),
            ("parts/both.obj", &obj(&large)),
        ],
    );
    let (robot, _) = agrees(&mut reference, &path);
    let masses: Vec<f64> = robot.mechanism.links().iter().map(|l| l.inertia.mass).collect();
    assert!(masses[1] < 0.5 * masses[0], "{masses:?}");
}

#[test]
fn forces_that_grow_faster_than_in_proportion_are_reported() {
    let text = br#"<mujoco><worldbody><body><joint damping="1 2 3" stiffness="4 0"/><geom size="1"/></body></worldbody></mujoco>"#;
    let robot = loaded(&written("polynomials", &[("robot.xml", &text[..])]));
    assert_eq!(robot.mechanism.joints()[0].damping, [1.0]);
    assert_eq!(robot.mechanism.joints()[0].stiffness, [4.0]);
    assert_eq!(robot.report.of("unmodelled-attribute").count(), 1);
}

#[test]
fn files_outside_of_the_directory_are_named_with_the_option_that_allows_them() {
    let shared = b"<mujocoinclude><default><geom size=\"0.1\"/></default></mujocoinclude>";
    let text = b"<mujoco><include file=\"../shared/defaults.xml\"/><worldbody><body><joint/><geom class=\"none\"/></body></worldbody></mujoco>";
    let path = written(
        "outside",
        &[("robots/robot.xml", &text[..]), ("shared/defaults.xml", &shared[..])],
    );
    let directory = path.parent().unwrap().parent().unwrap().to_path_buf();
    let repositories = [directory.join("robots/.git"), directory.join(".git")];
    std::fs::create_dir_all(&repositories[0]).unwrap();
    let refusal = load(&path, &Options::default()).unwrap_err();
    let [found] = &refusal.report.findings[..] else {
        panic!("what follows from it is not listed: {:?}", refusal.report.findings)
    };
    assert!(
        found.code == "include" && found.advice.contains("--package DIR"),
        "{found}"
    );
    let options = Options {
        packages: vec![directory.join("shared")],
        ..Options::default()
    };
    let refusal = load(&path, &options).unwrap_err();
    assert!(refusal.report.findings.iter().all(|f| f.code != "include"), "{refusal}");
    // A repository is one root.
    std::fs::remove_dir(&repositories[0]).unwrap();
    std::fs::create_dir_all(&repositories[1]).unwrap();
    let refusal = load(&path, &Options::default()).unwrap_err();
    assert!(refusal.report.findings.iter().all(|f| f.code != "include"), "{refusal}");
    std::fs::remove_dir(&repositories[1]).unwrap();
}

/// Keyframes, actuators, sensors and references, in a model that another one attaches too.
const DRIVEN: &str = r#"<mujoco><compiler angle="degree"/>
    <default><position kp="3"/><default class="strong"><motor gear="5" forcerange="-2 9"/><general ctrlrange="-7 7"/></default>
      <tendon stiffness="2"/></default>
    <worldbody><body name="base" pos="1 2 3" euler="10 20 30"><freejoint name="float"/><geom name="g" type="box" size=".1 .2 .3" pos=".1 0 0"/>
      <site name="s" pos="0 0 .1"/>
      <body name="upper" pos="0 0 .5"><joint name="lift" type="slide" axis="0 0 1" ref="0.25" range="0 1"/><geom size=".1" pos=".2 0 0"/>
        <body name="lower" pos="0 0 .5"><joint name="turn" axis="0 1 0" ref="30" range="-40 100"/><geom size=".1" pos=".2 0 0"/>
          <body name="hand" pos=".4 0 0"><joint name="wrist" type="ball"/><geom size=".1" pos=".2 .1 0"/></body></body></body></body>
      <body name="heavy" pos="0 5 0" euler="0 0 40"><joint name="rotor" type="free" armature="0.3"/><geom type="box" size=".1 .2 .3"/></body>
    </worldbody>
    <tendon><fixed name="cable"><joint joint="lift" coef="2"/><joint joint="turn" coef="-1"/></fixed></tendon>
    <actuator><motor name="m" joint="lift" gear="3"/><position name="p" joint="turn" kv="0.5" inheritrange="0.5"/>
      <velocity name="v" joint="lift" kv="4" ctrllimited="false" ctrlrange="-1 1"/><motor name="c" class="strong" joint="turn"/>
      <general name="g" tendon="cable" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="4 5 6" dyntype="filter" dynprm="0.1"/>
      <damper name="d" joint="lift" kv="2" ctrlrange="0 1"/><cylinder name="y" joint="lift" diameter="0.1" timeconst="0.2" bias="1 2 3"/>
      <intvelocity name="i" joint="turn" kp="9" actrange="-1 1"/></actuator>
    <sensor><jointpos name="q" joint="turn"/><gyro name="w" site="s"/><framepos name="x" objtype="body" objname="hand" reftype="site" refname="s"/>
      <tendonpos name="l" tendon="cable"/></sensor>
    <keyframe><key name="home" qpos="0.1 0.2 0.3 0.5 0.5 -0.5 0.5  0.4 0.7 0.8 0.6 0 0  4 5 6 1 0 0 0" ctrl="1 2 3 4 5 0.6 7 8"/>
      <key name="moving" time="2" qvel="1 2 3 0.1 0.2 0.3  1 2 0.4 0.5 0.6  3 2 1 0.3 0.2 0.1"/></keyframe></mujoco>"#;

#[test]
fn keyframes_and_actuators_are_as_in_mujoco() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let outer = "<mujoco><asset><model name=\"kid\" file=\"robot.xml\"/></asset><worldbody><frame pos=\"0 0 9\"><attach model=\"kid\" \
                 prefix=\"k_\"/></frame><body><joint name=\"own\" ref=\"20\"/><geom size=\".1\"/></body></worldbody>\
                 <actuator><motor joint=\"own\"/></actuator></mujoco>";
    let path = written(
        "drives",
        &[("robot.xml", DRIVEN.as_bytes()), ("outer.xml", outer.as_bytes())],
    );
    for path in [path.clone(), path.with_file_name("outer.xml")] {
        let robot = loaded(&path);
        let m = &robot.mechanism;
        let links = ["base", "upper", "lower", "hand", "heavy"];
        let prefix = if m.link("k_base").is_ok() { "k_" } else { "" };
        let links = links.map(|l| format!("{prefix}{l}"));
        let answer = reference.ask(&json!({"ask": "drives", "file": path, "links": links}));
        let keys = answer["keys"].as_array().expect("keys");
        assert_eq!(keys.len(), robot.keyframes.len());
        for (ours, theirs) in robot.keyframes.iter().zip(keys) {
            let name = theirs["name"].as_str().filter(|n| !n.is_empty()).unwrap_or("qpos0");
            assert_eq!(ours.name, name);
            let mut workspace = m.workspace();
            let mut posed = workspace.at(&ours.q).unwrap();
            for (link, expect) in links.iter().zip(theirs["poses"].as_array().expect("poses")) {
                let pose = posed.pose(m.frame(link).unwrap());
                let pose = pose.unwrap();
                let (r, t) = (pose.rotation.to_rows(), pose.translation.to_array());
                let got: Vec<f64> = (0..3).flat_map(|i| [r[i][0], r[i][1], r[i][2], t[i]]).collect();
                assert!(error(&got, &numbers(expect)) < 1e-9, "{name} {link}");
            }
            let energy = posed.moving(&ours.v).unwrap().kinetic_energy();
            let expect = theirs["energy"].as_f64().unwrap();
            assert!((energy - expect).abs() <= 1e-9 * expect, "{name}: {energy} {expect}");
            if !ours.ctrl.is_empty() {
                assert!(error(&ours.ctrl, &numbers(&theirs["ctrl"])) < 1e-12, "{name}");
            }
        }
        assert_eq!(
            robot.keyframe(&format!("{prefix}home")).unwrap().ctrl.len(),
            robot.actuators.len()
        );
        let actuators = answer["actuators"].as_array().expect("actuators");
        assert_eq!(actuators.len(), robot.actuators.len());
        for (ours, theirs) in robot.actuators.iter().zip(actuators) {
            let name = &*ours.name;
            assert_eq!(
                (name, &*ours.target.name),
                (theirs["name"].as_str().unwrap(), theirs["target"].as_str().unwrap())
            );
            assert_eq!(ours.gear[0], theirs["gear"].as_f64().unwrap(), "{name}");
            let mut gain = numbers(&theirs["gain"]);
            if theirs["affine"] != true {
                gain[1..].fill(0.0);
            }
            assert!(error(&ours.gain, &gain) < 1e-15, "{name}: {:?} {gain:?}", ours.gain);
            let mut bias = numbers(&theirs["bias"]);
            if theirs["biased"] != true {
                bias.fill(0.0);
            }
            assert!(error(&ours.bias, &bias) < 1e-15, "{name}: {:?} {bias:?}", ours.bias);
            let (lag, seconds) = match &ours.lag {
                Lag::None => (0, None),
                Lag::Integrator => (1, None),
                Lag::Filter { seconds } => (2, Some(*seconds)),
                other => panic!("{other:?}"),
            };
            assert_eq!(lag, theirs["lag"].as_i64().unwrap(), "{name}");
            assert!(seconds.is_none_or(|s| theirs["seconds"] == s), "{name}");
            for (range, expect) in [
                (ours.control_range, &theirs["control"]),
                (ours.force_range, &theirs["force"]),
            ] {
                match range {
                    Some(range) => assert!(error(&range, &numbers(expect)) < 1e-12, "{name}: {range:?} {expect}"),
                    None => assert!(expect.is_null(), "{name}: {expect}"),
                }
            }
        }
        let sensors: Vec<_> = robot.sensors.iter().map(|s| json!(s.name)).collect();
        assert_eq!(json!(sensors), answer["sensors"]);
    }
}

#[test]
fn the_native_format_keeps_keyframes_and_drives() {
    let path = written("native", &[("robot.xml", DRIVEN.as_bytes())]);
    let robot = loaded(&path);
    let text = linkwork_formats::write(&robot, Format::Native).unwrap().text;
    let again = linkwork_formats::read("robot.json", text.as_bytes(), Format::Native, &Options::default()).unwrap();
    assert_eq!(
        (again.keyframes, again.actuators),
        (robot.keyframes.clone(), robot.actuators.clone())
    );
    assert_eq!(
        (again.sensors, again.tendons),
        (robot.sensors.clone(), robot.tendons.clone())
    );
    // On a free base the same states are there, and the base stands still.
    let fixed = loaded(&written(
        "fixed",
        &[(
            "robot.xml",
            b"<mujoco><worldbody><body name=\"a\"><geom size=\"1\"/><body><joint name=\"j\"/><geom size=\"1\"/></body></body>\
              </worldbody><keyframe><key name=\"k\" qpos=\"0.5\" qvel=\"2\"/></keyframe></mujoco>",
        )],
    ));
    let floating = fixed.mechanism.with_floating_base().unwrap();
    let key = fixed.with_mechanism(floating).keyframes.remove(0);
    assert_eq!(key.q, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5]);
    assert_eq!(key.v, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let schema: Value = serde_json::from_str(linkwork_formats::SCHEMA).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let answer = reference.ask(&json!({"ask": "schema", "schema": schema, "document": document}));
    assert_eq!(answer["errors"], json!([]));
}

#[test]
fn fixed_tendons_are_couplings_or_springs_of_their_joint() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let body = |name: &str| {
        format!(
            "<body><joint name=\"{name}\" type=\"slide\" ref=\"0.3\" stiffness=\"2\" springref=\"0.1\"/><geom size=\".1\"/></body>"
        )
    };
    let bodies: String = ["a", "b", "c"].iter().map(|n| body(n)).collect();
    let one = |name: &str, joint: &str, more: &str| {
        format!("<fixed name=\"{name}\" {more}><joint joint=\"{joint}\" coef=\"-1.5\"/></fixed>")
    };
    let spring = "stiffness=\"7\" damping=\"0.4\" springlength=\"0.2\" armature=\"0.6\"";
    let springs = one("ta", "a", spring) + &one("tb", "b", "stiffness=\"3\"") + &one("tc", "c", "");
    let text = format!("<mujoco><worldbody>{bodies}</worldbody><tendon>{springs}</tendon></mujoco>");
    let (robot, _) = agrees(&mut reference, &written("springs", &[("robot.xml", text.as_bytes())]));
    assert_eq!(
        robot.tendons.iter().map(|t| t.folded).collect::<Vec<_>>(),
        [true, true, false]
    );
    // Lengths that depend on each other.
    let pair = "<fixed name=\"p\"><joint joint=\"b\" coef=\"2\"/><joint joint=\"c\" coef=\"4\"/></fixed>";
    let coupled = |equality: &str| {
        let tendons = one("ta", "a", "") + &one("tb", "b", "") + pair;
        let text = format!(
            "<mujoco><worldbody>{bodies}</worldbody><tendon>{tendons}</tendon><equality>{equality}</equality></mujoco>"
        );
        let robot = load(
            &written("coupled", &[("robot.xml", text.as_bytes())]),
            &Options::default(),
        )
        .unwrap();
        let m = robot.mechanism;
        let q: Vec<f64> = (0..m.nq()).map(|i| 0.7 + 0.2 * i as f64).collect();
        m.all_coordinates(&q).unwrap_or(q)
    };
    // −1.5 (a − 0.3) = 0.5 + 2 (−1.5 (b − 0.3)), b being 0.7.
    let q = coupled("<tendon tendon1=\"ta\" tendon2=\"tb\" polycoef=\"0.5 2 0 0 0\"/>");
    assert!((q[0] - (0.3 - 0.5 / 1.5 + 2.0 * 0.4)).abs() < 1e-14, "{q:?}");
    // 2 (b − 0.3) + 4 (c − 0.3) = 0.5, a and c being 0.7 and 0.9.
    let q = coupled("<tendon tendon1=\"p\" polycoef=\"0.5 0 0 0 0\"/>");
    assert!((q[1] - (0.3 + 0.25 - 2.0 * 0.6)).abs() < 1e-14, "{q:?}");
}

#[test]
fn what_is_only_seen_or_deforms_does_not_stop_a_robot() {
    let text = r#"<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="0.1 0.1 0.1 1"/><material name="c" rgba=""/></asset>
        <worldbody><body><joint/><inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/><geom type="box" size="-1 1 1"/>
        <geom type="mesh" mesh="none"/><geom type="mesh" mesh="m" rgba="" material="c"/><geom rgba="1 0" size="1"/>
        <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1"/></body></worldbody>
        <deformable><skin name="skin"/></deformable></mujoco>"#;
    let robot = loaded(&written("seen", &[("robot.xml", text.as_bytes())]));
    assert_eq!(robot.mechanism.nv(), 1);
    for (code, count) in [("geometry", 2), ("colour", 1), ("scale", 1), ("deformable", 2)] {
        assert_eq!(robot.report.of(code).count(), count, "{code}: {:?}", robot.report);
    }
}

#[test]
fn joints_can_be_listed_in_the_order_of_mujoco() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let body = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";
    let links: String = ["base", "d", "a", "c", "b"]
        .iter()
        .map(|l| format!("<link name=\"{l}\">{body}</link>"))
        .collect();
    let joint = |parent: &str, child: &str| {
        format!(
            "<joint name=\"to_{child}\" type=\"continuous\"><parent link=\"{parent}\"/><child link=\"{child}\"/></joint>"
        )
    };
    let joints = joint("b", "a") + &joint("base", "c") + &joint("base", "b") + &joint("c", "d");
    let text = format!("<robot name=\"r\">{links}{joints}</robot>");
    let path = written("order", &[("robot.urdf", text.as_bytes())]);
    let m = loaded(&path).mechanism;
    let answer = reference.ask(&json!({"ask": "mujoco", "file": path, "links": [], "states": []}));
    let ours: Vec<_> = joint_order(&m, Order::Mujoco)
        .into_iter()
        .map(|j| json!(m.joints()[j].name))
        .collect();
    assert_eq!(json!(ours), answer["names"]);
    let file: Vec<_> = joint_order(&m, Order::File)
        .into_iter()
        .map(|j| &*m.joints()[j].name)
        .collect();
    assert_eq!(file, ["to_a", "to_c", "to_b", "to_d"]);
}
