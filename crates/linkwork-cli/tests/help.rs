//! Every example in the help and in the README runs.
#![cfg(unix)]

mod program_support;

use program_support::{directory, linkwork, text};
use std::path::Path;
use std::process::Command;

/// Commands whose help has examples.
fn commands(here: &Path) -> Vec<String> {
    let help = text(&linkwork(here, &["--help"]).stdout);
    let list = help.split("Commands:\n").nth(1).expect("a list of commands");
    let names = list.lines().take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The examples of a help page, without the words beside them.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
    let examples = lines.filter(|line| line.starts_with("linkwork "));
    examples
        .map(|line| line.split("   ").next().unwrap_or(line).trim().to_owned())
        .collect()
}

/// The lines of the README's shell blocks that run the program.
fn readme() -> Vec<String> {
    let text = include_str!("../../../README.md");
    let mut lines = Vec::new();
    for block in text.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        for line in block.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let line = line.replace("cargo run --release -- ", "linkwork ");
            if line.starts_with("linkwork ") {
                lines.push(line);
            }
        }
    }
    lines
}

const URDF: &str = r#"<robot name="robot">
  <link name="base"><inertial><mass value="5"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0 0.2"/><mass value="1"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
</robot>
"#;

const MJCF: &str = r#"<mujoco model="arm"><worldbody><body name="arm"><joint name="shoulder" type="hinge" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.03"/></body></worldbody>
  <actuator><position name="shoulder" joint="shoulder" kp="20" kv="4"/></actuator>
  <keyframe><key name="home" qpos="0.5" ctrl="0.5"/></keyframe></mujoco>
"#;

const SCENE: &str = r#"<mujoco model="scene"><worldbody><geom name="floor" type="plane" size="2 2 0.1"/>
  <body name="upper" pos="0 0 0.5"><joint name="shoulder" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
  <body name="lower" pos="0.3 0 0"><joint name="elbow" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.25 0 0" size="0.03"/>
  <body name="hand" pos="0.3 0 0"><geom type="sphere" size="0.03"/></body></body></body></worldbody></mujoco>
"#;

const TEXT_MODEL: &str = "1\nRZ 0 1 0 0 0 1 0 0 0 1 0 0 0.5 2 0.1 0 0 0.1 0 0 0 0.1 0 0 0 0.1 0 0 0\n";

/// Runs a line as a shell does, where the files that examples speak of are.
fn run(here: &Path, line: &str) {
    // Pages in the browser go on until someone ends them, and have tests of their own.
    if line.starts_with("linkwork view") || line.contains("--view") {
        return;
    }
    // Rough times will do.
    let line = match line.strip_prefix("linkwork bench") {
        Some(rest) => format!("linkwork bench --quick{rest}"),
        None => line.to_owned(),
    };
    let program = Path::new(env!("CARGO_BIN_EXE_linkwork"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<_> = program.parent().map(Path::to_path_buf).into_iter().collect();
    places.extend(std::env::split_paths(&path));
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(here)
        .env("PATH", std::env::join_paths(places).expect("paths without colons"))
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the shell starts");
    assert!(output.status.success(), "`{line}`: {}", text(&output.stderr));
}

/// A directory with the files that examples speak of.
fn prepared(test: &str) -> std::path::PathBuf {
    let here = directory(test);
    let mut states = String::new();
    for i in 0..10 {
        states += &format!("{{\"q\": [0.1, 0.2, 0.3, {i}e-1, 0, 0.5, 0], \"tau\": [1, 2, 3, 4, 5, 6, 7]}}\n");
    }
    for (name, text) in [
        ("robot.urdf", URDF),
        ("robot.urdf.xacro", URDF),
        ("arm.urdf.xacro", URDF),
        ("arm.xml", MJCF),
        ("scene.xml", SCENE),
        ("robot.txt", TEXT_MODEL),
        ("states.jsonl", &states),
        ("state.json", "{\"q\": [0.4], \"v\": [0]}"),
    ] {
        std::fs::write(here.join(name), text).expect("a file can be written");
    }
    for package in ["arm", "path/to/it"] {
        std::fs::create_dir_all(here.join(package)).expect("a directory can be made");
    }
    here
}

#[test]
fn every_example_of_the_help_runs() {
    let here = prepared("help_examples");
    let mut pages = vec![text(&linkwork(&here, &["--help"]).stdout)];
    let commands = commands(&here);
    for known in ["simulate", "eval", "cost", "bench", "demo", "info", "check"] {
        assert!(commands.iter().any(|c| c == known), "{known} is missing");
    }
    for command in &commands {
        let page = text(&linkwork(&here, &[command, "--help"]).stdout);
        assert!(!examples(&page).is_empty(), "the help of {command} has no examples");
        pages.push(page);
    }
    let mut lines: Vec<String> = pages.iter().flat_map(|page| examples(page)).collect();
    lines.sort();
    lines.dedup();
    lines.iter().for_each(|line| run(&here, line));
}

#[test]
fn every_command_of_the_readme_runs() {
    let here = prepared("help_readme");
    let lines = readme();
    assert!(lines.len() >= 2, "{lines:?}");
    lines.iter().for_each(|line| run(&here, line));
}

#[test]
fn completions_and_manual_name_every_command() {
    let here = directory("help_manual");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = text(&linkwork(&here, &["completions", shell]).stdout);
        for command in commands(&here) {
            assert!(script.contains(&command), "{shell}: {command}");
        }
    }
    let page = text(&linkwork(&here, &["man"]).stdout);
    assert!(page.contains(".TH linkwork 1"), "{page}");
    assert!(linkwork(&here, &["man", "--out", "man"]).status.success());
    for command in commands(&here) {
        let page = std::fs::read_to_string(here.join(format!("man/linkwork-{command}.1"))).expect("a page");
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
}
