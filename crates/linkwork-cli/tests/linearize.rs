//! `linkwork linearize` as users run it.

mod program_support;

use program_support::{complaint, directory, linkwork, numbers, run_in_python, text};
use serde_json::Value;
use std::path::Path;

#[test]
fn a_cart_pole_is_balanced_and_drawn() {
    let here = directory("linearize");
    let arguments = [
        "linearize",
        "cart_pole",
        "--driven",
        "rail",
        "--lqr",
        "1,1,0.1,0.1",
        "--effort",
        "0.1",
        "--poles",
        "poles.svg",
        "--out",
        "model.npz",
    ];
    let output = linkwork(&here, &arguments);
    let report = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        report.contains("4 states, 1 inputs") && report.contains("controllable"),
        "{report}"
    );
    assert!(report.contains("gain K"), "{report}");
    let picture = std::fs::read_to_string(here.join("poles.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && picture.contains("with the regulator"));
    let archive = std::fs::read(here.join("model.npz")).unwrap();
    assert!(archive.starts_with(b"PK") && archive.windows(5).any(|w| w == b"A.npy"));
}

#[test]
fn matrices_are_written_in_every_form() {
    let here = directory("linearize_forms");
    let run = |file: &str| {
        let state = "{\"q\": [0.3, -0.2], \"v\": [0.1, 0]}";
        let output = linkwork(
            &here,
            &["linearize", "double_pendulum", "--at", state, "--out", file, "--json"],
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_str::<Value>(&text(&output.stdout)).unwrap()
    };
    let printed = run("model.json");
    let written = std::fs::read_to_string(here.join("model.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!((&printed["A"], &printed["step"]), (&written["A"], &0.0.into()));
    assert_eq!(printed["A"].as_array().unwrap().len(), 4);
    assert_eq!(printed["poles"].as_array().unwrap().len(), 4);
    run("model.csv");
    let csv = std::fs::read_to_string(here.join("model_A.csv")).unwrap();
    assert_eq!(csv.lines().count(), 5, "{csv}");
    let first: f64 = csv.lines().nth(3).unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert_eq!(Some(first), printed["A"][2][0].as_f64());
    run("model.m");
    let matlab = std::fs::read_to_string(here.join("model.m")).unwrap();
    assert!(
        matlab.contains("A = zeros(4, 4);") && matlab.contains("Ts = 0.0;"),
        "{matlab}"
    );
}

/// A cart with a pole that leans, pushed at its tip: the torques hold against both, and every form tells them.
#[test]
fn every_form_tells_the_point() {
    let here = directory("linearize_point");
    let state = "{\"q\": [0.25, 0.5], \"v\": [0.125, 0]}";
    let run = |extra: &[&str]| {
        let push = ["--push", "tip:1,0,-2,0,0.5,0"];
        let output = linkwork(
            &here,
            &[
                &["linearize", "cart_pole", "--driven", "rail,hinge", "--at", state],
                &push[..],
                extra,
            ]
            .concat(),
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let printed: Value = serde_json::from_str(&run(&["--json"])).unwrap();
    let held = numbers(&printed["tau"]);
    assert_eq!(numbers(&printed["q"]), [0.25, 0.5]);
    assert_eq!(numbers(&printed["v"]), [0.125, 0.0]);
    let push = &printed["pushes"][0];
    assert_eq!(push["frame"], "tip");
    assert_eq!(numbers(&push["force"]), [1.0, 0.0, -2.0]);
    assert_eq!(numbers(&push["moment"]), [0.0, 0.5, 0.0]);
    // The rail holds against the push along it.
    assert!((held[0] + 1.0).abs() < 1e-12 && held[1] != 0.0, "{held:?}");
    for file in ["model.json", "model.csv", "model.m", "model.npz"] {
        run(&["--out", file]);
    }
    let read = |file: &str| std::fs::read_to_string(here.join(file)).unwrap();
    let written: Value = serde_json::from_str(&read("model.json")).unwrap();
    for key in ["q", "v", "tau", "pushes"] {
        assert_eq!(written[key], printed[key]);
    }
    let expect = [0.25, 0.5, 0.125, 0.0, held[0], held[1], 1.0, 0.0, -2.0, 0.0, 0.5, 0.0];
    let csv = read("model_point.csv");
    let values = csv.lines().skip(1).map(|line| line.rsplit(',').next().unwrap());
    assert_eq!(values.map(|x| x.parse().unwrap()).collect::<Vec<f64>>(), expect);
    assert!(
        csv.contains("\"tau hinge\",") && csv.contains("\"force x on tip\",1.0"),
        "{csv}"
    );
    let matlab = read("model.m");
    for line in [
        "q = [0.25; 0.5];".to_owned(),
        "v = [0.125; 0.0];".to_owned(),
        format!("tau = [{:?}; {:?}];", held[0], held[1]),
        "pushes(1) = struct('frame', 'tip', 'force', [1.0; 0.0; -2.0], 'moment', [0.0; 0.5; 0.0]);".to_owned(),
    ] {
        assert!(matlab.contains(&line), "{line}: {matlab}");
    }
    let npz = std::fs::read(here.join("model.npz")).unwrap();
    let holds = |bytes: &[u8]| npz.windows(bytes.len()).any(|w| w == bytes);
    for array in ["q", "v", "tau", "push_frames", "push_forces", "push_moments"] {
        assert!(holds(format!("{array}.npy").as_bytes()), "{array}");
    }
    let torques: Vec<u8> = held.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(holds(&torques));
    let report = run(&[]);
    assert!(
        report.contains("torques at that point") && report.contains("  hinge "),
        "{report}"
    );
    let free: Value = {
        let output = linkwork(&here, &["linearize", "cart_pole", "--json"]);
        serde_json::from_str(&text(&output.stdout)).unwrap()
    };
    assert!(free.get("pushes").is_none());
}

/// Numbers keep their digits, whatever their size, and poles that die out last come first, each beside its mate.
#[test]
fn poles_are_told_in_order_and_with_their_digits() {
    let here = directory("linearize_order");
    let run = |extra: &[&str]| {
        let output = linkwork(&here, &[&["linearize", "arm7"], extra].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let state = ["--at", "{\"q\": [0, 0.5, 0, -1, 0, 1, 0]}"];
    for step in [&[][..], &["--step", "0.3"]] {
        let model: Value = serde_json::from_str(&run(&[&state, step, &["--json"]].concat())).unwrap();
        let poles: Vec<Vec<f64>> = model["poles"].as_array().unwrap().iter().map(numbers).collect();
        let key = |p: &Vec<f64>| if step.is_empty() { p[0] } else { p[0].hypot(p[1]) };
        assert!(poles.windows(2).all(|two| key(&two[0]) >= key(&two[1])), "{poles:?}");
        let mut rest = &poles[..];
        while let [first, others @ ..] = rest {
            if first[1] != 0.0 {
                assert_eq!(others[0], [first[0], -first[1]]);
                rest = &others[1..];
            } else {
                rest = others;
            }
        }
        let report = run(&[&state, step].concat());
        assert!(
            !report.contains("-0.000000") && !report.contains(" 0.000000"),
            "{report}"
        );
    }
    let slow =
        "<mujoco><option gravity='0 0 0'/><worldbody><body name='bob'><joint name='slide' type='slide' damping='1e-9'/>
        <inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/></body></worldbody></mujoco>";
    std::fs::write(here.join("slow.xml"), slow).unwrap();
    let output = linkwork(&here, &["linearize", "slow.xml"]);
    let report = text(&output.stdout);
    assert!(
        report.contains(" -5.00000e-10 1/s") && report.contains("       0 1/s"),
        "{report}"
    );
}

#[test]
fn poles_are_drawn_in_the_form_of_the_files_ending() {
    let here = directory("linearize_poles");
    let draw = |file: &str| {
        let output = linkwork(&here, &["linearize", "cart_pole", "--out", "model.m", "--poles", file]);
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(draw("poles.png").0, Some(0));
    assert!(std::fs::read(here.join("poles.png")).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(draw("poles.svg").0, Some(0));
    assert!(std::fs::read(here.join("poles.svg")).unwrap().starts_with(b"<svg "));
    std::fs::remove_file(here.join("model.m")).unwrap();
    for file in ["poles.pdf", "poles"] {
        let (code, said) = draw(file);
        assert!(code == Some(2) && said.contains("ends in .svg or .png"), "{said}");
        assert!(!here.join(file).exists() && !here.join("model.m").exists());
    }
}

/// A model of a cart-pole in steps, seen at the pole.
fn write_steps(here: &Path, file: &str) {
    let arguments = [
        "--driven", "rail", "--output", "pole", "--step", "0.02", "--lqr", "1", "--out", file,
    ];
    let output = linkwork(here, &[&["linearize", "cart_pole"], &arguments[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn every_form_tells_the_names_and_the_step() {
    let here = directory("linearize_names");
    for file in ["model.json", "model.csv", "model.npz", "model.m"] {
        write_steps(&here, file);
    }
    let read = |file: &str| std::fs::read_to_string(here.join(file)).unwrap();
    let json: Value = serde_json::from_str(&read("model.json")).unwrap();
    assert_eq!(json["step"], 0.02);
    assert_eq!(json["closed_loop_poles"].as_array().unwrap().len(), 4);
    assert_eq!(json["states"][3], "d hinge");
    assert_eq!(
        (&json["inputs"][0], &json["outputs"][2]),
        (&"rail".into(), &"z of pole".into())
    );
    for matrix in ["A", "B", "C", "D", "K"] {
        let csv = read(&format!("model_{matrix}.csv"));
        assert!(csv.starts_with("\"step 0.02 s\",\"rail\""), "{csv}");
    }
    let matlab = read("model.m");
    assert!(
        matlab.contains("Ts = 0.02;") && matlab.contains("outputs = {'x of pole',"),
        "{matlab}"
    );
    let npz = std::fs::read(here.join("model.npz")).unwrap();
    let holds = |bytes: &[u8]| npz.windows(bytes.len()).any(|w| w == bytes);
    for array in ["A", "B", "C", "D", "K", "states", "inputs", "outputs", "step"] {
        assert!(holds(format!("{array}.npy").as_bytes()), "{array}");
    }
    for kind in ["'<U7', 'fortran_order': False, 'shape': (4,)", "'shape': ()"] {
        assert!(holds(kind.as_bytes()), "{kind}");
    }
    let name: Vec<u8> = "z of pole".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    assert!(holds(&name) && holds(&0.02_f64.to_le_bytes()));
}

/// The circle of a discrete model is as high as it is wide.
#[test]
fn the_unit_circle_is_round() {
    let here = directory("linearize_circle");
    for (step, method) in [("0.02", "exact"), ("0.5", "euler")] {
        let arguments = ["--step", step, "--method", method, "--poles", "poles.svg"];
        let output = linkwork(&here, &[&["linearize", "cart_pole"], &arguments[..]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let picture = std::fs::read_to_string(here.join("poles.svg")).unwrap();
        let points = |line: &&str| line.contains("<polyline") && line.matches(',').count() > 180;
        let line = picture.lines().find(points).expect("a circle");
        let numbers = line.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for point in numbers.split_whitespace() {
            let (a, b) = point.split_once(',').unwrap();
            x.push(a.parse::<f64>().unwrap());
            y.push(b.parse::<f64>().unwrap());
        }
        let span = |x: &[f64]| x.iter().fold(0.0, |m: f64, a| m.max(*a)) - x.iter().fold(1e9, |m: f64, a| m.min(*a));
        assert!((span(&x) - span(&y)).abs() <= 2.0, "{} × {}", span(&x), span(&y));
    }
}

/// NumPy, where the test command has installed it, reads what the file in JSON says.
#[test]
fn numpy_reads_the_archive() {
    let here = directory("linearize_numpy");
    write_steps(&here, "model.json");
    write_steps(&here, "model.npz");
    let script = "
import json, numpy
model, archive = json.load(open('model.json')), numpy.load('model.npz')
names = ['A', 'B', 'C', 'D', 'K', 'states', 'inputs', 'outputs', 'step', 'q', 'v', 'tau']
assert archive.files == names, archive.files
for name in names:
    assert archive[name].tolist() == model[name], name";
    run_in_python(&here, script);
}

#[test]
fn what_makes_no_sense_is_refused_with_a_hint() {
    for (arguments, word) in [
        (&["linearize", "cart_pole", "--at", "{\"q\": [0]}"][..], "q"),
        (&["linearize", "cart_pole", "--at", "{\"p\": [0]}"], "unknown field"),
        (&["linearize", "cart_pole", "--at", "nowhere.json"], "nowhere.json"),
        (&["linearize", "cart_pole", "--driven", "cart"], "rail"),
        (&["linearize", "cart_pole", "--out", "model.xyz"], ".npz"),
        (&["linearize", "cart_pole", "--at", "[1, 2]"], "a list of numbers"),
        (&["linearize", "cart_pole", "--step", "-1"], "leave --step out"),
        (&["linearize", "cart_pole", "--step", "0"], "--step <SECONDS>"),
        (&["linearize", "cart_pole", "--step", "1e-300"], "more than rounding"),
        (
            &["linearize", "cart_pole", "--lqr", "1,2"],
            "--lqr has 2 weights but the model has 4 states",
        ),
        (&["linearize", "cart_pole", "--output", "tp"], "did you mean `tip`"),
        (&["linearize", "cart_pole", "--output", "flange"], "linkwork info"),
        (&["linearize", "cart_pole", "--push", "flange:1,2,3"], "linkwork info"),
        (
            &["linearize", "cart_pole", "--push", "tip:1e300,0,0"],
            "1e300 is too large",
        ),
        (
            &["linearize", "cart_pole", "--push", "tip:9e59,0,0,0,9e59,0"],
            "error: --push: holding",
        ),
        (&["linearize", "cart_pole", "--at", "{\"v\": [1e300, 0]}"], "is 1e300;"),
        (
            &[
                "linearize",
                "cart_pole",
                "--step",
                "1e50",
                "--method",
                "rk4",
                "--at",
                "{\"q\": [0, 0.1], \"tau\": [0, 0]}",
            ],
            "shorten --step",
        ),
        (
            &[
                "linearize",
                "cart_pole",
                "--at",
                "{\"tau\": [0, 5]}",
                "--driven",
                "rail",
            ],
            "5.00000 N m or N for `hinge`, which motors do not drive",
        ),
        (
            &[
                "linearize",
                "cart_pole",
                "--at",
                "{\"q\": [0, 0.5]}",
                "--driven",
                "rail",
            ],
            "`hinge` would need -0.235",
        ),
        (&["linearize", "cart_pole", "--lqr", "1", "--effort", "0"], "above zero"),
    ] {
        let (code, said) = complaint(arguments);
        assert!(code != 0 && said.contains(word), "{arguments:?}: {said}");
    }
}

/// A step of `linkwork simulate` bears the dry friction of a PUMA 560, and so does its model.
#[test]
fn explicit_steps_bear_dry_friction() {
    let here = directory("linearize_friction");
    for method in ["euler", "rk4", "dormand-prince"] {
        let arguments = ["linearize", "puma560", "--step", "0.01", "--method", method, "--json"];
        let output = linkwork(&here, &arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let model: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
        for pole in model["poles"].as_array().unwrap() {
            let size = pole[0].as_f64().unwrap().hypot(pole[1].as_f64().unwrap());
            assert!(size < 1.01, "{method}: {pole}");
        }
    }
}

/// A bob of 2 kg on a rod of 0.5 m: down by 7 N more than by gravity it swings with ω² = (g + 7/2)/0.5, up by 30 N it does
/// not stay where it hangs.
#[test]
fn pushes_keep_to_the_worlds_axes() {
    let here = directory("linearize_push");
    let robot = "<mujoco><option gravity='0 0 -10'/><worldbody><body name='bob'>
        <joint name='hinge' type='hinge' axis='0 1 0'/>
        <inertial pos='0 0 -.5' mass='2' diaginertia='1e-12 1e-12 1e-12'/><site name='a:b' pos='0 0 -.5'/>
        </body></worldbody></mujoco>";
    std::fs::write(here.join("bob.xml"), robot).unwrap();
    let stiffness = |pushes: &[&str]| {
        let arguments = [&["linearize", "bob.xml", "--json"], pushes].concat();
        let output = linkwork(&here, &arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let model: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
        -model["A"][1][0].as_f64().unwrap()
    };
    for (pushes, expect) in [
        (&[][..], 20.0),
        (&["--push", "a:b:0,0,-7"], 27.0),
        (&["--push", "a:b:0,0,-3", "--push", "a:b:0,0,-4,0,1,0"], 27.0),
        (&["--push", "a:b:0,0,30"], -10.0),
    ] {
        let got = stiffness(pushes);
        assert!((got - expect).abs() < 1e-9, "{pushes:?}: {got}");
    }
    for (push, word) in [
        ("bob", "missing"),
        ("bob:1,2", "2 numbers"),
        ("bob:1,2,x", "`x` is not a number"),
        ("bib:1,2,3", "bob"),
    ] {
        let output = linkwork(&here, &["linearize", "bob.xml", "--push", push]);
        let said = text(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains(word) && said.contains("FRAME:FX"),
            "{said}"
        );
    }
}

#[test]
fn closed_loops_are_not_left_open_unasked() {
    let here = directory("linearize_loops");
    let robot = "<mujoco><worldbody>
        <body name='a'><joint name='one' type='hinge' axis='0 1 0'/><geom type='sphere' size='.1' pos='.5 0 0'/>
        <body name='b' pos='1 0 0'><joint name='two' type='hinge' axis='0 1 0'/><geom type='sphere' size='.1' pos='0 0 -.5'/>
        </body></body></worldbody><equality><connect body1='b' anchor='0 0 -1'/></equality></mujoco>";
    std::fs::write(here.join("loop.xml"), robot).unwrap();
    let refused = linkwork(&here, &["linearize", "loop.xml"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("--open"), "{}", text(&refused.stderr));
    let open = linkwork(&here, &["linearize", "loop.xml", "--open"]);
    assert!(open.status.success() && text(&open.stderr).contains("left open"));
}
