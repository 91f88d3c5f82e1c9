//! `linkwork view`: what it makes of logs, what goes into a file, and what it says where something is wrong.

mod program_support;

use program_support::{complaint, directory, linkwork, run_in_python, simulate, text};
use serde_json::Value;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether the page is built; tests that need it are skipped where npm was never called.
fn has_page() -> bool {
    let built = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../linkwork-view/page/index.html")
        .exists();
    if !built {
        println!("skipped: `cargo xtask test` builds the viewer's page");
    }
    built
}

/// The scene inside an exported file.
fn scene(file: &Path) -> Value {
    let page = std::fs::read_to_string(file).expect("it is written");
    let start = "<script type=\"application/json\" id=\"scene\">";
    let inner = page
        .split_once(start)
        .and_then(|(_, rest)| rest.split_once("</script>"));
    serde_json::from_str(inner.expect("it holds a scene").0).expect("the scene is JSON")
}

#[test]
fn logs_of_every_format_play_the_same_motion() {
    let here = directory("view_logs");
    let logs = ["csv", "npz", "parquet", "mcap"].map(|end| format!("run.{end}"));
    let mut run = vec!["quadruped", "--random", "4", "--seconds", "0.3"];
    run.extend(logs.iter().flat_map(|log| ["--log", log]));
    simulate(&here, &run);
    if !has_page() {
        return;
    }
    let mut films = Vec::new();
    for log in &logs {
        let out = format!("{log}.html");
        let output = linkwork(&here, &["view", "quadruped", "--play", log, "--export", &out]);
        assert!(output.status.success(), "{log}: {}", text(&output.stderr));
        films.push(scene(&here.join(out)));
    }
    // The log that knows its robot needs no other.
    let output = linkwork(&here, &["view", "run.mcap", "--export", "own.html"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    films.push(scene(&here.join("own.html")));
    assert_eq!(films[0]["motion"]["frames"], 19);
    assert_eq!(films[0]["links"].as_array().map(Vec::len), Some(13));
    assert!(
        films.iter().all(|film| film["motion"] == films[0]["motion"]),
        "bit by bit"
    );
}

#[test]
fn a_log_that_does_not_fit_is_refused_with_the_first_difference() {
    let here = directory("view_misfits");
    let run = [
        "arm7",
        "--seconds",
        "0.02",
        "--log",
        "arm.csv",
        "--log",
        "arm.npz",
        "--log",
        "arm.parquet",
        "--log",
        "arm.mcap",
    ];
    simulate(&here, &run);
    std::fs::write(here.join("short.csv"), "t,q.a\n0,1\n0.1\n").unwrap();
    std::fs::write(here.join("broken.mcap"), "MCAP?").unwrap();
    std::fs::write(here.join("broken.npz"), "PK").unwrap();
    std::fs::write(here.join("broken.parquet"), "PAR1\u{1}\u{1}\u{1}\u{1}PAR1").unwrap();
    let arm = std::fs::read(here.join("arm.parquet")).unwrap();
    std::fs::write(here.join("cut.parquet"), [&arm[..arm.len() / 2], b"PAR1"].concat()).unwrap();
    let mut back = std::fs::read_to_string(here.join("arm.csv")).unwrap();
    let first = back.lines().nth(1).unwrap().to_owned();
    back += &first;
    std::fs::write(here.join("back.csv"), back).unwrap();
    for (words, expected) in [
        (&["scara", "--play", "arm.csv"][..], "columns of q"),
        (&["scara", "--play", "arm.mcap"], "does not fit `scara`"),
        (&["quadruped", "--play", "arm.npz"], "columns of q"),
        (&["arm7", "--play", "short.csv"], "line 3 is too short"),
        (&["arm7", "--play", "back.csv"], "goes back"),
        (&["arm7", "--play", "broken.mcap"], "cannot be read"),
        (&["arm7", "--play", "broken.npz"], "is not an archive"),
        (&["arm7", "--play", "broken.parquet"], "description"),
        (&["arm7", "--play", "cut.parquet"], "`cut.parquet`"),
        (&["arm7", "--play", "gone.csv"], "cannot read `gone.csv`"),
        (&["arm7", "--play", "arm.txt"], "is not a log"),
        (&["arm.csv"], "does not tell which robot"),
    ] {
        let output = linkwork(&here, &[&["view"], words, &["--export", "x.html"]].concat());
        let message = text(&output.stderr);
        assert!(
            !output.status.success() && message.contains(expected),
            "{words:?}: {message}"
        );
        assert!(message.contains("hint") || message.contains("because"), "{message}");
        assert!(!message.contains("panicked"), "{message}");
    }
}

#[test]
fn wrong_usage_says_what_to_do() {
    for (words, expected) in [
        (&["arm7", "--export", "robot.pdf"][..], "ends in .html"),
        (&["arm7", "--snapshot", "robot.jpg"], "ends in .png"),
        (&["arm7", "--video", "robot.avi"], ".mp4, .webm, .gif"),
        (&["arm7", "--export", "nowhere/robot.html"], "there is no directory"),
        (&["arm7", "--snapshot", "a.png", "--size", "10"], "1280x720"),
        (&["arm7", "--at", "1"], "--snapshot"),
        (&["arm7", "--layers", "bones"], "the layers are"),
        (&["arm7", "-c", "gravity"], "add --simulate"),
        (&["nobody"], "built-in robots"),
        (&["arm7", "--play", "a.csv", "--simulate"], "cannot be used with"),
        (
            &["arm7", "--listen", "203.0.113.7", "--no-open"],
            "not an address of this machine",
        ),
    ] {
        let (code, message) = complaint(&[&["view"], words].concat());
        assert_eq!(code, 2, "{words:?}: {message}");
        assert!(message.contains(expected), "{words:?}: {message}");
    }
    let (code, message) = complaint(&["simulate", "arm7", "--view", "--log", "a.csv"]);
    assert!(code == 2 && message.contains("cannot be used with"), "{message}");
}

/// A link that turns, with a mesh, and another that follows it.
fn gripper(mesh: &str) -> String {
    let link = |name: &str, inner: &str| {
        format!(
            "<link name=\"{name}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>{inner}</link>"
        )
    };
    let joint = |name: &str, child: &str, inner: &str| {
        format!(
            "<joint name=\"{name}\" type=\"continuous\"><parent link=\"palm\"/><child link=\"{child}\"/><axis xyz=\"0 1 0\"/>{inner}</joint>"
        )
    };
    let seen = format!("<visual><geometry><mesh filename=\"{mesh}\"/></geometry></visual>");
    [
        "<robot name=\"gripper\"><link name=\"palm\"/>",
        &link("a", &seen),
        &link("b", ""),
        &joint("lead", "a", ""),
        &joint("follow", "b", "<mimic joint=\"lead\" multiplier=\"-0.5\"/>"),
        "</robot>",
    ]
    .concat()
}

#[test]
fn times_and_layers_that_are_not_there_are_told() {
    let here = directory("view_not_there");
    std::fs::write(here.join("gripper.urdf"), gripper("gone.stl")).unwrap();
    simulate(&here, &["pendulum", "--seconds", "0.5", "--log", "run.csv"]);
    let log = ["pendulum", "--play", "run.csv", "--snapshot", "a.png"];
    for (words, expected) in [
        (&[&log[..], &["--at", "2"]].concat()[..], "from 0 s to 0.5 s"),
        (&[&log[..], &["--at", "-1"]].concat(), "from 0 s to 0.5 s"),
        (&[&log[..], &["--at", "nan"]].concat(), "from 0 s to 0.5 s"),
        (&["pendulum", "--snapshot", "a.png", "--at", "1"], "nothing moves"),
        (
            &["gripper.urdf", "--layers", "com,articulated"],
            "`articulated` is not defined for `gripper`",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_linkwork"))
            .arg("view")
            .args(words)
            // Any file: it is not come to.
            .env("LINKWORK_BROWSER", env!("CARGO_BIN_EXE_linkwork"))
            .env("NO_COLOR", "1")
            .current_dir(&here)
            .output()
            .expect("it runs");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert!(message.contains(expected), "{words:?}: {message}");
    }
}

#[test]
fn a_file_holds_the_inertias_of_links_and_the_layers_to_show() {
    if !has_page() {
        return;
    }
    let here = directory("view_inertias");
    // Three slashes are one too many, and meant all the same.
    let name = here.file_name().and_then(|n| n.to_str()).expect("a name");
    std::fs::write(here.join("gripper.urdf"), gripper(&format!("package:///{name}/a.obj"))).unwrap();
    std::fs::write(here.join("a.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let made = |words: &[&str]| {
        let output = linkwork(&here, &[&["view"], words, &["--export", "x.html"]].concat());
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        scene(&here.join("x.html"))
    };
    let arm = made(&["arm7", "--simulate", "--seconds", "0.1", "--layers", "com,articulated"]);
    assert_eq!(arm["layers"], serde_json::json!(["com", "articulated"]));
    // Ten numbers of four bytes for each of 8 links in each of 7 frames, in base64.
    let long = |film: &Value, name: &str| film["motion"][name].as_str().map(str::len);
    let expected = Some((8 * 7 * 40_usize).div_ceil(3) * 4);
    assert_eq!(
        (long(&arm, "articulated"), long(&arm, "operational")),
        (expected, expected)
    );
    let gripper = made(&["gripper.urdf"]);
    assert_eq!(gripper["meshes"][0]["file"], 0, "{}", gripper["meshes"]);
    assert_eq!(long(&gripper, "articulated"), None, "joints follow others");
    assert_eq!(long(&gripper, "operational"), Some((3 * 40_usize).div_ceil(3) * 4));
}

#[test]
fn a_port_in_use_and_a_browser_that_is_not_there_are_told() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("its number").port().to_string();
    let (code, message) = complaint(&["view", "arm7", "--no-open", "--port", &port]);
    assert_eq!(code, 1);
    assert!(message.contains("is in use") && message.contains("--port"), "{message}");
    let output = Command::new(env!("CARGO_BIN_EXE_linkwork"))
        .args(["view", "arm7", "--snapshot", "a.png"])
        .env("LINKWORK_BROWSER", "/nowhere/chromium")
        .env("NO_COLOR", "1")
        .current_dir(directory("view_browser"))
        .output()
        .expect("it runs");
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        message.contains("LINKWORK_BROWSER") && message.contains("--export needs no browser"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn it_serves_on_loopback_until_ctrl_c() {
    use std::io::{BufRead, BufReader};
    if !has_page() {
        return;
    }
    for words in [&["view", "arm7", "--no-open"][..], &["simulate", "arm7", "--view"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_linkwork"))
            .args(words)
            .env("NO_COLOR", "1")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        output.read_line(&mut line).expect("an address");
        assert!(line.starts_with("arm7 is shown at http://127.0.0.1:"), "{line}");
        let token = line.trim().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        assert!(token.len() >= 24, "{line}");
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.expect("kill is there").success());
        assert!(child.wait().expect("it ends").success());
    }
}

/// Readers of other makers find joints, poses and the robot in a log.
#[test]
fn readers_of_mcap_find_the_robot_and_its_joints() {
    let here = directory("view_mcap");
    let robot = r#"<robot name="gripper"><link name="palm"/>
      <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><geometry><mesh filename="a.stl"/></geometry></visual></link>
      <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="lead" type="revolute"><parent link="palm"/><child link="a"/><axis xyz="0 1 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
      <joint name="follow" type="revolute"><parent link="palm"/><child link="b"/><axis xyz="0 1 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/><mimic joint="lead" multiplier="-0.5" offset="0.25"/></joint>
    </robot>"#;
    std::fs::write(here.join("gripper.urdf"), robot).unwrap();
    std::fs::write(here.join("a.stl"), "solid a\nendsolid a\n").unwrap();
    simulate(
        &here,
        &[
            "gripper.urdf",
            "--q",
            "0.5",
            "--v",
            "1",
            "--seconds",
            "0.1",
            "--log",
            "run.mcap",
            "--log",
            "run.csv",
        ],
    );
    let script = r#"
import csv, pathlib, xml.etree.ElementTree as xml
rows = [[float(x) for x in row] for row in list(csv.reader(open("run.csv")))[1:]]

from mcap_ros2.reader import read_ros2_messages
joints = [m for m in read_ros2_messages("run.mcap", topics=["/joint_states"])]
assert len(joints) == len(rows) == 11
for message, row in zip(joints, rows):
    j, (t, q, v, tau) = message.ros_msg, row[:4]
    assert list(j.name) == ["lead", "follow"]
    assert abs(j.header.stamp.sec + 1e-9 * j.header.stamp.nanosec - t) < 1e-9
    assert list(j.position) == [q, 0.25 - 0.5 * q] and list(j.velocity) == [v, -0.5 * v] and list(j.effort) == [tau, 0]

from mcap.reader import make_reader
with open("run.mcap", "rb") as file:
    reader = make_reader(file)
    summary = reader.get_summary()
    channels = {c.topic: c for c in summary.channels.values()}
    assert "durability: 1" in channels["/robot_description"].metadata["offered_qos_profiles"]
    [attachment] = list(reader.iter_attachments())
    assert attachment.name == "robot.json" and b"gripper" in attachment.data

from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore
store = get_typestore(Stores.ROS2_HUMBLE)
with Reader(pathlib.Path("run.mcap")) as reader:
    topics = {c.topic: c for c in reader.connections}
    [qos] = topics["/robot_description"].ext.offered_qos_profiles
    assert qos.durability.name == "TRANSIENT_LOCAL", qos
    read = lambda topic: [store.deserialize_cdr(raw, c.msgtype) for c, _, raw in reader.messages([topics[topic]])]
    assert [j.position[0] for j in read("/joint_states")] == [row[1] for row in rows]
    assert {t.child_frame_id for m in read("/tf") for t in m.transforms} == {"palm", "a", "b"}
    [description] = read("/robot_description")
root = xml.fromstring(description.data)
assert root.tag == "robot" and {j.get("name") for j in root.iter("joint")} >= {"lead", "follow"}
mesh = next(root.iter("mesh")).get("filename")
assert mesh.startswith("file:///") and pathlib.Path(mesh[7:]).exists(), mesh
"#;
    run_in_python(&here, script);
}

const TABLE: &str = r#"<mujoco model="table"><worldbody>
  <geom name="floor" type="plane" size="0 0 0.05" rgba="0.8 0.85 0.9 1"/>
  <geom name="table" type="box" size="0.4 0.3 0.02" pos="0.6 0 0.4"/>
  <body name="cube" pos="0.5 0.1 0.46"><freejoint/><geom type="box" size="0.04 0.04 0.04" mass="0.5"/></body>
  <body name="ball" pos="0.75 0.05 0.47"><freejoint/><geom type="sphere" size="0.05" mass="0.4"/></body>
</worldbody></mujoco>"#;

#[test]
fn readers_of_mcap_find_contacts_and_surroundings() {
    let here = directory("view_mcap_contacts");
    std::fs::write(here.join("table.xml"), TABLE).unwrap();
    let run = [
        "table.xml",
        "--seconds",
        "0.2",
        "--log",
        "run.mcap",
        "--contact-log",
        "touch.csv",
    ];
    simulate(&here, &run);
    let script = r#"
import csv, pathlib, numpy
listed = list(csv.DictReader(open("touch.csv")))

from mcap_ros2.reader import read_ros2_messages
def all_of(topic):
    return [m.ros_msg for m in read_ros2_messages("run.mcap", topics=[topic])]
arrows, clouds, [scene] = all_of("/contacts"), all_of("/contact_points"), all_of("/scene")
assert len(arrows) == len(clouds) == 21, len(arrows)

from mcap.reader import make_reader
with open("run.mcap", "rb") as file:
    channels = {c.topic: c for c in make_reader(file).get_summary().channels.values()}
scale = float(channels["/contacts"].metadata["metres_per_newton"])
assert "durability: 1" in channels["/scene"].metadata["offered_qos_profiles"]

for drawn, cloud in zip(arrows, clouds):
    clear, *drawn = drawn.markers
    assert clear.action == 3 and all(m.action == 0 and m.type == 0 and m.header.frame_id == "world" for m in drawn)
    assert cloud.width == len(drawn) and [f.name for f in cloud.fields] == ["x", "y", "z", "fx", "fy", "fz", "gap"]
    points = numpy.frombuffer(bytes(cloud.data), "<f4").reshape(-1, 7)
    for marker, point in zip(drawn, points):
        a, b = [numpy.array([p.x, p.y, p.z]) for p in marker.points]
        assert abs(a - point[:3]).max() < 1e-6 and abs((b - a) / scale - point[3:6]).max() < 1e-4
# The contacts of the last step are those of the file beside it, and bear what stands on the table.
last = [r for r in listed if abs(float(r["t"]) - 0.199) < 1e-9]
forces = numpy.array([[float(r[k]) for k in ("fx", "fy", "fz")] for r in last])
assert abs(points[:, 3:6] - forces).max() < 1e-4 and abs(forces[:, 2].sum() - 0.9 * 9.81) < 0.2, forces
assert {r["a"] for r in last} == {'box of cube', 'sphere of ball'} and {r["b"] for r in last} == {"table"}, last
# The description cannot say what stands in the world.
assert [m.type for m in scene.markers][:2] == [1, 1] and all(m.frame_locked for m in scene.markers)
assert {m.header.frame_id for m in scene.markers} == {"world"}, [m.header.frame_id for m in scene.markers]
table = scene.markers[1]
assert [table.scale.x, table.scale.y, table.scale.z] == [0.8, 0.6, 0.04] and table.pose.position.z == 0.4

from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore
store = get_typestore(Stores.ROS2_HUMBLE)
with Reader(pathlib.Path("run.mcap")) as reader:
    topics = {c.topic: c for c in reader.connections}
    read = lambda topic: [store.deserialize_cdr(raw, c.msgtype) for c, _, raw in reader.messages([topics[topic]])]
    assert [len(m.markers) for m in read("/contacts")] == [len(m.markers) for m in arrows]
    assert [m.width for m in read("/contact_points")] == [c.width for c in clouds]
    [again] = read("/scene")
    assert again.markers[1].scale.x == 0.8 and again.markers[0].mesh_use_embedded_materials
    assert {t.child_frame_id for m in read("/tf") for t in m.transforms} == {"cube", "ball"}
"#;
    run_in_python(&here, script);
}

#[test]
fn contacts_without_a_log_or_of_another_make_are_refused() {
    let here = directory("view_contacts");
    std::fs::write(here.join("table.xml"), TABLE).unwrap();
    std::fs::write(here.join("odd.csv"), "t,x\n0,1\n").unwrap();
    simulate(&here, &["table.xml", "--seconds", "0.02", "--log", "run.csv"]);
    for (words, expected) in [
        (&["table.xml", "--contacts", "odd.csv"][..], "no log to play"),
        (
            &["table.xml", "--play", "run.csv", "--contacts", "odd.csv"],
            "no column `y`",
        ),
        (
            &["table.xml", "--play", "run.csv", "--contacts", "gone.csv"],
            "cannot read `gone.csv`",
        ),
        (&["arm7", "--ground"], "no collision shapes"),
        (&["table.xml", "--ground", "--no-contact"], "cannot be used with"),
    ] {
        let output = linkwork(&here, &[&["view"], words, &["--export", "x.html"]].concat());
        let message = text(&output.stderr);
        assert!(
            !output.status.success() && message.contains(expected),
            "{words:?}: {message}"
        );
        assert!(!message.contains("panicked"), "{message}");
    }
}
