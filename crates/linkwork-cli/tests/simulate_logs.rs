//! What `linkwork simulate` writes, and what it keeps when it is stopped.

mod program_support;

use program_support::{directory, number, run_in_python, simulate, text};
use serde_json::Value;

/// All joints of the quadruped.
const ALL: &str = "float,front_left_abduction,front_left_swing,front_left_knee,front_right_abduction,front_right_swing,\
front_right_knee,hind_left_abduction,hind_left_swing,hind_left_knee,hind_right_abduction,hind_right_swing,hind_right_knee";

#[test]
fn logs_hold_the_same_numbers_in_every_format_and_on_every_run() {
    let here = directory("simulate_logs");
    let run = |name: &str| {
        let files = ["csv", "npz", "parquet", "mcap", "svg", "png"].map(|end| format!("{name}.{end}"));
        let logs = files[..4].iter().flat_map(|f| ["--log", f]);
        let plots = files[4..].iter().flat_map(|f| ["--plot", f]);
        let start = [
            "quadruped",
            "--random",
            "4",
            "--seconds",
            "0.2",
            "--log-rate",
            "50",
            "-c",
            "gravity",
            "--driven",
            ALL,
        ];
        let arguments: Vec<&str> = start.into_iter().chain(logs).chain(plots).collect();
        let summary = simulate(&here, &arguments);
        assert_eq!(summary["rows"], 11);
        assert_eq!(summary["written"].as_array().map(Vec::len), Some(6));
        files.map(|f| std::fs::read(here.join(f)).expect("it is written"))
    };
    let (first, second) = (run("one"), run("two"));
    assert!(first == second, "the same bytes");
    let [csv, npz, parquet, mcap, svg, png] = first;
    let csv = text(&csv);
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().expect("names").split(',').collect();
    assert_eq!(names[..3], ["t", "q.float.qx", "q.float.qy"]);
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|x| x.parse().expect("a number")).collect())
        .collect();
    assert_eq!(rows.len(), 11);
    assert_eq!(rows[10][0], 0.2);
    assert!(rows.iter().all(|row| row.len() == names.len()));
    // The columns of the Parquet file stand one after another, each behind the head of its page.
    let column = |i: usize| rows.iter().flat_map(|row| row[i].to_le_bytes()).collect::<Vec<u8>>();
    let mut rest = parquet
        .strip_prefix(b"PAR1")
        .and_then(|x| x.strip_suffix(b"PAR1"))
        .expect("the magic");
    for (i, name) in names.iter().enumerate() {
        let found = rest.windows(88).position(|w| w == column(i)).expect(name);
        assert!(found < 32, "{name}: {found}");
        rest = &rest[found + 88..];
    }
    let length = u32::from_le_bytes(rest[rest.len() - 4..].try_into().expect("four bytes")) as usize;
    assert_eq!(length, rest.len() - 4, "the description ends the file");
    // NumPy's arrays are stored as they are.
    assert!(npz.starts_with(b"PK") && npz.windows(88).any(|w| w == column(0)));
    // Every state is a message, and so are the poses.
    let (mut states, mut poses, mut joints) = (0, 0, 0);
    for message in mcap::MessageStream::new(&mcap).expect("an MCAP file") {
        let message = message.expect("a message");
        let schema = message.channel.schema.as_ref().expect("a schema");
        let (data, words) = (&message.data[4..], text(&schema.data));
        assert_eq!((&message.data[..4], &*schema.encoding), (&[0, 1, 0, 0][..], "ros2msg"));
        match message.channel.topic.as_str() {
            "/state" => {
                let numbers = data
                    .chunks(8)
                    .map(|x| f64::from_le_bytes(x.try_into().expect("eight bytes")));
                assert_eq!(numbers.collect::<Vec<_>>(), rows[states]);
                assert!(
                    words.contains("linkwork/Q q  # rad, m") && words.contains("float64 float_qw"),
                    "{words}"
                );
                // As many fields as numbers.
                assert_eq!(words.matches("float64 ").count(), names.len());
                states += 1;
            }
            "/tf" => {
                let word = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes"));
                assert!(word(0) >= 13, "transforms");
                assert_eq!((word(12), &data[16..22]), (6, &b"world\0"[..]));
                poses += 1;
            }
            "/joint_states" => joints += 1,
            "/robot_description" => assert!(text(&data[4..]).contains("<robot name=\"quadruped\"")),
            other => panic!("unknown topic {other}"),
        }
    }
    assert_eq!((states, poses, joints), (11, 11, 11));
    let svg = text(&svg);
    for word in [
        "position (rad, m)",
        "velocity",
        "torque (N m, N)",
        "total rate ν",
        "working moment ε",
        "energy (J)",
    ] {
        assert!(svg.contains(word), "{word} is missing from the plot");
    }
    assert!(png.starts_with(b"\x89PNG"));
}

/// NumPy, where the test command has installed it, reads what the log in CSV says.
#[test]
fn numpy_reads_the_archive() {
    let here = directory("simulate_numpy");
    let run = [
        "quadruped",
        "--random",
        "4",
        "--seconds",
        "0.2",
        "-c",
        "gravity",
        "--driven",
        ALL,
        "--log",
        "a.csv",
        "--log",
        "a.npz",
    ];
    simulate(&here, &run);
    let script = "
import csv, numpy
log = numpy.load('a.npz')
rows = list(csv.reader(open('a.csv')))
columns = ['t'] + [f'{k}.{name}' for k in ('q', 'v', 'tau', 'nu', 'eps') for name in log['q_names' if k == 'q' else 'v_names']]
assert rows[0] == columns + ['kinetic', 'potential'], rows[0]
wide = numpy.column_stack([log[k] for k in ('t', 'q', 'v', 'tau', 'nu', 'eps', 'kinetic', 'potential')])
assert (wide == numpy.array(rows[1:], float)).all()";
    run_in_python(&here, script);
}

/// A run that takes long is ended by Ctrl-C, and what it computed is kept.
#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_computed() {
    use std::process::{Command, Stdio};
    let here = directory("simulate_interrupt");
    let arguments = [
        "simulate",
        "humanoid",
        "--seconds",
        "80000",
        "--log-rate",
        "1",
        "--log",
        "kept.csv",
        "--json",
    ];
    let child = Command::new(env!("CARGO_BIN_EXE_linkwork"))
        .args(arguments)
        .args(["--gravity", "0,0,0", "--ideal"])
        .current_dir(&here)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("kill is there").success());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a JSON summary");
    assert_eq!(summary["interrupted"], true);
    let seconds = number(&summary["seconds"]);
    assert!(seconds > 0.0 && seconds < 80_000.0);
    let log = std::fs::read_to_string(here.join("kept.csv")).expect("the log is written");
    assert_eq!(
        log.lines().count(),
        1 + summary["rows"].as_u64().expect("a number") as usize
    );
}
