//! Source code of expressions: compiled without warnings, on every kind of joint, on floating bases, branches and couplings,
//! and compared with the library.

mod support;

use linkwork::algebra::{Evaluator, Expression, Language};
use linkwork::model::{Joint, Link, Mechanism};
use linkwork::spatial::{Inertia, Pose, Rotation};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::coupled;
use support::random::{Random, State, random_state, random_tree};

/// A tree with a floating base and one joint of a kind between branches.
fn with(joint: Joint, name: &str) -> Mechanism {
    let inertia = |k: f64| Inertia::new(1.0 + k, [0.02, -0.05 * k, 0.1], [0.03, 0.001, 0.0, 0.02, 0.002, 0.025]);
    let placed = |k: f64| Pose::new(Rotation::from_rpy(0.3 * k, -0.4, 0.2 + k), [0.1, 0.2 * k, -0.3]);
    Mechanism::builder(name)
        .link(Link::new("base", inertia(0.1)))
        .link(Link::new("middle", inertia(0.4)))
        .link(Link::new("left", inertia(0.7)))
        .link(Link::new("right", inertia(0.2)))
        .joint(Joint::free("float").between("world", "base"))
        .joint(joint.between("base", "middle").placed(placed(0.5)))
        .joint(
            Joint::revolute("a", [0.0, 0.6, 0.8])
                .between("middle", "left")
                .placed(placed(0.9)),
        )
        .joint(
            Joint::revolute("b", [0.0, 0.0, 1.0])
                .between("base", "right")
                .placed(placed(0.1)),
        )
        .build()
        .unwrap()
}

/// Every kind of joint, and mechanisms in which joints follow others by polynomials.
fn mechanisms() -> Vec<Mechanism> {
    let axis = [0.6, 0.0, 0.8];
    let mut all = vec![
        with(Joint::revolute("j", axis), "revolute"),
        with(Joint::continuous("j", axis), "continuous"),
        with(Joint::prismatic("j", axis), "prismatic"),
        with(Joint::helical("j", axis, 0.07), "helical"),
        with(Joint::cylindrical("j", axis), "cylindrical"),
        with(Joint::universal("j", axis, [0.0, 1.0, 0.0]), "universal"),
        with(Joint::planar("j"), "planar"),
        with(Joint::translation("j"), "translation"),
        with(Joint::spherical("j"), "spherical"),
        with(Joint::free("j"), "free"),
        with(Joint::fixed("j"), "fixed"),
        random_tree(5, 6),
    ];
    let polynomial = |m: &Mechanism| {
        let law = |c: &linkwork::model::Coupling| matches!(c.law, linkwork::model::Law::Polynomial(_));
        m.couplings().iter().all(law)
    };
    let followers = coupled::cases().map(|case| case.coupled).filter(polynomial);
    all.extend(followers.filter(|m| m.nv() < 14).take(2));
    all
}

/// One function, its arguments at a state, and what it should give.
struct Case {
    name: String,
    source: String,
    arguments: Vec<Vec<f64>>,
    expect: Vec<f64>,
}

const EXPRESSIONS: [&str; 3] = ["inv(Mass) (T - C)", "Mass qdd + C", "d(Mass qdd + C, w)"];

fn cases(language: Language) -> Vec<Case> {
    let mut all = Vec::new();
    for (i, mechanism) in mechanisms().iter().enumerate() {
        for (j, text) in EXPRESSIONS.iter().enumerate() {
            if mechanism.is_coupled() && text.contains("d(") {
                continue;
            }
            let name = format!("evaluate_{i}_{j}");
            let expression: Expression = text.parse().unwrap();
            let source = expression.source_code(mechanism, &[], &[], language).unwrap();
            let State { q, qd, qdd, tau } = random_state(mechanism, 7 + i as u64);
            let w = Random::new(i as u64).numbers(mechanism.nv(), 1.0);
            let mut run = Evaluator::new(&expression, mechanism, &[], &[]).unwrap();
            // The order of the arguments is that of the function: q, q̇, then as they appear.
            let mut names = vec!["qd"];
            names.extend(
                expression
                    .vectors()
                    .iter()
                    .filter_map(|(n, _)| ["T", "qdd", "w"].into_iter().find(|x| x == n)),
            );
            names.dedup();
            let value = |name: &str| match name {
                "qd" => &qd,
                "T" => &tau,
                "qdd" => &qdd,
                _ => &w,
            };
            let mut seen: Vec<&str> = Vec::new();
            names.retain(|n| {
                let new = !seen.contains(n);
                seen.push(n);
                new
            });
            let inputs = run.algorithm().inputs();
            names.retain(|n| inputs.iter().any(|(input, _)| input == n));
            let given: Vec<(&str, &[f64])> = names.iter().map(|n| (*n, &value(n)[..])).collect();
            let mut expect = vec![0.0; run.len()];
            let mut workspace = mechanism.workspace();
            workspace
                .at(&q)
                .unwrap()
                .evaluate(&mut run, &given, &mut expect)
                .unwrap();
            let mut arguments = vec![q.clone()];
            arguments.extend(names.iter().map(|n| value(n).clone()));
            all.push(Case {
                source: source.replace("evaluate(", &format!("{name}(")),
                name,
                arguments,
                expect,
            });
        }
    }
    all
}

fn directory(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&here).unwrap();
    here
}

fn list(x: &[f64]) -> String {
    x.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ")
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn agree(printed: &str, cases: &[Case]) {
    let mut numbers = printed.lines().map(|l| l.parse::<f64>().expect("a number"));
    for case in cases {
        let size = case.expect.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for expect in &case.expect {
            let got = numbers.next().expect("as many numbers");
            assert!((got - expect).abs() <= 1e-11 * size, "{}: {got} {expect}", case.name);
        }
    }
    assert!(numbers.next().is_none());
}

fn rustc() -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--edition", "2021", "-D", "warnings"]);
    command
}

/// Each function in a module of its own; the helpers they share by name stay apart.
fn rust(language: Language, header: &str, here: &Path) -> (PathBuf, Vec<Case>) {
    let cases = cases(language);
    let mut source = header.to_owned();
    for case in &cases {
        assert!(!case.source.contains("Vec") && !case.source.contains("unsafe"));
        writeln!(source, "pub mod {0} {{\n{1}\n}}", case.name, case.source).unwrap();
    }
    let file = here.join("emitted.rs");
    std::fs::write(&file, source).unwrap();
    (file, cases)
}

fn main_of(cases: &[Case], path: &str) -> String {
    let mut source = "fn main() {\n".to_owned();
    for case in cases {
        let each: Vec<String> = case.arguments.iter().map(|x| format!("&[{}]", list(x))).collect();
        writeln!(source, "    let mut out = [0.0; {}];", case.expect.len()).unwrap();
        writeln!(source, "    {path}{0}::{0}({1}, &mut out);", case.name, each.join(", ")).unwrap();
        source += "    for x in out {\n        println!(\"{x:?}\");\n    }\n";
    }
    source + "}\n"
}

#[test]
fn rust_compiles_without_warnings_and_agrees() {
    let here = directory("emitted-rust");
    let (file, cases) = rust(Language::Rust, "", &here);
    let source = std::fs::read_to_string(&file).unwrap() + &main_of(&cases, "");
    std::fs::write(&file, source).unwrap();
    let program = here.join("emitted");
    succeeds(rustc().arg("-o").args([&program, &file]));
    agree(&succeeds(&mut Command::new(&program)), &cases);
}

#[test]
fn bare_rust_needs_no_standard_library() {
    let here = directory("emitted-bare");
    let (file, cases) = rust(Language::BareRust, "#![no_std]\n", &here);
    let library = here.join("libemitted.rlib");
    succeeds(
        rustc()
            .args(["--crate-type", "rlib", "--crate-name", "emitted", "-o"])
            .args([&library, &file]),
    );
    let main = here.join("main.rs");
    std::fs::write(&main, main_of(&cases, "emitted::")).unwrap();
    let program = here.join("emitted");
    let link = format!("emitted={}", library.display());
    succeeds(rustc().args(["--extern", &link, "-o"]).args([&program, &main]));
    agree(&succeeds(&mut Command::new(&program)), &cases);
}

#[test]
fn c_compiles_without_warnings_and_agrees() {
    let here = directory("emitted-c");
    let cases = cases(Language::C);
    let mut objects = Vec::new();
    let mut main = "#include <stdio.h>\n".to_owned();
    let mut body = String::new();
    let compiler = || Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    for case in &cases {
        let (file, object) = (
            here.join(format!("{}.c", case.name)),
            here.join(format!("{}.o", case.name)),
        );
        std::fs::write(&file, &case.source).unwrap();
        succeeds(
            compiler()
                .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-c", "-o"])
                .args([&object, &file]),
        );
        objects.push(object);
        let mut names = Vec::new();
        let mut types = Vec::new();
        for (a, x) in case.arguments.iter().enumerate() {
            let name = format!("{}_{a}", case.name);
            writeln!(body, "    const double {name}[{}] = {{{}}};", x.len(), list(x)).unwrap();
            names.push(name);
            types.push(format!("const double[{}]", x.len()));
        }
        let n = case.expect.len();
        writeln!(main, "void {}({}, double[{n}]);", case.name, types.join(", ")).unwrap();
        writeln!(
            body,
            "    double out_{0}[{n}];\n    {0}({1}, out_{0});",
            case.name,
            names.join(", ")
        )
        .unwrap();
        writeln!(
            body,
            "    for (int i = 0; i < {n}; i++) printf(\"%.17g\\n\", out_{}[i]);",
            case.name
        )
        .unwrap();
    }
    writeln!(main, "int main(void) {{\n{body}    return 0;\n}}").unwrap();
    let file = here.join("main.c");
    std::fs::write(&file, main).unwrap();
    let program = here.join("emitted");
    let mut link = compiler();
    link.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(&file);
    succeeds(link.args(&objects).arg("-lm"));
    agree(&succeeds(&mut Command::new(&program)), &cases);
}

#[test]
fn python_agrees() {
    // NumPy comes with the interpreter of the references.
    let Some(python) = std::env::var_os("LINKWORK_REFERENCE_PYTHON") else {
        return;
    };
    let here = directory("emitted-python");
    let cases = cases(Language::Python);
    let mut source = String::new();
    for case in &cases {
        source += &case.source;
        let each: Vec<String> = case.arguments.iter().map(|x| format!("[{}]", list(x))).collect();
        writeln!(
            source,
            "\nfor x in {}({}):\n    print(repr(float(x)))\n",
            case.name,
            each.join(", ")
        )
        .unwrap();
    }
    let file = here.join("emitted.py");
    std::fs::write(&file, source).unwrap();
    agree(&succeeds(Command::new(python).args(["-W", "error"]).arg(&file)), &cases);
}
