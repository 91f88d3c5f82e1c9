//! `linkwork derive`: explanations, values, and source code that compiles and agrees.

mod program_support;

use linkwork::algebra::{Evaluator, Expression};
use linkwork::model::examples;
use linkwork::{Mechanism, Reference};
use program_support::{complaint, directory, linkwork, text};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

fn json(arguments: &[&str]) -> Value {
    let here = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let output = linkwork(&here, &[&["derive"], arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one line of JSON")
}

#[test]
fn expressions_are_explained() {
    let here = directory("derive-told");
    let output = linkwork(&here, &["derive", "inv(Mass) (T - C)"]);
    let told = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(told.contains("sweep 3, outward") && !told.contains('\u{1b}'), "{told}");
    let answer = json(&["inv(Mass) J^* f"]);
    assert_eq!(answer["expression"], "inv(Mass) J^* f");
    assert_eq!(answer["rewritten"], "(I - H psi K)^* inv(D) H psi B f");
    assert_eq!(
        (&answer["sweeps_before"], &answer["sweeps_after"]),
        (&4.into(), &2.into())
    );
    assert_eq!(answer["laws"].as_array().map(Vec::len), Some(3));
    assert!(answer["multiplications"].is_u64() && answer["additions"].is_u64());
    let output = linkwork(&here, &["derive", "inv(Mass) T", "--markdown"]);
    assert!(
        text(&output.stdout).starts_with("## `inv(Mass) T`"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn every_level_between_an_expression_and_code_is_printed() {
    let here = directory("derive-levels");
    let level = |arguments: &[&str]| {
        let output = linkwork(
            &here,
            &[&["derive", "inv(Mass) (T - C)", "--level"], arguments].concat(),
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    for (number, says) in [
        ("1", "𝓜⁻¹ (T − C)"),
        ("2", "D⁻¹"),
        ("3", "P = M + E_ψ P E_φ*"),
        ("4", "P⁺(c) φ*(k,c)"),
        ("5", "[R N + l × R F; R F]"),
        ("6", "h_ω · u_N + h_v · u_F"),
    ] {
        assert!(level(&[number]).contains(says), "{}", level(&[number]));
        let latex = level(&[number, "--latex"]);
        assert!(latex.contains(r"\begin{align*}") && latex.is_ascii(), "{latex}");
    }
    assert!(level(&["7", "--robot", "double_pendulum"]).contains("pub fn evaluate("));
    assert!(level(&["5", "--robot", "puma560"]).contains("rot("));
    let all = level(&["0", "--robot", "double_pendulum", "--emit", "c"]);
    assert!(all.contains("7. code") && all.contains("void evaluate("), "{all}");
    let (code, said) = complaint(&["derive", "Mass T", "--level", "8"]);
    assert!(code == 2 && said.contains("there is no level 8"), "{said}");
    let told = linkwork(&here, &["derive", "inv(Mass) T", "--explain", "kalman"]);
    assert!(text(&told.stdout).contains("the covariance of the innovations"));
}

#[test]
fn derivatives_are_evaluated_beside_their_definition() {
    for expression in ["d(Mass qdd + C, w)", "grad(qd^* Mass qd)", "dot(m) w", "d(J qd)/dq w"] {
        let mut arguments = vec![expression, "--robot", "scara", "--bind", "q=0.3,0.5,0.1,-0.4"];
        arguments.extend(["--bind", "qd=1,2,-0.5,1", "--reference", "world"]);
        for (name, bind) in [("w", "w=1,2,3,4"), ("qdd", "qdd=0.1,0.2,0.3,0.4")] {
            if expression.contains(name) {
                arguments.extend(["--bind", bind]);
            }
        }
        let answer = json(&arguments);
        assert!(answer["difference"].as_f64().unwrap() < 1e-10, "{expression}: {answer}");
    }
}

#[test]
fn expressions_are_evaluated_beside_their_definition() {
    for (expression, robot, bind) in [
        (
            "inv(Mass) (T - C)",
            "double_pendulum",
            &["q=0.3,-0.5", "qd=1,2", "T=1,2"][..],
        ),
        ("J inv(Mass) J^*", "arm7", &["q=0.1,0.5,0,-1,0.2,1,0.3"]),
        ("phi^* H^* qd", "scara", &["qd=1,2,3,4"]),
        ("qd^* Mass qd", "puma560", &["qd=1,2,3,4,5,6"]),
    ] {
        let mut arguments = vec![expression, "--robot", robot];
        bind.iter().for_each(|b| arguments.extend(["--bind", b]));
        let answer = json(&arguments);
        let (value, dense) = (numbers(&answer["value"]), numbers(&answer["dense"]));
        let size = dense.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        assert_eq!(value.len(), dense.len());
        assert!(
            !value.is_empty() && answer["difference"].as_f64().unwrap() < 1e-10 * size,
            "{expression}: {answer}"
        );
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}

#[test]
fn complaints_say_what_to_do() {
    for (arguments, says) in [
        (
            &["phi H"][..],
            "`phi` takes link space (6N, forces), but `H` gives joint space (n)",
        ),
        (&["Mass T", "--robot", "arm7"], "vector `T`: it is needed"),
        (
            &["Mass T", "--robot", "arm7", "--bind", "T=1,2"],
            "joint space (n) needs 7 numbers, not 2",
        ),
        (&["Mass T", "--robot", "arm7", "--bind", "T=1,x"], "`x` is not a number"),
        (
            &["Mass T", "--robot", "arm7", "--bind", "q=1"],
            "q needs 7 numbers, not 1",
        ),
        (&["Mass T", "--bind", "T=1"], "needs a robot"),
        (&["J qd", "--robot", "arm7", "--frame", "hnad"], "hnad"),
        (&["Mass T", "--robot", "nobody"], "there is no built-in robot"),
        (&["Mass T", "--emit", "rust"], "--robot"),
    ] {
        let (code, said) = complaint(&[&["derive"], arguments].concat());
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
}

/// Emitted code of an expression on a robot, compiled, against the library, at several states.
struct Emitted<'a> {
    expression: &'a str,
    robot: &'a str,
    /// The vectors that it takes, after q, with their lengths.
    vectors: &'a [(&'a str, usize)],
}

impl Emitted<'_> {
    /// States as flat lists: q, then every vector.
    fn states(&self, mechanism: &Mechanism) -> Vec<Vec<Vec<f64>>> {
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        (0..5)
            .map(|_| {
                let by: Vec<f64> = (0..mechanism.nv()).map(|_| next()).collect();
                let mut q = mechanism.neutral();
                mechanism.integrate(&mechanism.neutral(), &by, &mut q).unwrap();
                let mut state = vec![q];
                state.extend(
                    self.vectors
                        .iter()
                        .map(|(_, n)| (0..*n).map(|_| 3.0 * next()).collect()),
                );
                state
            })
            .collect()
    }

    /// What the library says.
    fn expected(&self, mechanism: &Mechanism, state: &[Vec<f64>]) -> Vec<f64> {
        let expression: Expression = self.expression.parse().unwrap();
        let last = &mechanism.links().last().unwrap().name;
        let frames = [(mechanism.frame(last).unwrap(), Reference::Local)];
        let mut evaluator = Evaluator::new(&expression, mechanism, &frames, &[]).unwrap();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&state[0]).unwrap();
        let vectors = self.vectors.iter().zip(&state[1..]);
        let given: Vec<(&str, &[f64])> = vectors.map(|((name, _), x)| (*name, &x[..])).collect();
        let mut out = vec![0.0; evaluator.len()];
        posed.evaluate(&mut evaluator, &given, &mut out).unwrap();
        out
    }

    fn source(&self, here: &Path, language: &str) -> String {
        let arguments = ["derive", self.expression, "--robot", self.robot, "--emit", language];
        let output = linkwork(here, &arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs a program that prints one number per line, and compares.
    fn agree(&self, program: &Path, mechanism: &Mechanism) {
        self.agree_by(&mut Command::new(program), mechanism);
    }

    fn agree_by(&self, program: &mut Command, mechanism: &Mechanism) {
        let output = program.output().expect("the program runs");
        assert!(output.status.success(), "{}", text(&output.stderr));
        let printed: Vec<f64> = text(&output.stdout)
            .lines()
            .map(|l| l.parse().expect("a number"))
            .collect();
        let states = self.states(mechanism);
        let expected: Vec<f64> = states.iter().flat_map(|s| self.expected(mechanism, s)).collect();
        assert_eq!(printed.len(), expected.len());
        for (got, expect) in printed.iter().zip(&expected) {
            let size = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            assert!(
                (got - expect).abs() <= 1e-12 * size,
                "{}: {got} {expect}",
                self.expression
            );
        }
    }
}

/// The robots of `EMITTED` again, and every kind of joint, as Python.
#[test]
fn emitted_python_agrees_with_the_library() {
    // NumPy comes with the interpreter of the references.
    let Some(python) = std::env::var_os("LINKWORK_REFERENCE_PYTHON") else {
        return;
    };
    let here = directory("derive-python");
    for (i, emitted) in EMITTED.iter().enumerate() {
        let mechanism = robot(emitted.robot);
        let mut source = emitted.source(&here, "python");
        let states = emitted.states(&mechanism);
        // All states at once, one in a row.
        let arguments: Vec<String> = (0..states[0].len())
            .map(|a| {
                let rows: Vec<String> = states.iter().map(|s| format!("[{}]", list(&s[a]))).collect();
                format!("[{}]", rows.join(", "))
            })
            .collect();
        writeln!(source, "\n\nif __name__ == \"__main__\":").unwrap();
        writeln!(source, "    for x in evaluate({}).ravel():", arguments.join(", ")).unwrap();
        writeln!(source, "        print(repr(float(x)))").unwrap();
        let file = here.join(format!("emitted{i}.py"));
        std::fs::write(&file, source).unwrap();
        emitted.agree_by(Command::new(&python).args(["-W", "error"]).arg(&file), &mechanism);
    }
}

fn list(x: &[f64]) -> String {
    x.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ")
}

fn compiled(command: &mut Command) {
    let output = command.output().expect("the compiler runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

const EMITTED: [Emitted<'static>; 4] = [
    Emitted {
        expression: "inv(Mass) (T - C)",
        robot: "puma560",
        vectors: &[("qd", 6), ("T", 6)],
    },
    Emitted {
        expression: "inv(Mass) (T - C)",
        robot: "quadruped",
        vectors: &[("qd", 18), ("T", 18)],
    },
    Emitted {
        expression: "J inv(Mass) J^* f",
        robot: "arm7",
        vectors: &[("f", 6)],
    },
    Emitted {
        expression: "sqrt(D) (I - H psi K)^* x:joint + 2 x",
        robot: "scara",
        vectors: &[("x", 4)],
    },
];

fn robot(name: &str) -> Mechanism {
    examples::by_name(name).unwrap()()
}

#[test]
fn emitted_rust_compiles_without_warnings_and_agrees_with_the_library() {
    let here = directory("derive-rust");
    for (i, emitted) in EMITTED.iter().enumerate() {
        let mechanism = robot(emitted.robot);
        let mut source = emitted.source(&here, "rust");
        assert!(!source.contains("Vec") && !source.contains("unsafe"));
        let results = emitted.expected(&mechanism, &emitted.states(&mechanism)[0]).len();
        source += "\nfn main() {\n    let mut out = [0.0; RESULTS];\n"
            .replace("RESULTS", &results.to_string())
            .as_str();
        for state in emitted.states(&mechanism) {
            let each: Vec<String> = state.iter().map(|x| format!("&[{}]", list(x))).collect();
            writeln!(source, "    evaluate({}, &mut out);", each.join(", ")).unwrap();
            source += "    for x in out {\n        println!(\"{x:?}\");\n    }\n";
        }
        source += "}\n";
        let (file, program) = (here.join(format!("emitted{i}.rs")), here.join(format!("emitted{i}")));
        std::fs::write(&file, source).unwrap();
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        compiled(
            Command::new(rustc)
                .args(["--edition", "2021", "-O", "-D", "warnings", "-o"])
                .args([&program, &file]),
        );
        emitted.agree(&program, &mechanism);
    }
}

#[test]
fn emitted_c_compiles_without_warnings_and_agrees_with_the_library() {
    let here = directory("derive-c");
    for (i, emitted) in EMITTED.iter().enumerate() {
        let mechanism = robot(emitted.robot);
        let mut source = emitted.source(&here, "c");
        assert!(!source.contains("malloc"));
        let results = emitted.expected(&mechanism, &emitted.states(&mechanism)[0]).len();
        source += "\n#include <stdio.h>\n\nint main(void) {\n";
        writeln!(source, "    double out[{results}];").unwrap();
        for (s, state) in emitted.states(&mechanism).iter().enumerate() {
            let mut names = Vec::new();
            for (a, x) in state.iter().enumerate() {
                let name = format!("in_{s}_{a}");
                writeln!(source, "    const double {name}[{}] = {{{}}};", x.len(), list(x)).unwrap();
                names.push(name);
            }
            writeln!(source, "    evaluate({}, out);", names.join(", ")).unwrap();
            writeln!(
                source,
                "    for (int i = 0; i < {results}; i++) printf(\"%.17g\\n\", out[i]);"
            )
            .unwrap();
        }
        source += "    return 0;\n}\n";
        let (file, program) = (here.join(format!("emitted{i}.c")), here.join(format!("emitted_c{i}")));
        std::fs::write(&file, source).unwrap();
        let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        compiled(
            Command::new(cc)
                .args(["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
                .args([&program, &file])
                .arg("-lm"),
        );
        emitted.agree(&program, &mechanism);
    }
}
