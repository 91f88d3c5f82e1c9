//! Hostile SDF and xacro files: refused with their place, soon and in little memory.

mod support;

use linkwork_formats::{Format, Options, Refusal, Robot, load, read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::{Counting, dynamics_are_finite, first_error, peak, spent};

#[global_allocator]
static COUNTING: Counting = Counting;

const MEMORY: usize = 256 << 20;
const SOON: Duration = Duration::from_secs(1);

/// Runs something that must take little time and memory.
fn bounded(what: &str, run: impl FnOnce() -> Result<Robot, Refusal>) -> Result<Robot, Refusal> {
    let _alone = support::alone();
    let start = spent();
    let (result, memory) = peak(run);
    let took = spent() - start;
    assert!(took < SOON, "{what:.80}: {took:?}");
    assert!(memory < MEMORY, "{what:.80}: {} MB", memory >> 20);
    if let Ok(robot) = &result {
        assert!(dynamics_are_finite(robot), "{what:.80}");
    }
    result
}

/// The code, line and message of the first error of a text.
#[track_caller]
fn refused(format: Format, text: &str) -> (&'static str, usize, String) {
    let file = if format == Format::Sdf {
        "test.sdf"
    } else {
        "test.xacro"
    };
    let result = bounded(text, || read(file, text.as_bytes(), format, &Options::default()));
    let refusal = result.err().unwrap_or_else(|| panic!("it loads: {text:.200}"));
    let error = first_error(&refusal);
    assert!(error.message.len() < 1000 && error.element.len() < 200);
    (error.code, error.line, error.message.clone())
}

fn xacro(inner: &str) -> String {
    format!("<robot name=\"r\" xmlns:xacro=\"x\">\n{inner}\n</robot>")
}

/// A directory of its own with files in it.
fn directory(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&place);
    for (file, text) in files {
        let path = place.join(file);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }
    place
}

/// The code and message of the first error of a file.
#[track_caller]
fn refused_file(path: &Path, options: &Options) -> (&'static str, String) {
    let shown = path.display().to_string();
    let result = bounded(&shown, || load(path, options));
    let refusal = result.err().unwrap_or_else(|| panic!("it loads: {shown}"));
    let error = first_error(&refusal);
    (error.code, error.message.clone())
}

#[test]
fn macros_that_call_themselves_are_refused() {
    let endless = "<xacro:macro name=\"m\"><a/><xacro:m/></xacro:macro>\n<xacro:m/>";
    let (code, line, message) = refused(Format::Urdf, &xacro(endless));
    assert_eq!((code, line), ("xacro", 2));
    assert!(message.contains("macros call each other"), "{message}");
    let mutual =
        "<xacro:macro name=\"a\"><xacro:b/></xacro:macro><xacro:macro name=\"b\"><xacro:a/></xacro:macro><xacro:a/>";
    assert_eq!(refused(Format::Urdf, &xacro(mutual)).0, "xacro");
    let twice = "<xacro:macro name=\"m\"><xacro:m/><xacro:m/></xacro:macro><xacro:m/>";
    assert_eq!(refused(Format::Urdf, &xacro(twice)).0, "xacro");
    let blocks = "<xacro:macro name=\"m\" params=\"*b\"><xacro:m><xacro:insert_block name=\"b\"/></xacro:m></xacro:macro><xacro:m><a/></xacro:m>";
    assert_eq!(refused(Format::Urdf, &xacro(blocks)).0, "xacro");
}

#[test]
fn exponential_expansion_is_refused() {
    let chain = |n: usize, first: &str, each: &dyn Fn(usize) -> String| {
        let rest: String = (1..n).map(each).collect();
        format!("{first}{rest}")
    };
    let macros = chain(60, "<xacro:macro name=\"m0\"><a/></xacro:macro>", &|i| {
        let p = i - 1;
        format!("<xacro:macro name=\"m{i}\"><xacro:m{p}/><xacro:m{p}/></xacro:macro>")
    });
    let text = xacro(&format!("{macros}<xacro:m59/>"));
    assert!(refused(Format::Urdf, &text).2.contains("takes more than"));
    let lazy = chain(60, "<xacro:property name=\"p0\" value=\"xx\"/>", &|i| {
        let p = i - 1;
        format!("<xacro:property name=\"p{i}\" value=\"${{p{p}}}${{p{p}}}\"/>")
    });
    assert!(
        refused(Format::Urdf, &xacro(&format!("{lazy}<a b=\"${{p59}}\"/>")))
            .2
            .contains("takes more than")
    );
    let lists = chain(60, "<xacro:property name=\"p0\" value=\"${[1]}\"/>", &|i| {
        let p = i - 1;
        format!("<xacro:property name=\"p{i}\" value=\"${{p{p} + p{p}}}\"/>")
    });
    assert!(
        refused(Format::Urdf, &xacro(&format!("{lists}<a b=\"${{p59}}\"/>")))
            .2
            .contains("takes more than")
    );
    // Lists that share their parts are small until they are compared or written.
    let shared = chain(60, "<xacro:property name=\"p0\" value=\"${[1]}\"/>", &|i| {
        let p = i - 1;
        format!("<xacro:property name=\"p{i}\" value=\"${{[p{p}, p{p}]}}\"/>")
    });
    let again = shared
        .replace("name=\"p", "name=\"q")
        .replace("[p", "[q")
        .replace(", p", ", q");
    let text = xacro(&format!(
        "{shared}{again}<a b=\"${{p59 == q59}}\" c=\"${{len(str(p59))}}\"/>"
    ));
    let result = bounded("shared lists", || {
        read("test.xacro", text.as_bytes(), Format::Urdf, &Options::default())
    });
    assert!(result.is_ok());
    let blocks = chain(
        60,
        "<xacro:macro name=\"m0\" params=\"*b\"><xacro:insert_block name=\"b\"/></xacro:macro>",
        &|i| {
            let p = i - 1;
            format!(
                "<xacro:macro name=\"m{i}\" params=\"*b\"><xacro:m{p}><c><xacro:insert_block name=\"b\"/><xacro:insert_block name=\"b\"/></c></xacro:m{p}></xacro:macro>"
            )
        },
    );
    let text = xacro(&format!("{blocks}<xacro:m59><a/></xacro:m59>"));
    assert!(refused(Format::Urdf, &text).2.contains("takes more than"));
}

#[test]
fn expressions_that_take_too_much_are_refused() {
    for expression in [
        "'x' * 10**12",
        "[0] * 10**12",
        "range(10**15)",
        "[x for x in range(10**7)]",
        "[len([y for y in range(3000)]) for x in range(3000)]",
        "sorted(list(range(100000)))",
        "'%999999999d' % 1",
        "('x' * 1000).replace('x', 'y' * 100000)",
        "9**9**9",
        "2**63",
        "-2**63 * 2",
        "10**18 * 100",
        "1 // 0",
        "1 % 0.0",
        "1 / 0",
        "(-1) ** 0.5",
        "sqrt(-1)",
        "int('9' * 40)",
        "int(1e300)",
        "floor(1e300)",
        "'a'.join(['b' * 10**6 for x in range(10**3)])",
        "__import__('os').system('true')",
        "().__class__",
        "open('/etc/passwd')",
        "lambda: 1",
        "xacro.load_yaml('/etc/passwd')",
        "xacro.load_yaml('../../../etc/passwd')",
        "r'\\",
        "'",
        "((((",
        "[1][5]",
        "dict(a=1)['b']",
        "x.y.z",
        "1 if 2",
    ] {
        let text = xacro(&format!(
            "<a b=\"${{{}}}\"/>",
            expression.replace('<', "&lt;").replace('"', "&quot;")
        ));
        let (code, line, message) = refused(Format::Urdf, &text);
        assert_eq!((code, line), ("xacro", 2), "{expression}: {message}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = [
        format!("<a b=\"${{{}1{}}}\"/>", "(".repeat(100_000), ")".repeat(100_000)),
        format!("<a b=\"${{{}1{}}}\"/>", "[".repeat(100_000), "]".repeat(100_000)),
        format!("<a b=\"${{{}1}}\"/>", "-".repeat(100_000)),
        format!("<a b=\"${{1{}}}\"/>", "**1".repeat(100_000)),
        format!("<a b=\"${{1{}}}\"/>", "+1".repeat(100_000)),
        format!("<a b=\"{}1{}\"/>", "${".repeat(100_000), "}".repeat(100_000)),
        format!("<a b=\"{}x{}\"/>", "$(arg ".repeat(100_000), ")".repeat(100_000)),
        format!("<a b=\"${{a{}}}\"/>", ".a".repeat(100_000)),
        format!("<a b=\"${{1{}}}\"/>", " if 1 else 1".repeat(100_000)),
    ];
    for text in deep {
        assert_eq!(refused(Format::Urdf, &xacro(&text)).0, "xacro", "{text:.40}");
    }
    // Properties that need others, and lists that hold others, one by one.
    let needs: String = (0..100_000)
        .map(|i| format!("<xacro:property name=\"p{i}\" value=\"${{p{}}}\"/>\n", i + 1))
        .collect();
    assert_eq!(
        refused(Format::Urdf, &xacro(&format!("{needs}<a b=\"${{p0}}\"/>"))).0,
        "xacro"
    );
    let held = "<xacro:property name=\"p\" value=\"${[p]}\" lazy_eval=\"false\"/>".repeat(100_000);
    let text = xacro(&format!("<xacro:property name=\"p\" value=\"1\"/>{held}"));
    assert_eq!(refused(Format::Urdf, &text).0, "xacro");
    let itself = xacro("<xacro:property name=\"p\" value=\"${p + 1}\"/><a b=\"${p}\"/>");
    assert!(refused(Format::Urdf, &itself).2.contains("defined by itself"));
}

#[test]
fn files_that_include_themselves_are_refused() {
    let place = directory(
        "loops",
        &[
            ("self.xacro", &xacro("<xacro:include filename=\"self.xacro\"/>")),
            (
                "a.xacro",
                &xacro("<xacro:include filename=\"b.xacro\"/><xacro:include filename=\"b.xacro\"/>"),
            ),
            (
                "b.xacro",
                &xacro("<xacro:include filename=\"a.xacro\"/><xacro:include filename=\"a.xacro\"/>"),
            ),
            ("all.xacro", &xacro("<xacro:include filename=\"*.xacro\"/>")),
            (
                "self.sdf",
                "<sdf version=\"1.9\"><model name=\"m\"><include><uri>self.sdf</uri></include></model></sdf>",
            ),
            (
                "twice.sdf",
                "<sdf version=\"1.9\"><model name=\"m\"><include><name>a</name><uri>twice.sdf</uri></include><include><name>b</name><uri>twice.sdf</uri></include></model></sdf>",
            ),
        ],
    );
    for file in ["self.xacro", "a.xacro", "all.xacro"] {
        let (code, message) = refused_file(&place.join(file), &Options::default());
        assert_eq!(code, "xacro");
        assert!(
            message.contains("include each other") || message.contains("takes more than"),
            "{message}"
        );
    }
    for file in ["self.sdf", "twice.sdf"] {
        let (code, message) = refused_file(&place.join(file), &Options::default());
        assert!(["too-deep", "too-many"].contains(&code), "{code}: {message}");
    }
}

#[test]
fn models_that_multiply_are_refused() {
    let model = |i: usize, inner: &str| {
        (
            format!("m{i}.sdf"),
            format!("<sdf version=\"1.9\"><model name=\"m{i}\">{inner}</model></sdf>"),
        )
    };
    let mut files = vec![model(0, "<link name=\"l\"/>")];
    for i in 1..40 {
        let p = i - 1;
        let include = |n: &str| format!("<include><name>{n}</name><uri>m{p}.sdf</uri></include>");
        files.push(model(i, &format!("{}{}", include("a"), include("b"))));
    }
    let listed: Vec<_> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let place = directory("multiply", &listed);
    assert_eq!(refused_file(&place.join("m39.sdf"), &Options::default()).0, "too-many");
    let small = bounded("ten doublings", || load(&place.join("m10.sdf"), &Options::default()));
    assert_eq!(
        small.expect("a thousand links are no trouble").mechanism.links().len(),
        1024
    );
}

#[test]
fn files_outside_of_the_robot_are_not_opened() {
    let secret = "<robot name=\"secret\"><link name=\"stolen\"/></robot>";
    let place = directory(
        "traversal",
        &[
            // The robot's repository, beyond which nothing may be read.
            ("robot/.git/HEAD", ""),
            ("secret.xml", secret),
            ("secret.yaml", "password: 1"),
            (
                "secret.sdf",
                "<sdf version=\"1.9\"><model name=\"m\"><link name=\"stolen\"/></model></sdf>",
            ),
            ("robot/a.xacro", &xacro("<xacro:include filename=\"../secret.xml\"/>")),
            (
                "robot/b.xacro",
                &xacro("<a b=\"${xacro.load_yaml('../secret.yaml').password}\"/>"),
            ),
            (
                "robot/c.xacro",
                &xacro("<xacro:include filename=\"../*.xml\"/><link name=\"own\"/>"),
            ),
            ("robot/d.xacro", &xacro("<a b=\"$(env HOME)\"/>")),
            (
                "robot/e.xacro",
                &xacro("<xacro:include filename=\"$(find ../..)/secret.xml\"/>"),
            ),
            (
                "robot/a.sdf",
                "<sdf version=\"1.9\"><model name=\"m\"><include><uri>../secret.sdf</uri></include></model></sdf>",
            ),
            (
                "robot/b.sdf",
                "<sdf version=\"1.9\"><model name=\"m\"><include><uri>file://../secret.sdf</uri></include></model></sdf>",
            ),
            (
                "robot/c.sdf",
                "<sdf version=\"1.9\"><model name=\"m\"><include><uri>model://../secret.sdf</uri></include></model></sdf>",
            ),
            (
                "robot/d.sdf",
                "<sdf version=\"1.9\"><model name=\"m\"><include><uri>model://evil</uri></include></model></sdf>",
            ),
            (
                "robot/evil/model.config",
                "<model><sdf version=\"1.9\">../../secret.sdf</sdf></model>",
            ),
        ],
    );
    for file in ["a.xacro", "b.xacro", "d.xacro", "e.xacro"] {
        assert_eq!(
            refused_file(&place.join("robot").join(file), &Options::default()).0,
            "xacro",
            "{file}"
        );
    }
    let pattern = load(&place.join("robot/c.xacro"), &Options::default()).expect("a pattern may fit nothing");
    assert!(pattern.mechanism.link("stolen").is_err() && pattern.mechanism.link("own").is_ok());
    let options = Options {
        packages: vec![place.join("robot")],
        ..Options::default()
    };
    for file in ["a.sdf", "b.sdf", "c.sdf", "d.sdf"] {
        assert_eq!(
            refused_file(&place.join("robot").join(file), &options).0,
            "include",
            "{file}"
        );
    }
    // Asked for, they are.
    let anywhere = Options {
        anywhere: true,
        environment: true,
        ..Options::default()
    };
    for file in ["a.xacro", "b.xacro", "d.xacro", "a.sdf"] {
        let loaded = load(&place.join("robot").join(file), &anywhere);
        assert!(loaded.is_ok(), "{file}: {:?}", loaded.err());
    }
}

#[test]
fn large_and_tangled_sdf_is_no_trouble() {
    let frames: String = (0..100_000)
        .map(|i| {
            format!(
                "<frame name=\"f{i}\"><pose relative_to=\"f{}\">0 0 0 0 0 0</pose></frame>\n",
                i + 1
            )
        })
        .collect();
    let body = "<link name=\"l\"><inertial><mass>1</mass><inertia><ixx>1</ixx></inertia></inertial></link>";
    let model = |inner: &str| format!("<sdf version=\"1.9\">\n<model name=\"m\">{inner}</model></sdf>");
    assert_eq!(
        refused(Format::Sdf, &model(&format!("{body}{frames}"))).0,
        "missing-frame"
    );
    let ring = model(&format!(
        "{body}{frames}<frame name=\"f100000\"><pose relative_to=\"f0\">0 0 0 0 0 0</pose></frame>"
    ));
    assert_eq!(refused(Format::Sdf, &ring).0, "frame-cycle");
    let held = model(&format!(
        "{body}<frame name=\"a\" attached_to=\"b\"/><frame name=\"b\" attached_to=\"a\"/>"
    ));
    assert_eq!(refused(Format::Sdf, &held).0, "frame-cycle");
    let deep = format!(
        "<sdf version=\"1.9\">{}{}</sdf>",
        "<model name=\"m\">".repeat(5000),
        "</model>".repeat(5000)
    );
    assert_eq!(refused(Format::Sdf, &deep).0, "too-deep");
    let bomb =
        "<!DOCTYPE l [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]><sdf version=\"1.9\"><model name=\"&b;\"/></sdf>";
    assert_eq!(refused(Format::Sdf, bomb).0, "doctype");
    let colons = model(&format!(
        "<joint name=\"j\" type=\"fixed\"><parent>{}</parent><child>l</child></joint>{body}",
        "a::".repeat(1_000_000)
    ));
    assert_eq!(refused(Format::Sdf, &colons).0, "missing-link");
    let placed: String = (0..3000)
        .map(|i| {
            format!(
                "<model name=\"m{i}\" placement_frame=\"f\"><pose relative_to=\"{}\"/><frame name=\"f\"/></model>",
                if i > 0 {
                    format!("m{}", i - 1)
                } else {
                    "__model__".to_owned()
                }
            )
        })
        .collect();
    let loaded = bounded("placed models", || {
        read(
            "test.sdf",
            model(&format!("{body}{placed}")).as_bytes(),
            Format::Sdf,
            &Options::default(),
        )
    });
    assert!(loaded.is_ok(), "{:?}", loaded.err());
}
