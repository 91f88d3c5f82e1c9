//! Commands that read robot files, as users run them.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn linkwork(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linkwork"))
        .args(arguments)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

/// An empty directory for one test, with some files.
fn directory(test: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a directory can be made");
    for (name, text) in files {
        let file = path.join(name);
        std::fs::create_dir_all(file.parent().expect("a directory")).expect("a directory can be made");
        std::fs::write(file, text).expect("a file can be written");
    }
    path
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

const ARM: &str = r#"<robot name="arm">
  <link name="base"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="upper"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="2" upper="-2"/></joint>
  <joint name="flange" type="fixed"><parent link="upper"/><child link="tool"/><origin xyz="0 0 0.5"/></joint>
</robot>
"#;

#[test]
fn check_shows_the_line_and_sets_the_exit_code() {
    let broken = ARM.replace("0 1 0", "0 1,5 0");
    let here = directory("check", &[("arm.urdf", ARM), ("broken.urdf", &broken)]);
    let output = linkwork(&here, &["check", "arm.urdf"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("warning: joint shoulder: the lower limit 2 is above the upper limit -2"),
        "{said}"
    );
    assert!(
        said.contains("--> arm.urdf:5:3\n") && said.contains("5 |   <joint name=\"shoulder\""),
        "{said}"
    );
    assert!(said.contains("arm.urdf: loads, 1 warning, 1 note"), "{said}");
    assert_eq!(
        linkwork(&here, &["check", "--strict", "arm.urdf"]).status.code(),
        Some(1)
    );
    let repaired = text(&linkwork(&here, &["check", "--repair", "arm.urdf"]).stdout);
    assert!(repaired.contains("repair: joint shoulder"), "{repaired}");
    let output = linkwork(&here, &["check", "broken.urdf"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("`1,5` has a comma") && said.contains("broken.urdf:5:95"),
        "{said}"
    );
    let output = linkwork(&here, &["check", "arm.urdf", "broken.urdf", "missing.urdf", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    assert_eq!(
        lines.iter().map(|l| l["loads"].as_bool().unwrap()).collect::<Vec<_>>(),
        [true, false, false]
    );
    let finding = &lines[1]["findings"][0];
    assert_eq!(
        (&finding["severity"], &finding["line"], &finding["column"]),
        (&"error".into(), &5.into(), &95.into())
    );
    assert_eq!(
        (&finding["code"], &finding["element"]),
        (&"number".into(), &"joint shoulder".into())
    );
}

#[test]
fn info_describes_a_robot() {
    let here = directory("info", &[("arm.urdf", ARM)]);
    let page = text(&linkwork(&here, &["info", "arm.urdf"]).stdout);
    assert!(
        page.starts_with("arm, 1 degree of freedom\n3 links, 3 joints (1 moving)"),
        "{page}"
    );
    assert!(page.contains("mass 5.000000 kg, of which 2.000000 kg move"), "{page}");
    assert!(
        page.contains("   └─ upper (revolute shoulder, 2 kg)\n      └─ tool (fixed flange)"),
        "{page}"
    );
    let output = linkwork(&here, &["info", "arm.urdf", "--floating", "--json"]);
    let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&page["nq"], &page["nv"]), (&8.into(), &7.into()));
    let joint = &page["joints"][1];
    assert_eq!(
        (&joint["name"], &joint["kind"]),
        (&"shoulder".into(), &"revolute".into())
    );
    assert_eq!((&joint["q_start"], &joint["v_start"]), (&7.into(), &6.into()));
    assert_eq!(page["links"][2]["name"], "tool");
    assert_eq!(page["findings"][0]["code"], "massless-link");
    let built_in = linkwork(&here, &["info", "humanoid"]);
    assert!(built_in.status.success());
}

#[test]
fn other_commands_read_files_and_say_what_is_doubtful() {
    let here = directory("others", &[("arm.urdf", ARM), ("robot.usda", "#usda 1.0")]);
    let output = linkwork(&here, &["bench", "arm.urdf", "--quick", "--json", "-a", "aba"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).starts_with("warning: arm.urdf:5:3: joint shoulder"));
    let output = linkwork(&here, &["info", "robot.usda"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("USD files are out of scope"));
}

#[test]
fn convert_writes_every_format_and_reads_it_again() {
    let here = directory("convert", &[("arm.urdf", ARM)]);
    let info = |file: &str| {
        let output = linkwork(&here, &["info", file, "--json"]);
        assert!(output.status.success(), "{file}: {}", text(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let before = info("arm.urdf");
    for (from, to) in [
        ("arm.urdf", "arm.xml"),
        ("arm.xml", "arm.json"),
        ("arm.json", "again.urdf"),
        ("again.urdf", "arm.mjcf"),
        ("arm.mjcf", "arm.sdf"),
    ] {
        let output = linkwork(&here, &["convert", from, to]);
        assert!(output.status.success(), "{to}: {}", text(&output.stderr));
        let after = info(to);
        assert_eq!(
            (&after["nv"], &after["links"]),
            (&before["nv"], &before["links"]),
            "{to}"
        );
        let (a, b) = (
            after["mass_matrix_condition"].as_f64().unwrap(),
            before["mass_matrix_condition"].as_f64().unwrap(),
        );
        assert!((a - b).abs() < 1e-12 * b);
    }
    let output = linkwork(&here, &["convert", "arm.urdf", "-", "--to", "native"]);
    let robot: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&robot["format"], &robot["joints"][1]["name"]),
        (&"linkwork-robot".into(), &"shoulder".into())
    );
    let output = linkwork(&here, &["convert", "arm.urdf", "arm.glb"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("glTF files are out of scope"));
    assert!(text(&output.stderr).contains("hint: end it with .urdf"));
    let output = linkwork(&here, &["convert", "arm.urdf", "no/such/place.xml"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn xacro_files_take_arguments_and_packages() {
    let robot = r#"<robot name="r" xmlns:xacro="x">
  <xacro:include filename="$(find parts)/rod.xacro"/>
  <link name="base"/>
  <xacro:rod name="$(arg side)_rod" mass="${2 * 1.5}"/>
</robot>"#;
    let rod = r#"<robot xmlns:xacro="x"><xacro:macro name="rod" params="name mass">
  <link name="${name}"><inertial><mass value="${mass}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="${name}_joint" type="continuous"><parent link="base"/><child link="${name}"/><axis xyz="0 1 0"/></joint>
</xacro:macro></robot>"#;
    let here = directory("xacro", &[("robot.urdf.xacro", robot), ("elsewhere/rod.xacro", rod)]);
    let given = ["--package", "parts=elsewhere", "--arg", "side:=left"];
    let run = |command: &[&str]| linkwork(&here, &[command, &given[..]].concat());
    for command in ["info", "check"] {
        let output = run(&[command, "robot.urdf.xacro"]);
        assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    }
    let output = run(&["eval", "robot.urdf.xacro", "mass_matrix", "--q", "0"]);
    assert!(
        output.status.success() && text(&output.stdout).contains('1'),
        "{}",
        text(&output.stderr)
    );
    let output = run(&["simulate", "robot.urdf.xacro", "--seconds", "0.1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = run(&["convert", "robot.urdf.xacro", "out.sdf"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&linkwork(&here, &["info", "out.sdf"]).stdout).contains("left_rod_joint"));
    let missing = linkwork(&here, &["check", "robot.urdf.xacro", "--package", "parts=elsewhere"]);
    let said = text(&missing.stdout);
    assert!(
        said.contains("--arg name:=value") && said.contains("robot.urdf.xacro:4:"),
        "{said}"
    );
    let lost = linkwork(&here, &["check", "robot.urdf.xacro", "--arg", "side:=left"]);
    assert!(
        text(&lost.stdout).contains("--package NAME=PATH"),
        "{}",
        text(&lost.stdout)
    );
    for wrong in [["--arg", "side=left"], ["--package", "parts=nowhere"]] {
        let output = linkwork(&here, &[&["info", "robot.urdf.xacro"], &wrong[..]].concat());
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn keyframes_start_simulations_and_info_says_what_coordinates_are() {
    let model = r#"<mujoco><worldbody><body name="a"><freejoint name="base"/><geom size="1"/><body><joint name="j" ref="30"/><geom size="1" pos="1 0 0"/>
        </body></body></worldbody><actuator><position name="p" joint="j" kp="3" ctrlrange="-1 1"/></actuator><sensor><gyro site="s"/></sensor>
        <keyframe><key name="home" qpos="0 0 2 1 0 0 0 0.5"/></keyframe></mujoco>"#;
    let here = directory("keys", &[("robot.xml", model)]);
    let said = text(&linkwork(&here, &["info", "robot.xml"]).stdout);
    for words in [
        "keyframes, for --start-key: qpos0, home",
        "free: q is the quaternion x y z w, then the position x y z",
        "p  position on joint j  gear 1  control -1 to 1",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let page: Value =
        serde_json::from_slice(&linkwork(&here, &["info", "robot.xml", "--json", "--order", "mujoco"]).stdout).unwrap();
    assert_eq!(page["joints"][0]["coordinates"][3], "qw");
    assert_eq!(page["order"]["joints"], serde_json::json!(["base", "j"]));
    let run = |more: &[&str]| {
        let arguments = [
            &[
                "simulate",
                "robot.xml",
                "--seconds",
                "0.01",
                "--gravity",
                "0,0,0",
                "--log",
                "run.csv",
            ][..],
            more,
        ]
        .concat();
        let output = linkwork(&here, &arguments);
        (
            output,
            std::fs::read_to_string(here.join("run.csv")).unwrap_or_default(),
        )
    };
    let (output, log) = run(&["--start-key", "home"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let row: Vec<f64> = log
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .filter_map(|x| x.parse().ok())
        .collect();
    assert!(
        row[1..9]
            .iter()
            .zip([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.5])
            .all(|(a, b)| (a - b).abs() < 1e-12),
        "{row:?}"
    );
    // Else as the file is written.
    let (_, log) = run(&[]);
    let row: Vec<f64> = log
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .filter_map(|x| x.parse().ok())
        .collect();
    assert!((row[8] - 30_f64.to_radians()).abs() < 1e-12, "{row:?}");
    let (output, _) = run(&["--start-key", "hom"]);
    let said = text(&output.stderr);
    assert!(
        output.status.code() == Some(2) && said.contains("did you mean `home`?"),
        "{said}"
    );
}

#[test]
fn check_explains_every_kind_of_finding() {
    let here = directory("explain", &[]);
    let said = text(&linkwork(&here, &["check", "--explain", "triangle-inequality"]).stdout);
    assert!(said.contains("exceeds the sum of the others"), "{said}");
    let all = text(&linkwork(&here, &["check", "--explain", "all"]).stdout);
    assert!(all.lines().count() > 60, "{all}");
    let output = linkwork(&here, &["check", "--explain", "mesh-inertial"]);
    let said = text(&output.stderr);
    assert!(
        output.status.code() == Some(2) && said.contains("did you mean `mesh-inertia`?"),
        "{said}"
    );
}
