//! What others write is left alone, what is read is not written over, and inputs without end have an end.

use crate::program_support::{complaint, directory, linkwork, run_in_python, text};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const FORMATS: [&str; 4] = ["csv", "npz", "parquet", "mcap"];

fn short<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [
        &["simulate", "double_pendulum", "--q", "1,0.5", "--seconds", "0.1"],
        more,
    ]
    .concat()
}

/// The exit code and what was said.
fn said(here: &Path, arguments: &[&str]) -> (i32, String) {
    let Output { status, stderr, .. } = linkwork(here, arguments);
    let message = text(&stderr);
    assert!(!message.contains("panicked"), "{arguments:?}: {message}");
    (status.code().expect("no signal"), message)
}

#[test]
fn two_runs_do_not_write_one_log() {
    let here = directory("two_runs");
    let logs = FORMATS
        .iter()
        .flat_map(|end| ["--log".to_owned(), format!("run.{end}")]);
    let first = Command::new(env!("CARGO_BIN_EXE_linkwork"))
        .args(["simulate", "double_pendulum", "--q", "1,0.5", "--seconds", "80000"])
        .args(logs)
        .current_dir(&here)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    std::thread::sleep(Duration::from_millis(700));
    for end in FORMATS {
        let (code, message) = said(&here, &short(&["--log", &format!("run.{end}")]));
        assert!(code == 1 && message.contains("another run"), "{end}: {message}");
    }
    let stopped = Command::new("kill").args(["-TERM", &first.id().to_string()]).status();
    assert!(stopped.expect("kill is there").success());
    assert_eq!(first.wait_with_output().expect("it ends").status.code(), Some(130));
    // The first one's logs are whole, and end with its last state.
    let text = std::fs::read_to_string(here.join("run.csv")).expect("a log");
    let wide = text.lines().next().expect("a head").split(',').count();
    assert!(text.lines().all(|line| line.split(',').count() == wide));
    run_in_python(
        &here,
        r#"
import numpy, pyarrow.parquet
from mcap.reader import make_reader
rows = sum(1 for line in open("run.csv")) - 1
assert len(numpy.load("run.npz")["t"]) == rows
assert pyarrow.parquet.read_table("run.parquet").num_rows == rows
with open("run.mcap", "rb") as f:
    assert sum(1 for _ in make_reader(f).iter_messages(topics=["/state"])) == rows
"#,
    );
    let left: Vec<_> = std::fs::read_dir(&here).expect("a directory").collect();
    assert_eq!(left.len(), FORMATS.len(), "{left:?}");
}

#[test]
fn what_a_killed_run_left_stays_until_another_begins() {
    let here = directory("left");
    std::fs::write(here.join("run.csv.part"), "left").expect("it is written");
    let (code, _) = said(&here, &["simulate", "no_such_robot", "--log", "run.csv"]);
    assert_eq!(code, 2);
    let left = || std::fs::read_to_string(here.join("run.csv.part"));
    assert_eq!(left().expect("it is there"), "left");
    assert_eq!(said(&here, &short(&["--log", "run.csv"])).0, 0);
    assert!(left().is_err() && here.join("run.csv").exists());
}

#[test]
fn what_is_read_is_not_written_over() {
    let here = directory("written_over");
    let (code, message) = said(
        &here,
        &[
            "plan",
            "double_pendulum",
            "--to",
            "1,0",
            "--seconds",
            "1",
            "--out",
            "plan.csv",
        ],
    );
    assert_eq!(code, 0, "{message}");
    std::fs::write(here.join("torques.csv"), "0,1,2\n1,1,2\n").expect("it is written");
    std::fs::write(here.join("start.csv"), "{\"q\": [1, 0]}").expect("it is written");
    std::os::unix::fs::symlink("plan.csv", here.join("link.csv")).expect("a link");
    for (input, arguments) in [
        ("plan.csv", &["-c", "track:plan.csv", "--log", "plan.csv"][..]),
        ("plan.csv", &["-c", "track:plan.csv", "--log", "./plan.csv"]),
        ("plan.csv", &["-c", "track:plan.csv", "--log", "link.csv"]),
        (
            "torques.csv",
            &["-c", "file", "--torques", "torques.csv", "--log", "torques.csv"],
        ),
        (
            "start.csv",
            &["--start", "start.csv", "--log", "../written_over/start.csv"],
        ),
    ] {
        let before = std::fs::read(here.join(input)).expect("it is there");
        let all = [&["simulate", "double_pendulum", "--seconds", "0.1"], arguments].concat();
        let (code, message) = said(&here, &all);
        assert!(
            code == 2 && message.contains("would be written over"),
            "{all:?}: {message}"
        );
        assert_eq!(std::fs::read(here.join(input)).expect("it is there"), before);
    }
    for twice in [
        ["--log", "a.csv", "--log", "./a.csv"],
        ["--log", "b.csv", "--plot", "b.csv"],
    ] {
        let (code, message) = said(&here, &short(&twice));
        assert!(code == 2, "{twice:?}: {message}");
    }
}

#[test]
fn a_log_goes_where_a_link_leads() {
    let here = directory("links");
    std::fs::create_dir(here.join("far")).expect("a directory");
    for end in FORMATS {
        let (link, target) = (format!("run.{end}"), format!("far/run.{end}"));
        std::os::unix::fs::symlink(&target, here.join(&link)).expect("a link");
        for _ in 0..2 {
            let (code, message) = said(&here, &short(&["--log", &link]));
            assert_eq!(code, 0, "{end}: {message}");
            assert!(here.join(&link).is_symlink() && here.join(&target).is_file(), "{end}");
        }
    }
    let left = std::fs::read_dir(here.join("far")).expect("a directory").count();
    assert_eq!(left, FORMATS.len());
}

/// In two gigabytes of memory, half of which the program itself may ask for.
#[test]
fn inputs_without_end_are_refused() {
    let here = directory("endless");
    for end in ["csv", "npz", "parquet", "mcap", "json", "txt"] {
        std::os::unix::fs::symlink("/dev/zero", here.join(format!("zero.{end}"))).expect("a link");
    }
    for arguments in [
        "sweep arm7 bias --states /dev/zero --out sweep",
        "ik arm7 --targets zero.json",
        "simulate arm7 -c track:zero.csv",
        "simulate arm7 -c track:zero.json",
        "simulate arm7 -c file --torques zero.csv",
        "simulate arm7 --start zero.json",
        "view arm7 --play zero.csv --export page.html",
        "view arm7 --play zero.npz --export page.html",
        "view arm7 --play zero.parquet --export page.html",
        "view zero.mcap --export page.html",
        "info zero.txt",
        "info - < /dev/zero",
    ] {
        let script = format!("ulimit -v 4000000; {} {arguments}", env!("CARGO_BIN_EXE_linkwork"));
        let output = Command::new("sh").args(["-c", &script]).current_dir(&here).output();
        let output = output.expect("a shell");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {message}");
        let told = ["holds more than", "is longer than", "more than a gigabyte"];
        assert!(
            told.iter().any(|words| message.contains(words)),
            "{arguments}: {message}"
        );
    }
}

#[test]
fn what_would_not_end_or_not_fit_is_refused() {
    let here = directory("too_much");
    for (arguments, told) in [
        (&["simulate", "arm7", "--dt", "1e-300"][..], "steps of 1e-300 s"),
        (
            &["sweep", "arm7", "bias", "--random", "99999999999999", "--out", "a"],
            "chunks",
        ),
        (
            &[
                "sweep",
                "arm7",
                "--rollout",
                "1000000000000",
                "--random",
                "10",
                "--out",
                "b",
            ],
            "numbers",
        ),
        (
            &["ik", "arm7", "--frame", "flange", "--position", "1e200,0,0"],
            "1e200 m away",
        ),
        (&["simulate", "quadruped", "-c", "adaptive"], "no motor drives `float`"),
        (
            &["simulate", "arm7", "--seconds", "0.1", "--contact-log", "c.csv"],
            "nothing can touch",
        ),
    ] {
        let (code, message) = said(&here, arguments);
        assert!(code != 0 && message.contains(told), "{arguments:?}: {message}");
    }
    let link = |i: usize| {
        format!(
            "<link name=\"l{i}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>"
        )
    };
    let joint = |i: usize| {
        format!(
            "<joint name=\"j{i}\" type=\"continuous\"><parent link=\"l{}\"/><child link=\"l{i}\"/></joint>",
            i - 1
        )
    };
    let parts: String = (1..=600).map(|i| link(i) + &joint(i)).collect();
    std::fs::write(
        here.join("chain.urdf"),
        format!("<robot name=\"c\">{}{parts}</robot>", link(0)),
    )
    .expect("written");
    let (code, message) = said(&here, &["explain", "chain.urdf"]);
    assert!(code != 0 && message.contains("500 links"), "{message}");
}

#[test]
fn results_that_cannot_be_printed_are_errors_and_no_panics() {
    let here = directory("full_output");
    for arguments in ["sweep arm7 bias --random 10 --out sweep", "info arm7"] {
        let script = format!("{} {arguments} > /dev/full", env!("CARGO_BIN_EXE_linkwork"));
        let output = Command::new("sh").args(["-c", &script]).current_dir(&here).output();
        let output = output.expect("a shell");
        assert_eq!(output.status.code(), Some(1), "{arguments}: {}", text(&output.stderr));
    }
}

#[test]
fn names_with_line_breaks_are_read_back() {
    let here = directory("names");
    let robot = "<robot name=\"r\"><link name=\"base\"/><link name=\"arm\"><inertial><origin xyz=\"0.1 0 0\"/><mass value=\"1\"/>\
        <inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\
        <joint name=\"a,&quot;b&quot;&#10;c\" type=\"continuous\"><parent link=\"base\"/><child link=\"arm\"/></joint></robot>";
    std::fs::write(here.join("r.urdf"), robot).expect("it is written");
    for arguments in [
        &["plan", "r.urdf", "--to", "0.5", "--seconds", "1", "--out", "plan.csv"][..],
        &[
            "simulate",
            "r.urdf",
            "-c",
            "track:plan.csv",
            "--seconds",
            "1",
            "--log",
            "run.csv",
        ],
    ] {
        let (code, message) = said(&here, arguments);
        assert_eq!(code, 0, "{arguments:?}: {message}");
    }
}

#[test]
fn contacts_are_whole_or_told_to_be_lost() {
    let here = directory("contacts");
    let scene = "<mujoco><worldbody><geom name=\"a,b\" type=\"plane\" size=\"1 1 1\"/><body pos=\"0 0 0.1\"><freejoint/>\
        <geom name=\"box\" type=\"box\" size=\"0.1 0.1 0.1\" mass=\"2\"/></body></worldbody></mujoco>";
    std::fs::write(here.join("box.xml"), scene).expect("it is written");
    let run = ["simulate", "box.xml", "--seconds", "0.2", "--contact-log", "touch.csv"];
    let (code, message) = said(&here, &run);
    assert_eq!(code, 0, "{message}");
    let listed = std::fs::read_to_string(here.join("touch.csv")).expect("contacts");
    assert!(
        listed.contains("\"a,b\"") && !here.join("touch.csv.part").exists(),
        "{listed}"
    );
    let full = ["simulate", "box.xml", "--seconds", "20", "--contact-log", "/dev/full"];
    let (code, message) = said(&here, &full);
    assert!(code == 1 && message.contains("cannot write the contacts"), "{message}");
    assert_eq!(complaint(&["simulate", "arm7", "--dt", "1e-300"]).0, 2);
}

#[test]
fn a_robot_that_cannot_start_at_zero_starts_at_home() {
    let here = directory("home");
    let robot = "<mujoco><compiler angle=\"radian\"/><worldbody><body><joint name=\"j\" axis=\"0 1 0\" range=\"0.5 1.5\" limited=\"true\"/>\
        <geom size=\"0.1\" pos=\"0 0 -1\"/></body></worldbody>\
        <keyframe><key name=\"beyond\" qpos=\"2\"/><key name=\"rest\" qpos=\"0.6\"/><key name=\"home\" qpos=\"0.9\"/></keyframe></mujoco>";
    std::fs::write(here.join("key.xml"), robot).expect("it is written");
    let output = linkwork(&here, &["simulate", "key.xml", "--seconds", "1e-6", "--json"]);
    let said = text(&output.stderr);
    assert!(said.contains("starts at the keyframe `home`"), "{said}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a JSON summary");
    let q = summary["end"]["q"][0].as_f64().expect("a number");
    assert!((q - 0.9).abs() < 1e-6, "{q}");
}
