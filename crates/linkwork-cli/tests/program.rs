//! The program as users run it.

mod program_support;

use program_support::{complaint, directory, linkwork, text};
use serde_json::Value;
use std::path::Path;

/// A link that swings about an axis, then one that slides.
const MODEL: &str = "2
JointModelRUBZ 0 1 0 0 0 1 0 0 0 1 0 0 0.5 2 0.1 0 0 0.1 0 0 0 0.1 0 0 0 0.1 0 0 0
JointModelPrismaticUnaligned 1 1 0 0 0 1 0 0 0 1 0 0 0.5 2 0.1 0 0 0.1 0 0 0 0.1 0 0 0 0.1 0.6 0 0.8
";

#[test]
fn the_demonstration_reports_and_draws() {
    let here = directory("demo");
    let output = linkwork(&here, &["demo", "--seconds", "0.5"]);
    let report = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(report.starts_with("puma560, 6 degrees of freedom"));
    assert!(
        report.contains("𝓜 𝓜⁻¹ = I") && report.contains("energy drift"),
        "{report}"
    );
    assert!(!report.contains('✗') && !report.contains('\u{1b}'), "{report}");
    let picture = std::fs::read_to_string(here.join("linkwork-demo.svg")).expect("the plot is written");
    assert_is_svg(&picture);
    for word in [
        "joint1",
        "kinetic",
        "potential",
        "total",
        "time (s)",
        "energy (J)",
        "joint position (rad)",
    ] {
        assert!(picture.contains(word), "{word} is missing from the plot");
    }
}

/// Every element is closed, in order, and there is one root.
fn assert_is_svg(picture: &str) {
    assert!(picture.starts_with("<svg ") && picture.trim_end().ends_with("</svg>"));
    let mut open: Vec<&str> = Vec::new();
    for tag in picture.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("every tag ends");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name.trim()));
        } else if !tag.ends_with('/') {
            open.extend(tag.split_whitespace().next());
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

#[test]
fn every_built_in_robot_obeys_the_laws() {
    let here = directory("every");
    for (robot, _) in linkwork::model::examples::all() {
        let output = linkwork(
            &here,
            &[
                "demo",
                "--robot",
                robot,
                "--seconds",
                "0.2",
                "--json",
                "--out",
                "plot.svg",
            ],
        );
        let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
        assert!(output.status.success(), "{robot}: {report}");
        assert!(output.stderr.is_empty());
        assert_eq!(report["robot"], robot);
        assert_eq!(report["steps"], 200);
        let laws = report["laws"].as_array().expect("a list of laws");
        assert!(laws.len() >= 9);
        for law in laws {
            assert_eq!(law["holds"], true, "{robot}: {law}");
            assert!(law["residual"].as_f64().expect("a number") <= 1e-12, "{robot}: {law}");
        }
        assert!(
            report["energy"]["relative_drift"].as_f64().expect("a number") < 1e-6,
            "{robot}"
        );
        assert!(here.join("plot.svg").exists());
    }
}

#[test]
fn the_simulation_is_the_same_on_every_run() {
    let here = directory("again");
    let run = |file: &str| {
        let output = linkwork(
            &here,
            &["demo", "--robot", "quadruped", "--seconds", "0.3", "--out", file],
        );
        assert!(output.status.success());
        std::fs::read(here.join(file)).expect("the plot is written")
    };
    assert!(run("one.svg") == run("two.svg"));
}

/// The lines of a benchmark.
fn times(arguments: &[&str], here: &Path) -> Vec<Value> {
    let output = linkwork(here, arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON line"))
        .collect()
}

#[test]
fn the_benchmark_prints_a_line_for_each_algorithm() {
    let here = directory("bench");
    let lines = times(&["bench", "pendulum", "--quick", "--json"], &here);
    let algorithms: Vec<_> = lines.iter().map(|l| l["alg"].as_str().unwrap_or_default()).collect();
    assert_eq!(
        algorithms[..7],
        ["fk", "jacobians", "rnea", "crba", "crba_entries", "aba", "minv"]
    );
    assert!(algorithms.contains(&"rk4"));
    for line in &lines {
        assert_eq!((&line["lib"], &line["robot"]), (&"linkwork".into(), &"pendulum".into()));
        assert_eq!(
            (&line["nv"], &line["batch"], &line["scalar"]),
            (&1.into(), &1.into(), &"f64".into())
        );
        let (ns, min) = (line["ns"].as_f64(), line["min"].as_f64());
        assert!(min > Some(0.0) && ns >= min, "{line}");
    }
}

#[test]
fn the_benchmark_runs_floating_robots_and_chosen_algorithms() {
    let here = directory("floating");
    let lines = times(
        &[
            "bench",
            "arm7",
            "--floating",
            "--quick",
            "--json",
            "--algorithm",
            "aba,minv",
        ],
        &here,
    );
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["nv"], 13);
    let output = linkwork(&here, &["bench", "--floating", "--quick", "-a", "fk"]);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("skipped: pendulum"));
    assert!(text(&output.stdout).contains("arm7, 13 degrees of freedom"));
}

#[test]
fn the_benchmark_reads_text_models() {
    let here = directory("text");
    std::fs::write(here.join("swing.txt"), MODEL).expect("a file can be written");
    let lines = times(&["bench", "swing.txt", "--quick", "--json"], &here);
    assert!(lines.len() > 6);
    assert_eq!((&lines[0]["robot"], &lines[0]["nv"]), (&"swing".into(), &2.into()));
    // A byte order mark, as some editors write it, and algorithms before the robot.
    std::fs::write(here.join("marked.txt"), format!("\u{feff}{MODEL}")).expect("a file can be written");
    let lines = times(&["bench", "-a", "aba,rnea", "marked.txt", "--quick", "--json"], &here);
    assert_eq!(lines.len(), 2);
    let broken = MODEL.replace("0.8", "0.8 7");
    std::fs::write(here.join("broken.txt"), broken).expect("a file can be written");
    let output = linkwork(&here, &["bench", "broken.txt"]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        message.starts_with("error: broken.txt:3: 31 words instead of 30"),
        "{message}"
    );
    assert!(message.contains("hint: a joint's line is"));
    std::fs::write(here.join("massless.txt"), MODEL.replace(" 2 0.1", " -2 0.1")).expect("a file can be written");
    let output = linkwork(&here, &["bench", "massless.txt"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("link1"));
    std::fs::write(here.join("binary.txt"), [0xff, 0xfe, 0x00]).expect("a file can be written");
    let output = linkwork(&here, &["bench", "binary.txt"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot read `binary.txt`"));
}

#[test]
fn wrong_usage_is_explained() {
    let (code, message) = complaint(&["bench", "arm8"]);
    assert_eq!(code, 2);
    assert!(message.contains("`arm8`") && message.contains("hint: the built-in robots are pendulum"));
    let (code, message) = complaint(&["demo", "--robot", "arm8"]);
    assert_eq!(code, 2);
    assert!(message.contains("arm7"), "{message}");
    let (code, message) = complaint(&["bench", "pendulum", "--floating"]);
    assert_eq!(code, 2);
    assert!(message.contains("hint: leave --floating out"), "{message}");
    let (code, message) = complaint(&["bench", "quadruped", "--floating"]);
    assert!(code == 2 && message.contains("`quadruped` floats already"), "{message}");
    let (code, message) = complaint(&["demo", "--seconds", "-1"]);
    assert!(code == 2 && message.contains("more than 0"), "{message}");
    let (code, message) = complaint(&["demo", "--out", "plot.pdf"]);
    assert!(code == 2 && message.contains(".svg or .png"), "{message}");
    for seconds in ["-1", "0", "nan", "inf", "ten", "1e300"] {
        let (code, message) = complaint(&["demo", &format!("--seconds={seconds}")]);
        assert_eq!(code, 2, "{message}");
        assert!(message.contains("--seconds"));
    }
    assert_eq!(complaint(&["dance"]).0, 2);
    assert_eq!(complaint(&["bench", "arm7", "--algorithm", "abba"]).0, 2);
    assert_eq!(complaint(&[]).0, 2);
}

#[test]
fn a_plot_that_cannot_be_written_is_a_failure() {
    let (code, message) = complaint(&["demo", "--seconds", "0.01", "--out", "no/such/place.svg"]);
    assert_eq!(code, 1);
    assert!(message.contains("cannot write `no/such/place.svg`"), "{message}");
    assert!(message.contains("because: "));
}

#[test]
fn help_has_examples_and_the_version_is_the_package_s() {
    let here = directory("help");
    for arguments in [&["--help"][..], &["demo", "--help"], &["bench", "--help"]] {
        let output = linkwork(&here, arguments);
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("Examples:\n  linkwork "));
    }
    let version = text(&linkwork(&here, &["--version"]).stdout);
    assert_eq!(version.trim(), concat!("linkwork ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn counts_stand_beside_the_published_ones() {
    let output = linkwork(
        Path::new(env!("CARGO_TARGET_TMPDIR")),
        &["cost", "--links", "6,12", "--json"],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let find = |name: &str, nv: u64| {
        let mut found = lines.iter().filter(|l| l["algorithm"] == name && l["nv"] == nv);
        found.next().unwrap_or_else(|| panic!("{name} is counted")).clone()
    };
    for n in [6, 12] {
        for (name, published, at_most) in [
            ("forward dynamics", 579 * n - 526, 1.0),
            ("diagonalized, normalized", 1135 * n - 910, 1.0),
            ("diagonalized, un-normalized", 926 * n - 605, 1.0),
            ("torque change", 623 * n - 308, 1.25),
            ("𝓜, ∂T/∂q, ∂T/∂q̇", (89 * n * n + 1271 * n) / 2 - 277, 1.2),
            ("δq̈ of δq, δq̇, δT", 491 * n - 252, 1.0),
            ("𝓜⁻¹, ∂q̈/∂q, ∂q̈/∂q̇", 69 * n * n + 1554 * n - 480, 1.7),
        ] {
            let line = find(name, n);
            assert_eq!(line["published"][0]["total"], published, "{name}");
            let total = line["total"].as_u64().expect("a number");
            assert!(
                total > 0 && total as f64 <= at_most * published as f64,
                "{name}: {total} of {published}"
            );
        }
    }
    let table = text(&linkwork(Path::new(env!("CARGO_TARGET_TMPDIR")), &["cost", "--links", "6"]).stdout);
    assert!(
        table.contains("h: 69N² + 1554N − 480") && table.contains("d: 926N − 605"),
        "{table}"
    );
    // Those of ours that are above say why, and no others.
    let (_, reasons) = table.split_once("above a published count").expect("some are above");
    for line in lines.iter().filter(|l| l["nv"] == 6) {
        let total = line["total"].as_u64();
        let published = line["published"].as_array().into_iter().flatten();
        let above = published.into_iter().any(|p| p["total"].as_u64() < total);
        let (name, reason) = (line["algorithm"].as_str().unwrap(), line["reason"].as_str());
        assert_eq!(reason.is_some_and(|r| !r.is_empty()), above, "{line}");
        let told = reasons.lines().find(|l| l.starts_with(&format!("{name}  ")));
        assert_eq!(
            told.is_some_and(|l| l.ends_with(reason.unwrap_or("?"))),
            above,
            "{line}"
        );
    }
}
