//! Features of MJCF, each in a small file, against MuJoCo.

mod support;

use linkwork::spatial::Vec3;
use linkwork_formats::{Mesh, Options, Robot, load};
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
        independent: true,
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
