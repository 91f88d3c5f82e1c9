//! What is on disk when a run is cut short: by a signal that can be met, by one that cannot, and by a full disk.
#![cfg(target_os = "linux")]

mod kept_bounds;
mod program_support;

use program_support::{directory, linkwork, run_in_python, text};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const FORMATS: [&str; 4] = ["csv", "npz", "parquet", "mcap"];

/// A run of many hours that logs in every format.
fn begin(here: &Path) -> Child {
    let logs = FORMATS
        .iter()
        .flat_map(|end| ["--log".to_owned(), format!("run.{end}")]);
    Command::new(env!("CARGO_BIN_EXE_linkwork"))
        .args([
            "simulate",
            "double_pendulum",
            "--q",
            "1,0.5",
            "--seconds",
            "80000",
            "--json",
        ])
        .args(logs)
        .current_dir(here)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

fn signal(child: Child, name: &str) -> Output {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
    child.wait_with_output().expect("the program ends")
}

/// Reads logs with the readers of their fields: the same times in all, evenly apart.
const READ: &str = r#"
import csv, struct, sys
import numpy, pyarrow.parquet
from mcap.reader import make_reader, NonSeekingReader
end, rows = END, ROWS
with open("run.csv" + end) as f:
    lines = [line for line in f.read().split("\n")[1:]]
# A line that was cut off, or the end of the last one.
lines.pop()
tables = {"csv": numpy.array([float(line.split(",")[0]) for line in lines])}
archive = numpy.load("run.npz" + end)
tables["npz"] = archive["t"]
assert archive["q"].shape == (len(archive["t"]), 2)
table = pyarrow.parquet.read_table("run.parquet" + end)
tables["parquet"] = table.column("t").to_numpy()
assert numpy.isfinite(table.column("q.elbow").to_numpy()).all()
times = []
with open("run.mcap" + end, "rb") as f:
    reader = NonSeekingReader(f) if end else make_reader(f)
    try:
        for schema, channel, message in reader.iter_messages(topics=["/state"], log_time_order=False):
            times.append(struct.unpack_from("<d", message.data, 4)[0])
    except Exception as problem:
        assert end, problem
tables["mcap"] = numpy.array(times)
for name, t in tables.items():
    assert len(t) > 0, name
    assert numpy.abs(t - 0.01 * numpy.arange(len(t))).max() < 1e-6, name
    assert rows is None or len(t) == rows, (name, len(t), rows)
"#;

fn read(here: &Path, end: &str, rows: Option<u64>) {
    let rows = rows.map_or("None".to_owned(), |n| n.to_string());
    run_in_python(here, &READ.replace("END", &format!("{end:?}")).replace("ROWS", &rows));
}

#[test]
fn signals_that_end_programs_end_a_run_in_order() {
    for (name, wait) in [("-INT", 700), ("-TERM", 900), ("-HUP", 1100)] {
        let here = directory(&format!("kept{name}"));
        let child = begin(&here);
        std::thread::sleep(Duration::from_millis(wait));
        let output = signal(child, name);
        assert_eq!(output.status.code(), Some(130), "{name}: {}", text(&output.stderr));
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a JSON summary");
        assert_eq!(summary["interrupted"], true);
        for end in FORMATS {
            assert!(here.join(format!("run.{end}")).exists(), "{name}: {end}");
            assert!(!here.join(format!("run.{end}.part")).exists(), "{name}: {end}");
        }
        read(&here, "", summary["rows"].as_u64());
    }
}

#[test]
fn a_run_that_is_killed_leaves_logs_that_can_be_read() {
    for wait in [1300, 1713, 2251] {
        let here = directory(&format!("killed-{wait}"));
        for end in FORMATS {
            std::fs::write(here.join(format!("run.{end}")), "old").expect("it is written");
        }
        let child = begin(&here);
        std::thread::sleep(Duration::from_millis(wait));
        assert_eq!(signal(child, "-KILL").status.code(), None);
        for end in FORMATS {
            let old = here.join(format!("run.{end}"));
            assert!(!old.exists(), "{end}: an old file is not taken for the log");
        }
        read(&here, ".part", None);
    }
}

/// Where there are small file systems to fill: they need a user namespace, which not every machine allows.
#[test]
fn a_full_disk_is_named_and_leaves_what_came_before() {
    let here = directory("full_disk");
    let program = env!("CARGO_BIN_EXE_linkwork");
    for end in FORMATS {
        let script = format!(
            "mkdir -p small && mount -t tmpfs -o size=600k tmpfs small && cd small && \
             {{ {program} simulate double_pendulum --q 1,0.5 --seconds 800 --log run.{end}; echo code $?; }} > ../out 2> ../err; \
             cp run.* ..; ls .. > ../list"
        );
        let ran = Command::new("unshare")
            .args(["-rm", "sh", "-c", &script])
            .current_dir(&here)
            .output();
        if !ran.is_ok_and(|output| output.status.success()) {
            println!("skipped: no small file system can be made here");
            return;
        }
        let said = std::fs::read_to_string(here.join("err")).expect("messages");
        let code = std::fs::read_to_string(here.join("out")).expect("a code");
        assert!(code.contains("code 1"), "{end}: {code}{said}");
        assert!(
            said.contains(&format!("`run.{end}`")) && said.contains("No space left"),
            "{end}: {said}"
        );
        assert!(
            said.contains(&format!("what came before is in `run.{end}.part`")),
            "{end}: {said}"
        );
        assert!(!said.contains("drop") && !said.contains("panicked"), "{end}: {said}");
    }
    read(&here, ".part", None);
}

#[test]
fn files_are_written_whole_or_not_at_all() {
    let here = directory("whole_files");
    std::fs::create_dir(here.join("taken.xml")).expect("a directory");
    for arguments in [
        &["convert", "arm7", "taken.xml"][..],
        &["convert", "arm7", "no/such.xml"],
        &["linearize", "cart_pole", "--out", "no/such.npz"],
        &["simulate", "pendulum", "--seconds", "0.1", "--plot", "no/such.svg"],
        &[
            "simulate",
            "pendulum",
            "--seconds",
            "0.1",
            "--log",
            "taken.xml/../no/such.npz",
        ],
    ] {
        let output = linkwork(&here, arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(
            message.contains("cannot write") && message.contains('`'),
            "{arguments:?}: {message}"
        );
    }
    let left: Vec<_> = std::fs::read_dir(&here).expect("a directory").collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
